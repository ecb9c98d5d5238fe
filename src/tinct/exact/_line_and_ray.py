"""Certificates for questions about any number of people: a stretch of a line whose ends stand for all beyond.

A yes/no question whose datasets map to the line by their distance to the boundary needs only the line's table
(docs/theory.md §3). On the grid the probabilities stop changing after finitely many steps, so the table is finite,
and clamping a position to it is a morphism: ten people or ten billion, the same certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.exact.certified import Certified
from tinct.exact.grid import DEFAULT_BITS, GridPair, terms_of, units
from tinct.numbers.amounts import rational

if TYPE_CHECKING:
    from tinct.numbers.amounts import NumberLike
    from tinct.privacy import Privacy

MAX_STEPS = 1 << 18  # of each colour; beyond that a table would grow without people noticing a difference


def line(
    privacy: Privacy,
    outputs: tuple[Any, Any] = ("yes", "no"),
    *,
    lean: NumberLike | None = None,
    bits: int = DEFAULT_BITS,
) -> Certified:
    """The fair optimum of the grid for positions on a line: 0, 1, 2, … have the first answer, −1, −2, … the second.

    Args:
        privacy: ε and δ between neighbouring positions.
        outputs: The answers.
        lean: The probability of the truth at position 0, where the first answer is just true; position −1 gets
            the most that leaves. Without it both are the same.
        bits: Each row has 2^bits units.

    >>> from tinct import Privacy
    >>> small = line(Privacy("ln 2"), bits=10)
    >>> small.vertices, small.rows[small.vertices.index(0)], small.rows[small.vertices.index(-1)]
    (range(-10, 10), [682, 342], [342, 682])
    """
    pair = GridPair.of(privacy, units(bits))
    if lean is None:
        here = there = pair.balance()
    else:
        here, there = _leaning(pair, lean)
    yes, no = _climb(pair, here), _climb(pair, there)
    rows = [[pair.total - at, at] for at in reversed(no)] + [[at, pair.total - at] for at in yes]
    return _on_line(privacy, pair, outputs, rows, -len(no))


def ray(privacy: Privacy, outputs: tuple[Any, Any] = ("yes", "no"), *, bits: int = DEFAULT_BITS) -> Certified:
    """Partition selection: no private mechanism that never says the first answer at 0 says it more often anywhere.

    >>> from tinct import Privacy
    >>> [row[0] for row in ray(Privacy("ln 2", "1/16"), bits=8).rows]
    [0, 16, 48, 112, 192, 232, 252, 256]
    """
    pair = GridPair.of(privacy, units(bits))
    if pair.shift == 0:
        raise ParameterError.of(
            "delta", "at least one unit", ..., ": without it, what cannot happen at 0 can happen nowhere"
        )
    return _on_line(privacy, pair, outputs, [[at, pair.total - at] for at in _climb(pair, 0)], 0)


def _leaning(pair: GridPair, lean: NumberLike) -> tuple[int, int]:
    wanted = rational(lean, "lean")
    if not 0 < wanted < 1:
        raise ParameterError.of("lean", "a probability above 0 and below 1", lean)
    here = round(wanted * pair.total)
    if not 0 < here < pair.total:
        raise ParameterError.of("lean", f"further from 0 and 1 than half a unit, 1/{2 * pair.total}", lean)
    return here, pair.upper(pair.total - here)


def _climb(pair: GridPair, start: int) -> list[int]:
    steps = [start]
    while len(steps) < MAX_STEPS and (following := pair.upper(steps[-1])) != steps[-1]:
        steps.append(following)
    return steps


def _on_line(
    privacy: Privacy, pair: GridPair, outputs: tuple[Any, Any], rows: list[list[int]], start: int
) -> Certified:
    steps = np.arange(len(rows), dtype=np.int32)
    ends = np.stack([steps[:-1], steps[1:]], axis=1)
    return Certified(
        range(start, start + len(rows)), tuple(outputs), np.array(rows, object), pair.total, ends,
        np.zeros(len(ends), np.int32), terms_of([privacy], [pair]), clamped=True,
    )  # fmt: skip
