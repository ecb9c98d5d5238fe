"""What every notion of privacy here offers: a suitable pair (L, U) of bounds between neighbours."""

from __future__ import annotations

from abc import ABC, ABCMeta
from functools import cached_property
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

MAX_DISTANCE = 10**18
_NOISE = 1e-12  # a probability this far outside [0, 1] is rounding, not a mistake
_RANGE_TOLERANCE = 1e-9
_MAX_ITERATIONS = 10_000_000


class _CheckedWhenMade(ABCMeta):
    """Makes instances and checks each of them, so that no ``__init__`` of a subclass can forget to."""

    @property
    def __signature__(cls) -> Signature:  # what ``help`` shows: that of ``__init__``, not of ``__call__`` below
        own = signature(cls.__init__)  # type: ignore[misc] # a class is asked here, not an instance
        return own.replace(parameters=list(own.parameters.values())[1:], return_annotation=Signature.empty)

    def __call__(cls, *values: Any, **named: Any) -> Any:
        pair = super().__call__(*values, **named)
        if not vars(cls).get("_proved"):  # of this very class: a subclass may have changed what was proved
            from tinct.privacy.grid_check import require_suitable

            require_suitable(pair)
        return pair


class SuitablePair(ABC, metaclass=_CheckedWhenMade):
    """Bounds L(a) ≤ Pr[M(v) = y] ≤ U(a) for a neighbour v of a u with Pr[M(u) = y] = a (docs/theory.md §1).

    A notion of privacy of your own is a subclass with the method ``bound``, which is U; every instance is checked on a
    fine grid when it is made (docs/extending/suitable-pair.md).

    ``coordinate`` names the scale on which the propagation kernels follow U with full relative precision at both
    ends of [0, 1]: ``"odds"`` (p/(1 − p)), ``"probit"`` (e^Φ⁻¹(p)), or ``None`` when U is only a function.
    ``step`` holds U's parameters on that scale. Both are for the notions that come with tinct.
    """

    coordinate: str | None = None
    step: tuple[float, float] = (1.0, 0.0)
    _proved: ClassVar[bool] = False  # whether a proof takes the place of the check on a grid
    _symbol: ClassVar[str] = "U"  # what errors call the function that the user has given
    _two_answers: ClassVar[bool] = False  # whether U says all only about tables with two answers

    def bound(self, a: Floats) -> Any:
        """U(a) for every probability of an array: the largest that a neighbour may have."""
        raise NotImplementedError(f"{type(self).__name__} needs a method bound(a), which returns U(a)")

    @cached_property
    def balance(self) -> tuple[float, float]:
        """The fixed point α = U(1 − α), and 1 − α: the fairest pair of truths on a boundary edge."""
        low, high = 0.0, 1.0
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if middle + float(self._upper(np.asarray(middle))) < 1.0 else (low, middle)
        return 1.0 - high, high

    def walk(self, distance: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
        """U^distance(a) and 1 − U^distance(a), each with its own relative precision, where b = 1 − a.

        Here U is applied as often as that, until it no longer moves anything. A subclass may know a closed form.
        """
        steps, start, rest = np.broadcast_arrays(distances(distance), np.asarray(a, np.float64), b)
        value = start.copy()
        for done in range(int(steps.max(initial=0))):
            following = np.where(steps > done, self._upper(value), value)
            if np.array_equal(following, value):
                break
            if done == _MAX_ITERATIONS:
                raise ParameterError(
                    f"distance is too large to iterate this {self._symbol}: still moving after {done:,} steps"
                )
            value = following
        return value, np.minimum(1.0 - value, rest)  # not more than b, also where 1 − value has lost b's digits

    def _upper(self, a: Floats) -> Floats:
        values = in_bulk(self.bound, a, self._symbol)
        # also for what lies between the points of the grid; written so that NaN fails
        if not ((values >= -_RANGE_TOLERANCE) & (values <= 1 + _RANGE_TOLERANCE)).all():
            raise ParameterError(f"{self._refusal}: {self._symbol}(a) must lie in [0, 1] for every a in [0, 1]")
        return np.clip(values, a, 1.0)

    @property
    def _refusal(self) -> str:
        return f"{type(self).__name__} is not a suitable pair"

    def _transition(self, a: Floats) -> Floats:
        steps, value = np.zeros(a.shape), a.copy()
        for _ in range(_MAX_ITERATIONS):
            short = (value < self.balance[1]) & np.isfinite(steps)
            if not short.any():
                return steps
            following = np.where(short, self.walk(1, value, 1.0 - value)[0], value)
            steps = np.where(short, np.where(following > value, steps + 1, np.inf), steps)
            value = following
        raise ParameterError(f"this {self._symbol} moves too slowly: no transition within {_MAX_ITERATIONS:,} steps")

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


def require_answers(pair: SuitablePair, count: int) -> None:
    """Refuse a pair whose U does not decide about tables with that many answers."""
    if pair._two_answers and count > 2:
        raise ParameterError(
            f"{pair!r:.80} is for two answers, got {count}: with more, the probabilities of events do not determine "
            "a divergence, so a table that keeps to U need not keep the bound"
        )


def probabilities(given: ArrayLike, name: str = "a probability") -> Floats:
    """The given numbers as floats in [0, 1]; NaN and anything outside by more than rounding is refused."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError.of(name, "a number in [0, 1]", given) from None
    good = (values >= -_NOISE) & (values <= 1.0 + _NOISE)  # written so that NaN fails
    if not good.all():
        worst = values[~good].flat[0] if values.ndim else values[()]
        raise ParameterError.of(name, "a number in [0, 1]", worst)
    return np.clip(values, 0.0, 1.0)


def in_bulk(function: Callable[[Any], Any], a: Floats, symbol: str) -> Floats:
    """A function of one number or of arrays, at every number of an array."""
    fixed = np.asarray(a).view()
    fixed.flags.writeable = False  # a function that works in place is called for each number instead
    try:
        values = np.asarray(function(fixed), dtype=np.float64)
        if values.shape == a.shape:
            return values
    except ParameterError:
        raise
    except (TypeError, ValueError):  # a function of one number, such as one that uses `if` or `math`
        pass
    try:
        return np.asarray(np.vectorize(function, otypes=[np.float64])(a))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{symbol} must be a function from numbers in [0, 1] to numbers: {error}") from None


def distances(given: ArrayLike) -> NDArray[np.int64]:
    """The given whole numbers from 0 to 10^18 as integers."""
    values = np.asarray(given)
    if values.dtype.kind not in "iu" or not ((values >= 0) & (values <= MAX_DISTANCE)).all():
        raise ParameterError.of("distance", "a whole number from 0 to 10^18", given)
    return values.astype(np.int64)


def _like(values: Floats, *given: ArrayLike) -> float | Floats:
    """A plain float when every argument was a plain number, else the array."""
    return float(values) if all(np.ndim(argument) == 0 for argument in given) else values
