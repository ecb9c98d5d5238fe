"""``tinct verify``: is a mechanism private, how private, and where is it worst?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import counted, echo_json, measured, stage
from tinct.cli.shared_options import (
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
    privacy_object,
    require_certificate,
)
from tinct.errors import FileError, NotPrivate, ParameterError

if TYPE_CHECKING:
    from tinct.exact import Certified
    from tinct.graphs.budgets import PrivacyLike
    from tinct.mechanism import Verdict
    from tinct.questions.modes import ModeCertificate

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
    tolerance: Annotated[float, typer.Option(help="Allowed rounding error, relative to e^ε and δ.")] = 1e-9,
    profile: Annotated[
        str | None, typer.Option(help="Also show the least δ for each of these ε, such as 0,0.5,1.", show_default=False)
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Verify a certificate from scratch, in exact integer arithmetic.")
    ] = False,
    smaller: Annotated[
        bool,
        typer.Option(
            "--smaller", help="Read each row of a table by its smaller probability; the larger may be rounded or empty."
        ),
    ] = False,
    disconnected: DisconnectedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check a mechanism on every edge: exit 0 if it is private, 1 if not, 2 for bad input."""
    from tinct.mechanism import _verify

    if exact or any(begins_like(table, f"tinct/{kind}certificate") for kind in ("", "mode-", "noise-")):
        given = {
            "--graph": graph, "--epsilon": epsilon, "--delta": delta, "--mu": mu, "--profile": profile,
            "--smaller": smaller or None,
        }  # fmt: skip
        extra = [option for option, value in given.items() if value is not None]
        if extra:
            raise ParameterError(
                f"a certificate contains its graph and budgets, and is verified exactly: leave out {extra[0]}"
            )
        if not prove(table, as_json):
            raise typer.Exit(NOT_PRIVATE)
        return
    grid = _epsilons(profile)
    with stage("Reading the mechanism"):
        probabilities, dataset_graph, stored = _load(table, graph, smaller, disconnected)
    privacy = choose_privacy(epsilon, delta, mu, stored)
    with stage(f"Checking {len(dataset_graph.indices) // 2:,} edges"):
        verdict = _verify.verify(probabilities, dataset_graph, privacy, tolerance=tolerance)
        deltas = verdict.profile(grid).tolist() if grid else []
    if as_json:
        _print_json(verdict, privacy, dict(zip(grid, deltas, strict=True)))
    else:
        _print_text(verdict, privacy, dict(zip(grid, deltas, strict=True)), len(dataset_graph.indices) // 2)
    if not verdict.private:
        raise typer.Exit(NOT_PRIVATE)


def _load(table: Path, graph: str | None, smaller: bool, disconnected: bool) -> tuple[Any, Any, Any]:
    from tinct.mechanism import Mechanism
    from tinct.mechanism.table_files import read_table

    if table.suffix == ".json":
        if graph is not None:
            raise ParameterError("a .json mechanism contains its graph: leave out --graph")
        if smaller:
            raise ParameterError("--smaller is for tables (.csv, .tsv): a .json mechanism has all its digits")
        mechanism = Mechanism.from_json(table)
        return mechanism, mechanism.graph, mechanism.privacy
    if graph is None:
        raise ParameterError(
            "a table needs its graph: add --graph with a file or a name such as majority:101", path=table
        )
    loaded = load_graph(graph, disconnected=disconnected)
    return read_table(table, loaded.graph, smaller=smaller), loaded.graph, loaded.privacy


def _epsilons(text: str | None) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")] if text else []
    except ValueError:
        values = [math.nan]
    if not all(0 <= value <= 700 for value in values):
        raise ParameterError(f"--profile must be numbers in [0, 700] such as 0,0.5,1, got {text!r}")
    return values


def _print_text(verdict: Verdict, privacy: PrivacyLike, profile: dict[float, float], edges: int) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen

    console = Screen(soft_wrap=True)
    answer = "[green]private[/green]" if verdict.private else "[red]not private[/red]"
    console.print(
        f"[bold]{answer}[/bold] for {escape(describe(privacy))}, on {plural(edges, 'edge')} in both directions"
    )
    console.print(f"least ε at this δ: {verdict.epsilon:.9g}")
    console.print(f"least δ at this ε: {verdict.delta:.9g}")
    console.print(f"least μ (Gaussian): {verdict.mu:.9g}")
    if verdict.witness is not None:
        console.print(f"worst edge: {escape(str(verdict.witness))}")
    if verdict.hint:
        console.print(f"perhaps: {verdict.hint.replace('Mechanism.from_smaller', '--smaller')}")
    console.print(f"tolerance for rounding: {verdict.tolerance:g} (this is a check in floating point)")
    for epsilon, delta in profile.items():
        console.print(f"δ({epsilon:g}) = {delta:.9g}")


def _print_json(verdict: Verdict, privacy: PrivacyLike, profile: dict[float, float]) -> None:
    witness = verdict.witness
    result = {
        "schema": "tinct/verdict@1",
        "private": verdict.private,
        "privacy": privacy_object(privacy),
        "least_epsilon": verdict.epsilon if math.isfinite(verdict.epsilon) else "infinite",
        "least_delta": verdict.delta,
        "least_mu": verdict.mu if math.isfinite(verdict.mu) else "infinite",
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
        "hint": {"code": "one-minus-p", "text": verdict.hint} if verdict.hint else None,
        "profile": [{"epsilon": epsilon, "delta": delta} for epsilon, delta in profile.items()],
    }
    echo_json(result)


_SHOWN = 5


def prove(path: Path, as_json: bool) -> bool:
    """Verify a certificate and print the verdict; False if its numbers are not private."""
    require_certificate(path)
    kinds = {"tinct/mode-certificate": _of_mode, "tinct/noise-certificate": _of_noise}
    read = next((read for start, read in kinds.items() if begins_like(path, start)), _of_table)
    try:
        lines, fields = read(path)
    except FileError as error:
        if not isinstance(error.__cause__, NotPrivate):
            raise
        _print_disproof(path, error.__cause__, as_json)
        return False
    if as_json:
        echo_json({"schema": "tinct/proof@1", "private": True, **fields})
        return True
    from rich.markup import escape

    from tinct.cli.printing import Screen

    console = Screen(soft_wrap=True)
    console.print(f"[bold green]proved private[/bold green]: {escape(lines[0])}")
    for line in lines[1:]:
        console.print(escape(line))
    return True


def _of_table(path: Path) -> tuple[list[str], dict[str, Any]]:
    from tinct.exact import Certified
    from tinct.exact.proof import in_pieces

    with counted("Verifying the certificate", "edges") as progress:
        certified = Certified.from_json(path, progress=progress)
    proof = certified.proof
    inequalities = plural(proof.inequalities, "inequality", "inequalities")
    rows = f"rows of {proof.total:,} units for {plural(proof.vertices, 'dataset')}"
    lines = [
        certified.guarantee,
        *([f"But {in_pieces(certified.pieces)}"] if certified.pieces > 1 else []),
        _about(certified),
        f"{inequalities} on {plural(proof.edges, 'edge')}, in exact integer arithmetic, no tolerance",
        f"{rows}, answers {certified.outputs!r:.80}",
        *(
            f"R = {float(term.growth):.17g} ≤ e^ε for ε = {term.epsilon}, δ = {term.delta}"
            for term in proof.terms[:_SHOWN]
        ),
        f"certificate {certified.id}",
    ]
    return lines, {
        "certificate": certified.id,
        "question": certified.question,
        "neighbors": certified.neighbors,
        "budgets": [{"epsilon": term.epsilon, "delta": str(term.delta)} for term in proof.terms],
        "vertices": proof.vertices,
        "edges": proof.edges,
        "pieces": proof.pieces,
        "inequalities": proof.inequalities,
        "denominator": str(proof.total),
    }


def _about(certified: Certified) -> str:
    """The question and the neighbours that the certificate states."""
    if certified.edition == 1:
        return "an older file, which states neither question nor neighbours"
    question = f"for {certified.question}" if certified.question else "states no question"
    return f"{question}; neighbours: {certified.neighbors}"


def _of_mode(path: Path) -> tuple[list[str], dict[str, Any]]:
    from tinct.questions.modes import ModeCertificate

    with measured("Verifying the certificate") as progress:
        found = ModeCertificate.from_json(path, progress=progress)
    people = "" if found.n is None else f" of {plural(found.n, 'person', 'people')}"
    question = f"for {found.question}" if found.question else "states no question"
    lines = [
        found.guarantee,
        f"{question}; neighbours: {found.neighbors}{people}",
        f"{found.verdict}, in exact integer arithmetic, no tolerance",
        f"from counts to a state: {', '.join(' '.join(map(str, step)) for step in found.position)}",
        f"certificate {found.id}",
    ]
    return lines, _mode_fields(found)


def _mode_fields(found: ModeCertificate) -> dict[str, Any]:
    return {
        "certificate": found.id,
        "question": found.question,
        "neighbors": found.neighbors,
        "n": found.n,
        "budgets": [{"epsilon": found.epsilon_text, "delta": "0"}],
        "position": found.position,
        "checked": found.verdict,
    }


def _of_noise(path: Path) -> tuple[list[str], dict[str, Any]]:
    from tinct.questions.noise import NoiseCertificate

    found = NoiseCertificate.from_json(path)
    question = f"for {found.question}" if found.question else "states no question"
    lines = [
        found.guarantee,
        f"{question}; neighbours: {found.neighbors}, who change {plural(found.changes, 'number')} by 1",
        f"{found.verdict}, in exact integer arithmetic, no tolerance",
        f"certificate {found.id}",
    ]
    fields = {
        "certificate": found.id,
        "question": found.question,
        "neighbors": found.neighbors,
        "changes": found.changes,
        "budgets": [{"epsilon": found.epsilon_text, "delta": str(found.delta)}],
        "checked": found.verdict,
    }
    return lines, fields


def _print_disproof(path: Path, broken: NotPrivate, as_json: bool) -> None:
    """Print where a certificate's numbers are not private."""
    if not as_json:
        from rich.markup import escape

        from tinct.cli.printing import Screen

        console = Screen(soft_wrap=True)
        console.print(f"[bold red]not private[/bold red]: {escape(str(path))}: the certificate is wrong")
        what = "promise" if broken.witness is None else "edge" if hasattr(broken.witness, "edge") else "move"
        console.print(f"broken {what}: {escape(str(broken))}")
        return
    result = {"schema": "tinct/proof@1", "private": False, "reason": str(broken), "witness": _witness(broken.witness)}
    echo_json(result)


def _witness(broken: Any) -> dict[str, Any]:
    if broken is None:
        return {}
    if hasattr(broken, "edge"):
        edge = [str(vertex) for vertex in broken.edge]
        return {"edge": edge, "excess": str(broken.excess), "allowed": str(broken.allowed)}
    return {"before": list(broken.before), "after": list(broken.after)}
