"""Distributions as commands take them: lists such as 0.1,0.2,0.7, or the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST = 300


@dataclass(frozen=True)
class Distributions:
    """Two hypotheses, or one prior (``p1`` is None), and the names of the symbols if they have any."""

    symbols: list[str] | None
    p0: list[float]
    p1: list[float] | None


def numbers(text: str, name: str) -> list[float]:
    """Numbers or fractions separated by commas; ``name`` says whose they are."""
    try:
        return [_number(part.strip()) for part in text.split(",")]
    except ParameterError as error:
        raise ParameterError(f"{name} must be numbers separated by commas such as 0.25,0.75: {error}") from None


def _number(text: str) -> float:
    """A plain number, or a fraction such as 1/3."""
    from tinct._files import number

    above, slash, below = text.partition("/")
    if not slash:
        return number(text)
    if not (text.isascii() and above.isdecimal() and below.isdecimal() and len(text) <= _LONGEST and int(below)):
        raise ParameterError(f"expected a number such as 0.25 or 1/4, got {text!r:.80}")
    return int(above) / int(below)


def read_distributions(file: str | Path) -> Distributions:
    """The columns p0 and p1, or prior, of a table, and symbol if it is there."""
    from tinct._files import read_sheet, reading

    header, rows = read_sheet(file)
    names = [name.lower() for name in header]
    wanted = ["p0", "p1"] if "p0" in names else ["prior"]
    if not set(wanted) <= set(names):
        raise FileError(
            f"{file}: line 1: the columns must be p0 and p1, or prior, and symbol if you like; got {', '.join(header)}"
        )
    places = [names.index(name) for name in wanted]
    symbols: list[str] = []
    values: list[list[float]] = [[] for _ in wanted]
    for line, cells in rows:
        if "symbol" in names:
            symbols.append(cells[names.index("symbol")])
        for column, place in zip(values, places, strict=True):
            with reading(file, f"line {line}"):
                column.append(_number(cells[place]))
    return Distributions(symbols or None, values[0], values[1] if len(values) > 1 else None)
