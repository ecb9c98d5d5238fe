"""How a cell is read: as a number, as text, as yes or no, as a date, or as the label of a group or a person.

The rules in words: docs/questions.md and docs/descriptions.md. This is how DuckDB follows them, in two stages, so that
the second can look at a value several times; Spark follows the same rules in ``spark_frames``.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from tinct._kernels.text_splitting import MAX_DIGITS
from tinct.questions.predicates import DAY, LABEL, NUMBER, TEXT, YES_NO
from tinct.sources import description
from tinct.sources.columns import BOOLEAN, DECIMAL, FLOAT, MOMENT, PERSON, WHOLE, moment_text
from tinct.sources.description import MISSING, Format
from tinct.sources.sql_dialects import BLANKS, CLOCK, DATE, DUCKDB, DuckDB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinct.sources.columns import Column


YES_WORDS = ("yes", "y", "true", "t", "1", "1.0")
NO_WORDS = ("no", "n", "false", "f", "0", "0.0")
PLAIN = Format()
WHOLE_CODE = "-?[0-9]+"
WHOLE_LABEL = f"{WHOLE_CODE}[.]0+"  # a whole number with a fraction of zeros: the label is the number


def first_reading(column: Column, use: str, sql: DuckDB = DUCKDB) -> str:
    """The SQL expression that reads a cell; what it may not be is taken out in the second stage."""
    if use == PERSON:  # only told apart, never shown: the type may stay
        return _text(column, sql) if column.is_text else column.identifier
    if reads_number(column, use):
        return _number(column, sql)
    if reads_truth(column, use):
        return _truth(column, sql)
    if reads_day(column, use):
        return _day(column, sql) if column.is_text else _moment(column, sql)
    return _text(column, sql)


def second_reading(column: Column, use: str, read: str, sql: DuckDB = DUCKDB) -> str:
    """The SQL expression that finishes the reading, given the name under which the first one is known."""
    if use == PERSON:
        return f"CASE WHEN {sql.finite(read)} THEN {read} END" if column.kind == FLOAT else read
    if reads_number(column, use):
        checked = _checked_number(column, read, sql)
        return checked if use != LABEL else _number_label(checked, read, sql)
    if reads_truth(column, use):
        return read if use != LABEL else f"CASE WHEN {read} THEN 'yes' WHEN NOT {read} THEN 'no' END"
    if reads_day(column, use):
        described, marks = column.described, marked_moments(column)
        found = f"CASE WHEN {read} NOT IN ({_listed(marks, sql)}) THEN {read} END" if marks else read
        return f"substr({found}, 1, 10)" if use == LABEL and described is not None and not described.has_time else found
    return _checked_text(column, use, read, sql)


def can_be_checked(column: Column, use: str) -> bool:
    """Whether the reader of a column can take out whatever is no number."""
    return column.is_bare and use == NUMBER and column.format.is_plain


def reads_number(column: Column, use: str) -> bool:
    """Whether the cell is read as a number, be it to write it as a label."""
    if use == LABEL:
        return column.kind in (DECIMAL, FLOAT) if column.described is None else column.described.is_numeric
    return use == NUMBER


def reads_truth(column: Column, use: str) -> bool:
    """Whether the cell is read as yes or no."""
    return use == YES_NO or (column.described is not None and column.described.kind == description.YES_NO)


def reads_day(column: Column, use: str) -> bool:
    """Whether the cell is read as a moment: where it is compared with one, and where its description says it is one."""
    described = column.described
    return (
        use == DAY
        or (use == TEXT and column.kind == MOMENT)
        or (described is not None and described.kind == description.DATE)
    )


def words_of(column: Column) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words for yes and for no."""
    described = column.described
    return (described.yes, described.no) if described is not None and described.yes else (YES_WORDS, NO_WORDS)


