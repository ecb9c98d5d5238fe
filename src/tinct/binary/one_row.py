"""One row of the optimal mechanism, looking at no more of the graph than that takes.

The region around the vertex is explored outward and never past a fixed vertex. Vertices on the rim, not yet expanded,
stand for everything beyond: nothing out there can bound them below ``least``. Once the rim no longer matters for the
row asked for, the search is over, whatever the size of the rest of the graph.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph, GraphLike, ImplicitGraph
from tinct.privacy import SuitablePair
from tinct.privacy.suitable_pairs import probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs.budgets import PrivacyLike
    from tinct.graphs.labels import Vertex

    Row = tuple[float, float]  # Pr[first color], Pr[second color]

# what may be fixed: {vertex: Pr[first color]}, an array along the vertices, or a function of the vertex
FixedLike: TypeAlias = "Mapping[Any, float | tuple[float, float]] | Callable[[Any], float | None] | ArrayLike"
EdgePrivacyOf: TypeAlias = "Callable[[Any, Any], SuitablePair]"  # privacy on a graph that is never built

MAX_VISITED = 1_000_000
_SUM_TOLERANCE = 1e-9


def extend_at(
    graph: GraphLike, privacy: PrivacyLike | EdgePrivacyOf, fixed: FixedLike, at: Vertex, least: float | None
) -> NDArray[np.float64]:
    """The row of ``at`` in the optimal extension of ``fixed``."""
    rows = _fixed_rows(graph, fixed)
    code = code_of(graph, at)
    if least is not None:
        bound = float(probabilities(least, "least"))
        return _search(graph, privacy, rows, at, (bound, 1.0 - bound))
    known = [] if callable(fixed) and not isinstance(fixed, Mapping) else _known_values(graph, fixed)
    both = [(row[code], row[1 - code]) for row in known]
    return _search(graph, privacy, rows, at, lowest(both) if both else (0.0, 1.0))


def lowest(rows: list[Row]) -> Row:
    """The (probability, complement) with the least probability; next to 1 only the complements still differ."""
    return min(rows, key=lambda row: (row[0], -row[1]))


def homogeneous_at(
    graph: GraphLike, privacy: PrivacyLike, first: Row, second: Row, at: Vertex | None
) -> NDArray[np.float64]:
    """The row of ``at`` when all boundary vertices of a colour have the same (truth, error)."""
    if at is None:
        raise ParameterError("an implicit graph can be evaluated only one vertex at a time: give at=vertex")
    by_code = (first, second[::-1])

    def rows(vertex: Vertex) -> Row | None:
        code = code_of(graph, vertex)
        on_boundary = any(code_of(graph, other) != code for other in graph.neighbors(vertex))
        return by_code[code] if on_boundary else None

    code = code_of(graph, at)
    return _search(graph, privacy, rows, at, (by_code[code][code], by_code[code][1 - code]))


def _search(
    graph: GraphLike,
    privacy: PrivacyLike | EdgePrivacyOf,
    rows: Callable[[Any], Row | None],
    at: Vertex,
    least: Row,
) -> NDArray[np.float64]:
    own = rows(at)
    width = len(graph.outputs)  # 1 if the graph has one answer only
    if own is not None:
        return np.array(own[:width])
    code, pair_of = code_of(graph, at), pair_function(graph, privacy)
    near: dict[Any, list[Any]] = {}  # expanded free vertices and their neighbours
    sources: dict[Any, Row] = {}
    seen, rim = {at}, [at]
    looked_at = 0
    while True:
        next_rim: list[Any] = []
        for vertex in rim:
            near[vertex] = graph.neighbors(vertex)
            for other in near[vertex]:
                if other in seen:
                    continue
                seen.add(other)
                row = rows(other)
                if row is not None:
                    sources[other] = row
                elif code_of(graph, other) != code:
                    raise ParameterError(
                        f"edge ({vertex!r:.80}, {other!r:.80}) is not covered: fix one of its ends "
                        "(they have different colors)"
                    )
                else:
                    next_rim.append(other)
            if len(seen) > MAX_VISITED:
                raise ParameterError(
                    f"{at!r:.80} is too far from the fixed vertices: {MAX_VISITED:,} vertices were visited without "
                    "an answer; give a larger least, or build the graph"
                )
        rim = next_rim
        # solving anew costs as much as the region is large: wait until it has grown, or there is a first answer
        if not rim or (sources and len(seen) >= 1.5 * looked_at):
            looked_at = len(seen)
            found = _solve(near, sources, {}, pair_of, code, at)
            if not rim or found <= _solve(near, sources, dict.fromkeys(rim, least), pair_of, code, at):
                truth, error = found[0], -found[1]
                return np.array([truth, error] if code == 0 else [error, truth])[:width]


def _solve(
    near: dict[Any, list[Any]],
    sources: dict[Any, Row],
    rim: dict[Any, Row],
    pair_of: Callable[[Any, Any], SuitablePair],
    code: int,
    at: Vertex,
) -> tuple[float, float]:
    """The smallest bound on ``at`` as (probability, −complement), which orders bounds even next to 1."""
    order = count()  # breaks ties, so that vertices are never compared
    heap = [((row[code], -row[1 - code]), next(order), vertex) for vertex, row in sources.items()]
    heap += [((value, -rest), next(order), vertex) for vertex, (value, rest) in rim.items()]
    heapq.heapify(heap)
    back: dict[Any, list[Any]] = {}
    for vertex, others in near.items():
        for other in others:
            if other in sources or other in rim:
                back.setdefault(other, []).append(vertex)
    done = set()
    while heap:
        value, _, vertex = heapq.heappop(heap)
        if vertex == at:
            return value
        if vertex in done:
            continue
        done.add(vertex)
        for other in near.get(vertex) or back.get(vertex, []):
            if other in near and other not in done:
                right, wrong = pair_of(vertex, other).walk(1, value[0], -value[1])
                heapq.heappush(heap, ((float(right), -float(wrong)), next(order), other))
    return 1.0, -0.0


def require_answers(graph: GraphLike, vertex: Vertex, row: Row) -> Row:
    """The row of a fixed vertex, unless it needs a second answer and the graph has only one."""
    if row[1] > 0 and len(graph.outputs) < 2:
        raise ParameterError(
            f"{vertex!r:.80} is fixed at {row[0]:.6g}, but {graph.outputs[0]!r:.80} is the only answer of this graph: "
            "name the other one with outputs="
        )
    return row


def fixed_row(vertex: Vertex, given: ArrayLike) -> Row:
    """Both probabilities of a fixed vertex, from that of the first colour or from a pair."""
    name = f"the fixed value of {vertex!r:.80}"
    if isinstance(given, tuple | list | np.ndarray) and np.shape(given) == (2,):
        first, second = probabilities(given, name).tolist()
        if abs(first + second - 1.0) > _SUM_TOLERANCE:
            raise ParameterError(f"{name} must be a pair that sums to 1, got {given!r}")
        return first, second
    if np.ndim(given) != 0:
        raise ParameterError(f"{name} must be a probability, or a pair of them, got {given!r:.80}")
    first = float(probabilities(given, name))
    return first, 1.0 - first


def _fixed_rows(graph: GraphLike, fixed: FixedLike) -> Callable[[Any], Row | None]:
    if isinstance(fixed, Mapping):
        look_up: Callable[[Any], Any] = fixed.get
    elif callable(fixed):
        look_up = fixed
    elif isinstance(graph, DatasetGraph):
        known = dict(zip(*(part.tolist() for part in fixed_entries(graph, fixed)), strict=True))

        def look_up(vertex: Vertex) -> float | None:
            return known.get(graph.position(vertex))

    else:
        raise ParameterError("fixed values must be a mapping or a function of the vertex")

    def row(vertex: Vertex) -> Row | None:
        value = look_up(vertex)
        return None if value is None else require_answers(graph, vertex, fixed_row(vertex, value))

    return row


def _known_values(graph: GraphLike, fixed: FixedLike) -> list[Row]:
    if isinstance(fixed, Mapping):
        for vertex in fixed:
            code_of(graph, vertex)  # refuses what is not a vertex
        return [require_answers(graph, vertex, fixed_row(vertex, value)) for vertex, value in fixed.items()]
    _, values = fixed_entries(graph, fixed)
    return [(value, 1.0 - value) for value in np.unique(values).tolist()]


def fixed_entries(graph: GraphLike, fixed: FixedLike) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Where an array of fixed values along the vertices is not NaN, and the probabilities of the first colour there."""
    try:
        values = np.asarray(fixed, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"fixed values must be numbers, NaN where free, got {fixed!r:.80}") from None
    if not isinstance(graph, DatasetGraph):
        raise ParameterError("an array of fixed values needs a built graph; give a mapping or a function of the vertex")
    if values.shape != (len(graph),):
        raise ParameterError(f"an array of fixed values needs one entry per vertex ({len(graph)}), NaN where free")
    chosen = np.flatnonzero(~np.isnan(values)).astype(np.int32)
    given = probabilities(values[chosen], "a fixed value")
    for at, value in zip(chosen.tolist(), given.tolist(), strict=True) if len(graph.outputs) < 2 else []:
        require_answers(graph, graph.vertices[at], (value, 1.0 - value))
    return chosen, given


