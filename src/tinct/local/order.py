"""Symbols in increasing order of their likelihood ratio P0/P1, equal ratios merged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.local.inputs import Hypotheses, LocalBudget
    from tinct.local.utilities import Utility

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


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
