"""Conditions on one row: comparisons of a column with a literal, joined by and, or, not.

A predicate is data, not code: nothing here evaluates anything. A row can satisfy it, fail it, or be *missing* from it:
a comparison with a missing cell is unknown, and unknown goes through and, or, not as in SQL (Kleene's three values).
"""

from __future__ import annotations

import math
import numbers
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAME = 1000
MAX_TEXT = 1000
MAX_LIST = 1000
MAX_DEPTH = 200  # the grammar stays below it
OPERATORS = ("==", "!=", "<=", ">=", "<", ">")
RESERVED = frozenset({"and", "or", "not", "in", "between", "yes", "no", "true", "false"})
NUMBER, TEXT, YES_NO, DAY, LABEL = "number", "text", "yes/no", "day", "label"  # how a cell is read
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|\+00(:?00)?)?)?", re.ASCII)

Literal = float | str | bool


@dataclass(frozen=True)
class Comparison:
    """A column against a literal: ``age >= 65``, ``ward == 'N'``, ``smokes == yes``.

    >>> print(Comparison("age", ">=", 65.0))
    age >= 65
    """

    column: str
    operator: str
    value: Literal

    def __post_init__(self) -> None:
        require_column(self.column)
        if self.operator not in OPERATORS:
            raise ParameterError(f"an operator must be one of {' '.join(OPERATORS)}, got {self.operator!r:.80}")
        object.__setattr__(self, "value", literal(self.value))
        if isinstance(self.value, bool) and self.operator not in ("==", "!="):
            raise ParameterError(f"yes and no have no order: compare {name_text(self.column)} with == or !=")

    def __str__(self) -> str:
        return f"{name_text(self.column)} {self.operator} {literal_text(self.value)}"


@dataclass(frozen=True)
class Membership:
    """A column against a list: ``ward in ['N', 'S']``.

    >>> print(Membership("ward", ("N", "S")))
    ward in ['N', 'S']
    """

    column: str
    values: tuple[Literal, ...]

    def __post_init__(self) -> None:
        require_column(self.column)
        object.__setattr__(self, "values", literals(self.values, "a list after `in`"))

    def __str__(self) -> str:
        return f"{name_text(self.column)} in {list_text(self.values)}"


@dataclass(frozen=True)
class Not:
    """What is true where its part is false, and unknown where its part is."""

    part: Predicate

    def __str__(self) -> str:
        if isinstance(self.part, Membership):
            return f"{name_text(self.part.column)} not in {list_text(self.part.values)}"
        return f"not {self.part}" if isinstance(self.part, Not) else f"not ({self.part})"


@dataclass(frozen=True)
class And:
    """True where all parts are, false where one is false."""

    parts: tuple[Predicate, ...]

    def __str__(self) -> str:
        return " and ".join(_grouped(part, (And, Or)) for part in self.parts)


@dataclass(frozen=True)
class Or:
    """True where one part is, false where all are false."""

    parts: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        if not self.parts:  # it would read like an And without parts, which is true everywhere
            raise ParameterError.of("parts", "at least one predicate")

    def __str__(self) -> str:
        return " or ".join(_grouped(part, (Or,)) for part in self.parts)


@dataclass(frozen=True)
class Coded:
    """A column whose values mean yes or no: true for some, false for others, unknown for the rest.

    >>> print(Coded("vote", ("Y",), ("N", "B")))
    vote, yes='Y', no=['N', 'B']
    """

    column: str
    yes: tuple[Literal, ...]
    no: tuple[Literal, ...]

    def __post_init__(self) -> None:
        require_column(self.column)
        for name in ("yes", "no"):
            given = getattr(self, name)
            many = given if isinstance(given, tuple | list) else (given,)
            object.__setattr__(self, name, literals(many, name))
        literals((*self.yes, *self.no), "yes and no")  # of one kind, and none for both

    def __str__(self) -> str:
        yes, no = (literal_text(each[0]) if len(each) == 1 else list_text(each) for each in (self.yes, self.no))
        return f"{name_text(self.column)}, yes={yes}, no={no}"


Predicate = Comparison | Membership | Coded | Not | And | Or
PREDICATES = (Comparison, Membership, Coded, Not, And, Or)


def uses(predicate: Predicate) -> Iterator[tuple[str, str]]:
    """Each column of a predicate with how it is read: as a number, as text, or as yes/no.

    >>> list(uses(And((Comparison("age", ">", 17.0), Comparison("ward", "==", "N")))))
    [('age', 'number'), ('ward', 'text')]
    """
    if isinstance(predicate, Comparison):
        yield predicate.column, kind_of(predicate.value)
    elif isinstance(predicate, Membership | Coded):
        yield predicate.column, use_of(predicate)
    else:
        for part in (predicate.part,) if isinstance(predicate, Not) else predicate.parts:
            yield from uses(part)


