"""Any sublinear utility: the linear program over all 2^k staircase patterns, for small alphabets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.local.channels import TableChannel
from tinct.local.inputs import LocalBudget, named_symbols, whole
from tinct.local.mechanism import Certificate, LocalMechanism
from tinct.local.programs import best_weights, columns, matrix_of, patterns, priced_bound, require_solvable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_SYMBOLS = 16
_REPORTS = 64
_SPOTS = 256  # pairs of columns on which sublinearity is looked at
_SLACK = 1e-9


def staircase(
    utility: Callable[[Floats], float],
    k: int,
    epsilon: Any,
    *,
    symbols: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> LocalMechanism:
    """The mechanism on k ≤ 16 symbols that maximises Σ_y utility(column of y), by the program over all 2^k patterns.

    Args:
        utility: A function of a column Q(y|·), given as an array of k numbers. It must be sublinear: twice the column
            is worth twice as much, and a sum is worth at most the sum of the worths. Divergences, mutual information
            and every linear function are.
        k: The number of symbols.
        epsilon: The budget, in (0, 20]: a solver cannot tell e^−ε from zero beyond.
        symbols: Names for the symbols.
        progress: Called with (patterns done, patterns in all) from time to time.

    >>> mechanism = staircase(lambda column: column.max(), 3, "ln 2")
    >>> round(mechanism.value, 9), round(mechanism.gap, 9)
    (1.5, 0.0)
    """
    if not callable(utility):
        raise ParameterError(f"utility must be a function of a column, got {utility!r:.80}")
    k = whole(k, "k", 1, 10**9)
    if k > MAX_SYMBOLS:
        raise ParameterError(
            f"the program over all patterns is for at most {MAX_SYMBOLS} symbols, got {k:,}: "
            "use local.optimal for two hypotheses or local.mutual_information for a prior"
        )
    budget = LocalBudget.parse(epsilon)
    require_solvable(budget, "local.optimal or local.mutual_information")
    names = named_symbols(symbols, k)
    table = columns(patterns(k), budget)
    worths = _worths(utility, table, progress)
    _require_sublinear(utility, table, worths)
    solved = best_weights(worths, table)
    matrix = matrix_of(solved.weights, table, budget)
    value = math.fsum(_worths(utility, np.ascontiguousarray(matrix.T), None))
    bound = priced_bound(worths, table, solved.prices)
    return LocalMechanism(
        name="staircase",
        budget=budget,
        channel=TableChannel(k, matrix),
        symbols=names,
        note="the given utility, among all private mechanisms (linear program over all patterns)",
        utility=getattr(utility, "__name__", "utility"),
        value=value,
        known=Certificate("dual of the linear program over all patterns", max(value, bound)),
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
