"""What commands say to somebody who meets them for the first time: it is true, and it can be followed as it stands."""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tinct import Ledger, ParameterError, Protection, ask, exact, graphs, local
from tinct.cli import main
from tinct.cli.shared_options import vertex_from
from tinct.errors import Way
from tinct.graphs.labels import Names, Words
from tinct.local.answers_and_reports import place_in, read_answers
from tinct.local.local_mechanism import LocalMechanism

ROOT = Path(__file__).parent.parent


@pytest.fixture
def say(tmp_path, monkeypatch, capsys):
    """Run a line of the shell; what it prints on both ways, with line ends as blanks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warnings.showwarning", None)
    monkeypatch.setenv("COLUMNS", "80")

    def run(line, status=0):
        monkeypatch.setattr(sys, "argv", ["tinct", *shlex.split(line)])
        with pytest.raises(SystemExit) as ended:
            main.run()
        done = capsys.readouterr()
        assert (ended.value.code or 0) == status, done
        return " ".join(f"{done.out} {done.err}".split())

    return run


# what an answer cost


def test_a_repeated_release_costs_nothing_and_says_so(say):
    """As ``ask`` says it: charged the first time, nothing the second, whatever dataset is given then."""
    say("design majority:5 -e 1 --certificate c.json")
    say("budget init b.db -e 3")
    first = say("release c.json --at 3 --ledger b.db --request poll")
    assert "Cost: ε = 1, charged as request poll. Left in the budget: ε = 2." in first
    again = say("release c.json --at 1 --ledger b.db --request poll")
    assert "Cost: nothing, request poll was answered before. Left in the budget: ε = 2." in again
    assert "charged:" not in again
    assert again.split()[0] == first.split()[0]
    fields = json.loads(say("release c.json --at 1 --ledger b.db --request poll --json"))
    assert (fields["repeated"], fields["completed"], fields["left"]["text"]) == (True, False, "ε = 2")


def test_a_release_that_was_interrupted_is_completed_for_nothing_more(say, monkeypatch):
    say("design majority:5 -e 1 --certificate c.json")
    say("budget init b.db -e 3")
    with monkeypatch.context() as broken:
        broken.setattr(exact.Certified, "release", lambda *_: 1 / 0)
        say("release c.json --at 3 --ledger b.db --request poll", status=2)
    done = say("release c.json --at 3 --ledger b.db --request poll")
    assert "Cost: nothing more, request poll was charged before and is answered now." in done


# vertices


@pytest.mark.parametrize("command", ["design cube:3 -e 1", "release c.json"])
def test_a_vertex_may_be_written_as_the_error_prints_it(say, command):
    """Lists as in files and tuples as Python prints them; what an unknown vertex is told is such a spelling."""
    say("design cube:3 -e 1 --certificate c.json")
    for text in ("[0,0,1]", "(0, 0, 1)", "(0,0,1)"):
        say(f"{command} --at '{text}'")
    for text in ("(0, 0, 9)", "[0,0,9]", "(0, 0", "((", "()", "(__import__('os'),)", "(0, [1])", "('\\d',)"):
        refused = say(f'{command} --at "{text}"', status=2)
        printed = re.findall(r"\(\d, \d, \d\)", refused)[-2:]
        assert printed == ["(0, 0, 0)", "(1, 1, 1)"]
        for spelled in printed:
            say(f"{command} --at '{spelled}'")


def test_a_name_in_brackets_is_still_a_name():
    """What a file calls a vertex comes first; only what is no vertex is read as Python writes it."""
    assert vertex_from("(0, 1)", Names(["(0, 1)", (0, 1)])) == "(0, 1)"
    assert vertex_from("(0, 1)", Words((2, 2))) == (0, 1)
    assert vertex_from("[0, 1]", Words((2, 2))) == (0, 1)
    assert vertex_from("(5,)", range(9)) == (5,)
    assert vertex_from("57", range(99)) == 57
    assert vertex_from("(" * 5000 + ")" * 5000, range(9)) == "(" * 5000 + ")" * 5000


def test_a_vertex_that_is_none_is_answered_with_some_that_are():
    with pytest.raises(ParameterError, match=r"the first is \(0, 0\), the last \(1, 1\)"):
        graphs.hypercube(2, sum).position((0, 2))


# one report for each person


def answers(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("who", "answer"), *rows])


def test_with_a_unit_everybody_sends_one_report(say):
    """The first row of each person, in the order of the file; a row without a person is nobody's."""
    answers("a.csv", [("ann", "x"), ("", "y"), ("bob", "y"), (" ann ", "y"), ("  ", "x"), ("bob", "x"), ("cid", "x")])
    assert [cells.to_pylist() for cells, _ in read_answers("a.csv", "answer", "who")] == [["x", "y", "x"]]
    say("local design --mechanism randomized-response --symbols x,y -e 700 --output rr.json")
    done = say("local privatize a.csv -c answer --unit who -m rr.json -o r.csv")
    assert "3 reports written to r.csv, one for each person, each ε = 700 private" in done
    assert "Note" not in done
    assert Path("r.csv").read_text().split() == ['"report"', "0", "1", "0"]  # at this ε nobody lies


