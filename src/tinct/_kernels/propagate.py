"""The optimal extension: the smallest bound that the fixed vertices put on the truth of every other vertex.

Everything here works on *keys*, numbers that order probabilities and keep their relative precision at both ends
of [0, 1]: odds p/(1 − p) for (ε, δ)-DP, probits for Gaussian DP. Fixed vertices act as two sources, one per colour.
A value never travels through a fixed vertex: between fixed vertices every region has one colour, and if the fixed
values can be extended at all, that is enough (docs/proofs/extension.md). ``worst_fixed_edge`` then finds out
whether they can.

``state[v]`` is the colour (0 or 1) of a vertex still to be settled, colour + 2 once it is, FIXED for sources. Two free
neighbours of different colours mean that the fixed vertices miss a boundary edge. Each kernel fills ``keys``, which
must come as infinity, and returns how many vertices it reached, or −1 − e if entry e of ``indices`` is such an edge.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Offsets = NDArray[np.int64]
    Positions = NDArray[np.int32]
    Small = NDArray[np.uint8]

FIXED = 4
HIGHEST = 2.0**1022  # the odds that stand for "as good as certain"; only δ makes an outcome impossible
MAX_CLASSES = 16
_SIXTH = 1.0 / 6.0
_ROUNDING = 1.0 - 1e-14  # more than all roundings of one step
_ABSENT = -2  # in a linked list of vertices: stands in none
UNIFORM, CLASSES, DENSE = 0, 1, 2  # how an edge finds its parameters: the only one, by class, by edge


@part
def step(key: float, gain: float, shift: float, probit: bool) -> float:
    """U on keys: one edge further (docs/theory.md §1). Parameters are (E, δ) for odds, (·, μ) for probits."""
    if probit:
        return key + shift
    if key == np.inf:
        return key
    whole = 1.0 + key
    left = 1.0 - shift * whole
    if left <= 0.0:
        return np.inf
    # the second branch, 1 − (1 − p − δ)/E
    following = min((gain * key + (gain - 1.0) + shift * whole) / left, HIGHEST)
    below = whole - gain * key - shift * whole
    if below > 0.0 and key * (gain + shift) <= 1.0 - shift:  # p ≤ (1 − δ)/(E + 1): the first branch, E·p + δ
        # both, since next to the bend a huge E leaves few digits in ``below``
        following = min(following, (gain * key + shift * whole) / below)
    return following


@kernel
def from_sources(
    indptr: Offsets,
    indices: Positions,
    state: Small,
    keys: Floats,
    sources: Positions,
    source_colors: Small,
    source_keys: Floats,
    gain: float,
    shift: float,
    probit: bool,
) -> int:
    """Settle all vertices when every edge has the same privacy.

    Values leave in non-decreasing order and U is increasing, so newly reached vertices form a queue that is
    always sorted: merging it with the sorted sources replaces a heap.
    """
    n = len(indptr) - 1
    queue = np.empty(n, np.int32)
    head = 0
    tail = 0
    at = 0
    while head < tail or at < len(sources):
        if head == tail or (at < len(sources) and source_keys[at] <= keys[queue[head]]):
            v = sources[at]
            color = source_colors[at]
            following = step(source_keys[at], gain, shift, probit)
            at += 1
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if state[w] == color:
                    state[w] = color + 2
                    keys[w] = following
                    queue[tail] = w
                    tail += 1
            continue
        v = queue[head]
        head += 1
        if keys[v] == np.inf:
            return head - 1  # everything left is certain, as if nothing had reached it
        color = state[v] - 2
        following = step(keys[v], gain, shift, probit)
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            found = state[w]
            if found == color:
                state[w] = color + 2
                keys[w] = following
                queue[tail] = w
                tail += 1
            elif found < FIXED and found != color + 2:
                return -1 - e
    return tail


@kernel
def by_classes(
    indptr: Offsets,
    indices: Positions,
    classes: Small,
    state: Small,
    keys: Floats,
    sources: Positions,
    source_colors: Small,
    source_keys: Floats,
    gains: Floats,
    shifts: Floats,
    probit: bool,
) -> int:
    """Settle all vertices when the edges fall into at most 16 classes of privacy.

    One queue per class, each sorted for the reason given in ``from_sources``. A vertex enters a queue only with a lower
    key than it has, so at most once, and all queues together hold no more entries than the graph has directed edges.
    """
    n = len(indptr) - 1
    kinds = len(gains)
    offsets = np.zeros(kinds + 1, np.int64)
    for e in range(len(indices)):
        offsets[classes[e] + 1] += 1
    for c in range(kinds):
        offsets[c + 1] = offsets[c] + min(offsets[c + 1], n)
    vertex = np.empty(offsets[kinds], np.int32)
    entry_keys = np.empty(offsets[kinds], np.float64)
    heads = offsets[:kinds].copy()
    tails = offsets[:kinds].copy()
    following = np.empty(kinds, np.float64)
    highest = np.full(kinds, -np.inf)  # rounding must not make a queue step back, or a vertex could enter it twice
    at = 0
    settled = 0
    while True:
        best = np.inf
        chosen = -1
        for c in range(kinds):
            while heads[c] < tails[c] and state[vertex[heads[c]]] >= 2:
                heads[c] += 1
            if heads[c] < tails[c] and entry_keys[heads[c]] < best:
                best = entry_keys[heads[c]]
                chosen = c
        from_source = at < len(sources) and source_keys[at] <= best
        if from_source:
            v = sources[at]
            color = source_colors[at]
            key = source_keys[at]
            at += 1
        elif chosen >= 0:
            v = vertex[heads[chosen]]
            heads[chosen] += 1
            color = state[v]
            key = best
            state[v] = color + 2
            settled += 1
        else:
            break
        for c in range(kinds):
            following[c] = max(highest[c], step(key, gains[c], shifts[c], probit))
            highest[c] = following[c]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if state[w] == color:
                c = classes[e]
                if following[c] < keys[w]:
                    keys[w] = following[c]
                    vertex[tails[c]] = w
                    entry_keys[tails[c]] = following[c]
                    tails[c] += 1
            elif not from_source and state[w] < FIXED and state[w] != color + 2:
                return -1 - e
    return settled


@kernel
def by_buckets(
    indptr: Offsets,
    indices: Positions,
    state: Small,
    keys: Floats,
    sources: Positions,
    source_colors: Small,
    source_keys: Floats,
    epsilons: Floats,
    shifts: Floats,
    bits: int,
) -> int:
    """Settle all vertices when every directed edge has its own (ε, δ), on odds; leaves ``state`` as it is.

    e^ε is computed where an edge is looked at: many are not, and an array of it would have to pass through memory.

    A bucket holds the vertices whose odds share the exponent and the first ``bits`` bits of the mantissa. The lowest
    bucket is worked off until nothing in it changes any more; whatever leaves it goes to higher buckets, since keys
    only grow along edges. Working through a bucket in the order of the vertices keeps memory access local, which is
    why this beats a heap. A vertex stands in one bucket at a time, in a doubly linked list.
    """
    n = len(indptr) - 1
    pattern = keys.view(np.int64)  # non-negative floats are ordered like their bit patterns
    drop = 52 - bits
    last = np.array([HIGHEST]).view(np.int64)[0] >> drop
    first = np.full(last + 1, -1, np.int32)
    after = np.empty(n, np.int32)
    before = np.full(n, _ABSENT, np.int32)
    batch = np.empty(n, np.int32)
    reached = 0
    for at in range(len(sources)):
        reached += _relax(
            indptr, indices, state, keys, pattern, sources[at], source_keys[at], source_colors[at], True,
            epsilons, shifts, drop, first, after, before,
        )  # fmt: skip
    bucket = 0
    while bucket <= last:
        v = first[bucket]
        if v < 0:
            bucket += 1
            continue
        first[bucket] = -1
        count = 0
        while v >= 0:
            batch[count] = v
            count += 1
            before[v] = _ABSENT
            v = after[v]
        batch[:count].sort()
        for i in range(count):
            v = batch[i]
            found = _relax(
                indptr, indices, state, keys, pattern, v, keys[v], state[v], False,
                epsilons, shifts, drop, first, after, before,
            )  # fmt: skip
            if found < 0:
                return found
            reached += found
    return reached


@part
def _relax(
    indptr: Offsets,
    indices: Positions,
    state: Small,
    keys: Floats,
    pattern: Offsets,
    v: int,
    key: float,
    color: int,
    is_source: bool,
    epsilons: Floats,
    shifts: Floats,
    drop: int,
    first: Positions,
    after: Positions,
    before: Positions,
) -> int:
    """Lower the keys of v's neighbours and move them between buckets; returns how many had none before."""
    reached = 0
    for e in range(indptr[v], indptr[v + 1]):
        w = indices[e]
        if state[w] != color:
            if not is_source and state[w] < FIXED:
                return -1 - e
            continue
        old = keys[w]
        if old <= key:
            continue
        # U at least multiplies odds by e^ε, and four terms of its series are cheap: most edges need no more than that
        epsilon = epsilons[e]
        if key * (1.0 + epsilon * (1.0 + epsilon * (0.5 + epsilon * _SIXTH))) * _ROUNDING >= old < np.inf:
            continue
        new = step(key, math.exp(epsilon), shifts[e], False)
        if new >= old:
            continue
        was = pattern[w] >> drop
        keys[w] = new
        now = pattern[w] >> drop
        if old == np.inf:
            reached += 1
        if before[w] != _ABSENT:
            if now == was:
                continue
            if before[w] >= 0:
                after[before[w]] = after[w]
            else:
                first[was] = after[w]
            if after[w] >= 0:
                before[after[w]] = before[w]
        after[w] = first[now]
        before[w] = -1
        if first[now] >= 0:
            before[first[now]] = w
        first[now] = w
    return reached


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
    """Settle all vertices when every directed edge has its own privacy.

    Dijkstra's algorithm for increasing edge functions with U(a) ≥ a (Knuth 1977), on a four-ary heap. A vertex is
    pushed again when its key falls; out-dated entries are skipped, and swept out when the heap is full, which
    bounds the memory at two entries a vertex.
    """
    n = len(indptr) - 1
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
