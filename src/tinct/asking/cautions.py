"""What whoever plans a request is told about the size of its ε and δ, and about who counts them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct.numbers.amounts import fraction_text
from tinct.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGE_EPSILON = 5
_LARGE_DELTA = Fraction(1, 10**5)
_FAR_BELOW = Fraction(1, 10)  # how many people δ may be expected to give away
NOT_DESCRIBED = Remark(
    "no description says what the columns mean: 'tinct check' shows the owner of the data how they are read",
    "not-described",
)
NO_LEDGER = Remark("no ledger counts this: costs of several answers about the same people add up", "no-ledger")


def cautions(cost: tuple[Any, Fraction], people: int | None) -> Iterator[Remark]:
    """One sentence for an ε that promises little, one for a δ that is no small probability; ``people`` if declared.

    >>> list(cautions((6, Fraction(0)), None))
    ['ε = 6 promises little: one person may change the probability of an answer by a factor of up to 404']
    """
    epsilon, delta = cost
    if float(epsilon) > _LARGE_EPSILON:
        factor = f"{math.ceil(math.exp(float(epsilon))):,}" if float(epsilon) < 20 else "more than 100 million"
        yield Remark(
            f"ε = {epsilon} promises little: one person may change the probability of an answer by a factor of up to "
            f"{factor}",
            "large-epsilon",
            epsilon=str(epsilon),
        )
    if people and delta * people > _FAR_BELOW:
        yield Remark(
            f"δ = {fraction_text(delta)} is not far below one in {people:,}, the declared number of people: with "
            "probability δ an answer may give somebody away",
            "large-delta",
            delta=fraction_text(delta),
            people=people,
        )
    elif not people and delta > _LARGE_DELTA:
        yield Remark(
            f"δ = {fraction_text(delta)} is above 1e-05: with probability δ an answer may give somebody away",
            "large-delta",
            delta=fraction_text(delta),
            people=None,
        )
