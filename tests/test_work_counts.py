"""How much work the searches are, by counts and not by seconds, on graphs that are made to be hard for them.

Every family is doubled several times. Whatever it is like, there is a fixed number of looks for each vertex and edge
(docs/proofs/rounds.md, docs/proofs/fair-optimum.md), and what the heap does is in proportion to the graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from strategies import COLORS, Case
from tinct import DatasetGraph, GaussianDP, Privacy, balanced, extend, verify
from tinct._kernels import fair_search, grid_paths, propagation
from tinct.binary import _extend, fair_optimum
from tinct.exact.grid import GridGraph
from tinct.graphs import EdgeClasses

SIZES = (125, 250, 500, 1000, 2000, 4000)
MOST = 26  # looks at each vertex, source and directed edge, on average: 24, and what the last round adds


@dataclass
class Counts:
    """What the kernels did."""

    looks: int = -1  # in rounds, if they were tried
    gave_up: bool = False
    pushed: int = 0
    taken: int = 0

    def watch(self, monkeypatch: pytest.MonkeyPatch, module: Any, rounds: str, heap: str) -> None:
        """Let the kernels of a module count here; heaps run uncompiled."""
        run, by_heap = getattr(module, rounds), getattr(module, heap).plain

        def counted(*given: Any) -> int:
            result: int = run(*given)
            self.looks = int(given[-1][0])
            self.gave_up = result == module.GAVE_UP
            return result

        def quietly(*given: Any) -> Any:
            with np.errstate(all="ignore"):
                return by_heap(*given)

        def pushing(*given: Any, push: Any = propagation.push) -> Any:
            self.pushed += 1
            return push(*given)

        def taking(*given: Any, take: Any = propagation.drop_first) -> Any:
            self.taken += 1
            return take(*given)

        monkeypatch.setattr(module, rounds, counted)
        monkeypatch.setattr(module, heap, quietly)
        monkeypatch.setattr(module, "push", pushing)
        monkeypatch.setattr(module, "drop_first", taking)


# a source at vertex 0, with 1/2 for either answer; everybody else has one colour


def _from_the_end(edges: list[tuple[int, int]], epsilons: list[float], deltas: list[float]) -> Case:
    n = 1 + max(max(edge) for edge in edges)
    return Case(n, edges, [1] + [0] * (n - 1), epsilons, deltas)


def _comb(length: int) -> list[tuple[int, int]]:
    """A path, and a leaf at each of its vertices but the first."""
    return [(v, v + 1) for v in range(length)] + [(v, length + v) for v in range(1, length + 1)]


def comb_with_deltas(length: int) -> Case:
    """One ε, and on the edge of each leaf a δ just below the error there: it waits until everybody else is done.

    At the start of the path, where δ would be so large that it is noticed beforehand, edges to leaves have none.
    """
    error = [0.5 * math.exp(-0.02 * v) for v in range(1, length + 1)]
    deltas = [0.0] * length + [each * (1 - 1e-9) if each < 0.07 else 0.0 for each in error]
    return _from_the_end(_comb(length), [0.02] * (2 * length), deltas)


def comb_with_longer_and_longer_teeth(length: int) -> Case:
    """No δ; the steps to the leaves grow along the path to 1,000 of its own."""
    teeth = np.linspace(1.0, 1000.0, length)
    return _from_the_end(_comb(length), [0.004] * length + (0.004 * teeth).tolist(), [0.0] * (2 * length))


def comb_with_teeth_of_three_lengths(length: int) -> Case:
    """The same with so few budgets that edges find theirs by class."""
    teeth = [(100, 300, 1000)[v * 3 // length] for v in range(length)]
    return _from_the_end(_comb(length), [0.004] * length + [0.004 * each for each in teeth], [0.0] * (2 * length))


def hub_that_falls_in_every_round(leaves: int) -> Case:
    """A path leads to a hub from each of its vertices, always by a little less; the hub has many leaves.

    The numbers of the vertices are such that no round gets further on the path than one edge, and from there no further
    than to the hub, and from there no further than to the leaves.
    """
    short, hub = 0.001, leaves + 1
    path = [0, *range(leaves + 31, leaves + 1, -1)]
    edges = [*pairwise(path), *((v, hub) for v in path)]
    epsilons = [short] * 30 + [short * (31.9 - 1.001 * at) for at in range(31)]
    edges += [(hub, 1 + leaf) for leaf in range(leaves)]
    epsilons += [short] * (leaves - 1) + [short * 1020]  # one long step, for which the window is wide
    return _from_the_end(edges, epsilons, [0.0] * len(edges))


EXTENDED = {
    "comb with δ": comb_with_deltas,
    "comb with longer and longer teeth": comb_with_longer_and_longer_teeth,
    "comb with teeth of three lengths": comb_with_teeth_of_three_lengths,
    "hub that falls in every round": hub_that_falls_in_every_round,
}


def assert_bounded(counts: Counts, size: int, entries: int) -> None:
    """The laws: looks of the rounds, and entries of the heap."""
    assert 0 <= counts.looks <= MOST * size
    assert counts.pushed <= entries + size
    assert counts.taken <= counts.pushed


@pytest.mark.parametrize("family", EXTENDED)
def test_extend_is_bounded_on_every_family(family, monkeypatch):
    """Looks stay below the bound at every size; from some size on rounds give up, and work grows as the graph does."""
    work = []
    for size in SIZES:
        case = EXTENDED[family](size)
        graph = case.graph
        with monkeypatch.context() as patch:
            counts = Counts()
            counts.watch(patch, propagation, "by_rounds", "by_heap")
            found = extend(graph, case.privacy, {0: 0.5})
        with monkeypatch.context() as patch:
            patch.setattr(_extend, "_window", lambda *_: None)  # the heap at once
            expected = extend(graph, case.privacy, {0: 0.5})
        assert_bounded(counts, len(graph) + len(graph.indices) + 2, len(graph.indices))
        np.testing.assert_allclose(found.table[:, 1], expected.table[:, 1], rtol=1e-6)
        work.append(counts.looks + counts.pushed + counts.taken)
    assert counts.gave_up
    assert work[-1] <= 2.3 * work[-2]


def test_extend_with_gaussian_budgets_is_bounded(monkeypatch):
    """The comb with long teeth for Gaussian DP."""
    for size in SIZES[:-1]:
        edges = _comb(size)
        graph = DatasetGraph(edges, {v: COLORS[v == 0] for v in range(2 * size + 1)}, outputs=COLORS)
        kinds = [GaussianDP(2 / size), *(GaussianDP(2 / size * each) for each in (100.0, 300.0, 1000.0))]
        privacy = EdgeClasses(kinds, [0] * size + [1 + v * 3 // size for v in range(size)])
        with monkeypatch.context() as patch:
            counts = Counts()
            counts.watch(patch, propagation, "by_rounds", "by_heap")
            mechanism = extend(graph, privacy, {0: 0.5})
        assert verify(mechanism, graph, privacy).private
        assert_bounded(counts, len(graph) + len(graph.indices) + 2, len(graph.indices))
    assert counts.gave_up


# the fair optimum


def fair_comb(length: int) -> Case:
    """The comb with δ, from a boundary edge at its end."""
    spine = Privacy(4 / length)
    errors = [float(spine.walk(v, *spine.balance)[1]) for v in range(length)]
    deltas = [0.0] * length + [error * (1 - 1e-9) for error in errors]
    return _from_the_end(_comb(length), [4 / length] * (2 * length), deltas)


def fair_comb_with_long_teeth(length: int) -> Case:
    """Steps to the leaves 60 times as long as those of the path."""
    return _from_the_end(_comb(length), [4 / length] * length + [240 / length] * length, [0.0] * (2 * length))


def hub_whose_edges_close_one_by_one(leaves: int) -> Case:
    """Each neighbour of the hub has an edge of its own that is lower, so none of the hub's edges is ever decided."""
    near, far = range(1, leaves + 1), range(leaves + 1, 2 * leaves + 1)
    edges = [(0, v) for v in near] + list(zip(near, far, strict=True))
    codes = [0] + [1] * leaves + [0] * leaves
    return Case(len(codes), edges, codes, np.linspace(1, 1.15, leaves).tolist() + [0.6] * leaves, [0.0] * (2 * leaves))


