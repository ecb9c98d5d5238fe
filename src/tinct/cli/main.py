"""The command's entry: what it offers, and how errors end it."""

from __future__ import annotations

import os
import re
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tinct import __version__
from tinct.cli import ask, bench, budget, design, local, plot, release, studio, verify
from tinct.cli.inputs import examples
from tinct.errors import TinctError

BAD_INPUT = 2
INTERRUPTED = 130
# what the library says as one does in Python, and what it is called here
_IN_OPTIONS = (
    (re.compile(r"\b(neighbors|epsilon|delta|composition|missing|request)='([^' ]+)'"), r"--\1 \2"),
    (re.compile(r"\b(missing)=(?:…|(?=[,.)\s]|$))"), r"--\1"),
    (re.compile(r"\bdisconnected=True\b"), "--disconnected"),
    (re.compile(r"\bPlanned\('([^']+)', times=(\d+)\)"), r"--plan '\2 x \1'"),
    (re.compile(r"^(missing|confidence|tolerance|mu|samples|lowest|highest) must\b"), r"--\1 must"),
)


class _Commands(TyperGroup):
    """The commands, with an ending for what Typer would end in its own way, without a word or as a failed check."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            typer.secho("tinct: interrupted; files are written whole or not at all", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except (BrokenPipeError, SystemExit) as error:  # the reader, such as head, has had enough
            if not isinstance(error, BrokenPipeError) and not isinstance(error.__context__, BrokenPipeError):
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None  # Rich would make it 1, a check that failed
        return found


app = typer.Typer(
    name="tinct",
    cls=_Commands,
    help="Provably optimal differential privacy: the mechanism no other private mechanism can beat.",
    epilog=examples(
        "tinct ask survey.csv 'majority(support)' --epsilon 1",
        "tinct design majority:101 --epsilon 0.5 --output mechanism.json",
        "tinct verify mechanism.json",
        "tinct local --help",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("ask", epilog=ask.EXAMPLES)(ask.ask)
app.command("design", epilog=design.EXAMPLES)(design.design)
app.command("verify", epilog=verify.EXAMPLES)(verify.verify)
app.command("release", epilog=release.EXAMPLES)(release.release)
app.command("plot", epilog=plot.EXAMPLES)(plot.plot)
app.command("studio", epilog=studio.EXAMPLES)(studio.studio)
app.command("bench", epilog=bench.EXAMPLES)(bench.bench)
app.add_typer(local.app, name="local")
app.add_typer(budget.app, name="budget")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tinct {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[  # handled by its callback
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


def _in_options(message: str) -> str:
    """What the library calls ``neighbors='replace'`` as one does in Python is ``--neighbors replace`` here."""
    for pattern, option in _IN_OPTIONS:
        message = pattern.sub(option, message)
    return message


def run() -> None:
    """Run the command: 0 fine, 1 a check failed, 2 bad input, 130 interrupted."""
    try:
        app()
    except TinctError as error:
        typer.secho(f"tinct: {_in_options(str(error))}", err=True, fg=typer.colors.RED)
        sys.exit(BAD_INPUT)
    except MemoryError:
        typer.secho("tinct: this needs more memory than the machine has", err=True, fg=typer.colors.RED)
        sys.exit(BAD_INPUT)
