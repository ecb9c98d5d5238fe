"""Anything that speaks the Arrow stream interface: tables of other libraries, readers, results of database drivers.

Many can be read but once, and do not say so. So all of it is read into memory, once, when rows are first counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.errors import FileError, ParameterError
from tinct.sources.data_frames import names_of, source_of_columns
from tinct.sources.duckdb_engine import guarded, pyarrow

if TYPE_CHECKING:
    from tinct.sources.source import Source

_NAME = "the Arrow stream"


def open_stream(stream: Any) -> Source:
    """The rows of an object with ``__arrow_c_stream__``; its schema is asked for now, its rows later."""
    arrow = pyarrow()
    found = guarded(lambda: arrow.RecordBatchReader.from_stream(stream))
    if found.reason is not None:
        raise ParameterError(
            f"data must be the path of a file, a table or a data frame: the Arrow stream of {type(stream).__name__} "
            "has no columns"
        )
    reader = found.value
    tables: list[Any] = []

    def whole() -> Any:
        if not tables:
            tables.append(None)  # a second reading would begin where a first one failed, or find nothing
            tables[0] = reader.read_all()
        if tables[0] is None:
            raise FileError("the stream broke off, and cannot be read twice: make a new one", path=_NAME)
        return tables[0]

    kinds = list(reader.schema.types)
    loads = [lambda _, at=at: whole().column(at) for at in range(len(kinds))]
    return source_of_columns(_NAME, names_of(reader.schema.names), kinds, loads)
