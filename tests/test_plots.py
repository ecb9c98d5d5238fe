"""Figures: what is drawn is what the library computes, in light and dark, inside the page, the same every time."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle, Wedge
from matplotlib.text import Text
from typer.testing import CliRunner

from tinct import (
    DatasetGraph,
    FileError,
    GaussianDP,
    Mechanism,
    ParameterError,
    Privacy,
    balanced,
    baselines,
    extend,
    frontier,
    graphs,
    homogeneous,
    local,
    plots,
    rainbow,
)
from tinct.asking.accuracy import Accuracy
from tinct.cli import plot
from tinct.mechanism.by_distance import ByDistance
from tinct.plots import style
from tinct.plots._errors import LEAST_ERROR, curves_of
from tinct.plots._graph import edge_widths
from tinct.plots._rainbow import turns
from tinct.plots._utilities import likelihood_order
from tinct.plots.canvas import place_names, spread, thinned
from tinct.plots.figure_files import render
from tinct.plots.layouts import hops, positions

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
LN2 = Privacy("ln 2", "0.1")
SLIGHT = Privacy(1, "0.01")
P0, P1 = [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]
ON_PAGE = 0.02  # inches by which the rounding of text to pixels may differ


# helpers


def by_gid(figure: Figure, gid: str) -> list[Any]:
    """All artists with an identifier, in the order of drawing."""
    return figure.findobj(lambda artist: artist.get_gid() == gid, include_self=False)


def curve(figure: Figure, gid: str) -> tuple[np.ndarray, np.ndarray]:
    """The data of the one line with an identifier."""
    (line,) = by_gid(figure, gid)
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def require_on_page(figure: Figure) -> None:
    """Everything that is drawn, text above all, lies inside the page."""
    box = figure.get_tightbbox()  # in inches; ticks outside the range of an axis are not drawn and do not count
    width, height = figure.get_size_inches()
    assert box.x0 >= -ON_PAGE
    assert box.y0 >= -ON_PAGE
    assert box.x1 <= width + ON_PAGE, box
    assert box.y1 <= height + ON_PAGE, box


def small_mechanisms() -> dict[str, Mechanism]:
    cube = graphs.hypercube(3, lambda bits: "red" if sum(bits) > 1 else "blue")
    ballots = graphs.rankings(3, "abc", order="winner")
    one = DatasetGraph([], {"only": "yes"})
    budget = Privacy(1, "0.001")
    apart = DatasetGraph([(1, 2), (3, 4)], {1: "no", 2: "yes", 3: "no", 4: "yes"}, disconnected=True)
    odd = DatasetGraph([("$a_b$", "x\ny")], {"$a_b$": "yes & no", "x\ny": "<no>" * 20})
    return {
        "row": balanced(graphs.line(2, 2), LN2),
        "cube": balanced(cube, LN2),
        "ring": extend(
            DatasetGraph([(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)], {1: "no", 2: "no", 3: "yes", 4: "yes", 5: "yes"}),
            Privacy(1),
            {1: 0.6, 2: 0.7},
        ),
        "three answers": rainbow.extend(ballots, budget, rainbow.balanced_boundary(ballots, budget)),
        "one vertex": Mechanism(one, [[1.0]]),
        "one colour": balanced(graphs.line(5, 0), LN2),
        "two pieces": balanced(apart, Privacy(1)),
        "odd names": balanced(odd, Privacy(1)),
        "edge budgets": balanced(graphs.line(2, 2), {(1, 2): Privacy(2), (2, 3): Privacy(1), (3, 4): Privacy(0.5)}),
        "Gaussian": balanced(graphs.line(3, 3), GaussianDP(0.5)),
        "no privacy stated": Mechanism(graphs.line(1, 1), [[0.5, 0.5], [0.25, 0.75]]),
    }


def accuracy_table() -> Accuracy:
    return Accuracy(
        "people who change", (1, 2, 5, 10), {"tinct": (0.6, 0.7, 0.9, 1.0), "geometric": (0.6, 0.7, 0.8, 0.9)}
    )


ESTIMATE = local.randomized_response(5, 1, symbols=["a", "b", "c", "d", "e"]).estimate([0] * 40 + [1, 2, 3, 4] * 10)
TESTED = local.optimal(P0, P1, 1).test([0] * 12 + [1] * 8)


def every_figure() -> dict[str, Any]:
    """A function for every public kind of figure, for options such as dark."""
    line = balanced(graphs.line(6, 6, ("no", "yes")), SLIGHT)
    comparisons = local.compare(P0, P1, epsilons=[0.5, 1, 2, 4], bound=False)
    found = local.regimes(P0, P1)
    return {
        "mechanism": lambda **o: plots.mechanism(line, **o),
        "graph": lambda **o: plots.graph(line, **o),
        "errors": lambda **o: plots.errors(line, **o),
        "truth": lambda **o: plots.errors(line, truth=True, **o),
        "profile": lambda **o: plots.profile(line, **o),
        "frontier": lambda **o: plots.frontier(frontier(line.graph, SLIGHT), **o),
        "rainbow": lambda **o: plots.rainbow(LN2, [0.1, 0.3, 0.6], **o),
        "utilities": lambda **o: plots.utilities(comparisons, **o),
        "regimes": lambda **o: plots.regimes(found, **o),
        "shares": lambda **o: plots.shares(ESTIMATE, **o),
        "test errors": lambda **o: plots.errors_of_test(TESTED, **o),
        "accuracy": lambda **o: plots.accuracy(accuracy_table(), **o),
    }


FIGURES = every_figure()
SMALL = small_mechanisms()


# one visual language


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_text_stands_out_from_the_background(theme: style.Theme) -> None:
    """All text has a contrast of at least 4.5, curves of at least 2 (they are wide, and named beside)."""
    for color in (theme.text, theme.muted, *(theme.readable(hue) for hue in theme.hues.values())):
        assert style.contrast(color, theme.background) >= 4.5
    for hue in theme.hues.values():
        assert style.contrast(hue, theme.background) >= 2.0


# red-green blindness, complete: Machado, Oliveira, Fernandes (2009), table 1, severity 1
_BLINDNESS = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


def _seen(color: str, matrix: list[list[float]] | None) -> np.ndarray:
    """The colour as CIE Lab coordinates, after the loss of one kind of cone."""
    value = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    if matrix is not None:
        linear = np.clip(np.array(matrix) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("blindness", [None, *_BLINDNESS])
def test_hues_can_be_told_apart_by_the_colour_blind(theme: style.Theme, blindness: str | None) -> None:
    """Any two of the first five hues differ by at least 10 in Lab, several times a just noticeable difference (2.3)."""
    matrix = _BLINDNESS[blindness] if blindness else None
    seen = [_seen(hue, matrix) for hue in list(theme.hues.values())[:5]]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= 10


def test_answers_named_like_colours_have_them() -> None:
    """Blue is blue, yes and no never swap, and every answer has a colour of its own while there are enough."""
    for theme in (style.LIGHT, style.DARK):
        assert theme.colors(["red", "blue"]) == [theme.hues["red"], theme.hues["blue"]]
        assert theme.colors(["no", "yes"]) == theme.colors(["yes", "no"])[::-1]
        assert theme.colors([False, True]) == theme.colors(["no", "yes"])
        assert len(set(theme.colors(list("abcdefg")))) == 7
        assert len(theme.colors(range(30))) == 30
        assert len(set(theme.colors(["red", "a", "b", "c", "d"]))) == 5
        assert len(theme.colors(["yes", "true"])) == 2


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("a", "a"),
        ((0, 1, 1), "011"),
        ((10, 2), "10, 2"),
        ("a\nb", "a·b"),
        ("x" * 40, "x" * 23 + "…"),
        ((), ""),
        (3.5, "3.5"),
    ],
)
def test_names_are_printable_and_short(label: Any, shown: str) -> None:
    assert style.clean(label) == shown


# labels apart


def _isotonic_twin(values: list[float]) -> list[float]:
    """The nearest non-decreasing sequence by its min-max formula, slow and obvious."""
    n = len(values)
    return [max(min(sum(values[a : b + 1]) / (b + 1 - a) for b in range(k, n)) for a in range(k + 1)) for k in range(n)]


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(0.1, 5)), min_size=1, max_size=7))
@settings(derandomize=True, max_examples=150, deadline=None)
def test_spread_labels_are_disjoint_and_as_near_as_can_be(boxes: list[tuple[float, float]]) -> None:
    """Spread intervals do not overlap and equal the isotonic optimum (rounding of sums of a few numbers: 1e-9)."""
    centers, lengths = [center for center, _ in boxes], [length for _, length in boxes]
    placed = spread(centers, lengths)
    order = np.argsort(centers, kind="stable")
    sorted_places, sorted_lengths = placed[order], np.array(lengths)[order]
    gaps = np.diff(sorted_places) - (sorted_lengths[:-1] + sorted_lengths[1:]) / 2
    assert (gaps >= -1e-9).all()
    before = np.concatenate([[0.0], np.cumsum((sorted_lengths[:-1] + sorted_lengths[1:]) / 2)])
    twin = np.array(_isotonic_twin((np.array(centers)[order] - before).tolist())) + before
    assert np.allclose(sorted_places, twin, atol=1e-9)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=8))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_spread_labels_stay_in_their_room(centers: list[float]) -> None:
    placed = spread(centers, [1.0] * len(centers), low=0.0, high=9.0)
    assert placed.min() >= 0.5 - 1e-9
    assert placed.max() <= 8.5 + 1e-9


def test_too_many_labels_share_the_room() -> None:
    placed = np.sort(spread([5.0] * 20, [1.0] * 20, low=0.0, high=10.0))
    assert np.allclose(np.diff(placed), 0.5)
    assert len(spread([], [])) == 0


def test_names_avoid_vertices_and_each_other() -> None:
    """On a grid every name finds a place that covers no vertex and no other name."""
    points = np.array([[x, y] for x in range(4) for y in range(3)], float)
    size = (0.3, 0.2)
    centers = place_names(points, 0.2, np.empty((0, 2, 2)), [size] * len(points))
    for a, b in itertools.combinations(centers, 2):
        assert abs(a[0] - b[0]) >= 0.3 - 1e-9 or abs(a[1] - b[1]) >= 0.2 - 1e-9
    for center in centers:
        outside = np.maximum(np.abs(points - center) - np.array(size) / 2, 0)
        assert np.hypot(*outside.T).min() >= 0.2 * 0.7  # corners of a box may dip into the circle's square


# where vertices stand


def test_known_shapes_are_recognised() -> None:
    """Rows, rings, cubes, grids and triangles have equal edges along each direction."""
    cases = {
        "row": graphs.line(3, 2),
        "ring": DatasetGraph([(at, (at + 1) % 7) for at in range(7)], lambda at: at > 3),
        "box": graphs.hypercube(3, lambda bits: sum(bits) > 1),
        "histogram": graphs.histograms(4, 3, lambda counts: counts[0] > 1),
    }
    for name, graph in cases.items():
        points, shape = positions(graph)
        assert shape == name
        steps = points[graph.ends[:, 0]] - points[graph.ends[:, 1]]
        lengths = {round(float(length), 9) for length in np.hypot(*steps.T)}
        assert len(lengths) == (3 if name == "box" and len(graph) == 8 else 1) or name == "box"
    words = graphs.hypercube(2, lambda bits: sum(bits) > 1)
    renamed = DatasetGraph(
        [("".join(map(str, u)), "".join(map(str, v))) for u, v in words.edges],
        {"".join(map(str, v)): color for v, color in words.colors.items()},
    )
    assert positions(renamed)[1] == "ring"  # a square is a ring of four
    assert positions(graphs.grid(2, 3, lambda point: point[1] > 0))[1] == "box"
    assert positions(graphs.histograms(3, 4, lambda counts: counts[0] > 1))[1] == "histogram"


def test_any_other_graph_is_placed_by_its_distances() -> None:
    """Places follow distances in the graph, no two vertices coincide, and the first colour is on the left."""
    edges = [tuple(edge) for edge in GOLDEN["papers"][2]["graph"]["edges"]]
    blue = set(GOLDEN["papers"][2]["graph"]["blue"])
    graph = DatasetGraph(edges, lambda name: "blue" if name in blue else "red")
    points, shape = positions(graph)
    assert shape == "stress"
    assert np.array_equal(points, positions(graph)[0])
    distance = hops(graph, np.arange(len(graph)))
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    pairs = np.triu_indices(len(graph), 1)
    assert np.corrcoef(distance[pairs], apart[pairs])[0, 1] > 0.9
    assert apart[pairs].min() > 0.3
    first = graph.coloring.codes == 0
    assert points[first, 0].mean() <= points[~first, 0].mean()


def test_pieces_stand_side_by_side() -> None:
    graph = DatasetGraph(
        [(1, 2), (2, 3), (1, 3), (3, 4), (5, 6), (6, 7), (5, 7), (7, 8)], lambda v: v % 2 == 0, disconnected=True
    )
    points, _ = positions(graph)
    assert points[:4, 0].max() < points[4:, 0].min()


@pytest.mark.parametrize(
    "given_positions",
    [
        [1, 2],
        {1: (0, 0)},
        {1: (0, 0), 2: (math.nan, 0)},
        {1: (0, 0), 2: (math.inf, 0)},
        {1: (0,), 2: (1,)},
        {1: "ab", 2: "cd"},
    ],
)
def test_bad_positions_are_refused(given_positions: Any) -> None:
    with pytest.raises(ParameterError, match="positions must be"):
        plots.graph(balanced(graphs.line(1, 1), LN2), positions=given_positions)


# pies


@pytest.mark.parametrize(
    ("name", "dark"),
    [*((name, False) for name in SMALL), ("cube", True), ("three answers", True), ("one vertex", True)],
)
def test_wedges_are_the_table(name: str, dark: bool) -> None:
    """Every pie's angles are the row's probabilities, clockwise from the top (1e-4 of a degree: angles are floats)."""
    mechanism = SMALL[name]
    figure = plots.graph(mechanism, dark=dark)
    require_on_page(figure)
    for vertex, row in enumerate(mechanism.table):
        turn = 90.0
        for output, share in enumerate(row):
            found = by_gid(figure, f"pie:{vertex}:{output}")
            if share < 1e-6:
                assert not found
                continue
            (pie,) = found
            if isinstance(pie, Wedge):
                assert pie.theta2 == pytest.approx(turn, abs=1e-4)
                assert pie.theta2 - pie.theta1 == pytest.approx(360 * share, abs=1e-4)
            else:
                assert isinstance(pie, Circle)
                assert share > 1 - 1e-6
            turn -= 360 * share
            expected = style.theme(dark).colors(mechanism.outputs)[output]
            assert to_hex(pie.get_facecolor()) == expected


def test_rings_edges_and_circles_mark_truth_boundary_and_fixed_rows() -> None:
    mechanism = SMALL["ring"]
    figure = plots.graph(mechanism)
    (rings,) = by_gid(figure, "rings")
    assert isinstance(rings, EllipseCollection)
    colors = style.LIGHT.colors(mechanism.outputs)
    assert [to_hex(color) for color in rings.get_facecolors()] == [
        colors[code] for code in mechanism.graph.coloring.codes
    ]
    (edges,) = by_gid(figure, "edges")
    assert isinstance(edges, LineCollection)
    codes = mechanism.graph.coloring.codes
    crossing = [codes[u] != codes[v] for u, v in mechanism.graph.ends]
    assert [to_hex(color) == style.LIGHT.text for color in edges.get_colors()] == crossing
    (fixed,) = by_gid(figure, "fixed")
    assert np.allclose(fixed.get_offsets(), positions(mechanism.graph)[0][[0, 1]])


def test_orders_are_targets() -> None:
    """Without a mechanism, discs from large to small have the colours of the order, best outermost."""
    ballots = graphs.rankings(2, "abc")
    figure = plots.graph(ballots)
    colors = style.LIGHT.colors(ballots.outputs)
    sizes = []
    for rank in range(3):
        (discs,) = by_gid(figure, f"order:{rank}")
        wanted = [colors[ballots.outputs.index(ballots.colors[vertex][rank])] for vertex in ballots.vertices]
        assert [to_hex(color) for color in discs.get_facecolors()] == wanted
        sizes.append(discs.get_widths()[0])
    assert sizes == sorted(sizes, reverse=True)


def test_wider_edges_have_smaller_budgets() -> None:
    graph = graphs.line(2, 2)
    widths = edge_widths(graph, {(1, 2): Privacy(2), (2, 3): Privacy(1), (3, 4): Privacy("0.5")})
    assert widths[2] > widths[1] > widths[0]
    assert len(set(edge_widths(graph, LN2))) == 1


def test_names_and_truths_are_written() -> None:
    figure = plots.graph(SMALL["row"])
    assert {"1\n0.9", "2\n0.7", "3\n0.7", "4\n0.9", "blue", "red"} <= set(texts(figure))
    renamed = texts(plots.graph(SMALL["row"], names={1: "first"}, values=False))
    assert "first" in renamed
    assert "2" in renamed
    assert not any("0.9" in text for text in texts(plots.graph(SMALL["row"], names=False)))


# curves by distance


def errors_of_test_are_those_of_the_closed_form() -> None:
    """The curve is max(0, (E − 1 − δ(E^(d+1) + E^d − 2))/(E^d(E² − 1))), theory §3; 1e-12 relative for doubles."""
    figure = plots.errors(balanced(graphs.majority(41), SLIGHT))
    x, y = curve(figure, next(gid for gid in _gids(figure) if gid.startswith("tinct")))
    growth, delta = math.e, 0.01
    formula = [
        (growth - 1 - delta * (growth ** (d + 1) + growth**d - 2)) / (growth**d * (growth**2 - 1)) for d in range(10)
    ]
    wanted = [value for value in formula if value > 0]
    assert x.tolist() == list(range(len(wanted)))
    assert np.allclose(y, wanted, rtol=1e-12)
    assert y[3] == pytest.approx(0.0077, abs=5e-5)  # theory §9
    assert any("exactly 0 from distance 4" in text.replace("\n", " ") for text in texts(figure))
    _, geometric = curve(figure, "geometric")
    assert geometric[3] == pytest.approx(0.0134, abs=5e-5)
    _, response = curve(figure, "randomized response")
    assert np.allclose(response, 0.99 / (growth + 1), rtol=1e-12)


def _gids(figure: Figure) -> list[str]:
    return [artist.get_gid() for artist in figure.findobj(lambda a: a.get_gid() is not None)]


def test_truth_is_one_minus_error() -> None:
    mechanism = balanced(graphs.line(8, 8), LN2)
    figure = plots.errors(mechanism, truth=True, compare=False)
    x, y = curve(figure, next(gid for gid in _gids(figure) if gid.startswith("tinct")))
    assert np.allclose(y, [LN2.reach(int(d), 0.7) for d in x], atol=1e-15)


def test_colours_that_fare_differently_have_their_own_curves() -> None:
    mechanism = homogeneous(graphs.line(20, 20), Privacy("ln 2"), 0.8, 0.4)
    figure = plots.errors(mechanism)
    _, blue = curve(figure, "tinct, blue")
    _, red = curve(figure, "tinct, red")
    assert blue[0] == pytest.approx(0.2)
    assert red[0] == pytest.approx(0.6)


def test_a_band_reaches_from_the_worst_to_the_best() -> None:
    """Where datasets at one distance differ, the curve is the worst of them."""
    graph = graphs.hypercube(3, lambda bits: sum(bits) > 1)
    fixed = {vertex: 0.45 if vertex[0] else 0.6 for vertex in graph.vertices if sum(vertex) == 1}
    mechanism = extend(graph, Privacy(1), fixed)
    false, _ = curves_of(ByDistance(mechanism))
    errors = mechanism.error()[[graph.position(vertex) for vertex in fixed]]
    assert false.worst[0] == pytest.approx(errors.max())
    assert false.best[0] == pytest.approx(errors.min())
    figure = plots.errors(mechanism)
    _, y = curve(figure, "tinct, False")
    assert y[0] == pytest.approx(errors.max())


def test_own_comparisons_are_drawn() -> None:
    graph = graphs.line(5, 5)
    other = baselines.laplace(graph, SLIGHT)
    figure = plots.errors(balanced(graph, SLIGHT), compare={"ours today": other})
    _, y = curve(figure, "ours today")
    assert np.allclose(y, other.error()[5 : 5 + len(y)], rtol=1e-12)
    assert not by_gid(figure, "geometric")


def test_huge_distances_are_drawn_quickly_and_truly() -> None:
    """A line of a million datasets: few points, each the library's, and the axis ends where nothing more happens."""
    privacy = Privacy("0.0005")
    figure = plots.errors(balanced(graphs.majority(200_000), privacy), compare=False)
    x, y = curve(figure, "tinct")
    assert len(x) <= 2_000
    walked = privacy.walk(x.astype(np.int64), privacy.balance[0], privacy.balance[1])[1]
    assert np.allclose(y, walked, rtol=1e-12)
    assert y.min() >= LEAST_ERROR
    assert x[-1] < 60_000
    assert thinned(10**7)[[0, -1]].tolist() == [0, 10**7 - 1]


