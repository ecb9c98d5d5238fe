"""What the Design page shows for its settings: settings in, elements, charts and tables out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from dash import html

from tinct import baselines
from tinct.graphs import Budget
from tinct.graphs.labels import to_text
from tinct.mechanism import verify
from tinct.mechanism.by_distance import ByDistance
from tinct.studio import charts, drawing, parts
from tinct.studio.design.script import python_lines
from tinct.studio.design.solving import solve
from tinct.studio.placing import placed

if TYPE_CHECKING:
    from tinct.mechanism.by_distance import DistanceLine
    from tinct.studio.design.solving import Scene, Solution
    from tinct.studio.design.state import DesignState
    from tinct.studio.palette import Theme

MOST_ROWS = 25  # distances of a colour in the table
MOST_NAMED = 2_000  # vertices and edges in the lists to choose from


@dataclass(frozen=True)
class DesignView:
    """Everything the page shows."""

    solution: Solution
    lines: list[DistanceLine]
    elements: list[dict[str, Any]]
    stylesheet: list[dict[str, Any]]
    inspector: Any
    line_view: dict[str, Any]
    curves: dict[str, Any]
    frontier: dict[str, Any]
    table: Any
    headline: Any
    legend: Any
    python: str


def view(state: DesignState, scene: Scene, theme: Theme) -> DesignView:
    """Design what the settings ask for, and draw it."""
    solution = solve(state, scene)
    found = lines(solution)
    small = len(scene.graph) <= drawing.MOST_DRAWN
    return DesignView(
        solution,
        found,
        picture(state, solution) if small else [],
        drawing.stylesheet(scene.graph.outputs, len(scene.graph), theme),
        inspector(state, solution, theme),
        charts.line_view(found, scene.graph.outputs, theme) if found and not small else charts.empty(theme, ""),
        charts.errors_by_distance(found, theme) if found else charts.empty(theme, "no mechanism with these values"),
        frontier_of(solution, theme),
        table_of(solution, found, theme),
        headline(solution),
        parts.legend(scene.graph.outputs, theme),
        python_lines(state, solution),
    )


def lines(solution: Solution) -> list[DistanceLine]:
    """The mechanism by colour and distance, beside what people would otherwise run."""
    if solution.mechanism is None:
        return []
    return list(ByDistance(solution.mechanism, baselines.beside(solution.scene.graph, solution.scene.privacy)))


def picture(state: DesignState, solution: Solution) -> list[dict[str, Any]]:
    """The graph with its pies; without a mechanism, only fixed vertices have one."""
    scene, graph = solution.scene, solution.scene.graph
    fixed = state.fixed if state.mode == "fixed" else {}
    if solution.mechanism is not None:
        table = solution.mechanism.table
    else:
        table = np.full((len(graph), len(graph.outputs)), np.nan)
        for at, value in fixed.items():
            if at < len(graph) and len(graph.outputs) == 2:
                table[at] = value, 1 - value
    marks = drawing.Marks(
        frozenset(fixed), solution.path, state.vertex, state.edge,
        {number: f"ε {epsilon}" for number, epsilon in state.budgets.items()},
    )  # fmt: skip
    return drawing.elements(graph, placed(scene.base, scene.shape), table, marks)


def frontier_of(solution: Solution, theme: Theme) -> dict[str, Any]:
    """The frontier with the chosen point."""
    if solution.frontier is None or solution.point is None:
        return charts.empty(theme, "")
    points = solution.frontier.points().tolist()
    names = solution.scene.graph.outputs
    return charts.frontier_chart(points, solution.point, solution.frontier.balanced, names, theme)


def headline(solution: Solution) -> Any:
    """What was designed, and that it was checked, in a sentence."""
    graph = solution.scene.graph
    pairs = parts.counted(len(graph.indices) // 2, "pair of neighbours", "pairs of neighbours")
    size = f"{parts.counted(len(graph), 'dataset', 'datasets')}, {pairs}"
    if solution.mechanism is None:
        return [html.B("No private mechanism has these values. "), size]
    verdict = verify(solution.mechanism, graph, solution.scene.privacy)
    checked = "private on every edge" if verdict.private else "NOT private"
    return parts.claimed(solution.mechanism, f"{size}. Checked: {checked}, least ε {verdict.epsilon:.6g}.")


def table_of(solution: Solution, found: list[DistanceLine], theme: Theme) -> Any:
    """The mechanism by distance."""
    if not found:
        return html.P("There is nothing to show before the values can be extended.", className="hint")
    header = ["true answer", "steps", "datasets", "right", "wrong"]
    rows, counts = [], dict.fromkeys((line.color for line in found), 0)
    outputs = list(solution.scene.graph.outputs)
    for line in sorted(found, key=lambda line: line.distance):  # so that all colours are seen at once
        counts[line.color] += 1
        if counts[line.color] > MOST_ROWS:
            continue
        rows.append(
            [
                parts.color_swatch(line.color, outputs, theme),
                "no boundary" if line.distance < 0 else str(line.distance),
                f"{line.datasets:,}",
                _range(line),
                parts.short(line.wrong),
            ]
        )
    left_out = sum(max(0, count - MOST_ROWS) for count in counts.values())
    more = [html.P(f"{left_out:,} more lines are in the CSV.", className="hint")] if left_out else []
    return [parts.table(header, rows), *more]


def _range(line: DistanceLine) -> str:
    low, high = map(parts.percent, line.truth)
    return low if low == high else f"{low.removesuffix(' %')} – {high}"


def inspector(state: DesignState, solution: Solution, theme: Theme) -> Any:
    """The vertex or edge that is looked at, in words."""
    graph, mechanism = solution.scene.graph, solution.mechanism
    if state.vertex is not None and state.vertex < len(graph):
        vertex = graph.vertices[state.vertex]
        color = graph.coloring.palette[int(graph.coloring.codes[state.vertex])]
        facts: Any = [html.B(f"Vertex {to_text(vertex)}"), f": the true answer is {charts.plain(color)}."]
        if mechanism is None:
            return html.P(facts)
        row = [
            parts.swatch(hue, f"{output} {parts.percent(float(share))}")
            for hue, output, share in zip(
                theme.colors(graph.outputs), graph.outputs, mechanism.table[state.vertex], strict=True
            )
        ]
        return [html.P(facts), html.Div(row, className="legend")]
    if state.edge is not None and state.edge < len(graph.indices) // 2:
        u, v = graph.edges[state.edge]
        said: Any = [html.B(f"Edge {to_text(u)} – {to_text(v)}"), f": ε = {edge_epsilon(state, solution.scene)}."]
        return html.P(said)
    return html.P("Click a vertex or an edge, or choose one from the lists.", className="hint")


def edge_epsilon(state: DesignState, scene: Scene) -> str:
    """The ε of the edge that is looked at, as it was written."""
    if state.edge is None or state.edge >= len(scene.graph.indices) // 2:
        return state.epsilon
    if state.file_budgets and scene.stated is not None:
        entry = int(np.flatnonzero(scene.graph.edge_ids == state.edge)[0])
        pair: Any = Budget(scene.graph, scene.privacy).at_entry(entry)
        return f"{getattr(pair, 'epsilon', float('nan')):.6g}"
    return state.budgets.get(state.edge, state.epsilon)


def vertex_options(scene: Scene) -> list[dict[str, str]]:
    """The vertices to choose from; for very large graphs the first ones."""
    names = scene.graph.vertices[: min(len(scene.graph), MOST_NAMED)]
    return [{"value": str(at), "label": to_text(vertex)} for at, vertex in enumerate(names)]


def edge_options(scene: Scene) -> list[dict[str, str]]:
    """The edges to choose from; for very large graphs the first ones."""
    edges = scene.graph.edges[:MOST_NAMED]
    return [{"value": str(at), "label": f"{to_text(u)} – {to_text(v)}"} for at, (u, v) in enumerate(edges)]
