"""What engines of SQL say differently: the few phrases of which the counting statement is made (decision 24).

A phrase never fails on a value. A text becomes a number only behind a pattern that nothing else fits; a plain CAST
would end the count at one dirty cell, and whether there is an answer would depend on it.
"""

from __future__ import annotations

import re
import unicodedata

# ruff: noqa: D102, S608 # phrases are documented where they are first said; their parts are quoted by those who say them

# the blanks that are taken off a text: those Unicode calls space separators, and no others
BLANKS = "".join(chr(code) for code in range(0x3001) if unicodedata.category(chr(code)) == "Zs")
DATE, CLOCK = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?"


def text_literal(text: str) -> str:
    """A text in SQL. Names and words hold no control characters (predicates.py); quotes are doubled.

    >>> text_literal("O'Neil")
    "'O''Neil'"
    """
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


class DuckDB:
    """DuckDB's phrases."""

    text, double, whole, truth = "VARCHAR", "DOUBLE", "BIGINT", "BOOLEAN"
    has_least_place = True  # whether it can say what stands where something is least

    def literal(self, text: str) -> str:
        """A text in SQL."""
        return text_literal(text)

    def name(self, written: str) -> str:
        """A name in SQL."""
        doubled = written.replace('"', '""')
        return f'"{doubled}"'

    def joined(self, *parts: str) -> str:
        """Texts one behind the other; nothing if one is missing."""
        return f"({' || '.join(parts)})"

    def length(self, text: str) -> str:
        """How many characters a text has."""
        return f"length({text})"

    def before(self, text: str, mark: str) -> str:
        """What a text has before the first mark."""
        return f"split_part({text}, {self.literal(mark)}, 1)"

    def as_text(self, cell: str) -> str:
        """A cell of any type as text."""
        return f"CAST({cell} AS {self.text})"

    def trimmed(self, cell: str) -> str:
        """A text without the blanks around it."""
        return f"trim({self.as_text(cell)})"

    def lower(self, text: str) -> str:
        """A text in small letters."""
        return f"lower({text})"

    def contains(self, text: str, part: str) -> str:
        """Whether a text has another in it."""
        return f"contains({text}, {text_literal(part)})"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a whole text fits a pattern."""
        return f"regexp_full_match({text}, {text_literal(pattern)})"

    def without_end(self, text: str, pattern: str) -> str:
        """A text without what fits a pattern at its end."""
        return f"regexp_replace({text}, {text_literal(f'({pattern})$')}, '')"

    def as_whole(self, text: str) -> str:
        """A text of a few digits as a whole number."""
        return f"TRY_CAST({text} AS {self.whole})"

    def number_text(self, number: str) -> str:
        """A number that is not whole as text."""
        return self.as_text(number)

    def truth_of(self, cell: str) -> str:
        """A typed truth value."""
        return cell

    def truth_text(self, cell: str) -> str:
        """A typed truth value as text."""
        return self.as_text(cell)

    def moment(self, cell: str) -> str:
        """A typed day, moment or time of day as text: year, month, day, hour, minute, second."""
        return self.as_text(cell)

    def as_number(self, cell: str, kind: str) -> str:  # noqa: ARG002 # others care for it
        """A typed cell as a number."""
        return f"CAST({cell} AS {self.double})"

    def text_as_number(self, text: str) -> str:
        """A text that fits the pattern of numbers as a number."""
        return f"TRY_CAST({text} AS {self.double})"

    def finite(self, number: str) -> str:
        """Whether a number is one, and not infinite."""
        return f"isfinite({number})"

    def number(self, value: float) -> str:
        """A number in SQL."""
        return f"CAST('{value!r}' AS {self.double})"

    def day(self, text: str, form: str, pattern: str) -> str:
        """A text of a form, such as %d.%m.%Y, as a moment: year, month, day, hour, minute, second."""
        parsed = f"strftime(try_strptime({text}, {text_literal(form)}), '%Y-%m-%d %H:%M:%S')"
        return f"CASE WHEN {self.matches(text, pattern)} THEN {parsed} END"

    def count_if(self, condition: str) -> str:
        """How many rows fulfil a condition."""
        return f"coalesce(count_if({condition}), 0)"  # it is NULL where the condition is unknown throughout

    def some(self, condition: str) -> str:
        """Whether a condition is true in some row."""
        return f"bool_or({condition})"

    def least(self, text: str) -> str:
        """The first of some texts, in the order of their code points."""
        return f"min({text})"

    def at_least(self, value: str, order: str, *, is_text: bool) -> str:  # noqa: ARG002 # others care for it
        """What stands where something is least."""
        return f"arg_min({value}, {order})"

    def in_order(self, text: str) -> str:
        """How texts are sorted by their code points."""
        return text


class PostgreSQL(DuckDB):
    """PostgreSQL's phrases. Texts compare by their bytes, whatever the database would do."""

    text, double, whole, truth = "text", "double precision", "bigint", "boolean"
    _LARGEST, _LEAST = "1e307", "1e-307"

    def as_text(self, cell: str) -> str:
        return f'(({cell})::text COLLATE "C")'

    def trimmed(self, cell: str) -> str:
        return f"btrim({self.as_text(cell)}, {text_literal(BLANKS)})"

    def lower(self, text: str) -> str:
        return f'(lower(({text}) COLLATE "und-x-icu") COLLATE "C")'

    def contains(self, text: str, part: str) -> str:
        return f"(strpos({text}, {text_literal(part)}) > 0)"

    def matches(self, text: str, pattern: str) -> str:
        return f"({text} ~ {text_literal(f'^({pattern})$')})"

    def as_whole(self, text: str) -> str:
        return f"({text})::int"  # of at most four digits

    def as_number(self, cell: str, kind: str) -> str:
        return self._from_numeric(cell) if kind == "decimal" else f"({cell})::double precision"

    def text_as_number(self, text: str) -> str:
        # through numeric, which holds what the pattern lets in; what a double cannot hold is missing
        return f"(SELECT {self._from_numeric('x.n')} FROM (SELECT ({text})::numeric AS n) AS x)"

    def _from_numeric(self, number: str) -> str:
        return (
            f"CASE WHEN abs({number}) < {self._LEAST} THEN 0::double precision "
            f"WHEN abs({number}) < {self._LARGEST} THEN ({number})::double precision END"
        )

    def finite(self, number: str) -> str:
        return f"({number} > '-Infinity' AND {number} < 'Infinity')"  # NaN is above everything here

    def number(self, value: float) -> str:
        return f"'{value!r}'::double precision"

    def day(self, text: str, form: str, pattern: str) -> str:
        # put together from its digits: no parser that could stop at one
        grouped = "".join(
            f"({each})" if at % 2 else each for at, each in enumerate(re.split(r"(\[0-9\]\{[0-9,]+\})", pattern))
        )
        parts = f"regexp_match({text}, {text_literal(f'^{grouped}$')})"
        order = re.findall("%.", form)
        good, whole = date_text(self, {each: f"(x.p)[{at}]" for at, each in enumerate(order, 1)})
        found = f'CASE WHEN x.p IS NOT NULL AND {good} THEN {whole} COLLATE "C" END'
        return f"(SELECT {found} FROM (SELECT {parts} AS p) AS x)"

    def count_if(self, condition: str) -> str:
        return f"count(*) FILTER (WHERE {condition})"

    def least(self, text: str) -> str:
        return f'min(({text}) COLLATE "C")'

    def at_least(self, value: str, order: str, *, is_text: bool) -> str:
        sorted_by = f'({order}) COLLATE "C"' if is_text else order
        return f"(array_agg({value} ORDER BY {sorted_by} NULLS LAST))[1]"

    def in_order(self, text: str) -> str:
        return f'{text} COLLATE "C"'


