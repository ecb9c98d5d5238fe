"""Tables of DuckDB: one in a file, which is attached for reading and closed to everything else, or a relation.

Views and relations compute their rows: what fails there fails here too, with an error that quotes nothing.
"""

from __future__ import annotations

import re
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError
from tinct.sources.columns import Column, Schema, kind_of_type, quoted
from tinct.sources.data_files import chosen_table
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import DATABASE, VIEW, Engine, Private, guarded
from tinct.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tinct.sources.data_files import DataFiles
    from tinct.sources.duckdb_engine import Way


# one header for the file, and two of which the last that was written holds: its number, two places, blocks, their size
_LENGTH, _HEADERS, _FIELDS = 3 * 4096, (4096 + 8, 8192 + 8), struct.Struct("<QqqQQ")
_SIZES = [2**power for power in range(14, 19)]
_TABLES = (
    f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '{DATABASE}' AND NOT internal "  # noqa: S608 # ours
    f"UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = '{DATABASE}' AND NOT internal "
    "ORDER BY ALL"
)


def open_duckdb(files: DataFiles) -> Source:
    """The rows of a table or view; one in another schema than main is named with it."""
    path = files.path
    _require_database(path)
    opened = guarded(lambda: Private(attached=str(path)))
    if opened.reason is not None:
        raise FileError(
            "this database cannot be opened: another program writes to it, it is encrypted or damaged, or a newer "
            "DuckDB made it",
            path=path,
        )
    private: Private = opened.value
    try:
        return _source(files, private)
    except BaseException:
        private.close()
        raise


def _source(files: DataFiles, private: Private) -> Source:
    tables = {}
    for schema, table in private.connection.execute(_TABLES).fetchall():
        tables[table if schema == "main" else f"{schema}.{table}"] = f"{DATABASE}.{quoted(schema)}.{quoted(table)}"
    rows = tables[chosen_table(list(tables), files, "table")]
    found = guarded(lambda: private.connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall())  # noqa: S608 # names are quoted
    if found.reason is not None:
        raise FileError("this view cannot be computed from the database alone", path=files.name)
    names, types = names_of(each[0] for each in found.value), [each[1] for each in found.value]
    columns = [
        Column(name, f"c{at}", kind_of_type(kind)) for at, (name, kind) in enumerate(zip(names, types, strict=True))
    ]
    safe = {
        column.identifier: safe_cell(quoted(column.name), kind) for column, kind in zip(columns, types, strict=True)
    }

    def ways(used: list[Column]) -> Iterator[Way]:
        cells = ", ".join(f"{safe[column.identifier]} AS {column.identifier}" for column in used)
        yield private.reading(f"(SELECT {cells} FROM {rows})")  # noqa: S608 # names are quoted

    return Source(Engine(files.name, ways, private.close), Schema(columns), place=files.place)


def _require_database(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(_LENGTH)
    if not head:
        raise FileError("the file is empty", path=path)
    if head[8:12] != b"DUCK":
        raise FileError("this is not a DuckDB database", path=path)
    headers = [_FIELDS.unpack_from(head, at) for at in _HEADERS] if len(head) == _LENGTH else []
    _, *_, blocks, size = max(headers, default=(0, 0, 0, 1, _LENGTH))  # the one that was written last
    if path.stat().st_size < _LENGTH + (blocks * size if size in _SIZES else 0):
        raise FileError("the database is cut off: it ends before its last block", path=path)


# relations: the caller's own query on the caller's own engine, with its cells made safe before they are read


# moments outside make the engine stop when they are written as text, and its database with it
_RANGES = {
    "DATE": ("'285000-01-01 (BC)'", "'285000-01-01'"),
    "TIMESTAMP": ("'285000-01-01 (BC)'", "'285000-01-01'"),
    "TIMESTAMP WITH TIME ZONE": ("'285000-01-01 (BC) 00:00:00+00'", "'285000-01-01 00:00:00+00'"),
    "TIMESTAMP_S": ("'285000-01-01 (BC)'", "'285000-01-01'"),
    "TIMESTAMP_MS": ("'285000-01-01 (BC)'", "'285000-01-01'"),
    "TIMESTAMP_NS": ("'1678-01-01'", "'2262-04-11'"),
    "TIME": ("'00:00:00'", "'23:59:59.999999'"),
    "TIME_NS": ("'00:00:00'", "'23:59:59.999999999'"),
}


def open_relation(relation: Any) -> Source:
    """The rows of a DuckDB relation."""
    names, types = names_of(relation.columns), [str(kind) for kind in relation.types]
    if not names:
        raise FileError("the DuckDB relation: there are no columns")
    columns, safe = [], {}
    for at, (name, kind) in enumerate(zip(names, types, strict=True)):
        column = Column(name, f"c{at}", kind_of_type(kind))
        columns.append(column)
        safe[column.identifier] = safe_cell(quoted(name), kind)

    @contextmanager
    def reading(used: list[Column]) -> Iterator[tuple[Callable[[str], Any], str]]:
        cells = ", ".join(f"{safe[column.identifier]} AS {column.identifier}" for column in used)
        yield lambda statement: relation.query(VIEW, statement), f"(SELECT {cells} FROM {VIEW})"  # noqa: S608 # names are quoted

    def ways(used: list[Column]) -> Iterator[Way]:
        yield reading(used)

    return Source(Engine("the DuckDB relation", ways), Schema(columns))


def safe_cell(cell: str, kind: str) -> str:
    """An SQL expression that is the cell, or NULL if the engine would stumble over it."""
    if kind in _RANGES:
        least, most = (f"CAST({each} AS {kind})" for each in _RANGES[kind])
        return f"CASE WHEN {cell} BETWEEN {least} AND {most} THEN {cell} END"
    if digits := re.fullmatch(
        r"DECIMAL\((\d+),(\d+)\)", kind
    ):  # one that came from Arrow may have more digits than that
        whole, fraction = "9" * (int(digits[1]) - int(digits[2])), "9" * int(digits[2])
        least, most = (f"CAST('{sign}0{whole}.{fraction}' AS {kind})" for sign in ("-", ""))
        return f"CASE WHEN {cell} BETWEEN {least} AND {most} THEN {cell} END"
    if kind == "VARCHAR":  # one that came from Arrow was never checked for being UTF-8
        return f"TRY(decode(encode({cell})))"
    return cell
