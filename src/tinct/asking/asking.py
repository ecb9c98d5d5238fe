"""ask: from data and a question to one private answer, charged before it is shown."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct import sources
from tinct.asking.answers import Answer, Plan
from tinct.asking.charging import charged
from tinct.asking.designs import CertainDesign, Design, design
from tinct.asking.groups import Groups
from tinct.asking.personal import Personal
from tinct.errors import ParameterError
from tinct.privacy import Privacy
from tinct.privacy.amounts import fraction_text
from tinct.questions import Question, parse
from tinct.questions.families import ADD_REMOVE, REPLACE, relation, require_relation
from tinct.questions.words import Median, Mode, Quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from tinct.sources import Source

_ROW = "each row is taken to be one person: name the column of persons (unit) if that is not so"
_UNIT = "a person with several rows counts once, {how}; rows without a name in {unit!r} are left out"
_NUMBERS = "numbers are read if they are written like 12, -3.5 or 1e6; 1,200 or € 12 would be missing"
_MISSING = "cells that cannot be read are missing, and rows for which the question is unknown count for neither answer"


def ask(
    data: Any,
    question: Question | str,
    epsilon: Any = None,
    delta: Any = 0,
    by: str | None = None,
    unit: str | None = None,
    ledger: Any = None,
    *,
    neighbors: str = ADD_REMOVE,
    where: Any = None,
    groups: Sequence[str] | None = None,
    select: Any = None,
    lean: Any = None,
    epsilon_column: str | None = None,
    budgets: Any = None,
    request: str | None = None,
    scope: str = "default",
    who: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Answer:
    """Answer a question about people's data with the mechanism that no other private mechanism beats.

    Args:
        data: A path (.csv, .tsv, .parquet, .jsonl), a pandas or Polars frame, an Arrow table, a DuckDB relation, or
            what ``sources.open`` made of one, which stays open.
        question: A question such as ``majority("support")``, or its text.
        epsilon: ε of the whole answer, such as ``"0.5"`` or ``"ln 2"``.
        delta: δ of the whole answer.
        by: A column of groups: one answer for each group. A person is in one group, so ε is spent once.
        unit: The column that names persons, if a person may have several rows.
        ledger: A Ledger, a path or a postgresql:// address; the answer is charged before it is shown.
        neighbors: ``"add-remove"`` (a person is there or not) or ``"replace"`` (a person's row reads otherwise;
            the number of people is public).
        where: A predicate; only rows for which it is true are looked at.
        groups: The groups to answer for. Without it, groups are found privately, which takes a share of ε and all of δ.
        select: The share of ε for finding groups, one half if left out.
        lean: Unequal boundaries: the probability of the truth where "yes" is just true.
        epsilon_column: A column with each person's own ε; needs ``budgets`` and ``neighbors="replace"``.
        budgets: The few values of ε that may stand in ``epsilon_column``; public.
        request: A name for this request: asked again, it returns the recorded answer, free of charge.
        scope: Whose budget in the ledger.
        who: Who asks, for the ledger.
        progress: Called with the share of long work that is done.

    >>> import pandas as pd
    >>> from tinct import majority
    >>> ask(pd.DataFrame({"support": ["yes"] * 500 + ["no"] * 20}), majority("support"), epsilon=1).value
    'yes'
    """
    asked = Request.of(
        question, epsilon=epsilon, delta=delta, by=by, unit=unit, neighbors=neighbors, where=where, groups=groups,
        select=select, lean=lean, epsilon_column=epsilon_column, budgets=budgets,
    )  # fmt: skip
    with _opened(data) as source:
        ready = _prepare(asked, source, progress)
        return charged(ready.plan, ready.draw, ready.cost, ledger, request, scope, who)


def plan(data: Any, question: Question | str, *, progress: Any = None, **options: Any) -> Plan:
    """Everything ``ask`` would say except the answer, for the same options. Nothing is drawn and nothing is charged.

    >>> import pandas as pd
    >>> plan(pd.DataFrame({"support": ["yes", "no"]}), "majority(support)", epsilon="ln 3").accuracy.right["tinct"][0]
    0.75
    """
    asked = Request.of(question, **options)
    with _opened(data) as source:
        return _prepare(asked, source, progress).plan


def _opened(data: Any) -> AbstractContextManager[Source]:
    """The rows; a source of the caller's stays open for the next question."""
    return nullcontext(data) if isinstance(data, sources.Source) else sources.open(data)


