"""What is printed with an answer is what was asked, and answers look like what they are."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from tinct import Description, FileError, Ledger, ParameterError, TinctError, ask
from tinct.asking import plan
from tinct.cli.main import app
from tinct.cli.printing import measured
from tinct.sources.description import ColumnDescription

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


def test_a_number_that_could_be_thousands_is_refused_where_the_data_writes_them_so(tmp_path):
    """3.000 is three to a question and three thousand to whoever wrote the file; elsewhere it is three."""
    path = tmp_path / "umfrage.csv"
    path.write_text("einkommen;jahr\n" + "3.500,50;2020\n" * 300)
    written = {"epsilon": 5, "decimal": ",", "thousands": "."}
    for where in (None, "einkommen > 1.500"):
        with pytest.raises(
            ParameterError, match=r"could be (3000 or 3\.0|1500 or 1\.5): questions have a decimal point"
        ):
            ask(path, "median(einkommen, above=3.000)" if where is None else "exists(jahr > 1)", where=where, **written)
    assert ask(path, "median(einkommen, above=3000)", **written).value == "yes"
    assert ask(path, "median(einkommen, above=3.0)", **written).value == "yes"
    plain = pd.DataFrame({"rate": [3.5] * 300})
    assert ask(plain, "median(rate, above=3.125)", 5).value == "yes"


def test_a_table_of_counts_is_noticed_by_its_names(tmp_path):
    """By the check of the owner: each row of such a table would count as one person."""
    path = tmp_path / "admissions.csv"
    path.write_text("Admit,Gender,Freq\nAdmitted,Male,512\nRejected,Male,313\n")
    asked = ("check", path, "share(Admit == 'Admitted', at_least=50%)", "--json")
    (warning,) = json.loads(run(*asked)[0])["warnings"]
    assert (warning["code"], warning["column"]) == ("counted-already", "Freq")
    assert json.loads(run(*asked, "--unit", "Gender")[0])["warnings"] == []


def test_a_plan_says_where_the_owner_can_see_how_cells_are_read(data):
    """As long as no description says what the columns mean; it is public that there is none."""
    said = [rule.code for rule in plan(data, "exists(year > 1)", epsilon=1, delta="1e-6").rules]
    assert said[-2:] == ["not-described", "no-ledger"]
    described = Description({"year": ColumnDescription("number")})
    said = plan(data, "exists(year > 1)", epsilon=1, delta="1e-6", description=described).rules
    assert "not-described" not in [rule.code for rule in said]


def test_a_file_with_tabs_says_how_to_read_it(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("vote\tage\nyes\t20\n")
    with pytest.raises(FileError, match=r"with delimiter='\\t'"):
        ask(path, "majority(vote)", 1)
    assert ask(path, "majority(vote)", 9, delimiter="\t").value in ("yes", "no")


def test_a_draft_says_how_it_is_confirmed(data):
    run("describe", data, "--no-input")
    with pytest.raises(TinctError, match="confirms it with confirmed = true in it"):
        ask(data, "exists(year > 1)", 1, "1e-6")
    assert "up to 1 rows" not in run("describe", data.rename(data.with_suffix(".tsv")), "--person", "id")[0]
