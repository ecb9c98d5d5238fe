"""Rényi and zero-concentrated differential privacy as suitable pairs for two answers (docs/proofs/renyi.md).

With p/(1 − p) = e^Δ·a/(1 − a) and m(x) = ln(1 − a + a·e^x), both divergences are differences of one function:

    (α − 1)·D_α(p ‖ a) = m(αΔ) − α·m(Δ)
    (α − 1)·D_α(a ‖ p) = (α − 1)·m(Δ) + m(−(α − 1)Δ)

Each rises with Δ, so U(a) is found by bisection, and what is returned is the end that still satisfies both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.privacy.suitable_pairs import SuitablePair, distances

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from tinct.privacy.suitable_pairs import Floats

    Number = float | str | Fraction | np.floating[Any] | np.integer[Any]

_TINY = float(np.finfo(np.float64).tiny)
_ROUNDING = 2.0**-50  # a few units in the last place of the terms that are subtracted
_MAX_STEPS = 1_000_000
_WIDEST = 2.0**16  # of Δ: far beyond what floats between 0 and 1 can tell apart
_SLACK = 1e-9  # how much of ρ is given away so that the search for the worst order may be off by rounding
_ORDERS = 97
_LEAST_ORDER = 1e-5  # of α − 1: nearer to 1, order 1 itself decides, and quotients would be rounding


class DivergencePair(SuitablePair):
    """What a bound on divergences has in common: U(a) from the largest change Δ of the log-odds."""

    _two_answers = True

    def change(self, a: Floats, b: Floats) -> Floats:
        """The largest Δ that keeps the bound in both directions, where b = 1 − a; both are positive."""
        raise NotImplementedError

    def bound(self, a: Floats) -> Any:
        """U(a)."""
        return self.walk(1, a, 1.0 - np.asarray(a))[0]

    def walk(self, distance: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
        """U^distance(a) and 1 − U^distance(a), by iteration, each with its own relative precision."""
        steps, start, rest = np.broadcast_arrays(
            distances(distance), np.asarray(a, np.float64), np.asarray(b, np.float64)
        )
        here, there = start.copy(), rest.copy()
        for done in range(int(steps.max(initial=0))):
            moving = (steps > done) & (here > 0) & (there > 0)
            before, left = here[moving], there[moving]
            after, rest_after = moved(before, left, self.change(before, left))
            if np.array_equal(before, after) and np.array_equal(left, rest_after):
                break
            if done == _MAX_STEPS:
                raise ParameterError(f"distance is too large to iterate: still moving after {done:,} steps")
            here[moving], there[moving] = after, rest_after
        return here, there


@dataclass(frozen=True, init=False)
class RenyiDP(DivergencePair):
    """Rényi differential privacy of one order α > 1: D_α ≤ ε between neighbours, in both directions.

    It is a suitable pair for *two* answers. With more, the events of a table do not determine its divergence, so
    designers and ``verify`` refuse it. ``reach`` follows a path on which every step keeps the bound, which is less
    than what is known about groups from the bound alone (docs/proofs/renyi.md).

    >>> round(RenyiDP(2, 0.5).upper(0.5), 6)
    0.813636
    """

    alpha: float
    epsilon: float

    _proved = True

    def __init__(self, alpha: Number, epsilon: Number) -> None:
        object.__setattr__(self, "alpha", _number(alpha, "alpha", 1.0, 1e6, open_below=True))
        object.__setattr__(self, "epsilon", _number(epsilon, "epsilon", 0.0, 700.0))

    def change(self, a: Floats, b: Floats) -> Floats:
        """The largest Δ with both divergences of order α at most ε."""
        return largest_change(a, b, np.full(a.shape, self.alpha), np.full(a.shape, self.epsilon))


@dataclass(frozen=True, init=False)
class ZeroConcentratedDP(DivergencePair):
    """ρ-zero-concentrated differential privacy: D_α ≤ ρα for every order α > 1, in both directions.

    As for ``RenyiDP``, a suitable pair for two answers. U is the least of those of all orders; the worst order is
    searched for with a billionth of ρ to spare.

    >>> round(ZeroConcentratedDP(0.5).upper(0.5), 6)
    0.892984
    """

    rho: float

    _proved = True

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", _number(rho, "rho", 0.0, 350.0))

    def change(self, a: Floats, b: Floats) -> Floats:
        """The largest Δ with both divergences of every order α at most ρα."""
        if self.rho == 0:
            return np.zeros(a.shape)
        spare = self.rho * (1.0 - _SLACK)
        one = np.ones(a.shape)
        # order 1 first, whose divergence is that of Kullback and Leibler; then whatever order is worst there
        change = largest_change(a, b, one, spare * one)
        for _ in range(64):
            alpha, excess = _worst_order(a, b, change, self.rho)
            over = excess > 0
            if not over.any():
                return change
            better = largest_change(a[over], b[over], alpha[over], spare * alpha[over])
            change[over] = np.minimum(better, change[over] * (1.0 - 2.0**-52))
        # each round removes the order that was worst; what is left is rounding, and is taken off
        return np.where(_worst_order(a, b, change, self.rho)[1] > 0, change * (1.0 - 1e-9), change)


def moved(a: Floats, b: Floats, change: Floats) -> tuple[Floats, Floats]:
    """The probabilities p and 1 − p whose log-odds are ``change`` more than those of a and b = 1 − a."""
    with np.errstate(under="ignore", over="ignore"):  # over: in the branch that is not taken
        low = a <= b
        small = np.minimum(a, b)
        total = log_mean(small, np.where(low, change, -change))  # of 1 − small + small·e^±Δ
        p = np.where(low, a * np.exp(change - total), a * np.exp(-total))
        q = np.where(low, b * np.exp(-total), b * np.exp(-change - total))
    # the larger from the smaller, so that they sum to 1; and what can happen never becomes what cannot
    p, q = np.where(p <= q, p, 1.0 - q), np.where(p <= q, 1.0 - p, q)
    return np.maximum(np.minimum(p, 1.0), a), np.minimum(np.maximum(q, np.minimum(b, _TINY)), b)


def largest_change(a: Floats, b: Floats, alpha: Floats, epsilon: Floats) -> Floats:
    """The largest Δ ≥ 0 at which both divergences of order α are at most ε; α = 1 is Kullback and Leibler's."""
    low, high = np.zeros(a.shape), np.full(a.shape, 2.0**-10)
    while True:
        inside = within(a, b, high, alpha, epsilon) & (high < _WIDEST)
        if not inside.any():
            break
        low, high = np.where(inside, high, low), np.where(inside, 2.0 * high, high)
    # relative to Δ, also where that is tiny
    for _ in range(200):
        middle = (low + high) / 2
        if not ((low < middle) & (middle < high)).any():
            break
        inside = within(a, b, middle, alpha, epsilon)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        if not (high - low > 2.0**-52 * high).any():
            break
    return low


