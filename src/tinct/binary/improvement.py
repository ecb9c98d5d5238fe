"""improve: a better mechanism from one that somebody already runs, for free."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinct.binary.extension import extend_rows, require_two_colors
from tinct.errors import NotPrivate
from tinct.graphs import Budget, DatasetGraph, smallest_hitting_set
from tinct.mechanism import Mechanism, require_table
from tinct.verification import verify


def improve(graph: DatasetGraph, privacy: Any, mechanism: Any) -> Mechanism:
    """A private mechanism at least as truthful at every vertex as the private one given (docs/theory.md §3).

    The values on a smallest boundary-hitting set are kept and extended optimally.

    >>> from tinct import Privacy, baselines, graphs
    >>> graph, privacy = graphs.line(3, 3), Privacy("ln 2")
    >>> improve(graph, privacy, baselines.randomized_response(graph, privacy)).truth().round(3)
    array([0.917, 0.833, 0.667, 0.667, 0.833, 0.917])
    """
    require_two_colors(graph)
    table = mechanism.table_on(graph) if isinstance(mechanism, Mechanism) else require_table(graph, mechanism)
    verdict = verify(table, graph, privacy)
    if not verdict.private:
        raise NotPrivate(f"the mechanism to improve is not private: {verdict.witness}", verdict.witness)
    if len(graph.outputs) < 2:
        return Mechanism(graph, np.ones((len(graph), 1)), privacy)
    kept = np.sort(np.array([graph.position(vertex) for vertex in smallest_hitting_set(graph)], np.int32))
    return extend_rows(graph, privacy, Budget(graph, privacy), kept, table[kept])
