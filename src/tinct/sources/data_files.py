"""The files of a data set: one, the parts in a folder, or those that fit a pattern; and that they stay as they are."""

from __future__ import annotations

import difflib
import glob
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinct._files import read_bytes
from tinct._files.loading import require_path
from tinct.errors import FileError
from tinct.sources.byte_streams import PACKINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tinct._files.loading import FilePath
    from tinct.sources.duckdb_engine import Way


TEXT = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
PARQUET = ".parquet"
WORKBOOKS = (".xlsx", ".xlsm")
SQLITE = (".sqlite", ".sqlite3", ".db")
DUCKDB = ".duckdb"
HOLDING_TABLES = (*WORKBOOKS, *SQLITE, DUCKDB)  # a sheet or table is named behind a number sign
MAX_PARTS = 10_000
_ENDS = (
    f"{', '.join(TEXT)} (also with {' or '.join(PACKINGS)} behind), {PARQUET}, {', '.join(HOLDING_TABLES[:-1])} or "
    f"{HOLDING_TABLES[-1]}"
)
_OTHERS = {
    ".xls": "an old spreadsheet: save it as .xlsx",
    ".xlsb": "a binary spreadsheet: save it as .xlsx",
    ".ods": "a spreadsheet of another program: save it as .xlsx",
    ".zip": "an archive: unpack it first",
    ".txt": "text of any kind: name it .csv or .tsv",
}
_TABLE = re.compile(rf"(.*(?:{'|'.join(map(re.escape, HOLDING_TABLES))}))#(.+)", re.DOTALL | re.IGNORECASE)
_PATTERN = re.compile(r"[*?\[\]{}]")


@dataclass(frozen=True)
class DataFiles:
    """The files of a data set as they were when it was opened.

    Attributes:
        paths: All of them, in the order of their names.
        kind: How their names end, in lower case and without what says that they are packed.
        place: By what the data set is told from others.
        name: What it is called in errors.
        table: The sheet or table that was named, if one was.
    """

    paths: tuple[Path, ...]
    kind: str
    place: str
    name: str
    table: str | None = None
    found: Callable[[], tuple[Path, ...]] | None = field(default=None, repr=False, compare=False)
    states: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    @property
    def path(self) -> Path:
        """The first of the files, or the only one."""
        return self.paths[0]

    @contextmanager
    def watched(self, way: Way) -> Iterator[Any]:
        """A way to read them; in the end they must be what they were, or what was read is no state of the data."""
        with way as found:
            yield found
        self._require_unchanged()

    def _require_unchanged(self) -> None:
        try:
            same = self.states == tuple(map(state_of, self.paths)) and (
                self.found is None or self.found() == self.paths
            )
        except (OSError, FileError):
            same = False
        if not same:
            raise FileError("it has changed while it was read: make a copy, and ask about that", path=self.name)


def located(given: FilePath) -> DataFiles:
    """The files that a path names: a file, a folder of parts, a pattern, or a table in a file (``data.db#people``)."""
    require_path(given)
    written = os.fspath(given)
    if "\0" in written:
        raise FileError("a path must not hold a NUL", path=given)
    path, table = Path(os.path.abspath(written)), None
    if (named := _TABLE.fullmatch(written)) and not path.exists():
        path, table = Path(os.path.abspath(named[1])), named[2]
    if path.is_dir():
        return _parts(path, path.name or str(path), lambda: _in_folder(path))
    if _PATTERN.search(written) and not path.exists() and not path.is_symlink():
        return _parts(path, written, lambda: _fitting(path))
    kind = kind_of(path)
    require_file(path)
    place, name = (str(path), path.name) if table is None else (f"{path}#{table}", f"{path.name}#{table}")
    return DataFiles((path,), kind, place, name, table, states=(state_of(path),))


def kind_of(path: Path) -> str:
    """What a file is, by its name alone.

    >>> kind_of(Path("survey.CSV.gz")), kind_of(Path("survey.parquet"))
    ('.csv', '.parquet')
    """
    last, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    if last in PACKINGS and inner in TEXT:
        return inner
    if last in TEXT or last in (PARQUET, *HOLDING_TABLES):
        return last
    hint = f", which is {_OTHERS[last]}" if last in _OTHERS else ""
    got = f"{inner}{last}" if last in PACKINGS else last
    raise FileError(f"the name must end in {_ENDS}, got {got or 'no suffix'!r}{hint}", path=path)


def require_file(path: Path) -> None:
    """Refuse what is not a regular file that can be read."""
    if _PATTERN.search(str(path)):  # the engine would look for several files
        raise FileError("the path must not hold any of * ? [ ] { }: rename the file", path=path)
    if path.is_symlink() and not path.exists():
        raise FileError("this is a link to a file that is not there", path=path)
    if not path.exists() or not path.is_file():
        read_bytes(path)  # says what is wrong with it
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=path) from None


def _parts(path: Path, name: str, find: Callable[[], tuple[Path, ...]]) -> DataFiles:
    """Files that belong together: each of the same kind; what is in them is compared when they are opened."""
    paths = find()
    if len(paths) > MAX_PARTS:
        raise FileError(f"there are {len(paths):,} parts: at most {MAX_PARTS:,} are read", path=path)
    first = "".join(paths[0].suffixes[-2:]) if paths[0].suffix.lower() in PACKINGS else paths[0].suffix
    for each in paths:
        if not each.name.lower().endswith(first.lower()):
            raise FileError(f"the parts must all end alike, in {first or 'a suffix'}, and this does not", path=each)
        require_file(each)
    kind = kind_of(paths[0])
    if kind in HOLDING_TABLES:
        raise FileError(f"parts can be text or Parquet, not {kind}", path=path)
    return DataFiles(paths, kind, str(path), name, found=find, states=tuple(map(state_of, paths)))


def _in_folder(folder: Path) -> tuple[Path, ...]:
    try:
        listed = sorted(each for each in folder.iterdir() if not each.name.startswith((".", "_")))
    except OSError as error:
        raise FileError(f"the folder cannot be read: {error.strerror}", path=folder) from None
    if not listed:
        raise FileError("the folder has no parts in it", path=folder)
    if inner := next((each for each in listed if each.is_dir()), None):
        raise FileError("this folder stands among the parts: name one folder, or a pattern of files", path=inner)
    return tuple(listed)


def _fitting(pattern: Path) -> tuple[Path, ...]:
    listed = sorted(map(Path, glob.glob(str(pattern))))
    if not listed:
        raise FileError("no file fits this pattern", path=pattern)
    return tuple(listed)


def state_of(path: Path) -> tuple[int, ...]:
    """What a file is and when it was last written to."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


# which table of several is asked about: the one that is named behind the file, or the only one


_SHOWN = 12


def chosen_table(tables: Sequence[str], files: DataFiles, word: str, *, first: bool = False) -> str:
    """The name of the table; of several, one has to be named, unless the first will do."""
    if not tables:
        raise FileError(f"there is no {word} in it", path=files.path)
    listed = ", ".join(tables[:_SHOWN]) + (f" and {len(tables) - _SHOWN:,} more" if len(tables) > _SHOWN else "")
    if files.table is None:
        if len(tables) > 1 and not first:
            raise FileError(
                f"say which {word}, such as {files.path.name}#{tables[0]}: it has {listed}", path=files.path
            )
        return tables[0]
    if files.table not in tables:
        near = difflib.get_close_matches(files.table, tables, n=1)
        hint = f": did you mean {near[0]}?" if near else "."
        raise FileError(f"there is no {word} {files.table!r:.80}{hint} It has {listed}", path=files.path)
    return files.table
