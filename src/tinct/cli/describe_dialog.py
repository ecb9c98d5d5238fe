"""The questions of ``tinct describe`` on a terminal: column by column, what it means. Enter accepts what is proposed.

What is proposed goes into a public file as soon as it is accepted. So a range is proposed in round numbers, since the
least and the most in the data are two people's own, and a category only if several people are in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tinct.cli.printing import asked, echo
from tinct.cli.shared_options import listed
from tinct.errors import ParameterError
from tinct.sources.cell_rules import read_number
from tinct.sources.description import CATEGORY, DATE, IDENTIFIER, KINDS, NUMBER, YES_NO, ColumnDescription

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from tinct.sources.description import Description
    from tinct.sources.draft import Draft, Finding

    Read = TypeVar("Read")

NONE, SKIP = "-", "skip"
_SEVERAL = 5  # people, at least, in a category that is proposed


def described_by_owner(draft: Draft) -> Description:
    """The draft with what its owner says about each column; a column that is skipped cannot be asked about."""
    echo(f"Enter accepts what stands in brackets, and {NONE} is none; of words, the usual ones.")
    echo("What you accept is public.")
    columns: dict[str, ColumnDescription] = {}
    for finding in draft.findings:
        echo("")
        echo(f"{finding.column}: {finding.sentence}")
        if finding.column == draft.description.person:
            columns[finding.column] = finding.kind
            continue
        kind = _answer(f"  kind ({', '.join(KINDS)}, {SKIP})", finding.kind.kind, _kind)
        if kind != SKIP:
            columns[finding.column] = _column(kind, finding)
    return replace(draft.description, columns=columns)


def _column(kind: str, finding: Finding) -> ColumnDescription:
    """Ask for what belongs to a kind until it fits together."""
    while True:
        try:
            return _questions(kind, finding)
        except ParameterError as error:
            echo(f"  {error.problem}")


def _questions(kind: str, finding: Finding) -> ColumnDescription:
    found = finding.accepted
    if kind == YES_NO:
        yes, no = (_answer(f"  words for {word}", getattr(found, word), _words) for word in ("yes", "no"))
        return ColumnDescription(YES_NO, yes=yes, no=no)
    if kind == NUMBER:
        least, most = rounded(found.least, found.most)
        return ColumnDescription(NUMBER, least=_answer("  least", least, _bound), most=_answer("  most", most, _bound))
    if kind == CATEGORY:
        values = _answer("  values", finding.frequent(_SEVERAL), _words)
        numbers = [read_number(each) for each in values] if found.is_numeric else [None]
        return ColumnDescription(CATEGORY, values=values if None in numbers else tuple(numbers))  # type: ignore[arg-type]
    if kind == DATE:
        return ColumnDescription(DATE, form=_answer("  form", found.form or "%Y-%m-%d", str))
    return ColumnDescription(IDENTIFIER)


def _answer(question: str, proposed: Read, read: Callable[[str], Read]) -> Read:
    while True:
        try:
            given = asked(f"{question} [{_shown(proposed)}]: ")
            return read(given) if given else proposed
        except ParameterError as error:
            echo(f"  {error.problem}")


def _kind(given: str) -> str:
    fitting = [each for each in (*KINDS, SKIP) if each.startswith(given.lower())]
    if len(fitting) != 1:
        raise ParameterError.of("kind", f"one of {', '.join(KINDS)} and {SKIP}", given)
    return fitting[0]


def _words(given: str) -> tuple[str, ...]:
    return () if given == NONE else tuple(dict.fromkeys(listed(given) or ()))


def _bound(given: str) -> float | None:
    number = read_number(given)
    if number is None and given != NONE:
        raise ParameterError("write a number such as 100, or - for none")
    return number


def _shown(proposed: object) -> str:
    if isinstance(proposed, tuple):
        return ", ".join(proposed) or NONE
    return NONE if proposed is None else f"{proposed:g}" if isinstance(proposed, float) else str(proposed)


def rounded(least: float | None, most: float | None) -> tuple[float | None, float | None]:
    """A range in round numbers around another: nobody's own.

    >>> rounded(17.0, 93.5), rounded(-3.0, 0.0), rounded(0.0, 100.0), rounded(None, None)
    ((0.0, 100.0), (-10.0, 0.0), (0.0, 1000.0), (None, None))
    """
    if least is None or most is None:
        return None, None
    return (-_above(-least) if least < 0 else 0.0), (_above(most) if most > 0 else 0.0)


def _above(number: float) -> float:
    """The least power of ten above a positive number."""
    power = 1.0
    while power <= number:
        power *= 10
    return power
