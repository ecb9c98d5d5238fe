"""Kernels: compiled and plain agree bit for bit, and both agree with slow twins."""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import strategies
from tinct import (
    DatasetGraph,
    EdgePrivacy,
    GaussianDP,
    Privacy,
    balanced,
    exact,
    extend,
    rainbow,
    verify,
)
from tinct._kernels import (
    best_cells,
    breadth_first,
    checks,
    fair_search,
    grid_paths,
    hash_support,
    prefixes,
    propagation,
)
from tinct._kernels.compiling import kernel
from tinct.graphs import EdgeClasses

FREE, FIXED = 2, propagation.FIXED
# every kernel that settles vertices, and every way in which edges can find their parameters
SETTLING = {
    "one for all": propagation.by_rounds,
    "by class": propagation.by_rounds,
    "by edge": propagation.by_rounds,
    "heap": propagation.by_heap,
}


class Arrays:
    """A case with fixed values in the form that kernels take, on odds or probits."""

    def __init__(self, case, fixed, probit=False):
        self.case, self.fixed, self.probit = case, fixed, probit
        graph = case.graph
        self.indptr, self.indices, self.codes = graph.indptr, graph.indices, graph.coloring.codes
        self.chosen = np.array(sorted(fixed), np.int32)
        self.state = self.codes.copy()
        self.state[self.chosen] = FIXED
        self.keys = np.full(case.n, np.inf)
        sources = sorted(
            (self.key(p), v, color)
            for v, first in fixed.items()
            for color, p in enumerate((first, 1 - first))
            if self.key(p) < math.inf
        )
        self.sources = np.array([v for _, v, _ in sources], np.int32)
        self.colors = np.array([color for *_, color in sources], np.uint8)
        self.source_keys = np.array([key for key, *_ in sources], np.float64)
        distinct = sorted(set(zip(case.epsilons, case.deltas, strict=True)))
        numbers = [distinct.index(budget) for budget in zip(case.epsilons, case.deltas, strict=True)]
        self.classes = np.array(numbers, np.uint8)[graph.edge_ids]
        self.epsilons = np.array([epsilon for epsilon, _ in distinct], np.float64)
        self.gains = np.exp(self.epsilons)
        self.shifts = np.array([0.0 if probit else delta for _, delta in distinct])

    def key(self, p):
        """A probability on the scale of the kernels."""
        if not self.probit:
            return p / (1 - p) if p < 1 else math.inf
        from scipy.special import ndtri

        return math.exp(ndtri(p))

    def settle(self, name, run, window=None, starts=None):
        """Call one of the kernels that settle vertices; returns (result, keys).

        Without a window it is that of the shortest step: any window gives the same keys.
        """
        state, keys = self.state.copy(), np.full(self.case.n, np.nan)
        start = (self.indptr, self.indices, state, keys, self.sources, self.colors, self.source_keys)
        dense = (self.gains[self.classes], self.shifts[self.classes])
        starts = self.source_keys if starts is None else starts
        window = window or (float(self.gains.min(initial=1e9)), float(self.shifts.min(initial=1.0)))
        free = (2**62, np.zeros(1, np.int64))  # no limit on the work
        arguments = {
            "one for all": (*start, starts, None, None, self.gains, self.shifts, self.probit, *window, *free),
            "by class": (*start, starts, self.classes, None, self.gains, self.shifts, self.probit, *window, *free),
            "by edge": (
                *start, starts, None, self.epsilons[self.classes], np.ones(1), dense[1], self.probit, *window, *free
            ),
            "heap": (*start, *dense, self.probit),
        }[name]  # fmt: skip
        with np.errstate(all="ignore"):
            result = run(SETTLING[name])(*arguments)
            if result >= 0 and result + len(self.chosen) < self.case.n:
                missed = run(checks.missed_entry)(self.indptr, self.indices, state, keys)
                result = -1 - missed if missed >= 0 else result
        return int(result), keys

    def fits(self, name):
        """Whether the kernel is meant for these budgets."""
        return {
            "one for all": len(self.gains) == 1,
            "by class": len(self.gains) > 0,
            "by edge": len(self.gains) > 0 and not self.probit,
            "heap": True,
        }[name]


def plain(function):
    return function.plain


def compiled(function):
    return function.compiled


def _random(seed, *, hitting=True, extreme=False, probit=False):
    """A random case with values on a hitting set, or on any set at all."""
    rng = np.random.default_rng(seed)
    case = strategies.random_case(rng, at_most=14)
    if extreme:
        scale = rng.choice([1.0, 20.0, 40.0, 300.0])
        case = strategies.Case(case.n, case.edges, case.codes, (np.array(case.epsilons) * scale).tolist(), case.deltas)
    chosen = strategies.random_hitting_set(rng, case)
    if not hitting:
        chosen = [v for v in range(case.n) if rng.random() < 0.4]
    values = rng.random(case.n)
    if extreme:
        tiny = 10.0 ** rng.uniform(-320, 0, case.n)
        values = rng.choice([0.0, 1.0, 0.5], case.n) + rng.choice([-1, 1], case.n) * tiny
        # just at the bend of the steepest edge, where one branch takes over from the other
        bend = 1 / (1 + np.exp(max(case.epsilons)))
        values = np.where(rng.random(case.n) < 0.3, bend * (1 + rng.integers(-2, 3, case.n) * 2.0**-52), values)
    return Arrays(case, {v: float(np.clip(values[v], 0, 1)) for v in chosen}, probit)


