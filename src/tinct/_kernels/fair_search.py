"""The fair optimum: all truths from the budgets alone, settled in the order of their levels (docs/theory.md §3a).

Keys are those of ``propagation``: odds of the truth, or e^probit. The *level* of a vertex is its key divided by the
weight of its colour; without a lean both weights are 1. A boundary edge has a level at which both its ends may stand,
its balance. If neither end is settled when the search comes to that level, one end settles there. Who settles offers
``step(key)`` to neighbours of the same colour and ``step(1/key)`` to others, and everybody takes their least offer.

``fair_by_rounds`` works on all levels within one step at a time, and only boundary vertices in order: nobody else
decides anything. It gives up after ``limit`` looks at vertices and edges. ``fair_by_heap`` takes one vertex after the
other, always in O((n + m) log n). What each costs: docs/proofs/fair-optimum.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel, part
from tinct._kernels.propagation import HIGHEST, drop_first, in_order, push, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct._kernels.propagation import Floats, Offsets, Positions, Small

GAVE_UP = -1
_IDLE, _WAITING, _SETTLED = 0, 1, 2
_SIXTH, _TWENTY_FOURTH = 1.0 / 6.0, 1.0 / 24.0
_ROUNDING = 1.0 - 1e-14  # more than all roundings of one step


@part
def balance_level(gain: float, shift: float, probit: bool, first: float, second: float) -> float:
    """The level at which the ends of a boundary edge have truths t = U(1 − t′), for the weights of the two colours."""
    if probit:
        return math.sqrt(gain / (first * second))
    if first == second:
        return min((gain + shift) / (1.0 - shift), HIGHEST) / first
    # U is the smaller of two branches, so the level is the smaller of two: E(1 − t) + δ = t′, and with t, t′ exchanged
    return min(
        _branch_root(gain, shift, second / first) / first,
        _branch_root(gain, shift, first / second) / second,
    )


@part
def _branch_root(gain: float, shift: float, ratio: float) -> float:
    """The odds x with E/(1 + x) + δ = rx/(1 + rx): the root of r(1 − δ)x² + (r − δ − r(E + δ))x − (E + δ)."""
    square = ratio * (1.0 - shift)
    linear = ratio - shift - ratio * (gain + shift)
    rest = gain + shift
    root = math.hypot(linear, 2.0 * math.sqrt(square) * math.sqrt(rest))
    if linear > 0.0:
        return 2.0 * rest / (linear + root)
    return (root - linear) / (2.0 * square)


@part
def across(key: float, gain: float, shift: float, probit: bool) -> float:
    """The most truth that a vertex with this key leaves to a neighbour of the other colour: U(1 − t)."""
    return step(1.0 / key, gain, shift, probit) if key < np.inf else step(0.0, gain, shift, probit)


@kernel
def fair_by_rounds(
    indptr: Offsets,
    indices: Positions,
    colors: Small,
    keys: Floats,
    classes: NDArray[np.uint8] | None,
    epsilons: Floats | None,
    gains: Floats,
    shifts: Floats,
    balances: Floats,
    probit: bool,
    weights: Floats,
    window_gain: float,
    window_shift: float,
    limit: int,
    work: NDArray[np.int64],
) -> int:
    """Fill ``keys``, infinite where nothing bounds a vertex; GAVE_UP if that takes more than ``limit`` looks.

    The window is no longer than the shortest step, so what is offered in a round to vertices of the same colour lies
    beyond it. Edges find their parameters by class, or with ``epsilons`` each at its own place. ``balances`` has the
    level of each class; with ``epsilons`` levels are computed where they are needed.
    """
    n = len(indptr) - 1
    best = np.full(n, np.inf)  # the least balance of the open boundary edges, as a key; infinite inside
    partner = np.full(n, -1, np.int32)  # the other end of that edge
    state = np.zeros(n, np.uint8)
    pool = np.empty(n, np.int32)
    later = np.empty(n, np.int32)
    count = 0
    lowest = np.inf
    for v in range(n):
        keys[v] = np.inf
        mine = colors[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if colors[w] != mine:
                if epsilons is not None:
                    level = balance_level(math.exp(epsilons[e]), shifts[e], probit, weights[0], weights[1])
                else:
                    level = balances[classes[e] if classes is not None else 0]
                key = level * weights[mine]
                if key < best[v]:
                    best[v] = key
                    partner[v] = w
        if partner[v] >= 0:
            state[v] = _WAITING
            pool[count] = v
            count += 1
            lowest = min(lowest, best[v] / weights[mine])
    heap_keys = np.empty(count + 1, np.float64)
    heap = np.empty(count + 1, np.int32)
    looks = n + len(indices)
    while count > 0:
        highest = min(
            step(lowest * weights[0], window_gain, window_shift, probit) / weights[0],
            step(lowest * weights[1], window_gain, window_shift, probit) / weights[1],
        )
        lowest = np.inf
        after = 0
        size = 0
        looks += count
        if looks > limit:
            work[0] = looks
            return GAVE_UP
        in_order(state, pool, count, _WAITING)
        for i in range(count):
            v = pool[i]
            key = min(keys[v], best[v])
            weight = weights[colors[v]]
            if key > highest * weight:
                later[after] = v
                after += 1
                lowest = min(lowest, key / weight)
                continue
            if partner[v] >= 0:  # in order, below
                size = push(heap_keys, heap, size, key / weight, v)
                continue
            state[v] = _IDLE  # its key is final but for rounding
            more = 1.0 if key >= 1.0 and not probit else 0.0
            least = (key + more) * _ROUNDING  # see propagation.by_rounds
            looks += indptr[v + 1] - indptr[v]
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                old = keys[w]
                if epsilons is not None:
                    x = epsilons[e]
                    series = 1.0 + x * (1.0 + x * (0.5 + x * (_SIXTH + x * _TWENTY_FOURTH)))
                    if old < np.inf and least * (series + shifts[e]) - more >= old:
                        continue
                    new = step(key, math.exp(x), shifts[e], probit)
                else:
                    c = classes[e] if classes is not None else 0
                    if old < np.inf and least * gains[c] - more >= old:
                        continue
                    new = step(key, gains[c], shifts[c], probit)
                if new < old and state[w] != _SETTLED:
                    keys[w] = new
                    lowest = min(lowest, new / weight)
                    if state[w] == _IDLE:
                        state[w] = _WAITING
                        later[after] = w
                        after += 1
        while size > 0:
            v = heap[0]
            size = drop_first(heap_keys, heap, size)
            mine = colors[v]
            weight = weights[mine]
            if best[v] < keys[v] and state[partner[v]] == _SETTLED:  # that edge is decided: the next one
                looks += indptr[v + 1] - indptr[v]
                best[v] = np.inf
                for e in range(indptr[v], indptr[v + 1]):
                    w = indices[e]
                    if colors[w] != mine and state[w] != _SETTLED:
                        if epsilons is not None:
                            level = balance_level(math.exp(epsilons[e]), shifts[e], probit, weights[0], weights[1])
                        else:
                            level = balances[classes[e] if classes is not None else 0]
                        if level * weight < best[v]:
                            best[v] = level * weight
                            partner[v] = w
                key = min(keys[v], best[v])
                if key > highest * weight:
                    later[after] = v
                    after += 1
                    lowest = min(lowest, key / weight)
                else:
                    size = push(heap_keys, heap, size, key / weight, v)
                continue
            key = min(keys[v], best[v])
            keys[v] = key
            state[v] = _SETTLED
            looks += indptr[v + 1] - indptr[v]
            more = 1.0 if key >= 1.0 and not probit else 0.0
            least = (key + more) * _ROUNDING
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if state[w] == _SETTLED:
                    continue
                old = keys[w]
                c = 0
                if colors[w] == mine:
                    if epsilons is not None:
                        x = epsilons[e]
                        series = 1.0 + x * (1.0 + x * (0.5 + x * (_SIXTH + x * _TWENTY_FOURTH)))
                        if old < np.inf and least * (series + shifts[e]) - more >= old:
                            continue
                        new = step(key, math.exp(x), shifts[e], probit)
                    else:
                        c = classes[e] if classes is not None else 0
                        if old < np.inf and least * gains[c] - more >= old:
                            continue
                        new = step(key, gains[c], shifts[c], probit)
                elif epsilons is not None:
                    new = across(key, math.exp(epsilons[e]), shifts[e], probit)
                else:
                    c = classes[e] if classes is not None else 0
                    new = across(key, gains[c], shifts[c], probit)
                if new < old:
                    keys[w] = new
                    lowest = min(lowest, min(new, best[w]) / weights[colors[w]])
                    if state[w] == _IDLE:
                        state[w] = _WAITING
                        later[after] = w
                        after += 1
        pool, later = later, pool
        count = after
    work[0] = looks
    return 0


@kernel
def balance_levels(gains: Floats, shifts: Floats, weights: Floats, levels: Floats) -> None:
    """The level of many boundary edges with (ε, δ) of their own."""
    for i in range(len(levels)):
        levels[i] = balance_level(gains[i], shifts[i], False, weights[0], weights[1])


@kernel
def fair_by_heap(
    indptr: Offsets,
    indices: Positions,
    colors: Small,
    keys: Floats,
    ends: Positions,
    levels: Floats,
    gains: Floats,
    shifts: Floats,
    probit: bool,
    weights: Floats,
) -> None:
    """The same, one vertex after the other. ``ends`` are one end of each boundary edge, then the other, by level.

    Here every directed edge has its own gain and shift.
    """
    n = len(indptr) - 1
    keys[:] = np.inf
    settled = np.zeros(n, np.uint8)
    heap_keys = np.empty(2 * n + 2, np.float64)
    heap = np.empty(2 * n + 2, np.int32)
    size = 0
    at = 0
    while size > 0 or at < len(levels):
        if at < len(levels) and (size == 0 or levels[at] <= heap_keys[0]):
            u, v = ends[at, 0], ends[at, 1]
            if not settled[u] and not settled[v]:
                key = levels[at] * weights[colors[u]]
                if key < keys[u]:
                    keys[u] = key
                    if size == len(heap):
                        size = _sweep(heap_keys, heap, size, keys, settled, colors, weights)
                    size = push(heap_keys, heap, size, levels[at], u)
            at += 1
            continue
        v = heap[0]
        size = drop_first(heap_keys, heap, size)
        if settled[v]:
            continue
        settled[v] = 1
        key = keys[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if settled[w]:
                continue
            if colors[w] == colors[v]:
                new = step(key, gains[e], shifts[e], probit)
            else:
                new = across(key, gains[e], shifts[e], probit)
            if new < keys[w]:
                keys[w] = new
                if size == len(heap):
                    size = _sweep(heap_keys, heap, size, keys, settled, colors, weights)
                size = push(heap_keys, heap, size, new / weights[colors[w]], w)


@part
def _sweep(
    heap_keys: Floats, heap: Positions, size: int, keys: Floats, settled: Small, colors: Small, weights: Floats
) -> int:
    """Keep only entries that are the present level of an unsettled vertex; returns the heap's size."""
    kept = 0
    for i in range(size):
        v = heap[i]
        if not settled[v] and heap_keys[i] == keys[v] / weights[colors[v]]:
            kept = push(heap_keys, heap, kept, heap_keys[i], v)
    return kept
