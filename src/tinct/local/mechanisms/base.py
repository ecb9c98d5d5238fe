"""What a kind of local mechanism has to know: its probabilities, and the same in whole units.

A *channel* is the mechanism as it is meant, in floats: what designs are compared and drawn by. A *randomiser* is what
runs on an answer: whole units out of N, with a ratio of at most R ≤ e^ε. They are two classes because they are not the
same numbers: units are rounded, never finer than 1/N, and may come from a file. Each kind has one file with both.
"""

from __future__ import annotations

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tinct.errors import NotPrivate, ParameterError
from tinct.exact import sampler
from tinct.exact.proof import at_most_exp
from tinct.local.divergences import Utility

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from tinct.exact.proof import Terms
    from tinct.exact.sampler import Read
    from tinct.local.parameters import Floats, Integers, LocalBudget

    Codes = NDArray[Any]

BASELINE = "nothing in the exact sense; a baseline for estimating frequencies"
MAX_ENTRIES = 50_000_000  # 400 MB of doubles
_LEAST = float(np.finfo(np.float64).tiny)  # smaller numbers have fewer digits
_BATCH = 1 << 15
_KL = Utility.parse("kl")
_WHOLE = re.compile(r"0|[1-9]\d{0,18}", re.ASCII)


@dataclass(frozen=True, eq=False)
class Channel(ABC):
    """The distribution of the output for every symbol: what a local mechanism is meant to do, in floats.

    A kind of one's own has to define ``probabilities`` and nothing else; it is then run and stored as a table. Kinds
    with structure define the rest too, so that a mechanism on a million symbols, or with 2^k outputs, stays small.

    Attributes:
        size: The number of symbols.
    """

    size: int

    kind: ClassVar[str] = "table"

    @abstractmethod
    def probabilities(self) -> Floats:
        """The probability of every output (columns) for every symbol (rows)."""

    @property
    def outputs(self) -> int:
        """How many outputs there are; may be astronomically many."""
        if not self._written_out:
            raise ParameterError(f"{type(self).__name__} has units of its own, so it has to say its number of outputs")
        return int(self.matrix().shape[1])

    @property
    def _written_out(self) -> bool:
        """Whether it is run and stored as a table, whatever it calls its kind."""
        return self.kind == "table" or type(self).in_units is Channel.in_units

    @property
    def log10_outputs(self) -> float:
        """The decimal logarithm of the number of outputs, without computing a number of a million digits."""
        return math.log10(self.outputs)

    @property
    def log10_entries(self) -> float:
        """The decimal logarithm of the number of entries of the matrix."""
        return math.log10(self.size) + self.log10_outputs

    def size_of_outputs(self) -> str:
        """The number of outputs, in words that stay short."""
        return f"{self.outputs:,}" if self.log10_outputs < 9 else f"about 10^{self.log10_outputs:.0f}"

    def matrix(self) -> Floats:
        """The probabilities, if there are not too many to write out."""
        if not self._written_out and self.log10_entries > math.log10(MAX_ENTRIES):
            raise ParameterError(
                f"the matrix would have {self.size:,} rows and {self.size_of_outputs()} columns, "
                f"more than {MAX_ENTRIES:,} entries: use .channel, which describes it ({self.kind})"
            )
        with np.errstate(under="ignore"):
            table = np.asarray(self.probabilities(), np.float64)
        if self._written_out:
            _require_distributions(table, self.size)
        elif not (table >= _LEAST).all():
            # a 0 beside a 1e-310 would be infinite ε
            raise ParameterError(f"some probabilities are below {_LEAST:.3g}: use .channel, which describes them")
        table.flags.writeable = False
        return table

    def labels(self) -> tuple[Any, ...]:
        """The names of the outputs, in the order of the matrix's columns."""
        return tuple(range(self.outputs))

    def describe(self) -> dict[str, Any]:
        """The channel as plain values, for a file; those of a table are rounded."""
        if self._written_out:
            return {"kind": "table", "size": self.size, "table": np.asarray(self.probabilities()).tolist()}
        start = {"kind": self.kind, "size": self.size}
        shape = (field.name for field in dataclasses.fields(self) if field.name not in ("size", "growth"))
        return {**start, **{name: getattr(self, name) for name in shape}}

    def push(self, p: Floats) -> Floats:
        """The distribution of the output when the symbol has distribution ``p``."""
        return np.asarray(p @ self.matrix())

    def information(self, p: Floats, budget: LocalBudget) -> float:  # noqa: ARG002 # cells need the budget
        """The mutual information of symbol and output, in nats, when the symbol has distribution ``p``."""
        output = self.push(p)
        rows = zip(p.tolist(), self.matrix(), strict=True)
        return float(sum(weight * _KL.divergence(row, output) for weight, row in rows if weight > 0))

    def in_units(self, terms: Terms) -> Randomiser:
        """The same in whole units, as close as the terms allow."""
        from tinct.local.mechanisms.written_out_table import units_of_table

        return units_of_table(self.matrix(), terms)


