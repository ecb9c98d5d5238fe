"""A first description of a file, made by looking at it: kinds that its owner reads, corrects and confirms.

What was found out about the values is secret. It goes into the description only where the owner accepts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.sources._open import open as open_source
from tinct.sources.cell_rules import PLAIN, label_of, numbers_among, read_number
from tinct.sources.columns import BOOLEAN, DECIMAL, FLOAT, MOMENT, WHOLE
from tinct.sources.data_files import located
from tinct.sources.description import (
    CATEGORY,
    DATE,
    IDENTIFIER,
    MISSING,
    NUMBER,
    YES_NO,
    ColumnDescription,
    Description,
    Format,
)
from tinct.sources.inspection import FORMS, MAX_SHOWN, STYLES, ColumnContents, contents_of, is_utf8, per_person

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct._files.loading import FilePath

DOUBT = "all fractions have three digits: if the point stands between thousands, say thousands = '.' and decimal = ','"
_MOST = 0.95  # of the cells have to be of a kind
_FEW = 30  # different values, at most, in a column of categories
_UNIQUE = 0.9  # of the cells are different in a column of identifiers
# words for yes and no in several languages; one pair has to fit
_PAIRS = (
    (("yes", "y", "true", "t"), ("no", "n", "false", "f")),
    (("1", "1.0"), ("0", "0.0")),
    (("ja", "j", "wahr"), ("nein", "n", "falsch")),
    (("oui", "o", "vrai"), ("non", "n", "faux")),
    (("sí", "si", "s", "verdadero"), ("no", "n", "falso")),
    (("sì", "si", "vero"), ("no", "falso")),
    (("sim", "s"), ("não", "nao", "n")),
    (("ja", "j"), ("nee", "n")),
    (("ja", "j"), ("nej", "nei", "n")),
    (("tak", "t"), ("nie", "n")),
    (("kyllä", "k"), ("ei", "e")),
    (("ano", "a"), ("ne", "n")),
    (("igen", "i"), ("nem", "n")),
    (("da", "d"), ("nu", "ne", "n")),
    (("evet", "e"), ("hayır", "h")),
    (("да",), ("нет", "не")),
    (("ναι",), ("όχι",)),
)
# letters that mean yes and no on their own; S and N may be south and north, D and N day and night
_LETTERS = ({"y", "n"}, {"t", "f"}, {"j", "n"}, {"1", "0"})


@dataclass(frozen=True)
class Finding:
    """What was found in a column: its kind for the draft, a secret sentence, and the kind with the values found."""

    column: str
    kind: ColumnDescription
    sentence: str
    accepted: ColumnDescription
    values: tuple[tuple[str, int], ...] = ()  # the most frequent ones, if they are few

    def frequent(self, least: int) -> tuple[str, ...]:
        """The values that so many cells have, if they may be categories."""
        return tuple(value for value, many in self.values if many >= least) if self.accepted.values else ()


@dataclass(frozen=True)
class Draft:
    """A description to be confirmed, and what was found on the way, which is secret."""

    description: Description
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def accepting(self, columns: Sequence[str]) -> Description:
        """The draft with what was found in these columns."""
        known = {finding.column: finding.accepted for finding in self.findings}
        strange = [name for name in columns if name not in known]
        if strange:
            raise ParameterError(f"there is no column {strange[0]!r:.80} to accept anything for")
        listed = {name: known[name] if name in columns else kind for name, kind in self.description.columns.items()}
        return Description(listed, self.description.format, self.description.person, confirmed=False)


def draft(path: FilePath, person: str | None = None) -> Draft:
    """Look at a file, all of it, and draft a description."""
    files = located(path)
    notes, written = [], Format()
    if files.kind in (".csv", ".tsv") and not all(map(is_utf8, files.paths)):
        written = Format(encoding="cp1252")
        notes.append("the file is not UTF-8: it is taken for cp1252, as Windows writes it; correct the encoding if not")
    with open_source(path, Description(format=written)) as source:
        if person is not None and person not in source.columns:
            raise ParameterError.of("person", "one of the columns", person)
        found = contents_of(source)
        if person is not None:
            most = max((rows for rows, _ in per_person(source, person)), default=0)
            if most > 1:
                notes.append(f"people have up to {most:,} rows: rows_per_person and groups_per_person can say so")
    style = _style(found)
    written = Format(encoding=written.encoding, decimal=style.decimal, thousands=style.thousands)
    findings = tuple(_identifying(person) if each.column.name == person else _finding(each, style) for each in found)
    kinds = {finding.column: finding.kind for finding in findings}
    return Draft(Description(kinds, written, person, confirmed=False), findings, tuple(notes))


def describe(path: FilePath, *, person: str | None = None, accept: Sequence[str] = ()) -> Description:
    """A draft of a description of a file, for its owner to read, correct and confirm.

    Only names and kinds of columns are in it, and for the columns in ``accept`` also the words, ranges and categories
    that were found: what is in a description is public.
    """
    return draft(path, person).accepting(tuple(accept))


def _identifying(person: str) -> Finding:
    kind = ColumnDescription(IDENTIFIER)
    return Finding(person, kind, "identifies people", kind)


def _finding(found: ColumnContents, style: Format) -> Finding:
    name, filled = found.column.name, found.filled
    marks = sum(many for value, many in found.values if value in MISSING)
    told = max(1, filled - marks)
    words = [(value, many) for value, many in found.values if value not in MISSING]
    plain, accepted, said = _kind(found, style, told, words)
    empty = found.rows - filled
    parts = [said]
    if empty:
        parts.append(f"{empty:,} of {found.rows:,} cells are blank")
    if marks:
        parts.append(f"{marks:,} say NA or the like")
    numbers = {value: read_number(value, style if found.column.is_text else PLAIN) for value, _ in words}
    values = ((value if numbers[value] is None else label_of(repr(numbers[value])), many) for value, many in words)
    return Finding(name, plain, "; ".join(parts), accepted, tuple(values))


def _kind(
    found: ColumnContents, style: Format, told: int, words: list[tuple[str, int]]
) -> tuple[ColumnDescription, ColumnDescription, str]:
    """The kind of a column, the same with what was found, and a sentence about it."""
    column = found.column
    pair = _pair(words, told)
    listed = ", ".join(f"{value} {many:,}" for value, many in words[:8])
    if column.kind == BOOLEAN or pair is not None:
        yes, no = pair if pair is not None and pair not in _PAIRS[:2] else ((), ())  # the usual words need no mention
        return ColumnDescription(YES_NO), ColumnDescription(YES_NO, yes=yes, no=no), f"yes or no: {listed}"
    if column.kind == MOMENT:
        day = ColumnDescription(DATE, form="%Y-%m-%d")
        return day, day, "dates"
    best = max(range(len(FORMS)), key=lambda at: found.days[at])
    if found.days[best] >= _MOST * told:
        day = ColumnDescription(DATE, form=FORMS[best])
        same = [form for form, many in zip(FORMS, found.days, strict=True) if many == found.days[best]]
        other = f", or like {same[1]}: check which" if len(same) > 1 else ""
        return day, day, f"dates written like {FORMS[best]}{other}"
    all_shown = len(found.values) < MAX_SHOWN  # how many there are is only known about
    few = all_shown and bool(words) and max(len(words), found.distinct) <= _FEW and told >= 4 * found.distinct
    numeric = found.numbers[STYLES.index(style)]
    if column.kind in (WHOLE, DECIMAL, FLOAT) or (numeric >= _MOST * told and not (few and numeric < told)):
        return _number(found, style, few, words, listed)
    if few:
        values = tuple(sorted(value for value, _ in words))
        accepted = ColumnDescription(CATEGORY, values=values)
        letters = {value.lower() for value in values}
        may = any(letters & set(yes) and letters & set(no) and letters <= {*yes, *no} for yes, no in _PAIRS)
        more = "; they may mean yes and no: then it is of kind yes/no" if may else ""
        return ColumnDescription(CATEGORY), accepted, f"{len(words)} categories: {listed}{more}"
    unique = found.distinct >= _UNIQUE * told
    said = "nearly every cell is different" if unique else f"text, about {found.distinct:,} different ones"
    return ColumnDescription(IDENTIFIER), ColumnDescription(IDENTIFIER), said + _other_style(found, style)


def _number(
    found: ColumnContents, style: Format, few: bool, words: list[tuple[str, int]], listed: str
) -> tuple[ColumnDescription, ColumnDescription, str]:
    plain = ColumnDescription(NUMBER)
    numbers = sorted(numbers_among((value for value, _ in words), style if found.column.is_text else PLAIN))
    if few and len(numbers) > 1:
        more = "; 1 and 2 may mean yes and no: then it is of kind yes/no" if numbers == [1.0, 2.0] else ""
        accepted = ColumnDescription(CATEGORY, values=tuple(numbers))
        return plain, accepted, f"a number with few values, perhaps codes: {listed}{more}"
    least, most = found.ranges[STYLES.index(style)]
    more = f"; {DOUBT}" if found.in_doubt and style == PLAIN else ""
    if least is None or most is None:
        return plain, plain, f"numbers{more}"
    return plain, ColumnDescription(NUMBER, least=least, most=most), f"numbers from {least:g} to {most:g}{more}"


def _pair(words: list[tuple[str, int]], told: int) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The words for yes and no that nearly all cells are, if both occur and are more than letters for anything."""
    for yes, no in _PAIRS:
        here = [{value.lower(): many for value, many in words if value.lower() in each} for each in (yes, no)]
        met = {word for each in here for word in each}
        enough = told if yes[0] == "1" else _MOST * told  # 0, 1 and now and then a 2 are numbers
        if all(here) and sum(many for value, many in words if value.lower() in met) >= enough:
            alone = all(len(word) == 1 for word in met)
            return (yes, no) if not alone or met in _LETTERS else None
    return None


def _style(found: list[ColumnContents]) -> Format:
    """How numbers are written: as in most columns that are numbers; in doubt as programs write them."""
    fitting = [sum(_fits(each, style) for each in found) for style in STYLES]
    return STYLES[max(range(len(STYLES)), key=lambda at: (fitting[at], -at))]


def _fits(found: ColumnContents, style: Format) -> bool:
    """Whether nearly all cells of a column of text are numbers of a style."""
    numbers = found.numbers[STYLES.index(style)]
    marks = sum(many for value, many in found.values if value in MISSING)
    return bool(numbers) and numbers >= _MOST * max(1, found.filled - marks)


def _other_style(found: ColumnContents, style: Format) -> str:
    """A hint for a column whose cells are numbers, but of another style than the file."""
    other = next((each for each in STYLES if _fits(found, each)), None)
    if other is None or _fits(found, style):
        return ""
    between = f" and {other.thousands!r} between thousands" if other.thousands else ""
    return f"; they are numbers with the decimal mark {other.decimal!r}{between}, unlike other columns"
