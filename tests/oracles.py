"""What a linear program says about private mechanisms.

With two answers variables are p(v) = Pr[first colour] for every vertex. (ε, δ)-DP on an edge is four linear
inequalities, so the program knows nothing of U, of paths or of boundaries. Local mechanisms are weights of columns.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, lil_array

from tinct.local.divergences import Utility

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# HiGHS accepts violations of 1e-7 unless told otherwise; the tests compare to 1e-9.
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def _inequalities(
    n: int, edges: Sequence[tuple[int, int]], epsilons: Sequence[float], deltas: Sequence[float]
) -> tuple[csr_array, np.ndarray]:
    rows, columns, values, right = [], [], [], []
    for (u, v), epsilon, delta in zip(edges, epsilons, deltas, strict=True):
        growth = np.exp(epsilon)
        for here, there in ((u, v), (v, u)):
            # p(here) − E·p(there) ≤ δ, and the same for the second colour, 1 − p
            for sign, bound in ((1.0, delta), (-1.0, delta + growth - 1.0)):
                row = len(right)
                rows += [row, row]
                columns += [here, there]
                values += [sign, -sign * growth]
                right.append(bound)
    return csr_array((values, (rows, columns)), shape=(len(right), n)), np.array(right)


def best(
    n: int,
    edges: Sequence[tuple[int, int]],
    epsilons: Sequence[float],
    deltas: Sequence[float],
    objective: Sequence[float],
    fixed: Mapping[int, float] | None = None,
) -> np.ndarray | None:
    """The private p that maximises Σ objective·p and agrees with ``fixed``, or None if there is none."""
    matrix, right = _inequalities(n, edges, epsilons, deltas)
    bounds = [(0.0, 1.0)] * n
    for vertex, value in (fixed or {}).items():
        bounds[vertex] = (value, value)
    result = linprog(
        -np.asarray(objective, float), A_ub=matrix, b_ub=right, bounds=bounds, method="highs-ds", options=_OPTIONS
    )
    if result.status == 2:
        return None
    assert result.status == 0, result.message
    return result.x


def most_truthful(
    n: int,
    edges: Sequence[tuple[int, int]],
    epsilons: Sequence[float],
    deltas: Sequence[float],
    codes: Sequence[int],
    fixed: Mapping[int, float],
) -> np.ndarray | None:
    """Pr[first colour] of the extension with the largest sum of truths, or None if nothing extends ``fixed``.

    If one extension is the most truthful at every vertex, then it alone has the largest sum.
    """
    return best(n, edges, epsilons, deltas, np.where(np.asarray(codes) == 0, 1.0, -1.0), fixed)


def most_added(
    n: int,
    edges: Sequence[tuple[int, int]],
    epsilons: Sequence[float],
    deltas: Sequence[float],
    codes: Sequence[int],
    truth: Sequence[float],
) -> float:
    """How much a private mechanism can be more truthful than this in all, if it is less truthful nowhere."""
    matrix, right = _inequalities(n, edges, epsilons, deltas)
    sign = np.where(np.asarray(codes) == 0, 1.0, -1.0)
    bounds = [(t, 1.0) if code == 0 else (0.0, 1.0 - t) for t, code in zip(truth, codes, strict=True)]
    result = linprog(-sign, A_ub=matrix, b_ub=right, bounds=bounds, method="highs-ds", options=_OPTIONS)
    assert result.status == 0, result.message
    return float(sign @ result.x - sign @ np.where(sign > 0, truth, 1.0 - np.asarray(truth)))


# any number of answers


def best_table(
    n: int,
    width: int,
    edges: Sequence[tuple[int, int]],
    epsilons: Sequence[float],
    deltas: Sequence[float],
    objective: np.ndarray,
    fixed: Mapping[int, Sequence[float]] | None = None,
) -> np.ndarray | None:
    """The private table (n × width) that maximises Σ objective·table with some rows fixed, or None if there is none.

    (ε, δ)-DP on an edge is written as it is defined: P(S) ≤ E·Q(S) + δ for every event S, in both directions.
    """
    events = np.array([[at >> k & 1 for k in range(width)] for at in range(1, 2**width - 1)], float)
    matrix = np.zeros((len(edges), 2, len(events), n, width))
    for at, ((u, v), epsilon) in enumerate(zip(edges, epsilons, strict=True)):
        for way, (here, there) in enumerate(((u, v), (v, u))):
            matrix[at, way, :, here] = events
            matrix[at, way, :, there] = -np.exp(epsilon) * events
    right = np.repeat(np.asarray(deltas, float), 2 * len(events))
    bounds = [(0.0, 1.0)] * (n * width)
    for vertex, row in (fixed or {}).items():
        bounds[vertex * width : (vertex + 1) * width] = [(value, value) for value in row]
    free = [v for v in range(n) if v not in (fixed or {})]
    result = linprog(
        -np.asarray(objective, float).ravel(),
        A_ub=csr_array(matrix.reshape(len(right), n * width)),
        b_ub=right,
        A_eq=csr_array(np.kron(np.eye(n), np.ones(width))[free]),
        b_eq=np.ones(len(free)),
        bounds=bounds,
        method="highs-ds",
        options=_OPTIONS,
    )
    if result.status == 2:
        return None
    assert result.status == 0, result.message
    return result.x.reshape(n, width)


# local privacy


def most_information(prior: Sequence[float], epsilon: float) -> float:
    """The most mutual information of an ε-private report about a symbol, by the program over all 2^k patterns.

    A private column is a mixture of columns that are 1 on a set and e^−ε elsewhere. Their worth is taken from the
    definition of mutual information, so the program knows nothing of rates, orbits or prices. Values below about 1e-12
    have few digits. Symbols that never occur must be left out.
    """
    p = np.asarray(prior, float)
    raised = (np.arange(1, 2 ** len(p))[:, None] >> np.arange(len(p))) & 1
    columns = np.where(raised, 1.0, np.exp(-epsilon))
    worth = (p * columns * np.log(columns / (columns @ p)[:, None])).sum(axis=1)
    unit = worth.max() or 1.0
    result = linprog(-worth / unit, A_eq=columns.T, b_eq=np.ones(len(p)), method="highs-ds", options=_OPTIONS)
    assert result.status == 0, result.message
    return -result.fun * unit


# the most common category


def most_mean_truth(histograms: Sequence[tuple[int, ...]], epsilon: float) -> float:
    """The largest mean over these histograms of the probability of a largest category, by an ε-private rule.

    A variable for each histogram and category; neighbours are histograms of which one person may have become the other
    (one count up, one down, or only one of these). The program knows nothing of margins, names or symmetry.
    """
    k, number = len(histograms[0]), {histogram: at for at, histogram in enumerate(histograms)}
    moves = [np.array(move) for move in product((-1, 0, 1), repeat=k) if 0 < sum(map(abs, move)) <= 2]
    moves = [move for move in moves if abs(move.sum()) <= 1]
    edges = [
        (number[histogram], number[after])
        for histogram in histograms
        for move in moves
        if (after := tuple((np.array(histogram) + move).tolist())) in number
    ]
    here, there = (
        np.repeat(np.array(ends) * k, k) + np.tile(np.arange(k), len(edges)) for ends in zip(*edges, strict=True)
    )
    lines = np.arange(len(here))
    values = np.repeat([1.0, -np.exp(epsilon)], len(lines))
    matrix = csr_array(
        (values, (np.tile(lines, 2), np.concatenate([here, there]))), shape=(len(lines), k * len(number))
    )
    right = np.array([[count == max(histogram) for count in histogram] for histogram in histograms], float)
    result = linprog(
        -right.ravel() / len(histograms),
        A_ub=matrix,
        b_ub=np.zeros(len(lines)),
        A_eq=csr_array(np.kron(np.eye(len(number)), np.ones(k))),
        b_eq=np.ones(len(number)),
        method="highs-ds",
        options=_OPTIONS,
    )
    assert result.status == 0, result.message
    return float(-result.fun)


def climbed_divergence(p0, p1, epsilon, delta, utility, rng, outputs):
    """The largest divergence that climbing finds over (ε, δ)-private mechanisms with so many outputs.

    A divergence is convex in the mechanism, so maximising its tangent, a linear program over all private mechanisms,
    never leads down. The program has the matrix and, for every pair and output, what exceeds e^ε as variables; it knows
    nothing of columns or levels. Three random starts.
    """
    program = _private_polytope(len(p0), outputs, epsilon, delta)
    return max(_climb(p0, p1, Utility.parse(utility), program, rng.normal(size=(len(p0), outputs))) for _ in range(3))


def _climb(p0, p1, utility, program, slope):
    best = 0.0
    for _ in range(40):
        matrix = np.maximum(program(slope), 0.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
        value = utility.divergence(p0 @ matrix, p1 @ matrix)
        if value <= best * (1 + 1e-9):
            break
        best, slope = value, _tangent(p0, p1, matrix, utility)
    return best


def _tangent(p0, p1, matrix, utility):
    """The derivative of the divergence by every entry, by differences of a column's worth."""
    z, t = np.maximum(p0 @ matrix, 1e-12), np.maximum(p1 @ matrix, 1e-12)
    step = 1e-7

    def worth(a, b):
        return utility.worth(a, b, a - b)

    by_z = (worth(z * (1 + step), t) - worth(z * (1 - step), t)) / (2 * step * z)
    by_t = (worth(z, t * (1 + step)) - worth(z, t * (1 - step))) / (2 * step * t)
    return np.outer(p0, by_z) + np.outer(p1, by_t)


def _private_polytope(k, outputs, epsilon, delta):
    """A function that maximises a linear function over all (ε, δ)-private matrices."""
    pairs = [(x, z) for x in range(k) for z in range(k) if x != z]
    entries, over = k * outputs, len(pairs) * outputs
    upper = lil_array((over + len(pairs), entries + over))
    for at, (x, z) in enumerate(pairs):
        for y in range(outputs):
            line = at * outputs + y
            upper[line, x * outputs + y] = 1.0
            upper[line, z * outputs + y] = -np.exp(epsilon)
            upper[line, entries + line] = -1.0
            upper[over + at, entries + line] = 1.0
    rows = lil_array((k, entries + over))
    for x in range(k):
        rows[x, x * outputs : (x + 1) * outputs] = 1.0
    limits = np.concatenate([np.zeros(over), np.full(len(pairs), delta)])
    upper, rows = upper.tocsr(), rows.tocsr()

    def maximise(slope):
        costs = np.concatenate([-slope.ravel() / abs(slope).max(), np.zeros(over)])
        solved = linprog(costs, A_ub=upper, b_ub=limits, A_eq=rows, b_eq=np.ones(k), bounds=(0, 1), method="highs")
        return solved.x[:entries].reshape(k, outputs)

    return maximise
