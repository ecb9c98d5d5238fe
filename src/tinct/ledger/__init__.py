"""Who has spent how much privacy: a ledger that no crash, race or retry can cheat."""

from tinct.ledger.book import Ledger
from tinct.ledger.entries import Entry, Planned, Scope, Spending

__all__ = ["Entry", "Ledger", "Planned", "Scope", "Spending"]
