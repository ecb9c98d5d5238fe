"""Two-sided geometric noise with a rational rate, drawn exactly: Pr[Z = z] is proportional to q^|z|, for every z.

It is the orbit for δ = 0 (docs/theory.md §11). It has no end, so there is no table of all of it. A uniform real number
is compared with Pr[Z ≥ m] = q^m/(1 + q), of both only as many binary places as it takes. For many draws at once, a
table says which numbers of 62 binary places already decide; all but a few in 10^15 do, and the rest are continued.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.exact.alias_table import MOST_BITS, AliasTable
from tinct.questions.modes.coins import BLOCK, power_bounds
from tinct.questions.modes.truths import power

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Below = Callable[[int], int]
    BelowMany = Callable[[int, int], NDArray[np.uint64]]

_GUARD = 64
_MOST_ENTRIES = 1 << 17  # of one side of the table; beyond, each draw is made on its own
_ONE_DOWN = 1 - 2.0**-50


@dataclass(frozen=True)
class GeometricNoise:
    """The noise; with q ≥ e^−ε it is ε-private for a count that one person moves by one.

    >>> round(GeometricNoise(Fraction(1, 2)).within(1), 12)
    0.666666666667
    """

    rate: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Fraction) or not 0 < self.rate < 1:
            raise ParameterError(f"the rate must be a Fraction in (0, 1), got {self.rate!r:.80}")

    @property
    def ends(self) -> None:
        """The least and the largest number; there are none."""
        return

    def within(self, error: int, center: int = 0) -> float:
        """The probability that |Z − center| ≤ ``error``, rounded down."""
        outside = self.at_least(center + error + 1) + self.at_least(1 - center + error)
        return max(0.0, (1.0 - outside) * _ONE_DOWN)

    def at_least(self, number: int) -> float:
        """The probability that Z ≥ ``number``."""
        return self._beyond(number) if number > 0 else 1.0 - self._beyond(1 - number)

    def _beyond(self, number: int) -> float:
        """Pr[Z ≥ m] for m ≥ 1."""
        return power(self.rate, number) / (1.0 + float(self.rate))

    @property
    def reach(self) -> int:
        """Beyond this, up or down, lies less than 10^−15 of the probability."""
        return 1 + int(35 / self._decay)

    def draw(self, below: Below, *, block: int = BLOCK) -> int:
        """One number, drawn exactly; ``below(n)`` must be uniform in [0, n)."""
        return self._continued(below(1 << block), block, below, block)

    def draw_many(self, count: int, below_many: BelowMany, below: Below) -> NDArray[Any]:
        """So many of them; as Python's own integers where they may be larger than 64 bits hold."""
        if self._steps(MOST_BITS) > _MOST_ENTRIES:
            return np.array([self.draw(below) for _ in range(count)], object)
        table = self._table
        drawn = table.decided.draw(count, below_many)
        for at in np.flatnonzero(drawn == table.undecided).tolist():
            drawn[at] = self._continued(table.cut(below(table.cuts)), table.bits, below, BLOCK)
        return drawn

    def _continued(self, drawn: int, bits: int, below: Below, block: int) -> int:
        """The number that a real number whose first binary places are ``drawn`` stands for."""
        while (found := self._decided(drawn, bits)) is None:
            drawn, bits = drawn << block | below(1 << block), bits + block
        return found

    def _decided(self, drawn: int, bits: int) -> int | None:
        """The same if these places decide; always the same number of comparisons.

        The lower half of [0, 1) is for negative numbers and, mirrored, the upper half for positive ones. There Z ≥ m
        if and only if the real number is below q^m/(1 + q), and for 0 nothing is left to compare.
        """
        is_positive = drawn >> (bits - 1)
        distance = (1 << bits) - 1 - drawn if is_positive else drawn
        sure, possible = 0, 0  # the largest m with which it is certainly, or perhaps, below q^m/(1 + q)
        for at in reversed(range(self._steps(bits).bit_length())):
            sure += (1 << at) * (distance + 1 <= self._bounds(sure + (1 << at), bits)[0])
            possible += (1 << at) * (distance < self._bounds(possible + (1 << at), bits)[1])
        if sure != possible:
            return None
        return sure if is_positive else -sure

    def _steps(self, bits: int) -> int:
        """From here on q^m/(1 + q) is below 2^−bits."""
        return 1 + int(0.694 * bits / self._decay)  # a little more than ln 2

    @cached_property
    def _decay(self) -> float:
        """−ln q, as a float that is never 0."""
        rate = self.rate
        return -log1p(float(rate - 1)) if 2 * rate > 1 else log(rate.denominator) - log(rate.numerator)

    def _bounds(self, number: int, bits: int) -> tuple[int, int]:
        """Whole numbers around 2^bits·q^m/(1 + q)."""
        low, high = power_bounds(self.rate, number, bits + 8)
        up, down = self.rate.denominator, self.rate.denominator + self.rate.numerator << 8
        return low * up // down, -(-high * up // down)

    @cached_property
    def _table(self) -> _Cells:
        return _Cells.of(self.rate, MOST_BITS)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Which numbers of so many binary places decide: those whose whole cell lies between two bounds."""

    bits: int
    decided: AliasTable
    undecided: int
    lower: tuple[int, ...]  # the cells of the lower half that a bound may cut

    @classmethod
    def of(cls, rate: Fraction, bits: int) -> _Cells:
        """Walk from 0 outwards, with bounds that are rounded outwards: a cell too many that is cut does no harm."""
        scale = bits + _GUARD
        up, down = rate.numerator, rate.denominator
        low = ((down << scale) // (down + up)) * up // down
        high = -(-(-(-(down << scale) // (down + up)) * up) // down)
        top, cut, weights = 1 << bits - 1, list[int](), list[int]()
        while True:
            floor, ceiling = low >> _GUARD, -(-high >> _GUARD)
            weights.append(max(0, top - ceiling))
            cut += range(floor, min(ceiling, top))
            top = min(top, floor)
            if top == 0:
                break
            low, high = low * up // down, -(-high * up // down)
        numbers = [0, *range(1, len(weights)), *range(-1, -len(weights), -1), len(weights)]
        units = [2 * weights[0], *weights[1:], *weights[1:], 2 * len(cut)]
        return cls(bits, AliasTable.of(numbers, units), len(weights), tuple(cut))

    @property
    def cuts(self) -> int:
        """How many cells are cut."""
        return 2 * len(self.lower)

    def cut(self, number: int) -> int:
        """One of them, in the lower or the upper half."""
        half, at = divmod(number, len(self.lower))
        return (1 << self.bits) - 1 - self.lower[at] if half else self.lower[at]
