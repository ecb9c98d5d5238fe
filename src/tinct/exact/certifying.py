"""certify: from a mechanism in floats to one in whole units that is proved private."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import NotPrivate, ParameterError
from tinct.exact.case import Case, nearest_units
from tinct.exact.extension import least_units
from tinct.exact.grid import DEFAULT_BITS, units
from tinct.exact.operator import rows_by_distance
from tinct.exact.repair import repaired, rounded
from tinct.mechanism import Mechanism
from tinct.privacy.amounts import rational
from tinct.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.exact.certified import Certified
    from tinct.graphs import DatasetGraph

    Table = NDArray[np.float64]
    Rows = NDArray[Any] | None

_FLOAT_BITS = 48  # a float has 53: a boundary that is balanced to this many is meant to be


def certify(
    mechanism: Mechanism | Any,
    graph: DatasetGraph | None = None,
    privacy: Any = None,
    bits: int = DEFAULT_BITS,
    *,
    total: int | None = None,
    loss: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Certified:
    """Rebuild a mechanism in whole units and prove it private on every edge, in exact arithmetic.

    An optimal mechanism becomes the optimum of the grid: its values on the vertices it was designed from are
    rounded to units and extended again in integers. Any other table is rounded and, if that breaks a ratio, mended.

    Args:
        mechanism: A Mechanism, or a table of probabilities for ``graph``.
        graph: The dataset graph; the mechanism's own if left out.
        privacy: The budgets to keep to; what the mechanism was designed for if left out.
        bits: Each row has 2^bits units.
        total: The units in a row, if not a power of two.
        loss: How far any probability may be moved from the given table; 1e-9 if left out, more on a coarse grid.
        progress: Called now and then with the number of edges proved.

    Raises:
        NotPrivate: No private table was found that close to the given one; ``witness`` has an edge.

    >>> from tinct import Privacy, balanced, graphs
    >>> certified = certify(balanced(graphs.line(2, 2), Privacy("ln 2")))
    >>> certified.guarantee, certified.rows[0][1], 2**62 // 6
    ('ε = ln 2, exactly', 768614336404564651, 768614336404564650)
    """
    graph, privacy, table = _given(mechanism, graph, privacy)
    case = Case.of(graph, privacy, units(bits, total))
    allowed = case.price if loss is None else _allowed(loss)
    fixed = mechanism.fixed if isinstance(mechanism, Mechanism) and graph is mechanism.graph else None
    for attempt in (partial(_optimum, fixed=fixed), _closure, _mended):
        rows = attempt(case, table, loss=allowed)
        if rows is not None and case.within(rows, table, allowed):
            return case.certified(rows, case.distance(rows, table), progress)
    raise _refusal(case, table, privacy, allowed)


def _given(mechanism: Any, graph: Any, privacy: Any) -> tuple[DatasetGraph, Any, Table]:
    if isinstance(mechanism, Mechanism):
        graph = mechanism.graph if graph is None else graph
        privacy = mechanism.privacy if privacy is None else privacy
        table = mechanism.table_on(graph)
    elif graph is None:
        raise ParameterError("a bare table needs the graph it is for")
    else:
        table = Mechanism(graph, mechanism).table
    if privacy is None:
        raise ParameterError("this mechanism was not designed for a budget: say which privacy to certify")
    return graph, privacy, table


def _allowed(loss: Any) -> Fraction:
    allowed = rational(loss, "loss")
    if not 0 <= allowed <= 1:
        raise ParameterError(f"loss must be a number in [0, 1], got {loss!s:.80}")
    return allowed


def _optimum(case: Case, table: Table, *, loss: Fraction, fixed: NDArray[Any] | None) -> Rows:
    """The grid optimum with the given values on the fixed vertices, or on the boundary if it is not known which."""
    graph = case.graph
    if len(graph.outputs) == 1:
        return np.full((len(graph), 1), case.total, case.dtype)
    if graph.coloring.has_orders:
        return _by_order(case, table, loss)
    if len(graph.outputs) > 2:
        return None
    boundary = np.unique(graph.boundary().ends)
    sources = boundary if fixed is None else fixed
    given = _first_units(table[sources], case.total)
    if len(boundary) and np.array_equal(np.sort(sources), boundary):
        best = case.balanced(sources)
        if all(abs(one - other) << _FLOAT_BITS <= case.total for one, other in zip(given, best, strict=True)):
            given = best
    return case.extended(sources, given)


def _closure(case: Case, table: Table, *, loss: Fraction) -> Rows:  # noqa: ARG001 # one signature for all attempts
    """The largest private table below the rounded one: every vertex is a source."""
    if len(case.graph.outputs) != 2:
        return None
    first = np.array(_first_units(table, case.total), case.dtype)
    return case.both(least_units(case.graph, case.pairs, case.classes, first, case.total))


def _mended(case: Case, table: Table, *, loss: Fraction) -> Rows:
    try:
        rows = repaired(rounded(table.tolist(), case.total), case.total, case.edges(), case.terms, loss)
    except NotPrivate:
        return None
    return np.array(rows, case.dtype)


def _by_order(case: Case, table: Table, loss: Fraction) -> Rows:
    """Rows by order and distance, if one budget holds everywhere and each order has one boundary row."""
    graph = case.graph
    if len(case.pairs) != 1:
        return None
    codes, distance, palette = graph.coloring.codes, graph.boundary_distance(), graph.coloring.palette
    present = np.unique(codes).tolist()
    nearness = np.where(distance < 0, 1, np.where(distance == 0, 2, 0))  # a piece without boundary is the last resort
    heads = [int(np.argmax((codes == code) * nearness)) for code in present]
    number = {code: at for at, code in enumerate(present)}
    meeting = {(number[a], number[b], 0) for a, b in np.unique(codes[graph.boundary().ends], axis=0).tolist()}
    try:
        rows = repaired(rounded(table[heads].tolist(), case.total), case.total, [*meeting], case.terms, loss)
    except NotPrivate:
        return None
    found = np.empty((len(graph), len(graph.outputs)), case.dtype)
    for code, row in zip(present, rows, strict=True):
        columns = [graph.outputs.index(answer) for answer in palette[code]]
        mine = np.flatnonzero(codes == code)
        deep = rows_by_distance(case.pairs[0], [row[at] for at in columns], int(distance[mine].max(initial=0)))
        certain = [case.total] + [0] * (len(columns) - 1)  # comes last, for distance −1: no boundary at all
        ordered = np.empty((len(deep) + 1, len(columns)), case.dtype)
        ordered[:, columns] = np.array([*deep, certain], case.dtype)
        found[mine] = ordered[distance[mine]]
    return found


def _first_units(table: Table, total: int) -> list[int]:
    """The rows of a two-colour table in units of the first colour; the smaller of two floats has the digits."""
    return [
        nearest_units(Fraction(first) if first <= second else 1 - Fraction(second), total)
        for first, second in table.tolist()
    ]


def _refusal(case: Case, table: Table, privacy: Any, loss: Fraction) -> NotPrivate:
    verdict = verify(table, case.graph, privacy)
    if verdict.private:
        return NotPrivate(
            f"no private table of {case.total:,} units a row was found within {float(loss):g} of this one: "
            "use more bits, or allow a larger loss",
            verdict.witness,
        )
    return NotPrivate(
        f"the table is not private, and no private one was found within {float(loss):g} of it: {verdict.witness}",
        verdict.witness,
    )
