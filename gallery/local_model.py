"""Figure 1 of the paper on local privacy: who has the data, who privatizes it, and what the analyst gets to see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallery.exhibits import Exhibit
from tinct import local
from tinct.plots import style
from tinct.plots.canvas import Canvas, drawing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

P0, P1 = (0.1, 0.2, 0.3, 0.4), (0.4, 0.3, 0.2, 0.1)
SYMBOLS, REPORTS = ["a", "b", "c", "d"], ["1", "2"]
EPSILON = 1
HEIGHT = 42.0  # of the page, in the units in which parts are placed; it is 104 wide
CLIENTS = (31.5, 10.5)  # how high each client stands
_FOOT, _TALL = -6.0, 15.5  # where bars stand, from the middle of a client, and how high a certainty would be
_HUES = ("blue", "red")


def mechanism() -> local.LocalMechanism:
    """The mechanism that both clients run: the best one for telling the two hypotheses apart."""
    return local.optimal(P0, P1, EPSILON)


def outputs() -> tuple[Floats, Floats]:
    """The distributions of a report under both hypotheses."""
    matrix = mechanism().matrix
    return np.asarray(P0 @ matrix), np.asarray(P1 @ matrix)


def draw_bars(canvas: Canvas, left: float, middle: float, both: tuple[Any, Any], names: list[str], gid: str) -> None:
    """Two distributions side by side, each probability above its bar."""
    from matplotlib.patches import Rectangle

    axes, theme = canvas.axes[0], canvas.theme
    wide = 2.5 if len(names) > 2 else 3.2
    for at, name in enumerate(names):
        start = left + (2 * wide + 1.3) * at
        for which, values in enumerate(both):
            height = float(values[at]) * _TALL
            place = (start + (wide + 0.2) * which, middle + _FOOT)
            bar = Rectangle(place, wide, height, facecolor=theme.hues[_HUES[which]], linewidth=0)
            bar.set_gid(f"{gid}:{which}:{at}")
            axes.add_patch(bar)
            value = f"{values[at]:.3f}".rstrip("0").lstrip("0")
            axes.text(place[0] + wide / 2, place[1] + height + 0.5, value, ha="center", fontsize=8, color=theme.muted)
        axes.text(start + wide + 0.1, middle + _FOOT - 0.7, name, ha="center", va="top", color=theme.muted)


def draw_channel(canvas: Canvas, left: float, middle: float, matrix: Floats) -> None:
    """The mechanism as a table: symbols across, reports down, darker for more."""
    from matplotlib.patches import Rectangle

    axes, theme = canvas.axes[0], canvas.theme
    wide, high = 4.9, 4.2
    for x, row in enumerate(matrix.tolist()):
        for y, value in enumerate(row):
            fill = style.mixed(theme.background, theme.hues["green"], value / matrix.max())
            place = (left + wide * x, middle + _FOOT + high * (1 - y))
            axes.add_patch(Rectangle(place, wide, high, facecolor=fill, edgecolor=theme.background, linewidth=1.5))
            ink = max((theme.text, theme.background), key=lambda one: style.contrast(one, fill))
            text = f"{value:.3f}".lstrip("0")
            axes.text(place[0] + wide / 2, place[1] + high / 2, text, ha="center", va="center", fontsize=8.5, color=ink)
        axes.text(left + wide * (x + 0.5), middle + _FOOT - 0.7, SYMBOLS[x], ha="center", va="top", color=theme.muted)
    for y, name in enumerate(REPORTS):
        axes.text(left - 0.6, middle + _FOOT + high * (1.5 - y), name, ha="right", va="center", color=theme.muted)


def draw_arrow(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    """What goes from one to the next."""
    look = {"arrowstyle": "-|>", "color": canvas.theme.muted, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    canvas.axes[0].annotate("", end, xytext=start, arrowprops=look)


def draw_card(canvas: Canvas, corner: tuple[float, float], size: tuple[float, float]) -> None:
    """A frame around what belongs to one party."""
    from matplotlib.patches import FancyBboxPatch

    shape = "round,pad=0,rounding_size=1.2"
    card = FancyBboxPatch(corner, *size, boxstyle=shape, facecolor="none", edgecolor=canvas.theme.line, linewidth=1)
    canvas.axes[0].add_patch(card)


def figure_1(dark: bool) -> Any:
    """Two clients, one mechanism, and an analyst who sees two reports."""
    best = mechanism()
    with drawing(dark=dark, path=None, size=(10.4, 5.0)) as canvas:
        axes, theme = canvas.axes[0], canvas.theme
        axes.set_axis_off()
        axes.set_xlim(0, 104)
        axes.set_ylim(0, HEIGHT)
        for number, middle in zip("₁₂", CLIENTS, strict=True):
            draw_card(canvas, (0.5, middle - 9.5), (54.5, 18.5))
            arrows = middle - 1.5
            axes.text(2.5, middle + 6.4, f"client: X{number} ∼ Pν")
            axes.text(34, middle + 6.4, f"privatization Q, ε = {EPSILON}")
            axes.text(67, middle + 6.4, f"report: Y{number} ∼ Mν")
            draw_bars(canvas, 2.5, middle, (P0, P1), SYMBOLS, "symbols")
            draw_arrow(canvas, (27.5, arrows), (31.0, arrows))
            draw_channel(canvas, 34, middle, best.matrix)
            draw_arrow(canvas, (55.5, arrows), (65.0, arrows))
            draw_bars(canvas, 67, middle, outputs(), REPORTS, "reports")
            draw_arrow(canvas, (82.0, arrows), (85.0, HEIGHT / 2 + (arrows - HEIGHT / 2) * 0.5))
        draw_card(canvas, (85.5, HEIGHT / 2 - 9.5), (18.0, 19.0))
        axes.text(87.5, HEIGHT / 2 + 6.2, "data analyst")
        seen = (
            f"sees Y₁ and Y₂ only.\nOn ν, a report has\n{best.value:.4f} nats;"
            f"\nthe data would have\n{local.divergence(P0, P1):.4f}."
        )
        axes.text(87.5, HEIGHT / 2 + 4.6, seen, va="top", color=theme.muted, fontsize=8.5, linespacing=1.55)
        canvas.key([(theme.hues[hue], f"ν = {which}") for which, hue in enumerate(_HUES)])
        note = "ν, the same for all, decides the distribution of the data; the analyst wants to know which it is"
        canvas.headline("Nobody but the client sees the data", note)
    return canvas.figure


EXHIBITS = [
    Exhibit(
        "extremal-local",
        1,
        "The local model",
        "Every client draws a symbol from Pν and reports what the same mechanism Q makes of it, so a report follows "
        "Mν = PνQ. The analyst sees reports and nothing else, and wants to learn about ν.",
        figure_1,
        differs="The paper has boxes and arrows. Here they have numbers: four symbols, two hypotheses, the mechanism "
        "that is optimal for telling them apart at ε = 1, and the KL divergence before it (0.4564) and after (0.0691).",
    ),
]
