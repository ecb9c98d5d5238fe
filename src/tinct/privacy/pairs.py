"""What every notion of privacy here offers: a suitable pair (L, U) of bounds between neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, overload

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

MAX_DISTANCE = 10**18
_NOISE = 1e-12  # a probability this far outside [0, 1] is rounding, not a mistake


class SuitablePair(ABC):
    """Bounds L(a) ≤ Pr[M(v) = y] ≤ U(a) for a neighbour v of a u with Pr[M(u) = y] = a (docs/theory.md §1).

    ``coordinate`` names the scale on which the propagation kernels follow U with full relative precision at both
    ends of [0, 1]: ``"odds"`` (p/(1 − p)), ``"probit"`` (e^Φ⁻¹(p)), or ``None`` when U is only a function.
    ``step`` holds U's parameters on that scale.
    """

    coordinate: str | None = None
    step: tuple[float, float] = (1.0, 0.0)

    @property
    @abstractmethod
    def balance(self) -> tuple[float, float]:
        """The fixed point α = U(1 − α), and 1 − α: the fairest pair of truths on a boundary edge."""

    @abstractmethod
    def walk(self, distance: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
        """U^distance(a) and 1 − U^distance(a), each with its own relative precision, where b = 1 − a."""

    @abstractmethod
    def _transition(self, a: Floats) -> Floats: ...

    @overload
    def upper(self, a: float) -> float: ...
    @overload
    def upper(self, a: ArrayLike) -> float | Floats: ...
    def upper(self, a: ArrayLike) -> float | Floats:
        """U(a), the largest probability a neighbour may have.

        >>> from tinct import Privacy
        >>> Privacy("ln 2").upper([0.1, 0.8])
        array([0.2, 0.9])
        """
        values = probabilities(a)
        return _like(self.walk(1, values, 1.0 - values)[0], a)

    @overload
    def lower(self, a: float) -> float: ...
    @overload
    def lower(self, a: ArrayLike) -> float | Floats: ...
    def lower(self, a: ArrayLike) -> float | Floats:
        """L(a) = 1 − U(1 − a), the smallest probability a neighbour may have."""
        values = probabilities(a)
        return _like(self.walk(1, 1.0 - values, values)[1], a)

    @overload
    def reach(self, distance: int, a: float) -> float: ...
    @overload
    def reach(self, distance: ArrayLike, a: ArrayLike) -> float | Floats: ...
    def reach(self, distance: ArrayLike, a: ArrayLike) -> float | Floats:
        """Return the largest Pr[M(v) = y] at ``distance`` edges from a u with Pr[M(u) = y] = a.

        This is U applied ``distance`` times (docs/theory.md §2; proof: docs/proofs/reach.md).

        >>> from tinct import Privacy
        >>> Privacy("ln 2").reach(3, 0.1)
        0.7
        """
        values = probabilities(a)
        return _like(self.walk(distance, values, 1.0 - values)[0], distance, a)

    @overload
    def transition(self, a: float) -> float: ...
    @overload
    def transition(self, a: ArrayLike) -> float | Floats: ...
    def transition(self, a: ArrayLike) -> float | Floats:
        """The distance τ from which on more distance shrinks the error rather than multiplies the probability.

        It is the first d ≥ 0 with U^d(a) ≥ 1 − α, α the balance; infinite if a never gets there.

        >>> from tinct import Privacy
        >>> Privacy("ln 2").transition(0.1)
        2.0
        """
        return _like(self._transition(probabilities(a)), a)


def probabilities(given: ArrayLike, name: str = "a probability") -> Floats:
    """The given numbers as floats in [0, 1]; NaN and anything outside by more than rounding is refused."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a number in [0, 1], got {given!r:.80}") from None
    good = (values >= -_NOISE) & (values <= 1.0 + _NOISE)  # written so that NaN fails
    if not good.all():
        worst = values[~good].flat[0] if values.ndim else values[()]
        raise ParameterError(f"{name} must be a number in [0, 1], got {worst}")
    return np.clip(values, 0.0, 1.0)


def distances(given: ArrayLike) -> NDArray[np.int64]:
    """The given whole numbers from 0 to 10^18 as integers."""
    values = np.asarray(given)
    if values.dtype.kind not in "iu" or not ((values >= 0) & (values <= MAX_DISTANCE)).all():
        raise ParameterError(f"a distance must be a whole number from 0 to 10^18, got {given!r:.80}")
    return values.astype(np.int64)


def _like(values: Floats, *given: ArrayLike) -> float | Floats:
    """A plain float when every argument was a plain number, else the array."""
    return float(values) if all(np.ndim(argument) == 0 for argument in given) else values
