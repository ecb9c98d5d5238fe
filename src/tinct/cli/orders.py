"""``tinct design`` for graphs with orders of preference: one line for each order and distance, with bars."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from tinct.cli.inputs import describe, plural
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from tinct.graphs import DatasetGraph
    from tinct.mechanism import Mechanism

BOUNDARIES = ("balanced", "best")
UTILITIES = ("truth", "prefixes")
_BAR = 8
_EIGHTHS = " ▏▎▍▌▋▊▉"


def design_orders(graph: DatasetGraph, privacy: Any, fix: str | None, boundary: str, maximize: str | None) -> Mechanism:
    """The optimum from the given or chosen boundary rows, or the best mechanism for a utility."""
    from tinct import rainbow
    from tinct.graphs.files import read_rows

    if boundary not in BOUNDARIES:
        raise ParameterError(f"--boundary must be one of {', '.join(BOUNDARIES)}, got {boundary!r}")
    if maximize is not None:
        return rainbow.best(graph, privacy, maximize, fixed=read_rows(fix, graph) if fix is not None else None)
    if fix is not None:
        return rainbow.extend(graph, privacy, read_rows(fix, graph))
    if boundary == "best":
        return rainbow.extend(graph, privacy, rainbow.best_boundary(graph, privacy).rows)
    return rainbow.extend(graph, privacy, rainbow.balanced_boundary(graph, privacy))


def lines_by_order(mechanism: Mechanism) -> list[dict[str, Any]]:
    """For each order and distance: how many datasets, and the mean probability of every answer there."""
    import numpy as np

    graph = mechanism.graph
    distance, codes = graph.boundary_distance(), graph.coloring.codes
    lines = []
    for code, order in enumerate(graph.coloring.palette):
        for step in np.unique(distance[codes == code]).tolist():
            mine = (codes == code) & (distance == step)
            means = mechanism.table[mine].mean(axis=0)
            lines.append(
                {
                    "order": [str(answer) for answer in order],
                    "distance": int(step),
                    "datasets": int(mine.sum()),
                    "probabilities": {str(answer): float(p) for answer, p in zip(graph.outputs, means, strict=True)},
                }
            )
    return lines


def print_orders(mechanism: Mechanism, privacy: Any, verdict: Any, written: list[Path]) -> None:
    """The table for people, each order's answers from best to worst."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from tinct.rainbow import BestMechanism

    graph = mechanism.graph
    console = Console(highlight=False)
    best = isinstance(mechanism, BestMechanism)
    neighbours = plural(len(graph.indices) // 2, "pair of neighbours", "pairs of neighbours")
    console.print(
        f"[bold]{'Best' if best else 'Optimal'} mechanism[/bold] for {plural(len(graph), 'dataset')}, {neighbours}, "
        f"{len(graph.outputs)} answers"
    )
    console.print(f"Privacy: {escape(describe(privacy))}\n")
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("distance", justify="right")
    table.add_column("datasets", justify="right")
    table.add_column("answers, from the most to the least preferred", no_wrap=True)
    for line in lines_by_order(mechanism):
        bars = [f"{escape(answer)} {_bar(line['probabilities'][answer])}" for answer in line["order"]]
        table.add_row(str(line["distance"]), f"{line['datasets']:,}", "  ".join(bars))
    console.print(table)
    if isinstance(mechanism, BestMechanism):
        console.print(
            f"\nUtility {mechanism.value:.9g}; no private mechanism has more than {mechanism.upper_bound:.9g}"
        )
    console.print(
        f"\nChecked on every edge: {'private' if verdict.private else 'NOT private'}; least ε at this δ "
        f"{verdict.epsilon:.9g} (relative tolerance {verdict.tolerance:g})"
    )
    for path in written:
        console.print(f"Written: {escape(str(path))}")


def print_orders_json(
    mechanism: Mechanism, privacy: Any, verdict: Any, written: list[Path], stated: dict[str, Any]
) -> None:
    """One JSON object with the same content."""
    from tinct.rainbow import BestMechanism

    result = {
        "schema": "tinct/design@1",
        "datasets": len(mechanism.graph),
        "outputs": [str(output) for output in mechanism.outputs],
        "privacy": describe(privacy),
        **stated,
        "by_order": lines_by_order(mechanism),
        "private": verdict.private,
        "least_epsilon": verdict.epsilon,
        "written": [str(path) for path in written],
    }
    if isinstance(mechanism, BestMechanism):
        result |= {"value": mechanism.value, "upper_bound": mechanism.upper_bound}
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))


def _bar(probability: float) -> str:
    """A bar of eighths of a character, followed by the number."""
    eighths = round(probability * _BAR * 8)
    full, part = divmod(eighths, 8)
    bar = "█" * full + (_EIGHTHS[part] if part else "")
    return f"[cyan]{bar:<{_BAR}}[/cyan] {probability:.3f}"
