"""Bounds: e^x, ln x and long rationals, each rounded in a known direction with integers only.

The certificate needs a rational R that is provably at most e^ε. Every operation below is one on non-negative integers
whose result is rounded down, and every one of them is increasing, so the result cannot exceed the true value:
``step`` ≤ 2^s·x/2^h, each term of the exponential series is positive and rounded down, the series is cut off, and
the h squarings round down. ``exp_above`` does the same upwards and bounds the rest of the series. This
is the whole proof, and it needs no error analysis.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tinct.numbers.amounts import Amount

BITS = 61  # significant bits of R: numerator and denominator then fit a 64-bit integer with room to spare
_UNIT = Fraction(1, 10**36)  # the grid on which bounds of logarithms lie
_BITS = 192
_FIFTY_DIGITS = Context(prec=50)


def growth_below(epsilon: Amount, bits: int = BITS) -> Fraction:
    """A rational at most e^ε with about ``bits`` significant bits; e^ε itself where it is a short rational.

    >>> from tinct.numbers.amounts import Amount
    >>> growth_below(Amount.parse("ln 3/2", "epsilon")), growth_below(Amount.parse(1, "epsilon"), 8)
    (Fraction(3, 2), Fraction(173, 64))
    """
    if epsilon.is_log:
        exact = epsilon.value
        return exact if max(exact.numerator, exact.denominator).bit_length() <= bits else _cut(exact, bits)
    return _cut(exp_below(epsilon.value, bits + 2), bits)


def exp_below(x: Fraction, bits: int) -> Fraction:
    """A rational at most e^x, for x ≥ 0, with a relative error below 2^−bits."""
    scale, halvings = _scale(x, bits)
    step = (x.numerator << scale) // (x.denominator << halvings)
    total = term = 1 << scale
    count = 1
    while term:
        term = (term * step >> scale) // count
        total += term
        count += 1
    for _ in range(halvings):
        total = total * total >> scale
    return Fraction(total, 1 << scale)


def exp_above(x: Fraction, bits: int) -> Fraction:
    """A rational at least e^x, for x ≥ 0, with a relative error below 2^−bits."""
    scale, halvings = _scale(x, bits)
    step = -(-(x.numerator << scale) // (x.denominator << halvings))
    total = term = 1 << scale
    count = 1
    while term > 1:
        term = -(-term * step // (count << scale))
        total += term
        count += 1
    total += 1  # each further term is less than half the one before, so the rest is less than the last term, 1 unit
    for _ in range(halvings):
        total = -(-total * total >> scale)
    return Fraction(total, 1 << scale)


def _scale(x: Fraction, bits: int) -> tuple[int, int]:
    """How many binary places to carry, and how often to halve x so that it is at most 1/256."""
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 9)
    return bits + halvings + 16, halvings  # squaring doubles a relative error; a dozen terms cost 4 bits


def _cut(value: Fraction, bits: int) -> Fraction:
    """The value rounded down to ``bits`` significant bits."""
    whole = value.numerator // value.denominator
    places = bits - whole.bit_length()
    return (
        Fraction((value.numerator << max(places, 0)) // (value.denominator << max(-places, 0))) / Fraction(2) ** places
    )


def ln_above(value: Fraction) -> Fraction:
    """A rational at least ln ``value``, less than 10^−35 above it, for a positive value.

    >>> 0 <= float(ln_above(Fraction(2))) - 0.6931471805599453 < 1e-15
    True
    """
    if value < 1:
        return -ln_below(1 / value)
    bound = _ln_guess(value)
    while exp_below(bound, _BITS) < value:
        bound += _UNIT
    return bound


def ln_below(value: Fraction) -> Fraction:
    """A rational at most ln ``value``, less than 10^−35 below it, for a positive value."""
    if value < 1:
        return -ln_above(1 / value)
    bound = _ln_guess(value)
    while bound > 0 and exp_above(bound, _BITS) > value:
        bound -= _UNIT
    return max(bound, Fraction(0))


def _ln_guess(value: Fraction) -> Fraction:
    """The multiple of 10^−36 next to ln ``value``, as far as fifty digits tell."""
    quotient = _FIFTY_DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return round(Fraction(_FIFTY_DIGITS.ln(quotient)) / _UNIT) * _UNIT


_FINE = 10**60  # and the one for rationals that are too long to be kept
_LONGEST = 10**20  # denominators up to this are kept, and decimals of up to 100 places
_DECIMAL = 10**100


def rounded_up(value: Fraction) -> Fraction:
    """The value itself if its denominator is short, else the next multiple of 10^−60: sums must not grow for ever."""
    return value if _is_short(value) else Fraction(-(-value.numerator * _FINE // value.denominator), _FINE)


def rounded_down(value: Fraction) -> Fraction:
    """The value itself if its denominator is short, else the multiple of 10^−60 below it."""
    return value if _is_short(value) else Fraction(value.numerator * _FINE // value.denominator, _FINE)


def _is_short(value: Fraction) -> bool:
    return value.denominator <= _LONGEST or _DECIMAL % value.denominator == 0


def float_above(value: Fraction) -> float:
    """The least float that is not below an exact number."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
