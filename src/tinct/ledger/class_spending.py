"""What people with an ε of their own have spent: less than the scope, whose sum is that of the most generous."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from tinct.ledger.costs import cost_epsilon

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tinct.ledger.contents import Entry


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
