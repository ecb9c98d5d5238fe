"""One row of the optimum, looking at no more of the graph than that takes (docs/proofs/rainbow.md, claim 8).

With one row for each order and one privacy, the row depends on the distance to the boundary of the own order only: the
search ends where it meets the boundary. Otherwise the whole region of the vertex is explored, but never past a fixed
vertex, and the optimum of that region is designed and checked on every edge as if there were nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels.propagation import UNIFORM
from tinct.binary.one_row import MAX_VISITED, pair_function
from tinct.errors import NotExtendable, ParameterError
from tinct.graphs import Budget, DatasetGraph, GraphLike, ImplicitGraph
from tinct.mechanism._verify import verify
from tinct.privacy import SuitablePair
from tinct.rainbow._optimum_exists import optimum_of_rows
from tinct.rainbow.boundary_rows import at_distance, distribution, graph_row

if TYPE_CHECKING:
    from collections.abc import Sized

    from numpy.typing import ArrayLike, NDArray

    from tinct.binary.one_row import EdgePrivacyOf
    from tinct.graphs.budgets import PrivacyLike
    from tinct.graphs.dataset import Color
    from tinct.graphs.labels import Vertex

    Floats = NDArray[np.float64]
    Order = tuple[Any, ...]


def row_at(
    graph: GraphLike,
    privacy: PrivacyLike | EdgePrivacyOf,
    boundary: Mapping[Any, Any] | Callable[[Any], Any],
    at: Vertex,
) -> Floats:
    """The row of ``at`` in the optimum with these boundary rows, which are taken to be extendable elsewhere."""
    own = order_of(graph, at)
    if isinstance(boundary, Mapping) and all(_is_order(graph, key) for key in boundary):
        by_order = {
            _order(graph, key): _read(graph, given, f"the row of order {key!r}") for key, given in boundary.items()
        }
        pair = _one_pair(graph, privacy)
        if pair is not None:
            return _by_distance(graph, pair, by_order, at, own)

        def fixed(vertex: Vertex) -> Floats | None:
            order = order_of(graph, vertex)
            on_boundary = any(order_of(graph, other) != order for other in graph.neighbors(vertex))
            return _given(by_order, order) if on_boundary else None

    else:
        look_up = boundary.get if isinstance(boundary, Mapping) else boundary
        for vertex in boundary if isinstance(boundary, Mapping) else ():
            order_of(graph, vertex)  # refuses what is not a vertex

        def fixed(vertex: Vertex) -> Floats | None:
            given = look_up(vertex)
            return None if given is None else _read(graph, given, f"the row of {vertex!r:.80}")

    row = fixed(at)
    return row if row is not None else _in_region(graph, privacy, fixed, at, own)


def order_of(graph: GraphLike, vertex: Vertex) -> Order:
    """The order of preference of a vertex."""
    if isinstance(graph, ImplicitGraph):
        color = graph.color(vertex)
        if not _is_order(graph, color):
            raise ParameterError(
                f"the color of {vertex!r:.80} must be an order of preference, a tuple that lists each of "
                f"{graph.outputs!r:.80} once, got {color!r:.80}"
            )
        return _order(graph, color)
    return _order(graph, graph.coloring.palette[int(graph.coloring.codes[graph.position(vertex)])])


def _is_order(graph: GraphLike, color: object) -> bool:
    if not isinstance(graph, ImplicitGraph):
        return color in graph.coloring.palette
    if not isinstance(color, tuple) or color in graph.outputs:
        return color in graph.outputs and len(graph.outputs) == 2
    return len(color) == len(graph.outputs) and set(color) == set(graph.outputs)


def _order(graph: GraphLike, color: Color) -> Order:
    """The order itself, or a plain colour before the other one."""
    if color in graph.outputs:
        return (color, *(answer for answer in graph.outputs if answer != color))
    return tuple(color)


def _read(graph: GraphLike, given: Mapping[Any, float] | ArrayLike, where: str) -> Floats:
    return (
        distribution(given, graph.outputs, where)
        if isinstance(graph, ImplicitGraph)
        else graph_row(graph, given, where)
    )


def _one_pair(graph: GraphLike, privacy: PrivacyLike | EdgePrivacyOf) -> SuitablePair | None:
    """The privacy of all edges, if it is the same everywhere and that is known."""
    if isinstance(privacy, SuitablePair):
        return privacy
    if isinstance(graph, ImplicitGraph) or callable(privacy):
        return None
    budget = Budget(graph, privacy)
    return budget.pairs[0] if budget.layout == UNIFORM else None


def _given(by_order: dict[Order, Floats], order: Order) -> Floats:
    if order not in by_order:
        raise ParameterError(f"no boundary row is given for order {order!r}")
    return by_order[order]


def _by_distance(
    graph: GraphLike, privacy: SuitablePair, by_order: dict[Order, Floats], at: Vertex, own: Order
) -> Floats:
    """Closed form: search outward for the boundary of the own order."""
    row = _given(by_order, own)
    columns = [graph.outputs.index(answer) for answer in own]
    seen, rim, distance = {at}, [at], 0
    result = np.zeros(len(row))
    while rim:
        further: list[Any] = []
        for vertex in rim:
            near = graph.neighbors(vertex)
            for other, order in ((other, order_of(graph, other)) for other in near):
                if order != own:
                    _require_close(graph, privacy, (own, order), (row, _given(by_order, order)), (vertex, other))
                    result[columns] = at_distance(privacy, row[columns], distance)[0]
                    return result
            further += [other for other in dict.fromkeys(near) if other not in seen]
            seen.update(near)
            _require_near(seen, at)
        rim, distance = further, distance + 1
    result[columns[0]] = 1.0  # a piece of one order is answered with its best answer
    return result


def _require_close(
    graph: GraphLike,
    privacy: SuitablePair,
    orders: tuple[Order, Order],
    rows: tuple[Floats, Floats],
    edge: tuple[Any, Any],
) -> None:
    pair = DatasetGraph([(0, 1)], dict(enumerate(orders)), outputs=graph.outputs)
    verdict = verify(np.array(rows), pair, privacy)
    if not verdict.private:
        raise NotExtendable(
            f"no private mechanism: the rows of {orders[0]!r} and {orders[1]!r} are not close, although these orders "
            f"meet on edge ({edge[0]!r:.80}, {edge[1]!r:.80}); they would need ε = {verdict.epsilon:.6g} or "
            f"δ = {verdict.delta:.6g}",
            verdict.witness,
        )


def _in_region(graph: GraphLike, privacy: Any, fixed: Callable[[Any], Floats | None], at: Vertex, own: Order) -> Floats:
    """Explore the region of ``at``, and design it as a graph of its own."""
    pair_of = pair_function(graph, privacy)
    rows: dict[Any, Floats] = {}
    colors: dict[Any, Order] = {at: own}
    edges: list[tuple[Any, Any]] = []
    waiting = [at]
    for vertex in waiting:  # grows while it is gone through
        for other in graph.neighbors(vertex):
            if other not in colors:
                colors[other] = order_of(graph, other)
                row = fixed(other)
                if row is not None:
                    rows[other] = row
                else:
                    waiting.append(other)
            if other not in rows and colors[other] != own:
                raise ParameterError(
                    f"edge ({vertex!r:.80}, {other!r:.80}) is not covered: fix one of its ends (they have different "
                    "orders)"
                )
            edges.append((vertex, other))
        _require_near(colors, at)
    region = DatasetGraph(edges, colors, outputs=graph.outputs)
    within = privacy if isinstance(privacy, SuitablePair) else {(u, v): pair_of(u, v) for u, v in region.edges}
    table = np.full((len(region), len(region.outputs)), np.nan)
    for vertex, row in rows.items():
        table[region.position(vertex)] = row
    return optimum_of_rows(region, within, Budget(region, within), table).row(at).copy()


def _require_near(seen: Sized, at: Vertex) -> None:
    if len(seen) > MAX_VISITED:
        raise ParameterError(
            f"{at!r:.80} is too far from the fixed vertices: {MAX_VISITED:,} vertices were visited without an answer; "
            "with one row for each order and one privacy the search ends at the nearest boundary"
        )
