"""``tinct bench``: how fast tinct is on this machine, beside what SciPy needs for the same graph."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import echo_json, stage
from tinct.cli.shared_options import JsonOption, examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLES = examples("tinct bench", "tinct bench --side 2000", "tinct bench --json")
_REPEATS = 3


@dataclass(frozen=True)
class Measured:
    """What was done, how long it took, and how long something else took on the same data, in seconds."""

    what: str
    seconds: float
    against: str | None = None
    other: float | None = None


def bench(
    side: Annotated[int, typer.Option(min=10, max=5000, help="The graph is a grid of SIDE by SIDE datasets.")] = (700),
    as_json: JsonOption = False,
) -> None:
    """Measure tinct on this machine: designing, proving, drawing, and a randomiser for thousands of symbols.

    Every time is the shortest of three. The full comparison, with linear programs and other libraries, is 'make bench'
    in a clone.
    """
    with stage("Measuring"):
        rows = [*_designing(side), *_drawing(), *_randomising()]
    if as_json:
        echo_json({"schema": "tinct/bench@1", "rows": [asdict(row) for row in rows]})
    else:
        _print(rows)


def _designing(side: int) -> Iterator[Measured]:
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, dijkstra

    from tinct import EdgePrivacy, Privacy, balanced, extend, graphs

    graph = graphs.grid(side, side, lambda points: points[:, 0] * 2 < side, vectorized=True)
    border = graph.boundary().positions
    fixed = np.full(len(graph), np.nan)
    fixed[border] = np.where(graph.coloring.codes[border] == 0, 0.6, 0.4)
    own = EdgePrivacy(1.0 + np.arange(len(graph.ends)) % 997 / 997)
    matrix = csr_array(
        (own.epsilon[graph.edge_ids], graph.indices, graph.indptr.astype(np.int32)), shape=(len(graph), len(graph))
    )
    size = f"{side} × {side} grid"
    search = _shortest(lambda: breadth_first_order(matrix, int(border[0])))
    paths = _shortest(lambda: dijkstra(matrix, indices=border, min_only=True))
    yield Measured(
        f"optimum for given values, one ε, {size}",
        _shortest(lambda: extend(graph, Privacy("0.5"), fixed)),
        "SciPy's breadth-first search",
        search,
    )
    yield Measured(
        f"optimum for given values, every edge its own ε, {size}",
        _shortest(lambda: extend(graph, own, fixed)),
        "SciPy's Dijkstra",
        paths,
    )
    yield Measured(
        f"fair optimum, every edge its own ε, {size}",
        _shortest(lambda: balanced(graph, own)),
        "SciPy's Dijkstra",
        paths,
    )


def _drawing() -> Iterator[Measured]:
    import numpy as np

    from tinct import Privacy, exact

    yield Measured("certificate for any number of people", _shortest(lambda: exact.line(Privacy("0.1", "1e-6"))))
    line, places = exact.line(Privacy("0.1", "1e-6")), np.arange(1_000_000) % 40 - 20
    yield Measured("1,000,000 exact draws", _shortest(lambda: line.sample(places)))


def _randomising() -> Iterator[Measured]:
    import numpy as np

    from tinct import local

    wave = np.sin(np.arange(3000.0))
    p0, p1 = np.exp(wave) / np.exp(wave).sum(), np.exp(-wave) / np.exp(-wave).sum()
    yield Measured("optimal randomiser for 3,000 symbols", _shortest(lambda: local.optimal(p0, p1, 1)))


def _shortest(run: Callable[[], Any]) -> float:
    run()  # compiled on first use
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def _print(rows: list[Measured]) -> None:
    from tinct.cli.printing import Screen, Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("what", "time", "against", "its time", "ratio"):
        table.add_column(name, justify="left" if name in ("what", "against") else "right")
    for row in rows:
        other = row.other
        ratio = "" if other is None else f"{row.seconds / other:.2f}×"
        table.add_row(row.what, _shown(row.seconds), row.against or "", "" if other is None else _shown(other), ratio)
    Screen().print(table)


def _shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
