"""The Design page: its controls and where things stand on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import dcc, html

from tinct.studio import parts
from tinct.studio.families import FAMILIES
from tinct.studio.sources import graph_control
from tinct.studio.wiring import chart_buttons

if TYPE_CHECKING:
    from tinct.studio.design.state import DesignState

MODES = {"balanced": "Balanced", "fixed": "Fixed", "frontier": "Frontier"}
CLICKS = {"show": "shows it", "color": "recolours it", "fix": "fixes its value"}


def layout(state: DesignState) -> Any:
    """The page with its controls set to the given settings; everything else follows from them."""
    return parts.page(
        "design",
        "Design",
        "Choose who the datasets are and how much privacy they get; see the most truthful private answer there is.",
        _controls(state),
        _content(state),
    )


def _controls(state: DesignState) -> list[Any]:
    return [
        graph_control(
            "design", FAMILIES, state.graph, "Each vertex is a possible dataset; neighbours differ in one person."
        ),
        parts.epsilon_control("design", state.epsilon),
        parts.delta_control("design", state.delta),
        html.Div(
            dcc.Checklist(
                id="design-file-budgets",
                options=[{"value": "file", "label": "Use the budgets that the file states for its edges"}],
                value=["file"] if state.file_budgets else [],
            ),
            id="design-file-budgets-box",
            className="control",
        ),
        parts.control(
            "Which optimum",
            "Balanced favours no answer. Fixed values are yours. The frontier trades one answer for the other.",
            parts.segmented("design-mode", MODES, state.mode),
            html.Div(
                [
                    html.P("How truthful at the boundary of the first answer?", className="hint"),
                    parts.slider("design-first", 0, 1, 0.001, state.first or 0.5, {0: "0", 0.5: "½", 1: "1"}),
                ],
                id="design-first-box",
                **parts.attributes(data_name="truth on the first boundary"),
            ),
        ),
    ]


def _content(state: DesignState) -> list[Any]:
    return [
        parts.message("design-message"),
        parts.card(
            html.P(id="design-headline", className="headline"),
            html.Div(id="design-legend"),
            html.Div(
                parts.network("design-graph"),
                id="design-graph-box",
                className="graph",
            ),
            html.Div(parts.chart_box("design-line", 360), id="design-line-box"),
            _inspector(state),
            name="picture",
        ),
        html.Div(
            [
                parts.card(
                    html.Div(id="design-table"),
                    title="By distance",
                    hint="Steps: how many people would have to change before one more could change the answer.",
                ),
                parts.card(
                    parts.chart_box("design-curves", 400),
                    title="Against what others would run",
                    hint="How often the answer is wrong, on a logarithmic scale. Lower is better.",
                ),
            ],
            className="side-by-side",
        ),
        html.Div(
            parts.card(
                parts.chart_box("design-frontier", 340),
                title="The frontier",
                hint="Every point under the curve is possible. More truth for one answer costs truth for the other.",
            ),
            id="design-frontier-box",
        ),
        parts.exports(
            "design",
            {
                "json": "Mechanism (JSON)", "csv": "Table (CSV)", "png": "Picture (PNG)", "svg": "Picture (SVG)",
                "chart-png": "Chart (PNG)", "chart-svg": "Chart (SVG)", "py": "Python",
            },
            chart_buttons("design", {"chart": "design-curves"}),
        ),
    ]  # fmt: skip


def _inspector(state: DesignState) -> Any:
    """What is clicked, and what can be done with it; the lists do the same from the keyboard."""
    return html.Div(
        [
            parts.control(
                "A click on a vertex",
                "Look at it, give it the next colour, or pin its value and drag it.",
                parts.segmented("design-click", CLICKS, state.click),
            ),
            html.Div(
                [
                    _choice("design-vertex", "Vertex", "vertex …"),
                    _choice("design-edge", "Edge", "edge …"),
                ],
                className="numbers",
            ),
            html.Div(id="design-inspector", className="inspector", **parts.attributes(aria_live="polite")),
            html.Div(
                [
                    html.P(id="design-value-label", className="hint"),
                    parts.slider("design-value", 0, 1, 0.005, 0.5, {0: "0", 0.5: "½", 1: "1"}),
                    html.Div(
                        [
                            parts.button("design-fix", "Fix its value"),
                            parts.button("design-free", "Let it free"),
                            parts.button("design-recolor", "Next colour"),
                        ],
                        className="buttons",
                    ),
                ],
                id="design-vertex-box",
                **parts.attributes(data_name="value of the vertex"),
            ),
            html.Div(
                [
                    html.P("ε on this edge alone, for example for a person with a stricter wish.", className="hint"),
                    html.Div(
                        [
                            parts.slider(
                                "design-edge-slider", 0.05, 4, 0.05, 1, {0.05: "0.05", 1: "1", 2: "2", 4: "4"}
                            ),
                            parts.text_field("design-edge-epsilon", "1"),
                        ],
                        className="amount",
                    ),
                    parts.button("design-edge-same", "As on all edges"),
                ],
                id="design-edge-box",
                **parts.attributes(data_name="epsilon of the edge"),
            ),
            parts.button("design-reset", "Start over with this graph"),
        ],
        className="inspect",
    )


def _choice(name: str, label: str, placeholder: str) -> Any:
    return html.Div(
        [html.Label(label, htmlFor=name), dcc.Dropdown(id=name, options=[], placeholder=placeholder, clearable=False)]
    )
