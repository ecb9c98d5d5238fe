"""Linear programs over local mechanisms: columns in, weights, value and dual bound out (HiGHS through SciPy).

A column of a staircase mechanism is a weight times a pattern: 1 for the symbols it raises, e^−ε for the others. The
weights must make every row sum to 1. The dual has a price for each symbol, and no pattern may be worth more than it
costs. For mutual information, patterns are generated when they pay, and priced by branch and bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, TinctError
from tinct.local.divergences import Utility
from tinct.local.information_bounds import best_share, column_worth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.local.parameters import Floats, Integers, LocalBudget

MAX_BUDGET = 20.0  # HiGHS takes coefficients below 1e-9 for zero, and e^−20 is 2e-9
ROUNDS = 60
QUICK, THOROUGH = 200, 50_000  # partial sets that pricing keeps at a time
THOROUGH_ROUNDS = 5
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_RESIDUAL = 1e-13  # how far a sum of a row may be from 1
_MARGIN = 1e-12
_GAP = 1e-9  # relative; the program is solved when the bound is this close
_QUICK_GAP = 1e-7
_SURPLUS = 1e-11  # relative; columns that promise less are left out
_COMPLETED = 64  # whole sets that are remembered from each item
_KL = Utility.parse("kl")


@dataclass(frozen=True)
class Weights:
    """Weights of the columns, each symbol's price in the dual, and the value."""

    weights: Floats
    prices: Floats
    value: float


def patterns(k: int) -> NDArray[np.bool_]:
    """All non-empty sets of k symbols, a row each."""
    numbers = np.arange(1, 1 << k)
    return np.asarray((numbers[:, None] >> np.arange(k)) & 1, bool)


def columns(raised: NDArray[np.bool_], budget: LocalBudget) -> Floats:
    """The columns that raise these sets, a row each."""
    return np.where(raised, 1.0, budget.low)


def require_solvable(budget: LocalBudget, instead: str) -> None:
    """Refuse a budget at which a solver cannot tell e^−ε from zero."""
    if not budget.epsilon <= MAX_BUDGET:
        raise ParameterError(
            f"a linear program cannot resolve epsilon above {MAX_BUDGET:g} in floating point, "
            f"got {budget.epsilon:.6g}: use {instead}"
        )


def minimised(costs: Floats, **program: Any) -> tuple[Any, float]:
    """What HiGHS says to a linear program, and the unit its costs were divided by."""
    from scipy.optimize import linprog

    # small budgets have small worths; the solver's tolerances are absolute
    unit = float(abs(costs).max(initial=0.0)) or 1.0
    result: Any = linprog(costs / unit, method="highs-ds", options=_OPTIONS, **program)
    if result.status != 0:
        raise TinctError(f"the linear program was not solved: {result.message}")
    return result, unit


def best_weights(worths: Floats, table: Floats) -> Weights:
    """Maximise Σ weight·worth over weights ≥ 0 with which the columns (rows of ``table``) sum to 1 for every symbol."""
    result, unit = minimised(-worths, A_eq=table.T, b_eq=np.ones(table.shape[1]))
    weights = np.maximum(result.x, 0.0)
    return Weights(weights, -result.eqlin.marginals * unit, float(worths @ weights))


def pattern_dual(worths: Floats, budget: LocalBudget) -> float:
    """A bound on Σ weight·worth over all mechanisms with k symbols, from prices that are checked on every pattern."""
    k = len(worths).bit_length()
    raised = patterns(k)
    table = columns(raised, budget)
    return priced_bound(worths, table, best_weights(worths, table).prices)


def priced_bound(worths: Floats, table: Floats, prices: Floats) -> float:
    """Σ prices, raised until no column of the table is worth more than it costs (weak duality)."""
    k = len(prices)
    short = float(((worths - table @ prices) / table.sum(axis=1)).max())
    rounding = (k + 4) * 2.0**-52 * math.fsum(abs(prices))  # of a column's cost
    return math.fsum(prices) + k * (max(0.0, short) + rounding)


def matrix_of(weights: Floats, table: Floats, budget: LocalBudget) -> Floats:
    """The matrix (symbols × outputs) of weighted columns: rows sum to 1, and every column keeps its ratio."""
    used = used_columns(weights)
    columns_used, solved = solved_again(table, used)
    polished = table[columns_used].T * solved
    if abs(polished.sum(axis=1) - 1.0).max() <= _RESIDUAL:
        return np.asarray(polished)
    return filled(table[used].T * weights[used], budget)


def used_columns(weights: Floats) -> Integers:
    """The columns that have more weight than rounding."""
    return np.flatnonzero(weights > 1e-12 * weights.max())


def solved_again(table: Floats, used: Integers) -> tuple[Integers, Floats]:
    """Weights of these columns with all digits, without those that turn out to have none."""
    ones = np.ones(table.shape[1])
    while True:
        solved = np.linalg.lstsq(table[used].T, ones, rcond=None)[0]
        if solved.min() > 0 or len(used) == 1:
            return used, np.asarray(solved, np.float64)
        used = used[solved > 0]


