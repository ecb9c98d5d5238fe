"""Whether a question can mean what it says, for the owner of the data only: nothing here is private."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinct.asking.described import described_as
from tinct.asking.request import Grouped, read_request
from tinct.questions.counts import Categories, Several
from tinct.questions.predicates import DAY, LABEL, NUMBER, TEXT, YES_NO, compared, literal_text, uses
from tinct.remarks import Remark
from tinct.sources import open as open_source
from tinct.sources.cell_rules import label_of, label_parts
from tinct.sources.data_files import TEXT as TEXT_FILES
from tinct.sources.data_files import located
from tinct.sources.draft import DOUBT
from tinct.sources.inspection import CellsRead, cells_read, is_utf8, per_person, thousands_in_doubt
from tinct.sources.postgres_tables import is_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct._files.loading import FilePath
    from tinct.questions import Predicate, Question
    from tinct.questions.predicates import Literal
    from tinct.sources import DataLike, Description, Source

_USES = {NUMBER: "numbers", TEXT: "text", YES_NO: "yes or no", DAY: "dates", LABEL: "groups"}
_COUNTS = {"freq", "frequency", "count", "counts", "n", "weight", "weights", "anzahl", "gewicht", "häufigkeit"}
_MANY = 0.05  # of the cells unread are worth a warning


@dataclass(frozen=True)
class ReadingCheck:
    """What the owner should know. All of it is secret.

    Attributes:
        warnings: Sentences that say what is probably wrong; empty if nothing is.
        cells: How the cells of each column are read.
        rows_per_person: (rows, how many people have so many), if people are identified.
        groups_per_person: (groups, how many people are in so many), with a column of groups.
    """

    warnings: tuple[str, ...]
    cells: tuple[CellsRead, ...]
    rows_per_person: tuple[tuple[int, int], ...] = ()
    groups_per_person: tuple[tuple[int, int], ...] = ()


def check_reading(
    data: DataLike,
    question: Question | str,
    *,
    by: str | Sequence[str] | None = None,
    unit: str | None = None,
    where: str | Predicate | None = None,
    groups: Sequence[str] | None = None,
    groups_per_person: int | None = None,
    description: Description | FilePath | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing: Sequence[str] | None = None,
) -> ReadingCheck:
    """How the data would be read for a question: for the owner's eyes only. Nothing is drawn, nothing is charged."""
    described = described_as(data, None, description, encoding, decimal, thousands, missing, delimiter)
    asked = read_request(
        question, 1, "1e-9", by=by, unit=unit, where=where, groups=groups, groups_per_person=groups_per_person,
        described=described,
    )  # fmt: skip
    with open_source(data, described) as source:
        columns = asked.by if isinstance(asked, Grouped) else ()
        source.check(asked.question, where=asked.where, unit=asked.unit, by=columns or None)
        used = list(asked.question.counted.uses())
        used += [] if asked.where is None else list(uses(asked.where))
        used += [(column, LABEL) for column in columns]
        cells = tuple(cells_read(source, name, use) for name, use in dict.fromkeys(used))
        rows = () if asked.unit is None else tuple(per_person(source, asked.unit))
        among = () if asked.unit is None or not columns else tuple(per_person(source, asked.unit, columns))
        literals = _literals(asked.question, asked.where)
        declared = asked.groups.declared if isinstance(asked, Grouped) else None
        warnings = _about_bytes(data, described)
        warnings += [warning for each in cells for warning in _about(each)]
        warnings += [
            Remark(f"{each.column}: {DOUBT}", "thousands", column=each.column)
            for each in cells
            if each.use == NUMBER and thousands_in_doubt(source, each.column)
        ]
        warnings += _unmatched(source, literals, declared, columns)
        warnings += _counted_already(source) if asked.unit is None else []
    if described is not None and described.rows_per_person is not None and rows:
        more = sum(many for k, many in rows if k > described.rows_per_person)
        if more:
            said = f"{more:,} people have more than the {described.rows_per_person:,} rows that are described"
            warnings.append(Remark(said, "many-rows", people=more, rows_per_person=described.rows_per_person))
    kept = groups_per_person or (1 if described is None else described.groups_per_person)
    several = sum(many for k, many in among if k > kept)
    if several:
        said = (
            f"{several:,} people have rows in more than {kept} of the groups of {' and '.join(columns)}: of each "
            f"person, only the first {kept} in the order of their text count; groups_per_person lets them count in more"
        )
        warnings.append(Remark(said, "many-groups", people=several, groups_per_person=kept, by=list(columns)))
    return ReadingCheck(tuple(warnings), cells, rows, among)


