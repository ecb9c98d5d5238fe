"""The least ε for a wanted accuracy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

from tinct.asking.designs import design
from tinct.asking.joint_design import joint_design
from tinct.errors import ParameterError
from tinct.numbers.amounts import MAX_EPSILON, rational
from tinct.privacy import Privacy
from tinct.privacy.neighbors import Neighbors
from tinct.questions import Numbers, parse
from tinct.questions._together import Together
from tinct.questions.modes.truths import require_margin
from tinct.questions.number_questions import Top
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
    lean: NumberLike | None = None,
) -> float:
    """The least ε with which an answer is right with probability ``right`` if the margin is at least ``margin``.

    For numbers: with which a number is off by at most ``margin`` with probability ``right``. Rounded up to four digits;
    to two for ``mode`` with replace neighbours, where each trial computes a table. With a ``lean``, yes and no are both
    right that often. For groups, which get a part of ε each, ``plan(…, right=, margin=)`` finds the ε of all together.

    >>> from tinct import majority
    >>> needed_epsilon(majority("support"), 0.99, margin=50)
    0.07902
    """
    asked = parse(question) if isinstance(question, str) else question
    return Wanted(right, margin).epsilon(asked, delta, neighbors, n, lean)


@dataclass(frozen=True)
class Wanted:
    """How often an answer is to be right, if the truth is how far from changing: takes the place of an ε."""

    right: NumberLike
    margin: int

    def epsilon(
        self,
        question: Question,
        delta: NumberLike,
        neighbors: NeighborsLike,
        n: int | None,
        lean: NumberLike | None,
        answering: Callable[[Privacy], Privacy] = lambda whole: whole,
        *,
        selecting: bool = False,
    ) -> float:
        """The least ε of the whole, of which ``answering`` is what each answer gets; ``selecting`` as for a design."""
        wanted = rational(self.right, "right")
        if not 0 < wanted < 1:
            raise ParameterError.of("right", "a probability between 0 and 1", self.right)
        if not isinstance(question, Exists | Mode | Together | Numbers) and wanted * 2 <= 1:
            raise ParameterError.of("right", "above 1/2", self.right, ": a coin is right that often")
        require_margin(self.margin)
        if lean is not None and self.margin == 1 and rational(lean, "lean") < wanted:
            raise ParameterError.about(
                "lean", "`lean` is how often yes is right at a margin of 1, whatever epsilon is: raise it to `right`"
            )
        truth = _truth(question, self.margin, neighbors, n, lean, selecting)

        def is_enough(epsilon: float) -> bool:
            return truth(answering(Privacy(repr(epsilon), delta))) >= wanted

        digits = _FEW_DIGITS if isinstance(question, Mode) and neighbors == Neighbors.REPLACE else _DIGITS
        low, high = 0.0, 1.0
        while not is_enough(high):
            low, high = high, 2 * high
            if high > MAX_EPSILON:
                raise ParameterError(f"no epsilon up to {MAX_EPSILON} is enough for that")
        for _ in range(_ROUNDS):
            if _rounded(math.nextafter(low, high), digits) == _rounded(high, digits):
                break  # all that is between rounds up to the same
            middle = (low + high) / 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return _rounded(high, digits)


def _truth(
    question: Question, margin: int, neighbors: str, n: int | None, lean: NumberLike | None, selecting: bool
) -> Callable[[Privacy], float]:
    """How often an answer is right at this margin, as its table will say."""
    if selecting:
        return lambda privacy: (
            design(question, privacy, neighbors, None, selecting=True).accuracy([margin]).right["tinct"][0]
        )
    if isinstance(question, Numbers):
        changes = question.changes(neighbors)
        # Pr[|Z| ≤ m] = 2·G(m) − 1 (docs/theory.md §11); what each of two numbers gets is one half
        parts = len(question.categories) if isinstance(question, Top) else 1  # of top, all together
        return lambda privacy: 1.0 - parts * (1.0 - _within(privacy, changes, margin))
    if isinstance(question, Together):
        people = n if neighbors == Neighbors.REPLACE else None
        return lambda privacy: (
            joint_design(question, privacy, neighbors, people, partial=False).accuracy([margin]).right["tinct"][0]
        )
    if isinstance(question, Mode):
        number = n if neighbors == Neighbors.REPLACE else None
        return lambda privacy: next(
            iter(design(question, privacy, neighbors, number, lean=lean).accuracy([margin]).right.values())
        )[0]
    if isinstance(question, Exists):
        return lambda privacy: privacy.reach(margin, 0.0)
    if lean is None:
        return lambda privacy: privacy.reach(margin - 1, privacy.balance[0])
    yes = float(rational(lean, "lean"))  # where yes is just true; one step further, no is
    return lambda privacy: min(privacy.reach(margin - 1, yes), privacy.reach(margin, 1.0 - yes))


def _within(privacy: Privacy, changes: int, error: int) -> float:
    each = Privacy(repr(privacy.epsilon / changes), privacy.exact_delta / changes)
    return 2.0 * each.reach(error, each.balance[0]) - 1.0


def _rounded(value: float, digits: int) -> float:
    """``value`` rounded up to this many significant digits."""
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value)))
