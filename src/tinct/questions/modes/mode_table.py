"""ModeTable: whole weights for every state of margins, proved private before anybody draws from it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.exact.proof import at_most_exp
from tinct.exact.sampler import place
from tinct.questions.modes.coins import retention
from tinct.questions.modes.margins import require_counts
from tinct.questions.modes.mode_proof import certify_rows, least_epsilon
from tinct.questions.modes.permute_and_flip import PermuteAndFlip
from tinct.questions.modes.truths import Exponential, require_margin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction

    from tinct.numbers.amounts import Amount
    from tinct.questions.modes.margins import MarginSpace
    from tinct.questions.modes.mode_proof import ModeProof
    from tinct.questions.modes.truths import Baseline

    Below = Callable[[int], int]

_LEAST_GAP = 1e-9  # what is claimed at best; a tenth of it is far more than means and their bound are rounded by


@dataclass(frozen=True, eq=False, repr=False)
class ModeTable:
    """For every state of sorted margins a whole weight for each place; one person may change category.

    Attributes:
        epsilon: ε, exactly.
        space: The states and, through them, every move of one person.
        rows: One row of weights per state, in the order of ``space.states``; equal margins have equal weights.
        total: What each row sums to.
        q: A rational number, at least e^−ε, that every weight keeps on every move.
        rule: How the weights were found; a table from a file does not say.
        best_mean: A mean truth that no private rule on these states exceeds, where a linear program was solved.
    """

    epsilon: Amount
    space: MarginSpace
    rows: tuple[tuple[int, ...], ...]
    total: int
    q: Fraction
    rule: str = "a table"
    best_mean: float | None = None

    @property
    def k(self) -> int:
        """How many categories there are."""
        return self.space.k

    @property
    def neighbors(self) -> str:
        """The relation between datasets that the table is for."""
        return "replace"

    @property
    def method(self) -> str:
        """The mechanism in public words."""
        if self.space.people is None:
            return f"{self.rule} on margins, those of {self.space.ceiling:,} or more taken as one"
        where = f"{self.rule} on the histograms of n = {self.space.people:,}"
        gap = self.mean_gap
        if gap is None:
            return where
        who = "no private mechanism that looks at margins alone" if self.space.missing else "no private mechanism"
        return f"{where}: on average over them {who} is right more often by more than {_one_digit(gap)}"

    @cached_property
    def mean_truth(self) -> float:
        """The mean over all histograms of n people of the probability of a right answer; n must be public."""
        counts, states = self.space.histograms, self.space.states.tolist()
        right = sum(
            count * row[0] * margins.count(0) for count, margins, row in zip(counts, states, self.rows, strict=True)
        )
        mean: float = right / (self.total * sum(counts))
        return mean

    @property
    def mean_gap(self) -> float | None:
        """By how much at most another private rule has more mean truth, rounded up; None if that is not known."""
        return None if self.best_mean is None else max(_LEAST_GAP, self.best_mean - self.mean_truth + _LEAST_GAP / 10)

    def certify(self, progress: Callable[[float], None] | None = None) -> ModeProof:
        """Verify in exact arithmetic that the table is ε-private; ``NotPrivate`` names a move that refutes it."""
        kept = f"ln {self.epsilon.value}" if self.epsilon.is_log else str(self.epsilon.value)
        if not at_most_exp(1 / self.q, kept):
            raise ParameterError(f"q = {self.q} is less than e to the power of −epsilon")
        proof = certify_rows(self.space, self.rows, self.total, self.q, progress)
        self.__dict__["proof"] = proof
        return proof

    @cached_property
    def proof(self) -> ModeProof:
        """What was proved about this very table, in this process."""
        return self.certify()

    def least_epsilon(self) -> float:
        """The least ε for which the table is private, in floating point."""
        return least_epsilon(self.space, self.rows)

    def row(self, counts: Iterable[int]) -> tuple[int, ...]:
        """The weight of each category for these counts; they sum to ``total``. This is as secret as the counts are."""
        whole = require_counts(counts, self.k)
        people = self.space.people
        if people is not None and not (sum(whole) == people or (self.space.missing and sum(whole) < people)):
            at_most = "at most " if self.space.missing else ""
            raise ParameterError(f"this table is for counts that sum to {at_most}{people:,}")
        state, places = self.space.reduced(whole)
        return tuple(self.rows[state][at] for at in places)

    def draw(self, counts: Iterable[int], below: Below) -> int:
        """The position of one category, drawn exactly: ``below(n)`` must be uniform in [0, n).

        A table that has not been proved private is proved first, or refused.
        """
        if "proof" not in self.__dict__:
            self.certify()
        return place(below(self.total), list(accumulate(self.row(counts))))

    def truth(self, margin: int) -> float:
        """The probability of the right answer if the leader is ahead by at least ``margin`` ≥ 1 people."""
        least = self._truths
        return least[min(require_margin(margin), len(least) - 1)]

    def baselines(self) -> tuple[Baseline, ...]:
        """What others would run with the same budget, for comparison."""
        coin = retention(self.epsilon, halved=True)
        return PermuteAndFlip(self.k, coin, "replace"), Exponential(self.k, coin)

    @cached_property
    def _truths(self) -> list[float]:
        """At position m the least truth over the states whose leader is m or more ahead."""
        ahead = self.space.states[:, 1].tolist()
        least = [self.total] * (max(ahead) + 1)
        for margin, row in zip(ahead, self.rows, strict=True):
            least[margin] = min(least[margin], row[0])
        return [weight / self.total for weight in reversed(list(accumulate(reversed(least), min)))]

    def __repr__(self) -> str:
        return f"<ModeTable: {self.k} categories, {len(self.rows):,} states, ε = {self.epsilon}>"


def _one_digit(value: float) -> str:
    """A small number to one digit, rounded up.

    >>> _one_digit(0.00042), _one_digit(1e-9)
    ('0.0005', '1e-9')
    """
    rounded = Context(prec=1, rounding=ROUND_CEILING).create_decimal(Decimal(repr(value)))
    return f"{rounded:f}" if rounded >= Decimal("0.0001") else f"{rounded.normalize():e}"
