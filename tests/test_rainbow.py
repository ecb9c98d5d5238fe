"""Rainbow: optimal exactly when linear programs say so, private always, and honest when there is no optimum."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations, product
from pathlib import Path

import mpmath
import numpy as np
import pytest

import naive
import oracles
import strategies
from tinct import (
    DatasetGraph,
    EdgePrivacy,
    GaussianDP,
    Mechanism,
    Morphism,
    NoOptimum,
    NotExtendable,
    NotPrivate,
    ParameterError,
    Privacy,
    extend,
    graphs,
    homogeneous,
    rainbow,
    verify,
)
from tinct._kernels import propagation
from tinct.errors import CostlyRows
from tinct.graphs import Budget, EdgeClasses
from tinct.mechanism import claims
from tinct.rainbow import _optimum_exists, row_by_region
from tinct.rainbow import envelope as below
from tinct.rainbow.envelope import envelope

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
PAPERS = {case["id"]: case for case in GOLDEN["papers"]}
ABC, ACB, BAC, BCA, CAB, CBA = permutations("abc")
SOLVER = 1e-6  # HiGHS keeps a constraint to 1e-7; a few of them add up


@dataclass
class Problem:
    """A graph on 0..n−1 with orders over 0..q−1 and a budget for each edge."""

    q: int
    edges: list[tuple[int, int]]
    orders: list[tuple[int, ...]]
    epsilons: list[float]
    deltas: list[float]

    @property
    def n(self):
        """How many vertices there are."""
        return len(self.orders)

    @property
    def graph(self):
        """A new graph of the problem."""
        return DatasetGraph(self.edges, dict(enumerate(self.orders)), outputs=range(self.q))

    @property
    def privacy(self):
        """One Privacy if all edges agree, else arrays."""
        if len({*zip(self.epsilons, self.deltas, strict=True)}) == 1:
            return Privacy(self.epsilons[0], self.deltas[0])
        return EdgePrivacy(self.epsilons, self.deltas)

    @property
    def steps(self):
        """U of every edge, by definition."""
        return [
            partial(naive.upper, growth=math.exp(epsilon), delta=delta)
            for epsilon, delta in zip(self.epsilons, self.deltas, strict=True)
        ]

    def event(self, v, size):
        """The weights of the ``size`` best answers of a vertex."""
        weights = np.zeros((self.n, self.q))
        weights[v, list(self.orders[v][:size])] = 1.0
        return weights

    def best(self, objective, fixed=None):
        """The private table that maximises an objective, by a program of the test's own."""
        return oracles.best_table(self.n, self.q, self.edges, self.epsilons, self.deltas, objective, fixed)

    def prefixes(self, table):
        """Sums of the k best answers, k = 1..q−1, written out."""
        return np.array([[sum(row[y] for y in order[: k + 1]) for k in range(self.q - 1)]
                         for row, order in zip(table, self.orders, strict=True)])  # fmt: skip

    def everything(self):
        """The weights of all prefix sums together."""
        return sum(self.event(v, size) for v in range(self.n) for size in range(1, self.q))

    def excess(self, table):
        """How far the worst edge and event are beyond e^ε and δ, by trying all events."""
        return max(
            (naive.hockey_stick(table[a], table[b], math.exp(epsilon)) - delta
             for (u, v), epsilon, delta in zip(self.edges, self.epsilons, self.deltas, strict=True)
             for a, b in ((u, v), (v, u))),
            default=0.0,
        )  # fmt: skip

    def random_private(self, rng, slack=1e-4):
        """A random corner of all private tables, moved a little towards the uniform one."""
        return (1 - slack) * self.best(rng.normal(size=(self.n, self.q))) + slack / self.q


def _patches(rng, n, edges, palette):
    """Every vertex takes the order of the nearest of a few seeds, so that regions have depth."""
    seeds = rng.choice(n, size=min(n, len(palette)), replace=False).tolist()
    far = naive.all_distances(n, edges)
    return [palette[int(np.argmin([far[v][seed] for seed in seeds]))] for v in range(n)]


def _palette(rng, q, count):
    orders = list(permutations(range(q)))
    return [orders[at] for at in rng.choice(len(orders), size=min(count, len(orders)), replace=False)]


def _close_rows(rng, q, count, epsilon, delta):
    """Rows of which each two are close: a random private mechanism on the complete graph."""
    edges = [(u, v) for v in range(count) for u in range(v)]
    complete = Problem(q, edges, [tuple(range(q))] * count, [epsilon] * len(edges), [delta] * len(edges))
    return complete.random_private(rng, slack=1e-3)


# the paper's five-cycle and the star


def _five_cycle():
    colors = {**dict.fromkeys((1, 2, 3, 4), (1, 2, 3)), 5: (1, 3, 2)}
    cycle = DatasetGraph([(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)], colors, outputs=(1, 2, 3))
    return cycle, Privacy("ln 2"), {1: [0.2, 0.1, 0.7], 4: [0.4, 0.1, 0.5]}


def test_five_cycle_has_no_optimum_and_the_witness_is_the_edge_2_3():
    """Example 1 of the paper: the envelope breaks on the edge 2–3 for a named event, and both of its rows are shown."""
    cycle, privacy, fixed = _five_cycle()
    with pytest.raises(
        NoOptimum, match=r"none that dominates all others: \{1\} at 3 can have probability 0.7"
    ) as caught:
        rainbow.extend(cycle, privacy, fixed)
    witness, first, second = caught.value.witness
    assert {*witness.edge} == {2, 3}
    rows = dict(zip(witness.edge, (first, second), strict=True))
    # by hand: at 2 min(2·0.2, U²(0.4)) = 0.4 and min(2·0.3, U²(0.5)) = 0.6; at 3 U(0.4) = 0.7 and U(0.5) = 0.75
    np.testing.assert_allclose(rows[2], [0.4, 0.2, 0.4], atol=1e-12)
    np.testing.assert_allclose(rows[3], [0.7, 0.05, 0.25], atol=1e-12)
    chosen = [answer - 1 for answer in witness.event]
    assert rows[witness.edge[0]][chosen].sum() == pytest.approx(witness.probability, abs=1e-12)
    assert witness.probability > witness.bound + 0.01
    existence = rainbow.optimum_exists(cycle, privacy, fixed)
    assert existence.case is rainbow.Case.NONE
    assert existence.mechanism is None
    assert not existence


def test_both_mechanisms_of_the_paper_are_private_and_incomparable():
    """The two private extensions of Example 1: neither dominates, and the places where each is better are named."""
    cycle, privacy, fixed = _five_cycle()
    example = PAPERS["rainbow/example-1"]
    pair = []
    for name in ("m1", "m2"):
        rows = fixed | {int(v): row for v, row in example[name].items()}
        # vertex 5 prefers (1, 3, 2); any row close to those of 1 and 4 completes the mechanisms
        rows[5] = [0.4, 0.05, 0.55]
        mechanism = Mechanism(cycle, [rows[v] for v in cycle.vertices], privacy)
        assert verify(mechanism, cycle, privacy).private, name
        pair.append(mechanism)
    verdict = rainbow.compare(*pair)
    assert (verdict.dominance, verdict.second_better.vertex) == ("incomparable", 3)
    assert (verdict.first_better.vertex, verdict.first_better.answers) == (2, (1, 2))
    assert verdict.first_better.first == pytest.approx(0.6, abs=1e-12)
    assert verdict.first_better.second == pytest.approx(0.5, abs=1e-12)
    assert not pair[0].dominates(pair[1])
    assert not pair[1].dominates(pair[0])


def test_the_star_satisfies_every_event_bound_and_still_nothing_extends_it():
    """E = 1.5, leaves the permutations of (9, 4, 4)/17: the centre would need mass 18/17, so no mechanism exists."""
    star, fixed = _star(np.array([9, 4, 4]) / 17)
    privacy = Privacy("ln 1.5")
    with pytest.raises(NotExtendable, match="no private mechanism"):
        rainbow.extend(star, privacy, fixed)
    assert rainbow.optimum_exists(star, privacy, fixed).case is rainbow.Case.INFEASIBLE
    with pytest.raises(NotExtendable):
        rainbow.best(star, privacy, fixed=fixed)
    bounds = naive.prefix_bounds(4, star.edges, [partial(naive.upper, growth=1.5, delta=0)] * 3, [(0, 1, 2)] * 4,
                                 fixed)  # fmt: skip
    assert bounds[0][0] >= max(row[0] for row in fixed.values()) / 1.5 - 1e-15  # each event for itself could be had


def _star(row, orders=None):
    """A centre and three leaves with the permutations of a row; nothing is fixed at the centre."""
    leaves = sorted(set(permutations(row)))
    star = DatasetGraph([(0, leaf) for leaf in (1, 2, 3)], orders or dict.fromkeys(range(4), ABC), outputs="abc")
    return star, {leaf + 1: [float(part) for part in row] for leaf, row in enumerate(leaves)}


def test_the_optimum_of_a_star_lies_below_the_envelope():
    """E = 3/2, leaves the permutations of (7, 4, 4)/15: in exact fractions the optimum is (17, 14, 14)/45.

    Each answer needs at least 14/45 at the centre, so that the best one can have no more than 17/45; the envelope has
    18/45 there, and 13/45 for the second. Every row of 45ths that is private is dominated.
    """
    growth, row = Fraction(3, 2), [Fraction(part, 15) for part in (7, 4, 4)]
    optimum, envelope_row = ([Fraction(part, 45) for part in parts] for parts in ((17, 14, 14), (18, 13, 14)))

    def private(centre):
        leaves = sorted(set(permutations(row)))
        return (
            max(naive.hockey_stick(*pair, growth) for leaf in leaves for pair in ((leaf, centre), (centre, leaf))) <= 0
        )

    assert private(optimum)
    assert not private(envelope_row)
    for a, b in product(range(46), repeat=2):
        other = [Fraction(part, 45) for part in (a, b, 45 - a - b)]
        if min(other) >= 0 and private(other):
            assert other[0] <= optimum[0]
            assert other[0] + other[1] <= optimum[0] + optimum[1]
    star, fixed = _star(row)
    privacy = Privacy("ln 3/2")
    leaves = {v: [Fraction(p).limit_denominator(15) for p in given] for v, given in fixed.items()}
    steps = [partial(naive.upper, growth=growth, delta=0)] * 3
    bounds = naive.prefix_bounds(4, star.edges, steps, [(0, 1, 2)] * 4, leaves)
    assert bounds[0] == [envelope_row[0], envelope_row[0] + envelope_row[1]]
    mechanism = rainbow.extend(star, privacy, fixed)
    np.testing.assert_allclose(mechanism.row(0), [float(p) for p in optimum], atol=1e-9, rtol=0)
    assert isinstance(mechanism, rainbow.ProgramOptimum)
    assert 0 <= mechanism.gap <= 1e-8
    assert mechanism.claim == claims.rows_within(mechanism.gap)
    assert verify(mechanism, star, privacy).private
    assert rainbow.optimum_exists(star, privacy, fixed).case is rainbow.Case.LOWER


