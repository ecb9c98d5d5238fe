"""Questions: the distance formulas against brute force, the meaning of each word, and the parser."""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct import ParameterError, Privacy, balanced, graphs
from tinct.questions import (
    Counts,
    exists,
    majority,
    median,
    mode,
    parse,
    parse_predicate,
    quantile,
    share,
    threshold,
)
from tinct.questions.predicates import And, Comparison, Membership, Not, Or, literal_text, name_text, uses

LARGEST = 12  # rows; every dataset up to here is compared with brute force
ROOM = 40  # rows of the explicit add-remove graph: a shortest path from 12 rows never needs more than 12 + 13
SHARES = sorted({Fraction(a, b) for b in range(1, 8) for a in range(1, b + 1)} | {Fraction("0.3"), Fraction("0.99")})

BAD_SIZES = [None, -1, 2.0, True, math.nan, math.inf, 10**18 + 1, "5"]


def _lower_quantile(values, q):
    """The least value that at least a share q of the values does not exceed."""
    return next(value for value in sorted(values) if Fraction(sum(v <= value for v in values), len(values)) >= q)


def _values(true, false):
    """Values of which ``true`` lie above 10 and ``false`` do not, ties with 10 included."""
    return [11] * true + [10] * false


def _cases():
    """Each question with its answer as a function of the numbers of true and false rows, from the definition."""
    yield majority("c"), lambda t, f: t > f
    yield median("c", above=10), lambda t, f: t + f > 0 and sorted(_values(t, f))[(t + f - 1) // 2] > 10
    yield exists("c > 1"), lambda t, _: t >= 1
    for bar in range(LARGEST + 3):
        yield threshold("c > 1", at_least=bar), lambda t, _, bar=bar: t >= bar
    for part in SHARES:
        yield share("c > 1", at_least=part), lambda t, f, a=part: t + f > 0 and Fraction(t, t + f) >= a
        yield quantile("c", part, above=10), lambda t, f, q=part: t + f > 0 and _lower_quantile(_values(t, f), q) > 10
    # what bounds from above is not what bounds from below; for nobody at all it holds
    yield median("c", at_most=10), lambda t, f: t + f == 0 or sorted(_values(t, f))[(t + f - 1) // 2] <= 10
    for bar in (0, 1, 5, LARGEST + 1):
        yield threshold("c > 1", above=bar), lambda t, _, bar=bar: t > bar
        yield threshold("c > 1", at_most=bar), lambda t, _, bar=bar: t <= bar
        yield threshold("c > 1", below=bar), lambda t, _, bar=bar: t < bar
    for part in (Fraction(1, 3), Fraction(1, 2), Fraction(6, 7)):
        yield share("c > 1", above=part), lambda t, f, a=part: t + f > 0 and Fraction(t, t + f) > a
        yield share("c > 1", at_most=part), lambda t, f, a=part: t + f == 0 or Fraction(t, t + f) <= a
        yield share("c > 1", below=part), lambda t, f, a=part: t + f == 0 or Fraction(t, t + f) < a
        yield (
            quantile("c", part, at_most=10),
            lambda t, f, q=part: t + f == 0 or _lower_quantile(_values(t, f), q) <= 10,
        )


CASES = list(_cases())
NAMES = [str(question) for question, _ in CASES]


def _neighbors_replace(state):
    for giver in range(3):
        for taker in range(3):
            if giver != taker and state[giver]:
                moved = list(state)
                moved[giver] -= 1
                moved[taker] += 1
                yield tuple(moved)


def _neighbors_add_remove(state):
    true, false = state
    for other in ((true + 1, false), (true - 1, false), (true, false + 1), (true, false - 1)):
        if min(other) >= 0 and sum(other) <= ROOM:
            yield other


def _brute_force(states, neighbors, answer):
    """Signed distances by breadth-first search from each boundary; None where a colour has no boundary."""
    colors = {state: answer(*state[:2]) for state in states}
    position = {}
    for color in (True, False):
        edge = [s for s in states if colors[s] is color and any(colors[o] is not color for o in neighbors(s))]
        distance = dict.fromkeys(edge, 0)
        queue = deque(edge)
        while queue:
            state = queue.popleft()
            for other in neighbors(state):
                if colors[other] is color and other not in distance:
                    distance[other] = distance[state] + 1
                    queue.append(other)
        position |= {s: d if color else -1 - d for s, d in distance.items()}
    return colors, {state: position.get(state) for state in states}


def _counts(state, rows=None):
    true, false, *rest = state
    return Counts(sum(state) if rows is None else rows, (true, false), rest[0] if rest else 0)


# distances


@pytest.mark.parametrize(("question", "answer"), CASES, ids=NAMES)
def test_replace_positions_are_the_distances_on_the_explicit_graph(question, answer):
    """For every dataset of n ≤ 12 rows, rows in no class included: position, truth, range and certainty are exact."""
    for n in range(LARGEST + 1):
        states = [(t, f, n - t - f) for t in range(n + 1) for f in range(n + 1 - t)]
        colors, positions = _brute_force(states, _neighbors_replace, answer)
        family = question.family("replace", n)
        if len(set(colors.values())) == 1:
            assert family.certain is colors[states[0]]
            assert family.lowest is None
            assert family.highest is None
            with pytest.raises(ParameterError, match="always"):
                family.position(_counts(states[0]))
        else:
            assert family.certain is None
            assert {s: family.position(_counts(s)) for s in states} == positions
            assert (family.lowest, family.highest) == (min(positions.values()), max(positions.values()))
        assert {s: family.truth(_counts(s)) for s in states} == colors


@pytest.mark.parametrize(("question", "answer"), CASES, ids=NAMES)
def test_add_remove_positions_are_the_distances_on_the_explicit_graph(question, answer):
    """For every dataset of at most 12 rows inside the graph of all datasets of at most 40."""
    states = [(t, f) for t in range(ROOM + 1) for f in range(ROOM + 1 - t)]
    colors, positions = _brute_force(states, _neighbors_add_remove, answer)
    family = question.family("add-remove")
    small = [state for state in states if sum(state) <= LARGEST]
    assert {s: family.truth(_counts(s)) for s in small} == {s: colors[s] for s in small}
    if len(set(colors.values())) == 1:
        assert family.certain is colors[0, 0]
        return
    assert family.certain is None
    assert {s: family.position(_counts(s)) for s in small} == {s: positions[s] for s in small}
    many, few = ((10**9, 0), (0, 10**9)) if not family.flipped else ((0, 10**9), (10**9, 0))
    for bound, extreme in ((family.lowest, few), (family.highest, many)):
        reached = family.position(_counts(extreme))
        assert reached == bound if bound is not None else abs(reached) >= 10**6


@pytest.mark.parametrize("privacy", [Privacy("ln 2"), Privacy(0.3, 0.01)], ids=str)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize(
    ("question", "answer"), CASES[:1] + CASES[5:9] + CASES[20:60:7], ids=NAMES[:1] + NAMES[5:9] + NAMES[20:60:7]
)
def test_the_mechanism_by_position_is_the_optimum_on_the_explicit_graph(question, answer, neighbors, privacy):
    """U applied position times is the balanced optimum of the whole graph, to 1e-12 (rounding of the closed form)."""
    size, classes = (LARGEST, 3) if neighbors == "replace" else (ROOM, 2)
    graph = graphs.histograms(size, classes, lambda h: bool(answer(h[0], h[1])), neighbors)
    family = question.family(neighbors, size if neighbors == "replace" else None)
    alpha = privacy.balance[0]
    truths = dict(zip(graph.vertices, balanced(graph, privacy).truth(), strict=True))
    for state, truth in truths.items():
        if neighbors == "replace" or sum(state) <= LARGEST:
            position = family.position(_counts(state))
            assert truth == pytest.approx(float(privacy.reach(max(position, -1 - position), alpha)), rel=1e-12)


def _families():
    large = st.integers(0, 10**18)
    part = st.builds(lambda b, a: Fraction(a % b + 1, b), st.integers(1, 10**6), st.integers(0, 10**6))
    questions = st.one_of(
        st.just(majority("c")),
        st.builds(lambda k: threshold("c", at_least=k), st.integers(1, 10**18)),
        st.builds(lambda q: share("c", at_least=q), part),
        st.builds(lambda q: quantile("c", q, above=0), part),
    )
    return questions, large


@given(_families()[0], st.tuples(*[_families()[1]] * 3), st.sampled_from(["replace", "add-remove"]))
def test_neighbors_have_neighboring_positions_at_any_size(question, state, neighbors):
    """One row more, less or otherwise moves the position by at most 1, for counts up to 10^18."""
    state = tuple(count // 3 for count in state)
    family = question.family(neighbors, sum(state) if neighbors == "replace" else None)
    if family.certain is not None:
        return
    here = family.position(_counts(state))
    assert (here >= 0) == family.truth(_counts(state))
    for other in _neighbors_replace(state) if neighbors == "replace" else _all_one_row_changes(state):
        assert abs(family.position(_counts(other)) - here) <= 1


def _all_one_row_changes(state):
    for at in range(3):
        for step in (-1, 1):
            other = tuple(count + step * (at == place) for place, count in enumerate(state))
            if min(other) >= 0:
                yield other


@given(_families()[0], st.lists(st.tuples(_families()[1], _families()[1]), max_size=6), st.booleans())
def test_positions_of_many_groups_are_the_positions_of_each(question, pairs, small):
    """In 64-bit integers where they suffice, in Python's own where they do not."""
    family = question.family("add-remove")
    pairs = [(t // 2 % 50, f // 2 % 50) if small else (t // 2, f // 2) for t, f in pairs]
    classes = np.array(pairs, np.int64).reshape(-1, 2)
    assert family.positions(classes).tolist() == [family.position(_counts(pair)) for pair in pairs]


def test_positions_worked_out_by_hand():
    """A few positions with their reasons."""
    by_hand = [
        (threshold("c", at_least=100), "add-remove", (130, 9), 30),  # thirty may leave and it is still a yes
        (threshold("c", at_least=100), "replace", (99, 50), -1),  # one more and it is a yes
        (majority("c"), "add-remove", (7, 3), 3),  # three yes may leave: 4 against 3
        (majority("c"), "replace", (7, 3), 1),  # one change: 6 against 4, the next 5 against 5
        (majority("c"), "add-remove", (5, 5), -1),
        (share("c", at_least=0.3), "add-remove", (3, 7), 0),  # 3 of 10; one more no and it is below
        (share("c", at_least=0.3), "add-remove", (6, 4), 4),  # score 7·6 − 3·4 = 30; a yes that leaves takes 7
        (share("c", at_least=0.9), "add-remove", (0, 4), -5),  # all four leave and a yes comes
        (quantile("c", 0.9, above=0), "replace", (1, 8), 0),  # 8 of 9 are below 0.9
        (exists("c"), "add-remove", (0, 5), -1),
        (exists("c"), "replace", (3, 0), 2),
    ]
    for question, neighbors, state, position in by_hand:
        family = question.family(neighbors, sum(state) if neighbors == "replace" else None)
        assert family.position(_counts(state)) == position, str(question)


@given(st.lists(st.integers(-3, 3), max_size=12), st.integers(-4, 4), st.sampled_from(SHARES))
def test_quantiles_mean_what_numpy_calls_the_inverted_distribution_function(values, above, q):
    """Ties and even numbers included; of no values the answer is no."""
    true = sum(value > above for value in values)
    counts = _counts((true, len(values) - true))
    truth = quantile("c", q, above=above).family("add-remove").truth(counts)
    assert truth == (bool(values) and _lower_quantile(values, q) > above)
    if values and q.denominator in (1, 2, 4):  # shares that are floats: NumPy cannot be told others exactly
        assert truth == bool(np.quantile(values, float(q), method="inverted_cdf") > above)


def test_exists_is_partition_selection():
    """Its line begins at "nobody", where yes is never answered; no other question asks for that."""
    assert exists("c").family("add-remove").selection
    assert exists("c").family("add-remove").lowest == -1
    assert not any(
        question.family("add-remove").selection for question, _ in CASES if not str(question).startswith("ex")
    )


def test_mode_counts_the_rest_where_it_is_told_to():
    """Missing and unlisted values go to nobody, or to the category named by rest."""
    counts = Counts(12, (4, 3, 2), missing=3)
    assert mode("c", ["a", "b", "x"]).family("add-remove").histogram(counts) == (4, 3, 2)
    family = mode("c", ["a", "b", "x"], rest="x").family("replace", 12)
    assert family.histogram(counts) == (4, 3, 5)
    assert family.truth(counts) == ("x",)
    assert mode("c", [1, 2, 3]).family("add-remove").truth(Counts(9, (4, 4, 1))) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("neighbors", "n"),
    [("swap", None), (None, None), ("add-remove", 5), *[("replace", n) for n in BAD_SIZES]],
)
def test_relations_without_sense_are_refused(neighbors, n):
    with pytest.raises(ParameterError, match=r"neighbors|n is secret"):
        majority("c").family(neighbors, n)
    with pytest.raises(ParameterError, match=r"neighbors|n is secret"):
        mode("c", ["a", "b"]).family(neighbors, n)


@pytest.mark.parametrize(
    "counts",
    [
        Counts(77177, (77176, 1, 0)),
        Counts(77177, (77176,)),
        Counts(77177, (-77177, 0)),
        Counts(77177, (77177, 1)),
        Counts(77177, (77.177, 0)),
        Counts(77177, (math.nan, 0)),
        Counts(77177 * 10**18, (77177 * 10**18, 0)),
        Counts(77177, (1, 1), missing=-77177),
        Counts(77177, (77177, 0), missing=1),
    ],
)
def test_counts_that_cannot_be_are_refused_without_being_printed(counts):
    """Counts are secret: neither an error nor a repr shows them."""
    for family in (majority("c").family("add-remove"), mode("c", ["a", "b"]).family("add-remove")):
        with pytest.raises(ParameterError) as caught:
            family.truth(counts)
        assert "77" not in str(caught.value)
    assert "77" not in repr(counts)


def _moved(counts):
    """All counts of classes that differ from these in one person."""
    for giver, count in enumerate(counts):
        for taker in range(len(counts)):
            if count and giver != taker:
                yield tuple(c - (at == giver) + (at == taker) for at, c in enumerate(counts))


@pytest.mark.parametrize("rest", [None, 0, 1, 2])
def test_capping_at_a_declared_number_keeps_neighbours_neighbours(rest):
    """By brute force: up to 5 people in 3 categories, in none, or outside, and every declared n from 0 to 7.

    Neighbours become the same histogram, or one in which one person changed category, came or went; with the rest
    taking whoever is left, one in which one person changed category. What fits n is left as it is.
    """
    people = [c for c in itertools.product(range(6), repeat=5) if sum(c) <= 5]
    for n in range(8):
        family = mode("c", ["a", "b", "c"], rest=None if rest is None else "abc"[rest]).family("replace", n)

        def taken(counts, missing, family=family):
            return family.capped(Counts(sum(counts), counts[:3], counts[3]), missing=missing)

        for missing in (True, False) if rest is not None else (True,):
            for counts in people:
                mine = taken(counts, missing)
                plain = family.histogram(Counts(sum(counts), counts[:3], counts[3]))
                assert min(mine) >= 0
                assert sum(mine) == n if not missing else sum(mine) == min(n, sum(plain))
                assert mine == plain or sum(plain) > n or not missing
                for other in _moved(counts):
                    if missing or counts[4] == other[4]:
                        changes = [b - a for a, b in zip(mine, taken(other, missing), strict=True)]
                        allowed = [[], [1], [-1], [-1, 1]] if missing else [[], [-1, 1]]
                        assert sorted(change for change in changes if change) in allowed
    with pytest.raises(ParameterError, match="rest"):
        mode("c", ["a", "b"]).family("replace", 3).capped(Counts(3, (1, 1)), missing=False)
    assert mode("c", ["a", "b"]).family("add-remove").capped(Counts(3, (1, 2))) == (1, 2)


@pytest.mark.parametrize(("question", "answer"), CASES, ids=NAMES)
def test_positions_take_any_counts_and_stay_within_a_step(question, answer):
    """A declared n that is not the number of rows is never an error: positions of neighbours still differ by one.

    Counts up to 7 rows against every n from 1 to 8; what fits n is where it was.
    """
    for n in range(1, 9):
        family = question.family("replace", n)
        if family.certain is not None:
            continue
        states = [(t, f, u) for t in range(8) for f in range(8 - t) for u in range(8 - t - f)]
        found = {state: family.position(_counts(state)) for state in states}
        assert all(family.lowest <= at <= family.highest for at in found.values())
        assert family.positions([state[:2] for state in states]).tolist() == [*found.values()]
        for state, at in found.items():
            assert family.truth(_counts(state)) == (at >= 0)
            assert all(abs(found[other] - at) <= 1 for other in _moved(state))
            if state[0] + state[1] <= n:
                assert (at >= 0) == bool(answer(state[0], state[1]))
        assert family.position(_counts((n + 5, 3, 0))) == family.position(_counts((n, 0, 0)))


@pytest.mark.parametrize("classes", [[[1, 2, 3]], [1, 2], [[0.5, 1.0]], [["a", "b"]]])
def test_tables_of_counts_that_cannot_be_are_refused(classes):
    with pytest.raises(ParameterError, match="two columns"):
        majority("c").family("add-remove").positions(classes)


# words


def test_the_words_mean_the_same_as_functions_and_as_text():
    pairs = {
        "majority(support)": majority("support"),
        "MAJORITY": None,
        "threshold(age >= 65 and not (ward == 'N'), at_least=100)": threshold(
            And((Comparison("age", ">=", 65), Not(Comparison("ward", "==", "N")))), 100
        ),
        "threshold(age>=65, 100)": threshold("age >= 65", at_least=100),
        "share(smokes == 'yes', at_least=0.3)": share("smokes == 'yes'", at_least="3/10"),
        "share(smokes == 'yes', at_least=0.125)": share("smokes == 'yes'", at_least="12.5 %"),
        "share(smokes, at_least = 3/10)": share("smokes == yes", at_least=0.3),
        "median(cost, above=-1.5e3)": median("cost", -1500),
        "quantile(cost, 0.9, above=1200)": quantile("cost", q=Decimal("0.9"), above=np.float64(1200)),
        "quantile(above=1200, column=cost, q=9/10)": quantile("cost", Fraction(9, 10), 1200),
        "exists(`age group` in ['60-69', '70+'] or \"a`b\" != no)": exists(
            Or((Membership("age group", ("60-69", "70+")), Comparison("a`b", "!=", False)))
        ),
        "mode(reason, categories=['checkup','injury','other'])": mode("reason", ["checkup", "injury", "other"]),
        "mode(reason, [1, 2.5], rest=1)": mode("reason", (1, 2.5), rest=1),
    }
    for text, question in pairs.items():
        if question is None:
            with pytest.raises(ParameterError, match="expected one of"):
                parse(text)
        else:
            assert parse(text) == question
            assert parse(str(question)) == question
            assert hash(parse(text)) == hash(question)
            assert question.meaning.endswith(("?", ")"))
            assert "\n" not in question.meaning


def test_a_share_is_the_decimal_that_was_written():
    """0.3 is three tenths, not the double next to it; so 3 of 10 are enough."""
    assert share("c", at_least=0.3).bound.value == Fraction(3, 10)
    assert parse("share(c, at_least=0.3)").bound.value == Fraction(3, 10)
    assert quantile("c", 0.1, above=0).q == Fraction(1, 10)


_NAME = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), min_size=1, max_size=12)
_TEXT = _NAME.filter(lambda text: text == text.strip())
_FLOAT = st.floats(allow_nan=False, allow_infinity=False)


def _lists(values):
    return st.lists(values, min_size=2, max_size=4, unique_by=lambda v: v + 0.0 if isinstance(v, float) else v)


_LEAF = st.one_of(
    st.builds(Comparison, _NAME, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), _FLOAT | _TEXT),
    st.builds(Comparison, _NAME, st.sampled_from(["==", "!="]), st.booleans()),
    st.builds(lambda name, values: Membership(name, tuple(values)), _NAME, _lists(_FLOAT) | _lists(_TEXT)),
)
_PREDICATE = st.recursive(
    _LEAF,
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(lambda parts: And(tuple(parts)), st.lists(inner, min_size=2, max_size=3))
        | st.builds(lambda parts: Or(tuple(parts)), st.lists(inner, min_size=2, max_size=3))
    ),
    max_leaves=8,
)


