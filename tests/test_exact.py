"""The grid: integers that are private without tolerance, and the best among all private integers.

``TINCT_EVIDENCE=1`` raises the number of instances to what the documentation claims.
"""

from __future__ import annotations

import math
import os
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, permutations, product

import mpmath
import numpy as np
import pytest

import naive
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
    balanced,
    baselines,
    exact,
    extend,
    graphs,
    rainbow,
)
from tinct.exact._certify import repaired, rounded
from tinct.exact.grid import (
    KERNEL_LIMIT,
    GridGraph,
    GridPair,
    best_neighbor,
    least_units,
    least_units_by_heap,
    rows_by_distance,
    units,
)
from tinct.graphs import EdgeClasses
from tinct.linear_programs import PrivateTables
from tinct.numbers.bounds import BITS, exp_above, exp_below, growth_below
from tinct.privacy import Amount

FULL = os.environ.get("TINCT_EVIDENCE") == "1"
GROWTHS = [Fraction(*pair) for pair in ((1, 1), (101, 100), (7, 6), (3, 2), (2, 1), (13, 5), (7, 1), (100, 1))]


def several(few, many):
    """How many instances: a few, or as many as the documentation claims."""
    return many if FULL else few


def close(a, b, pair):
    """(ε, δ)-DP of two rows with a and b units of the first answer, by definition and in whole numbers."""
    up, down, total = pair.growth.numerator, pair.growth.denominator, pair.total
    return all(
        down * mine <= up * theirs + down * pair.shift
        for one, other in ((a, b), (b, a))
        for mine, theirs in ((one, other), (total - one, total - other))
    )


@cache
def closeness(pair):
    """For all pairs of values on a small grid whether they are close."""
    sizes = range(pair.total + 1)
    return np.array([[close(a, b, pair) for b in sizes] for a in sizes])


def require_private(certified, terms=None):
    """A certified table is private by definition: every event, every edge, both directions, in whole numbers."""
    rows = certified.rows
    for u, v, number in certified.edges():
        term = (terms or certified.terms)[number]
        allowed = math.floor(term.delta * certified.denominator)
        for one, other in ((rows[u], rows[v]), (rows[v], rows[u])):
            assert naive.hockey_stick(one, other, term.growth) <= allowed


# one edge


def test_grid_pair_is_suitable_and_maximal():
    """On small grids Ũ and L̃ are the largest and smallest close values, monotone, and a suitable pair.

    All N up to 12 (24 with evidence), eight R, every D: closeness is enumerated by definition.
    """
    for total, growth in product(range(2, several(13, 25)), GROWTHS):
        for shift in range(total):
            pair = GridPair(total, growth, shift)
            sizes = range(total + 1)
            upper, lower = [pair.upper(a) for a in sizes], [pair.lower(a) for a in sizes]
            table = closeness(pair)
            assert upper == [max(np.flatnonzero(row).tolist()) for row in table]
            assert lower == [min(np.flatnonzero(row).tolist()) for row in table]
            assert all(table[a, lower[a] : upper[a] + 1].all() for a in sizes)
            assert upper == sorted(upper)
            for a in sizes:
                assert lower[a] <= a <= upper[a]
                assert lower[upper[a]] <= a <= upper[lower[a]]
                assert upper[total - upper[a]] >= total - a
                assert upper[a] <= total - lower[total - a]


