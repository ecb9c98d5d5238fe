"""Exact amounts for the ledger: rationals, rounded only where they have to be and always to the safe side.

Costs are rounded up and budgets down, so that a sum of costs that fits the stored budget fits the true one. A bound of
a logarithm is proved, not estimated: h is at least ln r because ``exp_below(h)``, which is at most e^h, is at least r.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.numbers.amounts import MAX_EPSILON, Amount, fraction_text, rational
from tinct.numbers.bounds import ln_above, ln_below, rounded_down, rounded_up

if TYPE_CHECKING:
    from fractions import Fraction

    from tinct.numbers.amounts import AmountLike, NumberLike

MAX_BUDGET = 1_000_000
_DECIMALS = 10**60  # a decimal of up to sixty places is written out


def cost_epsilon(given: AmountLike) -> Fraction:
    """What an ε costs: itself if it is rational, a proved upper bound if it is a logarithm.

    >>> cost_epsilon("0.1"), float(cost_epsilon("ln 3"))
    (Fraction(1, 10), 1.0986122886681098)
    """
    amount = _epsilon(given, MAX_EPSILON)
    return ln_above(amount.value) if amount.is_log else rounded_up(amount.value)


def cost_delta(given: NumberLike) -> Fraction:
    """What a δ costs: itself, in [0, 1)."""
    return rounded_up(_delta(given, "delta"))


def budget_epsilon(given: AmountLike) -> Fraction:
    """The ε that a budget grants: itself if it is rational, a proved lower bound if it is a logarithm."""
    amount = _epsilon(given, MAX_BUDGET)
    lower = ln_below(amount.value) if amount.is_log else rounded_down(amount.value)
    if not lower > 0:
        raise ParameterError.of("epsilon", "above 0 for a budget", given)
    return lower


def budget_delta(given: NumberLike, name: str = "delta") -> Fraction:
    """The δ that a budget grants: itself, in [0, 1)."""
    return rounded_down(_delta(given, name))


def is_at_most(given: AmountLike, limit: AmountLike) -> bool:
    """Whether one ε is at most another; of a rational and a logarithm that no bound tells apart, no.

    >>> is_at_most("ln 2", "ln 2"), is_at_most("0.69", "ln 2"), is_at_most("0.7", "ln 2")
    (True, True, False)
    """
    one, other = _epsilon(given, MAX_BUDGET), _epsilon(limit, MAX_BUDGET)
    if one.is_log == other.is_log:
        return one.value <= other.value
    return ln_above(one.value) <= other.value if one.is_log else one.value <= ln_below(other.value)


def as_written(given: AmountLike) -> str:
    """One text for all ways to write the same ε, such as ``"ln 3"`` and ``"log(3)"``."""
    return str(Amount.parse(given, "epsilon"))


def exact_text(value: Fraction) -> str:
    """The exact text of an amount: a decimal where it ends within 60 places, else ``p/q``.

    >>> from fractions import Fraction
    >>> exact_text(Fraction(1, 10)), exact_text(Fraction(1, 3)), exact_text(Fraction(10**20 + 1, 10**20))
    ('0.1', '1/3', '1.00000000000000000001')
    """
    text = fraction_text(value)
    if "/" not in text or _DECIMALS % value.denominator:
        return text
    whole, part = divmod(abs(value.numerator) * (_DECIMALS // value.denominator), _DECIMALS)
    return f"{'-' * (value < 0)}{whole}.{part:060d}".rstrip("0")


def shown(value: Fraction) -> str:
    """An amount for people: its exact text, with a decimal beside it where the text is a long one.

    >>> from fractions import Fraction
    >>> shown(Fraction(1, 10)), shown(Fraction(1, 3))
    ('0.1', '1/3 (0.333333)')
    """
    text = exact_text(value)
    return text if len(text) <= 12 and "/" not in text else f"{text} ({float(value):.6g})"


def _epsilon(given: AmountLike, most: int) -> Amount:
    amount = Amount.parse(given, "epsilon")
    at_least_0 = amount.value > 1 if amount.is_log else amount.value >= 0
    if not (at_least_0 and (amount.is_log or amount.value <= most)):
        raise ParameterError.of("epsilon", f"a number in [0, {most:,}]", given)
    return amount


def _delta(given: NumberLike, name: str) -> Fraction:
    value = rational(given, name)
    if not 0 <= value < 1:
        raise ParameterError.of(name, "a number in [0, 1)", given)
    return value
