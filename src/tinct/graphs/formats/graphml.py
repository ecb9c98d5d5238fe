"""Graphs as GraphML, the format of NetworkX, Gephi and yEd, read without any of them.

Nodes carry their colour under the key ``color``, edges their budget under ``epsilon`` and ``delta``, and the graph
may list its answers in order under ``outputs``. Other keys are left alone. A document type is refused before
parsing: entities are how a small XML file grows into a large one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np

from tinct._files import number, read_text, reading, strict_json, write_atomically
from tinct.errors import FileError, ParameterError
from tinct.graphs.formats.graph_parts import BudgetColumn, GraphFile, Parts, budget_cells
from tinct.graphs.labels import cells, hashable, label_from_cell, plain, to_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct._files import FilePath
    from tinct.graphs.budgets import PrivacyLike
    from tinct.graphs.dataset import DatasetGraph

_DECLARATION = re.compile(r"<!(?!--|\[CDATA\[)")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WHOLE = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_MAX_LONG = 2**63


# reading


@dataclass
class _Key:
    domain: str
    name: str
    kind: str
    default: str | None = None


@dataclass(slots=True)
class _Item:
    """A node, an edge or the graph itself: where it stands and what it says."""

    line: int
    attributes: dict[str, str]
    data: dict[str, str] = field(default_factory=dict)


def read_graphml(path: FilePath, *, disconnected: bool) -> GraphFile:
    """The graph of a GraphML file."""
    document = _Document(path)
    document.parse(read_text(path))
    vertices = _vertices(document)
    colors = [document.color(item) for item in document.nodes]
    ends, lines = _ends(document, vertices), [item.line for item in document.edges]
    parts = Parts(path, list(vertices), colors, ends, lambda at: f"line {lines[at]}", _outputs(document, colors))
    graph = parts.build(disconnected=disconnected)
    budgets = _budgets(document)
    if budgets is None:
        return GraphFile(graph)
    (numbers,) = parts.once(np.array(budgets.numbers, np.int64))
    return GraphFile(graph, budgets.along(numbers))


class _Document:
    """The nodes, edges and keys of a GraphML text."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.keys: dict[str, _Key] = {}
        self.nodes: list[_Item] = []
        self.edges: list[_Item] = []
        self.graph: _Item | None = None
        self._open: list[str] = []
        self._owner: _Item | None = None
        self._key = ""
        self._text: list[str] = []
        self._found: dict[tuple[str, str], list[str]] = {}
        self._labels: dict[str, Any] = {}

    def parse(self, text: str) -> None:
        if not text.strip():
            raise FileError("the file is empty", path=self.path)
        declared = _DECLARATION.search(text)
        if declared:
            line = text.count("\n", 0, declared.start()) + 1
            raise FileError(f"line {line}: a document type or entity is not read: remove the <!…> line", path=self.path)
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append
        try:
            self._parser.Parse(text, True)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise FileError(
                f"line {error.lineno}: not XML: {what} (column {error.offset + 1})", path=self.path
            ) from None
        if self.graph is None:
            raise FileError("there is no <graph> in this file", path=self.path)

    def fail(self, line: int, problem: str) -> FileError:
        return FileError(f"line {line}: {problem}", path=self.path)

    # the parser calls these

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        above = self._open[-1] if self._open else None
        self._open.append(tag)
        if tag == "data":
            self._start_data(above, attributes)
        elif tag in ("node", "edge"):
            if above != "graph":
                raise self.fail(self._line, f"a <{tag}> must stand directly in the <graph>")
            self._owner = _Item(self._line, attributes)
            (self.nodes if tag == "node" else self.edges).append(self._owner)
        elif tag == "graph":
            self._start_graph(attributes)
        elif tag == "key" and above == "graphml":
            self._start_key(attributes)
        elif tag == "default":
            self._text.clear()
        elif tag == "hyperedge":
            raise self.fail(self._line, "an edge must join two vertices: hyperedges are not read")
        if above is None and tag != "graphml":
            raise self.fail(self._line, f"expected <graphml>, got <{tag[:80]}>")

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _start_key(self, attributes: dict[str, str]) -> None:
        self._key = attributes.get("id", "")
        if self._key in self.keys:
            raise self.fail(self._line, f"key {self._key!r:.80} is declared twice")
        kind = attributes.get("attr.type", "string")
        self.keys[self._key] = _Key(attributes.get("for", "all"), attributes.get("attr.name", self._key), kind)

    def _start_graph(self, attributes: dict[str, str]) -> None:
        if self.graph is not None:
            raise self.fail(self._line, "a second <graph>: one file holds one graph")
        if attributes.get("edgedefault") == "directed":
            raise self.fail(self._line, "the graph is directed, but neighbours are mutual: save it as undirected")
        self.graph = self._owner = _Item(self._line, attributes)

    def _start_data(self, above: str | None, attributes: dict[str, str]) -> None:
        self._text.clear()
        if above in ("graph", "node", "edge"):
            self._key = attributes.get("key", "")
            if self._key not in self.keys:
                raise self.fail(self._line, f"key {self._key!r:.80} is not declared")

    def _end(self, name: str) -> None:
        del name
        tag = self._open.pop()
        above = self._open[-1] if self._open else None
        if tag == "default" and self._open == ["graphml", "key"]:
            self.keys[self._key].default = "".join(self._text).strip()
        elif tag == "data" and self._owner is not None and above in ("graph", "node", "edge"):
            self._owner.data[self._key] = "".join(self._text).strip()
        elif tag in ("node", "edge"):
            self._owner = self.graph

    # what the data mean

    def value(self, item: _Item, domain: str, name: str) -> tuple[str, str] | None:
        """Text and type of an attribute of a node, an edge or the graph."""
        for identity in self._keys_named(domain, name):
            key = self.keys[identity]
            text = item.data.get(identity, key.default)
            if text is not None:
                return text, key.kind
        return None

    def _keys_named(self, domain: str, name: str) -> list[str]:
        if (domain, name) not in self._found:  # looked up once: a file may declare very many keys
            self._found[domain, name] = [
                identity for identity, key in self.keys.items() if key.name == name and key.domain in (domain, "all")
            ]
        return self._found[domain, name]

    def color(self, node: _Item) -> Any:
        """The colour of a node."""
        found = self.value(node, "node", "color")
        if not found or not found[0]:
            raise self.fail(
                node.line, f"node {node.attributes['id']!r:.80} has no color: give it <data> for a key named color"
            )
        try:
            return _typed(*found)
        except ParameterError as error:
            raise self.fail(node.line, str(error)) from None

    def label(self, item: _Item, name: str) -> Any:
        """The vertex that a node or the end of an edge names; most names come several times."""
        if name not in self._labels:
            with reading(self.path, f"line {item.line}"):
                self._labels[name] = label_from_cell(name)
        return self._labels[name]


