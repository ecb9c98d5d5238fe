"""The Rainbow page: its controls, where things stand, and how they are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Input, Output, State, dcc, html, no_update

from tinct.errors import ParameterError, TinctError
from tinct.studio import drawing, parts
from tinct.studio.downloads import download
from tinct.studio.families import RANKED
from tinct.studio.happenings import Happening, amount_of
from tinct.studio.palette import theme_of
from tinct.studio.rainbow.solving import own_shares, solve
from tinct.studio.rainbow.state import KIND, MOST_RANKS, MOST_STEPS, RainbowState, happened
from tinct.studio.rainbow.view import headline, orders, picture, python_lines, regions, stack_chart
from tinct.studio.sources import graph_control, shown_choice
from tinct.studio.uploads import written
from tinct.studio.wiring import (
    KEPT,
    Moment,
    Wires,
    chart_buttons,
    connect,
    connect_charts,
    connect_files,
    connect_picture,
    recovered,
)

if TYPE_CHECKING:
    from tinct.studio.rainbow.solving import Rainbow
    from tinct.studio.workshop import Workshop

_BOUNDARIES = {"balanced": "Balanced", "best": "Best", "own": "Your own"}
_RANKS = ("best", "second", "third", "fourth", "fifth")


def layout(state: RainbowState) -> Any:
    """The page with its controls set to the given settings."""
    return parts.page(
        "rainbow",
        "Rainbow",
        "More than two answers: every dataset has an order of preference, and better answers come first.",
        [
            graph_control("rainbow", RANKED, state.graph, "Neighbours differ in one person's vote."),
            parts.epsilon_control("rainbow", state.epsilon),
            parts.delta_control("rainbow", state.delta),
            parts.control(
                "Rows on the boundaries",
                "How likely each answer is where two orders meet. Best is best on average over all datasets.",
                parts.segmented("rainbow-boundary", _BOUNDARIES, state.boundary),
                html.Div([_weight(at, state) for at in range(MOST_RANKS)], id="rainbow-weights-box"),
            ),
        ],
        _content(state),
    )


def _weight(at: int, state: RainbowState) -> Any:
    value = state.weights[at] if at < len(state.weights) else 0
    return html.Div(
        [
            html.P(id=f"rainbow-weight-label-{at}", className="hint"),
            parts.slider(f"rainbow-weight-{at}", 0, 100, 1, value),
        ],
        id=f"rainbow-weight-box-{at}",
        **parts.attributes(data_name=f"weight of the {_RANKS[at]} answer"),
    )


def _content(state: RainbowState) -> list[Any]:
    return [
        parts.message("rainbow-message"),
        parts.card(
            html.P(id="rainbow-headline", className="headline"),
            html.Div(id="rainbow-legend"),
            html.Div(
                parts.network("rainbow-graph"),
                id="rainbow-graph-box",
                className="graph",
            ),
            name="picture",
        ),
        parts.card(
            html.Div(
                [
                    html.Div(
                        [
                            html.Label("Region", htmlFor="rainbow-order"),
                            dcc.Dropdown(id="rainbow-order", options=[], value=str(state.order), clearable=False),
                        ]
                    ),
                    html.Div(
                        [
                            html.P("How many steps to show", className="hint"),
                            parts.slider("rainbow-steps", 1, MOST_STEPS, 1, state.steps, {1: "1", 30: "30", 60: "60"}),
                        ],
                        **parts.attributes(data_name="steps shown"),
                    ),
                ],
                className="numbers",
            ),
            parts.chart_box("rainbow-stack", 360),
            title="Inside one region",
            hint="How the probabilities grow with the distance to the region's boundary. Dotted: where growth turns.",
        ),
        parts.card(
            html.Div(id="rainbow-regions"),
            title="Regions",
            hint="The datasets with the same order; depth is the largest distance to their boundary.",
        ),
        parts.exports(
            "rainbow",
            {
                "json": "Mechanism (JSON)", "csv": "Table (CSV)", "png": "Picture (PNG)", "svg": "Picture (SVG)",
                "chart-png": "Chart (PNG)",
                "chart-svg": "Chart (SVG)", "py": "Python",
            },
            chart_buttons("rainbow", {"chart": "rainbow-stack"}),
        ),
    ]  # fmt: skip


_INPUTS = {
    "family": Input("rainbow-family", "value"),
    "number-0": Input("rainbow-number-0", "value"),
    "number-1": Input("rainbow-number-1", "value"),
    "graph-upload": Input("rainbow-graph-upload", "contents"),
    "epsilon": Input("rainbow-epsilon", "value"),
    "epsilon-slider": Input("rainbow-epsilon-slider", "value"),
    "delta": Input("rainbow-delta", "value"),
    "delta-slider": Input("rainbow-delta-slider", "value"),
    "boundary": Input("rainbow-boundary", "value"),
    **{f"weight-{at}": Input(f"rainbow-weight-{at}", "value") for at in range(MOST_RANKS)},
    "order": Input("rainbow-order", "value"),
    "steps": Input("rainbow-steps", "value"),
}
_OUTPUTS = {
    "state": Output("rainbow-state", "data"),
    "message": Output("rainbow-message", "children"),
    "family": Output("rainbow-family", "value"),
    "family-hint": Output("rainbow-family-hint", "children"),
    **{f"number-{at}": Output(f"rainbow-number-{at}", "value") for at in range(2)},
    **{f"number-label-{at}": Output(f"rainbow-number-label-{at}", "children") for at in range(2)},
    **{f"number-box-{at}": Output(f"rainbow-number-box-{at}", "style") for at in range(2)},
    "graph-upload": Output("rainbow-graph-upload", "contents"),
    "epsilon": Output("rainbow-epsilon", "value"),
    "epsilon-slider": Output("rainbow-epsilon-slider", "value"),
    "delta": Output("rainbow-delta", "value"),
    "delta-slider": Output("rainbow-delta-slider", "value"),
    "boundary": Output("rainbow-boundary", "value"),
    "weights-box": Output("rainbow-weights-box", "style"),
    **{f"weight-label-{at}": Output(f"rainbow-weight-label-{at}", "children") for at in range(MOST_RANKS)},
    **{f"weight-box-{at}": Output(f"rainbow-weight-box-{at}", "style") for at in range(MOST_RANKS)},
    "order": Output("rainbow-order", "value"),
    "order-options": Output("rainbow-order", "options"),
    "headline": Output("rainbow-headline", "children"),
    "legend": Output("rainbow-legend", "children"),
    "elements": Output("rainbow-graph", "elements"),
    "stylesheet": Output("rainbow-graph", "stylesheet"),
    "layout": Output("rainbow-graph", "layout"),
    "graph-box": Output("rainbow-graph-box", "style"),
    "stack": Output("rainbow-stack", "figure"),
    "regions": Output("rainbow-regions", "children"),
    "python": Output("rainbow-python", "children"),
}


def register(app: Any, workshop: Workshop) -> None:
    """Connect the page."""
    also = {"graph-name": State("rainbow-graph-upload", "filename")}
    connect(app, Wires("rainbow", _INPUTS, _OUTPUTS, (), also), lambda moment: updated(moment, workshop))
    connect_files(
        app,
        "rainbow",
        ("json", "csv", "svg", "py"),
        lambda kind, state: saved(kind, RainbowState.from_json(state), workshop),
    )
    connect_charts(app, "rainbow", ("chart",))
    connect_picture(app, "rainbow")


def saved(kind: str, state: RainbowState, workshop: Workshop) -> dict[str, Any]:
    """What the page shows as a file: json, csv, svg or py."""
    found = solve(state, workshop)
    if kind == "py":
        return download("rainbow.py", python_lines(state, found, workshop))
    if kind == "svg":
        elements = picture(state, found)
        if not elements:
            raise ParameterError(f"pictures show graphs of up to {drawing.MOST_DRAWN} vertices: save the chart instead")
        return download("rainbow.svg", drawing.svg(elements, found.graph.outputs))
    if found.mechanism is None:
        raise ParameterError(found.refusal)
    if kind == "json":
        return download("rainbow.json", written("rainbow.json", found.mechanism.to_json))
    return download("rainbow.csv", written("rainbow.csv", found.mechanism.to_csv))


def updated(moment: Moment, workshop: Workshop) -> dict[str, Any]:
    """What the page shows after an event, or what it showed before, with a sentence about what went wrong."""
    kept = RainbowState.from_json(moment.state)
    before, sentence = recovered(kept, moment, lambda state, event: _after(state, event, moment, workshop))
    state = before
    try:
        if moment.event is not None:
            state = _after(before, moment.event, moment, workshop)
        found = solve(state, workshop)
    except TinctError as error:
        state, sentence = before, str(error)
        found = solve(state, workshop)
    result = _shown(state, found, moment, workshop)
    result["message"] = parts.alarm(sentence or found.refusal)
    if sentence and moment.event is not None and moment.event.name in KEPT:
        result[moment.event.name] = no_update  # what was written stays, so that it can be mended
    if moment.event is not None and state.graph == kept.graph:
        result["layout"] = result["order-options"] = no_update
    return result


def _after(state: RainbowState, event: Happening, moment: Moment, workshop: Workshop) -> RainbowState:
    """The settings after an event of the page's controls."""
    if event.name == "graph-upload":
        return happened(state, event.name, (event.value, moment.also["graph-name"]), workshop)
    if event.name in ("number-0", "number-1"):
        return happened(state, "numbers", [moment.values["number-0"], moment.values["number-1"]], workshop)
    if event.name.startswith("weight-"):
        return happened(state, "weights", [moment.values[f"weight-{at}"] for at in range(MOST_RANKS)], workshop)
    if event.name == "epsilon-slider":
        return happened(state, "epsilon", amount_of(event.value), workshop)
    if event.name == "delta-slider":
        return happened(state, "delta", parts.DELTAS[int(event.value)], workshop)
    return happened(state, event.name, event.value, workshop)


