"""Figures 1 to 5 of the paper on more than two answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallery.exhibits import Exhibit
from tinct import DatasetGraph, Mechanism, Privacy, graphs, rainbow, verify
from tinct.graphs import Budget
from tinct.plots._graph import Network, draw_network
from tinct.plots.canvas import drawing
from tinct.plots.layouts import positions
from tinct.rainbow.envelope import envelope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ANSWERS = ("blue", "red", "green")
# figure 1 is a picture without numbers: what the text states about it holds here, the rest is ours
EDGES = [
    "ag", "bg", "ab", "gl", "kl", "cg", "ch", "hi", "hn", "lq", "id", "no", "qm", "mr", "op", "dj", "je", "pf", "mo",
]  # fmt: skip
REGIONS = {
    ("blue", "red", "green"): "abcghkl",
    ("red", "green", "blue"): "dijenopf",
    ("green", "blue", "red"): "qmr",
}
CYCLE = DatasetGraph(
    [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)],
    {1: ANSWERS, 2: ANSWERS, 3: ANSWERS, 4: ANSWERS, 5: ("blue", "green", "red")},
    outputs=ANSWERS,
)
ENDS = {1: (0.2, 0.1, 0.7), 4: (0.4, 0.1, 0.5)}
FIRST = {2: (0.4, 0.2, 0.4), 3: (0.4, 0.2, 0.4)}
SECOND = {2: (0.4, 0.1, 0.5), 3: (0.7, 0.05, 0.25)}
TWICE = Privacy("ln 2")
GROWTH = 1.2
ROW = np.array([0.001, 0.015, 0.25, 0.5]) * GROWTH / (1 + GROWTH)
ROW = np.append(ROW, 1 - ROW.sum())
LONGEST = 60
SHOWN = {"0": 60, "0.001": 60, "0.1": 12}  # distances in the figures
CAPTIONS = {"0": (6, 3, 1, 0), "0.001": (5, 3, 1, 0), "0.1": (2, 2, 1, 0)}  # τ_1 to τ_4 as printed


def lettered() -> DatasetGraph:
    """A rainbow graph of the kind that figure 1 shows: datasets with letters, three regions that all meet."""
    orders = {letter: order for order, letters in REGIONS.items() for letter in letters}
    return DatasetGraph([(edge[0], edge[1]) for edge in EDGES], orders, outputs=ANSWERS)


def pulled_back() -> tuple[Mechanism, Mechanism]:
    """The optimum on the boundary graph for balanced rows, and the same mechanism on the lettered graph."""
    graph = lettered()
    morphism = rainbow.boundary_morphism(graph)
    rows = rainbow.balanced_boundary(graph, TWICE)
    small = rainbow.extend(morphism.target, TWICE, rows)
    return small.pullback(morphism, graph), small


def figure_1(dark: bool) -> Any:
    """A rainbow graph and its boundary graph: orders as targets, and the optimum that goes from one to the other."""
    whole, small = pulled_back()
    names: dict[Any, str] = {"l": "ℓ"}
    names |= {(order, step): f"{''.join(word[0] for word in order)} {step}" for order, step in small.vertices}
    titles = (
        "(a) a rainbow graph",
        "(b) its boundary graph: order and distance",
        "(a) with the mechanism of (b)",
        "(b) with its optimum",
    )
    with drawing(dark=dark, path=None, panels=(2, 2), size=(10.4, 8.6), width_ratios=(1.2, 1)) as canvas:
        for at, mechanism in enumerate((None, None, whole, small)):
            side = (whole, small)[at % 2]
            points, _ = positions(side.graph)
            shown = Network(side.graph, mechanism, points, names=names, values=True)
            draw_network(canvas, shown, at=at, key=at == 2)
            canvas.axes[at].set_title(titles[at], color=canvas.theme.muted)
            canvas.axes[at].set_anchor("NW")
        note = "above: the best answer outside, the last inside; below: answers given for ε = ln 2, numbers: Pr[best]"
        canvas.headline("Orders of preference", note)
    return canvas.figure


def cycle_mechanisms() -> list[Mechanism]:
    """Both mechanisms of example 1, and the envelope of all bounds, which is not private."""
    private = [rainbow.best(CYCLE, TWICE, "prefixes", fixed={**ENDS, **rows}) for rows in (FIRST, SECOND)]
    rows = np.full((len(CYCLE), len(ANSWERS)), np.nan)
    for vertex, row in ENDS.items():
        rows[CYCLE.position(vertex)] = row
    return [*private, Mechanism(CYCLE, envelope(CYCLE, Budget(CYCLE, TWICE), rows), TWICE)]


def figure_2(dark: bool) -> Any:
    """Example 1: private mechanisms without a best one."""
    mechanisms = cycle_mechanisms()
    needed = verify(mechanisms[2], CYCLE, TWICE)
    edge = needed.witness.edge if needed.witness is not None else ("?", "?")
    titles = (
        "private, better at 2",
        "private, better at 3",
        f"the better of both: not private on {edge[0]}–{edge[1]}",
    )
    with drawing(dark=dark, path=None, panels=(1, 3), size=(10.4, 4.4)) as canvas:
        points, _ = positions(CYCLE)
        for at, (mechanism, title) in enumerate(zip(mechanisms, titles, strict=True)):
            draw_network(canvas, Network(CYCLE, mechanism, points, False, True, True), at=at, key=at == 0)
            canvas.axes[at].set_title(title, color=canvas.theme.muted)
        canvas.headline("No best mechanism", "ε = ln 2; 1 and 4 are fixed; numbers: Pr[blue], the best answer of all")
    return canvas.figure


def right_curves(delta: str) -> Floats:
    """The optimal rows at distances 0 to 60."""
    return rainbow.at_distance(Privacy("ln 1.2", delta), ROW, np.arange(LONGEST + 1))


def right_turns(delta: str) -> list[int]:
    """The distances at which the prefix sums turn."""
    return [int(turn) for turn in np.asarray(Privacy("ln 1.2", delta).transition(np.cumsum(ROW)[:-1])).tolist()]


def printed_curves(delta: str) -> Floats:
    """The rows by the formulas as printed: (17) and (18) for δ = 0, (20) and (21) otherwise."""
    slack, steps = float(delta), np.arange(LONGEST + 1)
    rho = slack / (GROWTH - 1)
    sums = np.ones((LONGEST + 1, len(ROW)))
    for k, start in enumerate(np.cumsum(ROW)[:-1].tolist()):
        turn = _printed_turn(start, rho)
        rising = np.minimum(1.0, GROWTH**steps * (start + rho) - rho)
        left = 1.0 - rising[min(turn, LONGEST)] + GROWTH * rho
        falling = np.minimum(1.0, 1.0 + GROWTH * rho - GROWTH ** (-(steps - turn).astype(float)) * left)
        sums[:, k] = np.where(steps <= turn, rising, falling)
    return np.diff(sums, axis=1, prepend=0.0)


def _printed_turn(start: float, rho: float) -> int:
    ratio = (1.0 / (GROWTH + 1.0) + rho) / (start + rho)
    return int(np.ceil(max(np.log(ratio) / np.log(GROWTH) + 1.0, 0.0)))


def printed_needs(delta: str) -> float:
    """The least δ for which the printed rows would be private on a line."""
    table = np.maximum(printed_curves(delta), 0.0)
    line = graphs.line(len(table), 0).recolored(lambda _: tuple(range(len(ROW))))
    return verify(table / table.sum(axis=1, keepdims=True), line, Privacy("ln 1.2", delta)).delta


def curves(delta: str, dark: bool) -> Any:
    """The optimum beside the printed formulas."""
    panels = (
        ("corrected", right_curves(delta), right_turns(delta)),
        ("as printed", printed_curves(delta), list(CAPTIONS[delta])),
    )
    with drawing(dark=dark, path=None, panels=(1, 2), size=(10.4, 4.4)) as canvas:
        hues = [canvas.theme.hues[name] for name in ("blue", "red", "green", "orange", "purple")]
        steps = np.arange(SHOWN[delta] + 1)
        marker = "o" if len(steps) < 20 else None
        for at, (title, table, turns) in enumerate(panels):
            axes = canvas.axes[at]
            for k, color in enumerate(hues):
                canvas.curve(steps, table[steps, k], f"k = {k + 1}", color, at=at, marker=marker)
            for k, turn in enumerate(turns):
                axes.axvline(turn, ymax=0.93, color=hues[k], linewidth=1.0, linestyle=(0, (2, 2)), alpha=0.9)
            axes.set_xlim(0, SHOWN[delta])
            axes.set_ylim(0, 1)
            note = ", ".join(map(str, turns))
            axes.set_title(f"{title}: τ = {note}", color=canvas.theme.muted)
            canvas.axis_names("distance to the boundary", "probability" if at == 0 else "", at)
        canvas.headline(
            "Five answers, from the boundary inwards", f"ε = ln 1.2, δ = {delta}; dashed: the stated τ₁ to τ₄"
        )
    return canvas.figure


_ROUNDED = (
    "The boundary row is (0.001, 0.015, 0.25, 0.5)·e^ε/(1 + e^ε) and what is left, with all digits; the paper rounds "
    "it to 0.0005, 0.0081, 0.1364, 0.2727, 0.5822, which sum to 0.9999 (0.0081 should be 0.0082). Between whole "
    "distances, where there are no datasets, lines are straight."
)
_UNDIVIDED = " (the printed ones leave out the division by ε, and so section 5.3 calls the first phase of k = 4 empty)"


def _wrong(delta: str) -> str:
    right, printed = ", ".join(map(str, right_turns(delta))), ", ".join(map(str, CAPTIONS[delta]))
    beyond = printed_needs(delta)
    return (
        f"The caption has τ₁ to τ₄ = {printed}; right are {right}"
        + (_UNDIVIDED if delta == "0" else "")
        + f". {'Equation (17) is' if delta == '0' else 'Equations (20) and (21) are'} misprinted too: rows computed as "
        f"printed, on the right, would need δ = {beyond:.3g} instead of {delta}, so they are not private as promised."
    )


EXHIBITS = [
    Exhibit(
        "rainbow",
        1,
        "A rainbow graph and its boundary graph",
        "Each dataset has an order of preference over three answers; vertex a prefers blue to red and red to green. A "
        "homogeneous mechanism needs to know only the order and the distance to where orders change, so the optimum is "
        "computed on the small graph and pulled back.",
        figure_1,
        differs="The paper's graph exists as a picture only: its text states the letters, the three colours and the "
        "order at a, and the edges here are ours. The mechanism below is added, to show what the map is for.",
    ),
    Exhibit(
        "rainbow",
        2,
        "A boundary without an optimum",
        "On this cycle the two fixed rows differ, and of the private mechanisms one is best at vertex 2 and another "
        "at vertex 3. Taking the better of both everywhere, on the right, is not private any more.",
        figure_2,
    ),
    *(
        Exhibit(
            "rainbow",
            number,
            f"Five answers, δ = {delta}",
            "From the boundary inwards the answers become likely one after the other, the best one last. A prefix sum "
            "grows by a factor up to its τ, and its complement shrinks by one from there on.",
            partial(curves, delta),
            differs=_ROUNDED,
            wrong=_wrong(delta),
        )
        for number, delta in ((3, "0"), (4, "0.001"), (5, "0.1"))
    ),
]
