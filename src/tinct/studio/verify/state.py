"""What the Verify page is set to."""

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

KIND = "design"


@dataclass(frozen=True)
class VerifyState:
    """The table to check, the graph it belongs to, and the budget it is held against.

    Attributes:
        table: The digest of the uploaded mechanism or table; None before there is one.
        name: What that file is called.
        graph: The graph of a table; a mechanism brings its own.
        stated: Whether the table is held against the budget that its own file states.
        epsilon: Otherwise this ε.
        delta: And this δ.
    """

    table: str | None = None
    name: str = ""
    graph: GraphChoice = field(default_factory=lambda: started(KIND, "majority"))
    stated: bool = True
    epsilon: str = "1"
    delta: str = "0"

    def to_json(self) -> dict[str, Any]:
        """The settings as the page keeps them."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: Any) -> VerifyState:
        """The settings a page sends, each looked at."""
        if not isinstance(given, Mapping) or set(given) != set(cls.__dataclass_fields__):
            raise ParameterError("the page's settings are not whole: load it again")
        Privacy(given["epsilon"], given["delta"])
        if not isinstance(given["name"], str) or not isinstance(given["table"], str | None):
            raise ParameterError("the page's settings are not whole: load it again")
        return cls(
            given["table"],
            given["name"],
            GraphChoice.from_json(KIND, given["graph"]),
            given["stated"] is True,
            str(given["epsilon"]),
            str(given["delta"]),
        )


def happened(state: VerifyState, event: str, value: Any, workshop: Workshop) -> VerifyState:
    """The settings after an event; a value that makes no sense is a TinctError."""
    if event == "table":
        upload = workshop.uploads.add(*value)
        return replace(state, table=upload.digest, name=upload.name, stated=True)
    if event == "graph-upload":
        upload = workshop.uploads.add(*value)
        workshop.files.read(upload.digest)
        return replace(state, graph=GraphChoice(FILE, (), upload.digest, upload.name))
    if event == "family":
        if value == FILE:
            raise ParameterError("choose a file with a graph: .json, .csv, .tsv or .graphml")
        return replace(state, graph=started(KIND, value))
    if event == "numbers":
        numbers = checked_numbers(family_of(KIND, state.graph.family), list(value))
        return replace(state, graph=replace(state.graph, numbers=numbers))
    if event == "epsilon":
        Privacy(value, state.delta)
        return replace(state, epsilon=value, stated=False)
    if event == "delta":
        Privacy(state.epsilon, value)
        return replace(state, delta=value, stated=False)
    if event == "stated":
        return replace(state, stated=bool(value))
    raise ParameterError(f"the page knows no event {event!r:.40}")
