"""Regions: fixed rows cut a graph into pieces that know nothing of each other (docs/proofs/rainbow.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels import breadth_first
from tinct._kernels.propagation import UNIFORM
from tinct.graphs import Budget, DatasetGraph, EdgePrivacy
from tinct.graphs.coloring import Coloring
from tinct.mechanism._verify import TOLERANCE, directed_edges, excess
from tinct.rainbow.boundary_rows import prefix_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]
    Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Region:
    """Free vertices that are joined to each other, and the fixed ones next to them.

    Attributes:
        graph: The free and the fixed vertices, without the edges between fixed ones.
        privacy: That of its edges.
        rows: The fixed rows, NaN where free.
        envelope: The envelope's rows.
        positions: Where its vertices are in the whole graph.
    """

    graph: DatasetGraph
    privacy: PrivacyLike
    rows: Floats
    envelope: Floats
    positions: Positions

    @property
    def free(self) -> Positions:
        """The free vertices, by their positions in the region."""
        return np.flatnonzero(np.isnan(self.rows[:, 0]))

    @property
    def inequalities(self) -> int:
        """How many inequalities a linear program about it has."""
        return len(self.graph.indices) * len(self.graph.outputs)

    def bounds(self) -> Floats:
        """The envelope's prefix sums at the free vertices, best answer first."""
        return prefix_sums(prefix_events(self.graph)[self.free], self.envelope[self.free])


def prefix_sums(events: Floats, table: Floats) -> Floats:
    """The probabilities of events (vertices × events × outputs) in a table."""
    return np.asarray(np.einsum("vky,vy->vk", events, table))


def broken_entries(graph: DatasetGraph, budget: Budget, table: Floats) -> Positions:
    """The directed edges on which a table breaks its (ε, δ), as entry numbers."""
    gains, shifts = budget.dense_parameters()
    slack = 1.0 + TOLERANCE
    found = [
        entries[excess(table[rows], table[columns], gains[entries] * slack) > shifts[entries] * slack]
        for rows, columns, entries in directed_edges(graph)
    ]
    return np.concatenate([np.empty(0, np.int64), *found])


def broken_regions(graph: DatasetGraph, budget: Budget, rows: Floats, table: Floats) -> Iterator[Region]:
    """The regions in which a table that is not private breaks its (ε, δ)."""
    free = np.isnan(rows[:, 0])
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    numbers = _numbers(graph, owner, free)
    broken = broken_entries(graph, budget, table)
    ends = np.concatenate([owner[broken], graph.indices[broken]])
    chosen = numbers[ends[free[ends]]]
    for number in np.unique(chosen if len(chosen) else numbers[free]).tolist():
        yield _region(graph, budget, owner, rows, table, numbers == number)


def _numbers(graph: DatasetGraph, owner: Positions, free: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For every free vertex the number of its region, −1 for fixed ones."""
    inner = free[owner] & free[graph.indices]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner[inner], minlength=len(graph)))])
    return np.where(free, breadth_first.component_labels(indptr, graph.indices[inner]), -1)


def _region(
    graph: DatasetGraph, budget: Budget, owner: Positions, rows: Floats, table: Floats, inside: NDArray[np.bool_]
) -> Region:
    entries = np.flatnonzero(inside[owner] | inside[graph.indices])
    positions = np.union1d(np.flatnonzero(inside), owner[entries]).astype(np.int64)
    place = np.full(len(graph), -1, np.int32)
    place[positions] = np.arange(len(positions))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(place[owner[entries]], minlength=len(positions)))])
    coloring = graph.coloring
    part = DatasetGraph.trusted(
        indptr.astype(np.int64),
        place[graph.indices[entries]],
        Coloring(coloring.codes[positions], coloring.palette, coloring.outputs),
    )
    privacy: PrivacyLike = budget.pairs[0] if budget.layout == UNIFORM else _along(budget, entries)
    return Region(part, privacy, rows[positions], table[positions], positions)


def _along(budget: Budget, entries: Positions) -> EdgePrivacy:
    epsilons, deltas = budget.logarithms()
    return EdgePrivacy(epsilons[entries], deltas[entries])
