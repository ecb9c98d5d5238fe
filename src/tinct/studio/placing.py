"""Where vertices stand in the picture. Positions carry no meaning; they only keep neighbours side by side."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.plots.layouts import positions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph

    Points = NDArray[np.float64]

STEP = 70.0
_ROUNDS = 120
_APART = 1.3  # between histograms, whose names are long
_DOWN = 1.4  # between rows, where names stand
_ROUND = 30  # vertices of a ring that is drawn as a circle
_FEW = 80  # vertices up to which the layout of figures is quick enough


@lru_cache(maxsize=32)
def placed(graph: DatasetGraph, shape: str) -> Points:
    """Positions (x, y) of all vertices, about ``STEP`` apart; computed once for each graph."""
    known = positions(graph) if shape == "springs" and np.diff(graph.indptr).max(initial=0) <= 2 else None
    if shape == "line":
        points = _snake(len(graph))
    elif known is not None and known[1] == "row":
        points = _snake(len(graph))[known[0][:, 0].astype(int)]
    elif known is not None and known[1] == "ring" and len(graph) > _ROUND:
        points = _track(known[0])
    elif shape == "grid":
        points = np.array([(column, row * _DOWN) for row, column in graph.vertices], np.float64)
    elif shape == "levels":
        points = _levels(np.array(list(graph.vertices)))
    elif shape == "simplex" and len(graph.vertices[0]) == 3:
        counts = np.array(list(graph.vertices), np.float64)
        points = np.column_stack([counts[:, 1] + counts[:, 2] / 2, -counts[:, 2]]) * _APART
    elif len(graph) <= _FEW:
        points = _like_figures(graph)
    else:
        points = _springs(graph)
    return np.asarray(points * STEP)


def _snake(n: int) -> Points:
    """A row that turns round at the end of each line."""
    rows = 1 if n <= 12 else math.ceil(n / max(11, math.sqrt(4 * n)))
    columns = math.ceil(n / rows)
    row, column = np.divmod(np.arange(n), columns)
    return np.column_stack([np.where(row % 2 == 0, column, columns - 1 - column), row * _DOWN])


def _track(ring: Points) -> Points:
    """A long ring as the sides of a wide rectangle, which fits the page better than a circle."""
    turn = np.arctan2(ring[:, 0], ring[:, 1]) % (2 * math.pi) / (2 * math.pi)  # from twelve o'clock on
    high = round(len(ring) / 7)
    wide = len(ring) / 2 - high
    corners = np.cumsum([0, wide, high, wide, high])
    along = turn * corners[-1]
    return np.column_stack(
        [np.interp(along, corners, [0, wide, wide, 0, 0]), np.interp(along, corners, [0, 0, high, high, 0])]
    )


def _like_figures(graph: DatasetGraph) -> Points:
    """As figures place them, scaled so that neighbours are one step apart."""
    points, _ = positions(graph)
    if not len(graph.ends):
        return points
    lengths = np.linalg.norm(points[graph.ends[:, 0]] - points[graph.ends[:, 1]], axis=1)
    return np.asarray(points * [1, -1] / max(float(np.median(lengths)), 1e-9))


def _levels(words: NDArray[Any]) -> Points:
    """Answers one by one: from left to right by how many said yes."""
    level = words.sum(axis=1)
    points = np.empty((len(words), 2))
    for height in np.unique(level).tolist():
        mine = np.flatnonzero(level == height)
        points[mine, 0] = height * 1.6
        points[mine, 1] = np.arange(len(mine)) - (len(mine) - 1) / 2
    return points


def _springs(graph: DatasetGraph) -> Points:
    """Vertices push each other away and edges pull (Fruchterman and Reingold 1991), from a circle by breadth."""
    n = len(graph)
    angle = 2 * math.pi * _breadth_first(graph) / n
    points = np.column_stack([np.cos(angle), np.sin(angle)]) * math.sqrt(n) / 2
    ends = graph.ends
    for heat in np.linspace(math.sqrt(n) / 3, 0.02, _ROUNDS):
        apart = points[:, None, :] - points[None, :, :]
        square = (apart**2).sum(axis=2) + 1e-6
        force = (apart / square[:, :, None]).sum(axis=1)
        along = points[ends[:, 0]] - points[ends[:, 1]]
        pull = along * np.linalg.norm(along, axis=1)[:, None]
        np.add.at(force, ends[:, 0], -pull)
        np.add.at(force, ends[:, 1], pull)
        size = np.linalg.norm(force, axis=1)[:, None] + 1e-9
        points += force / size * np.minimum(size, heat)
    apart = np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2) + np.where(np.eye(n), np.inf, 0)
    return _wide(points - points.mean(axis=0)) / max(float(np.quantile(apart.min(axis=1), 0.3)), 1e-9)


def _wide(points: Points) -> Points:
    """Turned so that the longest side lies across."""
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    return np.asarray(points @ axes.T)


def _breadth_first(graph: DatasetGraph) -> NDArray[np.float64]:
    """The rank of each vertex in a walk that visits neighbours early."""
    rank = np.full(len(graph), -1.0)
    count = 0
    for start in range(len(graph)):
        stack = [start]
        while stack:
            at = stack.pop()
            if rank[at] >= 0:
                continue
            rank[at] = count
            count += 1
            stack.extend(graph.indices[graph.indptr[at] : graph.indptr[at + 1]].tolist())
    return rank
