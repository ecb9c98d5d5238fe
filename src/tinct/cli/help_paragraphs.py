"""Help texts: a paragraph of a docstring is one line, which the terminal breaks where it is full."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def flow(app: typer.Typer) -> None:
    """Join the lines of each paragraph, for every command and group of commands: Typer joins those of the first."""
    for command in app.registered_commands:
        text = inspect.getdoc(command.callback) or ""
        command.help = "\n\n".join(" ".join(part.split("\n")) for part in text.split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            flow(group.typer_instance)
