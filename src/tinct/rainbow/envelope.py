"""The envelope: the smallest bounds that fixed rows put on all prefix sums, as a table (docs/theory.md §4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels import prefixes
from tinct._kernels.propagation import DENSE
from tinct.binary._extend import from_keys, one_step, refuse_missed_edge, to_keys
from tinct.errors import ParameterError
from tinct.mechanism._verify import TOLERANCE
from tinct.rainbow.boundary_rows import from_prefixes, orders_as_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import Budget, DatasetGraph

    Floats = NDArray[np.float64]


def envelope(graph: DatasetGraph, budget: Budget, rows: Floats) -> Floats:
    """The table whose prefix sums are the smallest bounds that the fixed rows (NaN where free) put on them."""
    fixed = ~np.isnan(rows[:, 0])
    if budget.coordinate is None:
        raise ParameterError("orders of preference need one notion of privacy, (ε, δ) or Gaussian, on all edges")
    scale, columns = budget.coordinate, orders_as_columns(graph)
    orders = graph.coloring.codes.astype(np.int32)
    ordered = rows[fixed][:, columns]  # fixed vertex × order × place
    reached = np.minimum(np.cumsum(ordered, axis=2)[:, :, :-1], 1.0)
    missed = np.minimum(np.cumsum(ordered[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:], 1.0)
    keys = np.full((len(graph), len(graph.outputs) - 1), np.inf)
    gains, shifts = budget.parameters
    rounds = prefixes.prefix_bounds(
        graph.indptr, graph.indices, orders, fixed, to_keys(reached, missed, scale), keys,
        budget.layout, budget.classes.astype(np.int32), gains, shifts, scale == "probit",
    )  # fmt: skip
    if rounds < 0:
        refuse_missed_edge(graph, -1 - rounds)
    table = np.empty_like(rows)
    if scale == "odds":
        prefixes.rows_from_odds(keys, columns, orders, table)
    else:
        np.put_along_axis(table, columns[orders], from_prefixes(*from_keys(keys, scale)), axis=1)
    table[fixed] = rows[fixed]
    return table


def contradicted(graph: DatasetGraph, budget: Budget, rows: Floats, table: Floats) -> bool:
    """Whether the bound on an event next to a fixed vertex is too small for that vertex's own row."""
    if budget.layout == DENSE:
        return False  # left to the linear program
    fixed, codes, columns = ~np.isnan(rows[:, 0]), graph.coloring.codes, orders_as_columns(graph)
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    entries = np.flatnonzero(fixed[owner] & ~fixed[graph.indices])
    order = columns[codes[graph.indices[entries]]]
    mine, theirs = (
        np.minimum(np.cumsum(np.take_along_axis(table[at], order, 1), axis=1), 1.0)
        for at in (owner[entries], graph.indices[entries])
    )
    return any(
        bool((mine[:, k] > one_step(budget, theirs[:, k], entries) + TOLERANCE).any()) for k in range(mine.shape[1] - 1)
    )
