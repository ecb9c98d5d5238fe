"""``tinct ask``: one command from a data file to a private answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.inputs import (
    EngineOption,
    JsonOption,
    LedgerOption,
    MasterOption,
    RequestOption,
    ScopeOption,
    examples,
    keep_inputs,
    on_spark,
)
from tinct.cli.progress import measured, stage
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from tinct.asking import Accuracy, Answer, Plan

EXAMPLES = examples(
    'tinct ask survey.csv "majority(support)" --epsilon 0.5',
    'tinct ask claims.parquet "median(cost, above=1200)" --by region --groups N,S --epsilon 1 --ledger budget.db',
    "tinct ask visits.csv \"mode(reason, categories=['checkup','injury','other'])\" --epsilon 1 --neighbors replace",
    'tinct ask survey.csv "share(age >= 65, at_least=0.3)" --epsilon 1 --where "ward == \'North\'" --unit person_id',
    'tinct ask survey.csv "majority(support)" --plan --right 0.99 --margin 50',
    'tinct ask hdfs://host/votes "majority(yes)" --by ward -e 1 -d 1e-6 --engine spark --master yarn --output wards',
)
_SHOWN_GROUPS = 40


def ask(
    data: Annotated[  # not a Path, which would take a slash away from hdfs://host/votes
        str, typer.Argument(help="A .csv, .tsv, .parquet, .jsonl or .ndjson file.")
    ],
    question: Annotated[
        str,
        typer.Argument(
            help="majority(column), threshold(predicate, at_least=n), share(predicate, at_least=0.3), "
            "median(column, above=x), quantile(column, q, above=x), exists(predicate), mode(column, categories=[…])"
        ),
    ],
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", "-e", help="ε of the whole answer.", show_default=False)
    ] = None,
    delta: Annotated[str, typer.Option("--delta", "-d", help="δ of the whole answer.")] = "0",
    neighbors: Annotated[
        str, typer.Option(help="add-remove: a person is there or not; replace: a person's row reads otherwise.")
    ] = "add-remove",
    where: Annotated[str | None, typer.Option(help="Only rows with this predicate.", show_default=False)] = None,
    unit: Annotated[
        str | None,
        typer.Option(help="The column that names persons, if one may have several rows.", show_default=False),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="One answer for each group in this column.", show_default=False)
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(help="The groups, separated by commas; otherwise they are found privately.", show_default=False),
    ] = None,
    select: Annotated[str | None, typer.Option(help="The share of ε for finding groups.", show_default="1/2")] = None,
    lean: Annotated[
        str | None,
        typer.Option(help="How often the truth is told where yes is just true.", show_default="the same for no"),
    ] = None,
    epsilon_column: Annotated[
        str | None, typer.Option(help="A column with each person's own ε; needs --budgets.", show_default=False)
    ] = None,
    budgets: Annotated[
        str | None, typer.Option(help="The values in that column, such as 0.5,1,2.", show_default=False)
    ] = None,
    ledger: LedgerOption = None,
    request: RequestOption = None,
    scope: ScopeOption = "default",
    plan: Annotated[bool, typer.Option("--plan", help="Show everything but draw and charge nothing.")] = False,
    right: Annotated[
        str | None,
        typer.Option(help="With --plan: find the ε for this probability of being right.", show_default=False),
    ] = None,
    margin: Annotated[int, typer.Option(min=1, help="With --right: from this margin on.")] = 1,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the certificate of a yes/no question here.", show_default=False)
    ] = None,
    engine: EngineOption = "local",
    master: MasterOption = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="With --engine spark and --by: a new folder for the answers, if there are too many to be shown.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask one question about people's data: one answer, as truthful as any private answer can be.

    The answer never comes with a count, a margin or a probability of its own: those are secret. What is shown is how
    often such an answer is right, by how far the truth is from changing.
    """
    from tinct import asking

    options: dict[str, Any] = {
        "epsilon": epsilon, "delta": delta, "by": by, "unit": unit, "neighbors": neighbors, "where": where,
        "groups": _listed(groups), "select": select, "lean": lean,
        "epsilon_column": epsilon_column, "budgets": _listed(budgets),
    }  # fmt: skip
    if epsilon is None and right is None and epsilon_column is None:
        raise ParameterError(
            "no privacy is given: add --epsilon (such as --epsilon 0.5), or find it with --plan --right"
        )
    if right is not None and not plan:
        raise ParameterError("--right needs --plan: it finds the epsilon, and draws nothing")
    keep_inputs([certificate], [data, ledger])
    finding = by is not None and groups is None
    _require_certifiable(certificate, question, personal=epsilon_column is not None, finding=finding)
    charge: dict[str, Any] = {"ledger": ledger, "request": request, "scope": scope}
    if output is not None:
        if not on_spark(engine, master) or by is None or plan or certificate is not None:
            raise ParameterError("--output is for --engine spark with --by, without --plan and --certificate")
        _print_result(_publish(data, question, output, master, {**options, **charge}), as_json)
        return
    rows = _opened(data, engine, master)
    if plan:
        if right is not None:
            options["epsilon"] = _needed(question, right, margin, delta, neighbors, epsilon, rows)
        with measured("Planning") as progress:
            found = asking.plan(rows, question, progress=progress, **options)
        _write_certificate(certificate, found, options["epsilon"], delta, lean)
        if as_json:
            typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        else:
            _print_plan(found, options["epsilon"] if right else None, ledger, scope)
        return
    with measured("Counting and proving") as progress:
        answer = asking.ask(rows, question, progress=progress, **charge, **options)
    _print_result(answer, as_json)  # first of all: it is paid for
    _write_certificate(certificate, answer.plan, epsilon, delta, lean)


