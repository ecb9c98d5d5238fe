"""A graph that is never built: neighbours are a function, so that 2^200 vertices are no obstacle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.graphs.dataset import DatasetGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinct.graphs.labels import Vertex


@dataclass(frozen=True)
class ImplicitGraph:
    """A graph given by a neighbour function, for evaluating a mechanism at single vertices.

    The two colours are ``outputs``; its first is the one whose probability ``extend`` is given. For ``rainbow`` there
    may be more outputs, and the colours are orders of preference, tuples that list all of them.
    """

    function: Callable[[Any], Iterable[Any]]
    color: Callable[[Any], Any]
    outputs: tuple[Any, ...]

    def neighbors(self, vertex: Vertex) -> list[Any]:
        """The neighbours of a vertex."""
        found = list(self.function(vertex))
        if vertex in found:
            raise ParameterError(f"the neighbour function lists {vertex!r:.80} as its own neighbour")
        return found

    def code(self, vertex: Vertex) -> int:
        """0 for the first colour, 1 for the second."""
        color = self.color(vertex)
        if len(self.outputs) > 2 or (isinstance(color, tuple) and color not in self.outputs):
            raise ParameterError(
                f"two colors are needed, this graph has orders of preference over {self.outputs!r:.80}: "
                "use tinct.rainbow"
            )
        if color not in self.outputs:
            raise ParameterError(f"the color of {vertex!r:.80} must be one of {self.outputs!r}, got {color!r}")
        return self.outputs.index(color)


GraphLike = DatasetGraph | ImplicitGraph


def neighbors(
    function: Callable[[Any], Iterable[Any]],
    color: Callable[[Any], Any],
    outputs: Iterable[Any] = (False, True),
) -> ImplicitGraph:
    """A graph given by a neighbour function and a colour function with values in ``outputs``.

    For ``rainbow`` the colour function returns orders of preference, tuples that list all of ``outputs``.

    >>> votes = neighbors(
    ...     lambda v: [v ^ (1 << person) for person in range(200)], lambda v: v.bit_count() > 100
    ... )
    >>> len(votes.neighbors(0))
    200
    """
    answers = tuple(outputs)
    if len(answers) < 2 or len(set(answers)) != len(answers):
        raise ParameterError(f"an implicit graph needs at least two different outputs, got {answers!r}")
    return ImplicitGraph(function, color, answers)
