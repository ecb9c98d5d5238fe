"""Mechanisms in numbers: one line for each colour and distance, with what others would do beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import baselines

if TYPE_CHECKING:
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
    distance, codes = graph.boundary_distance().astype(np.int64), graph.coloring.codes.astype(np.int64)
    order = np.lexsort((distance, codes))
    starts = np.concatenate([[0], np.flatnonzero(np.diff(codes[order]) | np.diff(distance[order])) + 1])
    sizes = np.diff(np.append(starts, len(order)))
    truth = mechanism.truth()[order]
    rows = np.add.reduceat(mechanism.table[order], starts, axis=0) / sizes[:, None]
    wrong = {name: np.maximum.reduceat(other.error()[order], starts).tolist() for name, other in others.items()}
    columns = zip(
        codes[order][starts].tolist(),
        distance[order][starts].tolist(),
        sizes.tolist(),
        np.minimum.reduceat(truth, starts).tolist(),
        np.maximum.reduceat(truth, starts).tolist(),
        np.maximum.reduceat(mechanism.error()[order], starts).tolist(),
        map(tuple, rows.tolist()),
        strict=True,
    )
    palette = graph.coloring.palette
    return [
        Line(palette[code], steps, size, least, most, worst, row, {name: errors[at] for name, errors in wrong.items()})
        for at, (code, steps, size, least, most, worst, row) in enumerate(columns)
    ]


def compared(graph: DatasetGraph, privacy: Privacy | None) -> dict[str, Mechanism]:
    """What people would run instead on a yes/no question; nothing where that does not apply."""
    if privacy is None or graph.coloring.has_orders or len(graph.outputs) != 2:
        return {}
    if (graph.boundary_distance() < 0).any():
        return {}
    return {name: build(graph, privacy) for name, build in baselines.ALL.items()}
