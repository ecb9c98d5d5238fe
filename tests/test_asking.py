"""ask: the answers are drawn from the true optimum of each question, charged first, and nothing secret is said."""

from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import oracles
from tinct import (
    BudgetExceeded,
    FileError,
    Ledger,
    NotAnswered,
    ParameterError,
    Privacy,
    Protection,
    ask,
    balanced,
    exists,
    graphs,
    majority,
    median,
    mode,
    quantile,
    share,
    sources,
    threshold,
)
from tinct.asking import Accuracy, needed_epsilon, plan
from tinct.asking.designs import design
from tinct.asking.personal_budgets import PersonalBudgets
from tinct.cli.main import app
from tinct.exact import Certified, line
from tinct.ledger import State
from tinct.ledger.costs import cost_epsilon
from tinct.questions import Counts
from tinct.sources.duckdb_engine import Engine

YES_NO = [
    majority("c"),
    threshold("c == 'x'", at_least=3),
    share("c == 'x'", at_least="0.3"),
    share("c == 'x'", at_least="2/3"),
    median("c", above=2),
    quantile("c", "1/4", above=2),
    quantile("c", "0.9", above=2),
]


def frame(yes=40, no=10, **more):
    return pd.DataFrame({"support": ["yes"] * yes + ["no"] * no, **more})


# the family's mechanism is the optimum of the explicit graph


@pytest.mark.parametrize("budget", [("1", "0"), ("0.4", "0.03")])
@pytest.mark.parametrize("question", YES_NO, ids=str)
def test_add_remove_equals_the_optimum_of_the_explicit_graph(question, budget):
    """On all histograms of up to 12 people the explicit optimum is the line's, where 12 is no limit (up to 6 people).

    Both are computed apart: one by searching the graph, the other from a formula; floats agree to 1e-12.
    """
    privacy = Privacy(*budget)
    line = question.family("add-remove")
    graph = graphs.histograms(12, 2, lambda h: line.truth(Counts(sum(h), tuple(map(int, h)))), "add-remove")
    truth = dict(zip(graph.vertices, balanced(graph, privacy).truth(), strict=True))
    made = design(question, privacy, "add-remove", None)
    for vertex, expected in truth.items():
        if sum(vertex) <= 6:
            assert _truth_at(made, vertex, sum(vertex)) == pytest.approx(expected, abs=1e-12), vertex


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("question", YES_NO, ids=str)
def test_replace_equals_the_optimum_of_the_explicit_graph(question, n):
    """With n public people, each true, false or missing."""
    privacy = Privacy("0.7", "0.01")
    line = question.family("replace", n)
    counts = {h: Counts(n, (int(h[0]), int(h[1])), int(h[2])) for h in graphs.histograms(n, 3, lambda _: 0).vertices}
    made = design(question, privacy, "replace", n)
    if line.certain is not None:
        assert {made.draw(each) for each in counts.values()} == {"yes" if line.certain else "no"}
        return
    graph = graphs.histograms(n, 3, lambda h: line.truth(counts[tuple(map(int, h))]), "replace")
    for vertex, expected in zip(graph.vertices, balanced(graph, privacy).truth(), strict=True):
        assert _truth_at(made, vertex, n) == pytest.approx(expected, abs=1e-12), vertex


def _truth_at(made, vertex, n):
    counts = Counts(n, (int(vertex[0]), int(vertex[1])), n - int(vertex[0]) - int(vertex[1]))
    answer = "yes" if made.line.truth(counts) else "no"
    at = int(made.certified.positions([made.line.position(counts)])[0])
    return made.certified.numerators[at, made.certified.outputs.index(answer)] / made.certified.denominator


def test_exists_is_the_known_optimal_partition_selection():
    """The recurrence of Desfontaines, Voss, Gipson and Mandayam (2022), iterated here in exact rationals.

    The grid's R is below e by 2^−61, and each of its steps loses less than two units, so 1e-15 is generous.
    """
    epsilon, delta = Fraction("0.8"), Fraction("1e-4")
    made = design(exists("c == 'x'"), Privacy(epsilon, delta), "add-remove", None)
    growth, p = Fraction(math.exp(0.8)), Fraction(0)
    for count in range(60):
        units = made.certified.numerators[int(made.certified.positions([count])[0]), 0]
        assert units / made.certified.denominator == pytest.approx(float(p), abs=1e-14), count
        assert made.line.position(Counts(count, (count, 0))) + 1 == count
        p = min(growth * p + delta, 1 - (1 - p - delta) / growth, Fraction(1))
    assert p == 1


# what is said about accuracy


def test_with_no_delta_geometric_noise_only_ties():
    """docs/theory.md §9: said plainly, in the table and by name."""
    table = design(majority("c"), Privacy(1), "add-remove", None).accuracy()
    assert table.equals() == ["geometric"]
    assert all(ours >= other for ours, other in zip(table.right["tinct"], table.right["Laplace"], strict=True))


def test_delta_gains_what_the_theory_says():
    """ε = 1, δ = 0.01 at distance 3 (margin 4): error 0.0077 against 0.0134, and none at all from distance 4."""
    table = design(majority("c"), Privacy(1, "0.01"), "add-remove", None).accuracy([4, 5])
    assert 1 - table.right["tinct"][0] == pytest.approx(0.0077, abs=5e-5)
    assert 1 - table.right["geometric"][0] == pytest.approx(0.0134, abs=5e-5)
    assert table.right["tinct"][1] == 1
    assert table.equals() == []


