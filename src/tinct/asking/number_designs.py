"""Numbers with noise: the design for ``count``, ``margin``, ``histogram`` and ``top``, and how far off they may be."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.asking.accuracy import Accuracy, percent
from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.numbers.amounts import fraction_text, rational
from tinct.questions.noise import NoiseCertificate, TableNoise, count_noise
from tinct.questions.number_questions import Count, Top
from tinct.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tinct.numbers.amounts import NumberLike
    from tinct.privacy import Privacy
    from tinct.questions import Counts, GroupCounts, Numbers, Question
    from tinct.questions.noise import Noise
    from tinct.questions.number_questions import Number

LARGEST = 10**19  # no answer is larger, up or down: beyond every count, and it bounds the room an answer takes
LEVELS = (0.95, 0.99)
_ERRORS = [0, *(digit * 10**power for power in range(20) for digit in (1, 2, 5))]
_SURE = 0.99995


@dataclass(frozen=True)
class ErrorTable(Accuracy):
    """For errors m: the probability that a number is off by at most m, for each mechanism; ``widths`` by level."""

    widths: dict[float, int] = field(default_factory=dict)
    condition: str = "the number is off by at most {m}"
    each: str = "such a number is"  # what is within the width: one number, or all of them together
    group: str = ""  # of which groups the sentence holds, if not of all

    title = "How far off the answer is"

    @property
    def margin_title(self) -> str:
        """What the numbers in the first column are."""
        return self.margin

    @property
    def axes(self) -> tuple[str, str]:
        """What a figure shows against what."""
        return self.margin, "probability of being that near"

    @property
    def heading(self) -> str:
        """What the table shows."""
        return "Probability that a number is off by at most m"

    def in_words(self) -> str:
        """The table in one sentence."""
        (first, width), *others = self.widths.items()
        more = "".join(f", with {percent(level)} within {other:,}" for level, other in others)
        exactly = f"within {width:,} of" if width else "equal to"
        return f"With {percent(first)} {self.each} {exactly} the true one{more}{self.group}."

    def to_dict(self) -> dict[str, object]:
        """The table as a JSON object."""
        return super().to_dict() | {"within": {str(level): width for level, width in self.widths.items()}}


@dataclass(frozen=True)
class NumberDesign:
    """One draw of noise for each number of a question.

    ``selecting`` is for groups that are found: nothing is said of a group if its noisy number is below 0.
    """

    question: Numbers
    privacy: Privacy
    neighbors: str
    n: int | None
    certificate: NoiseCertificate
    selecting: bool = False

    @property
    def name(self) -> str:
        """The kind of mechanism, in one word."""
        return "selecting" if self.selecting else self.question.word

    @property
    def noise(self) -> Noise:
        """What is added to each number."""
        return self.certificate.noise

    @property
    def method(self) -> str:
        """Why no other mechanism is better."""
        bounded = "" if self.noise.ends is None else f"; the noise is never above {self.noise.reach:,}"
        if self.selecting:
            return (
                "one draw of noise for each group decides whether it is shown and is in its number: no private "
                "mechanism shows groups of any size more often, and nothing of ε and δ is divided"
            )
        if self.changes > 1:
            return (
                "noise in whole numbers, drawn for each number: one person changes two of them, so each gets one half "
                f"of ε and of δ{bounded}"
            )
        if isinstance(self.question, Count):
            return (
                f"one draw of noise in whole numbers: every threshold on this {self.question.word} can be read off the "
                f"answer, and is right as often as if it alone had been asked with the same ε and δ{bounded}"
            )
        return f"noise in whole numbers, drawn for each number: one person changes one of them{bounded}"

    @property
    def changes(self) -> int:
        """How many numbers one person changes."""
        return self.certificate.changes

    @property
    def rules(self) -> tuple[Remark, ...]:
        """What the plan says about numbers."""
        if self.changes == 1:
            return ()
        epsilon, delta = str(self.privacy.exact_epsilon), fraction_text(self.privacy.exact_delta)
        both = f"ε = {epsilon}" + (f" and δ = {delta}" if delta != "0" else "")
        said = (
            f"with neighbors='replace' one person changes two numbers of a {self.question.word}: each is drawn with "
            f"half of {both}; with 'add-remove' it would be all of it"
        )
        return (Remark(said, "two-numbers", changes=self.changes, epsilon=epsilon, delta=delta),)

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The longest answer; all that matters of them in public is the room they take."""
        names = self.question.longest
        return (dict.fromkeys(names, -LARGEST) if names else -LARGEST,)

    def accuracy(self, margins: Sequence[int] | None = None) -> ErrorTable:
        """How far off a number may be."""
        center, noise = self.certificate.center, self.noise
        one = self.privacy.epsilon / self.changes

        def geometric(error: int) -> float:  # 1 − 2q^(m+1)/(1 + q)
            return 1.0 - 2.0 * math.exp(-one * (error + 1)) / (1.0 + math.exp(-one)) if one else 0.0

        def laplace(error: int) -> float:
            return -math.expm1(-one * (error + 0.5))

        chosen: list[int] = list(margins or ())
        for error in _ERRORS if margins is None else ():
            chosen.append(error)
            if noise.within(error, center) >= _SURE:
                break
        right = {"tinct": tuple(noise.within(error, center) for error in chosen)}
        if not self.selecting:
            right |= {"geometric": tuple(map(geometric, chosen)), "Laplace": tuple(map(laplace, chosen))}
        widths = {level: width(noise, together(self.question, level), center) for level in LEVELS}
        each = "every number shown is" if together(self.question, LEVELS[0]) != LEVELS[0] else "such a number is"
        group = ""
        if self.selecting:
            group = f", in groups of {-self.noise.first:,} or more, which are always shown"  # type: ignore[union-attr]
        return ErrorTable("off by at most", tuple(chosen), right, widths=widths, each=each, group=group)

    def draw(self, counts: Counts) -> Number:
        """Draw the answer for these counts."""
        return self.question.answer(self.noisy(np.array(self.question.numbers(counts, self.n), object)))

    def draw_groups(self, counts: GroupCounts) -> list[Any]:
        """Draw one answer for each group; None for one that is not shown."""
        numbers = self.question.many_numbers(counts)
        noisy, width = self.noisy(numbers.ravel()), numbers.shape[1]
        if self.selecting:
            center = self.certificate.center
            return [None if number < 0 else number - center for number in noisy]
        return [self.question.answer(noisy[at : at + width]) for at in range(0, len(noisy), width)]

    def noisy(self, numbers: NDArray[Any]) -> list[int]:
        """Each number with its own draw of noise, cut only then to what a ledger has room for."""
        if len(numbers) == 1:
            drawn = numbers + np.array([self.noise.draw(sampler.below)], object)
        else:
            drawn = numbers + self.noise.draw_many(len(numbers), sampler.below_many, sampler.below)
        found: list[int] = drawn.tolist()
        if drawn.dtype == np.int64:  # which holds no number as large as that
            return found
        return [max(-LARGEST, min(int(number), LARGEST)) for number in found]


