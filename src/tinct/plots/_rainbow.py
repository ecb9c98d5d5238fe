"""More than two answers: how a boundary row grows with the distance, prefix sum by prefix sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.plots import style
from tinct.plots.canvas import Canvas, drawing, thinned
from tinct.privacy import SuitablePair
from tinct.rainbow import at_distance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from tinct._files import FilePath

    Floats = NDArray[np.float64]

_SURE = 0.995  # probability of the best answer at which the axis may end
_LONGEST = 10**6
_MARKED = 60
_MOST_ANSWERS = 12


def rainbow(
    privacy: SuitablePair,
    row: ArrayLike,
    *,
    answers: Sequence[Any] | None = None,
    distance: int | None = None,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
) -> Any:
    """Draw the optimal distribution at every distance from a boundary row.

    Left, the probabilities stacked from the best answer up: the lines are the prefix sums, and a dot on each shows
    where it turns from growing exponentially to approaching 1 exponentially. Right, the probability of each answer.

    Args:
        privacy: One privacy for all edges.
        row: The distribution at the boundary, from the best answer to the worst, of 2 to 12 answers.
        answers: Names for the answers, best first; 1, 2, … if left out.
        distance: The largest distance; if left out, where the best answer is nearly certain.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).

    Returns:
        The Matplotlib figure.
    """
    if not isinstance(privacy, SuitablePair):
        raise ParameterError(f"one Privacy for all edges is needed, got {privacy!r:.80}")
    start = at_distance(privacy, row, [0])[0]
    if len(start) > _MOST_ANSWERS:
        raise ParameterError(f"at most {_MOST_ANSWERS} answers can be told apart in one figure, got {len(start)}")
    names = _names(answers, len(start))
    last = _last(privacy, start) if distance is None else _checked(distance)
    steps = thinned(last + 1)
    table = at_distance(privacy, start, steps)
    with drawing(dark=dark, path=path, panels=(1, 2)) as canvas:
        colors = canvas.theme.colors(names)
        draw_stack(canvas, steps, table, colors, turns(privacy, start))
        draw_answers(canvas, steps, table, names, colors, at=1)
        canvas.headline(title or "From the boundary inwards", style.privacy_text(privacy))
    return canvas.figure


def turns(privacy: SuitablePair, row: Floats) -> Floats:
    """The transition τ_k of each prefix sum but the last, which is 1 everywhere."""
    return np.atleast_1d(privacy.transition(np.minimum(np.cumsum(row)[:-1], 1.0)))


def draw_stack(
    canvas: Canvas, steps: NDArray[Any], table: Floats, colors: list[str], transitions: Floats, *, at: int = 0
) -> None:
    """Probabilities stacked by preference, with the prefix sums as lines and their transitions as dots."""
    axes, sums = canvas.axes[at], np.cumsum(table, axis=1)
    below = np.zeros(len(steps))
    marks: list[tuple[int, float, float, str]] = []
    for k, color in enumerate(colors):
        top = np.minimum(sums[:, k], 1.0)
        axes.fill_between(steps, below, top, color=color, alpha=0.30, linewidth=0)
        if k < len(colors) - 1:
            (line,) = axes.plot(steps, top, color=color, linewidth=1.4)
            line.set_gid(f"prefix:{k}")
            if transitions[k] <= steps[-1]:
                place = float(transitions[k])
                marks.append((k, place, float(np.interp(place, steps, top)), color))
        below = top
    _mark_turns(canvas, marks, float(steps[-1]), at)
    axes.set_xlim(0, max(steps[-1], 1))
    axes.set_ylim(0, 1)
    axes.grid(visible=False)
    axes.set_title("stacked, best answer at the bottom", color=canvas.theme.muted)
    axes.xaxis.get_major_locator().set_params(integer=True)
    canvas.axis_names("distance to the boundary", "probability", at)


def _mark_turns(canvas: Canvas, marks: list[tuple[int, float, float, str]], last: float, at: int) -> None:
    """A dot where each prefix sum turns, with its τ; dots that nearly coincide share one number."""
    written: list[tuple[float, float]] = []
    for k, place, height, color in marks:
        (dot,) = canvas.axes[at].plot(
            [place],
            [height],
            "o",
            color=color,
            markersize=7,
            markeredgecolor=canvas.theme.text,
            zorder=5,
            clip_on=False,
        )
        dot.set_gid(f"turn:{k}")
        if any(abs(place - x) < 0.04 * last and abs(height - y) < 0.07 for x, y in written):
            continue
        above = len(written) % 2 == 1  # up and down by turns: neighbours are often close
        written.append((place, height))
        canvas.axes[at].annotate(
            f"τ = {place:.0f}",
            (place, height),
            xytext=(5, 5 if above else -5),
            textcoords="offset points",
            va="bottom" if above else "top",
            fontsize=8.5,
            path_effects=canvas.halo(),
        )


def draw_answers(
    canvas: Canvas, steps: NDArray[Any], table: Floats, names: list[str], colors: list[str], *, at: int
) -> None:
    """The probability of each answer as a line."""
    axes = canvas.axes[at]
    marker = "o" if len(steps) <= _MARKED else None
    for name, color, values in zip(names, colors, table.T, strict=True):
        canvas.curve(steps, values, name, color, at=at, marker=marker, markersize=2.6)
    axes.set_xlim(0, max(steps[-1], 1))
    axes.set_ylim(0, 1)
    axes.set_title("each answer", color=canvas.theme.muted)
    axes.xaxis.get_major_locator().set_params(integer=True)
    canvas.axis_names("distance to the boundary", "", at)


def _names(answers: Sequence[Any] | None, count: int) -> list[str]:
    if answers is None:
        return [str(number) for number in range(1, count + 1)]
    try:
        names = [style.clean(answer) for answer in answers]
    except TypeError:
        raise ParameterError(f"answers must be a sequence of names, got {answers!r:.80}") from None
    if len(names) != count:
        raise ParameterError(f"there must be a name for each of the {count} answers, got {len(names)}")
    return names


def _checked(distance: object) -> int:
    if isinstance(distance, bool) or not isinstance(distance, int | np.integer) or not 1 <= distance <= 10**15:
        raise ParameterError(f"distance must be a whole number from 1 to 10^15, got {distance!r:.80}")
    return int(distance)


def _last(privacy: SuitablePair, row: Floats) -> int:
    """The first distance at which the best answer is nearly certain, by doubling and halving; at most a million."""
    high = 4
    while high < _LONGEST and not at_distance(privacy, row, [high])[0, 0] >= _SURE:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at_distance(privacy, row, [middle])[0, 0] >= _SURE else (middle, high)
    return int(min(high, _LONGEST))
