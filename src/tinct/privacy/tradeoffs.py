"""Other notions of privacy with the same methods: Gaussian DP and f-DP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.privacy.suitable_pairs import SuitablePair, distances, in_bulk

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import ArrayLike

    from tinct.privacy.suitable_pairs import Floats


@dataclass(frozen=True, init=False)
class GaussianDP(SuitablePair):
    """μ-Gaussian differential privacy: U(a) = Φ(Φ⁻¹(a) + μ).

    >>> round(GaussianDP(1.0).upper(0.5), 6)
    0.841345
    """

    mu: float

    coordinate = "probit"
    _proved = True

    def __init__(self, mu: float | str | Fraction | np.floating[Any] | np.integer[Any]) -> None:
        try:
            value = float(mu)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if isinstance(mu, bool) or not 0 <= value <= 100:
            raise ParameterError.of("mu", "a number in [0, 100]", mu)
        object.__setattr__(self, "mu", value)

    @property
    def step(self) -> tuple[float, float]:  # type: ignore[override] # computed here, a constant in the base class
        """(e^μ, 0): one step adds μ to the probit, so it multiplies e^probit."""
        return math.exp(self.mu), 0.0

    @cached_property
    def balance(self) -> tuple[float, float]:
        """Φ(μ/2) and Φ(−μ/2)."""
        from scipy.special import ndtr

        return float(ndtr(self.mu / 2)), float(ndtr(-self.mu / 2))

    def walk(self, distance: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
        """U^distance(a) and 1 − U^distance(a), each with its own relative precision, where b = 1 − a."""
        from scipy.special import ndtr

        position = probit(np.asarray(a, np.float64), np.asarray(b, np.float64)) + distances(distance) * self.mu
        return ndtr(position), ndtr(-position)

    def _transition(self, a: Floats) -> Floats:
        gap = np.maximum(0.0, -self.mu / 2 - probit(a, 1.0 - a))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(gap > 0, np.ceil(gap / self.mu), 0.0)


@dataclass(frozen=True, init=False)
class TradeOff(SuitablePair):
    """f-differential privacy for a symmetric trade-off function f: U(a) = 1 − f(a).

    ``f`` maps [0, 1] to [0, 1], is convex and non-increasing, stays below 1 − a and is its own inverse. All of
    that is checked on a fine grid, and the error says where it fails.

    >>> TradeOff(lambda a: 1 - a).reach(5, 0.25)
    0.25
    """

    f: Callable[[Any], Any]

    _symbol = "f"

    def __init__(self, f: Callable[[Any], Any]) -> None:
        if not callable(f):
            raise ParameterError.of("f", "a function from numbers in [0, 1] to numbers", f)
        object.__setattr__(self, "f", f)

    def bound(self, a: Floats) -> Floats:
        """1 − f(a)."""
        return 1.0 - in_bulk(self.f, a, self._symbol)

    @property
    def _refusal(self) -> str:
        return "not a trade-off function"


def probit(a: Floats, b: Floats) -> Floats:
    """Φ⁻¹(a), taken from the smaller of a and b = 1 − a so that both tails keep their digits."""
    from scipy.special import ndtri

    return np.asarray(np.where(a <= b, ndtri(np.minimum(a, 0.5)), -ndtri(np.minimum(b, 0.5))))
