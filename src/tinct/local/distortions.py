"""Least distortion: the linear program for utilities that depend on which output stands for which symbol."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, TinctError
from tinct.local.channels import TableChannel
from tinct.local.inputs import LocalBudget, distribution, named_symbols
from tinct.local.mechanism import Certificate, LocalMechanism
from tinct.local.programs import filled, require_solvable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_ENTRIES = 250_000
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def distortion(matrix: Any, epsilon: Any, prior: Any, *, symbols: Any = None) -> LocalMechanism:
    """The mechanism with the least expected distortion Σ prior(x)·Q(y|x)·d(x, y), for outputs that are given.

    The utility is minus the distortion, so that ``value`` and ``upper_bound`` read as they do everywhere: no private
    mechanism has more, and ``gap`` is the distortion that could still be saved.

    Args:
        matrix: The distortions d(x, y), symbols × outputs, finite; at most 250,000 of them.
        epsilon: The budget, in (0, 20]: a solver cannot tell e^−ε from zero beyond.
        prior: The distribution of the symbols.
        symbols: Names for the symbols.

    >>> mechanism = distortion([[0, 1], [1, 0]], "ln 3", [0.5, 0.5])
    >>> round(mechanism.value, 9), mechanism.matrix.round(9).tolist()
    (-0.25, [[0.75, 0.25], [0.25, 0.75]])
    """
    costs = _costs(matrix)
    budget = LocalBudget.parse(epsilon)
    require_solvable(budget, "local.randomized_response or local.geometric")
    p = distribution(prior, "prior")
    if len(p) != len(costs):
        raise ParameterError(f"the distortions are for {len(costs):,} symbols, but prior has {len(p):,} probabilities")
    names = named_symbols(symbols, len(p))
    weighted = costs * p[:, None]
    table, bound = _least(weighted, budget)
    value = -math.fsum((weighted * table).ravel())
    return LocalMechanism(
        name="least distortion",
        budget=budget,
        channel=TableChannel(len(p), table),
        symbols=names,
        note="expected distortion for this prior, among all private mechanisms with these outputs (linear program)",
        utility="minus distortion",
        value=value,
        prior=p,
        known=Certificate("dual of the linear program", max(value, -bound)),
    )


def _costs(matrix: Any) -> Floats:
    try:
        costs = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"distortions must be a matrix of numbers, got {matrix!r:.80}") from None
    if costs.ndim != 2 or not costs.size or not np.isfinite(costs).all():
        raise ParameterError("distortions must be a matrix of finite numbers, a row for each symbol")
    if costs.size > MAX_ENTRIES:
        raise ParameterError(f"at most {MAX_ENTRIES:,} distortions are possible, got {costs.size:,}")
    return costs


def _least(weighted: Floats, budget: LocalBudget) -> tuple[Floats, float]:
    """The table that minimises Σ weighted·table, and a lower bound for every private table.

    Variables are the table and the least entry ℓ_y of every column: ℓ_y ≤ q(x, y) ≤ E·ℓ_y.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    k, n = weighted.shape
    entry = np.arange(k * n)
    least = k * n + np.tile(np.arange(n), k)
    lines = np.concatenate([entry, entry, k * n + entry, k * n + entry])
    places = np.concatenate([entry, least, entry, least])
    ones = np.ones(k * n)
    # both inequalities divided by √E, to keep a large E tame
    root = math.sqrt(budget.growth)
    values = np.concatenate([-ones, ones, ones / root, -root * ones])
    inequalities = coo_array((values, (lines, places)), shape=(2 * k * n, k * n + n)).tocsr()
    sums = coo_array((ones, (np.repeat(np.arange(k), n), entry)), shape=(k, k * n + n)).tocsr()
    unit = float(abs(weighted).max()) or 1.0
    result: Any = linprog(
        np.concatenate([weighted.ravel() / unit, np.zeros(n)]),
        A_ub=inequalities,
        b_ub=np.zeros(2 * k * n),
        A_eq=sums,
        b_eq=np.ones(k),
        bounds=(0.0, 1.0),
        method="highs-ds",
        options=_OPTIONS,
    )
    if result.status != 0:
        raise TinctError(f"the linear program was not solved: {result.message}")
    table = np.maximum(result.x[: k * n].reshape(k, n), 0.0)
    bound = float(result.eqlin.marginals.sum() + result.upper.marginals.sum()) * unit
    return _private(table, weighted, budget), bound


def _private(table: Floats, weighted: Floats, budget: LocalBudget) -> Floats:
    """The solver's table with its rounding removed: columns within e^ε, rows that sum to 1."""
    raised = np.maximum(table, table.max(axis=0) * budget.low)
    cheapest = int(np.argmin(weighted.sum(axis=0) + np.where(raised.max(axis=0) > 0, 0.0, np.inf)))
    return filled(raised, budget, into=cheapest)
