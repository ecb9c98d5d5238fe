"""What a column is worth for mutual information, and bounds for every prior (docs/proofs/mutual-information.md).

A column that raises the set T is worth g(P(T)), scaled by e^−ε, with g concave. Per unit of probability it is worth
r(z) = c − c/x − ln x at x = 1 + (e^ε − 1)z, with c = ε·e^ε/(e^ε − 1); r rises up to x = c and falls after it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.local.inputs import LocalBudget, distribution
from tinct.local.partition import EXACT, around
from tinct.local.utilities import Utility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_KL = Utility.parse("kl")
_REVERSE_KL = Utility.parse("reverse-kl")


def column_worth(z: Any, budget: LocalBudget) -> Floats:
    """The worth of columns with largest entry 1 that raise sets of probability z."""
    z = np.asarray(z, np.float64)
    mean = budget.low + budget.span * z
    raised = _KL.worth(np.ones_like(z), mean, budget.span * (1.0 - z))
    others = _KL.worth(np.full_like(z, budget.low), mean, -budget.span * z)
    return np.asarray(z * raised + (1.0 - z) * others)


def rate(z: Any, budget: LocalBudget) -> Floats:
    """The worth of a column per unit of probability."""
    return column_worth(z, budget) / (budget.low + budget.span * np.asarray(z, np.float64))


def best_share(budget: LocalBudget) -> float:
    """The z at which the rate is largest, (c − 1)/(e^ε − 1)."""
    return _beyond_one(budget) / budget.exact.growth_minus_one


def universal_bound(budget: LocalBudget) -> float:
    """The largest rate, c − 1 − ln c: no private mechanism has more mutual information, whatever the prior."""
    beyond = np.array([_beyond_one(budget)])
    return float(_REVERSE_KL.worth(1.0 + beyond, np.ones(1), beyond)[0])


def entropy(p: Floats) -> float:
    """The entropy of a distribution, in nats."""
    present = p[p > 0]
    return max(0.0, -math.fsum(present * np.log(present)))


def information_bound(prior: Any, epsilon: Any) -> float:
    """A number that the mutual information of no ε-private mechanism exceeds for this prior, in nats.

    The least of the entropy and of the largest rate over sets that exist: all of them up to 40 symbols, and for more
    those that are not ruled out by the most likely symbol.

    >>> round(information_bound([0.25] * 4, 1), 6), round(information_bound([0.9, 0.1], 1), 6)
    (0.117993, 0.073404)
    """
    p = distribution(prior, "prior")
    budget = LocalBudget.parse(epsilon)
    target = best_share(budget)
    most = float(p.max())
    if np.count_nonzero(p) <= EXACT:
        near = [subset.share for subset in around(p, target)]
    elif most <= 0.5 or not 1.0 - most < target < most:
        near = [target]
    else:
        near = [1.0 - most, most]
    return min(entropy(p), float(rate(np.array(near), budget).max()) * (1.0 + 1e-13))


def _beyond_one(budget: LocalBudget) -> float:
    """The number c − 1 = (ε − 1 + e^−ε)/(1 − e^−ε)."""
    epsilon = budget.epsilon
    if epsilon > 0.5:
        return (epsilon - budget.span) / budget.span
    term, total = 1.0, 0.0
    for n in range(2, 20):  # the exponential series from its second term on, divided by ε
        term *= -epsilon / n
        total -= term
    return total * epsilon / budget.span
