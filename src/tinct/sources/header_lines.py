"""Whether a first line names columns. If it might be a person's, it is refused, and no word of it is shown.

It is judged by itself, never by the rows below it (docs/questions.md#headers). Whoever describes the columns has named
them, so a line that holds all of these names is a header whatever it looks like.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tinct.errors import FileError, ParameterError
from tinct.questions.predicates import MAX_NAME, require_column

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MAX_COLUMNS = 10_000
_LONG_TITLE = 4  # words in the only cell of a line
# digits and signs around them: a number, an amount, a date, a time, a share
_DIGITS = re.compile(r"[^\w]*\d[\d\W_]*([eE][+-]?\d+|(?<=\d)T\d[\d:.]*Z?)?[\d\W_]*")
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
# answers that are seldom names; `no` is one, for a number, and single letters are many things
_ANSWERS = {"yes", "true", "false", "na", "n/a", "#n/a", "nan", "null"}


def column_names(cells: Sequence[str], path: object, known: Collection[str] = ()) -> tuple[str, ...]:
    """The names of columns in the cells of a first line; blank ones are called by their place.

    >>> column_names(["person", "", "age"], "survey.csv")
    ('person', 'column 2', 'age')
    >>> column_names(["34", "North", "yes"], "survey.csv")
    Traceback (most recent call last):
    tinct.errors.FileError: survey.csv: the first line looks like data, not like names: put the names of the columns \
above it, or describe the columns if these are their names
    """
    stripped = [cell.strip() for cell in cells]
    if not 0 < len(stripped) <= MAX_COLUMNS:
        raise FileError(f"the first line must name between 1 and {MAX_COLUMNS:,} columns", path=path)
    names = [name or f"column {at}" for at, name in enumerate(stripped, 1)]
    if not known or not set(known) <= set(names):
        _require_header(stripped, path)
    seen: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        try:
            require_column(name)
        except ParameterError:
            named = False
        else:
            named = True
        if not named:
            problem = f"has control characters, or more than {MAX_NAME:,} characters"
            raise FileError(f"the first line must name the columns, and name {at} {problem}", path=path)
        if name.lower() in seen:
            raise FileError(
                f"two columns have the same name, columns {seen[name.lower()]} and {at}: rename one of them", path=path
            )
        seen[name.lower()] = at
    return tuple(names)


def _require_header(cells: list[str], path: object) -> None:
    """Refuse what looks like a row, or like a title above a table."""
    if any(_is_data(cell) for cell in cells):
        raise FileError(
            "the first line looks like data, not like names: put the names of the columns above it, or describe the "
            "columns if these are their names",
            path=path,
        )
    titled = len(cells) > 1 and cells[0] and not any(cells[1:])
    if titled or (len(cells) == 1 and len(cells[0].split()) >= _LONG_TITLE):
        raise looks_like_title(path)


def looks_like_title(path: object) -> FileError:
    """What is said of a title above a table."""
    return FileError(
        "the first line looks like a title: remove what stands above the names of the columns, or describe the columns "
        "if this is a name",
        path=path,
    )


def _is_data(cell: str) -> bool:
    if len(cell) > MAX_NAME:
        return False
    answer = cell.lower() in _ANSWERS and cell != "Na"  # which is sodium
    return bool(_DIGITS.fullmatch(cell) or _ADDRESS.fullmatch(cell) or answer)
