"""Rows in a Spark DataFrame, counted on the executors by the same rules as everywhere else (docs/questions.md).

Only counts come to the driver. A column is read by its type, as in a data frame; what cannot be read is missing, and no
value ever raises an error.
"""

from __future__ import annotations

import re
from functools import reduce
from itertools import islice
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels.text_splitting import MAX_DIGITS
from tinct.questions.counts import Categories, Condition, Counts, GroupCounts, Several
from tinct.questions.persons import RULE, Keep
from tinct.questions.predicates import LABEL, And, Coded, Comparison, Membership, Not, Predicate, kind_of, use_of
from tinct.sources.cell_rules import (
    WHOLE_LABEL,
    day_pattern,
    has_codes,
    has_own_marks,
    label_of,
    marked_moments,
    marked_numbers,
    marked_words,
    marks_of,
    number_pattern,
    numbers_among,
    reads_day,
    reads_number,
    reads_truth,
    words_of,
)
from tinct.sources.columns import (
    BOOLEAN,
    CELL,
    DECIMAL,
    FLOAT,
    MOMENT,
    OTHER,
    PERSON,
    STRING,
    WHOLE,
    Column,
    Schema,
    compared_as,
)
from tinct.sources.counting_sql import Statement, as_label, parts_of
from tinct.sources.data_frames import names_of
from tinct.sources.description import CATEGORY
from tinct.sources.description import DATE as DATE_KIND
from tinct.sources.source import MAX_GROUPS, Source, _plan, counts_of_each
from tinct.sources.spark_engine import guarded, pyspark, require_frame
from tinct.sources.sql_dialects import BLANKS, CLOCK, DATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

    from tinct.questions.counts import Counted
    from tinct.questions.predicates import Literal
    from tinct.questions.questions import Question
    from tinct.sources.counting_sql import CountingPlan

_NAME = "the Spark DataFrame"
_KINDS = {
    "tinyint": WHOLE, "smallint": WHOLE, "int": WHOLE, "bigint": WHOLE, "decimal": DECIMAL, "float": FLOAT,
    "double": FLOAT, "boolean": BOOLEAN, "string": STRING, "char": STRING, "varchar": STRING, "date": MOMENT,
    "timestamp": MOMENT, "timestamp_ntz": MOMENT, "void": CELL,
}  # fmt: skip
_END = r"\z"  # a dollar sign would let a line end pass
_LARGEST_WHOLE = 9e18  # labels below are written as whole numbers
_OPERATORS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def open_frame(frame: Any, place: str | None = None) -> SparkSource:
    """The rows of a Spark DataFrame, ready to be counted; ``place`` is where they come from, if that is known."""
    pyspark()
    return SparkSource(require_frame(frame, "data"), place)


def kind_of_spark_type(written: str) -> str:
    """What a column of a Spark type, in Spark's own short form, holds.

    >>> kind_of_spark_type("bigint"), kind_of_spark_type("decimal(10,2)"), kind_of_spark_type("array<int>")
    ('whole', 'decimal', 'other')
    """
    base = written.partition("(")[0].partition(" ")[0]
    return OTHER if "<" in written else _KINDS.get(base, OTHER)