def test_small_graphs_get_pies_large_ones_curves() -> None:
    assert by_gid(SMALL["cube"].plot(), "pie:0:0")
    assert not by_gid(balanced(graphs.line(12, 12), LN2).plot(), "pie:0:0")
    assert by_gid(balanced(graphs.line(12, 12), LN2).plot(kind="graph"), "pie:0:0")
    assert not by_gid(SMALL["cube"].plot(kind="curves"), "pie:0:0")
    orders = graphs.rankings(12, "abc", order="winner")
    budget = Privacy(1)
    large = rainbow.extend(orders, budget, rainbow.balanced_boundary(orders, budget)).plot()
    _, y = curve(large, "tinct")
    assert y[0] == pytest.approx(2 / (math.e + 2))


def test_without_a_boundary_there_are_no_curves() -> None:
    with pytest.raises(ParameterError, match="no boundary"):
        plots.errors(balanced(graphs.line(500, 0), LN2))


# profile, frontier


def _least_delta(table: np.ndarray, edges: list[tuple[int, int]], growth: Fraction) -> Fraction:
    """The privacy profile at one e^ε by enumeration of all events, in exact arithmetic."""
    worst = Fraction(0)
    for u, v in [*edges, *((v, u) for u, v in edges)]:
        for size in range(1, table.shape[1] + 1):
            for event in itertools.combinations(range(table.shape[1]), size):
                here, there = (sum(Fraction(float(table[at, y])) for y in event) for at in (u, v))
                worst = max(worst, here - growth * there)
    return worst


