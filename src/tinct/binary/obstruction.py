"""Why fixed values cannot be extended: the two vertices, the path between them, the value and the bound."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.errors import NotExtendable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tinct.graphs import Budget, DatasetGraph

    Floats = NDArray[np.float64]

_ROUNDING = 1e-9  # an edge this close to its bound carried the bound


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
    neighbor = int(graph.indices[entry])
    back = _path_to_source(graph, budget, table, set(chosen.tolist()), neighbor, color)
    names = tuple(graph.vertices[at] for at in [*reversed(back), vertex])
    witness = Obstruction(
        output=graph.outputs[color],
        vertex=names[-1],
        value=float(table[vertex, color]),
        source=names[0],
        source_value=float(table[back[-1], color]),
        path=names,
        bound=float(budget.at_entry(entry).upper(float(table[neighbor, color]))),
    )
    edges = len(names) - 1
    return NotExtendable(
        f"no private extension: vertex {witness.vertex!r} is fixed at {_short(witness.value)} for {witness.output!r}, "
        f"but {witness.source!r} ({_short(witness.source_value)}, {edges} edge{'s' if edges > 1 else ''} away) allows "
        f"at most {_short(witness.bound)}",
        witness,
    )


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
        value = float(table[at, color])
        for entry in range(int(graph.indptr[at]), int(graph.indptr[at + 1])):
            before = int(graph.indices[entry])
            bound = float(budget.at_entry(entry).upper(float(table[before, color])))
            if before not in came_from and bound <= value * (1 + _ROUNDING) + 1e-300:
                came_from[before] = at
                queue.append(before)
    return [start]


def _short(value: float) -> str:
    return f"{value:.6g}"
