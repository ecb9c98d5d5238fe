"""Where a dataset lies: its signed distance to the datasets with the other answer, in closed form.

The datasets of a question, joined when they are neighbours, form a graph with as many vertices as there are
conceivable datasets. Its optimal mechanism depends on the distance to the boundary only (docs/theory.md §3.6), and that
distance is a formula in a few counts (docs/proofs/families.md). So nothing is enumerated: ten people cost the same
as ten billion. All arithmetic is in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import Parameter, ParameterError, brief

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tinct.questions.counts import Counts
    from tinct.questions.predicates import Literal

MAX_COUNT = 10**18
ADD_REMOVE, REPLACE = "add-remove", "replace"
NEIGHBORS = (ADD_REMOVE, REPLACE)
_SAFE = 2**62

_OF_ROWS = {
    ADD_REMOVE: "adding or removing one row; the number of rows is secret",
    REPLACE: "changing one row; the number of rows is public",
}
_OF_PEOPLE = {
    ADD_REMOVE: "adding or removing one person; the number of people is secret",
    REPLACE: "changing the rows of one person; the number of people is public",
}


def relation(neighbors: str, *, people: bool) -> str:
    """Which change makes two datasets neighbours, in words about people if they are identified, else about rows."""
    return (_OF_PEOPLE if people else _OF_ROWS)[neighbors]


@dataclass(frozen=True)
class Line:
    """A yes/no question about T true and F false rows: yes if gain·T − loss·F ≥ bar (and T + F > 0 if the bar is 0).

    Attributes:
        neighbors: ``"add-remove"`` or ``"replace"``.
        n: the public, declared number of rows for ``"replace"``, else None. At most n of the counted rows are used.
        gain: what a true row adds.
        loss: what a false row takes away.
        bar: what has to be reached.
        selection: whether "yes" must never be answered if it is wrong (partition selection).
        flipped: whether yes and no are exchanged: "at most" is not "above". The graph is the same.
    """

    neighbors: str
    n: int | None
    gain: int
    loss: int
    bar: int
    selection: bool = False
    flipped: bool = False

    @property
    def step(self) -> int:
        """By how much one neighbour can move the score."""
        return self.gain + self.loss if self.neighbors == REPLACE else max(self.gain, self.loss)

    @property
    def certain(self) -> bool | None:
        """The answer, if no dataset of this family has the other one; it is then private to say it. Else None.

        >>> Line("replace", 5, gain=1, loss=0, bar=6).certain
        False
        """
        if self.bar == 0 and self.loss == 0:
            return not self.flipped  # a threshold of nobody
        if self.n == 0 or (self.n is not None and self.n * self.gain < self.bar):
            return self.flipped
        return None

    def truth(self, counts: Counts) -> bool:
        """The true answer. It is secret."""
        true, false = self._pair(counts)
        reached = self._score(true, false) >= 0 and bool(self.bar or true or false or not self.loss)
        return reached != self.flipped

    def position(self, counts: Counts) -> int:
        """Where the dataset lies: d ≥ 0 for a yes at distance d from the boundary, −1 − d for such a no. It is secret.

        >>> from tinct.questions import Counts
        >>> Line("add-remove", None, gain=1, loss=1, bar=1).position(Counts(10, (7, 3)))
        3
        """
        self._require_line()
        found = self._reached(counts)
        return -1 - found if self.flipped else found

    def _reached(self, counts: Counts) -> int:
        true, false = self._pair(counts)
        found: int = self._score(true, false) // self.step
        if self.bar > 0:
            return found
        if true + false == 0:
            return -1
        if self.neighbors == REPLACE:
            return found
        if true == 0 and self.loss > self.gain:
            return -1 - false  # with all false rows gone nothing would be left: a true one has to come
        return min(found, true + false - 1)  # when everybody leaves, the answer is no

    def positions(self, classes: ArrayLike) -> NDArray[Any]:
        """The positions of many groups: one for each row (true, false) of an array.

        >>> Line("add-remove", None, gain=1, loss=1, bar=1).positions([[7, 3], [0, 0]]).tolist()
        [3, -1]
        """
        self._require_line()
        counts = np.asarray(classes)
        if counts.ndim != 2 or counts.shape[1] != 2 or not (counts.dtype == object or counts.dtype.kind in "iu"):
            raise ParameterError("classes must be whole numbers in two columns: true and false")
        if len(counts) == 0:
            return np.zeros(0, np.int64)
        # sums of products must not wrap around: beyond 2^62 Python's own integers take over
        largest = max(self.gain, self.loss, 1) * max(int(counts.max()), 1) * 2 + self.bar
        counts = counts.astype(np.int64 if largest < _SAFE else object)
        true, false = counts[:, 0], counts[:, 1]
        if self.n is not None:
            true = np.minimum(true, self.n)
            false = np.minimum(false, self.n - true)
        found: NDArray[Any] = self._score(true, false) // self.step
        if self.bar == 0:
            if self.neighbors == ADD_REMOVE:
                bare = (true == 0) & (self.loss > self.gain)
                found = np.where(bare, -1 - false, np.minimum(found, true + false - 1))
            found = np.where(true + false == 0, -1, found)
        return -1 - found if self.flipped else found

    @property
    def lowest(self) -> int | None:
        """The least position there is; None if there is none."""
        return self._mirrored(self._ends()[1]) if self.flipped else self._ends()[0]

    @property
    def highest(self) -> int | None:
        """The largest position there is; None if there is none."""
        return self._mirrored(self._ends()[0]) if self.flipped else self._ends()[1]

    @staticmethod
    def _mirrored(position: int | None) -> int | None:
        return None if position is None else -1 - position

    def _ends(self) -> tuple[int | None, int | None]:
        """The least and the largest position, before yes and no are exchanged."""
        if self.certain is not None:
            return None, None
        if self.n is not None:
            least = min(-1, -(self.loss * self.n + self.bar) // self.step)
            return least, (self.gain * self.n - self.bar) // self.step
        return None if self.loss else -self.bar, 0 if self.gain == 0 else None

    def __str__(self) -> str:
        return _OF_ROWS[self.neighbors]

    def _score(self, true: Any, false: Any) -> Any:
        return self.gain * true - self.loss * false - self.bar

    def _pair(self, counts: Counts) -> tuple[int, int]:
        """The true and the false rows; of a declared n no more than n, the true ones first (docs/proofs/mode.md, 6)."""
        require_counts(counts, 2)
        classes = counts.classes if self.n is None else capped(counts.classes, self.n)
        return classes[0], classes[1]

    def _require_line(self) -> None:
        if self.certain is not None:
            raise ParameterError(
                f"the answer is always {'yes' if self.certain else 'no'} for this question and number of rows: "
                "there is no boundary to be near to"
            )


@dataclass(frozen=True)
class Histograms:
    """How often each category occurs; the answer is the most frequent, and any of several that share the lead is right.

    Attributes:
        neighbors: ``"add-remove"`` or ``"replace"``.
        n: the public number of rows for ``"replace"``, else None.
        categories: the possible answers.
        rest: the place of the category that takes all rows in no other, if there is one.
    """

    neighbors: str
    n: int | None
    categories: tuple[Literal, ...]
    rest: int | None = None

    def histogram(self, counts: Counts) -> tuple[int, ...]:
        """How many rows each category has, in order. It is secret.

        >>> from tinct.questions import Counts
        >>> Histograms("add-remove", None, ("checkup", "injury"), rest=1).histogram(Counts(10, (5, 3), missing=2))
        (5, 5)
        """
        require_counts(counts, len(self.categories))
        if self.rest is None:
            return counts.classes
        return tuple(count + counts.missing if at == self.rest else count for at, count in enumerate(counts.classes))

    def capped(self, counts: Counts, *, missing: bool = True) -> tuple[int, ...]:
        """A histogram of the declared n people from any counts, however many rows were counted. It is secret.

        Rows are taken in the order of the categories until n are reached. What is left of n is missing; if nobody may
        be, it counts as the rest. Neighbours keep being neighbours, or become the same (docs/proofs/mode.md, 6), so
        a number of rows other than n never has to be an error, which would tell it.

        >>> from tinct.questions import Counts
        >>> family = Histograms("replace", 8, ("checkup", "injury", "other"), rest=2)
        >>> family.capped(Counts(12, (5, 4, 3))), family.capped(Counts(6, (2, 1, 1), missing=2), missing=False)
        ((5, 3, 0), (2, 1, 5))
        """
        found = self.histogram(counts)
        if self.n is None:
            return found
        if not missing and self.rest is None:
            raise ParameterError("without a category for the rest somebody may be missing")
        kept = capped(found, self.n)
        if not missing and self.rest is not None:
            kept[self.rest] += self.n - sum(kept)
        return tuple(kept)

    def truth(self, counts: Counts) -> tuple[Literal, ...]:
        """All categories that share the lead. They are secret."""
        found = self.histogram(counts)
        return tuple(name for name, count in zip(self.categories, found, strict=True) if count == max(found))

    def __str__(self) -> str:
        return _OF_ROWS[self.neighbors]


def require_relation(neighbors: object, n: object) -> tuple[str, int | None]:
    """The neighbour relation and the public number of rows that goes with it.

    >>> require_relation("add-remove", None), require_relation("replace", 5)
    (('add-remove', None), ('replace', 5))
    """
    if neighbors not in NEIGHBORS:
        raise ParameterError.of("neighbors", "'add-remove' or 'replace'", neighbors)
    if neighbors == ADD_REMOVE:
        if n is not None:
            raise ParameterError(
                Parameter("n"),
                " is secret with ",
                Parameter("neighbors", "add-remove"),
                ": leave it out",
                parameter="n",
            )
        return neighbors, None
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 0 <= n <= MAX_COUNT:
        raise ParameterError(
            Parameter("neighbors", "replace"),
            " needs ",
            Parameter("n"),
            ", the public number of rows, between 0 and 10^18",
            "" if n is None else f", got {brief(n)}",
            parameter="n",
            expected="a whole number between 0 and 10^18",
        )
    return neighbors, int(n)


def capped(counts: tuple[int, ...], n: int) -> list[int]:
    """The first n of all that is counted, in the order of the classes.

    >>> capped((5, 4, 3), 8)
    [5, 3, 0]
    """
    kept, left = [], n
    for count in counts:
        kept.append(min(count, left))
        left -= kept[-1]
    return kept


def require_counts(counts: Counts, size: int) -> None:
    """Refuse counts that cannot be; the message must not repeat them."""
    numbers = (counts.rows, counts.missing, *counts.classes)
    if len(counts.classes) != size or not all(isinstance(each, int) and 0 <= each <= MAX_COUNT for each in numbers):
        raise ParameterError(f"counts must be {size} classes of whole numbers between 0 and 10^18")
    if sum(numbers[1:]) > counts.rows:
        raise ParameterError("counts must not have more rows in the classes than there are rows")
