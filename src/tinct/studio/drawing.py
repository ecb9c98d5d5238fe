"""A mechanism as a picture: every vertex a pie of its distribution, edges where the answer changes marked.

Elements and styles are plain data for the graph component; the same elements also make the SVG file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from tinct.graphs.labels import to_text
from tinct.studio.palette import GLOW, LIGHT, Theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph

MOST_DRAWN = 300  # larger graphs are shown by distance
_LABELLED = 130
_MOST_SLICES = 16  # of a pie, as many as the graph component has
_MARGIN = 60
_FEW = 60


@dataclass(frozen=True)
class Marks:
    """What stands out in a picture, by position of vertices and number of edges."""

    fixed: frozenset[int] = frozenset()
    path: tuple[int, ...] = ()
    selected: int | None = None
    edge: int | None = None
    budgets: dict[int, str] = field(default_factory=dict)


def elements(
    graph: DatasetGraph, points: NDArray[Any], table: NDArray[Any] | None, marks: Marks
) -> list[dict[str, Any]]:
    """Vertices and edges for the graph component; without a table, vertices show their own colour, dimmed."""
    places = points.round(2).tolist()
    truth = graph.coloring.true_outputs().tolist()
    codes = graph.coloring.codes.tolist()
    steps = set(zip(marks.path, marks.path[1:], strict=False)) | set(zip(marks.path[1:], marks.path, strict=False))
    rows = None if table is None else (100 * table).round(4).tolist()
    named = len(graph) <= _LABELLED
    found: list[dict[str, Any]] = []
    for at, vertex in enumerate(graph.vertices):
        row = rows[at] if rows is not None else [100.0 * (code == truth[at]) for code in range(len(graph.outputs))]
        known = rows is not None and row[0] == row[0]
        classes = [
            f"truth-{truth[at]}",
            "" if known else "unknown",
            "fixed" if at in marks.fixed else "",
            "on-path" if at in marks.path else "",
            "selected" if at == marks.selected else "",
        ]
        pie = {f"p{code}": (part if known else 100.0 * (code == truth[at])) for code, part in enumerate(row)}
        found.append(
            {
                "data": {"id": str(at), "label": _label(vertex) if named else "", **pie},
                "position": {"x": places[at][0], "y": places[at][1]},
                "classes": " ".join(filter(None, classes)),
            }
        )
    for number, (u, v) in enumerate(graph.ends.tolist()):
        classes = [
            "boundary" if codes[u] != codes[v] else "",
            "on-path" if (u, v) in steps else "",
            "own-budget" if number in marks.budgets else "",
            "selected" if number == marks.edge else "",
        ]
        data = {"id": f"e{number}", "source": str(u), "target": str(v), "label": marks.budgets.get(number, "")}
        found.append({"data": data, "classes": " ".join(filter(None, classes))})
    return found


def _label(vertex: Any) -> str:
    """The name of a vertex under its pie; counts without brackets, since there is little room.

    >>> _label((2, 0, 6)), _label("ann")
    ('2,0,6', 'ann')
    """
    return to_text(vertex).strip("[]").replace(", ", ",") if isinstance(vertex, tuple) else to_text(vertex)


def stylesheet(outputs: Sequence[Any], vertices: int, theme: Theme) -> list[dict[str, Any]]:
    """Styles of the graph component."""
    size, hues = node_size(vertices), theme.colors(outputs)
    pies: dict[str, Any] = {"pie-size": "100%"}
    for code, hue in enumerate(hues[:_MOST_SLICES]):
        pies[f"pie-{code + 1}-background-color"] = hue
        pies[f"pie-{code + 1}-background-size"] = f"data(p{code})"
    node = {
        "width": size,
        "height": size,
        "background-color": theme.grid,
        "border-width": size / 9,
        "label": "data(label)",
        "font-size": 13,
        "font-family": "system-ui, sans-serif",
        "color": theme.muted,
        "text-valign": "bottom",
        "text-margin-y": 4,
        "min-zoomed-font-size": 9,  # what cannot be read is left out
        "text-background-color": theme.background,
        "text-background-opacity": 0.9,
        "text-background-padding": "1px",
        **pies,
    }
    edge = {
        "width": 2 if vertices <= _FEW else 4,
        "line-color": theme.line,
        "curve-style": "straight",
        "label": "data(label)",
        "font-size": 12,
        "color": theme.text,
        "text-background-color": theme.background,
        "text-background-opacity": 0.9,
        "text-background-padding": "2px",
    }
    glow = {"underlay-color": GLOW, "underlay-opacity": 0.9, "underlay-padding": 9}
    return [
        {"selector": "node", "style": node},
        {"selector": "edge", "style": edge},
        *({"selector": f".truth-{code}", "style": {"border-color": hue}} for code, hue in enumerate(hues)),
        {"selector": ".unknown", "style": {"opacity": 0.35}},
        {"selector": "edge.boundary", "style": {"width": 4, "line-color": theme.muted, "line-style": "dashed"}},
        {"selector": "edge.own-budget", "style": {"width": 5, "line-color": theme.hues["purple"]}},
        {"selector": "node.fixed", "style": {"shape": "round-rectangle", "border-width": size / 7}},
        {"selector": ".selected", "style": {"overlay-color": theme.text, "overlay-opacity": 0.16}},
        {"selector": "node.on-path", "style": {"opacity": 1, "color": theme.text, **glow}},
        {"selector": "edge.on-path", "style": {"width": 5, "line-color": theme.text, "line-style": "solid", **glow}},
    ]


def node_size(vertices: int) -> int:
    """How large a vertex is drawn."""
    return 44 if vertices <= _FEW else 48


def svg(found: list[dict[str, Any]], outputs: Sequence[Any], theme: Theme = LIGHT) -> str:
    """The same picture as an SVG file."""
    nodes = {part["data"]["id"]: part for part in found if "position" in part}
    xs, ys = ([part["position"][axis] for part in nodes.values()] for axis in ("x", "y"))
    box = (min(xs) - _MARGIN, min(ys) - _MARGIN, max(xs) - min(xs) + 2 * _MARGIN, max(ys) - min(ys) + 2 * _MARGIN)
    x, y, width, height = (f"{value:.6g}" for value in box)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{x} {y} {width} {height}" font-family="sans-serif">',
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{theme.background}"/>',
    ]
    lines += [_svg_edge(part, nodes, theme) for part in found if "position" not in part]
    lines += [_svg_node(part, theme.colors(outputs), node_size(len(nodes)), theme) for part in nodes.values()]
    return "\n".join([*lines, "</svg>", ""])


def _svg_edge(part: dict[str, Any], nodes: dict[str, Any], theme: Theme) -> str:
    one, other = (nodes[part["data"][end]]["position"] for end in ("source", "target"))
    classes = part["classes"].split()
    color, width, dash = theme.line, 2, ""
    if "boundary" in classes:
        color, width, dash = theme.muted, 4, ' stroke-dasharray="8 5"'
    if "own-budget" in classes:
        color, width = theme.hues["purple"], 5
    ends = f'x1="{one["x"]:.6g}" y1="{one["y"]:.6g}" x2="{other["x"]:.6g}" y2="{other["y"]:.6g}"'
    glow = ""
    if "on-path" in classes:
        color, width, dash = theme.text, 5, ""
        glow = f'<line {ends} stroke="{GLOW}" stroke-width="22"/>'
    line = f'{glow}<line {ends} stroke="{color}" stroke-width="{width}"{dash}/>'
    x, y = (one["x"] + other["x"]) / 2, (one["y"] + other["y"]) / 2
    return line + _text(x, y, part["data"]["label"], theme.text, theme.background)


def _svg_node(part: dict[str, Any], hues: list[str], size: float, theme: Theme) -> str:
    x, y, data, classes = part["position"]["x"], part["position"]["y"], part["data"], part["classes"].split()
    truth = next(int(name.removeprefix("truth-")) for name in classes if name.startswith("truth-"))
    radius, on_path = size / 2, "on-path" in classes
    glow = f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{radius + 11}" fill="{GLOW}"/>' if on_path else ""
    ring = f'fill="none" stroke="{hues[truth]}" stroke-width="{size / 9:.4g}"'
    if "fixed" in classes:
        corner = f'x="{x - radius:.6g}" y="{y - radius:.6g}" width="{size}" height="{size}" rx="8"'
        edge = f"<rect {corner} {ring}/>"
    else:
        edge = f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{radius}" {ring}/>'
    opacity = ' opacity="0.35"' if "unknown" in classes and not on_path else ""
    pie = _slices(x, y, radius, [data[f"p{code}"] / 100 for code in range(len(hues))], hues)
    name = _text(x, y + radius + 16, data["label"], theme.muted, theme.background)
    return f"<g{opacity}>{glow}{pie}{edge}{name}</g>"


def _slices(x: float, y: float, radius: float, shares: list[float], hues: list[str]) -> str:
    """The slices of a pie, from twelve o'clock on."""
    found, start = [], 0.0
    for hue, share in zip(hues, shares, strict=True):
        end = start + share
        if share >= 1 - 1e-9:
            found.append(f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{radius}" fill="{hue}"/>')
        elif share > 0:
            (x1, y1), (x2, y2) = (
                (x + radius * math.sin(2 * math.pi * turn), y - radius * math.cos(2 * math.pi * turn))
                for turn in (start, end)
            )
            large = int(share > 0.5)
            found.append(
                f'<path d="M{x:.6g} {y:.6g}L{x1:.6g} {y1:.6g}A{radius} {radius} 0 {large} 1 {x2:.6g} {y2:.6g}Z" '
                f'fill="{hue}"/>'
            )
        start = end
    return "".join(found)


def _text(x: float, y: float, label: str, color: str, ground: str) -> str:
    if not label:
        return ""
    rim = f'stroke="{ground}" stroke-width="4" paint-order="stroke"'  # so that no edge runs through it
    place = f'x="{x:.6g}" y="{y:.6g}" text-anchor="middle" font-size="13"'
    return f'<text {place} {rim} fill="{color}">{escape(label)}</text>'
