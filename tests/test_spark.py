"""Spark: the same results as on one machine, drawn once, published whole or not at all. A real Spark runs here."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import strategies
import test_engines
import test_persons
import test_several_groups
from tinct import (
    BudgetExceeded,
    DatasetGraph,
    EdgePrivacy,
    FileError,
    Ledger,
    NotAnswered,
    NotExtendable,
    ParameterError,
    Privacy,
    TinctError,
    ask,
    balanced,
    extend,
    graphs,
    local,
    majority,
    mode,
    spark,
)
from tinct import sources as plain_sources
from tinct._kernels import propagation
from tinct.cli.main import app
from tinct.ledger import State
from tinct.questions import parse
from tinct.sources import spark_engine
from tinct.sources.spark_frames import kind_of_spark_type, open_frame
from tinct.spark import _session, jobs, odds, publishing

pytestmark = pytest.mark.xdist_group("spark")  # one process: they share what is slow to start

GRAPHS = 60  # random graphs in one job; `make evidence` may raise it
REPORTS = 40_000
RELATIVE = 1e-12  # both sides round each of a few dozen steps; measured differences are below 1e-15
CANARY = "zanzibar"


@pytest.fixture(scope="module")
def session():
    """One Spark for all tests: two cores, and tasks may fail three times, as on a cluster."""
    if (_session.java_version() or 0) < 17:
        pytest.skip("Java 17 is not installed")
    config = {
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # small jobs start sooner
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.session.timeZone": "Europe/Zurich",
    }
    started = spark.session("local[2,4]", config=config)
    yield started
    started.stop()


def frame(session, **columns):
    return session.createDataFrame(pa.table(columns))


def graph_frames(session, case):
    ends = np.array(case.edges).reshape(-1, 2)
    colors = [strategies.COLORS[code] for code in case.codes]
    return (
        frame(session, vertex=np.arange(case.n), color=colors),
        frame(session, source=ends[:, 0], target=ends[:, 1], epsilon=case.epsilons, delta=case.deltas),
    )


def table_of(extension, n):
    rows = {row.vertex: (row.first, row.second) for row in extension.table.collect()}
    return np.array([rows[v] for v in range(n)])


# the engine


def test_spark_is_not_imported_before_it_is_used():
    """Importing the library, and the room of Spark, costs nobody Spark."""
    code = (
        "import sys, tinct, tinct.spark, tinct.sources.spark_frames; print([m for m in sys.modules if 'pyspark' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    """No PySpark, no pyarrow, an old Spark, no Java, an old Java: the error says what to install."""
    with monkeypatch.context() as absent:
        absent.setitem(sys.modules, "pyspark", None)
        with pytest.raises(TinctError, match=r"pip install 'tinct\[spark\]'"):
            spark_engine.pyspark()
    with monkeypatch.context() as absent:
        absent.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(TinctError, match="pip install pyarrow"):
            spark_engine.pyspark()
    with pytest.raises(TinctError, match=r"Spark 4 or later is needed, this is 3\.5\.1"):
        spark_engine.require_version("3.5.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert _session.java_version() is None
    with pytest.raises(TinctError, match="none was found: install openjdk-17"):
        _session.require_java(_session.java_version())
    (tmp_path / "bin").mkdir()
    old = tmp_path / "bin" / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    old.chmod(0o755)
    assert _session.java_version() == 8
    with pytest.raises(TinctError, match="this is Java 8"):
        _session.require_java(8)


def test_wrong_versions_and_addresses_are_named():
    """Spark's own errors about versions and file systems become the advice that mends them."""
    from pyspark.errors import PySparkImportError, PySparkRuntimeError

    def failing(error):
        raise error

    for error, said in (
        (PySparkImportError("[UNSUPPORTED_PACKAGE_VERSION] PyArrow >= 15 must be installed"), "pip install -U"),
        (PySparkImportError("[PACKAGE_NOT_INSTALLED] PyArrow >= 15 must be installed"), "pip install 'tinct"),
        (PySparkRuntimeError("[PYTHON_VERSION_MISMATCH] Python in worker has 3.10"), "PYSPARK_PYTHON"),
    ):
        with pytest.raises(TinctError, match=said):
            spark_engine.guarded("counting", lambda error=error: failing(error))


@pytest.mark.parametrize("master", ["", "local[", "local[x]", "http://host", 7, "local[2] --conf evil"])
def test_masters_are_checked(master):
    """A master that cannot be one is refused before anything starts."""
    with pytest.raises(ParameterError, match="master must be"):
        spark.session(master)


def test_errors_of_spark_quote_no_values(session):
    """A failure whose message in Spark quotes the cell becomes an error that does not, not even in its cause."""
    secret = frame(session, value=[CANARY]).selectExpr("CAST(value AS INT)")
    with pytest.raises(TinctError) as raised:
        spark_engine.guarded("reading", secret.collect)
    error = raised.value
    assert CANARY not in str(error)
    assert "CAST_INVALID_INPUT" in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None


def test_not_a_frame_is_refused():
    """Whatever is not a Spark DataFrame is refused by every job."""
    for call in (
        lambda: spark.extend([1], [2], None, {}),
        lambda: spark.boundary_distance(None, None),
        lambda: spark.privatize("x", "y", local.randomized_response(3, 1)),
        lambda: spark.estimate({}, local.randomized_response(3, 1)),
        lambda: spark.ask_groups(3, majority("x"), 1, "1e-6", by="g", path="p"),
    ):
        with pytest.raises(ParameterError, match="must be a Spark DataFrame"):
            call()


# extending


def test_column_arithmetic_equals_the_kernels(session):
    """A step on a column of odds is the kernel's step, bit for bit; so are odds and probabilities."""
    rng = np.random.default_rng(1)
    keys = np.concatenate([10.0 ** rng.uniform(-307, 307, 3000), rng.random(2000), [0.0, 1.0, 5e-324, 2.0**1022]])
    gains = np.exp(rng.choice([0.0, 1e-12, 0.3, 2.0, 40.0, 700.0], len(keys)))
    shifts = rng.choice([0.0, 1e-300, 1e-9, 0.1, 0.5, 0.999], len(keys))
    data = frame(session, key=keys, gain=gains, shift=shifts)
    found = data.select(
        odds.bound(data.key, data.gain, data.shift), odds.other(data.key), *odds.to_probabilities(data.key)
    )
    with np.errstate(all="ignore"):
        expected = [propagation.step(*row, False) for row in zip(keys, gains, shifts, strict=True)]
        others = np.where(keys > 0, np.minimum(1 / keys, propagation.HIGHEST), np.inf)
    rows = np.array(found.collect(), float)
    assert np.array_equal(rows[:, 0], expected)
    assert np.array_equal(rows[:, 1], others)
    assert np.array_equal(rows[:, 3], 1 / (1 + keys))
    assert np.array_equal(rows[:, 2], keys * (1 / (1 + keys)))


def test_extension_equals_the_local_one(session):
    """On random graphs with a budget for every edge, Spark and one machine agree to 1e-12 on both tails."""
    rng = np.random.default_rng(3)
    edges, codes, epsilons, deltas, fixed, tables = [], [], [], [], {}, []
    while len(tables) < GRAPHS:
        case = strategies.random_case(rng, 14)
        values = strategies.random_fixed(rng, case)
        tiny = 10.0 ** -rng.integers(5, 300, len(values)) if rng.random() < 0.2 else np.ones(len(values))
        pairs = {v: (p * t, 1.0 - p * t) for (v, p), t in zip(values.items(), tiny.tolist(), strict=True)}
        try:
            tables.append(extend(case.graph, case.privacy, pairs).table)
        except NotExtendable:
            continue
        start = len(codes)
        edges += [(u + start, v + start) for u, v in case.edges]
        codes += case.codes
        epsilons += case.epsilons
        deltas += case.deltas
        fixed |= {v + start: pair for v, pair in pairs.items()}
    whole = strategies.Case(len(codes), edges, codes, epsilons, deltas)
    rounds = []
    found = spark.extend(
        *graph_frames(session, whole), None, fixed, outputs=strategies.COLORS, disconnected=True, progress=rounds.append
    )
    expected = np.concatenate(tables)
    assert expected[expected > 0].min() < 1e-100  # small probabilities are among them
    np.testing.assert_allclose(table_of(found, whole.n), expected, rtol=RELATIVE, atol=0)
    assert [each.number for each in rounds] == list(range(1, found.rounds + 1))
    assert rounds[-1].changed == 0
    assert all(each.changed > 0 for each in rounds[:-1])
    truth = {row.vertex: (row.truth, row.error) for row in found.truth().collect()}
    assert all(truth[v] == tuple(table_of(found, whole.n)[v][:: 1 - 2 * code]) for v, code in enumerate(codes))


