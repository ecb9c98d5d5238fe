"""Mechanisms in the words of other libraries: the promises survive the translation, and so does every digit."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import opendp.mod
import opendp.prelude as dp
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant, privacy_loss_distribution

from tinct import (
    DatasetGraph,
    Mechanism,
    NotPrivate,
    ParameterError,
    Privacy,
    balanced,
    exact,
    exists,
    graphs,
    majority,
    mode,
    threshold,
    verify,
)
from tinct.asking.designs import design
from tinct.exact import sampler
from tinct.interop import (
    dominating_pair,
    from_frame,
    measurement,
    privacy_event,
    privacy_loss,
    question_measurement,
    to_frame,
)
from tinct.interop.group_privacy import Promise
from tinct.numbers.bounds import float_above
from tinct.questions import Counts

TABLES = 60  # random tables; `make evidence` may raise it
if os.environ.get("TINCT_EVIDENCE"):
    TABLES = 2_000
ENDS = (math.nan, math.inf, -math.inf, -1, "", "no", None, True, 10**400, [], {})
REPLACE = privacy_accountant.NeighboringRelation.REPLACE_ONE


@pytest.fixture(autouse=True)
def _features():
    dp.enable_features("contrib", "honest-but-curious")


# a pair that dominates all neighbours


def random_certified(random: np.random.Generator) -> exact.Certified:
    """Any table of units on a random connected graph, certified for nothing but δ just below 1."""
    n, q, total = int(random.integers(2, 6)), int(random.integers(2, 5)), int(random.integers(8, 200))
    rows = random.multinomial(total, random.dirichlet(np.full(q, 0.4), n))
    ends = [(int(random.integers(v)), v) for v in range(1, n)]
    terms = (exact.Terms("1", Fraction(2), Fraction(total - 1, total)),)
    try:
        return exact.Certified(range(n), tuple("abcd"[:q]), rows, total, ends, [0] * len(ends), terms)
    except NotPrivate:  # two rows with nothing in common
        return random_certified(random)


def worst_delta(certified: exact.Certified, growth: Fraction) -> Fraction:
    """By definition: the largest P(S) − growth·Q(S) over all edges, both directions and all 2^q events."""
    worst = Fraction(0)
    for u, v, _ in certified.edges():
        for here, there in ((u, v), (v, u)):
            for event in itertools.product((0, 1), repeat=len(certified.outputs)):
                p = sum(n for n, inside in zip(certified.rows[here], event, strict=True) if inside)
                q = sum(n for n, inside in zip(certified.rows[there], event, strict=True) if inside)
                worst = max(worst, (p - growth * q) / Fraction(certified.denominator))
    return worst


def test_the_dominating_pair_has_the_largest_delta_of_any_edge_exactly():
    """For every growth, in rationals, against all events of all edges in both directions."""
    random = np.random.default_rng(0)
    for _ in range(TABLES):
        certified = random_certified(random)
        pair = dominating_pair(certified)
        assert sum(pair.upper) == certified.denominator
        assert sum(pair.lower) <= certified.denominator
        for growth in (Fraction(1, 3), Fraction(1), Fraction(9, 8), Fraction(2), Fraction(7), Fraction(500)):
            assert pair.delta(growth) == worst_delta(certified, growth)


def test_the_dominating_pair_is_its_own_mirror_image():
    """Neighbours are mutual, so the pair swapped has the same δ: δ(1/g) = 1 − (1 − δ(g))/g."""
    random = np.random.default_rng(1)
    for _ in range(TABLES):
        pair = dominating_pair(random_certified(random))
        for growth in (Fraction(1), Fraction(3, 2), Fraction(5)):
            assert pair.delta(1 / growth) == 1 - (1 - pair.delta(growth)) / growth


def test_floats_and_units_have_the_same_pair_up_to_rounding():
    """A Mechanism and its certificate."""
    for graph, privacy in ((graphs.line(4, 4), Privacy("ln 2", "0.01")), (graphs.hypercube(3, sum), Privacy(1))):
        if len(graph.outputs) > 2:
            graph = graph.recolored(lambda vertex: sum(vertex) >= 2)
        mechanism = balanced(graph, privacy)
        floats, units = dominating_pair(mechanism), dominating_pair(exact.certify(mechanism))
        for growth in (1, 2, 3):  # a table in floats is off by a few 1e-16, the grid by 2^−62
            assert float(floats.delta(growth)) == pytest.approx(float(units.delta(growth)), abs=1e-14)


def test_the_pair_of_a_line_is_randomized_response():
    """A balanced boundary edge is the worst there is."""
    pair = dominating_pair(exact.line(Privacy("ln 3"), bits=20))
    assert len(pair.upper) == 2
    # on a grid of 2^20 units the truth of the boundary is rounded by one unit at most
    assert abs(Fraction(pair.upper[0], pair.total) - Fraction(3, 4)) <= Fraction(1, 2**20)
    assert pair.upper == pair.lower[::-1]


def test_a_table_without_edges_reveals_nothing():
    """One dataset, or one answer."""
    alone = DatasetGraph([], {"a": "yes"}, outputs=("yes", "no"))
    pair = dominating_pair(Mechanism(alone, [[0.5, 0.5]]))
    assert (pair.upper, pair.lower, pair.delta(1)) == ((pair.total,), (pair.total,), 0)
    assert privacy_loss(Mechanism(alone, [[0.5, 0.5]])).get_epsilon_for_delta(0) == 0


# dp_accounting


def test_delta_of_the_privacy_loss_is_that_of_verify():
    """At multiples of the interval equal, in between not below and not above the chord."""
    random = np.random.default_rng(2)
    interval = 0.01
    cells = np.arange(0, 300, 7)
    for _ in range(TABLES // 3):
        certified = random_certified(random)
        edges = [(u, v) for u, v, _ in certified.edges()]
        colors = {v: certified.outputs[v % len(certified.outputs)] for v in certified.vertices}
        graph = DatasetGraph(edges, colors, outputs=certified.outputs)
        mechanism = Mechanism(graph, certified.table())
        verdict = verify(mechanism, graph, Privacy(0))
        for given in (certified, mechanism):
            loss = privacy_loss(given, interval=interval)
            found = loss.get_delta_for_epsilon(cells * interval)
            # both are sums of a few doubles
            np.testing.assert_allclose(found, verdict.profile(cells * interval), rtol=0, atol=2e-14)
            between = loss.get_delta_for_epsilon((cells + 0.5) * interval)
            assert (between >= verdict.profile((cells + 0.5) * interval) - 2e-14).all()
            assert (between <= found + 2e-14).all()


def test_the_privacy_loss_is_that_of_their_randomized_response():
    """For a balanced line, composed: dp_accounting's own construction is the independent oracle."""
    ours = privacy_loss(exact.line(Privacy("ln 3")), interval=1e-3)
    theirs = privacy_loss_distribution.from_randomized_response(0.5, 2, value_discretization_interval=1e-3)
    for count in (1, 10, 60):
        here, there = ours.self_compose(count), theirs.self_compose(count)
        for epsilon in (0.5, 1.0, 5.0, 20.0):
            # theirs rounds each loss up to the interval, so it may be worse by that much in each of the steps
            assert here.get_delta_for_epsilon(epsilon) <= there.get_delta_for_epsilon(epsilon) + 1e-12
            assert here.get_delta_for_epsilon(epsilon) >= there.get_delta_for_epsilon(epsilon + count * 1e-3) - 1e-12


