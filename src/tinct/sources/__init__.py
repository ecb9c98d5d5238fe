"""Where rows come from: files, data frames and DuckDB relations, counted by DuckDB (the extra ``data``)."""

from tinct.sources.opening import open  # noqa: A004 # it reads as sources.open
from tinct.sources.source import Source

__all__ = ["Source", "open"]
