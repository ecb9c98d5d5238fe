"""Figures 9 and 10 of the paper on local privacy: which errors a test of privatized data can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallery.exhibits import Exhibit
from gallery.extremal import HUES, draw_matrix
from tinct import local
from tinct.plots.canvas import Canvas, drawing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

QUATERNARY = (1.0, 0.15)
APART = (np.array([0.40, 0.35, 0.15, 0.10]), np.array([0.10, 0.15, 0.35, 0.40]))
TIED = (np.array([0.5, 0.2, 0.3]), np.array([0.3, 0.2, 0.5]))  # both give the second symbol 0.2
OTHER_CUT = np.array([0, 1, 1])  # {1} against {2, 3}; the binary mechanism puts the tied symbol with the first
EPSILON = 2.0


def error_region(matrix: Floats) -> Floats:
    """The corners of the lower edge of the error region: miss against false alarm, by likelihood-ratio tests."""
    with np.errstate(divide="ignore"):
        order = np.argsort(-(matrix[1] / matrix[0]), kind="stable")
    false_alarm = np.concatenate([[0.0], np.cumsum(matrix[0][order])])
    miss = 1.0 - np.concatenate([[0.0], np.cumsum(matrix[1][order])])
    return np.column_stack([np.maximum(miss, 0.0), np.minimum(false_alarm, 1.0)])


def figure_9(dark: bool) -> Any:
    """The quaternary mechanism and its error region."""
    epsilon, delta = QUATERNARY
    matrix = local.quaternary(epsilon, delta).matrix
    corners = error_region(matrix)
    with drawing(dark=dark, path=None, panels=(1, 2), size=(9.4, 4.6), width_ratios=(1, 1.5)) as canvas:
        draw_matrix(canvas, matrix, "mechanism", at=0, first=0)
        axes = canvas.axes[1]
        upper = 1.0 - corners
        region = np.vstack([corners, upper])
        axes.fill(region[:, 0], region[:, 1], color=canvas.theme.hues["blue"], alpha=0.15, linewidth=0)
        edge = axes.plot(corners[:, 0], corners[:, 1], "o-", color=canvas.theme.hues["blue"], clip_on=False)[0]
        edge.set_gid("region")
        reach = np.array([0.0, 1.0 - delta])
        for line in ((reach, 1 - delta - np.exp(epsilon) * reach), (1 - delta - np.exp(epsilon) * reach, reach)):
            axes.plot(*line, color=canvas.theme.muted, linewidth=0.9, linestyle=(0, (4, 3)))
        _frame(canvas, "errors that tests of its output can have", at=1)
        note = f"ε = {epsilon:g}, δ = {delta:g}; dashed: the limits of (ε, δ)-privacy"
        canvas.headline("The quaternary mechanism", note)
    return canvas.figure


def _frame(canvas: Canvas, title: str, *, at: int) -> None:
    axes = canvas.axes[at]
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.set_title(title, color=canvas.theme.muted)
    canvas.axis_names("miss", "false alarm", at)


def marginals(p0: Floats, p1: Floats, matrix: Floats) -> Floats:
    """The distributions of a report under the two hypotheses, one above the other."""
    return np.vstack([p0 @ matrix, p1 @ matrix])


def cut_matrix(cells: Floats, epsilon: float) -> Floats:
    """Randomized response on two cells."""
    own = np.exp(epsilon) / (1.0 + np.exp(epsilon))
    return np.asarray(np.where(cells[:, None] == np.arange(2), own, 1.0 - own))


def regions_apart() -> dict[str, Floats]:
    """Where every symbol has a likelier hypothesis: the binary mechanism's region, and those of two others."""
    p0, p1 = APART
    tables = {
        "binary": local.binary(p0, p1, EPSILON).matrix,
        "randomized response": local.randomized_response(len(p0), EPSILON).matrix,
        "geometric": local.geometric(len(p0), EPSILON).matrix,
    }
    return {name: error_region(marginals(p0, p1, matrix)) for name, matrix in tables.items()}


def regions_tied() -> dict[str, Floats]:
    """Where a symbol has none: the binary mechanism's region, and that of the other cut with as large a difference."""
    p0, p1 = TIED
    tables = {"binary": local.binary(p0, p1, EPSILON).matrix, "other cut": cut_matrix(OTHER_CUT, EPSILON)}
    return {name: error_region(marginals(p0, p1, matrix)) for name, matrix in tables.items()}


