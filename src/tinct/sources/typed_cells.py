"""Values that bring a type of their own into a column of cells: written as the other cells of the column are.

A workbook, an SQLite table or a row of Python's own has a type for each value and none for a column. So cells are text
that is read as whatever is asked for, and a number, a moment or a truth value is written down the way the description
of the column says, to be read right again.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.sources import description

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.sources.columns import Column

_EXACT = 1e15  # whole numbers below this are written without an exponent

_ABSENT = ("NAType", "NaTType")  # what pandas puts where nothing is


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
        value = _plain(value) if isinstance(value, np.generic) else value
        if value is None or isinstance(value, str):
            return value
        if type(value).__name__ in _ABSENT:
            return None
        if isinstance(value, bool):
            return yes if value else no
        if isinstance(value, float | Decimal):
            return _number(value, decimal)
        return _moment(value, form) if isinstance(value, date | time) else str(value)

    return write


def object_text(column: Column) -> Callable[[Any], str | None]:
    """The same for cells that may be anything, whatever one of them does when it is written."""
    write = cell_text(column)

    def guarded(value: object) -> str | None:
        try:
            text = write(value)
            text = None if text is None else str.__str__(text)  # plain, also if it is of a class derived from str
            (text or "").encode("utf-8")
        except KeyboardInterrupt:
            pass
        except BaseException:  # it is a missing cell and no error
            return None
        else:
            return text
        raise KeyboardInterrupt  # out here, so that it has no text and no context

    return guarded


def _plain(value: np.generic) -> Any:
    """A value of NumPy's as Python's own."""
    return value.astype("datetime64[us]").item() if isinstance(value, np.datetime64) else value.item()


def _number(value: float | Decimal, decimal: str) -> str | None:
    if not math.isfinite(value):
        return None
    if -_EXACT < value < _EXACT and value == int(value):
        return str(int(value))
    return (repr(value) if isinstance(value, float) else str(value)).replace(".", decimal)


def _moment(value: date | time, form: str) -> str:
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    if form and isinstance(value, date):  # a datetime is one too
        return value.strftime(form.replace("%Y", f"{value.year:04}"))
    text = value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    return text.rstrip("0") if "." in text else text  # of a second as many digits as there are
