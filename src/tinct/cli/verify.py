"""``tinct verify``: is a mechanism private, how private, and where is it worst?"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.inputs import (
    DeltaOption,
    DisconnectedOption,
    EpsilonOption,
    JsonOption,
    MuOption,
    begins_like,
    choose_privacy,
    describe,
    examples,
    load_graph,
    plural,
    require_certificate,
)
from tinct.cli.progress import counted, stage
from tinct.errors import FileError, NotPrivate, ParameterError

if TYPE_CHECKING:
    from tinct.verification import Verdict

NOT_PRIVATE = 1


EXAMPLES = examples(
    "tinct verify mechanism.json",
    "tinct verify mechanism.json --epsilon 0.4 --profile 0,0.2,0.4",
    "tinct verify table.csv --graph majority:101 --epsilon 0.5 --json",
    "tinct verify certificate.json --exact",
)


def verify(
    table: Annotated[Path, typer.Argument(help="A mechanism (.json), or a table (.csv, .tsv) together with --graph.")],
    graph: Annotated[
        str | None,
        typer.Option("--graph", "-g", help="The graph of a table: a file or majority:n, …", show_default=False),
    ] = None,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    mu: MuOption = None,
    tolerance: Annotated[float, typer.Option(help="Rounding that is forgiven, relative to e^ε and δ.")] = 1e-9,
    profile: Annotated[
        str | None, typer.Option(help="Also the least δ for each of these ε, such as 0,0.5,1.", show_default=False)
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Prove a certificate again from nothing, in exact arithmetic.")
    ] = False,
    disconnected: DisconnectedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check a mechanism on every edge: exit 0 if it is private, 1 if not, 2 for bad input."""
    from tinct import verification

    if exact or begins_like(table, "tinct/certificate"):
        given = {"--graph": graph, "--epsilon": epsilon, "--delta": delta, "--mu": mu, "--profile": profile}
        extra = [option for option, value in given.items() if value is not None]
        if extra:
            raise ParameterError(
                f"a certificate brings its graph and budgets, and is proved in exact arithmetic: leave out {extra[0]}"
            )
        _prove(table, as_json)
        return
    grid = _epsilons(profile)
    with stage("Reading the mechanism"):
        probabilities, dataset_graph, stored = _load(table, graph, disconnected)
    privacy = choose_privacy(epsilon, delta, mu, stored)
    with stage(f"Checking {len(dataset_graph.indices) // 2:,} edges"):
        verdict = verification.verify(probabilities, dataset_graph, privacy, tolerance=tolerance)
        deltas = verdict.profile(grid).tolist() if grid else []
    if as_json:
        _print_json(verdict, privacy, dict(zip(grid, deltas, strict=True)))
    else:
        _print_text(verdict, privacy, dict(zip(grid, deltas, strict=True)), len(dataset_graph.indices) // 2)
    if not verdict.private:
        raise typer.Exit(NOT_PRIVATE)


def _prove(path: Path, as_json: bool) -> None:
    from tinct.exact import Certified

    require_certificate(path)
    try:
        with counted("Proving the certificate", "edges") as progress:
            certified = Certified.from_json(path, progress=progress)
    except FileError as error:
        if not isinstance(error.__cause__, NotPrivate):
            raise
        _print_disproof(path, error.__cause__, as_json)
        raise typer.Exit(NOT_PRIVATE) from None
    proof = certified.proof
    if as_json:
        result = {
            "schema": "tinct/proof@1",
            "private": True,
            "certificate": certified.id,
            "budgets": [{"epsilon": term.epsilon, "delta": str(term.delta)} for term in proof.terms],
            "vertices": proof.vertices,
            "edges": proof.edges,
            "inequalities": proof.inequalities,
            "denominator": str(proof.total),
        }
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold green]proved private[/bold green]: {certified.guarantee}")
    inequalities = plural(proof.inequalities, "inequality", "inequalities")
    console.print(f"{inequalities} on {plural(proof.edges, 'edge')}, in whole numbers, no tolerance")
    rows = f"rows of {proof.total:,} units for {plural(proof.vertices, 'dataset')}"
    console.print(f"{rows}, answers {certified.outputs!r:.80}")
    for term in proof.terms[:5]:
        console.print(f"R = {float(term.growth):.17g} ≤ e^ε for ε = {term.epsilon}, δ = {term.delta}")
    console.print(f"certificate {certified.id}")