def test_every_kernel_is_tested_here():
    """Whoever adds a kernel adds its twin to this file."""
    found = {
        name
        for module in (best_cells, checks, fair_search, grid_paths, hash_support, propagation, breadth_first, prefixes)
        for name, one in vars(module).items()
        if isinstance(one, kernel)
    }
    others = {
        "asymmetry",
        "missed_entry",
        "prefix_bounds",
        "rows_from_odds",
        "level_table",
        "odds_table",
        "worst_fixed_edge",
        "boundary_levels",
        "component_labels",
        "least_units",
        "upper_units",
        "balance_levels",  # these four have theirs in test_fair_optimum.py
        "fair_by_rounds",
        "fair_by_heap",
        "fair_units",
        "count_hashes",  # its twin is in test_local_plans.py
        "best_split",  # its twin is in test_local.py, beside the linear program
    }
    assert found == {"by_rounds", "by_heap", *others}


@pytest.mark.parametrize("name", SETTLING)
@pytest.mark.parametrize("kind", ["mild", "extreme", "careless", "probit"])
def test_compiled_and_plain_settling_agree_exactly(name, kind):
    """The same bits from both, on mild and extreme budgets (ε to 600, probabilities to 1e-320), hitting sets or not."""
    compared = 0
    for seed in range(120):
        case = _random(seed, hitting=kind != "careless", extreme=kind == "extreme", probit=kind == "probit")
        if not case.fits(name):
            continue
        one, other = case.settle(name, plain), case.settle(name, compiled)
        assert one[0] == other[0], seed
        np.testing.assert_array_equal(one[1], other[1], err_msg=str(seed))
        compared += 1
    assert compared > 20 or (name, kind) == ("by edge", "probit")


def test_other_kernels_agree_exactly_compiled_and_plain():
    """Levels, components, missed edges, tables and the worst edge: the same results from both."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        case = _random(seed, hitting=seed % 3 > 0, extreme=seed % 2 == 0)
        rows = (case.indptr, case.indices)
        for one, arguments in (
            (breadth_first.boundary_levels, (*rows, case.codes)),
            (breadth_first.component_labels, rows),
            (checks.missed_entry, (*rows, case.state, case.keys)),
            (checks.asymmetry, (*rows, *(rng.choice([0.0, 1.0], (2, len(case.indices))).view(np.uint64)))),
        ):
            with np.errstate(all="ignore"):  # asymmetry counts modulo 2^64
                np.testing.assert_array_equal(one.plain(*arguments), one.compiled(*arguments))
        keys = rng.choice([0.0, 1e-320, 1.0, propagation.HIGHEST, np.inf], case.case.n)
        distance = breadth_first.boundary_levels.plain(*rows, case.codes)
        right, wrong = rng.random((2, 2, int(distance.max()) + 2))
        tables = np.empty((4, case.case.n, 2))
        with np.errstate(all="ignore"):
            for run, (odds, level) in ((plain, tables[:2]), (compiled, tables[2:])):
                run(checks.odds_table)(keys, case.codes, case.chosen, odds)
                run(checks.level_table)(distance, case.codes, right, wrong, level)
            np.testing.assert_array_equal(tables[:2], tables[2:])
            for layout, gains, shifts in _layouts(case):
                arguments = (
                    *rows,
                    case.state,
                    case.codes,
                    keys,
                    case.chosen,
                    layout,
                    case.classes,
                    np.log(gains) if layout == propagation.DENSE else gains,
                    shifts,
                    False,
                    1e-9,
                )
                assert checks.worst_fixed_edge.plain(*arguments) == checks.worst_fixed_edge.compiled(*arguments)


def _layouts(case):
    yield propagation.CLASSES, case.gains, case.shifts
    yield propagation.DENSE, case.gains[case.classes], case.shifts[case.classes]
    if len(case.gains) == 1:
        yield propagation.UNIFORM, case.gains, case.shifts


# twins


def test_levels_and_components_equal_their_twins():
    """Distances to the boundary and pieces, against brute force, on graphs that fall apart."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 14))
        edges = [(u, v) for v in range(n) for u in range(v) if rng.random() < 1.6 / n]
        codes = rng.integers(0, 3, n).tolist()
        graph = strategies.Case(n, edges, [0] * n, [], []).graph
        rows = (graph.indptr, graph.indices)
        found = breadth_first.boundary_levels.plain(*rows, np.array(codes, np.int32))
        assert found.tolist() == naive.boundary_distance(n, edges, codes)
        assert breadth_first.component_labels.plain(*rows).tolist() == naive.component_labels(n, edges)


