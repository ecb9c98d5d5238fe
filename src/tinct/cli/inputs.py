"""What several commands take: a graph by file or short name, a privacy by options or from the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinct.graphs import GraphFile

EpsilonOption = Annotated[
    str | None, typer.Option("--epsilon", "-e", help="ε for every edge, such as 0.5 or 'ln 2'.", show_default=False)
]
DeltaOption = Annotated[str | None, typer.Option("--delta", "-d", help="δ for every edge.", show_default="0")]
MuOption = Annotated[
    str | None, typer.Option("--mu", help="μ of Gaussian differential privacy, instead of ε.", show_default=False)
]
DisconnectedOption = Annotated[bool, typer.Option("--disconnected", help="Allow a graph in several pieces.")]
LedgerOption = Annotated[
    str | None,
    typer.Option("--ledger", help="Charge this ledger: a file, or a postgresql:// address.", show_default=False),
]
RequestOption = Annotated[
    str | None,
    typer.Option("--request", help="Name of this request: a retry gets the same answer, free.", show_default=False),
]
ScopeOption = Annotated[str, typer.Option("--scope", help="Whose budget in the ledger.")]
EngineOption = Annotated[
    str, typer.Option("--engine", help="'local', or 'spark' for Parquet files and folders that outgrow one machine.")
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master", help="With --engine spark: the cluster, such as local[2] or spark://host:7077.", show_default=False
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def examples(*lines: str) -> str:
    """Examples as the help shows them, a paragraph each."""
    return "Examples:\n\n" + "\n\n".join(lines)


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "edge"), plural(2000, "edge"), plural(1, "entry", "entries")
    ('1 edge', '2,000 edges', '1 entry')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def on_spark(engine: str, master: str | None) -> bool:
    """Whether a command runs on Spark."""
    if engine not in ("local", "spark"):
        raise ParameterError(f"--engine must be local or spark, got {engine!r}")
    if master is not None and engine != "spark":
        raise ParameterError("--master needs --engine spark")
    return engine == "spark"


def keep_inputs(written: Iterable[Any], read: Iterable[Any]) -> None:
    """Refuse to write over a file that is read, by whatever name, or to write two results to one file."""
    inputs = [path for path in read if path is not None and os.path.exists(path)]
    seen: set[str] = set()
    for path in (path for path in written if path is not None):
        if any(_same(path, other) for other in inputs):
            raise ParameterError(f"{path}: this file is read, and would be written over: choose another name")
        target = os.path.realpath(path)
        if target in seen:
            raise ParameterError(f"{path}: two results would be written to this file: choose another name for one")
        seen.add(target)


def _same(one: Any, other: Any) -> bool:
    return os.path.exists(one) and os.path.samefile(one, other)


def require_certificate(path: Path) -> None:
    """A mechanism in floating point is not a certificate; say how to get one."""
    if begins_like(path, "tinct/mechanism"):
        raise ParameterError(
            f"{path}: this is a mechanism, not a certificate: "
            "tinct design … --certificate certificate.json writes one for the same graph and budget"
        )


def begins_like(path: Path, schema: str) -> bool:
    """Whether a JSON file begins like one of a schema; reading it in full is left to those who know how."""
    try:
        with path.open("rb") as file:
            return f'"{schema}@'.encode() in file.read(200)
    except OSError:
        return False


def load_graph(given: str, *, disconnected: bool) -> GraphFile:
    """A graph from a file, or from a short name such as majority:101."""
    from tinct import graphs
    from tinct.graphs.specs import SPECS, from_spec

    if given.partition(":")[0] in SPECS and not Path(given).exists():
        return graphs.GraphFile(from_spec(given), None)
    if ":" not in given or Path(given).exists():
        return graphs.read(given, disconnected=disconnected)
    return graphs.GraphFile(from_spec(given), None)


def choose_privacy(epsilon: str | None, delta: str | None, mu: str | None, stored: Any) -> Any:
    """The privacy that the options state, else the one stored with the graph."""
    from tinct.privacy import GaussianDP

    if mu is not None:
        if epsilon is not None or delta is not None:
            raise ParameterError("give either --mu or --epsilon and --delta, not both")
        return GaussianDP(mu)
    if epsilon is None and stored is None:
        raise ParameterError("no privacy is given: add --epsilon (such as --epsilon 0.5) or --mu")
    given = choose_given(epsilon, delta)
    return stored if given is None else given


def replaced_budgets(given: str, stored: Any, used: Any) -> bool:
    """Whether options replaced the budgets of a graph's file, which is said on standard error."""
    if stored is None or used is stored:
        return False
    typer.secho(
        f"Note: {given} has budgets of its own, which are not used: leave out --epsilon, --delta and --mu to use them",
        err=True,
    )
    return True


def choose_given(epsilon: str | None, delta: str | None) -> Any:
    """The privacy that --epsilon and --delta state, or None if there is none."""
    from tinct.privacy import Privacy

    if epsilon is not None:
        return Privacy(epsilon, "0" if delta is None else delta)
    if delta is not None:
        raise ParameterError("--delta needs --epsilon: the file's own budgets already have their delta")
    return None


def describe(privacy: Any) -> str:
    """A privacy in a few words."""
    from tinct.graphs import EdgeClasses, EdgePrivacy
    from tinct.privacy import GaussianDP, Privacy

    if isinstance(privacy, Privacy):
        epsilon = privacy.exact_epsilon
        text = str(epsilon) if epsilon.is_log else f"{privacy.epsilon:.6g}"
        return f"ε = {text}" + (f", δ = {privacy.delta:.6g}" if privacy.delta else "")
    if isinstance(privacy, GaussianDP):
        return f"μ = {privacy.mu:.6g} (Gaussian)"
    if isinstance(privacy, EdgePrivacy):
        return f"a budget for each edge, ε from {privacy.epsilon.min():.6g} to {privacy.epsilon.max():.6g}"
    if isinstance(privacy, EdgeClasses):
        return f"{len(privacy.pairs)} classes of budgets: " + "; ".join(map(describe, privacy.pairs[:4]))
    return repr(privacy)
