"""A table in an engine of one's own: tinct writes the counting statement, somebody else's driver runs it.

Only counts come back. Types are declared and not looked up, so that nothing is asked of the engine before the charge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.errors import FileError, ParameterError, without_details
from tinct.questions.counts import Categories
from tinct.questions.predicates import require_printable
from tinct.sources.columns import BOOLEAN, DECIMAL, FLOAT, MOMENT, STRING, WHOLE, Column, Schema
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import pyarrow
from tinct.sources.postgres_tables import masked_array
from tinct.sources.rendered_dialects import DIALECTS, TESTED
from tinct.sources.source import Source, _plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tinct.questions.counts import Counted
    from tinct.questions.predicates import Predicate
    from tinct.questions.questions import Question
    from tinct.sources.counting_sql import Statement

    Run = Callable[[str], Iterable[Sequence[Any]]]

_KINDS = {
    "text": STRING, "whole": WHOLE, "decimal": DECIMAL, "float": FLOAT, "boolean": BOOLEAN, "moment": MOMENT,
}  # fmt: skip


class StatementSource(Source):
    """A table in an engine of your own, counted by one statement that your driver runs.

    Args:
        dialect: ``"mariadb"``, ``"mysql"``, ``"bigquery"``, ``"snowflake"``, ``"trino"``, ``"postgresql"`` or
            ``"duckdb"``. Only the last two are run in tinct's tests; a plan says so for all others.
        table: The name of the table; parts are separated by points, or given as a list.
        columns: For each column what it holds by its type: ``"text"``, ``"whole"``, ``"decimal"``, ``"float"``,
            ``"boolean"``, or ``"moment"`` for dates and times.
        run: Executes a statement and returns its rows. Without it nothing can be counted, only written down.
        place: Tells one data set from another in a ledger; the name of the table if left out.

    >>> people = StatementSource("bigquery", "survey.people", {"vote": "text", "age": "whole"})
    >>> print(people.statement("median(age, above=40)")[:80])
    SELECT count(*) AS many, count(*) AS inside, count(class) AS valid, count(CASE W
    """

    def __init__(
        self,
        dialect: str,
        table: str | Sequence[str],
        columns: Mapping[str, str],
        run: Run | None = None,
        *,
        place: str | None = None,
    ) -> None:
        if dialect not in DIALECTS:
            raise ParameterError.of("dialect", f"one of {', '.join(DIALECTS)}")
        parts = table.split(".") if isinstance(table, str) else list(table)
        for part in parts:
            if not require_printable(part, "the name of a table", 1000):
                raise ParameterError.of("table", "a name such as 'survey.people'")
        if any(kind not in _KINDS for kind in columns.values()):
            raise ParameterError.of("columns", f"each one of {', '.join(_KINDS)}")
        sql = DIALECTS[dialect]
        listed = [
            Column(name, sql.name(name), _KINDS[kind])
            for name, kind in zip(names_of(columns), columns.values(), strict=True)
        ]
        if not listed:
            raise ParameterError.of("columns", "a mapping with at least one column")
        self._runs = run is not None
        engine = _Elsewhere(".".join(parts), dialect, f"{'.'.join(map(sql.name, parts))} AS t", run)
        rules = () if dialect in TESTED else (f"the counting statement is rendered for {dialect}, and not run by us",)
        super().__init__(engine, Schema(listed), rules, place=place)  # type: ignore[arg-type] # it runs statements

    def statement(
        self,
        what: Question | Counted | str,
        *,
        where: str | Predicate | None = None,
        unit: str | None = None,
        by: str | Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
        per_person: int = 1,
    ) -> str:
        """The statement that would count; what it returns is secret."""
        from tinct.questions import parse

        question = parse(what) if isinstance(what, str) else what
        plan = _plan(question, where, unit, by, groups, per_person=per_person)
        return self._engine._text(self._statement(plan))  # type: ignore[attr-defined, no-any-return] # see below

    def check(self, what: Any, **options: Any) -> None:
        """Refuse whatever counting would refuse."""
        super().check(what, **options)
        if not self._runs:
            raise FileError("nothing runs the statement here: give a function run", path=self.name)


class _Elsewhere:
    """Runs counting statements with somebody's driver, whose errors may quote cells."""

    def __init__(self, name: str, dialect: str, scan: str, run: Run | None) -> None:
        self.name = name
        self.sql = DIALECTS[dialect]
        self._scan = scan
        self._run = run

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        """The rows a statement returns, in which all but labels are whole numbers."""
        labels = 1 if statement.plan.by else 0

        def found() -> list[tuple[Any, ...]]:
            return [
                tuple(_value(value, is_label=at < labels) for at, value in enumerate(row))
                for row in self._run(self._text(statement))  # type: ignore[misc] # checked before
            ]

        return without_details(found, FileError("it cannot be counted to the end", path=self.name))

    def arrays(self, statement: Statement) -> dict[str, Any]:
        """The columns a statement returns, as masked arrays."""
        rows = self.rows(statement)
        return {name: masked_array([row[at] for row in rows]) for at, name in enumerate(_names(statement))}

    def batches(self, statement: Statement, size: int) -> Iterator[Any]:
        """The rows a statement returns as Arrow batches."""
        arrow, rows, names = pyarrow(), self.rows(statement), _names(statement)
        for begin in range(0, len(rows), size):
            columns = [
                arrow.array([row[at] for row in rows[begin : begin + size]], arrow.int64() if at else arrow.string())
                for at in range(len(names))
            ]
            yield arrow.RecordBatch.from_arrays(columns, names=names)

    def close(self) -> None:
        """Nothing is held open."""

    def _text(self, statement: Statement) -> str:
        return statement.text(self._scan)


def _value(value: Any, *, is_label: bool) -> Any:
    return value if value is None else str(value) if is_label else int(value)


def _names(statement: Statement) -> list[str]:
    """What the columns of groups are called; see ``Statement.text``."""
    return ["label", "class", "many"] if isinstance(statement.plan.what, Categories) else [
        "label", "many", "valid", "hits",
    ]  # fmt: skip
