"""The frontier: which pairs of truths the two boundaries can have at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.binary import Frontier
from tinct.errors import ParameterError
from tinct.plots import style
from tinct.plots.canvas import Canvas, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tinct._files import FilePath

_POINTS = 201
_MOST = 6
_SIZE = (5.6, 5.2)


def frontier(
    curves: Frontier | Sequence[Frontier],
    *,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the pairs of truths that privacy allows on the two boundaries, with the balanced and the best pair.

    Args:
        curves: What ``frontier(graph, privacy)`` returned, or several of them with the same answers, at most 6.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    several = _checked(curves)
    first, second = several[0].graph.outputs
    with drawing(dark=dark, path=path, ax=ax, size=_SIZE) as canvas:
        for number, curve in enumerate(several):
            _draw(canvas, curve, canvas.theme.hue(number), alone=len(several) == 1)
        axes = canvas.axes[0]
        axes.set_xlim(0.0, 1.0)
        axes.set_ylim(0.0, 1.02)
        axes.set_aspect("equal")
        axes.grid(visible=True, axis="both")
        canvas.axis_names(
            f"truth on the boundary of “{style.clean(first)}”", f"truth on the boundary of “{style.clean(second)}”"
        )
        note = style.privacy_text(several[0].privacy) if len(several) == 1 else "one curve for each budget"
        canvas.headline(title or "What the two boundaries can have at once", note)
    return canvas.drawn


def _checked(curves: object) -> list[Frontier]:
    several = [curves] if isinstance(curves, Frontier) else list(curves) if isinstance(curves, Sequence) else []
    if not several or not all(isinstance(curve, Frontier) for curve in several):
        raise ParameterError(f"what frontier(graph, privacy) returns is needed, got {curves!r:.80}")
    if len(several) > _MOST:
        raise ParameterError(f"at most {_MOST} frontiers can be told apart in one figure, got {len(several)}")
    if len({curve.graph.outputs for curve in several}) > 1:
        raise ParameterError("frontiers in one figure must be about the same answers")
    return several


def _draw(canvas: Canvas, curve: Frontier, color: str, *, alone: bool) -> None:
    points = curve.points(_POINTS)
    # below U(0) on the first boundary the second may have full truth
    points = np.vstack([[0.0, float(curve.second(0.0))], points])
    axes = canvas.axes[0]
    (line,) = axes.plot(points[:, 0], points[:, 1], color=color)
    line.set_gid("frontier")
    axes.fill_between(points[:, 0], 0.0, points[:, 1], color=color, alpha=0.10 if alone else 0.05, linewidth=0)
    balance, best = curve.balanced, curve.best()
    same = np.allclose(balance, best, atol=1e-9)
    marks = [(balance, "balanced, best on average" if same else "balanced")] + (
        [] if same else [(best, "best on average")]
    )
    for number, (place, name) in enumerate(marks if alone else [(balance, style.privacy_text(curve.privacy))]):
        axes.plot([place[0]], [place[1]], "o", color=color, zorder=4)
        axes.annotate(
            f"{name}\n{place[0]:.3f}, {place[1]:.3f}" if alone else name,
            place,
            xytext=(-8, -8) if number == 0 else (-8, 10),
            textcoords="offset points",
            ha="right",
            va="top" if number == 0 else "bottom",
            fontsize=9,
            color=canvas.theme.readable(color),
            path_effects=canvas.halo(),
        )
