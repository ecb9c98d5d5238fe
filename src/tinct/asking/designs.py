"""From a question to the mechanism that answers it: its family's certified optimum, chosen from public facts only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from tinct import exact
from tinct.asking.accuracy import Accuracy, accuracy, yes_no_baselines
from tinct.asking.number_designs import number_design
from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.questions import Line, Numbers
from tinct.questions.modes import ModeCertificate, ModeTable, PermuteAndFlip, mode_mechanism
from tinct.questions.questions import Exists, Mode, Question, YesNo, require_own_or_tincts
from tinct.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinct.exact import Certified
    from tinct.numbers.amounts import Amount, NumberLike
    from tinct.privacy import Privacy
    from tinct.questions import Counts, GroupCounts, Histograms
    from tinct.questions.noise import NoiseCertificate
    from tinct.questions.own_questions import OwnLine
    from tinct.questions.predicates import Literal


Progress: TypeAlias = "Callable[[float], None]"  # called with the share of long work that is done


class Design(Protocol):
    """A mechanism for one question: what may be said about it in public, and the draw."""

    @property
    def method(self) -> str:
        """Which mechanism it is and why no other is better, in public words."""

    @property
    def certificate(self) -> Certified | ModeCertificate | NoiseCertificate | None:
        """A file that others can check; None if there is nothing to certify."""

    @property
    def name(self) -> str:
        """The kind of mechanism, in one word."""

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Every answer it can give. This is public."""

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """How often it is right, by the margin."""

    def draw(self, counts: Any) -> Any:
        """Draw one answer, for counts or for a position on the mechanism's graph."""


class GroupDesign(Design, Protocol):
    """A mechanism that can also answer for every group at once."""

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """Draw one answer for each group."""


_EXACT = 2.0**53  # up to here, a float that is whole is the number that was meant
_NOT_CERTAIN = math.nextafter(1.0, 0.0)  # the largest probability that is not 1


@dataclass(frozen=True)
class YesNoDesign:
    """A yes/no question on the line of its signed distance to the boundary."""

    line: Line | OwnLine
    privacy: Privacy
    certified: Certified
    leaning: bool
    outputs: ClassVar[tuple[Any, ...]] = ("yes", "no")

    @property
    def certificate(self) -> Certified:
        """The certified table the answers are drawn from."""
        return self.certified

    @property
    def name(self) -> str:
        """The kind of mechanism, in one word."""
        return "selection" if self.line.selection else "line"

    @property
    def method(self) -> str:
        """Why no other mechanism is better."""
        if self.line.selection:
            code = "one-sided"
            claim = "optimum: no private mechanism that never says yes wrongly says yes more often on any dataset"
        elif self.leaning:
            code = "given-boundary"
            claim = (
                "optimum for these boundary values: no private mechanism with the same values where the answer is "
                "about to change is right more often on any dataset"
            )
        else:
            code = "fair"
            claim = (
                "fair optimum: no private mechanism is right as often on every dataset and more often on one, and none "
                "that treats yes and no alike is right more often on any"
            )
        own = "" if isinstance(self.line, Line) else "; for your own question, if its positions are right everywhere"
        return Remark(f"{claim} (up to units of 2^-62){own}", code)

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """By how many people would have to differ before the true answer changes."""
        verb = "join or leave" if self.line.neighbors == "add-remove" else "answer differently"
        change = f"people who would have to {verb} to change the true answer"
        condition = f"{{m}} or more people would have to {verb} to change the true answer"
        if self.line.selection:
            # without such a row the answer is always right; margins count these rows
            columns = {"tinct": lambda m: self._units(m, "yes")}
            return accuracy("rows for which it is true", "it is true for {m} or more rows", columns, margins)
        if self.leaning:
            columns = {
                "tinct, if yes": lambda m: self._units(m - 1, "yes"),
                "tinct, if no": lambda m: self._units(-m, "no"),
            }
        else:
            columns = {"tinct": lambda m: min(self._units(m - 1, "yes"), self._units(-m, "no"))}
        others = yes_no_baselines(self.privacy)
        return accuracy(change, condition, {**columns, **others}, margins)

    def draw(self, counts: Counts) -> Any:
        """Draw one answer for these counts."""
        return self.certified.release(self.line.position(counts) + self._offset)

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """Draw one answer for each group, in bulk."""
        positions = self.line.positions(counts.classes)
        drawn: list[Any] = self.certified.sample(positions + self._offset).tolist()
        return drawn

    @property
    def _offset(self) -> int:
        return 1 if self.line.selection else 0  # selection counts rows, and position 0 is one row

    def _units(self, position: int, answer: str) -> float:
        at = int(self.certified.positions([position])[0])
        column = self.certified.outputs.index(answer)
        units, total = int(self.certified.numerators[at, column]), self.certified.denominator
        return units / total if units == total else min(units / total, _NOT_CERTAIN)


