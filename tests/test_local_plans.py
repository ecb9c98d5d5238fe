"""Planning a local survey: errors are what they are said to be, numbers of people are the least, choices are ranked."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from tinct import ParameterError, local
from tinct._kernels.hash_support import count_hashes
from tinct.cli import main
from tinct.local import hypothesis_testing
from tinct.local._estimate import estimate_from, maximum_likelihood
from tinct.local.frequency_errors import statements
from tinct.local.mechanisms import local_hashing, subset_selection
from tinct.local.mechanisms.written_out_table import TableChannel

P0, P1 = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]
SHARES = [0.5, 0.25, 0.1, 0.1, 0.05]


def uniform(seed):
    """A seeded stand-in for entropy."""
    return np.random.default_rng(seed).bytes


def variance(own, other, share):
    """The variance of one estimate, times the reports, by the book."""
    support = other + share * (own - other)
    return support * (1 - support) / (own - other) ** 2


# the size of subsets


@pytest.mark.parametrize("k", [2, 3, 5, 17, 60, 105])
@pytest.mark.parametrize("epsilon", [0.1, 1, 2, 4, 8])
def test_the_size_of_subsets_has_the_least_total_variance(k, epsilon):
    """Every other size has a larger sum of variances at uniform shares, and information is asked for by name."""

    def total(size):
        own, other = local.subset_selection(k, epsilon, size=size).randomiser.chances
        return variance(float(own), float(other), 1 / k)

    chosen = local.subset_selection(k, epsilon).channel.members
    assert total(chosen) <= min(total(size) for size in range(1, k)) * (1 + 1e-12)
    informative = local.subset_selection(k, epsilon, goal="information").channel.members
    assert informative == local.mutual_information([1 / k] * k, epsilon).channel.members


def test_the_sizes_of_the_two_goals_differ():
    """At 105 symbols and ε = 4 the size for information loses 40 % of the total variance, and 69 % for rare symbols."""
    ours, theirs = (local.subset_selection(105, 4, goal=goal) for goal in ("frequencies", "information"))
    assert (ours.channel.members, theirs.channel.members) == (2, 6)
    one, two = ([variance(*map(float, m.randomiser.chances), share) for share in (0, 1 / 105)] for m in (ours, theirs))
    assert two[1] / one[1] == pytest.approx(1.40, abs=0.01)


# errors


@pytest.mark.parametrize("goal", ["total", "worst", "largest"])
def test_errors_are_those_of_simulated_surveys(goal):
    """400 surveys of 300 people: the squared errors of every mechanism are as promised, within 4 deviations."""
    found = local.recommend(5, 1, people=300, shares=SHARES, goal=goal, largest=2)
    rng = np.random.default_rng(3)
    for choice in found.choices:
        squares = []
        for survey in range(400):
            codes = rng.choice(5, 300, p=SHARES)
            got = choice.mechanism.estimate(choice.mechanism.randomiser.draw(codes, uniform(survey)))
            squares.append((got.frequencies - SHARES) ** 2)
        means, spreads = np.mean(squares, axis=0), np.std(squares, axis=0) / 20
        if goal == "total":
            assert math.sqrt(means.mean()) == pytest.approx(choice.error, rel=0.08)
        else:
            at = [0, 1] if goal == "largest" else range(5)
            assert all(means[x] <= choice.error**2 + 4 * spreads[x] for x in at)
            assert any(abs(means[x] - choice.error**2) <= 4 * spreads[x] for x in at)


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_errors_are_those_that_were_published(epsilon):
    """Of rare symbols, by the formulas of Wang et al. (2017), Ye and Barg (2018) and Acharya et al. (2019)."""
    k, people, growth = 64, 1000, math.exp(epsilon)
    rare = np.array([1.0] + [0.0] * (k - 1))

    def squared(mechanism):
        own, other = (float(chance) for chance in mechanism.randomiser.chances)
        return variance(own, other, rare[1]) / people

    assert squared(local.randomized_response(k, epsilon)) == pytest.approx(
        (k - 2 + growth) / (growth - 1) ** 2 / people
    )
    assert squared(local.unary_encoding(k, epsilon)) == pytest.approx(4 * growth / (growth - 1) ** 2 / people)
    assert squared(local.hadamard_response(k, epsilon)) == pytest.approx((growth + 1) ** 2 / (growth - 1) ** 2 / people)
    d = local.subset_selection(k, epsilon).channel.members
    inside = growth * d / (growth * d + k - d)
    outside = inside * (d - 1) / (k - 1) + (1 - inside) * d / (k - 1)
    wanted = outside * (1 - outside) / (inside - outside) ** 2 / people
    assert squared(local.subset_selection(k, epsilon)) == pytest.approx(wanted)
    assert d in (max(1, math.floor(k / (growth + 1))), math.ceil(k / (growth + 1)))
    buckets = round(growth) + 1
    if buckets > 10:
        return  # nearly as many buckets as symbols: a hash onto so many collides less often than the formula says
    ideal = (growth - 1 + buckets) ** 2 / ((growth - 1) ** 2 * (buckets - 1)) / people
    assert squared(local.local_hashing(k, epsilon)) == pytest.approx(ideal, rel=0.1)


def test_shares_left_out_are_the_worst():
    """No distribution on a grid has a larger error than the one that is promised without shares."""
    grid = [np.array(cut) / 6 for cut in product(range(7), repeat=3) if sum(cut) == 6]
    for goal in ("total", "worst", "pointwise", "joint"):
        for choice in local.recommend(3, 1.5, goal=goal).choices:
            if goal == "total" and choice.mechanism.name == "geometric":
                continue  # uniform shares are the worst for mechanisms that treat symbols alike
            aim = [_again(choice, local.recommend(3, 1.5, goal=goal, shares=shares)) for shares in grid]
            assert max(aim) <= choice.error * (1 + 1e-6)


def _again(choice, found):
    """The error of the same mechanism, with the same parameters, elsewhere."""
    same = [each.error for each in found.choices if each.mechanism.name == choice.mechanism.name]
    assert len(same) == 1
    return same[0]


def test_choices_are_ranked_and_tuned():
    """The first has the least error, and subsets and buckets are the best of all sizes for the goal."""
    for goal, shares in product(("total", "worst"), (None, SHARES)):
        found = local.recommend(5, 1, people=1000, shares=shares, goal=goal)
        errors = [choice.error for choice in found.choices]
        assert errors == sorted(errors)
        assert found.best is found.choices[0].mechanism
        subset = next(each for each in found.choices if each.mechanism.name == "subset selection")
        for size in range(1, 5):
            own, other = map(float, local.subset_selection(5, 1, size=size).randomiser.chances)
            given = [variance(own, other, share) for share in (shares or [0.2] * 5)]
            if shares is None and goal == "worst":
                given = [variance(own, other, share / 1000) for share in range(1001)]
            there = np.mean(given) if goal == "total" else max(given)
            assert subset.error <= math.sqrt(there / 1000) * (1 + 1e-6)


def test_two_of_three_numbers_give_the_third():
    """ε, people and error agree whichever two are given, and less of the third would not do."""
    for goal in ("total", "joint"):
        by_error = local.recommend(6, 1, error=0.03, goal=goal)
        assert len(by_error.choices) == (6 if goal == "total" else 5)
        assert [each.error for each in by_error.choices] == pytest.approx([0.03] * len(by_error.choices), rel=1e-2)
        assert all(each.error <= 0.03 for each in by_error.choices)
        people = by_error.choices[0].people
        short = local.recommend(6, 1, people=people - 1, goal=goal)
        assert short.choices[0].error > 0.03
        budget = local.recommend(6, people=people, error=0.03, goal=goal).best.epsilon
        assert budget == pytest.approx(1, abs=0.0011)
    assert local.recommend(6, 1).choices[0].people == 10_000


def test_costs_are_counted():
    """Bytes, draws and steps of known cases."""
    found = {each.mechanism.name: each for each in local.recommend(1000, 3, people=100).choices}
    assert found["randomized response"].bytes == 2
    assert found["unary encoding"].bytes == 125
    assert found["unary encoding"].drawn == 1000
    assert found["Hadamard response"].steps == 100 + 1024 * 10
    subset = found["subset selection"]
    assert subset.drawn == subset.mechanism.channel.members + 2


def test_two_symbols_are_one_share():
    """Where two supports add up to everybody, one interval is a statement about both; elsewhere there are two."""
    response = local.randomized_response(2, 1)
    assert [statements(each(2, 1).randomiser) for each in (local.randomized_response, local.unary_encoding)] == [1, 2]
    found = estimate_from(response, np.array([600, 400]), 1000, 0.95)
    own, other = map(float, response.randomiser.chances)
    low = (binom_low(600, 1000, 0.025) - other) / (own - other)
    assert found.low[0] == pytest.approx(low)
    assert found.low[0] + found.high[1] == pytest.approx(1)
    assert response.sample_size(0.03) == response.sample_size(0.03, joint=False) == 5069


def binom_low(seen, people, tail):
    """The p at which so many or more have this probability, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if binom.sf(seen - 1, people, middle) < tail else (low, middle)
    return low


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "unary_encoding", "hadamard_response"])
@pytest.mark.parametrize("joint", [True, False])
def test_sample_sizes_are_the_least_that_are_enough(name, joint):
    """At the expected support the interval that ``estimate`` gives has the promised reach; one report fewer has not."""
    mechanism = getattr(local, name)(5, 1)
    for shares in (None, SHARES):
        people = mechanism.sample_size(0.04, shares=shares, confidence=0.9, joint=joint)
        assert mechanism.error(people, shares=shares, confidence=0.9, joint=joint) <= 0.04
        assert mechanism.error(people - 1, shares=shares, confidence=0.9, joint=joint) > 0.04
    own, other = map(float, mechanism.randomiser.chances)
    seen = np.rint(people * (other + np.array(SHARES) * (own - other))).astype(int)
    found = estimate_from(mechanism, seen, people, 0.9 if joint else 1 - 0.1 * 5)
    reach = np.maximum(found.high - found.frequencies, found.frequencies - found.low)
    if joint:
        assert reach.max() == pytest.approx(0.04, rel=0.01)


