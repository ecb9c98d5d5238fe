"""``tinct ask``: one command from a data file to a private answer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.answer_files import require_target, write_answers
from tinct.cli.printing import cost_line, echo, echo_json, measured, stage
from tinct.cli.shared_options import (
    DescriptionOption,
    EngineOption,
    JsonOption,
    LedgerOption,
    MasterOption,
    RequestOption,
    ScopeOption,
    between,
    classes,
    columns_of,
    examples,
    keep_inputs,
    listed,
    on_spark,
)
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from tinct.asking import Accuracy, Answer, Plan

EXAMPLES = examples(
    'tinct ask survey.csv "majority(support)" --epsilon 0.5',
    'tinct ask claims.parquet "median(cost, above=1200)" --by region --groups N,S --epsilon 1 --ledger budget.db',
    "tinct ask visits.csv \"mode(reason, categories=['checkup','injury','other'])\" --epsilon 1 --neighbors replace",
    'tinct ask survey.csv "share(age >= 65, at_least=0.3)" --epsilon 1 --where "ward == \'North\'" --unit person_id',
    'tinct ask survey.csv "majority(support)" --plan --right 0.99 --margin 50',
    'tinct ask survey.csv "count(age >= 65)" --epsilon 0.5 --ledger budget.db --request old',
    'tinct ask survey.csv "threshold(age >= 65, at_least=1000)" --ledger budget.db --after old',
    'zcat survey.csv.gz | tinct ask - "majority(support)" --epsilon 0.5',
    'tinct ask hdfs://host/votes "majority(yes)" --by ward -e 1 -d 1e-6 --engine spark --master yarn --output wards',
)
_SHOWN_GROUPS = 40


def ask(
    data: Annotated[  # not a Path, which would take a slash away from hdfs://host/votes
        str,
        typer.Argument(
            help="A file (.csv, .tsv, .jsonl, .json, also .gz or .zst; .parquet, .xlsx), a folder of such parts, a "
            "table (data.db#people, data.duckdb#people, postgresql://host/db#people), or - for standard input."
        ),
    ],
    questions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION...",
            show_default=False,
            help="One question, or several that are answered together for one ε: majority(column), "
            "threshold(predicate, at_least=n), share(predicate, at_least=0.3), "
            "median(column, above=x), quantile(column, q, above=x), exists(predicate), mode(column, categories=[…]); "
            "numbers: count(predicate), margin(column), histogram(column, categories=[…]), top(column, categories=[…], "
            "k=3)",
        ),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", "-e", help="ε of the answer, such as 0.5 or 'ln 2'.", show_default=False)
    ] = None,
    delta: Annotated[str, typer.Option("--delta", "-d", help="δ of the answer.")] = "0",
    question_file: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            help="A file of questions that are answered together: one in each line, or .toml with name = 'question'.",
            show_default=False,
        ),
    ] = None,
    neighbors: Annotated[
        str | None,
        typer.Option(
            help="add-remove: adding or removing one person; replace: changing one person's rows.",
            show_default="as declared in the ledger, else add-remove",
        ),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(
            min=0, help="With --neighbors replace: the public number of people.", show_default="counted in the data"
        ),
    ] = None,
    where: Annotated[
        str | None, typer.Option(help="Count only rows for which this predicate is true.", show_default=False)
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(help="The column that identifies people, if one can have several rows.", show_default=False),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="One answer for each group in this column, or in several, separated by commas.", show_default=False
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="The groups, separated by commas (with several columns by semicolons: 'N,f;S,m'). Without it, groups "
            "are found privately.",
            show_default=False,
        ),
    ] = None,
    most_groups: Annotated[
        int | None, typer.Option(min=1, help="With groups that are found: show at most this many.", show_default="1000")
    ] = None,
    select: Annotated[str | None, typer.Option(help="The share of ε for finding groups.", show_default="1/2")] = None,
    groups_per_person: Annotated[
        int | None,
        typer.Option(
            min=1, help="In how many groups a person may count; each gets this part of ε and δ.", show_default="1"
        ),
    ] = None,
    lean: Annotated[
        str | None,
        typer.Option(
            help="Probability of a right answer where yes is just true, to favour yes or no.",
            show_default="yes and no alike",
        ),
    ] = None,
    epsilon_column: Annotated[
        str | None, typer.Option(help="A column with each person's own ε; needs --budgets.", show_default=False)
    ] = None,
    budgets: Annotated[
        str | None,
        typer.Option(
            help="The values in that column and how many people chose each, such as 0.5=120,1=80; with 0.5,1 the "
            "people are counted.",
            show_default=False,
        ),
    ] = None,
    description: DescriptionOption = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--format", help="With - as data: csv, tsv, jsonl, json, parquet, xlsx, csv.gz, …", show_default="csv"
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="Without a description: what stands between two cells of a text file.",
            show_default="as the first line shows",
        ),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Without a description: what a text file is written in.", show_default="utf-8")
    ] = None,
    decimal: Annotated[
        str | None, typer.Option(help="Without a description: the decimal mark of numbers.", show_default=".")
    ] = None,
    thousands: Annotated[
        str | None, typer.Option(help="Without a description: the mark between thousands.", show_default="none")
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            help="Without a description: the words for a missing value, separated by commas.",
            show_default="NA, N/A, NaN, NULL, None",
        ),
    ] = None,
    ledger: LedgerOption = None,
    request: RequestOption = None,
    scope: ScopeOption = "default",
    after: Annotated[
        str | None,
        typer.Option(
            help="Read the answer off the numbers of this recorded request, free of charge, if it follows from them.",
            metavar="REQUEST",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="Show what would be asked and how accurate it would be. Nothing is drawn or charged."
        ),
    ] = False,
    right: Annotated[
        str | None,
        typer.Option(help="With --plan: find the ε that is right with this probability.", show_default=False),
    ] = None,
    margin: Annotated[
        int, typer.Option(min=1, help="With --right: if the truth is this many people or more from changing.")
    ] = 1,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the certificate of the answer to this file (.json).", show_default=False)
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show also the method, the rules, the accuracy table and the certificate.")
    ] = False,
    engine: EngineOption = "local",
    master: MasterOption = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="With --by: also write the answers to this file (.csv, .tsv, .parquet). With --engine spark: write "
            "them to this new folder, however many there are.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a question about people's data, or several at once, and get a private answer to each.

    No other private mechanism is right more often. True counts, margins and the probability of this particular answer
    are secret and never shown. What is shown is how often such an answer is right, or how far off, and what it cost.
    """
    from tinct import asking

    question = _asked(questions, question_file)
    by = columns_of(by)
    options: dict[str, Any] = {
        "epsilon": epsilon, "delta": delta, "by": by, "unit": unit, "neighbors": neighbors, "people": people,
        "where": where, "groups": listed(groups, ";" if by and len(by) > 1 else ","),
        "most_groups": most_groups, "select": select, "groups_per_person": groups_per_person, "lean": lean,
        "epsilon_column": epsilon_column, "budgets": classes(budgets), "description": description,
        "delimiter": between(delimiter), "encoding": encoding, "decimal": decimal, "thousands": thousands,
        "missing": listed(missing),
    }  # fmt: skip
    if epsilon is None and right is None and epsilon_column is None and ledger is None:
        raise ParameterError(
            "--epsilon is missing: add it (such as --epsilon 0.5), or find it with --plan --right 0.99 --margin 20"
        )
    if after is not None and (plan or certificate is not None):
        raise ParameterError(f"--after does not go with {'--plan' if plan else '--certificate'}")
    if right is not None and not plan:
        raise ParameterError("--right needs --plan: it only finds epsilon and draws nothing")
    keep_inputs([certificate, output], [data, ledger])
    finding = bool(by) and groups is None
    _require_certifiable(certificate, finding=finding)
    charge: dict[str, Any] = {"ledger": ledger, "request": request, "scope": scope}
    if output is not None and (not by or plan):
        raise ParameterError("--output is for the answers of --by, without --plan")
    if after is not None and output is not None and on_spark(engine, master):
        raise ParameterError("--after does not go with --output on Spark")
    if output is not None and on_spark(engine, master):
        if certificate is not None:
            raise ParameterError("--certificate does not go with --output on Spark")
        _print_result(_publish(data, question, output, master, {**options, **charge}), details, as_json)
        return
    if output is not None:
        require_target(output)
    rows = _opened(data, kind, engine, master)
    if plan:
        with measured("Planning") as progress:
            found = asking.plan(
                rows, question, ledger=ledger, scope=scope, right=right, margin=margin, progress=progress, **options
            )
        if as_json:
            echo_json(found.to_dict())
        else:
            _print_plan(found, scope, needed=right is not None)
        _write_certificate(certificate, found)
        return
    with measured("Counting and proving") as progress:
        answer = asking.ask(rows, question, progress=progress, after=after, **charge, **options)
    try:
        _print_result(answer, details, as_json)  # before anything else can fail: it is paid for
    finally:  # also if nobody reads what is printed to the end
        if output is not None:
            write_answers(output, answer.value)
            echo(f"Answers written to {output}", err=True)
    _write_certificate(certificate, answer.plan)


