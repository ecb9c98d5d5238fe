"""The fair optimum with a budget on every edge: against the extension, SciPy's search, and itself on half the graph.

Everything runs in turns, on one core, by processor time; a ratio is the median of those of single turns. So a machine
that other programs use too, a cache of which they take their part, meets both sides of every ratio.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import geometric_mean, median
from time import process_time
from typing import TYPE_CHECKING

from benchmarks import cases, peers
from benchmarks.measuring import extra_memory, turns
from benchmarks.rows import Row, shown
from tinct import balanced, extend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinct import Mechanism
    from tinct.graphs.budgets import PrivacyLike

FAMILIES: tuple[tuple[Callable[[int], cases.Case], tuple[int, ...]], ...] = (
    (cases.grid, (500, 707, 1000, 1414, 2000)),
    (cases.cube, (16, 17, 18, 19, 20)),
    (cases.random_graph, (62_500, 125_000, 250_000, 500_000, 1_000_000)),
    (cases.path, (250_000, 500_000, 1_000_000, 2_000_000, 4_000_000)),
)
TURNS = 9


def rows() -> Iterator[Row]:
    """Every comparison."""
    for build, sizes in FAMILIES:
        several = [build(size) for size in sizes]
        yield from against_others(several[-1])
        yield from doubling(several)
    yield from memory()


def against_others(case: cases.Case) -> Iterator[Row]:
    """Two layouts of budgets against ``extend``, which is given the values that ``balanced`` has to find."""
    own, classes = cases.own_budgets(case), cases.eight_classes(case)
    dijkstra = peers.multi_source_dijkstra(case, own.epsilon)
    times = turns([_fair(case, own), _extended(case, own), dijkstra], TURNS, process_time)
    what = f"balanced, every edge its own (ε, δ), {case.name}"
    yield _compared(what, times, 1, "extend", 1.5)
    yield _compared(what, times, 2, "SciPy multi-source Dijkstra", 1.0)
    times = turns([_fair(case, classes), _extended(case, classes)], TURNS, process_time)
    yield _compared(f"balanced, 8 classes of (ε, δ), {case.name}", times, 1, "extend", 1.5)


def doubling(several: list[cases.Case]) -> Iterator[Row]:
    """How time grows when the graph doubles: on average, and at most. SciPy's search tells what is the machine's."""
    budgets = [cases.own_budgets(case) for case in several]
    fair = [_fair(case, own) for case, own in zip(several, budgets, strict=True)]
    search = [peers.multi_source_dijkstra(case, own.epsilon) for case, own in zip(several, budgets, strict=True)]
    times = turns([*fair, *search], TURNS, process_time)
    mine, theirs = [turn[: len(fair)] for turn in times], [turn[len(fair) :] for turn in times]
    growths, searched = _growths(mine), _growths(theirs)
    for when, growth, of_search in (
        ("on average", geometric_mean(growths), geometric_mean(searched)),
        ("at most", max(growths), max(searched)),
    ):
        yield Row(
            f"balanced, every edge its own (ε, δ), {several[-1].name}: a doubling {when}",
            shown(median(turn[-1] for turn in mine)),
            f"{several[0].name}: {shown(median(turn[0] for turn in mine))} (SciPy's Dijkstra grows {of_search:.2f}×)",
            f"{growth:.2f}×",
            "≤ 2.3×",
            growth <= 2.3,
        )


def memory() -> Iterator[Row]:
    """Extra memory beyond the input arrays, against the bound of ``extend``."""
    extra = extra_memory(
        "from benchmarks import cases; from tinct import balanced; case = cases.cube(20); "
        "privacy = cases.own_budgets(case); run = lambda: balanced(case.graph, privacy)"
    )
    if extra is not None:
        allowed = 40 * 2**20 + 12 * 20 * 2**20
        yield Row(
            "balanced, every edge its own (ε, δ): extra memory",
            f"{extra / 1e6:.0f} MB on the 20-cube",
            "40 B/vertex + 12 B/directed edge",
            f"{extra / allowed:.2f}×",
            "≤ 1×",
            extra <= allowed,
        )


def _compared(what: str, times: list[list[float]], other: int, name: str, goal: float) -> Row:
    """The first of each turn against another one."""
    ratio = median(turn[0] / turn[other] for turn in times)
    mine, theirs = (shown(median(turn[at] for turn in times)) for at in (0, other))
    return Row(what, mine, f"{name}: {theirs}", f"{ratio:.2f}×", f"≤ {goal:g}×", ratio <= goal)


def _growths(times: list[list[float]]) -> list[float]:
    """From each size to the next, the median over all turns."""
    each = [[after / before for before, after in pairwise(turn)] for turn in times]
    return [median(growths) for growths in zip(*each, strict=True)]


def _fair(case: cases.Case, privacy: PrivacyLike) -> Callable[[], Mechanism]:
    balanced(case.graph, privacy)  # compiles
    return lambda: balanced(case.graph, privacy)


def _extended(case: cases.Case, privacy: PrivacyLike) -> Callable[[], Mechanism]:
    extend(case.graph, privacy, case.fixed)
    return lambda: extend(case.graph, privacy, case.fixed)
