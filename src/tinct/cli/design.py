"""``tinct design``: the optimal mechanism for a graph, as a table by distance with the baselines beside it."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli import orders
from tinct.cli.inputs import (
    DeltaOption,
    DisconnectedOption,
    EngineOption,
    EpsilonOption,
    JsonOption,
    MasterOption,
    MuOption,
    choose_given,
    choose_privacy,
    describe,
    examples,
    keep_inputs,
    load_graph,
    on_spark,
    plural,
    replaced_budgets,
)
from tinct.cli.progress import counted, stage
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from tinct.cli.distances import Lines
    from tinct.graphs import DatasetGraph
    from tinct.mechanism import Mechanism

_WRITERS = (".json", ".csv")


EXAMPLES = examples(
    "tinct design majority:101 --epsilon 0.5",
    "tinct design threshold:1000,300 --epsilon 'ln 2' --delta 1e-6 --output mechanism.json",
    "tinct design council.csv --epsilon 1 --fix boundary.csv",
    "tinct design line:50,50 --epsilon 1 --truth 0.8,0.5 --json",
    "tinct design votes:12,3 --epsilon 1 --boundary best",
    "tinct design majority:101 --epsilon 0.5 --certificate majority.json",
    "tinct design hdfs://host/graph --fix hdfs://host/fixed --output hdfs://host/table --engine spark --master yarn",
)


def design(
    graph: Annotated[
        str,
        typer.Argument(
            help="A file (.json, .csv, .tsv, .graphml), or majority:n, threshold:n,k, line:a,b, cube:n, votes:n,k."
        ),
    ],
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    mu: MuOption = None,
    fix: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Fixed values, .json or .csv: vertices and the probability of the first answer.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        str | None, typer.Option(help="Truth on the two boundaries, such as 0.8,0.5.", show_default="balanced")
    ] = None,
    at: Annotated[str | None, typer.Option(help="Compute the row of this vertex only.", show_default=False)] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Write the mechanism: .json or .csv; repeatable. On Spark, one new folder.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Also rebuild it in whole units, prove it, and write the certificate.", show_default=False),
    ] = None,
    bits: Annotated[int, typer.Option(min=1, max=4096, help="The certificate's rows have 2^bits units.")] = 62,
    boundary: Annotated[
        str, typer.Option(help="With orders of preference: boundary rows that are 'balanced', or 'best' on average.")
    ] = "balanced",
    maximize: Annotated[
        str | None,
        typer.Option(
            help="Instead of the optimum from a boundary, maximise 'truth' or 'prefixes'.", show_default=False
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many distances to show for each color.")] = 12,
    disconnected: DisconnectedOption = False,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Design the mechanism that no other private mechanism beats, for a graph of datasets with two colors."""
    from tinct.cli.distances import Lines
    from tinct.verification import verify

    if on_spark(engine, master):
        others = {"--mu": mu, "--truth": truth, "--at": at, "--certificate": certificate, "--maximize": maximize}
        _refuse(others, "--engine spark, which extends --fix and nothing else")
        _extend_on_spark(graph, choose_given(epsilon, delta), fix, output or [], master, disconnected, as_json)
        return
    outputs = [_checked_target(Path(path)) for path in output or []]
    certificates = [_checked_target(path, (".json",)) for path in [certificate] if path is not None]
    keep_inputs([*outputs, *certificates], [graph, fix])
    with stage("Reading the graph"):
        loaded = load_graph(graph, disconnected=disconnected)
    privacy = choose_privacy(epsilon, delta, mu, loaded.privacy)
    stated = {"file_budgets_used": not replaced_budgets(graph, loaded.privacy, privacy)} if loaded.privacy else {}
    if at is not None:
        if outputs or certificates:
            raise ParameterError("--at computes one row; leave it out to write the whole mechanism")
        _refuse({"--maximize": maximize, "--truth": truth if fix is not None else None}, "--at")
        _print_row(loaded.graph, _design_row(loaded.graph, privacy, fix, truth, at), at, as_json, stated)
        return
    with_orders = loaded.graph.coloring.has_orders
    with stage(f"Designing for {len(loaded.graph):,} datasets"):
        if with_orders:
            _refuse({"--truth": truth}, "orders of preference: give rows with --fix, or choose a --boundary")
            mechanism = orders.design_orders(loaded.graph, privacy, fix, boundary, maximize)
        else:
            mechanism = _design_all(loaded.graph, privacy, fix, truth, maximize)
    with stage(f"Checking {len(loaded.graph.indices) // 2:,} edges"):
        verdict = verify(mechanism, loaded.graph, privacy)
    for path in outputs:
        with stage(f"Writing {path}"):
            mechanism.to_json(path) if path.suffix == ".json" else mechanism.to_csv(path)
    for path in certificates:
        outputs.append(_certify(mechanism, path, bits))
    if with_orders:
        if as_json:
            orders.print_orders_json(mechanism, privacy, verdict, outputs, stated)
        else:
            orders.print_orders(mechanism, privacy, verdict, outputs)
        return
    with stage("Comparing with the baselines"):
        lines = Lines(mechanism, _baselines(loaded.graph, privacy))
    if as_json:
        _print_json(loaded.graph, privacy, lines, verdict, outputs, stated)
    else:
        _print_table(loaded.graph, privacy, lines, verdict, rows, outputs)


