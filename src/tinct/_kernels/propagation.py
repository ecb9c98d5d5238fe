"""The optimal extension: the smallest bound that the fixed vertices put on the truth of every other vertex.

Everything here works on *keys*, positive numbers that order probabilities and keep their relative precision at both
ends of [0, 1]: odds p/(1 − p) for (ε, δ)-DP, e^probit for Gaussian DP. Fixed vertices act as two sources, one per
colour. A value never travels through a fixed vertex: between fixed vertices every region has one colour, and if the
fixed values can be extended at all, that is enough (docs/proofs/extension.md). ``worst_fixed_edge`` then finds out
whether they can.

``state[v]`` is the colour (0 or 1) of a free vertex, FIXED for a source. Two free neighbours of different colours mean
that the fixed vertices miss a boundary edge. A kernel fills ``keys``, infinite where nothing bounds a vertex, and
returns how many free vertices are bounded, or −1 − e if entry e of ``indices`` is an edge that is missed.

``by_rounds`` is quick for budgets of similar size and gives up after a number of looks at vertices and edges;
``by_heap`` is for everything else. What each costs: docs/proofs/rounds.md.
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
GAVE_UP = -(2**62)
HIGHEST = 2.0**1022  # the odds that stand for "as good as certain"; only δ makes an outcome impossible
UNIFORM, CLASSES, DENSE = 0, 1, 2  # how an edge finds its parameters: the only one, by class, by edge
MANY = 16  # of so many vertices one has to wait for sorting to pay
AHEAD = 32  # vertices whose rows are fetched together
_SIXTH, _TWENTY_FOURTH = 1.0 / 6.0, 1.0 / 24.0
_ROUNDING = 1.0 - 1e-14  # more than all roundings of one step


@part
def step(key: float, gain: float, shift: float, probit: bool) -> float:
    """U on keys: one edge further (docs/theory.md §1). Parameters are (E, δ) for odds, (e^μ, ·) for probits."""
    if probit:
        return key * gain
    if key == np.inf:
        return key
    rest = 1.0 - shift  # exact for δ ≥ 1/2, so that digits are kept for δ next to 1
    left = rest - shift * key
    if left <= 0.0:
        return np.inf
    whole = 1.0 + key
    # the second branch, 1 − (1 − p − δ)/E
    following = min((gain * key + (gain - 1.0) + shift * whole) / left, HIGHEST)
    below = rest - (gain - rest) * key
    if below > 0.0 and key * (gain + shift) <= rest:  # p ≤ (1 − δ)/(E + 1): the first branch, E·p + δ
        # both, since next to the bend a huge E leaves few digits in ``below``
        following = min(following, (gain * key + shift * whole) / below)
    return following


@part
def in_order(waiting: Small, pool: Positions, count: int, mark: int = 1) -> int:
    """Bring the vertices of a pool, those with this mark, into the order of the graph if they are many; how many.

    Then memory is read from front to back; for a few vertices, looking at all that do not wait would cost more.
    """
    if count * MANY <= len(waiting):
        return count
    at = 0
    for v in range(len(waiting)):
        pool[at] = v  # always, and kept if v waits: a branch would be guessed wrong too often
        at += 1 if waiting[v] == mark else 0
    return at


@part
def fetch(indptr: Offsets, indices: Positions, vertices: Positions, start: int, stop: int, touched: Positions) -> None:
    """Look at the ends of the rows of some vertices that are next.

    Asked for one by one, each row has to be waited for; asked for together, they arrive together, and are there when
    they are needed. ``touched`` keeps the compiler from leaving this out.
    """
    for i in range(start, stop):
        v = vertices[i]
        if indptr[v] < indptr[v + 1]:
            touched[i - start] = indices[indptr[v]] ^ indices[indptr[v + 1] - 1]


@kernel
def by_rounds(
    indptr: Offsets,
    indices: Positions,
    state: Small,
    keys: Floats,
    sources: Positions,
    source_colors: Small,
    source_keys: Floats,
    starts: Floats,
    classes: NDArray[np.uint8] | None,
    epsilons: Floats | None,
    gains: Floats,
    shifts: Floats,
    probit: bool,
    window_gain: float,
    window_shift: float,
    limit: int,
    work: Offsets,
) -> int:
    """Settle all vertices, whatever the window; quick if it is about one step of the edges.

    ``work[0]`` becomes the number of looks at waiting vertices, sources and edges; beyond ``limit``, GAVE_UP.

    A round works on the waiting vertices whose keys lie in the window, that is between the lowest key and one step of
    the window from there: it offers their neighbours a key, and whoever takes it, since it is lower, waits for a later
    round. The search ends when nobody waits. If every edge has the step of the window, keys in it cannot lower each
    other, so every vertex is worked on once.

    A source takes part when the window reaches its start, a lower bound of its key; starts are sorted. Edges find their
    parameters by class, or with ``epsilons`` each at its own place; without either they all have the first. (For None
    the compiler leaves out what is not needed.) All of it in one function, since a call for each vertex takes longer
    than the edges of most.
    """
    n = len(indptr) - 1
    for v in range(n):
        # while the search runs, keys of the second colour are negative: one look at w tells its key and its colour
        keys[v] = 0.0 if state[v] == FIXED else (np.inf if state[v] == 0 else -np.inf)
    waiting = np.zeros(n, np.uint8)
    pool = np.empty(n, np.int32)
    later = np.empty(n, np.int32)
    touched = np.empty(AHEAD, np.int32)
    count = 0
    at = 0
    lowest = np.inf
    while count > 0 or at < len(sources):
        if at < len(sources):
            lowest = min(lowest, starts[at])
        highest = step(lowest, window_gain, window_shift, probit)
        lowest = np.inf
        after = 0
        in_order(waiting, pool, count)
        stop = at
        while stop < len(sources) and starts[stop] <= highest:
            stop += 1
        work[0] += count + stop - at
        if work[0] > limit:
            return GAVE_UP
        for i in range(count + stop - at):
            s = at + i - count  # first the pool, then the sources
            source = i >= count
            if epsilons is None and i % AHEAD == 0:  # with three arrays along the edges it does not pay
                fetch(indptr, indices, pool, i, min(i + AHEAD, count), touched)
                fetch(indptr, indices, sources, max(s, at), min(s + AHEAD, stop), touched)
            if source:
                v = sources[s]
                key = source_keys[s]
                sign = 1.0 if source_colors[s] == 0 else -1.0
            else:
                v = pool[i]
                key = abs(keys[v])
                sign = math.copysign(1.0, keys[v])
                if key > highest:
                    later[after] = v
                    after += 1
                    lowest = min(lowest, key)
                    continue
                waiting[v] = 0
            begin, end = indptr[v], indptr[v + 1]
            work[0] += end - begin
            # U on odds k is at least (E + δ)·k, and from k = 1 on, where its second branch is in force, at least
            # (E + δ)·(k + 1) − 1
            more = 1.0 if key >= 1.0 and not probit else 0.0
            least = (key + more) * _ROUNDING
            same = step(key, gains[0], shifts[0], probit)
            for e in range(begin, end):
                w = indices[e]
                old = sign * keys[w]
                floor = same
                if classes is not None:
                    floor = least * gains[classes[e]] - more
                if epsilons is not None:
                    x = epsilons[e]  # five terms of the series of e^ε are enough here
                    series = 1.0 + x * (1.0 + x * (0.5 + x * (_SIXTH + x * _TWENTY_FOURTH)))
                    floor = least * (series + shifts[e]) - more
                if floor >= old and old < np.inf:  # nine in ten edges: to vertices that are settled, or no shortcut
                    if old <= 0.0 and not source and state[w] == (1 if sign > 0.0 else 0):
                        return -1 - e
                    continue
                new = same
                if classes is not None:
                    new = step(key, gains[classes[e]], shifts[classes[e]], probit)
                if epsilons is not None:
                    new = step(key, math.exp(epsilons[e]), shifts[e], probit)
                if new >= old:
                    continue
                keys[w] = sign * new
                lowest = min(lowest, new)
                if not waiting[w]:
                    waiting[w] = 1
                    later[after] = w
                    after += 1
        at = stop
        pool, later = later, pool
        count = after
    reached = 0
    for v in range(n):
        keys[v] = abs(keys[v])
        if keys[v] < np.inf and state[v] != FIXED:
            reached += 1
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
                    size = push(heap_keys, heap, size, following, w)
    settled = 0
    while size > 0:
        v = heap[0]
        key = heap_keys[0]
        size = drop_first(heap_keys, heap, size)
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
                        size = push(heap_keys, heap, size, following, w)
            elif state[w] < FIXED and state[w] != color + 2:
                return -1 - e
    return settled


@part
def push(heap_keys: Floats, heap: Positions, size: int, key: float, v: int) -> int:
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
def drop_first(heap_keys: Floats, heap: Positions, size: int) -> int:
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
            kept = push(heap_keys, heap, kept, heap_keys[i], heap[i])
    return kept
