"""rainbow.extend: the mechanism that dominates all others, for any number of answers (docs/theory.md §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import prefixes
from tinct._kernels.propagation import DENSE, UNIFORM
from tinct.binary._extend import refuse_missed_edge
from tinct.binary.keys import from_keys, to_keys
from tinct.binary.relaxation import one_step
from tinct.errors import NoOptimum, NotExtendable, ParameterError
from tinct.graphs import Budget, DatasetGraph, Morphism
from tinct.linear_programs import PrivateTables
from tinct.mechanism import Mechanism
from tinct.mechanism._verify import TOLERANCE, verify
from tinct.privacy import Privacy, SuitablePair
from tinct.rainbow.boundary_rows import at_distance, distribution, from_prefixes, orders_as_columns, require_rainbow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]

_SMALL_PROGRAM = 3_000  # entries of a table up to which feasibility is decided on the way


def extend(graph: DatasetGraph, privacy: PrivacyLike, boundary: Mapping[Any, Any]) -> Mechanism:
    """The private mechanism whose every prefix sum at every vertex is at least that of any other.

    Args:
        graph: A graph whose colours are orders of preference over the answers (or two plain colours).
        privacy: One suitable pair for all edges, or one for each edge.
        boundary: ``{order: distribution}``, the same for all boundary vertices of an order; or
            ``{vertex: distribution}`` for a set of vertices that meets every edge between different orders. Keys that
            are all orders are taken for orders, even if vertices have the same names.
            A distribution is a list in the order of ``graph.outputs`` or ``{answer: probability}``.

    Raises:
        NotExtendable: Two boundary rows are not close enough, or an event bound contradicts a fixed row.
        NoOptimum: The envelope of all bounds is not private, so it is not a mechanism. There may be an optimum below
            it, none, or (on large graphs, where that is not looked into) no private mechanism at all:
            ``optimum_exists`` decides on small graphs, ``best`` maximises a stated utility.

    >>> from tinct import DatasetGraph, Privacy
    >>> path = DatasetGraph([(1, 2), (2, 3)], {1: ("a", "b", "c"), 2: ("a", "b", "c"), 3: ("b", "a", "c")})
    >>> rows = {("a", "b", "c"): [0.5, 0.3, 0.2], ("b", "a", "c"): [0.3, 0.5, 0.2]}
    >>> extend(path, Privacy("ln 2"), rows).row(1)
    array([0.75, 0.15, 0.1 ])
    """
    require_rainbow(graph)
    if not isinstance(boundary, Mapping) or not boundary:
        raise ParameterError("boundary must be a mapping {order: distribution} or {vertex: distribution}")
    budget = Budget(graph, privacy)
    palette = graph.coloring.palette
    if all(key in palette for key in boundary):
        return _homogeneous(graph, privacy, budget, _rows_by_order(graph, boundary))
    rows = np.full((len(graph), len(graph.outputs)), np.nan)
    for vertex, given in boundary.items():
        rows[graph.position(vertex)] = distribution(given, graph.outputs, f"the row of {vertex!r}")
    return _envelope(graph, privacy, budget, rows)


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
    distance, codes = graph.boundary_distance(), graph.coloring.codes
    return {order: int(distance[codes == code].max(initial=-1)) for code, order in enumerate(graph.coloring.palette)}


def _rows_by_order(graph: DatasetGraph, boundary: Mapping[Any, Any]) -> Floats:
    occurring = set(np.unique(graph.coloring.codes).tolist())
    rows = np.full((len(graph.coloring.palette), len(graph.outputs)), np.nan)
    for code, order in enumerate(graph.coloring.palette):
        if order in boundary:
            rows[code] = distribution(boundary[order], graph.outputs, f"the row of order {order!r}")
        elif code in occurring:
            raise ParameterError(f"no boundary row is given for order {order!r}")
    return rows


def _homogeneous(graph: DatasetGraph, privacy: PrivacyLike, budget: Budget, rows: Floats) -> Mechanism:
    """One row for each order: closed form by distance, if the privacy is the same everywhere."""
    distance, codes = graph.boundary_distance(), graph.coloring.codes
    if budget.layout != UNIFORM:
        fixed = np.where((distance == 0)[:, None], rows[codes], np.nan)
        return _envelope(graph, privacy, budget, fixed)
    _require_close(graph, budget.pairs[0], rows)
    table = np.empty((len(graph), len(graph.outputs)))
    columns = orders_as_columns(graph)
    for code in np.unique(codes).tolist():
        mine = np.flatnonzero(codes == code)
        steps = np.arange(int(distance[mine].max()) + 1) if (distance[mine] >= 0).any() else np.arange(1)
        lines = np.empty((len(steps) + 1, len(graph.outputs)))
        lines[:-1, columns[code]] = at_distance(budget.pairs[0], rows[code, columns[code]], steps)
        lines[-1] = 0.0  # for distance −1: a piece of one order is answered with its best answer
        lines[-1, columns[code, 0]] = 1.0
        table[mine] = lines[distance[mine]]
    return Mechanism.trusted(graph, table, privacy)


def _require_close(graph: DatasetGraph, privacy: SuitablePair, rows: Floats) -> None:
    """Boundary rows of orders that meet must be close: checked once for each pair of orders."""
    ends, codes, palette = graph.boundary().ends, graph.coloring.codes, graph.coloring.palette
    meeting, first = np.unique(np.sort(codes[ends], axis=1), axis=0, return_index=True)
    if not len(meeting):
        return
    orders = np.unique(meeting)
    neighbors = DatasetGraph(
        [(palette[a], palette[b]) for a, b in meeting.tolist()],
        {palette[code]: palette[code] for code in orders.tolist()},
        outputs=graph.outputs,
        disconnected=True,
    )
    verdict = verify(rows[orders], neighbors, privacy)
    if verdict.private or verdict.witness is None:
        return
    one, other = verdict.witness.edge
    pair = sorted((palette.index(one), palette.index(other)))
    u, v = (graph.vertices[end] for end in ends[first[meeting.tolist().index(pair)]].tolist())
    edge = DatasetGraph([(one, other)], {one: one, other: other}, outputs=graph.outputs)
    needed = verify(rows[[palette.index(one), palette.index(other)]], edge, privacy)
    raise NotExtendable(
        f"no private mechanism: the rows of {one!r} and {other!r} are not close, although these orders meet on edge "
        f"({u!r}, {v!r}); they would need ε = {needed.epsilon:.6g} or δ = {needed.delta:.6g}",
        verdict.witness,
    )


def envelope(graph: DatasetGraph, budget: Budget, rows: Floats) -> Floats:
    """The table whose prefix sums are the smallest bounds that the fixed rows (NaN where free) put on them."""
    fixed = ~np.isnan(rows[:, 0])
    if budget.coordinate is None:
        raise ParameterError("orders of preference need one notion of privacy, (ε, δ) or Gaussian, on all edges")
    scale, columns = budget.coordinate, orders_as_columns(graph)
    orders = graph.coloring.codes.astype(np.int32)
    ordered = rows[fixed][:, columns]  # fixed vertex × order × place
    reached = np.minimum(np.cumsum(ordered, axis=2)[:, :, :-1], 1.0)
    missed = np.minimum(np.cumsum(ordered[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:], 1.0)
    keys = np.full((len(graph), len(graph.outputs) - 1), np.inf)
    gains, shifts = budget.parameters
    rounds = prefixes.prefix_bounds(
        graph.indptr, graph.indices, orders, fixed, to_keys(reached, missed, scale), keys,
        budget.layout, budget.classes.astype(np.int32), gains, shifts, scale == "probit",
    )  # fmt: skip
    if rounds < 0:
        refuse_missed_edge(graph, -1 - rounds)
    table = np.empty_like(rows)
    if scale == "odds":
        prefixes.rows_from_odds(keys, columns, orders, table)
    else:
        np.put_along_axis(table, columns[orders], from_prefixes(*from_keys(keys, scale)), axis=1)
    table[fixed] = rows[fixed]
    return table


def _contradicted(graph: DatasetGraph, budget: Budget, rows: Floats, table: Floats) -> bool:
    """Whether the bound on an event next to a fixed vertex is too small for that vertex's own row."""
    if budget.layout == DENSE:
        return False  # left to the linear program
    fixed, codes, columns = ~np.isnan(rows[:, 0]), graph.coloring.codes, orders_as_columns(graph)
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    entries = np.flatnonzero(fixed[owner] & ~fixed[graph.indices])
    order = columns[codes[graph.indices[entries]]]
    mine, theirs = (
        np.minimum(np.cumsum(np.take_along_axis(table[at], order, 1), axis=1), 1.0)
        for at in (owner[entries], graph.indices[entries])
    )
    return any(
        bool((mine[:, k] > one_step(budget, theirs[:, k], entries) + TOLERANCE).any()) for k in range(mine.shape[1] - 1)
    )


