"""extend: the optimal mechanism from its values on a boundary-hitting set (docs/theory.md §3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tinct._kernels import checks, propagation
from tinct._kernels.propagation import CLASSES, HIGHEST
from tinct.binary.obstruction import not_extendable
from tinct.binary.one_row import extend_at, fixed_entries, fixed_row, require_answers
from tinct.errors import NotPrivate, ParameterError
from tinct.graphs import Budget, DatasetGraph, ImplicitGraph, smallest_hitting_set
from tinct.graphs.boundary import require_hitting
from tinct.graphs.dataset import require_built
from tinct.mechanism import Mechanism, claims, require_table, verify
from tinct.privacy.differential import TINY
from tinct.privacy.tradeoffs import probit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tinct.binary.one_row import EdgePrivacyOf, FixedLike
    from tinct.graphs import GraphLike, PrivacyLike
    from tinct.graphs.labels import Vertex
    from tinct.mechanism import Claim

    Floats = NDArray[np.float64]
    Sources = tuple[NDArray[np.int32], NDArray[np.uint8], Floats]  # vertices, colours, keys


TOLERANCE = 1e-9  # relative, on keys: fixed values may exceed their bound by this much
SPREAD = 1024  # how many times the shortest step may go into the longest for rounds to pay, and
_WAIT = 64  # how many rounds a vertex may have to wait
LOOKS = 24  # at each vertex, source and edge, on average, after which rounds are given up for a heap


@overload
def extend(graph: DatasetGraph, privacy: PrivacyLike, fixed: FixedLike) -> Mechanism: ...
@overload
def extend(
    graph: GraphLike,
    privacy: PrivacyLike | EdgePrivacyOf,
    fixed: FixedLike,
    *,
    at: Vertex,
    least: float | None = None,
) -> Floats: ...
def extend(
    graph: GraphLike,
    privacy: Any,  # a function of two vertices is refused for a graph that was built
    fixed: FixedLike,
    *,
    at: Vertex | None = None,
    least: float | None = None,
) -> Mechanism | Floats:
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
    chosen, given = given_rows(graph, fixed)
    return extend_rows(graph, privacy, Budget(graph, privacy), chosen, given)


def extend_rows(
    graph: DatasetGraph,
    privacy: PrivacyLike,
    budget: Budget,
    chosen: NDArray[np.int32],
    given: Floats,
    claim: Claim = claims.GIVEN,
) -> Mechanism:
    """The extension from the rows of the fixed vertices, whose positions are sorted."""
    if budget.coordinate is None:
        table = relax(graph, budget, chosen, given, TOLERANCE)
    else:
        # odds have no digits left below the smallest normal float: a smaller probability is taken for that
        table = _propagate(graph, budget, chosen, np.where((given > 0) & (given < TINY), TINY, given))
    return Mechanism.trusted(graph, table, privacy, chosen, claim)


def _propagate(graph: DatasetGraph, budget: Budget, chosen: NDArray[np.int32], given: Floats) -> Floats:
    scale = budget.coordinate or "odds"
    probit = scale == "probit"
    codes = graph.coloring.codes
    state = codes.copy()
    state[chosen] = propagation.FIXED
    keys = np.empty(len(graph))
    given_keys = to_keys(given[:, 0], given[:, 1], scale)
    settled = _settle(graph, budget, state, keys, _sources(chosen, given_keys), probit)
    if settled >= 0 and settled + len(chosen) < len(graph):
        entry = checks.missed_entry(graph.indptr, graph.indices, state, keys)
        settled = -1 - entry if entry >= 0 else settled
    if settled < 0:
        refuse_missed_edge(graph, -1 - settled)
    keys[chosen] = given_keys
    gains, shifts = budget.search_parameters()
    vertex, entry, color = checks.worst_fixed_edge(
        graph.indptr, graph.indices, state, codes, keys, chosen,
        budget.layout, budget.classes, gains, shifts, probit, TOLERANCE,
    )  # fmt: skip
    table = np.empty((len(graph), 2))
    if probit:
        key_of_first = np.where(codes == 0, keys, other_color(keys))
        key_of_first[chosen] = given_keys
        table[:, 0], table[:, 1] = from_keys(key_of_first, scale)
    else:
        checks.odds_table(keys, codes, chosen, table)
    table[chosen] = given
    if vertex >= 0:
        raise not_extendable(graph, budget, table, chosen, vertex, entry, color)
    return table if len(graph.outputs) == 2 else np.ascontiguousarray(table[:, : len(graph.outputs)])


def _sources(chosen: NDArray[np.int32], keys: Floats) -> Sources:
    """Every fixed vertex as two sources, one per colour, in the order of the vertices; certain ones bound nobody."""
    both = np.column_stack([keys, other_color(keys)]).ravel()
    vertices, colors = np.repeat(chosen, 2), np.tile(np.array([0, 1], np.uint8), len(chosen))
    bounding = both < np.inf
    return vertices[bounding], colors[bounding], both[bounding]


def _settle(
    graph: DatasetGraph, budget: Budget, state: NDArray[np.uint8], keys: Floats, sources: Sources, probit: bool
) -> int:
    """Run the kernel that fits the budgets; docs/proofs/rounds.md has what each of them costs."""
    lowest = float(sources[2].min()) if len(sources[2]) else 0.0
    window = _window(*budget.extremes(), lowest, probit)
    if window is not None:
        gains, shifts = budget.search_parameters()
        classes = budget.classes if budget.layout == propagation.CLASSES else None
        epsilons = gains if budget.layout == propagation.DENSE else None
        limit = LOOKS * (len(state) + len(graph.indices) + len(sources[0]))
        settled = propagation.by_rounds(
            graph.indptr, graph.indices, state, keys, *_in_waves(sources, window[0]),
            classes, epsilons, gains, shifts, probit, *window, limit, np.zeros(1, np.int64),
        )  # fmt: skip
        if settled != propagation.GAVE_UP:
            return settled
    return propagation.by_heap(graph.indptr, graph.indices, state, keys, *sources, *budget.dense_parameters(), probit)


def _window(
    least: tuple[float, float], most: tuple[float, float], lowest: float, probit: bool
) -> tuple[float, float] | None:
    """The step that rounds advance by, from the smallest and largest gain and shift; None if a heap is the better way.

    A narrow window makes vertices wait for many rounds, a wide one lets their keys fall after they were worked on: with
    the geometric mean of the shortest and the longest step, that happens 2√R + 2 times at most for R of one in the
    other (docs/proofs/rounds.md). How long vertices wait is known only when they do.
    """
    shortest, longest = math.log(least[0]), math.log(most[0])
    if shortest * SPREAD < longest:
        return None
    gain = least[0] if shortest == longest else math.exp(math.sqrt(shortest * longest))
    # next to 0 it is δ that makes steps long
    key, farthest = lowest, propagation.step(lowest, *most, probit)
    for _ in range(_WAIT):
        if key >= farthest or farthest == math.inf:
            return gain, least[1]
        key = propagation.step(key, gain, least[1], probit)
    return None


def _in_waves(sources: Sources, gain: float) -> tuple[NDArray[np.int32], NDArray[np.uint8], Floats, Floats]:
    """The same sources in the order of their starts, lower bounds of their keys, and the starts.

    If the window is wide enough, keys that agree in the exponent and 4 bits more share a start, and stay in the order
    of the graph: that sorts faster, and memory is read from front to back.
    """
    vertices, colors, keys = sources
    if gain < 1 + 2**-4:
        order = np.argsort(keys)
        return vertices[order], colors[order], keys[order], keys[order]
    leading = keys.view(np.int64) >> 48
    order = np.argsort(leading.astype(np.uint16), kind="stable")
    return vertices[order], colors[order], keys[order], (leading[order] << 48).view(np.float64)


def refuse_missed_edge(graph: DatasetGraph, entry: int) -> None:
    """Raise for an edge whose ends differ in colour and are both free."""
    u = graph.vertices[int(np.searchsorted(graph.indptr, entry, side="right")) - 1]
    v = graph.vertices[int(graph.indices[entry])]
    raise ParameterError(f"edge ({u!r}, {v!r}) is not covered: fix {u!r} or {v!r} (they have different colors)")


def require_two_colors(graph: DatasetGraph) -> None:
    """Refuse graphs that are not a yes/no question, and what is not a graph that was built."""
    require_built(graph)
    if graph.coloring.has_orders:
        raise ParameterError("this graph has orders of preference: use tinct.rainbow, or color it with single answers")
    if len(graph.outputs) > 2:
        raise ParameterError(
            f"two colors are needed, this graph has {len(graph.outputs)}: {graph.outputs!r:.80}; tinct.rainbow designs "
            "for more: best(…, 'truth'), or extend with orders of preference as colors"
        )


def given_rows(graph: DatasetGraph, fixed: FixedLike) -> tuple[NDArray[np.int32], Floats]:
    """The positions of the fixed vertices, sorted, and both probabilities of each."""
    if callable(fixed):
        raise ParameterError("a function of fixed values needs at=vertex; for the whole graph give a mapping")
    if isinstance(fixed, Mapping):
        rows = {
            graph.position(vertex): require_answers(graph, vertex, fixed_row(vertex, value))
            for vertex, value in fixed.items()
        }
        chosen = np.array(sorted(rows), np.int32)
        return chosen, np.array([rows[at] for at in chosen.tolist()], np.float64).reshape(-1, 2)
    chosen, first = fixed_entries(graph, fixed)
    return chosen, np.column_stack([first, 1.0 - first])


def improve(graph: DatasetGraph, privacy: PrivacyLike, mechanism: Mechanism | ArrayLike) -> Mechanism:
    """A private mechanism at least as truthful at every vertex as the private one given (docs/theory.md §3).

    The values on a smallest boundary-hitting set are kept and extended optimally.

    >>> from tinct import Privacy, baselines, graphs
    >>> graph, privacy = graphs.line(3, 3), Privacy("ln 2")
    >>> improve(graph, privacy, baselines.randomized_response(graph, privacy)).truth().round(3)
    array([0.917, 0.833, 0.667, 0.667, 0.833, 0.917])
    """
    require_two_colors(graph)
    table = mechanism.table_on(graph) if isinstance(mechanism, Mechanism) else require_table(graph, mechanism)
    verdict = verify(table, graph, privacy)
    if not verdict.private:
        raise NotPrivate(f"the mechanism to improve is not private: {verdict.witness}", verdict.witness)
    if len(graph.outputs) < 2:
        return Mechanism(graph, np.ones((len(graph), 1)), privacy)
    kept = np.sort(np.array([graph.position(vertex) for vertex in smallest_hitting_set(graph)], np.int32))
    return extend_rows(graph, privacy, Budget(graph, privacy), kept, table[kept])


# the extension for any suitable pairs, even a mixture: repeat the one-edge bounds until nothing changes.
#
# Slower than the kernels, but it needs nothing of U except its values. Used for f-DP and for graphs on which different
# notions of privacy meet


def relax(graph: DatasetGraph, budget: Budget, chosen: NDArray[np.int32], given: Floats, tolerance: float) -> Floats:
    """Both columns of the extension's table, from the rows of the fixed vertices."""
    fixed = np.zeros(len(graph), bool)
    fixed[chosen] = True
    require_hitting(graph, fixed)
    codes, rows = graph.coloring.codes, np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    table = np.zeros((len(graph), 2))
    table[chosen] = given
    table[~fixed, codes[~fixed]] = 1.0
    entries = np.flatnonzero(~fixed[rows])  # from a neighbour to a free vertex
    while len(entries):
        bounds = one_step(budget, table[graph.indices[entries], codes[rows[entries]]], entries)
        best = table[np.arange(len(graph)), codes].copy()
        np.minimum.at(best, rows[entries], bounds)
        if np.array_equal(best[~fixed], table[~fixed, codes[~fixed]]):
            break
        table[~fixed, codes[~fixed]] = best[~fixed]
        table[~fixed, 1 - codes[~fixed]] = 1.0 - best[~fixed]
    touching = np.flatnonzero(fixed[rows])
    color = np.where(fixed[graph.indices[touching]], 0, codes[graph.indices[touching]])
    bounds = one_step(budget, table[graph.indices[touching], color], touching)
    excess = table[rows[touching], color] - bounds
    if len(touching) and excess.max() > tolerance:
        worst = int(np.argmax(excess))
        entry = int(touching[worst])
        raise not_extendable(graph, budget, table, chosen, int(rows[entry]), entry, int(color[worst]))
    return np.ascontiguousarray(table[:, : len(graph.outputs)])