class SparkSource(Source):
    """Rows in a Spark DataFrame. Columns are addressed by place, so that no name needs quoting."""

    def __init__(self, frame: DataFrame, place: str | None = None) -> None:
        self._place = place
        self.session = frame.sparkSession
        names = names_of(frame.columns)
        kinds = [kind_of_spark_type(kind) for _, kind in frame.dtypes]
        self._schema = Schema(
            Column(name, f"c{at}", kind) for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
        )
        named = frame.toDF(*(f"c{at}" for at in range(len(names))))
        zoned = {f"c{at}": _in_utc(f"c{at}") for at, (_, kind) in enumerate(frame.dtypes) if kind == "timestamp"}
        self._frame = named.withColumns(zoned) if zoned else named

    rules = ()
    description = None

    @property
    def name(self) -> str:
        """What the rows are from."""
        return _NAME

    @property
    def place(self) -> str:
        """The address the rows were read from, by which one data set is told from another; otherwise the name."""
        return self._place or _NAME

    def _counts(self, plan: CountingPlan) -> Counts:
        found = guarded("counting", _Reading(plan, self._schema).counted(self._frame).collect)
        rows = missing = 0
        classes = [0] * plan.what.size
        for inside, place, many in found:
            rows += many
            if inside and (place is None or place < 0):
                missing += many
            elif inside:
                classes[place] += many
        return Counts(rows, tuple(classes), missing)

    def _counts_of_each(self, plan: CountingPlan, what: Several) -> tuple[Counts, ...]:
        ((many, inside, *found),) = guarded("counting", _Reading(plan, self._schema).each(self._frame).collect)
        return counts_of_each(what, many, inside, found)

    def _group_counts(self, plan: CountingPlan) -> GroupCounts:
        """In one pass."""
        reading = _Reading(plan, self._schema)
        found = guarded("counting groups", lambda: reading.grouped(self._frame).toArrow())
        labels = found.column("label").to_pylist()
        table = np.column_stack([np.asarray(found.column(name), np.int64) for name in found.column_names[1:]])
        rows = int(table[:, -1].sum())
        place = {label: at for at, label in enumerate(labels) if label is not None}
        kept = tuple(sorted(place)) if plan.groups is None else plan.groups
        counts = np.zeros((len(kept), plan.what.size + 1), np.int64)
        known = [at for at, label in enumerate(kept) if label in place]
        counts[known] = table[[place[kept[at]] for at in known], :-1]
        return GroupCounts(rows, kept, counts[:, :-1], counts[:, -1])

    def _batches_of_groups(self, plan: CountingPlan) -> Iterator[GroupCounts]:
        """One partition at a time."""
        reading = _Reading(plan, self._schema)
        frame = guarded("counting groups", lambda: reading.grouped(self._frame))
        ordered = frame.orderBy(_functions().asc_nulls_last("label"))  # by the bytes of UTF-8, as the code points are
        found = guarded("counting groups", ordered.toLocalIterator)
        rows = iter(lambda: guarded("counting groups", lambda: next(found, None)), None)
        begun = False
        while part := list(islice(rows, MAX_GROUPS)):
            begun = True
            yield _batch(part, plan.what.size)
        if not begun:
            yield _batch([], plan.what.size)

    def grouped(
        self,
        what: Question | Counted,
        by: str | Sequence[str],
        *,
        where: str | Predicate | None = None,
        unit: str | None = None,
        groups: Sequence[str] | None = None,
        per_person: int = 1,
    ) -> tuple[Any, int]:
        """The counts of ``count_by`` left on the executors, and the number of classes.

        The frame has one row per group: label (NULL for rows in no group), n0, n1, …, missing, and many for their sum.
        """
        plan = _plan(what, where, unit, by, groups, per_person=per_person)
        reading = _Reading(plan, self._schema)
        return guarded("counting groups", lambda: reading.grouped(self._frame)), plan.what.size

    def close(self) -> None:
        """Nothing is held open."""


def _batch(rows: list[Any], size: int) -> GroupCounts:
    """Counts from rows of (label, n0, n1, …, missing, many); the row without a label is in no group."""
    labelled = [row for row in rows if row[0] is not None]
    table = np.array([row[1:-1] for row in labelled], np.int64).reshape(len(labelled), size + 1)
    labels = tuple(row[0] for row in labelled)
    return GroupCounts(sum(row[-1] for row in rows), labels, table[:, :-1], table[:, -1])


