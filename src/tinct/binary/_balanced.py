"""balanced: the fair optimum, for every graph and every kind of budget (docs/theory.md §3a)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from tinct._kernels.propagation import UNIFORM
from tinct.binary._extend import extend_rows, given_rows, require_two_colors
from tinct.binary.equal_boundaries import boundary_pairs, one_truth_each, weakest_pairs
from tinct.binary.fair_optimum import EVEN, fair_table, fair_with_given, lean_weights, level_of, odds_row, odds_step
from tinct.binary.one_row import MAX_VISITED, code_of, lowest, pair_function
from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph, ImplicitGraph
from tinct.mechanism import Mechanism, claims
from tinct.privacy import SuitablePair
from tinct.privacy.suitable_pairs import probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.binary.one_row import EdgePrivacyOf, FixedLike, Row
    from tinct.graphs import GraphLike, PrivacyLike
    from tinct.graphs.labels import Vertex

    Floats = NDArray[np.float64]


Lean: TypeAlias = "float | Mapping[Any, float] | None"  # the truth of the first colour, or of one that is named


@overload
def balanced(
    graph: DatasetGraph, privacy: PrivacyLike, *, lean: Lean = None, fixed: FixedLike | None = None
) -> Mechanism: ...
@overload
def balanced(
    graph: GraphLike,
    privacy: PrivacyLike | EdgePrivacyOf,
    *,
    at: Vertex,
    lean: Lean = None,
    fixed: FixedLike | None = None,
    weakest: SuitablePair | None = None,
) -> Floats: ...
def balanced(
    graph: GraphLike,
    privacy: Any,  # a function of two vertices is refused for a graph that was built
    *,
    lean: Lean = None,
    fixed: FixedLike | None = None,
    at: Vertex | None = None,
    weakest: SuitablePair | None = None,
) -> Mechanism | Floats:
    """The fair optimum: its least truth is as large as can be, then the next, and so on.

    No private mechanism is at least as truthful on every dataset and more so on one. With one privacy for all edges,
    all boundary vertices have the same truth, and truths grow with the distance from them.

    Args:
        graph: A graph with two colours.
        privacy: One suitable pair for all edges, ``{(u, v): pair}``, ``EdgePrivacy`` or ``EdgeClasses``. For an
            implicit graph also a function of the two vertices.
        lean: Favour one colour, such as ``{"yes": 0.8}`` (a bare number is for the first colour): its truth on the
            weakest boundary edge, whose other side gets the most that leaves. The odds of the two colours' truths keep
            that ratio at every level.
        fixed: Probabilities of the first colour at some vertices, as in ``extend``, that the mechanism is to have.
            They need not meet every boundary edge; if they do, the result is that of ``extend``.
        at: Compute the row of this vertex only, and look at no more of the graph than that takes. An implicit graph
            needs it, and takes no ``fixed``; with ``fixed`` all of a graph is looked at.
        weakest: With ``at``, a pair that allows no more than that of any edge; the search may stop the earlier for it.
            An implicit graph with a ``lean`` and several budgets needs it.

    Raises:
        NotExtendable: The fixed values contradict each other; ``witness`` says which, along which path.

    >>> from tinct import Privacy, graphs
    >>> balanced(graphs.majority(5), Privacy("ln 2", 0.1)).truth()
    array([1. , 0.9, 0.7, 0.7, 0.9, 1. ])
    >>> path = graphs.line(2, 2)
    >>> balanced(path, {(1, 2): Privacy("ln 2"), (2, 3): Privacy("ln 4"), (3, 4): Privacy("ln 2")}).truth()
    array([0.9, 0.8, 0.8, 0.9])
    """
    if isinstance(lean, Mapping):
        color, lean = _named(lean, graph.outputs)
        if color != graph.outputs[0]:
            return _turned(graph, privacy, lean, fixed, at, weakest)
    leaning = None if lean is None else _lean(lean)
    if at is not None or isinstance(graph, ImplicitGraph):
        if fixed is None:
            return _row(graph, privacy, leaning, at, weakest)
        if at is None or isinstance(graph, ImplicitGraph):
            raise ParameterError("one row with some values fixed: use extend, with fixed values on the whole boundary")
        return balanced(graph, privacy, lean=lean, fixed=fixed).row(at)
    if weakest is not None:
        raise ParameterError("weakest shortens the search for one row: it needs at=vertex")
    require_two_colors(graph)
    budget = Budget(graph, privacy)
    claim = claims.FAIR if leaning is None else claims.LEANING
    if len(graph.outputs) < 2:
        return Mechanism.trusted(graph, np.ones((len(graph), 1)), privacy, claim=claim)
    if fixed is not None:
        chosen, given = given_rows(graph, fixed)
        if _meets_every_edge(graph, chosen):  # then nothing is left to be fair about
            if leaning is not None:
                raise ParameterError.about("lean", "`lean` has no effect: the fixed values meet every boundary edge")
            return extend_rows(graph, privacy, budget, chosen, given)
    if fixed is None and budget.layout == UNIFORM:
        return one_truth_each(graph, privacy, *_rows(boundary_pairs(graph, budget), leaning), None, claim)
    weights = EVEN if leaning is None else lean_weights(leaning, weakest_pairs(graph, budget))
    if fixed is not None:
        table = fair_with_given(graph, budget, chosen, given, weights)
        return Mechanism.trusted(graph, table, privacy, claim=claims.COMPLETED)
    return Mechanism.trusted(graph, fair_table(graph, budget, weights), privacy, claim=claim)


def _meets_every_edge(graph: DatasetGraph, chosen: NDArray[np.int32]) -> bool:
    held = np.zeros(len(graph), bool)
    held[chosen] = True
    return bool(held[graph.boundary().ends].any(axis=1).all())


def _named(lean: Mapping[Any, float], outputs: tuple[Any, ...]) -> tuple[Any, float]:
    """The colour that is favoured, and its truth."""
    if len(lean) != 1 or next(iter(lean)) not in outputs:
        raise ParameterError.of(
            "lean", f"a truth for one of {outputs!r:.80}, such as {{{outputs[0]!r:.40}: 0.8}}", lean
        )
    return next(iter(lean.items()))


def _turned(
    graph: GraphLike,
    privacy: Any,
    lean: float,
    fixed: FixedLike | None,
    at: Vertex | None,
    weakest: SuitablePair | None,
) -> Mechanism | Floats:
    """The same with the colours exchanged, for a lean towards the second one."""
    if isinstance(graph, ImplicitGraph):
        other = replace(graph, outputs=graph.outputs[::-1])
        return np.asarray(balanced(other, privacy, lean=lean, fixed=fixed, at=at, weakest=weakest))[::-1]
    require_two_colors(graph)
    if fixed is not None:
        chosen, given = given_rows(graph, fixed)
        rows = zip(chosen.tolist(), given[:, ::-1].tolist(), strict=True)
        fixed = {graph.vertices[position]: tuple(row) for position, row in rows}
    turned = graph.with_outputs(graph.outputs[::-1])
    found: Any = balanced(turned, privacy, lean=lean, fixed=fixed, at=at, weakest=weakest)
    if isinstance(found, np.ndarray):
        return found[::-1]
    return Mechanism.trusted(graph, np.ascontiguousarray(found.table[:, ::-1]), privacy, found.fixed, found.claim)


def _lean(given: float) -> float:
    value = float(probabilities(given, "lean"))
    if not 0.0 < value < 1.0:
        raise ParameterError.of("lean", "a probability above 0 and below 1", given)
    return value


def _rows(pairs: list[SuitablePair], lean: float | None) -> tuple[Row, Row]:
    """(truth, error) on the two boundaries, if all boundary edges have these pairs and share one truth."""
    if lean is None:
        row = lowest([pair.balance for pair in pairs] or [(1.0, 0.0)])
        return row, row
    least = min((float(pair.upper(0.0)) for pair in pairs), default=0.0)
    if lean < least:
        raise ParameterError.of("lean", f"at least {least:.6g}, which leaves the other answer certain", lean)
    bounds = [pair.walk(1, 1.0 - lean, lean) for pair in pairs]
    return (lean, 1.0 - lean), lowest([(float(right), float(wrong)) for right, wrong in bounds] or [(1.0, 0.0)])


def _row(
    graph: GraphLike,
    privacy: PrivacyLike | EdgePrivacyOf,
    lean: float | None,
    at: Vertex | None,
    weakest: SuitablePair | None,
) -> Floats:
    if at is None:
        raise ParameterError("an implicit graph can be evaluated only one vertex at a time: give at=vertex")
    if not isinstance(graph, ImplicitGraph):
        require_two_colors(graph)
        if lean is not None and not isinstance(privacy, SuitablePair) and not callable(privacy):
            budget = Budget(graph, privacy)
            privacy = budget.pairs[0] if budget.layout == UNIFORM else privacy  # a lean may then leave it certain
    if isinstance(privacy, SuitablePair):
        row = one_truth_each(graph, privacy, *_rows([privacy], lean), at)
        assert isinstance(row, np.ndarray)  # noqa: S101 # with ``at`` it is one row
        return row
    return fair_row(graph, privacy, at, _weights(graph, privacy, lean, weakest), weakest)


def _weights(graph: GraphLike, privacy: Any, lean: float | None, weakest: SuitablePair | None) -> tuple[float, float]:
    if lean is None:
        return EVEN
    if weakest is not None:
        return lean_weights(lean, [weakest])
    if isinstance(graph, ImplicitGraph):
        raise ParameterError.of(
            "weakest", "given with a lean and several budgets", ..., ": the pair of the weakest boundary edge"
        )
    return lean_weights(lean, weakest_pairs(graph, Budget(graph, privacy)))


# one row of the fair optimum when edges have budgets of their own, looking at no more of the graph than that takes.
#
# What lies beyond the part that was looked at is unknown, and the unknown spreads inwards: it can make an offer to a
# neighbour of the same colour, and it can decide a boundary edge, but neither below a level that is known. A vertex
# that settles before the unknown reaches it has its truth, whatever the rest of the graph is
# (docs/proofs/fair-optimum.md)


_OFFER, _EDGE, _UNKNOWN = 0, 1, 2  # at one level in this order: what is known comes first


def fair_row(
    graph: GraphLike,
    privacy: PrivacyLike | EdgePrivacyOf,
    at: Vertex,
    weights: tuple[float, float],
    weakest: SuitablePair | None,
) -> NDArray[np.float64]:
    """The row of ``at``; no edge may allow less than ``weakest``."""
    part = _Part(graph, pair_function(graph, privacy), weights)
    code = code_of(graph, at)
    # truths on the two sides of an edge sum to 1 or more
    floor = 1.0 / math.sqrt(weights[0] * weights[1]) if weakest is None else level_of(weakest, weights)
    rim, seen = [at], {at}
    while True:
        following: list[Any] = []
        for vertex in rim:
            for other in part.expand(vertex):
                if weakest is not None:
                    part.require_not_below(vertex, other, floor, weakest)
                if other not in seen:
                    seen.add(other)
                    following.append(other)
            if len(seen) > MAX_VISITED:
                raise ParameterError(
                    f"{at!r:.80} is too far from the boundary: {MAX_VISITED:,} vertices were visited without an "
                    "answer; give a stronger weakest pair, or build the graph"
                )
        rim = following
        level = part.settled(at, rim, floor)
        if level is not None:
            truth, error = odds_row(level * weights[code])
            return np.array([truth, error] if code == 0 else [error, truth])[: len(graph.outputs)]


class _Part:
    """The part of a graph that was looked at."""

    def __init__(
        self, graph: GraphLike, pair_of: Callable[[Any, Any], SuitablePair], weights: tuple[float, float]
    ) -> None:
        self.graph, self.pair_of, self.weights = graph, pair_of, weights
        self.near: dict[Any, list[tuple[Any, SuitablePair]]] = {}
        self.codes: dict[Any, int] = {}
        self.balances: dict[SuitablePair, float] = {}

    def expand(self, vertex: Vertex) -> list[Any]:
        """Look at a vertex; returns its neighbours."""
        others = self.graph.neighbors(vertex)
        self.near[vertex] = [(other, self.pair_of(vertex, other)) for other in others]
        for each in (vertex, *others):
            if each not in self.codes:
                self.codes[each] = code_of(self.graph, each)
        return others

    def require_not_below(self, vertex: Vertex, other: Vertex, floor: float, weakest: SuitablePair) -> None:
        """Refuse an edge between the colours that contradicts the weakest pair: rows would not fit each other."""
        if self.codes[vertex] != self.codes[other]:
            pair = self.pair_of(vertex, other)
            if self._balance(pair) < floor * (1.0 - 1e-12):
                raise ParameterError.of(
                    "weakest", "a pair that allows no more than that of any edge between the answers", weakest,
                    f": the edge ({vertex!r:.40}, {other!r:.40}) has {pair!r:.80}",
                )  # fmt: skip

    def settled(self, at: Vertex, rim: list[Any], floor: float) -> float | None:
        """The level of ``at`` if the unknown beyond the rim cannot change it; infinite if nothing bounds it."""
        order = count()  # breaks ties, so that vertices are never compared
        heap: list[tuple[float, int, int, Any, Any]] = []
        beyond: dict[Any, list[tuple[Any, SuitablePair]]] = {vertex: [] for vertex in rim}
        for vertex, others in self.near.items():
            for other, pair in others:
                if other in beyond:
                    beyond[other].append((vertex, pair))
                elif self.codes[vertex] == 0 and self.codes[other] == 1:
                    heap.append((self._balance(pair), _EDGE, next(order), vertex, other))
        heap += [(floor, _UNKNOWN, next(order), vertex, None) for vertex in rim]
        heapq.heapify(heap)
        done: dict[Any, bool] = {}  # whether it is known

        def reach(vertex: Vertex, level: float) -> None:
            """Settle a vertex, and make its offers."""
            done[vertex] = True
            key = level * self.weights[self.codes[vertex]]
            for other, pair in self.near[vertex]:
                if other not in done and other not in beyond:
                    same = self.codes[other] == self.codes[vertex]
                    offer = odds_step(pair, key if same else 1.0 / key) / self.weights[self.codes[other]]
                    offer = offer if same else max(offer, self._balance(pair))  # see fair_search.across
                    heapq.heappush(heap, (offer, _OFFER, next(order), other, None))

        while heap:
            level, kind, _, vertex, other = heapq.heappop(heap)
            if at in done:
                break
            if kind == _EDGE:
                if vertex not in done and other not in done:
                    reach(vertex, level)
                    if vertex == at:
                        return level
                    continue
                # of an edge with one end unknown, the other is unknown from here on
                open_end = other if vertex in done else vertex
                known = done.get(vertex, done.get(other, True))
                if open_end in done or known:
                    continue
                kind, vertex = _UNKNOWN, open_end
            if vertex in done:
                continue
            if kind == _OFFER:
                reach(vertex, level)
                if vertex == at:
                    return level
                continue
            done[vertex] = False
            key = level * self.weights[self.codes[vertex]]
            for near, pair in self.near.get(vertex) or beyond[vertex]:
                if near in done or near in beyond:
                    continue
                if self.codes[near] == self.codes[vertex]:
                    heapq.heappush(
                        heap, (odds_step(pair, key) / self.weights[self.codes[near]], _UNKNOWN, next(order), near, None)
                    )
                else:
                    heapq.heappush(heap, (max(level, self._balance(pair)), _UNKNOWN, next(order), near, None))
        return None if rim else math.inf

    def _balance(self, pair: SuitablePair) -> float:
        if pair not in self.balances:
            self.balances[pair] = level_of(pair, self.weights)
        return self.balances[pair]
