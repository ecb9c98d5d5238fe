"""``tinct design``: the fair optimum for a graph, or another, as a table by distance next to the baselines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import caught, counted, echo, echo_json, stage
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
from tinct.errors import CostlyRows, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.graphs.budgets import PrivacyLike
    from tinct.mechanism import Mechanism

_WRITERS = (".json", ".csv")
_BOUNDARIES = ("balanced", "best")
_ORDERS = "orders of preference: give rows with --fix, or choose a --boundary"


EXAMPLES = examples(
    "tinct design majority:101 --epsilon 0.5",
    "tinct design threshold:1000,300 --epsilon 'ln 2' --delta 1e-6 --output mechanism.json",
    "tinct design council.csv --epsilon 1 --fix boundary.csv",
    "tinct design line:50,50 --epsilon 1 --truth 0.8,0.5 --json",
    "tinct design majority:101 --epsilon 0.5 --lean yes=0.7",
    "tinct design votes:12,3 --epsilon 1 --boundary best",
    "tinct design majority:101 --epsilon 0.5 --certificate majority.json",
    "tinct design hdfs://host/graph --output hdfs://host/table --engine spark --master yarn",
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
            help="Values to keep, .json or .csv: vertices and the probability of the first answer there.",
            show_default=False,
        ),
    ] = None,
    lean: Annotated[
        str | None,
        typer.Option(
            help="Favour an answer, such as yes=0.8: the probability of the truth where it is just true, on the "
            "weakest edge between the answers. A bare number is for the first answer.",
            show_default="both alike",
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
    at_epsilon: Annotated[
        str | None,
        typer.Option(
            help="State the certificate for this ε, with the least δ that the table has there; for --mu it is needed.",
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
            help="Maximise 'truth' or 'prefixes' on average, by a linear program with its gap.", show_default=False
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many distances to show for each color.")] = 12,
    disconnected: DisconnectedOption = False,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Design a mechanism for a graph of datasets: by default the fair optimum, and always with the claim that holds."""
    from tinct import baselines
    from tinct.cli import design_report
    from tinct.mechanism import verify
    from tinct.mechanism.by_distance import ByDistance

    if on_spark(engine, master):
        others: dict[str, Any] = {"--mu": mu, "--truth": truth, "--at": at, "--maximize": maximize}
        others |= {"--certificate": certificate, "--at-epsilon": at_epsilon}
        _refuse(others, "--engine spark")
        if fix is not None:
            _refuse({"--lean": lean}, "--engine spark and --fix, which has to meet every edge between the colors")
        _design_on_spark(graph, choose_given(epsilon, delta), fix, lean, output or [], master, disconnected, as_json)
        return
    if certificate is None:
        _refuse({"--at-epsilon": at_epsilon}, "a design without --certificate")
    outputs = [_checked_target(Path(path)) for path in output or []]
    certificates = [_checked_target(path, (".json",)) for path in [certificate] if path is not None]
    keep_inputs([*outputs, *certificates], [graph, fix])
    with stage("Reading the graph"):
        loaded = load_graph(graph, disconnected=disconnected)
    if lean is not None:
        _refuse({"--truth": truth, "--maximize": maximize}, "--lean")
    privacy = choose_privacy(epsilon, delta, mu, loaded.privacy)
    stated = {"file_budgets_used": not replaced_budgets(graph, loaded.privacy, privacy)} if loaded.privacy else {}
    if at is not None:
        if outputs or certificates:
            raise ParameterError("--at computes one row; leave it out to write the whole mechanism")
        _refuse({"--maximize": maximize, "--truth": truth if fix is not None else None}, "--at")
        if loaded.graph.coloring.has_orders:
            _refuse({"--truth": truth, "--lean": lean}, _ORDERS)
        row = _design_row(loaded.graph, privacy, fix, truth, lean, at, boundary)
        _print_row(loaded.graph, row, at, as_json, stated)
        return
    with stage(f"Designing for {len(loaded.graph):,} datasets"):
        if loaded.graph.coloring.has_orders:
            _refuse({"--truth": truth, "--lean": lean}, _ORDERS)
            mechanism, costly = _design_orders(loaded.graph, privacy, fix, boundary, maximize)
        else:
            mechanism, costly = _design_colors(loaded.graph, privacy, fix, truth, lean, maximize), None
    with stage(f"Checking {len(loaded.graph.indices) // 2:,} edges"):
        verdict = verify(mechanism, loaded.graph, privacy)
    for path in outputs:
        with stage(f"Writing {path}"):
            mechanism.to_json(path) if path.suffix == ".json" else mechanism.to_csv(path)
    for path in certificates:
        outputs.append(_certify(mechanism, path, bits, at_epsilon, graph))
    with stage("Comparing with the baselines"):
        table = ByDistance(mechanism, baselines.beside(loaded.graph, privacy))
    report = design_report.Report(table, privacy, verdict, outputs, stated, costly)
    report.print_json() if as_json else report.print_table(rows)


def _refuse(given: dict[str, Any], what: str) -> None:
    """Refuse an option that would have no effect."""
    for option, value in given.items():
        if value is not None:
            raise ParameterError(f"{option} cannot be combined with {what}")


