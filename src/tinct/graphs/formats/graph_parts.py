"""The last step of reading a graph: what a file says, made into a graph and the privacy along its edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import naming
from tinct.errors import FileError
from tinct.graphs.csr import edges_to_csr
from tinct.graphs.dataset import DatasetGraph
from tinct.graphs.labels import Names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tinct._files import FilePath
    from tinct.graphs.budgets import EdgeClasses, EdgePrivacy
    from tinct.privacy import GaussianDP, Privacy


@dataclass(frozen=True)
class GraphFile:
    """A graph from a file, and the privacy along its edges if the file states one."""

    graph: DatasetGraph
    privacy: Privacy | GaussianDP | EdgePrivacy | EdgeClasses | None = None


@dataclass(frozen=True)
class Parts:
    """What a file says about a graph, each piece already checked on its own."""

    path: FilePath
    vertices: Sequence[Any]  # distinct and plain
    colors: list[Any]  # of the vertices, in their order
    ends: list[tuple[int, int]] | list[list[int]]  # positions, one pair per edge, perhaps repeated
    where: Callable[[int], str]  # in the file the n-th edge stands
    outputs: list[Any] | None = None

    def edge(self, number: int) -> tuple[Any, Any]:
        """The n-th edge by the names of its ends."""
        u, v = self.ends[number]
        return self.vertices[u], self.vertices[v]

    def build(self, *, disconnected: bool) -> DatasetGraph:
        """The graph. A ParameterError about it has the path in front."""
        for number, (u, v) in enumerate(self.ends):
            if u == v:
                raise FileError(
                    f"{self.where(number)}: vertex {self.vertices[u]!r:.80} is its own neighbour: remove the self-loop",
                    path=self.path,
                )
        names = self.vertices if isinstance(self.vertices, range) else Names(self.vertices)
        with naming(self.path):
            indptr, indices, ends, ids = edges_to_csr(self._ends, names)
            graph = DatasetGraph.from_csr(
                indptr, indices, self.colors, vertices=names, outputs=self.outputs, disconnected=disconnected
            )
        graph.ends, graph.edge_ids = ends, ids  # in the order of the file, which per-edge budgets follow
        return graph

    def once(self, *columns: NDArray[Any]) -> list[NDArray[Any]]:
        """Columns along the edges of the file, brought to the edges of the graph, where each edge counts once."""
        ends = self._ends.astype(np.int64)
        keys = ends.min(axis=1, initial=len(self.vertices)) * len(self.vertices) + ends.max(axis=1, initial=-1)
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        for values in columns:
            differing = values != values[first][which]
            if differing.any():
                at = int(np.argmax(differing))
                raise FileError(
                    f"{self.where(at)}: edge {self.edge(at)!r:.80} was given another budget at "
                    f"{self.where(int(first[which[at]]))}: give it one",
                    path=self.path,
                )
        return [values[np.sort(first)] for values in columns]

    @property
    def _ends(self) -> NDArray[np.int32]:
        return np.array(self.ends, np.int32).reshape(-1, 2)
