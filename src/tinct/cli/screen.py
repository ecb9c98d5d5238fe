"""Colours and tables on the terminal, through the same sieve as plain lines (``printing``).

Both classes are Rich's own, which clean what they are given before it is laid out. Text in square brackets is still
markup: what others wrote needs ``escape`` besides.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich import console, table

from tinct.cli.printing import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
