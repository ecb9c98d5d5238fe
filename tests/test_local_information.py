"""Mutual information: exact where it is called exact, and every bound holds."""

from __future__ import annotations

import json
import math
from itertools import chain, combinations
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog

from tinct import ParameterError, local
from tinct.local import information_bounds
from tinct.local._mutual_information import even_blocks
from tinct.local.column_programs import Pricer, generate
from tinct.local.parameters import LocalBudget

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())["mutual_information"]
PRIORS = 100  # of the paper's figures
BAD_EPSILON = [0, -1, math.nan, math.inf, 701, "nan", "", None, [1], True]
BAD_PRIOR = [[], [0.5, 0.4], [0.5, math.nan], [1.5, -0.5], [math.inf, 0], [[0.5, 0.5]], "half", None, 5]


def information(p, matrix):
    """The mutual information of symbol and output, from its definition."""
    joint = p[:, None] * matrix
    used = joint > 0
    return float((joint * np.log(np.where(used, matrix / joint.sum(axis=0), 1.0))).sum())


def program(p, epsilon):
    """The best mutual information by the linear program over all 2^k patterns, from the definition."""
    k = len(p)
    raised = (np.arange(1, 2**k)[:, None] >> np.arange(k)) & 1
    columns = np.where(raised, 1.0, np.exp(-epsilon))
    mean = columns @ p
    worth = (p * columns * np.log(columns / mean[:, None])).sum(axis=1)
    unit = worth.max() or 1.0
    result = linprog(
        -worth / unit,
        A_eq=columns.T,
        b_eq=np.ones(k),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    return -result.fun * unit


def require_private(mechanism):
    """Rows are distributions, and within every column the ratio is at most e^ε, up to rounding."""
    matrix = mechanism.matrix
    assert abs(matrix.sum(axis=1) - 1).max() <= 1e-12
    assert (matrix.max(axis=0) / mechanism.budget.growth <= matrix.min(axis=0) * (1 + 1e-12)).all()


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
        assert mechanism.value == pytest.approx(program(present, epsilon), rel=1e-8, abs=1e-13), (p, epsilon)
        assert information(p, mechanism.matrix) == pytest.approx(mechanism.value, rel=1e-9, abs=1e-14)
        require_private(mechanism)


@pytest.mark.parametrize(("k", "epsilon"), [(11, 0.5), (11, 3.0), (12, 1.0)])
def test_generated_columns_reach_the_whole_program(k, epsilon):
    """Where columns are generated, the value is that of the program with all 2^k of them, and the bound meets it."""
    p = np.random.default_rng(k).dirichlet(np.ones(k))
    found = generate(p, LocalBudget.parse(epsilon))
    assert found.value == pytest.approx(program(p, epsilon), rel=1e-8)
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
        assert mechanism.value == pytest.approx(program(np.full(k, 1 / k), epsilon), rel=1e-8)
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


# bounds


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
