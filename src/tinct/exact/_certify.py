"""certify: from a mechanism in floats to one in whole units that is proved private."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import NotPrivate, Parameter, ParameterError
from tinct.exact.certified import Certified
from tinct.exact.grid import (
    DEFAULT_BITS,
    GridGraph,
    GridPair,
    least_units,
    nearest_units,
    rows_by_distance,
    terms_of,
    units,
)
from tinct.exact.proof import BrokenEdge, prove
from tinct.graphs import Budget
from tinct.mechanism import Mechanism, verify
from tinct.numbers.amounts import rational
from tinct.privacy import Privacy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from tinct.exact.proof import Terms
    from tinct.graphs import DatasetGraph
    from tinct.graphs.budgets import PrivacyLike
    from tinct.numbers.amounts import AmountLike, NumberLike

    Table = NDArray[np.float64]
    Rows = NDArray[Any] | None
    Units = list[list[int]]


_DIGITS = 12  # of a δ that is found, rounded up: what people read
_FLOAT_BITS = 48  # a float has 53: a boundary that is balanced to this many is meant to be


def certify(
    mechanism: Mechanism | Any,
    graph: DatasetGraph | None = None,
    privacy: PrivacyLike | None = None,
    bits: int = DEFAULT_BITS,
    *,
    total: int | None = None,
    loss: NumberLike | None = None,
    at_epsilon: AmountLike | None = None,
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
        at_epsilon: Certify the table under this ε, with the least δ that its units need for it. For mechanisms of
            other notions of privacy, such as ``GaussianDP``, whose bounds are no rational numbers: the table is first
            verified against ``privacy`` in floats, and what the certificate states and proves is (ε, δ).
        progress: Called now and then with the number of edges proved.

    Raises:
        NotPrivate: No private table was found that close to the given one; ``witness`` has an edge.

    >>> from tinct import Privacy, balanced, graphs
    >>> certified = certify(balanced(graphs.line(2, 2), Privacy("ln 2")))
    >>> certified.guarantee, certified.rows[0][1], 2**62 // 6
    ('ε = ln 2, exactly', 768614336404564651, 768614336404564650)
    >>> from tinct import GaussianDP
    >>> certify(balanced(graphs.line(2, 2), GaussianDP(1)), at_epsilon=1).guarantee
    'ε = 1, δ = 0.126936737507, exactly'
    """
    graph, privacy, table = _given(mechanism, graph, privacy, stated=at_epsilon is not None)
    if at_epsilon is not None:
        return _at_epsilon(graph, privacy, table, at_epsilon, units(bits, total), loss, progress)
    _require_differential(graph, privacy)
    case = GridGraph.of(graph, privacy, units(bits, total))
    allowed = case.price if loss is None else _allowed(loss)
    fixed = mechanism.fixed if isinstance(mechanism, Mechanism) and graph is mechanism.graph else None
    for attempt in (partial(_optimum, fixed=fixed), _closure, _mended):
        rows = attempt(case, table, loss=allowed)
        if rows is not None and case.within(rows, table, allowed):
            return case.certified(rows, case.distance(rows, table), progress)
    raise _refusal(case, table, privacy, allowed)


def _at_epsilon(
    graph: DatasetGraph,
    privacy: PrivacyLike | None,
    table: Table,
    epsilon: AmountLike,
    total: int,
    loss: NumberLike | None,
    progress: Callable[[int], None] | None,
) -> Certified:
    if privacy is not None:
        verdict = verify(table, graph, privacy)
        if not verdict.private:
            raise NotPrivate(f"the table is not private: {verdict.witness}", verdict.witness)
    found = _certified_at(graph, table, epsilon, total, progress)
    if loss is not None and found.loss > _allowed(loss):
        raise NotPrivate(
            f"rounding to {total:,} units moves a probability by {found.loss:.3g}: use more bits, or allow a larger "
            "loss",
            None,
        )
    return found


