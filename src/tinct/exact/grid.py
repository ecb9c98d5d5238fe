"""The integer grid: (ε, δ)-privacy as a suitable pair on {0, …, N}, and graphs on it (docs/theory.md §5)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import grid_paths as kernels
from tinct.errors import ParameterError
from tinct.exact.certified import Certified
from tinct.exact.proof import Terms, written
from tinct.graphs import Budget, DatasetGraph
from tinct.numbers.bounds import growth_below
from tinct.privacy import Privacy, SuitablePair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tinct.graphs.budgets import PrivacyLike

    Units = NDArray[Any]  # int64 for N ≤ 2^62, else Python integers


DEFAULT_BITS = 62
MAX_BITS = 4096  # probabilities far below any that matters; larger denominators only cost time


@dataclass(frozen=True)
class GridPair:
    """The largest number of units a neighbour may have: Ũ on {0, …, N}.

    ``growth`` is a rational R ≤ e^ε and ``shift`` an integer D ≤ δN, so a table that keeps to this pair keeps to
    (ε, δ) exactly.

    >>> pair = GridPair(12, Fraction(3, 2), 0)
    >>> [pair.upper(a) for a in range(13)]
    [0, 1, 3, 4, 6, 7, 8, 8, 9, 10, 10, 11, 12]
    """

    total: int
    growth: Fraction
    shift: int

    @classmethod
    def of(cls, privacy: Privacy, total: int) -> GridPair:
        """The pair that (ε, δ) leaves on a grid of ``total`` units."""
        _require_privacy(privacy)
        # beyond R = N one unit allows everything, so a larger R would change nothing but the size of the numbers
        growth = min(growth_below(privacy.exact_epsilon), Fraction(total))
        return cls(total, growth, int(privacy.exact_delta * total))

    def upper(self, a: int) -> int:
        """Ũ(a): the most units a neighbour of somebody with ``a`` units may have."""
        up, down = self.growth.numerator, self.growth.denominator
        left = max(0, self.total - a - self.shift)
        return min(up * a // down + self.shift, self.total + -left * down // up, self.total)

    def lower(self, a: int) -> int:
        """L̃(a): the fewest units a neighbour of somebody with ``a`` units may have."""
        return self.total - self.upper(self.total - a)

    def reach(self, distance: int, a: int) -> int:
        """Ũ applied ``distance`` times."""
        for _ in range(distance):
            following = self.upper(a)
            if following == a:
                break
            a = following
        return a

    def balance(self) -> int:
        """The most units that two neighbours with different truths can both give to the truth."""
        low, high = self.total // 2, self.total
        while low < high:  # a − Ũ(N − a) never falls
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle <= self.upper(self.total - middle) else (low, middle - 1)
        return low


def units(bits: object = DEFAULT_BITS, total: object = None) -> int:
    """The number of units in a row: 2^bits, or ``total`` if given."""
    if total is not None:
        if isinstance(total, bool) or not isinstance(total, int) or not 2 <= total <= 2**MAX_BITS:
            raise ParameterError.of("total", f"a whole number from 2 to 2^{MAX_BITS}", total)
        return total
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MAX_BITS:
        raise ParameterError.of("bits", f"a whole number from 1 to {MAX_BITS}", bits)
    return 1 << bits


def grid_pairs(graph: DatasetGraph, privacy: PrivacyLike, total: int) -> tuple[list[Privacy], list[GridPair], Any]:
    """The distinct budgets, their grid pairs, and the number of its budget for every directed entry of the graph."""
    stated, classes = Budget(graph, privacy).as_classes()
    budgets = [_require_privacy(pair) for pair in stated]
    return budgets, [GridPair.of(pair, total) for pair in budgets], classes


def _require_privacy(pair: SuitablePair) -> Privacy:
    if not isinstance(pair, Privacy):
        raise ParameterError(
            f"exact tables are for (ε, δ)-differential privacy, got {pair!r:.80}: design it with tinct.balanced or "
            "extend, and certify the result with exact.certify(…, at_epsilon=1)"
        )
    return pair


def best_neighbor(pair: GridPair, row: Sequence[int]) -> list[int]:
    """The best row next to ``row``, both in order of preference.

    Rounding the prefix sums of the real optimum would not be private: with R = 3/2, (1, 1, 4) would become (1, 2, 3).
    Instead δ is handed out from the front for what may be gained and from the back for what may be lost, and the
    prefix sums are as large as both allow. Proof: docs/proofs/grid.md.

    >>> from fractions import Fraction
    >>> from tinct.exact.grid import GridPair
    >>> best_neighbor(GridPair(6, Fraction(3, 2), 0), [1, 1, 4])
    [1, 1, 4]
    """
    up, down, total = pair.growth.numerator, pair.growth.denominator, pair.total
    most, spare = [], pair.shift * down  # spare is multiplied by down, to stay whole
    for units in row:
        most.append((up * units + spare) // down)
        spare -= max(0, most[-1] * down - up * units)
    least, spare = [], pair.shift * down
    for units in reversed(row):
        least.append(max(0, -((spare - down * units) // up)))
        spare -= max(0, down * units - up * least[-1])
    least.reverse()
    prefixes, gained, kept = [0], 0, sum(least)
    for high, low in zip(most[:-1], least[:-1], strict=True):
        gained, kept = gained + high, kept - low
        prefixes.append(min(total, gained, total - kept))
    prefixes.append(total)
    return [after - before for before, after in pairwise(prefixes)]


def rows_by_distance(pair: GridPair, row: Sequence[int], depth: int) -> list[list[int]]:
    """Rows for distances 0, 1, …, depth; from where nothing changes any more, the same row."""
    rows = [list(row)]
    while len(rows) <= depth:
        following = best_neighbor(pair, rows[-1])
        if following == rows[-1]:
            rows += [following] * (depth + 1 - len(rows))
            break
        rows.append(following)
    return rows


# what all exact designs of a graph share: the graph on its grid, and the way to a certificate


LOSS = Fraction(1, 10**9)  # the probability that may be moved: what verify forgives in floats
_FLOAT_RANGE = 1000  # bits of a whole number that a float can hold
_FLOAT_ERROR = Fraction(1, 10**14)  # a distance of probabilities is off by a few 10^−16


@dataclass(frozen=True)
class GridGraph:
    """A graph whose edges have grid pairs; ``classes`` numbers the pair of every directed entry."""

    graph: DatasetGraph
    total: int
    pairs: list[GridPair]
    classes: NDArray[np.int32]
    terms: tuple[Terms, ...]

    @classmethod
    def of(cls, graph: DatasetGraph, privacy: PrivacyLike, total: int) -> GridGraph:
        """A graph with its budgets, given in any way a designer takes."""
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

    def fair(self) -> NDArray[Any]:
        """The fair optimum of the grid: rows in units."""
        truth = fair_units(self)
        first = np.where(self.graph.coloring.codes == 0, truth, self.total - truth)
        if self.total % 2:  # two answers cannot be equally likely: who is in the way of others by a unit gives it up
            first = least_units(self.graph, self.pairs, self.classes, first, self.total)
        return self.both(first)[:, : len(self.graph.outputs)]

    def boundary_balances(self) -> tuple[NDArray[np.int32], Units]:
        """Both ends of every boundary edge, sorted by the most units that both may give to the truth, and these."""
        codes, ends = self.graph.coloring.codes, self.graph.ends
        crossing = np.flatnonzero(codes[ends[:, 0]] != codes[ends[:, 1]])
        numbers = self.edge_classes[crossing]
        of_class = {number: self.pairs[number].balance() for number in np.unique(numbers).tolist()}
        balances = np.array([of_class[number] for number in numbers.tolist()], self.dtype)
        order = np.argsort(balances, kind="stable")
        return ends[crossing[order]], balances[order]

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
            loss=moved, pieces=int(graph.components().max(initial=0)) + 1, progress=progress,
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


KERNEL_LIMIT = 2**62


def extend_units(graph: DatasetGraph, pairs: Sequence[GridPair], classes: NDArray[np.int32], first: Units) -> Units:
    """The units of the first colour everywhere, from those of a boundary-hitting set (N + 1 where free).

    Sources that contradict each other are lowered to the largest values below them that do not: A_1, which is closed
    under every path because a path followed by a path is a path (docs/proofs/grid.md). For sources that were
    rounded to the grid this costs units.
    """
    total = pairs[0].total
    free = first > total
    of_first = least_units(graph, pairs, classes, np.where(free, total, first), total)
    of_second = least_units(graph, pairs, classes, np.where(free, total, total - of_first), total)
    return np.where(free & (graph.coloring.codes == 1), total - of_second, of_first)


def least_units(
    graph: DatasetGraph, pairs: Sequence[GridPair], classes: NDArray[np.int32], start: Units, total: int
) -> Units:
    """For every vertex the least composition of Ũ's along any path from any start (N starts nothing)."""
    if total > KERNEL_LIMIT:
        return least_units_by_heap(graph, pairs, classes, start, total)
    units = start.astype(np.uint64)
    kernels.least_units(graph.indptr, graph.indices, classes, *_parameters(pairs), units, np.uint64(total))
    return units.astype(np.int64)


