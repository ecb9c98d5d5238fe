"""Answers for groups as a table in a file, for whoever goes on with them: group and answer."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUFFIXES = (".csv", ".tsv", ".parquet")
_HEADER = ("group", "answer")


def require_target(path: str) -> None:
    """Refuse what could not be written, before anything is charged."""
    from tinct._files import suffix_of

    suffix_of(path, _SUFFIXES)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ParameterError(f"there is no folder {folder!r}", path=path)


def write_answers(path: str, answers: Mapping[str, Any]) -> None:
    """Write the table; in .csv and .tsv, cells that a spreadsheet would run as formulas are escaped."""
    from tinct._files import suffix_of, write_atomically, write_sheet
    from tinct.asking.groups import answer_text

    if suffix_of(path, _SUFFIXES) == ".parquet":
        write_atomically(path, _parquet(answers))
    else:
        write_sheet(path, _HEADER, [(group, answer_text(answer)) for group, answer in answers.items()])


def _parquet(answers: Mapping[str, Any]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    from tinct.asking.groups import answer_text

    values = list(answers.values())
    kind = pa.string()
    if values and not any(isinstance(value, str | dict) for value in values):
        kind = pa.int64() if all(isinstance(value, int) for value in values) else pa.float64()
    cells = [answer_text(value) if kind == pa.string() else value for value in values]
    table = pa.table({"group": pa.array(list(answers), pa.string()), "answer": pa.array(cells, kind)})
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()
