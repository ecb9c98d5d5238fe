"""Neighbouring data sets in small: nobody may tell which is which, but by the answer and no more than was declared.

``python -m evidence neighbours`` compares 10,000 pairs. Here are some hundreds from a fixed seed and some from a fresh
one, the laws of the comparison itself, and mends that are taken out to see that it is noticed.
"""

from __future__ import annotations

import json
import os
import secrets
from fractions import Fraction

import pandas as pd
import pytest
from evidence import neighbours, report
from evidence.mutants.neighbours import MUTANTS
from evidence.pairs import cases, closeness, comparing, looking, values
from evidence.pairs.running import noticed, workplace
from evidence.pairs.watching import Watch, remembered, watched
from evidence.pairs.worker import work

from tinct import ParameterError, Privacy, ask, exact
from tinct.numbers.bounds import growth_below
from tinct.spark._session import java_version

FULL = "TINCT_EVIDENCE" in os.environ
PAIRS = 50
FRESH = 40
SPARK_PAIRS = 4
HANDFUL = MUTANTS if FULL else MUTANTS[:6:2]


# the pairs


@pytest.mark.parametrize("family", neighbours.FAMILIES)
def test_neighbours_cannot_be_told_apart(family):
    """Pairs of each kind of source, always the same ones."""
    with workplace() as folder:
        found = work(neighbours.SEED, 0, PAIRS, folder, neighbours.FAMILIES[family], most=1)
    assert not found["violations"], json.dumps(found["violations"], indent=1)


def test_fresh_neighbours_cannot_be_told_apart():
    """Pairs that nobody has seen before; a failure prints the seed they come from."""
    seed = secrets.token_hex(8)
    with workplace() as folder:
        found = work(seed, 0, FRESH, folder, most=1)
    assert not found["violations"], json.dumps(found["violations"], indent=1)


@pytest.mark.xdist_group("spark")  # one process for all that start a Spark
def test_neighbours_on_spark_cannot_be_told_apart():
    """The first of the two hundred pairs of the evidence; a Spark that was started for them is stopped."""
    pyspark = pytest.importorskip("pyspark.sql")
    if (java_version() or 0) < 17:
        pytest.skip("Java 17 is not installed")
    running = pyspark.SparkSession.getActiveSession()
    try:
        with workplace() as folder:
            found = work(neighbours.SEED, 0, SPARK_PAIRS, folder, (cases.SPARK,), most=1)
    finally:
        started = pyspark.SparkSession.getActiveSession()
        if running is None and started is not None:
            started.stop()
    assert not found["violations"], json.dumps(found["violations"], indent=1)
    assert found["counts"]["outcome"][comparing.FINE] >= SPARK_PAIRS / 2


def test_line_ends_in_a_cell_end_no_row():
    """A cell that would be several yes if it were taken apart, written by every writer of CSV with every option."""
    for end in ("\r", "\n", "\r\n", "\u2028", "\u0085"):
        _require_alike("csv", ("text", "text"), end.join(["yes"] * 4), range(16))


@pytest.mark.parametrize(
    "kind", ["date32", "date64", "timestamp[s]", "timestamp[ms]", "timestamp[us]", "timestamp[ns]"]
)
def test_no_moment_is_out_of_range(kind):
    """The ends of what a type can hold, in the column that is asked about."""
    for far in (2**31 - 1, -(2**31)) if kind == "date32" else (2**63 - 1, -(2**63) + 1, 2**62):
        _require_alike("arrow", (kind, "int64"), far, range(1))


@pytest.mark.parametrize("source", ["csv", "parquet", "pandas"])
def test_declared_classes_are_not_counted_again(source):
    """Somebody chose another ε than the owner knows: plans and answers keep to the numbers that were declared."""
    columns = (cases.Column("v", "words", "string"), cases.Column("e", "budgets", "string"))
    rows = [cases.Row({"v": "yes", "e": budget}) for budget in ("0.5", "1", "1", "0.5", "1")]
    classes = {"0.5": 2, "1": 2}
    case = cases.Case(
        "by hand", 0, "majority", "majority(v)", source, 0, columns, tuple(rows[:3]), (rows[3],), (rows[4],), (1,),
        cases.REPLACE, {"neighbors": cases.REPLACE, "epsilon_column": "e", "budgets": classes}, 4, classes,
        ("0.5", "1"), "ledger",
    )  # fmt: skip
    _require_no_difference(case)