def test_one_budget_for_all_and_distances_equal_the_local_ones(session, tmp_path):
    """A grid of text-named vertices through Parquet: extension and distances to the boundary as on one machine."""
    side = 7
    names = {(x, y): f"{x}-{y}" for x in range(side) for y in range(side)}
    edges = [(names[x, y], names[other]) for x, y in names for other in ((x + 1, y), (x, y + 1)) if other in names]
    graph = DatasetGraph(edges, {name: "in" if x + y < 4 else "out" for (x, y), name in names.items()})
    vertices, links = spark.to_frames(session, graph)
    spark.write_graph_frames(vertices, links, str(tmp_path))
    vertices, links = spark.read_graph_frames(session, str(tmp_path))
    fixed = {name: 0.6 for (x, y), name in names.items() if x + y in (3, 4)}
    privacy = Privacy("ln 2", 0.01)
    held = frame(session, vertex=list(fixed), first=list(fixed.values()))
    found = spark.extend(vertices, links, privacy, held)
    assert found.outputs == ("in", "out")
    expected = extend(graph, privacy, fixed)
    for row in found.table.collect():
        np.testing.assert_allclose([row.first, row.second], expected.row(row.vertex), rtol=RELATIVE)
    distances = {row.vertex: row.distance for row in spark.boundary_distance(vertices, links).collect()}
    assert [distances[v] for v in graph.vertices] == graph.boundary_distance().tolist()


