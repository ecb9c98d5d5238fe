"""Mutual information: exact where it is called exact, and every bound holds."""

from __future__ import annotations

import json
import math
from itertools import chain, combinations
from pathlib import Path

import mpmath
import numpy as np
import pytest

from oracles import most_information
from tinct import ParameterError, local
from tinct.local import information_bounds
from tinct.local._mutual_information import (
    Classes,
    best_orbits,
    even_blocks,
    sampled_patterns,
    solve_patterns,
    written_out,
)
from tinct.local.column_programs import Pricer, generate
from tinct.local.parameters import LocalBudget

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())["mutual_information"]
PRIORS = 100  # of the paper's figures
ADVERSARIAL = 250  # priors that were made to break a bound
PEAKED = [0.5] + [0.5 / 49] * 49
BAD_EPSILON = [0, -1, math.nan, math.inf, 701, "nan", "", None, [1], True]
BAD_PRIOR = [[], [0.5, 0.4], [0.5, math.nan], [1.5, -0.5], [math.inf, 0], [[0.5, 0.5]], "half", None, 5]


def information(p, matrix):
    """The mutual information of symbol and output, from its definition."""
    joint = p[:, None] * matrix
    used = joint > 0
    return float((joint * np.log(np.where(used, matrix / joint.sum(axis=0), 1.0))).sum())


def require_private(mechanism):
    """Rows are distributions, and within every column the ratio is at most e^ε, up to rounding."""
    matrix = mechanism.matrix
    assert abs(matrix.sum(axis=1) - 1).max() <= 1e-12
    assert (matrix.max(axis=0) / mechanism.budget.growth <= matrix.min(axis=0) * (1 + 1e-12)).all()


def adversarial(rng, most=7):
    """A prior with ties, near ties, zeros, tiny probabilities, or one symbol that nearly always occurs."""
    k = int(rng.integers(2, most + 1))
    shapes = (
        lambda: rng.dirichlet(np.ones(k)),
        lambda: rng.integers(0, 4, k) + np.eye(k)[0],
        lambda: rng.choice([0.1, 0.1 * (1 + 1e-15), 0.1 * (1 - 2e-16), 0.3], k),
        lambda: 1 + 1e-14 * rng.normal(size=k),
        lambda: np.concatenate([[k - 1.0], np.ones(k - 1)]),
        lambda: np.exp(-rng.uniform(0, 40, k)),
        lambda: 2.0 ** -rng.integers(0, 60, k),
    )
    p = shapes[rng.integers(len(shapes))]()
    if rng.random() < 0.3:
        p[rng.integers(k)] = 0
    if not p.any():
        p[0] = 1
    return p / p.sum()


# values


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{len(case['prior'])}-{case['epsilon']}")
def test_values_and_bounds_are_the_golden_ones(case):
    """The optimum and the universal bound are met to ten digits, with no gap left."""
    mechanism = local.mutual_information(case["prior"], case["epsilon"])
    assert mechanism.value == pytest.approx(case["value"], rel=1e-10)
    assert mechanism.gap <= 1e-10 * mechanism.value
    assert information_bounds.universal_bound(LocalBudget.parse(case["epsilon"])) == pytest.approx(
        case["bound"], rel=1e-12
    )
    assert mechanism.information(case["prior"]) == pytest.approx(mechanism.value, rel=1e-10)
    require_private(mechanism)


def test_small_alphabets_equal_the_program_over_all_patterns():
    """On random priors, concentrated and not, with zeros and ties, at budgets from 0.003 to 12."""
    rng = np.random.default_rng(1)
    for number in range(60):
        k = int(rng.integers(2, 8))
        p = rng.dirichlet(np.full(k, rng.choice([0.3, 1.0, 10.0])))
        if number % 3 == 0:
            p = rng.integers(0, 4, k) + np.eye(k)[0]
            p = p / p.sum()
        epsilon = float(rng.choice([0.003, 0.1, 0.7, 2.0, 5.0, 12.0]))
        mechanism = local.mutual_information(p, epsilon)
        present = p[p > 0]
        # the oracle subtracts logarithms near 0, which costs digits at small budgets
        assert mechanism.value == pytest.approx(most_information(present, epsilon), rel=1e-8, abs=1e-13), (p, epsilon)
        assert information(p, mechanism.matrix) == pytest.approx(mechanism.value, rel=1e-9, abs=1e-14)
        require_private(mechanism)


