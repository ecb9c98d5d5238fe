"""The command's entry: what it offers, and how errors end it."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
import traceback
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from tinct import __version__
from tinct.cli import ask, bench, budget, check, describe, design, local, plot, release, studio, verify
from tinct.cli.printing import echo, echo_json, error_object, printable, sift_warnings
from tinct.cli.shared_options import examples
from tinct.errors import ParameterError, TinctError, Way, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tinct.errors import Parameter


FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


@contextmanager
def _quoted_safely() -> Iterator[None]:
    """Make Typer's own errors printable: they quote the command line, with file names that others may have chosen.

    For programs they are errors like ours, and become the same object.
    """
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):
            if _for_programs() and not type(error).__name__.startswith("NoArgs"):
                name = getattr(getattr(error, "param", None), "name", None)
                raise ParameterError(error.format_message(), parameter=name) from None
            for name, value in list(vars(error).items()):
                if isinstance(value, str):
                    setattr(error, name, printable(value))
        raise


def _for_programs() -> bool:
    return "--json" in sys.argv[1:]


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


def _flow(app: typer.Typer) -> None:
    """Make each paragraph of a help text one line, which the terminal breaks; Typer does so for the first only."""
    for command in app.registered_commands:
        text = inspect.getdoc(command.callback) or ""
        command.help = "\n\n".join(" ".join(part.split("\n")) for part in text.split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            _flow(group.typer_instance)


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
_flow(app)


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
        if _for_programs():
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


# what the library says as one does in Python, in the words of the command that was run
#
# Errors carry the parameters they speak of, so nothing here looks into a sentence: ``neighbors='replace'`` becomes
# ``--neighbors replace`` if the command has that option, and what it has not keeps its name. Where an error names a
# function, it also says which command does the same (``Way``).


_ELSEWHERE = {"n": "people"}  # what questions call n is the number of people


def options_of(command: Any, words: Sequence[str]) -> dict[str, str]:
    """The parameters that the command in these words has options for, and what each is called there."""
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    options = {each.name: word for each in command.params for word in each.opts if word.startswith("--")}
    return options | {name: options[own] for name, own in _ELSEWHERE.items() if own in options}


def in_options(error: TinctError, options: Mapping[str, str]) -> str:
    """The sentence of an error in these options; a bare name in a sentence about a file is a field of the file."""

    def called(parameter: Parameter | Way) -> str:
        if isinstance(parameter, Way):
            return parameter.command
        option = options.get(parameter.name)
        if option is None or (error.path is not None and parameter.value is ...):
            return str(parameter)
        if parameter.value is ... or parameter.value is True:
            return option
        return f"{option} {shlex.quote(_spelled(parameter.value))}"

    return in_words(error, called)


def _spelled(value: Any) -> str:
    """A value as options take it."""
    from tinct.ledger import Planned

    if isinstance(value, Planned):
        epsilon, delta = value.points[0]
        return f"{value.times} x {float(epsilon):g}" + (f", {float(delta):g}" if delta else "")
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_spelled(each)}" for key, each in value.items())
    return ",".join(map(_spelled, value)) if isinstance(value, list) else str(value)
