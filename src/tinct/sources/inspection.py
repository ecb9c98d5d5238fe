"""What stands in the data and how it is read, for the owner's eyes only: nothing here is private.

``tinct describe`` and ``tinct check`` show it to whoever holds the data anyway. No answer, plan or error is made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.sources.cell_rules import first_reading, marks_of, number_pattern, second_reading
from tinct.sources.columns import CELL, OTHER, PERSON, STRING, Column
from tinct.sources.description import Format
from tinct.sources.sql_dialects import DUCKDB, text_literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinct.sources.source import Source

# ruff: noqa: S608 # names and words are quoted: see columns.py

MAX_SHOWN = 30
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
        least, most: The range of the numbers, as programs write them.
        values: The most frequent things, with how often; empty if there are too many different ones.
    """

    column: Column
    rows: int
    filled: int
    distinct: int
    numbers: tuple[int, ...]
    days: tuple[int, ...]
    least: float | None
    most: float | None
    values: tuple[tuple[str, int], ...]


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
        rows, filled, distinct, least, most, *rest = found[at * width : (at + 1) * width]
        numbers, days = rest[: len(STYLES)], rest[len(STYLES) :]
        values = _values(source, column) if distinct <= MAX_DISTINCT else ()
        listed.append(ColumnContents(column, rows, filled, distinct, tuple(numbers), tuple(days), least, most, values))
    return listed


def cells_read(source: Source, name: str, use: str) -> CellsRead:
    """How the cells of a column are read."""
    column = source._schema.column(name, use)
    read = second_reading(column, use, "v")
    marks = ", ".join(text_literal(each) for mark in marks_of(column) for each in (mark, f"{mark}.0"))
    told = f"CASE WHEN {_text(column)} NOT IN ({marks}) THEN {_text(column)} END" if marks else _text(column)
    cells = f"SELECT {told} AS t, v FROM (SELECT *, {first_reading(column, use)} AS v FROM {{scan}})"
    each = f"SELECT t, CAST({read} AS VARCHAR) AS r, count(*) AS many FROM ({cells}) GROUP BY t, r"
    (totals,) = _rows(
        source,
        _Look(
            [column],
            "SELECT coalesce(sum(many), 0), coalesce(sum(many) FILTER (t IS NULL), 0), "
            f"coalesce(sum(many) FILTER (t IS NOT NULL AND r IS NULL), 0) FROM ({each})",
        ),
    )
    order = "ORDER BY r IS NOT NULL, many DESC, t"  # what is not read comes first
    spellings = _rows(
        source, _Look([column], f"SELECT t, r, many FROM ({each}) WHERE t IS NOT NULL {order} LIMIT {MAX_SHOWN}")
    )
    rows, blank, unread = map(int, totals)
    return CellsRead(name, use, rows, blank, unread, tuple((str(t), r, int(many)) for t, r, many in spellings))


def per_person(source: Source, unit: str, of: str | None = None) -> list[tuple[int, int]]:
    """How many people have one row, two rows and so on; with a column of groups, rows in so many groups."""
    person = source._schema.column(unit, PERSON)
    used, counted = [person], "count(*)"
    if of is not None:
        label = source._schema.column(of, "label")
        used.append(label)
        counted = f"count(DISTINCT {second_reading(label, 'label', 'l')})"
        inner = f"SELECT {first_reading(person, PERSON)} AS p, {first_reading(label, 'label')} AS l FROM {{scan}}"
    else:
        inner = f"SELECT {first_reading(person, PERSON)} AS p FROM {{scan}}"
    people = f"SELECT p, {counted} AS k FROM ({inner}) WHERE p IS NOT NULL GROUP BY p"
    return [
        (int(k), int(many))
        for k, many in _rows(source, _Look(used, f"SELECT k, count(*) FROM ({people}) GROUP BY k ORDER BY k"))
    ]


def _columns(source: Source) -> list[Column]:
    if not source.columns or not hasattr(source, "_engine"):
        raise ParameterError("only data with a list of columns, on this machine, can be looked at")
    return [source._schema._columns[name] for name in source.columns]


def _rows(source: Source, look: _Look) -> list[tuple[Any, ...]]:
    return source._engine.rows(look)  # type: ignore[arg-type] # it has what an engine asks of a statement


def _totals(column: Column) -> list[str]:
    text = _text(column)
    number = f"TRY_CAST({text} AS DOUBLE)"
    finite = f"CASE WHEN isfinite({number}) THEN {number} END"
    if column.kind not in (CELL, STRING):
        rest = ["0"] * (len(STYLES) + len(FORMS))
    else:
        rest = [DUCKDB.count_if(DUCKDB.matches(text, number_pattern(style))) for style in STYLES]
        rest += [f"count(try_strptime({text}, {text_literal(form)}))" for form in FORMS]
    return ["count(*)", f"count({text})", f"approx_count_distinct({text})", f"min({finite})", f"max({finite})", *rest]


def _values(source: Source, column: Column) -> tuple[tuple[str, int], ...]:
    each = f"SELECT {_text(column)} AS t, count(*) AS many FROM {{scan}} GROUP BY t"
    found = _rows(
        source,
        _Look([column], f"SELECT t, many FROM ({each}) WHERE t IS NOT NULL ORDER BY many DESC, t LIMIT {MAX_SHOWN}"),
    )
    return tuple((str(text), int(many)) for text, many in found)


def _text(column: Column) -> str:
    return f"nullif(trim(CAST({column.identifier} AS VARCHAR)), '')"
