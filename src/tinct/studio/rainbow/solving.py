"""From the settings of the Rainbow page to the mechanism, or to the reason why there is none; all by the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import rainbow
from tinct.errors import NotExtendable, ParameterError, TinctError
from tinct.privacy import Privacy
from tinct.studio.rainbow.state import KIND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.mechanism import Mechanism
    from tinct.studio.rainbow.state import RainbowState
    from tinct.studio.workshop import Workshop


@dataclass(frozen=True)
class Rainbow:
    """The graph with its boundary rows, the mechanism they extend to, and what the chosen region looks like."""

    graph: DatasetGraph
    privacy: Privacy
    boundary: dict[Any, dict[Any, float]]  # for every order, the probability of every answer
    mechanism: Mechanism | None
    refusal: str
    path: tuple[int, ...]
    order: tuple[Any, ...]
    stack: NDArray[Any] | None  # rows by distance, best answer first
    turns: list[float]  # where each prefix sum stops growing by e^ε a step


def solve(state: RainbowState, workshop: Workshop) -> Rainbow:
    """Design the mechanism from its boundary rows."""
    graph = state.graph.read(KIND, workshop.files).graph
    if not graph.coloring.has_orders:
        raise ParameterError("the colors of this graph are single answers: use the Design page")
    privacy = Privacy(state.epsilon, state.delta)
    orders = graph.coloring.palette
    order = orders[min(state.order, len(orders) - 1)]
    boundary = boundary_rows(state, graph, privacy)
    mechanism, refusal = None, ""
    path: tuple[int, ...] = ()
    try:
        mechanism = rainbow.extend(graph, privacy, boundary)
    except NotExtendable as error:
        refusal, path = str(error), _meeting(graph, getattr(error.witness, "edge", ()))
    except TinctError as error:
        refusal = str(error)
    preferred = [boundary[order][answer] for answer in order]
    stack = rainbow.at_distance(privacy, preferred, np.arange(state.steps + 1))
    turns = np.atleast_1d(privacy.transition(np.cumsum(preferred)[:-1])).tolist()
    return Rainbow(graph, privacy, boundary, mechanism, refusal, path, order, stack, turns)


def boundary_rows(state: RainbowState, graph: DatasetGraph, privacy: Privacy) -> dict[Any, dict[Any, float]]:
    """The boundary row of every order, by answer."""
    if state.boundary == "own":
        shares = own_shares(state, len(graph.outputs))
        return {order: dict(zip(order, shares, strict=True)) for order in graph.coloring.palette}
    rows = (
        rainbow.best_boundary(graph, privacy).rows
        if state.boundary == "best"
        else rainbow.balanced_boundary(graph, privacy)
    )
    return {order: dict(zip(graph.outputs, row.tolist(), strict=True)) for order, row in rows.items()}


def own_shares(state: RainbowState, answers: int) -> list[float]:
    """The weights as probabilities, from the best answer to the worst."""
    weights = [*state.weights, *[0] * answers][:answers]
    total = sum(weights)
    if not total > 0:
        raise ParameterError("at least one answer must have a weight above 0")
    shares = [weight / total for weight in weights[:-1]]
    return [*shares, max(0.0, 1.0 - sum(shares))]


def _meeting(graph: DatasetGraph, orders: Any) -> tuple[int, ...]:
    """An edge on which two orders meet."""
    palette = graph.coloring.palette
    if len(orders) != 2 or not all(order in palette for order in orders):
        return ()
    codes = graph.coloring.codes[graph.boundary().ends]
    wanted = {palette.index(order) for order in orders}
    for number, pair in enumerate(codes.tolist()):
        if set(pair) == wanted:
            return tuple(graph.boundary().ends[number].tolist())
    return ()
