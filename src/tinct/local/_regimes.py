"""Which cells are optimal at which budget: the exact map of the regimes between binary and randomized response."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import Parameter, ParameterError, Way, brief
from tinct.local._optimal import PLAIN, best_cells, value_of
from tinct.local.divergences import Utility
from tinct.local.likelihood_order import Order
from tinct.local.parameters import Hypotheses, LocalBudget, whole

if TYPE_CHECKING:
    from tinct.local.divergences import UtilityLike
    from tinct.local.parameters import BudgetLike, DistributionLike, Floats, SymbolsLike

    Cuts = tuple[int, ...]

_TIE = 1e-13  # relative; two splits this close are equally good
_DEPTH = 60


@dataclass(frozen=True)
class Regime:
    """The budgets from ``start`` to ``end``, the cells that are optimal there, and where they are cut.

    Each cut is a pair of likelihood ratios P0/P1: the largest of the cell before it, and the least of the one after.
    """

    start: float
    end: float
    cells: tuple[tuple[Any, ...], ...]
    cuts: tuple[tuple[float, float], ...]

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(self.cells)


@dataclass(frozen=True)
class Regimes:
    """The optimal cells as a function of ε, for two hypotheses and a utility.

    Attributes:
        regimes: From the smallest budget to the largest, each ending where the next begins.
        utility: The name of the utility.
        ratios: How many distinct likelihood ratios there are; symbols with equal ratios share a cell at every budget.
    """

    regimes: tuple[Regime, ...]
    utility: str
    ratios: int

    @property
    def table(self) -> list[tuple[float, float, int]]:
        """(start, end, number of cells) of each regime."""
        return [(regime.start, regime.end, regime.count) for regime in self.regimes]

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The budgets at which the optimal cells change."""
        return tuple(regime.start for regime in self.regimes[1:])

    def at(self, epsilon: BudgetLike) -> Regime:
        """The regime of a budget inside the range that was looked at."""
        value = LocalBudget.parse(epsilon).epsilon
        if not self.regimes[0].start <= value <= self.regimes[-1].end:
            raise ParameterError(
                f"epsilon must be in the range of these regimes, "
                f"[{self.regimes[0].start:g}, {self.regimes[-1].end:g}], got {value:.6g}"
            )
        return self.regimes[bisect_right(self.thresholds, value)]

    def cells_at(self, epsilon: BudgetLike) -> tuple[tuple[Any, ...], ...]:
        """The optimal cells at a budget."""
        return self.at(epsilon).cells

    @property
    def binary_up_to(self) -> float:
        """Up to which budget two cells (or one) are optimal; the end of the range if everywhere."""
        several = next((regime for regime in self.regimes if regime.count > 2), None)
        return self.regimes[-1].end if several is None else several.start

    @property
    def randomized_response_from(self) -> float | None:
        """From which budget on every distinct ratio has a cell of its own; None if not inside the range."""
        found = None
        for regime in reversed(self.regimes):
            if regime.count < self.ratios:
                break
            found = regime.start
        return found


