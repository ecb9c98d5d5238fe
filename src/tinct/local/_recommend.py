"""recommend: which mechanism to collect frequencies with, by the error that matters (docs/theory.md §8.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.local.frequency_errors import (
    half_width,
    people_for,
    per_square,
    plain,
    pure_spread,
    reports_for_width,
    require_error,
    spread,
    table_squares,
)
from tinct.local.mechanisms.hadamard_response import hadamard_response
from tinct.local.mechanisms.local_hashing import hash_chances, local_hashing
from tinct.local.mechanisms.randomized_response import randomized_response
from tinct.local.mechanisms.subset_selection import subset_chances, subset_selection
from tinct.local.mechanisms.unary_encoding import unary_encoding
from tinct.local.mechanisms.written_out_table import geometric
from tinct.local.parameters import MAX_SYMBOLS, LocalBudget, distribution, named_symbols, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from tinct.local.local_mechanism import LocalMechanism
    from tinct.local.mechanisms.base import Channel, Randomiser
    from tinct.local.parameters import BudgetLike, Floats, SymbolsLike

GOALS = ("total", "worst", "largest", "pointwise", "joint")
PEOPLE = 10_000  # if neither people nor an error is given
MAX_TABLE = 50  # symbols up to which mechanisms that are a table take part
MAX_EPSILON = 20.0
_TRIED = 100_000  # sizes of subsets, or numbers of buckets, that are looked at
_AS_GOOD = 1e-9  # relative; among errors this close the shorter report comes first


@dataclass(frozen=True)
class Choice:
    """A mechanism for frequencies, how exact it is, and what it costs.

    Attributes:
        mechanism: It, ready to be used.
        error: Its error, by the goal.
        people: With how many reports.
        bytes: The length of a report, packed.
        drawn: How many random numbers a client draws for it.
        steps: About how many elementary steps the estimate from all reports takes.
    """

    mechanism: LocalMechanism
    error: float
    people: int
    bytes: int
    drawn: int
    steps: int


@dataclass(frozen=True)
class Recommendation:
    """Mechanisms for frequencies, the best first.

    Attributes:
        goal: What ``error`` measures.
        choices: The mechanisms, ranked by their error; or by the people or the ε that they need for it.
    """

    goal: str
    choices: tuple[Choice, ...]

    @property
    def best(self) -> LocalMechanism:
        """The first of them."""
        return self.choices[0].mechanism

    def __repr__(self) -> str:
        lines = (
            f"{each.mechanism.name}: ε = {each.mechanism.epsilon:.6g}, {each.people:,} people, error {each.error:.4g}, "
            f"{each.bytes:,} bytes"
            for each in self.choices
        )
        return "\n".join([f"<Recommendation by {self.goal}>", *lines])


def recommend(
    k: int,
    epsilon: BudgetLike | None = None,
    *,
    people: int | None = None,
    error: float | None = None,
    shares: ArrayLike | None = None,
    goal: str = "total",
    largest: int = 1,
    confidence: float = 0.95,
    symbols: SymbolsLike | None = None,
) -> Recommendation:
    """All mechanisms for the frequencies of k symbols, ranked by the error that matters.

    Of ε, people and error, give two: the third is computed for each mechanism. With ε alone, 10,000 people are assumed.
    The sizes of subsets and the number of buckets are the best for the goal. Sampling is part of the error. Geometric
    noise takes part up to 50 symbols, for the goals ``"total"`` and ``"worst"``.

    Args:
        k: The number of symbols.
        epsilon: The budget; the least one is found if people and error are given instead.
        people: How many reports there will be.
        error: How exact the frequencies must be.
        shares: Guessed frequencies; the worst there can be if left out.
        goal: ``"total"``, the root of the mean squared error over all symbols; ``"worst"``, the standard error of the
            worst symbol; ``"largest"``, the same among the symbols with the largest shares; ``"pointwise"``, the
            half-width of the widest interval for one symbol; ``"joint"``, that of intervals for all symbols at once.
        largest: With that goal, how many symbols.
        confidence: Of the intervals.
        symbols: Names for the symbols.

    >>> found = recommend(40, 1, people=50_000)
    >>> [(each.mechanism.name, round(each.error, 4)) for each in found.choices[:2]]
    [('subset selection', 0.0084), ('local hashing', 0.0084)]
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    aim = Aim.parse(k, shares, goal, largest, confidence)
    if (epsilon is not None) + (people is not None) + (error is not None) == 3:
        raise ParameterError("of epsilon, people and error, give two: the third is computed")
    if people is not None:
        people = whole(people, "people", 1, 10**15)
    if error is not None:
        require_error(error)
    if epsilon is None:
        if people is None or error is None:
            raise ParameterError("give epsilon, or both people and error")
        made = [_least_budget(build, k, aim, people, error) for build in _builders(k, aim)]
        found = [one for one in made if one is not None]
        if not found:
            raise ParameterError(f"{people:,} people are too few for an error of {error:g}, whatever ε is")
    else:
        found = [build(k, LocalBudget.parse(epsilon)) for build in _builders(k, aim)]
    choices = [_choice(_renamed(one, symbols), aim, people, error if epsilon is not None else None) for one in found]
    return Recommendation(goal, tuple(sorted(choices, key=_rank)))