def test_profile_is_the_enumeration_of_events() -> None:
    """The drawn δ(ε) equals the largest P(S) − e^ε Q(S) over all events (e^ε as a double: 1e-9)."""
    mechanism = SMALL["three answers"]
    epsilons = [0.0, 0.4, 1.0, 1.5]
    figure = plots.profile(mechanism, epsilons=epsilons)
    (line,) = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 4]
    edges = [(int(u), int(v)) for u, v in mechanism.graph.ends]
    wanted = [float(_least_delta(mechanism.table, edges, Fraction(math.exp(epsilon)))) for epsilon in epsilons]
    assert np.allclose(line.get_ydata(), wanted, atol=1e-9)


def test_profile_passes_through_the_promise() -> None:
    """For the optimum the promised (ε, δ) lies on the curve; and δ(0) of a pure mechanism ends at its ε."""
    mechanism = balanced(graphs.line(5, 5), SLIGHT)
    figure = plots.profile(mechanism, compare={"geometric": baselines.geometric(mechanism.graph, SLIGHT)}, log=True)
    x, y = curve(figure, "this mechanism")
    assert float(np.interp(1.0, x, y)) == pytest.approx(0.01, rel=1e-6)
    assert "promised" in texts(figure)
    x, y = curve(figure, "geometric")
    assert x[-1] <= 1.0 + 1e-9


