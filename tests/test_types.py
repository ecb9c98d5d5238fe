"""What a type checker tells somebody who uses the library: a good script passes, and each mistake is found."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tinct

SOURCE = Path(tinct.__file__).parent

GOOD = """
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import tinct
from tinct import (
    DatasetGraph, EdgePrivacy, GaussianDP, GraphLike, Ledger, Mechanism, Neighbors, Privacy, PrivacyLike, Protection,
    ask, balanced, baselines, exact, extend, frontier, graphs, homogeneous, improve, interop, local, majority, mode,
    personalized, rainbow, share, verify,
)

privacy = Privacy("ln 2", Fraction(1, 10))
Privacy(np.float32(0.5), 0), Privacy(np.int64(1)), Privacy(1, "1e-6"), GaussianDP(1)
graph = DatasetGraph([(1, 2), (2, 3), (3, 4)], {2: "blue", 3: "blue", 1: "red", 4: "red"})
huge = graphs.neighbors(lambda v: [v ^ (1 << person) for person in range(200)], lambda v: v.bit_count() > 100)
reveal_type(balanced(graph, privacy))  # N: Mechanism
reveal_type(balanced(graph, privacy, at=2))  # N: numpy.ndarray
reveal_type(balanced(huge, privacy, at=0))  # N: numpy.ndarray
reveal_type(homogeneous(graph, privacy, 0.8, 0.4))  # N: Mechanism
reveal_type(homogeneous(graph, privacy, 0.8, 0.4, at=2))  # N: numpy.ndarray
reveal_type(extend(graph, privacy, {1: 0.3, 4: 0.1}))  # N: Mechanism
reveal_type(extend(graph, privacy, {1: (0.3, 0.7)}, at=2))  # N: numpy.ndarray
extend(huge, lambda u, v: Privacy(1), lambda v: 0.5 if v == 0 else None, at=1, least=0.1)
extend(graph, EdgePrivacy([0.5, 1.0, 2.0]), np.array([0.3, np.nan, np.nan, 0.1]))
balanced(graph, {(1, 2): Privacy(1), (2, 3): GaussianDP(1), (3, 4): Privacy(1)})
cube = graphs.hypercube(2, lambda bits: sum(bits) == 2)
reveal_type(rainbow.extend(graph, privacy, {("red", "blue"): [0.5, 0.5]}))  # N: Mechanism
reveal_type(rainbow.extend(huge, lambda u, v: Privacy(1), lambda v: None, at=1))  # N: numpy.ndarray
reveal_type(exact.balanced(graph, privacy))  # N: Certified
reveal_type(exact.extend(graph, privacy, {1: "0.3", 4: Fraction(1, 10)}))  # N: Certified
balanced(cube, personalized(cube, [0.5, Privacy(2)])).probability((0, 0), True)
improve(graph, privacy, baselines.randomized_response(graph, privacy))
frontier(graph, privacy).best({1: 2.0})
verify(np.full((4, 2), 0.5), graph, privacy).private
exact.certify(balanced(graph, privacy), loss="1e-6").release(2)


def design(given: GraphLike, kept: PrivacyLike, vertex: int) -> float:
    return float(balanced(given, kept, at=vertex)[0])


frame = pd.DataFrame({"support": ["yes", "no"]})
ask(frame, majority("support"), epsilon="0.5")
ask(pl.DataFrame({"support": ["yes"]}), "majority(support)", 1, "1e-6", by="ward", select="1/3")
ask(Path("votes.csv"), share("age >= 65", at_least="1/5"), epsilon=1, neighbors=Neighbors.REPLACE, people=10)
ask("votes.csv", mode("party", ["a", "b"]), 1, neighbors="replace", people=10, ledger="budget.db")
book = Ledger(Path("budget.db"), epsilon=10, delta="1e-6", protects=Protection(unit="person"))
answer = ask("votes.csv", "majority(support)", epsilon="ln 2", ledger=book, request="first")
print(answer.value, book.remaining())
best = local.optimal([0.2, 0.8], {"a": 0.5, "b": 0.5}, "ln 2", symbols=["a", "b"])
local.optimal([0.2, 0.8], [0.5, 0.5], 1, "hockey-stick:1.5").test([0, 1, 1])
interop.from_frame(frame, graph, privacy=privacy)
"""

WRONG = """
from tinct import DatasetGraph, GaussianDP, Ledger, Privacy, Protection, ask, balanced, exact, extend, frontier, graphs
from tinct import homogeneous, improve, local, majority, median, mode, quantile, rainbow, share, verify