@dataclass(frozen=True)
class Request:
    """A request, checked as far as it can be without the data."""

    question: Question
    privacy: Privacy | None
    by: str | None
    unit: str | None
    neighbors: str
    where: Any
    groups: Groups | None
    lean: Any
    personal: Personal | None

    @classmethod
    def of(
        cls, question: Any, epsilon: Any = None, delta: Any = 0, by: Any = None, unit: Any = None,
        neighbors: Any = ADD_REMOVE, where: Any = None, groups: Any = None, select: Any = None, lean: Any = None,
        epsilon_column: Any = None, budgets: Any = None,
    ) -> Request:  # fmt: skip
        """Check everything that is public."""
        asked = parse(question) if isinstance(question, str) else question
        if not isinstance(asked, Question):
            raise ParameterError(f"question must be a question such as majority('support'), got {question!r:.80}")
        require_relation(neighbors, 0 if neighbors == REPLACE else None)
        personal = Personal.of(asked, epsilon_column, budgets, epsilon, delta, by, neighbors)
        if personal is None and epsilon is None:
            raise ParameterError("epsilon must be given, such as epsilon='0.5'")
        privacy = None if personal is not None else Privacy(epsilon, delta)
        if by is None and (groups is not None or select is not None):
            raise ParameterError("groups and select need by, the column of groups")
        if by is not None and neighbors == REPLACE:
            raise ParameterError(
                "by needs neighbors='add-remove': somebody whose row is replaced may change group and so touch two"
            )
        grouped = Groups.of(asked, privacy, groups, select) if by is not None and privacy is not None else None
        return cls(asked, privacy, by, unit, neighbors, where, grouped, lean, personal)


@dataclass(frozen=True)
class _Ready:
    plan: Plan
    cost: tuple[Any, Fraction]
    draw: Callable[[], Any]


def _prepare(asked: Request, source: Source, progress: Any) -> _Ready:
    """Count, design, and say what may be said; the draw is left for the ledger's transaction."""
    source.check(asked.question, where=asked.where, unit=asked.unit, by=asked.by)
    if asked.personal is not None:
        return _personal(asked, asked.personal, source, progress)
    if asked.groups is not None:
        return _grouped(asked, asked.groups, source, progress)
    privacy = _stated(asked)
    counts = source.count(asked.question, where=asked.where, unit=asked.unit)
    n = counts.rows if asked.neighbors == REPLACE else None
    partial = asked.where is not None
    made = design(asked.question, privacy, asked.neighbors, n, lean=asked.lean, partial=partial, progress=progress)
    cost = (0, Fraction(0)) if isinstance(made, CertainDesign) else (privacy.exact_epsilon, privacy.exact_delta)
    return _Ready(plan_of(asked, source, made, cost, ()), cost, lambda: made.draw(counts))


def _grouped(asked: Request, groups: Groups, source: Source, progress: Any) -> _Ready:
    by = asked.by or ""
    made = design(asked.question, groups.answering, asked.neighbors, None, lean=asked.lean, progress=progress)
    counts = source.count_by(asked.question, by, where=asked.where, unit=asked.unit, groups=groups.declared)
    privacy = _stated(asked)
    cost = (privacy.exact_epsilon, privacy.exact_delta)
    return _Ready(plan_of(asked, source, made, cost, groups.rules(by)), cost, lambda: groups.draw(made, counts))


def _personal(asked: Request, personal: Personal, source: Source, progress: Any) -> _Ready:
    made, counts = personal.prepare(source, asked.where, asked.unit, progress)
    cost = (0, Fraction(0)) if isinstance(made, CertainDesign) else (personal.largest, Fraction(0))
    return _Ready(plan_of(asked, source, made, cost, personal.rules()), cost, lambda: made.draw(counts))


def _stated(asked: Request) -> Privacy:
    if asked.privacy is None:
        raise ParameterError("epsilon must be given, such as epsilon='0.5'")
    return asked.privacy


def plan_of(asked: Request, source: Source, made: Design, cost: tuple[Any, Fraction], more: tuple[str, ...]) -> Plan:
    """What may be said about a request once its mechanism is known."""
    words = ("row", "rows") if asked.unit is None else ("person", "people")
    where = () if asked.where is None else (f"only rows with {asked.where} are looked at",)
    missing = () if asked.personal else (_MISSING,)
    numbers = (_NUMBERS,) if isinstance(asked.question, Median | Quantile) else ()
    return Plan(
        question=str(asked.question),
        record=_record(asked, source.name),
        meaning=asked.question.meaning_for(*words),
        epsilon=str(cost[0]),
        delta=fraction_text(cost[1]),
        neighbors=f"{asked.neighbors}: {relation(asked.neighbors, people=asked.unit is not None)}",
        rules=(_people(asked), *source.rules, *missing, *numbers, *where, *more),
        method=made.method,
        accuracy=made.accuracy(),
        certificate=made.id,
    )


def _people(asked: Request) -> str:
    """Who counts, and as what."""
    if asked.unit is None:
        return _ROW
    how = "as a yes if one of the rows is"
    if isinstance(asked.question, Mode):
        how = "in the category that comes first in the list"
    elif isinstance(asked.question, Median | Quantile):
        how = "with the largest value"
    return _UNIT.format(unit=asked.unit, how=how)


def _record(asked: Request, data: str) -> str:
    """The request in one line."""
    given = {"where": asked.where, "by": asked.by, "unit": asked.unit}
    if asked.neighbors == REPLACE:
        given["neighbors"] = REPLACE
    if asked.personal is not None:
        given["epsilon_column"] = asked.personal.column
    return ", ".join([f"{asked.question} of {data}", *(f"{name} {value}" for name, value in given.items() if value)])
