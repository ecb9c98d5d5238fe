"""A table or view of a PostgreSQL database, counted by the server in one read-only statement.

Only counts leave the server. Its messages may quote cells and addresses may hold passwords, so neither leaves this
module. A view computes its rows: what fails in that computation fails here too, with an error that quotes nothing.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from tinct.errors import FileError, ParameterError
from tinct.ledger.postgres import PostgresStore
from tinct.questions.predicates import require_printable
from tinct.sources.columns import BOOLEAN, DECIMAL, FLOAT, MOMENT, OTHER, STRING, WHOLE, Column, Schema, quoted
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import pyarrow
from tinct.sources.source import Source
from tinct.sources.sql_dialects import POSTGRESQL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinct.sources.counting_sql import Statement

PREFIXES = ("postgresql://", "postgres://")
_TIMEOUT = 30.0  # seconds to wait for the server to answer at all
_KINDS = {
    "int2": WHOLE, "int4": WHOLE, "int8": WHOLE, "numeric": DECIMAL, "float4": FLOAT, "float8": FLOAT, "bool": BOOLEAN,
    "text": STRING, "varchar": STRING, "bpchar": STRING, "uuid": STRING, "date": MOMENT, "time": MOMENT,
    "timestamp": MOMENT, "timestamptz": MOMENT,
}  # fmt: skip
# text is written in one way, whatever the session's settings; names mean the server's own; nothing can be written
_SETTINGS = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL search_path = pg_catalog, pg_temp",
    "SET LOCAL DateStyle = ISO",
    "SET LOCAL TimeZone = UTC",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL standard_conforming_strings = on",
)
_COLUMNS = (
    "SELECT a.attname, coalesce(CASE WHEN t.typtype = 'e' THEN 'text' END, b.typname, t.typname) "
    "FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_type AS b ON b.oid = t.typbasetype "
    "WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
)
_TABLE = (
    "SELECT c.oid, has_any_column_privilege(c.oid, 'SELECT') "
    "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname = %s AND n.nspname = %s"
)


def open_table(address: str) -> Source:
    """The rows of a table or view: postgresql://user@host/database#schema.table; the schema may be left out."""
    url, table = split_address(address)
    engine = _PostgresEngine(url, table)
    columns = engine.columns()
    return Source(engine, Schema(columns), place=engine.name)  # type: ignore[arg-type] # it runs statements like one


def split_address(address: str) -> tuple[str, tuple[str, str]]:
    """The address of the database, and the schema and name of the table.

    >>> split_address("postgresql://host/db#survey.people"), split_address("postgresql://host/db#people")[1]
    (('postgresql://host/db', ('survey', 'people')), ('public', 'people'))
    """
    url, sign, named = address.rpartition("#")
    if not sign or not named:
        raise ParameterError("name the table behind the address: postgresql://user@host/database#schema.table")
    schema, _, name = unquote(named).rpartition(".")
    for part in (schema or "public", name):
        require_printable(part, "the name of a table", 63)
        if not part:
            raise ParameterError("name the table behind the address: postgresql://user@host/database#schema.table")
    return url, (schema or "public", name)


class _PostgresEngine:
    """Runs counting statements on a server; ``name`` has neither user nor password."""

    def __init__(self, url: str, table: tuple[str, str]) -> None:
        self._store = PostgresStore(url, _TIMEOUT)
        self._table = table
        self.name = f"{self._store.name}#{'.'.join(table)}"
        self.sql = POSTGRESQL

    def columns(self) -> list[Column]:
        """The columns of the table, with what they hold by their declared types."""
        with self._session() as session:
            found = session.execute(_TABLE, (self._table[1], self._table[0])).fetchall()
            if not found:
                raise FileError("there is no such table or view, or it may not be seen", path=self.name)
            if not found[0][1]:
                raise FileError("the user may not read it", path=self.name)
            listed = session.execute(_COLUMNS, (found[0][0],)).fetchall()
        names = names_of(name for name, _ in listed)
        if not names:
            raise FileError("there are no columns", path=self.name)
        return [
            Column(name, quoted(name), _KINDS.get(kind, OTHER)) for name, (_, kind) in zip(names, listed, strict=True)
        ]

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        """The rows a statement returns."""
        with self._session() as session:
            return list(session.execute(self._text(statement)).fetchall())

    def arrays(self, statement: Statement) -> dict[str, Any]:
        """The columns a statement returns, as masked arrays."""
        with self._session() as session:
            cursor = session.execute(self._text(statement))
            names, rows = [each.name for each in cursor.description], cursor.fetchall()
        return {name: masked_array([row[at] for row in rows]) for at, name in enumerate(names)}

    def batches(self, statement: Statement, size: int) -> Iterator[Any]:
        """The rows a statement returns as Arrow batches, as they come from the server."""
        arrow = pyarrow()
        with self._session() as session, session.cursor() as cursor:
            found = cursor.stream(self._text(statement))  # for a cursor of its own, the server would use one process
            while rows := list(islice(found, size)):
                names = [each.name for each in cursor.description]
                columns = [
                    arrow.array([row[at] for row in rows], arrow.string() if name == "label" else arrow.int64())
                    for at, name in enumerate(names)
                ]
                yield arrow.RecordBatch.from_arrays(columns, names=names)

    def close(self) -> None:
        """Nothing is held open."""

    def _text(self, statement: Statement) -> str:
        schema, name = self._table
        return statement.text(f"{quoted(schema)}.{quoted(name)} AS t")

    @contextmanager
    def _session(self) -> Iterator[Any]:
        """A connection inside a read-only transaction with one snapshot."""
        with self._store.connected() as connection:
            failure = None
            try:
                for setting in _SETTINGS:
                    connection.execute(setting)
                encoding = connection.execute("SHOW server_encoding").fetchone()[0]
                if encoding != "UTF8":
                    raise FileError(f"the database must be encoded in UTF8, not {encoding}", path=self.name)
                yield connection
            except (FileError, ParameterError):
                raise
            except self._store.error as error:  # its words may quote a cell
                failure = _reason(getattr(error, "sqlstate", None))
        if failure is not None:
            raise FileError(failure, path=self.name)


def _reason(state: str | None) -> str:
    known = {
        "42501": "the user may not read it",
        "57014": "the server ended the statement",
        "53100": "the server's disk is full",
        "53200": "the server is out of memory",
    }
    return known.get(state or "", "the server cannot count it to the end, or the connection was lost")


def masked_array(values: list[Any]) -> Any:
    """Labels or whole numbers, masked where there are none."""
    absent = [value is None for value in values]
    is_text = any(isinstance(value, str) for value in values)
    kind: Any = object if is_text or all(absent) else np.int64
    filled = [("" if is_text else 0) if value is None else value for value in values]
    return np.ma.MaskedArray(np.array(filled, kind), absent)


def is_address(data: object) -> bool:
    """Whether data is named by the address of a database.

    >>> is_address("postgresql://host/db#people"), is_address("survey.csv")
    (True, False)
    """
    return isinstance(data, str) and bool(re.match("|".join(map(re.escape, PREFIXES)), data))
