"""extend and improve: feasible exactly when a linear program says so, and optimal at every vertex."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
import oracles
import strategies
from tinct import (
    DatasetGraph,
    EdgePrivacy,
    GaussianDP,
    Mechanism,
    NotExtendable,
    NotPrivate,
    ParameterError,
    Privacy,
    TradeOff,
    balanced,
    extend,
    graphs,
    homogeneous,
    improve,
    personalized,
    verify,
)
from tinct._kernels import propagation
from tinct.binary import one_row
from tinct.graphs import Budget, EdgeClasses

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
PAPERS = {case["id"]: case for case in GOLDEN["papers"]}
NEAR = 1e-7  # how close to the edge of feasibility float, program and twin may disagree about it


def _first(mechanism):
    return mechanism.table[:, 0]


# golden values


@pytest.mark.parametrize("number", range(len(GOLDEN["extension"])))
def test_golden_extensions(number):
    """Forty random instances solved by linear programs: the same values to 1e-9, the same refusals."""
    golden = GOLDEN["extension"][number]
    colors = dict.fromkeys(golden["first"], "a") | dict.fromkeys(golden["second"], "b")
    graph = DatasetGraph([edge[:2] for edge in golden["edges"]], colors, outputs="ab")
    privacy = EdgePrivacy([edge[2] for edge in golden["edges"]], [edge[3] for edge in golden["edges"]])
    fixed = {int(v): p for v, p in golden["fixed_first"].items()}
    if not golden["extendable"]:
        with pytest.raises(NotExtendable):
            extend(graph, privacy, fixed)
        return
    mechanism = extend(graph, privacy, fixed)
    for v, p in golden["first_probability"].items():
        assert mechanism.probability(int(v), "a") == pytest.approx(p, abs=1e-9)


def test_binary_colorings_example_1():
    """Both tables are private on one edge, and neither dominates the other."""
    case = PAPERS["binary-colorings/example-1"]
    edge, privacy = graphs.line(1, 1), Privacy(case["epsilon"], case["delta"])
    tables = [Mechanism(edge, [[blue, 1 - blue], [1 - red, red]]) for blue, red in case["truth"]]
    for one, other in (tables, tables[::-1]):
        assert verify(one, edge, privacy).private
        assert not one.dominates(other)


def test_binary_colorings_example_3():
    """The (4,3)-line with one fixed vertex, values as printed."""
    case = PAPERS["binary-colorings/example-3"]
    mechanism = extend(graphs.line(4, 3), Privacy(case["epsilon"], case["delta"]), {4: 1 - case["red_at_4"]})
    for color in ("red", "blue"):
        for v, p in case[color].items():
            assert mechanism.probability(int(v), color) == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("number", range(3))
def test_binary_colorings_figure_2(number):
    """The figure's graph with its three budgets: two tables and one that cannot be extended."""
    figure = PAPERS["binary-colorings/figure-2"]
    case = figure["cases"][number]
    colors = dict.fromkeys(figure["graph"]["blue"], "blue") | dict.fromkeys(figure["graph"]["red"], "red")
    graph = DatasetGraph(figure["graph"]["edges"], colors)
    privacy = Privacy(case["epsilon"], case["delta"])
    fixed = case.get("fixed_blue") or {v: 1 - p for v, p in case["fixed_red"].items()}
    if case.get("extendable") is False:
        with pytest.raises(NotExtendable):
            extend(graph, privacy, fixed)
        return
    mechanism = extend(graph, privacy, fixed)
    for color in ("blue", "red"):
        for v, p in case.get(color, {}).items():
            assert mechanism.probability(v, color) == pytest.approx(p, abs=1e-12)


def test_binary_colorings_voting():
    """Three voters, majority, balanced."""
    cube = graphs.hypercube(3, lambda bits: "red" if sum(bits) > 1 else "blue")
    mechanism = balanced(cube, Privacy("ln 2", "0.1"))
    for votes, p in PAPERS["binary-colorings/voting"]["red"].items():
        assert mechanism.probability(tuple(int(vote) - 1 for vote in votes), "red") == pytest.approx(p, abs=1e-12)


def test_optimal_binary_examples():
    """Example 2: two incomparable private mechanisms; example 3: the optimum from two fixed ends, and p(d, a)."""
    path = DatasetGraph([(1, 2), (2, 3), (3, 4)], {1: "red", 2: "blue", 3: "blue", 4: "red"}, outputs=("blue", "red"))
    privacy = Privacy("ln 2")
    tables = [Mechanism(path, [[b, 1 - b] for b in blue]) for blue in PAPERS["optimal-binary/example-2"]["blue"]]
    assert all(verify(table, path, privacy).private for table in tables)
    assert not tables[0].dominates(tables[1])
    assert not tables[1].dominates(tables[0])
    expected = PAPERS["optimal-binary/example-3"]["blue"]
    mechanism = extend(path, privacy, {1: expected[0], 4: expected[3]})
    np.testing.assert_allclose(_first(mechanism), expected, atol=1e-12)
    assert privacy.reach(3, 0.1) == pytest.approx(0.7, abs=1e-15)
    assert privacy.reach(3, 0.3) == pytest.approx(0.9, abs=1e-15)


# the theorem


