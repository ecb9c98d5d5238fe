"""What vertices are called: sequences that know the position of each label without storing more than needed."""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import warnings
from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


Vertex = Hashable
_SHOWN = 4
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})", re.ASCII)
_MAX_LABEL_NESTING = 16
_MAX_LABEL_TEXT = 100_000
_MAX_REPR = 10_000
_MAX_LABEL_BITS = 1300  # just below 400 digits, the most a JSON number may have


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

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:  # noqa: ARG002 # Sequence's signature
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

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:  # noqa: ARG002 # Sequence's signature
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
    def _position(self) -> dict[Vertex, int]:
        return {tuple(row): at for at, row in enumerate(self.rows.tolist())}

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:  # noqa: ARG002 # Sequence's signature
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


def from_repr(text: str) -> Vertex | None:
    """The tuple that Python prints so, if it does; None for any other text.

    >>> from_repr("(0, 1)"), from_repr("(0, 1"), from_repr("ward 3")
    ((0, 1), None, None)
    """
    if not (text.startswith("(") and text.endswith(")") and len(text) <= _MAX_REPR):
        return None
    with suppress(ParameterError, ValueError, SyntaxError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning would quote the text, which may be a secret
        read = ast.literal_eval(text)
        if isinstance(read, tuple):
            return plain(read)  # type: ignore[no-any-return] # plain labels are hashable
    return None


def hashable(value: object) -> Vertex:
    """Lists from JSON as tuples, all the way down."""
    return tuple(hashable(item) for item in value) if isinstance(value, list) else value


def plain(label: object, nesting: int = 0) -> Any:
    """The label made of str, int, float, bool, None and tuples only; a ParameterError if it is anything else.

    >>> plain((np.int64(1), "a"))
    (1, 'a')
    """
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        if nesting == _MAX_LABEL_NESTING:
            raise ParameterError(f"a label may be nested up to {_MAX_LABEL_NESTING} deep")
        return tuple(plain(part, nesting + 1) for part in label)
    if isinstance(label, bool) or (label is None and nesting > 0):  # a label by itself must not be missing
        return label
    if isinstance(label, str):
        return _plain_text(label)
    if isinstance(label, int) and label.bit_length() <= _MAX_LABEL_BITS:
        return int(label)
    if isinstance(label, float) and math.isfinite(label):
        return float(label)
    raise ParameterError(f"a label must be text, a finite number or a tuple of such, got {_brief(label)}")


def _plain_text(label: str) -> str:
    text = str.__str__(label)  # the text itself, also of an enumeration, whose str() may be its name
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ParameterError(f"label {text!r:.80} has half a surrogate pair, which UTF-8 cannot hold") from None
    return text


def _brief(label: object) -> str:
    return f"an integer of {label.bit_length():,} bits" if isinstance(label, int) else f"{label!r:.80}"


def label_from_cell(text: str) -> Vertex:
    """The label that a cell stands for; a ParameterError if it is a list of something that is not a label."""
    return plain(from_text(text))  # type: ignore[no-any-return] # plain labels are hashable


def cells(labels: Iterable[Any], what: str) -> list[str]:
    """Labels as cells of text that can be told apart when they are read back.

    A cell keeps the text of a label, not its type: '12' is read back as 12, and True as 'True'. Labels that
    would lose more than that are refused; JSON holds them all.
    """
    texts: list[str] = []
    seen: dict[Any, Any] = {}
    for label in labels:
        simple = plain(label)
        text = to_text(simple)
        back = from_text(text)
        if not text or text != text.strip() or len(text) > _MAX_LABEL_TEXT:
            raise ParameterError(
                f"{what} {simple!r:.80} cannot be a cell: it must be text of up to {_MAX_LABEL_TEXT:,} characters "
                "without blanks at its ends; write JSON"
            )
        if back != simple and str(back) != str(simple):
            raise ParameterError(f"{what} {simple!r:.80} would be read back from a cell as {back!r:.80}: write JSON")
        if back in seen:
            raise ParameterError(
                f"{what} {simple!r:.80} and {what} {seen[back]!r:.80} look the same in a cell: write JSON"
            )
        seen[back] = simple
        texts.append(text)
    return texts


def positions_by_text(labels: Sequence[Any], what: str) -> dict[str, int]:
    """The position of every label under the text it is written as."""
    found: dict[str, int] = {}
    for at, label in enumerate(labels):
        text = to_text(plain(label))
        if found.setdefault(text, at) != at:
            raise ParameterError(
                f"{what} {label!r:.80} and {what} {labels[found[text]]!r:.80} have the same text: rename one"
            )
    return found
