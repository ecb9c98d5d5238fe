"""Charts as plain data for the chart component, all in one quiet style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.mechanism.by_distance import DistanceLine
    from tinct.studio.palette import Theme

LEAST_SHOWN = 1e-12
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_MOST_STEPS = 400
_OTHERS = ("grey", "green", "purple", "orange")
_DASHES = ("dot", "dash", "dashdot", "longdash")


def chart(traces: Sequence[dict[str, Any]], theme: Theme, x: str, y: str, **layout: Any) -> dict[str, Any]:
    """A chart with the studio's axes and margins."""
    axis = {
        "gridcolor": theme.grid,
        "zerolinecolor": theme.grid,
        "linecolor": theme.line,
        "ticks": "outside",
        "tickcolor": theme.line,
        "automargin": True,
        "fixedrange": True,
    }
    title = {"standoff": 10, "font": {"size": 14}}  # small enough for a phone
    look: dict[str, Any] = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": _FONT, "size": 13, "color": theme.muted},
        "margin": {"l": 56, "r": 16, "t": 12, "b": 48},
        "xaxis": {**axis, "title": {**title, "text": x}, "showgrid": False},
        "yaxis": {**axis, "title": {**title, "text": y}},
        "legend": {
            "orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0,
            "font": {"color": theme.text, "size": 12},
        },
        "hoverlabel": {"font": {"family": _FONT}},
        "hovermode": "x unified",
        "showlegend": True,
    }  # fmt: skip
    for name, value in layout.items():
        look[name] = {**look[name], **value} if isinstance(value, dict) and isinstance(look.get(name), dict) else value
    return {"data": list(traces), "layout": look}


def empty(theme: Theme, sentence: str) -> dict[str, Any]:
    """A chart that says why it shows nothing."""
    note = {
        "text": sentence,
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0.5,
        "y": 0.5,
        "font": {"color": theme.muted, "size": 14},
    }
    hidden = {"visible": False}
    return chart([], theme, "", "", xaxis=hidden, yaxis=hidden, annotations=[note], showlegend=False)


def errors_by_distance(found: list[DistanceLine], theme: Theme) -> dict[str, Any]:
    """The probability of a wrong answer against the distance to the boundary, with the baselines."""
    inside = [line for line in found if line.distance >= 0]
    if not inside:
        return empty(theme, "No dataset here has a neighbour with another answer: the truth is private.")
    colors = list(dict.fromkeys(line.color for line in inside))
    traces, notes = [], []
    for number, name in enumerate(inside[0].others):
        worst = _worst(inside, lambda line, name=name: line.others[name])
        traces.append(
            _curve(worst, name, theme.hues[_OTHERS[number % len(_OTHERS)]], dash=_DASHES[number % len(_DASHES)])
        )
    curves = [(color, {line.distance: line.wrong for line in inside if line.color == color}) for color in colors]
    if len(colors) > 1 and all(curve == curves[0][1] for _, curve in curves):
        curves = [("", curves[0][1])]
    by_answer = not any(isinstance(color, tuple) for color in colors)  # orders may share their best answer
    hues = theme.colors(colors) if by_answer else [theme.hue(number) for number in range(len(colors))]
    for number, (color, curve) in enumerate(curves[:8]):
        name = "tinct" if color == "" else f"tinct, when the truth is {plain(color)}"
        paint = theme.hues["blue"] if color == "" else hues[number]
        traces.append(_curve(curve, name, paint, width=3, markers=True))
        zeros = [distance for distance, error in curve.items() if error == 0]
        if zeros and number == 0:
            notes.append(_zero_note(min(zeros), theme))
    return chart(
        traces, theme, "steps to the boundary", "probability of a wrong answer",
        yaxis={"type": "log", "exponentformat": "power", "dtick": 1 if _is_deep(inside) is False else None},
        xaxis={"rangemode": "tozero", "dtick": 1 if max(line.distance for line in inside) <= 12 else None},
        annotations=notes,
    )  # fmt: skip


def plain(color: Any) -> str:
    """A colour or an order in a few letters."""
    return " > ".join(map(str, color)) if isinstance(color, tuple) else str(color)


def _is_deep(inside: list[DistanceLine]) -> bool:
    shown = [line.wrong for line in inside if line.wrong > LEAST_SHOWN]
    return bool(shown) and min(shown) < 1e-6


def _worst(inside: list[DistanceLine], error: Any) -> dict[int, float]:
    found: dict[int, float] = {}
    for line in inside:
        found[line.distance] = max(found.get(line.distance, 0.0), error(line))
    return found


