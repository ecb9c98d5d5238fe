"""A ledger in a database of one's own: a subclass says how a transaction is made, and the rest is here."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct.errors import BudgetExceeded, FileError, NotAnswered, ParameterError, TinctError
from tinct.ledger import stored_rows
from tinct.ledger.book import DEFAULT, Ledger
from tinct.ledger.contents import State
from tinct.ledger.store import NotCommitted, Store

if TYPE_CHECKING:
    from collections.abc import Callable


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


# whether a store keeps what a ledger needs of it


_ASKERS = 8
_TOO_MANY = 24  # charges of a tenth of the budget each
_TEXT = "Grüße, 'quotes', \"more\", ?, %s, 日本語, 🙂"
_WAIT = 30.0


class _Stop(Exception):  # noqa: N818 # never leaves this module
    """Raised in a block, to see what is left of it."""


def check_store(open_store: Callable[[], Store]) -> None:
    """Try a store; ParameterError says what it does not keep.

    ``open_store`` is called several times, also in other threads, and opens the same place each time, which has no
    ledger yet. What cannot be tried here: that a charge survives the loss of power, that writers in other processes are
    kept out, and that a commit which was not confirmed raises NotCommitted.

    >>> import os, tempfile
    >>> from tinct.ledger.store import store_at
    >>> path = os.path.join(tempfile.mkdtemp(), "budget.db")
    >>> check_store(lambda: store_at(path, 30.0))
    """
    try:
        _try(open_store)
    except (FileError, NotAnswered) as error:
        raise ParameterError(f"not a ledger store: what has to work fails ({error})") from None


def _try(open_store: Callable[[], Store]) -> None:
    store = open_store()
    _require(isinstance(store, Store), f"{type(store).__name__} lacks a method of Store")
    _require(not store.present(), "present() must be false where there is no ledger yet: give check_store a new place")
    _require(_refuses(lambda: Ledger(open_store())), "opening a ledger that is not there must be a FileError")
    ledger = Ledger(store, epsilon=1)
    _require(store.present(), "present() must be true once there is a ledger")
    _require("default" in Ledger(open_store()).scopes(), "a ledger must be there for whoever opens the place again")
    _keeps_values(ledger, open_store)
    _is_all_or_nothing(open_store())
    _says_what_is_wrong(open_store())
    _charges_before_it_draws(ledger, open_store)
    _keeps_a_view(open_store)
    _never_overspends(ledger, open_store)
    _answers_a_request_once(ledger, open_store)
    ledger.audit()


def _keeps_values(ledger: Ledger, open_store: Callable[[], Store]) -> None:
    ledger.add_scope("values", 1)
    long = _TEXT * 2000
    ledger.charge(
        lambda: [_TEXT, 2**60, None], epsilon="1/3", scope="values", question=_TEXT, request="values", room=1000
    )
    ledger.add_partition("wide", long[:9000], scope="values")
    again = Ledger(open_store())
    entry = again.find("values")
    kept = entry is not None and (entry.answer, entry.question, entry.epsilon) == (
        [_TEXT, 2**60, None],
        _TEXT,
        Fraction(1, 3),
    )
    _require(kept, "text and whole numbers must be read as they were written")
    _require(again.partitions("values") == {"wide": long[:9000]}, "long text must be read as it was written")


def _is_all_or_nothing(store: Store) -> None:
    with suppress(_Stop), store.writing() as session:
        stored_rows.add_partition(session, DEFAULT, "half", "never to be seen", "check_store")
        raise _Stop
    with store.reading() as session:
        left = stored_rows.partitions(session, DEFAULT)
    _require("half" not in left, "if a block raises, nothing of it may be kept (and the error has to go on)")


def _says_what_is_wrong(store: Store) -> None:
    def ask_for_nothing() -> None:
        with store.reading() as session:
            session.run("SELECT nothing FROM tinct_no_such_table")

    _require(_refuses(ask_for_nothing), "whatever the database says must become a FileError")


def _charges_before_it_draws(ledger: Ledger, open_store: Callable[[], Store]) -> None:
    seen: list[Any] = []

    def draw() -> str:
        entry = Ledger(open_store()).find("order")
        seen.append(entry is not None and entry.state is State.CHARGED)
        raise _Stop

    ledger.add_scope("order", 1)
    with suppress(_Stop):
        ledger.charge(draw, epsilon="0.5", scope="order", request="order")
    _require(seen == [True], "a charge must be there for everybody once writing() has ended, before anything is drawn")
    entry = ledger.charge(lambda: "later", epsilon="0.5", scope="order", request="order")
    spent = Ledger(open_store()).spent("order").epsilon
    _require((entry.answer, spent) == ("later", Fraction(1, 2)), "an answer must be stored with its charge")


def _keeps_a_view(open_store: Callable[[], Store]) -> None:
    ledger = Ledger(open_store())
    ledger.add_scope("view", 1)
    with ThreadPoolExecutor(1) as pool:
        with open_store().reading() as session:
            before = stored_rows.peaks(session, "view"), stored_rows.entry_count(session)
            other = pool.submit(ledger.charge, lambda: "x", epsilon="0.5", scope="view")
            wait([other], timeout=0.5)  # a store may let it wait until this block has ended
            after = stored_rows.peaks(session, "view"), stored_rows.entry_count(session)
        other.result(timeout=_WAIT)
    _require(before == after, "what reading() shows must not change while it is read")


def _never_overspends(ledger: Ledger, open_store: Callable[[], Store]) -> None:
    ledger.add_scope("race", 1)
    start = threading.Barrier(_ASKERS)

    def charges(asker: int) -> int:
        mine, granted = Ledger(open_store()), 0
        start.wait(timeout=_WAIT)
        for at in range(_TOO_MANY // _ASKERS):
            try:
                mine.charge(lambda: "x", epsilon="1/10", scope="race", request=f"race {asker} {at}")
                granted += 1
            except BudgetExceeded:
                pass
        return granted

    try:
        with ThreadPoolExecutor(_ASKERS) as pool:
            granted = sum(pool.map(charges, range(_ASKERS)))
    except FileError as error:
        raise ParameterError(f"not a ledger store: writers must wait for each other ({error})") from None
    spent, entries = ledger.spent("race").epsilon, len(ledger.history("race"))
    kept = granted == entries == 10 and spent == 1
    _require(kept, f"nobody else may write in writing(): ten charges fit, {granted} were granted, {entries} kept")


def _answers_a_request_once(ledger: Ledger, open_store: Callable[[], Store]) -> None:
    ledger.add_scope("once", 1)
    start = threading.Barrier(_ASKERS)

    def ask(asker: int) -> Any:
        mine = Ledger(open_store())
        start.wait(timeout=_WAIT)
        return mine.charge(lambda: asker, epsilon="1/2", scope="once", request="once").answer

    with ThreadPoolExecutor(_ASKERS) as pool:
        answers = set(pool.map(ask, range(_ASKERS)))
    kept = len(answers) == 1 and ledger.spent("once").epsilon == Fraction(1, 2)
    _require(kept, "one request asked by many at once must be charged once and have one answer")


def _refuses(action: Callable[[], Any]) -> bool:
    try:
        action()
    except FileError:
        return True
    except Exception:
        return False
    return False


def _require(holds: Any, law: str) -> None:
    if not holds:
        raise ParameterError(f"not a ledger store: {law}")