@pytest.mark.parametrize("block", range(20))
def test_extension_equals_linear_program(block):
    """500 random graphs with a budget for each edge: extendable exactly when the program is feasible, same values.

    Values agree to 1e-9 (the program's own tolerance is 1e-10); the result is private, agrees with the slow twin on the
    whole graph to 1e-12, and no other private extension (a random objective over the same program) is more truthful
    anywhere.
    """
    for seed in range(25):
        rng = np.random.default_rng([block, seed])
        case = strategies.random_case(rng)
        fixed = strategies.random_fixed(rng, case)
        expected = oracles.most_truthful(*case.budgeted, case.codes, fixed)
        slack = naive.margin(*case.walked, fixed)
        assert slack >= NEAR or expected is None or slack > -NEAR, "twin and program disagree"
        if abs(slack) < NEAR:
            continue
        if expected is None:
            with pytest.raises(NotExtendable):
                extend(case.graph, case.privacy, fixed)
            continue
        graph = case.graph
        mechanism = extend(graph, case.privacy, fixed)
        np.testing.assert_allclose(_first(mechanism), expected, atol=1e-9, rtol=0, err_msg=f"{block}, {seed}")
        twin = naive.extension(*case.walked, case.codes, fixed)
        np.testing.assert_allclose(_first(mechanism), twin, atol=1e-12, rtol=0, err_msg=f"{block}, {seed}")
        assert verify(mechanism, graph, case.privacy).private
        assert {v: mechanism.probability(v, "blue") for v in fixed} == fixed
        other = oracles.best(*case.budgeted, rng.normal(size=case.n), fixed)
        truth = np.where(np.array(case.codes) == 0, other, 1 - other)
        assert (mechanism.truth() >= truth - 1e-9).all()


@given(strategies.cases(), st.data())
def test_extension_equals_whole_graph_twin(case, data):
    """Small graphs and simple values, so that a counterexample would be readable: the twin decides and computes."""
    chosen = data.draw(st.sets(st.integers(0, case.n - 1)))
    assume(not naive.missed_edges(case.edges, case.codes, chosen))
    fixed = {v: data.draw(st.sampled_from([0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.9, 1.0])) for v in chosen}
    slack = naive.margin(*case.walked, fixed)
    second = naive.margin(*case.walked, {v: 1 - p for v, p in fixed.items()})
    assert (slack < -1e-12) == (second < -1e-12)  # one colour is enough to decide
    if slack < -NEAR:
        with pytest.raises(NotExtendable):
            extend(case.graph, case.privacy, fixed)
    elif slack >= -1e-12:
        mechanism = extend(case.graph, case.privacy, fixed)
        expected = naive.extension(*case.walked, case.codes, fixed)
        np.testing.assert_allclose(_first(mechanism), expected, atol=1e-12, rtol=0)


def test_one_unit_more_truth_breaks_privacy():
    """Raising the truth of any free vertex that is not certain by 1e-6 makes the table violate its privacy."""
    raised = 0
    for seed in range(60):
        rng = np.random.default_rng([7, seed])
        case = strategies.random_case(rng)
        values = strategies.random_private(rng, case)
        fixed = {v: float(values[v]) for v in strategies.random_hitting_set(rng, case)}
        graph = case.graph
        mechanism = extend(graph, case.privacy, fixed)
        for v in range(case.n):
            truth = mechanism.truth()[v]
            if v in fixed or truth >= 1 - 1e-6:
                continue
            table = mechanism.table.copy()
            code = case.codes[v]
            table[v, code], table[v, 1 - code] = truth + 1e-6, 1 - truth - 1e-6
            assert not verify(table, graph, case.privacy).private, (seed, v)
            raised += 1
    assert raised > 100


@pytest.mark.parametrize("seed", range(40))
def test_witness_of_infeasibility_stands_on_its_own(seed):
    """The witness is a path between fixed vertices, and U composed along it stays below the value fixed at its end."""
    rng = np.random.default_rng([11, seed])
    case = strategies.random_case(rng)
    fixed = {v: float(rng.random()) for v in strategies.random_hitting_set(rng, case)}
    graph = case.graph
    if naive.margin(*case.walked, fixed) > -1e-6:
        assert extend(graph, case.privacy, fixed).table.shape == (case.n, 2)
        return
    privacies = [
        case.privacy,
        case.mapping,
        EdgeClasses([*case.mapping.values(), *[Privacy(1)] * 17], np.arange(len(case.edges))),  # many classes
        case.mapping | {case.edges[0]: _as_tradeoff(case, 0)},  # relaxation
    ]
    for privacy in privacies:
        with pytest.raises(NotExtendable) as caught:
            extend(graph, privacy, fixed)
        witness = caught.value.witness
        step = {frozenset(edge): one for edge, one in zip(case.edges, case.steps, strict=True)}
        assert witness.path[0] == witness.source
        assert witness.path[-1] == witness.vertex
        assert {witness.source, witness.vertex} <= set(fixed)
        of_output = (lambda p: p) if witness.output == "blue" else (lambda p: 1 - p)
        assert witness.value == pytest.approx(of_output(fixed[witness.vertex]), abs=1e-15)
        assert witness.source_value == pytest.approx(of_output(fixed[witness.source]), abs=1e-15)
        bound = of_output(fixed[witness.source])
        for u, v in zip(witness.path, witness.path[1:], strict=False):
            bound = step[frozenset((u, v))](bound)  # a KeyError here would mean: not an edge
        assert witness.bound == pytest.approx(bound, abs=1e-8)  # edges within 1e-9 of their bound count as carrying it
        assert bound < witness.value - 1e-9
        assert repr(witness.vertex) in str(caught.value)


@pytest.mark.parametrize("values", [(1e-14, 1.001e-14), (1.001e-14, 1e-14), (1e-20, 3e-20), (3e-20, 1e-20)])
@pytest.mark.parametrize("sides", [(1, 2), (2, 1), (1, 3), (0, 3), (3, 0)])
def test_witness_next_to_certainty_stands_on_its_own(values, sides):
    """Values that differ only where 1 − p rounds to 1: the witness joins both ends, and its bound is below its value.

    The composition along the path is checked in exact arithmetic, for whichever output the witness speaks of.
    """
    graph, privacy = graphs.line(*sides), Privacy(1e-6)
    n = sum(sides)
    with pytest.raises(NotExtendable) as caught:
        extend(graph, privacy, {1: values[0], n: values[1]})
    witness = caught.value.witness
    assert sorted((witness.source, witness.vertex)) == [1, n]
    assert witness.path in (tuple(range(1, n + 1)), tuple(range(n, 0, -1)))
    first = dict(zip((1, n), map(Fraction, values), strict=True))
    of_output = {v: p if witness.output == "blue" else 1 - p for v, p in first.items()}
    bound = of_output[witness.source]
    for _ in range(n - 1):
        bound = naive.upper(bound, Fraction(privacy.growth), 0)
    assert bound < of_output[witness.vertex]
    assert witness.bound < witness.value


