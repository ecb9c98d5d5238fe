"""What the Rainbow page is set to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.privacy import Privacy
from tinct.studio.families import FILE, checked_numbers, family_of
from tinct.studio.sources import GraphChoice, started

if TYPE_CHECKING:
    from tinct.studio.workshop import Workshop

KIND = "rainbow"
BOUNDARIES = ("balanced", "best", "own")
MOST_RANKS = 5
MOST_STEPS = 60
_START = (60, 25, 15, 8, 4)


@dataclass(frozen=True)
class RainbowState:
    """The graph, its budget, and the rows on the boundaries.

    Attributes:
        graph: A graph whose colours are orders of preference.
        epsilon: ε for all edges.
        delta: δ for all edges.
        boundary: One of ``BOUNDARIES``.
        weights: With boundary rows of one's own: how likely the best answer is, the second best, and so on, in
            proportion.
        order: The number of the order that is looked at.
        steps: How many steps from its boundary are shown.
    """

    graph: GraphChoice = field(default_factory=lambda: started(KIND, "votes"))
    epsilon: str = "0.5"
    delta: str = "0"
    boundary: str = "balanced"
    weights: tuple[int, ...] = _START
    order: int = 0
    steps: int = 12

    def to_json(self) -> dict[str, Any]:
        """The settings as the page keeps them."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: Any) -> RainbowState:
        """The settings a page sends, each looked at."""
        if not isinstance(given, Mapping) or set(given) != set(cls.__dataclass_fields__):
            raise ParameterError("the page's settings are not whole: load it again")
        Privacy(given["epsilon"], given["delta"])
        return cls(
            GraphChoice.from_json(KIND, given["graph"]),
            str(given["epsilon"]),
            str(given["delta"]),
            given["boundary"] if given["boundary"] in BOUNDARIES else "balanced",
            tuple(_whole(weight, "a weight", 0, 100) for weight in given["weights"])[:MOST_RANKS],
            _whole(given["order"], "the order", 0, 10_000),
            _whole(given["steps"], "steps", 1, MOST_STEPS),
        )


def happened(state: RainbowState, event: str, value: Any, workshop: Workshop) -> RainbowState:
    """The settings after an event; a value that makes no sense is a TinctError."""
    if event == "graph-upload":
        upload = workshop.uploads.add(*value)
        _require_orders(workshop.files.read(upload.digest).graph, upload.name)
        return replace(state, graph=GraphChoice(FILE, (), upload.digest, upload.name), order=0)
    if event == "family":
        if value == FILE:
            raise ParameterError("choose a file with a graph: .json, .csv, .tsv or .graphml")
        return replace(state, graph=started(KIND, value), order=0)
    if event == "numbers":
        numbers = checked_numbers(family_of(KIND, state.graph.family), list(value))
        return replace(state, graph=replace(state.graph, numbers=numbers), order=0)
    if event == "epsilon":
        Privacy(value, state.delta)
        return replace(state, epsilon=value)
    if event == "delta":
        Privacy(state.epsilon, value)
        return replace(state, delta=value)
    if event == "boundary":
        if value not in BOUNDARIES:
            raise ParameterError(f"boundary rows must be one of {', '.join(BOUNDARIES)}, got {value!r:.40}")
        return replace(state, boundary=value)
    if event == "weights":
        return replace(state, boundary="own", weights=tuple(_whole(weight, "a weight", 0, 100) for weight in value))
    if event == "order":
        return replace(state, order=_whole(int(value), "the order", 0, 10_000))
    if event == "steps":
        return replace(state, steps=_whole(value, "steps", 1, MOST_STEPS))
    raise ParameterError(f"the page knows no event {event!r:.40}")


def _require_orders(graph: Any, name: str) -> None:
    if not graph.coloring.has_orders:
        raise ParameterError(f"{name}: the colors are single answers, not orders of preference: use the Design page")


def _whole(value: Any, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ParameterError(f"{what} must be a whole number from {least} to {most}, got {value!r:.40}")
    return value
