"""The Verify page: its controls, where things stand, and how they are connected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dash import Input, Output, State, dcc, html, no_update

from tinct._files import json_text
from tinct.errors import ParameterError, TinctError
from tinct.studio import drawing, parts
from tinct.studio.design.solving import scene_of, solve
from tinct.studio.design.state import DesignState
from tinct.studio.downloads import download, sheet
from tinct.studio.families import FAMILIES
from tinct.studio.happenings import Happening, amount_of
from tinct.studio.palette import theme_of
from tinct.studio.sources import graph_control, shown_choice
from tinct.studio.uploads import written
from tinct.studio.verify.checking import checked
from tinct.studio.verify.state import KIND, VerifyState, happened
from tinct.studio.verify.view import document, picture, profile_chart, python_lines, verdict_of
from tinct.studio.wiring import KEPT, Moment, Wires, chart_buttons, connect, connect_charts, connect_files, recovered

if TYPE_CHECKING:
    from tinct.studio.verify.checking import Checked
    from tinct.studio.workshop import Workshop


def layout(state: VerifyState) -> Any:
    """The page with its controls set to the given settings."""
    return parts.page(
        "verify",
        "Verify",
        "Is a table of probabilities as private as somebody says? Every pair of neighbours is checked, both ways.",
        [
            parts.control(
                "The table",
                "A mechanism (.json) brings its graph; a table (.csv, .tsv) has one row per dataset.",
                parts.upload("verify-upload", "Drop a table here, or choose one"),
                parts.button("verify-design", "Take it from the Design page"),
                html.P(id="verify-name", className="hint"),
            ),
            html.Div(
                graph_control("verify", FAMILIES, state.graph, "The graph that the rows of a table belong to."),
                id="verify-graph-control",
            ),
            html.Div(
                dcc.Checklist(
                    id="verify-stated",
                    options=[{"value": "file", "label": "Hold it against the budget that its file states"}],
                    value=["file"] if state.stated else [],
                ),
                id="verify-stated-box",
                className="control",
            ),
            parts.epsilon_control("verify", state.epsilon, "ε, the promise"),
            parts.delta_control("verify", state.delta),
        ],
        _content(),
    )


def _content() -> list[Any]:
    return [
        parts.message("verify-message"),
        parts.card(html.Div(id="verify-verdict", **parts.attributes(aria_live="polite"))),
        parts.card(
            parts.chart_box("verify-profile", 340),
            title="The privacy profile",
            hint="For every ε the least δ with which the table is private. A promise on or above the curve is kept.",
        ),
        html.Div(
            parts.card(
                html.Div(
                    parts.network("verify-graph"),
                    className="graph",
                ),
                title="Where it is worst",
                hint="Each dataset with its distribution; the worst pair of neighbours is lit up.",
            ),
            id="verify-graph-box",
        ),
        parts.exports(
            "verify",
            {
                "json": "Verdict (JSON)", "csv": "Profile (CSV)", "chart-png": "Chart (PNG)",
                "chart-svg": "Chart (SVG)", "py": "Python",
            },
            chart_buttons("verify", {"chart": "verify-profile"}),
        ),
    ]  # fmt: skip


_INPUTS = {
    "table": Input("verify-upload", "contents"),
    "design": Input("verify-design", "n_clicks"),
    "family": Input("verify-family", "value"),
    "number-0": Input("verify-number-0", "value"),
    "number-1": Input("verify-number-1", "value"),
    "graph-upload": Input("verify-graph-upload", "contents"),
    "stated": Input("verify-stated", "value"),
    "epsilon": Input("verify-epsilon", "value"),
    "epsilon-slider": Input("verify-epsilon-slider", "value"),
    "delta": Input("verify-delta", "value"),
    "delta-slider": Input("verify-delta-slider", "value"),
}
_OUTPUTS = {
    "state": Output("verify-state", "data"),
    "message": Output("verify-message", "children"),
    "table": Output("verify-upload", "contents"),
    "name": Output("verify-name", "children"),
    "family": Output("verify-family", "value"),
    "family-hint": Output("verify-family-hint", "children"),
    **{f"number-{at}": Output(f"verify-number-{at}", "value") for at in range(2)},
    **{f"number-label-{at}": Output(f"verify-number-label-{at}", "children") for at in range(2)},
    **{f"number-box-{at}": Output(f"verify-number-box-{at}", "style") for at in range(2)},
    "graph-upload": Output("verify-graph-upload", "contents"),
    "graph-control": Output("verify-graph-control", "style"),
    "stated": Output("verify-stated", "value"),
    "stated-box": Output("verify-stated-box", "style"),
    "epsilon": Output("verify-epsilon", "value"),
    "epsilon-slider": Output("verify-epsilon-slider", "value"),
    "delta": Output("verify-delta", "value"),
    "delta-slider": Output("verify-delta-slider", "value"),
    "verdict": Output("verify-verdict", "children"),
    "profile": Output("verify-profile", "figure"),
    "elements": Output("verify-graph", "elements"),
    "stylesheet": Output("verify-graph", "stylesheet"),
    "layout": Output("verify-graph", "layout"),
    "graph-box": Output("verify-graph-box", "style"),
    "python": Output("verify-python", "children"),
}


def register(app: Any, workshop: Workshop) -> None:
    """Connect the page."""
    also = {
        "name": State("verify-upload", "filename"),
        "graph-name": State("verify-graph-upload", "filename"),
        "design": State("design-state", "data"),
    }
    connect(app, Wires("verify", _INPUTS, _OUTPUTS, ("design",), also), lambda moment: updated(moment, workshop))
    connect_files(
        app, "verify", ("json", "csv", "py"), lambda kind, state: saved(kind, VerifyState.from_json(state), workshop)
    )
    connect_charts(app, "verify", ("chart",))


def saved(kind: str, state: VerifyState, workshop: Workshop) -> dict[str, Any]:
    """What the page shows as a file: json, csv or py."""
    found = checked(state, workshop)
    if kind == "py":
        return download("verify.py", python_lines(state, found, workshop))
    if found is None:
        raise ParameterError("drop in a table first: there is nothing to save")
    if kind == "json":
        return download("verdict.json", json_text(document(found)))
    pairs = zip(found.epsilons, found.deltas, strict=True)
    return sheet("profile.csv", ["epsilon", "delta"], [[repr(one), repr(other)] for one, other in pairs])


def updated(moment: Moment, workshop: Workshop) -> dict[str, Any]:
    """What the page shows after an event, or what it showed before, with a sentence about what went wrong."""
    kept = VerifyState.from_json(moment.state)
    before, sentence = recovered(kept, moment, lambda state, event: _after(state, event, moment, workshop))
    state = before
    try:
        if moment.event is not None:
            state = _after(before, moment.event, moment, workshop)
        found = checked(state, workshop)
    except TinctError as error:
        state, sentence = before, str(error)
        found = _as_before(before, workshop)
    return _shown(state, found, sentence, moment, workshop)


def _as_before(state: VerifyState, workshop: Workshop) -> Checked | None:
    try:
        return checked(state, workshop)
    except TinctError:  # such as a file that is no longer kept
        return None


def _after(state: VerifyState, event: Happening, moment: Moment, workshop: Workshop) -> VerifyState:
    """The settings after an event of the page's controls."""
    if event.name == "design":
        return _from_design(state, DesignState.from_json(moment.also["design"]["settings"]), workshop)
    if event.name == "table":
        return happened(state, "table", (event.value, moment.also["name"]), workshop)
    if event.name == "graph-upload":
        return happened(state, "graph-upload", (event.value, moment.also["graph-name"]), workshop)
    if event.name in ("number-0", "number-1"):
        return happened(state, "numbers", [moment.values["number-0"], moment.values["number-1"]], workshop)
    if event.name == "epsilon-slider":
        return happened(state, "epsilon", amount_of(event.value), workshop)
    if event.name == "delta-slider":
        return happened(state, "delta", parts.DELTAS[int(event.value)], workshop)
    return happened(state, event.name, event.value, workshop)


