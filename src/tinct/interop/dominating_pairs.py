"""The worst of all pairs of neighbours, as one pair of distributions: what privacy accountants compose.

For an event S and neighbours u, v, the point (Pr[M(v) ∈ S], Pr[M(u) ∈ S]) says how well a test tells them apart.
The upper hull of these points over all edges in both directions is again the curve of a pair of distributions: its
segments are the outcomes, each with its probability on both sides. That pair is at least as easy to tell apart as
any two neighbours, for every test, and no easier than needed: its δ(ε) is the largest of any edge, for every ε
(docs/theory.md §1; Zhu, Dong and Wang 2022, for why such a pair may be composed). All of it is done in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.exact import Certified
from tinct.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Point = tuple[int, int]
    Row = tuple[int, ...]

_FINEST = 1074  # every double is a whole number of 2^−1074


@dataclass(frozen=True)
class DominatingPair:
    """Two distributions over the same outcomes, in whole units, the likeliest under ``upper`` first.

    Attributes:
        upper: The units of each outcome under the first distribution; none is 0.
        lower: The same under the second; only the first outcome may have 0, an infinite privacy loss.
        total: The units of a whole distribution. ``lower`` may sum to less: what is missing never happens under
            ``upper``.
    """

    upper: tuple[int, ...]
    lower: tuple[int, ...]
    total: int

    def delta(self, growth: Fraction | int) -> Fraction:
        """The least δ, exactly, for e^ε = ``growth``.

        >>> from tinct import Privacy, exact
        >>> pair = dominating_pair(exact.line(Privacy("ln 3"), bits=16))
        >>> pair.delta(3), pair.delta(1)
        (Fraction(0, 1), Fraction(1, 2))
        """
        above = (mine - growth * theirs for mine, theirs in zip(self.upper, self.lower, strict=True))
        return Fraction(sum(each for each in above if each > 0)) / self.total

    def losses(self) -> list[tuple[float, float]]:
        """The privacy loss of every outcome, and its probability under ``upper``; infinite ones first."""
        pairs = zip(self.upper, self.lower, strict=True)
        return [(_loss(mine, theirs), float(Fraction(mine, self.total))) for mine, theirs in pairs]


def dominating_pair(mechanism: Certified | Mechanism) -> DominatingPair:
    """The pair of distributions that dominates all neighbours of a mechanism, and no more than that.

    For a Certified it follows from its units and is exact. For a Mechanism in floats, each row's largest entry is taken
    to be what the others leave.

    >>> from tinct import Privacy, balanced, graphs
    >>> [round(loss, 6) for loss, _ in dominating_pair(balanced(graphs.line(1, 1), Privacy("ln 3"))).losses()]
    [1.098612, -1.098612]
    """
    if isinstance(mechanism, Certified):
        rows = [tuple(row) for row in mechanism.rows]
        return _of_pairs(((rows[u], rows[v]) for u, v, _ in mechanism.edges()), mechanism.denominator)
    if isinstance(mechanism, Mechanism):
        whole = [_in_units(row) for row in mechanism.table.tolist()]
        return _of_pairs(((whole[u], whole[v]) for u, v in mechanism.graph.ends.tolist()), 1 << _FINEST)
    raise ParameterError(f"a Certified or a Mechanism is needed, got {mechanism!r:.80}")


def _of_pairs(pairs: Iterable[tuple[Row, Row]], total: int) -> DominatingPair:
    points: set[Point] = {(0, 0), (total, total)}
    for here, there in set(pairs):
        for below, above in _tests(here, there):
            points.add((below, above))
            points.add((total - above, total - below))  # the complement, in the other direction
    hull = _upper_hull(points)
    steps = [(b[1] - a[1], b[0] - a[0]) for a, b in zip(((0, 0), *hull), hull, strict=False)]
    kept = [step for step in steps if step[0] > 0]
    return DominatingPair(tuple(mine for mine, _ in kept), tuple(theirs for _, theirs in kept), total)


def _tests(here: Row, there: Row) -> Iterable[Point]:
    """The best tests: sets of the outputs that speak most for ``here``, smallest first."""
    ratios = [(Fraction(mine, theirs) if theirs else math.inf, mine, theirs) for mine, theirs in zip(here, there)]  # noqa: B905 # rows of one table
    below = above = 0
    for _, mine, theirs in sorted(ratios, reverse=True):
        below, above = below + theirs, above + mine
        yield below, above


def _upper_hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the concave curve above all points, from left to right."""
    highest: dict[int, int] = {}
    for x, y in points:
        highest[x] = max(y, highest.get(x, 0))
    hull: list[Point] = []
    for x, y in sorted(highest.items()):
        while len(hull) >= 2 and _is_below(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    return hull


def _is_below(first: Point, middle: Point, last: Point) -> bool:
    """Whether the middle point is on or below the line from the first to the last."""
    rise, run = last[1] - first[1], last[0] - first[0]
    return (middle[1] - first[1]) * run <= rise * (middle[0] - first[0])


def _in_units(row: Sequence[float]) -> Row:
    units = [_dyadic(entry) for entry in row]
    largest = units.index(max(units))
    units[largest] += (1 << _FINEST) - sum(units)
    return tuple(units)


def _dyadic(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << _FINEST) // denominator


def _loss(mine: int, theirs: int) -> float:
    """The logarithm of the ratio, with all digits also where the two are nearly equal."""
    if theirs == 0:
        return math.inf
    try:
        if mine >= theirs:
            return math.log1p(float(Fraction(mine - theirs, theirs)))
        return -math.log1p(float(Fraction(theirs - mine, mine)))
    except OverflowError:  # a ratio beyond 10^308
        return math.inf if mine > theirs else -math.inf