# homogeneous boundaries


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05])
@pytest.mark.parametrize("q", range(2, 7))
def test_homogeneous_prefix_sums_are_their_own_maxima(q, delta):
    """Random graphs: each prefix sum is the largest any private mechanism has (a program of its own), to 1e-9.

    The programs' constraints hold to 1e-10, and a few steps of slope at most e add up to less than 1e-9.
    """
    rng = np.random.default_rng(100 * q + round(delta * 100))
    depth = 0
    for _ in range(2 if q > 4 else 3):
        n = 7 if q > 4 else 9
        edges = strategies.random_edges(rng, n, 0.08)
        palette = _palette(rng, q, 2 + (q > 2))
        epsilon = float(rng.choice([0.2, 0.7, 1.0]))
        orders = _patches(rng, n, edges, palette)
        problem = Problem(q, edges, orders, [epsilon] * len(edges), [delta] * len(edges))
        rows = dict(zip(palette, _close_rows(rng, q, len(palette), epsilon, delta), strict=True))
        mechanism = rainbow.extend(problem.graph, problem.privacy, rows)
        assert verify(mechanism, problem.graph, problem.privacy).private
        assert problem.excess(mechanism.table) <= 1e-12
        distance = naive.boundary_distance(n, edges, orders)
        fixed = {v: rows[orders[v]].tolist() for v in range(n) if distance[v] == 0}
        found = mechanism.prefixes()
        for v in range(n):
            if v in fixed:
                np.testing.assert_allclose(mechanism.table[v], fixed[v], rtol=1e-12)
                continue
            depth = max(depth, distance[v])
            for size in range(1, q):
                weights = problem.event(v, size)
                highest = float((weights * problem.best(weights, fixed)).sum())
                assert found[v, size - 1] == pytest.approx(highest, abs=1e-9), (v, size)
    assert depth >= 1


def _printed(prefix, growth, delta):
    """The operator printed in the paper, which is not private for δ > 0."""
    return np.minimum(1.0, np.minimum(growth * prefix, 1 - (1 - prefix) / growth) + delta)


def _close(p, other, growth, delta):
    return max(naive.hockey_stick(p, other, growth), naive.hockey_stick(other, p, growth)) <= delta + 1e-12


def test_the_printed_operator_is_not_private_and_ours_is():
    """(0.5, 0.5) → (0.85, 0.15) with E = 2, δ = 0.1 breaks 0.5 ≤ 2·0.15 + 0.1; so do 1545 of 2000 random rows.

    Ours maps every one of them to a close row, up to rounding (1e-12).
    """
    assert _printed(np.array([0.5]), 2.0, 0.1) == pytest.approx(0.85)
    assert not _close([0.5, 0.5], [0.85, 0.15], 2.0, 0.1)
    np.testing.assert_allclose(rainbow.at_distance(Privacy("ln 2", "0.1"), [0.5, 0.5], 1), [[0.8, 0.2]], atol=1e-15)
    rng = np.random.default_rng(4)
    broken = 0
    for _ in range(2000):
        q = int(rng.integers(2, 6))
        epsilon, delta = float(rng.uniform(0.05, 2)), float(rng.uniform(0.001, 0.3))
        row = rng.dirichlet(np.full(q, rng.choice([0.3, 1.0, 3.0])))
        prefix = np.minimum(np.cumsum(row)[:-1], 1.0)
        printed = np.diff([0.0, *_printed(prefix, math.exp(epsilon), delta), 1.0])
        broken += not _close(row, printed, math.exp(epsilon), delta)
        ours = rainbow.at_distance(Privacy(epsilon, delta), row, 1)[0]
        assert ours.sum() == pytest.approx(1, abs=1e-14)
        assert _close(row, ours, math.exp(epsilon), delta)
    assert broken == 1545


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05])
def test_two_orders_are_the_binary_designer(delta):
    """Two answers with orders, by order and by vertex, equals ``homogeneous`` and ``extend`` to 1e-15.

    Not bit for bit: a row that is a little off 1 is divided by its sum.
    """
    for seed in range(25):
        rng = np.random.default_rng(seed)
        case = strategies.random_case(rng, n=10)
        one = Privacy(float(rng.uniform(0.05, 1.5)), delta)
        plain = case.graph
        orders = {v: (("blue", "red"), ("red", "blue"))[code] for v, code in enumerate(case.codes)}
        ordered = DatasetGraph(case.edges, orders, outputs=("blue", "red"))
        truth = one.balance[0] * float(rng.uniform(0.8, 1))
        second = one.upper(1 - truth)
        expected = homogeneous(plain, one, truth, second)
        found = rainbow.extend(
            ordered, one, {("blue", "red"): [truth, 1 - truth], ("red", "blue"): [1 - second, second]}
        )
        np.testing.assert_allclose(found.table, expected.table, atol=1e-15, rtol=0)
        fixed = {v: p for v, p in strategies.random_fixed(rng, case).items() if 1e-6 < p < 1 - 1e-6}
        try:
            expected = extend(plain, case.privacy, fixed)
        except (NotExtendable, ParameterError):
            with pytest.raises((NotExtendable, ParameterError)):
                rainbow.extend(ordered, case.privacy, {v: [p, 1 - p] for v, p in fixed.items()})
            continue
        found = rainbow.extend(ordered, case.privacy, {v: [p, 1 - p] for v, p in fixed.items()})
        np.testing.assert_allclose(found.table, expected.table, atol=1e-15, rtol=0)


@pytest.mark.parametrize("delta", ["0", "0.001", "0.1"])
def test_golden_curves(delta):
    """Figure 3 of the paper, q = 5 and ε = ln 1.2: the curves to 1e-12."""
    first = np.array([0.001, 0.015, 0.25, 0.5]) * 1.2 / 2.2
    table = np.array(GOLDEN["rainbow_curves"][delta])
    found = rainbow.at_distance(Privacy("ln 1.2", delta), [*first, 1 - first.sum()], table[:, 0].astype(int))
    np.testing.assert_allclose(found, table[:, 1:], atol=1e-12, rtol=0)


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0])
def test_gaussian_rows_are_private_and_follow_the_normal_law(mu):
    """μ-Gaussian DP: prefix sums are Φ(Φ⁻¹(s) + dμ), and ``verify`` finds every edge private."""
    q = 4
    palette = [(0, 1, 2, 3), (3, 0, 2, 1)]
    n = 9
    path = DatasetGraph([(v, v + 1) for v in range(n - 1)], {v: palette[v > 4] for v in range(n)}, outputs=range(q))
    row = np.array([0.1, 0.2, 0.3, 0.4])
    moved = rainbow.at_distance(GaussianDP(mu), row[[3, 0, 2, 1]], 1)[0]
    other = np.empty(q)
    other[list(palette[1])] = moved
    mechanism = rainbow.extend(path, GaussianDP(mu), {palette[0]: row, palette[1]: other})
    assert verify(mechanism, path, GaussianDP(mu)).private
    for v in range(5):
        expected = [naive.gaussian_upper(s, (4 - v) * mu) for s in np.cumsum(row)[:-1]]
        np.testing.assert_allclose(mechanism.prefixes()[v], expected, atol=1e-12)
    again = rainbow.extend(path, GaussianDP(mu), {4: row, 5: other})
    np.testing.assert_allclose(again.table, mechanism.table, atol=1e-12)


def _mp_upper(privacy, distance, a):
    """U^d(a) by the closed form, with enough digits for 10^18 steps."""
    growth, delta = mpmath.exp(mpmath.mpf(privacy.epsilon)), mpmath.mpf(privacy.delta)
    rho = delta / (growth - 1)
    if a == 0 and delta == 0:
        return mpmath.mpf(0)
    ratio = (growth - 1 + 2 * delta) / ((growth + 1) * (a * (growth - 1) + delta))
    rising = min(max(0, int(mpmath.ceil(mpmath.log(ratio) / mpmath.log(growth)))), distance)
    risen = min(mpmath.mpf(1), growth**rising * (a + rho) - rho)
    return 1 - max(mpmath.mpf(0), growth ** (rising - distance) * (1 - risen + rho) - rho)


@pytest.mark.parametrize("distance", [10**9, 10**18])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_rows_at_enormous_distances(distance, delta):
    """At 10^9 and 10^18 steps rows are finite distributions with the closed form's prefix sums, to 1e-12.

    ε and δ shrink with the distance, so that nothing has settled yet; and with ordinary ε everything has.
    """
    row = [0.01, 0.0, 0.19, 0.3, 0.5]
    for scale in (0.3, 2.0, 6.0):
        privacy = Privacy(scale / distance, delta / distance)
        found = rainbow.at_distance(privacy, row, distance)[0]
        assert np.isfinite(found).all()
        assert (found >= 0).all()
        assert found.sum() == pytest.approx(1, abs=1e-14)
        with mpmath.workdps(80):
            prefix = [mpmath.fsum(row[: k + 1]) for k in range(4)]
            expected = [float(_mp_upper(privacy, distance, s)) for s in prefix]
        np.testing.assert_allclose(np.cumsum(found)[:-1], expected, atol=1e-12, rtol=0)
    np.testing.assert_array_equal(rainbow.at_distance(Privacy(1, delta), row, distance).round(300), [[1, 0, 0, 0, 0]])
    assert np.isfinite(rainbow.at_distance(GaussianDP(1), row, distance)).all()


def test_deep_regions_stay_private():
    """A region of depth 1000 at ε = 1, δ = 0: an answer that could be given never becomes impossible (infinite ε)."""
    n = 1001
    path = DatasetGraph([(v, v + 1) for v in range(n)], {v: ABC if v < n else BAC for v in range(n + 1)}, outputs="abc")
    mechanism = rainbow.extend(path, Privacy(1), {ABC: [0.5, 0.3, 0.2], BAC: [0.3, 0.5, 0.2]})
    verdict = verify(mechanism, path, Privacy(1))
    assert (mechanism.table > 0).all()
    assert verdict.private, verdict.witness


@pytest.mark.parametrize("tiny", [1e-9, 1e-12, 1e-17, 1e-100])
def test_tiny_probabilities_keep_their_digits(tiny):
    """An answer of probability 1e-9 to 1e-100 between two likely ones: the boundary rows are kept and all is private.

    With δ = 0 a neighbour's probability must match to a factor of e^ε, so sums that swallow the answer break privacy.
    """
    path = DatasetGraph([(v, v + 1) for v in range(5)], {v: ABC if v < 3 else BCA for v in range(6)}, outputs="abc")
    rows = {ABC: [0.5, tiny, 0.5 - tiny], BCA: [0.4, tiny, 0.6 - tiny]}
    privacy = Privacy(1)
    mechanism = rainbow.extend(path, privacy, rows)
    np.testing.assert_allclose(mechanism.table[2:4], [*rows.values()], rtol=1e-12)
    assert verify(mechanism, path, privacy).private
    # 0.5 and 0.5 + tiny are both beyond the bend, where U has slope 1/e
    np.testing.assert_allclose(mechanism.row(1)[1], tiny / math.e, rtol=1e-9)
    # By vertex only sums are known, whose differences lose such an answer. A linear program may find it again; what it
    # cannot resolve is refused, never returned unprivate.
    fixed = {2: rows[ABC], 3: rows[BCA]}
    if tiny >= 1e-9:
        np.testing.assert_allclose(rainbow.extend(path, privacy, fixed).table, mechanism.table, rtol=1e-12)
    else:
        with pytest.raises(NoOptimum, match="solver's table"):
            rainbow.extend(path, privacy, fixed)