@given(_PREDICATE)
def test_predicates_survive_being_written_and_read(predicate):
    """Writing and reading are inverse, for any names, texts, numbers and nesting."""
    assert parse_predicate(str(predicate)) == predicate
    assert {name for name, _ in uses(parse_predicate(str(predicate)))} == {name for name, _ in uses(predicate)}


@given(
    st.one_of(
        st.builds(threshold, _PREDICATE, st.integers(0, 10**18)),
        st.builds(share, _PREDICATE, st.fractions(Fraction(1, 10**9), 1)),
        st.builds(exists, _PREDICATE),
        st.builds(majority, _NAME),
        st.builds(median, _NAME, _FLOAT),
        st.builds(quantile, _NAME, st.fractions(Fraction(1, 10**9), 1), _FLOAT),
        st.builds(mode, _NAME, _lists(_TEXT) | _lists(_FLOAT)),
        st.builds(lambda name, values: mode(name, values, rest=values[0]), _NAME, _lists(_TEXT)),
    )
)
def test_questions_survive_being_written_and_read(question):
    assert parse(str(question)) == question


_WORDS = st.sampled_from(
    [
        *(
            "threshold",
            "share",
            "mode",
            "(",
            ")",
            "[",
            "]",
            ",",
            "=",
            "==",
            "<",
            "and",
            "or",
            "not",
            "in",
            "yes",
            "'a'",
        ),
        *("1", "`b`", '"c"', "at_least", "0.3", "/", "-", "'", "`", ";", "--", "\\", "e9", "é", "\u202e", "x", "1e999"),
        *("__import__('os')", "/*", "''", "``", '""', "!=", "rest", "categories"),
    ]
)


