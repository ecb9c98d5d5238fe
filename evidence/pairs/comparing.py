"""The laws: what must hold between two neighbours, and what is said when it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evidence.pairs import closeness, looking
from evidence.pairs.cases import REPLACE
from evidence.pairs.watching import Watch
from evidence.pairs.writing import Unwritable
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from evidence.pairs.cases import Case

ERRORS, FAULTS, PLANS, ANSWERS, SHOWN, SEEN, UNPAID = (
    "one of two neighbours fails, or fails otherwise",
    "a request fails after everything public about it was accepted",
    "the plan depends on the data",
    "the answers are not (ε, δ)-close",
    "what is shown beside the answers depends on the data",
    "what can be seen beside the answer differs",
    "something is drawn before it is charged",
)
LAWS = (ERRORS, FAULTS, PLANS, ANSWERS, SHOWN, SEEN, UNPAID)
FINE, REFUSED, UNWRITTEN, STRANGERS = "compared", "refused alike", "not writable", "not neighbours as read"
_MOST_GROUPS = 4


@dataclass(frozen=True)
class Violation:
    """A law that does not hold for a case, and what shows it."""

    law: str
    case: Case
    detail: str


def compare(case: Case, folder: Path) -> tuple[str, Violation | None]:
    """What became of a case, and the first law that it breaks."""
    try:
        return _compare(case, folder)
    except Unwritable:
        return UNWRITTEN, None


def _compare(case: Case, folder: Path) -> tuple[str, Violation | None]:
    watches = Watch(case.answers[0]), Watch(case.answers[0])
    one, other = (looking.look(case, side, watch, folder, "answer") for side, watch in enumerate(watches))
    if _are_strangers(case, one, other):
        return STRANGERS, None
    broken = _answers(case, one, other, watches)
    if broken is not None:
        return FINE, Violation(broken[0], case, broken[1])
    hidden = frozenset(name for name in closeness.differing(*watches) if isinstance(name, str))
    broken = _views(case, folder, hidden)
    if broken is not None:
        return FINE, Violation(broken[0], case, broken[1])
    return (REFUSED if "error" in one else FINE), None


def _answers(case: Case, one: Any, other: Any, watches: tuple[Watch, Watch]) -> tuple[str, str] | None:
    """Without a ledger: errors, plans, and the exact distributions."""
    if one.get("error") != other.get("error"):
        return ERRORS, f"{one.get('error')} | {other.get('error')}"
    if "error" in one:
        kind, words = one["error"][0][:2]
        return None if kind == ParameterError.__name__ else (FAULTS, f"{kind}: {words}")
    if one["plan"] != other["plan"]:
        return PLANS, difference(one["plan"], other["plan"])
    names = closeness.differing(*watches)
    if len(names) > _MOST_GROUPS:
        return ANSWERS, f"{len(names)} groups differ"
    factor, delta = closeness.bound(case)
    ours, theirs = (closeness.joint(watch, names) for watch in watches)
    for first, second in ((ours, theirs), (theirs, ours)):
        excess = closeness.excess(first, second, factor)
        if excess > delta:
            chances = [{str(key): float(chance) for key, chance in each.items()} for each in (ours, theirs)]
            return ANSWERS, f"needs δ = {float(excess):.3g}, not {float(delta):.3g}: {chances[0]} | {chances[1]}"
    if isinstance(one["value"], dict) and case.groups == "found":
        left, right = ([(k, v) for k, v in each["value"].items() if k not in names] for each in (one, other))
        if left != right:
            return SHOWN, difference(left, right)
    return None


def _views(case: Case, folder: Path, hidden: frozenset[str]) -> tuple[str, str] | None:
    """With the same answer in both all bytes are the same; with different ones all but the answer."""
    turns = case.answers if case.groups != "found" else case.answers[:1] * 2
    watches = [Watch(turn, hidden) for turn in turns]
    one, other = (looking.look(case, side, watch, folder) for side, watch in enumerate(watches))
    if "unpaid" in one or "unpaid" in other:
        return UNPAID, f"{one.get('unpaid', 0)} | {other.get('unpaid', 0)} draws"
    if turns[0] != turns[1]:
        one, other = looking.masked(one), looking.masked(other)
    if one != other:
        return SEEN, difference(one, other)
    return None


def _are_strangers(case: Case, one: Any, other: Any) -> bool:
    """Whether a name or an ε that cannot be read has changed the number of people, which is public with replace.

    Only where tinct was to count it for the owner of the data: a number that was declared is to be kept.
    """
    named = "unit" in case.options or "epsilon_column" in case.options
    counted = case.options["neighbors"] == REPLACE and named and not looking.tells_numbers(case)
    return counted and "plan" in one and "plan" in other and _people(one) != _people(other)


def _people(seen: Any) -> tuple[Any, Any]:
    return seen["plan"]["people"], seen["plan"]["classes"]


def difference(one: Any, other: Any, path: str = "") -> str:
    """The first place where two documents differ, in short."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if one.get(key) != other.get(key):
                return difference(one.get(key), other.get(key), f"{path}/{key}")
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            if left != right:
                return difference(left, right, f"{path}/{at}")
    return f"{path}: {_short(one)} | {_short(other)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"


def shrunk(found: Violation, folder: Path, *, attempts: int = 60) -> Violation:
    """The same violation with fewer rows, if leaving them out does not mend it."""
    best = found
    for name in ("shared", "ours", "theirs"):
        at = 0
        while attempts and at < len(getattr(best.case, name)):
            rows = getattr(best.case, name)
            smaller = replace(best.case, **{name: rows[:at] + rows[at + 1 :]})
            if name != "shared" and len(rows) == 1:
                break
            if name == "shared" and smaller.people is not None and "unit" not in smaller.options:
                smaller = replace(smaller, people=len(smaller.rows(0)))
            attempts -= 1
            again = compare(smaller, folder)[1]
            if again is not None and again.law == best.law:
                best = again
            else:
                at += 1
    return best


def described(found: Violation) -> dict[str, Any]:
    """A violation in a form that can be written down and read again."""
    case = found.case
    rows = [
        [
            {name: _cell(cell) for name, cell in row.cells.items()} | ({"odd": row.odd} if row.odd else {})
            for row in case.rows(side)
        ]
        for side in (0, 1)
    ]
    options = {name: value.text if name == "description" else value for name, value in case.options.items()}
    return {
        "law": found.law, "seed": case.seed, "index": case.index, "detail": found.detail, "question": case.question,
        "options": options, "view": case.view, "source": case.source, "relation": case.relation,
        "style": case.style, "columns": [f"{column.name}: {column.kind}" for column in case.columns],
        "one": rows[0], "other": rows[1],
    }  # fmt: skip


def _cell(cell: Any) -> Any:
    return ascii(cell) if not isinstance(cell, str) else ascii(cell)[:200]
