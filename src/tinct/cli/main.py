"""The command's entry: what it offers, and how errors end it."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from tinct import __version__
from tinct.cli import ask, bench, budget, check, describe, design, local, plot, release, studio, verify
from tinct.cli.help_paragraphs import flow
from tinct.cli.option_words import in_options, options_of
from tinct.cli.printing import echo, echo_json, error_object, printable, sift_warnings
from tinct.cli.shared_options import examples
from tinct.errors import TinctError

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


@contextmanager
def _quoted_safely() -> Iterator[None]:
    """Make Typer's own errors printable: they quote the command line, with file names that others may have chosen."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):
            for name, value in list(vars(error).items()):
                if isinstance(value, str):
                    setattr(error, name, printable(value))
        raise


class _Commands(TyperGroup):
    """The commands, with clear messages and exit codes for interrupts and closed pipes."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the command line; errors that quote it are made printable."""
        with _quoted_safely():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt or a closed pipe ends it with a defined exit code."""
        try:
            with _quoted_safely():
                found = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt as stop:
            notes = "".join(f"; {note}" for note in getattr(stop, "__notes__", ()))  # such as what is charged
            echo(f"tinct: interrupted; no file was left half-written{notes}", err=True)
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
    help="Provably optimal differential privacy: every result says in which sense no private mechanism is better.",
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
app.command("describe", epilog=describe.EXAMPLES)(describe.describe)
app.command("check", epilog=check.EXAMPLES)(check.check)
app.command("design", epilog=design.EXAMPLES)(design.design)
app.command("verify", epilog=verify.EXAMPLES)(verify.verify)
app.command("release", epilog=release.EXAMPLES)(release.release)
app.command("plot", epilog=plot.EXAMPLES)(plot.plot)
app.command("studio", epilog=studio.EXAMPLES)(studio.studio)
app.command("bench", epilog=bench.EXAMPLES)(bench.bench)
app.add_typer(local.app, name="local")
app.add_typer(budget.app, name="budget")
flow(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        echo(f"tinct {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[  # handled by its callback
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command: 0 fine, 1 a check failed, 2 bad input, 130 interrupted."""
    sift_warnings()
    try:
        app()
    except TinctError as error:
        words = in_options(error, options_of(get_command(app), sys.argv[1:]))
        if "--json" in sys.argv[1:]:
            echo_json(error_object(error, words), err=True)
            sys.exit(BAD_INPUT)
        # further lines, such as the place in a question, stay indented: none can pass for a line of ours
        for line in f"tinct: {words}".split("\n    "):
            echo(line if line.startswith("tinct: ") else f"    {line}", err=True, color=typer.colors.RED)
        sys.exit(BAD_INPUT)
    except MemoryError:
        echo("tinct: this needs more memory than the machine has", err=True, color=typer.colors.RED)
        sys.exit(BAD_INPUT)
    except Exception:  # a bug, which may quote anything: each line is marked, so that none passes for another's
        for line in traceback.format_exc().rstrip("\n").split("\n"):
            echo(f"| {line}", err=True)
        sys.exit(FAILED)