def _as_tradeoff(case, at):
    return TradeOff(strategies.differential_tradeoff(case.epsilons[at], case.deltas[at]))


def test_boundary_edges_that_nobody_fixed_are_refused_by_name():
    """Any set that misses a boundary edge is refused with that edge, whatever the budgets and the kind of privacy."""
    noticed = 0
    for seed in range(150):
        rng = np.random.default_rng([13, seed])
        case = strategies.random_case(rng)
        fixed = {v: float(rng.random()) for v in range(case.n) if rng.random() < 0.4}
        bare = naive.missed_edges(case.edges, case.codes, fixed)
        if not bare:
            continue
        big = 0.6 if seed % 2 else 0.0  # with a large δ every neighbour of a source is certain at once
        for privacy in (case.privacy, Privacy(1, big), GaussianDP(9.0 if big else 1.0), _as_tradeoff(case, 0)):
            with pytest.raises(ParameterError, match=r"is not covered: fix") as caught:
                extend(case.graph, privacy, fixed)
            assert any(f"({u}, {v})" in str(caught.value) or f"({v}, {u})" in str(caught.value) for u, v in bare)
        noticed += 1
    assert noticed > 50


def test_certain_regions_do_not_hide_an_uncovered_edge():
    """Two ends fixed, the boundary in the middle free, δ = 0.5: both middle vertices look certain, and must not be."""
    with pytest.raises(ParameterError, match=r"edge \((2, 3|3, 2)\) is not covered"):
        extend(graphs.line(2, 2), Privacy(1, 0.5), {1: 0.9, 4: 0.1})


# layouts


@pytest.mark.parametrize("seed", range(25))
def test_layouts_agree(seed):
    """The same budget for all edges as one pair, as equal classes, as many classes, and as a trade-off.

    Kernels may order ties differently, so 1e-12; the trade-off function is followed on plain probabilities.
    """
    rng = np.random.default_rng([17, seed])
    case = strategies.random_case(rng, n=12)
    pair = Privacy(float(rng.choice([0.0, 0.3, 1.5])), float(rng.choice([0.0, 0.02])))
    same = strategies.Case(
        case.n, case.edges, case.codes, [pair.epsilon] * len(case.edges), [pair.delta] * len(case.edges)
    )
    values = strategies.random_private(rng, same)
    fixed = {v: float(values[v]) for v in strategies.random_hitting_set(rng, same)}
    graph, count = same.graph, len(same.edges)
    ways = {
        "classes": EdgeClasses([pair] * 5, rng.integers(5, size=count)),
        "many classes": EdgeClasses([pair] * 40, rng.integers(40, size=count)),
        "arrays": same.privacy,
        "mapping": same.mapping,
        "relaxation": TradeOff(strategies.differential_tradeoff(pair.epsilon, pair.delta)),
    }
    expected = extend(graph, pair, fixed).table
    for name, way in ways.items():
        np.testing.assert_allclose(extend(graph, way, fixed).table, expected, atol=1e-12, rtol=0, err_msg=name)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("least", [0.0, 0.3])
def test_dense_budgets_agree_with_classes_and_twin(seed, least):
    """More than 16 different budgets: arrays by edge and by entry, a mapping, many classes, and the twin."""
    rng = np.random.default_rng([19, seed])
    edges = strategies.random_edges(rng, 16, extra=0.2)
    codes = strategies.random_codes(rng, 16, edges)
    case = strategies.Case(
        16, edges, codes, (least + rng.random(len(edges))).tolist(), (rng.random(len(edges)) * 0.02).tolist()
    )
    values = strategies.random_private(rng, case)
    fixed = {v: float(values[v]) for v in strategies.random_hitting_set(rng, case)}
    graph, ids = case.graph, case.graph.edge_ids
    assert Budget(graph, case.privacy).layout == 2
    by_entry = EdgePrivacy(case.privacy.epsilon[ids], case.privacy.delta[ids])
    twin = naive.extension(*case.walked, case.codes, fixed)
    for way in (case.privacy, by_entry, case.mapping, EdgeClasses(list(case.mapping.values()), np.arange(len(edges)))):
        np.testing.assert_allclose(_first(extend(graph, way, fixed)), twin, atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("epsilons", "deltas", "value", "kernel"),
    [
        ((0.5, 0.5), (0.0, 0.0), 0.4, "rounds"),
        ((1e-9, 1e-9), (1e-6, 1e-6), 0.4, "rounds"),  # one privacy, however small
        ((0.0, 0.0), (0.0, 0.0), 0.4, "rounds"),
        ((0.01, 10.0), (0.0, 0.0), 0.4, "rounds"),
        ((0.01, 11.0), (0.0, 0.0), 0.4, "heap"),  # 1,100 short steps in a long one
        ((0.0, 1.0), (0.0, 0.0), 0.4, "heap"),
        ((0.1, 0.2), (0.0, 0.1), 1e-3, "rounds"),
        ((0.1, 0.2), (0.0, 0.1), 1e-12, "heap"),  # next to 0 it is δ that makes a step long
        ((0.1, 0.2), (0.0, 0.1), 0.0, "heap"),
        ((0.1, 0.2), (0.05, 0.1), 0.0, "rounds"),
    ],
)
def test_rounds_or_heap(epsilons, deltas, value, kernel, monkeypatch):
    """Steps of similar length go in rounds, others through the heap, and both give the mechanism of the twin."""
    used = []
    for module, name in ((propagation, "by_rounds"), (propagation, "by_heap")):
        run = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, run=run, name=name: used.append(name) or run(*given))
    edges = [(v, v + 1) for v in range(9)] + [(v, v + 2) for v in range(8)]
    codes = [0] * 5 + [1] * 5
    budgets = [i % 2 for i in range(len(edges))]
    case = strategies.Case(10, edges, codes, [epsilons[i] for i in budgets], [deltas[i] for i in budgets])
    fixed = {3: value, 4: value}
    mechanism = extend(case.graph, case.privacy, fixed)
    assert used == [f"by_{kernel}"]
    np.testing.assert_allclose(_first(mechanism), naive.extension(*case.walked, codes, fixed), rtol=1e-12, atol=1e-15)


