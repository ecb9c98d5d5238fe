"""How fast the jobs on Spark are, against one machine: python -m benchmarks.spark_jobs [--full] [--master local[2]].

Writes the table of docs/scale.md, between its two markers. Without --full the sizes are small and nothing is written.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measuring import machine
from tinct import DatasetGraph, EdgePrivacy, ask, extend, local, majority, spark

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
SMALL = {"reports": 400_000, "rows": 400_000, "edges": 20_000}
FULL = {"reports": 50_000_000, "rows": 50_000_000, "edges": 5_000_000}
DEGREE = 5


@dataclass(frozen=True)
class Line:
    """One measured job: what, how many units (reports, rows, edges), and the seconds on one machine and on Spark."""

    job: str
    unit: str
    size: int
    local: float
    spark: float
    local_cores: int = 1  # as many as it makes use of on one machine


def seconds(run: Callable[[], Any]) -> float:
    """How long one run takes; jobs of minutes are run once."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def reports(session: Any, size: int, folder: Path) -> list[Line]:
    """Privatise and estimate so many reports of 16 symbols."""
    mechanism = local.randomized_response(16, 1)
    answers = str(folder / f"answers-{size}")
    session.range(size).selectExpr("id % 16 AS answer").write.parquet(answers)
    target = str(folder / f"reports-{size}")
    privatizing = seconds(lambda: spark.privatize(session.read.parquet(answers), "answer", mechanism, path=target))
    estimating = seconds(lambda: spark.estimate(session.read.parquet(target), mechanism))
    import pyarrow.parquet as pq  # type: ignore[import-untyped, unused-ignore] # it has no types

    here = seconds(lambda: mechanism.privatize(pq.read_table(answers).column("answer").to_numpy()))
    there = seconds(lambda: mechanism.estimate(pq.read_table(target).column("report").to_numpy()))
    return [
        Line("privatize, 16 symbols", "reports", size, here, privatizing),
        Line("estimate, 16 symbols", "reports", size, there, estimating),
    ]


def groups(session: Any, size: int, folder: Path) -> list[Line]:
    """One question for a group of every fifty rows."""
    many = size // 50
    rows = str(folder / f"rows-{size}")
    made = session.range(size).selectExpr(f"concat('g', id % {many}) AS ward", f"(id % {many}) % 3 > 0 AS support")
    made.write.parquet(rows)
    target = str(folder / f"found-{size}")
    there = seconds(
        lambda: spark.ask_groups(session.read.parquet(rows), majority("support"), 1, "1e-6", by="ward", path=target)
    )
    import pyarrow.parquet as pq

    here = seconds(lambda: ask(pq.read_table(rows), majority("support"), 1, "1e-6", by="ward"))
    return [Line("ask, one group for every 50 rows", "rows", size, here, there, local_cores=os.cpu_count() or 1)]