def compared(predicate: Predicate) -> Iterator[tuple[str, str, Literal]]:
    """Each column of a predicate with how it is read and each value it is compared with.

    >>> list(compared(Membership("ward", ("N", "S"))))
    [('ward', 'text', 'N'), ('ward', 'text', 'S')]
    """
    if isinstance(predicate, Comparison):
        yield predicate.column, kind_of(predicate.value), predicate.value
    elif isinstance(predicate, Membership | Coded):
        values = predicate.values if isinstance(predicate, Membership) else (*predicate.yes, *predicate.no)
        yield from ((predicate.column, use_of(predicate), value) for value in values)
    else:
        for part in (predicate.part,) if isinstance(predicate, Not) else predicate.parts:
            yield from compared(part)


def require_shallow(predicate: Predicate) -> None:
    """Refuse a predicate nested so deep that some engine would give up on it."""
    level: list[Predicate] = [predicate]
    for _ in range(MAX_DEPTH):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return
    raise ParameterError(f"and, or and not may be nested {MAX_DEPTH} deep")


def _parts(predicate: Predicate) -> tuple[Predicate, ...]:
    if isinstance(predicate, Not):
        return (predicate.part,)
    return predicate.parts if isinstance(predicate, And | Or) else ()


def kind_of(value: Literal) -> str:
    """How the column next to a literal is read.

    >>> kind_of(65.0), kind_of("N"), kind_of("2024-12-31"), kind_of(True)
    ('number', 'text', 'day', 'yes/no')
    """
    if isinstance(value, bool):
        return YES_NO
    return NUMBER if not isinstance(value, str) else DAY if _DAY.fullmatch(value) else TEXT


def use_of(predicate: Membership | Coded) -> str:
    """How the column next to several literals is read: as days only if all of them are."""
    values = predicate.values if isinstance(predicate, Membership) else (*predicate.yes, *predicate.no)
    kinds = {kind_of(value) for value in values}
    return TEXT if kinds == {TEXT, DAY} else kinds.pop()


def literal(value: object) -> Literal:
    """A literal in its one form: a finite double, printable text, or a truth value.

    >>> literal(65), literal("N"), literal(True)
    (65.0, 'N', True)
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not value.strip():
            raise ParameterError("a text to compare with must not be blank: a blank cell counts as missing")
        if value != value.strip():
            raise ParameterError("a text to compare with must not begin or end with a space: cells are read without")
        return require_printable(value, "a text", MAX_TEXT)
    try:
        number = float(value) if isinstance(value, numbers.Real | Decimal) else math.nan
    except (ValueError, OverflowError):  # a signalling NaN, a whole number of 400 digits
        number = math.nan
    if not math.isfinite(number):
        raise ParameterError(f"a literal must be a finite number, a text, or yes or no, got {value!r:.80}")
    if isinstance(value, numbers.Integral) and int(value) != int(number):
        raise ParameterError(
            f"{value!r:.80} has more digits than numbers are compared with: compare it as text, in single quotes"
        )
    return number + 0.0  # no negative zero


def literals(values: object, name: str, *, at_least: int = 1, at_most: int = MAX_LIST) -> tuple[Literal, ...]:
    """A list of different literals of one kind."""
    if isinstance(values, str | set | frozenset | dict) or not hasattr(values, "__iter__"):
        raise ParameterError.of(name, "a list such as ['N', 'S']", values)
    found = tuple(literal(value) for value in values)
    if not at_least <= len(found) <= at_most:
        raise ParameterError.of(name, f"between {at_least} and {at_most:,} entries long", ..., f", got {len(found):,}")
    if len({kind_of(value).replace(DAY, TEXT) for value in found}) > 1:
        raise ParameterError.of(name, "only numbers, only texts, or only yes and no, not a mixture")
    seen: set[Literal] = set()
    for value in found:
        if value in seen:
            raise ParameterError.of(name, "without repeats", ..., f", got {literal_text(value)} twice")
        seen.add(value)
    return found


def require_column(name: object) -> str:
    """The name of a column, if it can be one."""
    if not isinstance(name, str) or not name:
        raise ParameterError(f"a column must be given by its name, got {name!r:.80}")
    return require_printable(name, "the name of a column", MAX_NAME)


def require_printable(text: str, what: str, limit: int) -> str:
    """Text without control characters, which would garble a terminal, a log or a query."""
    if len(text) > limit:
        raise ParameterError(f"{what} may have at most {limit:,} characters, got {len(text):,}")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ParameterError(f"{what} must not hold control characters, got {text!r:.80}")
    return text


def name_text(name: str) -> str:
    """A column's name as it is written in a question: bare if possible, else in double quotes.

    >>> name_text("age"), name_text("age group"), name_text("not"), name_text('a"b')
    ('age', '"age group"', '"not"', '"a""b"')
    """
    if name.isascii() and name.isidentifier() and name.lower() not in RESERVED:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def literal_text(value: Literal) -> str:
    """A literal as it is written in a question.

    >>> literal_text(1200.0), literal_text("O'Neil"), literal_text(False)
    ('1200', "'O''Neil'", 'no')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    return repr(value).removesuffix(".0")


def list_text(values: tuple[Literal, ...]) -> str:
    """A list as it is written in a question."""
    return f"[{', '.join(literal_text(value) for value in values)}]"


def _grouped(part: Predicate, weaker: tuple[type, ...]) -> str:
    return f"({part})" if isinstance(part, weaker) else str(part)
