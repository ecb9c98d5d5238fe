"""Every engine gives the same counts: thousands of messy rows, wherever they live (Spark in test_spark.py).

``TINCT_EVIDENCE=1`` takes ten times as many rows. ``TINCT_MARIADB=/path/of/socket`` names a MariaDB server to try the
statement on that is rendered for it; without one that is left out.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import random
import sqlite3
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tinct import FileError, ParameterError, ask, sources
from tinct.questions import parse
from tinct.sources import ColumnDescription, Description, Format, StatementSource
from tinct.sources.rendered_dialects import DIALECTS, TESTED

duckdb = pytest.importorskip("duckdb")

TEXTS = [
    "yes", "no", " YES ", "No", "ja", "nein", "1", "0", "1.0", "0.0", "2", "NA", "N/A", "nan", "", "  ", "N", "S", "n",
    "\u00a0yes\u00a0", "\u3000no", "12", "-3.5", "1e3", "1e400", "1e-400", "1.234,5", "1.234", "15.000", "+5", "5.",
    ".5", "-0.0", "Infinity", "１２", "9" * 350, "0" * 500 + "1", "9007199254740993", "31.12.1990", "1.2.2000",
    "30.02.1990",
    "29.02.2000", "29.02.1900", "1990-12-31", "1990-12-31T10:00:00Z", "1990-12-31 10:00:00.5", "2000-02-30", "ÄÖÜ", "İ",
    "ẞ", "ß", "Straße", "é", "e\u0301", "x" * 300, "12\n", "31.12.1990\n", "1.0\n", "\tN", "x y", "x,y", "x\\y", "'",
    '"',
]  # fmt: skip
DAYS = [None, *(dt.date(*day) for day in ((1990, 12, 31), (2000, 2, 29), (2024, 1, 1), (1969, 12, 31)))]
MOMENTS = [None, dt.datetime(1990, 12, 31), dt.datetime(1990, 12, 31, 0, 0, 0, 500000), dt.datetime(2000, 2, 29, 23)]
VALUES = {
    "id": [None, *range(300)],
    "t": [None, *TEXTS],
    "g": [None, "N", "S", "1.0", "1", "NA", "x y", "x,y", "x\\y", "Ä", "z"],
    "f": [None, 0.0, 1.0, -0.0, 2.5, float("nan"), float("inf"), float("-inf"), 1e300, 0.1],
    "i": [None, 0, 1, 2, 7],
    "h": [None, 0, 2**53, 2**53 + 1, -(2**63), 2**63 - 1],
    "n": [None, Decimal("0.00000"), Decimal("1.00000"), Decimal("2.50000"), Decimal("123456789012.12345")],
    "b": [None, True, False],
    "d": DAYS,
    "m": MOMENTS,
}
ARROW = {
    "id": pa.int32(), "t": pa.string(), "g": pa.string(), "f": pa.float64(), "i": pa.int32(), "h": pa.int64(),
    "n": pa.decimal128(20, 5), "b": pa.bool_(), "d": pa.date32(), "m": pa.timestamp("us"),
}  # fmt: skip
POSTGRES = {
    "id": "int", "t": "text", "g": "text", "f": "float8", "i": "int", "h": "bigint", "n": "numeric(20, 5)", "b": "bool",
    "d": "date", "m": "timestamp",
}  # fmt: skip
DESCRIPTIONS = {
    "coded": Description(
        {
            "t": ColumnDescription("yes/no", yes=("ja", "yes", "1"), no=("nein", "no", "0", "straße", "äöü")),
            "g": ColumnDescription("category"),
            "f": ColumnDescription("number", least=0, most=5),
            "i": ColumnDescription("category", values=(1, 2)),
            "h": ColumnDescription("number"),
            "n": ColumnDescription("number", most=100),
            "b": ColumnDescription("yes/no"),
            "id": ColumnDescription("identifier"),
        },
        person="id",
    ),
    "marks": Description(
        {
            "t": ColumnDescription("number", least=-10),
            "g": ColumnDescription("category", values=("N", "S", "1.0")),
        },
        Format(decimal=",", thousands=".", missing=("x y", "7", "0", "1990-12-31")),
    ),
    "plain": Description(
        {
            "t": ColumnDescription("number"),
            "g": ColumnDescription("category", values=(1, 2)),
            "i": ColumnDescription("yes/no", yes=("1",), no=("2",)),
            "f": ColumnDescription("yes/no"),
        },
        Format(missing=("7", "0", "NA")),
    ),
    "dates": Description(
        {
            "t": ColumnDescription("date", form="%d.%m.%Y"),
            "g": ColumnDescription("category", values=("NA", "N", "x,y")),
        }
    ),
}
QUESTIONS = [
    "majority(t)", "majority(b)", "majority(i)", "majority(f)", "majority(n)", "median(f, above=1)",
    "median(t, above=3)", "median(h, above=9007199254740992)", "median(n, above=1)",
    "threshold(t == 'N', at_least=1)",
    "threshold(t >= 1990-12-31, at_least=3)", "threshold(d < 2000-02-29, at_least=3)",
    "threshold(m > 1990-12-31, at_least=3)", "threshold(m <= '1990-12-31 00:00:00.5', at_least=3)",
    "mode(g, categories=['N', 'S', '1'])", "mode(i, categories=[1, 2])", "mode(g, categories=[1, 2])",
    "mode(g, categories=['NA', 'N'])",
    "majority(g, yes='N', no=['S', 'x y'])", "exists(t in ['x', 'N', 'é'])", "majority(i, yes=1, no=2)",
    "threshold(t between 1 and 20, at_least=1)", "threshold(not t == 'x' or b, at_least=1)",
    "threshold(t < 'x', at_least=1)",
]  # fmt: skip
BYS = ["g", "i", "f", "b", "t", "h", "n", "d", "m", ("g", "b"), ("t", "g", "i")]


def messy_rows(seed, count):
    """Rows in which anything stands beside anything."""
    dice = random.Random(seed)
    return [{name: dice.choice(values) for name, values in VALUES.items()} for _ in range(count)]


def as_arrow(rows):
    """The rows as an Arrow table, each column with its type."""
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in ARROW.items()})


def in_postgres(rows, address):
    """The rows as a table of a PostgreSQL server."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE messy ({', '.join(f'{name} {kind}' for name, kind in POSTGRES.items())})")
        with cursor.copy("COPY messy FROM STDIN") as copy:
            for row in rows:
                copy.write_row([row[name] for name in POSTGRES])
    return f"{address}#messy"


