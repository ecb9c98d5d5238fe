"""Rows of the table: what was measured, against what, and whether the goal was met."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison: what, how long it took, what it is compared with, and the goal for the ratio."""

    what: str
    measured: str
    against: str
    ratio: str
    goal: str
    met: bool


def slower(what: str, mine: float, against: str, other: float, goal: float) -> Row:
    """How many times as long ours takes; the goal is at most."""
    ratio = mine / other
    return Row(what, shown(mine), f"{against}: {shown(other)}", f"{ratio:.2f}×", f"≤ {goal:g}×", ratio <= goal)


def faster(what: str, mine: float, against: str, other: float, goal: float) -> Row:
    """How many times as fast ours is; the goal is at least."""
    ratio = other / mine
    return Row(what, shown(mine), f"{against}: {shown(other)}", f"{ratio:,.0f}× faster", f"≥ {goal:,g}×", ratio >= goal)


def shown(value: float) -> str:
    """A time in seconds or milliseconds."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"