@pytest.mark.parametrize("lean", [None, 0.7, {"red": 0.6}])
def test_the_fair_optimum_equals_the_local_one(session, lean):
    """On random graphs with a budget for every edge, with and without a lean, to 1e-12 on both tails."""
    rng = np.random.default_rng([5, 0 if lean is None else 1])
    edges, codes, epsilons, deltas = [], [], [], []
    for at in range(GRAPHS if lean is None else GRAPHS // 4):
        case = strategies.random_case(rng, 14)
        if at % 2:  # each edge its own
            own = 0.05 + 2 * rng.random(len(case.edges)), 0.2 * rng.random(len(case.edges))
            case = strategies.Case(case.n, case.edges, case.codes, *(each.tolist() for each in own))
        start = len(codes)
        edges += [(u + start, v + start) for u, v in case.edges]
        codes, epsilons, deltas = codes + case.codes, epsilons + case.epsilons, deltas + case.deltas
    start = len(codes)  # and a long way from the boundary, where errors are small
    edges += [(start + v, start + v + 1) for v in range(10)]
    codes, epsilons, deltas = [*codes, 0, *[1] * 10], [*epsilons, *[8.0] * 10], [*deltas, *[0.0] * 10]
    whole = strategies.Case(len(codes), edges, codes, epsilons, deltas)
    rounds = []
    found = spark.balanced(
        *graph_frames(session, whole), outputs=strategies.COLORS, lean=lean, disconnected=True, progress=rounds.append
    )
    expected = balanced(whole.graph, whole.privacy, lean=lean)
    assert expected.error()[expected.error() > 0].min() < 1e-30
    np.testing.assert_allclose(table_of(found, whole.n), expected.table, rtol=RELATIVE, atol=0)
    assert found.claim == expected.claim
    assert [each.number for each in rounds] == list(range(1, found.rounds + 1))
    truth = {row.vertex: (row.truth, row.error) for row in found.truth().collect()}
    assert all(truth[v] == tuple(table_of(found, whole.n)[v][:: 1 - 2 * code]) for v, code in enumerate(codes))


def test_the_fair_optimum_of_one_budget_takes_bounds_once(session, tmp_path):
    """Then bounds from below and above meet everywhere at once; text-named vertices, one privacy for all."""
    side = 5
    names = {(x, y): f"{x}-{y}" for x in range(side) for y in range(side)}
    edges = [(names[x, y], names[other]) for x, y in names for other in ((x + 1, y), (x, y + 1)) if other in names]
    graph = DatasetGraph(edges, {name: "in" if x + y < 4 else "out" for (x, y), name in names.items()})
    found = spark.balanced(*spark.to_frames(session, graph), Privacy("ln 2", 0.01))
    expected = balanced(graph, Privacy("ln 2", 0.01))
    for row in found.table.collect():
        np.testing.assert_allclose([row.first, row.second], expected.row(row.vertex), rtol=RELATIVE)
    depth = int(graph.boundary_distance().max())
    assert found.rounds == 2 * (depth + 1)


def test_bad_arguments_of_balanced(session):
    """Graphs, leans, pieces and rounds that do not fit are refused."""
    vertices, edges = frame(session, **GOOD["vertices"]), frame(session, **GOOD["edges"])
    lonely = frame(session, vertex=[1, 2, 3, 4, 5], color=["a", "a", "b", "b", "a"])
    one_color = frame(session, vertex=[1, 2, 3, 4], color=["a"] * 4)
    free = frame(session, source=[1, 2, 3], target=[2, 3, 4], epsilon=[1.0] * 3, delta=[0.5] * 3)
    for call, message in (
        (lambda: spark.balanced(vertices, edges.drop("epsilon", "delta")), "no column epsilon"),
        (lambda: spark.balanced(vertices, edges, Privacy(1)), "given twice"),
        (lambda: spark.balanced(vertices, edges, lean=1.0), "lean must be a probability above 0 and below 1"),
        (lambda: spark.balanced(vertices, edges, lean=float("nan")), "lean must be"),
        (lambda: spark.balanced(vertices, edges, lean={"z": 0.5}), r"lean must be a truth for one of \('a', 'b'\)"),
        (lambda: spark.balanced(vertices, free, lean=0.4), "neither certain nor impossible"),
        (lambda: spark.balanced(lonely, edges), "no edge to the other color can be reached from 5.*disconnected=True"),
        (lambda: spark.balanced(one_color, edges), "no edge to the other color can be reached from 1"),
        (lambda: spark.balanced(vertices, edges, max_rounds=1), "after 1 rounds .* run tinct.balanced"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()
    alone = {
        row.vertex: (row.first, row.second) for row in spark.balanced(lonely, edges, disconnected=True).table.collect()
    }
    assert alone[5] == (1.0, 0.0)
    certain = spark.balanced(one_color, edges, disconnected=True).truth().collect()
    assert {row.truth for row in certain} == {1.0}


def test_graphs_in_memory_become_frames_with_their_budgets(session):
    """Budgets along the edges arrive beside their own edges; names that Parquet has no column for are refused."""
    graph = graphs.line(2, 2)
    _, links = spark.to_frames(session, graph, EdgePrivacy([0.5, 1.0, 1.5], [0.0, 0.1, 0.2]))
    rows = {(row.source, row.target): (row.epsilon, row.delta) for row in links.collect()}
    assert rows == dict(zip(graph.edges, [(0.5, 0.0), (1.0, 0.1), (1.5, 0.2)], strict=True))
    with pytest.raises(ParameterError, match="all text or all whole numbers"):
        spark.to_frames(session, graphs.hypercube(2, sum))
    for unfit, message in (
        (DatasetGraph([(1, 2**70)], {1: "a", 2**70: "b"}), "64 bits"),
        (DatasetGraph([(1, 2)], {1: 1, 2: "1"}), "same text"),
        (DatasetGraph([(1, 2)], {1: ("a", "b", "c"), 2: ("c", "b", "a")}), "orders of preference"),
    ):
        with pytest.raises(ParameterError, match=message):
            spark.to_frames(session, unfit)


def test_a_graph_is_written_whole_or_not_at_all(session, tmp_path):
    """If one of the two frames cannot be stored, the other is not published either, and writing can be tried again."""
    vertices, edges = frame(session, **GOOD["vertices"]), frame(session, **GOOD["edges"])
    broken = vertices.selectExpr("vertex", "CAST(color AS INT) AS color")
    with pytest.raises(TinctError, match="CAST_INVALID_INPUT"):
        spark.write_graph_frames(broken, edges, str(tmp_path))
    assert os.listdir(tmp_path) == []
    spark.write_graph_frames(vertices, edges, str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["edges", "vertices"]
    with pytest.raises(FileError, match="exists already"):
        spark.write_graph_frames(vertices, edges, str(tmp_path))


def test_contradictions_have_the_local_witness(session):
    """Values that nothing extends are refused with the same vertices, path, value and bound as on one machine."""
    case = strategies.Case(
        6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], [0, 0, 0, 0, 0, 1], [0.1, 0.2, 0.3, 0.1, 1.0], [0.0] * 5
    )
    fixed = {0: 0.9, 4: 0.2}
    with pytest.raises(NotExtendable) as here:
        extend(case.graph, case.privacy, fixed)
    with pytest.raises(NotExtendable) as there:
        spark.extend(*graph_frames(session, case), None, fixed)
    assert str(there.value) == str(here.value)
    assert there.value.witness.path == here.value.witness.path
    assert there.value.witness.bound == pytest.approx(here.value.witness.bound, rel=1e-12)


GOOD = {
    "vertices": {"vertex": [1, 2, 3, 4], "color": ["a", "a", "b", "b"]},
    "edges": {"source": [1, 2, 3], "target": [2, 3, 4], "epsilon": [1.0, 1.0, 1.0], "delta": [0.0, 0.0, 0.0]},
}
BAD_GRAPHS = [
    ({"vertices": {"color": ["a", "b", "c", "a"]}}, {2: 0.5}, "two colors are needed"),
    ({"vertices": {"color": ["a", None, "b", "b"]}}, {2: 0.5}, "vertex 2 needs one of the two colors"),
    ({"vertices": {"vertex": [1, 2, 3, None]}}, {2: 0.5}, "every vertex needs a name"),
    ({"vertices": {"vertex": [1, 2, 3, 3]}}, {2: 0.5}, "vertex 3 is listed twice"),
    ({"vertices": {"vertex": ["1", "2", "3", "4"]}}, {"2": 0.5}, "one type in both frames"),
    ({"vertices": {"vertex": [1.0, 2.0, 3.0, 4.0]}}, {2: 0.5}, "text or whole numbers"),
    ({"edges": {"target": [2, 3, 9]}}, {2: 0.5}, r"edge \(3, 9\) ends in 9, which is no vertex"),
    ({"edges": {"source": [1, 2, 2], "target": [2, 3, 1]}}, {2: 0.5}, r"edge \(1, 2\) is listed twice"),
    ({"edges": {"target": [1, 3, 4]}}, {2: 0.5}, "vertex 1 is its own neighbour"),
    ({"edges": {"target": [2, None, 4]}}, {2: 0.5}, "every edge needs two ends"),
    (
        {"edges": {"epsilon": [1.0, float("nan"), 1.0]}},
        {2: 0.5},
        r"epsilon must be a number .* got nan on edge \(2, 3\)",
    ),
    ({"edges": {"epsilon": [1.0, 701.0, 1.0]}}, {2: 0.5}, r"in \[0, 700\], got 701.0"),
    ({"edges": {"epsilon": [-1.0, 1.0, 1.0]}}, {2: 0.5}, "got -1.0"),
    ({"edges": {"epsilon": [1.0, None, 1.0]}}, {2: 0.5}, "epsilon must be a number"),
    ({"edges": {"delta": [0.0, 1.0, 0.0]}}, {2: 0.5}, r"delta must be a number in \[0, 1\), got 1.0"),
    ({"edges": {"epsilon": ["a", "b", "c"]}}, {2: 0.5}, "column of numbers, got string"),
    ({}, {9: 0.5}, "a value is fixed for 9, which is not a vertex"),
    ({}, {"2": 0.5}, "type of the vertices, bigint"),
    ({}, {2: float("nan")}, "fixed value of 2"),
    ({}, {2: 1.5}, "fixed value of 2"),
    ({}, {2: (0.5, 0.6)}, "fixed value of 2 must be a probability, or two that sum to 1"),
    ({}, {2: (0.5, 0.3, 0.2)}, "fixed value of 2 must be a probability, or a pair"),
    ({}, {2: "half"}, "fixed value of 2 must be a number"),
    ({}, {1: 0.5}, r"edge \(2, 3\) is not covered: fix 2 or 3"),
    ({}, {}, "is not covered"),
    ({"edges": {"source": [2, 3, 3], "target": [3, 4, 1]}}, {3: 0.5, 2: 0.5, 1: 0.5}, None),
    ({"vertices": {"vertex": [1, 2, 3, 4, 5], "color": ["a", "a", "b", "b", "a"]}}, {2: 0.5}, "disconnected=True"),
]


@pytest.mark.parametrize(("change", "fixed", "message"), BAD_GRAPHS)
def test_bad_graphs_are_refused_by_name(session, change, fixed, message):
    """What is wrong with a graph is said in public names, before anything is computed from it."""
    vertices, edges = (frame(session, **{**GOOD[part], **change.get(part, {})}) for part in ("vertices", "edges"))
    if message is None:
        assert spark.extend(vertices, edges, None, fixed).rounds == 1
        return
    with pytest.raises(ParameterError, match=message):
        spark.extend(vertices, edges, None, fixed)


def test_bad_arguments_of_extend(session):
    """Columns, budgets, outputs and rounds that do not fit are refused."""
    vertices, edges = frame(session, **GOOD["vertices"]), frame(session, **GOOD["edges"])
    bare = edges.drop("epsilon", "delta")
    for call, message in (
        (
            lambda: spark.extend(vertices.drop("color"), edges, None, {2: 0.5}),
            "columns vertex, color: color is missing",
        ),
        (lambda: spark.extend(vertices, edges.drop("target"), None, {2: 0.5}), "target is missing"),
        (lambda: spark.extend(vertices, edges, Privacy(1), {2: 0.5}), "given twice"),
        (lambda: spark.extend(vertices, bare, None, {2: 0.5}), "no column epsilon"),
        (lambda: spark.extend(vertices, bare, 1.0, {2: 0.5}), "privacy must be one Privacy"),
        (lambda: spark.extend(vertices, edges, None, {2: 0.5}, outputs=["a"]), "outputs must be the two colors"),
        (lambda: spark.extend(vertices, edges, None, {2: 0.5}, outputs=["a", "z"]), "needs one of the two colors"),
        (lambda: spark.extend(vertices, edges, None, {2: 0.5}, max_rounds=1), "after 1 rounds"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()
    held = frame(session, vertex=[2, 2], first=[0.5, 0.5])
    with pytest.raises(ParameterError, match="fixed twice for 2"):
        spark.extend(vertices, edges, None, held)


# privatising and estimating

MECHANISMS = {
    "cells": local.randomized_response(4, "ln 3"),
    "fewer cells": local.optimal([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], 0.5),
    "table": local.geometric(4, 1),
    "subset": local.subset_selection(5, "1/2"),
    "subset of one": local.subset_selection(5, 1, size=1),
    "unary": local.unary_encoding(4, 1),
    "hash": local.local_hashing(6, 1),
    "hadamard": local.hadamard_response(5, 1),
}


def answers_frame(session, k, rows=2000):
    return frame(session, answer=np.arange(rows) % k, person=np.arange(rows)).repartition(3)


@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_can_be_analysed_anywhere(session, tmp_path, name):
    """Reports from Spark are outputs of the mechanism, and the same reports give the same estimate everywhere."""
    mechanism = MECHANISMS[name]
    k = len(mechanism.symbols)
    path = str(tmp_path / "reports")
    reports = spark.privatize(answers_frame(session, k), "answer", mechanism, path=path, keep=["person"])
    rows = reports.toArrow()
    assert sorted(rows.column("person").to_pylist()) == list(range(2000))
    listed = np.array(rows.column("report").to_pylist())
    seen, people = spark.tally(reports, mechanism)
    assert people == 2000
    assert np.array_equal(seen, mechanism.randomiser.support(listed))
    if name == "fewer cells":
        with pytest.raises(ParameterError, match="cannot be told apart"):
            spark.estimate(reports, mechanism)
        return
    there, here = spark.estimate(reports, mechanism, confidence=0.9), mechanism.estimate(listed, confidence=0.9)
    for column in ("frequencies", "deviations", "low", "high", "likeliest"):
        assert np.array_equal(getattr(there, column), getattr(here, column))
    assert (there.reports, there.exact, there.symbols) == (here.reports, here.exact, here.symbols)


def test_reports_follow_the_table(session):
    """Each symbol's reports have the mechanism's own distribution: within 6 standard deviations, a chance of 1e-8."""
    mechanism = MECHANISMS["cells"]
    drawn = spark.privatize(answers_frame(session, 4, REPORTS), "answer", mechanism, keep=["person"])
    rows = drawn.toArrow()
    counts = np.zeros((4, 4))
    np.add.at(counts, (rows["person"].to_numpy() % 4, rows["report"].to_numpy()), 1)
    people = REPORTS // 4
    spread = np.sqrt(people * mechanism.matrix * (1 - mechanism.matrix))
    assert (np.abs(counts - people * mechanism.matrix) < 6 * spread).all()


@pytest.mark.parametrize("stored", [True, False])
def test_no_action_draws_again(session, tmp_path, stored):
    """However often the reports are looked at, and however they are counted, they are the ones drawn at first."""
    path = str(tmp_path / "reports") if stored else None
    mechanism = MECHANISMS["cells"]
    reports = spark.privatize(answers_frame(session, 4), "answer", mechanism, path=path, keep=["person"])
    first, second = ({row.person: row.report for row in reports.collect()} for _ in range(2))
    assert first == second  # drawn anew they would agree with probability below 1e-300
    again = reports.groupBy("report").count().collect()
    assert {row.report: row["count"] for row in again} == {r: list(first.values()).count(r) for r in first.values()}


def test_nothing_published_is_replaced(session, tmp_path):
    """A target that exists, or whose folder does not, is refused before anything is drawn."""
    data, mechanism = answers_frame(session, 4, 10), MECHANISMS["cells"]
    (tmp_path / "old").mkdir()
    with pytest.raises(FileError, match="exists already"):
        spark.privatize(data, "answer", mechanism, path=str(tmp_path / "old"))
    with pytest.raises(FileError, match="there is no folder"):
        spark.privatize(data, "answer", mechanism, path=str(tmp_path / "new" / "reports"))
    for bad in ("", 7, "/"):
        with pytest.raises(ParameterError, match="path must be text"):
            spark.privatize(data, "answer", mechanism, path=bad)
    for bad, said in (("nosuch://host/reports", "does not know this kind of address"), ("a:b", "looking for a:b")):
        with pytest.raises(TinctError, match=said):
            spark.privatize(data, "answer", mechanism, path=bad)
    assert os.listdir(tmp_path) == ["old"]


def test_renaming_never_moves_into_what_stands_there(session, tmp_path):
    """Two jobs with one target: the second fails, and what the first published is untouched."""
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "file").touch()
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "published").touch()
    with pytest.raises(TinctError):
        spark_engine.guarded(
            "publishing", lambda: publishing._rename(session, str(tmp_path / "part"), str(tmp_path / "target"))
        )
    assert os.listdir(tmp_path / "target") == ["published"]


def test_missing_and_unknown_values_follow_the_rule(session, tmp_path):
    """NULL and strangers are refused as a whole, without naming one, or taken for the symbol that is named."""
    mechanism = local.randomized_response(3, 30, symbols=["a", "b", "other"])
    data = frame(session, answer=["a", None, CANARY, "b", "A"], place=[1, 2, 3, 4, 5])
    path = str(tmp_path / "reports")
    with pytest.raises(ParameterError, match="nothing was published") as raised:
        spark.privatize(data, "answer", mechanism, path=path)
    assert CANARY not in str(raised.value)
    assert os.listdir(tmp_path) == []
    with pytest.raises(ParameterError, match="nothing was published"):
        spark.privatize(data, "answer", mechanism)
    reports = spark.privatize(data, "answer", mechanism, path=path, missing="other", keep=["place"])
    # at ε = 30 a report differs from the answer with probability 2e-13
    assert {row.place: row.report for row in reports.collect()} == {1: 0, 2: 2, 3: 2, 4: 1, 5: 2}


def test_the_test_of_hypotheses_equals_the_local_one(session, tmp_path):
    """From a frame, and from files by the command; reports of several parts are refused."""
    mechanism = MECHANISMS["fewer cells"]
    reports = mechanism.privatize([0, 1, 2, 3] * 100)
    data = frame(session, report=reports.tolist())
    assert spark.likelihood_test(data, mechanism) == mechanism.test(reports)
    other = ([0.25, 0.25, 0.25, 0.25], [0.1, 0.2, 0.3, 0.4])
    assert spark.likelihood_test(data, mechanism, p0=other[0], p1=other[1]) == mechanism.test(reports, *other)
    data.write.parquet(str(tmp_path / "reports"))
    assert jobs.likelihood_test_files(str(tmp_path / "reports"), mechanism) == mechanism.test(reports)
    subsets = frame(session, report=[[0, 1]])
    with pytest.raises(ParameterError, match="no plain outputs"):
        spark.likelihood_test(subsets, local.subset_selection(5, 1, size=2))


def test_bad_arguments_of_privatize_and_estimate(session):
    """Columns, types, symbols and reports that do not fit are refused."""
    data, mechanism = frame(session, answer=["a", "b"], n=[0, 1], x=[0.5, 1.5]), MECHANISMS["cells"]
    named = local.randomized_response(2, 1, symbols=["a", "b"])
    for call, message in (
        (lambda: spark.privatize(data, "nothing", mechanism), "there is no column 'nothing'"),
        (lambda: spark.privatize(data, "answer", mechanism), "symbols are whole numbers, but 'answer' is string"),
        (lambda: spark.privatize(data, "x", mechanism), "'x' is double"),
        (lambda: spark.privatize(data, "n", named), "symbols are text, but 'n' is bigint"),
        (lambda: spark.privatize(data, "n", 0.5), "must be a LocalMechanism"),
        (lambda: spark.privatize(data, "n", mechanism, missing="a"), "missing must be one of the 4 symbols"),
        (lambda: spark.privatize(data, "n", mechanism, keep=["n"]), "keep must name different public columns"),
        (lambda: spark.privatize(data, "n", mechanism, keep=["y"]), "there is no column 'y'"),
        (lambda: spark.estimate(data, mechanism), "'report' is missing"),
        (lambda: spark.estimate(data, mechanism, column="answer"), "'answer' is string"),
        (lambda: spark.estimate(data, mechanism, column="n", confidence=float("nan")), "confidence must be"),
        (lambda: spark.estimate(data.where("n > 5"), mechanism, column="n"), "there are no reports"),
        (lambda: spark.estimate(frame(session, report=[0, 4]), mechanism), "not among the outputs"),
        (lambda: spark.estimate(frame(session, report=[0, None]), mechanism), "not among the outputs"),
        (lambda: spark.tally(frame(session, report=[[0, 1], [1]]), MECHANISMS["subset"]), "not among the outputs"),
        (lambda: spark.tally(frame(session, report=[9]), MECHANISMS["hadamard"]), "not among the outputs"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()


def test_columns_are_found_by_their_whole_name(session):
    """A dot in a name is part of it, and two names that Spark takes for one are refused."""
    mechanism = MECHANISMS["cells"]
    dotted = frame(session, **{"the.answer": [0, 1, 2, 3], "a`b": [1, 2, 3, 4]})
    assert spark.tally(dotted, mechanism, column="the.answer")[1] == 4
    assert spark.privatize(dotted, "the.answer", mechanism, keep=["a`b"]).columns == ["a`b", "report"]
    twins = frame(session, Answer=[0], answer=[1])
    for call in (
        lambda: spark.privatize(twins, "answer", mechanism),
        lambda: spark.tally(twins, mechanism, column="answer"),
    ):
        with pytest.raises(ParameterError, match="several columns are called 'Answer', 'answer'"):
            call()


def deadly(randomiser, folder, lives):
    """A randomiser whose worker is killed, right after it drew, as often as ``lives`` says, once for each marker."""

    class Deadly(type(randomiser)):
        def draw(self, codes, read=None):
            drawn = super().draw(codes) if read is None else super().draw(codes, read)
            if len(codes) > 1:  # one is only asked for the shape of a report
                died = len(os.listdir(folder))
                if died < lives:
                    Path(folder, str(os.getpid())).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            return drawn

    mortal = object.__new__(Deadly)
    mortal.__dict__.update(randomiser.__dict__)
    return mortal


def with_randomiser(mechanism, randomiser):
    copy = object.__new__(type(mechanism))
    copy.__dict__.update({**mechanism.__dict__, "randomiser": randomiser})
    return copy


def test_a_killed_worker_does_not_double_count(session, tmp_path):
    """A Python worker killed after it drew: the task runs again, and every person still has exactly one report."""
    graves = tmp_path / "graves"
    graves.mkdir()
    mechanism = MECHANISMS["cells"]
    mortal = with_randomiser(mechanism, deadly(mechanism.randomiser, str(graves), 2))
    path = tmp_path / "out" / "reports"
    path.parent.mkdir()
    data = answers_frame(session, 4).coalesce(2)
    reports = spark.privatize(data, "answer", mortal, path=str(path), keep=["person"])
    assert 1 <= len(os.listdir(graves)) <= 3  # two workers may die at the same moment
    assert sorted(row.person for row in reports.collect()) == list(range(2000))
    assert [name for name in os.listdir(path.parent) if name != "reports"] == []


def test_a_job_that_cannot_finish_publishes_nothing(session, tmp_path):
    """Workers killed as often as Spark tries again: an error, no reports, nothing half-written left behind."""
    graves = tmp_path / "graves"
    graves.mkdir()
    mechanism = MECHANISMS["cells"]
    mortal = with_randomiser(mechanism, deadly(mechanism.randomiser, str(graves), 10**6))
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(TinctError, match="nothing was published"):
        spark.privatize(answers_frame(session, 4).coalesce(1), "answer", mortal, path=str(out / "reports"))
    assert os.listdir(out) == []
    assert len(os.listdir(graves)) == 4  # as often as this session lets a task fail


# asking


def nasty():
    """A table with every kind of cell that is read in a special way."""
    rng = np.random.default_rng(8)
    size = 400
    words = [
        "yes",
        " No ",
        "TRUE",
        "f",
        "1",
        "0.0",
        "\u00a0y\u2003",
        "\tyes",
        "maybe",
        "",
        " ",
        None,
        "N",
        "oui",
        "1.0",
        "K",
    ]
    numbers = [
        0.0,
        -0.0,
        1.0,
        2.5,
        float("nan"),
        float("inf"),
        -float("inf"),
        1e16,
        1.5e-7,
        0.1,
        1 / 3,
        None,
        3.0,
        1e300,
        2e23,
    ]
    day = dt.date(2024, 2, 28)
    moment = dt.datetime(2024, 3, 31, 1, 30)
    return pa.table(
        {
            "word": pa.array(rng.choice(np.array(words, object), size)),
            "number": pa.array([numbers[at] for at in rng.integers(len(numbers), size=size)], pa.float64()),
            "single": pa.array([numbers[at] for at in rng.integers(4, size=size)], pa.float32()),
            "whole": pa.array(rng.integers(-2, 3, size), mask=rng.random(size) < 0.1),
            "small": pa.array(rng.integers(0, 2, size).astype(np.int8)),
            "price": pa.array([Decimal(int(n)) / 4 for n in rng.integers(-3, 12, size)], pa.decimal128(10, 2)),
            "flag": pa.array(rng.random(size) < 0.5, mask=rng.random(size) < 0.2),
            "ward name": pa.array(rng.choice(np.array(["N", " N", "S", "é", "", "Z", None, "a'b"], object), size)),
            "day": pa.array([day + dt.timedelta(int(n)) for n in rng.integers(0, 4, size)]),
            "moment": pa.array(
                [moment + dt.timedelta(seconds=0.25 * int(n)) for n in rng.integers(0, 5, size)],
                pa.timestamp("us"),
            ),
            "person": pa.array(
                rng.choice(np.array(["p1", "p2 ", "p2", "", None, *(f"q{n}" for n in range(90))], object), size)
            ),
            "number.id": pa.array(rng.integers(0, 80, size)),
        }
    )


@pytest.fixture(scope="module")
def both(session):
    """The same rows for DuckDB and for Spark."""
    table = nasty()
    with plain_sources.open(table) as here:
        there = session.createDataFrame(table)
        # Spark takes a moment without a zone for one in the session's; this takes the zone off again
        yield here, open_frame(there.withColumn("moment", there["moment"].cast("timestamp_ntz")))


COUNTS = [
    ("majority(word)", None, None),
    ("majority(flag)", None, None),
    ("majority(whole)", None, None),
    ("majority(price)", "number > 0.1 or flag == yes", None),
    ("median(number, above=1)", None, None),
    ("median(single, above=1)", "day >= '2024-02-29'", None),
    ("share(number in [0.1, 2.5, 1e16], at_least=1/3)", "not (small == 1)", None),
    ("share(`ward name` in ['N', 'é', 'a''b'] and flag != no, at_least=0.5)", None, "person"),
    ("threshold(moment == '2024-03-31 01:30:00.5', at_least=3)", None, None),
    ("exists(word not in ['maybe', 'oui'])", "price >= 0.75", "`number.id`"),
    ("mode(`ward name`, categories=['S', 'N', 'é'])", None, "person"),
    ("mode(whole, categories=[-1, 0, 1], rest=0)", "flag == yes", None),
    ("mode(flag, categories=[yes, no])", None, "number"),
]


@pytest.mark.parametrize(("question", "where", "unit"), COUNTS)
def test_counts_equal_those_of_duckdb(both, question, where, unit):
    """The same rows have the same counts, whatever their cells look like."""
    asked = parse(question)
    name = None if unit is None else unit.strip("`")
    assert both[1].count(asked, where=where, unit=name) == both[0].count(asked, where=where, unit=name)


def test_spark_counts_persons_as_the_rule_says(session):
    """Random rows against the rule in plain Python."""
    rows = test_persons.random_rows(7, 80)
    test_persons.require_the_rule(open_frame(session.createDataFrame(test_persons.table(rows))), rows)


def test_spark_counts_a_person_in_the_first_groups(session):
    """Random panels against a slow twin in plain Python."""
    rows = test_several_groups.panel(3, 60)
    frame = session.createDataFrame(test_several_groups.table(rows))
    test_several_groups.require_first_groups(open_frame(frame), rows, 3)


@pytest.mark.parametrize("name", [None, *test_engines.DESCRIPTIONS])
def test_spark_reads_messy_rows_as_other_engines_do(session, name):
    """With and without a description: the same counts as of an Arrow table."""
    rows, description = test_engines.messy_rows(f"spark {name}", 1500), test_engines.DESCRIPTIONS.get(name)
    table = test_engines.as_arrow(rows)
    asked = test_engines.QUESTIONS[:: 1 if name == "dates" else 3]
    with plain_sources.open(table, description) as source:
        reference = test_engines.everything(source, asked, units=("id",))
    frame = session.createDataFrame(table)
    frame = frame.withColumn("m", frame["m"].cast("timestamp_ntz"))  # moments without a zone, as in the table
    with plain_sources.open(frame, description) as source:
        assert test_engines.require_equal(test_engines.everything(source, asked, units=("id",)), reference) > 2


GROUPED = [
    ("majority(word)", "ward name", None, None, None),
    ("median(number, above=1)", "number", None, None, None),
    ("majority(flag)", "single", "small == 1", None, None),
    ("majority(flag)", "price", None, "person", None),
    ("mode(whole, categories=[-1, 0, 1])", "day", None, "person", None),
    ("majority(small)", "moment", None, None, None),
    ("majority(small)", "flag", "number >= 0", "number.id", None),
    ("majority(small)", "whole", None, None, ["1", "-2", "77"]),
    ("majority(small)", "ward name", None, "person", ["S", "nobody", "N"]),
]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(("question", "by", "where", "unit", "groups"), GROUPED)
def test_counts_of_groups_equal_those_of_duckdb(both, question, by, where, unit, groups, listed):
    """Groups have the same names, order and counts."""
    options = {"where": where, "unit": unit, "groups": groups, "listed": listed and groups is not None}
    here, there = (source.count_by(parse(question), by, **options) for source in both)
    assert there.labels == here.labels
    assert there.rows == here.rows
    assert np.array_equal(there.classes, here.classes)
    assert np.array_equal(there.missing, here.missing)


def test_moments_are_read_in_universal_time(session):
    """A moment with a time zone has one text, whatever the session's zone, as DuckDB writes it in UTC."""
    moments = pa.array([1_711_846_800_250_000, 1_711_850_400_000_000, None], pa.timestamp("us", "UTC"))
    source = open_frame(session.createDataFrame(pa.table({"t": moments, "x": [True, True, True]})))
    assert source.count_by(majority("x"), "t").labels == ("2024-03-31 01:00:00.25+00", "2024-03-31 02:00:00+00")


def test_columns_are_checked_as_everywhere(session, both):
    """Columns that are not there or cannot be read that way are refused in the same words."""
    for question, by in (
        ("majority(wrd)", None),
        ("median(word, above=1)", None),
        ("majority(day)", None),
        ("majority(flag)", "wards"),
    ):
        messages = []
        for source in both:
            with pytest.raises(ParameterError) as raised:
                source.check(parse(question), by=by)
            messages.append(str(raised.value))
        assert messages[0] == messages[1]
    listed = open_frame(session.createDataFrame(pa.table({"x": [[1], [2]]})))
    with pytest.raises(ParameterError, match="neither numbers, text nor truth values"):
        listed.count(majority("x"))
    assert kind_of_spark_type("struct<a:int>") == "other"


def test_nobody_is_a_frame_like_any_other(session):
    """No rows is no error: counts of 0, no groups, and one empty batch of them."""
    source = plain_sources.open(session.range(0).selectExpr("id", "true AS b"))
    assert source.count(majority("b"), unit="id").rows == 0
    assert len(source.count_by(majority("b"), "id")) == 0
    (batch,) = source.group_batches(majority("b"), "id")
    assert (batch.rows, batch.labels, batch.classes.shape) == (0, (), (0, 2))


# for each type of Spark, an ordinary cell and nasty ones, as expressions
NASTY_CELLS = {
    "string": ("'a'", ["CAST(X'FF61' AS STRING)", "CAST(X'61C3' AS STRING)", "''", "char(0)", "repeat('x', 100000)"]),
    "timestamp": (
        "TIMESTAMP'2024-01-01 00:00:00'",
        ["timestamp_micros(9223372036854775807L)", "timestamp_micros(-9223372036854775807L - 1L)", "NULL"],
    ),
    "timestamp_ntz": ("TIMESTAMP_NTZ'2024-01-01 00:00:00'", ["TIMESTAMP_NTZ'+294247-01-10 00:00:00'", "NULL"]),
    "date": ("DATE'2024-01-01'", ["date_from_unix_date(2147483647)", "date_from_unix_date(-2147483648)"]),
    "double": ("1.5D", ["double('nan')", "double('-inf')", "5e-324D", "1e308D"]),
    "decimal(38,2)": ("1.5", ["-999999999999999999999999999999999999.99"]),
    "bigint": ("1", ["-9223372036854775808L", "9223372036854775807L"]),
    "boolean": ("true", ["NULL"]),
}


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("kind", NASTY_CELLS)
def test_one_nasty_row_changes_the_counts_by_one_row(session, kind, ansi):
    """Added to a frame, whatever its cell holds: an answer, and one row more; in no mode of Spark an error."""
    ordinary, nasty = NASTY_CELLS[kind]
    session.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        rows = [f"SELECT CAST({ordinary} AS {kind}) AS x, {at} AS p, true AS s" for at in range(3)]
        more = [f"SELECT CAST({cell} AS {kind}), {100 + at}, false" for at, cell in enumerate(nasty)]
        before = open_frame(session.sql(" UNION ALL ".join(rows)))
        after = open_frame(session.sql(" UNION ALL ".join([*rows, *more])))
        assert before.columns == after.columns
        assert after.count(majority("s")).classes == (3, len(more))
        assert after.count(majority("s"), unit="p").classes == (3, len(more))
        assert 1 <= after.count(majority("s"), unit="x").rows <= 1 + len(more)
        for unit in (None, "p"):
            groups = after.count_by(majority("s"), "x", unit=unit)
            assert groups.rows == 3 + len(more)
            assert groups.of(before.count_by(majority("s"), "x").labels[0]).classes == (3, 0)
            batches = list(after.group_batches(majority("s"), "x", unit=unit))
            assert [batch.labels for batch in batches] == [groups.labels]
            assert np.array_equal(batches[0].classes, groups.classes)
            assert batches[0].rows == groups.rows
        if kind == "string":
            assert groups.labels == tuple(sorted(["a", "\0", "x" * 100_000]))  # what is not UTF-8 is no group
            counts = after.count(parse("exists(x == 'a')"))
            assert (counts.rows, counts.missing) == (8, 3)
    finally:
        session.conf.unset("spark.sql.ansi.enabled")


# moments in milliseconds, from the first to the last that fits into microseconds
FITTING = [0, -1, 1_711_846_800_250, None, -62_135_596_800_001, -9_223_372_036_854_775, 9_223_372_036_854_775]
MOMENT_TYPES = {"t": pa.timestamp("ms"), "z.`z": pa.timestamp("ms", "UTC"), "u": pa.timestamp("us")}


def moments_file(path, millis, types=MOMENT_TYPES):
    """A Parquet file with a row for each number, which stands in columns of milliseconds, zoned and not."""
    whole = {name: [0] * len(millis) if kind.unit == "us" else millis for name, kind in types.items()}
    moments = {name: pa.array(whole[name], pa.int64()).cast(kind, safe=False) for name, kind in types.items()}
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({**moments, "s": [True] * len(millis), "p": list(range(len(millis)))}), path)


@pytest.mark.parametrize("settings", [{}, {"ansi.enabled": "false", "parquet.enableVectorizedReader": "false"}])
def test_one_moment_in_milliseconds_changes_the_counts_by_one_row(session, tmp_path, settings):
    """Spark's own reader would fail on a cell 292,000 years away: here its row is a row, and the cell is missing."""
    folder = tmp_path / "100% of them"  # also in a folder whose name has to be escaped
    moments_file(folder / "a.parquet", [0, 1000, None])
    before = jobs.open_parquet(str(folder))
    absurd = [2**63 - 1, -(2**63), 2**62, 9_223_372_036_854_776, -9_223_372_036_854_776]
    moments_file(folder / "b.parquet", absurd)
    try:
        for name, value in settings.items():
            session.conf.set(f"spark.sql.{name}", value)
        after = jobs.open_parquet(str(folder))
        assert before.columns == after.columns
        for column in ("t", "z.`z"):
            first, second = (each.count_by(majority("s"), column) for each in (before, after))
            assert (first.labels, first.classes.tolist()) == (second.labels, second.classes.tolist())
            assert (first.rows, second.rows) == (3, 3 + len(absurd))
            assert [batch.labels for batch in after.group_batches(majority("s"), column)] == [first.labels]
            assert after.count(majority("s"), unit=column).rows == 2
        question = parse("exists(t == '1970-01-01 00:00:00')")
        assert (before.count(question).classes, after.count(question).classes) == ((1, 1), (1, 1))
        assert after.count(question).missing == 1 + len(absurd)
        options = {"target": str(tmp_path / "answers"), "epsilon": 20, "delta": "1e-3", "by": "t"}
        jobs.ask_groups_files(str(folder), "majority(s)", **options)
    finally:
        for name in settings:
            session.conf.unset(f"spark.sql.{name}")


def test_moments_in_milliseconds_have_the_text_they_had(session, tmp_path):
    """For all that Spark can read, in columns with a zone and without, labels and types are those of its own reader."""
    path = tmp_path / "year=2024" / "moments.parquet"
    moments_file(path, FITTING)
    own = open_frame(session.read.parquet(str(tmp_path)))
    here = jobs.open_parquet(str(tmp_path))
    assert here._frame.dtypes == own._frame.dtypes
    assert here.columns == (*MOMENT_TYPES, "s", "p", "year")
    for column in MOMENT_TYPES:
        labels = here.count_by(majority("s"), column).labels
        assert labels == own.count_by(majority("s"), column).labels
        assert "1970-01-01 00:00:00" in [label.removesuffix("+00") for label in labels]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"t": pa.timestamp("us")}, "column t is timestamp_ntz in one file and timestamp_ntz in milliseconds in"),
        ({"T": pa.timestamp("us")}, "is timestamp_ntz in one file"),
        ({"t": pa.timestamp("ms", "UTC")}, "timestamp in milliseconds in one file"),
        ({"t": pa.timestamp("ms"), "p": pa.timestamp("ms")}, "column p is long in one file"),
    ],
)
def test_files_that_do_not_agree_on_a_column_are_refused_by_their_schema(session, tmp_path, other, said):
    """Of one folder, before anything is charged or counted, also if nobody is in the file that differs."""
    folder, ledger = tmp_path / "rows", Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-5")
    moments_file(folder / "a.parquet", FITTING, {"t": pa.timestamp("ms")})
    empty = pa.table({name: pa.array([], kind) for name, kind in other.items()})
    pq.write_table(empty, folder / "b.parquet")
    with pytest.raises(FileError, match=said):
        jobs.ask_groups_files(
            str(folder), "majority(s)", epsilon=1, delta="1e-6", by="t", target=str(tmp_path / "out"), ledger=ledger
        )
    assert not ledger.history()
    # a column that is not there is missing
    pq.write_table(pa.table({"s": pa.array([], pa.bool_())}), folder / "b.parquet")
    assert jobs.open_parquet(str(folder)).count(majority("s")).rows == len(FITTING)