def in_duckdb(rows, path):
    """The rows in a file of DuckDB's own."""
    connection = duckdb.connect(str(path))
    connection.register("rows", as_arrow(rows))
    connection.execute("CREATE TABLE messy AS SELECT * FROM rows")
    connection.close()
    return path


def in_parquet(rows, path):
    """The rows in a Parquet file."""
    pq.write_table(as_arrow(rows), path)
    return path


def written(value):
    """A value as text, as programs write it."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_csv(rows, path):
    """The rows in a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(VALUES)
        writer.writerows([written(row[name]) for name in VALUES] for row in rows)
    return path


def in_json_lines(rows, path):
    """The rows as JSON lines of texts."""
    path.write_text("".join(json.dumps({n: written(v) for n, v in row.items()}) + "\n" for row in rows), "utf-8")
    return path


def in_sqlite(rows, path):
    """The rows in an SQLite file: whole numbers as such, all else as text."""
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE messy ({', '.join(VALUES)})")
        marks = ", ".join("?" * len(VALUES))
        connection.executemany(
            f"INSERT INTO messy VALUES ({marks})",  # noqa: S608 # marks only
            [[v if type(v) is int else written(v) for v in row.values()] for row in rows],
        )
    connection.close()
    return path


def everything(source, questions=QUESTIONS, units=(None, "id")):
    """Whatever can be asked of a source, and what it counts."""
    found, known = {}, source.description.columns if source.description else VALUES
    bys = [by for by in BYS if set(by) <= set(known)]
    for at, text in enumerate(questions):
        question = parse(text)
        for unit in units:
            try:
                counts = source.count(question, unit=unit)
            except ParameterError as error:
                found[text, unit] = "refused" if "holds" not in str(error) else "of another type"
                continue
            found[text, unit] = (counts.rows, counts.classes, counts.missing)
            for by in (bys[at % len(bys)], bys[(3 * at + 4) % len(bys)]):
                for groups in (None, ["N", "1", "2", "yes", "x"]) if isinstance(by, str) else (None,):
                    for each in (1, 2) if unit else (1,):
                        try:
                            batches = list(
                                source.group_batches(question, by, unit=unit, groups=groups, per_person=each)
                            )
                        except ParameterError as error:
                            found[text, unit, by] = "refused" if "holds" not in str(error) else "of another type"
                            continue
                        found[text, unit, by, str(groups), each] = [
                            (batch.labels, batch.classes.tolist(), batch.missing.tolist(), batch.rows)
                            for batch in batches
                        ]
    return found


