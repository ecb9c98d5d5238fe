"""The mechanism for questions that are asked together: one draw answers all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from tinct.asking.accuracy import Accuracy, accuracy
from tinct.asking.designs import CertainDesign, as_answer, design
from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.privacy import Privacy
from tinct.questions import Histograms
from tinct.questions._together import distances
from tinct.questions.joint_rule import JointRule
from tinct.questions.modes import PermuteAndFlip
from tinct.questions.modes.coins import retention
from tinct.questions.modes.permute_and_flip import truth_among
from tinct.questions.modes.truths import power

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tinct.asking.accuracy import Truth
    from tinct.asking.designs import Design
    from tinct.exact import Certified
    from tinct.questions import Counts, Line
    from tinct.questions._together import Together
    from tinct.questions.modes import ModeCertificate
    from tinct.questions.noise import NoiseCertificate


@dataclass(frozen=True)
class JointDesign:
    """Several questions, answered together.

    Attributes:
        question: The questions.
        privacy: ε of all answers together.
        families: Where the datasets of each question lie.
        certain: The answers that every possible dataset has, by the place of their questions.
        alone: The design of the one question whose answer is not certain, if there is only one: it gets all of ε.
    """

    question: Together
    privacy: Privacy
    families: tuple[Line | Histograms, ...]
    certain: Mapping[int, str]
    alone: Design | None = None
    name: ClassVar[str] = "together"

    @property
    def certificate(self) -> Certified | ModeCertificate | NoiseCertificate | None:
        """That of the only question; several have the proof of a theorem."""
        return None if self.alone is None else self.alone.certificate

    @property
    def method(self) -> str:
        """Which mechanism it is, and what is known of it."""
        if self.alone is not None:
            return self.alone.method
        return (
            "signed distance, capped: proved private for all answers together and near the best possible; it is not "
            "known to be optimal"
        )

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The longest of all joint answers: there are too many to list."""
        longest = (max(self._answers(at), key=lambda each: len(str(each))) for at in range(len(self.families)))
        return (dict(zip(self.question.names, longest, strict=True)),)

    def _answers(self, at: int) -> tuple[Any, ...]:
        if at in self.certain:
            return (self.certain[at],)
        return tuple(map(as_answer, self.question.questions[at].answers))

    @cached_property
    def _open(self) -> list[int]:
        """The places of the questions whose answers are not certain."""
        return [at for at in range(len(self.families)) if at not in self.certain]

    @cached_property
    def _rule(self) -> JointRule:
        sizes = tuple(len(self._answers(at)) for at in self._open)
        return JointRule(sizes, retention(self.privacy.exact_epsilon, halved=True))

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """How often all answers are right, by how many people every one of them is from changing."""
        if self.alone is not None:
            return self.alone.accuracy(margins)
        rule = self._rule
        many, s = math.prod(rule.sizes), rule.s
        columns: dict[str, Truth] = {
            "tinct": lambda m: rule.truth([[0, *[m] * (size - 1)] for size in rule.sizes]),
            "one by one": self._one_by_one,
            "exponential": lambda m: 1 / (1 + (many - 1) * power(s, m)),
            "permute-and-flip": lambda m: truth_among(many, s, m),
        }
        if set(rule.sizes) == {2}:  # what nothing can exceed if the questions are unrelated
            nearest = 1 / (1 + (many - 1) * power(s, 2))
            columns["limit"] = lambda m: self.privacy.reach(m - 1, nearest)
        meaning = "people that every true answer is from changing"
        condition = "every true answer is {m} or more people from changing"
        return replace(accuracy(meaning, condition, columns, margins), what="all answers are")

    def _one_by_one(self, margin: int) -> float:
        """How often all are right if each is asked alone, with its part of ε."""
        part = Privacy(float(self.privacy.exact_epsilon) / len(self._open))
        kept = retention(part.exact_epsilon)
        return math.prod(
            PermuteAndFlip(len(self._answers(at)), kept).truth(margin)
            if isinstance(self.families[at], Histograms)
            else part.reach(margin - 1, part.balance[0])
            for at in self._open
        )

    def draw(self, counts: tuple[Counts, ...]) -> dict[str, Any]:
        """Draw one answer for each question."""
        found: dict[int, Any] = dict(self.certain)
        if self.alone is not None:
            found |= {at: self.alone.draw(counts[at]) for at in self._open}
        else:
            far = [distances(self.families[at], counts[at]) for at in self._open]
            drawn = self._rule.draw(far, sampler.below)
            found |= {at: self._answers(at)[place] for at, place in zip(self._open, drawn, strict=True)}
        return {name: found[at] for at, name in enumerate(self.question.names)}


def joint_design(
    question: Together, privacy: Privacy, neighbors: str, n: int | None, *, partial: bool
) -> JointDesign | CertainDesign:
    """The mechanism for questions that are asked together, chosen from public facts alone as ``design`` does."""
    if privacy.exact_delta:
        raise ParameterError.about(
            "delta", "questions asked together make no use of `delta`: leave it out and nothing of it is spent"
        )
    families = tuple(each.family(neighbors, n) for each in question.questions)
    certain = {
        at: "yes" if family.certain else "no"
        for at, family in enumerate(families)
        if not isinstance(family, Histograms) and family.certain is not None
    }
    if len(certain) == len(families):
        return CertainDesign({name: certain[at] for at, name in enumerate(question.names)})
    left = [each for at, each in enumerate(question.questions) if at not in certain]
    alone = design(left[0], privacy, neighbors, n, partial=partial) if len(left) == 1 else None
    return JointDesign(question, privacy, families, certain, alone)
