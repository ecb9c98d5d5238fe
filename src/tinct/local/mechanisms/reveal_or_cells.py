"""Reveal or cells: the symbol itself with probability δ, else randomized response on its cell, for (ε, δ)-privacy.

With the best cells it is the optimal mechanism for two symbols, and often for more; `optimal` says how far it can be
from the optimum where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.local.mechanisms.base import MAX_ENTRIES, Channel, PlainRandomiser
from tinct.local.mechanisms.randomized_response import CellChannel, keeps_ratio, read_cells, respond
from tinct.local.parameters import TOTAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.exact.proof import Terms
    from tinct.exact.sampler import Read
    from tinct.local.mechanisms.base import Codes, Fields
    from tinct.local.parameters import Floats, Integers, LocalBudget


@dataclass(frozen=True, eq=False)
class RevealChannel(Channel):
    """Output c is cell c; after the cells, one output for each symbol, which only that symbol gives."""

    cells: CellChannel
    reveal: float

    kind = "reveal"

    @property
    def outputs(self) -> int:
        """The cells and the symbols."""
        return self.cells.count + self.size

    def probabilities(self) -> Floats:
        """The cells, scaled down, beside the symbols."""
        return np.hstack([(1.0 - self.reveal) * self.cells.probabilities(), self.reveal * np.eye(self.size)])

    def matrix(self) -> Floats:
        """The probabilities; zeros are meant here."""
        _require_small(self.size, self.outputs)
        table = self.probabilities()
        table.flags.writeable = False
        return table

    def labels(self) -> tuple[Any, ...]:
        """Cells by their number, then symbols by theirs."""
        return (*range(self.cells.count), *(f"symbol {x}" for x in range(self.size)))

    def push(self, p: Floats) -> Floats:
        """The distribution of the output, without the matrix."""
        return np.concatenate([(1.0 - self.reveal) * self.cells.push(p), self.reveal * p])

    def information(self, p: Floats, budget: LocalBudget) -> float:
        """Entropy where it reveals, else that of the cells."""
        used = p[p > 0]
        entropy = float(-(used * np.log(used)).sum())
        return self.reveal * entropy + (1.0 - self.reveal) * self.cells.information(p, budget)

    def describe(self) -> dict[str, Any]:
        """The cells, and how often the symbol is revealed."""
        return {**self.cells.describe(), "kind": self.kind, "reveal": self.reveal}

    def in_units(self, terms: Terms) -> RevealRandomiser:
        """All of δ, rounded down, for the symbol; cells as truthful as the rest allows."""
        reveal = int(terms.delta * TOTAL)
        growth, count, rest = terms.growth, self.cells.count, TOTAL - reveal
        other = -(-rest * growth.denominator // (growth.numerator + (count - 1) * growth.denominator))
        own = rest - (count - 1) * other
        build = partial(RevealRandomiser, self.size, TOTAL, growth, terms.epsilon, allowed=reveal)
        return build(cell_of=self.cells.cell_of, count=count, own=own, other=other, reveal=reveal)


@dataclass(frozen=True, eq=False)
class RevealRandomiser(PlainRandomiser):
    """The symbol with ``reveal`` units; else its cell with ``own`` units, or any other with ``other`` each."""

    cell_of: Integers
    count: int
    own: int
    other: int
    reveal: int
    allowed: int = 0

    kind = "reveal"

    @property
    def outputs(self) -> int:
        """The cells and the symbols."""
        return self.count + self.size

    def draw_batch(self, codes: Codes, read: Read) -> NDArray[Any]:
        """One number decides everything: the first units reveal, the rest are as for cells."""
        drawn = sampler.below_many(self.total, len(codes), read)
        kept = np.uint64(self.reveal)
        cells = respond(self.cell_of[codes], self.own, self.other, drawn - kept)  # wraps around where it is not used
        return np.where(drawn < kept, self.count + codes, cells)

    def push(self, frequencies: Floats) -> Floats:
        """The distribution of a report, from that of the symbols."""
        low, high = self.other / self.total, self.own / self.total
        whole = frequencies.sum() * low
        cells = whole + (high - low) * np.bincount(self.cell_of, frequencies, self.count)
        return np.concatenate([cells, self.reveal / self.total * frequencies])

    def pull(self, weights: Floats) -> Floats:
        """For each symbol the mean of weights on the outputs."""
        low, high = self.other / self.total, self.own / self.total
        cells, symbols = weights[: self.count], weights[self.count :]
        return np.asarray(low * cells.sum() + (high - low) * cells[self.cell_of] + self.reveal / self.total * symbols)

    def matrix(self) -> Floats:
        """The probabilities that are really used, as floats."""
        _require_small(self.size, self.outputs)
        return super().matrix()

    def channel(self, budget: LocalBudget) -> RevealChannel:
        """The same in floats."""
        cells = CellChannel(self.size, budget.growth, self.cell_of, self.count)
        return RevealChannel(self.size, cells, self.reveal / self.total)

    def fields(self) -> dict[str, Any]:
        """The units, and the cell of every symbol."""
        units = {"own": str(self.own), "other": str(self.other), "reveal": str(self.reveal)}
        return {**super().fields(), "cells": self.count, **units, "cell_of": self.cell_of.tolist()}

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """The units, and a cell for every symbol; what it reveals is what it uses of δ."""
        count, cell_of = read_cells(fields)
        own, other, reveal = (fields.units(name) for name in ("own", "other", "reveal"))
        return cls(*fields.common, cell_of, count, own, other, reveal, reveal)

    def _keeps_ratio(self) -> bool:
        # an output that reveals exceeds every ratio by all its units; the cells by none
        rest = self.total - self.reveal
        return 0 <= self.reveal <= self.allowed and keeps_ratio(self.count, self.own, self.other, rest, self.growth)


def _require_small(size: int, outputs: int) -> None:
    if size * outputs > MAX_ENTRIES:
        raise ParameterError(f"the table would have {size:,} rows and {outputs:,} columns: use .channel")
