"""Connecting a page: one callback for all its controls, one for its files, one in the browser for its charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from dash import ClientsideFunction, Input, Output, State, ctx, dcc, no_update

from tinct.errors import ParameterError, TinctError
from tinct.studio.downloads import or_sentence
from tinct.studio.happenings import Happening, brief, controls_used, event_of, missed_events

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


KEPT = ("epsilon", "delta", "edge-epsilon", "number-0", "number-1")  # fields whose text stays if it is refused


@dataclass(frozen=True)
class Moment:
    """What a page's callback is told: its settings, what happened, and what else the browser knows.

    ``missed`` are controls that were used while an earlier request was still under way, whose answer the browser has
    thrown away since: what they did would be lost otherwise.
    """

    state: Any
    event: Happening | None
    values: dict[str, Any]
    also: dict[str, Any]
    theme: Any
    missed: tuple[Happening, ...] = ()


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

    @app.callback(output=dict(wires.outputs), inputs={"values": dict(wires.inputs)}, state=told)  # type: ignore[untyped-decorator, unused-ignore] # Dash's own
    def act(values: dict[str, Any], state: Any, theme: Any, also: dict[str, Any]) -> dict[str, Any]:
        used = controls_used(wires.inputs, ctx.triggered_prop_ids)
        return turned(wires, state, used, values, also, theme, react)


def turned(
    wires: Wires,
    kept: Any,
    used: str | None,
    values: dict[str, Any],
    also: dict[str, Any],
    theme: Any,
    react: Callable[[Moment], dict[str, Any]],
) -> dict[str, Any]:
    """One turn of a page: what it kept and what happened in, what it shows and what it keeps next out.

    ``used`` is the control that was used, None when the page is shown for the first time.
    """
    shown = _shown_before(kept)
    event = None if used is None else event_of(used, values[used], wires.buttons)
    missed = [] if used is None else missed_events(values, shown, used, wires.buttons)
    result = react(Moment(kept["settings"], event, values, also, theme, tuple(missed)))
    if event is not None and event.name in result and result["message"] == [] and event.name not in _ONCE:
        result[event.name] = no_update  # it shows already what it was set to, and may still be moving
    for name in _ONCE:
        if name in result and values.get(name) is None:
            result[name] = no_update  # it was empty; emptied now, it might lose a file that has arrived since
    now = {name: result[name] if result.get(name, no_update) is not no_update else values[name] for name in values}
    result["state"] = {"settings": result["state"], "shown": {name: brief(value) for name, value in now.items()}}
    return result


_ONCE = ("upload", "graph-upload", "table")  # emptied after use, so that the same file can be chosen again


def _shown_before(kept: Any) -> dict[str, Any]:
    if not isinstance(kept, Mapping) or set(kept) != {"settings", "shown"} or not isinstance(kept["shown"], Mapping):
        raise ParameterError("the page's settings are not whole: load it again")
    return dict(kept["shown"])


def recovered(state: T, moment: Moment, step: Callable[[T, Happening], T]) -> tuple[T, str]:
    """The settings with everything that was missed, and a sentence about the last of it that made no sense."""
    sentence = ""
    for event in moment.missed:
        try:
            state = step(state, event)
        except TinctError as error:
            sentence = str(error)
    return state, sentence


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
        return or_sentence(lambda: save(kind, state["settings"]))


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
