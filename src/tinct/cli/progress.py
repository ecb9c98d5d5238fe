"""Progress on the terminal, for work whose length is not known beforehand."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def counted(what: str, things: str) -> Iterator[Callable[[int], None]]:
    """A counter of things done; silent when nobody looks."""
    if not sys.stderr.isatty():
        yield lambda count: None  # noqa: ARG005
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield lambda count: status.update(f"{what}: {count:,} {things}")
