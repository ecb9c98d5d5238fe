"""rainbow.extend: the mechanism that dominates all others, for any number of answers (docs/theory.md §4)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tinct._kernels.propagation import UNIFORM
from tinct.errors import CostlyRows, NotExtendable, NotPrivate, ParameterError
from tinct.graphs import Budget, DatasetGraph, ImplicitGraph
from tinct.mechanism import Mechanism, claims
from tinct.mechanism._verify import verify
from tinct.privacy import Privacy
from tinct.rainbow._best import best, best_boundary
from tinct.rainbow._optimum_exists import optimum_of_rows
from tinct.rainbow.boundary_rows import (
    BoundaryRows,
    at_distance,
    graph_row,
    orders_as_columns,
    require_rainbow,
    rows_by_vertex,
)
from tinct.rainbow.row_by_region import row_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.binary.one_row import EdgePrivacyOf
    from tinct.graphs import GraphLike
    from tinct.graphs.budgets import PrivacyLike
    from tinct.graphs.labels import Vertex
    from tinct.privacy import SuitablePair

    Floats = NDArray[np.float64]


@overload
def extend(graph: DatasetGraph, privacy: PrivacyLike, boundary: Mapping[Any, Any]) -> Mechanism: ...
@overload
def extend(
    graph: GraphLike,
    privacy: PrivacyLike | EdgePrivacyOf,
    boundary: Mapping[Any, Any] | Callable[[Any], Any],
    *,
    at: Vertex,
) -> Floats: ...
def extend(
    graph: GraphLike,
    privacy: Any,  # a function of two vertices is refused for a graph that was built
    boundary: Mapping[Any, Any] | Callable[[Any], Any],
    *,
    at: Vertex | None = None,
) -> Mechanism | Floats:
    """The private mechanism that dominates all others: each prefix sum at each vertex is at least that of any other.

    Args:
        graph: A graph whose colours are orders of preference over the answers (or two plain colours).
        privacy: One suitable pair for all edges, or one for each edge. For an implicit graph also a function of the
            two vertices.
        boundary: ``{order: distribution}``, the same for all boundary vertices of an order; or
            ``{vertex: distribution}`` for a set of vertices that meets every edge between different orders; or, with
            ``at``, a function of the vertex that returns None where free. Keys that are all orders are taken for
            orders, even if vertices have the same names.
            A distribution is ``{answer: probability}``, or a list in the order of the graph's ``outputs``; with several
            orders a list is refused if the graph was built without ``outputs``.
        at: Compute the row of this vertex only. With rows by order and one privacy the search ends at the nearest
            boundary vertex; otherwise the region of the vertex is explored, and checked on every edge. The rows are
            then taken to be close where fixed vertices are neighbours, and extendable in other regions. An implicit
            graph needs it.

    Returns:
        A Mechanism; with ``at``, one row. Where the envelope of all bounds is not private, and linear programs
        find the optimum below it, a ``ProgramOptimum`` with its ``gap``.

    Raises:
        NotExtendable: No private mechanism has these rows; ``witness`` says where they clash.
        NoOptimum: There are private mechanisms, but none dominates all others; or, on graphs too large for linear
            programs and for other notions than (ε, δ), the envelope is not private and the rest was not looked into.
            The message says which. ``best`` maximises a stated utility.

    >>> from tinct import DatasetGraph, Privacy
    >>> colors = {1: ("a", "b", "c"), 2: ("a", "b", "c"), 3: ("b", "a", "c")}
    >>> path = DatasetGraph([(1, 2), (2, 3)], colors, outputs="abc")
    >>> rows = {("a", "b", "c"): [0.5, 0.3, 0.2], ("b", "a", "c"): [0.3, 0.5, 0.2]}
    >>> extend(path, Privacy("ln 2"), rows).row(1)
    array([0.75, 0.15, 0.1 ])
    >>> extend(path, Privacy("ln 2"), rows, at=1)
    array([0.75, 0.15, 0.1 ])
    """
    if not isinstance(graph, ImplicitGraph):
        require_rainbow(graph)
    if at is not None:
        if not callable(boundary):
            boundary = _named(boundary)
        return row_at(graph, privacy, boundary, at)
    if isinstance(graph, ImplicitGraph):
        raise ParameterError("an implicit graph can be evaluated only one vertex at a time: give at=vertex")
    if callable(boundary):
        raise ParameterError("a function of boundary rows needs at=vertex; for the whole graph give a mapping")
    rows, budget = _named(boundary), Budget(graph, privacy)
    if not all(key in graph.coloring.palette for key in rows):
        return optimum_of_rows(graph, privacy, budget, rows_by_vertex(graph, rows))
    mechanism = _homogeneous(graph, privacy, budget, _rows_by_order(graph, rows))
    costly = costly_rows(graph, privacy)
    if costly is not None:
        warnings.warn(costly, stacklevel=2)
    return mechanism


def _named(boundary: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The boundary rows; those of the library by answer, since its lists may follow the outputs of another graph."""
    if not isinstance(boundary, Mapping) or not boundary:
        raise ParameterError("boundary must be a mapping {order: distribution} or {vertex: distribution}")
    return boundary.named() if isinstance(boundary, BoundaryRows) else boundary


