"""Where to put the vertices of a graph: rows, rings, cubes, grids and triangles are known, the rest is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.plots.stress import facing, stress_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_MOST_DIMENSIONS = 5
_ACROSS, _UP = (1.0, 0.0), (0.0, 1.0)
# how the axes of a box are seen on paper; four and five were found by search, so that no vertex is near an edge
_AXES = {
    2: np.array([_ACROSS, _UP]),
    3: np.array([_ACROSS, _UP, (0.46, 0.34)]),
    4: np.array([_ACROSS, _UP, (0.21, 0.43), (-0.43, 0.21)]),
    5: np.array([_ACROSS, _UP, (0.07, 0.26), (-0.17, 0.42), (-0.34, 0.10)]),
}
_TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
_TETRAHEDRON = np.array([[0.0, 0.0], [1.0, -0.18], [0.62, 0.30], [0.5, 0.92]])


def positions(graph: DatasetGraph, given: Any = None) -> tuple[Floats, str]:
    """A point for each vertex, and what the arrangement is called.

    Args:
        graph: The graph.
        given: ``{vertex: (x, y)}`` to place the vertices oneself.
    """
    if given is not None:
        return _given(graph, given), "given"
    degrees = np.diff(graph.indptr)
    one_piece = len(graph) > 0 and int(graph.components().max(initial=0)) == 0
    if one_piece and degrees.max(initial=0) <= 2:
        walk = _walk(graph, degrees)
        return _row(walk) if len(graph.ends) < len(graph) else _ring(walk), (
            "row" if len(graph.ends) < len(graph) else "ring"
        )
    words = _words(graph)
    if words is not None:
        for name, place in (("box", _box), ("histogram", _histogram)):
            points = place(graph, words)
            if points is not None:
                return points, name
    return facing(stress_layout(graph), graph.coloring.codes), "stress"


def is_row(graph: DatasetGraph) -> bool:
    """Whether the graph is a line of vertices, one after the other."""
    return bool(len(graph.indices) == 2 * (len(graph) - 1) and np.diff(graph.indptr).max(initial=0) <= 2)


def _given(graph: DatasetGraph, given: Any) -> Floats:
    law = "positions must be a mapping {vertex: (x, y)} with two finite numbers for each vertex"
    if not isinstance(given, Mapping):
        raise ParameterError(f"{law}, got {given!r:.80}")
    missing = next((vertex for vertex in graph.vertices if vertex not in given), None)
    if missing is not None:
        raise ParameterError(f"{law}: {missing!r:.80} is missing")
    try:
        points = np.array([[float(part) for part in given[vertex]] for vertex in graph.vertices])
    except (TypeError, ValueError):
        raise ParameterError(law) from None
    if points.shape != (len(graph), 2) or not np.isfinite(points).all():
        raise ParameterError(law)
    return points


def _walk(graph: DatasetGraph, degrees: NDArray[Any]) -> list[int]:
    """The vertices of a path or a cycle in the order in which one meets them, the first colour first."""
    ends = np.flatnonzero(degrees <= 1)
    start = int(min(ends, key=lambda at: (graph.coloring.codes[at], at))) if len(ends) else 0
    walk, before = [start], -1
    while len(walk) < len(graph):
        here = walk[-1]
        ahead = [w for w in graph.indices[graph.indptr[here] : graph.indptr[here + 1]].tolist() if w != before]
        before = here
        walk.append(min(ahead))
    return walk


def _row(walk: list[int]) -> Floats:
    points = np.zeros((len(walk), 2))
    points[walk, 0] = np.arange(len(walk))
    return points


def _ring(walk: list[int]) -> Floats:
    angle = np.pi / 2 - 2.0 * np.pi * np.arange(len(walk)) / len(walk)
    radius = 0.5 / np.sin(np.pi / len(walk))  # neighbours are one apart
    points = np.empty((len(walk), 2))
    points[walk] = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return points


def _words(graph: DatasetGraph) -> Integers | None:
    """The vertices as rows of small whole numbers, if they are tuples or texts of digits that all have one length."""
    rows = [_digits(vertex) for vertex in graph.vertices]
    lengths = {len(row) for row in rows if row is not None}
    if None in rows or len(lengths) != 1 or not 2 <= min(lengths) <= _MOST_DIMENSIONS:
        return None
    return np.array(rows, np.int64)


def _digits(vertex: Any) -> tuple[int, ...] | None:
    if isinstance(vertex, str) and vertex.isascii() and vertex.isdigit():
        return tuple(map(int, vertex))
    if isinstance(vertex, tuple) and all(isinstance(part, int) and 0 <= part < 1000 for part in vertex):
        return vertex
    return None


def _box(graph: DatasetGraph, words: Integers) -> Floats | None:
    """Coordinates as they are, if neighbours differ by one in one of them."""
    steps = np.abs(words[graph.ends[:, 0]] - words[graph.ends[:, 1]])
    if not (steps.sum(axis=1) == 1).all():
        return None
    # with two coordinates the first is the row: rows go down the page
    straight = words[:, ::-1] * np.array([1, -1]) if words.shape[1] == 2 else words
    return np.asarray(straight @ _AXES[words.shape[1]])


def _histogram(graph: DatasetGraph, words: Integers) -> Floats | None:
    """Barycentric coordinates, if one unit moves between two categories of three or four along each edge."""
    moves = words[graph.ends[:, 0]] - words[graph.ends[:, 1]]
    good = (moves.sum(axis=1) == 0) & (np.abs(moves).sum(axis=1) == 2)
    if not good.all() or words.shape[1] not in (3, 4):
        return None
    corners = _TRIANGLE if words.shape[1] == 3 else _TETRAHEDRON
    return np.asarray(words @ corners)