def test_leaning_moves_the_boundary_and_stays_optimal():
    """The truth where yes is just true is as asked; no gets the most that leaves."""
    privacy = Privacy("ln 3", "0.01")
    table = design(majority("c"), privacy, "add-remove", None, lean="0.9").accuracy([1])
    assert table.right["tinct, if yes"][0] == pytest.approx(0.9, abs=1e-15)
    assert table.right["tinct, if no"][0] == pytest.approx(privacy.upper(0.1), abs=1e-15)


@pytest.mark.parametrize(
    ("question", "neighbors", "n"),
    [
        (majority("c"), "add-remove", None),
        (exists("c == 1"), "add-remove", None),
        (mode("c", list("abc")), "add-remove", None),
    ],
)
def test_the_needed_epsilon_is_enough_and_hardly_more(question, neighbors, n):
    """At the ε found the table promises the probability; 0.1 % less would not do."""
    delta = "1e-5" if "exists" in str(question) else 0
    found = needed_epsilon(question, 0.95, margin=8, delta=delta, neighbors=neighbors, n=n)
    for factor, enough in ((1, True), (0.999, False)):
        made = design(question, Privacy(repr(found * factor), delta), neighbors, n)
        right = next(iter(made.accuracy([8]).right.values()))[0]
        assert (right >= 0.95) == enough


def test_a_coin_needs_no_epsilon():
    """Being right half of the time is no wish, except where yes is never said without reason."""
    for right in ("0.5", "0.4"):
        with pytest.raises(ParameterError, match="must be above 1/2"):
            needed_epsilon("majority(support)", right, margin=3)
    assert needed_epsilon("exists(support == yes)", "0.4", margin=30, delta="0.01") > 0


# the answer and the ledger


def test_released_answers_follow_the_certified_row():
    """4,000 answers at one margin against their row: within 5 standard deviations, a false alarm in 1.7 million."""
    rows = frame(yes=11, no=10)
    made = design(majority("support"), Privacy("0.5"), "add-remove", None)
    counts = Counts(21, (11, 10))
    drawn = [made.draw(counts) for _ in range(4000)]
    p = _truth_at(made, (11, 10), 21)
    assert abs(drawn.count("yes") - 4000 * p) < 5 * math.sqrt(4000 * p * (1 - p))
    assert {ask(rows, majority("support"), "0.5").value for _ in range(40)} == {"yes", "no"}


def test_groups_are_drawn_like_single_answers_and_in_order():
    """Declared groups all get an answer, in the caller's order; rows of others are in no group."""
    data = frame(yes=600, no=0, ward=["N"] * 300 + ["S"] * 200 + ["X"] * 100)
    answer = ask(data, "majority(support)", 2, by="ward", groups=["S", "N", "E"])
    assert list(answer.value) == ["S", "N", "E"]
    assert (answer.value["S"], answer.value["N"]) == ("yes", "yes")
    assert "X" not in json.dumps(answer.to_dict())


def test_found_groups_are_large_and_cost_their_share():
    """Groups nobody declared appear only if they are large; ε is divided exactly."""
    wards = ["N"] * 300 + ["S"] * 299 + ["tiny"]
    answer = ask(frame(yes=600, no=0, ward=wards), "majority(support)", "1", "1e-6", by="ward", select="1/4")
    assert set(answer.value) <= {"N", "S"}  # "tiny" appears with probability 10^−6
    assert set(answer.value) == {"N", "S"}
    assert "ε = 0.25" in " ".join(answer.plan.rules)
    assert "ε = 0.75" in " ".join(answer.plan.rules)
    assert (answer.plan.epsilon, answer.plan.delta) == ("1", "1e-06")


def test_a_ledger_is_charged_once_and_remembers(tmp_path):
    """Charged before shown; the same request is free; another under the same name is refused; nothing is overspent."""
    book = Ledger(tmp_path / "budget.db", epsilon=1)
    first = ask(frame(), "majority(support)", "0.6", ledger=book, request="poll")
    again = ask(frame(yes=0, no=50), "majority(support)", "0.6", ledger=book, request="poll")
    assert (again.value, again.repeated, again.left) == (first.value, True, "ε = 0.4")
    with pytest.raises(ParameterError, match="already used for a different request"):
        ask(frame(), "majority(support)", "0.3", ledger=book, request="poll")
    with pytest.raises(BudgetExceeded, match=r"spent 0\.6, asked 0\.5, left 0\.4"):
        ask(frame(), "majority(support)", "0.5", ledger=book)
    assert ask(frame(), "majority(support)", "0.4", ledger=str(tmp_path / "budget.db")).left == "ε = 0"
    assert len(book.history()) == 2


