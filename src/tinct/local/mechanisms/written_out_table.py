"""Mechanisms that are a table, symbols × outputs: what linear programs find, geometric noise, and quaternary (ε, δ)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tinct.errors import NotPrivate, ParameterError
from tinct.exact import sampler
from tinct.exact._certify import mended, rounded
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms.base import Channel, PlainRandomiser, filled_list, whole_text
from tinct.local.parameters import TOTAL, LocalBudget, share, whole
from tinct.mechanism import Witness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.exact.proof import Terms
    from tinct.exact.sampler import Read
    from tinct.local.mechanisms.base import Codes, Fields
    from tinct.local.parameters import BudgetLike, Floats, Integers, SymbolsLike
    from tinct.numbers.amounts import NumberLike

LOSS = Fraction(1, 10**9)  # how far a table's probabilities may be moved to make their ratios exact


@dataclass(frozen=True, eq=False)
class TableChannel(Channel):
    """A channel that is written out."""

    table: Floats

    @property
    def outputs(self) -> int:
        """How many columns the table has."""
        return int(self.table.shape[1])

    def probabilities(self) -> Floats:
        """The table itself."""
        return self.table


@dataclass(frozen=True, eq=False)
class TableRandomiser(PlainRandomiser):
    """A table of units, symbols × outputs."""

    units: Integers
    allowed: int = 0  # δ·N, for (ε, δ)

    kind = "table"

    @property
    def outputs(self) -> int:
        """How many columns the table has."""
        return int(self.units.shape[1])

    def draw_batch(self, codes: Codes, read: Read) -> NDArray[Any]:
        """An output from the symbol's row."""
        return sampler.draw_many(np.cumsum(self.units, axis=1), codes, read)

    def push(self, frequencies: Floats) -> Floats:
        """The distribution of a report, from that of the symbols."""
        return np.asarray(frequencies @ (self.units / self.total))

    def pull(self, weights: Floats) -> Floats:
        """For each symbol the mean of weights on the outputs."""
        return np.asarray((self.units / self.total) @ weights)

    def channel(self, budget: LocalBudget) -> TableChannel:  # noqa: ARG002 # the units say it all
        """The units as floats."""
        return TableChannel(self.size, self.units / self.total)

    def fields(self) -> dict[str, Any]:
        """All units."""
        rows = [[str(entry) for entry in row] for row in self.units.tolist()]
        return {**super().fields(), "allowed": str(self.allowed), "rows": rows}

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """A row of units for each symbol, and how many may exceed the ratio."""
        rows = [[whole_text(entry, "rows") for entry in filled_list(row, "rows")] for row in fields.items("rows")]
        if len(rows) != fields.size or any(len(row) != len(rows[0]) for row in rows):
            raise ParameterError("rows must have one row for each symbol, all of one length")
        if any(entry > TOTAL for row in rows for entry in row):
            raise ParameterError("units must be at most 2^62")
        return cls(*fields.common, np.array(rows, np.int64), fields.units("allowed"))

    def _keeps_ratio(self) -> bool:
        rows = self.units.tolist()
        if any(min(row) < 0 or sum(row) != self.total for row in rows):
            return False
        up, down = self.growth.numerator, self.growth.denominator
        if not self.allowed:  # then every ratio must hold, and the extremes of a column decide
            return all(down * max(column) <= up * min(column) for column in zip(*rows, strict=True))
        return all(
            sum(max(0, down * a - up * b) for a, b in zip(one, other, strict=True)) <= self.allowed * down
            for one in rows
            for other in rows
        )

    def witness(self) -> Witness:
        """The symbols and outputs, by number, with the most units above the ratio."""
        rows = self.units.tolist()
        if not self.allowed:
            columns = list(enumerate(zip(*rows, strict=True)))
            at, column = max(columns, key=lambda pair: max(pair[1]) - self.growth * min(pair[1]))
            x, y, event = column.index(max(column)), column.index(min(column)), [at]
        else:
            x, y = max(product(range(self.size), repeat=2), key=lambda pair: sum(self._above(*pair)))
            event = [at for at, over in enumerate(self._above(x, y)) if over]
        mine, theirs = (float(Fraction(sum(rows[who][at] for at in event), self.total)) for who in (x, y))
        bound = float(self.growth) * theirs + self.allowed / self.total
        return Witness((x, y), tuple(event), mine, theirs, bound)

    def _above(self, x: int, y: int) -> list[Fraction | int]:
        """By how many units each output of x exceeds R times that of y."""
        rows = zip(self.units[x].tolist(), self.units[y].tolist(), strict=True)
        return [max(0, mine - self.growth * theirs) for mine, theirs in rows]


def units_of_table(table: Floats, terms: Terms) -> TableRandomiser:
    """A table in whole units: rounded, and moved by up to 10^−9 until every ratio holds exactly."""
    allowed = int(terms.delta * TOTAL)
    build = partial(TableRandomiser, len(table), TOTAL, terms.growth, terms.epsilon, allowed=allowed)

    def check(rows: list[list[int]]) -> None:
        if not build(units=np.array(rows, np.int64))._keeps_ratio():
            raise NotPrivate("not yet", None)

    first = rounded(table.tolist(), TOTAL)
    try:
        rows = mended(first, TOTAL, terms.growth, LOSS, check)
    except NotPrivate:
        witness = build(units=np.array(first, np.int64)).witness()
        raise NotPrivate(
            f"no table within {float(LOSS):g} of this one has ratios of at most e^ε in whole units", witness
        ) from None
    return build(units=np.array(rows, np.int64))


def geometric(k: int, epsilon: BudgetLike, *, symbols: SymbolsLike | None = None) -> LocalMechanism:
    """The number of the symbol plus two-sided geometric noise of ratio e^(−ε/(k − 1)), truncated to 1..k.

    >>> geometric(2, "ln 3").matrix.round(9).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    k = whole(k, "k", 2, 5_000)
    budget = LocalBudget.parse(epsilon)
    step = budget.epsilon / (k - 1)
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    # inside (1 − q)/(1 + q)·q^|y − x|, at the ends the whole tail q^|y − x|/(1 + q); −expm1 keeps 1 − q exact
    table = np.exp(-step * distance) / (1.0 + math.exp(-step))
    table[:, 1:-1] *= -math.expm1(-step)
    return LocalMechanism.of(
        TableChannel(k, table),
        budget,
        name="geometric",
        symbols=symbols,
        note="nothing here; it adds noise to a number, which serves distances between symbols rather than information",
    )


def quaternary(epsilon: BudgetLike, delta: NumberLike, *, symbols: SymbolsLike | None = None) -> LocalMechanism:
    """Two symbols under (ε, δ)-privacy: the truth with probability δ, else randomized response; four outputs.

    Outputs 0 and 1 are certain, 2 and 3 are not: output 2 is likelier for the second symbol, 3 for the first.

    >>> quaternary("ln 3", 0.5).matrix.round(9).tolist()
    [[0.5, 0.0, 0.125, 0.375], [0.0, 0.5, 0.375, 0.125]]
    """
    budget = LocalBudget.parse(epsilon)
    reveal = float(share(delta, "delta"))
    low = (1.0 - reveal) / (1.0 + budget.growth)
    high = budget.growth * low
    return LocalMechanism.of(
        TableChannel(2, np.array([[reveal, 0.0, low, high], [0.0, reveal, high, low]])),
        budget,
        delta=delta,
        name="quaternary",
        symbols=symbols,
        note="every utility that processing cannot raise, for two symbols under (ε, δ)-privacy",
    )
