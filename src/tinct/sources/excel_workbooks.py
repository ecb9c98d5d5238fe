"""A sheet of an Excel workbook: names in its first row, people in the others.

A cell has a type and a column has none, so all columns are cells. A row without anything under the names is no row, as
an empty line of a text file is none.
"""

from __future__ import annotations

import zipfile
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from tinct.errors import FileError
from tinct.sources.columns import CELL, Column, Schema
from tinct.sources.data_files import chosen_table
from tinct.sources.duckdb_engine import Engine, Private, pyarrow
from tinct.sources.excel_sheets import Workbook
from tinct.sources.header_lines import column_names, looks_like_title
from tinct.sources.source import Source
from tinct.sources.typed_cells import cell_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from tinct.sources.data_files import DataFiles
    from tinct.sources.duckdb_engine import Way
    from tinct.sources.excel_sheets import SheetPart, Value

Result = TypeVar("Result")

_BATCH = 2**14  # rows
_DAMAGED = "the workbook is damaged or incomplete"
_RULE = "the rows are those of the sheet {name}, hidden ones too; a row in which every cell is blank is none"


def open_workbook(files: DataFiles, known: Collection[str] = ()) -> Source:
    """The rows of a sheet: the one that is named, or the first that is shown."""
    path = files.path
    _require_workbook(path)
    with closing(_sound(path, lambda: Workbook(path))) as workbook:
        shown = [each for each in workbook.sheets if files.table is not None or each.is_shown]
        name = chosen_table([each.name for each in shown], files, "sheet", first=True)
        sheet = next(each for each in shown if each.name == name)
        with closing(workbook.rows(sheet)) as rows:
            row = _sound(path, lambda: next(filter(None, rows), {}))
    names = _names(row, path, known)
    columns = [Column(each, f"c{at}", CELL) for at, each in enumerate(names)]
    private = Private()

    def ways(used: list[Column]) -> Iterator[Way]:
        schema = pyarrow().schema([(column.identifier, pyarrow().large_string()) for column in used])
        yield files.watched(private.streaming(schema, _batches(path, sheet, used, len(names), schema)))

    rule = _RULE.format(name=repr(name))
    return Source(Engine(files.name, ways, private.close), Schema(columns), (rule,), place=files.place)


def _names(row: dict[int, Value], path: Path, known: Collection[str]) -> tuple[str, ...]:
    if not row:
        raise FileError("the sheet is empty: its first row must name the columns", path=path)
    write = cell_text(Column("", "", CELL))
    cells = [write(row.get(at, "")) or "" for at in range(max(row) + 1)]
    if len(row) == 1 and " " in cells[-1].strip() and cells[-1].strip() not in known:
        raise looks_like_title(path)  # in a sheet, nothing shows how many columns are to follow
    return column_names(cells, path, known)


def _batches(path: Path, sheet: SheetPart, used: list[Column], width: int, schema: Any) -> Iterator[Any]:
    arrow = pyarrow()
    places = [int(column.identifier[1:]) for column in used]
    writers = [cell_text(column) for column in used]
    with (
        closing(_sound(path, lambda: Workbook(path))) as workbook,
        closing(workbook.rows(sheet, places, width)) as all_,
    ):
        rows = filter(None, all_)
        _sound(path, lambda: next(rows, None))  # the names
        while found := _sound(path, lambda: list(islice(rows, _BATCH))):
            arrays = [
                arrow.array([write(row.get(at)) for row in found], arrow.large_string())
                for at, write in zip(places, writers, strict=True)
            ]
            yield arrow.RecordBatch.from_arrays(arrays, schema=schema)


def _sound(path: Path, action: Callable[[], Result]) -> Result:
    """What comes of reading; an archive or XML that is damaged has one error, which quotes nothing."""
    problem = _DAMAGED
    try:
        return action()
    except FileError as error:
        problem = error.problem
    except Exception:  # noqa: S110 # of zipfile, zlib, expat and what stumbles over their results
        pass
    raise FileError(problem, path=path)


def _require_workbook(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise FileError("the file is empty", path=path)
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise FileError(
            "this workbook is protected with a password, or of the old kind .xls: save it as .xlsx without a password",
            path=path,
        )
    if not head.startswith(b"PK"):
        raise FileError("this is not an Excel workbook", path=path)
    if not zipfile.is_zipfile(path):
        raise FileError(_DAMAGED, path=path)
