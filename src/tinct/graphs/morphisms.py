"""Maps between dataset graphs that carry private mechanisms back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs.builders import line
from tinct.graphs.dataset import require_built

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.graphs.dataset import DatasetGraph
    from tinct.graphs.labels import Vertex


class Morphism:
    """A map g from one graph to another under which neighbours stay neighbours or become equal.

    A private mechanism on the target is private on the source when run as M(g(v)) (docs/theory.md §3).

    Args:
        source: The graph the map starts from.
        target: The graph it goes to.
        mapping: ``{vertex: vertex}``, a function of the vertex, or an integer array of target positions.

    >>> from tinct import graphs
    >>> cube = graphs.hypercube(2, lambda bits: sum(bits) > 1)
    >>> count = Morphism(cube, graphs.line(2, 1), lambda bits: sum(bits) + 1)
    >>> count((1, 0))
    2
    """

    def __init__(
        self,
        source: DatasetGraph,
        target: DatasetGraph,
        mapping: Mapping[Any, Any] | Callable[[Any], Any] | NDArray[Any],
    ) -> None:
        self.source, self.target = source, target
        self.image = _positions(source, target, mapping)
        broken = self._broken_edge()
        if broken is not None:
            u, v = broken
            raise ParameterError(
                f"not a morphism: {u!r} and {v!r} are neighbours, but their images {self(u)!r} and {self(v)!r} are not"
            )

    def __call__(self, vertex: Vertex) -> Any:
        """The image of a vertex."""
        return self.target.vertices[int(self.image[self.source.position(vertex)])]

    def compose(self, first: Morphism) -> Morphism:
        """The map that applies ``first`` and then this one."""
        if first.target is not self.source:
            raise ParameterError("morphisms compose only if the first ends in the graph where the second starts")
        return Morphism(first.source, self.target, self.image[first.image])

    @property
    def preserves_colors(self) -> bool:
        """Whether every vertex has the colour of its image, so that truth is carried back as truth."""
        there = [self.target.coloring.palette[code] for code in self.target.coloring.codes[self.image]]
        return there == [self.source.coloring.palette[code] for code in self.source.coloring.codes]

    def _broken_edge(self) -> tuple[Any, Any] | None:
        mapped = self.image[self.source.ends].astype(np.int64)
        n = len(self.target)
        known = self.target.ends.astype(np.int64)
        keys = np.sort(known.min(axis=1, initial=n) * n + known.max(axis=1, initial=-1))
        wanted = mapped.min(axis=1, initial=n) * n + mapped.max(axis=1, initial=-1)
        bad = (mapped[:, 0] != mapped[:, 1]) & ~np.isin(wanted, keys)
        if not bad.any():
            return None
        u, v = self.source.ends[np.argmax(bad)].tolist()
        return self.source.vertices[u], self.source.vertices[v]


def boundary_morphism(graph: DatasetGraph) -> Morphism:
    """The map from a two-coloured graph to its boundary graph, a line: (colour, distance to the boundary).

    Mechanisms that treat all boundary vertices of a colour alike live on that line (binary-colorings, Def. 7, Thm 3).

    >>> from tinct import graphs
    >>> graphs.boundary_morphism(graphs.hypercube(3, lambda bits: sum(bits) > 1)).target
    <DatasetGraph: 4 vertices, 3 edges, outputs (False, True)>
    """
    require_built(graph)
    if len(graph.coloring.palette) != 2 or graph.coloring.has_orders:
        raise ParameterError(f"a boundary line needs two colors, this graph has {len(graph.coloring.palette)}")
    distance, codes = graph.boundary_distance(), graph.coloring.codes
    if (distance < 0).any():
        lonely = graph.vertices[int(np.argmax(distance < 0))]
        raise ParameterError(f"vertex {lonely!r} has no boundary to be measured from: its piece has one color")
    depth = [int(distance[codes == code].max()) + 1 for code in (0, 1)]
    target = line(depth[0], depth[1], graph.outputs)
    image = np.where(codes == 0, depth[0] - 1 - distance, depth[0] + distance)
    return Morphism(graph, target, image)


def _positions(
    source: DatasetGraph, target: DatasetGraph, mapping: Mapping[Any, Any] | Callable[[Any], Any] | NDArray[Any]
) -> NDArray[np.int64]:
    if isinstance(mapping, np.ndarray):
        good = mapping.dtype.kind in "iu" and mapping.shape == (len(source),)
        if not good or not ((mapping >= 0) & (mapping < len(target))).all():
            raise ParameterError("an array mapping needs one target position per source vertex")
        return mapping.astype(np.int64)
    if not (isinstance(mapping, Mapping) or callable(mapping)):
        raise ParameterError(f"a mapping must be {{vertex: vertex}}, a function or an array, got {mapping!r:.80}")
    look_up = mapping if callable(mapping) else mapping.__getitem__
    try:
        return np.array([target.position(look_up(vertex)) for vertex in source.vertices], np.int64)
    except KeyError as error:
        raise ParameterError(f"vertex {error.args[0]!r} has no image: add it to the mapping") from None
