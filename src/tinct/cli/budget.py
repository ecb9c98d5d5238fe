"""``tinct budget``: create a ledger, see what is left, read and export who asked what."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import echo, echo_json
from tinct.cli.shared_options import DescriptionOption, JsonOption, classes, examples, keep_inputs
from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from fractions import Fraction

    from tinct.ledger import Entry, Ledger, Planned, Protection, Scope, Spending
    from tinct.sources import Description

_BAR = 30
_PLANNED = re.compile(r"\s*(\d{1,10})\s*[x×]\s*([^,;]+?)\s*(?:,\s*([^,;]+?)\s*)?")
_GENERATED = re.compile("[0-9a-f]{32}")  # a generated request id; --json and export show it
_SHOWN = ("no.", "time (UTC)", "who", "scope", "groups", "question", "ε", "δ", "answer", "request")

app = typer.Typer(
    help="The privacy budget: create a ledger, show what is left, read and export its history.",
    epilog=examples(
        "tinct budget init survey.db --epsilon 1 --unit person_id",
        "tinct budget show survey.db",
        "tinct budget history survey.db --last 20",
    ),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PlaceArgument = Annotated[
    str,
    typer.Argument(metavar="LEDGER", help="A file, or a PostgreSQL URL; keep its password in PGPASSWORD or ~/.pgpass."),
]
ServerArgument = Annotated[
    str, typer.Argument(metavar="LEDGER", help="A PostgreSQL URL; keep its password in PGPASSWORD or ~/.pgpass.")
]
ScopeOption = Annotated[str | None, typer.Option("--scope", "-s", help="Show only this scope.", show_default=False)]
UnitOption = Annotated[
    str | None, typer.Option(help="The column that identifies people.", show_default="every row is one person")
]
NeighborsOption = Annotated[
    str, typer.Option(help="add-remove: adding or removing one person; replace: changing one person's rows.")
]
PeopleOption = Annotated[
    int | None, typer.Option(min=0, help="For replace: the public number of people.", show_default=False)
]
CountOption = Annotated[
    str | None,
    typer.Option(metavar="DATA", help="For replace: count the people in this file now.", show_default=False),
]
DataOption = Annotated[
    str | None, typer.Option(help="Use the budget for this file only.", show_default="any data about these people")
]
EpsilonColumnOption = Annotated[
    str | None, typer.Option(help="For replace: the column with each person's own ε.", show_default=False)
]
BudgetsOption = Annotated[
    str | None,
    typer.Option(
        help="How many people chose each ε, such as 0.5=120,1=80; with --count only 0.5,1.", show_default=False
    ),
]


@app.command(
    epilog=examples(
        "tinct budget init survey.db --epsilon 1 --unit person_id",
        "tinct budget init survey.db --epsilon 1 --neighbors replace --count survey.csv",
        "tinct budget init survey.db -e 'ln 3' -d 1e-6 --composition advanced --slack 5e-7",
        "tinct budget init survey.db -e 5 -d 1e-6 --composition accounting --plan '50 x 0.1' --plan '3 x 0.5, 1e-8'",
        "tinct budget init survey.db --scope staff --epsilon 0.5 --unit name",
        "tinct budget init survey.db --epsilon 1 --partition 'ward=everybody is registered in one ward'",
    )
)
def init(
    place: PlaceArgument,
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", help="The ε to spend, such as 1 or 'ln 3'.")],
    delta: Annotated[str, typer.Option("--delta", "-d", help="The δ to spend.")] = "0",
    composition: Annotated[
        str | None,
        typer.Option(help="How costs add up: basic, advanced, accounting.", show_default="basic"),
    ] = None,
    slack: Annotated[
        str | None, typer.Option(help="For advanced: the part of δ set aside for it.", show_default=False)
    ] = None,
    plan: Annotated[
        list[str] | None,
        typer.Option(help="For accounting: times x cost, such as '50 x 0.1' or '3 x 0.5, 1e-8'; repeatable."),
    ] = None,
    scope: Annotated[str, typer.Option("--scope", "-s", help="The name of the budget in the ledger.")] = "default",
    partition: Annotated[
        list[str] | None,
        typer.Option(help="Declare disjoint groups: name=why no person is in two of them; repeatable."),
    ] = None,
    unit: UnitOption = None,
    neighbors: NeighborsOption = "add-remove",
    people: PeopleOption = None,
    count: CountOption = None,
    data: DataOption = None,
    epsilon_column: EpsilonColumnOption = None,
    budgets: BudgetsOption = None,
    description: DescriptionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a ledger with a budget, or add a scope or a partition to one. An existing budget never changes.

    Declare here who counts as one person and which datasets are neighbours: those who ask cannot change it. By default
    every row is one person, who may be added or removed.
    """
    from tinct.ledger import Ledger

    whom = _protection(unit, neighbors, people, count, data, epsilon_column, budgets, description)
    said = whom.to_dict() != {"neighbors": "add-remove"}
    options = {"composition": composition, "slack": slack, "plan": _plan(plan), "protects": whom if said else None}
    declared = [_declaration(text) for text in partition or []]
    if scope == "default":
        ledger = Ledger(place, epsilon, delta, **options)  # type: ignore[arg-type] # each option has its own type
    else:
        ledger = _opened(place, scope)
        ledger.add_scope(scope, epsilon, delta, **options)  # type: ignore[arg-type]
    for name, statement in declared:
        ledger.add_partition(name, statement, scope=scope)
    _show(ledger, scope, as_json)
    if not as_json and not ledger.history(scope):  # afterwards it could no longer be declared
        _offer_unit(ledger.scopes()[scope].protects, scope)


