"""Several questions at once: one draw answers all of them, privately, exactly, and far better than one by one."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pandas as pd
import pytest
from scipy.optimize import linprog

import naive
from tinct import Privacy, ask, majority, median, mode, share, threshold, together
from tinct.asking import needed_epsilon, plan
from tinct.asking.joint_design import joint_design
from tinct.errors import FileError, ParameterError
from tinct.ledger import Ledger, Protection
from tinct.numbers.amounts import Amount
from tinct.questions import Counts, parse
from tinct.questions._together import distances, read_questions
from tinct.questions.joint_rule import JointRule
from tinct.questions.modes.coins import retention

HALF = Fraction(1, 2)


def yes_no(positions):
    """The distances of "no" and "yes" at these signed positions."""
    return [[at + 1, 0] if at >= 0 else [0, -at] for at in positions]


def by_answer(rule, far):
    """The exact probability of every joint answer, from the classes of the rule."""
    *classes, truth = rule.probabilities(far)
    true = tuple(each.index(0) for each in far)
    found = {true: truth}
    ranked = rule.ranked(far)
    place = {(wrong.question, wrong.answer): rank for rank, wrong in enumerate(ranked)}
    for answer in itertools.product(*map(range, rule.sizes)):
        parts = [place[at, each] for at, each in enumerate(answer) if each != true[at]]
        if parts:
            found[answer] = classes[max(parts)] / ranked[max(parts)].many
    return found


@pytest.mark.parametrize("s", [HALF, Fraction(9, 10), Fraction(99, 100), Fraction(1, 20), Fraction(1)])
def test_the_classes_are_those_of_a_twin_that_lists_all_joint_answers(s):
    draw = random.Random(str(s))
    for sizes in [(2,), (2, 2), (2, 2, 2), (3, 2), (4, 3), (2, 3, 2)]:
        for _ in range(8):
            far = [[0, *(draw.randint(1, 9) for _ in range(size - 1))] for size in sizes]
            for each in far:
                draw.shuffle(each)
            assert by_answer(JointRule(sizes, s), far) == naive.joint_answers(far, s)


@pytest.mark.parametrize(("k", "reach"), [(1, 12), (2, 6), (3, 3)])
@pytest.mark.parametrize("s", [HALF, Fraction(4, 5), Fraction(24, 25), Fraction(1, 10)])
def test_every_king_move_keeps_every_answer_within_e_to_the_epsilon(k, reach, s):
    rule = JointRule((2,) * k, s)
    rows = {at: by_answer(rule, yes_no(at)) for at in itertools.product(range(-reach, reach), repeat=k)}
    used = 1
    for at, row in rows.items():
        assert sum(row.values()) == 1
        for step in itertools.product((-1, 0, 1), repeat=k):
            other = rows.get(tuple(map(sum, zip(at, step, strict=True))))
            if other is not None:
                assert all(s * s * row[each] <= other[each] for each in row)
                used = max(used, *(row[each] / other[each] for each in row))
    assert used >= 1 / s  # and at least half of ε is made use of


def test_random_edges_between_distances_of_any_kind_are_private():
    """Distances of mode and yes/no questions mixed, the truth changing on some edges."""
    draw = random.Random(16)
    moved = 0
    for _ in range(300):
        sizes = tuple(draw.choice([2, 2, 3, 4]) for _ in range(draw.randint(1, 4)))
        s = Fraction(draw.randint(5, 99), 100)
        one, other = [], []
        for size in sizes:
            here = [0, *(draw.randint(1, 6) for _ in range(size - 1))]
            draw.shuffle(here)
            there = [max(1, each + draw.choice([-1, 0, 1])) for each in here]
            near = [at for at, each in enumerate(here) if each <= 1]
            there[draw.choice(near)] = 0
            if here.index(0) != there.index(0):
                there[here.index(0)] = 1
            moved += here.index(0) != there.index(0)
            one.append(here)
            other.append(there)
        rule = JointRule(sizes, s)
        rows = by_answer(rule, one), by_answer(rule, other)
        for first, second in (rows, rows[::-1]):
            assert all(s * s * first[each] <= second[each] for each in first)
    assert moved > 100


def test_a_draw_is_exact_whatever_the_number_of_bits():
    """Each real number in [0, 1) belongs to one class; with few bits it cannot always be told, and never wrongly."""
    rule = JointRule((2, 3), Fraction(7, 10))
    far = [[0, 3], [2, 0, 1]]
    ends = list(itertools.accumulate(rule.probabilities(far)))
    unclear = {}
    for bits in (4, 8, 12):
        unclear[bits] = 0
        for drawn in range(1 << bits):
            found = rule._class_at(rule.ranked(far), drawn, bits)
            low, high = Fraction(drawn, 1 << bits), Fraction(drawn + 1, 1 << bits)
            wanted = {sum(end <= each for end in ends) for each in (low, high - Fraction(1, 1 << 99))}
            assert found in (wanted if len(wanted) == 1 else {None})
            unclear[bits] += found is None
    assert all(1 <= many <= 2 * len(ends) for many in unclear.values())


def test_draws_follow_the_probabilities():
    rule, far = JointRule((2, 2, 3), Fraction(4, 5)), [[0, 2], [1, 0], [0, 4, 2]]
    source = random.Random(3)
    many, met = 1500, {}
    for _ in range(many):
        drawn = rule.draw(far, source.randrange)
        met[drawn] = met.get(drawn, 0) + 1
    for answer, probability in by_answer(rule, far).items():
        expected = many * float(probability)
        assert abs(met.get(answer, 0) - expected) < 5 * math.sqrt(expected) + 1


@pytest.mark.parametrize("s", [HALF, Fraction(9, 10)])
def test_all_right_grows_with_every_distance(s):
    rule = JointRule((2, 2, 2), s)
    truth = {
        far: rule.probabilities([[0, each] for each in far])[-1] for far in itertools.product(range(1, 6), repeat=3)
    }
    for far, value in truth.items():
        assert value == pytest.approx(rule.truth([[0, each] for each in far]), rel=1e-12)
        for at in range(3):
            more = (*far[:at], far[at] + 1, *far[at + 1 :])
            assert truth.get(more, 1) >= value


def least_margin(column, k):
    """The least margin with which all of k answers are right with 99 %, with ε = 0.1."""
    questions = together([threshold(f"x{at} > 0", at_least=5) for at in range(k)])
    made = joint_design(questions, Privacy("0.1"), "add-remove", None, partial=False)
    low, high = 1, 4096
    while low < high:
        middle = (low + high) // 2
        enough = made.accuracy([middle]).right[column][0] >= 0.99
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


@pytest.mark.parametrize(
    ("k", "margins"), [(5, (75, 277, 161, 147, 67)), (10, (110, 622, 231, 217, 102)), (20, (179, 1382, 370, 356, 171))]
)
def test_margins_for_99_percent(k, margins):
    """Composition, the exponential mechanism, permute-and-flip and the limit beside ours."""
    columns = ("tinct", "one by one", "exponential", "permute-and-flip", "limit")
    assert tuple(least_margin(each, k) for each in columns) == margins


def test_questions_far_from_their_boundary_cost_almost_nothing():
    rule = JointRule((2,) * 10, retention(Amount.parse("1", "epsilon"), halved=True))
    assert rule.truth([[0, 5], *[[0, 50]] * 9]) >= 0.99 > rule.truth([[0, 4], *[[0, 50]] * 9])


def test_no_program_beats_the_limit_and_ours_is_within_it():
    """Two questions on a lattice with all king moves: the largest mean at equal margins, by linear programming."""
    q, reach = 0.5, 4
    points = list(itertools.product(range(-reach, reach), repeat=2))
    answers = list(itertools.product((0, 1), repeat=2))
    column = {(at, each): place for place, (at, each) in enumerate(itertools.product(points, answers))}
    rows, right = [], []
    for at in points:
        for step in itertools.product((-1, 0, 1), repeat=2):
            other = (at[0] + step[0], at[1] + step[1])
            if other != at and other in set(points):
                for each in answers:
                    row = [0.0] * len(column)
                    row[column[at, each]], row[column[other, each]] = q, -1.0
                    rows.append(row)
                    right.append(0.0)
    sums = [[1.0 if at == point else 0.0 for (at, _) in column] for point in points]
    rule = JointRule((2, 2), retention(Amount.parse("ln 2", "epsilon"), halved=True))
    for margin in (1, 2, 3):
        cost = [0.0] * len(column)
        for signs in answers:
            at = tuple(margin - 1 if sign else -margin for sign in signs)
            cost[column[at, signs]] = -0.25
        best = -linprog(cost, A_ub=rows, b_ub=right, A_eq=sums, b_eq=[1.0] * len(points)).fun
        limit = Privacy("ln 2").reach(margin - 1, 1 / (1 + 3 * q))
        assert rule.truth([[0, margin]] * 2) <= best + 1e-9
        assert best <= limit + 1e-9
        if margin == 1:
            assert best == pytest.approx(limit)


def joint_rows(question, epsilon, counts):
    """The exact probabilities of the joint answers for given counts."""
    families = [each.family("add-remove") for each in question.questions]
    far = [distances(family, each) for family, each in zip(families, counts, strict=True)]
    rule = JointRule(tuple(map(len, far)), retention(Amount.parse(epsilon, "epsilon"), halved=True))
    return by_answer(rule, far)


def joint_counts(people, categories):
    """The counts of two yes/no cells and one category of each person."""
    found = []
    for at in (0, 1):
        classes = tuple(sum(each[at] is value for each in people) for value in (True, False))
        found.append(Counts(len(people), classes, len(people) - sum(classes)))
    held = tuple(sum(each[2] == name for each in people) for name in categories)
    return (*found, Counts(len(people), held, len(people) - sum(held)))


def test_datasets_that_differ_in_one_person_have_close_answers():
    """All datasets of up to four people with two columns, and everyone who could join: exact, from the counts on."""
    question = together([majority("a"), threshold("b == yes", at_least=2), mode("c", ["x", "y", "z"])])
    people = list(itertools.product((True, False, None), (True, False), ("x", "y", "z", None)))
    kept = retention(Amount.parse("ln 3", "epsilon"), halved=True) ** 2
    assert 1 / kept <= 3
    draw, rows = random.Random(5), {}

    def row(data):
        key = tuple(sorted(map(repr, data)))
        if key not in rows:
            rows[key] = joint_rows(question, "ln 3", joint_counts(data, ("x", "y", "z")))
        return rows[key]

    for size in range(5):
        for _ in range(20 if size else 1):
            data = [draw.choice(people) for _ in range(size)]
            for more in people:
                one, other = row(data), row([*data, more])
                assert all(kept * one[each] <= other[each] and kept * other[each] <= one[each] for each in one)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_distances_of_categories_are_zero_once_and_move_by_one(neighbors):
    """Against all histograms of up to five people; of categories that share the lead the first listed is right."""
    for n in range(6):
        family = mode("c", ["x", "y", "z"]).family(neighbors, n if neighbors == "replace" else None)
        for held in itertools.product(range(n + 1), repeat=3):
            if sum(held) > n:
                continue
            far = distances(family, Counts(n, held, n - sum(held)))
            assert far.count(0) == 1
            assert far.index(0) == held.index(max(held))
            for at, to in itertools.product((None, 0, 1, 2), repeat=2):
                moved = [each - (place == at) + (place == to) for place, each in enumerate(held)]
                if min(moved) < 0 or at == to or (neighbors == "add-remove" and None not in (at, to)):
                    continue
                total = n if neighbors == "replace" else n + 1
                if sum(moved) <= total:
                    beside = distances(family, Counts(total, tuple(moved), total - sum(moved)))
                    assert all(abs(a - b) <= 1 for a, b in zip(far, beside, strict=True))


TABLE = pd.DataFrame(
    {
        "person": [f"p{at // 2}" for at in range(400)],
        "tram": ["yes"] * 300 + ["no"] * 100,
        "bus": ["no"] * 350 + ["yes"] * 50,
        "age": [*range(20, 70)] * 8,
        "why": ["cost"] * 250 + ["time"] * 100 + [""] * 50,
    }
)
ALL = [majority("tram"), majority("bus"), share("age >= 30", at_least=0.5), median("age", above=60),
       mode("why", ["time", "cost"])]  # fmt: skip


def test_each_question_is_answered_in_order_and_by_name():
    found = ask(TABLE, ALL, epsilon=4, unit="person")
    assert [each.value for each in found] == ["yes", "no", "yes", "no", "cost"]
    assert len(found) == 5
    assert found[0].value == found["majority(tram)"].value == "yes"
    assert list(found.value) == [str(each) for each in ALL]
    named = ask(TABLE, {"by tram": "majority(tram)", "old": median("age", above=60)}, epsilon=4)
    assert named.value == {"by tram": "yes", "old": "no"}
    written = 'together("by tram"=majority(tram), old=median(age, above=60))'
    assert str(parse(named.plan.question)) == named.plan.question == written


def test_counts_of_several_questions_are_those_of_each_alone(tmp_path):
    from tinct import sources

    TABLE.to_csv(tmp_path / "t.csv", index=False)
    for data in (TABLE, tmp_path / "t.csv"):
        with sources.open(data) as rows:
            for unit, where in itertools.product((None, "person"), (None, "age > 25 and tram == yes")):
                found = rows.count_each(together(ALL).counted, where=where, unit=unit)
                assert found == tuple(rows.count(each, where=where, unit=unit) for each in ALL)


def test_the_budget_is_charged_once_and_the_request_can_be_repeated(tmp_path):
    book = Ledger(tmp_path / "b.db", epsilon=1, protects=Protection(unit="person"))
    first = ask(TABLE, ALL, epsilon="0.5", ledger=book, request="five")
    again = ask(TABLE, ALL, epsilon="0.5", ledger=book, request="five")
    assert first.value == again.value
    assert again.repeated
    assert str(book.remaining()) == "ε = 0.5"
    with pytest.raises(ParameterError, match="already used for a different request"):
        ask(TABLE, ALL[:4], epsilon="0.5", ledger=book, request="five")


def test_a_certain_answer_costs_nothing_and_one_that_is_left_gets_its_own_optimum():
    sure = "threshold(tram == yes, at_least=0)"
    alone = plan(TABLE, ["majority(bus)", sure], epsilon="0.5")
    assert alone.accuracy == plan(TABLE, "majority(bus)", epsilon="0.5").accuracy
    assert alone.certificate == plan(TABLE, "majority(bus)", epsilon="0.5").certificate
    nothing = plan(TABLE, [sure, "threshold(bus == yes, at_least=0)"], epsilon="0.5")
    assert nothing.epsilon == "0"
    assert ask(TABLE, [sure], epsilon=1).value == {sure: "yes"}


def test_the_needed_epsilon_is_right_for_all_answers():
    asked = together([f"threshold(age > {at}, at_least=20)" for at in range(10)])
    found = needed_epsilon(asked, 0.99, 110)
    assert found <= 0.1
    made = joint_design(asked, Privacy(repr(found)), "add-remove", None, partial=False)
    assert made.accuracy([110]).right["tinct"][0] >= 0.99


def test_a_hundred_questions_are_one_draw():
    found = ask(TABLE, [f"threshold(age > {at}, at_least=200)" for at in range(100)], epsilon=50)
    assert list(found.value.values()) == ["yes" if sum(TABLE.age > at) >= 200 else "no" for at in range(100)]


@pytest.mark.parametrize(
    ("question", "options", "problem"),
    [
        ([], {}, "1 to 100 questions"),
        (["majority(tram)"] * 2, {}, "the name majority(tram) stands there twice"),
        ({"a": "majority(tram)", "b": "majority(tram)"}, {}, "the question majority(tram) stands there twice"),
        ([f"threshold(age > {at}, at_least=3)" for at in range(101)], {}, "1 to 100 questions, got 101"),
        (["majority(tram)", "exists(age > 3)"], {}, "threshold(…, at_least=1)"),
        (["majority(tram)", "majority(bus)"], {"delta": "1e-6"}, "make no use of"),
        (["majority(tram)", "majority(bus)"], {"by": "why"}, "goes with one question"),
        (["majority(tram)", "majority(bus)"], {"lean": 0.7}, "goes with one question"),
        ("together(majority(tram), together(majority(bus)))", {}, "is asked alone"),
        ("together(majority(tram) majority(bus))", {}, "expected )"),
        (["majority(tram)", "majority(none)"], {}, "there is no column none"),
        (5, {}, "must be a question"),
    ],
)
def test_what_cannot_be_asked_together_is_refused(question, options, problem):
    with pytest.raises(ParameterError) as refused:
        ask(TABLE, question, epsilon=1, **options)
    assert problem in str(refused.value)


def test_questions_come_from_a_file(tmp_path):
    lines, named = tmp_path / "q.txt", tmp_path / "q.toml"
    lines.write_text("# about the tram\nmajority(tram)\n\nmedian(age, above=60)\n")
    named.write_text('tram = "majority(tram)"\n"the old" = "median(age, above=60)"\n')
    assert read_questions(lines).questions == read_questions(named).questions
    assert read_questions(named).names == ("tram", "the old")
    for text, problem in (
        ("tram = 5", "tram must be a question in quotes"),
        ("tram = ", "this is not TOML"),
        ('tram = "majorty(tram)"', "did you mean majority"),
    ):
        named.write_text(text)
        with pytest.raises(FileError, match=problem):
            read_questions(named)
