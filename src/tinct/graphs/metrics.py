"""ε as a distance between datasets (d-privacy): budgets along the edges from a matrix, a function or NetworkX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs.budgets import EdgePrivacy
from tinct.graphs.dataset import require_built
from tinct.numbers.amounts import MAX_EPSILON

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs.dataset import DatasetGraph

    Floats = NDArray[np.float64]

_TOLERANCE = 1e-9
_NOTHING = 1e-200  # stands for 0 where 0 means that there is no edge


@runtime_checkable
class WeightedGraph(Protocol):
    """What is asked of a NetworkX graph."""

    def get_edge_data(self, u: object, v: object, /) -> Any:
        """The attributes of an edge, or None."""


def metric(
    graph: DatasetGraph,
    distance: Callable[[Any, Any], float] | ArrayLike | WeightedGraph,
    *,
    epsilon: float = 1.0,
    weight: str = "weight",
) -> EdgePrivacy:
    """Budgets for d-privacy: two neighbours at distance d have ε·d.

    Along a path budgets add up, so datasets that are no neighbours are protected by the shortest path between them.
    A matrix states the distance of every pair; one that is shorter than every path between its two datasets would
    promise more than the edges keep, and is refused.

    Args:
        graph: The dataset graph.
        distance: A function of two vertices, a square matrix in the order of ``graph.vertices``, or a NetworkX graph
            with the same vertices.
        epsilon: ε for a distance of 1.
        weight: The edge attribute of a NetworkX graph that holds the distance.

    >>> from tinct import balanced, graphs
    >>> line = graphs.line(2, 2)
    >>> graphs.metric(line, lambda u, v: 0.5 * abs(u - v)).epsilon
    array([0.5, 0.5, 0.5])
    """
    require_built(graph)
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not 0 < epsilon <= MAX_EPSILON:
        raise ParameterError.of("epsilon", f"a number in (0, {MAX_EPSILON}]", epsilon)
    if isinstance(distance, WeightedGraph):
        lengths = _from_networkx(graph, distance, weight)
    elif callable(distance):
        lengths = _from_function(graph, distance)
    else:
        lengths = _from_matrix(graph, distance)
    _require_lengths(graph, lengths)
    return EdgePrivacy(epsilon * lengths)


def _from_function(graph: DatasetGraph, distance: Callable[[Any, Any], float]) -> Floats:
    there = np.array([_number(distance(u, v), (u, v)) for u, v in graph.edges], np.float64)
    back = np.array([_number(distance(v, u), (v, u)) for u, v in graph.edges], np.float64)
    _require_symmetric(graph.edges, there, back)
    return there


def _from_networkx(graph: DatasetGraph, given: WeightedGraph, weight: str) -> Floats:
    lengths = np.empty(len(graph.edges))
    for at, (u, v) in enumerate(graph.edges):
        there, back = given.get_edge_data(u, v), given.get_edge_data(v, u)
        if there is None and back is None:
            raise ParameterError(f"the NetworkX graph has no edge {(u, v)!r:.80}, which the dataset graph has")
        found = []
        for data in (there, back):
            if data is None:
                continue  # a directed graph that states the distance once
            if weight not in data:
                raise ParameterError(
                    f"edge {(u, v)!r:.80} has no attribute {weight!r}: say which one holds the distance"
                )
            found.append(_number(data[weight], (u, v)))
        if found[0] != found[-1] and not (np.isnan(found[0]) or np.isnan(found[-1])):
            raise _asymmetry((u, v), found[0], found[-1])
        lengths[at] = found[0]
    return lengths


def _from_matrix(graph: DatasetGraph, given: ArrayLike) -> Floats:
    try:
        matrix = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ParameterError.of("distance", "a function, a square matrix or a NetworkX graph", given) from None
    count = len(graph)
    if matrix.shape != (count, count):
        raise ParameterError(
            f"distance must be a matrix of {count} × {count}, a row for each vertex, got {matrix.shape}"
        )
    good = matrix >= 0  # written so that NaN fails
    if not good.all():
        u, v = divmod(int(np.argmin(good)), count)
        raise ParameterError(
            f"the distance from {_name(graph, u)} to {_name(graph, v)} must be at least 0, got {matrix[u, v]}"
        )
    if not np.array_equal(matrix, matrix.T):
        u, v = divmod(int(np.argmax(matrix != matrix.T)), count)
        raise _asymmetry((graph.vertices[u], graph.vertices[v]), float(matrix[u, v]), float(matrix[v, u]))
    if matrix.diagonal().any():
        u = int(np.argmax(matrix.diagonal()))
        raise ParameterError(f"the distance from {_name(graph, u)} to itself must be 0, got {matrix[u, u]}")
    lengths = matrix[graph.ends[:, 0], graph.ends[:, 1]]
    _require_lengths(graph, lengths)
    _require_paths(graph, matrix)
    return lengths


def _require_paths(graph: DatasetGraph, matrix: Floats) -> None:
    """No pair may be nearer than the shortest path between it: along edges is what budgets protect."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    count = len(graph)
    along = np.full((count, count), np.inf)
    u, v = graph.ends.T
    along[u, v] = along[v, u] = matrix[u, v]
    zero = along == 0  # a sparse graph would take a distance of 0 for no edge
    paths = shortest_path(csr_array(np.where(np.isinf(along), 0.0, np.where(zero, _NOTHING, along))), directed=False)
    short = matrix < paths * (1 - _TOLERANCE) - _NOTHING * count  # also between pieces, where there is no path
    if short.any():
        a, b = divmod(int(np.argmax(short)), count)
        raise ParameterError(
            f"{_name(graph, a)} and {_name(graph, b)} are {matrix[a, b]:.6g} apart, but {paths[a, b]:.6g} along the "
            "edges, which is all that budgets protect: make them neighbours"
        )


def _require_lengths(graph: DatasetGraph, lengths: Floats) -> None:
    good = (lengths >= 0) & np.isfinite(lengths)  # written so that NaN fails
    if not good.all():
        at = int(np.argmin(good))
        raise ParameterError(
            f"the distance of edge {graph.edges[at]!r:.80} must be a finite number of at least 0, got {lengths[at]}"
        )
    codes = graph.coloring.codes
    same = (lengths == 0) & (codes[graph.ends[:, 0]] != codes[graph.ends[:, 1]])
    if same.any():
        raise ParameterError(
            f"edge {graph.edges[int(np.argmax(same))]!r:.80} has distance 0 and ends of different colours: nothing "
            "could tell them apart, so no answer could be right more often than not"
        )


def _require_symmetric(edges: Sequence[tuple[Any, Any]], there: Floats, back: Floats) -> None:
    odd = (there != back) & ~(np.isnan(there) | np.isnan(back))
    if odd.any():
        at = int(np.argmax(odd))
        raise _asymmetry(edges[at], float(there[at]), float(back[at]))


def _asymmetry(edge: tuple[Any, Any], there: float, back: float) -> ParameterError:
    return ParameterError(
        f"the distance of {edge!r:.80} is {there:g}, but {back:g} the other way round: it must be symmetric"
    )


def _number(given: object, edge: tuple[Any, Any]) -> float:
    try:
        return float(given)  # type: ignore[arg-type] # whatever is no number is refused
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"the distance of edge {edge!r:.80} must be a number, got {given!r:.80}") from None


def _name(graph: DatasetGraph, at: int) -> str:
    return f"{graph.vertices[at]!r:.60}"
