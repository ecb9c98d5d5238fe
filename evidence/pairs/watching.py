"""The dice, watched: every draw is recorded with its exact distribution, and comes out as it is told to.

What is replaced is the lowest function that still knows the distribution: the sampler's bisection of a row for
certified tables, and the draw of a mode. Everything before it, from the file to the row, is the library's own.
"""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from zlib import crc32

import numpy as np
import typer.main

from tinct import exact, notebook
from tinct.asking import designs, personal_budgets
from tinct.asking.groups import Groups
from tinct.asking.number_designs import NumberDesign
from tinct.exact import sampler
from tinct.ledger import stored_rows
from tinct.questions.modes import ModeTable, PermuteAndFlip, mode_mechanism
from tinct.questions.noise import TableNoise
from tinct.sources import duckdb_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tinct.questions.noise import Noise

Chances = tuple[Fraction, ...]
_NOBODY: tuple[None] = (None,)
WINDOW = -5, 16  # noisy numbers are cut to it, which whoever sees them could do as well
_TIME = "2026-01-01T00:00:00.000000+00:00"


@dataclass
class Watch:
    """What is drawn, and what is to be drawn.

    Attributes:
        turn: Chooses the answers, together with their group.
        hidden: Groups that are not to be shown; None shows all.
        ledger: The file in which a charge has to be before anything is drawn.
        selected: By group, the distribution of being shown.
        answered: By group, the distribution of the answer; None is the name of the only group there is.
        unpaid: How many draws there were without a charge.
    """

    turn: int = 0
    hidden: frozenset[str] = frozenset()
    ledger: Path | None = None
    selected: dict[str, Chances] = field(default_factory=dict)
    answered: dict[str | None, Chances] = field(default_factory=dict)
    unpaid: int = 0
    _labels: tuple[str | None, ...] = _NOBODY
    _selecting: bool = False
    _turns: int = 0

    def drawn(self, label: str | None, chances: Chances) -> int:
        """The outcome of one draw, recorded."""
        if self.ledger is not None and not _charges(self.ledger):
            self.unpaid += 1
        if self._selecting:
            self.selected[str(label)] = chances
            return 1 if label in self.hidden else 0  # the first outcome is to be shown
        self.answered[label] = chances
        return (crc32(repr(label).encode()) + self.turn) % len(chances)

    def row(self, prefixes: Any, label: str | None) -> int:
        """A draw from a row of prefix sums."""
        sums = [int(each) for each in prefixes]
        units = [after - before for before, after in zip([0, *sums], sums, strict=False)]
        return self.drawn(label, tuple(Fraction(each, sums[-1]) for each in units))

    def one(self, prefixes: Any, _: Any = None) -> int:
        """In place of ``sampler.draw``."""
        return self.row(prefixes, None)

    def many(self, prefixes: Any, rows: Any, _: Any = None) -> Any:
        """In place of ``sampler.draw_many``."""
        labels = self._labels if len(self._labels) == len(rows) else _NOBODY * len(rows)
        drawn = [self.row(prefixes[row], label) for row, label in zip(rows.tolist(), labels, strict=True)]
        return np.array(drawn, np.intp)

    def mode(self, chances: Chances) -> int:
        """In place of the draw of a mode: once, or once for each group in order."""
        label = self._labels[self._turns % len(self._labels)]
        self._turns += 1
        return self.drawn(label, chances)

    def numbers(self, design: NumberDesign, numbers: list[int]) -> list[int]:
        """In place of adding noise: each number on its own, seen through a window that is the same for all data."""
        cells = len(numbers) // len(self._labels)
        found = []
        for at, number in enumerate(numbers):
            label = self._labels[at // cells]
            chances = _in_window(design.noise, number)
            if design.selecting:  # whoever is below 0 is not shown
                shown = sum(chances[-WINDOW[0] :], Fraction(0))
                self.selected[str(label)] = (shown, 1 - shown)
                if label in self.hidden or not shown:
                    found.append(-1)
                    continue
                chances = tuple(chance / shown for chance in chances[-WINDOW[0] :])
                found.append(self.drawn(label, chances))
            else:
                name = label if cells == 1 else f"{label}, {at % cells}"
                found.append(WINDOW[0] + self.drawn(name, chances))
        return found

    def selecting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """``Groups.selected``, with an ear for which groups are being drawn for."""

        def selected(groups: Any, counts: Any) -> Any:
            self._labels, self._selecting = counts.labels, True
            try:
                shown = original(groups, counts)
            finally:
                self._selecting = False
            self._labels, self._turns = shown.labels or _NOBODY, 0
            return shown

        return selected


def _charges(ledger: Path) -> int:
    """How many charges are on the disk, as another process sees it."""
    with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as connection:
        (found,) = connection.execute("SELECT count(*) FROM tinct_entries").fetchone()
    connection.close()
    return int(found)


@contextmanager
def watched(watch: Watch) -> Iterator[Watch]:
    """Nothing is left to chance in here, neither answers nor names nor the time."""
    tokens = iter(range(10**6))
    replaced = (
        (sampler, "draw", watch.one),
        (sampler, "draw_many", watch.many),
        (sampler, "token", lambda: f"{next(tokens):032x}"),
        (ModeTable, "draw", lambda table, counts, _: watch.mode(_weighed(table, counts))),
        (PermuteAndFlip, "draw", lambda rule, counts, _: watch.mode(rule.probabilities(counts))),
        (NumberDesign, "noisy", lambda design, numbers: watch.numbers(design, numbers.tolist())),
        (Groups, "selected", watch.selecting(Groups.selected)),
        (stored_rows, "now", lambda: _TIME),
        (notebook, "_picture", lambda *_: ""),  # of the plan, which is compared as it is, and slow to draw
    )
    with ExitStack() as stack:
        for place, name, other in replaced:
            stack.enter_context(patch.object(place, name, other))
        yield watch


def _in_window(noise: Noise, number: int) -> Chances:
    """The distribution of a number with noise, all that is beyond the window at its ends."""
    beyond = [
        Fraction(1),
        *(_at_least(noise, edge - number) for edge in range(WINDOW[0] + 1, WINDOW[1] + 1)),
        Fraction(0),
    ]
    return tuple(here - after for here, after in pairwise(beyond))


def _at_least(noise: Noise, number: int) -> Fraction:
    """Pr[Z ≥ number], exactly."""
    if isinstance(noise, TableNoise):
        return Fraction(sum(noise.weights[max(0, number - noise.first) :]), noise.total)
    tail = noise.rate ** (number if number > 0 else 1 - number) / (1 + noise.rate)
    return tail if number > 0 else 1 - tail


def _weighed(table: ModeTable, counts: Any) -> Chances:
    return tuple(Fraction(weight, table.total) for weight in table.row(counts))


@contextmanager
def remembered() -> Iterator[None]:
    """Tables that were made and proved before are not made again: they follow from what is public."""
    line, ray, mode, box = exact.line, exact.ray, mode_mechanism, personal_budgets.PersonalBudgets.design
    lines = cache(lambda *key: line(key[0], key[1], lean=key[2]))
    rays = cache(lambda *key: ray(key[0], key[1]))
    modes = cache(lambda k, epsilon, neighbors, n, missing: mode(k, epsilon, neighbors=neighbors, n=n, missing=missing))
    boxes: dict[Any, Any] = {}

    def boxed(asked: Any, progress: Any, lean: Any = None) -> Any:
        key = (str(asked.question), asked.names, asked.sizes, lean)
        if key not in boxes:
            boxes[key] = box(asked, progress, lean)
        return boxes[key]

    answers = ("yes", "no")
    replaced: tuple[tuple[Any, str, Any], ...] = (
        (exact, "line", lambda privacy, outputs=answers, *, lean=None: lines(privacy, outputs, lean)),
        (exact, "ray", lambda privacy, outputs=answers: rays(privacy, outputs)),
        (designs, "mode_mechanism", lambda k, e, *, progress=None, **key: modes(k, e, **key)),  # noqa: ARG005
        (personal_budgets.PersonalBudgets, "design", boxed),
        (typer.main, "get_command", cache(typer.main.get_command)),
        (duckdb_engine.Private, "__init__", _connecting(duckdb_engine.Private.__init__)),
    )
    with ExitStack() as stack:
        stack.enter_context(
            patch.dict(duckdb_engine._SETTINGS, {"threads": "1"})
        )  # more are slow to start, for a few rows
        for place, name, other in replaced:
            stack.enter_context(patch.object(place, name, other))
        yield


def _connecting(original: Callable[..., None]) -> Callable[..., None]:
    """``Private.__init__`` with one engine for all connections that read no file: starting it takes most of the time.

    A connection that reads a file is made anew, since an engine may remember what stood in a file of that name.
    """
    kept: list[duckdb_engine.Private] = []

    def connect(private: duckdb_engine.Private, path: str | None = None) -> None:
        if path is not None:
            original(private, path)
            return
        if not kept or not _is_alive(kept[0].connection):
            first = duckdb_engine.Private.__new__(duckdb_engine.Private)
            original(first)
            kept[:] = [first]
        private.connection = kept[0].connection.cursor()
        private._clean = lambda: None  # type: ignore[assignment] # there is one folder for all

    return connect


def _is_alive(connection: Any) -> bool:
    try:
        connection.execute("SELECT 1").fetchall()
    except Exception:  # an internal error ends an engine for good
        return False
    return True
