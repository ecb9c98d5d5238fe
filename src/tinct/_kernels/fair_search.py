"""The fair optimum: all truths from the budgets alone, settled in the order of their levels (docs/theory.md §3a).

Keys are those of ``propagation``: odds of the truth, or e^probit. The *level* of a vertex is its key divided by the
weight of its colour; without a lean both weights are 1. A boundary edge has a level at which both its ends may stand,
its balance. If neither end is settled when the search comes to that level, one end settles there. Who settles offers
``step(key)`` to neighbours of the same colour and ``step(1/key)`` to others, and everybody takes their least offer.

``fair_by_rounds`` works on all levels within one step at a time. It gives up after ``limit`` looks at vertices and
edges. ``fair_by_heap`` takes one vertex after the
other, always in O((n + m) log n). What each costs: docs/proofs/fair-optimum.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel, part
from tinct._kernels.propagation import AHEAD, HIGHEST, drop_first, fetch, in_order, push, step

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
    # U is the smaller of two branches, so the level is the smaller of two: E(1 − t) + δ = t′, and with t, t′ exchanged;
    # no key may be so large that it would stand for a certain answer
    return min(
        _branch_root(gain, shift, second / first) / first,
        _branch_root(gain, shift, first / second) / second,
        HIGHEST / max(first, second),
    )


@part
def _branch_root(gain: float, shift: float, ratio: float) -> float:
    """The odds x with E/(1 + x) + δ = rx/(1 + rx): the root of r(1 − δ)x² + (r − δ − r(E + δ))x − (E + δ)."""
    square = ratio * (1.0 - shift)
    linear = ratio - shift - ratio * (gain + shift)
    rest = gain + shift
    # the hypotenuse, without overflow; not math.hypot, whose last digit differs when it is compiled
    one, other = abs(linear), 2.0 * math.sqrt(square) * math.sqrt(rest)
    longer, share = max(one, other), min(one, other) / max(one, other)
    root = longer * math.sqrt(1.0 + share * share)
    if linear > 0.0:
        return 2.0 * rest / (linear + root)
    return (root - linear) / (2.0 * square)


@part
def across(key: float, gain: float, shift: float, probit: bool, balance: float) -> float:
    """The most truth that a vertex with this key leaves to an unsettled neighbour of the other colour: U(1 − t).

    It is not below ``balance``, the neighbour's key at the level of the edge (docs/proofs/fair-optimum.md): for a huge
    ε, U is so steep that a last digit of 1 − t would make it so.
    """
    return max(step(1.0 / key if key < np.inf else 0.0, gain, shift, probit), balance)


@part
def _gain(e: int, classes: NDArray[np.uint8] | None, epsilons: Floats | None, gains: Floats) -> float:
    """E of an edge: by its own ε, by class, or that of all."""
    if epsilons is not None:
        return math.exp(epsilons[e])
    return float(gains[classes[e] if classes is not None else 0])


@part
def _shift(e: int, classes: NDArray[np.uint8] | None, epsilons: Floats | None, shifts: Floats) -> float:
    """δ of an edge."""
    if epsilons is not None:
        return float(shifts[e])
    return float(shifts[classes[e] if classes is not None else 0])


@part
def _least_gain(
    e: int, classes: NDArray[np.uint8] | None, epsilons: Floats | None, gains: Floats, shifts: Floats
) -> float:
    """A number that E + δ of an edge is not below, without e^ε: five terms of the series are enough here."""
    if epsilons is not None:
        x = epsilons[e]
        return float(1.0 + x * (1.0 + x * (0.5 + x * (_SIXTH + x * _TWENTY_FOURTH))) + shifts[e])
    return float(gains[classes[e] if classes is not None else 0])


@part
def _level(
    e: int,
    classes: NDArray[np.uint8] | None,
    epsilons: Floats | None,
    shifts: Floats,
    balances: Floats,
    probit: bool,
    weights: Floats,
    below: float,
) -> float:
    """The level of a boundary edge; infinite if a look tells that it is not below ``below``."""
    if epsilons is None:
        return float(balances[classes[e] if classes is not None else 0])
    if weights[0] == weights[1] == 1.0:  # then it is (E + δ)/(1 − δ), or as high as can be
        least = _least_gain(e, classes, epsilons, shifts, shifts) * _ROUNDING
        if least >= below * (1.0 - shifts[e]):
            return np.inf
    return balance_level(math.exp(epsilons[e]), shifts[e], probit, weights[0], weights[1])


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
    beyond it. What happens in it between the colours does not need the order of all levels either: an edge is decided
    at its balance if that is the lowest candidate of both its ends. From any boundary vertex we go on to the other end
    of its lowest edge, to the other end of that one's lowest edge, and so on, until there is nothing lower.

    Edges find their parameters by class, or with ``epsilons`` each at its own place. ``balances`` has the level of each
    class; with ``epsilons`` levels are computed where they are needed. ``work[0]`` becomes the number of looks.
    """
    n = len(indptr) - 1
    best = np.full(n, np.inf)  # the lowest level of the open boundary edges, as of the last look; infinite inside
    partner = np.full(n, -1, np.int32)  # the other end of that edge
    state = np.zeros(n, np.uint8)
    pool = np.empty(n, np.int32)
    later = np.empty(n, np.int32)
    of_second = 0
    for v in range(n):
        # while the search runs, keys of the second colour are negative: one look at w tells its key and its colour
        keys[v] = np.inf if colors[v] == 0 else -np.inf
        of_second += 1 if colors[v] else 0  # a sum with an element would have its 8 bits, uncompiled
    rarer = 1 if 2 * of_second < n else 0  # from the side of this colour every boundary edge is found
    for v in range(n):
        if colors[v] != rarer:
            continue
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if colors[w] == rarer:
                continue
            level = _level(e, classes, epsilons, shifts, balances, probit, weights, max(best[v], best[w]))
            if level < best[v]:
                best[v] = level
                partner[v] = w
            if level < best[w]:
                best[w] = level
                partner[w] = v
    count = 0
    lowest = np.inf
    for v in range(n):
        if partner[v] >= 0:
            state[v] = _WAITING
            pool[count] = v
            count += 1
            lowest = min(lowest, best[v])
    path = np.empty(count + 1, np.int32)
    touched = np.empty(AHEAD, np.int32)
    looks = n + len(indices)
    while count > 0:
        highest = min(
            step(lowest * weights[0], window_gain, window_shift, probit) / weights[0],
            step(lowest * weights[1], window_gain, window_shift, probit) / weights[1],
        )
        highest = max(highest, lowest)  # rounding, or the highest of all keys, must not stop the search
        lowest = np.inf
        after = 0
        size = 0
        looks += count
        if looks > limit:
            work[0] = looks
            return GAVE_UP
        count = in_order(state, pool, count, _WAITING)
        for i in range(count):
            v = pool[i]
            key = abs(keys[v])
            sign = math.copysign(1.0, keys[v])
            weight = weights[0 if sign > 0.0 else 1]
            level = min(key / weight, best[v])
            if level > highest:
                later[after] = v
                after += 1
                lowest = min(lowest, level)
                continue
            if partner[v] >= 0:  # below
                pool[size] = v
                size += 1
                continue
            state[v] = _IDLE  # its key is final but for rounding
            more = 1.0 if key >= 1.0 and not probit else 0.0
            least = (key + more) * _ROUNDING  # see propagation.by_rounds
            looks += indptr[v + 1] - indptr[v]
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                old = sign * keys[w]
                if old < np.inf and least * _least_gain(e, classes, epsilons, gains, shifts) - more >= old:
                    continue
                new = step(key, _gain(e, classes, epsilons, gains), _shift(e, classes, epsilons, shifts), probit)
                if new < old and state[w] != _SETTLED:
                    keys[w] = sign * new
                    lowest = min(lowest, new / weight)
                    if state[w] == _IDLE:
                        state[w] = _WAITING
                        later[after] = w
                        after += 1
        for i in range(size):
            if i % AHEAD == 0:
                fetch(indptr, indices, pool, i, min(i + AHEAD, size), touched)
            path[0] = pool[i]
            depth = 1
            while depth > 0:
                v = path[depth - 1]
                key = abs(keys[v])
                sign = math.copysign(1.0, keys[v])
                mine = 0 if sign > 0.0 else 1
                weight = weights[mine]
                level = min(key / weight, best[v])
                if state[v] == _SETTLED or level > highest:
                    depth -= 1
                    continue
                begin, end = indptr[v], indptr[v + 1]
                mate = -1
                if best[v] < key / weight:
                    mate = partner[v]
                    if state[mate] == _SETTLED:  # that edge is decided: the next one
                        looks += end - begin
                        if looks > limit:
                            work[0] = looks
                            return GAVE_UP
                        best[v] = np.inf
                        for e in range(begin, end):
                            w = indices[e]
                            theirs = -sign * keys[w]
                            if theirs < 0.0:
                                continue
                            if state[w] != _SETTLED:
                                below = min(best[v], key / weight)
                                level = _level(e, classes, epsilons, shifts, balances, probit, weights, below)
                                if level < best[v]:
                                    best[v] = level
                                    partner[v] = w
                            elif _ROUNDING / theirs * _least_gain(e, classes, epsilons, gains, shifts) < key:
                                # offers of the other colour are fetched only here: they are not below the open edges
                                level = _level(e, classes, epsilons, shifts, balances, probit, weights, np.inf)
                                gain, shift = _gain(e, classes, epsilons, gains), _shift(e, classes, epsilons, shifts)
                                key = min(key, across(theirs, gain, shift, probit, level * weight))
                        keys[v] = sign * key
                        continue
                    if min(abs(keys[mate]) / weights[1 - mine], best[mate]) < level:  # it has a lower candidate
                        path[depth] = mate
                        depth += 1
                        continue
                    key = level * weight
                    keys[v] = sign * key
                state[v] = _SETTLED
                looks += end - begin
                more = 1.0 if key >= 1.0 and not probit else 0.0
                least = (key + more) * _ROUNDING
                for e in range(begin, end):
                    w = indices[e]
                    old = sign * keys[w]
                    if old < 0.0:
                        if w == mate:  # its lowest candidate too, so it is next
                            gain, shift = _gain(e, classes, epsilons, gains), _shift(e, classes, epsilons, shifts)
                            new = across(key, gain, shift, probit, level * weights[1 - mine])
                            keys[w] = max(keys[w], -new) if sign > 0.0 else min(keys[w], new)
                            best[w] = np.inf
                            path[depth - 1] = w
                        continue
                    if old < np.inf and least * _least_gain(e, classes, epsilons, gains, shifts) - more >= old:
                        continue
                    new = step(key, _gain(e, classes, epsilons, gains), _shift(e, classes, epsilons, shifts), probit)
                    if new < old and state[w] != _SETTLED:
                        keys[w] = sign * new
                        lowest = min(lowest, new / weight)
                        if state[w] == _IDLE:
                            state[w] = _WAITING
                            later[after] = w
                            after += 1
            v = pool[i]
            if state[v] != _SETTLED:
                later[after] = v
                after += 1
                lowest = min(lowest, min(abs(keys[v]) / weights[colors[v]], best[v]))
        pool, later = later, pool
        count = after
    for v in range(n):
        keys[v] = abs(keys[v])
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
            v = ends[at, 0]
            key = levels[at] * weights[colors[v]]
            decided = settled[v] or settled[ends[at, 1]] or keys[v] <= key
            at += 1
            if decided:
                continue
            keys[v] = key
        else:
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
                level = balance_level(gains[e], shifts[e], probit, weights[0], weights[1])
                new = across(key, gains[e], shifts[e], probit, level * weights[colors[w]])
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
