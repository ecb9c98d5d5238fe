"""Subset selection: a random subset of fixed size, e^ε times as likely if it holds the symbol.

Optimal for mutual information under a uniform prior, at every ε, with subsets of the best size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.local.frequency_errors import per_square
from tinct.local.information_bounds import best_share, rate
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms.base import BASELINE, Channel, Randomiser, within
from tinct.local.parameters import MAX_SYMBOLS, TOTAL, LocalBudget, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.exact.proof import Terms
    from tinct.exact.sampler import Read
    from tinct.local.mechanisms.base import Codes, Fields
    from tinct.local.parameters import BudgetLike, Floats, Integers, SymbolsLike

_MARKS = 1 << 26  # people times symbols that are marked at a time
_FEW = 64  # members among which is looked one by one; beyond, a mark for each symbol says whether it is taken
_FREQUENCIES = "the least total variance of frequencies among subset sizes"
_NOTES = {  # by whether the size is the best for information, and for frequencies
    (True, True): f"mutual information under a uniform prior, at every ε; {_FREQUENCIES}",
    (True, False): "mutual information under a uniform prior, at every ε",
    (False, True): f"nothing in the exact sense; {_FREQUENCIES}",
    (False, False): BASELINE,
}


def subset_selection(
    k: int,
    epsilon: BudgetLike,
    *,
    size: int | None = None,
    goal: str = "frequencies",
    symbols: SymbolsLike | None = None,
) -> LocalMechanism:
    """A random subset of fixed size, e^ε times as likely if it holds the symbol.

    Args:
        k: The number of symbols.
        epsilon: The budget.
        size: The size of the subsets; if left out, the best one for the goal.
        goal: ``"frequencies"``: the least total variance of estimates, which is k/(e^ε + 1) rounded down or up (Ye and
            Barg 2018); or ``"information"``: the most mutual information under a uniform prior.
        symbols: Names for the symbols.

    >>> subset_selection(105, 4).channel.members, subset_selection(105, 4, goal="information").channel.members
    (2, 6)
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    sizes = {"frequencies": size_for_frequencies, "information": best_size}
    if goal not in sizes:
        raise ParameterError.of("goal", f"one of {', '.join(sizes)}", goal)
    best = {name: choose(k, budget) for name, choose in sizes.items()}
    members = best[goal] if size is None else whole(size, "size", 1, k - 1)
    return LocalMechanism.of(
        SubsetChannel(k, budget.growth, members),
        budget,
        name="subset selection",
        symbols=symbols,
        note=_NOTES[members == best["information"], members == best["frequencies"]],
    )


def size_for_frequencies(k: int, budget: LocalBudget) -> int:
    """The size with the least total variance of estimated frequencies at uniform shares, the worst there are."""
    near = k * budget.low / (1.0 + budget.low)
    sizes = np.unique(np.clip([math.floor(near), math.ceil(near)], 1, k - 1))
    own, other = subset_chances(k, sizes, budget)
    support = sizes / k  # of every symbol at uniform shares
    return int(sizes[np.argmin(per_square(support * (1 - support), own, other))])


def subset_chances(k: int, sizes: Integers, budget: LocalBudget) -> tuple[Floats, Floats]:
    """How often subsets of these sizes hold the own symbol, and another one."""
    own = sizes / (sizes + budget.low * (k - sizes))
    return own, (sizes - own) / (k - 1)


def best_size(k: int, budget: LocalBudget) -> int:
    """The size of subsets with the largest rate under a uniform prior on k symbols."""
    near = best_share(budget) * k
    sizes = np.unique(np.clip([math.floor(near), math.ceil(near)], 1, max(k - 1, 1)))
    return int(sizes[np.argmax(rate(sizes / k, budget))])