def _asked(given: list[str] | None, path: Path | None) -> Any:
    """The question; or all of them, from the command line or from a file."""
    if path is None:
        if not given:
            raise ParameterError("a question is missing, such as 'majority(support)'; --help shows them all")
        return given[0] if len(given) == 1 else given
    if given:
        raise ParameterError("--questions is a file of all questions: leave out those on the command line")
    from tinct.questions._together import read_questions

    return read_questions(path)


def _print_result(answer: Answer, details: bool, as_json: bool) -> None:
    echo_json(answer.to_dict()) if as_json else _print_answer(answer, details)


def _publish(data: str, question: str, output: str, master: str | None, options: dict[str, Any]) -> Answer:
    """Answers that stay on the cluster, as one answer that says where."""
    from tinct.asking import Answer
    from tinct.spark.jobs import ask_groups_files

    if options.pop("neighbors") not in (None, "add-remove"):
        raise ParameterError("--output goes with --neighbors add-remove")
    reading = ("description", "delimiter", "encoding", "decimal", "thousands", "missing")
    for name in ("people", "most_groups", "epsilon_column", "budgets", "groups_per_person", *reading):
        if options.pop(name) is not None:
            raise ParameterError(f"--{name.replace('_', '-')} does not go with --output")
    if len(options["by"]) > 1:
        raise ParameterError("--output goes with one --by")
    options["by"] = options["by"][0]
    with stage("Answering on Spark"):
        found = ask_groups_files(data, question, target=output, master=master, **options)
    return Answer(f"published in {found.path}", found.plan, found.request, found.left, found.repeated)


