"""Why fixed values cannot be extended: the two vertices, the path between them, the value and the bound."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tinct.errors import NotExtendable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tinct.graphs import Budget, DatasetGraph
    from tinct.privacy import SuitablePair

    Floats = NDArray[np.float64]

_ROUNDING = 1e-9  # an edge this close to its bound carried the bound
_NEXT_TO_1 = 1e-4
_LONGEST = 8  # vertices of a path that a message names


@dataclass(frozen=True)
class Obstruction:
    """``vertex`` is fixed at Pr[output] = ``value``, but ``source``, along ``path``, allows at most ``bound``."""

    output: Any
    vertex: Any
    value: float
    source: Any
    source_value: float
    path: tuple[Any, ...]  # from source to vertex
    bound: float


def not_extendable(
    graph: DatasetGraph,
    budget: Budget,
    table: Floats,
    chosen: NDArray[np.int32],
    vertex: int,
    entry: int,
    color: int,
) -> NotExtendable:
    """The error for a fixed vertex whose neighbour along ``entry`` allows less of ``color`` than is fixed."""
    path = [
        *reversed(_path_to_source(graph, budget, table, set(chosen.tolist()), int(graph.indices[entry]), color)),
        vertex,
    ]
    return _refusal(graph, budget, path, color, table[path[0]].tolist(), table[vertex].tolist())


def refusal_along(
    graph: DatasetGraph, budget: Budget, given: Floats, chosen: list[int], path: list[int], color: int
) -> NotExtendable:
    """The error for a path between two given vertices, the first of which allows the last less than it is given."""
    rows = dict(zip(chosen, given.tolist(), strict=True))
    return _refusal(graph, budget, path, color, rows[path[0]], rows[path[-1]])


def _refusal(
    graph: DatasetGraph, budget: Budget, path: list[int], color: int, first: list[float], last: list[float]
) -> NotExtendable:
    if last[color] > 0.5:
        # next to 1 numbers look alike: the same contradiction, told the other way round with the other answer
        path, color, first, last = path[::-1], 1 - color, last, first
    bound, rest = first[color], first[1 - color]
    for here, there in pairwise(path):
        right, wrong = _pair_between(graph, budget, here, there).walk(1, bound, rest)
        bound, rest = float(right), float(wrong)
    names = tuple(graph.vertices[at] for at in path)
    return told(graph.outputs[color], names, last[color], first[color], (bound, rest), last[1 - color])


def told(
    output: Any, path: tuple[Any, ...], value: float, source_value: float, bound: tuple[float, float], rest: float
) -> NotExtendable:
    """The error in words; ``bound`` and ``value`` come with their complements, which have their digits next to 1."""
    edges = len(path) - 1
    along = "" if edges < 2 else f" along {_shown(path)}"
    return NotExtendable(
        f"no private extension: vertex {path[-1]!r:.80} is fixed at {_short(value, rest)} for {output!r:.80}, but "
        f"{path[0]!r:.80} ({source_value:.6g}, {edges} edge{'s' if edges > 1 else ''} away{along}) allows at most "
        f"{_short(*bound)}",
        Obstruction(output, path[-1], value, path[0], source_value, path, bound[0]),
    )


def _pair_between(graph: DatasetGraph, budget: Budget, here: int, there: int) -> SuitablePair:
    entries = range(int(graph.indptr[here]), int(graph.indptr[here + 1]))
    return budget.at_entry(next(entry for entry in entries if graph.indices[entry] == there))


def _path_to_source(
    graph: DatasetGraph, budget: Budget, table: Floats, fixed: set[int], start: int, color: int
) -> list[int]:
    """Back from a vertex to the fixed one that bounds it, along edges that pass their bound on exactly."""
    came_from = {start: start}
    queue = deque([start])
    while queue:
        at = queue.popleft()
        if at in fixed:
            path = [at]
            while path[-1] != start:
                path.append(came_from[path[-1]])
            return path[::-1]
        right, wrong = table[at, color], table[at, 1 - color]
        for entry in range(int(graph.indptr[at]), int(graph.indptr[at + 1])):
            before = int(graph.indices[entry])
            bound, rest = budget.at_entry(entry).walk(1, table[before, color], table[before, 1 - color])
            tight = bound <= right * (1 + _ROUNDING) and rest >= wrong * (1 - _ROUNDING)
            if before not in came_from and tight:
                came_from[before] = at
                queue.append(before)
    return [start]


def _short(value: float, rest: float) -> str:
    """A probability, next to 1 by how much it is less."""
    return f"1 − {rest:.6g}" if rest < _NEXT_TO_1 and value < 1 else f"{value:.6g}"


def _shown(path: tuple[Any, ...]) -> str:
    """The vertices of a path, of a long one the first and the last."""
    names = [f"{vertex!r:.40}" for vertex in path]
    return " – ".join(names if len(names) <= _LONGEST else [*names[: _LONGEST - 2], "…", names[-1]])
