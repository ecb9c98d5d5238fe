"""``tinct local``: design and compare what everybody runs on their own answer before it leaves the device."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli import local_plans, local_reports
from tinct.cli.printing import echo_json, stage
from tinct.cli.shared_options import (
    Distributions,
    JsonOption,
    SymbolsFileOption,
    chosen_symbols,
    examples,
    keep_inputs,
    numbers,
    plural,
    read_distributions,
    read_pairs,
)
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.local import LocalMechanism, Regimes, UtilityComparison

app = typer.Typer(
    name="local",
    help="Local privacy: everybody randomises their own answer.",
    epilog=examples(
        "tinct local recommend --symbols yes,no,unsure --epsilon 1 --people 5000 --output survey.json",
        "tinct local privatize answers.csv --column answer --mechanism survey.json --output reports.csv",
        "tinct local estimate reports.csv --mechanism survey.json",
    ),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_MAX_SHOWN = 12
_MAX_COLUMNS = 8  # that fit into eighty characters
_WIDTH = 110
_INFORMATION = "information"

FileArgument = Annotated[
    Path | None,
    typer.Argument(
        help="A table (.csv, .tsv) with columns symbol, p0, p1; or symbol, prior for mutual information.",
        show_default=False,
    ),
]
HypothesesArgument = Annotated[
    Path | None, typer.Argument(help="A table (.csv, .tsv) with columns symbol, p0, p1.", show_default=False)
]
FirstOption = Annotated[str | None, typer.Option("--p0", help="Probabilities such as 0.1,0.2,0.7.", show_default=False)]
SecondOption = Annotated[str | None, typer.Option("--p1", help="The second hypothesis.", show_default=False)]
PriorOption = Annotated[
    str | None, typer.Option("--prior", help="One distribution, for mutual information.", show_default=False)
]
UtilityOption = Annotated[
    str, typer.Option("--utility", "-u", help="kl, reverse-kl, chi2, hellinger, tv, js, hockey-stick:1.5, alpha:0.5.")
]
RequiredEpsilon = Annotated[str, typer.Option("--epsilon", "-e", help="The budget, such as 0.5 or 'ln 2'.")]


@app.command(
    "design",
    epilog=examples(
        "tinct local design survey.csv --epsilon 1",
        "tinct local design --p0 0.1,0.2,0.7 --p1 0.5,0.25,0.25 --epsilon 'ln 3' --utility chi2 --output m.json",
        "tinct local design --prior 0.5,0.3,0.1,0.1 --epsilon 2 --delta 0.001",
        "tinct local design cities.csv --pairs old:new,old:other --epsilon 1",
        "tinct local design --mechanism randomized-response --symbols yes,no,unsure --epsilon 1 --output rr.json",
    ),
)
def design(
    epsilon: RequiredEpsilon,
    file: FileArgument = None,
    p0: FirstOption = None,
    p1: SecondOption = None,
    prior: PriorOption = None,
    utility: UtilityOption = "kl",
    delta: Annotated[str, typer.Option("--delta", "-d", help="δ of (ε, δ)-privacy.")] = "0",
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            help="A named mechanism for --symbols, instead of the optimum: randomized-response, subset-selection, "
            "unary-encoding, local-hashing, hadamard-response, geometric, or quaternary (two symbols, --delta); or "
            "binary, for distributions.",
            show_default=False,
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--size", help="Of the subsets of subset-selection.", show_default="least variance"),
    ] = None,
    buckets: Annotated[
        int | None, typer.Option("--buckets", help="Of local-hashing.", show_default="e^ε + 1, rounded")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs",
            help="Several pairs of hypotheses, columns of the file such as p0:p1,p0:p2: the best for the worst one.",
            show_default=False,
        ),
    ] = None,
    average: Annotated[bool, typer.Option("--average", help="With --pairs: the best on average.")] = False,
    symbols: Annotated[
        str | None, typer.Option("--symbols", help="With --mechanism: the possible answers.", show_default=False)
    ] = None,
    symbols_file: SymbolsFileOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the mechanism (.json).", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Design the randomiser that no other private randomiser beats."""
    from tinct import local
    from tinct.local.mechanism_files import document

    if output is not None and output.suffix != ".json":
        raise ParameterError(f"--output must end in .json, got {str(output)!r}")
    keep_inputs([output], [file, symbols_file])
    if pairs is None and average:
        raise ParameterError("--average needs --pairs, several pairs of hypotheses")
    if mechanism == "binary":
        made = _binary(_problem(file, p0, p1, prior), epsilon, utility)
    elif mechanism is not None or symbols is not None or symbols_file is not None:
        if any(given is not None for given in (file, p0, p1, prior)):
            raise ParameterError("--mechanism and --symbols need no distributions: leave them out")
        options = {"size": size, "buckets": buckets, "delta": None if delta == "0" else delta}
        made = _named(mechanism, chosen_symbols(symbols, symbols_file), epsilon, options)
    elif pairs is not None:
        if file is None or any(given is not None for given in (p0, p1, prior)):
            raise ParameterError("--pairs names columns of a file: give the file, and no other distributions")
        names, hypotheses = read_pairs(file, pairs)
        with stage(f"Designing for {len(hypotheses)} pairs of hypotheses"):
            made = local.robust(hypotheses, epsilon, utility, average=average, delta=delta, symbols=names)
    else:
        problem = _problem(file, p0, p1, prior)
        with stage(f"Designing for {len(problem.p0):,} symbols"):
            if problem.p1 is None:
                made = local.mutual_information(problem.p0, epsilon, delta=delta, symbols=problem.symbols)
            else:
                made = local.optimal(problem.p0, problem.p1, epsilon, utility, delta=delta, symbols=problem.symbols)
    with stage("Computing the certificate"):
        described = document(made)
    if output is not None:
        from tinct.local.mechanism_files import write_mechanism

        write_mechanism(made, output)
    if as_json:
        echo_json(described)
        return
    _print_mechanism(made, output)


