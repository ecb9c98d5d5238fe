"""The states of the mode question: how far each category is behind the top, in order, and how one person moves them.

Answers depend on nothing else, so datasets with the same sorted margins share a row. With a *ceiling* D, margins of D
or more are one and the same, and finitely many states serve every number of people (docs/proofs/mode.md).
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


_LARGEST_RANK = 2**56  # leaves room for images just outside the states, which a 64-bit rank must still tell apart


@dataclass(frozen=True, eq=False)
class MarginSpace:
    """A set of sorted margins that moves of one person do not leave.

    Attributes:
        k: How many categories there are.
        ceiling: D: margins of D or more count as D. No margin reaches it if ``people`` is given.
        people: n, if the states are those of n people; None if they serve every number.
        missing: Whether a person may be in no category, so that one may also enter or leave all of them.
        states: One row per state: margins in non-decreasing order, the first of them 0.
    """

    k: int
    ceiling: int
    people: int | None
    missing: bool
    states: Whole

    def __len__(self) -> int:
        return len(self.states)

    @cached_property
    def _ranks(self) -> Whole:
        return rank(self.states)

    def find(self, margins: Whole) -> tuple[Whole, NDArray[np.bool_]]:
        """The positions of rows of sorted margins among the states, and whether each is a state at all."""
        ranks = rank(margins)
        at = np.minimum(np.searchsorted(self._ranks, ranks), len(self) - 1)
        return at, self._ranks[at] == ranks

    @cached_property
    def histograms(self) -> tuple[int, ...]:
        """How many histograms of the public number of people lie behind each state, all orders of categories counted.

        >>> histogram_margins(3, 4).histograms, sum(histogram_margins(3, 4, missing=True).histograms)
        ((3, 3, 6, 3), 35)
        """
        if self.people is None:
            raise ParameterError("margins that serve every number of people have no number of histograms")
        found = []
        for margins in self.states.tolist():
            orders = math.factorial(self.k)
            for margin in set(margins):
                orders //= math.factorial(margins.count(margin))
            # with missing people the top may be anything that leaves no count below 0 and no more than n in all
            tops = (self.people + sum(margins)) // self.k - margins[-1] + 1 if self.missing else 1
            found.append(orders * tops)
        return tuple(found)

    def reduced(self, counts: Sequence[int]) -> tuple[int, list[int]]:
        """The state of counts, and for every category its place in that state."""
        top = max(counts)
        margins = [min(top - count, self.ceiling) for count in counts]
        order = sorted(range(self.k), key=margins.__getitem__)
        places = [0] * self.k
        for place, category in enumerate(order):
            places[category] = place
        at, _ = self.find(np.array([[margins[category] for category in order]], np.int64))
        return int(at[0]), places


class Moves(NamedTuple):
    """Some images of one person's moves: the states before and after, and who is where.

    ``order[e, r]`` is the place before the move of the category that stands at place r after it.
    """

    before: Whole
    after: Whole
    order: Whole


def clipped_margins(k: int, ceiling: int, *, missing: bool = False) -> MarginSpace:
    """The states for any number of people, with all margins from ``ceiling`` on taken as one.

    >>> len(clipped_margins(3, 20))
    231
    """
    rest = np.array(list(combinations_with_replacement(range(ceiling + 1), k - 1)), np.int64).reshape(-1, k - 1)
    return _space(k, ceiling, None, missing, rest)


def histogram_margins(k: int, people: int, *, missing: bool = False) -> MarginSpace:
    """The states of ``people`` people, none of them clipped; with ``missing``, of at most so many.

    >>> histogram_margins(3, 4).states.tolist()
    [[0, 1, 1], [0, 0, 2], [0, 2, 3], [0, 4, 4]]
    """
    if missing:
        # a state of at most n people is one whose least histogram, with an empty category, has at most n
        heights = [(*parts, 0) for total in range(people + 1) for parts in _partitions(total, k - 1, total)]
    else:
        heights = list(_partitions(people, k, people))
    counts = np.array(heights, np.int64)
    return _space(k, people + 1, people, missing, (counts[:, :1] - counts)[:, 1:])


def clipped_size(k: int, ceiling: int) -> int:
    """The number of states of ``clipped_margins``."""
    return math.comb(ceiling + k - 1, k - 1)


def histogram_size(k: int, people: int, *, missing: bool = False, at_most: int) -> int | None:
    """The number of states of ``histogram_margins``, or None if there are more than ``at_most``.

    >>> histogram_size(3, 301, at_most=10_000), histogram_size(3, 10**10, at_most=10_000)
    (7701, None)
    """
    if people > 2 * at_most or math.comb(people + k - 1, k - 1) > _LARGEST_RANK:
        return None  # two categories alone have more than n/2 states
    ways = [1] + [0] * people  # of each total, into parts of sizes allowed so far: as many as parts of that number
    for part in range(1, min(k - missing, people) + 1):
        for total in range(part, people + 1):
            ways[total] += ways[total - part]
    size = sum(ways) if missing else ways[people]
    return size if size <= at_most else None


def rank(margins: Whole) -> Whole:
    """A number for each row of sorted margins, the same whatever the ceiling, without gaps below any ceiling.

    The sum of C(m_i + i − 1, i) over the margins after the first, counted from i = 1: the combinatorial number system.
    """
    width = margins.shape[1] - 1
    highest = int(margins.max(initial=0))
    total = np.zeros(len(margins), np.int64)
    for i in range(1, width + 1):
        ways = np.array([math.comb(value + i - 1, i) for value in range(highest + 1)], np.int64)
        total += ways[margins[:, i]]
    return total


def moves(space: MarginSpace) -> Iterator[Moves]:
    """Every pair of neighbours, as images of moves of one person from every dataset behind every state.

    Each pair appears in at least one of its two directions. A margin at the ceiling may be any from D on. A move
    changes a margin by at most 2, so D, D + 1 and D + 2 have between them all the images that larger ones have.
    Categories at the ceiling have equal weights, so which of them gives or takes does not matter.
    """
    clipped = (space.states == space.ceiling).sum(axis=1)
    for count in range(space.k):
        before = np.flatnonzero(clipped == count)
        if len(before):
            for giver, taker in _exchanges(space, count):
                for lift in _lifts(space.k, count, giver, taker):
                    yield from _image(space, before, space.states[before] + lift, giver, taker)


def _exchanges(space: MarginSpace, clipped: int) -> Iterator[tuple[int, int | None]]:
    """Who gives a person to whom: the larger to the smaller, or to nobody (None) if people may be in no category.

    If the smaller gives to the larger, or somebody enters, taking it back is a move of this kind.
    """
    places = range(space.k - clipped + min(clipped, 2))
    yield from combinations(places, 2)
    if space.missing:
        yield from ((giver, None) for giver in places)


def _lifts(k: int, clipped: int, giver: int, taker: int | None) -> Iterator[Whole]:
    """How far above the ceiling the margins there may be, as far as it makes a difference.

    The other categories' margins change only with the top. When it rises they stay at the ceiling; it falls only if
    its sole holder gives, and then those exactly at the ceiling leave it.
    """
    first = k - clipped
    moving = [place for place in (giver, taker) if place is not None and place >= first]
    still = [place for place in range(first, k) if place not in moving]
    for own in product(range(3), repeat=len(moving)):
        for higher in range(len(still) + 1) if giver == 0 else (0,):
            lift = np.zeros(k, np.int64)
            lift[moving] = own
            lift[still[:higher]] = 1
            yield lift


def _image(space: MarginSpace, before: Whole, moved: Whole, giver: int, taker: int | None) -> Iterator[Moves]:
    """The images of one kind of move; ``moved`` has the margins before it and is overwritten."""
    moved[:, giver] += 1
    if taker is not None:
        moved[:, taker] -= 1
    moved -= moved.min(axis=1, keepdims=True)
    np.minimum(moved, space.ceiling, out=moved)
    order = np.argsort(moved, axis=1, kind="stable")
    after, possible = space.find(np.take_along_axis(moved, order, 1))
    # where the giver has nobody to give, the image would have a negative count: it is no state of these people
    if possible.all():
        yield Moves(before, after, order)
    elif possible.any():
        yield Moves(before[possible], after[possible], order[possible])


def _space(k: int, ceiling: int, people: int | None, missing: bool, rest: Whole) -> MarginSpace:
    states = np.concatenate([np.zeros((len(rest), 1), np.int64), rest], axis=1)
    states = states[np.argsort(rank(states))]
    states.flags.writeable = False
    return MarginSpace(k, ceiling, people, missing, states)


def _partitions(total: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """All ways to write ``total`` as a sum of ``parts`` numbers from 0 to ``largest`` that do not increase."""
    if parts == 1:
        yield (total,)
        return
    for first in range(min(total, largest), -(-total // parts) - 1, -1):
        yield from ((first, *rest) for rest in _partitions(total - first, parts - 1, first))


def require_counts(counts: Iterable[int], k: int) -> list[int]:
    """The counts of k categories as whole numbers, or a refusal that does not say what they are."""
    law = f"counts must be {k} whole numbers, none negative"
    try:
        given = list(counts)
        whole = [operator.index(count) for count in given if not isinstance(count, bool)]
    except TypeError:
        raise ParameterError(law) from None
    if len(given) != k or len(whole) != k or not all(count >= 0 for count in whole):
        raise ParameterError(law)
    return whole


def require_categories(k: object) -> int:
    """The number of categories, at least two."""
    if isinstance(k, bool) or not hasattr(k, "__index__") or not operator.index(k) >= 2:
        raise ParameterError.of("k", "a whole number of at least 2 categories", k)
    return operator.index(k)


def margins_to_top(counts: Sequence[int]) -> list[int]:
    """How far each category is behind the largest.

    >>> margins_to_top([3, 5, 0])
    [2, 0, 5]
    """
    top = max(counts)
    return [top - count for count in counts]
