"""The sheet a figure is drawn on: panels, a headline, curves with their names at their ends."""

from __future__ import annotations

import textwrap
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.plots import style
from tinct.plots.figure_files import require_target, save

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tinct._files import FilePath

    Floats = NDArray[np.float64]


_WRAP = 26  # characters in a line of a label
_GAP = 6.0  # points between the end of a curve and its name
_MOVED = 4.0  # points from which on a label has a line to its curve
_LABEL_SIZE = 9.0
_POINTS = 2_000  # of a curve; more than a screen is wide


class Canvas:
    """A figure with one or more panels, in rows and columns, numbered as one reads."""

    def __init__(
        self,
        colors: style.Theme,
        panels: tuple[int, int],
        size: tuple[float, float],
        ratios: dict[str, Any],
        ax: Axes | None = None,
    ) -> None:
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        from tinct.plots.shown_figure import shown_figure

        self.theme = colors
        self._labels: list[tuple[Any, Any]] = []
        self._steps: list[Callable[[Any], None]] = []
        self._given = ax
        self.figure: Any
        self.axes: list[Any]
        if ax is not None:  # a part of a figure that is not ours to lay out
            self.figure, self.axes = ax.figure.figure, [ax]
            return
        margins = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.09, wspace=0.04, hspace=0.06)
        self.figure = shown_figure()(figsize=size, layout=margins)
        grid = self.figure.add_gridspec(*panels, **ratios)
        places = [(row, column) for row in range(panels[0]) for column in range(panels[1])]
        self.axes = [self.figure.add_subplot(grid[place]) for place in places]
        for axes in self.axes:
            axes.tick_params(length=3)

    @property
    def drawn(self) -> Any:
        """What a function of ``plots`` returns: the figure, or the axes that it was given.

        A notebook shows a figure of pyplot by itself at the end of a cell; returned as well, it would be shown twice.
        """
        return self.figure if self._given is None else self._given

    def headline(self, text: str, note: str = "") -> None:
        """The title, and a quieter line below it; axes that were given have the title alone."""
        if self._given is not None:
            self._given.set_title(text, loc="left", fontsize=10.5, color=self.theme.text)
            return
        # the layout knows one title only: an empty line in it keeps the place of the note
        title = self.figure.suptitle(
            f"{text}\n " if note else text,
            x=0.1 / self.figure.get_figwidth(),
            ha="left",
            fontsize=12,
            fontweight="bold",
            color=self.theme.text,
            linespacing=1.35,
        )
        self.later(partial(self._write_note, title, note))

    def _write_note(self, title: Any, note: str, renderer: Any) -> None:
        place = self.figure.transFigure.inverted().transform(title.get_window_extent(renderer).p0)
        words: dict[str, Any] = {"ha": "left", "va": "bottom", "color": self.theme.muted}
        for text in (title, self.figure.text(title.get_position()[0], place[1], note, **words)):
            self._fit(text, renderer)

    def _fit(self, text: Any, renderer: Any) -> None:
        """Make a line that is wider than the page smaller, and shorten it if that is not enough."""
        room = self.figure.bbox.width - 0.2 * self.figure.dpi
        wide = text.get_window_extent(renderer).width / room
        if wide <= 1.0:
            return
        text.set_fontsize(text.get_fontsize() / min(wide, 1.3))
        if wide > 1.3:
            first, *others = text.get_text().split("\n")
            text.set_text("\n".join([first[: int(len(first) * 1.25 / wide)].rstrip() + "…", *others]))

    def axis_names(self, x: str, y: str, at: int = 0) -> None:
        """What the axes of a panel measure."""
        self.axes[at].set_xlabel(x)
        self.axes[at].set_ylabel(y)

    def curve(
        self,
        x: NDArray[Any],
        y: NDArray[Any],
        name: str,
        color: str,
        *,
        at: int = 0,
        side: str = "right",
        **options: Any,
    ) -> Any:
        """A line, with its name at its last point; long ones keep evenly spread points."""
        shown = thinned(len(x))
        (line,) = self.axes[at].plot(np.asarray(x)[shown], np.asarray(y)[shown], color=color, **options)
        line.set_gid(name)
        if self._given is not None:  # a legend: beside these axes there may be others, or the edge of the page
            line.set_label(name or "_")
        elif name and len(shown):
            self.name_end(x[shown[-1]], y[shown[-1]], name, color, at=at, side=side)
        return line

    def name_end(self, x: float, y: float, name: str, color: str, *, at: int = 0, side: str = "right") -> None:
        """A name beside a point; names that would overlap move apart when the figure is finished."""
        note = self.axes[at].annotate(
            textwrap.fill(name, _WRAP, break_long_words=True),
            (float(x), float(y)),
            xytext=(_GAP if side == "right" else -_GAP, 0.0),
            textcoords="offset points",
            ha="left" if side == "right" else "right",
            va="center",
            fontsize=_LABEL_SIZE,
            color=self.theme.readable(color),
            annotation_clip=False,
            linespacing=1.15,
        )
        self._labels.append((self.axes[at], note))

    def halo(self) -> list[Any]:
        """A rim in the background's colour, so that text can be read where it crosses a line."""
        from matplotlib.patheffects import withStroke

        return [withStroke(linewidth=2.5, foreground=self.theme.background)]

    def key(self, entries: Sequence[tuple[str, str]], *, at: int = 0) -> None:
        """Dots and what their colours mean, in a line below a panel, for what cannot be named where it stands."""
        from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea, HPacker, TextArea
        from matplotlib.patches import Circle

        parts: list[Any] = []
        for color, text in entries:
            dot = DrawingArea(10, 8)
            dot.add_artist(Circle((5, 4), 3.6, color=color, linewidth=0))
            words = TextArea(text, textprops={"color": self.theme.muted, "fontsize": _LABEL_SIZE})
            parts.append(HPacker(children=[dot, words], align="center", pad=0, sep=4))
        box = AnchoredOffsetbox(
            loc="upper left",
            child=HPacker(children=parts, align="center", pad=0, sep=14),
            bbox_to_anchor=(0.0, 0.0),
            bbox_transform=self.axes[at].transAxes,
            frameon=False,
            borderpad=0.1,
        )
        self.axes[at].add_artist(box)

    def later(self, step: Callable[[Any], None]) -> None:
        """Something to do, with a renderer that can measure text, once the panels have their sizes."""
        self._steps.append(step)

    def finish(self) -> None:
        """Lay everything out, once and for all."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.figure.draw_without_rendering()
        if self._given is not None and any(self._given.get_legend_handles_labels()):
            self._given.legend(frameon=False, fontsize=_LABEL_SIZE, labelcolor=self.theme.text)
        screen = self.figure.canvas  # making another one takes its place
        renderer = FigureCanvasAgg(self.figure).get_renderer()  # type: ignore[no-untyped-call] # Matplotlib's own gap
        self.figure.set_canvas(screen)
        for axes in self.axes:
            self._separate(axes, [note for owner, note in self._labels if owner is axes], renderer)
        for step in self._steps:
            step(renderer)
        self.figure.draw_without_rendering()
        if self._given is None:
            self.figure.set_layout_engine("none")

    def _separate(self, axes: Any, notes: list[Any], renderer: Any) -> None:
        """Move labels up and down until none covers another, and none reaches down to the numbers of the axis."""
        point = self.figure.dpi / 72.0
        frame = axes.get_window_extent(renderer)
        for group in _beside(notes, renderer):
            boxes = [note.get_window_extent(renderer) for note in group]
            ends = [float(axes.transData.transform(note.xy)[1]) for note in group]
            heights = [box.height + 2.0 * point for box in boxes]
            low, high = frame.y0 - min(heights) / 2, frame.y1 + heights[0]
            for note, end, place in zip(group, ends, spread(ends, heights, low=low, high=high), strict=True):
                shift = (float(place) - end) / point
                beside = note.get_position()[0] * (1.0 if abs(shift) <= _MOVED else 3.0)
                note.set_position((beside, shift))
                if note.get_window_extent(renderer).x0 < frame.x1 - 2.0 * _GAP * point:
                    note.set_path_effects(self.halo())
                if abs(shift) > _MOVED:
                    self._leader(axes, note, beside, shift)

    def _leader(self, axes: Any, note: Any, beside: float, shift: float) -> None:
        axes.annotate(
            "",
            note.xy,
            xytext=(beside * 0.95, shift),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": self.theme.line, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 3},
            annotation_clip=False,
        )


def _beside(notes: list[Any], renderer: Any) -> list[list[Any]]:
    """Groups of labels that share some of their width; labels in different groups cannot overlap."""
    spans = sorted(((note.get_window_extent(renderer), note) for note in notes), key=lambda pair: pair[0].x0)
    groups: list[list[Any]] = []
    reach = -np.inf
    for box, note in spans:
        if box.x0 > reach:
            groups.append([])
        groups[-1].append(note)
        reach = max(reach, box.x1)
    return groups


def thinned(count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Which of so many points to draw: all, or evenly spread ones with both ends."""
    if count <= _POINTS:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, _POINTS).round().astype(np.int64))


