"""Ledgers of the first schema: read in full, checked, and written again in the tables of today, in one transaction.

Then the answer stood in the row of its charge, and nobody had declared whom a scope protects. Both are kept as they
were: an old entry keeps its digest, and an old scope is undeclared until its owner says more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct.ledger import stored_rows, totals
from tinct.ledger.contents import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinct.ledger.store import Row, Session

FIRST = 1
FIRST_TABLES = (
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
# children before what they refer to
_NAMES = ("tinct_entries", "tinct_totals", "tinct_partitions", "tinct_scopes", "tinct_ledger")


def upgrade(session: Session, tables: Iterable[str]) -> None:
    """Turn a ledger of the first schema into one of today; ``tables`` are the statements that make its tables."""
    stored_rows.entry_count(session)  # compares the totals with their seal, before they get another
    (head,) = stored_rows.checked(session.run("SELECT schema_version, entries, seal, checksum FROM tinct_ledger"))
    found = {name: stored_rows.checked(session.run(f"SELECT * FROM {name}")) for name in _NAMES[:-1]}  # noqa: S608 # ours
    for name in _NAMES:
        session.run(f"DROP TABLE {name}")
    for statement in tables:
        session.run(statement)
    for name in ("tinct_scopes", "tinct_partitions", "tinct_totals"):
        _insert(session, name, found[name])
    for row in found["tinct_entries"]:
        answer = row[12]
        room = len(answer.encode())
        _insert(session, "tinct_entries", [stored_rows.sealed(*row[:12], room)])
        _insert(session, "tinct_answers", [stored_rows.sealed(row[0], str(State.ANSWERED), answer)])
    stored_rows.set_entry_count(session, head[1])
    totals.recompute(session)


def _insert(session: Session, table: str, rows: Iterable[Row]) -> None:
    for row in rows:
        marks = ", ".join("?" * len(row))
        session.run(f"INSERT INTO {table} VALUES ({marks})", *row)  # noqa: S608 # our own names
