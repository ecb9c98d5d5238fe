"""Places for the vertices of any graph: distances on the page as near as can be to distances in the graph.

Stress majorization (Gansner, Koren, North 2004). It has no random start, so a graph is always drawn the same way, and
it needs nothing but NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph

    Floats = NDArray[np.float64]

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