def test_frontier_is_tight() -> None:
    """Each drawn pair satisfies both constraints of an edge between the colours, and one of them with equality."""
    growth, delta = math.e, 0.01
    figure = plots.frontier(frontier(graphs.line(3, 5), SLIGHT))
    x, y = curve(figure, "frontier")
    slack = [min(growth * (1 - b) + delta - a, growth * (1 - a) + delta - b, 1 - b) for a, b in zip(x, y, strict=True)]
    assert np.allclose(slack, 0, atol=1e-12)
    several = plots.frontier([frontier(graphs.line(3, 5), Privacy(epsilon)) for epsilon in (0.1, 1, 2)])
    assert len(by_gid(several, "frontier")) == 3


# rainbow


@pytest.mark.parametrize("delta", list(GOLDEN["rainbow_curves"]))
def test_rainbow_curves_are_the_golden_ones(delta: str) -> None:
    """Answers as lines, and prefix sums as the edges of the stack, at every golden distance (1e-12)."""
    golden = np.array(GOLDEN["rainbow_curves"][delta])
    privacy, row, last = Privacy("ln 1.2", delta), golden[0, 1:], int(golden[-1, 0])
    figure = plots.rainbow(privacy, row, distance=last)
    for k in range(5):
        x, y = curve(figure, str(k + 1))
        assert np.allclose(y[golden[:, 0].astype(int)], golden[:, k + 1], atol=1e-12)
        assert x.tolist() == list(range(last + 1))
        if k < 4:
            _, prefix = curve(figure, f"prefix:{k}")
            assert np.allclose(prefix[golden[:, 0].astype(int)], golden[:, 1 : k + 2].sum(axis=1), atol=1e-12)


