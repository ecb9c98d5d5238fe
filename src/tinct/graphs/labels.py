"""What vertices are called: sequences that know the position of each label without storing more than needed."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

Vertex = Hashable
_SHOWN = 4
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})", re.ASCII)


class Labels(Sequence[Vertex]):
    """A sequence of labels that shows its first ones."""

    def __repr__(self) -> str:
        more = f", … {len(self):,} in all" if len(self) > _SHOWN else ""
        return f"<vertices: {', '.join(repr(label) for label in self[:_SHOWN])}{more}>"


class Names(Labels):
    """Any distinct hashables, in the order given."""

    def __init__(self, labels: Iterable[Vertex]) -> None:
        self._labels = tuple(labels)
        self._position = {label: at for at, label in enumerate(self._labels)}

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, at: Any) -> Any:
        return self._labels[at]

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:  # noqa: ARG002 # Sequence's signature
        """The position of a label; ValueError if there is none."""
        try:
            return self._position[value]
        except (KeyError, TypeError):
            raise ValueError(f"{value!r} is not a vertex") from None


class Words(Labels):
    """All tuples whose i-th digit is below ``sizes[i]``, in lexicographic order, computed when asked for."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._sizes = sizes

    def __len__(self) -> int:
        total = 1
        for size in self._sizes:
            total *= size
        return total

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        rest = operator.index(at)
        if rest < 0:
            rest += len(self)
        if not 0 <= rest < len(self):
            raise IndexError(at)
        digits = []
        for size in reversed(self._sizes):
            rest, digit = divmod(rest, size)
            digits.append(digit)
        return tuple(reversed(digits))

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:  # noqa: ARG002 # Sequence's signature
        """The position of a tuple; ValueError if it is not one of these."""
        if not isinstance(value, tuple) or len(value) != len(self._sizes):
            raise ValueError(f"{value!r} is not a vertex")
        at = 0
        for digit, size in zip(value, self._sizes, strict=True):
            if not isinstance(digit, int | np.integer) or not 0 <= digit < size:
                raise ValueError(f"{value!r} is not a vertex")
            at = at * size + int(digit)
        return at

    @property
    def rows(self) -> NDArray[Any]:
        """All of them as the rows of an array."""
        # not the smallest type that holds the digits: color functions add and subtract them
        rows = np.empty((len(self), len(self._sizes)), np.int32)
        rest = np.arange(len(self))
        for at in reversed(range(len(self._sizes))):
            rest, rows[:, at] = np.divmod(rest, self._sizes[at])
        return rows


class Rows(Labels):
    """The rows of an integer array as tuples; the look-up table is built on first use."""

    def __init__(self, rows: NDArray[np.int32]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [tuple(row) for row in self.rows[at].tolist()]
        return tuple(self.rows[at].tolist())

    @cached_property
    def _position(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): at for at, row in enumerate(self.rows.tolist())}

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:  # noqa: ARG002 # Sequence's signature
        """The position of a tuple; ValueError if it is not one of these."""
        try:
            return self._position[value]
        except (KeyError, TypeError):
            raise ValueError(f"{value!r} is not a vertex") from None


def to_text(label: Vertex) -> str:
    """A label as one cell of text: tuples as JSON lists, everything else as it prints."""
    return json.dumps(label) if isinstance(label, tuple) else str(label)


def from_text(text: str) -> Vertex:
    """The label a cell of text stands for: a plain integer, a tuple written as a JSON list, or the text itself.

    >>> from_text("12"), from_text("012"), from_text("[0, 1]"), from_text("ward 3")
    (12, '012', (0, 1), 'ward 3')
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if text.startswith("[") and text.endswith("]"):
        try:
            return hashable(json.loads(text))
        except (ValueError, RecursionError):
            return text
    return text


def hashable(value: Any) -> Vertex:
    """Lists from JSON as tuples, all the way down."""
    return tuple(hashable(item) for item in value) if isinstance(value, list) else value
