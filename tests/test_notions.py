"""Rényi and concentrated privacy, pairs from functions and points, the least μ, ε as a distance, a chosen ε."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import mpmath
import networkx as nx
import numpy as np
import pytest

from tinct import (
    FileError,
    GaussianDP,
    NotPrivate,
    ParameterError,
    Privacy,
    TradeOff,
    balanced,
    exact,
    graphs,
    rainbow,
    verify,
)
from tinct.privacy import FunctionPair, RenyiDP, TabulatedPair, ZeroConcentratedDP
from tinct.privacy.suitable_pairs import _Check

PLACES = np.array([1e-12, 1e-5, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-6])
DIVERGENCES = [
    RenyiDP(2, 0.5),
    RenyiDP(1.01, 0.1),
    RenyiDP(1000, 2),
    RenyiDP(3, 0),
    ZeroConcentratedDP(0.5),
    ZeroConcentratedDP(0.01),
    ZeroConcentratedDP(0),
]


def divergence(alpha, p, a):
    """D_α of two coins, by its definition, with 40 digits."""
    return mpmath.log(p**alpha * a ** (1 - alpha) + (1 - p) ** alpha * (1 - a) ** (1 - alpha)) / (alpha - 1)


def largest(allowed, a):
    """The largest p ≥ a that is allowed, by bisection."""
    low, high = a, mpmath.mpf(1)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < 1 and allowed(middle) else (low, middle)
    return low


# Rényi and concentrated privacy


@pytest.mark.parametrize("pair", DIVERGENCES, ids=repr)
def test_divergence_pairs_are_suitable_on_a_fine_grid(pair):
    """They are proved, so making one skips the check; here it is made all the same."""
    check = _Check(pair)
    check.function()
    check.methods()


@pytest.mark.parametrize(("alpha", "epsilon"), [(1.5, 1), (2, 0.5), (20, 0.3), (200, 3)])
def test_renyi_bound_equals_the_definition_and_never_exceeds_it(alpha, epsilon):
    """At both ends of [0, 1] and between; rounding only ever lowers U."""
    with mpmath.workdps(40):
        for place in (1e-6, 0.01, 0.2, 0.5, 0.9, 0.999):
            a = mpmath.mpf(place)
            best = largest(lambda p, a=a: max(divergence(alpha, p, a), divergence(alpha, a, p)) <= epsilon, a)
            reached, missed = RenyiDP(alpha, epsilon).walk(1, place, float(1 - a))
            assert float(reached) == pytest.approx(float(best), rel=1e-11)
            assert float(missed) == pytest.approx(float(1 - best), rel=1e-10)
            assert max(divergence(alpha, mpmath.mpf(float(reached)), a), 0) <= epsilon * (1 + mpmath.mpf("1e-12"))


@pytest.mark.parametrize(("rho", "place"), [(0.5, 0.5), (0.1, 0.01), (1, 0.9), (0.02, 0.3), (3, 0.001)])
def test_concentrated_bound_is_kept_at_every_order_and_attained_at_one(rho, place):
    """The worst order is inside, not at an end: 1.47 for ρ = a = 1/2."""
    with mpmath.workdps(40):
        a, p = mpmath.mpf(place), mpmath.mpf(ZeroConcentratedDP(rho).upper(place))
        orders = [1 + mpmath.exp(mpmath.mpf(k) / 100) for k in range(-900, 700)]
        worst = max(max(divergence(x, p, a), divergence(x, a, p)) / x for x in orders)
        assert rho * (1 - 1e-5) < worst < rho


def test_concentrated_bound_is_the_least_of_all_orders():
    """And no single order is as strict."""
    for rho in (0.05, 0.5, 2.0):
        least = np.min([RenyiDP(x, rho * x).upper(PLACES) for x in 1 + np.logspace(-3, 2, 200)], axis=0)
        found = ZeroConcentratedDP(rho).upper(PLACES)
        assert (found <= least + 1e-15).all()
        np.testing.assert_allclose(found, least, rtol=2e-3)


def test_known_relations_between_notions_hold():
    """Pure DP is the limit of large orders; Gaussian and pure DP imply concentrated, which implies each order."""
    np.testing.assert_allclose(RenyiDP(1e6, 1).upper(PLACES), Privacy(1).upper(PLACES), rtol=5e-5)
    for mu in (0.2, 1.0, 3.0):
        concentrated = ZeroConcentratedDP(mu**2 / 2).upper(PLACES)
        assert (GaussianDP(mu).upper(PLACES) <= concentrated * (1 + 1e-9)).all()
        assert (Privacy(mu).upper(PLACES) <= concentrated * (1 + 1e-9)).all()


def test_paths_imply_what_is_known_about_groups():
    """Two steps of order α are within (α/2, 3ε), and d steps of ρ within d²ρ; for two answers they are less."""
    assert (RenyiDP(6, 0.4).reach(2, PLACES) <= RenyiDP(3, 1.2).upper(PLACES)).all()
    for steps in (2, 3):
        path = ZeroConcentratedDP(0.1).reach(steps, PLACES)
        group = np.asarray(ZeroConcentratedDP(0.1 * steps**2).upper(PLACES))
        assert (path <= group * (1 + 1e-8)).all()
        assert (path[2:5] < group[2:5] * (1 - 5e-4)).all()


def test_designs_for_divergences_keep_them_and_more_answers_are_refused():
    """Every edge of the balanced line attains the bound; U would not decide about three answers."""
    line, privacy = graphs.line(3, 3), RenyiDP(2, 0.5)
    table = balanced(line, privacy).table
    assert verify(table, line, privacy).private
    found = [max(divergence(2, *table[[u, v], 0]), divergence(2, *table[[v, u], 0])) for u, v in line.ends]
    assert np.array(found, float) == pytest.approx(0.5, rel=1e-9)
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    pair = RenyiDP(2, np.log(1.6))
    events = [list(s) for k in (1, 2) for s in itertools.combinations(range(3), k)]
    assert all(p[s].sum() <= pair.upper(q[s].sum()) for s in events)
    assert np.log((p**2 / q).sum()) > np.log(1.6)
    three = graphs.DatasetGraph([(0, 1)], {0: "a", 1: "b"}, outputs=("a", "b", "c"))
    with pytest.raises(ParameterError, match="two answers, got 3"):
        verify([p, q], three, pair)
    with pytest.raises(ParameterError, match="two answers, got 3"):
        rainbow.at_distance(pair, p, [1])


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1, "x", None, True, 1e9])
def test_bad_parameters_of_divergences_are_refused_by_name(bad):
    """NaN and truth values among them."""
    for make, name in (
        (lambda: RenyiDP(bad, 1), "alpha"),
        (lambda: RenyiDP(2, bad), "epsilon"),
        (lambda: ZeroConcentratedDP(bad), "rho"),
    ):
        with pytest.raises(ParameterError, match=f"{name} must be"):
            make()
    with pytest.raises(ParameterError, match="alpha"):
        RenyiDP(1, 1)


# pairs from functions and points


def test_a_function_makes_the_same_pair_as_a_class():
    """With its name in refusals."""
    pair = FunctionPair(lambda a: 3 * a / (1 + 2 * a), name="odds by 3")
    assert pair.reach(2, 0.5) == pytest.approx(0.9)
    assert verify(balanced(graphs.line(2, 2), pair)).private
    with pytest.raises(ParameterError, match=r"root is not a suitable pair: .* at a = .* it is"):
        FunctionPair(np.sqrt, name="root")
    with pytest.raises(ParameterError, match="a function"):
        FunctionPair(5)
    with pytest.raises(ParameterError, match="name"):
        FunctionPair(lambda a: a, name="a\nb")


def test_tabulated_pure_privacy_equals_privacy():
    """U of ln 2 has three corners."""
    table, pure = TabulatedPair([(0, 0), ("1/3", "2/3"), (1, 1)]), Privacy("ln 2")
    grid = np.linspace(0, 1, 101)
    np.testing.assert_allclose(table.upper(grid), pure.upper(grid), atol=1e-15)
    np.testing.assert_allclose(table.reach(4, grid), pure.reach(4, grid), atol=1e-14)
    assert table.exact_upper(Fraction(1, 7)) == Fraction(2, 7)


def test_exact_laws_agree_with_the_check_on_a_grid():
    """Random tables, suitable or not: no table passes one and fails the other by more than its tolerance."""
    rng, passed = np.random.default_rng(3), 0
    for _ in range(60):
        x, y = sorted(rng.integers(1, 12, 2).tolist())
        points = [(0, 0), (Fraction(x, 24), Fraction(min(24, x + y), 24)), (1, 1)]
        if rng.random() < 0.6:
            points[1] = (points[1][0], 1 - points[1][0])
        try:
            TabulatedPair(points)
        except ParameterError:
            found = False
        else:
            found = True
        xs, ys = np.array(points, float).T
        try:
            FunctionPair(lambda a, xs=xs, ys=ys: np.interp(a, xs, ys))
        except ParameterError:
            assert not found
        else:
            assert found
        passed += found
    assert 10 < passed < 60


@pytest.mark.parametrize(
    ("points", "law"),
    [
        ([(0, 0), (0.2, 0.7), (1, 1)], r"U\(1 − U\(a\)\).*points\[1\], a = 0.2, it is 0.7"),
        ([(0, 0), (0.5, 0.4), (1, 1)], r"at least a.*points\[1\]"),
        ([(0, 0), (0.1, 0.2), (0.2, 0.8), (1, 1)], r"concave.*points\[1\]"),
        ([(0, 0.9), (0.1, 0.8), (1, 1)], r"not decrease.*points\[1\]"),
        ([(0, 0), (0.5, 1.5), (1, 1)], r"lie in \[0, 1\]"),
        ([(0, 0), (1, 0.5)], "at least a"),
        ([(0.1, 0.2), (1, 1)], "run from a = 0 to a = 1"),
        ([(0, 0), (0.5, 0.5), (0.5, 0.6), (1, 1)], "ordered"),
        ([(0, 0)], "from 2"),
        ([(0, 0), (0.5,), (1, 1)], "pair"),
        ([(0, 0), (float("nan"), 0.5), (1, 1)], "finite"),
        ([(0, 0), (0.5, float("inf")), (1, 1)], "finite"),
        (5, "list of pairs"),
        ([5], "list of pairs"),
    ],
)
def test_tables_that_are_no_suitable_pair_are_refused_with_law_and_place(points, law):
    """In exact arithmetic."""
    with pytest.raises(ParameterError, match=law):
        TabulatedPair(points)


@pytest.mark.parametrize(
    "pair",
    [GaussianDP(1), Privacy(1, 0.01), RenyiDP(2, 0.5), TradeOff(lambda a: 1 - a)],
    ids=lambda pair: type(pair).__name__,
)
def test_below_is_suitable_and_never_above(pair):
    """And near: within 1% of the way from a to U(a) with 200 points."""
    table = TabulatedPair.below(pair, 200)
    grid = np.concatenate([np.linspace(0, 1, 2001), np.logspace(-14, -2, 200)])
    assert (table.upper(grid) <= np.asarray(pair.upper(grid)) + 1e-15).all()
    room = np.asarray(pair.upper(grid)) - grid
    assert (np.asarray(pair.upper(grid)) - table.upper(grid) <= 0.01 * room + 1e-9).all()
    own = TabulatedPair.below(pair, [0.125, 0.25])
    assert own.upper(0.25) == pytest.approx(pair.upper(0.25), rel=1e-11)


def test_tables_survive_a_file(tmp_path):
    """Exactly, to the last digit."""
    path = tmp_path / "pair.json"
    for pair in (TabulatedPair([(0, 0), ("1/3", "2/3"), (1, 1)], name="ln 2"), TabulatedPair.below(GaussianDP(1), 50)):
        pair.to_json(path)
        assert TabulatedPair.from_json(path) == pair
    assert json.loads(path.read_text())["schema"] == "tinct/suitable-pair@1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": "tinct/suitable-pair@2"}, "schema"),
        ({"points": [["0", "0"], ["1", 1]]}, "as text"),
        ({"points": [["0", "0"], ["0.2", "0.7"], ["1", "1"]]}, "both answers"),
        ({"points": [["0", "0"], ["1/0", "1"], ["1", "1"]]}, "points"),
        ({"points": {}}, "list"),
        ({"name": 5}, "name"),
        ({"extra": 1}, "extra"),
    ],
)
def test_files_of_tables_are_read_strictly(change, reason, tmp_path):
    """Whatever is odd is a FileError."""
    path = tmp_path / "pair.json"
    good = {"schema": "tinct/suitable-pair@1", "name": "", "points": [["0", "0"], ["1", "1"]]}
    path.write_text(json.dumps({**good, **change}))
    with pytest.raises(FileError, match=reason):
        TabulatedPair.from_json(path)
    path.write_text(json.dumps(good))
    assert TabulatedPair.from_json(path).upper(0.3) == 0.3


# the least μ


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 4.0])
def test_the_least_mu_of_an_optimal_design_is_its_mu(mu):
    """Two answers; at any distance, where the tails are tiny."""
    line = graphs.line(6, 6)
    assert verify(balanced(line, GaussianDP(mu))).mu == pytest.approx(mu, abs=1e-9)


def test_the_least_mu_equals_enumeration_of_events():
    """Four answers, all events in both directions; and it is the turning point of verify."""
    four = graphs.DatasetGraph([(0, 1)], {0: "a", 1: "b"}, outputs=("a", "b", "c", "d"))
    rng = np.random.default_rng(4)
    events = [list(s) for k in (1, 2, 3) for s in itertools.combinations(range(4), k)]
    for _ in range(100):
        table = rng.dirichlet(np.ones(4), 2)
        normal = [[mpmath.sqrt(2) * mpmath.erfinv(2 * table[u, s].sum() - 1) for s in events] for u in (0, 1)]
        expected = max(abs(float(p - q)) for p, q in zip(*normal, strict=True))
        mu = verify(table, four, Privacy(1)).mu
        assert mu == pytest.approx(expected, rel=1e-9)
        assert verify(table, four, GaussianDP(mu * (1 + 1e-6)), tolerance=0).private
        assert not verify(table, four, GaussianDP(mu * (1 - 1e-6)), tolerance=0).private


def test_what_only_one_neighbour_can_answer_has_no_mu():
    """Infinite, like ε; no edges or equal rows have 0."""
    line = graphs.line(1, 1)
    assert verify([[1, 0], [0.5, 0.5]], line, Privacy(1)).mu == np.inf
    assert verify([[1, 0], [1, 0]], line, Privacy(1)).mu == 0.0
    assert verify([[1.0, 0.0]], graphs.DatasetGraph([], {0: "a"}, outputs=("a", "b")), Privacy(1)).mu == 0.0


# a certificate under a chosen ε


@pytest.mark.parametrize("epsilon", ["0", "1/2", "ln 3", "3"])
@pytest.mark.parametrize("pair", [GaussianDP(1), TradeOff(lambda a: (1 - np.sqrt(a)) ** 2), ZeroConcentratedDP(0.5)])
def test_other_notions_are_certified_at_an_epsilon_with_the_least_delta(pair, epsilon, tool, tmp_path):
    """Both checkers accept it; one unit less of δ than the table has is refused by both."""
    mechanism = balanced(graphs.line(4, 3), pair)
    certified = exact.certify(mechanism, at_epsilon=epsilon)
    profile = verify(mechanism).profile([float(Privacy(epsilon).epsilon)])[0]
    assert float(certified.terms[0].delta) == pytest.approx(profile, abs=1e-11)
    assert float(certified.terms[0].delta) >= profile - 1e-15
    path = tmp_path / "certificate.json"
    certified.to_json(path)
    assert exact.Certified.from_json(path).id == certified.id
    assert tool.check(path).startswith("PRIVATE")
    if profile > 0:
        lower = Privacy(epsilon, certified.terms[0].delta * (1 - Fraction(1, 10**9)))
        with pytest.raises(NotPrivate):
            exact.certify(certified.table(), mechanism.graph, lower, loss=0)


def test_gaussian_delta_is_that_of_its_profile():
    """On the boundary edge δ(ε) = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2) is attained for ε = 0."""
    found = exact.certify(balanced(graphs.line(3, 3), GaussianDP(1)), at_epsilon=0).terms[0].delta
    assert float(found) == pytest.approx(0.3829249225480263, abs=1e-12)


def test_three_answers_and_bare_tables_are_certified_at_an_epsilon():
    """Whatever made the table; and what is not private for the notion that is given is refused first."""
    three = graphs.DatasetGraph([(0, 1)], {0: "a", 1: "b"}, outputs=("a", "b", "c"))
    table = [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]
    found = exact.certify(table, three, at_epsilon="ln 3/2")
    assert (found.terms[0].delta, found.loss) == (Fraction(1, 8), 0.0)
    assert exact.certify(table, three, GaussianDP(2), at_epsilon="ln 2").terms[0].delta == 0
    with pytest.raises(NotPrivate, match="not private"):
        exact.certify(table, three, GaussianDP(0.1), at_epsilon="ln 2")
    with pytest.raises(NotPrivate, match="no δ below 1"):
        exact.certify([[1, 0], [0, 1]], graphs.line(1, 1), at_epsilon=1)
    with pytest.raises(NotPrivate, match="more bits"):
        exact.certify([[0.3, 0.7], [0.7, 0.3]], graphs.line(1, 1), at_epsilon=1, bits=3, loss="1/100")
    with pytest.raises(ParameterError, match="at_epsilon"):
        exact.certify(balanced(graphs.line(2, 2), GaussianDP(1)))


# ε as a distance


def test_metrics_give_the_same_budgets_from_matrix_function_and_networkx():
    """Along the edges, times ε."""
    line = graphs.line(2, 2)
    names = list(line.vertices)
    matrix = [[0.5 * abs(u - v) for v in names] for u in names]
    network = nx.Graph()
    network.add_weighted_edges_from([(u, v, 0.5) for u, v in line.edges], weight="length")
    made = [
        graphs.metric(line, matrix, epsilon=2),
        graphs.metric(line, lambda u, v: 0.5 * abs(u - v), epsilon=2),
        graphs.metric(line, network, epsilon=2, weight="length"),
        graphs.metric(line, nx.DiGraph(network), epsilon=2, weight="length"),
    ]
    for budgets in made:
        assert budgets.epsilon.tolist() == [1.0, 1.0, 1.0]
    assert balanced(line, made[0]).table == pytest.approx(balanced(line, Privacy(1)).table)


def test_d_privacy_holds_between_all_pairs():
    """Three places on a complete graph: every pair within e^(ε·d)."""
    position = {"a": 0.0, "b": 0.4, "c": 1.5}
    triangle = graphs.DatasetGraph(itertools.combinations("abc", 2), {"a": 0, "b": 0, "c": 1})
    table = balanced(triangle, graphs.metric(triangle, lambda u, v: abs(position[u] - position[v]))).table
    for (i, u), (j, v) in itertools.permutations(enumerate(triangle.vertices), 2):
        assert (table[i] <= np.exp(abs(position[u] - position[v])) * table[j] * (1 + 1e-12)).all()


def directed():
    """A NetworkX graph whose weights differ by direction."""
    network = nx.DiGraph()
    network.add_edge(1, 2, weight=1.0)
    network.add_edge(2, 1, weight=2.0)
    return network


PAIR = graphs.line(1, 1)
SAME = graphs.line(2, 1)


@pytest.mark.parametrize(
    ("graph", "distance", "reason"),
    [
        (PAIR, [[0, 1], [2, 0]], r"is 1, but 2 the other way"),
        (PAIR, lambda u, v: u + 2 * v, "the other way"),
        (PAIR, directed(), "the other way"),
        (PAIR, [[0, float("nan")], [float("nan"), 0]], "at least 0, got nan"),
        (PAIR, lambda *_: float("nan"), "finite number of at least 0, got nan"),
        (PAIR, lambda *_: -1, "at least 0, got -1"),
        (PAIR, lambda *_: float("inf"), "got inf"),
        (PAIR, lambda *_: "far", "must be a number"),
        (PAIR, [[0, 0], [0, 0]], "different colours"),
        (PAIR, lambda *_: 0, "different colours"),
        (PAIR, [[1, 1], [1, 0]], "to itself must be 0"),
        (PAIR, [[0, 1, 2]], "2 × 2"),
        (PAIR, "far", "matrix"),
        (PAIR, nx.Graph([(5, 6)]), "has no edge"),
        (PAIR, nx.Graph([tuple(PAIR.vertices)]), "no attribute 'weight'"),
        (SAME, [[0, 1, 1.5], [1, 0, 1], [1.5, 1, 0]], "1.5 apart, but 2 along the edges"),
    ],
)
def test_bad_metrics_are_refused_with_the_place(graph, distance, reason):
    """NaN, asymmetry, zero between colours, and promises that edges do not keep."""
    with pytest.raises(ParameterError, match=reason):
        graphs.metric(graph, distance)


def test_a_distance_of_zero_within_a_colour_is_allowed():
    """Two datasets that count as one; their rows are equal."""
    table = balanced(SAME, graphs.metric(SAME, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])).table
    assert table[0] == pytest.approx(table[1])


@pytest.mark.parametrize("bad", [0, -1, float("nan"), True, "1"])
def test_a_metric_needs_a_positive_epsilon(bad):
    """For a distance of 1."""
    with pytest.raises(ParameterError, match="epsilon must be"):
        graphs.metric(PAIR, lambda *_: 1, epsilon=bad)
