"""``tinct studio``: a local page on which mechanisms are designed by hand."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from tinct.cli.printing import echo
from tinct.cli.shared_options import examples

EXAMPLES = examples(
    "tinct studio",
    "tinct studio --port 8050 --no-browser",
    "tinct studio --ledger budget.db",
)


def studio(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes any that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    ledger: Annotated[
        str | None, typer.Option(help="Show this ledger: a file, or a postgresql:// address.", show_default=False)
    ] = None,
) -> None:
    """Open a page to colour graphs, drag ε, and watch the optimal mechanism change.

    The first line of the output is the address. It works on this machine only and holds a secret token: whoever has it
    can use the page. Ctrl-C ends it.
    """
    from tinct.studio import open_studio

    page = open_studio(port, ledger)
    opening = page.opening()

    def ready(url: str) -> None:
        echo(url)  # alone on the first line, so that scripts can read it; echo flushes
        echo("tinct studio is running. Ctrl-C ends it.", err=True, dim=True)
        if browser:
            opening.start()

    try:
        with suppress(KeyboardInterrupt):
            page.serve(ready)
    finally:
        opening.close()
    echo(err=True)
    echo("tinct studio has ended.", err=True, dim=True)
