"""Local mechanisms for two hypotheses: the cells theorem holds, everything is private, and bounds are bounds."""

from __future__ import annotations

import json
import math
from itertools import combinations, pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog
from typer.testing import CliRunner

from tinct import FileError, ParameterError, local
from tinct._kernels import best_cells as kernels
from tinct.cli.local import app
from tinct.local import _optimal, likelihood_order
from tinct.local._optimal import best_cells, value_of
from tinct.local.column_programs import filled
from tinct.local.divergences import WORTH, Utility
from tinct.local.likelihood_order import Order
from tinct.local.parameters import Hypotheses, LocalBudget

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())["local"]
INSTANCES = 520  # for the comparison with linear programs; every instance with two utilities
PAIRS = 100  # of the paper's figures
HUGE = 700.0


def hinge(x):
    """A piecewise linear utility with corners away from 1."""
    x = np.asarray(x)
    return np.maximum(0.0, x - 1.5) + 2.0 * np.maximum(0.0, 0.6 - x) + 0.5 * np.abs(x - 1.0)


# f as textbooks print it
TEXTBOOK = {
    "kl": lambda x: x * np.log(x),
    "reverse-kl": lambda x: -np.log(x),
    "chi2": lambda x: (x - 1) ** 2,
    "hellinger": lambda x: (np.sqrt(x) - 1) ** 2,
    "tv": lambda x: 0.5 * np.abs(x - 1),
    "js": lambda x: 0.5 * (x * np.log(x) - (1 + x) * np.log((1 + x) / 2)),
    "hockey-stick:1.3": lambda x: np.maximum(0.0, x - 1.3),
    "hockey-stick:0.7": lambda x: np.maximum(0.0, x - 0.7) - 0.3,
    "alpha:0.3": lambda x: (x**0.3 - 1) / (0.3 * (0.3 - 1)),
    "alpha:3": lambda x: (x**3 - 1) / 6,
    "alpha:-1": lambda x: (1 / x - 1) / 2,
    hinge: hinge,
}
NAMED = [utility for utility in TEXTBOOK if isinstance(utility, str)]


def program(p0, p1, epsilon, f):
    """The best divergence by the linear program over all 2^k patterns, from the definition of f; knows no cells."""
    k = len(p0)
    raised = (np.arange(1, 2**k)[:, None] >> np.arange(k)) & 1
    columns = np.where(raised, 1.0, np.exp(-epsilon))
    z, t = columns @ p0, columns @ p1
    # a subgradient of f at 1 times z − t sums to zero over a mechanism; without it small budgets would lose digits
    slope = (f(1 + 1e-6) - f(1 - 1e-6)) / 2e-6
    worth = t * f(z / t) - slope * (z - t)
    unit = np.abs(worth).max() or 1.0
    result = linprog(
        -worth / unit,
        A_eq=columns.T,
        b_eq=np.ones(k),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    return -result.fun * unit


def instance(rng, adversarial):
    """A random pair of distributions and a budget; adversarial ones have ties, zeros and extreme budgets."""
    k = int(rng.integers(2, 9))
    p0, p1 = rng.dirichlet(np.full(k, rng.choice([0.3, 1.0, 5.0])), 2)
    epsilon = float(rng.choice([0.1, 0.5, 1.0, 2.0, 4.0]))
    if adversarial:
        p0, p1 = rng.integers(0, 5, (2, k)).astype(float)  # small integers: many ties and zeros
        p0[0] += p0.sum() == 0
        p1[-1] += p1.sum() == 0
        p0, p1 = p0 / p0.sum(), p1 / p1.sum()
        epsilon = float(rng.choice([0.003, 0.03, 0.3, 3.0, 8.0, 12.0]))
    return p0, p1, epsilon


def require_private(mechanism, relative=1e-12):
    """Rows are distributions, and within every column the ratio is at most e^ε, up to rounding."""
    matrix = mechanism.matrix
    assert abs(matrix.sum(axis=1) - 1).max() <= 1e-12
    assert (matrix >= 0).all()
    low, high = matrix.min(axis=0), matrix.max(axis=0)
    # divided, since e^700 times a small number may round to zero
    assert (high / mechanism.budget.growth <= low * (1 + relative)).all()


# the cells theorem


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['utility']}-{len(case['p0'])}-{case['epsilon']}")
def test_optimal_values_are_the_golden_ones(case):
    """The values that linear programs gave are met to nine digits, and the certificate leaves no gap."""
    mechanism = local.optimal(case["p0"], case["p1"], case["epsilon"], case["utility"])
    assert mechanism.value == pytest.approx(case["value"], rel=1e-9, abs=1e-13)
    assert mechanism.gap <= 1e-9 * max(1.0, mechanism.value)
    require_private(mechanism)


