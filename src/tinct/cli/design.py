"""``tinct design``: the optimal mechanism for a graph, as a table by distance next to the baselines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import echo, echo_json
from tinct.cli.screen import counted, stage
from tinct.cli.shared_options import (
    DeltaOption,
    DisconnectedOption,
    EngineOption,
    EpsilonOption,
    JsonOption,
    MasterOption,
    MuOption,
    choose_given,
    choose_privacy,
    examples,
    keep_inputs,
    load_graph,
    on_spark,
    plural,
    replaced_budgets,
)
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.graphs.budgets import PrivacyLike
    from tinct.mechanism import Mechanism

_WRITERS = (".json", ".csv")
_BOUNDARIES = ("balanced", "best")


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
        str | None,
        typer.Option(help="Probability of the truth on the two boundaries, such as 0.8,0.5.", show_default="balanced"),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Compute the row of this vertex only, such as 57, north or '[0, 1, 1]'.", show_default=False),
    ] = None,
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
        typer.Option(
            help="Also rebuild it in whole units, verify it exactly, and write the certificate to this file.",
            show_default=False,
        ),
    ] = None,
    bits: Annotated[int, typer.Option(min=1, max=4096, help="The certificate's rows have 2^bits units.")] = 62,
    boundary: Annotated[
        str, typer.Option(help="With orders of preference: boundary rows that are 'balanced', or 'best' on average.")
    ] = "balanced",
    maximize: Annotated[
        str | None,
        typer.Option(
            help="Maximise 'truth' or 'prefixes', instead of the optimum from a boundary.", show_default=False
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many distances to show for each color.")] = 12,
    disconnected: DisconnectedOption = False,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Design the mechanism that no other private mechanism beats, for a graph of datasets with two colors."""
    from tinct import baselines
    from tinct.cli import design_report
    from tinct.mechanism import verify
    from tinct.mechanism.by_distance import ByDistance

    if on_spark(engine, master):
        others = {"--mu": mu, "--truth": truth, "--at": at, "--certificate": certificate, "--maximize": maximize}
        _refuse(others, "--engine spark, which only extends --fix")
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
    with stage(f"Designing for {len(loaded.graph):,} datasets"):
        if loaded.graph.coloring.has_orders:
            _refuse({"--truth": truth}, "orders of preference: give rows with --fix, or choose a --boundary")
            mechanism = _design_orders(loaded.graph, privacy, fix, boundary, maximize)
        else:
            mechanism = _design_colors(loaded.graph, privacy, fix, truth, maximize)
    with stage(f"Checking {len(loaded.graph.indices) // 2:,} edges"):
        verdict = verify(mechanism, loaded.graph, privacy)
    for path in outputs:
        with stage(f"Writing {path}"):
            mechanism.to_json(path) if path.suffix == ".json" else mechanism.to_csv(path)
    for path in certificates:
        outputs.append(_certify(mechanism, path, bits, graph))
    with stage("Comparing with the baselines"):
        table = ByDistance(mechanism, baselines.beside(loaded.graph, privacy))
    report = design_report.Report(table, privacy, verdict, outputs, stated)
    report.print_json() if as_json else report.print_table(rows)


def _refuse(given: dict[str, Any], what: str) -> None:
    """Refuse an option that would have no effect."""
    for option, value in given.items():
        if value is not None:
            raise ParameterError(f"{option} cannot be combined with {what}")


def _design_colors(
    graph: DatasetGraph, privacy: PrivacyLike, fix: str | None, truth: str | None, maximize: str | None
) -> Mechanism:
    from tinct import binary
    from tinct.graphs.formats.graph_files import read_fixed

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


def _design_orders(
    graph: DatasetGraph, privacy: Any, fix: str | None, boundary: str, maximize: str | None
) -> Mechanism:
    """The optimum from the given or chosen boundary rows, or the best mechanism for a utility."""
    from tinct import rainbow
    from tinct.graphs.formats.graph_files import read_rows

    if boundary not in _BOUNDARIES:
        raise ParameterError(f"--boundary must be one of {', '.join(_BOUNDARIES)}, got {boundary!r}")
    if maximize is not None:
        return rainbow.best(graph, privacy, maximize, fixed=read_rows(fix, graph) if fix is not None else None)
    if fix is not None:
        return rainbow.extend(graph, privacy, read_rows(fix, graph))
    if boundary == "best":
        return rainbow.extend(graph, privacy, rainbow.best_boundary(graph, privacy).rows)
    return rainbow.extend(graph, privacy, rainbow.balanced_boundary(graph, privacy))


def _extend_on_spark(
    graph: str,
    privacy: PrivacyLike,
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
        echo_json(result)
        return
    columns = ", ".join(["vertex", "color", *(f"Pr[{answer}]" for answer in outputs)])
    echo(f"Written: {done.path} ({columns}) in {plural(done.rounds, 'round')}")


def _certify(mechanism: Mechanism, path: Path, bits: int, source: str) -> Path:
    from tinct import exact
    from tinct.exact.certified import EDGES

    with counted("Verifying", "edges") as progress:
        certified = exact.certify(mechanism, bits=bits, progress=progress)
    certified.about(f"the graph {source}", EDGES).to_json(path)
    return path


def _design_row(graph: DatasetGraph, privacy: PrivacyLike, fix: str | None, truth: str | None, at: str) -> Any:
    from tinct import binary
    from tinct.cli.vertex_option import vertex_from
    from tinct.graphs.formats.graph_files import read_fixed

    vertex = vertex_from(at, graph.vertices)
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
        raise ParameterError(f"there is no folder {str(path.parent)!r}", path=path)
    return path


def _print_row(graph: DatasetGraph, row: NDArray[Any], at: str, as_json: bool, stated: dict[str, Any]) -> None:
    values = {str(output): float(value) for output, value in zip(graph.outputs, row, strict=False)}
    if as_json:
        result = {"schema": "tinct/row@1", "vertex": at, **stated, "probabilities": values}
        echo_json(result, None)
        return
    for output, value in values.items():
        echo(f"Pr[answer = {output}] at {at}: {value:.9g}")
