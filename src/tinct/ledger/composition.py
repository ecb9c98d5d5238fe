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

from tinct.errors import ParameterError, brief
from tinct.ledger.contents import Spending
from tinct.ledger.costs import budget_delta, exact_text
from tinct.ledger.store import Damaged
from tinct.numbers.amounts import rational
from tinct.numbers.bounds import exp_above, exp_below, ln_above, ln_below, rounded_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tinct.ledger.contents import PlanLike, Points, Scope
    from tinct.numbers.amounts import NumberLike

Vector = dict[str, Fraction]

COMPOSITIONS = ("basic", "advanced", "accounting")
_BITS = 192
_LARGE = 5000  # exponents above this are not worth their digits: the simple bound is used
_STEP = Fraction(1, 10**9)  # how finely the largest further charge is looked for
_NOTHING = Fraction(0)


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
    from tinct.ledger.accounting import Accounting

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
        from tinct.ledger.accounting import plan_json

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
        from tinct.ledger.accounting import Accounting

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
