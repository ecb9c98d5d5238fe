"""What the Verify page shows for a verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dash import html

from tinct.privacy import GaussianDP, Privacy
from tinct.studio import charts, drawing
from tinct.studio.placing import placed
from tinct.studio.verify.state import KIND

if TYPE_CHECKING:
    from tinct.studio.palette import Theme
    from tinct.studio.verify.checking import Checked
    from tinct.studio.verify.state import VerifyState
    from tinct.studio.workshop import Workshop


def described(privacy: Any) -> str:
    """A budget in a few words."""
    if isinstance(privacy, Privacy):
        return f"ε = {privacy.epsilon:.6g}" + (f", δ = {privacy.delta:.6g}" if privacy.delta else "")
    if isinstance(privacy, GaussianDP):
        return f"μ = {privacy.mu:.6g} (Gaussian)"
    return "the budgets that the file states for its edges"


def verdict_of(found: Checked | None) -> Any:
    """The verdict, the least budgets, and the worst edge, in words."""
    if found is None:
        return html.P("Drop a mechanism (.json) or a table (.csv, .tsv) to check it on every edge.", className="lead")
    verdict = found.verdict
    kind = "good" if verdict.private else "bad"
    word = "Private" if verdict.private else "Not private"
    least = f"{verdict.epsilon:.6g}" if math.isfinite(verdict.epsilon) else "∞"
    return [
        html.P(f"{word} for {described(found.privacy)}", className=f"verdict {kind}"),
        html.Div(
            [
                _figure(least, "least ε at this δ"),
                _figure(f"{verdict.delta:.3g}", "least δ at this ε"),
                _figure(f"{len(found.graph):,}", "datasets"),
                _figure(f"{len(found.graph.indices) // 2:,}", "edges, both ways"),
            ],
            className="figures",
        ),
        html.P([html.B("Worst edge: "), str(verdict.witness)]) if verdict.witness is not None else [],
        html.P(f"A check in floating point; rounding of {verdict.tolerance:g} is forgiven.", className="hint"),
    ]


def _figure(number: str, name: str) -> Any:
    return html.Div([html.B(number), html.Span(name)])


def profile_chart(found: Checked | None, theme: Theme) -> dict[str, Any]:
    """The least δ for every ε, and the budget it was held against."""
    if found is None:
        return charts.empty(theme, "no table yet")
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": found.epsilons,
        "y": found.deltas,
        "name": "least δ",
        "line": {"color": theme.hues["blue"], "width": 3},
        "fill": "tozeroy",
        "fillcolor": f"{theme.hues['blue']}22",
        "hovertemplate": "δ = %{y:.4g}",
    }
    marks = []
    if isinstance(found.privacy, Privacy):
        place = (found.privacy.epsilon, found.privacy.delta)
        marks.append(charts.dot(place, "the promise", theme.hues["red"], "circle", 12))
    return charts.chart([curve, *marks], theme, "ε", "least δ", yaxis={"rangemode": "tozero"})


def picture(state: VerifyState, found: Checked | None) -> list[dict[str, Any]]:
    """The graph with its pies and the worst edge lit up; nothing for large graphs."""
    if found is None or len(found.graph) > drawing.MOST_DRAWN:
        return []
    witness = found.verdict.witness
    worst = () if witness is None else tuple(found.graph.position(vertex) for vertex in witness.edge)
    own = state.name.endswith(".json")
    shape = "springs" if own else state.graph.shape(KIND)
    shape = "line" if _is_row(found) else shape
    return drawing.elements(found.graph, placed(found.graph, shape), found.table, drawing.Marks(path=worst))


def _is_row(found: Checked) -> bool:
    """Whether the vertices are a row in their own order."""
    ends = found.graph.ends
    return len(ends) == len(found.graph) - 1 and bool((abs(ends[:, 0] - ends[:, 1]) == 1).all())


def python_lines(state: VerifyState, found: Checked | None, workshop: Workshop) -> str:
    """A script that checks the same table against the same budget."""
    lines = ["import tinct", "from tinct import Privacy, graphs", ""]
    if found is None:
        return "\n".join([*lines, "# drop in a table first", ""])
    own = state.stated and found.stated is not None
    budget = f"Privacy({state.epsilon!r}, {state.delta!r})"
    if state.name.endswith(".json"):
        lines += [f"mechanism = tinct.Mechanism.from_json({state.name!r})", "graph = mechanism.graph"]
        lines += [f"privacy = {'mechanism.privacy' if own else budget}"]
    else:
        made = state.graph.python(KIND, workshop.files)
        lines += ["from tinct.mechanism.table_files import read_table", "", made]
        lines += [f"mechanism = read_table({state.name!r}, graph)"]
        lines += [f"privacy = {f'graphs.read({state.graph.name!r}).privacy' if own else budget}"]
    lines += ["verdict = tinct.verify(mechanism, graph, privacy)", "print(verdict.private, verdict.epsilon)"]
    lines += ["print(verdict.witness)", f"deltas = verdict.profile({found.epsilons[::10]!r})", ""]
    return "\n".join(lines)


def document(found: Checked) -> dict[str, Any]:
    """The verdict as JSON."""
    verdict, witness = found.verdict, found.verdict.witness
    return {
        "schema": "tinct/verdict@1",
        "private": verdict.private,
        "privacy": described(found.privacy),
        "least_epsilon": verdict.epsilon if math.isfinite(verdict.epsilon) else "infinite",
        "least_delta": verdict.delta,
        "tolerance": verdict.tolerance,
        "witness": None if witness is None else str(witness),
        "profile": [
            {"epsilon": epsilon, "delta": delta} for epsilon, delta in zip(found.epsilons, found.deltas, strict=True)
        ],
    }
