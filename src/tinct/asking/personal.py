"""Personal budgets: everybody brings an ε of their own, from a few public classes (docs/theory.md §3).

A dataset is the number of people who say yes in each class, a point in a box; a person of class c moves it by one along
axis c. The optimal extension with a budget for each edge uses what the generous allow, and is certified like any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import exact, graphs
from tinct.asking.accuracy import Accuracy, accuracy
from tinct.asking.designs import CertainDesign
from tinct.errors import ParameterError
from tinct.ledger.amounts import cost_epsilon
from tinct.privacy import Privacy
from tinct.privacy.amounts import rational
from tinct.questions import Condition, parse_predicate
from tinct.questions.predicates import PREDICATES, And
from tinct.questions.words import Exists, YesNo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.asking.designs import Design
    from tinct.exact import Certified
    from tinct.questions import Question
    from tinct.sources import Source

MAX_POINTS = 100_000


@dataclass(frozen=True)
class Personal:
    """The question, the column of budgets and the values it may have, from small to large."""

    question: YesNo
    column: str
    budgets: tuple[Privacy, ...]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, question: Question, column: Any, budgets: Any, epsilon: Any, delta: Any, by: Any, neighbors: str
    ) -> Personal | None:
        """Check the request; None if budgets are not personal."""
        if column is None:
            if budgets is not None:
                raise ParameterError("budgets need epsilon_column, the column in which they stand")
            return None
        if not isinstance(question, YesNo) or isinstance(question, Exists):
            raise ParameterError("personal budgets are for majority, threshold, share, median and quantile")
        if neighbors != "replace" or by is not None:
            raise ParameterError("personal budgets need neighbors='replace' (classes are public), and no groups")
        if epsilon is not None or rational(delta, "delta"):
            raise ParameterError("personal budgets take the place of epsilon and delta: leave those out")
        names = tuple(str(budget).strip() for budget in budgets or ())
        if not 1 <= len(names) <= 8 or len(set(names)) != len(names):
            raise ParameterError("budgets must list 1 to 8 different values of epsilon, such as ['0.5', '1']")
        # by what the ledger would charge: floats could not tell which of two close ones is the larger
        pairs = sorted(
            zip(map(Privacy, names), names, strict=True), key=lambda pair: cost_epsilon(pair[0].exact_epsilon)
        )
        return cls(question, column, tuple(pair for pair, _ in pairs), tuple(name for _, name in pairs))

    @property
    def largest(self) -> Any:
        """The ε that is charged: nobody's own is larger."""
        return self.budgets[-1].exact_epsilon

    def rules(self) -> tuple[str, ...]:
        """What is said in public."""
        return (
            f"each person is protected with the ε in {self.column!r} ({', '.join(self.names)}); how many people chose "
            "which is public, and rows with another value are left out",
            "cells that cannot be read are missing, and with personal budgets an unknown row counts as a no",
            f"the ledger is charged the largest, ε = {self.names[-1]}",
        )

    def prepare(self, source: Source, where: Any, unit: Any, progress: Any) -> tuple[Design, Any]:
        """Count each class, and design on the box of the classes.

        Whom ``where`` leaves out is a no rather than nobody: classes and their sizes are public, so it must not shape
        them. Somebody with rows of several budgets is in the class of the smallest.
        """
        counts = source.count_by(self._counted(where), self.column, unit=unit, groups=self.names, listed=True)
        sizes = (counts.classes.sum(axis=1) + counts.missing).tolist()
        need = self._needed(sum(sizes))
        if not 0 < need <= sum(sizes):
            return CertainDesign("yes" if need <= 0 else "no"), None
        points = math.prod(size + 1 for size in sizes)
        if points > MAX_POINTS:
            raise ParameterError(
                f"{len(sizes)} classes of {', '.join(f'{size:,}' for size in sizes)} people make {points:,} datasets, "
                f"more than the {MAX_POINTS:,} that can be certified one by one: use fewer classes, or "
                f"epsilon = {self.names[0]} for everybody"
            )
        present = [at for at, size in enumerate(sizes) if size]
        box = graphs.box(
            [sizes[at] + 1 for at in present],
            lambda rows: np.where(rows.sum(axis=1) >= need, "yes", "no"),
            vectorized=True,
        )
        kept = [self.budgets[at] for at in present]
        report = None if progress is None else lambda edges: progress(edges / max(1, len(box.indices) // 2))
        certified = exact.balanced(box, graphs.personalized(box, kept), progress=report)
        return PersonalDesign(certified, need, kept[0], self.names[present[0]]), tuple(
            int(counts.classes[at, 0]) for at in present
        )

    def _counted(self, where: Any) -> Condition:
        asked = self.question.counted
        if where is None:
            return asked
        return Condition(And((where if isinstance(where, PREDICATES) else parse_predicate(where), asked.predicate)))

    def _needed(self, n: int) -> int:
        """How many yes are needed, if everybody else counts as a no."""
        line = self.question.family("replace", n)
        if line.certain is not None:
            return 0 if line.certain else n + 1
        return -(-(line.loss * n + line.bar) // (line.gain + line.loss))


@dataclass(frozen=True)
class PersonalDesign:
    """The certified table on the box of classes."""

    certified: Certified
    need: int
    smallest: Privacy
    name: str

    @property
    def method(self) -> str:
        """What it is."""
        return "optimal for personal budgets: the extension no private mechanism with this boundary beats, anywhere"

    @property
    def id(self) -> str:
        """The certificate's digest."""
        return self.certified.id

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """The least and the mean over all datasets at least so far from a change, beside one ε for all."""
        votes = np.array([sum(vertex) for vertex in self.certified.vertices])
        distance = np.where(votes >= self.need, votes - self.need, self.need - 1 - votes)
        table = self.certified.table()
        yes = self.certified.outputs.index("yes")
        truth = np.where(votes >= self.need, table[:, yes], table[:, 1 - yes])
        line = exact.line(self.smallest)

        def least(margin: int) -> float:
            return float(truth[distance >= margin - 1].min(initial=1.0))

        def mean(margin: int) -> float:
            far = truth[distance >= margin - 1]
            return float(far.mean()) if len(far) else 1.0

        def same(margin: int) -> float:
            return float(line.numerators[int(line.positions([margin - 1])[0]), 0] / line.denominator)

        words = "people who would have to answer otherwise before the true answer changes"
        columns = {"tinct, least": least, "tinct, mean": mean, f"ε = {self.name} for all": same}
        within = [margin for margin in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if margin <= int(distance.max()) + 1]
        return accuracy(words, columns, margins if margins is not None else within)

    def draw(self, counts: Any) -> Any:
        """One answer."""
        return self.certified.release(counts)
