"""An audit: every total recomputed from the entries, by sums and maxima written down once more and plainly."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tinct.ledger import records
from tinct.ledger.composition import rule_of
from tinct.ledger.records import NOBODY
from tinct.ledger.store import Damaged
from tinct.ledger.usage import Usage, added, highest

if TYPE_CHECKING:
    from tinct.ledger.composition import Vector
    from tinct.ledger.store import Session


def recompute(session: Session) -> int:
    """Compare the stored totals with the entries, and every scope with its budget; return the number of entries."""
    found = records.entries(session)
    if [entry.number for entry, _ in found] != list(range(1, (records.entry_count(session) or 0) + 1)):
        raise Damaged("the ledger is damaged: entries are missing or were added by something else")
    expected: dict[str, dict[tuple[str, str], Vector]] = defaultdict(dict)
    for entry, cost in found:
        totals, partition = expected[entry.scope], entry.partition or NOBODY
        for group in entry.groups or (NOBODY,):
            totals[partition, group] = added(totals.get((partition, group), {}), cost)
            if group:
                totals[partition, NOBODY] = highest(totals.get((partition, NOBODY), {}), totals[partition, group])
    for scope in records.scopes(session).values():
        if records.totals(session, scope.name) != expected[scope.name]:
            raise Damaged(f"the ledger is damaged: the totals of scope {scope.name!r} do not match its entries")
        if not rule_of(scope).fits(Usage.read(session, scope).used):
            raise Damaged(f"the ledger is damaged: scope {scope.name!r} has spent more than its budget")
    return len(found)
