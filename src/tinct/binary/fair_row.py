"""One row of the fair optimum when edges have budgets of their own, looking at no more of the graph than that takes.

What lies beyond the part that was looked at is unknown, and the unknown spreads inwards: it can make an offer to a
neighbour of the same colour, and it can decide a boundary edge, but neither below a level that is known. A vertex that
settles before the unknown reaches it has its truth, whatever the rest of the graph is (docs/proofs/fair-optimum.md).
"""

from __future__ import annotations

import heapq
import math
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.binary.fair_optimum import level_of, odds_row, odds_step
from tinct.binary.one_row import MAX_VISITED, code_of, pair_function
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.binary.one_row import EdgePrivacyOf
    from tinct.graphs import GraphLike, PrivacyLike
    from tinct.graphs.labels import Vertex
    from tinct.privacy import SuitablePair

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
