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


# is a function that somebody wrote a suitable pair? A look at a fine grid, which is no proof (docs/theory.md §1)


TOLERANCE = 1e-9
_NEAR = np.logspace(-16, -4, 193)  # to 0 and to 1
_GRID = np.unique(
    np.concatenate(
        [
            np.linspace(0.0, 1.0, 4097),
            np.modf(np.arange(1, 1001) * ((np.sqrt(5.0) - 1) / 2))[0],  # nowhere near round numbers
            np.logspace(-300, -16, 285),
            _NEAR,
            1 - _NEAR,
        ]
    )
)
_SOME = _GRID[:: len(_GRID) // 200]  # for what would take long everywhere
_EACH = np.arange(len(_GRID))
_SHUFFLED = np.argsort(_EACH * 0.6180339887498949 % 1.0)  # in another order than any that a function may rely on
_DISTANCES = (0, 1, 2, 3, 8)
_FAR = 64

# by what the user has given: U itself, or f = 1 − U
_LAWS = {
    "U": {
        "range": "U(a) must lie in [0, 1]",
        "above": "U(a) must be at least a",
        "monotone": "U must not decrease",
        "symmetric": "U(1 − U(a)) must be at least 1 − a, so that both answers are bounded alike",
        "concave": "U must be concave",
    },
    "f": {
        "range": "f(a) must lie in [0, 1]",
        "above": "f(a) must not exceed 1 − a",
        "monotone": "f must not increase",
        "symmetric": "f must be symmetric, its own inverse: f(f(a)) = min(a, f(0))",
        "concave": "f must be convex",
    },
}


def require_suitable(pair: SuitablePair) -> None:
    """Refuse a pair that breaks a law at a point of the grid by more than 10⁻⁹, and say which law and where."""
    if pair.coordinate is not None:
        raise ParameterError(
            f"{type(pair).__name__}: coordinate is for the notions of privacy that come with tinct, whose search does "
            "not call U: derive from SuitablePair and leave it out"
        )
    check = _Check(pair)
    check.function()
    check.methods()


class _Check:
    def __init__(self, pair: SuitablePair) -> None:
        self.pair = pair
        self.laws = _LAWS[pair._symbol]

    def function(self) -> None:
        """The laws of U itself."""
        grid, values = _GRID, self._bound(_GRID)
        inside = (values >= -TOLERANCE) & (values <= 1 + TOLERANCE)  # written so that NaN fails
        self._require(np.where(inside, 0.0, np.inf), "range", values)
        self._alone(values)
        values = np.clip(values, 0.0, 1.0)
        self._require(grid - values, "above", values)
        self._require(np.maximum.accumulate(values) - values, "monotone", values)
        # a little to the right, so that rounding is forgiven also where U is steep
        back = np.clip(self._bound(np.minimum(1.0, 1 - values + TOLERANCE)), 0.0, 1.0)
        self._require(1 - grid - back, "symmetric", back)
        self._require(_concave_hull(grid, values) - values, "concave", values)

    def _alone(self, values: Floats) -> None:
        """In an array each number has to be treated as if it were alone."""
        one_by_one = [self._bound(np.asarray(a)) for a in _SOME[::10]]
        law = f"{self.pair._symbol}(a) must not depend on the other numbers of an array, nor on their order"
        for order, found in (
            (_EACH[:: len(_GRID) // 200][::10], np.array(one_by_one)),
            (_EACH[::-1], self._bound(_GRID[::-1])),
            (_SHUFFLED, self._bound(_GRID[_SHUFFLED])),
        ):
            shown = (found, values[order]) if self.pair._symbol == "U" else (1 - found, 1 - values[order])
            self._agree(np.abs(found - values[order]), law, _GRID[order], *shown)

    def methods(self) -> None:
        """What a pair does in its own way, by its class or by itself, has to agree with U."""
        pair, some = self.pair, _SOME
        own_transition = self._has_own("transition") or self._has_own("_transition")
        reached = {0: some}
        for step in range(1, (_FAR if own_transition else max(_DISTANCES)) + 1):
            reached[step] = np.clip(self._bound(reached[step - 1]), reached[step - 1], 1.0)
        lower = 1 - np.clip(self._bound(1 - some), 1 - some, 1.0)
        with np.errstate(all="ignore"):
            self._equal("upper(a) must be U(a)", pair.upper(some), reached[1])
            self._equal("lower(a) must be 1 − U(1 − a)", pair.lower(some), lower)
            for distance in _DISTANCES:
                times = f"U applied {distance} times"
                right, wrong = pair.walk(distance, some, 1 - some)
                self._equal(f"walk({distance}, a, 1 − a) must begin with {times}", right, reached[distance])
                self._equal(f"walk({distance}, a, 1 − a) must end with 1 less {times}", wrong, 1 - reached[distance])
                self._equal(f"reach({distance}, a) must be {times}", pair.reach(distance, some), reached[distance])
            self._equal("_upper(a) must be U(a)", pair._upper(some), reached[1])
            alpha, beta = pair.balance
            low, high = self._bound(np.array([max(0.0, beta - TOLERANCE), min(1.0, beta + TOLERANCE)]))
            gap = max(abs(alpha + beta - 1), low - alpha, alpha - high)
            self._agree([gap], "balance must be (α, 1 − α) with α = U(1 − α)", [beta], [alpha])
            if own_transition:  # else it could take millions of steps, each of which was looked at above
                self._transition(reached)

    def _transition(self, reached: dict[int, Floats]) -> None:
        found = np.asarray(self.pair.transition(_SOME), np.float64)
        goal = self.pair.balance[1]
        for at, (a, steps) in enumerate(zip(_SOME.tolist(), found.tolist(), strict=True)):
            whole = steps >= 0 and (steps == np.inf or steps == int(steps))
            near = min(steps, _FAR) if whole else 0
            arrived = reached[int(near)][at] >= goal - TOLERANCE or steps > _FAR
            early = near == 0 or reached[int(near) - (steps <= _FAR)][at] < goal + TOLERANCE
            law = "transition(a) must be the first number of steps after which U^d(a) is at least 1 − α"
            self._agree([0.0 if whole and arrived and early else 1.0], law, [a], [steps])

    def _bound(self, a: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return in_bulk(self.pair.bound, a, self.pair._symbol)

    def _has_own(self, name: str) -> bool:
        """Whether a method is not that of SuitablePair, be it of a class or of this one object."""
        return getattr(getattr(self.pair, name), "__func__", None) is not getattr(SuitablePair, name)

    def _equal(self, law: str, found: Any, wanted: Floats) -> None:
        values = np.asarray(found, np.float64)
        if values.shape != wanted.shape:
            raise ParameterError(f"{self.pair._refusal}: {law}, for each a of an array")
        self._agree(np.abs(values - wanted), law, _SOME, values, wanted)

    def _require(self, gaps: Floats, law: str, values: Floats) -> None:
        self._agree(gaps, self.laws[law], _GRID, values if self.pair._symbol == "U" else 1 - values)

    def _agree(self, gaps: Any, law: str, places: Any, values: Any, wanted: Any = None) -> None:
        """Refuse if a gap is larger than rounding, at the place where it is largest."""
        gaps = np.nan_to_num(gaps, nan=np.inf)
        at = int(np.argmax(gaps))
        if gaps[at] > TOLERANCE:
            instead = "" if wanted is None else f" instead of {wanted[at]:.6g}"
            raise ParameterError(
                f"{self.pair._refusal}: {law}; at a = {places[at]:.6g} it is {values[at]:.6g}{instead}"
            )


def _concave_hull(places: Floats, values: Floats) -> Floats:
    """The least concave function above the points, at the points."""
    xs, ys, kept = places.tolist(), values.tolist(), [0, 1]
    for at in range(2, len(xs)):
        while len(kept) > 1:
            a, b = kept[-2:]
            if (ys[b] - ys[a]) * (xs[at] - xs[a]) > (ys[at] - ys[a]) * (xs[b] - xs[a]):
                break
            kept.pop()
        kept.append(at)
    return np.interp(places, places[kept], values[kept])
