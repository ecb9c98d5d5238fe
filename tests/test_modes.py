"""The most common of k categories: exact coins, exact tables, and linear programs that find nothing better."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, permutations, product
from random import Random

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from tinct import NotPrivate, ParameterError, Privacy, balanced, graphs
from tinct.exact.proof import at_most_exp
from tinct.numbers.amounts import Amount
from tinct.questions.modes import (
    Exponential,
    ModeTable,
    PermuteAndFlip,
    mode_mechanism,
)
from tinct.questions.modes.coins import power_bounds, power_coin, retention
from tinct.questions.modes.margins import clipped_margins, histogram_margins, histogram_size, moves, rank
from tinct.questions.modes.mode_design import ceiling_for, certified_table, table_on
from tinct.questions.modes.mode_proof import certify_rows, least_epsilon
from tinct.questions.modes.water_filling import nearest_wins, solving_order, water_filling

TAMPERED = 150  # tables whose certificates are compared with the literal check; `make evidence` may raise it
SOLVER = 1e-7  # HiGHS keeps a constraint to 1e-10; thousands of them add up
SLACK = 2.0**-29  # tables are solved for coins 2^−30 above q, which moves probabilities by about that share


def amount(text):
    return Amount.parse(text, "epsilon")


# slow, obvious twins


def compositions(n, k):
    """All histograms of n people over k categories."""
    if k == 1:
        return [(n,)]
    return [(first, *rest) for first in range(n + 1) for rest in compositions(n - first, k - 1)]


def replacements(histogram):
    """All histograms after one person changed category."""
    for giver, taker in permutations(range(len(histogram)), 2):
        if histogram[giver]:
            moved = list(histogram)
            moved[giver] -= 1
            moved[taker] += 1
            yield tuple(moved)


def additions(histogram):
    """All histograms with one person more."""
    for taker in range(len(histogram)):
        yield tuple(count + (at == taker) for at, count in enumerate(histogram))


def brought_to_top(histogram, j, ceiling=math.inf):
    """Move people one by one from a largest category to j until it is on top; clipped margins stay clipped."""
    clipped = [i for i, count in enumerate(histogram) if max(histogram) - count >= ceiling and i != j]
    counts = list(histogram)
    steps = 0
    while counts[j] < max(counts):
        counts[max((i for i in range(len(counts)) if i != j), key=counts.__getitem__)] -= 1
        counts[j] += 1
        steps += 1
    for i in clipped:
        counts[i] = max(counts) - ceiling
    return tuple(counts), steps


def water_filled(q, ceiling=math.inf):
    """The recursion of docs/theory.md §9a on histograms (or margins, as negative counts), in exact arithmetic."""

    @cache
    def share(state):  # of each winner; states are sorted, the largest first, and start at 0
        winners, rest, next_best = state.count(0), Fraction(0), state.count(-1)
        for j, count in enumerate(state):
            if count < -1:
                rest += kept(state, j)
        return (1 - rest) / (winners + q * next_best)

    def kept(state, j):
        target, steps = brought_to_top(state, j, ceiling)
        return q**steps * share(normal(target))

    def normal(counts):
        return tuple(sorted((max(count - max(counts), -ceiling) for count in counts), reverse=True))

    def row(counts):
        state = tuple(max(count - max(counts), -ceiling) for count in counts)
        return [
            share(normal(state)) if count == 0 else kept(state, j) if count < -1 else q * share(normal(state))
            for j, count in enumerate(state)
        ]

    return row


def flipped(q, counts):
    """Permute-and-flip, order by order."""
    heads = [q ** (max(counts) - count) for count in counts]
    chance = [Fraction(0)] * len(counts)
    for order in permutations(range(len(counts))):
        tails = Fraction(1, math.factorial(len(counts)))
        for category in order:
            chance[category] += tails * heads[category]
            tails *= 1 - heads[category]
    return tuple(chance)


def keeps(q, here, there):
    """Whether every answer keeps q of its probability, in both directions."""
    return all(q * a <= b and q * b <= a for a, b in zip(here, there, strict=True))


def outcomes(run, depth):
    """Run a function of ``below`` on every outcome of its draws: {result: probability}, and what is still open."""
    found, open_after = {}, Fraction(0)
    stack = [((), Fraction(1))]
    while stack:
        script, weight = stack.pop()
        left = list(script)
        wanted = []

        def below(bound, left=left, wanted=wanted):
            if left:
                return left.pop(0)
            wanted.append(bound)
            raise LookupError

        try:
            result = run(below)
        except LookupError:
            if len(script) == depth:
                open_after += weight
                continue
            stack += [((*script, value), weight / wanted[0]) for value in range(wanted[0])]
            continue
        found[result] = found.get(result, 0) + weight
    return found, open_after


# coins


@pytest.mark.parametrize(
    "epsilon", ["0", "1e-9", "0.1", "1/3", "1", "7.5", "40", "700", "ln 2", "ln 9/4", "ln 1000001"]
)
def test_retention_is_never_below_the_exponential(epsilon):
    """Keeping q (or s twice) is enough for ε: decided in rationals, and by an independent library to 60 digits."""
    exact = amount(epsilon)
    text = f"ln {exact.value}" if exact.is_log else str(exact.value)
    q, half = retention(exact), retention(exact, halved=True)
    assert at_most_exp(1 / q, text)
    assert at_most_exp(1 / half**2, text)
    with mpmath.workdps(400):
        true = 1 / mpmath.mpf(exact.value) if exact.is_log else mpmath.exp(-mpmath.mpf(exact.value))
        assert 0 <= mpmath.mpf(q) / true - 1 < mpmath.mpf(2) ** -120
        assert 0 <= mpmath.mpf(half) ** 2 / true - 1 < mpmath.mpf(2) ** -120


def test_retention_of_a_logarithm_is_exact():
    """e^−ln r is 1/r, and half of it 1/√r where that is rational."""
    assert retention(amount("ln 9/4")) == Fraction(4, 9)
    assert retention(amount("ln 9/4"), halved=True) == Fraction(2, 3)


@pytest.mark.parametrize("q", [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(999, 1000)])
@pytest.mark.parametrize("exponent", [0, 1, 2, 17, 1000])
@pytest.mark.parametrize("bits", [1, 8, 128])
def test_power_bounds_enclose_the_power(q, exponent, bits):
    """The enclosure holds in exact arithmetic and is at most two units wide."""
    low, high = power_bounds(q, exponent, bits)
    assert Fraction(low, 2**bits) <= q**exponent <= Fraction(high, 2**bits)
    assert high - low <= 2


def test_power_bounds_of_a_huge_exponent():
    """Ten billion steps take no longer than ten, and agree with an independent library to 2^−100."""
    low, high = power_bounds(retention(amount("1e-10")), 10**10, 128)
    with mpmath.workdps(60):
        # q is the float 1e-10's own e^−ε to 2^−125; 10^10 of those errors are below 2^−90
        true = mpmath.exp(-mpmath.mpf(amount("1e-10").value) * 10**10) * mpmath.mpf(2) ** 128
        assert abs(low - true) < mpmath.mpf(2) ** 38
        assert abs(high - true) < mpmath.mpf(2) ** 38


@pytest.mark.parametrize(("q", "exponent"), [("1/2", 0), ("1/2", 3), ("1/3", 1), ("2/3", 2), ("9/10", 4), ("1", 5)])
def test_power_coin_over_every_draw(q, exponent):
    """Enumerated over all draws, heads has the probability q^m, up to what three blocks leave open."""
    q = Fraction(q)
    found, left = outcomes(lambda below: power_coin(q, exponent, below, block=4), depth=3)
    heads = found.get(True, Fraction(0))
    assert heads <= q**exponent <= heads + left
    assert left <= Fraction(2, 2**12)


def test_power_coin_draws_again_only_when_it_must():
    """A draw on the edge of the enclosure asks for more places; any other does not."""
    script = [5, 0]  # 1/3 = 0.0101…: the block 0101 is undecided, then 0000 is below
    assert power_coin(Fraction(1, 3), 1, lambda _: script.pop(0), block=4)
    assert not script
    assert not power_coin(Fraction(1, 3), 1, lambda _: 6, block=4)


# permute-and-flip


@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(9, 10)])
@pytest.mark.parametrize("counts", [(0, 0), (3, 1), (2, 2, 2), (5, 4, 1), (7, 0, 7, 3), (4, 3, 2, 1, 0)])
def test_probabilities_equal_all_orders(q, counts):
    """The integral over arrival times equals the sum over all k! orders, exactly."""
    exact = PermuteAndFlip(len(counts), q).probabilities(counts)
    assert exact == flipped(q, counts)
    assert sum(exact) == 1


@pytest.mark.parametrize("counts", [(2, 1), (1, 1), (0, 3), (2, 1, 0), (2, 2, 1)])
def test_sampler_over_every_draw(counts):
    """Enumerated over all orders and coins, answers have their exact probabilities (q = 1/2 needs one block a coin)."""
    rule = PermuteAndFlip(len(counts), Fraction(1, 2))
    found, left = outcomes(lambda below: rule.draw(counts, below, block=3), depth=20)
    assert left == 0
    assert tuple(found[at] for at in range(len(counts))) == rule.probabilities(counts)


def test_number_of_draws_does_not_depend_on_counts():
    """Ten people or ten billion, tied or not: the same requests to the source."""
    rule = PermuteAndFlip(4, retention(amount("1e-6")))
    seen = set()
    for counts in [(1, 1, 1, 1), (0, 0, 0, 9), (10**10, 3, 10**10 - 1, 0), (10**18, 0, 0, 0)]:
        asked = []

        def below(bound, asked=asked):
            asked.append(bound)
            return Random(len(asked)).randrange(bound)

        assert 0 <= rule.draw(counts, below) < 4
        seen.add(tuple(asked))
    assert seen == {(4, 3, 2, *[2**128] * 4)}


def test_seeded_draws_follow_the_probabilities():
    """20,000 draws from a seed stay within five standard deviations for a coin that is no power of two."""
    source, counts, draws = Random(5), (6, 5, 3), 20_000
    rule = PermuteAndFlip(3, Fraction(2, 3))
    found = Counter(rule.draw(counts, source.randrange) for _ in range(draws))
    for at, p in enumerate(map(float, rule.probabilities(counts))):
        assert abs(found[at] - draws * p) < 5 * math.sqrt(draws * p * (1 - p))


def test_large_margins_are_answered_right():
    """With ten billion people and a lead of a billion the answer is the leader."""
    source = Random(1)
    rule = mode_mechanism(3, 0.1, neighbors="add-remove")
    assert {rule.draw((4 * 10**9, 5 * 10**9, 10**9), source.randrange) for _ in range(50)} == {1}


@pytest.mark.parametrize("q", [Fraction(1, 100), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)])
@pytest.mark.parametrize(("k", "most"), [(2, 6), (3, 4), (4, 3), (5, 2)])
def test_permute_and_flip_is_private(k, most, q):
    """Exhaustively, in exact arithmetic: one person more keeps q of every answer; one changing category keeps q²."""
    rule = PermuteAndFlip(k, q)
    row = cache(rule.probabilities)
    for counts in product(range(most + 1), repeat=k):
        assert all(keeps(q, row(counts), row(more)) for more in additions(counts))
        assert all(keeps(q**2, row(counts), row(moved)) for moved in replacements(counts))


@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(9, 10)])
def test_losers_meet_their_bound_with_equality(q):
    """A loser m behind has exactly q^m of what it has when raised to the top: no private mechanism can give it less."""
    rule = PermuteAndFlip(3, q)
    for counts in product(range(5), repeat=3):
        for j, count in enumerate(counts):
            raised = tuple(max(counts) if at == j else other for at, other in enumerate(counts))
            assert rule.probabilities(counts)[j] == q ** (max(counts) - count) * rule.probabilities(raised)[j]


@pytest.mark.parametrize(("k", "most", "epsilon"), [(2, 6, 0.5), (3, 5, 0.5), (3, 4, 2.0), (4, 3, 1.0)])
def test_nothing_dominates_permute_and_flip(k, most, epsilon):
    """A linear program over all private rules that are as truthful everywhere finds none more so anywhere."""
    vertices = list(product(range(most + 1), repeat=k))
    rule = PermuteAndFlip(k, Fraction(math.exp(-epsilon)))
    floor = [truth_of(rule.probabilities(counts), counts) for counts in vertices]
    edges = [(u, more) for u in vertices for more in additions(u) if max(more) <= most]
    best = most_truthful(vertices, edges, epsilon, floor=floor)
    assert best == pytest.approx(sum(floor), abs=SOLVER)


def truth_of(row, counts):
    return float(sum(p for p, count in zip(row, counts, strict=True) if count == max(counts)))


def most_truthful(vertices, edges, epsilon, *, floor=None):
    """The largest sum of truths of an ε-private rule, by linear programming.

    Averaging a rule over all ways to rename the categories keeps it private and its sum of truths as it is, so it is
    enough to look at rules that give equal counts equal probabilities: one variable for each (sorted counts, count).
    """
    numbers = {}
    for vertex in vertices:
        for count in sorted(vertex):
            numbers.setdefault((tuple(sorted(vertex)), count), len(numbers))

    def variables(vertex):
        return [numbers[tuple(sorted(vertex)), count] for count in vertex]

    growth = math.exp(epsilon)
    pairs = {pair for u, v in edges for pair in zip(variables(u), variables(v), strict=True)}
    lines = [{here: 1.0, there: -growth} for u, v in pairs for here, there in ((u, v), (v, u)) if here != there]
    limits = [0.0] * len(lines)
    goal = np.zeros(len(numbers))
    for at, vertex in enumerate(vertices):
        winner, ties = numbers[tuple(sorted(vertex)), max(vertex)], vertex.count(max(vertex))
        goal[winner] -= ties
        if floor is not None:
            lines.append({winner: -float(ties)})
            limits.append(1e-12 - floor[at])
    sums = [Counter(variables(vertex)) for vertex in {tuple(sorted(vertex)) for vertex in vertices}]
    result = linprog(
        goal,
        A_ub=sparse(lines, len(numbers)),
        b_ub=limits,
        A_eq=sparse(sums, len(numbers)),
        b_eq=np.ones(len(sums)),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    return -result.fun


def sparse(lines, width):
    entries = [(value, at, column) for at, line in enumerate(lines) for column, value in line.items()]
    values, rows, columns = zip(*entries, strict=True)
    return coo_array((values, (rows, columns)), shape=(len(lines), width)).tocsr()


# states and moves


@pytest.mark.parametrize(("k", "ceiling"), [(2, 9), (3, 20), (4, 6), (5, 4)])
def test_ranks_number_the_clipped_states(k, ceiling):
    """The states of a ceiling have the ranks 0, 1, 2, …, each sorted row once."""
    space = clipped_margins(k, ceiling)
    assert rank(space.states).tolist() == list(range(len(space)))
    expected = {(0, *rest) for rest in combinations_with_replacement(range(ceiling + 1), k - 1)}
    assert set(map(tuple, space.states.tolist())) == expected


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("k", "n"), [(2, 0), (2, 7), (3, 1), (3, 8), (4, 6), (6, 3)])
def test_histogram_states_are_those_of_all_histograms(k, n, missing):
    """The states of n people are the sorted margins of all their histograms, and are counted right beforehand."""
    space = histogram_margins(k, n, missing=missing)
    totals = range(n + 1) if missing else [n]
    expected = {tuple(sorted(max(counts) - count for count in counts)) for m in totals for counts in compositions(m, k)}
    assert set(map(tuple, space.states.tolist())) == expected
    assert histogram_size(k, n, missing=missing, at_most=1000) == len(space) == len(expected)


def inequalities(space):
    """All (state, margin of a category, state after, its margin after) of ``moves``, in both directions."""
    states = [tuple(state) for state in space.states.tolist()]
    found = set()
    for batch in moves(space):
        for before, after, order in zip(*(part.tolist() for part in batch), strict=True):
            for place, was in enumerate(order):
                here, there = (states[before], states[before][was]), (states[after], states[after][place])
                found |= {(*here, *there), (*there, *here)}
    return found


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("k", "ceiling", "people"), [(2, 3, 20), (3, 2, 18), (3, 4, 30), (4, 2, 18)])
def test_moves_are_exactly_those_of_all_datasets(k, ceiling, people, missing):
    """Images on clipped margins are what moves in real histograms look like: none is missing, none is made up."""

    def state(counts):
        return tuple(min(max(counts) - count, ceiling) for count in counts)

    expected = set()
    # every image appears among histograms of up to so many people, and larger numbers add none
    for n in range(people + 1):
        for counts in compositions(n, k):
            for moved in [*replacements(counts), *(additions(counts) if missing else [])]:
                before, after = state(counts), state(moved)
                for label in range(k):
                    here = (tuple(sorted(before)), before[label])
                    there = (tuple(sorted(after)), after[label])
                    expected |= {(*here, *there), (*there, *here)}
    assert inequalities(clipped_margins(k, ceiling, missing=missing)) == expected


@pytest.mark.parametrize(("k", "n"), [(2, 5), (3, 7), (4, 5)])
def test_moves_of_histograms_are_all_of_them(k, n):
    """Unclipped, moves are the edges of the histogram graph."""
    expected = set()
    for counts in compositions(n, k):
        for moved in replacements(counts):
            for label in range(k):
                sides = []
                for side in (counts, moved):
                    margins = [max(side) - count for count in side]
                    sides += [tuple(sorted(margins)), margins[label]]
                expected.add(tuple(sides))
    assert inequalities(histogram_margins(k, n)) == expected


def test_sizes_of_the_theory():
    """For k = 3, D = 20: 231 states and 3,852 inequalities between different entries; k = 5, D = 31: 52,360 states."""
    found = inequalities(clipped_margins(3, 20))
    assert len(clipped_margins(3, 20)) == 231
    assert sum(entry[:2] != entry[2:] for entry in found) == 3852
    assert len(clipped_margins(5, 31)) == 52_360


# water-filling


@pytest.mark.parametrize("space", [clipped_margins(4, 6), clipped_margins(3, 15), histogram_margins(5, 13)])
def test_nearest_wins_equal_moving_people_one_by_one(space):
    """The closed form of the level gives the state and the number of moves that moving one by one gives."""
    targets = nearest_wins(space)
    for at, margins in enumerate(space.states.tolist()):
        for j in range(space.k):
            after, steps = brought_to_top([-margin for margin in margins], j, space.ceiling)
            reached = sorted(max(after) - count for count in after)
            assert space.states[targets.states[at, j]].tolist() == reached
            assert targets.distances[at, j] == steps


@pytest.mark.parametrize("space", [clipped_margins(4, 8), clipped_margins(2, 30), histogram_margins(6, 12)])
def test_solving_order_puts_targets_first(space):
    """Every state is solved after the states its losers, two or more behind, point to."""
    position = np.argsort(solving_order(space))
    targets = nearest_wins(space)
    losers = space.states >= 2
    assert (position[targets.states][losers] < np.broadcast_to(position[:, None], losers.shape)[losers]).all()


@pytest.mark.parametrize(
    ("space", "q"),
    [
        (clipped_margins(3, 9), Fraction(1, 2)),
        (clipped_margins(4, 5), Fraction(3, 10)),
        (histogram_margins(3, 12), Fraction(6, 10)),
        (histogram_margins(5, 9), Fraction(37, 100)),
    ],
)
def test_tables_equal_the_recursion_in_fractions(space, q):
    """Weights are the recursion's probabilities, to the last place that is kept, and rows sum to the total."""
    ceiling = space.ceiling if space.people is None else math.inf
    row_of = water_filled(q, ceiling)
    rows, total = water_filling(space, q, 128)
    for margins, row in zip(space.states.tolist(), rows, strict=True):
        assert sum(row) == total
        for weight, true in zip(row, row_of([-margin for margin in margins]), strict=True):
            # losers are rounded by half a unit of 2^−128; winners share what is left
            assert abs(Fraction(weight, total) - true) <= Fraction(space.k, 2**128)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_two_categories_are_the_balanced_majority(n):
    """With k = 2 and n odd the table is the balanced optimum of the yes/no question; a tie is split."""
    table = mode_mechanism(2, 1, neighbors="replace", n=n)
    for counts in compositions(n, 2):
        if n % 2:
            optimum = balanced(graphs.histograms(n, 2, lambda h: h[0] > h[1]), Privacy(1)).row(counts)
            row = [weight / table.total for weight in table.row(counts)]
            assert sorted(row) == pytest.approx(sorted(optimum), abs=SLACK)
        elif counts[0] == counts[1]:
            assert table.row(counts)[0] == table.row(counts)[1]


