"""What stands in a cell of an Excel sheet: text, a number, a truth value, or a number that is shown as a moment.

How a number is shown is decided by the format of its cell, never by the number. What the format cannot show, such as a
date before 1900, is missing.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time, timedelta
from typing import TypeAlias

NUMBER, DATE, MOMENT, TIME, DURATION = "number", "date", "moment", "time", "duration"
Value: TypeAlias = str | int | float | bool | date | time | None

_BUILT_IN = {
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), 34, 35, 36, *range(50, 55), 57, 58), DATE),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 45, 47, 55, 56), TIME),
    22: MOMENT,
    46: DURATION,
}
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.')
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]]*\]")
_HALF_DAY = re.compile(r"am/pm|a/p|general", re.IGNORECASE)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,30})", re.ASCII)
_NUMERIC = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?", re.ASCII)
_DAY = 86_400_000  # milliseconds
_LAST_DAY = 2_958_466  # the day after 9999-12-31
_MOST_DAYS = 1_000_000_000  # of a duration
_LEAP = 60  # Excel shows this number as 1900-02-29, a day that never was


def kind_of_format(number: int, code: str | None) -> str:
    """How numbers are shown in cells of a format: by its number or, if the workbook defines it, by its code.

    >>> kind_of_format(14, None), kind_of_format(165, "[$-409]d mmm yyyy;@"), kind_of_format(166, "[h]:mm")
    ('date', 'date', 'duration')
    >>> kind_of_format(167, '0.00E+00'), kind_of_format(168, '#,##0 "days"'), kind_of_format(169, "h:mm AM/PM")
    ('number', 'number', 'time')
    """
    if code is None:
        return _BUILT_IN.get(number, NUMBER)
    first = _LITERAL.sub("", code).split(";")[0]
    if _ELAPSED.search(first):
        return DURATION
    letters = _HALF_DAY.sub("", _BRACKETS.sub("", first)).lower()
    timed = "h" in letters or "s" in letters
    dated = "y" in letters or "d" in letters or ("m" in letters and not timed)
    return MOMENT if dated and timed else DATE if dated else TIME if timed else NUMBER


def number_of(written: str, kind: str, *, since_1904: bool) -> Value:
    """A number as its format shows it; None if it is none, or cannot be shown."""
    if kind == NUMBER and _WHOLE.fullmatch(written):  # all of its digits, also where a double has not so many
        return int(written)
    if not _NUMERIC.fullmatch(written):
        return None
    value = float(written)
    if not math.isfinite(value) or kind == NUMBER:
        return value if math.isfinite(value) else None
    if kind == DURATION:
        return _duration(value) if 0 <= value < _MOST_DAYS else None
    if kind == TIME:
        return _clock(value) if 0 <= value < _LAST_DAY else None
    return _moment(value, kind, since_1904)


def moment_of(written: str, kind: str) -> Value:
    """A moment that is written as such; text if it is none."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return written
    return found.date() if kind == DATE else found.replace(tzinfo=None)


def text_of(written: str) -> str | None:
    r"""Text with the characters that XML has no place for; None if that is no text.

    >>> text_of("a_x000D_b"), text_of("_x005F_x000D_"), text_of("_xD800_")
    ('a\rb', '_x000D_', None)
    """
    if "_x" not in written:
        return written
    found = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), written)
    try:  # two halves of a character that were escaped one by one
        return found.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None


def _duration(value: float) -> str:
    seconds = round(value * _DAY) // 1000
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _clock(value: float) -> time:
    found = round(value * _DAY) % _DAY
    return (datetime(2000, 1, 1) + timedelta(milliseconds=found)).time()


def _moment(value: float, kind: str, since_1904: bool) -> Value:
    if not 0 <= value < _LAST_DAY:
        return None
    ticks = round(value * _DAY)
    days = ticks // _DAY
    if since_1904:
        begin = datetime(1904, 1, 1)
    elif days in (0, _LEAP):
        return None
    else:
        begin = datetime(1899, 12, 31) if days < _LEAP else datetime(1899, 12, 30)
    try:
        found = begin + timedelta(milliseconds=ticks)
    except OverflowError:
        return None
    return found.date() if kind == DATE else found
