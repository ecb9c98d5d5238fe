"""How far a number that was answered may be from the truth, and from the population that the people are a sample of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from tinct.asking.number_designs import together, width
from tinct.errors import ParameterError
from tinct.numbers.amounts import rational
from tinct.questions import parse
from tinct.questions.noise import NoiseCertificate, TableNoise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.asking.answers import Plan
    from tinct.numbers.amounts import NumberLike
    from tinct.questions.noise import Noise

_BINS = 4096
_ROUNDS = 60
_TAIL = 1e-12  # added to every p-value: what floats may lose


def interval(plan: Plan, value: Any, level: NumberLike) -> Any:
    """The least and the largest true number, of each on its own (of ``top``: of all), that the noise leaves so often.

    Whether it holds is decided by the noise alone, so it holds for every dataset.
    """
    certificate = _certificate(plan)
    error = width(certificate.noise, together(parse(plan.question), level), certificate.center)

    def around(number: int) -> tuple[int, int]:
        low, high = number - error, number + error
        if plan.mechanism != "margin":
            low, high = max(0, low), max(0, high)
        return (low, high) if plan.people is None else (min(low, plan.people), min(high, plan.people))

    return _each(around, value)


def population_share(plan: Plan, value: Any, level: NumberLike) -> Any:
    """Confidence bounds for the share in the population, if the people are a random sample of it (docs/theory.md §13).

    They cover the sample and the noise together: a share is left out if a count at least, or at most, as large as the
    one answered has a probability of less than half of 1 − level under it.
    """
    certificate = _certificate(plan)
    if not plan.people:
        raise ParameterError(
            "bounds for the share in a population need the public number of people: ask with neighbors='replace'"
        )
    wanted = rational(level, "level")
    if 0 < wanted < 1:
        wanted = rational(together(parse(plan.question), wanted), "level")
    else:
        raise ParameterError.of("level", "a probability between 0 and 1", level)
    found = ShareBounds(certificate.noise, plan.people, float(1 - wanted) / 2)
    return _each(found.around, value)


def _certificate(plan: Plan) -> NoiseCertificate:
    if not isinstance(plan.certified, NoiseCertificate):
        raise ParameterError("only numbers have an interval: count, margin, histogram and top answer with numbers")
    return plan.certified


def _each(work: Callable[[int], Any], value: Any) -> Any:
    return {name: _each(work, each) for name, each in value.items()} if isinstance(value, Mapping) else work(value)


class ShareBounds:
    """The shares p under which T + Z, T binomial of n and p and Z the noise, is not too far from what was answered."""

    def __init__(self, noise: Noise, people: int, tail: float) -> None:
        self.people, self.tail = people, tail
        self.numbers, self.weights = _binned(noise)

    def around(self, answer: int) -> tuple[float, float]:
        """The lower and the upper bound for p."""
        low = self._bound(lambda p: self.at_least(answer, p))
        # T + Z ≤ y is n − T − Z ≥ n − y: the same for those who say no
        high = 1.0 - self._bound(lambda p: self.at_least(self.people - answer, p, flipped=True))
        return low, max(low, high)

    def at_least(self, answer: int, p: float, *, flipped: bool = False) -> float:
        """Pr[T + Z ≥ answer], or, flipped, Pr[T − Z ≥ answer]; never too small."""
        noise = -self.numbers[0] if flipped else self.numbers[1]
        least = np.clip(answer - noise, 0, self.people + 1).astype(np.float64)
        inside = np.clip(least, 1, self.people)
        reached = special.betainc(inside, self.people - inside + 1, p)
        reached = np.where(least <= 0, 1.0, np.where(least > self.people, 0.0, reached))
        return float(self.weights @ reached) + _TAIL

    def _bound(self, value: Callable[[float], float]) -> float:
        """The largest p found for which the probability, which rises with p, is at most the tail."""
        low, high = 0.0, 1.0
        if value(low) > self.tail:
            return 0.0
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            low, high = (low, middle) if value(middle) > self.tail else (middle, high)
        return low


def _binned(noise: Noise) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]:
    """The noise in at most 4,096 bins: the least and the largest number of each, and its probability."""
    low, high = (-noise.reach, noise.reach) if noise.ends is None else noise.ends
    edges = np.unique(np.linspace(low, high + 1, min(_BINS, high - low + 1) + 1).round().astype(np.int64))
    if isinstance(noise, TableNoise):
        beyond = np.array([noise.at_least(int(edge)) for edge in edges])
    else:
        beyond = np.array([1.0, *(noise.at_least(int(edge)) for edge in edges[1:-1]), 0.0])
    return (edges[:-1], edges[1:] - 1), beyond[:-1] - beyond[1:]