def mean_truth(row_of, n, k):
    """The mean over all histograms of the probability of a largest category."""
    truths = [truth_of(row_of(counts), counts) for counts in compositions(n, k)]
    return sum(truths) / len(truths)


def shares(table):
    return lambda counts: [weight / table.total for weight in table.row(counts)]


def exponential(s):
    def row(counts):
        weights = [s ** (max(counts) - count) for count in counts]
        return [weight / sum(weights) for weight in weights]

    return row


@pytest.mark.parametrize(
    ("k", "n", "epsilon", "ours", "flips", "exponent"),
    [(3, 30, 0.5, 0.8903, 0.8835, 0.8381), (5, 12, 1, 0.7969, 0.7529, 0.6768)],
)
def test_mean_truths_of_the_theory(k, n, epsilon, ours, flips, exponent):
    """docs/theory.md §9a: water-filling, permute-and-flip and the exponential mechanism, to four digits."""
    table = certified_table(histogram_margins(k, n), amount(epsilon))
    half = Fraction(math.exp(-epsilon / 2))
    by_state = cache(lambda counts: PermuteAndFlip(k, half).probabilities(counts))
    assert round(mean_truth(shares(table), n, k), 4) == ours
    assert round(mean_truth(lambda counts: sorted_row(by_state, counts), n, k), 4) == flips
    assert round(mean_truth(exponential(float(half)), n, k), 4) == exponent


