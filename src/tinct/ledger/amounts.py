"""Exact amounts for the ledger: rationals, rounded only where they have to be and always to the safe side.

Costs are rounded up and budgets down, so that a sum of costs that fits the stored budget fits the true one. A bound of
a logarithm is proved, not estimated: h is at least ln r because ``exp_below(h)``, which is at most e^h, is at least r.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from tinct.errors import ParameterError
from tinct.exact.growth import exp_above, exp_below
from tinct.privacy.amounts import MAX_EPSILON, Amount, fraction_text, rational

MAX_BUDGET = 1_000_000
_UNIT = Fraction(1, 10**36)  # the grid on which bounds of logarithms lie
_FINE = 10**60  # and the one for rationals that are too long to be kept
_LONGEST = 10**20  # denominators up to this are kept, and decimals of up to 100 places
_DECIMAL = 10**100
_BITS = 192
_FIFTY_DIGITS = Context(prec=50)


def cost_epsilon(given: Any) -> Fraction:
    """What an ε costs: itself if it is rational, a proved upper bound if it is a logarithm.

    >>> cost_epsilon("0.1"), float(cost_epsilon("ln 3"))
    (Fraction(1, 10), 1.0986122886681098)
    """
    amount = _epsilon(given, MAX_EPSILON)
    return ln_above(amount.value) if amount.is_log else rounded_up(amount.value)


def cost_delta(given: Any) -> Fraction:
    """What a δ costs: itself, in [0, 1)."""
    return rounded_up(_delta(given, "delta"))


def budget_epsilon(given: Any) -> Fraction:
    """The ε that a budget grants: itself if it is rational, a proved lower bound if it is a logarithm."""
    amount = _epsilon(given, MAX_BUDGET)
    lower = ln_below(amount.value) if amount.is_log else rounded_down(amount.value)
    if not lower > 0:
        raise ParameterError(f"the epsilon of a budget must be positive, got {given!s:.80}")
    return lower


def budget_delta(given: Any, name: str = "delta") -> Fraction:
    """The δ that a budget grants: itself, in [0, 1)."""
    return rounded_down(_delta(given, name))


def as_written(given: Any) -> str:
    """One text for all ways to write the same ε, such as ``"ln 3"`` and ``"log(3)"``."""
    return str(Amount.parse(given, "epsilon"))


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


def rounded_up(value: Fraction) -> Fraction:
    """The value itself if its denominator is short, else the next multiple of 10^−60: sums must not grow for ever."""
    return value if _is_short(value) else Fraction(-(-value.numerator * _FINE // value.denominator), _FINE)


def rounded_down(value: Fraction) -> Fraction:
    """The value itself if its denominator is short, else the multiple of 10^−60 below it."""
    return value if _is_short(value) else Fraction(value.numerator * _FINE // value.denominator, _FINE)


def exact_text(value: Fraction) -> str:
    """The exact text of an amount: a decimal where it ends within 60 places, else ``p/q``.

    >>> exact_text(Fraction(1, 10)), exact_text(Fraction(1, 3)), exact_text(Fraction(10**20 + 1, 10**20))
    ('0.1', '1/3', '1.00000000000000000001')
    """
    text = fraction_text(value)
    if "/" not in text or _FINE % value.denominator:
        return text
    whole, part = divmod(abs(value.numerator) * (_FINE // value.denominator), _FINE)
    return f"{'-' * (value < 0)}{whole}.{part:060d}".rstrip("0")


def shown(value: Fraction) -> str:
    """An amount for people: its exact text, with a decimal beside it where the text is a long one.

    >>> shown(Fraction(1, 10)), shown(Fraction(1, 3))
    ('0.1', '1/3 (0.333333)')
    """
    text = exact_text(value)
    return text if len(text) <= 12 and "/" not in text else f"{text} ({float(value):.6g})"


def _epsilon(given: Any, most: int) -> Amount:
    amount = Amount.parse(given, "epsilon")
    at_least_0 = amount.value > 1 if amount.is_log else amount.value >= 0
    if not (at_least_0 and (amount.is_log or amount.value <= most)):
        raise ParameterError(f"epsilon must be a number in [0, {most:,}], got {given!s:.80}")
    return amount


def _delta(given: Any, name: str) -> Fraction:
    value = rational(given, name)
    if not 0 <= value < 1:
        raise ParameterError(f"{name} must be a number in [0, 1), got {given!s:.80}")
    return value


def _ln_guess(value: Fraction) -> Fraction:
    """The multiple of 10^−36 next to ln ``value``, as far as fifty digits tell."""
    quotient = _FIFTY_DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return round(Fraction(_FIFTY_DIGITS.ln(quotient)) / _UNIT) * _UNIT


def _is_short(value: Fraction) -> bool:
    return value.denominator <= _LONGEST or _DECIMAL % value.denominator == 0
