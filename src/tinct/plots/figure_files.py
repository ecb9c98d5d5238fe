"""Figures as files: PNG, SVG or PDF, the same bytes every time, written in full or not at all."""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING, Any

from tinct._files import suffix_of, write_atomically
from tinct.errors import FileError, ParameterError
from tinct.plots.style import DARK, LIGHT, rules

if TYPE_CHECKING:
    from tinct._files import FilePath

# what Matplotlib would add on its own: the time, its version
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
FORMATS = tuple(_METADATA)
_COORDINATES = re.compile(r' (?:d|x|y)="[^"]*"|translate\([^)]*\)')  # but no scale, which has to be exact
_DECIMAL = re.compile(r"-?\d+\.\d+")
_AROUND_LETTERS = re.compile(r"\s*([MLQCz])\s*")
_INDENTATION = re.compile(r"\n\s*")
_BLANK = re.compile(r'<use xlink:href="#DejaVuSans-(?:\w+-)?3"[^>]*/>\n')  # a space draws nothing
_NUMBERED = re.compile(r' id="[A-Za-z0-9.]+_\d+"')  # Matplotlib numbers every part; nothing refers to these names


def save(figure: Any, path: FilePath) -> None:
    """Write a figure to a file that ends in .png, .svg or .pdf.

    The file has no date and no random identifiers: the same figure gives the same bytes.

    >>> save("a figure", "figure.txt")
    Traceback (most recent call last):
    ...
    tinct.errors.FileError: figure.txt: the name must end in .png, .svg, .pdf, got '.txt'
    """
    suffix = require_target(path)
    if not hasattr(figure, "savefig"):
        raise ParameterError(f"a Matplotlib figure is needed, got {figure!r:.80}")
    write_atomically(path, render(figure, suffix))


def render(figure: Any, suffix: str) -> bytes:
    """The bytes of the file, for one of the suffixes .png, .svg and .pdf."""
    if suffix not in FORMATS:
        raise ParameterError(f"a format must be one of {', '.join(FORMATS)}, got {suffix!r:.80}")
    dark = figure.get_facecolor()[:3] == _rgb(DARK.background)
    buffer = io.BytesIO()
    with rules(DARK if dark else LIGHT):
        figure.savefig(buffer, format=suffix[1:], metadata=_METADATA[suffix])
    data = buffer.getvalue()
    return _shorter(data) if suffix == ".svg" else data


def require_target(path: FilePath) -> str:
    """The suffix of a path that a figure can be written to; an error before anything is drawn if there is none."""
    suffix = suffix_of(path, FORMATS)
    folder = os.path.dirname(os.fspath(path)) or "."
    if not os.path.isdir(folder):
        raise FileError(f"the folder {folder} does not exist: create it first", path=path)
    if os.path.isdir(path):
        raise FileError("this is a folder, not a file", path=path)
    return suffix


def _rgb(color: str) -> tuple[float, ...]:
    return tuple(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))


def _shorter(data: bytes) -> bytes:
    """The same drawing without indentation and blanks, coordinates to a hundredth of a point: finer than screens show.

    Letters are outlines that are drawn by name, thousands of times, so a short name counts.
    """
    text = _NUMBERED.sub("", _COORDINATES.sub(_rounded, data.decode()))
    return _BLANK.sub("", _INDENTATION.sub("\n", text)).replace("DejaVuSans", "dv").encode()


def _rounded(found: re.Match[str]) -> str:
    short = _DECIMAL.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), found[0])
    return _AROUND_LETTERS.sub(r"\1", short)