def test_balance_is_the_largest_truth_two_neighbours_can_share():
    """By trying all truths; on an odd grid without growth nobody can, and the answer is just below the half."""
    for total, growth, shift in product(range(2, several(16, 40)), GROWTHS, range(3)):
        pair = GridPair(total, growth, min(shift, total - 1))
        possible = [t for t in range(total + 1) if close(t, total - t, pair)]
        assert pair.balance() == max(possible, default=total // 2)


def test_iterated_grid_pair_stays_within_the_stated_bound():
    """N·U^d((a − c)/N) − R·c ≤ Ũ^d(a) ≤ N·U^d(a/N) with c = 1/(R − 1), in exact rationals (docs/proofs/grid.md)."""
    rng = np.random.default_rng(1)
    small = [(total, growth, shift) for total in range(2, 10) for growth in GROWTHS[1:] for shift in range(3)]
    large = [
        (2 ** int(rng.integers(4, 70)), 1 + Fraction(int(rng.integers(1, 10**6)), 10**6), int(rng.integers(0, 5)))
        for _ in range(several(60, 600))
    ]
    compared = 0
    for total, growth, shift in (*small, *large):
        pair = GridPair(total, growth, min(shift, total - 1))
        step = partial(naive.upper, growth=growth, delta=Fraction(pair.shift, total))
        lost = 1 / (growth - 1)
        starts = range(total + 1) if total < 10 else [int(rng.integers(0, min(total, 10**18))) for _ in range(3)]
        for a in starts:
            above, below, found = Fraction(a, total), (a - lost) / total, a
            for _ in range(12):
                above, below, found = step(above), step(below), pair.upper(found)
                assert below * total - growth * lost <= found <= above * total
                compared += 1
            assert pair.reach(12, a) == found
    assert compared > 15_000


def test_few_units_never_grow():
    """With D = 0, fewer than 1/(R − 1) units stay as they are: 5 of 2^62 at R = 1.1 (docs/theory.md §5)."""
    pair = GridPair(2**62, Fraction(11, 10), 0)
    assert pair.reach(10**6, 5) == 5
    assert pair.upper(9) == 9
    assert pair.upper(10) == 11


def test_growth_beyond_the_grid_changes_nothing():
    """R is cut at N: no pair of values becomes close or stops being so."""
    for total, shift in product(range(2, 12), range(2)):
        cut, huge = GridPair(total, Fraction(total), shift), GridPair(total, Fraction(10**9), shift)
        assert np.array_equal(closeness(cut), closeness(huge))
        found = GridPair.of(Privacy(700, Fraction(shift, total)), total)
        assert found == cut


@pytest.mark.parametrize("given", [float("nan"), float("inf"), -1, 0, True, "62", 4097, 10**400, None, 2.0])
def test_bits_are_whole_numbers_in_range(given):
    """Anything else is refused, for bits and for totals."""
    with pytest.raises(ParameterError, match="bits"):
        units(given)
    if given is not None and not (type(given) is int and 2 <= given <= 2**4096):
        with pytest.raises(ParameterError, match="total"):
            units(total=given)


def test_only_epsilon_and_delta_have_a_grid():
    """Gaussian privacy is refused by every exact designer."""
    graph = graphs.line(2, 2)
    for design in (partial(exact.balanced, graph), exact.line, exact.ray):
        with pytest.raises(ParameterError, match="differential privacy"):
            design(GaussianDP(1.0))


# e to a rational power


def _amounts(rng, count):
    yield from map(Fraction, ("0", "1/3", "1", "2", "700", "699.999", "1e-9", "1e-18", "1e-300"))
    for _ in range(count):
        yield Fraction(float(10.0 ** rng.uniform(-12, 2.8)))
        yield Fraction(int(rng.integers(1, 10**9)), int(rng.integers(10**7, 10**12)))


def test_exponentials_are_rounded_in_the_direction_they_claim():
    """exp_below ≤ e^x ≤ exp_above with relative errors below 2^−bits, against mpmath with 500 digits."""
    rng = np.random.default_rng(2)
    with mpmath.workdps(500):
        for x in _amounts(rng, several(150, 3000)):
            true = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            for bits in (8, 61, 200):
                low, high = exp_below(x, bits), exp_above(x, bits)
                low, high = (mpmath.mpf(value.numerator) / value.denominator for value in (low, high))
                assert low <= true <= high
                assert true - low < true * mpmath.mpf(2) ** -bits
                assert high - true < true * mpmath.mpf(2) ** -bits


def test_growth_is_below_the_exponential_by_less_than_its_last_bit():
    """R ≤ e^ε < R(1 + 2^−59), R fits a word up to 2^61, and a larger ε never has a smaller R."""
    rng = np.random.default_rng(3)
    found = []
    with mpmath.workdps(400):
        for x in _amounts(rng, several(150, 3000)):
            growth = growth_below(Amount.parse(x, "epsilon"))
            true = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            ratio = true * growth.denominator / growth.numerator
            assert 1 <= ratio < 1 + mpmath.mpf(2) ** (2 - BITS)
            assert growth >= 1
            assert growth.numerator.bit_length() <= BITS or growth > 2**61
            found.append((x, growth))
    ordered = [growth for _, growth in sorted(found)]
    assert ordered == sorted(ordered)


def test_growth_of_a_logarithm_is_the_number_itself():
    """Ln 3/2 is exactly 3/2; only a rational too long for a word is rounded, down."""
    assert growth_below(Amount.parse("ln 3/2", "epsilon")) == Fraction(3, 2)
    long = Fraction(10**40 + 1, 10**40 - 3)
    cut = growth_below(Amount.parse(Amount(long, is_log=True), "epsilon"))
    assert cut <= long < cut * (1 + Fraction(1, 2**59))


# the extension


def _tables(total, n):
    """Every table of units of the first colour."""
    return np.array(list(product(range(total + 1), repeat=n)))


def _private_tables(case, pairs, total):
    tables = _tables(total, case.n)
    good = np.ones(len(tables), bool)
    for (u, v), pair in zip(case.edges, pairs, strict=True):
        good &= closeness(pair)[tables[:, u], tables[:, v]]
    return tables[good]


def _truth(tables, codes, total):
    return np.where(np.array(codes) == 0, tables, total - tables)


def _edge_pairs(case, total):
    return [GridPair.of(Privacy(*budget), total) for budget in zip(case.epsilons, case.deltas, strict=True)]


def test_extension_beats_every_table_of_the_grid():
    """Of all private tables with the same fixed values none is more truthful anywhere: all tables are enumerated.

    Values that contradict each other are lowered to the largest ones below them that some private table has.
    """
    rng = np.random.default_rng(4)
    extendable = 0
    for _ in range(several(150, 1500)):
        case = strategies.random_case(rng, at_most=5)
        total = int(rng.integers(2, 9 if case.n < 5 else 7))
        grid = GridGraph.of(case.graph, case.privacy, total)
        chosen = strategies.random_hitting_set(rng, case)
        private = _private_tables(case, _edge_pairs(case, total), total)
        if rng.random() < 0.6 and len(private):
            given = private[int(rng.integers(len(private)))][chosen]
        else:
            given = rng.integers(0, total + 1, len(chosen))
        found = grid.extended(np.array(chosen, np.intp), given.tolist())[:, 0].tolist()
        assert found in private.tolist()
        same = private[(private[:, chosen] == given).all(axis=1)]
        if not len(same):
            below = private[(private[:, chosen] <= given).all(axis=1)]
            lowered = below[:, chosen].max(axis=0)
            assert [found[v] for v in chosen] == lowered.tolist()
            same = private[(private[:, chosen] == lowered).all(axis=1)]
        else:
            extendable += 1
            exactly = {v: Fraction(int(units), total) for v, units in zip(chosen, given, strict=True)}
            certified = exact.extend(case.graph, case.privacy, exactly, total=total)
            assert [row[0] for row in certified.rows] == found
        best = _truth(same, case.codes, total).max(axis=0)
        assert _truth(np.array(found), case.codes, total).tolist() == best.tolist()
    assert extendable > several(60, 600)


def test_balanced_is_undominated_up_to_units():
    """No private table of the grid is at least as truthful everywhere and better by more than two units anywhere."""
    rng = np.random.default_rng(5)
    raised = 0
    for _ in range(several(120, 1200)):
        case = strategies.random_case(rng, at_most=5)
        total = 2 * int(rng.integers(1, 5 if case.n < 5 else 4))
        found = exact.balanced(case.graph, case.privacy, total=total)
        require_private(found)
        truths = _truth(_private_tables(case, _edge_pairs(case, total), total), case.codes, total)
        mine = _truth(np.array(found.rows)[:, 0], case.codes, total)
        above = truths[(truths >= mine).all(axis=1)]
        assert (above - mine).max() <= 2
        raised += int(len(above) > 1)
    assert raised < several(30, 300)  # and seldom by any


def test_grid_optimum_is_within_the_bound_of_the_real_one():
    """Truths of ``exact.extend`` between the real optimum from lowered sources and the real one, in exact rationals.

    Random graphs, a budget for each edge, N from 2^20 to 2^80. With the same fixed values in units the real optimum
    for R and D/N is an upper bound; from sources lowered by c = max 1/(R − 1) and less R·c it is a lower bound.
    And the float optimum agrees to 1e-9 where N is 2^62 or more.
    """
    rng = np.random.default_rng(6)
    compared = 0
    for _ in range(several(60, 1000)):
        case = strategies.random_case(rng, at_most=10)
        bits = int(rng.choice([20, 40, 62, 63, 80]))
        total = 2**bits
        values = strategies.random_private(rng, case)
        fixed = {v: float(values[v]) for v in strategies.random_hitting_set(rng, case)}
        proposal = extend(case.graph, case.privacy, fixed)
        try:
            found = exact.extend(case.graph, case.privacy, fixed, bits)
        except NotPrivate:
            assert bits < 62
            continue
        first = [row[0] for row in found.rows]
        pairs = _edge_pairs(case, total)
        steps = [partial(naive.upper, growth=p.growth, delta=Fraction(p.shift, total)) for p in pairs]
        losses = [1 / (pair.growth - 1) for pair in pairs if pair.growth > 1]
        lost = max(losses, default=Fraction(0))
        for code in (0, 1):
            sources = {v: first[v] if code == 0 else total - first[v] for v in fixed}
            above = naive.envelope(case.n, case.edges, steps, {v: Fraction(n, total) for v, n in sources.items()})
            below = naive.envelope(case.n, case.edges, steps, {v: (n - lost) / total for v, n in sources.items()})
            for v in range(case.n):
                if case.codes[v] == code and v not in fixed:
                    truth = first[v] if code == 0 else total - first[v]
                    assert below[v] * total - lost - 1 <= truth <= above[v] * total
                    compared += 1
        if bits >= 62:
            np.testing.assert_allclose(found.table(), proposal.table, rtol=0, atol=1e-9)
        assert found.loss <= float(GridGraph.of(case.graph, case.privacy, total).price)
    assert compared > several(100, 2000)


def test_kernel_and_heap_agree_on_every_grid():
    """The kernel's 64-bit halves against Python's integers, up to the largest grid the kernel takes."""
    rng = np.random.default_rng(7)
    for _ in range(several(80, 800)):
        case = strategies.random_case(rng, at_most=14)
        total = int(rng.choice([3, 1000, 2**31, 2**32 + 1, 2**61 - 1, KERNEL_LIMIT]))
        grid = GridGraph.of(case.graph, case.privacy, total)
        start = np.array([int(rng.integers(0, total + 1)) if rng.random() < 0.4 else total for _ in range(case.n)])
        arguments = (case.graph, grid.pairs, grid.classes, start, total)
        assert least_units(*arguments).tolist() == least_units_by_heap(*arguments).tolist()


def test_odd_totals_without_growth_give_up_one_unit():
    """ε = 0 on an odd grid: no truth can be shared, so one colour gets the unit; the table is constant and private."""
    found = exact.balanced(graphs.line(2, 2), Privacy(0), total=3)
    assert found.rows == [[1, 2]] * 4


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 1.1, "1e400", None, "x", True, 10**400])
def test_fixed_values_must_be_probabilities(value):
    """NaN, infinities, what is outside [0, 1] and what is no number are refused."""
    with pytest.raises(ParameterError):
        exact.extend(graphs.line(2, 2), Privacy(1), {2: value})