# tests


def second_error(mechanism, people, level, p0=P0, p1=P1):
    """The least error of the second kind among thresholds on the likelihood ratio, by listing every outcome."""
    first, second = (mechanism.channel.push(np.array(p)) for p in (p0, p1))
    outcomes = [cut for cut in product(range(people + 1), repeat=len(first)) if sum(cut) == people]
    gains = np.array(outcomes) @ np.log(second / first)
    under = [multinomial.pmf(outcomes, people, chances / chances.sum()) for chances in (first, second)]
    kept = [under[1][gains < t - 1e-9].sum() for t in [*gains, math.inf] if under[0][gains >= t - 1e-9].sum() <= level]
    return min(kept)


def test_tests_err_as_planned():
    """67 people, as the leading term has it, err far too often; 157 are right for one in a hundred both ways."""
    mechanism = local.optimal(P0, P1, 1)
    chance = Fraction(mechanism.channel.push(np.array(P0))[0])  # output 0 speaks for P1
    assert mechanism.sample_size(0.01) == 157
    assert mechanism.sample_size(0.01, level=0.05) == 117
    assert mechanism.error(67, level=0.05) == pytest.approx(0.099, abs=0.001)
    for people, right in ((156, False), (157, True)):
        tails = [_binomial_tail(people, chance, cut) for cut in range(people + 2)]
        misses = [1 - _binomial_tail(people, 1 - chance, cut) for cut in range(people + 2)]
        both = [max(one, two) for one, two in zip(tails, misses, strict=True)]
        assert (min(both) <= Fraction(1, 100)) == right
        assert mechanism.error(people) == pytest.approx(float(min(both)), rel=1e-9)


