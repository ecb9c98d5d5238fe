"""The page of the gallery: every exhibit with its picture and its two sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallery import boundaries, colorings, extremal, rainbows
from gallery.exhibits import PAPERS

if TYPE_CHECKING:
    from gallery.exhibits import Exhibit

EXHIBITS: list[Exhibit] = [*colorings.EXHIBITS, *boundaries.EXHIBITS, *rainbows.EXHIBITS, *extremal.EXHIBITS]
_HEAD = """# Gallery

The figures of the five papers that tinct grew from, computed again by the library. Diagrams became mechanisms, curves
are drawn from the corrected formulas ([theory §10](../theory.md#10-corrections-to-the-papers)). Where a figure, or the
formula behind it, is wrong in the paper, this page says so, and shows both if both can be drawn. `make gallery` draws
everything again.
"""


def file_names(exhibit: Exhibit) -> tuple[str, str]:
    """The names of the light and the dark picture."""
    return f"{exhibit.name}.svg", f"{exhibit.name}-dark.svg"


def page() -> str:
    """The whole page, as Markdown."""
    parts = [_HEAD]
    for paper, title in PAPERS.items():
        parts.append(f"## {title}\n")
        parts += [_section(exhibit) for exhibit in EXHIBITS if exhibit.paper == paper]
    return "\n".join(parts)


def _section(exhibit: Exhibit) -> str:
    light, dark = file_names(exhibit)
    lines = [
        f"### Figure {exhibit.number}: {exhibit.title} {{ #{exhibit.name} }}\n",
        f"![{exhibit.title}]({light}#only-light)",
        f"![{exhibit.title}]({dark}#only-dark)\n",
        f"{exhibit.text}\n",
    ]
    if exhibit.wrong:
        lines += ['!!! warning "In the paper"', f"    {exhibit.wrong}\n"]
    return "\n".join(lines)
