"""Figures of the papers on boundary-hitting sets and on edges with budgets of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallery.colorings import votes
from gallery.exhibits import Exhibit
from tinct import DatasetGraph, Mechanism, Privacy, extend, homogeneous
from tinct.plots._graph import Network, draw_network
from tinct.plots.canvas import drawing
from tinct.plots.layouts import positions

# what the text states about figure 1 fixes most of its edges; the others are chosen so that every statement holds
EDGES = [
    "ab", "ag", "bg", "gc", "ch", "hi", "hn", "id", "no", "op", "pf", "fu", "uv", "dj", "je", "bk", "kl", "lq", "qm",
    "mr", "rs", "rt", "st",
]  # fmt: skip
BLUE = "abcghklstuv"
HITTING = {"l": 0.7, "h": 0.62, "u": 0.75, "s": 0.7, "t": 0.66}
BUDGET = Privacy("ln 2", "0.02")
PATH = DatasetGraph(
    [("v1", "v2"), ("v2", "v3"), ("v3", "v4")],
    {"v1": "red", "v2": "blue", "v3": "blue", "v4": "red"},
    outputs=("blue", "red"),
)
INCOMPARABLE = ([0.5, 0.75, 0.5, 0.25], [0.125, 0.25, 0.5, 0.25])  # example 2: probabilities of blue
STRONG, WEAK = "0.2", "1"


def example_graph() -> DatasetGraph:
    """The graph of figure 1 of the paper on optimal binary mechanisms."""
    names = sorted(set("".join(EDGES)))
    return DatasetGraph(
        [(edge[0], edge[1]) for edge in EDGES], {name: "blue" if name in BLUE else "red" for name in names}
    )


def extended() -> Mechanism:
    """The optimal extension from a boundary-hitting set."""
    mechanism: Mechanism = extend(example_graph(), BUDGET, HITTING)
    return mechanism


def figure_1(dark: bool) -> Any:
    """Boundary edges, a boundary-hitting set, and what follows from it."""
    mechanism = extended()
    points, _ = positions(mechanism.graph)
    with drawing(dark=dark, path=None, size=(8.6, 6.4)) as canvas:
        draw_network(canvas, Network(mechanism.graph, mechanism, points, False, {"l": "ℓ"}, True))
        canvas.headline(
            "Five vertices decide about all the others",
            "ε = ln 2, δ = 0.02; circled: the hitting set {ℓ, h, u, s, t}; strong lines: boundary; numbers: Pr[truth]",
        )
    return canvas.figure


def path_mechanisms() -> list[Mechanism]:
    """Both incomparable extensions of example 2, and the optimal one of example 3."""
    tables = [Mechanism(PATH, np.column_stack([blue, np.subtract(1, blue)]), Privacy("ln 2")) for blue in INCOMPARABLE]
    return [*tables, extend(PATH, Privacy("ln 2"), {"v1": 0.3, "v4": 0.1})]


def figure_2(dark: bool) -> Any:
    """A path with one vertex fixed, which is not enough, and with two, which is."""
    titles = (
        "v3 alone is fixed: one private extension …",
        "… and another; neither is at least as truthful everywhere",
        "v1 and v4 are fixed, and meet every boundary edge: one optimum",
    )
    with drawing(dark=dark, path=None, panels=(3, 1), size=(5.8, 5.4)) as canvas:
        for at, (mechanism, title) in enumerate(zip(path_mechanisms(), titles, strict=True)):
            points, _ = positions(PATH)
            draw_network(canvas, Network(PATH, mechanism, points, True, True, True), at=at, key=at == 2)
            canvas.axes[at].set_title(title, color=canvas.theme.muted)
        canvas.headline("Why the fixed vertices must meet the boundary", "ε = ln 2; numbers: Pr[truth]")
    return canvas.figure


def budgeted() -> list[tuple[str, Mechanism]]:
    """Three ways to protect the first person more, each with one truth on the whole boundary, as large as can be."""
    cube = votes()
    strong, weak = Privacy(STRONG), Privacy(WEAK)
    deciding = {frozenset(("121", "221")), frozenset(("112", "212"))}
    heterogeneous = {edge: strong if frozenset(edge) in deciding else weak for edge in cube.edges}
    by_person = {edge: strong if edge[0][0] != edge[1][0] else weak for edge in cube.edges}
    complete = DatasetGraph(
        [(u, v) for u in cube.vertices for v in cube.vertices if u < v], cube.colors, outputs=cube.outputs
    )
    metric = {(u, v): Privacy(_apart(u, v)) for u, v in complete.edges}
    everywhere = homogeneous(cube, by_person, strong.balance[0], strong.balance[0])
    # the metric adds up budgets along paths, so that it allows exactly what the edges allow
    return [
        ("where the first vote decides", homogeneous(cube, heterogeneous, strong.balance[0], strong.balance[0])),
        ("where the first vote differs", everywhere),
        ("between any two datasets", Mechanism(complete, everywhere.table_on(complete), metric)),
    ]


def _apart(u: str, v: str) -> float:
    """A metric: the budgets of everybody who differs, added up."""
    return sum(float(STRONG if at == 0 else WEAK) for at in range(3) if u[at] != v[at])


def heterogeneous_1(dark: bool) -> Any:
    """The same cube with three kinds of budgets."""
    with drawing(dark=dark, path=None, panels=(1, 3), size=(10.4, 4.6)) as canvas:
        points, _ = positions(votes())
        for at, (title, mechanism) in enumerate(budgeted()):
            named = at < 2  # among all the edges of the last there is no room, and its values are those of the second
            draw_network(canvas, Network(mechanism.graph, mechanism, points, False, named, True), at=at, key=at == 0)
            mean = f"{title}: {mechanism.truth().mean():.3f}"
            canvas.axes[at].set_title(mean, color=canvas.theme.muted)
        canvas.headline(
            "Protecting the first person more", f"wide edges have the smaller ε, from {STRONG} up; titles: mean truth"
        )
    return canvas.figure


EXHIBITS = [
    Exhibit(
        "optimal-binary",
        1,
        "Boundary and boundary-hitting set",
        "The circled vertices meet every boundary edge, so fixing their distributions determines the optimal mechanism "
        "everywhere. Strong lines join datasets whose true answers differ.",
        figure_1,
        differs="The paper draws the graph without numbers. Its caption fixes most of the edges and every statement of "
        "it holds here; the remaining edges, the budget and the values at the circled vertices are ours.",
        wrong="The caption lists n among the blue vertices and among the red ones; c is meant in the first list, and "
        "the distance it states is that of a and d.",
    ),
    Exhibit(
        "optimal-binary",
        2,
        "Why a hitting set is needed",
        "With v3 alone fixed at 1/2, two private mechanisms remain of which neither is better everywhere. With v1 and "
        "v4 fixed there is one optimum, in which the farther vertex v4 limits v2 more than its neighbour v1 does.",
        figure_2,
        differs="The paper draws the path alone; the numbers are those of its examples 2 and 3.",
    ),
    Exhibit(
        "heterogeneous",
        1,
        "Three kinds of budgets",
        "With the same truth wherever the answer can change, protecting the first person only where their vote decides "
        "(left) leaves 0.834 for unanimous votes, protecting them everywhere (middle) 0.631, where the fair optimum, "
        "which makes no such demand, has 0.834 too. A metric (right) states a "
        "budget for any two datasets; this one adds up the budgets of all who differ, which asks for nothing new, and "
        "its values are those of the middle.",
        heterogeneous_1,
        differs="The paper shows where the budgets are. The two budgets (0.2 and 1) and the mechanisms are added, each "
        "with one truth on the whole boundary, as large as its weakest edge allows.",
    ),
]