def stairs(length: int) -> Case:
    """A path of alternating colours; from its start every edge is lower than the one before."""
    edges = [(v, v + 1) for v in range(length)]
    return Case(
        length + 1, edges, [v % 2 for v in range(length + 1)], np.linspace(1.5, 1, length).tolist(), [0.0] * length
    )


FAIR = {
    "comb with δ": (fair_comb, True),
    "comb with long teeth": (fair_comb_with_long_teeth, False),
    "hub whose edges close one by one": (hub_whose_edges_close_one_by_one, True),
    "stairs": (stairs, False),
}


@pytest.mark.parametrize("family", FAIR)
def test_the_fair_optimum_is_bounded_on_every_family(family, monkeypatch):
    """The same for ``balanced``, whose looks are bounded within a round too."""
    build, hard = FAIR[family]
    work = []
    for size in SIZES:
        case = build(size)
        graph = case.graph
        with monkeypatch.context() as patch:
            counts = Counts()
            counts.watch(patch, fair_search, "fair_by_rounds", "fair_by_heap")
            found = balanced(graph, case.privacy)
        with monkeypatch.context() as patch:
            patch.setattr(fair_optimum, "_by_rounds", lambda *_: False)  # the heap at once
            expected = balanced(graph, case.privacy)
        assert_bounded(counts, len(graph) + len(graph.indices), len(graph.indices))
        np.testing.assert_allclose(found.table, expected.table, rtol=1e-6)
        work.append(counts.looks + counts.pushed + counts.taken)
    assert counts.gave_up == hard
    assert work[-1] <= 2.3 * work[-2]


# in whole units, where everything goes through a heap


@pytest.mark.parametrize("way", ["extended", "fair"])
def test_in_units_the_heap_works_in_proportion_to_the_graph(way, monkeypatch):
    """The comb on a grid of 2⁶⁰ units: every vertex is taken once for each answer, and moved once for an edge."""
    moves = takes = 0

    def moving(*given: Any, move: Any = grid_paths._raise) -> Any:
        nonlocal moves
        moves += 1
        return move(*given)

    def taking(*given: Any, take: Any = grid_paths._take_first) -> Any:
        nonlocal takes
        takes += 1
        return take(*given)

    monkeypatch.setattr(grid_paths, "_raise", moving)
    monkeypatch.setattr(grid_paths, "_take_first", taking)
    for name in ("least_units", "fair_units"):
        run = getattr(grid_paths, name).plain
        monkeypatch.setattr(grid_paths, name, run)
    for size in SIZES[:4]:
        case = comb_with_deltas(size) if way == "extended" else fair_comb(size)
        graph = case.graph
        grid = GridGraph.of(graph, case.privacy, 2**60)
        moves = takes = 0
        with np.errstate(over="ignore"):  # the division counts modulo 2⁶⁴
            rows = grid.fair() if way == "fair" else grid.extended(np.array([0]), [2**59])
        mechanism = balanced(graph, case.privacy) if way == "fair" else extend(graph, case.privacy, {0: 0.5})
        assert grid.distance(rows, mechanism.table) < 1e-9
        assert takes <= 2 * len(graph)
        assert moves <= 2 * (len(graph.indices) + len(graph))