def test_extend_says_what_is_wrong():
    """Uncovered edges, contradictions, strangers, and grids too coarse for the values."""
    line, privacy = graphs.line(2, 2), Privacy(1)
    with pytest.raises(ParameterError, match="not covered"):
        exact.extend(line, privacy, {1: "1/2"})
    with pytest.raises(NotExtendable):
        exact.extend(line, privacy, {2: "99/100", 3: "1/100"})
    with pytest.raises(ParameterError):
        exact.extend(line, privacy, {7: "1/2"})
    few = dict.fromkeys((120, 121), Fraction(1, 10**12))  # a single unit, which never grows
    with pytest.raises(NotPrivate, match="more bits"):
        exact.extend(graphs.line(120, 1), Privacy("ln 1.1"), few, bits=40)


# more than two answers


def _rows(total, width):
    if width == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _rows(total - first, width - 1)]


def _close_rows(rows, pair):
    """For all pairs of rows whether they are close, by the sum of excesses in both directions."""
    table = np.array(rows, np.int64)
    up, down = pair.growth.numerator, pair.growth.denominator
    over = np.maximum(0, down * table[:, None] - up * table[None]).sum(axis=2) <= down * pair.shift
    return over & over.T


def test_best_neighbor_is_private_never_dominated_and_maximal_when_it_can_be():
    """Every row of small grids: close, not dominated by any close row, and the maximum whenever there is one.

    With D = 0 there always is one. S_k ≥ Ũ(s_k) − max(k − 1, q − k − 1).
    """
    cases = without = 0
    sizes = {2: 12, 3: 9, 4: 6, 5: several(4, 6), 6: several(2, 4)}
    for width, largest in sizes.items():
        for total in range(2, largest + 1):
            rows = _rows(total, width)
            sums = np.cumsum(rows, axis=1)
            number = {row: at for at, row in enumerate(rows)}
            for growth, shift in product(GROWTHS[1:7], range(min(3, total))):
                pair = GridPair(total, growth, shift)
                table = _close_rows(rows, pair)
                for at, row in enumerate(rows):
                    found = tuple(best_neighbor(pair, row))
                    mine = number[found]
                    assert table[at, mine], (pair, row)
                    rivals = sums[table[at]]
                    above = (rivals >= sums[mine]).all(axis=1) & (rivals > sums[mine]).any(axis=1)
                    assert not above.any(), (pair, row)
                    best = rivals.max(axis=0)
                    if (rivals == best).all(axis=1).any():
                        assert (sums[mine] == best).all(), (pair, row)
                    else:
                        assert shift > 0
                        assert width > 3
                        without += 1
                    for k in range(1, width):
                        slack = max(k - 1, width - k - 1)
                        assert sums[mine][k - 1] >= pair.upper(int(sums[at][k - 1])) - slack
                    cases += 1
    assert cases > 10_000
    assert without > 0


