"""Figures of mechanisms. Needs the ``plot`` extra; Matplotlib is imported when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import baselines
from tinct.errors import ParameterError
from tinct.privacy import Privacy

if TYPE_CHECKING:
    from pathlib import Path

    from tinct.mechanism import Mechanism

# Okabe and Ito's palette, which colour-blind readers can tell apart
_OURS, _OTHERS = "#0072B2", ("#999999", "#D55E00", "#E69F00")
_LEAST_SHOWN = 1e-9


def mechanism(mechanism: Mechanism, *, compare: bool = True, path: str | Path | None = None) -> Any:
    """Draw the probability of a wrong answer against the distance to the boundary, on a logarithmic scale.

    Args:
        mechanism: A mechanism on a graph with two colours.
        compare: Also draw what people would otherwise run, if the mechanism has one (ε, δ) for all edges.
        path: Write the figure there (.png, .svg or .pdf).

    Returns:
        The Matplotlib figure.
    """
    figure, axes = _new_figure()
    graph = mechanism.graph
    distance = graph.boundary_distance()
    deepest = int(distance.max(initial=0))
    sides = [(graph.coloring.codes == code) & (distance >= 0) for code in range(len(graph.outputs))]
    curves = [_worst_by_distance(distance[side], mechanism.error()[side]) for side in sides if side.any()]
    if len(curves) == 2 and np.array_equal(curves[0][1], curves[1][1]):
        _curve(axes, *curves[0], "tinct", _OURS, "-")
    else:
        for curve, output, style in zip(curves, graph.outputs, ("-", "--"), strict=False):
            _curve(axes, *curve, f"tinct, when the truth is {output}", _OURS, style)
    if compare and isinstance(mechanism.privacy, Privacy) and (distance >= 0).all():
        for color, (name, build) in zip(_OTHERS, baselines.ALL.items(), strict=True):
            steps, worst = _worst_by_distance(distance, build(graph, mechanism.privacy).error())
            _curve(axes, steps, worst, name, color, "-")
    axes.set_yscale("log")
    axes.set_xlim(-0.2, max(deepest, 1) * 1.02)
    axes.set_xlabel("people who would have to change before one more could change the answer")
    axes.set_ylabel("probability of a wrong answer")
    axes.legend(frameon=False)
    if isinstance(mechanism.privacy, Privacy):
        axes.set_title(f"ε = {mechanism.privacy.epsilon:g}, δ = {mechanism.privacy.delta:g}", loc="left", fontsize=11)
    if path is not None:
        figure.savefig(path, dpi=160)
    return figure


def _new_figure() -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("Matplotlib is not installed: pip install 'tinct[plot]'") from None
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _worst_by_distance(distance: Any, error: Any) -> tuple[Any, Any]:
    """The largest error at every distance."""
    worst = np.zeros(int(distance.max()) + 1)
    np.maximum.at(worst, distance, error)
    return np.arange(len(worst)), worst


def _curve(axes: Any, steps: Any, error: Any, name: str, color: str, style: str) -> None:
    """Zero has no logarithm: the curve ends with an arrow where the error becomes exactly zero."""
    shown = error > _LEAST_SHOWN
    axes.plot(steps[shown], error[shown], style, color=color, marker="o", markersize=3.5, linewidth=1.6, label=name)
    if (error == 0).any() and shown.any():
        last = int(np.flatnonzero(shown)[-1])
        axes.annotate(
            f"exactly 0 from {int(np.argmax(error == 0))}",
            (steps[last], error[last]),
            xytext=(8, -4),
            textcoords="offset points",
            color=color,
            fontsize=9,
        )
