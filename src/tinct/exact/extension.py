"""The extension of docs/theory.md §3 in integers: the optimum of the grid itself, not a rounding of the float one."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import grid as kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tinct.exact.grid import GridPair
    from tinct.graphs import DatasetGraph

    Units = NDArray[Any]  # int64 for N ≤ 2^62, else Python integers

KERNEL_LIMIT = 2**62


def extend_units(graph: DatasetGraph, pairs: Sequence[GridPair], classes: NDArray[np.int32], first: Units) -> Units:
    """The units of the first colour everywhere, from those of a boundary-hitting set (N + 1 where free).

    Sources that contradict each other are lowered to the largest values below them that do not: A_1, which is closed
    under every path because a path followed by a path is a path (docs/proofs/grid.md). For sources that were
    rounded to the grid this costs units.
    """
    total = pairs[0].total
    free = first > total
    of_first = least_units(graph, pairs, classes, np.where(free, total, first), total)
    of_second = least_units(graph, pairs, classes, np.where(free, total, total - of_first), total)
    return np.where(free & (graph.coloring.codes == 1), total - of_second, of_first)


def least_units(
    graph: DatasetGraph, pairs: Sequence[GridPair], classes: NDArray[np.int32], start: Units, total: int
) -> Units:
    """For every vertex the least composition of Ũ's along any path from any start (N starts nothing)."""
    if total > KERNEL_LIMIT:
        return least_units_by_heap(graph, pairs, classes, start, total)
    units = start.astype(np.uint64)
    ups, downs, shifts = (
        np.array(column, np.uint64)
        for column in zip(
            *((pair.growth.numerator, pair.growth.denominator, pair.shift) for pair in pairs), strict=True
        )
    )
    kernels.least_units(graph.indptr, graph.indices, classes, ups, downs, shifts, units, np.uint64(total))
    return units.astype(np.int64)


def least_units_by_heap(
    graph: DatasetGraph, pairs: Sequence[GridPair], classes: NDArray[np.int32], start: Units, total: int
) -> Units:
    """The same with Python's integers, for denominators of any size."""
    units = start.tolist()
    indptr, indices, numbers = graph.indptr.tolist(), graph.indices.tolist(), classes.tolist()
    heap = [(value, v) for v, value in enumerate(units) if value < total]
    heapq.heapify(heap)
    while heap:
        value, v = heapq.heappop(heap)
        if value > units[v]:
            continue
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if units[w] > value and (bound := pairs[numbers[e]].upper(value)) < units[w]:
                units[w] = bound
                heapq.heappush(heap, (bound, w))
    return np.array([*units, None], object)[:-1]  # None keeps NumPy from guessing a type