def has_codes(words: Iterable[str]) -> bool:
    """Whether some words for yes and no are whole numbers, which a cell may hold with a fraction of zeros."""
    return any(re.fullmatch(WHOLE_CODE, word) for word in words)


def label_of(written: str) -> str:
    """The label that a text is: 1.0 and 1 are the same.

    >>> label_of("1.0"), label_of("1.5"), label_of("v1.0")
    ('1', '1.5', 'v1.0')
    """
    return written.partition(".")[0] if re.fullmatch(WHOLE_LABEL, written) else written


def joined_label(parts: Iterable[str]) -> str:
    r"""The label of a group that several columns name together; commas within a value are marked.

    >>> joined_label(["N", "1.0"]), joined_label(["a,b", "c"])
    ('N,1', 'a\\,b,c')
    """
    return ",".join(label_of(part).replace("\\", "\\\\").replace(",", "\\,") for part in parts)


def label_parts(written: str) -> list[str]:
    r"""The values in a label that was written with commas.

    >>> label_parts("N, f"), label_parts("a\\,b,c")
    (['N', 'f'], ['a,b', 'c'])
    """
    parts = re.findall(r"(?:[^\\,]|\\.)+|(?<=,)(?=,|$)|^(?=,)", written)
    return [re.sub(r"\\(.)", r"\1", part).strip() for part in parts]


def numbers_among(words: Iterable[str], written: Format = PLAIN) -> list[float]:
    """The words that are numbers, as which a typed column would hold them."""
    found = [read_number(word, written) for word in words]
    return list(dict.fromkeys(number for number in found if number is not None))


def read_number(text: str, written: Format = PLAIN) -> float | None:
    """The number that a text is, by the rule that the engines follow; None if it is none, or none that a double holds.

    >>> read_number(" -3.5 "), read_number("1_000"), read_number("15.000,5", Format(decimal=",", thousands="."))
    (-3.5, None, 15000.5)
    """
    text = text.strip(BLANKS)
    if len(text) > MAX_DIGITS or not re.fullmatch(number_pattern(written), text):
        return None
    number = float(text.replace(written.thousands, "").replace(written.decimal, "."))
    return number if math.isfinite(number) else None


def number_pattern(written: Format) -> str:
    """What a number may look like, as a regular expression without look-around: all engines know those."""
    digits = "[0-9]+"
    if written.thousands:
        digits = f"([0-9]{{1,3}}({_class(written.thousands)}[0-9]{{3}})+|[0-9]+)"
    fraction = f"({_class(written.decimal)}[0-9]*)?"
    return f"[+-]?({digits}{fraction}|{_class(written.decimal)}[0-9]+)([eE][+-]?[0-9]{{1,3}})?"


def has_own_marks(written: Format) -> bool:
    """Whether the description says which words stand for nothing; the usual ones are no numbers anyway."""
    return written.missing != MISSING


def marks_of(column: Column) -> tuple[str, ...]:
    """The words for a missing value; a word that the owner lists as a value is one, even if it is NA."""
    listed = () if column.described is None else column.described.values
    return tuple(mark for mark in column.format.missing if mark not in listed)


def marked_words(column: Column) -> tuple[str, ...]:
    """The words for a missing value that would be read as yes or no if nobody had said so."""
    if not has_own_marks(column.format) or (column.described is not None and column.described.yes):
        return ()  # the owner's own words for yes and no are never among them
    marks, usual = column.format.missing, (*YES_WORDS, *NO_WORDS)
    same = [word for word in usual if label_of(word) in map(label_of, marks)]  # 0 is 0.0
    return tuple(dict.fromkeys([*same, *(mark for mark in marks if mark.lower() in usual)]))


def marked_numbers(column: Column) -> list[float]:
    """The numbers that stand for a missing value: -9 is -9.0."""
    written = column.format
    if not has_own_marks(written):
        return []
    return numbers_among(written.missing, written)