def test_turns_are_where_growth_ends() -> None:
    """Up to τ a prefix sum grows by e^ε a step, after it the complement shrinks by e^ε (δ = 0)."""
    row = np.array(GOLDEN["rainbow_curves"]["0"][0][1:])
    privacy = Privacy("ln 1.2")
    figure = plots.rainbow(privacy, row)
    assert turns(privacy, row).tolist() == [37, 22, 7, 1]
    for k, turn in enumerate((37, 22, 7, 1)):
        (dot,) = by_gid(figure, f"turn:{k}")
        assert dot.get_xdata()[0] == turn
        _, prefix = curve(figure, f"prefix:{k}")
        assert np.allclose(prefix[1 : turn + 1] / prefix[:turn], 1.2, rtol=1e-9)
        assert np.allclose((1 - prefix[turn:-1]) / (1 - prefix[turn + 1 :]), 1.2, rtol=1e-6)
    assert {"τ = 37", "τ = 22", "τ = 7", "τ = 1"} <= set(texts(figure))


@pytest.mark.parametrize(
    ("privacy", "row", "options"),
    [
        (Privacy("1e-6"), [0.5, 0.5], {}),
        (Privacy("1e-6"), [0.1, 0.3, 0.6], {"distance": 10**12}),
        (Privacy(1), [0.0, 0.0, 1.0], {}),
        (Privacy(0), [0.2, 0.8], {}),
        (Privacy(1), [1.0, 0.0], {}),
        (GaussianDP(0.5), [0.1, 0.3, 0.6], {"answers": ["$x$", "b\n", "c" * 60]}),
        (Privacy(1), [1 / 12] * 12, {}),
    ],
)
def test_unusual_rows_are_drawn(privacy: Any, row: list[float], options: dict[str, Any]) -> None:
    require_on_page(plots.rainbow(privacy, row, **options))


# local


def test_utilities_are_those_compared() -> None:
    lines = local.compare(P0, P1, epsilons=[0.5, 1, 2, 4], bound=False)
    figure, shares = plots.utilities(lines), plots.utilities(lines, share=True, dark=True)
    for name in ("optimal", "binary", "randomized response"):
        x, y = curve(figure, name)
        assert x.tolist() == [0.5, 1, 2, 4]
        assert y.tolist() == [line.values[name] for line in lines]
        assert curve(shares, name)[1].tolist() == [line.shares()[name] for line in lines]
    require_on_page(plots.utilities(lines[:1]))
    require_on_page(plots.utilities(local.compare([0.5, 0.3, 0.2], epsilons=[1, 2])))


