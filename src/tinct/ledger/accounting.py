"""Costs that are planned: privacy-loss distributions, composed once and before the first answer.

Composing the distributions of costs that were chosen after seeing answers is *not* a valid filter. What is valid is a
plan: a number of charges of each cost, fixed at creation. Questions, their order and an early end
may then depend on every answer (docs/decisions/0011-ledger.md). dp_accounting is needed at creation only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct.errors import Parameter, ParameterError, brief
from tinct.ledger.contents import Planned, Spending, points_json
from tinct.ledger.costs import exact_text
from tinct.numbers.amounts import rational

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tinct.ledger.composition import Vector
    from tinct.ledger.contents import PlanLike, Points
    from tinct.numbers.amounts import AmountLike, NumberLike

_MARGIN = 1e-12  # what rounding in the fast Fourier transforms may add to δ, generously
_MARGIN_EACH = 1e-15  # and what rounding may add in each of the composed steps
_MAX_LINES = 100
_FINEST = 5  # the privacy loss is discretised in steps of 10^−5, or 10 or 100 times that for long plans
_MAX_CELLS = 4_000_000


@dataclass(frozen=True)
class Accounting:
    """Each charge uses up one planned cost that is at least as large; the plan as a whole fits the budget."""

    epsilon: Fraction
    delta: Fraction
    plan: tuple[Planned, ...]

    @classmethod
    def from_details(cls, epsilon: Fraction, delta: Fraction, details: Mapping[str, Any]) -> Accounting:
        """The rule of a stored scope."""
        lines = [Planned(times=line["times"], profile=line["points"]) for line in details["plan"]]
        return cls(epsilon, delta, tuple(lines))

    def needs(self) -> str:
        """The δ that the whole plan needs at the budget's ε; a ParameterError if the budget has less."""
        needed = delta_of(self.plan, self.epsilon)
        if not needed <= float(self.delta):
            raise ParameterError(
                f"the plan does not fit the budget: at ε = {exact_text(self.epsilon)} it needs δ = {needed:.6g}, "
                f"the budget has δ = {exact_text(self.delta)}: plan less, or allow "
                f"ε = {epsilon_of(self.plan, self.delta):.6g}"
            )
        return f"{needed:.17g}"

    def costs(self, epsilon: Fraction, delta: Fraction, points: Points) -> list[Vector]:
        """One use of each planned cost that covers the charge, in the plan's order from small to large."""
        none = {_key(number): Fraction(0) for number in range(len(self.plan))}
        total = {"epsilon": epsilon, "delta": delta}
        return [
            {**total, **none, _key(number): Fraction(1)}
            for number, line in enumerate(self.plan)
            if _covers(line.points, points)
        ]

    def fits(self, used: Vector) -> bool:
        """Whether no planned cost is used more often than planned."""
        return all(used.get(_key(number), 0) <= line.times for number, line in enumerate(self.plan))

    def left(self, used: Vector) -> Spending:
        """The largest planned cost that is not used up."""
        open_lines = [
            line.points[-1] for number, line in enumerate(self.plan) if used.get(_key(number), 0) < line.times
        ]
        return Spending(*max(open_lines, default=(Fraction(0), Fraction(0))))


def plan_json(plan: PlanLike | None) -> list[dict[str, Any]]:
    """A plan in the form in which it is stored."""
    return [{"points": points_json(line.points), "times": line.times} for line in _lines(plan)]


def delta_of(plan: Sequence[Planned], epsilon: AmountLike) -> float:
    """The δ that a whole plan needs at an ε: pessimistic, with a margin of at least 10^−12 for rounding.

    >>> print(f"{delta_of([Planned('0.1', times=100)], 5):.2g}")
    2.8e-07
    """
    lines = _lines(plan)
    at = float(rational(epsilon, "epsilon")) * (1 - 1e-12)  # the float of ε may be above it
    return float(_composed(lines).get_delta_for_epsilon(at)) + _margin(lines)


