"""A certificate for a table of any notion of privacy: at an ε that is chosen, with the least δ that its units have."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import NotPrivate
from tinct.exact.certified import Certified
from tinct.exact.grid import GridPair
from tinct.exact.grid_graph import terms_of
from tinct.exact.proof import BrokenEdge
from tinct.exact.repair import rounded
from tinct.privacy import Privacy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.numbers.amounts import AmountLike

_DIGITS = 12  # of δ, rounded up: what people read


def certified_at(
    graph: DatasetGraph,
    table: NDArray[np.float64],
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
    units = np.array(rows, np.int64 if total <= 2**62 else object)
    moved = float(max((abs(Fraction(n, total) - Fraction(p)) for n, p in _entries(rows, table)), default=0))
    return Certified(
        graph.vertices, graph.outputs, units, total, graph.ends, np.zeros(len(graph.ends), np.int32),
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


def _entries(rows: list[list[int]], table: NDArray[np.float64]) -> list[tuple[int, float]]:
    return [pair for row, given in zip(rows, table.tolist(), strict=True) for pair in zip(row, given, strict=True)]