def require_equal(found, reference, *, types=True):
    """The same counts wherever both have some; without ``types`` one of them may read more, being all text."""
    compared = 0
    for key, counts in reference.items():
        if not types and "of another type" in (counts, found.get(key, "of another type")):
            continue
        assert found[key] == counts, key
        compared += counts != "refused"
    return compared


FULL = os.environ.get("TINCT_EVIDENCE") == "1"
ROWS = 30_000 if FULL else 3000


@pytest.mark.parametrize("name", [None, *DESCRIPTIONS])
def test_tables_of_a_server_and_of_files_count_alike(database, tmp_path, name):
    """PostgreSQL, DuckDB's files, Parquet and Arrow have types, and give the same counts."""
    description, rows = DESCRIPTIONS.get(name), messy_rows(f"types {name}", ROWS)
    with sources.open(as_arrow(rows), description) as source:
        reference = everything(source)
    for data in (
        in_postgres(rows, database),
        in_duckdb(rows, tmp_path / "rows.duckdb"),
        in_parquet(rows, tmp_path / "rows.parquet"),
    ):
        with sources.open(str(data), description) as source:
            assert require_equal(everything(source), reference) > 10


@pytest.mark.parametrize("name", [None, *DESCRIPTIONS])
def test_text_files_and_sqlite_count_alike(tmp_path, name):
    """Where all cells are text, CSV, JSON lines and SQLite agree; where they are described, with typed tables too."""
    description, rows = DESCRIPTIONS.get(name), messy_rows(f"texts {name}", ROWS)
    with sources.open(in_csv(rows, tmp_path / "rows.csv"), description) as source:
        reference = everything(source)
    for data in (in_json_lines(rows, tmp_path / "rows.jsonl"), in_sqlite(rows, tmp_path / "rows.db")):
        with sources.open(data, description) as source:
            assert require_equal(everything(source), reference) > 10
    if description is not None:
        with sources.open(as_arrow(rows), description) as source:
            assert require_equal(everything(source), reference, types=False) > 10


# engines that we do not run

KINDS = {
    "id": "whole", "t": "text", "g": "text", "f": "float", "i": "whole", "h": "whole", "n": "decimal", "b": "boolean",
    "d": "moment", "m": "moment",
}  # fmt: skip
MARIADB = {
    "id": "int", "t": "text", "g": "varchar(20)", "f": "double", "i": "int", "h": "bigint", "n": "decimal(20, 5)",
    "b": "boolean", "d": "date", "m": "datetime(6)",
}  # fmt: skip


def statements(dialect, description):
    """Every statement of ``everything``, written down."""
    table = StatementSource(dialect, "survey.messy", KINDS)
    source, found = table.described_by(description) if description else table, []
    for at, text in enumerate(QUESTIONS):
        by, groups = BYS[at % len(BYS)], ["N", "O'Neil", "back\\slash"] if at % 2 else None
        for options in ({}, {"unit": "id"}, {"by": by}, {"by": "g", "groups": groups, "unit": "id"},
                        {"by": by, "unit": "id", "per_person": 2}, {"where": "g == 'x' or not i >= 2"}):  # fmt: skip
            try:
                found.append(source.statement(text, **options))
            except ParameterError:
                continue
    return found


@pytest.mark.parametrize("name", [None, *DESCRIPTIONS])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_rendered_statements_are_in_the_language_of_their_engine(dialect, name):
    """A parser of each language takes them, and reads one statement; no cast of a text can fail."""
    sqlglot = pytest.importorskip("sqlglot")
    language = {"postgresql": "postgres", "mariadb": "mysql"}.get(dialect, dialect)
    found = statements(dialect, DESCRIPTIONS.get(name))
    assert len(found) > 3
    for statement in found[:: 1 if FULL else 4]:
        (tree,) = sqlglot.parse(statement, read=language, error_level=sqlglot.ErrorLevel.RAISE)
        assert isinstance(tree, sqlglot.exp.Select)
        assert [table.name for table in tree.find_all(sqlglot.exp.Table)] == ["messy"]
        if dialect not in (*TESTED, "mysql", "mariadb"):  # where MySQL cannot cast, it warns and gives a number
            for cast in tree.find_all(sqlglot.exp.Cast):
                if type(cast) is sqlglot.exp.Cast and cast.to.is_type(*sqlglot.exp.DataType.NUMERIC_TYPES):
                    assert isinstance(cast.this, sqlglot.exp.Column | sqlglot.exp.AggFunc | sqlglot.exp.Literal)
                    assert cast.this.name not in ("t", "g")