def test_dense_budgets_that_differ_in_the_two_directions_are_refused():
    """More than 16 budgets along the directed edges, one of them 1 in one direction and 2 in the other.

    The edge between the vertices 17 and 24 is one for which a checksum of the bit patterns may fail to see this.
    """
    graph = DatasetGraph([*[(v, v + 1) for v in range(24)], (17, 24)], lambda v: v > 11, vertices=range(25))
    epsilons = 1 + np.arange(25) / 64
    epsilons[-1] = 1.0
    directed = epsilons[graph.edge_ids]
    fixed = {11: 0.5}
    extend(graph, EdgePrivacy(directed), fixed)
    entry = int(np.flatnonzero(graph.edge_ids == 24)[0])
    directed[entry] = 2.0
    with pytest.raises(ParameterError, match=r"\(17, 24\) has different budgets|direction"):
        extend(graph, EdgePrivacy(directed), fixed)


# large ε, tiny probabilities, certainty


@pytest.mark.parametrize("epsilon", [5, 15, 18, 25, 30, 37, 40, 100, 600])
@pytest.mark.parametrize("delta", [0, 1e-12, 1e-300])
def test_extension_stays_private_for_large_epsilon(epsilon, delta):
    """From the balanced error at the boundary U bends within one ulp of 1; the result is private all the same."""
    privacy = Privacy(epsilon, delta)
    graph = graphs.line(3, 3)
    for value in (privacy.balance[1], privacy.balance[1] * (1 - 2**-52), privacy.balance[1] / 2):
        for way in (privacy, EdgeClasses([privacy] * 2, [0, 1, 0, 1, 0]), EdgeClasses([privacy] * 20, [1, 2, 3, 4, 5])):
            verdict = verify(extend(graph, way, {4: value}), graph, privacy)
            assert verdict.private, (value, way)


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-310, 1e-300, 1e-17, 1 - 2**-53, 1.0])
def test_extreme_fixed_values_extend_privately(value):
    """From the smallest float to the largest below 1, with and without δ, without a warning.

    A probability below the smallest normal float has too few digits to be within e^ε of anything: it may be refused.
    """
    for privacy in (Privacy(1), Privacy(1, 1e-5), Privacy(0), GaussianDP(1), TradeOff(strategies.laplace_tradeoff)):
        for graph, fixed in ((graphs.line(40, 3), {40: value}), (graphs.line(3, 40), {4: value})):
            try:
                mechanism = extend(graph, privacy, fixed)
            except (NotExtendable, ParameterError):
                assert 0 < value < np.finfo(float).tiny
                continue
            assert verify(mechanism, graph, privacy).private


def test_what_extend_returns_is_private():
    """Values that contradict each other by less than an ulp of 1 are refused or repaired, never returned as they are.

    Pr[red] = 0 next to Pr[red] = 1e-16 is an infinite ε when δ = 0.
    """
    edge = graphs.line(1, 1)
    for fixed in ({1: 1.0, 2: 1 - 2**-53}, {1: 2**-53, 2: 0.0}, {1: 1.0, 2: 1e-18}, {1: 1 - 1e-13, 2: 1 - 1e-15}):
        for privacy in (Privacy(1), Privacy(40)):
            try:
                mechanism = extend(edge, privacy, fixed)
            except NotExtendable:
                continue
            assert verify(mechanism, edge, privacy).private, (fixed, privacy)


def test_extension_is_private_or_refused_at_extreme_budgets():
    """ε from 1e-17 to 600 and δ from 0 to 1e-3 side by side, next to 0, to 1 and to the bend: private, or refused."""
    budgets = [1e-17, 1e-6, 0.1, 1, 15, 18, 25, 30, 36, 37, 40, 100, 600]
    returned = 0
    for seed in range(80):
        rng = np.random.default_rng([47, seed])
        plain = strategies.random_case(rng, at_most=9)
        count = len(plain.edges)
        epsilons = rng.choice(budgets, count if seed % 2 else 1).tolist() * (1 if seed % 2 else count)
        deltas = rng.choice([0, 0, 1e-300, 1e-17, 1e-12, 1e-3], count).tolist()
        case = strategies.Case(plain.n, plain.edges, plain.codes, epsilons, deltas)
        base = 1 / (1 + np.exp(min(epsilons))) if seed % 3 else 10.0 ** rng.uniform(-20, 0)
        noise = 1 + rng.normal(size=case.n) * rng.choice([0, 1e-16, 1e-3])
        first = np.clip(base * noise, 0, 1) if seed % 5 else 1 - np.clip(base * noise, 0, 1)
        fixed = {v: float(first[v]) for v in strategies.random_hitting_set(rng, case)}
        many = EdgeClasses([*case.mapping.values(), *[Privacy(1)] * 17], np.arange(count))
        for privacy in (case.privacy, case.mapping, many):
            try:
                mechanism = extend(case.graph, privacy, fixed)
            except NotExtendable:
                continue
            assert verify(mechanism, case.graph, privacy).private, seed
            returned += 1
    assert returned > 100


