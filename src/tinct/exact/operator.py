"""More than two answers on the grid: the row that dominates all rows close to a given one (docs/theory.md §5)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.exact.grid import GridPair


def best_neighbor(pair: GridPair, row: Sequence[int]) -> list[int]:
    """The best row next to ``row``, both in order of preference.

    Rounding the prefix sums of the real optimum would not be private: with R = 3/2, (1, 1, 4) would become (1, 2, 3).
    Instead δ is handed out from the front for what may be gained and from the back for what may be lost, and the
    prefix sums are as large as both allow. Proof: docs/proofs/grid.md.

    >>> from fractions import Fraction
    >>> from tinct.exact.grid import GridPair
    >>> best_neighbor(GridPair(6, Fraction(3, 2), 0), [1, 1, 4])
    [1, 1, 4]
    """
    up, down, total = pair.growth.numerator, pair.growth.denominator, pair.total
    most, spare = [], pair.shift * down  # spare is multiplied by down, to stay whole
    for units in row:
        most.append((up * units + spare) // down)
        spare -= max(0, most[-1] * down - up * units)
    least, spare = [], pair.shift * down
    for units in reversed(row):
        least.append(max(0, -((spare - down * units) // up)))
        spare -= max(0, down * units - up * least[-1])
    least.reverse()
    prefixes, gained, kept = [0], 0, sum(least)
    for high, low in zip(most[:-1], least[:-1], strict=True):
        gained, kept = gained + high, kept - low
        prefixes.append(min(total, gained, total - kept))
    prefixes.append(total)
    return [after - before for before, after in pairwise(prefixes)]


def rows_by_distance(pair: GridPair, row: Sequence[int], depth: int) -> list[list[int]]:
    """Rows for distances 0, 1, …, depth; from where nothing changes any more, the same row."""
    rows = [list(row)]
    while len(rows) <= depth:
        following = best_neighbor(pair, rows[-1])
        if following == rows[-1]:
            rows += [following] * (depth + 1 - len(rows))
            break
        rows.append(following)
    return rows