def epsilon_of(plan: Sequence[Planned], delta: NumberLike) -> float:
    """The ε that a whole plan needs at a δ; infinite if no ε is enough.

    >>> round(epsilon_of([Planned("0.1", times=100)], "1e-6"), 3)
    4.775
    """
    lines = _lines(plan)
    target = float(rational(delta, "delta")) - 1.001 * _margin(lines)
    if not target > 0:
        return math.inf
    return float(_composed(lines).get_epsilon_for_delta(target)) * (1 + 1e-11)


def _margin(lines: Sequence[Planned]) -> float:
    return _MARGIN + _MARGIN_EACH * sum(line.times for line in lines)


def _lines(plan: Any) -> list[Planned]:
    try:
        lines = list(plan)
    except TypeError:
        lines = []
    if not 1 <= len(lines) <= _MAX_LINES or not all(isinstance(line, Planned) for line in lines):
        raise ParameterError(
            Parameter("composition", "accounting"),
            f" needs 1 to {_MAX_LINES} planned costs, such as ",
            Parameter("plan", [Planned("0.1", times=50)]),
            "" if plan is None else f", got {brief(plan)}",
            parameter="plan",
            expected=f"1 to {_MAX_LINES} planned costs",
        )
    return sorted(lines, key=lambda line: line.points)


def _covers(planned: Points, points: Points) -> bool:
    """Whether each planned (ε, δ) is implied by one of the charge's own points."""
    return all(any(ours <= most and d <= least for ours, d in points) for most, least in planned)


def _key(number: int) -> str:
    return f"line {number}"


def _composed(lines: Sequence[Planned]) -> Any:
    """The privacy-loss distribution of the whole plan."""
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    except ImportError:
        raise ParameterError(
            Parameter("composition", "accounting"),
            " needs dp-accounting: install it with pip install 'tinct[accounting]'",
        ) from None
    step = _step(lines)
    parts = [PrivacyLossDistribution(_distribution(line.points, step)).self_compose(line.times) for line in lines]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part)
    return whole


def _step(lines: Sequence[Planned]) -> Fraction:
    """How finely losses are discretised: as finely as fits the memory."""
    span = sum((2 * line.points[-1][0] * line.times for line in lines), Fraction(0))
    for power in range(_FINEST, 0, -1):
        if span * 10**power <= _MAX_CELLS:
            return Fraction(1, 10**power)
    raise ParameterError(f"the plan adds up to ε = {float(span / 2):.6g}: too much to be composed")


def _distribution(points: Points, step: Fraction) -> Any:
    """The worst privacy loss that points (ε, δ) allow in both directions, with ε rounded up to the steps.

    A privacy profile is convex in e^ε, so it lies below the lines between its points ("connect the dots"), and
    the swapped pair determines it at −ε: δ(−ε) = 1 − e^−ε (1 − δ(ε)).
    """
    from dp_accounting.pld import pld_pmf

    width = float(step)
    dots: dict[int, float] = {}
    for epsilon, delta in points:
        cell, above = math.ceil(epsilon / step), math.nextafter(float(delta), 1.0) if delta else 0.0
        for at, value in ((cell, above), (-cell, 1 - math.exp(-cell * width) * (1 - above))):
            dots[at] = min(dots.get(at, 1.0), value)
    cells, deltas = zip(*_hull(sorted(dots.items()), width), strict=True)
    return pld_pmf.create_pmf_pessimistic_connect_dots(width, cells, deltas)


def _hull(dots: list[tuple[int, float]], width: float) -> list[tuple[int, float]]:
    """The dots on the lower convex hull by e^ε, together with δ = 1 at e^ε = 0."""
    kept: list[tuple[float, float]] = [(-math.inf, 1.0)]
    for dot in dots:
        if not dot[1] < kept[-1][1]:
            continue  # a larger ε with no smaller δ says nothing
        while len(kept) >= 2 and _is_above(kept[-2], kept[-1], dot, width):
            kept.pop()
        kept.append(dot)
    return [(int(cell), delta) for cell, delta in kept[1:]]


def _is_above(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float], width: float) -> bool:
    """Whether the middle dot lies on or above the line from the first to the last, drawn over e^ε."""
    share = math.exp((middle[0] - last[0]) * width)
    share *= math.expm1((first[0] - middle[0]) * width) / math.expm1((first[0] - last[0]) * width)
    return middle[1] >= first[1] + share * (last[1] - first[1])
