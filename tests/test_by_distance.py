"""balanced, homogeneous and frontier: mechanisms that treat all boundary vertices of a colour alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import strategies
from tinct import (
    EdgePrivacy,
    GaussianDP,
    NotExtendable,
    ParameterError,
    Privacy,
    TradeOff,
    balanced,
    extend,
    frontier,
    graphs,
    homogeneous,
    verify,
)
from tinct.graphs import DatasetGraph, EdgeClasses, boundary_morphism

PAIRS = [Privacy("ln 2"), Privacy(0.3, 0.02), Privacy(0, 0.05), GaussianDP(0.8), TradeOff(strategies.laplace_tradeoff)]


def _truths(pair, share):
    """A pair of boundary truths inside what the pair allows: between the balance and 1/2."""
    return 0.5 + share * (pair.balance[0] - 0.5), pair.balance[0]


def _fixed(graph, first, second):
    """The boundary vertices with Pr[first colour] from the truths of the two colours."""
    colors = graph.colors
    return {v: first if colors[v] == graph.outputs[0] else 1 - second for v in graph.boundary().vertices}


# designs by distance


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
@pytest.mark.parametrize("seed", range(8))
def test_designs_by_distance_equal_the_extension_and_the_pullback(pair, seed):
    """Closed form by distance = extension of the whole boundary = pullback from the boundary line, to 1e-12."""
    rng = np.random.default_rng([1, seed])
    graph = strategies.random_case(rng, n=int(rng.integers(4, 16))).graph
    morphism = boundary_morphism(graph)
    first, second = _truths(pair, rng.random())
    alpha = pair.balance[0]
    for mechanism, truths, on_line in (
        (balanced(graph, pair), (alpha, alpha), balanced(morphism.target, pair)),
        (homogeneous(graph, pair, first, second), (first, second), homogeneous(morphism.target, pair, first, second)),
    ):
        extended = extend(graph, pair, _fixed(graph, *truths))
        np.testing.assert_allclose(mechanism.table, extended.table, atol=1e-12, rtol=0)
        np.testing.assert_allclose(mechanism.table, on_line.pullback(morphism, graph).table, atol=1e-15, rtol=0)
        assert verify(mechanism, graph, pair).private


@pytest.mark.parametrize("seed", range(15))
def test_per_edge_designs_are_the_fair_optimum(seed):
    """With a budget for each edge there is no distance any more, and truths are those of the definition."""
    rng = np.random.default_rng([2, seed])
    case = strategies.random_case(rng)
    graph = case.graph
    mechanism = balanced(graph, case.privacy)
    expected = naive.fair(*case.walked, case.codes, [budget.balance[0] for budget in case.mapping.values()])
    np.testing.assert_allclose(mechanism.table[:, 0], expected, atol=1e-12, rtol=0)
    assert verify(mechanism, graph, case.privacy).private


@given(
    st.one_of(st.sampled_from(["ln 2", 0]), st.floats(1e-3, 6)),
    st.one_of(st.just(0), st.floats(0, 0.5)),
    st.integers(1, 30),
)
def test_balanced_error_by_distance(epsilon, delta, size):
    """The error at distance d, by the closed formula in exact fractions of the floats E and δ, to 1e-12."""
    from fractions import Fraction

    privacy = Privacy(epsilon, delta)
    mechanism = balanced(graphs.line(size, size), privacy)
    growth, shift = Fraction(privacy.growth), Fraction(privacy.delta)
    for d in range(size):
        if growth == 1:
            error = (1 - shift) / 2 - d * shift
        else:
            top = growth - 1 - shift * (growth ** (d + 1) + growth**d - 2)
            error = top / (growth**d * (growth + 1) * (growth - 1))
        for vertex, output in ((size - d, "red"), (size + 1 + d, "blue")):
            assert mechanism.probability(vertex, output) == pytest.approx(float(max(0, error)), abs=1e-12)


@pytest.mark.parametrize(
    "privacy", [Privacy(1), Privacy(0.01), Privacy(30), GaussianDP(0.02), EdgePrivacy(np.linspace(0.5, 1.5, 3999))]
)
def test_long_lines_stay_private(privacy):
    """2,000 vertices a side: no error underflows to 0, which without δ would be an infinite ε."""
    graph = graphs.line(2000, 2000)
    mechanism = balanced(graph, privacy)
    verdict = verify(mechanism, graph, privacy)
    assert verdict.private
    if not isinstance(privacy, GaussianDP):
        assert mechanism.table.min() > 0
        assert verdict.epsilon <= np.max(privacy.epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("n", [101, 10**6 + 1])
def test_majority_of_many_people(n):
    """A million voters are a line; with an odd number of them both winners have the same truth at the same margin."""
    mechanism = balanced(graphs.majority(n), Privacy("ln 3", 1e-9))
    truth = mechanism.truth()
    np.testing.assert_allclose(truth, truth[::-1], atol=1e-15)
    assert truth.min() == pytest.approx(0.75, abs=1e-8)
    assert truth[0] == 1


@pytest.mark.parametrize("epsilon", [1, 15, 20, 30, 40, 100, 600])
def test_the_least_truthful_pair_of_a_boundary_is_achievable(epsilon):
    """Both truths 1/(E + 1), the balanced mechanism with the answers exchanged, is private for every ε."""
    privacy, graph = Privacy(epsilon), graphs.line(2, 2)
    low = privacy.balance[1]
    mechanism = homogeneous(graph, privacy, low, low)
    assert verify(mechanism, graph, privacy).private


@pytest.mark.parametrize(
    "truths",
    [(1.0, 1e-13), (1e-13, 1.0), (1.0, 1e-300), (1 - 1e-13, 1e-12), (1.0, 0.0), (0.0, 0.0), (1 - 2**-53, 2**-53)],
)
@pytest.mark.parametrize("privacy", [Privacy(1), Privacy(1, 1e-6), Privacy(20), GaussianDP(1)])
def test_what_homogeneous_returns_is_private(truths, privacy):
    """Truths next to certainty are refused or answered privately; a tolerance must not turn into an infinite ε."""
    graph = graphs.line(2, 2)
    try:
        mechanism = homogeneous(graph, privacy, *truths)
    except NotExtendable:
        return
    assert verify(mechanism, graph, privacy).private


@given(strategies.pairs, st.floats(0, 1), st.floats(0, 1))
def test_homogeneous_accepts_exactly_the_achievable_pairs(pair, first, second):
    """Valid if and only if α_B ≤ U(1 − α_R) and 1 − α_R ≤ U(α_B), except within 1e-9 of equality."""
    graph = graphs.line(2, 2)
    slack = min(pair.upper(1 - second) - first, pair.upper(first) - (1 - second))
    if slack > 1e-9:
        assert homogeneous(graph, pair, first, second).truth()[1:3].tolist() == pytest.approx(
            [first, second], rel=1e-12
        )
    elif slack < -1e-9:
        with pytest.raises(NotExtendable, match="no private mechanism"):
            homogeneous(graph, pair, first, second)


def test_tiny_truths_are_kept_as_they_are():
    """A truth of 2.7e-14 that is allowed is not taken for the bound 2e-13: rounding is relative."""
    graph, privacy = graphs.line(1, 1), Privacy(3)
    mechanism = homogeneous(graph, privacy, 1 - 1e-14, 2.7e-14)
    assert mechanism.probability(2, "red") == 2.7e-14
    both = EdgeClasses([Privacy(1), Privacy(3)], [0, 1])
    triangle = DatasetGraph([(1, 2), (1, 3)], {1: "blue", 2: "red", 3: "red"})
    assert homogeneous(triangle, both, 1 - 2**-46, 2**-45).truth().tolist() == [1 - 2**-46, 2**-45, 2**-45]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1, None, "x"])
def test_bad_truths_are_refused(bad):
    """Truths are numbers in [0, 1]."""
    for truths in ((bad, 0.5), (0.5, bad)):
        with pytest.raises(ParameterError, match="must be a number in"):
            homogeneous(graphs.line(2, 2), Privacy(1), *truths)


# the frontier


def _frontier_cases():
    line = graphs.line(3, 4)
    cube = graphs.hypercube(4, lambda bits: sum(b * w for b, w in zip(bits, (2, 1, 1, 1), strict=True)) > 2)
    rng = np.random.default_rng(5)
    return {
        "uniform": (line, Privacy("ln 2")),
        "uniform with delta": (cube, Privacy(0.5, 0.03)),
        "no epsilon": (line, Privacy(0, 0.1)),
        "large epsilon": (line, Privacy(8)),
        "per edge": (cube, EdgePrivacy(0.2 + rng.random(32), 0.02 * rng.random(32))),
        "classes": (cube, EdgeClasses([Privacy(1), Privacy(0.3, 0.05)], rng.integers(2, size=32))),
        "gaussian": (cube, GaussianDP(0.7)),
        "trade-off": (line, TradeOff(strategies.laplace_tradeoff)),
        "two gaussians": (line, EdgeClasses([GaussianDP(0.4), GaussianDP(2)], [0, 1, 0, 1, 0, 1])),
    }


@pytest.mark.parametrize("name", _frontier_cases())
def test_frontier_points_are_achievable_and_tight(name):
    """Every point on the frontier has a private mechanism, and a little beyond it there is none."""
    graph, privacy = _frontier_cases()[name]
    points = frontier(graph, privacy).points(21)
    assert points[-1, 0] == 1
    assert points[0, 1] == pytest.approx(1, abs=1e-12)
    assert (np.diff(points[:, 0]) > 0).all()
    assert (np.diff(points[:, 1]) <= 1e-15).all()
    for first, second in points:
        assert verify(homogeneous(graph, privacy, first, second), graph, privacy).private
        for beyond in ((first, second + 1e-6), (first + 1e-6, second)):
            # past an end of the frontier the other truth is already 1 and cannot pay for more
            if max(beyond) <= 1 and second > 0:
                with pytest.raises(NotExtendable):
                    homogeneous(graph, privacy, *beyond)


@pytest.mark.parametrize("name", _frontier_cases())
@pytest.mark.parametrize("seed", range(4))
def test_best_point_beats_a_grid_search(name, seed):
    """For random weights no point of a fine grid along the frontier has a larger weighted truth (1e-9 of the total)."""
    graph, privacy = _frontier_cases()[name]
    rng = np.random.default_rng([3, seed])
    weights = rng.random(len(graph)) ** 4
    if seed == 3:  # one colour counts for nothing
        weights *= graph.coloring.codes
    curve = frontier(graph, privacy)
    best = curve.best(weights)

    def value(pair):
        return float(weights @ homogeneous(graph, privacy, *pair).truth())

    assert best[1] == pytest.approx(float(curve.second(best[0])), abs=1e-15)
    uniform = not isinstance(privacy, EdgePrivacy | EdgeClasses)
    rivals = [curve.balanced, *curve.points(801 if uniform else 101)]
    assert value(best) >= max(map(value, rivals)) - 1e-9 * weights.sum()


def test_weights_by_vertex_equal_weights_along_the_vertices():
    """A mapping of weights, zeros left out, means the same as the array; equal weights are the default."""
    line = graphs.line(2, 3)
    curve = frontier(line, Privacy("ln 2", 0.01))
    assert curve.best({1: 5.0, 4: 1.0}) == curve.best([5.0, 0, 0, 1.0, 0])
    assert curve.best() == curve.best(np.ones(5))
    assert curve.balanced == (Privacy("ln 2", 0.01).balance[0],) * 2


@pytest.mark.parametrize(
    "weights",
    [[1, 2], [1, -1, 1, 1], [math.nan] * 4, [math.inf] * 4, {9: 1.0}, {1: -1.0}, {1: "x"}, {1: [1, 2]}, "x", [[1] * 4]],
)
def test_bad_weights_are_refused(weights):
    """Weights are finite, at least 0, and belong to vertices."""
    with pytest.raises(ParameterError):
        frontier(graphs.line(2, 2), Privacy(1)).best(weights)


def test_a_frontier_shows_its_balanced_point():
    """And the privacy that it is for."""
    shown = repr(frontier(graphs.line(3, 3), Privacy("ln 2")))
    assert shown == "<Frontier: 6 vertices, balanced at (0.6667, 0.6667), for Privacy('ln 2')>"


def test_a_graph_without_boundary_has_no_frontier():
    """There is nothing to trade where every vertex can be certain."""
    pieces = DatasetGraph([(1, 2), (3, 4)], dict(zip(range(1, 5), "aabb", strict=True)), disconnected=True)
    for graph in (graphs.line(3, 0), DatasetGraph([(1, 2)], dict.fromkeys((1, 2), "a")), pieces):
        for privacy in (Privacy(1), EdgeClasses([Privacy(1), Privacy(2)], np.arange(len(graph.ends)) % 2)):
            with pytest.raises(ParameterError, match="no boundary"):
                frontier(graph, privacy)
            # any pair of boundary truths is possible where there is no boundary
            assert homogeneous(graph, privacy, 1, 1).truth().tolist() == [1] * len(graph)


def test_a_boundary_is_found_wherever_it_is():
    """The vertex of the second colour that comes first need not lie on the boundary."""
    graph = DatasetGraph([(1, 2), (2, 3), (3, 4)], {4: "b", 3: "b", 2: "a", 1: "a"})
    shuffled = DatasetGraph(graph.edges, {1: "a", 4: "b", 3: "b", 2: "a"})
    for one in (graph, shuffled):
        with pytest.raises(NotExtendable):
            homogeneous(one, Privacy(1), 1, 1)


@pytest.mark.parametrize("count", [-1, 0, 1, 2.0, True, "x", None])
def test_bad_counts_of_points_are_refused(count):
    """A curve has at least its two ends."""
    with pytest.raises(ParameterError, match="count must be a whole number of at least 2"):
        frontier(graphs.line(2, 2), Privacy(1)).points(count)
