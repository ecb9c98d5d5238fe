"""Graphs as Parquet: a folder with ``vertices`` (vertex, color) and ``edges`` (source, target[, epsilon[, delta]])."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph
from tinct.privacy import Privacy
from tinct.spark import publishing
from tinct.spark.graph_frames import require_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EDGES = ("source", "target", "epsilon", "delta")


def read_graph_frames(session: Any, path: str) -> tuple[Any, Any]:
    """The vertices and edges of a graph that was written as Parquet."""
    vertices = publishing.read(session, posixpath.join(path, "vertices"))
    edges = publishing.read(session, posixpath.join(path, "edges"))
    require_columns(vertices, f"{path}: vertices", ("vertex", "color"))
    require_columns(edges, f"{path}: edges", ("source", "target"))
    return vertices.select("vertex", "color"), edges.select(*(name for name in _EDGES if name in edges.columns))


def write_graph_frames(vertices: Any, edges: Any, path: str) -> None:
    """Write the frames of a graph as Parquet under a folder that exists and holds no graph yet.

    If one of them cannot be stored, neither is published.
    """
    require_columns(vertices, "vertices", ("vertex", "color"))
    require_columns(edges, "edges", ("source", "target"))
    publishing.publish_together({posixpath.join(path, "edges"): edges, posixpath.join(path, "vertices"): vertices})


def to_frames(session: Any, graph: DatasetGraph, privacy: Any = None) -> tuple[Any, Any]:
    """The frames of a graph in memory, with budgets along the edges if ``privacy`` is not one for all.

    Vertices must be text or whole numbers of 64 bits; colors become text.
    """
    import pyarrow as pa

    column = _names(graph)
    if graph.coloring.has_orders:
        raise ParameterError("orders of preference cannot be written as Parquet: Spark extends two colors")
    palette = [str(output) for output in graph.outputs]
    if len(set(palette)) < len(palette):
        raise ParameterError("two colors have the same text: they would become one")
    colors = [palette[code] for code in graph.coloring.codes.tolist()]
    ends = {end: column.take(pa.array(graph.ends[:, at])) for at, end in enumerate(("source", "target"))}
    if privacy is not None and not isinstance(privacy, Privacy):
        ends |= {name: pa.array(values) for name, values in zip(_EDGES[2:], _along_edges(graph, privacy), strict=True)}
    vertices = session.createDataFrame(pa.table({"vertex": column, "color": colors}))
    return vertices, session.createDataFrame(pa.table(ends))


def _names(graph: DatasetGraph) -> Any:
    """The vertices as an Arrow column."""
    import pyarrow as pa

    names = list(graph.vertices)
    if all(type(name) is str for name in names):
        return pa.array(names, pa.string())
    whole = all(isinstance(name, int | np.integer) and -(2**63) <= name < 2**63 for name in names)
    if not whole:
        raise ParameterError("vertices must be all text or all whole numbers of 64 bits to be written as Parquet")
    return pa.array([int(name) for name in names], pa.int64())


def _along_edges(graph: DatasetGraph, privacy: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """ε and δ in the order of ``graph.ends``."""
    budget = Budget(graph, privacy)
    if budget.coordinate != "odds":
        raise ParameterError("only (ε, δ) budgets can be written along edges")
    found = []
    for values in budget.logarithms():
        along = np.empty(len(graph.ends), np.float64)
        along[graph.edge_ids] = values
        found.append(along)
    return found[0], found[1]
