"""``tinct describe``: look at a file as its owner, and draft the description that others will read it by."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.check import NOTICE
from tinct.cli.printing import echo
from tinct.cli.shared_options import examples, listed
from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from tinct.sources.draft import Draft

EXAMPLES = examples(
    "tinct describe survey.csv --person person_id",
    "tinct describe survey.csv --accept ward,support",
    "tinct describe survey.csv --confirm",
)
_CONFIRMED = re.compile(r"^([ \t]*confirmed[ \t]*=[ \t]*)false(?=[ \t\r]*(#.*)?$)", re.MULTILINE)


def describe(
    data: Annotated[Path, typer.Argument(help="A .csv, .tsv or .parquet file.")],
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
) -> None:
    """Look at a file and draft its description: what each column means, and how cells are written.

    The description is public and belongs to the owner of the data. It is written beside the data, with .toml behind
    the name, and cannot be used until it is confirmed. What was found in the data is shown here and nowhere else.
    """
    from tinct.sources.description import SUFFIX

    path = Path(f"{data}{SUFFIX}")
    if confirm:
        if person is not None or accept is not None:
            raise ParameterError("--confirm goes alone: it changes nothing but whether the description can be used")
        _confirm(data, path)
        return
    if path.exists():
        raise FileError("there is a description already: change it there, or move it away first", path=path)
    from tinct.cli.printing import measured
    from tinct.sources.draft import draft

    with measured("Looking at the data"):
        found = draft(data, person)
    _show(found)
    columns = [finding.column for finding in found.findings] if accept == "all" else listed(accept) or []
    found.accepting(columns).to_toml(path)
    echo("")
    echo(f"A draft was written to {path}. Read it, correct it, and confirm it:")
    echo(f"  tinct describe {data} --confirm")


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
