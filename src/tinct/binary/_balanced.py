"""balanced: the fair optimum, for every graph and every kind of budget (docs/theory.md §3a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tinct._kernels.propagation import UNIFORM
from tinct.binary._extend import given_rows, require_two_colors
from tinct.binary.equal_boundaries import boundary_pairs, one_truth_each, weakest_pairs
from tinct.binary.fair_optimum import EVEN, fair_table, fair_with_given, lean_weights
from tinct.binary.fair_row import fair_row
from tinct.binary.one_row import lowest
from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph, ImplicitGraph
from tinct.mechanism import Mechanism
from tinct.privacy import SuitablePair
from tinct.privacy.suitable_pairs import probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.binary.one_row import EdgePrivacyOf, FixedLike, Row
    from tinct.graphs import GraphLike, PrivacyLike
    from tinct.graphs.labels import Vertex

    Floats = NDArray[np.float64]


@overload
def balanced(
    graph: DatasetGraph, privacy: PrivacyLike, *, lean: float | None = None, fixed: FixedLike | None = None
) -> Mechanism: ...
@overload
def balanced(
    graph: GraphLike,
    privacy: PrivacyLike | EdgePrivacyOf,
    *,
    at: Vertex,
    lean: float | None = None,
    weakest: SuitablePair | None = None,
) -> Floats: ...
def balanced(
    graph: GraphLike,
    privacy: Any,  # a function of two vertices is refused for a graph that was built
    *,
    lean: float | None = None,
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
        lean: Favour one colour: the truth of the first colour on the weakest boundary edge, whose other side gets
            the most that leaves. The odds of the two colours' truths keep that ratio at every level.
        fixed: Probabilities of the first colour at some vertices, as in ``extend``, that the mechanism is to have.
            They need not meet every boundary edge.
        at: Compute the row of this vertex only, and look at no more of the graph than that takes. An implicit graph
            needs it.
        weakest: With ``at``, a pair that allows no more than that of any edge; the search may stop the earlier for it,
            and with a ``lean`` and several budgets it is needed.

    Raises:
        NotExtendable: The fixed values contradict each other; ``witness`` says which, along which path.

    >>> from tinct import Privacy, graphs
    >>> balanced(graphs.majority(5), Privacy("ln 2", 0.1)).truth()
    array([1. , 0.9, 0.7, 0.7, 0.9, 1. ])
    >>> path = graphs.line(2, 2)
    >>> balanced(path, {(1, 2): Privacy("ln 2"), (2, 3): Privacy("ln 4"), (3, 4): Privacy("ln 2")}).truth()
    array([0.9, 0.8, 0.8, 0.9])
    """
    leaning = None if lean is None else _lean(lean)
    if at is not None or isinstance(graph, ImplicitGraph):
        if fixed is not None:
            raise ParameterError("one row with some values fixed: use extend, with fixed values on the whole boundary")
        return _row(graph, privacy, leaning, at, weakest)
    if weakest is not None:
        raise ParameterError("weakest shortens the search for one row: it needs at=vertex")
    require_two_colors(graph)
    budget = Budget(graph, privacy)
    if len(graph.outputs) < 2:
        return Mechanism(graph, np.ones((len(graph), 1)), privacy)
    weights = EVEN if leaning is None else lean_weights(leaning, weakest_pairs(graph, budget))
    if fixed is not None:
        chosen, given = given_rows(graph, fixed)
        table = fair_with_given(graph, budget, chosen, given, weights)
        return Mechanism.trusted(graph, table, privacy)
    if budget.layout == UNIFORM:
        return one_truth_each(graph, privacy, *_rows(boundary_pairs(graph, budget), leaning), None)
    return Mechanism.trusted(graph, fair_table(graph, budget, weights), privacy)


def _lean(given: float) -> float:
    value = float(probabilities(given, "lean"))
    if not 0.0 < value < 1.0:
        raise ParameterError.of("lean", "a probability between 0 and 1", given)
    return value


def _rows(pairs: list[SuitablePair], lean: float | None) -> tuple[Row, Row]:
    """(truth, error) on the two boundaries, if all boundary edges have these pairs and share one truth."""
    if lean is None:
        row = lowest([pair.balance for pair in pairs] or [(1.0, 0.0)])
        return row, row
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
    if isinstance(privacy, SuitablePair):
        row = one_truth_each(graph, privacy, *_rows([privacy], lean), at)
        assert isinstance(row, np.ndarray)  # noqa: S101 # with ``at`` it is one row
        return row
    if lean is not None and weakest is None:
        raise ParameterError.of(
            "weakest", "given with a lean and several budgets", ..., ": the pair of the weakest boundary edge"
        )
    weights = EVEN if lean is None or weakest is None else lean_weights(lean, [weakest])
    return fair_row(graph, privacy, at, weights, weakest)