def test_without_a_unit_the_command_says_what_several_rows_mean(say):
    """Each row sends a report, and somebody with k rows is protected with kε: one line says it."""
    answers("a.csv", [("ann", "x"), ("ann", "y")])
    say("local design --mechanism randomized-response --symbols x,y -e 1 --output rr.json")
    done = say("local privatize a.csv -c answer -m rr.json -o r.csv")
    assert "2 reports written to r.csv, each ε = 1 private" in done
    assert "Note: each row has a report of its own, so somebody with k rows is protected with k times this ε" in done
    assert "--unit COLUMN" in done


@pytest.mark.parametrize("rows", [1, 7, 1 << 17, (1 << 17) + 3])
def test_persons_are_known_again_in_later_batches(tmp_path, rows):
    """The slow twin is a dictionary; numbers that are not numbers and empty cells are nobody."""
    dice = np.random.default_rng(rows)
    who = [None if one == 0 else float("nan") if one == 1 else float(one) for one in dice.integers(0, 40, rows)]
    given = dice.integers(0, 9, rows).tolist()
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"answer": given, "who": who}), path)
    expected = {}
    for person, value in zip(who, given, strict=True):
        if person is not None and person == person:
            expected.setdefault(person, value)
    found = [value for cells, _ in read_answers(path, "answer", "who") for value in cells.to_pylist()]
    assert found == [*expected.values()]


def test_a_person_is_one_value(tmp_path):
    parquet.write_table(pa.table({"answer": ["x"], "who": [["ann", "bob"]]}), tmp_path / "a.parquet")
    with pytest.raises(ParameterError, match="unit must be a column with one value in each row"):
        list(read_answers(tmp_path / "a.parquet", "answer", "who"))


def test_whose_row_is_read_depends_on_nobody_else(tmp_path):
    """The rows of others, before, between or after, do not change which row of a person is theirs."""
    dice = np.random.default_rng(5)
    mine = [("ann", "x"), ("ann", "y"), ("ann", "z")]
    for _ in range(50):
        others = [(dice.choice(["bob", "cid", "", "eve"]), dice.choice(["x", "y"])) for _ in range(6)]
        rows = [*others, *mine]
        order = dice.permutation(len(rows))
        mixed = [rows[at] for at in order]
        answers(tmp_path / "a.csv", mixed)
        own = [row for row in mixed if row[0] == "ann"]
        ((cells, places),) = read_answers(tmp_path / "a.csv", "answer", "who")
        taken = [value for value, at in zip(cells.to_pylist(), places, strict=True) if mixed[at][0] == "ann"]
        assert taken == [own[0][1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--unit nobody", "there is no column 'nobody'"),
        ("--unit answer", "--unit must be another column than that of the answers"),
        ("--unit who --engine spark", "--unit is for --engine local"),
    ],
)
def test_a_unit_that_makes_no_sense_is_refused(say, options, message):
    answers("a.csv", [("ann", "x")])
    say("local design --mechanism randomized-response --symbols x,y -e 1 --output rr.json")
    assert message in say(f"local privatize a.csv -c answer -m rr.json -o r.csv {options}", status=2)
    assert not Path("r.csv").exists()


