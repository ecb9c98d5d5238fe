"""Sources: every format counts alike, values never decide whether there is an answer, and nothing of them leaks."""

from __future__ import annotations

import csv
import gc
import io
import itertools
import json
import math
import os
import random
import re
import sys
import threading
import traceback
from contextlib import nullcontext, suppress
from itertools import product

import numpy as np
import pytest

from file_makers import packed, sqlite_table, workbook
from tinct import FileError, Ledger, ParameterError, TinctError, asking, sources
from tinct.questions import exists, majority, median, mode, parse, parse_predicate, share, threshold
from tinct.questions.counts import EVERYBODY
from tinct.questions.predicates import And, Comparison, Membership, Not
from tinct.sources import duckdb_engine, text_lines
from tinct.sources.cell_rules import NO_WORDS, YES_WORDS, read_number
from tinct.sources.columns import LABEL, Column, Schema, kind_of_type
from tinct.sources.sql_dialects import BLANKS

# ruff: noqa: S608 # statements that attack, and statements that compare
duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")

FUZZ = 25  # random files for each test
THREAD_FUZZ = 6000 if os.environ.get("TINCT_EVIDENCE") == "1" else 300  # the same, for several threads
COLUMNS = ("person_id", "ward", "age", "cost", "support", "odd name's")
CANARY = "c4n4ry"


# the slow twin: cells of text read by Python


def _text(cell):
    return (cell or "").strip(" ") or None


