"""Tables from elsewhere (a linear program's, a baseline's, a user's), rounded to the grid and mended if need be.

Rounding breaks ratios. Mixing in the uniform row mends them: c more units for every answer give each inequality
(R − 1)·c units of room, so a few units make up for rounding, and more for a solver's tolerance. The least
sufficient amount is searched for, never assumed: the certificate decides.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from tinct.errors import NotPrivate
from tinct.exact.proof import prove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tinct.exact.proof import Terms

    Rows = list[list[int]]

_FASTER = 4  # how much more is mixed in after each failure


def rounded(table: Iterable[Sequence[float]], total: int) -> Rows:
    """Each row in whole units: rounded down, and what is left given to the largest entry, where it weighs least."""
    return [_rounded_row([Fraction(entry) for entry in row], total) for row in table]


def _rounded_row(row: Sequence[Fraction], total: int) -> list[int]:
    whole = sum(row)
    units = [int(entry * total / whole) for entry in row]
    units[max(range(len(row)), key=row.__getitem__)] += total - sum(units)
    return units


def repaired(
    rows: Rows, total: int, edges: Sequence[tuple[int, int, int]], terms: Sequence[Terms], loss: Fraction
) -> Rows:
    """The rows with the fewest units mixed in that make them private on every edge.

    Raises:
        NotPrivate: Even ``loss``, the probability that may be moved in a row, is not enough.
    """
    least = min((term.growth for term in terms), default=Fraction(2))
    return mended(rows, total, least, loss, lambda tried: prove(tried, total, edges, terms, range(len(rows))))


def mended(rows: Rows, total: int, growth: Fraction, loss: Fraction, check: Callable[[Rows], Any]) -> Rows:
    """The rows with the fewest units mixed in for which ``check`` does not raise NotPrivate; ``growth`` is R."""
    width = len(rows[0])
    limit = int(Fraction(loss) * total) // width
    # two entries rounded by up to `width` units each, against (R − 1)·c
    first = ceil((width + 1) * (growth + 1) / (growth - 1)) if growth > 1 else limit
    mixed = 0
    while True:
        tried = [_mixed_row(row, mixed, total) for row in rows] if mixed else rows
        try:
            check(tried)
        except NotPrivate:
            if mixed >= limit:
                raise
        else:
            return tried
        mixed = min(limit, mixed * _FASTER if mixed else first)


def _mixed_row(row: Sequence[int], mixed: int, total: int) -> list[int]:
    kept = total - len(row) * mixed
    units = [kept * entry // total + mixed for entry in row]
    units[max(range(len(row)), key=row.__getitem__)] += total - sum(units)
    return units
