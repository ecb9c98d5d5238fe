"""DuckDB, kept on a short leash: no network, no extensions, no files but the one that is asked about.

The engine's own messages quote cells, so none of them leaves this module, not even as the cause of another error.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError, TinctError
from tinct.sources.sql_dialects import text_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import ModuleType

    from tinct.sources.columns import Column
    from tinct.sources.counting_sql import Statement

    Way = AbstractContextManager[tuple[Callable[[str], Any], str]]

VIEW = "tinct_rows"
DATABASE = "tinct_data"

_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_UNREADABLE = "the engine cannot read it to the end: the file is damaged, or has changed since it was opened"
_TOO_LARGE = "there is not enough memory and disk to count it"


def duckdb() -> ModuleType:
    """The engine, if it is installed."""
    try:
        import duckdb as module
    except ImportError:
        raise TinctError("reading data needs DuckDB: install it with `pip install 'tinct[data]'`") from None
    return module


def pyarrow() -> ModuleType:
    """Arrow, if it is installed."""
    try:
        import pyarrow as module  # type: ignore[import-untyped, unused-ignore] # noqa: ICN001 # as above
    except ImportError:
        raise TinctError("reading data needs pyarrow: install it with `pip install 'tinct[data]'`") from None
    return module  # type: ignore[no-any-return, unused-ignore]


class Engine:
    """Something that runs statements; ``name`` says in errors what the rows are from.

    There may be several ways to read the same columns, the quick one first. They agree on every cell that the quick one
    can read; where it comes upon one that it cannot, the next one is taken, for which that cell is missing.
    """

    def __init__(
        self, name: str, ways: Callable[[list[Column]], Iterator[Way]], close: Callable[[], None] = lambda: None
    ) -> None:
        self.name = name
        self.close = close
        self._ways = ways

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        """The rows a statement returns."""
        (found,) = self._results(statement, lambda result: iter([result.fetchall()]))
        return found  # type: ignore[no-any-return]

    def arrays(self, statement: Statement) -> dict[str, Any]:
        """The columns a statement returns, as NumPy arrays, masked where a value is missing."""
        (found,) = self._results(statement, lambda result: iter([result.fetchnumpy()]))
        return found  # type: ignore[no-any-return]

    def batches(self, statement: Statement, size: int) -> Iterator[Any]:
        """The rows a statement returns as Arrow batches, as they come from the engine."""
        return self._results(statement, lambda result: iter(result.to_arrow_reader(size)))

    def _results(self, statement: Statement, fetch: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        for way in self._ways(statement.columns):
            begun = False
            # entered and left by hand: the error of one way must not be the context of the next one's
            run, scan = way.__enter__()
            try:
                found = guarded(lambda run=run, scan=scan: fetch(run(statement.text(scan))))  # type: ignore[misc]
                while found.reason is None:
                    each = guarded(lambda found=found: next(found.value, _END))  # type: ignore[misc]
                    if each.reason is not None:
                        found = each
                        break
                    if each.value is _END:
                        return
                    begun = True
                    yield each.value
            finally:
                self._leave(way)
            if found.reason == _TOO_LARGE or begun:
                break
        raise FileError(str(found.reason), path=self.name)

    def _leave(self, way: Way) -> None:
        """Leave a way; what went wrong on it, if that can be said, is said here."""
        try:
            way.__exit__(None, None, None)
        except FileError as error:
            error.path = self.name if error.path is None else error.path
            raise


_END = object()


class Outcome:
    """What came of asking the engine: a value, or the reason why there is none."""

    def __init__(self, value: Any, reason: str | None) -> None:
        self.value = value
        self.reason = reason


def guarded(action: Callable[[], Any]) -> Outcome:
    """Ask the engine; of its errors nothing is kept, since they may quote a cell."""
    module = duckdb()
    try:
        return Outcome(action(), None)
    except module.InterruptException:
        reason = None
    except (module.OutOfMemoryException, MemoryError):
        reason = _TOO_LARGE
    except FileError as error:  # one of our own, from a stream; it quotes nothing
        reason = error.problem
    except Exception as error:  # the engine's, Arrow's, or of whatever is in a frame: each may quote a cell
        reason = None if str(error) == "Query interrupted" else _UNREADABLE  # Ctrl-C, to some versions of DuckDB
    if reason is None:
        raise KeyboardInterrupt
    return Outcome(None, reason)


class Stream:
    """Arrow batches for the engine, which takes them as they are and hands no filter back to Arrow."""

    def __init__(self, schema: Any, batches: Iterator[Any]) -> None:
        self.failure: FileError | None = None  # between here and the engine, an error loses its type
        self._reader = pyarrow().RecordBatchReader.from_batches(schema, self._kept(batches))

    def _kept(self, batches: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from batches
        except FileError as error:
            self.failure = FileError(error.problem, path=error.path)
            raise

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._reader.__arrow_c_stream__(requested_schema)


class Private:
    """A connection of one's own, in memory, that may read a few files, or one database, and no others.

    What does not fit into memory goes into a folder that only this user can enter, and is gone afterwards. It is also
    encrypted, but that is not what we rely on.
    """

    def __init__(self, *paths: str, attached: str | None = None) -> None:
        module = duckdb()
        folder = tempfile.mkdtemp(prefix="tinct-")  # with mode 0700
        self._clean = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.connection = module.connect(":memory:", config={**_SETTINGS, "temp_directory": folder})
        if paths:
            self.connection.execute(f"SET allowed_paths=[{', '.join(map(text_literal, paths))}]")
        if attached is not None:
            self.connection.execute(f"ATTACH {text_literal(attached)} AS {DATABASE} (READ_ONLY, TYPE duckdb)")
        with suppress(module.InvalidInputException):  # in a notebook without ipywidgets it is off and cannot be set
            self.connection.execute("SET enable_progress_bar=false")
        for setting in (
            "force_mbedtls_unsafe=true",  # without an extension, it encrypts only if told so; see docs/decisions/0014
            "temp_file_encryption=true",
            "enable_external_access=false",
            "lock_configuration=true",
        ):
            self.connection.execute(f"SET {setting}")

    @contextmanager
    def reading(self, scan: str) -> Iterator[tuple[Callable[[str], Any], str]]:
        """Run statements on what an SQL expression yields."""
        yield self.connection.sql, scan

    @contextmanager
    def streaming(
        self, schema: Any, batches: Iterator[Any], scan: str = VIEW
    ) -> Iterator[tuple[Callable[[str], Any], str]]:
        """Run one statement on Arrow batches, which it sees under the name ``VIEW``."""
        stream = Stream(schema, batches)
        self.connection.register(VIEW, stream)
        try:
            yield self.connection.sql, scan
        finally:
            with suppress(duckdb().Error):  # an internal error has closed the connection already
                self.connection.unregister(VIEW)
        if stream.failure is not None:
            raise stream.failure

    def close(self) -> None:
        """Let go of the file, and remove what was put aside."""
        self.connection.close()
        self._clean()
