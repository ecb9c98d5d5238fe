"""A source of rows that can be counted, and only counted."""

from __future__ import annotations

import itertools
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.questions import parse_predicate
from tinct.questions.counts import EVERYBODY, Categories, Condition, Counts, GroupCounts, Several
from tinct.questions.predicates import MAX_TEXT, PREDICATES, require_column, require_printable, require_shallow
from tinct.questions.questions import Question
from tinct.sources.cell_rules import joined_label, label_of, label_parts
from tinct.sources.counting_sql import CountingPlan, Statement
from tinct.sources.duckdb_engine import pyarrow
from tinct.sources.sql_dialects import DUCKDB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from tinct.questions.counts import Counted
    from tinct.questions.predicates import Predicate
    from tinct.sources.columns import Schema
    from tinct.sources.description import Description
    from tinct.sources.duckdb_engine import Engine

    Table = NDArray[np.int64]


MAX_GROUPS = 100_000
MAX_BY = 5  # columns whose values name a group together


class Source:
    """Rows in a file or a frame. Made by ``sources.open``.

    Columns and their types are public and checked. Values never decide whether there is an answer: what cannot be
    read is missing.
    """

    def __init__(
        self, engine: Engine, schema: Schema, rules: tuple[str, ...] = (), *, place: str | None = None
    ) -> None:
        self._place = place
        self.rules = rules  # how the rows are read, one sentence each; public
        self.description: Description | None = None  # what its owner says about the columns
        self._engine = engine
        self._schema = schema

    def described_by(self, description: Description) -> Self:
        """The same rows, read as a description says; refused if it is a draft or does not fit the columns."""
        description.require_confirmed()
        found = copy(self)
        found.description = description
        found._schema = self._schema.described_by(description)
        found.rules = (*self.rules, *description.rules)
        return found

    @property
    def name(self) -> str:
        """What the rows are from; public."""
        return self._engine.name

    @property
    def place(self) -> str:
        """The full path of a file, by which one data set is told from another; otherwise the name. Public."""
        return self._place or self.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; public. JSON lines have no list of them, so there it is empty."""
        return self._schema.names

    def check(
        self,
        what: Question | Counted | Several,
        *,
        where: str | Predicate | None = None,
        unit: str | None = None,
        by: str | Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
    ) -> None:
        """Refuse whatever counting would refuse, without looking at a row."""
        self._statement(_plan(what, where, unit, by, groups))

    def count_people(self, unit: str | None = None) -> int:
        """How many rows there are, or how many persons have a name in ``unit``: for the owner, who makes it public."""
        return self.count(EVERYBODY, unit=unit).rows

    def count_classes(self, column: str, names: Sequence[str], unit: str | None = None) -> dict[str, int]:
        """How many people have which of a few values in a column, the first listed if one has several; as above."""
        counts = self.count_by(EVERYBODY, column, unit=unit, groups=tuple(names), listed=True)
        people = (counts.classes.sum(axis=1) + counts.missing).tolist()
        return dict(zip(names, map(int, people), strict=True))

    def count(
        self, what: Question | Counted, *, where: str | Predicate | None = None, unit: str | None = None
    ) -> Counts:
        """How many rows are in each class of a question.

        Args:
            what: a question, or what it counts.
            where: only rows for which this predicate is true are put into classes.
            unit: the column that names persons; one row of each person is kept, and rows without a name are left out.
        """
        return self._counts(_plan(what, where, unit, None, None))

    def count_each(
        self, what: Several, *, where: str | Predicate | None = None, unit: str | None = None
    ) -> tuple[Counts, ...]:
        """The counts of several things, in one pass over the rows; see ``count``."""
        return self._counts_of_each(_plan(what, where, unit, None, None), what)

    def count_by(
        self,
        what: Question | Counted,
        by: str | Sequence[str],
        *,
        where: str | Predicate | None = None,
        unit: str | None = None,
        groups: Sequence[str] | None = None,
        listed: bool = False,
    ) -> GroupCounts:
        """The same for each value of the column ``by``, in one pass; rows without a value there are in no group.

        Args:
            what: a question, or what it counts.
            by: the column that names groups, or several whose values name one together, with commas between them.
            where: only rows for which this predicate is true are put into groups.
            unit: the column that names persons; one row of each person is kept, over all groups together.
            groups: the groups to report, in this order, whether anybody is in them or not; rows of others are in no
                group. If left out, the groups found, in the order of their text.
            listed: a person with rows in several groups is in the first in the order of ``groups``, which should be
                few, rather than in the order of their text.
        """
        return self._group_counts(_plan(what, where, unit, _named(by), groups, listed=listed))

    def group_batches(
        self,
        what: Question | Counted,
        by: str | Sequence[str],
        *,
        where: str | Predicate | None = None,
        unit: str | None = None,
        groups: Sequence[str] | None = None,
        per_person: int = 1,
    ) -> Iterator[GroupCounts]:
        """The counts of ``count_by`` in batches of at most 100,000 groups, for more groups than memory holds.

        Groups that were found come in the order of their text, over all batches; those given come in their own order,
        in one batch. ``rows`` is of the batch: rows in no group are counted with the last one, and there is at least
        one, so that the sum over all batches is the number of rows. With ``per_person`` above 1 a person is in so many
        groups, the first in the order of their text, and counts in each.
        """
        plan = _plan(what, where, unit, _named(by), groups, per_person=per_person)
        self._statement(plan)  # refused now, not when the first batch is asked for
        return self._batches_of_groups(plan) if plan.groups is None else iter([self._group_counts(plan)])

    # how plans are carried out, by DuckDB; Spark has its own ways

    def _counts(self, plan: CountingPlan) -> Counts:
        return counts_of(plan, self._engine.rows(self._statement(plan)))

    def _counts_of_each(self, plan: CountingPlan, what: Several) -> tuple[Counts, ...]:
        ((many, inside, *found),) = self._engine.rows(self._statement(plan))
        return counts_of_each(what, many, inside, found)

    def _group_counts(self, plan: CountingPlan) -> GroupCounts:
        return group_counts_of(plan, self._engine.arrays(self._statement(plan)))

    def _batches_of_groups(self, plan: CountingPlan) -> Iterator[GroupCounts]:
        return batches_of(plan, self._engine.batches(self._statement(plan), MAX_GROUPS), MAX_GROUPS)

    def _statement(self, plan: CountingPlan) -> Statement:
        """The statement in the words of the engine."""
        return Statement(plan, self._schema, getattr(getattr(self, "_engine", None), "sql", DUCKDB))

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
        return f"<Source: {self.name}, {f'{len(self.columns):,} columns' if self.columns else 'any columns'}>"


def _named(by: str | Sequence[str]) -> str | Sequence[str]:
    """The columns of groups; None would mean that there are no groups."""
    return require_column(by) if by is None else by


def _plan(
    what: Question | Counted | Several,
    where: str | Predicate | None,
    unit: str | None,
    by: str | Sequence[str] | None,
    groups: Sequence[str] | None,
    *,
    listed: bool = False,
    per_person: int = 1,
) -> CountingPlan:
    counted = what.counted if isinstance(what, Question) else what
    if not isinstance(counted, Condition | Categories | Several):
        raise ParameterError(f"what must be a question, got {type(what).__name__}")
    if listed and groups is None:
        raise ParameterError("listed needs groups, whose order decides")
    if where is not None and not isinstance(where, PREDICATES):
        where = parse_predicate(where)
    conditions = counted.parts if isinstance(counted, Several) else (counted,)
    for predicate in (where, *(each.predicate for each in conditions if isinstance(each, Condition))):
        if predicate is not None:
            require_shallow(predicate)
    columns = columns_of(by)
    if unit is not None:
        require_column(unit)
    names = None if groups is None else group_names(groups, columns)
    return CountingPlan(counted, where, unit, columns, names, listed, per_person)


def group_names(groups: Sequence[Any], columns: tuple[str, ...]) -> tuple[str, ...]:
    """The names of groups that are given, as cells are read: texts, each once, whatever its spelling.

    What several columns name together is one text with commas, or a tuple of values.
    """
    if isinstance(groups, str | set | frozenset | dict) or not hasattr(groups, "__iter__"):
        raise ParameterError.of("groups", "a list such as ['N', 'S']")
    given, seen = tuple(groups), dict[str, None]()
    if not 1 <= len(given) <= MAX_GROUPS:
        raise ParameterError.of("groups", f"between 1 and {MAX_GROUPS:,} names", ..., f", got {len(given):,}")
    for group in given:
        name = _joined(group, columns) if len(columns) > 1 else group
        if not isinstance(name, str):
            raise ParameterError.of("groups", "named by their text, such as ['N', 'S'] or ['1', '2']", ...)
        if not name or name != name.strip():
            raise ParameterError.about(
                "groups",
                "the name of a group must not be blank, nor begin or end with a blank: cells are read without",
            )
        label = name if len(columns) > 1 else label_of(name)
        if label in seen:
            raise ParameterError.of("groups", "without repeats", ..., f", got {name!r:.80} twice")
        seen[require_printable(label, "the name of a group", MAX_TEXT)] = None
    return tuple(seen)


def _joined(group: Any, columns: tuple[str, ...]) -> str:
    """The label of a group that several columns name together."""
    parts = label_parts(group) if isinstance(group, str) else list(group) if isinstance(group, tuple | list) else []
    if len(parts) != len(columns) or not all(isinstance(part, str) and part for part in parts):
        raise ParameterError.of("groups", f"named by {len(columns)} values each, such as 'N, f'")
    return joined_label(parts)


def columns_of(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns that name groups: one, or several together."""
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    for name in names:
        require_column(name)
    if len(set(names)) < len(names) or len(names) > MAX_BY or (by is not None and not names):
        raise ParameterError.of("by", f"1 to {MAX_BY} different columns")
    return names


