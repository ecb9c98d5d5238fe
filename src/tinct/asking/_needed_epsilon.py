"""The least ε for a wanted accuracy."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

from tinct.asking.designs import design
from tinct.errors import ParameterError
from tinct.numbers.amounts import MAX_EPSILON, rational
from tinct.privacy import Privacy
from tinct.privacy.neighbors import Neighbors
from tinct.questions import parse
from tinct.questions.modes.truths import require_margin
from tinct.questions.questions import Exists, Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.numbers.amounts import NumberLike
    from tinct.privacy.neighbors import NeighborsLike
    from tinct.questions import Question

_DIGITS = 4  # ε is found to this many significant digits, rounded up
_FEW_DIGITS = 2  # the same, if every trial computes a table
_ROUNDS = 60


def needed_epsilon(
    question: Question | str,
    right: NumberLike,
    margin: int,
    delta: NumberLike = 0,
    *,
    neighbors: NeighborsLike = Neighbors.ADD_REMOVE,
    n: int | None = None,
) -> float:
    """The least ε with which an answer is right with probability ``right`` if the margin is at least ``margin``.

    Rounded up to four digits; to two for ``mode`` with replace neighbours, where each trial computes a table.

    >>> from tinct import majority
    >>> needed_epsilon(majority("support"), 0.99, margin=50)
    0.07902
    """
    asked = parse(question) if isinstance(question, str) else question
    wanted = rational(right, "right")
    if not 0 < wanted < 1:
        raise ParameterError.of("right", "a probability between 0 and 1", right)
    if not isinstance(asked, Exists | Mode) and wanted * 2 <= 1:
        raise ParameterError.of("right", "above 1/2", right, ": a coin is right that often")
    require_margin(margin)
    truth = _truth(asked, margin, delta, neighbors, n)
    digits = _FEW_DIGITS if isinstance(asked, Mode) and neighbors == Neighbors.REPLACE else _DIGITS
    low, high = 0.0, 1.0
    while truth(high) < wanted:
        low, high = high, 2 * high
        if high > MAX_EPSILON:
            raise ParameterError(f"no epsilon up to {MAX_EPSILON} is enough for that")
    for _ in range(_ROUNDS):
        if _rounded(math.nextafter(low, high), digits) == _rounded(high, digits):
            break  # all that is between rounds up to the same
        middle = (low + high) / 2
        low, high = (middle, high) if truth(middle) < wanted else (low, middle)
    return _rounded(high, digits)


def _truth(
    question: Question, margin: int, delta: NumberLike, neighbors: str, n: int | None
) -> Callable[[float], float]:
    if isinstance(question, Mode):
        people = n if neighbors == Neighbors.REPLACE else None
        return lambda epsilon: next(
            iter(design(question, Privacy(epsilon), neighbors, people).accuracy([margin]).right.values())
        )[0]
    if isinstance(question, Exists):
        return lambda epsilon: Privacy(epsilon, delta).reach(margin, 0.0)
    return lambda epsilon: Privacy(epsilon, delta).reach(margin - 1, Privacy(epsilon, delta).balance[0])


def _rounded(value: float, digits: int) -> float:
    """``value`` rounded up to this many significant digits."""
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value)))
