"""The fair optimum: the private mechanism whose least truth is as large as can be, then the next, and so on.

It needs no values on the boundary, and no private mechanism is at least as truthful everywhere and more so somewhere
(docs/theory.md §3a; proof: docs/proofs/fair-optimum.md). (ε, δ) and Gaussian budgets run through a kernel; other
notions, mixtures of them and given values through the same search in plain Python.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels import checks, fair_search, propagation
from tinct.binary._extend import from_keys, to_keys
from tinct.binary.obstruction import refusal_along
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.graphs import Budget, DatasetGraph
    from tinct.privacy import SuitablePair

    Floats = NDArray[np.float64]
    Step = Callable[[int, float], float]  # the directed entry of an edge, and a key: U of that key

_SPREAD = 64  # how many times the shortest step may go into the longest for rounds to be tried
_LOOKS = 24  # at each vertex and edge, on average, after which rounds are given up for a heap
_TOLERANCE = 1e-9  # relative, on keys: given values may exceed their bound by this much, and bounds on every edge
EVEN = (1.0, 1.0)


def fair_table(graph: DatasetGraph, budget: Budget, weights: tuple[float, float] = EVEN) -> Floats:
    """Both columns of the fair optimum; ``weights`` say how odds of the two colours compare at every level."""
    codes = graph.coloring.codes
    if budget.coordinate is None or (budget.coordinate == "probit" and weights != EVEN):
        keys = _PlainSearch(graph, _steps(budget, "odds"), _levels(graph, budget, weights, "odds"), weights).settle()
        return _table(keys, codes, "odds")
    keys = np.empty(len(graph))
    if not _by_rounds(graph, budget, weights, keys):
        ends, levels = _boundary_levels(graph, budget, weights)
        fair_search.fair_by_heap(
            graph.indptr, graph.indices, codes, keys, ends, levels, *budget.dense_parameters(),
            budget.coordinate == "probit", np.array(weights),
        )  # fmt: skip
    return _table(keys, codes, budget.coordinate)


def _by_rounds(graph: DatasetGraph, budget: Budget, weights: tuple[float, float], keys: Floats) -> bool:
    """Fill the keys, unless budgets are so different that a heap is the better way."""
    (least, shift), (most, _) = budget.extremes()
    if math.log(least) * _SPREAD < math.log(most):
        return False
    probit = budget.coordinate == "probit"
    gains, shifts = budget.search_parameters()
    dense = budget.layout == propagation.DENSE
    classes = budget.classes if budget.layout == propagation.CLASSES else None
    balances = np.empty(0) if dense else _class_levels(budget, weights)
    limit = _LOOKS * (len(graph) + len(graph.indices))
    found = fair_search.fair_by_rounds(
        graph.indptr, graph.indices, graph.coloring.codes, keys, classes, gains if dense else None, gains, shifts,
        balances, probit, np.array(weights), least, shift, limit, np.zeros(1, np.int64),
    )  # fmt: skip
    return found != fair_search.GAVE_UP


def _class_levels(budget: Budget, weights: tuple[float, float]) -> Floats:
    probit = budget.coordinate == "probit"
    return np.array([fair_search.balance_level(*pair.step, probit, *weights) for pair in budget.pairs])


def _boundary_levels(
    graph: DatasetGraph, budget: Budget, weights: tuple[float, float]
) -> tuple[NDArray[np.int32], Floats]:
    """Both ends of every boundary edge, sorted by the level of the edge, and these levels."""
    codes = graph.coloring.codes
    rows = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(graph.indptr))
    entries = np.flatnonzero((codes[rows] == 0) & (codes[graph.indices] == 1))
    if budget.layout == propagation.DENSE:
        gains, shifts = budget.dense_parameters()
        levels = np.empty(len(entries))
        fair_search.balance_levels(gains[entries], shifts[entries], np.array(weights), levels)
    else:
        by_class = _class_levels(budget, weights)
        levels = (
            by_class[budget.classes[entries]]
            if budget.layout == propagation.CLASSES
            else np.full(len(entries), by_class[0])
        )
    order = np.argsort(levels, kind="stable")
    chosen = entries[order]
    return np.stack([rows[chosen], graph.indices[chosen]], axis=1), levels[order]


def _table(keys: Floats, codes: NDArray[np.uint8], scale: str) -> Floats:
    table = np.empty((len(keys), 2))
    if scale == "odds":
        checks.odds_table(np.asarray(keys), codes, np.empty(0, np.int32), table)
        return table
    right, wrong = from_keys(keys, scale)
    every = np.arange(len(keys))
    table[every, codes], table[every, 1 - codes] = right, wrong
    return table


# the same search in plain Python, for any suitable pairs


def _steps(budget: Budget, scale: str) -> Step:
    """U on keys, for the edge at a directed entry."""
    if budget.coordinate == scale:
        gains, shifts = (values.tolist() for values in budget.dense_parameters())
        probit = scale == "probit"
        return lambda entry, key: propagation.step(key, gains[entry], shifts[entry], probit)
    pairs, numbers = budget.as_classes()
    of_entry = numbers.tolist()
    return lambda entry, key: odds_step(pairs[of_entry[entry]], key)


def odds_step(pair: SuitablePair, key: float) -> float:
    """U on odds, by way of probabilities."""
    right, wrong = pair.walk(1, *odds_row(key))
    return float(right) / float(wrong) if wrong > 0 else math.inf


def odds_row(odds: float) -> tuple[float, float]:
    """A probability and its complement, from their odds."""
    return (odds / (1.0 + odds), 1.0 / (1.0 + odds)) if odds < math.inf else (1.0, 0.0)


def _levels(graph: DatasetGraph, budget: Budget, weights: tuple[float, float], scale: str) -> dict[int, float]:
    """The level of every boundary edge, by both its directed entries."""
    codes = graph.coloring.codes
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    entries = np.flatnonzero(codes[rows] != codes[graph.indices])
    pairs, numbers = budget.as_classes()
    used = np.unique(numbers[entries]).tolist()
    level = {number: level_of(pairs[number], weights, scale) for number in used}
    return {entry: level[int(numbers[entry])] for entry in entries.tolist()}


def level_of(pair: SuitablePair, weights: tuple[float, float], scale: str = "odds") -> float:
    """The level at which both ends of a boundary edge with this pair may stand."""
    if pair.coordinate == scale:
        return fair_search.balance_level(*pair.step, scale == "probit", *weights)
    if weights == EVEN:
        truth, error = pair.balance
        return truth / error if error > 0 else math.inf
    low, high = -745.0, 745.0  # logarithms of levels: t′ − U(1 − t) grows with the level
    while low < (middle := (low + high) / 2) < high:
        level = math.exp(min(middle, 709.0))
        allowed = odds_step(pair, 1.0 / (weights[0] * level))
        low, high = (middle, high) if weights[1] * level <= allowed else (low, middle)
    return min(math.exp(low), propagation.HIGHEST / max(weights))


@dataclass
class _PlainSearch:
    """The search of ``fair_search.fair_by_heap`` with any steps."""

    graph: DatasetGraph
    step: Step
    levels: dict[int, float]
    weights: tuple[float, float]

    def settle(self) -> Floats:
        """The key of the truth of every vertex."""
        graph, codes = self.graph, self.graph.coloring.codes.tolist()
        indptr, indices = graph.indptr.tolist(), graph.indices.tolist()
        keys = [math.inf] * len(graph)
        settled = [False] * len(graph)
        # an edge is an entry −1 − e in the heap, a vertex v an entry v
        rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
        heap = [(level, -1 - entry) for entry, level in self.levels.items() if codes[rows[entry]] == 0]
        heapq.heapify(heap)
        while heap:
            level, at = heapq.heappop(heap)
            if at < 0:
                v, w = int(rows[-1 - at]), indices[-1 - at]
                if settled[v] or settled[w] or keys[v] <= level * self.weights[codes[v]]:
                    continue
                keys[v] = level * self.weights[codes[v]]
            else:
                v = at
            if settled[v]:
                continue
            settled[v] = True
            for entry in range(indptr[v], indptr[v + 1]):
                w = indices[entry]
                if settled[w]:
                    continue
                if codes[w] == codes[v]:
                    offer = self.step(entry, keys[v])
                else:  # not below the balance, see fair_search.across
                    offer = max(self.step(entry, 1.0 / keys[v]), self.levels[entry] * self.weights[codes[w]])
                if offer < keys[w]:
                    keys[w] = offer
                    heapq.heappush(heap, (offer / self.weights[codes[w]], w))
        return np.array(keys)


# with some values given


def fair_with_given(
    graph: DatasetGraph,
    budget: Budget,
    chosen: NDArray[np.int32],
    given: Floats,
    weights: tuple[float, float] = EVEN,
) -> Floats:
    """The fair optimum among the private tables that have the given rows at the chosen vertices.

    Bounds on both answers travel from the given and the settled vertices along all paths, also across colours: to
    settle the given vertices first and go on as without them would not be private (docs/theory.md §3a).
    """
    scale = budget.coordinate if budget.coordinate == "odds" or weights == EVEN else None
    search = _Bounds(graph, _steps(budget, scale or "odds"), scale or "odds")
    positions = chosen.tolist()
    keys = to_keys(given[:, 0], given[:, 1], scale or "odds").tolist()
    for v, key in zip(positions, keys, strict=True):
        search.add(v, 0, key)
        search.add(v, 1, _other(key))
    search.spread()
    for v, key in zip(positions, keys, strict=True):
        for color, own in ((0, key), (1, _other(key))):
            if own > search.bounds[color][v] * (1 + _TOLERANCE):
                path = search.path(v, color)
                if own > search.along(path, color) * (1 + _TOLERANCE):
                    raise refusal_along(graph, budget, given, positions, path, color)
    codes = graph.coloring.codes.tolist()
    indices = graph.indices.tolist()
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    settled = np.zeros(len(graph), bool)
    settled[chosen] = True
    levels = _levels(graph, budget, weights, scale or "odds")
    edges = sorted((level, e) for e, level in levels.items() if codes[rows[e]] == 0)
    edges.reverse()
    while True:
        level, v = search.least(settled, codes, weights)
        while edges and (settled[rows[edges[-1][1]]] or settled[indices[edges[-1][1]]]):
            edges.pop()
        ends = [v] if v >= 0 else []
        if edges and edges[-1][0] < level:
            level, e = edges.pop()
            ends = [int(rows[e]), indices[e]]  # both, before a rounded U(1 − t) says otherwise
        if not ends:
            break
        for end in ends:
            settled[end] = True
            color = codes[end]
            # not below what the bound on the other answer leaves it, but for rounding where U is steep
            key = max(level * weights[color], _other(search.bounds[1 - color][end]))
            search.settle(end, color, key)
        search.spread(settled)
    own = np.where(graph.coloring.codes == 0, search.bounds[0], search.bounds[1])
    table = _table(own, graph.coloring.codes, scale or "odds")
    table[chosen] = given
    return table


def _other(key: float) -> float:
    """The key of the other answer."""
    return min(1.0 / key, propagation.HIGHEST) if key > 0 else math.inf


class _Bounds:
    """What settled vertices allow everybody else, for both answers, along all paths."""

    def __init__(self, graph: DatasetGraph, step: Step, scale: str) -> None:
        self.indptr, self.indices, self.step, self.scale = graph.indptr.tolist(), graph.indices.tolist(), step, scale
        self.codes = graph.coloring.codes.tolist()
        self.bounds = [[math.inf] * len(graph), [math.inf] * len(graph)]
        self.before: dict[tuple[int, int], int] = {}  # the vertex from which a bound came
        self._new: list[tuple[float, int, int]] = []
        self._truths: list[tuple[float, int]] = []  # keys of truths that fell, by vertex

    def settle(self, v: int, color: int, key: float) -> None:
        """A vertex has this key for its own colour, and the other way round for the other."""
        self.bounds[color][v] = math.inf
        self.add(v, color, key)
        self.add(v, 1 - color, _other(key))

    def add(self, v: int, color: int, key: float) -> None:
        """A settled vertex has this key."""
        if key < self.bounds[color][v]:
            self.bounds[color][v] = key
            self.before.pop((v, color), None)
            heapq.heappush(self._new, (key, v, color))

    def spread(self, settled: NDArray[np.bool_] | None = None) -> None:
        """Bring all bounds up to date; those of settled vertices are, whatever rounding makes of them."""
        while self._new:
            key, v, color = heapq.heappop(self._new)
            mine = self.bounds[color]
            if key > mine[v]:
                continue
            if self.codes[v] == color:
                self._truths.append((key, v))
            for entry in range(self.indptr[v], self.indptr[v + 1]):
                w = self.indices[entry]
                if settled is not None and settled[w]:
                    continue
                offer = self.step(entry, key)
                if offer < mine[w]:
                    mine[w] = offer
                    self.before[w, color] = v
                    heapq.heappush(self._new, (offer, w, color))

    def least(self, settled: NDArray[np.bool_], codes: list[int], weights: tuple[float, float]) -> tuple[float, int]:
        """The lowest level of an unsettled vertex that is bounded, and the vertex; (∞, −1) if there is none."""
        if not hasattr(self, "_queue"):
            self._queue: list[tuple[float, int]] = []
        for key, v in self._truths:
            heapq.heappush(self._queue, (key / weights[codes[v]], v))
        self._truths.clear()
        while self._queue:
            level, v = self._queue[0]
            if settled[v] or level > self.bounds[codes[v]][v] / weights[codes[v]]:
                heapq.heappop(self._queue)
                continue
            return level, v
        return math.inf, -1

    def along(self, path: list[int], color: int) -> float:
        """The bound along a path with a little more odds on every edge: where U is steep, rounding asks for it."""
        key = self.bounds[color][path[0]]
        for here, there in pairwise(path):
            entry = self.indices.index(there, self.indptr[here], self.indptr[here + 1])
            key = self.step(entry, key * (1 + _TOLERANCE))
        return key

    def path(self, v: int, color: int) -> list[int]:
        """The vertices along which the bound on ``v`` came, from the one that set it to ``v``."""
        found = [v]
        while (found[-1], color) in self.before:
            found.append(self.before[found[-1], color])
        return found[::-1]


# leaning


def lean_weights(lean: float, pairs: list[SuitablePair]) -> tuple[float, float]:
    """The weights of the two colours, so that the weakest boundary edge has truth ``lean`` on the first colour's side.

    At that level the other side has the most that every boundary edge allows it.
    """
    if not pairs:
        return EVEN
    rows = [pair.walk(1, 1.0 - lean, lean) for pair in pairs]
    truth, error = min(((float(right), float(wrong)) for right, wrong in rows), key=lambda row: (row[0], -row[1]))
    return weights_of(lean, truth / error if error > 0 else math.inf)


def weights_of(lean: float, odds: float) -> tuple[float, float]:
    """The weights if a truth of ``lean`` leaves the other colour these odds on the weakest boundary edge."""
    if not 0.0 < odds < math.inf:
        raise ParameterError.of(
            "lean", "a truth that leaves the other answer neither certain nor impossible", lean,
            ": choose it nearer to the balanced truth",
        )  # fmt: skip
    return 1.0, odds / (lean / (1.0 - lean))
