"""What "optimal" means for a mechanism that a designer has made: one claim for each designer, in exact words.

Every claim is among mechanisms that are private on the same graph for the same budgets, and holds up to rounding
(docs/guarantees.md).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A claim: its name, and the sentence that it stands for."""

    name: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence}"

    def to_dict(self) -> dict[str, str]:
        """The claim as a JSON object; its code says which of the claims of this file it is."""
        return {"code": self.name.replace(" ", "-"), "text": str(self)}


_UNDOMINATED = "right at least as often on every dataset and more often on one"

FAIR = Claim(
    "fair optimum",
    f"no private mechanism is {_UNDOMINATED}; the least truth is as large as can be, then the next, and so on",
)
LEANING = Claim(
    "fair optimum with a lean",
    f"no private mechanism is {_UNDOMINATED}; in terms of the lean the least truth is as large as can be, then the "
    "next, and so on",
)
COMPLETED = Claim("fair optimum with given values", f"no private mechanism with the given values is {_UNDOMINATED}")
GIVEN = Claim(
    "optimum for the given values", "no private mechanism with the given values is right more often on any dataset"
)
BOUNDARY = Claim(
    "optimum for these boundary truths",
    "no private mechanism with these truths on the boundaries is right more often on any dataset",
)
_PREFIXES = (
    "no private mechanism with the given rows gives the best answer, or one of the two best, and so on, more often"
)
ROWS = Claim("optimum for the given rows", f"{_PREFIXES} on any dataset")
PROGRAM = Claim(
    "best by linear program",
    "no private mechanism has more of the utility than the upper bound that the program proves",
)


def rows_within(gap: float) -> Claim:
    """The claim of an optimum for given rows that linear programs have found."""
    return Claim("optimum for the given rows, by linear programs", f"{_PREFIXES} by more than {gap:.2g} on any dataset")


def lexicographic_within(gap: float) -> Claim:
    """The claim of a lexicographic optimum for given rows, which linear programs have found."""
    return Claim(
        "lexicographic optimum for the given rows, by linear programs",
        "no private mechanism with the given rows gives the best answer more often on any dataset, nor, giving it as "
        f"often, one of the two best, and so on; each up to {gap:.2g}",
    )
