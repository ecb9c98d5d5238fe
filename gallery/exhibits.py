"""What an exhibit is: a figure of a paper, its counterpart, and what to say about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PAPERS = {
    "binary-colorings": "Differential privacy for binary functions via randomized graph colorings (2021)",
    "optimal-binary": "Optimal binary differential privacy via graphs (2023)",
    "heterogeneous": "Heterogeneous differential privacy via graphs (2022)",
    "rainbow": "Generalized rainbow differential privacy (2023)",
    "extremal-local": "Extremal mechanisms for local differential privacy (2016)",
}


@dataclass(frozen=True)
class Exhibit:
    """One figure of one paper.

    Attributes:
        paper: A key of ``PAPERS``.
        number: The number of the figure there.
        title: What it shows, in a few words.
        text: Two sentences.
        draw: Draws the counterpart, on a dark background if asked to.
        differs: What the counterpart has that the figure has not, or the other way round, and why.
        wrong: What is wrong in the paper's figure, if anything; the counterpart then shows both.
    """

    paper: str
    number: int
    title: str
    text: str
    draw: Callable[[bool], Any]
    differs: str = ""
    wrong: str = ""

    @property
    def name(self) -> str:
        """The name of its files, without what comes after."""
        return f"{self.paper}-{self.number}"
