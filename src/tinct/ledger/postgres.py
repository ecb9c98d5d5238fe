"""A ledger in a PostgreSQL database, for teams: one lock for the length of a charge, and names that mean one thing.

Each transaction finds the one schema of the search path that has the tables, searches nothing else from then on (but
``pg_catalog`` before it), waits for the lock, and checks the tables before it believes them.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tinct.errors import FileError, ParameterError
from tinct.ledger import postgres_catalog, postgres_functions, stored_rows
from tinct.ledger.store import SCHEMA, NoLedger, NotCommitted, Row
from tinct.ledger.upgrade import FIRST, FIRST_TABLES, upgrade

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCK = 0x74696E63  # the advisory locks of ledgers: this number, and the schema's beside it
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
# The configured path is kept, and from then on only the server's own names are searched: an operator that somebody
# has made elsewhere must not be found instead
_KEEP_PATH = (
    "SELECT pg_catalog.set_config('tinct.path', pg_catalog.current_schemas(false)::pg_catalog.text, true)",
    "SET LOCAL search_path = pg_catalog, pg_temp",
)
_SETTINGS = ("SHOW fsync", "SHOW full_page_writes", "SHOW synchronous_commit", "SHOW server_encoding")
_FIRST_IN_PATH = (
    "SELECT n.oid, quote_ident(n.nspname), 0 FROM pg_namespace AS n"
    " WHERE n.nspname = (current_setting('tinct.path')::name[])[1]"
)
_VERSION = "SELECT schema_version FROM tinct_ledger WHERE id = 1"
_NONE = "there is no ledger in it: create one with tinct budget init, or in Python with epsilon=…"
_CHANGED = "the tables are not those of a ledger: something else has changed them"
_LOCKED = "another client has it locked, for more than {timeout:g} s: try again"
_BY_STATE = {
    "55P03": _LOCKED,
    "25006": "the database is read-only",
    "42501": "the user may not do this: the owner of the ledger does it, or grants it with tinct budget grant",
    "42P01": _NONE,
    "2BP01": "something else in the database depends on the tables of the ledger, such as a view: remove that first",
    "3F000": "the search path has no schema in which tables can be made",
    "53100": "the server's disk is full",
    "57014": "the server ended the statement",
    "42704": "there is no such role",
    postgres_functions.REFUSED: "the charge does not follow from the one before: something else has written. Try again",
}
# the server's own words may quote parts of the URL, so only these are passed on
_CONNECTION_FAILURES = {
    "password authentication failed": "the password was refused",
    "no password supplied": "the server wants a password",
    "Connection refused": "the server does not answer",
    "timeout": "the server does not answer in time",
    "does not exist": "there is no such database or user",
    "host name": "the host is not known",
    "resolve host": "the host is not known",
    "Name or service not known": "the host is not known",
    "No such file or directory": "the server does not answer",
}


@dataclass(frozen=True)
class _Place:
    """The schema of a ledger: its number, its name as it has to be written, and the numbers of our tables in it."""

    number: int
    name: str
    language: int  # PL/pgSQL's number
    tables: tuple[int, ...] = ()


class PostgresSession:
    """One transaction on a connection."""

    def __init__(self, connection: Any, store: PostgresStore) -> None:
        self._connection, self._store = connection, store

    def run(self, statement: str, *values: str | int) -> list[Row]:
        """Run a statement and return its rows, if it has any."""
        with self._store.translated():
            cursor = self._connection.execute(statement.replace("?", "%s") if values else statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def run_all(self, *statements: str) -> list[list[Row]]:
        """Run statements in one message and return the rows of each that has any."""
        found = []
        with self._store.translated():
            cursor = self._connection.execute("; ".join(statements))
            more: bool | None = True
            while more:
                if cursor.description:
                    found.append(cursor.fetchall())
                more = cursor.nextset()
        return found

    def charge(self, totals: list[Row], entry: Row) -> None:
        """Record a charge, with the owner's rights and only if it adds up."""
        changed = json.dumps([row[2:] for row in totals])
        self.run(postgres_functions.CALLS["tinct_charge"], *entry, changed)

    def answer(self, row: Row) -> None:
        """Store an answer, once and in its room."""
        self.run(postgres_functions.CALLS["tinct_answer"], *row)