@pytest.mark.parametrize("unit", ["", " --unit who"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_an_answer_that_is_no_symbol_is_found_where_the_file_has_it(say, tmp_path, unit, ending):
    """Lines count from 1 with the header, empty ones and quoted line breaks included; Parquet has rows."""
    say("local design --mechanism randomized-response --symbols x,y -e 1 --output rr.json")
    path = tmp_path / f"a{ending}"
    if ending == ".parquet":
        parquet.write_table(pa.table({"who": ["a", "b", "c"], "answer": ["x", "y", "?"]}), path)
        place = "row 3"
    else:
        sign = "\t" if ending == ".tsv" else ","
        path.write_text(f'\ufeffwho{sign}answer\na{sign}x\n\n"b\nb"{sign}y\nc{sign}?\nd{sign}?\n', encoding="utf-8")
        place = "line 6"
        assert path.read_text(encoding="utf-8").splitlines()[5] == f"c{sign}?"
    refused = say(f"local privatize a{ending} -c answer -m rr.json -o r.csv{unit}", status=2)
    assert f"the first in {place}: name a symbol that stands for them with --missing" in refused
    assert "?" not in refused


def test_a_place_that_cannot_be_found_again_is_a_row(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\nx\n")
    assert place_in(path, 0) == "line 2"
    assert place_in(path, 7) == "row 8"
    assert place_in(tmp_path / "gone.csv", 0) == "row 1"


# notes that can be followed


def test_the_note_on_rows_names_an_option_that_can_be_used(say):
    """Without a ledger it is --unit. With one the owner has decided it, and no note says what to do about it."""
    Path("d.csv").write_text("a,who\n" + "yes,1\n" * 9)
    assert "--unit" in say("ask d.csv majority(a) -e 1")
    assert "(unit)" not in say("ask d.csv majority(a) -e 1 --details")
    assert "name the column" not in say("ask d.csv majority(a) -e 1 --unit who")
    for number, more in enumerate(("", " --unit who")):
        say(f"budget init {number}.db -e 5{more}")
        for details in ("", " --details", " --plan"):
            said = say(f"ask d.csv majority(a) -e 1 --ledger {number}.db{details}")
            assert not re.search(r"\bunit\b", said)
            assert "name the column" not in said
    assert "(unit)" in ask("d.csv", "majority(a)", 1).plan.warnings[0]  # as one says it in Python


def test_a_declaration_is_offered_while_it_is_possible(say):
    """What ``budget init`` tells works as it stands; after the first charge, and with a unit, it tells nothing."""
    Path("d.csv").write_text("a,who,eps\n" + "yes,1,0.5\nno,2,1\n" * 9)
    lines = {
        "rows.db": "",
        "replace.db": " --neighbors replace --count d.csv",
        "own.db": " --neighbors replace --count d.csv --epsilon-column eps --budgets 0.5,1",
    }
    for name, more in lines.items():
        said = say(f"budget init {name} -e 5{more}")
        assert "declare it before the first charge" in said
        command = said[said.index("tinct budget declare") + len("tinct ") :]
        say(command.replace("LEDGER", name).replace("COLUMN", "who").replace("DATA", "d.csv"))
        before = Ledger(name).protects()
        assert before.unit == "who"
        assert before.neighbors == ("add-remove" if name == "rows.db" else "replace")
        assert (before.budgets is None) == (name != "own.db")
        assert "declare" not in say(f"budget init {name} -e 5")
    say("budget init plain.db -e 5")
    say("ask d.csv majority(a) -e 1 --ledger plain.db")
    assert "declare" not in say("budget init plain.db -e 5")


# words of the command line


def test_refusals_name_commands_where_python_names_functions(say):
    """The same error says what to do in Python, and on the command line."""
    say("local design --p0 0.1,0.2,0.7 --p1 0.5,0.25,0.25 -e 1 --output two.json")
    say("local design --mechanism subset-selection --symbols a,b,c,d,e,f -e 1 --output many.json")
    Path("r.csv").write_text("report\n0\n1\n")
    refused = say("local estimate r.csv -m two.json", status=2)
    assert "collect with what tinct local design --mechanism subset-selection makes" in refused
    assert "local." not in refused
    refused = say("local test r.csv -m many.json", status=2)
    assert "collect with what tinct local design makes for two hypotheses, --p0 and --p1" in refused
    say("budget init b.db -e 1")
    refused = say("budget init b.db -e 2", status=2)
    assert "cannot be changed. Use it as it is, or make another with --scope" in refused
    Path("d.csv").write_text("a,eps\n" + "yes,0.1\nno,1\n" * 400)
    refused = say("ask d.csv majority(a) --neighbors replace --epsilon-column eps --budgets 0.1,1", status=2)
    assert refused.endswith("use fewer classes, or --epsilon 0.1 for everybody")
    with pytest.raises(ParameterError, match=r"collect with local\.randomized_response\(3, epsilon\)") as caught:
        LocalMechanism.from_json("two.json").estimate([0, 1])
    assert any(isinstance(part, Way) for part in caught.value.args)
    with pytest.raises(ParameterError, match=r"collect with local\.optimal"):
        local.subset_selection(6, 1).test(np.zeros((2, 2), int))
    with pytest.raises(ParameterError, match="Open the ledger without epsilon"):
        Ledger("b.db", 2)


def test_every_way_is_in_the_words_of_its_own_world():
    """No command speaks of a function of the library."""
    named = [way for path in (ROOT / "src" / "tinct").rglob("*.py") for way in _ways(path)]
    assert len(named) >= 6
    for command in named:
        assert not re.search(r"\b(local|graphs|exact|plots|binary|rainbow)\.[a-z]", command)


def _ways(path):
    """The second text of each Way in a module."""
    import ast

    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Way":
            yield ast.literal_eval(node.args[1])


def test_a_request_that_differs_says_in_what(tmp_path):
    """Question, cost, scope and group are named with what they were and are; other facts are only in the digest."""
    ledger = Ledger(tmp_path / "b.db", "ln 3", "0.1", protects=Protection(neighbors="replace", people=5))
    ledger.add_scope("staff", 1)
    for scope in ("default", "staff"):
        ledger.add_partition("ward", "one each", scope=scope)
    asked = {"epsilon": "0.2", "question": "rain?", "request": "r", "partition": "ward", "group": "N"}
    ledger.charge(lambda: "yes", **asked)
    for change, message in {
        "question": ({"question": "sun?"}, "its question ('rain?' before, 'sun?' now) differs"),
        "cost": ({"epsilon": "0.3"}, "its cost (ε = 0.2 before, ε = 0.3 now) differs"),
        "delta": ({"delta": "0.1"}, "its cost (ε = 0.2 before, ε = 0.2, δ = 0.1 now) differs"),
        "twice": ({"protects": Protection(), "digest": "d"}, "its cost (ε = 0.2 before, ε = 0.4 now) differs"),
        "half": ({"protects": Protection(), "epsilon": "0.1"}, "something that the ledger keeps no word of"),
        "scope": ({"scope": "staff"}, "its scope ('default' before, 'staff' now) differs"),
        "group": ({"group": "S"}, "its group (N of ward before, S of ward now) differs"),
        "all": ({"group": None, "partition": None}, "its group (N of ward before, everybody now) differs"),
        "digest": ({"digest": "other data"}, "such as where the data are or an option, differs"),
        "two": ({"question": "sun?", "epsilon": "0.3"}, "its question ('rain?' before, 'sun?' now) and its cost"),
        "long": ({"question": "x" * 5000}, "xxx… now) differs"),
    }.values():
        with pytest.raises(ParameterError, match="already used for a different request") as caught:
            ledger.charge(lambda: "no", **{**asked, **change})
        assert message in str(caught.value)
        assert str(caught.value).endswith("Use a new request id")
    assert ledger.charge(lambda: "no", **asked).answer == "yes"
    whole = {"epsilon": "ln 3", "question": "all of it", "request": "w"}
    fresh = Ledger(tmp_path / "whole.db", "ln 3")
    fresh.charge(lambda: "yes", **whole)
    with pytest.raises(ParameterError, match=r"its question .* differs"):  # the cost is the same, kept from below
        fresh.charge(lambda: "no", **{**whole, "question": "half of it"})


# help


def _helps(app, words=()):
    for command in app.registered_commands:
        yield (*words, command.name or command.callback.__name__)
    for group in app.registered_groups:
        yield from _helps(group.typer_instance, (*words, group.name))


@pytest.mark.parametrize("words", list(_helps(main.app)), ids=" ".join)
def test_help_breaks_lines_only_where_they_are_full(say, words, capsys, monkeypatch):
    """The first word of a line would not have fitted into the line before; only paragraphs end early."""
    monkeypatch.setattr(sys, "argv", ["tinct", *words, "--help"])
    with pytest.raises(SystemExit):
        main.run()
    printed = capsys.readouterr().out
    about = printed[printed.index("Usage:") : printed.index("╭")].splitlines()[1:]
    for line, following in pairwise(about):
        if line.strip() and following.strip():
            assert len(line.rstrip()) + 1 + len(following.split()[0]) > 79, line


def test_help_promises_what_the_command_takes(say):
    """Regimes are about two hypotheses, only PostgreSQL has roles, and an export writes."""
    assert "prior" not in say("local regimes --help").replace("--prior", "")
    assert "A file" not in say("budget grant --help")
    assert "Write only this scope" in say("budget export --help")
    assert "Show only this scope" in say("budget show --help")
    Path("prior.csv").write_text("symbol,prior\na,0.5\nb,0.5\n")
    refused = say("local regimes prior.csv", status=2)
    assert "give --p0 and --p1, or a file with the columns p0 and p1" in refused


# the checker that shares nothing with tinct


def test_the_independent_checker_says_what_it_wants():
    """A usage text, a missing file, a folder: none of them is called a bad certificate."""
    tool = ROOT / "tools" / "check_certificate.py"

    def run(*words):
        return subprocess.run([sys.executable, "-I", tool, *words], capture_output=True, text=True, check=False)

    for word in ("-h", "--help"):
        done = run(word)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: python check_certificate.py FILE")
        assert "REFUSED" not in done.stdout.splitlines()[0]
    assert run().returncode == run("a", "b").returncode == 2
    assert run().stderr.startswith("usage:")
    assert (run("nope.json").returncode, run("nope.json").stderr) == (1, "REFUSED: there is no such file\n")
    assert run(str(ROOT)).stderr.startswith("REFUSED: the file cannot be read")
