"""``tinct release``: one answer, drawn exactly from a certified table and charged to a budget."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.inputs import JsonOption, LedgerOption, RequestOption, ScopeOption, examples, require_certificate
from tinct.cli.progress import counted, stage
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from tinct.exact import Certified

EXAMPLES = examples(
    "tinct design majority:101 --epsilon 0.5 --certificate majority.json",
    "tinct release majority.json --at 57 --ledger budget.db",
    "echo 57 | tinct release majority.json --at - --ledger budget.db --request poll-2026",
)

_LONGEST = 1 << 20


def release(
    certificate: Annotated[Path, typer.Argument(help="A certificate (.json), as 'tinct design --certificate' writes.")],
    at: Annotated[
        str,
        typer.Option(help="The dataset to answer for: a vertex of the graph, or - to read it from standard input."),
    ],
    ledger: LedgerOption = None,
    request: RequestOption = None,
    scope: ScopeOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Draw one answer exactly as the certificate says, after proving the certificate again.

    The dataset is secret: it is neither printed nor logged, and neither is its row. A dataset given on the command
    line can be seen by other users of the machine while the command runs; --at - avoids that.
    """
    from tinct.exact import Certified

    if request is not None and ledger is None:
        raise ParameterError("--request needs --ledger: only a ledger remembers answers")
    require_certificate(certificate)
    vertex = _secret(at)
    with counted("Proving the certificate", "edges") as progress:
        certified = Certified.from_json(certificate, progress=progress)
    certified.positions([vertex])  # a stranger is refused before anything is charged
    if ledger is None:
        record: dict[str, Any] = {}
        answer = certified.release(vertex)
    else:
        with stage("Charging the ledger"):
            answer, record = _charged(certified, vertex, ledger, request, scope)
    if as_json:
        result = {"schema": "tinct/release@1", "answer": answer, "guarantee": certified.guarantee}
        typer.echo(json.dumps({**result, "certificate": certified.id, **record}, ensure_ascii=False))
        return
    typer.echo(answer)
    typer.secho(f"{certified.guarantee} · certificate {certified.id[:12]}", err=True, dim=True)
    for name, value in record.items():
        typer.secho(f"{name}: {value}", err=True, dim=True)


def _secret(at: str) -> Any:
    from tinct.graphs.labels import from_text

    if at != "-":
        return from_text(at)
    text = sys.stdin.readline() if sys.stdin.isatty() else sys.stdin.read(_LONGEST)
    lines = text.strip().splitlines()
    if len(lines) != 1:  # the lines are datasets: only their number is told
        raise ParameterError("--at - reads one dataset: standard input must be one line")
    return from_text(lines[0].strip())


def _charged(
    certified: Certified, vertex: Any, address: str, request: str | None, scope: str
) -> tuple[Any, dict[str, Any]]:
    from tinct.ledger import Ledger
    from tinct.ledger.amounts import cost_epsilon

    epsilon = max((term.epsilon for term in certified.terms), key=cost_epsilon)
    delta = max(term.delta for term in certified.terms)
    book = Ledger(address)
    entry = book.charge(
        lambda: certified.release(vertex), epsilon=epsilon, delta=delta, request=request, scope=scope,
        question=f"release from certificate {certified.id}",
    )  # fmt: skip
    return entry.answer, {"request": entry.request, "left": str(book.remaining(scope))}
