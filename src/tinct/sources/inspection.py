"""What stands in the data and how it is read, for the owner's eyes only: nothing here is private.

``tinct describe`` and ``tinct check`` show it to whoever holds the data anyway. No answer, plan or error is made of it.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.questions.predicates import LABEL, NUMBER
from tinct.sources.byte_streams import opened
from tinct.sources.cell_rules import day_pattern, first_reading, marks_of, second_reading
from tinct.sources.columns import DECIMAL, FLOAT, OTHER, PERSON, WHOLE, Column
from tinct.sources.counting_sql import joined
from tinct.sources.description import Format
from tinct.sources.sql_dialects import DUCKDB, DuckDB, text_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tinct.sources.source import Source

# ruff: noqa: S608 # names and words are quoted: see columns.py

MAX_SHOWN = 30
_BLOCK = 2**20  # bytes
MAX_DISTINCT = 1000  # of a column, beyond which its values are not listed
FORMS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
    "%d.%m.%Y %H:%M",
)  # fmt: skip
STYLES = (Format(), *(Format(decimal=mark, thousands=other) for mark, other in ((",", "."), (".", ","), (",", " "))))


@dataclass(frozen=True)
class ColumnContents:
    """What stands in a column. All of it is secret.

    Attributes:
        column: The column itself.
        rows: All rows.
        filled: Those with something in the cell.
        distinct: How many different things, about.
        numbers: How many cells are numbers, in each of ``STYLES``.
        days: How many cells are dates, in each of ``FORMS``.
        in_doubt: Whether a point in the numbers may stand between thousands.
        ranges: The least and the most of the numbers, in each of ``STYLES``; None if there are none.
        values: The most frequent things, with how often; empty if there are too many different ones.
    """

    column: Column
    rows: int
    filled: int
    distinct: int
    numbers: tuple[int, ...]
    days: tuple[int, ...]
    ranges: tuple[tuple[float | None, float | None], ...]
    values: tuple[tuple[str, int], ...]
    in_doubt: bool = False


@dataclass(frozen=True)
class CellsRead:
    """How the cells of one column are read for one use. All of it is secret.

    ``rows`` and ``blank`` count cells, marked as missing among the blank ones, and ``unread`` those that hold something
    and are missing all the same. ``spellings`` are the most frequent (text, what it is read as or None, how often).
    """

    column: str
    use: str
    rows: int
    blank: int
    unread: int
    spellings: tuple[tuple[str, str | None, int], ...]


class _Look:
    """A statement of its own, over some columns."""

    def __init__(self, columns: Iterable[Column], select: str) -> None:
        self.columns = list(dict.fromkeys(columns))
        self._select = select

    def text(self, scan: str) -> str:
        """The statement over what yields the rows."""
        return self._select.replace("{scan}", scan)


def contents_of(source: Source) -> list[ColumnContents]:
    """What stands in each column of a source that lists its columns."""
    columns = [column for column in _columns(source) if column.kind != OTHER]
    parts = [part for column in columns for part in _totals(column)]
    (found,) = _rows(source, _Look(columns, f"SELECT {', '.join(parts)} FROM {{scan}}"))
    width = len(_totals(columns[0]))
    listed = []
    for at, column in enumerate(columns):
        rows, filled, distinct, grouped, other, *rest = found[at * width : (at + 1) * width]
        looks = [tuple(rest[begin : begin + 3]) for begin in range(0, 3 * len(STYLES), 3)]
        numbers, ranges = tuple(many for many, _, _ in looks), tuple((least, most) for _, least, most in looks)
        values = _values(source, column) if distinct <= MAX_DISTINCT else ()
        days = tuple(rest[3 * len(STYLES) :])
        listed.append(
            ColumnContents(
                column, rows, filled, distinct, numbers, days, ranges, values, in_doubt=grouped > 0 and not other
            )
        )
    return listed


def cells_read(source: Source, name: str, use: str) -> CellsRead:
    """How the cells of a column are read."""
    column, sql = source._schema.column(name, use), _dialect(source)
    text, read = _text(column, sql), second_reading(column, use, "v", sql)
    marks = ", ".join(text_literal(each) for mark in marks_of(column) for each in (mark, f"{mark}.0"))
    told = f"CASE WHEN {text} NOT IN ({marks}) THEN {text} END" if marks else text
    cells = f"SELECT {told} AS t, {first_reading(column, use, sql)} AS v FROM {{scan}}"
    each = f"SELECT t, CAST({read} AS VARCHAR) AS r FROM ({cells}) AS cells"
    many = f"SELECT t, r, count(*) AS many FROM ({each}) AS each_ GROUP BY t, r"
    totals = [
        f"coalesce(sum(CASE WHEN {which} THEN many END), 0)"
        for which in ("true", "t IS NULL", "t IS NOT NULL AND r IS NULL")
    ]
    (found,) = _rows(source, _Look([column], f"SELECT {', '.join(totals)} FROM ({many}) AS counted"))
    order = "ORDER BY r IS NOT NULL, many DESC, t"  # what is not read comes first
    spellings = _rows(
        source,
        _Look([column], f"SELECT t, r, many FROM ({many}) AS counted WHERE t IS NOT NULL {order} LIMIT {MAX_SHOWN}"),
    )
    rows, blank, unread = map(int, found)
    return CellsRead(name, use, rows, blank, unread, tuple((str(t), r, int(many)) for t, r, many in spellings))


def thousands_in_doubt(source: Source, name: str) -> bool:
    """Whether a point may stand between thousands: all fractions have three digits, and the text does not tell."""
    column = source._schema.column(name, NUMBER)
    if not column.is_text or not column.format.is_plain:
        return False
    counts = ", ".join(_doubt(column, _dialect(source)))
    ((doubtful, other),) = _rows(source, _Look([column], f"SELECT {counts} FROM {{scan}}"))
    return doubtful > 0 and not other


def _doubt(column: Column, sql: DuckDB = DUCKDB) -> list[str]:
    """How many cells are like 15.000, and how many have another fraction."""
    text = _text(column, sql)
    grouped = sql.matches(text, "[+-]?[1-9][0-9]{0,2}[.][0-9]{3}")
    fraction = sql.matches(text, "[+-]?[0-9]*[.][0-9]*([eE].*)?")
    return [sql.count_if(grouped), sql.count_if(f"{fraction} AND NOT {grouped}")]


def per_person(source: Source, unit: str, of: Sequence[str] = ()) -> list[tuple[int, int]]:
    """How many people have one row, two rows and so on; with columns of groups, rows in so many groups."""
    sql, keys = _dialect(source), [(unit, PERSON), *((name, LABEL) for name in of)]
    used = [source._schema.column(name, use) for name, use in keys]
    placed = [(f"v{at}", column, use) for at, (column, (_, use)) in enumerate(zip(used, keys, strict=True))]
    first = ", ".join(f"{first_reading(column, use, sql)} AS {at}" for at, column, use in placed)
    read = ", ".join(f"{second_reading(column, use, at, sql)} AS {at}" for at, column, use in placed)
    inner = f"SELECT {read} FROM (SELECT {first} FROM {{scan}}) AS cells"
    counted = f"count(DISTINCT {joined([f'v{at}' for at in range(1, len(keys))])})" if of else "count(*)"
    people = f"SELECT v0, {counted} AS k FROM ({inner}) AS read_ WHERE v0 IS NOT NULL GROUP BY v0"
    look = _Look(used, f"SELECT k, count(*) FROM ({people}) AS people GROUP BY k ORDER BY k")
    return [(int(k), int(many)) for k, many in _rows(source, look)]


def _dialect(source: Source) -> DuckDB:
    if not hasattr(source, "_engine"):
        raise ParameterError("data on Spark cannot be looked at: check a part of it in a file")
    return getattr(source._engine, "sql", DUCKDB)


def _columns(source: Source) -> list[Column]:
    if not source.columns or not hasattr(source, "_engine"):
        raise ParameterError("only data with a list of columns, on this machine, can be looked at")
    return [source._schema._columns[name] for name in source.columns]


def _rows(source: Source, look: _Look) -> list[tuple[Any, ...]]:
    return source._engine.rows(look)  # type: ignore[arg-type] # it has what an engine asks of a statement


def _totals(column: Column) -> list[str]:
    text, days = _text(column), ["0"] * len(FORMS)
    numbers = ["NULL"] * len(STYLES)
    if column.is_text:
        numbers = [_finite(first_reading(replace(column, format=style), NUMBER)) for style in STYLES]
        days = [f"count({DUCKDB.day(text, form, day_pattern(form))})" for form in FORMS]
    elif column.kind in (WHOLE, DECIMAL, FLOAT):
        numbers = [_finite(first_reading(column, NUMBER))] * len(STYLES)
    looks = [f"{each}({number})" for number in numbers for each in ("count", "min", "max")]
    doubt = _doubt(column) if column.is_text else ["0", "0"]
    return ["count(*)", f"count({text})", f"approx_count_distinct({text})", *doubt, *looks, *days]


def _finite(number: str) -> str:
    return f"CASE WHEN {DUCKDB.finite(number)} THEN {number} END"


def _values(source: Source, column: Column) -> tuple[tuple[str, int], ...]:
    each = f"SELECT {_text(column)} AS t, count(*) AS many FROM {{scan}} GROUP BY t"
    found = _rows(
        source,
        _Look([column], f"SELECT t, many FROM ({each}) WHERE t IS NOT NULL ORDER BY many DESC, t LIMIT {MAX_SHOWN}"),
    )
    return tuple((str(text), int(many)) for text, many in found)


def _text(column: Column, sql: DuckDB = DUCKDB) -> str:
    return f"nullif({sql.trimmed(column.identifier)}, '')"


def is_utf8(path: Path) -> bool:
    """Whether a text file, unpacked, is UTF-8 throughout."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with opened(path) as file:
        try:
            while block := file.read(_BLOCK):
                decoder.decode(block)
            decoder.decode(b"", True)
        except UnicodeDecodeError:
            return False
    return True
