"""What is said about a question: the plan, which is public before anything is drawn, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tinct.asking.accuracy import Accuracy


@dataclass(frozen=True)
class Plan:
    """Everything that may be known about an answer except the answer: no count, no margin, no probability of its own.

    Attributes:
        question: The question in its one written form.
        record: The same with the data and everything else that was asked along with it, for the ledger.
        meaning: What is asked, in a sentence.
        epsilon: What it costs, exactly, as text.
        delta: The same for δ.
        neighbors: Which datasets count as neighbours, in a sentence.
        rules: What was assumed or done about rows, people, missing values and groups, one sentence each.
        method: Which mechanism, and why no other is better.
        accuracy: How often it is right, by how far the truth is from changing.
        certificate: The digest of the certified table.
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

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON holds it."""
        return {
            "schema": "tinct/plan@1",
            "question": self.question,
            "record": self.record,
            "meaning": self.meaning,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbors": self.neighbors,
            "rules": list(self.rules),
            "method": self.method,
            "accuracy": self.accuracy.to_dict(),
            "certificate": self.certificate,
        }

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        from tinct import html

        return html.of_plan(self)


@dataclass(frozen=True)
class Answer:
    """One private answer, or one for each group, with its plan and what the ledger says.

    ``value`` is the answer, or ``{group: answer}``. ``request`` names it in the ledger, where it can be had again for
    free; ``left`` is what remains of the budget.
    """

    value: Any | Mapping[str, Any]
    plan: Plan
    request: str | None = None
    left: str | None = None
    repeated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON holds it."""
        return {
            "schema": "tinct/answer@1",
            "answer": self.value,
            **{name: value for name, value in self.plan.to_dict().items() if name != "schema"},
            "request": self.request,
            "left": self.left,
            "repeated": self.repeated,
        }

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        from tinct import html

        return html.of_answer(self)

    def __str__(self) -> str:
        return str(self.value)
