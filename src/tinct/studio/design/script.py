"""The Python lines that do what the Design page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct.privacy import Privacy
from tinct.studio.design.solving import fixed_values
from tinct.studio.families import FAMILIES, FILE, python_of

if TYPE_CHECKING:
    from tinct.studio.design.solving import Scene, Solution
    from tinct.studio.design.state import DesignState


def python_lines(state: DesignState, solution: Solution) -> str:
    """A script that designs the same mechanism and prints its truths; a file is read from the working folder."""
    scene = solution.scene
    lines = ["import tinct", "from tinct import Privacy, graphs", ""]
    lines += _graph_lines(state, scene)
    lines += _privacy_lines(state, scene)
    lines += _design_lines(state, solution)
    return "\n".join([*lines, "print(mechanism.truth())", ""])


def _graph_lines(state: DesignState, scene: Scene) -> list[str]:
    if state.family == FILE and state.name.endswith(".json") and scene.from_mechanism:
        lines = [f"found = tinct.Mechanism.from_json({state.name!r})", "graph = found.graph"]
    elif state.family == FILE:
        lines = [f"found = graphs.read({state.name!r})", "graph = found.graph"]
    else:
        lines = [f"graph = {python_of(FAMILIES[state.family], state.numbers)}"]
    changed = {
        scene.graph.vertices[at]: scene.graph.coloring.palette[code]
        for at, code in state.colors.items()
        if at < len(scene.graph)
    }
    if changed:
        lines.append(f"graph = graph.recolored({{**graph.colors, **{changed!r}}}, outputs=graph.outputs)")
    return lines


def _privacy_lines(state: DesignState, scene: Scene) -> list[str]:
    if state.file_budgets and scene.stated is not None:
        return ["privacy = found.privacy"]
    everywhere = f"Privacy({state.epsilon!r}, {state.delta!r})"
    own = {number: epsilon for number, epsilon in state.budgets.items() if number < len(scene.graph.indices) // 2}
    if not own:
        return [f"privacy = {everywhere}"]
    lines = [f"privacy = dict.fromkeys(graph.edges, {everywhere})"]
    lines += [
        f"privacy[graph.edges[{number}]] = Privacy({epsilon!r}, {state.delta!r})  # {scene.graph.edges[number]!r}"
        for number, epsilon in own.items()
    ]
    return lines


def _design_lines(state: DesignState, solution: Solution) -> list[str]:
    if solution.scene.has_orders:
        one = isinstance(solution.scene.privacy, Privacy)
        least = (
            []
            if one
            else [
                "budgets = graphs.Budget(graph, privacy).distinct()",
                "least = Privacy(min(pair.epsilon for pair in budgets), min(pair.delta for pair in budgets))",
            ]
        )
        return [
            *least,
            f"boundary = tinct.rainbow.balanced_boundary(graph, {'privacy' if one else 'least'})",
            "mechanism = tinct.rainbow.extend(graph, privacy, boundary)",
        ]
    if state.mode == "fixed":
        return [f"mechanism = tinct.extend(graph, privacy, {fixed_values(state, solution.scene)!r})"]
    if state.mode == "frontier" and state.first is not None:
        return [
            f"first = {state.first!r}",
            "second = float(tinct.frontier(graph, privacy).second(first))",
            "mechanism = tinct.homogeneous(graph, privacy, first, second)",
        ]
    return ["mechanism = tinct.balanced(graph, privacy)"]
