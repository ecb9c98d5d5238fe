"""Propagation with a budget on every edge, by buckets: for (ε, δ) whose ε are not too small."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel, part
from tinct._kernels.propagate import FIXED, HIGHEST, step

if TYPE_CHECKING:
    from tinct._kernels.propagate import Floats, Offsets, Positions, Small

_SIXTH, _TWENTY_FOURTH = 1.0 / 6.0, 1.0 / 24.0
_ROUNDING = 1.0 - 1e-14  # more than all roundings of one step
_END = -1  # of a list


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

    Sources may come in any order; that of the graph is the fastest. Fixed vertices are left with a key of 0. e^ε is
    computed where it is needed: for most edges it is not, and an array of it would have to pass through memory.

    A bucket holds the vertices whose odds share the exponent and the first ``bits`` bits of the mantissa. The lowest
    bucket is worked off until nothing in it changes any more; whatever leaves it goes to higher buckets, since keys
    only grow along edges. Working through a bucket in the order of the vertices keeps memory access local, which is
    why this beats a heap. Buckets are linked lists of entries. A vertex whose key falls into another bucket gets an
    entry there and leaves the old one behind, to be skipped: taking it out would mean to visit its neighbours in the
    list, which lie anywhere in memory.
    """
    n = len(indptr) - 1
    most = 0
    for v in range(n):
        most = max(most, indptr[v + 1] - indptr[v])
        if state[v] == FIXED:
            keys[v] = 0.0  # nothing is below it, so that no edge to v is worth a second look
        for e in range(indptr[v], indptr[v + 1]):
            if state[v] + state[indices[e]] == 1:  # free, and of both colours
                return -1 - e
    pattern = keys.view(np.int64)  # non-negative floats are ordered like their bit patterns
    drop = 52 - bits
    last = np.array([HIGHEST]).view(np.int64)[0] >> drop
    newest = np.full(last + 1, _END, np.int32)  # for each bucket, where its list begins
    entries = np.empty(2 * n + most, np.int32)
    older = np.empty(2 * n + most, np.int32)
    waiting = np.zeros(n, np.uint8)  # whether a vertex stands in the bucket of its key
    batch = np.empty(n, np.int32)
    size = 0
    reached = 0
    for at in range(len(sources)):
        size, found = _relax(
            indptr, indices, state, keys, pattern, sources[at], source_keys[at], source_colors[at],
            epsilons, shifts, drop, newest, entries, older, waiting, size,
        )  # fmt: skip
        reached += found
    bucket = 0
    while bucket <= last:
        i = newest[bucket]
        if i == _END:
            bucket += 1
            continue
        newest[bucket] = _END
        count = 0
        while i != _END:
            v = entries[i]
            if waiting[v] and pattern[v] >> drop == bucket:
                waiting[v] = 0
                batch[count] = v
                count += 1
            i = older[i]
        batch[:count].sort()
        for j in range(count):
            v = batch[j]
            size, found = _relax(
                indptr, indices, state, keys, pattern, v, keys[v], state[v],
                epsilons, shifts, drop, newest, entries, older, waiting, size,
            )  # fmt: skip
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
    epsilons: Floats,
    shifts: Floats,
    drop: int,
    newest: Positions,
    entries: Positions,
    older: Positions,
    waiting: Small,
    size: int,
) -> tuple[int, int]:
    """Lower the keys of v's neighbours; returns how many entries there are, and how many had no key before."""
    if size + indptr[v + 1] - indptr[v] > len(entries):
        size = _sweep(pattern, drop, newest, entries, older, waiting, size)
    reached = 0
    # U on odds k is at least E·k, and from k = 1 on, where its second branch is in force, at least E·(k + 1) − 1
    more = 1.0 if key >= 1.0 else 0.0
    least = (key + more) * _ROUNDING
    for e in range(indptr[v], indptr[v + 1]):
        w = indices[e]
        old = keys[w]
        epsilon = epsilons[e]
        # five terms of the series of e^ε are cheap: nine in ten edges end here, both those to vertices that are settled
        # and those that are no shortcut
        series = 1.0 + epsilon * (1.0 + epsilon * (0.5 + epsilon * (_SIXTH + epsilon * _TWENTY_FOURTH)))
        if least * series - more >= old < np.inf:
            continue
        if state[w] != color:
            continue
        new = step(key, math.exp(epsilon), shifts[e], False)
        if new >= old:
            continue
        was = pattern[w] >> drop
        keys[w] = new
        now = pattern[w] >> drop
        if old == np.inf:
            reached += 1
        if waiting[w] and now == was:
            continue
        waiting[w] = 1
        entries[size] = w
        older[size] = newest[now]
        newest[now] = size
        size += 1
    return size, reached


@part
def _sweep(
    pattern: Offsets,
    drop: int,
    newest: Positions,
    entries: Positions,
    older: Positions,
    waiting: Small,
    size: int,
) -> int:
    """Keep one entry for every waiting vertex; returns how many entries there are."""
    newest[:] = _END
    kept = 0
    for i in range(size):
        v = entries[i]
        if waiting[v]:
            waiting[v] = 0  # its other entries are left behind
            now = pattern[v] >> drop
            entries[kept] = v
            older[kept] = newest[now]
            newest[now] = kept
            kept += 1
    for i in range(kept):
        waiting[entries[i]] = 1
    return kept