def edges(session: Any, size: int, folder: Path) -> list[Line]:
    """Extend over a random graph with five edges a vertex, each edge with its own budget."""
    import pyarrow as pa  # type: ignore[import-untyped, unused-ignore] # it has no types
    import pyarrow.parquet as pq

    rng = np.random.default_rng(7)
    n = size // DEGREE
    ends = np.sort(np.stack([np.arange(size) % n, rng.integers(0, n, size)], axis=1), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    epsilon = rng.uniform(0.1, 1.0, len(ends))
    # few vertices of the first color, so that regions are deep: those near vertex 0 along a line of numbers
    codes = (np.arange(n) >= max(1, n // 1000)).astype(np.int8)
    crossing = codes[ends[:, 0]] != codes[ends[:, 1]]
    fixed = np.unique(ends[crossing])
    held = {"vertex": fixed, "first": np.full(len(fixed), 0.5)}
    place = folder / f"graph-{size}"
    place.mkdir()
    for name, columns in (
        ("vertices", {"vertex": np.arange(n), "color": np.array(["a", "b"])[codes]}),
        ("edges", {"source": ends[:, 0], "target": ends[:, 1], "epsilon": epsilon}),
        ("fixed", held),
    ):
        pq.write_table(pa.table(columns), place / f"{name}.parquet")
    frames = [session.read.parquet(str(place / f"{name}.parquet")) for name in ("vertices", "edges", "fixed")]
    there = seconds(lambda: spark.extend(frames[0], frames[1], None, frames[2], disconnected=True))
    graph = DatasetGraph(ends, dict(enumerate(np.array(["a", "b"])[codes].tolist())), disconnected=True)
    values = dict(zip(fixed.tolist(), [0.5] * len(fixed), strict=True))
    extend(graph, EdgePrivacy(epsilon), values)  # compiles
    here = seconds(lambda: extend(graph, EdgePrivacy(epsilon), values))
    return [Line(f"extend, {DEGREE} edges a vertex, each its own ε", "edges", len(ends), here, there)]


def table(lines: list[Line], cores: int) -> str:
    """The measured lines as Markdown, with the growth when the data doubles and the size from which Spark is faster."""
    rows = [
        "| job | size | one machine | its rate per core | doubled | Spark | its rate per core | doubled |",
        "| --- " * 8 + "|",
    ]
    for first, second in zip(lines[::2], lines[1::2], strict=True):
        for line, last in ((first, None), (second, first)):
            here = timed(line.local, line.size, last.local if last else None, line.local_cores)
            there = timed(line.spark, line.size, last.spark if last else None, cores)
            rows.append(f"| {line.job} | {line.size:,} {line.unit} | {here} | {there} |")
    crossings = [f"- {crossover(*pair, cores)}" for pair in zip(lines[::2], lines[1::2], strict=True)]
    return "\n".join([*rows, "", *crossings])


def timed(taken: float, size: int, half: float | None, cores: int) -> str:
    """Three cells: the seconds, how many a second on each core, and the growth over half the size."""
    return f"{taken:.3g} s | {size / taken / cores:,.0f} /s | {f'{taken / half:.2f}×' if half else ''}"


def crossover(small: Line, large: Line, cores: int) -> str:
    """Where the two straight lines through the two sizes meet, or with how many cores they would."""
    spark_slope, local_slope = (
        (b - a) / (large.size - small.size) for a, b in ((small.spark, large.spark), (small.local, large.local))
    )
    start = small.spark - spark_slope * small.size - (small.local - local_slope * small.size)
    if not (spark_slope > 0 and local_slope > 0):
        return f"{large.job}: these sizes are too small to tell"
    if local_slope <= spark_slope:
        ratio = spark_slope / local_slope
        level = math.ceil(ratio * cores)
        return (
            f"{large.job}: on {cores} cores Spark takes {ratio:.1f}× as long for each of the {large.unit} and is "
            f"slower at every size; it would draw level at about {level} cores, or when the data does not fit"
        )
    return f"{large.job}: equal at about {max(0, math.ceil(start / (local_slope - spark_slope))):,} {large.unit}"


def main() -> None:
    """Measure at half the size and at the size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="50 M reports, 50 M rows, 5 M edges; writes docs/scale.md")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="8g", help="of the driver, which in a local Spark does everything")
    options = parser.parse_args()
    sizes = FULL if options.full else SMALL
    session = spark.session(options.master, config={"spark.driver.memory": options.memory})
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as name:
        for job, unit in ((reports, "reports"), (groups, "rows"), (edges, "edges")):
            job(session, max(1000, SMALL[unit] // 20), Path(name))  # the first job of a kind pays for compiling
            halves = job(session, sizes[unit] // 2, Path(name))
            for pair in zip(halves, job(session, sizes[unit], Path(name)), strict=True):
                lines += pair
                print(*pair, sep="\n", flush=True)
    cores = session.sparkContext.defaultParallelism
    text = table(lines, cores)
    print(text)
    if options.full:
        stated = (
            f"Measured on {machine()}; Spark {session.version} with `{options.master}`, Java {java(session)}.\n\n{text}"
        )
        page = PAGE.read_text(encoding="utf-8")
        head, rest = page.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n\n{stated}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
    session.stop()


def java(session: Any) -> str:
    """The Java that runs Spark."""
    return str(session.sparkContext._jvm.java.lang.System.getProperty("java.version"))


if __name__ == "__main__":
    main()
