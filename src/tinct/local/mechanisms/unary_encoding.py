"""Unary encoding: a bit for each symbol, each flipped on its own.

Optimal for nothing in the exact sense; among unary encodings it has the least variance for rare symbols.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.exact import sampler
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms.base import BASELINE, Channel, Randomiser, within
from tinct.local.parameters import MAX_SYMBOLS, TOTAL, LocalBudget, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.exact.proof import Terms
    from tinct.exact.sampler import Read
    from tinct.local.mechanisms.base import Codes
    from tinct.local.parameters import BudgetLike, Floats, Integers, SymbolsLike


def unary_encoding(k: int, epsilon: BudgetLike, *, symbols: SymbolsLike | None = None) -> LocalMechanism:
    """Optimised unary encoding (Wang et al. 2017): a bit for each symbol, the own one kept with 1/2.

    >>> unary_encoding(3, "ln 3").channel.describe()
    {'kind': 'unary', 'size': 3, 'own': 0.5, 'other': 0.25}
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    return LocalMechanism.of(
        _channel(k, budget),
        budget,
        name="unary encoding",
        symbols=symbols,
        note=f"{BASELINE} (least variance of rare symbols among unary encodings)",
    )


def _channel(k: int, budget: LocalBudget) -> UnaryChannel:
    return UnaryChannel(k, 0.5, budget.low / (1.0 + budget.low))


@dataclass(frozen=True, eq=False)
class UnaryChannel(Channel):
    """One bit for each symbol, each flipped on its own: the own bit is 1 with ``own``, every other with ``other``."""

    own: float
    other: float

    kind = "unary"

    @property
    def outputs(self) -> int:
        """How many bit vectors there are."""
        return 1 << self.size

    @property
    def log10_outputs(self) -> float:
        """The logarithm of a power of two."""
        return self.size * math.log10(2.0)

    def probabilities(self) -> Floats:
        """Products over the bits."""
        numbers = np.arange(self.outputs)
        bits = np.array([numbers >> x & 1 for x in range(self.size)])
        ones = bits.sum(axis=0)
        # the 1s and 0s among the k − 1 other bits
        others = self.other ** (ones - bits) * (1.0 - self.other) ** (self.size - 1 - ones + bits)
        return np.asarray(np.where(bits, self.own, 1.0 - self.own) * others)

    def in_units(self, terms: Terms) -> UnaryRandomiser:
        """The fewest units for other bits: N − other ≤ R·other."""
        growth = terms.growth
        other = -(-TOTAL * growth.denominator // (growth.numerator + growth.denominator))
        return UnaryRandomiser(self.size, TOTAL, growth, terms.epsilon, other)


@dataclass(frozen=True, eq=False)
class UnaryRandomiser(Randomiser):
    """A bit for each symbol: the own one is 1 with half the units, every other with ``other`` units."""

    other: int

    kind = "unary"
    bits = True
    amounts = ("other",)

    def draw_batch(self, codes: Codes, read: Read) -> NDArray[Any]:
        """One row of bits for each person."""
        bits = np.empty((len(codes), self.size), bool)
        half, other = np.uint64(self.total // 2), np.uint64(self.other)
        for symbol in range(self.size):
            drawn = sampler.below_many(self.total, len(codes), read)
            bits[:, symbol] = drawn < np.where(codes == symbol, half, other)
        return bits

    @property
    def width(self) -> int:
        """A bit for each symbol."""
        return self.size

    def are_reports(self, rows: Integers) -> NDArray[np.bool_]:
        """Bits, as numbers or truth values."""
        return within(rows, 2)

    def support_of_rows(self, rows: Integers) -> Integers:
        """How many rows have each bit set."""
        return np.asarray(rows.sum(axis=0, dtype=np.int64))

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """How often the own bit, and another one, is 1."""
        return Fraction(1, 2), Fraction(self.other, self.total)

    def channel(self, budget: LocalBudget) -> UnaryChannel:
        """The same bits in floats."""
        return _channel(self.size, budget)

    def _keeps_ratio(self) -> bool:
        # two symbols differ in two bits: (1/2)/(1 − 1/2) · (N − other)/other
        return (
            self.total % 2 == 0
            and 0 < 2 * self.other <= self.total
            and self.total - self.other <= self.growth * self.other
        )
