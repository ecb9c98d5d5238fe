"""Error and truth against the distance to the boundary, beside what people would otherwise run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import baselines
from tinct.errors import ParameterError
from tinct.mechanism import Mechanism
from tinct.mechanism.by_distance import ByDistance
from tinct.plots import style
from tinct.plots.canvas import Canvas, drawing
from tinct.privacy import Privacy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tinct._files import FilePath

    Floats = NDArray[np.float64]

LEAST_ERROR = 1e-9  # the logarithmic axis ends here
_MARKED = 40  # distances up to which every one gets a dot
_MOST_ORDERS = 6
_FEW_POWERS = 5e-3
_ALIKE = 1e-12


@dataclass(frozen=True)
class ErrorCurve:
    """The largest and smallest error at each distance, among the datasets of one or several colours."""

    name: str
    worst: Floats
    best: Floats

    @property
    def zero_from(self) -> int | None:
        """The distance from which on the error is exactly 0, if there is one."""
        last = np.flatnonzero(self.worst > 0)
        first = int(last[-1]) + 1 if len(last) else 0
        return first if first < len(self.worst) else None


def errors(
    mechanism: Mechanism,
    *,
    compare: bool | Mapping[str, Mechanism] = True,
    truth: bool = False,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the probability of a wrong answer against the distance to the boundary, on a logarithmic scale.

    Args:
        mechanism: A mechanism on a graph with a boundary. Where datasets at one distance differ, the curve is the worst
            of them, and a band reaches down to the best.
        compare: Also draw what people would otherwise run, if the mechanism has two answers and (ε, δ) on all edges,
            at the smallest of them; or ``{name: mechanism}`` on the same graph.
        truth: Draw the probability of the right answer instead, on a linear scale.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    if not isinstance(mechanism, Mechanism):
        raise ParameterError(f"a Mechanism is needed, got {mechanism!r:.80}")
    table = ByDistance(mechanism, compared_with(mechanism, compare))
    ours = curves_of(table)
    others = [_curve(name, table, ends) for name, ends in table.others.items()]
    note = style.privacy_text(mechanism.privacy)
    if others and compare is True and not isinstance(mechanism.privacy, Privacy):
        note += "; the others at the smallest"
    with drawing(dark=dark, path=path, ax=ax) as canvas:
        draw_errors(canvas, ours, others, truth=truth)
        canvas.headline(
            title or ("How often the answer is right" if truth else "How often the answer is wrong"),
            note,
        )
    return canvas.drawn


def draw_errors(canvas: Canvas, ours: list[ErrorCurve], others: list[ErrorCurve], *, truth: bool, at: int = 0) -> None:
    """Draw the curves into a panel, ours on top."""
    hues = [name for name in canvas.theme.hues if name != "blue"]
    shown = _shown_distances(ours, others, truth)
    for number, curve in enumerate(others):
        _draw(canvas, curve, canvas.theme.hues[hues[number % len(hues)]], shown, truth, "-", at)
    for number, curve in enumerate(ours):
        _draw(canvas, curve, canvas.theme.hues["blue"], shown, truth, ("-", "--", "-.", ":")[number % 4], at)
    axes = canvas.axes[at]
    axes.set_xlim(-0.02 * shown, 1.015 * max(shown, 1))
    axes.xaxis.get_major_locator().set_params(integer=True)
    if not truth:
        seen = np.concatenate([curve.worst[: shown + 1] for curve in ours + others])
        low = float(seen[seen > LEAST_ERROR].min(initial=1.0))
        _logarithmic(axes, max(LEAST_ERROR, low / 2.0))
    what = "probability of a right answer" if truth else "probability of a wrong answer"
    canvas.axis_names("distance to the boundary", what, at)


def _logarithmic(axes: Any, low: float) -> None:
    """A logarithmic axis up to 1, with ticks at 2 and 5 as well if there are few powers of ten."""
    axes.set_yscale("log")
    if low > _FEW_POWERS:
        from matplotlib.ticker import LogLocator

        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}" if low > _FEW_POWERS else style.power_of_ten(value))
    axes.minorticks_off()
    axes.set_ylim(low, 1.0)


def curves_of(table: ByDistance) -> list[ErrorCurve]:
    """One curve if all colours fare alike, else one for each colour; of many orders, only the overall one."""
    inside = table.distance >= 0
    if not inside.any():
        raise ParameterError(
            "this graph has no boundary: its datasets have no distance to draw against, and the truth can be answered "
            "with certainty"
        )
    palette = table.mechanism.graph.coloring.palette
    apart = [
        _curve(f"tinct, {style.order_text(palette[code])}", table, table.error, table.codes == code)
        for code in np.unique(table.codes[inside]).tolist()
    ]
    if len(apart) > _MOST_ORDERS or all(_alike(apart[0], other) for other in apart[1:]):
        return [_curve("tinct", table, table.error)]
    return apart


def compared_with(mechanism: Mechanism, compare: object) -> dict[str, Mechanism]:
    """What to draw beside a mechanism."""
    if isinstance(compare, Mapping):
        wrong = next((other for other in compare.values() if not isinstance(other, Mechanism)), None)
        if wrong is not None:
            raise ParameterError(f"compare must map names to mechanisms, got {wrong!r:.80}")
        return {
            style.clean(name, 40): Mechanism.trusted(
                mechanism.graph, np.array(other.table_on(mechanism.graph)), other.privacy
            )
            for name, other in compare.items()
        }
    if not isinstance(compare, bool):
        raise ParameterError(f"compare must be True, False or a mapping of mechanisms, got {compare!r:.80}")
    return baselines.beside(mechanism.graph, mechanism.privacy) if compare else {}


def _curve(name: str, table: ByDistance, ends: tuple[Floats, Floats], which: Any = True) -> ErrorCurve:
    """The curve through the lines of some colours, or of all."""
    lines = (table.distance >= 0) & which
    distance = table.distance[lines]
    worst = np.zeros(int(distance.max()) + 1)
    np.maximum.at(worst, distance, ends[1][lines])
    best = np.full(len(worst), np.inf)
    np.minimum.at(best, distance, ends[0][lines])
    return ErrorCurve(name, worst, best)


def _alike(one: ErrorCurve, other: ErrorCurve) -> bool:
    shared = min(len(one.worst), len(other.worst))
    return all(
        np.allclose(mine[:shared], theirs[:shared], rtol=1e-9, atol=_ALIKE)
        for mine, theirs in ((one.worst, other.worst), (one.best, other.best))
    )


def _shown_distances(ours: list[ErrorCurve], others: list[ErrorCurve], truth: bool) -> int:
    """Up to where anything happens: a bit beyond the last distance at which a falling curve can be seen."""
    least = 1e-3 if truth else LEAST_ERROR
    longest = max(len(curve.worst) for curve in ours) - 1
    if not truth and all(curve.zero_from is not None for curve in ours):
        longest = min(longest, 2 * max(curve.zero_from or 1 for curve in ours))
    falling = [curve for curve in ours + others if curve.worst[-1] < curve.worst.max(initial=0.0) / 2]
    seen = [int(np.flatnonzero(curve.worst > least)[-1]) + 1 for curve in falling if (curve.worst > least).any()]
    return min(longest, max(seen, default=longest))


def _draw(canvas: Canvas, curve: ErrorCurve, color: str, shown: int, truth: bool, line: str, at: int) -> None:
    steps = np.arange(min(shown + 1, len(curve.worst)))
    worst, best = curve.worst[: len(steps)], curve.best[: len(steps)]
    zero = curve.zero_from
    name = curve.name
    if truth:
        high, low = 1.0 - worst, 1.0 - best
        seen = steps
    else:
        high, low = worst, np.maximum(best, LEAST_ERROR)
        seen = steps[worst > LEAST_ERROR]
    if zero is not None and zero <= shown:
        name += f": exactly {'1' if truth else '0'} from distance {zero}"
    if not len(seen):
        canvas.curve(np.array([0]), np.array([1.0 if truth else LEAST_ERROR]), name, color, at=at, marker="o")
        return
    if not np.allclose(worst[seen], best[seen], rtol=1e-6, atol=0):
        canvas.axes[at].fill_between(seen, low[seen], high[seen], color=color, alpha=0.15, linewidth=0)
    marker = "o" if len(seen) <= _MARKED else None
    # a curve that drops to 0 inside the panel has free room on its lower left: the others are above it
    drops = zero is not None and not truth
    side = "left" if drops and 0.35 * shown < seen[-1] < 0.9 * shown else "right"
    canvas.curve(seen, high[seen], name, color, at=at, side=side, linestyle=line, marker=marker)
