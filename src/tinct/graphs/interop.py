"""Graphs from and to NetworkX and SciPy. NetworkX is never imported unless its graphs are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.graphs.dataset import DatasetGraph


def read_networkx(graph: Any, color: str | Callable[[Any], Any]) -> tuple[list[tuple[Any, Any]], Any]:
    """Edges and colours of a NetworkX graph."""
    if not (hasattr(graph, "nodes") and hasattr(graph, "edges") and hasattr(graph, "is_directed")):
        raise ParameterError(f"expected a NetworkX graph, got {type(graph).__name__}")
    if graph.is_directed():
        raise ParameterError("neighbours are mutual: give an undirected NetworkX graph (graph.to_undirected())")
    edges = [(u, v) for u, v in graph.edges()]
    if callable(color):
        return edges, color
    return edges, {node: data[color] for node, data in graph.nodes(data=True) if color in data}


def write_networkx(graph: DatasetGraph, color: str) -> Any:
    """A NetworkX graph with the colour as a node attribute."""
    try:
        import networkx as nx
    except ImportError:
        raise ParameterError("NetworkX is not installed: pip install 'tinct[networkx]'") from None
    result = nx.Graph()
    result.add_nodes_from((vertex, {color: value}) for vertex, value in graph.colors.items())
    result.add_edges_from(graph.edges)
    return result


def read_scipy(matrix: Any) -> tuple[Any, Any]:
    """The row offsets and columns of a sparse matrix, without stored zeros."""
    if not hasattr(matrix, "tocsr"):
        raise ParameterError(f"expected a SciPy sparse matrix, got {type(matrix).__name__}")
    rows = matrix.tocsr().copy()
    if rows.shape[0] != rows.shape[1]:
        raise ParameterError(f"an adjacency matrix must be square, got {rows.shape[0]} × {rows.shape[1]}")
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows.indptr, rows.indices


def write_scipy(graph: DatasetGraph) -> Any:
    """The adjacency matrix as a SciPy sparse array of ones."""
    from scipy.sparse import csr_array

    ones = np.ones(len(graph.indices), np.int8)
    return csr_array((ones, graph.indices, graph.indptr), shape=(len(graph), len(graph)))