def _print_disproof(path: Path, broken: NotPrivate, as_json: bool) -> None:
    """The edge on which a certificate's own numbers are not private."""
    from rich.console import Console
    from rich.markup import escape

    if not as_json:
        console = Console(highlight=False, soft_wrap=True)
        console.print(f"[bold red]not private[/bold red]: {escape(str(path))}: the certificate is wrong")
        console.print(f"broken edge: {escape(str(broken))}")
        return
    edge, excess, allowed = broken.witness.edge, broken.witness.excess, broken.witness.allowed
    witness = {"edge": [str(vertex) for vertex in edge], "excess": str(excess), "allowed": str(allowed)}
    result = {"schema": "tinct/proof@1", "private": False, "reason": str(broken), "witness": witness}
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))


def _load(table: Path, graph: str | None, disconnected: bool) -> tuple[Any, Any, Any]:
    from tinct.mechanism import Mechanism
    from tinct.mechanism.files import read_table

    if table.suffix == ".json":
        if graph is not None:
            raise ParameterError("a .json mechanism brings its own graph: leave out --graph")
        mechanism = Mechanism.from_json(table)
        return mechanism, mechanism.graph, mechanism.privacy
    if graph is None:
        raise ParameterError(
            f"{table}: a table needs its graph: add --graph with a file or a name such as majority:101"
        )
    loaded = load_graph(graph, disconnected=disconnected)
    return read_table(table, loaded.graph), loaded.graph, loaded.privacy


def _epsilons(text: str | None) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")] if text else []
    except ValueError:
        values = [math.nan]
    if not all(0 <= value <= 700 for value in values):
        raise ParameterError(f"--profile must be numbers in [0, 700] such as 0,0.5,1, got {text!r}")
    return values


def _print_text(verdict: Verdict, privacy: Any, profile: dict[float, float], edges: int) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    answer = "[green]private[/green]" if verdict.private else "[red]not private[/red]"
    console.print(
        f"[bold]{answer}[/bold] for {escape(describe(privacy))}, on {plural(edges, 'edge')} in both directions"
    )
    console.print(f"least ε at this δ: {verdict.epsilon:.9g}")
    console.print(f"least δ at this ε: {verdict.delta:.9g}")
    if verdict.witness is not None:
        console.print(f"worst edge: {escape(str(verdict.witness))}")
    console.print(f"tolerance for rounding: {verdict.tolerance:g} (this is a check in floating point)")
    for epsilon, delta in profile.items():
        console.print(f"δ({epsilon:g}) = {delta:.9g}")


def _print_json(verdict: Verdict, privacy: Any, profile: dict[float, float]) -> None:
    witness = verdict.witness
    result = {
        "schema": "tinct/verdict@1",
        "private": verdict.private,
        "privacy": describe(privacy),
        "least_epsilon": verdict.epsilon if math.isfinite(verdict.epsilon) else "infinite",
        "least_delta": verdict.delta,
        "tolerance": verdict.tolerance,
        "witness": None
        if witness is None
        else {
            "edge": [str(vertex) for vertex in witness.edge],
            "event": [str(output) for output in witness.event],
            "probability": witness.probability,
            "neighbor_probability": witness.neighbor_probability,
            "bound": witness.bound,
        },
        "profile": [{"epsilon": epsilon, "delta": delta} for epsilon, delta in profile.items()],
    }
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
