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

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.questions.counting import Counts
    from tinct.questions.predicates import Literal

MAX_COUNT = 10**18
ADD_REMOVE, REPLACE = "add-remove", "replace"
NEIGHBORS = (ADD_REMOVE, REPLACE)
_SAFE = 2**62

_OF_ROWS = {
    ADD_REMOVE: "neighbours differ in one row that is there or not; how many rows there are is secret",
    REPLACE: "neighbours differ in one row that reads otherwise; how many rows there are is public",
}
_OF_PEOPLE = {
    ADD_REMOVE: "neighbours differ in one person who is there or not; how many people there are is secret",
    REPLACE: "neighbours differ in one person whose rows read otherwise; how many people there are is public",
}


def relation(neighbors: str, *, people: bool) -> str:
    """Which datasets are neighbours, in a sentence about people if they are named, and about rows if not."""
    return (_OF_PEOPLE if people else _OF_ROWS)[neighbors]


@dataclass(frozen=True)
class Line:
    """A yes/no question about T true and F false rows: yes if gain·T − loss·F ≥ bar (and T + F > 0 if the bar is 0).

    Attributes:
        neighbors: ``"add-remove"`` or ``"replace"``.
        n: the public number of rows for ``"replace"``, else None.
        gain: what a true row adds.
        loss: what a false row takes away.
        bar: what has to be reached.
        selection: whether "yes" must never be answered if it is wrong (partition selection).
    """

    neighbors: str
    n: int | None
    gain: int
    loss: int
    bar: int
    selection: bool = False

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
            return True  # a threshold of nobody
        if self.n is not None and self.n * self.gain < self.bar:
            return False
        return False if self.n == 0 else None

    def truth(self, counts: Counts) -> bool:
        """The true answer. It is secret."""
        true, false = self._pair(counts)
        return self._score(true, false) >= 0 and bool(self.bar or true or false or not self.loss)

    def position(self, counts: Counts) -> int:
        """Where the dataset lies: d ≥ 0 for a yes at distance d from the boundary, −1 − d for such a no. It is secret.

        >>> from tinct.questions import Counts
        >>> Line("add-remove", None, gain=1, loss=1, bar=1).position(Counts(10, (7, 3)))
        3
        """
        self._require_line()
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

    def positions(self, classes: Any) -> NDArray[Any]:
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
        found: NDArray[Any] = self._score(true, false) // self.step
        if self.bar > 0:
            return found
        if self.neighbors == ADD_REMOVE:
            bare = (true == 0) & (self.loss > self.gain)
            found = np.where(bare, -1 - false, np.minimum(found, true + false - 1))
        return np.where(true + false == 0, -1, found)

    @property
    def lowest(self) -> int | None:
        """The least position there is; None if there is none."""
        if self.certain is not None:
            return None
        if self.n is not None:
            return min(-1, -(self.loss * self.n + self.bar) // self.step)
        return None if self.loss else -self.bar

    @property
    def highest(self) -> int | None:
        """The largest position there is; None if there is none."""
        if self.certain is not None:
            return None
        if self.n is not None:
            return (self.gain * self.n - self.bar) // self.step
        return 0 if self.gain == 0 else None

    def __str__(self) -> str:
        return _OF_ROWS[self.neighbors]

    def _score(self, true: Any, false: Any) -> Any:
        return self.gain * true - self.loss * false - self.bar

    def _pair(self, counts: Counts) -> tuple[int, int]:
        _require_counts(counts, 2, self.n)
        return counts.classes[0], counts.classes[1]

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
        _require_counts(counts, len(self.categories), self.n)
        if self.rest is None:
            return counts.classes
        return tuple(count + counts.missing if at == self.rest else count for at, count in enumerate(counts.classes))

    def truth(self, counts: Counts) -> tuple[Literal, ...]:
        """All categories that share the lead. They are secret."""
        found = self.histogram(counts)
        return tuple(name for name, count in zip(self.categories, found, strict=True) if count == max(found))

    def __str__(self) -> str:
        return _OF_ROWS[self.neighbors]


def require_relation(neighbors: Any, n: Any) -> tuple[str, int | None]:
    """The neighbour relation and the public number of rows that goes with it.

    >>> require_relation("add-remove", None), require_relation("replace", 5)
    (('add-remove', None), ('replace', 5))
    """
    if neighbors not in NEIGHBORS:
        raise ParameterError(f"neighbors must be 'add-remove' or 'replace', got {neighbors!r:.80}")
    if neighbors == ADD_REMOVE:
        if n is not None:
            raise ParameterError("n is secret with neighbors='add-remove': leave it out")
        return neighbors, None
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 0 <= n <= MAX_COUNT:
        raise ParameterError(
            f"neighbors='replace' needs n, the public number of rows, between 0 and 10^18, got {n!r:.80}"
        )
    return neighbors, int(n)


def _require_counts(counts: Counts, size: int, n: int | None) -> None:
    """Refuse counts that cannot be; the message must not repeat them."""
    numbers = (counts.rows, counts.missing, *counts.classes)
    if len(counts.classes) != size or not all(isinstance(each, int) and 0 <= each <= MAX_COUNT for each in numbers):
        raise ParameterError(f"counts must be {size} classes of whole numbers between 0 and 10^18")
    if sum(numbers[1:]) > counts.rows:
        raise ParameterError("counts must not have more rows in the classes than there are rows")
    if n is not None and counts.rows != n:
        raise ParameterError("n must be the number of rows that were counted")
