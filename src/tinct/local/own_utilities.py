"""Linear programs for utilities of one's own: of columns (staircase), and of symbols and outputs (distortion).

A sublinear utility of columns is maximised over all 2^k staircase patterns, for small alphabets. A distortion depends
on which output stands for which symbol, so its program has the whole table as variables.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.local.column_programs import (
    best_weights,
    columns,
    filled,
    matrix_of,
    minimised,
    patterns,
    priced_bound,
    require_solvable,
)
from tinct.local.delta_programs import MAX_OTHER, METHOD, best_with_delta, entries, graded
from tinct.local.local_mechanism import Certificate, LocalMechanism
from tinct.local.mechanisms.written_out_table import TableChannel
from tinct.local.parameters import LocalBudget, delta_below_one, distribution, named_symbols, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from tinct.local.parameters import BudgetLike, Floats, SymbolsLike
    from tinct.numbers.amounts import NumberLike

MAX_STAIRCASE = 16  # symbols
MAX_DISTORTIONS = 250_000
_REPORTS = 64
_SPOTS = 256  # pairs of columns on which sublinearity is looked at
_SLACK = 1e-9


def staircase(
    utility: Callable[[Floats], float],
    k: int,
    epsilon: BudgetLike,
    *,
    delta: NumberLike = 0,
    symbols: SymbolsLike | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LocalMechanism:
    """The mechanism on k ≤ 16 symbols that maximises Σ_y utility(column of y), by the program over all 2^k patterns.

    With δ > 0 columns have more levels, and k is at most 6.

    Args:
        utility: A function of a column Q(y|·), given as an array of k numbers. It must be sublinear: twice the column
            is worth twice as much, and a sum is worth at most the sum of the worths. Divergences, mutual information
            and every linear function are.
        k: The number of symbols.
        epsilon: The budget, in (0, 20]: a solver cannot tell e^−ε from zero beyond.
        delta: The δ of (ε, δ)-privacy, in [0, 1); the utility must then be finite for columns with zeros.
        symbols: Names for the symbols.
        progress: Called with (patterns done, patterns in all) from time to time.

    >>> mechanism = staircase(lambda column: column.max(), 3, "ln 2")
    >>> round(mechanism.value, 9), round(mechanism.gap, 9)
    (1.5, 0.0)
    """
    if not callable(utility):
        raise ParameterError(f"utility must be a function of a column, got {utility!r:.80}")
    k = whole(k, "k", 1, 10**9)
    if k > MAX_STAIRCASE:
        raise ParameterError(
            f"the program over all patterns is for at most {MAX_STAIRCASE} symbols, got {k:,}: "
            "use local.optimal for two hypotheses or local.mutual_information for a prior"
        )
    budget = LocalBudget.parse(epsilon)
    require_solvable(budget, "local.optimal or local.mutual_information")
    names = named_symbols(symbols, k)
    part = delta_below_one(delta)
    if part and k > MAX_OTHER:
        raise ParameterError(f"with δ > 0 the program is for at most {MAX_OTHER} symbols, got {k:,}")
    table = entries(graded(k), budget) if part else columns(patterns(k), budget)
    worths = _worths(utility, table, progress)
    _require_sublinear(utility, table, worths)
    if part:
        best = best_with_delta(graded(k), budget, float(part), lambda _: worths)
        matrix, bound = best.matrix, best.upper_bound
    else:
        solved = best_weights(worths, table)
        matrix = matrix_of(solved.weights, table, budget)
        bound = priced_bound(worths, table, solved.prices)
    value = math.fsum(_worths(utility, np.ascontiguousarray(matrix.T), None))
    return LocalMechanism(
        name="staircase",
        budget=budget,
        channel=TableChannel(k, matrix),
        symbols=names,
        note="the given utility, among all private mechanisms (linear program over all patterns)",
        exact_delta=part,
        utility=getattr(utility, "__name__", "utility"),
        value=value,
        known=Certificate(METHOD if part else "dual of the linear program over all patterns", max(value, bound)),
    )


def _worths(utility: Callable[[Floats], float], table: Floats, progress: Callable[[int, int], None] | None) -> Floats:
    """The utility of every row of a table of columns."""
    total = len(table)
    every = max(1, total // _REPORTS)
    worths = np.empty(total)
    for at, column in enumerate(table):
        worths[at] = _worth(utility, column)
        if progress is not None and ((at + 1) % every == 0 or at + 1 == total):
            progress(at + 1, total)
    return worths


def _worth(utility: Callable[[Floats], float], column: Floats) -> float:
    try:
        worth = float(utility(column))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ParameterError(f"utility must give a number for a column of {len(column)} numbers: {error}") from None
    if not math.isfinite(worth):
        raise ParameterError(f"utility must be finite, got {worth} for the column {_shown(column)}")
    return worth


def _require_sublinear(utility: Callable[[Floats], float], table: Floats, worths: Floats) -> None:
    """Look at a spread of pairs of columns: finds mistakes, is not a proof."""
    scale = float(abs(worths).max(initial=0.0))
    step = max(1, len(table) // _SPOTS)
    for at in range(0, len(table), step):
        column, other = table[at], table[(at * 7 + 3) % len(table)]
        double = _worth(utility, 2.0 * column)
        if not abs(double - 2.0 * worths[at]) <= _SLACK * scale:
            raise ParameterError(
                f"utility must be sublinear: the column {_shown(column)} is worth {worths[at]:.6g}, "
                f"twice the column {double:.6g}"
            )
        both = _worth(utility, column + other)
        parts = worths[at] + worths[(at * 7 + 3) % len(table)]
        if not both <= parts + _SLACK * scale:
            raise ParameterError(
                f"utility must be sublinear: {_shown(column)} and {_shown(other)} are worth {parts:.6g}, "
                f"their sum {both:.6g}"
            )


def _shown(column: Floats) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in column) + ")"


def distortion(
    matrix: ArrayLike, epsilon: BudgetLike, prior: ArrayLike, *, symbols: SymbolsLike | None = None
) -> LocalMechanism:
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


def _costs(matrix: ArrayLike) -> Floats:
    try:
        costs = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"distortions must be a matrix of numbers, got {matrix!r:.80}") from None
    if costs.ndim != 2 or not costs.size or not np.isfinite(costs).all():
        raise ParameterError("distortions must be a matrix of finite numbers, a row for each symbol")
    if costs.size > MAX_DISTORTIONS:
        raise ParameterError(f"at most {MAX_DISTORTIONS:,} distortions are possible, got {costs.size:,}")
    return costs


def _least(weighted: Floats, budget: LocalBudget) -> tuple[Floats, float]:
    """The table that minimises Σ weighted·table, and a lower bound for every private table.

    Variables are the table and the least entry ℓ_y of every column: ℓ_y ≤ q(x, y) ≤ E·ℓ_y.
    """
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
    result, unit = minimised(
        np.concatenate([weighted.ravel(), np.zeros(n)]),
        A_ub=inequalities,
        b_ub=np.zeros(2 * k * n),
        A_eq=sums,
        b_eq=np.ones(k),
        bounds=(0.0, 1.0),
    )
    table = np.maximum(result.x[: k * n].reshape(k, n), 0.0)
    bound = float(result.eqlin.marginals.sum() + result.upper.marginals.sum()) * unit
    return _private(table, weighted, budget), bound


def _private(table: Floats, weighted: Floats, budget: LocalBudget) -> Floats:
    """The solver's table with its rounding removed: columns within e^ε, rows that sum to 1."""
    raised = np.maximum(table, table.max(axis=0) * budget.low)
    cheapest = int(np.argmin(weighted.sum(axis=0) + np.where(raised.max(axis=0) > 0, 0.0, np.inf)))
    return filled(raised, budget, into=cheapest)
