"""What a click or a slider does to the settings of the Design page: settings in, settings out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.privacy import Privacy
from tinct.studio.design.solving import scene_of, solve, starting_values
from tinct.studio.design.state import CLICKS, MODES, DesignState, one_of, position, share, start_of, text
from tinct.studio.families import FILE, checked_numbers, family_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.studio.design.solving import Scene
    from tinct.studio.families import GraphFiles
    from tinct.studio.uploads import Uploads


def happened(state: DesignState, event: str, value: Any, files: GraphFiles, uploads: Uploads) -> DesignState:
    """The settings after an event. A value that makes no sense is a TinctError, and the settings stay as they were."""
    if event == "upload":
        return _uploaded(state, value, files, uploads)
    if event in _PLAIN:
        return _PLAIN[event](state, value)
    if event not in _ON_SCENE:
        raise ParameterError(f"the page knows no event {event!r:.40}")
    return _ON_SCENE[event](state, value, scene_of(state, files))


def _family(state: DesignState, value: Any) -> DesignState:
    if value == FILE:
        raise ParameterError("choose a file with a graph: .json, .csv, .tsv or .graphml")
    family_of("design", text(value))
    kept: dict[str, Any] = {"epsilon": state.epsilon, "delta": state.delta, "click": state.click}
    return DesignState(family=value, numbers=start_of(value), **kept)


def _numbers(state: DesignState, value: Any) -> DesignState:
    numbers = checked_numbers(family_of("design", state.family), list(value))
    return replace(cleared(state), numbers=numbers)


def cleared(state: DesignState) -> DesignState:
    """The same graph as at first: nothing fixed, recoloured or looked at."""
    mode = "balanced" if state.mode == "fixed" else state.mode
    return replace(state, mode=mode, fixed={}, colors={}, budgets={}, first=None, vertex=None, edge=None)


def _epsilon(state: DesignState, value: Any) -> DesignState:
    Privacy(text(value), state.delta)
    return replace(state, epsilon=value, file_budgets=False)


def _delta(state: DesignState, value: Any) -> DesignState:
    Privacy(state.epsilon, text(value))
    return replace(state, delta=value, file_budgets=False)


def _uploaded(state: DesignState, value: Any, files: GraphFiles, uploads: Uploads) -> DesignState:
    contents, name = value
    upload = uploads.add(contents, name)
    stated = files.read(upload.digest).privacy  # read now, so that a bad file leaves the page as it was
    kept: dict[str, Any] = {"epsilon": state.epsilon, "delta": state.delta, "click": state.click}
    return DesignState(
        family=FILE, numbers=(), upload=upload.digest, name=upload.name, file_budgets=stated is not None, **kept
    )


def _mode(state: DesignState, value: Any, scene: Scene) -> DesignState:
    mode = one_of(value, MODES)
    if mode != "balanced" and scene.has_orders:
        raise ParameterError("with three answers, boundary rows are set on the Rainbow page")
    if mode == "fixed" and not state.fixed:
        return replace(state, mode=mode, fixed=starting_values(scene))
    return replace(state, mode=mode)


def _tap(state: DesignState, value: Any, scene: Scene) -> DesignState:
    state = _vertex(state, value, scene)
    if state.click == "color":
        return _recolor(state, None, scene)
    return _fix(state, scene) if state.click == "fix" else state


def _vertex(state: DesignState, value: Any, scene: Scene) -> DesignState:
    at = position(value)
    if at >= len(scene.graph):
        raise ParameterError("this vertex is not in the graph")
    return replace(state, vertex=at, edge=None)


def _fix(state: DesignState, scene: Scene) -> DesignState:
    """Fix a vertex where it is now."""
    state = _mode(state, "fixed", scene)
    if state.vertex is None or state.vertex in state.fixed:
        return state
    mechanism = solve(state, scene).mechanism
    now = 0.5 if mechanism is None else round(float(mechanism.table[state.vertex, 0]), 3)
    return replace(state, fixed={**state.fixed, state.vertex: now})


def _value(state: DesignState, value: Any, scene: Scene) -> DesignState:
    if state.vertex is None:
        raise ParameterError("choose a vertex first")
    state = _mode(state, "fixed", scene)
    return replace(state, fixed={**state.fixed, state.vertex: share(value)})  # type: ignore[dict-item] # chosen above


def _free(state: DesignState, _: Any) -> DesignState:
    return replace(state, fixed={at: value for at, value in state.fixed.items() if at != state.vertex})


def _recolor(state: DesignState, _: Any, scene: Scene) -> DesignState:
    if state.vertex is None:
        raise ParameterError("choose a vertex first")
    codes, palette = scene.graph.coloring.codes, scene.graph.coloring.palette
    wanted = (int(codes[state.vertex]) + 1) % len(palette)
    others = {at: code for at, code in state.colors.items() if at != state.vertex}
    same = wanted == int(scene.base.coloring.codes[state.vertex])
    return replace(state, colors=others if same else {**others, state.vertex: wanted})


def _edge(state: DesignState, value: Any, scene: Scene) -> DesignState:
    number = position(value)
    if number >= len(scene.graph.indices) // 2:
        raise ParameterError("this edge is not in the graph")
    return replace(state, edge=number, vertex=None)


def _edge_epsilon(state: DesignState, value: Any) -> DesignState:
    if state.edge is None:
        raise ParameterError("choose an edge first")
    if state.file_budgets:
        raise ParameterError("the edges have the budgets of the file: choose one ε for all before changing one of them")
    Privacy(text(value), state.delta)
    return replace(state, budgets={**state.budgets, state.edge: value})


def _edge_same(state: DesignState, _: Any) -> DesignState:
    return replace(state, budgets={at: own for at, own in state.budgets.items() if at != state.edge})


def _first(state: DesignState, value: Any, scene: Scene) -> DesignState:
    return replace(_mode(state, "frontier", scene), first=share(value))


_PLAIN: dict[str, Callable[[DesignState, Any], DesignState]] = {
    "family": _family,
    "numbers": _numbers,
    "epsilon": _epsilon,
    "delta": _delta,
    "click": lambda state, value: replace(state, click=one_of(value, CLICKS)),
    "free": _free,
    "edge-epsilon": _edge_epsilon,
    "edge-same": _edge_same,
    "file-budgets": lambda state, value: replace(state, file_budgets=bool(value)),
    "reset": lambda state, _: cleared(state),
}
_ON_SCENE: dict[str, Callable[[DesignState, Any, Scene], DesignState]] = {
    "mode": _mode,
    "tap": _tap,
    "vertex": _vertex,
    "value": _value,
    "fix": lambda state, _, scene: _fix(state, scene),
    "recolor": _recolor,
    "tap-edge": _edge,
    "edge": _edge,
    "first": _first,
}
