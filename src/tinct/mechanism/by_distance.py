"""How often a mechanism is right and wrong at each distance from the boundary: one table for all who show it.

"Wrong" without another word is the worst of the datasets in a line, because that is the promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from tinct.mechanism.table import Mechanism

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DistanceLine:
    """The datasets of one colour or order at one distance from their boundary; −1 stands for no boundary at all."""

    color: Any
    distance: int
    datasets: int
    truth: tuple[float, float]  # the least and the most
    error: tuple[float, float]
    mean_error: float
    row: tuple[float, ...]  # the mean distribution over the answers
    others: dict[str, float]  # how often each of the others is wrong

    @property
    def wrong(self) -> float:
        """How often the answer is wrong, in the worst of the datasets."""
        return self.error[1]


class ByDistance:
    """One line for each colour and distance: how many datasets, and how often each mechanism is wrong there.

    Kept as arrays: a long line has as many distances as datasets, of which a table shows a few. ``others`` are
    mechanisms on the same graph to stand beside this one.

    >>> from tinct import Privacy, balanced, graphs
    >>> table = ByDistance(balanced(graphs.line(2, 1), Privacy("ln 2")))
    >>> [(line.color, line.distance, round(line.wrong, 3)) for line in table]
    [('blue', 0, 0.333), ('blue', 1, 0.167), ('red', 0, 0.333)]
    """

    def __init__(self, mechanism: Mechanism, others: Mapping[str, Mechanism] | None = None) -> None:
        self.mechanism = mechanism
        graph = mechanism.graph
        distance, codes = graph.boundary_distance(), graph.coloring.codes
        self._order = order = np.lexsort((distance, codes))
        changes = (np.diff(codes[order].astype(np.int64)) != 0) | (np.diff(distance[order]) != 0)
        self._ends = np.r_[0, np.flatnonzero(changes) + 1, len(order)]
        starts = self._ends[:-1]
        self.codes, self.distance = codes[order[starts]], distance[order[starts]]
        self.datasets = np.diff(self._ends)
        self.truth = self._range(mechanism.truth())
        error = mechanism.error()
        self.error = self._range(error)
        self.mean_error = np.add.reduceat(error[order], starts) / self.datasets
        self.others = {name: self._range(other.error()) for name, other in (others or {}).items()}

    def _range(self, values: Floats) -> tuple[Floats, Floats]:
        ordered, starts = values[self._order], self._ends[:-1]
        return np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[DistanceLine]:
        return map(self.line, range(len(self)))

    def line(self, at: int) -> DistanceLine:
        """One line in plain values."""
        mine = self._order[self._ends[at] : self._ends[at + 1]]
        return DistanceLine(
            self.mechanism.graph.coloring.palette[int(self.codes[at])],
            int(self.distance[at]),
            int(self.datasets[at]),
            (float(self.truth[0][at]), float(self.truth[1][at])),
            (float(self.error[0][at]), float(self.error[1][at])),
            float(self.mean_error[at]),
            tuple(self.mechanism.table[mine].mean(axis=0).tolist()),
            {name: float(worst[at]) for name, (_, worst) in self.others.items()},
        )

    def shown(self, rows: int) -> Iterator[DistanceLine | None]:
        """For each colour the first lines and the last, with None for those left out between them."""
        for code in np.unique(self.codes):
            mine = np.flatnonzero(self.codes == code).tolist()
            yield from map(self.line, mine[: rows - 1])
            if len(mine) > rows:
                yield None
            yield from map(self.line, mine[rows - 1 :][-1:])