def test_rows_by_order_equal_the_same_rows_by_vertex():
    """The closed form and the envelope of the same boundary rows agree to 1e-12; so do budgets given edge by edge."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        q = int(rng.integers(2, 6))
        n = 10
        edges = strategies.random_edges(rng, n, 0.08)
        palette = _palette(rng, q, 2)
        orders = _patches(rng, n, edges, palette)
        epsilon, delta = float(rng.uniform(0.1, 1)), float(rng.choice([0, 0.02]))
        problem = Problem(q, edges, orders, [epsilon] * len(edges), [delta] * len(edges))
        rows = dict(zip(palette, _close_rows(rng, q, 2, epsilon, delta), strict=True))
        graph = problem.graph
        closed = rainbow.extend(graph, problem.privacy, rows)
        boundary = {v: rows[orders[v]] for v in graph.boundary().vertices}
        walked = rainbow.extend(graph, problem.privacy, boundary)
        np.testing.assert_allclose(walked.table, closed.table, atol=1e-12, rtol=0)
        budgets = rng.choice([epsilon, 1.5 * epsilon], len(edges))
        uneven = EdgePrivacy(budgets, np.full(len(edges), delta))
        try:
            expected = rainbow.extend(graph, uneven, boundary)
        except NoOptimum:
            with pytest.raises(NoOptimum):
                rainbow.extend(graph, uneven, rows)
            continue
        np.testing.assert_array_equal(rainbow.extend(graph, uneven, rows).table, expected.table)
        assert verify(expected, graph, uneven).private


def test_a_piece_of_one_order_is_answered_with_certainty():
    """Where nothing meets another order the best answer has probability 1, by order and by vertex."""
    pieces = DatasetGraph([(0, 1), (2, 3)], {0: ABC, 1: BAC, 2: BAC, 3: BAC}, outputs="abc", disconnected=True)
    rows = {ABC: [0.5, 0.3, 0.2], BAC: [0.3, 0.5, 0.2]}
    for mechanism in (
        rainbow.extend(pieces, Privacy(1), rows),
        rainbow.extend(pieces, EdgePrivacy([1.0, 2.0]), rows),
        rainbow.extend(pieces, Privacy(1), {0: rows[ABC], 1: rows[BAC]}),
    ):
        np.testing.assert_array_equal(mechanism.table[2:], [[0, 1, 0]] * 2)
        assert verify(mechanism, pieces, Privacy(2)).private


# any boundary


def _non_homogeneous(rng):
    """A path, a cycle or a small graph with q = 3, one to three orders, and rows on a boundary-hitting set."""
    n = int(rng.integers(4, 7))
    kind = rng.choice([0, 1, 1, 2])
    edges = strategies.random_edges(rng, n, 0.2) if kind == 2 else [(v, v + 1) for v in range(n - 1)]
    if kind == 1:
        edges.append((n - 1, 0))
    orders = _patches(rng, n, edges, _palette(rng, 3, int(rng.integers(1, 4))))
    if rng.random() < 0.3:
        epsilons, deltas = (
            rng.choice([0.3, 0.7, 1.2], len(edges)).tolist(),
            rng.choice([0, 0.03], len(edges)).tolist(),
        )
    else:
        epsilons = [float(rng.choice([0.3, 0.7, 1.0]))] * len(edges)
        deltas = [float(rng.choice([0, 0, 0.03]))] * len(edges)
    problem = Problem(3, edges, orders, epsilons, deltas)
    chosen = {int(v) for v in rng.choice(n, size=2, replace=False)}
    for u, v in edges:
        if orders[u] != orders[v] and not {u, v} & chosen:
            chosen.add(u if rng.random() < 0.5 else v)
    table = problem.random_private(rng) if rng.random() < 0.85 else rng.dirichlet(np.ones(3) * 6, n)
    return problem, {v: (table[v] / table[v].sum()).tolist() for v in sorted(chosen)}


def _decide(problem, fixed):
    """The case by linear programs alone, how far the decision is from tipping, and the optimum's prefix sums."""
    together = problem.best(problem.everything(), fixed)
    if together is None:
        return rainbow.Case.INFEASIBLE, math.inf, None
    found = problem.prefixes(together)
    short = 0.0
    for v in range(problem.n):
        for size in range(1, problem.q) if v not in fixed else ():
            weights = problem.event(v, size)
            short = max(short, float((weights * problem.best(weights, fixed)).sum()) - found[v, size - 1])
    if short > 1e-8:
        return rainbow.Case.NONE, short, None
    bounds = naive.prefix_bounds(
        problem.n, problem.edges, problem.steps, [tuple(order) for order in problem.orders], fixed
    )
    lack = max((bounds[v][k] - found[v, k] for v in range(problem.n) if v not in fixed for k in range(2)), default=0.0)
    return (rainbow.Case.LOWER, lack, found) if lack > 1e-8 else (rainbow.Case.ENVELOPE, 1.0, found)


@pytest.mark.parametrize("part", range(3))
def test_verdicts_on_random_problems_agree_with_linear_programs(part):
    """Three times 100 problems: the four cases, the optimum and every refusal agree with programs of the test's own.

    Values to 2e-6, since the library's own programs hold constraints to 1e-7; a problem whose decision is closer than
    that to tipping would be skipped, and at most three in a hundred may be.
    """
    cases, skipped = Counter(), 0
    for seed in range(100 * part, 100 * part + 100):
        problem, fixed = _non_homogeneous(np.random.default_rng(seed))
        case, margin, optimum = _decide(problem, fixed)
        if margin < 1e-5:
            skipped += 1
            continue
        graph, privacy = problem.graph, problem.privacy
        existence = rainbow.optimum_exists(graph, privacy, fixed)
        assert existence.case is case, (seed, margin)
        assert bool(existence) == (optimum is not None)
        cases[case] += 1
        if optimum is not None:
            np.testing.assert_allclose(existence.mechanism.prefixes(), optimum, atol=2 * SOLVER, err_msg=str(seed))
            assert problem.excess(existence.mechanism.table) <= SOLVER, seed
            for v, row in fixed.items():
                np.testing.assert_allclose(existence.mechanism.table[v], row, atol=1e-12)
        if optimum is not None:
            mechanism = rainbow.extend(graph, privacy, fixed)
            assert isinstance(mechanism, rainbow.ProgramOptimum) == (case is rainbow.Case.LOWER)
            np.testing.assert_allclose(mechanism.prefixes(), optimum, atol=1e-8, err_msg=str(seed))
            assert verify(mechanism, graph, privacy).private
            assert problem.excess(mechanism.table) <= (1e-12 if case is rainbow.Case.ENVELOPE else 1e-9)
            continue
        with pytest.raises(NotExtendable if case is rainbow.Case.INFEASIBLE else NoOptimum) as caught:
            rainbow.extend(graph, privacy, fixed)
        if case is not rainbow.Case.INFEASIBLE:
            witness, *rows = caught.value.witness
            ends = dict(zip(witness.edge, rows, strict=True))
            chosen = list(witness.event)
            assert ends[witness.edge[0]][chosen].sum() > witness.bound + 1e-9
            # some bound of the envelope cannot be had together with the others: the program has less in total
            bounds = naive.prefix_bounds(problem.n, problem.edges, problem.steps, problem.orders, fixed)
            free = [v for v in range(problem.n) if v not in fixed]
            found = problem.prefixes(problem.best(problem.everything(), fixed))
            assert sum(sum(bounds[v]) for v in free) > found[free].sum() + 1e-7
    assert {*cases} == {*rainbow.Case}
    assert skipped <= 3


def test_a_lower_optimum_is_found_and_is_private():
    """Some problems have an optimum below the envelope; it is private to ``verify``'s own tolerance, as all tables are.

    At δ = 0 that also means no impossible answer beside a possible one.
    """
    lower = 0
    for seed in range(300):
        problem, fixed = _non_homogeneous(np.random.default_rng(seed))
        existence = rainbow.optimum_exists(problem.graph, problem.privacy, fixed)
        if existence.case is rainbow.Case.LOWER:
            lower += 1
            verdict = verify(existence.mechanism, problem.graph, problem.privacy)
            assert verdict.private, (seed, verdict.epsilon, verdict.delta, verdict.witness)
    assert lower >= 15


def _wide(rng):
    """Any graph of up to 11 vertices, 3 to 5 answers, ε from 0.02 to 5, δ up to 0.1, rows of a private table."""
    q, n = int(rng.integers(3, 6)), int(rng.integers(4, 12))
    edges = strategies.random_edges(rng, n, 0.1)
    orders = _patches(rng, n, edges, _palette(rng, q, int(rng.integers(1, 4))))
    epsilon, delta = float(rng.choice([0.02, 0.1, 0.5, 1, 2, 5])), float(rng.choice([0, 0, 1e-6, 0.01, 0.1]))
    spread = rng.uniform(0.5, 1.5, len(edges)) if rng.random() < 0.3 else np.ones(len(edges))
    problem = Problem(q, edges, orders, (epsilon * spread).tolist(), [delta] * len(edges))
    table = problem.random_private(rng, slack=float(rng.choice([1e-4, 1e-2])))
    chosen = {int(v) for v in rng.choice(n, size=2, replace=False)}
    chosen |= {u for u, v in edges if orders[u] != orders[v] and not {u, v} & chosen}
    return problem, {v: (table[v] / table[v].sum()).tolist() for v in sorted(chosen)}


@pytest.mark.parametrize("part", range(2))
def test_extend_finds_the_optimum_wherever_programs_find_one(part):
    """Twice 35 problems of many kinds: what ``extend`` returns dominates, by programs of the test's own, to 1e-7.

    Where it finds none, some private table has more of one prefix sum than the one with the largest sum.
    """
    kinds = Counter()
    for seed in range(35 * part, 35 * part + 35):
        problem, fixed = _wide(np.random.default_rng(seed))
        try:
            mechanism = rainbow.extend(problem.graph, problem.privacy, fixed)
        except NoOptimum:
            kinds["none"] += 1
            case, short, _ = _decide(problem, fixed)
            assert case is rainbow.Case.NONE, (seed, case, short)
            continue
        kinds[type(mechanism).__name__] += 1
        assert verify(mechanism, problem.graph, problem.privacy).private, seed
        found = mechanism.prefixes()
        for v in range(problem.n):
            for size in range(1, problem.q) if v not in fixed else ():
                weights = problem.event(v, size)
                highest = float((weights * problem.best(weights, fixed)).sum())
                assert found[v, size - 1] == pytest.approx(highest, abs=1e-7), (seed, v, size)
    assert min(kinds[kind] for kind in ("Mechanism", "ProgramOptimum", "none")) >= 3


def test_size_is_said_where_programs_do_not_reach(monkeypatch):
    """Left open, with the reason: a program too large, too many of them, and a privacy that is not linear."""
    star, fixed = _star(np.array([7, 4, 4]) / 15)
    monkeypatch.setattr(_optimum_exists, "_SECONDS", (10, 200_000))
    with pytest.raises(NoOptimum, match="not looked into: the linear programs would have 18 inequalities, 10 is the"):
        rainbow.extend(star, Privacy("ln 3/2"), fixed)
    assert rainbow.optimum_exists(star, Privacy("ln 3/2"), fixed)
    monkeypatch.setattr(_optimum_exists, "_SECONDS", (18, 20))
    with pytest.raises(NoOptimum, match="not looked into: it takes too many linear programs of 18 inequalities each"):
        rainbow.extend(star, Privacy("ln 3/2"), fixed)
    with pytest.raises(NoOptimum, match="not looked into: linear programs need"):
        rainbow.extend(star, GaussianDP(0.4), fixed)


def test_what_linear_programs_propose_is_checked_on_every_edge(monkeypatch):
    """A table that is a little beyond the bounds is refused, whatever the program says of it."""
    star, fixed = _star(np.array([7, 4, 4]) / 15)
    assert rainbow.extend(star, Privacy("ln 3/2"), fixed)
    beyond = np.array([1e-6, -1e-6, 0.0])
    monkeypatch.setattr(below, "_private", lambda region, table: np.where(
        np.isnan(region.rows), table + beyond, table))  # fmt: skip
    with pytest.raises(NoOptimum, match="solver's table of it is not private enough"):
        rainbow.extend(star, Privacy("ln 3/2"), fixed)
    with pytest.raises(ParameterError, match="solver's table of it is not private enough"):
        rainbow.optimum_exists(star, Privacy("ln 3/2"), fixed)


