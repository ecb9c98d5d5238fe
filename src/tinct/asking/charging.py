"""Drawing inside the ledger's transaction: check, draw, record, commit, and only then show."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tinct.asking.answers import Answer, Plan
from tinct.errors import ParameterError
from tinct.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction


def charged(
    plan: Plan,
    draw: Callable[[], Any],
    cost: tuple[Any, Fraction],
    ledger: Any,
    request: str | None,
    scope: str,
    who: str | None,
) -> Answer:
    """The answer, recorded in the ledger if there is one before anybody sees it."""
    if ledger is None:
        if request is not None:
            raise ParameterError("request needs a ledger: only a ledger remembers answers")
        return Answer(draw(), plan)
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    entry = book.charge(
        draw, epsilon=cost[0], delta=cost[1], request=request, question=plan.record, digest=_digest(plan),
        scope=scope, who=who,
    )  # fmt: skip
    return Answer(entry.answer, plan, entry.request, str(book.remaining(scope)), entry.repeated)


def _digest(plan: Plan) -> str:
    """What has to be the same when a request is repeated: everything that is public about it."""
    public = json.dumps(plan.to_dict(), sort_keys=True, ensure_ascii=True)
    return sha256(public.encode()).hexdigest()
