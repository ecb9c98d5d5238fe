"""Linear programs over local mechanisms: columns in, weights, value and dual bound out (HiGHS through SciPy).

A column of a staircase mechanism is a weight times a pattern: 1 for the symbols it raises, e^−ε for the others. The
weights must make every row sum to 1. The dual has a price for each symbol, and no pattern may be worth more than it
costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, TinctError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.local.inputs import LocalBudget

    Floats = NDArray[np.float64]

MAX_BUDGET = 20.0  # HiGHS takes coefficients below 1e-9 for zero, and e^−20 is 2e-9
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_RESIDUAL = 1e-13  # how far a sum of a row may be from 1
_MARGIN = 1e-12


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


def best_weights(worths: Floats, table: Floats) -> Weights:
    """Maximise Σ weight·worth over weights ≥ 0 with which the columns (rows of ``table``) sum to 1 for every symbol."""
    from scipy.optimize import linprog

    # small budgets have small worths; the solver's tolerances are absolute
    unit = float(abs(worths).max(initial=0.0)) or 1.0
    k = table.shape[1]
    result: Any = linprog(-worths / unit, A_eq=table.T, b_eq=np.ones(k), method="highs-ds", options=_OPTIONS)
    if result.status != 0:
        raise TinctError(f"the linear program was not solved: {result.message}")
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
    short = float(((worths - table @ prices) / table.sum(axis=1)).max())
    return math.fsum(prices) + len(prices) * max(0.0, short)


def matrix_of(weights: Floats, table: Floats, budget: LocalBudget) -> Floats:
    """The matrix (symbols × outputs) of weighted columns: rows sum to 1, and every column keeps its ratio."""
    used = np.flatnonzero(weights > 1e-12 * weights.max())
    chosen = table[used].T
    solved = np.linalg.lstsq(chosen, np.ones(len(chosen)), rcond=None)[0]
    polished = chosen * solved
    if (solved > 0).all() and abs(polished.sum(axis=1) - 1.0).max() <= _RESIDUAL:
        return np.asarray(polished)
    return filled(chosen * weights[used], budget)


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