@given(st.text(max_size=40) | st.lists(_WORDS, max_size=12).map(" ".join) | st.lists(_WORDS, max_size=12).map("".join))
def test_junk_is_refused_and_nothing_worse(text):
    """Whatever the text, there is a question or a ParameterError."""
    for read in (parse, parse_predicate):
        with contextlib.suppress(ParameterError):
            assert read(str(read(text))) == read(text)


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("", 0, "expected one of"),
        ("majority", 8, "expected \\( after"),
        ("majority()", 9, "needs predicate"),
        ("majority(support", 16, "expected , or \\)"),
        ("majority(support))", 17, "closing"),
        ("majority(support, 3)", 18, "no further argument"),
        ("majority('support')", 9, "expected a column"),
        ("Majority(support)", 0, "expected one of"),
        ("threshold(age = 65, at_least=3)", 10, "write =="),
        ("exists((age = 65))", 12, "write =="),
        ("exists(age <> 65)", 11, "write !="),
        ("exists(a && b)", 9, "write and"),
        ("exists(65 <= age)", 7, "the column comes first"),
        ("exists(age >= 18 < 65)", 17, "joined by and"),
        ("exists(ward == N)", 15, "in single quotes: 'N'"),
        ('exists(ward == "N")', 15, "single quotes"),
        ("exists(ward == 'N)", 15, "not closed"),
        ("exists(`ward == 'N')", 7, "not closed"),
        ("exists(ward in ['a', 2])", 7, "mixture"),
        ("exists(ward in ['a', 'a'])", 7, "repeat"),
        ("exists(ward in [])", 7, "between 1"),
        ("exists(ward in 'a')", 15, "to begin a list"),
        ("exists(smokes > yes)", 7, "no order"),
        ("exists(a == 1e999)", 12, "finite"),
        ("exists(a == nan)", 12, "in single quotes: 'nan'"),
        ("exists(a == ' x')", 12, "begin or end with a space"),
        ("exists(a == '')", 12, "blank"),
        ("exists(a and)", 12, "expected a column"),
        ("exists(a; drop)", 8, "no meaning"),
        ("exists(not)", 10, "expected a column"),
        ("threshold(age > 5, at_least=2.5)", 28, "whole number"),
        ("threshold(age > 5, at_least=-1)", 28, "between 0"),
        ("threshold(age > 5, at_least=1e300)", 28, "10\\^18"),
        ("threshold(age > 5, at_least=1, at_least=2)", 31, "twice"),
        ("threshold(age > 5, atleast=1)", 19, "no argument"),
        ("threshold(age > 5)", 17, "needs one of at_least"),
        ("share(a, at_least=0)", 18, "above 0"),
        ("share(a, at_least=1.5)", 18, "at most 1"),
        ("share(a, at_least=1/0)", 18, "divide by zero"),
        ("share(a, at_least=1e-999999999)", 18, "exponents"),
        ("quantile(cost, 0, above=3)", 15, "above 0"),
        ("median(cost, above='x')", 19, "expected a number"),
        ("mode(reason, categories=['a'])", 24, "between 2"),
        ("mode(reason, categories=['a', 'a'])", 24, "repeat"),
        ("mode(reason, categories=['a', 'b'], rest='c')", 41, "one of the categories"),
        ("exists(" + "(" * 51 + "a" + ")" * 51 + ")", 57, "50 deep"),
        ("exists(" + "not " * 51 + "a)", 207, "50 deep"),
    ],
)
def test_errors_point_at_the_place(text, at, words):
    """The caret stands under the first character that is wrong."""
    with pytest.raises(ParameterError, match=words) as caught:
        parse(text)
    message, shown, caret = str(caught.value).split("\n")
    assert message.endswith(f"(character {at + 1})")
    assert shown[len(caret) - 1 :].startswith(text[at : at + 5])
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "make",
    [
        lambda: majority(""),
        lambda: majority(None),
        lambda: majority("a\nb"),
        lambda: majority("a\x1b[31m"),
        lambda: majority("a" * 1001),
        lambda: threshold("a > 1", at_least=math.nan),
        lambda: threshold("a > 1", at_least=2.0),
        lambda: threshold("a > 1", at_least=True),
        lambda: threshold("a > 1", at_least="3"),
        lambda: threshold("a > 1", at_least=10**18 + 1),
        lambda: threshold(5, at_least=1),
        lambda: threshold(None, at_least=1),
        lambda: threshold("a > 1" + " or a > 1" * 3000, at_least=1),
        lambda: threshold("a\0 > 1", at_least=1),
        lambda: share("a > 1", at_least=math.nan),
        lambda: share("a > 1", at_least=math.inf),
        lambda: share("a > 1", at_least=-0.1),
        lambda: share("a > 1", at_least=1.0000001),
        lambda: share("a > 1", at_least=None),
        lambda: share("a > 1", at_least="ln 2"),
        lambda: median("a", above=math.nan),
        lambda: median("a", above=-math.inf),
        lambda: median("a", above="5"),
        lambda: median("a", above=True),
        lambda: median("a", above=None),
        lambda: median("a", above=10**400),
        lambda: median("a", above=Decimal("sNaN")),
        lambda: median("a", above=1j),
        lambda: quantile("a", 0, above=1),
        lambda: quantile("a", math.nan, above=1),
        lambda: mode("a", []),
        lambda: mode("a", ["x"]),
        lambda: mode("a", "xy"),
        lambda: mode("a", {"x", "y"}),
        lambda: mode("a", ["x", "x"]),
        lambda: mode("a", ["x", 1]),
        lambda: mode("a", ["x", None]),
        lambda: mode("a", ["x", math.nan]),
        lambda: mode("a", ["x", b"y"]),
        lambda: mode("a", None),
        lambda: mode("a", list(range(1001))),
        lambda: mode("a", ["x", "y"], rest="z"),
        lambda: mode("a", [1, 2], rest=True),
        lambda: Comparison("a", "; --", 1),
        lambda: Comparison("a", "==", None),
        lambda: Membership("a", ()),
        lambda: parse(b"majority(a)"),
        lambda: parse(None),
    ],
)
def test_bad_arguments_are_refused(make):
    with pytest.raises(ParameterError) as caught:
        make()
    assert len(str(caught.value)) < 700