def test_the_privacy_loss_dominates_each_edge_composed_with_itself():
    """Their distribution of a single edge, rounded down, is never worse than ours, also after composition."""
    random = np.random.default_rng(3)
    for _ in range(TABLES // 6):
        certified = random_certified(random)
        ours = privacy_loss(certified, interval=1e-2).self_compose(4)
        for u, v, _ in certified.edges():
            for here, there in ((u, v), (v, u)):
                upper, lower = (
                    {
                        y: math.log(n / certified.denominator) if n else -math.inf
                        for y, n in enumerate(certified.rows[at])
                    }
                    for at in (here, there)
                )
                edge = privacy_loss_distribution.from_two_probability_mass_functions(
                    lower, upper, pessimistic_estimate=False, value_discretization_interval=1e-2
                ).self_compose(4)
                for epsilon in (0.0, 0.5, 2.0):
                    # a Fourier transform may round by 1e-12
                    assert edge.get_delta_for_epsilon(epsilon) <= ours.get_delta_for_epsilon(epsilon) + 1e-11


def test_a_loss_without_end_has_exactly_its_mass():
    """δ of a selection: what cannot happen at 0 happens at 1 with probability δ."""
    loss = privacy_loss(exact.ray(Privacy("ln 2", "1/16")))
    assert loss.get_delta_for_epsilon(600.0) == pytest.approx(1 / 16, rel=1e-15)
    assert loss.get_epsilon_for_delta(1 / 32) == math.inf


def test_pure_privacy_has_no_infinite_loss():
    """At δ = 0 the loss is the ε that was promised, to one interval."""
    for epsilon in ("0.5", "0.1", "1/3", "ln 2", "3"):
        loss = privacy_loss(exact.line(Privacy(epsilon)))
        promised = Privacy(epsilon).epsilon
        assert promised - 1e-12 <= loss.get_epsilon_for_delta(0) <= promised + 1e-4


@pytest.mark.parametrize("interval", [*ENDS, 0, 2, 1e-10])
def test_bad_intervals_are_refused(interval):
    """An interval is a number in [1e-9, 1]."""
    with pytest.raises(ParameterError, match="interval must be a number"):
        privacy_loss(exact.line(Privacy(1), bits=12), interval=interval)


@pytest.mark.parametrize("given", [*ENDS, exact.line])
def test_only_mechanisms_have_a_loss(given):
    """Nothing else is taken for one."""
    for function in (dominating_pair, privacy_loss, privacy_event, measurement, to_frame):
        with pytest.raises(ParameterError, match="is needed"):
            function(given)


def test_the_event_is_as_revealing_as_the_mechanism():
    """The accountant's ε is at least that of the table, and no more than discretisation away, composed in any way."""
    certified = exact.line(Privacy("0.3"))
    event = privacy_event(certified)
    composed = privacy_loss(certified).self_compose(20)
    for events in (
        (event, 20),
        (dp_event.SelfComposedDpEvent(event, 20), 1),
        (dp_event.ComposedDpEvent([event] * 5), 4),
    ):
        accountant = pld_privacy_accountant.PLDAccountant()
        accountant.compose(*events)
        for delta in (1e-3, 1e-6):
            tight = composed.get_epsilon_for_delta(delta)
            assert tight - 1e-9 <= accountant.get_epsilon(delta) <= tight + 20 * 1e-4


def test_the_event_never_has_less_epsilon_than_promised():
    """Rounded up, and nothing at all is no event."""
    for epsilon in ("1/3", "ln 3", "0.1", "12"):
        event = privacy_event(exact.line(Privacy(epsilon)))
        amount = Privacy(epsilon).exact_epsilon
        assert Fraction(event.noise_parameter) >= Fraction(amount.split[0]) + Fraction(amount.split[1])
        assert event.noise_parameter == pytest.approx(float(amount), rel=1e-15)
    assert isinstance(privacy_event(exact.line(Privacy(0), bits=12)), dp_event.NoOpDpEvent)


def test_randomized_response_events_are_still_counted_once_elsewhere():
    """Why the event is another one: when this fails, dp_accounting counts them and the note can go."""
    one, many = (pld_privacy_accountant.PLDAccountant(REPLACE) for _ in range(2))
    one.compose(dp_event.RandomizedResponseDpEvent(0.5, 2))
    many.compose(dp_event.RandomizedResponseDpEvent(0.5, 2), 50)
    assert many.get_epsilon(1e-6) == one.get_epsilon(1e-6)


def test_no_event_claims_delta_away():
    """dp_accounting has none for δ > 0."""
    with pytest.raises(ParameterError, match="privacy_loss"):
        privacy_event(exact.line(Privacy(1, "1e-6")))


# OpenDP


def test_promises_hold_at_every_distance_of_a_certificate():
    """Rows k steps apart are (ε_k, δ_k)-close, in exact arithmetic and both directions."""
    for certified in (
        exact.line(Privacy("ln 2", "1/100"), bits=24),
        exact.ray(Privacy("1/2", "1/1000"), bits=24),
        exact.line(Privacy(0, "1/50"), bits=24),
        exact.line(Privacy("1/4"), bits=24),
    ):
        promise, rows = Promise.of(certified.terms), certified.rows
        for steps in (1, 2, 3, 7):
            epsilon, delta = promise.at(steps)
            growth, allowed = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 2**48)), Fraction(delta)
            for one, other in zip(rows, rows[steps:], strict=False):
                for here, there in ((one, other), (other, one)):
                    excess = sum(max(Fraction(0), p - growth * q) for p, q in zip(here, there, strict=True))
                    assert excess <= allowed * certified.denominator


