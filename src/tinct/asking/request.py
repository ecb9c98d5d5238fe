"""A request: what is asked, checked as far as it can be without a row, in the terms of the owner of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from tinct.asking._needed_epsilon import Wanted
from tinct.asking.described import groups_of, person_of, require_plain_numbers
from tinct.asking.groups import Groups
from tinct.asking.number_designs import selects_itself
from tinct.asking.personal_budgets import PersonalBudgets
from tinct.errors import Parameter, ParameterError
from tinct.ledger import Protection
from tinct.numbers.amounts import fraction_text, rational
from tinct.privacy import Privacy
from tinct.privacy.neighbors import Neighbors
from tinct.questions import Question, parse, parse_predicate
from tinct.questions._together import Together, together
from tinct.questions.predicates import PREDICATES
from tinct.questions.questions import require_own_or_tincts
from tinct.sources.cell_rules import label_of
from tinct.sources.source import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.asking.personal_budgets import BudgetsLike
    from tinct.numbers.amounts import Amount, AmountLike, NumberLike
    from tinct.privacy.neighbors import NeighborsLike
    from tinct.questions._together import QuestionLike
    from tinct.questions.predicates import Predicate
    from tinct.sources import Description, Source

_IDENTITY = "tinct/request@2"


@dataclass(frozen=True)
class _Asked:
    """What every request says.

    ``people`` is the public number of people with ``replace``; None until the owner has it counted.
    """

    question: Question
    unit: str | None
    neighbors: Neighbors
    people: int | None
    where: Predicate | None
    lean: Fraction | None

    def require_numbers(self) -> None:
        """Refuse a plan for which the number of people would have to be counted: a plan reads no row."""
        if self.neighbors == Neighbors.REPLACE and self.people is None:
            raise ParameterError.about(
                "people",
                "a plan reads no row, and with `neighbors='replace'` the number of people is public: give it as "
                "`people`",
            )

    def in_numbers(self, source: Source) -> Self:
        """The same request with the public numbers counted if they were not given; only for the owner of the data."""
        if self.neighbors == Neighbors.REPLACE and self.people is None:
            return replace(self, people=source.count_people(self.unit))
        return self

    def protects(self, data: str | None, reading: str | None = None) -> Protection:
        """Who is protected at the cost of this request; ``reading`` is the digest of the description, if any."""
        return Protection(unit=self.unit, neighbors=self.neighbors, people=self.people, data=data, description=reading)

    def part(self, partitions: Mapping[str, str]) -> tuple[str, tuple[str, ...]] | None:  # noqa: ARG002
        """The groups whose rows alone decide the answer, of one of these partitions; None if it may be all rows."""
        return None

    def identity(self, data: str, mechanism: str) -> dict[str, Any]:
        """The request in one canonical form, without any descriptive text."""
        return {
            "schema": _IDENTITY,
            "question": str(self.question),
            "data": data,
            "epsilon": None,
            "delta": None,
            "unit": self.unit,
            "neighbors": str(self.neighbors),
            "people": self.people,
            "where": None if self.where is None else str(self.where),
            "by": None,
            "groups": None,
            "lean": None if self.lean is None else fraction_text(self.lean),
            "personal": None,
            "mechanism": mechanism,
        }


@dataclass(frozen=True)
class Single(_Asked):
    """One answer, with one ε and δ for everybody."""

    privacy: Privacy

    def identity(self, data: str, mechanism: str) -> dict[str, Any]:
        """What was asked, ε and δ included."""
        return super().identity(data, mechanism) | _amounts(self.privacy)


@dataclass(frozen=True)
class Grouped(_Asked):
    """One answer for each group of the column ``by``, for one ε and δ together."""

    privacy: Privacy
    by: tuple[str, ...]
    groups: Groups

    def part(self, partitions: Mapping[str, str]) -> tuple[str, tuple[str, ...]] | None:
        """The groups that are named, if their column is such a partition; groups that are found may be any."""
        column, declared = self.by[0], self.groups.declared
        if len(self.by) > 1 or column not in partitions or declared is None or self.groups.per_person > 1:
            return None
        return column, tuple(label_of(each) for each in declared if isinstance(each, str))  # as rows are compared

    def identity(self, data: str, mechanism: str) -> dict[str, Any]:
        """What was asked, ε, δ and the groups included."""
        more = {"by": self.by[0] if len(self.by) == 1 else list(self.by), "groups": self.groups.identity()}
        return super().identity(data, mechanism) | _amounts(self.privacy) | more


@dataclass(frozen=True)
class Personal(_Asked):
    """One answer, with an ε of their own for everybody."""

    budgets: PersonalBudgets

    def require_numbers(self) -> None:
        """Refuse a plan for which people would have to be counted by their ε, too."""
        if self.budgets.sizes is None:
            raise ParameterError.about(
                "budgets",
                "a plan reads no row: say how many people chose each epsilon, such as `budgets={'0.5': 120, '1': 80}`",
            )
        super().require_numbers()

    def in_numbers(self, source: Source) -> Self:
        """The same with the people counted by their ε, if that was not given."""
        if self.budgets.sizes is None:
            budgets = self.budgets.counted(source, self.unit)
            return replace(self, budgets=budgets, people=budgets.people)
        return super().in_numbers(source)

    def protects(self, data: str | None, reading: str | None = None) -> Protection:
        """The people for whom the cost holds, and how many chose which ε."""
        return replace(
            super().protects(data, reading), epsilon_column=self.budgets.column, budgets=self.budgets.classes
        )

    def identity(self, data: str, mechanism: str) -> dict[str, Any]:
        """What was asked, the column of budgets and who chose which included."""
        return super().identity(data, mechanism) | {"personal": [self.budgets.column, self.budgets.classes]}


Request = Single | Grouped | Personal


def read_request(
    question: QuestionLike,
    epsilon: AmountLike | Wanted | None = None,
    delta: NumberLike = 0,
    by: str | Sequence[str] | None = None,
    unit: str | None = None,
    neighbors: NeighborsLike | None = None,
    people: int | None = None,
    where: str | Predicate | None = None,
    groups: Sequence[str] | None = None,
    most_groups: int | None = None,
    select: NumberLike | None = None,
    groups_per_person: int | None = None,
    lean: NumberLike | None = None,
    epsilon_column: str | None = None,
    budgets: BudgetsLike | None = None,
    owner: Protection | None = None,
    described: Description | None = None,
) -> Request:
    """Check everything that is public, and fill in what the owner declared and the ε that is wanted."""
    asked = parse(question) if isinstance(question, str) else question
    if not isinstance(asked, Question) and isinstance(asked, list | tuple | Mapping):
        asked = together(asked)
    if not isinstance(asked, Question):
        raise ParameterError.of("question", "a question such as majority('support')", question)
    require_own_or_tincts(asked)
    counted = people  # as the asker says
    if described is not None:
        for text in (question, where):
            if isinstance(text, str):
                require_plain_numbers(described, text)
        unit = person_of(described, unit)
        groups = groups_of(described, columns_of(by), groups)
        if groups_per_person is None and by is not None and described.groups_per_person > 1:
            groups_per_person = described.groups_per_person
    if owner is not None:
        unit = owner.unit if unit is None else unit
        neighbors = owner.neighbors if neighbors is None else neighbors
        if epsilon_column is None and epsilon is None:
            epsilon_column = owner.epsilon_column
        if epsilon_column is not None:
            budgets = _owners_budgets(owner, epsilon_column, budgets)
    if isinstance(asked, Together):
        _require_plain(by=by, lean=lean, epsilon_column=epsilon_column)
    relation = Neighbors.of(Neighbors.ADD_REMOVE if neighbors is None else neighbors)
    if owner is not None:
        owner.require_relation(relation)
        if people is None and relation == owner.neighbors:
            people = owner.people
    if isinstance(epsilon, Wanted):
        if epsilon_column is not None:
            raise ParameterError.about("right", "`right` finds one epsilon for everybody: leave out `epsilon_column`")
        if relation == Neighbors.REPLACE and people is None:
            raise ParameterError.about(
                "people", "`neighbors='replace'` makes the number of people public: give it as `people`"
            )

        def answering(whole: Privacy) -> Privacy:
            return whole if by is None else Groups.of(
                asked, whole, groups, select, most_groups, groups_per_person, columns_of(by)
            ).answering  # fmt: skip

        selecting = by is not None and groups is None and selects_itself(asked)
        epsilon = repr(epsilon.epsilon(asked, delta, relation, people, lean, answering, selecting=selecting))
    personal = PersonalBudgets.of(asked, epsilon_column, budgets, epsilon, delta, by, relation)
    budget = _stated(epsilon, delta) if personal is None else personal
    given = {
        "groups": groups, "most_groups": most_groups, "select": select, "groups_per_person": groups_per_person,
    }  # fmt: skip
    named = [name for name, value in given.items() if value is not None]
    if by is None and named:
        raise ParameterError(Parameter(named[0]), " needs ", Parameter("by"), ", the column of groups", parameter="by")
    if by is not None and relation == Neighbors.REPLACE:
        raise ParameterError.about(
            "neighbors",
            "`by` needs `neighbors='add-remove'`: a person whose row is replaced could change group and affect two",
        )
    looked_at = where if where is None or isinstance(where, PREDICATES) else parse_predicate(where)
    leaning = None if lean is None else _lean(lean)
    found: Request
    if isinstance(budget, PersonalBudgets):
        if counted is not None and counted != budget.people:
            raise ParameterError.about(
                "people",
                "`people` follows from how many people chose each epsilon, such as `budgets={'0.5': 120, '1': 80}`: "
                "leave it out",
            )
        people = budget.people if people is None else people
        found = Personal(asked, unit, relation, people, looked_at, leaning, budget)
    elif by is not None:
        if groups_per_person not in (None, 1) and unit is None:
            raise ParameterError.about(
                "groups_per_person", "`groups_per_person` needs `unit`: without it every row is one person"
            )
        divided = Groups.of(asked, budget, groups, select, most_groups, groups_per_person, columns_of(by))
        found = Grouped(asked, unit, relation, people, looked_at, leaning, budget, columns_of(by), divided)
    else:
        found = Single(asked, unit, relation, people, looked_at, leaning, budget)
    _require_agreement(found, owner)
    return found


def _require_plain(**given: object) -> None:
    """Refuse what goes with one question only."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError.about(name, f"`{name}` goes with one question: ask several together without it")