@app.command(
    epilog=examples(
        "tinct budget declare survey.db --unit person_id",
        "tinct budget declare survey.db --rows",
        "tinct budget declare survey.db --scope staff --unit name --neighbors replace --people 3841",
    )
)
def declare(
    place: PlaceArgument,
    scope: Annotated[str, typer.Option("--scope", "-s", help="The budget in the ledger.")] = "default",
    rows: Annotated[bool, typer.Option("--rows", help="Every row is one person.")] = False,
    unit: UnitOption = None,
    neighbors: NeighborsOption = "add-remove",
    people: PeopleOption = None,
    count: CountOption = None,
    data: DataOption = None,
    epsilon_column: EpsilonColumnOption = None,
    budgets: BudgetsOption = None,
    description: DescriptionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Declare who is one person in a scope: until the first charge, or once for a ledger of an older version."""
    from tinct.ledger import Ledger

    if description is None and rows == (unit is not None):
        raise ParameterError(
            "say who is one person: --unit with the column that identifies people, or --rows, not both"
        )
    ledger = Ledger(place)
    ledger.declare(_protection(unit, neighbors, people, count, data, epsilon_column, budgets, description), scope=scope)
    _show(ledger, scope, as_json)


@app.command(epilog=examples("tinct budget lower survey.db --epsilon 0.5"))
def lower(
    place: PlaceArgument,
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", help="The ε to spend instead, such as 1 or 'ln 3'.")],
    delta: Annotated[
        str | None, typer.Option("--delta", "-d", help="The δ to spend instead.", show_default="as it is")
    ] = None,
    scope: Annotated[str, typer.Option("--scope", "-s", help="The budget in the ledger.")] = "default",
    as_json: JsonOption = False,
) -> None:
    """Lower a budget to which nothing was charged yet, such as a mistyped one."""
    from tinct.ledger import Ledger

    ledger = Ledger(place)
    ledger.lower(epsilon, delta, scope=scope)
    _show(ledger, scope, as_json)


@app.command(epilog=examples("tinct budget grant postgresql://owner@db.example.org/privacy analysts"))
def grant(
    place: ServerArgument,
    role: Annotated[str, typer.Argument(help="A database role, of a person or of a group.")],
) -> None:
    """Let a PostgreSQL role ask: it can read the ledger, charge and store answers, and change nothing else."""
    from tinct.ledger import postgres_roles

    postgres_roles.grant(place, role)
    echo(f"{role} may ask.")


@app.command(epilog=examples("tinct budget show survey.db", "tinct budget show survey.db --scope staff --json"))
def show(place: PlaceArgument, scope: ScopeOption = None, as_json: JsonOption = False) -> None:
    """Check the ledger, and show what is spent and what is left."""
    from tinct.ledger import Ledger

    ledger = Ledger(place)
    ledger.audit()
    _show(ledger, scope, as_json)


@app.command(epilog=examples("tinct budget history survey.db", "tinct budget history survey.db --last 20 --json"))
def history(
    place: PlaceArgument,
    scope: ScopeOption = None,
    last: Annotated[
        int | None, typer.Option(min=1, help="Show only the N latest.", metavar="N", show_default="all")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show who asked what and when, the cost and the answer. A ledger holds no data about people."""
    from tinct.ledger import Ledger
    from tinct.ledger.contents import document

    entries = Ledger(place).history(scope)
    chosen = entries[-last:] if last else entries
    if as_json:
        echo_json(document(chosen))
    else:
        _print_history(chosen, len(entries))


@app.command(epilog=examples("tinct budget export survey.db history.csv", "tinct budget export survey.db history.json"))
def export(
    place: PlaceArgument,
    target: Annotated[Path, typer.Argument(help="The file to write: .csv, .tsv or .json.")],
    scope: Annotated[
        str | None, typer.Option("--scope", "-s", help="Write only this scope.", show_default=False)
    ] = None,
) -> None:
    """Write the history to a file. In .csv and .tsv, cells that a spreadsheet would run as formulas are escaped."""
    from tinct._files import json_text, suffix_of, write_atomically, write_sheet
    from tinct.ledger import Ledger
    from tinct.ledger import contents as history

    suffix = suffix_of(target, (".csv", ".tsv", ".json"))
    keep_inputs([target], [place])
    entries = Ledger(place).history(scope)
    if suffix == ".json":
        write_atomically(target, json_text(history.document(entries)))
    else:
        write_sheet(target, history.COLUMNS, [history.cells(entry) for entry in entries])
    echo(f"Written: {target} ({_counted(len(entries))})")


def _offer_unit(whom: Protection | None, scope: str) -> None:
    """Say how people with several rows are declared, if every row counts as one person."""
    if whom is None or whom.unit is not None:
        return
    words = ["tinct budget declare LEDGER --unit COLUMN"]
    if scope != "default":
        words.append(f"--scope {shlex.quote(scope)}")
    if whom.people is not None:
        words.append(f"--neighbors {whom.neighbors} --count DATA")
    if whom.budgets is not None:
        words.append(f"--epsilon-column {shlex.quote(whom.epsilon_column or '')} --budgets {','.join(whom.budgets)}")
    echo("  every row counts as one person; if people can have several rows, declare it before the first charge:")
    echo(f"  {' '.join(words)}")


def _opened(place: str, scope: str) -> Ledger:
    """An existing ledger; the first budget of a new one is always that of the scope 'default'."""
    from tinct.ledger import Ledger
    from tinct.ledger.store import NoLedger

    try:
        return Ledger(place)
    except NoLedger:
        raise FileError(
            f"there is no ledger yet: create it without --scope first, then add the scope {scope!r:.80}", path=place
        ) from None


def _protection(
    unit: str | None,
    neighbors: str,
    people: int | None,
    count: str | None,
    data: str | None,
    epsilon_column: str | None,
    budgets: str | None,
    description: Path | None,
) -> Protection:
    """What the owner declares, with the public numbers counted in ``count`` if they are not given."""
    from tinct.ledger import Protection
    from tinct.privacy.neighbors import Neighbors

    sizes = classes(budgets)
    described = _described(data if count is None else count, description)
    if described is not None and unit is None:
        unit = described.person
    if count is not None:
        if people is not None or neighbors != "replace":
            raise ParameterError("--count is for --neighbors replace, instead of --people")
        people, sizes = _counted_people(count, unit, epsilon_column, sizes, described)
    if isinstance(sizes, list):
        raise ParameterError("--budgets must say how many people chose which ε, such as 0.5=120,1=80, or add --count")
    place = None if data is None else data if "://" in data else os.path.abspath(data)
    digest = None if described is None else described.digest
    return Protection(unit, Neighbors.of(neighbors), people, place, epsilon_column, sizes, digest)


def _described(data: str | None, description: Path | None) -> Description | None:
    """The description that the budget is for: the one named, or the one beside the data that the budget is for."""
    from tinct.sources.description import Description, beside

    path = description
    if path is None and data is not None and "://" not in data:
        path = beside(data)
    if path is None:
        return None
    found = Description.from_toml(path)
    found.require_confirmed(path)
    return found


def _counted_people(
    data: str, unit: str | None, epsilon_column: str | None, sizes: Any, described: Description | None
) -> tuple[int | None, dict[str, int] | None]:
    """The public numbers, counted once for the owner, who runs this command."""
    from tinct import sources

    with sources.open(data, described) as source:
        if epsilon_column is None:
            return source.count_people(unit), None
        return None, source.count_classes(epsilon_column, list(sizes or ()), unit)


def _plan(lines: list[str] | None) -> list[Planned] | None:
    from tinct.ledger import Planned

    if not lines:
        return None
    found = [_PLANNED.fullmatch(line) for line in lines]
    if not all(found):
        wrong = lines[found.index(None)]
        raise ParameterError(f"--plan must be such as '50 x 0.1' or '3 x 0.5, 1e-8' (times, ε, δ), got {wrong!r:.80}")
    return [Planned(match[2], match[3] or 0, times=int(match[1])) for match in found if match]


def _declaration(text: str) -> tuple[str, str]:
    name, equals, statement = text.partition("=")
    if not (equals and name.strip() and statement.strip()):
        raise ParameterError(f"--partition must be name=why nobody is in two groups, got {text!r:.80}")
    return name.strip(), statement.strip()


def _show(ledger: Ledger, only: str | None, as_json: bool) -> None:
    scopes = ledger.scopes()
    if only is not None and only not in scopes:
        raise ParameterError(f"there is no scope {only!r}, only {', '.join(map(repr, scopes))}")
    chosen = {name: scope for name, scope in scopes.items() if only in (None, name)}
    states = {
        name: (ledger.spent(name), ledger.remaining(name), ledger.partitions(name), _by_class(ledger, scope))
        for name, scope in chosen.items()
    }
    if not as_json:
        for name, scope in chosen.items():
            _print_scope(scope, *states[name])
        return
    budgets = [_scope_json(scope, *states[name]) for name, scope in chosen.items()]
    echo_json({"schema": "tinct/budget@1", "scopes": budgets})


def _by_class(ledger: Ledger, scope: Scope) -> dict[str, Fraction]:
    """What people with an ε of their own have spent; empty if nobody has one."""
    from tinct.ledger.totals import spent_by_class

    if scope.protects is None or scope.protects.budgets is None:
        return {}
    return spent_by_class(ledger.history(scope.name), scope.protects.budgets)


def _scope_json(
    scope: Scope, spent: Spending, left: Spending, partitions: dict[str, str], by_class: dict[str, Fraction]
) -> dict[str, Any]:
    from tinct.ledger.costs import exact_text

    budget = {"epsilon": exact_text(scope.epsilon), "delta": exact_text(scope.delta), "written": scope.written}
    return {
        "scope": scope.name,
        "protects": None if scope.protects is None else scope.protects.to_dict(),
        "budget": budget,
        "composition": scope.composition,
        "details": dict(scope.details),
        "spent": spent.to_dict(),
        "left": left.to_dict(),
        "partitions": partitions,
        **({"spent_by_class": {name: exact_text(own) for name, own in by_class.items()}} if by_class else {}),
    }


def _print_scope(
    scope: Scope, spent: Spending, left: Spending, partitions: dict[str, str], by_class: dict[str, Fraction]
) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen
    from tinct.ledger.costs import shown

    console = Screen(soft_wrap=True)
    console.print(f"[bold]{escape(scope.name)}[/bold]  ({scope.composition} composition)")
    rows = [("ε", spent.epsilon, left.epsilon, scope.epsilon, scope.written)]
    if scope.delta:
        rows.append(("δ", spent.delta, left.delta, scope.delta, shown(scope.delta)))
    for letter, used, rest, budget, written in rows:
        numbers = f"spent {float(used):.6g}, left {float(rest):.6g} of {escape(written)}"
        console.print(f"  {letter} {_bar(rest, budget)}  {numbers}")
    whom = str(scope.protects or "who is one person is not declared: see tinct budget declare")
    console.print(f"  {escape(whom)}")
    if spent.epsilon and by_class:
        classes = ", ".join(f"ε = {name}: {float(own):.6g}" for name, own in by_class.items())
        console.print(f"  spent so far by each person with {escape(classes)}")
    for line in _explained(scope):
        console.print(f"  {line}")
    for name, statement in partitions.items():
        console.print(f"  disjoint groups: {escape(name)} ({escape(statement)})")


def _bar(rest: Fraction, budget: Fraction) -> str:
    """A bar that is full where nothing is spent; it is empty only when nothing is left."""
    part = _BAR * min(max(float(rest / budget), 0.0), 1.0)
    full = max(round(part), 1) if rest > 0 else 0
    color = "green" if 2 * full > _BAR else "yellow" if full > _BAR // 10 else "red"
    return f"[{color}]{'█' * full}[/{color}][dim]{'░' * (_BAR - full)}[/dim]"


def _explained(scope: Scope) -> list[str]:
    if scope.composition == "advanced":
        return [
            f"{scope.details['slack']} of δ is set aside for advanced composition; 'spent' shows plain sums, 'left' "
            "the largest single charge"
        ]
    if scope.composition == "accounting":
        plan = [
            f"{line['times']:,} × " + " and ".join(f"(ε {point[0]}, δ {point[1]})" for point in line["points"][:3])
            for line in scope.details["plan"]
        ]
        return [f"planned: {'; '.join(plan)}; 'left' shows the largest planned cost"]
    return []


def _print_history(entries: list[Entry], total: int) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen, Table

    console = Screen()
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    columns = [column for column in _SHOWN if any(_shown(entry, column) for entry in entries)]
    for column in columns:
        text = column in ("groups", "question", "answer", "request")
        number = column in ("no.", "ε", "δ")
        table.add_column(
            column, justify="right" if number else "left", no_wrap=not text, ratio=2 if text else None, overflow="fold"
        )
    for entry in entries:
        table.add_row(*(escape(_shown(entry, column)) for column in columns))
    console.print(table)
    console.print(f"{len(entries):,} of {_counted(total)}" if len(entries) < total else _counted(total))


def _counted(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries:,} entries"


def _shown(entry: Entry, column: str) -> str:
    """A cell of the table; a column without any is left out."""
    if column == "groups":
        more = f" and {len(entry.groups) - 3:,} more" if len(entry.groups) > 3 else ""
        return f"{entry.partition}: {', '.join(entry.groups[:3])}{more}" if entry.partition else ""
    answer = entry.answer if isinstance(entry.answer, str) else json.dumps(entry.answer, ensure_ascii=False)
    if not entry.answered:
        answer = f"({entry.state.word})"
    cells = {
        "no.": str(entry.number),
        "time (UTC)": f"{entry.time:%Y-%m-%d %H:%M}",
        "who": entry.who,
        "scope": entry.scope if entry.scope != "default" else "",
        "question": entry.question,
        "ε": f"{float(entry.epsilon):.6g}",
        "δ": f"{float(entry.delta):.6g}" if entry.delta else "",
        "answer": answer if len(answer) <= 200 else f"{answer[:200]}…",
        # after an interruption the id is needed, even a generated one
        "request": "" if _GENERATED.fullmatch(entry.request) and entry.answered else entry.request,
    }
    return cells[column]
