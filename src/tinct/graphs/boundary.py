"""Where the answer changes: boundary edges and vertices, and sets of vertices that meet every boundary edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tinct.graphs.dataset import DatasetGraph


@dataclass(frozen=True)
class Boundary:
    """The edges whose ends differ in colour, and the vertices on them."""

    graph: DatasetGraph
    ends: NDArray[np.int32]  # positions, one row per boundary edge
    positions: NDArray[np.int64]  # of the boundary vertices, ascending

    @classmethod
    def of(cls, graph: DatasetGraph) -> Boundary:
        """Find the boundary of a graph."""
        codes = graph.coloring.codes
        rows = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(graph.indptr))
        crossing = (codes[rows] != codes[graph.indices]) & (rows < graph.indices)
        ends = np.column_stack([rows[crossing], graph.indices[crossing]])
        return cls(graph, ends, np.unique(ends).astype(np.int64))

    @property
    def edges(self) -> list[tuple[Any, Any]]:
        """The boundary edges as pairs of vertices."""
        return [(self.graph.vertices[u], self.graph.vertices[v]) for u, v in self.ends.tolist()]

    @property
    def vertices(self) -> list[Any]:
        """The boundary vertices."""
        return [self.graph.vertices[at] for at in self.positions.tolist()]

    def of_color(self, color: object) -> list[Any]:
        """The boundary vertices of one colour."""
        palette = self.graph.coloring.palette
        if color not in palette:
            raise ParameterError(f"{color!r:.80} is not a color of this graph: choose from {palette!r:.80}")
        code = palette.index(color)
        return [self.graph.vertices[at] for at in self.positions[self.graph.coloring.codes[self.positions] == code]]


def missed_edge(graph: DatasetGraph, vertices: Iterable[Any]) -> tuple[Any, Any] | None:
    """A boundary edge that none of these vertices meets, or None: then they are a boundary-hitting set.

    >>> from tinct import graphs
    >>> graphs.missed_edge(graphs.line(2, 2), [1]), graphs.missed_edge(graphs.line(2, 2), [3])
    ((2, 3), None)
    """
    chosen = np.zeros(len(graph), bool)
    chosen[[graph.position(vertex) for vertex in vertices]] = True
    return _missed(graph, chosen)


def require_hitting(graph: DatasetGraph, chosen: NDArray[np.bool_]) -> None:
    """Raise unless the chosen positions meet every boundary edge."""
    missed = _missed(graph, chosen)
    if missed is not None:
        u, v = missed
        raise ParameterError(f"edge ({u!r}, {v!r}) is not covered: fix {u!r} or {v!r} (they have different colors)")


def _missed(graph: DatasetGraph, chosen: NDArray[np.bool_]) -> tuple[Any, Any] | None:
    ends = graph.boundary().ends
    bare = ~(chosen[ends[:, 0]] | chosen[ends[:, 1]])
    if not bare.any():
        return None
    u, v = ends[np.argmax(bare)].tolist()
    return graph.vertices[u], graph.vertices[v]


def smallest_hitting_set(graph: DatasetGraph) -> list[Any]:
    """A boundary-hitting set of few vertices: the fewest possible for two colours, a greedy one for more.

    With two colours the boundary edges form a bipartite graph, where a smallest vertex cover comes from a largest
    matching (Kőnig 1931).

    >>> from tinct import graphs
    >>> graphs.smallest_hitting_set(graphs.line(3, 3))
    [3]
    """
    from tinct.graphs.dataset import require_built

    require_built(graph)
    boundary = graph.boundary()
    if len(boundary.ends) == 0:
        return []
    two_colors = len(np.unique(graph.coloring.codes[boundary.positions])) == 2
    cover = _koenig(graph, boundary) if two_colors else _greedy(boundary)
    return [graph.vertices[at] for at in np.sort(cover).tolist()]


def _koenig(graph: DatasetGraph, boundary: Boundary) -> NDArray[np.int64]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    codes = graph.coloring.codes
    swapped = codes[boundary.ends[:, 0]] != codes[boundary.positions[0]]
    left = np.where(swapped, boundary.ends[:, 1], boundary.ends[:, 0])
    right = np.where(swapped, boundary.ends[:, 0], boundary.ends[:, 1])
    left_ids, row = np.unique(left, return_inverse=True)
    right_ids, column = np.unique(right, return_inverse=True)
    ones = np.ones(len(row), np.int8)
    places = row.astype(np.int32), column.astype(np.int32)  # SciPy 1.11 matches with no other type
    pairs = csr_array((ones, places), shape=(len(left_ids), len(right_ids)))
    partner_of_right = maximum_bipartite_matching(pairs, perm_type="row")
    # vertices reached from unmatched left ones by alternating paths; rows of `pairs` are adjacency lists
    reached_left = np.ones(len(left_ids), bool)
    reached_left[partner_of_right[partner_of_right >= 0]] = False
    reached_right = np.zeros(len(right_ids), bool)
    stack = np.flatnonzero(reached_left).tolist()
    while stack:
        at = stack.pop()
        for other in pairs.indices[pairs.indptr[at] : pairs.indptr[at + 1]].tolist():
            if not reached_right[other]:
                reached_right[other] = True
                back = partner_of_right[other]
                if back >= 0 and not reached_left[back]:
                    reached_left[back] = True
                    stack.append(int(back))
    return np.concatenate([left_ids[~reached_left], right_ids[reached_right]]).astype(np.int64)


def _greedy(boundary: Boundary) -> NDArray[np.int64]:
    ends, chosen = boundary.ends, []
    while len(ends):
        vertex = int(np.bincount(ends.ravel()).argmax())
        chosen.append(vertex)
        ends = ends[(ends != vertex).all(axis=1)]
    return np.array(chosen, np.int64)
