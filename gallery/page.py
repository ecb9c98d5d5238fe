"""The page of the gallery: every exhibit with its picture and its two sentences."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from gallery import boundaries, colorings, error_regions, extremal, local_model, rainbows
from gallery.exhibits import PAPERS

if TYPE_CHECKING:
    from gallery.exhibits import Exhibit

_LOCAL = [*local_model.EXHIBITS, *extremal.EXHIBITS, *error_regions.EXHIBITS]
EXHIBITS: list[Exhibit] = [*colorings.EXHIBITS, *boundaries.EXHIBITS, *rainbows.EXHIBITS, *_LOCAL]
_WIDTH = 110
_HEAD = f"""# Gallery

All {len(EXHIBITS)} figures of the five papers that tinct grew from, computed again by the library. Diagrams became
mechanisms, curves are drawn from the corrected formulas ([theory §10](../theory.md#10-corrections-to-the-papers)).
Where a counterpart has more than the figure, or other data, a note says what and why. Where a figure, or the formula
behind it, is wrong in the paper, a warning says so, and both are shown if both can be drawn. `make gallery` draws
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
        f"![{exhibit.title}]({light}#only-light){{ .wide }}",
        f"![{exhibit.title}]({dark}#only-dark){{ .wide }}\n",
        f"{_wrapped(exhibit.text)}\n",
    ]
    if exhibit.differs:
        lines += ['!!! note "Drawn differently"', f"{_wrapped(exhibit.differs, '    ')}\n"]
    if exhibit.wrong:
        lines += ['!!! warning "In the paper"', f"{_wrapped(exhibit.wrong, '    ')}\n"]
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> str:
    """Prose in lines of which a change shows what it changed."""
    return textwrap.fill(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
