"""Keeping labels apart: the smallest shifts along a line after which nothing overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def spread(centers: Sequence[float], lengths: Sequence[float], *, low: float = -np.inf, high: float = np.inf) -> Floats:
    """New centres for intervals of given lengths: disjoint, within [low, high], with the least sum of squared shifts.

    Intervals keep their order. Those that together are longer than the room share the overlap evenly.

    >>> spread([1.0, 1.0, 5.0], [2.0, 2.0, 2.0])
    array([0., 2., 5.])
    """
    if not len(centers):
        return np.empty(0)
    order = np.argsort(np.asarray(centers, np.float64), kind="stable")
    wanted, size = np.asarray(centers, np.float64)[order], np.asarray(lengths, np.float64)[order]
    room = high - low
    size = size * min(1.0, room / size.sum()) if size.sum() > 0 else size
    # after taking off the room of the intervals before it, each centre must only be at least the one before
    before = np.concatenate([[0.0], np.cumsum((size[:-1] + size[1:]) / 2)])
    flat = _isotonic(wanted - before)
    flat = np.clip(flat, low + size[0] / 2, high - size[-1] / 2 - before[-1])
    result = np.empty(len(wanted))
    result[order] = flat + before
    return result


def _isotonic(values: Floats) -> Floats:
    """The non-decreasing sequence nearest in squares: neighbours in the wrong order are pooled (Ayer et al. 1955)."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            last, more = pools.pop()
            mean, count = (mean * count + last * more) / (count + more), count + more
        pools.append((mean, count))
    return np.concatenate([np.full(count, mean) for mean, count in pools])
