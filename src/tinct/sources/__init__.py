"""Where rows come from: files, data frames and DuckDB relations, counted by DuckDB (the extra ``data``)."""

from tinct.sources._open import DataLike, Frame, open  # noqa: A004 # it reads as sources.open
from tinct.sources.description import ColumnDescription, Description, Format
from tinct.sources.own_rows import RowSource
from tinct.sources.source import Source

__all__ = ["ColumnDescription", "DataLike", "Description", "Format", "Frame", "RowSource", "Source", "open"]