def sorted_row(row_of, counts):
    """A row computed once for all orders of the counts."""
    order = sorted(range(len(counts)), key=counts.__getitem__)
    row = [Fraction(0)] * len(counts)
    for category, value in zip(order, row_of(tuple(counts[category] for category in order)), strict=True):
        row[category] = value
    return row


@pytest.mark.parametrize(("k", "n", "epsilon"), [(3, 9, 0.5), (3, 10, 2.0), (4, 8, 1.0), (5, 7, 0.3), (6, 6, 0.1)])
def test_nothing_dominates_water_filling(k, n, epsilon):
    """A linear program over all private rules that are as truthful everywhere finds none more so anywhere."""
    vertices = compositions(n, k)
    edges = [(u, v) for u in vertices for v in replacements(u)]
    table = certified_table(histogram_margins(k, n), amount(epsilon))
    floor = [truth_of(shares(table)(counts), counts) for counts in vertices]
    best = most_truthful(vertices, edges, epsilon, floor=[truth - SLACK for truth in floor])
    assert best == pytest.approx(sum(floor), abs=20 * SLACK * len(vertices))  # slack at one state helps its neighbours


@pytest.mark.parametrize(("k", "n", "epsilon", "mean"), [(3, 30, 0.5, 0.8903), (5, 12, 1, 0.7969), (3, 9, 0.5, 0.7175)])
def test_how_much_more_mean_truth_a_linear_program_finds(k, n, epsilon, mean):
    """Giving up truth at some histograms for more at others can raise the mean over all, but by less than 0.001."""
    vertices = compositions(n, k)
    edges = [(u, v) for u in vertices for v in replacements(u)]
    best = most_truthful(vertices, edges, epsilon) / len(vertices)
    ours = mean_truth(shares(certified_table(histogram_margins(k, n), amount(epsilon))), n, k)
    assert round(best, 4) == mean
    assert -SLACK < best - ours < 1e-3