def _binomial_tail(people, chance, least):
    p, q = float(chance), float(1 - chance)
    return math.fsum(math.comb(people, s) * p**s * q ** (people - s) for s in range(least, people + 1))


@pytest.mark.parametrize("epsilon", [1, 3, 5])
def test_errors_of_tests_equal_the_list_of_all_outcomes(epsilon):
    """Up to four outputs and nine people."""
    mechanism = local.optimal(P0, P1, epsilon)
    for people, level in ((3, 0.2), (9, 0.05)):
        assert mechanism.error(people, level=level) == pytest.approx(second_error(mechanism, people, level), rel=1e-9)


def test_many_outcomes_are_convolved(monkeypatch):
    """The grid agrees with the list of all outcomes to a part in a hundred, and numbers of people nearly."""
    mechanism = local.optimal([0.5, 0.3, 0.2], [0.3, 0.3, 0.4], 4)
    exact = [mechanism.sample_size(error) for error in (0.1, 0.01)]
    monkeypatch.setattr(hypothesis_testing, "MAX_ENUMERATED", 0)
    for error, people in zip((0.1, 0.01), exact, strict=True):
        assert mechanism.sample_size(error) == pytest.approx(people, abs=max(2, 0.02 * people))
    assert local.optimal([0.41, 0.59], [0.42, 0.58], 0.2).sample_size(0.01) > 5_000_000


