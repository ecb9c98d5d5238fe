"""What a ledger holds, as values: scopes, planned costs, requests, entries."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.ledger.amounts import cost_delta, cost_epsilon, exact_text, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from fractions import Fraction

    Points = tuple[tuple[Fraction, Fraction], ...]

MAX_NAME = 200
MAX_TEXT = 100_000
MAX_GROUPS = 10_000
MAX_POINTS = 1000


@dataclass(frozen=True)
class Spending:
    """An ε with a δ."""

    epsilon: Fraction
    delta: Fraction

    def __str__(self) -> str:
        return f"ε = {shown(self.epsilon)}" + (f", δ = {shown(self.delta)}" if self.delta else "")


@dataclass(frozen=True)
class Entry:
    """One charge as it was recorded. ``repeated`` says that it was there before, and that nothing was charged now."""

    number: int
    request: str
    time: datetime
    who: str
    question: str
    scope: str
    partition: str | None
    groups: tuple[str, ...]
    epsilon: Fraction
    delta: Fraction
    answer: Any
    repeated: bool = False


@dataclass(frozen=True)
class Scope:
    """Something that is protected, with a budget of its own: a data set, or a group of people.

    ``written`` is ε as the owner wrote it; ``epsilon`` is the rational kept for it, the same or just below.
    """

    name: str
    epsilon: Fraction
    delta: Fraction
    written: str
    composition: str
    details: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""


@dataclass(frozen=True, init=False)
class Planned:
    """A cost that may be charged a number of times: (ε, δ), or several such points that all hold at once.

    >>> Planned("0.1", times=50).points
    ((Fraction(1, 10), Fraction(0, 1)),)
    """

    points: Points
    times: int

    def __init__(self, epsilon: Any = None, delta: Any = 0, *, times: int, profile: Any = None) -> None:
        if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= 10**9:
            raise ParameterError(f"times must be a whole number from 1 to 10^9, got {times!r:.80}")
        if (epsilon is None) == (profile is None):
            raise ParameterError("a planned cost needs epsilon (and delta), or a profile, and not both")
        points = profile_points(profile) if profile is not None else ((cost_epsilon(epsilon), cost_delta(delta)),)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "times", times)


@dataclass(frozen=True)
class Charge:
    """A request to spend, checked and in exact terms."""

    request: str
    digest: str
    question: str
    scope: str
    partition: str
    groups: tuple[str, ...]
    epsilon: Fraction
    delta: Fraction
    points: Points
    who: str


def profile_points(profile: Any) -> Points:
    """Points (ε, δ) of a privacy profile, by increasing ε."""
    try:
        pairs = [(epsilon, delta) for epsilon, delta in profile]
    except (TypeError, ValueError):
        raise ParameterError(f"a profile must be pairs of epsilon and delta, got {profile!r:.80}") from None
    if not 1 <= len(pairs) <= MAX_POINTS:
        raise ParameterError(f"a profile must have 1 to {MAX_POINTS:,} points, got {len(pairs):,}")
    return tuple(sorted((cost_epsilon(epsilon), cost_delta(delta)) for epsilon, delta in pairs))


def name_of(given: Any, what: str) -> str:
    """A name: short printable text."""
    if not isinstance(given, str) or not 1 <= len(given) <= MAX_NAME or not given.isprintable():
        raise ParameterError(f"{what} must be printable text of 1 to {MAX_NAME} characters, got {given!r:.80}")
    return given


def text_of(given: Any, what: str) -> str:
    """A text of any lines, which a database can hold."""
    if not isinstance(given, str) or len(given) > MAX_TEXT:
        raise ParameterError(f"{what} must be text of at most {MAX_TEXT:,} characters, got {given!r:.80}")
    if "\0" in given or (not given.isascii() and any("\ud800" <= letter <= "\udfff" for letter in given)):
        raise ParameterError(f"{what} must not contain the character NUL or half a surrogate pair")
    return given


def groups_of(given: Any) -> tuple[str, ...]:
    """The names of groups, sorted: one text or several."""
    if isinstance(given, str):
        return (name_of(given, "group"),)
    try:
        names = sorted({name_of(name, "group") for name in given})
    except TypeError:
        raise ParameterError(f"group must be a name or a list of names, got {given!r:.80}") from None
    if not 1 <= len(names) <= MAX_GROUPS:
        raise ParameterError(f"one charge may cover 1 to {MAX_GROUPS:,} groups, got {len(names):,}")
    return tuple(names)


def canonical(value: Any) -> str:
    """The one JSON text of a value; NaN and infinities are a ValueError."""
    return json.dumps(value, allow_nan=False, sort_keys=True, separators=(",", ":"))


def checksum(*values: Any) -> str:
    """SHA-256 of the values' JSON text."""
    return hashlib.sha256(canonical(values).encode()).hexdigest()


def points_json(points: Points) -> list[list[str]]:
    """Points with their exact texts."""
    return [[exact_text(epsilon), exact_text(delta)] for epsilon, delta in points]
