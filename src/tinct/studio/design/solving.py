"""From the settings of the Design page to the mechanism, or to the reason why there is none; all by the library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import tinct
from tinct import baselines, rainbow
from tinct.errors import NotExtendable, ParameterError, TinctError
from tinct.graphs.boundary import smallest_hitting_set
from tinct.privacy import Privacy

if TYPE_CHECKING:
    from tinct.binary import Frontier
    from tinct.graphs import DatasetGraph
    from tinct.mechanism import Mechanism
    from tinct.studio.design.state import DesignState
    from tinct.studio.families import GraphFiles


@dataclass(frozen=True)
class Scene:
    """The graph of a page with its budgets, before anything is designed."""

    graph: DatasetGraph
    base: DatasetGraph  # before vertices were given other colours: it has the same places
    shape: str
    privacy: Any
    stated: Any = None  # the budgets that the file states, if any
    from_mechanism: bool = False  # whether the file is a mechanism rather than a graph

    @property
    def has_orders(self) -> bool:
        """Whether the colours are orders of preference."""
        return self.graph.coloring.has_orders


@dataclass(frozen=True)
class Solution:
    """A designed mechanism, or the sentence that says why there is none and the path that shows it."""

    scene: Scene
    mechanism: Mechanism | None
    refusal: str = ""
    path: tuple[int, ...] = ()
    frontier: Frontier | None = None
    point: tuple[float, float] | None = None


def scene_of(state: DesignState, files: GraphFiles) -> Scene:
    """The graph that the settings describe, and the budgets along its edges."""
    found = state.graph.read("design", files)
    base, shape, stated = found.graph, state.graph.shape("design"), found.privacy
    from_mechanism = state.upload is not None and files.is_mechanism(state.upload)
    graph = recolored(base, tuple(sorted(state.colors.items())))
    privacy = stated if state.file_budgets and stated is not None else _privacy(state, graph)
    return Scene(graph, base, shape, privacy, stated, from_mechanism)


@lru_cache(maxsize=32)
def recolored(base: DatasetGraph, changes: tuple[tuple[int, int], ...]) -> DatasetGraph:
    """The same graph with other colours for some vertices; a change to a vertex that is not there is dropped."""
    palette = base.coloring.palette
    changed = {base.vertices[at]: palette[code] for at, code in changes if at < len(base) and code < len(palette)}
    return base.recolored({**base.colors, **changed}, outputs=base.outputs) if changed else base


def _privacy(state: DesignState, graph: DatasetGraph) -> Any:
    everywhere = Privacy(state.epsilon, state.delta)
    own = {number: epsilon for number, epsilon in state.budgets.items() if number < len(graph.indices) // 2}
    if not own:
        return everywhere
    pairs: dict[Any, Privacy] = dict.fromkeys(graph.edges, everywhere)
    for number, epsilon in own.items():
        pairs[graph.edges[number]] = Privacy(epsilon, state.delta)
    return pairs


def solve(state: DesignState, scene: Scene) -> Solution:
    """Design the mechanism that the settings ask for."""
    try:
        if scene.has_orders:
            return Solution(scene, _with_orders(scene))
        if state.mode == "fixed":
            values = fixed_values(state, scene)
            return Solution(scene, tinct.extend(scene.graph, scene.privacy, values))
        if state.mode == "frontier":
            return _on_frontier(state, scene)
        return Solution(scene, tinct.balanced(scene.graph, scene.privacy))
    except NotExtendable as error:
        return Solution(scene, None, str(error), _path_of(error.witness, scene.graph))
    except TinctError as error:
        return Solution(scene, None, str(error))


def _path_of(witness: Any, graph: DatasetGraph) -> tuple[int, ...]:
    """The vertices that a witness points at; a witness about whole boundaries points at none."""
    vertices: Any = getattr(witness, "path", ()) or getattr(witness, "edge", ())
    try:
        return tuple(graph.position(vertex) for vertex in vertices)
    except ParameterError:  # an edge between two orders
        return ()


def fixed_values(state: DesignState, scene: Scene) -> dict[Any, float]:
    """The fixed vertices with their values."""
    return {scene.graph.vertices[at]: value for at, value in state.fixed.items() if at < len(scene.graph)}


def starting_values(scene: Scene) -> dict[int, float]:
    """Values to begin with: those of the balanced mechanism on a smallest set that meets every boundary edge."""
    mechanism = tinct.balanced(scene.graph, scene.privacy)
    first = scene.graph.outputs[0]
    chosen = {scene.graph.position(vertex): vertex for vertex in smallest_hitting_set(scene.graph)}
    # few enough digits to read: cut towards the middle, which keeps them extendable
    return {at: 0.5 + int((mechanism.probability(vertex, first) - 0.5) * 1000) / 1000 for at, vertex in chosen.items()}


def _with_orders(scene: Scene) -> Mechanism:
    least = baselines.smallest_budget(scene.graph, scene.privacy)
    if least is None:
        raise ParameterError("orders of preference need (ε, δ) budgets on all edges")
    return rainbow.extend(scene.graph, scene.privacy, rainbow.balanced_boundary(scene.graph, least))


def _on_frontier(state: DesignState, scene: Scene) -> Solution:
    curve = tinct.frontier(scene.graph, scene.privacy)
    first, second = curve.balanced
    if state.first is not None:
        first, second = state.first, float(curve.second(state.first))
    mechanism = tinct.homogeneous(scene.graph, scene.privacy, first, second)
    return Solution(scene, mechanism, frontier=curve, point=(first, second))