def _number(cell):
    if not re.fullmatch(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", cell or "", re.ASCII):
        return None
    return float(cell) if math.isfinite(float(cell)) else None


def _yes_no(cell):
    word = (cell or "").strip(" ").lower()
    return True if word in YES_WORDS else False if word in NO_WORDS else None


def _read(cell, value):
    return _yes_no(cell) if isinstance(value, bool) else _text(cell) if isinstance(value, str) else _number(cell)


def _holds(predicate, row):
    """Kleene's logic: None is unknown."""
    if isinstance(predicate, Comparison):
        cell = _read(row[predicate.column], predicate.value)
        operators = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
        return None if cell is None else getattr(cell, operators[predicate.operator])(predicate.value)
    if isinstance(predicate, Membership):
        cell = _read(row[predicate.column], predicate.values[0])
        return None if cell is None else cell in predicate.values
    if isinstance(predicate, Not):
        inner = _holds(predicate.part, row)
        return None if inner is None else not inner
    parts = [_holds(part, row) for part in predicate.parts]
    decisive = not isinstance(predicate, And)
    return decisive if decisive in parts else None if None in parts else not decisive


def _class(question, row):
    counted = question.counted
    if hasattr(counted, "predicate"):
        return {True: 0, False: 1, None: None}[_holds(counted.predicate, row)]
    cell = _read(row[counted.column], counted.values[0])
    return counted.values.index(cell) if cell in counted.values else None


def _twin(question, rows, where=None, unit=None, by=None, groups=None):
    """{group: (classes, missing)} and the number of rows or persons, row by row."""
    seen = []
    for row in rows:
        inside = where is None or _holds(parse_predicate(where), row) is True
        label = "all" if by is None else _text(row[by])
        if not inside or (groups is not None and label not in groups):
            label = None
        seen.append((_text(row[unit]) if unit else len(seen), label, _class(question, row)))
    persons = {}
    for person, label, place in seen:
        if person is not None:
            persons.setdefault(person, []).append((label is None, label or "", place is None, place or 0))
    kept = [min(found) for found in persons.values()]
    found = {}
    for outside, label, absent, place in kept:
        if not outside:
            entry = found.setdefault(label, [[0] * question.counted.size, 0])
            if absent:
                entry[1] += 1
            else:
                entry[0][place] += 1
    return len(kept), {label: (tuple(classes), missing) for label, (classes, missing) in sorted(found.items())}


# data in every format


def _rows(seed=1, count=300):
    rng = random.Random(seed)
    pick = rng.choice
    return [
        {
            "person_id": pick(["", *map(str, range(120))]),
            "ward": pick(["N", "S", " E ", "Ü", "", "n", "O'Neil", 'say "hi"', "a,b", "x;y"]),
            "age": pick([str(rng.randrange(100)), "", "abc", "nan", "-inf", "1e400", " 41 ", "41.0", "4 1", "0x1F"]),
            "cost": pick([f"{rng.uniform(0, 2000):.2f}", "1200", "1200.0", "", "-1e3", "Infinity"]),
            "support": pick(["yes", "no", "YES", " No ", "t", "F", "1", "0", "1.0", "true", "False", "maybe", "", "2"]),
            "odd name's": pick(["a", "b", ""]),
        }
        for _ in range(count)
    ]


def _write_delimited(path, rows, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, COLUMNS, delimiter=delimiter, lineterminator=random.Random(0).choice(["\n", "\r\n"])
        )
        writer.writeheader()
        writer.writerows(rows)
    return path


def _write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def _typed(rows):
    """The same values with types: numbers that are not finite stay in, as values that must count as missing."""
    odd = {"nan": math.nan, "-inf": -math.inf, "1e400": math.inf, "Infinity": math.inf}
    floats = {
        name: [odd.get(row[name], _number(row[name])) for row in rows]  # None where it is blank or not a number
        for name in ("age", "cost")
    }
    support = pa.array([_yes_no(row["support"]) for row in rows], pa.bool_())
    return pa.table(
        {
            "person_id": pa.array([int(row["person_id"]) if row["person_id"] else None for row in rows], pa.int32()),
            "ward": pa.array([row["ward"] for row in rows], pa.string()),
            "age": pa.array(floats["age"], pa.float64()),
            "cost": pa.array(floats["cost"], pa.float64()),
            "support": support,
            "odd name's": pa.array([row["odd name's"] for row in rows]).dictionary_encode(),
        }
    )


def _parquet(path, table):
    pq.write_table(table, path)
    return path


def _json_array(path, rows):
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def _cells(rows):
    return [[row[name] or None for name in COLUMNS] for row in rows]


def _duckdb(path, table):
    with duckdb.connect(path) as connection:
        connection.register("rows", table)
        connection.execute("CREATE TABLE people AS FROM rows")
    return path


def _parts(folder, rows):
    folder.mkdir()
    for at in range(4):
        _write_delimited(folder / f"part-{at}.csv", rows[at::4])
    return folder


class _Streamed:
    """Of a library that nobody here knows."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


FORMATS = {
    "csv": lambda folder, rows: _write_delimited(folder / "data.csv", rows),
    "semicolons": lambda folder, rows: _write_delimited(folder / "semi.csv", rows, ";"),
    "tsv": lambda folder, rows: _write_delimited(folder / "data.TSV", rows, "\t"),
    "jsonl": lambda folder, rows: _write_jsonl(folder / "data.jsonl", rows),
    "ndjson": lambda folder, rows: str(_write_jsonl(folder / "data.ndjson", rows)),
    "parquet": lambda folder, rows: _parquet(folder / "data.parquet", _typed(rows)),
    "arrow": lambda _, rows: _typed(rows),
    "batch": lambda _, rows: _typed(rows).combine_chunks().to_batches()[0],
    "pandas objects": lambda _, rows: pd.DataFrame(rows, dtype=object),
    "pandas": lambda _, rows: _typed(rows).to_pandas(),
    "polars": lambda _, rows: pl.from_arrow(_typed(rows)),
    "polars lazy": lambda _, rows: pl.from_arrow(_typed(rows)).lazy(),
    "relation": lambda _, rows: duckdb.connect().from_arrow(_typed(rows)),
    "csv.gz": lambda folder, rows: packed(
        folder / "data.csv.gz", _write_delimited(folder / "data.csv", rows).read_bytes()
    ),
    "jsonl.zst": lambda folder, rows: packed(
        folder / "data.jsonl.zst", _write_jsonl(folder / "data.jsonl", rows).read_bytes()
    ),
    "json": lambda folder, rows: _json_array(folder / "data.json", rows),
    "xlsx": lambda folder, rows: workbook(folder / "data.xlsx", {"people": [COLUMNS, *_cells(rows)]}, shared=True),
    "sqlite": lambda folder, rows: sqlite_table(folder / "data.db", COLUMNS, _cells(rows)),
    "duckdb": lambda folder, rows: _duckdb(folder / "data.duckdb", _typed(rows)),
    "folder": lambda folder, rows: _parts(folder / "parts", rows),
    "pattern": lambda folder, rows: _parts(folder / "parts", rows) / "part-*.csv",
    "stream": lambda _, rows: _Streamed(_typed(rows)),
    "standard input": lambda folder, rows: sources.StandardInput(
        "tsv", io.BytesIO(_write_delimited(folder / "data.tsv", rows, "\t").read_bytes())
    ),
}
QUESTIONS = [
    majority("support"),
    median("cost", above=1000),
    share("support and age > 40", at_least=0.3),
    threshold("age >= 41 and not (ward == 'N') or ward in ['S', 'O''Neil']", at_least=10),
    exists("ward != 'N' and `odd name's` == 'a'"),
    exists("not (ward < 'O' and support == no) and age not in [41, 7]"),
    mode("ward", ["N", "S", "E", "a,b", 'say "hi"']),
    mode("support", [False, True]),
    mode("age", [41, 7, 8]),
]
SELECTIONS = list(product([None, "age < 60 or ward == 'S'"], [None, "person_id"]))


@pytest.fixture(scope="module")
def rows():
    return _rows()


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
def test_every_format_counts_like_the_slow_twin(make, rows, tmp_path):
    """Every question, with and without where, unit and by: the same counts from every kind of source."""
    with sources.open(make(tmp_path, rows)) as source:
        assert source.columns == (() if "json" in source.name else COLUMNS)
        for question, (where, unit) in product(QUESTIONS, SELECTIONS):
            total, groups = _twin(question, rows, where, unit)
            counts = source.count(question, where=where, unit=unit)
            assert (counts.rows, (counts.classes, counts.missing)) == (total, groups["all"]), (
                str(question),
                where,
                unit,
            )
            assert counts == source.count(question.counted, where=where and parse_predicate(where), unit=unit)
        for question, (where, unit) in product(QUESTIONS[:4], SELECTIONS):
            for declared in (None, ["S", "nobody", "N"]):
                total, groups = _twin(question, rows, where, unit, "ward", declared)
                found = source.count_by(question, "ward", where=where, unit=unit, groups=declared)
                assert found.rows == total
                assert found.labels == (tuple(groups) if declared is None else tuple(declared))
                for label in found.labels:
                    counts = found.of(label)
                    nothing = ((0,) * question.counted.size, 0)
                    assert (counts.classes, counts.missing) == groups.get(label, nothing), (str(question), label)


@pytest.mark.parametrize("make", [FORMATS["csv"], FORMATS["parquet"]], ids=["csv", "parquet"])
def test_counts_do_not_depend_on_the_order_of_the_rows(make, rows, tmp_path):
    """Which row of a person is kept is decided by what the rows say, not by where they stand."""
    mixed = random.Random(3).sample(rows, len(rows))
    for question in QUESTIONS:
        results = []
        for given in (rows, mixed):
            with sources.open(make(tmp_path, given)) as source:
                by = source.count_by(question, "ward", unit="person_id")
                results.append((source.count(question, unit="person_id"), by.labels, by.classes.tolist()))
        assert results[0] == results[1]


def test_a_person_is_at_most_one_row_whatever_rows_they_have(tmp_path):
    """Giving a person more rows, of any kind, changes the counts by at most one person: neighbours stay neighbours."""
    rng = random.Random(11)
    for trial in range(8):
        base = _rows(seed=trial, count=40)
        more = [{**row, "person_id": "newcomer"} for row in _rows(seed=100 + trial, count=rng.randrange(1, 6))]
        for question in QUESTIONS[:2]:
            before, after = [
                sources.open(pd.DataFrame(given, dtype=object)).count_by(
                    question, "ward", unit="person_id", groups=["N", "S"]
                )
                for given in (base, base + more)
            ]
            assert after.rows == before.rows + 1
            assert np.abs(after.classes - before.classes).sum() + np.abs(after.missing - before.missing).sum() <= 1


def test_a_person_counts_as_true_if_any_of_their_rows_is(tmp_path):
    """The kept row is in scope if one is, and of the first class there; rows without a person are left out."""
    path = tmp_path / "visits.csv"
    path.write_text("who,ward,ill\na,N,no\na,S,yes\na,N,\nb,N,\nb,N,no\nc,S,\n,N,yes\n  ,N,yes\n d,N,yes\nd ,S,no\n")
    with sources.open(path) as source:
        counts = source.count(majority("ill"), unit="who")
        assert (counts.rows, counts.classes, counts.missing) == (4, (2, 1), 1)
        counts = source.count(majority("ill"), unit="who", where="ward == 'N'")
        assert (counts.rows, counts.classes, counts.missing) == (4, (1, 2), 0)  # c has no row in scope
        groups = source.count_by(majority("ill"), "ward", unit="who")
        assert (groups.labels, groups.classes.tolist(), groups.missing.tolist()) == (
            ("N", "S"),
            [[1, 2], [0, 0]],
            [0, 1],
        )


def test_of_listed_groups_a_person_is_in_the_first_of_the_list(tmp_path):
    """Rather than in the first by text, and there in the first class; whoever else is in the data changes nothing."""
    rows = [
        ("A", "2", "no"),
        ("A", "10", "yes"),
        ("B", "10", "yes"),
        ("B", "x", "no"),
        ("C", None, "no"),
        (None, "2", "yes"),
    ]
    path = tmp_path / "rows.csv"
    path.write_text("who,g,s\n" + "".join(f"{who or ''},{g or ''},{s}\n" for who, g, s in rows))
    with sources.open(path) as source:
        found = [
            source.count_by(majority("s"), "g", unit="who", groups=["2", "10"], listed=way) for way in (True, False)
        ]
    assert [counts.classes.tolist() for counts in found] == [[[0, 1], [1, 0]], [[0, 0], [2, 0]]]
    assert [(counts.rows, counts.missing.tolist()) for counts in found] == [(3, [0, 0])] * 2


def test_yes_and_no_are_read_from_a_stated_list(tmp_path):
    path = tmp_path / "words.csv"
    words = [*YES_WORDS, *NO_WORDS, "yess", "ja", "on", "2", "-1", "tru", "10", "01", "+1", "nan", "NULL"]
    path.write_text("w\n" + "".join(f"{word}\n {word.upper()} \n" for word in words))
    counts = sources.open(path).count(majority("w"))
    assert (counts.classes, counts.missing) == ((12, 12), 22)
    for values, kind in (([1, 0, 2, None], pa.int64()), ([1.0, 0.0, math.nan, 0.5], pa.float32())):
        counts = sources.open(pa.table({"w": pa.array(values, kind)})).count(majority("w"))
        assert (counts.classes, counts.missing) == ((1, 1), 2)


def test_what_is_missing_throughout_is_counted_as_missing(tmp_path):
    """A column, a group or a scope with nothing in it, and persons without a name: zeros, and no error."""
    path = tmp_path / "blank.csv"
    path.write_text("who,ward,ill,age\n,N,,\n,N,?,x\n,S,yes,1\n,,no,2\n")
    with sources.open(path) as source:
        for question in (
            majority("age"),
            median("who", above=1),
            exists("who == 'a' and age > 5"),
            mode("who", ["a", "b"]),
        ):
            counts = source.count(question)
            assert (counts.rows, sum(counts.classes) + counts.missing) == (4, 4)
            counts = source.count(question, unit="who")
            assert (counts.rows, counts.classes, counts.missing) == (0, (0, 0), 0)
            counts = source.count(question, where="ward == 'nowhere'")
            assert (counts.rows, counts.classes, counts.missing) == (4, (0, 0), 0)
            assert len(source.count_by(question, "who")) == 0
            assert len(source.count_by(question, "ward", unit="who")) == 0
            empty = source.count_by(question, "ward", where="age > 9", groups=["N", "x"])
            assert (empty.rows, empty.classes.tolist(), empty.missing.tolist()) == (4, [[0, 0], [0, 0]], [0, 0])
        groups = source.count_by(majority("ill"), "ward")
        assert (groups.labels, groups.classes.tolist(), groups.missing.tolist()) == (
            ("N", "S"),
            [[0, 0], [1, 0]],
            [2, 0],
        )
        groups = source.count_by(mode("ill", ["yes", "no"]), "ward")
        assert (groups.labels, groups.classes.tolist(), groups.missing.tolist()) == (
            ("N", "S"),
            [[0, 0], [1, 0]],
            [2, 0],
        )


def test_many_groups_are_counted_in_one_pass():
    """Two hundred thousand groups, with whole numbers and halves as labels."""
    n = 200_000
    table = pa.table({"g": np.arange(2 * n) % n / 2, "x": np.arange(2 * n) < n})
    groups = sources.open(table).count_by(majority("x"), "g")
    assert len(groups) == n
    assert (groups.classes == 1).all()
    assert {"0", "0.5", "1", "99999.5"} <= set(groups.labels)


def test_what_is_compared_with_a_date_is_read_as_one():
    """In a column of text, too: a word that is no date is missing, and not after it in the alphabet."""
    table = pa.table(
        {"d": pa.array(["2024-02-29", "2023-12-31", None]).cast(pa.date32()), "t": ["2024-02-29", "", "b"]}
    )
    source = sources.open(table)
    for column in ("d", "t"):
        counts = source.count(exists(f"{column} >= '2024-01-01'"))
        assert (counts.classes, counts.missing) == (((1, 1), 1) if column == "d" else ((1, 0), 2))


def test_a_day_is_its_first_moment():
    """A timestamp at midnight is that day, and one at noon is after it; a spelling with T and Z is the same moment."""
    moments = ["1989-09-06", "1989-09-07", "1989-09-07 12:00:00.5", "1990-01-01"]
    stamps = pa.array(np.array(moments, "datetime64[us]"))
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        source = sources.open(pa.table({"t": stamps.cast(kind)}))
        found = {
            text: source.count(exists(f"t {text}")).classes[0]
            for text in (
                "== '1989-09-07'",
                "<= '1989-09-07'",
                "> '1989-09-07'",
                "in ['1989-09-07', '1990-01-01']",
                "== '1989-09-07T12:00:00.500Z'",
                ">= '1989-09-07 12:00'",
            )
        }
        assert list(found.values()) == [1, 2, 2, 2, 1, 2]
    with pytest.raises(ParameterError, match="is compared with a date, and '15/03/1989' is none"):
        source.check(exists("t >= '15/03/1989'"))


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_moments_beyond_the_engine_are_missing_and_no_error(unit, zone):
    """One person's moment in a million years does not decide whether there is an answer for the others."""
    near = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6}[unit]
    moments = pa.array([near, 2**63 - 1, -(2**63) + 1, None], pa.timestamp(unit, zone))
    table = pa.table({"t": moments, "s": ["yes", "yes", "no", "no"]})
    for data in (table, table.to_pandas(), *([] if unit == "s" else [pl.from_arrow(table)])):  # Polars has no seconds
        with sources.open(data) as source:
            assert source.count(majority("s")).classes == (2, 2)
            assert source.count(exists("t > '1970-01-01'")).missing == 3
            groups = source.count_by(majority("s"), "t")
            assert (groups.rows, groups.classes.tolist()) == (4, [[1, 0]])
            assert source.count(majority("s"), unit="t").rows == 1


