"""``tinct check``: would the data be read right? For the owner of the data, before a budget is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import echo_json
from tinct.cli.shared_options import DescriptionOption, JsonOption, between, columns_of, examples, listed
from tinct.remarks import as_object

if TYPE_CHECKING:
    from tinct.asking.reading_check import ReadingCheck

EXAMPLES = examples(
    'tinct check survey.csv "majority(support)"',
    'tinct check claims.csv "median(cost, above=1200)" --by region --unit person_id --decimal ,',
)
NOTICE = "SECRET: this is about the data itself. It is for the owner of the data, not for publication."
_SHOWN = 8


def check(
    data: Annotated[str, typer.Argument(help="The data, as for tinct ask.")],
    question: Annotated[str, typer.Argument(help="The question, as for tinct ask.")],
    by: Annotated[
        list[str] | None,
        typer.Option(help="A column of groups, or several, separated by commas.", show_default=False),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(help="The groups, separated by commas (with several columns by semicolons).", show_default=False),
    ] = None,
    groups_per_person: Annotated[
        int | None, typer.Option(help="In how many groups a person counts.", show_default="1")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="The column that identifies people.", show_default=False)] = None,
    where: Annotated[
        str | None, typer.Option(help="Count only rows for which this predicate is true.", show_default=False)
    ] = None,
    description: DescriptionOption = None,
    delimiter: Annotated[
        str | None, typer.Option(help="What stands between two cells of a text file.", show_default="as the names show")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="What a text file is written in.", show_default="utf-8")] = None,
    decimal: Annotated[str | None, typer.Option(help="The decimal mark of numbers.", show_default=".")] = None,
    thousands: Annotated[str | None, typer.Option(help="The mark between thousands.", show_default="none")] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            help="The words for a missing value, separated by commas.", show_default="NA, N/A, NaN, NULL, None"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the owner of the data how it would be read for a question. Nothing is drawn, nothing is charged.

    What it prints is secret: how many cells cannot be read, which spellings there are, how many rows people have. Keep
    it from those who may only ask.
    """
    from tinct.asking.reading_check import check_reading
    from tinct.cli.printing import stage

    columns = columns_of(by)
    with stage("Reading the data"):
        found = check_reading(
            data, question, by=columns, unit=unit, where=where, description=description,
            groups=listed(groups, ";" if columns and len(columns) > 1 else ","), groups_per_person=groups_per_person,
            delimiter=between(delimiter), encoding=encoding, decimal=decimal, thousands=thousands,
            missing=listed(missing),
        )  # fmt: skip
    if as_json:
        echo_json(_fields(found))
    else:
        _show(found)
    raise typer.Exit(1 if found.warnings else 0)


def _fields(found: ReadingCheck) -> dict[str, Any]:
    return {
        "schema": "tinct/check@1",
        "notice": NOTICE,
        "warnings": [as_object(warning) for warning in found.warnings],
        "cells": [
            {
                "column": each.column, "use": each.use, "rows": each.rows, "blank": each.blank, "unread": each.unread,
                "spellings": [{"text": text, "read": read, "rows": many} for text, read, many in each.spellings],
            }
            for each in found.cells
        ],
        "rows_per_person": [list(pair) for pair in found.rows_per_person],
        "groups_per_person": [list(pair) for pair in found.groups_per_person],
    }  # fmt: skip


def _show(found: ReadingCheck) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen, Table

    console = Screen()
    console.print(f"[bold red]{NOTICE}[/bold red]", end="\n\n")
    table: Any = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in (("column", "left"), ("read as", "left"), ("cells", "right"), ("blank", "right"),
                       ("unread", "right"), ("spellings, and what they are read as", "left")):  # fmt: skip
        table.add_column(name, justify=side, overflow="fold")
    for each in found.cells:
        spellings = ", ".join(
            f"{text} → {'missing' if read is None else read.removesuffix(' 00:00:00')}" if read != text else text
            for text, read, _ in each.spellings[:_SHOWN]
        )
        table.add_row(
            escape(each.column), each.use, f"{each.rows:,}", f"{each.blank:,}", f"{each.unread:,}", escape(spellings)
        )
    console.print(table)
    for what, pairs in (("rows", found.rows_per_person), ("groups", found.groups_per_person)):
        if pairs:
            said = ", ".join(f"{k:,}: {many:,}" for k, many in pairs[:_SHOWN])
            console.print(f"People by their number of {what}: {said}{' …' if len(pairs) > _SHOWN else ''}")
    console.print()
    for warning in found.warnings:
        console.print(f"[bold yellow]Warning:[/bold yellow] {escape(warning)}")
    if not found.warnings:
        console.print("Nothing looks wrong.")