def _parameters(pairs: Sequence[GridPair]) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Numerators and denominators of R, and D, of every pair."""
    rows = [(pair.growth.numerator, pair.growth.denominator, pair.shift) for pair in pairs]
    ups, downs, shifts = (np.array(column, np.uint64) for column in zip(*rows, strict=True))
    return ups, downs, shifts


def fair_units(case: GridGraph) -> Units:
    """The units of the truth everywhere in the fair optimum, N where nothing bounds a vertex."""
    if case.total > KERNEL_LIMIT:
        return fair_units_by_heap(case)
    graph, (ends, balances) = case.graph, case.boundary_balances()
    units = np.empty(len(graph), np.uint64)
    kernels.fair_units(
        graph.indptr, graph.indices, case.classes, graph.coloring.codes, *_parameters(case.pairs), ends,
        balances.astype(np.uint64), units, np.uint64(case.total),
    )  # fmt: skip
    return units.astype(np.int64)


def fair_units_by_heap(case: GridGraph) -> Units:
    """The same with Python's integers, for denominators of any size."""
    graph, total, codes = case.graph, case.total, case.graph.coloring.codes.tolist()
    indptr, indices, numbers = graph.indptr.tolist(), graph.indices.tolist(), case.classes.tolist()
    ends, balances = (part.tolist() for part in case.boundary_balances())
    units, settled = [total] * len(graph), [False] * len(graph)
    heap: list[tuple[int, int]] = []
    at = 0
    while heap or at < len(balances):
        if at < len(balances) and (not heap or balances[at] <= heap[0][0]):
            pair = ends[at]
            for w in pair if not any(settled[w] for w in pair) else ():
                if balances[at] < units[w]:
                    units[w] = balances[at]
                    heapq.heappush(heap, (units[w], w))
            at += 1
            continue
        here, v = heapq.heappop(heap)
        if settled[v]:
            continue
        settled[v] = True
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if not settled[w]:
                bound = case.pairs[numbers[e]].upper(here if codes[w] == codes[v] else total - here)
                if bound < units[w]:
                    units[w] = bound
                    heapq.heappush(heap, (bound, w))
    return np.array([*units, None], object)[:-1]


def least_units_by_heap(
    graph: DatasetGraph, pairs: Sequence[GridPair], classes: NDArray[np.int32], start: Units, total: int
) -> Units:
    """The same with Python's integers, for denominators of any size."""
    units = start.tolist()
    indptr, indices, numbers = graph.indptr.tolist(), graph.indices.tolist(), classes.tolist()
    heap = [(value, v) for v, value in enumerate(units) if value < total]
    heapq.heapify(heap)
    while heap:
        value, v = heapq.heappop(heap)
        if value > units[v]:
            continue
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if units[w] > value and (bound := pairs[numbers[e]].upper(value)) < units[w]:
                units[w] = bound
                heapq.heappush(heap, (bound, w))
    return np.array([*units, None], object)[:-1]  # None keeps NumPy from guessing a type