def test_a_parser_is_not_enough_to_translate():
    """Why phrases are written by hand: translated, a guarded cast becomes one that fails, or another meaning."""
    sqlglot = pytest.importorskip("sqlglot")
    (guarded,) = sqlglot.transpile("SELECT TRY_CAST(t AS DOUBLE) FROM x", read="duckdb", write="mysql")
    assert "TRY" not in guarded
    (whole,) = sqlglot.transpile("SELECT regexp_full_match(t, 'a') FROM x", read="duckdb", write="trino")
    assert "REGEXP_FULL_MATCH" in whole  # there is no such function


def test_a_statement_that_nobody_runs_is_refused_before_the_charge(tmp_path):
    """Wrong declarations are too; what the driver raises is replaced by a sentence that says nothing."""
    table = StatementSource("trino", "survey.people", {"vote": "text"})
    assert "not run by us" in " ".join(table.rules)
    with pytest.raises(FileError, match="nothing runs the statement"):
        ask(table, "majority(vote)", 1)
    votes = {"vote": "text"}
    for wrong in (("oracle", "people", votes), ("trino", "", votes), ("trino", "p", {"v": "blob"}), ("trino", "p", {})):
        with pytest.raises(ParameterError):
            StatementSource(*wrong)

    def broken(_):
        raise ValueError("patient 17 has measles")

    for run in (broken, lambda _: [("measles",)], lambda _: 17):
        with pytest.raises(FileError) as caught:
            ask(StatementSource("trino", "survey.people", {"vote": "text"}, run), "majority(vote)", 1)
        assert "measles" not in str(caught.value)
        assert caught.value.__context__ is None


def test_somebodys_own_driver_counts_as_tinct_does():
    """The statement, run by hand."""
    rows = messy_rows("own driver", 500)
    with duckdb.connect() as connection:
        connection.register("messy", as_arrow(rows))
        own = StatementSource("duckdb", "messy", KINDS, lambda statement: connection.sql(statement).fetchall())
        with sources.open(as_arrow(rows)) as source:
            asked = QUESTIONS[:: 1 if FULL else 4]
            assert require_equal(everything(own, asked), everything(source, asked)) > 10


if "TINCT_MARIADB" in os.environ:  # the socket of a server; there is none in the usual run

    @pytest.mark.parametrize("name", [None, *DESCRIPTIONS])
    def test_mariadb_counts_alike(name):
        """What it cannot store, it does not have: NaN and infinities are NULL there."""
        pymysql = pytest.importorskip("pymysql")
        description, rows = DESCRIPTIONS.get(name), messy_rows(f"mariadb {name}", ROWS)
        for row in rows:
            row["f"] = None if row["f"] is not None and not abs(row["f"]) < float("inf") else row["f"]
        connection = pymysql.connect(unix_socket=os.environ["TINCT_MARIADB"], charset="utf8mb4", autocommit=True)
        with connection, connection.cursor() as cursor:
            cursor.execute("CREATE OR REPLACE DATABASE tinct_test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
            cursor.execute("USE tinct_test")
            cursor.execute(f"CREATE TABLE messy ({', '.join(f'{name} {kind}' for name, kind in MARIADB.items())})")
            marks = ", ".join(["%s"] * len(MARIADB))
            cursor.executemany(f"INSERT INTO messy VALUES ({marks})", [tuple(row.values()) for row in rows])  # noqa: S608

            def run(statement):
                cursor.execute(statement)
                return cursor.fetchall()

            table = StatementSource("mariadb", "tinct_test.messy", KINDS, run)
            with sources.open(as_arrow(rows), description) as source:
                reference = everything(source)
            found = everything(table.described_by(description) if description else table)
        assert require_equal(found, reference) > 10
