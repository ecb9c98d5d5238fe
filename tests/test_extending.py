"""What people write themselves, and what happens if they get it wrong: refused before it is used, or one sentence."""

# ruff: noqa: ARG002, ARG005 # methods and functions have the shape of what they stand for

from __future__ import annotations

import itertools
import math
import sqlite3
from asyncio import CancelledError
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from tinct import (
    GaussianDP,
    Ledger,
    Mechanism,
    Privacy,
    TradeOff,
    ask,
    balanced,
    extend,
    frontier,
    graphs,
    majority,
    verify,
)
from tinct.asking import plan
from tinct.errors import FileError, NotAnswered, ParameterError, TinctError
from tinct.ledger import NotCommitted, SqlStore, check_store
from tinct.ledger.store import store_at
from tinct.privacy import SuitablePair
from tinct.questions import Categories, Condition, Counts, YesNo, parse_predicate, quantile, share, threshold
from tinct.questions.own_questions import _Search
from tinct.questions.questions import Majority, Threshold
from tinct.sources import RowSource
from tinct.sources.columns import CELL, Column
from tinct.sources.typed_cells import object_text

# notions of privacy


def pair_of(bound, **methods):
    """An object of a new class with this U."""
    return type("Own", (SuitablePair,), {"bound": lambda _, a: bound(a), **methods})()


@dataclass(frozen=True)
class BoundedOdds(SuitablePair):
    """Odds change by a factor at most."""

    factor: float

    def bound(self, a):
        """U(a)."""
        return self.factor * a / (1 - a + self.factor * a)


def logistic(a):
    """Bounded odds as a function."""
    return 3 * a / (1 + 2 * a)


