"""What the Local page shows: cells, matrix, utility and regimes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from dash import html

from tinct.local.divergences import divergence
from tinct.studio import charts, parts
from tinct.studio.local.state import UTILITIES

if TYPE_CHECKING:
    from tinct.local import Regime
    from tinct.studio.local.solving import Randomiser
    from tinct.studio.local.state import LocalState
    from tinct.studio.palette import Theme

_CURVES = {"binary": "dash", "randomized response": "dot", "subset selection": "dashdot", "geometric": "longdash"}
_EDGE = 3.0  # how far beyond the others a ratio of 0 or ∞ is drawn


def headline(state: LocalState, found: Randomiser) -> Any:
    """What the mechanism does and what it achieves."""
    mechanism = found.mechanism
    cells = mechanism.cells or ()
    full = divergence(state.p0, state.p1, state.utility)
    share = (mechanism.value or 0.0) / full if 0 < full < math.inf else math.nan
    kept = f", {share:.1%} of what is there without privacy" if share == share else ""
    return [
        html.B(f"{len(cells)} cell{'s' if len(cells) != 1 else ''}: "),
        f"everybody reports their cell by randomized response. {UTILITIES[state.utility]}: ",
        f"{mechanism.value:.6g} per report{kept}.",
    ]


def ratio_places(state: LocalState) -> list[float]:
    """Where each symbol stands on the ratio axis; 0 and ∞ a little beyond the others."""
    p0, p1 = np.array(state.p0), np.array(state.p1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = p0 / p1
    finite = ratio[np.isfinite(ratio) & (ratio > 0)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (1.0, 1.0)
    placed = np.where(ratio == 0, low / _EDGE, np.where(np.isinf(ratio), high * _EDGE, ratio))
    return [float(value) for value in np.nan_to_num(placed, nan=1.0)]


def cells_chart(state: LocalState, found: Randomiser, theme: Theme) -> dict[str, Any]:
    """Symbols on the likelihood-ratio axis, coloured by cell: filled under P0, open under P1."""
    places, cells = ratio_places(state), found.mechanism.cells or ()
    at = {symbol: number for number, symbol in enumerate(state.symbols)}
    traces, shapes, ends = [], [], [[places[at[symbol]] for symbol in cell] for cell in cells]
    for number, cell in enumerate(cells):
        where, hue = [at[symbol] for symbol in cell], theme.hue(number)
        for values, name, symbol in ((state.p0, "P0", "circle"), (state.p1, "P1", "circle-open")):
            traces.append(
                {
                    "type": "scatter", "mode": "markers", "x": [places[x] for x in where],
                    "y": [values[x] for x in where], "name": f"cell {number + 1}", "legendgroup": str(number),
                    "showlegend": name == "P0", "text": [f"{state.symbols[x]}, {name}" for x in where],
                    "marker": {"color": hue, "size": 12, "symbol": symbol, "line": {"width": 2, "color": hue}},
                    "hovertemplate": "%{text}: %{y:.4g}<extra></extra>",
                }
            )  # fmt: skip
        shapes += [
            {
                "type": "line", "x0": places[x], "x1": places[x], "y0": min(state.p0[x], state.p1[x]),
                "y1": max(state.p0[x], state.p1[x]), "line": {"color": hue, "width": 1.5},
            }
            for x in where
        ]  # fmt: skip
    for before, after in pairwise(ends):
        cut = math.sqrt(max(before) * min(after))
        shapes.append(
            {
                "type": "line", "x0": cut, "x1": cut, "y0": 0, "y1": 1, "yref": "paper",
                "line": {"color": theme.muted, "width": 1.5, "dash": "dot"},
            }
        )  # fmt: skip
    return charts.chart(
        traces, theme, "likelihood ratio P0/P1", "probability of the symbol",
        xaxis={"type": "log", "tickformat": ".3~g", "dtick": "D2", "showgrid": True},
        yaxis={"rangemode": "tozero"}, shapes=shapes, hovermode="closest",
    )  # fmt: skip


def matrix_chart(state: LocalState, found: Randomiser, theme: Theme) -> dict[str, Any]:
    """The mechanism as a heat map: symbols down, reports across."""
    matrix = found.mechanism.matrix
    reports = [f"cell {number + 1}" for number in range(matrix.shape[1])]
    small = matrix.size <= 80
    heat = {
        "type": "heatmap",
        "z": matrix.tolist(),
        "x": reports,
        "y": list(state.symbols),
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, theme.background], [1, theme.hues["blue"]]],
        "texttemplate": "%{z:.1%}" if small else "",
        "hovertemplate": "symbol %{y} → %{x}: %{z:.4%}<extra></extra>",
        "colorbar": {"tickformat": ".0%", "outlinewidth": 0, "thickness": 12},
        "xgap": 1,
        "ygap": 1,
    }
    return charts.chart(
        [heat], theme, "report", "symbol", yaxis={"autorange": "reversed", "type": "category", "showgrid": False},
        showlegend=False, hovermode="closest",
    )  # fmt: skip


def utility_chart(state: LocalState, found: Randomiser, theme: Theme) -> dict[str, Any]:
    """The utility against ε, for the optimum and its rivals, with the current point and the regimes."""
    epsilons = [line.epsilon for line in found.comparisons]
    traces = []
    for number, (name, dash) in enumerate(_CURVES.items()):
        values = [line.values.get(name) for line in found.comparisons]
        if any(value is not None for value in values):
            hue = theme.hues[("red", "green", "purple", "grey")[number]]
            traces.append(_line(epsilons, values, name, hue, dash, 2))
    best = [line.values["optimal"] for line in found.comparisons]
    traces.append(_line(epsilons, best, "optimal", theme.hues["blue"], "solid", 3))
    here = (found.mechanism.epsilon, found.mechanism.value or 0.0)
    traces.append(charts.dot(here, "here", theme.text, "circle", 11))
    shapes = [
        {
            "type": "line", "x0": threshold, "x1": threshold, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": theme.line, "width": 1, "dash": "dot"},
        }
        for threshold in (found.regimes.thresholds if found.regimes else ())[:60]
    ]  # fmt: skip
    return charts.chart(
        traces, theme, "ε", UTILITIES[state.utility], yaxis={"rangemode": "tozero"}, shapes=shapes
    )  # fmt: skip


def _line(x: list[float], y: list[Any], name: str, color: str, dash: str, width: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "name": name,
        "line": {"color": color, "width": width, "dash": dash},
        "hovertemplate": "%{y:.4g}",
    }


def regime_name(regime: Regime, ratios: int) -> str:
    """What the optimum is called in a regime, if it has a name."""
    if regime.count == ratios:
        return "randomized response" if ratios != 2 else "randomized response = binary"
    return {1: "nothing can be told apart", 2: "a binary cut"}.get(regime.count, f"{regime.count} cells")


def regimes_table(found: Randomiser) -> Any:
    """Which mechanism is optimal at which budgets."""
    if found.regimes is None:
        return html.P("With so many symbols the map of regimes takes long: see tinct.local.regimes.", className="hint")
    here = found.mechanism.epsilon
    rows = []
    for regime in found.regimes.regimes[:60]:
        inside = regime.start <= here <= regime.end
        cells = " | ".join(" ".join(map(str, cell)) for cell in regime.cells)
        rows.append(
            [
                html.B("▸ here") if inside else "",
                f"{regime.start:.4g} – {regime.end:.4g}",
                regime_name(regime, found.regimes.ratios),
                cells if len(cells) <= 80 else f"{cells[:80]}…",
            ]
        )
    return parts.table(["", "ε", "the optimum", "cells, by likelihood ratio"], rows, numeric_from=9)


def python_lines(state: LocalState) -> str:
    """A script that designs the same mechanism and maps its regimes."""
    return "\n".join(
        [
            "from tinct import local",
            "",
            f"p0 = {list(state.p0)!r}",
            f"p1 = {list(state.p1)!r}",
            f"symbols = {list(state.symbols)!r}",
            f"mechanism = local.optimal(p0, p1, {state.epsilon!r}, {state.utility!r}, symbols=symbols)",
            "print(mechanism.cells, mechanism.value)",
            "print(mechanism.matrix)",
            "",
        ]
    )
