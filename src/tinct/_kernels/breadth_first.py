"""Breadth-first searches: connected components, and the distance to the boundary of the own colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel
from tinct._kernels.propagation import MANY

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def boundary_levels(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], colors: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Breadth-first search from all boundary vertices at once, each inside its own colour; −1 where none is met."""
    n = len(indptr) - 1
    level = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    tail = 0
    for v in range(n):
        own = int(colors[v])
        level[v] = -1 - own  # until v is met, so that one look tells whether it was, and its colour
        for e in range(indptr[v], indptr[v + 1]):
            if colors[indices[e]] != own:
                level[v] = 0
                queue[tail] = v
                tail += 1
                break
    head = 0
    depth = 0
    while head < tail:
        stop = tail
        if (stop - head) * MANY > n:
            # in the order of the graph, so that memory is read from front to back
            at = head
            for v in range(n):
                if level[v] == depth:
                    queue[at] = v
                    at += 1
        depth += 1
        for i in range(head, stop):
            v = queue[i]
            unmet = -1 - int(colors[v])
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if level[w] == unmet:
                    level[w] = depth
                    queue[tail] = w
                    tail += 1
        head = stop
    for v in range(n):
        level[v] = max(level[v], -1)
    return level


@kernel
def component_labels(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.int32]:
    """The number of the connected component of every vertex, counted from 0 in order of first vertices."""
    n = len(indptr) - 1
    label = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    count = 0
    for start in range(n):
        if label[start] >= 0:
            continue
        label[start] = count
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if label[w] < 0:
                    label[w] = count
                    queue[tail] = w
                    tail += 1
        count += 1
    return label
