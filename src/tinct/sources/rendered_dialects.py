"""The counting statement for engines that we do not run, but MariaDB once by hand (decision 24).

Whoever has such an engine runs the statement with a driver of their own (``own_statements``). Each text becomes a
number, or a part of a date, only behind a pattern that nothing else fits, and where a cast could fail all the same it
is one that gives NULL instead.
"""

from __future__ import annotations

import re

from tinct.sources.sql_dialects import BLANKS, DUCKDB, POSTGRESQL, DuckDB, date_text

# ruff: noqa: D102 # phrases are documented where they are first said

_DIGITS = re.compile(r"(\[0-9\]\{[0-9,]+\})")


class _Rendered(DuckDB):
    """What these engines have in common."""

    end = "$"  # the end of a text, and not the line end before it
    has_least_place = False

    def contains(self, text: str, part: str) -> str:
        return f"(strpos({text}, {self.literal(part)}) > 0)"

    def without_end(self, text: str, pattern: str) -> str:
        return f"regexp_replace({text}, {self.literal(f'({pattern}){self.end}')}, '')"

    def count_if(self, condition: str) -> str:
        return f"count(CASE WHEN {condition} THEN 1 END)"

    def moment(self, cell: str) -> str:
        text = self.as_text(cell)
        short = self.without_end(self.without_end(text, "0+"), "[.]")  # engines differ in zeros behind the seconds
        return f"CASE WHEN {self.contains(text, '.')} THEN {short} ELSE {text} END"

    def day(self, text: str, form: str, pattern: str) -> str:
        parts, found = _DIGITS.split(pattern), {}
        for at, each in enumerate(re.findall("%.", form)):
            grouped = [f"({part})" if place == 2 * at + 1 else part for place, part in enumerate(parts)]
            found[each] = self.captured(text, f"^{''.join(grouped)}{self.end}")
        good, whole = date_text(self, found)
        return f"CASE WHEN {self.matches(text, pattern)} AND {good} THEN {whole} END"

    def captured(self, text: str, pattern: str) -> str:
        """What a text that fits a pattern has in its one group."""
        return f"regexp_extract({text}, {self.literal(pattern)}, 1)"


class MySQL(_Rendered):
    """MySQL's phrases, from 8.0.17 on. The connection must speak utf8mb4, without NO_BACKSLASH_ESCAPES."""

    text, double, whole, truth = "CHAR", "DOUBLE", "SIGNED", "SIGNED"
    end = "\\z"
    _COLLATION, _GROUP = "utf8mb4_0900_bin", "$1"

    def literal(self, text: str) -> str:
        return super().literal(text.replace("\\", "\\\\"))

    def name(self, written: str) -> str:
        return f"`{written.replace('`', '``')}`"

    def as_text(self, cell: str) -> str:
        return self._compared(f"CONVERT({cell} USING utf8mb4)")

    def _compared(self, text: str) -> str:
        return f"({text} COLLATE {self._COLLATION})"

    def trimmed(self, cell: str) -> str:
        around = self.literal(f"^[{BLANKS}]+|[{BLANKS}]+{self.end}")
        return self._compared(f"regexp_replace({self.as_text(cell)}, {around}, '')")

    def lower(self, text: str) -> str:
        return self._compared(f"lower({text})")

    def contains(self, text: str, part: str) -> str:
        return f"(locate({self.literal(part)}, {text}) > 0)"

    def matches(self, text: str, pattern: str) -> str:
        return f"({text} REGEXP {self.literal(f'^({pattern}){self.end}')})"

    def joined(self, *parts: str) -> str:
        return f"concat({', '.join(parts)})"

    def length(self, text: str) -> str:
        return f"char_length({text})"

    def before(self, text: str, mark: str) -> str:
        return f"substring_index({text}, {self.literal(mark)}, 1)"

    def text_as_number(self, text: str) -> str:
        number = f"CAST({text} AS DOUBLE)"  # too large a one becomes the largest there is
        return f"CASE WHEN abs({number}) < 1e307 THEN {number} END"

    def as_whole(self, text: str) -> str:
        return f"CAST({text} AS SIGNED)"

    def number_text(self, number: str) -> str:
        sign = self.literal("e+" + self._GROUP)
        return self._compared(f"regexp_replace({self.as_text(number)}, 'e([0-9])', {sign})")

    def finite(self, number: str) -> str:
        return f"{number} IS NOT NULL"  # there are no others

    def truth_of(self, cell: str) -> str:
        return f"({cell} <> 0)"

    def truth_text(self, cell: str) -> str:
        return self._compared(f"CASE WHEN {cell} <> 0 THEN 'true' WHEN {cell} = 0 THEN 'false' END")

    def some(self, condition: str) -> str:
        return f"max({condition})"

    def captured(self, text: str, pattern: str) -> str:
        return f"regexp_replace({text}, {self.literal(pattern)}, {self.literal(self._GROUP)})"


