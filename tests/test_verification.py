"""verify and the baselines: every event of every edge, by enumeration."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import strategies
from tinct import (
    DatasetGraph,
    EdgePrivacy,
    GaussianDP,
    Mechanism,
    ParameterError,
    Privacy,
    TradeOff,
    balanced,
    baselines,
    graphs,
    verify,
)

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
PAPERS = {case["id"]: case for case in GOLDEN["papers"]}


def _random_table(rng, n, q):
    """Random distributions, some with zeros, some nearly alike."""
    table = rng.dirichlet(np.full(q, rng.choice([0.3, 1, 20])), n)
    table[rng.random((n, q)) < rng.choice([0, 0.2])] = 0
    table[table.sum(axis=1) == 0, 0] = 1
    return table / table.sum(axis=1, keepdims=True)


def _random_graph(rng, q):
    n = int(rng.integers(2, 7))
    edges = strategies.random_edges(rng, n, extra=0.3)
    outputs = [f"answer {k}" for k in range(q)]
    return DatasetGraph(edges, lambda v: outputs[v % q], vertices=range(n), outputs=outputs), edges


def _both_ways(edges):
    return [pair for edge in edges for pair in (edge, edge[::-1])]


@pytest.mark.parametrize("q", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(25))
def test_least_epsilon_delta_and_profile_equal_enumeration_of_events(q, seed):
    """Over all 2^q events of all edges in both directions: the same least ε, least δ and profile.

    Sums of five floats carry 1e-15; ln((P − δ)/Q) magnifies that by 1/(P − δ), hence 1e-9 relative on E.
    """
    rng = np.random.default_rng([q, seed])
    graph, edges = _random_graph(rng, q)
    table = _random_table(rng, len(graph), q)
    privacy = Privacy(float(rng.choice([0, 0.5, 2])), float(rng.choice([0, 0.01, 0.2])))
    verdict = verify(table, graph, privacy)
    rows = [(table[u].tolist(), table[v].tolist()) for u, v in _both_ways(edges)]
    delta = max(naive.hockey_stick(*pair, privacy.growth) for pair in rows)
    epsilon = max(naive.least_epsilon(*pair, privacy.delta) for pair in rows)
    assert verdict.delta == pytest.approx(delta, abs=1e-14)
    assert verdict.epsilon == pytest.approx(epsilon, rel=1e-9, abs=1e-12)
    if abs(delta - privacy.delta) > 1e-8:
        assert verdict.private == (delta < privacy.delta)
    grid = [0, 0.3, 1, 5]
    profile = [max(naive.hockey_stick(*pair, math.exp(one)) for pair in rows) for one in grid]
    np.testing.assert_allclose(verdict.profile(grid), profile, atol=1e-14)
    assert verdict.profile(privacy.epsilon).shape == (1,)


@pytest.mark.parametrize("q", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(15))
def test_witness_attains_the_least_epsilon(q, seed):
    """The witness is an edge and an event with just these probabilities; no event needs a larger ε than it does."""
    rng = np.random.default_rng([10, q, seed])
    graph, edges = _random_graph(rng, q)
    table = _random_table(rng, len(graph), q)
    privacy = Privacy(float(rng.choice([0, 0.5, 2])), float(rng.choice([0, 0.01, 0.2])))
    verdict = verify(table, graph, privacy)
    witness = verdict.witness
    u, v = witness.edge
    assert (u, v) in _both_ways(edges)
    columns = [graph.outputs.index(output) for output in witness.event]
    above, below = table[u, columns].sum(), table[v, columns].sum()
    assert witness.probability == pytest.approx(above, abs=1e-14)
    assert witness.neighbor_probability == pytest.approx(below, abs=1e-14)
    assert witness.bound == pytest.approx(naive.upper(below, privacy.growth, privacy.delta), abs=1e-14)
    if not verdict.private:
        assert witness.probability > witness.bound
        assert "exceeds" in str(witness)
    if verdict.epsilon > 0:
        needed = math.inf if below == 0 else math.log((above - privacy.delta) / below)
        assert needed == pytest.approx(verdict.epsilon, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_each_edge_is_held_to_its_own_budget(seed):
    """With a budget for each edge: private exactly if every edge is, by its own ε and δ; ε is the largest need."""
    rng = np.random.default_rng([20, seed])
    case = strategies.random_case(rng)
    first = strategies.random_private(rng, case)
    if seed % 2:
        first = np.clip(first + rng.normal(size=case.n) * 0.02, 0, 1)
    table = np.column_stack([first, 1 - first])
    needs = [
        max(naive.least_epsilon(table[a], table[b], delta) for a, b in ((u, v), (v, u)))
        for (u, v), delta in zip(case.edges, case.deltas, strict=True)
    ]
    for privacy in (case.privacy, case.mapping):
        verdict = verify(table, case.graph, privacy)
        assert verdict.epsilon == pytest.approx(max(needs), rel=1e-9, abs=1e-12)
        worst = max(need - epsilon for need, epsilon in zip(needs, case.epsilons, strict=True))
        if abs(worst) > 1e-8:
            assert verdict.private == (worst < 0)
        if worst > 1e-8:  # the witness is the edge that lacks most, not the one that needs most
            at = next(i for i, edge in enumerate(case.edges) if set(edge) == set(verdict.witness.edge))
            assert needs[at] - case.epsilons[at] == pytest.approx(worst, rel=1e-9)


def test_tolerance_is_honoured_and_reported():
    """An excess of e^ε by a factor 1 + t is forgiven by a tolerance above t and by none below, at any probability."""
    edge, privacy = graphs.line(1, 1), Privacy("ln 2")
    for tiny in (0.3, 1e-6, 1e-200):
        for excess in (1e-3, 1e-7):
            p = 2 * tiny * (1 + excess)
            table = [[tiny, 1 - tiny], [p, 1 - p]]
            for tolerance, private in ((excess * 2, True), (excess / 2, False), (0, False)):
                verdict = verify(table, edge, privacy, tolerance=tolerance)
                assert verdict.private is private
                assert verdict.tolerance == tolerance
    spread = [[0.1, 0.9], [0.1 * (1 + 1e-6), 1 - 0.1 * (1 + 1e-6)]]
    assert verify([[0, 1], spread[0]], edge, Privacy(0, 0.1), tolerance=0).private
    assert not verify([[0, 1], spread[1]], edge, Privacy(0, 0.1), tolerance=1e-7).private
    assert verify([[0, 1], spread[1]], edge, Privacy(0, 0.1), tolerance=1e-5).private
    assert verify(spread, edge, Privacy(0)).tolerance == 1e-9


def test_mechanisms_know_their_graph_and_privacy():
    """What is left out is taken from the mechanism; a table has neither, and says so."""
    line = graphs.line(2, 2)
    mechanism = balanced(line, Privacy("ln 2"))
    assert verify(mechanism) == verify(mechanism, line) == verify(mechanism, line, Privacy("ln 2"))
    assert not verify(mechanism, privacy=Privacy("0.1")).private
    for wrong in (
        lambda: verify(mechanism.table),
        lambda: verify(mechanism.table, line),
        lambda: verify(Mechanism(line, mechanism.table)),
        lambda: verify(mechanism, graphs.line(2, 2)),
    ):
        with pytest.raises(ParameterError, match="privacy"):
            wrong()


@pytest.mark.parametrize("graph", [5, "line", [(1, 2)], {}])
def test_what_is_no_graph_is_refused(graph):
    """By its type."""
    with pytest.raises(ParameterError, match="graph must be a DatasetGraph"):
        verify([[1, 0], [1, 0]], graph, Privacy(1))


@pytest.mark.parametrize("bad", [-1e-9, 0.2, math.nan, math.inf, "x", None, [0.1], True])
def test_bad_tolerances_are_refused(bad):
    """A tolerance is a number in [0, 0.1]."""
    with pytest.raises(ParameterError, match="tolerance must be a number"):
        verify([[1, 0], [1, 0]], graphs.line(1, 1), Privacy(1), tolerance=bad)


def test_a_zero_on_one_side_only_is_an_infinite_epsilon():
    """An underflow to 0, however small the other side, needs an infinite ε unless δ covers it."""
    edge = graphs.line(1, 1)
    table = [[5e-324, 1.0], [0.0, 1.0]]
    verdict = verify(table, edge, Privacy(600))
    assert not verdict.private
    assert verdict.epsilon == math.inf
    assert verdict.witness.event == ("blue",)
    assert verdict.witness.edge == (1, 2)
    covered = verify(table, edge, Privacy(0, 1e-300))
    assert covered.private
    assert covered.epsilon == 0


def test_an_optimal_table_needs_no_more_than_its_own_epsilon():
    """What is private at (ε, δ) needs an ε of at most ε, up to the tolerance; above all never an infinite one.

    Where U reaches 1, an error of exactly δ meets an error of exactly 0: rounding must not make that an infinite ε.
    """
    for epsilon in ("ln 2", 0.1, 0.5, 1, 2, "ln 1.3"):
        for delta in ("0.1", 0.01, 1e-3, "1/3", 1e-6):
            privacy = Privacy(epsilon, delta)
            line = graphs.line(60, 60)
            verdict = verify(balanced(line, privacy), line, privacy)
            assert verdict.private
            assert verdict.epsilon <= privacy.epsilon * (1 + 1e-6), (epsilon, delta)
            assert verdict.delta == pytest.approx(privacy.delta, rel=1e-6)


@given(st.sampled_from([0.2, 1.0, 3.0]), st.floats(0.01, 0.99), st.floats(-0.2, 0.2))
def test_gaussian_verdict_equals_the_tradeoff(mu, a, shift):
    """For two answers Gaussian DP holds exactly if both are within Φ(Φ⁻¹(·) + μ) of each other."""
    b = min(1.0, max(0.0, naive.gaussian_upper(a, mu) + shift))
    slack = min(naive.gaussian_upper(x, mu) - y for x, y in ((a, b), (b, a), (1 - a, 1 - b), (1 - b, 1 - a)))
    if abs(slack) > 1e-8:
        verdict = verify([[a, 1 - a], [b, 1 - b]], graphs.line(1, 1), GaussianDP(mu))
        assert verdict.private == (slack > 0)
        assert (verdict.witness.probability > verdict.witness.bound) == (slack < 0)


@pytest.mark.parametrize("q", [3, 4])
@pytest.mark.parametrize("seed", range(15))
def test_tradeoff_verdict_equals_enumeration_of_events(q, seed):
    """With more answers, Gaussian DP, f-DP and mixtures hold exactly if every event of every edge obeys U."""
    rng = np.random.default_rng([30, q, seed])
    graph, edges = _random_graph(rng, q)
    table = rng.dirichlet(np.full(q, 15.0), len(graph))
    choices = [GaussianDP(0.8), TradeOff(strategies.laplace_tradeoff), Privacy(0.8, 0.01)]
    mixed = {edge: choices[int(rng.integers(3))] for edge in edges}
    for privacy in (*choices[:2], mixed):
        worst = max(
            sum(table[u][list(event)])
            - (mixed[edge] if privacy is mixed else privacy).upper(min(1, sum(table[v][list(event)])))
            for edge in edges
            for u, v in (edge, edge[::-1])
            for event in naive.events(q)
        )
        verdict = verify(table, graph, privacy)
        if abs(worst - 1e-9) > 1e-10:
            assert verdict.private == (worst <= 1e-9)
        if not verdict.private:
            assert verdict.witness.probability > verdict.witness.bound


def test_a_graph_without_edges_is_private():
    """A single dataset has no neighbours to be told from: no witness, ε = δ = 0."""
    verdict = verify([[1.0, 0.0]], graphs.line(1, 0), Privacy(1))
    assert (verdict.private, verdict.epsilon, verdict.delta, verdict.witness) == (True, 0, 0, None)
    assert verdict.profile([0, 1]).tolist() == [0, 0]


LINE = graphs.line(1, 1)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0.5, 0.5]], "2 rows"),
        ([[0.5, 0.5], [0.5, 0.25, 0.25]], "table must be an array"),
        ([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]], "2 columns"),
        ([[0.5, 0.5], [0.5, 0.6]], "row 2 is not a distribution"),
        ([[0.5, 0.5], [0.5, 0.5 - 1e-8]], "row 2 is not a distribution"),
        ([[1.5, -0.5], [0.5, 0.5]], "row 1 is not a distribution"),
        ([[math.nan, 1], [0.5, 0.5]], "row 1 is not a distribution"),
        ([[math.inf, 0], [0.5, 0.5]], "row 1 is not a distribution"),
        ([["x", "y"], [0, 1]], "array of numbers"),
        (None, "table must|array of numbers"),
        ([], "2 rows"),
    ],
)
def test_bad_tables_are_refused(table, message):
    """A table has a row per vertex and a column per output, and every row is a distribution."""
    for build in (lambda: verify(table, LINE, Privacy(1)), lambda: Mechanism(LINE, table)):
        with pytest.raises(ParameterError, match=message):
            build()


@pytest.mark.parametrize(
    "other",
    [graphs.line(2, 2, ("a", "b")), graphs.line(2, 3), graphs.line(2, 2, start=7)],
    ids=["outputs", "size", "vertices"],
)
def test_mechanisms_of_other_graphs_are_refused(other):
    """Other outputs, other sizes, or other vertices: a table is checked only against the graph whose rows it has."""
    with pytest.raises(ParameterError):
        verify(balanced(graphs.line(2, 2), Privacy(1)), other, Privacy(1))


def test_mechanisms_are_read_by_vertex_and_output():
    """A graph that lists the same vertices and outputs in another order gets the same verdict, or a refusal."""
    line, privacy = graphs.line(2, 2), Privacy("ln 2", 0.1)
    mechanism = balanced(line, privacy)
    expected = verify(mechanism, line, privacy)
    for options in ({"outputs": ("red", "blue")}, {"vertices": [3, 1, 4, 2]}):
        other = DatasetGraph(line.edges, line.colors, **options)
        verdict = verify(mechanism, other, privacy)
        assert (verdict.private, verdict.epsilon, verdict.delta) == (expected.private, expected.epsilon, expected.delta)


@pytest.mark.parametrize("bad", [[-1], [701], [math.nan], "x", [None], [[0, 1], [1, 2]], [[0.5]]])
def test_bad_profiles_are_refused(bad):
    """A profile is asked for numbers in [0, 700], in one list."""
    with pytest.raises(ParameterError, match="epsilons must be numbers"):
        verify(balanced(LINE, Privacy(1)), LINE, Privacy(1)).profile(bad)


# papers


def test_printed_rainbow_operator_is_not_private():
    """E = 2, δ = 0.1: (0.5, 0.5) → (0.85, 0.15), as the rainbow paper prints it, exceeds; the right image does not."""
    privacy = Privacy("ln 2", "0.1")
    printed = verify([[0.5, 0.5], [0.85, 0.15]], LINE, privacy)
    assert not printed.private
    assert printed.delta == pytest.approx(0.5 - 2 * 0.15, abs=1e-15)
    up = privacy.upper(0.5)
    assert verify([[0.5, 0.5], [up, 1 - up]], LINE, privacy).private


def test_optimal_binary_examples_are_private():
    """Both vectors of example 2, and example 3, are private at ln 2, and not at ln 1.99."""
    path = DatasetGraph([(1, 2), (2, 3), (3, 4)], {1: "red", 2: "blue", 3: "blue", 4: "red"}, outputs=("blue", "red"))
    vectors = [*PAPERS["optimal-binary/example-2"]["blue"], PAPERS["optimal-binary/example-3"]["blue"]]
    for blue in vectors:
        table = [[b, 1 - b] for b in blue]
        verdict = verify(table, path, Privacy("ln 2"))
        assert verdict.private
        assert verdict.epsilon == pytest.approx(math.log(2), rel=1e-12)
        assert not verify(table, path, Privacy("ln 1.99")).private


def test_verdicts_that_say_the_same_are_equal():
    """Verdicts can be compared and collected: what was found counts, not the arrays it was found in."""
    table = balanced(LINE, Privacy(1)).table
    assert verify(table, LINE, Privacy(1)) == verify(table.copy(), LINE, Privacy(1))
    assert len({verify(table, LINE, Privacy(1)), verify(table, LINE, Privacy(1)), verify(table, LINE, Privacy(2))}) == 2


@pytest.mark.parametrize("epsilon", [0, 1e-300, 1, 700])
@pytest.mark.parametrize("delta", [0, 1e-300, 0.5, 1 - 2**-53, "0.99999999999999999999999"])
def test_extreme_budgets_are_verified_without_a_warning(epsilon, delta):
    """ε up to 700 and δ up to the last float below 1: balanced tables are private, ratios beyond floats do no harm."""
    privacy = Privacy(epsilon, delta)
    for graph in (graphs.line(3, 3), graphs.line(1, 0), DatasetGraph([(1, 2)], {1: "a", 2: "b"}, outputs="abc")):
        if len(graph.outputs) == 2:
            table = balanced(graph, privacy).table
        else:
            truth, error = privacy.balance
            table = [[truth, error, 0], [error, truth, 0]]
        verdict = verify(table, graph, privacy)
        assert verdict.private
        assert verdict.epsilon <= 700 * (1 + 1e-9)


@pytest.mark.parametrize("delta", [1 - 1e-16, 1 - 1e-10, 1 - 1e-6, 0.75])
def test_delta_next_to_1_forgives_nothing(delta):
    """Telling everything is not private for any δ below 1, and what is private needs no more than its ε."""
    privacy = Privacy(1, delta)
    verdict = verify(balanced(LINE, privacy), LINE, privacy)
    assert verdict.private
    assert verdict.epsilon <= 1 + 1e-12
    truth, error = privacy.balance
    pair = graphs.line(1, 1)
    for share in (0.0, 0.5, 1 - 1e-6):
        closer = [[1 - share * error, share * error], [share * error, 1 - share * error]]
        assert not verify(closer, pair, privacy).private
    assert verify([[truth, error], [error, truth]], pair, privacy).private
    three = DatasetGraph([(1, 2)], {1: "a", 2: "b"}, outputs="abc")
    for share, private in ((1.0, True), (0.9, False)):
        rest = share * error
        halves = [[(1 - rest) / 2, (1 - rest) / 2, rest], [rest / 2, rest / 2, 1 - rest]]
        assert verify(halves, three, privacy).private == private


@given(strategies.probabilities, st.floats(0, 3), st.sampled_from([0.0, 1e-9, 0.1, 0.6, 1 - 1e-9, 1 - 2**-53]))
def test_private_and_the_least_epsilon_say_the_same(a, epsilon, delta):
    """A table is private exactly if its least ε does not exceed the budget by more than the tolerance."""
    privacy, pair = Privacy(epsilon, delta), graphs.line(1, 1)
    for factor in (1 - 1e-6, 1.0, 1 + 1e-6):
        right, wrong = (float(value) for value in privacy.walk(1, min(1.0, a * factor), 1 - min(1.0, a * factor)))
        verdict = verify([[right, wrong], [a, 1 - a]], pair, privacy)
        assert verdict.private == (verdict.epsilon <= epsilon + 2e-9)


def test_what_1_minus_p_has_lost_is_named():
    """1 − p of a p next to 1 is 0, or off by so much that ratios break: the verdict says so, and what to do."""
    pair, privacy = graphs.line(1, 1), Privacy("ln 3")
    small = np.array([5e-17, 1e-16])
    yes = 1 - small
    verdict = verify(np.column_stack([yes, 1 - yes]), pair, privacy)
    assert (verdict.private, verdict.epsilon) == (False, math.inf)
    assert "rounding alone may be the reason" in verdict.hint
    assert "from_smaller" in verdict.hint
    far = 1 - np.array([5e-17, 1e-12])
    assert "still more than is allowed" in verify(np.column_stack([far, 1 - far]), pair, privacy).hint
    assert verify([[0.5, 0.5], [0.9, 0.1]], pair, privacy).hint == ""
    assert verify([[1e-20, 1.0], [1e-30, 1.0]], pair, privacy).hint == ""
    read = Mechanism.from_smaller(pair, [[math.nan, small[0]], [1.0, small[1]]])
    verdict = verify(read, privacy=privacy)
    assert verdict.private
    assert verdict.epsilon == pytest.approx(math.log(2))
    assert verdict.hint == ""


def test_a_table_is_read_by_its_smaller_entries():
    line = graphs.line(1, 2)
    mechanism = Mechanism.from_smaller(line, [[0.999999, 1.25e-6], [3e-300, math.nan], [0.5, 0.5]], Privacy(1))
    assert mechanism.table.tolist() == [[1 - 1.25e-6, 1.25e-6], [3e-300, 1.0], [0.5, 0.5]]
    assert mechanism.privacy == Privacy(1)


@pytest.mark.parametrize(
    "row",
    [
        [0.2, 0.7],  # sums to 0.9
        [math.nan, math.nan],
        [math.nan, 0.9],  # not the smaller one
        [-1e-9, 1.0],
        [1.0, math.inf],
        [1e-3, 1.1],
    ],
)
def test_rows_without_a_smaller_entry_are_refused(row):
    with pytest.raises(ParameterError, match=r"row 2 must have a smaller entry from 0 to 1/2"):
        Mechanism.from_smaller(graphs.line(1, 1), [[0.5, 0.5], row])


def test_only_two_answers_have_a_smaller_one():
    with pytest.raises(ParameterError, match="2 columns"):
        Mechanism.from_smaller(graphs.line(1, 1), [[0.5, 0.3, 0.2]] * 2)
    with pytest.raises(ParameterError, match="array of numbers"):
        Mechanism.from_smaller(graphs.line(1, 1), [["a", "b"]] * 2)


# baselines

PRIVACIES = [Privacy(1), Privacy(1, 0.01), Privacy("ln 2", 0.1), Privacy(0.1), Privacy(0), Privacy(5, 1e-6)]


@pytest.mark.parametrize("privacy", PRIVACIES, ids=repr)
@pytest.mark.parametrize("name", baselines.ALL)
def test_baselines_are_private_and_dominated(name, privacy):
    """Each baseline is private on lines, cubes and random graphs; the balanced mechanism is at least as truthful."""
    rng = np.random.default_rng(0)
    cube = graphs.hypercube(4, lambda bits: sum(bits) > 2)
    for graph in (graphs.line(8, 5), cube, strategies.random_case(rng, n=12).graph):
        baseline = baselines.ALL[name](graph, privacy)
        assert verify(baseline, graph, privacy).private
        assert balanced(graph, privacy).dominates(baseline)


@pytest.mark.parametrize("epsilon", [1, 30, 700])
@pytest.mark.parametrize("name", baselines.ALL)
def test_baselines_of_long_lines_stay_private(name, epsilon):
    """No error underflows to 0, which would be an infinite ε."""
    line, privacy = graphs.line(900, 900), Privacy(epsilon)
    baseline = baselines.ALL[name](line, privacy)
    assert baseline.table.min() > 0
    assert verify(baseline, line, privacy).private


def test_geometric_noise_equals_the_balanced_optimum_without_delta():
    """With δ = 0 thresholded geometric noise is already optimal, to the last bits (1e-15)."""
    for epsilon in ("ln 2", 0.1, 1, 3):
        line = graphs.line(30, 30)
        one, other = balanced(line, Privacy(epsilon)), baselines.geometric(line, Privacy(epsilon))
        np.testing.assert_allclose(one.table, other.table, atol=1e-15, rtol=1e-12)


def test_what_delta_buys_over_geometric_noise():
    """ε = 1, δ = 0.01, distance 3: error 0.0077 against 0.0134, and exactly 0 from distance 4 on."""
    line, privacy = graphs.line(7, 1), Privacy(1, 0.01)
    optimal, noisy = balanced(line, privacy), baselines.geometric(line, privacy)
    at = {distance: 7 - distance for distance in range(7)}
    assert round(optimal.probability(at[3], "red"), 4) == 0.0077
    assert round(noisy.probability(at[3], "red"), 4) == 0.0134
    assert [optimal.probability(at[d], "red") for d in (4, 5, 6)] == [0, 0, 0]
    assert optimal.probability(at[3], "red") > 0


def test_randomized_response_has_the_balanced_truth_everywhere():
    """The same truth (E + δ)/(E + 1) at every vertex."""
    graph = graphs.line(3, 2)
    truth = baselines.randomized_response(graph, Privacy("ln 3", 0.2)).truth()
    np.testing.assert_allclose(truth, (3 + 0.2) / 4, atol=1e-15)


@pytest.mark.parametrize("baseline", baselines.ALL.values())
@pytest.mark.parametrize(
    ("graph", "privacy"),
    [
        (graphs.line(2, 2), GaussianDP(1)),
        (graphs.line(2, 2), 1.0),
        (graphs.line(2, 2), EdgePrivacy([1.0] * 3)),
        (graphs.line(2, 0), Privacy(1)),
        (DatasetGraph([(1, 2), (2, 3)], {1: "a", 2: "b", 3: "c"}), Privacy(1)),
        (DatasetGraph([(1, 2)], {1: ("a", "b"), 2: ("b", "a")}), Privacy(1)),
    ],
)
def test_baselines_refuse_what_they_are_not_for(baseline, graph, privacy):
    """One Privacy for all edges, two plain colours, a boundary."""
    with pytest.raises(ParameterError):
        baseline(graph, privacy)