def _surely_infeasible(graph: DatasetGraph, privacy: PrivacyLike, budget: Budget, rows: Floats) -> bool:
    """On small graphs a linear program tells whether any private mechanism has these rows."""
    if rows.size > _SMALL_PROGRAM or not all(isinstance(pair, Privacy) for pair in budget.pairs):
        return False
    try:
        return PrivateTables(graph, privacy, rows).maximize(np.zeros(rows.shape)) is None
    except ParameterError:  # ε is too large for a linear program, or the solver gave up: not sure, then
        return False


def _envelope(graph: DatasetGraph, privacy: PrivacyLike, budget: Budget, rows: Floats) -> Mechanism:
    table = envelope(graph, budget, rows)
    verdict = verify(table, graph, privacy)
    if not verdict.private:
        witness = verdict.witness
        if witness is not None and all(not np.isnan(rows[graph.position(end), 0]) for end in witness.edge):
            raise NotExtendable(f"no private mechanism: the fixed rows are not close: {witness}", witness)
        if _contradicted(graph, budget, rows, table) or _surely_infeasible(graph, privacy, budget, rows):
            raise NotExtendable(f"no private mechanism has these rows: {witness}", witness)
        raise NoOptimum(
            f"the envelope of all bounds is not private: {witness}; optimum_exists() tells whether there is an optimum "
            "below it, best() maximises a stated utility",
            (witness, *(table[graph.position(end)] for end in (witness.edge if witness else ()))),
        )
    return Mechanism.trusted(graph, table, privacy)
