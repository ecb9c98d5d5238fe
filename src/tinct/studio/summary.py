"""Mechanisms in numbers: one line for each colour and distance, with what others would do beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import baselines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.mechanism import Mechanism
    from tinct.privacy import Privacy


@dataclass(frozen=True)
class Line:
    """The datasets of one colour at one distance from their boundary; −1 stands for no boundary at all."""

    color: Any
    distance: int
    datasets: int
    least_truth: float
    most_truth: float
    worst_error: float
    row: tuple[float, ...]  # the mean distribution
    others: dict[str, float]  # errors of the baselines


def lines(mechanism: Mechanism, others: dict[str, Mechanism]) -> list[Line]:
    """The mechanism by colour and distance."""
    graph = mechanism.graph
    truth, error = mechanism.truth(), mechanism.error()
    wrong = {name: other.error() for name, other in others.items()}
    return [
        Line(
            graph.coloring.palette[code],
            distance,
            len(group),
            float(truth[group].min()),
            float(truth[group].max()),
            float(error[group].max()),
            tuple(mechanism.table[group].mean(axis=0).tolist()),
            {name: float(errors[group].max()) for name, errors in wrong.items()},
        )
        for code, distance, group in _groups(graph)
    ]


def compared(graph: DatasetGraph, privacy: Privacy | None) -> dict[str, Mechanism]:
    """What people would run instead on a yes/no question; nothing where that does not apply."""
    if privacy is None or graph.coloring.has_orders or len(graph.outputs) != 2:
        return {}
    if (graph.boundary_distance() < 0).any():
        return {}
    return {name: build(graph, privacy) for name, build in baselines.ALL.items()}


def _groups(graph: DatasetGraph) -> list[tuple[int, int, NDArray[Any]]]:
    distance, codes = graph.boundary_distance().astype(np.int64), graph.coloring.codes.astype(np.int64)
    order = np.lexsort((distance, codes))
    changes = np.flatnonzero(np.diff(codes[order]) | np.diff(distance[order])) + 1
    return [(int(codes[group[0]]), int(distance[group[0]]), group) for group in np.split(order, changes)]