def _certified_at(
    graph: DatasetGraph,
    table: Table,
    epsilon: AmountLike,
    total: int,
    progress: Callable[[int], None] | None = None,
) -> Certified:
    """The table in whole units with one promise for all edges: this ε, and the least δ that the units need for it.

    Raises:
        NotPrivate: Some edge needs δ = 1.
    """
    rows = rounded(table.tolist(), total)
    growth = GridPair.of(Privacy(epsilon), total).growth
    excess, edge = _largest_excess(rows, graph.ends.tolist(), growth)
    delta = _rounded_up(Fraction(ceil(excess), total))
    if delta >= 1:
        names = graph.vertices[edge[0]], graph.vertices[edge[1]]
        raise NotPrivate(
            f"no δ below 1 is enough at ε = {Privacy(epsilon).exact_epsilon} on edge {names!r:.120}",
            BrokenEdge(names, excess, total),
        )
    promise = Privacy(epsilon, delta)
    whole = np.array(rows, np.int64 if total <= 2**62 else object)
    moved = float(max((abs(Fraction(n, total) - Fraction(p)) for n, p in _entries(rows, table)), default=0))
    return Certified(
        graph.vertices, graph.outputs, whole, total, graph.ends, np.zeros(len(graph.ends), np.int32),
        terms_of([promise], [GridPair.of(promise, total)]), loss=moved,
        pieces=int(graph.components().max(initial=0)) + 1, progress=progress,
    )  # fmt: skip


def _largest_excess(
    rows: list[list[int]], edges: list[list[int]], growth: Fraction
) -> tuple[Fraction, tuple[int, int]]:
    """The largest Σ max(0, n[u] − R·n[v]) of all edges in both directions, and where it is."""
    up, down = growth.numerator, growth.denominator
    worst, where = 0, (0, 0)
    for u, v in edges:
        for one, other in ((u, v), (v, u)):
            over = sum(max(0, down * a - up * b) for a, b in zip(rows[one], rows[other], strict=True))
            if over > worst:
                worst, where = over, (one, other)
    return Fraction(worst, down), where


def _rounded_up(value: Fraction) -> Fraction:
    """The least decimal of twelve significant digits that is not below."""
    if value == 0:
        return value
    scale = Fraction(1)
    while value * scale < 10 ** (_DIGITS - 1):
        scale *= 10
    return ceil(value * scale) / scale


def _entries(rows: list[list[int]], table: Table) -> list[tuple[int, float]]:
    return [pair for row, given in zip(rows, table.tolist(), strict=True) for pair in zip(row, given, strict=True)]


def _require_differential(graph: DatasetGraph, privacy: PrivacyLike) -> None:
    """Refuse early what no exact table is made for, and say what can be had instead."""
    other = next((pair for pair in Budget(graph, privacy).pairs if not isinstance(pair, Privacy)), None)
    if other is not None:
        raise ParameterError(
            f"exact tables are for (ε, δ)-differential privacy, got {other!r:.80}: say ", Parameter("at_epsilon", 1),
            ", or another, to certify this table under that ε with the least δ that it has there",
            parameter="at_epsilon",
        )  # fmt: skip


def _given(
    mechanism: Mechanism | ArrayLike, graph: DatasetGraph | None, privacy: PrivacyLike | None, *, stated: bool
) -> tuple[DatasetGraph, Any, Table]:
    if isinstance(mechanism, Mechanism):
        graph = mechanism.graph if graph is None else graph
        privacy = mechanism.privacy if privacy is None else privacy
        table = mechanism.table_on(graph)
    elif graph is None:
        raise ParameterError("a bare table needs the graph it is for")
    else:
        table = Mechanism(graph, mechanism).table
    if privacy is None and not stated:
        raise ParameterError("this mechanism was not designed for a budget: say which privacy to certify")
    return graph, privacy, table