def test_water_filling_beats_half_the_budget_everywhere():
    """At every histogram of 24 people the table is at least as truthful as permute-and-flip with half the budget."""
    table = certified_table(histogram_margins(3, 24), amount("0.5"))
    flips = PermuteAndFlip(3, Fraction(math.exp(-0.25)))
    gains = [
        truth_of(shares(table)(counts), counts) - truth_of(flips.probabilities(counts), counts)
        for counts in compositions(24, 3)
        if sorted(counts) == list(counts)
    ]
    assert min(gains) > -SLACK
    assert max(gains) > 0.03


# privacy


@pytest.mark.parametrize(
    ("k", "epsilon", "ceiling", "people"), [(2, "1", 4, 15), (3, "1", 7, 22), (3, "ln 4", 4, 16), (4, "2", 3, 12)]
)
@pytest.mark.parametrize("missing", [False, True])
def test_a_clipped_table_is_private_for_every_number_of_people(k, epsilon, ceiling, people, missing):
    """Pulled back to all histograms of every small n: every edge, every label, both directions, in whole numbers."""
    table = certified_table(clipped_margins(k, ceiling, missing=missing), amount(epsilon))
    assert table is not None
    row = cache(table.row)
    for n in range(people + 1):
        for counts in compositions(n, k):
            assert all(keeps(table.q, row(counts), row(moved)) for moved in replacements(counts))
            if missing:
                assert all(keeps(table.q, row(counts), row(more)) for more in additions(counts))


