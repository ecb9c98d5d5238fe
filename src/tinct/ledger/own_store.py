"""A ledger in a database of one's own: a subclass says how a transaction is made, and the rest is here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tinct.errors import FileError, TinctError
from tinct.ledger import stored_rows
from tinct.ledger.store import NotCommitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tinct.ledger.store import Row

    Execute = Callable[[str, tuple[str | int, ...]], list[Row]]

_ANYTHING = "SELECT count(*) FROM tinct_ledger"


class SqlSession:
    """One transaction of a SqlStore."""

    def __init__(self, execute: Execute, store: SqlStore) -> None:
        self._execute, self._store = execute, store

    def run(self, statement: str, *values: str | int) -> list[Row]:
        """Run a statement and return its rows."""
        try:
            return [tuple(row) for row in self._execute(statement, values)]
        except Exception as error:
            problem = _problem(self._store, error)
        raise FileError(problem)

    def charge(self, totals: list[Row], entry: Row) -> None:
        """Record a charge."""
        stored_rows.write_totals(self, totals, entry[0])
        stored_rows.write_entry(self, entry)

    def answer(self, row: Row) -> None:
        """Store an answer."""
        stored_rows.write_answer(self, row)


class SqlStore(ABC):
    """A ledger in any SQL database. A subclass sets ``name``, which is printed, and makes transactions.

    ``check_store`` tries whether they keep what a ledger needs of them.
    """

    name: str

    @abstractmethod
    def transaction(self, *, write: bool) -> AbstractContextManager[Execute]:
        """One transaction, as a context manager that gives a function: execute(statement, values) returns the rows.

        Statements have ``?`` for values. At the end of the block the transaction is committed, and is on the disk
        before the context manager returns; raise NotCommitted if nobody knows. If the block raises, it is rolled back.
        With ``write`` nobody else writes meanwhile, in no thread and no process; without, the view is consistent.
        """

    def present(self) -> bool:
        """Whether the tables are there."""
        with self._session(write=False) as session:
            try:
                session.run(_ANYTHING)
            except FileError:  # whatever a database says of a table that it does not have
                return False
        return True

    @contextmanager
    def founding(self) -> Iterator[SqlSession]:
        """Like ``writing``, but make the tables first if there are none."""
        there = self.present()
        with self._session(write=True) as session:
            if not there:
                for statement in stored_rows.TABLES:
                    session.run(statement.replace("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1))
            yield session

    @contextmanager
    def writing(self) -> Iterator[SqlSession]:
        """The one write transaction."""
        self._require_there()
        with self._session(write=True) as session:
            yield session

    @contextmanager
    def reading(self) -> Iterator[SqlSession]:
        """A consistent view."""
        self._require_there()
        with self._session(write=False) as session:
            yield session

    def inspect(self) -> None:
        """Check what the database itself can check; here, that the tables can be read."""
        self._require_there()

    def _require_there(self) -> None:
        if not self.present():
            raise FileError(f"{self.name}: there is no ledger: give an epsilon to make one")

    @contextmanager
    def _session(self, *, write: bool) -> Iterator[SqlSession]:
        inside: BaseException | None = None
        try:
            with self.transaction(write=write) as execute:
                try:
                    yield SqlSession(execute, self)
                except BaseException as error:  # the block's own error goes on as it is, once all is rolled back
                    inside = error
                    raise
        except Exception as error:
            if error is inside or isinstance(error, TinctError | NotCommitted):
                raise
            problem = _problem(self, error)
        else:
            return
        raise FileError(problem)


def _problem(store: SqlStore, error: Exception) -> str:
    """What is said of an error of the database: its kind alone, since its text may quote what is stored."""
    return f"{store.name}: the database cannot go on ({type(error).__name__})"