def test_regimes_are_blocks_of_consecutive_symbols() -> None:
    """At every ε the blocks are the cells that ``local.optimal`` finds there."""
    symbols = list("abcd")
    found = local.regimes(P0, P1, symbols=symbols)
    order = likelihood_order(found)
    assert order == symbols  # the ratios increase
    figure = plots.regimes(found)
    for regime in found.regimes:
        epsilon = min((regime.start + min(regime.end, 20.0)) / 2, 20.0)
        best = local.optimal(P0, P1, epsilon, symbols=symbols)
        row = 0
        for number, cell in enumerate(best.cells or ()):
            blocks = by_gid(figure, f"cell:{regime.start:.9g}:{number}")
            if not blocks:
                continue
            assert isinstance(blocks[0], Rectangle)
            assert order[row : row + round(blocks[0].get_height())] == list(cell)
            row += len(cell)
    require_on_page(figure)


@pytest.mark.parametrize("k", [1, 2, 30])
def test_regimes_of_few_and_many_symbols_are_drawn(k: int) -> None:
    random = np.random.default_rng(k)
    found = local.regimes(random.dirichlet(np.ones(k)), random.dirichlet(np.ones(k)), samples=8)
    require_on_page(plots.regimes(found))
    require_on_page(plots.regimes(found, highest=2.5, dark=True))


def test_accuracy_is_the_table() -> None:
    table = accuracy_table()
    figure = plots.accuracy(table)
    for name, values in table.right.items():
        x, y = curve(figure, name)
        assert x.tolist() == list(table.margins)
        assert tuple(y) == values
    require_on_page(plots.accuracy(Accuracy("m", (1,), {"tinct": (0.5,)})))


# every figure


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("dark", [False, True])
def test_every_figure_is_drawn_on_its_page(name: str, dark: bool) -> None:
    """Each function returns a figure with the theme's background, and no text leaves the page."""
    figure = FIGURES[name](dark=dark)
    assert isinstance(figure, Figure)
    assert to_hex(figure.get_facecolor()) == style.theme(dark).background
    require_on_page(figure)


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "rainbow"])  # which has two panels
def test_every_figure_can_be_drawn_into_axes(name: str) -> None:
    """The axes are returned, the rest of their figure is left alone, and curves are those of a figure of its own."""
    whole = Figure(figsize=(9, 4), layout="constrained")
    left, right = whole.subplots(1, 2)
    screen = whole.canvas
    assert FIGURES[name](ax=left) is left
    assert whole.canvas is screen
    assert whole.get_layout_engine() is not None
    assert len(whole.axes) == 2
    assert not right.has_data()
    alone = FIGURES[name]()
    assert [line.get_xydata().tolist() for line in left.lines] == [
        line.get_xydata().tolist() for line in alone.axes[0].lines
    ]
    require_on_page(whole)


def test_what_are_no_axes_is_refused() -> None:
    with pytest.raises(ParameterError, match="ax must be the axes of a Matplotlib figure"):
        plots.mechanism(SMALL["row"], ax="left")


@pytest.mark.parametrize("name", ["mechanism", "rainbow", "accuracy"])
def test_every_figure_has_the_headline_it_is_given(name: str) -> None:
    assert any(text.startswith("A word of my own") for text in texts(FIGURES[name](title="A word of my own")))


def test_long_headlines_are_made_to_fit() -> None:
    require_on_page(plots.graph(SMALL["row"], title="a headline that goes on and on " * 8))


@pytest.mark.parametrize("name", SMALL)
def test_every_mechanism_draws_itself(name: str) -> None:
    require_on_page(SMALL[name].plot())


def test_names_at_the_ends_of_curves_do_not_overlap() -> None:
    """Baselines that nearly coincide still have their names apart."""
    figure = plots.errors(balanced(graphs.line(12, 12), Privacy("0.5")))
    wanted = {"tinct", "geometric", "Laplace", "randomized response"}
    boxes = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text().replace("\n", " ") in wanted]
    assert len(boxes) == 4
    for a, b in itertools.combinations(boxes, 2):
        assert not a.overlaps(b)


def test_names_of_curves_that_end_at_the_bottom_keep_off_the_numbers_of_the_axis() -> None:
    """Three names that are pushed apart near the corner do not cover its last number."""
    figure = plots.errors(balanced(graphs.line(26, 26), Privacy(1)))
    wanted = {"tinct", "geometric", "Laplace"}
    names = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text() in wanted]
    numbers = [text.get_window_extent() for text in figure.axes[0].get_xticklabels() if text.get_text()]
    assert len(names) == 3
    assert not any(name.overlaps(number) for name in names for number in numbers)


# files


@pytest.mark.parametrize("name", FIGURES)
def test_files_are_the_same_every_time(name: str) -> None:
    """Two drawings of the same thing are the same SVG, byte for byte, and have no date."""
    first, second = (render(FIGURES[name](), ".svg") for _ in range(2))
    assert first == second
    assert b"<dc:date>" not in first