def _curve(
    points: dict[int, float], name: str, color: str, *, width: float = 2, dash: str = "solid", markers: bool = False
) -> dict[str, Any]:
    """Zero has no place on a logarithmic scale: the curve ends there."""
    steps = sorted(points)[:_MOST_STEPS]
    return {
        "type": "scatter",
        "mode": "lines+markers" if markers and len(steps) <= 40 else "lines",
        "x": steps,
        "y": [points[step] if points[step] > LEAST_SHOWN else None for step in steps],
        "name": name,
        "line": {"color": color, "width": width, "dash": dash},
        "marker": {"size": 7},
        "hovertemplate": "%{y:.4g}",
    }


def _zero_note(step: int, theme: Theme) -> dict[str, Any]:
    return {
        "x": 1,
        "y": 0.02,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "right",
        "yanchor": "bottom",
        "text": f"tinct is never wrong from {step} step{'s' if step != 1 else ''} on",
        "showarrow": False,
        "font": {"color": theme.text, "size": 13},
    }


def line_view(found: list[DistanceLine], outputs: Sequence[Any], theme: Theme) -> dict[str, Any]:
    """All datasets as a line: the first answer's on the left of the boundary, the second's on the right."""
    inside = [line for line in found if line.distance >= 0] or found
    colors = list(dict.fromkeys(line.color for line in inside))
    if len(colors) != 2 or isinstance(colors[0], tuple):
        return _stack_by_rank(inside, outputs, theme)
    left = sorted((line for line in inside if line.color == colors[0]), key=lambda line: -line.distance)
    right = sorted((line for line in inside if line.color == colors[1]), key=lambda line: line.distance)
    both = [*left[-_MOST_STEPS:], *right[:_MOST_STEPS]]
    places = [-line.distance - 0.5 if line.color == colors[0] else line.distance + 0.5 for line in both]
    hues = theme.colors(outputs)
    traces = [
        _area(places, [line.row[code] for line in both], str(output), hues[code]) for code, output in enumerate(outputs)
    ]
    return chart(
        traces, theme, f"← {colors[0]}   steps to the boundary   {colors[1]} →", "probability of each answer",
        yaxis={"range": [0, 1], "tickformat": ".0%"},
    )  # fmt: skip


def _stack_by_rank(inside: list[DistanceLine], outputs: Sequence[Any], theme: Theme) -> dict[str, Any]:
    color = inside[0].color
    order = color if isinstance(color, tuple) else tuple(outputs)
    mine = [line for line in inside if line.color == color][:_MOST_STEPS]
    rows = [[line.row[list(outputs).index(answer)] for answer in order] for line in mine]
    return stack([line.distance for line in mine], rows, order, outputs, theme)


def stack(
    steps: Sequence[float], rows: Sequence[Sequence[float]], order: Sequence[Any], outputs: Sequence[Any], theme: Theme
) -> dict[str, Any]:
    """The probabilities of all answers against the distance, the best answer at the bottom."""
    hues = theme.colors(outputs)
    traces = [
        _area(steps, [row[rank] for row in rows], str(answer), hues[list(outputs).index(answer)])
        for rank, answer in enumerate(order)
    ]
    return chart(
        traces, theme, "steps to the boundary of this region", "probability of each answer",
        yaxis={"range": [0, 1], "tickformat": ".0%"},
    )  # fmt: skip


def _area(x: Sequence[float], y: Sequence[float], name: str, color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "stackgroup": "all",
        "x": list(x),
        "y": list(y),
        "name": name,
        "line": {"color": color, "width": 1},
        "fillcolor": f"{color}cc",
        "hovertemplate": "%{y:.4%}",
    }


def frontier_chart(
    points: list[list[float]],
    here: tuple[float, float],
    balanced: tuple[float, float],
    names: Sequence[Any],
    theme: Theme,
) -> dict[str, Any]:
    """What the two boundaries can have at most, and where we are."""
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": [point[0] for point in points],
        "y": [point[1] for point in points],
        "line": {"color": theme.hues["blue"], "width": 3},
        "fill": "tozeroy",
        "fillcolor": f"{theme.hues['blue']}22",
        "name": "achievable",
        "hovertemplate": "%{y:.4f}",
    }
    marks = [
        dot(balanced, "balanced", theme.muted, "circle-open", 12),
        dot(here, "chosen", theme.hues["red"], "circle", 12),
    ]
    return chart(
        [curve, *marks], theme, f"truth on the boundary of {names[0]}", f"truth on the boundary of {names[1]}",
        xaxis={"range": [0, 1.02], "tickformat": ".0%"}, yaxis={"range": [0, 1.02], "tickformat": ".0%"},
        hovermode="closest",
    )  # fmt: skip


def dot(place: tuple[float, float], name: str, color: str, symbol: str, size: int) -> dict[str, Any]:
    """One point that stands out."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [place[0]],
        "y": [place[1]],
        "name": name,
        "marker": {"color": color, "size": size, "symbol": symbol, "line": {"width": 2, "color": color}},
    }