# the schema is public and checked


TYPED = pa.table({"n": [1], "t": ["a"], "b": [True], "l": [[1]], "d": pa.array([1], pa.date32()), "Größe": [1.0]})


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda s: s.count(majority("N")), "no column N: did you mean n"),
        (lambda s: s.count(majority("Grösse")), 'did you mean "Größe"'),
        (lambda s: s.count(majority("entirely else")), "The columns are n, t, b"),
        (lambda s: s.count(median("t", above=1)), "t is compared with a number, but holds text"),
        (lambda s: s.count(median("b", above=1)), "holds truth values"),
        (lambda s: s.count(median("d", above=1)), "holds dates"),
        (lambda s: s.count(exists("n == '1'")), "n is compared with a text, but holds numbers"),
        (lambda s: s.count(exists("b == 'yes'")), "holds truth values"),
        (lambda s: s.count(majority("l")), "holds neither"),
        (lambda s: s.count(majority("d")), "taken as yes/no, but holds dates"),
        (lambda s: s.count(majority("b"), where="t > 5"), "t is compared with a number"),
        (lambda s: s.count(majority("b"), where="t >"), "expected a number"),
        (lambda s: s.count(majority("b"), where=5), "must be text"),
        (lambda s: s.count(majority("b"), unit="l"), "to name persons"),
        (lambda s: s.count(majority("b"), unit="nn"), "did you mean n"),
        (lambda s: s.count(majority("b"), unit=""), "by its name"),
        (lambda s: s.count_by(majority("b"), "l"), "to name groups"),
        (lambda s: s.count_by(majority("b"), None), "by its name"),
        (lambda s: s.count_by(majority("b"), "t", groups=["a", "a"]), "repeat"),
        (lambda s: s.count_by(majority("b"), "t", groups=[]), "between 1"),
        (lambda s: s.count_by(majority("b"), "t", groups="a"), "must be a list"),
        (lambda s: s.count_by(majority("b"), "t", groups=[1.5]), "by their text"),
        (lambda s: s.count_by(majority("b"), "t", groups=[True]), "by their text"),
        (lambda s: s.count_by(majority("b"), "t", groups=[1, 2]), "by their text"),
        (lambda s: s.count_by(majority("b"), "t", groups=5), "must be a list"),
        (lambda s: s.count("majority(b)"), "must be a question"),
        (lambda s: s.count(None), "must be a question"),
        (lambda s: s.check(median("t", above=1)), "holds text"),
        (lambda s: s.check(majority("b"), by="l"), "to name groups"),
    ],
)
def test_what_the_columns_cannot_answer_is_refused(ask, words):
    """From the schema alone: the same refusal for any rows, also for a single one."""
    with pytest.raises(ParameterError, match=words):
        ask(sources.open(TYPED))


def test_check_looks_at_no_row():
    """A plan can be checked on a source whose rows cannot be counted any more."""
    source = sources.open(TYPED)
    source.close()
    source.check(majority("b"), where="n > 3", unit="t", by="d")


@pytest.mark.parametrize(
    "data", [None, 5, b"data.csv", [], {"a": [1]}, np.zeros(3), object(), pa.array([1]), pd.Series([1]), pl.Series([1])]
)
def test_data_of_other_kinds_is_refused(data):
    with pytest.raises(ParameterError, match="data must be the path"):
        sources.open(data)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are called 'a'"),
        (pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])), "one level"),
        (pa.table([[1], [2]], names=["a", "a"]), "two columns"),
        (pa.table([[1]], names=[""]), "by its name"),
    ],
)
def test_frames_without_a_schema_are_refused(frame, words):
    with pytest.raises(ParameterError, match=words):
        sources.open(frame)