def test_names_and_literals_are_written_so_that_they_can_be_read():
    """Reserved words, quotes and odd letters are quoted; numbers are written without a needless .0."""
    assert [name_text(name) for name in ("age", "In", "größe", "a b", "1st", 'a"b')] == [
        "age",
        '"In"',
        '"größe"',
        '"a b"',
        '"1st"',
        '"a""b"',
    ]
    assert [literal_text(value) for value in (1200.0, 1e22, -0.5, "it's", True)] == [
        "1200",
        "1e+22",
        "-0.5",
        "'it''s'",
        "yes",
    ]


# questions as people write them


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("majority(survived == yes)", "majority(survived)"),
        ("majority(gender == 'female')", "majority(gender == 'female')"),
        ("majority(vote, yes='Y', no='N')", "majority(vote, yes='Y', no='N')"),
        ("majority(vote, no=[2, 3], yes=1)", "majority(vote, yes=1, no=[2, 3])"),
        ("share(age > 3, at_least=50%)", "share(age > 3, at_least=0.5)"),
        ("quantile(cost, 90%, at_most=1,200)", "quantile(cost, 0.9, at_most=1200)"),
        ("threshold(age > 3, at_least=12,000,000)", "threshold(age > 3, at_least=12000000)"),
        ("threshold(age > 12_000, 5)", "threshold(age > 12000, at_least=5)"),
        ("exists(age between 18 and 30)", "exists(age >= 18 and age <= 30)"),
        (
            "exists(born not between 1990-01-01 and 1999-12-31)",
            "exists(not (born >= '1990-01-01' and born <= '1999-12-31'))",
        ),
        ('exists("alk.phos" > 3)', 'exists("alk.phos" > 3)'),
        ("exists(`alk.phos` > 3)", 'exists("alk.phos" > 3)'),
    ],
)  # fmt: skip
def test_questions_are_read_as_people_write_them(written, plain):
    assert str(parse(written)) == plain
    assert parse(plain) == parse(written)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("threshold(age >= 65,100)", "one number or two"),
        ("share(income >= 12,000, at_least=0.3)", "one number or two"),
        ("share(a, at_least=10)", "did you mean 10%"),
        ("quantile(age, 90, above=3)", "did you mean 90%"),
        ("average(x)", "try median"),
        ("Majority(x)", "write majority"),
        ("majorty(x)", "did you mean majority"),
        ("majority(alk.phos)", "double quotes"),
        ("share(a & b, at_least=0.5)", "write and"),
        ("threshold(a, at_least=50%)", "ask share"),
        ("majority(a, yes='Y')", "both yes and no"),
        ("majority(a, yes='Y', no='Y')", "repeat"),
        ("majority(a > 3, yes='Y', no='N')", "true or false by itself"),
        ("median(x, above=1, below=2)", "above and below"),
        ("exists(x == 9007199254740993)", "more digits"),
        ("exists(x between 1 and 'b')", "two numbers"),
        ("majority(vote, yes=Y, no=N)", "in single quotes: 'Y'"),
        ("majority(survived is yes)", "write ==, as in survived == yes"),
        ("majority(survived = yes)", "write =="),
        ("threshold(18 <= age <= 30, at_least=10)", "as in age between 18 and 30"),
        ("median(income > 30000)", "as in median(cost, above=1200)"),
        ("median(born, above=1970-01-01)", "compared in share(born >= 1990-12-24, at_least=50%)"),
        ("share(born > 01.02.1990, at_least=50%)", "year-month-day, such as 1990-12-24"),
        ("share(age => 65, at_least=50%)", "write >="),
        ("share(age ≥ 65, at_least=50%)", "write >="),
        ("share(ward == ‘N’, at_least=50%)", "write ' for quotes"),
        ("share(age >= 65, atleast=50%)", "did you mean at_least?"),
    ],
)
def test_what_could_be_misread_is_refused_with_a_hint(written, hint):
    """No hint has a backquote: in a shell's double quotes it runs a command."""
    with pytest.raises(ParameterError, match=re.escape(hint)) as caught:
        parse(written)
    assert "`" not in caught.value.problem.split("\n")[0]


def test_no_error_suggests_backquotes():
    """In a shell's double quotes they run a command."""
    for text in ("majority(a b)", "majority('a b')", "exists(1 > a)", "majority(alk.phos)"):
        with pytest.raises(ParameterError) as caught:
            parse(text)
        assert "`" not in caught.value.problem.split("\n")[0]