def _probability(key):
    return 1.0 if math.isinf(key) else key / (1 + key)


@pytest.mark.parametrize("name", SETTLING)
def test_settling_equals_exact_region_bounds(name):
    """Keys are the least bounds along paths inside each region, in exact arithmetic on the same floats.

    To 1e-12 in p relative to the smaller of p and 1: a dozen steps of a few ulp each.
    """
    compared = 0
    for seed in range(150):
        case = _random(seed)
        if not case.fits(name):
            continue
        graph = case.case
        steps = [
            partial(naive.upper, growth=Fraction(float(np.exp(epsilon))), delta=Fraction(delta))
            for epsilon, delta in zip(graph.epsilons, graph.deltas, strict=True)
        ]
        fixed = {v: Fraction(p) for v, p in case.fixed.items()}
        expected = naive.region_bounds(graph.n, graph.edges, steps, graph.codes, fixed)
        settled, keys = case.settle(name, plain)
        assert settled >= 0
        for v in range(graph.n):
            if v not in fixed:
                assert _probability(keys[v]) == pytest.approx(float(expected[v]), rel=1e-12), (seed, v)
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("name", SETTLING)
def test_an_edge_that_nobody_fixed_is_always_noticed(name):
    """Values on a set that misses a boundary edge are refused whatever the budgets, and the named edge is bare."""
    noticed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        case = _random(seed, hitting=False)
        graph = case.case
        if seed % 2:  # a large δ makes neighbours of sources certain at once
            graph = strategies.Case(
                graph.n, graph.edges, graph.codes, graph.epsilons, [float(rng.choice([0.4, 0.9]))] * len(graph.edges)
            )
            case = Arrays(graph, case.fixed)
        if not case.fits(name):
            continue
        bare = naive.missed_edges(graph.edges, graph.codes, case.fixed)
        settled, _ = case.settle(name, plain)
        assert (settled < 0) == bool(bare), seed
        if bare:
            entry = -1 - settled
            u = int(np.searchsorted(case.indptr, entry, side="right")) - 1
            v = int(case.indices[entry])
            assert (u, v) in bare or (v, u) in bare
            noticed += 1
    assert noticed > 10


@pytest.mark.parametrize("name", ["one for all", "by class", "by edge"])
def test_any_window_gives_the_same_keys(name):
    """No window at all, a narrow one, all keys at once; sources that start early: keys differ by roundings at most."""
    compared = 0
    for seed in range(100):
        case = _random(seed, extreme=seed % 4 == 0)
        if not case.fits(name):
            continue
        expected = case.settle(name, plain)
        for window in ((1.0, 0.0), (1.01, 0.0), (3.0, 0.001), (1e9, 0.9)):
            result, keys = case.settle(name, plain, window)
            assert result == expected[0], (seed, window)
            np.testing.assert_allclose(keys, expected[1], rtol=1e-12, err_msg=f"{seed} {window}")
        early = case.source_keys / 2.0 ** np.arange(len(case.source_keys))[::-1]
        result, keys = case.settle(name, plain, starts=early)
        assert result == expected[0]
        np.testing.assert_allclose(keys, expected[1], rtol=1e-12, err_msg=str(seed))
        compared += 1
    assert compared > 20