@pytest.mark.parametrize("adversarial", [False, True])
def test_optimal_equals_the_program_over_all_patterns(adversarial):
    """On random and adversarial instances, for every utility, no staircase mechanism beats the best cells."""
    rng = np.random.default_rng(20 + adversarial)
    utilities = list(TEXTBOOK)
    for number in range(INSTANCES // 2):
        p0, p1, epsilon = instance(rng, adversarial)
        for shift in (0, 5):
            utility = utilities[(number + shift) % len(utilities)]
            mechanism = local.optimal(p0, p1, epsilon, utility)
            expected = program(p0, p1, epsilon, TEXTBOOK[utility])
            # the textbook f is evaluated with errors of 1e-16, which small budgets do not shrink
            assert mechanism.value == pytest.approx(expected, rel=1e-9, abs=1e-13), (p0, p1, epsilon, utility)


def test_optimal_equals_the_best_of_all_partitions():
    """The best randomized response on the cells of any set partition, consecutive or not, equals the optimum."""
    rng = np.random.default_rng(5)
    for _ in range(25):
        p0, p1, epsilon = instance(rng, bool(rng.integers(2)))
        p0, p1 = p0[:6], p1[:6]
        if not (p0.sum() > 0 and p1.sum() > 0):
            continue
        p0, p1 = p0 / p0.sum(), p1 / p1.sum()
        for utility in ("kl", "chi2", "js"):
            best = max(direct_value(p0, p1, epsilon, cells, utility) for cells in partitions(list(range(len(p0)))))
            found = local.optimal(p0, p1, epsilon, utility).value
            assert found == pytest.approx(best, rel=1e-10, abs=1e-13)


def partitions(items):
    """All partitions of a list into non-empty sets."""
    if not items:
        yield []
        return
    head, *rest = items
    for smaller in partitions(rest):
        yield [[head], *smaller]
        for at in range(len(smaller)):
            yield [*smaller[:at], [head, *smaller[at]], *smaller[at + 1 :]]


def direct_value(p0, p1, epsilon, cells, utility):
    """The divergence of the outputs of randomized response on cells, from its matrix and f."""
    m, growth = len(cells), math.exp(epsilon)
    total = 0.0
    for cell in cells:
        z, t = (((growth - 1) * sum(p[x] for x in cell) + 1) / (growth + m - 1) for p in (p0, p1))
        total += t * TEXTBOOK[utility](z / t)
    return total


def _named(case):
    """A name that is the same in every process: functions print their address."""
    return getattr(case, "__name__", None) if callable(case) else repr(case)


@pytest.mark.parametrize("utility", list(TEXTBOOK), ids=_named)
def test_the_value_is_the_divergence_of_the_matrix(utility):
    """What the design says it achieves is what its matrix achieves, by the definition of the divergence."""
    rng = np.random.default_rng(7)
    for epsilon in (0.2, 1.0, 5.0):
        p0, p1 = rng.dirichlet(np.ones(9), 2)
        mechanism = local.optimal(p0, p1, epsilon, utility)
        m0, m1 = p0 @ mechanism.matrix, p1 @ mechanism.matrix
        direct = float((m1 * TEXTBOOK[utility](m0 / m1)).sum())
        assert mechanism.value == pytest.approx(direct, rel=1e-10, abs=1e-14)
        assert mechanism.value == pytest.approx(mechanism.divergence(p0, p1, utility), rel=1e-10, abs=1e-14)


def test_cells_are_consecutive_in_the_likelihood_order():
    """Every cell's largest ratio is below the next cell's least, and the cells partition the symbols."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        p0, p1 = rng.dirichlet(np.ones(30), 2)
        mechanism = local.optimal(p0, p1, 4.0)
        ratio = p0 / p1
        ranges = [(min(ratio[list(cell)]), max(ratio[list(cell)])) for cell in mechanism.cells]
        assert all(one[1] < two[0] for one, two in pairwise(ranges))
        assert sorted(x for cell in mechanism.cells for x in cell) == list(range(30))


def test_the_worth_is_not_monge():
    """The example of the proof: the quadrangle inequality fails in both directions, so shortcuts would be wrong."""
    order = Order.of(Hypotheses.parse([0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]))
    budget, utility = LocalBudget.parse(1), Utility.parse("kl")

    def worth(i, j):
        return float(order.worth(np.array([i]), np.array([j]), budget, utility)[0])

    excess = [
        worth(a, c) + worth(b, d) - worth(a, d) - worth(b, c) for a, b, c, d in combinations(range(len(order) + 1), 4)
    ]
    assert min(excess) < -1e-6
    assert max(excess) > 1e-6


def test_small_budgets_keep_their_digits():
    """At ε down to 1e-6 the KL optimum is that of the binary mechanism, to ten digits of its own expansion."""
    p0, p1 = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.4, 0.3, 0.2, 0.1])
    for epsilon in (1e-2, 1e-4, 1e-6):
        mpmath.mp.dps = 50
        growth = mpmath.exp(mpmath.mpf(epsilon))
        z, t = ((growth - 1) * mpmath.mpf(str(share)) + 1 for share in (0.3, 0.7))
        other_z, other_t = t, z
        exact = (z * mpmath.log(z / t) + other_z * mpmath.log(other_z / other_t)) / (growth + 1)
        assert local.optimal(p0, p1, epsilon).value == pytest.approx(float(exact), rel=1e-10)


def test_zeros_and_absent_symbols():
    """Ratios 0 and infinity come first and last; a symbol that neither produces goes to the first cell."""
    mechanism = local.optimal([0.5, 0, 0.5, 0], [0, 0.5, 0.5, 0], 5.0)
    assert mechanism.cells == ((1, 3), (2,), (0,))
    require_private(mechanism)
    without = local.optimal([0.5, 0, 0.5], [0, 0.5, 0.5], 5.0)
    assert mechanism.value == without.value


def test_equal_hypotheses_and_single_symbols_have_one_cell():
    """Nothing to tell apart: one output, value 0, gap 0."""
    for p in ([1.0], [0.25, 0.75]):
        mechanism = local.optimal(p, p, 1.0)
        assert (mechanism.value, mechanism.gap, mechanism.matrix.shape[1]) == (0.0, 0.0, 1)


def test_splitting_a_symbol_changes_nothing():
    """Equal ratios may share a cell: replacing a symbol by copies with parts of its mass keeps the optimum."""
    rng = np.random.default_rng(11)
    for epsilon in (0.3, 2.0, 6.0):
        p0, p1 = rng.dirichlet(np.ones(6), 2)
        parts = np.array([0.5, 0.25, 0.25])  # powers of two keep the ratios exactly equal
        fine = [np.concatenate([p[:3], p[3] * parts, p[4:]]) for p in (p0, p1)]
        mechanism = local.optimal(*fine, epsilon)
        assert mechanism.value == pytest.approx(local.optimal(p0, p1, epsilon).value, rel=1e-12)
        cell_of = mechanism.channel.cell_of
        assert cell_of[3] == cell_of[4] == cell_of[5]


def test_the_optimum_obeys_its_laws():
    """More budget never hurts, merging symbols never helps, names and order do not matter, TV is symmetric."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        p0, p1 = rng.dirichlet(np.ones(7), 2)
        values = [local.optimal(p0, p1, epsilon).value for epsilon in (0.1, 0.5, 1, 2, 4, 8)]
        assert values == sorted(values)
        order = rng.permutation(7)
        assert local.optimal(p0[order], p1[order], 1).value == pytest.approx(values[2], rel=1e-12)
        merged = [np.concatenate([[p[0] + p[1]], p[2:]]) for p in (p0, p1)]
        assert local.optimal(*merged, 1).value <= values[2] * (1 + 1e-12)
        assert local.optimal(p0, p1, 1, "kl").value == pytest.approx(local.optimal(p1, p0, 1, "reverse-kl").value)
        assert values[-1] <= local.divergence(p0, p1)


def test_extreme_budgets_are_finite_and_private():
    """At ε = 700 nothing overflows, also with zeros, and the matrix keeps its ratio."""
    p0, p1 = [0.5, 0.3, 0.2, 0.0], [0.0, 0.2, 0.3, 0.5]
    for utility in NAMED[:8]:
        mechanism = local.optimal(p0, p1, HUGE, utility)
        assert math.isfinite(mechanism.value)
        require_private(mechanism)
    with pytest.raises(ParameterError, match="not a finite number"):
        local.optimal(p0, p1, HUGE, "alpha:3")


def test_mappings_and_names():
    """Distributions may be mappings; cells, rows and errors use the names."""
    mechanism = local.optimal({"x": 0.9, "y": 0.1}, {"y": 0.9, "x": 0.1}, "ln 3")
    assert mechanism.cells == (("y",), ("x",))
    assert mechanism.row("x").tolist() == pytest.approx([0.25, 0.75])
    with pytest.raises(ParameterError, match="not one of the 2 symbols"):
        mechanism.row("z")
    assert "optimal" in repr(mechanism)


# kernels and formulas


def exact_worth(code, parameter, z, t):
    """The worth in fifty digits, from the definition."""
    mpmath.mp.dps = 60
    z, t, a = mpmath.mpf(z), mpmath.mpf(t), mpmath.mpf(parameter)
    x = z / t
    if code == kernels.KL or (code == kernels.ALPHA and a == 1):
        return t * (x * mpmath.log(x) - x + 1)
    if code == kernels.REVERSE_KL or (code == kernels.ALPHA and a == 0):
        return t * (x - 1 - mpmath.log(x))
    if code == kernels.CHI2:
        return t * (x - 1) ** 2
    if code == kernels.HELLINGER:
        return t * (mpmath.sqrt(x) - 1) ** 2
    if code == kernels.TV:
        return t * abs(x - 1) / 2
    if code == kernels.JS:
        return t * (x * mpmath.log(x) - (1 + x) * mpmath.log((1 + x) / 2)) / 2
    if code == kernels.HOCKEY_STICK:
        return t * max(x - a, mpmath.mpf(0)) if a >= 1 else t * max(a - x, mpmath.mpf(0))
    return t * (x**a - a * x - 1 + a) / (a * (a - 1))


@pytest.mark.parametrize("code", range(8))
def test_cell_worth_has_all_its_digits(code):
    """The kernel's formula and the one for arrays agree with fifty digits, from nearly equal to far apart."""
    rng = np.random.default_rng(code)
    parameters = {kernels.HOCKEY_STICK: (0.5, 1.0, 1.7), kernels.ALPHA: (-2.5, -1e-7, 0.0, 0.4, 1.0, 1 + 1e-9, 6.0)}
    for parameter in parameters.get(code, (0.0,)):
        for size in (1e-9, 1e-5, 1e-2, 0.3, 0.45, 0.9):
            t = float(rng.uniform(0.1, 1.0))
            for sign in (1, -1):
                z = t * (1 + sign * size)
                expected = float(exact_worth(code, parameter, z, t))
                found = kernels.cell_worth(code, parameter, z, t, z - t)
                array = WORTH[code](*(np.array([one]) for one in (z, t, z - t)), parameter)[0]
                # hockey sticks subtract numbers of the size of t
                slack = 1e-15 * t if code == kernels.HOCKEY_STICK else 0.0
                assert found == pytest.approx(expected, rel=2e-12 if code == kernels.ALPHA else 5e-14, abs=slack)
                assert array == pytest.approx(float(found), rel=1e-14, abs=1e-300)


def test_cell_worth_far_apart():
    """Ratios up to e^±600 stay finite and right."""
    for code in (kernels.KL, kernels.REVERSE_KL, kernels.CHI2, kernels.HELLINGER, kernels.JS):
        for z, t in ((0.5, 1e-260), (1e-260, 0.5)):
            expected = float(exact_worth(code, 0.0, z, t))
            assert kernels.cell_worth(code, 0.0, z, t, z - t) == pytest.approx(expected, rel=1e-13)


def slow_split(first, second, low, span, worth, toll):
    """The best split by recursion over the last cell, with memory, in the obvious way."""
    best = {0: (0.0, ())}
    for j in range(1, len(first)):
        best[j] = max(
            (best[i][0] + worth(low + span * (first[j] - first[i]), low + span * (second[j] - second[i])) - toll, i)
            for i in range(j)
        )
    return best[len(first) - 1][0]


@pytest.mark.parametrize("code", range(8))
def test_best_split_compiled_plain_and_twin_agree(code):
    """The kernel gives the same bits compiled and plain, the value of a slow twin, and a split that attains it."""
    rng = np.random.default_rng(40 + code)
    parameter = {kernels.HOCKEY_STICK: 1.2, kernels.ALPHA: 0.7}.get(code, 0.0)
    for k in (1, 2, 9, 40):
        first, second = (np.concatenate([[0.0], np.cumsum(rng.dirichlet(np.ones(k)))]) for _ in range(2))
        low = math.exp(-float(rng.uniform(0.1, 6)))
        toll = float(rng.uniform(0, 0.02))
        plain, compiled = np.zeros(k + 1, np.int64), np.zeros(k + 1, np.int64)
        shape = (first, second, low, 1 - low, code, parameter, toll)
        value = kernels.best_split.plain(*shape, plain)
        assert kernels.best_split.compiled(*shape, compiled) == pytest.approx(value, rel=1e-14, abs=1e-16)
        assert np.array_equal(plain, compiled)
        twin = slow_split(first, second, low, 1 - low, lambda z, t: float(exact_worth(code, parameter, z, t)), toll)
        assert value == pytest.approx(twin, rel=1e-11, abs=1e-13)
        cuts = [k]
        while cuts[-1]:
            cuts.append(int(plain[cuts[-1]]))
        along = sum(
            float(exact_worth(code, parameter, *(low + (1 - low) * (p[j] - p[i]) for p in (first, second)))) - toll
            for j, i in pairwise(cuts)
        )
        assert along == pytest.approx(twin, rel=1e-11, abs=1e-13)


def test_compiled_and_row_by_row_designs_agree():
    """Either side of the size from which numba is used, the same function gives the same value."""
    rng = np.random.default_rng(8)
    p0, p1 = rng.dirichlet(np.ones(700), 2)
    for name in ("kl", "hellinger"):
        compiled = local.optimal(p0, p1, 6.0, name)
        by_rows = local.optimal(p0, p1, 6.0, TEXTBOOK[name])
        assert compiled.value == pytest.approx(by_rows.value, rel=1e-10)
        assert compiled.cells == by_rows.cells


# large alphabets and certificates


@pytest.mark.parametrize("utility", ["kl", "chi2", "tv", "hellinger"])
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_merging_brackets_the_optimum(utility, epsilon):
    """Merged ratios never exceed the exact optimum, split ratios never fall below, and refining closes the gap."""
    rng = np.random.default_rng(31)
    budget, chosen = LocalBudget.parse(epsilon), Utility.parse(utility)
    for concentration in (0.2, 1.0):
        p0, p1 = rng.dirichlet(np.full(900, concentration), 2)
        order = Order.of(Hypotheses.parse(p0, p1))
        exact = best_cells(order, budget, chosen).value
        for groups in (5, 30, 200):
            places = likelihood_order.coarse_order(order, groups)
            assert best_cells(order.merged(places), budget, chosen).value <= exact * (1 + 1e-12)
            assert best_cells(likelihood_order.upper_order(order, places), budget, chosen).value >= exact * (1 - 1e-12)
        merged = local.optimal(p0, p1, epsilon, utility, groups=200)
        assert merged.value <= exact * (1 + 1e-12)
        assert merged.upper_bound >= exact * (1 - 1e-12)
        assert merged.gap <= 1e-4 * exact


def test_upper_order_is_a_refinement():
    """The split order has the same means: both of its distributions sum to 1 and every ratio occurs in the original."""
    rng = np.random.default_rng(2)
    p0, p1 = rng.dirichlet(np.ones(300), 2)
    p0[:5], p1[5:9] = 0, 0
    order = Order.of(Hypotheses.parse(p0 / p0.sum(), p1 / p1.sum()))
    places = likelihood_order.coarse_order(order, 20)
    upper = likelihood_order.upper_order(order, places)
    assert upper.p0.sum() == pytest.approx(1)
    assert upper.p1.sum() == pytest.approx(1)
    with np.errstate(divide="ignore"):
        ratio, nodes = upper.p0 / upper.p1, (order.p0 / order.p1)[np.unique([*places[:-1], len(order) - 1])]
    assert np.allclose(ratio, nodes, rtol=1e-6)


def test_ten_thousand_symbols_close_their_gap():
    """More ratios than the plain dynamic program takes: the bracket still closes to rounding."""
    rng = np.random.default_rng(1)
    p0, p1 = rng.dirichlet(np.ones(10_000), 2)
    mechanism = local.optimal(p0, p1, 3.0)
    assert mechanism.gap <= 1e-12 * mechanism.value
    order = Order.of(Hypotheses.parse(p0, p1))
    assert (
        _optimal.excess(order.merged(np.arange(0, 10_001, 10)), mechanism.budget, Utility.parse("kl"), mechanism.value)
        <= 1e-12
    )


def test_certificates_bound_every_other_mechanism():
    """The bound of any design, optimal or not, is at least the optimum; that of the optimum leaves no gap."""
    rng = np.random.default_rng(9)
    for k in (4, 11, 40):
        p0, p1 = rng.dirichlet(np.ones(k), 2)
        for epsilon in (0.5, 3.0):
            best = local.optimal(p0, p1, epsilon)
            binary = local.binary(p0, p1, epsilon)
            assert best.gap <= 1e-11 * best.value
            assert binary.value <= best.value * (1 + 1e-12)
            assert binary.upper_bound >= best.value * (1 - 1e-12)
            assert best.certificate.method.startswith("dual" if k <= 12 else "one more round")


# regimes


def test_regimes_agree_with_the_optimum_everywhere():
    """Inside every regime its cells are optimal; at every threshold the two splits are equally good."""
    rng = np.random.default_rng(4)
    for utility in ("kl", "hellinger", "js"):
        for _ in range(3):
            p0, p1 = rng.dirichlet(np.ones(8), 2)
            found = local.regimes(p0, p1, utility)
            order = Order.of(Hypotheses.parse(p0, p1))
            for regime in found.regimes:
                for share in (0.01, 0.5, 0.99):
                    epsilon = regime.start ** (1 - share) * regime.end**share
                    assert local.optimal(p0, p1, epsilon, utility).cells == regime.cells == found.cells_at(epsilon)
            chosen = Utility.parse(utility)
            for before, after in pairwise(found.regimes):
                at = LocalBudget.parse(after.start)
                values = []
                for regime in (before, after):
                    sizes = np.cumsum([0, *(len(cell) for cell in regime.cells)])
                    values.append(value_of(order, sizes, at, chosen))
                assert values[0] == pytest.approx(values[1], rel=1e-13)


def test_several_changes_between_two_samples_are_found():
    """With two samples only, the search finds the same thresholds as with many, to 1e-12."""
    rng = np.random.default_rng(6)
    p0, p1 = rng.dirichlet(np.ones(7), 2)
    few, many = (local.regimes(p0, p1, samples=samples, highest=14.0) for samples in (2, 200))
    assert len(few.regimes) == len(many.regimes) > 3
    assert few.thresholds == pytest.approx(many.thresholds, abs=1e-11)


def test_thresholds_are_right_to_twelve_digits():
    """The threshold between two and three cells is the root of the difference, computed in fifty digits."""
    found = local.regimes([0.1, 0.2, 0.7], [0.5, 0.25, 0.25])
    mpmath.mp.dps = 50
    p0, p1 = ([mpmath.mpf(text) for text in row] for row in (("0.1", "0.2", "0.7"), ("0.5", "0.25", "0.25")))

    def value(cells, epsilon):
        growth = mpmath.exp(epsilon)
        total = mpmath.mpf(0)
        for cell in cells:
            z, t = (1 + (growth - 1) * sum(p[x] for x in cell) for p in (p0, p1))
            total += z * mpmath.log(z / t)
        return total / (growth + len(cells) - 1)

    two, three = [[0, 1], [2]], [[0], [1], [2]]
    root = mpmath.findroot(lambda epsilon: value(two, epsilon) - value(three, epsilon), 2.3)
    assert found.binary_up_to == pytest.approx(float(root), abs=1e-12)
    assert found.randomized_response_from == found.binary_up_to


def test_total_variation_is_binary_at_every_budget():
    """Theorem 6: with total variation the paper's binary mechanism is optimal, and there is one regime."""
    rng = np.random.default_rng(13)
    for _ in range(10):
        p0, p1 = rng.dirichlet(np.ones(6), 2)
        found = local.regimes(p0, p1, "tv", samples=12)
        assert (len(found.regimes), found.binary_up_to) == (1, 30.0)
        for epsilon in (0.1, 1.0, 10.0):
            best = local.optimal(p0, p1, epsilon, "tv").value
            assert local.binary(p0, p1, epsilon, "tv").value == pytest.approx(best, rel=1e-12)
            assert local.total_variation_bound(p0, p1, epsilon) == pytest.approx(best, rel=1e-12)


def test_ties_make_no_regimes():
    """Symbols with equal ratios, or hypotheses that are equal, change nothing as the budget grows."""
    assert len(local.regimes([0.25] * 4, [0.25] * 4, samples=5).regimes) == 1
    found = local.regimes([0.2, 0.2, 0.6], [0.4, 0.4, 0.2])
    assert (len(found.regimes), found.ratios, found.randomized_response_from) == (1, 2, 1e-3)


# the paper


def test_the_better_of_binary_and_randomized_response_reaches_the_papers_share():
    """Section 3.4: at least 55 % of the optimum for 12 symbols, on 100 pairs drawn uniformly from the simplex.

    The paper does not say how it draws; the worst of 100 moves by a few percent with the draw.
    """
    rng = np.random.default_rng(2016)
    worst = 1.0
    for _ in range(PAIRS):
        p0, p1 = rng.dirichlet(np.ones(12), 2)
        for epsilon in (1, 2, 3, 4, 5, 6, 8):
            best = local.optimal(p0, p1, epsilon).value
            binary = local.binary(p0, p1, epsilon).value
            assert binary >= local.binary_share(epsilon) * best
            worst = min(worst, max(binary, local.randomized_response(12, epsilon).divergence(p0, p1)) / best)
    assert 0.55 <= worst < 0.8  # the optimum is worth computing


def test_divergence_bounds_hold_and_are_the_right_order():
    """Corollaries 9 and 10 with slack hold where they should, their leading terms are exact, Duchi's bound holds."""
    rng = np.random.default_rng(14)
    for _ in range(10):
        p0, p1 = rng.dirichlet(np.full(5, 3.0), 2)
        small, large = 1e-4, 16.0
        both = [local.optimal(p0, p1, small, utility).value for utility in ("kl", "reverse-kl")]
        assert sum(both) == pytest.approx(local.small_budget_divergence(p0, p1, small), rel=1e-3)
        assert sum(both) <= local.small_budget_divergence(p0, p1, small, slack=0.01)
        best = local.optimal(p0, p1, large).value
        assert best <= local.large_budget_divergence(p0, p1, large, slack=0.01)
        left = local.divergence(p0, p1) - best
        assert left == pytest.approx(local.divergence(p0, p1) - local.large_budget_divergence(p0, p1, large), rel=1e-2)
        for epsilon in (0.1, 1.0, 5.0):
            assert local.optimal(p0, p1, epsilon).value <= local.symmetric_divergence_bound(p0, p1, epsilon)


# programs for utilities of one's own


@pytest.mark.parametrize("utility", ["kl", "chi2", "tv"])
def test_staircase_agrees_with_the_cells(utility):
    """The program over all patterns, given the divergence of a column, finds what the cells find."""
    rng = np.random.default_rng(15)
    f = TEXTBOOK[utility]
    for epsilon in (0.1, 2.0, 9.0):
        p0, p1 = rng.dirichlet(np.ones(6), 2)
        mechanism = local.staircase(lambda q, a=p0, b=p1: (b @ q) * f((a @ q) / (b @ q)), 6, epsilon)
        assert mechanism.value == pytest.approx(local.optimal(p0, p1, epsilon, utility).value, rel=1e-8)
        assert mechanism.gap <= 1e-9
        require_private(mechanism)


def test_staircase_takes_other_utilities_and_reports_progress():
    """The largest entry of a column is sublinear: the best guess of a uniform symbol, E/(E + k − 1) in all."""
    seen = []
    mechanism = local.staircase(
        lambda q: q.max() / 5, 5, "ln 4", progress=lambda done, total: seen.append((done, total))
    )
    assert mechanism.value == pytest.approx(4 / 8, rel=1e-9)
    assert seen[-1] == (31, 31)
    require_private(mechanism)


def test_staircase_refuses_what_it_cannot_do():
    """Too many symbols, utilities that are not sublinear or not finite, and budgets beyond the solver."""
    with pytest.raises(ParameterError, match=r"at most 16 symbols.*local\.optimal"):
        local.staircase(np.max, 17, 1)
    with pytest.raises(ParameterError, match="sublinear"):
        local.staircase(lambda q: float((q**2).sum()), 3, 1)
    with pytest.raises(ParameterError, match="sublinear"):
        local.staircase(lambda q: -q.max(), 3, 1)
    with pytest.raises(ParameterError, match="finite"):
        local.staircase(lambda _: math.nan, 3, 1)
    with pytest.raises(ParameterError, match="epsilon above 20"):
        local.staircase(np.max, 3, 21)
    with pytest.raises(ParameterError, match="function"):
        local.staircase("kl", 3, 1)


def test_distortion_equals_a_program_with_all_pairs():
    """The least distortion is that of the program that states Q(y|x) ≤ e^ε·Q(y|x′) for all pairs; Hamming gives RR."""
    rng = np.random.default_rng(16)
    for k, n, epsilon in ((2, 2, 0.1), (4, 3, 1.0), (5, 5, 3.0)):
        costs, prior = rng.uniform(size=(k, n)), rng.dirichlet(np.ones(k))
        mechanism = local.distortion(costs, epsilon, prior)
        rows = []
        for one, other in ((a, b) for a in range(k) for b in range(k) if a != b):
            for y in range(n):
                row = np.zeros((k, n))
                row[one, y], row[other, y] = 1.0, -math.exp(epsilon)
                rows.append(row.ravel())
        result = linprog(
            (costs * prior[:, None]).ravel(),
            A_ub=np.array(rows),
            b_ub=np.zeros(len(rows)),
            A_eq=np.kron(np.eye(k), np.ones(n)),
            b_eq=np.ones(k),
        )
        assert -mechanism.value == pytest.approx(result.fun, abs=1e-8)
        assert mechanism.gap <= 1e-8
        require_private(mechanism)
    hamming = local.distortion(1 - np.eye(5), 1.0, [0.2] * 5)
    assert hamming.value == pytest.approx(-(4 / (math.e + 4)), rel=1e-9)


def test_filling_keeps_columns_within_their_ratio():
    """A solver's table whose rows miss 1 by 1e-8 is repaired at a loss of that order, at tiny and at large budgets."""
    rng = np.random.default_rng(17)
    for epsilon in (1e-4, 0.5, 15.0):
        budget = LocalBudget.parse(epsilon)
        table = np.where(rng.random((5, 6)) < 0.5, 1.0, budget.low)
        table *= rng.dirichlet(np.ones(6))
        table /= table.sum(axis=1).max()
        target = table / table.sum(axis=1, keepdims=True).max() * (1 + 1e-8)
        for into in (None, 2):
            matrix = filled(target, budget, into=into)
            assert matrix.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-13)
            assert (matrix.max(axis=0) <= matrix.min(axis=0) * budget.growth * (1 + 1e-12)).all()


