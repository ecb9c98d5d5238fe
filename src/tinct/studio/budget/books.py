"""A ledger as the Budget page sees it: read afresh each time, never written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.ledger import Ledger

if TYPE_CHECKING:
    from tinct.ledger import Entry, Scope, Spending

COLUMNS = ("number", "time", "who", "scope", "partition", "groups", "question", "epsilon", "delta", "answer", "request")


@dataclass(frozen=True)
class Account:
    """One budget: what it is, what is spent, what is left."""

    scope: Scope
    spent: Spending
    left: Spending


@dataclass(frozen=True)
class Books:
    """All budgets of a ledger, and every charge."""

    accounts: list[Account]
    entries: list[Entry]


def opened(place: str) -> Books:
    """Read a ledger."""
    ledger = Ledger(place)
    accounts = [Account(scope, ledger.spent(name), ledger.remaining(name)) for name, scope in ledger.scopes().items()]
    return Books(accounts, ledger.history())


def record(entry: Entry) -> dict[str, Any]:
    """A charge as JSON, its amounts as exact text."""
    from tinct.ledger.amounts import exact_text

    return {
        "number": entry.number,
        "time": entry.time.isoformat(),
        "who": entry.who,
        "scope": entry.scope,
        "partition": entry.partition,
        "groups": list(entry.groups),
        "question": entry.question,
        "epsilon": exact_text(entry.epsilon),
        "delta": exact_text(entry.delta),
        "answer": entry.answer,
        "request": entry.request,
    }
