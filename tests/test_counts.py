"""Noise for counts: private against a step of one, as truthful as every threshold asked alone, and drawn exactly."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import oracles
from independent_checker import load, signed, tool_accepts
from tinct import FileError, Ledger, NotPrivate, ParameterError, Privacy, Protection, ask, asking, exact
from tinct.asking.number_designs import LARGEST, number_design, width
from tinct.asking.uncertainty import ShareBounds
from tinct.exact import sampler
from tinct.exact.alias_table import AliasTable
from tinct.exact.grid import GridPair
from tinct.numbers.amounts import Amount
from tinct.questions import Counts, GroupCounts, parse
from tinct.questions.noise import GeometricNoise, NoiseCertificate, TableNoise, count_noise
from tinct.questions.noise.geometric import _Cells
from tinct.questions.noise.orbit_weights import balanced_weights, selecting_weights

TOOL = load()
BUDGETS = (
    ("1", "1e-6"),
    ("0.1", "1e-3"),
    ("ln 3", "0.1"),
    ("5", "1e-9"),
    ("0", "0.01"),
    ("0.02", "1e-9"),
    ("700", "0.2"),
)


def excess(weights, growth):
    """The least δ, in units, for noise against itself moved by one, both ways, as the definition has it."""
    here, moved = [*weights, 0], [0, *weights]
    return max(
        sum(max(0, a - growth * b) for a, b in zip(one, other, strict=True))
        for one, other in ((here, moved), (moved, here))
    )


@st.composite
def grids(draw):
    """Units, R and D, with at least as much room for a step as the library gives one."""
    growth = Fraction(draw(st.integers(1020, 9000)), 1000)
    least = math.ceil(2**24 / min(1, growth - 1))
    total = 1 << draw(st.integers(least.bit_length() + 2, 62))
    shift = total // draw(st.integers(3, max(3, min(total // least, 10**9))))
    return GridPair(total, growth, shift)


# the weights


@settings(deadline=None, max_examples=60)
@given(grids())
def test_weights_are_private_in_both_directions_and_use_every_unit(pair):
    """Σ max(0, p − R·q) ≤ D for noise moved by one, and the same when it selects groups."""
    for first, weights in (balanced_weights(pair), selecting_weights(pair)):
        assert sum(weights) == pair.total
        assert min(weights) > 0
        assert excess(weights, pair.growth) <= pair.shift
        assert first < 0
    assert balanced_weights(pair)[1] == balanced_weights(pair)[1][::-1]
    assert first + len(weights) - 1 == -1  # what selects is always below 0


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_noise_is_the_orbit_of_the_slow_twin(epsilon, delta):
    """Pr[Z ≥ −t] is U^t of the balanced value, and for groups U^t of 0, up to what units round off."""
    privacy = Privacy(epsilon, delta)
    growth, shift = Fraction(privacy.growth), privacy.exact_delta
    for noise, start in (
        (count_noise(privacy), (growth + shift) / (growth + 1)),
        (count_noise(privacy, selecting=True), Fraction(0)),
    ):
        for t in range(30):
            twin = naive.orbit(t, start, growth, shift)
            assert noise.at_least(-t) == pytest.approx(float(twin), abs=1e-9)
            assert noise.at_least(t + 1) == pytest.approx(float(naive.orbit(-t - 1, start, growth, shift)), abs=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0.02"), ("1", "1e-3"), ("1", "0")])
@pytest.mark.parametrize("bar", [1, 4, 7])
def test_every_threshold_is_as_truthful_as_if_it_alone_were_asked(epsilon, delta, bar):
    """The linear program of the threshold, given the same truth on its boundary, finds nothing more truthful."""
    privacy, people = Privacy(epsilon, delta), 8
    noise = count_noise(privacy)
    edges = [(at, at + 1) for at in range(people)]
    codes = [0 if at >= bar else 1 for at in range(people + 1)]
    ours = [noise.at_least(bar - at) for at in range(people + 1)]
    best = oracles.most_truthful(
        people + 1, edges, [privacy.epsilon] * people, [privacy.delta] * people, codes,
        {bar: ours[bar], bar - 1: ours[bar - 1]},
    )  # fmt: skip
    assert np.allclose(best, ours, atol=1e-8)
    line = exact.line(privacy)  # what threshold itself is answered with
    for at in range(people + 1):
        row = line.rows[int(line.positions([at - bar])[0])]
        assert ours[at] == pytest.approx(row[0] / line.denominator, abs=1e-9)


def test_groups_are_shown_as_often_as_the_optimal_selection_shows_them():
    """Pr[n + Z ≥ 0] is the certified selection at n."""
    for epsilon, delta in (("1", "1e-6"), ("0.3", "1e-4")):
        privacy = Privacy(epsilon, delta)
        noise, ray = count_noise(privacy, selecting=True), exact.ray(privacy)
        for people in range(60):
            row = ray.rows[int(ray.positions([people])[0])]
            assert noise.at_least(-people) == pytest.approx(row[0] / ray.denominator, abs=1e-9)
        assert noise.at_least(0) == 0


def test_noise_ends_about_where_the_formula_says():
    """|Z| ≤ about ln((E − 1 + 2δ)/(δ(E + 1)))/ε."""
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-6), (2.0, 1e-9)):
        growth = math.exp(epsilon)
        end = math.log((growth - 1 + 2 * delta) / (delta * (growth + 1))) / epsilon
        assert abs(count_noise(Privacy(epsilon, delta)).reach - end) <= 1


# the draw


def every_unit(_, count):
    """All uniform integers, one after the other."""
    return np.arange(count, dtype=np.uint64)


def test_an_alias_table_gives_every_number_exactly_its_units():
    """All uniform integers, one after the other."""
    rng = np.random.default_rng(5)
    for size in (1, 2, 3, 7, 16, 33):
        cuts = np.sort(rng.integers(0, 257, size - 1))
        weights = np.diff([0, *cuts, 256]).tolist()
        table = AliasTable.of(range(-3, size - 3), weights)
        drawn = Counter(table.draw(256, every_unit).tolist())
        assert [drawn[at - 3] for at in range(size)] == weights
    for bad in ([3, 2], [-1, 2], [2**63, 2**63]):
        with pytest.raises(ParameterError):
            AliasTable.of([0, 1], bad)


def test_a_table_is_drawn_from_exactly_one_by_one_and_many_at_once():
    """Every uniform integer of a small table, in both ways of drawing."""
    first, weights = balanced_weights(GridPair(4096, Fraction(2), 64))
    noise = TableNoise(first, tuple(weights), Fraction(2))
    one = Counter(noise.draw(lambda _, unit=unit: unit) for unit in range(4096))
    many = Counter(noise.draw_many(4096, every_unit, None).tolist())
    assert one == many == {first + at: weight for at, weight in enumerate(weights)}


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(2, 3), Fraction(9, 10)])
def test_geometric_noise_has_exactly_its_probabilities(rate):
    """Every sequence of few binary places: what they decide is never too much, and what is open is little."""
    noise = GeometricNoise(rate)
    decided: Counter[int] = Counter()
    for blocks in product(range(8), repeat=3):
        feed = iter(blocks)
        try:
            decided[noise.draw(lambda _, feed=feed: next(feed), block=3)] += Fraction(1, 8**3)
        except StopIteration:  # it would have asked for more
            continue
    probability = {z: (1 - rate) / (1 + rate) * rate ** abs(z) for z in decided}
    assert all(decided[z] <= probability[z] for z in decided)
    assert 1 - sum(decided.values()) < Fraction(1, 5)


def test_the_cells_that_decide_lie_whole_within_their_number():
    """For a small grid: units of each number never exceed its probability, and the cut cells make up the rest."""
    for rate in (Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)):
        cells = _Cells.of(rate, 12)
        drawn = Counter(cells.decided.draw(1 << 12, every_unit).tolist())
        assert drawn[cells.undecided] == cells.cuts
        for number, units in drawn.items():
            if number != cells.undecided:
                probability = (1 - rate) / (1 + rate) * rate ** abs(number)
                assert probability * 4096 - 4 < units <= probability * 4096
        noise = GeometricNoise(rate)
        for at in range(cells.cuts):  # what was cut, with its further places, is between the numbers beside it
            cell = cells.cut(at)
            low, high = (noise._continued(cell << 40 | end, 52, sampler.below, 8) for end in (0, (1 << 40) - 1))
            assert low < high or (cell in (0, 4095) and low <= high)


def test_many_draws_with_an_open_one_are_continued():
    """A source that always lands on the open cells is asked for further places, and the answer is a number."""
    noise = GeometricNoise(Fraction(1, 2))
    table = noise._table
    column = int(np.flatnonzero(table.decided.values == table.undecided)[0])
    at, second = divmod(column, 2)
    unit = int(table.decided.bounds[at]) if second else at << table.decided.height
    drawn = noise.draw_many(3, lambda _, count: np.full(count, unit, np.uint64), sampler.below)
    assert all(number != table.undecided for number in drawn.tolist())


def test_drawn_noise_is_spread_as_its_table_says():
    """Twenty thousand draws from the system's entropy, six standard deviations wide."""
    for privacy in (Privacy("0.5"), Privacy("0.5", "1e-6")):
        noise = count_noise(privacy)
        drawn = np.abs(noise.draw_many(20_000, sampler.below_many, sampler.below))
        for error in (0, 2, 6):
            share, expected = float((drawn <= error).mean()), noise.within(error)
            assert abs(share - expected) < 6 * math.sqrt(expected * (1 - expected) / 20_000)