@app.command(
    "compare",
    epilog=examples(
        "tinct local compare survey.csv --epsilons 0.1,0.5,1,2,5",
        "tinct local compare --prior 0.5,0.3,0.1,0.1 --json",
        "tinct local compare survey.csv --epsilons 0.1,0.2,0.5,1,2,3,4,5,6,8 --plot utilities.svg",
    ),
)
def compare(
    file: FileArgument = None,
    epsilons: Annotated[str, typer.Option("--epsilons", help="Budgets, separated by commas.")] = "0.1,0.5,1,2,4,8",
    p0: FirstOption = None,
    p1: SecondOption = None,
    prior: PriorOption = None,
    utility: UtilityOption = "kl",
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also draw it: .png, .svg or .pdf.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print every mechanism's utility against ε."""
    from tinct import local

    keep_inputs([plot], [file])
    problem = _problem(file, p0, p1, prior)
    budgets = [part.strip() for part in epsilons.split(",")]
    name = _INFORMATION if problem.p1 is None else utility
    with stage(f"Comparing at {len(budgets)} budgets"):
        lines = local.compare(problem.p0, problem.p1, epsilons=budgets, utility=utility)
    if plot is not None:
        from tinct import plots

        with stage(f"Drawing {plot}"):
            plots.utilities(lines, path=plot)
    if as_json:
        result = {
            "schema": "tinct/local-comparison@1",
            "utility": name,
            "lines": [
                {"epsilon": line.epsilon, "upper_bound": line.upper_bound, "values": line.values} for line in lines
            ],
        }
        echo_json(result)
        return
    _print_comparison(lines, name)


@app.command(
    "regimes", epilog=examples("tinct local regimes survey.csv", "tinct local regimes survey.csv -u hellinger")
)
def regimes(
    file: HypothesesArgument = None,
    p0: FirstOption = None,
    p1: SecondOption = None,
    utility: UtilityOption = "kl",
    lowest: Annotated[float, typer.Option(help="The smallest ε to consider.")] = 1e-3,
    highest: Annotated[float, typer.Option(help="The largest ε to consider.")] = 30.0,
    samples: Annotated[int, typer.Option(help="The number of ε to try first.")] = 64,
    as_json: JsonOption = False,
) -> None:
    """Print which cells are optimal at which ε, with exact thresholds."""
    from tinct import local

    problem = _problem(file, p0, p1, None)
    if problem.p1 is None:
        raise ParameterError(
            "regimes are about two hypotheses: give --p0 and --p1, or a file with the columns p0 and p1"
        )
    with stage("Looking for thresholds"):
        found = local.regimes(
            problem.p0,
            problem.p1,
            utility,
            symbols=problem.symbols,
            lowest=lowest,
            highest=highest,
            samples=samples,
        )
    if as_json:
        echo_json(_regimes_document(found))
        return
    _print_regimes(found)


# planning, collecting and analysing

app.command("recommend", epilog=local_plans.RECOMMEND_EXAMPLES)(local_plans.recommend)
app.command("privatize", epilog=local_reports.PRIVATIZE_EXAMPLES)(local_reports.privatize)
app.command("count", epilog=local_reports.COUNT_EXAMPLES)(local_reports.count)
app.command("estimate", epilog=local_reports.ESTIMATE_EXAMPLES)(local_reports.estimate)
app.command("repeat", epilog=local_plans.REPEAT_EXAMPLES)(local_plans.repeat)
app.command("change", epilog=local_reports.CHANGE_EXAMPLES)(local_reports.change)
app.command("shuffle", epilog=local_plans.SHUFFLE_EXAMPLES)(local_plans.shuffle)
app.command("test", epilog=local_reports.TEST_EXAMPLES)(local_reports.compare_hypotheses)

# reading


def _binary(problem: Distributions, epsilon: str, utility: str) -> LocalMechanism:
    from tinct import local

    if problem.p1 is None:
        return local.binary_information(problem.p0, epsilon, symbols=problem.symbols)
    return local.binary(problem.p0, problem.p1, epsilon, utility, symbols=problem.symbols)


def _named(
    name: str | None, names: list[str] | None, epsilon: str, options: dict[str, int | str | None]
) -> LocalMechanism:
    from tinct import local

    makers: dict[str, Callable[..., LocalMechanism]] = {
        "randomized-response": local.randomized_response,
        "subset-selection": local.subset_selection,
        "unary-encoding": local.unary_encoding,
        "local-hashing": local.local_hashing,
        "hadamard-response": local.hadamard_response,
        "geometric": local.geometric,
        "quaternary": lambda k, epsilon, *, delta="0", symbols: _two(k, local.quaternary, epsilon, delta, symbols),
    }
    takes = {"subset-selection": "size", "local-hashing": "buckets", "quaternary": "delta"}
    if name not in makers:
        raise ParameterError(f"--mechanism must be one of {', '.join(makers)}, got {name!r}")
    if names is None:
        raise ParameterError("--mechanism needs --symbols, the possible answers separated by commas")
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if takes.get(name) != option:
            by = ", ".join(each for each, what in takes.items() if what == option)
            raise ParameterError(f"--{option} is for --mechanism {by}, not for {name}")
    return makers[name](len(names), epsilon, symbols=names, **given)


def _two(k: int, make: Callable[..., LocalMechanism], epsilon: str, delta: str, symbols: list[str]) -> LocalMechanism:
    if k != 2:
        raise ParameterError(f"quaternary is for two symbols, got {k}: leave out --mechanism, and give distributions")
    return make(epsilon, delta, symbols=symbols)


def _problem(file: Path | None, p0: str | None, p1: str | None, prior: str | None) -> Distributions:
    if file is not None:
        if p0 is not None or p1 is not None or prior is not None:
            raise ParameterError("give either a file or --p0 and --p1 or --prior, not both")
        return read_distributions(file)
    if prior is not None:
        if p0 is not None or p1 is not None:
            raise ParameterError("give either --prior or --p0 and --p1, not both")
        return Distributions(None, numbers(prior, "--prior"), None)
    if (p0 is None) != (p1 is None):
        given, missing = ("--p0", "--p1") if p1 is None else ("--p1", "--p0")
        raise ParameterError(f"{given} needs {missing}, the other hypothesis")
    if p0 is None or p1 is None:
        raise ParameterError("no distributions are given: add a file, or --p0 and --p1, or --prior")
    return Distributions(None, numbers(p0, "--p0"), numbers(p1, "--p1"))


# showing


def _print_mechanism(mechanism: LocalMechanism, written: Path | None) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen

    console = Screen(soft_wrap=True)
    title = mechanism.name.capitalize() if mechanism.value is None else _title(mechanism)
    count = mechanism.channel.size_of_outputs()
    outputs = f"{count} {'output' if mechanism.channel.outputs == 1 else 'outputs'}"
    also = f"δ = {mechanism.delta:.6g}, " if mechanism.exact_delta else ""
    console.print(
        f"[bold]{title}[/bold] for {plural(len(mechanism.symbols), 'symbol')}, ε = {mechanism.epsilon:.6g}, "
        f"{also}{outputs}"
    )
    if mechanism.value is not None:
        name = "mutual information" if mechanism.utility == _INFORMATION else str(mechanism.utility)
        console.print(f"{escape(name)}: {mechanism.value:.9g}")
    certificate = mechanism.certificate
    if certificate is not None:
        console.print(f"no private randomiser has more than {certificate.upper_bound:.9g} ({certificate.method})")
    console.print(f"Optimal for: {escape(mechanism.note)}", end="\n\n")
    if mechanism.cells is not None:
        _print_cells(console, mechanism)
    elif mechanism.channel.outputs <= _MAX_COLUMNS and len(mechanism.symbols) <= 2 * _MAX_SHOWN:
        _print_table(console, mechanism)
    else:
        shown = {name: value for name, value in mechanism.channel.describe().items() if name != "table"}
        console.print(escape(", ".join(f"{name} {value}" for name, value in shown.items())))
        if written is None:
            console.print("The table is too large to show: --output writes the mechanism to a file")
    if written is not None:
        console.print(f"Written: {escape(str(written))}")


def _title(mechanism: LocalMechanism) -> str:
    """Optimal only if nothing can be more than rounding better."""
    bound, value = mechanism.certificate, mechanism.value or 0.0
    better = bound is not None and bound.upper_bound > value + 1e-9 * (1 + value)
    return "Randomiser" if better else "Optimal randomiser"


def _print_cells(console: Any, mechanism: LocalMechanism) -> None:
    from rich.markup import escape

    cells = mechanism.cells or ()
    total = mechanism.budget.growth + len(cells) - 1
    own = mechanism.budget.growth / total if math.isfinite(total) else 1.0
    if len(cells) > 1:
        console.print(f"Answer with the number of your cell with probability {own:.9g},")
        console.print(f"and with each other number with probability {1.0 / total:.9g}:")
    else:
        console.print("Always answer with the same number: there is nothing to learn")
    for number, cell in enumerate(cells[:_MAX_SHOWN]):
        names = ", ".join(str(symbol) for symbol in cell[:_MAX_SHOWN])
        more = f", … ({len(cell):,} symbols)" if len(cell) > _MAX_SHOWN else ""
        console.print(f"  {number}: {escape(names)}{more}")
    if len(cells) > _MAX_SHOWN:
        console.print(f"  … {len(cells):,} cells in all")


def _print_table(console: Any, mechanism: LocalMechanism) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("symbol")
    for output in mechanism.outputs:
        table.add_column(str(output), justify="right")
    for symbol, row in zip(mechanism.symbols, mechanism.matrix, strict=True):
        table.add_row(escape(str(symbol)), *(f"{value:.4g}" for value in row))
    console.print(table)


def _print_comparison(lines: list[UtilityComparison], utility: str) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen, Table

    console = Screen()
    console.width = max(console.width, _WIDTH)  # nine columns do not fit into eighty characters
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    names = list(lines[0].values) if lines else []
    for title in ("ε", *names):
        table.add_column(*title.split(" "), justify="right", no_wrap=True)
    for line in lines:
        shares = line.shares()
        cells = [f"{line.values['optimal']:.4g}"]
        for name in names[1:]:
            share = shares[name]
            cells.append("–" if share is None else f"{100 * share:.1f}%")
        table.add_row(f"{line.epsilon:.4g}", *cells)
    console.print(f"[bold]{escape(utility)}[/bold] of the optimum, and what the others reach of it")
    console.print(table)
    console.print("–: too large to compute, or the optimum is 0.")


def _regimes_document(found: Regimes) -> dict[str, Any]:
    return {
        "schema": "tinct/local-regimes@1",
        "utility": found.utility,
        "binary_up_to": found.binary_up_to,
        "randomized_response_from": found.randomized_response_from,
        "regimes": [
            {
                "start": regime.start,
                "end": regime.end,
                "cells": [[str(symbol) for symbol in cell] for cell in regime.cells],
                "cuts": [[ratio if math.isfinite(ratio) else "infinite" for ratio in cut] for cut in regime.cuts],
            }
            for regime in found.regimes
        ],
    }


def _print_regimes(found: Regimes) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen

    console = Screen(soft_wrap=True)
    last = found.regimes[-1].end
    console.print(f"[bold]Optimal cells[/bold] for {escape(found.utility)}")
    for regime in found.regimes:
        cells = " | ".join(" ".join(str(symbol) for symbol in cell) for cell in regime.cells[:_MAX_SHOWN])
        more = " | …" if regime.count > _MAX_SHOWN else ""
        console.print(
            f"ε from {regime.start:.9g} to {regime.end:.9g}: {regime.count} cells: {escape(cells[:200])}{more}"
        )
    up_to = found.binary_up_to
    console.print(
        f"Two cells are optimal up to ε = {up_to:.12g}" + (" (the largest considered)." if up_to == last else ".")
    )
    start = found.randomized_response_from
    if start is None:
        console.print(f"Randomized response on all ratios is not optimal up to ε = {last:g}.")
    else:
        console.print(f"Randomized response on all {found.ratios} distinct ratios is optimal from ε = {start:.12g}.")