WRONG = {
    "root": (np.sqrt, "1 − a, so that both answers"),
    "one half of ε": (lambda a: np.minimum(1, 2 * a), "1 − a, so that both answers"),
    "nan": (lambda a: np.where(np.abs(a - 0.75) < 1e-3, np.nan, a), "lie in"),
    "nan near 0": (lambda a: np.where((a > 0) & (a < 1e-290), np.nan, a), "lie in"),
    "above 1": (lambda a: a + 0.1, "lie in"),
    "below a": (lambda a: a**2, "at least a"),
    "falls": (lambda a: np.where(a < 0.5, a + 0.3, a), "not decrease"),
    "falls slowly": (lambda a: np.where(a < 0.5, 0.7 - 1e-6 * a, np.maximum(a, 0.7)), "not decrease"),
    "bulges": (
        lambda a: 1 - np.interp(a, [0.0, 0.1, 0.3, 0.4, 0.5, 0.6, 0.9], [0.9, 0.6, 0.5, 0.4, 0.3, 0.1, 0.0]),
        "concave",
    ),
    "gaussian, cut": (lambda a: np.where(a < 1e-5, a, GaussianDP(1).upper(a)), "concave|both answers"),
    "slightly too small near 1": (lambda a: np.where(a > 0.999, a, Privacy(1).upper(a)), "decrease|both|concave"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_a_suitable_pair_is_refused_with_the_law_and_the_place(name):
    """As a class of one's own, whatever its __init__ does, and as a trade-off function."""
    bound, law = WRONG[name]
    with pytest.raises(ParameterError, match=f"Own is not a suitable pair: .*({law}).* at a = .* it is "):
        pair_of(bound, __init__=lambda self: None)
    with pytest.raises(ParameterError, match=r"not a trade-off function: .* at a = .* it is "):
        TradeOff(lambda a: 1 - bound(np.asarray(a, float)))


def test_the_root_would_not_have_been_private():
    """Why √a is refused: extending (0.9, 0.1) along an edge gives (0.684, 0.316), and 0.9 > √0.684."""
    here = np.array([0.9, 0.1])
    other = np.sqrt(here[1])
    there = np.array([1 - other, other])
    assert there.round(3).tolist() == [0.684, 0.316]
    assert (there <= np.sqrt(here)).all()  # in one direction
    assert here[0] > np.sqrt(there[0]) + 0.07  # and not in the other


@pytest.mark.parametrize(
    ("methods", "law"),
    [
        ({"reach": lambda _, d, a: np.asarray(a) + 0 * d}, "reach"),
        ({"upper": lambda _, a: np.asarray(a)}, "upper"),
        ({"lower": lambda _, a: np.asarray(a)}, "lower"),
        ({"walk": lambda _, d, a, b: (logistic(a), 1 - logistic(a)) if d else (a, b)}, "walk.2"),
        ({"walk": lambda _, d, a, b: Privacy("ln 3").walk(d, a, b)}, "upper"),
        ({"walk": lambda _, d, a, b: (SuitablePair.walk(_, d, a, b)[0], 0 * b)}, "lower|end with"),
        ({"balance": property(lambda _: (0.75, 0.25))}, "balance"),
        ({"transition": lambda _, a: np.zeros(np.shape(a))}, "transition"),
        ({"_transition": lambda _, a: np.full(np.shape(a), np.inf)}, "transition"),
        ({"_transition": lambda _, a: SuitablePair._transition(_, a) + 1}, "transition"),
        ({"coordinate": "odds", "step": (3.0, 0.0)}, "coordinate"),
    ],
)
def test_methods_that_disagree_with_the_bound_are_refused(methods, law):
    """What is computed in closed form has to be what U says."""
    assert pair_of(logistic).upper(0.5) == 0.75
    with pytest.raises(ParameterError, match=law):
        pair_of(logistic, **methods)


def test_methods_that_agree_are_taken():
    """A closed form, and a transition computed in its own way."""

    class Fast(BoundedOdds):
        def walk(self, distance, a, b):
            odds = self.factor ** np.asarray(distance, float)
            total = np.asarray(b) + odds * np.asarray(a)
            return odds * np.asarray(a) / total, np.asarray(b) / total

        def _transition(self, a):
            with np.errstate(divide="ignore"):
                steps = (math.log(self.balance[1] / self.balance[0]) - np.log(a / (1 - a + 1e-300))) / math.log(
                    self.factor
                )
            return np.maximum(0, np.ceil(steps - 1e-12))

    fast, slow = Fast(4.0), BoundedOdds(4.0)
    for method in ("upper", "lower", "transition"):
        np.testing.assert_allclose(getattr(fast, method)([0.01, 0.4]), getattr(slow, method)([0.01, 0.4]), atol=1e-12)
    np.testing.assert_allclose(fast.reach(7, [0.01, 0.4]), slow.reach(7, [0.01, 0.4]), atol=1e-12)


def test_a_class_derived_from_a_proved_one_is_not_taken_on_trust():
    """Its search would follow the parent's ε whatever the subclass says."""

    class Generous(Privacy):
        def upper(self, a):
            return 1.0

    with pytest.raises(ParameterError, match="derive from SuitablePair"):
        Generous(1)


def test_a_class_without_a_bound_is_refused():
    """There is nothing to check."""
    with pytest.raises(NotImplementedError, match="bound"):
        type("Own", (SuitablePair,), {})()


@pytest.mark.parametrize("factor", [1.0, 1.5, 4.0, 1000.0])
def test_an_own_pair_designs_what_verify_confirms_and_nothing_beats(factor):
    """Extension, frontier and more than two answers; every event checked one by one."""
    privacy = BoundedOdds(factor)
    line = graphs.line(4, 4)
    best = balanced(line, privacy)
    assert verify(best).private
    for u, v in line.edges:
        for event in ([0], [1]):
            p, q = best.row(u)[event].sum(), best.row(v)[event].sum()
            assert p <= privacy.upper(q) + 1e-12
            assert q <= privacy.upper(p) + 1e-12
    assert extend(line, privacy, {4: best.row(4), 5: best.row(5)}).table == pytest.approx(best.table)
    assert frontier(line, privacy).second(privacy.balance[0]) == pytest.approx(privacy.balance[0])
    if 1 < factor < 10:
        better = best.table.copy()
        better[0] += [1e-4, -1e-4]
        assert not verify(better, line, privacy).private


def test_verify_with_an_own_pair_equals_enumeration_of_events():
    """Four answers: concavity makes prefixes enough."""
    privacy, rng = BoundedOdds(2.0), np.random.default_rng(5)
    four = graphs.DatasetGraph([(0, 1)], {0: "a", 1: "b"}, outputs=("a", "b", "c", "d"))
    for _ in range(200):
        table = rng.dirichlet(np.ones(4) * 8, 2)
        events = [list(s) for k in range(1, 4) for s in itertools.combinations(range(4), k)]
        worst = max(table[u, s].sum() - privacy.upper(min(1.0, table[1 - u, s].sum())) for u in (0, 1) for s in events)
        assert verify(table, four, privacy).private == (worst <= 1e-9)


def test_an_own_pair_on_a_mechanism_is_left_out_of_files(tmp_path):
    """A function has no form in a file; the table has."""
    mechanism = balanced(graphs.line(2, 2), BoundedOdds(2.0))
    mechanism.to_json(tmp_path / "m.json")
    assert Mechanism.from_json(tmp_path / "m.json").privacy is None


def test_a_cheat_between_the_points_of_the_grid_passes_as_the_page_says():
    """A grid is no proof. What lies outside [0, 1] is refused all the same when it is met."""
    pair = pair_of(lambda a: np.where(a == 0.123, 0.9, logistic(a)))
    assert pair.upper(0.123) == 0.9
    outside = pair_of(lambda a: np.where(a == 0.123, np.nan, logistic(a)))
    with pytest.raises(ParameterError, match="must lie in"):
        outside.upper(0.123)


def test_methods_of_one_object_and_private_ones_are_compared_with_the_bound():
    """Not only what a class defines is used."""

    class Kept(SuitablePair):
        def __init__(self, **own):
            vars(self).update(own)

        def bound(self, a):
            return logistic(a)

    @dataclass(frozen=True, slots=True)
    class Field(SuitablePair):
        balance: tuple

        def bound(self, a):
            return logistic(a)

    assert Kept().upper(0.5) == 0.75
    with pytest.raises(ParameterError, match="upper"):
        Kept(walk=lambda d, a, b: (np.ones_like(a), np.zeros_like(b)))
    with pytest.raises(ParameterError, match="transition"):
        Kept(transition=lambda a: np.zeros(np.shape(a)))
    for make in (lambda: Kept(balance=(0.999, 0.001)), lambda: Field((0.999, 0.001))):
        with pytest.raises(ParameterError, match="balance"):
            make()
    with pytest.raises(ParameterError, match="upper"):
        pair_of(logistic, _upper=lambda _, a: np.ones_like(a))


@pytest.mark.parametrize(
    "bound",
    [
        lambda a: logistic(a) + (1 - logistic(a).max()),
        lambda a: logistic(a) / logistic(a).max(),
        lambda a: np.maximum.accumulate(np.ravel(logistic(a))).reshape(np.shape(a)),
    ],
)
def test_a_bound_that_depends_on_the_whole_array_is_refused(bound):
    """On a sorted grid that has a 1 it looks right."""
    with pytest.raises(ParameterError, match="other numbers of an array"):
        pair_of(bound)
    with pytest.raises(ParameterError, match="other numbers of an array"):
        TradeOff(lambda a: 1 - bound(a))


def test_a_bound_that_works_in_place_does_not_change_what_it_is_given():
    """The grid is kept, and so are the probabilities of a caller."""

    def tripled(a):
        a *= 3
        return a / (1 + 2 * a / 3)

    given = np.array([0.25, 0.5])
    assert pair_of(tripled).upper(given) == pytest.approx(logistic(np.array([0.25, 0.5])))
    assert given.tolist() == [0.25, 0.5]


# questions


@dataclass(frozen=True)
class Between(YesNo):
    """Whether a predicate is true for a number of rows between two bounds."""

    predicate: str
    low: int
    high: int

    @property
    def counted(self):
        """True and false rows."""
        return Condition(parse_predicate(self.predicate))

    def truth(self, classes):
        """The answer."""
        return self.low <= classes[0] <= self.high

    def position(self, classes, neighbors, n):
        """Steps to the nearer bound."""
        if classes[0] < self.low:
            return classes[0] - self.low
        if classes[0] > self.high:
            return self.high - classes[0]
        down = [classes[0] - self.low] if self.low else []
        up = [self.high - classes[0]] if n is None or self.high < n else []
        return min(down + up)

    def meaning_for(self, one, many):
        """What is asked."""
        return f"are there {self.low} to {self.high} {many} with {self.predicate}?"

    def __str__(self):
        return f"between({self.predicate}, {self.low}, {self.high})"


class TwoThirds(Between):
    """Whether at least twice as many rows are red as green and blue together, and somebody is red: three classes."""

    @property
    def counted(self):
        """One class for each colour."""
        return Categories("color", ("red", "green", "blue"))

    def truth(self, classes):
        """The answer."""
        return classes[0] >= 2 * (classes[1] + classes[2]) + 1

    def position(self, classes, neighbors, n):
        """The score over the largest step."""
        score = classes[0] - 2 * (classes[1] + classes[2]) - 1
        if neighbors == "replace":
            return score // 3
        if score >= 0:
            return score // 2
        # a red row has to stay or to come, all else can leave
        others = classes[1] + classes[2]
        leave = min(others, (-score) // 2)
        return -(leave + max(0, -score - 2 * leave))

    def __str__(self):
        return "two_thirds(color)"


def test_an_own_question_is_answered_charged_and_recorded(tmp_path):
    """End to end, with groups, and once more under the same request."""
    import pandas as pd

    people = pd.DataFrame({"age": [70] * 500 + [30] * 700, "ward": ["N"] * 600 + ["S"] * 600})
    question = Between("age >= 65", 400, 600)
    ledger = Ledger(tmp_path / "b.db", epsilon=3)
    first = ask(people, question, epsilon=1, ledger=ledger, request="one")
    assert (first.value, first.plan.question) == ("yes", "between(age >= 65, 400, 600)")
    assert first.plan.certified.question == str(question)
    again = ask(people, question, epsilon=1, ledger=ledger, request="one")
    assert (again.value, again.repeated, ledger.spent().epsilon) == ("yes", True, 1)
    with pytest.raises(ParameterError, match="different request"):
        ask(people, Between("age >= 65", 400, 601), epsilon=1, ledger=ledger, request="one")
    groups = ask(people, question, epsilon=1, by="ward", groups=["N", "S"], ledger=ledger)
    assert groups.value == {"N": "yes", "S": "no"}
    with pytest.raises(ParameterError, match="personal budgets are for"):
        ask(people, question, epsilon_column="age", budgets={"30": 700, "70": 500}, neighbors="replace")


def test_an_own_question_about_categories_is_answered():
    """Three classes, both relations; several rows of a person count in the category that comes first."""
    rows = [{"color": "red", "who": str(n)} for n in range(900)] + [{"color": "blue", "who": "x"}] * 100
    question = TwoThirds("", 0, 0)
    assert ask(Dicts(rows), question, epsilon=1).value == "yes"
    assert ask(Dicts(rows), question, epsilon=1, neighbors="replace").value == "yes"
    found = plan(Dicts(rows), question, epsilon=1, unit="who")
    assert any("category listed first" in rule for rule in found.rules)


@pytest.mark.parametrize(
    ("neighbors", "n"), [("add-remove", None), ("replace", 9), ("replace", 500), ("replace", 10**7)]
)
@pytest.mark.parametrize("bounds", [(3, 7), (0, 5), (300, 700), (300, 300), (12, 10**6)])
def test_right_positions_are_taken(neighbors, n, bounds):
    """For small and large bounds, also where n people cannot reach them."""
    line = Between("age >= 65", *bounds).family(neighbors, n)
    always = {n is not None and bounds[0] > n: False, n is not None and bounds[0] == 0 and bounds[1] >= n: True}
    assert line.certain is (always.get(True) if n == 9 else None)


def moved(question, change):
    """The class of a question with another position."""

    def position(self, classes, neighbors, n):
        return change(self, classes, question.position(self, classes, neighbors, n))

    return type("Moved", (question,), {"position": position})


WRONG_POSITIONS = {
    "doubled": lambda q, c, p: 2 * p + (p < 0),
    "always sure": lambda q, c, p: 1000 if p >= 0 else -1000,
    "sign": lambda q, c, p: -1 - p,
    "off by one": lambda q, c, p: p + 1,
    "by false rows": lambda q, c, p: p + c[1] if p >= 0 else p - c[1],
    "a jump at the upper bound": lambda q, c, p: p if c[0] <= q.high else 10 * p,
    "a jump far out": lambda q, c, p: p if c[0] < 2 * 10**6 else 3 * p,
    "half": lambda q, c, p: p // 2 if p >= 0 else -1 - (-1 - p) // 2,
    "a float": lambda q, c, p: float(p),
    "an error": lambda q, c, p: p // (c[0] - 30),
}


@pytest.mark.parametrize("low", [3, 300, 10_000])
@pytest.mark.parametrize("name", WRONG_POSITIONS)
def test_a_wrong_position_is_refused_before_anything_is_charged(name, low, tmp_path):
    """Whether the boundary is among small datasets or far from them."""
    ledger = Ledger(tmp_path / "b.db", epsilon=1)
    question = moved(Between, WRONG_POSITIONS[name])("age >= 65", low, low + 7)
    with pytest.raises(ParameterError, match="Moved cannot be asked with neighbors='add-remove': the dataset"):
        ask(Dicts([{"age": 70}]), question, epsilon=1, ledger=ledger)
    assert ledger.history() == []
    with pytest.raises(ParameterError, match="Moved cannot be asked with neighbors='replace'"):
        ask(Dicts([{"age": 70}]), question, epsilon=1, neighbors="replace", people=3 * 10**6)


@dataclass(frozen=True, slots=True)
class Slotted(Between):
    """The same with slots, and with bounds that hide in a tuple or are no plain ints."""

    bounds: tuple = ()

    def truth(self, classes):
        """The answer."""
        return self.bounds[0] <= classes[0] <= self.bounds[1]

    def position(self, classes, neighbors, n):
        """Too far inside."""
        low, high = self.bounds
        right = min(classes[0] - low, high - classes[0])
        return math.floor(1000 * right if right > 0 else right)


class Constants(Between):
    """Bounds in the class, which is a wrong position inside."""

    NARROW: tuple = (4_000_000, 4_000_020)

    def truth(self, classes):
        """The answer."""
        return self.NARROW[0] <= classes[0] <= self.NARROW[1]

    def position(self, classes, neighbors, n):
        """Too far inside."""
        right = min(classes[0] - self.NARROW[0], self.NARROW[1] - classes[0])
        return 1000 * right if right > 0 else right


class InCode(Constants):
    """Bounds in a method."""

    @property
    def NARROW(self):  # noqa: N802 # in place of the constant
        """The bounds."""
        return 4_000_000, 4_000_020


class Computed(Constants):
    """Bounds that are found nowhere."""

    @property
    def NARROW(self):  # noqa: N802 # in place of the constant
        """The bounds."""
        return int("3333333"), int("4444444")


@pytest.mark.parametrize(("neighbors", "n"), [("add-remove", None), ("replace", 5 * 10**6)])
@pytest.mark.parametrize(
    "question",
    [
        *(
            Slotted("age >= 65", 0, 0, bounds)
            for bounds in (
                (4_000_000, 4_000_020),
                (4_000_000.0, 4_000_020.0),
                (Fraction(4_000_000), Fraction(4_000_020)),
                (np.int64(4_000_000), np.int64(4_000_020)),
            )
        ),
        Constants("age >= 65", 0, 0),
        InCode("age >= 65", 0, 0),
        Computed("age >= 65", 0, 0),
    ],
)
def test_a_wrong_position_far_out_is_found_wherever_the_numbers_are_kept(question, neighbors, n):
    """In slots, tuples, classes and code, of every kind; and without them, if the place is wide."""
    with pytest.raises(ParameterError, match="one person may move a dataset by one step only"):
        question.family(neighbors, n)


def test_a_class_derived_from_a_question_of_tinct_is_refused():
    """It would be answered by its parent's formula, whatever it says."""
    predicate = parse_predicate("age >= 65")
    at_most = type("AtMost", (Threshold,), {"truth": lambda _, c: c[0] <= 100})(predicate, 100)
    same = type("Same", (Majority,), {"counted": Condition(predicate)})("support")
    for question, parent in ((at_most, "Threshold"), (same, "Majority")):
        with pytest.raises(ParameterError, match=f"{type(question).__name__} derives from {parent}"):
            ask(Dicts([{"age": 70}]), question, epsilon=1)


class Raising(Between):
    """Raises where the real counts are."""

    error = None

    def position(self, classes, neighbors, n):
        """As it should be, elsewhere."""
        if classes == (int("500"), int("77")):  # in code, plain numbers would be looked at
            raise self.error(f"counts {classes}")
        return super().position(classes, neighbors, n)


@pytest.mark.parametrize(
    "error", [ValueError, ParameterError, SystemExit, CancelledError, GeneratorExit, KeyboardInterrupt]
)
def test_a_position_that_raises_after_the_charge_says_one_sentence(error, tmp_path):
    """With a ledger, without one, and for groups: nothing of what it raises comes out."""
    rows = Dicts([{"age": 70, "who": "a"}] * 500 + [{"age": 30, "who": "a"}] * 77)
    question = type("Raising", (Raising,), {"error": error})("age >= 65", 40, 60)
    stopped = error is KeyboardInterrupt
    ledger = Ledger(tmp_path / "b.db", epsilon=1)
    for wanted, more in (
        (NotAnswered, {"ledger": ledger, "request": "r"}),
        (TinctError, {}),
        (TinctError, {"by": "who", "groups": ["a"]}),
    ):
        with pytest.raises(KeyboardInterrupt if stopped else wanted) as caught:
            ask(rows, question, epsilon=1, **more)
        assert "500" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
        assert caught.value.__context__ is None
    assert ledger.spent().epsilon == 1


@pytest.mark.parametrize("text", ["majority(support)", "", "two\nlines", "<Own object at 0x7f00>"])
def test_the_text_of_an_own_question_must_be_its_own(text):
    """Ledgers and certificates know a question by its text."""
    question = type("Named", (Between,), {"__str__": lambda _: text})("age >= 65", 3, 7)
    with pytest.raises(ParameterError, match=r"str.question."):
        ask(Dicts([{"age": 70}]), question, epsilon=1)


def test_what_an_own_question_lacks_is_said():
    """A class without a text or a position cannot even be made; too many classes cannot be checked."""
    with pytest.raises(TypeError, match="position"):
        type("Bare", (YesNo,), {})()
    many = type("Many", (Between,), {"counted": Categories("c", tuple("abcdefghi"))})("", 0, 1)
    with pytest.raises(ParameterError, match="9 classes"):
        many.family("add-remove")


def test_own_positions_agree_with_those_of_tinct():
    """Every built-in question passes the search that questions of one's own have to pass."""
    asked = [
        majority("c"),
        threshold("c", 7),
        threshold("c", 500),
        share("c", "2/7"),
        share("c", 1),
        quantile("c", 0.9, 3),
    ]
    for question in [*asked, quantile("c", 0.9, 3)]:
        for neighbors, n in (("add-remove", None), ("replace", 20), ("replace", 5000)):
            certain = question.family(neighbors, n).certain
            if certain is None:
                assert _Search(question, neighbors, n).run() is None


def test_an_own_line_takes_n_of_what_is_counted():
    """More rows than were declared are cut, as for every question."""
    line = Between("age >= 65", 3, 7).family("replace", 10)
    assert line.position(Counts(30, (20, 10))) == -3
    assert line.positions([[20, 10], [5, 5]]).tolist() == [-3, 2]
    assert line.truth(Counts(30, (5, 25)))


# sources


class Dicts(RowSource):
    """A list of dicts; whatever else is in the list is yielded as it is, and functions are called."""

    def __init__(self, rows, columns=("support", "age", "color", "who")):
        super().__init__("a list", columns)
        self._rows = rows

    def rows(self, columns):
        """The rows."""
        for row in self._rows:
            yield row() if callable(row) else [row.get(name) for name in columns] if isinstance(row, dict) else row


class Unprintable:
    """A cell that does something when it is printed."""

    def __init__(self, error):
        self._error = error

    def __str__(self):
        raise self._error


class Encoded(str):
    """A text that says that it can be encoded."""

    __slots__ = ()

    def __str__(self):
        return self

    def encode(self, *_):
        """Whatever it holds."""
        return b"yes"


def test_an_interruption_in_a_cell_has_no_text():
    """It passes, without what it says."""
    with pytest.raises(KeyboardInterrupt) as caught:
        object_text(Column("x", "c0", CELL))(Unprintable(KeyboardInterrupt("17")))
    assert (caught.value.args, caught.value.__context__) == ((), None)


def test_cells_of_any_kind_are_read_or_missing():
    """Never an error, whatever a row is."""
    yes = [True, 1, "yes", " Y ", 1.0, Fraction(1), np.True_]
    no = [False, 0, "no", "F"]
    neither = [None, "", math.nan, "perhaps", b"yes", object(), Unprintable(ValueError("17")), "\ud800", [1]]
    neither += [Unprintable(error("17")) for error in (SystemExit, CancelledError, GeneratorExit)]
    neither += [Encoded("\ud800")]
    rows = [{"support": cell} for cell in yes + no + neither]
    odd = [(), 5, None, "yes", ("yes", "no"), iter(["no"]), {}]
    found = Dicts(rows + odd).count(majority("support"))
    assert (found.rows, found.classes) == (len(rows) + len(odd), (len(yes) + 1, len(no) + 1))


def raising(error):
    """A row whose place raises."""

    def row():
        raise error

    return row


@pytest.mark.parametrize(
    "error", [ValueError("17"), SystemExit("17"), FileError("17"), sqlite3.Error("17"), CancelledError("17")]
)
@pytest.mark.parametrize("before", [0, 20_000])
def test_a_source_that_fails_after_the_charge_says_one_sentence(error, before, tmp_path):
    """Early or late, whatever it raises; the charge stays, and the same request completes it."""
    ledger = Ledger(tmp_path / "b.db", epsilon=1)
    rows = [{"support": "yes"}] * before
    with pytest.raises(NotAnswered) as caught:
        ask(Dicts([*rows, raising(error)]), "majority(support)", epsilon="0.5", ledger=ledger, request="r")
    assert str(caught.value) == (
        "the request is charged, but its answer could not be completed. Ask again with the request id 'r' to complete "
        "it without a further charge"
    )
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert ledger.spent().epsilon == Fraction(1, 2)
    done = ask(Dicts([{"support": "yes"}] * 300), "majority(support)", epsilon="0.5", ledger=ledger, request="r")
    assert (done.value, done.completed, ledger.spent().epsilon) == ("yes", True, Fraction(1, 2))
    with pytest.raises(FileError, match="a list: its rows cannot be read to the end") as caught:
        ask(Dicts([*rows, raising(error)]), "majority(support)", epsilon="0.5")
    assert "17" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"


def test_no_row_of_an_own_source_is_read_before_the_charge(tmp_path):
    """A plan, a wrong column and an empty budget never come to the rows."""
    source = Dicts([raising(AssertionError("read too early"))])
    plan(source, "majority(support)", epsilon=1)
    with pytest.raises(ParameterError, match="there is no column suport"):
        ask(source, "majority(suport)", epsilon=1)
    ledger = Ledger(tmp_path / "b.db", epsilon="0.1")
    with pytest.raises(Exception, match="not enough privacy is left"):
        ask(source, "majority(support)", epsilon=1, ledger=ledger)


@pytest.mark.parametrize("columns", [[], ["a", "a"], ["new\nline"]])
def test_columns_of_an_own_source_are_checked(columns):
    """Names are public and must be names."""
    with pytest.raises((ParameterError, FileError)):
        Dicts([], columns)


# ledger stores


class InApplication(SqlStore):
    """A ledger in an SQLite file with other tables."""

    def __init__(self, path):
        self.name = "the ledger"
        self._path = path

    begin = "BEGIN IMMEDIATE"

    @contextmanager
    def transaction(self, *, write):
        """One transaction."""
        with closing(sqlite3.connect(self._path, timeout=30, isolation_level=None)) as connection:
            connection.execute(self.begin if write else "BEGIN")
            try:
                yield lambda statement, values: connection.execute(statement, values).fetchall()
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            self.commit(connection)

    def commit(self, connection):
        """Commit."""
        connection.execute("COMMIT")


class ByItself(InApplication):
    """Every statement is its own transaction."""

    @contextmanager
    def transaction(self, *, write):
        """None."""
        with closing(sqlite3.connect(self._path, timeout=30, isolation_level=None)) as connection:
            yield lambda statement, values: connection.execute(statement, values).fetchall()


class NotAlone(InApplication):
    """Writers do not keep each other out until they write."""

    begin = "BEGIN"


class Forgetful(InApplication):
    """Nothing is ever committed."""

    def commit(self, connection):
        """Do not."""
        connection.execute("ROLLBACK")


class Talkative(InApplication):
    """Answers are changed on the way."""

    @contextmanager
    def transaction(self, *, write):
        """A transaction that garbles what it reads."""
        with super().transaction(write=write) as execute:
            yield lambda statement, values: [
                tuple(cell.replace("ü", "ue") if isinstance(cell, str) else cell for cell in row)
                for row in execute(statement, values)
            ]


@pytest.mark.parametrize("kind", [InApplication, None], ids=["own", "sqlite"])
def test_a_store_that_keeps_the_rules_passes(kind, tmp_path):
    """One of one's own, beside other tables, and tinct's."""
    path = str(tmp_path / "app.db")
    if kind is None:
        check_store(lambda: store_at(path, 30.0))
        return
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE application (x)")
    check_store(lambda: kind(path))


@pytest.mark.parametrize("kind", [ByItself, NotAlone, Forgetful, Talkative], ids=lambda kind: kind.__name__)
def test_a_store_that_breaks_a_rule_is_found_out(kind, tmp_path):
    """No rollback, no lock, no commit, other text."""
    with pytest.raises(ParameterError, match="not a ledger store: "):
        check_store(lambda: kind(str(tmp_path / "app.db")))


def test_asking_with_an_own_store(tmp_path):
    """The store in place of a path; a budget that is used up refuses."""
    path = str(tmp_path / "app.db")
    ledger = Ledger(InApplication(path), epsilon=1)
    rows = Dicts([{"support": "yes"}] * 300)
    assert ask(rows, "majority(support)", epsilon=1, ledger=ledger).value == "yes"
    with pytest.raises(Exception, match="the ledger: scope 'default': not enough privacy is left"):
        ask(rows, "majority(support)", epsilon="0.1", ledger=InApplication(path))
    with pytest.raises(FileError, match="there is no ledger"):
        Ledger(InApplication(str(tmp_path / "other.db")))
    assert ledger.audit() == 1


def test_a_commit_that_nobody_confirmed_draws_nothing(tmp_path):
    """The ledger says that it does not know, and how to find out."""
    path = str(tmp_path / "app.db")
    Ledger(InApplication(path), epsilon=1)

    class Unsure(InApplication):
        @contextmanager
        def transaction(self, *, write):
            with super().transaction(write=write) as execute:
                yield execute
            if write:
                raise NotCommitted("the line is dead")

    drawn = []
    with pytest.raises(FileError, match="It is not known whether it was charged; nothing was drawn"):
        Ledger(Unsure(path)).charge(lambda: drawn.append(1), epsilon="0.5", request="r")
    assert drawn == []
    assert Ledger(InApplication(path)).charge(lambda: "x", epsilon="0.5", request="r").answer == "x"
    assert Ledger(InApplication(path)).spent().epsilon == Fraction(1, 2)


def test_a_database_that_cannot_be_reached_is_not_one_without_a_ledger(tmp_path):
    """Nobody is told to make a ledger because the old one cannot be seen at the moment."""
    with pytest.raises(FileError, match=r"the database cannot go on .OperationalError"):
        Ledger(InApplication(str(tmp_path / "no folder" / "app.db")))


def test_errors_of_the_database_quote_nothing(tmp_path):
    """Its own text may hold an answer."""

    class Loud(InApplication):
        @contextmanager
        def transaction(self, *, write):
            with super().transaction(write=write) as execute:

                def run(statement, values):
                    if "INSERT INTO tinct_answers" in statement:
                        raise RuntimeError(f"cannot store {values}")
                    return execute(statement, values)

                yield run

    ledger = Ledger(Loud(str(tmp_path / "app.db")), epsilon=1)
    with pytest.raises(NotAnswered) as caught:
        ledger.charge(lambda: "secret", epsilon="0.5", request="r")
    assert "secret" not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert ledger.spent().epsilon == Fraction(1, 2)