def test_the_promise_at_a_distance_is_reached():
    """A selection starts at 0, where U applied k times is the δ of k steps while the first branch holds."""
    certified = exact.ray(Privacy("ln 2", "1/1000"))
    promise = Promise.of(certified.terms)
    for steps in (1, 2, 3, 5, 8):
        reached = certified.rows[steps][0] / certified.denominator
        assert promise.at(steps)[1] == pytest.approx(reached, rel=1e-11)  # the slack that is added upwards


def test_promises_are_rounded_up_only():
    """Floats never promise more privacy than the exact numbers."""
    for text in ("1/3", "0.1", "1/7", "2/3"):
        assert Fraction(Promise.of(exact.line(Privacy(text), bits=12).terms).epsilon) >= Fraction(text)
        assert Fraction(float_above(Fraction(text))) >= Fraction(text)
        assert Fraction(math.nextafter(float_above(Fraction(text)), 0)) < Fraction(text)
    assert Promise.of(exact.line(Privacy("ln 2"), bits=12).terms).epsilon > math.log(2)
    assert Promise(0.1, 0.0).at(3)[0] >= 3 * Fraction(0.1)
    assert Promise(1.0, 0.5).at(3) == (3.0, 1.0)
    assert Promise(600.0, 1e-300).at(5) == (3000.0, 1.0)


