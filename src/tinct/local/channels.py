"""What a local mechanism is made of: who answers what with which probability, without writing out large tables.

A channel knows its matrix Q(y|x), with symbols as rows, and gives it only when it is small enough. The structured ones
keep the few numbers that define them, so that a mechanism on a million symbols, or with 2^k outputs, stays small.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

MAX_ENTRIES = 50_000_000  # 400 MB of doubles
_LEAST = float(np.finfo(np.float64).tiny)  # smaller numbers have fewer digits


@dataclass(frozen=True, eq=False)
class Channel(ABC):
    """The distribution of the output for every symbol.

    A *pure* channel has two numbers: a report supports the symbol it came from with probability ``own``, and any
    other given symbol with probability ``other``. That is all an estimate of frequencies needs.
    """

    size: int

    kind = "table"

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many outputs there are; may be astronomically many."""

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

    @property
    def pure(self) -> tuple[float, float] | None:
        """The probabilities (own, other) of support, or None if the channel is not pure."""
        return None

    def matrix(self) -> Floats:
        """All probabilities, symbols × outputs, if there are not too many."""
        if self.log10_entries > math.log10(MAX_ENTRIES):
            raise ParameterError(
                f"the matrix would have {self.size:,} rows and {self.size_of_outputs()} columns, "
                f"more than {MAX_ENTRIES:,} entries: use .channel, which describes it ({self.kind})"
            )
        with np.errstate(under="ignore"):
            table = self._table()
        if self.kind != "table" and not (table >= _LEAST).all():
            # a 0 beside a 1e-310 would be infinite ε
            raise ParameterError(f"some probabilities are below {_LEAST:.3g}: use .channel, which describes them")
        table.flags.writeable = False
        return table

    def labels(self) -> tuple[Any, ...]:
        """The names of the outputs, in the order of the matrix's columns."""
        return tuple(range(self.outputs))

    def describe(self) -> dict[str, Any]:
        """The channel as plain values, for a file."""
        return {"kind": self.kind, "size": self.size}

    def push(self, p: Floats) -> Floats:
        """The distribution of the output when the symbol has distribution ``p``."""
        return np.asarray(p @ self.matrix())

    @abstractmethod
    def _table(self) -> Floats:
        """All probabilities, once it is known that they fit."""


@dataclass(frozen=True, eq=False)
class TableChannel(Channel):
    """A channel that is written out."""

    table: Floats

    kind = "table"

    @property
    def outputs(self) -> int:
        """How many columns the table has."""
        return int(self.table.shape[1])

    def describe(self) -> dict[str, Any]:
        """The table itself; its numbers are rounded."""
        return {**super().describe(), "table": self.table.tolist()}

    def _table(self) -> Floats:
        return self.table


@dataclass(frozen=True, eq=False)
class CellChannel(Channel):
    """Randomized response on the number of the symbol's cell."""

    growth: float
    cell_of: Integers
    count: int

    kind = "cells"

    @property
    def outputs(self) -> int:
        """How many cells there are."""
        return self.count

    @property
    def pure(self) -> tuple[float, float] | None:
        """Support of the own symbol and of another one, if every symbol has a cell of its own."""
        return (self.high, self.low) if self.count == self.size and self.count > 1 else None

    @property
    def low(self) -> float:
        """The probability of each other cell."""
        return 1.0 / (self.growth + (self.count - 1))

    @property
    def high(self) -> float:
        """The probability of the own cell."""
        return self.growth * self.low if self.count > 1 else 1.0

    def push(self, p: Floats) -> Floats:
        """The distribution of the output, without the matrix."""
        inside = np.bincount(self.cell_of, p, self.count)
        return self.low * (1.0 - inside) + self.high * inside

    def describe(self) -> dict[str, Any]:
        """The cell of each symbol."""
        return {**super().describe(), "cells": self.count, "cell_of": self.cell_of.tolist()}

    def _table(self) -> Floats:
        table = np.full((self.size, self.count), self.low)
        table[np.arange(self.size), self.cell_of] = self.high
        return table


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

    @property
    def pure(self) -> tuple[float, float]:
        """How often the subset holds the own symbol, and another one."""
        k, d = self.size, self.members
        own = d / (d + (k - d) / self.growth)
        # the subset has d members: d = own + (k − 1)·other
        return own, (d - own) / (k - 1)

    def labels(self) -> tuple[Any, ...]:
        """The subsets, as tuples of positions."""
        return tuple(combinations(range(self.size), self.members))

    def describe(self) -> dict[str, Any]:
        """The size of the subsets."""
        return {**super().describe(), "members": self.members}

    def _table(self) -> Floats:
        raised = np.zeros((self.size, self.outputs), bool)
        for at, members in enumerate(combinations(range(self.size), self.members)):
            raised[list(members), at] = True
        k, d = self.size, self.members
        high = 1.0 / (math.comb(k - 1, d - 1) + math.comb(k - 1, d) / self.growth)
        return np.where(raised, high, high / self.growth)