class PostgresStore:
    """A ledger in the tables ``tinct_…`` of the database at a URL; ``name`` has neither user nor password."""

    def __init__(self, url: str, timeout: float) -> None:
        self._psycopg = _psycopg()
        self._url, self.timeout = url, timeout
        self.name = self._safe_name(url)
        self._place: _Place | None = None  # found once: what appears in the search path later does not matter

    @contextmanager
    def founding(self) -> Iterator[PostgresSession]:
        """Make the tables unless they are there, in the same transaction as what follows."""
        with self._transaction(_WRITE, found=True) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[PostgresSession]:
        """One transaction that holds the ledger's lock from before it reads anything to its end."""
        with self._transaction(_WRITE) as session:
            yield session

    @contextmanager
    def reading(self) -> Iterator[PostgresSession]:
        """A consistent view of the database, read-only."""
        with self._transaction(_READ) as session:
            yield session

    def present(self) -> bool:
        """Whether anything by the name of one of our tables is there."""
        with self._connected() as session, self._ending(session, _READ):
            return self._found(session) is not None

    def inspect(self) -> None:
        """Nothing: a server looks after its own pages."""

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Say in words what the server found."""
        try:
            yield
        except self._psycopg.Error as error:
            raise FileError(self._reason(error), path=self.name) from None

    @contextmanager
    def _transaction(self, begin: str, *, found: bool = False) -> Iterator[PostgresSession]:
        with self._connected() as session:
            if not found:
                self._upgrade_if_old(session)
            with self._ending(session, begin):
                place = self._open(session, begin, found=found)
                yield session
            self._place = place

    @property
    def error(self) -> type[Exception]:
        """What the driver raises."""
        return self._psycopg.Error  # type: ignore[no-any-return]

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """A connection of the driver's own, for other statements than a ledger's."""
        connection = self._connect()
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _connected(self) -> Iterator[PostgresSession]:
        connection = self._connect()
        try:
            yield PostgresSession(connection, self)
        finally:
            connection.close()

    @contextmanager
    def _ending(self, session: PostgresSession, begin: str) -> Iterator[None]:
        """Begin, and commit what the block has written, or undo it if the block raises."""
        session.run_all(f"SET lock_timeout = {max(1, round(1000 * self.timeout))}", begin)
        try:
            yield
        except BaseException:
            with suppress(FileError):
                session.run("ROLLBACK")
            raise
        try:
            session.run("COMMIT" if begin == _WRITE else "ROLLBACK")
        except FileError as error:
            raise NotCommitted(error.problem) from None

    def _open(self, session: PostgresSession, begin: str, *, found: bool = False) -> _Place:
        """Wait for the lock and check the tables, after making them if asked to."""
        place = None if found else self._place
        if place is None:
            place = self._found(session) or (self._made(session) if found else None)
        if place is None:
            raise NoLedger(_NONE, path=self.name)
        known, wrong = self._checked(session, place, lock=begin == _WRITE)
        if wrong:  # somebody may have upgraded or restored the ledger before the lock: these are other tables then
            tables = session.run(f"{postgres_catalog.FIND_IN}{place.number}")
            place = replace(place, tables=tuple(row[0] for row in tables))
            known, wrong = self._checked(session, place, lock=False)
        if not place.tables:
            raise NoLedger(_NONE, path=self.name)
        if postgres_catalog.head_is_ours(
            known
        ):  # so it can be asked; the tables of a newer version are not those of this one
            self._require_version(session, FIRST if postgres_catalog.is_first(known) else SCHEMA, made=found)
        if wrong:
            raise FileError(f"{_CHANGED} ({wrong})", path=self.name)
        return place

    def _checked(
        self, session: PostgresSession, place: _Place, *, lock: bool
    ) -> tuple[list[postgres_catalog.Thing], str | None]:
        known = self._described(session, place, lock=lock)
        return known, postgres_catalog.difference(known, place.name, old=postgres_catalog.is_first(known))

    def _described(self, session: PostgresSession, place: _Place, *, lock: bool) -> list[postgres_catalog.Thing]:
        """What the tables are, with nothing else in the search path; with ``lock``, once nobody else is charging."""
        waiting = [f"SELECT pg_advisory_xact_lock({_LOCK << 32 | place.number})"] if lock else []
        queries = postgres_catalog.describe(place.number, place.tables)
        answers = session.run_all(*_SETTINGS, *waiting, _only(place), *queries)
        (((fsync,),), ((whole_pages,),), ((commit,),), ((encoding,),)), found = answers[:4], answers[-len(queries) :]
        if (fsync, whole_pages) != ("on", "on"):
            raise FileError(
                "the server has fsync or full_page_writes switched off: a power cut could undo charges "
                "whose answers were shown. Switch them on",
                path=self.name,
            )
        if encoding != "UTF8":  # whether an answer can be stored must not depend on its letters
            raise FileError(f"the database is encoded in {encoding}: a ledger needs one in UTF8", path=self.name)
        if commit == "off":
            session.run("SET LOCAL synchronous_commit = on")
        return postgres_catalog.things(found, place.number, place.language)

    def _found(self, session: PostgresSession) -> _Place | None:
        """The one schema of the configured search path that has our tables."""
        return self._only_place(session.run_all(*_KEEP_PATH, postgres_catalog.FIND)[-1])

    def _only_place(self, found: list[Row]) -> _Place | None:
        schemas = sorted({row[:3] for row in found})
        if len(schemas) > 1:
            raise FileError(
                "more than one schema of the search path has tables of a ledger: name the right one, "
                "with ?options=-csearch_path%3DSCHEMA at the end of the URL",
                path=self.name,
            )
        return replace(_Place(*schemas[0]), tables=tuple(row[3] for row in found)) if schemas else None

    def _made(self, session: PostgresSession) -> _Place | None:
        """The place of new tables, in the first schema of the search path; two processes must not make them at once."""
        session.run(f"SELECT pg_advisory_xact_lock({_LOCK})")
        place = self._only_place(session.run(postgres_catalog.FIND))
        if place is None:
            first = session.run(_FIRST_IN_PATH)
            if not first:
                raise FileError(_BY_STATE["3F000"], path=self.name)
            place = _Place(*first[0])
            session.run_all(_only(place), *_tables(place), "SET LOCAL search_path = pg_catalog, pg_temp")
            place = self._only_place(session.run(postgres_catalog.FIND))
        return place

    def _upgrade_if_old(self, session: PostgresSession) -> None:
        """Rewrite a ledger of the first schema in the tables of today, in one transaction and once for all clients."""
        if self._place is not None:  # it was looked at before
            return
        with self._ending(session, _READ):
            found = self._found(session)
        if found is None or len(found.tables) != len(FIRST_TABLES):
            return
        with self._ending(session, _WRITE):
            place = self._open(session, _WRITE)
            if len(place.tables) == len(FIRST_TABLES):  # nobody else was faster
                session.run("LOCK TABLE tinct_ledger, tinct_scopes, tinct_partitions, tinct_totals, tinct_entries")
                upgrade(session, _tables(place))

    def _require_version(self, session: PostgresSession, version: int, *, made: bool) -> None:
        rows = session.run(_VERSION)
        if rows and rows[0][0] > SCHEMA:
            raise FileError(
                f"a newer tinct made this ledger (schema {rows[0][0]}; this one knows {SCHEMA})", path=self.name
            )
        if rows != [(version,)] and (rows or not made):
            raise FileError(f"{_CHANGED} (it is of version {rows[0][0] if rows else 'nothing'})", path=self.name)

    def _connect(self) -> Any:
        try:
            return self._psycopg.connect(
                self._url, autocommit=True, connect_timeout=max(2, round(self.timeout)), prepare_threshold=None
            )
        except self._psycopg.Error as error:
            text = str(error)
            known = (words for part, words in _CONNECTION_FAILURES.items() if part in text)
            raise FileError(f"cannot connect: {next(known, 'the connection failed')}", path=self.name) from None

    def _reason(self, error: Any) -> str:
        state = error.sqlstate or ""
        if state in _BY_STATE:
            return _BY_STATE[state].format(timeout=self.timeout)
        if state.startswith("42"):
            return _CHANGED
        if not state or state.startswith(("08", "57")):
            return "the connection was lost"
        return f"the server cannot go on (SQLSTATE {state})"

    def _safe_name(self, url: str) -> str:
        """Host and database for messages. A URL that could be read in two ways might hide a password in either."""
        wrong = ParameterError(
            "this is not a URL such as postgresql://user:password@host:5432/database; in a password, letters such as "
            "@ : / ? # % must be percent-encoded (@ as %40)"
        )
        if url.split("?")[0].count("@") > 1:
            raise wrong
        try:
            known = self._psycopg.conninfo.conninfo_to_dict(url)
            port = urlsplit(url).port
        except (self._psycopg.Error, ValueError):
            raise wrong from None
        where = known.get("host") or "local"
        if not str(where).replace(",", "").replace("-", "").replace(".", "").replace("_", "").isalnum():
            where = "local"  # a socket's folder, or an address that needs brackets
        return f"postgresql://{where}{f':{port}' if port else ''}/{known.get('dbname', '')}"


def _only(place: _Place) -> str:
    """Search the ledger's schema only: pg_catalog always comes before it, and temporary tables after it."""
    return f"SET LOCAL search_path = {place.name}, pg_temp"


def _tables(place: _Place) -> tuple[str, ...]:
    return (*stored_rows.TABLES, *postgres_catalog.STORAGE, *postgres_functions.statements(place.name))


def _psycopg() -> Any:
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError:
        raise ParameterError(
            "a ledger in PostgreSQL needs psycopg: install it with pip install 'tinct[postgres]'"
        ) from None
    return psycopg