def _require_alike(source, kinds, cell, styles):
    """One row more, with this cell in the first column, for several ways of keeping the rows."""
    columns = tuple(cases.Column(name, "texts", kind) for name, kind in zip("vx", kinds, strict=True))
    plain = {"text": ("yes", "no"), "date32": (18262, 18263)}.get(kinds[0], (0, 1))
    others = tuple(cases.Row({"v": value, "x": None}) for value in plain)
    asked = "yes" if kinds[0] == "text" else "'1970-01-01 00:00:00'"
    for style in styles:
        case = cases.Case(
            "by hand", style, "threshold", f"threshold(v == {asked}, at_least=2)", source, style, columns, others,
            (cases.Row({"v": cell, "x": None}),), (), (1,), cases.ADD_REMOVE, view="plan",
            options={"neighbors": cases.ADD_REMOVE, "epsilon": "1"},
        )  # fmt: skip
        _require_no_difference(case)


def _require_no_difference(case):
    with workplace() as folder, remembered():
        outcome, violation = comparing.compare(case, folder)
    assert outcome == comparing.FINE
    assert violation is None, comparing.described(violation)


# the mends


@pytest.mark.parametrize("mutant", HANDFUL, ids=lambda mutant: mutant.name)
def test_a_mend_that_is_taken_out_is_noticed(mutant):
    """Within a few hundred pairs some law is broken; without the edit none is, as the tests above say."""
    sources = neighbours.family_of(mutant.tests[0])
    assert noticed(mutant, sources, neighbours.SEED, neighbours.CONTROL_PAIRS) is not None


def test_every_mend_names_a_family():
    for mutant in MUTANTS:
        assert neighbours.family_of(mutant.tests[0]) in neighbours.FAMILIES.values()


# the cases


def test_a_case_comes_again_from_its_seed():
    for index in range(50):
        assert repr(cases.make("a", index)) == repr(cases.make("a", index)) != repr(cases.make("b", index))


def test_every_kind_of_case_occurs():
    """Every question, source, relation, unit, kind of groups, condition, lean, budget and view is there."""
    seen: dict[str, set[str]] = {}
    for index in range(1500):
        for trait, value in cases.make("a", index).traits().items():
            seen.setdefault(trait, set()).add(value)
    assert seen["question"] == set(cases.QUESTIONS)
    assert seen["source"] == set(cases.SOURCES)
    assert seen["groups"] == {"none", "declared", "found"}
    assert len(seen["view"]) == 9
    assert all(
        len(found) == 2 for trait, found in seen.items() if trait not in ("question", "source", "groups", "view")
    )


def test_half_of_the_cases_force_the_same_answer():
    """Then every byte is compared; in the other half all but the answer is."""
    same = sum(len(set(cases.make("a", index).answers)) == 1 for index in range(400))
    assert 150 < same < 250


def test_neighbours_differ_in_one_person():
    """All other rows are the same and in the same order; with replace there is somebody on both sides."""
    for index in range(300):
        case = cases.make("a", index)
        own = {id(row) for row in (*case.ours, *case.theirs)}
        one, other = ([row for row in case.rows(side) if id(row) not in own] for side in (0, 1))
        assert one == other == list(case.shared)
        assert (bool(case.ours) and bool(case.theirs)) == (case.relation == cases.REPLACE)
        assert len(case.rows(0)) == len(case.shared) + len(case.ours)


def test_stray_bytes_are_written_as_they_are():
    assert values.encoded("é\udcff\ud800") == b"\xc3\xa9\xff\xed\xa0\x80"
    assert values.decodable("a\udcff") == "a?"


# exact distributions


def test_closeness_is_exact():
    """Randomized response at e^ε = 3 needs no δ for 3, and just the difference for less."""
    one, other = {"y": Fraction(3, 4), "n": Fraction(1, 4)}, {"y": Fraction(1, 4), "n": Fraction(3, 4)}
    assert closeness.excess(one, other, Fraction(3)) == 0
    assert closeness.excess(one, other, Fraction(2)) == Fraction(1, 4)
    assert closeness.excess({"y": Fraction(1)}, {"n": Fraction(1)}, Fraction(3)) == 1
    assert closeness.excess(one, one, Fraction(1)) == 0


