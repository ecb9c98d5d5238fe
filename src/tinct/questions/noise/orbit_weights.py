"""Noise in whole units from its two tails inwards: private when the count it is added to moves by one.

The real optimum is an orbit of U (docs/theory.md §11). Its differences, rounded one by one, would not be private. So
the weights are built from the tails: the first is at most D, each further one at most R times the one before, and what
the first leaves of D goes to the second. A tail is as large as it must be for the rest, the middle, to be allowed too
(docs/proofs/counts.md). What comes out is proved like any other table before it is used.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tinct.errors import NotPrivate, ParameterError
from tinct.exact.proof import Terms, prove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.exact.grid import GridPair
    from tinct.exact.proof import Proof

MOST_STEPS = 1 << 17  # of a tail
_PLACES = 96


def balanced_weights(pair: GridPair) -> tuple[int, list[int]]:
    """The least number and the weights of the noise that errs up and down alike.

    >>> from fractions import Fraction
    >>> from tinct.exact.grid import GridPair
    >>> balanced_weights(GridPair(64, Fraction(2), 4))
    (-3, [4, 7, 12, 18, 12, 7, 4])
    """
    tail, middle = _tail(pair, pair.total, 2)
    return -len(tail), [*tail, middle, *reversed(tail)]


def selecting_weights(pair: GridPair) -> tuple[int, list[int]]:
    """The same for noise that is always below 0, so that a count of nobody is never shown, and others most often.

    >>> from fractions import Fraction
    >>> from tinct.exact.grid import GridPair
    >>> selecting_weights(GridPair(256, Fraction(2), 16))
    (-7, [6, 21, 40, 77, 64, 32, 16])
    """
    rising = _growing(pair)  # from −1 downwards
    for taken in (rising, rising[:-1], [*rising, pair.growth * rising[-1] // 1]):
        rest = pair.total - sum(taken)
        if taken and rest > 0:
            tail, middle = _tail(pair, rest, 1)
            weights = [*tail, middle, *reversed(taken)]
            if _is_private(pair, weights):
                return -len(weights), weights
    raise ParameterError.of("delta", "larger", ..., ": no noise of so few units is private")


def prove_noise(weights: Sequence[int], total: int, terms: Terms) -> Proof:
    """Prove that noise with these weights hides whether it was added to a number or to the next one.

    Raises:
        NotPrivate: It does not.
    """
    return prove([[*weights, 0], [0, *weights]], total, [(0, 1, 0)], [terms], ["a count", "one more"])


def _is_private(pair: GridPair, weights: list[int]) -> bool:
    try:
        prove_noise(weights, pair.total, _terms(pair))
    except NotPrivate:
        return False
    return True


def _growing(pair: GridPair) -> list[int]:
    """The weights D, RD, R²D, … as long as U takes its first branch."""
    found, reached = [pair.shift], pair.shift
    while pair.upper(reached) == pair.growth * reached // 1 + pair.shift:
        found.append(pair.growth * found[-1] // 1)
        reached += found[-1]
        _require_short(len(found))
    return found


def _tail(pair: GridPair, mass: int, copies: int) -> tuple[list[int], int]:
    """Weights from the end of a tail inwards, and the weight in the middle that they leave of ``mass``.

    The tail stands there ``copies`` times. Each weight is as small as it can be for all that follow to be allowed; one
    unit of a weight is worth ``worth`` units of the whole, and rounding down costs at most ``lost`` further on.
    """
    growth, shift = pair.growth, pair.shift
    if mass <= shift:
        return [], mass
    steps, last, whole = 1, shift, copies * shift
    while whole + growth * last // 1 < mass:
        last = growth * last // 1
        steps, whole = steps + 1, whole + copies * last
        _require_short(steps)
    if growth == 1:  # nothing grows: all are D but the first, and nothing is left to rounding
        return [(mass - shift) // copies - shift * (steps - 1), *[shift] * (steps - 1)], shift
    unit = 1 << _PLACES
    worth = [0] * steps  # in 2^−96, rounded down
    following = unit  # what one unit of the next weight is worth
    for at in reversed(range(steps)):
        gained = growth if at else growth - 1  # what the first weight takes of D, the second has not
        worth[at] = copies * unit + gained.numerator * following // gained.denominator
        following = worth[at]
    lost = sum(worth[1:]) + steps * steps + 2 * unit  # rounded up: ``worth`` is too small by less than 1 a step
    need = mass * unit
    found: list[int] = []
    for at in range(steps):
        if at == 0:
            before, most, sure = 1, shift, shift * (worth[1] if steps > 1 else unit)
        else:
            before, most, sure = found[-1], (growth * found[-1] + (shift - found[0]) * (at == 1)) // 1, 0
            lost -= worth[at]
        least = -((sure - need - lost) // worth[at])
        found.append(min(most, max(least, before)))
        need -= copies * found[-1] * unit
    return found, need // unit


def _require_short(steps: int) -> None:
    if steps > MOST_STEPS:
        raise ParameterError.of(
            "epsilon", "larger", ..., f": noise for this ε and δ spreads over more than {2 * MOST_STEPS:,} numbers; "
            "with δ = 0 it needs no table",
        )  # fmt: skip


def _terms(pair: GridPair) -> Terms:
    return Terms(f"ln {pair.growth}" if pair.growth > 1 else "0", pair.growth, Fraction(pair.shift, pair.total))
