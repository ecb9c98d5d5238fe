"""Local hashing: a public random hash of the symbol, and randomized response on its value.

Optimal for nothing in the exact sense; its errors are those of unary encoding, with short reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tinct._kernels.hash_support import count_hashes
from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms.base import BASELINE, Channel, Randomiser
from tinct.local.mechanisms.randomized_response import best_units, keeps_ratio, respond
from tinct.local.parameters import MAX_SYMBOLS, TOTAL, LocalBudget, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.exact.proof import Terms
    from tinct.exact.sampler import Read
    from tinct.local.mechanisms.base import Codes, Fields
    from tinct.local.parameters import BudgetLike, Floats, Integers, SymbolsLike


_LARGE = 20_000_000  # reports times symbols; below this, NumPy is quicker than importing numba


def local_hashing(
    k: int, epsilon: BudgetLike, *, buckets: int | None = None, symbols: SymbolsLike | None = None
) -> LocalMechanism:
    """Optimised local hashing (Wang et al. 2017): a public random hash, and randomized response on its value.

    Args:
        k: The number of symbols.
        epsilon: The budget.
        buckets: How many values the hash has; if left out, e^ε + 1 rounded, at most k.
        symbols: Names for the symbols.

    >>> local_hashing(100, "ln 3").channel.describe()
    {'kind': 'hash', 'size': 100, 'prime': 101, 'buckets': 4}
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    usual = k if budget.growth + 1.0 >= k else round(budget.growth) + 1
    values = max(2, usual) if buckets is None else whole(buckets, "buckets", 2, k)
    prime = prime_from(k)
    return LocalMechanism.of(
        HashChannel(k, budget.growth, prime, values),
        budget,
        name="local hashing",
        symbols=symbols,
        note=f"{BASELINE} (as unary encoding, with short reports)",
    )


def hash_chances(k: int, buckets: Integers, budget: LocalBudget) -> tuple[Floats, Floats]:
    """How often an answer with so many buckets is the hash of the own symbol, and of another one."""
    prime = prime_from(k)
    own: Floats = np.asarray(1.0 / (1.0 + (buckets - 1) * budget.low), np.float64)
    each, more = prime // buckets, prime % buckets  # so many have one residue more
    collide = (more * (each + 1) * each + (buckets - more) * each * (each - 1)) / (prime * (prime - 1))
    return own, collide * own + (1 - collide) * own * budget.low


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

    def probabilities(self) -> Floats:
        """High where the answer is the symbol's hash."""
        p, g = self.prime, self.buckets
        a, b = (axis.ravel() for axis in np.meshgrid(np.arange(1, p), np.arange(p), indexing="ij"))
        high = 1.0 / ((1.0 + (g - 1) / self.growth) * len(a))
        hashed = (np.arange(self.size)[:, None] * a + b) % p % g
        raised = hashed[:, :, None] == np.arange(g)
        return np.where(raised, high, high / self.growth).reshape(self.size, -1)

    def labels(self) -> tuple[Any, ...]:
        """The triples (a, b, answer)."""
        p, g = self.prime, self.buckets
        return tuple((a, b, answer) for a in range(1, p) for b in range(p) for answer in range(g))

    def in_units(self, terms: Terms) -> HashRandomiser:
        """Units as for randomized response on the buckets."""
        units = best_units(self.buckets, terms.growth)
        return HashRandomiser(self.size, TOTAL, terms.growth, terms.epsilon, self.prime, self.buckets, *units)


@dataclass(frozen=True, eq=False)
class HashRandomiser(Randomiser):
    """A public random hash ((a·x + b) mod p) mod g of the symbol, with randomized response on its value."""

    prime: int
    buckets: int
    own: int
    other: int

    kind = "hash"
    shape = ("prime", "buckets")
    amounts = ("own", "other")

    def draw_batch(self, codes: Codes, read: Read) -> NDArray[Any]:
        """Rows (a, b, answer)."""
        a = sampler.below_many(self.prime - 1, len(codes), read).astype(np.int64) + 1
        b = sampler.below_many(self.prime, len(codes), read).astype(np.int64)
        drawn = sampler.below_many(self.total, len(codes), read)
        answer = respond(self._hash(a, b, codes), self.own, self.other, drawn)
        return np.stack([a, b, answer], axis=1)

    @property
    def width(self) -> int:
        """The hash, which is two numbers, and the answer."""
        return 3

    def are_reports(self, rows: Integers) -> NDArray[np.bool_]:
        """Rows (a, b, answer)."""
        a, b, answer = rows.T
        hashes = (a > 0) & (a < self.prime) & (b >= 0) & (b < self.prime)
        return np.asarray(hashes & (answer >= 0) & (answer < self.buckets))

    def support_of_rows(self, rows: Integers) -> Integers:
        """How many answers are the hash of each symbol."""
        a, b, answer = np.ascontiguousarray(rows.T)
        if len(rows) * self.size > _LARGE:
            support = np.zeros(self.size, np.int64)
            count_hashes.compiled(a, b, answer, self.prime, self.buckets, support)
            return support
        return np.array([(self._hash(a, b, symbol) == answer).sum() for symbol in range(self.size)], np.int64)

    def _hash(self, a: Any, b: Any, symbol: Any) -> Any:
        return (a * symbol + b) % self.prime % self.buckets

    @property
    def collision(self) -> Fraction:
        """The probability that two given symbols have the same hash, at most 1/g."""
        sizes = [len(range(rest, self.prime, self.buckets)) for rest in range(min(self.buckets, self.prime))]
        return Fraction(sum(n * (n - 1) for n in sizes), self.prime * (self.prime - 1))

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Another symbol is supported where it collides, or by the noise."""
        own, other = Fraction(self.own, self.total), Fraction(self.other, self.total)
        collide = self.collision
        return own, collide * own + (1 - collide) * other

    def channel(self, budget: LocalBudget) -> HashChannel:
        """The same hashes in floats."""
        return HashChannel(self.size, budget.growth, self.prime, self.buckets)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """A prime that is one, and enough of it for the symbols and the buckets."""
        made = super().read(fields)
        if not (made.prime >= max(2, made.size) and 2 <= made.buckets <= made.prime and _is_prime(made.prime)):
            raise ParameterError("prime must be a prime from the number of symbols on, and buckets from 2 to prime")
        return made

    def _keeps_ratio(self) -> bool:
        # whatever the hash is, it tells nothing; its value is told by randomized response
        return keeps_ratio(self.buckets, self.own, self.other, self.total, self.growth)


def prime_from(k: int) -> int:
    """The least prime from k on."""
    return next(number for number in range(k, 2 * k) if _is_prime(number))


def _is_prime(number: int) -> bool:
    return all(number % factor for factor in range(2, math.isqrt(number) + 1))
