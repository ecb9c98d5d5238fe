"""Figures 2 to 8 of the paper on local privacy: random pairs, every mechanism, the optimum by the cells theorem."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallery.exhibits import Exhibit
from gallery.instances import (
    Shares,
    divergence_shares,
    divergences_at,
    information_shares,
    informations_at,
)
from tinct import local
from tinct.plots import style
from tinct.plots.canvas import Canvas, drawing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SIZES = (3, 4, 6, 12)
SMALL, LARGE = 0.1, 10.0
STAIR_EPSILON = 1.0
_SHARE = "share of the optimum"
HUES = {"optimal": "blue", "binary": "red", "randomized response": "green", "geometric": "orange"}


def draw_matrix(canvas: Canvas, matrix: Floats, title: str, *, at: int, first: int = 1) -> None:
    """The probabilities of a local mechanism: symbols across, outputs down, darker for more."""
    from matplotlib.patches import Rectangle

    axes, theme = canvas.axes[at], canvas.theme
    for x, row in enumerate(matrix.tolist()):
        for y, value in enumerate(row):
            fill = style.mixed(theme.background, theme.hues["blue"], value / matrix.max())
            cell = Rectangle((x, -y - 1), 1, 1, facecolor=fill, edgecolor=theme.background, linewidth=1.5)
            cell.set_gid(f"cell:{x}:{y}")
            axes.add_patch(cell)
            ink = max((theme.text, theme.background), key=lambda one: style.contrast(one, fill))
            axes.text(x + 0.5, -y - 0.5, f"{value:.3f}", ha="center", va="center", color=ink, fontsize=9)
    symbols, outputs = matrix.shape
    axes.set_xlim(0, symbols)
    axes.set_ylim(-outputs, 0)
    axes.set_xticks(np.arange(symbols) + 0.5, [f"x = {x + first}" for x in range(symbols)])
    axes.set_yticks(-np.arange(outputs) - 0.5, [f"y = {y + first}" for y in range(outputs)])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(title, color=theme.muted)


def staircases() -> tuple[Floats, Floats]:
    """The matrices of figure 2: the binary mechanism on five symbols, randomized response on four."""
    likelier = np.array([1, 1, 0, 1, 0])  # where the first hypothesis is the likelier one
    binary = local.binary((1 + likelier) / 8, (2 - likelier) / 7, STAIR_EPSILON)
    return binary.matrix[:, ::-1], local.randomized_response(4, STAIR_EPSILON).matrix


def figure_2(dark: bool) -> Any:
    """Two staircase mechanisms."""
    binary, response = staircases()
    with drawing(dark=dark, path=None, panels=(1, 2), size=(10.0, 3.8), width_ratios=(5, 4)) as canvas:
        draw_matrix(canvas, binary, "binary: which hypothesis makes the symbol likelier", at=0)
        draw_matrix(canvas, response, "randomized response: the symbol itself", at=1)
        canvas.headline("Two staircase mechanisms", f"Q(y|x) for ε = {STAIR_EPSILON:g}: two values, e^ε apart")
    return canvas.figure


def draw_average(canvas: Canvas, shares: Shares, name: str) -> None:
    """The average over the instances of what each mechanism keeps."""
    for mechanism, hue in reversed(HUES.items()):
        canvas.curve(shares.epsilons, shares.kept(mechanism).mean(axis=0), mechanism, canvas.theme.hues[hue])
    canvas.axes[0].set_ylim(0, 1.02)
    canvas.axes[0].set_xlim(0, shares.epsilons[-1])
    canvas.axes[0].set_title(f"average of {len(shares.values['optimal'])}", color=canvas.theme.muted)
    canvas.axis_names("ε", name)


def draw_instances(canvas: Canvas, epsilons: Floats, shares: Floats, hue: str, *, at: int, name: str = "") -> None:
    """One thin line for each instance, and a thick one for the worst at each ε."""
    color = canvas.theme.hues[hue]
    lines = [without_flat(np.column_stack([epsilons, np.round(one, 3)])) for one in shares]
    gap = np.full((1, 2), np.nan)  # one path with gaps: a path for each would triple the file
    joined = np.vstack([part for line in lines for part in (line, gap)])
    (thin,) = canvas.axes[at].plot(joined[:, 0], joined[:, 1], color=color, linewidth=0.5, alpha=0.5)
    thin.set_gid(f"instances:{hue}")
    worst = canvas.curve(epsilons, shares.min(axis=0), name, color, at=at, linewidth=1.4)
    worst.set_gid(f"worst:{hue}")
    canvas.axes[at].set_xlim(0, epsilons[-1])
    canvas.axes[at].set_ylim(0, 1.03)


def without_flat(line: Floats) -> Floats:
    """The line without points whose two neighbours are as high: it looks the same and is shorter to write."""
    same = (line[1:-1, 1] == line[:-2, 1]) & (line[1:-1, 1] == line[2:, 1])
    return np.asarray(line[np.concatenate([[True], ~same, [True]])])


def against_epsilon(source: Callable[[int], Shares], name: str, headline: str, dark: bool) -> Any:
    """Figures 3 and 6: what is kept on average, and the two simple mechanisms against the optimum one by one."""
    shares = source(6)
    with drawing(dark=dark, path=None, panels=(1, 2), size=(10.4, 4.4)) as canvas:
        draw_average(canvas, shares, name)
        draw_instances(canvas, shares.epsilons, shares.of_optimum("binary"), "red", at=1, name="binary")
        draw_instances(
            canvas, shares.epsilons, shares.of_optimum("randomized response"), "green", at=1, name="randomized response"
        )
        canvas.axes[1].set_title("each instance, and the worst", color=canvas.theme.muted)
        canvas.axis_names("ε", _SHARE, 1)
        canvas.headline(headline, "six symbols, random distributions")
    return canvas.figure


def better_of_two(source: Callable[[int], Shares], dark: bool) -> Any:
    """Figures 4 and 7: the better of the two simple mechanisms, for four sizes of the alphabet."""
    with drawing(dark=dark, path=None, panels=(2, 2), size=(9.4, 6.6)) as canvas:
        for at, k in enumerate(SIZES):
            shares = source(k)
            best = shares.better()
            draw_instances(canvas, shares.epsilons, best, "blue", at=at)
            canvas.axes[at].set_ylim(0.4, 1.02)
            least = f"{k} symbols, {len(best)} instances: at least {best.min():.1%}"
            canvas.axes[at].set_title(least, color=canvas.theme.muted)
            canvas.axis_names("ε" if at >= 2 else "", _SHARE if at % 2 == 0 else "", at)
        canvas.headline("The better of binary and randomized response", "thick: the worst of all instances")
    return canvas.figure


def draw_cloud(canvas: Canvas, x: Floats, y: Floats, name: str, hue: str, *, at: int) -> None:
    """A point for each instance, named at the one farthest to the right."""
    color = canvas.theme.hues[hue]
    dots = canvas.axes[at].plot(x, y, "o", color=color, markersize=3.2, alpha=0.75, markeredgewidth=0)[0]
    dots.set_gid(name)
    canvas.name_end(x.max(), y[x.argmax()], name, color, at=at)


def scaling(
    small: Callable[[], dict[str, Floats]],
    large: Callable[[], dict[str, Floats]],
    names: tuple[str, str, str],
    laws: tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]],
    headline: str,
    dark: bool,
) -> Any:
    """Figures 5 and 8: utilities at a small and a large ε, against what they grow with."""
    with drawing(dark=dark, path=None, panels=(1, 2), size=(10.4, 4.4)) as canvas:
        for at, (points, best, epsilon) in enumerate(
            ((small(), "binary", SMALL), (large(), "randomized response", LARGE))
        ):
            x = points["x"]
            reach = np.linspace(x.min(), x.max(), 50)
            line = canvas.axes[at].plot(reach, laws[at](reach), color=canvas.theme.muted, linewidth=1.0)[0]
            line.set_gid("law")
            draw_cloud(canvas, x, points["geometric"], "geometric", "orange", at=at)
            draw_cloud(canvas, x, points[best], best, HUES[best], at=at)
            canvas.axes[at].set_ylim(bottom=0)
            canvas.axes[at].set_title(f"ε = {epsilon:g}", color=canvas.theme.muted)
            canvas.axis_names(names[1 + at], names[0], at)
        canvas.headline(headline, "one point for each instance; line: the leading term of the theory")
    return canvas.figure


def _line_16(distance: Floats) -> Floats:
    return np.asarray((np.expm1(SMALL) ** 2 / (np.exp(SMALL) + 1)) * distance**2)


def _line_21(product: Floats) -> Floats:
    return np.asarray(0.5 * product * SMALL**2)


def _line_22(entropy: Floats) -> Floats:
    return np.asarray(entropy - 5 * LARGE * np.exp(-LARGE))


_GEOMETRIC = (
    "As printed in section 3.4, the geometric noise has ratio ε^(1/(k − 1)): for ε > 1 that is not a distribution, and "
    "for ε < 0.567 it is not private, so there is nothing to draw. The figure has what is meant, e^(−ε/(k − 1))."
)

_RANDOM = "The paper does not say how it draws its distributions; these are uniform on the simplex, with a fixed seed."

EXHIBITS = [
    Exhibit(
        "extremal-local",
        2,
        "Binary mechanism and randomized response",
        "Both are staircase mechanisms: the probabilities of an output take two values, whose ratio is e^ε. The binary "
        "mechanism tells which hypothesis makes the symbol likelier, randomized response tells the symbol.",
        figure_2,
        wrong="Equation (9), which this illustrates, says that logarithms of ratios are 0 or ε; they are −ε, 0 or ε.",
    ),
    Exhibit(
        "extremal-local",
        3,
        "Telling two hypotheses apart",
        "These pairs are drawn at random and so have no ties: at ε = 0.1 the binary mechanism is optimal for all 100, "
        "at ε = 10 randomized response is for 74, and the geometric mechanism never is. The optimum comes from "
        "splitting the likelihood order into cells, not from a program over 2^k patterns.",
        partial(against_epsilon, divergence_shares, "D(M0‖M1) / D(P0‖P1)", "What is left of the divergence"),
        differs=_RANDOM,
        wrong="Theorem 5 (binary for small ε) fails where both hypotheses make a symbol equally likely, theorem 8 "
        f"(randomized response for large ε) where two symbols have one ratio P0/P1. {_GEOMETRIC}",
    ),
    Exhibit(
        "extremal-local",
        4,
        "The better of two simple mechanisms",
        "Taking the better of the binary mechanism and randomized response keeps most of the optimal divergence, less "
        "of it the larger the alphabet. The least shares are those of these instances, not a bound, and there is no "
        "reason to give them away: the optimum takes milliseconds.",
        partial(better_of_two, divergence_shares),
        differs=f"{_RANDOM} There are 60 for 3, 4 and 12 symbols, where the paper has 100.",
    ),
    Exhibit(
        "extremal-local",
        5,
        "How the divergence scales",
        "At ε = 0.1 the divergence grows with the square of the total variation, as equation (16) says; at ε = 10 "
        "nearly all of it is left. The geometric mechanism stays far below in both.",
        partial(
            scaling,
            partial(divergences_at, SMALL),
            partial(divergences_at, LARGE),
            ("D(M0‖M1)", "total variation of P0 and P1", "D(P0‖P1)"),
            (_line_16, np.asarray),
            "Divergence at a small and a large budget",
        ),
        differs=_RANDOM,
        wrong="Equation (17), behind the right panel, is printed for the symmetric divergence, with another constant; "
        "it holds for D(M0‖M1) with G = ΣP0/P1 − k − Σ(1 − kP0) ln(P0/P1). The line is its leading term.",
    ),
    Exhibit(
        "extremal-local",
        6,
        "Keeping information",
        "The same for mutual information: for all 100 of these priors the binary mechanism is optimal at ε = 0.1, "
        "randomized response at ε = 10, and the optimum is above both in between. The optimum comes with a "
        "certificate, and its gap is below 1e-9 for all of these priors.",
        partial(against_epsilon, information_shares, "I(X; Y) / H(X)", "What is left of the information"),
        differs=_RANDOM,
        wrong="Theorem 12 (binary for small ε) fails where several sets are equally near to one half: for three "
        f"equally likely symbols randomized response keeps more at every ε. {_GEOMETRIC}",
    ),
    Exhibit(
        "extremal-local",
        7,
        "The better of two, for information",
        "For mutual information too, the better of the two simple mechanisms is close to the optimum when the alphabet "
        "is small. The least shares are read off these instances; there are fewer for 12 symbols, where an optimum "
        "takes a quarter of a second.",
        partial(better_of_two, information_shares),
        differs=f"{_RANDOM} There are 60 for 3 and 4 symbols and 12 for 12, where the paper has 100.",
        wrong="Section 4.1 has the set of the binary mechanism as the arg max of |P(A) − 1/2|; it is the arg min.",
    ),
    Exhibit(
        "extremal-local",
        8,
        "How information scales",
        "At ε = 0.1 the binary mechanism keeps P(T)P(Tᶜ)ε²/2, at ε = 10 randomized response keeps almost the entropy. "
        "The most even split of six symbols is close to one half, so the left panel is narrow.",
        partial(
            scaling,
            partial(informations_at, SMALL),
            partial(informations_at, LARGE),
            ("I(X; Y)", "P(T) P(Tᶜ)", "H(X)"),
            (_line_21, _line_22),
            "Information at a small and a large budget",
        ),
        differs=_RANDOM,
        wrong="Equation (22) is printed with a remainder of the order e^(−2ε); it is of the order e^(−ε).",
    ),
]