def draw_regions(canvas: Canvas, regions: dict[str, Floats], title: str, *, at: int) -> None:
    """Error regions below the diagonal on which a test learns nothing, the names at their deepest corners."""
    axes = canvas.axes[at]
    axes.plot([0, 1], [1, 0], color=canvas.theme.line, linewidth=1.0)
    hues = {**HUES, "other cut": "purple"}
    for name, corners in regions.items():
        color = canvas.theme.hues[hues[name]]
        if name == "binary":  # mixed tints would say nothing
            axes.fill(corners[:, 0], corners[:, 1], color=color, alpha=0.14, linewidth=0)
        axes.plot(corners[:, 0], corners[:, 1], "o-", color=color, markersize=3.5, clip_on=False)[0].set_gid(name)
    _frame(canvas, title, at=at)


def name_corner(canvas: Canvas, corner: Floats, text: str, hue: str, offset: tuple[float, float], *, at: int) -> None:
    """A name in the empty half below, and a line to the corner it belongs to."""
    theme = canvas.theme
    line = {"arrowstyle": "-", "color": theme.line, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 4}
    look: dict[str, Any] = {"fontsize": 9, "color": theme.readable(theme.hues[hue]), "arrowprops": line}
    canvas.axes[at].annotate(text, corner, xytext=offset, va="center", ha="center", **look)


def figure_10(dark: bool) -> Any:
    """The region of the binary mechanism holds all others for small ε, unless a symbol is tied."""
    apart, tied = regions_apart(), regions_tied()
    with drawing(dark=dark, path=None, panels=(1, 2), size=(10.4, 5.6)) as canvas:
        draw_regions(canvas, apart, "no tie: it holds every other region", at=0)
        draw_regions(canvas, tied, "a tied symbol: it does not", at=1)
        name_corner(canvas, deepest(apart["binary"]), "binary", "red", (0.13, 0.16), at=0)
        name_corner(canvas, apart["randomized response"][2], "randomized response", "green", (0.34, 0.06), at=0)
        name_corner(canvas, apart["geometric"][2], "geometric", "orange", (0.62, 0.62), at=0)
        name_corner(canvas, deepest(tied["binary"]), "binary: {1, 2} or {3}", "red", (0.36, 0.14), at=1)
        name_corner(canvas, deepest(tied["other cut"]), "{1} or {2, 3}", "purple", (0.17, 0.32), at=1)
        note = f"ε = {EPSILON:g}; the errors that tests of one report can have, shaded: of the binary mechanism"
        canvas.headline("When the binary mechanism is enough", note)
    return canvas.figure


def deepest(corners: Floats) -> Floats:
    """The corner farthest below the diagonal."""
    return np.asarray(corners[corners.sum(axis=1).argmin()])


def largest_budget(p0: Floats, p1: Floats) -> float:
    """The budget up to which the binary mechanism's region holds that of every column, by all sets of symbols.

    A column that raises the set S has the ratio (1 + (E − 1)P0(S))/(1 + (E − 1)P1(S)); it must lie between those of
    the binary mechanism's two columns (inequality (33) of the paper).
    """
    sets = np.array([[bit >> x & 1 for x in range(len(p0))] for bit in range(2 ** len(p0))], float)
    least = np.inf
    for first, second, own in ((p0, p1, p0 >= p1), (p1, p0, p0 < p1)):
        high, low = first @ own, second @ own
        room = (high - low) - sets @ (first - second)
        price = low * (sets @ first) - high * (sets @ second)
        other = (sets != own).any(axis=1) & (price > 1e-15)
        least = min(least, float(np.log1p(np.maximum(room[other], 0.0) / price[other]).min(initial=np.inf)))
    return least


EXHIBITS = [
    Exhibit(
        "extremal-local",
        9,
        "The quaternary mechanism",
        "Two symbols under (ε, δ)-privacy: the truth with probability δ, randomized response otherwise. Its error "
        "region is all that privacy allows, so every other mechanism can be had by processing its output.",
        figure_9,
    ),
    Exhibit(
        "extremal-local",
        10,
        "Testing regions of two mechanisms",
        "If every symbol is likelier under one of the hypotheses, the region of the binary mechanism holds that of "
        "every other one up to some ε (here ln 9), so all others can be had by processing its output. With a tied "
        "symbol there is no such ε: the two ways to place it have regions of which neither holds the other.",
        figure_10,
        differs="The paper sketches two regions without numbers. Here they are those of P0 = (0.4, 0.35, 0.15, 0.1), "
        "P1 = (0.1, 0.15, 0.35, 0.4) on the left and of P0 = (0.5, 0.2, 0.3), P1 = (0.3, 0.2, 0.5) on the right.",
        wrong="Lemma 24 and theorem 5, which this illustrates, are stated for all pairs. Their proof needs one set "
        "with the largest P0 − P1, and a tie makes two: on the right the other cut has the larger KL divergence, by "
        "3.3 % at ε = 2.",
    ),
]