@pytest.mark.parametrize(("k", "epsilon"), [(11, 0.5), (11, 3.0), (12, 1.0)])
def test_generated_columns_reach_the_whole_program(k, epsilon):
    """Where columns are generated, the value is that of the program with all 2^k of them, and the bound meets it."""
    p = np.random.default_rng(k).dirichlet(np.ones(k))
    found = generate(p, LocalBudget.parse(epsilon))
    assert found.value == pytest.approx(most_information(p, epsilon), rel=1e-8)
    assert found.value <= found.upper_bound <= found.value * (1 + 1e-8)


@pytest.mark.parametrize(("k", "epsilon", "gap"), [(16, 2.0, 1e-8), (24, 4.0, 1e-6), (150, 1.0, 1e-4), (400, 9.0, 0.2)])
def test_larger_alphabets_have_a_certified_gap(k, epsilon, gap):
    """The gap is stated, small, and the value is that of the matrix."""
    p = np.random.default_rng(k).dirichlet(np.ones(k))
    mechanism = local.mutual_information(p, epsilon)
    assert 0 <= mechanism.gap <= gap * mechanism.value
    assert information(p, mechanism.matrix) == pytest.approx(mechanism.value, rel=1e-9)
    assert mechanism.upper_bound <= information_bounds.entropy(p) * (1 + 1e-12)
    require_private(mechanism)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0])
def test_uniform_priors_are_solved_by_subset_selection(epsilon):
    """All subsets of the best size: equal to the program for small k, and without a gap for a million symbols."""
    for k in (2, 3, 5, 7):
        mechanism = local.mutual_information([1 / k] * k, epsilon)
        assert mechanism.channel.kind == "subset"
        assert mechanism.value == pytest.approx(most_information(np.full(k, 1 / k), epsilon), rel=1e-8)
        assert information(np.full(k, 1 / k), mechanism.matrix) == pytest.approx(mechanism.value, rel=1e-10)
        best = max(local.subset_selection(k, epsilon, size=size).information([1 / k] * k) for size in range(1, k))
        assert mechanism.value == pytest.approx(best, rel=1e-12)
    huge = local.mutual_information(np.full(100_000, 1e-5), epsilon)
    assert huge.gap == 0
    assert huge.value <= information_bounds.universal_bound(LocalBudget.parse(epsilon)) * (1 + 1e-12)


def test_trivial_priors():
    """One symbol, or one that always occurs, says nothing; symbols that never occur change nothing."""
    for p in ([1.0], [1.0, 0.0], [0.0, 1.0, 0.0]):
        mechanism = local.mutual_information(p, 1)
        assert (mechanism.value, mechanism.gap) == pytest.approx((0, 0), abs=1e-15)
        assert mechanism.matrix.shape[0] == len(p)
    with_zero = local.mutual_information([0.5, 0.0, 0.3, 0.2], 2)
    assert with_zero.value == pytest.approx(local.mutual_information([0.5, 0.3, 0.2], 2).value, rel=1e-12)
    require_private(with_zero)


def test_large_budgets_keep_nearly_everything():
    """Beyond what a solver resolves, randomized response is within a hair of the entropy."""
    p = [0.4, 0.3, 0.2, 0.1]
    for epsilon in (25.0, 700.0):
        mechanism = local.mutual_information(p, epsilon)
        assert mechanism.gap <= 1e-8 * mechanism.value
        require_private(mechanism)


