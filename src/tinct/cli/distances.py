"""What ``tinct design`` reports: how truthful mechanisms are at each distance from the boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinct.mechanism import Mechanism


class Lines:
    """One line for each colour and distance: how many datasets, and how truthful each mechanism is there.

    Kept as arrays: a long line has as many distances as datasets, of which a table shows a few.
    """

    def __init__(self, mechanism: Mechanism, others: dict[str, Mechanism]) -> None:
        self.graph = graph = mechanism.graph
        distance, codes = graph.boundary_distance(), graph.coloring.codes
        order = np.lexsort((distance, codes))
        changes = (np.diff(codes[order].astype(np.int64)) != 0) | (np.diff(distance[order]) != 0)
        starts = np.flatnonzero(np.r_[True, changes])
        first = order[starts]
        truth, error = mechanism.truth()[order], mechanism.error()[order]
        self.codes, self.distance = codes[first], distance[first]
        self.datasets = np.diff(np.r_[starts, len(order)])
        self.truth = np.minimum.reduceat(truth, starts), np.maximum.reduceat(truth, starts)
        self.error = np.minimum.reduceat(error, starts), np.maximum.reduceat(error, starts)
        self.mean_error = np.add.reduceat(error, starts) / self.datasets
        self.baseline_errors = {name: other.error()[first] for name, other in others.items()}

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self.line, range(len(self)))

    def line(self, at: int) -> dict[str, Any]:
        """One of them in plain values."""
        return {
            "color": self.graph.outputs[int(self.codes[at])],
            "distance": int(self.distance[at]),
            "datasets": int(self.datasets[at]),
            "truth": [float(end[at]) for end in self.truth],
            "error": [float(end[at]) for end in self.error],
            "mean_error": float(self.mean_error[at]),
            "baseline_errors": {name: float(errors[at]) for name, errors in self.baseline_errors.items()},
        }

    def shown(self, rows: int) -> Iterator[dict[str, Any] | None]:
        """For each colour the first lines and the last, with None for those left out between them."""
        for code in range(len(self.graph.outputs)):
            mine = np.flatnonzero(self.codes == code).tolist()
            yield from map(self.line, mine[: rows - 1])
            if len(mine) > rows:
                yield None
            yield from map(self.line, mine[rows - 1 :][-1:])