class _Reading:
    """The frame of a plan: each row with its class and whether it is in scope, or its group."""

    def __init__(self, plan: CountingPlan, schema: Schema) -> None:
        Statement(plan, schema)  # refuses what the columns cannot answer
        self.plan = plan
        self.schema = schema

    def counted(self, frame: DataFrame) -> Any:
        """A frame of (inside, class, many)."""
        rows = frame.select(*self._row())
        if self.plan.unit is not None:
            f = _functions()
            place = _keep(RULE.place)(f.when(f.col("inside"), f.col("class")))
            people = rows.where("person IS NOT NULL").groupBy("person")
            rows = people.agg(_keep(RULE.inside)("inside").alias("inside"), place.alias("class"))
        return rows.groupBy("inside", "class").count()

    def each(self, frame: DataFrame) -> Any:
        """A frame of one row: all rows, those in scope, and how many are in each class of each part."""
        f = _functions()
        rows, parts = frame.select(*self._row()), parts_of(self.plan)
        names = [f"class{at}" for at in range(len(parts))]
        if self.plan.unit is not None:
            kept = [_keep(RULE.place)(f.when(f.col("inside"), f.col(name))).alias(name) for name in names]
            people = rows.where("person IS NOT NULL").groupBy("person")
            rows = people.agg(_keep(RULE.inside)("inside").alias("inside"), *kept)
        met = [
            f.count(f.when(f.col("inside") & (f.col(name) == place), 1))
            for name, part in zip(names, parts, strict=True)
            for place in range(part.size)
        ]
        return rows.agg(f.count(f.lit(1)), f.count(f.when(f.col("inside"), 1)), *met)

    def grouped(self, frame: DataFrame) -> Any:
        """A frame of (label, n0, n1, …, missing, many)."""
        f = _functions()
        rows = frame.select(*self._row())
        if self.plan.groups is not None:
            rows = self._declared(rows)
        if self.plan.unit is not None:
            place = f.coalesce(_keep(RULE.place)("class"), f.lit(-1)).alias("class")
            rows = rows.where("person IS NOT NULL").groupBy("person", "label").agg(place)
            rows = self._first_groups(rows)
        counts = [f.count(f.when(f.col("class") == at, 1)).alias(f"n{at}") for at in range(self.plan.what.size)]
        missing = f.count(f.when(f.coalesce(f.col("class"), f.lit(-1)) < 0, 1)).alias("missing")
        return rows.groupBy("label").agg(*counts, missing, f.count(f.lit(1)).alias("many"))

    def _first_groups(self, rows: DataFrame) -> Any:
        """Of each person the groups in which they count."""
        f = _functions()
        if self.plan.per_person > 1:
            ordered = _window().partitionBy("person").orderBy("label")
            named = rows.where("label IS NOT NULL").withColumn("place", f.row_number().over(ordered))
            return named.where(f.col("place") <= self.plan.per_person).drop("place")
        order = self._place(f.col("label")) if self.plan.listed else f.col("label")
        keep = {Keep.FIRST: f.min_by}[RULE.label]
        return rows.groupBy("person").agg(*(keep(name, order).alias(name) for name in ("class", "label")))

    def _place(self, label: SparkColumn) -> Any:
        f = _functions()
        return f.coalesce(*(f.when(label == each, at) for at, each in enumerate(self.plan.groups or ())))

    def _declared(self, rows: DataFrame) -> Any:
        """Rows of groups that were not declared are in no group."""
        f = _functions()
        listed = rows.sparkSession.createDataFrame([(label,) for label in self.plan.groups or ()], "declared string")
        joined = rows.join(listed, rows["label"] == listed["declared"], "left")
        return joined.drop("label").withColumnRenamed("declared", "label").select(*(f.col(n) for n in rows.columns))

    def _row(self) -> list[Any]:
        f, plan = _functions(), self.plan
        inside = f.coalesce(self._predicate(plan.where), f.lit(False)) if plan.where else f.lit(True)
        parts = (
            [self._class(plan.what).alias("class")]
            if not isinstance(plan.what, Several)
            else [self._class(each).alias(f"class{at}") for at, each in enumerate(plan.what.parts)]
        )
        if plan.unit is not None:
            parts.append(self._cell(plan.unit, PERSON).alias("person"))
        if not plan.by:
            return [*parts, inside.alias("inside")]
        return [*parts, f.when(inside, self._label()).alias("label")]

    def _label(self) -> Any:
        """The name of a row's group, as in ``counting_sql``."""
        f, names = _functions(), [self._cell(name, LABEL) for name in self.plan.by]
        if len(names) == 1:
            return names[0]
        slash, comma = f.lit("\\"), f.lit(",")
        inner = [f.replace(name, slash, f.lit("\\\\")) for name in names]
        escaped = [f.replace(each, comma, f.lit("\\,")) for each in inner]
        return reduce(lambda one, other: f.concat(one, comma, other), escaped)

    def _class(self, what: Counted) -> Any:
        f = _functions()
        if isinstance(what, Condition):
            predicate = self._predicate(what.predicate)
            return f.when(predicate, 0).when(~predicate, 1)
        return self._category(what)

    def _category(self, what: Categories) -> Any:
        f = _functions()
        cell = self._cell(what.column, what.use)
        first, *rest = map(as_label, what.values)
        chain = f.when(cell == f.lit(first), 0)
        for at, value in enumerate(rest, 1):
            chain = chain.when(cell == f.lit(value), at)
        return chain

    def _predicate(self, predicate: Predicate) -> Any:
        f = _functions()
        if isinstance(predicate, Comparison):
            cell = self._cell(predicate.column, kind_of(predicate.value))
            (against,) = self._compared(predicate.column, kind_of(predicate.value), (predicate.value,))
            return _OPERATORS[predicate.operator](cell, f.lit(against))
        if isinstance(predicate, Membership):
            use = use_of(predicate)
            return self._cell(predicate.column, use).isin(*self._compared(predicate.column, use, predicate.values))
        if isinstance(predicate, Coded):
            use = use_of(predicate)
            cell = self._cell(predicate.column, use)
            yes, no = (self._compared(predicate.column, use, each) for each in (predicate.yes, predicate.no))
            return f.when(cell.isin(*yes), True).when(cell.isin(*no), False)
        if isinstance(predicate, Not):
            return ~self._predicate(predicate.part)
        if not predicate.parts:
            return f.lit(isinstance(predicate, And))
        return reduce(and_ if isinstance(predicate, And) else or_, map(self._predicate, predicate.parts))

    def _compared(self, name: str, use: str, values: Iterable[Literal]) -> list[Literal]:
        return [compared_as(self.schema.column(name, use), use, value) for value in values]

    def _cell(self, name: str, use: str) -> Any:
        column = self.schema.column(name, use)
        return _read(_functions().col(column.identifier), column, use)