def test_adversarial_priors_at_every_budget():
    """Ties, near ties, zeros, tiny probabilities: the value is the program's, within the bound, on the right side."""
    rng = np.random.default_rng(11)
    for _ in range(ADVERSARIAL):
        p, epsilon = adversarial(rng), float(rng.choice([1e-4, 1e-3, 0.1, 0.5, 1, 2, 4, 8, 12, 16, 20]))
        mechanism = local.mutual_information(p, epsilon)
        require_private(mechanism)
        present = p[p > 0]
        if len(present) > 1:
            # a symbol of probability 1 − 1e-12 leaves four digits of what the others say
            rounding = 1e-8 * mechanism.value + 1e-15
            best = most_information(present, epsilon)
            assert best <= mechanism.upper_bound + rounding, (p, epsilon)
            assert best == pytest.approx(mechanism.value, abs=rounding), (p, epsilon)
            assert "exact" in mechanism.note
            assert mechanism.randomiser  # proved private in whole units


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 5.0, 25.0, 100.0, 700.0])
def test_two_symbols_are_exact_at_every_budget(epsilon):
    """Randomized response, with its information to fifty digits; symbols that never occur share a row."""
    with mpmath.workdps(400):
        low = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        entropy = lambda z: -z * mpmath.log(z) - (1 - z) * mpmath.log1p(-z)  # noqa: E731
        for share in (0.5, 0.25, 2.0**-20):
            z = mpmath.mpf(share)
            exact = float(entropy(z * (1 - low) + (1 - z) * low) - entropy(low))
            for p in ([share, 1 - share], [0.0, 1 - share, 0.0, share]):
                mechanism = local.mutual_information(p, epsilon)
                assert mechanism.value == pytest.approx(exact, rel=1e-9)
                assert mechanism.gap <= 1e-7 * mechanism.value
                assert "exact" in mechanism.note
                assert mechanism.matrix.shape == (len(p), 2)
                assert mechanism.randomiser
                require_private(mechanism)


# symbols of equal probability


def test_a_peaked_prior_is_solved_exactly():
    """One symbol with half of the probability, 49 with the rest: blocks of symbols would leave a gap of 4.4 %."""
    for epsilon in (0.1, 0.5, 1, 2, 4, 8, 15, 20):
        mechanism = local.mutual_information(PEAKED, epsilon)
        assert mechanism.gap <= 1e-9 * mechanism.value
        assert information(np.array(PEAKED), mechanism.matrix) == pytest.approx(mechanism.value, rel=1e-9)
        assert mechanism.matrix.shape[1] <= 50
        require_private(mechanism)
    assert local.mutual_information(PEAKED, 1).value == pytest.approx(0.117845252783190, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0, 12.0])
def test_the_program_over_orbits_equals_the_one_over_all_patterns(epsilon):
    """On random priors with classes of equal probability; its mechanism has that value, and its bound is not below."""
    rng = np.random.default_rng(12)
    budget = LocalBudget.parse(epsilon)
    for _ in range(12):
        k = int(rng.integers(3, 9))
        p = rng.choice(rng.dirichlet(np.ones(3)), k)
        p = p / p.sum()
        classes = Classes.parse(p)
        orbits = best_orbits(p, classes, budget)
        made = written_out(p, classes, orbits, budget)
        best = most_information(p, epsilon)
        assert made.value == pytest.approx(best, rel=1e-8, abs=1e-13)
        assert orbits.upper_bound == pytest.approx(best, rel=1e-8, abs=1e-13)
        assert made.matrix.shape[1] <= k
        assert information(p, made.matrix) == pytest.approx(made.value, rel=1e-8, abs=1e-14)


