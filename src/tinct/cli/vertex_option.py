"""A vertex as ``--at`` takes it: as it stands in files, or as errors print it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from tinct.graphs.labels import from_repr, from_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tinct.graphs.labels import Vertex


def vertex_from(text: str, vertices: Sequence[Any]) -> Vertex:
    """The vertex that a text stands for: 57, north, [0, 1, 1] as in a file, or (0, 1, 1) as Python prints it.

    What is no vertex either way is returned as a file would have it.
    """
    found, printed = from_text(text), from_repr(text)
    if printed is None:
        return found
    with suppress(ValueError):  # a text in brackets may itself be the name of a vertex
        vertices.index(found)
        return found
    return printed
