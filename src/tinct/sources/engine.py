"""DuckDB, kept on a short leash: no network, no extensions, no files but the one that is asked about.

The engine's own messages quote cells, so none of them leaves this module, not even as the cause of another error.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError, TinctError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

VIEW = "tinct_rows"

_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",  # secret rows are not spilled to disk
}


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
        raise TinctError("reading data frames needs pyarrow: install it with `pip install 'tinct[data]'`") from None
    return module  # type: ignore[no-any-return, unused-ignore]


class Engine:
    """Something that runs one SQL statement; ``name`` says in errors what the rows are from."""

    def __init__(self, name: str, run: Callable[[str], Any], close: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self._run = run
        self.close = close

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows a statement returns."""
        return self._guarded(statement, "fetchall")  # type: ignore[no-any-return]

    def arrays(self, statement: str) -> dict[str, Any]:
        """The columns a statement returns, as NumPy arrays, masked where a value is missing."""
        return self._guarded(statement, "fetchnumpy")  # type: ignore[no-any-return]

    def _guarded(self, statement: str, fetch: str) -> Any:
        module = duckdb()
        try:
            return getattr(self._run(statement), fetch)()
        except module.InterruptException:
            reason = None
        except module.OutOfMemoryException:
            reason = "there is not enough memory to count it"
        except (module.Error, ValueError, RuntimeError, UnicodeError) as error:
            reason = "the engine cannot read it to the end: the file is damaged, or has changed since it was opened"
            if str(error) == "Query interrupted":  # Ctrl-C, to some versions of DuckDB
                reason = None
        # raised out here, so that the engine's error, which may quote a cell, is not even its context
        if reason is None:
            raise KeyboardInterrupt
        raise FileError(f"{self.name}: {reason}")


def on_file(name: str, path: str) -> Engine:
    """An engine that may read this one file and nothing else."""
    connection = _connection()
    listed = path.replace("'", "''")
    connection.execute(f"SET allowed_paths=['{listed}']")
    _lock(connection)
    return Engine(name, connection.execute, connection.close)


def on_table(name: str, table: Any) -> Engine:
    """An engine on an Arrow table, which it sees under the name ``VIEW``; it may read no file at all."""
    if not table.column_names:
        raise FileError(f"{name}: there are no columns")
    connection = _connection()
    connection.register(VIEW, table)
    _lock(connection)
    return Engine(name, connection.execute, connection.close)


def on_relation(name: str, relation: Any) -> Engine:
    """The caller's own engine, on a relation of theirs, which it sees under the name ``VIEW``."""
    return Engine(name, lambda statement: relation.query(VIEW, statement))


def _connection() -> Any:
    module = duckdb()
    connection = module.connect(":memory:", config=_SETTINGS)
    # DuckDB 2.0 reads a column that is cast as that type in the first place, TRY_CAST included, and then drops rows
    # whose cells do not fit (duckdb issue 23818); here such a cell is missing, and its row stays. See also cells.py.
    for optimizer in ("type_pushdown", "scalar_fn_pushdown"):
        with suppress(module.Error):  # a version that has no such optimizer has no such bug
            connection.execute(f"SET disabled_optimizers = current_setting('disabled_optimizers') || ',{optimizer}'")
    return connection


def _lock(connection: Any) -> None:
    for setting in ("enable_progress_bar=false", "enable_external_access=false", "lock_configuration=true"):
        connection.execute(f"SET {setting}")
