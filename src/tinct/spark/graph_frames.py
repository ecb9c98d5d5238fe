"""Graphs as frames: which columns they need, and the checks that every row passes before anything is computed.

A graph is two frames: vertices (``vertex``, ``color``) and edges (``source``, ``target`` and, where each edge has its
own budget, ``epsilon`` and ``delta``), each edge once. Vertices of the graph are public, so errors name them. Each
check is one column of a few aggregations, so that all of them together read the data a few times and not once each.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph
from tinct.numbers.amounts import MAX_EPSILON
from tinct.privacy import Privacy
from tinct.sources.spark_engine import guarded, pyspark, require_frame
from tinct.spark import odds, publishing
from tinct.spark.fixed_point import materialised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession


_PLAIN = ("string", "tinyint", "smallint", "int", "bigint", "date", "boolean")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class SparkGraph:
    """A checked graph on the executors.

    Attributes:
        vertices: A frame (vertex, code, first, second, odds): ``code`` is the place of the color among ``outputs``, the
            others are the fixed probabilities and the odds of the first answer, NULL where free.
        edges: A frame (source, target, and of both ends code and odds, gain, shift), each edge once.
        outputs: The colors, the first one first.
    """

    vertices: Any
    edges: Any
    outputs: tuple[Any, ...]


def read_graph(
    vertices: DataFrame,
    edges: DataFrame,
    outputs: Sequence[Any] | None,
    fixed: Any = None,
    budgets: tuple[Any, Any] | None = None,
) -> SparkGraph:
    """Check the frames of a graph and put what is known of both ends beside every edge.

    Args:
        vertices: The frame of vertices.
        edges: The frame of edges.
        outputs: The two colors, or None: those that occur, sorted.
        fixed: A frame (vertex, first, second) of fixed values, or None.
        budgets: Columns of ε and δ along the edges; None if privacy plays no part.
    """
    require_columns(edges, "edges", ("source", "target"))
    kinds = {vertex_type(vertices), *(dict(edges.dtypes)[name] for name in ("source", "target"))}
    if len(kinds) > 1:
        raise ParameterError(f"vertices must have one type in both frames, got {' and '.join(sorted(kinds))}")
    colors = _colors(vertices, outputs)
    named = _vertices(vertices, colors, fixed)
    _require_vertices(named)
    attached = _attached(named, edges, budgets)
    _require_edges(attached)
    return SparkGraph(named, attached, colors)


def budget_columns(edges: DataFrame, privacy: Any) -> tuple[Any, Any]:
    """The columns ε and δ of the edges, from one Privacy for all of them or from their own."""
    from pyspark.sql import functions as f

    require_columns(edges, "edges", ("source", "target"))
    given = dict(edges.dtypes)
    if isinstance(privacy, Privacy):
        if "epsilon" in given or "delta" in given:
            raise ParameterError("budgets are given twice: leave out privacy, or drop epsilon and delta from the edges")
        return f.lit(privacy.epsilon), f.lit(privacy.delta)
    if privacy is not None:
        raise ParameterError(
            f"privacy must be one Privacy, or None if the edges have columns epsilon and delta, got {privacy!r:.80}"
        )
    if "epsilon" not in given:
        raise ParameterError("the edges have no column epsilon: add it, or give one privacy for all of them")
    for name in ("epsilon", "delta"):
        if name in given and _base(given[name]) not in _NUMBERS:
            raise ParameterError(f"{name} must be a column of numbers, got {given[name]}")
    return f.col("epsilon").cast("double"), f.col("delta").cast("double") if "delta" in given else f.lit(0.0)


def with_gains(edges: DataFrame, privacy: Any) -> Any:
    """E beside every edge: correctly rounded if there is one privacy for all, by Spark's own exponential if not."""
    from pyspark.sql import functions as f

    gain = f.exp("epsilon") if privacy is None else f.lit(privacy.growth)
    return edges.withColumn("gain", gain).drop("epsilon")