def _from_design(state: VerifyState, design: DesignState, workshop: Workshop) -> VerifyState:
    solution = solve(design, scene_of(design, workshop.files))
    if solution.mechanism is None:
        raise ParameterError(solution.refusal)
    text = written("mechanism.json", solution.mechanism.to_json)
    upload = workshop.uploads.keep("mechanism.json", text.encode())
    return replace(state, table=upload.digest, name=upload.name, stated=True)


def _shown(
    state: VerifyState, found: Checked | None, sentence: str, moment: Moment, workshop: Workshop
) -> dict[str, Any]:
    theme = theme_of(moment.theme)
    elements = picture(state, found)
    result = {
        "state": state.to_json(),
        "message": parts.alarm(sentence),
        "table": None,
        "name": f"Checking: {state.name}" if state.table else "No table yet.",
        **shown_choice(KIND, state.graph),
        "graph-upload": None,
        "graph-control": parts.shown_if(not state.name.endswith(".json")),
        "stated": ["file"] if state.stated else [],
        "stated-box": parts.shown_if(found is not None and found.stated is not None),
        "epsilon": state.epsilon,
        "epsilon-slider": parts.epsilon_place(state.epsilon),
        "delta": state.delta,
        "delta-slider": parts.delta_place(state.delta),
        "verdict": verdict_of(found),
        "profile": profile_chart(found, theme),
        "elements": elements,
        "stylesheet": [] if found is None else drawing.stylesheet(found.graph.outputs, len(found.graph), theme),
        "layout": {"name": "preset", "fit": True, "padding": 24, "graph": f"{state.table}{len(elements)}"},
        "graph-box": parts.shown_if(bool(elements)),
        "python": python_lines(state, found, workshop),
    }
    if sentence and moment.event is not None and moment.event.name in KEPT:
        result[moment.event.name] = no_update  # what was written stays, so that it can be mended
    return result
