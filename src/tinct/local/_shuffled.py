"""shuffled: what reports say about one person once nobody knows whose report is whose (docs/proofs/shuffling.md).

Upper bounds are rounded up and lower bounds down; both are sums of binomial tails, which tests repeat in rationals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms.hadamard_response import HadamardRandomiser
from tinct.local.mechanisms.local_hashing import HashRandomiser
from tinct.local.mechanisms.randomized_response import CellRandomiser
from tinct.local.mechanisms.subset_selection import SubsetRandomiser
from tinct.local.mechanisms.unary_encoding import UnaryRandomiser
from tinct.local.mechanisms.written_out_table import TableRandomiser
from tinct.local.parameters import LocalBudget, share, whole
from tinct.numbers.amounts import MAX_EPSILON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinct.local.mechanisms.base import Randomiser
    from tinct.local.parameters import BudgetLike, Floats
    from tinct.numbers.amounts import NumberLike

MAX_PEOPLE = 10**9
MAX_TABLE = 60  # symbols of a table: every pair is looked at
_ROUNDING = 1e-10  # relative, of binomial terms and tails; they are good to about 1e-13
_REACH = 9.0  # standard deviations; what is beyond is added as it is
_EXACT = 1e-7  # relative, of an ε that is searched for
_LARGEST = 20.0  # of one report; nobody asks for more


@dataclass(frozen=True)
class Pair:
    """How two answers can be told apart by a report of one person, and how well those of others hide it.

    A report is of the first type where it is likelier for the first answer, and of the second where it is likelier for
    the second. From either answer it has a type with some chance ``told``, and then the ratio of the chances of the two
    types is ``growth`` or its inverse. Everybody else's report is a clone, of either type with the same chance, with at
    least some chance ``clones``, whatever they answer.

    Attributes:
        growth: The ratio E.
        hidings: Pairs (told, clones), each of which holds.
        types: The chances of the two types from the first answer; from the second they are exchanged.
        seen: The same from answers that all others may have given.
    """

    growth: Fraction
    hidings: tuple[tuple[Fraction, Fraction], ...]
    types: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    seen: tuple[tuple[Fraction, Fraction], ...] = ()

    @classmethod
    def of(cls, growth: Fraction, least: Fraction, most: Fraction, *seen: tuple[Fraction, Fraction]) -> Pair:
        """From the shares of clones of one type: where reports differ, and with those where they do not."""
        if growth <= 1:
            return cls(Fraction(1), ())
        shares = dict.fromkeys((least, most))
        return cls(growth, tuple(((growth + 1) * p, 2 * p) for p in shares if p), (growth * least, least), seen)


@dataclass(frozen=True)
class Shuffled:
    """The reports of ``people`` people in random order, compared with those after one of them gave another answer.

    Attributes:
        people: How many reports are shuffled.
        local_epsilon: What every report keeps by itself.
        pairs: The pairs of answers that have to be told apart, as far as they differ.
    """

    people: int
    local_epsilon: float
    pairs: tuple[Pair, ...]

    def delta(self, epsilon: float) -> float:
        """A δ for which the shuffled reports are (ε, δ)-private, rounded up; never more than 1."""
        _require_epsilon(epsilon)
        if epsilon >= self.local_epsilon:
            return 0.0
        return max((self._hidden(pair, epsilon) for pair in self.pairs), default=0.0)

    def _hidden(self, pair: Pair, epsilon: float) -> float:
        """It is told whether the report has a type at all; then clones of both types hide which."""
        e = float(pair.growth)
        types = (e / (e + 1), 1 / (e + 1))
        found = [
            float(told) * _divergence(self.people, types, (float(clones) / 2,) * 2, epsilon, up=True)
            for told, clones in pair.hidings
        ]
        return min([1.0, *found]) if found else 0.0

    def least_delta(self, epsilon: float) -> float:
        """A δ that no proof can go below: an attacker who knows the others' answers reaches it; rounded down."""
        _require_epsilon(epsilon)
        found = 0.0
        for pair in self.pairs:
            types = (float(pair.types[0]), float(pair.types[1]))
            for first, second in pair.seen:
                for clones in {(float(first), float(second)), (float(second), float(first))}:
                    found = max(found, _divergence(self.people, types, clones, epsilon, up=False))
        return found

    def epsilon(self, delta: NumberLike) -> float:
        """An ε for which the shuffled reports are (ε, δ)-private, rounded up; never more than that of one report."""
        target = _target(delta)
        return _first(lambda epsilon: self.delta(epsilon) <= target, self.local_epsilon)[1]

    def least_epsilon(self, delta: NumberLike) -> float:
        """An ε that no proof can go below at this δ, rounded down."""
        target = _target(delta)
        return _first(lambda epsilon: self.least_delta(epsilon) <= target, self.local_epsilon)[0]

    def profile(self, points: int = 6) -> list[tuple[float, float]]:
        """Points (ε, δ) that all hold, for ``Ledger.charge(profile=…)``: rounds are then composed by the ledger."""
        deltas = [10.0**-power for power in range(4, 4 + whole(points, "points", 1, 100))]
        return [(self.epsilon(delta), delta) for delta in deltas]

    def __repr__(self) -> str:
        return f"<Shuffled reports of {self.people:,} people, each ε = {self.local_epsilon:.6g}>"


