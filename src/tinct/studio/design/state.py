"""What the Design page is set to, as plain data that travels between the page and the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tinct.errors import ParameterError
from tinct.studio.families import FAMILIES, FILE, checked_numbers, family_of
from tinct.studio.sources import GraphChoice

MODES = ("balanced", "fixed", "frontier")
CLICKS = ("show", "color", "fix")
_MOST = 100_000


@dataclass(frozen=True)
class DesignState:
    """The settings of the Design page; vertices and edges are named by their numbers.

    Attributes:
        family: The name of a family, or ``"file"``.
        numbers: The numbers of the family.
        upload: The digest of the uploaded graph, if the family is ``"file"``.
        name: What the uploaded file is called.
        file_budgets: Whether every edge has the budget that the file states.
        epsilon: ε for all edges, as it was written.
        delta: δ for all edges, as it was written.
        mode: One of ``MODES``.
        click: What a click on a vertex does, one of ``CLICKS``.
        fixed: The probability of the first answer at each fixed vertex.
        colors: The vertices that were given another colour, with its number in the palette.
        budgets: The edges that were given an ε of their own.
        first: The truth on the first answer's boundary, on the frontier; None for the balanced point.
        vertex: The vertex that is looked at.
        edge: The edge that is looked at.
    """

    family: str = "majority"
    numbers: tuple[int, ...] = (21,)
    upload: str | None = None
    name: str = ""
    file_budgets: bool = False
    epsilon: str = "1"
    delta: str = "0"
    mode: str = "balanced"
    click: str = "show"
    fixed: dict[int, float] = field(default_factory=dict)
    colors: dict[int, int] = field(default_factory=dict)
    budgets: dict[int, str] = field(default_factory=dict)
    first: float | None = None
    vertex: int | None = None
    edge: int | None = None

    @property
    def graph(self) -> GraphChoice:
        """Which graph was chosen."""
        return GraphChoice(self.family, self.numbers, self.upload, self.name)

    def to_json(self) -> dict[str, Any]:
        """The settings as the page keeps them."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: Any) -> DesignState:
        """The settings a page sends, each looked at: a page may have been tampered with."""
        if given is None:
            return cls()
        names = set(cls.__dataclass_fields__)
        if not isinstance(given, Mapping) or set(given) != names:
            raise ParameterError("the page's settings are not whole: load it again")
        family = given["family"]
        numbers: tuple[int, ...] = ()
        if family != FILE:
            numbers = checked_numbers(family_of("design", text(family)), list(given["numbers"]))
        return cls(
            family=text(family),
            numbers=numbers,
            upload=None if given["upload"] is None else text(given["upload"]),
            name=text(given["name"]),
            file_budgets=given["file_budgets"] is True,
            epsilon=text(given["epsilon"]),
            delta=text(given["delta"]),
            mode=one_of(given["mode"], MODES),
            click=one_of(given["click"], CLICKS),
            fixed={position(at): share(value) for at, value in mapping(given["fixed"])},
            colors={position(at): position(value) for at, value in mapping(given["colors"])},
            budgets={position(at): text(value) for at, value in mapping(given["budgets"])},
            first=None if given["first"] is None else share(given["first"]),
            vertex=None if given["vertex"] is None else position(given["vertex"]),
            edge=None if given["edge"] is None else position(given["edge"]),
        )


def start_of(family: str) -> tuple[int, ...]:
    """The numbers a family starts with."""
    return tuple(number.start for number in FAMILIES[family].numbers)


def text(value: Any) -> str:
    """A short text."""
    if not isinstance(value, str) or len(value) > 1000:
        raise ParameterError("a setting must be a short text")
    return value


def one_of(value: Any, choices: tuple[str, ...]) -> str:
    """One of several words."""
    if value not in choices:
        raise ParameterError(f"a setting must be one of {', '.join(choices)}, got {value!r:.40}")
    return str(value)


def mapping(value: Any) -> list[tuple[Any, Any]]:
    """The items of a mapping of reasonable size."""
    if not isinstance(value, Mapping) or len(value) > _MOST:
        raise ParameterError("a setting must be a mapping")
    return list(value.items())


def position(value: Any) -> int:
    """A number of a vertex, an edge or a colour; keys of JSON objects are text."""
    whole = (
        int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10 else value
    )
    if isinstance(whole, bool) or not isinstance(whole, int) or not 0 <= whole < 10**9:
        raise ParameterError(f"a vertex or edge must be named by its number, got {value!r:.40}")
    return whole


def share(value: Any) -> float:
    """A number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ParameterError(f"a probability must be a number in [0, 1], got {value!r:.40}")
    return float(value)
