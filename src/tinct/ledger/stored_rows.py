"""The tables of a ledger, and how values become rows: amounts as exact text, every row with a checksum.

Charges and answers are two tables, and rows of both are only ever added: a charge is on the disk before anything is
drawn, and an answer is stored once. An answer fills the room that was reserved for it with its charge to the last byte,
whatever it is, so that nothing about the file or about what fails depends on it (docs/security/attacks.md).

The checksums are against rot, not against people: whoever can write the file can write a matching checksum.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tinct.ledger.contents import Charge, Entry, Scope, State, canonical, checksum, is_older
from tinct.ledger.costs import exact_text
from tinct.ledger.protection import Protection
from tinct.ledger.store import SCHEMA, Damaged
from tinct.numbers.amounts import rational

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from tinct.ledger.composition import Vector
    from tinct.ledger.store import Row, Session

TABLES = (
    "CREATE TABLE tinct_ledger (id INTEGER PRIMARY KEY CHECK (id = 1), schema_version INTEGER NOT NULL,"
    " entries INTEGER NOT NULL, seal TEXT NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE tinct_scopes (name TEXT PRIMARY KEY, epsilon TEXT NOT NULL, delta TEXT NOT NULL,"
    " written TEXT NOT NULL, composition TEXT NOT NULL, details TEXT NOT NULL, created TEXT NOT NULL,"
    " checksum TEXT NOT NULL)",
    "CREATE TABLE tinct_partitions (scope TEXT NOT NULL REFERENCES tinct_scopes (name), name TEXT NOT NULL,"
    " statement TEXT NOT NULL, who TEXT NOT NULL, created TEXT NOT NULL, checksum TEXT NOT NULL,"
    " PRIMARY KEY (scope, name))",
    "CREATE TABLE tinct_totals (scope TEXT NOT NULL REFERENCES tinct_scopes (name), partition_name TEXT NOT NULL,"
    " group_name TEXT NOT NULL, used TEXT NOT NULL, checksum TEXT NOT NULL,"
    " PRIMARY KEY (scope, partition_name, group_name))",
    "CREATE TABLE tinct_entries (number INTEGER PRIMARY KEY, request TEXT NOT NULL UNIQUE, digest TEXT NOT NULL,"
    " made TEXT NOT NULL, who TEXT NOT NULL, question TEXT NOT NULL,"
    " scope TEXT NOT NULL REFERENCES tinct_scopes (name), partition_name TEXT NOT NULL, group_names TEXT NOT NULL,"
    " epsilon TEXT NOT NULL, delta TEXT NOT NULL, cost TEXT NOT NULL, room INTEGER NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE tinct_declarations (scope TEXT NOT NULL REFERENCES tinct_scopes (name), number INTEGER NOT NULL,"
    " protects TEXT NOT NULL, who TEXT NOT NULL, made TEXT NOT NULL, checksum TEXT NOT NULL,"
    " PRIMARY KEY (scope, number))",
    "CREATE TABLE tinct_rooms (number INTEGER PRIMARY KEY REFERENCES tinct_entries (number), filler TEXT NOT NULL)",
    "CREATE TABLE tinct_answers (number INTEGER PRIMARY KEY REFERENCES tinct_entries (number), state TEXT NOT NULL,"
    " answer TEXT NOT NULL, checksum TEXT NOT NULL)",
)
_LEDGER = "SELECT schema_version, entries, seal, checksum FROM tinct_ledger WHERE id = 1"
_SCOPES = "SELECT name, epsilon, delta, written, composition, details, created, checksum FROM tinct_scopes"
_PARTITIONS = "SELECT scope, name, statement, who, created, checksum FROM tinct_partitions"
_TOTALS = "SELECT scope, partition_name, group_name, used, checksum FROM tinct_totals"
_ENTRIES = (
    "SELECT number, request, digest, made, who, question, scope, partition_name, group_names, epsilon, delta, cost,"
    " room, checksum FROM tinct_entries"
)
_ANSWERS = "SELECT number, state, answer, checksum FROM tinct_answers"
_DECLARATIONS = "SELECT scope, number, protects, who, made, checksum FROM tinct_declarations"
_FILLER = "\x01"  # no JSON text contains it
NOBODY = ""  # the partition of a charge to everybody, and the group whose total is the partition's maximum


def now() -> str:
    """The time in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@contextmanager
