"""A source of rows that can be counted, and only counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.errors import FileError, ParameterError
from tinct.questions import parse_predicate
from tinct.questions.counting import Categories, Condition
from tinct.questions.predicates import PREDICATES, literals, require_column
from tinct.questions.words import Question
from tinct.sources.statements import Plan, Statement
from tinct.sources.tables import counts_of, group_counts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from tinct.questions.counting import Counts, GroupCounts
    from tinct.questions.predicates import Predicate
    from tinct.sources.columns import Column, Schema
    from tinct.sources.engine import Engine

MAX_GROUPS = 100_000


class Source:
    """Rows in a file or a frame. Made by ``sources.open``.

    Columns and their types are public and checked. Values never decide whether there is an answer: what cannot be
    read is missing.
    """

    def __init__(
        self, engine: Engine, schema: Schema, scan: Callable[[list[Column]], str], rules: tuple[str, ...] = ()
    ) -> None:
        self.rules = rules  # how the rows are read, one sentence each; public
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
        plan = _plan(what, where, unit, None, None)
        statement = Statement(plan, self._schema)
        return counts_of(plan, self._engine.rows(statement.text(self._scan(statement.columns))))

    def count_by(
        self,
        what: Any,
        by: str,
        *,
        where: str | Predicate | None = None,
        unit: str | None = None,
        groups: Any = None,
        listed: bool = False,
    ) -> GroupCounts:
        """The same for each value of the column ``by``, in one pass; rows without a value there are in no group.

        Args:
            what: a question, or what it counts.
            by: the column that names groups.
            where: only rows for which this predicate is true are put into groups.
            unit: the column that names persons; one row of each person is kept, over all groups together.
            groups: the groups to report, in this order, whether anybody is in them or not; rows of others are in no
                group. If left out, the groups found, in the order of their text.
            listed: a person with rows in several groups is in the first in the order of ``groups``, which should be
                few, rather than in the order of their text.
        """
        plan = _plan(what, where, unit, require_column(by), groups, listed=listed)
        statement = Statement(plan, self._schema)
        return group_counts_of(plan, self._engine.arrays(statement.text(self._scan(statement.columns))))

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


def _plan(what: Any, where: Any, unit: Any, by: Any, groups: Any, *, listed: bool = False) -> Plan:
    counted = what.counted if isinstance(what, Question) else what
    if not isinstance(counted, Condition | Categories):
        raise ParameterError(f"what must be a question, got {type(what).__name__}")
    if listed and groups is None:
        raise ParameterError("listed needs groups, whose order decides")
    if where is not None and not isinstance(where, PREDICATES):
        where = parse_predicate(where)
    for name in (unit, by):
        if name is not None:
            require_column(name)
    if groups is not None:
        groups = literals(groups, "groups", at_most=MAX_GROUPS)
        if not isinstance(groups[0], str):
            raise ParameterError("groups must be named by their text, such as ['N', 'S'] or ['1', '2']")
    return Plan(counted, where, unit, by, groups, listed)
