"""The questions that can be asked: what each counts, what its answer means, and which family its datasets form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.numbers.amounts import fraction_text, rational
from tinct.questions.counts import Categories, Condition, Counts, Several
from tinct.questions.own_questions import OwnLine
from tinct.questions.positions import ADD_REMOVE, MAX_COUNT, Histograms, Line, require_relation
from tinct.questions.predicates import (
    PREDICATES,
    Coded,
    Comparison,
    Literal,
    Predicate,
    list_text,
    literal,
    literal_text,
    literals,
    name_text,
    require_column,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tinct.numbers.amounts import NumberLike


class Question(ABC):
    """A question about rows. ``str(question)`` is its one written form, which ``parse`` reads back."""

    @property
    @abstractmethod
    def counted(self) -> Condition | Categories | Several:
        """What has to be counted to answer it."""

    @property
    def meaning(self) -> str:
        """What is asked, in a sentence; public."""
        return self.meaning_for("row", "rows")

    @abstractmethod
    def meaning_for(self, one: str, many: str) -> str:
        """The same with another word for what is counted, such as person and people."""

    @property
    def answers(self) -> tuple[Literal, ...]:
        """All possible answers, in order."""
        return ("no", "yes")

    @abstractmethod
    def family(self, neighbors: str, n: int | None = None) -> Line | OwnLine | Histograms:
        """Where the datasets of this question lie, for a neighbour relation (and its public number of rows)."""


class YesNo(Question):
    """A question answered by yes or no, from how many rows are in each class.

    A question of your own is a subclass that says all that is abstract here (docs/extending/question.md). Its
    positions are compared with distances found by search, and a wrong one is refused before anything is charged.
    """

    @abstractmethod
    def truth(self, classes: tuple[int, ...]) -> bool:
        """The true answer if so many rows are in each class."""

    @abstractmethod
    def position(self, classes: tuple[int, ...], neighbors: str, n: int | None) -> int:
        """How far the answer is from changing: r − 1 for a yes and −r for a no.

        r is the least number of steps to a dataset with the other answer. With ``neighbors="add-remove"`` a step
        changes one class by one row, and n is None; with ``"replace"`` it moves one of n rows to another class, or from
        or to those that are in none.
        """

    @abstractmethod
    def __str__(self) -> str: ...

    def family(self, neighbors: str, n: int | None = None) -> Line | OwnLine:
        """Where the datasets of this question lie, for a neighbour relation (and its public number of rows)."""
        return OwnLine.of(self, *require_relation(neighbors, n))


def require_own_or_tincts(question: Question) -> None:
    """A class derived from one of tinct's own questions would be answered by what its parent says; it is refused."""
    kind = type(question)
    own = (__name__, "tinct.questions.number_questions")
    known = [parent for parent in kind.__mro__ if parent.__module__ in own and parent not in (YesNo, Question)]
    if known and known[0] is not kind:
        raise ParameterError(
            f"{kind.__name__} derives from {known[0].__name__}, which is answered by its own formula: a question of "
            "your own derives from YesNo"
        )


class Weighted(YesNo):
    """One of the questions that come with tinct: about T true and F false rows, with distances that are proved."""

    @property
    @abstractmethod
    def counted(self) -> Condition:
        """Rows for which something is true, and for which it is false."""

    @abstractmethod
    def _weights(self) -> tuple[int, int, int]:
        """The gain of a true row, the loss of a false one, and the bar: yes if gain·T − loss·F ≥ bar."""

    def truth(self, classes: tuple[int, ...]) -> bool:
        """The true answer if so many rows are true and false."""
        return self.family(ADD_REMOVE).truth(Counts(sum(classes), classes))

    def position(self, classes: tuple[int, ...], neighbors: str, n: int | None) -> int:
        """How far the answer is from changing."""
        return self.family(neighbors, n).position(Counts(sum(classes), classes))

    def family(self, neighbors: str, n: int | None = None) -> Line:
        """Where the datasets of this question lie, for a neighbour relation (and its public number of rows)."""
        gain, loss, bar = self._weights()
        relation = require_relation(neighbors, n)
        return Line(*relation, gain, loss, bar, selection=isinstance(self, Exists), flipped=self._flipped)

    @property
    def _flipped(self) -> bool:
        """Whether it is yes where the weights say no."""
        return False


@dataclass(frozen=True)
class Bound:
    """What is compared with what: at least, above, at most or below a number.

    At most is not above, and below is not at least.
    """

    word: str
    value: Any

    @property
    def strict(self) -> bool:
        """Whether the number itself is too little to reach it, or, for at most, still within it."""
        return self.word in ("above", "at_most")

    @property
    def flipped(self) -> bool:
        """Whether it bounds from above."""
        return self.word in ("at_most", "below")

    def said(self, value: str) -> str:
        """In words, such as ``at least 3``."""
        return f"{self.word.replace('_', ' ')} {value}"

    def __str__(self) -> str:
        value = fraction_text(self.value) if isinstance(self.value, Fraction) else literal_text(float(self.value))
        return f"{self.word}={value if not isinstance(self.value, int) else self.value}"


