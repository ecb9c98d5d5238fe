"""f-divergences: how well two distributions can be told apart, for f by name or as a function.

Every divergence is computed from t·(f(x) − f′(1)(x − 1)) at x = z/t. The part that is linear at 1 sums to zero over a
distribution, so leaving it out changes no divergence; without it no term is negative and small budgets keep their
digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tinct._kernels import best_cells as codes
from tinct.errors import ParameterError
from tinct.numbers.amounts import rational

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.local.parameters import DistributionLike, Floats


UtilityLike: TypeAlias = "str | Callable[[Any], Any] | Utility"  # a name, or a convex function
NAMES = {
    "kl": codes.KL,
    "reverse-kl": codes.REVERSE_KL,
    "chi2": codes.CHI2,
    "hellinger": codes.HELLINGER,
    "tv": codes.TV,
    "js": codes.JS,
    "hockey-stick": codes.HOCKEY_STICK,
    "alpha": codes.ALPHA,
}
WITH_PARAMETER = {"hockey-stick": (0.0, 1e6), "alpha": (-100.0, 100.0)}
_OWN = -1
_STEP = 1e-5
_GRID = 2_001
_CHORD = 1e-9
_NOISE = 1e-13  # what evaluating a function of size 1 may be off by, near 1
_NEAR_LOW, _NEAR_HIGH = -0.3, 0.4  # where z/t − 1 is small enough for the series


@dataclass(frozen=True)
class Utility:
    """An f-divergence: a name with its parameter, or a convex function of one's own."""

    name: str
    code: int
    parameter: float = 0.0
    function: Callable[[Any], Any] | None = None
    slope: float = 0.0

    @classmethod
    def parse(cls, utility: UtilityLike) -> Utility:
        """Read ``"kl"``, ``"hockey-stick:1.5"``, ``"alpha:0.5"``, …, or take a convex function f with f(1) = 0.

        >>> Utility.parse("hockey-stick:1.5").parameter
        1.5
        """
        if isinstance(utility, Utility):
            return utility
        if isinstance(utility, str):
            return _named(utility)
        if not callable(utility):
            raise ParameterError(f"utility must be {_choices()}, or a convex function f, got {utility!r:.80}")
        return _own(utility)

    def worth(self, z: Floats, t: Floats, delta: Floats) -> Floats:
        """What parts with mass z under P0, t under P1 and difference ``delta`` are worth; all z and t are positive."""
        if self.function is not None:
            return t * _values(self.function, z / t, self.name) - self.slope * delta
        with np.errstate(over="ignore", invalid="ignore"):  # who asks checks whether the result is finite
            return WORTH[self.code](z, t, delta, self.parameter)

    def divergence(self, m0: Floats, m1: Floats) -> float:
        """The divergence of two distributions; infinite where f says so."""
        both = (m0 > 0) & (m1 > 0)
        total = math.fsum(self.worth(m0[both], m1[both], m0[both] - m1[both]))
        for alone, limit in ((m0[m1 == 0], 0), (m1[m0 == 0], 1)):
            if math.fsum(alone) > 0:
                total += math.fsum(alone) * self.limits()[limit]
        return max(0.0, total)

    def limits(self) -> tuple[float, float]:
        """The limit of f(x)/x for large x, less the slope at 1; and f(0) plus that slope."""
        if self.function is not None:
            raise ParameterError("with a function of one's own, both distributions need a chance of every output")
        a, half = self.parameter, 0.5 * math.log(2.0)
        hockey = (1.0, 0.0) if a >= 1.0 else (0.0, a)
        alpha = (math.inf if a >= 1.0 else 1.0 / (1.0 - a), math.inf if a <= 0.0 else 1.0 / a)
        kl, reverse = (math.inf, 1.0), (1.0, math.inf)
        return (kl, reverse, kl, (1.0, 1.0), (0.5, 0.5), (half, half), hockey, alpha)[self.code]

    def require_convex(self, epsilon: float) -> None:
        """Refuse a function of one's own that is not finite and convex where budget ε evaluates it.

        This looks at 2,001 places between e^−ε and e^ε, also close to 1. It finds mistakes; it is not a proof.
        """
        if self.function is None:
            return
        reach = min(epsilon, 300.0)
        exponents = np.linspace(-1.0, 1.0, _GRID)
        x = np.exp(reach * np.concatenate([exponents, exponents**3]))
        x = np.unique(np.append(x, 1.0))
        y = _values(self.function, x, self.name)
        left, middle, right = x[:-2], x[1:-1], x[2:]
        share = (right - middle) / (right - left)
        above = y[1:-1] - (share * y[:-2] + (1 - share) * y[2:])
        size = np.maximum(np.maximum(abs(y[:-2]), abs(y[2:])), abs(y[1:-1]))
        beyond = above - _CHORD * size - _NOISE
        worst = int(np.argmax(beyond)) if len(beyond) else -1
        if worst >= 0 and beyond[worst] > 0:
            raise ParameterError(
                f"the utility must be convex: at x = {middle[worst]:.6g} it is {y[worst + 1]:.6g}, above the line "
                f"between its values at {left[worst]:.6g} and {right[worst]:.6g}"
            )


def divergence(p0: DistributionLike, p1: DistributionLike, utility: UtilityLike = "kl") -> float:
    """The f-divergence of two distributions, in nats where logarithms occur.

    >>> divergence([0.5, 0.5], [0.75, 0.25], "tv"), round(divergence([0.5, 0.5], [0.75, 0.25]), 9)
    (0.25, 0.143841036)
    """
    from tinct.local.parameters import Hypotheses

    both = Hypotheses.parse(p0, p1)
    return Utility.parse(utility).divergence(both.p0, both.p1)


