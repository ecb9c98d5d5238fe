"""Which table of several is asked about: the one that is named behind the file, or the only one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from tinct.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.sources.data_files import DataFiles

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
