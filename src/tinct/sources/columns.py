"""The columns of a source: public, and checked before any row is read."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.questions.predicates import NUMBER, TEXT, YES_NO, name_text

if TYPE_CHECKING:
    from collections.abc import Iterable

LABEL, PERSON = "label", "person"
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
    YES_NO: {CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING},
    LABEL: {CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING, MOMENT},
    PERSON: {CELL, WHOLE, DECIMAL, FLOAT, BOOLEAN, STRING, MOMENT},
}
_WANTED = {
    NUMBER: "is compared with a number",
    TEXT: "is compared with a text",
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


@dataclass(frozen=True)
class Column:
    """A column: its public name, how the engine calls it, and what it holds.

    ``kind`` is ``"cell"`` where cells are text that is read as whatever is asked for (CSV, JSON lines).
    """

    name: str
    identifier: str
    kind: str


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
    """The columns of a source by name."""

    def __init__(self, columns: Iterable[Column]) -> None:
        self._columns = {column.name: column for column in columns}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._columns)

    def column(self, name: str, use: str) -> Column:
        """The column of that name, if it can be read that way.

        >>> Schema([Column("support", '"c0"', "cell")]).column("suport", "yes/no")
        Traceback (most recent call last):
        tinct.errors.ParameterError: there is no column suport: did you mean support? The columns are support
        """
        if name not in self._columns:
            raise ParameterError(f"there is no column {name_text(name)}{self._suggestion(name)}")
        column = self._columns[name]
        if column.kind not in _ALLOWED[use]:
            raise ParameterError(f"column {name_text(name)} {_WANTED[use]}, but holds {_HELD[column.kind]}")
        return column

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

    def column(self, name: str, use: str) -> Column:
        """The column of that name, whatever it is."""
        self._columns.setdefault(name, Column(name, f"c{len(self._columns)}", CELL))
        return super().column(name, use)
