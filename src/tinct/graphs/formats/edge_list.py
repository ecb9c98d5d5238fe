"""Graphs as edge lists in CSV and TSV.

One line per edge under the header ``source,target,source_color,target_color`` with ``epsilon`` and ``delta`` if the
edges have budgets. Vertices come in the order in which the edges name them, and so do the answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import read_sheet, write_sheet
from tinct.errors import FileError, ParameterError
from tinct.graphs.formats.graph_parts import BudgetColumn, GraphFile, Parts, budget_cells
from tinct.graphs.labels import cells, label_from_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct._files import FilePath
    from tinct.graphs.budgets import PrivacyLike
    from tinct.graphs.dataset import DatasetGraph

_REQUIRED = ("source", "target", "source_color", "target_color")
_OPTIONAL = ("epsilon", "delta")


def read_edge_list(path: FilePath, *, disconnected: bool) -> GraphFile:
    """The graph of a CSV or TSV edge list."""
    header, rows = read_sheet(path)
    at = _columns(header, path)
    found = _EdgeList()
    budgets = BudgetColumn() if "epsilon" in at else None
    line = 0
    try:
        for line, row in rows:
            found.add(line, *(row[at[name]] for name in _REQUIRED))
            if budgets is not None:
                budgets.add(row[at["epsilon"]], row[at["delta"]] if "delta" in at else "0")
    except ParameterError as error:
        raise FileError(f"line {line}: {error}", path=path) from None
    if not found.ends:
        raise FileError("the file has a header but no edges", path=path)
    parts = Parts(path, list(found.colors), list(found.colors.values()), found.ends, found.where)
    graph = parts.build(disconnected=disconnected)
    if budgets is None:
        return GraphFile(graph)
    (numbers,) = parts.once(np.array(budgets.numbers, np.int64))
    return GraphFile(graph, budgets.along(numbers))


def require_columns(
    header: Sequence[str], path: FilePath, required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, int]:
    """Where each column is, if all required ones are there and no other than the optional ones."""
    known = ", ".join([*required, *optional])
    for at, name in enumerate(header):
        if name not in required and name not in optional:
            raise FileError(f"header: unknown column {name!r:.80}; known columns are {known}", path=path)
        if name in header[:at]:
            raise FileError(f"header: column {name!r} is named twice", path=path)
    missing = next((name for name in required if name not in header), None)
    if missing is not None:
        raise FileError(f"header: column {missing!r} is missing; known columns are {known}", path=path)
    return {name: at for at, name in enumerate(header)}


def _columns(header: Sequence[str], path: FilePath) -> dict[str, int]:
    at = require_columns(header, path, _REQUIRED, _OPTIONAL)
    if "delta" in at and "epsilon" not in at:
        raise FileError("header: column 'delta' needs a column 'epsilon' beside it", path=path)
    return at


class _EdgeList:
    """Edges line by line; every vertex keeps the colour of its first line."""

    def __init__(self) -> None:
        self.colors: dict[Any, Any] = {}
        self.ends: list[tuple[int, int]] = []
        self._lines: list[int] = []
        self._positions: dict[Any, int] = {}
        self._first_lines: list[int] = []
        self._labels: dict[str, Any] = {}

    def where(self, number: int) -> str:
        return f"line {self._lines[number]}"

    def add(self, line: int, source: str, target: str, source_color: str, target_color: str) -> None:
        self.ends.append((self._vertex(source, source_color, line), self._vertex(target, target_color, line)))
        self._lines.append(line)

    def _vertex(self, text: str, color_text: str, line: int) -> int:
        vertex, color = self._label(text), self._label(color_text)
        at = self._positions.setdefault(vertex, len(self._positions))
        if at == len(self._first_lines):
            self._first_lines.append(line)
            self.colors[vertex] = color
        elif self.colors[vertex] != color:
            raise ParameterError(
                f"vertex {vertex!r:.80} has the color {color!r:.80} here, "
                f"but {self.colors[vertex]!r:.80} on line {self._first_lines[at]}"
            )
        return at

    def _label(self, text: str) -> Any:
        if text not in self._labels:
            self._labels[text] = label_from_cell(text)
        return self._labels[text]


def write_edge_list(graph: DatasetGraph, path: FilePath, privacy: PrivacyLike | None = None) -> None:
    """Write a graph as a CSV or TSV edge list; every vertex must be on an edge."""
    lonely = np.flatnonzero(np.diff(graph.indptr) == 0)
    if len(lonely):
        vertex = graph.vertices[int(lonely[0])]
        raise ParameterError(f"vertex {vertex!r:.80} has no neighbours, and an edge list cannot hold it: write JSON")
    names = cells(graph.vertices, "vertex")
    palette = cells(graph.coloring.palette, "color")
    colors = [palette[code] for code in graph.coloring.codes.tolist()]
    budgets = budget_cells(graph, privacy)
    rows = ([names[u], names[v], colors[u], colors[v]] for u, v in graph.ends.tolist())
    if budgets is None:
        write_sheet(path, _REQUIRED, rows)
    else:
        write_sheet(path, _REQUIRED + _OPTIONAL, ([*row, *pair] for row, pair in zip(rows, budgets, strict=True)))