BOUNDS = ("at_least", "above", "at_most", "below")


def _bound(word: str, given: Mapping[str, Any]) -> tuple[str, Any]:
    """The one bound that is given."""
    named = [name for name in BOUNDS if given.get(name) is not None]
    if len(named) != 1:
        got = f", got {' and '.join(named)}" if named else ""
        raise ParameterError(f"{word} needs one of {', '.join(BOUNDS)}{got}")
    return named[0], given[named[0]]


class Bounded(Weighted):
    """A question whether something reaches, or stays within, a bound."""

    bound: Bound

    @property
    def _flipped(self) -> bool:
        return self.bound.flipped


@dataclass(frozen=True)
class Majority(Weighted):
    """Whether a predicate is true for more rows than it is false for; of a column, whether more say yes than no."""

    predicate: Predicate

    @property
    def column(self) -> str | None:
        """The column that says yes or no, if it is one."""
        simple = isinstance(self.predicate, Coded) or self.predicate == Comparison(
            getattr(self.predicate, "column", "none"), "==", True
        )
        return getattr(self.predicate, "column", None) if simple else None

    @property
    def counted(self) -> Condition:
        """Rows that say yes, and rows that say no."""
        return Condition(self.predicate)

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        if self.column is None:
            return f"is {self.predicate} true for more {many} than it is false for? (a tie is a no)"
        coded = ""
        if isinstance(self.predicate, Coded):
            yes, no = (" or ".join(map(literal_text, each)) for each in (self.predicate.yes, self.predicate.no))
            coded = f", where {yes} is a yes and {no} a no"
        return f"do more {many} say yes than no in {name_text(self.column)}{coded}? (a tie is a no)"

    def _weights(self) -> tuple[int, int, int]:
        return 1, 1, 1

    def __str__(self) -> str:
        plain = self.column is not None and not isinstance(self.predicate, Coded)
        return f"majority({name_text(str(self.column)) if plain else self.predicate})"


@dataclass(frozen=True)
class Threshold(Bounded):
    """Whether a predicate is true for at least a given number of rows, or for at most that many."""

    predicate: Predicate
    bound: Bound

    @property
    def counted(self) -> Condition:
        """Rows for which the predicate is true, and for which it is false."""
        return Condition(self.predicate)

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        number = {"at_least": "at least {}", "above": "more than {}", "at_most": "at most {}", "below": "fewer than {}"}
        return f"are there {number[self.bound.word].format(f'{self.bound.value:,}')} {many} with {self.predicate}?"

    def _weights(self) -> tuple[int, int, int]:
        return 1, 0, self.bound.value + self.bound.strict

    def __str__(self) -> str:
        return f"threshold({self.predicate}, {self.bound})"


@dataclass(frozen=True)
class Share(Bounded):
    """Whether a predicate is true for at least, or at most, such a share of the rows where it is true or false."""

    predicate: Predicate
    bound: Bound

    @property
    def counted(self) -> Condition:
        """Rows for which the predicate is true, and for which it is false."""
        return Condition(self.predicate)

    def meaning_for(self, one: str, many: str) -> str:  # one shape for all
        """The question in words."""
        nobody = "yes" if self.bound.flipped else "no"
        return (
            f"is {self.predicate} true for a share of {self.bound.said(fraction_text(self.bound.value))} of the {many} "
            f"where it is true or false? (if there is no such {one}: {nobody})"
        )

    def _weights(self) -> tuple[int, int, int]:
        # T/(T + F) ≥ a/b  ⇔  (b − a)·T − a·F ≥ 0, and above it ≥ 1
        share = self.bound.value
        return share.denominator - share.numerator, share.numerator, int(self.bound.strict)

    def __str__(self) -> str:
        return f"share({self.predicate}, {self.bound})"


class Placed(Bounded):
    """Whether a quantile of a column lies above a number, at or above it, or not."""

    column: str

    @property
    def counted(self) -> Condition:
        """Rows with a value beyond the bound, and rows with another value."""
        return Condition(Comparison(self.column, ">" if self.bound.strict else ">=", self.bound.value))

    def _explained(self) -> tuple[str, str]:
        """What the bound is, and which values it divides."""
        bound = literal_text(self.bound.value)
        return f"{self.bound.said(bound)}", f"{bound} or less" if self.bound.strict else f"less than {bound}"