# certificates


def _certificate(epsilon, delta, changes=1, **options):
    privacy = Privacy(epsilon, delta)
    noise = count_noise(privacy, changes=changes, **options)
    return NoiseCertificate("count(x)", "replace", changes, privacy.exact_epsilon, privacy.exact_delta, noise)


@pytest.mark.parametrize("changes", [1, 2])
@pytest.mark.parametrize(("epsilon", "delta"), [*BUDGETS[:5], ("0.5", "0"), ("ln 2", "0")])
def test_both_checkers_accept_every_certificate_and_it_reads_back(epsilon, delta, changes, tmp_path):
    """The library and the independent checker, for one and for two numbers that change."""
    made = _certificate(epsilon, delta, changes)
    made.to_json(tmp_path / "c.json")
    assert NoiseCertificate.from_json(tmp_path / "c.json").id == made.id
    assert tool_accepts(TOOL, tmp_path / "c.json")


def _damages(document):
    """Changes of a certificate, each with a right digest, that no checker may accept."""
    if "weights" in document:
        weights = [int(each) for each in document["weights"]]
        middle = len(weights) // 2
        moved = [*weights]
        moved[middle] += 1 << 40
        moved[middle + 1] -= 1 << 40
        yield {"weights": [str(each) for each in moved]}
        yield {"weights": [str(each) for each in weights[1:]], "first": document["first"] + 1}
        yield {"delta": "1/1000000000"}
        yield {"growth": "1"}
        yield {"first": 0.5}
        yield {"denominator": "12"}
    else:
        yield {"coin": "1/1000"}
        yield {"coin": "1"}
        yield {"delta": "1/10"}
    yield {"epsilon": "1/100"}
    yield {"epsilon": "ln 1"}
    yield {"changes": 3}
    yield {"changes": 0}
    yield {"changes": True}
    yield {"neighbors": "friends"}
    yield {"question": 7}
    yield {"schema": "tinct/noise-certificate@2"}
    yield {"more": 1}