def test_delta_makes_distant_vertices_certain():
    """With δ > 0 certainty is reached after finitely many steps, and the error is exactly 0 from there on."""
    mechanism = extend(graphs.line(60, 1), Privacy(0.5, 0.01), {61: 0.2})
    error = mechanism.table[::-1, 1][1:]
    assert error[-1] == 0
    assert error[0] > 0
    assert (np.diff(error) <= 0).all()
    assert verify(mechanism, mechanism.graph, Privacy(0.5, 0.01)).private


def test_errors_of_long_lines_do_not_underflow():
    """Without δ no error ever becomes 0, not even 5,000 vertices away: that would be an infinite ε."""
    graph = graphs.line(5000, 1)
    for privacy in (Privacy(1), EdgePrivacy(np.linspace(0.5, 1.5, 5000))):
        mechanism = extend(graph, privacy, {5001: 0.2})
        assert mechanism.table.min() > 0
        assert verify(mechanism, graph, privacy).private


# one row


@pytest.mark.parametrize("seed", range(30))
def test_a_single_row_equals_the_full_table(seed):
    """``at=`` gives the row of the full table for uniform, per-edge, Gaussian and mixed privacy (1e-12)."""
    rng = np.random.default_rng([23, seed])
    case = strategies.random_case(rng)
    values = strategies.random_private(rng, case)
    fixed = {v: float(values[v]) for v in strategies.random_hitting_set(rng, case)}
    graph = case.graph
    array = np.array([fixed.get(v, np.nan) for v in range(case.n)])
    strictest = Privacy(min(case.epsilons), min(case.deltas))
    gentle = dict.fromkeys(fixed, 0.5)
    for privacy, values in (
        (case.privacy, fixed), (case.mapping, array), (case.privacy, fixed.get), (strictest, gentle),
        (GaussianDP(0.4), gentle), (case.mapping | {case.edges[0]: GaussianDP(0.4)}, gentle),
    ):  # fmt: skip
        full = extend(graph, privacy, fixed if callable(values) else values)
        for v in range(case.n):
            np.testing.assert_allclose(extend(graph, privacy, values, at=v), full.row(v), atol=1e-12, rtol=0)


@pytest.mark.parametrize("seed", range(12))
def test_a_single_row_of_by_distance_designs_equals_the_full_table(seed):
    """Balanced and homogeneous with ``at=``, for uniform and per-edge privacy."""
    rng = np.random.default_rng([29, seed])
    case = strategies.random_case(rng)
    graph = case.graph
    for privacy in (Privacy(0.7, 0.01), GaussianDP(0.7), case.privacy, case.mapping):
        for design in (balanced, partial(homogeneous, first=0.5, second=0.5)):
            full = design(graph, privacy)
            for v in range(case.n):
                np.testing.assert_allclose(design(graph, privacy, at=v), full.row(v), atol=1e-12, rtol=0)


