"""Pieces that all pages are made of: cards, labelled controls, tables, exports. What they look like is in assets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_cytoscape as cyto
from dash import dcc, html

from tinct.studio.palette import LIGHT, Theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.mechanism import Mechanism

DELTAS = ("0", "1e-9", "1e-7", "1e-6", "1e-5", "1e-4", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2")
EPSILON_STEP = 0.05
MOST_EPSILON = 4.0
MANY_ROWS = 9  # a table with more of them does not fit its box
_CHART: Any = {"displayModeBar": False, "responsive": True}


def attributes(**given: str) -> dict[str, Any]:
    """Attributes whose names have hyphens.

    >>> attributes(aria_label="Pages")
    {'aria-label': 'Pages'}
    """
    return {name.replace("_", "-"): value for name, value in given.items()}


def shown_if(wanted: bool) -> dict[str, str]:
    """The style of a part that is there only sometimes.

    >>> shown_if(True), shown_if(False)
    ({}, {'display': 'none'})
    """
    return {} if wanted else {"display": "none"}


def page(name: str, title: str, lead: str, controls: Sequence[Any], content: Sequence[Any]) -> Any:
    """A page: what it is for, its controls, and what they show."""
    return html.Div(
        [
            html.Div([html.H1(title), html.P(lead, className="lead")], className="heading"),
            html.Section(list(controls), className="controls", **attributes(aria_label="Controls")),
            html.Div(list(content), className="content"),
        ],
        className=f"page page-{name}",
    )


def card(*children: Any, title: str = "", hint: str = "", name: str = "") -> Any:
    """A box with a title and a sentence about what is in it."""
    head: list[Any] = [html.H2(title)] if title else []
    head += [html.P(hint, className="hint")] if hint else []
    return html.Section([*head, *children], className=f"card {name}".strip())


def control(label: str, hint: str, *children: Any, target: str | None = None, **options: Any) -> Any:
    """A control with its name and one sentence about it."""
    name = html.Label(label, htmlFor=target) if target else html.Span(label, className="label")
    return html.Div(
        [name, html.P(hint, className="hint"), *children],
        className="control", role="group", **attributes(aria_label=label, data_name=label), **options,
    )  # fmt: skip


def segmented(name: str, options: dict[str, str], value: str) -> Any:
    """A choice of a few words, side by side."""
    return dcc.RadioItems(
        id=name,
        options=[{"value": key, "label": label} for key, label in options.items()],
        value=value,
        className="segmented",
    )


def slider(
    name: str, least: float, most: float, step: float, value: float, marks: dict[float, str] | None = None
) -> Any:
    """A slider that acts while it is being dragged."""
    return dcc.Slider(
        id=name, min=least, max=most, step=step, value=value, updatemode="drag", allow_direct_input=False,
        marks={float(at): label for at, label in (marks or {}).items()} or None,
    )  # fmt: skip


def text_field(name: str, value: str, **options: Any) -> Any:
    """A field for a short text, read when Enter is pressed or the field is left."""
    return dcc.Input(id=name, type="text", value=value, debounce=True, autoComplete="off", spellCheck=False, **options)


def number_field(name: str, value: int | float | None, **options: Any) -> Any:
    """A field for a number, read on every change that is one."""
    return dcc.Input(id=name, type="number", value=value, debounce=0.4, **options)


def epsilon_control(prefix: str, value: str, label: str = "ε, the privacy budget") -> Any:
    """A slider and a field for ε."""
    return control(
        label,
        "How much one person's data may change the odds of any answer: smaller is more private. Or text such as ln 2.",
        html.Div(
            [
                slider(
                    f"{prefix}-epsilon-slider", EPSILON_STEP, MOST_EPSILON, EPSILON_STEP, epsilon_place(value),
                    {EPSILON_STEP: "0.05", 1: "1", 2: "2", 3: "3", 4: "4"},
                ),
                text_field(f"{prefix}-epsilon", value),
            ],
            className="amount",
        ),
        target=f"{prefix}-epsilon",
    )  # fmt: skip


def delta_control(prefix: str, value: str) -> Any:
    """A slider and a field for δ."""
    return control(
        "δ, the small exception",
        "How likely the promise may fail. 0 is never; a small δ makes answers far from the boundary sure.",
        html.Div(
            [
                slider(
                    f"{prefix}-delta-slider", 0, len(DELTAS) - 1, 1, delta_place(value),
                    {0: "0", 3: "10⁻⁶", 6: "10⁻³", 9: "0.01", 12: "0.1"},
                ),
                text_field(f"{prefix}-delta", value),
            ],
            className="amount",
        ),
        target=f"{prefix}-delta",
    )  # fmt: skip


def epsilon_place(value: str) -> float:
    """Where the slider stands for an ε."""
    from tinct.privacy import Privacy

    steps = round(Privacy(value).epsilon / EPSILON_STEP)
    return round(min(max(steps, 1) * EPSILON_STEP, MOST_EPSILON), 10)


def delta_place(value: str) -> int:
    """Where the slider stands for a δ: the nearest of its stops from below."""
    from tinct.privacy import Privacy

    delta = Privacy(1, value).delta
    return max(at for at, stop in enumerate(DELTAS) if float(stop) <= delta * (1 + 1e-12))


def chart_box(name: str, height: int = 320) -> Any:
    """A place for a chart; its size is kept, so that nothing jumps when it changes."""
    from tinct.studio.charts import empty

    return dcc.Graph(
        id=name, figure=empty(LIGHT, ""), config=_CHART, style={"height": f"{height}px"}, className="chart",
    )  # fmt: skip


def network(name: str) -> Any:
    """A place for a graph; it fits its box, and its vertices stay where they were put."""
    return cyto.Cytoscape(
        id=name, elements=[], layout={"name": "preset", "fit": True, "padding": 24}, stylesheet=[],
        style={"width": "100%", "height": "100%"}, autoungrabify=True, boxSelectionEnabled=False,
        userZoomingEnabled=False, minZoom=0.01, maxZoom=1.6,
    )  # fmt: skip


def message(name: str) -> Any:
    """A place for a sentence about what went wrong; screen readers announce it."""
    return html.Div(id=name, className="message", role="alert", **attributes(aria_live="assertive"))


def alarm(sentence: str) -> Any:
    """A sentence in a message, or nothing."""
    return html.P(sentence, className="alarm") if sentence else []


def button(name: str, label: str, *, kind: str = "quiet") -> Any:
    """A button."""
    return html.Button(label, id=name, className=f"button {kind}", n_clicks=0, type="button")


def upload(name: str, label: str) -> Any:
    """A place to drop a file on, or to choose one."""
    from tinct.studio.uploads import MAX_FILE

    return dcc.Upload(
        html.Button([html.B(label), html.Span(f"up to {MAX_FILE // 2**20} MB")], type="button", className="drop"),
        id=name, multiple=False, className="upload", className_active="upload upload-over",
    )  # fmt: skip


def exports(prefix: str, kinds: dict[str, str], *more: Any) -> Any:
    """Buttons that save what the page shows, and the Python lines that do the same."""
    return card(
        html.Div([button(f"{prefix}-save-{kind}", label) for kind, label in kinds.items()], className="buttons"),
        html.Details(
            [
                html.Summary("Python lines that reproduce this"),
                html.Div(
                    [
                        dcc.Clipboard(target_id=f"{prefix}-python", className="copy", title="Copy the lines"),
                        html.Pre(id=f"{prefix}-python", className="python", tabIndex=0),
                    ],
                    className="code",
                ),
            ],
            open=True,
        ),
        dcc.Download(id=f"{prefix}-download"),
        *more,
        title="Take it with you",
        name="exports",
    )


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], *, numeric_from: int = 1) -> Any:
    """A table; from ``numeric_from`` on, columns are numbers. Its shade and a line below say that there is more."""

    def kind(at: int) -> str:
        return "number" if at >= numeric_from else "word"

    sheet = html.Table(
        [
            html.Thead(html.Tr([html.Th(name, className=kind(at), scope="col") for at, name in enumerate(header)])),
            html.Tbody([html.Tr([html.Td(cell, className=kind(at)) for at, cell in enumerate(row)]) for row in rows]),
        ]
    )
    more = [html.P(f"{len(rows)} rows: scroll to see them all.", className="hint more")]
    return html.Div([html.Div(sheet, className="table", tabIndex=0), *(more if len(rows) > MANY_ROWS else [])])


def swatch(color: str | Sequence[str], label: str) -> Any:
    """An answer with its colour, or an order with the colours of its answers, the best first."""
    hues = [color] if isinstance(color, str) else color
    return html.Span(
        [*(html.I(className="swatch", style={"background": hue}) for hue in hues), label], className="answer"
    )


def color_swatch(color: Any, outputs: Sequence[Any], theme: Theme) -> Any:
    """A colour of a graph, which is an answer or an order of them, as a swatch."""
    order = color if isinstance(color, tuple) else (color,)
    hues = dict(zip(outputs, theme.colors(outputs), strict=True))
    return swatch([hues[answer] for answer in order], " > ".join(map(str, order)))


def claimed(mechanism: Mechanism, checked: str) -> list[Any]:
    """In which sense a mechanism is optimal, and what was checked about it."""
    claim = mechanism.claim
    if claim is None:
        return [html.B("Mechanism: "), checked]
    name, sentence = (words[:1].upper() + words[1:] for words in (claim.name, claim.sentence))
    return [html.B(f"{name}: "), checked, f" {sentence}."]


def legend(outputs: Sequence[Any], theme: Theme) -> Any:
    """All answers with their colours."""
    hues = theme.colors(outputs)
    return html.Div([swatch(hue, str(output)) for hue, output in zip(hues, outputs, strict=True)], className="legend")


def percent(value: float) -> str:
    """A probability as a percentage with the digits that matter.

    >>> percent(0.5), percent(0.99999), percent(1.0), percent(0.0)
    ('50.00 %', '99.9990 %', '100 %', '0 %')
    """
    if value in (0.0, 1.0):
        return f"{value:.0%}".replace("%", " %")
    rest = min(value, 1 - value)
    digits = 2 if rest >= 1e-4 else 4 if rest >= 1e-6 else 8
    return f"{100 * value:.{digits}f} %"


def counted(number: int, one: str, many: str) -> str:
    """A number of things.

    >>> counted(1, "pair of neighbours", "pairs of neighbours"), counted(1200, "dataset", "datasets")
    ('1 pair of neighbours', '1,200 datasets')
    """
    return f"{number:,} {one if number == 1 else many}"


def short(value: float) -> str:
    """A small number in few letters."""
    return "0" if value == 0 else f"{value:.3g}"