def code_of(graph: GraphLike, vertex: Vertex) -> int:
    """0 for the first colour, 1 for the second."""
    if isinstance(graph, ImplicitGraph):
        return graph.code(vertex)
    return int(graph.coloring.codes[graph.position(vertex)])


def pair_function(graph: GraphLike, privacy: Any) -> Callable[[Any, Any], SuitablePair]:
    """The privacy of an edge, by its two vertices."""
    if isinstance(privacy, SuitablePair):
        return lambda _u, _v: privacy
    if isinstance(graph, ImplicitGraph):
        if not callable(privacy):
            raise ParameterError(
                f"privacy on an implicit graph must be a Privacy or a function of two vertices, got {privacy!r:.80}"
            )

        def of_function(u: Vertex, v: Vertex) -> SuitablePair:
            pair = privacy(u, v)
            if not isinstance(pair, SuitablePair):
                raise ParameterError(f"the privacy of edge ({u!r:.80}, {v!r:.80}) must be a Privacy, got {pair!r:.80}")
            return pair

        return of_function
    budget = Budget(graph, privacy)

    def of_edge(u: Vertex, v: Vertex) -> SuitablePair:
        row, column = graph.position(u), graph.position(v)
        entries = range(int(graph.indptr[row]), int(graph.indptr[row + 1]))
        return budget.at_entry(next(entry for entry in entries if graph.indices[entry] == column))

    return of_edge