def _named(text: str) -> Utility:
    name, colon, given = text.strip().lower().partition(":")
    if name not in NAMES or bool(colon) != (name in WITH_PARAMETER):
        raise ParameterError(f"utility must be {_choices()}, or a convex function f, got {text!r:.80}")
    if not colon:
        return Utility(name, NAMES[name])
    least, most = WITH_PARAMETER[name]
    parameter = float(rational(given, f"the parameter of {name}"))
    if not least <= parameter <= most:
        raise ParameterError(f"the parameter of {name} must be in [{least:g}, {most:g}], got {given!r:.80}")
    return Utility(f"{name}:{given.strip()}", NAMES[name], parameter)


def _choices() -> str:
    return ", ".join(f"{name}:<number>" if name in WITH_PARAMETER else name for name in NAMES)


def _own(function: Callable[[Any], Any]) -> Utility:
    name = getattr(function, "__name__", "f")
    at = _values(function, np.array([1.0 - _STEP, 1.0, 1.0 + _STEP]), name)
    if not abs(at[1]) <= 1e-12:
        raise ParameterError(f"the utility f must have f(1) = 0, got {at[1]:.6g}: subtract it")
    return Utility(name, _OWN, function=function, slope=float(at[2] - at[0]) / (2.0 * _STEP))


def _values(function: Callable[[Any], Any], x: Floats, name: str) -> Floats:
    """The function at every place of an array, whether or not it takes arrays."""
    try:
        y = np.asarray(function(x), np.float64)
        if y.shape != x.shape:
            raise TypeError
    except (TypeError, ValueError):
        y = np.array([_one_value(function, float(one), name) for one in x.ravel()]).reshape(x.shape)
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        raise ParameterError(f"the utility {name} must be finite for x > 0, got {y[bad[0]]} at x = {x[bad[0]]:.6g}")
    return y


def _one_value(function: Callable[[Any], Any], x: float, name: str) -> float:
    try:
        return float(function(x))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ParameterError(f"the utility {name} must be a number for every x > 0, at {x:.6g}: {error}") from None


def _tail(s: Floats) -> Floats:
    q = s * s
    total: Floats = np.full_like(q, 1.0 / 25.0)
    for odd in range(23, 1, -2):
        total = 1.0 / odd + q * total
    return s * q * total


def _split(t: Floats, delta: Floats) -> tuple[Any, Floats]:
    """Where the series is used, and s of the series there (0 elsewhere)."""
    d = delta / t
    near = (d > _NEAR_LOW) & (d < _NEAR_HIGH)
    return near, np.where(near, d / (2.0 + d), 0.0)


def _kl(z: Floats, t: Floats, delta: Floats, _: float) -> Floats:
    near, s = _split(t, delta)
    series = t * 2.0 * (s * s + (1.0 + s) * _tail(s)) / (1.0 - s)
    return series if near.all() else np.where(near, series, z * np.log(z / t) - delta)


def _reverse_kl(z: Floats, t: Floats, delta: Floats, _: float) -> Floats:
    near, s = _split(t, delta)
    series = t * 2.0 * (s * s / (1.0 - s) - _tail(s))
    return series if near.all() else np.where(near, series, delta - t * np.log(z / t))


def _chi2(_z: Floats, t: Floats, delta: Floats, _: float) -> Floats:
    return delta * (delta / t)


def _hellinger(z: Floats, t: Floats, delta: Floats, _: float) -> Floats:
    return np.asarray((delta / (np.sqrt(z) + np.sqrt(t))) ** 2)


def _tv(_z: Floats, _t: Floats, delta: Floats, _: float) -> Floats:
    return 0.5 * abs(delta)


def _js(z: Floats, t: Floats, delta: Floats, _: float) -> Floats:
    near, _s = _split(t, delta)
    series = 0.5 * (_kl(z, t, delta, 0.0) - 2.0 * _kl(t + 0.5 * delta, t, 0.5 * delta, 0.0))
    if near.all():
        return series
    middle = 0.5 * (z + t)
    return np.where(near, series, 0.5 * (z * np.log(z / middle) + t * np.log(t / middle)))


def _hockey_stick(_z: Floats, t: Floats, delta: Floats, gamma: float) -> Floats:
    beyond = delta - (gamma - 1.0) * t
    return np.maximum(0.0, beyond if gamma >= 1.0 else -beyond)


def _alpha(z: Floats, t: Floats, delta: Floats, a: float) -> Floats:
    d = delta / t
    near = abs(d) * (1.0 + abs(a)) < 0.5
    small = np.where(near, d, 0.0)
    term = 0.5 * small * small
    total = term.copy()
    for n in range(2, 60):
        term = term * ((a - n) / (n + 1) * small)
        total += term
    logarithm = np.log(z / t)
    if abs(a) < 0.5:
        power = logarithm if a == 0.0 else np.expm1(a * logarithm) / a
        return np.where(near, t * total, (t * power - delta) / (a - 1.0))
    power = logarithm if a == 1.0 else np.expm1((a - 1.0) * logarithm) / (a - 1.0)
    return np.where(near, t * total, (z * power - delta) / a)


WORTH = (_kl, _reverse_kl, _chi2, _hellinger, _tv, _js, _hockey_stick, _alpha)