# mechanisms with a name


BUILD = {
    "randomized response": local.randomized_response,
    "geometric": local.geometric,
    "subset selection": local.subset_selection,
    "unary encoding": local.unary_encoding,
    "local hashing": local.local_hashing,
    "Hadamard response": local.hadamard_response,
}


@pytest.mark.parametrize("name", BUILD)
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 3.0, 15.0])
def test_named_mechanisms_are_private_and_use_their_budget(name, epsilon):
    """Rows are distributions, the ratio is e^ε and no more, and the note says what it is good for."""
    for k in (2, 3, 7):
        mechanism = BUILD[name](k, epsilon)
        require_private(mechanism)
        assert mechanism.least_epsilon() == pytest.approx(epsilon, rel=1e-9)
        assert mechanism.matrix.shape == (k, len(mechanism.outputs))
        assert mechanism.note
        assert mechanism.name == name


@pytest.mark.parametrize("utility", ["kl", "reverse-kl", "chi2", "hellinger", "js"])
def test_binary_claims_small_budgets_where_no_symbol_is_tied(utility):
    """Without a tie it is optimal at small ε. With one the note claims nothing, and another cut is better for KL."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        p0, p1 = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
        mechanism = local.binary(p0, p1, 1e-5, utility)
        assert "every f-divergence for small enough ε, as no symbol is equally likely under both" in mechanism.note
        assert mechanism.value == pytest.approx(local.optimal(p0, p1, 1e-5, utility).value, rel=1e-9)
    tied = local.binary([0.5, 0.2, 0.3], [0.3, 0.2, 0.5], 0.01, utility)
    assert "no claim for other divergences" in tied.note
    assert "small enough" not in tied.note
    if utility == "kl":
        assert tied.value < local.optimal([0.5, 0.2, 0.3], [0.3, 0.2, 0.5], 0.01, utility).value * (1 - 1e-6)
    never = local.binary([0.5, 0.0, 0.5], [0.3, 0.0, 0.7], 0.01, utility)  # a symbol that never occurs is no tie
    assert "for small enough ε" in never.note


def test_randomized_response_claims_large_budgets_for_distinct_ratios():
    """At ε = 20 it is optimal for KL where ratios are distinct; with two of one ratio, two cells are better."""
    response = local.randomized_response(3, 20)
    assert "distinct ratios" in response.note
    apart, tied = ([0.25, 0.25, 0.5], [0.45, 0.35, 0.2]), ([0.25, 0.25, 0.5], [0.4, 0.4, 0.2])
    assert response.divergence(*apart) == pytest.approx(local.optimal(*apart, 20).value, rel=1e-12)
    assert response.divergence(*tied) < local.optimal(*tied, 20).value


@pytest.mark.parametrize("name", [name for name in BUILD if name != "geometric"])
def test_pure_probabilities_are_those_of_the_matrix(name):
    """How often a report supports its own symbol, and another one, counted from the matrix."""
    for k in (3, 6):
        mechanism = BUILD[name](k, 1.2)
        own, other = map(float, mechanism.randomiser.chances)
        matrix = mechanism.matrix
        raised = matrix > matrix.min() * (1 + 1e-9)
        if name == "unary encoding":  # here support is a bit of the output, not the raised symbol
            raised = np.array([[output >> x & 1 for output in mechanism.outputs] for x in range(k)], bool)
        for x, y in combinations(range(k), 2):
            assert matrix[x, raised[x]].sum() == pytest.approx(own)
            if name != "local hashing":
                assert matrix[x, raised[y]].sum() == pytest.approx(other)
        if name == "local hashing":  # a bucket may hold nobody or everybody; support is the hash, not the ratio
            labels = mechanism.outputs
            p, g = mechanism.channel.prime, mechanism.channel.buckets
            holds = np.array([[(a * y + b) % p % g == answer for a, b, answer in labels] for y in range(k)])
            assert matrix[0, holds[1]].sum() == pytest.approx(other)


def test_hash_collisions_are_counted_exactly():
    """The chance that two symbols share a bucket, from all pairs (a, b), and never above 1/g."""
    channel = local.local_hashing(7, 1.0, buckets=3).randomiser
    same = [
        ((a * 2 + b) % channel.prime) % 3 == ((a * 5 + b) % channel.prime) % 3
        for a in range(1, channel.prime)
        for b in range(channel.prime)
    ]
    assert float(channel.collision) == pytest.approx(np.mean(same))
    assert channel.collision <= 1 / 3


def test_large_alphabets_are_described_not_written_out():
    """Many symbols are no problem until somebody asks for the matrix."""
    for name, build in BUILD.items():
        if name == "geometric":
            continue
        mechanism = build(200_000, 2.0)
        assert mechanism.channel.describe()["size"] == 200_000
        own, other = map(float, mechanism.randomiser.chances)
        assert 0 < other < own <= 1
        with pytest.raises(ParameterError, match=r"use \.channel"):
            _ = mechanism.matrix
    p0, p1 = np.random.default_rng(0).dirichlet(np.ones(200_000), 2)
    assert local.randomized_response(200_000, 12.0).divergence(p0, p1) > 0


def test_probabilities_that_would_underflow_are_refused():
    """2^k products at ε = 700 would be 0 on one side only, which is infinite ε: refused, not rounded."""
    with pytest.raises(ParameterError, match="below"):
        _ = local.unary_encoding(5, HUGE).matrix
    require_private(local.randomized_response(5, HUGE))
    require_private(local.geometric(5, HUGE))
    require_private(local.hadamard_response(5, HUGE))


def test_the_paper_s_binary_is_one_of_the_cuts():
    """It separates P0 < P1 from P0 ≥ P1, and the best of all two-cell cuts may be better."""
    rng = np.random.default_rng(18)
    better = 0
    for _ in range(200):
        p0, p1 = rng.dirichlet(np.full(5, 0.5), 2)
        found = local.regimes(p0, p1, samples=2, lowest=1.9, highest=2.0).regimes[-1]
        if found.count == 2:
            better += local.optimal(p0, p1, 2.0).value > local.binary(p0, p1, 2.0).value * (1 + 1e-9)
    assert better > 0


def test_quaternary_is_private_with_delta_and_beats_binary():
    """(ε, δ)-privacy holds with equality, data processing does not raise it, and δ = 0 is randomized response."""
    mechanism = local.quaternary(1.0, 0.1)
    one, two = mechanism.matrix
    for first, second in ((one, two), (two, one)):
        assert np.maximum(first - math.e * second, 0).sum() == pytest.approx(0.1, rel=1e-12)
    p0, p1 = [0.8, 0.2], [0.3, 0.7]
    for utility in ("kl", "tv", "chi2"):
        none = local.quaternary(1.0, 0).divergence(p0, p1, utility)
        assert none == pytest.approx(local.optimal(p0, p1, 1.0, utility).value)
        assert mechanism.divergence(p0, p1, utility) > none
    assert mechanism.least_epsilon() == math.inf


def test_compare_puts_the_optimum_first():
    """No mechanism exceeds the optimum or the bound, at any budget, for divergences."""
    rng = np.random.default_rng(19)
    p0, p1 = rng.dirichlet(np.ones(6), 2)
    for line in local.compare(p0, p1, epsilons=[0.1, 1, "ln 20", 10], utility="hellinger"):
        assert set(line.values) == {"optimal", "binary", *BUILD}
        for share in line.shares().values():
            assert share is None or share <= 1 + 1e-9
        assert line.values["optimal"] <= line.upper_bound * (1 + 1e-12)


# bad input


BAD_EPSILON = [0, -1, math.nan, math.inf, -math.inf, 701, "nan", "", "ln 1", None, "1e5000000", [1], True]
BAD_DISTRIBUTION = [
    [],
    [0.5, 0.4],
    [0.5, math.nan],
    [1.5, -0.5],
    [math.inf, 0],
    [[0.5, 0.5]],
    "half",
    None,
    [None, 1],
    [0.5, 0.5 + 1e-8],
    5,
]
BAD_UTILITY = [
    "kld",
    "",
    "hockey-stick",
    "hockey-stick:nan",
    "hockey-stick:-1",
    "alpha:1e9",
    "kl:2",
    3,
    None,
    lambda _: 1.0,
    lambda _: math.nan,
    lambda _: "a",
    lambda x: -((x - 1) ** 2),
]


@pytest.mark.parametrize("epsilon", BAD_EPSILON, ids=repr)
def test_bad_budgets_are_refused_everywhere(epsilon):
    """Every designer refuses the same budgets, with an error that names epsilon."""
    two = [0.5, 0.5], [0.25, 0.75]
    for call in (
        lambda: local.optimal(*two, epsilon),
        lambda: local.binary(*two, epsilon),
        lambda: local.staircase(np.max, 2, epsilon),
        lambda: local.distortion(np.eye(2), epsilon, [0.5, 0.5]),
        lambda: local.quaternary(epsilon, 0),
        lambda: local.compare(*two, epsilons=[epsilon]),
        lambda: local.binary_share(epsilon),
        lambda: local.total_variation_bound(*two, epsilon),
        *(lambda build=build: build(3, epsilon) for build in BUILD.values()),
    ):
        with pytest.raises(ParameterError, match="epsilon"):
            call()


@pytest.mark.parametrize("p", BAD_DISTRIBUTION, ids=repr)
def test_bad_distributions_are_refused(p):
    """On either side; the error says which."""
    for name, pair in (("p0", (p, [0.5, 0.5])), ("p1", ([0.5, 0.5], p))):
        with pytest.raises(ParameterError, match=name):
            local.optimal(*pair, 1)
        with pytest.raises(ParameterError, match=name):
            local.regimes(*pair)


@pytest.mark.parametrize("utility", BAD_UTILITY, ids=_named)
def test_bad_utilities_are_refused(utility):
    """Unknown names, missing parameters, and functions that are not convex with f(1) = 0."""
    with pytest.raises(ParameterError, match=r"utility|parameter"):
        local.optimal([0.5, 0.5], [0.25, 0.75], 1, utility)


@pytest.mark.parametrize("name", [name for name in NAMED if name != "alpha:3"])
def test_convex_functions_are_not_refused(name):
    """Rounding near 1 is not taken for a dent, at budgets from 1e-300 to 200."""
    for epsilon in (1e-300, 1e-9, 1e-4, 0.1, 3.0, 200.0):
        value = local.optimal([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], epsilon, TEXTBOOK[name]).value
        if epsilon >= 0.1:
            assert value == pytest.approx(
                local.optimal([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], epsilon, name).value, rel=1e-8
            )


def test_a_function_that_is_not_convex_is_told_where():
    """The error names the place at which the function lies above a chord."""
    with pytest.raises(ParameterError, match=r"convex: at x = 1\.\d+ it is .* above the line between"):
        local.optimal([0.5, 0.5], [0.25, 0.75], 1, lambda x: np.abs(x - 1) - 3 * np.maximum(0, x - 1.5))


def test_other_bad_input():
    """Different lengths, names that do not fit, sizes out of range."""
    good = [0.5, 0.5]
    cases = [
        (lambda: local.optimal(good, [0.2, 0.3, 0.5], 1), "p0 has 2 probabilities, p1 has 3"),
        (lambda: local.optimal(good, good, 1, symbols=["a"]), "name for each"),
        (lambda: local.optimal(good, good, 1, symbols=["a", "a"]), "distinct"),
        (lambda: local.optimal(good, good, 1, symbols="ab"), "sequence of names"),
        (lambda: local.optimal(good, good, 1, symbols=[[], {}]), "hashable"),
        (lambda: local.optimal({"a": 1}, {"b": 1}, 1), "same symbols"),
        (lambda: local.optimal(good, good, 1, groups=1), "groups"),
        (lambda: local.randomized_response(1, 1), "k must be"),
        (lambda: local.randomized_response(2.5, 1), "k must be"),
        (lambda: local.randomized_response(True, 1), "k must be"),
        (lambda: local.randomized_response(10**12, 1), "k must be"),
        (lambda: local.subset_selection(5, 1, size=5), "size"),
        (lambda: local.local_hashing(5, 1, buckets=1), "buckets"),
        (lambda: local.quaternary(1, 1.5), "delta"),
        (lambda: local.quaternary(1, math.nan), "delta"),
        (lambda: local.distortion([[1, math.nan]], 1, [1]), "finite"),
        (lambda: local.distortion([1, 2], 1, [1]), "matrix"),
        (lambda: local.distortion(np.eye(3), 1, good), "3 symbols"),
        (lambda: local.regimes(good, good, lowest=2, highest=1), "lowest"),
        (lambda: local.regimes(good, good, samples=1), "samples"),
        (lambda: local.regimes(good, good, samples=5).cells_at(31), "range"),
        (lambda: local.binary_information_share(2), "up to 1"),
        (lambda: local.large_budget_divergence([1, 0], good, 1), "above 0"),
        (lambda: local.small_budget_divergence(good, good, 1, slack=math.nan), "slack"),
    ]
    for call, message in cases:
        with pytest.raises(ParameterError, match=message):
            call()


# the command


def run(*arguments, status=0):
    """Run ``tinct local`` in this process; library errors come out as they are."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.output


