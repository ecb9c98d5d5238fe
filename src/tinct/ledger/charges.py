"""Requests to spend, checked before the ledger is opened, and compared with the one that has used their id."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.ledger.contents import (
    Charge,
    Spending,
    groups_of,
    name_of,
    points_json,
    profile_points,
    request_digest,
    text_of,
)
from tinct.ledger.costs import cost_delta, cost_epsilon, exact_text
from tinct.ledger.stored_rows import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from tinct.ledger.contents import Entry, ProfileLike
    from tinct.ledger.protection import Protection
    from tinct.numbers.amounts import AmountLike, NumberLike


ROOM = 4096  # bytes reserved for an answer of which nothing else is known
MAX_ROOM = 2**28


def checked_charge(
    epsilon: AmountLike,
    delta: NumberLike,
    request: str | None,
    question: str,
    digest: str | None,
    scope: str,
    partition: str | None,
    group: str | Iterable[str] | None,
    who: str | None,
    profile: ProfileLike | None,
    room: int = ROOM,
    protects: Protection | None = None,
) -> Charge:
    """A charge in exact terms, with the digest of everything that must be the same when it is repeated."""
    if (partition is None) != (group is None):
        raise ParameterError("partition and group belong together: give both, or neither to charge everybody")
    cost = cost_epsilon(epsilon), cost_delta(delta)
    points = (cost,) if profile is None else profile_points(profile)
    if not any(known[0] <= cost[0] and known[1] <= cost[1] for known in points):
        raise ParameterError("a profile must have a point that implies epsilon and delta, the cost as one pair")
    groups = () if group is None else groups_of(group)
    if isinstance(room, bool) or not isinstance(room, int) or not 1 <= room <= MAX_ROOM:
        raise ParameterError.of("room", f"a number of bytes from 1 to {MAX_ROOM:,}", room)
    public = {
        "question": text_of(question, "question"),
        "epsilon": exact_text(cost[0]),
        "delta": exact_text(cost[1]),
        "profile": points_json(points),
        "scope": name_of(scope, "scope"),
        "partition": NOBODY if partition is None else name_of(partition, "partition"),
        "groups": groups,
        "digest": "" if digest is None else name_of(digest, "digest"),
    }
    return Charge(
        request=_fresh() if request is None else name_of(request, "request"),
        digest=request_digest(public),
        question=question,
        scope=scope,
        partition=NOBODY if partition is None else partition,
        groups=groups,
        epsilon=cost[0],
        delta=cost[1],
        points=points,
        who=user(who),
        room=room,
        protects=protects,
    )


def user(given: str | None) -> str:
    """Who asks: the name given, else the one under which the process runs."""
    if given is not None:
        return name_of(given, "who")
    try:
        return name_of(getpass.getuser(), "who")
    except (OSError, KeyError, ImportError, ParameterError):  # no user name in this environment
        return "unknown"


def _fresh() -> str:
    from tinct.exact.sampler import token

    return token()


_LONGEST = 200


def used_for_another(entry: Entry, charge: Charge, costs: set[Fraction]) -> ParameterError:
    """The error for a request id that belongs to another request.

    ``costs`` are the values of ε as which the charge would be recorded; none if they are not known.
    """
    pairs = {
        "scope": (repr(entry.scope), repr(charge.scope)),
        "group": (_groups(entry), _groups(charge)),
        "question": (repr(entry.question), repr(charge.question)),
    }
    if costs and (entry.epsilon not in costs or entry.delta != charge.delta):
        paid, now = (str(Spending(each.epsilon, each.delta)) for each in (entry, charge))
        pairs["cost"] = (paid, now)
    found = [f"its {what} ({_cut(then)} before, {_cut(now)} now)" for what, (then, now) in pairs.items() if then != now]
    if not found:
        found = ["something that the ledger keeps no word of, such as where the data are or an option,"]
    return ParameterError(
        f"request {charge.request!r} was already used for a different request: {' and '.join(found)} "
        f"{'differs' if len(found) == 1 else 'differ'}. Use a new request id"
    )


def _groups(given: Entry | Charge) -> str:
    return f"{', '.join(given.groups)} of {given.partition}" if given.partition else "everybody"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
