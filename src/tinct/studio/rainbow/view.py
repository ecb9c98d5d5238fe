"""What the Rainbow page shows: the graph, the regions, and the stack of probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from dash import html

from tinct.mechanism import verify
from tinct.rainbow import depths
from tinct.studio import charts, drawing, parts
from tinct.studio.placing import placed
from tinct.studio.rainbow.solving import own_shares
from tinct.studio.rainbow.state import KIND

if TYPE_CHECKING:
    from tinct.studio.palette import Theme
    from tinct.studio.rainbow.solving import Rainbow
    from tinct.studio.rainbow.state import RainbowState
    from tinct.studio.workshop import Workshop


def picture(state: RainbowState, found: Rainbow) -> list[dict[str, Any]]:
    """The graph with its pies; nothing for large graphs."""
    if len(found.graph) > drawing.MOST_DRAWN:
        return []
    table = None if found.mechanism is None else found.mechanism.table
    if table is None:
        table = np.full((len(found.graph), len(found.graph.outputs)), np.nan)
    points = placed(found.graph, state.graph.shape(KIND))
    return drawing.elements(found.graph, points, table, drawing.Marks(path=found.path))


def headline(found: Rainbow) -> Any:
    """What was designed and that it was checked."""
    orders = parts.counted(len(found.graph.coloring.palette), "order of preference", "orders of preference")
    size = f"{parts.counted(len(found.graph), 'dataset', 'datasets')}, {orders}"
    if found.mechanism is None:
        return [html.B("No private mechanism has these boundary rows. "), size]
    verdict = verify(found.mechanism, found.graph, found.privacy)
    checked = "private on every edge" if verdict.private else "NOT private"
    return parts.claimed(found.mechanism, f"{size}. Checked: {checked}, least ε {verdict.epsilon:.6g}.")


def stack_chart(found: Rainbow, theme: Theme) -> dict[str, Any]:
    """The probabilities of all answers against the distance, with the steps at which growth turns."""
    if found.stack is None:
        return charts.empty(theme, "")
    steps = list(range(len(found.stack)))
    figure = charts.stack(steps, found.stack.tolist(), found.order, found.graph.outputs, theme)
    turns = sorted({turn for turn in found.turns if math.isfinite(turn) and 0 < turn < len(steps)})
    figure["layout"]["shapes"] = [
        {
            "type": "line", "x0": turn, "x1": turn, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": theme.text, "width": 1, "dash": "dot"},
        }
        for turn in turns
    ]  # fmt: skip
    return figure


def regions(found: Rainbow, theme: Theme) -> Any:
    """One line for each order: its depth, and the row on its boundary."""
    outputs = list(found.graph.outputs)
    deep = depths(found.graph)
    counts = np.bincount(found.graph.coloring.codes, minlength=len(found.graph.coloring.palette)).tolist()
    rows = []
    for code, order in enumerate(found.graph.coloring.palette):
        if not counts[code]:
            continue
        row = found.boundary[order]
        rows.append(
            [
                parts.color_swatch(order, outputs, theme),
                f"{counts[code]:,}",
                "no boundary" if deep[order] < 0 else str(deep[order]),
                *(parts.percent(row[answer]) for answer in outputs),
            ]
        )
    return parts.table(["order", "datasets", "depth", *(f"Pr {answer}" for answer in outputs)], rows)


def orders(found: Rainbow) -> list[dict[str, str]]:
    """The orders to choose from."""
    return [
        {"value": str(code), "label": charts.plain(order)} for code, order in enumerate(found.graph.coloring.palette)
    ]


def python_lines(state: RainbowState, found: Rainbow, workshop: Workshop) -> str:
    """A script that designs the same mechanism and computes the same stack."""
    lines = ["import tinct", "from tinct import Privacy, graphs, rainbow", ""]
    lines += [state.graph.python(KIND, workshop.files), f"privacy = Privacy({state.epsilon!r}, {state.delta!r})"]
    if state.boundary == "own":
        shares = own_shares(state, len(found.graph.outputs))
        lines += [f"shares = {shares!r}  # of the best answer, the second best, …"]
        lines += ["boundary = {order: dict(zip(order, shares)) for order in graph.coloring.palette}"]
    elif state.boundary == "best":
        lines += ["boundary = rainbow.best_boundary(graph, privacy).rows"]
    else:
        lines += ["boundary = rainbow.balanced_boundary(graph, privacy)"]
    lines += ["mechanism = rainbow.extend(graph, privacy, boundary)", "print(mechanism.truth())", ""]
    preferred = [found.boundary[found.order][answer] for answer in found.order]
    lines += [f"# the region {charts.plain(found.order)}, from the best answer to the worst"]
    lines += [f"stack = rainbow.at_distance(privacy, {preferred!r}, range({state.steps + 1}))", ""]
    return "\n".join(lines)