def test_no_date_is_too_long_ago_for_an_answer(session, tmp_path):
    """A setting of Spark makes it fail on the first date before 1582; files that are opened here are read anyway."""
    days = pa.array([0, -1_000_000, -(2**31)], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"day": days, "s": [True] * 3}), tmp_path / "days.parquet")
    session.conf.set("spark.sql.parquet.datetimeRebaseModeInRead", "exception")
    try:
        counts = jobs.open_parquet(str(tmp_path / "days.parquet")).count_by(majority("s"), "day")
        assert counts.labels == ("-0768-02-04", "-5877641-06-23", "1970-01-01")
    finally:
        session.conf.unset("spark.sql.parquet.datetimeRebaseModeInRead")


def test_no_error_of_python_quotes_a_cell_either(session):
    """What goes wrong with a cell on its way to the driver is told without it."""
    broken = session.sql("SELECT CAST(X'FF7A616E7A69626172' AS STRING) AS x")
    with pytest.raises(TinctError) as raised:
        spark_engine.guarded("reading", lambda: broken.toArrow().column(0).to_pylist())
    assert CANARY not in str(raised.value)
    assert raised.value.__cause__ is raised.value.__context__ is None


def test_batches_of_groups_are_those_of_one_count(session, monkeypatch):
    """In the order of their text, at most so many at a time; rows in no group are counted with the last."""
    monkeypatch.setattr("tinct.sources.spark_frames.MAX_GROUPS", 4)
    source = open_frame(session.sql("SELECT nullif(id % 11, 10) AS g, id % 3 AS c FROM range(300)"))
    for question in (majority("c"), mode("c", [0, 1, 2])):
        whole = source.count_by(question, "g")
        batches = list(source.group_batches(question, "g"))
        assert [len(batch) for batch in batches] == [4, 4, 2]
        assert sum((batch.labels for batch in batches), ()) == whole.labels
        assert np.array_equal(np.concatenate([batch.classes for batch in batches]), whole.classes)
        assert sum(batch.rows for batch in batches) == whole.rows == 300


