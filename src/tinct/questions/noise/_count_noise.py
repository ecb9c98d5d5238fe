"""Noise for counts: one draw, with which every threshold on the count is answered as well as if it alone were asked.

For δ > 0 it is a table of whole units with an end on either side; for δ = 0 it is geometric and has none
(docs/theory.md §11, proof: docs/proofs/counts.md).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.exact.alias_table import MOST_BITS, AliasTable
from tinct.exact.grid import DEFAULT_BITS, MAX_BITS, GridPair
from tinct.numbers.bounds import growth_below
from tinct.questions.modes.coins import retention
from tinct.questions.noise.geometric import GeometricNoise
from tinct.questions.noise.orbit_weights import balanced_weights, selecting_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.privacy import Privacy

    Below = Callable[[int], int]
    BelowMany = Callable[[int, int], NDArray[np.uint64]]

_ROOM = 1 << 24  # so many units at least are worth a step of the tail: below, rounding would show


@dataclass(frozen=True)
class TableNoise:
    """Noise in whole units: ``weights`` of ``total`` for the numbers from ``first`` on.

    ``growth`` is the R they were built for: no weight is more than R times the next, but for δ.

    >>> TableNoise(-1, (1, 2, 1), Fraction(2)).within(0)
    0.5
    """

    first: int
    weights: tuple[int, ...]
    growth: Fraction

    @property
    def total(self) -> int:
        """The units of all together."""
        return self._prefixes[-1]

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the largest number there is."""
        return self.first, self.first + len(self.weights) - 1

    def within(self, error: int, center: int = 0) -> float:
        """The probability that |Z − center| ≤ ``error``, rounded down."""
        inside = self._units_below(center + error + 1) - self._units_below(center - error)
        return _float_below(Fraction(inside, self.total))

    def at_least(self, number: int) -> float:
        """The probability that Z ≥ ``number``."""
        return float(Fraction(self.total - self._units_below(number), self.total))

    @property
    def middle(self) -> int:
        """The number that as many units lie below as above, or nearly so."""
        return self.first + bisect_left(self._prefixes, -(-self.total // 2))

    @property
    def reach(self) -> int:
        """Beyond this, up or down, there is nothing."""
        return max(map(abs, self.ends))

    def draw(self, below: Below) -> int:
        """One number; ``below(n)`` must be uniform in [0, n)."""
        return self.first + sampler.place(below(self.total), self._prefixes)

    def draw_many(self, count: int, below_many: BelowMany, below: Below) -> NDArray[np.int64]:
        """So many of them."""
        if self.total > 1 << MOST_BITS:
            return np.array([self.draw(below) for _ in range(count)], np.int64)
        return self._alias.draw(count, below_many)

    def _units_below(self, number: int) -> int:
        at = number - self.first
        return 0 if at <= 0 else self._prefixes[min(at, len(self.weights)) - 1]

    @cached_property
    def _prefixes(self) -> list[int]:
        return list(accumulate(self.weights))

    @cached_property
    def _alias(self) -> AliasTable:
        return AliasTable.of(range(self.first, self.first + len(self.weights)), self.weights)


Noise = TableNoise | GeometricNoise


def count_noise(privacy: Privacy, *, changes: int = 1, selecting: bool = False) -> Noise:
    """The noise for numbers of which one person changes so many, each by one.

    Args:
        privacy: ε and δ for all of them together; two that change get one half each.
        changes: 1 or 2.
        selecting: Noise that is always negative, for groups that are shown only if the noisy count is not.

    >>> from tinct import Privacy
    >>> count_noise(Privacy("ln 2")), count_noise(Privacy(1, "1e-6")).ends
    (GeometricNoise(rate=Fraction(1, 2)), (-14, 14))
    """
    epsilon, delta = privacy.exact_epsilon, privacy.exact_delta / changes
    if not delta:
        rate = retention(epsilon, halved=changes > 1)
        if selecting or not rate < 1:
            raise ParameterError.of("delta" if selecting else "epsilon", "above 0", ..., ": else the noise has no end")
        return GeometricNoise(rate)
    growth = growth_below(epsilon) if changes == 1 else _shortened(1 / retention(epsilon, halved=True))
    needed = _ROOM / (delta * min(1, growth - 1 or 1))
    bits = max(DEFAULT_BITS, int(needed).bit_length())
    if bits > MAX_BITS:
        raise ParameterError.of("delta", "0, or not as small", delta)
    shift = int(delta * (1 << bits))
    if growth == 1:  # all weights are D but the two last: the number of units that is left for those must be even
        shift -= shift % 2
    pair = GridPair(1 << bits, min(growth, Fraction(1 << bits)), shift)
    first, weights = (selecting_weights if selecting else balanced_weights)(pair)
    return TableNoise(first, tuple(weights), pair.growth)


def _shortened(growth: Fraction) -> Fraction:
    """At most the given number, which is at least 1, with 60 binary places."""
    return Fraction(int(growth * (1 << 60)), 1 << 60)


def _float_below(value: Fraction) -> float:
    """A float that is not above an exact number."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else float(np.nextafter(nearest, 0.0))
