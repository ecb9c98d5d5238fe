"""What it costs to give all boundary vertices of an order the same row (docs/theory.md §4.3).

Two linear programs say it: the largest mean truth with one row for each order, and without that restriction. Small
graphs only, where they take well under a second. Nothing is claimed where none is solved, and what is claimed is shown:
both mechanisms were found, and the better one was checked on every edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct.errors import CostlyRows, NotPrivate, ParameterError
from tinct.privacy import Privacy
from tinct.rainbow._best import best, best_boundary

if TYPE_CHECKING:
    from tinct.graphs import DatasetGraph
    from tinct.graphs.budgets import PrivacyLike

COSTLY = 0.05  # of the mean truth
_LARGEST = 5_000  # inequalities of the larger program


def costly_rows(graph: DatasetGraph, privacy: PrivacyLike) -> CostlyRows | None:
    """A warning if the best answer could have more probability by ``COSTLY``, on average over the vertices."""
    if len(graph.indices) * len(graph.outputs) > _LARGEST or not isinstance(privacy, Privacy):
        return None
    try:
        by_order, free = best_boundary(graph, privacy), best(graph, privacy)
    except (ParameterError, NotPrivate):  # a piece without boundary, ε too large, or the solver gave up
        return None
    highest = free.value / len(graph)
    return CostlyRows(by_order.upper_bound, highest) if highest - by_order.upper_bound >= COSTLY else None
