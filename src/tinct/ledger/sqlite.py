"""A ledger in one SQLite file: write-ahead log, every commit on the disk before it counts.

Each transaction has a connection of its own, so a ledger can be used from threads and after a fork. Only those who can
write the file can read it and its log, where an answer may be left that could not be stored.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinct._files import sync_folder
from tinct.errors import FileError
from tinct.ledger import stored_rows
from tinct.ledger.store import SCHEMA, NoLedger, NotCommitted, Row
from tinct.ledger.stored_rows import TABLES
from tinct.ledger.upgrade import FIRST, FIRST_TABLES, upgrade

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


APPLICATION = 0x74696E63  # "tinc" in the file's header says whose file it is
_READ, _WRITE = "BEGIN", "BEGIN IMMEDIATE"
_SETTINGS = ("synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON")
_CHANGED = "the tables are not those of a ledger: something else has changed the file"
_REASONS = {
    "SQLITE_BUSY": "another process has it locked, for more than {timeout:g} s: try again",
    "SQLITE_LOCKED": "another process has it locked, for more than {timeout:g} s: try again",
    "SQLITE_READONLY": "the file or its folder is write-protected",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk failed ({name})",
    "SQLITE_CORRUPT": "the file is damaged: restore it from a copy",
    "SQLITE_NOTADB": "this is not a ledger (nor any SQLite file)",
    "SQLITE_CANTOPEN": "it cannot be opened: are the file and its folder there and writable?",
    "SQLITE_PERM": "access is not permitted",
    "SQLITE_AUTH": "access is not permitted",
    "SQLITE_NOMEM": "there is not enough memory",
    "SQLITE_TOOBIG": "the text is too long",
    "SQLITE_CONSTRAINT": "its tables contradict each other: the file is damaged, or was changed by something else",
}


class SqliteSession:
    """One transaction on a connection."""

    def __init__(self, connection: sqlite3.Connection, store: SqliteStore) -> None:
        self._connection, self._store = connection, store

    def run(self, statement: str, *values: str | int) -> list[Row]:
        """Run a statement and return its rows."""
        with self._store.translated():
            return self._connection.execute(statement, values).fetchall()

    def charge(self, totals: list[Row], entry: Row) -> None:
        """Record a charge, its totals and the room for its answer."""
        stored_rows.write_totals(self, totals, entry[0])
        stored_rows.write_entry(self, entry)

    def answer(self, row: Row) -> None:
        """Store the answer of a charge that has none."""
        stored_rows.write_answer(self, row)


class SqliteStore:
    """A ledger in the file ``name``."""

    def __init__(self, path: str, timeout: float) -> None:
        self.name = path
        self.timeout = timeout
        self._path = os.path.abspath(path)  # a later change of the working folder must not lead elsewhere

    @contextmanager
    def founding(self) -> Iterator[SqliteSession]:
        """Make the file and its tables unless they are there, in the same transaction as what follows."""
        folder = os.path.dirname(self._path)
        if not os.path.isdir(folder):
            raise FileError(f"the folder {folder} does not exist: create it first", path=self.name)
        with self._transaction("rwc", _WRITE, found=True) as session:
            yield session
        sync_folder(folder)

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        """One immediate transaction: others wait for its end."""
        with self._transaction("rw", _WRITE) as session:
            yield session

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        """A consistent view of the file, read-only."""
        with self._transaction("rw", _READ) as session:
            yield session

    def present(self) -> bool:
        """Whether there is a file with something in it, or anything else of that name."""
        try:
            state = os.stat(self._path)
        except OSError:  # opening says what is wrong
            return False
        return state.st_size > 0 or not stat.S_ISREG(state.st_mode)

    def inspect(self) -> None:
        """Let SQLite check its pages, indexes and references."""
        with self.reading() as session:
            found = [*session.run("PRAGMA integrity_check"), *session.run("PRAGMA foreign_key_check")]
        if found != [("ok",)]:
            raise FileError(self._reason("SQLITE_CORRUPT"), path=self.name)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Say in words what SQLite found."""
        try:
            yield
        except sqlite3.Error as error:
            raise FileError(self._reason(_code(error)), path=self.name) from None
        except OSError as error:  # the file is gone, say
            raise FileError(f"cannot be opened: {error.strerror}", path=self.name) from None
        except UnicodeDecodeError:  # not even the message about the damage could be read
            raise FileError(self._reason("SQLITE_CORRUPT"), path=self.name) from None

    @contextmanager
    def _transaction(self, mode: str, begin: str, *, found: bool = False) -> Iterator[SqliteSession]:
        self._require_file(may_be_absent=found)
        if found:
            _make_private(self._path)
        with self.translated():
            connection = self._connect(mode)
        with closing(connection):
            if self._is_old(connection):
                self._upgrade(connection)
            if not found:
                with self.translated():
                    self._require_ledger(connection)
                    self._use_journal(connection, "wal")
                    if begin == _WRITE:
                        self._close_to_readers(connection)
            with self.translated():
                connection.execute(begin)
            try:
                with self.translated():
                    if found and self._is_blank(connection):
                        self._make_tables(connection)
                    self._require_ledger(connection)  # again: somebody may have changed it before the lock
                    if begin == _WRITE:
                        self._require_private()
                yield SqliteSession(connection, self)
            except BaseException:
                _roll_back(connection)
                raise
            if begin == _READ:
                _roll_back(connection)
            else:
                self._commit(connection)
            if found:
                with self.translated():
                    self._use_journal(connection, "wal")

    def _connect(self, mode: str) -> sqlite3.Connection:
        address = f"{Path(self._path).as_uri()}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=self.timeout, isolation_level=None)
        try:
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            _roll_back(connection)
            raise NotCommitted(self._reason(_code(error))) from None

    def _require_file(self, *, may_be_absent: bool) -> None:
        """Refuse what is no file, before SQLite is asked to open or to create anything.

        The file is not opened here: to close it would end the locks that other threads of this process have on it, and
        another process could then take the log away from under their charges.
        """
        try:
            state = os.stat(self._path)
            if stat.S_ISDIR(state.st_mode):
                raise FileError("this is a folder, not a ledger", path=self.name)
            if not stat.S_ISREG(state.st_mode):
                raise FileError("this is not a regular file", path=self.name)
            if state.st_nlink > 1:  # SQLite keeps a log for each name, and one would not know of the other's charges
                raise FileError("the file has a second name (a hard link): remove one of the two", path=self.name)
            if not state.st_size and not may_be_absent:
                raise FileError("the file is empty, not a ledger: give epsilon to make it one", path=self.name)
            if not os.access(self._path, os.W_OK):  # SQLite would open it for reading only
                raise FileError(self._reason("SQLITE_READONLY"), path=self.name)
        except FileNotFoundError:
            if not may_be_absent:
                raise NoLedger(
                    "there is no ledger: create one with tinct budget init, or in Python with epsilon=…", path=self.name
                ) from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise FileError(f"cannot be opened: {reason}", path=self.name) from None

    def _is_blank(self, connection: sqlite3.Connection) -> bool:
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        return not tables and _pragma(connection, "application_id") == 0 and _pragma(connection, "user_version") == 0

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        for statement in _tables(TABLES):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _is_old(self, connection: sqlite3.Connection) -> bool:
        with self.translated():
            ours = _pragma(connection, "application_id") == APPLICATION
            return bool(ours and _pragma(connection, "user_version") == FIRST)

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Rewrite a ledger of the first schema in the tables of today, in one transaction."""
        with self.translated():
            connection.execute(_WRITE)
        try:
            if self._is_old(connection):  # nobody else was faster
                with self.translated():
                    self._require_tables(connection, FIRST_TABLES)
                upgrade(SqliteSession(connection, self), _tables(TABLES))
                with self.translated():
                    connection.execute(f"PRAGMA user_version = {SCHEMA}")
        except BaseException:
            _roll_back(connection)
            raise
        self._commit(connection)

    def _require_ledger(self, connection: sqlite3.Connection) -> None:
        if _pragma(connection, "application_id") != APPLICATION:
            raise FileError("this is an SQLite file, but not a ledger", path=self.name)
        schema = _pragma(connection, "user_version")
        if schema > SCHEMA:
            raise FileError(
                f"a newer tinct made this ledger (schema {schema}; this one knows {SCHEMA})", path=self.name
            )
        if schema != SCHEMA:
            raise FileError(_CHANGED, path=self.name)
        self._require_tables(connection, TABLES)

    def _require_tables(self, connection: sqlite3.Connection, tables: Iterable[str]) -> None:
        """Triggers and views could change what a statement means, so there must be exactly our tables."""
        rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        if {row[0] for row in rows} != set(_tables(tables)):
            raise FileError(_CHANGED, path=self.name)

    def _use_journal(self, connection: sqlite3.Connection, wanted: str) -> None:
        deadline = time.monotonic() + self.timeout
        while _pragma(connection, "journal_mode") != wanted:
            try:
                mode = connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0]
            except sqlite3.OperationalError as error:  # this one statement does not wait for others by itself
                if not _code(error).startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
                continue
            if mode != wanted:
                raise FileError("the folder cannot hold SQLite's write-ahead log: use a local disk", path=self.name)

    def _close_to_readers(self, connection: sqlite3.Connection) -> None:
        _close_to_readers(self._path)
        if _has_open_log(self._path):
            # who has opened the old log can read on in it, however it is closed now: it is replaced
            for mode in ("delete", "wal"):
                self._use_journal(connection, mode)
            self._require_ledger(connection)  # whatever is read makes the new log

    def _require_private(self) -> None:
        """Refuse to write where others can read: before anything is charged, and before an answer is stored."""
        _close_to_readers(self._path)
        if problem := _whats_open(self._path):
            raise FileError(problem, path=self.name)

    def _reason(self, name: str) -> str:
        kind = "_".join(name.split("_")[:2])
        return _REASONS.get(kind, "SQLite cannot go on ({name})").format(timeout=self.timeout, name=name)


def _tables(statements: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{statement} STRICT" for statement in statements)


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _code(error: sqlite3.Error) -> str:
    """SQLite's name for an error. Python's own have none; for us they mean text that cannot be decoded."""
    return getattr(error, "sqlite_errorname", None) or "SQLITE_CORRUPT"


def _roll_back(connection: sqlite3.Connection) -> None:
    """Undo a transaction. What it may have left in the log is cut off where possible: nobody has been shown it."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if connection.total_changes:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


