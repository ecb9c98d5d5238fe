"""The fair optimum (docs/proofs/fair-optimum.md): private, equal to its definition, and beaten by nobody."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
import oracles
from strategies import Case, random_case, random_codes, random_hitting_set, random_private
from tinct import (
    DatasetGraph,
    EdgePrivacy,
    GaussianDP,
    Mechanism,
    NotExtendable,
    ParameterError,
    Privacy,
    TradeOff,
    balanced,
    exact,
    extend,
    graphs,
    homogeneous,
    improve,
    verify,
)
from tinct._kernels import fair_search
from tinct.binary import fair_optimum
from tinct.exact.grid import GridGraph, fair_units, fair_units_by_heap
from tinct.graphs import Budget
from tinct.mechanism import claims


def balances(case: Case) -> list[float]:
    """(E + δ)/(E + 1) of every edge."""
    return [
        (math.exp(epsilon) + delta) / (math.exp(epsilon) + 1)
        for epsilon, delta in zip(case.epsilons, case.deltas, strict=True)
    ]


def own_budgets(rng: np.random.Generator, at_most: int = 12) -> Case:
    """A graph with its own ε and δ on every edge."""
    case = random_case(rng, at_most)
    count = len(case.edges)
    deltas = rng.random(count) * 0.2 * (rng.random(count) < 0.5)
    return Case(case.n, case.edges, case.codes, (0.05 + rng.random(count) * 2).tolist(), deltas.tolist())


def room_above(case: Case, truth: np.ndarray, given: dict[int, float] | None = None) -> float:
    """How much a linear program can add to the sum of truths without taking away from any."""
    objective = np.where(np.array(case.codes) == 0, 1.0, -1.0)
    matrix, right = oracles._inequalities(*case.budgeted)
    bounds = [(t, 1.0) if code == 0 else (0.0, 1.0 - t) for t, code in zip(truth, case.codes, strict=True)]
    for v, value in (given or {}).items():
        bounds[v] = (value, value)
    # one part in 10^11 of room for the program, whose own tolerance would otherwise find no table at all
    result = oracles.linprog(
        -objective, A_ub=matrix, b_ub=right + 1e-11, bounds=bounds, method="highs-ds", options=oracles._OPTIONS
    )
    assert result.status == 0, result.message
    return float(objective @ result.x - objective @ np.where(np.array(case.codes) == 0, truth, 1 - truth))


# what it is


def test_nine_people_with_unequal_budgets():
    """The council: better than one truth for the whole boundary at 112 datasets of 512, worse at none."""
    council = graphs.hypercube(9, lambda votes: sum(votes) >= 5)
    budget = graphs.personalized(council, [0.4] * 3 + [1.2] * 6)
    fair = balanced(council, budget)
    weakest = Privacy(0.4).balance[0]
    boundary = {council.vertices[at]: 0.0 for at in np.unique(council.boundary().ends)}
    for vertex in boundary:
        boundary[vertex] = weakest if council.colors[vertex] == council.outputs[0] else 1 - weakest
    before = extend(council, budget, boundary)
    gain = fair.truth() - before.truth()
    assert verify(fair, council, budget).private
    assert (round(float(before.truth().mean()), 4), round(float(fair.truth().mean()), 4)) == (0.6870, 0.7123)
    assert (int((gain > 1e-9).sum()), round(float(gain.max()), 3)) == (112, 0.221)
    assert gain.min() > -1e-12


@pytest.mark.parametrize("seed", range(10))
def test_no_program_adds_anything(seed):
    """500 random graphs with (ε, δ) on every edge: private, and nothing can be added anywhere."""
    rng = np.random.default_rng([3, seed])
    for _ in range(50):
        case = own_budgets(rng)
        mechanism = balanced(case.graph, case.privacy)
        assert verify(mechanism, case.graph, case.privacy).private
        assert room_above(case, mechanism.truth()) < 1e-9


FAMILIES = {
    "star": lambda n: [(0, v) for v in range(1, n)],
    "two hubs": lambda n: [(0, 1), *((v % 2, v) for v in range(2, n)), *((v, v + 1) for v in range(2, n - 1, 3))],
    "bipartite": lambda n: [(u, v) for u in range(n // 2) for v in range(n // 2, n)],
    "path": lambda n: [(v, v + 1) for v in range(5 * n - 1)],
    "cycle": lambda n: [(v, (v + 1) % n) for v in range(n)],
}
BUDGETS = {
    "no loss": ([0.0, 0.0, 0.3, 1.5], [0.0, 0.0, 0.1]),
    "δ next to 1": ([0.0, 0.2, 1.5], [0.0, 0.5, 0.9, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53]),
    "huge ε": ([1.0, 20.0, 40.0, 100.0, 300.0, 700.0], [0.0, 0.0, 0.05, 0.2]),
    "tiny ε": ([1e-300, 1e-17, 1e-12, 1e-9, 1e-3, 1.0], [0.0, 0.0, 1e-300, 1e-17, 1e-9]),
    "everything": ([0.0, 1e-9, 0.1, 1.0, 40.0, 700.0], [0.0, 0.0, 1e-9, 0.3, 1 - 1e-9]),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("budgets", BUDGETS)
def test_hubs_long_paths_and_extreme_budgets(family, budgets):
    """In exact fractions of the floats found: private, and nothing can be added, plain, leaning and with given values.

    Up to one part in 10⁹ of e^ε, and of δ or 1 − δ; errors below 10⁻²⁹⁰ are beyond floats.
    """
    rng = np.random.default_rng([21, [*FAMILIES].index(family), [*BUDGETS].index(budgets)])
    tried = 0
    for at in range(24):
        edges = FAMILIES[family](int(rng.integers(4, 12)))
        n, count = 1 + max(max(edge) for edge in edges), len(edges)
        codes = random_codes(rng, n, edges)
        epsilons, deltas = (rng.choice(BUDGETS[budgets][each], count).tolist() for each in (0, 1))
        case = Case(n, edges, codes, epsilons, deltas)
        options: dict[str, Any] = {}
        if at % 3 == 1:
            options["lean"] = float(rng.uniform(0.3, 0.95))
        elif at % 3 == 2:
            kept = balanced(case.graph, case.privacy).table
            share = float(rng.choice([0.0, 0.1]))  # of the way to 1/2, which is private everywhere
            rows = kept if share == 0 else kept + share * (0.5 - kept)
            chosen = rng.choice(n, int(rng.integers(1, 1 + n // 2)), replace=False).tolist()
            options["fixed"] = {v: tuple(rows[v].tolist()) for v in chosen}
        crossing = [delta for (u, v), delta in zip(edges, deltas, strict=True) if codes[u] != codes[v]]
        if options.get("lean", 1.0) <= min(crossing):
            with pytest.raises(ParameterError, match="neither certain nor impossible"):
                balanced(case.graph, case.privacy, **options)
            continue
        table = balanced(case.graph, case.privacy, **options).table
        tried += 1
        verdict = verify(table, case.graph, case.privacy)
        assert verdict.private
        assert verdict.epsilon <= max(epsilons) * (1 + 1e-9) + 1e-9
        first = [Fraction(p) if p <= q else 1 - Fraction(q) for p, q in table.tolist()]
        assert naive.is_private(first, edges, _exact_steps(case, Fraction(1, 10**9)), tolerance=0)
        room = naive.room_above(
            n, edges, _exact_steps(case, Fraction(-1, 10**9)), codes, first, options.get("fixed", ())
        )
        for v, p in enumerate(first):
            assert room[v] <= max(min(p, 1 - p) / 10**7, Fraction(1, 10**290))
    assert tried > 16


def test_offers_across_steep_edges_are_not_below_the_balance():
    """U(1 − t) = e^ε(1 − t) + δ loses all digits next to the balance of ε = 100: it must not undo what was settled."""
    rng = np.random.default_rng(27)
    graph = DatasetGraph([(v, v + 1) for v in range(4)], dict(enumerate("abbba")))
    for _ in range(200):
        budgets = EdgePrivacy([100.0, 40.0, 1.0, 100.0], [0.0, 0.0, 0.0, 0.2 * rng.random()])
        mechanism = balanced(graph, budgets)
        assert verify(mechanism, graph, budgets).private
        plain = fair_optimum._PlainSearch(
            graph,
            fair_optimum._steps(Budget(graph, budgets), "odds"),
            fair_optimum._levels(graph, Budget(graph, budgets), fair_optimum.EVEN, "odds"),
            fair_optimum.EVEN,
        ).settle()
        assert mechanism.table == pytest.approx(fair_optimum._table(plain, graph.coloring.codes, "odds"), rel=1e-9)
        kept = {0: tuple(mechanism.row(0).tolist())}
        assert verify(balanced(graph, budgets, fixed=kept), graph, budgets).private
        assert balanced(
            graph, dict(zip(graph.edges, map(Privacy, budgets.epsilon, budgets.delta), strict=True)), at=4
        ) == (pytest.approx(mechanism.row(4), rel=1e-9))


def _exact_steps(case: Case, slack: Fraction) -> list[Any]:
    """U of every edge with a little more than its budget, or a little less; never less than a."""
    steps = []
    for epsilon, delta in zip(case.epsilons, map(Fraction, case.deltas), strict=True):
        growth = max(Fraction(1), Fraction(math.exp(epsilon)) * (1 + slack))
        shift = delta + slack * min(delta, 1 - delta)
        steps.append(lambda a, growth=growth, shift=shift: max(a, naive.upper(a, growth, shift)))
    return steps


def test_the_room_above_is_that_of_a_linear_program():
    """The oracle of extreme budgets against the one of ordinary budgets, on tables that have been lowered somewhere."""
    rng = np.random.default_rng(22)
    for _ in range(40):
        case = own_budgets(rng, 8)
        table = balanced(case.graph, case.privacy).table[:, 0]
        lowered = 0.5 + (table - 0.5) * float(rng.choice([1.0, 0.9]))
        room = naive.room_above(*case.walked, case.codes, lowered.tolist(), ())
        found = room_above(case, np.where(np.array(case.codes) == 0, lowered, 1 - lowered))
        assert (max(room) > 1e-9) == (found > 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_its_definition_says(seed):
    """The kernels in rounds and with a heap, plain and compiled, the plain search, and the twin: the same truths."""
    rng = np.random.default_rng([4, seed])
    for _ in range(40):
        case = own_budgets(rng, 20)
        graph = case.graph
        expected = naive.fair(*case.walked, case.codes, balances(case))
        for privacy in (case.privacy, case.mapping):
            budget = Budget(graph, privacy)
            assert_same(balanced(graph, privacy).table[:, 0], expected)
            assert_same(_by_heap(graph, budget, fair_search.fair_by_heap.compiled), expected)
            assert_same(_by_heap(graph, budget, fair_search.fair_by_heap.plain), expected)
            for version in (fair_search.fair_by_rounds.plain, fair_search.fair_by_rounds.compiled):
                assert_same(_by_rounds(graph, budget, version), expected)
        levels = fair_optimum._levels(graph, budget, fair_optimum.EVEN, "odds")
        plain = fair_optimum._PlainSearch(
            graph, fair_optimum._steps(budget, "odds"), levels, fair_optimum.EVEN
        ).settle()
        assert_same(fair_optimum._table(plain, graph.coloring.codes, "odds")[:, 0], expected)


def assert_same(found: np.ndarray, expected: list[float]) -> None:
    assert np.abs(np.asarray(found) - np.array(expected, float)).max() < 1e-13


def _by_heap(graph: DatasetGraph, budget: Budget, version) -> np.ndarray:
    keys = np.empty(len(graph))
    ends, levels = fair_optimum._boundary_levels(graph, budget, fair_optimum.EVEN)
    version(
        graph.indptr, graph.indices, graph.coloring.codes, keys, ends, levels, *budget.dense_parameters(), False,
        np.ones(2),
    )  # fmt: skip
    return fair_optimum._table(keys, graph.coloring.codes, "odds")[:, 0]


def _by_rounds(graph: DatasetGraph, budget: Budget, version) -> np.ndarray:
    keys = np.empty(len(graph))
    (least, shift), _ = budget.extremes()
    gains, shifts = budget.search_parameters()
    dense, classes = budget.layout == 2, budget.classes if budget.layout == 1 else None
    levels = np.empty(0) if dense else fair_optimum._class_levels(budget, fair_optimum.EVEN)
    with np.errstate(all="ignore"):
        found = version(
            graph.indptr, graph.indices, graph.coloring.codes, keys, classes, gains if dense else None, gains, shifts,
            levels, False, np.ones(2), least, shift, 10**9, np.zeros(1, np.int64),
        )  # fmt: skip
    assert found == 0
    return fair_optimum._table(keys, graph.coloring.codes, "odds")[:, 0]


def test_bounds_from_both_sides_meet_at_the_fair_optimum():
    """In exact fractions: whenever bounds are taken, those on some open vertices meet, and always at the optimum."""
    rng = np.random.default_rng(26)
    most = 0
    for _ in range(150):
        case = own_budgets(rng, 12)
        zero = rng.random(len(case.edges)) < 0.2
        growths = [Fraction(1) if none else Fraction(math.exp(e)) for none, e in zip(zero, case.epsilons, strict=True)]
        deltas = [Fraction(delta) for delta in case.deltas]
        steps = [
            lambda a, growth=growth, delta=delta: naive.upper(a, growth, delta)
            for growth, delta in zip(growths, deltas, strict=True)
        ]
        levels = [(growth + delta) / (growth + 1) for growth, delta in zip(growths, deltas, strict=True)]
        truth, taken = naive.fair_by_bounds(case.n, case.edges, steps, case.codes, levels)
        first = naive.fair(case.n, case.edges, steps, case.codes, levels)
        assert truth == [p if code == 0 else 1 - p for p, code in zip(first, case.codes, strict=True)]
        most = max(most, taken)
    assert most > 2


def test_one_budget_is_one_truth_on_the_boundary():
    rng = np.random.default_rng(5)
    for _ in range(30):
        case = random_case(rng, 15)
        graph, privacy = case.graph, Privacy(0.7, 0.02)
        one = balanced(graph, privacy)
        every = balanced(graph, EdgePrivacy(np.full(len(case.edges), 0.7), 0.02 + np.arange(len(case.edges)) * 1e-17))
        assert np.abs(one.table - every.table).max() < 1e-13


@pytest.mark.parametrize(
    "pairs",
    [
        (GaussianDP(0.5), GaussianDP(1.0)),
        (Privacy(0.5), GaussianDP(1.0), Privacy(0.2, 0.05)),
        (TradeOff(lambda a: max(0.0, 1 - 2 * a, (1 - a) / 2)), Privacy(0.3)),
    ],
    ids=["Gaussian", "mixture", "trade-off"],
)
def test_other_notions_and_mixtures(pairs):
    """Equal to the twin and private, for pairs of which the search knows nothing but their values."""
    rng = np.random.default_rng(6)
    for _ in range(15):
        case = random_case(rng, 10)
        chosen = [pairs[at] for at in rng.integers(len(pairs), size=len(case.edges))]
        graph, privacy = case.graph, dict(zip(case.edges, chosen, strict=True))
        mechanism = balanced(graph, privacy)
        assert verify(mechanism, graph, privacy).private
        steps = [lambda a, pair=pair: float(pair.upper(a)) for pair in chosen]
        expected = naive.fair(case.n, case.edges, steps, case.codes, [pair.balance[0] for pair in chosen])
        assert np.abs(mechanism.table[:, 0] - np.array(expected)).max() < 1e-9


def test_edges_without_privacy_loss_and_pieces():
    """ε = 0 makes neighbours equal; a piece with one colour is certain."""
    graph = DatasetGraph([(0, 1), (1, 2), (2, 3), (4, 5)], dict(enumerate("aabbaa")), disconnected=True)
    budgets = {(0, 1): Privacy(0), (1, 2): Privacy("ln 3"), (2, 3): Privacy("ln 2"), (4, 5): Privacy(0)}
    assert balanced(graph, budgets).truth().round(12).tolist() == [0.75, 0.75, 0.75, 0.875, 1.0, 1.0]


# some values given


def test_given_values_are_kept_or_refused():
    """312 cases: private with nothing to add, or refused and infeasible by the linear program too."""
    rng = np.random.default_rng(7)
    refused = 0
    for _ in range(312):
        case = own_budgets(rng, 9)
        graph = case.graph
        count = int(rng.integers(1, max(2, case.n // 2)))
        chosen = rng.choice(case.n, count, replace=False).tolist()
        values = random_private(rng, case) if rng.random() < 0.4 else rng.random(case.n)
        given = {int(v): float(values[v]) for v in chosen}
        expected = naive.fair(*case.walked, case.codes, balances(case), given)
        if expected is None:
            refused += 1
            with pytest.raises(NotExtendable) as caught:
                balanced(graph, case.privacy, fixed=given)
            witness = caught.value.witness
            assert oracles.best(*case.budgeted, np.zeros(case.n), given) is None
            assert witness.bound < witness.value
            assert {witness.path[0], witness.path[-1]} <= set(given)
            continue
        mechanism = balanced(graph, case.privacy, fixed=given)
        assert verify(mechanism, graph, case.privacy).private
        assert [mechanism.table[v, 0] for v in given] == list(given.values())
        assert np.abs(mechanism.table[:, 0] - np.array(expected)).max() < 1e-9
        assert room_above(case, mechanism.truth(), given) < 1e-8
    assert refused > 20


def test_given_values_that_meet_every_edge_leave_one_optimum():
    """Then the fair optimum is the extension: at least as truthful everywhere as anything else with these values."""
    rng = np.random.default_rng(23)
    for _ in range(40):
        case = own_budgets(rng, 10)
        values = random_private(rng, case)
        given = {v: float(values[v]) for v in random_hitting_set(rng, case)}
        completed = balanced(case.graph, case.privacy, fixed=given)
        assert np.array_equal(completed.table, extend(case.graph, case.privacy, given).table)
        assert completed.claim == claims.GIVEN
        chosen = np.array(sorted(given), np.int32)
        rows = np.array([(given[v], 1 - given[v]) for v in chosen.tolist()])
        searched = fair_optimum.fair_with_given(case.graph, Budget(case.graph, case.privacy), chosen, rows)
        assert np.abs(completed.table - searched).max() < 1e-9


def test_settling_given_values_first_would_not_be_private():
    """The path A–A–B at E = 5/2 with 0.99 at one end: the other end must follow it down, across colours."""
    graph = DatasetGraph([(0, 1), (1, 2)], {0: "A", 1: "A", 2: "B"})
    privacy = Privacy("ln 2.5")
    mechanism = balanced(graph, privacy, fixed={0: 0.99})
    assert verify(mechanism, graph, privacy).private
    assert mechanism.probability(0, "A") == 0.99
    assert mechanism.probability(2, "B") < privacy.balance[0]


# leaning


def test_a_lean_keeps_one_ratio_of_odds():
    """The weakest boundary edge has the wanted truth on one side and the most that leaves on the other."""
    rng = np.random.default_rng(8)
    for _ in range(60):
        case = own_budgets(rng)
        graph = case.graph
        lean = float(rng.uniform(0.35, 0.9))
        mechanism = balanced(graph, case.privacy, lean=lean)
        assert verify(mechanism, graph, case.privacy).private
        crossing = [at for at, (u, v) in enumerate(case.edges) if case.codes[u] != case.codes[v]]
        allowed = min(case.steps[at](1 - lean) for at in crossing)
        truth = mechanism.truth()
        least = [min(truth[v] for v in range(case.n) if case.codes[v] == code) for code in (0, 1)]
        assert least == pytest.approx([lean, allowed], abs=1e-12)
        assert room_above(case, truth) < 1e-9


def test_a_lean_on_a_line_is_the_orbit():
    line, privacy = graphs.line(4, 4), Privacy("ln 2", 0.01)
    leaning = balanced(line, privacy, lean=0.8)
    assert leaning.truth()[3:5] == pytest.approx([0.8, float(privacy.upper(0.2))])
    classes = balanced(line, EdgePrivacy(np.full(7, math.log(2)) + 1e-16 * np.arange(7), 0.01), lean=0.8)
    assert np.abs(leaning.table - classes.table).max() < 1e-12


def test_a_lean_can_name_the_color_it_favors():
    """A lean towards the second colour is one towards the first of the graph with the colours exchanged."""
    rng = np.random.default_rng(25)
    for _ in range(20):
        case = own_budgets(rng, 9)
        first, second = case.graph.outputs
        assert np.array_equal(
            balanced(case.graph, case.privacy, lean={first: 0.7}).table,
            balanced(case.graph, case.privacy, lean=0.7).table,
        )
        turned = Case(case.n, case.edges, [1 - code for code in case.codes], case.epsilons, case.deltas)
        expected = balanced(turned.graph, case.privacy, lean=0.7).table[:, ::-1]
        named = balanced(case.graph, case.privacy, lean={second: 0.7})
        assert named.table == pytest.approx(expected, abs=1e-15)
        assert named.graph is case.graph or named.graph.outputs == (first, second)
        v = int(rng.integers(case.n))
        given = {v: (float(named.table[v, 0]), float(named.table[v, 1]))}
        assert balanced(case.graph, case.privacy, lean={second: 0.7}, at=v) == pytest.approx(named.row(v), abs=1e-12)
        if naive.missed_edges(case.edges, case.codes, given):
            kept = balanced(case.graph, case.privacy, lean={second: 0.7}, fixed=given)
            assert kept.table == pytest.approx(named.table, abs=1e-9)
    near = graphs.neighbors(lambda v: [v - 1, v + 1], lambda v: v >= 0)
    assert balanced(near, Privacy("ln 2"), lean={True: 0.8}, at=0) == pytest.approx([0.2, 0.8])


def test_a_lean_with_other_notions():
    line = graphs.line(3, 3)
    budgets = dict(zip(line.edges, [GaussianDP(1.0), GaussianDP(0.5)] * 2 + [GaussianDP(1.0)], strict=True))
    mechanism = balanced(line, budgets, lean=0.7)
    assert verify(mechanism, line, budgets).private
    assert mechanism.truth()[2] == pytest.approx(0.7)


# one row


def test_one_row_is_that_of_the_whole():
    """On a graph that is never built, with a function of the edge, with and without a weakest pair."""
    rng = np.random.default_rng(9)
    for _ in range(25):
        case = own_budgets(rng, 25)
        graph, mapping = case.graph, case.mapping
        whole = balanced(graph, mapping)
        near = graphs.neighbors(graph.neighbors, lambda v, graph=graph: graph.colors[v], graph.outputs)

        def privacy(u, v, mapping=mapping):
            return mapping.get((u, v)) or mapping[v, u]

        weakest = Privacy(min(case.epsilons), min(case.deltas))
        for v in range(case.n):
            assert balanced(near, privacy, at=v) == pytest.approx(whole.row(v), abs=1e-12)
            assert balanced(near, privacy, at=v, weakest=weakest) == pytest.approx(whole.row(v), abs=1e-12)
        leaning = balanced(graph, {edge: Privacy(pair.epsilon, 0) for edge, pair in mapping.items()}, lean=0.6)
        v = int(rng.integers(case.n))
        edge = min(
            (pair for edge, pair in mapping.items() if case.codes[edge[0]] != case.codes[edge[1]]),
            key=lambda p: p.epsilon,
        )
        row = balanced(near, lambda u, v: Privacy(privacy(u, v).epsilon), at=v, lean=0.6, weakest=Privacy(edge.epsilon))
        assert row == pytest.approx(leaning.row(v), abs=1e-12)


def test_one_row_of_a_built_graph_finds_its_weakest_pair_and_takes_given_values():
    rng = np.random.default_rng(24)
    for _ in range(20):
        case = own_budgets(rng, 10)
        values = random_private(rng, case)
        given = {int(v): float(values[v]) for v in rng.choice(case.n, 1)}
        for options in ({"lean": 0.7}, {"fixed": given}):
            if "fixed" in options and not naive.missed_edges(case.edges, case.codes, given):
                continue
            whole = balanced(case.graph, case.privacy, **options)
            for v in range(case.n):
                assert balanced(case.graph, case.privacy, at=v, **options) == pytest.approx(whole.row(v), abs=1e-12)


def test_one_row_of_an_endless_graph():
    """Somebody far from the boundary of a grid without end, every edge with its own budget."""

    def near(v):
        x, y = v
        return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]

    def privacy(u, v):
        return Privacy(0.5 + (u[0] + v[0] + 3 * u[1] + 3 * v[1]) % 7 / 10)

    looked: list[object] = []
    grid = graphs.neighbors(lambda v: looked.append(v) or near(v), lambda v: v[0] >= 0)
    row = balanced(grid, privacy, at=(4, 0))
    assert 0.9 < row[1] < 1
    assert len(looked) < 2000


# in whole units


@pytest.mark.parametrize("total", [64, 1000, 2**62, 2**80])
def test_the_grid_optimum_is_certified_and_near(total):
    """Units instead of probabilities: proved on every edge, and as near to the real optimum as units allow."""
    rng = np.random.default_rng(10)
    for _ in range(20):
        case = own_budgets(rng, 10)
        certified = exact.balanced(case.graph, case.privacy, total=total)
        exact.check(certified)
        if total >= 2**62:
            expected = balanced(case.graph, case.privacy).table
            assert np.abs(np.array(certified.rows, float) / total - expected).max() < 1e-9


def test_the_kernel_and_python_integers_agree():
    rng = np.random.default_rng(11)
    for _ in range(20):
        case = own_budgets(rng, 12)
        graph = case.graph
        grid = GridGraph.of(graph, case.privacy, 2**40)
        assert fair_units(grid).tolist() == fair_units_by_heap(grid).tolist()


def test_leaning_and_gaussian_tables_are_certified():
    """What the integer search does not do is rounded and mended: private, and within 10⁻⁹."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        case = own_budgets(rng, 8)
        certified = exact.certify(balanced(case.graph, case.privacy, lean=0.6))
        assert exact.check(certified)
        assert certified.loss < 1e-9