def _design_colors(
    graph: DatasetGraph,
    privacy: PrivacyLike,
    fix: str | None,
    truth: str | None,
    lean: str | None,
    maximize: str | None,
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
    if truth is not None:
        if fix is not None:
            raise ParameterError("give either --fix or --truth, not both")
        return binary.homogeneous(graph, privacy, *_two_numbers(truth))
    fixed = None if fix is None else read_fixed(fix, graph)
    return binary.balanced(graph, privacy, lean=_lean(lean, graph), fixed=fixed)


def _design_orders(
    graph: DatasetGraph, privacy: Any, fix: str | None, boundary: str, maximize: str | None
) -> tuple[Mechanism, CostlyRows | None]:
    """The optimum from the given or chosen boundary rows, or the best mechanism for a utility; and what rows cost."""
    from tinct import rainbow
    from tinct.graphs.formats.graph_files import read_rows

    _require_boundary(boundary)
    fixed = read_rows(fix, graph) if fix is not None else None
    if maximize is not None:
        return rainbow.best(graph, privacy, maximize, fixed=fixed), None
    rows = _boundary_rows(graph, privacy, boundary) if fixed is None else fixed
    with caught(CostlyRows) as costly:
        mechanism = rainbow.extend(graph, privacy, rows)
    return mechanism, costly[0] if costly else None


def _require_boundary(boundary: str) -> None:
    if boundary not in _BOUNDARIES:
        raise ParameterError(f"--boundary must be one of {', '.join(_BOUNDARIES)}, got {boundary!r}")


def _boundary_rows(graph: DatasetGraph, privacy: Any, boundary: str) -> Any:
    from tinct import rainbow

    _require_boundary(boundary)
    if boundary == "best":
        return rainbow.best_boundary(graph, privacy).rows
    return rainbow.balanced_boundary(graph, privacy)


def _design_on_spark(
    graph: str,
    privacy: PrivacyLike,
    fix: str | None,
    lean: str | None,
    output: list[str],
    master: str | None,
    disconnected: bool,
    as_json: bool,
) -> None:
    """A graph in Parquet that outgrows one machine: the fair optimum, or fixed values extended; publish the table."""
    from tinct.spark.jobs import balanced_files, extend_files

    if len(output) != 1:
        raise ParameterError("--engine spark writes one --output, a new folder")
    with counted("Designing on Spark", "rounds") as progress:
        options: dict[str, Any] = {"privacy": privacy, "master": master, "disconnected": disconnected}
        options["progress"] = lambda found: progress(found.number)
        if fix is not None:
            done = extend_files(graph, fix, output[0], **options)
        else:
            done = balanced_files(graph, output[0], lean=None if lean is None else _named_lean(lean), **options)
    outputs = [str(answer) for answer in done.outputs]
    if as_json:
        result = {"schema": "tinct/extension@1", "outputs": outputs, "claim": done.claim.to_dict()}
        echo_json({**result, "rounds": done.rounds, "written": [done.path]})
        return
    columns = ", ".join(["vertex", "color", *(f"Pr[{answer}]" for answer in outputs)])
    echo(f"{done.claim.name[0].upper()}{done.claim.name[1:]}: {done.claim.sentence}.")
    echo(f"Written: {done.path} ({columns}) in {plural(done.rounds, 'round')}")


def _certify(mechanism: Mechanism, path: Path, bits: int, at_epsilon: str | None, source: str) -> Path:
    from tinct import exact
    from tinct.exact.certified import EDGES

    with counted("Verifying", "edges") as progress:
        certified = exact.certify(mechanism, bits=bits, at_epsilon=at_epsilon, progress=progress)
    certified.about(f"the graph {source}", EDGES).to_json(path)
    return path


def _design_row(
    graph: DatasetGraph,
    privacy: PrivacyLike,
    fix: str | None,
    truth: str | None,
    lean: str | None,
    at: str,
    boundary: str,
) -> Any:
    from tinct import binary, graphs, rainbow
    from tinct.cli.shared_options import vertex_from
    from tinct.graphs.formats.graph_files import read_fixed, read_rows

    vertex = vertex_from(at, graph.vertices)
    graph.position(vertex)
    if graph.coloring.has_orders:
        rows = _boundary_rows(graph, privacy, boundary) if fix is None else read_rows(fix, graph)
        return rainbow.extend(graph, privacy, rows, at=vertex)
    if truth is not None:
        return binary.homogeneous(graph, privacy, *_two_numbers(truth), at=vertex)
    fixed = None if fix is None else read_fixed(fix, graph)
    if fixed is not None and lean is None and graphs.missed_edge(graph, fixed) is None:
        return binary.extend(graph, privacy, fixed, at=vertex)
    return binary.balanced(graph, privacy, lean=_lean(lean, graph), fixed=fixed, at=vertex)


def _lean(text: str | None, graph: DatasetGraph) -> dict[Any, float] | None:
    """The answer that is favoured, by its name or as the first one, and its truth."""
    if text is None:
        return None
    name, truth = _name_and_truth(text)
    named = {str(output): output for output in graph.outputs}
    if name is not None and name not in named:
        raise ParameterError(
            f"--lean must name one of {', '.join(named)}, such as {next(iter(named))}=0.8, got {text!r}"
        )
    return {graph.outputs[0] if name is None else named[name]: truth}


def _named_lean(text: str) -> float | dict[str, float]:
    """The same where the answers are not known yet."""
    name, truth = _name_and_truth(text)
    return truth if name is None else {name: truth}


def _name_and_truth(text: str) -> tuple[str | None, float]:
    """yes=0.8, or 0.8 without a name."""
    name, equals, number = text.rpartition("=")
    try:
        return name if equals else None, float(number)
    except ValueError:
        raise ParameterError(f"--lean must be a probability such as 0.8 or yes=0.8, got {text!r}") from None


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
