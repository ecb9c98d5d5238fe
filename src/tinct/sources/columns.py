"""The columns of a source: public, and checked before any row is read."""

from __future__ import annotations

import difflib
import re
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import date, time
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.questions.predicates import DAY, LABEL, NUMBER, TEXT, YES_NO, Literal, list_text, literal_text, name_text
from tinct.sources import description
from tinct.sources.description import ColumnDescription, Description, Format

if TYPE_CHECKING:
    from collections.abc import Iterable

PERSON = "person"
CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING, MOMENT, OTHER = (
    "cell",
    "whole",
    "decimal",
    "float",
    "boolean",
    "string",
    "moment",
    "other",
)
_SHOWN = 12

_TYPES = (
    (re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER"), WHOLE),
    (re.compile(r"DECIMAL\b.*"), DECIMAL),
    (re.compile(r"FLOAT|DOUBLE"), FLOAT),
    (re.compile(r"BOOLEAN"), BOOLEAN),
    (re.compile(r"VARCHAR|UUID|ENUM\(.*", re.DOTALL), STRING),
    (re.compile(r"DATE|TIME(STAMP)?(_\w+)?( WITH TIME ZONE)?"), MOMENT),
    (re.compile(r'"?NULL"?'), CELL),  # a column with no type has no values either
)
_ALLOWED = {
    NUMBER: {CELL, WHOLE, DECIMAL, FLOAT},
    TEXT: {CELL, STRING, MOMENT},
    DAY: {CELL, STRING, MOMENT},
    YES_NO: {CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING},
    LABEL: {CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING, MOMENT},
    PERSON: {CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING, MOMENT},
}
_WANTED = {
    NUMBER: "is compared with a number",
    TEXT: "is compared with a text",
    DAY: "is compared with a date",
    YES_NO: "is taken as yes/no",
    LABEL: "is to name groups",
    PERSON: "is to name persons",
}
_HELD = {
    WHOLE: "numbers",
    DECIMAL: "numbers",
    FLOAT: "numbers",
    BOOLEAN: "truth values",
    STRING: "text",
    MOMENT: "dates or times",
    OTHER: "neither numbers, text nor truth values",
}


# what a described column can be read as, and in which columns of a typed file
_READ_AS = {
    description.YES_NO: "yes/no: compare it with yes or no",
    description.NUMBER: "a number",
    description.CATEGORY: "a category",
    description.DATE: "a date: compare it with a day such as 2024-12-31",
    description.IDENTIFIER: "an identifier",
}
_TYPED_AS = {
    description.YES_NO: {CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING},
    description.NUMBER: {CELL, WHOLE, DECIMAL, FLOAT, STRING},
    description.CATEGORY: {CELL, WHOLE, DECIMAL, FLOAT, STRING},
    description.DATE: {CELL, STRING, MOMENT},
    description.IDENTIFIER: {CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING, MOMENT},
}


@dataclass(frozen=True)
class Column:
    """A column: its public name, how the engine calls it, what it holds, and what its description says.

    ``kind`` is ``"cell"`` where cells are text that is read as whatever is asked for (CSV, JSON lines). ``is_bare``
    says that its reader takes the blanks off its cells, ``is_number`` that it takes out whatever is no number, too.
    """

    name: str
    identifier: str
    kind: str
    described: ColumnDescription | None = field(default=None, repr=False)
    format: Format = field(default=Format(), repr=False)
    is_bare: bool = field(default=False, repr=False)
    is_number: bool = field(default=False, repr=False)

    @property
    def is_text(self) -> bool:
        """Whether its cells are text, whatever they mean."""
        return self.kind in (CELL, STRING)


def kind_of_type(written: str) -> str:
    """What a column of an engine type holds.

    >>> kind_of_type("BIGINT"), kind_of_type("DECIMAL(24,2)"), kind_of_type("INTEGER[]"), kind_of_type("TIMESTAMP")
    ('whole', 'decimal', 'other', 'moment')
    """
    return next((kind for pattern, kind in _TYPES if pattern.fullmatch(written)), OTHER)


def quoted(name: str) -> str:
    """A name as an SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


class Schema:
    """The columns of a source by name, and what their description says of them."""

    def __init__(self, columns: Iterable[Column]) -> None:
        self._columns = {column.name: column for column in columns}
        self._described: Description | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._columns)

    def described_by(self, described: Description) -> Schema:
        """The same columns, read as a description says; refused if it does not fit them."""
        for name, column in described.columns.items():
            self._require_fit(name, column)
        if described.person is not None:
            self._require_fit(described.person, None)
        found = copy(self)
        found._described = described
        found._columns = {name: self._as_described(column, described) for name, column in self._columns.items()}
        return found

    @staticmethod
    def _as_described(column: Column, described: Description) -> Column:
        return replace(column, described=described.columns.get(column.name), format=described.format)

    def _require_fit(self, name: str, column: ColumnDescription | None) -> None:
        """Refuse a column that is not there, or whose type cannot hold what it is said to mean."""
        if name not in self._columns:
            raise ParameterError(f"the description names a column {name_text(name)} that is not there")
        held = self._columns[name].kind
        if column is not None and held not in _TYPED_AS[column.kind]:
            raise ParameterError(
                f"column {name_text(name)} is described as {column.kind}, but holds {_HELD.get(held, held)}"
            )

    def column(self, name: str, use: str) -> Column:
        """The column of that name, if it can be read that way.

        >>> Schema([Column("support", '"c0"', "cell")]).column("suport", "yes/no")
        Traceback (most recent call last):
        tinct.errors.ParameterError: there is no column suport: did you mean support? The columns are support
        """
        if name not in self._columns:
            raise ParameterError(f"there is no column {name_text(name)}{self._suggestion(name)}")
        column = self._columns[name]
        if use != PERSON and self._described is not None and self._described.columns:
            self._require_askable(column, use)
        elif column.kind not in _ALLOWED[use]:
            raise ParameterError(f"column {name_text(name)} {_WANTED[use]}, but holds {_HELD[column.kind]}")
        return column

    @staticmethod
    def _require_askable(column: Column, use: str) -> None:
        """Refuse what the owner did not describe, does not want asked, or described as something else."""
        described = column.described
        if described is None or not described.ask:
            raise ParameterError(f"column {name_text(column.name)} may not be asked about: its description says so")
        if use not in _uses_of(described):
            raise ParameterError(
                f"column {name_text(column.name)} {_WANTED[use]}, but is described as {_READ_AS[described.kind]}"
            )

    def any_name(self) -> str:
        """The name of some column that can be read, for counting rows."""
        found = next((name for name, column in self._columns.items() if column.kind in _ALLOWED[LABEL]), None)
        if found is None:
            raise ParameterError("rows cannot be counted: no column holds numbers, text, dates or truth values")
        return found

    def _suggestion(self, name: str) -> str:
        lower = {each.lower(): each for each in reversed(self._columns)}
        near = difflib.get_close_matches(name.lower(), lower, n=1)
        names = ", ".join(name_text(each) for each in list(self._columns)[:_SHOWN])
        more = f" and {len(self._columns) - _SHOWN:,} more" if len(self._columns) > _SHOWN else ""
        return f"{f': did you mean {name_text(lower[near[0]])}?' if near else '.'} The columns are {names}{more}"


class OpenSchema(Schema):
    """The columns of rows that name their own: any name will do, and is missing where a row has no such cell.

    >>> OpenSchema().column("age", NUMBER)
    Column(name='age', identifier='c0', kind='cell')
    """

    def __init__(self) -> None:
        super().__init__(())

    @property
    def names(self) -> tuple[str, ...]:
        """None: which names the rows have is theirs to know."""
        return ()

    def any_name(self) -> str:
        """Any name: JSON lines have no list of columns."""
        return "row"

    def described_by(self, described: Description) -> Schema:
        """Rows whose columns are those of the description, if it lists any."""
        found = copy(self)
        found._described = described
        found._columns = {}
        for name in described.columns:
            found._add(name)
        return found

    def column(self, name: str, use: str) -> Column:
        """The column of that name, whatever it is."""
        self._add(name)
        return super().column(name, use)

    def _add(self, name: str) -> None:
        if name not in self._columns:
            column = Column(name, f"c{len(self._columns)}", CELL)
            self._columns[name] = column if self._described is None else self._as_described(column, self._described)


def _uses_of(described: ColumnDescription) -> tuple[str, ...]:
    """How a column with this description can be read."""
    if described.kind == description.YES_NO:
        return YES_NO, LABEL
    if described.kind == description.DATE:
        return DAY, LABEL
    return (NUMBER, LABEL) if described.is_numeric else (TEXT, DAY, LABEL)


_CLOCK = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?", re.ASCII)


def compared_as(column: Column, use: str, value: Literal) -> Literal:
    """What a cell of this column, read for this use, is compared with where a question says ``value``.

    A day means its first moment. What a column cannot hold is refused: a misspelt category, a text that is no date.
    """
    values = () if column.described is None else column.described.values
    if values and value not in values:
        listed = list_text(values[:_SHOWN]) + (" and more" if len(values) > _SHOWN else "")
        raise ParameterError(f"column {name_text(column.name)} has no value {literal_text(value)}: it has {listed}")
    if isinstance(value, str) and (use == DAY or (use == TEXT and column.kind == MOMENT)):
        found = moment_text(value)
        if found is None:
            raise ParameterError(
                f"column {name_text(column.name)} {_WANTED[DAY]}, and {literal_text(value)} is none: write it like "
                "2024-12-31 or '2024-12-31 23:59:00'"
            )
        return found
    return value


def moment_text(written: str) -> str | None:
    """A day, a moment or a time of day as cells are read; None if it is none of them.

    >>> moment_text("2024-12-31"), moment_text("7:30"), moment_text("soon")
    ('2024-12-31 00:00:00', None, None)
    """
    try:
        if _CLOCK.fullmatch(written):
            return _seconds(time.fromisoformat(written).isoformat())
        day, _, clock = re.sub(r"(Z|\+00(:?00)?)$", "", written.replace("T", " ")).partition(" ")
        if clock and not _CLOCK.fullmatch(clock):
            return None
        return f"{date.fromisoformat(day)} {_seconds(time.fromisoformat(clock or '00:00').isoformat())}"
    except ValueError:
        return None


def _seconds(written: str) -> str:
    """A time without zeros at the end of a fraction, as engines write it."""
    return written.rstrip("0") if "." in written else written