class MariaDB(MySQL):
    """MariaDB's phrases, from 10.5 on; run by hand in version 10.11."""

    _COLLATION, _GROUP = "utf8mb4_nopad_bin", "\\1"


class BigQuery(_Rendered):
    """BigQuery's phrases (GoogleSQL)."""

    text, double, whole, truth = "STRING", "FLOAT64", "INT64", "BOOL"

    def literal(self, text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    def name(self, written: str) -> str:
        escaped = written.replace("\\", "\\\\").replace("`", "\\`")
        return f"`{escaped}`"

    def trimmed(self, cell: str) -> str:
        return f"trim({self.as_text(cell)}, {self.literal(BLANKS)})"

    def matches(self, text: str, pattern: str) -> str:
        return f"regexp_contains({text}, {self.literal(f'^({pattern})$')})"

    def before(self, text: str, mark: str) -> str:
        return f"split({text}, {self.literal(mark)})[SAFE_OFFSET(0)]"

    def text_as_number(self, text: str) -> str:
        return f"SAFE_CAST({text} AS FLOAT64)"

    def as_whole(self, text: str) -> str:
        return f"SAFE_CAST({text} AS INT64)"

    def finite(self, number: str) -> str:
        return f"NOT (is_nan({number}) OR is_inf({number}))"

    def some(self, condition: str) -> str:
        return f"logical_or({condition})"

    def captured(self, text: str, pattern: str) -> str:
        return f"regexp_extract({text}, {self.literal(pattern)})"

    def moment(self, cell: str) -> str:
        return super().moment(self.without_end(self.as_text(cell), "[+]00"))


class Snowflake(_Rendered):
    """Snowflake's phrases. Columns of times of day alone are beyond them."""

    def literal(self, text: str) -> str:
        return super().literal(text.replace("\\", "\\\\"))

    def as_text(self, cell: str) -> str:
        return f"collate(CAST({cell} AS VARCHAR), '')"

    def trimmed(self, cell: str) -> str:
        return f"trim({self.as_text(cell)}, {self.literal(BLANKS)})"

    def matches(self, text: str, pattern: str) -> str:
        return f"regexp_like({text}, {self.literal(pattern)})"  # the whole text, in this engine

    def contains(self, text: str, part: str) -> str:
        return f"contains({text}, {self.literal(part)})"

    def finite(self, number: str) -> str:
        return f"({number} > CAST('-inf' AS DOUBLE) AND {number} < CAST('inf' AS DOUBLE))"  # NaN is above everything

    def some(self, condition: str) -> str:
        return f"boolor_agg({condition})"

    def captured(self, text: str, pattern: str) -> str:
        return f"regexp_substr({text}, {self.literal(pattern)}, 1, 1, 'e', 1)"

    def moment(self, cell: str) -> str:
        return super().moment(f"to_varchar(CAST({cell} AS TIMESTAMP_NTZ), 'YYYY-MM-DD HH24:MI:SS.FF9')")


class Trino(_Rendered):
    """Trino's phrases."""

    end = "\\z"

    def trimmed(self, cell: str) -> str:
        around = self.literal(f"^[{BLANKS}]+|[{BLANKS}]+{self.end}")
        return f"regexp_replace({self.as_text(cell)}, {around}, '')"

    def matches(self, text: str, pattern: str) -> str:
        return f"regexp_like({text}, {self.literal(f'^({pattern}){self.end}')})"

    def finite(self, number: str) -> str:
        return f"is_finite({number})"

    def number_text(self, number: str) -> str:
        signed = f"regexp_replace({self.as_text(number)}, 'E([0-9])', 'e+$1')"
        return f"regexp_replace(replace({signed}, 'E-', 'e-'), '[.]0e', 'e')"

    def moment(self, cell: str) -> str:
        return super().moment(self.without_end(self.as_text(cell), " UTC"))


DIALECTS: dict[str, DuckDB] = {
    "duckdb": DUCKDB,
    "postgresql": POSTGRESQL,
    "mariadb": MariaDB(),
    "mysql": MySQL(),
    "bigquery": BigQuery(),
    "snowflake": Snowflake(),
    "trino": Trino(),
}
TESTED = ("duckdb", "postgresql")  # all others are rendered, and not run by us