def _shown(state: RainbowState, found: Rainbow, moment: Moment, workshop: Workshop) -> dict[str, Any]:
    theme = theme_of(moment.theme)
    elements = picture(state, found)
    return {
        "state": state.to_json(),
        **shown_choice(KIND, state.graph),
        "graph-upload": None,
        "epsilon": state.epsilon,
        "epsilon-slider": parts.epsilon_place(state.epsilon),
        "delta": state.delta,
        "delta-slider": parts.delta_place(state.delta),
        "boundary": state.boundary,
        **_weights(state, len(found.graph.outputs)),
        "order": str(min(state.order, len(found.graph.coloring.palette) - 1)),
        "order-options": orders(found),
        "headline": headline(found),
        "legend": parts.legend(found.graph.outputs, theme),
        "elements": elements,
        "stylesheet": drawing.stylesheet(found.graph.outputs, len(found.graph), theme),
        "layout": {"name": "preset", "fit": True, "padding": 24, "graph": id(found.graph)},
        "graph-box": parts.shown_if(bool(elements)),
        "stack": stack_chart(found, theme),
        "regions": regions(found, theme),
        "python": python_lines(state, found, workshop),
    }


def _weights(state: RainbowState, answers: int) -> dict[str, Any]:
    shares = own_shares(state, answers) if state.boundary == "own" else [0.0] * answers
    result: dict[str, Any] = {"weights-box": parts.shown_if(state.boundary == "own")}
    for at in range(MOST_RANKS):
        used = at < answers
        result[f"weight-label-{at}"] = f"the {_RANKS[at]} answer: {parts.percent(shares[at])}" if used else ""
        result[f"weight-box-{at}"] = parts.shown_if(used)
    return result
