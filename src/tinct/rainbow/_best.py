"""The best mechanism for a stated utility, and rows for the boundary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import NotExtendable, NotPrivate, ParameterError
from tinct.graphs import Budget, DatasetGraph
from tinct.graphs.dataset import require_built, vertex_weights
from tinct.linear_programs import PrivateTables
from tinct.mechanism import Mechanism, claims
from tinct.mechanism._verify import directed_edges, excess, verify
from tinct.privacy import Privacy
from tinct.rainbow.boundary_rows import (
    BoundaryRows,
    boundary_morphism,
    orders_as_columns,
    prefix_events,
    require_rainbow,
    require_stated,
    rows_by_vertex,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]


_MARGINS = (1e-9, 1e-8, 1e-7)
_NOTHING = 1e-6  # of e^ε − 1 and δ: next to nothing


class BestMechanism(Mechanism):
    """A mechanism that maximises a utility; by the solver's dual no private one has more than ``upper_bound``."""

    value: float
    upper_bound: float

    @property
    def gap(self) -> float:
        """How much better a private mechanism could still be."""
        return max(0.0, self.upper_bound - self.value)


def best(
    graph: DatasetGraph,
    privacy: PrivacyLike,
    utility: str | Mapping[Any, Mapping[Any, float]] | ArrayLike = "truth",
    *,
    fixed: Mapping[Any, Any] | None = None,
) -> BestMechanism:
    """The private mechanism that maximises a linear utility (a linear program; any boundary, or none given).

    Args:
        graph: Any graph with orders of preference or plain colours.
        privacy: (ε, δ) for all edges, or for each edge.
        utility: An array of weights (vertices × outputs); or ``{vertex: {answer: weight}}``; or ``"truth"`` for the sum
            of the probabilities of the best answers; or ``"prefixes"`` for the sum of all prefix sums.
        fixed: ``{vertex: distribution}`` for rows that are given.

    >>> from tinct import Privacy, graphs
    >>> mechanism = best(graphs.line(1, 1), Privacy("ln 3"))
    >>> round(mechanism.value, 9), round(mechanism.gap, 9)
    (1.5, 0.0)
    """
    require_built(graph)
    if len(graph.outputs) < 2:
        raise ParameterError(f"at least two answers are needed, this graph has {graph.outputs!r}")
    weights = _weights(graph, utility)
    rows = None if fixed is None or fixed == {} else rows_by_vertex(graph, fixed)
    solution = PrivateTables(graph, privacy, rows).maximize(weights)
    if solution is None:
        raise NotExtendable("no private mechanism has these rows: the linear program is infeasible", fixed)
    gains, shifts = Budget(graph, privacy).dense_parameters()
    tied = (gains == 1.0) & (shifts == 0.0)
    if rows is None:
        held = np.zeros(len(graph), bool)
        table = _repaired(graph, gains, shifts, solution.table, weights)
    else:
        held = ~np.isnan(rows[:, 0])
        table = _with_equal_rows(graph, tied, solution.table, held)
    for margin in _MARGINS:
        if verify(table, graph, privacy).private:
            break
        # rows that are given cannot be mixed with anything: solve again with room for the solver's errors
        inner = PrivateTables(graph, privacy, rows, margin=margin).maximize(weights)
        table = table if inner is None else _with_equal_rows(graph, tied, inner.table, held)
    table = _or_constant(graph, privacy, weights, rows, table)
    _require_private(graph, table, privacy)
    mechanism = BestMechanism(graph, table, privacy)
    object.__setattr__(mechanism, "claim", claims.PROGRAM)
    object.__setattr__(mechanism, "value", float((weights * table).sum()))
    object.__setattr__(mechanism, "upper_bound", max(solution.upper_bound, mechanism.value))  # up to rounding
    return mechanism


def prefix_weights(graph: DatasetGraph, utility: str) -> Floats:
    """The weights that ``"truth"`` and ``"prefixes"`` stand for."""
    if utility not in ("truth", "prefixes"):
        raise ParameterError(f"utility must be 'truth', 'prefixes', weights or a mapping, got {utility!r:.80}")
    events = prefix_events(graph)
    return np.asarray(events[:, 0] if utility == "truth" else events.sum(axis=1))


