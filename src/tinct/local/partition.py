"""Subset sums: the set of symbols whose probability is nearest a target, exactly, by meeting in the middle.

Equal sums of two halves are found by sorting: every subset of the first half needs the largest sum of the second half
that still fits, so 40 symbols take 2^20 sums a side and one search each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

EXACT = 40
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Subset:
    """Positions of a subset, its probability, and whether no subset is nearer the target (up to rounding)."""

    members: Integers
    share: float
    exact: bool


def halves(p: Floats) -> Subset:
    """The subset whose probability is nearest 1/2; of two complements, the one with at most 1/2."""
    below, above = around(p, 0.5)
    chosen = min((below, above), key=lambda subset: abs(subset.share - 0.5))
    if chosen.share <= 0.5:
        return chosen
    rest = np.setdiff1d(np.arange(len(p)), chosen.members)
    return Subset(rest, math.fsum(p[rest]), chosen.exact)


def around(p: Floats, target: float) -> tuple[Subset, Subset]:
    """The subset with the largest sum up to ``target``, and the one with the least sum from ``target`` on.

    Exact up to 40 symbols of positive probability. Beyond, the smallest symbols are settled greedily before the
    largest 40 are searched; the result is marked exact only if it hits the target.
    """
    order = np.argsort(-p, kind="stable")
    order = order[p[order] > 0]
    searched, rest = order[:EXACT], order[EXACT:]
    settled = _greedy(p, rest, target)
    base = math.fsum(p[settled])
    half = len(searched) // 2
    left, right = searched[:half], searched[half:]
    sums = _sums(p[left])
    others = _sums(p[right])
    by_size = np.argsort(others, kind="stable")
    others = others[by_size]
    wanted = target - base - sums
    at = np.searchsorted(others, wanted + _ROUNDING, side="right") - 1
    below = np.where(at >= 0, sums + others[np.maximum(at, 0)], -np.inf)
    after = np.minimum(at + 1, len(others) - 1)
    # a sum that equals the target counts as both
    above = np.where(others[after] >= wanted - _ROUNDING, sums + others[after], np.inf)
    touching = (at >= 0) & (others[np.maximum(at, 0)] >= wanted - _ROUNDING)
    above = np.where(touching, sums + others[np.maximum(at, 0)], above)
    after = np.where(touching, at, after)
    one, two = int(np.argmax(below)), int(np.argmin(above))
    found = []
    for row, column, fits in ((one, int(at[one]), below[one]), (two, int(after[two]), above[two])):
        if not math.isfinite(fits):  # nothing on this side: the empty set or everything
            members = np.empty(0, np.int64) if row == one and fits < 0 else order
        else:
            chosen = [left[_bits(row, len(left))], right[_bits(int(by_size[column]), len(right))], settled]
            members = np.sort(np.concatenate(chosen))
        share = math.fsum(p[members])
        exact = not len(rest) or abs(share - target) <= _ROUNDING
        found.append(Subset(np.asarray(members), share, exact))
    return found[0], found[1]


def _greedy(p: Floats, rest: Integers, target: float) -> Integers:
    """A share of the small symbols in proportion to the target, largest first."""
    if not len(rest):
        return np.empty(0, np.int64)
    aim = target * math.fsum(p[rest])
    chosen, total = [], 0.0
    for x in rest:
        if total + p[x] <= aim:
            chosen.append(int(x))
            total += float(p[x])
    return np.array(chosen, np.int64)


def _sums(p: Floats) -> Floats:
    """The sums of all subsets; bit x of the index says whether x is in."""
    sums = np.zeros(1)
    for mass in p:
        sums = np.concatenate([sums, sums + mass])
    return sums


def _bits(number: int, count: int) -> NDArray[np.bool_]:
    return np.array([number >> x & 1 for x in range(count)], bool)
