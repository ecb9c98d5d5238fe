"""Channels for many symbols in whole units: subsets, bits, hashes and Hadamard matrices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.local.randomisers import TOTAL, CellRandomiser, Randomiser, require_reports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SubsetRandomiser(Randomiser):
    """A subset of fixed size that holds the own symbol with ``inside`` units, and is uniform otherwise."""

    members: int
    inside: int

    kind = "subset"

    @classmethod
    def of(cls, size: int, members: int, growth: Fraction, epsilon: str) -> SubsetRandomiser:
        """As many units inside as the ratio allows: inside·(k − d) ≤ R·d·(N − inside)."""
        up, down = growth.numerator * members, growth.denominator * (size - members)
        return cls(size, TOTAL, growth, epsilon, members, TOTAL * up // (up + down))

    def draw_batch(self, codes: Codes, read: Any) -> NDArray[Any]:
        """The members, sorted: the own symbol or not, then uniform others among the rest (Floyd's algorithm)."""
        holds = sampler.below_many(self.total, len(codes), read) < np.uint64(self.inside)
        # places among the k − 1 other symbols; where the own one is in, the last place is given to it instead
        places = np.empty((len(codes), self.members), np.int64)
        for at, top in enumerate(range(self.size - 1 - self.members, self.size - 1)):
            drawn = sampler.below_many(top + 1, len(codes), read).astype(np.int64)
            taken = (places[:, :at] == drawn[:, None]).any(axis=1)
            places[:, at] = np.where(taken, top, drawn)
        keep = self._without_one(places, read)
        others = np.where(holds[:, None], keep, places)
        others = others + (others >= codes[:, None])
        others[holds, -1] = codes[holds]
        others.sort(axis=1)
        return others

    def _without_one(self, places: NDArray[np.int64], read: Any) -> NDArray[np.int64]:
        """The places with a uniform one of them moved to the end, where it will be overwritten."""
        dropped = sampler.below_many(self.members, len(places), read).astype(np.int64)
        kept = places.copy()
        everyone = np.arange(len(places))
        kept[everyone, dropped], kept[:, -1] = places[:, -1], places[everyone, dropped]
        return kept

    def support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """How many subsets hold each symbol."""
        return np.bincount(require_reports(reports, self.size, self.members).ravel(), minlength=self.size)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """How often a subset holds the own symbol, and another one: d members in all."""
        own = Fraction(self.inside, self.total)
        return own, (self.members - own) / (self.size - 1)

    def fields(self) -> dict[str, Any]:
        """The size of the subset and the units."""
        return {**super().fields(), "members": self.members, "inside": str(self.inside)}

    def _keeps_ratio(self) -> bool:
        k, d, inside, outside = self.size, self.members, self.inside, self.total - self.inside
        # a subset with the symbol: inside/C(k−1, d−1); without: outside/C(k−1, d); C(k−1, d)/C(k−1, d−1) = (k − d)/d
        return outside * d <= inside * (k - d) <= self.growth * outside * d


@dataclass(frozen=True, eq=False)
class UnaryRandomiser(Randomiser):
    """A bit for each symbol: the own one is 1 with half the units, every other with ``other`` units."""

    other: int

    kind = "unary"

    @classmethod
    def of(cls, size: int, growth: Fraction, epsilon: str) -> UnaryRandomiser:
        """The fewest units for other bits: N − other ≤ R·other."""
        return cls(
            size, TOTAL, growth, epsilon, -(-TOTAL * growth.denominator // (growth.numerator + growth.denominator))
        )

    def draw_batch(self, codes: Codes, read: Any) -> NDArray[Any]:
        """One row of bits for each person."""
        bits = np.empty((len(codes), self.size), bool)
        half, other = np.uint64(self.total // 2), np.uint64(self.other)
        for symbol in range(self.size):
            drawn = sampler.below_many(self.total, len(codes), read)
            bits[:, symbol] = drawn < np.where(codes == symbol, half, other)
        return bits

    def support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """How many rows have each bit set."""
        bits = np.asarray(reports)
        if bits.ndim != 2 or bits.shape[1] != self.size or bits.dtype != bool:
            raise ParameterError(f"reports must be truth values, {self.size:,} for each person")
        return np.asarray(bits.sum(axis=0, dtype=np.int64))

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """How often the own bit, and another one, is 1."""
        return Fraction(1, 2), Fraction(self.other, self.total)

    def fields(self) -> dict[str, Any]:
        """The units of a 1 for other bits."""
        return {**super().fields(), "other": str(self.other)}

    def _keeps_ratio(self) -> bool:
        # two symbols differ in two bits: (1/2)/(1 − 1/2) · (N − other)/other
        return (
            self.total % 2 == 0
            and 0 < 2 * self.other <= self.total
            and self.total - self.other <= self.growth * self.other
        )


@dataclass(frozen=True, eq=False)
class HashRandomiser(Randomiser):
    """A public random hash ((a·x + b) mod p) mod g of the symbol, with randomized response on its value."""

    prime: int
    buckets: int
    own: int
    other: int

    kind = "hash"

    @classmethod
    def of(cls, size: int, prime: int, buckets: int, growth: Fraction, epsilon: str) -> HashRandomiser:
        """Units as for randomized response on the buckets."""
        cells = CellRandomiser.of(buckets, np.arange(buckets), buckets, growth, epsilon)
        return cls(size, TOTAL, growth, epsilon, prime, buckets, cells.own, cells.other)

    def draw_batch(self, codes: Codes, read: Any) -> NDArray[Any]:
        """Rows (a, b, answer)."""
        a = sampler.below_many(self.prime - 1, len(codes), read).astype(np.int64) + 1
        b = sampler.below_many(self.prime, len(codes), read).astype(np.int64)
        cells = CellRandomiser(
            self.buckets,
            self.total,
            self.growth,
            self.epsilon,
            np.arange(self.buckets),
            self.buckets,
            self.own,
            self.other,
        )
        return np.stack([a, b, cells.draw_batch(self._hash(a, b, codes), read)], axis=1)

    def support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """How many answers are the hash of each symbol."""
        rows = np.asarray(reports)
        if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu":
            raise ParameterError("reports must be rows (a, b, answer) of whole numbers")
        a, b, answer = rows.T
        inside = (a > 0) & (a < self.prime) & (b >= 0) & (b < self.prime) & (answer >= 0) & (answer < self.buckets)
        if not inside.all():
            raise ParameterError(f"report number {int(np.argmin(inside))} is not an output of this mechanism")
        return np.array([(self._hash(a, b, symbol) == answer).sum() for symbol in range(self.size)], np.int64)

    def _hash(self, a: Any, b: Any, symbol: Any) -> Any:
        return (a * symbol + b) % self.prime % self.buckets

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Another symbol is supported where it collides, or by the noise."""
        sizes = [len(range(rest, self.prime, self.buckets)) for rest in range(min(self.buckets, self.prime))]
        collide = Fraction(sum(n * (n - 1) for n in sizes), self.prime * (self.prime - 1))
        own, other = Fraction(self.own, self.total), Fraction(self.other, self.total)
        return own, collide * own + (1 - collide) * other

    def fields(self) -> dict[str, Any]:
        """The prime, the buckets and the units."""
        units = {"own": str(self.own), "other": str(self.other)}
        return {**super().fields(), "prime": self.prime, "buckets": self.buckets, **units}

    def _keeps_ratio(self) -> bool:
        whole = self.own + (self.buckets - 1) * self.other == self.total and 0 < self.other <= self.own
        return whole and self.own <= self.growth * self.other


@dataclass(frozen=True, eq=False)
class HadamardRandomiser(Randomiser):
    """A place of a Hadamard matrix: one where the symbol's row has +1 with ``plus`` units, else one where it has −1."""

    order: int
    plus: int

    kind = "hadamard"

    @classmethod
    def of(cls, size: int, order: int, growth: Fraction, epsilon: str) -> HadamardRandomiser:
        """As many units for +1 as the ratio allows: plus ≤ R·(N − plus)."""
        return cls(
            size, TOTAL, growth, epsilon, order, TOTAL * growth.numerator // (growth.numerator + growth.denominator)
        )

    def draw_batch(self, codes: Codes, read: Any) -> NDArray[Any]:
        """A uniform place, moved to one of the other sign if the coin says so: flipping one bit is a bijection."""
        rows = codes + 1
        wanted = sampler.below_many(self.total, len(rows), read) >= np.uint64(self.plus)  # True: −1
        places = sampler.below_many(self.order, len(rows), read).astype(np.int64)
        return np.where(_odd(rows & places) == wanted, places, places ^ (rows & -rows))

    def support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """How many places have +1 in each symbol's row."""
        seen = np.bincount(require_reports(reports, self.order), minlength=self.order)
        places = np.arange(self.order)
        return np.array([seen[~_odd(row & places)].sum() for row in range(1, self.size + 1)], np.int64)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Rows agree in half of their places."""
        return Fraction(self.plus, self.total), Fraction(1, 2)

    def fields(self) -> dict[str, Any]:
        """The order and the units."""
        return {**super().fields(), "order": self.order, "plus": str(self.plus)}

    def _keeps_ratio(self) -> bool:
        power = self.order & (self.order - 1) == 0 and self.order > self.size
        return power and self.total - self.plus <= self.plus <= self.growth * (self.total - self.plus)


def _odd(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a number has an odd number of 1 bits."""
    folded = numbers.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        folded ^= folded >> shift
    return (folded & 1).astype(bool)
