"""The boundary rainbow graph: what is left of a graph if one row is given for each order (docs/theory.md §4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import DatasetGraph, Morphism
from tinct.rainbow.boundary_rows import require_rainbow


def boundary_morphism(graph: DatasetGraph) -> Morphism:
    """The map from a rainbow graph to its boundary rainbow graph: (order, distance to that order's boundary).

    The target has a line for every order, joined at distance 0 where orders meet (rainbow, Def. 8).
    """
    require_rainbow(graph)
    distance, codes, palette = graph.boundary_distance(), graph.coloring.codes, graph.coloring.palette
    if (distance < 0).any():
        raise ParameterError("every piece of the graph needs two different orders, or there is nothing to measure from")
    depth = [int(distance[codes == code].max(initial=-1)) for code in range(len(palette))]
    names = [(order, step) for order, deep in zip(palette, depth, strict=True) for step in range(deep + 1)]
    known = set(names)
    edges = [((order, step), (order, step + 1)) for order, step in names if (order, step + 1) in known]
    ends = graph.boundary().ends
    meeting = {(int(codes[u]), int(codes[v])) for u, v in ends.tolist()}
    edges += [((palette[a], 0), (palette[b], 0)) for a, b in sorted(meeting)]
    target = DatasetGraph(edges, {name: name[0] for name in names}, outputs=graph.outputs, disconnected=True)
    start = np.concatenate([[0], np.cumsum(np.array(depth) + 1)])[:-1]
    return Morphism(graph, target, start[codes] + distance)


def depths(graph: DatasetGraph) -> dict[Any, int]:
    """How deep the region of every order is: the largest distance to its own boundary, −1 if it has none."""
    distance, codes = graph.boundary_distance(), graph.coloring.codes
    return {order: int(distance[codes == code].max(initial=-1)) for code, order in enumerate(graph.coloring.palette)}