def test_outputs_that_settle_everything_are_counted():
    """Under (ε, δ) an output may be impossible under one hypothesis; errors are still those of all outcomes."""
    mechanism = local.quaternary(1, "0.1")
    for people in (1, 4):
        sure = (1 - 0.1) ** people
        first, second = (mechanism.channel.push(np.array(p)) for p in ([1, 0], [0, 1]))
        rest = [binom.pmf(range(people + 1), people, chances[2] / 0.9) for chances in (first, second)]
        below = [sure * rest[1][:cut].sum() for cut in range(people + 2)]
        above = [sure * rest[0][cut:].sum() for cut in range(people + 2)]
        best = min(two for one, two in zip(above, below, strict=True) if one <= 0.3)
        assert mechanism.error(people, [1, 0], [0, 1], level=0.3) == pytest.approx(best)
    assert mechanism.test([2, 3, 1], [1, 0], [0, 1]).p_value == 0
    # without certain outputs, this many of output 2 or more; an output of P0 alone would have settled it
    value = mechanism.test([2, 2, 3], [1, 0], [0, 1]).p_value
    assert value == pytest.approx(0.9**3 * binom.sf(1, 3, mechanism.matrix[0, 2] / 0.9))
    with pytest.raises(ParameterError, match="neither is true"):
        mechanism.test([0, 1], [1, 0], [0, 1])


# many symbols


@pytest.mark.parametrize("k", [2, 3, 7, 8, 20])
def test_the_fast_transform_counts_rows(k):
    """Support by the Hadamard matrix written out."""
    randomiser = local.hadamard_response(k, 1).randomiser
    reports = np.random.default_rng(k).integers(0, randomiser.order, 500)
    signs = np.array([[(row & place).bit_count() % 2 == 0 for place in reports.tolist()] for row in range(1, k + 1)])
    assert randomiser.support(reports).tolist() == signs.sum(axis=1).tolist()