def marked_moments(column: Column) -> tuple[str, ...]:
    """The moments that stand for a missing value in a column of moments, such as 9999-12-31."""
    if column.is_text or not has_own_marks(column.format):
        return ()
    return tuple(found for found in map(moment_text, column.format.missing) if found is not None)


def _number(column: Column, sql: DuckDB) -> str:
    """A number if its text is written like one: what an engine would take for one beyond that is missing."""
    cell, written = column.identifier, column.format
    if not column.is_text:
        return sql.as_number(cell, column.kind)
    if column.is_number:
        return sql.text_as_number(cell)
    looks = dict.fromkeys([sql.as_text(cell), _trimmed(column, sql)] if not column.is_bare else [cell])
    return f"CASE {' '.join(_number_case(text, written, sql) for text in looks)} END"


def _number_case(text: str, written: Format, sql: DuckDB) -> str:
    """Most cells have no blanks around them: the quick look comes first."""
    tests = [f"{sql.length(text)} <= {MAX_DIGITS}", sql.matches(text, number_pattern(written))]
    plain = f"replace({text}, {sql.literal(written.thousands)}, '')" if written.thousands else text
    plain = plain if written.decimal == "." else f"replace({plain}, {sql.literal(written.decimal)}, '.')"
    return f"WHEN {' AND '.join(tests)} THEN {sql.text_as_number(plain)}"


def _trimmed(column: Column, sql: DuckDB) -> str:
    """A cell without the blanks around it."""
    return column.identifier if column.is_bare else sql.trimmed(column.identifier)


def _checked_number(column: Column, read: str, sql: DuckDB) -> str:
    """A finite number that its description allows."""
    described = column.described
    tests = [f"{read} IS NOT NULL" if column.kind == WHOLE else sql.finite(read)]
    if described is not None and described.least is not None:
        tests.append(f"{read} >= {sql.number(described.least)}")
    if described is not None and described.most is not None:
        tests.append(f"{read} <= {sql.number(described.most)}")
    if described is not None and described.values:
        tests.append(f"{read} IN ({', '.join(sql.number(float(value)) for value in described.values)})")
    marks = marked_numbers(column)
    if marks:
        tests.append(f"{read} NOT IN ({', '.join(map(sql.number, marks))})")
    return read if tests == [f"{read} IS NOT NULL"] else f"CASE WHEN {' AND '.join(tests)} THEN {read} END"


def _number_label(checked: str, read: str, sql: DuckDB) -> str:
    """3.0 and 3 are the same label; other numbers are written with the fewest digits."""
    whole = f"{read} = floor({read}) AND abs({read}) < 9e18"
    return (
        f"CASE WHEN ({checked}) IS NULL THEN NULL WHEN {whole} THEN {sql.as_text(f'CAST({read} AS {sql.whole})')} "
        f"ELSE {sql.number_text(read)} END"
    )


def _truth(column: Column, sql: DuckDB) -> str:
    cell, (yes, no) = column.identifier, words_of(column)
    if column.kind == BOOLEAN:
        return sql.truth_of(cell)
    if column.is_text:
        # one word at a time: the engine then decides once for each word of a dictionary, not once for each row
        words = [
            f"WHEN {sql.literal(word)} THEN {truth}" for truth, each in (("true", yes), ("false", no)) for word in each
        ]
        word = sql.lower(_trimmed(column, sql))
        if column.described is not None and has_codes(column.described.yes + column.described.no):
            word = _without_zeros(word, sql)
        read = f"CASE {word} {' '.join(words)} END"
        marks = marked_words(column)
        return f"CASE WHEN {_trimmed(column, sql)} NOT IN ({_listed(marks, sql)}) THEN {read} END" if marks else read
    if column.kind == DECIMAL:  # one with 38 places cannot even be compared with 1
        cell = sql.as_number(cell, column.kind)
    nothing = numbers_among(marked_words(column))
    tests = [
        (truth, [each for each in numbers_among(words) if each not in nothing])
        for truth, words in (("true", yes), ("false", no))
    ]
    cases = [f"WHEN {cell} IN ({', '.join(map(_plain, each))}) THEN {truth}" for truth, each in tests if each]
    return f"CASE {' '.join(cases)} END" if cases else f"CAST(NULL AS {sql.truth})"


