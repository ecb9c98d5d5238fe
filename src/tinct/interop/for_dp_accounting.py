"""Mechanisms for dp_accounting: the privacy-loss distribution of a table, or an event for its accountants."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.exact import Certified
from tinct.interop.group_privacy import Promise
from tinct.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Point = tuple[int, int]
    Row = tuple[int, ...]


_ON_A_CELL = 1e-9  # of an interval: how near a loss must be to a multiple of it to be taken for one
_LEAST_INTERVAL, _LARGEST_INTERVAL = 1e-9, 1.0
_LOWEST = -750.0  # outcomes with less than this have next to no probability; they may only be counted as worse


def privacy_loss(mechanism: Certified | Mechanism, *, interval: float = 1e-4) -> Any:
    """The privacy-loss distribution of a mechanism, for dp_accounting to compose with others.

    It covers all edges of the mechanism's graph in both directions and is as tight as the table: at multiples of
    ``interval`` its δ(ε) is the largest of any edge. In between it errs on the safe side. What it knows as
    neighbours are the neighbours of the graph: compose it only with mechanisms for the same neighbours.

    Args:
        mechanism: A Certified, or a Mechanism in floats.
        interval: Privacy losses are spread to multiples of it (dp_accounting composes only equal intervals).

    Returns:
        A ``dp_accounting.pld.PrivacyLossDistribution``. Like everything in dp_accounting it is made of floats: losses
        within 10^−9 of an interval from a multiple are taken to be one.

    >>> from tinct import Privacy, exact
    >>> loss = privacy_loss(exact.line(Privacy("0.5")))
    >>> round(loss.get_epsilon_for_delta(0), 4), round(loss.self_compose(100).get_epsilon_for_delta(1e-6), 2)
    (0.5, 33.32)
    """
    if isinstance(interval, bool) or not isinstance(interval, int | float):
        raise ParameterError.of("interval", "a number", interval)
    if not _LEAST_INTERVAL <= interval <= _LARGEST_INTERVAL:
        raise ParameterError(f"interval must be a number in [{_LEAST_INTERVAL:g}, {_LARGEST_INTERVAL:g}]")
    losses = dominating_pair(mechanism).losses()
    _require_accounting()
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    finite = [(max(loss, _LOWEST), share) for loss, share in losses if loss < math.inf]
    infinite = math.fsum(share for loss, share in losses if loss == math.inf)
    above = math.nextafter(infinite, 1.0) if infinite else 0.0
    return PrivacyLossDistribution(pld_pmf.create_pmf(_spread(finite, float(interval)), interval, above, True))


def privacy_event(certified: Certified) -> Any:
    """An event for dp_accounting's accountants that is at least as revealing as one release.

    Every mechanism with δ = 0 is at most as revealing as the geometric mechanism for a count with the same ε, and one
    with a balanced boundary edge exactly as much, so that is the event. (Randomized response would be too, but
    dp_accounting up to 0.6.0 counts it once however often it is composed.) The accountant's neighbour relation
    must mean the certificate's neighbours. There is no event for δ > 0: use ``privacy_loss``.

    >>> from tinct import Privacy, exact
    >>> privacy_event(exact.line(Privacy("1/2")))
    DiscreteLaplaceDpEvent(noise_parameter=0.5, sensitivity=1)
    """
    if not isinstance(certified, Certified):
        raise ParameterError(f"a Certified is needed (tinct.exact makes them), got {certified!r:.80}")
    promise = Promise.of(certified.terms)
    if promise.delta > 0:
        raise ParameterError("dp_accounting has no event for delta > 0: compose privacy_loss(certified) instead")
    _require_accounting()
    from dp_accounting.dp_event import DiscreteLaplaceDpEvent, NoOpDpEvent

    if promise.epsilon == 0:  # a parameter of 0 means no noise to them
        return NoOpDpEvent()
    return DiscreteLaplaceDpEvent(noise_parameter=promise.epsilon, sensitivity=1)


def _spread(losses: Iterable[tuple[float, float]], interval: float) -> dict[int, float]:
    """Each outcome as two, at the multiples around its loss, with the same probability under both distributions.

    Whoever confuses the two has the outcome back, so the result is at least as revealing ("connect the dots").
    """
    cells: dict[int, float] = defaultdict(float)
    for loss, share in losses:
        cell = loss / interval
        if abs(cell - round(cell)) <= _ON_A_CELL:
            cells[round(cell)] += share
            continue
        low = math.floor(cell)
        # m0 + m1 = share and m0·e^−x0 + m1·e^−x1 = share·e^−loss, for cells x0 < loss < x1
        upper = share * math.expm1(low * interval - loss) / math.expm1(-interval)
        cells[low + 1] += upper
        cells[low] += share - upper
    return dict(cells)


def _require_accounting() -> None:
    try:
        import dp_accounting  # noqa: F401
        from dp_accounting.dp_event import DiscreteLaplaceDpEvent  # noqa: F401 # new in 0.5
    except ImportError:
        raise ParameterError("dp-accounting 0.5 or later is not installed: pip install 'tinct[accounting]'") from None


# the worst of all pairs of neighbours, as one pair of distributions: what privacy accountants compose.
#
# For an event S and neighbours u, v, the point (Pr[M(v) ∈ S], Pr[M(u) ∈ S]) says how well a test tells them apart.
# The upper hull of these points over all edges in both directions is again the curve of a pair of distributions: its
# segments are the outcomes, each with its probability on both sides. That pair is at least as easy to tell apart as
# any two neighbours, for every test, and no easier than needed: its δ(ε) is the largest of any edge, for every ε
# (docs/theory.md §1; Zhu, Dong and Wang 2022, for why such a pair may be composed). All of it is done in integers


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
