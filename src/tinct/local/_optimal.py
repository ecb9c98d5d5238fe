"""Two hypotheses: the optimal local mechanism for any f-divergence, by splitting the likelihood order into cells.

Some optimal mechanism sorts the symbols by P0/P1, cuts the order into consecutive cells and answers with randomized
response on the number of the cell (docs/proofs/cells.md). The best cuts are a longest path, found by dynamic
programming; the normalising constant is dealt with by Dinkelbach's steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels.best_cells import best_split
from tinct.errors import ParameterError
from tinct.local.column_programs import MAX_BUDGET, pattern_dual, patterns
from tinct.local.delta_programs import MAX_GRADED, METHOD, best_with_delta, graded
from tinct.local.divergences import Utility
from tinct.local.likelihood_order import Order, coarse_order, refined_order, upper_order
from tinct.local.local_mechanism import Certificate, LocalMechanism
from tinct.local.mechanisms.randomized_response import CellChannel
from tinct.local.mechanisms.reveal_or_cells import RevealChannel
from tinct.local.mechanisms.written_out_table import TableChannel
from tinct.local.parameters import Hypotheses, LocalBudget, delta_below_one, whole

if TYPE_CHECKING:
    from tinct.local.delta_programs import DeltaSolution
    from tinct.local.divergences import UtilityLike
    from tinct.local.mechanisms.base import Channel
    from tinct.local.parameters import BudgetLike, DistributionLike, Floats, Integers, SymbolsLike
    from tinct.numbers.amounts import NumberLike


PLAIN = 4_096  # distinct ratios; beyond this, neighbours are merged at first and opened again where cuts fall
MAX_EXACT = 20_000  # distinct ratios for which the whole dynamic program is run if merging leaves a gap
GROUPS = 2_048
_COMPILED = 600  # distinct ratios; below this, NumPy is quicker than importing numba
_ROUNDS = 100
_REFINEMENTS = 6
_ROUNDING = 1e-13
_CLOSED = 1e-12  # relative gap that counts as none
MAX_PROGRAM = 12  # distinct ratios
_AS_GOOD = 1e-9  # relative; a program that finds no more than this is not worth its table
_EXACT_PROGRAM = 2e-9  # relative gap up to which a program's value is called exact


@dataclass(frozen=True)
class Split:
    """The best cuts of an order: cell c holds positions cuts[c] up to cuts[c + 1]; and what they are worth."""

    cuts: Integers
    value: float


def optimal(
    p0: DistributionLike,
    p1: DistributionLike,
    epsilon: BudgetLike,
    utility: UtilityLike = "kl",
    *,
    delta: NumberLike = 0,
    symbols: SymbolsLike | None = None,
    groups: int | None = None,
) -> LocalMechanism:
    """The (ε, δ)-private local mechanism under which P0 and P1 stay as far apart as they can.

    Output c stands for the symbols of cell c, in increasing order of P0/P1. Symbols that neither hypothesis ever
    produces go to the first cell, where they do no harm. With δ > 0 there are further outputs, which some symbols never
    give: up to seven distinct ratios the best of all mechanisms, by a linear program; beyond, the symbol is revealed
    with probability δ, which ``certificate`` bounds.

    Args:
        p0: The probabilities of the symbols under the first hypothesis, summing to 1 within 1e-9; or a mapping.
        p1: Those under the second hypothesis.
        epsilon: The budget, a number in (0, 700] or text such as ``"ln 2"``.
        utility: ``"kl"``, ``"reverse-kl"``, ``"chi2"``, ``"hellinger"``, ``"tv"``, ``"js"``, ``"hockey-stick:<γ>"``,
            ``"alpha:<a>"``, or a convex function f with f(1) = 0.
        delta: The δ of (ε, δ)-privacy, in [0, 1).
        symbols: Names for the symbols; 0, 1, 2, … if left out.
        groups: Merge neighbouring likelihood ratios into about this many, with a bound on the loss in ``certificate``.
            If left out, 2,048 groups are made for more than 4,096 ratios; groups that a cut goes through are opened
            again, so the loss is mostly nil, and up to 20,000 ratios always.

    >>> mechanism = optimal([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], "ln 3")
    >>> mechanism.cells, round(mechanism.value, 9)
    (((0, 1), (2, 3)), 0.081093022)
    """
    hypotheses = Hypotheses.parse(p0, p1, symbols)
    budget = LocalBudget.parse(epsilon)
    chosen = Utility.parse(utility)
    chosen.require_convex(budget.epsilon)
    if groups is not None:
        groups = whole(groups, "groups", 2, 10_000_000)
    order = Order.of(hypotheses)
    part = delta_below_one(delta)
    if part:
        return _with_delta(hypotheses, order, budget, chosen, part, groups)
    split, bound = _solve(order, budget, chosen, groups)
    known = None if bound is None else Certificate("merged ratios from below, split ratios from above", bound)
    return LocalMechanism(
        name="optimal",
        budget=budget,
        channel=CellChannel(len(hypotheses.p0), budget.growth, order.assign(split.cuts), len(split.cuts) - 1),
        symbols=hypotheses.symbols,
        note=_note(chosen, split, bound),
        utility=chosen.name if chosen.function is None else chosen,
        value=split.value,
        hypotheses=hypotheses,
        known=known,
    )


def _solve(order: Order, budget: LocalBudget, utility: Utility, groups: int | None) -> tuple[Split, float | None]:
    """The best split, and a bound if it was found by merging ratios."""
    if len(order) <= (groups or PLAIN):
        return best_cells(order, budget, utility), None
    split, bound = _merged(order, groups or GROUPS, budget, utility)
    if groups is None and len(order) <= MAX_EXACT and bound > split.value * (1.0 + _CLOSED):
        return best_cells(order, budget, utility), None
    return split, bound


def best_cells(order: Order, budget: LocalBudget, utility: Utility) -> Split:
    """The best split of an order, by Dinkelbach's steps around the dynamic program."""
    split = _start(order, budget, utility)
    for _ in range(_ROUNDS):
        _, before = longest_path(order, budget, utility, split.value)
        found = _valued(order, _walk_back(before), budget, utility)
        if not found.value > split.value * (1.0 + 1e-15):
            # of equally good splits the path's own has the fewest cells
            return found if found.value >= split.value * (1.0 - _ROUNDING) else split
        split = found
    return split