@pytest.fixture
def survey(tmp_path):
    """A file with two hypotheses."""
    path = tmp_path / "survey.csv"
    path.write_text("symbol,p0,p1\na,0.1,0.5\nb,0.2,0.25\nc,0.7,0.25\n", encoding="utf-8")
    return path


def test_design_command_writes_and_shows_the_optimum(survey, tmp_path):
    """The file, the JSON and the text agree with the library."""
    expected = local.optimal([0.1, 0.2, 0.7], [0.5, 0.25, 0.25], "ln 9", "chi2")
    target = tmp_path / "m.json"
    shown = json.loads(run("design", survey, "-e", "ln 9", "-u", "chi2", "-o", target, "--json"))
    written = json.loads(target.read_text(encoding="utf-8"))
    assert shown == {name: written[name] for name in shown}  # the file also has the units, and both hypotheses
    assert (shown["schema"], shown["epsilon"], shown["symbols"]) == ("tinct/local@1", "ln 9", ["a", "b", "c"])
    assert shown["value"] == expected.value
    assert shown["channel"]["cell_of"] == expected.channel.cell_of.tolist()
    text = run("design", survey, "-e", "1")
    assert "0: a, b" in text
    assert "no private randomiser has more" in text
    assert "mutual information" in run("design", "--prior", "0.5,0.3,0.2", "-e", "1")