@pytest.mark.parametrize("frame", [pd.DataFrame(), pl.DataFrame(), pa.table({})])
def test_frames_without_columns_are_refused(frame):
    """Columns are public, so that there are none may be said."""
    with pytest.raises(FileError, match="no columns"):
        sources.open(frame)


EMPTY = {
    "header.csv": b"a,b\n",
    "bare.csv": b"a,b",
    "blank.csv": b"a,b\r\n\r\n\r\n",
    "none.jsonl": b"",
    "blank.jsonl": b"\n \n",
    "mark.jsonl": b"\xef\xbb\xbf",
    "pandas": pd.DataFrame({"a": [], "b": []}, dtype=object),
    "polars": pl.DataFrame({"a": [], "b": []}),
    "arrow": pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())}),
    "relation": lambda: duckdb.connect().sql("SELECT '' AS a, '' AS b WHERE false"),
}


@pytest.mark.parametrize("name", EMPTY)
def test_nobody_is_a_data_set_like_any_other(name, tmp_path):
    """That there are no rows is as secret as how many there are: counts of 0, no groups, no error."""
    data = EMPTY[name]
    if isinstance(data, bytes):
        path = tmp_path / name
        path.write_bytes(data)
        data = path
    with sources.open(data() if callable(data) else data) as source:
        for unit in (None, "a"):
            counts = source.count(majority("b"), unit=unit)
            assert (counts.rows, counts.classes, counts.missing) == (0, (0, 0), 0)
            groups = source.count_by(majority("b"), "a", unit=unit)
            assert (groups.rows, groups.labels, groups.classes.shape, groups.missing.shape) == (0, (), (0, 2), (0,))
            (batch,) = source.group_batches(mode("b", ["x", "y"]), "a", unit=unit)
            assert (batch.rows, batch.labels, batch.classes.shape, batch.missing.shape) == (0, (), (0, 2), (0,))


def test_pandas_objects_are_cells_whatever_they_are():
    """Mixed objects, even ones that cannot be printed, are text to be read; a type is never guessed from them."""

    class Broken:
        def __str__(self):
            raise RuntimeError(CANARY)

    frame = pd.DataFrame(
        {"a": pd.Series(["yes", True, 1, 1.0, None, math.nan, pd.NA, Broken(), "\ud800", b"x"], dtype=object)}
    )
    counts = sources.open(frame).count(majority("a"))
    assert (counts.rows, counts.classes, counts.missing) == (10, (4, 0), 6)


def test_types_are_sorted_into_kinds():
    kinds = {
        "whole": ["TINYINT", "UBIGINT", "HUGEINT", "INTEGER", "UINTEGER"],
        "decimal": ["DECIMAL(24,2)"],
        "float": ["FLOAT", "DOUBLE"],
        "string": ["VARCHAR", "UUID", "ENUM('a', 'b')"],
        "moment": ["DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"],
        "other": ["INTEGER[]", "STRUCT(a INTEGER)", "BLOB", "INTERVAL", "MAP(VARCHAR, INTEGER)", "JSON", "BIT"],
    }
    assert {kind: {kind_of_type(name) for name in names} for kind, names in kinds.items()} == {k: {k} for k in kinds}
    with pytest.raises(ParameterError, match="and 8 more"):
        Schema(Column(f"c{at}", "", "cell") for at in range(20)).column("zzz", LABEL)


# files that are not what they should be


HOSTILE = {
    "missing.csv": (None, "no such file"),
    "folder.csv": ("folder", "folder"),
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b" \n\n \n", "is empty"),
    "late.csv": (b"\na,b\n1,2\n", "is empty"),
    "twice.csv": (b"a,A\n1,2\n", "the same name, columns 1 and 2"),
    "control.csv": (b"a,b\x1b[31m\n1,2\n", "control characters"),
    "nul.csv": (b"a\0,b\n1,2\n", "not text"),
    "utf16.csv": ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    "latin.csv": ("größe,b\n1,2\n".encode("latin-1"), "not UTF-8"),
    "gzip.csv": (b"\x1f\x8b\x08\0", "gzip"),
    "sheet.csv": (b"PK\x03\x04rest", "spreadsheet"),
    "parquet.csv": (b"PAR1xxxxxxxxPAR1", "Parquet"),
    "json.csv": (b'{"a": 1}\n', "looks like JSON"),
    "page.csv": (b"<!DOCTYPE html>\n", "web page"),
    "tabs.csv": (b"a\tb\n1\t2\n", "no ','"),
    "commas.tsv": (b"a,b\n1,2\n", "no '\\\\t'"),
    "long.csv": (b"a" * (2**20 + 5), "longer than"),
    "wide.csv": (b",".join(b"c%d" % at for at in range(10_001)) + b"\n1\n", "10,000 columns"),
    "no_suffix": (b"a\n1\n", "must end in"),
    "data.ods": (b"a\n1\n", "must end in.*save it as .xlsx"),
    "star*.csv": (b"a\n1\n", "must not hold"),
    "text.parquet": (b"a,b\n1,2\n", "does not begin"),
    "cut.parquet": (b"PAR1" + b"x" * 50, "does not end"),
    "junk.parquet": (b"PAR1" + b"x" * 50 + b"PAR1", "damaged"),
    "tiny.parquet": (b"PAR1PAR1", "incomplete"),
    "empty.parquet": (b"", "is empty"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_that_are_not_what_their_name_says_are_refused(name, tmp_path):
    content, words = HOSTILE[name]
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(FileError, match=words) as caught:
        sources.open(path)
    assert len(str(caught.value)) < 500


def test_parquet_with_damaged_pages_is_refused(tmp_path):
    path = _parquet(tmp_path / "none.parquet", pa.table({"a": pa.array([], pa.int64())}))
    assert sources.open(path).count(majority("a")).rows == 0
    path = _parquet(tmp_path / "torn.parquet", pa.table({"a": [f"{CANARY}{at}" for at in range(1000)]}))
    data = bytearray(path.read_bytes())
    data[20:2000] = b"\xff" * 1980
    path.write_bytes(bytes(data))
    with pytest.raises(FileError) as caught:
        sources.open(path).count(majority("a"))
    _require_no_trace(caught.value)


# rows that are not what they should be


ODD_LINES = {
    "too few cells": ("1", (0, 1)),
    "too many cells": ("1,yes,3,4,5", (1, 0)),
    "a quoted line end": ('1,"yes\n"', (0, 1)),
    "an inner quote": ('1,ye"s', (0, 1)),
    "text after a quote": ('1,"no"x', (0, 1)),
    "an escaped quote": ('1,"y""es"', (0, 1)),
    "a NUL": ("1,\0", (0, 1)),
    "a comment sign": ("#1,yes", (1, 0)),
    "a backslash": ("1\\,yes", (1, 0)),
    "a formula": ("=1+1,yes", (1, 0)),
}


@pytest.mark.parametrize("name", ODD_LINES)
def test_an_odd_line_is_a_row_and_no_error(name, tmp_path):
    """It changes the counts by that one row, as any row does."""
    line, (yes, absent) = ODD_LINES[name]
    path = tmp_path / "odd.csv"
    for before, after in product([0, 1, 50], repeat=2):
        path.write_text("a,b\n" + "1,no\n" * before + line + "\n" + "1,yes\n" * after + "1,no\n", encoding="utf-8")
        counts = sources.open(path).count(majority("b"))
        assert counts.rows == before + after + 2
        assert (counts.classes, counts.missing) == ((after + yes, before + 1), absent)


@pytest.mark.parametrize("line", [b"1,\xff", b"1,x\xc3", b"1," + b"x" * 3_000_000, b'1,"' + b"y\n" * 800_000 + b'"'])
def test_a_cell_that_is_no_text_is_missing_and_its_row_a_row(line, tmp_path):
    """Not UTF-8, or too long to be read: so for every question, also one that does not read that cell."""
    path = tmp_path / "odd.csv"
    path.write_bytes(b"a,b\n1,yes\n" + line + b"\n1,no\n1,no\n")
    with sources.open(path) as source:
        counts = source.count(majority("b"))
        assert (counts.rows, counts.classes, counts.missing) == (4, (1, 2), 1)
        counts = source.count(majority("a"))
        assert (counts.rows, counts.classes) == (4, (4, 0))
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b'{"b": "yes"}\n' + line.replace(b"1,", b"").replace(b"\n", b"") + b'\n{"b": "no"}\n')
    counts = sources.open(path).count(majority("b"))
    assert (counts.rows, counts.classes, counts.missing) == (3, (1, 1), 1)


