"""How often an answer is right if the leader is far enough ahead: public, by the margin and not by the data."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from fractions import Fraction

_FOREVER = 10**300


class Baseline(Protocol):
    """Anything whose truth is known for every margin."""

    def truth(self, margin: int) -> float:
        """The least probability of the right answer if the leader is ahead by at least ``margin`` people."""
        ...


@dataclass(frozen=True)
class Exponential:
    """The exponential mechanism: each category with probability proportional to q^m, m its margin to the top.

    >>> from fractions import Fraction
    >>> Exponential(3, Fraction(1, 2)).truth(1)
    0.5
    """

    k: int
    q: Fraction

    def truth(self, margin: int) -> float:
        """The probability of the right answer if all others are ``margin`` behind, which is the worst case."""
        return 1.0 / (1.0 + (self.k - 1) * power(self.q, require_margin(margin)))


def require_margin(margin: object) -> int:
    """A margin of at least one person."""
    if isinstance(margin, bool) or not hasattr(margin, "__index__") or not operator.index(margin) >= 1:
        raise ParameterError.of("margin", "a whole number of at least 1", margin)
    return operator.index(margin)


def power(q: Fraction, exponent: int) -> float:
    """q^exponent in floating point, with the digits of a q next to 0 or 1."""
    if not exponent:
        return 1.0
    logarithm = math.log1p(float(q - 1)) if 2 * q > 1 else math.log(q.numerator) - math.log(q.denominator)
    return math.exp(min(exponent, _FOREVER) * logarithm)