def longest_path(order: Order, budget: LocalBudget, utility: Utility, value: float) -> tuple[float, Integers]:
    """The largest Σ(worth − value·e^−ε) over all splits, and for each place where its last cell begins."""
    toll = value * budget.low
    if utility.function is None and len(order) >= _COMPILED:
        before = np.zeros(len(order) + 1, np.int64)
        parts = (order.first, order.second, budget.low, budget.span, utility.code, utility.parameter)
        return best_split.compiled(*parts, toll, before), before
    return _by_rows(order, budget, utility, toll)


def value_of(order: Order, cuts: Integers, budget: LocalBudget, utility: Utility) -> float:
    """What the mechanism with these cuts achieves: [Σ worth]/(1 + (m − 1)e^−ε)."""
    total = math.fsum(order.worth(cuts[:-1], cuts[1:], budget, utility))
    return total / (1.0 + (len(cuts) - 2) * budget.low)


def _valued(order: Order, cuts: Integers, budget: LocalBudget, utility: Utility) -> Split:
    value = value_of(order, cuts, budget, utility)
    if not math.isfinite(value):
        raise ParameterError(f"{utility.name} is not a finite number at epsilon = {budget.epsilon:.6g}")
    return Split(cuts, value)


def _start(order: Order, budget: LocalBudget, utility: Utility) -> Split:
    """The better of all splits into one or two cells and of the split into all."""
    k = len(order)
    every = np.arange(k + 1)
    candidates = [_valued(order, np.array([0, k]), budget, utility), _valued(order, every, budget, utility)]
    if k > 2:
        inner = every[1:-1]
        both = order.worth(np.zeros_like(inner), inner, budget, utility)
        both = both + order.worth(inner, np.full_like(inner, k), budget, utility)
        candidates.append(_valued(order, np.array([0, inner[np.argmax(both)], k]), budget, utility))
    return max(candidates, key=lambda split: split.value)


def _by_rows(order: Order, budget: LocalBudget, utility: Utility, toll: float) -> tuple[float, Integers]:
    """The dynamic program of ``best_split``, a row at a time; also for functions of one's own."""
    k = len(order)
    value = np.zeros(k + 1)
    before = np.zeros(k + 1, np.int64)
    for j in range(1, k + 1):
        found = value[:j] + order.worth(np.arange(j), np.full(j, j), budget, utility)
        before[j] = np.argmax(found)
        value[j] = found[before[j]] - toll
    return float(value[k]), before


def _walk_back(before: Integers) -> Integers:
    cuts = [len(before) - 1]
    while cuts[-1] > 0:
        cuts.append(int(before[cuts[-1]]))
    return np.array(cuts[::-1])


def _merged(order: Order, groups: int, budget: LocalBudget, utility: Utility) -> tuple[Split, float]:
    """A split that is nearly best, and a bound on the best one (docs/proofs/cells.md, merging)."""
    places = coarse_order(order, groups)
    best, bound = Split(np.array([0, len(order)]), 0.0), math.inf
    for _ in range(_REFINEMENTS):
        below = best_cells(order.merged(places), budget, utility)
        above = best_cells(upper_order(order, places), budget, utility)
        best = max(best, _valued(order, places[below.cuts], budget, utility), key=lambda split: split.value)
        bound = min(bound, above.value)
        if bound - best.value <= _ROUNDING * bound or len(below.cuts) > groups // 8:
            break  # settled, or so many cells that there would be little left to merge
        finer = refined_order(places, np.concatenate([below.cuts[1:-1], above.cuts[1:-1]]), 2 * groups)
        if len(finer) == len(places):
            break
        places = finer
    return best, max(bound, best.value) * (1.0 + _ROUNDING)