@dataclass(frozen=True)
class Quantile(Placed):
    """Whether the q-quantile of a column, the least value that a share q of the values does not exceed, is above x."""

    column: str
    q: Fraction
    bound: Bound

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        share, column = fraction_text(self.q), name_text(self.column)
        bound, low = self._explained()
        which = "at least" if self.bound.flipped else "less than"
        return (
            f"is the {share}-quantile of {column} {bound}, that is, are {which} a share {share} of its values {low}? "
            f"(if there are no values: {'yes' if self.bound.flipped else 'no'})"
        )

    def _weights(self) -> tuple[int, int, int]:
        # F < q·(T + F) with q = a/b  ⇔  a·T − (b − a)·F ≥ 1
        return self.q.numerator, self.q.denominator - self.q.numerator, 1

    def __str__(self) -> str:
        return f"quantile({name_text(self.column)}, {fraction_text(self.q)}, {self.bound})"


@dataclass(frozen=True)
class Median(Placed):
    """Whether the median of a column, the lower of the two middle values if their number is even, is above x."""

    column: str
    bound: Bound

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        bound, low = self._explained()
        if self.bound.flipped:
            rest = f"are at least half of its values {low}? (if there are no values: yes)"
        else:
            above = literal_text(self.bound.value)
            high = f"above {above}" if self.bound.strict else f"{above} or more"
            rest = f"are more of its values {high} than not? (a tie is a no)"
        return f"is the median of {name_text(self.column)} {bound}, that is, {rest}"

    def _weights(self) -> tuple[int, int, int]:
        return 1, 1, 1

    def __str__(self) -> str:
        return f"median({name_text(self.column)}, {self.bound})"


@dataclass(frozen=True)
class Exists(Weighted):
    """Whether a predicate is true for any row; the answer is never yes if it is not."""

    predicate: Predicate

    @property
    def counted(self) -> Condition:
        """Rows for which the predicate is true, and for which it is false."""
        return Condition(self.predicate)

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        return f"is there a {one} with {self.predicate}? (never answered yes if there is none)"

    def _weights(self) -> tuple[int, int, int]:
        return 1, 0, 1

    def __str__(self) -> str:
        return f"exists({self.predicate})"


@dataclass(frozen=True)
class Mode(Question):
    """Which of the listed categories is the most frequent."""

    column: str
    categories: tuple[Literal, ...]
    rest: Literal | None = None

    @property
    def counted(self) -> Categories:
        """How to count the rows of each category."""
        return Categories(self.column, self.categories)

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        others = "count as missing" if self.rest is None else f"count as {literal_text(self.rest)}"
        return (
            f"which of {list_text(self.categories)} is most frequent in {name_text(self.column)}? (all others {others})"
        )

    @property
    def answers(self) -> tuple[Literal, ...]:
        """The categories of the question."""
        return self.categories

    def family(self, neighbors: str, n: int | None = None) -> Histograms:
        """The histograms of this question, for a neighbour relation (and its public number of rows)."""
        rest = None if self.rest is None else self.categories.index(self.rest)
        return Histograms(*require_relation(neighbors, n), self.categories, rest)

    def __str__(self) -> str:
        rest = "" if self.rest is None else f", rest={literal_text(self.rest)}"
        return f"mode({name_text(self.column)}, categories={list_text(self.categories)}{rest})"


def majority(
    column: str | Predicate,
    *,
    yes: Literal | Sequence[Literal] | None = None,
    no: Literal | Sequence[Literal] | None = None,
) -> Majority:
    """Do more rows say yes than no? A tie is a no, and so is a column without any yes or no.

    ``yes`` and ``no`` are the values that mean yes and no, if the column has other words or numbers for them. Instead
    of a column there may be a predicate: is it true for more rows than it is false for?

    >>> print(majority("support"), majority("vote", yes="Y", no="N"))
    majority(support) majority(vote, yes='Y', no='N')
    """
    if isinstance(column, PREDICATES):
        if yes is not None or no is not None:
            raise ParameterError("yes and no are the words of a column: a predicate is true or false by itself")
        return Majority(column)
    name = require_column(column)
    if yes is None and no is None:
        return Majority(Comparison(name, "==", True))
    if yes is None or no is None:
        raise ParameterError("majority needs both yes and no, or neither: which values mean yes, and which no")
    return Majority(Coded(name, _several(yes), _several(no)))


def threshold(
    predicate: str | Predicate,
    at_least: int | None = None,
    *,
    above: int | None = None,
    at_most: int | None = None,
    below: int | None = None,
) -> Threshold:
    """Is the predicate true for at least ``at_least`` rows? Rows for which it is unknown do not count.

    ``above``, ``at_most`` or ``below`` may stand in its place.

    >>> print(threshold("age >= 65 and ward == 'N'", at_least=100))
    threshold(age >= 65 and ward == 'N', at_least=100)
    """
    word, given = _bound("threshold", {"at_least": at_least, "above": above, "at_most": at_most, "below": below})
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 0 <= given < MAX_COUNT:
        raise ParameterError.of(word, "a whole number between 0 and 10^18", given)
    return Threshold(as_predicate(predicate), Bound(word, int(given)))