@pytest.mark.parametrize(("k", "buckets"), [(2, 2), (7, 7), (50, 3), (97, 20), (1000, 8)])
def test_hashes_are_counted_without_hashing(k, buckets, monkeypatch):
    """Symbol by symbol, by the kernel compiled and plain: the same counts."""
    randomiser = local.local_hashing(k, 1, buckets=buckets).randomiser
    reports = randomiser.draw(np.random.default_rng(k).integers(0, k, 300), uniform(k))
    slow = randomiser.support(reports).tolist()
    a, b, answer = (np.ascontiguousarray(part) for part in reports.T)
    plain = np.zeros(k, np.int64)
    count_hashes.plain(a, b, answer, randomiser.prime, buckets, plain)
    assert plain.tolist() == slow
    monkeypatch.setattr(local_hashing, "_LARGE", 0)
    assert randomiser.support(reports).tolist() == slow


@pytest.mark.parametrize("size", [1, 5, 30, 39])
def test_large_subsets_are_those_of_small_ones(size, monkeypatch):
    """With marks or by looking one by one, the same bytes give the same subsets."""
    randomiser = local.subset_selection(40, 1, size=size).randomiser
    codes = np.arange(200) % 40
    one = randomiser.draw(codes, uniform(1))
    monkeypatch.setattr(subset_selection, "_FEW", 0)
    assert randomiser.draw(codes, uniform(1)).tolist() == one.tolist()
    monkeypatch.setattr(subset_selection, "_MARKS", 40 * 7)  # seven people at a time: other bytes, subsets all the same
    parts = randomiser.draw(codes, uniform(2))
    assert parts.shape == one.shape
    assert all(len(set(row)) == size for row in parts.tolist())


def test_likeliest_shares_of_randomized_response_are_those_of_iterations():
    """The closed form has at least the likelihood of ten thousand steps of expectation and maximisation."""
    rng = np.random.default_rng(6)
    for k, people in ((2, 10), (5, 30), (30, 200)):
        response = local.randomized_response(k, 1)
        table = local.LocalMechanism.of(TableChannel(k, np.array(response.matrix)), 1, name="table").randomiser
        seen = rng.multinomial(people, rng.dirichlet(np.ones(k)))
        best = maximum_likelihood(response.randomiser, seen)
        slow = maximum_likelihood(table, seen)
        assert best.sum() == pytest.approx(1)
        assert (best >= 0).all()
        likelihood = [float(seen @ np.log(shares @ response.matrix)) for shares in (best, slow)]
        assert likelihood[0] >= likelihood[1] - 1e-9


# bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: local.recommend(1, 1), "k must be"),
        (lambda: local.recommend(4), "give epsilon"),
        (lambda: local.recommend(4, people=10), "give epsilon"),
        (lambda: local.recommend(4, 1, people=10, error=0.1), "give two"),
        (lambda: local.recommend(4, 1, goal="best"), "goal must be one of"),
        (lambda: local.recommend(4, 1, goal="largest"), "guess them"),
        (lambda: local.recommend(4, 1, shares=[0.5, 0.5]), "4 frequencies"),
        (lambda: local.recommend(2, 1, shares=[0.5, math.nan]), "probabilities"),
        (lambda: local.recommend(4, 1, confidence=1), "confidence"),
        (lambda: local.recommend(4, 1, confidence=math.nan), "confidence"),
        (lambda: local.recommend(4, 1, people=0), "people"),
        (lambda: local.recommend(4, 1, people=1.5), "people"),
        (lambda: local.recommend(4, 1, error=math.nan), "error"),
        (lambda: local.recommend(4, 1, error=1e-9), "not even"),
        (lambda: local.recommend(4, math.nan), "epsilon"),
        (lambda: local.recommend(4, people=100, error=0.001), "too few"),
        (lambda: local.subset_selection(4, 1, goal="best"), "goal"),
        (lambda: local.randomized_response(4, 1).sample_size(0), "error"),
        (lambda: local.randomized_response(4, 1).sample_size(0.1, confidence=2), "confidence"),
        (lambda: local.randomized_response(4, 1).sample_size(0.1, level=0.1), "level"),
        (lambda: local.randomized_response(4, 1).sample_size(0.1, shares=[1]), "4 frequencies"),
        (lambda: local.randomized_response(4, 1).sample_size(0.1, P0, P1, shares=P0), "one or the other"),
        (lambda: local.randomized_response(4, 1).sample_size(0.1, P0), "belong together"),
        (lambda: local.randomized_response(4, 1).error(0), "people"),
        (lambda: local.optimal(P0, P1, 1).sample_size(0.1, level=math.nan), "level"),
        (lambda: local.optimal(P0, P1, 1).sample_size(math.nan), "level|error"),
        (lambda: local.optimal(P0, P1, 1).sample_size(0.1, P0, P0), "same reports"),
    ],
)  # fmt: skip
def test_bad_plans_are_refused(call, message):
    """With the name of what is wrong."""
    with pytest.raises(ParameterError, match=message):
        call()


