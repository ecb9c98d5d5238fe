"""A ledger in a PostgreSQL database, for teams: one row is locked for the length of a charge."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tinct.errors import FileError, ParameterError
from tinct.ledger.records import TABLES
from tinct.ledger.store import SCHEMA, NotCommitted, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOUNDING_LOCK = 0x74696E63  # an advisory lock: two processes must not make the tables at once
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_VERSION = "SELECT schema_version FROM tinct_ledger WHERE id = 1"
_VERSION_LOCKED = f"{_VERSION} FOR UPDATE"
_LOCKED = "another client has it locked, for more than {timeout:g} s: try again"
_BY_STATE = {
    "55P03": _LOCKED,
    "25006": "the database is read-only",
    "42501": "the user may not do this: grant the right to create and write tables",
    "42P01": "there is no ledger in it: make one with tinct budget init, or in Python with an epsilon",
    "53100": "the server's disk is full",
    "57014": "the server ended the statement",
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


class PostgresSession:
    """One transaction on a connection."""

    def __init__(self, connection: Any, store: PostgresStore) -> None:
        self._connection, self._store = connection, store

    def run(self, statement: str, *values: str | int) -> list[Row]:
        """Run a statement and return its rows, if it has any."""
        with self._store.translated():
            cursor = self._connection.execute(statement.replace("?", "%s"), values or None)
            return cursor.fetchall() if cursor.description else []


class PostgresStore:
    """A ledger in the tables ``tinct_…`` of the database at a URL; ``name`` has neither user nor password."""

    def __init__(self, url: str, timeout: float) -> None:
        self._psycopg = _psycopg()
        self._url, self.timeout = url, timeout
        self.name = self._safe_name(url)

    @contextmanager
    def founding(self) -> Iterator[PostgresSession]:
        """Make the tables unless they are there, in the same transaction as what follows."""
        with self._transaction(_WRITE) as session:
            session.run(f"SELECT pg_advisory_xact_lock({_FOUNDING_LOCK})")
            if session.run("SELECT to_regclass('tinct_ledger') IS NULL")[0][0]:
                for statement in TABLES:
                    session.run(statement)
            else:
                self._require_known(session, lock=True)
            yield session

    @contextmanager
    def writing(self) -> Iterator[PostgresSession]:
        """One transaction that holds the lock on the ledger's row from its first statement to its end."""
        with self._transaction(_WRITE) as session:
            self._require_known(session, lock=True)
            yield session

    @contextmanager
    def reading(self) -> Iterator[PostgresSession]:
        """A snapshot."""
        with self._transaction(_READ) as session:
            self._require_known(session, lock=False)
            yield session

    def present(self) -> bool:
        """Whether the tables are there."""
        with self._transaction(_READ) as session:
            return not session.run("SELECT to_regclass('tinct_ledger') IS NULL")[0][0]

    def inspect(self) -> None:
        """Nothing: a server looks after its own pages."""

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Say in words what the server found."""
        try:
            yield
        except self._psycopg.Error as error:
            raise FileError(f"{self.name}: {self._reason(error)}") from None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[PostgresSession]:
        connection = self._connect()
        try:
            session = PostgresSession(connection, self)
            self._prepare(session)
            session.run(begin)
            try:
                yield session
            except BaseException:
                with suppress(self._psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            try:
                connection.execute("COMMIT" if begin == _WRITE else "ROLLBACK")
            except self._psycopg.Error as error:
                raise NotCommitted(f"{self.name}: {self._reason(error)}") from None
        finally:
            connection.close()

    def _connect(self) -> Any:
        try:
            return self._psycopg.connect(
                self._url, autocommit=True, connect_timeout=max(2, round(self.timeout)), prepare_threshold=None
            )
        except self._psycopg.Error as error:
            text = str(error)
            known = (words for part, words in _CONNECTION_FAILURES.items() if part in text)
            raise FileError(f"{self.name}: cannot connect: {next(known, 'the connection failed')}") from None

    def _prepare(self, session: PostgresSession) -> None:
        session.run(f"SET lock_timeout = {max(1, round(1000 * self.timeout))}")
        settings = (
            "current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')"
        )
        fsync, whole_pages, commit = session.run(f"SELECT {settings}")[0]
        if (fsync, whole_pages) != ("on", "on"):
            raise FileError(
                f"{self.name}: the server has fsync or full_page_writes switched off: a power cut could undo charges "
                f"whose answers were shown. Switch them on"
            )
        if commit == "off":
            session.run("SET synchronous_commit = on")

    def _require_known(self, session: PostgresSession, *, lock: bool) -> None:
        """Refuse a newer ledger; with ``lock``, wait until nobody else is charging."""
        rows = session.run(_VERSION_LOCKED if lock else _VERSION)
        if not rows:
            raise FileError(f"{self.name}: the tables are not those of a ledger: something else has changed them")
        if rows[0][0] != SCHEMA:
            raise FileError(
                f"{self.name}: a newer tinct made this ledger (schema {rows[0][0]}; this one knows {SCHEMA})"
            )

    def _reason(self, error: Any) -> str:
        state = error.sqlstate or ""
        if state in _BY_STATE:
            return _BY_STATE[state].format(timeout=self.timeout)
        if state.startswith("42"):
            return "the tables are not those of a ledger: something else has changed them"
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


def _psycopg() -> Any:
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError:
        raise ParameterError(
            "a ledger in PostgreSQL needs psycopg: install it with pip install 'tinct[postgres]'"
        ) from None
    return psycopg