def _opened(data: str, kind: str | None, engine: str, master: str | None) -> Any:
    """The data: local, on standard input, or rows on a cluster."""
    if kind is not None and data != "-":
        raise ParameterError("--format is for standard input, written as -: the name of a file says what it is")
    if not on_spark(engine, master):
        from tinct.sources import StandardInput

        return StandardInput(kind or "csv") if data == "-" else data
    from tinct.spark.jobs import open_parquet

    return open_parquet(data, master=master)


def _require_certifiable(path: Path | None, *, finding: bool) -> None:
    """Refuse a certificate that cannot exist or cannot be written, before anything is charged."""
    if path is None:
        return
    from tinct._files import suffix_of

    if finding:
        raise ParameterError("--certificate with --by needs --groups: finding groups has no certificate")
    suffix_of(path, (".json",))
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {str(path.parent)!r}", path=path)


def _write_certificate(path: Path | None, plan: Plan) -> None:
    if path is None:
        return
    if plan.certified is None:
        raise ParameterError("every possible dataset has this answer: there is nothing to certify, no file was written")
    plan.certified.to_json(path)
    echo(f"Certificate written to {path}", err=True)


def _print_plan(plan: Plan, scope: str, *, needed: bool) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen

    console = Screen()
    rows = "" if plan.where is None else f", counting only rows with {plan.where}"
    console.print(f"[bold]Plan[/bold] for {escape(plan.question + rows)}: nothing was drawn, nothing was charged")
    if needed:
        console.print(f"Needed: [bold]ε = {escape(plan.epsilon)}[/bold]")
    _print_details(console, plan)
    if plan.left is not None:
        console.print(f"Left in the budget of {escape(scope)}: {escape(plan.left)}")
        if plan.refused:
            console.print(f"[bold red]This request would be refused:[/bold red] {escape(plan.refused)}")
        else:
            console.print("This request would be granted.")
        if plan.paid_by:
            console.print(
                f"Already paid for by request {escape(plan.paid_by)}: with --after {escape(plan.paid_by)} and without "
                "--epsilon and --delta the answer is free."
            )


