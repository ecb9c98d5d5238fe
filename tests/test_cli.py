"""The command as its users meet it: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from tinct import Mechanism, Privacy, balanced, graphs
from tinct.cli.main import app

COUNCIL = Path(__file__).parent.parent / "examples" / "council.csv"


def tinct(*arguments: str | Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, where warnings are errors too."""
    line = [sys.executable, "-W", "error", "-m", "tinct", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_design_prints_the_optimum_by_distance_with_baselines():
    """The JSON of a majority has the balanced optimum, which ties the geometric mechanism at δ = 0."""
    result = json.loads(tinct("design", "majority:21", "--epsilon", "ln 2", "--json").stdout)
    assert result["private"] is True
    for line in result["by_distance"]:
        error = 1 / (3 * 2 ** line["distance"])
        assert line["error"] == pytest.approx([error, error], rel=1e-12)
        assert line["baseline_errors"]["geometric"] == pytest.approx(error, rel=1e-12)
        assert line["baseline_errors"]["randomized response"] == pytest.approx(1 / 3)


def test_design_table_names_every_answer_and_the_check():
    """The table for people shows both answers, the privacy and the verdict."""
    shown = tinct("design", "majority:101", "-e", "0.5", "-d", "1e-3", "--rows", "3").stdout
    for part in ("102 datasets", "ε = 0.5, δ = 0.001", "yes", "no", "geometric", "…", "private"):
        assert part in shown


def test_design_says_in_which_sense_its_result_is_optimal(tmp_path):
    """The heading and the claim: fair optimum, with a lean, with given values, for given values, by a program."""
    some, all_edges = tmp_path / "some.csv", tmp_path / "all.csv"
    some.write_text("vertex,probability\n0,0.6\n")
    all_edges.write_text("vertex,probability\n2,0.6\n")
    for options, name in (
        ((), "fair optimum"),
        (("--lean", "yes=0.7"), "fair optimum with a lean"),
        (("--fix", some), "fair optimum with given values"),
        (("--fix", some, "--lean", "0.7"), "fair optimum with given values"),
        (("--fix", all_edges), "optimum for the given values"),
        (("--truth", "0.6,0.6"), "optimum for these boundary truths"),
        (("--maximize", "truth"), "best by linear program"),
    ):
        line = ("design", "majority:5", "-e", "1", *options)
        assert json.loads(tinct(*line, "--json").stdout)["claim"]["text"].startswith(f"{name}: no private mechanism")
    shown = tinct(*line[:4], "--lean", "yes=0.7").stdout
    assert shown.startswith("Fair optimum with a lean for 6 datasets")
    assert "Claim: no private mechanism is right at least as often on every dataset and more" in shown
    votes = json.loads(tinct("design", "votes:4,3", "-e", "1", "--json").stdout)
    assert votes["claim"]["text"].startswith("optimum for the given rows: no private mechanism with the given rows")


def test_a_lean_names_the_answer_it_favours():
    """yes=0.8 is the truth where yes is just true; a bare number is for the first answer, which is no here."""
    truths = {}
    for lean in ("yes=0.8", "no=0.8", "0.8"):
        result = json.loads(tinct("design", "majority:5", "-e", "ln 2", "--lean", lean, "--json").stdout)
        truths[lean] = {line["color"]: line["truth"][0] for line in result["by_distance"] if line["distance"] == 0}
    assert truths["yes=0.8"] == pytest.approx({"yes": 0.8, "no": 0.4})
    assert truths["no=0.8"] == truths["0.8"] == pytest.approx({"yes": 0.4, "no": 0.8})
    assert "0.8" in tinct("design", "majority:5", "-e", "ln 2", "--lean", "yes=0.8", "--at", "3").stdout


def test_a_gaussian_design_is_certified_at_an_epsilon(tmp_path):
    """Without one the error names the option; the certificate states that ε and the least δ of the table there."""
    path = tmp_path / "gaussian.json"
    line = ("design", "majority:5", "--mu", "1", "--lean", "yes=0.7", "--certificate", path)
    assert "say --at-epsilon 1, or another" in tinct(*line, status=2).stderr
    tinct(*line, "--at-epsilon", "1/2")
    budgets = json.loads(tinct("verify", path, "--json").stdout)["budgets"]
    assert [budget["epsilon"] for budget in budgets] == ["1/2"]
    assert "--at-epsilon cannot be combined" in tinct(*line[:4], "--at-epsilon", "1", status=2).stderr


def test_values_that_cannot_be_kept_are_refused_with_the_path(tmp_path):
    fix = tmp_path / "fix.csv"
    fix.write_text("vertex,probability\n0,0.01\n4,0.9\n")
    error = tinct("design", "majority:7", "-e", "0.5", "--fix", fix, status=2).stderr
    assert "no private extension: vertex 0 is fixed at 0.99 for 'yes', but 4 (0.1, 4 edges away" in error
    assert "along 4 – 3 – 2 – 1 – 0) allows at most" in error


def test_verify_names_what_1_minus_p_has_lost_and_reads_smaller_entries(tmp_path):
    """A column computed as 1 − p is refused with a word about it; with --smaller the larger one may be left out."""
    table = tmp_path / "table.csv"
    table.write_text("vertex,blue,red\n1,1.0,0.0\n2,0.9999999999999999,1.1102230246251565e-16\n")
    graph = tmp_path / "graph.json"
    graphs.write(graphs.DatasetGraph([(1, 2)], {1: "blue", 2: "blue"}, outputs=["blue", "red"]), graph)
    line = ("verify", table, "--graph", graph, "--epsilon", "ln 3")
    shown = tinct(*line, status=1).stdout
    assert "least ε at this δ: inf" in shown
    assert "perhaps: both numbers look like 1 − p" in shown
    assert "--smaller" in shown
    assert "1 − p" in json.loads(tinct(*line, "--json", status=1).stdout)["hint"]["text"]
    table.write_text("vertex,blue,red\n1,,5e-17\n2,1,1e-16\n")
    assert tinct(*line, "--smaller").stdout.startswith("private")
    assert "perhaps" not in tinct(*line, "--smaller").stdout
    assert "line 2" in tinct(*line, status=2).stderr  # without it, nothing may be left out
    assert "--smaller is for tables" in tinct("verify", tmp_path / "m.json", "--smaller", status=2).stderr


def test_design_then_verify_round_trip(tmp_path):
    """A written mechanism is read back, checked against its own budgets, and breaks when asked for less."""
    target = tmp_path / "council.json"
    tinct("design", COUNCIL, "--output", target, "--output", tmp_path / "council.csv")
    assert tinct("verify", target).stdout.startswith("private")
    verdict = json.loads(tinct("verify", target, "--epsilon", "0.5", "--json", status=1).stdout)
    assert verdict["private"] is False
    assert verdict["least_epsilon"] == pytest.approx(1.2)
    assert len(verdict["witness"]["edge"]) == 2
    assert tinct("verify", tmp_path / "council.csv", "--graph", COUNCIL).stdout.startswith("private")


def test_design_matches_the_library(tmp_path):
    """What the command writes is what the library computes."""
    target = tmp_path / "line.json"
    tinct("design", "line:4,3", "--epsilon", "ln 1.3", "--delta", "0.1", "--output", target)
    expected = balanced(graphs.line(4, 3), Privacy("ln 1.3", "0.1"))
    written = Mechanism.from_json(target)
    assert np.array_equal(written.table, expected.table)
    assert written.privacy == expected.privacy


def test_fixed_values_from_a_file(tmp_path):
    """--fix extends the values of a file; contradictory ones are refused with both vertices and the bound."""
    fix = tmp_path / "fix.csv"
    fix.write_text("vertex,probability\n4,0.2\n", encoding="utf-8")
    target = tmp_path / "m.json"
    tinct("design", "line:4,3", "-e", "ln 1.3", "-d", "0.1", "--fix", fix, "-o", target)
    red = {vertex: Mechanism.from_json(target).probability(vertex, "red") for vertex in (3, 2, 1)}
    assert red == pytest.approx({3: 0.64, 2: 0.432, 1: 0.2553846153846154}, abs=1e-12)
    fix.write_text('{"4": 0.2, "5": 0.9}', encoding="utf-8")
    (tmp_path / "fix.json").write_text('{"4": 0.2, "5": 0.9}', encoding="utf-8")
    error = tinct("design", "line:4,3", "-e", "ln 1.3", "--fix", tmp_path / "fix.json", status=2).stderr
    assert "no private extension" in error
    assert "allows at most" in error


def test_one_row_without_the_rest():
    """--at prints the distribution at one vertex, equal to the row of the whole mechanism."""
    row = json.loads(tinct("design", "cube:9", "-e", "1", "--at", "[0, 0, 0, 0, 0, 0, 0, 1, 1]", "--json").stdout)
    cube = graphs.hypercube(9, lambda votes: sum(votes) > 4)
    expected = balanced(cube, Privacy(1)).row((0, 0, 0, 0, 0, 0, 0, 1, 1))
    assert list(row["probabilities"].values()) == pytest.approx(expected.tolist(), rel=1e-12)


def test_gaussian_and_profile(tmp_path):
    """--mu designs for Gaussian DP; --profile lists the least δ for several ε, falling."""
    target = tmp_path / "g.json"
    tinct("design", "majority:11", "--mu", "1", "-o", target)
    verdict = json.loads(tinct("verify", target, "--profile", "0,1,2", "--json").stdout)
    deltas = [point["delta"] for point in verdict["profile"]]
    assert verdict["private"]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[0] == pytest.approx(2 * 0.6914624612740131 - 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["design", "majority:5"], "--epsilon is missing"),
        (["design", "majority:5", "-e", "nan"], "epsilon must be"),
        (["design", "majority:5", "-e", "-1"], "epsilon must be a number in [0, 700]"),
        (["design", "majority:5", "-e", "1", "-d", "1"], "delta must be a number in [0, 1)"),
        (["design", "majority:5", "-e", "1", "--mu", "1"], "either --mu or --epsilon"),
        (["design", "majority:", "-e", "1"], "should look like majority:n"),
        (["design", "majority:0", "-e", "1"], "n must be a whole number"),
        (["design", "wombat:5", "-e", "1"], "neither a file nor one of"),
        (["design", "missing.csv", "-e", "1"], "no such file"),
        (["design", "majority:99999999999", "-e", "1"], "would take about"),
        (["design", "majority:5", "-e", "1", "-o", "x.txt"], "must end in .json or .csv"),
        (["design", "majority:5", "-e", "1", "-o", "no/such/x.json"], "there is no folder"),
        (["design", "majority:5", "-e", "1", "--truth", "0.99,0.99"], "no private mechanism"),
        (["design", "majority:5", "-e", "1", "--truth", "high"], "two probabilities"),
        (["design", "majority:5", "-e", "1", "--at", "77"], "77 is not a vertex"),
        (["design", "majority:5", "-e", "1", "--at", "2", "--maximize", "truth"], "--maximize cannot be combined"),
        (["design", "votes:3,3", "-e", "1", "--truth", "0.8,0.5"], "--truth cannot be combined with orders"),
        (["design", "majority:5", "-e", "1", "--engine", "flint"], "--engine must be local or spark"),
        (["design", "majority:5", "-e", "1", "--master", "yarn"], "--master needs --engine spark"),
        (["ask", "x.csv", "majority(x)", "-e", "1", "-o", "folder"], "--output is for the answers of --by"),
        (["verify", "missing.json"], "no such file"),
        (["verify", "table.csv"], "a table needs its graph"),
        (["design", "majority:5", "-e", "1", "--lean", "perhaps=0.8"], "--lean must name one of no, yes"),
        (["design", "majority:5", "-e", "1", "--lean", "high"], "--lean must be a probability such as 0.8 or yes=0.8"),
        (["design", "majority:5", "-e", "1", "--lean", "1.5"], "--lean must be a number in [0, 1]"),
        (["design", "majority:5", "-e", "1", "--lean", "nan"], "--lean must be a number in [0, 1]"),
        (["design", "majority:5", "-e", "1", "-d", "0.4", "--lean", "0.3"], "--lean must be at least 0.4"),
        (["design", "majority:5", "-e", "1", "--lean", "0.7", "--truth", "0.5,0.5"], "--truth cannot be combined"),
        (["design", "majority:5", "-e", "1", "--lean", "0.7", "--maximize", "truth"], "--maximize cannot be combined"),
        (["design", "votes:4,3", "-e", "1", "--lean", "0.7"], "--lean cannot be combined with orders"),
        (["verify", "m.json", "--profile", "a,b"], "--profile must be numbers"),
        (["local", "design", "-e", "1", "--p0", "0.5,0.5"], "--p0 needs --p1"),
        (["local", "design", "-e", "1", "--p0", "1/0,1/2", "--p1", "1/2,1/2"], "--p0 must be numbers"),
        (
            ["local", "design", "-e", "1", "--mechanism", "geometric", "--symbols", "a"],
            "--symbols must be at least two",
        ),
        (["plot", "foo", "m.json", "-o", "x.svg"], "'foo' is not a kind of figure: choose from mechanism, graph"),
        (["budget", "init", "x.db", "-e", "1", "--composition", "accounting"], "such as --plan '50 x 0.1'"),
    ],
)
def test_bad_input_ends_with_status_two_and_says_what_is_wrong(arguments, said):
    """Every mistake is named on standard error, with exit status 2 and nothing on standard output."""
    done = tinct(*arguments, status=2)
    assert said in done.stderr
    assert done.stdout == ""


