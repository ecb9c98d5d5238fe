"""What a column is worth for mutual information, and bounds for every prior (docs/proofs/mutual-information.md).

A column that raises the set T is worth g(P(T)), scaled by e^−ε, with g concave. Per unit of probability it is worth
r(z) = c − c/x − ln x at x = 1 + (e^ε − 1)z, with c = ε·e^ε/(e^ε − 1); r rises up to x = c and falls after it. So the
probabilities of sets that are nearest that place decide, and subset sums find them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinct.local.divergences import Utility
from tinct.local.parameters import LocalBudget, distribution

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tinct.local.parameters import BudgetLike, Floats, Integers

EXACT = 40  # symbols for which subset sums are exact
_ROUNDING = 1e-15
_KL = Utility.parse("kl")
_REVERSE_KL = Utility.parse("reverse-kl")


def column_worth(z: ArrayLike, budget: LocalBudget) -> Floats:
    """The worth of columns with largest entry 1 that raise sets of probability z."""
    z = np.asarray(z, np.float64)
    mean = budget.low + budget.span * z
    raised = _KL.worth(np.ones_like(z), mean, budget.span * (1.0 - z))
    others = _KL.worth(np.full_like(z, budget.low), mean, -budget.span * z)
    return np.asarray(z * raised + (1.0 - z) * others)


def rate(z: ArrayLike, budget: LocalBudget) -> Floats:
    """The worth of a column per unit of probability."""
    return column_worth(z, budget) / (budget.low + budget.span * np.asarray(z, np.float64))


def cells_information(masses: ArrayLike, budget: LocalBudget) -> float:
    """The mutual information of randomized response on cells of these probabilities."""
    worths = column_worth(np.minimum(masses, 1.0), budget)
    return float(worths.sum()) / (1.0 + (len(worths) - 1) * budget.low)


def best_share(budget: LocalBudget) -> float:
    """The z at which the rate is largest, (c − 1)/(e^ε − 1)."""
    return _beyond_one(budget) / budget.exact.growth_minus_one


def universal_bound(budget: LocalBudget) -> float:
    """The largest rate, c − 1 − ln c: no private mechanism has more mutual information, whatever the prior."""
    beyond = np.array([_beyond_one(budget)])
    return float(_REVERSE_KL.worth(1.0 + beyond, np.ones(1), beyond)[0])


def entropy(p: Floats) -> float:
    """The entropy of a distribution, in nats."""
    present = p[p > 0]
    return max(0.0, -math.fsum(present * np.log(present)))


def information_bound(prior: ArrayLike, epsilon: BudgetLike) -> float:
    """A number that the mutual information of no ε-private mechanism exceeds for this prior, in nats.

    The least of the entropy, of the largest rate, and of k/(1 + (k − 1)e^−ε) times the largest worth (lemma 26 of the
    paper), over sets that exist: all of them up to 40 symbols, and for more those that are not ruled out by the most
    likely symbol.

    >>> round(information_bound([0.25] * 4, 1), 6), round(information_bound([0.9, 0.1], 1), 6)
    (0.117993, 0.046267)
    """
    p = distribution(prior, "prior")
    budget = LocalBudget.parse(epsilon)
    k = int(np.count_nonzero(p))
    if k == 1:
        return 0.0
    rates = rate(_shares_near(p, best_share(budget)), budget)
    # where the worth is largest: 1 + (e^ε − 1)z = e^(c − 1)
    peak = min(1.0, math.expm1(min(_beyond_one(budget), budget.epsilon)) / budget.exact.growth_minus_one)
    worths = column_worth(_shares_near(p, peak), budget)
    lemma_26 = float(worths.max()) * k / (1.0 + (k - 1) * budget.low)
    return rounded_up(min(entropy(p), float(rates.max()), lemma_26), k, budget)


def rounded_up(bound: float, k: int, budget: LocalBudget) -> float:
    """A bound computed from rounded probabilities of k symbols and their sums, raised by what that can have cost it.

    Sums of positive numbers are off by a share s of themselves, which moves the worth of a set by at most s times
    (itself + κ), with κ = 1 − (1 + ε)e^−ε ≤ min(1, ε²/2), and what a mechanism is worth by s·(itself + e·κ)
    (docs/proofs/mutual-information.md, rounding).
    """
    share = (k + 16) * 2.0**-52  # 16 for roundings within a worth, of which 11 were seen
    return bound * (1.0 + share) + 3.0 * share * min(1.0, budget.epsilon**2 / 2.0)


def _shares_near(p: Floats, target: float) -> Floats:
    """Probabilities of sets that enclose the target, or the target itself where sets are too many to look at."""
    most = float(p.max())
    if np.count_nonzero(p) <= EXACT:
        return np.array([subset.share for subset in around(p, target)])
    enclosed = most > 0.5 and 1.0 - most < target < most
    return np.array([1.0 - most, most] if enclosed else [target])


def _beyond_one(budget: LocalBudget) -> float:
    """The number c − 1 = (ε − 1 + e^−ε)/(1 − e^−ε)."""
    epsilon = budget.epsilon
    if epsilon > 0.5:
        return (epsilon - budget.span) / budget.span
    term, total = 1.0, 0.0
    for n in range(2, 20):  # the exponential series from its second term on, divided by ε
        term *= -epsilon / n
        total -= term
    return total * epsilon / budget.span


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


def has_one_split(p: Floats, share: float) -> bool:
    """Whether one set and its complement alone, of the symbols that occur, are this near 1/2; False beyond 40 symbols.

    Sums within 1e-12 count as equal, so that rounding can hide a tie but not make a claim.
    """
    present = p[p > 0]
    if len(present) > EXACT:
        return False
    half = len(present) // 2
    reach = abs(share - 0.5) + 1e-12
    sums, others = _sums(present[:half]), np.sort(_sums(present[half:]))
    ends = (np.searchsorted(others, 0.5 - sums + reach, "right"), np.searchsorted(others, 0.5 - sums - reach, "left"))
    return int((ends[0] - ends[1]).sum()) == 2


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