# who can read the files: nobody who cannot write them
#
# An answer is drawn before it is stored. If storing it fails half way, SQLite's write-ahead log may hold an answer that
# was never shown, and the same request draws another. Whoever could read the log would see several draws for one charge
# (docs/security/attacks.md). Whoever can write the files could replace them by an older copy, and so is trusted anyway.


_ALONE = 0o600
_GROUP = 0o060
_LOGS = ("-wal", "-shm")
_HAS_MODES = os.name == "posix"  # elsewhere, the folder's access list decides


def _make_private(path: str) -> None:
    """Make an empty file for its owner alone, whatever the umask, unless there is one; SQLite says why it cannot be."""
    with suppress(OSError):
        try:  # not opened: to close it would end the locks that other threads of this process may have on it by then
            os.mknod(path, stat.S_IFREG | _ALONE)
        except (AttributeError, PermissionError):  # not on this system
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _ALONE))
        os.chmod(path, _ALONE)


def _close_to_readers(path: str) -> None:
    """Take the file from those who can read it and not write it, if we may."""
    if _HAS_MODES and _is_open(state := os.stat(path)):
        with suppress(OSError):  # not ours: see _whats_open
            os.chmod(path, _ALONE | _shared(state))


def _has_open_log(path: str) -> bool:
    """Whether those who cannot write the file can read its log, or could when the log was made."""
    return bool(_open_logs(os.path.realpath(path))) if _HAS_MODES else False


