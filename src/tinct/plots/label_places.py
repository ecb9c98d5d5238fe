"""Names beside the vertices of a drawing, where they cover as little as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


# below, above, right, left, then the corners: the order of preference
_DIRECTIONS = np.array([[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]], np.float64)
_SAMPLES = 25  # points looked at along an edge


def place_names(
    points: Floats, radius: float, segments: Floats, sizes: Sequence[tuple[float, float]], *, row: bool = False
) -> Floats:
    """The centre of each name, all in the same units.

    Args:
        points: The centres of the vertices.
        radius: Their radius.
        segments: The edges, as pairs of points.
        sizes: The width and height of each name.
        row: Put all names below, as under the vertices of a line.
    """
    obstacles = _along(segments)
    taken: list[tuple[float, float, float, float]] = []
    centers = np.empty_like(points)
    for at, (point, size) in enumerate(zip(points, sizes, strict=True)):
        choices = [_beside(point, radius, np.array(size), way) for way in (_DIRECTIONS[:1] if row else _DIRECTIONS)]
        costs = [
            _cost(choice, np.array(size), np.delete(points, at, 0), radius, obstacles, taken) + 0.01 * rank
            for rank, choice in enumerate(choices)
        ]
        centers[at] = choices[int(np.argmin(costs))]
        taken.append((*centers[at], *size))
    return centers


def _beside(point: Floats, radius: float, size: Floats, way: Floats) -> Floats:
    """The centre of a name that touches the vertex from one side or corner."""
    reach = radius * (1.0 if np.abs(way).sum() == 1 else 0.74)
    return np.asarray(point + way * (reach + size / 2.0))


def _along(segments: Floats) -> Floats:
    share = np.linspace(0.0, 1.0, _SAMPLES)[None, :, None]
    if not len(segments):
        return np.empty((0, 2))
    return np.asarray((segments[:, None, 0] * (1 - share) + segments[:, None, 1] * share).reshape(-1, 2))


def _cost(
    center: Floats,
    size: Floats,
    vertices: Floats,
    radius: float,
    obstacles: Floats,
    taken: list[tuple[float, float, float, float]],
) -> float:
    """How much a name covers: vertices weigh most, then other names, then edges."""
    outside = np.maximum(np.abs(vertices - center) - size / 2.0, 0.0)
    covered = float((np.hypot(*outside.T) < radius).sum()) if len(vertices) else 0.0
    crossed = float((np.abs(obstacles - center) < size / 2.0).all(axis=1).sum()) if len(obstacles) else 0.0
    clashes: int = sum(
        abs(center[0] - x) < (size[0] + width) / 2.0 and abs(center[1] - y) < (size[1] + height) / 2.0
        for x, y, width, height in taken
    )
    return float(20.0 * covered + 10.0 * clashes + min(crossed, 8.0))


def spread(centers: Sequence[float], lengths: Sequence[float], *, low: float = -np.inf, high: float = np.inf) -> Floats:
    """New centres for intervals of given lengths: disjoint, within [low, high], with the least sum of squared shifts.

    Intervals keep their order. Those that together are longer than the room share the overlap evenly.

    >>> spread([1.0, 1.0, 5.0], [2.0, 2.0, 2.0])
    array([0., 2., 5.])
    """
    if not len(centers):
        return np.empty(0)
    order = np.argsort(np.asarray(centers, np.float64), kind="stable")
    wanted, size = np.asarray(centers, np.float64)[order], np.asarray(lengths, np.float64)[order]
    room = high - low
    size = size * min(1.0, room / size.sum()) if size.sum() > 0 else size
    # after taking off the room of the intervals before it, each centre must only be at least the one before
    before = np.concatenate([[0.0], np.cumsum((size[:-1] + size[1:]) / 2)])
    flat = _isotonic(wanted - before)
    flat = np.clip(flat, low + size[0] / 2, high - size[-1] / 2 - before[-1])
    result = np.empty(len(wanted))
    result[order] = flat + before
    return result


def _isotonic(values: Floats) -> Floats:
    """The non-decreasing sequence nearest in squares: neighbours in the wrong order are pooled (Ayer et al. 1955)."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            last, more = pools.pop()
            mean, count = (mean * count + last * more) / (count + more), count + more
        pools.append((mean, count))
    return np.concatenate([np.full(count, mean) for mean, count in pools])
