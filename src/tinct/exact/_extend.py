"""The designers of docs/theory.md §3 in integers from the start: nothing passes through a float."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.binary import extend as propose
from tinct.binary._extend import require_two_colors
from tinct.errors import NotPrivate, ParameterError
from tinct.exact.grid import DEFAULT_BITS, GridGraph, nearest_units, units
from tinct.numbers.amounts import rational

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tinct.exact.certified import Certified
    from tinct.graphs import DatasetGraph
    from tinct.graphs.budgets import PrivacyLike


def balanced(
    graph: DatasetGraph,
    privacy: PrivacyLike,
    bits: int = DEFAULT_BITS,
    *,
    total: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Certified:
    """The fair optimum of the grid: private, and undominated up to units (docs/theory.md §5).

    With one privacy for all edges, it is the optimum with the same truth on the whole boundary, as large as can be.

    >>> from tinct import Privacy, graphs
    >>> balanced(graphs.line(2, 2), Privacy("ln 2"), bits=5).rows
    [[26, 6], [21, 11], [11, 21], [6, 26]]
    """
    require_two_colors(graph)
    case = GridGraph.of(graph, privacy, units(bits, total))
    return case.certified(case.fair(), 0.0, progress)


def extend(
    graph: DatasetGraph,
    privacy: PrivacyLike,
    fixed: Mapping[Any, Any],
    bits: int = DEFAULT_BITS,
    *,
    total: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Certified:
    """The optimum of the grid with given probabilities of the first colour on a boundary-hitting set.

    ``fixed`` may hold numbers, Fractions or text such as ``"1/3"``. Values are rounded to the nearest unit, and
    those that are in each other's way by units are lowered; ``loss`` says how far any probability is from the
    float optimum.

    Raises:
        NotExtendable: The values contradict each other by more than rounding can explain.
        NotPrivate: The grid is too coarse for these values.

    >>> from tinct import Privacy, graphs
    >>> extend(graphs.line(2, 2), Privacy("ln 2"), {2: "2/3", 3: "1/3"}, total=30).rows
    [[25, 5], [20, 10], [10, 20], [5, 25]]
    """
    require_two_colors(graph)
    wanted = {
        graph.position(vertex): rational(value, f"the value of {vertex!r:.60}") for vertex, value in fixed.items()
    }
    for at, value in wanted.items():
        if not 0 <= value <= 1:
            raise ParameterError(f"the value of {graph.vertices[at]!r:.60} must be a probability in [0, 1]")
    given: Any = {graph.vertices[at]: (float(value), float(1 - value)) for at, value in wanted.items()}
    proposal = propose(graph, privacy, given)  # refuses contradictions, uncovered edges and what is no probability
    case = GridGraph.of(graph, privacy, units(bits, total))
    sources = np.array(sorted(wanted), np.intp)
    rows = case.extended(sources, [nearest_units(wanted[at], case.total) for at in sources.tolist()])
    moved = case.distance(rows, proposal.table)
    if moved > case.price:
        raise NotPrivate(
            f"on a grid of {case.total:,} units a row a probability would change by {moved:.3g}: use more bits, so "
            "that every fixed probability has many more than 1/(e^ε − 1) units",
            None,
        )
    return case.certified(rows, moved, progress)
