"""Several questions answered together for one ε: the rule SC (signed distance, capped).

Asked one by one, K questions get ε/K each. Together they need far less: a joint answer gets a probability that falls
with the number of people who would have to change before *all* of it were true, so that questions far from their
boundary cost almost nothing. The rule is ε-private whatever the questions are, as long as the distance of an answer is
0 exactly for the true one and changes by at most 1 between neighbours (proof: docs/proofs/several.md). It is near the
best possible; it is not known to be optimal.

With s = e^(−ε/2), q = s², d the least distance of a wrong answer, D_S the distance of the joint answer S (the largest
of its parts) and N_r = Σ s^max(D_S, r) over all wrong S:

    κ_S = N_{D_S}/(s³(1 + q)),   t solves t + Σ s^{D_S} min(s^(d−1) t, κ_S) = 1,
    Pr[S] = s^{D_S} min(s^(d−1) min(t, 1/(1 + q)), κ_S), and the truth gets what is left.

There are as many joint answers as products of answers, but only as many different probabilities as wrong answers: in
the order of their distances, the joint answers whose farthest part has rank j share one. So a draw takes one of these
classes, and then a uniform member of it. Probabilities are enclosed between whole multiples of 2^−bits and compared
with as many random bits as it takes to tell. So the draw is exact, and the work is the same whatever the distances are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from tinct.errors import ParameterError
from tinct.questions.modes.coins import BLOCK, power_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Below = Callable[[int], int]
    Distances = Sequence[Sequence[int]]

_GUARD = 64


@dataclass(frozen=True)
class Ranked:
    """A wrong answer in the order of distances, for the joint answers that have it as their farthest part.

    There are ``many`` of them: every other question has its true answer, or a wrong one of smaller rank.
    """

    question: int
    answer: int
    distance: int
    many: int


@dataclass(frozen=True)
class JointRule:
    """The rule for several questions.

    Attributes:
        sizes: How many answers each question has.
        s: A rational number in (0, 1]. With s ≥ e^(−ε/2) the joint answer is ε-private.
    """

    sizes: tuple[int, ...]
    s: Fraction

    def __post_init__(self) -> None:
        if not self.sizes or any(size < 2 for size in self.sizes):
            raise ParameterError("every question needs two answers or more")
        if not isinstance(self.s, Fraction) or not 0 < self.s <= 1:
            raise ParameterError(f"s must be a Fraction in (0, 1], got {self.s!r:.80}")

    def draw(self, distances: Distances, below: Below, *, block: int = BLOCK) -> tuple[int, ...]:
        """One joint answer, the place of an answer for each question, drawn exactly.

        Args:
            distances: For each question how far each of its answers is from being true; 0 for the true one alone.
            below: The source of randomness: ``below(n)`` is a uniform whole number in [0, n).
            block: How many binary places to draw at a time.
        """
        ranked = self.ranked(distances)
        drawn, bits = below(1 << block), block
        while (rank := self._class_at(ranked, drawn, bits)) is None:
            drawn, bits = drawn << block | below(1 << block), bits + block
        truth = [list(each).index(0) for each in distances]
        nearer = [[each] for each in truth]
        for wrong in ranked[:rank]:
            nearer[wrong.question].append(wrong.answer)
        member = [options[below(len(options))] for options in nearer]  # drawn for the truth too, and then not used
        if rank == len(ranked):
            return tuple(truth)
        member[ranked[rank].question] = ranked[rank].answer
        return tuple(member)

    def probabilities(self, distances: Distances) -> tuple[Fraction, ...]:
        """The exact probability of each class of wrong joint answers by rank, and of the truth at the end.

        For few questions and small distances: these are long fractions.

        >>> JointRule((2, 2), Fraction(1, 2)).probabilities([[0, 1], [1, 0]])
        (Fraction(1, 5), Fraction(2, 5), Fraction(2, 5))
        """
        ranked = self.ranked(distances)
        found = _class_weights(ranked, self.s.__pow__, Fraction(1), self.s)
        return (*found, 1 - sum(found, Fraction(0)))

    def truth(self, distances: Distances) -> float:
        """The probability that all answers are right. It grows with every distance (docs/proofs/several.md)."""
        s = float(self.s)
        return 1.0 - math.fsum(_class_weights(self.ranked(distances), s.__pow__, 1.0, s))

    def ranked(self, distances: Distances) -> list[Ranked]:
        """All wrong answers in the order of their distances, with how many joint answers end with each."""
        if tuple(map(len, distances)) != self.sizes or any(list(each).count(0) != 1 for each in distances):
            raise ParameterError("distances must be 0 for one answer of each question, the true one")
        wrong = sorted(
            (distance, question, answer)
            for question, each in enumerate(distances)
            for answer, distance in enumerate(each)
            if distance
        )
        options, found = [1] * len(self.sizes), []
        for distance, question, answer in wrong:
            many = math.prod(options[:question]) * math.prod(options[question + 1 :])
            found.append(Ranked(question, answer, distance, many))
            options[question] += 1
        return found

    def _class_at(self, ranked: Sequence[Ranked], drawn: int, bits: int) -> int | None:
        """The class in which every real number of [drawn, drawn + 1)·2^−bits lies; None if that cannot be told yet."""
        scale = bits + self._guard
        one, s = Enclosure.of(Fraction(1), scale), Enclosure.of(self.s, scale)

        def power(exponent: int) -> Enclosure:
            return Enclosure(*power_bounds(self.s, exponent, scale), scale)

        ends = list(accumulate(_class_weights(ranked, power, one, s)))
        first, last = drawn << self._guard, (drawn + 1) << self._guard
        before = sum(each.high <= first for each in ends)  # classes that end before the number, and
        after = sum(each.low >= last for each in ends)  # those that end behind it
        return before if before + after == len(ends) else None

    @cached_property
    def _guard(self) -> int:
        """Binary places beyond those that are drawn: a class is large, and κ has s³ below it."""
        return _GUARD + 2 * math.prod(self.sizes).bit_length() + 3 * (1 / self.s).__ceil__().bit_length()


@dataclass(frozen=True)
class Enclosure:
    """A real number, at least 0, between low·2^−scale and high·2^−scale; every rounding goes outward."""

    low: int
    high: int
    scale: int

    @classmethod
    def of(cls, value: Fraction, scale: int) -> Enclosure:
        """The closest one."""
        up = value.numerator << scale
        return cls(up // value.denominator, -(-up // value.denominator), scale)

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.low + other.low, self.high + other.high, self.scale)

    def less(self, other: Enclosure) -> Enclosure:
        """The difference, or 0 if that is more."""
        return Enclosure(max(0, self.low - other.high), max(0, self.high - other.low), self.scale)

    def __mul__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.low * other.low >> self.scale, -(-self.high * other.high >> self.scale), self.scale)

    def times(self, many: int) -> Enclosure:
        """So many of it."""
        return Enclosure(self.low * many, self.high * many, self.scale)

    def __truediv__(self, other: Enclosure) -> Enclosure:
        low, high = (self.low << self.scale) // other.high, -((-self.high << self.scale) // other.low)
        return Enclosure(low, high, self.scale)


Real = TypeVar("Real", Fraction, float, Enclosure)


def _class_weights(ranked: Sequence[Ranked], power: Callable[[int], Real], one: Real, s: Real) -> list[Real]:
    """The probability of each class of wrong joint answers, in whatever numbers ``one`` and ``s`` are."""
    powers = [power(wrong.distance) for wrong in ranked]
    each = [_times(value, wrong.many) for value, wrong in zip(powers, ranked, strict=True)]
    among = list(accumulate(wrong.many for wrong in ranked))
    zero = _less(one, one)
    beyond = _sums_from(each, zero)[1:]
    first, both, half = power(ranked[0].distance - 1), one + s * s, one / (one + s * s)
    # what κ and what t allow; t grows until every class is at one of the two
    caps = [
        weight * (_times(value, many) + rest) / (s * s * s * both)
        for weight, value, many, rest in zip(each, powers, among, beyond, strict=True)
    ]
    free = [weight * first for weight in each]
    capped = _sums_from(caps, zero)
    roots = [_less(one, rest) / (one + head) for rest, head in zip(capped, accumulate(free, initial=zero), strict=True)]
    shared = _smaller(_largest(roots), half)
    return [_smaller(cap, own * shared) for cap, own in zip(caps, free, strict=True)]


def _sums_from(values: Sequence[Real], zero: Real) -> list[Real]:
    """For each place the sum of the values from there on, and zero at the end."""
    sums = [zero]
    for value in reversed(values):
        sums.append(sums[-1] + value)
    return sums[::-1]


def _times(value: Real, many: int) -> Real:
    return value.times(many) if isinstance(value, Enclosure) else value * many


def _less(value: Real, other: Real) -> Real:
    return value.less(other) if isinstance(value, Enclosure) else max(value - other, value - value)


def _smaller(value: Real, other: Real) -> Real:
    if isinstance(value, Enclosure):
        return Enclosure(min(value.low, other.low), min(value.high, other.high), value.scale)
    return min(value, other)


def _largest(values: Sequence[Real]) -> Real:
    if isinstance(values[0], Enclosure):
        return Enclosure(max(each.low for each in values), max(each.high for each in values), values[0].scale)
    return max(values)