def test_best_neighbor_of_two_answers_is_the_grid_pair():
    """For q = 2 the operator is Ũ."""
    for total, growth, shift in product(range(2, 14), GROWTHS, range(3)):
        pair = GridPair(total, growth, min(shift, total - 1))
        for a in range(total + 1):
            assert best_neighbor(pair, [a, total - a]) == [pair.upper(a), total - pair.upper(a)]


def test_rows_by_distance_are_private_steps():
    """Consecutive rows are close, prefix sums never fall, and a row that stops changing stays."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        width, total = int(rng.integers(2, 6)), int(rng.integers(2, 10**6))
        cuts = np.sort(rng.integers(0, total + 1, width - 1))
        row = np.diff([0, *cuts, total]).tolist()
        pair = GridPair(total, GROWTHS[int(rng.integers(1, 7))], int(rng.integers(0, min(4, total))))
        rows = rows_by_distance(pair, row, 12)
        assert len(rows) == 13
        assert rows[0] == row
        for one, other in pairwise(rows):
            assert naive.hockey_stick(one, other, pair.growth) <= pair.shift
            assert naive.hockey_stick(other, one, pair.growth) <= pair.shift
            assert (np.cumsum(other) >= np.cumsum(one)).all()


# certify


def _moved(certified, table):
    """The largest change of a probability, in exact arithmetic."""
    return max(
        abs(Fraction(n, certified.denominator) - Fraction(p))
        for row, given in zip(certified.rows, np.asarray(table).tolist(), strict=True)
        for n, p in zip(row, given, strict=True)
    )


def _orders_graph():
    orders = [tuple(order) for order in permutations("abc")]
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 0)]
    return DatasetGraph(edges, {v: orders[v // 3] for v in range(9)}, outputs="abc")


def _designs():
    """Mechanisms of every kind with budgets they keep to, at least to a solver's tolerance."""
    line, cube = graphs.majority(12), graphs.hypercube(4, lambda bits: sum(bits) >= 2)
    ring = _orders_graph()
    three = DatasetGraph([(0, 1), (1, 2), (2, 0), (2, 3)], {0: "a", 1: "b", 2: "c", 3: "c"})
    privacy, loose = Privacy("ln 2"), Privacy(1, 0.01)
    yield "balanced", balanced(line, privacy), privacy
    yield "balanced, δ", balanced(cube, loose), loose
    yield "extend", extend(line, privacy, {6: 0.6, 7: 0.5}), privacy
    classes = EdgeClasses([privacy, loose], np.arange(len(cube.ends)) % 2)
    yield "classes", balanced(cube, classes), classes
    yield "improved", extend(cube, loose, dict.fromkeys(cube.boundary().vertices, 0.5)), loose
    yield "rainbow by order", rainbow.extend(ring, loose, rainbow.balanced_boundary(ring, loose)), loose
    by_vertex = {v: rainbow.balanced_boundary(ring, privacy)[ring.colors[v]] for v in ring.boundary().vertices}
    yield "rainbow by vertex", rainbow.extend(ring, privacy, by_vertex), privacy
    yield "rainbow best", rainbow.best(ring, loose), loose
    yield "three colours", rainbow.best(three, loose), loose
    for baseline in (baselines.randomized_response, baselines.geometric, baselines.laplace):
        yield baseline.__name__, baseline(line, privacy), privacy
    constant = Mechanism(ring, np.full((9, 3), 1 / 3))
    yield "constant", constant, Privacy(0)


