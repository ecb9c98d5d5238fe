"""What people would otherwise run on a yes/no question, as mechanisms to compare with.

Each is private for the graph it is given: the noise is added to the position on the boundary line (colour and distance
to the boundary), which changes by at most one between neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.mechanism import Mechanism
from tinct.privacy import Privacy
from tinct.privacy.differential import TINY

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph

    Floats = NDArray[np.float64]


def randomized_response(graph: DatasetGraph, privacy: Privacy) -> Mechanism:
    """The true answer with probability (E + δ)/(E + 1), whatever the dataset.

    >>> from tinct import graphs
    >>> randomized_response(graphs.line(2, 1), Privacy("ln 3")).truth()
    array([0.75, 0.75, 0.75])
    """
    truth, error = _require(privacy).balance
    return _by_distance(graph, privacy, lambda distance: np.full(len(distance), error), truth)


def geometric(graph: DatasetGraph, privacy: Privacy) -> Mechanism:
    """Two-sided geometric noise on the position, then the answer of the noisy position. Makes no use of δ."""
    epsilon = _require(privacy).epsilon
    below = 1.0 / (1.0 + privacy.growth)  # Pr[noise ≤ −1]
    return _by_distance(graph, privacy, lambda distance: below * np.exp(-epsilon * distance))


def laplace(graph: DatasetGraph, privacy: Privacy) -> Mechanism:
    """Laplace noise on the position, cut half-way between the two boundaries. Makes no use of δ."""
    epsilon = _require(privacy).epsilon
    return _by_distance(graph, privacy, lambda distance: 0.5 * np.exp(-epsilon * (distance + 0.5)))


ALL = {"randomized response": randomized_response, "geometric": geometric, "Laplace": laplace}


def _by_distance(
    graph: DatasetGraph, privacy: Privacy, error: Callable[[Floats], Floats], truth: float | None = None
) -> Mechanism:
    if len(graph.outputs) > 2 or graph.coloring.has_orders:
        raise ParameterError(f"this baseline answers yes/no questions; the graph has {len(graph.outputs)} outputs")
    distance = graph.boundary_distance()
    if (distance < 0).any():
        raise ParameterError("this baseline needs a boundary in every piece of the graph")
    # an error that underflows to 0 beside one that does not would be an infinite ε
    wrong = np.maximum(error(distance.astype(np.float64)), TINY)
    right = 1.0 - wrong if truth is None else np.full(len(wrong), truth)
    columns = [np.where(graph.coloring.codes == code, right, wrong) for code in range(2)]
    return Mechanism(graph, np.column_stack(columns), privacy)


def _require(privacy: Privacy) -> Privacy:
    if not isinstance(privacy, Privacy):
        raise ParameterError(f"baselines are for one Privacy(epsilon, delta) on all edges, got {privacy!r:.80}")
    return privacy
