"""Graphs of datasets: every vertex a pie of its distribution, a ring in its true colour, the boundary marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, Way
from tinct.graphs import Budget, DatasetGraph
from tinct.mechanism import Mechanism
from tinct.plots import style
from tinct.plots.canvas import Canvas, drawing, place_names
from tinct.plots.layouts import positions as layout
from tinct.privacy import SuitablePair

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tinct._files import FilePath
    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]

MOST_VERTICES = 400
_NAMED = 60  # vertices up to which names are written
_VALUED = 24  # vertices up to which the truth is written under the names
_RING = (1.11, 1.30)  # of the radius, where the ring in the true colour begins and ends
_FIXED = 1.46  # of the radius, the circle around a vertex whose row was given
_NAME_SIZE = 8.5
_IN_KEY = 10
_LEAST_SHARE = 1e-6  # smaller parts of a pie cannot be seen


def graph(
    drawn: Mechanism | DatasetGraph,
    *,
    positions: Mapping[Any, tuple[float, float]] | None = None,
    names: bool | Mapping[Any, str] = True,
    values: bool | None = None,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw a mechanism on its graph, or a graph without a mechanism.

    The ring around a vertex has the colour of its true (or most preferred) answer, the pie inside shows how often each
    answer is given, clockwise from the top in the order of the outputs. Edges between different colours stand out. A
    thin circle marks vertices whose row was fixed. If edges have budgets of their own, wide ones have the smaller.

    Args:
        drawn: A mechanism or a graph, of at most 400 vertices.
        positions: ``{vertex: (x, y)}``; left out, rows, rings, cubes, grids and triangles are recognised, and
            anything else is placed by its distances.
        names: Whether to write the vertices' names; or other names for some of them.
        values: Whether to write the probability of the true answer below the names; if left out, on small graphs.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    mechanism = drawn if isinstance(drawn, Mechanism) else None
    dataset_graph = drawn.graph if isinstance(drawn, Mechanism) else drawn
    if not isinstance(dataset_graph, DatasetGraph):
        raise ParameterError(f"a Mechanism or a DatasetGraph is needed, got {drawn!r:.80}")
    _require_drawable(dataset_graph)
    if not isinstance(names, bool | Mapping):
        raise ParameterError(f"names must be True, False or a mapping from vertices to text, got {names!r:.80}")
    points, shape = layout(dataset_graph, positions)
    with drawing(dark=dark, path=path, ax=ax, size=_size(points, shape)) as canvas:
        network = Network(dataset_graph, mechanism, points, shape == "row", names, values)
        draw_network(canvas, network)
        canvas.headline(*_words(dataset_graph, mechanism, title))
    return canvas.drawn


def _words(dataset_graph: DatasetGraph, mechanism: Mechanism | None, title: str | None) -> tuple[str, str]:
    if mechanism is None:
        orders = "; an order of preference from the outside in" if dataset_graph.coloring.has_orders else ""
        return title or "Datasets and their neighbours", f"{len(dataset_graph):,} datasets{orders}"
    note = f"{style.privacy_text(mechanism.privacy)}; pies: answers given, rings: the true answer"
    return title or "How often each answer is given", note


@dataclass(frozen=True)
class Network:
    """What to draw in a panel: a graph, the mechanism on it if there is one, and where the vertices are."""

    graph: DatasetGraph
    mechanism: Mechanism | None
    points: Floats
    row: bool = False
    names: bool | Mapping[Any, str] = True
    values: bool | None = None

    @property
    def radius(self) -> float:
        """The radius of the pies: a good part of the way to the nearest vertex, but not too large for the page."""
        return vertex_radius(self.points)


def vertex_radius(points: Floats) -> float:
    """The radius of pies around these points."""
    extent = float(np.ptp(points, axis=0).max(initial=0.0)) if len(points) else 0.0
    if len(points) < 2 or extent == 0:
        return 0.25
    apart = np.hypot(*(points[:, None] - points[None, :]).transpose(2, 0, 1))
    apart[np.diag_indices(len(points))] = np.inf
    return float(max(min(0.26 * apart.min(), 0.05 * extent + 0.05), 1e-3 * extent))


def draw_network(canvas: Canvas, network: Network, *, at: int = 0, key: bool = True) -> None:
    """Draw a network into a panel, with a key of the answers below it."""
    axes, points, radius = canvas.axes[at], network.points, network.radius
    axes.set_axis_off()
    axes.set_aspect("equal")
    _draw_edges(axes, canvas.theme, network)
    colors = canvas.theme.colors(network.graph.outputs)
    if network.mechanism is None:
        _draw_orders(axes, network, colors)
    else:
        _draw_rings(axes, canvas.theme, network, colors)
        for vertex, row in enumerate(network.mechanism.table):
            _draw_pie(axes, canvas.theme, network, vertex, row, colors)
    room = (_FIXED + 0.25) * radius
    axes.set_xlim(points[:, 0].min() - room, points[:, 0].max() + room)
    axes.set_ylim(points[:, 1].min() - room, points[:, 1].max() + room)
    if key:
        named = list(zip(colors, map(style.clean, network.graph.outputs), strict=True))
        canvas.key(named[:_IN_KEY], at=at)
    if network.names is not False and len(network.graph) <= _NAMED:
        canvas.later(partial(_write_names, axes, network))


def _require_drawable(dataset_graph: DatasetGraph) -> None:
    if len(dataset_graph) > MOST_VERTICES:
        raise ParameterError(
            f"a drawing of {len(dataset_graph):,} vertices would show nothing: at most {MOST_VERTICES} are drawn; ",
            Way("plots.errors", "tinct plot errors"),
            " shows any graph by distance",
        )


def _size(points: Floats, shape: str) -> tuple[float, float]:
    """The size of a figure in inches, after the shape of what it shows."""
    width, height = np.ptp(points, axis=0) + 1e-9
    if shape == "row":
        return float(np.clip(1.05 * len(points) + 0.8, 4.6, 12.0)), 2.3
    ratio = float(np.clip(height / width, 0.45, 1.0))
    wide = style.PANEL[0] if len(points) <= 60 else 8.4
    return (wide, wide * ratio + 1.1) if height <= width else (wide * 0.86, wide * 0.86 + 1.1)


def _draw_edges(axes: Any, colors: style.Theme, network: Network) -> None:
    from matplotlib.collections import LineCollection

    ends, codes = network.graph.ends, network.graph.coloring.codes
    if not len(ends):
        return
    crossing = codes[ends[:, 0]] != codes[ends[:, 1]]
    widths = edge_widths(network.graph, network.mechanism.privacy if network.mechanism else None)
    lines = LineCollection(
        list(network.points[ends]),
        colors=[colors.text if crosses else colors.line for crosses in crossing.tolist()],
        linewidths=np.where(crossing, 1.5 * widths, widths),
        zorder=1,
    )
    lines.set_gid("edges")
    axes.add_collection(lines)


def edge_widths(dataset_graph: DatasetGraph, privacy: PrivacyLike | None) -> Floats:
    """The width of each edge in points: 1.3 with one budget for all, else from 4 for the least ε down to 1."""
    if privacy is None or isinstance(privacy, SuitablePair) or not len(dataset_graph.ends):
        return np.full(len(dataset_graph.ends), 1.3)
    budget = Budget(dataset_graph, privacy)
    sizes = np.empty(len(dataset_graph.ends))
    for entry, edge in enumerate(dataset_graph.edge_ids.tolist()):
        pair = budget.at_entry(entry)
        sizes[edge] = getattr(pair, "epsilon", getattr(pair, "mu", np.nan))
    span = np.ptp(sizes)
    return 4.0 - 3.0 * (sizes - sizes.min()) / span if span > 0 else np.full(len(sizes), 1.3)


def _draw_discs(axes: Any, points: Floats, radius: float, colors: Sequence[str], **options: Any) -> None:
    """Discs of one size; files hold their outline once."""
    from matplotlib.collections import EllipseCollection

    name, size = options.pop("name"), [2.0 * radius]
    discs = EllipseCollection(size, size, [0.0], units="xy", offsets=points, offset_transform=axes.transData, **options)
    discs.set_facecolor(list(colors))
    discs.set_gid(name)
    axes.add_collection(discs)


def _draw_rings(axes: Any, colors: style.Theme, network: Network, hues: list[str]) -> None:
    """Rings in the true colours, and circles around the vertices whose rows were given."""
    truth = [hues[answer] for answer in network.graph.coloring.true_outputs().tolist()]
    inner, outer = (share * network.radius for share in _RING)
    _draw_discs(axes, network.points, outer, truth, zorder=2, linewidths=0, name="rings")
    blank = [colors.background] * len(network.points)
    _draw_discs(axes, network.points, inner, blank, zorder=3, linewidths=0, name="gaps")
    fixed = network.mechanism.fixed if network.mechanism is not None else None
    if fixed is not None and len(fixed):
        look = {"edgecolors": colors.text, "linewidths": 1.0, "zorder": 2, "name": "fixed"}
        _draw_discs(axes, network.points[fixed], _FIXED * network.radius, ["none"] * len(fixed), **look)


def _draw_pie(axes: Any, colors: style.Theme, network: Network, vertex: int, row: Floats, hues: list[str]) -> None:
    from matplotlib.patches import Circle, Wedge

    x, y = network.points[vertex].tolist()
    turn = 90.0
    for output, share in enumerate(row.tolist()):
        if share < _LEAST_SHARE:
            continue
        look: dict[str, Any] = {"facecolor": hues[output], "edgecolor": colors.background, "linewidth": 0.6}
        whole, radius = share > 1.0 - _LEAST_SHARE, network.radius
        pie = Circle((x, y), radius, **look) if whole else Wedge((x, y), radius, turn - 360.0 * share, turn, **look)
        pie.set_gid(f"pie:{vertex}:{output}")
        pie.set_zorder(4)
        pie.set_clip_on(False)
        axes.add_patch(pie)
        turn -= 360.0 * share


def _draw_orders(axes: Any, network: Network, hues: list[str]) -> None:
    """Vertices without a mechanism: discs in their colours, or orders of preference as targets, best outermost."""
    coloring = network.graph.coloring
    orders = [color if isinstance(color, tuple) else (color,) for color in coloring.palette]
    for rank in range(len(orders[0])):
        answers = [orders[code][rank] for code in coloring.codes.tolist()]
        size = _RING[1] * network.radius * (1.0 - rank / len(orders[0]))
        colors = [hues[network.graph.outputs.index(answer)] for answer in answers]
        _draw_discs(axes, network.points, size, colors, zorder=4 + rank, linewidths=0, name=f"order:{rank}")


# names


def _write_names(axes: Any, network: Network, renderer: Any) -> None:
    """Write the names where they cover least; the panel grows until all of them are inside."""
    texts = [
        axes.text(*point, text, ha="center", va="center", fontsize=_NAME_SIZE, linespacing=1.1, zorder=9)
        for point, text in zip(network.points, vertex_names(network), strict=True)
    ]
    pixels = np.array([[box.width, box.height] for box in (text.get_window_extent(renderer) for text in texts)])
    reach = _RING[1] if network.mechanism is None or network.mechanism.fixed is None else _FIXED
    segments = network.points[network.graph.ends]
    for _ in range(3):  # names need room, room changes the scale, the scale changes the names
        axes.apply_aspect()
        scale = np.abs(axes.transData.transform((1.0, 1.0)) - axes.transData.transform((0.0, 0.0)))
        sizes = (pixels + 4.0) / scale
        centers = place_names(
            network.points, reach * network.radius, segments, [(w, h) for w, h in sizes.tolist()], row=network.row
        )
        room = (reach + 0.08) * network.radius
        low = np.minimum(centers - sizes / 2, network.points - room).min(axis=0)
        high = np.maximum(centers + sizes / 2, network.points + room).max(axis=0)
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
    for text, center in zip(texts, centers.tolist(), strict=True):
        text.set_position(center)


def vertex_names(network: Network) -> list[str]:
    """What stands beside each vertex: its name, and the probability of the truth if there is room for it."""
    given = network.names if isinstance(network.names, Mapping) else {}
    names = [style.clean(given.get(vertex, vertex), 16) for vertex in network.graph.vertices]
    valued = network.values if network.values is not None else len(names) <= _VALUED
    if network.mechanism is None or not valued:
        return names
    truth = network.mechanism.truth()
    return [
        f"{name}\n{value:.3g}" if name else f"{value:.3g}" for name, value in zip(names, truth.tolist(), strict=True)
    ]
