"""Colours of the studio: the same themes as in figures, and the glow of a path that explains something."""

from __future__ import annotations

from tinct.plots.style import DARK, LIGHT, Theme

__all__ = ["DARK", "GLOW", "LIGHT", "Theme", "theme_of"]

GLOW = "#f0e442"  # Okabe and Ito's yellow, which no answer has


def theme_of(name: object) -> Theme:
    """The theme of that name; light for anything else."""
    return DARK if name == "dark" else LIGHT
