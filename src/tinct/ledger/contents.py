"""What a ledger holds, as values: scopes, planned costs, requests, entries."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from tinct.errors import ParameterError
from tinct.ledger.costs import cost_delta, cost_epsilon, exact_text, shown
from tinct.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from fractions import Fraction

    from tinct.ledger.protection import Protection
    from tinct.numbers.amounts import AmountLike, NumberLike

    Points = tuple[tuple[Fraction, Fraction], ...]


MAX_NAME = 200
MAX_TEXT = 100_000
MAX_GROUPS = 10_000
MAX_POINTS = 1000
_DIGEST = "2:"


@dataclass(frozen=True)
class Spending:
    """An amount of privacy: an ε and a δ."""

    epsilon: Fraction
    delta: Fraction

    def __str__(self) -> str:
        return f"ε = {shown(self.epsilon)}" + (f", δ = {shown(self.delta)}" if self.delta else "")

    @property
    def said(self) -> Remark:
        """The amount as a text that carries its two exact numbers."""
        return Remark(str(self), **self.to_dict())

    def to_dict(self) -> dict[str, str]:
        """The amount as a JSON object."""
        return {"epsilon": exact_text(self.epsilon), "delta": exact_text(self.delta)}


class State(StrEnum):
    """The state of a charge. All three have the same length in the file."""

    CHARGED = "c"  # paid for; the answer is not drawn yet, or was drawn and could not be stored
    ANSWERED = "a"
    LOST = "l"  # drawn, and did not fit the room that was reserved for it; final, so that nobody can draw again

    @property
    def word(self) -> str:
        """The state in one word."""
        return self.name.lower()


@dataclass(frozen=True)
class Entry:
    """One charge as it was recorded.

    ``answer`` is None until the state is ``answered``. ``room`` is the number of bytes reserved for it. ``repeated``
    says that the request was charged before and nothing was charged now; ``older`` that an older version of tinct
    recorded it.
    """

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
    state: State = State.ANSWERED
    room: int = 0
    repeated: bool = False
    older: bool = False

    @property
    def answered(self) -> bool:
        """Whether the answer is recorded."""
        return self.state is State.ANSWERED


@dataclass(frozen=True)
class Scope:
    """A budget in a ledger, for a dataset or a group of people.

    ``written`` is ε as the owner wrote it; ``epsilon`` is the rational kept for it, the same or just below.
    ``protects`` says who is one person and what is public about them; None for a scope of an older version of tinct,
    which did not record it.
    """

    name: str
    epsilon: Fraction
    delta: Fraction
    written: str
    composition: str
    details: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    protects: Protection | None = None


ProfileLike: TypeAlias = "Iterable[tuple[AmountLike, NumberLike]]"  # points (ε, δ) that all hold at once
PlanLike: TypeAlias = "Iterable[Planned]"


@dataclass(frozen=True, init=False)
class Planned:
    """A cost that may be charged a number of times: (ε, δ), or several such points that all hold at once.

    >>> Planned("0.1", times=50).points
    ((Fraction(1, 10), Fraction(0, 1)),)
    """

    points: Points
    times: int

    def __init__(
        self,
        epsilon: AmountLike | None = None,
        delta: NumberLike = 0,
        *,
        times: int,
        profile: ProfileLike | None = None,
    ) -> None:
        if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= 10**9:
            raise ParameterError.of("times", "a whole number from 1 to 10^9", times)
        if epsilon is not None and profile is None:
            points: Points = ((cost_epsilon(epsilon), cost_delta(delta)),)
        elif epsilon is None and profile is not None:
            points = profile_points(profile)
        else:
            raise ParameterError("a planned cost needs epsilon (and delta), or a profile, and not both")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "times", times)

    def __repr__(self) -> str:
        points = [tuple(map(exact_text, point)) for point in self.points]
        cost = repr(points[0][0]) if len(points) == 1 and points[0][1] == "0" else f"profile={points}"
        return f"Planned({cost}, times={self.times})"


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
    room: int = 0
    protects: Protection | None = None


def profile_points(profile: ProfileLike) -> Points:
    """Points (ε, δ) of a privacy profile, by increasing ε."""
    try:
        pairs = [(epsilon, delta) for epsilon, delta in profile]
    except (TypeError, ValueError):
        raise ParameterError.of("profile", "pairs of epsilon and delta", profile) from None
    if not 1 <= len(pairs) <= MAX_POINTS:
        raise ParameterError.of("profile", f"1 to {MAX_POINTS:,} points", ..., f", got {len(pairs):,}")
    return tuple(sorted((cost_epsilon(epsilon), cost_delta(delta)) for epsilon, delta in pairs))


def name_of(given: object, what: str) -> str:
    """A name: short printable text."""
    if not isinstance(given, str) or not 1 <= len(given) <= MAX_NAME or not given.isprintable():
        raise ParameterError.of(what, f"printable text of 1 to {MAX_NAME} characters", given)
    return given


def text_of(given: object, what: str) -> str:
    """A text of any lines, which a database can hold."""
    if not isinstance(given, str) or len(given) > MAX_TEXT:
        raise ParameterError.of(what, f"text of at most {MAX_TEXT:,} characters", given)
    if "\0" in given or (not given.isascii() and any("\ud800" <= letter <= "\udfff" for letter in given)):
        raise ParameterError.of(what, "text without the character NUL and without half a surrogate pair")
    return given


def groups_of(given: str | Iterable[str]) -> tuple[str, ...]:
    """The names of groups, sorted: one text or several."""
    if isinstance(given, str):
        return (name_of(given, "group"),)
    try:
        names = sorted({name_of(name, "group") for name in given})
    except TypeError:
        raise ParameterError.of("group", "a name or a list of names", given) from None
    if not 1 <= len(names) <= MAX_GROUPS:
        raise ParameterError(f"one charge may cover 1 to {MAX_GROUPS:,} groups, got {len(names):,}")
    return tuple(names)


def canonical(value: object) -> str:
    """The one JSON text of a value; NaN and infinities are a ValueError."""
    return json.dumps(value, allow_nan=False, sort_keys=True, separators=(",", ":"))


def checksum(*values: object) -> str:
    """SHA-256 of the values' JSON text."""
    return hashlib.sha256(canonical(values).encode()).hexdigest()