def directed(edges: DataFrame) -> Any:
    """Both directions of every edge."""
    from pyspark.sql import functions as f

    turned = [f.col(_turned(name)).alias(name) for name in edges.columns]
    return edges.unionByName(edges.select(*turned))


def _turned(name: str) -> str:
    if name.startswith("source"):
        return f"target{name.removeprefix('source')}"
    return f"source{name.removeprefix('target')}" if name.startswith("target") else name


def vertex_type(vertices: DataFrame) -> str:
    """The type of the vertices' names, if it is one that names can have."""
    pyspark()
    require_columns(vertices, "vertices", ("vertex", "color"))
    kind: str = dict(vertices.dtypes)["vertex"]
    if _base(kind) not in _PLAIN:
        raise ParameterError(f"vertices must be named by text or whole numbers, got {kind}")
    return kind


def require_columns(frame: DataFrame, name: str, wanted: tuple[str, ...]) -> None:
    """Refuse what is not a frame with these columns."""
    require_frame(frame, name)
    missing = [column for column in wanted if column not in frame.columns]
    if missing:
        raise ParameterError(f"{name} must have the columns {', '.join(wanted)}: {missing[0]} is missing")


def _base(kind: str) -> str:
    return kind.partition("(")[0].partition(" ")[0]


def _colors(vertices: DataFrame, outputs: Sequence[Any] | None) -> tuple[Any, ...]:
    if outputs is not None:
        named = tuple(outputs) if isinstance(outputs, list | tuple) else ()
        if len(named) != 2 or None in named or named[0] == named[1]:
            raise ParameterError(f"outputs must be the two colors, the first one first, got {outputs!r:.80}")
        return named
    colors = [row[0] for row in guarded("looking at the colors", vertices.select("color").distinct().limit(4).collect)]
    known = sorted(color for color in colors if color is not None)
    if len(known) > 2:
        raise ParameterError(f"two colors are needed, these vertices have more: {known!r:.80}")
    return tuple(known) or ("",)


def _vertices(vertices: DataFrame, colors: tuple[Any, ...], fixed: Any) -> Any:
    """Every name once: how often it is a vertex and how often it is fixed, with its code and fixed values."""
    from pyspark.sql import functions as f

    color, nothing = f.col("color"), f.lit(None).cast("double")
    code = f.when(color == f.lit(colors[0]), 0)
    code = (code.when(color == f.lit(colors[1]), 1) if len(colors) > 1 else code).cast("int")
    rows = vertices.select(
        "vertex", f.lit(1).alias("listed"), f.lit(0).alias("held"), code.alias("code"),
        nothing.alias("first"), nothing.alias("second"),
    )  # fmt: skip
    if fixed is not None:
        held = fixed.select("vertex", "first", "second").withColumns({"listed": f.lit(0), "held": f.lit(1)})
        rows = rows.unionByName(held.withColumn("code", f.lit(None).cast("int")))
    counts = [f.sum(name).alias(name) for name in ("listed", "held")]
    values = [f.max(name).alias(name) for name in ("code", "first", "second")]
    grouped = rows.groupBy("vertex").agg(*counts, *values)
    key = f.when(f.col("held") > 0, odds.from_probabilities(f.col("first"), f.col("second")))
    return materialised(grouped.withColumn("odds", key), "reading the vertices")