@pytest.mark.parametrize(("sizes", "epsilon"), [((1, 11), 1.0), ((4, 8), 3.0), ((3, 4, 5), 0.5), ((1, 2, 9), 6.0)])
def test_twelve_symbols_in_classes_equal_the_whole_program(sizes, epsilon):
    """Through the public function, with a symbol that never occurs in between."""
    p = np.repeat([0.6, 0.1, 0.3][: len(sizes)], sizes)
    p = np.insert(p / p.sum(), 5, 0.0)
    mechanism = local.mutual_information(p, epsilon)
    assert mechanism.value == pytest.approx(most_information(p[p > 0], epsilon), rel=1e-8)
    assert mechanism.gap <= 1e-9 * mechanism.value
    assert mechanism.matrix.shape[1] <= 12
    require_private(mechanism)


@pytest.mark.parametrize("orbit", [(0, 3), (1, 2), (2, 7), (3, 0), (3, 8), (1, 5), (2, 4)])
def test_sampled_patterns_raise_every_symbol_of_a_class_equally_often(orbit):
    """Each pattern raises what the orbit says, shares sum to 1, a symbol is raised with share d/n; few patterns."""
    classes = Classes.parse(np.repeat([0.1, 0.0875], [3, 8]))
    assert classes.sizes.tolist() == [8, 3]
    wanted = np.array(orbit[::-1])
    raised, shares = sampled_patterns(wanted, classes)
    assert len(raised) <= 11
    assert math.fsum(shares) == pytest.approx(1, rel=1e-15)
    assert min(shares) > 0
    for number, (count, size) in enumerate(zip(wanted, classes.sizes, strict=True)):
        inside = raised[:, classes.of == number]
        assert (inside.sum(axis=1) == count).all()
        assert shares @ inside == pytest.approx(np.full(size, count / size), abs=1e-15)


def test_near_ties_are_as_good_as_ties():
    """Probabilities that differ by rounding, or by a trillionth, are one class, and the bound still holds."""
    rng = np.random.default_rng(13)
    tied = local.mutual_information(PEAKED, 2)
    for noise in (1e-15, 1e-14, 1e-13):
        p = np.array(PEAKED) * (1 + noise * rng.normal(size=50))
        mechanism = local.mutual_information(p / p.sum(), 2)
        assert mechanism.value == pytest.approx(tied.value, rel=100 * noise)
        assert mechanism.gap <= 1e-9 * mechanism.value
        assert "exact" in mechanism.note
    few = np.array([0.4, 0.2, 0.2 * (1 + 1e-13), 0.1, 0.1])
    few = few / few.sum()
    orbits = best_orbits(few, Classes.parse(few), LocalBudget.parse(1))
    assert len(Classes.parse(few).sizes) == 3
    assert orbits.upper_bound >= most_information(few, 1) * (1 - 1e-9)


@pytest.mark.parametrize(("k", "epsilon"), [(120, 0.5), (300, 4.0), (500, 1.0), (500, 10.0), (800, 1.0)])
def test_hundreds_of_symbols_in_a_few_classes(k, epsilon):
    """Up to 500 symbols are exact with at most one output each; beyond, the bound is that of the program."""
    p = np.concatenate([[float(k)], np.full(10, 5.0), np.ones(k - 11)])
    mechanism = local.mutual_information(p / p.sum(), epsilon)
    assert 0 <= mechanism.gap <= (1e-9 if k <= 500 else 1e-6) * mechanism.value
    assert mechanism.matrix.shape[1] <= k
    assert "orbit" in mechanism.certificate.method
    require_private(mechanism)


# few outputs


def fewest(p, epsilon):
    """The least number of patterns of which some weights make an optimal mechanism, by trying all sets of patterns."""
    k = len(p)
    raised = (np.arange(1, 2**k)[:, None] >> np.arange(k)) & 1
    columns = np.where(raised, 1.0, math.exp(-epsilon))
    worth = information_bounds.column_worth(np.minimum(raised @ p, 1.0), LocalBudget.parse(epsilon))
    best = most_information(p, epsilon)
    for count in range(1, k + 1):
        for chosen in combinations(range(len(columns)), count):
            some = columns[list(chosen)]
            weights = np.linalg.lstsq(some.T, np.ones(k), rcond=None)[0]
            whole = abs(weights @ some - 1).max() < 1e-10 and weights.min() > -1e-12
            if whole and weights @ worth[list(chosen)] > best * (1 - 1e-9):
                return count
    raise AssertionError


