"""The mode by linear program: the largest mean truth, proved private in whole numbers, never worse than the rule."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import tinct
from oracles import most_mean_truth
from tinct import asking, mode
from tinct.numbers.amounts import Amount
from tinct.questions.modes import ModeTable, PermuteAndFlip, mode_design, mode_mechanism
from tinct.questions.modes.best_mean import MeanProgram, whole_weights
from tinct.questions.modes.coins import retention
from tinct.questions.modes.margins import clipped_margins, histogram_margins
from tinct.questions.modes.mode_design import certified_table, with_best_mean
from tinct.questions.modes.mode_proof import certify_rows

SOLVER = 1e-8  # the oracle keeps a constraint to 1e-10; hundreds of them add up
BY_PROGRAM = [
    (3, 9, "0.5", False), (3, 9, "0.5", True), (4, 7, "0.3", True), (5, 6, "ln 3/2", False), (6, 5, "0.1", True),
    (8, 5, "0.3", True), (3, 16, "0.05", False),
]  # fmt: skip


def amount(text):
    return Amount.parse(text, "epsilon")


def histograms(k, n, missing):
    """All histograms of n people over k categories; with missing people, of at most n."""
    if missing:
        return [counts[:-1] for counts in histograms(k + 1, n, False)]
    if k == 1:
        return [(n,)]
    return [(first, *rest) for first in range(n + 1) for rest in histograms(k - 1, n - first, False)]


def neighbours(counts, n, missing):
    """All histograms after one person changed category, or entered or left all of them if people may be missing."""
    places = [*range(len(counts)), *([None] if missing else [])]
    for giver, taker in permutations(places, 2):
        if giver is None and sum(counts) == n:
            continue
        after = [count - (at == giver) + (at == taker) for at, count in enumerate(counts)]
        if min(after) >= 0:
            yield tuple(after)


def right(table, counts):
    """The exact probability of a largest category."""
    row = zip(table.row(counts), counts, strict=True)
    return Fraction(sum(weight for weight, count in row if count == max(counts)), table.total)


def explicit_mean(table, k, n, missing):
    """The mean truth from its definition, histogram by histogram."""
    all_of_them = histograms(k, n, missing)
    return sum(right(table, counts) for counts in all_of_them) / len(all_of_them)


def made(k, n, epsilon, missing):
    table = mode_mechanism(k, epsilon, neighbors="replace", n=n, missing=missing)
    assert isinstance(table, ModeTable)
    return table


# privacy


@pytest.mark.parametrize(("k", "n", "epsilon", "missing"), BY_PROGRAM)
def test_the_programs_table_is_private_between_all_neighbouring_histograms(k, n, epsilon, missing):
    """Every pair of neighbours, every category, both directions, in whole numbers: q·p ≤ p′, with q ≥ e^−ε."""
    table = made(k, n, epsilon, missing)
    assert table.rule == "linear program"
    q = retention(amount(epsilon))
    assert table.q == q
    pairs = 0
    for counts in histograms(k, n, missing):
        mine = table.row(counts)
        assert min(mine) > 0
        assert sum(mine) == table.total
        for other in neighbours(counts, n, missing):
            theirs = table.row(other)
            pairs += 1
            for a, b in zip(mine, theirs, strict=True):  # the other direction is another pair
                assert q.numerator * a <= q.denominator * b
    assert pairs > 100


def test_the_programs_table_uses_its_budget():
    """It is tight: with a billionth less ε it is no longer private."""
    table = made(12, 12, "0.3", missing=True)
    assert table.least_epsilon() == pytest.approx(0.3, abs=1e-9)
    assert table.least_epsilon() < 0.3


def test_a_table_that_exceeds_the_budget_is_moved_until_it_does_not():
    """A solution with noise a thousand times the solver's tolerance is still proved, with a little less truth."""
    space, epsilon = histogram_margins(4, 8, missing=True), amount("0.3")
    q = retention(epsilon)
    program = MeanProgram(space, q)
    solved = program.solve()
    rng = np.random.default_rng(1)
    for noise in (1e-12, 1e-9, 1e-7):
        shaken = np.empty_like(solved.table)
        for at, margins in enumerate(space.states.tolist()):
            moved = {margin: noise * rng.normal() for margin in set(margins)}
            shaken[at] = [x + moved[m] for x, m in zip(solved.table[at], margins, strict=True)]
        winners = space.states == 0
        losers = np.where(winners, 0.0, shaken).sum(axis=1)
        shaken = np.where(winners, (-losers / winners.sum(axis=1))[:, None], shaken)
        leanings = type(solved)(shaken, program._excess(shaken), solved.upper_bound)
        assert leanings.excess > noise / 10
        rows, total = whole_weights(space, leanings, q, 128)
        certify_rows(space, rows, total, q)
        table = ModeTable(epsilon, space, rows, total, q, "linear program", solved.upper_bound)
        assert solved.upper_bound - 100 * space.k * noise - 1e-9 <= table.mean_truth <= solved.upper_bound + 1e-12


