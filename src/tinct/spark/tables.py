"""Graphs as Parquet: a folder with ``vertices`` (vertex, color) and ``edges`` (source, target[, epsilon[, delta]])."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph
from tinct.privacy import Privacy
from tinct.spark import publishing
from tinct.spark.inputs import require_columns

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
    """Write the frames of a graph as Parquet under a folder that exists and holds no graph yet."""
    require_columns(vertices, "vertices", ("vertex", "color"))
    require_columns(edges, "edges", ("source", "target"))
    for name, frame in (("edges", edges), ("vertices", vertices)):
        publishing.publish(frame, posixpath.join(path, name))


def to_frames(session: Any, graph: DatasetGraph, privacy: Any = None) -> tuple[Any, Any]:
    """The frames of a graph in memory, with budgets along the edges if ``privacy`` is not one for all.

    Vertices must be text or whole numbers; colors become text.
    """
    import pyarrow as pa

    names = list(graph.vertices)
    if not (all(type(name) is str for name in names) or all(isinstance(name, int | np.integer) for name in names)):
        raise ParameterError("vertices must be all text or all whole numbers to be written as Parquet")
    colors = [str(graph.outputs[code]) for code in graph.coloring.codes.tolist()]
    column = pa.array(names)
    ends = {end: column.take(pa.array(graph.ends[:, at])) for at, end in enumerate(("source", "target"))}
    if privacy is not None and not isinstance(privacy, Privacy):
        ends |= {name: pa.array(values) for name, values in zip(_EDGES[2:], _along_edges(graph, privacy), strict=True)}
    vertices = session.createDataFrame(pa.table({"vertex": column, "color": colors}))
    return vertices, session.createDataFrame(pa.table(ends))


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
