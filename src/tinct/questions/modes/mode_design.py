"""Which mechanism answers ``mode``: decided by k, ε and the public n alone, never by the data (docs/theory.md §9a)."""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tinct.errors import NotPrivate, Parameter, ParameterError
from tinct.privacy import Privacy
from tinct.questions.modes.best_mean import MOST_EPSILON, MeanProgram, whole_weights
from tinct.questions.modes.coins import retention
from tinct.questions.modes.margins import (
    clipped_margins,
    clipped_size,
    histogram_margins,
    histogram_size,
    require_categories,
)
from tinct.questions.modes.mode_table import ModeTable
from tinct.questions.modes.permute_and_flip import PermuteAndFlip
from tinct.questions.modes.water_filling import water_filling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinct.numbers.amounts import Amount, AmountLike
    from tinct.questions.modes.margins import MarginSpace

    Progress = Callable[[float], None]

ModeMechanism = ModeTable | PermuteAndFlip

FEW_HISTOGRAMS = 20_000
FEWER_HISTOGRAMS = 400  # for which a linear program is solved, twice at most: about a second
WORTHWHILE = 1e-5  # mean truth by which the program's table must be better than water-filling
MOST_CATEGORIES = 20  # beyond, hundreds of thousands of small steps make a table slow
MOST_ENTRIES = 800_000  # states times categories: several seconds
LOSSES = (1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # truth that clipping may cost; the first that is affordable
ATTEMPTS = 4  # at stretching the rule where it is not private as it is: it is not for seven categories and more
MOST_STRETCH = 1.1  # much beyond this, permute-and-flip is more truthful for large margins
_LEAST_BITS = 128
_MOST_BITS = 4096
_MOST_STORAGE = 1 << 30  # bits in all weights together
_SAME = 1e-9  # truths that differ by less are called equal
_CAUTIONS = (1, 2**8, 2**16)  # times the room that a program's table is given, until it is proved
_SLACK = 30  # the rule is solved for coins this many binary places above q, which leaves room for rounding


def mode_mechanism(
    k: int,
    epsilon: AmountLike,
    *,
    neighbors: str,
    n: int | None = None,
    missing: bool = True,
    progress: Progress | None = None,
) -> ModeMechanism:
    """The mechanism for the most common of k categories.

    Args:
        k: How many categories there are, at least 2.
        epsilon: ε, as for ``Privacy``.
        neighbors: ``"add-remove"`` if one person may join or leave, ``"replace"`` if one may change category.
        n: The number of people, if it is public; only with ``"replace"``. Without it one table serves every number.
        missing: With ``"replace"``: whether a person may be in no category, so that counts may sum to less than n and
            one person may also enter or leave them. Say False only if everybody is in a category by construction.
        progress: Called now and then with the share of the work on the current table that is done.

    >>> mode_mechanism(3, "ln 2", neighbors="add-remove").truth(1).__round__(4)
    0.5833
    >>> mode_mechanism(3, 1, neighbors="replace", n=5).row([3, 1, 1])[0] > 2**129
    True
    """
    k = require_categories(k)
    exact = Privacy(epsilon).exact_epsilon
    if neighbors not in ("add-remove", "replace"):
        raise ParameterError.of("neighbors", "'replace' or 'add-remove'", neighbors)
    people = _require_people(n, neighbors)
    if neighbors == "add-remove":
        return PermuteAndFlip(k, retention(exact))
    coins = PermuteAndFlip(k, retention(exact, halved=True), "replace")
    for space in _spaces(k, exact, people, missing):
        table = certified_table(space, exact, progress)
        if space.people is not None and len(space) <= FEWER_HISTOGRAMS and float(exact) <= MOST_EPSILON:
            table = with_best_mean(table, coins, space, exact, progress)
        if table is not None:
            return table
    return coins


def with_best_mean(
    table: ModeTable | None,
    coins: PermuteAndFlip,
    space: MarginSpace,
    epsilon: Amount,
    progress: Progress | None = None,
) -> ModeTable | None:
    """The given table, or one with more mean truth over all histograms that is at no lead right less often.

    If no table is given, the new one is at no lead right less often than ``coins``. What comes back knows how much
    larger its mean could be. Where the program is not solved, or its table not proved, what was given comes back.
    """
    tell = progress or (lambda _: None)
    tell(0.0)
    q = retention(epsilon)
    program = MeanProgram(space, q)
    solved = program.solve()
    if solved is None:
        return table
    tell(0.4)
    bound = solved.upper_bound
    leads = space.states[:, 1].tolist()
    least = [(table or coins).truth(lead) if lead else 0.0 for lead in leads]
    truths = 1 / space.k + float(1 - q) * solved.table[:, 0]
    if any(lead and truth < floor - _SAME for lead, truth, floor in zip(leads, truths, least, strict=True)):
        solved = program.solve([max(0.0, floor - _SAME / 2) for floor in least])
    tell(0.8)
    if solved is not None:
        bits = _bits(q, int(space.states.max(initial=1)))
        for caution in _CAUTIONS:
            rows, total = whole_weights(space, solved, q, bits, caution=caution)
            found = ModeTable(epsilon, space, rows, total, q, "linear program", bound)
            if _is_proved(found) and (table is None or found.mean_truth > table.mean_truth + WORTHWHILE):
                tell(1.0)
                return found
    if table is None:
        return None
    known = replace(table, best_mean=bound)
    known.certify()
    tell(1.0)
    return known


def _is_proved(table: ModeTable) -> bool:
    """Whether a table has positive weights and is private, in whole numbers."""
    if not min(map(min, table.rows)) > 0:
        return False
    try:
        table.certify()
    except NotPrivate:
        return False
    return True


def certified_table(space: MarginSpace, epsilon: Amount, progress: Progress | None = None) -> ModeTable | None:
    """The water-filling table on some states, proved private; None if it is not, even when somewhat stretched.

    Where the rule for ε is not ε-private but r·ε-private, the rule for a little less than ε/r is tried, and so on.
    """
    stretch = 1.0
    tell = progress or (lambda _: None)
    for _ in range(ATTEMPTS):
        tell(0.0)
        table = table_on(space, epsilon, stretch=stretch)
        if not min(map(min, table.rows)) > 0:
            return None
        try:
            # solving takes about as long as proving
            table.certify(lambda share: tell((1 + share) / 2))
        except NotPrivate:
            excess = table.least_epsilon() / float(epsilon) - 1
            stretch *= 1 + 1.25 * excess + 1e-6  # the violation does not shrink quite as fast as ε
            if not stretch <= MOST_STRETCH:
                return None
        else:
            tell(1.0)
            return table
    return None


def table_on(space: MarginSpace, epsilon: Amount, *, stretch: float = 1.0) -> ModeTable:
    """The water-filling table for ε/stretch on some states, not yet certified for ε."""
    q = retention(epsilon)
    coin = q if stretch == 1.0 else Fraction(math.exp(-float(epsilon) / stretch))
    # strictly between q and 1, and as far above q as either end allows
    coin *= 1 + (1 - coin) / 2**_SLACK
    rows, total = water_filling(space, coin, _bits(q, int(space.states.max(initial=1))))
    return ModeTable(epsilon, space, rows, total, q, "water-filling" + " for a smaller ε" * (stretch > 1.0))


def ceiling_for(k: int, epsilon: float, loss: float) -> int:
    """The least ceiling at which clipping costs at most about ``loss`` of truth: (2/ε) ln((k − 1)/(2·loss)).

    >>> ceiling_for(5, 0.5, 1e-3)
    31
    """
    return max(2, math.ceil(2 / epsilon * math.log((k - 1) / (2 * loss))))


def _spaces(k: int, epsilon: Amount, people: int | None, missing: bool) -> Iterator[MarginSpace]:
    """The state spaces to try, in order of preference: without clipping, then with as little as is affordable."""
    if k > MOST_CATEGORIES or not retention(epsilon) < 1:
        return  # with q = 1 all answers are equally likely, and coins do that as well
    if people is not None:
        size = histogram_size(k, people, missing=missing, at_most=FEW_HISTOGRAMS)
        if size is not None and _storable(epsilon, size, k, people):
            yield histogram_margins(k, people, missing=missing)
    ceiling = _ceiling(k, epsilon)
    if ceiling is not None:
        yield clipped_margins(k, ceiling, missing=missing)


def _ceiling(k: int, epsilon: Amount) -> int | None:
    """The ceiling that costs the least truth among those that are affordable."""
    for loss in LOSSES:
        # a tiny ε would make the number of steps overflow; long before that no table is affordable
        ceiling = ceiling_for(k, max(float(epsilon), 1e-9), loss)
        if _affordable(k, epsilon, ceiling):
            return ceiling
    return None


def _affordable(k: int, epsilon: Amount, ceiling: int) -> bool:
    if ceiling > MOST_ENTRIES:  # there are more states than that, without counting them
        return False
    size = clipped_size(k, ceiling)
    return size * k <= MOST_ENTRIES and _storable(epsilon, size, k, ceiling)


def _storable(epsilon: Amount, size: int, k: int, longest: int) -> bool:
    bits = _bits(retention(epsilon), longest)
    return bits <= _MOST_BITS and bits * size * k <= _MOST_STORAGE


def _bits(q: Fraction, longest: int) -> int:
    """Binary places for weights down to q^longest, so that rounding stays far below the slack; 128 if that will do."""
    smallest = longest * _minus_log2(q) + _minus_log2(1 - q)
    return max(_LEAST_BITS, 64 * math.ceil((smallest + _SLACK + 32) / 64))


def _minus_log2(value: Fraction) -> float:
    return math.log2(value.denominator) - math.log2(value.numerator)


def _require_people(n: object, neighbors: str) -> int | None:
    if n is None:
        return None
    if neighbors != "replace":
        raise ParameterError(
            Parameter("n"), " is public only with ", Parameter("neighbors", "replace"), ": leave it out", parameter="n"
        )
    if isinstance(n, bool) or not hasattr(n, "__index__") or not operator.index(n) >= 0:
        raise ParameterError.of("n", "a whole number of at least 0", n)
    return operator.index(n)