def test_watched_draws_have_the_chances_of_their_row():
    """What is recorded for a majority of two is the row of the certified table, and the answer is the one forced."""
    table = exact.line(Privacy("ln 3"))
    row = table.rows[int(table.positions([1])[0])]
    answers = []
    for turn in (0, 1):
        with watched(Watch(turn)) as watch:
            answers.append(ask(pd.DataFrame({"v": ["yes", "yes"]}), "majority(v)", epsilon="ln 3").value)
        assert watch.answered == {None: tuple(Fraction(units, table.denominator) for units in row)}
    assert sorted(answers) == ["no", "yes"]


def test_found_groups_are_shown_or_hidden():
    """The outcomes of a group that is found are the answers and not being shown, and their chances sum to 1."""
    frame = pd.DataFrame({"v": ["yes"] * 3, "g": ["N", "N", "S"]})
    with watched(Watch(hidden=frozenset({"S"}))) as watch:
        shown = ask(frame, "majority(v)", epsilon=2, delta="0.1", by="g").value
    assert list(shown) == ["N"]
    assert sum(closeness.outcomes(watch, "N").values()) == 1
    assert closeness.outcomes(watch, "nobody") == closeness.outcomes(Watch(), "S")


@pytest.mark.parametrize(
    ("relation", "asked", "expected"),
    [
        ("replace", "replace", (3, "1/10")),
        ("replace", "add-remove", (9, "4/10")),
        ("add-remove", "add-remove", (3, "1/10")),
    ],
)
def test_bounds_are_those_the_owner_declared(relation, asked, expected):
    """A replaced person under a question for adding and removing has 2ε and δ(1 + e^ε)."""
    case = _case(relation=relation, options={"neighbors": asked, "epsilon": "ln 3", "delta": "0.1"})
    assert closeness.bound(case) == (Fraction(expected[0]), Fraction(expected[1]))


def test_everybody_has_their_own_bound():
    half, one = (growth_below(Privacy(epsilon).exact_epsilon, 256) for epsilon in ("0.5", "1"))
    for own, factor in ((("0.5", "0.5"), half), (("0.5", None), half), ((None, None), 1), (("0.5", "1"), half * one)):
        assert closeness.bound(_case(own=own)) == (factor, 0)


def _case(**given):
    fields = {"relation": "replace", "options": {}} | given
    return cases.Case("a", 0, "majority", "majority(v)", "csv", 0, (), (), (), (), (), **fields)


# what is seen


def test_masks_hide_the_answer_and_nothing_else():
    one = {
        "value": "yes",
        "code": 0,
        "printed": '{"answer": "yes", "left": 1}',
        "ledger": {"tinct_answers": [[1, "a", "yes"]]},
    }
    assert looking.masked(one) == {
        "code": 0, "printed": {"answer": None, "left": 1}, "ledger": {"tinct_answers": [[1, 1, 3]]},
    }  # fmt: skip


def test_a_fault_is_never_a_refusal(monkeypatch):
    """Where the library stumbles in the same way over both, the pair has not been compared."""
    for error, law in ((TypeError("two arguments"), comparing.FAULTS), (ParameterError("no such column"), None)):
        monkeypatch.setattr(looking, "ask", _raising(error))
        with workplace() as folder:
            outcome, violation = comparing.compare(cases.make("a", 0), folder)
        assert (None if violation is None else violation.law) == law
        assert outcome == (comparing.REFUSED if law is None else comparing.FINE)


def _raising(error):
    def ask(*_given, **_options):
        raise error

    return ask


def test_a_difference_is_shown_where_it_is():
    assert comparing.difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "/a/1/b: 2 | 3"
    assert comparing.difference({"a": 1}, {}) == "/a: 1 | None"


def test_the_report_has_a_place_for_it():
    found = {
        "pairs": 10, "faults": 0, "controls": {"x": 3, "y": None}, "counts": {"source": {"csv": 10}}, "seed": "s",
        "seconds": 1, "violations": [],
    }  # fmt: skip
    assert report._numbers("neighbours", found)[1] == "0 pairs told apart; 1 of 2 noticed"
    assert "| y | **not noticed** |" in report._neighbours(found)