def _require_vertices(vertices: DataFrame) -> None:
    from pyspark.sql import functions as f

    first, second, held = f.col("first"), f.col("second"), f.col("held")
    # NaN is above every number in Spark, and NULL fails the coalesce: neither is a probability
    inside = (first >= 0) & (first <= 1) & (second >= 0) & (second <= 1)
    good = f.coalesce(inside & (f.abs(first + second - 1.0) <= _SUM_TOLERANCE), f.lit(False))
    vertex = f.col("vertex")
    row = _one(
        vertices,
        f.sum("listed").alias("listed"),
        f.count(f.when(vertex.isNull(), 1)).alias("unnamed"),
        f.min(f.when(f.col("listed") > 1, vertex)).alias("twice"),
        f.min(f.when((f.col("listed") == 1) & f.col("code").isNull(), vertex)).alias("uncolored"),
        f.min(f.when(f.col("listed") == 0, vertex)).alias("stranger"),
        f.min(f.when(held > 1, vertex)).alias("held_twice"),
        f.min(f.when((held == 1) & ~good, f.struct("vertex", "first", "second"))).alias("bad"),
    )
    if not row.listed:
        raise ParameterError("there are no vertices")
    if row.unnamed:
        raise ParameterError("every vertex needs a name: some are NULL")
    if row.twice is not None:
        raise ParameterError(f"vertex {row.twice!r:.80} is listed twice: give every vertex once")
    if row.uncolored is not None:
        raise ParameterError(f"vertex {row.uncolored!r:.80} needs one of the two colors")
    if row.stranger is not None:
        raise ParameterError(f"a value is fixed for {row.stranger!r:.80}, which is not a vertex")
    if row.held_twice is not None:
        raise ParameterError(f"a value is fixed twice for {row.held_twice!r:.80}: fix it once")
    if row.bad is not None:
        name, *given = row.bad
        raise ParameterError(
            f"the fixed value of {name!r:.80} must be a probability, or two that sum to 1, got {given[0]}, {given[1]}"
        )


def _attached(vertices: DataFrame, edges: DataFrame, budgets: tuple[Any, Any] | None) -> Any:
    """The edges with the codes and odds of their ends, NULL where an end is not a vertex, and their budgets."""
    from pyspark.sql import functions as f

    more = () if budgets is None else (budgets[0].alias("epsilon"), budgets[1].alias("shift"))
    ends = edges.select("source", "target", *more)
    for end in ("source", "target"):
        known = [f.col(name).alias(f"{end}_{name}") for name in ("code", "odds")]
        ends = ends.join(vertices.select(f.col("vertex").alias(end), *known), end, "left")
    return materialised(ends, "looking up the ends of the edges")


def _require_edges(edges: DataFrame) -> None:
    from pyspark.sql import functions as f

    ends, budgeted = f.struct("source", "target"), "epsilon" in edges.columns
    epsilon, delta = (f.col("epsilon"), f.col("shift")) if budgeted else (f.lit(0.0), f.lit(0.0))
    laws = (
        ("epsilon", f"in [0, {MAX_EPSILON}]", epsilon, (epsilon >= 0) & (epsilon <= MAX_EPSILON)),
        ("delta", "in [0, 1)", delta, (delta >= 0) & (delta < 1)),
    )
    row = _one(
        edges,
        f.count(f.when(f.col("source").isNull() | f.col("target").isNull(), 1)).alias("unnamed"),
        f.min(f.when(f.col("source") == f.col("target"), f.col("source"))).alias("loop"),
        f.min(f.when(f.col("source_code").isNull(), f.struct("source", ends))).alias("no_source"),
        f.min(f.when(f.col("target_code").isNull(), f.struct("target", ends))).alias("no_target"),
        *(f.min(f.when(~f.coalesce(good, f.lit(False)), f.struct(ends, value.alias("got")))).alias(name)
          for name, _, value, good in laws),
    )  # fmt: skip
    if row.unnamed:
        raise ParameterError("every edge needs two ends: some are NULL")
    if row.loop is not None:
        raise ParameterError(f"vertex {row.loop!r:.80} is its own neighbour: remove the self-loop")
    for found in (row.no_source, row.no_target):
        if found is not None:
            raise ParameterError(f"edge {tuple(found[1])!r:.160} ends in {found[0]!r:.80}, which is no vertex: add it")
    for name, law, _, _ in laws:
        if row[name] is not None:
            edge, got = row[name]
            raise ParameterError(f"{name} must be a number {law}, got {got} on edge {tuple(edge)!r:.160}")
    ordered = edges.groupBy(f.least("source", "target").alias("u"), f.greatest("source", "target").alias("v"))
    counted = ordered.agg(f.count(f.lit(1)).alias("many"))
    twice = _one(counted, f.min(f.when(f.col("many") > 1, f.struct("u", "v"))).alias("twice")).twice
    if twice is not None:
        raise ParameterError(
            f"edge {tuple(twice)!r:.160} is listed twice, perhaps once in each direction: give it once"
        )