@pytest.mark.parametrize(("k", "n", "epsilon"), [(3, 15, "0.1"), (4, 9, "ln 2"), (6, 6, "1"), (8, 5, "0.1")])
def test_a_histogram_table_is_private(k, n, epsilon):
    """Every edge of the explicit graph, in whole numbers; for eight categories only after some stretching."""
    table = mode_mechanism(k, epsilon, neighbors="replace", n=n)
    assert isinstance(table, ModeTable)
    row = cache(table.row)
    for counts in compositions(n, k):
        if sorted(counts) == list(counts):  # by symmetry
            assert all(keeps(table.q, row(counts), row(moved)) for moved in replacements(counts))


@pytest.mark.parametrize("n", [0, 1, 9])
def test_a_histogram_table_with_missing_values_is_private(n):
    """With people in no category, histograms of at most n people; entering and leaving count as moves."""
    table = mode_mechanism(3, 1, neighbors="replace", n=n, missing=True)
    row = cache(table.row)
    for m in range(n + 1):
        for counts in compositions(m, 3):
            assert all(keeps(table.q, row(counts), row(moved)) for moved in replacements(counts))
            if m < n:
                assert all(keeps(table.q, row(counts), row(more)) for more in additions(counts))


def test_weights_reach_the_bound():
    """The table gives nothing away: it is not private for an ε that is a billionth smaller."""
    table = certified_table(histogram_margins(3, 12), amount(1))
    assert table.least_epsilon() == pytest.approx(1, abs=2e-9)
    with pytest.raises(NotPrivate):
        certify_rows(table.space, table.rows, table.total, table.q * Fraction(10**9 + 2, 10**9))


