"""Hadamard response: a place where the symbol's row of a Hadamard matrix has +1, mostly.

Optimal for nothing in the exact sense; its error has the right order for small ε, and it is quick to decode.
"""

from __future__ import annotations

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


def hadamard_response(k: int, epsilon: BudgetLike, *, symbols: SymbolsLike | None = None) -> LocalMechanism:
    """Hadamard response (Acharya, Sun, Zhang 2019): a place where the symbol's row of a Hadamard matrix has +1, mostly.

    >>> hadamard_response(3, "ln 3").matrix.round(9).tolist()
    [[0.375, 0.125, 0.375, 0.125], [0.375, 0.375, 0.125, 0.125], [0.375, 0.125, 0.125, 0.375]]
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    return LocalMechanism.of(
        HadamardChannel(k, budget.growth, 1 << k.bit_length()),
        budget,
        name="Hadamard response",
        symbols=symbols,
        note=f"{BASELINE} (right order of the error for small ε, quick to decode)",
    )


@dataclass(frozen=True, eq=False)
class HadamardChannel(Channel):
    """An index of a Hadamard matrix, e^ε times as likely where the symbol's row has +1."""

    growth: float
    order: int

    kind = "hadamard"

    @property
    def outputs(self) -> int:
        """The order of the matrix, the least power of two above the number of symbols."""
        return self.order

    def probabilities(self) -> Floats:
        """High where the symbol's row has +1."""
        rows = np.arange(1, self.size + 1)[:, None]  # row 0 is all +1 and would tell nothing
        low = 2.0 / (self.order * (1.0 + self.growth))
        return np.where(_odd(rows & np.arange(self.order)), low, self.growth * low)

    def in_units(self, terms: Terms) -> HadamardRandomiser:
        """As many units for +1 as the ratio allows: plus ≤ R·(N − plus)."""
        growth = terms.growth
        plus = TOTAL * growth.numerator // (growth.numerator + growth.denominator)
        return HadamardRandomiser(self.size, TOTAL, growth, terms.epsilon, self.order, plus)


@dataclass(frozen=True, eq=False)
class HadamardRandomiser(Randomiser):
    """A place of a Hadamard matrix: one where the symbol's row has +1 with ``plus`` units, else one where it has −1."""

    order: int
    plus: int

    kind = "hadamard"
    shape = ("order",)
    amounts = ("plus",)

    def draw_batch(self, codes: Codes, read: Read) -> NDArray[Any]:
        """A uniform place, moved to one of the other sign if the coin says so: flipping one bit is a bijection."""
        rows = codes + 1
        wanted = sampler.below_many(self.total, len(rows), read) >= np.uint64(self.plus)  # True: −1
        places = sampler.below_many(self.order, len(rows), read).astype(np.int64)
        return np.where(_odd(rows & places) == wanted, places, places ^ (rows & -rows))

    def are_reports(self, rows: Integers) -> NDArray[np.bool_]:
        """Places of the matrix."""
        return within(rows, self.order)

    def support_of_rows(self, rows: Integers) -> Integers:
        """How many places have +1 in each symbol's row."""
        seen = np.bincount(rows[:, 0], minlength=self.order)
        # a row's +1 less its −1, over the reports; both together are all reports
        return np.asarray((len(rows) + transformed(seen)[1 : self.size + 1]) // 2)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Rows agree in half of their places."""
        return Fraction(self.plus, self.total), Fraction(1, 2)

    def channel(self, budget: LocalBudget) -> HadamardChannel:
        """The same matrix in floats."""
        return HadamardChannel(self.size, budget.growth, self.order)

    def _keeps_ratio(self) -> bool:
        power = self.order & (self.order - 1) == 0 and self.order > self.size
        return power and self.total - self.plus <= self.plus <= self.growth * (self.total - self.plus)


def transformed(counts: Integers) -> Integers:
    """The product with the Hadamard matrix, by the fast transform: half of the matrix, and the same with signs.

    >>> transformed(np.array([1, 2, 3, 4])).tolist()
    [10, -2, -4, 0]
    """
    found, half = counts.astype(np.int64), 1
    while half < len(found):
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return found


def _odd(numbers: Integers) -> NDArray[np.bool_]:
    """Whether a number has an odd number of 1 bits."""
    folded = numbers.copy()
    for shift in (32, 16, 8, 4, 2, 1):  # fold the bits together: the last one becomes their parity
        folded ^= folded >> shift
    return (folded & 1).astype(bool)