def test_regions_are_decided_one_by_one():
    """Stars side by side, joined at their leaves: each has its own optimum, and one without any spoils the whole."""
    count = 12
    edges = [((star, 0), (star, leaf)) for star in range(count) for leaf in (1, 2, 3)]
    edges += [((star, 1), (star + 1, 1)) for star in range(count - 1)]
    vertices = [(star, at) for star in range(count) for at in range(4)]
    chain = DatasetGraph(edges, dict.fromkeys(vertices, ABC))
    _, fixed = _star(np.array([7, 4, 4]) / 15)
    rows = {(star, leaf): row for star in range(count) for leaf, row in fixed.items()}
    mechanism = rainbow.extend(chain, Privacy("ln 3/2"), rows)
    for star in range(count):
        np.testing.assert_allclose(mechanism.row((star, 0)), np.array([17, 14, 14]) / 45, atol=1e-9)
    _, impossible = _star(np.array([9, 4, 4]) / 17)
    with pytest.raises(NotExtendable):
        rainbow.extend(chain, Privacy("ln 3/2"), rows | {(5, leaf): row for leaf, row in impossible.items()})


def test_fixed_rows_next_to_each_other_must_be_close():
    """Also where another edge is further beyond its bound, so that they are not the witness."""
    edges, colors = [(0, 1), (1, 2), (2, 3), (3, 4)], dict.fromkeys(range(5), ABC)
    path = DatasetGraph(edges, colors)
    fixed = {0: [0.2, 0.4, 0.4], 1: [0.2, 0.3, 0.5], 2: [0.2, 0.4, 0.4]}
    privacy = Privacy("ln 5/4")
    rows = np.full((5, 3), np.nan)
    for v, row in fixed.items():
        rows[v] = row
    table = np.array([*fixed.values(), [0.9, 0.05, 0.05], [0.9, 0.05, 0.05]])
    found = below.decide(path, Budget(path, privacy), rows, table, lexicographic=False, reach=below.Reach(10**4, 10**5))
    assert found.case is rainbow.Case.INFEASIBLE


# lexicographic optima


def _lexicographic_rows(problem, fixed):
    """For every free vertex its lexicographically largest row, by programs one after the other."""
    rows = {}
    for v in range(problem.n):
        if v in fixed:
            continue
        objective, found = np.zeros((problem.n, problem.q)), None
        for size in range(1, problem.q):  # so much weight on earlier sums that later ones cannot buy any of them
            objective += problem.event(v, size) * 300.0 ** (problem.q - 1 - size)
        found = problem.best(objective, fixed)
        rows[v] = problem.prefixes(found)[v]
    return rows


def test_a_lexicographic_optimum_is_found_where_none_dominates():
    """The case that answers the paper's question: (1, 2, 2, 5)/10 is the lexicographic optimum; none dominates.

    ``tests/test_corrections.py`` has the same case in exact fractions.
    """
    path = DatasetGraph([("x", "v"), ("v", "y")], dict.fromkeys("xvy", (1, 2, 3, 4)))
    rows = {"x": [0, 0.1, 0.2, 0.7], "y": [0, 0.2, 0.1, 0.7]}
    privacy = Privacy("ln 2", "0.1")
    found = rainbow.optimum_exists(path, privacy, rows, order="lexicographic")
    assert (found.case, found.order) == (rainbow.Case.LOWER, "lexicographic")
    assert found.mechanism.claim == claims.lexicographic_within(found.mechanism.gap)
    np.testing.assert_allclose(found.mechanism.row("v"), [0.1, 0.2, 0.2, 0.5], atol=1e-8)
    assert verify(found.mechanism, path, privacy).private
    other = Mechanism(path, [rows["x"], [0, 0.3, 0.3, 0.4], rows["y"]])
    assert verify(other, path, privacy).private
    verdict = rainbow.compare(found.mechanism, other)
    assert (verdict.dominance, verdict.lexicographic) == ("incomparable", "first")
    with pytest.raises(NoOptimum, match=r"\{1\} at 'v' can have probability 0.1, but only"):
        rainbow.extend(path, privacy, rows)
    assert rainbow.optimum_exists(path, privacy, rows).case is rainbow.Case.NONE


def test_lexicographic_optima_equal_weighted_programs():
    """Random problems: the rows are those of one program per vertex with steep weights, or those are not private."""
    cases = Counter()
    for seed in range(120):
        problem, fixed = _non_homogeneous(np.random.default_rng(seed))
        graph, privacy = problem.graph, problem.privacy
        dominance = rainbow.optimum_exists(graph, privacy, fixed)
        if dominance.case in (rainbow.Case.INFEASIBLE, rainbow.Case.ENVELOPE) and seed % 8:
            continue
        found = rainbow.optimum_exists(graph, privacy, fixed, order="lexicographic")
        cases[dominance.case, found.case] += 1
        if dominance:
            np.testing.assert_allclose(found.mechanism.table, dominance.mechanism.table, atol=1e-9)
        if found.case is rainbow.Case.INFEASIBLE:
            continue
        rows = _lexicographic_rows(problem, fixed)
        if found:
            sums = found.mechanism.prefixes()
            for v, expected in rows.items():
                np.testing.assert_allclose(sums[v], expected, atol=1e-7, err_msg=str((seed, v)))
            continue
        table = np.array([fixed.get(v, [0.0] * problem.q) for v in range(problem.n)])
        for v, sums in rows.items():
            table[v, list(problem.orders[v])] = np.diff([0.0, *sums, 1.0])
        assert problem.excess(table) > 1e-7, seed
    assert cases[rainbow.Case.NONE, rainbow.Case.NONE] >= 3
    assert cases[rainbow.Case.LOWER, rainbow.Case.LOWER] >= 5
    assert not any(case is rainbow.Case.NONE and found is rainbow.Case.LOWER for case, found in cases)  # q is 3


@pytest.mark.parametrize("order", ["", "best", None, 1])
def test_orders_of_mechanisms_are_two(order):
    """Dominance, or lexicographic."""
    cycle, privacy, fixed = _five_cycle()
    with pytest.raises(ParameterError, match="order must be 'dominance' or 'lexicographic'"):
        rainbow.optimum_exists(cycle, privacy, fixed, order=order)


# the envelope


def _feasible(rng, q=4, n=9):
    edges = strategies.random_edges(rng, n, 0.1)
    orders = _patches(rng, n, edges, _palette(rng, q, 2))
    case = strategies.Case(n, edges, [int(order != orders[0]) for order in orders], [], [])
    epsilons, deltas = strategies.random_budgets(rng, len(edges))
    problem = Problem(q, edges, orders, np.maximum(epsilons, 0.05).tolist(), deltas)
    table = problem.random_private(rng)
    chosen = strategies.random_hitting_set(rng, case) or [0]
    return problem, {v: (table[v] / table[v].sum()).tolist() for v in chosen}


def _rows(problem, fixed):
    rows = np.full((problem.n, problem.q), np.nan)
    for v, row in fixed.items():
        rows[v] = row
    return rows


def test_envelopes_equal_bellman_and_ford_on_each_prefix():
    """Rows of a private table: the envelope is the least bound over all paths anywhere, prefix by prefix, to 1e-12."""
    for seed in range(60):
        problem, fixed = _feasible(np.random.default_rng(seed))
        graph = problem.graph
        table = envelope(graph, Budget(graph, problem.privacy), _rows(problem, fixed))
        found = problem.prefixes(table)
        for order in {*problem.orders}:
            for k in range(problem.q - 1):
                start = {v: sum(row[y] for y in order[: k + 1]) for v, row in fixed.items()}
                expected = naive.envelope(problem.n, problem.edges, problem.steps, start)
                for v in range(problem.n):
                    if problem.orders[v] == order and v not in fixed:
                        assert found[v, k] == pytest.approx(float(expected[v]), abs=1e-12), (seed, v, k)


def test_envelopes_are_the_same_however_budgets_are_written():
    """One budget, classes, a mapping and one number for each edge (a hair apart): the same table, to 1e-9."""
    layouts = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        problem, fixed = _feasible(rng)
        count = len(problem.edges)
        if seed % 2:
            problem.epsilons, problem.deltas = [problem.epsilons[0]] * count, [problem.deltas[0]] * count
        graph, rows = problem.graph, _rows(problem, fixed)
        pairs = [Privacy(*budget) for budget in zip(problem.epsilons, problem.deltas, strict=True)]
        dense = Budget(graph, EdgePrivacy(problem.epsilons, problem.deltas))
        dense.layout, dense._epsilon, dense._delta = (
            propagation.DENSE,
            np.array(problem.epsilons)[graph.edge_ids],
            np.array(problem.deltas)[graph.edge_ids],
        )
        budgets = [
            Budget(graph, EdgePrivacy(problem.epsilons, problem.deltas)),
            Budget(graph, EdgeClasses([*pairs, Privacy(9)], np.arange(count))),
            Budget(graph, dict(zip(problem.edges, pairs, strict=True))),
            dense,
        ]
        tables = [envelope(graph, budget, rows) for budget in budgets]
        layouts |= {budget.layout for budget in budgets}
        for table in tables[1:]:
            np.testing.assert_allclose(table, tables[0], rtol=1e-12, atol=1e-15)
    assert layouts == {propagation.UNIFORM, propagation.CLASSES, propagation.DENSE}


# one row


def _implicit(graph, looked=None):
    """The same graph as functions, which note where they were asked."""
    colors = graph.colors

    def near(vertex):
        if looked is not None:
            looked.add(vertex)
        return graph.neighbors(vertex)

    return graphs.neighbors(near, colors.__getitem__, graph.outputs)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_one_row_by_order_is_that_of_the_whole(delta):
    """Rows by order and one privacy, built or implicit: every row equals that of the whole table, to 1e-15."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        q, n = int(rng.integers(2, 5)), 9
        edges = strategies.random_edges(rng, n, 0.08)
        palette = _palette(rng, q, 2)
        problem = Problem(q, edges, _patches(rng, n, edges, palette), [0.6] * len(edges), [delta] * len(edges))
        rows = dict(zip(palette, _close_rows(rng, q, 2, 0.6, delta), strict=True))
        graph, privacy = problem.graph, problem.privacy
        whole = rainbow.extend(graph, privacy, rows)
        for v in range(n):
            for near in (graph, _implicit(graph)):
                np.testing.assert_allclose(rainbow.extend(near, privacy, rows, at=v), whole.row(v), atol=1e-15, rtol=0)
        same = EdgePrivacy([0.6] * len(edges), [delta] * len(edges))
        np.testing.assert_allclose(rainbow.extend(graph, same, rows, at=0), whole.row(0), atol=1e-15, rtol=0)


def test_one_row_by_vertex_is_that_of_the_whole():
    """Rows by vertex, budgets of all kinds, built or implicit: what the whole has, or the whole has no optimum there.

    A region without an optimum refuses its own rows only, so the whole may refuse what one row does not.
    """
    kinds = Counter()
    for seed in range(80):
        problem, fixed = _non_homogeneous(np.random.default_rng(seed))
        graph, privacy = problem.graph, problem.privacy
        try:
            whole = rainbow.extend(graph, privacy, fixed)
        except (NoOptimum, NotExtendable):
            whole = None
        budgets = dict(zip(problem.edges, zip(problem.epsilons, problem.deltas, strict=True), strict=True))

        def of_edge(u, v, budgets=budgets):
            return Privacy(*(budgets.get((u, v)) or budgets[v, u]))

        refused = 0
        for v in range(problem.n):
            for near, pair, given in (
                (graph, privacy, fixed),
                (_implicit(graph), of_edge, fixed),
                (_implicit(graph), of_edge, fixed.get),
            ):
                try:
                    row = rainbow.extend(near, pair, given, at=v)
                except (NoOptimum, NotExtendable):
                    refused += 1
                    continue
                if whole is not None:
                    np.testing.assert_allclose(row, whole.row(v), atol=1e-7, err_msg=str((seed, v)))
        assert not (refused and whole is not None)
        kinds["refused" if whole is None else type(whole).__name__] += 1
    assert min(kinds[kind] for kind in ("Mechanism", "ProgramOptimum", "refused")) >= 3


def test_rows_by_order_with_budgets_that_differ_one_at_a_time():
    """One row for each order, a budget for each edge: region by region what ``extend`` finds for the whole."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 10
        edges = strategies.random_edges(rng, n, 0.08)
        palette = _palette(rng, 3, 2)
        graph = Problem(3, edges, _patches(rng, n, edges, palette), [1.0] * len(edges), [0.0] * len(edges)).graph
        budgets = EdgePrivacy(rng.choice([0.5, 0.9], len(edges)))
        rows = dict(zip(palette, _close_rows(rng, 3, 2, 0.5, 0.0), strict=True))
        try:
            whole = rainbow.extend(graph, budgets, rows)
        except NoOptimum:
            continue
        found += 1
        for v in range(n):
            np.testing.assert_allclose(rainbow.extend(graph, budgets, rows, at=v), whole.row(v), atol=1e-9)
    assert found >= 10


