"""A table or view in a DuckDB file, which is attached for reading and closed to everything else.

A view computes its rows: what fails in that computation fails here too, with an error that quotes nothing.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tinct.errors import FileError
from tinct.sources.columns import Column, Schema, kind_of_type, quoted
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import DATABASE, Engine, Private, guarded
from tinct.sources.duckdb_relations import safe_cell
from tinct.sources.named_tables import chosen_table
from tinct.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
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
