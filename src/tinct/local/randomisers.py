"""Channels in whole units: what is actually run on an answer, exactly, with a ratio of at most R ≤ e^ε.

Each randomiser rounds its channel so that the ratio is kept, and ``prove`` checks that again in integers, by the
definition. One uniform integer below N decides between the few cases that depend on the symbol; everything else is
uniform and tells nothing about it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tinct.errors import NotPrivate, ParameterError
from tinct.exact import sampler
from tinct.exact.certificate import at_most_exp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[Any]

TOTAL = 2**62
_BATCH = 1 << 15


@dataclass(frozen=True, eq=False)
class Randomiser(ABC):
    """What every randomiser has: its number of symbols, N, and R with the ε it stands for.

    Reports are arrays with one row per person; ``support`` counts how many reports speak for each symbol, and
    ``chances`` are the exact probabilities that a report speaks for the own symbol and for another one.
    """

    size: int
    total: int
    growth: Fraction
    epsilon: str

    kind: ClassVar[str]

    def prove(self) -> None:
        """Check in whole numbers that no two symbols differ by more than the budget allows; NotPrivate if they do."""
        if not self.growth >= 1 or not at_most_exp(self.growth, self.epsilon):
            raise NotPrivate(f"growth {self.growth} is not between 1 and e^ε for ε = {self.epsilon}", None)
        if not self._keeps_ratio():
            raise NotPrivate(f"the {self.kind} randomiser's units exceed the ratio e^ε", None)

    def draw(self, codes: Codes, read: Any = sampler.entropy) -> NDArray[Any]:
        """One report for each symbol number, a batch at a time so that it stays in the processor's cache."""
        codes = np.asarray(codes, np.int64)
        if len(codes) <= _BATCH:
            return self.draw_batch(codes, read)
        starts = range(0, len(codes), _BATCH)
        first = self.draw_batch(codes[:_BATCH], read)
        reports = np.empty((len(codes), *first.shape[1:]), first.dtype)
        reports[:_BATCH] = first
        for start in starts[1:]:
            reports[start : start + _BATCH] = self.draw_batch(codes[start : start + _BATCH], read)
        return reports

    @abstractmethod
    def draw_batch(self, codes: Codes, read: Any) -> NDArray[Any]:
        """One report for each of a batch of symbol numbers."""

    @abstractmethod
    def support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """For each symbol the number of reports that speak for it."""

    @property
    def chances(self) -> tuple[Fraction, Fraction] | None:
        """The probabilities (own, other) of support, or None if they depend on the symbols."""
        return None

    def fields(self) -> dict[str, Any]:
        """The numbers a client needs, integers as text."""
        return {"kind": self.kind, "size": self.size, "denominator": str(self.total)}

    @abstractmethod
    def _keeps_ratio(self) -> bool:
        """Whether the units keep the ratio, by the definition."""


@dataclass(frozen=True, eq=False)
class CellRandomiser(Randomiser):
    """Randomized response on m cells: ``own`` units for the own cell, ``other`` for each of the rest."""

    cell_of: NDArray[np.int64]
    count: int
    own: int
    other: int

    kind = "cells"

    @classmethod
    def of(cls, size: int, cell_of: NDArray[np.int64], count: int, growth: Fraction, epsilon: str) -> CellRandomiser:
        """The most truthful units: the least for the other cells that leave the own one at most R times as many."""
        other = -(-TOTAL * growth.denominator // (growth.numerator + (count - 1) * growth.denominator))
        return cls(size, TOTAL, growth, epsilon, cell_of, count, TOTAL - (count - 1) * other, other)

    def draw_batch(self, codes: Codes, read: Any) -> NDArray[Any]:
        """The own cell with own − other units; the rest of the units is divided evenly among all cells."""
        cells = self.cell_of[codes]
        drawn = sampler.below_many(self.total, len(cells), read)
        surplus = np.uint64(self.own - self.other)
        anything = (drawn - surplus) // np.uint64(self.other)  # wraps around where it is not used
        return np.where(drawn < surplus, cells, anything.astype(np.int64))

    def push(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distribution of a report, from that of the symbols."""
        low, high = self.other / self.total, self.own / self.total
        return np.asarray(low + (high - low) * np.bincount(self.cell_of, frequencies, self.count), np.float64)

    def pull(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each symbol the mean of weights on the outputs."""
        low, high = self.other / self.total, self.own / self.total
        return np.asarray(low * weights.sum() + (high - low) * weights[self.cell_of])

    def support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The reports of each symbol's cell."""
        return np.bincount(require_reports(reports, self.count), minlength=self.count)[self.cell_of]

    @property
    def chances(self) -> tuple[Fraction, Fraction] | None:
        """Only if every symbol has a cell of its own."""
        if self.count != self.size or self.count < 2:
            return None
        return Fraction(self.own, self.total), Fraction(self.other, self.total)

    def fields(self) -> dict[str, Any]:
        """The units, and the cell of every symbol."""
        return {
            **super().fields(), "cells": self.count, "own": str(self.own), "other": str(self.other),
            "cell_of": self.cell_of.tolist(),
        }  # fmt: skip

    def _keeps_ratio(self) -> bool:
        whole = self.own + (self.count - 1) * self.other == self.total and 0 < self.other <= self.own
        return whole and self.own <= self.growth * self.other


@dataclass(frozen=True, eq=False)
class TableRandomiser(Randomiser):
    """A table of units, symbols × outputs."""

    units: NDArray[np.int64]
    allowed: int = 0  # δ·N, for (ε, δ)

    kind = "table"

    def draw_batch(self, codes: Codes, read: Any) -> NDArray[Any]:
        """An output from the symbol's row."""
        return sampler.draw_many(np.cumsum(self.units, axis=1), codes, read)

    def push(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distribution of a report, from that of the symbols."""
        return np.asarray(frequencies @ (self.units / self.total))

    def pull(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each symbol the mean of weights on the outputs."""
        return np.asarray((self.units / self.total) @ weights)

    def support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """How often each output was reported: with a table, estimates need no more."""
        return np.bincount(require_reports(reports, self.units.shape[1]), minlength=self.units.shape[1])

    def fields(self) -> dict[str, Any]:
        """All units."""
        rows = [[str(entry) for entry in row] for row in self.units.tolist()]
        return {**super().fields(), "allowed": str(self.allowed), "rows": rows}

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


def require_reports(reports: Any, outputs: int, width: int | None = None) -> NDArray[np.int64]:
    """Reports as whole numbers below ``outputs``, in rows of ``width`` if given."""
    found = np.asarray(reports)
    if width == 1 and found.ndim == 1:  # rows of one number are one column in a file
        found = found[:, None]
    wanted = 1 if width is None else 2
    if found.ndim != wanted or found.dtype.kind not in "iu" or (width is not None and found.shape[1] != width):
        raise ParameterError(f"reports must be whole numbers, {width or 1} for each person")
    bad = (found < 0) | (found >= outputs)
    if bad.any():
        at = int(np.argwhere(bad)[0][0])
        raise ParameterError(f"report number {at} is not one of the {outputs:,} outputs of this mechanism")
    return found.astype(np.int64, copy=False)
