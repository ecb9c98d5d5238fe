"""Is a function that somebody wrote a suitable pair? A look at a fine grid, which is no proof (docs/theory.md §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.privacy.suitable_pairs import SuitablePair, in_bulk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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
