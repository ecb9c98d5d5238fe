"""Choosing boundary rows, one for each order, when nobody has given them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs.weights import vertex_weights
from tinct.privacy import Privacy
from tinct.rainbow.extension import boundary_morphism
from tinct.rainbow.linear import best, prefix_weights
from tinct.rainbow.rows import orders_as_columns, require_rainbow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs import DatasetGraph


def balanced_boundary(graph: DatasetGraph, privacy: Privacy) -> dict[Any, NDArray[np.float64]]:
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
    return dict(zip(graph.coloring.palette, rows, strict=True))


@dataclass(frozen=True)
class BestBoundary:
    """The best boundary rows for a prior, their value, and the bound that proves it."""

    rows: dict[Any, NDArray[np.float64]]
    value: float
    upper_bound: float


def best_boundary(
    graph: DatasetGraph, privacy: Any, prior: Mapping[Any, float] | ArrayLike | None = None, *, utility: str = "truth"
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
    return BestBoundary(rows, mechanism.value, mechanism.upper_bound)


def _prior(graph: DatasetGraph, prior: Any) -> NDArray[np.float64]:
    if prior is None:
        return np.full(len(graph), 1.0 / len(graph))
    weights = vertex_weights(graph, prior, "the weights of a prior")
    if not weights.any():
        raise ParameterError("a prior needs a weight above 0")
    weights = weights / weights.max()  # so that their sum stays finite
    return np.asarray(weights / weights.sum())