def _typed(text: str, kind: str) -> Any:
    """A value by the type its key declares; text that is a JSON list is an order of preference."""
    if kind in ("int", "long"):
        if not _WHOLE.fullmatch(text):
            raise ParameterError(f"expected a whole number, got {text!r:.80}")
        return int(text)
    if kind in ("float", "double"):
        return number(text)
    if kind == "boolean":
        if text.lower() not in _TRUTH:
            raise ParameterError(f"expected true or false, got {text!r:.80}")
        return _TRUTH[text.lower()]
    return label_from_cell(text) if text.startswith("[") else text


def _vertices(document: _Document) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for item in document.nodes:
        name = item.attributes.get("id")
        if not name:
            raise document.fail(item.line, "a node needs an id")
        vertex = document.label(item, name)
        if vertex in found:
            raise document.fail(item.line, f"node {name!r:.80} is given twice")
        found[vertex] = len(found)
    if not found:
        raise FileError("there are no nodes in this graph", path=document.path)
    return found


def _ends(document: _Document, vertices: dict[Any, int]) -> list[tuple[int, int]]:
    ends = []
    for item in document.edges:
        if item.attributes.get("directed") == "true":
            raise document.fail(item.line, "this edge is directed, but neighbours are mutual: save it as undirected")
        ends.append((_end(document, item, "source", vertices), _end(document, item, "target", vertices)))
    return ends