@dataclass(frozen=True, eq=False)
class Randomiser(ABC):
    """What runs on an answer: its number of symbols, N, and R with the ε it stands for.

    One uniform integer below N decides between the few cases that depend on the symbol; everything else is uniform and
    tells nothing about it. ``prove`` checks the units by the definition, in integers, wherever they come from.

    Reports are arrays with one row per person; ``support`` counts how many reports speak for each symbol, and
    ``chances`` are the exact probabilities that a report speaks for the own symbol and for another one.
    """

    size: int
    total: int
    growth: Fraction
    epsilon: str

    kind: ClassVar[str]
    bits: ClassVar[bool] = False  # whether a report is a truth value for each symbol
    shape: ClassVar[tuple[str, ...]] = ()  # attributes that files hold as numbers
    amounts: ClassVar[tuple[str, ...]] = ()  # and after them, those that are units

    def prove(self) -> None:
        """Check in whole numbers that no two symbols differ by more than the budget allows; NotPrivate if they do."""
        if not self.growth >= 1 or not at_most_exp(self.growth, self.epsilon):
            raise NotPrivate(f"growth {self.growth} is not between 1 and e^ε for ε = {self.epsilon}", None)
        if not self._keeps_ratio():
            raise NotPrivate(f"the {self.kind} randomiser's units exceed the ratio e^ε", self.witness())

    @abstractmethod
    def _keeps_ratio(self) -> bool:
        """Whether the units keep the ratio, by the definition."""

    def witness(self) -> Any:
        """The two symbols and the outputs that differ most, if this kind can name them."""
        return None

    @property
    def allowed(self) -> int:
        """How many units may exceed the ratio: δ·N, which only written-out tables use."""
        return 0

    def draw(self, codes: Codes, read: Read = sampler.entropy) -> NDArray[Any]:
        """One report for each symbol number, a batch at a time so that it stays in the processor's cache."""
        codes = np.asarray(codes, np.int64)
        if len(codes) <= _BATCH:
            return self.draw_batch(codes, read)
        starts = range(0, len(codes), _BATCH)
        first = self.draw_batch(codes[:_BATCH], read)
        reports = np.empty((len(codes), *first.shape[1:]), first.dtype)
        reports[:_BATCH] = first
        for start in starts[1:]:
            reports[start : start + _BATCH] = self.draw_batch(codes[start : start + _BATCH], read)
        return reports

    @abstractmethod
    def draw_batch(self, codes: Codes, read: Read) -> NDArray[Any]:
        """One report for each of a batch of symbol numbers."""

    @property
    def width(self) -> int:
        """How many whole numbers a report has; a bit is one too."""
        return 1

    @abstractmethod
    def are_reports(self, rows: Integers) -> NDArray[np.bool_]:
        """Which rows of ``width`` whole numbers this mechanism can have said."""

    def support(self, reports: Any) -> Integers:
        """For each symbol the number of reports that speak for it; what the mechanism cannot have said is refused."""
        return self.support_of_rows(self.rows_of(reports))

    @abstractmethod
    def support_of_rows(self, rows: Integers) -> Integers:
        """The same for rows that ``are_reports``."""

    def rows_of(self, reports: Any) -> Integers:
        """Reports as rows of whole numbers, all of which this mechanism can have said."""
        found = np.asarray(reports)
        if self.width == 1 and found.ndim == 1:
            found = found[:, None]
        if found.ndim != 2 or found.shape[1] != self.width or found.dtype.kind not in ("iub" if self.bits else "iu"):
            raise ParameterError(f"reports must be whole numbers, {self.width:,} for each person")
        good = self.are_reports(found)
        if not good.all():
            at = int(np.argmin(good))
            raise ParameterError(f"report number {at} is none that this mechanism can have said")
        return found if self.bits else found.astype(np.int64, copy=False)

    @property
    def chances(self) -> tuple[Fraction, Fraction] | None:
        """The probabilities (own, other) of support, or None if they depend on the symbols."""
        return None

    @abstractmethod
    def channel(self, budget: LocalBudget) -> Channel:
        """What these units are rounded from, in floats."""

    # files

    def fields(self) -> dict[str, Any]:
        """The numbers a client needs; units are text."""
        return {
            "kind": self.kind,
            "size": self.size,
            "denominator": str(self.total),
            **{name: getattr(self, name) for name in self.shape},
            **{name: str(getattr(self, name)) for name in self.amounts},
        }

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """The units that a file holds; nothing is proved yet."""
        build: Any = cls
        made: Self = build(*fields.common, *map(fields.number, cls.shape), *map(fields.units, cls.amounts))
        return made


