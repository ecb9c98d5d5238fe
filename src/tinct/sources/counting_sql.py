"""The one SQL statement that counts. It is put together from public parts only: names are quoted, values are literals.

The statement works in stages. *cells* reads each column that is needed; *rows* says for each row whether it is in
scope, its group and its class; with a unit, *persons* keeps one row of each person; the last stage counts. Groups
without a unit are counted by what is written in the cells first, and then by the label that this is: few texts are
turned into labels instead of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tinct.questions.counts import Categories, Condition, Counted, Several
from tinct.questions.persons import RULE, Keep
from tinct.questions.predicates import (
    LABEL,
    And,
    Coded,
    Comparison,
    Literal,
    Membership,
    Not,
    Predicate,
    compared,
    kind_of,
    use_of,
    uses,
)
from tinct.sources.cell_rules import can_be_checked, first_reading, label_of, second_reading
from tinct.sources.columns import PERSON, compared_as
from tinct.sources.sql_dialects import DUCKDB, DuckDB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tinct.sources.columns import Column, Schema

# ruff: noqa: S608 # no part of a statement is text of the caller's: see _literal, columns.quoted, predicates.py


_OPERATORS = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@dataclass(frozen=True)
class CountingPlan:
    """What is to be counted: classes, among which rows, of whom, and in which groups.

    ``by`` are the columns whose values name a group, together. A person with rows in several groups is in the first
    ``per_person`` of them: in the order of their text or, if ``listed``, in the first in that of ``groups``.
    """

    what: Counted | Several
    where: Predicate | None = None
    unit: str | None = None
    by: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None
    listed: bool = False
    per_person: int = 1


class Statement:
    """The SQL text of a plan, with the columns it reads."""

    def __init__(self, plan: CountingPlan, schema: Schema, sql: DuckDB = DUCKDB) -> None:
        self.plan = plan
        self._sql = sql
        labels = [*([] if plan.unit is None else [(plan.unit, PERSON)]), *((name, LABEL) for name in plan.by)]
        needed = [*plan.what.uses(), *(uses(plan.where) if plan.where else ()), *labels]
        needed = needed or [(schema.any_name(), PERSON)]  # rows are counted by some column, whatever is in it
        self._read = {(name, use): schema.column(name, use) for name, use in needed}
        names = [name for name, _ in self._read]
        for key, column in self._read.items():
            if names.count(key[0]) == 1 and can_be_checked(column, key[1]):
                self._read[key] = replace(column, is_number=True)
        for name, use, value in self._literals():
            compared_as(self._read[name, use], use, value)
        self._alias = {key: f"v{at}" for at, key in enumerate(self._read)}

    def _literals(self) -> Iterator[tuple[str, str, Literal]]:
        """Each value that a column is compared with, and how the column is read there."""
        for what in parts_of(self.plan):
            if isinstance(what, Categories):
                yield from ((what.column, what.use, value) for value in what.values)
            else:
                yield from compared(what.predicate)
        if self.plan.where is not None:
            yield from compared(self.plan.where)

    @property
    def columns(self) -> list[Column]:
        """The columns that are read, each once."""
        return list(dict.fromkeys(self._read.values()))

    def text(self, scan: str) -> str:
        """The statement over ``scan``, an SQL expression that yields the rows.

        For a condition it returns (many, inside, valid, true): all rows, those in scope, those that are true or false,
        and those that are true; with groups (label, many, valid, true), the label NULL for rows in no group. For
        categories it returns (inside or label, class, many). For several of them it returns (many, inside), and then
        for each how many rows are in each of its classes.
        """
        if self.plan.by:
            order = f" ORDER BY {self._sql.in_order('label')}"
            return f"{self._groups(scan) if self.plan.unit is None else self._groups_of_persons(scan)}{order}"
        rows = f"SELECT {', '.join(self._row())} FROM ({self._cells(scan)}) AS read_"
        if self.plan.unit is not None:
            rows = self._persons(rows)
        if isinstance(self.plan.what, Several):
            classes = [
                self._sql.count_if(f"class{at} = {place}")
                for at, part in enumerate(self.plan.what.parts)
                for place in range(part.size)
            ]
            return f"SELECT count(*), {self._sql.count_if('inside')}, {', '.join(classes)} FROM ({rows}) AS rows_"
        if isinstance(self.plan.what, Categories):
            return f"SELECT inside, class, count(*) AS many FROM ({rows}) AS rows_ GROUP BY inside, class"
        inside = "count(*)" if self.plan.where is None else self._sql.count_if("inside")
        return f"SELECT count(*) AS many, {inside} AS inside, {self._tally()} FROM ({rows}) AS rows_"

    def _groups_of_persons(self, scan: str) -> str:
        rows = self._persons(f"SELECT {', '.join(self._row())} FROM ({self._cells(scan)}) AS read_")
        if isinstance(self.plan.what, Categories):
            return f"SELECT label, class, count(*) AS many FROM ({rows}) AS rows_ GROUP BY label, class"
        return f"SELECT label, count(*) AS many, {self._tally()} FROM ({rows}) AS rows_ GROUP BY label"

    def _groups(self, scan: str) -> str:
        """Groups of rows: by what is written, then by the label that this is."""
        plan, inside, (what,) = self.plan, self._inside(), parts_of(self.plan)
        written = [f"r{at}" for at in range(len(plan.by))]
        rows = ", ".join([f"{self._class(what)} AS class", *(f"{_if(inside, each)} AS {each}" for each in written)])
        rows = f"SELECT {rows} FROM ({self._cells(scan)}) AS read_"
        is_category = isinstance(what, Categories)
        keys = ", ".join([*written, *(["class"] if is_category else [])])
        counted = ["count(*) AS many", *([] if is_category else [self._tally()])]
        texts = f"SELECT {keys}, {', '.join(counted)} FROM ({rows}) AS rows_ GROUP BY {keys}"
        names = [*(["class"] if is_category else []), "many", *([] if is_category else ["valid", "hits"])]
        columns = [self._read[name, LABEL] for name in plan.by]
        label = joined([
            second_reading(column, LABEL, each, self._sql) for column, each in zip(columns, written, strict=True)
        ], self._sql)  # fmt: skip
        read = [
            f"{first_reading(replace(column, identifier=each), LABEL, self._sql)} AS {each}"
            for column, each in zip(columns, written, strict=True)
        ]
        texts = f"SELECT {', '.join([*read, *names])} FROM ({texts}) AS texts"
        parts = f"SELECT {label} AS label, {', '.join(names)} FROM ({texts}) AS readings"
        if plan.groups is not None:
            listed = ", ".join(self._literal(each) for each in plan.groups)
            others = [f"CASE WHEN label IN ({listed}) THEN label END AS label", *names]
            parts = f"SELECT {', '.join(others)} FROM ({parts}) AS labels"
        keys, sums = ("label, class", names[1:]) if is_category else ("label", names)
        added = ", ".join(f"CAST(sum({each}) AS {self._sql.whole}) AS {each}" for each in sums)
        return f"SELECT {keys}, {added} FROM ({parts}) AS parts GROUP BY {keys}"

    def _tally(self) -> str:
        if self.plan.unit is None:
            return f"count(class) AS valid, {self._sql.count_if('class')} AS hits"
        valid, true = (self._sql.count_if(condition) for condition in ("class >= 0", "class = 0"))
        return f"{valid} AS valid, {true} AS hits"

    def _cells(self, scan: str) -> str:
        items, sql = self._alias.items(), self._sql
        first = [f"{first_reading(self._read[key], key[1], sql)} AS {alias}" for key, alias in items]
        second = [f"{second_reading(self._read[key], key[1], alias, sql)} AS {alias}" for key, alias in items]
        if self.plan.unit is None:  # what is written, to be read when it has been counted
            for at, column in enumerate(self._read[name, LABEL] for name in self.plan.by):
                first.append(f"{sql.as_text(column.identifier) if column.is_text else column.identifier} AS r{at}")
                second.append(f"r{at}")
        return f"SELECT {', '.join(second)} FROM (SELECT {', '.join(first)} FROM {scan}) AS cells"

    def _inside(self) -> str:
        return f"coalesce({self._predicate(self.plan.where)}, false)" if self.plan.where else "true"

    def _row(self) -> list[str]:
        plan, inside = self.plan, self._inside()
        parts = [] if plan.unit is None else [f"{self._alias[plan.unit, PERSON]} AS person"]
        if isinstance(plan.what, Several):
            classes = [f"{_if(inside, self._place(each))} AS class{at}" for at, each in enumerate(plan.what.parts)]
            return [*parts, *classes, f"{inside} AS inside"]
        if not plan.by:
            return [*parts, f"{_if(inside, self._class(plan.what))} AS class", f"{inside} AS inside"]
        label = joined([self._alias[name, LABEL] for name in plan.by], self._sql)
        if plan.groups is not None:
            inside = f"{inside} AND {label} IN ({', '.join(self._literal(each) for each in plan.groups)})"
        return [*parts, f"{self._class(plan.what)} AS class", f"{_if(inside, label)} AS label"]

    def _class(self, what: Counted) -> str:
        if isinstance(what, Condition) and self.plan.unit is None:
            return self._predicate(what.predicate)
        return self._place(what)

    def _place(self, what: Counted) -> str:
        """The number of a row's class."""
        if isinstance(what, Condition):
            return f"CASE {self._predicate(what.predicate)} WHEN true THEN 0 WHEN false THEN 1 END"
        return self._category(what)

    def _category(self, what: Categories) -> str:
        cell = self._alias[what.column, what.use]
        whens = " ".join(
            f"WHEN {self._literal(value)} THEN {at}" for at, value in enumerate(map(as_label, what.values))
        )
        return f"CASE {cell} {whens} END"

    def _persons(self, rows: str) -> str:
        """One row for each person, by the rule of ``questions.persons``; the class of a row out of scope is NULL."""
        place = self._kept(RULE.place, "class")
        if not self.plan.by:
            inside = self._kept(RULE.inside, "inside")
            named = f"({rows}) AS rows_ WHERE person IS NOT NULL"
            classes = f"{place} AS class"
            if isinstance(self.plan.what, Several):
                each = (f"class{at}" for at in range(len(self.plan.what.parts)))
                classes = ", ".join(f"{self._kept(RULE.place, name)} AS {name}" for name in each)
            return f"SELECT {inside} AS inside, {classes} FROM {named} GROUP BY person"
        by_group = (
            f"SELECT person, label, coalesce({place}, -1) AS class "
            f"FROM ({rows}) AS rows_ WHERE person IS NOT NULL GROUP BY person, label"
        )
        if self.plan.per_person > 1:
            order = f"PARTITION BY person ORDER BY {self._sql.in_order('label')}"
            named = f"({by_group}) AS parts WHERE label IS NOT NULL"
            placed = f"SELECT label, class, row_number() OVER ({order}) AS place FROM {named}"
            return f"SELECT label, class FROM ({placed}) AS placed WHERE place <= {self.plan.per_person}"
        first_label, sql = {Keep.FIRST: self._sql.least}[RULE.label], self._sql
        if not sql.has_least_place:
            first = self._place_of_label() if self.plan.listed else sql.in_order("label")
            order = f"PARTITION BY person ORDER BY CASE WHEN label IS NULL THEN 1 ELSE 0 END, {first}"
            placed = f"SELECT label, class, row_number() OVER ({order}) AS place FROM ({by_group}) AS parts"
            return f"SELECT label, class FROM ({placed}) AS placed WHERE place = 1"
        first = f"{first_label('label')} AS label, {sql.at_least('class', 'label', is_text=True)} AS class"
        if self.plan.listed:
            order = self._place_of_label()
            parts = [f"{sql.at_least(each, order, is_text=False)} AS {each}" for each in ("label", "class")]
            first = ", ".join(parts)
        return f"SELECT {first} FROM ({by_group}) AS parts GROUP BY person"

    def _kept(self, how: Keep, value: str) -> str:
        return {Keep.ANY: self._sql.some(value), Keep.FIRST: f"min({value})"}[how]

    def _place_of_label(self) -> str:
        whens = " ".join(f"WHEN {self._literal(each)} THEN {at}" for at, each in enumerate(self.plan.groups or ()))
        return f"CASE label {whens} END"

    def _predicate(self, predicate: Predicate) -> str:
        if isinstance(predicate, Comparison):
            cell = self._alias[predicate.column, kind_of(predicate.value)]
            if isinstance(predicate.value, bool):  # the cell is the answer, or its opposite
                return cell if predicate.value == (predicate.operator == "==") else f"(NOT {cell})"
            use = kind_of(predicate.value)
            (against,) = self._compared(predicate.column, use, (predicate.value,))
            return f"({cell} {_OPERATORS[predicate.operator]} {against})"
        if isinstance(predicate, Membership):
            use = use_of(predicate)
            cell = self._alias[predicate.column, use]
            return f"({cell} IN ({', '.join(self._compared(predicate.column, use, predicate.values))}))"
        if isinstance(predicate, Coded):
            use = use_of(predicate)
            cell = self._alias[predicate.column, use]
            yes, no = (", ".join(self._compared(predicate.column, use, each)) for each in (predicate.yes, predicate.no))
            return f"(CASE WHEN {cell} IN ({yes}) THEN true WHEN {cell} IN ({no}) THEN false END)"
        if isinstance(predicate, Not):
            return f"(NOT {self._predicate(predicate.part)})"
        if not predicate.parts:  # all of nothing is true, one of nothing is not
            return "true" if isinstance(predicate, And) else "false"
        return self._joined(" AND " if isinstance(predicate, And) else " OR ", predicate.parts)

    def _compared(self, name: str, use: str, values: Iterable[Literal]) -> list[str]:
        return [self._literal(compared_as(self._read[name, use], use, value)) for value in values]

    def _literal(self, value: Literal) -> str:
        """A literal in SQL."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return self._sql.literal(value) if isinstance(value, str) else self._sql.number(value)

    def _joined(self, word: str, parts: Iterable[Predicate]) -> str:
        return f"({word.join(self._predicate(part) for part in parts)})"


def parts_of(plan: CountingPlan) -> tuple[Counted, ...]:
    """The things that are counted, one or several."""
    return plan.what.parts if isinstance(plan.what, Several) else (plan.what,)


def joined(names: list[str], sql: DuckDB = DUCKDB) -> str:
    """The label that several values have together: ``cell_rules.joined_label``; nothing if one of them is missing."""
    if len(names) == 1:
        return names[0]
    slash, slashes, comma, marked = map(sql.literal, ("\\", "\\\\", ",", "\\,"))
    escaped = [f"replace(replace({name}, {slash}, {slashes}), {comma}, {marked})" for name in names]
    return sql.joined(escaped[0], *(part for each in escaped[1:] for part in (comma, each)))


def as_label(value: Literal) -> Literal:
    """A category as cells are compared with it."""
    return label_of(value) if isinstance(value, str) else value


def _if(inside: str, value: str) -> str:
    return value if inside == "true" else f"CASE WHEN {inside} THEN {value} END"
