"""Mechanisms with one truth on each boundary, chosen by the user: closed form by distance, and what can be chosen."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tinct._kernels.checks import level_table
from tinct._kernels.propagation import DENSE, UNIFORM
from tinct.binary._extend import extend_rows, require_two_colors
from tinct.binary.one_row import homogeneous_at, lowest
from tinct.errors import NotExtendable, ParameterError
from tinct.graphs import Budget, DatasetGraph, ImplicitGraph
from tinct.graphs.dataset import vertex_weights
from tinct.mechanism import Mechanism, claims
from tinct.privacy import Privacy, SuitablePair
from tinct.privacy.suitable_pairs import probabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from tinct.binary.one_row import Row
    from tinct.graphs import GraphLike, PrivacyLike
    from tinct.graphs.labels import Vertex
    from tinct.mechanism import Claim

    Floats = NDArray[np.float64]

_ROUNDING = 1e-12
_CORNER_DEPTH = 64


@overload
def homogeneous(graph: DatasetGraph, privacy: PrivacyLike, first: float, second: float) -> Mechanism: ...
@overload
def homogeneous(graph: GraphLike, privacy: PrivacyLike, first: float, second: float, *, at: Vertex) -> Floats: ...
def homogeneous(
    graph: GraphLike, privacy: PrivacyLike, first: float, second: float, *, at: Vertex | None = None
) -> Mechanism | Floats:
    """The most truthful private mechanism with truth ``first`` on the first colour's boundary, ``second`` on the other.

    It is the optimum for these boundary truths, and not for others: with budgets that differ, ``balanced`` can be more
    truthful everywhere. Not every pair is possible; ``frontier`` has those that are. With ``at=vertex`` only that row
    is computed.

    >>> from tinct import Privacy, graphs
    >>> homogeneous(graphs.line(2, 2), Privacy("ln 2"), 0.8, 0.4).truth().round(3)
    array([0.9, 0.8, 0.4, 0.7])
    """
    one = float(probabilities(first, "first"))
    other = float(probabilities(second, "second"))
    rows = (one, 1.0 - one), (other, 1.0 - other)
    for pair in pairs_between_colors(graph, privacy):
        rows = rows[0], _achievable(pair, *rows, graph.outputs)
    return one_truth_each(graph, privacy, *rows, at)


def _achievable(pair: SuitablePair, first: Row, second: Row, outputs: tuple[Any, ...]) -> Row:
    """The second boundary's (truth, error), if the first's allows it: between L(1 − α) and U(1 − α) for truth α.

    A value within rounding of a bound becomes the bound, whose error has digits that 1 − truth has lost.
    """
    high = tuple(float(value) for value in pair.walk(1, first[1], first[0]))
    low = tuple(float(value) for value in pair.walk(1, first[0], first[1]))[::-1]
    for bound in (high, low):
        if abs(second[0] - bound[0]) <= _ROUNDING * bound[0]:
            return bound[0], bound[1]
    if low[0] < second[0] < high[0]:
        return second
    names = outputs if len(outputs) == 2 else ("the first color", "the second color")
    limit = f"at most {high[0]:.6g}" if second[0] > high[0] else f"at least {low[0]:.6g}"
    raise NotExtendable(
        f"no private mechanism: truth {first[0]:.6g} on the boundary of {names[0]!r} allows {limit} on the boundary "
        f"of {names[1]!r}, not {second[0]:.6g}",
        (pair, first[0], second[0]),
    )


def pairs_between_colors(graph: GraphLike, privacy: PrivacyLike) -> list[SuitablePair]:
    """The privacy of boundary edges, as far as it is known without walking an implicit graph."""
    if not isinstance(graph, ImplicitGraph):
        require_two_colors(graph)
        return boundary_pairs(graph, Budget(graph, privacy))
    if not isinstance(privacy, SuitablePair):
        raise ParameterError(
            "boundary truths on an implicit graph need one Privacy for all edges; use extend with fixed="
        )
    return [privacy]


def boundary_pairs(graph: DatasetGraph, budget: Budget) -> list[SuitablePair]:
    """The distinct suitable pairs on boundary edges; none if the graph has no boundary."""
    if budget.layout == UNIFORM:
        return budget.pairs if _has_boundary(graph) else []
    codes = graph.coloring.codes
    rows = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(graph.indptr))
    return budget.at_entries(np.flatnonzero(codes[rows] != codes[graph.indices]))


def weakest_pairs(graph: DatasetGraph, budget: Budget) -> list[SuitablePair]:
    """Pairs of boundary edges, one of which allows the least, whatever it is asked about.

    With an ε and a δ for every edge, one edge that no other undercuts in both; all of these, since each may be it.
    """
    if budget.layout != DENSE:
        return boundary_pairs(graph, budget)
    codes = graph.coloring.codes
    rows = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(graph.indptr))
    entries = np.flatnonzero((codes[rows] == 0) & (codes[graph.indices] == 1))
    epsilon, delta = (values[entries] for values in budget.logarithms())
    order = np.lexsort((delta, epsilon))
    below = np.minimum.accumulate(delta[order])
    first = np.flatnonzero(np.concatenate([[True], delta[order][1:] < below[:-1]])) if len(order) else order
    return [Privacy(float(epsilon[at]), float(delta[at])) for at in order[first]]


def _has_boundary(graph: DatasetGraph) -> bool:
    codes = graph.coloring.codes
    at = int(np.argmax(codes != codes[0]))
    if codes[at] == codes[0]:
        return False
    # where the other colour appears first, as a rule; a graph in pieces may have both colours and no boundary
    row = graph.indices[graph.indptr[at] : graph.indptr[at + 1]]
    return bool((codes[row] != codes[at]).any()) or len(graph.boundary().ends) > 0


def one_truth_each(
    graph: GraphLike,
    privacy: PrivacyLike,
    first: Row,
    second: Row,
    at: Vertex | None,
    claim: Claim = claims.BOUNDARY,
) -> Mechanism | Floats:
    """The mechanism, or one row of it, from (truth, error) on the two boundaries."""
    if at is not None or isinstance(graph, ImplicitGraph):
        return homogeneous_at(graph, privacy, first, second, at)
    return _by_distance(graph, privacy, first, second, claim)


def _by_distance(
    graph: DatasetGraph, privacy: PrivacyLike, first: Row, second: Row, claim: Claim = claims.BOUNDARY
) -> Mechanism:
    budget = Budget(graph, privacy)
    distance, codes = graph.boundary_distance(), graph.coloring.codes
    if budget.layout == UNIFORM:
        table = _table_by_distance(budget.pairs[0], distance, codes, first, second)
        return Mechanism.trusted(graph, table[:, : len(graph.outputs)], privacy, claim=claim)
    boundary = np.flatnonzero(distance == 0).astype(np.int32)
    rows = np.array([first, second[::-1]])[codes[boundary]]
    return extend_rows(graph, privacy, budget, boundary, rows, claim)


def _table_by_distance(
    pair: SuitablePair,
    distance: NDArray[np.int32],
    codes: NDArray[np.uint8],
    first: Row,
    second: Row,
) -> Floats:
    steps = np.arange(int(distance.max(initial=0)) + 1)
    walks = [pair.walk(steps, *row) for row in (first, second)]
    table = np.empty((len(distance), 2))
    right, wrong = (np.stack([walk[side] for walk in walks]) for side in (0, 1))
    level_table(distance, codes, right, wrong, table)
    return table


class Frontier:
    """All achievable pairs of truths on the two boundaries: the upper right edge of what privacy allows."""

    def __init__(self, graph: DatasetGraph, privacy: PrivacyLike) -> None:
        require_two_colors(graph)
        self.graph, self.privacy = graph, privacy
        self._budget = Budget(graph, privacy)
        self._pairs = boundary_pairs(graph, self._budget)
        if not self._pairs:
            raise ParameterError("the graph has no boundary: every vertex can be answered with certainty")

    def __repr__(self) -> str:
        first, second = self.balanced
        privacy = shorten(repr(self.privacy), 120, placeholder=" …")
        return f"<Frontier: {len(self.graph):,} vertices, balanced at ({first:.4g}, {second:.4g}), for {privacy}>"

    def second(self, first: ArrayLike) -> Floats:
        """The highest truth on the second colour's boundary when it is ``first`` on the first colour's."""
        rest = 1.0 - probabilities(first)
        return np.asarray(np.minimum.reduce([np.asarray(pair.upper(rest)) for pair in self._pairs]))

    def points(self, count: int = 101) -> Floats:
        """``count`` points (first, second) along the frontier, both ends included."""
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2:
            raise ParameterError.of("count", "a whole number of at least 2", count)
        ends = min(float(pair.upper(0.0)) for pair in self._pairs), 1.0
        first = np.linspace(*ends, int(count))
        return np.column_stack([first, self.second(first)])

    @property
    def balanced(self) -> tuple[float, float]:
        """The point with equal truths."""
        alpha = min(pair.balance[0] for pair in self._pairs)
        return alpha, alpha

    def best(self, weights: Mapping[Any, float] | ArrayLike | None = None) -> tuple[float, float]:
        """The pair whose optimal mechanism has the largest weighted sum of truths over the vertices.

        Args:
            weights: ``{vertex: weight}`` or an array along the vertices, at least 0; all alike if left out.
        """
        every = np.ones(len(self.graph)) if weights is None else weights
        weight = vertex_weights(self.graph, every, "weights")
        distance, codes = self.graph.boundary_distance(), self.graph.coloring.codes
        if self._budget.layout != UNIFORM:
            return self._search(lambda alpha: float(weight @ self._mechanism(alpha[0]).truth()))
        pair = self._budget.pairs[0]
        inside = distance >= 0  # pieces without a boundary are certain whatever is chosen
        heights = [np.bincount(distance[inside & (codes == code)], weight[inside & (codes == code)]) for code in (0, 1)]
        steps = [np.arange(len(height)) for height in heights]
        return self._search(
            lambda alpha: sum(
                float(height @ pair.walk(step, one, 1.0 - one)[0])
                for height, step, one in zip(heights, steps, alpha, strict=True)
            )
        )

    def _mechanism(self, first: float) -> Mechanism:
        """The mechanism at one point, with all digits of the second colour's error."""
        bounds = [pair.walk(1, 1.0 - first, first) for pair in self._pairs]
        second = lowest([(float(truth), float(error)) for truth, error in bounds])
        return _by_distance(self.graph, self.privacy, (first, 1.0 - first), second)

    def _search(self, value: Callable[[tuple[float, float]], float]) -> tuple[float, float]:
        """Golden section for a concave function along the frontier, then the corners where U bends."""
        low, high = min(float(pair.upper(0.0)) for pair in self._pairs), 1.0
        ends = (low, high)
        ratio = (5**0.5 - 1) / 2
        while high - low > 1e-12:
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            at_left, at_right = (value((one, float(self.second(one)))) for one in (left, right))
            low, high = (low, right) if at_left >= at_right else (left, high)
        middle = (low + high) / 2
        # U is made of straight pieces for (ε, δ), so the best point is a corner: take it exactly if it is as good
        named = [*ends, self.balanced[0]]
        near = [one for one in [*named, *self._corners(), middle] if abs(one - middle) < 1e-6] or [middle]
        values = [value((one, float(self.second(one)))) for one in near]
        chosen = next(one for one, found in zip(near, values, strict=True) if found >= max(values) * (1 - 1e-12))
        return chosen, float(self.second(chosen))

    def _corners(self) -> list[float]:
        """First coordinates at which the truth at some distance stops being a straight function of them."""
        found: list[float] = []
        for pair in self._pairs:
            for bend in (pair.balance[1], 1.0 - float(pair.upper(0.0))):
                back = pair.walk(np.arange(_CORNER_DEPTH), 1.0 - bend, bend)[1]
                found += [*back.tolist(), *np.asarray(self.second(back)).tolist()]
        return found


def frontier(graph: DatasetGraph, privacy: PrivacyLike) -> Frontier:
    """The achievable pairs of truths on the two boundaries.

    >>> from tinct import Privacy, graphs
    >>> curve = frontier(graphs.line(3, 3), Privacy("ln 2"))
    >>> curve.second([0.5, 2 / 3, 0.8]).round(3), curve.best()
    (array([0.75 , 0.667, 0.4  ]), (0.6666666666666666, 0.6666666666666667))
    """
    return Frontier(graph, privacy)
