"""Every mechanism's utility against the budget: what the optimum gains over what people use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.local.cells import optimal
from tinct.local.channels import CellChannel
from tinct.local.information import binary_information, mutual_information
from tinct.local.inputs import Hypotheses, LocalBudget, distribution
from tinct.local.named import (
    binary,
    geometric,
    hadamard_response,
    local_hashing,
    randomized_response,
    subset_selection,
    unary_encoding,
)
from tinct.local.utilities import Utility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinct.local.mechanism import LocalMechanism

MAX_ENTRIES = 2_000_000
_LOG10_ENTRIES = math.log10(MAX_ENTRIES)  # a mechanism whose matrix is larger is left out, unless it works on cells
OTHERS: dict[str, Callable[[int, LocalBudget], LocalMechanism]] = {
    "randomized response": randomized_response,
    "geometric": geometric,
    "subset selection": subset_selection,
    "unary encoding": unary_encoding,
    "local hashing": local_hashing,
    "Hadamard response": hadamard_response,
}


@dataclass(frozen=True)
class Comparison:
    """The utility of each mechanism at one budget; None where a mechanism is too large to be measured."""

    epsilon: float
    upper_bound: float
    values: dict[str, float | None]

    def shares(self) -> dict[str, float | None]:
        """The utilities divided by that of the optimum, which comes first."""
        best = next(iter(self.values.values()))
        return {name: value / best if value is not None and best else None for name, value in self.values.items()}


def compare(
    p0: Any, p1: Any = None, *, epsilons: Iterable[Any], utility: Any = "kl", bound: bool = True
) -> list[Comparison]:
    """The utility of every mechanism at every budget: a divergence for two hypotheses, information for one prior.

    Args:
        p0: The first hypothesis; or, without ``p1``, the prior.
        p1: The second hypothesis, or None for mutual information.
        epsilons: The budgets.
        utility: The divergence, for two hypotheses.
        bound: Whether to compute the bound on every private mechanism too; else the optimum's own value stands for it.

    >>> (line,) = compare([0.1, 0.2, 0.7], [0.5, 0.25, 0.25], epsilons=[1])
    >>> list(line.values)[:3], round(line.shares()["randomized response"], 3)
    (['optimal', 'binary', 'randomized response'], 0.79)
    """
    budgets = [LocalBudget.parse(epsilon) for epsilon in epsilons]
    if p1 is None:
        prior = distribution(p0, "prior")
        return [_of_information(prior, budget) for budget in budgets]
    hypotheses, chosen = Hypotheses.parse(p0, p1), Utility.parse(utility)
    return [_of_divergence(hypotheses, budget, chosen, bound) for budget in budgets]


def _of_divergence(both: Hypotheses, budget: LocalBudget, utility: Utility, bound: bool) -> Comparison:
    best = optimal(both.p0, both.p1, budget, utility)
    values: dict[str, float | None] = {"optimal": best.value}
    k = len(both.p0)
    if k > 1:
        values["binary"] = binary(both.p0, both.p1, budget, utility).value
    for name, build in OTHERS.items():
        values[name] = _measured(build, k, budget, lambda one: one.divergence(both.p0, both.p1, utility))
    value = best.value or 0.0
    return Comparison(budget.epsilon, (best.upper_bound or value) if bound else value, values)


def _of_information(prior: Any, budget: LocalBudget) -> Comparison:
    best = mutual_information(prior, budget)
    values: dict[str, float | None] = {"optimal": best.value}
    k = len(prior)
    if k > 1:
        values["binary"] = binary_information(prior, budget).value
    for name, build in OTHERS.items():
        values[name] = _measured(build, k, budget, lambda one: one.information(prior))
    return Comparison(budget.epsilon, best.upper_bound or 0.0, values)


def _measured(
    build: Callable[[int, LocalBudget], LocalMechanism],
    k: int,
    budget: LocalBudget,
    measure: Callable[[LocalMechanism], float],
) -> float | None:
    """The utility of a mechanism, or None if it cannot be written out."""
    try:
        mechanism = build(k, budget)
        if mechanism.channel.log10_entries > _LOG10_ENTRIES and not isinstance(mechanism.channel, CellChannel):
            return None
        with np.errstate(under="ignore"):
            return measure(mechanism)
    except ParameterError:  # too few symbols, too many for a table, or probabilities that underflow
        return None