def votes(session, groups=30, size=40):
    """Groups of which every third says no; some rows have no group."""
    label = np.repeat([f"g{at:02}" for at in range(groups)], size)
    says = np.repeat(["no" if at % 3 == 0 else "yes" for at in range(groups)], size)
    return frame(session, ward=[*label, None, None], support=[*says, "yes", "no"])


def test_ask_answers_from_spark(session):
    """At a large ε the answers are the truth, for one question, for groups, for categories."""
    data = open_frame(votes(session))
    assert ask(votes(session), majority("support"), 20).value == "yes"
    answers = ask(data, "majority(support)", 20, "1e-6", by="ward").value
    assert answers == {f"g{at:02}": "no" if at % 3 == 0 else "yes" for at in range(30)}
    declared = ask(data, majority("support"), 20, by="ward", groups=["g00", "nobody", "g01"]).value
    assert declared == {"g00": "no", "nobody": declared["nobody"], "g01": "yes"}
    assert ask(data, mode("support", ["no", "yes"]), 20).value == "yes"


def test_groups_are_answered_on_the_executors_and_charged_once(session, tmp_path):
    """Answers for all groups, published once; the same request returns them free of charge and undrawn."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=45, delta="1e-5")
    data, path = votes(session), str(tmp_path / "answers")
    options = {"by": "ward", "path": path, "ledger": ledger, "request": "wards"}
    answers = spark.ask_groups(data, majority("support"), 20, "1e-6", **options)
    found = {row.group: row.answer for row in answers.table.collect()}
    assert found == {f"g{at:02}": "no" if at % 3 == 0 else "yes" for at in range(30)}
    assert str(ledger.spent().epsilon) == "20"
    again = spark.ask_groups(data, majority("support"), 20, "1e-6", **options)
    assert {row.group: row.answer for row in again.table.collect()} == found
    assert str(ledger.spent().epsilon) == "20"
    with pytest.raises(TinctError, match="wards"):  # another question under the same name
        spark.ask_groups(data, majority("support"), 21, "1e-6", **options)
    with pytest.raises(FileError, match="exists already"):
        spark.ask_groups(data, majority("support"), 20, "1e-6", **{**options, "request": "other"})
    assert str(ledger.spent().epsilon) == "20"
    declared = spark.ask_groups(
        data, mode("support", ["no", "yes"]), 20, by="ward", path=str(tmp_path / "more"), groups=["g03", "g04"]
    )
    assert {row.group: row.answer for row in declared.table.collect()} == {"g03": "no", "g04": "yes"}


@pytest.fixture
def wards(session, tmp_path):
    """A request for all wards, with the folder it publishes in and the ledger it is charged to."""
    ledger, out = Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-5"), tmp_path / "out"
    out.mkdir()
    data = votes(session, groups=3)

    def run():
        options = {"by": "ward", "path": str(out / "answers"), "ledger": ledger, "request": "wards"}
        return spark.ask_groups(data, majority("support"), 1, "1e-6", **options)

    return run, out, ledger


def test_a_job_that_fails_stays_charged_and_is_completed(wards, monkeypatch):
    """The charge comes first; what fails says one sentence and leaves nothing; the same request completes it, free."""
    run, out, ledger = wards

    def failing(*_):
        assert [entry.state for entry in ledger.history()] == [State.CHARGED]
        raise TinctError("the cluster is gone")

    with monkeypatch.context() as broken:
        broken.setattr(publishing, "stage", failing)
        with pytest.raises(NotAnswered, match="is charged, but its answer could not be completed") as failure:
            run()
    assert "gone" not in str(failure.value)
    assert os.listdir(out) == []
    assert {row.answer for row in run().table.collect()} <= {"yes", "no"}
    assert (str(ledger.spent().epsilon), os.listdir(out)) == ("1", ["answers"])


def test_answers_are_drawn_where_only_the_service_can_look(wards, monkeypatch):
    """Until it is recorded, what was drawn stands in a folder that nobody else may enter."""
    run, out, ledger = wards
    stage, seen = publishing.stage, []

    def watched(*given):
        stage(*given)
        (folder,) = out.iterdir()
        seen.append((folder.stat().st_mode & 0o777, ledger.find("wards").state))

    monkeypatch.setattr(publishing, "stage", watched)
    run()
    assert seen == [(0o700, State.CHARGED)]
    assert os.listdir(out) == ["answers"]


def test_what_was_recorded_is_published_by_whoever_comes_next(wards, monkeypatch):
    """A run that ends between the record and the name: the next one gives the same answers their name, undrawn."""
    run, out, _ = wards
    with monkeypatch.context() as broken:
        broken.setattr(publishing, "reveal", lambda *_: (_ for _ in ()).throw(TinctError("killed")))
        with pytest.raises(TinctError, match="killed"):
            run()
    (hidden,) = out.iterdir()
    drawn = sorted((hidden / "rows").glob("*.parquet"))
    stood = {path.name: path.read_bytes() for path in drawn}
    monkeypatch.setattr(publishing, "stage", lambda *_: pytest.fail("this was drawn again"))
    assert run().repeated
    assert os.listdir(out) == ["answers"]
    assert {path.name: path.read_bytes() for path in (out / "answers").glob("*.parquet")} == stood


def test_of_two_runs_of_one_request_the_slower_one_drops_what_it_drew(wards, monkeypatch):
    """Both get the answers of the one that was recorded first."""
    run, out, ledger = wards
    stage, faster = publishing.stage, []

    def slow(*given):
        stage(*given)
        if not faster:
            faster.append(None)
            faster[0] = sorted(map(tuple, run().table.collect()))

    monkeypatch.setattr(publishing, "stage", slow)
    assert sorted(map(tuple, run().table.collect())) == faster[0]
    assert os.listdir(out) == ["answers"]
    assert len(ledger.history()) == 1


def test_the_number_of_files_says_nothing_about_groups_that_are_not_shown(session, tmp_path):
    """Names and sizes of what is published are the same, however many small groups there are."""
    listings = []
    for number, small in enumerate((1, 3000)):
        labels = ["large"] * 300 + [f"small {at}" for at in range(small)]
        data = frame(session, ward=labels, support=["yes"] * len(labels)).repartition(1 + 40 * number)
        path = tmp_path / f"answers {number}"
        spark.ask_groups(data, majority("support"), 20, "1e-12", by="ward", path=str(path))
        files = sorted(each for each in path.iterdir() if each.suffix == ".parquet")
        listings.append([(re.sub("-[0-9a-f]{8}-.*", "", each.name), each.stat().st_size) for each in files])
    assert listings[0] == listings[1]


def test_what_was_published_is_never_drawn_again(session, tmp_path):
    """Deleting the answers does not roll the dice anew: the request was answered, and somebody may have seen it."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-5")
    data, path = votes(session, groups=3), str(tmp_path / "answers")
    options = {"by": "ward", "path": path, "ledger": ledger, "request": "wards"}
    spark.ask_groups(data, majority("support"), 1, "1e-6", **options)
    shutil.rmtree(path)
    with pytest.raises(FileError, match="not drawn again"):
        spark.ask_groups(data, majority("support"), 1, "1e-6", **options)
    assert not os.path.exists(path)


