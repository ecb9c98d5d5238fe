"""Mechanisms as data frames and back: pandas, Polars, Arrow. The columns are those of the CSV file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import DatasetGraph
from tinct.graphs.labels import cells, plain, positions_by_text, to_text
from tinct.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.graphs.budgets import PrivacyLike
    from tinct.sources import Frame

_MAKERS = {"pandas": ("pandas", "DataFrame"), "polars": ("polars", "DataFrame"), "arrow": ("pyarrow", "table")}


def to_frame(mechanism: Mechanism, library: str = "pandas") -> Any:
    """The table as a data frame: a column for the vertex, one for its colour, one of probabilities for each output.

    Args:
        mechanism: The mechanism.
        library: ``"pandas"``, ``"polars"`` or ``"arrow"``.

    Vertices and colours that are not all text or all whole numbers are written as in a CSV file; tuples are JSON lists.

    >>> from tinct import Privacy, balanced, graphs
    >>> to_frame(balanced(graphs.line(1, 1), Privacy("ln 3")), "polars").rows()
    [(1, 'blue', 0.75, 0.25), (2, 'red', 0.25, 0.75)]
    """
    if not isinstance(mechanism, Mechanism):
        raise ParameterError(f"a Mechanism is needed, got {mechanism!r:.80}")
    if library not in _MAKERS:
        raise ParameterError(f"library must be one of {', '.join(_MAKERS)}, got {library!r:.80}")
    graph = mechanism.graph
    outputs = cells(graph.outputs, "output")
    clash = {"vertex", "color"} & set(outputs)
    if clash:
        raise ParameterError(f"an output is called {min(clash)!r}, like a column of the frame: rename it")
    palette = _column(graph.coloring.palette, "color")
    columns = {
        "vertex": _column(graph.vertices, "vertex"),
        "color": [palette[code] for code in graph.coloring.codes.tolist()],
        **{name: mechanism.table[:, at] for at, name in enumerate(outputs)},
    }
    package, maker = _MAKERS[library]
    try:
        make = getattr(import_module(package), maker)
    except ImportError:
        raise ParameterError(f"{package} is not installed: pip install {package}") from None
    return make(columns)


def from_frame(frame: Frame, graph: DatasetGraph, *, privacy: PrivacyLike | None = None) -> Mechanism:
    """A mechanism from a data frame as ``to_frame`` makes it, of any of the three libraries.

    The rows may come in any order and the colours may be left out; every vertex has one row. Nothing is believed:
    the table is checked, and ``verify`` says how private it is.

    Args:
        frame: A pandas or Polars DataFrame, or an Arrow table.
        graph: The graph whose vertices and outputs the frame names.
        privacy: What the mechanism is said to keep to, if anything.
    """
    if not isinstance(graph, DatasetGraph):
        raise ParameterError(f"a DatasetGraph is needed, got {graph!r:.80}")
    names = _names(frame)
    outputs = [to_text(plain(output)) for output in graph.outputs]
    missing = next((name for name in ("vertex", *outputs) if name not in names), None)
    if missing is not None:
        raise ParameterError(f"the frame has no column {missing!r:.80}: it needs 'vertex' and one for each output")
    other = next((name for name in names if name not in ("vertex", "color", *outputs)), None)
    if other is not None:
        raise ParameterError(f"column {other!r:.80} is not an output of the graph")
    order = _order(_values(frame, "vertex"), graph)
    if "color" in names:
        _require_colors(_values(frame, "color"), order, graph)
    table = np.empty((len(graph), len(outputs)))
    for at, name in enumerate(outputs):
        table[order, at] = _probabilities(_values(frame, name), name)
    return Mechanism(graph, table, privacy)


def _column(labels: Sequence[Any], what: str) -> list[Any]:
    texts = cells(labels, what)
    own = [plain(label) for label in labels]
    one_kind = all(type(label) is str for label in own) or all(type(label) is int for label in own)
    return own if one_kind else texts


def _names(frame: Any) -> list[str]:
    """The columns, each a different text."""
    found = getattr(frame, "column_names", None)
    found = getattr(frame, "columns", None) if found is None else found
    names = [] if found is None else list(found)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ParameterError(
            f"a data frame of pandas, Polars or Arrow with different names of columns is needed, got {type(frame)!r}"
        )
    return names


def _values(frame: Any, name: str) -> list[Any]:
    column = frame[name]
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, Polars and pandas
        if hasattr(column, method):
            values: list[Any] = getattr(column, method)()
            return values
    raise ParameterError(f"column {name!r:.80} cannot be read: give a data frame of pandas, Polars or Arrow")


def _order(named: Sequence[Any], graph: DatasetGraph) -> list[int]:
    """For every row of the frame the position of its vertex."""
    positions = positions_by_text(graph.vertices, "vertex")
    order = []
    for name in named:
        at = positions.get(to_text(plain(name)))
        if at is None:
            raise ParameterError(f"{name!r:.80} is not a vertex of the graph")
        order.append(at)
    if len(order) != len(graph) or len(set(order)) != len(order):
        raise ParameterError(f"every vertex needs one row: {len(order)} rows for {len(graph)} vertices")
    return order


def _require_colors(named: Sequence[Any], order: Sequence[int], graph: DatasetGraph) -> None:
    palette = [to_text(plain(color)) for color in graph.coloring.palette]
    for name, at in zip(named, order, strict=True):
        true = palette[graph.coloring.codes[at]]
        if to_text(plain(name)) != true:
            vertex = graph.vertices[at]
            raise ParameterError(
                f"vertex {vertex!r:.80} has the color {name!r:.80} here, but {true!r:.80} in the graph"
            )


def _probabilities(values: Sequence[Any], name: str) -> list[float]:
    # written so that text, truth values, missing values and NaN fail
    if not all(type(value) in (int, float) and 0 <= value <= 1.1 for value in values):
        raise ParameterError(f"column {name!r:.80} must hold probabilities in [0, 1]")
    return [float(value) for value in values]