def test_the_ledger_records_all_that_was_asked(tmp_path):
    """Data, condition, groups, persons and neighbours stand in the history, and another file is another request."""
    book = Ledger(tmp_path / "budget.db", epsilon=9, delta="0.1", protects=Protection(unit="name"))
    book.add_scope("fixed", 9, protects=Protection(neighbors="replace", people=50))
    (tmp_path / "elsewhere").mkdir()
    for name in ("one.csv", "other.csv", "elsewhere/one.csv"):
        frame(ward=["N"] * 30 + ["S"] * 20, name=[str(at) for at in range(50)]).to_csv(tmp_path / name, index=False)
    options = {"where": "support == yes", "by": "ward", "ledger": book, "request": "r"}
    ask(tmp_path / "one.csv", "majority(support)", 1, "0.01", **options)
    ask(tmp_path / "one.csv", "majority(support)", 1, ledger=book, scope="fixed")
    assert [entry.question for entry in book.history()] == [
        "majority(support) of one.csv, where support == yes, by ward, unit name",
        "majority(support) of one.csv, neighbors replace",
    ]
    for other in ("other.csv", "elsewhere/one.csv"):
        with pytest.raises(ParameterError, match="already used for a different request"):
            ask(tmp_path / other, "majority(support)", 1, "0.01", **options)


def test_what_is_published_speaks_of_people_where_people_are_meant():
    """With a column of persons, question and neighbours are about people, and a median says which value counts."""
    data = frame(name=[str(at) for at in range(50)], age=range(50))
    by_row, by_person = (
        plan(data, "majority(support)", epsilon=1),
        plan(data, "majority(support)", epsilon=1, unit="name"),
    )
    assert "rows" in by_row.meaning
    assert "one row" in by_row.neighbors
    assert "people" in by_person.meaning
    assert "one person" in by_person.neighbors
    rules = " ".join(plan(data, "median(age, above=3)", epsilon=1, unit="name").rules)
    assert "with the largest value" in rules
    assert "1,200" in rules


@pytest.mark.parametrize("others", [["S"], ["S", "N"], ["N", "S", "E"], [f"ward {at}" for at in range(30)]])
def test_other_groups_are_another_request(others, tmp_path):
    """Declared groups are part of the plan, so an answer for some is never shown as the answer for others."""
    book = Ledger(tmp_path / "budget.db", epsilon=9)
    data = frame(ward=["N"] * 25 + ["S"] * 25)
    many = [f"ward {at}" for at in range(29)] + ["last"]
    for groups in (["N", "S"], many):
        options = {"by": "ward", "ledger": book, "request": f"poll of {len(groups)}"}
        first = ask(data, "majority(support)", 1, groups=groups, **options)
        assert ask(data, "majority(support)", 1, groups=groups, **options).value == first.value
        with pytest.raises(ParameterError, match="already used for a different request"):
            ask(data, "majority(support)", 1, groups=others, **options)
    assert len(book.history()) == 2


def test_a_source_can_be_asked_again(tmp_path):
    """What the caller opened stays open, for a plan and for more than one question."""
    path = tmp_path / "survey.csv"
    frame().to_csv(path, index=False)
    with sources.open(path) as survey:
        assert plan(survey, "majority(support)", epsilon=1).epsilon == "1"
        assert {ask(survey, "majority(support)", 700).value for _ in range(2)} == {"yes"}


def test_a_plan_draws_and_charges_nothing(monkeypatch):
    """Even with entropy gone a plan can be made."""
    monkeypatch.setattr("tinct.exact.sampler.os.urandom", _broken)
    found = plan(frame(), "majority(support)", epsilon=1)
    assert found.accuracy.margins[0] == 1
    with pytest.raises(Exception, match="no entropy"):
        ask(frame(), "majority(support)", 1)


def _broken(size):
    raise OSError("no entropy here")


def test_a_certain_answer_costs_nothing(tmp_path):
    """More than everybody can never be reached: the answer is no secret."""
    book = Ledger(tmp_path / "budget.db", epsilon=1, protects=Protection(neighbors="replace", people=50))
    answer = ask(frame(), "threshold(support == 'yes', at_least=51)", 1, ledger=book)
    assert (answer.value, answer.plan.epsilon, str(book.spent())) == ("no", "0", "ε = 0")


# first the charge, then everything else


QUESTIONS = {
    "yes/no": ("majority(support)", {}),
    "mode": ("mode(support, categories=['yes', 'no'])", {}),
    "declared groups": ("majority(support)", {"by": "ward", "groups": ["N", "S"]}),
    "found groups": ("majority(support)", {"by": "ward", "delta": "1e-6"}),
    "persons": ("majority(support)", {"scope": "people"}),
    "replace": ("majority(support)", {"scope": "fixed"}),
    "own budgets": ("majority(support)", {"scope": "own", "epsilon": None}),
}