def _weights(graph: DatasetGraph, utility: str | Mapping[Any, Mapping[Any, float]] | ArrayLike) -> Floats:
    shape = (len(graph), len(graph.outputs))
    if isinstance(utility, str):
        return prefix_weights(graph, utility)
    if isinstance(utility, Mapping):
        weights = np.zeros(shape)
        for vertex, of_answers in utility.items():
            if not isinstance(of_answers, Mapping) or not all(answer in graph.outputs for answer in of_answers):
                raise ParameterError(f"the utility of {vertex!r} must be a mapping from {graph.outputs!r} to weights")
            for answer, weight in of_answers.items():
                weights[graph.position(vertex), graph.outputs.index(answer)] = _finite(weight)
    else:
        require_stated(graph, "the array of weights")
        try:
            weights = np.asarray(utility, np.float64)
        except (TypeError, ValueError):
            raise ParameterError(
                f"utility must be 'truth', 'prefixes', weights or a mapping, got {utility!r:.80}"
            ) from None
    if weights.shape != shape or not np.isfinite(weights).all():
        raise ParameterError(f"a utility needs finite weights, {shape[0]} vertices × {shape[1]} outputs")
    return weights


def _finite(weight: float) -> float:
    try:
        number = float(weight)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ParameterError(f"a weight must be a finite number, got {weight!r:.80}")
    return number


def _repaired(graph: DatasetGraph, gains: Floats, shifts: Floats, table: Floats, weights: Floats) -> Floats:
    """The solver's table, mended so that it is private, in the way that costs least.

    An edge that allows nothing, or next to nothing, leaves no room for a solver's tolerance: its two ends may get the
    same row first, the mean of theirs.
    """
    mended, nobody = [], np.zeros(len(graph), bool)
    for nothing in (-1.0, 0.0, _NOTHING):
        tied = (gains - 1.0 <= nothing) & (shifts <= nothing)
        if nothing < 0 or tied.any():
            mended.append(_mixed(graph, gains, shifts, _with_equal_rows(graph, tied, table, nobody)))
    return max(mended, key=lambda each: float((weights * each).sum()))


def _with_equal_rows(graph: DatasetGraph, tied: NDArray[np.bool_], table: Floats, held: NDArray[np.bool_]) -> Floats:
    """One row all over each group of vertices that these directed edges connect: their mean, or one that is held."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))[tied]
    links = coo_array((np.ones(len(rows)), (rows, graph.indices[tied])), shape=(len(graph), len(graph)))
    count, group = connected_components(links, directed=False)
    sums = np.zeros((count, table.shape[1]))
    np.add.at(sums, group, table)
    found = sums / sums.sum(axis=1, keepdims=True)
    found[group[held]] = table[held]
    return np.where(held[:, None], table, found[group])


def _mixed(graph: DatasetGraph, gains: Floats, shifts: Floats, table: Floats) -> Floats:
    """A table, mixed with just enough of the uniform distribution to be private.

    A solver keeps inequalities only up to its tolerance, and may put a 0 beside a 1e-9, which is infinite ε. Where an
    edge exceeds its δ by x, a share x/(x + δ + (E − 1)/q) of the uniform row is enough (docs/proofs/rainbow.md).
    """
    share = 0.0
    for rows, columns, entries in directed_edges(graph):
        beyond = np.maximum(0.0, excess(table[rows], table[columns], gains[entries]) - shifts[entries])
        room = shifts[entries] + (gains[entries] - 1.0) / table.shape[1]
        with np.errstate(invalid="ignore"):
            share = max(share, float(np.nan_to_num(beyond / (beyond + room)).max(initial=0.0)))
    share = min(1.0, share * (1 + 1e-6))
    return np.asarray((1 - share) * table + share / table.shape[1])


def _or_constant(
    graph: DatasetGraph, privacy: PrivacyLike, weights: Floats, rows: Floats | None, table: Floats
) -> Floats:
    """The table, but with the same row all over a piece of the graph where that has more, or where all else fails.

    Such a piece is private for every ε. For ε next to 0 a solver's table needs so much mending that little is left.
    """
    private = verify(table, graph, privacy).private
    pieces, result = graph.components(), table.copy()
    for piece in range(int(pieces.max()) + 1):
        inside = pieces == piece
        given = np.empty((0, 0)) if rows is None else np.unique(rows[inside & ~np.isnan(rows[:, 0])], axis=0)
        if len(given) > 1:
            continue
        totals = weights[inside].sum(axis=0)
        row = given[0] if len(given) else np.eye(len(totals))[int(np.argmax(totals))]
        if not private or totals @ row > (weights[inside] * table[inside]).sum():
            result[inside] = row
    return result


def _require_private(graph: DatasetGraph, table: Floats, privacy: PrivacyLike) -> None:
    """Refuse a solver's table that is not private on every edge."""
    verdict = verify(table, graph, privacy)
    if not verdict.private:
        raise NotPrivate(f"the solver's table is not private enough to be used: {verdict.witness}", verdict.witness)


