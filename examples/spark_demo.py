"""The three jobs of tinct on Spark, on generated data: local reports, answers for many groups, a large graph.

Run: python examples/spark_demo.py [master]        (local[2] if no master is given)
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinct import local, majority, spark

ANSWERS = ("never", "sometimes", "often", "daily")
REPORTS = 1_000_000
GROUPS = 20_000
DATASETS = 50_000
JUMPS = (1, 6, 36, 216, 1296, 7776)


def timed(what: str, job: Callable[[], Any]) -> Any:
    """Run a job and say how long it took."""
    start = time.perf_counter()
    result = job()
    print(f"  {what}: {time.perf_counter() - start:.1f} s")
    return result


def reports(session: Any, folder: Path) -> None:
    """A million people randomise their own answer; the frequencies come back with intervals."""
    from pyspark.sql import functions as f

    mechanism = local.randomized_response(len(ANSWERS), 1, symbols=ANSWERS)
    place = f.when(f.col("id") % 10 < 5, 0).when(f.col("id") % 10 < 8, 1).when(f.col("id") % 10 < 9, 2).otherwise(3)
    people = session.range(REPORTS).select(f.element_at(f.lit(list(ANSWERS)), place + 1).alias("answer"))
    print(f"1. {REPORTS:,} people, ε = 1 each")
    stored = timed(
        "privatised and stored",
        lambda: spark.privatize(people, "answer", mechanism, path=str(folder / "reports")),
    )
    found = timed("estimated", lambda: spark.estimate(stored, mechanism))
    truth = (0.5, 0.3, 0.1, 0.1)
    for symbol, true, low, high in zip(ANSWERS, truth, found.low, found.high, strict=True):
        print(f"  {symbol:>9}: between {low:.4f} and {high:.4f} (true: {true})")


def groups(session: Any, folder: Path) -> None:
    """A yes or no for each of many wards, each person in one of them."""
    from pyspark.sql import functions as f

    people = session.range(GROUPS * 50).select(
        f.concat(f.lit("ward "), (f.col("id") % GROUPS).cast("string")).alias("ward"),
        ((f.col("id") % GROUPS) % 3 > 0).alias("support"),
    )
    print(f"2. one question for {GROUPS:,} wards of 50 people, ε = 1 and δ = 1e-6 for all together")
    answers = timed(
        "counted, found, answered",
        lambda: spark.ask_groups(people, majority("support"), 1, "1e-6", by="ward", path=str(folder / "answers")),
    )
    rows = {row.answer: row["count"] for row in answers.table.groupBy("answer").count().collect()}
    print(f"  wards that may be shown: {sum(rows.values()):,}; yes: {rows.get('yes', 0):,}, no: {rows.get('no', 0):,}")


def graph(session: Any, folder: Path) -> None:
    """Datasets on a line with shortcuts, every edge with its own ε; values are fixed where the answer changes."""
    from pyspark.sql import functions as f

    vertex = f.col("id").alias("vertex")
    datasets = session.range(DATASETS)
    vertices = datasets.select(vertex, f.when(f.col("id") < DATASETS // 2, "yes").otherwise("no").alias("color"))
    pairs = datasets.select(f.col("id").alias("source"), f.explode(f.lit(list(JUMPS))).alias("jump"))
    edges = pairs.select("source", (f.col("source") + f.col("jump")).alias("target")).where(f.col("target") < DATASETS)
    edges = edges.withColumn("epsilon", 0.2 + (f.col("source") % 7) / 10)
    near = f.col("id").between(DATASETS // 2 - max(JUMPS), DATASETS // 2 - 1)
    fixed = datasets.where(near).select(vertex, f.lit(0.5).alias("first"))
    parquet = folder / "graph"
    parquet.mkdir()
    spark.write_graph_frames(vertices, edges, str(parquet))
    print(f"3. {DATASETS:,} datasets, {edges.count():,} pairs of neighbours, each pair with its own ε")
    frames = spark.read_graph_frames(session, str(parquet))
    found = timed("extended", lambda: spark.extend(*frames, None, fixed, outputs=("yes", "no"), progress=show))
    row = found.truth().agg(f.min("truth"), f.avg("truth")).first()
    print(f"  the truth is told with probability {row[0]:.3f} at least, {row[1]:.3f} on average")


def show(each: spark.Round) -> None:
    """Say what a round did."""
    print(f"  round {each.number}: {each.changed:,} vertices changed")


def main() -> None:
    """Run all three."""
    session = spark.session(sys.argv[1] if len(sys.argv) > 1 else "local[2]")
    with tempfile.TemporaryDirectory() as name:
        for job in (reports, groups, graph):
            job(session, Path(name))
    session.stop()


if __name__ == "__main__":
    main()
