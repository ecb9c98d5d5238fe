"""Randomized response on blocks of symbols of nearly equal probability: simple, for alphabets of any size."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

import numpy as np

from tinct.local.bounds import column_worth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.local.inputs import LocalBudget

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def best_blocks(p: Floats, budget: LocalBudget) -> tuple[Integers, float]:
    """The block of each symbol, and the mutual information of randomized response on the blocks.

    Tries every number of blocks that is a power of two, and one block for each symbol.
    """
    k = len(p)
    counts = [*(2**n for n in range(k.bit_length()) if 2**n < k), k]
    best: tuple[Integers, float] | None = None
    for count in counts:
        blocks = np.arange(k) if count >= k else even_blocks(p, count)
        masses = np.bincount(blocks, p)
        value = float(column_worth(np.minimum(masses, 1.0), budget).sum()) / (1.0 + (len(masses) - 1) * budget.low)
        if best is None or value > best[1]:
            best = blocks, value
    return best if best is not None else (np.zeros(k, np.int64), 0.0)


def even_blocks(p: Floats, count: int) -> Integers:
    """Symbols in at most ``count`` blocks of nearly equal probability."""
    return _filled(p, np.ones(count))


def varied_blocks(p: Floats, count: int) -> Integers:
    """Symbols in at most ``count`` blocks of different probabilities, whose sums come close to any number."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    return _filled(p, np.array([1.0 + block * golden % 1.0 for block in range(count)]))


def _filled(p: Floats, sizes: Floats) -> Integers:
    """The likeliest symbols first, each put where there is least so far for the size of the block."""
    blocks = np.empty(len(p), np.int64)
    heap = [(0.0, block) for block in range(len(sizes))]
    for x in np.argsort(-p, kind="stable"):
        level, block = heap[0]
        blocks[x] = block
        heapq.heapreplace(heap, (level + float(p[x] / sizes[block]), block))
    return np.unique(blocks, return_inverse=True)[1]