def _refuse(given: dict[str, Any], what: str) -> None:
    """An option that would be passed over in silence is an error."""
    for option, value in given.items():
        if value is not None:
            raise ParameterError(f"{option} does not go together with {what}")


def _design_all(
    graph: DatasetGraph, privacy: Any, fix: str | None, truth: str | None, maximize: str | None
) -> Mechanism:
    from tinct import binary
    from tinct.graphs.files import read_fixed

    if maximize is not None:
        from tinct import rainbow

        rows = {vertex: (p, 1 - p) for vertex, p in read_fixed(fix, graph).items()} if fix is not None else None
        return rainbow.best(graph, privacy, maximize, fixed=rows)
    if len(graph.outputs) > 2:
        raise ParameterError(
            f"two colors are needed, this graph has {len(graph.outputs)}: {graph.outputs!r:.80}; for more, "
            "--maximize truth, or colors that are orders of preference (rainbow) such as [1, 3, 2]"
        )
    if fix is not None:
        if truth is not None:
            raise ParameterError("give either --fix or --truth, not both")
        result = binary.extend(graph, privacy, read_fixed(fix, graph))
    elif truth is not None:
        result = binary.homogeneous(graph, privacy, *_two_numbers(truth))
    else:
        result = binary.balanced(graph, privacy)
    mechanism: Mechanism = result
    return mechanism


def _extend_on_spark(
    graph: str,
    privacy: Any,
    fix: str | None,
    output: list[str],
    master: str | None,
    disconnected: bool,
    as_json: bool,
) -> None:
    """A graph in Parquet that outgrows one machine: extend fixed values, and publish the table."""
    from tinct.spark.jobs import extend_files

    if fix is None or len(output) != 1:
        raise ParameterError("--engine spark extends --fix, a Parquet file, and writes one --output, a new folder")
    with counted("Extending on Spark", "rounds") as progress:
        done = extend_files(
            graph, fix, output[0], privacy=privacy, master=master, disconnected=disconnected,
            progress=lambda found: progress(found.number),
        )  # fmt: skip
    outputs = [str(answer) for answer in done.outputs]
    if as_json:
        result = {"schema": "tinct/extension@1", "outputs": outputs, "rounds": done.rounds, "written": [done.path]}
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    columns = ", ".join(["vertex", "color", *(f"Pr[{answer}]" for answer in outputs)])
    typer.echo(f"Written: {done.path} ({columns}) in {plural(done.rounds, 'round')}")


def _certify(mechanism: Mechanism, path: Path, bits: int) -> Path:
    from tinct import exact

    with counted("Proving", "edges") as progress:
        exact.certify(mechanism, bits=bits, progress=progress).to_json(path)
    return path


def _design_row(graph: DatasetGraph, privacy: Any, fix: str | None, truth: str | None, at: str) -> Any:
    from tinct import binary
    from tinct.graphs.files import read_fixed
    from tinct.graphs.labels import from_text

    vertex = from_text(at)
    graph.position(vertex)
    if fix is not None:
        return binary.extend(graph, privacy, read_fixed(fix, graph), at=vertex)
    if truth is not None:
        return binary.homogeneous(graph, privacy, *_two_numbers(truth), at=vertex)
    return binary.balanced(graph, privacy, at=vertex)