def _large(rng, budgets, kind):
    """A grid, a path or a random graph of 400 vertices in two colours, with values near ½ on one side of the border."""
    n, side = 400, 20
    if kind == "grid":
        edges = [(v, v + 1) for v in range(n) if (v + 1) % side] + [(v, v + side) for v in range(n - side)]
    else:
        edges = [(v, v + 1) for v in range(n - 1)]
    if kind == "random":
        edges = sorted({*edges, *(tuple(sorted(pair)) for pair in rng.integers(0, n, (800, 2)).tolist())})
        edges = [(u, v) for u, v in edges if u < v]
    codes = [int(v >= n // 3) for v in range(n)]
    picked = rng.integers(len(budgets), size=len(edges))
    epsilons = [float(budgets[i]) for i in picked]
    case = strategies.Case(n, edges, codes, epsilons, [1e-4 * float(i % 3) for i in picked])
    border = {v for u, v in edges if codes[u] < codes[v]}
    return Arrays(case, {v: float(0.5 + 0.2 * rng.random()) for v in border})


@pytest.mark.parametrize("kind", ["grid", "path", "random"])
@pytest.mark.parametrize("spread", [1, 4, 100])
def test_kernels_agree_on_graphs_with_many_rounds(kind, spread):
    """Few of many vertices wait, or many; steps alike or very different: rounds, compiled or not, equal the heap."""
    for seed in range(3):
        rng = np.random.default_rng([spread, seed])
        case = _large(rng, np.geomspace(0.01, 0.01 * spread, 1 if spread == 1 else 12), kind)
        window = (math.exp(0.01 * spread**0.5), float(case.shifts.min()))
        settled, expected = case.settle("heap", compiled)
        assert settled > 50  # the rest is certain
        for name in SETTLING:
            for run in (plain, compiled):
                if case.fits(name):
                    result, keys = case.settle(name, run, window)
                    assert result == settled
                    free = case.state != FIXED
                    np.testing.assert_allclose(keys[free], expected[free], rtol=1e-11)  # 400 steps of a few ulp each


class Work:
    """How often each vertex is worked on, told by who asks where its row begins."""

    def __init__(self, indptr):
        self.indptr, self.count = indptr, [0] * len(indptr)

    def __len__(self):
        return len(self.indptr)

    def __getitem__(self, v):
        self.count[v] += 1
        return self.indptr[v]


def _work(case, name, window, monkeypatch):
    """The number of times that each free vertex is worked on; the look ahead does not count."""
    monkeypatch.setattr(propagation, "fetch", lambda *_: None)
    work = Work(case.indptr)
    case.indptr, rows = work, case.indptr
    case.settle(name, plain, window)
    case.indptr = rows
    begins = np.zeros(case.case.n)
    total = 0
    for v in range(case.case.n):  # working on v asks for indptr[v] and indptr[v + 1]
        total = work.count[v] - total
        begins[v] = total
    return begins[case.state != FIXED]


@pytest.mark.parametrize("kind", ["grid", "path", "random"])
def test_with_one_privacy_every_vertex_is_worked_on_once(kind, monkeypatch):
    """Values of their own at every source, a window of one step: nobody is worked on twice."""
    case = _large(np.random.default_rng(5), [0.3], kind)
    case.shifts[:] = 0.0
    work = _work(case, "one for all", (math.exp(0.3), 0.0), monkeypatch)
    assert work.max() == work.min() == 1


@pytest.mark.parametrize("kind", ["grid", "path", "random"])
@pytest.mark.parametrize("spread", [4, 100, 1000])
def test_a_vertex_is_worked_on_as_seldom_as_proved(kind, spread, monkeypatch):
    """At most 2√R + 3 times with a window of the geometric mean; on these graphs far fewer, about once on average."""
    case = _large(np.random.default_rng(spread), np.geomspace(0.003, 0.003 * spread, 12), kind)
    work = _work(case, "by edge", (math.exp(0.003 * spread**0.5), float(case.shifts.min())), monkeypatch)
    assert work.min() >= 1
    assert work.max() <= 2 * spread**0.5 + 3
    assert work.mean() < 2


def test_keys_that_fall_again_and_again_fit_into_the_heap(monkeypatch):
    """Entries that are out of date fill the room, are swept out, and the result is still exact.

    Vertex 0 is fixed. It reaches 1 to 10 with growing odds, and each of these reaches all of 11 to 30 with falling
    ones: whenever the next of the ten is expanded, twenty keys fall.
    """
    ten, twenty = range(1, 11), range(11, 31)
    budgets = {(0, v): 0.3 * v for v in ten} | {(v, w): 7 - 0.6 * v for v in ten for w in twenty}
    case = strategies.Case(31, list(budgets), [0] * 31, list(budgets.values()), [0.0] * len(budgets))
    sweeps = []
    monkeypatch.setattr(
        propagation, "_sweep", lambda *given, sweep=propagation._sweep: sweeps.append(1) or sweep(*given)
    )
    _, keys = Arrays(case, {0: 1e-6}).settle("heap", plain)
    expected = naive.region_bounds(case.n, case.edges, case.steps, case.codes, {0: 1e-6})
    np.testing.assert_allclose([_probability(key) for key in keys[1:]], expected[1:], rtol=1e-12)
    assert sweeps


@settings(max_examples=1000)
@given(
    st.one_of(st.floats(0, 1e300), st.floats(-300, 300).map(lambda power: 10.0**power)),
    st.one_of(st.floats(0, 5), st.floats(0, 700)),
    st.one_of(st.just(0.0), st.floats(0, 0.9)),
    st.one_of(st.none(), st.integers(-1, 1)),
)
def test_a_step_never_goes_back_and_never_exceeds_either_branch(key, epsilon, delta, ulps):
    """U on odds is at least the odds it started from, and both of its defining inequalities hold to 1e-9.

    Checked in exact arithmetic on the very floats: p′ ≤ E·p + δ and 1 − p ≤ E·(1 − p′) + δ. With ``ulps`` the key is
    put next to the bend, where a large E makes the first branch a difference of nearly equal numbers.
    """
    gain = math.exp(epsilon)
    if ulps is not None:
        key = (1 - delta) / (gain + delta) * (1 + ulps * 2.0**-52)
    with np.errstate(all="ignore"):
        following = float(propagation.step(np.float64(key), gain, delta, False))
    assert following >= min(key, propagation.HIGHEST)  # no rounding: the window of a round contains its lowest key
    before = Fraction(key) / (1 + Fraction(key))
    after = Fraction(following) / (1 + Fraction(following)) if following < math.inf else Fraction(1)
    slack = 1 + Fraction(1, 10**9)
    assert after <= (Fraction(gain) * before + Fraction(delta)) * slack
    if following < propagation.HIGHEST or following == math.inf:
        assert 1 - before <= (Fraction(gain) * (1 - after) + Fraction(delta)) * slack


@pytest.mark.parametrize(("one", "other"), [(1.0, 2.0), (0.5, 4.0), (1.0, 1.0 + 2**-52), (0.0, 5e-324), (0.3, 0.7)])
def test_asymmetry_notices_any_edge_with_two_values(one, other):
    """Every edge of the complete graph on 60 vertices in turn: a different value in one direction is always noticed.

    Budgets that are powers of 2 differ in the exponent only, the top 12 bits of 64.
    """
    n = 60
    edges = [(u, v) for v in range(n) for u in range(v)]
    graph = strategies.Case(n, edges, [0] * n, [], []).graph
    values = np.full(len(graph.indices), one)
    same = np.zeros(len(values), np.uint64)
    look = partial(checks.asymmetry.compiled, graph.indptr, graph.indices, same)
    assert not look(values.view(np.uint64))
    unnoticed = []
    for entry in range(len(values)):
        values[entry] = other
        if not look(values.view(np.uint64)):
            unnoticed.append(graph.edges[graph.edge_ids[entry]])
        values[entry] = one
    assert unnoticed == []


def test_asymmetry_equals_its_twin():
    """Random values along the directed edges, mostly alike in both directions: the same verdict as comparing them."""
    verdicts = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        case = strategies.random_case(rng)
        graph = case.graph
        values = rng.random(len(graph.ends))[graph.edge_ids]
        if seed % 2:
            at = rng.integers(len(values), size=2)
            values[at] = values[at[::-1]]
        rows = np.repeat(np.arange(case.n), np.diff(graph.indptr)).tolist()
        value = dict(zip(zip(rows, graph.indices.tolist(), strict=True), values.tolist(), strict=True))
        expected = any(value[u, v] != value[v, u] for u, v in value)
        with np.errstate(all="ignore"):
            assert checks.asymmetry.plain(graph.indptr, graph.indices, *[values.view(np.uint64)] * 2) == expected
        verdicts.append(expected)
    assert {*verdicts} == {True, False}


def test_worst_fixed_edge_has_the_largest_excess():
    """Among all fixed vertices and their edges the one whose odds exceed the bound by the largest factor, or none."""
    broken = 0
    for seed in range(150):
        case = _random(seed)
        graph = case.case
        _, keys = case.settle("heap", plain)
        for v, p in case.fixed.items():
            keys[v] = case.key(p)
        excess = {}
        rows = np.repeat(np.arange(graph.n), np.diff(case.indptr))
        for entry, (u, w) in enumerate(zip(rows.tolist(), case.indices.tolist(), strict=True)):
            if u not in case.fixed:
                continue
            color = 0 if w in case.fixed else graph.codes[w]
            value = case.fixed[u] if color == 0 else 1 - case.fixed[u]
            number = case.classes[entry]
            start = _probability(keys[w])
            bound = naive.upper(start, float(case.gains[number]), float(case.shifts[number]))
            if bound < 1:
                excess[u, entry, color] = (value / (1 - value)) / (bound / (1 - bound))
        worst = max(excess.values(), default=0.0)
        for layout, gains, shifts in _layouts(case):
            with np.errstate(all="ignore"):
                logarithms = np.log(gains) if layout == propagation.DENSE else gains
                found = checks.worst_fixed_edge.plain(
                    case.indptr, case.indices, case.state, case.codes, keys, case.chosen,
                    layout, case.classes, logarithms, shifts, False, 1e-9,
                )  # fmt: skip
            if worst > 1 + 1e-8:
                assert excess[found] == pytest.approx(worst, rel=1e-9)
            elif worst < 1 + 1e-10:
                assert found == (-1, -1, 0)
        broken += worst > 1 + 1e-8
    assert 20 < broken < 150


class Prefixes:
    """A random case with orders over q answers, and rows on a hitting set or on any set at all."""

    def __init__(self, seed, *, hitting=True, extreme=False, probit=False):
        rng = np.random.default_rng(seed)
        self.arrays = _random(seed, hitting=hitting, extreme=extreme, probit=probit)
        case, self.probit = self.arrays.case, probit
        self.q = int(rng.integers(2, 6))
        self.palette = [tuple(rng.permutation(self.q).tolist()) for _ in range(2)]
        if self.palette[0] == self.palette[1]:
            self.palette[1] = self.palette[0][::-1]
        self.orders = [self.palette[code] for code in case.codes]
        spread = rng.choice([0.01, 0.1, 1.0]) if extreme else 1.0
        self.rows = {v: rng.dirichlet(np.full(self.q, spread)) for v in sorted(self.arrays.fixed)}
        self.fixed = np.zeros(case.n, bool)
        self.fixed[list(self.rows)] = True
        self.sources = np.array(
            [[self._key(np.cumsum(row[list(order)])[:-1]) for order in self.palette] for row in self.rows.values()]
        ).reshape(len(self.rows), 2, self.q - 1)

    def _key(self, p):
        from scipy.special import ndtri

        p = np.minimum(p, 1.0)
        with np.errstate(all="ignore"):
            return np.exp(ndtri(p)) if self.probit else np.where(p < 1, p / (1 - p), np.inf)

    def run(self, run, layout, gains, shifts):
        """Call the kernel; returns (result, keys)."""
        arrays = self.arrays
        keys = np.full((arrays.case.n, self.q - 1), np.inf)
        with np.errstate(all="ignore"):
            result = run(prefixes.prefix_bounds)(
                arrays.indptr, arrays.indices, arrays.codes.astype(np.int32), self.fixed, self.sources, keys,
                layout, arrays.classes.astype(np.int32), gains, shifts, self.probit,
            )  # fmt: skip
        return int(result), keys


@pytest.mark.parametrize("kind", ["mild", "extreme", "careless", "probit"])
def test_prefix_bounds_agree_compiled_and_plain_in_every_layout(kind):
    """The same bits and rounds from both; and the same keys from one budget, classes and a number for each edge."""
    for seed in range(40):
        case = Prefixes(seed, hitting=kind != "careless", extreme=kind == "extreme", probit=kind == "probit")
        found = []
        for layout, gains, shifts in _layouts(case.arrays):
            one, other = case.run(plain, layout, gains, shifts), case.run(compiled, layout, gains, shifts)
            assert one[0] == other[0], seed
            np.testing.assert_array_equal(one[1], other[1], err_msg=str(seed))
            found.append(one)
        for result, keys in found[1:]:
            assert result == found[0][0]
            np.testing.assert_array_equal(keys, found[0][1])


def test_prefix_bounds_equal_exact_bounds():
    """Keys of free vertices are the least bounds along paths inside each region, prefix by prefix, to 1e-12.

    In exact arithmetic on the same floats; a dozen steps of a few ulp each, relative to p.
    """
    compared = 0
    for seed in range(80):
        case = Prefixes(seed)
        graph = case.arrays.case
        steps = [
            partial(naive.upper, growth=Fraction(float(np.exp(epsilon))), delta=Fraction(delta))
            for epsilon, delta in zip(graph.epsilons, graph.deltas, strict=True)
        ]
        rows = {v: [Fraction(float(p)) for p in row] for v, row in case.rows.items()}
        expected = naive.prefix_bounds(graph.n, graph.edges, steps, case.orders, rows)
        rounds, keys = case.run(plain, *next(_layouts(case.arrays)))
        assert rounds >= 0
        for v in set(range(graph.n)) - set(rows):
            for k in range(case.q - 1):
                assert _probability(keys[v, k]) == pytest.approx(float(expected[v][k]), rel=1e-12), (seed, v, k)
                compared += 1
    assert compared > 500


def test_prefix_bounds_notice_an_edge_that_nobody_fixed():
    """Rows on a set that misses a boundary edge are refused, and the named edge joins free vertices of two orders."""
    noticed = 0
    for seed in range(120):
        case = Prefixes(seed, hitting=False)
        graph = case.arrays.case
        bare = naive.missed_edges(graph.edges, graph.codes, case.rows)
        result, _ = case.run(plain, *next(_layouts(case.arrays)))
        assert (result < 0) == bool(bare), seed
        if bare:
            entry = -1 - result
            u = int(np.searchsorted(case.arrays.indptr, entry, side="right")) - 1
            v = int(case.arrays.indices[entry])
            assert (u, v) in bare or (v, u) in bare
            noticed += 1
    assert noticed > 10


def test_rows_from_odds_equal_differences_of_exact_prefix_sums():
    """Sorted odds from 1e-300 to 1e300 and infinity: the rows of exact arithmetic, to 1e-15, and the same bits twice.

    Each row sums to 1 to 1e-14, and entries of equal neighbours are 0, not −0.
    """
    rng = np.random.default_rng(8)
    for q in range(2, 7):
        columns = np.array([rng.permutation(q) for _ in range(3)])
        orders = rng.integers(0, 3, 200).astype(np.int32)
        keys = np.sort(10.0 ** rng.choice([1.0, 10.0, 300.0], (200, 1)) ** rng.uniform(-1, 1, (200, q - 1)), axis=1)
        keys = np.sort(np.where(rng.random(keys.shape) < 0.1, rng.choice([0.0, 1.0, np.inf], keys.shape), keys), axis=1)
        tables = np.full((2, 200, q), np.nan)
        prefixes.rows_from_odds.plain(keys, columns, orders, tables[0])
        prefixes.rows_from_odds.compiled(keys, columns, orders, tables[1])
        np.testing.assert_array_equal(tables[0], tables[1])
        np.testing.assert_allclose(tables[0].sum(axis=1), 1, atol=1e-14)
        assert not np.signbit(tables).any()
        for v in range(200):
            sums = [Fraction(1) if math.isinf(k) else Fraction(k) / (1 + Fraction(k)) for k in keys[v].tolist()]
            expected = [float(b - a) for a, b in zip([0, *sums], [*sums, 1], strict=True)]
            np.testing.assert_allclose(tables[0, v, columns[orders[v]]], expected, atol=1e-15)


def test_small_inputs_run_plain_until_the_compiled_version_is_at_hand(monkeypatch):
    """Small arrays are not worth importing numba or compiling for; once a large one has been, they run compiled too."""
    called = []
    stand_in = cached_property(lambda _: lambda _: called.append("compiled"))
    stand_in.__set_name__(kernel, "compiled")
    monkeypatch.setattr(kernel, "compiled", stand_in)
    for loaded, limit in ((False, 20_000), (True, 1_000)):
        monkeypatch.setitem(sys.modules, "numba", sys) if loaded else monkeypatch.delitem(sys.modules, "numba", False)
        probe = kernel(lambda _: called.append("plain"))
        for size in (limit, limit + 1, 1):
            probe(np.zeros(size))
        assert called == ["plain", "compiled", "compiled"]
        called.clear()


# the integer grid


WORDS = [0, 1, 2, 3, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**61 - 1, 2**61, 2**62 - 1, 2**62, 2**63 - 1]


def _words(rng, count, largest):
    """Whole numbers up to ``largest`` of every length, the awkward ones among them."""
    found = [word for word in WORDS if word <= largest]
    found += [word + step for word in (largest, largest // 2) for step in (-1, 0) if word + step >= 0]
    found += [
        int(rng.integers(0, 2 ** int(rng.integers(1, 64)), dtype=np.uint64)) % (largest + 1) for _ in range(count)
    ]
    return found


def test_wide_products_and_quotients_equal_those_of_python():
    """Two halves of 64 bits against integers of any length, on random and on awkward words below 2^63.

    Divisors with a low half of ones make the first digit guessed too large, which the long division has to correct.
    """
    rng = np.random.default_rng(5)
    words = _words(rng, 60, 2**63 - 1)
    divisors = [*words, *(int(rng.integers(1, 2**31)) << 32 | 2**32 - 1 for _ in range(20))]
    with np.errstate(over="ignore"):
        for a in words:
            for b in words:
                high, low = grid_paths.product(np.uint64(a), np.uint64(b))
                assert int(high) << 64 | int(low) == a * b
        for divisor in divisors:
            for value in [*words, *(a * b for a, b in zip(words, reversed(words), strict=True))]:
                for number in (value, max(divisor, 1) * 2**64 - 1 - value, value // max(divisor, 1) * divisor):
                    if divisor and 0 <= number < divisor << 64:
                        halves = np.uint64(number >> 64), np.uint64(number % 2**64)
                        found = grid_paths.quotient(*halves, np.uint64(divisor))
                        assert tuple(map(int, found)) == divmod(number, divisor)


def _exact_upper(a, up, down, shift, total):
    """Ũ(a) by its definition, in Python's integers."""
    left = max(0, total - a - shift)
    return min(up * a // down + shift, total - -(-left * down // up), total)


def test_units_of_a_neighbour_equal_the_definition_plain_and_compiled():
    """Ũ on grids up to 2^62, R from 1 to 2^62 with 61-bit numerators and denominators, every kind of D: all exact."""
    rng = np.random.default_rng(6)
    for _ in range(250):
        total = max(2, _words(rng, 1, 2**62)[-1] if rng.random() < 0.6 else int(rng.choice([2, 3, 12, 2**32, 2**62])))
        down = max(1, _words(rng, 1, 2**60)[-1])
        up = max(down, int(rng.choice([down, down + 1, 2 * down, min(2**62, total * down), 2**61])))
        if rng.random() < 0.5:
            up = down + int(rng.integers(0, 2 ** int(rng.integers(1, 61))))
        shift = int(rng.choice([0, 0, 1, total // 1000, total - 1]))
        values = np.array(_words(rng, 30, total), np.uint64)
        arguments = [np.uint64(number) for number in (up, down, shift, total)]
        tables = np.zeros((2, len(values)), np.uint64)
        with np.errstate(over="ignore"):
            grid_paths.upper_units.plain(values, *arguments, tables[0])
        grid_paths.upper_units.compiled(values, *arguments, tables[1])
        expected = [_exact_upper(a, up, down, shift, total) for a in values.tolist()]
        assert tables[0].tolist() == expected
        assert tables[1].tolist() == expected


def test_least_units_equal_relaxation_plain_and_compiled():
    """Dijkstra on its own heap against relaxing every edge until nothing changes, in Python's integers."""
    for seed in range(120):
        rng = np.random.default_rng(seed)
        case = strategies.random_case(rng, at_most=25)
        graph, total = case.graph, int(rng.choice([5, 1000, 2**32 + 5, 2**62]))
        pairs = []
        for _ in range(3):
            down = int(rng.integers(1, 2**60))
            pairs.append(
                (down + int(rng.integers(0, 2**60) >> int(rng.integers(0, 60))), down, int(rng.integers(0, 3)))
            )
        numbers = rng.integers(0, 3, len(case.edges))
        start = [int(rng.integers(0, total + 1)) if rng.random() < 0.4 else total for _ in range(case.n)]
        steps = [
            partial(_exact_upper, **dict(zip(("up", "down", "shift"), pairs[n], strict=True)), total=total)
            for n in numbers
        ]
        expected = list(start)
        while True:
            before = list(expected)
            for (u, v), step in zip(case.edges, steps, strict=True):
                expected[v] = min(expected[v], step(expected[u]))
                expected[u] = min(expected[u], step(expected[v]))
            if expected == before:
                break
        ups, downs, shifts = np.array(pairs, np.uint64).T.copy()
        for run in (plain, compiled):
            units = np.array(start, np.uint64)
            classes = numbers.astype(np.int32)[graph.edge_ids]
            with np.errstate(over="ignore"):
                run(grid_paths.least_units)(
                    graph.indptr, graph.indices, classes, ups, downs, shifts, units, np.uint64(total)
                )  # fmt: skip
            assert units.tolist() == expected, seed


# memory that nobody wrote, and counts beyond a byte


def _searches(rng, n):
    """Every search, by name, on a graph with more vertices than a byte can count."""
    edges = sorted({(min(u, v), max(u, v)) for u, v in rng.integers(0, n, (3 * n, 2)).tolist() if u != v})
    count, codes = len(edges), rng.integers(0, 2, n).tolist()
    case = strategies.Case(n, edges, codes, rng.uniform(0.5, 2, count).tolist(), rng.uniform(0, 1e-3, count).tolist())
    graph, own = case.graph, case.privacy
    wide = EdgePrivacy(10.0 ** rng.uniform(-4, 1, count), own.delta)
    classes = [EdgeClasses(kinds, rng.integers(0, 4, count)) for kinds in (
        [Privacy(0.5 + 0.1 * c, 1e-6 * c) for c in range(4)], [GaussianDP(0.5 + 0.1 * c) for c in range(4)]
    )]  # fmt: skip
    half = {v: 0.5 for v in range(n) if codes[v] == 0}
    orders = DatasetGraph(
        edges, {v: tuple("cba" if code else "abc") for v, code in enumerate(codes)}, disconnected=True
    )
    rows = {v: {"a": 0.3, "b": 0.4, "c": 0.3} for v in half}
    searches = {
        f"{way.__name__} {name}": partial(way, graph, privacy, *given)
        for name, privacy in (("own", own), ("wide", wide), ("classes", classes[0]), ("probit", classes[1]),
                              ("one", Privacy(0.7, 1e-4)))
        for way, given in ((balanced, ()), (extend, (half,)))
    }  # fmt: skip
    searches |= {
        "leaning": partial(balanced, graph, own, lean=0.7),
        "rainbow": partial(rainbow.extend, orders, classes[0], rows),
        "in units, fair": partial(exact.balanced, graph, classes[0]),
        "in units, extended": partial(exact.extend, graph, classes[0], half),
    }
    return searches


@contextlib.contextmanager
def _memory_full_of(byte, monkeypatch):
    """What is allocated and not set is full of this byte: arrays of numpy, and what compiled kernels ask for."""
    real = np.empty

    def dirty(shape, dtype=float, *rest, **more):
        array = real(shape, dtype, *rest, **more)
        if not array.dtype.hasobject:
            array.reshape(-1).view(np.uint8)[...] = byte
        return array

    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    with monkeypatch.context() as patch:
        patch.setattr(np, "empty", dirty)
        if hasattr(libc, "mallopt"):
            libc.mallopt(-6, 255 - byte)  # M_PERTURB; with 0 memory is left as it is
        try:
            yield
        finally:
            if hasattr(libc, "mallopt"):
                libc.mallopt(-6, 0)


def _table_of(found):
    return np.array(found.rows) if isinstance(found, exact.Certified) else found.table


def test_searches_read_nothing_but_what_they_wrote(monkeypatch):
    """Whatever was in memory before, uncompiled or compiled: the same tables bit for bit, and private ones.

    The graph has more vertices than fit into 8 bits. Uncompiled, a counter to which an element of an array is added
    takes over the width of that element; once, vertices beyond the 255th of a round were lost that way.
    """
    searches = _searches(np.random.default_rng(31), 400)
    expected = {name: _table_of(run()) for name, run in searches.items()}
    for name, run in searches.items():
        if not name.startswith("in units"):
            assert verify(run()).private, name
    for version in (lambda each: each.plain, lambda each: each.compiled):
        for byte in (0x3F, 0x7F, 0xFE):  # read as a float 5e-4, 1e306, or less than zero

            def as_chosen(self, *given, version=version, **more):
                with np.errstate(all="ignore"):
                    return version(self)(*given, **more)

            with monkeypatch.context() as patch, _memory_full_of(byte, monkeypatch):
                patch.setattr(kernel, "__call__", as_chosen)
                found = {name: _table_of(run()) for name, run in searches.items()}
            for name, table in found.items():
                assert np.array_equal(table, expected[name]), (name, byte)
