"""The questions whose answers are numbers: what each counts, and how many of its numbers one person can change."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from tinct.errors import ParameterError
from tinct.questions.counts import Categories, Condition
from tinct.questions.positions import ADD_REMOVE, REPLACE, Histograms, capped, require_counts, require_relation
from tinct.questions.predicates import Coded, Literal, list_text, literal_text, name_text
from tinct.questions.questions import Question, as_predicate, majority, mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from tinct.questions.counts import Counts, GroupCounts
    from tinct.questions.predicates import Predicate

Number = int | dict[str, int]


class Numbers(Question):
    """A question that is answered by one number or several, each with its own draw of noise.

    Between neighbours ``changes`` of them differ, each by one; so noise that hides a step of one hides one person
    (docs/proofs/counts.md).
    """

    word: ClassVar[str]
    least: ClassVar[int | None] = 0  # no true number is smaller

    def changes(self, neighbors: str) -> int:
        """How many of the numbers one person can change, each by one."""
        require_relation(neighbors, 0 if neighbors == REPLACE else None)
        return 1

    @abstractmethod
    def numbers(self, counts: Counts, n: int | None) -> tuple[int, ...]:
        """The true numbers, of at most n people if n is public. They are secret."""

    @abstractmethod
    def many_numbers(self, counts: GroupCounts) -> NDArray[Any]:
        """The true numbers of many groups, one row for each."""

    @abstractmethod
    def answer(self, noisy: Sequence[int]) -> Number:
        """The answer from the noisy numbers."""

    @property
    @abstractmethod
    def longest(self) -> Sequence[str]:
        """The names of the numbers in the longest answer; one number on its own has none."""

    def family(self, neighbors: str, n: int | None = None) -> NoReturn:  # noqa: ARG002 # one shape for all
        """Numbers have no boundary."""
        raise ParameterError(f"{self.word} is answered by numbers: there is no boundary between answers")

    @property
    def answers(self) -> tuple[Literal, ...]:
        """They are numbers, too many to list."""
        return ()


@dataclass(frozen=True)
class Count(Numbers):
    """For how many rows a predicate is true."""

    predicate: Predicate
    word: ClassVar[str] = "count"

    @property
    def counted(self) -> Condition:
        """Rows for which the predicate is true, and for which it is false."""
        return Condition(self.predicate)

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        return f"how many {many} are there with {self.predicate}?"

    def numbers(self, counts: Counts, n: int | None) -> tuple[int, ...]:
        """The number of rows, or n if there are more."""
        require_counts(counts, 2)
        return (counts.classes[0] if n is None else min(counts.classes[0], n),)

    def many_numbers(self, counts: GroupCounts) -> NDArray[Any]:
        """The same for each group."""
        return counts.classes[:, :1]

    def answer(self, noisy: Sequence[int]) -> Number:
        """The number."""
        return noisy[0]

    @property
    def longest(self) -> Sequence[str]:
        """It has no name."""
        return ()

    def __str__(self) -> str:
        return f"count({self.predicate})"


@dataclass(frozen=True)
class Margin(Count):
    """By how much the rows for which a predicate is true outnumber those for which it is false."""

    predicate: Predicate
    word: ClassVar[str] = "margin"
    least: ClassVar[int | None] = None

    def changes(self, neighbors: str) -> int:
        """One person who comes or goes moves it by one; one who changes sides would move it by two."""
        if neighbors != ADD_REMOVE:
            raise ParameterError.about(
                "neighbors",
                "margin needs `neighbors='add-remove'`: a person who changes from yes to no moves it by 2. Ask for the "
                "count of the yeses, from which it follows if everybody says yes or no",
            )
        return super().changes(neighbors)

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        asked = majority(self.predicate)
        if asked.column is None:
            return f"for how many more {many} is {self.predicate} true than false?"
        coded = ""
        if isinstance(self.predicate, Coded):
            yes, no = (" or ".join(map(literal_text, each)) for each in (self.predicate.yes, self.predicate.no))
            coded = f", where {yes} is a yes and {no} a no"
        return f"how many more {many} say yes than no in {name_text(asked.column)}{coded}?"

    def numbers(self, counts: Counts, n: int | None) -> tuple[int, ...]:  # noqa: ARG002 # n is never public here
        """Yes minus no."""
        require_counts(counts, 2)
        return (counts.classes[0] - counts.classes[1],)

    def many_numbers(self, counts: GroupCounts) -> NDArray[Any]:
        """The same for each group."""
        return counts.classes[:, :1] - counts.classes[:, 1:]

    def __str__(self) -> str:
        return str(majority(self.predicate)).replace("majority(", "margin(", 1)


@dataclass(frozen=True)
class Histogram(Numbers):
    """How many rows are in each of the listed categories."""

    column: str
    categories: tuple[Literal, ...]
    rest: Literal | None = None
    word: ClassVar[str] = "histogram"

    @property
    def counted(self) -> Categories:
        """How to count the rows of each category."""
        return Categories(self.column, self.categories)

    def changes(self, neighbors: str) -> int:
        """Whoever changes category is missed in one and counted in another."""
        return super().changes(neighbors) + (neighbors == REPLACE)

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        return f"how many {many} are there of each of {self._listed}"

    @property
    def _listed(self) -> str:
        others = "are not counted" if self.rest is None else f"count as {literal_text(self.rest)}"
        return f"{list_text(self.categories)} in {name_text(self.column)}? (all others {others})"

    def numbers(self, counts: Counts, n: int | None) -> tuple[int, ...]:
        """The number of rows of each category, of n at most together."""
        found = Histograms(ADD_REMOVE, None, self.categories, self._rest).histogram(counts)
        return found if n is None else tuple(capped(found, n))

    def many_numbers(self, counts: GroupCounts) -> NDArray[Any]:
        """The same for each group."""
        if self._rest is None:
            return counts.classes
        found = counts.classes.copy()
        found[:, self._rest] += counts.missing
        return found

    def answer(self, noisy: Sequence[int]) -> Number:
        """Each category with its number."""
        return dict(zip(self.names, noisy, strict=True))

    @property
    def names(self) -> tuple[str, ...]:
        """The categories as text, by which the answer names them."""
        return tuple(each if isinstance(each, str) else literal_text(each) for each in self.categories)

    @property
    def longest(self) -> Sequence[str]:
        """All of them."""
        return self.names

    @property
    def _rest(self) -> int | None:
        return None if self.rest is None else self.categories.index(self.rest)

    def __str__(self) -> str:
        return f"{self.word}({name_text(self.column)}, categories={list_text(self.categories)}{self._end})"

    @property
    def _end(self) -> str:
        return "" if self.rest is None else f", rest={literal_text(self.rest)}"


@dataclass(frozen=True)
class Top(Histogram):
    """Which k of the listed categories are the most frequent, and how frequent each is."""

    k: int = 1
    word: ClassVar[str] = "top"

    def meaning_for(self, one: str, many: str) -> str:  # noqa: ARG002 # one shape for all
        """The question in words."""
        which = "which is" if self.k == 1 else f"which {self.k:,} are"
        return f"{which} the most frequent, with how many {many}, of {self._listed}"

    def answer(self, noisy: Sequence[int]) -> Number:
        """The k with the largest noisy numbers, from the largest down; of equal ones those listed first."""
        order = sorted(range(len(noisy)), key=lambda at: -noisy[at])
        return {self.names[at]: noisy[at] for at in order[: self.k]}

    @property
    def longest(self) -> Sequence[str]:
        """Those with the longest names."""
        return sorted(self.names, key=lambda name: -len(ascii(name)))[: self.k]

    @property
    def _end(self) -> str:
        return f"{super()._end}, k={self.k}"


def count(predicate: str | Predicate) -> Count:
    """For how many rows is the predicate true? The answer is this number with noise, and how far it may be off.

    >>> print(count("age >= 65"))
    count(age >= 65)
    """
    return Count(as_predicate(predicate))


def margin(
    column: str | Predicate,
    *,
    yes: Literal | Sequence[Literal] | None = None,
    no: Literal | Sequence[Literal] | None = None,
) -> Margin:
    """How many more rows say yes than no? The arguments are those of ``majority``.

    >>> print(margin("support"))
    margin(support)
    """
    return Margin(majority(column, yes=yes, no=no).predicate)


def histogram(column: str, categories: Iterable[Literal], rest: Literal | None = None) -> Histogram:
    """How many rows are in each of the categories?

    Cells that are missing or not in the list are not counted, or count for the category ``rest`` if it is given.

    >>> print(histogram("reason", ["checkup", "injury"]))
    histogram(reason, categories=['checkup', 'injury'])
    """
    asked = mode(column, categories, rest)
    return Histogram(asked.column, asked.categories, asked.rest)


def top(column: str, categories: Iterable[Literal], k: int = 1, rest: Literal | None = None) -> Top:
    """Which k of the categories are the most frequent, and how many rows does each have?

    >>> print(top("reason", ["checkup", "injury", "other"], k=2))
    top(reason, categories=['checkup', 'injury', 'other'], k=2)
    """
    asked = mode(column, categories, rest)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= len(asked.categories):
        raise ParameterError.of("k", f"a whole number from 1 to {len(asked.categories):,}, how many there are", k)
    return Top(asked.column, asked.categories, asked.rest, int(k))