def _about_bytes(data: DataLike, described: Description | None) -> list[Remark]:
    """Whether a text file is not what it is taken for: then cells are missing that look blank from here."""
    if not isinstance(data, str | os.PathLike) or (described is not None and described.format.encoding is not None):
        return []
    files = None if is_address(str(data)) else located(data)
    if files is None or files.kind not in TEXT_FILES or all(map(is_utf8, files.paths)):
        return []
    said = "the file is not UTF-8: each cell with other bytes is missing; say what it is written in, such as cp1252"
    return [Remark(said, "not-utf-8")]


def _counted_already(source: Source) -> list[Remark]:
    """A column by whose name each row may stand for several people."""
    found = [name for name in source.columns or () if name.lower() in _COUNTS]
    said = "each row counts as one person: if {0} says how many a row stands for, write a row for each of them"
    return [Remark(said.format(name), "counted-already", column=name) for name in found]


def _literals(question: Question, where: Predicate | None) -> list[tuple[str, str, str]]:
    """The texts that columns are compared with, each with how the column is read."""
    found: list[tuple[str, str, Literal]] = []
    for counted in question.counted.parts if isinstance(question.counted, Several) else (question.counted,):
        if isinstance(counted, Categories):
            found += [(counted.column, counted.use, value) for value in counted.values]
        else:
            found += compared(counted.predicate)
    found += [] if where is None else list(compared(where))
    return [(name, use, value) for name, use, value in found if isinstance(value, str) and use in (TEXT, LABEL)]


def _about(cells: CellsRead) -> list[Remark]:
    """What is probably wrong with a column."""
    filled = cells.rows - cells.blank
    found: list[tuple[str, str]] = []
    if filled and cells.unread == filled:
        said = (
            f"none of the {filled:,} cells of {cells.column} can be read as {_USES[cells.use]}: the answer would be a "
            "coin toss"
        )
        found.append(("none-read", said))
    elif cells.unread > _MANY * filled:
        shown = ", ".join(f"{text!r:.40} ({many:,})" for text, read, many in cells.spellings if read is None)
        said = (
            f"{cells.unread:,} of {filled:,} cells of {cells.column} cannot be read as {_USES[cells.use]} and are "
            f"missing, such as {shown:.300}"
        )
        found.append(("many-unread", said))
    if not filled:
        found.append(("all-blank", f"all {cells.rows:,} cells of {cells.column} are blank"))
    if cells.use == YES_NO:
        met = {text.removesuffix(".0"): read for text, read, _ in cells.spellings}
        if "1" in met and met.get("2", "read") is None and "0" not in met:
            said = (
                f"{cells.column} is coded with 1 and 2: only 1 is read, as a yes; say what means no, such as "
                f"majority({cells.column}, yes=1, no=2), or describe the column"
            )
            found.append(("one-and-two", said))
    facts = {"column": cells.column, "use": cells.use, "cells": filled, "unread": cells.unread}
    return [Remark(said, code, **facts) for code, said in found]


def _unmatched(
    source: Source, literals: list[tuple[str, str, str]], groups: Sequence[str] | None, by: tuple[str, ...]
) -> list[Remark]:
    """Texts and groups that no cell is equal to."""
    looked: dict[tuple[str, str], set[str]] = {}
    parts = [(label_parts(group) if len(by) > 1 else [group]) for group in groups or ()]
    named = [(name, LABEL, each) for part in parts for name, each in zip(by, part, strict=True)]
    wanted = dict.fromkeys([*literals, *named])
    found = []
    for name, use, value in wanted:
        if (name, use) not in looked:
            read = cells_read(source, name, use)
            looked[name, use] = {each for _, each, _ in read.spellings if each is not None}
            if len(read.spellings) >= 30:  # not all were listed
                looked[name, use] = set()
        seen = looked[name, use]
        sought = label_of(value) if use == LABEL else value
        if seen and sought not in seen:
            said = f"no cell of {name} is {literal_text(value)}; there are {', '.join(sorted(seen))[:200]}"
            found.append(Remark(said, "no-such-cell", column=name, value=str(value)))
    return found
