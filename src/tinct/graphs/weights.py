"""Numbers along the vertices: how much each dataset counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs.dataset import DatasetGraph


def vertex_weights(graph: DatasetGraph, given: Any, name: str) -> NDArray[np.float64]:
    """Weights along the vertices, from an array or from ``{vertex: weight}``, where what is left out is 0.

    >>> from tinct import graphs
    >>> vertex_weights(graphs.line(1, 2), {3: 5}, "weights")
    array([0., 0., 5.])
    """
    of_some = isinstance(given, Mapping)
    at = [graph.position(vertex) for vertex in given] if of_some else range(len(graph))
    try:
        weights = np.asarray(list(given.values()) if of_some else given, np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.empty(0)
    if weights.shape != (len(at),) or not ((weights >= 0) & np.isfinite(weights)).all():
        raise ParameterError(f"{name} must be finite numbers of at least 0, one for each vertex, got {given!r:.80}")
    if not of_some:
        return weights
    values = np.zeros(len(graph))
    values[at] = weights
    return values