@contextmanager
def drawing(
    *,
    dark: object,
    path: FilePath | None,
    panels: tuple[int, int] = (1, 1),
    size: tuple[float, float] | None = None,
    ax: Axes | None = None,
    **ratios: Any,
) -> Iterator[Canvas]:
    """A canvas, laid out at the end of the block and then saved if there is a path; or axes of somebody's own.

    Panels may have ``width_ratios`` and ``height_ratios``.
    """
    colors = style.theme(dark)
    if path is not None:
        require_target(path)
    require_matplotlib()
    _require_axes(ax)
    with style.rules(colors):
        canvas = Canvas(colors, panels, size or (style.PANEL if panels == (1, 1) else style.WIDE), ratios, ax)
        yield canvas
        canvas.finish()
    if path is not None:
        save(canvas.figure, path)


def _require_axes(ax: object) -> None:
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise ParameterError.of("ax", "the axes of a Matplotlib figure", ax)


def require_matplotlib() -> None:
    """An error that says what to install, if it is not there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ParameterError("figures need Matplotlib, which is not installed: pip install 'tinct[plot]'") from None


# names beside the vertices of a drawing, where they cover as little as possible


# below, above, right, left, then the corners: the order of preference
_DIRECTIONS = np.array([[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]], np.float64)
_SAMPLES = 25  # points looked at along an edge


def place_names(
    points: Floats, radius: float, segments: Floats, sizes: Sequence[tuple[float, float]], *, row: bool = False
) -> Floats:
    """The centre of each name, all in the same units.

    Args:
        points: The centres of the vertices.
        radius: Their radius.
        segments: The edges, as pairs of points.
        sizes: The width and height of each name.
        row: Put all names below, as under the vertices of a line.
    """
    obstacles = _along(segments)
    taken: list[tuple[float, float, float, float]] = []
    centers = np.empty_like(points)
    for at, (point, size) in enumerate(zip(points, sizes, strict=True)):
        choices = [_label_box(point, radius, np.array(size), way) for way in (_DIRECTIONS[:1] if row else _DIRECTIONS)]
        costs = [
            _cost(choice, np.array(size), np.delete(points, at, 0), radius, obstacles, taken) + 0.01 * rank
            for rank, choice in enumerate(choices)
        ]
        centers[at] = choices[int(np.argmin(costs))]
        taken.append((*centers[at], *size))
    return centers


def _label_box(point: Floats, radius: float, size: Floats, way: Floats) -> Floats:
    """The centre of a name that touches the vertex from one side or corner."""
    reach = radius * (1.0 if np.abs(way).sum() == 1 else 0.74)
    return np.asarray(point + way * (reach + size / 2.0))


def _along(segments: Floats) -> Floats:
    share = np.linspace(0.0, 1.0, _SAMPLES)[None, :, None]
    if not len(segments):
        return np.empty((0, 2))
    return np.asarray((segments[:, None, 0] * (1 - share) + segments[:, None, 1] * share).reshape(-1, 2))


def _cost(
    center: Floats,
    size: Floats,
    vertices: Floats,
    radius: float,
    obstacles: Floats,
    taken: list[tuple[float, float, float, float]],
) -> float:
    """How much a name covers: vertices weigh most, then other names, then edges."""
    outside = np.maximum(np.abs(vertices - center) - size / 2.0, 0.0)
    covered = float((np.hypot(*outside.T) < radius).sum()) if len(vertices) else 0.0
    crossed = float((np.abs(obstacles - center) < size / 2.0).all(axis=1).sum()) if len(obstacles) else 0.0
    clashes: int = sum(
        abs(center[0] - x) < (size[0] + width) / 2.0 and abs(center[1] - y) < (size[1] + height) / 2.0
        for x, y, width, height in taken
    )
    return float(20.0 * covered + 10.0 * clashes + min(crossed, 8.0))


def spread(centers: Sequence[float], lengths: Sequence[float], *, low: float = -np.inf, high: float = np.inf) -> Floats:
    """New centres for intervals of given lengths: disjoint, within [low, high], with the least sum of squared shifts.

    Intervals keep their order. Those that together are longer than the room share the overlap evenly.

    >>> spread([1.0, 1.0, 5.0], [2.0, 2.0, 2.0])
    array([0., 2., 5.])
    """
    if not len(centers):
        return np.empty(0)
    order = np.argsort(np.asarray(centers, np.float64), kind="stable")
    wanted, size = np.asarray(centers, np.float64)[order], np.asarray(lengths, np.float64)[order]
    room = high - low
    size = size * min(1.0, room / size.sum()) if size.sum() > 0 else size
    # after taking off the room of the intervals before it, each centre must only be at least the one before
    before = np.concatenate([[0.0], np.cumsum((size[:-1] + size[1:]) / 2)])
    flat = _isotonic(wanted - before)
    flat = np.clip(flat, low + size[0] / 2, high - size[-1] / 2 - before[-1])
    result = np.empty(len(wanted))
    result[order] = flat + before
    return result


def _isotonic(values: Floats) -> Floats:
    """The non-decreasing sequence nearest in squares: neighbours in the wrong order are pooled (Ayer et al. 1955)."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            last, more = pools.pop()
            mean, count = (mean * count + last * more) / (count + more), count + more
        pools.append((mean, count))
    return np.concatenate([np.full(count, mean) for mean, count in pools])
