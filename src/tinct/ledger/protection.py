"""Whom a budget protects: who is one person, which datasets are neighbours, and which numbers are public.

The owner of the data declares it with a scope of the ledger. A request must agree with it, or be convertible by a
theorem: costs for different relations or different people cannot be added up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.errors import Parameter, ParameterError, brief
from tinct.ledger.costs import as_written, cost_delta, cost_epsilon, is_at_most
from tinct.numbers.amounts import Amount
from tinct.numbers.bounds import exp_above, rounded_up
from tinct.privacy.neighbors import Neighbors, NeighborsLike

if TYPE_CHECKING:
    from fractions import Fraction

    from tinct.numbers.amounts import AmountLike, NumberLike

MAX_PEOPLE = 10**18
MAX_CLASSES = 16  # with two people in each, a personal answer would have more datasets than can be certified
_MAX_TEXT = 10_000
_BITS = 192
_LARGEST = 700  # a δ at a larger ε is no promise at all


@dataclass(frozen=True)
class Protection:
    """What the owner declares about the people behind a budget.

    Attributes:
        unit: The column that identifies people; None if every row is one person.
        neighbors: ``"add-remove"`` or ``"replace"``.
        people: The public number of people; for ``"replace"`` only, and needed there.
        data: The full path or name of the dataset, if the budget is for this one only.
        epsilon_column: The column with each person's own ε, if they have one.
        budgets: How many people chose each ε; this is public, like their number.
        description: The digest of the description of the dataset, if the budget is for one that is read that way only.

    >>> print(Protection(unit="person_id"))
    protects one person (all rows with the same person_id) being added or removed
    """

    unit: str | None = None
    neighbors: NeighborsLike = Neighbors.ADD_REMOVE
    people: int | None = None
    data: str | None = None
    epsilon_column: str | None = None
    budgets: Mapping[str, int] | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbors", Neighbors.of(self.neighbors))
        for name in ("unit", "data", "epsilon_column", "description"):
            _require_text(getattr(self, name), name)
        if (self.epsilon_column is None) != (self.budgets is None):
            raise ParameterError.about(
                "budgets" if self.budgets is None else "epsilon_column",
                "`epsilon_column` and `budgets` belong together: the column, and how many people chose each ε",
            )
        if self.budgets is not None:
            object.__setattr__(self, "budgets", _classes(self.budgets))
            if self.people is None:
                object.__setattr__(self, "people", sum((self.budgets or {}).values()))
        self._require_people()

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Protection:
        """The declaration from the fields of ``to_dict``."""
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """The declaration as a JSON object, without what is not declared."""
        fields = {
            "unit": self.unit,
            "neighbors": str(self.neighbors),
            "people": self.people,
            "data": self.data,
            "epsilon_column": self.epsilon_column,
            "budgets": None if self.budgets is None else dict(self.budgets),
            "description": self.description,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def cost_of(self, asked: Protection, epsilon: AmountLike, delta: NumberLike) -> tuple[Fraction, Fraction]:
        """What (ε, δ) as ``asked`` for costs here; a ParameterError if no theorem converts it, or it is too much.

        Replacing a person is removing one and adding another: two steps, so 2ε, and δ + e^ε·δ.

        >>> owner = Protection(neighbors="replace", people=100)
        >>> owner.cost_of(Protection(), "0.5", 0)
        (Fraction(1, 1), Fraction(0, 1))
        """
        self.require_relation(asked.neighbors)
        self._require_agreement(asked)
        self._require_own_epsilon(asked, epsilon, delta)
        cost = cost_epsilon(epsilon), cost_delta(delta)
        if asked.neighbors == self.neighbors:
            return cost
        if not cost[1]:
            return 2 * cost[0], cost[1]
        if cost[0] > _LARGEST:
            raise ParameterError.of(
                "epsilon", f"at most {_LARGEST}", ..., " to be converted to ", Parameter("neighbors", "replace")
            )
        return 2 * cost[0], rounded_up(cost[1] * (1 + exp_above(cost[0], _BITS)))

    def require_relation(self, asked: Neighbors | str) -> None:
        """Refuse a relation whose costs cannot be converted into those of this one."""
        if asked != self.neighbors and self.neighbors == Neighbors.ADD_REMOVE:
            raise ParameterError.about(
                "neighbors",
                "this budget protects against adding or removing a person; the question uses `neighbors='replace'`, "
                "which makes the number of people public: leave out `neighbors`",
            )

    def _require_agreement(self, asked: Protection) -> None:
        """Refuse a request that names other people, or other data."""
        if asked.unit != self.unit:
            raise ParameterError(
                f"this budget protects {_persons(self.unit)}, but the question is about {_persons(asked.unit)}: only "
                "the owner of the budget declares who is one person (tinct budget declare)"
            )
        for name in ("people", "epsilon_column", "budgets"):
            ours, theirs = getattr(self, name), getattr(asked, name)
            if theirs is not None and theirs != ours:
                raise ParameterError.about(
                    name, f"`{name}` differs from what the owner of the budget declared: leave it out"
                )
        if self.data is not None and asked.data != self.data:
            raise ParameterError(f"this budget is for {self.data!r:.200} only: use another scope for other data")
        if self.description is not None and asked.description != self.description:
            raise ParameterError.about(
                "description",
                "the description of the data is not the one that the owner of the budget declared (tinct budget "
                "declare)",
            )

    def _require_own_epsilon(self, asked: Protection, epsilon: AmountLike, delta: NumberLike) -> None:
        """Refuse an answer that protects somebody with more than the ε that was declared as their own.

        One ε for everybody protects also those with the smallest, so it must be at most each declared one, and pure.
        An answer that keeps to each person's own ε is charged the largest.
        """
        if self.budgets is None:
            return
        amount = Amount.parse(epsilon, "epsilon")
        twice = asked.neighbors != self.neighbors  # two steps, as in cost_of
        if twice:
            amount = Amount(amount.value**2, True) if amount.is_log else Amount(2 * amount.value)
        kept = [is_at_most(amount, own) for own in self.budgets]
        if not cost_delta(delta) and (any(kept) if asked.budgets is not None else all(kept)):
            return
        names = list(self.budgets)
        steps = "; an add-remove question counts twice, since replacing a person is two steps" if twice else ""
        raise ParameterError.about(
            "epsilon",
            "the people behind this budget have an ε of their own: ask without `epsilon` and `delta` to use it, or "
            "with at most the smallest for everybody, ",
            f"ε = {as_written(names[0])} and δ = 0{steps}",
        )

    def __str__(self) -> str:
        one = "one row" if self.unit is None else f"one person (all rows with the same {self.unit})"
        change = "added or removed" if self.neighbors == Neighbors.ADD_REMOVE else "replaced"
        parts = [f"protects {one} being {change}"]
        if self.people is not None:
            parts.append(f"{self.people:,} people")
        if self.budgets is not None:
            classes = ", ".join(f"ε = {name}: {size:,}" for name, size in self.budgets.items())
            parts.append(f"own ε in {self.epsilon_column!r} ({classes})")
        if self.data is not None:
            parts.append(f"data: {self.data}")
        if self.description is not None:
            parts.append(f"described by {self.description[:16]}")
        return "; ".join(parts)

    def _require_people(self) -> None:
        if self.neighbors == Neighbors.ADD_REMOVE:
            if self.people is not None:
                raise ParameterError.about(
                    "people",
                    "`people` is for `neighbors='replace'`: otherwise the number of people is secret, so leave it out",
                )
            return
        if isinstance(self.people, bool) or not isinstance(self.people, int) or not 0 <= self.people <= MAX_PEOPLE:
            raise ParameterError.about(
                "people",
                "`neighbors='replace'` makes the number of people public: declare it as `people`, ",
                "a whole number from 0 to 10^18" + ("" if self.people is None else f", got {brief(self.people)}"),
                expected="a whole number from 0 to 10^18",
            )


def _persons(unit: str | None) -> str:
    return "each row as one person" if unit is None else f"the people in the column {unit!r:.80}"


def _require_text(given: object, name: str) -> None:
    if given is not None and (not isinstance(given, str) or not 1 <= len(given) <= _MAX_TEXT or "\0" in given):
        raise ParameterError.of(name, f"text of 1 to {_MAX_TEXT:,} characters", given)


def _classes(budgets: object) -> dict[str, int]:
    """How many people chose which ε, from the smallest ε to the largest."""
    if not isinstance(budgets, Mapping) or not 1 <= len(budgets) <= MAX_CLASSES:
        raise ParameterError.about(
            "budgets",
            f"`budgets` must say for 1 to {MAX_CLASSES} values of epsilon how many people chose it, such as "
            "`budgets={'0.5': 120, '1': 80}`",
            f", got {brief(budgets)}",
            expected="how many people chose which epsilon",
        )
    sizes = {str(name).strip(): size for name, size in budgets.items()}
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= MAX_PEOPLE:
            raise ParameterError.about(
                "budgets",
                "`budgets` must say ",
                f"how many people chose ε = {name:.40}, got {brief(size)}",
                expected="how many people chose which epsilon",
            )
    if len(sizes) != len(budgets):
        raise ParameterError.of("budgets", "different values of epsilon")
    return dict(sorted(sizes.items(), key=lambda item: cost_epsilon(item[0])))
