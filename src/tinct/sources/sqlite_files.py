"""A table or view in an SQLite file, read in one statement, which sees one state of it.

SQLite has a type for each value, and none that binds a column: all columns are cells. Text that is not UTF-8 and bytes
are missing. A view computes its rows: what fails in that computation fails here too, with an error that quotes nothing.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError
from tinct.sources.columns import CELL, Column, Schema, quoted
from tinct.sources.data_files import chosen_table
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import Engine, Private, pyarrow
from tinct.sources.source import Source
from tinct.sources.typed_cells import cell_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tinct.sources.data_files import DataFiles
    from tinct.sources.duckdb_engine import Way

_MAGIC = b"SQLite format 3\0"
_BATCH = 2**14  # rows
_TIMEOUT = 5.0  # seconds to wait for whoever writes
_TABLES = (
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name"
)
# nothing is written, and a view calls no function that its file brings along
_SETTINGS = ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")


def open_sqlite(files: DataFiles) -> Source:
    """The rows of a table or view."""
    path = files.path
    _require_database(path)
    with closing(_connected(path)) as connection:
        listed = [_text(name) or "" for (name,) in _asked(path, lambda: connection.execute(_TABLES).fetchall())]
        table = chosen_table(listed, files, "table")
        # one row at most, and not even that: what is asked for are the names
        none = f"SELECT * FROM {quoted(table)} LIMIT 0"  # noqa: S608 # the name is quoted
        found = _asked(path, lambda: connection.execute(none).description)
    names = names_of(each[0] for each in found)
    columns = [Column(name, f"c{at}", CELL) for at, name in enumerate(names)]
    private = Private()

    def ways(used: list[Column]) -> Iterator[Way]:
        schema = pyarrow().schema([(column.identifier, pyarrow().large_string()) for column in used])
        yield private.streaming(schema, _batches(files, table, used, schema))

    return Source(Engine(files.name, ways, private.close), Schema(columns), place=files.place)


def _batches(files: DataFiles, table: str, used: list[Column], schema: Any) -> Iterator[Any]:
    arrow = pyarrow()
    cells = [quoted(column.name) for column in used]
    # bytes are told from text here: both come as bytes, so that text that is none is missing and no error
    safe = ", ".join(f"CASE typeof({cell}) WHEN 'blob' THEN NULL ELSE {cell} END" for cell in cells)
    writers = [cell_text(column) for column in used]
    with closing(_connected(files.path)) as connection:
        rows = _asked(files.path, lambda: connection.execute(f"SELECT {safe} FROM {quoted(table)}"))  # noqa: S608 # names are quoted
        while found := _asked(files.path, lambda: rows.fetchmany(_BATCH)):
            columns = zip(*found, strict=True)
            arrays = [
                arrow.array([write(_text(cell)) for cell in column], arrow.large_string())
                for write, column in zip(writers, columns, strict=True)
            ]
            yield arrow.RecordBatch.from_arrays(arrays, schema=schema)


def _text(value: Any) -> Any:
    """A value with its text decoded; None if it cannot be."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _require_database(path: Path) -> None:
    with path.open("rb") as file:
        head, size = file.read(100), os.fstat(file.fileno()).st_size
    if not head:
        raise FileError("the file is empty", path=path)
    if head[8:12] == b"DUCK":
        raise FileError("this is a DuckDB database: name it .duckdb", path=path)
    if head[:16] != _MAGIC:
        raise FileError("this is not an SQLite database, or it is encrypted", path=path)
    # pages and their size, as the file says; what is missing of the last page, the library would take for zeros
    page, pages = int.from_bytes(head[16:18], "big"), int.from_bytes(head[28:32], "big")
    if size < 100 or (head[24:28] == head[92:96] and size < pages * (65_536 if page == 1 else page)):
        raise FileError("the database is incomplete: it is shorter than it says", path=path)


def _connected(path: Path) -> sqlite3.Connection:
    # the engine may ask for rows from a thread of its own, one at a time
    connection = _asked(
        path,
        lambda: sqlite3.connect(f"{path.as_uri()}?mode=ro", timeout=_TIMEOUT, uri=True, check_same_thread=False),
    )
    connection.text_factory = bytes
    for setting in _SETTINGS:
        _asked(path, partial(connection.execute, setting))
    return connection  # type: ignore[no-any-return]


def _asked(path: Path, action: Callable[[], Any]) -> Any:
    """Ask the library; of its errors nothing is kept but their kind, since they may quote a cell."""
    try:
        return action()
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
    problem = "its rows cannot be read to the end: the database is damaged, or a view fails"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        problem = "another program is writing to the database: try again when it has finished"
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        problem = "the database cannot be opened for reading: files that belong to it are missing or not to be read"
    raise FileError(problem, path=path)