def width(noise: Noise, level: NumberLike, center: int = 0) -> int:
    """The least m with which the noise is within m of its center with at least this probability.

    >>> from fractions import Fraction
    >>> from tinct.questions.noise import GeometricNoise
    >>> width(GeometricNoise(Fraction(1, 2)), 0.95)  # 1 − (4/3)/2^5 = 0.958 is enough, 1 − (4/3)/2^4 is not
    4
    """
    wanted = rational(level, "level")
    if not 0 < wanted < 1:
        raise ParameterError.of("level", "a probability between 0 and 1", level)
    if wanted > _most(noise):
        raise ParameterError.of("level", "not as close to 1", level)
    low, high = -1, 1
    while noise.within(high, center) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if noise.within(middle, center) >= wanted else (middle, high)
    return high


def together(question: Question, level: NumberLike) -> NumberLike:
    """The level at which each number must be right.

    Those that ``top`` shows were chosen for being large, so theirs must hold for all categories together.
    """
    if not isinstance(question, Top):
        return level
    return 1 - (1 - rational(level, "level")) / len(question.categories)


def _most(noise: Noise) -> float:
    """Up to here levels can be told apart from 1."""
    return 1.0 if isinstance(noise, TableNoise) else 1 - 1e-12


def number_design(
    question: Numbers, privacy: Privacy, neighbors: str, n: int | None, *, selecting: bool = False
) -> NumberDesign:
    """The design for a question about numbers, certified."""
    changes = question.changes(neighbors)
    noise = count_noise(privacy, changes=changes, selecting=selecting)
    certificate = NoiseCertificate(
        str(question), str(neighbors), changes, privacy.exact_epsilon, privacy.exact_delta, noise
    )
    return NumberDesign(question, privacy, str(neighbors), n, certificate, selecting)


def selects_itself(question: object) -> bool:
    """Whether groups that are found can be selected by the very number that is asked for."""
    return type(question) is Count
