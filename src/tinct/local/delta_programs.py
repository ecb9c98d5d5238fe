"""(ε, δ) for small alphabets: the linear program over columns whose entries are 0 or powers of e^−ε.

Some best mechanism has columns θ·s with s_x in {0, 1, e^−ε, e^−2ε, …}, the exponents that occur having no gaps
(docs/proofs/delta.md). Rows sum to 1, and for every ordered pair of symbols Σθ(s_x − e^ε·s_z)₊ ≤ δ. Columns are
generated: a program over a few of them gives prices, all columns are priced, and those that are worth more than they
cost are added. Prices that no column beats are a bound on every (ε, δ)-private mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import TinctError
from tinct.local.column_programs import filled, minimised, patterns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.local.parameters import Floats, LocalBudget

    Levels = NDArray[np.int8]

MAX_GRADED = 7  # ratios of two hypotheses; 94,585 columns
MAX_OTHER = 6  # symbols, for other utilities, which have no order to begin with; 9,365 columns
METHOD = "prices of the linear program with δ, checked against every column"
_ZERO = -1
_ROUNDS = 100
_ADDED = 400  # columns that a round adds
_SURPLUS = 1e-11  # relative; columns that promise less are left out
_SLACK = 1e-9  # relative; a bound on an excess that is this close to δ counts as met


@lru_cache(maxsize=8)
def graded(k: int) -> Levels:
    """All columns, a row each: the exponent of every symbol, −1 where the entry is 0; those that occur have no gaps.

    >>> [len(graded(k)) for k in range(1, 6)]
    [1, 5, 25, 149, 1081]
    """
    masks = np.arange(1, 1 << k)
    members = ((masks[:, None] >> np.arange(k)) & 1).astype(bool)
    found = []
    levels, free = np.full((1, k), _ZERO, np.int8), np.full(1, (1 << k) - 1)
    for level in range(k):
        grown, left = [], []
        for mask, who in zip(masks.tolist(), members, strict=True):
            fits = np.flatnonzero((free & mask) == mask)
            new = levels[fits]
            new[:, who] = level
            grown.append(new)
            left.append(free[fits] & ~mask)
        levels, free = np.concatenate(grown), np.concatenate(left)
        if not len(levels):
            break
        found.append(levels)
    every = np.concatenate(found)
    every.flags.writeable = False
    return every


def entries(levels: Levels, budget: LocalBudget) -> Floats:
    """The columns as numbers, largest entry 1."""
    return np.where(levels == _ZERO, 0.0, np.exp(-budget.epsilon * np.maximum(levels, 0)))


def excesses(levels: Levels, budget: LocalBudget) -> Floats:
    """(s_x − e^ε·s_z)₊ for every ordered pair of symbols, exactly 0 where the ratio is e^ε or less."""
    k = levels.shape[1]
    x, z = np.nonzero(~np.eye(k, dtype=bool))
    table = entries(levels, budget)
    steps = levels[:, z].astype(np.int64) - levels[:, x]
    part = np.where(levels[:, z] == _ZERO, 1.0, -np.expm1(budget.epsilon * (1.0 - np.maximum(steps, 1))))
    return np.asarray(table[:, x] * part)


@dataclass(frozen=True)
class DeltaSolution:
    """A private matrix (symbols × outputs), and a bound on the utility of every other."""

    matrix: Floats
    upper_bound: float


def two_levels(k: int) -> Levels:
    """The columns that are enough with δ = 0: every symbol raised or not."""
    return np.where(patterns(k), 0, 1).astype(np.int8)


def best_with_delta(
    levels: Levels, budget: LocalBudget, delta: float, worth: Callable[[Floats], Floats], kinds: int = 1
) -> DeltaSolution:
    """The mechanism of these columns that maximises the least of some sublinear utilities, a column of worths each."""
    k = levels.shape[1]
    table, over = entries(levels, budget), excesses(levels, budget)
    worths = worth(table).reshape(len(levels), kinds)
    unit = float(abs(worths).max(initial=0.0)) or 1.0
    worths = worths / unit
    support = levels != _ZERO
    chosen = np.flatnonzero((support.all(axis=1) & (levels <= 1).all(axis=1)) | _unimodal(levels))
    masks = support @ (1 << np.arange(k))
    sums, bound = table.sum(axis=1), math.inf
    for _ in range(_ROUNDS):
        solved = _solve(table[chosen], over[chosen], worths[chosen], delta)
        surplus = (worths @ solved.mix - table @ solved.prices - over @ solved.tolls) / sums
        bound = min(bound, _bound(k, surplus, solved, delta))
        # the best columns, and the best of every support: columns that differ settle the prices in fewer rounds
        order = np.lexsort((-surplus, masks))
        best = order[np.flatnonzero(np.diff(masks[order], prepend=-1))]
        best = np.union1d(best, np.argpartition(-surplus, min(_ADDED, len(surplus) - 1))[:_ADDED])
        new = np.setdiff1d(best[surplus[best] > _SURPLUS], chosen)
        if not len(new):
            break
        chosen = np.concatenate([chosen, new])
    matrix = _matrix(table[chosen], over[chosen], solved.weights, budget, delta)
    return DeltaSolution(matrix, bound * unit)


def _unimodal(levels: Levels) -> NDArray[np.bool_]:
    """Columns that rise and then fall along the symbols: along the likelihood order, nearly always all that is used."""
    deep = np.where(levels == _ZERO, levels.shape[1], levels)
    falls = np.minimum.accumulate(deep, axis=1) == deep  # rising entries, so far
    back = np.minimum.accumulate(deep[:, ::-1], axis=1)[:, ::-1] == deep
    return np.asarray((falls | back).all(axis=1))


@dataclass(frozen=True)
class _Solved:
    weights: Floats
    prices: Floats  # of the rows
    tolls: Floats  # of the ordered pairs, not negative
    mix: Floats  # of the utilities, summing to 1


def _solve(table: Floats, over: Floats, worths: Floats, delta: float) -> _Solved:
    """Maximise t subject to Σθ·worth ≥ t for every utility, rows that sum to 1, and excesses of at most δ."""
    count, k = table.shape
    kinds = worths.shape[1]
    costs = np.zeros(count + 1)
    costs[-1] = -1.0
    pairs = np.hstack([over.T, np.zeros((over.shape[1], 1))])
    least = np.hstack([-worths.T, np.ones((kinds, 1))])
    result, _ = minimised(
        costs,
        A_ub=np.vstack([pairs, least]),
        b_ub=np.concatenate([np.full(over.shape[1], delta), np.zeros(kinds)]),
        A_eq=np.hstack([table.T, np.zeros((k, 1))]),
        b_eq=np.ones(k),
        bounds=[(0.0, None)] * count + [(None, None)],
    )
    marginals = np.maximum(-result.ineqlin.marginals, 0.0)
    mix = marginals[over.shape[1] :]
    if not mix.sum() > 0:
        raise TinctError("the linear program gave no prices")
    scale = mix.sum()
    return _Solved(
        np.maximum(result.x[:-1], 0.0),
        -result.eqlin.marginals / scale,
        marginals[: over.shape[1]] / scale,
        mix / scale,
    )


def _bound(k: int, surplus: Floats, solved: _Solved, delta: float) -> float:
    """What all rows and all of δ cost, with the prices raised until no column is worth more (weak duality)."""
    size = math.fsum(abs(solved.prices)) + math.fsum(solved.tolls)
    rounding = (k * k + 8) * 2.0**-52 * (1.0 + size)
    short = max(0.0, float(surplus.max())) + rounding
    return math.fsum(solved.prices) + delta * math.fsum(solved.tolls) + k * short


def _matrix(table: Floats, over: Floats, weights: Floats, budget: LocalBudget, delta: float) -> Floats:
    """The columns with their weights, in all digits where that is possible: rows sum to 1, and no excess is above δ."""
    used = np.flatnonzero(weights > 1e-12 * weights.max())
    table, over, weights = table[used], over[used], weights[used]
    tight = np.flatnonzero(weights @ over >= delta * (1.0 - _SLACK))
    system = np.hstack([table, over[:, tight] / delta]) if delta else table  # every column of it is to sum to 1
    # the nearest weights with all digits: solving anew could find others, worth less
    exact = weights + np.linalg.lstsq(system.T, 1.0 - weights @ system, rcond=None)[0]
    matrix = table.T * (exact if exact.min() >= 0 else weights)
    even = int(np.argmax(matrix.min(axis=0)))  # what is added there exceeds no ratio
    into = even if matrix[:, even].min() > 0 else None
    whole = filled(matrix, budget, into=into)
    worst = largest_excess(whole, budget)
    if not delta or worst <= delta:
        return whole
    rest = np.full(len(whole), 1.0 - delta / worst)  # rounding: a constant answer, mixed in, makes room
    if into is None:
        return np.column_stack([whole * (delta / worst), rest])
    whole = whole * (delta / worst)
    whole[:, into] += rest
    return whole


def largest_excess(matrix: Floats, budget: LocalBudget) -> float:
    """The least δ with which the matrix is private, in floating point."""
    return max(float(np.maximum(row - budget.growth * matrix, 0.0).sum(axis=1).max()) for row in matrix)
