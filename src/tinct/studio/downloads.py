"""Files for the browser to save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import no_update

from tinct._files import write_sheet
from tinct.errors import TinctError
from tinct.studio import parts
from tinct.studio.uploads import written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_TYPES = {".json": "application/json", ".csv": "text/csv", ".svg": "image/svg+xml", ".py": "text/x-python"}


def download(name: str, content: str) -> dict[str, Any]:
    """A text file in the form that the page's download takes."""
    ending = name[name.rindex(".") :]
    return {"filename": name, "content": content, "type": _TYPES[ending], "base64": False}


def sheet(name: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> dict[str, Any]:
    """A CSV file, its cells guarded against spreadsheets."""
    return download(name, written(name, lambda path: write_sheet(path, header, rows)))


def or_sentence(make: Callable[[], dict[str, Any]] | None) -> tuple[Any, Any]:
    """A file and an unchanged message; or no file, and the sentence that says why."""
    try:
        return (no_update if make is None else make()), no_update
    except TinctError as error:
        return no_update, parts.alarm(str(error))