@pytest.mark.parametrize(
    ("p", "epsilon"),
    [
        ([0.4, 0.2, 0.2, 0.2], 0.1),
        ([0.3, 0.3, 0.2, 0.2], 0.5),
        ([0.3, 0.3, 0.2, 0.2], 4.0),
        ([0.4, 0.4, 0.1, 0.1], 1.0),
        ([0.5, 0.125, 0.125, 0.125, 0.125], 1.0),
        ([0.4, 0.3, 0.2, 0.1], 2.0),
    ],
)
def test_small_alphabets_get_the_fewest_outputs(p, epsilon, capfd):
    """Where several mechanisms are optimal, none has fewer outputs, by enumeration; and nothing is printed."""
    made = solve_patterns(np.array(p), LocalBudget.parse(epsilon))
    assert made.matrix.shape[1] == fewest(np.array(p), epsilon)
    assert capfd.readouterr() == ("", "")


def test_no_more_outputs_than_symbols_that_occur(capfd):
    """On adversarial priors up to ten symbols; ten with many ties take a moment, and nothing is printed."""
    rng = np.random.default_rng(14)
    for number in range(60):
        p = adversarial(rng, most=10)
        if number % 3 == 0:
            p = rng.integers(1, 5, 10) + 0.0
            p = p / p.sum()
        mechanism = local.mutual_information(p, float(rng.choice([0.01, 0.3, 1.0, 4.0, 16.0])))
        if mechanism.channel.kind != "subset":
            assert mechanism.matrix.shape[1] <= np.count_nonzero(p)
    assert capfd.readouterr() == ("", "")


def test_an_optimum_that_is_randomized_response_says_so():
    """Cells are recognised, which are run exactly at every budget; two halves are two outputs."""
    halves = local.mutual_information([0.35, 0.3, 0.2, 0.15], 0.001)
    assert halves.cells == ((0, 3), (1, 2))
    apart = local.mutual_information([0.35, 0.3, 0.2, 0.15], 15)
    assert list(apart.cells) == [(0,), (1,), (2,), (3,)]


# bounds


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 3.0, 8.0, 20.0])
def test_the_bound_is_never_below_the_program(epsilon):
    """Rates, lemma 26 and entropy against the program over all patterns, on adversarial priors with zeros."""
    rng = np.random.default_rng(15)
    for _ in range(ADVERSARIAL):
        p = adversarial(rng)
        present = p[p > 0]
        bound = local.information_bound(p, epsilon)
        assert bound >= most_information(present, epsilon) * (1 - 1e-8) - 1e-15, (p, epsilon)
        assert bound == pytest.approx(local.information_bound(present, epsilon), rel=1e-12)


def test_lemma_26_lowers_the_bound():
    """For (0.9, 0.1) and ε = 1 from 0.0734 to 0.0463, where the optimum is 0.0410; it matters for about a quarter."""
    budget, rng = LocalBudget.parse(1), np.random.default_rng(16)
    assert float(information_bounds.rate([0.1, 0.9], budget).max()) == pytest.approx(0.0734, abs=5e-5)
    assert local.information_bound([0.9, 0.1], 1) == pytest.approx(0.046267, abs=5e-7)
    lowered = 0
    for _ in range(300):
        k = int(rng.integers(2, 9))
        p, at = rng.dirichlet(np.ones(k)), LocalBudget.parse(float(np.exp(rng.uniform(-3, 2))))
        sums = [math.fsum(p[list(subset)]) for subset in subsets(k)][1:]
        rates = float(information_bounds.rate(np.minimum(sums, 1.0), at).max())
        lowered += local.information_bound(p, at) < min(rates, information_bounds.entropy(p)) * (1 - 1e-9)
    assert 40 <= lowered <= 120