def shuffled(mechanism: LocalMechanism | BudgetLike, people: int) -> Shuffled:
    """What the reports of so many people say about one of them after somebody has shuffled them.

    Two collections are compared in which one person answers differently. ``mechanism`` is a local mechanism, or an ε:
    the bounds then hold for everything that keeps it, and are wider.

    >>> any_of_them = shuffled(4, 100_000)
    >>> round(any_of_them.epsilon("1e-6"), 3)
    0.17
    """
    people = whole(people, "people", 1, MAX_PEOPLE)
    if not isinstance(mechanism, LocalMechanism):
        budget = LocalBudget.parse(mechanism)
        # not more than N, where it makes no difference any more
        growth = Fraction(math.nextafter(min(budget.growth, 2.0**62), math.inf))
        return Shuffled(people, budget.epsilon, (Pair(growth, ((Fraction(1), 1 / growth),)),))
    if mechanism.exact_delta:
        raise ParameterError(f"{mechanism.name} keeps its budget but for a delta: shuffling is not known to help there")
    return Shuffled(people, mechanism.epsilon, tuple(dict.fromkeys(_pairs(mechanism.randomiser))))


def local_epsilon(
    people: int, epsilon: float, delta: NumberLike, make: Callable[[float], LocalMechanism] | None = None
) -> float:
    """The largest ε of one report, to four digits and at most 20, for which the shuffled reports are (ε, δ)-private.

    ``make(epsilon)`` makes the mechanism, such as ``lambda e: local.subset_selection(20, e)``; without it the result
    holds for every mechanism.

    >>> local_epsilon(100_000, 1, "1e-6")
    7.07
    """
    people = whole(people, "people", 1, MAX_PEOPLE)
    _require_epsilon(epsilon)
    target = _target(delta)

    def too_much(local: float) -> bool:
        made = local if make is None else make(local)
        return local > epsilon and shuffled(made, people).delta(epsilon) > target

    low, high = math.log(1e-4), math.log(_LARGEST)
    if not too_much(_LARGEST):
        return _LARGEST
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if too_much(_four_digits(middle)) else (middle, high)
    return _four_digits(low)


def _four_digits(logarithm: float) -> float:
    step = 10.0 ** (math.floor(logarithm / math.log(10)) - 3)
    return float(f"{math.floor(math.exp(logarithm) / step) * step:.4g}")


# --------------------------------------------------------------------------------------------------------------- pairs


