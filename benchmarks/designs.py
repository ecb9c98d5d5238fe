"""Designing on graphs: against searches, solvers, and the limits of memory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import cases, peers
from benchmarks.measuring import extra_memory, in_turns, seconds
from benchmarks.rows import Row, faster, shown, slower
from tinct import EdgePrivacy, Mechanism, Privacy, balanced, extend, rainbow, verify
from tinct.graphs import Budget
from tinct.rainbow.envelope import envelope

if TYPE_CHECKING:
    from collections.abc import Iterator


def rows() -> Iterator[Row]:
    """Every comparison."""
    whole = [cases.grid(2000), cases.cube(20), cases.random_graph(1_000_000)]
    smaller = [
        [cases.grid(side) for side in (500, 707, 1000, 1414)],
        [cases.cube(people) for people in (16, 17, 18, 19)],
        [cases.random_graph(vertices) for vertices in (62_500, 125_000, 250_000, 500_000)],
    ]
    for case in whole:
        yield from against_search(case)
    for several, case in zip(smaller, whole, strict=True):
        yield from doubling([*several, case])
    yield from rainbow_rows(whole[2])
    yield from against_solvers()
    yield from memory()


def against_search(case: cases.Case) -> Iterator[Row]:
    """One ε everywhere, eight classes, every edge its own."""
    name, graph, fixed = case.name, case.graph, case.fixed
    extend(graph, cases.UNIFORM, fixed)
    mine = seconds(lambda: extend(graph, cases.UNIFORM, fixed))
    limit = seconds(peers.breadth_first(case))
    yield slower(f"one ε, {name}", mine, "SciPy breadth-first search", limit, 3.0)
    if name.endswith("grid"):
        yield faster(
            f"one ε, {name}", mine, "SciPy multi-source Dijkstra", seconds(peers.multi_source_dijkstra(case), 1), 3.0
        )
    yield slower(
        f"balanced, {name}", seconds(lambda: balanced(graph, cases.UNIFORM)), "SciPy breadth-first search", limit, 3.0
    )
    classes = cases.eight_classes(case)
    extend(graph, classes, fixed)
    yield slower(f"8 classes of (ε, δ), {name}", seconds(lambda: extend(graph, classes, fixed)), "one ε", mine, 2.0)
    own = cases.own_budgets(case)
    extend(graph, own, fixed)
    dijkstra = seconds(peers.multi_source_dijkstra(case, own.epsilon), 4)
    yield slower(
        f"every edge its own (ε, δ), {name}",
        seconds(lambda: extend(graph, own, fixed), 8),
        "SciPy multi-source Dijkstra",
        dijkstra,
        1.0,
    )


def doubling(sizes: list[cases.Case]) -> Iterator[Row]:
    """How time grows when the graph doubles, each time and the last time, beside SciPy's search.

    Arrays that outgrow a cache cost both; SciPy's growth tells how much of it is the machine's.
    """
    searches = in_turns([peers.breadth_first(case) for case in sizes], 12)
    for what, budgets in (("one ε", None), ("every edge its own (ε, δ)", cases.own_budgets)):
        runs = []
        for case in sizes:
            privacy = cases.UNIFORM if budgets is None else budgets(case)
            extend(case.graph, privacy, case.fixed)
            runs.append(lambda case=case, privacy=privacy: extend(case.graph, privacy, case.fixed))
        times = in_turns(runs, 20)
        for when, first in ((f"each of {len(sizes) - 1} doublings", 0), ("the last doubling", -2)):
            growth = _growth(times[first:])
            yield Row(
                f"{what}, {sizes[-1].name}: {when}",
                shown(times[-1]),
                f"{sizes[first].name}: {shown(times[first])} (SciPy's search grows {_growth(searches[first:]):.2f}×)",
                f"{growth:.2f}×",
                "≤ 2.3×",
                growth <= 2.3,
            )


def _growth(times: list[float]) -> float:
    """The factor by which times grow from each to the next, on average."""
    return float((times[-1] / times[0]) ** (1 / (len(times) - 1)))


def against_solvers() -> Iterator[Row]:
    """The linear program, and the heterogeneous paper's own algorithm at a size it can finish."""
    case = cases.dense_graph(2000)
    graph = case.graph
    rng = np.random.default_rng(5)
    own = EdgePrivacy(rng.uniform(0.5, 2.0, len(graph.ends)), rng.uniform(1e-6, 1e-3, len(graph.ends)))
    same = EdgePrivacy(np.full(len(graph.ends), 0.5), np.full(len(graph.ends), 1e-6))
    for what, privacy, arrays in (("one ε", cases.UNIFORM, same), ("every edge its own (ε, δ)", own, own)):
        program = peers.linear_program(graph, arrays.epsilon, arrays.delta, case.fixed)
        mechanism = extend(graph, privacy, case.fixed)
        assert np.abs(program().x - mechanism.table[:, 0]).max() < 1e-6
        mine = seconds(lambda privacy=privacy: extend(graph, privacy, case.fixed), 200)  # type: ignore[misc] # bound now
        yield faster(f"{what}, {case.name}", mine, "HiGHS", seconds(program, 3), 1000.0)
    small = cases.random_graph(200)
    pure = EdgePrivacy(rng.uniform(0.5, 2.0, len(small.graph.ends)))
    growth = {}
    for (u, v), epsilon in zip(small.graph.ends.tolist(), pure.epsilon.tolist(), strict=True):
        growth[u, v] = growth[v, u] = float(np.exp(epsilon))
    fixed = {int(at): float(small.fixed[at]) for at in small.chosen}
    paper = peers.paper_algorithm(small.graph, growth, fixed)
    difference = np.abs(np.array(paper()) - extend(small.graph, pure, small.fixed).table[:, 0]).max()
    assert difference < 1e-9, difference
    yield faster(
        "every edge its own ε, random, 200 vertices",
        seconds(lambda: extend(small.graph, pure, small.fixed)),
        "the paper's algorithm",
        seconds(paper, 1),
        1.0,
    )