@dataclass(frozen=True, eq=False)
class SubsetChannel(Channel):
    """A random subset of fixed size, e^ε times as likely if it holds the symbol."""

    growth: float
    members: int

    kind = "subset"

    @property
    def outputs(self) -> int:
        """How many subsets there are."""
        return math.comb(self.size, self.members)

    @property
    def log10_outputs(self) -> float:
        """The logarithm of a binomial coefficient, from three factorials."""
        k, d = self.size, self.members
        return (math.lgamma(k + 1) - math.lgamma(d + 1) - math.lgamma(k - d + 1)) / math.log(10.0)

    def probabilities(self) -> Floats:
        """High where the subset holds the symbol."""
        raised = np.zeros((self.size, self.outputs), bool)
        for at, members in enumerate(self.labels()):
            raised[list(members), at] = True
        k, d = self.size, self.members
        high = 1.0 / (math.comb(k - 1, d - 1) + math.comb(k - 1, d) / self.growth)
        return np.where(raised, high, high / self.growth)

    def labels(self) -> tuple[Any, ...]:
        """The subsets, as tuples of positions."""
        return tuple(combinations(range(self.size), self.members))

    def in_units(self, terms: Terms) -> SubsetRandomiser:
        """As many units inside as the ratio allows: inside·(k − d) ≤ R·d·(N − inside)."""
        up, down = terms.growth.numerator * self.members, terms.growth.denominator * (self.size - self.members)
        inside = TOTAL * up // (up + down)
        return SubsetRandomiser(self.size, TOTAL, terms.growth, terms.epsilon, self.members, inside)


@dataclass(frozen=True, eq=False)
class SubsetRandomiser(Randomiser):
    """A subset of fixed size that holds the own symbol with ``inside`` units, and is uniform otherwise."""

    members: int
    inside: int

    kind = "subset"
    shape = ("members",)
    amounts = ("inside",)

    def draw_batch(self, codes: Codes, read: Read) -> NDArray[Any]:
        """The members, sorted: the own symbol or not, then uniform others among the rest (Floyd's algorithm)."""
        marks = self.members > _FEW
        most = max(1, _MARKS // self.size)
        if marks and len(codes) > most:
            parts = [self.draw_batch(codes[at : at + most], read) for at in range(0, len(codes), most)]
            return np.concatenate(parts)
        holds = sampler.below_many(self.total, len(codes), read) < np.uint64(self.inside)
        # places among the k − 1 other symbols; where the own one is in, the last place is given to it instead
        places = np.empty((len(codes), self.members), np.int64)
        everyone, marked = np.arange(len(codes)), np.zeros((len(codes), self.size if marks else 0), bool)
        for at, top in enumerate(range(self.size - 1 - self.members, self.size - 1)):
            drawn = sampler.below_many(top + 1, len(codes), read).astype(np.int64)
            taken = marked[everyone, drawn] if marks else (places[:, :at] == drawn[:, None]).any(axis=1)
            places[:, at] = np.where(taken, top, drawn)
            if marks:
                marked[everyone, places[:, at]] = True
        keep = self._without_one(places, read)
        others = np.where(holds[:, None], keep, places)
        others = others + (others >= codes[:, None])
        others[holds, -1] = codes[holds]
        others.sort(axis=1)
        return others

    def _without_one(self, places: Integers, read: Read) -> Integers:
        """The places with a uniform one of them moved to the end, where it will be overwritten."""
        dropped = sampler.below_many(self.members, len(places), read).astype(np.int64)
        kept = places.copy()
        everyone = np.arange(len(places))
        kept[everyone, dropped], kept[:, -1] = places[:, -1], places[everyone, dropped]
        return kept

    @property
    def width(self) -> int:
        """The members."""
        return self.members

    def are_reports(self, rows: Integers) -> NDArray[np.bool_]:
        """Different numbers of symbols, in any order: a symbol named twice would be counted twice."""
        good = within(rows, self.size)
        unsorted = ~(rows[:, 1:] > rows[:, :-1]).all(axis=1)  # as they are drawn, they are sorted
        if unsorted.any():
            members = np.sort(rows[unsorted], axis=1)
            good[unsorted] &= (members[:, 1:] > members[:, :-1]).all(axis=1)
        return good

    def support_of_rows(self, rows: Integers) -> Integers:
        """How many subsets hold each symbol."""
        return np.bincount(rows.ravel(), minlength=self.size)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """How often a subset holds the own symbol, and another one: d members in all."""
        own = Fraction(self.inside, self.total)
        return own, (self.members - own) / (self.size - 1)

    def channel(self, budget: LocalBudget) -> SubsetChannel:
        """The same subsets in floats."""
        return SubsetChannel(self.size, budget.growth, self.members)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Subsets of a size that leaves some symbols out."""
        made = super().read(fields)
        if not 1 <= made.members < made.size:
            raise ParameterError("members must be at least 1 and less than the number of symbols")
        return made

    def _keeps_ratio(self) -> bool:
        k, d, inside, outside = self.size, self.members, self.inside, self.total - self.inside
        # a subset with the symbol: inside/C(k−1, d−1); without: outside/C(k−1, d); C(k−1, d)/C(k−1, d−1) = (k − d)/d
        return outside * d <= inside * (k - d) <= self.growth * outside * d
