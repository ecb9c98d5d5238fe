"""Graphs and privacy as JSON values, for every file that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import reading
from tinct._files._strict_json import _shown, require_fields, require_list, require_number, require_whole
from tinct.errors import FileError, ParameterError
from tinct.graphs.budgets import EdgeClasses, EdgePrivacy
from tinct.graphs.formats.graph_parts import GraphFile, Parts, along_edges, delta_text, epsilon_text, exact_privacy
from tinct.graphs.labels import hashable, plain
from tinct.privacy import GaussianDP, Privacy, SuitablePair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct._files import FilePath
    from tinct.graphs.budgets import PrivacyLike
    from tinct.graphs.dataset import DatasetGraph


# writing


def graph_fields(graph: DatasetGraph) -> dict[str, Any]:
    """A graph as the fields of a JSON object."""
    palette = [plain(color) for color in graph.coloring.palette]
    fields: dict[str, Any] = {"outputs": [plain(output) for output in graph.outputs]}
    vertices = graph.vertices
    if isinstance(vertices, range) and vertices.step == 1:
        if vertices.start:
            fields["vertices"] = {"start": vertices.start, "count": len(vertices)}
    elif hasattr(vertices, "rows"):
        fields["vertices"] = vertices.rows.tolist()
    else:
        fields["vertices"] = [plain(vertex) for vertex in vertices]
    fields["colors"] = [palette[code] for code in graph.coloring.codes.tolist()]
    fields["edges"] = graph.ends.tolist()
    return fields


def privacy_field(graph: DatasetGraph, privacy: PrivacyLike | None) -> dict[str, Any] | None:
    """Privacy as a JSON object, or None. A TradeOff is a function, which no file can hold: a ParameterError."""
    form = along_edges(graph, privacy)
    if form is None:
        return None
    if isinstance(form, EdgeClasses):
        return {"classes": [_pair_field(pair) for pair in form.pairs], "numbers": form.numbers.tolist()}
    if isinstance(form, EdgePrivacy):
        return {"epsilon": form.epsilon.tolist(), "delta": form.delta.tolist()}
    return _pair_field(form)


def can_be_written(graph: DatasetGraph, privacy: PrivacyLike | None) -> bool:
    """Whether privacy has a form for files: everything but a function (a TradeOff, or your own pair) has."""
    form = along_edges(graph, privacy)
    pairs = form.pairs if isinstance(form, EdgeClasses) else (form,)
    return not any(isinstance(pair, SuitablePair) and not isinstance(pair, Privacy | GaussianDP) for pair in pairs)


def _pair_field(pair: SuitablePair) -> dict[str, Any]:
    if isinstance(pair, Privacy):
        return {"epsilon": epsilon_text(pair), "delta": delta_text(pair)}
    if isinstance(pair, GaussianDP):
        return {"mu": pair.mu}
    raise ParameterError(f"{type(pair).__name__} cannot be written: it is a function; leave privacy out")


# reading


def read_graph(fields: Any, privacy: object, path: FilePath, what: str, *, disconnected: bool) -> GraphFile:
    """The graph that an object describes, with the privacy that another one states along its edges."""
    require_fields(fields, path, what, required=("colors", "edges"), optional=("outputs", "vertices"))
    colors = _labels(fields["colors"], path, "colors")
    outputs = None if fields.get("outputs") is None else _labels(fields["outputs"], path, "outputs")
    vertices = _vertices(fields.get("vertices"), len(colors), path)
    ends = _ends(fields["edges"], len(vertices), path)
    parts = Parts(path, vertices, colors, ends, "edges[{}]".format, outputs)
    graph = parts.build(disconnected=disconnected)
    return GraphFile(graph, None if privacy is None else _Stated(parts, privacy).read())


def _labels(value: object, path: FilePath, field: str) -> list[Any]:
    items, labels = require_list(value, path, field), []
    try:
        for item in items:
            labels.append(plain(hashable(item)))
    except ParameterError as error:
        raise FileError(f"{field}[{len(labels)}]: {error}", path=path) from None
    return labels


def _vertices(value: object, count: int, path: FilePath) -> Sequence[Any]:
    if count == 0:
        raise FileError("colors is empty: a graph needs at least one vertex", path=path)
    if value is None:
        return range(count)
    if isinstance(value, dict):
        require_fields(value, path, "vertices", required=("start", "count"))
        start, stated = (
            require_whole(value["start"], path, "vertices.start"),
            require_whole(value["count"], path, "vertices.count"),
        )
        vertices: Sequence[Any] = range(start, start + max(stated, 0))
    else:
        vertices = _labels(value, path, "vertices")
        stated = len(vertices)
    if stated != count:
        raise FileError(f"{stated} vertices, but {count} colors: give one color for each vertex", path=path)
    _require_distinct(vertices, path)
    return vertices


def _require_distinct(vertices: Sequence[Any], path: FilePath) -> None:
    if isinstance(vertices, range):
        return
    seen: set[Any] = set()
    for at, vertex in enumerate(vertices):
        if vertex in seen:
            raise FileError(f"vertices[{at}]: {vertex!r:.80} is listed twice", path=path)
        seen.add(vertex)


def _ends(value: object, count: int, path: FilePath) -> list[list[int]]:
    edges: list[list[int]] = require_list(value, path, "edges")
    for at, edge in enumerate(edges):
        # `type`, not `isinstance`: true is no position
        good = type(edge) is list and len(edge) == 2 and type(edge[0]) is int and type(edge[1]) is int
        if not good or not (0 <= edge[0] < count and 0 <= edge[1] < count):
            raise FileError(
                f"edges[{at}]: expected two positions of vertices from 0 to {count - 1}, got {_shown(edge)}", path=path
            )
    return edges


class _Stated:
    """The privacy a file states for the edges of a graph."""

    def __init__(self, parts: Parts, value: Any) -> None:
        self.parts, self.path, self.value = parts, parts.path, value

    def read(self) -> Privacy | GaussianDP | EdgeClasses | EdgePrivacy:
        value = self.value
        if isinstance(value, dict) and "classes" in value:
            return self._classes()
        if isinstance(value, dict) and isinstance(value.get("epsilon"), list):
            return self._arrays()
        return self._pair(value, "privacy")

    def _pair(self, value: Any, field: str) -> Privacy | GaussianDP:
        if isinstance(value, dict) and "mu" in value:
            mu = require_fields(value, self.path, field, required=("mu",))["mu"]
            with reading(self.path, field):
                return GaussianDP(require_number(mu, self.path, f"{field}.mu"))
        require_fields(value, self.path, field, required=("epsilon",), optional=("delta",))
        with reading(self.path, field):
            return exact_privacy(value["epsilon"], value.get("delta", 0))

    def _classes(self) -> EdgeClasses:
        require_fields(self.value, self.path, "privacy", required=("classes", "numbers"))
        listed = require_list(self.value["classes"], self.path, "privacy.classes")
        pairs = [self._pair(item, f"privacy.classes[{at}]") for at, item in enumerate(listed)]
        numbers = self._along(require_list(self.value["numbers"], self.path, "privacy.numbers"), "numbers")
        for at, item in enumerate(numbers):
            if not 0 <= require_whole(item, self.path, f"privacy.numbers[{at}]") < len(pairs):
                raise FileError(f"privacy.numbers[{at}]: there is no class number {_shown(item)}", path=self.path)
        if not pairs:
            raise FileError("privacy.classes is empty: list at least one budget", path=self.path)
        return EdgeClasses(pairs, *self.parts.once(np.array(numbers, np.int64)))

    def _arrays(self) -> EdgePrivacy:
        require_fields(self.value, self.path, "privacy", required=("epsilon",), optional=("delta",))
        columns = []
        for name in ("epsilon", "delta"):
            given = self.value.get(name, 0)
            listed = given if isinstance(given, list) else [given] * len(self.parts.ends)
            numbers = [require_number(item, self.path, f"privacy.{name}[{at}]") for at, item in enumerate(listed)]
            columns.append(np.array(self._along(numbers, name), np.float64))
        with reading(self.path, "privacy"):
            return EdgePrivacy(*self.parts.once(*columns))

    def _along(self, values: list[Any], name: str) -> list[Any]:
        if len(values) != len(self.parts.ends):
            raise FileError(
                f"privacy.{name} has {len(values)} entries for {len(self.parts.ends)} edges", path=self.path
            )
        return values
