"""Values that bring a type of their own into a column of cells: written as the other cells of the column are.

A workbook or an SQLite table has a type for each value and none for a column. So cells are text that is read as
whatever is asked for, and a number, a moment or a truth value is written down the way the description of the column
says, to be read right again.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from tinct.sources import description

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.sources.columns import Column

_EXACT = 1e15  # whole numbers below this are written without an exponent


def cell_text(column: Column) -> Callable[[Any], str | None]:
    """How the values of a column are written; None is a missing cell.

    >>> from tinct.sources.columns import CELL, Column
    >>> write = cell_text(Column("x", "c0", CELL))
    >>> write(3.0), write(0.1), write(True), write(date(2024, 2, 29)), write("a"), write(float("nan"))
    ('3', '0.1', 'true', '2024-02-29', 'a', None)
    """
    decimal, described = column.format.decimal, column.described
    form = described.form if described is not None and described.kind == description.DATE else ""
    yes, no = (described.yes[0], described.no[0]) if described is not None and described.yes else ("true", "false")

    def write(value: Any) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return yes if value else no
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return _number(value, decimal)
        return _moment(value, form)

    return write


def _number(value: float, decimal: str) -> str | None:
    if not math.isfinite(value):
        return None
    if value == int(value) and abs(value) < _EXACT:
        return str(int(value))
    return repr(value).replace(".", decimal)


def _moment(value: date | time, form: str) -> str:
    if form and isinstance(value, date):  # a datetime is one too
        return value.strftime(form)
    text = value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    return text.rstrip("0") if "." in text else text  # of a second as many digits as there are