graph = graphs.line(3, 3)
huge = graphs.neighbors(lambda v: [v + 1], lambda v: v > 0)
privacy = Privacy(1)
Privacy([1, 2])  # E
Privacy(None)  # E
Privacy(1, delta=[0.1])  # E
GaussianDP([1])  # E
balanced(graph, "nonsense")  # E
balanced(graph, 0.5)  # E
balanced(5, privacy)  # E
balanced(huge, privacy)  # E
balanced(graph, privacy, at=[1])  # E
balanced(graph, privacy).best  # E
balanced(graph, privacy, at=1).truth()  # E
homogeneous(graph, privacy, "high", 0.5)  # E
extend(graph, privacy, 5, at=1, least="low")  # E
extend(graph, privacy, {1: 0.3}, least=0.1)  # E
frontier(graph, "ln 2")  # E
improve(graph, "ln 2", balanced(graph, privacy))  # E
verify(balanced(graph, privacy), 5)  # E
rainbow.extend(graph, "ln 2", {})  # E
exact.balanced(graph, "ln 2")  # E
exact.certify(balanced(graph, privacy), loss=[1])  # E
DatasetGraph([(1, 2, 3)], {1: "a"})  # E
graph.recolored({1: "a"}, vertices=[1])  # E
ask(5, majority("support"), epsilon=1)  # E
ask(None, majority("support"), epsilon=1)  # E
ask([1, 2], majority("support"), epsilon=1)  # E
ask("votes.csv", 5, epsilon=1)  # E
ask("votes.csv", majority("support"), epsilon=[1])  # E
ask("votes.csv", majority("support"), epsilon=1, neighbors="added")  # E
ask("votes.csv", majority("support"), epsilon=1, where=5)  # E
ask("votes.csv", majority("support"), epsilon=1, ledger=5)  # E
ask("votes.csv", majority("support"), epsilon=1, lean=[0.9])  # E
ask("votes.csv", majority("support"), epsilon_column="b", budgets=5)  # E
majority(5)  # E
share("age > 3", at_least=[1])  # E
quantile("age", [0.5], above=3)  # E
median("age", above="high")  # E
mode("party", 5)  # E
Protection(neighbors="swap")  # E
Ledger(5, epsilon=1)  # E
Ledger("budget.db", epsilon=[1])  # E
local.optimal(0.5, 0.5, epsilon=[1])  # E
local.divergence([0.5, 0.5], [0.5, 0.5], 5)  # E
local.randomized_response(3, [1])  # E
local.binary([0.5, 0.5], [0.5, 0.5], 1, 5)  # E
local.subset_selection(3, 1, symbols=5)  # E
local.quaternary(1, [0.1])  # E
graphs.write(graph, "g.json", "ln 2")  # E
"""

# tinct as if it were installed; of the libraries beneath only numpy and polars are looked at, for speed
SETTINGS = """
[mypy]
strict = true
[mypy-tinct.*]
follow_imports = silent
[mypy-pandas.*,scipy.*,numba.*,networkx.*,matplotlib.*,pyarrow.*,pyspark.*,duckdb.*,dash.*,rich.*,typer.*,psycopg.*]
ignore_missing_imports = true
follow_imports = skip
"""

# parameters that are annotated Any or Any | None; docs/decisions/0022-types.md says where and why
MOST = {"in all": 374, "public": 148}


@pytest.fixture(scope="module")
def reported(tmp_path_factory) -> dict[str, dict[int, str]]:
    """What mypy says about every line of the two scripts, checked in one run as somebody else's files."""
    folder = tmp_path_factory.mktemp("scripts")
    scripts = {"good.py": GOOD, "wrong.py": WRONG}
    for name, text in scripts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    (folder / "tinct").symlink_to(SOURCE)  # the copy under test, whichever is installed
    line = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", str(folder / "cache"), *scripts]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    found: dict[str, dict[int, str]] = {name: {} for name in scripts}
    for said in done.stdout.splitlines():
        match = re.match(r"(good|wrong)\.py:(\d+): (?:error|note): (.*)", said)
        if match:
            lines = found[f"{match[1]}.py"]
            lines[int(match[2])] = f"{lines.get(int(match[2]), '')}{match[3]}\n"
        else:
            assert said.startswith("Found "), said
    assert done.returncode == 1, done.stdout + done.stderr
    return found


def test_a_good_script_passes_and_its_types_are_known(reported):
    """Nothing is said but the types that were asked for; designers tell a mechanism from a row."""
    wanted = {at: line.partition("# N: ")[2] for at, line in enumerate(GOOD.split("\n"), 1) if "# N: " in line}
    said = reported["good.py"]
    assert set(said) == set(wanted), said
    for at, name in wanted.items():
        assert said[at].startswith("Revealed type is"), said[at]
        assert name in said[at], said[at]


def test_every_mistake_is_found(reported):
    """Each line of the second script is wrong, and is said to be; no other is."""
    wrong = {at for at, line in enumerate(WRONG.split("\n"), 1) if line.endswith("# E")}
    assert set(reported["wrong.py"]) == wrong


def test_any_stays_where_any_object_is_welcome():
    """The number of parameters annotated Any may fall, and must not rise."""
    found = {"in all": 0, "public": 0}
    for path in SOURCE.rglob("*.py"):
        if "studio" in path.relative_to(SOURCE).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            given = node.args
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            loose = sum(
                ast.unparse(one.annotation) in ("Any", "Any | None")
                for one in every
                if one is not None and one.annotation is not None
            )
            found["in all"] += loose
            found["public"] += 0 if node.name.startswith("_") else loose
    assert found["in all"] <= MOST["in all"], found
    assert found["public"] <= MOST["public"], found