def _two_numbers(text: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--truth must be two probabilities such as 0.8,0.5, got {text!r}") from None
    return first, second


def _checked_target(path: Path, endings: tuple[str, ...] = _WRITERS) -> Path:
    if path.suffix not in endings:
        raise ParameterError(f"a file to write must end in {' or '.join(endings)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {str(path.parent)!r}")
    return path


def _baselines(graph: DatasetGraph, privacy: Any) -> dict[str, Mechanism]:
    """What people would run instead; with many budgets, at the smallest one, since it has to hold for everybody."""
    from tinct import baselines
    from tinct.graphs import Budget
    from tinct.privacy import Privacy

    pairs = [privacy] if isinstance(privacy, Privacy) else Budget(graph, privacy).distinct()
    budgets = [pair for pair in pairs if isinstance(pair, Privacy)]
    if len(graph.outputs) != 2 or len(budgets) < len(pairs) or not budgets or (graph.boundary_distance() < 0).any():
        return {}
    least = min(budgets, key=lambda pair: (pair.epsilon, pair.delta))
    common = Privacy(least.exact_epsilon, min(pair.exact_delta for pair in budgets))
    return {name: build(graph, common) for name, build in baselines.ALL.items()}


def _print_table(graph: DatasetGraph, privacy: Any, lines: Lines, verdict: Any, rows: int, written: list[Path]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    edges = len(graph.indices) // 2
    neighbours = plural(edges, "pair of neighbours", "pairs of neighbours")
    console.print(f"[bold]Optimal mechanism[/bold] for {plural(len(graph), 'dataset')}, {neighbours}")
    console.print(f"Privacy: {escape(describe(privacy))}\n")
    names = list(lines.baseline_errors)
    table = Table(box=None, pad_edge=False, padding=(0, 1), collapse_padding=True, header_style="bold")
    for title in ("answer", "distance", "datasets", "right", "wrong", *(name.replace(" ", "\n") for name in names)):
        table.add_column(title, justify="left" if title == "answer" else "right", no_wrap=title != "answer")
    for line in lines.shown(rows):
        if line is None:
            table.add_row("", "…", *([""] * (3 + len(names))))
            continue
        cells = [_range(line["truth"], 4), f"{line['mean_error']:.3g}"]
        cells += [f"{line['baseline_errors'][name]:.3g}" for name in names]
        depth = "none" if line["distance"] < 0 else str(line["distance"])
        table.add_row(escape(str(line["color"])), depth, f"{line['datasets']:,}", *cells)
    console.print(table)
    if names:
        console.print(f"\nLast columns: how often {', '.join(names)} would be wrong{_at_least(privacy)}.")
    console.print(
        "Distance: steps to a dataset that has a neighbour with another answer. Wrong: on average over the datasets."
    )
    console.print(f"Checked on every edge: {_verdict(verdict)}")
    for path in written:
        console.print(f"Written: {escape(str(path))}")


def _at_least(privacy: Any) -> str:
    from tinct.privacy import SuitablePair

    return "" if isinstance(privacy, SuitablePair) else " at the smallest budget"


def _verdict(verdict: Any) -> str:
    return (
        f"{'private' if verdict.private else 'NOT private'}; least ε at this δ {verdict.epsilon:.9g} "
        f"(relative tolerance {verdict.tolerance:g})"
    )


def _range(ends: list[float], digits: int) -> str:
    low, high = (f"{end:.{digits}g}" for end in ends)
    return low if low == high else f"{low}–{high}"


def _print_json(
    graph: DatasetGraph, privacy: Any, lines: Lines, verdict: Any, written: list[Path], stated: dict[str, Any]
) -> None:
    result = {
        "schema": "tinct/design@1",
        "datasets": len(graph),
        "edges": len(graph.indices) // 2,
        "outputs": [str(output) for output in graph.outputs],
        "privacy": describe(privacy),
        **stated,
        "by_distance": [],
        "private": verdict.private,
        "least_epsilon": verdict.epsilon if math.isfinite(verdict.epsilon) else "infinite",
        "least_delta": verdict.delta,
        "tolerance": verdict.tolerance,
        "written": [str(path) for path in written],
    }
    # one line at a time: all of them at once would take more memory than the design did
    before, after = json.dumps(result, ensure_ascii=False, indent=2).split('"by_distance": []')
    between = f'{before}"by_distance": ['
    for line in lines:
        text = json.dumps({**line, "color": str(line["color"])}, ensure_ascii=False, indent=2)
        sys.stdout.write(f"{between}\n{indent(text, '    ')}")  # echo would flush every line
        between = ","
    typer.echo(f"\n  ]{after}")


def _print_row(graph: DatasetGraph, row: Any, at: str, as_json: bool, stated: dict[str, Any]) -> None:
    values = {str(output): float(value) for output, value in zip(graph.outputs, row, strict=False)}
    if as_json:
        result = {"schema": "tinct/row@1", "vertex": at, **stated, "probabilities": values}
        typer.echo(json.dumps(result, ensure_ascii=False))
        return
    for output, value in values.items():
        typer.echo(f"Pr[answer = {output}] at {at}: {value:.9g}")
