"""What local designers are given: a budget, distributions and symbols, checked once and in one way."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tinct.errors import ParameterError
from tinct.exact.proof import Terms
from tinct.numbers.amounts import MAX_EPSILON, Amount, rational
from tinct.numbers.bounds import growth_below

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from tinct.numbers.amounts import AmountLike, NumberLike

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

BudgetLike: TypeAlias = "AmountLike | LocalBudget"
DistributionLike: TypeAlias = "ArrayLike | Mapping[Any, float]"
SymbolsLike: TypeAlias = "Iterable[Hashable]"

SUM_TOLERANCE = 1e-9
MAX_SYMBOLS = 10_000_000
TOTAL = 2**62  # N, the units in which a mechanism runs


@dataclass(frozen=True)
class LocalBudget:
    """An ε in (0, 700], with the powers that designers need; everything is scaled by e^−ε, so nothing overflows."""

    exact: Amount

    @classmethod
    def parse(cls, epsilon: BudgetLike, name: str = "epsilon") -> LocalBudget:
        """Read a number, a Fraction, or text such as ``"0.5"`` or ``"ln 2"``."""
        if isinstance(epsilon, LocalBudget):
            return epsilon
        amount = Amount.parse(epsilon, name)
        huge = not amount.is_log and amount.value > MAX_EPSILON  # 1e400 is no float
        if huge or not 0 < float(amount) <= MAX_EPSILON:
            raise ParameterError.of(name, f"a number above 0 and at most {MAX_EPSILON}", epsilon)
        return cls(amount)

    @property
    def epsilon(self) -> float:
        """The budget as a float."""
        return float(self.exact)

    @property
    def text(self) -> str:
        """The budget as a proof reads it: all digits, however many."""
        return f"ln {self.exact.value}" if self.exact.is_log else str(self.exact.value)

    def terms(self, delta: Fraction) -> Terms:
        """What has to be proved in whole units; R never exceeds N, where units cannot tell more."""
        return Terms(self.text, min(growth_below(self.exact), Fraction(TOTAL)), delta)

    @property
    def growth(self) -> float:
        """The number e^ε."""
        return self.exact.growth

    @cached_property
    def low(self) -> float:
        """The number e^−ε."""
        return 1.0 / self.growth

    @cached_property
    def span(self) -> float:
        """The number 1 − e^−ε, without cancellation."""
        return self.exact.growth_minus_one / self.growth


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """Two distributions on the same symbols, each summing to 1."""

    p0: Floats
    p1: Floats
    symbols: tuple[Any, ...]

    @classmethod
    def parse(cls, p0: DistributionLike, p1: DistributionLike, symbols: SymbolsLike | None = None) -> Hypotheses:
        """Check two distributions, given as sequences, or as mappings from symbols to probabilities."""
        if isinstance(p0, Mapping) or isinstance(p1, Mapping):
            p0, p1, symbols = _from_mappings(p0, p1, symbols)
        first, second = distribution(p0, "p0"), distribution(p1, "p1")
        if len(first) != len(second):
            raise ParameterError(
                f"p0 and p1 must be about the same symbols: p0 has {len(first):,} probabilities, p1 has {len(second):,}"
            )
        return cls(first, second, named_symbols(symbols, len(first)))


def distribution(values: DistributionLike, name: str) -> Floats:
    """A probability distribution: finite, not negative, with a sum within 1e-9 of 1, which is then divided out.

    >>> distribution([0.25, 0.75], "p0")
    array([0.25, 0.75])
    """
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise ParameterError.of(name, "a sequence of probabilities", values) from None
    if array.ndim != 1 or not len(array):
        raise ParameterError.of(name, "a non-empty sequence of probabilities", ..., f", got shape {array.shape}")
    if len(array) > MAX_SYMBOLS:
        raise ParameterError.of(name, f"at most {MAX_SYMBOLS:,} probabilities", ..., f", got {len(array):,}")
    bad = np.flatnonzero(~((array >= 0) & (array <= 1 + SUM_TOLERANCE)))
    if len(bad):
        raise ParameterError.of(name, "probabilities in [0, 1]", array[bad[0]], f" at position {bad[0]}")
    total = math.fsum(array)
    if not abs(total - 1.0) <= SUM_TOLERANCE:
        raise ParameterError.of(
            name, f"probabilities that sum to 1 (within {SUM_TOLERANCE:g})", ..., f", got {total:.12g}"
        )
    array /= total
    array.flags.writeable = False
    return array


def named_symbols(symbols: SymbolsLike | None, k: int) -> tuple[Any, ...]:
    """The names of ``k`` symbols, 0 to k − 1 if none are given."""
    if symbols is None:
        return tuple(range(k))
    if isinstance(symbols, str):
        raise ParameterError.of("symbols", "a sequence of names", ..., f", got the text {symbols!r:.80}")
    try:
        names = tuple(symbols)
    except TypeError:
        raise ParameterError.of("symbols", "a sequence of names", symbols) from None
    if len(names) != k:
        raise ParameterError(f"there must be a name for each of the {k:,} symbols, got {len(names):,}")
    odd = next((name for name in names if not isinstance(name, Hashable)), None)
    if odd is not None:
        raise ParameterError(f"a symbol must be hashable, such as text or a number, got {odd!r:.80}")
    if len(set(names)) < k:
        raise ParameterError.of("symbols", "distinct")
    return names


def whole(value: object, name: str, least: int, most: int) -> int:
    """A whole number in a range."""
    number = least - 1 if isinstance(value, bool) or not isinstance(value, numbers.Integral) else int(value)
    if not least <= number <= most:
        raise ParameterError.of(name, f"a whole number from {least:,} to {most:,}", value)
    return number


def share(value: NumberLike, name: str) -> Fraction:
    """A number in [0, 1], exactly."""
    number = rational(value, name)
    if not 0 <= number <= 1:
        raise ParameterError.of(name, "a number in [0, 1]", value)
    return number


def delta_below_one(delta: NumberLike) -> Fraction:
    """A δ that leaves something to protect."""
    part = share(delta, "delta")
    if part >= 1:
        raise ParameterError.of("delta", "a number in [0, 1)", delta)
    return part


def _from_mappings(
    p0: DistributionLike, p1: DistributionLike, symbols: SymbolsLike | None
) -> tuple[list[Any], list[Any], tuple[Any, ...]]:
    if not (isinstance(p0, Mapping) and isinstance(p1, Mapping)) or set(p0) != set(p1):
        raise ParameterError("p0 and p1 must both be mappings with the same symbols, or both be sequences")
    names = tuple(p0) if symbols is None else tuple(symbols)
    if set(names) != set(p0):
        raise ParameterError.of("symbols", "the keys of p0 and p1")
    return [p0[name] for name in names], [p1[name] for name in names], names
