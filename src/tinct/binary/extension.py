"""extend: the optimal mechanism from its values on a boundary-hitting set (docs/theory.md §3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import buckets, checks, heap, propagate
from tinct.binary.keys import from_keys, other_color, to_keys
from tinct.binary.obstruction import not_extendable
from tinct.binary.relaxation import relax
from tinct.binary.single import extend_at, fixed_array, fixed_row, require_answers
from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph, ImplicitGraph
from tinct.mechanism import Mechanism
from tinct.privacy.differential import TINY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Sources = tuple[NDArray[np.int32], NDArray[np.uint8], Floats]  # vertices, colours, keys

TOLERANCE = 1e-9  # relative, on odds: fixed values may exceed their bound by this much


def extend(
    graph: DatasetGraph | ImplicitGraph,
    privacy: Any,
    fixed: Mapping[Any, float] | Callable[[Any], float | None] | NDArray[Any],
    *,
    at: Any = None,
    least: float | None = None,
) -> Any:
    """The private mechanism that agrees with ``fixed`` and is at least as truthful everywhere as any other.

    Args:
        graph: A graph with two colours.
        privacy: One suitable pair for all edges, ``{(u, v): pair}``, ``EdgePrivacy`` or ``EdgeClasses``. For an
            implicit graph also a function of the two vertices.
        fixed: ``{vertex: Pr[first color]}`` for a set of vertices that meets every edge between different colours;
            or an array with one entry per vertex, NaN where free; or, with ``at``, a function of the vertex that
            returns None where free. In a mapping, a pair (Pr[first], Pr[second]) keeps digits that 1 − p would
            lose for p next to 1.
        at: Compute the row of this vertex only, and look at no more of the graph than that takes. The fixed
            values are then taken to be extendable.
        least: With ``at``, a number that no fixed probability of either colour is below (known from ``fixed`` unless
            that is a function); the search may stop the earlier, the larger it is.

    Returns:
        A Mechanism; with ``at``, one row (the distribution at that vertex).

    Raises:
        NotExtendable: The fixed values contradict each other; ``witness`` says which, along which path.

    >>> from tinct import Privacy, graphs
    >>> path = graphs.DatasetGraph([(1, 2), (2, 3), (3, 4)], {2: "blue", 3: "blue", 1: "red", 4: "red"})
    >>> extend(path, Privacy("ln 2"), {1: 0.3, 4: 0.1}).probability(2, "blue")
    0.4
    """
    if not isinstance(graph, ImplicitGraph):
        require_two_colors(graph)
    if at is not None or isinstance(graph, ImplicitGraph):
        if at is None:
            raise ParameterError("an implicit graph can be evaluated only one vertex at a time: give at=vertex")
        return extend_at(graph, privacy, fixed, at, least)
    if least is not None:
        raise ParameterError("least shortens the search for one row: it needs at=vertex")
    first, second = fixed_columns(graph, fixed)
    return extend_rows(graph, privacy, Budget(graph, privacy), first, second)


def extend_rows(graph: DatasetGraph, privacy: Any, budget: Budget, first: Floats, second: Floats) -> Mechanism:
    """The extension from both colours' probabilities along the vertices, NaN where free."""
    chosen = np.flatnonzero(~np.isnan(first)).astype(np.int32)
    if budget.coordinate is None:
        table = relax(graph, budget, first, second, TOLERANCE)
    else:
        # odds have no digits left below the smallest normal float: a smaller probability is taken for that
        given = np.stack([first[chosen], second[chosen]])
        given[(given > 0) & (given < TINY)] = TINY
        table = _propagate(graph, budget, chosen, given[0], given[1])
    return Mechanism.trusted(graph, table, privacy, chosen)


def _propagate(graph: DatasetGraph, budget: Budget, chosen: NDArray[np.int32], first: Floats, second: Floats) -> Floats:
    scale = budget.coordinate or "odds"
    probit = scale == "probit"
    codes = graph.coloring.codes
    state = codes.copy()
    state[chosen] = propagate.FIXED
    keys = np.full(len(graph), np.inf)
    settled = _settle(graph, budget, state, keys, _sources(chosen, to_keys(first, second, scale), scale), probit)
    if settled >= 0 and settled + len(chosen) < len(graph):
        entry = checks.missed_entry(graph.indptr, graph.indices, state, keys)
        settled = -1 - entry if entry >= 0 else settled
    if settled < 0:
        refuse_missed_edge(graph, -1 - settled)
    keys[chosen] = to_keys(first, second, scale)
    gains, shifts = budget.logarithms() if budget.layout == propagate.DENSE else budget.parameters
    vertex, entry, color = checks.worst_fixed_edge(
        graph.indptr, graph.indices, state, codes, keys, chosen,
        budget.layout, budget.classes, gains, shifts, probit, TOLERANCE,
    )  # fmt: skip
    table = np.empty((len(graph), 2))
    if probit:
        key_of_first = np.where(codes == 0, keys, -keys)
        key_of_first[chosen] = keys[chosen]
        table[:, 0], table[:, 1] = from_keys(key_of_first, scale)
    else:
        checks.odds_table(keys, codes, chosen, table)
    table[chosen, 0], table[chosen, 1] = first, second
    if vertex >= 0:
        raise not_extendable(graph, budget, table, chosen, vertex, entry, color)
    return table if len(graph.outputs) == 2 else np.ascontiguousarray(table[:, : len(graph.outputs)])