def test_what_cannot_be_paid_is_not_drawn(session, tmp_path, monkeypatch):
    """A budget that does not suffice, and a name that is none, are refused before the work begins."""
    ledger = Ledger(tmp_path / "budget.db", epsilon="ln 3", delta="1e-5")
    data, options = votes(session, groups=3), {"by": "ward", "path": str(tmp_path / "answers"), "ledger": ledger}
    with monkeypatch.context() as watched:
        watched.setattr(publishing, "stage", lambda *_: pytest.fail("this was drawn"))
        for epsilon, delta in ((2, "1e-6"), (1, "2e-5")):
            with pytest.raises(BudgetExceeded, match="not enough privacy is left"):
                spark.ask_groups(data, majority("support"), epsilon, delta, **options)
        with pytest.raises(ParameterError, match="request"):
            spark.ask_groups(data, majority("support"), 1, "1e-6", **options, request="")
        with pytest.raises(ParameterError, match="needs a ledger"):
            spark.ask_groups(data, majority("support"), 1, "1e-6", **{**options, "ledger": None}, request="x")
    spark.ask_groups(data, majority("support"), "ln 3", "1e-6", **options)  # all there is, to the last digit
    assert [entry.question for entry in ledger.history()] == ["majority(support) of the Spark DataFrame, by ward"]


