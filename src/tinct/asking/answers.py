"""What is said about a question: the plan, which is public before anything is drawn, and the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct.asking.number_designs import ErrorTable
from tinct.numbers.amounts import fraction_text
from tinct.remarks import Remark, as_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tinct.asking.accuracy import Accuracy
    from tinct.exact import Certified
    from tinct.numbers.amounts import NumberLike
    from tinct.questions.modes import ModeCertificate
    from tinct.questions.noise import NoiseCertificate


_OF_PLANS = ("schema", "granted", "refused", "left")  # what an answer has of its own, or has no more


@dataclass(frozen=True)
class Plan:
    """Everything public about an answer, except the answer itself: no count, no margin, no probability of this answer.

    Sentences are texts that carry their facts: ``rule.code`` and ``rule.facts`` say to a program what the words say.

    Attributes:
        question: The question in its canonical form.
        record: The question with the data and all options, as the ledger records it.
        meaning: The question in words.
        epsilon: The exact ε of the answer, as text.
        delta: The exact δ of the answer, as text.
        neighbors: Which datasets are neighbours, in words.
        rules: How rows, people, missing values and groups are treated, one sentence each.
        method: Which mechanism is used, and why no other is better.
        accuracy: How often such an answer is right, by how far the truth is from changing.
        certificate: The digest of the certified table.
        mechanism: The kind of mechanism, in one word.
        certified: The certificate itself, which ``to_json`` writes; None if there is nothing to certify.
        warnings: The rules that must be read with the answer, even where the others are not shown.
        refused: Why the ledger would refuse this request now; empty if it would not, or if there is no ledger.
        left: What remains of the budget, if the plan was made with a ledger.
        people: The public number of people, where neighbours replace one person.
        classes: How many people chose each ε, with personal budgets.
        where: The predicate that is true of the rows that are counted, if not all are.
        by: The columns of groups, if there is an answer for each group.
        paid_by: A recorded request from which the answer follows at no further cost (``ask(…, after=…)``), if any.
    """

    question: str
    record: str
    meaning: str
    epsilon: str
    delta: str
    neighbors: str
    rules: tuple[str, ...]
    method: str
    accuracy: Accuracy
    certificate: str
    mechanism: str = ""
    certified: Certified | ModeCertificate | NoiseCertificate | None = field(default=None, repr=False, compare=False)
    warnings: tuple[str, ...] = ()
    refused: str = ""
    people: int | None = None
    classes: Mapping[str, int] | None = None
    where: str | None = None
    left: str | None = None
    by: tuple[str, ...] = ()
    paid_by: str | None = None

    @property
    def has_numbers(self) -> bool:
        """Whether the answer is a number with noise, or several."""
        return isinstance(self.accuracy, ErrorTable)

    def to_dict(self) -> dict[str, Any]:
        """The plan as a JSON object: facts are fields, and the sentence that says them to people is ``text``."""
        return {
            "schema": "tinct/plan@1",
            "question": self.question,
            "record": self.record,
            "meaning": self.meaning,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbors": as_object(self.neighbors),
            "rules": [as_object(rule) for rule in self.rules],
            "method": as_object(self.method),
            "accuracy": self.accuracy.to_dict(),
            "certificate": self.certificate,
            "mechanism": self.mechanism,
            "warnings": [as_object(warning) for warning in self.warnings],
            "granted": None if self.left is None else not self.refused,
            "refused": as_object(self.refused or None),
            "left": as_object(self.left),
            "people": self.people,
            "classes": None if self.classes is None else dict(self.classes),
            "where": self.where,
            **({"paid_by": self.paid_by} if self.paid_by else {}),
        }

    def _repr_html_(self) -> str:
        """The page that notebooks show."""
        from tinct import notebook

        return notebook.of_plan(self)


@dataclass(frozen=True)
class Answer:
    """One private answer, or one for each group, with its plan and what the ledger says.

    ``value`` is the answer, or ``{group: answer}``. ``request`` is its id in the ledger: asking again with it returns
    the same answer, free of charge. ``left`` is what remains of the budget, or "unknown" if the ledger could not be
    read afterwards. ``repeated`` says that nothing was charged now, ``completed`` that the request was charged before
    and answered only now, and ``older`` that an older version of tinct recorded the answer. ``charged`` is what the
    ledger has charged for it. ``follows`` says that it was read off the numbers that ``request`` has recorded.
    """

    value: Any | Mapping[str, Any]
    plan: Plan
    request: str | None = None
    left: str | None = None
    repeated: bool = False
    completed: bool = False
    older: bool = False
    charged: str | None = None
    follows: bool = False

    def interval(self, level: NumberLike = 0.95) -> Any:
        """Where the true number lies with this probability, for answers that are numbers; of several, for each.

        It is the noise that decides, so this holds for every dataset. A group that was found is shown, and outside of
        its interval, with no more than the remaining probability.

        >>> import pandas as pd
        >>> from tinct import ask
        >>> answer = ask(pd.DataFrame({"age": [70] * 40 + [30] * 60}), "count(age >= 65)", epsilon=1)
        >>> answer.interval(0.95) == (max(0, answer.value - 3), max(0, answer.value + 3))
        True
        """
        from tinct.asking.uncertainty import interval

        return interval(self.plan, self.value, level)

    def population_share(self, level: NumberLike = 0.95) -> Any:
        """Confidence bounds for the share in the population of which the people are a random sample.

        They cover the sample and the noise together, and need a public number of people (``neighbors="replace"``).
        """
        from tinct.asking.uncertainty import population_share

        return population_share(self.plan, self.value, level)

    def to_dict(self) -> dict[str, Any]:
        """The answer as a JSON object."""
        numbers = {}
        if self.plan.has_numbers:
            numbers = {"interval": self.interval()}
            if self.plan.people and isinstance(self.value, int):  # of many numbers it would take long
                numbers["population_share"] = self.population_share()
        return {
            "schema": "tinct/answer@1",
            "answer": self.value,
            **numbers,
            **{name: value for name, value in self.plan.to_dict().items() if name not in _OF_PLANS},
            "request": self.request,
            "cost": as_object(self._cost()),
            "left": as_object(self.left),
            "repeated": self.repeated,
            "completed": self.completed,
            "older": self.older,
            **({"follows": True} if self.follows else {}),
        }

    def _cost(self) -> str:
        """What the ledger has charged for it, now or before; without a ledger, what it has cost all the same."""
        delta = f", δ = {self.plan.delta}" if self.plan.delta != "0" else ""
        text = f"ε = {self.plan.epsilon}{delta}" if self.charged is None else self.charged
        facts = self.charged.facts if isinstance(self.charged, Remark) else {}
        exact = {"epsilon": self.plan.epsilon, "delta": self.plan.delta} | facts
        return Remark(text, **exact, charged=self.request is not None and not self.follows)

    def _repr_html_(self) -> str:
        """The page that notebooks show."""
        from tinct import notebook

        return notebook.of_answer(self)

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Answers(Answer):
    """The answers to several questions that were asked together, in the order of the questions.

    ``value`` is ``{name: answer}``. By place or by name, each is an ``Answer`` with the plan of all.
    """

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Answer]:
        return (self[name] for name in self.value)

    def __getitem__(self, which: int | str) -> Answer:
        name = list(self.value)[which] if isinstance(which, int) else which
        return Answer(**{**vars(self), "value": self.value[name]})


# what whoever plans a request is told about the size of its ε and δ, and about who counts them


_LARGE_EPSILON = 5
_LARGE_DELTA = Fraction(1, 10**5)
_FAR_BELOW = Fraction(1, 10)  # how many people δ may be expected to give away
NOT_DESCRIBED = Remark(
    "no description says what the columns mean: 'tinct check' shows the owner of the data how they are read",
    "not-described",
)
NO_LEDGER = Remark("no ledger counts this: costs of several answers about the same people add up", "no-ledger")


def cautions(cost: tuple[Any, Fraction], people: int | None) -> Iterator[Remark]:
    """One sentence for an ε that promises little, one for a δ that is no small probability; ``people`` if declared.

    >>> list(cautions((6, Fraction(0)), None))
    ['ε = 6 promises little: one person may change the probability of an answer by a factor of up to 404']
    """
    epsilon, delta = cost
    if float(epsilon) > _LARGE_EPSILON:
        factor = f"{math.ceil(math.exp(float(epsilon))):,}" if float(epsilon) < 20 else "more than 100 million"
        yield Remark(
            f"ε = {epsilon} promises little: one person may change the probability of an answer by a factor of up to "
            f"{factor}",
            "large-epsilon",
            epsilon=str(epsilon),
        )
    if people and delta * people > _FAR_BELOW:
        yield Remark(
            f"δ = {fraction_text(delta)} is not far below one in {people:,}, the declared number of people: with "
            "probability δ an answer may give somebody away",
            "large-delta",
            delta=fraction_text(delta),
            people=people,
        )
    elif not people and delta > _LARGE_DELTA:
        yield Remark(
            f"δ = {fraction_text(delta)} is above 1e-05: with probability δ an answer may give somebody away",
            "large-delta",
            delta=fraction_text(delta),
            people=None,
        )
