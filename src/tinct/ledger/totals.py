"""What has been used of a budget: sums over charges to everybody, maxima over the groups of each partition."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from tinct.ledger import stored_rows
from tinct.ledger.composition import rule_of
from tinct.ledger.costs import cost_epsilon
from tinct.ledger.store import Damaged
from tinct.ledger.stored_rows import NOBODY
from tinct.numbers.bounds import rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tinct.ledger.composition import Vector
    from tinct.ledger.contents import Charge, Entry, Scope
    from tinct.ledger.store import Session


_LONG = 10**400  # a sum with a longer denominator is rounded up, so that it stays quick to add to


@dataclass(frozen=True)
class Usage:
    """The totals of a scope: by partition the most any group has used, and those of the groups in question.

    ``entries`` is how many entries the whole ledger has.
    """

    scope: str
    entries: int
    peaks: dict[str, Vector]
    partition: str = NOBODY
    groups: dict[str, Vector] = field(default_factory=dict)
    cost: Vector = field(default_factory=dict)

    @classmethod
    def read(cls, session: Session, scope: Scope, partition: str = NOBODY, groups: tuple[str, ...] = ()) -> Usage:
        """The totals as they are stored."""
        known = stored_rows.group_totals(session, scope.name, partition) if groups else {}
        found = {group: known.get(group, {}) for group in groups}
        return cls(
            scope.name, stored_rows.entry_count(session) or 0, stored_rows.peaks(session, scope.name), partition, found
        )

    @property
    def used(self) -> Vector:
        """What counts against the budget: everybody's total plus each partition's maximum."""
        total: Vector = {"epsilon": Fraction(0), "delta": Fraction(0), "order": Fraction(0)}
        for peak in self.peaks.values():
            total = added(total, peak)
        return total

    def plus(self, cost: Vector) -> Usage:
        """The totals after one more charge."""
        groups = {group: added(total, cost) for group, total in self.groups.items()}
        peak = self.peaks.get(self.partition, {})
        for total in groups.values():
            peak = highest(peak, total)
        if not groups:
            peak = added(peak, cost)
        return Usage(self.scope, self.entries, {**self.peaks, self.partition: peak}, self.partition, groups, cost)

    def record(self, session: Session, charge: Charge) -> Entry:
        """Write the totals and the entry."""
        changed = {NOBODY: self.peaks[self.partition], **self.groups}
        totals = [stored_rows.total_row(self.scope, self.partition, group, total) for group, total in changed.items()]
        return stored_rows.add_charge(session, self.entries + 1, totals, charge, self.cost)


def added(total: Vector, cost: Vector) -> Vector:
    """The sum of two vectors; what one does not have is 0."""
    return {name: _tidy(total.get(name, _ZERO) + cost.get(name, _ZERO)) for name in {**total, **cost}}


def highest(total: Vector, other: Vector) -> Vector:
    """The larger of two vectors, each amount by itself."""
    return {name: max(total.get(name, _ZERO), other.get(name, _ZERO)) for name in {**total, **other}}


_ZERO = Fraction(0)


def _tidy(amount: Fraction) -> Fraction:
    return amount if amount.denominator <= _LONG else rounded_up(amount)


def recompute(session: Session) -> int:
    """Compare the stored totals with the entries, and every scope with its budget; return the number of entries."""
    found = stored_rows.entries(session)
    if [entry.number for entry, _ in found] != list(range(1, (stored_rows.entry_count(session) or 0) + 1)):
        raise Damaged("the ledger is damaged: entries are missing or were added by something else")
    if stored_rows.strays(session):
        raise Damaged("the ledger is damaged: charges and answers do not belong together")
    expected: dict[str, dict[tuple[str, str], Vector]] = defaultdict(dict)
    for entry, cost in found:
        totals, partition = expected[entry.scope], entry.partition or NOBODY
        for group in entry.groups or (NOBODY,):
            totals[partition, group] = added(totals.get((partition, group), {}), cost)
            if group:
                totals[partition, NOBODY] = highest(totals.get((partition, NOBODY), {}), totals[partition, group])
    for scope in stored_rows.scopes(session).values():
        if stored_rows.totals(session, scope.name) != expected[scope.name]:
            raise Damaged(f"the ledger is damaged: the totals of scope {scope.name!r} do not match its entries")
        if not rule_of(scope).fits(Usage.read(session, scope).used):
            raise Damaged(f"the ledger is damaged: scope {scope.name!r} has spent more than its budget")
    return len(found)


def spent_by_class(entries: Iterable[Entry], budgets: Mapping[str, int]) -> dict[str, Fraction]:
    """The ε that people of each declared class have spent, by the plain sum over the entries of a scope.

    One ε for everybody is at most the smallest (``Protection``), so everybody spends it. An answer that costs more kept
    to each person's own ε. Either way a person spends the smaller of their own and the cost.
    """
    everybody: dict[str, Fraction] = {}
    listed = list(entries)
    for name in budgets:
        own = cost_epsilon(name)
        groups: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
        total = Fraction(0)
        for entry in listed:
            cost = min(own, entry.epsilon)
            if entry.partition is None:
                total += cost
            for group in entry.groups:
                groups[entry.partition or "", group] += cost
        worst: dict[str, Fraction] = defaultdict(Fraction)
        for (partition, _), cost in groups.items():
            worst[partition] = max(worst[partition], cost)
        everybody[name] = total + sum(worst.values())
    return everybody