@pytest.mark.parametrize(("name", "mechanism", "privacy"), list(_designs()), ids=lambda value: str(value)[:20])
@pytest.mark.parametrize("bits", [40, 62, 80])
def test_certify_keeps_every_design_private_and_near(name, mechanism, privacy, bits):
    """Private by definition, no probability moved by more than the stated loss, and by at most 1e-9."""
    certified = exact.certify(mechanism, privacy=privacy, bits=bits)
    require_private(certified)
    assert certified.vertices is mechanism.graph.vertices
    assert certified.outputs == mechanism.outputs
    moved = _moved(certified, mechanism.table)
    assert moved <= Fraction(certified.loss) + Fraction(1, 10**15)
    assert moved <= GridGraph.of(mechanism.graph, privacy, 2**bits).price
    if bits >= 62:
        assert moved <= Fraction(1, 10**9)
    assert exact.check(certified) == certified.proof


def test_certified_optimum_is_the_grid_optimum():
    """Certify of ``balanced`` is ``exact.balanced``, of ``extend`` it is ``exact.extend``, unit for unit."""
    rng = np.random.default_rng(9)
    for _ in range(several(40, 400)):
        case = strategies.random_case(rng, at_most=9)
        graph = case.graph
        assert exact.certify(balanced(graph, case.privacy)).rows == exact.balanced(graph, case.privacy).rows
        values = strategies.random_private(rng, case)
        fixed = {v: float(values[v]) for v in strategies.random_hitting_set(rng, case)}
        boundary = sorted(naive.boundary_vertices(case.edges, case.codes))
        if sorted(fixed) == boundary:
            continue
        mine = exact.extend(graph, case.privacy, fixed)
        theirs = exact.certify(extend(graph, case.privacy, fixed))
        assert np.abs(np.array(mine.rows) - np.array(theirs.rows)).max() <= 2**62 // 10**15


