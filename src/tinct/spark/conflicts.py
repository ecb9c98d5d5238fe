"""Why fixed values cannot be extended, traced back on Spark: a few small jobs, one for each edge of the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct._kernels.propagation import step
from tinct.binary.obstruction import told
from tinct.sources.spark_engine import guarded
from tinct.spark import odds

if TYPE_CHECKING:
    from tinct.errors import NotExtendable
    from tinct.spark.graph_frames import SparkGraph

_ROUNDING = 1e-9  # an edge this close to its bound carried the bound
_WIDEST = 1000  # vertices looked at in one step back


@dataclass(frozen=True)
class Conflict:
    """A fixed vertex, and the neighbour that allows less of a color there than is fixed."""

    vertex: Any
    neighbor: Any
    color: int


def not_extendable(graph: SparkGraph, links: Any, table: Any, conflict: Conflict) -> NotExtendable:
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


def _path(links: Any, table: Any, conflict: Conflict) -> tuple[list[Any], list[tuple[float, float]]]:
    """From the fixed vertex that bounds the conflict to the vertex, with the parameters of every edge between."""
    from pyspark.sql import functions as f

    last = links.where((f.col("source") == f.lit(conflict.neighbor)) & (f.col("target") == f.lit(conflict.vertex)))
    row = guarded("tracing the bound", last.select("gain", "shift").first)
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


def _tight(links: Any, table: Any, frontier: list[Any], color: int) -> Any:
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


def _rows(table: Any, vertices: list[Any]) -> list[Any]:
    from pyspark.sql import functions as f

    rows: list[Any] = guarded("tracing the bound", table.where(f.col("vertex").isin(*vertices)).collect)
    return rows
