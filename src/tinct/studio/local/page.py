"""The Local page: its controls, where things stand, and how they are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Input, Output, State, dcc, html, no_update

from tinct.errors import TinctError
from tinct.local.mechanism_files import write_mechanism
from tinct.studio import parts
from tinct.studio.downloads import download, sheet
from tinct.studio.happenings import Happening, amount_of
from tinct.studio.local.solving import MOST_EPSILON, solve
from tinct.studio.local.state import MOST_SYMBOLS, UTILITIES, LocalState, happened
from tinct.studio.local.view import cells_chart, headline, matrix_chart, python_lines, regimes_table, utility_chart
from tinct.studio.palette import theme_of
from tinct.studio.uploads import written
from tinct.studio.wiring import KEPT, Moment, Wires, chart_buttons, connect, connect_charts, connect_files, recovered

if TYPE_CHECKING:
    from tinct.studio.workshop import Workshop

_STEP = 0.05
_CHARTS = {"cells": "local-cells", "matrix": "local-matrix", "utility": "local-utility-chart"}


def layout(state: LocalState) -> Any:
    """The page with its controls set to the given settings."""
    return parts.page(
        "local",
        "Local",
        "Nobody trusts anybody: everyone blurs their own answer. Which blur still tells two hypotheses apart best?",
        [
            parts.control(
                "P0, the first hypothesis",
                "How likely each symbol is if the first hypothesis is true; the numbers add up to 1.",
                dcc.Textarea(id="local-p0", value=written_out(state.p0), spellCheck=False),
                target="local-p0",
            ),
            parts.control(
                "P1, the second hypothesis",
                "The same for the second hypothesis, symbol by symbol.",
                dcc.Textarea(id="local-p1", value=written_out(state.p1), spellCheck=False),
                parts.button("local-read", "Use these numbers", kind="strong"),
                target="local-p1",
            ),
            parts.control(
                "Or a file",
                f"A table (.csv, .tsv) with the columns p0, p1 and, if you like, symbol; up to {MOST_SYMBOLS} rows.",
                parts.upload("local-upload", "Drop a table here, or choose one"),
            ),
            parts.control(
                "ε, the privacy budget",
                "How much a report may reveal about its sender: smaller is more private. Or text such as ln 2.",
                html.Div(
                    [
                        parts.slider(
                            "local-epsilon-slider", _STEP, MOST_EPSILON, _STEP, _place(state.epsilon),
                            {_STEP: "0.05", 2: "2", 4: "4", 6: "6", 8: "8"},
                        ),
                        parts.text_field("local-epsilon", state.epsilon),
                    ],
                    className="amount",
                ),
                target="local-epsilon",
            ),
            parts.control(
                "What counts as telling apart",
                "The distance between the reports under P0 and under P1 that is made as large as can be.",
                dcc.Dropdown(
                    id="local-utility",
                    options=[{"value": name, "label": label} for name, label in UTILITIES.items()],
                    value=state.utility,
                    clearable=False,
                    searchable=False,
                ),
            ),
        ],
        _content(),
    )  # fmt: skip


def _content() -> list[Any]:
    return [
        parts.message("local-message"),
        parts.card(
            html.P(id="local-headline", className="headline"),
            parts.chart_box("local-cells", 320),
            html.P(
                "Each symbol stands at its likelihood ratio: filled, how likely it is under P0; open, under P1. Dotted "
                "lines are cuts between cells.",
                className="hint",
            ),
        ),
        html.Div(
            [
                parts.card(
                    parts.chart_box("local-matrix", 400),
                    title="The mechanism",
                    hint="For every symbol, how likely each report is. No two rows differ by more than e^ε.",
                ),
                parts.card(
                    parts.chart_box("local-utility-chart", 400),
                    title="Utility against ε",
                    hint="What the best mechanism achieves at every budget, and what the named ones do.",
                ),
            ],
            className="side-by-side",
        ),
        parts.card(
            html.Div(id="local-regimes"),
            title="Which mechanism is optimal where",
            hint="The cells change at exact budgets: few cells for little budget, one for each ratio for a lot.",
        ),
        parts.exports(
            "local",
            {
                "json": "Mechanism (JSON)", "csv": "Matrix (CSV)", "cells-png": "Cells (PNG)",
                "cells-svg": "Cells (SVG)", "matrix-png": "Matrix (PNG)", "matrix-svg": "Matrix (SVG)",
                "utility-png": "Utility (PNG)", "utility-svg": "Utility (SVG)", "py": "Python",
            },
            chart_buttons("local", _CHARTS),
        ),
    ]  # fmt: skip


def written_out(values: tuple[float, ...]) -> str:
    """Probabilities as the page shows them.

    >>> written_out((0.25, 0.75))
    '0.25, 0.75'
    """
    return ", ".join(map(repr, values))


def _place(epsilon: str) -> float:
    from tinct.local.parameters import LocalBudget

    steps = round(LocalBudget.parse(epsilon).epsilon / _STEP)
    return round(min(max(steps, 1) * _STEP, MOST_EPSILON), 10)


_INPUTS = {
    "read": Input("local-read", "n_clicks"),
    "upload": Input("local-upload", "contents"),
    "epsilon": Input("local-epsilon", "value"),
    "epsilon-slider": Input("local-epsilon-slider", "value"),
    "utility": Input("local-utility", "value"),
}
_OUTPUTS = {
    "state": Output("local-state", "data"),
    "message": Output("local-message", "children"),
    "p0": Output("local-p0", "value"),
    "p1": Output("local-p1", "value"),
    "upload": Output("local-upload", "contents"),
    "epsilon": Output("local-epsilon", "value"),
    "epsilon-slider": Output("local-epsilon-slider", "value"),
    "utility": Output("local-utility", "value"),
    "headline": Output("local-headline", "children"),
    "cells": Output("local-cells", "figure"),
    "matrix": Output("local-matrix", "figure"),
    "utility-chart": Output("local-utility-chart", "figure"),
    "regimes": Output("local-regimes", "children"),
    "python": Output("local-python", "children"),
}


def register(app: Any, workshop: Workshop) -> None:
    """Connect the page."""
    also = {
        "p0": State("local-p0", "value"),
        "p1": State("local-p1", "value"),
        "name": State("local-upload", "filename"),
    }
    connect(app, Wires("local", _INPUTS, _OUTPUTS, ("read",), also), lambda moment: updated(moment, workshop))
    connect_files(app, "local", ("json", "csv", "py"), lambda kind, state: saved(kind, LocalState.from_json(state)))
    connect_charts(app, "local", tuple(_CHARTS))


def saved(kind: str, state: LocalState) -> dict[str, Any]:
    """What the page shows as a file: json, csv or py."""
    if kind == "py":
        return download("local.py", python_lines(state))
    mechanism = solve(state).mechanism
    if kind == "json":
        return download("local.json", written("local.json", lambda path: write_mechanism(mechanism, path)))
    header = ["symbol", *(f"cell {number + 1}" for number in range(mechanism.matrix.shape[1]))]
    rows = zip(state.symbols, mechanism.matrix.tolist(), strict=True)
    return sheet("local.csv", header, [[symbol, *map(repr, row)] for symbol, row in rows])


def updated(moment: Moment, workshop: Workshop) -> dict[str, Any]:
    """What the page shows after an event, or what it showed before, with a sentence about what went wrong."""
    kept = LocalState.from_json(moment.state)
    before, sentence = recovered(kept, moment, lambda state, event: _after(state, event, moment, workshop))
    state = before
    try:
        if moment.event is not None:
            state = _after(before, moment.event, moment, workshop)
        found = solve(state)
    except TinctError as error:
        state, sentence = before, str(error)
        found = solve(state)
    theme, changed = theme_of(moment.theme), (state.p0, state.p1) != (kept.p0, kept.p1)
    result = {
        "state": state.to_json(),
        "message": parts.alarm(sentence),
        "p0": written_out(state.p0) if changed else no_update,
        "p1": written_out(state.p1) if changed else no_update,
        "upload": None,
        "epsilon": state.epsilon,
        "epsilon-slider": _place(state.epsilon),
        "utility": state.utility,
        "headline": headline(state, found),
        "cells": cells_chart(state, found, theme),
        "matrix": matrix_chart(state, found, theme),
        "utility-chart": utility_chart(state, found, theme),
        "regimes": regimes_table(found),
        "python": python_lines(state),
    }
    if sentence and moment.event is not None and moment.event.name in KEPT:
        result[moment.event.name] = no_update  # what was written stays, so that it can be mended
    return result


def _after(state: LocalState, event: Happening, moment: Moment, workshop: Workshop) -> LocalState:
    """The settings after an event of the page's controls."""
    if event.name == "read":
        return happened(state, "pasted", (moment.also["p0"], moment.also["p1"]), workshop)
    if event.name == "upload":
        return happened(state, "upload", (event.value, moment.also["name"]), workshop)
    if event.name == "epsilon-slider":
        return happened(state, "epsilon", amount_of(event.value), workshop)
    return happened(state, event.name, event.value, workshop)