def _require_agreement(asked: Request, owner: Protection | None) -> None:
    """Refuse what contradicts the owner, and numbers that make no sense, before a row is read."""
    if owner is not None:
        # which data it is, and which description, the ledger compares
        mine = replace(asked.protects(None), data=owner.data, description=owner.description)
        owner.cost_of(mine, *_largest(asked))
    elif asked.people is not None:
        asked.protects(None)


def _largest(asked: Request) -> tuple[Amount, Fraction]:
    """The largest (ε, δ) that anybody is protected with."""
    if isinstance(asked, Personal):
        return asked.budgets.largest, Fraction(0)
    return asked.privacy.exact_epsilon, asked.privacy.exact_delta


def _stated(epsilon: AmountLike | None, delta: NumberLike) -> Privacy:
    if epsilon is None:
        raise ParameterError.of("epsilon", "given", ..., ", such as ", Parameter("epsilon", "0.5"))
    return Privacy(epsilon, delta)


def _lean(given: NumberLike) -> Fraction:
    value = rational(given, "lean")
    if not 0 < value < 1:
        raise ParameterError.of("lean", "a probability above 0 and below 1", given)
    return value


def _amounts(privacy: Privacy) -> dict[str, str]:
    return {"epsilon": str(privacy.exact_epsilon), "delta": fraction_text(privacy.exact_delta)}


def _owners_budgets(owner: Protection, column: str, given: BudgetsLike | None) -> Mapping[str, int]:
    """The numbers that the owner declared; what the asker says must be the same column and values of ε."""
    declared = owner.budgets
    if declared is None or column != owner.epsilon_column:
        raise ParameterError.about(
            "epsilon_column", "only the owner of the budget declares `epsilon_column` (tinct budget declare)"
        )
    if given is None or (isinstance(given, Mapping) and dict(given) == dict(declared)):
        return declared
    if isinstance(given, Mapping) or {str(each).strip() for each in given} != set(declared):
        raise ParameterError.about(
            "budgets", "`budgets` differs from what the owner of the budget declared: leave it out"
        )
    return declared
