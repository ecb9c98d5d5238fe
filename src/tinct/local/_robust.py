"""robust: one mechanism for several pairs of hypotheses, by the worst of their divergences or by the average."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.local._optimal import divergences_of
from tinct.local.column_programs import require_solvable
from tinct.local.delta_programs import MAX_OTHER, METHOD, best_with_delta, graded, two_levels
from tinct.local.divergences import Utility
from tinct.local.local_mechanism import Certificate, LocalMechanism
from tinct.local.mechanisms.written_out_table import TableChannel
from tinct.local.parameters import Hypotheses, LocalBudget, delta_below_one, distribution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from tinct.local.divergences import UtilityLike
    from tinct.local.parameters import BudgetLike, DistributionLike, Floats, SymbolsLike
    from tinct.numbers.amounts import NumberLike

MAX_PAIRS = 100
PATTERN_METHOD = "dual of the linear program over all patterns"
MAX_ROBUST = 12  # symbols with δ = 0; 4,095 columns


def robust(
    pairs: Sequence[tuple[DistributionLike, DistributionLike]],
    epsilon: BudgetLike,
    utility: UtilityLike = "kl",
    *,
    average: ArrayLike | bool = False,
    delta: NumberLike = 0,
    symbols: SymbolsLike | None = None,
) -> LocalMechanism:
    """The mechanism that is best for several pairs of hypotheses at once, by a linear program over all columns.

    ``value`` is the least divergence among the pairs, or their average, and ``upper_bound`` what no private mechanism
    exceeds. For up to 12 symbols, 6 with δ > 0. ``test`` and ``sample_size`` need the pair that is meant.

    Args:
        pairs: Pairs (P0, P1) of distributions on the same symbols.
        epsilon: The budget, in (0, 20].
        utility: As for ``optimal``.
        average: True for the average over the pairs, or a weight for each, summing to 1; else the worst pair counts.
        delta: The δ of (ε, δ)-privacy, in [0, 1).
        symbols: Names for the symbols.

    >>> one, two = ([0.1, 0.2, 0.7], [0.5, 0.25, 0.25]), ([0.6, 0.3, 0.1], [0.2, 0.3, 0.5])
    >>> both = robust([one, two], 1)
    >>> round(both.value, 6), round(both.gap, 6), [round(both.divergence(*pair), 6) for pair in (one, two)]
    (0.07057, 0.0, [0.07057, 0.07057])
    """
    problems = _pairs(pairs, symbols)
    budget = LocalBudget.parse(epsilon)
    require_solvable(budget, "local.optimal for the pair that matters most")
    chosen = Utility.parse(utility)
    chosen.require_convex(budget.epsilon)
    part = delta_below_one(delta)
    k, most = len(problems[0].p0), MAX_OTHER if part else MAX_ROBUST
    if k > most:
        raise ParameterError(f"the program is for at most {most} symbols{' with δ > 0' if part else ''}, got {k:,}")
    weights = _weights(average, len(problems))

    def measured(columns: Floats) -> Floats:
        each = np.column_stack([divergences_of(columns, both.p0, both.p1, chosen) for both in problems])
        return each if weights is None else each @ weights

    levels = graded(k) if part else two_levels(k)
    if part and not all(np.isfinite(chosen.divergence(both.p0, both.p1)) for both in problems):
        raise ParameterError(f"{chosen.name} is infinite between some of these hypotheses: use tv, hellinger or js")
    found = best_with_delta(levels, budget, float(part), measured, len(problems) if weights is None else 1)
    reached = np.array([chosen.divergence(both.p0 @ found.matrix, both.p1 @ found.matrix) for both in problems])
    value = float(reached.min() if weights is None else reached @ weights)
    goal = "the worst" if weights is None else "the average"
    return LocalMechanism(
        name="robust",
        budget=budget,
        channel=TableChannel(k, found.matrix),
        symbols=problems[0].symbols,
        note=f"{goal} {chosen.name} over {len(problems)} pairs of hypotheses, among all private mechanisms (linear "
        "program)",
        exact_delta=part,
        utility=f"{goal.split()[1]} {chosen.name}",
        value=value,
        known=Certificate(METHOD if part else PATTERN_METHOD, max(found.upper_bound, value)),
    )


def _pairs(pairs: Sequence[tuple[DistributionLike, DistributionLike]], symbols: SymbolsLike | None) -> list[Hypotheses]:
    try:
        given = [(p0, p1) for p0, p1 in pairs]
    except (TypeError, ValueError):
        raise ParameterError.of("pairs", "pairs (p0, p1) of distributions", pairs) from None
    if not 1 <= len(given) <= MAX_PAIRS:
        raise ParameterError(f"there must be 1 to {MAX_PAIRS} pairs of hypotheses, got {len(given)}")
    found = [Hypotheses.parse(p0, p1, symbols) for p0, p1 in given]
    if any(each.symbols != found[0].symbols for each in found):
        raise ParameterError("all pairs must be about the same symbols, in the same order")
    return found


def _weights(average: ArrayLike | bool, count: int) -> Floats | None:
    if average is False:
        return None
    if average is True:
        return np.full(count, 1.0 / count)
    weights = distribution(average, "average")
    if len(weights) != count:
        raise ParameterError(f"average must have a weight for each of the {count} pairs, got {len(weights)}")
    return weights