def test_one_row_looks_no_further_than_it_has_to():
    """An endless path: by order up to the nearest boundary vertex; by vertex the region, and nothing past its ends."""
    looked = set()

    def near(v):
        looked.add(v)
        return [v - 1, v + 1]

    def color(v):
        return ABC if v % 20 < 10 else BCA

    path = graphs.neighbors(near, color, "abc")
    privacy = Privacy("ln 2", "0.01")
    rows = {ABC: [0.5, 0.3, 0.2], BCA: {"a": 0.4, "b": 0.35, "c": 0.25}}
    found = rainbow.extend(path, privacy, rows, at=1004)
    np.testing.assert_allclose(found, rainbow.at_distance(privacy, rows[ABC], 4)[0])
    assert looked <= set(range(1000, 1009))
    looked.clear()
    ends = {v: rows[color(v)] for start in range(0, 4000, 10) for v in (start, start + 9)}
    np.testing.assert_allclose(rainbow.extend(path, privacy, ends, at=1004), found, atol=1e-12)
    assert looked <= set(range(1000, 1010))
    assert rainbow.extend(path, privacy, ends.get, at=1009).tolist() == rows[ABC]


def test_two_hundred_voters_and_three_candidates_are_never_counted_out():
    """20,301 counts of 200 votes as functions: a row is that of a smaller graph with the same depth."""

    def near(votes):
        for giver, taker in permutations(range(3), 2):
            if votes[giver]:
                moved = list(votes)
                moved[giver] -= 1
                moved[taker] += 1
                yield tuple(moved)

    def order(votes):
        return tuple(sorted("abc", key=lambda name: (-votes["abc".index(name)], name)))

    ballots, privacy = graphs.neighbors(near, order, "abc"), Privacy(1)
    rows = rainbow.balanced_boundary(graphs.rankings(3, "abc"), privacy)
    row = rainbow.extend(ballots, privacy, rows, at=(70, 67, 63))
    small = graphs.rankings(20, "abc")
    steps = small.boundary_distance()[small.position((10, 7, 3))]
    np.testing.assert_allclose(row, rainbow.at_distance(privacy, rows[ABC], steps)[0], atol=1e-15)


@pytest.mark.parametrize("privacy", [Privacy(1), EdgePrivacy([1.0, 2.0, 1.0])])
def test_a_lonely_order_is_certain_one_row_at_a_time_too(privacy):
    """A piece without a second order: the best answer with probability 1."""
    pieces = DatasetGraph(
        [(0, 1), (2, 3), (3, 4)], {0: ABC, 1: BAC, 2: BAC, 3: BAC, 4: BAC}, outputs="abc", disconnected=True
    )
    for rows in (GOOD, {0: GOOD[ABC], 1: GOOD[BAC]}):
        assert rainbow.extend(pieces, privacy, rows, at=3).tolist() == [0, 1, 0]


def test_bad_questions_about_one_row_are_refused():
    """Rows that are not close where orders meet, an order without a row, an edge not covered, no vertex, no order."""
    path = graphs.neighbors(lambda v: [v - 1, v + 1], lambda v: ABC if v < 0 else BCA, "abc")
    far = {ABC: [0.9, 0.05, 0.05], BCA: [0.05, 0.9, 0.05]}
    for call, error, message in (
        (lambda: rainbow.extend(path, Privacy(1), far, at=-2), NotExtendable, r"meet on edge \(-1, 0\)"),
        (lambda: rainbow.extend(path, Privacy(1), {ABC: far[ABC]}, at=-2), ParameterError, "no boundary row .* order"),
        (lambda: rainbow.extend(path, Privacy(1), {ABC: far[ABC]}, at=2), ParameterError, "no boundary row .* order"),
        (lambda: rainbow.extend(path, Privacy(1), {-9: far[ABC], 9: far[ABC]}, at=-3), ParameterError, "not covered"),
        (lambda: rainbow.extend(path, Privacy(1), far), ParameterError, "give at=vertex"),
        (lambda: rainbow.extend(path, EdgePrivacy([1.0]), far, at=1), ParameterError, "function of two vertices"),
        (lambda: rainbow.extend(path, Privacy(1), {}, at=1), ParameterError, "must be a mapping"),
        (lambda: rainbow.extend(path, Privacy(1), {1: [0.5, 0.5]}, at=1), ParameterError, "3 entries"),
        (lambda: rainbow.extend(PATH, Privacy(1), {1: GOOD[ABC], 9: GOOD[ABC]}, at=1), ParameterError, "not a vertex"),
        (lambda: rainbow.extend(PATH, Privacy(1), GOOD, at=9), ParameterError, "9 is not a vertex"),
        (lambda: rainbow.extend(PATH, Privacy(1), lambda _: None), ParameterError, "needs at=vertex"),
        (lambda: rainbow.extend(PATH, lambda _u, _v: Privacy(1), GOOD, at=0), ParameterError, "privacy must be"),
        (lambda: extend(path, Privacy(1), {0: 0.5}, at=3), ParameterError, "use tinct.rainbow"),
    ):
        with pytest.raises(error, match=message):
            call()
    plain = graphs.neighbors(lambda v: [v - 1, v + 1], lambda v: "abc"[v % 3], "abc")
    with pytest.raises(ParameterError, match="must be an order of preference"):
        rainbow.extend(plain, Privacy(1), far, at=1)
    two = graphs.neighbors(lambda v: [v - 1, v + 1], lambda v: v > 0)
    found = rainbow.extend(two, Privacy("ln 2"), {False: [0.6, 0.4], True: [0.4, 0.6]}, at=3)
    np.testing.assert_allclose(found, extend(two, Privacy("ln 2"), {0: 0.6, 1: 0.4}, at=3), atol=1e-15)


def test_regions_without_an_end_are_given_up(monkeypatch):
    """A search that meets no fixed vertex ends with an error, not with the memory."""
    monkeypatch.setattr(row_by_region, "MAX_VISITED", 1000)
    path = graphs.neighbors(lambda v: [v - 1, v + 1], lambda _: ABC, "abc")
    for rows in ({ABC: [0.5, 0.3, 0.2]}, lambda _: None):
        with pytest.raises(ParameterError, match="too far from the fixed vertices"):
            rainbow.extend(path, Privacy(1), rows, at=0)


# what one row for each order costs


