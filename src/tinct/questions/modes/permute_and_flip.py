"""Permute-and-flip: ask the categories in random order, and take the first whose coin shows heads.

The coin of a category m behind the top shows heads with probability q^m. When one person joins or leaves, every answer
keeps at least q of its probability, and no private rule is as truthful everywhere and more so somewhere
(docs/theory.md §9a; proof: docs/proofs/mode.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.questions.modes.coins import BLOCK, power_coin
from tinct.questions.modes.margins import margins_to_top, require_categories, require_counts
from tinct.questions.modes.truths import Exponential, power, require_margin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinct.questions.modes.truths import Baseline

    Below = Callable[[int], int]

_MOST_CATEGORIES = 64
_MOST_PLACES = 1 << 16


# the mechanism


@dataclass(frozen=True)
class PermuteAndFlip:
    """The rule for k categories and coins q^m.

    Attributes:
        k: How many categories there are.
        q: The coin, a rational number in (0, 1]. With q ≥ e^−ε this is ε-private when one person joins or leaves,
            with q² ≥ e^−ε when one person changes category.
        neighbors: Which of the two it was made for.

    >>> PermuteAndFlip(3, Fraction(1, 2)).probabilities([4, 4, 3])
    (Fraction(5, 12), Fraction(5, 12), Fraction(1, 6))
    """

    k: int
    q: Fraction
    neighbors: str = "add-remove"

    def __post_init__(self) -> None:
        require_categories(self.k)
        if not isinstance(self.q, Fraction) or not 0 < self.q <= 1:
            raise ParameterError(f"q must be a Fraction in (0, 1], got {self.q!r:.80}")

    @property
    def method(self) -> str:
        """The mechanism in public words."""
        if self.neighbors == "add-remove":
            return (
                "permute-and-flip: no private mechanism is right at least as often everywhere and more often somewhere"
            )
        return "permute-and-flip, with half of ε for each of the two counts that one person can change"

    def draw(self, counts: Iterable[int], below: Below, *, block: int = BLOCK) -> int:
        """The position of one category, drawn exactly: ``below(n)`` must be uniform in [0, n).

        All coins are flipped whatever the counts, so the number of draws does not depend on them.
        """
        order = _shuffled(self.k, below)
        margins = margins_to_top(require_counts(counts, self.k))
        accepted = [power_coin(self.q, margins[category], below, block=block) for category in order]
        return order[accepted.index(True)]  # the coin of a largest category always shows heads

    def probabilities(self, counts: Iterable[int]) -> tuple[Fraction, ...]:
        """The exact probability of each category, for few categories and small counts.

        Give every category a uniform time in [0, 1]: category j is taken if its coin shows heads and no earlier one's
        does, so p_j = x_j ∫ Π_{i≠j} (1 − x_i t) dt with x_i = q^(m_i).
        """
        margins = margins_to_top(require_counts(counts, self.k))
        if self.k > _MOST_CATEGORIES or max(margins) * self.q.denominator.bit_length() > _MOST_PLACES:
            raise ParameterError(
                f"exact probabilities are for up to {_MOST_CATEGORIES} categories and margins with few enough digits"
            )
        heads = [self.q**margin for margin in margins]
        return tuple(own * _integral(heads[:at] + heads[at + 1 :]) for at, own in enumerate(heads))

    def truth(self, margin: int) -> float:
        """The probability of the right answer if the leader is ahead by at least ``margin`` ≥ 1 people.

        It falls with every coin of the others, so the worst case has all of them ``margin`` behind:
        ∫ (1 − x t)^(k−1) dt with x = q^margin.

        >>> PermuteAndFlip(2, Fraction(1, 2)).truth(1)
        0.75
        """
        return truth_among(self.k, self.q, require_margin(margin))

    def baselines(self) -> tuple[Baseline, ...]:
        """What others would run with the same budget, for comparison."""
        return (Exponential(self.k, self.q),)


def _shuffled(k: int, below: Below) -> list[int]:
    """A uniform order of 0, …, k − 1 (Fisher and Yates)."""
    order = list(range(k))
    for last in range(k - 1, 0, -1):
        other = below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def _integral(heads: list[Fraction]) -> Fraction:
    """∫ Π (1 − x t) dt over [0, 1]."""
    product = [Fraction(1)]
    for x in heads:
        product = [
            here - x * before for here, before in zip([*product, Fraction(0)], [Fraction(0), *product], strict=True)
        ]
    return sum((value / (power + 1) for power, value in enumerate(product)), Fraction(0))


def truth_among(k: int, q: Fraction, margin: int) -> float:
    """How often the leader of k is taken if all others are so far behind: (1 − (1 − x)^k)/(k x), x = q^margin."""
    x = power(q, margin)
    if x == 1.0:
        return 1.0 / k
    if x == 0.0:
        return 1.0
    return -math.expm1(k * math.log1p(-x)) / (k * x)