def counts_of(plan: CountingPlan, found: list[tuple[Any, ...]]) -> Counts:
    """The counts of all rows; see ``Statement.text`` for what is found."""
    if isinstance(plan.what, Condition):
        ((many, inside, valid, true),) = found
        return Counts(many, (true, valid - true), inside - valid)
    rows = missing = 0
    classes = [0] * plan.what.size
    for inside, place, many in found:
        rows += many
        if inside and place is None:
            missing += many
        elif inside:
            classes[place] += many
    return Counts(rows, tuple(classes), missing)


def counts_of_each(what: Several, many: int, inside: int, found: Sequence[int]) -> tuple[Counts, ...]:
    """The counts of each part, from how many rows are in each class of each."""
    counts, at = [], 0
    for part in what.parts:
        classes = tuple(found[at : at + part.size])
        counts.append(Counts(many, classes, inside - sum(classes)))
        at += part.size
    return tuple(counts)


def group_counts_of(plan: CountingPlan, found: dict[str, Any]) -> GroupCounts:
    """The counts of each group, in the order of the plan if it names them, else in the order of their text."""
    labels, table = (_of_condition if isinstance(plan.what, Condition) else _of_categories)(plan, found)
    if plan.groups is not None:
        table = _in_order(table, labels, plan.groups)
        labels = plan.groups
    return GroupCounts(int(np.asarray(found["many"], np.int64).sum()), labels, table[:, 1:], table[:, 0])


