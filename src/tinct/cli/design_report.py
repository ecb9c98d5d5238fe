"""What ``tinct design`` prints: the mechanism by colour or order and distance, for people and for scripts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING, Any

from tinct.cli.printing import json_text, pour_json
from tinct.cli.shared_options import describe, plural, privacy_object

if TYPE_CHECKING:
    from pathlib import Path

    from tinct.cli.printing import Table
    from tinct.errors import CostlyRows
    from tinct.mechanism import Verdict
    from tinct.mechanism.by_distance import ByDistance, DistanceLine

_BAR = 8
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True)
class Report:
    """A designed mechanism with what was found about it."""

    table: ByDistance
    privacy: Any
    verdict: Verdict
    written: list[Path]
    stated: dict[str, Any]  # what else scripts are told
    costly: CostlyRows | None = None  # what one row for each order costs

    def print_table(self, rows: int) -> None:
        """Print the table for people, up to ``rows`` distances of each colour or order."""
        from rich.markup import escape

        from tinct.cli.printing import Screen
        from tinct.privacy import SuitablePair

        mechanism, graph = self.table.mechanism, self.table.mechanism.graph
        console = Screen(highlight=not graph.coloring.has_orders)
        value = _value(mechanism)
        neighbours = plural(len(graph.indices) // 2, "pair of neighbours", "pairs of neighbours")
        answers = f", {len(graph.outputs)} answers" if len(graph.outputs) > 2 else ""
        claim = mechanism.claim
        kind = "Mechanism" if claim is None else claim.name[0].upper() + claim.name[1:]
        console.print(f"[bold]{escape(kind)}[/bold] for {plural(len(graph), 'dataset')}, {neighbours}{answers}")
        console.print(f"Privacy: {escape(describe(self.privacy))}", end="\n\n")
        lines = list(self.table.shown(rows))
        console.print(_by_order(lines, graph.outputs) if graph.coloring.has_orders else _by_color(lines))
        console.print()
        if self.table.others:
            common = "" if isinstance(self.privacy, SuitablePair) else " at the smallest budget"
            console.print(f"Last columns: how often {', '.join(self.table.others)} would be wrong{common}.")
        other = "order" if graph.coloring.has_orders else "answer"
        console.print(f"Distance: steps to a dataset that has a neighbour with another {other}.")
        console.print("Wrong: how often, for the worst of the datasets in the line.")
        if claim is not None:
            console.print(f"Claim: {claim.sentence}.")
        if value:
            console.print(
                f"Utility {value['value']:.9g}; no private mechanism has more than {value['upper_bound']:.9g}"
            )
        console.print(
            f"Checked on every edge: {'private' if self.verdict.private else 'NOT private'}; least ε at this δ "
            f"{self.verdict.epsilon:.9g} (relative tolerance {self.verdict.tolerance:g})"
        )
        if self.costly is not None:
            console.print(
                f"Note: with one row for each order the best answer has {self.costly.mean:.3f} at most, on average "
                f"over the datasets; --maximize truth gives it {self.costly.best:.3f}."
            )
        for path in self.written:
            console.print(f"Written: {escape(str(path))}")

    def print_json(self) -> None:
        """Print one JSON object with the same content, and all distances."""
        mechanism, graph = self.table.mechanism, self.table.mechanism.graph
        field = "by_order" if graph.coloring.has_orders else "by_distance"
        result = {
            "schema": "tinct/design@1",
            "datasets": len(graph),
            "edges": len(graph.indices) // 2,
            "outputs": [str(output) for output in graph.outputs],
            "privacy": privacy_object(self.privacy),
            "claim": None if mechanism.claim is None else mechanism.claim.to_dict(),
            **self.stated,
            field: [],
            "private": self.verdict.private,
            "least_epsilon": self.verdict.epsilon if math.isfinite(self.verdict.epsilon) else "infinite",
            "least_delta": self.verdict.delta,
            "tolerance": self.verdict.tolerance,
            "written": [str(path) for path in self.written],
            **_value(mechanism),
            **({} if self.costly is None else {"costly_rows": {"mean": self.costly.mean, "best": self.costly.best}}),
        }
        # one line at a time: all of them at once would take more memory than the design did
        before, after = json_text(result).split(f'"{field}": []')
        between = f'{before}"{field}": ['
        for line in self.table:
            pour_json(f"{between}\n{indent(json_text(_as_json(line, graph.outputs)), '    ')}")
            between = ","
        pour_json(f"\n  ]{after}\n")


def _value(mechanism: Any) -> dict[str, float]:
    """What a mechanism that maximises a utility has of it, and what none can exceed."""
    from tinct.rainbow import BestMechanism

    if not isinstance(mechanism, BestMechanism):
        return {}
    return {"value": mechanism.value, "upper_bound": mechanism.upper_bound}


def _as_json(line: DistanceLine, outputs: tuple[Any, ...]) -> dict[str, Any]:
    numbers = {
        "distance": line.distance,
        "datasets": line.datasets,
        "truth": list(line.truth),
        "error": list(line.error),
        "mean_error": line.mean_error,
    }
    if not isinstance(line.color, tuple):
        return {"color": str(line.color), **numbers, "baseline_errors": line.others}
    probabilities = dict(zip(map(str, outputs), line.row, strict=True))
    return {"order": [str(answer) for answer in line.color], **numbers, "probabilities": probabilities}


def _by_color(lines: list[DistanceLine | None]) -> Table:
    """How often the answer is right and wrong, and the others beside it."""
    from rich.markup import escape

    from tinct.cli.printing import Table

    found = [line for line in lines if line is not None]
    mean = ["wrong, mean"] if any(map(_uneven, found)) else []
    names = list(found[0].others)
    table = Table(box=None, pad_edge=False, padding=(0, 1), collapse_padding=True, header_style="bold")
    for title in ("answer", "distance", "datasets", "right", "wrong", *mean, *names):
        plain = title == "answer"
        table.add_column(*title.split(" "), justify="left" if plain else "right", no_wrap=not plain)
    for line in lines:
        if line is None:
            table.add_row("", "…", *([""] * (3 + len(mean) + len(names))))
            continue
        errors = [line.wrong, *([line.mean_error] if mean else []), *line.others.values()]
        cells = [_steps(line), f"{line.datasets:,}", _range(*line.truth), *(f"{error:.3g}" for error in errors)]
        table.add_row(escape(str(line.color)), *cells)
    return table


def _by_order(lines: list[DistanceLine | None], outputs: tuple[Any, ...]) -> Table:
    """How often the best answer is not given, and how often each answer is, as bars."""
    from rich.markup import escape

    from tinct.cli.printing import Table

    mean = ", mean" if any(line is not None and _uneven(line) for line in lines) else ""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for title in ("distance", "datasets", "wrong"):
        table.add_column(title, justify="right")
    table.add_column(f"answers, from the most to the least preferred{mean}", no_wrap=True)
    for line in lines:
        if line is None:
            table.add_row("…", "", "", "")
            continue
        shares = dict(zip(outputs, line.row, strict=True))
        bars = "  ".join(f"{escape(str(answer))} {_bar(shares[answer])}" for answer in line.color)
        table.add_row(_steps(line), f"{line.datasets:,}", f"{line.wrong:.3g}", bars)
    return table


def _uneven(line: DistanceLine) -> bool:
    """Whether the mean is another number than the worst, as they are shown."""
    return f"{line.mean_error:.3g}" != f"{line.wrong:.3g}"


def _steps(line: DistanceLine) -> str:
    return "none" if line.distance < 0 else str(line.distance)


def _range(least: float, most: float) -> str:
    low, high = f"{least:.4g}", f"{most:.4g}"
    return low if low == high else f"{low}–{high}"


def _bar(probability: float) -> str:
    """A bar of eighths of a character, followed by the number."""
    full, part = divmod(round(probability * _BAR * 8), 8)
    bar = "█" * full + (_EIGHTHS[part] if part else "")
    return f"[cyan]{bar:<{_BAR}}[/cyan] {probability:.3f}"