def test_compare_and_regimes_commands(survey):
    """Tables name every mechanism and the thresholds; JSON has the numbers of the library."""
    text = run("compare", survey, "--epsilons", "0.5,5")
    for name in ("optimal", "binary", "geometric", "Hadamard", "100.0%"):
        assert name in text
    lines = json.loads(run("compare", "--prior", "0.6,0.3,0.1", "--epsilons", "1", "--json"))["lines"]
    assert lines[0]["values"]["optimal"] == pytest.approx(local.mutual_information([0.6, 0.3, 0.1], 1).value)
    found = json.loads(run("regimes", survey, "--json"))
    assert found["binary_up_to"] == pytest.approx(2.277717, abs=1e-6)
    assert [len(regime["cells"]) for regime in found["regimes"]] == [2, 3]
    assert "Two cells are optimal up to ε = 2.2777" in run("regimes", survey)


def test_command_refuses_bad_input(survey, tmp_path):
    """Errors name the option, or the file and the line."""
    bad = tmp_path / "bad.csv"
    bad.write_text("symbol,p0,p1\na,0.5,0.5\nb,half,0.5\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"bad\.csv: line 3: expected a number"):
        run("design", bad, "-e", 1)
    bad.write_text("name,x\na,0.5\n", encoding="utf-8")
    with pytest.raises(FileError, match="columns must be p0 and p1, or prior"):
        run("design", bad, "-e", 1)
    for arguments, message in (
        (("design", "-e", 1), "no distributions"),
        (("design", survey, "--p0", "1", "-e", 1), "not both"),
        (("design", "--prior", "1", "--p0", "1", "-e", 1), "not both"),
        (("design", "--p0", "0.5,nan", "--p1", "0.5,0.5", "-e", 1), "--p0"),
        (("design", survey, "-e", "1", "-o", "m.txt"), r"\.json"),
        (("regimes", "--p0", "1"), "--p0 needs --p1"),
        (("regimes",), "no distributions"),
        (("compare", survey, "--epsilons", "1,x"), "epsilon"),
    ):
        with pytest.raises(ParameterError, match=message):
            run(*arguments)