def _print_result(answer: Answer, as_json: bool) -> None:
    typer.echo(json.dumps(answer.to_dict(), ensure_ascii=False, indent=2)) if as_json else _print_answer(answer)


def _publish(data: str, question: str, output: str, master: str | None, options: dict[str, Any]) -> Answer:
    """Answers that stay on the cluster; the answer that is shown says where."""
    from tinct.asking import Answer
    from tinct.spark.jobs import ask_groups_files

    if options.pop("neighbors") != "add-remove" or options.pop("epsilon_column") or options.pop("budgets"):
        raise ParameterError("--output goes with --neighbors add-remove and one --epsilon for all")
    with stage("Answering on Spark"):
        found = ask_groups_files(data, question, target=output, master=master, **options)
    return Answer(f"published in {found.path}", found.plan, found.request, found.left, found.repeated)


def _opened(data: str, engine: str, master: str | None) -> Any:
    """What is asked about: the file, or its rows on a cluster."""
    if not on_spark(engine, master):
        return data
    from tinct.spark.jobs import open_parquet

    return open_parquet(data, master=master)


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",")]


def _needed(question: str, right: str, margin: int, delta: str, neighbors: str, epsilon: str | None, data: Any) -> str:
    from tinct import asking, sources
    from tinct.questions import parse

    if epsilon is not None:
        raise ParameterError("--right finds epsilon: leave out --epsilon")
    asked = parse(question)
    n = None
    if neighbors == "replace":  # the number of rows is public then
        with sources.open(data) as source:
            n = source.count(asked).rows
    return repr(asking.needed_epsilon(asked, right, margin, delta, neighbors=neighbors, n=n))


def _require_certifiable(path: Path | None, question: str, *, personal: bool, finding: bool) -> None:
    """Refuse a certificate that there will not be, or that cannot be written, before anything is charged."""
    if path is None:
        return
    from tinct._files import suffix_of
    from tinct.questions import parse
    from tinct.questions.words import YesNo

    if not isinstance(parse(question), YesNo) or personal:
        raise ParameterError("--certificate is for yes/no questions with one epsilon")
    if finding:
        raise ParameterError("--certificate with --by needs --groups: finding them takes a part of epsilon")
    suffix_of(path, (".json",))
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {str(path.parent)!r}")


