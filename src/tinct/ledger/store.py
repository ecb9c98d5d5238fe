"""Where a ledger is kept: the small interface that SQLite and PostgreSQL both offer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Row = tuple[Any, ...]

SCHEMA = 1
URLS = ("postgresql://", "postgres://")
MAX_TIMEOUT = 3600.0


class Session(Protocol):
    """One transaction. Statements are written with ``?`` for values; whatever the database says is a FileError."""

    def run(self, statement: str, *values: str | int) -> list[Row]:
        """Run a statement and return its rows, if it has any."""


class Store(Protocol):
    """A database with one ledger in it. ``name`` is safe to print: it has no password."""

    name: str

    def present(self) -> bool:
        """Whether there is something to open, be it a ledger or not."""

    def founding(self) -> AbstractContextManager[Session]:
        """Like ``writing``, but make the tables first if there are none."""

    def writing(self) -> AbstractContextManager[Session]:
        """The one write transaction: nobody else writes meanwhile; it is on the disk when the block has ended.

        If the block raises, nothing has happened. If the end of the block raises NotCommitted, nobody knows.
        """

    def reading(self) -> AbstractContextManager[Session]:
        """A consistent view."""

    def inspect(self) -> None:
        """Check what the database itself can check."""


class NotCommitted(Exception):  # noqa: N818 # internal: the book turns it into a FileError that names the request
    """The transaction could not be confirmed: it may or may not have been recorded."""


class Damaged(Exception):  # noqa: N818 # internal: the book turns it into a FileError that names the ledger
    """What is stored contradicts itself."""


def store_at(place: Any, timeout: float) -> Store:
    """The store for a path or a PostgreSQL URL. Nothing is opened yet."""
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= MAX_TIMEOUT:
        raise ParameterError(f"timeout must be a number of seconds in [0, {MAX_TIMEOUT:g}], got {timeout!r:.80}")
    if isinstance(place, str) and place.startswith(URLS):
        from tinct.ledger.postgres import PostgresStore

        return PostgresStore(place, timeout)
    if not isinstance(place, str | os.PathLike) or not os.fspath(place):
        raise ParameterError("a ledger is at a path or at a PostgreSQL URL such as postgresql://user@host/database")
    path = os.fspath(place)
    if not isinstance(path, str) or "\0" in path:
        raise ParameterError("the path of a ledger must be text without the character NUL")
    if "://" in path:
        raise ParameterError("a ledger's URL must begin with postgresql:// (anything else is taken for a path)")
    from tinct.ledger.sqlite import SqliteStore

    return SqliteStore(path, timeout)
