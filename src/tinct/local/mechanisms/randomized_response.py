"""Randomized response, on symbols or on cells of them: the own one with e^ε times the probability of each other.

``optimal`` finds the best cells for two hypotheses, so this is the optimal mechanism for every f-divergence; on the
symbols themselves it is optimal for KL for large enough ε, if no two symbols have the same ratio and none has
probability 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.local.information_bounds import cells_information
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms.base import Channel, PlainRandomiser
from tinct.local.parameters import MAX_SYMBOLS, TOTAL, LocalBudget, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.exact.proof import Terms
    from tinct.exact.sampler import Read
    from tinct.local.mechanisms.base import Codes, Fields
    from tinct.local.parameters import BudgetLike, Floats, Integers, SymbolsLike


def randomized_response(k: int, epsilon: BudgetLike, *, symbols: SymbolsLike | None = None) -> LocalMechanism:
    """The symbol itself with probability e^ε/(e^ε + k − 1), else one of the others.

    >>> randomized_response(3, "ln 2").row(0)
    array([0.5 , 0.25, 0.25])
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    return LocalMechanism.of(
        CellChannel(k, budget.growth, np.arange(k), k),
        budget,
        name="randomized response",
        symbols=symbols,
        note="for large enough ε, where every symbol has a positive probability: mutual information, and KL divergence "
        "between two hypotheses with distinct ratios (see regimes)",
    )


@dataclass(frozen=True, eq=False)
class CellChannel(Channel):
    """Randomized response on the number of the symbol's cell."""

    growth: float
    cell_of: Integers
    count: int

    kind = "cells"

    @property
    def outputs(self) -> int:
        """How many cells there are."""
        return self.count

    @property
    def low(self) -> float:
        """The probability of each other cell."""
        return 1.0 / (self.growth + (self.count - 1))

    @property
    def high(self) -> float:
        """The probability of the own cell."""
        return self.growth * self.low if self.count > 1 else 1.0

    def probabilities(self) -> Floats:
        """Low everywhere but in the own cell."""
        table = np.full((self.size, self.count), self.low)
        table[np.arange(self.size), self.cell_of] = self.high
        return table

    def push(self, p: Floats) -> Floats:
        """The distribution of the output, without the matrix."""
        inside = np.bincount(self.cell_of, p, self.count)
        return self.low * (1.0 - inside) + self.high * inside

    def information(self, p: Floats, budget: LocalBudget) -> float:
        """The mutual information, without the matrix."""
        return cells_information(np.bincount(self.cell_of, p, self.count), budget)

    def describe(self) -> dict[str, Any]:
        """The cell of each symbol."""
        return {"kind": self.kind, "size": self.size, "cells": self.count, "cell_of": self.cell_of.tolist()}

    def in_units(self, terms: Terms) -> CellRandomiser:
        """The most truthful units."""
        units = best_units(self.count, terms.growth)
        return CellRandomiser(self.size, TOTAL, terms.growth, terms.epsilon, self.cell_of, self.count, *units)


@dataclass(frozen=True, eq=False)
class CellRandomiser(PlainRandomiser):
    """Randomized response on m cells: ``own`` units for the own cell, ``other`` for each of the rest."""

    cell_of: Integers
    count: int
    own: int
    other: int

    kind = "cells"

    @property
    def outputs(self) -> int:
        """How many cells there are."""
        return self.count

    def draw_batch(self, codes: Codes, read: Read) -> NDArray[Any]:
        """The own cell or any."""
        drawn = sampler.below_many(self.total, len(codes), read)
        return respond(self.cell_of[codes], self.own, self.other, drawn)

    def push(self, frequencies: Floats) -> Floats:
        """The distribution of a report, from that of the symbols."""
        low, high = self.other / self.total, self.own / self.total
        return np.asarray(low + (high - low) * np.bincount(self.cell_of, frequencies, self.count), np.float64)

    def pull(self, weights: Floats) -> Floats:
        """For each symbol the mean of weights on the outputs."""
        low, high = self.other / self.total, self.own / self.total
        return np.asarray(low * weights.sum() + (high - low) * weights[self.cell_of])

    def support_of(self, counts: Integers) -> Integers:
        """The reports of each symbol's cell."""
        return np.asarray(counts[self.cell_of])

    def counts_of(self, support: Integers) -> Integers:
        """The reports of each cell, from those of its symbols."""
        counts = np.zeros(self.count, np.int64)
        counts[self.cell_of] = support
        return counts

    @cached_property
    def _used(self) -> int:
        return len(np.unique(self.cell_of))

    def rank(self) -> int:
        """Symbols of one cell have the same row."""
        return self._used

    @property
    def chances(self) -> tuple[Fraction, Fraction] | None:
        """Only if every symbol has a cell of its own."""
        if self._used < self.size or self.size < 2:
            return None
        return Fraction(self.own, self.total), Fraction(self.other, self.total)

    def channel(self, budget: LocalBudget) -> CellChannel:
        """The same cells in floats."""
        return CellChannel(self.size, budget.growth, self.cell_of, self.count)

    def fields(self) -> dict[str, Any]:
        """The units, and the cell of every symbol."""
        cells = {"cells": self.count, "own": str(self.own), "other": str(self.other)}
        return {**super().fields(), **cells, "cell_of": self.cell_of.tolist()}

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """The units, and a cell for every symbol."""
        count, cell_of = read_cells(fields)
        return cls(*fields.common, cell_of, count, fields.units("own"), fields.units("other"))

    def _keeps_ratio(self) -> bool:
        return keeps_ratio(self.count, self.own, self.other, self.total, self.growth)


def best_units(count: int, growth: Fraction) -> tuple[int, int]:
    """Units of the own cell and of each other: the least for others that leave the own one at most R times as many."""
    other = -(-TOTAL * growth.denominator // (growth.numerator + (count - 1) * growth.denominator))
    return TOTAL - (count - 1) * other, other


def read_cells(fields: Fields) -> tuple[int, Integers]:
    """How many cells a file has, and the cell of every symbol."""
    count, cell_of = fields.number("cells"), fields.items("cell_of")
    if len(cell_of) != fields.size or not all(type(cell) is int and 0 <= cell < count for cell in cell_of):
        raise ParameterError(f"cell_of must have a cell from 0 to {count - 1} for each symbol")
    return count, np.array(cell_of, np.int64)


def respond(cells: Codes, own: int, other: int, drawn: NDArray[np.uint64]) -> NDArray[Any]:
    """The own cell with own − other units; the rest of the units is divided evenly among all cells."""
    surplus = np.uint64(own - other)
    anything = (drawn - surplus) // np.uint64(other)  # wraps around where it is not used
    return np.where(drawn < surplus, cells, anything.astype(np.int64))


def keeps_ratio(count: int, own: int, other: int, total: int, growth: Fraction) -> bool:
    """Whether these units are whole rows, and the own cell has at most R times those of another."""
    return own + (count - 1) * other == total and 0 < other <= own <= growth * other
