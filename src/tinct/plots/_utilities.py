"""Local mechanisms: utility against ε, and which cells are optimal at which ε."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.plots import style
from tinct.plots.canvas import Canvas, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tinct._files import FilePath
    from tinct.local import Regime, Regimes, UtilityComparison

_NAMED_SYMBOLS = 24
_WIDE_ENOUGH = 0.06  # of the axis, for the number of cells of a regime


def utilities(
    comparisons: Sequence[UtilityComparison],
    *,
    share: bool = False,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw every local mechanism's utility against ε.

    Args:
        comparisons: What ``local.compare`` returned, for at least one budget.
        share: Divide by the optimum, which is then 1 everywhere.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    lines = _checked(comparisons)
    if not isinstance(share, bool):
        raise ParameterError(f"share must be True or False, got {share!r:.80}")
    names = list(lines[0].values)
    with drawing(dark=dark, path=path, ax=ax) as canvas:
        draw_utilities(canvas, lines, names, share=share)
        canvas.headline(title or ("Share of the optimum" if share else "What is left after randomising"))
    return canvas.drawn


def draw_utilities(
    canvas: Canvas, lines: Sequence[UtilityComparison], names: Sequence[str], *, share: bool, at: int = 0
) -> None:
    """Draw the chosen mechanisms into a panel, the first on top."""
    others = [name for name in canvas.theme.hues if name != "blue"]
    for number, name in reversed(list(enumerate(names))):
        values = [(line.epsilon, (line.shares() if share else line.values).get(name)) for line in lines]
        known = np.array([(epsilon, value) for epsilon, value in values if value is not None]).reshape(-1, 2)
        color = canvas.theme.hues["blue" if number == 0 else others[(number - 1) % len(others)]]
        if len(known):
            style_of = "-" if number <= len(others) else "--"
            canvas.curve(known[:, 0], known[:, 1], style.clean(name, 40), color, at=at, linestyle=style_of)
    axes = canvas.axes[at]
    axes.set_xlim(lines[0].epsilon if len(lines) > 1 else 0.0, max(lines[-1].epsilon, lines[0].epsilon + 1e-9))
    axes.set_ylim(bottom=0.0)
    canvas.axis_names("ε", "share of the optimal utility" if share else "utility", at)


def regimes(
    found: Regimes,
    *,
    highest: float | None = None,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw which cells are optimal at which ε.

    Symbols stand in the order of their likelihood ratio, one row each; at every ε, symbols of one cell share a block.

    Args:
        found: What ``local.regimes`` returned.
        highest: Where the axis ends; if left out, a little beyond the last change.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    from tinct.local import Regimes

    if not isinstance(found, Regimes):
        raise ParameterError(f"what local.regimes returns is needed, got {found!r:.80}")
    end = _end(found, highest)
    symbols = likelihood_order(found)
    with drawing(dark=dark, path=path, ax=ax) as canvas:
        for regime in found.regimes:
            if regime.start < end:
                _draw_regime(canvas, regime, symbols, end, found.regimes[0].start)
        axes = canvas.axes[0]
        axes.set_xlim(0.0, end)
        axes.set_ylim(-0.5, len(symbols) - 0.5)
        axes.grid(visible=False)
        few = len(symbols) <= _NAMED_SYMBOLS
        axes.set_yticks(range(len(symbols)) if few else [], [style.clean(one, 16) for one in symbols] if few else [])
        axes.tick_params(axis="y", length=0)
        canvas.axis_names("ε", "symbols, by likelihood ratio")
        canvas.headline(
            title or "Which symbols share an answer",
            f"optimal cells for {style.clean(found.utility)}; blue is likelier under P1, orange under P0",
        )
    return canvas.drawn


def likelihood_order(found: Regimes) -> list[Any]:
    """The symbols in an order in which the cells of every regime are consecutive."""
    symbols = [symbol for cell in found.regimes[0].cells for symbol in cell]
    places: dict[Any, tuple[int, ...]] = dict.fromkeys(symbols, ())
    for regime in found.regimes:
        for number, cell in enumerate(regime.cells):
            for symbol in cell:
                places[symbol] += (number,)
    return sorted(symbols, key=lambda symbol: places[symbol])


def _draw_regime(canvas: Canvas, regime: Regime, symbols: list[Any], end: float, first: float) -> None:
    from matplotlib.patches import Rectangle

    left = 0.0 if regime.start == first else regime.start
    right = min(regime.end, end)
    row, rim = 0, min(1.2, 16.0 / len(symbols))
    for number, cell in enumerate(regime.cells):
        fill = _between(canvas.theme, (row + (len(cell) - 1) / 2) / max(len(symbols) - 1, 1))
        block = Rectangle(
            (left, row - 0.5), right - left, len(cell), facecolor=fill, edgecolor=canvas.theme.background, linewidth=rim
        )
        block.set_gid(f"cell:{regime.start:.9g}:{number}")
        canvas.axes[0].add_patch(block)
        row += len(cell)
    if right - left > _WIDE_ENOUGH * end:
        canvas.axes[0].text(
            (left + right) / 2, len(symbols) - 0.42, str(regime.count), ha="center", va="bottom", fontsize=9,
            color=canvas.theme.muted,
        )  # fmt: skip


def _between(colors: style.Theme, share: float) -> str:
    """From blue, likelier under the second hypothesis, over a pale middle to orange, likelier under the first."""
    pale = style.mixed(colors.line, colors.background, 0.7)
    if share <= 0.5:
        return style.mixed(colors.hues["blue"], pale, 2.0 * share)
    return style.mixed(pale, colors.hues["red"], 2.0 * share - 1.0)


def _end(found: Regimes, highest: object) -> float:
    if highest is None:
        last = found.thresholds[-1] if found.thresholds else 1.0
        return min(1.25 * last, found.regimes[-1].end)
    if isinstance(highest, bool) or not isinstance(highest, int | float) or not 0 < highest <= 700:
        raise ParameterError(f"highest must be a number in (0, 700], got {highest!r:.80}")
    return float(highest)


def _checked(comparisons: object) -> list[UtilityComparison]:
    from tinct.local import UtilityComparison

    lines = list(comparisons) if isinstance(comparisons, Sequence) else []
    if not lines or not all(isinstance(line, UtilityComparison) for line in lines):
        raise ParameterError(f"what local.compare returns is needed, for at least one ε, got {comparisons!r:.80}")
    return sorted(lines, key=lambda line: line.epsilon)