def _intervals(n, k):
    """A count from 0 to n in k intervals, the nearer ones preferred."""
    cuts = [at * (n + 1) // k for at in range(k + 1)]
    which = [sum(v >= cut for cut in cuts[1:]) for v in range(n + 1)]
    colors = {v: tuple(sorted(range(k), key=lambda at: (abs(at - which[v]), at))) for v in range(n + 1)}
    return DatasetGraph([(v, v + 1) for v in range(n)], colors, outputs=range(k))


@pytest.mark.parametrize("choose", [rainbow.balanced_boundary, lambda *given: rainbow.best_boundary(*given).rows])
def test_rows_by_order_that_cost_much_are_warned_of(choose):
    """Five intervals of a count up to 100, ε = 0.5: one row for each order has 0.864 at most, ``best`` has 0.924."""
    graph, privacy = _intervals(100, 5), Privacy(0.5)
    with pytest.warns(CostlyRows, match=r"0\.864 at most.*gives it 0\.924: rainbow\.best") as caught:
        mechanism = rainbow.extend(graph, privacy, choose(graph, privacy))
    warning = caught[0].message
    assert Path(caught[0].filename) == Path(__file__)
    assert mechanism.truth().mean() <= warning.mean + SOLVER
    assert warning.best == pytest.approx(rainbow.best(graph, privacy).truth().mean(), abs=1e-12)
    again = pickle.loads(pickle.dumps(warning))  # noqa: S301 # our own
    assert (again.mean, again.best, str(again)) == (warning.mean, warning.best, str(warning))


def test_noise_on_the_count_has_what_best_has():
    """The mean truth of the interval of a count with geometric noise, by summing: 0.924 as well."""
    graph, ratio = _intervals(100, 5), math.exp(-0.5)
    which = [order[0] for order in graph.colors.values()]
    noise = {z: (1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(-400, 401)}
    right = [sum(p for z, p in noise.items() if which[min(100, max(0, v + z))] == which[v]) for v in range(101)]
    assert sum(right) / 101 == pytest.approx(rainbow.best(graph, Privacy(0.5)).truth().mean(), abs=1e-6)


def test_no_warning_without_a_better_mechanism_or_a_program():
    """A winner among three with 12 votes, Gaussian privacy, a graph too large for a quick program, rows by vertex."""
    votes, large = graphs.rankings(12, "abc", order="winner"), _intervals(1000, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rainbow.extend(votes, Privacy(1), rainbow.balanced_boundary(votes, Privacy(1)))
        rainbow.extend(large, Privacy(0.5), rainbow.balanced_boundary(large, Privacy(0.5)))
        short, privacy = _intervals(30, 5), Privacy(0.5)
        rows = rainbow.balanced_boundary(short, privacy)
        rainbow.extend(short, privacy, {v: rows[short.colors[v]] for v in short.boundary().vertices})
        rainbow.extend(short, GaussianDP(2), rows)
        rainbow.extend(short, privacy, rows, at=4)


# the best mechanism for a utility


def _random_problem(rng, q, delta, n=7):
    edges = strategies.random_edges(rng, n, 0.15)
    orders = _patches(rng, n, edges, _palette(rng, q, 3))
    epsilon = float(rng.uniform(0.2, 1.5))
    return Problem(q, edges, orders, [epsilon] * len(edges), [delta] * len(edges))


@pytest.mark.parametrize("delta", [0.0, 0.03])
@pytest.mark.parametrize("q", [2, 3, 4])
def test_best_is_private_and_its_value_is_proved(q, delta):
    """Random weights: private to 1e-9, value as stated, at most the bound and within 1e-6 of it and of another program.

    With δ = 0 no answer is impossible at one vertex and possible at its neighbour.
    """
    for seed in range(12):
        rng = np.random.default_rng(seed)
        problem = _random_problem(rng, q, delta)
        graph, privacy = problem.graph, problem.privacy
        weights = rng.normal(size=(problem.n, q))
        mechanism = rainbow.best(graph, privacy, weights)
        assert isinstance(mechanism, Mechanism)
        assert verify(mechanism, graph, privacy, tolerance=1e-9).private, seed
        assert mechanism.value == pytest.approx(float((weights * mechanism.table).sum()), abs=1e-12)
        assert mechanism.value <= mechanism.upper_bound + SOLVER
        assert 0 <= mechanism.gap <= SOLVER
        highest = float((weights * problem.best(weights)).sum())
        assert mechanism.value == pytest.approx(highest, abs=SOLVER)
        assert mechanism.upper_bound >= highest - SOLVER
        for _ in range(3):
            assert float((weights * problem.random_private(rng)).sum()) <= mechanism.value + SOLVER
        if delta == 0:
            for u, v in problem.edges:
                assert ((mechanism.table[u] > 0) == (mechanism.table[v] > 0)).all(), seed


def test_utilities_by_name_by_array_and_by_mapping_agree():
    """Counting best answers ("truth") or all prefix sums ("prefixes"): the same weights written out, the same value."""
    rng = np.random.default_rng(5)
    problem = _random_problem(rng, 3, 0.01)
    graph, privacy = problem.graph, problem.privacy
    truth = sum(problem.event(v, 1) for v in range(problem.n))
    for name, weights in (("truth", truth), ("prefixes", problem.everything())):
        named = rainbow.best(graph, privacy, name)
        mapped = {v: {y: weights[v, y] for y in range(3) if weights[v, y]} for v in range(problem.n)}
        assert rainbow.best(graph, privacy, weights).value == pytest.approx(named.value, abs=SOLVER)
        assert rainbow.best(graph, privacy, mapped).value == pytest.approx(named.value, abs=SOLVER)
        sums = named.truth() if name == "truth" else named.prefixes()
        assert named.value == pytest.approx(float(sums.sum()), abs=1e-12)
    assert rainbow.best(graph, privacy).value == rainbow.best(graph, privacy, "truth").value


def test_best_with_two_plain_colors_is_the_binary_program():
    """Two plain colours on random graphs with a budget for each edge: the binary program's value, to 1e-6."""
    for seed in range(15):
        case = strategies.random_case(np.random.default_rng(seed))
        signs = np.where(np.array(case.codes) == 0, 1.0, -1.0)
        found = rainbow.best(case.graph, case.privacy)
        expected = float((signs * oracles.best(*case.budgeted, signs)).sum()) + case.codes.count(1)
        assert found.value == pytest.approx(expected, abs=SOLVER)
        assert found.gap <= SOLVER


@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_best_keeps_fixed_rows_and_is_private(delta):
    """Rows of a private table are kept as given, the rest is the best there is, and all of it is private to 1e-9."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        problem = _random_problem(rng, 3, delta)
        table = problem.random_private(rng)
        fixed = {int(v): table[v] / table[v].sum() for v in rng.choice(problem.n, 2, replace=False)}
        weights = rng.normal(size=(problem.n, 3))
        mechanism = rainbow.best(problem.graph, problem.privacy, weights, fixed=fixed)
        for v, row in fixed.items():
            np.testing.assert_allclose(mechanism.row(v), row, rtol=1e-14)
        highest = float((weights * problem.best(weights, {v: row.tolist() for v, row in fixed.items()})).sum())
        assert mechanism.value == pytest.approx(highest, abs=SOLVER)
        assert mechanism.gap <= SOLVER
        assert problem.excess(mechanism.table) <= SOLVER
        verdict = verify(mechanism, problem.graph, problem.privacy)
        assert verdict.private, (seed, verdict.epsilon, verdict.delta, verdict.witness)


@pytest.mark.parametrize("epsilon", [0, 1e-6, 0.01, 5, 17, 30, 300])
@pytest.mark.parametrize("delta", [0, 0.01])
def test_best_with_small_and_large_budgets(epsilon, delta):
    """From ε = 0 to 20 a private mechanism with a gap of at most 1e-6; beyond, floats cannot tell, and it says so."""
    path = DatasetGraph([(v, v + 1) for v in range(6)], {v: ABC if v < 3 else BAC for v in range(7)}, outputs="abc")
    if epsilon > 20:
        with pytest.raises(ParameterError, match="ε above 20"):
            rainbow.best(path, Privacy(epsilon, delta))
        return
    mechanism = rainbow.best(path, Privacy(epsilon, delta))
    assert verify(mechanism, path, Privacy(epsilon, delta)).private
    assert mechanism.gap <= SOLVER
    assert mechanism.upper_bound >= rainbow.extend(
        path, Privacy(epsilon, delta), rainbow.balanced_boundary(path, Privacy(epsilon, delta))
    ).truth().sum() - SOLVER  # fmt: skip


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 4.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_best_of_larger_problems_stays_private_and_tight(epsilon, delta):
    """Small and large ε on up to 19 vertices, with and without fixed rows: private to 1e-9, gap at most 1e-5.

    The fixed rows are those of a private table with room to spare, so they can be extended. Next to fixed rows a
    solver's table cannot always be mended: now and then it is refused. Mending costs more, the smaller e^ε − 1 is.
    """
    refused = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        q = int(rng.integers(3, 5))
        problem = _random_problem(rng, q, delta, n=int(rng.integers(10, 20)))
        problem.epsilons = [epsilon] * len(problem.edges)
        graph, privacy = problem.graph, problem.privacy
        free = rainbow.best(graph, privacy, rng.normal(size=(problem.n, q)))
        assert verify(free, graph, privacy).private, seed
        assert free.gap <= 10 * SOLVER * max(1.0, abs(free.value)), seed
        table = 0.999 * free.table + 0.001 / q
        fixed = {int(v): table[v] / table[v].sum() for v in rng.choice(problem.n, 2, replace=False)}
        try:
            tied = rainbow.best(graph, privacy, rng.normal(size=(problem.n, q)), fixed=fixed)
        except NotPrivate:
            refused += 1
            continue
        verdict = verify(tied, graph, privacy)
        assert verdict.private, (seed, verdict.witness)
        assert tied.gap <= 10 * SOLVER * max(1.0, abs(tied.value)), seed
    assert refused <= 2


@pytest.mark.parametrize("epsilon", ["1e-16", "1e-14", "1e-13", "1e-12", "1e-11", "1e-10", "1e-9", "1e-8", "1e-6"])
@pytest.mark.parametrize("given", [None, [0.2, 0.3, 0.5]])
def test_best_is_never_below_a_constant(epsilon, given):
    """Next to ε = 0 the same row everywhere is private and all but optimal: 4 of 10 counts of three votes."""
    graph = graphs.rankings(3, "abc")
    privacy = Privacy(epsilon)
    fixed = None if given is None else {(1, 1, 1): given}
    mechanism = rainbow.best(graph, privacy, fixed=fixed)
    assert verify(mechanism, graph, privacy).private
    columns = graph.coloring.true_outputs()
    constants = np.eye(3) if given is None else np.array([given])
    assert mechanism.value >= max(row[columns].sum() for row in constants) - 1e-12
    assert 0 <= mechanism.gap <= 1e-5
    both = DatasetGraph([(0, 1), (2, 3), (3, 4)], {0: ABC, 1: ABC, 2: BAC, 3: BAC, 4: ABC}, outputs="abc",
                        disconnected=True)  # fmt: skip
    assert rainbow.best(both, privacy).value == pytest.approx(4, abs=1e-5)  # each piece has its own constant


def test_zero_has_no_sign():
    """A table of ``best`` has no −0; and one that does is judged like 0: infinite ε, with a witness."""
    path = DatasetGraph([(v, v + 1) for v in range(6)], {v: ABC if v < 3 else BAC for v in range(7)}, outputs="abc")
    assert not np.signbit(rainbow.best(path, Privacy(0)).table).any()
    edge = graphs.line(1, 1)
    signed, plain = (verify([[0.5, 0.5], [zero, 1.0]], edge, Privacy(1)) for zero in (-0.0, 0.0))
    assert signed.epsilon == plain.epsilon == math.inf
    assert signed.witness == plain.witness


def test_best_with_edges_that_allow_nothing_is_as_good_as_the_program_says():
    """An edge with ε = 0 and δ = 0 has no room for a solver's tolerance; that cost up to 0.68 of the utility."""
    rng = np.random.default_rng(17)
    for at in range(60):
        n = int(rng.integers(3, 8))
        edges = strategies.random_edges(rng, n)
        colors = {v: tuple(rng.permutation(list("xyz")).tolist()) for v in range(n)}
        graph = DatasetGraph(edges, colors, outputs="xyz")
        budgets = {
            edge: Privacy(float(rng.choice([0, 0.5, 1])), float(rng.choice([0, 0, 1e-12, 0.05]))) for edge in edges
        }
        fixed = {0: {"x": 0.5, "y": 0.3, "z": 0.2}} if at % 2 else None
        mechanism = rainbow.best(graph, budgets, fixed=fixed)
        assert verify(mechanism, graph, budgets).private
        assert mechanism.gap < 1e-9


def test_best_where_everything_or_nothing_is_left_to_choose():
    """All rows fixed: their own value. No edges: the best answer with certainty."""
    path = DatasetGraph([(0, 1), (1, 2)], {0: ABC, 1: BAC, 2: CBA}, outputs="abc")
    row = [0.2, 0.3, 0.5]
    assert rainbow.best(path, Privacy(1), fixed=dict.fromkeys(range(3), row)).value == pytest.approx(1.0)
    assert rainbow.best(DatasetGraph([], {0: ABC}), Privacy(1)).value == pytest.approx(1.0)


# boundary rows


RANKED = [
    (3, "abc", "replace", "votes"),
    (5, "abc", "replace", "winner"),
    (4, "abc", "add-remove", "votes"),
    (3, "abcd", "replace", "votes"),
    (4, "ab", "add-remove", "winner"),
]


def _ranked(n, answers, neighbors, order):
    return graphs.rankings(n, answers, neighbors, order=order)


@pytest.mark.parametrize("kind", RANKED)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_balanced_rows_are_valid_and_treat_answers_alike(kind, delta):
    """Randomized response on the best answer extends on every graph of rankings, and renaming answers renames rows."""
    graph = _ranked(*kind)
    for epsilon in (0.1, 1.0):
        privacy = Privacy(epsilon, delta)
        rows = rainbow.balanced_boundary(graph, privacy)
        assert {*rows} == {*graph.colors.values()}
        assert verify(rainbow.extend(graph, privacy, rows), graph, privacy).private
        q = len(graph.outputs)
        for order, row in rows.items():
            named = dict(zip(graph.outputs, row.tolist(), strict=True))
            growth = math.exp(epsilon)
            assert named[order[0]] == pytest.approx((growth + (q - 1) * delta) / (growth + q - 1), rel=1e-14)
            assert len({named[answer] for answer in order[1:]}) == 1
        renamed = dict(zip(graph.outputs, graph.outputs[1:] + graph.outputs[:1], strict=True))
        colors = {v: tuple(renamed[answer] for answer in order) for v, order in graph.colors.items()}
        other = rainbow.balanced_boundary(graph.recolored(colors, outputs=graph.outputs), privacy)
        for order, row in rows.items():
            there = dict(zip(graph.outputs, other[tuple(renamed[a] for a in order)].tolist(), strict=True))
            assert {renamed[a]: p for a, p in zip(graph.outputs, row.tolist(), strict=True)} == there


@pytest.mark.parametrize("kind", RANKED)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_best_boundary_is_the_best_by_order(kind, delta):
    """Its value is the expected truth of the mechanism that its rows extend to, and no less than the balanced one's.

    To 1e-6: the program's tolerance.
    """
    graph = _ranked(*kind)
    privacy = Privacy(0.6, delta)
    rng = np.random.default_rng(len(graph))
    prior = rng.random(len(graph))
    prior /= prior.sum()
    balanced = rainbow.extend(graph, privacy, rainbow.balanced_boundary(graph, privacy))
    for weights, given in (
        (np.full(len(graph), 1 / len(graph)), None),
        (prior, 7 * prior),
        (prior, dict(zip(graph.vertices, prior.tolist(), strict=True))),
    ):
        chosen = rainbow.best_boundary(graph, privacy, given)
        mechanism = rainbow.extend(graph, privacy, chosen.rows)
        assert verify(mechanism, graph, privacy).private
        assert chosen.value == pytest.approx(float(weights @ mechanism.truth()), abs=SOLVER)
        assert chosen.value >= float(weights @ balanced.truth()) - SOLVER
        assert chosen.value <= chosen.upper_bound + SOLVER
        assert chosen.upper_bound - chosen.value <= SOLVER
    all_prefixes = rainbow.best_boundary(graph, privacy, prior, utility="prefixes")
    mechanism = rainbow.extend(graph, privacy, all_prefixes.rows)
    assert all_prefixes.value == pytest.approx(float(prior @ mechanism.prefixes().sum(axis=1)), abs=SOLVER)
    # rows that are the same for a whole order cannot beat rows chosen vertex by vertex
    assert rainbow.best(graph, privacy).value / len(graph) >= rainbow.best_boundary(graph, privacy).value - SOLVER


@pytest.mark.parametrize("kind", RANKED)
def test_the_boundary_rainbow_graph_carries_the_extension_back(kind):
    """(order, distance) is a morphism that keeps orders; the pullback of the target's extension is the extension."""
    graph = _ranked(*kind)
    privacy = Privacy(0.6, 0.01)
    morphism = rainbow.boundary_morphism(graph)
    assert isinstance(morphism, Morphism)
    assert morphism.preserves_colors
    colors = list(graph.colors.values())
    codes = [colors.index(color) for color in colors]
    ends = graph.ends.tolist()
    distance = naive.boundary_distance(len(graph), ends, codes)
    for at, vertex in enumerate(graph.vertices):
        assert morphism(vertex) == (colors[at], distance[at])
    target = {frozenset(edge) for edge in morphism.target.edges}
    for u, v in graph.edges:
        assert morphism(u) == morphism(v) or frozenset((morphism(u), morphism(v))) in target
    assert {*morphism.target.vertices} == {morphism(v) for v in graph.vertices}
    deepest = {order: max(d for d, color in zip(distance, colors, strict=True) if color == order) for order in colors}
    assert rainbow.depths(graph) == deepest
    rows = rainbow.balanced_boundary(graph, privacy)
    there = rainbow.extend(morphism.target, privacy, rows)
    here = rainbow.extend(graph, privacy, rows)
    np.testing.assert_allclose(there.pullback(morphism, graph).table, here.table, atol=1e-15, rtol=0)


def test_depths_of_random_graphs():
    """The largest distance to the own boundary by brute force; −1 for an order that meets no other."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 12))
        edges = [(u, v) for v in range(n) for u in range(v) if rng.random() < 1.5 / n]
        orders = [list(permutations("abc"))[at] for at in rng.integers(0, 3, n)]
        graph = DatasetGraph(edges, dict(enumerate(orders)), outputs="abc", disconnected=True)
        distance = naive.boundary_distance(n, edges, orders)
        expected = {order: max(distance[v] for v in range(n) if orders[v] == order) for order in orders}
        assert rainbow.depths(graph) == expected


# orders from votes


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("answers", ["ab", "abc", ("x", "a", "m", "b")])
def test_orders_follow_the_votes(neighbors, answers):
    """All counts occur once, more votes come first, ties in the order listed; neighbours differ by one person."""
    n, names = 4, tuple(answers)
    by_votes = graphs.rankings(n, answers, neighbors)
    by_winner = graphs.rankings(n, answers, neighbors, order="winner")
    counts = [
        tuple(c) for c in np.ndindex(*[n + 1] * len(names)) if sum(c) == n or (sum(c) < n and neighbors != "replace")
    ]
    assert sorted(by_votes.vertices) == sorted(by_winner.vertices) == sorted(counts)
    assert by_votes.outputs == by_winner.outputs == names
    for vertex in by_votes.vertices:
        votes = dict(zip(names, vertex, strict=True))
        order = by_votes.colors[vertex]
        assert sorted(order) == sorted(names)
        for better, worse in pairwise(order):
            assert votes[better] > votes[worse] or (
                votes[better] == votes[worse] and names.index(better) < names.index(worse)
            )
        winner = by_winner.colors[vertex]
        assert winner[0] == order[0]
        assert winner[1:] == tuple(name for name in names if name != order[0])
    close = {frozenset((u, v)) for u in counts for v in counts if u != v and _one_person(u, v, neighbors)}
    assert {frozenset(edge) for edge in by_votes.edges} == close == {frozenset(edge) for edge in by_winner.edges}


def _one_person(u, v, neighbors):
    change = sorted(int(b) - int(a) for a, b in zip(u, v, strict=True) if a != b)
    return change == [-1, 1] if neighbors == "replace" else change in ([1], [-1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, "a"), "two different answers"),
        ((3, "aba"), "two different answers"),
        ((0, "ab"), "n must be"),
        ((3, "ab", "friends"), "neighbors must be"),
    ],
)
def test_rankings_refuse_bad_input(arguments, message):
    """One answer, an answer twice, nobody, and an unknown relation."""
    with pytest.raises(ParameterError, match=message):
        graphs.rankings(*arguments)
    with pytest.raises(ParameterError, match="order must be"):
        graphs.rankings(3, "ab", order="alphabet")


# comparison


def test_comparisons_equal_brute_force():
    """Dominance, the lexicographic order and the first places, against loops on random tables of coarse numbers.

    Multiples of 1/4 make ties frequent; some pairs share their graph, some only its contents in another order.
    """
    seen = Counter()
    for seed in range(400):
        rng = np.random.default_rng(seed)
        n, q = int(rng.integers(1, 4)), int(rng.integers(2, 4))
        orders = {v: tuple(rng.permutation(q).tolist()) for v in range(n)}
        edges = [(v, v + 1) for v in range(n - 1)]
        graph = DatasetGraph(edges, orders, outputs=range(q))
        tables = rng.multinomial(4, np.full(q, 1 / q), (2, n)) / 4
        if rng.random() < 0.5:
            at = int(rng.integers(n))
            keep = np.arange(n) != at
            tables[1][keep] = tables[0][keep]
        first = Mechanism(graph, tables[0])
        if seed % 2:
            other = DatasetGraph(edges, orders, vertices=[*range(n)][::-1], outputs=[*range(q)][::-1])
            second = Mechanism(other, tables[1][::-1, ::-1])
        else:
            second = Mechanism(graph, tables[1])
        gaps = []
        for v in range(n):
            for k in range(1, q):
                one, two = (float(sum(table[v, y] for y in orders[v][:k])) for table in tables)
                gaps.append((v, orders[v][:k], one, two))
        better = [gap for gap in gaps if gap[2] > gap[3]]
        worse = [gap for gap in gaps if gap[2] < gap[3]]
        leading = []
        for v in range(n):
            different = [one - two for u, _, one, two in gaps if u == v and one != two]
            leading += different[:1]
        found = rainbow.compare(first, second)
        assert found.dominance == _words(bool(better), bool(worse)), seed
        assert found.lexicographic == _words(any(g > 0 for g in leading), any(g < 0 for g in leading)), seed
        for expected, place in ((better, found.first_better), (worse, found.second_better)):
            assert (place is None) == (not expected)
            if place is not None:
                assert (place.vertex, place.answers) == expected[0][:2]
                assert (place.first, place.second) == pytest.approx(expected[0][2:], abs=1e-15)
        assert (found.dominance in ("first", "equal")) == first.dominates(second)
        seen[found.dominance, found.lexicographic] += 1
    assert {("incomparable", "first"), ("incomparable", "second"), ("equal", "equal")} <= {*seen}


def _words(better, worse):
    return "incomparable" if better and worse else "first" if better else "second" if worse else "equal"


def test_comparison_tolerates_rounding_and_refuses_other_graphs():
    """A difference of 1e-13 is none; of 1e-6 is one unless tolerated; other orders or answers cannot be compared."""
    path = DatasetGraph([(0, 1)], {0: ABC, 1: BAC}, outputs="abc")
    table = np.full((2, 3), 1 / 3)
    for shift, options, verdict in ((1e-13, {}, "equal"), (1e-6, {}, "first"), (1e-6, {"tolerance": 1e-5}, "equal")):
        moved = table + np.array([[shift, 0, -shift], [0, 0, 0]])
        assert rainbow.compare(Mechanism(path, moved), Mechanism(path, table), **options).dominance == verdict
    for colors in ({0: ABC, 1: CBA}, {0: ABC, 2: BAC}):
        other = DatasetGraph([tuple(colors)], colors, outputs="abc")
        with pytest.raises(ParameterError, match="same vertices"):
            rainbow.compare(Mechanism(path, table), Mechanism(other, table))


# bad input

PATH = DatasetGraph([(0, 1), (1, 2), (2, 3)], {0: ABC, 1: ABC, 2: BAC, 3: BAC}, outputs="abc")
GOOD = {ABC: [0.5, 0.3, 0.2], BAC: [0.3, 0.5, 0.2]}


@pytest.mark.parametrize("colors", [{0: ABC, 1: ("a", "b")}, {0: ABC, 1: ("a", "a", "b")}, {0: ABC, 1: ("a", "b", "d")},
                                    {0: ABC, 1: "b"}, {0: ("a", "b", "b"), 1: ("b", "a", "b")}])  # fmt: skip
def test_orders_must_be_permutations_of_the_same_answers(colors):
    """Too short, repeated, an unknown answer, a plain colour among orders, repeated in all of them."""
    with pytest.raises(ParameterError, match="order"):
        DatasetGraph([(0, 1)], colors)


BAD_ROWS = [
    ([0.5, 0.3, 0.2 + 2e-9], "sum to 1 within 1e-09"),
    ([0.5, 0.3, 0.1], "sum to 1"),
    ([0.6, -0.1, 0.5], "at least 0"),
    ([0.5, math.nan, 0.5], "at least 0"),
    ([0.5, math.inf, 0.5], "sum to 1"),
    ([0.5, 0.5], "3 entries"),
    ([[0.5, 0.3, 0.2]], "3 entries"),
    ("abc", "probabilities of"),
    (None, "of 2|of order|must"),
    ({"a": 0.5, "z": 0.5}, "'z', which is not an answer"),
    ({"a": 0.5}, "sum to 1"),
]


@pytest.mark.parametrize(("row", "message"), BAD_ROWS)
def test_rows_that_are_not_distributions_are_refused_with_their_name(row, message):
    """By order, by vertex, for ``best`` and for ``optimum_exists``: the message names whose row it is."""
    with pytest.raises(ParameterError, match=message) as caught:
        rainbow.extend(PATH, Privacy(1), GOOD | {BAC: row})
    assert repr(BAC) in str(caught.value)
    fixed = {1: GOOD[ABC], 2: row}
    for call in (
        lambda: rainbow.extend(PATH, Privacy(1), fixed),
        lambda: rainbow.optimum_exists(PATH, Privacy(1), fixed),
        lambda: rainbow.best(PATH, Privacy(1), fixed=fixed),
    ):
        with pytest.raises(ParameterError, match=message) as caught:
            call()
        assert "row of 2" in str(caught.value)


@pytest.mark.parametrize("row", [[0.5, 0.2], [0.5, math.nan, 0.5], [0.6, -0.1, 0.5], [], [1.0], [[0.5, 0.5]], "ab"])
def test_at_distance_refuses_rows_that_are_not_distributions(row):
    """A sum other than 1, NaN, a negative entry, none, one or the wrong shape."""
    with pytest.raises(ParameterError):
        rainbow.at_distance(Privacy(1), row, [1])


def test_lists_without_an_agreed_order_are_refused():
    """Several orders and no ``outputs``: a list would be read by the first vertex's order, so a mapping is asked for.

    The same rows by answer do not depend on which vertex comes first, and the library's own rows are read by answer.
    """
    edges, colors = [(0, 1), (1, 2)], {0: BAC, 1: BAC, 2: ABC}
    unnamed, named = DatasetGraph(edges, colors), DatasetGraph(edges, colors, outputs="abc")
    assert unnamed.outputs == BAC
    for rows, fixed in (
        (GOOD, {1: GOOD[BAC], 2: np.array(GOOD[ABC])}),
        ({BAC: (0.3, 0.5, 0.2)} | GOOD, {1: GOOD[BAC]}),
    ):
        for call in (
            lambda rows=rows: rainbow.extend(unnamed, Privacy(1), rows),
            lambda rows=rows: rainbow.extend(unnamed, Privacy(1), rows, at=0),
            lambda fixed=fixed: rainbow.extend(unnamed, Privacy(1), fixed),
            lambda fixed=fixed: rainbow.optimum_exists(unnamed, Privacy(1), fixed),
            lambda fixed=fixed: rainbow.best(unnamed, Privacy(1), fixed=fixed),
            lambda: rainbow.best(unnamed, Privacy(1), np.ones((3, 3))),
        ):
            with pytest.raises(ParameterError, match=r"in which order\?.*outputs=\('b', 'a', 'c'\)"):
                call()
    by_answer = {order: dict(zip("abc", row, strict=True)) for order, row in GOOD.items()}
    one, other = (rainbow.extend(graph, Privacy(1), by_answer) for graph in (unnamed, named))
    for v in range(3):
        for answer in "abc":
            assert one.probability(v, answer) == other.probability(v, answer)
    own = rainbow.extend(unnamed, Privacy(1), rainbow.balanced_boundary(named, Privacy(1)))
    expected = rainbow.extend(named, Privacy(1), rainbow.balanced_boundary(unnamed, Privacy(1)))
    np.testing.assert_allclose(own.table_on(named), expected.table)
    best_rows = rainbow.best_boundary(unnamed, Privacy(1)).rows
    assert best_rows.outputs == BAC
    rainbow.extend(unnamed, Privacy(1), best_rows)
    rainbow.extend(unnamed.with_outputs("abc"), Privacy(1), GOOD)
    alike = DatasetGraph([(0, 1)], {0: BAC, 1: BAC})  # one order: there is nothing to confuse
    np.testing.assert_allclose(rainbow.extend(alike, Privacy(1), {0: [0.5, 0.3, 0.2]}).probability(0, "b"), 0.5)


def test_rounding_in_rows_is_divided_out():
    """A row that sums to 1 within 1e-9 is accepted, by list or by mapping with zeros left out, and made to sum to 1."""
    row = np.array([0.5, 0.3, 0.2 + 5e-10])
    by_list = rainbow.extend(PATH, Privacy(1), GOOD | {ABC: row})
    np.testing.assert_allclose(by_list.row(1), row / row.sum(), rtol=1e-15)
    by_mapping = rainbow.extend(PATH, Privacy(1, 0.5), {ABC: {"a": 0.75, "b": 0.25}, BAC: {"b": 0.5, "a": 0.5}})
    np.testing.assert_array_equal(by_mapping.row(1), [0.75, 0.25, 0])


def test_missing_orders_vertices_and_edges_are_named():
    """An order without a row, an unknown vertex, an edge that no fixed vertex meets, nothing at all."""
    for boundary, message in (
        ({ABC: GOOD[ABC]}, r"no boundary row is given for order \('b', 'a', 'c'\)"),
        ({ABC: GOOD[ABC], "nobody": GOOD[ABC]}, "not a vertex"),
        ({1: GOOD[ABC], 9: GOOD[ABC]}, "9 is not a vertex"),
        ({0: GOOD[ABC]}, r"edge \(1, 2\) is not covered"),
        ({}, "boundary must be a mapping"),
        ([GOOD[ABC]], "boundary must be a mapping"),
        (None, "boundary must be a mapping"),
    ):
        with pytest.raises(ParameterError, match=message):
            rainbow.extend(PATH, Privacy(1), boundary)
    for fixed, message in (
        ({}, "boundary-hitting"),
        ({9: GOOD[ABC]}, "9 is not a vertex"),
        ({0: GOOD[ABC]}, "not covered"),
        ([1, 2], "mapping"),
    ):
        with pytest.raises(ParameterError, match=message):
            rainbow.optimum_exists(PATH, Privacy(1), fixed)
    for fixed in ({9: GOOD[ABC]}, [1, 2]):
        with pytest.raises(ParameterError):
            rainbow.best(PATH, Privacy(1), fixed=fixed)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_rows_that_are_not_close_are_refused_with_edge_and_excess(delta):
    """By order and by vertex: the message names an edge where they meet and how much more ε or δ they would need."""
    far = {ABC: [0.8, 0.1, 0.1], BAC: [0.1, 0.8, 0.1]}
    privacy = Privacy(1, delta)
    needed = naive.least_epsilon(far[ABC], far[BAC], delta)
    with pytest.raises(NotExtendable, match=r"edge \(1, 2\)") as caught:
        rainbow.extend(PATH, privacy, far)
    assert f"ε = {needed:.6g}" in str(caught.value)
    assert f"δ = {naive.hockey_stick(far[ABC], far[BAC], math.e):.6g}" in str(caught.value)
    with pytest.raises(NotExtendable, match=r"edge \((1, 2|2, 1)\)") as caught:
        rainbow.extend(PATH, privacy, {1: far[ABC], 2: far[BAC]})
    assert {*caught.value.witness.edge} == {1, 2}
    assert "exceeds" in str(caught.value)


def test_the_excess_is_that_of_the_edge_that_is_named():
    """Where three orders meet, the ε and δ in the message are those of the pair of orders it names."""
    path = DatasetGraph([(0, 1), (1, 2)], {0: ABC, 1: BAC, 2: CAB}, outputs="abc")
    rows = {ABC: [0.9, 0.05, 0.05], BAC: [0.1, 0.85, 0.05], CAB: [0.1, 0.9 - 1e-6, 1e-6]}
    with pytest.raises(NotExtendable) as caught:
        rainbow.extend(path, Privacy(1), rows)
    message = str(caught.value)
    pair = (ABC, BAC) if "edge (0, 1)" in message else (BAC, CAB)
    both = [(rows[pair[0]], rows[pair[1]]), (rows[pair[1]], rows[pair[0]])]
    assert f"ε = {max(naive.least_epsilon(*way, 0.0) for way in both):.6g}" in message
    assert f"δ = {max(naive.hockey_stick(*way, math.e) for way in both):.6g}" in message


def test_contradicting_events_are_not_extendable_under_gaussian_privacy_too():
    """Two fixed rows too far apart for the path between them: no mechanism, so NotExtendable, whatever the privacy."""
    path = DatasetGraph([(0, 1), (1, 2)], dict.fromkeys(range(3), ABC))
    fixed = {0: [0.98, 0.01, 0.01], 2: [0.01, 0.98, 0.01]}
    for privacy in (Privacy(0.5), Privacy(0.5, 0.01), GaussianDP(0.5)):
        with pytest.raises(NotExtendable):
            rainbow.extend(path, privacy, fixed)


def test_one_budget_may_be_given_for_every_edge():
    """The same budget as one pair, by edge, as arrays or as classes: the same mechanism, and the same refusal."""
    privacy, count = Privacy("ln 2"), len(PATH.ends)
    expected = rainbow.extend(PATH, privacy, GOOD).table
    far = {ABC: [0.9, 0.05, 0.05], BAC: [0.05, 0.9, 0.05]}
    for same in (
        dict.fromkeys(PATH.edges, privacy),
        EdgePrivacy([privacy.epsilon] * count),
        EdgeClasses([privacy], [0] * count),
    ):
        np.testing.assert_allclose(rainbow.extend(PATH, same, GOOD).table, expected, atol=1e-15)
        with pytest.raises(NotExtendable, match="not close"):
            rainbow.extend(PATH, same, far)


@pytest.mark.parametrize("epsilon", [21, 50])
def test_what_linear_programs_cannot_resolve_is_left_open_and_said(epsilon):
    """Where ε is too large for a linear program, it is left open whether there is a mechanism at all."""
    colors = {"centre": ABC, "x": ABC, "y": BCA, "z": CAB}
    star = DatasetGraph([("centre", leaf) for leaf in "xyz"], colors, outputs="abc")
    high = math.exp(1.6 * epsilon)
    top, rest = high / (high + 2), 1 / (high + 2)
    with pytest.raises(NoOptimum, match="not looked into: a linear program cannot resolve ε above 20"):
        rainbow.extend(star, Privacy(epsilon), {"x": [top, rest, rest], "y": [rest, top, rest], "z": [rest, rest, top]})


def test_mechanisms_with_one_answer_are_equal():
    """With one answer in every order there is nothing to tell apart."""
    graph = DatasetGraph([(0, 1)], {0: ("a",), 1: ("a",)})
    certain = Mechanism(graph, [[1.0], [1.0]])
    found = rainbow.compare(certain, certain)
    assert (found.dominance, found.lexicographic) == ("equal", "equal")
    assert found.first_better is found.second_better is None


def test_rows_at_a_distance_need_a_privacy():
    """An ε by itself is not a notion of privacy."""
    with pytest.raises(ParameterError, match="privacy must be a Privacy"):
        rainbow.at_distance(1.0, [0.5, 0.5], 1)


def test_one_answer_or_plain_colors_are_refused():
    """A single answer has nothing to prefer; three plain colours do not say what comes second."""
    lonely = DatasetGraph([(0, 1)], {0: "a", 1: "a"})
    plain = DatasetGraph([(0, 1), (1, 2)], {0: "a", 1: "b", 2: "c"})
    for graph, message in ((lonely, "two answers"), (plain, "orders of preference")):
        rows = {color: np.eye(len(graph.outputs))[0] for color in graph.outputs}
        for call in (
            lambda graph=graph, rows=rows: rainbow.extend(graph, Privacy(1), rows),
            lambda graph=graph: rainbow.optimum_exists(graph, Privacy(1), {0: np.eye(len(graph.outputs))[0]}),
            lambda graph=graph: rainbow.balanced_boundary(graph, Privacy(1)),
            lambda graph=graph: rainbow.best_boundary(graph, Privacy(1)),
            lambda graph=graph: rainbow.boundary_morphism(graph),
        ):
            with pytest.raises(ParameterError, match=message):
                call()
    with pytest.raises(ParameterError):
        rainbow.best(lonely, Privacy(1))
    assert rainbow.best(plain, Privacy(1)).gap <= SOLVER


@pytest.mark.parametrize(
    "utility",
    ["luck", None, [1, 2, 3], np.full((4, 3), np.nan), np.ones((3, 4)), [["x"] * 3] * 4, {9: {"a": 1}}, {0: {"z": 1}},
     {0: {"a": math.inf}}, {0: {"a": "much"}}, {0: {"a": 10**400}}, {0: 1.0}],
)  # fmt: skip
def test_utilities_that_are_none_are_refused(utility):
    """An unknown name, a wrong shape, weights that are no finite numbers, unknown vertices and answers."""
    with pytest.raises(ParameterError):
        rainbow.best(PATH, Privacy(1), utility)


@pytest.mark.parametrize(
    "prior",
    [[1, 2], np.zeros(4), [1, 1, 1, -1], [1, 1, 1, math.nan], {9: 1.0}, {0: math.inf}, {0: "x"}, {0: 10**400}, "x", {}],
)
def test_priors_that_are_none_are_refused(prior):
    """A wrong length, nothing but zeros, negative, NaN or infinite weights, an unknown vertex, no numbers."""
    with pytest.raises(ParameterError):
        rainbow.best_boundary(PATH, Privacy(1), prior)


def test_programs_need_epsilon_and_delta():
    """Gaussian DP is not linear, so there is no linear program; boundary rows need one budget; unknown utilities."""
    with pytest.raises(ParameterError, match="Gaussian"):
        rainbow.best(PATH, GaussianDP(1))
    for privacy in (GaussianDP(1), EdgePrivacy([1.0, 2.0, 1.0])):
        for choose in (rainbow.balanced_boundary, rainbow.best_boundary):
            with pytest.raises(ParameterError, match="one Privacy"):
                choose(PATH, privacy)
    with pytest.raises(ParameterError, match="utility must be"):
        rainbow.best_boundary(PATH, Privacy(1), utility="luck")
    mixed = dict(zip(PATH.edges, (Privacy(1), GaussianDP(1), Privacy(1)), strict=True))
    with pytest.raises(ParameterError, match="one notion of privacy"):
        rainbow.extend(PATH, mixed, GOOD)
