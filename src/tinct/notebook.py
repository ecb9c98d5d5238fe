"""How results look in a notebook: a caption, a few facts, the start of a table, and a picture where one helps.

Everything in the page is escaped. The picture is a separate image, so that nothing in it can act on the
page or be styled by it, and is left out where Matplotlib is not installed or the object is large. What is secret is
not in these objects to begin with: an answer carries its plan and no count.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from tinct import plots
from tinct.errors import TinctError
from tinct.plots._graph import MOST_VERTICES
from tinct.plots.figure_files import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tinct.asking import Answer
    from tinct.asking.accuracy import Accuracy
    from tinct.asking.answers import Plan
    from tinct.exact import Certified
    from tinct.graphs import DatasetGraph
    from tinct.local import LocalMechanism
    from tinct.local._estimate import Estimate
    from tinct.mechanism import Mechanism, Verdict

MOST_ROWS = 12
MOST_COLUMNS = 12
_LONGEST = 200
_CELL = 'style="text-align:left;vertical-align:top"'


@dataclass(frozen=True)
class Sheet:
    """A table as it is shown: names of columns, some rows, and how many there are in all."""

    header: Sequence[Any]
    rows: Sequence[Sequence[Any]]
    count: int


def of_mechanism(mechanism: Mechanism) -> str:
    """A mechanism: its outputs, what it was designed for, the start of its table."""
    graph = mechanism.graph
    palette, codes = graph.coloring.palette, graph.coloring.codes
    rows = [(graph.vertices[at], palette[codes[at]], *mechanism.table[at].tolist()) for at in _some(len(graph))]
    facts = [("designed for", mechanism.privacy if mechanism.privacy is not None else "nothing stated")]
    sheet = Sheet(("vertex", "color", *graph.outputs), rows, len(graph))
    return _page(f"Mechanism on {len(graph):,} datasets", facts, [sheet], _drawn(graph, plots.mechanism, mechanism))


def of_certified(certified: Certified) -> str:
    """A certificate: what is proved, its digest, and the start of its public table."""
    size, units = len(certified.vertices), certified.numerators
    middle = max(0, size // 2 - MOST_ROWS // 2) if certified.clamped else 0  # on a line the boundary is what matters
    shown = [at + middle for at in _some(size)]
    rows = [(certified.vertices[at], *(int(n) / certified.denominator for n in units[at])) for at in shown]
    facts = [("proved", certified.proof), ("certificate", certified.id)]
    sheet = Sheet(("vertex", *certified.outputs), rows, size)
    return _page(f"Certified mechanism on {size:,} datasets", facts, [sheet])


def of_verdict(verdict: Verdict) -> str:
    """What ``verify`` found."""
    facts = [
        ("least ε", f"{verdict.epsilon:.9g}"),
        ("least δ", f"{verdict.delta:.9g}"),
        ("worst edge", verdict.witness if verdict.witness is not None else "there are no edges"),
    ]
    return _page("Private" if verdict.private else "Not private", facts)


def of_answer(answer: Answer) -> str:
    """An answer with its plan; no count, no margin."""
    sheets = []
    if isinstance(answer.value, Mapping):
        from tinct.asking import Answers

        found = list(answer.value.items())
        one, many = ("question", "questions") if isinstance(answer, Answers) else ("group", "groups")
        if answer.plan.has_numbers and not answer.plan.by:
            one, many = "category", "categories"
        sheets.append(Sheet((one, "answer"), found[:MOST_ROWS], len(found)))
        caption = f"Private answers for {len(found):,} {many}"
    else:
        caption = f"Private answer: {answer.value}"
    facts = [*_plan_facts(answer.plan)]
    if answer.request is not None:
        facts.append(("request", f"{answer.request}{' (asked before, free of charge)' if answer.repeated else ''}"))
    if answer.left is not None:
        facts.append(("left in the ledger", answer.left))
    sheets.append(_accuracy_sheet(answer.plan.accuracy))
    return _page(caption, facts, sheets, _picture(lambda: plots.accuracy(answer)))


def of_plan(plan: Plan) -> str:
    """Everything about an answer except the answer."""
    sheets = [_accuracy_sheet(plan.accuracy)]
    return _page("Plan of a private answer", _plan_facts(plan), sheets, _picture(lambda: plots.accuracy(plan)))


def of_local(mechanism: LocalMechanism) -> str:
    """A local mechanism, with its matrix if that is small."""
    facts: list[tuple[str, Any]] = [("ε", f"{mechanism.epsilon:.9g}")]
    if mechanism.delta:
        facts.append(("δ", f"{mechanism.delta:.9g}"))
    facts += [("symbols", f"{len(mechanism.symbols):,}"), ("outputs", mechanism.channel.size_of_outputs())]
    if mechanism.value is not None:
        facts.append(("value", f"{mechanism.value:.9g}"))
    if mechanism.note:
        facts.append(("note", mechanism.note))
    sheets = []
    if len(mechanism.symbols) <= MOST_ROWS and 10**mechanism.channel.log10_outputs < MOST_COLUMNS:
        table = zip(mechanism.symbols, mechanism.matrix.tolist(), strict=True)
        rows = [(symbol, *row) for symbol, row in table]
        sheets.append(Sheet(("symbol", *mechanism.outputs), rows, len(rows)))
    return _page(f"Local mechanism: {mechanism.name}", facts, sheets)


def of_estimate(estimate: Estimate) -> str:
    """Estimated frequencies with their intervals, the largest first."""
    kind = "exact" if estimate.exact else "by the normal approximation"
    facts = [("reports", f"{estimate.reports:,}"), ("intervals", f"{estimate.confidence:.9g} for all together, {kind}")]
    sheet = Sheet(("symbol", "estimate", "low", "high"), estimate.top(MOST_ROWS), len(estimate.symbols))
    return _page(f"Frequencies of {len(estimate.symbols):,} symbols", facts, [sheet])


def of_graph(graph: DatasetGraph) -> str:
    """A graph of datasets: its size, its answers, and a picture if it is small."""
    facts = [("edges", f"{len(graph.indices) // 2:,}"), ("outputs", ", ".join(map(str, graph.outputs)))]
    return _page(f"Graph of {len(graph):,} datasets", facts, (), _drawn(graph, plots.graph, graph))


def _plan_facts(plan: Plan) -> list[tuple[str, Any]]:
    return [
        ("question", plan.question),
        ("meaning", plan.meaning),
        ("cost", f"ε = {plan.epsilon}, δ = {plan.delta}"),
        ("neighbours", plan.neighbors),
        *(("rule", rule) for rule in plan.rules),
        ("method", plan.method),
        ("certificate", plan.certificate),
    ]


def _accuracy_sheet(accuracy: Accuracy) -> Sheet:
    rows = [(margin, *values) for margin, *values in zip(accuracy.margins, *accuracy.right.values(), strict=True)]
    header = (accuracy.margin_title, *accuracy.right)
    return Sheet(header, rows[:MOST_ROWS], len(rows))


def _some(count: int) -> range:
    return range(min(count, MOST_ROWS))


# the page


def _page(caption: str, facts: Iterable[tuple[str, Any]], sheets: Iterable[Sheet] = (), picture: str = "") -> str:
    listed = "".join(f"<tr><th {_CELL}>{_text(name)}</th><td {_CELL}>{_text(value)}</td></tr>" for name, value in facts)
    tables = "".join(map(_table, sheets))
    return f"<div><p><strong>{_text(caption)}</strong></p><table>{listed}</table>{tables}{picture}</div>"


def _table(sheet: Sheet) -> str:
    width = min(len(sheet.header), MOST_COLUMNS)
    head = "".join(f"<th {_CELL}>{_text(name)}</th>" for name in sheet.header[:width])
    body = "".join(
        f"<tr>{''.join(f'<td {_CELL}>{_text(cell)}</td>' for cell in row[:width])}</tr>" for row in sheet.rows
    )
    left_out = [
        f"{missing:,} more {what}"
        for missing, what in ((sheet.count - len(sheet.rows), "rows"), (len(sheet.header) - width, "columns"))
        if missing
    ]
    rest = f"<p>and {_text(' and '.join(left_out))}</p>" if left_out else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _text(value: object) -> str:
    """A value as it may stand in a page: escaped, printable, not too long."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    printable = "".join(character if character.isprintable() else "·" for character in text[: _LONGEST + 1])
    return escape(printable if len(printable) <= _LONGEST else printable[: _LONGEST - 1] + "…")


def _drawn(graph: DatasetGraph, draw: Callable[[Any], Any], drawn: Any) -> str:
    """A picture of what has a graph; a larger one takes longer than somebody waits for a cell."""
    return _picture(lambda: draw(drawn)) if len(graph) <= MOST_VERTICES else ""


def _picture(draw: Callable[[], Any]) -> str:
    """A figure as an image, or nothing where none can be drawn."""
    try:
        data = render(draw(), ".svg")
    except TinctError:  # no Matplotlib, or nothing that a figure could show
        return ""
    source = f"data:image/svg+xml;base64,{b64encode(data).decode()}"
    return f'<p><img alt="figure" style="max-width:100%" src="{source}"></p>'
