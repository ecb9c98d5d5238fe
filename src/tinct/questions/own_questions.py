"""A yes/no question that somebody wrote: its positions, compared with distances that are found by search.

An answer is as private as its position is stable: one person may move it by one step only. What the author's formula
says is therefore looked at before a question is asked: at every small dataset, at large ones, and wherever the
answer is found to change. That is no proof for all counts, and the page docs/extending/question.md says so.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, TinctError, without_details
from tinct.questions.counts import Categories, Condition
from tinct.questions.positions import MAX_COUNT, capped, require_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from tinct.errors import Result
    from tinct.questions.counts import Counts
    from tinct.questions.questions import YesNo

    Point = tuple[int, ...]

MAX_CLASSES = 8
_SMALL = 4000  # so many small datasets are looked at one by one
_ROUND = (0, 1, 2, 5, 10, 30, 100, 1000, 10**4, 10**6, 10**9, 10**12)
_RESTS = (0, 1, 10, 1000, 10**6)  # in all other classes, while one of them grows
_GROWTH = 1.08
_RADIUS = 6
_CROSSINGS = 40  # at least so many places where the answer changes are looked at,
_NEAR = 20_000  # and more of them while they have no more datasets around them
_NUMBERS = 200  # of a question's own; no more are looked at, nor of any of its parts
_COMBINED = 12  # so many of them for all classes at once


@dataclass(frozen=True)
class OwnLine:
    """The datasets of a question of one's own on the line of their signed distances to the boundary.

    ``certain`` is the answer, if every dataset of a public number of rows was looked at and has it.
    """

    question: YesNo
    neighbors: str
    n: int | None
    certain: bool | None
    selection: bool = False

    @classmethod
    def of(cls, question: YesNo, neighbors: str, n: int | None) -> OwnLine:
        """The line, if the question says of every dataset that is looked at where it lies."""
        _require_written(question)
        return cls(question, neighbors, n, _Search(question, neighbors, n).run())

    def truth(self, counts: Counts) -> bool:
        """The true answer. It is secret."""
        return self._of_secret(lambda: _truth(self.question.truth(self._classes(counts.classes))))

    def position(self, counts: Counts) -> int:
        """Where the dataset lies, as ``Line.position`` says it. It is secret."""
        require_counts(counts, self.question.counted.size)
        return self._position(counts.classes)

    def positions(self, classes: Any) -> NDArray[Any]:
        """The positions of many groups: one for each row of an array."""
        return np.array([self._position(tuple(row)) for row in np.asarray(classes).tolist()], dtype=np.int64)

    def _position(self, classes: Point) -> int:
        counts = self._classes(classes)
        found = self._of_secret(lambda: _whole(self.question.position(counts, self.neighbors, self.n)))
        return max(-MAX_COUNT, min(found, MAX_COUNT))

    def _of_secret(self, work: Callable[[], Result]) -> Result:
        return without_details(work, TinctError(f"{_name(self.question)} does not say where these data lie"))

    def _classes(self, classes: Point) -> Point:
        return classes if self.n is None else tuple(capped(classes, self.n))


class _Search:
    """What a question says about datasets, each asked for once."""

    def __init__(self, question: YesNo, neighbors: str, n: int | None) -> None:
        self.question, self.neighbors, self.n = question, neighbors, n
        counted = question.counted
        if not isinstance(counted, Condition | Categories):
            raise ParameterError(f"{_name(question)}.counted must be a Condition or Categories, got {counted!r:.80}")
        self.size = counted.size
        if self.size > MAX_CLASSES:
            raise ParameterError(
                f"{_name(question)} counts {self.size} classes: positions can be checked for {MAX_CLASSES}"
            )
        self.limit = MAX_COUNT // 10 if n is None else n
        self.own = _own_numbers(question)
        self._known: dict[tuple[Point, int | None], tuple[bool, int]] = {}

    def run(self) -> bool | None:
        """Look at small datasets, large ones and the boundary; return the answer if there is only one."""
        if self.n is None:
            self._small_box()
        elif self._small_simplex() == self.n:  # that was every dataset there is
            return None if self._known else self._truth((0,) * self.size)
        for point in self._large():
            self._near(point, 1)
        crossings = list(dict.fromkeys(self._crossings()))
        radius = _RADIUS if self.size <= 2 else 2
        most = max(_CROSSINGS, _NEAR // (2 * radius * (radius + 1) if self.size <= 2 else _NEAR))
        for point in crossings[:: -(-len(crossings) // most) or 1]:
            self._near(point, radius)
        return None

    def _small_box(self) -> None:
        """Every dataset with few rows in each class."""
        most = 1
        while (most + 2) ** self.size <= _SMALL:
            most += 1
        box = itertools.product(range(most + 1), repeat=self.size)
        self._compare({point: most - max(point) for point in box}, None)

    def _small_simplex(self) -> int:
        """Every dataset of a small number of people, which is returned; that of n, if it is small."""
        people = 0
        while people < (self.n or 0) and math.comb(people + 1 + self.size, self.size) <= _SMALL:
            people += 1
        whole = [point for point in itertools.product(range(people + 1), repeat=self.size) if sum(point) <= people]
        if len({self._truth(point) for point in whole}) == 2:  # else there is no boundary to be near to
            self._compare(dict.fromkeys(whole, people + 1), people)
        return people

    def _large(self) -> Iterator[Point]:
        """Round numbers, those that the question itself has, and combinations of them."""
        own = self._beside(self.own[:_COMBINED])
        if self.size <= 2:
            values = self._possible({*_ROUND, *own, self.limit})
            found = itertools.product(values, repeat=self.size)
            yield from (point for point in found if self.n is None or sum(point) <= self.n)
        else:
            for axis in range(self.size):
                yield from self._one_class(axis, {*_ROUND, *own, self.limit}, (0, 10, 1000))

    def _growing(self, axis: int) -> Iterator[Point]:
        """One class in small steps up to the largest count, and through all the question's own numbers."""
        steps = {math.ceil(_GROWTH**power) for power in range(1 + int(math.log(self.limit + 1, _GROWTH)))}
        rests = self._possible({*_RESTS, *self.own[:_COMBINED], self.limit // 2})
        yield from self._one_class(axis, {*steps, *self._beside(self.own), self.limit}, rests)

    def _one_class(self, axis: int, values: Iterable[int], rests: Iterable[int]) -> Iterator[Point]:
        for value, rest in itertools.product(self._possible(values), rests):
            point = (*([rest] * axis), value, *([rest] * (self.size - axis - 1)))
            if self.n is None or sum(point) <= self.n:
                yield point

    def _beside(self, values: list[int]) -> set[int]:
        return {value + by for value in values for by in (-1, 0, 1)}

    def _possible(self, values: Iterable[int]) -> list[int]:
        return sorted({value for value in values if 0 <= value <= self.limit})

    def _crossings(self) -> Iterator[Point]:
        """Datasets beside which the answer changes, or a position moves too fast, found by halving."""
        large = list(self._large())
        for axis in range(self.size):
            lines: dict[Point, list[Point]] = {}
            for point in (*large, *self._growing(axis)):
                lines.setdefault((*point[:axis], *point[axis + 1 :]), []).append(point)
            for line in lines.values():
                for low, high in itertools.pairwise(sorted(set(line))):
                    if self._differ(low, high, axis):
                        yield self._halved(low, high, axis)

    def _halved(self, low: Point, high: Point, axis: int) -> Point:
        while high[axis] - low[axis] > 1:
            middle = (*low[:axis], (low[axis] + high[axis]) // 2, *low[axis + 1 :])
            low, high = (low, middle) if self._differ(low, middle, axis) else (middle, high)
        return low

    def _differ(self, low: Point, high: Point, axis: int) -> bool:
        (one, here), (other, there) = self._at(low, self.n), self._at(high, self.n)
        return one != other or abs(here - there) > high[axis] - low[axis]

    def _near(self, center: Point, radius: int) -> None:
        """Compare all datasets at most so many steps away."""
        room = {center: radius}
        edge = [center]
        for left in range(radius - 1, -1, -1):
            edge = [point for each in edge for point in self._steps(each, self.n) if point not in room]
            room.update(dict.fromkeys(edge, left))
            edge = list(dict.fromkeys(edge))
        self._compare(room, self.n)

    def _compare(self, room: dict[Point, int], n: int | None) -> None:
        """Compare positions with distances; from a dataset so many steps, its ``room``, stay among those given."""
        beside = {point: [step for step in self._steps(point, n) if step in room] for point in room}
        distance: dict[Point, int] = {}
        for point, steps in beside.items():
            truth, position = self._at(point, n)
            if truth != (position >= 0):
                raise self._wrong(
                    point, n, f"is a {_word(truth)} and lies at {position}: yes lies at 0 or above, no below"
                )
            for step in steps:
                other, there = self._at(step, n)
                if other != truth:
                    distance[point] = 1
                if abs(position - there) > 1:
                    raise self._wrong(
                        point, n,
                        f"lies at {position} and its neighbour {step} at {there}: one person may move a dataset by one "
                        "step only, or the answer is not private",
                    )  # fmt: skip
        edge = list(distance)
        while edge:
            following = dict.fromkeys(step for point in edge for step in beside[point] if step not in distance)
            distance.update(dict.fromkeys(following, distance[edge[0]] + 1))
            edge = list(following)
        for point, seen in room.items():
            _, position = self._at(point, n)
            claimed, found = position + 1 if position >= 0 else -position, distance.get(point, math.inf)
            if min(claimed, seen + 1) != min(found, seen + 1) and (claimed <= seen or found <= seen):
                away = f"is {found} steps away" if found <= seen else f"is more than {seen} steps away"
                raise self._wrong(
                    point, n, f"lies at {position}, but the nearest dataset with the other answer {away}: the position "
                    "must be that number less 1 for a yes, and its negative for a no",
                )  # fmt: skip

    def _steps(self, point: Point, n: int | None) -> list[Point]:
        """The neighbours of a dataset."""
        everybody = point if n is None else (*point, n - sum(point))
        found = []
        for at, count in enumerate(everybody):
            if n is None:
                found.append((*point[:at], count + 1, *point[at + 1 :]))
                if count:
                    found.append((*point[:at], count - 1, *point[at + 1 :]))
            elif count:
                for to in range(len(everybody)):
                    if to != at:
                        moved = list(everybody)
                        moved[at], moved[to] = count - 1, moved[to] + 1
                        found.append(tuple(moved[:-1]))
        return found

    def _at(self, point: Point, n: int | None) -> tuple[bool, int]:
        if (point, n) not in self._known:
            try:
                position = _whole(self.question.position(point, self.neighbors, n))
            except Exception as error:  # these counts are invented, so whatever is said of them is public
                raise self._wrong(point, n, f"gives {type(error).__name__}: {error!s:.200}") from None
            self._known[point, n] = self._truth(point), position
        return self._known[point, n]

    def _truth(self, point: Point) -> bool:
        try:
            return _truth(self.question.truth(point))
        except Exception as error:  # as above
            raise self._wrong(point, None, f"gives {type(error).__name__}: {error!s:.200}") from None

    def _wrong(self, point: Point, n: int | None, problem: str) -> ParameterError:
        of = "" if n is None else f" of {n} people"
        return ParameterError(
            f"{_name(self.question)} cannot be asked with neighbors={str(self.neighbors)!r}: the dataset {point}{of} "
            f"{problem}"
        )


def _require_written(question: YesNo) -> None:
    """The text of a question stands for it in ledgers and certificates, so it must not be that of another."""
    from tinct.questions.grammar import parse  # which needs the questions

    text = str(question)
    try:
        parse(text)
    except ParameterError:
        if text.strip() and text.isprintable() and " object at 0x" not in text:
            return
        raise ParameterError(f"{_name(question)}: str(question) must be one line that says what is asked") from None
    raise ParameterError(f"{_name(question)}: str(question) is {text!r:.80}, which is another question: rename it")


def _own_numbers(question: YesNo) -> list[int]:
    """The numbers in a question's fields, its class and its methods, rounded down and up."""
    from tinct.questions.questions import YesNo  # which needs this module

    parts = [value for name in _attributes(question) if (value := getattr(question, name, None)) is not None]
    for kind in type(question).__mro__:
        if kind is YesNo:
            break
        parts += [value for name, value in vars(kind).items() if name not in ("__firstlineno__", "__slots__")]
    found: dict[int, None] = {}
    for _ in range(10 * _NUMBERS):
        if not parts or len(found) >= _NUMBERS:
            break
        part = parts.pop(0)
        if isinstance(part, Real | Decimal | np.number) and not isinstance(part, bool | np.bool_):
            if math.isfinite(part):
                found.update(dict.fromkeys((math.floor(part), math.ceil(part))))
        elif isinstance(part, FunctionType):
            parts += [*part.__code__.co_consts, *(part.__defaults__ or ())][:_NUMBERS]
            with suppress(ValueError):  # of a name that has no value yet
                around = inspect.getclosurevars(part)
                parts += [around.nonlocals, around.globals]
        elif isinstance(part, property):
            parts.append(part.fget)
        elif isinstance(part, Mapping):
            parts += [*itertools.islice(itertools.chain(part.values(), part.keys()), _NUMBERS)]
        elif isinstance(part, list | tuple | set | frozenset | range | np.ndarray):
            parts += itertools.islice(part, _NUMBERS)
        elif not isinstance(part, type | ModuleType | str):
            parts += [getattr(part, name, None) for name in _attributes(part)][:_NUMBERS]
    return list(found)


def _attributes(thing: Any) -> list[str]:
    """The names of what an object holds, in slots or not."""
    slots = [getattr(kind, "__slots__", ()) for kind in type(thing).__mro__]
    in_slots = [name for each in slots for name in ([each] if isinstance(each, str) else each)]
    return list(dict.fromkeys([*in_slots, *getattr(thing, "__dict__", ())]))


def _name(question: YesNo) -> str:
    return type(question).__name__


def _word(truth: bool) -> str:
    return "yes" if truth else "no"


def _truth(given: Any) -> bool:
    if not isinstance(given, bool | np.bool_):
        raise ParameterError(f"truth must return True or False, got {given!r:.80}")
    return bool(given)


def _whole(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise ParameterError(f"position must return a whole number, got {type(given).__name__}")
    return int(given)
