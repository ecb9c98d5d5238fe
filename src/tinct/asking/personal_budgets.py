"""Personal budgets: every person has their own ε, from a few public classes (docs/theory.md §3).

A dataset is the number of people who say yes in each class, a point in a box; a person of class c moves it by one along
axis c. The fair optimum with a budget for each edge uses what the generous allow, and is certified like any other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from tinct import exact, graphs
from tinct.asking.accuracy import Accuracy, accuracy
from tinct.asking.designs import CertainDesign
from tinct.binary import balanced
from tinct.errors import Parameter, ParameterError
from tinct.ledger import Protection
from tinct.ledger.costs import cost_epsilon
from tinct.ledger.protection import MAX_CLASSES
from tinct.numbers.amounts import rational
from tinct.privacy import Privacy
from tinct.questions import Condition, parse_predicate
from tinct.questions.predicates import PREDICATES, And
from tinct.questions.questions import Exists, Weighted
from tinct.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from tinct.asking.designs import Design, Progress
    from tinct.exact import Certified
    from tinct.numbers.amounts import Amount, AmountLike, NumberLike
    from tinct.questions import Line, Predicate, Question
    from tinct.sources import Source

MAX_POINTS = 100_000

# the values of ε that people may choose, and how many chose which
BudgetsLike: TypeAlias = "Sequence[AmountLike] | Mapping[str, int]"


@dataclass(frozen=True)
class PersonalBudgets:
    """The question, the column of budgets and the values it may have, from small to large.

    ``sizes`` says how many people chose which, as the owner declared; None until the owner has it counted.
    """

    question: Weighted
    column: str
    budgets: tuple[Privacy, ...]
    names: tuple[str, ...]
    sizes: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls,
        question: Question,
        column: str | None,
        budgets: BudgetsLike | None,
        epsilon: AmountLike | None,
        delta: NumberLike,
        by: object,
        neighbors: str,
    ) -> PersonalBudgets | None:
        """Check the request; None if budgets are not personal."""
        if column is None:
            if budgets is not None:
                raise ParameterError.about(
                    "epsilon_column", "`budgets` needs `epsilon_column`, the column that holds them"
                )
            return None
        if not isinstance(question, Weighted) or isinstance(question, Exists):
            raise ParameterError.about(
                "epsilon_column",
                "personal budgets are for majority, threshold, share, median and quantile: for other questions, state "
                "one `epsilon` for everybody",
            )
        if neighbors != "replace" or by is not None:
            raise ParameterError.about(
                "neighbors" if by is None else "by",
                "personal budgets need `neighbors='replace'` (classes are public), and no groups",
            )
        if epsilon is not None or rational(delta, "delta"):
            raise ParameterError.about(
                "delta" if epsilon is None else "epsilon",
                "personal budgets take the place of `epsilon` and `delta`: leave those out",
            )
        names = tuple(str(budget).strip() for budget in budgets or ())
        if not 1 <= len(names) <= MAX_CLASSES or len(set(names)) != len(names):
            raise ParameterError.of(
                "budgets",
                f"1 to {MAX_CLASSES} different values of epsilon",
                ...,
                ", such as ",
                Parameter("budgets", ["0.5", "1"]),
            )
        # by what the ledger would charge: floats could not tell which of two close ones is the larger
        pairs = sorted(
            zip(map(Privacy, names), names, strict=True), key=lambda pair: cost_epsilon(pair[0].exact_epsilon)
        )
        ordered = tuple(name for _, name in pairs)
        sizes = None
        if isinstance(budgets, Mapping):
            declared = Protection(neighbors="replace", epsilon_column=column, budgets=budgets).budgets or {}
            sizes = tuple(declared[name] for name in ordered)
        return cls(question, column, tuple(pair for pair, _ in pairs), ordered, sizes)

    @property
    def largest(self) -> Amount:
        """The largest ε of all, which is charged."""
        return self.budgets[-1].exact_epsilon

    def rules(self) -> tuple[Remark, ...]:
        """What the plan says about personal budgets."""
        return (
            Remark(
                f"each person is protected with their own ε in {self.column!r} ({', '.join(self.names)}); how many "
                "people chose which ε is public, and rows with any other value are ignored",
                "personal-budgets",
                epsilon_column=self.column,
                epsilons=list(self.names),
            ),
            Remark(
                "cells that cannot be read count as missing, and with personal budgets an unknown row counts as a no",
                "missing-is-no",
            ),
            Remark(f"the ledger is charged the largest ε, {self.names[-1]}", "largest-epsilon", epsilon=self.names[-1]),
        )

    @property
    def classes(self) -> dict[str, int] | None:
        """How many people chose each ε."""
        return None if self.sizes is None else dict(zip(self.names, self.sizes, strict=True))

    @property
    def people(self) -> int | None:
        """The public number of people."""
        return None if self.sizes is None else sum(self.sizes)

    def counted(self, source: Source, unit: str | None) -> PersonalBudgets:
        """The same with the classes counted, for a caller who owns the data: their sizes are public from then on."""
        return replace(self, sizes=tuple(source.count_classes(self.column, self.names, unit).values()))

    def design(self, progress: Progress | None, lean: Fraction | None = None) -> Design:
        """The fair optimum on the box of the classes, from their public sizes alone."""
        sizes = self.sizes or ()
        need = self._needed(sum(sizes))
        if not 0 < need <= sum(sizes):
            return CertainDesign("yes" if (need <= 0) != self._line(sum(sizes)).flipped else "no")
        points = math.prod(size + 1 for size in sizes)
        if points > MAX_POINTS:
            raise ParameterError(
                f"{len(sizes)} classes of {', '.join(f'{size:,}' for size in sizes)} people make {points:,} datasets, "
                f"more than the {MAX_POINTS:,} that can be certified one by one: use fewer classes, or ",
                Parameter("epsilon", self.names[0]),
                " for everybody",
                parameter="epsilon",
            )
        present = [at for at, size in enumerate(sizes) if size]
        reached, missed = ("no", "yes") if self._line(sum(sizes)).flipped else ("yes", "no")
        box = graphs.box(
            [sizes[at] + 1 for at in present],
            lambda rows: np.where(rows.sum(axis=1) >= need, reached, missed),
            vectorized=True,
        )
        kept = [self.budgets[at] for at in present]
        report = None if progress is None else lambda edges: progress(edges / max(1, len(box.indices) // 2))
        budget = graphs.personalized(box, kept)
        if lean is None:
            certified = exact.balanced(box, budget, progress=report)
        else:  # designed in floats, and mended by units
            leaning = box.with_outputs(("yes", "no"))
            certified = exact.certify(balanced(leaning, budget, lean=float(lean)), progress=report)
        certified = certified.about(str(self.question), "replace")
        return PersonalDesign(certified, need, kept[0], self.names[present[0]], reached, lean is not None)

    def check(self, source: Source, where: str | Predicate | None, unit: str | None) -> None:
        """Refuse whatever counting by ε would refuse, without looking at a row."""
        source.check(self._counted(where), unit=unit, by=self.column, groups=self.names)

    def position(self, source: Source, where: str | Predicate | None, unit: str | None) -> tuple[int, ...]:
        """How many people of each class say yes: where the data lie in the box. It is secret.

        Whom ``where`` leaves out is a no rather than nobody: classes and their sizes are public, so it must not shape
        them. Somebody with rows of several budgets is in the class of the smallest. A class that has more people than
        was declared is cut: that moves the position by no more than one person can.
        """
        counts = source.count_by(self._counted(where), self.column, unit=unit, groups=self.names, listed=True)
        sizes = self.sizes or ()
        return tuple(min(int(counts.classes[at, 0]), size) for at, size in enumerate(sizes) if size)

    def _counted(self, where: str | Predicate | None) -> Condition:
        asked = self.question.counted
        if where is None:
            return asked
        return Condition(And((where if isinstance(where, PREDICATES) else parse_predicate(where), asked.predicate)))

    def _line(self, n: int) -> Line:
        return self.question.family("replace", n)

    def _needed(self, n: int) -> int:
        """How many rows must be true to reach the bound, if everybody else counts as false."""
        line = replace(self._line(n), flipped=False)
        if line.certain is not None:
            return 0 if line.certain else n + 1
        return -(-(line.loss * n + line.bar) // (line.gain + line.loss))


@dataclass(frozen=True)
class PersonalDesign:
    """The certified table on the box of classes."""

    certified: Certified
    need: int
    smallest: Privacy
    smallest_name: str
    reached: str  # the true answer from so many on
    leaning: bool = False

    name: ClassVar[str] = "personal"
    outputs: ClassVar[tuple[Any, ...]] = ("yes", "no")

    @property
    def method(self) -> str:
        """Why no other mechanism is better."""
        claim = "no private mechanism is right as often on every dataset and more often on one"
        if self.leaning:
            return Remark(f"fair optimum with a lean for personal budgets: {claim} (up to 10^-9)", "leaning")
        return Remark(f"fair optimum for personal budgets: {claim} (up to units of 2^-62)", "fair")

    @property
    def certificate(self) -> Certified:
        """The certified table the answers are drawn from."""
        return self.certified

    def accuracy(self, margins: Sequence[int] | None = None) -> Accuracy:
        """The least and the mean over all datasets with this margin or more, beside one ε for everybody."""
        votes = np.array([sum(vertex) for vertex in self.certified.vertices])
        distance = np.where(votes >= self.need, votes - self.need, self.need - 1 - votes)
        table = self.certified.table()
        reached = self.certified.outputs.index(self.reached)
        truth = np.where(votes >= self.need, table[:, reached], table[:, 1 - reached])
        line = exact.line(self.smallest)

        def least(margin: int) -> float:
            return float(truth[distance >= margin - 1].min(initial=1.0))

        def mean(margin: int) -> float:
            far = truth[distance >= margin - 1]
            return float(far.mean()) if len(far) else 1.0

        def same(margin: int) -> float:
            return float(line.numerators[int(line.positions([margin - 1])[0]), 0] / line.denominator)

        change = "people who would have to answer differently to change the true answer"
        condition = "{m} or more people would have to answer differently to change the true answer"
        columns = {"tinct, least": least, "tinct, mean": mean, f"ε = {self.smallest_name} for all": same}
        return accuracy(change, condition, columns, margins, int(distance.max()) + 1)

    def draw(self, counts: Any) -> Any:
        """Draw one answer for this position."""
        return self.certified.release(counts)
