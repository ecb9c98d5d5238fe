"""A figure that a notebook shows where it is the value of a cell, without pyplot. Imported when something is drawn."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from tinct.plots.figure_files import render


class ShownFigure(Figure):
    """Matplotlib's figure. On its own, that one shows itself only where pyplot was imported before."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """The picture, and the size it is meant to have: it has more dots than that, for screens that show them."""
        width, height = (round(inches * 100) for inches in self.get_size_inches())
        return render(self, ".png"), {"width": width, "height": height}
