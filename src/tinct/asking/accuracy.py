"""How often an answer is right, as a public table: by how far the truth is from changing, never for this dataset."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Truth = Callable[[int], float]

_SURE = 0.99995  # lines beyond this all read 1.0000
_MARGINS = [digit * 10**power for power in range(13) for digit in (1, 2, 5)]


@dataclass(frozen=True)
class Accuracy:
    """For margins m: the least probability of a right answer if the margin is at least m, for each mechanism.

    The first mechanism is tinct's; the others are what people would otherwise run with the same ε.
    """

    margin: str
    margins: tuple[int, ...]
    right: Mapping[str, tuple[float, ...]]

    def equals(self) -> list[str]:
        """Which of the others are as good as tinct at every margin shown."""
        ours, *others = self.right.items()
        return [name for name, values in others if all(map(math.isclose, values, ours[1]))]

    def to_dict(self) -> dict[str, object]:
        """The table as JSON holds it."""
        return {
            "margin": self.margin,
            "margins": list(self.margins),
            "right": {k: list(v) for k, v in self.right.items()},
        }


def accuracy(margin: str, mechanisms: Mapping[str, Truth], margins: Sequence[int] | None = None) -> Accuracy:
    """The table at the given margins, or at 1, 2, 5, 10, … until the first mechanism is all but certain."""
    chosen = tuple(_until_sure(next(iter(mechanisms.values()))) if margins is None else margins)
    return Accuracy(margin, chosen, {name: tuple(map(truth, chosen)) for name, truth in mechanisms.items()})


def _until_sure(truth: Truth) -> list[int]:
    chosen: list[int] = []
    values: list[float] = []
    for margin in _MARGINS:
        chosen.append(margin)
        values.append(truth(margin))
        flat = len(values) > 4 and math.isclose(values[-1], values[-3], rel_tol=1e-12)
        if values[-1] >= _SURE or flat:
            break
    return chosen


def yes_no_baselines(epsilon: float, delta: float) -> dict[str, Truth]:
    """Randomized response, and noise on the position that is then compared with the boundary (docs/theory.md §9)."""
    growth = math.exp(min(epsilon, 700.0))
    return {
        "randomized response": lambda _: (growth + delta) / (growth + 1.0),
        "geometric": lambda margin: 1.0 - math.exp(-epsilon * (margin - 1)) / (1.0 + growth),
        "Laplace": lambda margin: 1.0 - 0.5 * math.exp(-epsilon * (margin - 0.5)),
    }  # fmt: skip
