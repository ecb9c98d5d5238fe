"""The command as its users meet it: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
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
        (["design", "majority:5"], "no privacy is given"),
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
        (["design", "majority:5", "-e", "1", "--at", "2", "--maximize", "truth"], "--maximize does not go together"),
        (["design", "votes:3,3", "-e", "1", "--truth", "0.8,0.5"], "--truth does not go together with orders"),
        (["design", "majority:5", "-e", "1", "--engine", "flint"], "--engine must be local or spark"),
        (["design", "majority:5", "-e", "1", "--master", "yarn"], "--master needs --engine spark"),
        (["ask", "x.csv", "majority(x)", "-e", "1", "-o", "folder"], "--output is for --engine spark"),
        (["verify", "missing.json"], "no such file"),
        (["verify", "table.csv"], "a table needs its graph"),
        (["verify", "m.json", "--profile", "a,b"], "--profile must be numbers"),
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
    """Every command's help ends with examples that can be pasted."""
    found = list(commands(typer.main.get_command(app)))
    assert ("local", "privatize") in found
    for words in found:
        shown = CliRunner().invoke(app, [*words, "--help"]).stdout
        assert f"tinct {' '.join(words)}" in shown.split("Examples")[1], words


def test_an_interrupted_command_ends_with_status_130(monkeypatch):
    """Ctrl-C is neither a check that failed nor bad input, and says that no file is half written."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tinct.graphs.specs.from_spec", interrupted)
    done = CliRunner().invoke(app, ["design", "majority:5", "-e", "1"])
    assert done.exit_code == 130
    assert "written whole or not at all" in done.stderr


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
    said = tinct("ask", data, "mode(x, categories=['yes', 'no'])", *asked, tmp_path / "c.json", status=2).stderr
    assert "yes/no questions" in said
    assert (
        "there is no folder" in tinct("ask", data, "majority(x)", *asked, tmp_path / "no" / "c.json", status=2).stderr
    )
    assert json.loads(tinct("budget", "history", book, "--json").stdout)["entries"] == []


def test_an_answer_is_shown_before_its_certificate_is_written(tmp_path):
    """Groups that are found take a part of ε, so their table is not one that is written: the answers stand."""
    data = tmp_path / "rows.csv"
    data.write_text("x,g\n" + "yes,a\n" * 500)
    asked = ("ask", data, "majority(x)", "--by", "g", "-e", "9", "-d", "1e-6", "--json")
    done = tinct(*asked, "--certificate", tmp_path / "c.json", status=2)
    assert json.loads(done.stdout)["answer"] == {"a": "yes"}
    assert "no file was written" in done.stderr
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
    assert [row["other"] is not None for row in rows] == [True, True, False, False, False]
    assert "×" in CliRunner().invoke(app, ["bench", "--side", "12"]).output
    assert CliRunner().invoke(app, ["bench", "--side", "1"]).exit_code == 2
