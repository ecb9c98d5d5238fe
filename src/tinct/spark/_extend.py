"""extend on Spark: the optimal extension of docs/theory.md §3 for graphs that do not fit into one memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct._kernels.propagation import step
from tinct.binary._extend import TOLERANCE
from tinct.binary.obstruction import told
from tinct.errors import ParameterError
from tinct.mechanism import claims
from tinct.privacy.suitable_pairs import probabilities
from tinct.sources.spark_engine import guarded
from tinct.spark import odds
from tinct.spark.fixed_point import MAX_ROUNDS, materialised, require_reached, settle
from tinct.spark.graph_frames import budget_columns, directed, read_graph, require_columns, vertex_type, with_gains
from tinct.spark.mechanism_frame import MechanismFrame, with_colors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tinct.errors import NotExtendable
    from tinct.graphs.labels import Vertex
    from tinct.spark.fixed_point import Round
    from tinct.spark.graph_frames import SparkGraph


def extend(
    vertices: DataFrame,
    edges: DataFrame,
    privacy: Any,
    fixed: Any,
    *,
    outputs: Sequence[Any] | None = None,
    disconnected: bool = False,
    progress: Callable[[Round], None] | None = None,
    max_rounds: int = MAX_ROUNDS,
) -> MechanismFrame:
    """The private mechanism that agrees with ``fixed`` and is at least as truthful everywhere as any other.

    Args:
        vertices: A Spark DataFrame with the columns vertex and color (two colors).
        edges: A Spark DataFrame with the columns source and target, each edge once; and epsilon (and delta) if every
            edge has its own.
        privacy: One Privacy for all edges, or None if the edges have their own.
        fixed: ``{vertex: Pr[first color]}``, or a DataFrame (vertex, first[, second]), for a set of vertices that meets
            every edge between different colors.
        outputs: The two colors, the first one first; sorted if left out, since frames have no order.
        disconnected: Whether pieces of the graph without fixed vertices are meant: they have one color, and the truth
            is told there with probability 1.
        progress: Called after every round with its number and how many vertices changed.
        max_rounds: Give up after so many. A round follows one edge of every path.

    Raises:
        NotExtendable: The fixed values contradict each other; ``witness`` says which, along which path.
    """
    held = read_fixed(fixed, vertices)
    graph = read_graph(vertices, edges, outputs, held, budget_columns(edges, privacy))
    _require_covered(graph.edges)
    links = directed(with_gains(graph.edges, privacy))
    start = _start(graph, links)
    free = links.where("source_odds IS NULL AND target_odds IS NULL").select("source", "target", "gain", "shift")
    keys, rounds = settle(
        start.select("vertex", "key"), free, odds.along_link, progress=progress, max_rounds=max_rounds
    )
    if not disconnected:
        _require_reached(start, keys, free, max_rounds)
    table = _table(graph, keys)
    conflict = _worst_conflict(links, keys)
    if conflict is not None:
        raise not_extendable(graph, links, table, conflict)
    shown = materialised(with_colors(table, graph.outputs), "the table")
    return MechanismFrame(shown, graph.outputs, rounds, claims.GIVEN)


def _require_covered(edges: DataFrame) -> None:
    from pyspark.sql import functions as f

    bare = (
        f.col("source_odds").isNull() & f.col("target_odds").isNull() & (f.col("source_code") != f.col("target_code"))
    )
    missed = f.min(f.when(bare, f.struct("source", "target"))).alias("missed")
    (row,) = guarded("looking for uncovered edges", edges.agg(missed).collect)
    if row.missed is not None:
        u, v = row.missed
        raise ParameterError(f"edge ({u!r}, {v!r}) is not covered: fix {u!r} or {v!r} (they have different colors)")


def _start(graph: SparkGraph, links: DataFrame) -> Any:
    """For every free vertex the best bound of a fixed neighbour (infinite without one), and whether it has one."""
    from pyspark.sql import functions as f

    key = f.when(f.col("target_code") == 0, f.col("source_odds")).otherwise(odds.other(f.col("source_odds")))
    offers = (
        links.where("source_odds IS NOT NULL AND target_odds IS NULL")
        .select(f.col("target").alias("vertex"), odds.bound(key, f.col("gain"), f.col("shift")).alias("offer"))
        .groupBy("vertex")
        .agg(f.min("offer").alias("offer"))
    )
    joined = graph.vertices.where("odds IS NULL").join(offers, "vertex", "left")
    key = f.coalesce(f.col("offer"), f.lit(odds.INFINITE))
    return materialised(
        joined.select("vertex", key.alias("key"), f.col("offer").isNotNull().alias("touches")), "the first bounds"
    )


def _require_reached(start: Any, keys: Any, free: Any, max_rounds: int) -> None:
    """Refuse a piece without fixed vertices; only where a key is infinite can there be one."""
    from pyspark.sql import functions as f

    infinite = keys.where(f.col("key") == odds.INFINITE).join(start.where("NOT touches"), "vertex", "left_semi")
    if guarded("looking for pieces", infinite.isEmpty):
        return
    near = (
        start.select("vertex", "touches")
        .join(keys, "vertex")
        .select(
            "vertex",
            f.when(f.col("touches") | (f.col("key") < odds.INFINITE), 0.0).otherwise(f.lit(odds.INFINITE)).alias("key"),
        )
    )
    bounded = materialised(near, "looking for pieces")
    require_reached(bounded, free.select("source", "target"), "no fixed vertex", max_rounds=max_rounds)


def _table(graph: SparkGraph, keys: Any) -> Any:
    """Every vertex with its key (of its own color, for fixed ones of the first color) and both probabilities."""
    from pyspark.sql import functions as f

    joined = graph.vertices.join(keys, "vertex", "left")
    large, small = odds.to_probabilities(f.col("key"))
    mine = f.col("code") == 0
    free = f.col("odds").isNull()
    return joined.select(
        "vertex",
        "code",
        "odds",
        "key",
        f.when(free, f.when(mine, large).otherwise(small)).otherwise(f.col("first")).alias("first"),
        f.when(free, f.when(mine, small).otherwise(large)).otherwise(f.col("second")).alias("second"),
    )


def _worst_conflict(links: DataFrame, keys: Any) -> Conflict | None:
    """The fixed vertex whose bound from a neighbour is broken most (docs/proofs/extension.md, condition c)."""
    from pyspark.sql import functions as f

    touching = links.where("target_odds IS NOT NULL")
    known = touching.join(keys.withColumnRenamed("vertex", "source"), "source", "left")
    color = f.when(f.col("source_odds").isNotNull(), 0).otherwise(f.col("source_code"))
    bound = odds.bound(f.coalesce("source_odds", "key"), f.col("gain"), f.col("shift"))
    value = f.when(color == 0, f.col("target_odds")).otherwise(odds.other(f.col("target_odds")))
    measured = known.select("source", "target", color.alias("color"), value.alias("value"), bound.alias("bound"))
    broken = measured.where(f.col("value") > f.col("bound") * (1.0 + TOLERANCE)).withColumn(
        "excess", f.coalesce(f.try_divide("value", "bound"), f.lit(odds.INFINITE))
    )
    found = guarded("checking the fixed values", broken.orderBy(f.desc("excess"), "target", "source").first)
    return None if found is None else Conflict(found.target, found.source, int(found.color))


def read_fixed(fixed: Any, vertices: DataFrame) -> Any:
    """A frame (vertex, first, second); its values are checked together with the vertices.

    Args:
        fixed: ``{vertex: Pr[first color]}`` or ``{vertex: (Pr[first], Pr[second])}``, or a frame with the columns
            vertex and first, and second where 1 − first would lose digits.
        vertices: The frame of all vertices.
    """
    from pyspark.sql import functions as f

    kind = vertex_type(vertices)
    if isinstance(fixed, Mapping):
        rows = [(vertex, *_both(vertex, given)) for vertex, given in fixed.items()]
        return _local(vertices.sparkSession, rows, kind)
    require_columns(fixed, "fixed", ("vertex", "first"))
    if dict(fixed.dtypes)["vertex"] != kind:
        raise ParameterError(f"fixed vertices must have the type of the vertices, {kind}")
    first = f.col("first").cast("double")
    second = f.col("second").cast("double") if "second" in fixed.columns else 1.0 - first
    return fixed.select("vertex", first.alias("first"), second.alias("second"))


def _both(vertex: Vertex, given: Any) -> tuple[float, float]:
    """Both probabilities, each in [0, 1]; that they sum to 1 is checked with those of frames."""
    values = probabilities(given, f"the fixed value of {vertex!r:.80}")
    if values.shape not in ((), (2,)):
        raise ParameterError(f"the fixed value of {vertex!r:.80} must be a probability, or a pair, got {given!r:.80}")
    first, *rest = values.ravel().tolist()
    return first, rest[0] if rest else 1.0 - first


def _local(session: SparkSession, rows: list[tuple[Any, float, float]], kind: str) -> Any:
    import pyarrow as pa

    names = [vertex for vertex, _, _ in rows]
    text = kind == "string" or kind.startswith("string ")
    if any(isinstance(name, str) != text for name in names):
        raise ParameterError(f"fixed vertices must have the type of the vertices, {kind}")
    try:
        column = pa.array(names, pa.string() if text else None)
    except (pa.ArrowException, OverflowError, TypeError):
        raise ParameterError(f"fixed vertices must have the type of the vertices, {kind}") from None
    numbers = [pa.array([row[at] for row in rows], pa.float64()) for at in (1, 2)]
    table = pa.table([column if rows else column.cast(pa.string()), *numbers], names=["vertex", "first", "second"])
    frame = session.createDataFrame(table)
    return frame.select(frame["vertex"].cast(kind).alias("vertex"), "first", "second")


# why fixed values cannot be extended, traced back on Spark: a few small jobs, one for each edge of the path


_ROUNDING = 1e-9  # an edge this close to its bound carried the bound
_WIDEST = 1000  # vertices looked at in one step back


@dataclass(frozen=True)
class Conflict:
    """A fixed vertex, and the neighbour that allows less of a color there than is fixed."""

    vertex: Any
    neighbor: Any
    color: int


def not_extendable(graph: SparkGraph, links: DataFrame, table: DataFrame, conflict: Conflict) -> NotExtendable:
    """The error for a conflict, with the fixed vertex at the other end of the path that causes it."""
    path, edges = _path(links, table, conflict)  # from the source to the vertex
    color = conflict.color
    ends = {row.vertex: (row.first, row.second) for row in _rows(table, [path[0], path[-1]])}
    if ends[path[-1]][color] > 0.5:
        # next to 1 numbers look alike: the same contradiction, told the other way round with the other answer
        path, edges, color = path[::-1], edges[::-1], 1 - color
    source_value, rest = ends[path[0]][color], ends[path[0]][1 - color]
    key = source_value / rest if rest > 0 else odds.INFINITE
    for gain, shift in edges:
        key = float(step(key, gain, shift, False))
    bound = (key / (1.0 + key), 1.0 / (1.0 + key)) if key < odds.INFINITE else (1.0, 0.0)
    value, other = ends[path[-1]][color], ends[path[-1]][1 - color]
    return told(graph.outputs[color], tuple(path), value, source_value, bound, other)


def _path(links: DataFrame, table: DataFrame, conflict: Conflict) -> tuple[list[Any], list[tuple[float, float]]]:
    """From the fixed vertex that bounds the conflict to the vertex, with the parameters of every edge between."""
    from pyspark.sql import functions as f

    last = links.where((f.col("source") == f.lit(conflict.neighbor)) & (f.col("target") == f.lit(conflict.vertex)))
    row, *_ = guarded("tracing the bound", last.select("gain", "shift").limit(1).collect)
    came: dict[Any, tuple[Any, float, float]] = {conflict.neighbor: (conflict.vertex, row.gain, row.shift)}
    frontier, source = [conflict.neighbor], None
    if _rows(table, frontier)[0].odds is not None:
        source = conflict.neighbor
    while source is None and frontier:
        found = guarded("tracing the bound", _tight(links, table, frontier, conflict.color).collect)
        frontier = []
        for step_back in found:
            if step_back.source in came:
                continue
            came[step_back.source] = (step_back.target, step_back.gain, step_back.shift)
            frontier.append(step_back.source)
            if step_back.source_odds is not None:
                source = step_back.source
                break
    path: list[Any] = [conflict.neighbor if source is None else source]
    edges: list[tuple[float, float]] = []
    while path[-1] != conflict.vertex or not edges:
        following, gain, shift = came[path[-1]]
        path.append(following)
        edges.append((gain, shift))
    return path, edges


def _tight(links: DataFrame, table: DataFrame, frontier: list[Any], color: int) -> Any:
    """The edges into these free vertices that pass their bound on."""
    from pyspark.sql import functions as f

    keys = table.select("vertex", "key")
    into = links.where(f.col("target").isin(*frontier) & f.col("target_odds").isNull())
    into = into.join(keys.select(f.col("vertex").alias("target"), f.col("key").alias("target_key")), "target")
    into = into.join(keys.select(f.col("vertex").alias("source"), f.col("key").alias("source_key")), "source")
    held = f.col("source_odds") if color == 0 else odds.other(f.col("source_odds"))
    key = f.when(f.col("source_odds").isNotNull(), held).otherwise(f.col("source_key"))
    offer = odds.bound(key, f.col("gain"), f.col("shift"))
    tight = into.where(offer <= f.col("target_key") * (1.0 + _ROUNDING))
    fixed_first = f.col("source_odds").isNull()
    return tight.orderBy(fixed_first, "source").limit(_WIDEST)


def _rows(table: DataFrame, vertices: list[Any]) -> list[Any]:
    from pyspark.sql import functions as f

    rows: list[Any] = guarded("tracing the bound", table.where(f.col("vertex").isin(*vertices)).collect)
    return rows