def balanced_boundary(graph: DatasetGraph, privacy: Privacy) -> BoundaryRows:
    """Boundary rows that treat all answers alike: randomized response on the best answer of each order.

    With q answers the best one has (E + (q − 1)δ)/(E + q − 1) and each other (1 − δ)/(E + q − 1): no rows have more on
    average over q orders that all meet and have different best answers.

    >>> from tinct import graphs
    >>> balanced_boundary(graphs.rankings(3, "ab"), Privacy("ln 3"))[("b", "a")]
    array([0.25, 0.75])
    """
    require_rainbow(graph)
    if not isinstance(privacy, Privacy):
        raise ParameterError("balanced boundary rows need one Privacy(epsilon, delta) for all edges")
    width = len(graph.outputs)
    other = float(1 - privacy.exact_delta) / (privacy.growth + width - 1)
    top = (privacy.growth + (width - 1) * privacy.delta) / (privacy.growth + width - 1)
    rows = np.full((len(graph.coloring.palette), width), other)
    rows[np.arange(len(rows)), orders_as_columns(graph)[:, 0]] = top
    return BoundaryRows(dict(zip(graph.coloring.palette, rows, strict=True)), graph.outputs)


@dataclass(frozen=True)
class BestBoundary:
    """The best boundary rows for a prior, their value, and the bound that proves it."""

    rows: BoundaryRows
    value: float
    upper_bound: float


def best_boundary(
    graph: DatasetGraph,
    privacy: Privacy,
    prior: Mapping[Any, float] | ArrayLike | None = None,
    *,
    utility: str = "truth",
) -> BestBoundary:
    """The boundary rows whose optimal mechanism has the largest expected utility, among all rows by order.

    A linear program on the boundary rainbow graph, whose size does not depend on how many datasets there are.

    Args:
        graph: A graph with orders of preference.
        privacy: One (ε, δ) for all edges.
        prior: How likely each vertex is, ``{vertex: weight}`` or an array; all alike if left out.
        utility: ``"truth"`` counts the best answer, ``"prefixes"`` all prefix sums.
    """
    if not isinstance(privacy, Privacy):
        raise ParameterError("best boundary rows need one Privacy(epsilon, delta) for all edges")
    morphism = boundary_morphism(graph)
    weight = _prior(graph, prior)
    gathered = np.bincount(morphism.image, weight, minlength=len(morphism.target))
    mechanism = best(morphism.target, privacy, gathered[:, None] * prefix_weights(morphism.target, utility))
    rows = {order: mechanism.row((order, 0)) for order, step in morphism.target.vertices if step == 0}
    return BestBoundary(BoundaryRows(rows, graph.outputs), mechanism.value, mechanism.upper_bound)


def _prior(graph: DatasetGraph, prior: Mapping[Any, float] | ArrayLike | None) -> NDArray[np.float64]:
    if prior is None:
        return np.full(len(graph), 1.0 / len(graph))
    weights = vertex_weights(graph, prior, "the weights of a prior")
    if not weights.any():
        raise ParameterError("a prior needs a weight above 0")
    weights = weights / weights.max()  # so that their sum stays finite
    return np.asarray(weights / weights.sum())
