"""What is shown on the terminal while something takes its time; nothing when nobody looks."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Show what is going on, for as long as it takes."""
    with counted(what, ""):
        yield


@contextmanager
def counted(what: str, things: str) -> Iterator[Callable[[int], None]]:
    """A counter of things done, of which nobody knows how many there will be."""
    if not sys.stderr.isatty():
        yield lambda count: None  # noqa: ARG005
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield lambda count: status.update(f"{what}: {count:,} {things}")


@contextmanager
def measured(what: str) -> Iterator[Callable[[float], None] | None]:
    """A bar for work that knows which share of it is done."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(transient=True, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)