@pytest.mark.parametrize(
    ("space", "q", "ratio"),
    [
        (histogram_margins(12, 3), 0.9, 1.18),  # docs/theory.md §9a
        (histogram_margins(12, 16), 0.9, 1.89),
        (histogram_margins(7, 4), 0.9, 1.008),
        (clipped_margins(5, 7), math.exp(-0.1), 1.755),
        (clipped_margins(3, 20), math.exp(-0.1), 1.556),
    ],
)
def test_where_water_filling_is_not_private_the_certificate_says_so(space, q, ratio):
    """Many categories with small ε, and ceilings that are too low, are refused, with a move that proves it."""
    coin = Fraction(q)
    rows, total = water_filling(space, coin, 192)
    digits = len(str(ratio)) - 2
    assert round(least_epsilon(space, rows) / -math.log(q), digits) == ratio
    with pytest.raises(NotPrivate, match="one person moves") as refused:
        certify_rows(space, rows, total, coin)
    witness = refused.value.witness
    here, there = (
        rows[int(space.find(np.array([margins]))[0][0])][place]
        for margins, place in ((witness.before, witness.place_before), (witness.after, witness.place_after))
    )
    assert coin * here > there or coin * there > here


def test_three_people_and_twelve_categories_by_hand():
    """The violation of k = 12, q = 0.9 in Fractions, from the three states that three people have."""
    q = Fraction(9, 10)
    spread = 1 / (3 + 9 * q)  # three categories with one person each, nine empty ones one behind
    pair = (1 - 10 * q * spread) / (1 + q)  # (2, 1, 0, …): an empty one is brought to the top by one move
    assert water_filled(q)((2, 1, *[0] * 10))[:3] == [pair, q * pair, q * spread]
    alone = water_filled(q)((3, *[0] * 11))
    assert alone[1] == q**2 * pair  # two moves: one from the leader makes (2, 1), and there it is level with (1, 2)
    ratios = {
        *(here / there for here, there in zip(alone, water_filled(q)((2, 1, *[0] * 10)), strict=True)),
        *(here / there for here, there in zip(water_filled(q)((2, 1, *[0] * 10)), [spread] * 3, strict=False)),
    }
    assert round(max(abs(math.log(ratio)) for ratio in ratios) / -math.log(q), 2) == 1.18


@pytest.mark.parametrize("space", [histogram_margins(3, 5), histogram_margins(4, 4), clipped_margins(3, 2)])
def test_certificate_agrees_with_the_literal_check(space):
    """Random tables with small numbers, many just on either side of private: the same verdict in every case."""
    draw = Random(3)
    pairs = inequalities(space)
    states = [tuple(state) for state in space.states.tolist()]
    verdicts = set()
    for _ in range(TAMPERED):
        q = Fraction(draw.randint(1, 9), 10)
        rows, total = water_filling(space, min(Fraction(1), q * Fraction(draw.randint(95, 125), 100)), 16)
        entry = {(s, m): row[s.index(m)] for s, row in zip(states, rows, strict=True) for m in s}
        literal = all(q * entry[u, x] <= entry[v, y] for u, x, v, y in pairs)
        try:
            certify_rows(space, rows, total, q)
        except NotPrivate:
            verdicts.add(False)
            assert not literal
        else:
            verdicts.add(True)
            assert literal
    assert verdicts == {True, False}


def test_a_table_that_was_tampered_with_is_refused():
    """Unequal ties, wrong sums, zeros, floats and missing rows do not get as far as the inequalities."""
    table = mode_mechanism(3, 1, neighbors="replace", n=4)
    for change in (
        lambda row: (row[0] + 1, *row[1:]),
        lambda row: (row[0] + row[-1], *row[1:-1], 0),
        lambda row: tuple(map(float, row)),
        lambda row: row[1:],
    ):
        rows = (change(table.rows[0]), *table.rows[1:])
        with pytest.raises(ParameterError, match="must have 3 positive whole numbers"):
            certify_rows(table.space, rows, table.total, table.q)
    with pytest.raises(ParameterError, match="each needs one"):
        certify_rows(table.space, table.rows[1:], table.total, table.q)
    tied = next(at for at, state in enumerate(table.space.states.tolist()) if state[1] == state[2] != 0)
    row = table.rows[tied]
    rows = (*table.rows[:tied], (row[0], row[1] + 1, row[2] - 1), *table.rows[tied + 1 :])
    with pytest.raises(ParameterError, match="equal ones for equal margins"):
        certify_rows(table.space, rows, table.total, table.q)
    generous = ModeTable(amount("0.9"), table.space, table.rows, table.total, table.q)
    with pytest.raises(ParameterError, match="less than e to the power"):
        generous.certify()


def test_a_table_that_is_not_private_is_never_drawn_from():
    """Drawing proves the table first."""
    table = table_on(clipped_margins(3, 20), amount("0.1"))
    with pytest.raises(NotPrivate):
        table.draw((5, 3, 1), lambda _: 0)
    assert certified_table(clipped_margins(3, 20), amount("0.1")) is None


def test_a_rule_that_would_owe_more_than_everything_is_refused():
    """With a low ceiling and many categories the losers' shares exceed 1: there is no table, and no crash."""
    space = clipped_margins(12, 3)
    assert min(map(min, table_on(space, amount("0.01")).rows)) < 0
    assert least_epsilon(space, table_on(space, amount("0.01")).rows) == math.inf
    assert certified_table(space, amount("0.01")) is None


# rows and draws