def regimes(
    p0: DistributionLike,
    p1: DistributionLike,
    utility: UtilityLike = "kl",
    *,
    symbols: SymbolsLike | None = None,
    lowest: float = 1e-3,
    highest: float = 30.0,
    samples: int = 64,
) -> Regimes:
    """The optimal cells at every budget from ``lowest`` to ``highest``, with exact thresholds (to 1e-12).

    Between two budgets with different optimal cells, the budget where the two are equally good is found, and the
    optimum there; if that is a third split, both sides are searched again. So any number of changes between two
    samples is found, unless the optimum returns to the same cells before the next sample: more ``samples`` narrow that
    down.

    Args:
        p0: The probabilities of the symbols under the first hypothesis.
        p1: Those under the second; at most 4,096 distinct ratios.
        utility: As for ``optimal``.
        symbols: Names for the symbols.
        lowest: The smallest budget.
        highest: The largest budget.
        samples: At how many budgets to look at first.

    >>> found = regimes([0.1, 0.2, 0.7], [0.5, 0.25, 0.25])
    >>> [count for _, _, count in found.table], round(found.binary_up_to, 6)
    ([2, 3], 2.277717)
    """
    hypotheses = Hypotheses.parse(p0, p1, symbols)
    chosen = Utility.parse(utility)
    low, high = LocalBudget.parse(lowest, "lowest").epsilon, LocalBudget.parse(highest, "highest").epsilon
    if not low < high:
        raise ParameterError(
            Parameter("lowest"),
            " must be below ",
            Parameter("highest"),
            f", got {brief(lowest)} and {brief(highest)}",
            parameter="lowest",
            expected="below highest",
            value=lowest,
        )
    chosen.require_convex(high)
    samples = whole(samples, "samples", 2, 100_000)
    search = _RegimeSearch(Order.of(hypotheses), chosen)
    if len(search.order) > PLAIN:
        raise ParameterError(
            f"regimes are for at most {PLAIN:,} distinct likelihood ratios, got {len(search.order):,}: use ",
            Way("local.optimal", "tinct local design"),
            " at the budgets of interest",
        )
    changes = search.changes(np.geomspace(low, high, samples))
    starts = [low, *(start for start, _ in changes[1:])]
    ends = [*starts[1:], high]
    found = [
        _regime(hypotheses, search.order, start, end, cuts)
        for start, end, (_, cuts) in zip(starts, ends, changes, strict=True)
    ]
    return Regimes(tuple(found), chosen.name, len(search.order))


class _RegimeSearch:
    """Optimal splits of one order at many budgets."""

    def __init__(self, order: Order, utility: Utility) -> None:
        self.order, self.utility = order, utility

    def changes(self, budgets: Floats) -> list[tuple[float, Cuts]]:
        """(budget, cuts) wherever the optimal split changes, beginning with the first budget."""
        left = float(budgets[0])
        cuts = self.best(left)
        found = [(left, cuts)]
        for right in budgets[1:].tolist():
            following = self.best(right)
            if self.as_good(cuts, following, right):
                following = cuts  # a tie is no change
            found += self.between(left, cuts, right, following, _DEPTH)
            left, cuts = right, following
        return found

    def between(self, left: float, before: Cuts, right: float, after: Cuts, depth: int) -> list[tuple[float, Cuts]]:
        """The changes between two budgets with their optimal splits."""
        if before == after:
            return []
        if self.as_good(after, before, left):
            return [(left, after)]
        if depth == 0 or self.as_good(before, after, right):
            return [(right, after)]
        from scipy.optimize import brentq

        root = float(brentq(lambda epsilon: self.lead(before, after, epsilon), left, right, xtol=1e-14, rtol=1e-15))
        middle = self.best(root)
        if self.as_good(before, middle, root) or self.as_good(after, middle, root):
            return [(root, after)]
        return [
            *self.between(left, before, root, middle, depth - 1),
            *self.between(root, middle, right, after, depth - 1),
        ]

    def best(self, epsilon: float) -> Cuts:
        """The optimal cuts at a budget."""
        return tuple(best_cells(self.order, LocalBudget.parse(epsilon), self.utility).cuts.tolist())

    def lead(self, one: Cuts, other: Cuts, epsilon: float) -> float:
        """By how much one split is better than the other, relative to the better of them."""
        budget = LocalBudget.parse(epsilon)
        first, second = (value_of(self.order, np.array(cuts), budget, self.utility) for cuts in (one, other))
        return (first - second) / max(first, second, math.ulp(0.0))

    def as_good(self, one: Cuts, other: Cuts, epsilon: float) -> bool:
        """Whether one split is at least as good as another, up to rounding."""
        return one == other or self.lead(one, other, epsilon) >= -_TIE


def _regime(hypotheses: Hypotheses, order: Order, start: float, end: float, cuts: Cuts) -> Regime:
    cell_of = order.assign(np.array(cuts))
    cells = tuple(tuple(hypotheses.symbols[x] for x in np.flatnonzero(cell_of == c)) for c in range(len(cuts) - 1))
    with np.errstate(divide="ignore", over="ignore"):
        ratio = order.p0 / order.p1
    return Regime(start, end, cells, tuple((float(ratio[cut - 1]), float(ratio[cut])) for cut in cuts[1:-1]))