def request_digest(public: Mapping[str, Any]) -> str:
    """The identity of a request, by which its repetition is known; the prefix says how it was made."""
    return f"{_DIGEST}{checksum(public)}"


def is_older(digest: str) -> bool:
    """Whether an older version of tinct made this digest: it can be compared with no digest of today."""
    return not digest.startswith(_DIGEST)


def points_json(points: Points) -> list[list[str]]:
    """Points with their exact texts."""
    return [[exact_text(epsilon), exact_text(delta)] for epsilon, delta in points]


COLUMNS = (
    "number", "time", "who", "scope", "partition", "groups", "question", "epsilon", "delta", "state", "answer",
    "request",
)  # fmt: skip


def document(entries: Iterable[Entry]) -> dict[str, Any]:
    """All entries as plain values (schema tinct/history@1)."""
    return {"schema": "tinct/history@1", "entries": [_fields(entry) for entry in entries]}


def cells(entry: Entry) -> list[str]:
    """One entry along the columns, as text."""
    fields = _fields(entry) | {"partition": entry.partition or "", "groups": "; ".join(entry.groups)}
    return [
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in (fields[column] for column in COLUMNS)
    ]


def _fields(entry: Entry) -> dict[str, Any]:
    exact = {
        "time": entry.time.isoformat(),
        "groups": list(entry.groups),
        "epsilon": exact_text(entry.epsilon),
        "delta": exact_text(entry.delta),
        "state": entry.state.word,
    }
    return {column: exact[column] if column in exact else getattr(entry, column) for column in COLUMNS}