def _whats_open(path: str) -> str:
    """What is wrong with the files, and what would be right; empty if only those who can write them can read them."""
    if not _HAS_MODES:
        return ""
    if _is_open(os.stat(path)):
        return "others can read this file, and it is not ours to change: its owner can, with chmod 600"
    if logs := _open_logs(os.path.realpath(path)):
        return (
            f"others can read its log {os.path.basename(logs[0])}: keep the ledger to one account (chmod 600), or have "
            "its folder hand on the group of the ledger (chmod g+s)"
        )
    return ""


def _open_logs(path: str) -> list[str]:
    """The logs that others can read. SQLite gives a log the mode of the file, but not always its group."""
    file, found = os.stat(path), []
    for log in (f"{path}{ending}" for ending in _LOGS):
        with suppress(FileNotFoundError):
            state = os.stat(log)
            same = _shared(file) if state.st_gid == file.st_gid else 0
            if stat.S_IMODE(state.st_mode) & ~(_ALONE | same):
                found.append(log)
    return found


def _is_open(state: os.stat_result) -> bool:
    return bool(stat.S_IMODE(state.st_mode) & ~(_ALONE | _shared(state)))


def _shared(state: os.stat_result) -> int:
    """The rights of a group that can read and write: its members run the ledger together."""
    return _GROUP if state.st_mode & _GROUP == _GROUP else 0
