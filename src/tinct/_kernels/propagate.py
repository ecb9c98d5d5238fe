"""The optimal extension: the smallest bound that the fixed vertices put on the truth of every other vertex.

Everything here works on *keys*, numbers that order probabilities and keep their relative precision at both ends
of [0, 1]: odds p/(1 − p) for (ε, δ)-DP, probits for Gaussian DP. Fixed vertices act as two sources, one per colour.
A value never travels through a fixed vertex: between fixed vertices every region has one colour, and if the fixed
values can be extended at all, that is enough (docs/proofs/extension.md). ``worst_fixed_edge`` then finds out
whether they can.

``state[v]`` is the colour (0 or 1) of a vertex still to be settled, colour + 2 once it is, FIXED for sources. Two free
neighbours of different colours mean that the fixed vertices miss a boundary edge. Each kernel fills ``keys``, which
must come as infinity, and returns how many vertices it reached, or −1 − e if entry e of ``indices`` is such an edge.

Here are the kernels for one privacy everywhere and for a few classes; for a budget on every edge see ``buckets`` and
``heap``. What each costs: docs/proofs/queues.md.
"""

from __future__ import annotations

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
_AHEAD = 24  # vertices of a queue whose edges are fetched together
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


@part
def fetch(indptr: Offsets, indices: Positions, vertices: Positions, start: int, stop: int, touched: Positions) -> int:
    """Look at the first edge of some vertices that are next in a queue; returns ``stop``.

    Vertices of a queue lie anywhere in memory. Asked for one by one, each has to wait for its edges; asked for
    together, they arrive together, and are there when they are needed: that halves the time on a random graph.
    ``touched`` keeps the compiler from leaving this out.
    """
    for i in range(start, stop):
        v = vertices[i]
        if indptr[v] < indptr[v + 1]:
            touched[i - start] = indices[indptr[v]]
    return stop


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
    touched = np.empty(_AHEAD, np.int32)
    head = 0
    tail = 0
    at = 0
    fetched = 0
    fetched_sources = 0
    while head < tail or at < len(sources):
        if head == tail or (at < len(sources) and source_keys[at] <= keys[queue[head]]):
            if at == fetched_sources:
                fetched_sources = fetch(indptr, indices, sources, at, min(at + _AHEAD, len(sources)), touched)
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
        if head == fetched:
            fetched = fetch(indptr, indices, queue, head, min(head + _AHEAD, tail), touched)
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
    fetched = offsets[:kinds].copy()
    touched = np.empty(_AHEAD, np.int32)
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
            if heads[chosen] >= fetched[chosen]:
                stop = min(heads[chosen] + _AHEAD, tails[chosen])
                fetched[chosen] = fetch(indptr, indices, vertex, heads[chosen], stop, touched)
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