class _Cube:
    """The votes of n people as one integer, with a count of how many vertices were asked for their neighbours."""

    def __init__(self, n):
        self.n, self.asked = n, set()

    def neighbors(self, v):
        self.asked.add(v)
        return [v ^ (1 << person) for person in range(self.n)]

    @property
    def graph(self):
        return graphs.neighbors(self.neighbors, lambda v: v.bit_count() > self.n // 2)


def _votes(count):
    return (1 << count) - 1


def test_balanced_on_a_cube_of_two_hundred_people_looks_at_few_vertices():
    """2^200 datasets: a row at distance 0 asks one vertex for its neighbours, one at distance 1 also asks those."""
    privacy = Privacy("ln 2", 0.01)
    for count, distance, at_most in ((100, 0, 1), (101, 0, 1), (99, 1, 201), (102, 1, 201)):
        cube = _Cube(200)
        row = balanced(cube.graph, privacy, at=_votes(count))
        truth = privacy.reach(distance, privacy.balance[0])
        assert row[int(count > 100)] == pytest.approx(truth, abs=1e-15)
        assert row.sum() == pytest.approx(1, abs=1e-15)
        assert len(cube.asked) <= at_most


@pytest.mark.parametrize("n", [200, 40])
def test_extend_on_a_cube_uses_least(n):
    """Fixed values as a function, with ``least`` known: the search stops after the vertex itself or its neighbours.

    All vertices just above the majority are fixed, at 0.3 or 0.4 by the vote of the first person.
    """
    privacy, half = Privacy("ln 2"), n // 2

    def fixed(v):
        return (0.3 if v & 1 else 0.4) if v.bit_count() == half + 1 else None

    asked = [(_votes(half + 1), 0.3, 0), (_votes(half), privacy.reach(1, 0.3), 1)]
    if n < 100:  # a second ring of 200 people has 40,000 edges
        asked.append((_votes(half - 1), privacy.reach(2, 0.3), n + 1))
    for at, expected, at_most in asked:
        cube = _Cube(n)
        row = extend(cube.graph, privacy, fixed, at=at, least=0.3)
        assert row[0] == pytest.approx(expected, abs=1e-14)
        assert len(cube.asked) <= at_most
    row = extend(_Cube(n).graph, privacy, fixed, at=_votes(half) << 1, least=0.3)  # the first person votes no
    assert row[0] == pytest.approx(privacy.reach(1, 0.3), abs=1e-14)  # but a neighbour in which they vote yes is fixed


def test_extend_on_a_cube_with_a_budget_for_each_person():
    """Privacy as a function of the edge: the row equals that of the explicit cube with personalized budgets."""
    budgets = [0.2, 0.5, 1.0, 1.5, 2.0]
    cube = graphs.hypercube(5, lambda bits: sum(bits) > 2)
    implicit = graphs.neighbors(lambda v: [(*v[:i], 1 - v[i], *v[i + 1 :]) for i in range(5)], lambda v: sum(v) > 2)

    def privacy(u, v):
        return Privacy(next(b for b, x, y in zip(budgets, u, v, strict=True) if x != y))

    fixed = {v: 0.35 for v in cube.vertices if sum(v) == 3}
    full = extend(cube, personalized(cube, budgets), fixed)
    for v in cube.vertices:
        np.testing.assert_allclose(extend(implicit, privacy, fixed, at=v), full.row(v), atol=1e-13, rtol=0)


def test_a_single_row_next_to_certainty_equals_the_full_table():
    """Among fixed values that all round to 1, the least is the one with the largest complement."""
    graph = DatasetGraph([(0, 1), (0, 2), (2, 3)], dict.fromkeys(range(4), "b"), outputs="br")
    fixed = {1: (1.0, 1e-30), 3: (1.0, 1e-20)}
    full = extend(graph, Privacy(10), fixed).row(0)
    np.testing.assert_allclose(extend(graph, Privacy(10), fixed, at=0), full, rtol=1e-12)
    assert full[1] == pytest.approx(1e-20 * np.exp(-20), rel=1e-12)


def test_least_without_a_vertex_is_refused():
    """It shortens the search for one row, and would be passed over in silence."""
    with pytest.raises(ParameterError, match="needs at=vertex"):
        extend(graphs.line(2, 2), Privacy(1), {2: 0.5, 3: 0.5}, least=0.3)


def test_a_search_that_leads_nowhere_is_given_up(monkeypatch):
    """Without a useful ``least`` the search is bounded, and the error says what would help."""
    monkeypatch.setattr(one_row, "MAX_VISITED", 1000)
    cube = _Cube(200)
    with pytest.raises(ParameterError, match="give a larger least"):
        extend(cube.graph, Privacy(1), lambda v: 0.3 if v.bit_count() == 101 else None, at=_votes(90))
    assert len(cube.asked) < 1000


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph: extend(graph, Privacy(1), {0: 0.5}),
        lambda graph: balanced(graph, Privacy(1)),
        lambda graph: homogeneous(graph, Privacy(1), 0.5, 0.5),
        lambda graph: balanced(graph, 1.0, at=0),
        lambda graph: extend(graph, 1.0, {0: 0.5}, at=3),
        lambda graph: extend(graph, Privacy(1), [0.5], at=3),
        lambda graph: extend(graph, Privacy(1), "x", at=3),
        lambda graph: extend(graph, lambda u, v: 1.0, lambda v: 0.5 if v else None, at=0),  # noqa: ARG005 # two ends
        lambda graph: improve(graph, Privacy(1), [[0.5, 0.5]]),
        lambda graph: extend(graph, Privacy(1), {0: float("nan")}, at=1),
        lambda graph: extend(graph, Privacy(1), {0: 1.5}, at=1),
        lambda graph: extend(graph, Privacy(1), lambda _: None, at=7),
        lambda graph: extend(graph, Privacy(1), {3: 0.5}, at=3, least=-1),
        lambda graph: extend(graph, Privacy(1), {3: 0.5}, at=1, least=float("nan")),
    ],
)
def test_bad_questions_to_implicit_graphs_are_refused(ask):
    """No vertex, no privacy, bad values, an uncovered edge or a bad ``least``: always a ParameterError."""
    with pytest.raises(ParameterError):
        ask(_Cube(3).graph)


def test_homogeneous_rows_that_no_mechanism_has_are_refused():
    """Asking for one vertex does not make impossible boundary truths possible."""
    for graph, at in ((graphs.line(2, 2), 1), (_Cube(5).graph, 0)):
        with pytest.raises(NotExtendable):
            homogeneous(graph, Privacy(0.1), 0.99, 0.99, at=at)


# budgets of persons


@pytest.mark.parametrize("seed", range(8))
def test_personalized_cube_equals_linear_program(seed):
    """Every person with their own budget on the 4-cube, balanced: private, and what the program finds."""
    rng = np.random.default_rng([31, seed])
    budgets = [Privacy(float(rng.choice([0.1, 0.5, 1, 2])), float(rng.choice([0, 0.01]))) for _ in range(4)]
    cube = graphs.hypercube(
        4, lambda bits: "yes" if sum(b * w for b, w in zip(bits, (3, 2, 2, 1), strict=True)) > 4 else "no"
    )
    place = {v: at for at, v in enumerate(cube.vertices)}
    edges = [(place[u], place[v]) for u, v in cube.edges]
    owner = [next(i for i in range(4) if u[i] != v[i]) for u, v in cube.edges]
    epsilons, deltas = [budgets[i].epsilon for i in owner], [budgets[i].delta for i in owner]
    mechanism = balanced(cube, personalized(cube, budgets))
    codes = cube.coloring.codes.tolist()
    boundary = naive.boundary_vertices(edges, codes)
    fixed = {v: float(_first(mechanism)[v]) for v in boundary}
    expected = oracles.most_truthful(16, edges, epsilons, deltas, codes, fixed)
    np.testing.assert_allclose(_first(mechanism), expected, atol=1e-9, rtol=0)
    assert verify(mechanism, cube, personalized(cube, budgets)).private


# improve


