"""Shuffled reports: bounds from above and below around what enumeration finds, published numbers, plans, rounds."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import pytest
from typer.testing import CliRunner

from tinct import Ledger, local
from tinct.cli.main import app
from tinct.errors import ParameterError
from tinct.local._shuffled import _divergence

MECHANISMS = {
    "randomized response, 2": local.randomized_response(2, 1),
    "randomized response, 3": local.randomized_response(3, 2),
    "randomized response, 4": local.randomized_response(4, "1/2"),
    "cells": local.optimal([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], 1),
    "subsets": local.subset_selection(4, 1, size=2),
    "subsets of most": local.subset_selection(4, 2, size=3),
    "unary, 2": local.unary_encoding(2, 1),
    "unary, 3": local.unary_encoding(3, 2),
    "hash": local.local_hashing(3, 1),
    "hadamard": local.hadamard_response(3, 1),
    "hadamard, 4": local.hadamard_response(4, 2),
    "table": local.geometric(3, 2),
    "table of a prior": local.mutual_information([0.5, 0.3, 0.2], 1.5),
}


def multisets(rows):
    """The distribution of the reports of several people in any order."""
    found = Counter({(): 1.0})
    for row in rows:
        following = Counter()
        for held, chance in found.items():
            for y, more in enumerate(row):
                following[tuple(sorted((*held, y)))] += chance * more
        found = following
    return found


def enumerated(matrix, people, epsilon):
    """The least δ at this ε, by the definition: over all answers of all people."""
    growth, worst = math.exp(epsilon), 0.0
    for others in combinations_with_replacement(range(len(matrix)), people - 1):
        base = multisets([matrix[x] for x in others])
        after = {}
        for x in range(len(matrix)):
            after[x] = Counter()
            for held, chance in base.items():
                for y, more in enumerate(matrix[x]):
                    after[x][tuple(sorted((*held, y)))] += chance * more
        for x, z in permutations(range(len(matrix)), 2):
            worst = max(worst, sum(max(0.0, p - growth * after[z][held]) for held, p in after[x].items()))
    return worst


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("people", [1, 2, 3])
def test_bounds_hold_what_enumeration_finds(name, people):
    """All answers of all people, all multisets of reports: never above the upper bound nor below the lower one."""
    mechanism = MECHANISMS[name]
    matrix = mechanism.matrix.tolist()
    if len(matrix[0]) > 8 and people > 2:
        people = 2
    found = local.shuffled(mechanism, people)
    any_of_them = local.shuffled(mechanism.budget, people)
    for part in (0, 0.2, 0.5, 0.8, 0.99):
        epsilon = part * mechanism.epsilon
        truth = enumerated(matrix, people, epsilon)
        assert truth <= found.delta(epsilon) * (1 + 1e-9) + 1e-12
        assert truth <= any_of_them.delta(epsilon) * (1 + 1e-9) + 1e-12
        assert found.least_delta(epsilon) <= truth * (1 + 1e-9) + 1e-12


def test_bounds_meet_where_the_attack_is_the_worst():
    """Three answers, four to eight people: the upper bound is reached but for a few per cent."""
    mechanism = MECHANISMS["randomized response, 3"]
    for people in (4, 6):
        truth = enumerated(mechanism.matrix.tolist(), people, 0.5)
        found = local.shuffled(mechanism, people)
        assert found.least_delta(0.5) == pytest.approx(truth, rel=1e-6)
        assert truth <= found.delta(0.5) < 1.1 * truth


def slow_divergence(people, types, clones, growth):
    """The same in rationals: all numbers of reports of each type."""
    others = people - 1

    def law(first, second):
        found = Counter()
        for a in range(others + 1):
            for b in range(others + 1 - a):
                ways = math.comb(others, a) * math.comb(others - a, b)
                chance = ways * clones[0] ** a * clones[1] ** b * (1 - clones[0] - clones[1]) ** (others - a - b)
                for (i, j), more in (((1, 0), first), ((0, 1), second), ((0, 0), 1 - first - second)):
                    found[a + i, b + j] += chance * more
        return found

    one, other = law(*types), law(*reversed(types))
    return sum(max(Fraction(0), p - growth * other[at]) for at, p in one.items())


@pytest.mark.parametrize("people", [1, 2, 7, 25])
@pytest.mark.parametrize(
    ("types", "clones"),
    [
        ((3, 1, 4), (1, 1, 4)),
        ((3, 1, 8), (1, 1, 8)),
        ((3, 1, 16), (3, 1, 16)),
        ((9, 1, 20), (1, 3, 10)),
        ((4, 1, 5), (1, 1, 2)),
    ],
)
def test_divergences_are_rounded_outwards_and_hardly(people, types, clones):
    """Against the sum over all counts in rationals."""
    exact_types = tuple(Fraction(part, types[2]) for part in types[:2])
    exact_clones = tuple(Fraction(part, clones[2]) for part in clones[:2])
    for growth in (Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(5, 2)):
        truth = float(slow_divergence(people, exact_types, exact_clones, growth))
        epsilon = math.log(growth)
        given = (people, tuple(map(float, exact_types)), tuple(map(float, exact_clones)), epsilon)
        up, down = _divergence(*given, up=True), _divergence(*given, up=False)
        assert down <= truth + 1e-15
        assert up >= truth - 1e-15
        assert up == pytest.approx(truth, rel=1e-7, abs=1e-14)
        assert down == pytest.approx(truth, rel=1e-7, abs=1e-14)


def test_the_published_case_is_bracketed():
    """10^5 people, ε = 4, δ = 10^−6: published numerics say 0.1675 to 0.1728, and a closed form 0.538."""
    assert 0.1675 <= local.shuffled(4, 100_000).epsilon("1e-6") <= 0.1728
    makers = (local.randomized_response, local.subset_selection, local.unary_encoding, local.local_hashing)
    for make in (*makers, local.hadamard_response):
        found = local.shuffled(make(40, 4), 100_000)
        assert 0 < found.least_epsilon("1e-6") <= found.epsilon("1e-6") <= 0.136
    four = local.shuffled(local.randomized_response(4, 4), 100_000)
    assert four.epsilon("1e-6") == pytest.approx(0.11815, abs=2e-5)
    assert four.least_epsilon("1e-6") == pytest.approx(0.11593, abs=2e-5)


def test_more_people_and_more_budget_are_never_worse():
    """δ falls with ε and with the people; ε of δ is its inverse; one person gains nothing."""
    mechanism = local.subset_selection(10, 2)
    assert local.shuffled(mechanism, 1).epsilon("1e-9") == pytest.approx(2, rel=1e-6)
    before = 3.0
    for people in (10, 100, 10**4, 10**6):
        found = local.shuffled(mechanism, people)
        epsilon = found.epsilon("1e-6")
        assert epsilon <= before
        assert found.delta(epsilon) <= 1e-6 < found.delta(0.999 * epsilon)
        before = epsilon
    assert before < 0.02


def test_plans_are_kept_and_not_modest():
    """The ε of one report that a plan gives keeps the central target, and 1 % more does not."""
    for make in (None, lambda epsilon: local.randomized_response(5, epsilon)):
        planned = local.local_epsilon(10_000, 0.5, "1e-6", make)
        for factor, kept in ((1, True), (1.01, False)):
            made = planned * factor if make is None else make(planned * factor)
            assert (local.shuffled(made, 10_000).delta(0.5) <= 1e-6) is kept


def test_rounds_are_composed_by_the_ledger(tmp_path):
    """Several rounds with a profile each cost less than their sum, in a ledger that accounts by profiles."""
    found = local.shuffled(local.randomized_response(4, 2), 100_000)
    profile = found.profile()
    assert all(found.delta(epsilon) <= delta for epsilon, delta in profile)
    ledger = Ledger(tmp_path / "l.db", 1, "1e-5")
    for turn in range(3):
        ledger.charge(
            lambda: "counted", epsilon=found.epsilon("1e-6"), delta="1e-6", profile=profile, request=f"round {turn}"
        )
    assert float(ledger.spent().epsilon) == pytest.approx(3 * found.epsilon("1e-6"), rel=1e-6)


def test_bad_arguments_are_refused():
    """Nobody, no δ, ε out of range, mechanisms that keep ε only up to δ."""
    mechanism = local.randomized_response(3, 1)
    for people in (0, -1, 1.5, True):
        with pytest.raises(ParameterError):
            local.shuffled(mechanism, people)
    found = local.shuffled(mechanism, 10)
    for delta in (0, -1, 2, "x"):
        with pytest.raises(ParameterError):
            found.epsilon(delta)
    for epsilon in (-1, math.nan, "1", 1e9):
        with pytest.raises(ParameterError):
            found.delta(epsilon)
    with pytest.raises(ParameterError, match="delta"):
        local.shuffled(local.quaternary(1, "0.1"), 10)
    with pytest.raises(ParameterError, match="60 symbols"):
        local.shuffled(local.geometric(61, 1), 10)


def test_the_command_bounds_plans_and_charges(tmp_path):
    """For a file, for an ε, for a central target, and with a ledger."""
    run = CliRunner().invoke
    local.randomized_response(4, 4).to_json(tmp_path / "m.json")
    given = ["local", "shuffle", "--people", "100000", "--delta", "1e-6", "--json"]
    found = json.loads(run(app, [*given, "-m", f"{tmp_path}/m.json"]).stdout)
    assert (round(found["epsilon"], 4), round(found["at_least"], 4)) == (0.1182, 0.1159)
    assert 0.1675 <= json.loads(run(app, [*given, "--epsilon", "4"]).stdout)["epsilon"] <= 0.1728
    planned = json.loads(run(app, [*given, "--central-epsilon", "1"]).stdout)
    assert planned["local_epsilon"] == local.local_epsilon(100_000, 1, "1e-6")
    Ledger(tmp_path / "l.db", 1, "1e-5")
    charged = ["-m", f"{tmp_path}/m.json", "--ledger", f"{tmp_path}/l.db", "--request", "monday"]
    assert run(app, [*given, *charged]).exit_code == 0
    assert float(Ledger(tmp_path / "l.db").spent().epsilon) == pytest.approx(0.11815, abs=1e-4)
    for wrong in ([], ["-m", f"{tmp_path}/m.json", "--epsilon", "4"], ["--central-epsilon", "1", "--ledger", "x.db"]):
        assert isinstance(run(app, [*given, *wrong]).exception, ParameterError)
