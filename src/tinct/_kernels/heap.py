"""Propagation by a heap: for budgets of very different size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel, part
from tinct._kernels.propagate import FIXED, step

if TYPE_CHECKING:
    from tinct._kernels.propagate import Floats, Offsets, Positions, Small


@kernel
def by_heap(
    indptr: Offsets,
    indices: Positions,
    state: Small,
    keys: Floats,
    sources: Positions,
    source_colors: Small,
    source_keys: Floats,
    gains: Floats,
    shifts: Floats,
    probit: bool,
) -> int:
    """Settle all vertices when every directed edge has its own privacy; ``state`` becomes colour + 2 where settled.

    Dijkstra's algorithm for increasing edge functions with U(a) ≥ a (Knuth 1977), on a four-ary heap. A vertex is
    pushed again when its key falls; out-dated entries are skipped, and swept out when the heap is full, which
    bounds the memory at two entries a vertex.
    """
    n = len(indptr) - 1
    keys[:] = np.inf
    heap_keys = np.empty(2 * n + 2, np.float64)
    heap = np.empty(2 * n + 2, np.int32)
    size = 0
    for at in range(len(sources)):
        v = sources[at]
        key = source_keys[at]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if state[w] == source_colors[at] and keys[w] > key:
                following = step(key, gains[e], shifts[e], probit)
                if following < keys[w]:
                    keys[w] = following
                    if size == len(heap):
                        size = _sweep(heap_keys, heap, size, keys, state)
                    size = _push(heap_keys, heap, size, following, w)
    settled = 0
    while size > 0:
        v = heap[0]
        key = heap_keys[0]
        size = _drop_first(heap_keys, heap, size)
        color = state[v]
        if color >= 2:
            continue
        state[v] = color + 2
        settled += 1
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if state[w] == color:
                if keys[w] > key:
                    following = step(key, gains[e], shifts[e], probit)
                    if following < keys[w]:
                        keys[w] = following
                        if size == len(heap):
                            size = _sweep(heap_keys, heap, size, keys, state)
                        size = _push(heap_keys, heap, size, following, w)
            elif state[w] < FIXED and state[w] != color + 2:
                return -1 - e
    return settled


@part
def _push(heap_keys: Floats, heap: Positions, size: int, key: float, v: int) -> int:
    """Add an entry; returns the heap's size."""
    i = size
    while i > 0:
        parent = (i - 1) >> 2
        if heap_keys[parent] <= key:
            break
        heap_keys[i] = heap_keys[parent]
        heap[i] = heap[parent]
        i = parent
    heap_keys[i] = key
    heap[i] = v
    return size + 1


@part
def _drop_first(heap_keys: Floats, heap: Positions, size: int) -> int:
    """Remove the smallest entry; returns the heap's size."""
    size -= 1
    key = heap_keys[size]
    v = heap[size]
    i = 0
    while True:
        child = 4 * i + 1
        if child >= size:
            break
        least = child
        for other in range(child + 1, min(child + 4, size)):
            if heap_keys[other] < heap_keys[least]:
                least = other
        if heap_keys[least] >= key:
            break
        heap_keys[i] = heap_keys[least]
        heap[i] = heap[least]
        i = least
    heap_keys[i] = key
    heap[i] = v
    return size


@part
def _sweep(heap_keys: Floats, heap: Positions, size: int, keys: Floats, state: Small) -> int:
    """Keep only entries that are the current key of an unsettled vertex; returns the heap's size."""
    kept = 0
    for i in range(size):
        if state[heap[i]] < 2 and heap_keys[i] == keys[heap[i]]:
            kept = _push(heap_keys, heap, kept, heap_keys[i], heap[i])
    return kept