@pytest.mark.parametrize("block", range(4))
def test_improvement_dominates_and_stays_private(block):
    """200 random private mechanisms: at least as truthful everywhere, still private, and nothing left to improve.

    The fixed values are exact, so dominance holds to the mechanisms' own rounding, 1e-12.
    """
    gained = 0
    for seed in range(50):
        rng = np.random.default_rng([37, block, seed])
        case = strategies.random_case(rng)
        first = strategies.random_private(rng, case)
        graph = case.graph
        given = Mechanism(graph, np.column_stack([first, 1 - first]))
        better = improve(graph, case.privacy, given)
        assert better.dominates(given)
        assert verify(better, graph, case.privacy).private
        again = improve(graph, case.privacy, better)
        np.testing.assert_allclose(again.table, better.table, atol=1e-9, rtol=0)
        gained += (better.truth() > given.truth() + 1e-6).any()
    assert gained > 10


def test_improving_what_is_not_private_is_refused_with_a_witness():
    """The witness is an edge and an event whose probabilities break the privacy."""
    line = graphs.line(2, 2)
    table = [[0.9, 0.1], [0.9, 0.1], [0.3, 0.7], [0.3, 0.7]]
    with pytest.raises(NotPrivate) as caught:
        improve(line, Privacy("ln 2"), table)
    witness = caught.value.witness
    assert witness.edge in ((2, 3), (3, 2))
    assert witness.probability > witness.bound


def test_improving_reads_columns_by_output():
    """A mechanism that lists its outputs in another order is read by name, never backwards."""
    line = graphs.line(2, 2)
    swapped = DatasetGraph(line.edges, line.colors, outputs=("red", "blue"))
    given = balanced(swapped, Privacy(1))
    better = improve(line, Privacy(1), given)
    for v in line.vertices:
        assert better.probability(v, line.colors[v]) >= given.probability(v, line.colors[v]) - 1e-12


# other notions of privacy


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("value", [1e-9, 0.2, 0.7])
def test_gaussian_extension_equals_closed_form_on_lines(mu, value):
    """On a line Pr[blue] at distance d is Φ(Φ⁻¹(p) + dμ) upwards; the table satisfies the trade-off on every edge."""
    graph, privacy = graphs.line(5, 4), GaussianDP(mu)
    mechanism = extend(graph, privacy, {6: value})
    for d in range(1, 6):
        expected = privacy.reach(d, value)
        assert mechanism.probability(6 - d, "blue") == pytest.approx(expected, rel=1e-12)
    for d in range(1, 4):
        assert mechanism.probability(6 + d, "red") == pytest.approx(privacy.reach(d, 1 - value), rel=1e-12)
    assert verify(mechanism, graph, privacy).private


@pytest.mark.parametrize("seed", range(20))
def test_gaussian_extension_is_private_and_tight(seed):
    """Gaussian DP with several μ on random graphs: no violation is found, and the twin has the same values (1e-9)."""
    rng = np.random.default_rng([41, seed])
    case = strategies.random_case(rng)
    mus = [float(mu) for mu in rng.choice([0.2, 0.7, 1.5], len(case.edges))]
    privacy = {edge: GaussianDP(mu) for edge, mu in zip(case.edges, mus, strict=True)}
    steps = [partial(naive.gaussian_upper, mu=mu) for mu in mus]
    chosen = strategies.random_hitting_set(rng, case)
    start = float(rng.random() * 0.8 + 0.1)
    fixed = {v: float(naive.gaussian_upper(start, 0.1 * rng.normal())) for v in chosen}
    graph = case.graph
    slack = naive.margin(case.n, case.edges, steps, fixed)
    if slack < -NEAR:
        with pytest.raises(NotExtendable):
            extend(graph, privacy, fixed)
        return
    mechanism = extend(graph, privacy, fixed)
    assert verify(mechanism, graph, privacy).private
    twin = naive.extension(case.n, case.edges, steps, case.codes, fixed)
    np.testing.assert_allclose(_first(mechanism), twin, atol=1e-9, rtol=0)


@pytest.mark.parametrize("seed", range(40))
def test_mixed_notions_agree_with_the_twin(seed):
    """(ε, δ)-DP, Gaussian DP and f-DP side by side: feasibility and values of the whole-graph twin, to 1e-9."""
    rng = np.random.default_rng([43, seed])
    case = strategies.random_case(rng)
    kinds = [
        (Privacy(0.5, 0.01), partial(naive.upper, growth=float(np.exp(0.5)), delta=0.01)),
        (GaussianDP(0.6), partial(naive.gaussian_upper, mu=0.6)),
        (TradeOff(strategies.laplace_tradeoff), lambda a: 1 - float(strategies.laplace_tradeoff(np.float64(a)))),
        (Privacy(0), lambda a: a),
        (GaussianDP(0), lambda a: a),
    ]
    chosen_kinds = rng.choice(len(kinds), len(case.edges), p=[0.3, 0.3, 0.3, 0.05, 0.05])
    privacy = {edge: kinds[kind][0] for edge, kind in zip(case.edges, chosen_kinds, strict=True)}
    steps = [kinds[kind][1] for kind in chosen_kinds]
    base = float(rng.random())
    values = {v: float(np.clip(base + 0.05 * rng.normal(), 0, 1)) for v in strategies.random_hitting_set(rng, case)}
    if seed % 3:  # make them feasible: lower every value to what the others allow
        values = {v: p for v, p in enumerate(naive.envelope(case.n, case.edges, steps, values)) if v in values}
    graph = case.graph
    slack = naive.margin(case.n, case.edges, steps, values)
    if slack < -NEAR:
        with pytest.raises(NotExtendable):
            extend(graph, privacy, values)
        return
    mechanism = extend(graph, privacy, values)
    twin = naive.extension(case.n, case.edges, steps, case.codes, values)
    np.testing.assert_allclose(_first(mechanism), twin, atol=1e-9, rtol=0)
    assert verify(mechanism, graph, privacy, tolerance=1e-8).private


# graphs without a boundary