def _end(document: _Document, item: _Item, side: str, vertices: dict[Any, int]) -> int:
    name = item.attributes.get(side)
    if not name:
        raise document.fail(item.line, f"an edge needs a {side}")
    vertex = document.label(item, name)
    if vertex not in vertices:
        raise document.fail(item.line, f"the {side} {name!r:.80} of this edge is not a node")
    return vertices[vertex]


def _outputs(document: _Document, colors: Sequence[Any]) -> list[Any] | None:
    found = document.value(document.graph, "graph", "outputs") if document.graph else None
    if found is None:
        return None
    listed = strict_json(found[0], document.path)
    if not isinstance(listed, list):
        raise FileError(f"outputs must be a JSON list, got {found[0]!r:.80}", path=document.path)
    with reading(document.path, "outputs"):
        outputs = [plain(hashable(item)) for item in listed]
    # a color that was written as text is text now, unless it is an order, which keeps the types within
    texts = all(isinstance(color, str) for color in colors)
    return [to_text(output) for output in outputs] if texts else outputs


def _budgets(document: _Document) -> BudgetColumn | None:
    epsilons = [document.value(item, "edge", "epsilon") for item in document.edges]
    if not any(epsilons):
        bare = next((item for item in document.edges if document.value(item, "edge", "delta")), None)
        if bare is not None:
            raise document.fail(bare.line, "this edge has a delta but no epsilon")
        return None
    budgets = BudgetColumn()
    for item, epsilon in zip(document.edges, epsilons, strict=True):
        delta = document.value(item, "edge", "delta")
        if epsilon is None:
            raise document.fail(item.line, "this edge has no epsilon, but others do: give one to all or to none")
        try:
            budgets.add(epsilon[0], delta[0] if delta else "0")
        except ParameterError as error:
            raise document.fail(item.line, str(error)) from None
    return budgets


# writing


def write_graphml(graph: DatasetGraph, path: FilePath, privacy: PrivacyLike | None = None) -> None:
    """Write a graph as GraphML that NetworkX can read too."""
    names = [_escaped(text) for text in cells(graph.vertices, "vertex")]
    kind, palette = _colors(graph)
    budgets = budget_cells(graph, privacy)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [_key("outputs", "graph", "string"), _key("color", "node", kind)]
    lines += [] if budgets is None else [_key("epsilon", "edge", "string"), _key("delta", "edge", "string")]
    lines += [
        '<graph edgedefault="undirected">',
        _data("outputs", json.dumps([plain(output) for output in graph.outputs])),
    ]
    for name, code in zip(names, graph.coloring.codes.tolist(), strict=True):
        lines.append(f'<node id="{name}">{_data("color", palette[code])}</node>')
    for at, (u, v) in enumerate(graph.ends.tolist()):
        data = "" if budgets is None else _data("epsilon", budgets[at][0]) + _data("delta", budgets[at][1])
        lines.append(f'<edge source="{names[u]}" target="{names[v]}">{data}</edge>')
    write_atomically(path, "\n".join([*lines, "</graph>", "</graphml>", ""]))


def _colors(graph: DatasetGraph) -> tuple[str, list[str]]:
    """The type of the colours in GraphML's words, and the palette as text."""
    palette = [plain(color) for color in graph.coloring.palette]
    texts = cells(palette, "color")
    if all(isinstance(color, bool) for color in palette):
        return "boolean", [text.lower() for text in texts]
    if all(type(color) is int and abs(color) < _MAX_LONG for color in palette):
        return "long", texts
    if all(isinstance(color, float) for color in palette):
        return "double", texts
    return "string", texts


def _key(name: str, domain: str, kind: str) -> str:
    return f'<key id="{name}" for="{domain}" attr.name="{name}" attr.type="{kind}"/>'


def _data(key: str, text: str) -> str:
    return f'<data key="{key}">{_escaped(text)}</data>'


def _escaped(text: str) -> str:
    if _FORBIDDEN.search(text):
        raise ParameterError(f"label {text!r:.80} has a character that XML cannot hold: write JSON")
    return text.translate(_ESCAPES)