@pytest.mark.parametrize("steps", [*ENDS[:8], 1.0, 0.5])
def test_bad_distances_are_refused(steps):
    """A distance is a whole number; the map of a measurement passes the refusal on."""
    with pytest.raises(ParameterError, match="whole number"):
        Promise(1.0, 0.0).at(steps)


def entropy_again(monkeypatch):
    """The same bytes from the operating system, from the start again each time this is called."""
    random = np.random.default_rng(5)
    monkeypatch.setattr(sampler.os, "urandom", random.bytes)


def test_a_measurement_draws_what_the_certificate_draws(monkeypatch):
    """The same entropy gives the same answers, on a line and on a graph: there is no second sampler."""
    grid = exact.certify(balanced(graphs.hypercube(3, lambda v: sum(v) >= 2), Privacy("1/2", "1/100")))
    for certified, inputs in ((exact.line(Privacy("0.1")), range(-20, 20)), (grid, list(grid.vertices) * 4)):
        ours = measurement(certified)
        entropy_again(monkeypatch)
        expected = [certified.release(each) for each in inputs]
        entropy_again(monkeypatch)
        assert [ours(each) for each in inputs] == expected
        assert len(set(expected)) == 2


def test_the_privacy_map_is_the_promise():
    """ε for pure privacy, (ε, δ) otherwise, growing with the distance; nothing at distance 0."""
    pure, approximate = measurement(exact.line(Privacy("1/2"))), measurement(exact.line(Privacy("1/2", "1/8")))
    assert (pure.map(0), pure.map(1), pure.map(4)) == (0.0, 0.5, 2.0)
    assert approximate.map(1) == (0.5, 0.125)
    assert approximate.map(2)[1] == pytest.approx(0.125 * (1 + math.exp(0.5)), rel=1e-11)
    assert pure.check(d_in=1, d_out=0.5)
    assert not pure.check(d_in=1, d_out=0.499)
    uneven = balanced(graphs.line(2, 2), {(1, 2): Privacy(1), (2, 3): Privacy("1/2", "1/9"), (3, 4): Privacy(2)})
    assert measurement(exact.certify(uneven)).map(1) == (2.0, float_above(Fraction(1, 9)))