@pytest.mark.parametrize("delta", ["1e-3", "0"])
def test_both_checkers_refuse_the_same_damages(delta, tmp_path):
    """A wrong weight, a smaller ε, a field too many: never accepted by either."""
    _certificate("1", delta).to_json(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    for change in _damages(document):
        (tmp_path / "d.json").write_text(signed({**document, **change}), encoding="utf-8")
        assert not tool_accepts(TOOL, tmp_path / "d.json"), change
        with pytest.raises(FileError):
            NoiseCertificate.from_json(tmp_path / "d.json")
    text = (tmp_path / "c.json").read_text(encoding="utf-8")
    (tmp_path / "d.json").write_text(text.replace("replace", "add-remove"), encoding="utf-8")
    with pytest.raises(FileError):
        NoiseCertificate.from_json(tmp_path / "d.json")
    assert not tool_accepts(TOOL, tmp_path / "d.json")


def test_noise_that_is_not_private_cannot_be_certified():
    """Neither a table for a larger ε nor a coin that falls too fast."""
    one, two = Amount.parse("1", "epsilon"), Amount.parse("2", "epsilon")
    wide = count_noise(Privacy(2, "1e-3"))
    NoiseCertificate("", "replace", 1, two, Fraction(1, 1000), wide)
    with pytest.raises(NotPrivate):
        NoiseCertificate("", "replace", 1, one, Fraction(1, 1000), wide)
    with pytest.raises(NotPrivate):
        NoiseCertificate("", "replace", 2, two, Fraction(1, 1000), wide)
    with pytest.raises(NotPrivate):
        NoiseCertificate("", "replace", 1, one, Fraction(0), GeometricNoise(Fraction(1, 3)))
    NoiseCertificate("", "replace", 1, one, Fraction(0), GeometricNoise(Fraction(2, 5)))
    with pytest.raises(NotPrivate):
        NoiseCertificate("", "replace", 2, one, Fraction(0), GeometricNoise(Fraction(2, 5)))
    with pytest.raises(NotPrivate):  # its R is small enough, and its weights do not keep to it
        NoiseCertificate("", "replace", 1, one, Fraction(1, 8), TableNoise(-1, (1, 6, 1), Fraction(2)))


# the questions


NUMBERS = (
    "count(age >= 65)",
    "margin(support)",
    "margin(vote, yes='Y', no='N')",
    "histogram(x, categories=['a', 'b', 'c'])",
    "histogram(x, categories=['a', 'b', 'c'], rest='c')",
    "top(x, categories=['a', 'b', 'c'], k=2)",
)


@pytest.mark.parametrize("text", NUMBERS)
def test_questions_about_numbers_are_read_back_and_say_what_they_mean(text):
    """One written form for each."""
    question = parse(text)
    assert str(question) == text
    assert parse(str(question)) == question
    assert question.meaning_for("person", "people").endswith((")", "?"))
    assert "people" in question.meaning_for("person", "people")


@pytest.mark.parametrize("text", NUMBERS)
def test_one_person_changes_no_more_numbers_than_the_question_says_each_by_one(text):
    """All pairs of small neighbouring data sets, of any number of people and of a declared one."""
    question = parse(text)
    size = question.counted.size
    kinds = size + 1  # the classes, and no class
    for people in product(range(3), repeat=kinds):
        here = question.numbers(Counts(sum(people), people[:-1], people[-1]), None)
        for kind in range(kinds):
            more = [count + (at == kind) for at, count in enumerate(people)]
            there = question.numbers(Counts(sum(more), tuple(more[:-1]), more[-1]), None)
            moved = [abs(a - b) for a, b in zip(here, there, strict=True)]
            assert max(moved) <= 1
            assert sum(moved) <= question.changes("add-remove")
        if question.word == "margin":
            continue
        for n, giver, taker in product((2, 4), range(kinds), range(kinds)):
            if giver == taker or not people[giver]:
                continue
            other = [count - (at == giver) + (at == taker) for at, count in enumerate(people)]
            one, two = (question.numbers(Counts(sum(each), tuple(each[:-1]), each[-1]), n) for each in (people, other))
            moved = [abs(a - b) for a, b in zip(one, two, strict=True)]
            assert max(moved) <= 1
            assert sum(moved) <= question.changes("replace")


def test_groups_count_as_one_data_set_does():
    """The numbers of many groups are the numbers of each."""
    classes, missing = np.array([[3, 1], [0, 2], [5, 5]]), np.array([1, 0, 4])
    groups = GroupCounts(30, ("a", "b", "c"), classes, missing)
    for text in ("count(x)", "margin(x)", "histogram(x, ['p', 'q'])", "histogram(x, ['p', 'q'], rest='q')"):
        question = parse(text)
        for label, row in zip(groups.labels, question.many_numbers(groups).tolist(), strict=True):
            assert tuple(row) == question.numbers(groups.of(label), None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("top(x, ['a', 'b'], k=0)", "k must be a whole number from 1 to 2"),
        ("top(x, ['a', 'b'], k=3)", "k must be a whole number from 1 to 2"),
        ("top(x, ['a', 'b'], k=1.5)", "k must be a whole number"),
        ("top(x, ['a', 'b'])", "top needs k"),
        ("histogram(x, ['a'])", "between 2 and 1,000"),
        ("histogram(x, ['a', 'a'])", "without repeats"),
        ("histogram(x, ['a', 1])", "not a mixture"),
        (f"histogram(x, [{', '.join(map(str, range(1001)))}])", "between 2 and 1,000"),
        ("count()", "count needs predicate"),
        ("count(age >=)", "expected a number"),
        ("margin(x, yes=1)", "both yes and no"),
        ("sum(x)", "try count"),
    ],
)
def test_bad_questions_about_numbers_are_refused_with_a_reason(text, problem):
    """Before anything else happens."""
    with pytest.raises(ParameterError, match=problem):
        parse(text)


