"""A NetworkX graph whose edges carry budgets: the graph, and the privacy along its edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs.dataset import DatasetGraph
from tinct.graphs.formats.graph_parts import BudgetColumn, GraphFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def from_networkx(
    graph: Any,
    color: str | Callable[[Any], Any] = "color",
    *,
    epsilon: str = "epsilon",
    delta: str = "delta",
    outputs: Sequence[Any] | None = None,
    disconnected: bool = False,
) -> GraphFile:
    """A graph from NetworkX and the privacy that its edges state, as ``graphs.read`` returns them.

    Args:
        graph: An undirected NetworkX graph.
        color: The name of a node attribute, or a function of the node.
        epsilon: The edge attribute that holds ε, of all edges or of none; numbers or text such as "ln 2".
        delta: The edge attribute that holds δ, 0 where it is missing.
        outputs: As for ``DatasetGraph``.
        disconnected: As for ``DatasetGraph``.

    >>> import networkx as nx
    >>> given = nx.Graph([(0, 1, {"epsilon": 1}), (1, 2, {"epsilon": "ln 2"})])
    >>> found = from_networkx(given, lambda vertex: vertex > 1)
    >>> found.graph.edges, found.privacy.pairs
    ([(0, 1), (1, 2)], (Privacy(1), Privacy('ln 2')))
    """
    made = DatasetGraph.from_networkx(graph, color, outputs=outputs, disconnected=disconnected)
    stated: dict[frozenset[Any], tuple[Any, Any]] = {}
    for u, v, data in graph.edges(data=True):
        pair = data.get(epsilon), data.get(delta)
        if stated.setdefault(frozenset((u, v)), pair) != pair:
            raise ParameterError(f"edge {(u, v)!r:.80} is given twice with different budgets: give it one")
    if all(pair == (None, None) for pair in stated.values()):
        return GraphFile(made)
    budgets = BudgetColumn()
    for edge in made.edges:
        first, second = stated[frozenset(edge)]
        if first is None:
            raise ParameterError(f"edge {edge!r:.80} has no {epsilon}, but others do: give one to all or to none")
        try:
            budgets.add(first, 0 if second is None else second)
        except (ParameterError, TypeError) as error:
            raise ParameterError(f"edge {edge!r:.80}: {error}") from None
    return GraphFile(made, budgets.along(np.array(budgets.numbers, np.int64)))


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