def test_raw_tables_of_linear_programs_are_mended():
    """A majority of 100 voters straight from the solver, with its zeros and violations, becomes private units.

    The repair moves no probability by more than the stated loss.
    """
    graph = graphs.majority(100)
    for privacy, loss in ((Privacy(0.5), 1e-6), (Privacy("ln 3", 1e-6), 1e-6)):
        weights = np.zeros((101, 2))
        weights[np.arange(101), graph.coloring.codes] = 1.0
        table = PrivateTables(graph, privacy).maximize(weights).table
        for spoilt in (table, np.where(table < 1e-7, 0.0, table)):
            rows = spoilt / spoilt.sum(axis=1, keepdims=True)
            certified = exact.certify(rows, graph, privacy, loss=loss)
            require_private(certified)
            assert _moved(certified, rows) <= Fraction(loss)


def test_random_programs_are_mended_or_refused():
    """LP tables for random utilities, raw: certified within the loss, never further."""
    rng = np.random.default_rng(10)
    for _ in range(several(25, 250)):
        case = strategies.random_case(rng, at_most=7)
        epsilons = [max(epsilon, 0.05) for epsilon in case.epsilons]
        privacy = EdgePrivacy(epsilons, case.deltas)
        table = PrivateTables(case.graph, privacy).maximize(rng.normal(size=(case.n, 2))).table
        certified = exact.certify(table, case.graph, privacy, loss="1e-6")
        require_private(certified)
        assert _moved(certified, table) <= Fraction(1, 10**6)