def test_all_formats_are_written_and_reproducible(tmp_path: Path) -> None:
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    for suffix, start in starts.items():
        path = tmp_path / f"figure{suffix}"
        plots.graph(SMALL["row"], path=path)
        data = path.read_bytes()
        assert data.startswith(start)
        plots.save(plots.graph(SMALL["row"]), path)
        assert path.read_bytes() == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.pdf", "figure.png", "figure.svg"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "figure.svg"
    path.write_text("old")

    def broken(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(FileError, match="No space left"):
        plots.graph(SMALL["row"], path=path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["figure.svg"]


@pytest.mark.parametrize("name", ["figure.txt", "figure", "none/figure.png", "figure.png.gz"])
def test_bad_targets_are_refused_before_anything_is_drawn(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError):
        plots.errors("not even a mechanism" and SMALL["row"], path=tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_not_a_figure(tmp_path: Path) -> None:
    (tmp_path / "figure.png").mkdir()
    with pytest.raises(FileError, match="folder"):
        plots.save(plots.graph(SMALL["row"]), tmp_path / "figure.png")
    with pytest.raises(ParameterError, match="figure is needed"):
        plots.save(None, tmp_path / "other.png")
    with pytest.raises(ParameterError, match="format"):
        render(plots.graph(SMALL["row"]), ".bmp")


# manners


def test_settings_of_others_are_left_alone_and_do_not_matter() -> None:
    """Somebody's rcParams survive, and a figure looks the same whatever they are."""
    import matplotlib as mpl

    usual = render(plots.graph(SMALL["row"]), ".svg")
    with mpl.rc_context({"font.size": 30, "axes.grid": False, "lines.linewidth": 9, "text.usetex": False}):
        before = dict(mpl.rcParams)
        figure = plots.graph(SMALL["row"])
        assert render(figure, ".svg") == usual
        assert dict(mpl.rcParams) == before


def test_pyplot_is_never_imported() -> None:
    """Importing tinct.plots imports no Matplotlib at all, drawing and saving never pyplot."""
    code = (
        "import sys, tinct.plots as plots\n"
        "assert 'matplotlib' not in sys.modules and 'tinct.asking' not in sys.modules\n"
        "from tinct import Privacy, balanced, graphs\n"
        "figure = balanced(graphs.line(2, 2), Privacy(1)).plot()\n"
        "plots.figure_files.render(figure, '.png'), plots.figure_files.render(figure, '.svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules and 'networkx' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'tinct\[plot\]'"):
        SMALL["row"].plot()


LINE = balanced(graphs.line(2, 2), LN2)
BAD: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (plots.mechanism, (None,), {}),
    (plots.mechanism, (LINE.table,), {}),
    (plots.mechanism, (LINE,), {"kind": "bars"}),
    (plots.mechanism, (LINE,), {"kind": None}),
    (plots.mechanism, (LINE,), {"dark": "yes"}),
    (plots.mechanism, (LINE,), {"dark": math.nan}),
    (plots.mechanism, (LINE,), {"path": 7}),
    (plots.graph, ("graph",), {}),
    (plots.graph, (balanced(graphs.line(500, 500), LN2),), {}),
    (plots.graph, (LINE,), {"names": 7}),
    (plots.errors, (LINE.graph,), {}),
    (plots.errors, (LINE,), {"compare": "geometric"}),
    (plots.errors, (LINE,), {"compare": {"a": 1}}),
    (plots.errors, (LINE,), {"compare": {"a": balanced(graphs.line(3, 3), LN2)}}),
    (plots.profile, (LINE.graph,), {}),
    (plots.profile, (LINE,), {"epsilons": [math.nan]}),
    (plots.profile, (LINE,), {"epsilons": [-1.0]}),
    (plots.profile, (LINE,), {"epsilons": [math.inf]}),
    (plots.profile, (LINE,), {"epsilons": []}),
    (plots.profile, (LINE,), {"epsilons": "abc"}),
    (plots.profile, (LINE,), {"compare": [LINE]}),
    (plots.profile, (LINE,), {"compare": {"a": 1}}),
    (plots.profile, (LINE,), {"log": "yes"}),
    (plots.frontier, (LINE,), {}),
    (plots.frontier, ([],), {}),
    (plots.frontier, ([frontier(graphs.line(2, 2), LN2)] * 7,), {}),
    (plots.frontier, ([frontier(graphs.line(2, 2), LN2), frontier(graphs.majority(3), LN2)],), {}),
    (plots.rainbow, (0.5, [0.5, 0.5]), {}),
    (plots.rainbow, (LN2, []), {}),
    (plots.rainbow, (LN2, [1.0]), {}),
    (plots.rainbow, (LN2, [0.5, math.nan]), {}),
    (plots.rainbow, (LN2, [0.5, 0.6]), {}),
    (plots.rainbow, (LN2, [-0.5, 1.5]), {}),
    (plots.rainbow, (LN2, [1 / 13] * 13), {}),
    (plots.rainbow, (LN2, [0.5, 0.5]), {"distance": 0}),
    (plots.rainbow, (LN2, [0.5, 0.5]), {"distance": 1.5}),
    (plots.rainbow, (LN2, [0.5, 0.5]), {"distance": math.nan}),
    (plots.rainbow, (LN2, [0.5, 0.5]), {"distance": 10**16}),
    (plots.rainbow, (LN2, [0.5, 0.5]), {"distance": True}),
    (plots.rainbow, (LN2, [0.5, 0.5]), {"answers": ["a"]}),
    (plots.rainbow, (LN2, [0.5, 0.5]), {"answers": 7}),
    (plots.utilities, ([],), {}),
    (plots.utilities, (7,), {}),
    (plots.utilities, ([1, 2],), {}),
    (plots.utilities, (local.compare(P0, P1, epsilons=[1], bound=False),), {"share": 1}),
    (plots.regimes, ([],), {}),
    (plots.regimes, (local.regimes(P0, P1, samples=4),), {"highest": math.nan}),
    (plots.regimes, (local.regimes(P0, P1, samples=4),), {"highest": 0}),
    (plots.regimes, (local.regimes(P0, P1, samples=4),), {"highest": 1e9}),
    (plots.shares, (7,), {}),
    (plots.shares, (ESTIMATE,), {"top": 0}),
    (plots.shares, (ESTIMATE,), {"top": 61}),
    (plots.errors_of_test, (7,), {}),
    (plots.accuracy, ({},), {}),
    (plots.accuracy, (Accuracy("m", (), {}),), {}),
]


@pytest.mark.parametrize(("function", "arguments", "options"), BAD)
def test_bad_input_is_refused_with_a_message(
    function: Any, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    with pytest.raises(ParameterError) as caught:
        function(*arguments, **options)
    assert len(str(caught.value)) > 20


# the command


@pytest.fixture(scope="module")
def run() -> Any:
    app = typer.Typer()
    app.command()(plot.plot)
    return lambda *words: CliRunner().invoke(app, list(words))


@pytest.fixture
def answer_file(tmp_path: Path) -> Path:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"schema": "tinct/plan@1", "accuracy": accuracy_table().to_dict()}))
    return path


