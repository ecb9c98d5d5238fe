"""Where rows come from: files, data frames and DuckDB relations, counted by DuckDB (the extra ``data``)."""

from tinct.sources._open import ArrowStream, DataLike, Frame, open  # noqa: A004 # it reads as sources.open
from tinct.sources.csv_on_the_web import from_csvw, to_csvw
from tinct.sources.description import ColumnDescription, Description, Format
from tinct.sources.draft import describe
from tinct.sources.own_rows import RowSource
from tinct.sources.own_statements import StatementSource
from tinct.sources.source import Source
from tinct.sources.standard_input import StandardInput

__all__ = [
    "ArrowStream",
    "ColumnDescription",
    "DataLike",
    "Description",
    "Format",
    "Frame",
    "RowSource",
    "Source",
    "StandardInput",
    "StatementSource",
    "describe",
    "from_csvw",
    "open",
    "to_csvw",
]
