"""DuckDB relations: the caller's own query on the caller's own engine, with its cells made safe before they are read.

A relation computes its rows. What fails in that computation fails here too, with an error that quotes nothing.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError
from tinct.sources.columns import Column, Schema, kind_of_type, quoted
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import VIEW, Engine
from tinct.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinct.sources.duckdb_engine import Way

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