def within(a: Floats, b: Floats, change: Floats, alpha: Floats, epsilon: Floats) -> NDArray[np.bool_]:
    """Whether both divergences are at most ε for certain: rounding is counted against it."""
    allowed = np.where(alpha > 1.0, (alpha - 1.0) * epsilon, epsilon)
    return np.asarray(np.maximum(*divergences(a, b, change, alpha, _ROUNDING)) <= allowed)


def divergences(a: Floats, b: Floats, change: Floats, alpha: Floats, rounding: float = 0.0) -> tuple[Floats, Floats]:
    """(α − 1)·D_α(p ‖ a) and (α − 1)·D_α(a ‖ p), or both D_1 for α = 1, plus the given rounding of each term."""
    small = np.minimum(a, b)
    sign = np.where(a <= b, 1.0, -1.0)  # with b in place of a, m(x) is x + ln(a + b·e^−x): the x cancel
    step = sign * change
    once, order = log_mean(small, step), alpha - 1.0
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        towards, away = log_mean(small, alpha * step), log_mean(small, -order * step)
        there = towards - alpha * once + rounding * (np.abs(towards) + alpha * np.abs(once))
        back = order * once + away + rounding * (order * np.abs(once) + np.abs(away))
        # α → 1: the derivatives, with the mean of the tilted coin
        tilted = step * (small * np.exp(np.minimum(step - once, 700.0)))
        flat = step * small
        noise = rounding * (np.abs(once) + np.abs(tilted))
        first = alpha == 1.0
        there = np.where(first, tilted - once + noise, there)
        back = np.where(first, once - flat + noise, back)
    return there, back


def log_mean(c: Floats, x: Floats) -> Floats:
    """ln(1 − c + c·e^x) for c ≤ 1/2, with relative precision for small c and small x."""
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        near = np.log1p(c * np.expm1(np.minimum(x, 700.0)))
        far = np.logaddexp(np.log1p(-c), np.log(c) + x)
    return np.where(x <= 700.0, near, far)


def _worst_order(a: Floats, b: Floats, change: Floats, rho: float) -> tuple[Floats, Floats]:
    """The order α > 1 at which a divergence exceeds ρα most, and by how much."""
    # D_α is at most the largest log-ratio, which is less than Δ: beyond α = Δ/ρ nothing can exceed ρα
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        widest = np.clip(change / max(rho, _TINY), 10 * _LEAST_ORDER, 1e12)
    shares = np.linspace(0.0, 1.0, _ORDERS)[:, None]
    orders = np.exp(math.log(_LEAST_ORDER) * (1 - shares) + np.log(widest) * shares)  # α − 1
    excess = np.stack([_excess(a, b, change, row, rho) for row in orders])
    at = np.argmax(excess, axis=0)
    each = np.arange(len(a))
    low = np.log(orders[np.maximum(at - 1, 0), each])
    high = np.log(orders[np.minimum(at + 1, _ORDERS - 1), each])
    golden = (math.sqrt(5.0) - 1) / 2
    for _ in range(40):
        left, right = high - golden * (high - low), low + golden * (high - low)
        rising = _excess(a, b, change, np.exp(left), rho) < _excess(a, b, change, np.exp(right), rho)
        low, high = np.where(rising, left, low), np.where(rising, high, right)
    refined = np.exp((low + high) / 2)
    found = _excess(a, b, change, refined, rho)
    better = found > excess[at, each]
    return 1.0 + np.where(better, refined, orders[at, each]), np.where(better, found, excess[at, each])


def _excess(a: Floats, b: Floats, change: Floats, order: Floats, rho: float) -> Floats:
    """max(D_α(p ‖ a), D_α(a ‖ p)) − ρα for α = 1 + ``order``."""
    alpha = 1.0 + order
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.maximum(*divergences(a, b, change, alpha)) / (alpha - 1.0) - rho * alpha)


def _number(given: Number, name: str, low: float, high: float, *, open_below: bool = False) -> float:
    try:
        value = float(given)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    good = low <= value <= high and not (open_below and value == low)
    if isinstance(given, bool) or not good:
        interval = f"{'(' if open_below else '['}{low:g}, {high:g}]"
        raise ParameterError.of(name, f"a number in {interval}", given)
    return value
