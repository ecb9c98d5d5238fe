"""Exact coins: heads with probability q^m for a rational q and any m, ten or ten billion.

A uniform real number is compared with q^m, of both only as many binary places as it takes. q^m itself is never
formed: it is enclosed between two whole multiples of 2^−bits, and where the enclosure cannot tell, more places are
drawn. So the probability is q^m and nothing near it, and the work hardly depends on m.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from tinct.numbers.amounts import Amount
from tinct.numbers.bounds import growth_below

if TYPE_CHECKING:
    from collections.abc import Callable

    Below = Callable[[int], int]

BLOCK = 128  # binary places drawn at a time; a second block is needed about once in 2^100 coins
_GUARD = 64
_PLACES = 128
_STEPS = 64  # squarings made in any case, so that m does not show in the time taken


def retention(epsilon: Amount, *, halved: bool = False) -> Fraction:
    """A rational q ≥ e^−ε, or ≥ e^(−ε/2), above it by less than 2^−125: what a neighbour must keep of a probability.

    >>> retention(Amount.parse("ln 4", "epsilon")), float(retention(Amount.parse(1, "epsilon"), halved=True))
    (Fraction(1, 4), 0.6065306597126334)
    """
    if not halved:
        return 1 / growth_below(epsilon, _PLACES)
    if not epsilon.is_log:
        return 1 / growth_below(Amount(epsilon.value / 2), _PLACES)
    return 1 / _root_below(epsilon.value)


def power_coin(q: Fraction, exponent: int, below: Below, *, block: int = BLOCK) -> bool:
    """Whether a coin that shows heads with probability exactly q^exponent does so.

    Args:
        q: A rational number in [0, 1].
        exponent: m ≥ 0, of any size.
        below: The source: ``below(n)`` is a uniform whole number in [0, n).
        block: How many binary places to draw at a time.

    >>> from fractions import Fraction
    >>> [power_coin(Fraction(1, 2), 2, lambda n, draw=draw: draw, block=3) for draw in range(8)]
    [True, True, False, False, False, False, False, False]
    """
    drawn, bits = below(1 << block), block
    while True:
        low, high = power_bounds(q, exponent, bits)
        if drawn < low:  # the real number lies in [drawn, drawn + 1)·2^−bits, all of it below q^m
            return True
        if drawn >= high:
            return False
        drawn, bits = drawn << block | below(1 << block), bits + block


def power_bounds(q: Fraction, exponent: int, bits: int) -> tuple[int, int]:
    """Whole numbers with low ≤ q^exponent·2^bits ≤ high, at most a few apart: every rounding goes outward.

    >>> from fractions import Fraction
    >>> power_bounds(Fraction(1, 3), 2, 8)
    (28, 29)
    """
    scale = bits + _GUARD
    low_base = (q.numerator << scale) // q.denominator
    high_base = -((-q.numerator << scale) // q.denominator)
    low = high = 1 << scale
    for at in reversed(range(max(_STEPS, exponent.bit_length()))):
        low, high = low * low >> scale, -(-high * high >> scale)
        if exponent >> at & 1:
            low, high = low * low_base >> scale, -(-high * high_base >> scale)
    return low >> _GUARD, -(-high >> _GUARD)


def _root_below(value: Fraction) -> Fraction:
    """A rational at most √value, exact for squares of rationals, with a relative error below 2^−125 otherwise."""
    up, down = value.numerator, value.denominator
    if isqrt(up) ** 2 == up and isqrt(down) ** 2 == down:
        return Fraction(isqrt(up), isqrt(down))
    # value ≥ 1, so the whole part of √value·2^places has more than that many bits
    return Fraction(isqrt((up << 2 * _PLACES) // down), 1 << _PLACES)