def test_selected_groups_are_the_large_ones(session, tmp_path):
    """Groups nobody declared: large ones are found, a group of one almost never (δ/2 and less)."""
    sizes = {"large": 300, "tiny": 1}
    data = frame(session, ward=[name for name, n in sizes.items() for _ in range(n)], support=["yes"] * 301)
    answers = spark.ask_groups(data, majority("support"), 2, "1e-9", by="ward", path=str(tmp_path / "found"))
    assert [tuple(row) for row in answers.table.collect()] == [("large", "yes")]


def test_numbers_are_answered_from_spark_and_find_their_own_groups(session, tmp_path):
    """At a large ε the noise is small: one number, a histogram, groups that are found, groups that are declared."""
    wards = ["large"] * 300 + ["tiny"]
    data = frame(session, ward=wards, support=["yes"] * 200 + ["no"] * 101)
    assert abs(ask(data, "count(support)", 20).value - 200) <= 3
    found = ask(data, "histogram(ward, ['large', 'tiny'])", 20).value
    assert abs(found["large"] - 300) <= 3
    answers = spark.ask_groups(data, "count(support)", 2, "1e-9", by="ward", path=str(tmp_path / "found"))
    ((group, number),) = (tuple(row) for row in answers.table.collect())
    assert group == "large"
    assert abs(int(number) - 200) <= 30
    options = {"by": "ward", "groups": ["large", "none"], "path": str(tmp_path / "declared")}
    several = spark.ask_groups(data, "histogram(support, ['yes', 'no'])", 20, **options)
    texts = {row.group: json.loads(row.answer) for row in several.table.collect()}
    assert abs(texts["large"]["yes"] - 200) <= 3
    assert abs(texts["none"]["no"]) <= 3


