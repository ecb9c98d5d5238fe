"""Which graph a page works on: a family with its numbers, or a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dash import dcc, html, no_update

from tinct.errors import ParameterError
from tinct.studio import parts
from tinct.studio.families import FILE, built, checked_numbers, family_of, python_of

if TYPE_CHECKING:
    from tinct.graphs import GraphFile
    from tinct.studio.families import Family, GraphFiles


@dataclass(frozen=True)
class GraphChoice:
    """A family with its numbers, or an uploaded file."""

    family: str
    numbers: tuple[int, ...] = ()
    upload: str | None = None
    name: str = ""

    @classmethod
    def from_json(cls, kind: str, given: Any) -> GraphChoice:
        """The choice a page sends, looked at."""
        family, upload, name = given["family"], given["upload"], given["name"]
        if not all(isinstance(text, str) and len(text) < 200 for text in (family, name, upload or "")):
            raise ParameterError("the page's settings are not whole: load it again")
        if family == FILE:
            return cls(FILE, (), upload, name)
        return cls(family, checked_numbers(family_of(kind, family), list(given["numbers"])), None, "")

    def read(self, kind: str, files: GraphFiles) -> GraphFile:
        """The graph, and the privacy that a file states."""
        from tinct.graphs import GraphFile

        if self.family != FILE:
            return GraphFile(built(kind, self.family, self.numbers))
        if self.upload is None:
            raise ParameterError("choose a file with a graph: .json, .csv, .tsv or .graphml")
        return files.read(self.upload)

    def shape(self, kind: str) -> str:
        """How its vertices are placed."""
        return "springs" if self.family == FILE else family_of(kind, self.family).shape

    def python(self, kind: str, files: GraphFiles) -> str:
        """The line that makes the graph."""
        if self.family != FILE:
            return f"graph = {python_of(family_of(kind, self.family), self.numbers)}"
        if self.upload is not None and files.is_mechanism(self.upload):
            return f"graph = tinct.Mechanism.from_json({self.name!r}).graph"
        return f"graph = graphs.read({self.name!r}).graph"


def started(kind: str, family: str) -> GraphChoice:
    """A family with the numbers it starts with."""
    return GraphChoice(family, tuple(number.start for number in family_of(kind, family).numbers))


def graph_control(page: str, families: dict[str, Family], choice: GraphChoice, hint: str) -> Any:
    """The controls to choose a graph; their ids begin with the page's name."""
    options = [{"value": name, "label": family.label} for name, family in families.items()]
    return parts.control(
        "Datasets",
        hint,
        dcc.Dropdown(
            id=f"{page}-family",
            options=[*options, {"value": FILE, "label": "Your own file"}],
            value=choice.family,
            clearable=False,
            searchable=False,
        ),
        html.P(id=f"{page}-family-hint", className="hint"),
        html.Div([_number_box(page, at, choice) for at in range(2)], className="numbers"),
        parts.upload(f"{page}-graph-upload", "Drop a graph here, or choose one"),
    )


def _number_box(page: str, at: int, choice: GraphChoice) -> Any:
    value = choice.numbers[at] if at < len(choice.numbers) else None
    return html.Div(
        [
            html.Label(id=f"{page}-number-label-{at}", htmlFor=f"{page}-number-{at}"),
            parts.number_field(f"{page}-number-{at}", value, step=1, min=1),
        ],
        id=f"{page}-number-box-{at}",
    )


def shown_choice(kind: str, choice: GraphChoice) -> dict[str, Any]:
    """What the controls show for a choice."""
    family = None if choice.family == FILE else family_of(kind, choice.family)
    result: dict[str, Any] = {
        "family": choice.family,
        "family-hint": f"Your file: {choice.name}" if family is None else family.hint,
    }
    for at in range(2):
        number = family.numbers[at] if family is not None and at < len(family.numbers) else None
        result[f"number-{at}"] = no_update if number is None else choice.numbers[at]  # hidden: it may keep what it says
        result[f"number-label-{at}"] = "" if number is None else number.label
        result[f"number-box-{at}"] = parts.shown_if(number is not None)
    return result
