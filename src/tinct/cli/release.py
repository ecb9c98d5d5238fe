"""``tinct release``: one answer, drawn exactly from a certified table and charged to a budget."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import cost_line, counted, echo, echo_json, stage
from tinct.cli.shared_options import (
    JsonOption,
    LedgerOption,
    RequestOption,
    ScopeOption,
    begins_like,
    examples,
    require_certificate,
)
from tinct.errors import ParameterError
from tinct.remarks import Remark, as_object

if TYPE_CHECKING:
    from tinct.exact import Certified
    from tinct.graphs.labels import Vertex

EXAMPLES = examples(
    "tinct design majority:101 --epsilon 0.5 --certificate majority.json",
    "tinct release majority.json --at 57 --ledger budget.db",
    "echo 57 | tinct release majority.json --at - --ledger budget.db --request poll-2026",
)

_LONGEST = 1 << 20
_SAID = ("charged", "note", "left")


def release(
    certificate: Annotated[Path, typer.Argument(help="A certificate (.json), as 'tinct design --certificate' writes.")],
    at: Annotated[
        str,
        typer.Option(
            help="The dataset to answer for: a vertex of the graph, such as 57, north or '[0, 1, 1]', or - to read it "
            "from standard input."
        ),
    ],
    ledger: LedgerOption = None,
    request: RequestOption = None,
    scope: ScopeOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Verify a certificate again, then draw one answer exactly as it says.

    The dataset is secret: neither it nor its row is printed or logged. Other users of the machine can see a dataset
    that is given on the command line while the command runs; --at - avoids that.
    """
    from tinct.cli.shared_options import vertex_from
    from tinct.exact import Certified
    from tinct.exact.proof import in_pieces

    if request is not None and ledger is None:
        raise ParameterError("--request needs --ledger: only a ledger remembers answers")
    require_certificate(certificate)
    for kind, what in (("mode", "a mode question"), ("noise", "noise for numbers")):
        if begins_like(certificate, f"tinct/{kind}-certificate"):
            raise ParameterError(f"this is a certificate of {what}: 'tinct ask' draws from it", path=certificate)
    text = _secret(at)
    with counted("Verifying the certificate", "edges") as progress:
        certified = Certified.from_json(certificate, progress=progress)
    vertex = vertex_from(text, certified.vertices)
    if ledger is None:
        certified.positions([vertex])  # refuse unknown datasets; with a ledger only after the charge, else it is free
        record: dict[str, Any] = {}
        answer = certified.release(vertex)
    else:
        with stage("Charging the ledger"):
            answer, record = _charged(certified, vertex, ledger, request, scope)
    if as_json:
        result = {"schema": "tinct/release@1", "answer": answer, "guarantee": _guarantee(certified)}
        stated = {"question": certified.question, "neighbors": certified.neighbors, "pieces": certified.pieces}
        said = {name: as_object(record[name]) if name in _SAID else record[name] for name in record}
        echo_json({**result, "certificate": certified.id, **stated, **said}, None)
        return
    echo(answer)
    echo(f"{certified.guarantee} · certificate {certified.id[:12]}", err=True, dim=True)
    if certified.pieces > 1:
        echo(f"Note: {in_pieces(certified.pieces)}", err=True)
    if ledger is None:
        return
    line = cost_line(
        record["charged"], record["request"], record["left"],
        repeated=record["repeated"], completed=record["completed"], older=record["older"],
    )  # fmt: skip
    echo(line, err=True, dim=True)
    if "note" in record:
        echo(f"Note: {record['note']}", err=True)


def _guarantee(certified: Certified) -> dict[str, Any]:
    """What is promised: the budgets of the edges, and their words."""
    from tinct.numbers.amounts import fraction_text

    budgets = [{"epsilon": str(term.epsilon), "delta": fraction_text(term.delta)} for term in certified.terms]
    return {"budgets": budgets, "text": certified.guarantee}


def _secret(at: str) -> str:
    if at != "-":
        return at
    text = sys.stdin.readline() if sys.stdin.isatty() else sys.stdin.read(_LONGEST)
    lines = text.strip().splitlines()
    if len(lines) != 1:  # the lines are datasets: only their number is told
        raise ParameterError("--at - reads one dataset: standard input must be one line")
    return lines[0].strip()


def _charged(
    certified: Certified, vertex: Vertex, address: str, request: str | None, scope: str
) -> tuple[Any, dict[str, Any]]:
    from dataclasses import replace

    from tinct.asking.with_ledger import completed, left_in, room_for
    from tinct.ledger import Ledger, Spending
    from tinct.ledger.costs import cost_epsilon
    from tinct.privacy.neighbors import Neighbors

    if certified.pieces > 1:
        raise ParameterError(
            f"the certificate's graph is in {certified.pieces:,} pieces, and nothing is promised between them: its "
            "cost cannot be charged to a budget"
        )
    epsilon = max((term.epsilon for term in certified.terms), key=cost_epsilon)
    delta = max(term.delta for term in certified.terms)
    book = Ledger(address)
    owner = book.protects(scope)
    # a certificate does not say whose ε an edge has: it is charged as one ε for everybody
    terms = replace(owner, data=f"certificate {certified.id}", epsilon_column=None, budgets=None)
    if certified.neighbors == Neighbors.ADD_REMOVE:  # a custom graph is charged in the terms of the scope
        terms = replace(terms, neighbors=Neighbors.ADD_REMOVE, people=None)
    elif certified.neighbors == Neighbors.REPLACE:
        owner.require_relation(Neighbors.REPLACE)
    charge = book.grant(
        epsilon=epsilon, delta=delta, request=request, scope=scope, protects=terms,
        question=f"release from certificate {certified.id}", room=room_for(certified.outputs),
    )  # fmt: skip
    entry = completed(book, charge, lambda: certified.release(vertex))
    record: dict[str, Any] = {"request": entry.request, "charged": Spending(entry.epsilon, entry.delta).said}
    record |= {"repeated": entry.repeated, "completed": charge.repeated and not charge.answered, "older": entry.older}
    if certified.neighbors not in (Neighbors.ADD_REMOVE, Neighbors.REPLACE):
        record["note"] = Remark(
            f"you vouch that the edges of this graph are what the budget protects ({owner})",
            "own-neighbors",
            protects=owner.to_dict(),
        )
    return entry.answer, {**record, "left": left_in(book, scope)}