# the best mean


@pytest.mark.parametrize(
    ("k", "n", "epsilon"), [(2, 5, 1.0), (3, 5, 0.5), (3, 7, 0.3), (3, 8, 2.0), (4, 5, 0.3), (4, 4, 1.0), (5, 4, 0.5)]
)
def test_the_bound_is_the_largest_mean_of_all_private_rules(k, n, epsilon):
    """A program over all rules, symmetric or not, finds what the one over states of margins finds."""
    best = most_mean_truth(histograms(k, n, missing=False), epsilon)
    table = made(k, n, epsilon, missing=False)
    assert table.best_mean == pytest.approx(best, abs=SOLVER)
    assert table.mean_truth <= best + SOLVER
    assert best <= table.mean_truth + table.mean_gap + SOLVER


@pytest.mark.parametrize(("k", "n", "epsilon"), [(3, 4, 0.5), (3, 6, 0.3), (4, 4, 1.0)])
def test_with_missing_people_other_rules_may_have_more(k, n, epsilon):
    """Rules that also look at how many are missing: the bound is for those that do not, and it says so."""
    table = made(k, n, epsilon, missing=True)
    best = most_mean_truth(histograms(k, n, missing=True), epsilon)
    assert table.mean_truth <= best + SOLVER
    assert "that looks at margins alone" in table.method
    assert "that looks at margins alone" not in made(k, n, epsilon, missing=False).method


def test_the_numbers_of_the_theory():
    """Twelve categories, twelve people, ε = 0.3, mean over all histograms: 0.2350 instead of 0.2220."""
    space = histogram_margins(12, 12)
    water = certified_table(space, amount("0.3"))
    table = made(12, 12, "0.3", missing=False)
    assert (round(water.mean_truth, 4), round(table.mean_truth, 4)) == (0.2220, 0.2350)
    assert water.rule == "water-filling for a smaller ε"
    assert table.mean_gap <= 1e-9
    with_missing = made(12, 12, "0.3", missing=True)
    assert certified_table(with_missing.space, amount("0.3")) is None
    assert round(with_missing.mean_truth, 4) == 0.2311


@pytest.mark.parametrize(("k", "n", "missing"), [(3, 6, False), (3, 6, True), (4, 5, True), (2, 4, True)])
def test_mean_truth_is_the_mean_over_all_histograms(k, n, missing):
    """Each histogram counts once, also those with missing people, of which several share a state."""
    table = made(k, n, "0.5", missing)
    assert sum(table.space.histograms) == len(histograms(k, n, missing))
    assert table.mean_truth == pytest.approx(float(explicit_mean(table, k, n, missing)), rel=1e-14)
    with pytest.raises(tinct.ParameterError, match="every number of people"):
        _ = clipped_margins(3, 4).histograms


# never worse


SWEEP = [
    (k, n, epsilon, missing)
    for k, n in [(2, 6), (3, 5), (3, 12), (4, 9), (5, 8), (6, 6), (7, 5), (8, 8), (12, 6), (16, 5)]
    for epsilon in ("0.05", "0.3", "1", "4")
    for missing in (False, True)
]


@pytest.mark.parametrize(("k", "n", "epsilon", "missing"), SWEEP)
def test_never_worse_than_what_it_replaces(k, n, epsilon, missing):
    """Mean truth at least that of certified water-filling; at every lead at least as often right; else as coins are."""
    space, exact = histogram_margins(k, n, missing=missing), amount(epsilon)
    water, coins = certified_table(space, exact), PermuteAndFlip(k, retention(exact, halved=True), "replace")
    table = made(k, n, epsilon, missing)
    if water is not None:
        assert table.mean_truth >= water.mean_truth
        assert table.rows == water.rows or table.mean_truth > water.mean_truth + mode_design.WORTHWHILE
    for lead in range(1, n + 1):
        assert table.truth(lead) >= (water or coins).truth(lead) - 2e-9
    assert table.best_mean >= table.mean_truth - 1e-12


def test_where_a_lead_would_suffer_the_program_is_solved_again():
    """Eight categories, twelve people, ε = 0.5: the largest mean is wrong more often at some lead; that is given up."""
    space, epsilon = histogram_margins(8, 12), amount("0.5")
    water, table = certified_table(space, epsilon), made(8, 12, "0.5", missing=False)
    free = MeanProgram(space, retention(epsilon)).solve()
    leads = space.states[:, 1]
    truths = 1 / 8 + float(1 - table.q) * free.table[:, 0]
    assert min(truths[leads >= 1]) < water.truth(1) - 0.02
    assert table.truth(1) >= water.truth(1) - 2e-9
    assert water.mean_truth + 0.005 < table.mean_truth < table.best_mean
    assert table.best_mean - table.mean_truth == pytest.approx(0.00042, abs=1e-5)
    assert table.method.endswith("no private mechanism is right more often by more than 0.0005")