def share(
    predicate: str | Predicate,
    at_least: NumberLike | None = None,
    *,
    above: NumberLike | None = None,
    at_most: NumberLike | None = None,
    below: NumberLike | None = None,
) -> Share:
    """Is the predicate true for at least this share of the rows for which it is true or false?

    The share is exact: 0.3 means three tenths, and ``"1/3"`` is a third. The share of no rows at all is taken to be
    too small. ``above``, ``at_most`` or ``below`` may stand in place of ``at_least``.

    >>> print(share("smokes == yes", at_least=0.3))
    share(smokes == yes, at_least=0.3)
    """
    word, given = _bound("share", {"at_least": at_least, "above": above, "at_most": at_most, "below": below})
    exact = _fraction(given, word)
    if word in ("at_least", "below") and not 0 < exact <= 1:
        raise ParameterError.of(word, "above 0 and at most 1", given, _as_percent(exact))
    if word in ("above", "at_most") and not 0 <= exact < 1:
        raise ParameterError.of(word, "at least 0 and below 1", given, _as_percent(exact))
    return Share(as_predicate(predicate), Bound(word, exact))


def median(
    column: str,
    above: float | None = None,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
) -> Median:
    """Is the median above ``above``? Of an even number of values the median is the lower of the two in the middle.

    ``at_least``, ``at_most`` or ``below`` may stand in its place.

    >>> print(median("cost", above=1200))
    median(cost, above=1200)
    """
    word, given = _bound("median", {"at_least": at_least, "above": above, "at_most": at_most, "below": below})
    return Median(require_column(column), Bound(word, _number(given, word)))


def quantile(
    column: str,
    q: NumberLike,
    above: float | None = None,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
) -> Quantile:
    """Is the q-quantile above ``above``? It is the least value that at least a share q of the values does not exceed.

    ``q`` is exact, as in ``share``; ``q=1`` is the largest value. ``at_least``, ``at_most`` or ``below`` may stand in
    place of ``above``.

    >>> print(quantile("cost", 0.9, above=1200))
    quantile(cost, 0.9, above=1200)
    """
    exact = _fraction(q, "q")
    if not 0 < exact <= 1:
        hint = _as_percent(exact) or ": for the least value ask share(column > x, at_least=1)"
        raise ParameterError.of("q", "above 0 and at most 1", q, hint)
    word, given = _bound("quantile", {"at_least": at_least, "above": above, "at_most": at_most, "below": below})
    return Quantile(require_column(column), exact, Bound(word, _number(given, word)))


def exists(predicate: str | Predicate) -> Exists:
    """Is the predicate true for any row? The answer is never yes if there is none.

    >>> print(exists("diagnosis == 'measles'"))
    exists(diagnosis == 'measles')
    """
    return Exists(as_predicate(predicate))


def mode(column: str, categories: Iterable[Literal], rest: Literal | None = None) -> Mode:
    """Which of the categories is the most frequent?

    Cells that are missing or not in the list are not counted, or count for the category ``rest`` if it is given.

    >>> print(mode("reason", ["checkup", "injury", "other"], rest="other"))
    mode(reason, categories=['checkup', 'injury', 'other'], rest='other')
    """
    names = literals(categories, "categories", at_least=2)
    other = None if rest is None else literal(rest)
    if other is not None and not any(other == name and type(other) is type(name) for name in names):
        raise ParameterError.of("rest", "one of the categories", ..., f", got {literal_text(other)}")
    return Mode(require_column(column), names, other)


def as_predicate(given: str | Predicate) -> Predicate:
    """A predicate, or the one that a text states."""
    if isinstance(given, PREDICATES):
        return given
    from tinct.questions.grammar import parse_predicate  # it needs the functions above

    return parse_predicate(given)


def _fraction(given: NumberLike, name: str) -> Fraction:
    if isinstance(given, str) and given.rstrip().endswith("%"):
        return rational(given.rstrip()[:-1].rstrip(), name) / 100
    # a float stands for the decimal it is printed as: 0.3 is three tenths, not 0.299999999999999988897769753748…
    return rational(repr(float(given)) if isinstance(given, float) else given, name)


def _as_percent(exact: Fraction) -> str:
    """What somebody meant who wrote percent as a number."""
    return f": did you mean {fraction_text(exact)}%, or {fraction_text(exact / 100)}?" if 1 < exact <= 100 else ""


def _several(given: Literal | Sequence[Literal]) -> tuple[Literal, ...]:
    return (given,) if isinstance(given, str | float | int) else tuple(given)


def _number(given: object, name: str) -> float:
    found = None if isinstance(given, bool | str) else literal(given)
    if found is None:
        raise ParameterError.of(name, "a finite number", given)
    return float(found)