def test_jobs_run_from_files_to_files(session, tmp_path):
    """What the command line calls: Parquet in, Parquet out, in the session that is running."""
    data, folder = str(tmp_path / "data.parquet"), str(tmp_path)
    frame(session, answer=[0, 1, 2, 3] * 50, support=["yes"] * 200).write.parquet(data)
    mechanism = MECHANISMS["cells"]
    jobs.privatize_files(data, "answer", mechanism, f"{folder}/reports", master="local[2,4]")
    found = jobs.estimate_files(f"{folder}/reports", mechanism, confidence=0.9)
    assert (found.reports, found.confidence) == (200, 0.9)
    assert ask(jobs.open_parquet(data), "majority(support)", 20).value == "yes"
    with pytest.raises(FileError, match="Spark reads Parquet"):
        jobs.open_parquet("rows.csv")
    vertices, edges = frame(session, **GOOD["vertices"]), frame(session, **GOOD["edges"])
    spark.write_graph_frames(vertices, edges, folder)
    made = jobs.extend_files(folder, {2: 0.5}, f"{folder}/table")
    assert made.outputs == ("a", "b")
    rows = {row.vertex: row.first for row in session.read.parquet(made.path).collect()}
    graph = DatasetGraph([(1, 2), (2, 3), (3, 4)], dict(zip(*GOOD["vertices"].values(), strict=True)))
    expected = extend(graph, Privacy(1), {2: 0.5})
    assert rows == pytest.approx({v: expected.probability(v, "a") for v in rows}, rel=RELATIVE)
    fair = jobs.balanced_files(folder, f"{folder}/fair", lean={"b": 0.7})
    rows = {row.vertex: row.first for row in session.read.parquet(fair.path).collect()}
    leaning = balanced(graph, Privacy(1), lean={"b": 0.7})
    assert rows == pytest.approx({v: leaning.probability(v, "a") for v in rows}, rel=RELATIVE)
    with pytest.raises(FileError, match="exists already"):
        jobs.balanced_files(folder, f"{folder}/fair")
    with pytest.raises(TinctError, match="there is no such path"):
        jobs.estimate_files(f"{folder}/nothing", mechanism)
    with pytest.raises(ParameterError, match="running already"):
        spark.session("local[3]")


def test_the_script_of_the_documentation_runs(session, tmp_path):
    """docs/scale.md shows one; it runs here on files of the shape it expects, in the session that is there."""
    page = (Path(__file__).parent.parent / "docs" / "scale.md").read_text(encoding="utf-8")
    script = page.partition("```python\n")[2].partition("```")[0].replace('spark.session("local[2]")', "running")
    for name in ("answers", "reports", "by-ward", "budget.db", "graph"):  # Spark has a working folder of its own
        assert script.count(f'"{name}"') == 1
        script = script.replace(f'"{name}"', repr(str(tmp_path / name)))
    people = {"smokes": ["never", "often", None] * 100, "support": ["yes"] * 300, "ward": ["north"] * 300}
    frame(session, **people).write.parquet(str(tmp_path / "answers"))
    vertices, edges = frame(session, vertex=["a", "b"], color=["no", "yes"]), frame(session, source=["a"], target=["b"])
    (tmp_path / "graph").mkdir()
    spark.write_graph_frames(vertices, edges, str(tmp_path / "graph"))
    Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-6")
    names = {"running": session}
    exec(script, names)  # noqa: S102 # the documentation's own words
    assert [tuple(row) for row in names["wards"].table.collect()] == [("north", "yes")]
    assert names["table"].count() == 2
    assert Ledger(tmp_path / "budget.db").remaining().epsilon == 0


def command(*arguments, status=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == status or (status and isinstance(done.exception, TinctError)), done.output
    return done.exception if status else done.stdout


def test_commands_run_on_spark(session, tmp_path):
    """``--engine spark``: reports, estimates, answers for groups and extensions, from Parquet to Parquet."""
    there = ("--engine", "spark", "--master", "local[2,4]")
    votes(session).write.parquet(str(tmp_path / "votes.v2"))  # a dot in a folder's name is no other format
    command(
        "local",
        "design",
        "--mechanism",
        "randomized-response",
        "--symbols",
        "yes,no",
        "-e",
        20,
        "-o",
        tmp_path / "rr.json",
    )
    rr = ("--mechanism", tmp_path / "rr.json", *there)
    command("local", "privatize", tmp_path / "votes.v2", "-c", "support", *rr, "-o", tmp_path / "reports")
    found = json.loads(command("local", "estimate", tmp_path / "reports", *rr, "--json"))
    assert found["reports"] == 1202
    one = ("ask", tmp_path / "votes.v2", "majority(support)", "-e", 20, "-d", "1e-6", *there)
    assert json.loads(command(*one, "--json"))["answer"] == "yes"
    command("budget", "init", tmp_path / "budget.db", "-e", 30, "-d", "1e-5")
    many = (
        *one,
        "--by",
        "ward",
        "-o",
        tmp_path / "wards",
        "--ledger",
        tmp_path / "budget.db",
        "--request",
        "w",
        "--json",
    )
    first, again = json.loads(command(*many)), json.loads(command(*many))
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["answer"] == f"published in {tmp_path / 'wards'}"
    assert session.read.parquet(str(tmp_path / "wards")).count() == 30
    (tmp_path / "graph").mkdir()
    spark.write_graph_frames(
        frame(session, **GOOD["vertices"]), frame(session, **GOOD["edges"]), str(tmp_path / "graph")
    )
    frame(session, vertex=[2], first=[0.5]).write.parquet(str(tmp_path / "fixed"))
    extension = ("design", tmp_path / "graph", "--fix", tmp_path / "fixed", *there)
    result = json.loads(command(*extension, "-o", tmp_path / "table", "--json"))
    assert result["outputs"] == ["a", "b"]
    assert session.read.parquet(str(tmp_path / "table")).count() == 4
    assert "Pr[a], Pr[b]" in command(*extension, "-o", tmp_path / "again")
    fair = ("design", tmp_path / "graph", *there)
    assert command(*fair, "-o", tmp_path / "fair").startswith("Fair optimum: no private mechanism is right at least")
    leaning = json.loads(command(*fair, "--lean", "b=0.7", "-o", tmp_path / "lean", "--json"))
    assert leaning["claim"]["text"].startswith("fair optimum with a lean: ")
    rows = {row.vertex: row.second for row in session.read.parquet(str(tmp_path / "lean")).collect()}
    assert rows[3] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["design", "graph", "--fix", "f", "-o", "t", "--mu", "1"], "--mu cannot be combined"),
        (["design", "graph", "--fix", "f", "-o", "t", "--truth", "0.8,0.5"], "--truth cannot be combined"),
        (["design", "graph", "--fix", "f", "-o", "t", "--delta", "0.1"], "--delta needs --epsilon"),
        (["design", "graph"], "writes one --output"),
        (["design", "graph", "--fix", "f", "-o", "t", "--lean", "0.7"], "--lean cannot be combined"),
        (["design", "graph", "-o", "t", "--lean", "high"], "--lean must be a probability"),
        (["ask", "rows.csv", "majority(x)", "-e", "1"], "Spark reads Parquet"),
        (["ask", "rows", "majority(x)", "-e", "1", "-o", "t"], "--output is for the answers of --by"),
        (["ask", "rows", "majority(x)", "-e", "1", "-o", "t", "--by", "w", "--neighbors", "replace"], "add-remove"),
        (["ask", "hdfs://nowhere:9/rows", "majority(x)", "-e", "1"], "hdfs://nowhere:9/rows"),
    ],
)
def test_commands_on_spark_pass_over_nothing(session, arguments, said):
    """An option that Spark has no use for is an error, and addresses keep both of their slashes."""
    assert said in str(command(*arguments, "--engine", "spark", status=2))


def test_a_lost_executor_costs_time_only(tmp_path):
    """On a cluster of two executors, one is killed after it drew, and one in the middle of each fix-point."""
    script = Path(__file__).with_name("losing_executors.py")
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["reports", "extension", "fair_optimum"]


def test_duckdb_is_the_reference():
    """The blanks that Spark takes off are the ones DuckDB takes off."""
    from tinct.sources.sql_dialects import BLANKS

    characters = [chr(code) for code in range(1, 0x3002)]
    rows = duckdb.connect().execute("SELECT c, trim(c || 'x') FROM (SELECT unnest(?) AS c)", [characters]).fetchall()
    assert {c for c, trimmed in rows if trimmed == "x"} == set(BLANKS)
