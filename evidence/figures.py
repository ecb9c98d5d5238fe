"""The figure of the report: the p-values of all audited rows beside those of a sampler without a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.plots import style
from tinct.plots.canvas import drawing

if TYPE_CHECKING:
    from pathlib import Path


def draw_audit(found: dict[str, Any], path: Path, *, dark: bool) -> None:
    """Sorted p-values against the quantiles of the uniform distribution, both on a logarithmic scale.

    A faultless sampler's lie along the diagonal. A fault that the table of least p-values would miss, such as rows that
    all fit a little too badly or too well, bends them away from it.
    """
    values = np.sort(np.concatenate([one["p_values"] for one in found["paths"].values()]))
    values = values[values < 1]  # rows with a single possible answer say nothing
    expected = (np.arange(len(values)) + 0.5) / len(values)
    with drawing(dark=dark, path=path, panels=(1, 1), size=(6.4, 4.4)) as canvas:
        axes, theme = canvas.axes[0], canvas.theme
        axes.plot([expected[0] / 4, 1], [expected[0] / 4, 1], color=theme.line, linewidth=1)
        axes.plot(expected, values, "o", markersize=3, color=theme.hues["blue"])
        limit = min(one["threshold"] for one in found["paths"].values())
        axes.axhline(limit, color=theme.hues["red"], linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate("limit", (1, limit), xytext=(0, 4), textcoords="offset points", ha="right", color=theme.muted)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(style.power_of_ten)
        canvas.axis_names("p-value of a faultless sampler", "p-value of a row", 0)
        draws = sum(one["draws"] for one in found["paths"].values())
        canvas.headline("Releases follow their tables", f"{len(values)} rows, {draws:,} draws")
