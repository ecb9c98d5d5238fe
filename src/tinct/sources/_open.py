"""Opening a source: from a path or a frame to rows that can be counted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tinct.errors import ParameterError
from tinct.sources import data_frames
from tinct.sources.data_files import DUCKDB, PARQUET, SQLITE, WORKBOOKS, DataFiles, located
from tinct.sources.data_frames import open_stream
from tinct.sources.description import Description
from tinct.sources.duckdb_engine import duckdb, pyarrow
from tinct.sources.duckdb_tables import open_duckdb, open_relation
from tinct.sources.excel_workbooks import open_workbook
from tinct.sources.parquet_files import open_parquet
from tinct.sources.postgres_tables import is_address, open_table
from tinct.sources.source import Source
from tinct.sources.sqlite_files import open_sqlite
from tinct.sources.standard_input import StandardInput
from tinct.sources.text_files import open_delimited, open_json

if TYPE_CHECKING:
    from collections.abc import Callable


class Frame(Protocol):
    """A pandas, Polars or Spark DataFrame, an Arrow Table or a DuckDB relation: all have columns."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


class ArrowStream(Protocol):
    """Anything that speaks the Arrow stream interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows, as a capsule."""


DataLike: TypeAlias = str | os.PathLike[str] | Source | StandardInput | Frame | ArrowStream


def open(data: DataLike, description: Description | None = None) -> Source:  # noqa: A001 # it reads as sources.open
    """The rows of a file or a data frame, ready to be counted.

    Args:
        data: the path of a file (.csv, .tsv, .jsonl, .ndjson or .json, also with .gz or .zst behind; .parquet, .xlsx,
            .sqlite, .db, .duckdb), of a folder of such parts, or a pattern; a sheet or table is named behind it, as in
            data.db#people. The address of a PostgreSQL table; a pandas, Polars or Spark DataFrame; an Arrow Table, or
            anything with ``__arrow_c_stream__``; a DuckDB relation; or a Source.
        description: what its owner says about its columns and how cells are written.
    """
    if description is None:
        return _opened(data, Description())
    description.require_confirmed()
    return _opened(data, description).described_by(description)


def _opened(data: DataLike, described: Description) -> Source:
    if isinstance(data, Source):
        return data
    if isinstance(data, str) and is_address(data):
        return open_table(data)
    if isinstance(data, str | os.PathLike):
        return _open_files(located(data), described)
    if isinstance(data, StandardInput):
        return data.opened(lambda files: _open_files(files, described))
    if type(data).__module__.split(".")[0] == "pyspark":
        from tinct.sources.spark_frames import open_frame

        return open_frame(data)
    for library, (kinds, make) in _FRAMES.items():
        if type(data).__module__.split(".")[0].lstrip("_") == library and type(data).__name__ in kinds:
            duckdb()
            return make(data)
    if hasattr(type(data), "__arrow_c_stream__"):
        duckdb()
        return open_stream(data)
    raise ParameterError(
        "data must be the path of a file, a pandas, Polars or Spark DataFrame, an Arrow Table or a DuckDB relation, "
        f"got {type(data).__name__}"
    )


def _open_files(files: DataFiles, described: Description) -> Source:
    duckdb(), pyarrow()
    kind, known = files.kind, described.columns.keys()
    if kind == PARQUET:
        return open_parquet(files)
    if kind in WORKBOOKS:
        return open_workbook(files, known)
    if kind in SQLITE:
        return open_sqlite(files)
    if kind == DUCKDB:
        return open_duckdb(files)
    if kind in (".csv", ".tsv"):
        return open_delimited(files, described.format, known)
    return open_json(files, described.format)


_FRAMES: dict[str, tuple[tuple[str, ...], Callable[[Any], Source]]] = {
    "pandas": (("DataFrame",), data_frames.open_pandas),
    "polars": (("DataFrame", "LazyFrame"), data_frames.open_polars),
    "pyarrow": (("Table", "RecordBatch"), data_frames.open_arrow),
    "duckdb": (("DuckDBPyRelation",), open_relation),
}
