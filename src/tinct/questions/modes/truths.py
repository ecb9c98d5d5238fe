"""How often an answer is right if the leader is far enough ahead: a public table, of the margin and not of the data."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

_FOREVER = 10**300
_SURE = 0.99995  # lines beyond this all read 1.0000


class Baseline(Protocol):
    """Anything whose truth is known for every margin."""

    def truth(self, margin: int) -> float:
        """The least probability of the right answer if the leader is ahead by at least ``margin`` people."""
        ...


@dataclass(frozen=True)
class TruthLine:
    """If the leader is ahead by at least ``margin`` people, the answer is right with at least probability ``truth``."""

    margin: int
    truth: float


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


def truth_table(
    mechanism: Baseline, margins: Iterable[int] | None = None, *, largest: int | None = None
) -> tuple[TruthLine, ...]:
    """The public table of a mechanism, at the given margins or at 1, 2, 5, 10, … until it is all but certain.

    ``largest`` is the largest margin there can be: the public number of people, if it is public.

    >>> from fractions import Fraction
    >>> [round(line.truth, 9) for line in truth_table(Exponential(2, Fraction(1, 3)), [1, 2])]
    [0.75, 0.9]
    """
    if margins is not None:
        return tuple(TruthLine(margin, mechanism.truth(margin)) for margin in margins)
    lines: list[TruthLine] = []
    for exponent in range(13):
        for digit in (1, 2, 5):
            margin = digit * 10**exponent
            if largest is not None and margin > largest:
                return tuple(lines)
            lines.append(TruthLine(margin, mechanism.truth(margin)))
            if lines[-1].truth >= _SURE or (exponent and _flat(lines)):
                return tuple(lines)
    return tuple(lines)


def require_margin(margin: Any) -> int:
    """A margin of at least one person."""
    if isinstance(margin, bool) or not hasattr(margin, "__index__") or not operator.index(margin) >= 1:
        raise ParameterError(f"a margin must be a whole number of at least 1, got {margin!r:.80}")
    return operator.index(margin)


def power(q: Fraction, exponent: int) -> float:
    """q^exponent in floating point, with the digits of a q next to 0 or 1."""
    if not exponent:
        return 1.0
    logarithm = math.log1p(float(q - 1)) if 2 * q > 1 else math.log(q.numerator) - math.log(q.denominator)
    return math.exp(min(exponent, _FOREVER) * logarithm)


def _flat(lines: list[TruthLine]) -> bool:
    """Whether the last lines say the same: a table has reached its ceiling."""
    return len(lines) > 2 and math.isclose(lines[-1].truth, lines[-2].truth, rel_tol=1e-12)