def test_column_worth_has_all_its_digits():
    """The worth of a column, scaled, agrees with fifty digits of zEε − x ln x from tiny to large budgets."""
    mpmath.mp.dps = 60
    for epsilon in (1e-6, 1e-3, 0.5, 5.0, 60.0):
        budget = LocalBudget.parse(epsilon)
        growth = mpmath.exp(mpmath.mpf(epsilon))
        for z in (1e-6, 0.1, 0.5, 0.9, 1 - 1e-6):
            x = 1 + (growth - 1) * mpmath.mpf(z)
            exact = (mpmath.mpf(z) * growth * mpmath.mpf(epsilon) - x * mpmath.log(x)) / growth
            assert float(information_bounds.column_worth(z, budget)) == pytest.approx(float(exact), rel=1e-10)
        c = growth * mpmath.mpf(epsilon) / (growth - 1)
        assert information_bounds.universal_bound(budget) == pytest.approx(float(c - 1 - mpmath.log(c)), rel=1e-12)
        assert information_bounds.best_share(budget) == pytest.approx(float((c - 1) / (growth - 1)), rel=1e-12)


def test_the_rate_has_its_maximum_where_the_theory_says():
    """No z on a fine grid has a larger rate than the universal bound, and the best share attains it."""
    for epsilon in (0.01, 1.0, 6.0):
        budget = LocalBudget.parse(epsilon)
        bound = information_bounds.universal_bound(budget)
        assert information_bounds.rate(np.linspace(0, 1, 10_001), budget).max() <= bound * (1 + 1e-12)
        assert float(information_bounds.rate(information_bounds.best_share(budget), budget)) == pytest.approx(
            bound, rel=1e-12
        )


def test_bounds_hold_for_every_mechanism():
    """No named or optimal mechanism exceeds the bound for its prior, which is never above the universal one."""
    rng = np.random.default_rng(2)
    for _ in range(15):
        p = rng.dirichlet(np.full(6, rng.choice([0.2, 1.0])))
        for epsilon in (0.3, 2.0, 6.0):
            bound = local.information_bound(p, epsilon)
            assert bound <= information_bounds.universal_bound(LocalBudget.parse(epsilon)) * (1 + 1e-12)
            for line in local.compare(p, epsilons=[epsilon]):
                best = line.values["optimal"]
                assert best <= bound * (1 + 1e-9)
                assert all(value is None or value <= best * (1 + 1e-8) + 1e-13 for value in line.values.values())


def test_more_than_forty_symbols_have_a_bound_too():
    """With one likely symbol the sets between 1 − p and p do not exist, which the bound knows."""
    p = np.concatenate([[0.9], np.full(60, 0.1 / 60)])
    few = np.concatenate([[0.9], np.full(20, 0.1 / 20)])
    universal = information_bounds.universal_bound(LocalBudget.parse(1))
    assert local.information_bound(p, 1) == pytest.approx(local.information_bound(few, 1), rel=1e-9)
    assert local.information_bound(p, 1) < 0.7 * universal