@dataclass(frozen=True, eq=False)
class Aim:
    """A goal with all that it depends on; ``variance`` is in units of one report."""

    goal: str
    shares: Floats | None
    confidence: float

    @classmethod
    def parse(cls, k: int, shares: ArrayLike | None, goal: str, largest: int, confidence: float) -> Aim:
        """Check a goal, and keep the shares that it is about."""
        if goal not in GOALS:
            raise ParameterError.of("goal", f"one of {', '.join(GOALS)}", goal)
        if not 0 < confidence < 1:
            raise ParameterError.of("confidence", "a number between 0 and 1", confidence)
        largest = whole(largest, "largest", 1, k)
        found = None if shares is None else distribution(shares, "shares")
        if found is not None and len(found) != k:
            raise ParameterError(f"shares must have {k:,} frequencies, got {len(found):,}")
        if goal == "largest":
            if found is None:
                raise ParameterError("the goal 'largest' is about the largest shares: guess them (shares)")
            found = np.sort(found)[-largest:]
        return cls(goal, found, confidence)

    def pure(self, k: int, own: Floats, other: Floats) -> Floats:
        """The variance for arrays of chances."""
        if self.goal != "total":
            return pure_spread(own, other, self.shares)
        # the mean of s(1 − s) over symbols with s = b + f(a − b); uniform shares are the worst
        squares = 1.0 / k if self.shares is None else float(self.shares @ self.shares)
        support = other + (own - other) / k
        second = other**2 + (2 * other * (own - other) + (own - other) ** 2 * squares) / k
        return per_square(support - second, own, other)

    def variance(self, randomiser: Randomiser, k: int) -> float:
        """The variance of a mechanism."""
        if randomiser.chances is not None:
            own, other = (np.array([float(chance)]) for chance in randomiser.chances)
            return float(self.pure(k, own, other)[0])
        if self.goal != "total":
            return spread(randomiser, self.shares)
        shares = np.full(k, 1.0 / k) if self.shares is None else self.shares
        return float((shares @ table_squares(plain(randomiser).matrix()) - shares**2).mean())

    def error(self, mechanism: LocalMechanism, people: int) -> float:
        """The error that so many reports leave."""
        if self.goal in ("pointwise", "joint"):
            return half_width(mechanism.randomiser, people, self.shares, self.confidence, self.goal == "joint")
        return math.sqrt(self.variance(mechanism.randomiser, len(mechanism.symbols)) / people)

    def people(self, mechanism: LocalMechanism, error: float) -> int:
        """How many reports bring the error down to this."""
        if self.goal in ("pointwise", "joint"):
            joint = self.goal == "joint"
            return reports_for_width(mechanism.randomiser, error, self.shares, self.confidence, joint)
        return people_for(self.variance(mechanism.randomiser, len(mechanism.symbols)), error)


