"""The extension for any suitable pairs, even a mixture: repeat the one-edge bounds until nothing changes.

Slower than the kernels, but it needs nothing of U except its values. Used for f-DP and for graphs on which different
notions of privacy meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.propagation import CLASSES
from tinct.binary.obstruction import not_extendable
from tinct.graphs.boundary import require_hitting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import Budget, DatasetGraph

    Floats = NDArray[np.float64]


def relax(graph: DatasetGraph, budget: Budget, chosen: NDArray[np.int32], given: Floats, tolerance: float) -> Floats:
    """Both columns of the extension's table, from the rows of the fixed vertices."""
    fixed = np.zeros(len(graph), bool)
    fixed[chosen] = True
    require_hitting(graph, fixed)
    codes, rows = graph.coloring.codes, np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    table = np.zeros((len(graph), 2))
    table[chosen] = given
    table[~fixed, codes[~fixed]] = 1.0
    entries = np.flatnonzero(~fixed[rows])  # from a neighbour to a free vertex
    while len(entries):
        bounds = one_step(budget, table[graph.indices[entries], codes[rows[entries]]], entries)
        best = table[np.arange(len(graph)), codes].copy()
        np.minimum.at(best, rows[entries], bounds)
        if np.array_equal(best[~fixed], table[~fixed, codes[~fixed]]):
            break
        table[~fixed, codes[~fixed]] = best[~fixed]
        table[~fixed, 1 - codes[~fixed]] = 1.0 - best[~fixed]
    touching = np.flatnonzero(fixed[rows])
    color = np.where(fixed[graph.indices[touching]], 0, codes[graph.indices[touching]])
    bounds = one_step(budget, table[graph.indices[touching], color], touching)
    excess = table[rows[touching], color] - bounds
    if len(touching) and excess.max() > tolerance:
        worst = int(np.argmax(excess))
        entry = int(touching[worst])
        raise not_extendable(graph, budget, table, chosen, int(rows[entry]), entry, int(color[worst]))
    return np.ascontiguousarray(table[:, : len(graph.outputs)])


def one_step(budget: Budget, values: Floats, entries: NDArray[np.int64]) -> Floats:
    """U of every entry applied to its value."""
    if budget.layout != CLASSES:
        return np.asarray(budget.pairs[0].upper(values))
    result = np.empty(len(values))
    for number, pair in enumerate(budget.pairs):
        mine = budget.classes[entries] == number
        result[mine] = pair.upper(values[mine])
    return result