# what is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lean": 0.0}, "lean must be a probability above 0 and below 1"),
        ({"lean": math.nan}, "lean must be"),
        ({"lean": "much"}, "lean must be"),
        ({"lean": {"green": 0.8}}, r"lean must be a truth for one of \('blue', 'red'\), such as \{'blue': 0\.8\}"),
        ({"lean": {"blue": 0.8, "red": 0.7}}, "lean must be a truth for one of"),
        ({"lean": {"red": 2}}, "lean must be"),
        ({"weakest": Privacy(1)}, "needs at=vertex"),
        ({"fixed": {99: 0.5}}, "99"),
        ({"fixed": {1: 1.5}}, "must be a number in"),
        ({"fixed": {2: 0.5}, "lean": 0.6}, "lean has no effect"),
    ],
)
def test_bad_options_are_refused(options, words):
    line = graphs.line(2, 2)
    with pytest.raises(ParameterError, match=words):
        balanced(line, Privacy(1), **options)


def test_a_lean_that_leaves_nothing_is_refused():
    line = graphs.line(2, 2)
    budgets = EdgePrivacy([1.0, 1.1, 1.2], 0.3)
    with pytest.raises(ParameterError, match="neither certain nor impossible"):
        balanced(line, budgets, lean=0.2)


def test_a_lean_below_what_everybody_can_have_is_refused():
    """With truth U(0) = δ on one side the other is certain: less would be less truthful, and nobody's gain."""
    line = graphs.line(2, 2)
    with pytest.raises(ParameterError, match=r"lean must be at least 0\.3, which leaves the other answer certain"):
        balanced(line, Privacy(1, 0.3), lean=0.29)
    assert balanced(line, Privacy(1, 0.3), lean=0.3).truth()[1:3].tolist() == [0.3, 1.0]
    same = dict.fromkeys(line.edges, Privacy(1, 0.3))
    assert balanced(line, same, lean=0.3, at=3).tolist() == balanced(line, same, lean=0.3).row(3).tolist() == [0.0, 1.0]


