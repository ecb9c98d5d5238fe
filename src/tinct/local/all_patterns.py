"""Up to ten symbols: the program over all patterns, and among the mechanisms that are best, one with few outputs.

On the symbols that occur every best mechanism is made of patterns that cost what they are worth
(docs/proofs/orbits.md). A solver returns some vertex, with at most one output for each symbol; where several mechanisms
are best, fewer may do. Sets of few such patterns are all tried, as long as they are few themselves; beyond, the program
is solved again with costs that favour what has much weight already.
"""

from __future__ import annotations

import math
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from tinct.local.column_programs import (
    Weights,
    best_weights,
    columns,
    generated,
    minimised,
    patterns,
    priced_bound,
    solved_again,
    used_columns,
)
from tinct.local.information_bounds import column_worth

if TYPE_CHECKING:
    from tinct.local.column_programs import Generated
    from tinct.local.parameters import Floats, Integers, LocalBudget

ALL_PATTERNS = 10  # symbols up to which all patterns are written down
MOST_TRIED = 20_000  # sets of patterns that are tried, a fifth of a second
_TIE = 1e-11  # relative; patterns whose worth is this close to their price may be used
_STARTS, _ROUNDS = 5, 6
_GOLDEN = 0.6180339887498949  # its multiples are spread evenly between whole numbers
_WHOLE = 1e-12  # how far from 1 rows may be when a set of patterns is tried


def solve_patterns(p: Floats, budget: LocalBudget) -> Generated:
    """The mechanism with the most mutual information for a positive prior on at most ten symbols."""
    raised = patterns(len(p))
    table = columns(raised, budget)
    worths = column_worth(np.minimum(raised @ p, 1.0), budget)
    solved = best_weights(worths, table)
    bound = priced_bound(worths, table, solved.prices)
    used, weights = solved_again(table, used_columns(solved.weights))
    tight = np.flatnonzero(worths - table @ solved.prices >= -_TIE * abs(worths).max(initial=0.0))
    if len(tight) > len(used):
        fewer, others = solved_again(table, tight[_few(table[tight], len(used))])
        whole = abs(others @ table[fewer] - 1.0).max() <= _WHOLE
        if whole and len(fewer) < len(used) and worths[fewer] @ others >= (1.0 - _TIE) * (worths[used] @ weights):
            used, weights = fewer, others
    spread = np.zeros(len(worths))
    spread[used] = weights
    return generated(p, Weights(spread, solved.prices, solved.value), table, budget, bound)


def _few(table: Floats, most: int) -> Integers:
    """A few of these columns that sum to 1 for every symbol with some positive weights; all if fewer are not found."""
    tried = 0
    for count in range(1, most):
        tried += math.comb(len(table), count)
        if tried > MOST_TRIED:
            return _favoured(table)
        found = _first_that_fits(table, count)
        if found is not None:
            return found
    return np.arange(len(table))


def _first_that_fits(table: Floats, count: int) -> Integers | None:
    """The first set of so many columns that fits."""
    sets = combinations(range(len(table)), count)
    while len(batch := np.array(list(islice(sets, 4096)), np.int64)):
        tried = table[batch].transpose(0, 2, 1)
        weights = np.linalg.pinv(tried).sum(axis=2)
        rests = abs((tried @ weights[:, :, None])[:, :, 0] - 1.0).max(axis=1)
        fits = np.flatnonzero((rests <= _WHOLE) & (weights.min(axis=1) > 0.0))
        if len(fits):
            return np.asarray(batch[fits[0]])
    return None


def _favoured(table: Floats) -> Integers:
    """The fewest columns among those that programs with different costs use; a column's cost falls with its weight."""
    best = np.arange(len(table))
    for start in range(_STARTS):
        # costs that differ and are spread evenly, the same ones every time: nothing here may look like chance
        costs: Floats = 0.5 + (np.arange(1, len(table) + 1, dtype=np.float64) * (_GOLDEN + start / _STARTS)) % 1.0
        for _ in range(_ROUNDS):
            result, _ = minimised(costs, A_eq=table.T, b_eq=np.ones(table.shape[1]))
            weights = np.maximum(result.x, 0.0)
            used = used_columns(weights)
            if len(used) < len(best):
                best = used
            costs = 1.0 / (weights + 1e-3 * weights.max())
    return best
