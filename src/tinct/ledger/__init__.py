"""Who has spent how much privacy: a ledger that no crash, race or retry can cheat."""

from tinct.ledger.book import Ledger
from tinct.ledger.contents import Entry, Planned, Scope, Spending, State
from tinct.ledger.own_store import SqlStore, check_store
from tinct.ledger.protection import Protection
from tinct.ledger.store import NotCommitted

__all__ = [
    "Entry",
    "Ledger",
    "NotCommitted",
    "Planned",
    "Protection",
    "Scope",
    "Spending",
    "SqlStore",
    "State",
    "check_store",
]