def _builders(k: int, aim: Aim) -> list[Callable[[int, LocalBudget], LocalMechanism]]:
    """Every mechanism that estimates frequencies, with its parameters at their best for the goal."""
    tried = np.arange(1, k + 1)
    if k > _TRIED:
        tried = np.unique(np.geomspace(1, k, _TRIED).round().astype(np.int64))

    def subsets(k: int, budget: LocalBudget) -> LocalMechanism:
        sizes = tried[tried < k]
        best = sizes[np.argmin(aim.pure(k, *subset_chances(k, sizes, budget)))]
        return subset_selection(k, budget, size=int(best))

    def hashing(k: int, budget: LocalBudget) -> LocalMechanism:
        buckets = tried[tried >= 2]
        best = buckets[np.argmin(aim.pure(k, *hash_chances(k, buckets, budget)))]
        return local_hashing(k, budget, buckets=int(best))

    every: list[Callable[[int, LocalBudget], LocalMechanism]]
    every = [randomized_response, subsets, unary_encoding, hashing, hadamard_response]
    # intervals of tables are approximate, and would win by being too narrow
    return [*every, geometric] if k <= MAX_TABLE and aim.goal in ("total", "worst") else every


def _least_budget(
    build: Callable[[int, LocalBudget], LocalMechanism], k: int, aim: Aim, people: int, error: float
) -> LocalMechanism | None:
    """The mechanism with the least ε, in thousandths, that is exact enough; None if even ε = 20 is not."""

    def made(thousandths: int) -> LocalMechanism:
        return build(k, LocalBudget.parse(f"{thousandths}/1000"))

    low, high = 0, round(1000 * MAX_EPSILON)
    if not aim.error(made(high), people) <= error:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if aim.error(made(middle), people) <= error else (middle, high)
    return made(high)


def _renamed(mechanism: LocalMechanism, symbols: SymbolsLike | None) -> LocalMechanism:
    return replace(mechanism, symbols=named_symbols(symbols, len(mechanism.symbols)))


def _choice(mechanism: LocalMechanism, aim: Aim, people: int | None, error: float | None) -> Choice:
    if error is not None:
        people = aim.people(mechanism, error)
    people = people or PEOPLE
    bits, drawn, steps = _costs(mechanism.channel, people)
    return Choice(mechanism, aim.error(mechanism, people), people, -(-bits // 8), drawn, steps)


def _rank(choice: Choice) -> tuple[float, ...]:
    """By ε, then people, then error: of these, two are the same for all; rounding does not decide."""
    error = float(f"{choice.error:.{round(-math.log10(_AS_GOOD))}g}")
    return (choice.mechanism.epsilon, choice.people, error, choice.bytes, choice.steps)


def _costs(channel: Channel, people: int) -> tuple[int, int, int]:
    """The bits of a report, the numbers drawn for it, and the steps of an estimate from all of them."""
    k = channel.size
    width = (k - 1).bit_length()
    if channel.kind == "subset":
        members: int = channel.members  # type: ignore[attr-defined] # this kind has them
        return min(members * width, k), members + 2, people * members + k
    if channel.kind == "unary":
        return k, k, people * k
    if channel.kind == "hash":
        prime, buckets = channel.prime, channel.buckets  # type: ignore[attr-defined] # this kind has them
        return 2 * prime.bit_length() + (buckets - 1).bit_length(), 3, people * k
    places = (channel.outputs - 1).bit_length()
    if channel.kind == "hadamard":
        return places, 2, people + channel.outputs * places
    return places, 1, people + (k if channel.kind == "cells" else k**3)