def test_partition_selection_is_the_line_without_a_second_color():
    """Publish a group only if it is not empty: p(0) = 0 and U^d(0) at d people, which is the known optimum."""
    privacy = Privacy("ln 3", 1e-5)
    groups = DatasetGraph([(d, d + 1) for d in range(30)], lambda _: "publish", outputs=("publish", "withhold"))
    mechanism = extend(groups, privacy, {0: 0.0})
    growth, delta, p = 3.0, 1e-5, 0.0
    for d in range(31):
        assert mechanism.probability(d, "publish") == pytest.approx(p, rel=1e-12)
        p = min(growth * p + delta, 1 - (1 - p - delta) / growth, 1)
    assert mechanism.probability(30, "publish") == 1


def test_pieces_of_one_color_are_certain():
    """In a graph of several pieces, those without a boundary and without fixed vertices are answered with certainty."""
    graph = DatasetGraph([(1, 2), (3, 4), (5, 6)], dict(zip(range(1, 7), "abaabb", strict=True)), disconnected=True)
    for privacy in (
        Privacy(1, 0.1),
        GaussianDP(1),
        TradeOff(strategies.laplace_tradeoff),
        EdgePrivacy([1.0, 2.0, 3.0]),
    ):
        mechanism = extend(graph, privacy, {1: 0.6})
        assert mechanism.table[2:].tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
        assert mechanism.probability(1, "a") == 0.6
        assert balanced(graph, privacy).table[2:].tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
        assert extend(graph, privacy, {1: 0.6}, at=5).tolist() == [0, 1]
        assert verify(mechanism, graph, privacy).private


def test_graphs_of_one_color_are_certain():
    """Without any boundary the truth is private; a fixed vertex still bounds the others."""
    one = DatasetGraph([(1, 2), (2, 3)], dict.fromkeys((1, 2, 3), "only"))
    for privacy in (
        Privacy(1),
        GaussianDP(1),
        TradeOff(strategies.laplace_tradeoff),
        {(1, 2): Privacy(1), (2, 3): Privacy(2)},
    ):
        for mechanism in (extend(one, privacy, {}), balanced(one, privacy), improve(one, privacy, np.ones((3, 1)))):
            assert mechanism.table.tolist() == [[1.0]] * 3
        for at in (1, 2, 3):
            for row in (extend(one, privacy, {1: 1.0}, at=at), balanced(one, privacy, at=at)):
                assert row.tolist() == [1.0]
    line = graphs.line(3, 0)
    assert extend(line, Privacy("ln 2"), {1: 0.2}).truth().tolist() == pytest.approx([0.2, 0.4, 0.7])
    assert balanced(line, Privacy(1)).truth().tolist() == [1, 1, 1]


def test_doubt_about_the_only_answer_is_refused():
    """Where a graph has one answer, 0.3 would leave a row that does not sum to 1; a second answer must be named."""
    one = DatasetGraph([(1, 2), (2, 3)], dict.fromkeys((1, 2, 3), "only"))
    for fixed in ({1: 0.3}, {1: (0.3, 0.7)}, [0.3, np.nan, np.nan]):
        for options in ({}, {"at": 1}, {"at": 3}):
            with pytest.raises(ParameterError, match="'only' is the only answer"):
                extend(one, Privacy(1), fixed, **options)
        assert extend(one.with_outputs(("only", "other")), Privacy(1), fixed).row(1).tolist() == [0.3, 0.7]


def test_what_is_not_a_graph_is_refused():
    """A list of edges in place of a graph is a ParameterError of every designer."""
    for design in (
        lambda graph: extend(graph, Privacy(1), {1: 0.5}),
        lambda graph: balanced(graph, Privacy(1)),
        lambda graph: homogeneous(graph, Privacy(1), 0.5, 0.5),
        lambda graph: improve(graph, Privacy(1), [[0.5, 0.5]]),
    ):
        with pytest.raises(ParameterError, match="a DatasetGraph is needed here, got list"):
            design([(1, 2)])


# bad values


@pytest.mark.parametrize(
    ("fixed", "message"),
    [
        ({2: float("nan")}, "fixed value of 2 must be a number in"),
        ({2: 1.1}, "got 1.1"),
        ({2: -0.1}, "got -0.1"),
        ({2: float("inf")}, "got inf"),
        ({2: None}, "fixed value of 2"),
        ({2: "x"}, "fixed value of 2"),
        ({9: 0.5}, "9 is not a vertex"),
        ({}, r"\(2, 3\) is not covered"),
        ({1: 0.5}, r"\(2, 3\) is not covered"),
        ([0.5, 0.5], "one entry per vertex"),
        ("xx", "fixed values must be numbers"),
        ([[0.5], [0.5, 0.5]], "fixed values must be numbers"),
        ([0.5, 10**400, 0.5, 0.5], "fixed values must be numbers"),
        ([0.5, 2.0, 0.5, 0.5], "got 2.0"),
        (lambda _: 0.5, "needs at=vertex"),
    ],
)
def test_bad_fixed_values_are_refused(fixed, message):
    """The vertex and the value, or the uncovered edge, are named."""
    for privacy in (Privacy(1), GaussianDP(1), TradeOff(strategies.laplace_tradeoff)):
        with pytest.raises(ParameterError, match=message):
            extend(graphs.line(2, 2), privacy, fixed)


@pytest.mark.parametrize("colors", [{1: "a", 2: "b", 3: "c"}, {1: ("a", "b"), 2: ("b", "a"), 3: ("a", "b")}])
def test_other_than_two_plain_colors_are_refused(colors):
    """Three answers or orders of preference are not a yes/no question."""
    graph = DatasetGraph([(1, 2), (2, 3)], colors)
    for design in (lambda: extend(graph, Privacy(1), {2: 0.5}), lambda: balanced(graph, Privacy(1))):
        with pytest.raises(ParameterError, match=r"two colors|orders of preference"):
            design()
