"""Breadth-first searches: connected components, and the distance to the boundary of the own colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def boundary_levels(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], colors: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Breadth-first search from all boundary vertices at once, each inside its own colour; −1 where none is met."""
    n = len(indptr) - 1
    level = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    tail = 0
    for v in range(n):
        own = colors[v]
        for e in range(indptr[v], indptr[v + 1]):
            if colors[indices[e]] != own:
                level[v] = 0
                queue[tail] = v
                tail += 1
                break
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        own = colors[v]
        following = level[v] + 1
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if level[w] < 0 and colors[w] == own:
                level[w] = following
                queue[tail] = w
                tail += 1
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