def _print_answer(answer: Answer, details: bool) -> None:
    from rich.markup import escape

    from tinct.asking import Answers
    from tinct.cli.printing import Screen

    console, plan = Screen(), answer.plan
    values = answer.value.values() if isinstance(answer, Answers) else [answer.value]
    for meaning, value in zip(plan.meaning.split("\n"), values, strict=True):
        console.print(f"[bold]{escape(meaning[:1].upper() + meaning[1:])}[/bold]", end="\n\n")
        if isinstance(value, dict):
            _print_groups(console, value, plan)
        else:
            console.print(f"  [bold green]{escape(_cell(value, plan))}[/bold green]", end="\n\n")
    console.print(escape(_how_often(plan)))
    if plan.people and plan.has_numbers and not isinstance(answer.value, dict):
        console.print(escape(_of_population(*answer.population_share())))
    cost = answer.charged or _epsilon_and_delta(plan)
    flags = {
        "repeated": answer.repeated, "completed": answer.completed, "older": answer.older, "follows": answer.follows,
    }  # fmt: skip
    console.print(escape(cost_line(cost, answer.request, answer.left, **flags)))
    if details:
        console.print()
        _print_details(console, plan)
        return
    for warning in plan.warnings:
        console.print(f"Note: {escape(_in_options(warning))}")


def _in_options(rule: str) -> str:
    """A rule of a plan in the words of the command: one of them tells what to do."""
    from tinct.questions.persons import EACH_ROW

    if rule == EACH_ROW:
        return "each row counts as one person; if people can have several rows, name the column of people with --unit"
    return rule


def _how_often(plan: Plan) -> str:
    """One sentence on how often such an answer is right; a function of the plan, never of the answer."""
    if plan.mechanism == "certain":
        return f"Always right: {plan.method}."
    return ("A yes is never wrong. " if plan.mechanism == "selection" else "") + plan.accuracy.in_words()


def _epsilon_and_delta(plan: Plan) -> str:
    return f"ε = {plan.epsilon}" + (f", δ = {plan.delta}" if plan.delta != "0" else "")


def _of_population(low: float, high: float) -> str:
    """Confidence bounds, rounded outwards."""
    bounds = f"{math.floor(low * 1000) / 10:.1f} % to {math.ceil(high * 1000) / 10:.1f} %"
    return (
        f"If these people are a random sample: {bounds} of the population, with 95 % confidence (sample and noise "
        "together)."
    )


def _print_groups(console: Any, values: dict[str, Any], plan: Plan) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    what, more = ("group", "groups") if plan.by else ("category", "categories")
    table.add_column(what)
    table.add_column("answer", justify="right" if plan.has_numbers else "left")
    for label, value in list(values.items())[:_SHOWN_GROUPS]:
        table.add_row(escape(label), f"[green]{escape(_cell(value, plan))}[/green]")
    console.print(table)
    if len(values) > _SHOWN_GROUPS:
        console.print(f"… and {len(values) - _SHOWN_GROUPS:,} more {more}: --json shows all")
    if not values:
        console.print("no group is large enough to be shown")
    console.print()


def _cell(value: Any, plan: Plan) -> str:
    """An answer in a table: numbers with marks between thousands, several numbers with their names."""
    if not plan.has_numbers:
        return str(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:,}" for name, number in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def _print_details(console: Any, plan: Plan) -> None:
    from rich.markup import escape

    console.print(f"Privacy: {escape(_epsilon_and_delta(plan))}")
    console.print(f"Neighbours: {escape(plan.neighbors)}")
    console.print(f"Method: {escape(plan.method)}")
    for rule in plan.rules:
        console.print(f"Note: {escape(_in_options(rule))}")
    console.print()
    console.print(f"{escape(plan.accuracy.heading)}:", end="\n\n")
    console.print(_accuracy_table(plan.accuracy))
    equals = plan.accuracy.equals()
    if "geometric" in equals:
        console.print()
        gains = "δ > 0" if plan.has_numbers else "δ > 0, a lean, or personal budgets"
        console.print(f"Geometric noise is as good here: tinct gains with {gains}.")
    elif equals:
        console.print()
        console.print(f"As good here: {escape(', '.join(equals))}.")
    if plan.certificate:
        console.print()
        console.print(f"Certificate {plan.certificate[:16]}: verified in exact integer arithmetic, sampled exactly")


def _accuracy_table(accuracy: Accuracy) -> Any:
    from rich.markup import escape

    from tinct.cli.printing import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    table.add_column("m", justify="right")
    for name in accuracy.right:
        table.add_column(escape(name), justify="right")
    for at, margin in enumerate(accuracy.margins):
        table.add_row(f"{margin:,}", *(_percent(values[at]) for values in accuracy.right.values()))
    return table


def _percent(value: float) -> str:
    """Four digits, and never rounded up to 1."""
    if 0 < value < 0.001:
        return f"{value:.1g}"
    return "1" if value == 1 else min(f"{value:.4f}", "0.9999")