def test_the_papers_expansions():
    """Corollaries 15 and 16: the leading terms are right at small and large ε, and hold with slack."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        p = rng.dirichlet(np.full(5, 2.0))
        value = local.mutual_information(p, 1e-3).value
        assert value == pytest.approx(local.small_budget_information(p, 1e-3), rel=1e-2)
        assert value <= local.small_budget_information(p, 1e-3, slack=0.01)
        value = local.mutual_information(p, 16.0).value
        assert value <= local.large_budget_information(p, 16.0, slack=0.5)
        lost = information_bounds.entropy(p) - value
        # what is left out is of the order e^−ε, that is 1/ε of the leading term
        assert lost == pytest.approx(information_bounds.entropy(p) - local.large_budget_information(p, 16.0), rel=0.5)


def test_the_better_of_binary_and_randomized_response_reaches_the_papers_share():
    """Section 4.2: at least 65 % of the optimum for 12 symbols. Theorem 13 holds up to ε = 1."""
    rng = np.random.default_rng(2016)
    worst = 1.0
    for _ in range(PRIORS):
        p = rng.dirichlet(np.ones(12))
        for epsilon in (0.5, 1.0, 2.0, 3.0, 4.0, 6.0):
            bound = local.information_bound(p, epsilon)
            binary = local.binary_information(p, epsilon).value
            response = local.randomized_response(12, epsilon).information(p)
            share = max(binary, response) / bound
            if share < 0.65:  # the bound may be loose; the optimum takes longer
                share = max(binary, response) / local.mutual_information(p, epsilon).value
            worst = min(worst, share)
            if epsilon <= 1:
                assert binary >= local.binary_information_share(epsilon) * bound
    assert 0.65 <= worst < 0.9  # the optimum is worth computing


# partitions


def subsets(count):
    """All subsets of 0..count − 1."""
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


@pytest.mark.parametrize("target", [0.0, 0.1, 0.34, 0.5, 0.77, 1.0])
def test_nearest_subset_sums_equal_enumeration(target):
    """The largest sum up to the target and the least from it on, against all 2^k subsets, with ties and zeros."""
    rng = np.random.default_rng(4)
    for number in range(25):
        k = int(rng.integers(1, 11))
        p = rng.dirichlet(np.ones(k)) if number % 2 else rng.integers(0, 4, k) + np.eye(k)[0]
        p = p / p.sum()
        sums = [math.fsum(p[list(subset)]) for subset in subsets(k)]
        below, above = information_bounds.around(p, target)
        rounding = 1e-15
        assert below.share == pytest.approx(max(s for s in sums if s <= target + rounding), abs=1e-14)
        assert above.share == pytest.approx(min(s for s in sums if s >= target - rounding), abs=1e-14)
        for found in (below, above):
            assert math.fsum(p[found.members]) == found.share
            assert len(set(found.members.tolist())) == len(found.members)


def test_binary_information_has_the_most_even_partition():
    """No two-cell mechanism has more mutual information, by enumeration; forty symbols take a moment, not forever."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        p = rng.dirichlet(np.ones(8))
        mechanism = local.binary_information(p, 1.3)
        growth = math.exp(1.3)
        best = 0.0
        for subset in subsets(8):
            inside = np.isin(np.arange(8), subset)
            matrix = np.where(inside[:, None] == np.array([True, False]), growth, 1.0) / (growth + 1)
            best = max(best, information(p, matrix))
        assert mechanism.value == pytest.approx(best, rel=1e-10)
        assert mechanism.information(p) == pytest.approx(mechanism.value, rel=1e-10)
        require_private(mechanism)
    p = rng.dirichlet(np.ones(40))
    assert abs(information_bounds.halves(p).share - 0.5) < 1e-9
    assert information_bounds.halves(p).exact


def test_a_partition_of_many_symbols_is_not_called_exact_unless_it_hits():
    """Beyond forty symbols the mechanism states how much a perfect partition would have."""
    p = np.random.default_rng(6).dirichlet(np.ones(60))
    half = information_bounds.halves(p)
    mechanism = local.binary_information(p, 1)
    assert half.exact == (abs(half.share - 0.5) <= 1e-15)
    assert mechanism.gap <= 1e-9
    assert ("may not be" in mechanism.note) == (not half.exact)


SEVERAL = [[1 / 3] * 3, [0.4, 0.4, 0.2], [0.4, 0.2, 0.0, 0.4], [0.25] * 4]
ONE = [[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.35, 0.3, 0.2, 0.15], [0.0, 0.6, 0.4]]