def date_text(sql: DuckDB, digits: dict[str, str]) -> tuple[str, str]:
    """Whether digits are a day and time that there was or will be, and the text of it."""
    year, month, day, *_ = number = [
        sql.as_whole(digits[each]) if each in digits else "0" for each in ("%Y", "%m", "%d", "%H", "%M", "%S")
    ]
    leap = f"(mod({year}, 4) = 0 AND mod({year}, 100) <> 0) OR mod({year}, 400) = 0"
    february = f"CASE WHEN {leap} THEN 29 ELSE 28 END"
    last = f"CASE WHEN {month} = 2 THEN {february} WHEN {month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END"
    good = (
        f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {last} "
        f"AND {number[3]} < 24 AND {number[4]} < 60 AND {number[5]} < 60"
    )
    padded = [
        f"lpad({digits[each]}, {size}, '0')" if each in digits else "'00'"
        for each, size in (("%Y", 4), ("%m", 2), ("%d", 2), ("%H", 2), ("%M", 2), ("%S", 2))
    ]
    marks = ("'-'", "'-'", "' '", "':'", "':'")
    return good, sql.joined(padded[0], *(part for pair in zip(marks, padded[1:], strict=True) for part in pair))


DUCKDB = DuckDB()
POSTGRESQL = PostgreSQL()
