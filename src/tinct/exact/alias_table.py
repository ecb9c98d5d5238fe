"""Many draws from one row: a table with which each takes the same few steps, however many answers there are.

The units of a row are laid into columns of equal height, at most two answers to a column, so that every answer has
exactly as many units as before (Walker's alias method, in integers). A draw is one uniform integer: its first bits
name a column, the others are compared with one number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    BelowMany = Callable[[int, int], NDArray[np.uint64]]

MOST_BITS = 62
_BATCH = 1 << 15  # draws at a time, so that they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class AliasTable:
    """A row of 2^bits units in columns of 2^height: below ``bounds`` a column has the first of its two ``values``."""

    bits: int
    height: int
    bounds: NDArray[np.int64]
    values: NDArray[np.int64]

    @classmethod
    def of(cls, values: Sequence[int], weights: Sequence[int]) -> AliasTable:
        """The table for whole ``weights`` that sum to a power of two, at most 2^62; the numbers ``values`` are drawn.

        >>> table = AliasTable.of([7, 8, 9], [5, 2, 1])
        >>> sorted(table.draw(8, lambda bound, count: np.arange(count, dtype=np.uint64)).tolist())
        [7, 7, 7, 7, 7, 8, 8, 9]
        """
        total = sum(weights)
        bits = total.bit_length() - 1
        if len(values) != len(weights) or min(weights) < 0 or total != 1 << bits or bits > MOST_BITS:
            raise ParameterError(f"weights must be whole numbers that sum to a power of two up to 2^{MOST_BITS}")
        width = (len(weights) - 1).bit_length()
        if width > bits:
            raise ParameterError("there are more answers than units")
        column = 1 << bits - width
        left = [*weights, *[0] * ((1 << width) - len(weights))]
        other = list(range(len(left)))
        low = [at for at, weight in enumerate(left) if weight < column]
        high = [at for at, weight in enumerate(left) if weight >= column]
        while low:
            small, large = low.pop(), high[-1]
            other[small] = large
            left[large] -= column - left[small]
            if left[large] < column:
                low.append(high.pop())
        named = np.zeros(len(left), np.int64)
        named[: len(values)] = values
        bounds = np.array([at * column + min(weight, column) for at, weight in enumerate(left)], np.int64)
        return cls(bits, bits - width, bounds, np.stack([named, named[other]], axis=1).ravel())

    def draw(self, count: int, below_many: BelowMany) -> NDArray[np.int64]:
        """So many independent draws; ``below_many(bound, count)`` must be uniform in [0, bound)."""
        drawn = np.empty(count, np.int64)
        for start in range(0, count, _BATCH):
            out = drawn[start : start + _BATCH]
            units = below_many(1 << self.bits, len(out)).view(np.int64)
            place = units >> self.height
            is_second = units >= self.bounds[place]
            place <<= 1
            place += is_second
            np.take(self.values, place, out=out, mode="clip")
        return drawn
