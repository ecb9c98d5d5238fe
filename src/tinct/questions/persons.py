"""Who counts, and as what: how the rows of one person become one row.

The rule is stated here. DuckDB (``sources.counting_sql``), Spark (``sources.spark_frames``) and the sentences of a plan
are renderings of it. Rows without a person's name are left out. The rule looks at the rows of this person only and not
at their order in the data, so one person changes the counts by one row, whatever rows they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from tinct.questions._together import Together
from tinct.questions.counts import Categories
from tinct.questions.questions import Median, Quantile
from tinct.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.questions.questions import Question


class Keep(Enum):
    """What is kept of a value that several rows have."""

    ANY = "true if one of them is"
    FIRST = "the first of them; missing only if all are"


@dataclass(frozen=True)
class PersonRule:
    """What is kept of each part of a row."""

    inside: Keep  # whether ``where`` lets it in
    label: Keep  # its group: among the rows that are let in, in the order of text or of a list
    place: Keep  # its class: among the rows of that group; yes is 0 and no is 1, categories are numbered as listed


RULE = PersonRule(inside=Keep.ANY, label=Keep.FIRST, place=Keep.FIRST)

EACH_ROW = Remark(
    "each row counts as one person; if people can have several rows, name the column that identifies them (unit)",
    "rows-are-people",
    declared=False,
)
_DECLARED = Remark(
    "each row counts as one person, as the owner of the budget declared", "rows-are-people", declared=True
)
_UNIT = "a person with several rows counts once, {how}; rows with an empty {unit!r} are ignored"


def sentence(question: Question, unit: str | None, *, declared: bool = False) -> Remark:
    """The rule in words, for a question and the column that names persons; ``declared`` if an owner has decided it.

    >>> from tinct import majority
    >>> sentence(majority("support"), "id")
    "a person with several rows counts once, as a yes if any of the rows is; rows with an empty 'id' are ignored"
    """
    if unit is None:
        return _DECLARED if declared else EACH_ROW
    if isinstance(question, Together):
        each = dict({Keep.FIRST: _first_place(part)}[RULE.place] for part in question.questions)
        how = f"in every question: {', or '.join(each.values())}"
        return Remark(_UNIT.format(unit=unit, how=how), "one-row-per-person", unit=unit, counts=list(each))
    counts, how = {Keep.FIRST: _first_place(question)}[RULE.place]
    return Remark(_UNIT.format(unit=unit, how=how), "one-row-per-person", unit=unit, counts=counts)


def _first_place(question: Question) -> tuple[str, str]:
    """What a person counts as, for programs and for people."""
    if isinstance(question.counted, Categories):
        return "first-category", "in the category listed first"
    if isinstance(question, Median | Quantile):
        return "largest-value", "with the largest value"
    return "any-yes", "as a yes if any of the rows is"


class PersonRow(NamedTuple):
    """What a row says, or what a person counts as."""

    inside: bool
    label: str | None
    place: int | None


def as_one(rows: Sequence[PersonRow], groups: Sequence[str] | None = None) -> PersonRow:
    """The rule in plain Python: slow, and what the engines are tested against. ``groups`` is the order of groups.

    >>> as_one([PersonRow(True, "S", 0), PersonRow(True, "N", 1), PersonRow(True, "N", None), PersonRow(False, "A", 0)])
    PersonRow(inside=True, label='N', place=1)
    """
    inside = [row for row in rows if row.inside]
    label = _keep(RULE.label, [row.label for row in inside], None if groups is None else groups.index)
    place = _keep(RULE.place, [row.place for row in inside if row.label == label])
    return PersonRow(_keep(RULE.inside, [row.inside for row in rows]), label, place)


def _keep(how: Keep, values: list[Any], order: Any = None) -> Any:
    if how is Keep.ANY:
        return any(values)
    return min((value for value in values if value is not None), key=order, default=None)
