"""Other notions of privacy with the same methods: Gaussian DP and f-DP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.privacy.pairs import SuitablePair, distances

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from tinct.privacy.pairs import Floats

_GRID = np.unique(
    np.concatenate([np.linspace(0.0, 1.0, 4097), np.logspace(-12, -4, 129), 1 - np.logspace(-12, -4, 129)])
)
_GRID_TOLERANCE = 1e-9
_MAX_ITERATIONS = 10_000_000


@dataclass(frozen=True, init=False)
class GaussianDP(SuitablePair):
    """μ-Gaussian differential privacy: U(a) = Φ(Φ⁻¹(a) + μ).

    >>> round(GaussianDP(1.0).upper(0.5), 6)
    0.841345
    """

    mu: float

    coordinate = "probit"

    def __init__(self, mu: Any) -> None:
        try:
            value = float(mu)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if isinstance(mu, bool) or not 0 <= value <= 100:
            raise ParameterError(f"mu must be a number in [0, 100], got {mu!s:.80}")
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

    def __init__(self, f: Callable[[Any], Any]) -> None:
        if not callable(f):
            raise ParameterError(f"f must be a function from numbers in [0, 1] to numbers, got {f!r:.80}")
        object.__setattr__(self, "f", f)
        self._check()

    def _of(self, a: Floats) -> Floats:
        try:
            values = np.asarray(self.f(a), dtype=np.float64)
            if values.shape == a.shape:
                return values
        except (TypeError, ValueError):  # a function of one number, such as one that uses `if` or `math`
            pass
        try:
            return np.asarray(np.vectorize(self.f, otypes=[np.float64])(a))
        except (TypeError, ValueError) as error:
            raise ParameterError(f"f must be a function from numbers in [0, 1] to numbers: {error}") from None

    def _check(self) -> None:
        grid, values = _GRID, self._of(_GRID)
        _require((values >= 0) & (values <= 1), "f(a) must lie in [0, 1]", values)
        _require(values <= 1 - grid + _GRID_TOLERANCE, "f(a) must not exceed 1 − a", values)
        drops = np.append(np.diff(values), -0.0)
        _require(drops <= _GRID_TOLERANCE, "f must not increase", values)
        twice = self._of(values)
        inverse = np.abs(twice - np.minimum(grid, values[0])) <= 1e-6
        _require(inverse, "f must be symmetric, its own inverse: f(f(a)) = min(a, f(0))", twice)
        chord = np.interp(grid[1:-1], [0.0, 1.0], values[[0, -1]])  # a cheap first look before slopes
        _require(np.r_[True, values[1:-1] <= chord + _GRID_TOLERANCE, True], "f must be convex", values)
        weight = (grid[2:] - grid[1:-1]) / (grid[2:] - grid[:-2])
        between = weight * values[:-2] + (1 - weight) * values[2:]
        _require(np.r_[True, values[1:-1] <= between + _GRID_TOLERANCE, True], "f must be convex", values)

    @cached_property
    def balance(self) -> tuple[float, float]:
        """The fixed point of f, by bisection: 1 − α = f(1 − α)."""
        low, high = 0.0, 1.0
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if float(self._of(np.asarray(middle))) > middle else (low, middle)
        return 1.0 - high, high

    def walk(self, distance: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
        """U^distance(a) and 1 − U^distance(a) by iteration; b = 1 − a is implied."""
        steps, start, _ = np.broadcast_arrays(distances(distance), np.asarray(a, np.float64), b)
        value = start.copy()
        for done in range(int(steps.max(initial=0))):
            following = np.where(steps > done, self._upper(value), value)
            if np.array_equal(following, value):
                break
            if done == _MAX_ITERATIONS:
                raise ParameterError(f"distance is too large to iterate this f: still moving after {done:,} steps")
            value = following
        return value, 1.0 - value

    def _upper(self, a: Floats) -> Floats:
        values = self._of(a)
        # between the points of the grid; written so that NaN fails
        if not ((values >= -_GRID_TOLERANCE) & (values <= 1 + _GRID_TOLERANCE)).all():
            raise ParameterError("not a trade-off function: f(a) must lie in [0, 1] for every a in [0, 1]")
        return np.clip(1.0 - values, a, 1.0)

    def _transition(self, a: Floats) -> Floats:
        steps, value = np.zeros(a.shape), a.copy()
        for _ in range(_MAX_ITERATIONS):
            short = (value < self.balance[1]) & np.isfinite(steps)
            following = np.where(short, self._upper(value), value)
            if not short.any():
                return steps
            steps = np.where(short, np.where(following > value, steps + 1, np.inf), steps)
            value = following
        raise ParameterError(f"this f moves too slowly: no transition within {_MAX_ITERATIONS:,} steps")


def probit(a: Floats, b: Floats) -> Floats:
    """Φ⁻¹(a), taken from the smaller of a and b = 1 − a so that both tails keep their digits."""
    from scipy.special import ndtri

    return np.asarray(np.where(a <= b, ndtri(np.minimum(a, 0.5)), -ndtri(np.minimum(b, 0.5))))


def _require(holds: Any, law: str, values: Floats) -> None:
    if not holds.all():
        at = int(np.argmin(holds))
        raise ParameterError(f"not a trade-off function: {law}; at a = {_GRID[at]:.6g} it is {values[at]:.6g}")
