"""Pricing: the set of symbols whose column is worth most more than it costs, with a bound on what was not looked at.

Maximise h(P(T)) − cost(T) over sets T, h concave. With items sorted by cost per probability, the best *fractional* set
is a prefix and at most one part of an item, so partial sets are bounded in a few steps, all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinct.local.bounds import column_worth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.local.inputs import LocalBudget

    Floats = NDArray[np.float64]

_COMPLETED = 64  # whole sets that are remembered from each item


@dataclass(frozen=True)
class Priced:
    """Sets (a row each) with their surplus, best first, and a bound on the surplus of every set."""

    raised: NDArray[np.bool_]
    surplus: Floats
    bound: float


class Pricer:
    """Everything about one problem that does not change from set to set.

    Args:
        p: The prior, all positive.
        costs: What raising each symbol costs.
        rent: What a unit of the column's probability costs (docs/proofs/mutual-information.md).
        budget: The ε.
    """

    def __init__(self, p: Floats, costs: Floats, rent: float, budget: LocalBudget) -> None:
        self._budget, self._rent = budget, rent
        self._order = np.argsort(costs / p, kind="stable")
        self._p, self._costs = p[self._order], costs[self._order]
        self._ratio = self._costs / self._p
        self._mass = np.concatenate([[0.0], np.cumsum(self._p)])
        self._paid = np.concatenate([[0.0], np.cumsum(self._costs)])

    def best(self, tolerance: float, most: int) -> Priced:
        """Branch and bound over all items at once; what does not fit into ``most`` is dropped, but not its bound."""
        z, paid = np.zeros(1), np.zeros(1)
        chosen = np.zeros((1, len(self._p)), bool)
        incumbent = float(self._surplus(self._mass, self._paid).max())
        dropped = -np.inf
        found = [np.tri(len(self._p) + 1, len(self._p), -1, dtype=bool)]  # the prefixes
        for item in range(len(self._p)):
            z = np.concatenate([z, z + self._p[item]])
            paid = np.concatenate([paid, paid + self._costs[item]])
            chosen = np.concatenate([chosen, chosen])
            chosen[len(chosen) // 2 :, item] = True
            bound, down, up, stop = self._fractional(z, paid, item + 1)
            # completing a partial set with a prefix of the rest gives whole sets
            rounded = np.maximum(down, up)
            incumbent = max(incumbent, float(rounded.max()))
            found.append(self._completed(chosen, item + 1, down, up, stop))
            keep = np.flatnonzero(bound > incumbent + tolerance)
            if len(keep) < len(bound):
                dropped = max(dropped, float(np.delete(bound, keep).max()))
            if len(keep) > most:
                ranked = keep[np.argsort(-bound[keep], kind="stable")]
                dropped = max(dropped, float(bound[ranked[most]]))
                keep = ranked[:most]
            if not len(keep):
                break
            z, paid, chosen = z[keep], paid[keep], chosen[keep]
        return self._answer(np.concatenate(found), max(incumbent, dropped))

    def _completed(
        self, chosen: NDArray[np.bool_], start: int, down: Floats, up: Floats, stop: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """The best whole sets that complete partial ones."""
        rows = np.argsort(-np.maximum(down, up), kind="stable")[:_COMPLETED]
        sets = chosen[rows].copy()
        ends = np.where(up[rows] > down[rows], stop[rows] + 1, stop[rows])
        places = np.arange(len(self._p))
        sets[(places >= start) & (places < ends[:, None])] = True
        return sets

    def _answer(self, sets: NDArray[np.bool_], bound: float) -> Priced:
        """The best of the sets, in the caller's order of symbols."""
        k = len(self._p)
        sets = np.unique(sets, axis=0)
        surplus = self._surplus(sets @ self._p, sets @ self._costs)
        best = np.argsort(-surplus, kind="stable")[: 2 * k]
        raised = np.zeros((len(best), k), bool)
        raised[:, self._order] = sets[best]
        return Priced(raised, surplus[best], max(bound, float(surplus[best[0]])))

    def _surplus(self, z: Floats, paid: Floats) -> Floats:
        mean = self._budget.low + self._budget.span * z
        return column_worth(np.clip(z, 0.0, 1.0), self._budget) - self._rent * mean - paid

    def _slope(self, z: Floats) -> Floats:
        """The derivative of worth minus rent with respect to z."""
        budget = self._budget
        logarithm = np.log1p(budget.exact.growth_minus_one * z)
        return np.asarray(budget.epsilon - budget.span * (1.0 + logarithm + self._rent))

    def _fractional(self, z: Floats, paid: Floats, start: int) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
        """The best surplus with fractions of the items from ``start`` on, rounded down and up, and its last item."""
        low, high = np.full(len(z), start), np.full(len(z), len(self._p))
        while True:  # how many whole items the fractional optimum takes: the slope falls while the ratio rises
            open_ = low < high
            if not open_.any():
                break
            middle = np.minimum((low + high) // 2, len(self._p) - 1)
            takes = self._slope(z + self._mass[middle + 1] - self._mass[start]) >= self._ratio[middle]
            low = np.where(open_ & takes, middle + 1, low)
            high = np.where(open_ & ~takes, middle, high)
        whole = z + self._mass[low] - self._mass[start]
        cost = paid + self._paid[low] - self._paid[start]
        item = np.minimum(low, len(self._p) - 1)
        room = np.where(low < len(self._p), self._p[item], 0.0)
        part = np.clip(self._stationary(self._ratio[item]) - whole, 0.0, room)
        bound = self._surplus(whole + part, cost + part * self._ratio[item])
        down, up = self._surplus(whole, cost), self._surplus(whole + room, cost + room * self._ratio[item])
        return np.maximum(bound, np.maximum(down, up)), down, up, low

    def _stationary(self, ratio: Floats) -> Floats:
        """Where the slope equals a ratio."""
        budget = self._budget
        exponent = np.minimum((budget.epsilon - ratio) / budget.span - 1.0 - self._rent, budget.epsilon)
        return np.asarray(np.expm1(exponent) / budget.exact.growth_minus_one)
