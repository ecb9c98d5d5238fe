"""The graphs that are measured, each with fixed values on a boundary-hitting set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import DatasetGraph, Privacy, graphs
from tinct.graphs import EdgeClasses, EdgePrivacy
from tinct.graphs.coloring import Coloring

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNIFORM = Privacy("0.5", "1e-6")


@dataclass(frozen=True)
class Case:
    """A graph, and values of the first colour on its boundary (NaN elsewhere) that can be extended."""

    name: str
    graph: DatasetGraph
    fixed: NDArray[np.float64]

    @property
    def chosen(self) -> NDArray[np.int32]:
        """The positions of the fixed vertices."""
        return np.flatnonzero(~np.isnan(self.fixed)).astype(np.int32)


def grid(side: int) -> Case:
    """A square grid with a wavy border between the colours."""

    def wave(points: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(np.sin(points[:, 0] / 97.0) + np.cos(points[:, 1] / 131.0) > 0.3)

    return _case(f"{side} × {side} grid", graphs.grid(side, side, wave, vectorized=True))


def cube(n: int) -> Case:
    """The votes of n people, coloured by majority."""
    return _case(f"{n}-cube", graphs.hypercube(n, lambda votes: votes.sum(axis=1) * 2 > n, vectorized=True))


def random_graph(n: int, degree: int = 5) -> Case:
    """A graph with ``degree`` random edges for each vertex; the first 2 % of the vertices in one colour."""
    rng = np.random.default_rng(7)
    pairs = rng.integers(0, n, (round(1.1 * degree * n), 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    pairs = pairs[rng.permutation(len(pairs))[: degree * n]]
    rows, columns = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    order = np.lexsort((columns, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    graph = DatasetGraph.from_csr(indptr, columns[order], np.arange(n) < n // 50, disconnected=True)
    return _case(f"random, {n:,} vertices, {degree * n:,} edges", graph)


def path(n: int) -> Case:
    """A path in stretches of 60 vertices, each of the other colour than the one before."""
    ends = np.arange(n - 1)
    rows = np.concatenate([ends, ends + 1])
    columns = np.concatenate([ends + 1, ends])
    order = np.lexsort((columns, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return _case(f"path, {n:,} vertices", DatasetGraph.from_csr(indptr, columns[order], np.arange(n) // 60 % 2 == 1))


def dense_graph(n: int) -> Case:
    """Like ``random_graph`` with 20 n edges."""
    return random_graph(n, degree=20)


def _case(name: str, graph: DatasetGraph) -> Case:
    """Fix the first colour's boundary near the balanced value, each vertex at its own, so that nothing is uniform."""
    positions = graph.boundary().positions
    positions = positions[graph.coloring.codes[positions] == 0]
    fixed = np.full(len(graph), np.nan)
    fixed[positions] = UNIFORM.balance[0] - 0.01 * np.random.default_rng(3).random(len(positions))
    return Case(name, graph, fixed)


def eight_classes(case: Case) -> EdgeClasses:
    """Eight budgets from ε = 0.5 up, dealt to the edges at random."""
    rng = np.random.default_rng(11)
    numbers = rng.integers(0, 8, len(case.graph.ends)).astype(np.uint8)[case.graph.edge_ids]
    return EdgeClasses([Privacy(0.5 + 0.1 * c, 1e-6 * (c + 1)) for c in range(8)], numbers)


def own_budgets(case: Case) -> EdgePrivacy:
    """Every edge its own ε between 0.5 and 2 and its own δ."""
    rng = np.random.default_rng(13)
    edges = len(case.graph.ends)
    epsilon = rng.uniform(0.5, 2.0, edges)[case.graph.edge_ids]
    delta = rng.uniform(1e-6, 1e-5, edges)[case.graph.edge_ids]
    return EdgePrivacy(epsilon, delta)


def five_answers(case: Case) -> tuple[DatasetGraph, dict[Any, NDArray[np.float64]]]:
    """The same graph with five answers: two opposite orders, and uniform rows on the boundary."""
    answers = tuple("abcde")
    orders = [answers, answers[::-1]]
    graph = DatasetGraph.trusted(
        case.graph.indptr, case.graph.indices, Coloring(case.graph.coloring.codes, tuple(orders), answers)
    )
    # the same row everywhere: with rows of their own the bounds seldom are a private mechanism (docs/theory.md §4)
    return graph, {int(at): np.full(5, 0.2) for at in case.chosen}


def rows_array(graph: DatasetGraph, rows: dict[Any, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Fixed rows along the vertices, NaN where free."""
    table = np.full((len(graph), len(graph.outputs)), np.nan)
    table[list(rows)] = list(rows.values())
    return table


def four_answers(n: int) -> DatasetGraph:
    """A random graph with four answers and random orders."""
    rng = np.random.default_rng(19)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, n, (3 * n, 2)).tolist() if pair[0] != pair[1]}
    colors = {v: tuple(rng.permutation(4).tolist()) for v in range(n)}
    return DatasetGraph(sorted(pairs), colors, disconnected=True)