# asking


PEOPLE = pd.DataFrame(
    {
        "id": [f"p{at // 2}" for at in range(2000)],
        "age": [70 if at % 5 < 2 else 30 for at in range(2000)],
        "ward": ["N" if at % 10 < 6 else "S" if at % 10 < 9 else "E" for at in range(2000)],
        "support": ["yes" if at % 3 else "no" for at in range(2000)],
    }
)


def near(found, true, error=60):
    """Whether a number is where noise of so small an ε as the tests use could have left it."""
    return isinstance(found, int) and abs(found - true) <= error


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_answers_are_near_the_truth_for_every_question_and_relation(delta):
    """Counts of rows, of people, of some rows, of groups."""
    budget = {"epsilon": 1, "delta": delta}
    assert near(ask(PEOPLE, "count(age >= 65)", **budget).value, 800)
    assert near(ask(PEOPLE, "count(age >= 65)", **budget, neighbors="replace", people=2000).value, 800)
    assert near(ask(PEOPLE, "count(age >= 65)", **budget, neighbors="replace", people=500).value, 500)
    assert near(ask(PEOPLE, "count(age >= 65)", **budget, where="ward == 'E'").value, 0)
    assert near(ask(PEOPLE, "count(age >= 65)", **budget, unit="id").value, 600)
    assert near(ask(PEOPLE, "margin(support)", **budget).value, 666)
    wards = {"N": 1200, "S": 600, "E": 200}
    shape = "(ward, ['N', 'S', 'E']"
    for relation in ({}, {"neighbors": "replace"}):
        found = ask(PEOPLE, f"histogram{shape})", **budget, **relation).value
        assert list(found) == ["N", "S", "E"]
        assert all(near(found[ward], true) for ward, true in wards.items())
    assert list(ask(PEOPLE, f"top{shape}, k=2)", **budget).value) == ["N", "S"]
    grouped = ask(PEOPLE, "margin(support)", **budget, by="ward", groups=["N", "W"]).value
    assert list(grouped) == ["N", "W"]
    assert near(grouped["W"], 0)
    nested = ask(PEOPLE, f"histogram{shape})", **budget, by="ward", groups=["S"]).value
    assert near(nested["S"]["S"], 600)
    assert near(nested["S"]["N"], 0)


