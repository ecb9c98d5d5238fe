"""The proof for a mode table: every move, every category, both directions, in whole numbers.

It shares nothing with the rule that made the table. Weights are compared through their order alone: for each
distinct weight the least one that may stand across from it is found exactly, once, and millions of moves are then
looked up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import NotPrivate, ParameterError
from tinct.exact.proof import at_most_exp
from tinct.questions.modes.margins import moves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from tinct.questions.modes.margins import MarginSpace, Moves

    Rows = Sequence[Sequence[int]]


@dataclass(frozen=True)
class ModeProof:
    """What was checked: so many states, images of moves, and inequalities q·p ≤ p′ (each image has 2k)."""

    states: int
    images: int
    inequalities: int


@dataclass(frozen=True)
class BrokenMove:
    """A move on which a table is not private: the margins before and after, and where the category stands in each."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    place_before: int
    place_after: int


def certify_rows(
    space: MarginSpace, rows: Rows, total: int, q: Fraction, progress: Callable[[float], None] | None = None
) -> ModeProof:
    """Check that on every move no category keeps less than q of its weight, in exact arithmetic.

    Args:
        space: The states, whose moves are all looked at.
        rows: For every state a whole weight for each place; categories with equal margins must have equal weights.
        total: What each row sums to.
        q: A rational number in (0, 1], at least e^−ε.
        progress: Called now and then with the share of the work that is done.

    Raises:
        NotPrivate: An inequality fails; ``witness`` has the move.
        ParameterError: The table is not what it has to be.
    """
    if not 0 < q <= 1:
        raise ParameterError(f"q must be in (0, 1], got {q}")
    _require_rows(space, rows, total)
    distinct, numbers = _numbered(rows)
    least = _least_partners(distinct, q)
    images = seen = 0
    for batch in moves(space):
        here, there = _across(numbers, batch)
        broken = (there < least[here]) | (here < least[there])
        if broken.any():
            raise _refusal(space, batch, np.argwhere(broken)[0])
        images += len(batch.before)
        if progress is not None and images - seen > len(space):
            seen = images
            progress(min(1.0, 2 * images / (len(space) * space.k * (space.k - 1))))
    return ModeProof(len(space), images, 2 * space.k * images)


def certify_coin(q: Fraction, epsilon: str, neighbors: str) -> None:
    """Check what the theorem on permute-and-flip asks of the coin (docs/proofs/mode.md, claim 2).

    One person who joins or leaves changes one count, so q must be at least e^−ε; one who changes category changes two,
    so q² must be.

    Raises:
        ParameterError: It is not, or q is no coin.
    """
    if not 0 < q <= 1:
        raise ParameterError(f"the coin must be in (0, 1], got {str(q)[:80]}")
    changes = 1 if neighbors == "add-remove" else 2
    if not at_most_exp(1 / q**changes, epsilon):
        raise ParameterError(f"the coin to the power of {changes} is less than e to the power of −epsilon")


def least_epsilon(space: MarginSpace, rows: Rows) -> float:
    """The least ε for which a table is private, in floating point: for reports, not for proofs."""
    distinct, numbers = _numbered(rows)
    if distinct[0] <= 0:
        return math.inf
    logarithms = np.array([math.log(weight) for weight in distinct])
    worst = 0.0
    for batch in moves(space):
        here, there = _across(numbers, batch)
        worst = max(worst, float(np.abs(logarithms[here] - logarithms[there]).max(initial=0.0)))
    return worst


def _across(numbers: NDArray[np.int64], batch: Moves) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the weights of each category before and after a move."""
    return numbers[batch.before[:, None], batch.order], numbers[batch.after]


def _numbered(rows: Rows) -> tuple[list[int], NDArray[np.int64]]:
    """The distinct weights in order, and for every entry of the table the number of its weight."""
    distinct = sorted({weight for row in rows for weight in row})
    number = {weight: at for at, weight in enumerate(distinct)}
    return distinct, np.array([[number[weight] for weight in row] for row in rows], np.int64)


def _least_partners(distinct: list[int], q: Fraction) -> NDArray[np.int64]:
    """For each distinct weight x the number of the least weight y with q·x ≤ y."""
    up, down = q.numerator, q.denominator
    least, at = [], 0
    for weight in distinct:
        while down * distinct[at] < up * weight:  # ends at y = x at the latest
            at += 1
        least.append(at)
    return np.array(least, np.int64)


def _require_rows(space: MarginSpace, rows: Rows, total: int) -> None:
    if len(rows) != len(space):
        raise ParameterError(f"{len(rows):,} rows for {len(space):,} states: each needs one")
    for margins, row in zip(space.states.tolist(), rows, strict=True):
        good = (
            len(row) == space.k
            and all(type(weight) is int and weight > 0 for weight in row)
            and sum(row) == total
            and all(row[i] == row[i + 1] for i in range(space.k - 1) if margins[i] == margins[i + 1])
        )
        if not good:
            raise ParameterError(
                f"the row of margins {tuple(margins)} must have {space.k} positive whole numbers that sum to the "
                "total, equal ones for equal margins"
            )


def _refusal(space: MarginSpace, batch: Moves, at: NDArray[Any]) -> NotPrivate:
    move, place = int(at[0]), int(at[1])
    before, after = (tuple(space.states[side[move]].tolist()) for side in (batch.before, batch.after))
    witness = BrokenMove(before, after, int(batch.order[move, place]), place)
    return NotPrivate(
        f"not private: when one person moves the margins {before} to {after}, the answer at margin "
        f"{before[witness.place_before]}, then {after[place]}, changes by more than the budget",
        witness,
    )
