"""What a question needs counted, and the counts themselves. Nothing here knows where the rows are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.questions.predicates import LABEL, And, Literal, Predicate, kind_of, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Condition:
    """Two classes of rows: those for which a predicate is true, and those for which it is false."""

    predicate: Predicate

    @property
    def size(self) -> int:
        """How many classes there are."""
        return 2

    def uses(self) -> Iterator[tuple[str, str]]:
        """The columns, each with how it is read."""
        return uses(self.predicate)


EVERYBODY = Condition(And(()))  # true of every row, whatever is in it


@dataclass(frozen=True)
class Categories:
    """One class of rows for each listed value of a column, in the order of the list."""

    column: str
    values: tuple[Literal, ...]

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.values)

    @property
    def use(self) -> str:
        """How the column is read: categories that are text are labels, so that 1.0 and 1 are the same."""
        return LABEL if isinstance(self.values[0], str) else kind_of(self.values[0])

    def uses(self) -> Iterator[tuple[str, str]]:
        """The column, with how it is read."""
        yield self.column, self.use


@dataclass(frozen=True)
class Several:
    """Several things counted at once, among the same rows."""

    parts: tuple[Condition | Categories, ...]

    @property
    def size(self) -> int:
        """How many classes there are, of all parts together."""
        return sum(part.size for part in self.parts)

    def uses(self) -> Iterator[tuple[str, str]]:
        """The columns of all of them, each with how it is read."""
        for part in self.parts:
            yield from part.uses()


Counted = Condition | Categories


@dataclass(frozen=True)
class Counts:
    """How many rows (or persons) are in each class. These numbers are secret: they are never printed.

    Attributes:
        rows: all of them, also those that ``where`` leaves out.
        classes: those in each class.
        missing: those that ``where`` lets in but that are in no class.
    """

    rows: int = field(repr=False)
    classes: tuple[int, ...] = field(repr=False)
    missing: int = field(default=0, repr=False)


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """The counts of many groups at once; the names of groups found in the data are as secret as their counts.

    Attributes:
        rows: all rows (or people), in any group or none.
        labels: the groups, as text.
        classes: for each group a row of counts, one for each class.
        missing: for each group, how many are in no class.
    """

    rows: int = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    classes: NDArray[np.int64] = field(repr=False)
    missing: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    def of(self, label: object) -> Counts:
        """The counts of one group; all 0 if it is empty. ``rows`` counts the whole data.

        >>> import numpy as np
        >>> counts = GroupCounts(9, ("N",), np.array([[3, 2]]), np.array([1]))
        >>> counts.of("N").classes, counts.of("S").classes
        ((3, 2), (0, 0))
        """
        if not isinstance(label, str):
            raise ParameterError(f"a group is named by its text, got {label!r:.80}")
        if label not in self.labels:
            return Counts(self.rows, (0,) * self.classes.shape[1])
        at = self.labels.index(label)
        return Counts(self.rows, tuple(int(count) for count in self.classes[at]), int(self.missing[at]))
