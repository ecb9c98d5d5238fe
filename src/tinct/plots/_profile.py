"""The privacy profile δ(ε): how much δ a mechanism needs for every ε."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.mechanism import Mechanism, verify
from tinct.plots import style
from tinct.plots.canvas import Canvas, drawing
from tinct.privacy import Privacy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from tinct._files import FilePath

    Floats = NDArray[np.float64]

_POINTS = 201
_NO_EPSILON_ENOUGH = 3.0  # where the axis ends when δ never gets to 0
_LEAST = 1e-9


def profile(
    mechanism: Mechanism,
    *,
    epsilons: ArrayLike | None = None,
    compare: Mapping[str, Mechanism] | None = None,
    log: bool = False,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the least δ for which a mechanism is (ε, δ)-private, for every ε.

    Args:
        mechanism: Any mechanism; all edges of its graph are looked at.
        epsilons: Where to compute the curve; if left out, from 0 to a little beyond where it ends.
        compare: More mechanisms, ``{name: mechanism}``, each on its own graph.
        log: Whether the axis of δ is logarithmic.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    if not isinstance(compare, Mapping | None):
        raise ParameterError(f"compare must be a mapping of mechanisms, got {compare!r:.80}")
    several = {"this mechanism" if compare else "": mechanism, **(compare or {})}
    for given in several.values():
        if not isinstance(given, Mechanism):
            raise ParameterError(f"a Mechanism is needed, got {given!r:.80}")
    if not isinstance(log, bool):
        raise ParameterError(f"log must be True or False, got {log!r:.80}")
    verdicts = {name: verify(given, given.graph, Privacy(0)) for name, given in several.items()}
    grid = _grid(verdicts.values(), mechanism.privacy) if epsilons is None else _checked(epsilons)
    with drawing(dark=dark, path=path, ax=ax) as canvas:
        for number, (name, verdict) in enumerate(verdicts.items()):
            _draw(canvas, grid, verdict.profile(grid), style.clean(name, 40), canvas.theme.hue(number), log)
        if isinstance(mechanism.privacy, Privacy) and grid[0] <= mechanism.privacy.epsilon <= grid[-1]:
            _mark(canvas, mechanism.privacy, log)
        axes = canvas.axes[0]
        axes.set_xlim(grid[0], max(grid[-1], grid[0] + 1e-9))
        if log:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(style.power_of_ten)
            axes.minorticks_off()
        else:
            axes.set_ylim(bottom=0.0)
        canvas.axis_names("ε", "least δ")
        note = f"designed for {style.privacy_text(mechanism.privacy)}" if mechanism.privacy is not None else ""
        canvas.headline(title or "How private the mechanism is", note)
    return canvas.drawn


def _checked(epsilons: ArrayLike) -> Floats:
    try:
        grid = np.sort(np.atleast_1d(np.asarray(epsilons, np.float64)).ravel())
    except (TypeError, ValueError):
        grid = np.empty(0)
    if not len(grid) or not ((grid >= 0) & (grid <= 700)).all():
        raise ParameterError(f"epsilons must be numbers in [0, 700], at least one, got {epsilons!r:.80}")
    return grid


def _grid(verdicts: Any, privacy: object) -> Floats:
    """From 0 to a bit beyond the ε at which no δ is needed, with the ε of the design among the points."""
    ends = [verdict.epsilon for verdict in verdicts]
    last = max((end if np.isfinite(end) else _NO_EPSILON_ENOUGH) for end in ends)
    designed = privacy.epsilon if isinstance(privacy, Privacy) else 0.0
    if designed > 0:
        last = min(last, 2.5 * designed)  # with δ > 0 the tail may go on for long
    last = max(1.12 * last, 1.5 * designed, 1e-3)
    return np.unique(np.concatenate([np.linspace(0.0, min(last, 700.0), _POINTS), [designed]]))


def _draw(canvas: Canvas, grid: Floats, deltas: Floats, name: str, color: str, log: bool) -> None:
    shown = deltas > _LEAST if log else np.ones(len(grid), bool)
    if shown.any():
        early = bool(log and not shown[-1])
        canvas.curve(grid[shown], deltas[shown], name, color, side="left" if early else "right")


def _mark(canvas: Canvas, privacy: Privacy, log: bool) -> None:
    """The promise as a point: the curve must pass below it or through it."""
    if log and privacy.delta <= _LEAST:
        return
    canvas.axes[0].plot([privacy.epsilon], [privacy.delta], "o", color=canvas.theme.text, zorder=5, clip_on=False)
    canvas.axes[0].annotate(
        "promised",
        (privacy.epsilon, privacy.delta),
        xytext=(6, 8),
        textcoords="offset points",
        color=canvas.theme.text,
        fontsize=9,
        path_effects=canvas.halo(),
    )