@pytest.mark.parametrize("p", SEVERAL + ONE, ids=str)
def test_small_budgets_are_claimed_where_no_other_partition_is_as_even(p):
    """Theorem 12 of the paper needs that: with it two cells are optimal for small ε, without it nothing is claimed."""
    values = [(local.binary_information(p, e), local.mutual_information(p, e)) for e in (1e-4, 1e-3, 1e-2)]
    assert {"among all mechanisms for small enough ε" in binary.note for binary, _ in values} == {p in ONE}
    if p in ONE:
        assert all(binary.value == pytest.approx(best.value, rel=1e-9) for binary, best in values)


def test_randomized_response_is_optimal_at_large_budgets_for_priors_without_zeros():
    """What its note says; with a symbol that never occurs, an output is wasted at every ε."""
    for p in ([0.5, 0.3, 0.2], [0.25] * 4, [0.4, 0.3, 0.3], [0.7, 0.1, 0.1, 0.05, 0.05]):
        response = local.randomized_response(len(p), 16)
        assert "every symbol has a positive probability" in response.note
        assert response.information(p) == pytest.approx(local.mutual_information(p, 16).value, rel=1e-10)
    wasted = local.randomized_response(3, 16).information([0.5, 0.5, 0.0])
    assert wasted < local.mutual_information([0.5, 0.5, 0.0], 16).value * (1 - 1e-7)


# pricing and blocks


def test_pricing_equals_enumeration():
    """Branch and bound finds the best set; cut short, its bound still holds."""
    rng = np.random.default_rng(7)
    for _ in range(30):
        k = int(rng.integers(2, 11))
        p, budget = rng.dirichlet(np.ones(k)), LocalBudget.parse(float(rng.choice([0.1, 1.0, 4.0])))
        scale = float(information_bounds.column_worth(0.5, budget))
        costs = scale * rng.normal(size=k)
        rent = scale * float(rng.uniform(0, 1))
        best = max(
            float(information_bounds.column_worth(p[list(s)].sum(), budget))
            - rent * (budget.low + budget.span * p[list(s)].sum())
            - costs[list(s)].sum()
            for s in subsets(k)
        )
        pricer = Pricer(p, costs, rent, budget)
        priced = pricer.best(1e-15, 10_000)
        assert priced.surplus[0] == pytest.approx(best, rel=1e-9, abs=1e-14)
        assert priced.bound == pytest.approx(best, rel=1e-9, abs=1e-13)
        assert pricer.best(0.0, 1).bound >= best - 1e-13


def test_even_blocks_partition_the_symbols():
    """Every symbol has a block, and no block exceeds the mean by more than the likeliest symbol."""
    p = np.random.default_rng(8).dirichlet(np.ones(100))
    blocks = even_blocks(p, 7)
    masses = np.bincount(blocks, p)
    assert len(masses) == 7
    assert masses.max() <= 1 / 7 + p.max()


# bad input


@pytest.mark.parametrize("epsilon", BAD_EPSILON, ids=repr)
def test_bad_budgets_are_refused(epsilon):
    """With an error that names epsilon."""
    for call in (local.mutual_information, local.binary_information, local.information_bound):
        with pytest.raises(ParameterError, match="epsilon"):
            call([0.5, 0.3, 0.2], epsilon)


@pytest.mark.parametrize("prior", BAD_PRIOR, ids=repr)
def test_bad_priors_are_refused(prior):
    """With an error that names the prior."""
    for call in (local.mutual_information, local.binary_information, local.information_bound):
        with pytest.raises(ParameterError, match="prior"):
            call(prior, 1)


def test_binary_needs_two_symbols():
    """One symbol cannot be split; a prior of another length is refused by a mechanism."""
    with pytest.raises(ParameterError, match="two symbols"):
        local.binary_information([1.0], 1)
    with pytest.raises(ParameterError, match="3 probabilities"):
        local.randomized_response(3, 1).information([0.5, 0.5])
