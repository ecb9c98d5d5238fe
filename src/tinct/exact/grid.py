"""The integer grid: (ε, δ)-privacy as a suitable pair on {0, …, N} (docs/theory.md §5, docs/proofs/grid.md)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph
from tinct.numbers.bounds import growth_below
from tinct.privacy import Privacy, SuitablePair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.graphs.budgets import PrivacyLike

DEFAULT_BITS = 62
MAX_BITS = 4096  # probabilities far below any that matters; larger denominators only cost time


@dataclass(frozen=True)
class GridPair:
    """The largest number of units a neighbour may have: Ũ on {0, …, N}.

    ``growth`` is a rational R ≤ e^ε and ``shift`` an integer D ≤ δN, so a table that keeps to this pair keeps to
    (ε, δ) exactly.

    >>> pair = GridPair(12, Fraction(3, 2), 0)
    >>> [pair.upper(a) for a in range(13)]
    [0, 1, 3, 4, 6, 7, 8, 8, 9, 10, 10, 11, 12]
    """

    total: int
    growth: Fraction
    shift: int

    @classmethod
    def of(cls, privacy: Privacy, total: int) -> GridPair:
        """The pair that (ε, δ) leaves on a grid of ``total`` units."""
        _require_privacy(privacy)
        # beyond R = N one unit allows everything, so a larger R would change nothing but the size of the numbers
        growth = min(growth_below(privacy.exact_epsilon), Fraction(total))
        return cls(total, growth, int(privacy.exact_delta * total))

    def upper(self, a: int) -> int:
        """Ũ(a): the most units a neighbour of somebody with ``a`` units may have."""
        up, down = self.growth.numerator, self.growth.denominator
        left = max(0, self.total - a - self.shift)
        return min(up * a // down + self.shift, self.total + -left * down // up, self.total)

    def lower(self, a: int) -> int:
        """L̃(a): the fewest units a neighbour of somebody with ``a`` units may have."""
        return self.total - self.upper(self.total - a)

    def reach(self, distance: int, a: int) -> int:
        """Ũ applied ``distance`` times."""
        for _ in range(distance):
            following = self.upper(a)
            if following == a:
                break
            a = following
        return a

    def balance(self) -> int:
        """The most units that two neighbours with different truths can both give to the truth."""
        low, high = self.total // 2, self.total
        while low < high:  # a − Ũ(N − a) never falls
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle <= self.upper(self.total - middle) else (low, middle - 1)
        return low


def units(bits: object = DEFAULT_BITS, total: object = None) -> int:
    """The number of units in a row: 2^bits, or ``total`` if given."""
    if total is not None:
        if isinstance(total, bool) or not isinstance(total, int) or not 2 <= total <= 2**MAX_BITS:
            raise ParameterError.of("total", f"a whole number from 2 to 2^{MAX_BITS}", total)
        return total
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MAX_BITS:
        raise ParameterError.of("bits", f"a whole number from 1 to {MAX_BITS}", bits)
    return 1 << bits


def grid_pairs(graph: DatasetGraph, privacy: PrivacyLike, total: int) -> tuple[list[Privacy], list[GridPair], Any]:
    """The distinct budgets, their grid pairs, and the number of its budget for every directed entry of the graph."""
    stated, classes = Budget(graph, privacy).as_classes()
    budgets = [_require_privacy(pair) for pair in stated]
    return budgets, [GridPair.of(pair, total) for pair in budgets], classes


def _require_privacy(pair: SuitablePair) -> Privacy:
    if not isinstance(pair, Privacy):
        raise ParameterError(
            f"exact tables are for (ε, δ)-differential privacy, got {pair!r:.80}: design it with tinct.balanced or "
            "extend, and certify the result with exact.certify(…, at_epsilon=1)"
        )
    return pair


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
