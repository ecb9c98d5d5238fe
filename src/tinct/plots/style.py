"""One visual language for every figure: colours, type and sizes, light and dark.

The hues are those of Okabe and Ito (2008), which colour-blind readers can tell apart; the dark theme has lighter ones
of the same kind. Nothing here changes Matplotlib's settings for anybody else: rules hold only while a figure is drawn.
"""

from __future__ import annotations

import math
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.privacy import GaussianDP, Privacy, SuitablePair

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PANEL = (6.4, 4.2)  # inches, of a figure with one panel
WIDE = (10.4, 4.2)  # with two
LEAST_CONTRAST = 4.5  # of text, as the Web Content Accessibility Guidelines ask

_LOCK = threading.RLock()  # Matplotlib's settings are shared by all threads
_WORDS = {"yes": "blue", "true": "blue", "no": "red", "false": "red", "violet": "purple", "gray": "grey"}
_MACHINE = ("backend", "date.epoch", "docstring", "figure.max", "interactive", "savefig.directory", "timezone", "tool")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST = 24


@dataclass(frozen=True)
class Theme:
    """The colours of a figure. ``hues`` are for answers and curves, in the order in which they are given out."""

    background: str
    text: str
    muted: str
    line: str
    grid: str
    hues: dict[str, str]

    def hue(self, number: int) -> str:
        """The hue for the curve with this number; beyond the last, tints of the first ones."""
        chosen = list(self.hues.values())[number % len(self.hues)]
        return mixed(chosen, self.background, 0.45 * min(number // len(self.hues), 1))

    def colors(self, outputs: Sequence[Any]) -> list[str]:
        """A colour for each answer: its own if it is called like one, yes and no always the same, others in order."""
        wanted = [_WORDS.get(str(output).lower(), str(output).lower()) for output in outputs]
        named = {name for name in wanted if name in self.hues}
        free = [name for name in self.hues if name not in named]
        if len(named) < len([name for name in wanted if name in self.hues]):
            return [self.hue(at) for at in range(len(outputs))]  # two answers with one name: better none by name
        rest = iter(range(len(outputs)))
        chosen = []
        for name in wanted:
            if name in self.hues:
                chosen.append(self.hues[name])
            else:
                at = next(rest)
                chosen.append(self.hues[free[at]] if at < len(free) else self.hue(at + len(self.hues)))
        return chosen

    def readable(self, color: str) -> str:
        """The colour for text: drawn towards that of all text until it stands out from the background."""
        share = 0.0
        while contrast(mixed(color, self.text, share), self.background) < LEAST_CONTRAST and share < 1.0:
            share += 0.05
        return mixed(color, self.text, min(share, 1.0))


LIGHT = Theme(
    background="#ffffff",
    text="#1f2328",
    muted="#5b6270",
    line="#b4bac4",
    grid="#eceef1",
    hues={
        "blue": "#0072b2",
        "red": "#d55e00",
        "green": "#009e73",
        "orange": "#e69f00",
        "purple": "#cc79a7",
        "sky": "#56b4e9",
        "grey": "#8a8f98",
    },
)
DARK = Theme(
    background="#14171c",
    text="#e8eaed",
    muted="#a2a9b4",
    line="#565d68",
    grid="#262b33",
    hues={
        "blue": "#56b4e9",
        "red": "#e8762d",
        "green": "#22b98d",
        "orange": "#f2b632",
        "purple": "#d98fbd",
        "sky": "#2f86c4",
        "grey": "#8f96a1",
    },
)


def theme(dark: object) -> Theme:
    """The light or the dark theme."""
    if not isinstance(dark, bool):
        raise ParameterError(f"dark must be True or False, got {dark!r:.80}")
    return DARK if dark else LIGHT


@contextmanager
def rules(colors: Theme) -> Iterator[None]:
    """Matplotlib's own defaults with ours on top, whatever somebody has set, until the end of the block."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {n: v for n, v in mpl.rcParamsDefault.items() if not n.startswith(_MACHINE)}
    settings |= {
        "axes.axisbelow": True,
        "axes.edgecolor": colors.line,
        "axes.facecolor": colors.background,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.labelcolor": colors.muted,
        "axes.labelsize": 9.5,
        "axes.linewidth": 0.8,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": colors.text,
        "axes.titlelocation": "left",
        "axes.titlesize": 10.5,
        "axes.unicode_minus": True,
        "figure.facecolor": colors.background,
        "font.family": "DejaVu Sans",  # comes with Matplotlib, so figures are the same everywhere
        "font.size": 9.5,
        "grid.color": colors.grid,
        "grid.linewidth": 0.8,
        "lines.linewidth": 1.8,
        "lines.markersize": 4.0,
        "lines.solid_capstyle": "round",
        "savefig.dpi": 160,
        "savefig.facecolor": colors.background,
        "svg.hashsalt": "tinct",  # else identifiers differ from run to run
        "text.color": colors.text,
        "text.parse_math": False,  # names may hold a dollar sign
        "xtick.color": colors.line,
        "xtick.labelcolor": colors.muted,
        "xtick.labelsize": 9,
        "ytick.color": colors.line,
        "ytick.labelcolor": colors.muted,
        "ytick.labelsize": 9,
    }
    with _LOCK, mpl.rc_context(settings):
        yield


# colours


def mixed(one: str, other: str, share: float) -> str:
    """A colour with this share of the other one in it.

    >>> mixed("#000000", "#ffffff", 0.5)
    '#808080'
    """
    parts = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21 (Web Content Accessibility Guidelines 2.1).

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(color: str) -> list[int]:
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]


# words


def clean(label: object, longest: int = _LONGEST) -> str:
    """A name as a figure shows it: printable, on one line, not too long.

    >>> clean((0, 1, 1)), clean("a name that goes on for ever and ever")
    ('011', 'a name that goes on for…')
    """
    digits = isinstance(label, tuple) and label and all(type(part) is int and 0 <= part < 10 for part in label)
    text = ("" if digits else ", ").join(map(str, label)) if isinstance(label, tuple) else str(label)
    shown = "".join(character if character.isprintable() else "·" for character in text)
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"


def order_text(order: Sequence[Any]) -> str:
    """A colour, or an order of preference, as words.

    >>> order_text(("a", "b")), order_text("yes")
    ('a > b', 'yes')
    """
    return clean(" > ".join(map(str, order)), 32) if isinstance(order, tuple) else clean(order)


def privacy_text(privacy: object) -> str:
    """A privacy as a few words.

    >>> privacy_text(Privacy("ln 2", 0.1)), privacy_text(None)
    ('ε = ln 2, δ = 0.1', 'privacy not stated')
    """
    if isinstance(privacy, Privacy):
        epsilon = str(privacy.exact_epsilon) if privacy.exact_epsilon.is_log else ""
        shown = epsilon if 0 < len(epsilon) <= 10 else f"{privacy.epsilon:.4g}"
        return f"ε = {shown}, δ = {privacy.delta:.4g}" if privacy.delta else f"ε = {shown}"
    if isinstance(privacy, GaussianDP):
        return f"μ = {privacy.mu:.4g} (Gaussian)"
    if privacy is None:
        return "privacy not stated"
    return "a trade-off function" if isinstance(privacy, SuitablePair) else "a budget for each edge"


def power_of_ten(value: float, _: object = None) -> str:
    """A tick of a logarithmic axis.

    >>> power_of_ten(0.001), power_of_ten(1.0), power_of_ten(100.0)
    ('0.001', '1', '100')
    """
    if not value > 0:
        return ""
    exponent = round(math.log10(value))
    return f"{value:g}" if -3 <= exponent <= 3 else "10" + str(exponent).translate(_SUPERSCRIPTS)
