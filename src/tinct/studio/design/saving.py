"""What the Design page shows, as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.studio.design.script import python_lines
from tinct.studio.design.solving import scene_of, solve
from tinct.studio.design.view import picture
from tinct.studio.downloads import download
from tinct.studio.drawing import MOST_DRAWN, svg
from tinct.studio.uploads import written

if TYPE_CHECKING:
    from tinct.studio.design.state import DesignState
    from tinct.studio.families import GraphFiles


def saved(kind: str, state: DesignState, files: GraphFiles) -> dict[str, Any]:
    """The file of a kind: json, csv, svg or py."""
    solution = solve(state, scene_of(state, files))
    mechanism, graph = solution.mechanism, solution.scene.graph
    if kind == "py":
        return download("design.py", python_lines(state, solution))
    if kind == "svg":
        if len(graph) > MOST_DRAWN:
            raise ParameterError(f"pictures show graphs of up to {MOST_DRAWN} vertices: save the chart instead")
        return download("design.svg", svg(picture(state, solution), graph.outputs))
    if mechanism is None:
        raise ParameterError(solution.refusal)
    if kind == "json":
        return download("mechanism.json", written("mechanism.json", mechanism.to_json))
    if kind == "csv":
        return download("mechanism.csv", written("mechanism.csv", mechanism.to_csv))
    raise ParameterError(f"the page saves json, csv, svg and py, not {kind!r:.40}")