def _pairs(randomiser: Randomiser) -> Iterator[Pair]:
    """All pairs of answers by how they differ; for most kinds all are alike.

    With low chances ``a`` where reports differ, ``c`` where both answers are likely and ``d`` where neither is.
    """
    total = randomiser.total
    if isinstance(randomiser, CellRandomiser):
        yield from _of_cells(randomiser)
    elif isinstance(randomiser, SubsetRandomiser):
        k, m, outside = randomiser.size, randomiser.members, Fraction(total - randomiser.inside, total)
        growth = Fraction(randomiser.inside * (k - m), (total - randomiser.inside) * m)
        low = outside / (k - 1)
        a, c, d = low * m, low * m * (m - 1) / (k - m), low * (k - 1 - m)
        third = ((1 - outside) * (m - 1) * (k - m) + outside * m * (k - 1 - m)) / ((k - 1) * max(k - 2, 1))
        yield _two_level(growth, a, c, d, *((third, third) for _ in range(k > 2)))
    elif isinstance(randomiser, HashRandomiser):
        low, meet, g = Fraction(randomiser.other, total), randomiser.collision, randomiser.buckets
        a, c, d = low * (1 - meet), low * meet, low * (g - 2 + meet)
        yield _two_level(Fraction(randomiser.own, randomiser.other), a, c, d)
    elif isinstance(randomiser, HadamardRandomiser):
        growth, a = Fraction(randomiser.plus, total - randomiser.plus), Fraction(total - randomiser.plus, 2 * total)
        far = randomiser.size > 3  # then some row is no product of the two
        yield _two_level(growth, a, a, a, *(((growth + 1) * a / 2,) * 2 for _ in range(far)))
    elif isinstance(randomiser, UnaryRandomiser):
        q = Fraction(randomiser.other, total)
        growth, a = (1 - q) / q, q / 2
        seen = ((growth * a, a), *((q * (1 - q), q * (1 - q)) for _ in range(randomiser.size > 2)))
        yield Pair.of(growth, a, a + q * q / (4 * (1 - q)) + q * (1 - q) / 2, *seen)
    elif isinstance(randomiser, TableRandomiser):
        yield from _of_table(randomiser)
    else:
        raise ParameterError(f"shuffled {randomiser.kind} reports are not covered: give the epsilon instead")


def _two_level(growth: Fraction, a: Fraction, c: Fraction, d: Fraction, *seen: tuple[Fraction, Fraction]) -> Pair:
    """Every chance is low or ``growth`` times that; others may answer like the person, or as ``seen``."""
    return Pair.of(growth, a, a + c / 2 + d / (growth + 1), (growth * a, a), *seen)


def _of_cells(randomiser: CellRandomiser) -> Iterator[Pair]:
    used = len(np.unique(randomiser.cell_of))
    if used < 2:
        return
    low = Fraction(randomiser.other, randomiser.total)
    third = ((low, low),) if used > 2 else ()
    growth = Fraction(randomiser.own, randomiser.other)
    yield _two_level(growth, low, Fraction(0), low * (randomiser.count - 2), *third)


def _of_table(randomiser: TableRandomiser) -> Iterator[Pair]:
    """Every pair of rows, by the definition."""
    rows, total, growth = randomiser.units.tolist(), randomiser.total, randomiser.growth
    if len(rows) > MAX_TABLE:
        raise ParameterError(f"tables are shuffled for up to {MAX_TABLE} symbols: give the epsilon instead")
    floor = [min(column) for column in zip(*rows, strict=True)]
    for first, second in combinations(rows, 2):
        least, more = Fraction(0), Fraction(0)
        for x, z, low in zip(first, second, floor, strict=True):
            clone = Fraction(abs(x - z)) / (growth - 1)  # of one of the types
            least += clone / 2
            more += min((low - clone) / 2, (min(x, z) - clone) / (growth + 1))
        yield Pair.of(growth, least / total, (least + more) / total)