@dataclass(frozen=True)
class ModeDesign:
    """The most frequent category."""

    family: Histograms
    mechanism: ModeTable | PermuteAndFlip
    epsilon: Amount
    question: str
    name: ClassVar[str] = "mode"

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The categories of the question."""
        return tuple(map(as_answer, self.family.categories))

    @property
    def method(self) -> str:
        """Why no other mechanism is better."""
        return self.mechanism.method

    @cached_property
    def certificate(self) -> ModeCertificate:
        """The table or the coin, with everything needed to check it."""
        family = self.family
        return ModeCertificate(
            self.question, family.categories, self.epsilon, self.mechanism, family.n, family.rest
        )  # fmt: skip

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """By how far the leader is ahead of all others."""
        names = {"PermuteAndFlip": "permute-and-flip", "Exponential": "exponential"}
        others = {names[type(other).__name__]: other.truth for other in self.mechanism.baselines()}
        columns = {"tinct": self.mechanism.truth, **others}
        most = None if self.family.n is None else max(1, self.family.n)  # nobody is ahead by more than everybody
        return accuracy(
            "people by which the leader is ahead", "the leader is ahead by {m} or more people", columns, margins, most
        )

    def draw(self, counts: Counts) -> Any:
        """Draw one answer for these counts."""
        return self.outputs[self.mechanism.draw(self._histogram(counts), sampler.below)]

    def _histogram(self, counts: Counts) -> tuple[int, ...]:
        """The counts as the certificate says: a table of n people takes n of them, all else takes any number."""
        if isinstance(self.mechanism, ModeTable) and self.mechanism.space.people is not None:
            return self.family.capped(counts, missing=self.mechanism.space.missing)
        return self.family.histogram(counts)

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """Draw one answer for each group."""
        found = counts.classes.astype(object)
        if self.family.rest is not None:
            found[:, self.family.rest] += counts.missing
        draw, outputs = self.mechanism.draw, self.outputs
        return [outputs[draw(tuple(map(int, row)), sampler.below)] for row in found]


def as_answer(category: Literal) -> Literal | int:
    """A category as an answer: a whole number without a fraction.

    >>> as_answer(1010.0), as_answer(0.5), as_answer("1.0")
    (1010, 0.5, '1.0')
    """
    exact = isinstance(category, float) and category.is_integer() and abs(category) <= _EXACT
    return int(category) if exact else category


@dataclass(frozen=True)
class CertainDesign:
    """A question with the same answer for every possible dataset: the answer reveals nothing about anyone."""

    answer: str | dict[str, str]
    name: ClassVar[str] = "certain"
    certificate: ClassVar[None] = None

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The only possible answer."""
        return (self.answer,)

    @property
    def method(self) -> str:
        """Why no other mechanism is better."""
        return Remark("every possible dataset has this answer, so it reveals nothing and costs nothing", "certain")

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:  # noqa: ARG002 # one shape for all
        """The answer is always right."""
        return Accuracy("people", (1,), {"tinct": (1.0,)})

    def draw(self, counts: Counts) -> Any:  # noqa: ARG002
        """Return the answer; the counts do not matter."""
        return self.answer

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """Return the same answer for each group."""
        return [self.answer] * len(counts)


def design(
    question: Question,
    privacy: Privacy,
    neighbors: str,
    n: int | None,
    *,
    lean: NumberLike | None = None,
    partial: bool = True,
    selecting: bool = False,
    progress: Progress | None = None,
) -> GroupDesign:
    """The mechanism for a question; ``n`` is the public number of people with ``neighbors="replace"``.

    ``partial`` says that some rows may be filtered out, so that not everybody counts; ``selecting`` that the answer
    itself decides whether a group is shown.
    """
    require_own_or_tincts(question)
    if isinstance(question, Numbers):
        if lean is not None:
            raise ParameterError.about("lean", "`lean` is for yes/no questions")
        return number_design(question, privacy, neighbors, n, selecting=selecting)
    if isinstance(question, Mode):
        if lean is not None:
            raise ParameterError.about("lean", "`lean` is for yes/no questions")
        if privacy.exact_delta:
            raise ParameterError.about("delta", "mode makes no use of `delta`: leave it out and nothing of it is spent")
        family = question.family(neighbors, n)
        # with n public, people in no category are the reason why the counts need not sum to n
        missing = neighbors == "replace" and (partial or question.rest is None)
        mechanism = mode_mechanism(
            len(question.categories),
            privacy.exact_epsilon,
            neighbors=neighbors,
            n=n,
            missing=missing,
            progress=progress,
        )
        return ModeDesign(family, mechanism, privacy.exact_epsilon, str(question))
    if not isinstance(question, YesNo):
        raise ParameterError.of("question", "a question such as majority('support')", question)
    line = question.family(neighbors, n)
    if line.certain is not None:
        return CertainDesign("yes" if line.certain else "no")
    if isinstance(question, Exists):
        if lean is not None:
            raise ParameterError.about(
                "lean", "exists never says yes without reason, so there is nothing to lean: leave out `lean`"
            )
        if not privacy.exact_delta:
            raise ParameterError.about(
                "delta",
                "exists needs delta above 0, such as `delta='1e-6'`: without it, it could only say no",
                expected="above 0",
            )
        return YesNoDesign(line, privacy, exact.ray(privacy).about(str(question), neighbors), leaning=False)
    certified = exact.line(privacy, lean=lean).about(str(question), neighbors)
    return YesNoDesign(line, privacy, certified, leaning=lean is not None)
