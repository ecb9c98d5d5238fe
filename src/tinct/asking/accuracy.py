"""How often an answer is right, as a public table: by how far the truth is from changing, never for this dataset."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from tinct.baselines import ERRORS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tinct.privacy import Privacy

    Truth = Callable[[int], float]

_SURE = 0.99995  # lines beyond this all read 1.0000
_GOOD = 0.99
_MARGINS = [digit * 10**power for power in range(13) for digit in (1, 2, 5)]


@dataclass(frozen=True)
class Accuracy:
    """For margins m: the least probability of a right answer if the margin is at least m, for each mechanism.

    The first mechanism is tinct's; the others are what people would otherwise run with the same ε. ``condition`` says
    what a margin of ``{m}`` means, as the second half of a sentence.
    """

    margin: str
    margins: tuple[int, ...]
    right: Mapping[str, tuple[float, ...]]
    condition: str = "the margin is {m} or more"
    what: str = "such an answer is"

    @property
    def margin_title(self) -> str:
        """What the numbers in the first column are."""
        return f"at least this many {self.margin}"

    title = "How often the answer is right"  # of a figure

    @property
    def axes(self) -> tuple[str, str]:
        """What a figure shows against what."""
        return f"margin: {self.margin}", "probability of a right answer, at least"

    @property
    def heading(self) -> str:
        """What the table shows."""
        return f"Probability of a right answer if {self.condition.format(m='m')}"

    def equals(self) -> list[str]:
        """Which of the others are as good as tinct at every margin shown."""
        ours, *others = self.right.items()
        return [name for name, values in others if all(map(math.isclose, values, ours[1]))]

    def in_words(self) -> str:
        """The table in one sentence: the least margin with 99 %, and the worst case.

        >>> Accuracy("votes", (1, 10), {"tinct": (0.6228, 0.9973)}, "the lead is {m} or more votes").in_words()
        'If the lead is 10 or more votes, such an answer is right with probability 99.7 % or more; if only one, 62.2 %.'
        """
        ours = [values for name, values in self.right.items() if name.startswith("tinct")]
        least = [min(each) for each in zip(*ours, strict=True)]
        good = next((at for at, value in enumerate(least) if value >= _GOOD), len(least) - 1)
        sentence = f"If {self.condition.format(m=f'{self.margins[good]:,}')}, {self.what} right with probability "
        sentence += f"{percent(least[good])}{'' if least[good] == 1 else ' or more'}"
        return sentence + (f"; if only one, {percent(least[0])}." if good and self.margins[0] == 1 else ".")

    def to_dict(self) -> dict[str, object]:
        """The table as a JSON object."""
        return {
            "margin": self.margin,
            "margins": list(self.margins),
            "right": {k: list(v) for k, v in self.right.items()},
            "text": self.in_words(),
        }


def accuracy(
    margin: str,
    condition: str,
    mechanisms: Mapping[str, Truth],
    margins: Sequence[int] | None = None,
    largest: int | None = None,
) -> Accuracy:
    """The table at the given margins, or at 1, 2, 5, 10, … until the first mechanism is all but certain.

    ``largest`` is the largest margin that there is, if it is known.
    """
    chosen = tuple(_until_sure(next(iter(mechanisms.values())), largest) if margins is None else margins)
    return Accuracy(margin, chosen, {name: tuple(map(truth, chosen)) for name, truth in mechanisms.items()}, condition)


def percent(value: float) -> str:
    """Rounded down: one decimal, or one digit if that would be 0.

    >>> percent(0.99999), percent(1.0), percent(1e-6)
    ('99.9 %', '100 %', '0.0001 %')
    """
    percent = 100 * Decimal(repr(value))
    unit = Decimal(1).scaleb(min(-1, percent.adjusted())) if percent else Decimal(1)
    return f"{percent.quantize(unit, ROUND_DOWN).normalize():f} %"


def _until_sure(truth: Truth, largest: int | None) -> list[int]:
    chosen: list[int] = []
    values: list[float] = []
    for margin in _MARGINS:
        if largest is not None and margin > largest:
            break
        chosen.append(margin)
        values.append(truth(margin))
        flat = len(values) > 4 and math.isclose(values[-1], values[-3], rel_tol=1e-12)
        if values[-1] >= _SURE or flat:
            break
    return chosen


def yes_no_baselines(privacy: Privacy) -> dict[str, Truth]:
    """What people would otherwise run, by the number of people who would have to differ: one more than the distance."""
    return {name: partial(_right, error, privacy) for name, error in ERRORS.items()}


def _right(error: Callable[[Privacy, Any], Any], privacy: Privacy, margin: int) -> float:
    return 1.0 - float(error(privacy, margin - 1))
