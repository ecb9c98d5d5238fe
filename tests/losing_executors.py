"""Lose executors of a real cluster on this machine: run by test_spark.py in a process of its own, with a folder."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from tinct import DatasetGraph, EdgePrivacy, Privacy, balanced, extend, local, spark

PEOPLE, LENGTH = 4000, 4
GRAPH = DatasetGraph([(v, v + 1) for v in range(2 * LENGTH - 1)], {v: v < LENGTH for v in range(2 * LENGTH)})
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # small jobs start sooner


def cluster():
    """Two executors, each a process of its own that can be killed."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def parent(pid):
    """The process that started this one."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def mortal(randomiser, grave):
    """A randomiser that kills its executor, the Java process above its Python, right after its first draw."""

    class Mortal(type(randomiser)):
        def draw(self, codes, *more):
            drawn = super().draw(codes, *more)
            if len(codes) > 1:  # one is only asked for the shape of a report
                try:
                    os.close(os.open(grave, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return drawn
                os.kill(parent(parent(os.getpid())), signal.SIGKILL)
            return drawn

    made = object.__new__(Mortal)
    made.__dict__.update(randomiser.__dict__)
    return made


def reports(session, folder):
    """Every person has exactly one report, although an executor died with reports in its hands."""
    mechanism = local.randomized_response(4, 1)
    copy = object.__new__(type(mechanism))
    copy.__dict__.update({**mechanism.__dict__, "randomiser": mortal(mechanism.randomiser, str(folder / "grave"))})
    people = session.createDataFrame(pa.table({"person": np.arange(PEOPLE), "answer": np.arange(PEOPLE) % 4}))
    out = folder / "out"
    out.mkdir()
    drawn = spark.privatize(people.repartition(2), "answer", copy, path=str(out / "reports"), keep=["person"])
    assert (folder / "grave").exists()
    assert sorted(row.person for row in drawn.collect()) == list(range(PEOPLE))
    assert os.listdir(out) == ["reports"]


def extension(session, folder):
    """With a checkpoint directory, the rounds go on from the last one; the values are those of one machine."""
    session.sparkContext.setCheckpointDir(str(folder / "checkpoints"))
    killed = []
    vertices, edges = spark.to_frames(session, GRAPH)
    fixed = {LENGTH - 1: 0.6, LENGTH: 0.4}
    kill = killer(session, killed)
    found = spark.extend(vertices, edges, Privacy(1), fixed, outputs=("True", "False"), progress=kill)
    assert killed
    same(found, extend(GRAPH, Privacy(1), fixed))


def fair_optimum(session, folder):  # one signature for all jobs
    """The same for bounds from both sides, with a budget for every edge; the checkpoint directory is still there."""
    killed = []
    budgets = EdgePrivacy(np.linspace(0.5, 2, len(GRAPH.edges)), 0.01)
    vertices, edges = spark.to_frames(session, GRAPH, budgets)
    found = spark.balanced(vertices, edges, outputs=("True", "False"), progress=killer(session, killed))
    assert killed
    same(found, balanced(GRAPH, budgets))


def killer(session, killed):
    """Kills an executor after the first round."""

    def kill(done):
        if done.number == 1:
            killed.append(executors(session)[0])
            os.kill(killed[0], signal.SIGKILL)

    return kill


def same(found, expected):
    """The values are those of one machine."""
    for row in found.table.collect():
        np.testing.assert_allclose([row.first, row.second], expected.row(row.vertex), rtol=1e-12)


def executors(session):
    """The processes of the executors: children of the cluster's own Java process."""
    java = int(session.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
    children = [int(name) for name in os.listdir("/proc") if name.isdigit() and _is_child(int(name), java)]
    return [pid for pid in children if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def _is_child(pid, java):
    try:
        return parent(pid) == java
    except OSError:  # it has ended meanwhile
        return False


def main(folder):
    """Run all; say what was done."""
    session = cluster()
    session.sparkContext.setLogLevel("OFF")
    for job in (reports, extension, fair_optimum):
        job(session, folder)
        print(job.__name__)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
