"""DatasetGraph: datasets as vertices, neighbours as edges, the query's answer as colour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import breadth_first
from tinct.errors import Parameter, ParameterError
from tinct.graphs.boundary import Boundary
from tinct.graphs.coloring import Coloring
from tinct.graphs.csr import edges_to_csr, number_edges, read_scipy, require_simple_symmetric, write_scipy
from tinct.graphs.labels import Names, Vertex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Color = Any


class DatasetGraph:
    """A graph of neighbouring datasets, each with the true answer of the query as its colour.

    A graph is undirected, without self-loops, and is never changed after it was built.

    Args:
        edges: Pairs of neighbouring vertices; any hashable may be a vertex. A pair given twice counts once.
        colors: ``{vertex: color}`` or a function of the vertex. A color that is a tuple is an order of
            preference over the answers, best first.
        vertices: All vertices in their order. Left out, it is the order of ``colors`` if that is a mapping, else
            the order in which the edges name them.
        outputs: The answers in their order. Left out, it is the order in which ``vertices`` show them.
        disconnected: Allow a graph in several pieces. In a piece with one color only, answering the truth with
            certainty is private for the neighbours given; that is often not what was meant, so it must be confirmed.

    >>> graph = DatasetGraph([("a", "b"), ("b", "c")], {"a": "no", "b": "no", "c": "yes"})
    >>> graph.outputs, graph.boundary().edges, graph.boundary_distance()
    (('no', 'yes'), [('b', 'c')], array([1, 0, 0], dtype=int32))
    """

    def __init__(
        self,
        edges: Iterable[tuple[Vertex, Vertex]],
        colors: Mapping[Any, Color] | Callable[[Any], Color],
        *,
        vertices: Iterable[Vertex] | None = None,
        outputs: Sequence[Any] | None = None,
        disconnected: bool = False,
    ) -> None:
        if not (isinstance(colors, Mapping) or callable(colors)):
            raise ParameterError(f"colors must be a mapping or a function of the vertex, got {colors!r:.80}")
        pairs = [_pair(edge) for edge in edges]
        if vertices is None:
            vertices = colors if isinstance(colors, Mapping) else (vertex for pair in pairs for vertex in pair)
        try:
            self.vertices: Sequence[Any] = Names(dict.fromkeys(vertices))
        except TypeError:
            raise ParameterError("a vertex must be hashable, such as text, a number or a tuple") from None
        if not len(self.vertices):
            raise ParameterError("the graph is empty: give at least one vertex")
        self.coloring = Coloring.of(_colors_of(self.vertices, colors), outputs)
        ends = np.array([[self._end(vertex, pair) for vertex in pair] for pair in pairs], np.int32).reshape(-1, 2)
        self.indptr, self.indices, self.ends, self.edge_ids = edges_to_csr(ends, self.vertices)
        self._require_connected(disconnected)

    def _end(self, vertex: Vertex, pair: tuple[Vertex, Vertex]) -> int:
        try:
            return self.vertices.index(vertex)
        except ValueError:
            raise ParameterError(f"edge {pair!r} names {vertex!r}, which is not among the vertices") from None

    @classmethod
    def from_csr(
        cls,
        indptr: ArrayLike,
        indices: ArrayLike,
        colors: Sequence[Color] | NDArray[Any] | Mapping[Any, Color] | Callable[[Any], Color],
        *,
        vertices: Sequence[Vertex] | None = None,
        outputs: Sequence[Any] | None = None,
        disconnected: bool = False,
    ) -> DatasetGraph:
        """A graph from compressed sparse rows that list each edge in both directions.

        Vertices are 0, 1, … unless named. ``colors`` lists one for each vertex in their order, or is a mapping or a
        function as for a new graph. Arrays of the right type (int64 and int32) are used without copying.
        """
        indptr, indices = require_simple_symmetric(indptr, indices)
        if vertices is not None:
            vertices = vertices if isinstance(vertices, range) else Names(vertices)
            if len(vertices) != len(indptr) - 1 or len(set(vertices)) != len(vertices):
                raise ParameterError(f"vertices must name each of the {len(indptr) - 1} vertices once")
        if isinstance(colors, Mapping) or callable(colors):
            colors = _colors_of(range(len(indptr) - 1) if vertices is None else vertices, colors)
        graph = cls.trusted(indptr, indices, Coloring.of(colors, outputs), vertices)
        if len(graph.coloring.codes) != len(indptr) - 1:
            raise ParameterError(
                f"colors must have one entry per vertex: {len(indptr) - 1} vertices, {len(colors)} colors"
            )
        graph._require_connected(disconnected)
        return graph

    @classmethod
    def trusted(
        cls,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        coloring: Coloring,
        vertices: Sequence[Vertex] | None = None,
    ) -> DatasetGraph:
        """A graph from arrays that are known to be right: for builders, which make connected graphs."""
        graph = cls.__new__(cls)
        graph.vertices = range(len(indptr) - 1) if vertices is None else vertices
        graph.coloring = coloring
        graph.indptr, graph.indices = indptr, indices
        return graph

    # the edges, numbered

    @cached_property
    def ends(self) -> NDArray[np.int32]:
        """The edges as pairs of positions, one row per edge, in the order that per-edge arrays follow."""
        return number_edges(self.indptr, self.indices)[0]

    @cached_property
    def edge_ids(self) -> NDArray[np.int32]:
        """For every entry of ``indices`` the row of ``ends`` it belongs to."""
        return number_edges(self.indptr, self.indices)[1]

    @property
    def edges(self) -> list[tuple[Any, Any]]:
        """The edges as pairs of vertices."""
        return [(self.vertices[u], self.vertices[v]) for u, v in self.ends.tolist()]

    # the colours

    @property
    def outputs(self) -> tuple[Any, ...]:
        """All possible answers; the first is the one whose probability ``extend`` is given."""
        return self.coloring.outputs

    @property
    def colors(self) -> dict[Any, Color]:
        """The colour of every vertex."""
        palette = self.coloring.palette
        return {vertex: palette[code] for vertex, code in zip(self.vertices, self.coloring.codes.tolist(), strict=True)}

    def recolored(
        self, colors: Mapping[Any, Color] | Callable[[Any], Color], *, outputs: Sequence[Any] | None = None
    ) -> DatasetGraph:
        """The same graph for another query. ``outputs`` may be given as for a new graph."""
        return self._with_coloring(Coloring.of(_colors_of(self.vertices, colors), outputs))

    def with_outputs(self, outputs: Sequence[Any]) -> DatasetGraph:
        """The same graph with the answers in another order."""
        palette = [self.coloring.palette[code] for code in self.coloring.codes.tolist()]
        return self._with_coloring(Coloring.of(palette, outputs))

    def _with_coloring(self, coloring: Coloring) -> DatasetGraph:
        graph = DatasetGraph.trusted(self.indptr, self.indices, coloring, self.vertices)
        # budgets along the edges of one fit the other; a numbering that nobody has asked for yet will come out the same
        numbered = {name: value for name, value in vars(self).items() if name in ("ends", "edge_ids")}
        vars(graph).update(numbered)
        return graph

    # where things are

    def __len__(self) -> int:
        return len(self.vertices)

    def _repr_html_(self) -> str:
        """The page that notebooks show."""
        from tinct import notebook

        return notebook.of_graph(self)

    def __repr__(self) -> str:
        edges, outputs = len(self.indices) // 2, shorten(repr(self.outputs), 120, placeholder=" …")
        return f"<DatasetGraph: {len(self):,} vertices, {edges:,} edges, outputs {outputs}>"

    def position(self, vertex: Vertex) -> int:
        """The row of a vertex."""
        try:
            return self.vertices.index(vertex)
        except (ValueError, TypeError):
            first, last = self.vertices[0], self.vertices[-1]
            raise ParameterError(
                f"{vertex!r:.80} is not a vertex of this graph: the first is {first!r:.60}, the last {last!r:.60}"
            ) from None

    def neighbors(self, vertex: Vertex) -> list[Any]:
        """The neighbours of a vertex."""
        at = self.position(vertex)
        return [self.vertices[w] for w in self.indices[self.indptr[at] : self.indptr[at + 1]].tolist()]

    def components(self) -> NDArray[np.int32]:
        """For every vertex the number of its connected piece, counted from 0."""
        return breadth_first.component_labels(self.indptr, self.indices)

    def boundary(self) -> Boundary:
        """The edges whose ends differ in colour, and the vertices on them."""
        return Boundary.of(self)

    def boundary_distance(self) -> NDArray[np.int32]:
        """For every vertex the distance to the nearest boundary vertex of its own colour; −1 where there is none."""
        return breadth_first.boundary_levels(self.indptr, self.indices, self.coloring.codes)

    def _require_connected(self, disconnected: bool) -> None:
        if disconnected:
            return
        labels = self.components()
        if labels.max() > 0:
            stranger = self.vertices[int(np.argmax(labels > 0))]
            raise ParameterError(
                f"the graph is in {int(labels.max()) + 1} pieces ({stranger!r} cannot be reached from "
                f"{self.vertices[0]!r}); a piece with one color is answered with certainty, so confirm it with ",
                Parameter("disconnected", True),
            )

    # other libraries

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        color: str | Callable[[Any], Color] = "color",
        *,
        outputs: Sequence[Any] | None = None,
        disconnected: bool = False,
    ) -> DatasetGraph:
        """A graph from NetworkX; ``color`` is the name of a node attribute, or a function of the node.

        Attributes of the edges are not read: ``graphs.from_networkx`` returns the budgets they state as well.
        """
        from tinct.graphs.formats.networkx import read_networkx

        edges, colors = read_networkx(graph, color)
        return cls(edges, colors, vertices=list(graph.nodes), outputs=outputs, disconnected=disconnected)

    def to_networkx(self, color: str = "color") -> Any:
        """This graph as a NetworkX graph with the colour as a node attribute."""
        from tinct.graphs.formats.networkx import write_networkx

        return write_networkx(self, color)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        colors: Sequence[Color] | NDArray[Any] | Mapping[Any, Color] | Callable[[Any], Color],
        *,
        vertices: Sequence[Vertex] | None = None,
        outputs: Sequence[Any] | None = None,
        disconnected: bool = False,
    ) -> DatasetGraph:
        """A graph from a symmetric SciPy sparse matrix: non-zero entries are edges, the rest is as for ``from_csr``."""
        indptr, indices = read_scipy(matrix)
        return cls.from_csr(indptr, indices, colors, vertices=vertices, outputs=outputs, disconnected=disconnected)

    def to_scipy(self) -> Any:
        """The adjacency matrix as a SciPy sparse array."""
        return write_scipy(self)


def _pair(edge: Any) -> tuple[Any, Any]:
    try:
        first, second = edge
    except (TypeError, ValueError):
        raise ParameterError(f"an edge must be a pair of vertices, got {edge!r:.80}") from None
    return first, second


def _colors_of(vertices: Sequence[Any], colors: Mapping[Any, Color] | Callable[[Any], Color]) -> list[Color]:
    if callable(colors):
        return [colors(vertex) for vertex in vertices]
    for vertex in vertices:
        if vertex not in colors:
            raise ParameterError(f"vertex {vertex!r} has no color: add it to colors")
    return [colors[vertex] for vertex in vertices]


def require_built(graph: DatasetGraph) -> None:
    """Refuse a graph that is never built, and what is no graph."""
    if not isinstance(graph, DatasetGraph):
        raise ParameterError(f"a DatasetGraph is needed here, got {type(graph).__name__}")


def vertex_weights(graph: DatasetGraph, given: Mapping[Any, float] | ArrayLike, name: str) -> NDArray[np.float64]:
    """Weights along the vertices, from an array or from ``{vertex: weight}``, where what is left out is 0.

    >>> from tinct import graphs
    >>> vertex_weights(graphs.line(1, 2), {3: 5}, "weights")
    array([0., 0., 5.])
    """
    at = [graph.position(vertex) for vertex in given] if isinstance(given, Mapping) else range(len(graph))
    try:
        weights = np.asarray(list(given.values()) if isinstance(given, Mapping) else given, np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.empty(0)
    if weights.shape != (len(at),) or not ((weights >= 0) & np.isfinite(weights)).all():
        raise ParameterError(f"{name} must be finite numbers of at least 0, one for each vertex, got {given!r:.80}")
    if not isinstance(given, Mapping):
        return weights
    values = np.zeros(len(graph))
    values[at] = weights
    return values
