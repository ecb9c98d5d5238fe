"""Who may ask: a role of the database that can charge and store answers, and change nothing that is there.

Such a role may read the ledger and call the two functions of the owner (``postgres_functions``). It may write no table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct.errors import FileError, ParameterError
from tinct.ledger.postgres_catalog import TABLES
from tinct.ledger.postgres_functions import CALLS, NAMES
from tinct.ledger.store import URLS, NotCommitted, store_at

if TYPE_CHECKING:
    from tinct.ledger.store import Session

_LISTED = ", ".join(TABLES)
_CALLED = ", ".join(CALLS)
# What a role can do beyond asking, by whatever way it came to it: of its own, through others or as part of everybody
_BEYOND = {
    "is a superuser, or may make roles": "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = {role}",
    "can act as the owner of the tables": (
        "SELECT bool_or(pg_has_role({role}, relowner, 'MEMBER')) FROM pg_class WHERE oid = 'tinct_ledger'::regclass"
    ),
    "can act as the owner of the schema or of the database": (
        "SELECT bool_or(pg_has_role({role}, n.nspowner, 'MEMBER') OR pg_has_role({role}, d.datdba, 'MEMBER'))"
        " FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace, pg_database AS d"
        " WHERE c.oid = 'tinct_ledger'::regclass AND d.datname = current_database()"
    ),
    "may write the tables": (
        "SELECT bool_or(has_table_privilege({role}, t::regclass, 'INSERT, UPDATE, DELETE, TRUNCATE,"
        " REFERENCES, TRIGGER')"
        " OR has_any_column_privilege({role}, t::regclass, 'INSERT, UPDATE, REFERENCES'))"
        " FROM unnest(string_to_array({tables}, ', ')) AS t"
    ),
    "may create things in the schema of the ledger": (
        "SELECT has_schema_privilege({role}, relnamespace, 'CREATE') FROM pg_class WHERE oid = 'tinct_ledger'::regclass"
    ),
}
_ENOUGH = (
    "SELECT has_schema_privilege({role}, relnamespace, 'USAGE') FROM pg_class WHERE oid = 'tinct_ledger'::regclass"
)


def grant(place: str, role: str, *, timeout: float = 30.0) -> None:
    """Let a role of the database ask, and nothing else: the owner calls this, once for each role.

    If the role can do more, by itself, through another role or because everybody can, nothing is granted and a
    FileError says what.
    """
    if not isinstance(place, str) or not place.startswith(URLS):
        raise ParameterError("roles are for ledgers in PostgreSQL, at a URL such as postgresql://owner@host/database")
    if not isinstance(role, str) or not role or "\0" in role:
        raise ParameterError(f"a role is named by text, got {role!r:.80}")
    store = store_at(place, timeout)
    try:
        with store.writing() as session:
            _grant(session, role, store.name)
    except NotCommitted as error:
        raise FileError(f"{error}. Whether the role may ask is not known: try again", path=store.name) from None


def _grant(session: Session, role: str, name: str) -> None:
    quoted, text = session.run("SELECT quote_ident(?), quote_literal(?)", role, role)[0]
    schema = session.run("SELECT quote_ident(current_schema())")[0][0]
    session.run(f"REVOKE ALL ON {_LISTED} FROM {quoted}")
    session.run(f"REVOKE ALL ON FUNCTION {', '.join(NAMES)} FROM {quoted}")
    session.run(f"GRANT USAGE ON SCHEMA {schema} TO {quoted}")
    session.run(f"GRANT SELECT ON {_LISTED} TO {quoted}")
    session.run(f"GRANT EXECUTE ON FUNCTION {_CALLED} TO {quoted}")
    for words, question in _BEYOND.items():
        if session.run(question.replace("{role}", text).replace("{tables}", f"'{_LISTED}'"))[0][0]:
            raise FileError(f"{role!r} {words}, so it can do more than ask: take that right away first", path=name)
    if not session.run(_ENOUGH.replace("{role}", text))[0][0]:
        raise FileError(f"{role!r} may not use the schema of the ledger: its owner has to grant USAGE", path=name)