def test_noise_of_a_last_digit_is_forgiven():
    """An optimal table with noise of 1e-12 on every entry, for two answers and for three."""
    rng = np.random.default_rng(11)
    for _, mechanism, privacy in _designs():
        if privacy == Privacy(0):  # no room at all: see below
            continue
        table = mechanism.table * (1 + 1e-12 * rng.uniform(-1, 1, mechanism.table.shape))
        table /= table.sum(axis=1, keepdims=True)
        certified = exact.certify(table, mechanism.graph, privacy)
        require_private(certified)
        assert _moved(certified, table) <= Fraction(1, 10**9)


def test_tables_that_are_not_private_are_refused():
    """By 1e-6 or by far, for two answers and three, and with nothing to mend with; the error has an edge."""
    for _, mechanism, privacy in _designs():
        other = mechanism.table.copy()
        other[0] = 0.0
        other[0, int(np.argmin(mechanism.table[0]))] = 1.0
        with pytest.raises(NotPrivate) as caught:
            exact.certify(other, mechanism.graph, privacy)
        assert caught.value.witness is not None
    with pytest.raises(NotPrivate, match="not private"):
        exact.certify(balanced(graphs.line(3, 3), Privacy(1.00001)), privacy=Privacy(1))
    ring = _orders_graph()
    noisy = np.full((9, 3), 1 / 3) + np.arange(27).reshape(9, 3) * 1e-7
    with pytest.raises(NotPrivate):  # ε = 0 leaves nothing to mend with
        exact.certify(noisy / noisy.sum(axis=1, keepdims=True), ring, Privacy(0))


def test_loss_is_an_exact_limit():
    """A table moved by exactly the loss passes, by any less than that fails; 0 accepts only tables on the grid."""
    line = graphs.line(1, 1)
    on_grid = [[0.75, 0.25], [0.5, 0.5]]
    assert exact.certify(on_grid, line, Privacy(1), loss=0, bits=4).rows == [[12, 4], [8, 8]]
    off_grid = [[0.625, 0.375], [0.5, 0.5]]
    certified = exact.certify(off_grid, line, Privacy(1), total=4, loss="1/8")
    assert _moved(certified, off_grid) == Fraction(1, 8)
    with pytest.raises(NotPrivate, match="units"):
        exact.certify(off_grid, line, Privacy(1), total=4, loss=Fraction(1, 8) - Fraction(1, 10**30))


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -1e-9, 1.5, "x", True, [], "1e500"])
def test_loss_must_be_a_probability(loss):
    """NaN, infinities and what is outside [0, 1] are refused."""
    with pytest.raises(ParameterError, match="loss"):
        exact.certify(balanced(graphs.line(1, 1), Privacy(1)), loss=loss)


def test_certify_needs_a_graph_and_a_budget():
    """A bare table needs a graph; a mechanism that was designed for nothing needs a budget; Gaussian DP has none."""
    with pytest.raises(ParameterError, match="graph"):
        exact.certify([[0.5, 0.5]])
    with pytest.raises(ParameterError, match="privacy"):
        exact.certify([[0.5, 0.5], [0.5, 0.5]], graphs.line(1, 1))
    with pytest.raises(ParameterError, match="differential"):
        exact.certify(balanced(graphs.line(1, 1), GaussianDP(1.0)))
    for table in ([[math.nan, 1.0], [0.5, 0.5]], [], [["x", 1], [0, 1]], [[0.6, 0.5], [0.5, 0.5]]):
        with pytest.raises(ParameterError):
            exact.certify(table, graphs.line(1, 1), Privacy(1))


def test_orders_without_boundary_and_in_pieces():
    """One order everywhere is certain; a piece without boundary does not disturb the others."""
    alone = DatasetGraph([(0, 1)], {0: ("a", "b", "c"), 1: ("a", "b", "c")}, outputs="abc")
    certain = exact.certify([[1.0, 0, 0], [1.0, 0, 0]], alone, Privacy(1), bits=4)
    assert certain.rows == [[16, 0, 0]] * 2
    pieces = DatasetGraph(
        [(0, 1), (2, 3), (3, 4)],
        {v: ("a", "b", "c") if v < 4 else ("b", "a", "c") for v in range(5)},
        disconnected=True,
    )
    privacy = Privacy("ln 2")
    mechanism = rainbow.extend(pieces, privacy, rainbow.balanced_boundary(pieces, privacy))
    certified = exact.certify(mechanism)
    require_private(certified)
    assert certified.rows[0] == [2**62, 0, 0]
    assert certified.loss < 1e-15


