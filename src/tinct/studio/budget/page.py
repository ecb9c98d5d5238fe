"""The Budget page: where things stand, and how they are connected."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from dash import Input, Output, html

from tinct._files import json_text
from tinct.errors import ParameterError, TinctError
from tinct.ledger import contents
from tinct.ledger.costs import exact_text
from tinct.studio import charts, parts
from tinct.studio.budget.books import Books, opened
from tinct.studio.downloads import download, sheet
from tinct.studio.palette import theme_of
from tinct.studio.wiring import Moment, Wires, chart_buttons, connect, connect_charts, connect_files

if TYPE_CHECKING:
    from fractions import Fraction

    from tinct.studio.budget.books import Account
    from tinct.studio.palette import Theme
    from tinct.studio.workshop import Workshop

_NONE = "No ledger was given. Start the studio with: tinct studio --ledger budget.db"
_MOST_ROWS = 200


def layout(workshop: Workshop) -> Any:
    """The page."""
    return parts.page(
        "budget",
        "Budget",
        "How much privacy is spent, how much is left, and who asked what. Looking at it changes nothing.",
        [
            parts.control(
                "The ledger",
                "A file or a database that records every charge. The studio only reads it.",
                html.P(workshop.ledger or _NONE, className="ledger"),
                parts.button("budget-refresh", "Read it again", kind="strong"),
            )
        ],
        [
            parts.message("budget-message"),
            html.Div(id="budget-accounts", className="side-by-side"),
            parts.card(
                parts.chart_box("budget-spending", 300),
                title="Spending",
                hint="The sum of ε over all charges of each budget, charge by charge.",
            ),
            parts.card(html.Div(id="budget-history"), title="History", hint="Every charge, the latest first."),
            parts.exports(
                "budget",
                {
                    "json": "History (JSON)", "csv": "History (CSV)", "chart-png": "Chart (PNG)",
                    "chart-svg": "Chart (SVG)", "py": "Python",
                },
                chart_buttons("budget", {"chart": "budget-spending"}),
            ),
        ],
    )  # fmt: skip


_INPUTS = {"refresh": Input("budget-refresh", "n_clicks")}
_OUTPUTS = {
    "state": Output("budget-state", "data"),
    "message": Output("budget-message", "children"),
    "accounts": Output("budget-accounts", "children"),
    "spending": Output("budget-spending", "figure"),
    "history": Output("budget-history", "children"),
    "python": Output("budget-python", "children"),
}


def register(app: Any, workshop: Workshop) -> None:
    """Connect the page."""
    connect(app, Wires("budget", _INPUTS, _OUTPUTS, ("refresh",)), lambda moment: updated(moment, workshop))
    connect_files(app, "budget", ("json", "csv", "py"), lambda kind, _: saved(kind, workshop))
    connect_charts(app, "budget", ("chart",))


def updated(moment: Moment, workshop: Workshop) -> dict[str, Any]:
    """The ledger as it is now."""
    theme, books, sentence = theme_of(moment.theme), Books([], []), ""
    try:
        books = Books([], []) if workshop.ledger is None else opened(workshop.ledger)
    except TinctError as error:
        sentence = str(error)
    return {
        "state": {},
        "message": parts.alarm(sentence),
        "accounts": [_account(account) for account in books.accounts] or parts.card(html.P(_NONE, className="lead")),
        "spending": spending_chart(books, theme),
        "history": history_table(books),
        "python": python_lines(workshop.ledger),
    }


def saved(kind: str, workshop: Workshop) -> dict[str, Any]:
    """What the page shows as a file: json, csv or py."""
    if kind == "py":
        return download("budget.py", python_lines(workshop.ledger))
    if workshop.ledger is None:
        raise ParameterError(_NONE)
    entries = opened(workshop.ledger).entries
    if kind == "json":
        return download("history.json", json_text(contents.document(entries)))
    return sheet("history.csv", contents.COLUMNS, [contents.cells(entry) for entry in entries])


def _account(account: Account) -> Any:
    scope = account.scope
    rows = [_meter("ε", account.spent.epsilon, account.left.epsilon, scope.epsilon, scope.written)]
    if scope.delta:
        rows.append(_meter("δ", account.spent.delta, account.left.delta, scope.delta, exact_text(scope.delta)))
    return parts.card(
        *rows,
        title="The budget" if scope.name == "default" else f"The budget of {scope.name}",
        hint=f"Costs add up by {scope.composition} composition.",
        name="account",
    )


def _meter(letter: str, spent: Fraction, left: Fraction, budget: Fraction, written: str) -> Any:
    share = min(max(float(left / budget), 0.0), 1.0) if budget else 0.0
    return html.Div(
        [
            html.Div(
                [
                    html.Div([html.B(f"{float(left):.6g}"), html.Span(f"{letter} left")]),
                    html.Div([html.B(f"{float(spent):.6g}"), html.Span(f"{letter} spent")]),
                    html.Div([html.B(written), html.Span(f"{letter} in all")]),
                ],
                className="figures",
            ),
            html.Div(
                html.I(style={"width": f"{100 * share:.2f}%"}),
                className="meter",
                role="img",
                **parts.attributes(aria_label=f"{share:.0%} of {letter} is left"),
            ),
        ]
    )


def spending_chart(books: Books, theme: Theme) -> dict[str, Any]:
    """The sum of ε over the charges of each budget."""
    if not books.entries:
        return charts.empty(theme, "nothing has been charged yet")
    traces: list[dict[str, Any]] = []
    end = books.entries[-1].number + 0.5  # so that the last step is seen
    scopes = [account.scope for account in books.accounts]
    limits = {scope.name: float(scope.epsilon) for scope in scopes if scope.composition == "basic"}  # of the plain sum
    for number, name in enumerate(dict.fromkeys(entry.scope for entry in books.entries)):
        mine = [entry for entry in books.entries if entry.scope == name]
        sums = [0.0, *accumulate(float(entry.epsilon) for entry in mine)]
        sums.append(sums[-1])
        places = [0, *(entry.number for entry in mine), end]
        hue = theme.hue(number)
        traces.append(
            {
                "type": "scatter", "mode": "lines", "name": name, "x": places, "y": sums,
                "line": {"shape": "hv", "color": hue, "width": 3}, "fill": "tozeroy", "fillcolor": f"{hue}22",
                "hovertemplate": "ε = %{y:.6g}",
            }
        )  # fmt: skip
        if name in limits:
            traces.append(
                {
                    "type": "scatter", "mode": "lines", "name": f"limit of {name}", "x": [0, end],
                    "y": [limits[name]] * 2, "line": {"color": hue, "width": 2, "dash": "dash"},
                    "hovertemplate": "ε = %{y:.6g}",
                }
            )  # fmt: skip
    return charts.chart(traces, theme, "charge", "sum of ε", yaxis={"rangemode": "tozero"}, xaxis=_whole(books))


def _whole(books: Books) -> dict[str, Any]:
    return {"dtick": 1} if books.entries[-1].number <= 15 else {"tickformat": ",d"}


def history_table(books: Books) -> Any:
    """The charges, the latest first."""
    if not books.entries:
        return html.P("Nothing has been charged yet.", className="hint")
    rows = [
        [
            entry.question or "—", plain_answer(entry.answer)[:120], entry.who, f"{entry.time:%Y-%m-%d %H:%M}",
            entry.scope, f"{float(entry.epsilon):.6g}",
            f"{float(entry.delta):.6g}",
        ]
        for entry in reversed(books.entries[-_MOST_ROWS:])
    ]  # fmt: skip
    more = len(books.entries) - len(rows)
    note = [html.P(f"{more:,} earlier charges are in the files.", className="hint")] if more > 0 else []
    header = ["question", "answer", "who", "when (UTC)", "budget", "ε", "δ"]
    return [parts.table(header, rows, numeric_from=5), *note]


def plain_answer(answer: Any) -> str:
    """An answer as one would say it.

    >>> plain_answer("yes"), plain_answer({"north": "yes", "south": "no"}), plain_answer(True)
    ('yes', 'north: yes, south: no', 'true')
    """
    if isinstance(answer, dict):
        return ", ".join(f"{name}: {plain_answer(value)}" for name, value in answer.items())
    if isinstance(answer, list | tuple):
        return ", ".join(map(plain_answer, answer))
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def python_lines(place: str | None) -> str:
    """A script that reads the same ledger."""
    return "\n".join(
        [
            "import tinct",
            "",
            f"ledger = tinct.Ledger({place or 'budget.db'!r})",
            "for name in ledger.scopes():",
            '    print(name, "spent:", ledger.spent(name), "left:", ledger.remaining(name))',
            "for entry in ledger.history():",
            "    print(entry.number, entry.time, entry.who, entry.question, entry.epsilon, entry.answer)",
            "",
        ]
    )
