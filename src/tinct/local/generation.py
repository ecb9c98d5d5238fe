"""Column generation: the linear program over all patterns without writing all of them down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinct.local.bounds import best_share, column_worth
from tinct.local.pricing import Pricer
from tinct.local.programs import best_weights, columns, matrix_of, patterns, priced_bound
from tinct.local.utilities import Utility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.local.inputs import LocalBudget
    from tinct.local.programs import Weights

    Floats = NDArray[np.float64]

ALL_PATTERNS = 10
ROUNDS = 60
QUICK, THOROUGH = 200, 50_000  # partial sets that pricing keeps at a time
THOROUGH_ROUNDS = 5
_GAP = 1e-9  # relative; the program is solved when the bound is this close
_QUICK_GAP = 1e-7
_SURPLUS = 1e-11  # relative; columns that promise less are left out
_KL = Utility.parse("kl")


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
    if len(p) <= ALL_PATTERNS:
        raised = patterns(len(p))
        table = columns(raised, budget)
        worths = column_worth(np.minimum(raised @ p, 1.0), budget)
        solved = best_weights(worths, table)
        return _generated(p, solved, table, budget, priced_bound(worths, table, solved.prices))
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
    return _generated(p, solved, table, budget, bound)


def _generated(p: Floats, solved: Weights, table: Floats, budget: LocalBudget, bound: float) -> Generated:
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
