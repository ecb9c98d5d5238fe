"""How costs add up: the rules that decide whether one more charge fits a budget.

A rule turns a charge into a vector of exact amounts. Vectors of charges to the same people are added, those to disjoint
groups are joined by their maximum, and the rule says whether the result fits. What is guaranteed, and why it holds
when questions and costs are chosen after seeing earlier answers: docs/decisions/0011-ledger.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from tinct.errors import Parameter, ParameterError, brief
from tinct.ledger.contents import Planned, Spending, points_json
from tinct.ledger.costs import budget_delta, exact_text
from tinct.ledger.store import Damaged
from tinct.numbers.amounts import rational
from tinct.numbers.bounds import exp_above, exp_below, ln_above, ln_below, rounded_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tinct.ledger.contents import PlanLike, Points, Scope
    from tinct.numbers.amounts import AmountLike, NumberLike


Vector = dict[str, Fraction]

COMPOSITIONS = ("basic", "advanced", "accounting")
_BITS = 192
_LARGE = 5000  # exponents above this are not worth their digits: the simple bound is used
_STEP = Fraction(1, 10**9)  # how finely the largest further charge is looked for
_NOTHING = Fraction(0)
_MARGIN = 1e-12  # what rounding in the fast Fourier transforms may add to δ, generously
_MARGIN_EACH = 1e-15  # and what rounding may add in each of the composed steps
_MAX_LINES = 100
_FINEST = 5  # the privacy loss is discretised in steps of 10^−5, or 10 or 100 times that for long plans
_MAX_CELLS = 4_000_000


class Rule(Protocol):
    """A way to compose: candidates for the cost of a charge, best first, and whether a total fits."""

    def costs(self, epsilon: Fraction, delta: Fraction, points: Points) -> list[Vector]:
        """The vectors as which a charge may be counted."""

    def fits(self, used: Vector) -> bool:
        """Whether what would be used is within the budget."""

    def left(self, used: Vector) -> Spending:
        """The largest single charge that would still be granted."""


@dataclass(frozen=True)
class Basic:
    """The sums of all ε and of all δ stay within the budget."""

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def from_details(cls, epsilon: Fraction, delta: Fraction, _: Mapping[str, Any]) -> Basic:
        """The rule of a stored scope."""
        return cls(epsilon, delta)

    def costs(self, epsilon: Fraction, delta: Fraction, points: Points) -> list[Vector]:  # noqa: ARG002 # one shape for all
        """The charge counts as its own ε and δ."""
        return [{"epsilon": epsilon, "delta": delta}]

    def fits(self, used: Vector) -> bool:
        """Whether both sums are within the budget."""
        return used["epsilon"] <= self.epsilon and used["delta"] <= self.delta

    def left(self, used: Vector) -> Spending:
        """The budget minus the sums."""
        return Spending(self.epsilon - used["epsilon"], self.delta - used["delta"])


@dataclass(frozen=True)
class Advanced:
    """A privacy filter of one Rényi order beside the plain sum; the δ called ``slack`` is set aside for it.

    An ε-private step has E[e^{λL}] ≤ e^{λ·c(ε)} for its privacy loss L, with c as in ``order_cost``. The whole is
    (ε, δ)-private as long as the sum of ε, or the sum of c, is small enough and the sum of δ is at most δ − slack.
    """

    epsilon: Fraction
    delta: Fraction
    slack: Fraction
    order: Fraction

    @classmethod
    def from_details(cls, epsilon: Fraction, delta: Fraction, details: Mapping[str, Any]) -> Advanced:
        """The rule of a stored scope."""
        return cls(epsilon, delta, rational(details["slack"], "slack"), rational(details["order"], "order"))

    def costs(self, epsilon: Fraction, delta: Fraction, points: Points) -> list[Vector]:  # noqa: ARG002
        """The amounts themselves, and the cost at this order."""
        return [{"epsilon": epsilon, "delta": delta, "order": order_cost(epsilon, self.order)}]

    def fits(self, used: Vector) -> bool:
        """Whether δ is within what the slack leaves of it, and ε by one of the two counts."""
        enough = used["epsilon"] <= self.epsilon or used["order"] <= self.threshold
        return enough and used["delta"] <= self.delta - self.slack

    def left(self, used: Vector) -> Spending:
        """The largest single ε that would be granted, to nine places, and what is left of δ."""
        plain = self.epsilon - used["epsilon"]
        return Spending(max(plain, self._left_at_order(used["order"])), self.delta - self.slack - used["delta"])

    @cached_property
    def threshold(self) -> Fraction:
        """What the costs at this order may add up to: a rational at most ε − (ln(1/slack) + ln C)/λ."""
        order = self.order
        # C = λ^λ / (1 + λ)^(1 + λ) is the largest value of (1 − e^−x)·e^−λx
        logarithm = ln_above(1 / self.slack) + order * ln_above(order) - (1 + order) * ln_below(1 + order)
        return self.epsilon - logarithm / order

    def _left_at_order(self, used: Fraction) -> Fraction:
        room = self.threshold - used
        low, high = 0, math.ceil(2 * (self.epsilon + 1) / _STEP)
        if not room >= 0:
            return _NOTHING
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if order_cost(middle * _STEP, self.order) <= room else (low, middle)
        return low * _STEP


def order_cost(epsilon: Fraction, order: Fraction) -> Fraction:
    """A rational at least c(ε) = ln((e^{(λ+1)ε} + e^{−λε}) / (e^ε + 1)) / λ: the Rényi divergence of order λ + 1
    of randomized response, which is the largest of any ε-private step.

    >>> float(order_cost(Fraction(1), Fraction(2)))
    0.8467268304854476
    """  # noqa: D205 # the formula does not fit a line
    simple = min(epsilon, (order + 1) * epsilon * epsilon / 2)
    if (order + 1) * epsilon > _LARGE:
        return rounded_up(simple)
    above = exp_above((order + 1) * epsilon, _BITS) + 1 / exp_below(order * epsilon, _BITS)
    logarithm = ln_above(above / (1 + exp_below(epsilon, _BITS)))
    return rounded_up(min(simple, logarithm / order))


def best_order(epsilon: Fraction, slack: Fraction) -> Fraction:
    """The order that allows the most small charges; any positive one is valid, so floats may choose it."""
    budget, needed = float(epsilon), -math.log(slack)

    def small_charges(order: float) -> float:
        correction = order * math.log(order) - (order + 1) * math.log1p(order)
        return (budget - (needed + correction) / order) / (order + 1)

    best = max((10 ** (power / 100) for power in range(-400, 700)), key=small_charges)
    return Fraction(f"{best:.4g}")


def rule_of(scope: Scope) -> Rule:
    """The rule of a stored scope."""
    try:
        return _rules()[scope.composition](scope.epsilon, scope.delta, scope.details)
    except (KeyError, TypeError, ValueError):
        raise Damaged(f"the rule of scope {scope.name!r} cannot be read: restore the ledger from a copy") from None


def _rules() -> dict[str, Callable[[Fraction, Fraction, Mapping[str, Any]], Rule]]:
    return {"basic": Basic.from_details, "advanced": Advanced.from_details, "accounting": Accounting.from_details}


def options_of(
    composition: str | None, delta: Fraction, slack: NumberLike | None, plan: PlanLike | None
) -> tuple[str, dict[str, Any]]:
    """The rule's name and what the owner chose for it, in the form in which it is stored."""
    rule = "basic" if composition is None else composition
    if rule not in COMPOSITIONS:
        raise ParameterError.of("composition", f"one of {', '.join(COMPOSITIONS)}", composition)
    if plan is not None and rule != "accounting":
        raise _misplaced("plan", "accounting", rule)
    if slack is not None and rule != "advanced":
        raise _misplaced("slack", "advanced", rule)
    if rule == "accounting":
        return rule, {"plan": plan_json(plan)}
    return rule, {"slack": exact_text(_slack(slack, delta))} if rule == "advanced" else {}