def test_the_command_draws_every_kind(run: Any, tmp_path: Path, answer_file: Path) -> None:
    """Each kind writes what the function of its name draws, in the formats asked for."""
    stored = tmp_path / "mechanism.json"
    LINE.to_json(stored)
    table = tmp_path / "two.csv"
    table.write_text("symbol,p0,p1\na,0.1,0.5\nb,0.2,0.25\nc,0.7,0.25\n")
    majority = plots.mechanism(balanced(graphs.majority(30), Privacy("0.5", "0.01")))
    row = plots.rainbow(Privacy("ln 2"), [0.1, 0.3, 0.6], answers="abc")
    calls = [
        ([str(stored)], plots.mechanism(LINE)),
        (["majority:30", "--epsilon", "0.5", "--delta", "0.01"], majority),
        (["graph", "cube:2", "-e", "ln 2", "--dark"], None),
        (["errors", str(stored), "--no-compare"], plots.errors(LINE, compare=False)),
        (["truth", "votes:3,3", "-e", "1"], None),
        (["profile", str(stored), "--log"], plots.profile(LINE, log=True)),
        (["frontier", "threshold:9,3", "-e", "1", "--title", "Mine"], None),
        (["rainbow", "0.1,0.3,0.6", "a,b,c", "-e", "ln 2"], row),
        (["utilities", "0.5,0.3,0.2"], None),
        (
            ["regimes", str(table)],
            plots.regimes(local.regimes([0.1, 0.2, 0.7], [0.5, 0.25, 0.25], symbols=list("abc"))),
        ),
        (["regimes", "0.1,0.9", "0.6,0.4", "--utility", "chi2"], None),
        (["accuracy", str(answer_file)], plots.accuracy(accuracy_table())),
    ]
    for number, (words, expected) in enumerate(calls):
        target = tmp_path / f"{number}.svg"
        result = run(*words, "-o", str(target))
        assert result.exit_code == 0, (words, result.output, result.exception)
        assert str(target) in result.output
        if expected is not None:
            assert target.read_bytes() == render(expected, ".svg"), words
    result = run(str(stored), "-o", str(tmp_path / "a.png"), "-o", str(tmp_path / "a.pdf"))
    assert (tmp_path / "a.png").exists()
    assert (tmp_path / "a.pdf").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["majority:9"], "--epsilon is missing"),
        (["nothing.json"], "no such file"),
        (["majority:x", "-e", "1"], "majority:n"),
        (["majority:9", "-e", "nan"], "epsilon must be"),
        (["majority:9", "majority:8", "-e", "1"], "is not a kind of figure"),
        (["frontier"], "takes"),
        (["frontier", "votes:3,3", "-e", "1"], "orders of preference"),
        (["rainbow", "0.1,zebra", "-e", "1"], "expected a number"),
        (["rainbow", "0.5,0.5"], "--epsilon is missing"),
        (["rainbow", "0.5,0.5", "a,b,c", "-e", "1"], "name for each"),
        (["regimes", "0.5,0.5"], "two distributions"),
        (["regimes", "0.5,0.5", "0.5,0.4"], "sum to 1"),
        (["utilities", "0.5,0.5", "0.5,0.5", "--utility", "zebra"], "utility must be"),
        (["accuracy", "BAD"], "not an answer"),
        (["graph", "majority:5000", "-e", "1"], "would show nothing"),
    ],
)
def test_the_command_explains_what_is_wrong(run: Any, tmp_path: Path, words: list[str], message: str) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"accuracy": {"margin": 3}}')
    result = run(*[str(bad) if word == "BAD" else word for word in words], "-o", str(tmp_path / "figure.svg"))
    assert result.exit_code != 0
    assert message in str(result.exception), result.exception
    assert not (tmp_path / "figure.svg").exists()


def test_the_command_refuses_budgets_for_a_stored_mechanism(run: Any, tmp_path: Path) -> None:
    LINE.to_json(tmp_path / "m.json")
    result = run(str(tmp_path / "m.json"), "-e", "1", "-o", str(tmp_path / "m.svg"))
    assert "contains its privacy" in str(result.exception)
    result = run(str(tmp_path / "m.json"), "-o", str(tmp_path / "m.bmp"))
    assert "must end in" in str(result.exception)


def test_the_columns_of_a_table_must_be_named(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "two.csv"
    table.write_text("a,b\n0.5,0.5\n")
    result = run("regimes", str(table), "-o", str(tmp_path / "r.svg"))
    assert "columns must be p0 and p1" in str(result.exception)
    table.write_text("P0,P1\n0.5,x\n")
    result = run("regimes", str(table), "-o", str(tmp_path / "r.svg"))
    assert "line 2: expected a number" in str(result.exception)
