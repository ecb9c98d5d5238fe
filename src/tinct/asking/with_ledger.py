"""Asking with a ledger: charge irrevocably, then count, draw, store the answer once, and only then show it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tinct.asking.answers import Answer, Answers
from tinct.errors import BudgetExceeded, NotAnswered, ParameterError
from tinct.ledger import Ledger
from tinct.ledger.book import not_answered
from tinct.ledger.contents import Spending, checksum, groups_of
from tinct.questions._together import Together
from tinct.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinct._files.loading import FilePath
    from tinct.asking._ask import Ready
    from tinct.asking.request import Request
    from tinct.ledger import Entry

VARIABLE = "TINCT_LEDGER"
_DISJOINT = "only the groups that are named are charged: their owner declared that nobody is in two groups of {!r}"


def book_of(ledger: Ledger | FilePath | None) -> Ledger | None:
    """The ledger that is charged: the one that is given, else the one that the environment names.

    So None means that the caller did not say, and not that nobody counts: a program that hands its own ``ledger=None``
    on must not lose a charge that whoever set the variable relies on.
    """
    if ledger is None:
        ledger = os.environ.get(VARIABLE) or None
    return ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)


def in_part(asked: Request, ready: Ready, book: Ledger, scope: str) -> Ready:
    """The same, charged to the groups that are named if the owner declared them disjoint, instead of to everybody.

    What a row's group is depends on how cells are read. So they must be read as the owner declared, or as they are
    without any description: else the same rows could be named twice, and be charged as if they were others.
    """
    found = asked.part(book.partitions(scope))
    if found is None or book.protects(scope).description != ready.reading:
        return ready
    try:
        groups_of(found[1])
    except ParameterError:  # names that a ledger cannot hold
        return ready
    said = Remark(_DISJOINT.format(found[0]), "disjoint-groups", partition=found[0], groups=len(found[1]))
    return replace(ready, part=found, plan=replace(ready.plan, rules=(*ready.plan.rules, said)))


def charged(
    asked: Request, ready: Ready, data: str, book: Ledger, request: str | None, scope: str, who: str | None
) -> Answer:
    """The answer, charged before a row is read and recorded before it is returned."""
    charge = granted(asked, ready, data, book, request, scope, who)
    entry = completed(book, charge, ready.draw)
    return answer_of(asked)(
        entry.answer, ready.plan, entry.request, left_in(book, scope), entry.repeated,
        completed=charge.repeated and not charge.answered, older=entry.older,
        charged=Spending(entry.epsilon, entry.delta).said,
    )  # fmt: skip


def answer_of(asked: Request) -> type[Answer]:
    """The kind of answer that a request gets."""
    return Answers if isinstance(asked.question, Together) else Answer


def granted(
    asked: Request,
    ready: Ready,
    data: str,
    book: Ledger,
    request: str | None,
    scope: str,
    who: str | None,
    *,
    published: str | None = None,
) -> Entry:
    """The recorded charge, with room for the answer; or the recorded entry if this request was made before.

    ``published`` is the folder of the answers, if they are not kept in the ledger itself.
    """
    facts = _facts(asked, ready, data, book, request, scope, published)
    return book.grant(request=request, who=who, room=ready.room, **facts)


def recalled(asked: Request, ready: Ready, data: str, book: Ledger, entry: Entry, scope: str) -> Entry:
    """A recorded entry, if it is of this very request; nothing is charged."""
    found = book.recall(entry.request, **_facts(asked, ready, data, book, entry.request, scope, None))
    if found is None:
        before, now = entry.question, ready.plan.record
        differs = f": that was {before!r:.200}, and this is {now!r:.200}" if before != now else ""
        raise ParameterError(
            f"what follows is asked of the same data with the same options as request {entry.request!r:.80}{differs}",
            parameter="after",
        )
    return found


def _facts(
    asked: Request, ready: Ready, data: str, book: Ledger, request: str | None, scope: str, published: str | None
) -> dict[str, Any]:
    """Everything that must be the same for a request to be the same."""
    identity = asked.identity(data, ready.plan.mechanism) | {"published": published}
    if ready.reading is not None:  # without a description, as before there were any
        identity["reading"] = ready.reading
    partition, group = ready.part or (None, None)
    known = None if request is None or partition is None else book.find(request)
    if known is not None and known.partition is None:  # charged to everybody before the groups were declared
        partition = group = None
    return {
        "epsilon": ready.cost[0], "delta": ready.cost[1], "question": ready.plan.record, "digest": checksum(identity),
        "scope": scope, "partition": partition, "group": group, "protects": asked.protects(data, ready.reading),
    }  # fmt: skip


def refusal(asked: Request, ready: Ready, data: str, book: Ledger, scope: str) -> str:
    """Why the budget has no room for this request, with what it has; empty if there is room."""
    epsilon, delta = ready.cost
    try:
        partition, group = ready.part or (None, None)
        protects = asked.protects(data, ready.reading)
        book.check(
            epsilon=epsilon, delta=delta, scope=scope, partition=partition, group=group, protects=protects
        )  # fmt: skip
    except BudgetExceeded as error:
        return Remark(str(error), "budget-exceeded", **error.facts)
    return ""


def completed(book: Ledger, entry: Entry, draw: Callable[[], Any]) -> Entry:
    """The entry with its answer.

    Every failure here gives the same message, and the charge stays: what can be seen must depend neither on the rows
    nor on what was drawn. Repeating the request completes it.
    """
    try:
        return book.answer(entry, draw)
    except NotAnswered:
        raise
    except KeyboardInterrupt as stop:
        stop.add_note(str(not_answered(entry.request)))
        raise
    except Exception:  # from libraries too: even the type of an error could reveal something
        failure = not_answered(entry.request)
    raise failure  # outside the except block, so that the first error is not even its context


def left_in(book: Ledger, scope: str) -> str:
    """What remains of a budget, for somebody who has been answered: not to know it must not cost them the answer."""
    try:
        return book.remaining(scope).said
    except Exception:  # whatever it is, the answer is stored, and is shown
        return "unknown"


def room_for(outputs: Iterable[Any]) -> int:
    """The bytes of the longest of the possible answers, as the ledger stores it."""
    return max(json_size(each) for each in outputs)


def json_size(value: object) -> int:
    """How many bytes a value takes as the ledger stores it."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
