"""The questions that can be asked: what each counts, what its answer means, and which family its datasets form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.numbers.amounts import fraction_text, rational
from tinct.questions.counts import Categories, Condition, Counts
from tinct.questions.own_questions import OwnLine
from tinct.questions.positions import ADD_REMOVE, MAX_COUNT, Histograms, Line, require_relation
from tinct.questions.predicates import (
    PREDICATES,
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
    from collections.abc import Iterable
    from fractions import Fraction

    from tinct.numbers.amounts import NumberLike


class Question(ABC):
    """A question about rows. ``str(question)`` is its one written form, which ``parse`` reads back."""

    @property
    @abstractmethod
    def counted(self) -> Condition | Categories:
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
    known = [parent for parent in kind.__mro__ if parent.__module__ == __name__ and parent not in (YesNo, Question)]
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
        return Line(*require_relation(neighbors, n), gain, loss, bar, selection=isinstance(self, Exists))


@dataclass(frozen=True)
class Majority(Weighted):
    """Whether more rows say yes than no."""

    column: str

    @property
    def counted(self) -> Condition:
        """Rows that say yes, and rows that say no."""
        return Condition(Comparison(self.column, "==", True))

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        return f"do more {many} say yes than no in {name_text(self.column)}? (a tie is a no)"

    def _weights(self) -> tuple[int, int, int]:
        return 1, 1, 1

    def __str__(self) -> str:
        return f"majority({name_text(self.column)})"


@dataclass(frozen=True)
class Threshold(Weighted):
    """Whether a predicate is true for at least a given number of rows."""

    predicate: Predicate
    at_least: int

    @property
    def counted(self) -> Condition:
        """Rows for which the predicate is true, and for which it is false."""
        return Condition(self.predicate)

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        return f"are there at least {self.at_least:,} {many} with {self.predicate}?"

    def _weights(self) -> tuple[int, int, int]:
        return 1, 0, self.at_least

    def __str__(self) -> str:
        return f"threshold({self.predicate}, at_least={self.at_least})"


@dataclass(frozen=True)
class Share(Weighted):
    """Whether a predicate is true for at least such a share of the rows for which it is true or false."""

    predicate: Predicate
    at_least: Fraction

    @property
    def counted(self) -> Condition:
        """Rows for which the predicate is true, and for which it is false."""
        return Condition(self.predicate)

    def meaning_for(self, one: str, many: str) -> str:  # one shape for all
        """The question in words."""
        return (
            f"is {self.predicate} true for a share of at least {fraction_text(self.at_least)} of the {many} where it "
            f"is true or false? (if there is no such {one}: no)"
        )

    def _weights(self) -> tuple[int, int, int]:
        # T/(T + F) ≥ a/b  ⇔  (b − a)·T − a·F ≥ 0
        return self.at_least.denominator - self.at_least.numerator, self.at_least.numerator, 0

    def __str__(self) -> str:
        return f"share({self.predicate}, at_least={fraction_text(self.at_least)})"


@dataclass(frozen=True)
class Quantile(Weighted):
    """Whether the q-quantile of a column, the least value that a share q of the values does not exceed, is above x."""

    column: str
    q: Fraction
    above: float

    @property
    def counted(self) -> Condition:
        """Rows with a value above x, and rows with a value up to x."""
        return Condition(Comparison(self.column, ">", self.above))

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        share, column, bound = fraction_text(self.q), name_text(self.column), literal_text(self.above)
        return (
            f"is the {share}-quantile of {column} above {bound}, that is, are less than a share {share} of its values "
            f"{bound} or less? (if there are no values: no)"
        )

    def _weights(self) -> tuple[int, int, int]:
        # F < q·(T + F) with q = a/b  ⇔  a·T − (b − a)·F ≥ 1
        return self.q.numerator, self.q.denominator - self.q.numerator, 1

    def __str__(self) -> str:
        place = f"{name_text(self.column)}, {fraction_text(self.q)}"
        return f"quantile({place}, above={literal_text(self.above)})"


@dataclass(frozen=True)
class Median(Weighted):
    """Whether the median of a column, the lower of the two middle values if their number is even, is above x."""

    column: str
    above: float

    @property
    def counted(self) -> Condition:
        """Rows with a value above x, and rows with a value up to x."""
        return Condition(Comparison(self.column, ">", self.above))

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        return (
            f"is the median of {name_text(self.column)} above {literal_text(self.above)}, that is, are more of its "
            f"values above {literal_text(self.above)} than not? (a tie is a no)"
        )

    def _weights(self) -> tuple[int, int, int]:
        return 1, 1, 1

    def __str__(self) -> str:
        return f"median({name_text(self.column)}, above={literal_text(self.above)})"


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


def majority(column: str) -> Majority:
    """Do more rows say yes than no? A tie is a no, and so is a column without any yes or no.

    >>> print(majority("support"))
    majority(support)
    """
    return Majority(require_column(column))


def threshold(predicate: str | Predicate, at_least: int) -> Threshold:
    """Is the predicate true for at least ``at_least`` rows? Rows for which it is unknown do not count.

    >>> print(threshold("age >= 65 and ward == 'N'", at_least=100))
    threshold(age >= 65 and ward == 'N', at_least=100)
    """
    if isinstance(at_least, bool) or not isinstance(at_least, int | np.integer) or not 0 <= at_least <= MAX_COUNT:
        raise ParameterError.of("at_least", "a whole number between 0 and 10^18", at_least)
    return Threshold(_predicate(predicate), int(at_least))


def share(predicate: str | Predicate, at_least: NumberLike) -> Share:
    """Is the predicate true for at least this share of the rows for which it is true or false?

    The share is exact: 0.3 means three tenths, and ``"1/3"`` is a third. The share of no rows at all is taken to be
    too small.

    >>> print(share("smokes == yes", at_least=0.3))
    share(smokes == yes, at_least=0.3)
    """
    return Share(_predicate(predicate), _fraction(at_least, "at_least", "every share is at least 0"))


def median(column: str, above: float) -> Median:
    """Is the median above ``above``? Of an even number of values the median is the lower of the two in the middle.

    >>> print(median("cost", above=1200))
    median(cost, above=1200)
    """
    return Median(require_column(column), _number(above, "above"))


def quantile(column: str, q: NumberLike, above: float) -> Quantile:
    """Is the q-quantile above ``above``? It is the least value that at least a share q of the values does not exceed.

    ``q`` is exact, as in ``share``; ``q=1`` is the largest value.

    >>> print(quantile("cost", 0.9, above=1200))
    quantile(cost, 0.9, above=1200)
    """
    hint = "for the least value ask share(column > x, at_least=1)"
    return Quantile(require_column(column), _fraction(q, "q", hint), _number(above, "above"))


def exists(predicate: str | Predicate) -> Exists:
    """Is the predicate true for any row? The answer is never yes if there is none.

    >>> print(exists("diagnosis == 'measles'"))
    exists(diagnosis == 'measles')
    """
    return Exists(_predicate(predicate))


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


def _predicate(given: str | Predicate) -> Predicate:
    if isinstance(given, PREDICATES):
        return given
    from tinct.questions.grammar import parse_predicate  # it needs the functions above

    return parse_predicate(given)


def _fraction(given: NumberLike, name: str, hint: str) -> Fraction:
    # a float stands for the decimal it is printed as: 0.3 is three tenths, not 0.299999999999999988897769753748…
    exact = rational(repr(float(given)) if isinstance(given, float) else given, name)
    if not 0 < exact <= 1:
        raise ParameterError.of(name, "above 0 and at most 1", given, f": {hint}")
    return exact


def _number(given: object, name: str) -> float:
    found = None if isinstance(given, bool | str) else literal(given)
    if found is None:
        raise ParameterError.of(name, "a finite number", given)
    return float(found)
