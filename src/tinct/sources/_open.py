"""Opening a source: from a path or a frame to rows that can be counted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tinct._files import suffix_of
from tinct.errors import ParameterError
from tinct.sources import data_frames, text_files
from tinct.sources.description import Description, Format
from tinct.sources.duckdb_engine import duckdb, pyarrow
from tinct.sources.duckdb_relations import open_relation
from tinct.sources.parquet_files import open_parquet
from tinct.sources.postgres_tables import is_address, open_table
from tinct.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct._files.loading import FilePath


class Frame(Protocol):
    """A pandas, Polars or Spark DataFrame, an Arrow Table or a DuckDB relation: all have columns."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


DataLike: TypeAlias = str | os.PathLike[str] | Source | Frame

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")


def open(data: DataLike, description: Description | None = None) -> Source:  # noqa: A001 # it reads as sources.open
    """The rows of a file or a data frame, ready to be counted.

    Args:
        data: the path of a .csv, .tsv, .parquet, .jsonl or .ndjson file; a pandas, Polars or Spark DataFrame; an Arrow
            Table; a DuckDB relation; or a Source.
        description: what its owner says about its columns and how cells are written.
    """
    if description is None:
        return _opened(data, Format())
    description.require_confirmed()
    return _opened(data, description.format).described_by(description)


def _opened(data: DataLike, written: Format) -> Source:
    if isinstance(data, Source):
        return data
    if isinstance(data, str) and is_address(data):
        return open_table(data)
    if isinstance(data, str | os.PathLike):
        return _open_file(Path(os.path.abspath(os.fspath(data))), data, written)
    if type(data).__module__.split(".")[0] == "pyspark":
        from tinct.sources.spark_frames import open_frame

        return open_frame(data)
    for library, (kinds, make) in _FRAMES.items():
        if type(data).__module__.split(".")[0].lstrip("_") == library and type(data).__name__ in kinds:
            duckdb()
            return make(data)
    raise ParameterError(
        "data must be the path of a file, a pandas, Polars or Spark DataFrame, an Arrow Table or a DuckDB relation, "
        f"got {type(data).__name__}"
    )


def _open_file(path: Path, given: FilePath, written: Format) -> Source:
    suffix = suffix_of(given, SUFFIXES)
    text_files.require_file(path)
    duckdb(), pyarrow()
    if suffix == ".parquet":
        text_files.require_parquet(path)
        return open_parquet(path)
    if suffix in (".csv", ".tsv"):
        return text_files.open_delimited(path, suffix, written)
    return text_files.open_json_lines(path)


_FRAMES: dict[str, tuple[tuple[str, ...], Callable[[Any], Source]]] = {
    "pandas": (("DataFrame",), data_frames.open_pandas),
    "polars": (("DataFrame", "LazyFrame"), data_frames.open_polars),
    "pyarrow": (("Table", "RecordBatch"), data_frames.open_arrow),
    "duckdb": (("DuckDBPyRelation",), open_relation),
}