def charged_budget(tmp_path):
    book = Ledger(tmp_path / "budget.db", epsilon=100, delta="0.1")
    book.add_scope("people", 100, protects=Protection(unit="name"))
    book.add_scope("fixed", 100, protects=Protection(neighbors="replace", people=50))
    own = Protection(neighbors="replace", epsilon_column="budget", budgets={"1": 50})
    book.add_scope("own", 100, protects=own)
    wards = {"ward": ["N"] * 25 + ["S"] * 25, "name": [str(at) for at in range(50)], "budget": ["1"] * 50}
    return book, frame(**wards)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_no_row_is_read_before_the_charge_is_on_the_disk(tmp_path, monkeypatch, kind):
    """Whenever the engine is asked for rows, another connection finds the charge, and no answer yet."""
    book, data = charged_budget(tmp_path)
    question, options = QUESTIONS[kind]
    seen, read = [], Engine._results

    def watched(self, statement, fetch):
        seen.append([entry.state for entry in Ledger(tmp_path / "budget.db").history()])
        return read(self, statement, fetch)

    monkeypatch.setattr(Engine, "_results", watched)
    ask(data, question, **{"epsilon": 1, "ledger": book, **options})
    assert seen
    assert all(states == [State.CHARGED] for states in seen)


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("error", [OSError("disk"), MemoryError(), ValueError("cell 7"), RecursionError("deep")])
def test_what_fails_after_the_charge_says_one_sentence_and_is_completed_by_a_retry(tmp_path, monkeypatch, kind, error):
    """Whatever goes wrong while counting: charged, one constant sentence, no cause that tells more; then completed."""
    book, data = charged_budget(tmp_path)
    question, options = QUESTIONS[kind]
    options = {"epsilon": 1, "ledger": book, "request": "poll", **options}
    data = sources.open(data)

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "_results", fail)
        with pytest.raises(NotAnswered) as failure:
            ask(data, question, **options)
    assert str(failure.value) == (
        "the request is charged, but its answer could not be completed. Ask again with the request id 'poll' to "
        "complete it without a further charge"
    )
    assert (failure.value.__cause__, failure.value.__context__) == (None, None)
    spent = book.spent(options.get("scope", "default"))
    assert spent.epsilon == 1
    answer = ask(data, question, **options)
    assert (answer.repeated, answer.completed, book.spent(options.get("scope", "default"))) == (True, True, spent)
    again = ask(data, question, **options)
    assert (again.value, again.completed) == (answer.value, False)


def test_ctrl_c_after_the_charge_says_how_to_go_on(tmp_path, monkeypatch):
    """The interrupt itself comes out, with a note that names the request."""
    book, data = charged_budget(tmp_path)
    data = sources.open(data)

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "_results", stop)
        with pytest.raises(KeyboardInterrupt) as stopped:
            ask(data, "majority(support)", 1, ledger=book)
    (entry,) = book.history()
    assert entry.request in stopped.value.__notes__[0]
    assert ask(data, "majority(support)", 1, ledger=book, request=entry.request).value in ("yes", "no")


@pytest.mark.parametrize("name", ["N", "w" * 900, '"' * 300, "\\" * 300, "ä" * 300])
def test_no_answer_is_too_long_for_its_room(tmp_path, name, monkeypatch):
    """All yes and all no for groups with long names: both fit the room reserved, which is the same for both."""
    data = frame(ward=[name] * 50)
    rooms = set()
    for value in ("yes", "no"):
        monkeypatch.setattr(Certified, "sample", lambda _, at, value=value: np.array([value] * len(at), object))
        book = Ledger(tmp_path / f"{value}.db", epsilon=1)
        answer = ask(data, "majority(support)", 1, by="ward", groups=[name, "other"], ledger=book)
        assert answer.value == {name: value, "other": value}
        rooms |= {entry.room for entry in book.history()}
    assert len(rooms) == 1


@pytest.mark.parametrize("error", [FileError("the disk failed"), MemoryError(), sqlite3.OperationalError()])
def test_an_answer_that_is_stored_is_shown_even_if_what_is_left_cannot_be_read(tmp_path, monkeypatch, error):
    """The ledger fails between the answer and the sum: the answer is there, and what is left is unknown."""
    path, table = tmp_path / "b.db", tmp_path / "table.json"
    book = Ledger(path, epsilon=5)
    line(Privacy(1)).to_json(table)

    def fails(*_):
        raise error

    monkeypatch.setattr(Ledger, "remaining", fails)
    answer = ask(frame(), "majority(support)", 1, ledger=book, request="r")
    assert answer.value == book.find("r").answer
    assert answer.left == "unknown"
    done = CliRunner().invoke(app, ["release", str(table), "--at", "3", "--ledger", str(path), "--request", "s"])
    assert done.exit_code == 0, done.output
    assert "unknown" in done.output
    assert book.find("s").answered


def test_a_label_that_is_found_cannot_spoil_the_answer(tmp_path):
    """Too long, or with control characters: left out by rule; quotes and backslashes fit the room at their worst."""
    good = ["plain", '"' * 100, "\\" * 100, "ä" * 50, "\U0001f600" * 25]
    bad = ["x" * 101, "ä" * 51, "a\x1b[31mb", "a\nb", "\u202eevil", "\x9b31m"]
    data = pd.DataFrame({"support": ["yes"] * 600 * 11, "ward": [label for label in good + bad for _ in range(600)]})
    for most in (5, 3, 11):
        book = Ledger(tmp_path / f"{most}.db", epsilon=5, delta="0.1")
        answer = ask(data, "majority(support)", 5, "0.01", by="ward", most_groups=most, ledger=book)
        assert list(answer.value) == sorted(good)[:most]
        assert len({entry.room for entry in book.history()}) == 1


