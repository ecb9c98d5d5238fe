"""Exact amounts of privacy: what somebody wrote, before any rounding.

An amount is a rational number or the natural logarithm of one, so that ``"0.1"`` and ``"ln 2"`` both survive
unharmed until the exact room needs them. Text is capped before it is parsed: a huge exponent would otherwise
keep ``Fraction`` busy for minutes.
"""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from tinct.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np

# what ``rational`` and ``Amount.parse`` read
NumberLike: TypeAlias = "float | str | Fraction | Decimal | np.floating[Any] | np.integer[Any]"
AmountLike: TypeAlias = "NumberLike | Amount"

MAX_EPSILON = 700  # e^700 is the last round power a double holds
_MAX_TEXT = 1000
_MAX_EXPONENT = 400
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_RATIONAL = re.compile(rf"({_NUMBER})(?:\s*/\s*({_NUMBER}))?", re.ASCII)
_LOGARITHM = re.compile(r"(?:ln|log)(?:\s*\((.*)\)|\s+(.*))", re.ASCII)
_FIFTY_DIGITS = Context(prec=50)


@dataclass(frozen=True)
class Amount:
    """A rational number, or the natural logarithm of one.

    >>> float(Amount.parse("ln 2", "epsilon")), Amount.parse("0.1", "epsilon").value
    (0.6931471805599453, Fraction(1, 10))
    """

    value: Fraction
    is_log: bool = False

    @classmethod
    def parse(cls, given: AmountLike, name: str) -> Amount:
        """Read a number, a Fraction, or text such as ``"0.1"``, ``"1/3"``, ``"ln 2"``, ``"log(3)"``."""
        if isinstance(given, Amount):
            return given
        if isinstance(given, str):
            logarithm = _LOGARITHM.fullmatch(given.strip())
            if logarithm:
                inner = rational(logarithm[1] if logarithm[1] is not None else logarithm[2], name)
                if not inner > 0:
                    raise ParameterError.of(name, "the logarithm of a positive number", given)
                return cls(Fraction(0)) if inner == 1 else cls(inner, is_log=True)
        return cls(rational(given, name, such_as="'0.1', '1/3' or 'ln 2'"))

    def __float__(self) -> float:
        return self.split[0]

    def __str__(self) -> str:
        return f"ln {fraction_text(self.value)}" if self.is_log else fraction_text(self.value)

    @cached_property
    def split(self) -> tuple[float, float]:
        """The amount as an unevaluated sum of two doubles, good to about 32 digits."""
        exact = _FIFTY_DIGITS.ln(_decimal(self.value)) if self.is_log else None
        whole = self.value if exact is None else Fraction(exact)
        high = float(whole)
        return high, float(whole - Fraction(high))

    @cached_property
    def growth(self) -> float:
        """The number e to this amount, correctly rounded."""
        return float(self.value) if self.is_log else float(_FIFTY_DIGITS.exp(_decimal(self.value)))

    @cached_property
    def growth_minus_one(self) -> float:
        """The number e to this amount, less one, without cancellation for tiny amounts."""
        return float(self.value - 1) if self.is_log else math.expm1(self.split[0])


def rational(given: object, name: str, *, such_as: str = "'0.1' or '1/3'") -> Fraction:
    """The exact rational value of a number or of text such as ``"0.25"`` or ``"1/3"``; NaN and infinities fail.

    >>> rational("1/3", "delta"), rational(0.5, "delta")
    (Fraction(1, 3), Fraction(1, 2))
    """
    if isinstance(given, str):
        return _rational_from_text(given, name, such_as)
    if isinstance(given, bool) or not isinstance(given, numbers.Real | Decimal):
        raise ParameterError.of(name, f"a number or text such as {such_as}", given)
    if isinstance(given, int | Fraction):
        return Fraction(given)
    if isinstance(given, Decimal):
        if not given.is_finite() or abs(given.adjusted()) > _MAX_EXPONENT:
            raise ParameterError.of(name, f"a finite number with exponents up to {_MAX_EXPONENT}", given)
        return Fraction(given)
    if not math.isfinite(given):
        raise ParameterError.of(name, "a finite number", given)
    return Fraction(float(given))


def fraction_text(value: Fraction) -> str:
    """The shortest exact text: a decimal when it terminates early, else ``p/q``."""
    short = repr(_nearest_float(value))
    return short.removesuffix(".0") if Fraction(short) == value else str(value)


def shown(value: Fraction) -> str:
    """How a rational looks in a repr: a bare number when it is a float, else quoted exact text.

    >>> shown(Fraction(0.1)), shown(Fraction("0.1")), shown(Fraction(1, 3))
    ('0.1', "'0.1'", "'1/3'")
    """
    nearest = _nearest_float(value)
    return repr(nearest).removesuffix(".0") if Fraction(nearest) == value else repr(fraction_text(value))


def _nearest_float(value: Fraction) -> float:
    """The nearest float, or 0 for what no float is near to."""
    try:
        return float(value)
    except OverflowError:
        return 0.0


def _rational_from_text(text: str, name: str, such_as: str) -> Fraction:
    stripped = text.strip()
    if len(stripped) > _MAX_TEXT:
        raise ParameterError.of(name, f"a number of at most {_MAX_TEXT} characters", ..., f", got {len(stripped):,}")
    match = _RATIONAL.fullmatch(stripped)
    if not match:
        raise ParameterError.of(name, f"a number such as {such_as}", text)
    parts = [_capped(part, name) for part in match.groups() if part is not None]
    if len(parts) == 2 and parts[1] == 0:
        raise ParameterError.of(name, "a number that does not divide by zero", text)
    return parts[0] / parts[1] if len(parts) == 2 else parts[0]


def _capped(text: str, name: str) -> Fraction:
    _, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > _MAX_EXPONENT:
        raise ParameterError.of(name, f"a number with exponents up to {_MAX_EXPONENT}", text)
    return Fraction(text)


def _decimal(value: Fraction) -> Decimal:
    return _FIFTY_DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
