"""A NetworkX graph whose edges carry budgets: the graph, and the privacy along its edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs.assembly import GraphFile
from tinct.graphs.dataset import DatasetGraph
from tinct.graphs.written import BudgetColumn

if TYPE_CHECKING:
    from collections.abc import Callable


def from_networkx(
    graph: Any,
    color: str | Callable[[Any], Any] = "color",
    *,
    epsilon: str = "epsilon",
    delta: str = "delta",
    **options: Any,
) -> GraphFile:
    """A graph from NetworkX and the privacy that its edges state, as ``graphs.read`` returns them.

    Args:
        graph: An undirected NetworkX graph.
        color: The name of a node attribute, or a function of the node.
        epsilon: The edge attribute that holds ε, of all edges or of none; numbers or text such as "ln 2".
        delta: The edge attribute that holds δ, 0 where it is missing.
        options: As for ``DatasetGraph``.

    >>> import networkx as nx
    >>> given = nx.Graph([(0, 1, {"epsilon": 1}), (1, 2, {"epsilon": "ln 2"})])
    >>> found = from_networkx(given, lambda vertex: vertex > 1)
    >>> found.graph.edges, found.privacy.pairs
    ([(0, 1), (1, 2)], (Privacy(1), Privacy('ln 2')))
    """
    made = DatasetGraph.from_networkx(graph, color, **options)
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