def test_rows_follow_the_categories():
    """Renaming categories renames the weights; ties have equal weights; every row sums to the total."""
    table = mode_mechanism(4, 1, neighbors="replace")
    for counts in [(3, 3, 3, 3), (5, 2, 2, 0), (10**12, 10**12, 0, 10**12 - 3), (0, 0, 1, 0)]:
        row = table.row(counts)
        assert sum(row) == table.total
        for order in permutations(range(4)):
            assert table.row([counts[at] for at in order]) == tuple(row[at] for at in order)
        for one, other in product(range(4), repeat=2):
            if counts[one] == counts[other]:
                assert row[one] == row[other]


def test_draws_have_exactly_the_weights():
    """The draw is the prefix sum that a uniform integer falls below: checked at both ends of every stretch."""
    table = mode_mechanism(3, 1, neighbors="replace", n=9)
    counts = (2, 6, 1)
    start = 0
    for category, weight in enumerate(table.row(counts)):
        for drawn in (start, start + weight - 1):
            assert table.draw(counts, lambda n, drawn=drawn: drawn if n == table.total else None) == category
        start += weight
    assert start == table.total


# truth


@pytest.mark.parametrize(("k", "n"), [(2, 9), (3, 12), (4, 8)])
def test_truth_is_the_worst_case_over_all_histograms(k, n):
    """Among all histograms whose leader is at least m ahead, the least truth; it never falls as m grows."""
    table = mode_mechanism(k, 1, neighbors="replace", n=n, missing=False)
    for margin in range(1, n + 1):
        truths = [
            truth_of(shares(table)(counts), counts)
            for counts in compositions(n, k)
            if sorted(counts)[-1] - sorted(counts)[-2] >= margin
        ]
        assert table.truth(margin) == pytest.approx(min(truths), rel=1e-12)  # one rounding each
    assert all(a <= b for a, b in pairwise([table.truth(margin) for margin in range(1, n + 3)]))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(9, 10)])
def test_truth_of_permute_and_flip_is_the_worst_case(k, q):
    """All others exactly m behind are the worst case, and the closed form is exact there."""
    rule = PermuteAndFlip(k, q)
    for margin in (1, 2, 4):
        worst = float(rule.probabilities([margin, *[0] * (k - 1)])[0])
        assert rule.truth(margin) == pytest.approx(worst, rel=1e-12)
        others = product(range(margin, margin + 3), repeat=k - 1)
        rows = [float(rule.probabilities([margin + 2, *(margin + 2 - m for m in behind)])[0]) for behind in others]
        assert min(rows) == pytest.approx(worst, rel=1e-12)


def test_truth_in_floats_is_right_at_both_ends():
    """Margins from 1 to 10^400 and ε from 10^−12 to 700, against 50 digits."""
    for epsilon, margin in product(("1e-12", "0.01", "1", "700"), (1, 10, 10**6, 10**13, 10**400)):
        q = retention(amount(epsilon))
        with mpmath.workdps(50):
            x = mpmath.mpf(q) ** margin
            flips = (1 - (1 - x) ** 5) / (5 * x) if 1e-40 < x < 1 else mpmath.mpf(1)
            exponent = 1 / (1 + 4 * x)
            # log q is rounded once and multiplied by the margin, where x is not 0 by then: 700 units at most
            assert PermuteAndFlip(5, q).truth(margin) == pytest.approx(float(flips), rel=1e-12)
            assert Exponential(5, q).truth(margin) == pytest.approx(float(exponent), rel=1e-12)


def test_truth_ends_at_the_ceiling_and_is_compared_with_what_others_run():
    """Margins beyond the ceiling of a clipped table are as good as the ceiling; each rule has its own baselines."""
    rule = mode_mechanism(3, 1, neighbors="add-remove")
    clipped = certified_table(clipped_margins(3, 12), amount(1))
    assert clipped.truth(11) < clipped.truth(12) == clipped.truth(10**9)
    assert [type(other) for other in rule.baselines()] == [Exponential]
    assert [type(other) for other in clipped.baselines()] == [PermuteAndFlip, Exponential]


# the choice


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "kind", "method"),
    [
        (3, 1, 50, ModeTable, "histograms of n = 50"),
        (3, 1, 10**10, ModeTable, "margins, those of 56 or more"),
        (3, 1, None, ModeTable, "margins, those of 56 or more"),
        (3, 700, 50, ModeTable, "margins, those of 2 or more"),
        (3, "1e-9", 5, ModeTable, "histograms of n = 5"),
        (3, 0.001, None, PermuteAndFlip, "half of ε"),
        (3, 0, 5, PermuteAndFlip, "half of ε"),
        (3, "1e-300", None, PermuteAndFlip, "half of ε"),
        (12, 0.3, 12, ModeTable, "linear program on the histograms of n = 12"),
        (3, 0.5, 9, ModeTable, "linear program on the histograms of n = 9"),
        (3, 1, 9, ModeTable, "water-filling on the histograms of n = 9: on average"),
        (12, 0.1, 16, PermuteAndFlip, "half of ε"),
        (1000, 1, 10**6, PermuteAndFlip, "half of ε"),
    ],
)
def test_the_choice_follows_k_epsilon_and_n(k, epsilon, n, kind, method):
    """Histograms where they are few, margins where a table is affordable, coins elsewhere."""
    mechanism = mode_mechanism(k, epsilon, neighbors="replace", n=n)
    assert type(mechanism) is kind
    assert method in mechanism.method
    assert mechanism.k == k
    assert mechanism.neighbors == "replace"


def test_coins_of_half_the_budget():
    """The fallback's coins are s^m with s² ≥ e^−ε; those for joining and leaving are q^m with q ≥ e^−ε."""
    assert mode_mechanism(30, "ln 4", neighbors="replace").q == Fraction(1, 2)
    assert mode_mechanism(30, "ln 4", neighbors="add-remove").q == Fraction(1, 4)
    assert "no private mechanism" in mode_mechanism(30, 1, neighbors="add-remove").method