@pytest.mark.parametrize("line", [b"", b"\r"])
def test_an_empty_line_is_no_row(line, tmp_path):
    """Unless there is one column only: then it is a row with an empty cell, as Polars writes it."""
    path = tmp_path / "odd.csv"
    path.write_bytes(b"a,b\n1,yes\n" + line + b"\n1,no\n1,no\n" + line + b"\n")
    assert sources.open(path).count(majority("b")).rows == 3
    path.write_bytes(b"b\nyes\n" + line + b"\nno\n")
    counts = sources.open(path).count(majority("b"))
    assert (counts.rows, counts.missing) == (3, 1)
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b'{"b": "yes"}\n' + line + b'\n{"b": "no"}\n')
    assert sources.open(path).count(majority("b")).rows == 2


@pytest.mark.parametrize(
    "line",
    [
        *(
            "{",
            '{"b": "yes"',
            '{"b": "yes"} x',
            "[1]",
            "null",
            "5",
            '{"b": NaN}',
            '{"b": "\\ud800"}',
            '{"b": {"b": "yes"}}',
        ),
        *('{"b": ["yes"]}', '{"c": "yes"}', '{"b": null}', '{"b": "\x01"}', "[" * 5000, '{"b": 1e999}', "yes", '"yes"'),
    ],
)
def test_a_line_that_is_not_json_is_a_row_with_nothing_in_it(line, tmp_path):
    path = tmp_path / "odd.jsonl"
    path.write_text('{"b": "yes"}\n' + line + '\n{"b": "no"}\n', encoding="utf-8")
    counts = sources.open(path).count(majority("b"))
    assert (counts.rows, counts.classes, counts.missing) == (3, (1, 1), 1)


def test_json_values_are_read_by_what_they_say(tmp_path):
    path = tmp_path / "values.jsonl"
    values = ["true", "false", "1", "0", '"Yes"', "1.0", "null", '"maybe"']
    path.write_text("\ufeff" + "".join(f'{{"a/b~c \\"d": {value}}}\n' for value in values), encoding="utf-8")
    counts = sources.open(path).count(majority('a/b~c "d'))
    assert (counts.rows, counts.classes, counts.missing) == (8, (4, 2), 2)


def test_an_open_quote_that_nobody_closes_is_a_character(tmp_path):
    """However many rows follow, they are rows, and so are properly quoted ones."""
    path = tmp_path / "open.csv"
    for rest in (10, 1_000_000):
        path.write_text('a,b\n1,yes\n1,"no\n' + "1,yes\n" * rest)
        counts = sources.open(path).count(majority("b"))
        assert (counts.rows, counts.classes, counts.missing) == (rest + 2, (rest + 1, 0), 1)
        path.write_text('a,b\n1,yes\n1,"no\n' + '"1,\n""",yes\n' * rest)
        counts = sources.open(path).count(majority("b"))
        assert (counts.rows, counts.classes, counts.missing) == (rest + 2, (rest + 1, 0), 1)


def test_what_a_stray_quote_can_do_is_what_the_documentation_says(tmp_path):
    """It joins the rows up to the next quote of the file if that stands before a delimiter or a line end, as here."""
    path = tmp_path / "stray.csv"
    path.write_text('a,b\n1,yes\n1,"no\n1,yes\n1,5"\n1,yes\n')
    counts = sources.open(path).count(majority("b"))
    assert (counts.rows, counts.classes, counts.missing) == (3, (2, 0), 1)


@pytest.fixture
def small_buffers(monkeypatch):
    """Files are read in pieces of a few bytes, and handed on a few rows at a time."""
    monkeypatch.setattr(text_lines, "BLOCK", 37)
    monkeypatch.setattr(text_lines, "_ROWS", 7)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_random_bytes_never_raise(suffix, tmp_path, small_buffers):
    """Files of random pieces: an answer for each, and the same one when asked again."""
    rng = random.Random(f"sources-{suffix}")
    pieces = [b"1", b"yes", b"no", b",", b",", b",", b"\n", b"\n", b" ", b"\t", b"\xc3\xa9", b'{"b":"yes"}\n', b'"b":']
    odd = [b"\r", b"\xff", b"\0", b"\n\n", b"\r\r\n", b"\r\n", b'"', b'""', b'"a\nb"', b"\\", b"'", b";", b"{", b"}"]
    path = tmp_path / f"random.{suffix}"
    first = b"a,b\n1,yes\n" if suffix == "csv" else b'{"a":1,"b":"yes"}\n'
    for _ in range(FUZZ):
        allowed = pieces + rng.sample([*odd, b"x" * 1200], rng.randrange(len(odd)))
        path.write_bytes(first + b"".join(rng.choices(allowed, k=rng.choice([5, 200, 20_000]))))
        source = sources.open(path)
        assert source.count(majority("b")) == source.count(majority("b"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_no_row_is_lost_or_doubled_where_pieces_of_a_file_meet(end, tmp_path, small_buffers):
    """Random rows, quoted and not, short and long, ragged and not, against Python's own reader."""
    rng = random.Random(f"pieces-{end}")
    path = tmp_path / "pieces.csv"
    for trial in range(FUZZ):
        quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]) if trial % 2 else None
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator=end, quoting=quoting or csv.QUOTE_MINIMAL)
            writer.writerow(["a", "b", "c"])
            for _ in range(rng.choice([50, 900])):
                words = ["yes", "no", "é", "x" * rng.randrange(1, 40)]
                cells = rng.choices(words, k=rng.choice([2, 3, 3, 4]))
                if quoting is not None and rng.random() < 0.3:
                    cells[0] = rng.choice(["a,b", f"a{end}b", 'say "hi"', f"{end}", '"', ","])
                writer.writerow(cells)
        with path.open(newline="", encoding="utf-8") as file:
            expected = [_yes_no(cells[1]) for cells in csv.reader(file)][1:]
        counts = sources.open(path).count(majority("b"))
        assert counts.rows == len(expected)
        assert (*counts.classes, counts.missing) == tuple(expected.count(each) for each in (True, False, None))


def test_a_cell_that_is_no_number_does_not_take_its_row_away(tmp_path):
    """DuckDB 2.0 drops such rows when a column of a CSV file is cast and nothing else (its issue 23818)."""
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n1,x\nabc,x\n,x\n3,x\n1e999,x\n")
    counts = sources.open(path).count(median("a", above=2))
    assert (counts.rows, counts.classes, counts.missing) == (5, (1, 1), 3)


# nothing gets in, nothing gets out


INJECTIONS = [
    "x'; DROP TABLE tinct_rows; --",
    'x"; DROP TABLE tinct_rows; --',
    "a\" FROM read_csv('/etc/passwd') --",
    "') UNION SELECT 1, 2, 3 --",
    "*",
    "tinct_rows",
    "v0",
    "class",
    "%s",
    "$1",
    "?",
    "\\'; --",
    "{0}",
    "/* x */",
]