def test_a_count_finds_its_groups_with_the_whole_budget():
    """Large groups always appear, those nobody of whom is counted never do, and no share of ε is taken."""
    found = ask(PEOPLE, "count(age >= 65)", 1, "1e-3", by="ward")
    assert set(found.value) == {"N", "S"}  # in E nobody is so old
    assert near(found.value["N"], 600)
    assert found.plan.mechanism == "selecting"
    assert "ε = 0.5" not in " ".join(found.plan.rules)
    with pytest.raises(ParameterError, match="leave out select"):
        ask(PEOPLE, "count(age >= 65)", 1, "1e-3", by="ward", select="1/3")
    with pytest.raises(ParameterError, match="needs delta above 0"):
        ask(PEOPLE, "count(age >= 65)", 1, by="ward")
    split = ask(PEOPLE, "histogram(ward, ['N', 'S'])", 1, "1e-3", by="ward")
    assert "ε = 0.5" in " ".join(split.plan.rules)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"question": "margin(support)", "neighbors": "replace"}, "margin needs neighbors='add-remove'"),
        ({"question": "count(age > 3)", "lean": 0.7}, "lean is for yes/no questions"),
        ({"question": "count(age > 3)", "epsilon": 0}, "epsilon must be above 0"),
        ({"question": "count(age > 3)", "epsilon": "1e-7", "delta": "1e-9"}, "epsilon must be larger"),
        ({"question": "count(age > 3)", "epsilon": math.nan}, "epsilon"),
        ({"question": "count(income > 3)"}, "no column"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_before_a_charge(options, problem, tmp_path):
    """With a reason, and nothing spent."""
    replaced = options.get("neighbors") == "replace"
    protects = Protection(neighbors="replace", people=2000) if replaced else None
    book = Ledger(tmp_path / "b.db", epsilon=10, delta="1e-3", protects=protects)
    with pytest.raises(ParameterError, match=problem):
        ask(PEOPLE, **{"epsilon": 1, **options}, ledger=book)
    assert book.history() == []


def test_a_recorded_number_is_returned_again_and_never_drawn_again(tmp_path):
    """One charge, one answer, and the same plan; a histogram costs ε once."""
    book = Ledger(tmp_path / "b.db", epsilon=3)
    for question in ("count(age >= 65)", "histogram(ward, ['N', 'S', 'E'])"):
        first = ask(PEOPLE, question, "0.5", ledger=book, request=question[:5])
        again = ask(PEOPLE, question, "0.5", ledger=book, request=question[:5])
        assert again.value == first.value
        assert (again.repeated, first.repeated) == (True, False)
        assert again.interval(0.9) == first.interval(0.9)
    assert book.spent().epsilon == 1


@pytest.mark.parametrize("question", ["count(age >= 65)", "top(ward, ['N', 'a long name', 'E'], k=2)"])
def test_the_room_of_an_answer_is_public_and_holds_every_answer(question, tmp_path):
    """What a ledger reserves depends on the question alone."""
    book = Ledger(tmp_path / "b.db", epsilon=300)
    sizes = set()
    for rows in (0, 5, 2000):
        ask(PEOPLE.head(rows), question, 1, ledger=book)
        sizes.add(book.history()[-1].room)
    assert len(sizes) == 1
    longest = number_design(parse(question), Privacy(1), "add-remove", None).outputs[0]
    assert sizes == {len(json.dumps(longest, separators=(",", ":"), ensure_ascii=False).encode())}
    assert len(str(-LARGEST)) == 21


def test_noise_beyond_every_count_is_cut_after_it_was_added():
    """With a tiny ε a number may be huge; it still has its room, and adding comes first."""
    design = number_design(parse("count(x)"), Privacy("1e-30"), "add-remove", None)
    found = {design.draw(Counts(10, (4, 6))) for _ in range(5)}
    assert found <= {-LARGEST, LARGEST}
    groups = GroupCounts(10, ("a",), np.array([[4, 6]]), np.array([0]))
    assert abs(design.draw_groups(groups)[0]) == LARGEST


# how far off


def test_the_width_of_a_level_is_the_least_with_that_probability():
    """For both kinds of noise, and levels from near 0 to near 1."""
    for privacy in (Privacy("0.3"), Privacy("0.3", "1e-4")):
        noise = count_noise(privacy)
        for level in ("0.01", "0.5", "0.95", "0.999"):
            error = width(noise, level)
            assert noise.within(error) >= Fraction(level)
            assert error == 0 or noise.within(error - 1) < Fraction(level)
        for bad in (0, 1, -1, 2, math.nan):
            with pytest.raises(ParameterError):
                width(noise, bad)


def test_an_interval_covers_the_truth_as_often_as_it_says():
    """All noise of a table, exactly, for numbers near 0 as well."""
    privacy = Privacy("0.7", "1e-3")
    noise = count_noise(privacy)
    plan = asking.plan(PEOPLE, "count(age >= 65)", epsilon="0.7", delta="1e-3")
    for true in (0, 3, 800):
        covered = Fraction(0)
        for at, units in enumerate(noise.weights):
            answer = asking.Answer(true + noise.first + at, plan)
            low, high = answer.interval("0.9")
            covered += Fraction(units, noise.total) * (low <= true <= high)
        assert covered >= Fraction(9, 10)


@pytest.mark.parametrize("delta", ["1e-3", "0"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.83, 1.0])
def test_bounds_for_the_population_cover_the_sample_and_the_noise(share, delta):
    """Σ over every sample and every noise: the share is inside with at least the level."""
    people, noise = 30, count_noise(Privacy("0.8", delta))
    reach = min(noise.reach, 40)
    bounds = ShareBounds(noise, people, 0.05)
    inside = {}
    for answer in range(-reach, people + reach + 1):
        low, high = bounds.around(answer)
        inside[answer] = low <= share <= high
    covered = 0.0
    for yes in range(people + 1):
        chance = math.comb(people, yes) * share**yes * (1 - share) ** (people - yes)
        for z in range(-reach, reach + 1):
            covered += chance * (noise.at_least(z) - noise.at_least(z + 1)) * inside[yes + z]
    assert covered >= 0.9 - 1e-9
    assert covered < 0.999 or share in (0.0, 0.02, 1.0)


def test_a_test_of_the_population_has_the_published_power():
    """For n = 30, ε = 0.5, level 0.05, p₀ = 0.5 the p-value of a released count rejects nearly as often as the best."""
    noise, people = count_noise(Privacy("0.5")), 30
    bounds = ShareBounds(noise, people, 0.05)
    reject = {y: bounds.at_least(y, 0.5) <= 0.05 for y in range(-60, 100)}
    power = sum(
        math.comb(people, yes) * 0.7**yes * 0.3 ** (people - yes) * (noise.at_least(z) - noise.at_least(z + 1))
        * reject.get(yes + z, z > 0)
        for yes in range(people + 1) for z in range(-60, 61)
    )  # fmt: skip
    assert 0.35 < power <= 0.4628  # the most powerful test, which meets its level exactly: 0.4627


def test_of_top_all_numbers_hold_together():
    """Those shown were chosen for being large, so their widths are for all categories at once."""
    shape = "(ward, ['N', 'S', 'E', 'W', 'M']"
    one = asking.plan(PEOPLE, f"histogram{shape})", epsilon=1).accuracy
    every = asking.plan(PEOPLE, f"top{shape}, k=1)", epsilon=1).accuracy
    assert every.widths[0.95] == one.widths[0.99]
    assert "every number shown" in every.in_words()
    answer = ask(PEOPLE, f"top{shape}, k=1)", epsilon=1)
    low, high = answer.interval()["N"]
    assert high - low == 2 * every.widths[0.95]


def test_an_accuracy_that_is_wanted_finds_the_least_epsilon():
    """Within 7 with 95 %, for one number, for two that change, for groups that are found."""
    for question, options in (
        ("count(age >= 65)", {}),
        ("histogram(ward, ['N', 'S'])", {"neighbors": "replace", "people": 2000, "delta": "1e-6"}),
        ("top(ward, ['N', 'S', 'E'], k=1)", {}),
        ("count(age >= 65)", {"by": "ward", "delta": "1e-6"}),
    ):
        plan = asking.plan(PEOPLE, question, right="0.95", margin=7, **options)
        assert plan.accuracy.widths[0.95] == 7
        less = asking.plan(PEOPLE, question, epsilon=repr(float(plan.epsilon) * 0.97), **options)
        assert less.accuracy.widths[0.95] > 7 or less.accuracy.right["tinct"] < plan.accuracy.right["tinct"]


def test_only_numbers_have_an_interval():
    """And only a public number of people gives bounds for a population."""
    with pytest.raises(ParameterError, match="only numbers have an interval"):
        ask(PEOPLE, "majority(support)", 1).interval()
    with pytest.raises(ParameterError, match="need the public number of people"):
        ask(PEOPLE, "count(age >= 65)", 1).population_share()
    low, high = ask(PEOPLE, "count(age >= 65)", 1, neighbors="replace").population_share(0.9)
    assert 0.3 < low < 0.4 < high < 0.5