def test_a_measurement_chains_with_transformations():
    """A count of OpenDP, less a threshold, is a position on the line."""
    count = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=bool)), dp.symmetric_distance())
    chained = count >> measurement(exact.line(Privacy(1)))
    assert chained([True] * 500) == "yes"
    assert chained.map(2) == 2.0
    assert measurement(exact.line(Privacy(1)), number="i64")(-(10**12)) == "no"


def test_measurements_of_other_graphs_refuse_strangers_without_naming_them():
    """The dataset is the secret."""
    ours = measurement(exact.certify(balanced(graphs.line(2, 2), Privacy(1))))
    assert ours.input_domain.member(1)
    assert not ours.input_domain.member(7771)
    with pytest.raises(Exception, match="not one of the certificate's 4 vertices") as caught:
        ours(7771)
    assert "7771" not in str(caught.value)


QUESTIONS = [
    (majority("x"), {}),
    (threshold("x == 'yes'", 5), {}),
    (threshold("x == 'yes'", 5), {"neighbors": "replace", "n": 12}),
    (majority("x"), {"neighbors": "replace", "n": 12}),
    (exists("x == 'yes'"), {"delta": "1/100"}),
    (majority("x"), {"lean": "0.9", "epsilon": "2"}),
]


@pytest.mark.parametrize(("question", "options"), QUESTIONS)
def test_a_question_is_answered_as_ask_would(question, options, monkeypatch):
    """The same entropy and the same counts give the same answers; one step costs ε (and δ)."""
    wanted = {"epsilon": "1/4", "delta": 0, "neighbors": "add-remove", "n": None, "lean": None, **options}
    ours = question_measurement(question, **{"epsilon": "1/4", **options})
    made = design(
        question, Privacy(wanted["epsilon"], wanted["delta"]), wanted["neighbors"], wanted["n"], lean=wanted["lean"]
    )
    datasets = [[True] * t + [False] * (12 - t) for t in range(13)] * 3
    entropy_again(monkeypatch)
    expected = [made.draw(Counts(12, (sum(values), 12 - sum(values)))) for values in datasets]
    entropy_again(monkeypatch)
    assert [ours(values) for values in datasets] == expected
    pure = float(Fraction(wanted["epsilon"]))
    assert ours.map(1) == ((pure, 0.01) if wanted["delta"] else pure)
    assert ours.map(3) > ours.map(1)


def test_a_question_has_the_metric_of_its_neighbours():
    """Symmetric distance if people come and go, change-one distance of sized vectors if they are replaced."""
    assert question_measurement(majority("x"), 1).input_metric == dp.symmetric_distance()
    replace = question_measurement(majority("x"), 1, neighbors="replace", n=9)
    assert replace.input_metric == dp.change_one_distance()
    assert replace.input_domain == dp.vector_domain(dp.atom_domain(T=bool), size=9)
    assert {replace([True] * people) for people in (0, 8, 10, 50)} <= {"yes", "no"}  # no error tells the number


