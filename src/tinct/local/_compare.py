"""Every mechanism's utility against the budget: what the optimum gains over what people use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.local._mutual_information import mutual_information
from tinct.local._optimal import optimal
from tinct.local.divergences import Utility
from tinct.local.mechanisms.binary import binary, binary_information
from tinct.local.mechanisms.hadamard_response import hadamard_response
from tinct.local.mechanisms.local_hashing import local_hashing
from tinct.local.mechanisms.randomized_response import CellChannel, randomized_response
from tinct.local.mechanisms.subset_selection import subset_selection
from tinct.local.mechanisms.unary_encoding import unary_encoding
from tinct.local.mechanisms.written_out_table import geometric
from tinct.local.parameters import Hypotheses, LocalBudget, distribution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinct.local.divergences import UtilityLike
    from tinct.local.local_mechanism import LocalMechanism
    from tinct.local.parameters import BudgetLike, DistributionLike

MAX_ENTRIES = 2_000_000
_LOG10_ENTRIES = math.log10(MAX_ENTRIES)  # a mechanism whose matrix is larger is left out, unless it works on cells
OTHERS: dict[str, Callable[[int, LocalBudget], LocalMechanism]] = {
    "randomized response": randomized_response,
    "geometric": geometric,
    "subset selection": partial(subset_selection, goal="information"),
    "unary encoding": unary_encoding,
    "local hashing": local_hashing,
    "Hadamard response": hadamard_response,
}


@dataclass(frozen=True)
class UtilityComparison:
    """The utility of each mechanism at one budget; None where a mechanism is too large to be measured."""

    epsilon: float
    upper_bound: float
    values: dict[str, float | None]

    def shares(self) -> dict[str, float | None]:
        """The utilities divided by that of the optimum, which comes first."""
        best = next(iter(self.values.values()))
        return {name: value / best if value is not None and best else None for name, value in self.values.items()}


def compare(
    p0: DistributionLike,
    p1: DistributionLike | None = None,
    *,
    epsilons: Iterable[BudgetLike],
    utility: UtilityLike = "kl",
    bound: bool = True,
) -> list[UtilityComparison]:
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
        return [
            _compared(
                len(prior),
                mutual_information(prior, budget),
                partial(binary_information, prior, budget),
                lambda one: one.information(prior),
                bound=True,
            )
            for budget in budgets
        ]
    both, chosen = Hypotheses.parse(p0, p1), Utility.parse(utility)
    return [
        _compared(
            len(both.p0),
            optimal(both.p0, both.p1, budget, chosen),
            partial(binary, both.p0, both.p1, budget, chosen),
            lambda one: one.divergence(both.p0, both.p1, chosen),
            bound,
        )
        for budget in budgets
    ]


def _compared(
    k: int,
    best: LocalMechanism,
    halves: Callable[[], LocalMechanism],
    measure: Callable[[LocalMechanism], float],
    bound: bool,
) -> UtilityComparison:
    """All mechanisms on k symbols beside the best one; ``halves`` makes the binary one."""
    values = {"optimal": best.value, **({"binary": halves().value} if k > 1 else {})}
    values.update((name, _measured(build, k, best.budget, measure)) for name, build in OTHERS.items())
    value = best.value or 0.0
    return UtilityComparison(best.epsilon, (best.upper_bound or value) if bound else value, values)


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
