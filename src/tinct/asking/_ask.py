"""ask: from data and a question to one private answer.

The order is the guarantee (docs/security/attacks.md): everything public is checked, then the budget is charged
irrevocably, and only then are rows counted, an answer drawn, stored once, and shown.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct import sources
from tinct.asking._needed_epsilon import Wanted
from tinct.asking.answers import NO_LEDGER, NOT_DESCRIBED, Answer, Plan, cautions
from tinct.asking.described import described_as
from tinct.asking.designs import CertainDesign, Design, design
from tinct.asking.following import Following, Recorded, following, recorded_text
from tinct.asking.joint_design import joint_design
from tinct.asking.number_designs import NumberDesign, number_design
from tinct.asking.request import Grouped, Personal, Request, Single, read_request
from tinct.asking.with_ledger import answer_of, book_of, charged, in_part, left_in, recalled, refusal, room_for
from tinct.errors import ParameterError
from tinct.numbers.amounts import fraction_text, rational
from tinct.privacy.neighbors import Neighbors
from tinct.questions import Question, parse, persons
from tinct.questions._together import Together
from tinct.questions.counts import Several
from tinct.questions.positions import relation
from tinct.questions.questions import Median, Mode, Quantile
from tinct.remarks import Remark
from tinct.sources.cell_rules import has_own_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from tinct._files.loading import FilePath
    from tinct.asking.designs import Progress
    from tinct.asking.personal_budgets import BudgetsLike
    from tinct.ledger import Entry, Ledger, Protection
    from tinct.numbers.amounts import AmountLike, NumberLike
    from tinct.privacy.neighbors import NeighborsLike
    from tinct.questions import Predicate
    from tinct.questions._together import QuestionLike
    from tinct.sources import DataLike, Description, Source

_NUMBERS = Remark("numbers are written like 12, -3.5 or 1e6; cells such as 1,200 or € 12 count as missing", "numbers")
_MISSING = Remark(
    "blank cells, the words NA, N/A, NaN, NULL and None, and cells that cannot be read count as missing; rows whose "
    "answer is unknown count for neither side",
    "missing",
)
_MISSING_OWN = Remark(
    "cells that cannot be read count as missing, and rows whose answer is unknown count for neither side", "missing"
)
_PEOPLE = "the declared number of people is {people:,}: further people are ignored, absent ones count as unknown"
_TIES = Remark("of several categories that are equally frequent, the one listed first is the right answer", "ties")
_OF_ITS_OWN = ("epsilon", "delta", "lean", "epsilon_column", "budgets")  # of a request, and not of what follows
_TRIED = 50  # recorded numbers, for what follows from them
_DOUBLE = Remark(
    "this budget protects against replacing a person, which is removing one and adding another, so two steps are "
    "charged: 2ε and δ(1 + e^ε)",
    "two-steps",
)


def ask(
    data: DataLike,
    question: QuestionLike,
    epsilon: AmountLike | None = None,
    delta: NumberLike = 0,
    by: str | Sequence[str] | None = None,
    unit: str | None = None,
    ledger: Ledger | FilePath | None = None,
    *,
    neighbors: NeighborsLike | None = None,
    people: int | None = None,
    where: str | Predicate | None = None,
    groups: Sequence[str] | None = None,
    most_groups: int | None = None,
    select: NumberLike | None = None,
    groups_per_person: int | None = None,
    lean: NumberLike | None = None,
    epsilon_column: str | None = None,
    budgets: BudgetsLike | None = None,
    request: str | None = None,
    scope: str = "default",
    who: str | None = None,
    description: Description | FilePath | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing: Sequence[str] | None = None,
    after: str | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Answer a question about people's data with the mechanism that no other private mechanism beats.

    With a ledger, its owner has declared who counts as one person and which datasets are neighbours: ``unit``,
    ``neighbors``, ``people``, ``epsilon_column`` and ``budgets`` can be left out, and must agree if they are given.
    Without a ledger, the caller is the owner.

    Args:
        data: What ``sources.open`` takes: a path (.csv, .tsv, .jsonl, .json, .parquet, .xlsx, a database, a folder of
            parts), the address of a PostgreSQL table, a data frame or Arrow table, a DuckDB relation; or a source that
            was opened with it, which stays open.
        question: A question such as ``majority("support")``, or its text; or several that are answered together: a
            list of them, or a mapping from names to them. Then the value is a mapping from names to answers.
        epsilon: ε of the whole answer, such as ``"0.5"`` or ``"ln 2"``.
        delta: δ of the whole answer.
        by: A column of groups, or several: one answer for each group. ε is spent once, since a person counts in one
            group, or in ``groups_per_person``.
        unit: The column that identifies people, if one person can have several rows.
        ledger: A Ledger, a path or a postgresql:// address; the answer is charged before a row is read. If it is left
            out or None, the environment variable TINCT_LEDGER names it; if there is none either, nothing is charged.
        neighbors: ``"add-remove"`` (adding or removing one person) or ``"replace"`` (changing the rows of one person;
            the number of people is public).
        people: That public number. If it is left out and there is no ledger, the people are counted.
        where: A predicate; only rows for which it is true are counted.
        groups: The groups to answer for. Without it, groups are found privately, which takes a share of ε and all of δ.
        most_groups: With groups that are found: how many to show at most, 1,000 by default.
        select: The share of ε for finding groups, one half by default.
        groups_per_person: In how many groups a person may count, 1 by default. Each group gets this part of ε and δ.
        lean: Unequal boundaries: the probability of the truth where "yes" is just true.
        epsilon_column: A column with each person's own ε; needs ``budgets`` and ``neighbors="replace"``.
        budgets: The values of ε that occur in ``epsilon_column``, and how many people chose each, such as
            ``{"0.5": 120, "1": 80}``; both are public. With a list of values, the people are counted.
        request: An id for this request: asked again, it returns the recorded answer, free of charge.
        scope: Which budget of the ledger to charge.
        who: Who asks, for the ledger's history.
        description: What the owner says about the data: a Description, or the path of one. Without it, a file is
            described by the file beside it that has the same name with .toml behind it.
        delimiter: What stands between the cells of a text file, such as ``";"``, if there is no description.
        encoding: What a text file is written in, such as ``"latin-1"``, if there is no description.
        decimal: The decimal mark of numbers, ``","`` instead of ``"."``, if there is no description.
        thousands: The mark between thousands, such as ``"."``, if there is no description.
        missing: The words that stand for a missing value, if there is no description.
        after: The id of a recorded request that answered with numbers: the answer is read off them, without a further
            cost or a look at the data, if it follows from them. All other options are those of that request, without
            ``epsilon`` and ``delta``.
        progress: Called with the finished share of long work.

    >>> import pandas as pd
    >>> from tinct import majority
    >>> ask(pd.DataFrame({"support": ["yes"] * 500 + ["no"] * 20}), majority("support"), epsilon=1).value
    'yes'
    """
    book, owner = _owner(ledger, scope)
    if book is None and request is not None:
        raise ParameterError.about("request", "`request` needs a ledger: only a ledger remembers answers")
    described = described_as(data, owner, description, encoding, decimal, thousands, missing, delimiter)
    if after is not None:
        given = {
            "epsilon": epsilon, "delta": rational(delta, "delta") or None, "request": request, "lean": lean,
            "epsilon_column": epsilon_column, "budgets": budgets,
        }  # fmt: skip
        for extra, value in given.items():
            if value is not None:
                raise ParameterError.about(extra, f"what follows costs nothing and is not drawn: leave out `{extra}`")
        options = {
            "by": by, "unit": unit, "neighbors": neighbors, "people": people, "where": where, "groups": groups,
            "most_groups": most_groups, "select": select, "groups_per_person": groups_per_person,
        }  # fmt: skip
        with _opened(data, described) as source:
            return _followed(question, after, source, book, owner, scope, described, options)
    asked = read_request(
        question, epsilon=epsilon, delta=delta, by=by, unit=unit, neighbors=neighbors, people=people, where=where,
        groups=groups, most_groups=most_groups, select=select, groups_per_person=groups_per_person,
        lean=lean, epsilon_column=epsilon_column,
        budgets=budgets, owner=owner, described=described,
    )  # fmt: skip
    with _opened(data, described) as source:
        check_columns(asked, source, owner)
        if book is None:  # the caller is the owner, and may have the public numbers counted
            ready = prepare(asked.in_numbers(source), source, owner, progress)
            return answer_of(asked)(ready.draw(), ready.plan)
        asked.require_numbers()
        ready = in_part(asked, prepare(asked, source, owner, progress), book, scope)
        return charged(asked, ready, source.place, book, request, scope, who)


