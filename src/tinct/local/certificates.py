"""Bounds on what any private mechanism can achieve, obtained another way than the design itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.local.mechanism import Certificate
from tinct.local.order import Order
from tinct.local.programs import MAX_BUDGET, pattern_dual, patterns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.local.inputs import Hypotheses, LocalBudget
    from tinct.local.utilities import Utility

    Floats = NDArray[np.float64]

MAX_PROGRAM = 12  # distinct ratios


def divergence_certificate(hypotheses: Hypotheses, budget: LocalBudget, utility: Utility, value: float) -> Certificate:
    """A bound on the divergence of all private mechanisms; ``value`` is what the best cells are said to achieve.

    Up to 12 distinct ratios it is the dual of the linear program over all patterns, which knows nothing of cells. For
    more, it is one more round of the dynamic program, from the other end and in other arithmetic.
    """
    order = Order.of(hypotheses)
    if len(order) <= MAX_PROGRAM and budget.epsilon <= MAX_BUDGET:
        worths = pattern_worths(order, budget, utility)
        return Certificate("dual of the linear program over all patterns", pattern_dual(worths, budget))
    return Certificate("one more round of the dynamic program", value + max(0.0, excess(order, budget, utility, value)))


def pattern_worths(order: Order, budget: LocalBudget, utility: Utility) -> Floats:
    """What each staircase column with largest entry 1 contributes, for every set of places that it raises."""
    p0, p1 = order.p0, order.p1
    raised = patterns(len(order))
    a, b = budget.span * (raised @ p0), budget.span * (raised @ p1)
    return utility.worth(budget.low + a, budget.low + b, a - b)


def excess(order: Order, budget: LocalBudget, utility: Utility, value: float) -> float:
    """By how much some split exceeds ``value``, at most: max over splits of Σ(worth − value·e^−ε) − value·(1 − e^−ε).

    Goes through the cells by where they begin, from the last symbol to the first.
    """
    k = len(order)
    p0, p1 = order.p0, order.p1
    rest: Any = np.zeros(k + 1)
    for i in range(k - 1, -1, -1):
        a, b = budget.span * np.cumsum(p0[i:]), budget.span * np.cumsum(p1[i:])
        best = float(np.max(utility.worth(budget.low + a, budget.low + b, a - b) + rest[i + 1 :]))
        rest[i] = best - value * budget.low
    found = float(rest[0]) - value * budget.span
    return found if math.isfinite(found) else math.inf