def _sources(chosen: NDArray[np.int32], keys: Floats, scale: str) -> Sources:
    """Every fixed vertex as two sources, one per colour, in the order of the vertices; certain ones bound nobody."""
    both = np.column_stack([keys, other_color(keys, scale)]).ravel()
    vertices, colors = np.repeat(chosen, 2), np.tile(np.array([0, 1], np.uint8), len(chosen))
    bounding = both < np.inf
    return vertices[bounding], colors[bounding], both[bounding]


def _by_key(sources: Sources) -> Sources:
    """The same sources, sorted by key."""
    vertices, colors, keys = sources
    order = np.argsort(keys)
    return vertices[order], colors[order], keys[order]


def _settle(
    graph: DatasetGraph, budget: Budget, state: NDArray[np.uint8], keys: Floats, sources: Sources, probit: bool
) -> int:
    """Run the kernel that fits the budget; docs/proofs/queues.md has what each of them costs."""
    if budget.layout == propagate.UNIFORM:
        gain, shift = budget.pairs[0].step if budget.pairs else (1.0, 0.0)
        return propagate.from_sources(graph.indptr, graph.indices, state, keys, *_by_key(sources), gain, shift, probit)
    if budget.layout == propagate.CLASSES and len(budget.pairs) <= propagate.MAX_CLASSES:
        return propagate.by_classes(
            graph.indptr, graph.indices, budget.classes, state, keys, *_by_key(sources), *budget.parameters, probit
        )
    if not probit:
        epsilons, shifts = budget.logarithms()
        bits = _bucket_bits(math.expm1(float(epsilons.min())), len(graph))
        if bits is not None:
            return buckets.by_buckets(graph.indptr, graph.indices, state, keys, *sources, epsilons, shifts, bits)
    return heap.by_heap(graph.indptr, graph.indices, state, keys, *sources, *budget.dense_parameters(), probit)


def _bucket_bits(least_growth: float, vertices: int) -> int | None:
    """How finely to divide the odds into buckets; None if the smallest ε is too small for buckets to pay.

    A bucket is at most 16 of the smallest steps wide, so a vertex is worked on at most 16 times (about once, measured).
    """
    if not least_growth > 0:
        return None
    bits = max(0, math.ceil(-math.log2(least_growth)) - 4)
    return bits if 2048 << bits <= max(4 * vertices, 2**16) else None


def refuse_missed_edge(graph: DatasetGraph, entry: int) -> None:
    """Raise for an edge whose ends differ in colour and are both free."""
    u = graph.vertices[int(np.searchsorted(graph.indptr, entry, side="right")) - 1]
    v = graph.vertices[int(graph.indices[entry])]
    raise ParameterError(f"edge ({u!r}, {v!r}) is not covered: fix {u!r} or {v!r} (they have different colors)")


def require_two_colors(graph: DatasetGraph) -> None:
    """Refuse graphs that are not a yes/no question, and what is not a graph that was built."""
    if not isinstance(graph, DatasetGraph):
        raise ParameterError(f"a DatasetGraph is needed here, got {type(graph).__name__}")
    if graph.coloring.has_orders:
        raise ParameterError("this graph has orders of preference: use tinct.rainbow, or color it with single answers")
    if len(graph.outputs) > 2:
        raise ParameterError(
            f"two colors are needed, this graph has {len(graph.outputs)}: {graph.outputs!r:.80}; tinct.rainbow designs "
            "for more: best(…, 'truth'), or extend with orders of preference as colors"
        )


def fixed_columns(graph: DatasetGraph, fixed: Any) -> tuple[Floats, Floats]:
    """The fixed probabilities of both colours along the vertices, NaN where free."""
    if callable(fixed):
        raise ParameterError("a function of fixed values needs at=vertex; for the whole graph give a mapping")
    if isinstance(fixed, Mapping):
        columns = np.full((2, len(graph)), np.nan)
        for vertex, given in fixed.items():
            columns[:, graph.position(vertex)] = require_answers(graph, vertex, fixed_row(vertex, given))
        return columns[0], columns[1]
    values = fixed_array(graph, fixed)
    return values, 1.0 - values
