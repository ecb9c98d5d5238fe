"""f-divergences: how well two distributions can be told apart, for f by name or as a function.

Every divergence is computed from t·(f(x) − f′(1)(x − 1)) at x = z/t. The part that is linear at 1 sums to zero over a
distribution, so leaving it out changes no divergence; without it no term is negative and small budgets keep their
digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import cells as codes
from tinct.errors import ParameterError
from tinct.local.formulas import WORTH
from tinct.privacy.amounts import rational

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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


@dataclass(frozen=True)
class Utility:
    """An f-divergence: a name with its parameter, or a convex function of one's own."""

    name: str
    code: int
    parameter: float = 0.0
    function: Callable[[Any], Any] | None = None
    slope: float = 0.0

    @classmethod
    def parse(cls, utility: Any) -> Utility:
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
        only_first, only_second = math.fsum(m0[m1 == 0]), math.fsum(m1[m0 == 0])
        if only_first > 0:
            total += only_first * self._at_infinity()
        if only_second > 0:
            total += only_second * self._at_zero()
        return max(0.0, total)

    def _at_infinity(self) -> float:
        """The limit of f(x)/x for large x, less the slope at 1."""
        if self.function is not None:
            raise ParameterError("with a function of one's own, both distributions need a chance of every output")
        a = self.parameter
        hockey = 1.0 if a >= 1.0 else 0.0
        alpha = math.inf if a >= 1.0 else 1.0 / (1.0 - a)
        return (math.inf, 1.0, math.inf, 1.0, 0.5, 0.5 * math.log(2.0), hockey, alpha)[self.code]

    def _at_zero(self) -> float:
        """The value f(0) plus the slope at 1."""
        if self.function is not None:
            raise ParameterError("with a function of one's own, both distributions need a chance of every output")
        a = self.parameter
        hockey = a if a < 1.0 else 0.0
        alpha = math.inf if a <= 0.0 else 1.0 / a
        return (1.0, math.inf, 1.0, 1.0, 0.5, 0.5 * math.log(2.0), hockey, alpha)[self.code]

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


def divergence(p0: Any, p1: Any, utility: Any = "kl") -> float:
    """The f-divergence of two distributions, in nats where logarithms occur.

    >>> divergence([0.5, 0.5], [0.75, 0.25], "tv"), round(divergence([0.5, 0.5], [0.75, 0.25]), 9)
    (0.25, 0.143841036)
    """
    from tinct.local.inputs import Hypotheses

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