def test_extreme_grids_are_served():
    """From 2 units a row to 2^4096, at ε up to 700."""
    line = graphs.line(3, 3)
    for privacy in (Privacy(1), Privacy(700), Privacy("1e-9"), Privacy(0, "1/7"), Privacy(0)):
        for total in (2, 3, 2**62, 2**62 + 1, 2**63, 2**64 + 1, 2**4096):
            require_private(exact.balanced(line, privacy, total=total))
    certified = exact.certify(balanced(line, Privacy(1)), bits=2000)
    assert _moved(certified, balanced(line, Privacy(1)).table) < Fraction(1, 10**9)


@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_budgets_too_long_for_a_file_are_refused_at_once(name):
    """What could not be read back is not certified."""
    long = Fraction(1, 10**1300)
    privacy = Privacy(long) if name == "epsilon" else Privacy(1, long)
    with pytest.raises(ParameterError, match=f"{name} has more than"):
        exact.balanced(graphs.line(1, 1), privacy)


def test_rounding_keeps_totals_and_mixing_keeps_its_promise():
    """Rounded rows sum to N; mended rows are private, and are the rounded ones where those were private already."""
    rng = np.random.default_rng(12)
    for _ in range(50):
        table = rng.dirichlet(np.ones(4), 3)
        for total in (2, 7, 10**6, 2**70):
            rows = rounded(table.tolist(), total)
            assert [sum(row) for row in rows] == [total] * 3
            assert np.abs(np.array(rows, float) / total - table).max() <= 4 / total + 1e-15
    same = rounded([[0.5, 0.25, 0.25]] * 2, 2**62)
    terms = exact.balanced(graphs.line(1, 1), Privacy(1)).terms
    assert repaired(same, 2**62, [(0, 1, 0)], terms, 1e-9) is same


# families


def test_families_are_the_extension_of_a_long_line():
    """``line`` and ``ray`` row by row against the slow iteration, and against the whole graph."""
    for privacy, bits in product((Privacy("ln 2"), Privacy(1, 0.01), Privacy(0, 0.05), Privacy(3)), (3, 10, 20)):
        family = exact.line(privacy, bits=bits)
        require_private(family)
        pair = GridPair.of(privacy, 2**bits)
        truth = pair.balance()
        for v, row in zip(family.vertices, family.rows, strict=True):
            assert row[0 if v >= 0 else 1] == pair.reach(v if v >= 0 else -v - 1, truth)
        half = len(family.vertices) // 2
        whole = exact.balanced(graphs.line(half, half), privacy, bits)
        assert whole.rows == family.rows[::-1]
        first, last = family.rows[-1][0], family.rows[0][1]
        assert pair.upper(first) == first == last


def test_leaning_lines_give_the_other_side_all_that_is_left():
    """The truth at 0 is as asked, the one at −1 is the largest that is close, by trying all."""
    pair = GridPair.of(Privacy("ln 2"), 2**6)
    for here in range(1, 2**6):
        family = exact.line(Privacy("ln 2"), lean=Fraction(here, 2**6), bits=6)
        require_private(family)
        assert family.rows[family.vertices.index(0)][0] == here
        other = max(t for t in range(2**6 + 1) if close(here, 2**6 - t, pair))
        assert family.rows[family.vertices.index(-1)][1] == other
    for lean in (0, 1, -1, 2, float("nan"), float("inf"), "x", True, [], "1e-30"):
        with pytest.raises(ParameterError, match="lean"):
            exact.line(Privacy("ln 2"), lean=lean)


def test_ray_needs_delta():
    """Without δ nothing can ever be said that is impossible at 0."""
    with pytest.raises(ParameterError, match="delta"):
        exact.ray(Privacy(1))
    with pytest.raises(ParameterError, match="delta"):
        exact.ray(Privacy(1, "1/100"), bits=4)