@pytest.mark.parametrize("word", INJECTIONS)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "relation", "pandas"])
def test_names_and_values_are_never_read_as_sql(word, kind, tmp_path):
    """A column or value with SQL in it is a column or value, in every part of a plan."""
    table = pa.table({word: [word, word, "other", None], "p": [word, "2", "3", "4"]})
    data = {
        "csv": lambda: _as_csv(tmp_path / "i.csv", table),
        "jsonl": lambda: _as_jsonl(tmp_path / "i.jsonl", table),
        "parquet": lambda: _parquet(tmp_path / f"i{abs(hash(word))}.parquet", table),
        "relation": lambda: duckdb.connect().from_arrow(table),
        "pandas": lambda: table.to_pandas(),
    }[kind]()
    # these are no names that anybody writes above a table without saying so
    known = dict.fromkeys(table.column_names, sources.ColumnDescription("category"))
    named = sources.Description(known, sources.Format(delimiter=",")) if kind == "csv" else None
    source = sources.open(data, named)
    for question in (threshold(Comparison(word, "==", word), 1), threshold(Membership(word, (word, "z")), 1)):
        question = parse(str(question))
        counts = source.count(question, where=str(Comparison(word, "!=", "elsewhere")))
        assert (counts.rows, counts.classes, counts.missing) == (4, (2, 1), 0)
        assert source.count(question, unit=word).classes == (1, 1)
        groups = source.count_by(question, word, groups=[word, "other"], unit="p")
        assert groups.classes.tolist() == [[2, 0], [0, 1]]
    assert source.count(mode(word, [word, "other"])).classes == (2, 1)


def _as_csv(path, table):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        writer.writerows(zip(*table.to_pydict().values(), strict=True))
    return path


def _as_jsonl(path, table):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    return path


class _Given:
    """A statement of one's own."""

    def __init__(self, text):
        self.columns = [Column("ward", "c0", "cell")]
        self._text = text

    def text(self, _):
        return self._text


def test_a_source_reads_no_other_file_and_no_network(tmp_path):
    """Even a statement that asks for it cannot: the engine is locked to the one file."""
    path = _write_delimited(tmp_path / "data.csv", _rows(count=3))
    (tmp_path / "other.csv").write_text("a\n1\n")
    for data in (path, TYPED):
        source = sources.open(data)
        for statement in (
            f"FROM read_csv('{tmp_path}/data.csv')",
            f"SELECT * FROM read_csv('{tmp_path}/other.csv')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            f"ATTACH '{tmp_path}/out.db'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SELECT * FROM read_csv('https://example.org/x.csv')",
            "SET enable_external_access=true",
            "SET lock_configuration=false",
            "SELECT * FROM path",
        ):
            with pytest.raises(FileError):
                source._engine.rows(_Given(statement))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "other.csv"]


def test_counting_writes_nothing(tmp_path, monkeypatch):
    """The file and its folder, and the folder one works in, stay as they are."""
    path = _write_delimited(tmp_path / "data.csv", _rows(count=50))
    before = path.read_bytes()
    monkeypatch.chdir(tmp_path)
    with sources.open("data.csv") as source:
        source.count_by(majority("support"), "ward", unit="person_id")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["data.csv"]


def _require_no_trace(error):
    """The canary is nowhere in an error: not in its text, nor in what it came from."""
    seen = set()
    chain = [error]
    while chain:
        each = chain.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        assert CANARY not in "".join(traceback.format_exception_only(each))
        assert CANARY not in repr(each.args)
        chain += [each.__cause__, each.__context__]
    assert CANARY not in str(error)


@pytest.mark.parametrize("name", ["broken", "cast", "sql"])
def test_errors_of_the_engine_never_show_a_cell(name, tmp_path):
    """The engine quotes cells in its messages; the error that comes out has neither text nor context of it."""
    connection = duckdb.connect()
    relation = {
        "broken": connection.sql(f"SELECT error('{CANARY}') AS a, 1 AS b"),
        "cast": connection.sql(f"SELECT CAST(x AS INTEGER) AS a, 1 AS b FROM (VALUES ('{CANARY}')) AS t(x)"),
        "sql": connection.sql(f"SELECT strptime('{CANARY}' || x, '%Y')::VARCHAR AS a, 1 AS b FROM (VALUES ('x')) t(x)"),
    }[name]
    question = exists("a == 1" if name == "cast" else "a == 'x'")
    with pytest.raises(FileError, match="cannot read it") as caught:
        sources.open(relation).count(question)
    _require_no_trace(caught.value)


def test_no_refusal_shows_a_cell(tmp_path):
    """Canary cells everywhere, and every refusal we can think of: the canary is in none of them, nor in a repr."""
    rows = [dict.fromkeys(COLUMNS, f"{CANARY}{at}") for at in range(20)]
    refused = 0
    for name, make in FORMATS.items():
        if make in (FORMATS["csv"], FORMATS["tsv"], FORMATS["jsonl"], FORMATS["pandas objects"]):
            source = sources.open(make(tmp_path, rows))
        elif name in ("arrow", "relation"):
            table = pa.Table.from_pylist(rows)
            source = sources.open(table if name == "arrow" else duckdb.connect().from_arrow(table))
        else:
            continue
        assert CANARY not in repr(source)
        for ask in (
            lambda s: s.count(majority("suport")),
            lambda s: s.count(median("ward", above=1), where="agee > 3"),
            lambda s: s.count(majority("support"), where="age >"),
            lambda s: s.count(majority("support"), unit="person"),
            lambda s: s.count_by(majority("support"), "wart"),
            lambda s: s.count_by(majority("support"), "ward", groups=[]),
            lambda s: s.count_by(majority("support"), "ward").of(3),
            lambda s: s.count("x"),
        ):
            if name == "jsonl" and refused % 8 in (0, 1, 3, 4):  # there, any column will do
                refused += 1
                continue
            with pytest.raises(TinctError) as caught:
                ask(source)
            _require_no_trace(caught.value)
            refused += 1
        assert CANARY not in repr(source.count(majority("support")))
        assert CANARY not in repr(source.count_by(majority("support"), "ward"))
    assert refused == 6 * 8
    for name, content in {
        "a.csv": f"{CANARY[:3]},{CANARY[:3]}\n{CANARY},{CANARY}\n",
        "e.parquet": f"PAR1{CANARY}PAR1",
        "f.tsv": f"a,b\n{CANARY},{CANARY}\n",
    }.items():
        (tmp_path / name).write_text(content)
        with pytest.raises(FileError) as caught:
            sources.open(tmp_path / name)
        _require_no_trace(caught.value)


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text("a\n1\n")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(TinctError, match=r"tinct\[data\]"):
        sources.open(path)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TinctError, match=r"tinct\[data\]"):
        sources.open(pd.DataFrame({"a": [1]}))


def test_a_source_can_be_given_as_data():
    source = sources.open(TYPED)
    assert sources.open(source) is source


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_byte_order_mark_alone_is_an_empty_file(tmp_path, suffix):
    """And so it is with blanks after it."""
    for content in (b"\xef\xbb\xbf", b"\xef\xbb\xbf \r\n"):
        path = tmp_path / f"rows{suffix}"
        path.write_bytes(content)
        with pytest.raises(FileError, match="empty"):
            sources.open(path)


def test_ctrl_c_while_counting_is_not_the_file_s_fault(tmp_path):
    """However the engine puts it, an interrupted count is an interruption."""
    path = tmp_path / "rows.csv"
    path.write_text("support\nyes\n")
    with sources.open(path) as source:
        for error, raised in (
            (RuntimeError("Query interrupted"), KeyboardInterrupt),
            (RuntimeError("else"), FileError),
        ):
            source._engine._ways = lambda _, error=error: iter([nullcontext((_raising(error), ""))])
            with pytest.raises(raised):
                source.count(majority("support"))