def _read(cell: SparkColumn, column: Column, use: str) -> Any:
    """A cell as a number, text, yes or no, a date, the label of a group, or the name of a person; see cell_rules."""
    f, kind = _functions(), column.kind
    if use == PERSON:
        return _text(cell, kind) if column.is_text else _finite(cell) if kind == FLOAT else cell
    if reads_number(column, use):
        number = _checked_number(_number(cell, column), column)
        return _number_label(number) if use == LABEL else number
    if reads_truth(column, use):
        truth = _truth(cell, column)
        return f.when(truth, "yes").when(~truth, "no") if use == LABEL else truth
    if reads_day(column, use):
        moment = _day(cell, column) if column.is_text else _whole_moment(cell.cast("string"))
        moment = f.when(~moment.isin(*marked_moments(column)), moment) if marked_moments(column) else moment
        short = use == LABEL and column.described is not None and not column.described.has_time
        return f.substring(moment, 1, 10) if short else moment
    return _checked_text(_text(cell, kind), column, use)


def _number(cell: SparkColumn, column: Column) -> Any:
    f, written = _functions(), column.format
    if not column.is_text:
        return cell.cast("double")
    text = _trimmed(cell)
    fits = _matches(text, number_pattern(written)) & (f.length(text) <= MAX_DIGITS)
    plain = f.replace(text, f.lit(written.thousands), f.lit("")) if written.thousands else text
    return f.when(fits, f.replace(plain, f.lit(written.decimal), f.lit(".")).try_cast("double"))


def _checked_number(number: SparkColumn, column: Column) -> Any:
    """A finite number that its description allows."""
    f, described = _functions(), column.described
    tests = [f.lit(True)]
    if described is not None and described.least is not None:
        tests.append(number >= described.least)
    if described is not None and described.most is not None:
        tests.append(number <= described.most)
    if described is not None and described.kind == CATEGORY and described.values:
        tests.append(number.isin(*described.values))
    marks = marked_numbers(column)
    if marks:
        tests.append(~number.isin(*marks))
    return f.when(reduce(and_, tests), _finite(number))


def _truth(cell: SparkColumn, column: Column) -> Any:
    f, (yes, no) = _functions(), words_of(column)
    if column.kind == BOOLEAN:
        return cell
    if column.is_text:
        word = f.lower(_trimmed(cell))
        if column.described is not None and has_codes(column.described.yes + column.described.no):
            word = _without_zeros(word)
        silent = _trimmed(cell).isin(*marked_words(column))
        return f.when(word.isin(*yes) & ~silent, True).when(word.isin(*no) & ~silent, False)
    number = cell.cast("double") if column.kind == DECIMAL else cell
    nothing = numbers_among(marked_words(column))
    yeses, noes = ([each for each in numbers_among(words) if each not in nothing] for words in (yes, no))
    return f.when(number.isin(*yeses), True).when(number.isin(*noes), False)


