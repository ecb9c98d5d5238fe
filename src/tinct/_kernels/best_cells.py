"""Best splits of a sorted alphabet into consecutive cells, and what a cell is worth for each f-divergence.

A cell with probability a under P0 and b under P1 enters as z = e^−ε + (1 − e^−ε)·a, t = the same of b, and
delta = z − t, which the caller knows to more digits than the difference of the two. Its worth is t·f(z/t) with
f(1) = f′(1) = 0, so it is never negative and keeps its digits when z and t are nearly equal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

KL, REVERSE_KL, CHI2, HELLINGER, TV, JS, HOCKEY_STICK, ALPHA = range(8)

_NEAR_LOW, _NEAR_HIGH = -0.3, 0.4  # where z/t − 1 is small enough for the series below
_MANY = 60  # terms of the binomial series; they shrink by 0.3 or more each


@part
def _tail(s: float) -> float:
    """The series of artanh(s) − s, for |s| ≤ 0.18: the first term left out is below 1e-17 of the first."""
    q = s * s
    total = 1.0 / 25.0
    total = 1.0 / 23.0 + q * total
    total = 1.0 / 21.0 + q * total
    total = 1.0 / 19.0 + q * total
    total = 1.0 / 17.0 + q * total
    total = 1.0 / 15.0 + q * total
    total = 1.0 / 13.0 + q * total
    total = 1.0 / 11.0 + q * total
    total = 1.0 / 9.0 + q * total
    total = 1.0 / 7.0 + q * total
    total = 1.0 / 5.0 + q * total
    return s * q * (1.0 / 3.0 + q * total)


@part
def _kl(z: float, t: float, delta: float) -> float:
    """The value t·(x ln x − x + 1) at x = z/t."""
    d = delta / t
    if _NEAR_LOW < d < _NEAR_HIGH:
        s = d / (2.0 + d)  # x = (1 + s)/(1 − s), so ln x = 2 artanh(s)
        return t * 2.0 * (s * s + (1.0 + s) * _tail(s)) / (1.0 - s)
    return z * math.log(z / t) - delta


@part
def _reverse_kl(z: float, t: float, delta: float) -> float:
    """The value t·(x − 1 − ln x) at x = z/t."""
    d = delta / t
    if _NEAR_LOW < d < _NEAR_HIGH:
        s = d / (2.0 + d)
        return t * 2.0 * (s * s / (1.0 - s) - _tail(s))
    return delta - t * math.log(z / t)


@part
def _js(z: float, t: float, delta: float) -> float:
    """Half of z ln(2z/(z + t)) + t ln(2t/(z + t))."""
    d = delta / t
    if _NEAR_LOW < d < _NEAR_HIGH:
        return 0.5 * (_kl(z, t, delta) - 2.0 * _kl(t + 0.5 * delta, t, 0.5 * delta))
    middle = 0.5 * (z + t)
    return 0.5 * (z * math.log(z / middle) + t * math.log(t / middle))


@part
def _alpha(z: float, t: float, delta: float, a: float) -> float:
    """The value t·(x^a − a·x − 1 + a)/(a(a − 1)) at x = z/t, continued to a = 0 and a = 1."""
    d = delta / t
    if abs(d) * (1.0 + abs(a)) < 0.5:
        term = 0.5 * d * d  # the binomial series from its second term on, divided by a(a − 1)
        total = term
        for n in range(2, _MANY):
            term *= (a - n) / (n + 1) * d
            total += term
        return t * total
    logarithm = math.log(z / t)
    if abs(a) < 0.5:
        power = logarithm if a == 0.0 else np.expm1(a * logarithm) / a
        return (t * power - delta) / (a - 1.0)
    power = logarithm if a == 1.0 else np.expm1((a - 1.0) * logarithm) / (a - 1.0)
    return (z * power - delta) / a


@part
def cell_worth(code: int, parameter: float, z: float, t: float, delta: float) -> float:
    """What a cell is worth: t·f(z/t) for the divergence of that code, less the part that is linear at 1."""
    if code == KL:
        return _kl(z, t, delta)
    if code == REVERSE_KL:
        return _reverse_kl(z, t, delta)
    if code == CHI2:
        return delta * (delta / t)
    if code == HELLINGER:
        root = delta / (math.sqrt(z) + math.sqrt(t))
        return root * root
    if code == TV:
        return 0.5 * abs(delta)
    if code == JS:
        return _js(z, t, delta)
    if code == HOCKEY_STICK:
        beyond = delta - (parameter - 1.0) * t
        return max(0.0, beyond if parameter >= 1.0 else -beyond)
    return _alpha(z, t, delta, parameter)


@kernel
def best_split(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    low: float,
    span: float,
    code: int,
    parameter: float,
    toll: float,
    before: NDArray[np.int64],
) -> float:
    """The largest Σ(worth − toll) over all splits of 0..k into consecutive cells; ``before`` is filled with the cuts.

    ``first`` and ``second`` are prefix sums of P0 and P1 (from 0 to 1), ``low`` is e^−ε and ``span`` is 1 − e^−ε.
    ``before[j]`` is where the last cell begins in a best split of the first j symbols. Of equally good last cells the
    longest is taken. Time O(k²), memory O(k).
    """
    k = len(first) - 1
    value = np.zeros(k + 1)
    for j in range(1, k + 1):
        best = -np.inf
        at = 0
        for i in range(j):
            a = span * (first[j] - first[i])
            b = span * (second[j] - second[i])
            found = value[i] + cell_worth(code, parameter, low + a, low + b, a - b)
            if found > best:
                best = found
                at = i
        value[j] = best - toll
        before[j] = at
    return float(value[k])
