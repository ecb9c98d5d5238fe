"""Propagation with a budget on every edge, by buckets: for (ε, δ) whose ε are not too small."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel, part
from tinct._kernels.propagate import FIXED, HIGHEST, step

if TYPE_CHECKING:
    from tinct._kernels.propagate import Floats, Offsets, Positions, Small

_SIXTH = 1.0 / 6.0
_ROUNDING = 1.0 - 1e-14  # more than all roundings of one step
_ABSENT = -2  # in a linked list of vertices: stands in none


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

    Fixed vertices are left with a key of 0. e^ε is computed where it is needed: for most edges it is not, and an array
    of it would have to pass through memory.

    A bucket holds the vertices whose odds share the exponent and the first ``bits`` bits of the mantissa. The lowest
    bucket is worked off until nothing in it changes any more; whatever leaves it goes to higher buckets, since keys
    only grow along edges. Working through a bucket in the order of the vertices keeps memory access local, which is
    why this beats a heap. A vertex stands in one bucket at a time, in a doubly linked list.
    """
    n = len(indptr) - 1
    for v in range(n):
        if state[v] == FIXED:
            keys[v] = 0.0  # nothing is below it, so that no edge to v is worth a second look
        for e in range(indptr[v], indptr[v + 1]):
            if state[v] + state[indices[e]] == 1:  # free, and of both colours
                return -1 - e
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
            indptr, indices, state, keys, pattern, sources[at], source_keys[at], source_colors[at],
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
            reached += _relax(
                indptr, indices, state, keys, pattern, v, keys[v], state[v],
                epsilons, shifts, drop, first, after, before,
            )  # fmt: skip
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
    first: Positions,
    after: Positions,
    before: Positions,
) -> int:
    """Lower the keys of v's neighbours and move them between buckets; returns how many had none before."""
    reached = 0
    for e in range(indptr[v], indptr[v + 1]):
        w = indices[e]
        old = keys[w]
        epsilon = epsilons[e]
        # U at least multiplies odds by e^ε, and four terms of its series are cheap: nine in ten edges end here, both
        # those to vertices that are settled and those that are no shortcut
        if key * (1.0 + epsilon * (1.0 + epsilon * (0.5 + epsilon * _SIXTH))) * _ROUNDING >= old < np.inf:
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