def batches_of(plan: CountingPlan, found: Iterator[Any], size: int) -> Iterator[GroupCounts]:
    """The counts of groups in their order, from Arrow batches of any size, ``size`` groups at a time.

    With categories a group has several rows. The last one at hand may go on in the next batch, so it waits for that.
    """
    arrow = pyarrow()
    waiting, begun = None, False
    for batch in found:
        table = arrow.Table.from_batches([batch])
        waiting = table if waiting is None else arrow.concat_tables([waiting, table])
        cuts = _cuts(waiting, size)
        for begin, end in itertools.pairwise(cuts):
            begun = True
            yield group_counts_of(plan, _part(waiting, begin, end))
        waiting = waiting.slice(cuts[-1])
    if waiting is not None and len(waiting):
        begun = True
        yield group_counts_of(plan, _part(waiting, 0, len(waiting)))
    if not begun:
        yield GroupCounts(0, (), np.zeros((0, plan.what.size), np.int64), np.zeros(0, np.int64))


def _cuts(table: Any, size: int) -> list[int]:
    """Where every so many groups begin; the last such place leaves between one and ``size`` groups behind it."""
    labels = table.column("label").to_numpy()
    fresh = np.ones(len(labels), bool)
    fresh[1:] = labels[1:] != labels[:-1]
    return np.flatnonzero(fresh)[::size].tolist() or [0]


def _part(table: Any, begin: int, end: int) -> dict[str, Any]:
    """Some rows of a table as arrays like those of the engine."""
    part = table.slice(begin, end - begin)
    return {name: _masked(part.column(name)) for name in table.column_names}


def _masked(column: Any) -> Any:
    absent = column.is_null().to_numpy()
    if absent.any() and column.type != pyarrow().string():
        column = column.fill_null(0)
    return np.ma.MaskedArray(column.to_numpy(), absent)


def _of_condition(_: CountingPlan, found: dict[str, Any]) -> tuple[tuple[str, ...], Table]:
    """The labels, and for each the numbers of missing, true and false."""
    inside = ~np.ma.getmaskarray(found["label"])
    many, valid, true = (np.asarray(found[name], np.int64)[inside] for name in ("many", "valid", "hits"))
    return tuple(np.ma.getdata(found["label"])[inside].tolist()), np.column_stack([many - valid, true, valid - true])


def _of_categories(plan: CountingPlan, found: dict[str, Any]) -> tuple[tuple[str, ...], Table]:
    """The labels, and for each the number of missing and of each class. Equal labels stand together."""
    inside = ~np.ma.getmaskarray(found["label"])
    values = np.ma.getdata(found["label"])[inside]
    fresh = np.ones(len(values), bool)
    fresh[1:] = values[1:] != values[:-1]
    table = np.zeros((int(fresh.sum()), plan.what.size + 1), np.int64)
    places = np.ma.filled(np.ma.asarray(found["class"])[inside], -1).astype(np.intp) + 1  # a person without has −1
    np.add.at(table, (np.cumsum(fresh) - 1, places), np.asarray(found["many"], np.int64)[inside])
    return tuple(values[fresh].tolist()), table


def _in_order(table: Table, labels: tuple[str, ...], groups: tuple[str, ...]) -> Table:
    at = {label: row for row, label in enumerate(labels)}
    ordered = np.zeros((len(groups), table.shape[1]), np.int64)
    for row, label in enumerate(groups):
        if label in at:
            ordered[row] = table[at[label]]
    return ordered