class PlainRandomiser(Randomiser):
    """A randomiser whose reports are numbers of outputs, few enough to count each: tests can be made from them."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many outputs there are."""

    @abstractmethod
    def push(self, frequencies: Floats) -> Floats:
        """The distribution of a report, from that of the symbols."""

    @abstractmethod
    def pull(self, weights: Floats) -> Floats:
        """For each symbol the mean of weights on the outputs."""

    def matrix(self) -> Floats:
        """The probabilities that are really used, as floats."""
        return np.array([self.push(row) for row in np.eye(self.size)])

    def rank(self) -> int:
        """The rank of the matrix: with less than the number of symbols, frequencies cannot be told apart."""
        return int(np.linalg.matrix_rank(self.matrix()))

    def are_reports(self, rows: Integers) -> NDArray[np.bool_]:
        """Numbers of outputs."""
        return within(rows, self.outputs)

    def counted(self, reports: Any) -> Integers:
        """How often each output was reported."""
        return np.bincount(self.rows_of(reports)[:, 0], minlength=self.outputs)

    def support_of_rows(self, rows: Integers) -> Integers:
        """Support, from how often each output was reported."""
        return self.support_of(np.bincount(rows[:, 0], minlength=self.outputs))

    def support_of(self, counts: Integers) -> Integers:
        """Support from counts of the outputs; a table needs the counts themselves."""
        return counts

    def counts_of(self, support: Integers) -> Integers:
        """The counts again, where support determines them."""
        return support


class Fields:
    """The fields of a randomiser in a file, each asked for once by its name."""

    def __init__(self, fields: dict[str, Any], growth: Fraction, epsilon: str) -> None:
        self.left = dict(fields)
        self.kind = self.left.pop("kind")
        self.size = self.number("size")
        self.common = (self.size, self.units("denominator"), growth, epsilon)

    def number(self, name: str) -> int:
        """A small whole number."""
        value = self.left.pop(name, None)
        if type(value) is not int or not 0 <= value < 2**40:
            raise ParameterError(f"randomiser: {name} must be a whole number")
        return value

    def units(self, name: str) -> int:
        """A whole number of units, which is text."""
        return whole_text(self.left.pop(name, None), name)

    def items(self, name: str) -> list[Any]:
        """A list."""
        return filled_list(self.left.pop(name, None), name)

    def require_none_left(self) -> None:
        """Refuse fields that nobody asked for."""
        if self.left:
            raise ParameterError(f"randomiser has an unknown field {next(iter(self.left))!r:.80}")


def whole_text(value: Any, what: str) -> int:
    """A whole number below 10^19 that a file spells as text."""
    if not isinstance(value, str) or not _WHOLE.fullmatch(value):
        raise ParameterError(f"{what} must hold whole numbers as text")
    return int(value)


def filled_list(value: Any, what: str) -> list[Any]:
    """A list with something in it."""
    if not isinstance(value, list) or not value:
        raise ParameterError(f"{what} must be a list that is not empty")
    return value


def within(rows: Integers, bound: int) -> NDArray[np.bool_]:
    """Which rows have numbers from 0 to below ``bound`` only."""
    # one column is by far the most common, and quicker without a reduction
    inside = (rows >= 0) & (rows < bound)
    return inside[:, 0] if rows.shape[1] == 1 else np.asarray(inside.all(axis=1))


def _require_distributions(table: Floats, size: int) -> None:
    if table.ndim != 2 or len(table) != size or not 0 < table.size <= MAX_ENTRIES:
        raise ParameterError(
            f"probabilities must have a row for each of the {size:,} symbols and at most {MAX_ENTRIES:,} entries, "
            f"got shape {table.shape}"
        )
    if not (table >= 0).all() or not (np.abs(table.sum(axis=1) - 1.0) <= 1e-9).all():
        raise ParameterError("probabilities must not be negative, and each row must sum to 1 (within 1e-9)")