def _allowed(loss: NumberLike) -> Fraction:
    allowed = rational(loss, "loss")
    if not 0 <= allowed <= 1:
        raise ParameterError.of("loss", "a number in [0, 1]", loss)
    return allowed


def _optimum(case: GridGraph, table: Table, *, loss: Fraction, fixed: NDArray[Any] | None) -> Rows:
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
        best = case.fair()
        near = [
            abs(one - other) << _FLOAT_BITS <= case.total
            for one, other in zip(given, best[sources, 0].tolist(), strict=True)
        ]
        if all(near):
            return best
    return case.extended(sources, given)


def _closure(case: GridGraph, table: Table, *, loss: Fraction) -> Rows:  # noqa: ARG001 # one signature for all attempts
    """The largest private table below the rounded one: every vertex is a source."""
    if len(case.graph.outputs) != 2:
        return None
    first = np.array(_first_units(table, case.total), case.dtype)
    return case.both(least_units(case.graph, case.pairs, case.classes, first, case.total))


def _mended(case: GridGraph, table: Table, *, loss: Fraction) -> Rows:
    try:
        rows = repaired(rounded(table.tolist(), case.total), case.total, case.edges(), case.terms, loss)
    except NotPrivate:
        return None
    return np.array(rows, case.dtype)


def _by_order(case: GridGraph, table: Table, loss: Fraction) -> Rows:
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


def _refusal(case: GridGraph, table: Table, privacy: PrivacyLike, loss: Fraction) -> NotPrivate:
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


# tables from elsewhere (a linear program's, a baseline's, a user's), rounded to the grid and mended if need be
#
# Rounding breaks ratios. Mixing in the uniform row mends them: c more units for every answer give each inequality (R
# − 1)·c units of room, so a few units make up for rounding, and more for a solver's tolerance. The least sufficient
# amount is searched for, never assumed: the certificate decides.


_FASTER = 4  # how much more is mixed in after each failure


def rounded(table: Iterable[Sequence[float]], total: int) -> Units:
    """Each row in whole units: rounded down, and what is left given to the largest entry, where it weighs least."""
    return [_rounded_row([Fraction(entry) for entry in row], total) for row in table]


def _rounded_row(row: Sequence[Fraction], total: int) -> list[int]:
    whole = sum(row)
    units = [int(entry * total / whole) for entry in row]
    units[max(range(len(row)), key=row.__getitem__)] += total - sum(units)
    return units


def repaired(
    rows: Units, total: int, edges: Sequence[tuple[int, int, int]], terms: Sequence[Terms], loss: Fraction
) -> Units:
    """The rows with the fewest units mixed in that make them private on every edge.

    Raises:
        NotPrivate: Even ``loss``, the probability that may be moved in a row, is not enough.
    """
    least = min((term.growth for term in terms), default=Fraction(2))
    return mended(rows, total, least, loss, lambda tried: prove(tried, total, edges, terms, range(len(rows))))


def mended(rows: Units, total: int, growth: Fraction, loss: Fraction, check: Callable[[Units], Any]) -> Units:
    """The rows with the fewest units mixed in for which ``check`` does not raise NotPrivate; ``growth`` is R."""
    width = len(rows[0])
    limit = int(Fraction(loss) * total) // width
    # two entries rounded by up to `width` units each, against (R − 1)·c
    first = ceil((width + 1) * (growth + 1) / (growth - 1)) if growth > 1 else limit
    mixed = 0
    while True:
        tried = [_mixed_row(row, mixed, total) for row in rows] if mixed else rows
        try:
            check(tried)
        except NotPrivate:
            if mixed >= limit:
                raise
        else:
            return tried
        mixed = min(limit, mixed * _FASTER if mixed else first)


def _mixed_row(row: Sequence[int], mixed: int, total: int) -> list[int]:
    kept = total - len(row) * mixed
    units = [kept * entry // total + mixed for entry in row]
    units[max(range(len(row)), key=row.__getitem__)] += total - sum(units)
    return units
