"""A ledger as the Budget page sees it: read afresh each time, never written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinct.ledger import Ledger

if TYPE_CHECKING:
    from tinct.ledger import Entry, Scope, Spending


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