def _one(frame: DataFrame, *columns: Any) -> Any:
    return guarded("checking the graph", frame.agg(*columns).first)


# graphs as Parquet: a folder with ``vertices`` (vertex, color) and ``edges`` (source, target[, epsilon[, delta]])


_EDGES = ("source", "target", "epsilon", "delta")


def read_graph_frames(session: SparkSession, path: str) -> tuple[Any, Any]:
    """The vertices and edges of a graph that was written as Parquet."""
    vertices = publishing.read(session, posixpath.join(path, "vertices"))
    edges = publishing.read(session, posixpath.join(path, "edges"))
    require_columns(vertices, f"{path}: vertices", ("vertex", "color"))
    require_columns(edges, f"{path}: edges", ("source", "target"))
    return vertices.select("vertex", "color"), edges.select(*(name for name in _EDGES if name in edges.columns))


def write_graph_frames(vertices: DataFrame, edges: DataFrame, path: str) -> None:
    """Write the frames of a graph as Parquet under a folder that exists and holds no graph yet.

    If one of them cannot be stored, neither is published.
    """
    require_columns(vertices, "vertices", ("vertex", "color"))
    require_columns(edges, "edges", ("source", "target"))
    publishing.publish_together({posixpath.join(path, "edges"): edges, posixpath.join(path, "vertices"): vertices})


def to_frames(session: SparkSession, graph: DatasetGraph, privacy: Any = None) -> tuple[Any, Any]:
    """The frames of a graph in memory, with budgets along the edges if ``privacy`` is not one for all.

    Vertices must be text or whole numbers of 64 bits; colors become text.
    """
    import pyarrow as pa

    column = _names(graph)
    if graph.coloring.has_orders:
        raise ParameterError("orders of preference cannot be written as Parquet: Spark extends two colors")
    palette = [str(output) for output in graph.outputs]
    if len(set(palette)) < len(palette):
        raise ParameterError("two colors have the same text: they would become one")
    colors = [palette[code] for code in graph.coloring.codes.tolist()]
    ends = {end: column.take(pa.array(graph.ends[:, at])) for at, end in enumerate(("source", "target"))}
    if privacy is not None and not isinstance(privacy, Privacy):
        ends |= {name: pa.array(values) for name, values in zip(_EDGES[2:], _along_edges(graph, privacy), strict=True)}
    vertices = session.createDataFrame(pa.table({"vertex": column, "color": colors}))
    return vertices, session.createDataFrame(pa.table(ends))


def _names(graph: DatasetGraph) -> Any:
    """The vertices as an Arrow column."""
    import pyarrow as pa

    names = list(graph.vertices)
    if all(type(name) is str for name in names):
        return pa.array(names, pa.string())
    whole = all(isinstance(name, int | np.integer) and -(2**63) <= name < 2**63 for name in names)
    if not whole:
        raise ParameterError("vertices must be all text or all whole numbers of 64 bits to be written as Parquet")
    return pa.array([int(name) for name in names], pa.int64())


def _along_edges(graph: DatasetGraph, privacy: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """ε and δ in the order of ``graph.ends``."""
    budget = Budget(graph, privacy)
    if budget.coordinate != "odds":
        raise ParameterError("only (ε, δ) budgets can be written along edges")
    found = []
    for values in budget.logarithms():
        along = np.empty(len(graph.ends), np.float64)
        along[graph.edge_ids] = values
        found.append(along)
    return found[0], found[1]