def test_the_room_for_found_groups_is_public(tmp_path):
    """It depends on the most that may be shown, not on what is there."""
    rooms = set()
    for number, wards in enumerate((["N"] * 50, [str(at) for at in range(50)], [None] * 50)):
        book = Ledger(tmp_path / f"{number}.db", epsilon=5, delta="0.1")
        ask(frame(ward=wards), "majority(support)", 5, "0.01", by="ward", ledger=book)
        rooms |= {entry.room for entry in book.history()}
    assert len(rooms) == 1


# what a request is


ASKED = {
    "question": ("majority(support)", "threshold(support == 'yes', at_least=3)"),
    "epsilon": (1, "0.5"),
    "delta": ("0.001", "0.002"),
    "where": ("age > 3", "age > 4"),
    "by": ("ward", "town"),
    "groups": (["N", "S"], ["S", "N"]),
    "lean": (None, "0.9"),
}


@pytest.mark.parametrize("changed", ASKED)
def test_another_question_is_another_request(tmp_path, changed):
    """Every asked thing changed, one at a time: the identity changes and the repetition is refused."""
    book = Ledger(tmp_path / "budget.db", epsilon=100, delta="0.1")
    data = frame(age=range(50), ward=["N"] * 50, town=["N"] * 50)
    first = {name: values[0] for name, values in ASKED.items()}
    answer = ask(data, **first, ledger=book, request="r")
    assert ask(data, **first, ledger=book, request="r").value == answer.value
    with pytest.raises(ParameterError, match="already used for a different request"):
        ask(data, **{**first, changed: ASKED[changed][1]}, ledger=book, request="r")


def test_no_word_is_part_of_a_request(tmp_path, monkeypatch):
    """Every sentence that describes the request rewritten, the accuracy too: the free retry is still free."""
    book = Ledger(tmp_path / "budget.db", epsilon=1)
    first = ask(frame(), "majority(support)", 1, ledger=book, request="r")
    monkeypatch.setattr("tinct.questions.persons.EACH_ROW", "something else")
    monkeypatch.setattr("tinct.asking._ask._MISSING", "something else")
    monkeypatch.setattr("tinct.questions.positions._OF_ROWS", {"add-remove": "else", "replace": "else"})
    monkeypatch.setattr("tinct.asking.designs.YesNoDesign.method", property(lambda _: "another method"))
    monkeypatch.setattr("tinct.asking.designs.YesNoDesign.accuracy", lambda *_: Accuracy("m", (1,), {"tinct": (0.5,)}))
    again = ask(frame(), "majority(support)", 1, ledger=book, request="r")
    assert again.plan != first.plan
    assert (again.value, again.repeated) == (first.value, True)
    spelled = ask(frame(), "majority( support )", "1.0", ledger=book, request="r")
    assert (spelled.value, spelled.repeated) == (first.value, True)


# personal budgets


def test_personal_budgets_are_certified_edge_by_edge():
    """Each class keeps to its own ε, proved; the truth is nowhere less than with the smallest ε for everybody."""
    data = frame(yes=20, no=10, budget=(["0.5"] * 12 + ["2"] * 18))
    answer = ask(data, "majority(support)", epsilon_column="budget", budgets=["2", "0.5"], neighbors="replace")
    table = answer.plan.accuracy.right
    everybody = table["ε = 0.5 for all"]
    assert all(least >= same - 1e-12 for least, same in zip(table["tinct, least"], everybody, strict=True))
    assert all(mean > same for mean, same in zip(table["tinct, mean"][1:], everybody[1:], strict=True))
    assert answer.plan.epsilon == "2"
    assert answer.value in ("yes", "no")


@pytest.mark.parametrize("lean", [None, "0.5", "0.9", "1/3"])
def test_a_design_for_personal_budgets_cannot_be_beaten(lean):
    """With a lean and without: a program that is less truthful nowhere is more truthful nowhere, as the plan says."""
    for sizes in ({"0.1": 3, "1": 4}, {"0.5": 2, "ln 3": 2, "2": 2}, {"0.3": 5}):
        personal = PersonalBudgets.of(majority("support"), "budget", sizes, None, 0, None, "replace")
        made = personal.design(None, None if lean is None else Fraction(lean))
        table, yes = made.certified.table(), made.certified.outputs.index("yes")
        codes = [0 if sum(vertex) >= made.need else 1 for vertex in made.certified.vertices]
        truth = [float(row[yes if code == 0 else 1 - yes]) for row, code in zip(table, codes, strict=True)]
        edges = list(made.certified.edges())
        terms = [math.log(made.certified.terms[at].growth) for *_, at in edges]
        ends = [(int(u), int(v)) for u, v, _ in edges]
        assert oracles.most_added(len(codes), ends, terms, [0.0] * len(ends), codes, truth) < 1e-8
        assert made.method.startswith("fair optimum" if lean is None else "fair optimum with a lean")