def one_step(budget: Budget, values: Floats, entries: NDArray[np.int64]) -> Floats:
    """U of every entry applied to its value."""
    if budget.layout != CLASSES:
        return np.asarray(budget.pairs[0].upper(values))
    result = np.empty(len(values))
    for number, pair in enumerate(budget.pairs):
        mine = budget.classes[entries] == number
        result[mine] = pair.upper(values[mine])
    return result


# between probabilities and the keys that the propagation kernels order them by


def to_keys(p: Floats, q: Floats, coordinate: str) -> Floats:
    """Keys of probabilities p whose complements are q."""
    if coordinate == "probit":
        return np.exp(probit(p, q))
    return _quotient(p, q)


def _quotient(above: Floats | float, below: Floats) -> Floats:
    """A quotient that is infinite only where its denominator is 0."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(below > 0, np.minimum(above / below, HIGHEST), np.inf)


def other_color(keys: Floats) -> Floats:
    """Keys of the complements."""
    return _quotient(1.0, keys)


def from_keys(keys: Floats, coordinate: str) -> tuple[Floats, Floats]:
    """Probabilities and their complements, each with its own relative precision."""
    if coordinate == "probit":
        from scipy.special import ndtr

        with np.errstate(divide="ignore"):
            position = np.log(keys)
        return ndtr(position), ndtr(-position)
    q = 1.0 / (1.0 + keys)
    with np.errstate(invalid="ignore"):
        p = np.where(np.isinf(keys), 1.0, keys * q)
    return p, q
