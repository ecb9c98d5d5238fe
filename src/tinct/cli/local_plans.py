"""``tinct local recommend``: which randomiser to collect frequencies with, and how many people, what ε or how exact."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import echo_json, stage
from tinct.cli.shared_options import (
    JsonOption,
    SymbolsFileOption,
    chosen_symbols,
    examples,
    keep_inputs,
    numbers,
    plural,
    read_distributions,
)
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from tinct.local import Recommendation

RECOMMEND_EXAMPLES = examples(
    "tinct local recommend --symbols 40 --epsilon 1 --people 50000",
    "tinct local recommend --symbols yes,no,unsure --epsilon 1 --error 0.02 --goal joint --output survey.json",
    "tinct local recommend --symbols 6 --people 10000 --error 0.03 --goal joint",
)
_GOALS = {
    "total": "root mean squared error",
    "worst": "standard error, worst symbol",
    "largest": "standard error, largest symbols",
    "pointwise": "half-width, each interval",
    "joint": "half-width, all intervals",
}


def recommend(
    file: Annotated[
        Path | None,
        typer.Argument(help="Guessed shares: a table (.csv, .tsv) with columns symbol, prior.", show_default=False),
    ] = None,
    symbols: Annotated[
        str | None, typer.Option("--symbols", help="The possible answers, or how many.", show_default=False)
    ] = None,
    symbols_file: SymbolsFileOption = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", "-e", help="The budget, such as 0.5 or 'ln 2'.", show_default="the least one"),
    ] = None,
    people: Annotated[
        int | None, typer.Option("--people", help="How many reports there will be.", show_default="10,000")
    ] = None,
    error: Annotated[
        float | None, typer.Option("--error", help="How exact frequencies must be.", show_default=False)
    ] = None,
    goal: Annotated[
        str, typer.Option("--goal", help="What the error is: total, worst, largest, pointwise or joint.")
    ] = "total",
    shares: Annotated[
        str | None, typer.Option("--shares", help="Guessed shares, such as 0.5,0.3,0.2.", show_default="the worst")
    ] = None,
    largest: Annotated[int, typer.Option("--largest", help="With that goal: how many symbols.")] = 1,
    confidence: Annotated[float, typer.Option("--confidence", help="Of intervals.")] = 0.95,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the first mechanism (.json).", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Rank the randomisers for frequencies by the error that matters. Of ε, people and error, give two."""
    from tinct import local

    if output is not None and output.suffix != ".json":
        raise ParameterError(f"--output must end in .json, got {str(output)!r}")
    keep_inputs([output], [file, symbols_file])
    guessed = None if shares is None else numbers(shares, "--shares")
    count = int(symbols) if symbols is not None and symbols.isdecimal() and len(symbols) < 10 else None
    names = None if count is not None else chosen_symbols(symbols, symbols_file)
    if file is not None:
        if names is not None or count is not None or guessed is not None:
            raise ParameterError("the file has symbols and shares: leave out --symbols and --shares")
        read = read_distributions(file)
        if read.p1 is not None:
            raise ParameterError("the table must have the column prior, guessed shares", path=file)
        names, guessed, count = read.symbols, read.p0, len(read.p0)
    if count is None:
        if names is None:
            raise ParameterError("--symbols is missing: the possible answers separated by commas, or how many")
        count = len(names)
    with stage("Comparing mechanisms"):
        found = local.recommend(
            count, epsilon, people=people, error=error, shares=guessed, goal=goal, largest=largest,
            confidence=confidence, symbols=names,
        )  # fmt: skip
    if output is not None:
        found.best.to_json(output)
    if as_json:
        echo_json(_document(found))
        return
    _print(found, output)


def _document(found: Recommendation) -> dict[str, Any]:
    return {
        "schema": "tinct/local-recommendation@1",
        "goal": found.goal,
        "choices": [
            {
                "mechanism": each.mechanism.name,
                "epsilon": str(each.mechanism.budget.exact),
                "people": each.people,
                "error": each.error,
                "bytes": each.bytes,
                "drawn": each.drawn,
                "steps": each.steps,
                **{name: each.mechanism.channel.describe()[name] for name in _shape(each.mechanism.channel)},
            }
            for each in found.choices
        ],
    }


def _shape(channel: Any) -> list[str]:
    """What was chosen along with the mechanism."""
    return [name for name in ("members", "buckets") if hasattr(channel, name)]


def _print(found: Recommendation, written: Path | None) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen, Table

    console = Screen()
    first = found.choices[0]
    console.print(
        f"[bold]{first.mechanism.name.capitalize()}[/bold] for {plural(len(first.mechanism.symbols), 'symbol')}, "
        f"ε = {first.mechanism.epsilon:.6g}, {plural(first.people, 'person', 'people')}: "
        f"{_GOALS[found.goal]} {first.error:.4g}",
        end="\n\n",
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    table.add_column("mechanism")
    for title in ("ε", "people", "error", "bytes", "drawn", "steps"):
        table.add_column(title, justify="right")
    for each in found.choices:
        shape = "".join(f" of {getattr(each.mechanism.channel, name):,}" for name in _shape(each.mechanism.channel))
        table.add_row(
            escape(each.mechanism.name + shape), f"{each.mechanism.epsilon:.4g}", f"{each.people:,}",
            f"{each.error:.4g}", f"{each.bytes:,}", f"{each.drawn:,}", f"{each.steps:.2g}",
        )  # fmt: skip
    console.print(table)
    console.print("bytes: of a packed report; drawn: random numbers for one; steps: of the estimate from all.")
    if written is not None:
        console.print(f"Written: {escape(str(written))}")