def test_a_refused_design_writes_nothing(tmp_path):
    """When the design is impossible, the file asked for does not appear."""
    target = tmp_path / "never.json"
    tinct("design", "majority:5", "-e", "1", "--truth", "0.99,0.99", "-o", target, status=2)
    assert list(tmp_path.iterdir()) == []


def test_start_up_loads_no_heavy_library():
    """Asking for help or designing something small imports neither numba nor SciPy nor Matplotlib."""
    code = (
        "import sys; from tinct.cli.main import app\n"
        "try: app(['design', 'majority:101', '-e', '1', '--json'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numba', 'scipy', 'matplotlib', 'networkx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().splitlines()[-1] == "[]"


def commands(group, words=()):
    """Every command below a group, as the words one types."""
    for name, found in group.commands.items():
        yield from commands(found, (*words, name)) if hasattr(found, "commands") else [(*words, name)]


def test_help_shows_examples():
    """The help of every command and every group of them ends with examples that can be pasted."""
    for words in ((), ("local",), ("budget",)):
        shown = CliRunner().invoke(app, [*words, "--help"]).stdout
        assert shown.split("Examples")[1].count(f"tinct {' '.join(words)}".strip()) >= 3, words
    found = list(commands(typer.main.get_command(app)))
    assert ("local", "privatize") in found
    for words in found:
        shown = CliRunner().invoke(app, [*words, "--help"]).stdout
        assert f"tinct {' '.join(words)}" in shown.split("Examples")[1], words


def test_an_interrupted_command_ends_with_status_130(monkeypatch):
    """Ctrl-C is neither a check that failed nor bad input, and says that no file is half written."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tinct.graphs.builders.from_spec", interrupted)
    done = CliRunner().invoke(app, ["design", "majority:5", "-e", "1"])
    assert done.exit_code == 130
    assert "no file was left half-written" in done.stderr


def test_an_interrupt_while_loading_is_quiet(tmp_path):
    """Ctrl-C before anything has begun leaves no traceback."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-m", "tinct"], env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_reader_that_has_had_enough_is_no_failure(more):
    """With nobody left to read, as behind ``head``, the command ends quietly with status 0."""
    command = [sys.executable, "-m", "tinct", "design", "majority:2001", "-e", "0.01", "--rows", "999", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        said = running.stderr.read()
        assert running.wait() == 0
    assert said == b""


def test_a_certificate_that_cannot_be_is_refused_before_anything_is_charged(tmp_path):
    """No answer is paid for and then lost to an option that makes no sense."""
    data, book = tmp_path / "rows.csv", tmp_path / "budget.db"
    data.write_text("x\nyes\nno\n")
    tinct("budget", "init", book, "-e", "1")
    asked = ("-e", "1", "--ledger", book, "--certificate")
    for target, words in (("no/c.json", "there is no folder"), ("c.csv", "must end in .json"), ("rows.csv", "is read")):
        assert words in tinct("ask", data, "majority(x)", *asked, tmp_path / target, status=2).stderr
    by = ("ask", data, "majority(x)", "--by", "x", *asked, tmp_path / "c.json")
    assert "needs --groups" in tinct(*by, "-d", "1e-6", status=2).stderr
    link = tmp_path / "link.csv"
    link.symlink_to(book)
    assert "is read" in tinct("budget", "export", book, link, status=2).stderr
    assert json.loads(tinct("budget", "history", book, "--json").stdout)["entries"] == []


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("majority(x)", ()),
        ("exists(x == yes)", ("-d", "1e-6")),
        ("mode(x, categories=['yes', 'no', 'perhaps'])", ()),
        ("mode(x, categories=['yes', 'no', 'perhaps'])", ("--neighbors", "replace", "--people", "8")),
        ("mode(x, categories=['yes', 'no'], rest='no')", ("--neighbors", "replace", "--people", "8")),
        ("majority(x)", ("--neighbors", "replace", "--epsilon-column", "x", "--budgets", "1=3,2=5")),
    ],
)
def test_what_ask_calls_proved_can_be_checked_by_others(question, more, tmp_path):
    """The id that is printed is the id of the file, which the library proves again and the checker without it."""
    data, path = tmp_path / "rows.csv", tmp_path / "c.json"
    data.write_text("x\n" + 'yes\nno\nyes\n""\n' * 2)
    more = more if "--budgets" in more else ("-e", "1", *more)
    asked = tinct("ask", data, question, *more, "--certificate", path, "--json").stdout
    fields = json.loads(path.read_text(encoding="utf-8"))
    proof = json.loads(tinct("verify", path, "--exact", "--json").stdout)
    assert json.loads(asked)["certificate"] == fields["digest"] == proof["certificate"]
    assert fields["question"] == proof["question"] == json.loads(asked)["question"]
    assert fields["neighbors"] == ("replace" if "--neighbors" in more else "add-remove")
    checker = Path(__file__).parent.parent / "tools" / "check_certificate.py"
    done = subprocess.run([sys.executable, "-I", "-S", checker, path], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("PRIVATE"), done.stderr
    planned = tinct("ask", data, question, *more, "--plan", "--certificate", tmp_path / "p.json").stdout
    assert f"Certificate {fields['digest'][:16]}: verified" in planned
    assert (tmp_path / "p.json").read_bytes() == path.read_bytes()


def test_a_graph_in_pieces_is_said_to_be_one_everywhere(tmp_path):
    """design, verify and release say in how many pieces the graph is, and that nothing is promised between them."""
    graph, path = tmp_path / "apart.csv", tmp_path / "c.json"
    graph.write_text("source,target,source_color,target_color\na,b,no,yes\nc,d,no,yes\n")
    tinct("design", graph, "-e", "1", "--disconnected", "--certificate", path)
    meaning = "in 2 pieces, and nothing is promised between datasets of different pieces"
    shown = tinct("verify", path, "--exact").stdout
    assert meaning in shown
    assert f"for the graph {graph}; neighbours: the edges of this graph" in shown
    assert json.loads(tinct("verify", path, "--exact", "--json").stdout)["pieces"] == 2
    assert meaning in tinct("release", path, "--at", "a").stderr
    assert json.loads(tinct("release", path, "--at", "a", "--json").stdout)["pieces"] == 2
    tinct("design", "majority:5", "-e", "1", "--certificate", path)
    assert "pieces" not in tinct("verify", path, "--exact").stdout + tinct("release", path, "--at", "3").stderr


def test_a_wrong_certificate_of_the_mode_is_a_check_that_failed(tmp_path):
    """Status 1 with the move; a draw from it is for ask, not for release."""
    data, path = tmp_path / "rows.csv", tmp_path / "c.json"
    data.write_text("x\na\nb\na\n")
    tinct("ask", data, "mode(x, categories=['a', 'b'])", "-e", "1", "--neighbors", "replace", "--certificate", path)
    assert "'tinct ask' draws from it" in tinct("release", path, "--at", "3", status=2).stderr
    fields = json.loads(path.read_text(encoding="utf-8"))
    fields["rows"][-1] = [str(int(fields["denominator"]) - 1), "1"]
    path.write_text(json.dumps(fields), encoding="utf-8")
    assert "broken move" in tinct("verify", path, "--exact", status=1).stdout
    proof = json.loads(tinct("verify", path, "--json", status=1).stdout)
    assert (proof["private"], len(proof["witness"]["before"])) == (False, 2)


def test_text_of_a_certificate_cannot_play_tricks_with_a_terminal(tmp_path):
    """Control characters in the question are replaced."""
    from tinct import Privacy, exact

    path = tmp_path / "c.json"
    exact.line(Privacy(1), bits=8).about("a\x1b[2Jb\u202e", "c\x07").to_json(path)
    shown = tinct("verify", path, "--exact").stdout
    assert "for a�[2Jb�; neighbours: c�" in shown


def test_an_answer_is_shown_before_its_certificate_is_written(tmp_path):
    """What every dataset has for an answer needs no table, so none is written: the answer stands."""
    data = tmp_path / "rows.csv"
    data.write_text("x\nyes\n")
    asked = ("ask", data, "threshold(x == yes, at_least=0)", "-e", "1", "--json")
    done = tinct(*asked, "--certificate", tmp_path / "c.json", status=2)
    assert json.loads(done.stdout)["answer"] == "yes"
    assert "nothing to certify, no file was written" in done.stderr
    assert not (tmp_path / "c.json").exists()


def test_design_with_orders_prints_a_line_for_each_order_and_distance(tmp_path):
    """A graph of votes is designed by order; the JSON's rows sum to 1, and the written mechanism verifies."""
    target = tmp_path / "votes.json"
    result = json.loads(tinct("design", "votes:6,3", "-e", "1", "-o", target, "--json").stdout)
    assert result["private"] is True
    assert sum(line["datasets"] for line in result["by_order"]) == 28
    for line in result["by_order"]:
        assert sum(line["probabilities"].values()) == pytest.approx(1, abs=1e-12)
        assert line["probabilities"][line["order"][0]] == max(line["probabilities"].values())
    assert tinct("verify", target).stdout.startswith("private")
    assert "█" in tinct("design", "votes:6,3", "-e", "1", "--boundary", "best").stdout


def test_design_with_orders_says_what_one_row_for_each_order_costs():
    """A note for people and a field for scripts, where it costs much; none where it does not, or with --maximize."""
    result = json.loads(tinct("design", "votes:6,3", "-e", "1", "--json").stdout)
    best = json.loads(tinct("design", "votes:6,3", "-e", "1", "--maximize", "truth", "--json").stdout)
    assert result["costly_rows"]["best"] == pytest.approx(best["value"] / best["datasets"], abs=1e-9)
    assert result["costly_rows"]["mean"] < result["costly_rows"]["best"] - 0.05
    assert "costly_rows" not in best
    done = tinct("design", "votes:6,3", "-e", "1")
    assert "Note: with one row for each order" in done.stdout
    assert "--maximize truth" in " ".join(done.stdout.split())
    assert done.stderr == ""
    assert "Note" not in tinct("design", "votes:12,2", "-e", "1").stdout


def test_one_row_with_orders_is_that_of_the_whole():
    """--at with orders, balanced and best boundary rows: the row that the whole table has at that distance."""
    for boundary in ("balanced", "best"):
        options = ("design", "votes:6,3", "-e", "1", "--boundary", boundary, "--json")
        row = json.loads(tinct(*options, "--at", "[4, 2, 0]").stdout)["probabilities"]
        assert sum(row.values()) == pytest.approx(1, abs=1e-12)
        lines = json.loads(tinct(*options).stdout)["by_order"]
        assert any(line["order"] == ["a", "b", "c"] and line["probabilities"] == pytest.approx(row) for line in lines)
    wrong = ("design", "votes:6,3", "-e", "1", "--at", "[4, 2, 0]")
    assert "--truth cannot be combined" in tinct(*wrong, "--truth", "0.5,0.5", status=2).stderr


def test_design_with_orders_from_given_rows(tmp_path):
    """--fix takes rows by order; rows that are too far apart are refused with the edge where their orders meet."""
    rows = tmp_path / "rows.json"
    rows.write_text('{"[\\"a\\", \\"b\\"]": {"a": 0.6, "b": 0.4}, "[\\"b\\", \\"a\\"]": {"a": 0.4, "b": 0.6}}')
    result = json.loads(tinct("design", "votes:5,2", "-e", "1", "--fix", rows, "--json").stdout)
    boundary = [line["probabilities"] for line in result["by_order"] if line["distance"] == 0]
    assert sorted(boundary, key=lambda row: row["a"]) == [{"a": 0.4, "b": 0.6}, {"a": 0.6, "b": 0.4}]
    assert "meet on edge" in tinct("design", "votes:5,2", "-e", "0.1", "--fix", rows, status=2).stderr


def test_design_maximizes_a_utility_with_a_bound():
    """--maximize prints the value and the bound that no private mechanism exceeds; they meet."""
    result = json.loads(tinct("design", "votes:4,3", "-e", "1", "--maximize", "truth", "--json").stdout)
    assert result["private"]
    assert result["upper_bound"] == pytest.approx(result["value"], abs=1e-6)


def test_bench_measures_this_machine():
    """Every row has a time, and the graph's rows have SciPy's beside it; the table shows the ratio."""
    run = CliRunner().invoke(app, ["bench", "--side", "12", "--json"])
    assert run.exit_code == 0, run.output
    rows = json.loads(run.output)["rows"]
    assert all(row["seconds"] > 0 for row in rows)
    assert [row["other"] is not None for row in rows] == [True, True, True, False, False, False]
    assert "×" in CliRunner().invoke(app, ["bench", "--side", "12"]).output
    assert CliRunner().invoke(app, ["bench", "--side", "1"]).exit_code == 2


def test_design_computes_the_baselines_once(monkeypatch):
    """However many distances there are to report, each mechanism's errors are computed once."""
    calls = []
    error = Mechanism.error
    monkeypatch.setattr(Mechanism, "error", lambda self: calls.append(self) or error(self))
    for more in (["--rows", "2"], ["--json"]):
        calls.clear()
        assert CliRunner().invoke(app, ["design", "majority:500", "-e", "1", *more]).exit_code == 0
        assert len(calls) == 4  # the optimum and three baselines


def test_design_lines_equal_the_table(tmp_path):
    """The JSON has a line for each answer and distance, computed as one would from the table."""
    result = json.loads(tinct("design", COUNCIL, "--json", "-o", tmp_path / "m.json").stdout)
    mechanism = Mechanism.from_json(tmp_path / "m.json")
    graph, truth, error = mechanism.graph, mechanism.truth(), mechanism.error()
    distance, colors = graph.boundary_distance(), np.array([str(color) for color in graph.colors.values()])
    assert sum(line["datasets"] for line in result["by_distance"]) == len(graph)
    for line in result["by_distance"]:
        mine = (colors == line["color"]) & (distance == line["distance"])
        assert line["datasets"] == mine.sum()
        assert line["truth"] == [truth[mine].min(), truth[mine].max()]
        assert line["error"] == [error[mine].min(), error[mine].max()]
        assert line["mean_error"] == pytest.approx(error[mine].mean(), rel=1e-12)


def test_design_says_that_the_budgets_of_a_file_are_not_used(tmp_path):
    """--epsilon replaces the budgets along the edges, and does not do so in silence."""
    done = tinct("design", COUNCIL, "-e", "1", "--json")
    assert json.loads(done.stdout)["file_budgets_used"] is False
    assert "are not used: leave out --epsilon" in done.stderr
    done = tinct("design", COUNCIL, "--json")
    assert (json.loads(done.stdout)["file_budgets_used"], done.stderr) == (True, "")
    assert "file_budgets_used" not in json.loads(tinct("design", "majority:5", "-e", "1", "--json").stdout)


def test_design_for_more_than_two_colors_points_to_rainbow(tmp_path):
    """Three plain colors need --maximize or orders of preference; the first then works."""
    graph = tmp_path / "three.csv"
    graph.write_text("source,target,source_color,target_color\na,b,x,y\nb,c,y,z\n", encoding="utf-8")
    error = tinct("design", graph, "-e", "1", status=2).stderr
    assert "--maximize truth" in error
    assert "rainbow" in error
    assert json.loads(tinct("design", graph, "-e", "1", "--maximize", "truth", "--json").stdout)["private"]


def test_python_words_become_options(tmp_path):
    """What the library calls disconnected=True, a command calls --disconnected."""
    graph = tmp_path / "pieces.csv"
    graph.write_text("source,target,source_color,target_color\na,b,x,y\nc,d,y,y\n", encoding="utf-8")
    error = tinct("design", graph, "-e", "1", status=2).stderr
    assert error.rstrip().endswith("confirm it with --disconnected")
    assert tinct("design", graph, "-e", "1", "--disconnected")


def survey(folder, text="reason,age\ncost,1\nnoise,2\nshops,3\n"):
    """A file of answers, and a randomiser whose reports have one member."""
    tinct(
        "local", "design", "--mechanism", "subset-selection", "--symbols", "cost,noise,climate,shops", "-e", "1",
        "-o", folder / "ss.json",
    )  # fmt: skip
    (folder / "answers.csv").write_text(text, encoding="utf-8")
    return folder / "answers.csv", folder / "ss.json"


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_what_privatize_writes_estimate_reads(tmp_path, suffix):
    """Also where each report is one number, and a file cannot tell that from a row of one."""
    answers, mechanism = survey(tmp_path)
    reports = tmp_path / f"reports{suffix}"
    done = tinct("local", "privatize", answers, "-c", "reason", "-m", mechanism, "-o", reports)
    assert done.stdout.startswith("3 reports written")
    assert json.loads(tinct("local", "estimate", reports, "-m", mechanism, "--json").stdout)["reports"] == 3


def test_one_is_singular(tmp_path):
    """One report is not one reports, and one pair not one pairs."""
    answers, mechanism = survey(tmp_path, "reason\ncost\n")
    reports = tmp_path / "reports.csv"
    done = tinct("local", "privatize", answers, "-c", "reason", "-m", mechanism, "-o", reports)
    assert done.stdout.startswith("1 report written")
    assert "from 1 report;" in tinct("local", "estimate", reports, "-m", mechanism).stdout
    assert "2 datasets, 1 pair of neighbours" in tinct("design", "line:1,1", "-e", "1").stdout
    shown = tinct("local", "design", "--p0", "1/3,2/3", "--p1", "1/3,2/3", "-e", "1").stdout
    assert shown.startswith("Optimal randomiser for 2 symbols, ε = 1, 1 output\n")


def test_answers_from_spreadsheets(tmp_path):
    """A byte order mark does not count; semicolons are named, and the cells are not."""
    answers, mechanism = survey(tmp_path, "\ufeffreason,age\ncost,1\nnoise,2\n")
    reports = tmp_path / "reports.csv"
    tinct("local", "privatize", answers, "-c", "reason", "-m", mechanism, "-o", reports)
    reports.write_text("\ufeff" + reports.read_text(encoding="utf-8"), encoding="utf-8")
    tinct("local", "estimate", reports, "-m", mechanism)
    error = tinct("local", "privatize", answers, "-c", "sex", "-m", mechanism, "-o", reports, status=2).stderr
    assert "there is no column 'sex'; the columns are reason, age\n" in error
    answers.write_text("reason;age\ncost;1\n", encoding="utf-8")
    error = tinct("local", "privatize", answers, "-c", "reason", "-m", mechanism, "-o", reports, status=2).stderr
    assert "separated by semicolons" in error
    reports.write_text("report_0;report_1\n1;2\n", encoding="utf-8")
    assert "separated by semicolons" in tinct("local", "estimate", reports, "-m", mechanism, status=2).stderr
    answers.write_text("a;b\ncost\n", encoding="utf-8")  # an odd name, but the one that was asked for
    tinct("local", "privatize", answers, "-c", "a;b", "-m", mechanism, "-o", reports)


def test_answers_that_are_no_symbols_point_to_missing(tmp_path):
    """In the words of the command."""
    answers, mechanism = survey(tmp_path, "reason\nnobody\n")
    line = ("local", "privatize", answers, "-c", "reason", "-m", mechanism, "-o", tmp_path / "reports.csv")
    assert "with --missing, or leave them out" in tinct(*line, status=2).stderr
    assert "--missing must be one of the 4 symbols" in tinct(*line, "--missing", "x", status=2).stderr


def test_no_input_is_written_over(tmp_path):
    """Neither by its own name nor by another, and no two results go to one file."""
    answers, mechanism = survey(tmp_path)
    graph, link = tmp_path / "g.csv", tmp_path / "link.csv"
    graph.write_bytes(COUNCIL.read_bytes())
    link.symlink_to(answers)
    before = answers.read_bytes(), mechanism.read_bytes(), graph.read_bytes()
    privatize = ("local", "privatize", answers, "-c", "reason", "-m", mechanism, "-o")
    for line in (
        (*privatize, answers),
        (*privatize, tmp_path / "." / "answers.csv"),
        (*privatize, link),
        ("design", graph, "-o", graph),
        ("design", "majority:5", "-e", "1", "--fix", graph, "-o", graph),
    ):
        assert "this file is read and would be overwritten" in tinct(*line, status=2).stderr
    target = tmp_path / "m.json"
    error = tinct("design", graph, "-o", target, "--certificate", target, status=2).stderr
    assert "two results would be written to this file" in error
    assert not target.exists()
    assert (answers.read_bytes(), mechanism.read_bytes(), graph.read_bytes()) == before


def test_wide_tables_of_randomisers_are_not_shown():
    """Up to eight columns fit; beyond, the help is a file."""
    line = ["local", "design", "-e", "1", "--mechanism", "geometric", "--symbols"]
    shown = tinct(*line, "1,2,3,4,5,6,7,8").stdout
    assert "too large" not in shown
    assert "too large to show: --output writes" in tinct(*line, "1,2,3,4,5,6,7,8,9").stdout


def test_a_wrong_certificate_is_a_check_that_failed(tmp_path):
    """Status 1 with the broken edge; 2 for what is no certificate, and a mechanism is told apart."""
    path, mechanism = tmp_path / "c.json", tmp_path / "m.json"
    tinct("design", "majority:5", "-e", "1", "--certificate", path, "-o", mechanism)
    fields = json.loads(path.read_text(encoding="utf-8"))
    fields["rows"][0] = [fields["denominator"], "0"]
    path.write_text(json.dumps(fields), encoding="utf-8")
    for line in (("verify", path, "--exact"), ("verify", path)):
        shown = tinct(*line, status=1).stdout
        assert shown.startswith("not private")
        assert "edge (1, 0)" in shown
    proof = json.loads(tinct("verify", path, "--exact", "--json", status=1).stdout)
    assert (proof["private"], proof["witness"]["edge"]) == (False, ["1", "0"])
    assert "contains its graph and budgets" in tinct("verify", path, "-e", "1", status=2).stderr
    path.write_text("{}", encoding="utf-8")
    tinct("verify", path, "--exact", status=2)
    for line in (("verify", mechanism, "--exact"), ("release", mechanism, "--at", "3")):
        assert "tinct design … --certificate" in tinct(*line, status=2).stderr


@pytest.mark.parametrize(("given", "status"), [("57\n", 0), ("57", 0), ("57\n\n", 0), ("57\n58\n", 2), ("", 2)])
def test_release_reads_one_dataset(tmp_path, given, status):
    """One line from standard input is the dataset; more are refused, without repeating them."""
    path = tmp_path / "c.json"
    assert CliRunner().invoke(app, ["design", "majority:101", "-e", "1", "--certificate", str(path)]).exit_code == 0
    line = [sys.executable, "-m", "tinct", "release", str(path), "--at", "-"]
    done = subprocess.run(line, input=given, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == status, done.stderr
    if status:
        assert "must be one line" in done.stderr
        assert "57" not in done.stderr
