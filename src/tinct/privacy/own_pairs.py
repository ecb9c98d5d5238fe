"""A notion of privacy of one's own without a class: from a function, or from a table of points, which has a file."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import json_text, read_text, strict_json, suffix_of, write_atomically
from tinct._files._strict_json import require_fields, require_schema
from tinct.errors import FileError, ParameterError
from tinct.numbers.amounts import fraction_text, rational
from tinct.privacy.suitable_pairs import SuitablePair, in_bulk, probabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from tinct._files import FilePath
    from tinct.numbers.amounts import NumberLike
    from tinct.privacy.suitable_pairs import Floats

    Points = tuple[tuple[Fraction, Fraction], ...]

SCHEMA = "tinct/suitable-pair@1"
MAX_POINTS = 10_000
_MAX_FILE = 2**26
_MARGIN = Fraction(1, 10**12)  # of every probability: more than a float function is off by


@dataclass(frozen=True, init=False, repr=False)
class FunctionPair(SuitablePair):
    """A suitable pair from its U, a function of one number or of arrays; checked on a fine grid.

    >>> FunctionPair(lambda a: 4 * a / (1 + 3 * a), name="odds by 4").upper(0.5)
    0.8
    """

    function: Callable[[Any], Any]
    name: str

    def __init__(self, function: Callable[[Any], Any], *, name: str = "") -> None:
        if not callable(function):
            raise ParameterError.of("function", "a function from numbers in [0, 1] to numbers", function)
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", _checked_name(name))

    def __repr__(self) -> str:
        return f"<FunctionPair: {self.name or getattr(self.function, '__name__', 'U')}>"

    def bound(self, a: Floats) -> Floats:
        """U(a)."""
        return in_bulk(self.function, a, self._symbol)

    @property
    def _refusal(self) -> str:
        return f"{self.name or 'the function'} is not a suitable pair"


@dataclass(frozen=True, init=False, repr=False)
class TabulatedPair(SuitablePair):
    """A suitable pair from points (a, U(a)), with straight lines between them, kept and checked as exact rationals.

    The points run from a = 0 to a = 1. Numbers may be Fractions or text such as ``"1/3"``; a float stands for the
    decimal that it prints as. All laws of a suitable pair are decided at the points in exact arithmetic: for straight
    lines that is a proof (docs/proofs/tabulated.md).

    >>> pair = TabulatedPair([(0, 0), ("1/3", "2/3"), (1, 1)])
    >>> pair.upper([0.25, 0.5])
    array([0.5 , 0.75])
    """

    points: Points
    name: str

    _proved = True

    def __init__(self, points: Iterable[Sequence[NumberLike]], *, name: str = "") -> None:
        found = _exact_points(points)
        object.__setattr__(self, "name", _checked_name(name))
        _Laws(found, name or "the table").check()
        object.__setattr__(self, "points", found)

    def __repr__(self) -> str:
        return f"<TabulatedPair: {self.name + ', ' if self.name else ''}{len(self.points):,} points>"

    @cached_property
    def _corners(self) -> Floats:
        return np.array([(float(a), float(u)) for a, u in self.points]).T

    def bound(self, a: Floats) -> Floats:
        """U(a)."""
        return np.interp(a, *self._corners)

    def exact_upper(self, a: Fraction) -> Fraction:
        """U(a) without rounding."""
        return interpolated(self.points, a)

    @classmethod
    def below(cls, pair: SuitablePair, places: ArrayLike | int = 64, *, name: str = "") -> TabulatedPair:
        """A tabulated pair below another one, through points of it: what keeps to the table keeps to the other.

        Args:
            pair: Any suitable pair with a concave U.
            places: Probabilities at which U is taken, or how many of them; each also gives the point that mirrors it.
            name: What errors and files call it.

        Every point is lowered by 10⁻¹² of itself and of its complement, more than rounding. Chords of a concave U
        lie below it.

        >>> from tinct import GaussianDP
        >>> table = TabulatedPair.below(GaussianDP(1), 200)
        >>> 0 < GaussianDP(1).upper(0.3) - table.upper(0.3) < 1e-3
        True
        """
        if not isinstance(pair, SuitablePair):
            raise ParameterError(f"pair must be a suitable pair, got {pair!r:.80}")
        probed = _probed(pair, places)
        uppers = np.asarray(pair.walk(1, probed, 1.0 - probed)[0])
        corners = {(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))}
        for a, u in zip(map(Fraction, probed.tolist()), map(Fraction, uppers.tolist()), strict=True):
            lowered = max(a, u - _MARGIN * min(u, 1 - a))
            corners |= {(a, lowered), (1 - lowered, 1 - a)}
        return cls(_hull(corners), name=name)

    def to_json(self, path: FilePath) -> None:
        """Write the points, exact, as text (docs/files.md)."""
        suffix_of(path, (".json",))
        fields = {
            "schema": SCHEMA,
            "name": self.name,
            "points": [[*map(fraction_text, point)] for point in self.points],
        }
        write_atomically(path, json_text(fields))

    @classmethod
    def from_json(cls, path: FilePath) -> TabulatedPair:
        """Read and check a table of points; whatever is odd about the file is a FileError."""
        suffix_of(path, (".json",))
        document = strict_json(read_text(path, _MAX_FILE), path)
        require_schema(document, path, SCHEMA)
        require_fields(document, path, "the pair", required=("schema", "name", "points"))
        points = document["points"]
        good = isinstance(points, list) and all(
            isinstance(point, list) and len(point) == 2 and all(isinstance(part, str) for part in point)
            for point in points
        )
        if not good:
            raise FileError('points must be a list of pairs of numbers as text, such as ["0","1/10"]', path=path)
        try:
            return cls(points, name=document["name"])
        except ParameterError as error:
            raise FileError(str(error), path=path) from None


def interpolated(points: Sequence[tuple[Fraction, Fraction]], a: Fraction) -> Fraction:
    """The value at ``a`` of the line through points that are ordered by their first numbers."""
    low, high = 0, len(points) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if points[middle][0] <= a else (low, middle)
    (x, y), (to_x, to_y) = points[low], points[high]
    return y + (to_y - y) * (a - x) / (to_x - x)


class _Laws:
    """The laws of a suitable pair for straight lines between points, decided exactly."""

    def __init__(self, points: Points, name: str) -> None:
        self.points, self.name = points, name

    def check(self) -> None:
        points = self.points
        for at, (a, u) in enumerate(points):
            self._require(0 <= u <= 1, "U(a) must lie in [0, 1]", at)
            self._require(u >= a, "U(a) must be at least a", at)
        for at in range(1, len(points)):
            self._require(points[at][1] >= points[at - 1][1], "U must not decrease", at)
        slopes = [(v - u) / (b - a) for (a, u), (b, v) in pairwise(points)]
        for at, (left, right) in enumerate(pairwise(slopes), start=1):
            self._require(left >= right, "U must be concave", at)
        for at, (a, u) in enumerate(points):
            back = interpolated(points, 1 - u)
            law = "U(1 − U(a)) must be at least 1 − a, so that both answers are bounded alike"
            self._require(
                back >= 1 - a, law, at, f": U({_brief(1 - u)}) is {_brief(back)}, and 1 − a is {_brief(1 - a)}"
            )

    def _require(self, law: bool, text: str, at: int, more: str = "") -> None:
        if not law:
            a, u = self.points[at]
            place = f"at points[{at}], a = {_brief(a)}, it is {_brief(u)}"
            raise ParameterError(f"{self.name} is not a suitable pair: {text}; {place}{more}")


def _exact_points(given: Iterable[Sequence[NumberLike]]) -> Points:
    try:
        listed = [tuple(point) for point in given]
    except TypeError:
        raise ParameterError.of("points", "a list of pairs (a, U(a))", given) from None
    if not 2 <= len(listed) <= MAX_POINTS:
        raise ParameterError(f"points must be from 2 to {MAX_POINTS:,}, got {len(listed):,}")
    found = []
    for at, point in enumerate(listed):
        if len(point) != 2:
            raise ParameterError(f"points[{at}] must be a pair (a, U(a)), got {point!r:.80}")
        found.append((_exact(point[0], f"points[{at}]: a"), _exact(point[1], f"points[{at}]: U(a)")))
    if found[0][0] != 0 or found[-1][0] != 1:
        ends = f"{_brief(found[0][0])} to {_brief(found[-1][0])}"
        raise ParameterError(f"points must run from a = 0 to a = 1, got {ends}")
    for at, ((before, _), (after, _)) in enumerate(pairwise(found), start=1):
        if before >= after:
            raise ParameterError(
                f"points must be ordered by a: points[{at}] has {_brief(after)} after {_brief(before)}"
            )
    return tuple(found)


def _exact(given: NumberLike, name: str) -> Fraction:
    """A number without rounding; a float is taken as the decimal that it prints as."""
    if isinstance(given, float) and np.isfinite(given):
        return Fraction(repr(float(given)))
    return rational(given, name)


def _probed(pair: SuitablePair, places: ArrayLike | int) -> Floats:
    if isinstance(places, int) and not isinstance(places, bool):
        if not 1 <= places <= MAX_POINTS // 3:
            raise ParameterError.of("places", f"a whole number from 1 to {MAX_POINTS // 3}, or probabilities", places)
        # evenly on the log-odds scale up to the balance; what is beyond mirrors what is before
        end = max(pair.balance[1], 1e-15)
        odds = np.linspace(np.log(1e-15), np.log(end) - np.log1p(-end) if end < 1 else 0.0, places)
        return np.append(1.0 / (1.0 + np.exp(-odds)), 0.0)
    found = np.unique(probabilities(places, "places"))
    if not 1 <= len(found) <= MAX_POINTS // 3:
        raise ParameterError(f"places must be from 1 to {MAX_POINTS // 3:,} probabilities, got {len(found):,}")
    return found


def _hull(corners: Iterable[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The corners of the least concave function above the points."""
    highest: dict[Fraction, Fraction] = {}
    for a, u in corners:
        highest[a] = max(u, highest.get(a, u))
    kept: list[tuple[Fraction, Fraction]] = []
    for a, u in sorted(highest.items()):
        while len(kept) > 1:
            (x, y), (between, v) = kept[-2:]
            if (v - y) * (a - x) > (u - y) * (between - x):
                break
            kept.pop()
        kept.append((a, u))
    return kept


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or len(name) > 200 or not name.isprintable():
        raise ParameterError.of("name", "a text of at most 200 printable characters", name)
    return name


def _brief(value: Fraction) -> str:
    text = fraction_text(value)
    return text if len(text) <= 24 else f"about {float(value):.12g}"
