"""What tinct is measured against, on the same arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmarks.cases import Case
    from tinct import DatasetGraph


def scipy_matrix(graph: DatasetGraph, weights: NDArray[Any] | None = None) -> csr_array:
    """The graph's arrays as SciPy wants them, so that converting is not part of the measurement."""
    data = np.ones(len(graph.indices)) if weights is None else weights
    return csr_array((data, graph.indices, graph.indptr.astype(np.int32)), shape=(len(graph), len(graph)))


def breadth_first(case: Case) -> Callable[[], Any]:
    """SciPy's breadth-first search in C from one vertex: the least anything can do that looks at every edge."""
    matrix = scipy_matrix(case.graph)
    return lambda: breadth_first_order(matrix, int(case.chosen[0]), directed=True, return_predecessors=True)


def multi_source_dijkstra(case: Case, weights: NDArray[Any] | None = None) -> Callable[[], Any]:
    """SciPy's Dijkstra in C from all fixed vertices at once."""
    matrix = scipy_matrix(case.graph, weights)
    return lambda: dijkstra(matrix, directed=True, indices=case.chosen, min_only=True)


def linear_program(
    graph: DatasetGraph, epsilon: NDArray[Any], delta: NDArray[Any], fixed: NDArray[Any]
) -> Callable[[], Any]:
    """HiGHS on the same problem: maximise the truth under the inequalities of every edge."""
    n, (u, v) = len(graph), graph.ends.T
    growth, edges = np.exp(epsilon), np.arange(len(u))
    rows, columns, values, bounds = [], [], [], []
    for block, (a, b) in enumerate(((u, v), (v, u), (u, v), (v, u))):
        # p_a ≤ E p_b + δ, and the same for the complements: E p_a − p_b ≤ E − 1 + δ
        of_a, of_b, limit = (1.0, -growth, delta) if block < 2 else (growth, -1.0, growth - 1 + delta)
        rows += [edges + block * len(u)] * 2
        columns += [a, b]
        values += [np.broadcast_to(of_a, len(u)), np.broadcast_to(of_b, len(u))]
        bounds.append(limit)
    matrix = coo_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(4 * len(u), n))
    objective = np.where(graph.coloring.codes == 0, -1.0, 1.0)
    limits = [(0, 1) if np.isnan(value) else (value, value) for value in fixed]
    right = np.concatenate(bounds)
    return lambda: linprog(objective, A_ub=matrix.tocsr(), b_ub=right, bounds=limits, method="highs")


def paper_algorithm(
    graph: DatasetGraph, growth: dict[tuple[int, int], float], fixed: dict[int, float]
) -> Callable[[], Any]:
    """The heterogeneous paper's algorithms 1 and 2 (δ = 0), as printed but for the corrected orientation."""
    neighbors = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(len(graph))]

    def upper(u: int, v: int, a: float) -> float:
        e = growth[u, v]
        return min(e * a, 1 - (1 - a) / e, 1.0)

    def one_source(source: int, value: float) -> dict[int, float]:
        known = {source: value}
        while len(known) < len(graph):
            best, chosen = 2.0, -1
            for v in {w for x in known for w in neighbors[x] if w not in known}:
                bound = min(upper(x, v, known[x]) for x in neighbors[v] if x in known)
                if bound < best:
                    best, chosen = bound, v
            known[chosen] = best
        return known

    def run() -> list[float]:
        first = [one_source(source, value) for source, value in fixed.items()]
        second = [one_source(source, 1 - value) for source, value in fixed.items()]
        result = []
        for v in range(len(graph)):
            own = first if graph.coloring.codes[v] == 0 else second
            truth = min(bounds[v] for bounds in own)
            result.append(fixed.get(v, truth if graph.coloring.codes[v] == 0 else 1 - truth))
        return result

    return run