def _raising(error):
    def run(_):
        raise error

    return run


# memory


@pytest.mark.parametrize("question", [majority("x"), mode("x", [True, False])], ids=["condition", "categories"])
@pytest.mark.parametrize("unit", [None, "p"])
def test_batches_of_groups_are_those_of_one_count(question, unit, monkeypatch):
    """In the order of their text, at most so many at a time; rows in no group are counted with the last."""
    monkeypatch.setattr("tinct.sources.source.MAX_GROUPS", 70)
    rng = np.random.default_rng(5)
    table = pa.table({"g": rng.integers(0, 1000, 6000), "x": rng.random(6000) < 0.5, "p": rng.integers(0, 4000, 6000)})
    table = table.set_column(0, "g", pa.array([None if g > 900 else f"g{g}" for g in table["g"].to_pylist()]))
    with sources.open(table) as source:
        whole = source.count_by(question, "g", unit=unit)
        batches = list(source.group_batches(question, "g", unit=unit))
        assert {len(batch) for batch in batches[:-1]} == {70}
        assert len(batches[-1]) <= 70
        assert sum((batch.labels for batch in batches), ()) == whole.labels
        for name in ("classes", "missing"):
            assert np.array_equal(np.concatenate([getattr(b, name) for b in batches]), getattr(whole, name))
        assert sum(batch.rows for batch in batches) == whole.rows
        (given,) = source.group_batches(question, "g", unit=unit, groups=["g7", "nobody"])
        assert (given.labels, given.rows) == (("g7", "nobody"), whole.rows)
        with pytest.raises(ParameterError, match="no column"):
            source.group_batches(question, "h")


def _watch(folder, seen, done):
    """What is put aside in a folder, looked at again and again."""
    while not done.wait(0.02):
        for file in folder.iterdir():
            with suppress(OSError):
                seen.append(file.read_bytes())


def test_more_persons_than_memory_are_counted_and_leave_nothing_behind(tmp_path, monkeypatch):
    """What does not fit goes into a private folder, encrypted, which is gone with the source, also after an error."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(duckdb_engine, "_SETTINGS", {**duckdb_engine._SETTINGS, "memory_limit": "60MB", "threads": "1"})
    n = 400_000
    names = [f"{CANARY} person number {at}" for at in range(n)]
    table = pa.table({"p": names, "g": names, "x": np.arange(n) % 2 == 0})
    with sources.open(table) as source:
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        spilled, done = [], threading.Event()
        watching = threading.Thread(target=_watch, args=(folder, spilled, done))
        watching.start()
        counts = source.count(majority("x"), unit="p")
        assert (counts.rows, counts.classes) == (n, (n // 2, n // 2))
        assert sum(len(batch) for batch in source.group_batches(majority("x"), "g", unit="p")) == n
        done.set()
        watching.join()
        assert max(map(len, spilled)) > 100_000
        assert not any(CANARY.encode() in each for each in spilled)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ParameterError), sources.open(table) as source:
        source.count(majority("y"))
    assert list(tmp_path.iterdir()) == []
    sources.open(table)  # forgotten, and never closed
    gc.collect()
    assert list(tmp_path.iterdir()) == []


# rows are what was written


@pytest.mark.parametrize("write", ["csv", "pandas", "polars"])
def test_there_are_as_many_rows_as_were_written(write, tmp_path, small_buffers):
    """Random cells with bare carriage returns, quotes, delimiters, NULs, long ones, by three programs."""
    rng = random.Random(f"written by {write}")
    pieces = ["a", "yes", "\r", "\n", "\r\n", '"', '""', ",", ";", "\0", "\u2028", "\x85", "\x1c", " ", "é", "x" * 300]
    path = tmp_path / "rows.csv"
    for _ in range(FUZZ):
        rows = rng.choice([1, 30])
        wide = rng.choice([1, 3])
        table = {
            f"c{at}": [rng.choice([None, "".join(rng.choices(pieces, k=rng.randrange(6)))]) for _ in range(rows)]
            for at in range(wide)
        }
        if write == "pandas":
            pd.DataFrame(table).to_csv(path, index=False, lineterminator=rng.choice(["\n", "\r\n"]))
        elif write == "polars":
            pl.DataFrame(table, schema=dict.fromkeys(table, pl.String)).write_csv(path)
        else:
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator=rng.choice(["\n", "\r\n"]))
                writer.writerows([list(table), *zip(*table.values(), strict=True)])
        expected = [(cell or "").strip(" \r" if wide == 1 else " ") == "yes" for cell in table["c0"]]
        counts = sources.open(path).count(exists("c0 == 'yes'"))
        assert counts.rows == rows
        assert counts.classes[0] == sum(expected)


def test_one_person_with_sixty_carriage_returns_is_one_row(tmp_path):
    """A bare carriage return in a file of line feeds, which pandas and Python's csv leave unquoted, ends no row."""
    path = tmp_path / "rows.csv"
    pd.DataFrame({"who": ["a\rb" * 60, "c"], "s": ["yes", "no"]}).to_csv(path, index=False)
    with sources.open(path) as source:
        assert source.count(majority("s")).classes == (1, 1)
        assert source.count_by(majority("s"), "who").rows == 2


@pytest.mark.parametrize("first", ["hello", "\r", "\rx", "", "a\n"])
def test_a_header_that_ends_in_a_carriage_return_alone_is_refused_before_the_charge(first, tmp_path):
    """Whatever stands in the rows; and nothing is charged."""
    path = tmp_path / "rows.csv"
    for write in (_by_csv, _by_pandas):
        write(path, [(first, "no"), *[("x", "yes")] * 20])
        ledger = Ledger(tmp_path / f"{write.__name__}.db", 1)
        for work in (asking.plan, asking.ask):
            with pytest.raises(FileError, match=r"carriage return alone: save the file with .* LF or CRLF"):
                work(path, majority("s"), epsilon=1, ledger=ledger)
        assert ledger.history() == []


def test_what_cannot_be_told_from_crlf_is_what_the_documentation_says(tmp_path):
    """Rows that end in a carriage return, of which the first begins with a line feed, are one row."""
    path = tmp_path / "rows.csv"
    _by_pandas(path, [("\nhello", "no"), *[("x", "yes")] * 20])
    assert sources.open(path).count(majority("s")).rows == 1


def test_a_header_may_end_where_headers_are_cut(tmp_path):
    """A carriage return as the last byte that belongs to the first line, and its line feed behind it."""
    path, names = tmp_path / "rows.csv", [f"c{at:0>198}" for at in range(5242)]
    for more, good in ((76, True), (77, False)):
        header = ",".join(["a" * (len(names[0]) + 100 + more), *names[1:]])
        assert len(header) == 2**20 - good
        path.write_text(f"{header}\r\nyes\r\n", newline="")
        if good:
            assert sources.open(path).count(EVERYBODY).rows == 1
        else:
            with pytest.raises(FileError, match="longer than"):
                sources.open(path)


def _by_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\r").writerows([("a", "s"), *rows])


def _by_pandas(path, rows):
    pd.DataFrame(rows, columns=["a", "s"]).to_csv(path, index=False, lineterminator="\r")


