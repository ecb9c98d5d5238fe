"""What a certificate promises between datasets that are several steps apart, in floats that never promise too much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.numbers.amounts import Amount
from tinct.numbers.bounds import float_above

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinct.exact import Terms

_SLACK = 1e-12  # expm1 of up to 700 in floats is off by less than 10^−13 of itself


@dataclass(frozen=True)
class Promise:
    """(ε, δ) between neighbours, each rounded up to a float."""

    epsilon: float
    delta: float

    @classmethod
    def of(cls, terms: Iterable[Terms]) -> Promise:
        """The weakest promise that any edge makes."""
        found = list(terms)
        epsilons = (_epsilon_above(Amount.parse(each.epsilon, "epsilon")) for each in found)
        return cls(max(epsilons), max(float_above(each.delta) for each in found))

    def at(self, steps: object) -> tuple[float, float]:
        """(ε, δ) between datasets that many steps apart: U applied ``steps`` times to 0 gives δ (docs/theory.md §2).

        >>> Promise(0.5, 0.0).at(3), Promise(0.5, 0.0).at(0)
        ((1.5, 0.0), (0.0, 0.0))
        """
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
            raise ParameterError(f"a distance must be a whole number of at least 0, got {steps!r:.80}")
        if steps == 0:
            return 0.0, 0.0
        epsilon = float_above(Fraction(self.epsilon) * steps)
        if steps == 1 or self.delta == 0:
            return epsilon, self.delta
        return epsilon, self._delta_at(epsilon, steps)

    def _delta_at(self, epsilon: float, steps: int) -> float:
        if self.epsilon == 0:
            return min(1.0, float_above(Fraction(self.delta) * steps))
        try:
            grown = math.expm1(epsilon) / math.expm1(self.epsilon)
        except OverflowError:
            return 1.0
        return min(1.0, self.delta * grown * (1 + _SLACK))


def _epsilon_above(amount: Amount) -> float:
    if not amount.is_log:
        return float_above(amount.value)
    return math.nextafter(float(amount), math.inf)  # a logarithm is no float, and the nearest one may be below it
