"""What differs between a request and the one that has used its id. All of it is public, and stands in the history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.ledger.contents import Spending

if TYPE_CHECKING:
    from fractions import Fraction

    from tinct.ledger.contents import Charge, Entry

_LONGEST = 200


def used_for_another(entry: Entry, charge: Charge, costs: set[Fraction]) -> ParameterError:
    """The error for a request id that belongs to another request.

    ``costs`` are the values of ε as which the charge would be recorded; none if they are not known.
    """
    pairs = {
        "scope": (repr(entry.scope), repr(charge.scope)),
        "group": (_groups(entry), _groups(charge)),
        "question": (repr(entry.question), repr(charge.question)),
    }
    if costs and (entry.epsilon not in costs or entry.delta != charge.delta):
        paid, now = (str(Spending(each.epsilon, each.delta)) for each in (entry, charge))
        pairs["cost"] = (paid, now)
    found = [f"its {what} ({_cut(then)} before, {_cut(now)} now)" for what, (then, now) in pairs.items() if then != now]
    if not found:
        found = ["something that the ledger keeps no word of, such as where the data are or an option,"]
    return ParameterError(
        f"request {charge.request!r} was already used for a different request: {' and '.join(found)} "
        f"{'differs' if len(found) == 1 else 'differ'}. Use a new request id"
    )


def _groups(given: Entry | Charge) -> str:
    return f"{', '.join(given.groups)} of {given.partition}" if given.partition else "everybody"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
