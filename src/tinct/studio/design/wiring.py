"""How the Design page's controls reach the library and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Input, Output, State, no_update

from tinct.errors import TinctError
from tinct.studio import drawing, parts
from tinct.studio.design.events import happened
from tinct.studio.design.saving import saved
from tinct.studio.design.solving import scene_of
from tinct.studio.design.state import DesignState
from tinct.studio.design.view import edge_epsilon, edge_options, vertex_options, view
from tinct.studio.happenings import Happening, amount_of
from tinct.studio.palette import theme_of
from tinct.studio.sources import shown_choice
from tinct.studio.wiring import KEPT, Moment, Wires, connect, connect_charts, connect_files, connect_picture, recovered

if TYPE_CHECKING:
    from tinct.studio.design.solving import Scene
    from tinct.studio.design.view import DesignView
    from tinct.studio.workshop import Workshop


_INPUTS = {
    "family": Input("design-family", "value"),
    "number-0": Input("design-number-0", "value"),
    "number-1": Input("design-number-1", "value"),
    "upload": Input("design-graph-upload", "contents"),
    "epsilon": Input("design-epsilon", "value"),
    "epsilon-slider": Input("design-epsilon-slider", "value"),
    "delta": Input("design-delta", "value"),
    "delta-slider": Input("design-delta-slider", "value"),
    "file-budgets": Input("design-file-budgets", "value"),
    "mode": Input("design-mode", "value"),
    "first": Input("design-first", "value"),
    "click": Input("design-click", "value"),
    "tap": Input("design-graph", "tapNode"),
    "tap-edge": Input("design-graph", "tapEdge"),
    "vertex": Input("design-vertex", "value"),
    "edge": Input("design-edge", "value"),
    "value": Input("design-value", "value"),
    "fix": Input("design-fix", "n_clicks"),
    "free": Input("design-free", "n_clicks"),
    "recolor": Input("design-recolor", "n_clicks"),
    "edge-epsilon": Input("design-edge-epsilon", "value"),
    "edge-slider": Input("design-edge-slider", "value"),
    "edge-same": Input("design-edge-same", "n_clicks"),
    "reset": Input("design-reset", "n_clicks"),
}
_BUTTONS = ("fix", "free", "recolor", "edge-same", "reset")

_OUTPUTS = {
    "state": Output("design-state", "data"),
    "message": Output("design-message", "children"),
    "family": Output("design-family", "value"),
    "family-hint": Output("design-family-hint", "children"),
    **{f"number-{at}": Output(f"design-number-{at}", "value") for at in range(2)},
    **{f"number-label-{at}": Output(f"design-number-label-{at}", "children") for at in range(2)},
    **{f"number-box-{at}": Output(f"design-number-box-{at}", "style") for at in range(2)},
    "upload": Output("design-graph-upload", "contents"),
    "epsilon": Output("design-epsilon", "value"),
    "epsilon-slider": Output("design-epsilon-slider", "value"),
    "delta": Output("design-delta", "value"),
    "delta-slider": Output("design-delta-slider", "value"),
    "file-budgets": Output("design-file-budgets", "value"),
    "file-budgets-box": Output("design-file-budgets-box", "style"),
    "mode": Output("design-mode", "value"),
    "first": Output("design-first", "value"),
    "first-box": Output("design-first-box", "style"),
    "frontier-box": Output("design-frontier-box", "style"),
    "frontier": Output("design-frontier", "figure"),
    "click": Output("design-click", "value"),
    "elements": Output("design-graph", "elements"),
    "stylesheet": Output("design-graph", "stylesheet"),
    "layout": Output("design-graph", "layout"),
    "graph-box": Output("design-graph-box", "style"),
    "line": Output("design-line", "figure"),
    "line-box": Output("design-line-box", "style"),
    "legend": Output("design-legend", "children"),
    "headline": Output("design-headline", "children"),
    "table": Output("design-table", "children"),
    "curves": Output("design-curves", "figure"),
    "inspector": Output("design-inspector", "children"),
    "vertex": Output("design-vertex", "value"),
    "vertex-options": Output("design-vertex", "options"),
    "vertex-box": Output("design-vertex-box", "style"),
    "value": Output("design-value", "value"),
    "value-label": Output("design-value-label", "children"),
    "edge": Output("design-edge", "value"),
    "edge-options": Output("design-edge", "options"),
    "edge-box": Output("design-edge-box", "style"),
    "edge-epsilon": Output("design-edge-epsilon", "value"),
    "edge-slider": Output("design-edge-slider", "value"),
    "python": Output("design-python", "children"),
}


def register(app: Any, workshop: Workshop) -> None:
    """Connect the page."""
    wires = Wires("design", _INPUTS, _OUTPUTS, _BUTTONS, {"name": State("design-graph-upload", "filename")})
    connect(app, wires, lambda moment: updated(moment, workshop))
    connect_files(
        app,
        "design",
        ("json", "csv", "svg", "py"),
        lambda kind, state: saved(kind, DesignState.from_json(state), workshop.files),
    )
    connect_charts(app, "design", ("chart",))
    connect_picture(app, "design")


def updated(moment: Moment, workshop: Workshop) -> dict[str, Any]:
    """What the page shows after an event, or what it showed before, with a sentence about what went wrong."""

    def step(state: DesignState, event: Happening) -> DesignState:
        return happened(state, *_read(event, moment), workshop.files, workshop.uploads)

    kept, event = DesignState.from_json(moment.state), moment.event
    before, sentence = recovered(kept, moment, step)
    state = before
    try:
        if event is not None:
            state = step(before, event)
        scene = scene_of(state, workshop.files)
    except TinctError as error:
        state, sentence = before, str(error)
        scene = scene_of(state, workshop.files)
    found = view(state, scene, theme_of(moment.theme))
    # a graph that has not changed must not be laid out again, and a list that has not changed not be sent again
    new_graph = event is None or scene.base is not _base(kept, workshop)
    result = {**_shown(state, scene, found), **_lists(scene, new_graph)}
    if sentence and event is not None and event.name in KEPT:
        result[event.name] = no_update  # what was written stays, so that it can be mended
    sentence = sentence or found.solution.refusal
    result["message"] = parts.alarm(sentence)
    return result


def _lists(scene: Scene, new_graph: bool) -> dict[str, Any]:
    if not new_graph:
        return dict.fromkeys(("layout", "vertex-options", "edge-options"), no_update)
    return {
        "layout": {"name": "preset", "fit": True, "padding": 24, "graph": id(scene.base)},
        "vertex-options": vertex_options(scene),
        "edge-options": edge_options(scene),
    }


def _base(state: DesignState, workshop: Workshop) -> Any:
    try:
        return scene_of(state, workshop.files).base
    except TinctError:
        return None


def _read(event: Happening, moment: Moment) -> tuple[str, Any]:
    """The event in the words of the settings."""
    if event.name in ("number-0", "number-1"):
        return "numbers", [moment.values["number-0"], moment.values["number-1"]]
    if event.name == "upload":
        return "upload", (event.value, moment.also["name"])
    if event.name in ("tap", "tap-edge"):
        identity = str(event.value["data"]["id"])
        return event.name, identity.removeprefix("e")
    if event.name == "epsilon-slider":
        return "epsilon", amount_of(event.value)
    if event.name == "edge-slider":
        return "edge-epsilon", amount_of(event.value)
    if event.name == "delta-slider":
        return "delta", parts.DELTAS[int(event.value)]
    return event.name, event.value


def _shown(state: DesignState, scene: Scene, found: DesignView) -> dict[str, Any]:
    return {
        "state": state.to_json(),
        "upload": None,
        **_settings(state, scene),
        **_picture(scene, found),
        **_inspected(state, scene, found),
        "frontier": found.frontier,
        "first": no_update if found.solution.point is None else round(found.solution.point[0], 3),
        "headline": found.headline,
        "table": found.table,
        "curves": found.curves,
        "python": found.python,
    }


def _settings(state: DesignState, scene: Scene) -> dict[str, Any]:
    return {
        **shown_choice("design", state.graph),
        "epsilon": state.epsilon,
        "epsilon-slider": parts.epsilon_place(state.epsilon),
        "delta": state.delta,
        "delta-slider": parts.delta_place(state.delta),
        "file-budgets": ["file"] if state.file_budgets else [],
        "file-budgets-box": parts.shown_if(scene.stated is not None),
        "mode": state.mode,
        "first-box": parts.shown_if(state.mode == "frontier"),
        "frontier-box": parts.shown_if(state.mode == "frontier"),
        "click": state.click,
    }


def _picture(scene: Scene, found: DesignView) -> dict[str, Any]:
    small = len(scene.graph) <= drawing.MOST_DRAWN
    return {
        "elements": found.elements,
        "stylesheet": found.stylesheet,
        "graph-box": parts.shown_if(small),
        "line": found.line_view,
        "line-box": parts.shown_if(not small),
        "legend": found.legend,
    }


def _inspected(state: DesignState, scene: Scene, found: DesignView) -> dict[str, Any]:
    mechanism = found.solution.mechanism
    here = state.fixed.get(state.vertex) if state.vertex is not None and state.mode == "fixed" else None
    if here is None and mechanism is not None and state.vertex is not None:
        here = float(mechanism.table[state.vertex, 0])
    edge = edge_epsilon(state, scene)
    two = not scene.has_orders and len(scene.graph.outputs) == 2
    return {
        "inspector": found.inspector,
        "vertex": None if state.vertex is None else str(state.vertex),
        "vertex-box": parts.shown_if(state.vertex is not None and two),
        "value": no_update if here is None else round(here, 3),
        "value-label": f"The probability of {scene.graph.outputs[0]} at this vertex" if two else "",
        "edge": None if state.edge is None else str(state.edge),
        "edge-box": parts.shown_if(state.edge is not None),
        "edge-epsilon": edge,
        "edge-slider": parts.epsilon_place(edge) if state.edge is not None else no_update,
    }