# the command


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command; what it prints on both ways."""

    def run(*words, status=0):
        monkeypatch.setattr(sys, "argv", ["tinct", "local", *words])
        with pytest.raises(SystemExit) as ended:
            main.run()
        done = capsys.readouterr()
        assert (ended.value.code or 0) == status, done
        return done.out + done.err

    return run


def test_the_command_recommends(tmp_path, run):
    """The table, the JSON and the file agree with the library."""
    found = local.recommend(40, 1, people=50_000)
    shown = run("recommend", "--symbols", "40", "--epsilon", "1", "--people", "50000")
    assert shown.startswith("Subset selection for 40 symbols")
    document = json.loads(run("recommend", "--symbols", "40", "-e", "1", "--people", "50000", "--json"))
    assert [each["mechanism"] for each in document["choices"]] == [each.mechanism.name for each in found.choices]
    assert document["choices"][0]["members"] == 11
    shares = tmp_path / "shares.csv"
    shares.write_text("symbol,prior\na,0.7\nb,0.2\nc,0.1\n", encoding="utf-8")
    path = str(tmp_path / "m.json")
    run("recommend", str(shares), "-e", "1", "--goal", "largest", "--output", path)
    assert local.LocalMechanism.from_json(path).symbols == ("a", "b", "c")


def test_symbols_come_from_a_file(tmp_path, run):
    """One a line, or a column; a name that comes twice is named with its line."""
    lines, table = tmp_path / "symbols.txt", tmp_path / "symbols.csv"
    lines.write_text("yes\nno\n\nunsure, or else\n", encoding="utf-8")
    table.write_text('id,symbol\n1,yes\n2,no\n3,"unsure, or else"\n', encoding="utf-8")
    for file in (lines, table):
        path = str(tmp_path / "m.json")
        run("design", "--mechanism", "unary-encoding", "--symbols-file", str(file), "-e", "1", "--output", path)
        assert local.LocalMechanism.from_json(path).symbols == ("yes", "no", "unsure, or else")
    lines.write_text("yes\nno\nyes\n", encoding="utf-8")
    assert "line 3: 'yes' is already" in run("recommend", "--symbols-file", str(lines), "-e", "1", status=2)
    lines.write_text("yes\n", encoding="utf-8")
    assert "at least two" in run("recommend", "--symbols-file", str(lines), "-e", "1", status=2)
    table.write_text("name\nyes\n", encoding="utf-8")
    assert "called symbol" in run("recommend", "--symbols-file", str(table), "-e", "1", status=2)
    assert "not both" in run("recommend", "--symbols-file", str(table), "--symbols", "a,b", "-e", "1", status=2)


def test_estimates_and_tests_draw_themselves(tmp_path, run):
    """The command shows likeliest shares, none negative, and draws; the picture has the symbols."""
    pytest.importorskip("matplotlib")
    mechanism, reports = str(tmp_path / "m.json"), tmp_path / "r.csv"
    local.randomized_response(4, 1, symbols=["ant", "bee", "cat", "dog"]).to_json(mechanism)
    reports.write_text("report\n" + "0\n" * 60 + "1\n" * 30 + "2\n" * 10 + "3\n" * 2, encoding="utf-8")
    picture = tmp_path / "shares.svg"
    shown = run("estimate", str(reports), "--mechanism", mechanism, "--plot", str(picture))
    assert "share" in shown
    assert "-0." not in shown
    assert "ant" in picture.read_text(encoding="utf-8")
    local.optimal(P0, P1, 1).to_json(mechanism)
    reports.write_text("report\n" + "0\n" * 60 + "1\n" * 30, encoding="utf-8")
    run("test", str(reports), "--mechanism", mechanism, "--plot", str(tmp_path / "test.svg"))
    assert (tmp_path / "test.svg").exists()
    assert local.optimal(P0, P1, 1).test([0, 1, 1]).outputs[0].sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mechanism", "quaternary", "--symbols", "a,b,c", "-d", "0.1"], "two symbols"),
        (["--mechanism", "unary-encoding", "--symbols", "a,b", "-d", "0.1"], "--delta is for --mechanism quaternary"),
        (["--mechanism", "geometric", "--symbols", "a,b", "--size", "1"], "--size is for --mechanism subset-selection"),
        (["--mechanism", "binary", "--symbols", "a,b"], "no distributions"),
        (["--average", "--p0", "0.5,0.5", "--p1", "0.1,0.9"], "--average needs --pairs"),
        (["--pairs", "a:b"], "give the file"),
        (["--p0", "0.5,0.5", "--p1", "0.1,0.9", "-d", "1"], "delta"),
        (["--p0", "0.5,0.5", "--p1", "0.1,0.9", "-d", "nan"], "delta"),
    ],
)
def test_bad_designs_are_refused(words, message, run):
    """With the option that is wrong."""
    assert message in run("design", "-e", "1", *words, status=2)


def test_every_mechanism_is_designed_by_the_command(tmp_path, run):
    """With δ, for several pairs, and by name; each file is read back."""
    table = tmp_path / "pairs.csv"
    table.write_text("symbol,old,new,other\na,0.1,0.5,0.3\nb,0.2,0.25,0.4\nc,0.7,0.25,0.3\n", encoding="utf-8")
    path = str(tmp_path / "m.json")
    both = ["--p0", "0.1,0.2,0.7", "--p1", "0.5,0.25,0.25"]
    for words in (
        [*both, "-d", "0.05"], ["--prior", "0.5,0.3,0.2", "-d", "0.05"], [str(table), "--pairs", "old:new,old:other"],
        [str(table), "--pairs", "old:new,old:other", "--average", "-d", "0.01"], [*both, "--mechanism", "binary"],
        ["--prior", "0.5,0.3,0.2", "--mechanism", "binary"],
        ["--mechanism", "quaternary", "--symbols", "a,b", "-d", "0.01"],
        ["--mechanism", "subset-selection", "--symbols", "a,b,c,d", "--size", "2"],
        ["--mechanism", "local-hashing", "--symbols", "a,b,c,d", "--buckets", "3"],
    ):  # fmt: skip
        run("design", "-e", "1", *words, "--output", path)
        made = local.LocalMechanism.from_json(path)
        assert bool(made.exact_delta) == ("-d" in words)
    run("design", "-e", "1", *both, "-d", "0.05", "--output", path)
    (tmp_path / "a.csv").write_text("answer\n0\n2\n", encoding="utf-8")
    reports = str(tmp_path / "r.csv")
    said = run("privatize", str(tmp_path / "a.csv"), "-c", "answer", "-m", path, "-o", reports)
    assert "each ε = 1, δ = 0.05 private" in said
    assert "delta=0.05" in repr(local.LocalMechanism.from_json(path))
    table.write_text("symbol,old,new\na,0.1,0.5\nb,0.9,0.5\n", encoding="utf-8")
    assert "no column 'other'" in run("design", "-e", "1", str(table), "--pairs", "old:other", status=2)