def _day(cell: SparkColumn, column: Column) -> Any:
    """A text as a moment, put together from its digits: no parser that could stop at one."""
    f, described, text = _functions(), column.described, _trimmed(cell)
    if described is None or described.kind != DATE_KIND:
        plain = f.regexp_replace(f.replace(text, f.lit("T"), f.lit(" ")), rf"(Z|[+]00(:?00)?){_END}", "")
        return _unmarked(_whole_moment(plain), text, column)
    pattern = f"^{day_pattern(described.form, groups=True)}{_END}"
    order = re.findall("%.", described.form)
    part = {each: f.regexp_extract(text, pattern, at).try_cast("int") for at, each in enumerate(order, 1)}
    year, month, date = (part[each] for each in ("%Y", "%m", "%d"))
    leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)
    longest = f.when(month == 2, f.when(leap, 29).otherwise(28)).when(month.isin(4, 6, 9, 11), 30).otherwise(31)
    hour, minute, second = (part[each] if each in part else f.lit(0) for each in ("%H", "%M", "%S"))
    good = text.rlike(pattern) & (year >= 1) & month.between(1, 12) & date.between(1, longest)
    good &= (hour < 24) & (minute < 60) & (second < 60)
    days = f.concat_ws("-", f.lpad(year.cast("string"), 4, "0"), _two_digits(month), _two_digits(date))
    clock = f.concat_ws(":", *map(_two_digits, (hour, minute, second)))
    return _unmarked(f.when(good, f.concat_ws(" ", days, clock)), text, column)


def _unmarked(read: SparkColumn, text: SparkColumn, column: Column) -> Any:
    """Nothing where the owner says that this text stands for a missing value."""
    marks = column.format.missing if has_own_marks(column.format) else ()
    return _functions().when(~text.isin(*marks), read) if marks else read


def _whole_moment(written: SparkColumn) -> Any:
    """A day with its first moment, a moment or a time of day as it is; years have four digits."""
    f = _functions()
    text = f.regexp_replace(written, f"[+]00{_END}", "")
    whole = f.when(_matches(text, DATE), f.concat(text, f.lit(" 00:00:00"))).otherwise(text)
    return f.when(_matches(whole, f"({DATE} )?{CLOCK}"), whole)


def _matches(text: SparkColumn, pattern: str) -> Any:
    return text.rlike(f"^({pattern}){_END}")


def _two_digits(number: SparkColumn) -> Any:
    f = _functions()
    return f.lpad(number.cast("string"), 2, "0")


def _checked_text(text: SparkColumn, column: Column, use: str) -> Any:
    f, described, tests = _functions(), column.described, []
    if described is not None and described.kind == CATEGORY and described.values:
        tests.append(text.isin(*map(str, described.values)))
    label = text
    if use == LABEL and column.is_text:
        label = _without_zeros(text)
    if column.is_text and marks_of(column):
        same = use == LABEL and has_own_marks(column.format)  # -9.0 is -9
        tests.append(~(label if same else text).isin(*map(label_of if same else str, marks_of(column))))
    return f.when(reduce(and_, tests), label) if tests else label


def _without_zeros(text: SparkColumn) -> Any:
    f = _functions()
    return f.when(_matches(text, WHOLE_LABEL), f.split_part(text, f.lit("."), f.lit(1))).otherwise(text)


def _finite(number: SparkColumn) -> Any:
    f = _functions()
    return f.when(~f.isnan(number) & (f.abs(number) != float("inf")), number)


def _trimmed(cell: SparkColumn) -> Any:
    f = _functions()
    # a collation of the column's own would make texts equal that are not; what is not UTF-8 is missing
    return f.trim(f.try_validate_utf8(f.collate(cell.cast("string"), "UTF8_BINARY")), f.lit(BLANKS))


def _text(cell: SparkColumn, kind: str) -> Any:
    f = _functions()
    if kind != MOMENT:
        return f.nullif(_trimmed(cell), f.lit(""))
    return cell.cast("string")


def _number_label(number: SparkColumn) -> Any:
    """3.0 and 3 are the same label; other numbers are written with the fewest digits, as Python does."""
    f = _functions()
    whole = (number % 1.0 == 0) & (f.abs(number) < _LARGEST_WHOLE)
    # without annotations, from which Spark would try to guess another kind of function
    written = f.udf(lambda value: None if value is None else repr(value), "string")
    return f.when(whole, f.when(whole, number).cast("bigint").cast("string")).otherwise(written(number))


def _in_utc(name: str) -> Any:
    """A moment on the world's clock as text, whatever the time zone of the session; missing beyond 30,000 years."""
    seconds = f"try_cast(CAST(unix_micros({name}) AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6))"
    moment = f"try_add(TIMESTAMP_NTZ'1970-01-01 00:00:00', make_dt_interval(0, 0, 0, {seconds}))"
    return _functions().expr(f"concat(CAST({moment} AS STRING), '+00')")


def _keep(how: Keep) -> Any:
    """The aggregate that renders a part of the rule of ``questions.persons``."""
    f = _functions()
    return {Keep.ANY: f.bool_or, Keep.FIRST: f.min}[how]


def _window() -> Any:
    from pyspark.sql import Window

    return Window


def _functions() -> Any:
    from pyspark.sql import functions

    return functions
