"""boundary_distance: how far every vertex is from where the answer changes, on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.spark.fixed_point import MAX_ROUNDS, materialised, settle
from tinct.spark.graph_frames import directed, read_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from tinct.spark.fixed_point import Round


def boundary_distance(
    vertices: DataFrame,
    edges: DataFrame,
    *,
    progress: Callable[[Round], None] | None = None,
    max_rounds: int = MAX_ROUNDS,
) -> Any:
    """For every vertex the number of edges to the nearest vertex of its own colour that has a neighbour of the other.

    Args:
        vertices: A Spark DataFrame with the columns vertex and color.
        edges: A Spark DataFrame with the columns source and target, each edge once.
        progress: Called after every round; round r settles the vertices at distance r.
        max_rounds: Give up after so many rounds.

    Returns:
        A DataFrame (vertex, color, distance): 0 on the boundary, −1 where no boundary can be reached, as in
        ``DatasetGraph.boundary_distance``.
    """
    from pyspark.sql import functions as f

    graph = read_graph(vertices, edges, None)
    links = directed(graph.edges.select("source", "target", "source_code", "target_code"))
    crossing = links.where("source_code <> target_code").select(f.col("source").alias("vertex")).distinct()
    start = materialised(
        graph.vertices.join(crossing.withColumn("on", f.lit(0.0)), "vertex", "left").select(
            "vertex", f.coalesce("on", f.lit(float("inf"))).alias("key")
        ),
        "the boundary",
    )
    inside = links.where("source_code = target_code").select("source", "target")
    keys, _ = settle(start, inside, lambda key: key + 1.0, progress=progress, max_rounds=max_rounds)
    found = f.when(f.col("key") < float("inf"), f.col("key")).otherwise(f.lit(-1.0)).cast("bigint")
    color = f.when(f.col("code") == 0, f.lit(graph.outputs[0])).otherwise(f.lit(graph.outputs[-1]))
    table = graph.vertices.join(keys, "vertex").select("vertex", color.alias("color"), found.alias("distance"))
    return materialised(table, "the distances")
