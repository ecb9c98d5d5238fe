"""One rule for persons with several rows: plain Python and DuckDB agree (Spark in test_spark.py), and words say it."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tinct import exists, majority, median, mode, quantile, share, sources, threshold
from tinct.questions.persons import Keep, PersonRow, PersonRule, as_one, sentence
from tinct.sources.counting_sql import CountingPlan, Statement

GROUPS = ("S", "N", "nobody", "E")  # not in the order of the text
QUESTIONS = (majority("yes"), mode("kind", ["b", "a"]))


def random_rows(seed, count=60):
    """Rows of few people, many of them without a name, a group or an answer."""
    dice = random.Random(seed)
    choices = {
        "person": ["p1", "p2", "p3", "p4", "p5", "p6", None],
        "let": [True, True, False, None],
        "ward": ["N", "S", "E", "W", None],
        "yes": [True, False, None],
        "kind": ["a", "b", "c", None],
    }
    return [{name: dice.choice(values) for name, values in choices.items()} for _ in range(count)]


def table(rows):
    """The rows as an Arrow table."""
    types = {"person": pa.string(), "let": pa.bool_(), "ward": pa.string(), "yes": pa.bool_(), "kind": pa.string()}
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})


def naive(rows, question, *, by=None, where=None, groups=None, listed=False):
    """How many persons, and for each group how many in each class and in none, by the rule in plain Python."""
    places = {True: 0, False: 1} if question == QUESTIONS[0] else {"b": 0, "a": 1}
    people = {}
    for row in rows:
        inside = where is None or row["let"] is True
        label = None if by is None or (groups is not None and row[by] not in groups) else row[by]
        place = places.get(row[question.column])
        if row["person"] is not None:
            people.setdefault(row["person"], []).append(PersonRow(inside, label, place))
    kept = [as_one(found, groups if listed else None) for found in people.values()]
    counts = {}
    for one in kept:
        if one.inside and (by is None or one.label is not None):
            counts.setdefault(one.label, [0, 0, 0])[2 if one.place is None else one.place] += 1
    return len(kept), counts


def require_the_rule(source, rows):
    """A source counts persons as the rule says, with and without scope and groups."""
    for question in QUESTIONS:
        for where in (None, "let"):
            counts = source.count(question, where=where, unit="person")
            people, found = naive(rows, question, where=where)
            assert (counts.rows, [*counts.classes, counts.missing]) == (people, found.get(None, [0, 0, 0]))
            for groups, listed in ((None, False), (GROUPS, False), (GROUPS, True)):
                by = source.count_by(question, "ward", where=where, unit="person", groups=groups, listed=listed)
                people, found = naive(rows, question, by="ward", where=where, groups=groups, listed=listed)
                assert by.rows == people
                assert by.labels == (tuple(sorted(found)) if groups is None else groups)
                for label, classes, missing in zip(by.labels, by.classes.tolist(), by.missing.tolist(), strict=True):
                    assert [*classes, missing] == found.get(label, [0, 0, 0])


@pytest.mark.parametrize("seed", range(12))
def test_duckdb_counts_persons_as_the_rule_says(seed):
    """Random rows, also none at all."""
    rows = random_rows(seed, 0 if seed == 0 else 5 * seed)
    with sources.open(table(rows)) as source:
        require_the_rule(source, rows)


def test_the_rule_looks_at_no_order_and_nobody_else():
    """Any order of a person's rows makes the same person, and rows that are not let in change nothing inside."""
    dice = random.Random(3)
    for _ in range(200):
        rows = [
            PersonRow(dice.random() < 0.7, dice.choice(["N", "S", None]), dice.choice([0, 1, None])) for _ in range(5)
        ]
        one = as_one(rows)
        assert as_one(dice.sample(rows, 5)) == one
        assert as_one([row for row in rows if row.inside] or rows) == one
        assert as_one([*rows, PersonRow(False, "A", 0)]) == one


def test_the_sentence_says_what_is_kept():
    """Every kind of question has its words; without a column of persons each row is one."""
    yes = "as a yes if any of the rows is"
    for question in (majority("a"), threshold("a", 1), share("a", 0.5), exists("a")):
        assert yes in sentence(question, "id")
    for question in (median("a", above=1), quantile("a", 0.9, above=1)):
        assert "with the largest value" in sentence(question, "id")
    assert "the category listed first" in sentence(mode("a", ["x", "y"]), "id")
    assert "rows with an empty 'id' are ignored" in sentence(majority("a"), "id")
    assert "each row counts as one person" in sentence(majority("a"), None)
    assert "unit" not in sentence(majority("a"), None, declared=True)  # those who ask cannot change it


def test_a_rule_that_a_rendering_does_not_know_is_an_error(monkeypatch):
    """Whoever changes the rule has to say what it means everywhere: nothing goes on with the old one in silence."""
    other = PersonRule(inside=Keep.ANY, label=Keep.FIRST, place=object())
    for module in ("tinct.questions.persons", "tinct.sources.counting_sql"):
        monkeypatch.setattr(f"{module}.RULE", other)
    with pytest.raises(KeyError):
        sentence(majority("a"), "id")
    plan = CountingPlan(QUESTIONS[0].counted, unit="person")
    with sources.open(table(random_rows(1))) as source, pytest.raises(KeyError):
        Statement(plan, source._schema).text("rows")