def test_a_lean_of_certainty_is_refused_in_the_same_words_everywhere(tmp_path):
    """0 and 1 would leave one of the answers certain or impossible; nothing is charged."""
    personal = {"epsilon_column": "budget", "budgets": {"1": 50}, "neighbors": "replace"}
    ledgers = [Ledger(tmp_path / "a.db", 1), Ledger(tmp_path / "b.db", 1, protects=Protection(**personal))]
    data = frame(budget=["1"] * 50)
    for lean in (0, 1, "1.0", -1, 2):
        for options in ({"epsilon": 1}, {"epsilon": 1, "neighbors": "replace", "people": 50}, personal):
            with pytest.raises(ParameterError, match="lean must be a probability above 0 and below 1"):
                ask(data, "majority(support)", lean=lean, **options)
        for ledger, options in zip(ledgers, ({"epsilon": 1}, {}), strict=True):
            with pytest.raises(ParameterError, match="lean must be a probability above 0 and below 1"):
                ask(data, "majority(support)", lean=lean, ledger=ledger, **options)
            assert ledger.history() == []
    with pytest.raises(ParameterError, match="further from 0 and 1 than half a unit"):
        ask(data, "majority(support)", 1, lean="1e-30")


def test_a_condition_does_not_change_whose_budget_counts(monkeypatch):
    """Ann, whose budget is 0.5, also has a row with 1 that the condition lets in: she counts as 0.5, and nothing fails.

    The draw gets the numbers of yes by class: Ann's row with 0.5 is left out, so hers is a no, and Ben says yes.
    """
    rows = [("Ann", "0.5", "S", "yes"), ("Ann", "1", "N", "yes"), ("Ben", "1", "N", "yes"), ("Cid", "0.5", "N", "no")]
    data = pd.DataFrame(rows, columns=["who", "budget", "ward", "support"])
    positions = []
    monkeypatch.setattr(Certified, "release", lambda _, vertex: positions.append(vertex) or "yes")
    options = {"epsilon_column": "budget", "budgets": ["0.5", "1"], "neighbors": "replace", "unit": "who", "delta": "0"}
    for where, expected in (("ward == 'N'", (0, 1)), (None, (1, 1)), ("ward == 'S'", (1, 0))):
        ask(data, "majority(support)", where=where, **options)
        assert positions.pop() == expected


@pytest.mark.parametrize("names", [["2", "10"], ["ln 2", "1"], ["0.5", "1e-1"], ["1.000000000000000000001", "1"]])
def test_somebody_with_two_budgets_has_the_smaller(names, monkeypatch):
    """Of several budgets of one person the smallest counts, by its value, not its text; the largest is charged."""
    small, large = sorted(names, key=cost_epsilon)
    data = pd.DataFrame({"who": [1, 1, 2], "budget": [large, small, large], "support": ["no", "yes", "no"]})
    positions = []
    monkeypatch.setattr(Certified, "release", lambda _, vertex: positions.append(vertex) or "yes")
    options = {"epsilon_column": "budget", "budgets": names, "neighbors": "replace", "unit": "who"}
    answer = ask(data, "majority(support)", **options)
    assert positions == [(1, 0)]
    assert cost_epsilon(answer.plan.epsilon) == cost_epsilon(large)


def test_personal_budgets_refuse_what_is_too_large():
    """Three classes of hundreds of people each are more datasets than can be certified."""
    data = frame(yes=300, no=300, budget=["1"] * 200 + ["2"] * 200 + ["3"] * 200)
    with pytest.raises(ParameterError, match="more than the 100,000 that can be certified"):
        ask(data, "majority(support)", epsilon_column="budget", budgets=["1", "2", "3"], neighbors="replace")


# bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "epsilon must be given"),
        ({"epsilon": math.nan}, "epsilon must be"),
        ({"epsilon": -1}, "epsilon must be"),
        ({"epsilon": "many"}, "epsilon must be"),
        ({"epsilon": 1, "delta": 1}, "delta must be"),
        ({"epsilon": 1, "delta": math.inf}, "delta must be"),
        ({"epsilon": 1, "neighbors": "swap"}, "neighbors must be"),
        ({"epsilon": 1, "lean": 1}, "lean must be"),
        ({"epsilon": 1, "lean": "nan"}, "lean must be"),
        ({"epsilon": 1, "by": "ward"}, "delta above 0"),
        ({"epsilon": 1, "by": "ward", "neighbors": "replace"}, "add-remove"),
        ({"epsilon": 1, "by": "ward", "groups": []}, "groups must be"),
        ({"epsilon": 1, "by": "ward", "groups": ["a", "a"]}, "groups must be"),
        ({"epsilon": 1, "by": "ward", "groups": ["a"] * 100_001}, "between 1 and 100,000"),
        ({"epsilon": 1, "by": "ward", "groups": 7}, "groups must be"),
        ({"epsilon": 1, "by": "ward", "groups": [["a"]]}, "groups must be named by their text"),
        ({"epsilon": 1, "by": "ward", "groups": [1]}, "groups must be named by their text"),
        ({"epsilon": 1, "groups": ["a"]}, "groups needs by"),
        ({"epsilon": 1, "most_groups": 3}, "most_groups needs by"),
        ({"epsilon": 1, "by": "ward", "groups": ["a"], "most_groups": 3}, "is for groups that are found"),
        ({"epsilon": 1, "delta": 0.1, "by": "ward", "most_groups": 0}, "most_groups must be"),
        ({"epsilon": 1, "delta": 0.1, "by": "ward", "most_groups": True}, "most_groups must be"),
        ({"epsilon": 1, "people": 3}, "is secret"),
        ({"epsilon": 1, "neighbors": "replace", "people": -1}, "declare it as people"),
        ({"epsilon": 1, "delta": 0.1, "by": "ward", "select": 2}, "select must be"),
        ({"epsilon": 1, "request": "x"}, "needs a ledger"),
        ({"epsilon": 1, "epsilon_column": "ward", "budgets": ["1"]}, "replace"),
        ({"epsilon_column": "ward", "budgets": ["1"], "neighbors": "replace", "delta": "0.1"}, "leave those out"),
        ({"epsilon_column": "ward", "budgets": [], "neighbors": "replace"}, "budgets must be 1 to 16"),
        ({"budgets": ["1"], "epsilon": 1}, "epsilon_column"),
        ({"epsilon": 1, "unit": "persn"}, "no column persn"),
        ({"epsilon": 1, "where": "ward =="}, "expected"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_drawn(options, message, monkeypatch):
    """Each says what is wrong; no dice are touched."""
    monkeypatch.setattr("tinct.exact.sampler.os.urandom", _broken)
    with pytest.raises(ParameterError, match=message):
        ask(frame(ward=["N"] * 50), "majority(support)", **options)


def test_questions_that_do_not_fit_are_refused():
    """Mode has no use for delta, exists needs it, and a question must be one."""
    with pytest.raises(ParameterError, match="makes no use of delta"):
        ask(frame(), mode("support", ["yes", "no"]), 1, "0.1")
    with pytest.raises(ParameterError, match="exists needs delta above 0"):
        ask(frame(), exists("support == 'yes'"), 1)
    with pytest.raises(ParameterError, match="question must be"):
        ask(frame(), 7, 1)


# nothing secret is said


def test_no_output_depends_on_the_data_but_the_answer():
    """Two datasets of which one is reversed: apart from the answer, every public word is the same."""
    texts = [ask(frame(yes=y, no=50 - y), "majority(support)", 1).to_dict() for y in (13, 37)]
    for text in texts:
        text.pop("answer")
    assert texts[0] == texts[1]


def test_the_command_says_nothing_secret(tmp_path):
    """Counts, margins and cells that stand for people appear nowhere in what the command prints."""
    path = tmp_path / "survey.csv"
    people = [f"canary{at},{'yes' if at < 7919 else 'no'}" for at in range(9001)]
    path.write_text("\n".join(["name,support", *people]) + "\n")
    run = _command("ask", str(path), "majority(support)", "--epsilon", "0.5", "--unit", "name")
    assert run.returncode == 0, run.stderr
    said = run.stdout + run.stderr
    for secret in ("canary", "9001", "9,001", "7919", "7,919", "1082", "1,082", "6837", "6,837"):
        assert secret not in said
    refused = _command("ask", str(path), "median(name, above=3)", "--epsilon", "0.5", "--by", "names")
    assert refused.returncode == 2
    assert "canary" not in refused.stdout + refused.stderr


def test_the_command_says_what_is_recorded_and_what_is_left(tmp_path):
    """Without a ledger it says that nothing was charged, and a plan says what is left in the budget."""
    path, book = tmp_path / "survey.csv", str(tmp_path / "budget.db")
    frame().to_csv(path, index=False)
    asked = ["ask", str(path), "majority(support)", "-e", "0.5"]
    assert "Cost: ε = 0.5, not charged to any ledger:" in _command(*asked).stdout
    _command("budget", "init", book, "--epsilon", "1")
    assert "Left in the budget of default: ε = 1" in _command(*asked, "--plan", "--ledger", book).stdout
    assert _command(*asked, "--plan", "--ledger", book, "--scope", "typo").returncode == 2
    paid = _command(*asked, "--ledger", book, "--request", "poll").stdout
    assert "Cost: ε = 0.5, charged as request poll. Left in the budget: ε = 0.5." in paid
    assert (
        "Cost: nothing, request poll was answered before."
        in _command(*asked, "--ledger", book, "--request", "poll").stdout
    )
    assert "poll" in _command("budget", "history", book).stdout


def test_the_command_prints_little_unless_asked(tmp_path):
    """Question, answer, one sentence on accuracy, the cost, and warnings; the rest with --details."""
    path = tmp_path / "survey.csv"
    frame(yes=400, no=20).to_csv(path, index=False)
    asked = ["ask", str(path), "majority(support)", "-e", "2"]
    little, much = _command(*asked).stdout, _command(*asked, "--details").stdout
    words = " ".join(little.split())
    assert words.startswith(
        "Do more rows say yes than no in support? (a tie is a no) yes If 5 or more people would have"
    )
    assert "right with probability 99.9 % or more; if only one, 88 %. Cost: ε = 2, not charged" in words
    assert "Note: each row counts as one person" in words
    assert len(little.splitlines()) <= 10
    hidden = ("Method:", "Neighbours:", "Certificate", "randomized response")
    assert [part in little for part in hidden] == [False] * 4
    assert [part in much for part in hidden] == [True] * 4


def test_what_is_printed_depends_on_the_answer_and_on_nothing_else_of_the_rows(tmp_path):
    """Two data sets far apart, with an ε at which both are answered yes: not a character differs."""
    path, printed = tmp_path / "survey.csv", set()
    for yes in (300, 9000):
        frame(yes=yes, no=20).to_csv(path, index=False)
        printed.add(_command("ask", str(path), "majority(support)", "-e", "5", "--details").stdout)
    assert len(printed) == 1


def test_a_plan_says_that_the_budget_has_too_little_left(tmp_path):
    """In the terms of the budget: one against replacing people is charged twice."""
    data, book = frame(), Ledger(tmp_path / "b.db", 1, protects=Protection(neighbors="replace", people=30))
    options = {"neighbors": "add-remove", "ledger": book}
    assert plan(data, "majority(support)", epsilon="0.5", **options).refused == ""
    over = plan(data, "majority(support)", epsilon="0.6", **options)
    assert "not enough privacy is left. ε: spent 0, asked 1.2, left 1 of 1" in over.refused
    assert "two steps are charged" in over.warnings[-1]
    assert book.history() == []
    path = tmp_path / "survey.csv"
    data.to_csv(path, index=False)
    shown = _command("ask", str(path), "majority(support)", "-e", "2", "--plan", "--ledger", str(tmp_path / "b.db"))
    assert "This request would be refused" in shown.stdout


def test_a_declared_column_that_the_data_lack_is_said_to_be_declared(tmp_path):
    """The asker named no column, so the message says where the name comes from."""
    book = Ledger(tmp_path / "b.db", 1, protects=Protection(unit="id"))
    with pytest.raises(ParameterError, match="the ledger declares that the column 'id' identifies people"):
        ask(frame(), "majority(support)", epsilon=1, ledger=book)
    assert book.history() == []


def test_the_command_in_full(tmp_path):
    """ask, plan, ledger, certificate: the flow of the README."""
    path = tmp_path / "survey.csv"
    frame(yes=400, no=20, ward=["N"] * 210 + ["S"] * 210).to_csv(path, index=False)
    book, proof = str(tmp_path / "budget.db"), str(tmp_path / "proof.json")
    assert _command("budget", "init", book, "--epsilon", "1").returncode == 0
    asked = ["ask", str(path), "majority(support)", "-e", "0.6", "--ledger", book, "--request", "poll"]
    first, again = _command(*asked, "--json", "--certificate", proof), _command(*asked, "--json")
    one, other = json.loads(first.stdout), json.loads(again.stdout)
    assert (one["answer"], one["left"]["text"], other["repeated"]) == ("yes", "ε = 0.4", True)
    assert one["answer"] == other["answer"]
    checked = _command("verify", proof, "--exact", "--json")
    assert json.loads(checked.stdout)["certificate"] == one["certificate"]
    over = _command("ask", str(path), "majority(support)", "-e", "0.6", "--ledger", book)
    assert (over.returncode, "left 0.4" in over.stderr) == (2, True)
    planned = _command("ask", str(path), "majority(support)", "--plan", "--right", "0.99", "--margin", "50")
    assert "nothing was drawn" in planned.stdout
    groups = _command("ask", str(path), "majority(support)", "-e", "2", "--by", "ward", "--groups", "N,S", "--json")
    assert json.loads(groups.stdout)["answer"] == {"N": "yes", "S": "yes"}


def _command(*arguments):
    command = [sys.executable, "-m", "tinct", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_ten_billion_people_cost_what_ten_do():
    """The table is the line's, whatever the counts."""
    made = design(share("c == 1", at_least="0.3"), Privacy(1), "replace", 10**10)
    assert made.draw(Counts(10**10, (4 * 10**9, 6 * 10**9))) == "yes"
    assert np.ptp([len(design(majority("c"), Privacy(1), "replace", n).certified.vertices) for n in (10, 10**10)]) == 0


def test_a_certain_answer_is_free_with_personal_budgets_too():
    """Nine of five can never say yes."""
    data = frame(yes=5, no=0, budget=["1"] * 5)
    options = {"epsilon_column": "budget", "budgets": ["1"], "neighbors": "replace"}
    declared = {**options, "budgets": {"1": 5}}
    assert plan(data, "threshold(support == 'yes', at_least=9)", **declared).epsilon == "0"
    assert ask(data, "threshold(support == 'yes', at_least=9)", **options).value == "no"
    strangers = {**options, "budgets": ["2"]}
    assert ask(data, "threshold(support == 'yes', at_least=0)", **strangers).value == "yes"
    assert ask(data, "majority(support)", **strangers).value == "no"


@pytest.mark.parametrize("where", [None, "ward == 'N'"])
@pytest.mark.parametrize("rest", [None, "other"])
def test_mode_counts_whoever_is_looked_at(where, rest):
    """With n public, rows that ``where`` leaves out or that are in no category never make an answer fail."""
    cells = ["a"] * 6 + ["b"] * 2 + ["other"] + [None]
    data = pd.DataFrame({"reason": cells, "ward": ["N"] * 7 + ["S"] * 3})
    question = mode("reason", ["a", "b", "other"], rest=rest)
    answers = {ask(data, question, 5, neighbors="replace", where=where).value for _ in range(5)}
    assert answers <= {"a", "b", "other"}


def test_the_walkthrough_runs():
    """The notebook-style example, as its reader would run it."""
    script = Path(__file__).parent.parent / "examples" / "walkthrough.py"
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    assert "asked again, free: True" in run.stdout
    assert "exact inequalities hold" in run.stdout
