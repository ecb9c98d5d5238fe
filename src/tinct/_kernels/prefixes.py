"""All prefix events of all orders of preference in one pass over the graph.

A free vertex with order c carries q − 1 keys, the bounds on the probabilities of its best answer, its two best, and so
on. They travel together: a vertex whose keys fell in one round offers all of them to its neighbours in the next. Rounds
end when nothing falls any more. Keys are as in ``propagate``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel, part
from tinct._kernels.propagation import CLASSES, UNIFORM, in_order, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Offsets = NDArray[np.int64]
    Positions = NDArray[np.int32]


@kernel
def prefix_bounds(
    indptr: Offsets,
    indices: Positions,
    orders: Positions,
    fixed: NDArray[np.bool_],
    source_keys: Floats,
    keys: Floats,
    layout: int,
    classes: NDArray[np.int32],
    gains: Floats,
    shifts: Floats,
    probit: bool,
) -> int:
    """Lower ``keys`` (n × q−1, given as infinity) to the envelope of the fixed vertices.

    ``source_keys[at, c, k]`` is the key of the event {c_1..c_(k+1)} at a fixed vertex, where ``at`` counts the fixed
    vertices in order. Returns the number of rounds, or −1 − e if entry e joins free vertices of different orders.
    """
    n = len(indptr) - 1
    width = keys.shape[1]
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            if orders[indices[e]] != orders[v] and not (fixed[v] or fixed[indices[e]]):
                return -1 - e
    # no offer from now on is below the floor; a vertex whose keys are not above it is settled, which one byte tells
    # where its keys would have to come from far away
    floor = np.full((source_keys.shape[1], width), np.inf)
    settled = fixed.astype(np.uint8)
    for u in range(len(source_keys)):
        for c in range(len(floor)):
            for k in range(width):
                floor[c, k] = min(floor[c, k], source_keys[u, c, k])
    gain = gains.min()
    shift = shifts.min()
    _raise(floor, gain, shift, probit)
    waiting = np.zeros(n, np.uint8)
    now = np.empty(n, np.int32)
    later = np.empty(n, np.int32)
    count = 0
    at = -1
    for u in range(n):
        if not fixed[u]:
            continue
        at += 1
        for e in range(indptr[u], indptr[u + 1]):
            w = indices[e]
            if settled[w]:
                continue
            i = 0 if layout == UNIFORM else (int(classes[e]) if layout == CLASSES else e)
            fell = False
            above = False
            for k in range(width):
                new = step(source_keys[at, orders[w], k], gains[i], shifts[i], probit)
                if new < keys[w, k]:
                    keys[w, k] = new
                    fell = True
                above = above or keys[w, k] > floor[orders[w], k]
            settled[w] = not above
            if fell and not waiting[w]:
                waiting[w] = 1
                now[count] = w
                count += 1
    rounds = 0
    following = np.empty(width, np.float64)
    while count > 0:
        rounds += 1
        in_order(waiting, now, count)
        _raise(floor, gain, shift, probit)
        after = 0
        for i in range(count):
            v = now[i]
            waiting[v] = 0  # from here on a lower key means another round for v
            if layout == UNIFORM:
                for k in range(width):
                    following[k] = step(keys[v, k], gains[0], shifts[0], probit)
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if settled[w]:
                    continue
                fell = False
                above = False
                j = 0 if layout == UNIFORM else (int(classes[e]) if layout == CLASSES else e)
                for k in range(width):
                    if layout != UNIFORM and keys[w, k] > keys[v, k]:
                        following[k] = step(keys[v, k], gains[j], shifts[j], probit)
                    elif layout != UNIFORM:
                        following[k] = np.inf
                    if following[k] < keys[w, k]:
                        keys[w, k] = following[k]
                        fell = True
                    above = above or keys[w, k] > floor[orders[v], k]
                settled[w] = not above
                if fell and not waiting[w]:
                    waiting[w] = 1
                    later[after] = w
                    after += 1
        now, later = later, now
        count = after
    return rounds


@part
def _raise(floor: Floats, gain: float, shift: float, probit: bool) -> None:
    """One step of the edges with the least privacy loss, for every prefix of every order."""
    for c in range(len(floor)):
        for k in range(floor.shape[1]):
            floor[c, k] = step(floor[c, k], gain, shift, probit)


@kernel
def rows_from_odds(keys: Floats, columns: NDArray[np.int64], orders: Positions, table: Floats) -> None:
    """Rows from the odds of their prefixes, each difference taken on the side with more digits."""
    width = keys.shape[1]
    for v in range(len(keys)):
        reached = 0.0
        missed = 1.0
        for k in range(width + 1):
            now_missed = 1.0 / (1.0 + keys[v, k]) if k < width else 0.0
            now_reached = 1.0 if k == width or keys[v, k] == np.inf else keys[v, k] * now_missed
            difference = now_reached - reached if now_reached <= 0.5 else missed - now_missed
            table[v, columns[orders[v], k]] = max(difference, 0.0)
            reached = now_reached
            missed = now_missed