def test_no_budget_means_all_answers_alike():
    """With ε = 0 every category has the same probability, whatever the counts."""
    for neighbors in ("add-remove", "replace"):
        assert mode_mechanism(4, 0, neighbors=neighbors).probabilities((9, 0, 2, 1)) == (Fraction(1, 4),) * 4


def test_ceiling_grows_as_the_accepted_loss_shrinks():
    """The ceiling of docs/theory.md §9a, and what a table with it really loses at the ceiling."""
    assert ceiling_for(5, 0.5, 1e-3) == 31
    for loss in (1e-2, 1e-3, 1e-4):
        table = certified_table(clipped_margins(3, ceiling_for(3, 1.0, loss)), amount(1))
        # each loser keeps at most q^(D/2)/2, up to the half step by which D is odd or even
        assert 1 - table.truth(10**9) <= 1.7 * loss


def test_progress_is_told():
    """Progress goes up, stays within [0, 1], and is told more than once for a table of some size."""
    seen = []
    mode_mechanism(4, 1, neighbors="replace", progress=seen.append)
    assert seen[0] == 0
    assert seen[-1] == 1
    assert len(seen) > 4
    assert seen == sorted(seen)


# bad input


@pytest.mark.parametrize("k", [1, 0, -3, 2.0, math.nan, "3", None, True])
def test_bad_numbers_of_categories_are_refused(k):
    """K is a whole number of at least 2."""
    with pytest.raises(ParameterError, match="k must be a whole number"):
        mode_mechanism(k, 1, neighbors="add-remove")


@pytest.mark.parametrize("epsilon", [math.nan, math.inf, -math.inf, -1, 701, "x", "", None, [], "1e999999"])
def test_bad_epsilons_are_refused(epsilon):
    """ε is a number in [0, 700]."""
    with pytest.raises(ParameterError, match="epsilon"):
        mode_mechanism(3, epsilon, neighbors="replace")


@pytest.mark.parametrize("n", [-1, 1.0, math.nan, math.inf, "5", True, []])
def test_bad_numbers_of_people_are_refused(n):
    """N is a whole number of at least 0."""
    with pytest.raises(ParameterError, match="n must be a whole number"):
        mode_mechanism(3, 1, neighbors="replace", n=n)


def test_bad_relations_are_refused():
    """Only two neighbour relations, and n only where it is public."""
    for neighbors in ("", "swap", None, 3):
        with pytest.raises(ParameterError, match="neighbors must be"):
            mode_mechanism(3, 1, neighbors=neighbors)
    with pytest.raises(ParameterError, match="public only with"):
        mode_mechanism(3, 1, neighbors="add-remove", n=5)


CANARY = 7_654_321
BAD_COUNTS = [
    (),
    (CANARY, 1),
    (CANARY, 1, 2, 3),
    (CANARY, -1, 0),
    (CANARY, math.nan, 0),
    (CANARY, math.inf, 0),
    (float(CANARY), 1, 2),
    (str(CANARY), 1, 2),
    (CANARY, None, 1),
    (CANARY, True, 1),
    None,
    CANARY,
]


@pytest.mark.parametrize("counts", BAD_COUNTS)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_bad_counts_are_refused_without_being_shown(counts, neighbors):
    """Counts are k whole numbers, none negative; an error says so and not what they are."""
    mechanism = mode_mechanism(3, 3, neighbors=neighbors)
    with pytest.raises(ParameterError, match="counts must be 3 whole numbers") as refused:
        mechanism.draw(counts, lambda _: 0)
    assert str(CANARY) not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_counts_must_fit_the_public_number():
    """A table of n people takes counts that sum to n; with missing values, to at most n."""
    table = mode_mechanism(3, 1, neighbors="replace", n=9, missing=False)
    with pytest.raises(ParameterError, match=r"sum to 9$"):
        table.row((CANARY, 0, 0))
    with pytest.raises(ParameterError, match=r"sum to at most 9$"):
        mode_mechanism(3, 1, neighbors="replace", n=9).row((9, 1, 0))


@pytest.mark.parametrize("q", [Fraction(0), Fraction(-1), Fraction(3, 2), 0.5, math.nan, None])
def test_bad_coins_are_refused(q):
    """A coin is a Fraction in (0, 1]."""
    with pytest.raises(ParameterError, match="q must be a Fraction"):
        PermuteAndFlip(3, q)


@pytest.mark.parametrize("margin", [0, -1, 1.5, math.nan, None, "3", True])
def test_bad_margins_are_refused(margin):
    """A margin is a whole number of at least 1."""
    for mechanism in (PermuteAndFlip(3, Fraction(1, 2)), Exponential(3, Fraction(1, 2))):
        with pytest.raises(ParameterError, match="margin must be"):
            mechanism.truth(margin)
    with pytest.raises(ParameterError, match="margin must be"):
        mode_mechanism(3, 1, neighbors="replace", n=3).truth(margin)


def test_exact_probabilities_are_for_small_cases():
    """Numbers with millions of digits are refused before they are formed."""
    with pytest.raises(ParameterError, match="exact probabilities are for"):
        mode_mechanism(3, 1, neighbors="add-remove").probabilities((10**10, 0, 0))
    with pytest.raises(ParameterError, match="exact probabilities are for"):
        PermuteAndFlip(100, Fraction(1, 2)).probabilities([1] * 100)
