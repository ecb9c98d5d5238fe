"""Linear programs over private mechanisms: in the program, out value, primal and dual bound (HiGHS)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import Budget
from tinct.privacy import Privacy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]

MAX_GROWTH = 5e8  # e^20
# HiGHS drops coefficients below 1e-9, and e^ε − 1 may be what is left of a row: it then finds programs infeasible that
# are not. A smaller ε than this is taken for this one, which allows a little more: bounds and refusals stay true.
LEAST_GROWTH = 1 + 1e-8
MAX_ENTRIES = 20_000_000  # non-zero coefficients; beyond this HiGHS takes hours, not minutes


@dataclass(frozen=True)
class Solution:
    """A table that is feasible up to the solver's tolerance, its value, and a bound no other table exceeds."""

    table: Floats
    value: float
    upper_bound: float


class PrivateTables:
    """All private tables on a graph, with some rows fixed, as the feasible set of a linear program.

    Maximise Σ utility[v, y]·p[v, y] subject to p[v, ·] a distribution and, on every edge in both directions,
    Σ_y max(0, p[u, y] − E·p[v, y]) ≤ δ. With δ > 0 the maxima become variables of their own.

    Args:
        graph: The dataset graph.
        privacy: (ε, δ) for all edges or for each edge; other notions of privacy are not linear.
        fixed: Rows that are given, NaN in rows that are free; None if all are free.
        margin: Leave this much room, relative on e^ε and δ and as the least entry of free rows, so that the solver's
            own tolerance cannot break the privacy.
    """

    def __init__(
        self, graph: DatasetGraph, privacy: PrivacyLike, fixed: Floats | None = None, *, margin: float = 0.0
    ) -> None:
        budget = Budget(graph, privacy)
        if not all(isinstance(pair, Privacy) for pair in budget.pairs):
            raise ParameterError("a linear program needs (ε, δ): Gaussian and f-DP are not linear")
        self._shape = (len(graph), len(graph.outputs))
        self._free = np.asarray(np.ones(len(graph), bool) if fixed is None else np.isnan(fixed).any(axis=1))
        self._given = np.zeros(self._shape) if fixed is None else np.where(self._free[:, None], 0.0, fixed)
        self._margin = margin
        self._assemble(graph, budget)

    def _assemble(self, graph: DatasetGraph, budget: Budget) -> None:
        from scipy.sparse import coo_array

        n, q = self._shape
        rows = np.repeat(np.arange(n), np.diff(graph.indptr))
        gains, shifts = (values * (1 - self._margin) for values in budget.dense_parameters())
        gains = np.maximum(gains, 1.0)  # where nothing is allowed there is no room to be left
        if gains.max(initial=1.0) > MAX_GROWTH:
            raise ParameterError(
                f"a linear program cannot resolve ε above {math.log(MAX_GROWTH):.3g} in floating point"
            )
        gains = np.where((gains > 1.0) & (gains < LEAST_GROWTH), LEAST_GROWTH, gains)
        strict = np.flatnonzero(shifts == 0)
        loose = np.flatnonzero(shifts > 0)
        if (len(graph.indices) * q * 4) > MAX_ENTRIES:
            raise ParameterError(f"the linear program would have {len(graph.indices) * q * 4:,} coefficients: too many")
        answers = np.arange(q)
        # p[u, y] − E p[v, y] − t ≤ 0, without t where δ = 0; then Σ_y t ≤ δ. Divided by √E, to keep a large E tame.
        entries = np.concatenate([strict, loose])
        here = (rows[entries, None] * q + answers).ravel()
        there = (graph.indices[entries, None].astype(np.int64) * q + answers).ravel()
        root = np.sqrt(np.repeat(gains[entries], q))
        line = np.arange(len(here))
        slack_lines = line[len(strict) * q :]
        slack = n * q + np.arange(len(slack_lines))
        sums = len(line) + np.repeat(np.arange(len(loose)), q)
        row_at = np.concatenate([line, line, slack_lines, sums])
        column_at = np.concatenate([here, there, slack, slack])
        values = np.concatenate([1 / root, -root, -1 / root[slack_lines], np.ones(len(slack))])
        self._columns = n * q + len(slack)
        self._matrix = coo_array((values, (row_at, column_at)), shape=(len(line) + len(loose), self._columns)).tocsr()
        self._limits = np.concatenate([np.zeros(len(line)), shifts[loose]])
        self._row_sums = coo_array(
            (np.ones(n * q), (np.repeat(np.arange(n), q), np.arange(n * q))), shape=(n, self._columns)
        ).tocsr()

    def maximize(self, utility: Floats, at_least: tuple[Floats, Floats] | None = None) -> Solution | None:
        """The private table with the largest Σ utility·p, or None if there is no private table at all.

        ``at_least``, weights (m × vertices × outputs) and m numbers, asks for Σ weights·p ≥ number as well.
        """
        from scipy.optimize import linprog
        from scipy.sparse import coo_array, vstack

        objective = np.zeros(self._columns)
        objective[: utility.size] = -utility.ravel()
        low = np.zeros(self._columns)
        low[: utility.size] = self._margin
        high = np.full(self._columns, np.inf)
        high[: utility.size] = 1.0
        pinned = np.repeat(~self._free, self._shape[1])
        low[: utility.size][pinned] = high[: utility.size][pinned] = self._given.ravel()[pinned]
        matrix, limits = self._matrix, self._limits
        if at_least is not None:
            weights, numbers = at_least
            row, *column = np.nonzero(weights)
            places = (row, np.ravel_multi_index(tuple(column), self._shape))
            more = coo_array((-weights[(row, *column)], places), shape=(len(numbers), self._columns))
            matrix, limits = vstack([matrix, more.tocsr()], format="csr"), np.concatenate([limits, -numbers])
        result = linprog(
            objective,
            A_ub=matrix,
            b_ub=limits,
            A_eq=self._row_sums[self._free],
            b_eq=np.ones(int(self._free.sum())),
            bounds=np.column_stack([low, high]),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if result.status == 2:
            return None
        if result.status != 0:
            raise ParameterError(f"the linear program could not be solved: {result.message}")
        dual = (
            limits @ result.ineqlin.marginals
            + result.eqlin.marginals.sum()
            + low @ result.lower.marginals
            + np.where(np.isfinite(high), high, 0.0) @ result.upper.marginals
        )
        table = np.where(self._free[:, None], self._distributions(result.x), self._given)
        return Solution(table, float((utility * table).sum()), float(-dual))

    def _distributions(self, values: Floats) -> Floats:
        """The solver's table with its rounding removed: nothing negative, rows that sum to 1."""
        table = np.clip(values[: self._shape[0] * self._shape[1]].reshape(self._shape), 0.0, 1.0)
        return np.asarray(table / table.sum(axis=1, keepdims=True)) + 0.0  # the sum turns −0 into 0