def test_splitting_is_the_same_compiled_and_plain(tmp_path, monkeypatch):
    """The kernel and the same code in plain Python split random bytes alike, in blocks of any size."""
    rng = random.Random("split")
    pieces = [b"a", b",", b"\n", b"\r", b'"', b'""', b"\xff", b"\xc3\xa9", b"yes", b'"\n', b'",']
    path = tmp_path / "rows.csv"
    for _ in range(FUZZ):
        path.write_bytes(b"".join(rng.choices(pieces, k=60)))
        layout = text_lines.Layout(0, b",", b'"', rng.choice([b"\n", b"\r\n"]), blanks=rng.random() < 0.5)
        found = []
        for block, plain in ((1, True), (1000, True), (3, False), (1000, False)):
            monkeypatch.setattr(text_lines, "BLOCK", block)
            monkeypatch.setattr(text_lines, "_PLAIN", 10**9 if plain else -1)
            monkeypatch.setattr(text_lines, "_is_loaded", lambda: False)
            found.append([row for batch in text_lines.batches(path, layout, [0, 2]) for row in batch.to_pylist()])
        assert found[0] == found[1] == found[2] == found[3]


def test_several_threads_split_a_file_as_one_does(tmp_path, monkeypatch):
    """Ragged files, with quotes and line ends anywhere, cut into parts of any size: the very same cells in each row.

    Blanks around cells are taken off as Python takes them off.
    """
    rng = random.Random("threads")
    pieces = [
        b"a",
        b"bc",
        b"yes",
        b",",
        b",",
        b"\n",
        b"\n",
        b" ",
        "\u00a0".encode(),
        "\u3000".encode(),
        "\u202fé".encode(),
    ]
    odd = [
        b"\r",
        b"\r\n",
        b'"',
        b'""',
        b"\xff",
        b'"\n',
        b'",',
        b',"',
        b'\n"',
        b'"x\ny"',
        b"\xe3\x80",
        b"\r\r",
        b"x" * 90,
    ]
    path, wrong = tmp_path / "rows.csv", 0
    monkeypatch.setattr(text_lines, "_PLAIN", -1)
    for _ in range(THREAD_FUZZ):
        allowed = pieces + rng.sample(odd, rng.randrange(len(odd)))
        path.write_bytes(b"".join(rng.choices(allowed, k=rng.choice([20, 200, 900]))))
        layout = text_lines.Layout(0, b",", b'"', rng.choice([b"\n", b"\r\n"]), blanks=rng.random() < 0.5)
        found = []
        for threads, block, cell in ((1, 2**21, 60), (2, rng.choice([1, 7, 40, 200]), 60), (3, 64, 60)):
            monkeypatch.setattr(text_lines, "THREADS", threads)
            monkeypatch.setattr(text_lines, "BLOCK", block)
            monkeypatch.setattr(text_lines, "MAX_CELL", cell)
            batches = list(text_lines.batches(path, layout, [0, 2]))
            found.append([row for batch in batches for row in batch.to_pylist()])
        assert found[1] == found[0]
        assert found[2] == found[0]
        bare = [row for batch in text_lines.batches(path, layout, [0, 2], (), trims=True) for row in batch.to_pylist()]
        assert bare == [{name: cell and cell.strip(BLANKS) for name, cell in row.items()} for row in found[0]]
        wrong += any(b'"' in line for line in path.read_bytes().split(b"\n"))
    assert THREAD_FUZZ / 4 < wrong < THREAD_FUZZ  # with quotes and without


def test_numbers_are_told_from_other_texts_as_the_pattern_says(tmp_path):
    """All texts of up to four characters that might be in one, and random longer ones; also read in two ways."""
    rng = random.Random("numbers")
    short = ["".join(each) for size in range(1, 5) for each in itertools.product("0.+-eE_x", repeat=size)]
    long = ["".join(rng.choices("0123456789.+-eE", k=rng.choice([6, 9, 300]))) for _ in range(3000)]
    texts = [
        *short,
        *long,
        "9" * 400,
        "9" * 401,
        "1\t",
        "inf",
        "nan",
        "1e400",
        "１２",
        "",
        "0x10",
        "1_000",
        " 12 ",
        "\u00a012",
    ]
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "".join(f'{text},"{text}"\n' for text in texts), encoding="utf-8")
    expected = [read_number(text) for text in texts]
    for whole in ("a", "b"):
        with sources.open(path) as source:
            counts = source.count(threshold(f"{whole} > 5", 1))
            both = source.count(threshold(f"{whole} > 5 or {whole} == 'x'", 1))
        assert counts.classes[0] == sum(number is not None and number > 5 for number in expected)
        assert counts.missing == sum(number is None for number in expected)
        assert both.classes[0] == counts.classes[0] + texts.count("x")


def test_a_lazy_frame_is_computed_when_it_is_counted(tmp_path):
    """Opening it and planning with it ask for its schema only: what it computes may depend on rows."""
    seen = []
    lazy = pl.LazyFrame({"a": ["1", "x"]}).map_batches(lambda rows: seen.append(1) or rows)
    source = sources.open(lazy.with_columns(pl.col("a").cast(pl.Int64)))
    source.check(median("a", above=1))
    assert not seen
    with pytest.raises(FileError, match="cannot read it to the end"):
        source.count(median("a", above=1))
    assert seen


def test_a_lazy_frame_is_computed_once(tmp_path):
    """Its columns belong together: computed apart, their rows might be in another order."""
    seen = []
    lazy = pl.LazyFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]}).map_batches(lambda rows: seen.append(1) or rows)
    source = sources.open(lazy)
    assert source.count(median("a", above=1), where="b == 'x'").classes == (1, 1)
    assert source.count(median("a", above=2), where="b == 'x'").classes == (1, 1)
    assert len(seen) == 1


def test_decimals_of_any_length_are_refused_by_their_type(tmp_path):
    """Arrow stops at one cell of an odd length, so a Parquet column that can hold one is refused, whatever is in it."""
    path = tmp_path / "d.parquet"
    table = pa.table({"d": pa.array([b"\x01", b"\x05"], pa.binary()), "a": ["yes", "no"]})
    pq.write_table(table, path, use_dictionary=False, store_schema=False, write_statistics=False)
    whole = path.read_bytes()
    size = int.from_bytes(whole[-8:-4], "little")
    footer, body = whole[-8 - size : -8], whole[: -8 - size]
    at = footer.index(b"\x15\x0c\x25\x02\x18\x01d") + 7  # the column d: its converted type, scale and precision follow
    footer = footer[:at] + bytes([0x25, 0x0A, 0x15, 0x04, 0x15, 0x14]) + footer[at:]
    path.write_bytes(body + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with sources.open(path) as source:
        assert source.count(majority("a")).classes == (1, 1)
        with pytest.raises(ParameterError, match="column d is compared with a number, but holds"):
            source.check(median("d", above=1))


@pytest.mark.parametrize("make", [lambda table: table, lambda table: duckdb.from_arrow(table)], ids=["Arrow", "DuckDB"])
def test_decimals_that_cannot_be_one_are_neither_yes_nor_no(make):
    """With as many places as digits, 1 does not fit the type, and the comparison must not fail."""
    table = pa.table({"d": pa.array([0, None], pa.decimal128(38, 38))})
    with sources.open(make(table)) as source:
        counts = source.count(majority("d"))
        assert (counts.classes, counts.missing) == ((0, 1), 1)


def test_everybody_is_counted_whatever_stands_in_the_cells(tmp_path):
    """The public numbers, for the owner: rows, persons with a name, and people by one of a few values."""
    path = tmp_path / "d.csv"
    path.write_text("who,e\na,1\na,0.5\nb,1\n,2\nc,\n")
    for data in (path, pd.read_csv(path, dtype=str)):
        with sources.open(data) as source:
            assert source.count_people() == 5
            assert source.count_people("who") == 3
            assert source.count_classes("e", ["0.5", "1"]) == {"0.5": 1, "1": 2}
            assert source.count_classes("e", ["0.5", "1"], "who") == {"0.5": 1, "1": 1}
    (tmp_path / "d.jsonl").write_text('{"who": "a"}\n[1]\n')
    with sources.open(tmp_path / "d.jsonl") as source:
        assert source.count_people() == 2
