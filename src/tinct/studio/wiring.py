"""Connecting a page: one callback for all its controls, one for its files, one in the browser for its charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dash import ClientsideFunction, Input, Output, State, ctx, dcc

from tinct.studio.downloads import or_sentence
from tinct.studio.happenings import Happening, one_event

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Moment:
    """What a page's callback is told: its settings, what happened, and what else the browser knows."""

    state: Any
    event: Happening | None
    values: dict[str, Any]
    also: dict[str, Any]
    theme: Any


@dataclass(frozen=True)
class Wires:
    """The controls of a page by name, what it shows by name, and which of the controls are buttons."""

    page: str
    inputs: Mapping[str, Input]
    outputs: Mapping[str, Output]
    buttons: tuple[str, ...] = ()
    also: Mapping[str, State] | None = None


def connect(app: Any, wires: Wires, react: Callable[[Moment], dict[str, Any]]) -> None:
    """Call ``react`` for whatever happens on a page, and show what it returns."""
    told = {
        "state": State(f"{wires.page}-state", "data"),
        "theme": State("theme", "data"),
        "also": dict(wires.also or {}),
    }

    @app.callback(output=dict(wires.outputs), inputs={"values": dict(wires.inputs)}, state=told)  # type: ignore[untyped-decorator] # Dash's own
    def act(values: dict[str, Any], state: Any, theme: Any, also: dict[str, Any]) -> dict[str, Any]:
        event = one_event(values, wires.inputs, ctx.triggered_prop_ids, wires.buttons)
        return react(Moment(state, event, values, also, theme))


def connect_files(app: Any, page: str, kinds: tuple[str, ...], save: Callable[[str, Any], dict[str, Any]]) -> None:
    """Let the buttons of a page save files; ``save`` makes one from its kind and the page's settings."""

    @app.callback(  # type: ignore[untyped-decorator]
        output=(Output(f"{page}-download", "data"), Output(f"{page}-message", "children", allow_duplicate=True)),
        inputs={"clicks": [Input(f"{page}-save-{kind}", "n_clicks") for kind in kinds]},
        state={"state": State(f"{page}-state", "data")},
        prevent_initial_call=True,
    )
    def act(clicks: list[Any], state: Any) -> Any:
        kind = str(ctx.triggered_id).removeprefix(f"{page}-save-")
        if kind not in kinds or not any(clicks):
            return or_sentence(None)
        return or_sentence(lambda: save(kind, state))


def chart_buttons(page: str, charts: dict[str, str]) -> Any:
    """What the browser needs to know to save charts: for each kind of button the chart's id."""
    wanted = [
        {"button": f"{page}-save-{kind}-{ending}", "chart": chart, "format": ending, "file": chart}
        for kind, chart in charts.items()
        for ending in ("png", "svg")
    ]
    return dcc.Store(id=f"{page}-charts", data=wanted)


def connect_charts(app: Any, page: str, kinds: tuple[str, ...]) -> None:
    """Let the browser save the charts of a page, as PNG and SVG."""
    app.clientside_callback(
        ClientsideFunction("studio", "save"),
        Output(f"{page}-charts", "modified_timestamp"),
        *(Input(f"{page}-save-{kind}-{ending}", "n_clicks") for kind in kinds for ending in ("png", "svg")),
        State(f"{page}-charts", "data"),
        prevent_initial_call=True,
    )


def connect_picture(app: Any, page: str) -> None:
    """Let the browser save the graph of a page as PNG."""
    app.clientside_callback(
        ClientsideFunction("studio", "picture"),
        Output(f"{page}-graph", "generateImage"),
        Input(f"{page}-save-png", "n_clicks"),
        State("theme", "data"),
        prevent_initial_call=True,
    )
