"""(ε, δ)-differential privacy as a suitable pair, in closed form at every distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.numbers.amounts import MAX_EPSILON, Amount, rational, shown
from tinct.privacy.suitable_pairs import SuitablePair, distances

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from tinct.numbers.amounts import AmountLike, NumberLike
    from tinct.privacy.suitable_pairs import Floats

TINY = float(np.finfo(np.float64).tiny)
_BELOW_ONE = float(np.nextafter(1.0, 0.0))
_NO_GROWTH = 1e-290  # ε below this changes nothing in any float, even over 10^18 steps


@dataclass(frozen=True, init=False, repr=False)
class Privacy(SuitablePair):
    """(ε, δ)-differential privacy between neighbours.

    ``epsilon`` and ``delta`` may be numbers, Fractions, or text such as ``"0.1"``, ``"1/3"``, ``"ln 2"``,
    ``"log(3)"``. The exact value is kept in ``exact_epsilon`` and ``exact_delta``; ``epsilon`` and ``delta`` are
    the nearest floats.

    >>> Privacy("ln 2", 0.1)
    Privacy('ln 2', 0.1)
    >>> Privacy("ln 2", 0.1).upper(0.58)
    0.84
    """

    exact_epsilon: Amount
    exact_delta: Fraction

    coordinate = "odds"
    _proved = True

    def __init__(self, epsilon: AmountLike, delta: NumberLike = 0) -> None:
        exact_epsilon = _checked_epsilon(epsilon)
        exact_delta = rational(delta, "delta")
        if not 0 <= exact_delta < 1:
            raise ParameterError.of("delta", "a number in [0, 1)", delta)
        object.__setattr__(self, "exact_epsilon", exact_epsilon)
        object.__setattr__(self, "exact_delta", exact_delta)

    def __repr__(self) -> str:
        epsilon = self.exact_epsilon
        texts = [repr(str(epsilon)) if epsilon.is_log else shown(epsilon.value)]
        return f"Privacy({', '.join([*texts, shown(self.exact_delta)] if self.exact_delta else texts)})"

    @cached_property
    def epsilon(self) -> float:
        """ε as a float."""
        return float(self.exact_epsilon)

    @cached_property
    def delta(self) -> float:
        """δ as a float; below 1 as δ is."""
        return min(float(self.exact_delta), _BELOW_ONE)

    @property
    def growth(self) -> float:
        """E = e^ε as a float."""
        return self.exact_epsilon.growth

    @cached_property
    def step(self) -> tuple[float, float]:  # type: ignore[override] # computed here, a constant in the base class
        """(E, δ)."""
        return self.growth, self.delta

    @cached_property
    def balance(self) -> tuple[float, float]:
        """(E + δ)/(E + 1) and (1 − δ)/(E + 1)."""
        return (self.growth + self.delta) / (self.growth + 1.0), (1.0 - self.delta) / (self.growth + 1.0)

    def walk(self, distance: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
        """U^distance(a) and 1 − U^distance(a), each with its own relative precision, where b = 1 − a."""
        steps, start, rest = np.broadcast_arrays(
            distances(distance), np.asarray(a, np.float64), np.asarray(b, np.float64)
        )
        if self.epsilon < _NO_GROWTH:
            moved = steps * self.delta
            return np.minimum(1.0, start + moved), np.maximum(0.0, rest - moved)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return self._closed_form(steps, start, rest)

    def _closed_form(self, steps: NDArray[np.int64], start: Floats, rest: Floats) -> tuple[Floats, Floats]:
        # docs/theory.md §2: up to τ steps multiply the probability, the others shrink the error
        rising = np.minimum(steps, self._transition(start)).astype(np.int64)
        rise, fall = Power(rising, self.exact_epsilon), Power(steps - rising, self.exact_epsilon)
        least = self.exact_epsilon.growth_minus_one
        risen = rise.rise(start) + rise.rise_less_one(self.delta) / least
        risen = np.where(rising == 0, start, np.minimum(1.0, risen))
        # after one step 1 − U(a) is (1 − δ) − E·a: next to δ = 1 that has digits that 1 − (E·a + δ) has not
        left = np.where(rising == 1, (1.0 - self.delta) - rise.rise(start), 1.0 - risen)
        left = np.where(rising == 0, rest, np.maximum(left, 0.0))
        fallen = fall.decay(left) - self.delta * fall.one_less_decay() / least
        # An outcome that can happen is never rounded to one that cannot: δ = 0 would make that infinite ε.
        floor = TINY if self.delta == 0 else 0.0
        fallen = np.where(left > 0, np.maximum(fallen, floor), 0.0)
        falling = steps > rising
        return np.where(falling, 1.0 - fallen, risen), np.where(falling, fallen, left)

    def _transition(self, a: Floats) -> Floats:
        growth, delta = self.step
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.epsilon < _NO_GROWTH and delta > 0:
                gap = np.maximum(0.0, self.balance[1] - a)
                return np.where(gap > 0, np.ceil(gap / delta), 0.0)
            if delta == 0:
                logarithm = -np.log(growth + 1.0) - np.log(a)
            else:
                # ln((E − 1 + 2δ)/((E + 1)(a(E − 1) + δ))) as log1p, which keeps its digits when E − 1 is tiny
                least = self.exact_epsilon.growth_minus_one
                ratio = least / (growth + 1.0) * ((1.0 - delta - a * (growth + 1.0)) / (a * least + delta))
                logarithm = np.log1p(np.maximum(ratio, -1.0))
            steps = np.where(logarithm > 0, np.ceil(logarithm / self.epsilon), 0.0)
        return np.asarray(steps)


def _checked_epsilon(given: AmountLike) -> Amount:
    refusal = ParameterError.of("epsilon", f"a number in [0, {MAX_EPSILON}]", given)
    if isinstance(given, float) and not np.isfinite(given):
        raise refusal
    amount = Amount.parse(given, "epsilon")
    # compared before anything becomes a float, which a huge number could not
    good = amount.value >= 1 and float(amount) <= MAX_EPSILON if amount.is_log else 0 <= amount.value <= MAX_EPSILON
    if not good:
        raise refusal
    return amount


_SPLITTER = 134217729.0  # 2^27 + 1, Veltkamp's constant: splits a double into two halves of 26 bits


class Power:
    """e^(m·ε) and its relatives for an array of integers m ≥ 0."""

    def __init__(self, steps: NDArray[np.int64], amount: Amount) -> None:
        high, low = amount.split
        coarse = steps.astype(np.float64)
        # the part of a 63-bit integer that a double drops, as a double
        fine = (steps - coarse.astype(np.int64)).astype(np.float64)
        self._high, error = _two_product(coarse, high)
        self._low = error + coarse * low + fine * high

    def rise(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """start·e^(mε), halved so that a tiny start times a huge power does not overflow on the way."""
        half = np.exp(np.minimum(self._high, 1400.0) / 2)
        return (start * half) * half * (1.0 + self._low)

    def decay(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """start·e^(−mε)."""
        return start * np.exp(-self._high) * (1.0 - self._low)

    def rise_less_one(self, factor: float) -> NDArray[np.float64]:
        """factor·(e^(mε) − 1)."""
        half = np.exp(np.minimum(self._high, 1400.0) / 2)
        small = factor * (np.expm1(self._high) + np.exp(self._high) * self._low)
        return np.where(self._high < 1.0, small, (factor * half) * half * (1.0 + self._low) - factor)

    def one_less_decay(self) -> NDArray[np.float64]:
        """1 − e^(−mε)."""
        return -np.expm1(-self._high) + np.exp(-self._high) * self._low


def _two_product(a: NDArray[np.float64], b: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """a·b as the rounded product and its rounding error (Dekker)."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(np.float64(b))
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(x: NDArray[np.float64] | np.float64) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    scaled = _SPLITTER * x
    high = np.asarray(scaled - (scaled - x))
    return high, np.asarray(x - high)