def _write_certificate(path: Path | None, plan: Plan, epsilon: Any, delta: str, lean: str | None) -> None:
    if path is None:
        return
    from tinct import exact
    from tinct.privacy import Privacy

    privacy = Privacy(epsilon, delta)
    made = [exact.line(privacy, lean=lean), *([exact.ray(privacy)] if privacy.exact_delta else [])]
    found = next((one for one in made if one.id == plan.certificate), None)
    if found is None:  # every dataset has the same answer
        raise ParameterError("the table of this answer is not one that --certificate writes: no file was written")
    found.to_json(path)


def _print_plan(plan: Plan, needed: str | None, ledger: str | None, scope: str) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    console.print(f"[bold]Plan[/bold] for {escape(plan.question)}: nothing was drawn, nothing was charged")
    if needed is not None:
        console.print(f"Needed: [bold]ε = {needed}[/bold]")
    _print_facts(console, plan)
    if ledger is not None:
        from tinct.ledger import Ledger

        console.print(f"Left in the budget of {escape(scope)}: {escape(str(Ledger(ledger).remaining(scope)))}")


def _print_answer(answer: Answer) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    console.print(f"[bold]{escape(answer.plan.meaning)}[/bold]")
    if isinstance(answer.value, dict):
        _print_groups(console, answer.value)
    else:
        console.print(f"\n  [bold green]{escape(str(answer.value))}[/bold green]\n")
    _print_facts(console, answer.plan)
    if answer.left is not None:
        paid = "shown again, free of charge" if answer.repeated else "recorded in the ledger"
        console.print(f"Request [bold]{answer.request}[/bold] {paid}; left in the budget: {escape(answer.left)}")
    else:
        console.print("Not recorded: without --ledger nobody keeps account of what was spent")


def _print_groups(console: Any, values: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("group")
    table.add_column("answer")
    for label, value in list(values.items())[:_SHOWN_GROUPS]:
        table.add_row(escape(label), f"[green]{escape(str(value))}[/green]")
    console.print()
    console.print(table)
    if len(values) > _SHOWN_GROUPS:
        console.print(f"… and {len(values) - _SHOWN_GROUPS:,} more groups: --json has them all")
    if not values:
        console.print("no group is large enough to be shown")
    console.print()


def _print_facts(console: Any, plan: Plan) -> None:
    from rich.markup import escape

    delta = f", δ = {plan.delta}" if plan.delta != "0" else ""
    console.print(f"Privacy: ε = {escape(plan.epsilon)}{delta}, {escape(plan.neighbors)}")
    console.print(f"Method: {escape(plan.method)}")
    for rule in plan.rules:
        console.print(f"Note: {escape(rule)}")
    words = escape(plan.accuracy.margin)
    console.print(f"\nHow often such an answer is right, if m or more is the number of {words}:\n")
    console.print(_accuracy_table(plan.accuracy))
    equals = plan.accuracy.equals()
    if "geometric" in equals:
        console.print("\nGeometric noise does as well here: the gain begins with δ > 0, a lean, or personal budgets.")
    elif equals:
        console.print(f"\nAs good here: {escape(', '.join(equals))}.")
    if plan.certificate:
        console.print(f"\nCertificate {plan.certificate[:16]}: proved in whole numbers, sampled exactly")


def _accuracy_table(accuracy: Accuracy) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    table.add_column("m", justify="right")
    for name in accuracy.right:
        table.add_column(escape(name), justify="right")
    for at, margin in enumerate(accuracy.margins):
        table.add_row(f"{margin:,}", *(_percent(values[at]) for values in accuracy.right.values()))
    return table


def _percent(value: float) -> str:
    """Four digits; never rounded up to a certainty that is not there."""
    if 0 < value < 0.001:
        return f"{value:.1g}"
    return "1" if value == 1 else min(f"{value:.4f}", "0.9999")
