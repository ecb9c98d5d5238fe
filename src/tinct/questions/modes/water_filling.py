"""Water-filling: what each category must keep, from the nearest state in which it is on top (docs/theory.md §9a).

To bring a loser j to the top with as few replacements as possible, people are taken from whoever is above a level and
given to j. A private rule keeps at least q^d of what j has there, d replacements away; this rule keeps exactly that,
and everything left goes to the winners.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    from tinct.questions.modes.margins import MarginSpace, Whole

_GUARD = 64  # binary places carried beyond those that are kept


@dataclass(frozen=True, eq=False)
class Targets:
    """For every state and place the nearest state in which that category is on top, and the replacements to it."""

    states: Whole
    distances: Whole


def nearest_wins(space: MarginSpace) -> Targets:
    """Pour from above a level ℓ below the top into each category in turn.

    ℓ is the largest with Σ max(0, ℓ − m_i) ≤ m_j − ℓ over the others; as the sum is the largest of c·ℓ − (the c
    smallest margins), that is the least of floor((m_j + the c smallest margins)/(c + 1)) over c.
    """
    targets = Targets(np.empty_like(space.states), np.empty_like(space.states))
    for place in range(space.k):
        own = space.states[:, place]
        others = np.delete(space.states, place, axis=1)
        sums = np.concatenate([np.zeros((len(own), 1), np.int64), np.cumsum(others, axis=1)], axis=1)
        level = ((own[:, None] + sums) // np.arange(1, space.k + 1)).min(axis=1)
        taken = np.maximum(level[:, None] - others, 0).sum(axis=1)
        left_over = own - level - taken
        # others are sorted, so the first of them are those at the level, and the first of those give one more
        at_level = np.arange(space.k - 1) < left_over[:, None]
        below = np.where(others == space.ceiling, space.ceiling, others - level[:, None])
        moved = np.sort(np.where(others <= level[:, None], at_level.astype(np.int64), below), axis=1)
        found, _ = space.find(np.concatenate([np.zeros((len(own), 1), np.int64), moved], axis=1))
        targets.states[:, place] = found
        targets.distances[:, place] = own - level
    return targets


def water_filling(space: MarginSpace, q: Fraction, bits: int) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The table of whole weights for coins ``q``, and what each row sums to.

    Losers get multiples of lcm(1, …, k), as does the whole row, so that any number of winners can share alike.
    The result is rounded, and need not be private even before that: certify it.
    """
    scale = bits + _GUARD
    targets = nearest_wins(space)
    powers = _powers(q, int(targets.distances.max(initial=1)), scale)
    shares = _winners_shares(space, targets, powers, scale)
    unit, half = lcm(*range(1, space.k + 1)), 1 << (_GUARD - 1)
    total = unit << bits
    rows = []
    for margins, states, distances, share in zip(
        space.states.tolist(), targets.states.tolist(), targets.distances.tolist(), shares, strict=True
    ):
        winners = margins.count(0)
        row = [0] * winners
        for margin, state, distance in zip(margins[winners:], states[winners:], distances[winners:], strict=True):
            kept = powers[1] * share if margin == 1 else powers[distance] * shares[state]
            row.append(unit * (((kept >> scale) + half) >> _GUARD))
        row[:winners] = [(total - sum(row)) // winners] * winners
        rows.append(tuple(row))
    return tuple(rows), total


def solving_order(space: MarginSpace) -> Whole:
    """States so that each comes after those its losers point to: fewer at the ceiling first, then the more even.

    A loser at the ceiling leaves it. Otherwise people only move between categories that are below the ceiling, from
    higher ones to a lower one, which makes those more even.
    """
    free = space.states < space.ceiling
    count = free.sum(axis=1)
    margins = np.where(free, space.states, 0)
    unevenness = count * (margins**2).sum(axis=1) - margins.sum(axis=1) ** 2
    return np.lexsort((unevenness, space.k - count))


def _winners_shares(space: MarginSpace, targets: Targets, powers: list[int], scale: int) -> list[int]:
    """For every state the share of each winner, in units of 2^−scale: w = (1 − rest)/(u + q·v)."""
    one = 1 << scale
    margins, states, distances = space.states.tolist(), targets.states.tolist(), targets.distances.tolist()
    shares = [0] * len(space)
    for at in solving_order(space).tolist():
        row = margins[at]
        winners, next_best = row.count(0), row.count(1)
        rest = 0
        for place in range(winners + next_best, space.k):
            rest += powers[distances[at][place]] * shares[states[at][place]] >> scale
        # bringing a category that is one behind to the top leads back to this very state
        shares[at] = ((one - rest) << scale) // (winners * one + next_best * powers[1])
    return shares


def _powers(q: Fraction, highest: int, scale: int) -> list[int]:
    one = 1 << scale
    base = (q.numerator << scale) // q.denominator
    powers = [one]
    for _ in range(highest):
        powers.append(powers[-1] * base >> scale)
    return powers