def test_one_row_of_an_implicit_graph_needs_what_it_cannot_look_up():
    near = graphs.neighbors(lambda v: [v - 1, v + 1], lambda v: v >= 0)
    with pytest.raises(ParameterError, match="weakest must be given"):
        balanced(near, lambda _u, _v: Privacy(1), at=0, lean=0.6)
    with pytest.raises(ParameterError, match="use extend"):
        balanced(near, lambda _u, _v: Privacy(1), at=0, fixed={1: 0.5})


def test_a_weakest_pair_that_an_edge_contradicts_is_refused():
    """Rows found with it would not fit each other: far from the weak edge they would not know of it."""
    near = graphs.neighbors(lambda v: [v - 1, v + 1], lambda v: v // 4 % 2 == 0)

    def privacy(u, v):
        return Privacy("0.1") if {u, v} == {3, 4} else Privacy(1)

    assert balanced(near, privacy, at=1, weakest=Privacy("0.1"))[1] == pytest.approx(balanced(near, privacy, at=1)[1])
    with pytest.raises(ParameterError, match=r"allows no more than that of any edge .* the edge \(3, 4\)"):
        balanced(near, privacy, at=3, weakest=Privacy(1))


def test_every_design_says_in_which_sense_it_is_optimal():
    line, one, several = graphs.line(2, 2), Privacy(1), EdgePrivacy([1.0, 1.1, 1.2])
    assert balanced(line, one).claim == balanced(line, several).claim == claims.FAIR
    assert balanced(line, one, lean=0.6).claim == balanced(line, several, lean=0.6).claim == claims.LEANING
    assert balanced(line, one, fixed={1: 0.5}).claim == claims.COMPLETED
    assert extend(line, one, {2: 0.5}).claim == balanced(line, one, fixed={2: 0.5}).claim == claims.GIVEN
    assert homogeneous(line, one, 0.6, 0.6).claim == homogeneous(line, several, 0.6, 0.6).claim == claims.BOUNDARY
    assert improve(line, one, balanced(line, one)).claim == claims.GIVEN
    assert Mechanism(line, balanced(line, one).table).claim is None
    assert str(claims.FAIR).startswith("fair optimum: no private mechanism is right at least as often on every dataset")


def test_levels_of_a_lean_solve_their_equation():
    """t′ = U(1 − t) at the level of an edge, in exact fractions of the floats found."""
    rng = np.random.default_rng(13)
    for _ in range(200):
        growth, delta = float(np.exp(rng.uniform(0, 3))), float(rng.choice([0, 0.01, 0.2]))
        first, second = (float(np.exp(each)) for each in rng.normal(size=2))
        level = fair_search.balance_level(growth, delta, False, first, second)
        odds = Fraction(level) * Fraction(first), Fraction(level) * Fraction(second)
        one, other = (each / (1 + each) for each in odds)
        assert float(naive.upper(1 - one, Fraction(growth), Fraction(delta)) - other) == pytest.approx(0, abs=1e-14)
        assert float(naive.upper(1 - other, Fraction(growth), Fraction(delta)) - one) == pytest.approx(0, abs=1e-14)


def test_hubs_with_many_boundary_edges():
    """A hub whose edges lose their other ends one by one."""
    n = 60
    edges = [(0, v) for v in range(1, n)] + [(v, v + n) for v in range(1, n)]
    colors = {v: "a" if v == 0 or v >= n else "b" for v in [0, *range(1, n), *range(n + 1, 2 * n)]}
    graph = DatasetGraph(edges, colors)
    epsilons = np.concatenate([np.linspace(1, 2, n - 1), np.linspace(0.99, 1.99, n - 1)])
    privacy = EdgePrivacy(epsilons)
    budget = Budget(graph, privacy)
    assert_same(balanced(graph, privacy).table[:, 0], _by_heap(graph, budget, fair_search.fair_by_heap.plain))
    assert verify(balanced(graph, privacy), graph, privacy).private
