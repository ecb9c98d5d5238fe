"""One command, one table: tinct against peers and against the limit, same data, same run.

``python -m benchmarks`` measures everything; ``python -m benchmarks releases fair_optimum`` measures those parts only.
Results go to benchmarks/RESULTS.md, part by part, and five of its rows to the README.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.measuring import machine

if TYPE_CHECKING:
    from benchmarks.rows import Row

PARTS = {
    "designs": "Designing on graphs",
    "fair_optimum": "The fair optimum",
    "releases": "Certifying and sampling",
    "reading": "Asking about rows",
    "local_privacy": "Local privacy",
}
RESULTS = Path(__file__).parent / "RESULTS.md"
README = Path(__file__).parent.parent / "README.md"
HEADLINES = (  # the rows of the README; one of them is a goal that is missed
    "one ε, 2000 × 2000 grid",
    "10 million exact draws, 2 answers",
    "ask about 10 million rows, .parquet",
    "ask about 10 million rows, .csv",
    "privatize 10 million answers of 100",
)
HEAD = "| what | time | against | ratio | goal |\n| --- | --- | --- | --- | --- |"


def main(wanted: list[str]) -> None:
    """Measure, print, write down."""
    console = Console()
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]!r}: choose from {', '.join(PARTS)}")
    sections = _sections()
    for name in wanted or PARTS:
        rows: list[Row] = []
        with console.status(f"measuring {PARTS[name]}"):
            rows.extend(import_module(f"benchmarks.{name}").rows())
        _show(console, rows)
        sections[name] = _markdown(rows)
    RESULTS.write_text(_document(sections), encoding="utf-8")
    _write_readme(sections)


def _show(console: Console, rows: list[Row]) -> None:
    table = Table(box=None, header_style="bold")
    for title in ("what", "time", "against", "ratio", "goal", ""):
        table.add_column(title)
    for row in rows:
        table.add_row(row.what, row.measured, row.against, row.ratio, row.goal, "met" if row.met else "MISSED")
    console.print(table)


def _markdown(rows: list[Row]) -> str:
    names = ("numpy", "scipy", "numba")
    stamp = (
        f"Measured {dt.date.today().isoformat()} on {machine()}; "
        + ", ".join(f"{name} {version(name)}" for name in names)
        + "."
    )
    lines = [
        f"| {row.what} | {row.measured} | {row.against} | {row.ratio} | {row.goal}{'' if row.met else ' (missed)'} |"
        for row in rows
    ]
    return "\n".join([stamp, "", HEAD, *lines, ""])


def _sections() -> dict[str, str]:
    """The parts that were measured before, by name."""
    if not RESULTS.exists():
        return {}
    parts = re.split(r"^<!-- (\w+) -->\n## .*\n\n", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (text.rstrip("\n") + "\n" for text in parts[2::2]), strict=True))


def _document(sections: dict[str, str]) -> str:
    intro = (
        "# Benchmark results\n\n`python -m benchmarks` measures all of it again. Times are the best of several runs "
        "of the whole public call, on\nthe same data in the same process; of the fair optimum they are medians of "
        "processor time, on one core, and ratios\nare medians over turns. Questions about rows are asked in turns with "
        "the engine's own count; their times are medians.\n\n"
        "Why some goals are missed: a graph that outgrows a cache when it is doubled takes more than twice as "
        "long; by\n"
        "how much SciPy's own search grows on the same graphs stands in the same rows.\n\n"
    )
    order = [name for name in PARTS if name in sections]
    return intro + "\n".join(f"<!-- {name} -->\n## {PARTS[name]}\n\n{sections[name]}" for name in order)


def _write_readme(sections: dict[str, str]) -> None:
    """Put the headline rows between the markers of the README, each the first of its name."""
    lines = [line for text in sections.values() for line in text.splitlines()]
    rows = [next(line for line in lines if line.startswith(f"| {what} |")) for what in HEADLINES]
    readme = README.read_text(encoding="utf-8")
    body = "\n".join([next(iter(sections.values())).splitlines()[0], "", HEAD, *rows])
    README.write_text(
        re.sub(
            r"<!-- bench -->.*<!-- /bench -->", lambda _: f"<!-- bench -->\n{body}\n<!-- /bench -->", readme, flags=re.S
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
