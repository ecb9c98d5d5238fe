"""What follows from a number that is recorded costs nothing: it is read off the ledger, and the data are not looked at.

Which recorded request it was is not taken from its words. They say what to try: the same options, with the recorded
question, must make the very request whose digest the ledger holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import signal

from tinct.asking.accuracy import Accuracy, accuracy
from tinct.asking.number_designs import NumberDesign, number_design
from tinct.errors import ParameterError
from tinct.numbers.amounts import Amount, rational
from tinct.privacy import Privacy
from tinct.privacy.neighbors import Neighbors
from tinct.questions import Numbers, parse
from tinct.questions.number_questions import Count, Histogram, Margin, Top
from tinct.questions.predicates import TEXT, Coded, Comparison, kind_of
from tinct.questions.questions import Exists, Mode, Weighted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tinct.ledger import Entry
    from tinct.questions import Question
    from tinct.questions.noise import Noise, NoiseCertificate

    Reading = tuple[Callable[[Any], Any], tuple[int, ...]]

_BUDGET = re.compile(r", epsilon ([^,]+)(?:, delta ([^,]+))?\Z")
_LOST = 1e-9  # what floats may lose in a sum over several noises
_ALONE = (
    "read off {what}: by the theorem on counts it is right as often as if it alone had been asked with the same ε and δ"
)
_SEVERAL = "read off {what}"


@dataclass(frozen=True)
class Recorded:
    """A question about numbers that a ledger has an answer to, and what it was asked with."""

    question: Numbers
    privacy: Privacy

    @classmethod
    def of(cls, entry: Entry) -> Recorded | None:
        """What an entry says of itself; None if it is not about numbers."""
        text = entry.question
        if not text.startswith(("count(", "margin(", "histogram(", "top(")):
            return None
        end = _BUDGET.search(text)
        if end is None:
            return None
        at = text.find(" of ")
        while at >= 0:
            try:
                asked = parse(text[:at])
                privacy = Privacy(Amount.parse(end[1], "epsilon"), rational(end[2] or 0, "delta"))
            except ParameterError:
                at = text.find(" of ", at + 1)
                continue
            return cls(asked, privacy) if isinstance(asked, Numbers) else None
        return None


def recorded_text(question: Question, privacy: Privacy) -> str:
    """How a record of numbers ends, so that ``Recorded`` can read what it was asked with; of others nothing."""
    if not isinstance(question, Numbers):
        return ""
    delta = f", delta {privacy.exact_delta}" if privacy.exact_delta else ""
    return f", epsilon {privacy.exact_epsilon}{delta}"


@dataclass(frozen=True)
class Following:
    """How an answer is read off recorded numbers: as a design, it draws nothing and costs nothing.

    ``read`` takes what is recorded, for one group if there are groups. ``alone`` says that it is as truthful as if it
    alone had been asked; ``parts`` are the signs of the noises it carries, one for each number that it adds up.
    """

    question: Question
    recorded: NumberDesign
    request: str
    read: Callable[[Any], Any]
    alone: bool = False
    parts: tuple[int, ...] = field(default=(1,))

    name: ClassVar[str] = "following"
    outputs: ClassVar[tuple[Any, ...]] = ()

    @property
    def certificate(self) -> NoiseCertificate | None:
        """That of the recorded numbers, if these are numbers too."""
        return self.recorded.certificate if isinstance(self.question, Numbers) else None

    @property
    def method(self) -> str:
        """Where it comes from, and how good that is."""
        what = f"the recorded answer of request {self.request}, at no cost and without a look at the data"
        return (_ALONE if self.alone else _SEVERAL).format(what=what)

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """How often what is read off is right, or how far off it may be."""
        noise = self.recorded.noise
        if isinstance(self.question, Numbers):
            return number_table(self.question, self.recorded).accuracy(margins)
        if isinstance(self.question, Mode):
            rivals = len(self.question.categories) - 1
            condition = "the leader is ahead by {m} or more people"
            return accuracy(
                "people by which the leader is ahead", condition, {"tinct": _leading(noise, rivals)}, margins
            )
        replaced = self.recorded.neighbors == Neighbors.REPLACE
        verb = "answer differently" if replaced else "join or leave"
        step = 2 if replaced and len(self.parts) > 1 else 1  # who changes sides moves a difference by two
        return accuracy(
            f"people who would have to {verb} to change the true answer",
            f"{{m}} or more people would have to {verb} to change the true answer",
            {"tinct": _reaching(noise, self.parts, step)},
            margins,
        )

    def answer(self, stored: Any, *, grouped: bool) -> Any:
        """The answer, or one for each group."""
        return {name: self.read(each) for name, each in stored.items()} if grouped else self.read(stored)

    def draw(self, counts: Any) -> Any:  # noqa: ARG002 # one shape for all
        """Nothing is ever drawn."""
        raise ParameterError("what follows from a recorded answer is not drawn")


def number_table(question: Numbers, recorded: NumberDesign) -> NumberDesign:
    """The design of the numbers that are read off, which have the noise of the recorded ones."""
    made = number_design(recorded.question, recorded.privacy, recorded.neighbors, recorded.n)
    return NumberDesign(question, made.privacy, made.neighbors, made.n, made.certificate)


def following(question: Question, recorded: NumberDesign, request: str, unit: str | None) -> Following:
    """How the answer to a question is read off a recorded one; a ParameterError says why, if it does not follow."""
    source = recorded.question
    found = _read(question, source, unit)
    if found is None:
        raise ParameterError(
            f"{question} does not follow from request {request!r}, which is {source}: {_why(question, source, unit)}",
            parameter="after",
        )
    read, parts = found
    alone = len(parts) == 1 and recorded.changes == 1 and isinstance(question, Weighted)
    return Following(question, recorded, request, read, alone, parts)


def _read(question: Question, source: Numbers, unit: str | None) -> Reading | None:
    if isinstance(source, Histogram) and not isinstance(source, Top):
        return _off_histogram(question, source, unit)
    if type(source) is type(question) and source == question:
        return lambda stored: stored, (1,)
    if not isinstance(question, Weighted) or isinstance(question, Exists):
        return None
    gain, loss, bar = question._weights()
    fits = (gain, loss) == ((1, 1) if isinstance(source, Margin) else (1, 0)) and isinstance(source, Count)
    if not fits or getattr(source, "predicate", None) != question.counted.predicate or (loss and not bar):
        return None
    return (lambda stored: _said(question, stored >= bar)), (1,)


def _off_histogram(question: Question, source: Histogram, unit: str | None) -> Reading | None:
    same = getattr(question, "column", None) == source.column and getattr(question, "rest", None) == source.rest
    if isinstance(question, Mode | Histogram):
        if not same or question.categories != source.categories:
            return None
        if isinstance(question, Mode):
            values = dict(zip(source.names, question.categories, strict=True))
            return (lambda stored: _plain(values[max(source.names, key=stored.__getitem__)])), (1,) * len(values)
        return (lambda stored: question.answer([stored[name] for name in source.names])), (1,)
    if unit is not None or source.rest is not None:  # of a person with several rows, a category and a predicate differ
        return None
    if type(question) is Count:
        cell = _cell(question.predicate, source)
        return None if cell is None else ((lambda stored: stored[cell]), (1,))
    if not isinstance(question, Weighted) or isinstance(question, Exists):
        return None
    weights = question._weights()
    if weights[:2] == (1, 0):
        cell = _cell(question.counted.predicate, source)
        return None if cell is None else ((lambda stored: _said(question, stored[cell] >= weights[2])), (1,))
    coded = question.counted.predicate
    if weights[:2] != (1, 1) or not weights[2] or not isinstance(coded, Coded) or coded.column != source.column:
        return None
    yes, no = ([_name(value, source) for value in values] for values in (coded.yes, coded.no))
    if None in yes or None in no:
        return None

    def read(stored: Any) -> Any:
        return _said(question, sum(stored[name] for name in yes) - sum(stored[name] for name in no) >= weights[2])

    return read, (1,) * len(yes) + (-1,) * len(no)


def _cell(predicate: Any, source: Histogram) -> str | None:
    """The name of the category that a predicate is about."""
    if not isinstance(predicate, Comparison) or predicate.operator != "==" or predicate.column != source.column:
        return None
    return _name(predicate.value, source)


def _name(value: Any, source: Histogram) -> str | None:
    """The name of a category, if cells of it are read alike in a predicate and in a list of categories."""
    for name, category in zip(source.names, source.categories, strict=True):
        if category == value and type(category) is type(value):
            is_word = not isinstance(value, str) or (kind_of(value) == TEXT and re.search(r"[^\W\d]", value))
            return name if is_word else None  # 1.0 is the category 1, and a date a moment
    return None


def _said(question: Weighted, reached: bool) -> str:
    return "yes" if reached != question._flipped else "no"


def _plain(category: Any) -> Any:
    return int(category) if isinstance(category, float) and category.is_integer() else category


def _why(question: Question, source: Numbers, unit: str | None) -> str:
    if isinstance(source, Top):
        return "of the categories it left out nothing is known"
    if isinstance(question, Exists):
        return "exists never says yes wrongly, and a number with noise may"
    if isinstance(source, Histogram):
        if unit is not None and not isinstance(question, Mode | Histogram):
            return "a person with several rows is in one category only, whatever the other rows say"
        return "a histogram tells its own categories, how many are in one, which is the largest, and yes against no"
    if isinstance(source, Margin):
        return "a margin tells whether there are more yeses than noes, for the same yeses and noes"
    return "a count tells whether it reaches a number, for the same predicate"


# how often it is right


def _masses(noise: Noise) -> tuple[int, NDArray[np.float64]]:
    """The least number, and the probabilities from there on; of noise without an end, all but 10^−15."""
    low, high = (-noise.reach, noise.reach) if noise.ends is None else noise.ends
    beyond = np.array([noise.at_least(number) for number in range(low, high + 2)])
    return low, beyond[:-1] - beyond[1:]


def _reaching(noise: Noise, parts: tuple[int, ...], step: int) -> Callable[[int], float]:
    """How often the sign is right if it takes so many people to change it, each of whom moves it by ``step``."""
    if len(parts) == 1:
        return lambda margin: min(noise.at_least(1 - margin), 1.0 - noise.at_least(margin))
    low, one = _masses(noise)
    masses, first = np.ones(1), 0
    for sign in parts:
        masses = signal.fftconvolve(masses, one if sign > 0 else one[::-1])
        first += low if sign > 0 else -(low + len(one) - 1)
    below = np.concatenate([[0.0], np.cumsum(masses)])  # the probability of less than first + at

    def right(margin: int) -> float:
        room = step * (margin - 1)
        less, more = (int(np.clip(edge - first, 0, len(masses))) for edge in (-room, room + 1))
        return float(max(0.0, min(1.0 - below[less], below[more]) - _LOST))

    return right


def _leading(noise: Noise, rivals: int) -> Callable[[int], float]:
    """How often the leader stays ahead of so many others, each of them ``margin`` behind."""
    masses = _masses(noise)[1]
    below = np.concatenate([[0.0], np.cumsum(masses)])

    def right(margin: int) -> float:
        behind = np.clip(np.arange(len(masses)) + margin, 0, len(masses))  # a rival's noise must be less than that
        return float(max(0.0, masses @ below[behind] ** rivals - _LOST))

    return right
