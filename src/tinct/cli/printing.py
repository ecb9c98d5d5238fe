"""The only way from a command to the terminal.

Labels, file names, questions and ledgers are written by others. Printed as they are, their control characters would
move the cursor, fill the clipboard, or make one line look like two, and a bidirectional override would turn digits
round. So everything is printed through this module: one call is one line, without control characters. ``screen``
does the same for tables and colours. A test reads the source of every command and fails if one prints in another way.
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

if TYPE_CHECKING:
    from collections.abc import Iterator

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
