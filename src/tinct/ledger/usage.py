"""What has been used of a budget: sums over charges to everybody, maxima over the groups of each partition."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from tinct.ledger import records
from tinct.ledger.amounts import rounded_up
from tinct.ledger.records import NOBODY

if TYPE_CHECKING:
    from tinct.ledger.composition import Vector
    from tinct.ledger.entries import Charge, Entry, Scope
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
        known = records.group_totals(session, scope.name, partition) if groups else {}
        found = {group: known.get(group, {}) for group in groups}
        return cls(scope.name, records.entry_count(session) or 0, records.peaks(session, scope.name), partition, found)

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

    def record(self, session: Session, charge: Charge, answer: str) -> Entry:
        """Write the totals and the entry."""
        records.set_total(session, self.scope, self.partition, NOBODY, self.peaks[self.partition])
        for group, total in self.groups.items():
            records.set_total(session, self.scope, self.partition, group, total)
        records.set_entry_count(session, self.entries + 1)  # after the totals, which it seals
        return records.add_entry(session, self.entries + 1, charge, self.cost, answer)


def added(total: Vector, cost: Vector) -> Vector:
    """The sum of two vectors; what one does not have is 0."""
    return {name: _tidy(total.get(name, _ZERO) + cost.get(name, _ZERO)) for name in {**total, **cost}}


def highest(total: Vector, other: Vector) -> Vector:
    """The larger of two vectors, each amount by itself."""
    return {name: max(total.get(name, _ZERO), other.get(name, _ZERO)) for name in {**total, **other}}


_ZERO = Fraction(0)


def _tidy(amount: Fraction) -> Fraction:
    return amount if amount.denominator <= _LONG else rounded_up(amount)
