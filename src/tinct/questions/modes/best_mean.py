"""The largest mean truth on the histograms of n people: a linear program, and its solution in whole weights.

A mean over all histograms does not change when categories are renamed, so it is enough to look at rules that give
categories of equal counts equal probabilities: one variable for each state and margin in it (docs/proofs/mode.md). A
solver's table is private up to its tolerance. Moved a trillionth towards all answers alike it has room for rounding to
whole weights, which are then proved like every other table.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import fsum, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.questions.modes.margins import moves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from tinct.questions.modes.margins import MarginSpace, Whole

    Floats = NDArray[np.float64]

MOST_EPSILON = 20.0  # a solver takes coefficients below 1e-9 for zero
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "maxiter": 10_000}
_ROOM = 2.0**-40  # beyond what the solver's table exceeds: for rounding, also of q


@dataclass(frozen=True, eq=False)
class Leanings:
    """A private table as (p − 1/k)/(1 − q), which is of one size for all ε, by state and place.

    Attributes:
        table: One row per state; rows sum to 0.
        excess: By how much the table may exceed q·x ≤ x′ + 1/k somewhere.
        upper_bound: A mean truth that no private rule on these states exceeds.
    """

    table: Floats
    excess: float
    upper_bound: float


class MeanProgram:
    """All symmetric rules on the states of n people that keep the share q of every probability on every move.

    In terms of x = (p − 1/k)/(1 − q) they satisfy q·x ≤ x′ + 1/k, and every row sums to 0.
    """

    def __init__(self, space: MarginSpace, q: Fraction) -> None:
        from scipy.sparse import coo_array

        self._space, self._q, self._spread = space, float(q), float(1 - q)
        first = np.ones(space.states.shape, bool)
        first[:, 1:] = space.states[:, 1:] != space.states[:, :-1]
        self._entries = np.cumsum(first.ravel()).reshape(first.shape) - 1  # equal margins are one variable
        self._count = int(self._entries[-1, -1]) + 1
        self._pairs = _moving_pairs(space, self._entries, self._count)
        lines = np.arange(len(self._pairs))
        values = np.repeat([self._q, -1.0], len(lines))
        self._moves: csr_array = coo_array(
            (values, (np.tile(lines, 2), self._pairs.T.ravel())), shape=(len(lines), self._count)
        ).tocsr()
        rows = np.repeat(np.arange(len(space)), space.k)
        self._sums: csr_array = coo_array(
            (np.ones(len(rows)), (rows, self._entries.ravel())), shape=(len(space), self._count)
        ).tocsr()
        total = sum(space.histograms)
        self._winners = (space.states == 0).sum(axis=1)
        self._utility = np.zeros(self._count)
        shares = np.array([number / total for number in space.histograms])
        self._utility[self._entries[:, 0]] = shares * self._winners

    def solve(self, least: Sequence[float] | None = None) -> Leanings | None:
        """The rule with the largest mean truth, if the solver finds it; with at least this truth in each state."""
        from scipy.optimize import linprog

        k = self._space.k
        low = np.full(self._count, -1.0 / (k * self._spread))
        if least is not None:
            low[self._entries[:, 0]] = (np.asarray(least) / self._winners - 1.0 / k) / self._spread
        result: Any = linprog(
            -self._utility, A_ub=self._moves, b_ub=np.full(len(self._pairs), 1.0 / k),
            A_eq=self._sums, b_eq=np.zeros(len(self._space)),
            bounds=np.column_stack([low, np.full(self._count, (1.0 - 1.0 / k) / self._spread)]),
            method="highs-ipm", options=_OPTIONS,
        )  # fmt: skip
        if result.status != 0:
            return None
        table = result.x[self._entries]
        losers = np.where(self._space.states == 0, 0.0, table)
        share = -losers.sum(axis=1) / self._winners  # rows sum to 0, whatever the solver's tolerance
        table = np.where(self._space.states == 0, share[:, None], table)
        return Leanings(table, self._excess(table), self._bound(-result.ineqlin.marginals))

    def _excess(self, table: Floats) -> float:
        values = np.empty(self._count)
        values[self._entries] = table
        return max(0.0, float((self._moves @ values).max(initial=0.0)) - 1.0 / self._space.k)

    def _bound(self, prices: Floats) -> float:
        """Σ over states of the most that a unit of probability earns there, the moves paid for (weak duality)."""
        sizes = np.bincount(self._entries.ravel(), minlength=self._count)
        earned = (self._utility - self._moves.T @ np.maximum(prices, 0.0)) / sizes
        return fsum(earned[self._entries].max(axis=1))


def _moving_pairs(space: MarginSpace, entries: Whole, count: int) -> Whole:
    """Every two different variables of which one must keep q of the other, in both directions, once each."""
    found = []
    for batch in moves(space):
        here, there = entries[batch.before[:, None], batch.order].ravel(), entries[batch.after].ravel()
        found.append(np.unique(np.concatenate([here * count + there, there * count + here])))
    codes = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
    pairs = np.column_stack([codes // count, codes % count])
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]], np.int64)


def whole_weights(
    space: MarginSpace, leanings: Leanings, q: Fraction, bits: int, *, caution: int = 1
) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The table in whole weights, moved towards all answers alike by what it exceeds and ``caution`` times the room.

    With shares (1 − m)·x the inequality q·x ≤ x′ + 1/k gains m/k. Losers get multiples of lcm(1, …, k), as does the
    whole row, so that any number of winners can share alike. Certify the result: here nothing is proved.
    """
    unit = lcm(*range(1, space.k + 1))
    total = unit << bits
    moved = Fraction(2 * space.k * (leanings.excess + caution * _ROOM))
    scale = (1 - moved) * (1 - q) * (total // unit)
    even = Fraction(total // unit, space.k)
    rows = []
    for margins, leaning in zip(space.states.tolist(), leanings.table.tolist(), strict=True):
        winners = margins.count(0)
        row = [unit * round(even + scale * Fraction(value)) for value in leaning[winners:]]
        rows.append(((total - sum(row)) // winners,) * winners + tuple(row))
    return tuple(rows), total
