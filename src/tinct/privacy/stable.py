"""exp(m·ε) without losing digits, for integers m up to 10^18.

The product m·ε can be as large as 700 while e^(m·ε) must be right to a few ulp; rounding the product to one
double would already cost hundreds of ulp. So the product is kept as an unevaluated sum of two doubles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.privacy.amounts import Amount

_SPLITTER = 134217729.0  # 2^27 + 1, Veltkamp's constant: splits a double into two halves of 26 bits


class Power:
    """e^(m·ε) and its relatives for an array of integers m ≥ 0."""

    def __init__(self, steps: NDArray[np.int64], amount: Amount) -> None:
        high, low = amount.split
        coarse = steps.astype(np.float64)
        # the part of a 63-bit integer that a double drops, as a double
        fine = (steps - coarse.astype(np.int64)).astype(np.float64)
        self._high, error = _two_product(coarse, high)
        self._low = error + coarse * low + fine * high

    def rise(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """start·e^(mε), halved so that a tiny start times a huge power does not overflow on the way."""
        half = np.exp(np.minimum(self._high, 1400.0) / 2)
        return (start * half) * half * (1.0 + self._low)

    def decay(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """start·e^(−mε)."""
        return start * np.exp(-self._high) * (1.0 - self._low)

    def rise_less_one(self, factor: float) -> NDArray[np.float64]:
        """factor·(e^(mε) − 1)."""
        half = np.exp(np.minimum(self._high, 1400.0) / 2)
        small = factor * (np.expm1(self._high) + np.exp(self._high) * self._low)
        return np.where(self._high < 1.0, small, (factor * half) * half * (1.0 + self._low) - factor)

    def one_less_decay(self) -> NDArray[np.float64]:
        """1 − e^(−mε)."""
        return -np.expm1(-self._high) + np.exp(-self._high) * self._low


def _two_product(a: NDArray[np.float64], b: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """a·b as the rounded product and its rounding error (Dekker)."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(np.float64(b))
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(x: NDArray[np.float64] | np.float64) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    scaled = _SPLITTER * x
    high = np.asarray(scaled - (scaled - x))
    return high, np.asarray(x - high)
