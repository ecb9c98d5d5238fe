"""What private reports say: shares with their intervals, and the errors of a test by its threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.plots import style
from tinct.plots.canvas import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tinct._files import FilePath
    from tinct.local import Estimate, TestResult

_SETTLED = 1e-4  # where both curves are this close to 0 or 1, nothing is shown
_MOST = 60  # symbols that can still be named on one page


def shares(
    estimate: Estimate,
    *,
    top: int = 20,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the likeliest shares of the most frequent symbols, with intervals that hold for all symbols at once.

    Args:
        estimate: What ``LocalMechanism.estimate`` returned.
        top: How many symbols, at most 60.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    from tinct.local import Estimate  # imported here: NumPy is enough to draw other figures

    if not isinstance(estimate, Estimate):
        raise ParameterError(f"an Estimate is needed, got {estimate!r:.80}")
    if isinstance(top, bool) or not isinstance(top, int) or not 1 <= top <= _MOST:
        raise ParameterError.of("top", f"a whole number from 1 to {_MOST}", top)
    order = np.argsort(-estimate.likeliest, kind="stable")[:top]
    places = np.arange(len(order))
    with drawing(dark=dark, path=path, ax=ax) as canvas:
        axes, blue = canvas.axes[0], canvas.theme.hues["blue"]
        axes.hlines(places, estimate.low[order], estimate.high[order], color=blue, linewidth=1.5, alpha=0.6)
        axes.plot(estimate.likeliest[order], places, "o", color=blue, markersize=4)
        axes.set_yticks(places, [style.clean(str(estimate.symbols[at]), 24) for at in order.tolist()])
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlim(left=0.0)
        canvas.axis_names("share of the people", "")
        more = "" if len(order) == len(estimate.symbols) else f", the {len(order)} largest of {len(estimate.symbols):,}"
        note = f"{estimate.reports:,} reports; intervals hold all at once with {estimate.confidence:.0%}{more}"
        canvas.headline(title or "What the reports say", note)
    return canvas.drawn


def errors_of_test(
    result: TestResult,
    *,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw both errors of a test against the threshold from which on it decides for P1, and what was observed.

    Args:
        result: What ``LocalMechanism.test`` returned.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    from tinct.local import TestResult
    from tinct.local.hypothesis_testing import errors_by_threshold

    if not isinstance(result, TestResult):
        raise ParameterError(f"a TestResult is needed, got {result!r:.80}")
    at, above, below = errors_by_threshold(*result.outputs, result.reports)
    with drawing(dark=dark, path=path, ax=ax) as canvas:
        open_ = [(curve > _SETTLED) & (curve < 1 - _SETTLED) for curve in (above, below)]
        kept = open_[0] | open_[1] if (open_[0] | open_[1]).sum() > 1 else np.ones(len(at), bool)
        hues = canvas.theme.hues
        canvas.curve(at[kept], above[kept], "P0 is taken for P1", hues["blue"])
        canvas.curve(at[kept], below[kept], "P1 is taken for P0", hues["orange"])
        if np.isfinite(result.statistic):
            axes = canvas.axes[0]
            axes.axvline(result.statistic, color=canvas.theme.muted, linewidth=1.2, linestyle="--")
            axes.annotate(
                "observed", (result.statistic, 0.93), xytext=(4, 0), textcoords="offset points", va="center",
                color=canvas.theme.muted, path_effects=canvas.halo(),
            )  # fmt: skip
        canvas.axis_names("decide for P1 from this log likelihood ratio on", "probability of the error")
        canvas.headline(title or "What the test can tell", f"{result.reports:,} reports; p-value {result.p_value:.3g}")
    return canvas.drawn
