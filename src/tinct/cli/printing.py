"""The only way from a command to the terminal.

Labels, file names, questions and ledgers are written by others. Printed as they are, their control characters would
move the cursor, fill the clipboard, or make one line look like two, and a bidirectional override would turn digits
round. So everything is printed through this module: one call is one line, without control characters; ``Screen`` and
``Table`` do the same for colours and tables. A test reads the source of every command and fails if one prints in
another way.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich import console, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinct.errors import TinctError


REPLACED = "�"


def printable(text: str) -> str:
    r"""The text without what could steer a terminal: control, format and separating characters, also line ends.

    >>> printable("a\x1b[31mb\u202ec\nd")
    'a�[31mb�c�d'
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def echo(text: object = "", *, err: bool = False, dim: bool | None = None, color: str | None = None) -> None:
    """Print one line, at once."""
    typer.secho(printable(str(text)), err=err, dim=dim, fg=color)


def asked(question: str) -> str:
    """What is typed on the terminal behind a question; the end of the input is the end of the command."""
    typer.echo(printable(question), nl=False)
    line = sys.stdin.readline()
    if not line:
        typer.echo()
        raise typer.Abort
    return line.strip()


def json_text(value: object, indent: int | None = 2) -> str:
    r"""A value as JSON that keeps letters of all languages, and has every other character escaped.

    >>> print(json_text({"ε": "\x9b31m\u202e"}, None))
    {"ε": "\u009b31m\u202e"}
    """
    return _escaped(json.dumps(value, ensure_ascii=False, indent=indent))


def echo_json(value: object, indent: int | None = 2, *, err: bool = False) -> None:
    """Print a value as JSON."""
    typer.echo(json_text(value, indent), err=err)


def error_object(error: TinctError, words: str) -> dict[str, Any]:
    """An error for programs: its kind, its sentence, and what it is about; never what was given.

    >>> from tinct import ParameterError
    >>> error_object(ParameterError.of("epsilon", "above 0", 0), "--epsilon must be above 0, got 0")["parameter"]
    'epsilon'
    """
    return {
        "schema": "tinct/error@1",
        "error": type(error).__name__,
        "message": words,
        "parameter": getattr(error, "parameter", None),
        "expected": getattr(error, "expected", None),
        "path": None if error.path is None else str(error.path),
        "request": getattr(error, "request", None),
        "facts": getattr(error, "facts", {}),
    }


def pour_json(part: str) -> None:
    """Print a part of a JSON text as it comes, for texts that are never in memory as a whole."""
    sys.stdout.write(_escaped(part))  # echo would flush every line


def sift_warnings() -> None:
    """Send the warnings of Python and of libraries through the sieve too: they may quote what they warn about."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        echo(f"tinct: {category.__name__}: {message}", err=True)

    warnings.showwarning = show


@contextmanager
def caught(kind: type[Warning]) -> Iterator[list[Any]]:
    """Warnings of this kind, for a command that says the same in its own words; those of other kinds pass."""
    found: list[Any] = []
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", kind)
        yield found
    for warning in heard:
        if issubclass(warning.category, kind):
            found.append(warning.message)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if unicodedata.category(character) == "Zs" else REPLACED  # spaces of other widths are harmless


def _escaped(text: str) -> str:
    """Line ends stay: inside of its strings JSON has none."""
    return re.sub(r"[^ -~\n]", _escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]


# colours and tables on the terminal, through the same sieve as plain lines
#
# Both classes are Rich's own, which clean what they are given before it is laid out. Text in square brackets is still
# markup: what others wrote needs ``escape`` besides.


class Screen(console.Console):
    """A console on which one call prints one line, or one table."""

    def __init__(self, *, highlight: bool = False, soft_wrap: bool = False, stderr: bool = False) -> None:
        super().__init__(highlight=highlight, soft_wrap=soft_wrap, stderr=stderr)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print text with markup, or a table."""
        super().print(*map(_clean, objects), **options)


class Table(table.Table):
    """A table whose cells cannot steer the terminal."""

    def add_column(self, *header: str, **options: Any) -> None:  # type: ignore[override] # narrower on purpose
        """Add a column, whose header may have several lines."""
        super().add_column("\n".join(map(printable, header)), **options)

    def add_row(self, *cells: str | None, **options: Any) -> None:  # type: ignore[override] # narrower on purpose
        """Add a row of cells."""
        super().add_row(*map(_clean, cells), **options)


def _clean(given: Any) -> Any:
    return printable(given) if isinstance(given, str) else given


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Show a message while the work runs."""
    with counted(what, ""):
        yield


@contextmanager
def counted(what: str, things: str) -> Iterator[Callable[[int], None]]:
    """A counter of finished things, if their number is not known beforehand."""
    if not sys.stderr.isatty():
        yield lambda count: None  # noqa: ARG005
        return
    from rich.markup import escape

    shown = escape(printable(what))
    with Screen(stderr=True).status(shown) as status:
        yield lambda count: status.update(f"{shown}: {count:,} {things}")


@contextmanager
def measured(what: str) -> Iterator[Callable[[float], None] | None]:
    """A progress bar for work that may report its finished share; until it does, the bar only shows that it runs."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(transient=True, console=Screen(stderr=True)) as bar:
        task = bar.add_task(escape(printable(what)), total=None)
        yield lambda share: bar.update(task, completed=share, total=1.0)


# what an answer cost and what is left, in one line


def cost_line(
    cost: str,
    request: str | None,
    left: str | None,
    *,
    repeated: bool = False,
    completed: bool = False,
    older: bool = False,
    follows: bool = False,
) -> str:
    """The line for an answer that cost so much, under this request, with so much left; without a ledger, left is None.

    >>> cost_line("ε = 0.5", "poll", "ε = 0.5", repeated=True)
    'Cost: nothing, request poll was answered before. Left in the budget: ε = 0.5.'
    """
    if left is None:
        return f"Cost: {cost}, not charged to any ledger: costs of several answers about the same people add up."
    paid = f"{cost}, charged as request {request}"
    if repeated:
        paid = f"nothing, request {request} was answered before"
    if follows:
        paid = f"nothing, it follows from the recorded answer of request {request}"
    if older:
        paid = f"nothing, an older version of tinct answered request {request}"
    if completed:
        paid = f"nothing more, request {request} was charged before and is answered now"
    return f"Cost: {paid}. Left in the budget: {left}."
