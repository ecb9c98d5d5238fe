"""What is wrong with a request for public reasons is said before the charge: afterwards it could never be completed."""

from __future__ import annotations

import os
import random

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tinct import Ledger, NotAnswered, ParameterError, TinctError, ask, sources, spark
from tinct.asking import plan
from tinct.ledger import Protection
from tinct.questions import majority, median, mode, parse, threshold
from tinct.questions.predicates import And, Comparison, Membership, Not, Or

REQUESTS = 2000 if os.environ.get("TINCT_EVIDENCE") == "1" else 120
PLAIN = pd.DataFrame({
    "support": ["yes", "no", "yes"], "number": [1.5, 2.5, 3.5], "ward": ["N", "S", "N"], "whole": [1, 2, 3],
    "day": pd.to_datetime(["2026-01-01"] * 3), "person": ["a", "b", "c"], "own": ["0.5", "1", "1"],
})  # fmt: skip
TABLE = pa.Table.from_pandas(PLAIN).append_column("lists", pa.array([[1], [2], [3]]))


def deep(levels):
    found = Comparison("number", ">", 1)
    for level in range(levels):
        found = Not(found) if level % 2 else And((found, Comparison("whole", "==", 1)))
    return found


BAD_GROUPS = {
    "a comma at the end": (["N", "S", ""], "must not be blank"),
    "a blank": ([" "], "must not be blank"),
    "a blank at the end": (["N "], "begin or end with a blank"),
    "a blank of another kind in front": (["\u2003N"], "begin or end with a blank"),
    "an escape sequence": (["N\x1b[31m"], "control characters"),
    "a NUL": (["N\0S"], "control characters"),
    "half a character": (["\ud800"], "control characters"),
    "much text": (["N" * 1001], "at most 1,000 characters"),
    "numbers": ([1, 2], "by their text"),
    "numbers among texts": (["N", 1], "by their text"),
    "truth values": ([True], "by their text"),
    "nothing": ([], "between 1 and 100,000"),
    "None": ([None], "by their text"),
    "bytes": ([b"N"], "by their text"),
    "lists": ([["N"]], "by their text"),
    "a text": ("NS", "a list such as"),
    "a set": ({"N", "S"}, "a list such as"),
    "a mapping": ({"N": 1}, "a list such as"),
    "one twice": (["N", "S", "N"], "'N' twice"),
    "very many": ([f"g{at}" for at in range(100_001)], "between 1 and 100,000"),
}
BAD = {
    "no such column": ({"question": "majority(suport)"}, "did you mean support"),
    "a column that cannot be read so": ({"question": "median(support, above=1)"}, "compared with a number"),
    "a column of lists": ({"question": "majority(lists)"}, "holds neither"),
    "a condition on no column": ({"where": "nowhere == 1"}, "no column nowhere"),
    "a condition of another type": ({"where": "number == 'a'"}, "compared with a text"),
    "a condition nested too deep": ({"where": deep(201)}, "nested 200 deep"),
    "a question nested too deep": ({"question": threshold(deep(201), at_least=1)}, "nested 200 deep"),
    "no such groups": ({"by": "nowhere", "groups": ["N"]}, "no column nowhere"),
    "groups of lists": ({"by": "lists", "groups": ["N"]}, "holds neither"),
    "a column of groups with a NUL": ({"by": "war\0d", "groups": ["N"]}, "control characters"),
    "a column of groups that is half a character": ({"by": "\udc80", "groups": ["N"]}, "control characters"),
    "no such people": ({"unit": "nobody"}, "the owner"),
    "an answer too large to be kept": (
        {"by": "ward", "question": mode("ward", ["x" * 900, "N"]), "delta": "1e-6", "most_groups": 10**6}, "room"
    ),
    "a request that is half a character": ({"request": "\ud800"}, "request must be"),
    "a request without a name": ({"request": ""}, "request must be"),
    "somebody who is half a character": ({"who": "\ud800"}, "who must be"),
    **{f"groups: {name}": ({"by": "ward", "groups": groups}, words) for name, (groups, words) in BAD_GROUPS.items()},
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_public_mistakes_are_refused_before_the_charge(name, tmp_path):
    """Nothing is charged; and a plan refuses what has nothing to do with the ledger, too."""
    ledger = Ledger(tmp_path / "b.db", 10, "0.1")
    changes, words = BAD[name]
    options = {"question": "majority(support)", "epsilon": 1, **changes}
    with pytest.raises(ParameterError, match=words):
        ask(TABLE, ledger=ledger, **options)
    assert ledger.history() == []
    if words not in ("room", "request must be", "who must be"):
        with pytest.raises(ParameterError, match=words):
            plan(TABLE, ledger=ledger, **options)


@pytest.mark.parametrize("name", BAD_GROUPS)
def test_names_of_groups_are_checked_before_a_row_is_counted(name):
    """By the check as by the count, with the same words."""
    groups, words = BAD_GROUPS[name]
    with sources.open(PLAIN) as source:
        for work in (source.check, source.count_by, source.group_batches):
            with pytest.raises(ParameterError, match=words):
                work(majority("support"), by="ward", groups=groups)


@pytest.mark.parametrize("name", BAD_GROUPS)
def test_spark_too_refuses_names_of_groups_before_the_charge(name, tmp_path):
    """Even before it is known what the rows are."""
    groups, words = BAD_GROUPS[name]
    ledger = Ledger(tmp_path / "b.db", 10)
    with pytest.raises(ParameterError, match=words):
        spark.ask_groups(None, "majority(support)", 1, by="ward", groups=groups, path="answers", ledger=ledger)
    assert ledger.history() == []


@pytest.mark.parametrize("column", ["lists", "nowhere"])
def test_a_column_of_personal_budgets_is_checked_before_the_charge(column, tmp_path):
    """As any other column; and a condition with it."""
    whom = Protection(neighbors="replace", epsilon_column=column, budgets={"0.5": 1, "1": 2})
    ledger = Ledger(tmp_path / "b.db", 10, protects=whom)
    with pytest.raises(ParameterError, match=column):
        ask(TABLE, "majority(support)", ledger=ledger)
    with pytest.raises(ParameterError, match="nested"):
        ask(PLAIN.rename(columns={"own": column}), "majority(support)", where=deep(200), ledger=ledger)
    assert ledger.history() == []


# at random

OPEN = {
    "pandas": lambda _: PLAIN,
    "polars": lambda _: pl.from_pandas(PLAIN),
    "arrow": lambda _: pa.Table.from_pandas(PLAIN),
    "duckdb": lambda _: duckdb.connect().from_arrow(pa.Table.from_pandas(PLAIN)),
    "csv": lambda folder: _saved(folder / "rows.csv", lambda path: PLAIN.to_csv(path, index=False)),
    "jsonl": lambda folder: _saved(folder / "rows.jsonl", pl.from_pandas(PLAIN).write_ndjson),
    "parquet": lambda folder: _saved(folder / "rows.parquet", PLAIN.to_parquet),
}
ODD = ["nowhere", "", " ward", "\x1b", "\ud800", "é", "`", '"', "'", "/", "~", "x" * 1001]
NAMES = [*PLAIN.columns] * 3 + ODD
ODD_TEXTS = ["", " ", "N ", "'", "''", '"', "\\", "%", "\0", "\ud800", "é", "x" * 999]
TEXTS = ["N", "S", "1", "1.5", "yes", "2026-01-01"] * 4 + ODD_TEXTS
NUMBERS = [0, 1, -1, 1.5, 1e308, 5e-324, 2**70, True, False, "1", None]


def _saved(path, save):
    save(path)
    return path


def _predicate(rng, depth=2):
    kind = rng.choice(["compare", "among", "and", "or", "not"] if depth else ["compare", "among"])
    values = rng.choice([TEXTS, NUMBERS, [True, False]])
    if kind == "compare":
        return Comparison(rng.choice(NAMES), rng.choice(["==", "!=", "<", ">="]), rng.choice(values))
    if kind == "among":
        return Membership(rng.choice(NAMES), tuple(rng.choices(values, k=rng.randint(1, 2))))
    if kind == "not":
        return Not(_predicate(rng, depth - 1))
    parts = tuple(_predicate(rng, depth - 1) for _ in range(rng.randint(1, 3)))
    return (And if kind == "and" else Or)(parts)


def _question(rng):
    column = rng.choice(NAMES)
    return rng.choice([
        lambda: majority(column),
        lambda: threshold(_predicate(rng), at_least=rng.choice([1, 2, 10**18])),
        lambda: median(column, above=rng.choice(NUMBERS)),
        lambda: mode(column, rng.choices(rng.choice([TEXTS, NUMBERS]), k=2)),
        lambda: parse(f"share({column} == 1, at_least=1/{rng.choice([2, 3, 10**30])})"),
    ])()  # fmt: skip


def _asked(rng):
    """A question and options, right and wrong; None if the question itself cannot be put."""
    try:
        options = {"question": _question(rng)}
        if rng.random() < 0.4:
            options["where"] = _predicate(rng)
    except ParameterError:
        return None
    if rng.random() < 0.3:
        options["unit"] = rng.choice(NAMES)
    if rng.random() < 0.5:
        options["by"] = rng.choice(NAMES)
        options["groups"] = rng.choices(TEXTS, k=rng.randint(1, 3)) if rng.random() < 0.9 else rng.choices(NUMBERS, k=2)
    return options


@pytest.mark.parametrize("kind", OPEN)
def test_a_request_is_answered_or_free(kind, tmp_path):
    """Questions, conditions, people and groups at random: whatever cannot be answered is refused before the charge."""
    rng = random.Random(f"requests about {kind}")
    data, fates = OPEN[kind](tmp_path), {"answered": 0, "refused": 0}
    ledger = Ledger(tmp_path / "b.db", 10**6)
    for _ in range(REQUESTS):
        if (options := _asked(rng)) is None:
            continue
        whom = Protection(unit=options["unit"]) if options.get("unit") in PLAIN.columns else None
        scope = "default" if whom is None else whom.unit
        if whom is not None and scope not in ledger.scopes():
            ledger.add_scope(scope, 10**6, protects=whom)
        before = ledger.spent(scope)
        try:
            ask(data, epsilon=1, ledger=ledger, scope=scope, **options)
            fates["answered"] += 1
        except NotAnswered:
            pytest.fail(f"charged and never answered: {options}")
        except TinctError:
            assert ledger.spent(scope) == before, options
            fates["refused"] += 1
    assert min(fates.values()) > REQUESTS / 20, fates