def _plain(number: float) -> str:
    return repr(int(number)) if number == int(number) else repr(number)


def _day(column: Column, sql: DuckDB) -> str:
    """A text as a moment in the order year, month, day, hour, which compares as moments do.

    Without a description it has to be written in this order: everything else is missing, never compared as text.
    """
    text, described = _trimmed(column, sql), column.described
    if described is None or described.kind != description.DATE:
        found = _whole_moment(sql.without_end(f"replace({text}, 'T', ' ')", "Z|[+]00(:?00)?"), sql)
    else:
        found = sql.day(text, described.form, day_pattern(described.form))
    marks = column.format.missing if has_own_marks(column.format) else ()
    return f"CASE WHEN {text} NOT IN ({_listed(marks, sql)}) THEN {found} END" if marks else found


def _whole_moment(text: str, sql: DuckDB) -> str:
    """A day with its first moment, a moment or a time of day as it is; years have four digits."""
    first = sql.joined(text, "' 00:00:00'")
    whole = f"CASE WHEN {sql.matches(text, DATE)} THEN {first} ELSE {text} END"
    return f"CASE WHEN {sql.matches(f'({whole})', f'({DATE} )?{CLOCK}')} THEN {whole} END"


def _moment(column: Column, sql: DuckDB) -> str:
    """A typed moment, day or time of day as text that compares as they do."""
    return _whole_moment(sql.without_end(sql.moment(column.identifier), "[+]00"), sql)


def day_pattern(form: str, *, groups: bool = False) -> str:
    """What a date of this form may look like: years have four digits, all else one or two; each may be a group."""
    digits = {"%Y": "[0-9]{4}", **dict.fromkeys(("%m", "%d", "%H", "%M", "%S"), "[0-9]{1,2}")}
    around = "({})" if groups else "{}"
    parts = re.split(r"(%.)", form)
    return "".join(around.format(digits[part]) if part in digits else "".join(map(_class, part)) for part in parts)


def _checked_text(column: Column, use: str, read: str, sql: DuckDB) -> str:
    described, tests, marks = column.described, [], marks_of(column)
    label = read
    if use == LABEL and column.is_text:
        label = _without_zeros(read, sql)
    if column.is_text and marks:
        same = label if use == LABEL and has_own_marks(column.format) else read  # -9.0 is -9
        tests.append(f"{same} IN ({_listed(dict.fromkeys(map(label_of, marks)) if same != read else marks, sql)})")
    if described is not None and described.values:
        tests.append(f"{read} NOT IN ({_listed(map(str, described.values), sql)})")
    return f"CASE WHEN {' OR '.join(tests)} THEN NULL ELSE {label} END" if tests else label


def _without_zeros(text: str, sql: DuckDB) -> str:
    """A whole number without its fraction of zeros, and all else as it is: ``label_of``."""
    ends = f"{sql.contains(text, '.0')} AND {sql.matches(text, WHOLE_LABEL)}"  # the quick look first
    return f"CASE WHEN {ends} THEN {sql.before(text, '.')} ELSE {text} END"


def _text(column: Column, sql: DuckDB) -> str:
    if column.is_text:
        return f"nullif({_trimmed(column, sql)}, '')"
    write = {BOOLEAN: sql.truth_text, MOMENT: sql.moment}.get(column.kind, sql.as_text)
    return write(column.identifier)


def _listed(words: Iterable[str], sql: DuckDB) -> str:
    return ", ".join(map(sql.literal, words))


def _class(character: str) -> str:
    """One character as a class of characters, in which none but a few mean anything."""
    return f"[{character}]" if character not in "^]\\" else f"\\{character}"
