"""Errors carry facts: what is refused, what would be right, which file. Nobody searches their words."""

from __future__ import annotations

import ast
import copy
import math
import pickle
import re
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.main import get_command

import tinct
from tinct import exact, graphs, local, rainbow
from tinct.asking import needed_epsilon, plan
from tinct.cli import main
from tinct.cli.main import in_options, options_of
from tinct.errors import (
    BudgetExceeded,
    FileError,
    NoOptimum,
    NotAnswered,
    NotExtendable,
    NotPrivate,
    Parameter,
    ParameterError,
    TinctError,
    brief,
)
from tinct.ledger import Ledger, Planned, Protection
from tinct.privacy import GaussianDP, Privacy
from tinct.questions import mode, parse, quantile, share, threshold

SOURCE = Path(tinct.__file__).parent
HUGE = 10**5000
MARK = "Zebulon-4711"


# facts


@pytest.mark.parametrize(
    ("call", "parameter", "value"),
    [
        *((lambda value=value: Privacy(value), "epsilon", value) for value in ("", "x", -1, 701, HUGE, "1/0", "1e999")),
        *((lambda value=value: Privacy(value), "epsilon", value) for value in (math.nan, math.inf, -math.inf)),
        (lambda: Privacy(None), "epsilon", None),
        (lambda: Privacy([1]), "epsilon", None),
        (lambda: Privacy(1, 1), "delta", 1),
        (lambda: Privacy(1, "-1/2"), "delta", "-1/2"),
        (lambda: Privacy(1, Decimal("NaN")), "delta", Decimal("NaN")),
        (lambda: GaussianDP(math.nan), "mu", math.nan),
        (lambda: GaussianDP("x"), "mu", "x"),
        (lambda: graphs.majority(0), "n", 0),
        (lambda: graphs.majority(-HUGE), "n", -HUGE),
        (lambda: graphs.threshold(3, 4), "at_least", 4),
        (lambda: graphs.histograms(2, 2, len, "swap"), "neighbors", "swap"),
        (lambda: tinct.verify(None, None, tolerance=math.inf), "tolerance", math.inf),
        (lambda: exact.line(Privacy(1), bits=0), "bits", 0),
        (lambda: exact.line(Privacy(1), lean=math.inf), "lean", math.inf),
        (lambda: exact.line(Privacy(1), lean=Fraction(3, 2)), "lean", Fraction(3, 2)),
        (lambda: threshold("a", at_least=-1), "at_least", -1),
        (lambda: share("a", at_least=2), "at_least", 2),
        (lambda: quantile("a", "", above=1), "q", ""),
        (lambda: quantile("a", 0.5, above="x"), "above", "x"),
        (lambda: mode("a", []), "categories", None),
        (lambda: mode("a", ["x", "y"], rest="z"), "rest", None),
        (lambda: parse("threshold(a, at_least=1.5)"), None, None),
        (lambda: parse("quantile(a, 2, above=1)"), "q", 2),
        (lambda: needed_epsilon("majority(a)", "0.4", 1), "right", "0.4"),
        (lambda: needed_epsilon("majority(a)", 0.9, 0), "margin", 0),
        (lambda: plan("x.csv", "majority(a)"), "epsilon", None),
        (lambda: plan("x.csv", "majority(a)", epsilon=1, neighbors="replace"), "people", None),
        (lambda: plan("x.csv", "majority(a)", epsilon=1, by="b", neighbors="replace"), "neighbors", None),
        (lambda: plan("x.csv", "majority(a)", epsilon=1, groups=["N"]), "by", None),
        (lambda: plan("x.csv", "exists(a)", epsilon=1), "delta", None),
        (lambda: local.randomized_response(1, 1), "k", 1),
        (lambda: local.randomized_response(3, 0), "epsilon", 0),
        (lambda: local.optimal([0.5, 0.6], [0.5, 0.5], 1), "p0", None),
        (lambda: local.optimal([0.5, 0.5], [math.nan, 0.5], 1), "p1", math.nan),
        (lambda: local.optimal([0.5, 0.5], [0.5, 0.5], 1, symbols=["a", "a"]), "symbols", None),
        (lambda: local.regimes([0.1, 0.9], [0.5, 0.5], lowest=math.nan), "lowest", math.nan),
        (lambda: local.regimes([0.1, 0.9], [0.5, 0.5], lowest=3, highest=2), "lowest", 3),
        (lambda: local.regimes([0.1, 0.9], [0.5, 0.5], samples=1), "samples", 1),
        (lambda: Ledger("x.db", 0), "epsilon", 0),
        (lambda: Ledger("x.db", 1, composition="fancy"), "composition", "fancy"),
        (lambda: Ledger("x.db", 1, slack=0.1), "slack", None),
        (lambda: Ledger("x.db", delta=0.1), "epsilon", None),
        (lambda: Ledger("x.db", 1, timeout=math.inf), "timeout", math.inf),
        (lambda: Planned(1, times=0), "times", 0),
        (lambda: Protection(unit=""), "unit", ""),
        (lambda: Protection(people=5), "people", None),
        (lambda: Protection(neighbors="replace", people=-1), "people", None),
    ],
    ids=lambda value: "" if callable(value) else brief(value),
)
def test_a_refusal_names_the_parameter(call, parameter, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a,b\nyes,N\n")
    with pytest.raises(ParameterError) as caught:
        call()
    error = caught.value
    assert error.parameter == parameter
    if isinstance(error.value, float) and math.isnan(error.value):
        assert math.isnan(value)
    elif isinstance(value, Decimal):
        assert error.value.is_nan()
    else:
        assert error.value == value
        assert type(error.value) is type(value) or parameter == "q"  # the grammar reads a text
    assert len(str(error)) < 400


def test_the_usual_sentence():
    error = ParameterError.of("epsilon", "a number in [0, 700]", math.nan)
    assert str(error) == "epsilon must be a number in [0, 700], got nan"
    assert (error.expected, error.path, error.problem) == ("a number in [0, 700]", None, str(error))
    assert isinstance(error, ValueError)
    assert (
        str(ParameterError.of("k", "small", ..., ", such as ", Parameter("k", "1"))) == "k must be small, such as k='1'"
    )
    assert ParameterError.of("a share", "small", 2).parameter is None  # words for a thing are no name
    assert str(ParameterError("plain")) == "plain"
    assert ParameterError("plain").args == ("plain",)
    assert str(TinctError()) == ""


def test_parameters_stand_in_backquotes():
    error = ParameterError.about("by", "`by` needs `neighbors='replace'`", ", got `n`", expected="it", value=3)
    assert error.args == (Parameter("by"), " needs ", Parameter("neighbors", "replace"), ", got `n`")
    assert (error.parameter, error.expected, error.value) == ("by", "it", 3)
    sizes = ParameterError.about("budgets", "such as `budgets={'0.5': 120, '1': 80}`: no")
    assert sizes.args == ("such as ", Parameter("budgets", {"0.5": 120, "1": 80}), ": no")


def test_backquotes_are_only_ever_our_own():
    """What somebody gave may hold a backquote: a sentence is our words, and names that the code itself has listed."""
    ours = re.compile(r"[A-Z_]+|name|owner!r|rule!r|extra|given\[0\]")
    calls = [
        call
        for path in SOURCE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "ParameterError.about"
    ]
    assert len(calls) > 20
    for call in calls:
        sentence = call.args[1]
        assert isinstance(sentence, ast.Constant | ast.JoinedStr), ast.unparse(call)
        for part in sentence.values if isinstance(sentence, ast.JoinedStr) else ():
            if isinstance(part, ast.FormattedValue):
                shown = ast.unparse(part.value) + "!r" * (part.conversion == ord("r"))
                assert ours.fullmatch(shown), ast.unparse(call)


def test_values_are_shown_briefly():
    assert brief(np.float64("nan")) == "nan"
    assert brief(Fraction(1, 3)) == "1/3"
    assert brief("7") == "'7'"
    assert brief(True) == "True"
    assert "thousands of digits" in brief(HUGE)
    assert "thousands of digits" in brief([HUGE])
    assert len(brief("x" * 10**6)) == len(brief(10**1000)) == len(brief([0] * 10**5)) == 80


def test_only_plain_values_are_kept():
    """A container might hold data, and a function does not survive the way to another process."""
    for value in ([1], {"a": 1}, np.zeros(3), lambda: 0, object(), b"x", {1}):
        error = ParameterError.of("k", "small", value)
        assert error.value is None
        pickle.loads(pickle.dumps(error))  # noqa: S301 # our own


@pytest.mark.parametrize(
    "error",
    [
        ParameterError.of("epsilon", "a number", "x", ", such as ", Parameter("epsilon", "0.5")),
        ParameterError("a ", Parameter("plan", [Planned("0.1", times=50)]), path="x.db", parameter="plan", value=1),
        FileError("it is empty", path=Path("a.csv")),
        FileError("plain"),
        BudgetExceeded("too much", path="x.db"),
        NotAnswered("lost", "r-1"),
        NotExtendable("no", ("u", "v")),
        NotPrivate("no", None),
        NoOptimum("no", (1, 2)),
        TinctError("base"),
    ],
)
def test_errors_survive_the_way_to_another_process(error):
    error.path = error.path or "seen.csv"
    error.add_note("a note")
    sent = pickle.loads(pickle.dumps(error))  # noqa: S301 # our own
    for again in (sent, copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.args == error.args
        assert vars(again) == vars(error)
        assert again.path is not None


# files


def test_a_file_error_knows_its_file(tmp_path):
    with pytest.raises(FileError) as caught:
        graphs.read(tmp_path / "none.csv")
    assert caught.value.path == tmp_path / "none.csv"
    assert caught.value.problem == "there is no such file"
    assert str(caught.value) == f"{tmp_path / 'none.csv'}: there is no such file"


def test_what_a_file_holds_is_named_with_its_file(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text("source,target,source_color,target_color\na,b,x,y\nc,d,x,y\n")
    with pytest.raises(ParameterError) as caught:
        graphs.read(path)
    assert caught.value.path == path
    assert Parameter("disconnected", True) in caught.value.args
    path.write_text("source,target,source_color,target_color,epsilon\na,b,x,y,-1\n")
    with pytest.raises(FileError, match=r"line 2: epsilon must be") as refused:
        graphs.read(path)
    assert str(refused.value).count(str(path)) == 1


def test_uploads_are_called_what_they_were_called():
    uploads = pytest.importorskip("tinct.studio.uploads")
    broken = {
        "a.json": b"{",
        "b.csv": b"source,target\na,b\n",
        "c.csv": b"source,target,source_color,target_color\na,b,x,y\nc,d,x,y\n",
        "d.graphml": b"<graphml>",
        "e.txt": b"hello",
        "f.csv": b"",
        "g.json": b'{"schema": "tinct/graph@9"}',
        "h.csv": b"\xff\xfe",
    }
    for name, data in broken.items():
        with pytest.raises(TinctError) as caught:
            uploads.parsed(uploads.Uploads().keep(name, data), graphs.read)
        assert caught.value.path == name
        assert str(caught.value).startswith(f"{name}: ")
        assert "tinct-studio-" not in str(caught.value)


# the words of the command line

_DATA = "a,b\nyes,N\nno,S\n"
_COMMANDS = [
    ("ask x.csv majority(a) -e 701", "--epsilon must be a number in [0, 700], got '701'"),
    ("ask x.csv majority(a) -e 1 -d 1", "--delta must be a number in [0, 1), got '1'"),
    ("ask x.csv majority(a) -e 1 --neighbors swap", "--neighbors must be 'add-remove' or 'replace', got 'swap'"),
    (
        "ask x.csv majority(a) -e 1 --neighbors replace --plan",
        "a plan reads no row, and with --neighbors replace the number of people is public: give it as --people",
    ),
    (
        "ask x.csv majority(a) --neighbors replace --epsilon-column b --budgets 0.5,1 --plan",
        "a plan reads no row: say how many people chose each epsilon, such as --budgets 0.5=120,1=80",
    ),
    (
        "ask x.csv majority(a) -e 1 --people 2",
        "--people is for --neighbors replace: otherwise the number of people is secret, so leave it out",
    ),
    ("ask x.csv majority(a) -e 1 --groups N", "--groups needs --by, the column of groups"),
    (
        "ask x.csv majority(a) -e 1 --by b --neighbors replace",
        "--by needs --neighbors add-remove: a person whose row is replaced could change group and affect two",
    ),
    (
        "ask x.csv majority(a) -e 1 --by b",
        "finding groups privately needs delta above 0, such as --delta 1e-6; known ones can be declared with --groups",
    ),
    (
        "ask x.csv majority(a) -e 1 --by b --groups N --most-groups 3",
        "--most-groups is for groups that are found: with groups declared there is nothing to find",
    ),
    ("ask x.csv exists(a) -e 1", "exists needs delta above 0, such as --delta 1e-6: without it, it could only say no"),
    ("ask x.csv majority(a) -e 1 --budgets 1", "--budgets needs --epsilon-column, the column that holds them"),
    ("ask x.csv majority(a) -e 1 --request r", "--request needs a ledger: only a ledger remembers answers"),
    ("ask x.csv majority(a) -e 1 --lean x", "--lean must be a number such as '0.1' or '1/3', got 'x'"),
    ("ask x.csv majority(a) --plan --right 0.5", "--right must be above 1/2, got '0.5': a coin is right that often"),
    (
        "design pieces.csv -e 1",
        "pieces.csv: the graph is in 2 pieces ('c' cannot be reached from 'a'); a piece with one color is answered "
        "with certainty, so confirm it with --disconnected",
    ),
    ("design majority:3 --mu 101", "--mu must be a number in [0, 100], got '101'"),
    ("design majority:0 -e 1", "n must be a whole number of at least 1, got 0"),
    ("budget init x.db -e 0", "--epsilon must be above 0 for a budget, got '0'"),
    (
        "budget init x.db -e 1 --composition accounting",
        "--composition accounting needs 1 to 100 planned costs, such as --plan '50 x 0.1'",
    ),
    ("budget init x.db -e 1 --slack 0.1", "--slack belongs to --composition advanced, not to 'basic'"),
    (
        "budget init x.db -e 1 --neighbors replace",
        "--neighbors replace makes the number of people public: declare it as --people, a whole number from 0 to 10^18",
    ),
    (
        "budget init new.db -e 1 --scope staff",
        "new.db: there is no ledger yet: create it without --scope first, then add the scope 'staff'",
    ),
    ("local regimes --p0 0.1,0.9 --p1 0.5,0.5 --lowest nan", "--lowest must be a finite number, got nan"),
    (
        "local regimes --p0 0.1,0.9 --p1 0.5,0.5 --lowest 3 --highest 2",
        "--lowest must be below --highest, got 3.0 and 2.0",
    ),
    ("local design -e 1 --prior 0.5,0.6", "--prior must be probabilities that sum to 1 (within 1e-09), got 1.1"),
    ("local design -e 1 sums.csv", "sums.csv: p0 must be probabilities that sum to 1 (within 1e-09), got 1.1"),
]


def _said(words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text(_DATA)
    (tmp_path / "sums.csv").write_text("p0,p1\n0.5,0.5\n0.6,0.5\n")
    (tmp_path / "pieces.csv").write_text("source,target,source_color,target_color\na,b,x,y\nc,d,x,y\n")
    monkeypatch.setattr(sys, "argv", ["tinct", *words.split()])
    monkeypatch.setattr("warnings.showwarning", None)
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(("words", "sentence"), _COMMANDS)
def test_the_command_speaks_of_its_options(words, sentence, capsys, monkeypatch, tmp_path):
    assert _said(words, capsys, monkeypatch, tmp_path) == f"tinct: {sentence}\n"


@pytest.mark.parametrize(("words", "sentence"), _COMMANDS)
def test_no_word_of_a_sentence_matters(words, sentence, capsys, monkeypatch, tmp_path):
    """With every word of the library replaced, the command points at the same options."""
    plain = TinctError.__init__

    def reworded(self, *parts, **facts):
        plain(self, *(" … " if isinstance(part, str) and "--scope" not in part else part for part in parts), **facts)

    monkeypatch.setattr(TinctError, "__init__", reworded)
    said = _said(words, capsys, monkeypatch, tmp_path)
    option = re.compile(r"--[a-z-]+")
    assert option.findall(said) == option.findall(sentence)
    assert "must be" not in said


def test_a_parameter_without_an_option_keeps_its_name():
    command = get_command(main.app)
    ask, declare = options_of(command, ["ask", "x.csv"]), options_of(command, ["budget", "declare", "x.db"])
    assert ask["epsilon_column"] == "--epsilon-column"
    assert ask["n"] == ask["people"] == "--people"
    assert "data" not in ask  # an argument there
    assert declare["data"] == "--data"
    assert options_of(command, []).keys() == options_of(command, ["--version"]).keys()
    error = ParameterError(Parameter("colors"), " and ", Parameter("n"), " and ", Parameter("where", "a b"))
    assert in_options(error, ask) == "colors and --people and --where 'a b'"
    assert in_options(error, declare) == "colors and --people and where='a b'"
    error.path = "graph.csv"
    assert in_options(error, ask) == "graph.csv: colors and n and --where 'a b'"  # a bare name is a field of the file


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("quantile(cost, 2, above=1)", 15),
        ("share(a == yes, at_least=0)", 25),
        ("threshold(a == yes, at_least=-1)", 29),
        ("mode(a, categories=['x', 'y'], rest='z')", 36),
        ("mode(a, categories=['x', 'x'])", 19),
    ],
)
def test_the_caret_does_not_depend_on_the_words(text, at, monkeypatch):
    plain = ParameterError.__init__

    def reworded(self, *parts, **facts):
        plain(self, *(parts if "^" in str(parts[0]) else ("zzz",)), **facts)

    for own_words in (True, False):
        if not own_words:
            monkeypatch.setattr(ParameterError, "__init__", reworded)
        with pytest.raises(ParameterError) as caught:
            parse(text)
        assert str(caught.value).startswith("zzz") != own_words
        assert str(caught.value).splitlines()[-1] == "    " + " " * at + "^"
        assert caught.value.parameter in text


# secrets


def test_nothing_searches_the_words_of_an_error():
    """Other libraries' errors have only words; ours have facts."""
    searched = re.compile(
        r"str\((error|problem|refusal|caught)\)\.|in str\((error|problem|refusal)\)|(error|problem)\.args\["
    )
    foreign = {"morphisms.py"}  # a KeyError's key
    found = [
        f"{path.name}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        if path.name not in foreign
        for line in path.read_text(encoding="utf-8").splitlines()
        if searched.search(line)
    ]
    assert not found


_READ_DATA = (
    "_files/",
    "sources/",
    "spark/",
    "asking/answers.py",
    "exact/certified.py",
    "exact/sampler.py",
    "local/mechanisms/base.py",
    "local/answers_and_reports.py",
    "local/report_files.py",
    "local/_tally.py",
    "questions/counts.py",
    "questions/positions.py",
)
_PUBLIC = ("sources/description.py", "sources/draft.py", "sources/csv_on_the_web.py")  # what an owner says, no data
_OPTIONS = {
    "confidence",
    "kind",
    "lean",
    "missing",
    "most_rejected",
    "neighbors",
}  # what a caller chooses beside the data


def test_what_reads_data_gives_no_error_a_value():
    """Only options of a caller; and the list above names files that are there."""
    assert all((SOURCE / place).exists() for place in _READ_DATA)
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not ast.unparse(call.func).startswith("ParameterError"):
                continue
            given = [keyword.value for keyword in call.keywords if keyword.arg == "value"]
            if ast.unparse(call.func) == "ParameterError.of":
                given += call.args[2:3]
            for value in map(ast.unparse, given):
                if place.startswith(_READ_DATA) and place not in _PUBLIC:
                    assert value in _OPTIONS | {"..."}, f"{place}:{call.lineno}: {value}"
                # the people, counts, rows, answers and vertices of a caller may be secret
                assert not re.search(r"people|counts|rows|vertex|answer\b|reports|data\b|\bat\b", value), place


def _everything(error: BaseException | None) -> str:
    """All that somebody who catches an error can see, also of those it comes from."""
    if error is None:
        return ""
    facts = [str(error), repr(error), repr(error.args), repr(vars(error))]
    return " ".join(facts) + _everything(error.__cause__) + _everything(error.__context__)


@pytest.mark.parametrize(
    "call",
    [
        lambda: local.randomized_response(2, 1, symbols=["a", "b"]).privatize(["a", MARK]),
        lambda: local.randomized_response(2, 1, symbols=["a", "b"]).estimate([MARK]),
        lambda: local.randomized_response(2, 1, symbols=["a", "b"]).estimate([471147114711]),
        lambda: exact.line(Privacy(1)).release(MARK),
        lambda: tinct.ask("damaged.parquet", "majority(a)", epsilon=1),
        lambda: tinct.ask("damaged.parquet", "majority(a)", epsilon=1, neighbors="replace"),
    ],
)
def test_errors_about_data_hold_none_of_it(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"a": [MARK] * 5000, "b": list(range(5000))})
    parquet.write_table(table, "damaged.parquet", compression="none", use_dictionary=False)
    data = bytearray((tmp_path / "damaged.parquet").read_bytes())
    data[4:60] = b"\xff" * 56  # the head of the first page; the names of the columns are at the end
    (tmp_path / "damaged.parquet").write_bytes(data)
    with pytest.raises(TinctError) as caught:
        call()
    seen = _everything(caught.value)
    assert MARK not in seen
    assert "471147114711" not in seen
    assert getattr(caught.value, "value", None) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda graph: rainbow.best(graph, Privacy(1)),
        lambda graph: rainbow.best_boundary(graph, Privacy(1)),
        lambda graph: rainbow.balanced_boundary(graph, Privacy(1)),
        lambda graph: rainbow.optimum_exists(graph, Privacy(1), {0: [0.5, 0.5]}),
        rainbow.depths,
        rainbow.boundary_morphism,
        graphs.boundary_morphism,
        graphs.smallest_hitting_set,
        lambda graph: graphs.personalized(graph, [1, 2]),
        lambda graph: graphs.metric(graph, lambda _u, _v: 1.0),
        lambda graph: tinct.Mechanism(graph, [[0.5, 0.5]]),
        lambda graph: tinct.Mechanism.from_smaller(graph, [[0.5, 0.5]]),
        lambda graph: tinct.baselines.geometric(graph, Privacy(1)),
        lambda graph: tinct.homogeneous(graph, Privacy(1), 0.6, 0.6),
    ],
)
def test_what_needs_a_built_graph_says_so(call):
    for graph in (graphs.neighbors(lambda v: [v - 1, v + 1], lambda v: v >= 0), None):
        with pytest.raises(ParameterError, match=r"DatasetGraph is needed here|one vertex at a time"):
            call(graph)