def rainbow_rows(case: cases.Case) -> Iterator[Row]:
    """Five answers against two on the same graph, a region of depth 10^9, and a linear program."""
    graph, rows = cases.five_answers(case)
    rainbow.extend(graph, cases.UNIFORM, rows)
    whole = seconds(lambda: rainbow.extend(graph, cases.UNIFORM, rows), 3)
    bounds = seconds(lambda: envelope(graph, Budget(graph, cases.UNIFORM), cases.rows_array(graph, rows)), 3)
    binary = seconds(lambda: extend(case.graph, cases.UNIFORM, case.fixed), 3)
    yield slower(f"5 answers, all bounds in one pass, {case.name}", bounds, "2 answers", binary, 4.0)
    checked = seconds(lambda: verify(rainbow_table(case), case.graph, cases.UNIFORM), 1)
    yield slower(
        f"5 answers with the check of every edge, {case.name}", whole, "2 answers, checked", binary + checked, 4.0
    )
    row = [0.001, 0.015, 0.25, 0.5, 0.234]
    deep = seconds(lambda: rainbow.at_distance(cases.UNIFORM, row, 10**9))
    near = seconds(lambda: rainbow.at_distance(cases.UNIFORM, row, 1))
    yield slower("5 answers, closed form, distance 10^9", deep, "distance 1", near, 2.0)
    small = cases.four_answers(500)
    start = time.perf_counter()
    mechanism = rainbow.best(small, Privacy(1))
    took = time.perf_counter() - start
    gap = f"gap {mechanism.gap:.1e}"
    yield Row("best truth by linear program, 500 vertices × 4 answers", shown(took), gap, "", "seconds", took < 60)


def rainbow_table(case: cases.Case) -> Mechanism:
    """The two-answer mechanism to check for comparison."""
    mechanism: Mechanism = extend(case.graph, cases.UNIFORM, case.fixed)
    return mechanism


def memory() -> Iterator[Row]:
    """Extra memory beyond the input arrays, against 40 bytes a vertex and 12 a directed edge."""
    setup = "from benchmarks import cases; from tinct import extend; case = cases.cube(20); privacy = {}; "
    for what, privacy in (
        ("one ε", "cases.UNIFORM"),
        ("8 classes of (ε, δ)", "cases.eight_classes(case)"),
        ("every edge its own (ε, δ)", "cases.own_budgets(case)"),
    ):
        code = setup.format(privacy) + "run = lambda: extend(case.graph, privacy, case.fixed)"
        extra = extra_memory(code)
        if extra is not None:
            allowed = 40 * 2**20 + 12 * 20 * 2**20
            yield Row(
                f"{what}: extra memory",
                f"{extra / 1e6:.0f} MB on the 20-cube",
                "40 B/vertex + 12 B/directed edge",
                f"{extra / allowed:.2f}×",
                "≤ 1×",
                extra <= allowed,
            )
