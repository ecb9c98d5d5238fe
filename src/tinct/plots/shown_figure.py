"""A figure that a notebook shows where it is the value of a cell, without pyplot."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tinct.plots.figure_files import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@cache
def shown_figure() -> type[Figure]:
    """Matplotlib's figure, made to show itself; on its own, it does so only where pyplot was imported before."""
    from matplotlib.figure import Figure  # only when something is drawn

    class ShownFigure(Figure):
        """Matplotlib's figure, which a notebook shows."""

        def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
            """The picture, and the size it is meant to have: it has more dots than that, for screens that show them."""
            width, height = (round(inches * 100) for inches in self.get_size_inches())
            return render(self, ".png"), {"width": width, "height": height}

    return ShownFigure
