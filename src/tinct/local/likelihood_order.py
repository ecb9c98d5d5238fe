"""Symbols in increasing order of their likelihood ratio P0/P1, equal ratios merged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tinct.local.divergences import Utility
    from tinct.local.parameters import Floats, Hypotheses, Integers, LocalBudget


@dataclass(frozen=True, eq=False)
class Order:
    """The likelihood order: P0 and P1 of every distinct ratio, from the least to the largest.

    Attributes:
        p0: The probability of each place under P0.
        p1: The same under P1.
        place: The place of each symbol in the order, −1 for symbols that never occur; empty if it is not of symbols.
    """

    p0: Floats
    p1: Floats
    place: Integers

    @classmethod
    def of(cls, hypotheses: Hypotheses) -> Order:
        """Sort the symbols; those with equal ratios share a place, which loses nothing (docs/proofs/cells.md)."""
        p0, p1 = hypotheses.p0, hypotheses.p1
        present = np.flatnonzero((p0 > 0) | (p1 > 0))
        with np.errstate(divide="ignore", over="ignore"):
            ratio = p0[present] / p1[present]  # infinite where P1 = 0: these come last
        _, inverse = np.unique(ratio, return_inverse=True)
        place = np.full(len(p0), -1, np.int64)
        place[present] = inverse
        return cls(sums(inverse, p0[present]), sums(inverse, p1[present]), place)

    def __len__(self) -> int:
        return len(self.p0)

    @cached_property
    def first(self) -> Floats:
        """Sums of P0 from the front, where P0 is small."""
        return _sums(self.p0)

    @cached_property
    def second(self) -> Floats:
        """Sums of P1 from the back, where P1 is small, negated so that they increase; only differences matter."""
        return -_sums(self.p1[::-1])[::-1]

    def worth(self, begin: Integers, end: Integers, budget: LocalBudget, utility: Utility) -> Floats:
        """What the cells from ``begin`` up to ``end`` are worth, scaled by e^−ε."""
        a = budget.span * (self.first[end] - self.first[begin])
        b = budget.span * (self.second[end] - self.second[begin])
        return utility.worth(budget.low + a, budget.low + b, a - b)

    def assign(self, cuts: Integers) -> Integers:
        """The cell of each symbol; symbols that never occur go to the first."""
        cells = np.searchsorted(cuts, self.place, side="right") - 1
        return np.asarray(np.maximum(cells, 0))

    def merged(self, places: Integers) -> Order:
        """The order with everything between two of the ``places`` merged into one."""
        begin = places[:-1]
        return Order(np.add.reduceat(self.p0, begin), np.add.reduceat(self.p1, begin), np.empty(0, np.int64))


def sums(groups: Integers, masses: Floats) -> Floats:
    """The sum of the masses of every group."""
    return np.bincount(groups, masses).astype(np.float64)


def _sums(masses: Floats) -> Floats:
    """Prefix sums from 0, added up in more digits where the machine has them."""
    return np.concatenate([[0.0], np.cumsum(masses, dtype=np.longdouble)]).astype(np.float64)


_AROUND = 2  # groups on either side of a cut that are divided further
_PARTS = 8


def coarse_order(order: Order, groups: int) -> Integers:
    """Places to merge between: even in probability and in the angle of the ratio, so that tails get their share."""
    p0, p1 = order.p0, order.p1
    angle = np.arctan2(np.sqrt(p0), np.sqrt(p1))
    turn = np.abs(np.diff(angle, prepend=angle[:1]))
    weight = 0.5 * (p0 + p1) + turn / max(float(turn.sum()), 1e-300)
    density = np.cumsum(weight)
    wanted = np.linspace(0.0, density[-1], groups + 1)
    places = np.searchsorted(density, wanted[1:-1])
    return np.unique(np.concatenate([[0], places, [len(order)]]))


def refined_order(places: Integers, cuts: Integers, most: int) -> Integers:
    """The same places, with the groups around every cut divided further, into at most ``most`` new groups.

    What a merged or split group changes, it changes only if a cut goes through it: made fine there, nothing is lost.
    """
    near = (cuts[:, None] + np.arange(-_AROUND, _AROUND)).ravel()
    near = np.unique(near[(near >= 0) & (near < len(places) - 1)])
    near = near[places[near + 1] - places[near] > 1][: most // _PARTS]
    steps = np.arange(1, _PARTS) / _PARTS
    new = places[near, None] + (steps * (places[near + 1] - places[near])[:, None]).astype(np.int64)
    return np.unique(np.concatenate([places, new.ravel()]))


def upper_order(order: Order, places: Integers) -> Order:
    """A shorter pair of distributions from which this one arises by adding noise, so that its optimum is no smaller.

    Its ratios are those at the beginning of every group, and the largest.
    """
    p0, p1 = order.p0, order.p1
    nodes = np.unique(np.append(places[:-1], len(order) - 1))
    with np.errstate(divide="ignore", over="ignore"):
        ratio = p0 / p1
    left = np.clip(np.searchsorted(nodes, np.arange(len(order)), side="right") - 1, 0, max(len(nodes) - 2, 0))
    right = np.minimum(left + 1, len(nodes) - 1)
    low, high = ratio[nodes[left]], ratio[nodes[right]]
    # (P0, P1) = near·(low, 1) + far·(high, 1); where high is infinite, far is all on the side of P0
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        beyond = np.maximum(0.0, p0 - p1 * low)
        far = np.where(np.isfinite(high), np.where(high > low, beyond / (high - low), 0.0), 0.0)
    far = np.minimum(far, p1)
    near = p1 - far
    of_high = np.where(np.isfinite(high), far * np.where(np.isfinite(high), high, 0.0), beyond)
    of_low = np.maximum(0.0, p0 - of_high)
    first = np.bincount(left, of_low, len(nodes)) + np.bincount(right, of_high, len(nodes))
    second = np.bincount(left, near, len(nodes)) + np.bincount(right, far, len(nodes))
    return Order(first / first.sum(), second / second.sum(), np.empty(0, np.int64))