# the choice


def test_the_same_table_every_time():
    """Twice the same public facts, twice the same weights: an id that was printed can be found again."""
    first, second = (made(12, 8, "0.3", missing=True) for _ in range(2))
    assert first.rule == "linear program"
    assert first.rows == second.rows


def test_many_histograms_are_not_tried():
    """Beyond 400 states, and above ε = 20, water-filling is used as it is, at once."""
    large = made(3, 90, "0.5", missing=False)
    assert len(large.rows) > mode_design.FEWER_HISTOGRAMS
    assert large.method == "water-filling on the histograms of n = 90"
    assert large.mean_gap is None
    assert made(3, 4, "21", missing=False).mean_gap is None


@pytest.mark.parametrize("break_", ["unsolved", "unproved"])
def test_without_a_solution_or_a_proof_the_rule_stays(break_, monkeypatch):
    """A solver that gives up, or returns what cannot be proved, costs nothing but the time."""
    if break_ == "unsolved":
        monkeypatch.setattr(MeanProgram, "solve", lambda *_: None)
    else:
        solve = MeanProgram.solve

        def wrong(program, least=None):
            solved = solve(program, least)
            return type(solved)(3 * solved.table, 0.0, solved.upper_bound)

        monkeypatch.setattr(MeanProgram, "solve", wrong)
    space, epsilon = histogram_margins(3, 9), amount("0.5")
    table = made(3, 9, "0.5", missing=False)
    assert table.rule == "water-filling"
    assert table.rows == certified_table(space, epsilon).rows
    assert (table.mean_gap is None) == (break_ == "unsolved")
    small = amount("0.1")
    coins = PermuteAndFlip(12, retention(small, halved=True), "replace")
    assert with_best_mean(None, coins, histogram_margins(12, 6, missing=True), small) is None
    assert isinstance(mode_mechanism(12, "0.1", neighbors="replace", n=12), PermuteAndFlip)


def test_progress_is_told_while_a_program_is_solved():
    """From 0 to 1 for the rule, then from 0 to 1 for the program."""
    seen = []
    mode_mechanism(12, "0.3", neighbors="replace", n=12, missing=False, progress=seen.append)
    assert seen[-4:] == [0.0, 0.4, 0.8, 1.0]
    assert all(0 <= share <= 1 for share in seen)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-5", "0.01", "5", "12", "20"])
def test_tiny_and_huge_budgets(epsilon):
    """From ε = 10^−9 to 20 the table is proved and its mean within the bound; a tiny ε gains a share of itself."""
    for k, n in ((3, 8), (9, 6)):
        table = made(k, n, epsilon, missing=True)
        assert table.proof.inequalities > 0
        assert table.mean_truth <= table.best_mean + 1e-12
        assert table.mean_gap <= 1e-3


# asking


def test_ask_uses_it_and_its_certificate_is_checked(tmp_path):
    """With a public n, `ask` draws from the program's table, and says by how much it could be better at most."""
    rows = pa.table({"c": list("abcdeabc")})
    question = mode("c", list("abcdefgh"))
    options = {"epsilon": "0.3", "neighbors": "replace", "people": 8}
    plan = asking.plan(rows, question, **options)
    assert plan.method.startswith("linear program on the histograms of n = 8: on average over them")
    answer = tinct.ask(rows, question, **options)
    assert answer.value in "abcdefgh"
    plan.certified.to_json(tmp_path / "mode.json")
    back = type(plan.certified).from_json(tmp_path / "mode.json")
    assert back.id == plan.certificate
    assert back.mechanism.method == "a table on the histograms of n = 8"
    assert math.isclose(plan.accuracy.right["tinct"][0], back.mechanism.truth(plan.accuracy.margins[0]))
    assert plan.accuracy.margins == (1, 2, 5)  # nobody can be ahead by more than 8
    ours, *others = plan.accuracy.right.values()
    assert all(mine > theirs for other in others for mine, theirs in zip(ours, other, strict=True))


def test_the_needed_epsilon_takes_few_tables(monkeypatch):
    """A search to two digits stops as soon as all that is left rounds to the same: a dozen programs, not sixty."""
    tables = []

    def counted(*args, **options):
        tables.append(mode_mechanism(*args, **options))
        return tables[-1]

    monkeypatch.setattr(asking.designs, "mode_mechanism", counted)
    found = asking.needed_epsilon(mode("c", list("abcdefgh")), 0.6, 3, neighbors="replace", n=8)
    assert len(tables) < 20
    at = {epsilon: made(8, 8, epsilon, missing=True).truth(3) for epsilon in (f"{found:.2g}", f"{found - 0.1:.2g}")}
    assert at[f"{found:.2g}"] >= 0.6 > at[f"{found - 0.1:.2g}"]
