"""What people would otherwise run on a yes/no question, as mechanisms to compare with, and when they are shown.

Each is private for the graph it is given: the noise is added to the position on the boundary line (colour and distance
to the boundary), which changes by at most one between neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import Budget
from tinct.graphs.dataset import require_built
from tinct.mechanism import Mechanism
from tinct.privacy import Privacy
from tinct.privacy.differential import TINY

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]


def randomized_response(graph: DatasetGraph, privacy: Privacy) -> Mechanism:
    """The true answer with probability (E + δ)/(E + 1), whatever the dataset.

    >>> from tinct import graphs
    >>> randomized_response(graphs.line(2, 1), Privacy("ln 3")).truth()
    array([0.75, 0.75, 0.75])
    """
    return _by_distance(graph, privacy, "randomized response")


def geometric(graph: DatasetGraph, privacy: Privacy) -> Mechanism:
    """Two-sided geometric noise on the position, then the answer of the noisy position. Makes no use of δ."""
    return _by_distance(graph, privacy, "geometric")


def laplace(graph: DatasetGraph, privacy: Privacy) -> Mechanism:
    """Laplace noise on the position, cut half-way between the two boundaries. Makes no use of δ."""
    return _by_distance(graph, privacy, "Laplace")


ALL = {"randomized response": randomized_response, "geometric": geometric, "Laplace": laplace}

# how often each is wrong, by privacy and distance to the boundary (docs/theory.md §9)
ERRORS: dict[str, Callable[[Privacy, Floats], Floats]] = {
    "randomized response": lambda privacy, distance: np.full(np.shape(distance), privacy.balance[1]),
    "geometric": lambda privacy, distance: np.exp(-privacy.epsilon * distance) / (1.0 + privacy.growth),
    "Laplace": lambda privacy, distance: 0.5 * np.exp(-privacy.epsilon * (distance + 0.5)),
}


def beside(graph: DatasetGraph, privacy: PrivacyLike) -> dict[str, Mechanism]:
    """Which baselines stand beside a mechanism for this graph and privacy, wherever tinct shows one.

    All of them, at the smallest budget; none for more than two answers, for orders of preference, for pieces without a
    boundary, and for privacy that is not (ε, δ).

    >>> from tinct import GaussianDP, graphs
    >>> line = graphs.line(2, 2)
    >>> list(beside(line, Privacy(1))), list(beside(line, GaussianDP(1)))
    (['randomized response', 'geometric', 'Laplace'], [])
    """
    common = smallest_budget(graph, privacy)
    answers = len(graph.outputs) == 2 and not graph.coloring.has_orders
    if common is None or not answers or (graph.boundary_distance() < 0).any():
        return {}
    return {name: build(graph, common) for name, build in ALL.items()}


def smallest_budget(graph: DatasetGraph, privacy: PrivacyLike) -> Privacy | None:
    """The (ε, δ) that holds for everybody: the smallest of all edges; None if an edge has none, or another kind."""
    if privacy is None or isinstance(privacy, Privacy):
        return privacy
    pairs = Budget(graph, privacy).distinct()
    budgets = [pair for pair in pairs if isinstance(pair, Privacy)]
    if not budgets or len(budgets) < len(pairs):
        return None
    least = min(budgets, key=lambda pair: pair.epsilon)
    return Privacy(least.exact_epsilon, min(pair.exact_delta for pair in budgets))


def _by_distance(graph: DatasetGraph, privacy: Privacy, name: str) -> Mechanism:
    if not isinstance(privacy, Privacy):
        raise ParameterError(f"baselines are for one Privacy(epsilon, delta) on all edges, got {privacy!r:.80}")
    require_built(graph)
    if len(graph.outputs) > 2 or graph.coloring.has_orders:
        raise ParameterError(f"this baseline answers yes/no questions; the graph has {len(graph.outputs)} outputs")
    distance = graph.boundary_distance()
    if (distance < 0).any():
        raise ParameterError("this baseline needs a boundary in every piece of the graph")
    # an error that underflows to 0 beside one that does not would be an infinite ε
    wrong = np.maximum(ERRORS[name](privacy, distance.astype(np.float64)), TINY)
    columns = [np.where(graph.coloring.codes == code, 1.0 - wrong, wrong) for code in range(2)]
    return Mechanism(graph, np.column_stack(columns), privacy)
