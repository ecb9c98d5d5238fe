"""Boundary rows: distributions over the answers, read strictly; and what becomes of one at a distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import DatasetGraph, Morphism
from tinct.graphs.dataset import require_built
from tinct.privacy import Privacy, SuitablePair
from tinct.privacy.differential import TINY
from tinct.privacy.suitable_pairs import require_answers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


SUM_TOLERANCE = 1e-9


class BoundaryRows(dict[Any, "Floats"]):
    """One row for each order, ``{order: probabilities}``, that knows by which ``outputs`` its rows are listed."""

    outputs: tuple[Any, ...]

    def __init__(self, rows: Mapping[Any, Floats], outputs: Sequence[Any]) -> None:
        super().__init__(rows)
        self.outputs = tuple(outputs)

    def named(self) -> dict[Any, dict[Any, float]]:
        """The same rows as mappings ``{answer: probability}``, which mean the same on every graph."""
        return {order: dict(zip(self.outputs, row.tolist(), strict=True)) for order, row in self.items()}


def graph_row(graph: DatasetGraph, given: Mapping[Any, float] | ArrayLike, where: str) -> Floats:
    """A row over the outputs of a graph; a list only where it is known how it is to be read."""
    if not isinstance(given, Mapping):
        require_stated(graph, where)
    return distribution(given, graph.outputs, where)


def rows_by_vertex(graph: DatasetGraph, fixed: Mapping[Any, Any]) -> Floats:
    """Rows along the vertices, NaN where free, from ``{vertex: distribution}``."""
    if not isinstance(fixed, Mapping):
        raise ParameterError(f"fixed rows must be a mapping {{vertex: distribution}}, got {fixed!r:.80}")
    rows = np.full((len(graph), len(graph.outputs)), np.nan)
    for vertex, given in fixed.items():
        rows[graph.position(vertex)] = graph_row(graph, given, f"the row of {vertex!r}")
    return rows


def require_stated(graph: DatasetGraph, what: str) -> None:
    """Refuse lists along answers that nobody has put in order.

    With orders of preference as colours ``outputs`` is by default the order of whichever vertex comes first: a list
    written for another order would be a different distribution, and nothing would look wrong.
    """
    if not graph.coloring.stated:
        raise ParameterError(
            f"{what} is a list, but in which order? The colors are orders of preference, and the graph was built "
            f"without outputs=: give a mapping from answers, or build the graph with outputs={graph.outputs!r:.80}"
        )


def distribution(given: Mapping[Any, float] | ArrayLike, outputs: Sequence[Any], where: str) -> Floats:
    """A row over the outputs from a list in their order or a mapping ``{answer: probability}``.

    Entries must be at least 0 and sum to 1 within 1e-9; the rounding that is left is divided out.
    """
    if isinstance(given, Mapping):
        unknown = next((answer for answer in given if answer not in outputs), None)
        if unknown is not None:
            raise ParameterError(f"{where} names {unknown!r}, which is not an answer: choose from {tuple(outputs)!r}")
        given = [given.get(answer, 0.0) for answer in outputs]
    try:
        row = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{where} must be probabilities of {tuple(outputs)!r}, got {given!r:.80}") from None
    if row.shape != (len(outputs),) or not len(row):
        raise ParameterError(f"{where} must have {len(outputs)} entries, one for each of {tuple(outputs)!r}")
    if not (row >= 0).all() or not abs(row.sum() - 1.0) <= SUM_TOLERANCE:
        raise ParameterError(
            f"{where} must have entries of at least 0 that sum to 1 within {SUM_TOLERANCE:g}, got {row.tolist()}"
        )
    return np.asarray(row / row.sum()) + 0.0  # the sum turns −0 into 0


def at_distance(privacy: SuitablePair, preferred: ArrayLike, distance: ArrayLike) -> Floats:
    """The optimal rows at some distances from a boundary row, both listed from the best answer to the worst.

    Each prefix sum rises by U with every step (docs/theory.md §4); closed form, so 10^9 steps cost as much as one.

    >>> from tinct import Privacy
    >>> at_distance(Privacy("ln 2"), [0.1, 0.3, 0.6], [0, 1, 2, 3])
    array([[0.1  , 0.3  , 0.6  ],
           [0.2  , 0.5  , 0.3  ],
           [0.4  , 0.45 , 0.15 ],
           [0.7  , 0.225, 0.075]])
    """
    if not isinstance(privacy, SuitablePair):
        raise ParameterError(f"privacy must be a Privacy, GaussianDP or TradeOff, got {privacy!r:.80}")
    row = distribution(preferred, range(np.size(preferred)), "the row")
    if len(row) < 2:
        raise ParameterError("the row must have at least two entries: with one answer there is nothing to hide")
    require_answers(privacy, len(row))
    steps = np.atleast_1d(np.asarray(distance))
    prefix = np.minimum(np.cumsum(row)[:-1], 1.0)
    suffix = np.minimum(np.cumsum(row[::-1])[::-1][1:], 1.0)
    reached, missed = privacy.walk(steps[:, None], prefix[None, :], suffix[None, :])
    table = from_prefixes(reached, missed)
    return _with_small_entries(privacy, row, prefix, steps, missed, table) if isinstance(privacy, Privacy) else table


def _with_small_entries(
    privacy: Privacy, row: Floats, prefix: Floats, steps: NDArray[Any], missed: Floats, table: Floats
) -> Floats:
    """Middle entries with the digits that differences of prefix sums lose.

    U^d is made of straight pieces with slope e^((2m − d)ε), m ≤ d the steps before τ. So p′_k lies between p_k times
    the slope at the upper and at the lower end of its piece of the prefix sums, unless U has become flat there.
    """
    epsilon = privacy.epsilon
    rising = np.minimum(steps[:, None], np.asarray(privacy.transition(prefix))[None, :])
    slopes = np.exp(np.minimum((2.0 * rising - steps[:, None]) * epsilon, 700.0))
    middle = row[1:-1]
    low, high = middle * slopes[:, 1:], middle * slopes[:, :-1]
    floor = np.where(middle > 0, TINY, 0.0) if privacy.delta == 0 else 0.0
    exact = np.maximum(np.clip(table[:, 1:-1], low, high), floor)
    table[:, 1:-1] = np.where(missed[:, 1:] > 0, exact, table[:, 1:-1])
    table[steps == 0] = row
    return table


def from_prefixes(reached: Floats, missed: Floats) -> Floats:
    """Rows from their prefix sums and the complements, taking each difference on the side with more digits."""
    ends = (len(reached), 1)
    upper = np.hstack([np.zeros(ends), reached, np.ones(ends)])
    lower = np.hstack([np.ones(ends), missed, np.zeros(ends)])
    low, high = np.diff(upper, axis=1), -np.diff(lower, axis=1)
    return np.maximum(0.0, np.where(upper[:, 1:] <= 0.5, low, high)) + 0.0  # the sum turns −0 into 0


def orders_as_columns(graph: DatasetGraph) -> NDArray[np.int64]:
    """For every order in the palette the columns of its answers, best first; a plain colour is put before the rest."""
    outputs = graph.outputs
    orders = [
        order if isinstance(order, tuple) else (order, *(answer for answer in outputs if answer != order))
        for order in graph.coloring.palette
    ]
    return np.array([[outputs.index(answer) for answer in order] for order in orders], np.int64)


def prefix_events(graph: DatasetGraph) -> Floats:
    """For every vertex its q − 1 prefix events, as rows of zeros and ones over the outputs."""
    columns = orders_as_columns(graph)
    width = len(graph.outputs)
    events = np.zeros((len(columns), width - 1, width))
    for code, order in enumerate(columns):
        for size in range(1, width):
            events[code, size - 1, order[:size]] = 1.0
    return np.asarray(events[graph.coloring.codes])


def require_rainbow(graph: DatasetGraph) -> None:
    """Refuse graphs that have no orders to speak of."""
    require_built(graph)
    if len(graph.outputs) < 2:
        raise ParameterError(f"at least two answers are needed, this graph has {graph.outputs!r}")
    if not graph.coloring.has_orders and len(graph.outputs) > 2:
        raise ParameterError("colors must be orders of preference (tuples of all answers) when there are more than two")


# the boundary rainbow graph: what is left of a graph if one row is given for each order (docs/theory.md §4.3)


def boundary_morphism(graph: DatasetGraph) -> Morphism:
    """The map from a rainbow graph to its boundary rainbow graph: (order, distance to that order's boundary).

    The target has a line for every order, joined at distance 0 where orders meet (rainbow, Def. 8).
    """
    require_rainbow(graph)
    distance, codes, palette = graph.boundary_distance(), graph.coloring.codes, graph.coloring.palette
    if (distance < 0).any():
        raise ParameterError("every piece of the graph needs two different orders, or there is nothing to measure from")
    depth = [int(distance[codes == code].max(initial=-1)) for code in range(len(palette))]
    names = [(order, step) for order, deep in zip(palette, depth, strict=True) for step in range(deep + 1)]
    known = set(names)
    edges = [((order, step), (order, step + 1)) for order, step in names if (order, step + 1) in known]
    ends = graph.boundary().ends
    meeting = {(int(codes[u]), int(codes[v])) for u, v in ends.tolist()}
    edges += [((palette[a], 0), (palette[b], 0)) for a, b in sorted(meeting)]
    target = DatasetGraph(edges, {name: name[0] for name in names}, outputs=graph.outputs, disconnected=True)
    start = np.concatenate([[0], np.cumsum(np.array(depth) + 1)])[:-1]
    return Morphism(graph, target, start[codes] + distance)


def depths(graph: DatasetGraph) -> dict[Any, int]:
    """How deep the region of every order is: the largest distance to its own boundary, −1 if it has none."""
    require_built(graph)
    distance, codes = graph.boundary_distance(), graph.coloring.codes
    return {order: int(distance[codes == code].max(initial=-1)) for code, order in enumerate(graph.coloring.palette)}