def _rows_by_order(graph: DatasetGraph, boundary: Mapping[Any, Any]) -> Floats:
    occurring = set(np.unique(graph.coloring.codes).tolist())
    rows = np.full((len(graph.coloring.palette), len(graph.outputs)), np.nan)
    for code, order in enumerate(graph.coloring.palette):
        if order in boundary:
            rows[code] = graph_row(graph, boundary[order], f"the row of order {order!r}")
        elif code in occurring:
            raise ParameterError(f"no boundary row is given for order {order!r}")
    return rows


def _homogeneous(graph: DatasetGraph, privacy: PrivacyLike, budget: Budget, rows: Floats) -> Mechanism:
    """One row for each order: closed form by distance, if the privacy is the same everywhere."""
    distance, codes = graph.boundary_distance(), graph.coloring.codes
    if budget.layout != UNIFORM:
        fixed = np.where((distance == 0)[:, None], rows[codes], np.nan)
        return optimum_of_rows(graph, privacy, budget, fixed)
    _require_close(graph, budget.pairs[0], rows)
    table = np.empty((len(graph), len(graph.outputs)))
    columns = orders_as_columns(graph)
    for code in np.unique(codes).tolist():
        mine = np.flatnonzero(codes == code)
        steps = np.arange(int(distance[mine].max()) + 1) if (distance[mine] >= 0).any() else np.arange(1)
        lines = np.empty((len(steps) + 1, len(graph.outputs)))
        lines[:-1, columns[code]] = at_distance(budget.pairs[0], rows[code, columns[code]], steps)
        lines[-1] = 0.0  # for distance −1: a piece of one order is answered with its best answer
        lines[-1, columns[code, 0]] = 1.0
        table[mine] = lines[distance[mine]]
    return Mechanism.trusted(graph, table, privacy, claim=claims.ROWS)


def _require_close(graph: DatasetGraph, privacy: SuitablePair, rows: Floats) -> None:
    """Boundary rows of orders that meet must be close: checked once for each pair of orders."""
    ends, codes, palette = graph.boundary().ends, graph.coloring.codes, graph.coloring.palette
    meeting, first = np.unique(np.sort(codes[ends], axis=1), axis=0, return_index=True)
    if not len(meeting):
        return
    orders = np.unique(meeting)
    neighbors = DatasetGraph(
        [(palette[a], palette[b]) for a, b in meeting.tolist()],
        {palette[code]: palette[code] for code in orders.tolist()},
        outputs=graph.outputs,
        disconnected=True,
    )
    verdict = verify(rows[orders], neighbors, privacy)
    if verdict.private or verdict.witness is None:
        return
    one, other = verdict.witness.edge
    pair = sorted((palette.index(one), palette.index(other)))
    u, v = (graph.vertices[end] for end in ends[first[meeting.tolist().index(pair)]].tolist())
    edge = DatasetGraph([(one, other)], {one: one, other: other}, outputs=graph.outputs)
    needed = verify(rows[[palette.index(one), palette.index(other)]], edge, privacy)
    raise NotExtendable(
        f"no private mechanism: the rows of {one!r} and {other!r} are not close, although these orders meet on edge "
        f"({u!r}, {v!r}); they would need ε = {needed.epsilon:.6g} or δ = {needed.delta:.6g}",
        verdict.witness,
    )


# what it costs to give all boundary vertices of an order the same row (docs/theory.md §4.3)
#
# Two linear programs say it: the largest mean truth with one row for each order, and without that restriction. Small
# graphs only, where they take well under a second. Nothing is claimed where none is solved, and what is claimed is
# shown: both mechanisms were found, and the better one was checked on every edge.


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