def filled(matrix: Floats, budget: LocalBudget, *, into: int | None = None) -> Floats:
    """The matrix with row sums of 1: scaled down a little, the rest of each row put into one column.

    Columns of ratio at most e^ε stay so. The rests 1 − s·r, for row sums r and the scale s chosen here, have a ratio of
    at most e^(ε/2), so they may be added to a column (``into``) or stand as a new one.
    """
    sums = matrix.sum(axis=1)
    if abs(sums - 1.0).max() <= _RESIDUAL:
        return matrix
    half = math.exp(budget.epsilon / 2)
    # 1 − s·min ≤ half·(1 − s·max); the margin keeps the rests far above rounding
    scale = (half - 1.0) / (half * sums.max() * (1.0 + _MARGIN) - sums.min())
    rest = 1.0 - scale * sums
    scaled = matrix * scale
    if into is None:
        return np.column_stack([scaled, rest])
    scaled[:, into] += rest
    return np.asarray(scaled)


@dataclass(frozen=True)
class Generated:
    """A matrix (symbols × outputs), its mutual information, and a bound on that of every private matrix."""

    matrix: Floats
    value: float
    upper_bound: float


def generate(p: Floats, budget: LocalBudget, *, enough: float = math.inf, bounded: bool = True) -> Generated:
    """The mechanism with the most mutual information for a positive prior; stops early when it reaches ``enough``.

    Without ``bounded`` only a quick search for better columns is made, and the bound is infinite.
    """
    raised = _first_patterns(p, budget)
    bound, thorough = math.inf, 0
    for _ in range(ROUNDS):
        table = columns(raised, budget)
        solved = best_weights(column_worth(np.minimum(raised @ p, 1.0), budget), table)
        goal = min(enough, bound)
        if math.isfinite(goal) and goal - solved.value <= (_GAP if bounded else _QUICK_GAP) * goal:
            break
        new, found = _priced(p, solved.prices, budget, _SURPLUS * solved.value, QUICK)
        grown = np.unique(np.concatenate([raised, new]), axis=0)
        if bounded and len(grown) == len(raised) and thorough < THOROUGH_ROUNDS:
            thorough += 1
            new, found = _priced(p, solved.prices, budget, _SURPLUS * solved.value, THOROUGH)
            grown = np.unique(np.concatenate([raised, new]), axis=0)
        bound = min(bound, found)
        if len(grown) == len(raised):
            break  # the solver's prices are as good as its tolerance allows, or the search is
        raised = grown
    return generated(p, solved, table, budget, bound)


def generated(p: Floats, solved: Weights, table: Floats, budget: LocalBudget, bound: float) -> Generated:
    """The matrix of weighted columns with its mutual information, computed from the matrix itself."""
    matrix = matrix_of(solved.weights, table, budget)
    output = p @ matrix
    value = math.fsum(float(p[x]) * _KL.divergence(matrix[x], output) for x in range(len(p)))
    return Generated(matrix, value, max(bound, value))


def _priced(
    p: Floats, prices: Floats, budget: LocalBudget, tolerance: float, most: int
) -> tuple[NDArray[np.bool_], float]:
    """Patterns that are worth more than they cost, and the bound that the prices prove.

    If no pattern is worth more than its price plus ``rent`` times its probability, no mechanism is worth more than the
    sum of the prices plus ``rent`` (docs/proofs/mutual-information.md). What is left over is paid by the least
    probability.
    """
    total = math.fsum(prices)
    base = total * budget.low
    costs = budget.span * prices
    first = Pricer(p, costs, 0.0, budget).best(tolerance, most)
    means = budget.low + budget.span * (first.raised @ p)
    surplus = first.surplus - base
    rent = max(0.0, float((surplus / means).max()))
    second = Pricer(p, costs, rent, budget).best(tolerance, most) if rent > 0 else first
    left = max(0.0, second.bound - base) / (budget.low + budget.span * float(p.min()))
    return first.raised[surplus > tolerance], total + rent + left


def _first_patterns(p: Floats, budget: LocalBudget) -> NDArray[np.bool_]:
    """Single symbols, their complements, everything, and runs of about the best probability in several orders."""
    k = len(p)
    single = np.eye(k, dtype=bool)
    target = best_share(budget)
    runs = []
    for stride in (step for step in range(1, k) if math.gcd(step, k) == 1):
        order = np.arange(k) * stride % k
        ends = np.cumsum(np.concatenate([p[order], p[order]]))
        for start in range(k):
            begin = ends[start] - p[order[start]]
            # the run that ends just below the target, and the one just above
            stop = int(np.searchsorted(ends, begin + target, side="right"))
            for length in {min(k, max(1, stop - start)), min(k, stop - start + 1)}:
                run = np.zeros(k, bool)
                run[order[np.arange(start, start + length) % k]] = True
                runs.append(run)
        if len(runs) > 40 * k:
            break
    return np.unique(np.concatenate([single, ~single, np.ones((1, k), bool), np.array(runs)]), axis=0)


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
        self, chosen: NDArray[np.bool_], start: int, down: Floats, up: Floats, stop: Integers
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

    def _fractional(self, z: Floats, paid: Floats, start: int) -> tuple[Floats, Floats, Floats, Integers]:
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
