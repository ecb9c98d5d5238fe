"""Mechanisms in files: everything as JSON, the bare table as CSV or TSV."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import (
    json_text,
    naming,
    number,
    read_sheet,
    read_text,
    strict_json,
    suffix_of,
    write_atomically,
    write_sheet,
)
from tinct._files._strict_json import require_fields, require_schema
from tinct.errors import FileError, ParameterError
from tinct.graphs.formats.graph_json import can_be_written, graph_fields, privacy_field, read_graph
from tinct.graphs.labels import cells, plain, positions_by_text, to_text
from tinct.mechanism.table import ROW_SUM_TOLERANCE, Mechanism, by_smaller, require_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tinct._files import FilePath
    from tinct.graphs import DatasetGraph

SCHEMA = "tinct/mechanism@1"


def write_mechanism(mechanism: Mechanism, path: FilePath) -> None:
    """Write a mechanism with its graph as JSON. Privacy that is a function (TradeOff) is left out."""
    suffix_of(path, (".json",))
    graph, privacy = mechanism.graph, mechanism.privacy
    fields = {
        "schema": SCHEMA,
        "graph": graph_fields(graph),
        "privacy": privacy_field(graph, privacy) if can_be_written(graph, privacy) else None,
        "table": mechanism.table.tolist(),
    }
    write_atomically(path, json_text(fields))


def read_mechanism(path: FilePath) -> Mechanism:
    """Read a mechanism that ``write_mechanism`` wrote; the table is checked, nothing in the file is believed."""
    suffix_of(path, (".json",))
    document = strict_json(read_text(path), path)
    require_schema(document, path, SCHEMA)
    require_fields(document, path, "the mechanism", required=("schema", "graph", "table"), optional=("privacy",))
    # a mechanism exists, so somebody has confirmed the pieces of its graph before
    found = read_graph(document["graph"], document.get("privacy"), path, "graph", disconnected=True)
    table = _rows(document["table"], path)
    with naming(path):
        return Mechanism(found.graph, table, found.privacy)


def _rows(value: object, path: FilePath) -> list[list[float]]:
    if not isinstance(value, list):
        raise FileError("table must be a list of rows", path=path)
    width = len(value[0]) if value and isinstance(value[0], list) else 0
    for at, row in enumerate(value):
        if not isinstance(row, list) or len(row) != width:
            raise FileError(f"table[{at}] must be a list of {width} probabilities, as long as the first row", path=path)
        for entry in row:
            # written so that true, text and NaN fail
            if type(entry) not in (int, float) or not 0 <= entry <= 1 + ROW_SUM_TOLERANCE:
                raise FileError(f"table[{at}]: a probability must be a number in [0, 1], got {entry!r:.80}", path=path)
    return value


def write_table(mechanism: Mechanism, path: FilePath) -> None:
    """Write the table as CSV or TSV: vertex, colour, and a column of probabilities for every output."""
    graph = mechanism.graph
    palette = cells(graph.coloring.palette, "color")
    header = ["vertex", "color", *cells(graph.outputs, "output")]
    names = cells(graph.vertices, "vertex")
    rows = zip(names, graph.coloring.codes.tolist(), mechanism.table.tolist(), strict=True)
    write_sheet(path, header, ([name, palette[code], *map(repr, row)] for name, code, row in rows))


def read_table(path: FilePath, graph: DatasetGraph, *, smaller: bool = False) -> NDArray[np.float64]:
    """Read a table of probabilities for the vertices of a graph, as ``write_table`` writes it.

    The rows may come in any order and the colours may be left out; every vertex has one row, and every output of
    the graph one column under its name. ``smaller`` reads rows as ``Mechanism.from_smaller``; the larger entry may then
    be empty.
    """
    header, rows = read_sheet(path, gaps=smaller)
    found = _Table(graph, _Columns(header, graph, path), smaller)
    line = 0
    try:
        for line, row in rows:
            found.add(line, row)
    except ParameterError as error:
        raise FileError(f"line {line}: {error}", path=path) from None
    missing = found.missing()
    if missing is not None:
        raise FileError(f"there is no row for vertex {missing!r:.80}", path=path)
    with naming(path):
        return by_smaller(graph, found.table) if smaller else require_table(graph, found.table)


class _Table:
    """The table of a file, row by row."""

    def __init__(self, graph: DatasetGraph, columns: _Columns, gaps: bool) -> None:
        self.graph, self.columns, self.gaps = graph, columns, gaps
        self.table = np.zeros((len(graph), len(graph.outputs)))
        self._positions = positions_by_text(graph.vertices, "vertex")
        self._colors = [to_text(plain(color)) for color in graph.coloring.palette]
        self._lines: dict[int, int] = {}

    def add(self, line: int, row: Sequence[str]) -> None:
        name = row[self.columns.vertex]
        at = self._positions.get(name)
        if at is None:
            raise ParameterError(f"{name!r:.80} is not a vertex of the graph")
        if self._lines.setdefault(at, line) != line:
            raise ParameterError(f"vertex {name!r:.80} is given twice, first on line {self._lines[at]}")
        self._require_color(name, at, row)
        self.table[at] = [
            math.nan if self.gaps and not row[column] else _probability(row[column]) for column in self.columns.outputs
        ]

    def _require_color(self, name: str, at: int, row: Sequence[str]) -> None:
        true = self._colors[self.graph.coloring.codes[at]]
        if self.columns.color is not None and row[self.columns.color] != true:
            stated = row[self.columns.color]
            raise ParameterError(
                f"vertex {name!r:.80} has the color {stated!r:.80} here, but {true!r:.80} in the graph"
            )

    def missing(self) -> Any:
        """A vertex without a row, or None."""
        return next((vertex for at, vertex in enumerate(self.graph.vertices) if at not in self._lines), None)


def _probability(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1 + ROW_SUM_TOLERANCE:
        raise ParameterError(f"a probability must be a number in [0, 1], got {text:.80}")
    return value


class _Columns:
    """Which column holds the vertex, its colour if that is there, and each output of the graph."""

    def __init__(self, header: Sequence[str], graph: DatasetGraph, path: FilePath) -> None:
        rest = dict(enumerate(header))
        # an output may itself be called vertex or color: then the first column of that name is not the output
        self.vertex = self._take(rest, "vertex", path)
        colored = "color" in rest.values() and len(rest) > len(graph.outputs)
        self.color = self._take(rest, "color", path) if colored else None
        self.outputs = [self._take(rest, to_text(plain(output)), path) for output in graph.outputs]
        if rest:
            raise FileError(
                f"header: column {next(iter(rest.values()))!r:.80} is not an output of the graph", path=path
            )

    @staticmethod
    def _take(rest: dict[int, str], name: str, path: FilePath) -> int:
        at = next((at for at, found in rest.items() if found == name), None)
        if at is None:
            raise FileError(f"header: column {name!r:.80} is missing", path=path)
        del rest[at]
        return at
