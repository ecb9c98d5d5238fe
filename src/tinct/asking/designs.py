"""From a question to the mechanism that answers it: its family's certified optimum, chosen from public facts only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from tinct import exact
from tinct.asking.accuracy import Accuracy, accuracy, yes_no_baselines
from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.questions.modes import ModeTable, PermuteAndFlip, mode_mechanism
from tinct.questions.words import Exists, Mode, Question, YesNo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.exact import Certified
    from tinct.privacy import Privacy
    from tinct.questions import Counts, GroupCounts, Histograms, Line


class Design(Protocol):
    """A mechanism for one question: what may be said about it in public, and the draw."""

    @property
    def method(self) -> str:
        """What it is and why it is best, in public words."""

    @property
    def id(self) -> str:
        """The certificate's digest."""

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """How often it is right, by the margin."""

    def draw(self, counts: Counts) -> Any:
        """One answer."""


class GroupDesign(Design, Protocol):
    """A mechanism that can also answer for every group at once."""

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """One answer for each group."""


@dataclass(frozen=True)
class YesNoDesign:
    """A yes/no question on the line of its signed distance to the boundary."""

    line: Line
    privacy: Privacy
    certified: Certified
    leaning: bool

    @property
    def method(self) -> str:
        """What it is."""
        if self.line.selection:
            return "optimal selection: no private mechanism that never says yes without reason says yes more often"
        if self.leaning:
            return "optimal for the chosen lean: no private mechanism with these boundary values is right more often"
        return "optimal and balanced: no private mechanism that treats yes and no alike is right more often, anywhere"

    @property
    def id(self) -> str:
        """The certificate's digest."""
        return self.certified.id

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """By how many people would have to differ before the true answer changes."""
        verb = "come or go" if self.line.neighbors == "add-remove" else "answer otherwise"
        words = f"people who would have to {verb} before the true answer changes"
        if self.line.selection:
            # with nobody the answer is always right; margins count the rows there are
            return accuracy("rows for which it is true", {"tinct": lambda m: self._units(m, "yes")}, margins)
        if self.leaning:
            columns = {
                "tinct, if yes": lambda m: self._units(m - 1, "yes"),
                "tinct, if no": lambda m: self._units(-m, "no"),
            }
        else:
            columns = {"tinct": lambda m: min(self._units(m - 1, "yes"), self._units(-m, "no"))}
        others = yes_no_baselines(self.privacy.epsilon, self.privacy.delta)
        return accuracy(words, {**columns, **others}, margins)

    def draw(self, counts: Counts) -> Any:
        """One answer."""
        return self.certified.release(self.line.position(counts) + self._offset)

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """One answer for each group, in bulk."""
        positions = self.line.positions(counts.classes)
        drawn: list[Any] = self.certified.sample(positions + self._offset).tolist()
        return drawn

    @property
    def _offset(self) -> int:
        return 1 if self.line.selection else 0  # selection counts rows, and position 0 is one row

    def _units(self, position: int, answer: str) -> float:
        at = int(self.certified.positions([position])[0])
        column = self.certified.outputs.index(answer)
        return float(self.certified.numerators[at, column] / self.certified.denominator)


@dataclass(frozen=True)
class ModeDesign:
    """The most common category."""

    family: Histograms
    mechanism: ModeTable | PermuteAndFlip

    @property
    def method(self) -> str:
        """What it is."""
        return self.mechanism.method

    @cached_property
    def id(self) -> str:
        """The digest of the certified table, or of the coin."""
        if isinstance(self.mechanism, PermuteAndFlip):
            text = f"permute-and-flip of {self.mechanism.k} with coins {self.mechanism.q} ({self.mechanism.neighbors})"
            return sha256(text.encode()).hexdigest()
        table = self.mechanism
        digest = sha256(f"{table.epsilon} {table.q} {table.total} {table.space.k}".encode())
        for state, row in zip(table.space.states.tolist(), table.rows, strict=True):
            digest.update(f"{state} {row}".encode())
        return digest.hexdigest()

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """By how far the leader is ahead of all others."""
        names = {"PermuteAndFlip": "permute-and-flip", "Exponential": "exponential"}
        others = {names[type(other).__name__]: other.truth for other in self.mechanism.baselines()}
        return accuracy("people by whom the leader is ahead", {"tinct": self.mechanism.truth, **others}, margins)

    def draw(self, counts: Counts) -> Any:
        """One answer."""
        return self.family.categories[self.mechanism.draw(self.family.histogram(counts), sampler.below)]

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """One answer for each group."""
        found = counts.classes.astype(object)
        if self.family.rest is not None:
            found[:, self.family.rest] += counts.missing
        draw = self.mechanism.draw
        return [self.family.categories[draw(tuple(map(int, row)), sampler.below)] for row in found]


@dataclass(frozen=True)
class CertainDesign:
    """A question with the same answer for every dataset there can be: saying it tells nothing about anybody."""

    answer: str

    @property
    def method(self) -> str:
        """What it is."""
        return "every possible dataset has this answer, so it is no secret and costs nothing"

    @property
    def id(self) -> str:
        """There is nothing to certify."""
        return ""

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:  # noqa: ARG002 # one shape for all
        """Always right."""
        return Accuracy("people", (1,), {"tinct": (1.0,)})

    def draw(self, counts: Counts) -> Any:  # noqa: ARG002
        """The answer."""
        return self.answer

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """The answer for each group."""
        return [self.answer] * len(counts)


def design(
    question: Question,
    privacy: Privacy,
    neighbors: str,
    n: int | None,
    *,
    lean: Any = None,
    partial: bool = True,
    progress: Any = None,
) -> GroupDesign:
    """The mechanism for a question; ``n`` is the public number of people with ``neighbors="replace"``.

    ``partial`` says that a row may be outside of what is looked at, so that not everybody counts.
    """
    if isinstance(question, Mode):
        if lean is not None:
            raise ParameterError("lean is for yes/no questions")
        if privacy.exact_delta:
            raise ParameterError("mode makes no use of delta: leave it out and nothing of it is spent")
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
        return ModeDesign(family, mechanism)
    if not isinstance(question, YesNo):
        raise ParameterError(f"question must be a question such as majority('support'), got {question!r:.80}")
    line = question.family(neighbors, n)
    if line.certain is not None:
        return CertainDesign("yes" if line.certain else "no")
    if isinstance(question, Exists):
        if lean is not None:
            raise ParameterError("exists never says yes without reason, so there is nothing to lean: leave out lean")
        if not privacy.exact_delta:
            raise ParameterError("exists needs delta above 0, such as delta='1e-6': without it, it could only say no")
        return YesNoDesign(line, privacy, exact.ray(privacy), leaning=False)
    return YesNoDesign(line, privacy, exact.line(privacy, lean=lean), leaning=lean is not None)