def _note(utility: Utility, split: Split, bound: float | None) -> str:
    if bound is not None and bound > split.value * (1.0 + _CLOSED):
        return f"{utility.name} between these two hypotheses, within the gap of its certificate"
    return f"{utility.name} between these two hypotheses, among all private mechanisms (exact, up to rounding)"


def _with_delta(
    hypotheses: Hypotheses, order: Order, budget: LocalBudget, utility: Utility, delta: Fraction, groups: int | None
) -> LocalMechanism:
    """Reveal with probability δ, else the best cells; or what the program finds, where it fits and finds more."""
    whole_divergence = utility.divergence(order.p0, order.p1)
    if not math.isfinite(whole_divergence):
        raise ParameterError(
            f"{utility.name} between these hypotheses is infinite, and δ > 0 allows a mechanism to show it: "
            "use tv, hellinger or js"
        )
    part = float(delta)
    split, _ = _solve(order, budget, utility, groups)
    cells = CellChannel(len(hypotheses.p0), budget.growth, order.assign(split.cuts), len(split.cuts) - 1)
    channel: Channel = RevealChannel(len(hypotheses.p0), cells, part)
    value, known, name = part * whole_divergence + (1.0 - part) * split.value, None, "reveal or cells"
    if len(order) <= MAX_GRADED and budget.epsilon <= MAX_BUDGET:
        found = _program(order, budget, utility, part)
        reached = utility.divergence(order.p0 @ found.matrix, order.p1 @ found.matrix)
        if reached > value * (1.0 + _AS_GOOD):
            value, channel = reached, TableChannel(len(order.place), found.matrix[np.maximum(order.place, 0)])
            name = "optimal"
        known = Certificate(METHOD, max(found.upper_bound, value))
    exact = known is not None and known.upper_bound <= value * (1.0 + _EXACT_PROGRAM)
    note = f"{utility.name} between these two hypotheses, among all (ε, δ)-private mechanisms"
    return LocalMechanism(
        name=name,
        budget=budget,
        channel=channel,
        symbols=hypotheses.symbols,
        note=f"{note} (exact, up to rounding)" if exact else f"{note}, within the gap of its certificate",
        exact_delta=delta,
        utility=utility.name if utility.function is None else utility,
        value=value,
        hypotheses=hypotheses,
        known=known,
    )


def _program(order: Order, budget: LocalBudget, utility: Utility, delta: float) -> DeltaSolution:
    return best_with_delta(
        graded(len(order)), budget, delta, lambda columns: divergences_of(columns, order.p0, order.p1, utility)
    )


def divergences_of(columns: Floats, p0: Floats, p1: Floats, utility: Utility) -> Floats:
    """What columns (a row each) contribute to the divergence, also those that a hypothesis never gives."""
    z, t, difference = columns @ p0, columns @ p1, columns @ (p0 - p1)
    worths = np.zeros(len(columns))
    both = (z > 0) & (t > 0)
    worths[both] = utility.worth(z[both], t[both], difference[both])
    if not both.all():
        for alone, limit in (((z > 0) & (t == 0), 0), ((t > 0) & (z == 0), 1)):
            worths[alone] = np.maximum(z, t)[alone] * utility.limits()[limit] if alone.any() else 0.0
    return worths


def _delta_certificate(order: Order, budget: LocalBudget, utility: Utility, delta: float) -> Certificate:
    """A bound for many ratios: that of a shorter pair of hypotheses, from which these arise by adding noise."""
    whole_divergence = utility.divergence(order.p0, order.p1)
    if budget.epsilon > MAX_BUDGET:
        return Certificate("divergence of the hypotheses themselves", whole_divergence)
    shorter = order if len(order) <= MAX_GRADED else upper_order(order, coarse_order(order, MAX_GRADED - 1))
    bound = _program(shorter, budget, utility, delta).upper_bound
    if bound >= whole_divergence:
        return Certificate("divergence of the hypotheses themselves", whole_divergence)
    return Certificate(METHOD if shorter is order else f"{METHOD}, for {len(shorter)} split ratios", bound)


def divergence_certificate(
    hypotheses: Hypotheses, budget: LocalBudget, utility: Utility, value: float, delta: Fraction = Fraction(0)
) -> Certificate:
    """A bound on the divergence of all private mechanisms; ``value`` is what the best cells are said to achieve.

    Up to 12 distinct ratios it is the dual of the linear program over all patterns, which knows nothing of cells. For
    more, it is one more round of the dynamic program, from the other end and in other arithmetic.
    """
    order = Order.of(hypotheses)
    if delta:
        return _delta_certificate(order, budget, utility, float(delta))
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
