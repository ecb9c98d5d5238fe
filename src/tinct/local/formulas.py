"""The worth of parts of a mechanism for each divergence: the formulas of ``_kernels/cells.py``, for arrays.

Two versions of the same mathematics, which tests compare with each other and with many more digits. The order is that
of the codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_NEAR_LOW, _NEAR_HIGH = -0.3, 0.4  # where z/t − 1 is small enough for the series


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