# ---------------------------------------------------------------------------------------------------------- divergences


def _divergence(
    people: int, types: tuple[float, float], clones: tuple[float, float], epsilon: float, *, up: bool
) -> float:
    """The hockey-stick divergence of the numbers of reports of each type, rounded up or down.

    One person's report has the types with the chances ``types``, in the other case exchanged; those of all others with
    ``clones``. Given how many reports have a type, the first count decides: the best event is that it is large.
    """
    from scipy.special import betainc
    from scipy.stats import binom

    e, rate = math.exp(epsilon), min(1.0, clones[0] + clones[1])
    first, second = types[0] - e * types[1], types[1] - e * types[0]
    if first <= 0:
        return 0.0
    none, split = max(0.0, 1 - types[0] - types[1]), clones[0] / rate
    others = people - 1
    middle, reach = others * rate, _REACH * math.sqrt(others * rate * (1 - rate)) + 200
    low, high = max(0, math.floor(middle - reach)), min(others, math.ceil(middle + reach))
    # all reports with a type, s: one more than the clones if the person's own has one
    s = np.arange(low, high + 2, dtype=np.float64)
    weight = binom.pmf(s, others, rate)  # of s clones
    before = np.where(s > low, binom.pmf(s - 1, others, rate), 0.0)
    weight[s > high] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = before * (first / split - second / (1 - split)) / s
        level = before * second / (1 - split) + none * (1 - e) * weight
        start = np.where(slope > 0, np.floor(-level / slope) + 1, s + 1)
    start = np.clip(np.nan_to_num(start, nan=0.0, posinf=0.0), 0, s + 1)
    beyond = _tail(betainc, start, s - 1, split)
    at = np.where((start >= 1) & (s >= 1), binom.pmf(start - 1, np.maximum(s - 1, 0), split), 0.0)
    gain = before * first * at
    loss = -before * (first + second) * beyond + none * (e - 1) * weight * _tail(betainc, start, s, split)
    sign = 1.0 if up else -1.0
    found = float(np.maximum(gain * (1 + sign * _ROUNDING) - loss * (1 - sign * _ROUNDING), 0.0).sum())
    if up:  # numbers of clones that were not looked at
        found += float(_below(betainc, low, others, rate) + _tail(betainc, high + 1, others, rate)) * (1 + _ROUNDING)
    return min(1.0, found * (1 + sign * _ROUNDING))


def _tail(betainc: Callable[..., Floats], least: Floats | int, trials: Floats | int, chance: float) -> Floats:
    """Pr[binomial ≥ least]."""
    least, trials = np.asarray(least, np.float64), np.asarray(trials, np.float64)
    inside = (least >= 1) & (least <= trials)
    found = betainc(np.where(inside, least, 1.0), np.where(inside, trials - least + 1, 1.0), chance)
    return np.asarray(np.where(inside, found, np.where(least < 1, 1.0, 0.0)))


def _below(betainc: Callable[..., Floats], least: int, trials: int, chance: float) -> float:
    """Pr[binomial < least]."""
    return 0.0 if least < 1 else float(betainc(trials - least + 1.0, float(least), 1 - chance))


def _first(holds: Callable[[float], bool], most: float) -> tuple[float, float]:
    """Where something begins to hold, from below and from above; at ``most`` it holds."""
    low, high = 0.0, most
    if holds(0.0):
        return 0.0, 0.0
    while high - low > _EXACT * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def _require_epsilon(epsilon: float) -> None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not 0 <= epsilon <= MAX_EPSILON:
        raise ParameterError.of("epsilon", f"a number from 0 to {MAX_EPSILON}", epsilon)


def _target(delta: NumberLike) -> float:
    found = share(delta, "delta")
    if not found:
        raise ParameterError("delta must be above 0: with delta = 0, shuffling gives nothing")
    return float(found)
