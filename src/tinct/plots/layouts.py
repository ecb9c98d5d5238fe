"""Where to put the vertices of a graph: rows, rings, cubes, grids and triangles are known, the rest is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs import DatasetGraph
    from tinct.graphs.labels import Vertex

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


def positions(
    graph: DatasetGraph, given: Mapping[Any, Sequence[float]] | ArrayLike | None = None
) -> tuple[Floats, str]:
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


def _given(graph: DatasetGraph, given: Mapping[Any, Sequence[float]] | ArrayLike) -> Floats:
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


def _digits(vertex: Vertex) -> tuple[int, ...] | None:
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


_ROUNDS = 300
_SETTLED = 1e-5


def stress_layout(graph: DatasetGraph) -> Floats:
    """A point for each vertex; pieces of the graph stand side by side."""
    pieces = graph.components()
    points = np.zeros((len(graph), 2))
    left = 0.0
    for piece in range(int(pieces.max(initial=0)) + 1):
        members = np.flatnonzero(pieces == piece)
        placed = _connected(hops(graph, members))
        placed[:, 0] += left - placed[:, 0].min()
        points[members] = placed
        left = float(placed[:, 0].max()) + 1.5
    return points


def hops(graph: DatasetGraph, members: NDArray[np.int64]) -> Floats:
    """The numbers of edges between the members of one piece, all to all."""
    place = np.full(len(graph), -1)
    place[members] = np.arange(len(members))
    distance = np.full((len(members), len(members)), np.inf)
    for row, start in enumerate(members.tolist()):
        seen, frontier, step = {start}, [start], 0.0
        while frontier:
            distance[row, place[frontier]] = step
            reached = {
                w for v in frontier for w in graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist()
            } - seen
            seen |= reached
            frontier, step = sorted(reached), step + 1.0
    return distance


def _connected(distance: Floats) -> Floats:
    if len(distance) < 3:
        return np.column_stack([np.arange(float(len(distance))), np.zeros(len(distance))])
    starts = [_scaling(distance), _circle(len(distance))]
    tried = [_majorize(start, distance) for start in starts]
    points, _ = min(tried, key=lambda pair: round(pair[1], 9))
    return _upright(points)


def _majorize(points: Floats, distance: Floats) -> tuple[Floats, float]:
    n = len(distance)
    apart = ~np.eye(n, dtype=bool)
    weight = np.where(apart, 1.0 / np.where(apart, distance, 1.0) ** 2, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian[1:, 1:])  # the first vertex stays where it is
    before = np.inf
    for _ in range(_ROUNDS):
        between = points[:, None] - points[None, :]
        length = np.maximum(np.sqrt((between**2).sum(axis=2)), 1e-9)
        now = float((weight * (length - distance) ** 2).sum())
        if not before - now > _SETTLED * before and before < np.inf:
            break
        before = now
        pull = weight * distance / length
        np.fill_diagonal(pull, 0.0)
        target = (pull[:, :, None] * between).sum(axis=1)
        moved = inverse @ target[1:]
        points = np.vstack([np.zeros((1, 2)), moved - 0.0])
    return points, before


def _scaling(distance: Floats) -> Floats:
    """Classical scaling: the plane that keeps most of the squared distances."""
    n = len(distance)
    center = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * center @ distance**2 @ center)
    points = _signed(vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0)))
    # a graph that is all on one line, or has twins, would start with points on top of each other
    return np.asarray(points + 0.05 * _circle(n))


def _circle(n: int) -> Floats:
    angle = 2.0 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)]) * n / (2.0 * np.pi)


def _upright(points: Floats) -> Floats:
    """The long side lies across the page."""
    centered = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    return _signed(centered @ axes.T)


def _signed(points: Floats) -> Floats:
    """The first vertex off an axis is on its negative side: which sign a solver gives is up to the processor."""
    lead = np.argmax(np.abs(points) > 1e-6, axis=0)
    return np.where(points[lead, [0, 1]] > 0, -points, points)


def facing(points: Floats, codes: NDArray[Any]) -> Floats:
    """The same picture, mirrored if need be so that the first colour is on the left."""
    first = codes == codes.min()
    if first.all():
        return points
    mirrored = points[first, 0].mean() > points[~first, 0].mean() + 1e-9
    return points * np.array([-1.0, 1.0]) if mirrored else points
