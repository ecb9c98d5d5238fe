"""A source of rows that can be counted, and only counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import FileError, ParameterError
from tinct.questions import parse_predicate
from tinct.questions.counting import Categories, Condition, Counts, GroupCounts
from tinct.questions.predicates import PREDICATES, literals, require_column
from tinct.questions.words import Question
from tinct.sources.statements import Plan, Statement

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from numpy.typing import NDArray

    from tinct.questions.predicates import Predicate
    from tinct.sources.columns import Column, Schema
    from tinct.sources.engine import Engine

MAX_GROUPS = 100_000


class Source:
    """Rows in a file or a frame. Made by ``sources.open``.

    Columns and their types are public and checked. Values never decide whether there is an answer: what cannot be
    read is missing.
    """

    def __init__(self, engine: Engine, schema: Schema, scan: Callable[[list[Column]], str]) -> None:
        self._engine = engine
        self._schema = schema
        self._scan = scan

    @property
    def name(self) -> str:
        """What the rows are from; public."""
        return self._engine.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; public."""
        return self._schema.names

    def require_rows(self) -> None:
        """Refuse a source without columns or without a single row."""
        if not self.columns:
            raise FileError(f"{self.name}: there are no columns")
        if not self._engine.rows(f"SELECT 1 FROM {self._scan([])} LIMIT 1"):  # noqa: S608 # a scan has no foreign text
            raise FileError(f"{self.name}: there are column names but no rows")

    def check(self, what: Any, *, where: Any = None, unit: str | None = None, by: str | None = None) -> None:
        """Refuse what the columns cannot answer, without looking at a row."""
        Statement(_plan(what, where, unit, by, None), self._schema)

    def count(self, what: Any, *, where: str | Predicate | None = None, unit: str | None = None) -> Counts:
        """How many rows are in each class of a question.

        Args:
            what: a question, or what it counts.
            where: only rows for which this predicate is true are put into classes.
            unit: the column that names persons; one row of each person is kept, and rows without a name are left out.
        """
        statement = Statement(_plan(what, where, unit, None, None), self._schema)
        rows = missing = 0
        classes = [0] * statement.plan.what.size
        for inside, place, many in self._engine.rows(statement.text(self._scan(statement.columns))):
            rows += many
            if inside and place is None:
                missing += many
            elif inside:
                classes[_index(place)] += many
        return Counts(rows, tuple(classes), missing)

    def count_by(
        self,
        what: Any,
        by: str,
        *,
        where: str | Predicate | None = None,
        unit: str | None = None,
        groups: Any = None,
    ) -> GroupCounts:
        """The same for each value of the column ``by``, in one pass; rows without a value there are in no group.

        Args:
            what: a question, or what it counts.
            by: the column that names groups.
            where: only rows for which this predicate is true are put into groups.
            unit: the column that names persons; one row of each person is kept, over all groups together.
            groups: the groups to report, in this order, whether anybody is in them or not; rows of others are in no
                group. If left out, the groups found, in the order of their text.
        """
        plan = _plan(what, where, unit, require_column(by), groups)
        statement = Statement(plan, self._schema)
        found = self._engine.arrays(statement.text(self._scan(statement.columns)))
        labels, rows_of = _groups(found["label"])
        kept = labels if plan.groups is None else plan.groups
        table = np.zeros((len(labels), plan.what.size + 1), np.int64)
        many, places = np.asarray(found["many"], np.int64), _places(found["class"], plan)
        inside = rows_of >= 0
        np.add.at(table, (rows_of[inside], places[inside]), many[inside])
        if plan.groups is not None:
            table = _in_order(table, labels, plan.groups)
        return GroupCounts(int(many.sum()), kept, table[:, 1:], table[:, 0])

    def close(self) -> None:
        """Let go of the file."""
        self._engine.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Source: {self.name}, {len(self.columns):,} columns>"


def _plan(what: Any, where: Any, unit: Any, by: Any, groups: Any) -> Plan:
    counted = what.counted if isinstance(what, Question) else what
    if not isinstance(counted, Condition | Categories):
        raise ParameterError(f"what must be a question, got {type(what).__name__}")
    if where is not None and not isinstance(where, PREDICATES):
        where = parse_predicate(where)
    for name in (unit, by):
        if name is not None:
            require_column(name)
    if groups is not None:
        groups = literals(groups, "groups", at_most=MAX_GROUPS)
        if not isinstance(groups[0], str):
            raise ParameterError("groups must be named by their text, such as ['N', 'S'] or ['1', '2']")
    return Plan(counted, where, unit, by, groups)


def _index(place: Any) -> int:
    """The class: true and false are 0 and 1 in a condition."""
    return 1 - int(place) if isinstance(place, bool) else int(place)


def _groups(labels: Any) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The different labels in order, and for each row which it has; −1 for none. Equal labels stand together."""
    absent = np.ma.getmaskarray(labels)
    values = np.ma.getdata(labels)
    fresh = ~absent
    fresh[1:] &= absent[:-1] | (values[1:] != values[:-1])
    at = np.cumsum(fresh) - 1
    return tuple(values[fresh].tolist()), np.where(absent, -1, at)


def _places(classes: Any, plan: Plan) -> NDArray[np.intp]:
    """The column of the table for each row: 0 for missing, then the classes."""
    absent = np.ma.getmaskarray(classes)
    values = np.ma.getdata(classes)
    if values.dtype == object:  # the engine has no integers for a column that is missing throughout
        values = np.array([0 if gone else value for value, gone in zip(values, absent, strict=True)])
    if isinstance(plan.what, Condition) and plan.unit is None:
        values = 1 - values.astype(np.intp)
    return np.where(absent, 0, values.astype(np.intp) + 1)


def _in_order(table: NDArray[np.int64], labels: tuple[str, ...], groups: tuple[str, ...]) -> NDArray[np.int64]:
    at = {label: row for row, label in enumerate(labels)}
    ordered = np.zeros((len(groups), table.shape[1]), np.int64)
    for row, label in enumerate(groups):
        if label in at:
            ordered[row] = table[at[label]]
    return ordered