def _misplaced(name: str, owner: str, rule: str) -> ParameterError:
    return ParameterError.about(name, f"`{name}` belongs to `composition={owner!r}`, not to {rule!r}")


def details_of(scope: Scope) -> dict[str, Any]:
    """What is stored with a new scope: what the owner chose, and what follows from it."""
    details = dict(scope.details)
    if scope.composition == "advanced":
        details["order"] = exact_text(best_order(scope.epsilon, rational(details["slack"], "slack")))
    if scope.composition == "accounting":
        details["needs"] = Accounting.from_details(scope.epsilon, scope.delta, details).needs()
    return details


def _slack(given: NumberLike | None, delta: Fraction) -> Fraction:
    reserved = budget_delta(given, "slack") if given is not None else _NOTHING
    if not 0 < reserved <= delta:
        expected = f"more than 0 and at most delta = {exact_text(delta)}"
        raise ParameterError.about(
            "slack",
            "`composition='advanced'` needs `slack`, the part of delta set aside for it: ",
            expected,
            "" if given is None else f", got {brief(given)}",
            expected=expected,
            value=given,
        )
    return reserved


@dataclass(frozen=True)
class Accounting:
    """Each charge uses up one planned cost that is at least as large; the plan as a whole fits the budget.

    Composing the privacy-loss distributions of costs that were chosen after seeing answers is *not* a valid filter.
    What is valid is a plan: a number of charges of each cost, fixed at creation and composed once. Questions, their
    order and an early end may then depend on every answer. dp_accounting is needed at creation only.
    """

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
