"""The tables of a ledger, and how values become rows: amounts as exact text, every row with a checksum.

The checksums are against rot, not against people: whoever can write the file can write a matching checksum.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tinct.ledger.amounts import exact_text
from tinct.ledger.entries import Charge, Entry, Scope, canonical, checksum
from tinct.ledger.store import SCHEMA, Damaged
from tinct.privacy.amounts import rational

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
    " epsilon TEXT NOT NULL, delta TEXT NOT NULL, cost TEXT NOT NULL, answer TEXT NOT NULL, checksum TEXT NOT NULL)",
)
_LEDGER = "SELECT schema_version, entries, seal, checksum FROM tinct_ledger WHERE id = 1"
_SCOPES = "SELECT name, epsilon, delta, written, composition, details, created, checksum FROM tinct_scopes"
_PARTITIONS = "SELECT scope, name, statement, who, created, checksum FROM tinct_partitions"
_TOTALS = "SELECT scope, partition_name, group_name, used, checksum FROM tinct_totals"
_ENTRIES = (
    "SELECT number, request, digest, made, who, question, scope, partition_name, group_names, epsilon, delta, cost,"
    " answer, checksum FROM tinct_entries"
)
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
    rows = _checked(session.run(_LEDGER))
    if rows and rows[0][2] != _seal(session):
        raise Damaged("the totals do not match their seal: the ledger is damaged, restore it from a copy")
    return int(rows[0][1]) if rows else None


def set_entry_count(session: Session, count: int) -> None:
    """Store how many entries there are, and seal the totals as they are now."""
    session.run(
        "INSERT INTO tinct_ledger VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET entries = excluded.entries,"
        " seal = excluded.seal, checksum = excluded.checksum",
        *_sealed(SCHEMA, count, _seal(session)),
    )


@_reading()
def _seal(session: Session) -> str:
    return checksum(sorted(row[-1] for row in _peak_rows(session)))


def _peak_rows(session: Session) -> list[Row]:
    return session.run(f"{_TOTALS} WHERE group_name = ?", NOBODY)


# scopes and partitions


def add_scope(session: Session, scope: Scope) -> None:
    """Record a scope and its budget."""
    columns = (scope.name, exact_text(scope.epsilon), exact_text(scope.delta), scope.written, scope.composition)
    row = _sealed(*columns, canonical(scope.details), scope.created)
    session.run("INSERT INTO tinct_scopes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)


def scopes(session: Session) -> dict[str, Scope]:
    """All scopes by name, the oldest first."""
    rows = _checked(session.run(f"{_SCOPES} ORDER BY created, name"))
    return {row[0]: _scope(row) for row in rows}


def find_scope(session: Session, name: str) -> Scope | None:
    """The scope of that name."""
    rows = _checked(session.run(f"{_SCOPES} WHERE name = ?", name))
    return _scope(rows[0]) if rows else None


def add_partition(session: Session, scope: str, name: str, statement: str, who: str) -> None:
    """Record what the owner declared."""
    session.run("INSERT INTO tinct_partitions VALUES (?, ?, ?, ?, ?, ?)", *_sealed(scope, name, statement, who, now()))


def partitions(session: Session, scope: str) -> dict[str, str]:
    """The declared partitions of a scope, with their statements."""
    rows = _checked(session.run(f"{_PARTITIONS} WHERE scope = ? ORDER BY name", scope))
    return {row[1]: row[2] for row in rows}


# totals


def group_totals(session: Session, scope: str, partition: str) -> dict[str, Vector]:
    """What each group of a partition has used."""
    # an expression instead of the bare column, so that a damaged index cannot hide a row
    rows = session.run(f"{_TOTALS} WHERE scope || '' = ? AND partition_name = ?", scope, partition)
    return {row[2]: _vector(row[3]) for row in _checked(rows)}


def totals(session: Session, scope: str) -> dict[tuple[str, str], Vector]:
    """Every total of a scope by partition and group."""
    rows = _checked(session.run(f"{_TOTALS} WHERE scope = ?", scope))
    return {(row[1], row[2]): _vector(row[3]) for row in rows}


def peaks(session: Session, scope: str) -> dict[str, Vector]:
    """By partition, the most that any of its groups has used; under ``NOBODY`` what everybody has used."""
    rows = _checked(_peak_rows(session))
    return {row[1]: _vector(row[3]) for row in rows if row[0] == scope}


def set_total(session: Session, scope: str, partition: str, group: str, used: Vector) -> None:
    """Store a total."""
    session.run(
        "INSERT INTO tinct_totals VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope, partition_name, group_name)"
        " DO UPDATE SET used = excluded.used, checksum = excluded.checksum",
        *_sealed(scope, partition, group, vector_text(used)),
    )


# entries


def add_entry(session: Session, number: int, charge: Charge, cost: Vector, answer: str) -> Entry:
    """Record a charge with its answer, and return it as it will be read back."""
    row = _sealed(
        *(number, charge.request, charge.digest, now(), charge.who, charge.question, charge.scope, charge.partition),
        canonical(charge.groups),
        *(exact_text(charge.epsilon), exact_text(charge.delta), vector_text(cost), answer),
    )
    session.run("INSERT INTO tinct_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *row)
    return _entry(row)


def find_entry(session: Session, request: str) -> tuple[Entry, str] | None:
    """The entry of a request with its digest."""
    rows = _checked(session.run(f"{_ENTRIES} WHERE request = ?", request))
    return (_entry(rows[0]), rows[0][2]) if rows else None


def entries(session: Session, scope: str | None = None) -> list[tuple[Entry, Vector]]:
    """All entries with what they cost, the oldest first."""
    where, values = ("WHERE scope = ?", (scope,)) if scope is not None else ("", ())
    rows = _checked(session.run(f"{_ENTRIES} {where} ORDER BY number", *values))
    return [(_entry(row), _vector(row[11])) for row in rows]


# rows


def vector_text(vector: Vector) -> str:
    """A vector as JSON, its amounts as exact text."""
    return canonical({name: exact_text(amount) for name, amount in vector.items()})


def _sealed(*columns: str | int) -> tuple[str | int, ...]:
    return (*columns, checksum(*columns))


@_reading()
def _checked(rows: list[Row]) -> list[Row]:
    for row in rows:
        if checksum(*row[:-1]) != row[-1]:
            raise Damaged("a row does not match its checksum: the ledger is damaged, restore it from a copy")
    return rows


@_reading()
def _scope(row: Row) -> Scope:
    return Scope(row[0], _amount(row[1]), _amount(row[2]), row[3], row[4], json.loads(row[5]), row[6])


@_reading()
def _entry(row: Row) -> Entry:
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
        answer=json.loads(row[12]),
    )


@_reading()
def _vector(text: str) -> Vector:
    found: dict[str, Any] = json.loads(text)
    return {name: _amount(amount) for name, amount in found.items()}


def _amount(text: str) -> Fraction:
    return rational(text, "amount")
