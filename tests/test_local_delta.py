"""(ε, δ) for every alphabet: nothing private beats the program, k = 2 is the quaternary mechanism, units keep δ."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.oracles import climbed_divergence

from tinct import ParameterError, local
from tinct.errors import FileError
from tinct.local._mutual_information import chain_bound, information_of
from tinct.local._optimal import divergence_certificate
from tinct.local.delta_programs import best_with_delta, entries, excesses, graded, largest_excess, two_levels
from tinct.local.divergences import Utility
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanism_files import read_mechanism, write_mechanism
from tinct.local.parameters import LocalBudget

P0, P1 = [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]
DIVERGENCES = ["kl", "reverse-kl", "chi2", "hellinger", "tv", "js", "hockey-stick:1.5"]
SEARCHES = 200 if os.environ.get("TINCT_EVIDENCE") else 50


def uniform(seed):
    """A seeded stand-in for entropy."""
    return np.random.default_rng(seed).bytes


# the columns


@pytest.mark.parametrize("k", [2, 3, 4])
def test_columns_are_all_gradings_without_gaps(k):
    """Against the list of all exponents; there are 5, 25 and 149."""
    every = {
        levels
        for levels in product(range(-1, k), repeat=k)
        if set(levels) - {-1} == set(range(max(levels) + 1)) and max(levels) >= 0
    }
    found = [tuple(row) for row in graded(k).tolist()]
    assert len(found) == len(set(found)) == len(every) == {2: 5, 3: 25, 4: 149}[k]
    assert set(found) == every


def test_any_column_is_a_sum_of_these_with_the_same_excesses():
    """The cone of a column is spanned by gradings: what rows and δ cost, and what it is worth, is no less."""
    rng = np.random.default_rng(4)
    budget = LocalBudget.parse(0.7)
    levels = graded(3)
    table, over = entries(levels, budget), excesses(levels, budget)
    from scipy.optimize import linprog

    for _ in range(100):
        column = rng.dirichlet(np.ones(3)) * (rng.random(3) < 0.8)
        if not column.any():
            continue
        pairs = [max(0.0, a - budget.growth * b) for x, a in enumerate(column) for z, b in enumerate(column) if x != z]
        system = np.vstack([table.T, over.T])
        solved = linprog(np.zeros(len(table)), A_eq=system, b_eq=np.concatenate([column, pairs]), method="highs")
        assert solved.status == 0


# the optimum


@pytest.mark.parametrize("utility", DIVERGENCES)
def test_two_symbols_are_the_quaternary_mechanism(utility):
    """Value and bound equal its divergence, for many pairs and budgets."""
    rng = np.random.default_rng(1)
    for epsilon, delta in product((0.01, 0.5, 2, 8), ("1e-6", "0.01", "0.3")):
        p, q = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(2))
        best = local.quaternary(epsilon, delta).divergence(p, q, utility)
        found = local.optimal(p, q, epsilon, utility, delta=delta)
        assert found.value == pytest.approx(best, rel=1e-9, abs=1e-14)
        assert found.upper_bound == pytest.approx(best, rel=1e-8, abs=1e-12)


def test_no_search_finds_more():
    """Climbing from random mechanisms by linear programs, each a step of a convex maximisation, never gets higher."""
    rng = np.random.default_rng(2)
    close = 0
    for search in range(SEARCHES):
        k = 3 + search % 2
        epsilon, delta = float(rng.uniform(0.2, 3)), float(rng.choice([0.001, 0.02, 0.1, 0.3]))
        utility = ("kl", "chi2", "hellinger", "js")[search % 4]
        p, q = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))
        found = local.optimal(p, q, epsilon, utility, delta=delta)
        assert found.gap <= 1e-8 * found.value + 1e-13
        climbed = climbed_divergence(p, q, epsilon, delta, utility, rng, outputs=k + 4)
        assert climbed <= found.value * (1 + 1e-7) + 1e-12
        close += climbed >= 0.98 * found.value
        assert largest_excess(found.matrix, found.budget) <= delta * (1 + 1e-12)
    assert close >= SEARCHES // 2  # the search is no straw man


def test_the_program_finds_more_than_revealing():
    """Sometimes: this pair was searched for; the table is then written out."""
    rng = np.random.default_rng(0)
    better = 0
    for _ in range(30):
        p, q = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
        found = local.optimal(p, q, 3, delta="0.1")
        plain = 0.1 * local.divergence(p, q) + 0.9 * local.optimal(p, q, 3).value
        assert found.value >= plain * (1 - 1e-12)
        assert found.value <= plain * 1.02
        better += found.channel.kind == "table"
    assert 3 <= better <= 27


def test_without_delta_nothing_changes():
    """The program over two levels equals that over all patterns, and δ → 0 approaches it."""
    plain = local.optimal(P0, P1, 1)
    assert local.optimal(P0, P1, 1, delta=0).value == plain.value
    assert local.robust([(P0, P1)], 1).value == pytest.approx(plain.value, rel=1e-9)
    assert local.optimal(P0, P1, 1, delta="1e-12").value == pytest.approx(plain.value, rel=1e-9)
    assert len(two_levels(4)) == 15


def test_many_symbols_are_bounded_from_above():
    """Beyond seven ratios the bound is that of split ratios: above the value, and above what the program finds."""
    rng = np.random.default_rng(7)
    p, q = rng.dirichlet(np.ones(40)), rng.dirichlet(np.ones(40))
    found = local.optimal(p, q, 1, delta="0.01")
    assert found.name == "reveal or cells"
    assert "within the gap" in found.note
    assert found.value == pytest.approx(0.01 * local.divergence(p, q) + 0.99 * local.optimal(p, q, 1).value, rel=1e-12)
    assert found.value <= found.upper_bound <= 1.2 * found.value
    assert found.divergence(p, q) == pytest.approx(found.value, rel=1e-9)
    six = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    split = [np.repeat(side, 2) / 2 for side in six]
    whole = local.optimal(*six, 1, delta="0.05")
    assert local.optimal(*split, 1, delta="0.05").value == pytest.approx(whole.value, rel=1e-9)


def test_bounds_by_split_ratios_hold(monkeypatch):
    """With seven ratios both can be computed: the bound of the shorter pair is no less than the optimum."""
    from tinct.local import _optimal

    rng = np.random.default_rng(8)
    for _ in range(3):
        p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
        best = local.optimal(p, q, 1.5, delta="0.05")
        monkeypatch.setattr(_optimal, "MAX_GRADED", 4)
        bound = divergence_certificate(best.hypotheses, best.budget, Utility.parse("kl"), best.value, best.exact_delta)
        monkeypatch.undo()
        assert "split ratios" in bound.method
        assert bound.upper_bound >= best.value * (1 - 1e-9)


def test_symbols_that_never_occur_and_zeros():
    """A symbol nobody has may do anything; one that only P0 has makes KL infinite, and total variation large."""
    found = local.optimal([0.5, 0.5, 0, 0], [0.1, 0.7, 0, 0.2], 1, "tv", delta="0.1")
    assert found.gap <= 1e-9
    assert found.matrix.shape[0] == 4
    found.randomiser.prove()
    with pytest.raises(ParameterError, match="infinite"):
        local.optimal([0.5, 0.5], [1, 0], 1, delta="0.1")
    assert local.optimal([0.5, 0.5], [1, 0], 1, "reverse-kl", delta="0.1").gap <= 1e-9


# information, utilities of one's own, several pairs


def test_information_with_delta():
    """Exact up to six symbols, quaternary for two, and never below revealing; bounded beyond."""
    for prior in ([0.7, 0.3], [0.5, 0.3, 0.2], [0.25] * 4, [0.4, 0.3, 0.1, 0.1, 0.1], [0.5, 0, 0.3, 0.2]):
        found = local.mutual_information(prior, 1, delta="0.02")
        entropy = -sum(p * math.log(p) for p in prior if p)
        assert found.gap <= 1e-8
        assert found.value >= 0.02 * entropy + 0.98 * local.mutual_information(prior, 1).value - 1e-12
        assert found.information(prior) == pytest.approx(found.value, rel=1e-9)
    two = local.mutual_information([0.7, 0.3], 1, delta="0.02")
    assert two.value == pytest.approx(local.quaternary(1, "0.02").information([0.7, 0.3]), rel=1e-9)
    for prior in ([0.1] * 10, [0.01] * 100):
        many = local.mutual_information(prior, 1, delta="0.02")
        assert many.value <= many.upper_bound
        assert "gap" in many.note


def test_the_chain_rule_bounds_information():
    """With few symbols, where the optimum is known: groups and what is within them cannot tell less."""
    budget = LocalBudget.parse(1)
    for prior in ([0.5, 0.3, 0.2], [0.4, 0.3, 0.1, 0.1, 0.1]):
        best = local.mutual_information(prior, 1, delta="0.05").value
        p = np.array(prior)
        assert chain_bound(p, budget, 0.05) >= best * (1 - 1e-9)
    halves = np.array([0.5, 0.5])
    assert information_of(np.eye(2), halves).sum() == pytest.approx(math.log(2))


def test_utilities_of_ones_own_with_delta():
    """The chance to guess the symbol, for a uniform prior: δ reveals, the rest is randomized response."""
    for k, epsilon, delta in product((2, 3, 4), (0.5, 2), (0.05, 0.3)):
        found = local.staircase(lambda column: column.max() / len(column), k, epsilon, delta=delta)
        response = local.randomized_response(k, epsilon).matrix[0, 0]
        assert found.value >= delta + (1 - delta) * response - 1e-9
        assert found.gap <= 1e-8
        found.randomiser.prove()
    with pytest.raises(ParameterError, match="at most 6 symbols"):
        local.staircase(max, 7, 1, delta="0.1")


@pytest.mark.parametrize("delta", ["0", "0.05"])
def test_several_pairs(delta):
    """The worst pair is as good as it can be, the average too; no mechanism of one pair does better for all."""
    rng = np.random.default_rng(5)
    pairs = [(rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))) for _ in range(3)]
    worst = local.robust(pairs, 1, delta=delta)
    mean = local.robust(pairs, 1, average=True, delta=delta)
    reached = [worst.divergence(*pair) for pair in pairs]
    assert worst.value == pytest.approx(min(reached), rel=1e-9)
    assert worst.gap <= 1e-8
    assert mean.gap <= 1e-8
    assert mean.value == pytest.approx(np.mean([mean.divergence(*pair) for pair in pairs]), rel=1e-9)
    assert mean.value >= np.mean(reached) * (1 - 1e-9)
    assert min(mean.divergence(*pair) for pair in pairs) <= worst.value * (1 + 1e-9)
    for pair in pairs:
        alone = local.optimal(*pair, 1, delta=delta)
        assert min(alone.divergence(*other) for other in pairs) <= worst.value * (1 + 1e-9)
    weighted = local.robust(pairs, 1, average=[0, 1, 0], delta=delta)
    assert weighted.value == pytest.approx(local.optimal(*pairs[1], 1, delta=delta).value, rel=1e-8)
    worst.randomiser.prove()


@pytest.mark.parametrize("weights", [1, 2])
def test_the_worst_case_is_a_game(weights):
    """The value of several pairs equals the least, over mixtures of the pairs, of the best average."""
    pairs = [([0.1, 0.2, 0.7], [0.5, 0.25, 0.25]), ([0.1, 0.8, 0.1], [0.2, 0.3, 0.5])][:weights]
    worst = local.robust(pairs, 1, delta="0.02").value
    mixtures = [[1.0]] if weights == 1 else [[t / 20, 1 - t / 20] for t in range(21)]
    best = min(local.robust(pairs, 1, average=mixture, delta="0.02").value for mixture in mixtures)
    assert worst <= best * (1 + 1e-9)
    assert best <= worst * 1.01


# units, reports, files

DESIGNS = {
    "reveal or cells": local.optimal(P0, P1, 1, delta="0.05"),
    "many symbols": local.optimal(np.arange(1, 41) / 820, np.arange(40, 0, -1) / 820, 2, delta="1/1000"),
    "a table": local.optimal([0.1, 0.2, 0.3, 0.4], [0.75, 0.05, 0.15, 0.05], 3, delta="0.1"),
    "information": local.mutual_information([0.5, 0.3, 0.1, 0.1], 2, delta="1e-6"),
    "robust": local.robust([(P0, P1), (P1, [0.25] * 4)], 1, delta="0.01"),
}  # fmt: skip


@pytest.mark.parametrize("name", DESIGNS)
def test_units_keep_epsilon_and_delta_exactly(name):
    """By the definition in rationals: no pair of symbols exceeds e^ε by more than δ of the units."""
    mechanism = DESIGNS[name]
    units = mechanism.randomiser
    total, growth = units.total, units.growth
    assert growth <= Fraction(math.exp(mechanism.epsilon)) * (1 + Fraction(1, 10**9))
    rows = _units(units)
    assert all(sum(row) == total for row in rows)
    for one, other in product(rows[:8], rows[-8:]):
        above = sum(max(0, a - growth * b) for a, b in zip(one, other, strict=True))
        assert above <= mechanism.exact_delta * total
    assert units.matrix() == pytest.approx(mechanism.matrix, abs=2e-9)


def _units(units):
    if units.kind == "table":
        return units.units.tolist()
    rows = []
    for x, cell in enumerate(units.cell_of.tolist()):
        row = [units.other] * units.count + [0] * units.size
        row[cell], row[units.count + x] = units.own, units.reveal
        rows.append(row)
    return rows


@pytest.mark.parametrize("name", ["reveal or cells", "a table"])
def test_reports_follow_the_table_and_files_keep_it(name, tmp_path):
    """40,000 draws for one symbol, the file read back, and estimates and tests from the reports."""
    mechanism = DESIGNS[name]
    path = tmp_path / "m.json"
    write_mechanism(mechanism, path)
    again = read_mechanism(path)
    assert again.exact_delta == mechanism.exact_delta
    assert again.randomiser.fields() == mechanism.randomiser.fields()
    assert again.upper_bound == pytest.approx(mechanism.upper_bound, rel=1e-8)
    reports = again.randomiser.draw(np.full(40_000, 2), uniform(3))
    seen = np.bincount(reports, minlength=mechanism.channel.outputs) / 40_000
    assert seen == pytest.approx(mechanism.matrix[2], abs=0.012)
    found = again.estimate(reports)
    assert found.frequencies[2] == pytest.approx(1, abs=0.2)
    assert found.likeliest.sum() == pytest.approx(1)
    assert again.test(reports[:200]).p_value <= 1
    assert again.sample_size(0.05) <= local.optimal(P0, P1, 1).sample_size(0.05) or name == "a table"


def test_one_draw_reveals_or_answers():
    """Every place of a small total, counted: as many as the units say."""
    units = DESIGNS["reveal or cells"].randomiser
    small = type(units)(4, 100, units.growth, units.epsilon, units.cell_of, units.count, 65, 25, 10, 10)
    counts = np.zeros((4, small.outputs), int)
    for place in range(100):
        drawn = small.draw_batch(np.arange(4), lambda size, word=place: np.full(size // 8, word, "<u8").tobytes())
        counts[np.arange(4), drawn] += 1
    assert counts.tolist() == _units(small)


def test_forged_files_are_refused(tmp_path):
    """A file that reveals more than its δ, or has no units left for cells."""
    import json

    path = tmp_path / "m.json"
    write_mechanism(DESIGNS["reveal or cells"], path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    total = int(whole["randomiser"]["denominator"])
    for changes in ({"reveal": str(total), "own": "0", "other": "0"}, {"own": "1"}, {"cells": 1}, {"reveal": "-1"},
                    {"reveal": str(int(whole["randomiser"]["reveal"]) + 1)}):  # fmt: skip
        edited = {**whole, "randomiser": {**whole["randomiser"], **changes}}
        path.write_text(json.dumps(edited), encoding="utf-8")
        with pytest.raises(FileError):
            LocalMechanism.from_json(path)


def test_one_unit_too_many_revealed_is_refused():
    """By the definition: units that reveal are units of δ, and are taken from those of the cells."""
    from dataclasses import replace

    from tinct.errors import NotPrivate

    units = DESIGNS["reveal or cells"].randomiser
    units.prove()
    for changes in ({"allowed": units.reveal - 1}, {"reveal": units.reveal - 1}, {"own": units.own + 1},
                    {"own": units.own + units.count - 1, "other": units.other - 1}):  # fmt: skip
        with pytest.raises(NotPrivate):
            replace(units, **changes).prove()


# bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: local.optimal(P0, P1, 1, delta=1), "delta"),
        (lambda: local.optimal(P0, P1, 1, delta=-0.1), "delta"),
        (lambda: local.optimal(P0, P1, 1, delta=math.nan), "delta"),
        (lambda: local.optimal(P0, P1, 1, delta="a"), "delta"),
        (lambda: local.mutual_information(P0, 1, delta=2), "delta"),
        (lambda: local.staircase(max, 3, 1, delta=math.inf), "delta"),
        (lambda: local.robust([], 1), "1 to 100 pairs"),
        (lambda: local.robust(5, 1), "pairs"),
        (lambda: local.robust([P0, P1], 1), "pairs"),
        (lambda: local.robust([(P0, P1), ([0.5, 0.5], [0.1, 0.9])], 1), "same symbols"),
        (lambda: local.robust([(P0, P1)], 1, average=[0.5, 0.5]), "weight for each"),
        (lambda: local.robust([(P0, P1)], 21), "above 20"),
        (lambda: local.robust([([1 / 13] * 13, [1 / 13] * 13)], 1), "at most 12"),
        (lambda: local.robust([([0.5, 0.5], [1, 0])], 1, delta="0.1"), "infinite"),
    ],
)  # fmt: skip
def test_bad_delta_designs_are_refused(call, message):
    """With the name of what is wrong."""
    with pytest.raises(ParameterError, match=message):
        call()


def test_worth_of_columns_is_what_the_program_says():
    """The program's value is that of its matrix."""
    budget = LocalBudget.parse(1)
    solved = best_with_delta(graded(3), budget, 0.1, lambda columns: columns.max(axis=1))
    assert solved.matrix.max(axis=0).sum() == pytest.approx(solved.upper_bound, rel=1e-9)
