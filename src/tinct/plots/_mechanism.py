"""A mechanism as a figure: pies on its graph if it is small, curves by distance if it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.mechanism import Mechanism
from tinct.plots._errors import errors
from tinct.plots._graph import graph
from tinct.plots.layouts import is_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from tinct._files import FilePath

MOST_PIES = 60
LONGEST_ROW = 12
_KINDS = ("auto", "graph", "curves")


def mechanism(
    mechanism: Mechanism,
    *,
    kind: str = "auto",
    compare: bool | Mapping[str, Mechanism] = True,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw a mechanism: every vertex a pie of its distribution, or the error against the distance to the boundary.

    Args:
        mechanism: Any mechanism.
        kind: ``"graph"`` for pies, ``"curves"`` for errors by distance, ``"auto"`` for pies on graphs of up to 60
            vertices (12 in a row) and on small ones without a boundary, curves otherwise.
        compare: In curves, also draw what people would otherwise run; or ``{name: mechanism}``.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    if not isinstance(mechanism, Mechanism):
        raise ParameterError(f"a Mechanism is needed, got {mechanism!r:.80}")
    if kind not in _KINDS:
        raise ParameterError(f"kind must be one of {', '.join(_KINDS)}, got {kind!r:.80}")
    if kind == "graph" or (kind == "auto" and suits_pies(mechanism)):
        return graph(mechanism, title=title, dark=dark, path=path, ax=ax)
    return errors(mechanism, compare=compare, title=title, dark=dark, path=path, ax=ax)


def suits_pies(mechanism: Mechanism) -> bool:
    """Whether a mechanism is small enough for pies; without a boundary there are no curves to draw instead."""
    size = len(mechanism.graph)
    if not (mechanism.graph.boundary_distance() >= 0).any():
        return size <= MOST_PIES * 4
    return size <= (LONGEST_ROW if is_row(mechanism.graph) else MOST_PIES)
