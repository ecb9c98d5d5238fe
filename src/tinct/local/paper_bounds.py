"""What the theory of extremal mechanisms promises (Kairouz, Oh, Viswanath 2016), to compare designs with.

Numbers of theorems and corollaries are the paper's; where its formulas are misprinted, these are the corrected ones.
Bounds of the kind "for all budgets below (above) some ε*" take a ``slack`` > 0, on which that ε* depends; with slack 0
they are the leading terms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.local.divergences import Utility
from tinct.local.information_bounds import entropy, halves
from tinct.local.likelihood_order import Order
from tinct.local.parameters import Hypotheses, LocalBudget, distribution
from tinct.numbers.amounts import rational

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tinct.local.parameters import BudgetLike, DistributionLike
    from tinct.numbers.amounts import NumberLike

_TIE = 1e-12  # relative; of ratios that count as equal


def binary_share(epsilon: BudgetLike) -> float:
    """The share of the optimal KL divergence that the binary mechanism always reaches (theorem 7).

    >>> round(binary_share("ln 3"), 9)
    0.03125
    """
    budget = LocalBudget.parse(epsilon)
    return 0.5 * (budget.low / (1.0 + budget.low)) ** 2


def binary_information_share(epsilon: BudgetLike) -> float:
    """The share of the optimal mutual information that the binary mechanism reaches for ε ≤ 1 (theorem 13)."""
    budget = LocalBudget.parse(epsilon)
    if not budget.epsilon <= 1.0:
        raise ParameterError(f"this share is proved for epsilon up to 1, got {budget.epsilon:.6g}")
    return 1.0 / (1.0 + budget.growth)


def symmetric_divergence_bound(p0: DistributionLike, p1: DistributionLike, epsilon: BudgetLike) -> float:
    """An upper bound on D(M0‖M1) + D(M1‖M0) at every budget: 4(e^ε − 1)²·TV² (Duchi, Jordan, Wainwright 2013)."""
    budget = LocalBudget.parse(epsilon)
    with np.errstate(over="ignore"):
        return 4.0 * float(np.float64(budget.exact.growth_minus_one) * _variation(p0, p1)) ** 2


def small_budget_divergence(
    p0: DistributionLike, p1: DistributionLike, epsilon: BudgetLike, *, slack: NumberLike = 0
) -> float:
    """The bound on D(M0‖M1) + D(M1‖M0) for small enough ε: 2(1 + slack)(e^ε − 1)²/(e^ε + 1)·TV² (corollary 9)."""
    budget = LocalBudget.parse(epsilon)
    distance = _variation(p0, p1)
    return 2.0 * (1.0 + _slack(slack)) * distance**2 * budget.exact.growth_minus_one * budget.span / (1.0 + budget.low)


def large_budget_divergence(
    p0: DistributionLike, p1: DistributionLike, epsilon: BudgetLike, *, slack: NumberLike = 0
) -> float:
    """The bound on D(M0‖M1) for large enough ε: D(P0‖P1) − (1 − slack)·G·e^−ε (corollary 10, corrected).

    Here G = Σ P0/P1 − k − Σ(1 − k·P0) ln(P0/P1), with symbols of one ratio P0/P1 merged into one: they share a cell of
    the optimum, which then has more than randomized response, and more than a bound with all k symbols would allow.
    The paper prints the symmetric divergence and another G, which expansion at large ε refutes, and says nothing of
    ties. Both distributions must give every symbol a chance.

    >>> round(large_budget_divergence([0.25, 0.25, 0.5], [0.4, 0.4, 0.2], 10), 9)
    0.223092476
    """
    both = Hypotheses.parse(p0, p1)
    budget = LocalBudget.parse(epsilon)
    if not ((both.p0 > 0) & (both.p1 > 0)).all():
        raise ParameterError("this bound needs probabilities above 0 for every symbol")
    order = _without_ties(Order.of(both))
    k, ratio = len(order), order.p0 / order.p1
    first_order = math.fsum(ratio) - k - math.fsum((1.0 - k * order.p0) * np.log(ratio))
    return Utility.parse("kl").divergence(both.p0, both.p1) - (1.0 - _slack(slack)) * first_order * budget.low


def _without_ties(order: Order) -> Order:
    """Ratios that differ by rounding only become one."""
    ratio = order.p0 / order.p1
    starts = np.flatnonzero(np.diff(ratio) > _TIE * ratio[:-1]) + 1
    return order.merged(np.concatenate([[0], starts, [len(order)]]))


def total_variation_bound(p0: DistributionLike, p1: DistributionLike, epsilon: BudgetLike) -> float:
    """The largest total variation at every budget: (e^ε − 1)/(e^ε + 1)·TV; the binary mechanism has it (corollary 11).

    >>> round(total_variation_bound([0.75, 0.25], [0.25, 0.75], "ln 3"), 9)
    0.25
    """
    return math.tanh(LocalBudget.parse(epsilon).epsilon / 2.0) * _variation(p0, p1)


def small_budget_information(prior: ArrayLike, epsilon: BudgetLike, *, slack: NumberLike = 0) -> float:
    """The bound on I(X; Y) for small enough ε: (1 + slack)·P(T)P(Tᶜ)ε²/2, with P(T) nearest 1/2 (corollary 15)."""
    p = distribution(prior, "prior")
    inside = halves(p).share
    return 0.5 * (1.0 + _slack(slack)) * inside * (1.0 - inside) * LocalBudget.parse(epsilon).epsilon ** 2


def large_budget_information(prior: ArrayLike, epsilon: BudgetLike, *, slack: NumberLike = 0) -> float:
    """The bound on I(X; Y) for large enough ε: H(X) − (1 − slack)(k − 1)·ε·e^−ε (corollary 16).

    What the bound leaves out is of the order e^−ε, not e^−2ε as printed.
    """
    p = distribution(prior, "prior")
    budget = LocalBudget.parse(epsilon)
    return entropy(p) - (1.0 - _slack(slack)) * (np.count_nonzero(p) - 1) * budget.epsilon * budget.low


def _variation(p0: DistributionLike, p1: DistributionLike) -> float:
    both = Hypotheses.parse(p0, p1)
    return 0.5 * math.fsum(abs(both.p0 - both.p1))


def _slack(slack: NumberLike) -> float:
    value = float(rational(slack, "slack"))
    if not 0.0 <= value <= 1.0:
        raise ParameterError.of("slack", "in [0, 1]", slack)
    return value
