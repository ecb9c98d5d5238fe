"""Graphs in files: JSON, CSV, TSV and GraphML, chosen by the suffix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct._files import json_text, number, read_sheet, read_text, reading, strict_json, suffix_of, write_atomically
from tinct._files._strict_json import require_fields, require_schema
from tinct.errors import FileError, ParameterError
from tinct.graphs.dataset import DatasetGraph
from tinct.graphs.formats.edge_list import read_edge_list, require_columns, write_edge_list
from tinct.graphs.formats.graph_json import graph_fields, privacy_field, read_graph
from tinct.graphs.formats.graph_parts import GraphFile
from tinct.graphs.formats.graphml import read_graphml, write_graphml
from tinct.graphs.labels import positions_by_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinct._files import FilePath
    from tinct.graphs.budgets import PrivacyLike

__all__ = ["SCHEMA", "GraphFile", "read", "read_fixed", "read_rows", "write"]

SCHEMA = "tinct/graph@1"
_GRAPHS = (".json", ".csv", ".tsv", ".graphml")
_FIXED = (".json", ".csv", ".tsv")


def read(path: FilePath, *, disconnected: bool = False) -> GraphFile:
    """Read a graph, and the privacy along its edges if the file states one.

    Args:
        path: A file that ends in .json, .csv, .tsv or .graphml.
        disconnected: Allow a graph in several pieces, as for ``DatasetGraph``.

    Raises:
        FileError: The file cannot be read, or is not what its suffix says; the message names the line or field.
        ParameterError: The file is in order, but what it describes is no dataset graph.
    """
    suffix = suffix_of(path, _GRAPHS)
    if suffix == ".json":
        return _read_json(path, disconnected)
    if suffix == ".graphml":
        return read_graphml(path, disconnected=disconnected)
    return read_edge_list(path, disconnected=disconnected)


def write(graph: DatasetGraph, path: FilePath, privacy: PrivacyLike | None = None) -> None:
    """Write a graph, and the privacy along its edges if given, in the format of the suffix.

    JSON keeps everything. The others keep the text of labels, but not whether '12' was text or a number; an edge list
    has no place for vertices without neighbours. What a format cannot hold is a ParameterError, never left out.

    Args:
        graph: The graph to write.
        path: A file that ends in .json, .csv, .tsv or .graphml; an old file is replaced in one step.
        privacy: A Privacy, or any form along the edges that the designers take.
    """
    if not isinstance(graph, DatasetGraph):
        raise ParameterError(f"only a DatasetGraph can be written, got {type(graph).__name__}")
    suffix = suffix_of(path, _GRAPHS)
    if suffix == ".json":
        stated = privacy_field(graph, privacy)
        fields = {"schema": SCHEMA, **graph_fields(graph)}
        write_atomically(path, json_text(fields if stated is None else {**fields, "privacy": stated}))
    elif suffix == ".graphml":
        write_graphml(graph, path, privacy)
    else:
        write_edge_list(graph, path, privacy)


def _read_json(path: FilePath, disconnected: bool) -> GraphFile:
    document = strict_json(read_text(path), path)
    require_schema(document, path, SCHEMA)
    required, optional = ("schema", "colors", "edges"), ("outputs", "vertices", "privacy")
    require_fields(document, path, "the graph", required=required, optional=optional)
    fields = {name: value for name, value in document.items() if name not in ("schema", "privacy")}
    return read_graph(fields, document.get("privacy"), path, "the graph", disconnected=disconnected)


def read_fixed(path: FilePath, graph: DatasetGraph) -> dict[Any, float]:
    """Read the fixed probabilities of the first answer, for ``extend``.

    The file is a JSON object ``{vertex: probability}`` or a table with the header ``vertex,probability``; a vertex is
    named by its text, a tuple as a JSON list.
    """
    suffix = suffix_of(path, _FIXED)
    pairs = _fixed_from_json(path) if suffix == ".json" else _fixed_from_table(path)
    positions = positions_by_text(graph.vertices, "vertex")
    fixed: dict[Any, float] = {}
    for where, text, probability in pairs:
        if text not in positions:
            raise FileError(f"{where}: {text!r:.80} is not a vertex of the graph", path=path)
        if not 0 <= probability <= 1:
            raise FileError(f"{where}: a probability must be a number in [0, 1], got {probability}", path=path)
        vertex = graph.vertices[positions[text]]
        if vertex in fixed:
            raise FileError(f"{where}: vertex {text!r:.80} is given twice", path=path)
        fixed[vertex] = probability
    if not fixed:
        raise FileError("the file fixes no vertex", path=path)
    return fixed


def _fixed_from_json(path: FilePath) -> Iterator[tuple[str, str, float]]:
    document = strict_json(read_text(path), path)
    if not isinstance(document, dict):
        raise FileError('the file must be an object such as {"vertex": 0.75}', path=path)
    for text, value in document.items():
        if type(value) not in (int, float):
            raise FileError(
                f"vertex {text!r:.80}: a probability must be a number in [0, 1], got {value!r:.80}", path=path
            )
        yield f"vertex {text!r:.80}", text, value


def _fixed_from_table(path: FilePath) -> Iterator[tuple[str, str, float]]:
    header, rows = read_sheet(path)
    at = require_columns(header, path, ("vertex", "probability"))
    for line, row in rows:
        with reading(path, f"line {line}"):
            value = number(row[at["probability"]])
        yield f"line {line}", row[at["vertex"]], value


def read_rows(path: FilePath, graph: DatasetGraph) -> dict[Any, dict[Any, float]]:
    """Read fixed rows for ``rainbow.extend``: a JSON object ``{vertex or order: {answer: probability}}``.

    Vertices, orders and answers are named by their text, tuples and orders as JSON lists. All keys must be vertices, or
    all orders.
    """
    suffix_of(path, (".json",))
    document = strict_json(read_text(path), path)
    if not isinstance(document, dict) or not document:
        raise FileError("expected an object of rows, such as {vertex: {answer: probability}}", path=path)
    palette = graph.coloring.palette
    answers = positions_by_text(graph.outputs, "answer")
    orders = positions_by_text(palette, "order") if graph.coloring.has_orders else {}
    positions = positions_by_text(graph.vertices, "vertex")
    rows: dict[Any, dict[Any, float]] = {}
    for text, row in document.items():
        if text in orders:
            key = palette[orders[text]]
        elif text in positions:
            key = graph.vertices[positions[text]]
        else:
            raise FileError(f"{text!r:.80} is neither a vertex nor an order of the graph", path=path)
        if not isinstance(row, dict) or not all(name in answers for name in row):
            raise FileError(f"{text!r:.80} must be an object of probabilities of {', '.join(answers)}", path=path)
        if not all(type(value) in (int, float) and 0 <= value <= 1 for value in row.values()):
            raise FileError(f"{text!r:.80} must have numbers in [0, 1] as probabilities", path=path)
        rows[key] = {graph.outputs[answers[name]]: float(value) for name, value in row.items()}
    return rows
