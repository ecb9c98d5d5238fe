"""``tinct describe``: look at a file as its owner, and draft the description that others will read it by."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.check import NOTICE
from tinct.cli.printing import echo
from tinct.cli.shared_options import examples, listed
from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from tinct.sources.description import Description
    from tinct.sources.draft import Draft

EXAMPLES = examples(
    "tinct describe survey.csv --person person_id",
    "tinct describe survey.csv --accept ward,support",
    "tinct describe survey.csv --confirm",
    "tinct describe survey.csv --import-csvw survey.csv-metadata.json",
)
_CONFIRMED = re.compile(r"^([ \t]*confirmed[ \t]*=[ \t]*)false(?=[ \t\r]*(#.*)?$)", re.MULTILINE)


def describe(
    data: Annotated[Path, typer.Argument(help="A file, a folder of parts or a table, as for tinct ask.")],
    person: Annotated[
        str | None, typer.Option(help="The column that identifies people.", show_default="every row is one person")
    ] = None,
    accept: Annotated[
        str | None,
        typer.Option(
            help="Columns, separated by commas, whose words, range or categories go into the description, or 'all'.",
            show_default="names and kinds only",
        ),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Confirm the description beside the data, after you have read it.")
    ] = False,
    no_input: Annotated[
        bool,
        typer.Option("--no-input", "--yes", help="Ask nothing: names and kinds as they were found."),
    ] = False,
    import_csvw: Annotated[
        Path | None,
        typer.Option(help="Draft it from metadata of CSV on the Web; the data is not looked at.", show_default=False),
    ] = None,
    export_csvw: Annotated[
        Path | None,
        typer.Option(help="Write the description as metadata of CSV on the Web.", show_default=False),
    ] = None,
) -> None:
    """Look at a file and draft its description: what each column means, and how cells are written.

    On a terminal you are asked about each column; otherwise names and kinds are written as they were found. The
    description is public and belongs to the owner of the data. It is written beside the data, with .toml behind the
    name, and cannot be used until it is confirmed. What was found in the data is shown here and nowhere else.
    """
    from tinct.sources.description import SUFFIX

    path = Path(f"{data}{SUFFIX}")
    others = [person, accept, import_csvw]
    if confirm:
        if any(each is not None for each in (*others, export_csvw)):
            raise ParameterError("--confirm goes alone: it changes nothing but whether the description can be used")
        _confirm(data, path)
        return
    if export_csvw is not None:
        if any(each is not None for each in others):
            raise ParameterError("--export-csvw goes alone: it writes what the description says already")
        _export(data, path, export_csvw)
        return
    if path.exists():
        raise FileError("there is a description already: change it there, or move it away first", path=path)
    if import_csvw is not None:
        if accept is not None:
            raise ParameterError("--accept is for what is found in the data, and --import-csvw does not look at it")
        _import(data, import_csvw, person).to_toml(path)
    else:
        _looked_at(data, person, accept, no_input=no_input).to_toml(path)
    echo("")
    echo(f"A draft was written to {path}. Read it, correct it, and confirm it:")
    echo(f"  tinct describe {data} --confirm")


def _looked_at(data: Path, person: str | None, accept: str | None, *, no_input: bool) -> Description:
    from tinct.cli.printing import measured
    from tinct.sources.draft import draft

    with measured("Looking at the data"):
        found = draft(data, person)
    if accept is None and not no_input and _is_terminal():
        from tinct.cli.describe_dialog import described_by_owner

        echo(NOTICE, color="red")
        for note in found.notes:
            echo(f"Note: {note}")
        return described_by_owner(found)
    _show(found)
    columns = [finding.column for finding in found.findings] if accept == "all" else listed(accept) or []
    return found.accepting(columns)


def _is_terminal() -> bool:
    """Whether somebody sits there, and what is shown is shown to them alone."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _import(data: Path, metadata: Path, person: str | None) -> Description:
    """A draft from metadata; refused if it does not fit the columns of the data."""
    from dataclasses import replace

    from tinct.sources import from_csvw
    from tinct.sources import open as open_source
    from tinct.sources.description import IDENTIFIER, ColumnDescription, Description

    found, left = from_csvw(metadata, file=data.name)  # how the file is written; then its names can be read
    with open_source(data, Description(format=found.format)) as source:
        found, left = from_csvw(metadata, file=data.name, columns=source.columns)
    if person is not None:
        found = replace(found, person=person, columns={**found.columns, person: ColumnDescription(IDENTIFIER)})
    open_source(data, replace(found, confirmed=True)).close()
    _say_left(left)
    return found


def _export(data: Path, path: Path, target: Path) -> None:
    from tinct._files import write_atomically
    from tinct.cli.printing import json_text
    from tinct.sources import to_csvw
    from tinct.sources.description import Description

    if target.exists():
        raise FileError("there is such a file already: move it away first", path=target)
    fields, left = to_csvw(Description.from_toml(path), data.name)
    write_atomically(target, json_text(fields) + "\n")
    _say_left(left)
    echo(f"The description was written to {target}.")


def _say_left(left: tuple[str, ...]) -> None:
    for each in left:
        echo(f"Left out: {each}")


def _show(found: Draft) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen, Table

    console = Screen()
    console.print(f"[bold red]{NOTICE}[/bold red]", end="\n\n")
    table: Any = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("column", "kind", "what was found"):
        table.add_column(name, overflow="fold")
    for finding in found.findings:
        table.add_row(escape(finding.column), finding.kind.kind, escape(finding.sentence))
    console.print(table)
    for note in found.notes:
        console.print(f"Note: {escape(note)}")


def _confirm(data: Path, path: Path) -> None:
    """Set ``confirmed``, and leave everything else in the file as its owner wrote it."""
    from tinct._files import read_text, write_atomically
    from tinct.sources import open as open_source
    from tinct.sources.description import Description

    found = Description.from_toml(path)
    if found.confirmed:
        echo(f"{path} is confirmed already.")
        return
    text = read_text(path)
    if len(_CONFIRMED.findall(text)) != 1:
        raise FileError("set confirmed = true by hand: there is not exactly one such line", path=path)
    from dataclasses import replace

    open_source(data, replace(found, confirmed=True)).close()  # refused if it does not fit the columns
    write_atomically(path, _CONFIRMED.sub(r"\1true", text))
    echo(f"Confirmed. tinct ask {data} uses it from now on.")