@pytest.mark.parametrize(
    ("question", "options", "words"),
    [
        (mode("x", ("a", "b")), {}, "yes/no question"),
        (7, {}, "yes/no question"),
        (majority("x"), {"neighbors": "replace"}, "needs n"),
        (majority("x"), {"neighbors": "sideways"}, "neighbors"),
        (majority("x"), {"n": 7}, "n"),
        (majority("x"), {"epsilon": math.nan}, "epsilon"),
        (majority("x"), {"epsilon": "-1"}, "epsilon"),
        (majority("x"), {"delta": math.inf}, "delta"),
        (threshold("x == 1", 10), {"neighbors": "replace", "n": 5}, "same answer"),
    ],
)
def test_bad_questions_are_refused(question, options, words):
    """With the parameter that is wrong."""
    with pytest.raises(ParameterError, match=words):
        question_measurement(question, **{"epsilon": 1, **options})


@pytest.mark.parametrize("number", [*ENDS[4:], "u8", "f64"])
def test_positions_are_whole_numbers(number):
    """Of 32 or 64 bits."""
    with pytest.raises(ParameterError, match="number must be one of i32, i64"):
        measurement(exact.line(Privacy(1), bits=12), number=number)


def test_unchecked_functions_must_be_accepted_by_the_user(monkeypatch):
    """It is not for tinct to switch OpenDP's features on."""
    monkeypatch.setattr(opendp.mod, "GLOBAL_FEATURES", set())
    with pytest.raises(ParameterError, match=r"enable_features\('contrib', 'honest-but-curious'\)"):
        measurement(exact.line(Privacy(1), bits=12))


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("opendp.prelude", lambda: measurement(exact.line(Privacy(1), bits=12))),
        ("dp_accounting", lambda: privacy_loss(exact.line(Privacy(1), bits=12))),
        ("dp_accounting", lambda: privacy_event(exact.line(Privacy(1), bits=12))),
        ("pandas", lambda: to_frame(balanced(graphs.line(1, 1), Privacy(1)))),
        ("polars", lambda: to_frame(balanced(graphs.line(1, 1), Privacy(1)), "polars")),
        ("pyarrow", lambda: to_frame(balanced(graphs.line(1, 1), Privacy(1)), "arrow")),
    ],
)
def test_a_missing_package_is_named(package, use, monkeypatch):
    """With what to install."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ParameterError, match=r"is not installed: pip install"):
        use()


# frames and graphs


LIBRARIES = ("pandas", "polars", "arrow")
LABELLED = [
    graphs.line(3, 2),
    graphs.hypercube(3, lambda vertex: sum(vertex) >= 2),
    DatasetGraph([("a", 1), (1, (2, "ü")), ("a", "=1+1")], {"a": "yes", 1: "no", (2, "ü"): "no", "=1+1": "yes"}),
    DatasetGraph([(0, 1)], {0: True, 1: False}),
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("graph", LABELLED)
def test_frames_keep_every_digit(graph, library):
    """There and back is the same table, also with the rows shuffled and without the colours."""
    mechanism = balanced(graph, Privacy("0.7", "0.001"))
    frame = to_frame(mechanism, library)
    assert np.array_equal(from_frame(frame, graph).table, mechanism.table)
    shuffled = pd.DataFrame(frame.to_pandas() if library != "pandas" else frame).iloc[::-1].drop(columns="color")
    for other in (shuffled, pl.from_pandas(shuffled), pa.Table.from_pandas(shuffled, preserve_index=False)):
        assert np.array_equal(from_frame(other, graph, privacy=mechanism.privacy).table, mechanism.table)


def test_frames_and_csv_have_the_same_columns(tmp_path):
    """One form for tables, on disk and in memory."""
    mechanism = balanced(LABELLED[2], Privacy(1))
    mechanism.to_csv(tmp_path / "table.csv")
    assert pd.read_csv(tmp_path / "table.csv").columns.tolist() == to_frame(mechanism).columns.tolist()


def frame(**columns):
    return pd.DataFrame({"vertex": [1, 2], "color": ["blue", "red"], "blue": [0.6, 0.5], "red": [0.4, 0.5], **columns})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (frame(vertex=[1, 1]), "every vertex needs one row"),
        (frame(vertex=[1, 9]), "9 is not a vertex"),
        (frame(vertex=[1, None]), "not a vertex|label"),
        (frame(color=["blue", "blue"]), "has the color 'blue' here, but 'red'"),
        (frame(blue=[0.6, math.nan]), "must hold probabilities"),
        (frame(blue=[0.6, math.inf]), "must hold probabilities"),
        (frame(blue=["0.6", "0.5"]), "must hold probabilities"),
        (frame(blue=[True, False]), "must hold probabilities"),
        (frame(blue=[0.7, 0.5]), "row 1 is not a distribution"),
        (frame(green=[0, 0]), "'green' is not an output"),
        (frame().drop(columns="red"), "no column 'red'"),
        (frame().iloc[:1], "every vertex needs one row"),
        (frame().iloc[:0], "every vertex needs one row"),
        ({"vertex": [1]}, "data frame"),
        (None, "data frame"),
        (math.nan, "data frame"),
        (pd.DataFrame([[1, 2], [3, 4]]), "data frame"),
    ],
)
def test_bad_frames_are_refused(given, words):
    """With the column or the vertex that is wrong."""
    with pytest.raises(ParameterError, match=words):
        from_frame(given, graphs.line(1, 1))


def test_frames_are_refused_where_names_would_clash():
    """An output called like a column of the frame."""
    graph = DatasetGraph([(0, 1)], {0: "vertex", 1: "color"})
    with pytest.raises(ParameterError, match="rename"):
        to_frame(balanced(graph, Privacy(1)))
    with pytest.raises(ParameterError, match="library must be one of"):
        to_frame(balanced(graphs.line(1, 1), Privacy(1)), "excel")


def test_networkx_and_scipy_give_back_the_graph_and_its_mechanism():
    """The same designs on the other side."""
    for graph in LABELLED:
        expected = balanced(graph, Privacy(1))
        there = DatasetGraph.from_networkx(graph.to_networkx(), outputs=graph.outputs)
        assert there.colors == graph.colors
        assert np.array_equal(balanced(there, Privacy(1)).table_on(graph), expected.table)
        colors = list(graph.colors.values())
        matrix = DatasetGraph.from_scipy(graph.to_scipy(), colors, vertices=list(graph.vertices))
        assert np.array_equal(balanced(matrix, Privacy(1)).table, expected.table)


# the command


def run(*arguments, **environment):
    return subprocess.run(
        arguments, capture_output=True, text=True, env={**os.environ, **environment}, check=False, timeout=120
    )


def test_the_module_is_the_command():
    """``python -m tinct`` does what ``tinct`` does."""
    design = ("design", "line:2,2", "--epsilon", "ln 2", "--json")
    module = run(sys.executable, "-m", "tinct", *design)
    command = run(str(Path(sys.executable).with_name("tinct")), *design)
    assert (module.returncode, module.stdout) == (command.returncode, command.stdout)
    assert json.loads(module.stdout)["datasets"] == 4


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell):
    """The script that a shell is given names tinct, and what it asks for is answered."""
    tinct = str(Path(sys.executable).with_name("tinct"))
    script = run(tinct, _TINCT_COMPLETE=f"source_{shell}")
    assert "tinct" in script.stdout
    for typed, place, wanted in (("tinct des", 1, "design"), ("tinct design --eps", 2, "--epsilon")):
        answered = run(
            tinct,
            _TINCT_COMPLETE=f"complete_{shell}",
            COMP_WORDS=typed,
            COMP_CWORD=str(place),
            _TYPER_COMPLETE_ARGS=typed,
            _TYPER_COMPLETE_FISH_ACTION="get-args",
        )
        assert wanted in answered.stdout


def test_bash_completes_when_it_has_read_the_script():
    """The whole way, in the shell that every machine has."""
    folder = Path(sys.executable).parent
    steps = (
        f'PATH="{folder}:$PATH"; eval "$(_TINCT_COMPLETE=source_bash tinct)"; '
        'COMP_WORDS=(tinct des); COMP_CWORD=1; _tinct_completion tinct; echo "${COMPREPLY[@]}"'
    )
    assert run("bash", "-c", steps).stdout.split() == ["describe", "design"]
