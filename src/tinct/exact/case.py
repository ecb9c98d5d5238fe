"""What all exact designs of a graph share: the graph on its grid, and the way to a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.exact.certificate import Terms, written
from tinct.exact.certified import Certified
from tinct.exact.extension import KERNEL_LIMIT, extend_units
from tinct.exact.grid import GridPair, grid_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.privacy import Privacy

LOSS = Fraction(1, 10**9)  # the probability that may be moved: what verify forgives in floats
_FLOAT_RANGE = 1000  # bits of a whole number that a float can hold
_FLOAT_ERROR = Fraction(1, 10**14)  # a distance of probabilities is off by a few 10^−16


@dataclass(frozen=True)
class Case:
    """A graph whose edges have grid pairs; ``classes`` numbers the pair of every directed entry."""

    graph: DatasetGraph
    total: int
    pairs: list[GridPair]
    classes: NDArray[np.int32]
    terms: tuple[Terms, ...]

    @classmethod
    def of(cls, graph: DatasetGraph, privacy: Any, total: int) -> Case:
        """The case of a graph and its budgets, given in any way a designer takes."""
        budgets, pairs, classes = grid_pairs(graph, privacy, total)
        return cls(graph, total, pairs, classes, terms_of(budgets, pairs))

    @property
    def dtype(self) -> Any:
        """int64 where units fit, Python integers where they do not."""
        return np.int64 if self.total <= KERNEL_LIMIT else object

    @cached_property
    def edge_classes(self) -> NDArray[np.int32]:
        """The number of its pair for every edge."""
        by_edge = np.zeros(len(self.graph.ends), np.int32)
        by_edge[self.graph.edge_ids] = self.classes
        return by_edge

    def edges(self) -> list[tuple[int, int, int]]:
        """Every edge as two positions and the number of its terms, as a proof wants them."""
        return [(u, v, c) for (u, v), c in zip(self.graph.ends.tolist(), self.edge_classes.tolist(), strict=True)]

    @property
    def price(self) -> Fraction:
        """What rounding to the grid may cost: R/(R − 1) units each time something is rounded (docs/theory.md §5)."""
        steepest = max((pair.growth / (pair.growth - 1) for pair in self.pairs if pair.growth > 1), default=Fraction(1))
        return min(Fraction(1), max(LOSS, 4 * len(self.graph.outputs) * steepest / self.total))

    def balanced(self, sources: NDArray[Any]) -> list[int]:
        """The largest truth that every boundary edge allows both its ends, as units of the first colour."""
        codes, ends = self.graph.coloring.codes, self.graph.ends
        numbers = np.unique(self.edge_classes[codes[ends[:, 0]] != codes[ends[:, 1]]]).tolist()
        truth = min((self.pairs[number].balance() for number in numbers), default=self.total)
        return [truth if code == 0 else self.total - truth for code in codes[sources].tolist()]

    def extended(self, sources: NDArray[Any], given: Sequence[int]) -> NDArray[Any]:
        """The optimum with these units of the first colour on the sources."""
        first = np.full(len(self.graph), self.total + 1, self.dtype)
        first[sources] = given
        units = extend_units(self.graph, self.pairs, self.classes, first)
        return self.both(units)[:, : len(self.graph.outputs)]

    def both(self, first: NDArray[Any]) -> NDArray[Any]:
        """Rows from the units of the first of two colours."""
        return np.stack([first, self.total - first], axis=1)

    def distance(self, rows: NDArray[Any], table: NDArray[np.float64]) -> float:
        """The largest change of any probability; floats are near enough to say how large a loss is."""
        surplus = max(0, self.total.bit_length() - _FLOAT_RANGE)  # what floats could not hold and nobody would see
        units = np.asarray(rows >> surplus if surplus else rows, np.float64)
        return float(np.abs(units / float(self.total >> surplus) - table).max(initial=0.0))

    def within(self, rows: NDArray[Any], table: NDArray[np.float64], loss: Fraction) -> bool:
        """Whether no probability changes by more than ``loss``: in rationals where floats cannot tell."""
        moved = Fraction(self.distance(rows, table))
        if abs(moved - loss) > _FLOAT_ERROR:
            return moved < loss
        given = map(Fraction, table.ravel().tolist())
        return all(abs(Fraction(n, self.total) - p) <= loss for n, p in zip(rows.ravel().tolist(), given, strict=True))

    def certified(self, rows: NDArray[Any], moved: float, progress: Callable[[int], None] | None) -> Certified:
        """The certificate, which proves itself."""
        graph = self.graph
        return Certified(
            graph.vertices, graph.outputs, rows, self.total, graph.ends, self.edge_classes, self.terms,
            loss=moved, progress=progress,
        )  # fmt: skip


def terms_of(budgets: Sequence[Privacy], pairs: Sequence[GridPair]) -> tuple[Terms, ...]:
    """What a certificate says about each budget: exact text, and the rational R that stands for e^ε."""
    return tuple(
        Terms(_epsilon_text(budget), pair.growth, budget.exact_delta)
        for budget, pair in zip(budgets, pairs, strict=True)
    )


def _epsilon_text(privacy: Privacy) -> str:
    amount = privacy.exact_epsilon
    return "ln " * amount.is_log + written(amount.value, "epsilon")


def nearest_units(value: Fraction, total: int) -> int:
    """The nearest number of units; what is possible stays possible, and what is not certain does not become so."""
    return min(max(round(value * total), 1 if value > 0 else 0), total - 1 if value < 1 else total)
