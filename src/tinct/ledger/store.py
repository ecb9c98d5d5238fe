"""Where a ledger is kept: the small interface that SQLite and PostgreSQL both offer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tinct._files.loading import FilePath

Row = tuple[Any, ...]

SCHEMA = 2
URLS = ("postgresql://", "postgres://")
MAX_TIMEOUT = 3600.0


class Session(Protocol):
    """One transaction. Statements are written with ``?`` for values; every error of the database is a FileError."""

    def run(self, statement: str, *values: str | int) -> list[Row]:
        """Run a statement and return its rows, if it has any."""

    def charge(self, totals: list[Row], entry: Row) -> None:
        """Record the totals after a charge, one more entry, and the room for its answer."""

    def answer(self, row: Row) -> None:
        """Store the answer of a charge that has none."""


@runtime_checkable
class Store(Protocol):
    """A database with one ledger in it. ``name`` is safe to print: it has no password.

    For one of your own, begin with ``SqlStore`` (docs/extending/ledger-store.md).
    """

    name: str

    def present(self) -> bool:
        """Whether something exists at this place, a ledger or not."""

    def founding(self) -> AbstractContextManager[Session]:
        """Like ``writing``, but make the tables first if there are none."""

    def writing(self) -> AbstractContextManager[Session]:
        """The only write transaction at a time; it is on the disk when the block has ended.

        If the block raises, nothing is recorded. If the end of the block raises NotCommitted, it may or may not be.
        """

    def reading(self) -> AbstractContextManager[Session]:
        """A consistent view of the ledger, read-only."""

    def inspect(self) -> None:
        """Check what the database itself can check."""


class NoLedger(FileError):  # noqa: N818 # internal: to whoever asks it is a FileError
    """There is no ledger yet at this place."""


class NotCommitted(Exception):  # noqa: N818 # internal: the book turns it into a FileError that names the request
    """The transaction could not be confirmed: it may or may not have been recorded."""


class Damaged(Exception):  # noqa: N818 # internal: the book turns it into a FileError that names the ledger
    """What is stored contradicts itself."""


def store_at(place: FilePath | Store, timeout: float) -> Store:
    """The store for a path or a PostgreSQL URL, or the one that is given. Nothing is opened yet."""
    if isinstance(place, Store):
        return place
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= MAX_TIMEOUT:
        raise ParameterError.of("timeout", f"a number of seconds in [0, {MAX_TIMEOUT:g}]", timeout)
    if isinstance(place, str) and place.startswith(URLS):
        from tinct.ledger.postgres import PostgresStore

        return PostgresStore(place, timeout)
    if not isinstance(place, str | os.PathLike) or not os.fspath(place):
        raise ParameterError(
            "a ledger is at a path, at a PostgreSQL URL such as postgresql://user@host/database, or in a Store"
        )
    path = os.fspath(place)
    if not isinstance(path, str) or "\0" in path:
        raise ParameterError("the path of a ledger must be text without the character NUL")
    if "://" in path:
        raise ParameterError("a ledger's URL must begin with postgresql:// (anything else is taken for a path)")
    from tinct.ledger.sqlite import SqliteStore

    return SqliteStore(path, timeout)