def _reading() -> Iterator[None]:
    """A row that is not what a row has to be is damaged, even if its checksum is right."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Damaged("a row cannot be read: the ledger is damaged, restore it from a copy") from None


# the number of entries


def entry_count(session: Session) -> int | None:
    """How many entries there are, or None if the ledger is being made.

    A total that cannot be found must not count as 0, so all of them are compared with their seal here.
    """
    rows = checked(session.run(_LEDGER))
    if rows and rows[0][2] != _seal(session):
        raise Damaged("the totals do not match their seal: the ledger is damaged, restore it from a copy")
    return int(rows[0][1]) if rows else None


def set_entry_count(session: Session, count: int) -> None:
    """Store how many entries there are, and seal the totals as they are now."""
    session.run(
        "INSERT INTO tinct_ledger VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET entries = excluded.entries,"
        " seal = excluded.seal, checksum = excluded.checksum",
        *sealed(SCHEMA, count, _seal(session)),
    )


@_reading()
def _seal(session: Session) -> str:
    return checksum(sorted(row[-1] for row in _peak_rows(session)))


def _peak_rows(session: Session) -> list[Row]:
    return session.run(f"{_TOTALS} WHERE group_name = ?", NOBODY)


# scopes and partitions


def add_scope(session: Session, scope: Scope, who: str) -> None:
    """Record a scope with its budget and, if it is known, whom it protects."""
    columns = (scope.name, exact_text(scope.epsilon), exact_text(scope.delta), scope.written, scope.composition)
    row = sealed(*columns, canonical(scope.details), scope.created)
    session.run("INSERT INTO tinct_scopes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
    if scope.protects is not None:
        add_declaration(session, scope.name, scope.protects, who)


def change_budget(session: Session, scope: Scope) -> None:
    """Record another budget for a scope that has no entries."""
    columns = (scope.name, exact_text(scope.epsilon), exact_text(scope.delta), scope.written, scope.composition)
    _, *row = sealed(*columns, canonical(scope.details), scope.created)
    session.run(
        "UPDATE tinct_scopes SET epsilon = ?, delta = ?, written = ?, composition = ?, details = ?, created = ?,"
        " checksum = ? WHERE name = ?",
        *row,
        scope.name,
    )


def scopes(session: Session) -> dict[str, Scope]:
    """All scopes by name, the oldest first."""
    rows = checked(session.run(f"{_SCOPES} ORDER BY created, name"))
    declared = {row[0]: row for row in checked(session.run(f"{_DECLARATIONS} ORDER BY number"))}
    return {row[0]: _scope(row, declared.get(row[0])) for row in rows}


def find_scope(session: Session, name: str) -> Scope | None:
    """The scope of that name."""
    rows = checked(session.run(f"{_SCOPES} WHERE name = ?", name))
    declared = checked(session.run(f"{_DECLARATIONS} WHERE scope = ? ORDER BY number", name)) if rows else []
    return _scope(rows[0], declared[-1] if declared else None) if rows else None


def add_declaration(session: Session, scope: str, protects: Protection, who: str) -> None:
    """Record whom a scope protects; the latest declaration holds."""
    number = len(session.run(f"{_DECLARATIONS} WHERE scope = ?", scope)) + 1
    row = sealed(scope, number, canonical(protects.to_dict()), who, now())
    session.run("INSERT INTO tinct_declarations VALUES (?, ?, ?, ?, ?, ?)", *row)


def is_used(session: Session, scope: str) -> bool:
    """Whether anything was charged to a scope."""
    return bool(session.run("SELECT 1 FROM tinct_entries WHERE scope || '' = ? LIMIT 1", scope))


def add_partition(session: Session, scope: str, name: str, statement: str, who: str) -> None:
    """Record what the owner declared."""
    session.run("INSERT INTO tinct_partitions VALUES (?, ?, ?, ?, ?, ?)", *sealed(scope, name, statement, who, now()))


def partitions(session: Session, scope: str) -> dict[str, str]:
    """The declared partitions of a scope, with their statements."""
    rows = checked(session.run(f"{_PARTITIONS} WHERE scope = ? ORDER BY name", scope))
    return {row[1]: row[2] for row in rows}


# totals


def group_totals(session: Session, scope: str, partition: str) -> dict[str, Vector]:
    """What each group of a partition has used."""
    # an expression instead of the bare column, so that a damaged index cannot hide a row
    rows = session.run(f"{_TOTALS} WHERE scope || '' = ? AND partition_name = ?", scope, partition)
    return {row[2]: _vector(row[3]) for row in checked(rows)}


def totals(session: Session, scope: str) -> dict[tuple[str, str], Vector]:
    """Every total of a scope by partition and group."""
    rows = checked(session.run(f"{_TOTALS} WHERE scope = ?", scope))
    return {(row[1], row[2]): _vector(row[3]) for row in rows}


def peaks(session: Session, scope: str) -> dict[str, Vector]:
    """By partition, the most that any of its groups has used; under ``NOBODY`` what everybody has used."""
    rows = checked(_peak_rows(session))
    return {row[1]: _vector(row[3]) for row in rows if row[0] == scope}


def total_row(scope: str, partition: str, group: str, used: Vector) -> Row:
    """A total as it is stored."""
    return sealed(scope, partition, group, vector_text(used))


def write_totals(session: Session, rows: list[Row], count: int) -> None:
    """Store totals, and how many entries there are, which seals them."""
    for row in rows:
        session.run(
            "INSERT INTO tinct_totals VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope, partition_name, group_name)"
            " DO UPDATE SET used = excluded.used, checksum = excluded.checksum",
            *row,
        )
    set_entry_count(session, count)


# entries


def add_charge(session: Session, number: int, totals: list[Row], charge: Charge, cost: Vector) -> Entry:
    """Record a charge with its totals, reserve the room for its answer, and return it as it will be read back."""
    row = entry_row(number, charge, cost)
    session.charge(totals, row)
    return _entry(row, None)


def entry_row(number: int, charge: Charge, cost: Vector) -> Row:
    """An entry as it is stored."""
    return sealed(
        *(number, charge.request, charge.digest, now(), charge.who, charge.question, charge.scope, charge.partition),
        canonical(charge.groups),
        *(exact_text(charge.epsilon), exact_text(charge.delta), vector_text(cost), charge.room),
    )


def write_entry(session: Session, row: Row) -> None:
    """Store an entry, and keep the room for its answer free."""
    session.run("INSERT INTO tinct_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *row)
    session.run("INSERT INTO tinct_rooms VALUES (?, ?)", row[0], _FILLER * row[12])


def add_answer(session: Session, entry: Entry, text: str, state: State) -> Entry:
    """Store an answer if there is none yet, and return the entry with the one that is stored.

    The row is as long as its room, whatever the answer: blanks fill what is left of it.
    """
    if _find_answer(session, entry.number) is None:
        padded = text + " " * (entry.room - len(text.encode()))
        session.answer(sealed(entry.number, str(state), padded))
    found = find_entry(session, entry.request)
    if found is None:
        raise Damaged("a charge is gone before its answer: the ledger is damaged, restore it from a copy")
    return found[0]


def write_answer(session: Session, row: Row) -> None:
    """Store an answer in the place that was kept free for it."""
    session.run("DELETE FROM tinct_rooms WHERE number = ?", row[0])
    session.run("INSERT INTO tinct_answers VALUES (?, ?, ?, ?)", *row)


def find_cost(session: Session, number: int) -> Vector:
    """What an entry was counted as."""
    return _vector(checked(session.run(f"{_ENTRIES} WHERE number = ?", number))[0][11])


def find_entry(session: Session, request: str) -> tuple[Entry, str] | None:
    """The entry of a request with its digest."""
    rows = checked(session.run(f"{_ENTRIES} WHERE request = ?", request))
    return (_entry(rows[0], _find_answer(session, rows[0][0])), rows[0][2]) if rows else None


def entries(session: Session, scope: str | None = None) -> list[tuple[Entry, Vector]]:
    """All entries with what they cost, the oldest first."""
    where, values = ("WHERE scope = ?", (scope,)) if scope is not None else ("", ())
    rows = checked(session.run(f"{_ENTRIES} {where} ORDER BY number", *values))
    answers = {row[0]: row for row in checked(session.run(_ANSWERS))}
    return [(_entry(row, answers.get(row[0])), _vector(row[11])) for row in rows]


def strays(session: Session) -> int:
    """How many answers and rooms there are without their charge, or charges with both or neither."""
    numbers = {row[0]: row[1] for row in session.run("SELECT number, room FROM tinct_entries")}
    rooms = {row[0]: len(row[1].encode()) for row in session.run("SELECT number, filler FROM tinct_rooms")}
    answers = {row[0]: len(row[2].encode()) for row in session.run(_ANSWERS)}
    both = [*rooms.items(), *answers.items()]
    wrong = sum(1 for at, size in both if numbers.get(at) != size)
    return len({*rooms, *answers} ^ {*numbers}) + len({*rooms} & {*answers}) + wrong


def _find_answer(session: Session, number: int) -> Row | None:
    rows = checked(session.run(f"{_ANSWERS} WHERE number = ?", number))
    return rows[0] if rows else None


# rows


def vector_text(vector: Vector) -> str:
    """A vector as JSON, its amounts as exact text."""
    return canonical({name: exact_text(amount) for name, amount in vector.items()})


def sealed(*columns: str | int) -> tuple[str | int, ...]:
    """A row with its checksum."""
    return (*columns, checksum(*columns))


@_reading()
def checked(rows: list[Row]) -> list[Row]:
    """The rows, if each matches its checksum."""
    for row in rows:
        if checksum(*row[:-1]) != row[-1]:
            raise Damaged("a row does not match its checksum: the ledger is damaged, restore it from a copy")
    return rows


@_reading()
def _scope(row: Row, declared: Row | None) -> Scope:
    protects = None if declared is None else Protection.from_dict(json.loads(declared[2]))
    return Scope(row[0], _amount(row[1]), _amount(row[2]), row[3], row[4], json.loads(row[5]), row[6], protects)


@_reading()
def _entry(row: Row, answer: Row | None) -> Entry:
    state = State.CHARGED if answer is None else State(answer[1])
    return Entry(
        number=row[0],
        request=row[1],
        time=datetime.fromisoformat(row[3]),
        who=row[4],
        question=row[5],
        scope=row[6],
        partition=row[7] or None,
        groups=tuple(json.loads(row[8])),
        epsilon=_amount(row[9]),
        delta=_amount(row[10]),
        answer=json.loads(answer[2]) if answer is not None and state is State.ANSWERED else None,
        state=state,
        room=row[12],
        older=is_older(row[2]),
    )


@_reading()
def _vector(text: str) -> Vector:
    found: dict[str, Any] = json.loads(text)
    return {name: _amount(amount) for name, amount in found.items()}


def _amount(text: str) -> Fraction:
    return rational(text, "amount")