def plan(
    data: DataLike,
    question: QuestionLike,
    *,
    ledger: Ledger | FilePath | None = None,
    scope: str = "default",
    right: NumberLike | None = None,
    margin: int = 1,
    description: Description | FilePath | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing: Sequence[str] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Plan:
    """Everything ``ask`` would return except the answer, for the same options. No row is read, nothing is charged.

    With a ledger, ``Plan.refused`` says whether the budget has too little left for it. With ``right`` instead of
    ``epsilon``, the plan is for the least ε with which an answer is right with this probability if the truth is
    ``margin`` people or more from changing; shares for finding groups, groups per person and a lean are accounted for.

    >>> import pandas as pd
    >>> plan(pd.DataFrame({"support": ["yes", "no"]}), "majority(support)", epsilon="ln 3").accuracy.right["tinct"][0]
    0.75
    """
    book, owner = _owner(ledger, scope)
    described = described_as(data, owner, description, encoding, decimal, thousands, missing, delimiter)
    if right is not None:
        if options.get("epsilon") is not None:
            raise ParameterError.about("epsilon", "`right` finds epsilon: leave out `epsilon`")
        options["epsilon"] = Wanted(right, margin)
    asked = read_request(question, **options, owner=owner, described=described)
    asked.require_numbers()
    with _opened(data, described) as source:
        check_columns(asked, source, owner)
        ready = prepare(asked, source, owner, progress)
        if book is None:
            return ready.plan
        ready = in_part(asked, ready, book, scope)
        refused = refusal(asked, ready, source.place, book, scope)
        paid = _paid_by(asked.question, source, book, owner, scope, described, options)
        return replace(ready.plan, refused=refused, left=book.remaining(scope).said, paid_by=paid)


def _followed(
    question: QuestionLike,
    after: str,
    source: Source,
    book: Ledger | None,
    owner: Protection | None,
    scope: str,
    described: Description | None,
    options: dict[str, Any],
) -> Answer:
    """The answer that a recorded request implies; no row is read."""
    if book is None:
        raise ParameterError.about("after", "`after` needs a ledger: only a ledger remembers answers")
    entry = book.find(after)
    if entry is None or entry.scope != scope:
        raise ParameterError(f"the budget {scope!r} has no request {after!r:.80}", parameter="after")
    recorded = Recorded.of(entry)
    if recorded is None:
        raise ParameterError(f"request {after!r:.80} was not answered with numbers: nothing follows", parameter="after")
    if not entry.answered:
        raise ParameterError(f"request {after!r:.80} is charged, not answered: repeat it first", parameter="after")
    wanted = parse(question) if isinstance(question, str) else question
    if not isinstance(wanted, Question):
        raise ParameterError.about("after", "`after` is for one question at a time")
    asked, made, found = _recalled(wanted, recorded, entry, source, book, owner, scope, described, options)
    told = plan_of(replace(asked, question=wanted), source, owner, made, (0, Fraction(0)), ())
    value = made.answer(found.answer, grouped=isinstance(asked, Grouped))
    return Answer(value, told, after, left_in(book, scope), follows=True)


def _recalled(
    wanted: Question,
    recorded: Recorded,
    entry: Entry,
    source: Source,
    book: Ledger,
    owner: Protection | None,
    scope: str,
    described: Description | None,
    options: dict[str, Any],
) -> tuple[Single | Grouped, Following, Entry]:
    """The recorded request, made again from these options; how the wanted answer follows; and what the ledger has."""
    privacy = recorded.privacy
    asked = read_request(
        recorded.question, **options, epsilon=privacy.exact_epsilon, delta=privacy.exact_delta, owner=owner,
        described=described,
    )  # fmt: skip
    if isinstance(asked, Personal) or (isinstance(asked, Grouped) and asked.groups.declared is None):
        raise ParameterError.about("after", "its groups were found by what is in them: nothing else follows")
    asked.require_numbers()
    check_columns(replace(asked, question=wanted), source, owner)
    ready = in_part(asked, prepare(asked, source, owner, None), book, scope)
    share = asked.groups.answering if isinstance(asked, Grouped) else privacy
    number = number_design(recorded.question, share, asked.neighbors, asked.people)
    made = following(wanted, number, entry.request, asked.unit)
    return asked, made, recalled(asked, ready, source.place, book, entry, scope)


def _paid_by(
    question: Question,
    source: Source,
    book: Ledger,
    owner: Protection | None,
    scope: str,
    described: Description | None,
    options: dict[str, Any],
) -> str | None:
    """The latest recorded request from which the answer follows, if there is one among the last few about numbers."""
    same = {name: value for name, value in options.items() if name not in _OF_ITS_OWN}
    tried = 0
    for entry in reversed(book.history(scope)):
        recorded = Recorded.of(entry) if entry.answered else None
        if recorded is None:
            continue
        with suppress(ParameterError):  # it is about something else
            _recalled(question, recorded, entry, source, book, owner, scope, described, same)
            return entry.request
        tried += 1
        if tried == _TRIED:
            break
    return None


def _owner(ledger: Ledger | FilePath | None, scope: str) -> tuple[Ledger | None, Protection | None]:
    """The ledger, and what the owner of the data declared there."""
    book = book_of(ledger)
    return book, None if book is None else book.protects(scope)


def _opened(data: DataLike, described: Description | None) -> AbstractContextManager[Source]:
    """The rows; a source that the caller opened stays open for the next question."""
    if isinstance(data, sources.Source):
        return nullcontext(data if described is None else data.described_by(described))
    return sources.open(data, described)


def check_columns(asked: Request, source: Source, owner: Protection | None = None) -> None:
    """Refuse what the columns cannot answer, without looking at a row."""
    if owner is not None and owner.unit is not None and source.columns and owner.unit not in source.columns:
        raise ParameterError(
            f"the ledger declares that the column {owner.unit!r:.80} identifies people, and there is no such column"
        )
    by, groups = (asked.by, asked.groups.declared) if isinstance(asked, Grouped) else (None, None)
    source.check(asked.question, where=asked.where, unit=asked.unit, by=by, groups=groups)
    if isinstance(asked, Personal):
        asked.budgets.check(source, asked.where, asked.unit)


@dataclass(frozen=True)
class Ready:
    """A request whose mechanism is chosen: everything public about it, and the draw, which reads the rows.

    ``room`` is the number of bytes of the longest possible answer as JSON.
    """

    plan: Plan
    cost: tuple[Any, Fraction]
    room: int
    draw: Callable[[], Any]
    reading: str | None = None  # the digest of the description by which cells are read, if there is one
    part: tuple[str, tuple[str, ...]] | None = None  # the partition and its groups that are charged; None: everybody


def prepare(asked: Request, source: Source, owner: Protection | None, progress: Progress | None) -> Ready:
    """Choose the mechanism from public facts alone. No row is read before ``draw`` is called."""
    match asked:
        case Personal():
            ready = _personal(asked, source, owner, progress)
        case Grouped():
            ready = _grouped(asked, source, owner, progress)
        case Single():
            ready = _single(asked, source, owner, progress)
    return ready if source.description is None else replace(ready, reading=source.description.digest)


def _single(asked: Single, source: Source, owner: Protection | None, progress: Progress | None) -> Ready:
    question, privacy, partial = asked.question, asked.privacy, asked.where is not None
    made: Design
    if isinstance(question, Together):
        made = joint_design(question, privacy, asked.neighbors, asked.people, partial=partial)
    else:
        made = design(
            question, privacy, asked.neighbors, asked.people, lean=asked.lean, partial=partial, progress=progress
        )
    free = isinstance(made, CertainDesign)
    cost = (0, Fraction(0)) if free else (privacy.exact_epsilon, privacy.exact_delta)

    def draw() -> Any:
        counted = question.counted
        count: Callable[..., Any] = source.count_each if isinstance(counted, Several) else source.count
        return made.draw(count(counted, where=asked.where, unit=asked.unit))

    rules = made.rules if isinstance(made, NumberDesign) else ()
    return Ready(plan_of(asked, source, owner, made, cost, rules), cost, room_for(made.outputs), draw)


def _grouped(asked: Grouped, source: Source, owner: Protection | None, progress: Progress | None) -> Ready:
    by, groups, privacy = asked.by, asked.groups, asked.privacy
    made = design(
        asked.question, groups.answering, asked.neighbors, None, lean=asked.lean, selecting=groups.by_number,
        progress=progress,
    )  # fmt: skip
    cost = (privacy.exact_epsilon, privacy.exact_delta)

    def draw() -> Any:
        batches = source.group_batches(
            asked.question, by, where=asked.where, unit=asked.unit, groups=groups.declared, per_person=groups.per_person
        )
        return groups.draw(made, batches)

    found = plan_of(asked, source, owner, made, cost, groups.rules(by, asked.unit))
    return Ready(found, cost, groups.room(made.outputs), draw)


def _personal(asked: Personal, source: Source, owner: Protection | None, progress: Progress | None) -> Ready:
    personal = asked.budgets
    made = personal.design(progress, asked.lean)
    cost = (0, Fraction(0)) if isinstance(made, CertainDesign) else (personal.largest, Fraction(0))

    def draw() -> Any:
        return made.draw(personal.position(source, asked.where, asked.unit))

    return Ready(plan_of(asked, source, owner, made, cost, personal.rules()), cost, room_for(made.outputs), draw)


def plan_of(
    asked: Request,
    source: Source,
    owner: Protection | None,
    made: Design,
    cost: tuple[Any, Fraction],
    more: tuple[str, ...],
) -> Plan:
    """Everything public about a request once its mechanism is chosen."""
    words = ("row", "rows") if asked.unit is None else ("person", "people")
    who = persons.sentence(asked.question, asked.unit, declared=owner is not None)
    where = (
        ()
        if asked.where is None
        else (Remark(f"only rows with {asked.where} are counted", "where", where=str(asked.where)),)
    )
    own = source.description is not None and has_own_marks(source.description.format)
    missing = () if isinstance(asked, Personal) else (_MISSING_OWN if own else _MISSING,)
    usual = source.description is None or source.description.format.is_plain
    questions = asked.question.questions if isinstance(asked.question, Together) else (asked.question,)
    numbers = (_NUMBERS,) if usual and any(isinstance(each, Median | Quantile) for each in questions) else ()
    ties = (
        (_TIES,) if isinstance(asked.question, Together) and any(isinstance(each, Mode) for each in questions) else ()
    )
    double = (_DOUBLE,) if owner is not None and owner.neighbors != asked.neighbors else ()
    people = (
        () if asked.people is None else (Remark(_PEOPLE.format(people=asked.people), "people", people=asked.people),)
    )
    large = tuple(cautions(cost, asked.people))
    reading = tuple(rule if isinstance(rule, Remark) else Remark(rule, "reading") for rule in source.rules)
    words_of_neighbors = f"{asked.neighbors}: {relation(asked.neighbors, people=asked.unit is not None)}"
    alone = (NO_LEDGER,) if owner is None else ()
    if source.description is None or not source.description.columns:
        alone = (NOT_DESCRIBED, *alone)
    found = ()
    if isinstance(asked, Grouped):
        among = (asked.groups.counted_in(asked.by, asked.unit),) if asked.unit is not None else ()
        found = (*among, *asked.groups.warnings)
    return Plan(
        question=str(asked.question),
        record=_record(asked, source.name),
        meaning=asked.question.meaning_for(*words)
        + ("" if asked.where is None else f", counting only rows with {asked.where}"),
        epsilon=str(cost[0]),
        delta=fraction_text(cost[1]),
        neighbors=Remark(words_of_neighbors, relation=str(asked.neighbors), unit=asked.unit),
        rules=(who, *people, *reading, *missing, *numbers, *ties, *where, *more, *double, *large, *alone),
        method=made.method if isinstance(made.method, Remark) else Remark(made.method, made.name),
        accuracy=made.accuracy(),
        certificate="" if made.certificate is None else made.certificate.id,
        mechanism=made.name,
        certified=made.certificate,
        warnings=(who, *found, *double, *large),
        people=asked.people,
        where=None if asked.where is None else str(asked.where),
        by=asked.by if isinstance(asked, Grouped) else (),
        classes=asked.budgets.classes if isinstance(asked, Personal) else None,
    )


def _record(asked: Request, data: str) -> str:
    """The request in one line."""
    by = ", ".join(asked.by) if isinstance(asked, Grouped) else None
    given = {"where": asked.where, "by": by, "unit": asked.unit}
    if asked.neighbors == Neighbors.REPLACE:
        given["neighbors"] = Neighbors.REPLACE
    if isinstance(asked, Personal):
        given["epsilon_column"] = asked.budgets.column
    words = [f"{asked.question} of {data}", *(f"{name} {value}" for name, value in given.items() if value)]
    return ", ".join(words) + ("" if isinstance(asked, Personal) else recorded_text(asked.question, asked.privacy))
