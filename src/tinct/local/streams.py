"""Columns of answers and tables of reports in files, a batch at a time (the extra ``data``)."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import suffix_of
from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

SUFFIXES = (".csv", ".tsv", ".parquet")
_ROWS = 1 << 17
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def read_column(path: str | Path, column: str) -> Iterator[Any]:
    """Batches of one column, as Arrow arrays; cells of text files are text."""
    for batch in _batches(path, [column]):
        yield batch.column(0)


def read_reports(path: str | Path) -> Iterator[NDArray[Any]]:
    """Batches of reports: whole numbers, one for each person, or several columns of them; truth values for bits."""
    for batch in _batches(path, None):
        columns = [_numbers(batch.column(at), path) for at in range(batch.num_columns)]
        yield columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def _numbers(column: Any, path: str | Path) -> NDArray[Any]:
    pa, _ = _arrow()
    import pyarrow.compute as pc

    if not column.null_count:
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return np.asarray(pc.cast(column, pa.int64()))
    # raised out here, so that Arrow's error, which quotes a cell, is not even its context
    raise FileError(f"{path}: reports must be whole numbers in every row")


def _batches(path: str | Path, columns: list[str] | None) -> Iterator[Any]:
    pa, csv = _arrow()
    suffix = suffix_of(path, SUFFIXES)
    if not os.path.isfile(path):
        raise FileError(f"{path}: there is no such file")
    with suppress(pa.ArrowException, OSError, UnicodeDecodeError):
        if suffix == ".parquet":
            from pyarrow import parquet

            with parquet.ParquetFile(path) as file:
                _require_columns(columns, file.schema_arrow.names, path)
                yield from file.iter_batches(_ROWS, columns=columns)
            return
        delimiter = "\t" if suffix == ".tsv" else ","
        with open(path, encoding="utf-8-sig") as file:
            names = [name.strip().strip('"') for name in file.readline().rstrip("\r\n").split(delimiter)]
        _require_delimiter(columns, names, delimiter, path)
        _require_columns(columns, names, path)
        reader = csv.open_csv(
            path,
            parse_options=csv.ParseOptions(delimiter=delimiter),
            convert_options=csv.ConvertOptions(
                include_columns=columns, column_types=dict.fromkeys(columns or (), pa.string())
            ),
        )
        yield from reader
        return
    # raised out here for the same reason
    raise FileError(f"{path}: this cannot be read as a table with a header line")


def _require_delimiter(wanted: list[str] | None, found: list[str], delimiter: str, path: str | Path) -> None:
    """Refuse a header that is one name only because something else stands between its names."""
    other = next((sign for sign in _DELIMITERS if sign != delimiter and sign in found[0]), None)
    if len(found) == 1 and other is not None and found != wanted:
        raise FileError(
            f"{path}: the columns are separated by {_DELIMITERS[other]}, and this file name promises "
            f"{_DELIMITERS[delimiter]}: save it with commas as .csv, or with tabs as .tsv"
        )


def _require_columns(wanted: list[str] | None, found: list[str], path: str | Path) -> None:
    missing = next((name for name in wanted or () if name not in found), None)
    if missing is not None:
        raise ParameterError(f"{path}: there is no column {missing!r}; the columns are {', '.join(found[:20])}")


@contextmanager
def report_writer(path: str | Path) -> Iterator[Callable[[NDArray[Any]], None]]:
    """A function that appends batches of reports to a file, which takes its name only when all of them are in it."""
    pa, csv = _arrow()
    from pyarrow import parquet

    suffix = suffix_of(path, SUFFIXES)
    target = Path(path)
    if not target.parent.is_dir():
        raise FileError(f"{path}: the folder {target.parent} does not exist: create it first")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    writer: Any = None

    def write(reports: NDArray[Any]) -> None:
        nonlocal writer
        columns = reports.reshape(len(reports), -1).T
        names = ["report"] if len(columns) == 1 else [f"report_{at}" for at in range(len(columns))]
        batch = pa.table([np.ascontiguousarray(column.astype(np.int64)) for column in columns], names=names)
        if writer is None:
            options = csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ",")
            writer = (
                parquet.ParquetWriter(part, batch.schema)
                if suffix == ".parquet"
                else csv.CSVWriter(part, batch.schema, write_options=options)
            )
        writer.write_table(batch)

    try:
        yield write
        if writer is None:
            raise FileError("there are no answers to write reports of")
        writer.close()
        os.replace(part, target)
    except BaseException as error:  # Ctrl-C too must leave nothing behind
        with suppress(Exception):
            writer.close()
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError):
            raise FileError(f"{path}: cannot be written: {error.strerror}") from None
        raise


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        raise ParameterError("reading and writing columns needs pyarrow: pip install 'tinct[data]'") from None
    return pa, csv