@dataclass(frozen=True, eq=False)
class UnaryChannel(Channel):
    """One bit for each symbol, each flipped on its own: the own bit is 1 with ``own``, every other with ``other``."""

    own: float
    other: float

    kind = "unary"

    @property
    def outputs(self) -> int:
        """How many bit vectors there are."""
        return 1 << self.size

    @property
    def log10_outputs(self) -> float:
        """The logarithm of a power of two."""
        return self.size * math.log10(2.0)

    @property
    def pure(self) -> tuple[float, float]:
        """How often the own bit, and another bit, is 1."""
        return self.own, self.other

    def describe(self) -> dict[str, Any]:
        """The chances of a 1."""
        return {**super().describe(), "own": self.own, "other": self.other}

    def _table(self) -> Floats:
        numbers = np.arange(self.outputs)
        bits = np.array([numbers >> x & 1 for x in range(self.size)])
        ones = bits.sum(axis=0)
        # the 1s and 0s among the k − 1 other bits
        others = self.other ** (ones - bits) * (1.0 - self.other) ** (self.size - 1 - ones + bits)
        return np.asarray(np.where(bits, self.own, 1.0 - self.own) * others)


@dataclass(frozen=True, eq=False)
class HashChannel(Channel):
    """A random hash h(x) = ((a·x + b) mod p) mod g, published with randomized response on its value."""

    growth: float
    prime: int
    buckets: int

    kind = "hash"

    @property
    def outputs(self) -> int:
        """How many triples (a, b, answer) there are."""
        return self.prime * (self.prime - 1) * self.buckets

    @cached_property
    def collision(self) -> float:
        """The probability that two given symbols have the same hash, at most 1/g."""
        sizes = [len(range(rest, self.prime, self.buckets)) for rest in range(min(self.buckets, self.prime))]
        return sum(n * (n - 1) for n in sizes) / (self.prime * (self.prime - 1))

    @property
    def pure(self) -> tuple[float, float]:
        """How often the answer is the hash of the own symbol, and of another one."""
        low = 1.0 / (self.growth + self.buckets - 1)
        high = self.growth * low
        return high, self.collision * high + (1.0 - self.collision) * low

    def labels(self) -> tuple[Any, ...]:
        """The triples (a, b, answer)."""
        p, g = self.prime, self.buckets
        return tuple((a, b, answer) for a in range(1, p) for b in range(p) for answer in range(g))

    def describe(self) -> dict[str, Any]:
        """The prime and the number of buckets."""
        return {**super().describe(), "prime": self.prime, "buckets": self.buckets}

    def _table(self) -> Floats:
        p, g = self.prime, self.buckets
        a, b = (axis.ravel() for axis in np.meshgrid(np.arange(1, p), np.arange(p), indexing="ij"))
        high = 1.0 / ((1.0 + (g - 1) / self.growth) * len(a))
        hashed = (np.arange(self.size)[:, None] * a + b) % p % g
        raised = hashed[:, :, None] == np.arange(g)
        return np.where(raised, high, high / self.growth).reshape(self.size, -1)


@dataclass(frozen=True, eq=False)
class HadamardChannel(Channel):
    """An index of a Hadamard matrix, e^ε times as likely where the symbol's row has +1."""

    growth: float
    order: int

    kind = "hadamard"

    @property
    def outputs(self) -> int:
        """The order of the matrix, the least power of two above the number of symbols."""
        return self.order

    @property
    def pure(self) -> tuple[float, float]:
        """Rows agree in half of their places, so every other symbol is supported half of the time."""
        return self.growth / (self.growth + 1.0), 0.5

    def describe(self) -> dict[str, Any]:
        """The order of the matrix."""
        return {**super().describe(), "order": self.order}

    def _table(self) -> Floats:
        rows = np.arange(1, self.size + 1)[:, None]  # row 0 is all +1 and would tell nothing
        odd = rows & np.arange(self.order)
        for shift in (16, 8, 4, 2, 1):  # fold the bits together: the last one becomes their parity
            odd ^= odd >> shift
        low = 2.0 / (self.order * (1.0 + self.growth))
        return np.where(odd & 1, low, self.growth * low)
