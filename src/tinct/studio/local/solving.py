"""From two distributions to the optimal randomiser, its rivals and its regimes; all by the library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tinct import local

if TYPE_CHECKING:
    from tinct.local import Comparison, LocalMechanism, Regimes
    from tinct.studio.local.state import LocalState

MOST_EPSILON = 8.0
_LEAST_EPSILON = 0.05
_POINTS = 33
_MOST_FOR_REGIMES = 40  # symbols; the map of regimes takes seconds beyond


@dataclass(frozen=True)
class Randomiser:
    """The optimal mechanism, how it fares against others at many budgets, and where it changes."""

    mechanism: LocalMechanism
    comparisons: tuple[Comparison, ...]
    regimes: Regimes | None


def solve(state: LocalState) -> Randomiser:
    """The optimal mechanism at the budget; the rest does not depend on it and is remembered."""
    mechanism = local.optimal(state.p0, state.p1, state.epsilon, state.utility, symbols=state.symbols)
    return Randomiser(mechanism, *_surroundings(state.p0, state.p1, state.symbols, state.utility))


@lru_cache(maxsize=16)
def _surroundings(
    p0: tuple[float, ...], p1: tuple[float, ...], symbols: tuple[str, ...], utility: str
) -> tuple[tuple[Comparison, ...], Regimes | None]:
    few = len(p0) <= _MOST_FOR_REGIMES
    grid = np.linspace(_LEAST_EPSILON, MOST_EPSILON, _POINTS if few else _POINTS // 3)
    comparisons = local.compare(p0, p1, epsilons=grid.tolist(), utility=utility, bound=False)
    if not few:
        return tuple(comparisons), None
    found = local.regimes(p0, p1, utility, symbols=symbols, lowest=_LEAST_EPSILON, highest=MOST_EPSILON, samples=32)
    return tuple(comparisons), found
