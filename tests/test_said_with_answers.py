"""What is printed with an answer is what was asked, and answers look like what they are."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from tinct import Ledger, ask
from tinct.asking import plan
from tinct.cli.main import app
from tinct.cli.printing import measured

QUESTION = "mode(plz, categories=[1010, 1020.5])"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "homes.csv"
    pd.DataFrame({"plz": [1010] * 300, "year": [1987] * 300, "ward": ["N"] * 300, "id": range(300)}).to_csv(
        path, index=False
    )
    return path


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.stdout, done


@pytest.mark.parametrize("more", [{}, {"neighbors": "replace", "people": 300}])
def test_an_answer_that_is_a_whole_number_is_one(data, tmp_path, more):
    """In Python, on the screen, in JSON, for groups and from the ledger; other numbers stay as they are."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=1000)
    asked = {"epsilon": 1, "request": "once", "ledger": ledger}
    values = [
        ask(data, QUESTION, 1, **more).value,
        ask(data, QUESTION, 1, by="ward", groups=["N"]).value["N"],
        ask(data, QUESTION, **asked).value,
        ask(data, QUESTION, **asked).value,
    ]
    assert all(value == 1010 and isinstance(value, int) for value in values)
    said, _ = run("ask", data, QUESTION, "-e", 1)
    assert "  1010\n" in said
    said, _ = run("ask", data, QUESTION, "-e", 1, "--json")
    assert '"answer": 1010,' in said


def test_the_certificate_of_a_mode_is_what_it_was(data):
    """Only the answer is written another way: the categories of the certificate are those of the question."""
    assert plan(data, QUESTION, epsilon=1).certified.categories == (1010.0, 1020.5)


def test_the_printed_question_says_which_rows_and_how_people_are_counted(data):
    """A predicate is in the sentence and in the first line of a plan; the rule for people stands beside the answer."""
    asked = ("ask", data, "majority(plz == 1010)", "-e", 1, "--where", "year == 1987", "--unit", "id")
    said, _ = run(*asked)
    assert "counting only rows with year == 1987" in " ".join(said.split())
    assert "Note: a person with several rows counts once, as a yes if any of the rows is" in " ".join(said.split())
    said, _ = run(*asked, "--plan")
    assert "counting only rows with year == 1987: nothing was drawn" in " ".join(said.split())
    said, _ = run(*asked, "--json")
    assert json.loads(said)["where"] == "year == 1987"


def test_tinct_plot_says_which_command_draws_an_answer(data, tmp_path):
    """Both an answer and a plan are recognised by what they are, and the command it names draws them."""
    for more in ((), ("--plan",)):
        said, _ = run("ask", data, QUESTION, "-e", 1, "--json", *more)
        (tmp_path / "said.json").write_text(said)
        _, refused = run("plot", tmp_path / "said.json", "-o", tmp_path / "figure.svg")
        assert "tinct plot accuracy" in str(refused.exception)
        _, drawn = run("plot", "accuracy", tmp_path / "said.json", "-o", tmp_path / "figure.svg")
        assert drawn.exit_code == 0


def test_a_bar_without_a_known_share_does_not_stand_at_zero(monkeypatch):
    """Work that reports nothing shows that it runs; once it reports, the share is shown."""
    from rich import progress

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    bars = []
    real = progress.Progress.add_task
    monkeypatch.setattr(progress.Progress, "add_task", lambda bar, *a, **k: bars.append(bar) or real(bar, *a, **k))
    with measured("Counting") as report:
        (task,) = bars[0].tasks
        assert task.total is None
        report(0.25)
        assert task.percentage == 25


def test_a_mistyped_budget_is_lowered_by_a_command(tmp_path):
    """The command is tinct budget lower, for a budget that is not used yet."""
    place = tmp_path / "budget.db"
    run("budget", "init", place, "-e", 10)
    said, _ = run("budget", "lower", place, "-e", 1)
    assert "left 1 of 1" in said
