"""Columns of answers as numbers of symbols, whatever library they come from; answers and reports in files.

Files are read and written a batch at a time (the extra ``data``). No answer is ever repeated in an error.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from csv import Error as NoTable
from csv import reader as records_of
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import suffix_of
from tinct.errors import FileError, Parameter, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from tinct.local.local_mechanism import LocalMechanism
    from tinct.local.parameters import Integers

SUFFIXES = (".csv", ".tsv", ".parquet")
_ROWS = 1 << 17
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def read_column(path: str | Path, column: str) -> Iterator[Any]:
    """Batches of one column, as Arrow arrays; cells of text files are text."""
    for batch in _batches(path, [column]):
        yield batch.column(0)


def read_answers(path: str | Path, column: str, unit: str | None = None) -> Iterator[tuple[Any, Integers]]:
    """Batches of answers, as Arrow arrays, and the rows they stand in, counted from 0 after the header.

    With ``unit``, the column that identifies people, only the first row of each person is read: which that is depends
    on the rows of this person alone. Rows without a person are left out.
    """
    if unit == column:
        raise ParameterError.of("unit", "another column than that of the answers")
    begin = 0
    people: set[Any] = set()
    for batch in _batches(path, [column] if unit is None else [column, unit]):
        rows = np.arange(begin, begin + batch.num_rows)
        begin += batch.num_rows
        if unit is None:
            yield batch.column(0), rows
            continue
        pa, _ = arrow()
        if pa.types.is_nested(batch.schema.field(1).type):
            raise ParameterError.of("unit", "a column with one value in each row")
        first = [at for at, person in enumerate(batch.column(1).to_pylist()) if _is_new(person, people)]
        if first:
            yield batch.column(0).take(pa.array(first)), rows[first]


def _is_new(person: Any, people: set[Any]) -> bool:
    """Whether this is somebody who has not been seen; nobody is not."""
    name = person.strip() if isinstance(person, str) else person
    if name is None or name == "" or name != name or name in people:  # not a number is nobody
        return False
    people.add(name)
    return True


def place_in(path: str | Path, row: int) -> str:
    """Where a row stands that is counted from 0 after the header: the line of a text file."""
    suffix = suffix_of(path, SUFFIXES)
    if suffix != ".parquet":
        with suppress(NoTable, OSError, UnicodeDecodeError), open(path, encoding="utf-8-sig", newline="") as file:
            records = records_of(file, delimiter="\t" if suffix == ".tsv" else ",")
            before = -1  # rows: the header is none
            begin = 1
            for record in records:
                if record and before == row:
                    return f"line {begin:,}"
                before += bool(record)  # an empty line is no row
                begin = records.line_num + 1
    return f"row {row + 1:,}"


def _batches(path: str | Path, columns: list[str] | None) -> Iterator[Any]:
    pa, csv = arrow()
    suffix = suffix_of(path, SUFFIXES)
    if not os.path.isfile(path):
        raise FileError("there is no such file", path=path)
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
        require_delimiter(columns, names, delimiter, path)
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
    raise FileError("this cannot be read as a table with a header line", path=path)


def require_delimiter(wanted: list[str] | None, found: list[str], delimiter: str, path: str | Path) -> None:
    """Refuse a header that is one name only because something else stands between its names."""
    other = next((sign for sign in _DELIMITERS if sign != delimiter and sign in found[0]), None)
    if len(found) == 1 and other is not None and found != wanted:
        raise FileError(
            f"the columns are separated by {_DELIMITERS[other]}, and this file name promises "
            f"{_DELIMITERS[delimiter]}: save it with commas as .csv, or with tabs as .tsv",
            path=path,
        )


def _require_columns(wanted: list[str] | None, found: list[str], path: str | Path) -> None:
    missing = next((name for name in wanted or () if name not in found), None)
    if missing is not None:
        raise ParameterError(f"there is no column {missing!r}; the columns are {', '.join(found[:20])}", path=path)


@contextmanager
def report_writer(
    path: str | Path, mechanism: LocalMechanism | None = None
) -> Iterator[Callable[[NDArray[Any]], None]]:
    """A function that appends batches of reports to a file, which takes its name only when all of them are in it.

    JSON lines hold each report in an envelope that names the mechanism.
    """
    pa, csv = arrow()
    from pyarrow import parquet

    suffix = suffix_of(path, SUFFIXES if mechanism is None else (*SUFFIXES, ".jsonl"))
    target = Path(path)
    if not target.parent.is_dir():
        raise FileError(f"the folder {target.parent} does not exist: create it first", path=path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    writer: Any = None

    def write(reports: NDArray[Any]) -> None:
        nonlocal writer
        if suffix == ".jsonl" and mechanism is not None:
            writer = open(part, "wb") if writer is None else writer  # noqa: SIM115 # closed below, like the others
            writer.write(_lines(reports, mechanism))
            return
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
            raise FileError(f"cannot be written: {error.strerror}", path=path) from None
        raise


def _lines(reports: NDArray[Any], mechanism: LocalMechanism) -> bytes:
    """Reports as lines of JSON; bits are numbers."""
    from tinct.local.report_files import envelope

    numbers = reports.astype(np.int64).tolist()
    return "".join(f"{json.dumps(envelope(mechanism, report))}\n" for report in numbers).encode()


def arrow() -> tuple[Any, Any]:
    """Arrow and its reader of text, if they are there."""
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        raise ParameterError("reading and writing columns needs pyarrow: pip install 'tinct[data]'") from None
    return pa, csv


def codes_of(
    symbols: Sequence[Any], values: Any, missing: Any = None, place: Callable[[int], str] | None = None
) -> Integers:
    """The number of each value among the symbols; values are never repeated in an error.

    ``missing`` is the symbol that stands for values which are not among them; without it they are an error, in which
    ``place`` says where the first of them stands.

    >>> codes_of(("a", "b"), ["b", "a", None], missing="b")
    array([1, 0, 1])
    """
    if missing is not None and missing not in symbols:
        raise ParameterError.of("missing", f"one of the {len(symbols):,} symbols", missing)
    found = _codes(symbols, values)
    unknown = found < 0
    if not unknown.any():
        return found
    if missing is None:
        first = int(np.argmax(unknown))
        where = f"at position {first}" if place is None else f"in {place(first)}"
        raise ParameterError(
            f"values are not among the {len(symbols):,} symbols, the first {where}: name a symbol that stands for "
            "them with ",
            Parameter("missing"),
            ", or leave them out",
        )
    return np.where(unknown, symbols.index(missing), found)


def _codes(symbols: Sequence[Any], values: Any) -> Integers:
    library = type(values).__module__.split(".")[0]
    if library in ("polars", "pyarrow"):
        return _arrow_codes(symbols, values.to_arrow() if library == "polars" else values)
    if library == "pandas":
        import pandas as pd

        try:
            return np.asarray(pd.Index(symbols).get_indexer(pd.Index(values)), np.int64)
        except TypeError:  # a list in a cell, or the like
            return _looked_up(symbols, list(values))
    try:
        column = np.asarray(values)
    except ValueError:  # rows of unequal length
        raise ParameterError("values must be one column, got cells that hold several values") from None
    if column.ndim != 1:
        raise ParameterError(f"values must be one column, got shape {column.shape}")
    if isinstance(values, np.ma.MaskedArray):  # what is under a mask is nobody's answer
        return np.where(np.ma.getmaskarray(values), -1, _codes(symbols, column))
    if column.dtype.kind in "iu" and symbols == tuple(range(len(symbols))):
        if column.dtype == np.int64 and len(column) and column.min() >= 0 and column.max() < len(symbols):
            return column
        inside = (column >= 0) & (column < len(symbols))
        return np.where(inside, column, -1).astype(np.int64)
    return _looked_up(symbols, column.tolist() if isinstance(values, np.ndarray) else list(values))


def _arrow_codes(symbols: Sequence[Any], values: Any) -> Integers:
    """The same for an Arrow array: its cells are read like the symbols, so that the text "1" is the symbol 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        known = pa.array(symbols)
    except (pa.ArrowException, OverflowError):  # symbols of several kinds, for which Arrow has no type
        return _looked_up(symbols, values.to_pylist())
    try:
        cells = values.cast(known.type)
    except pa.ArrowException:  # it would quote the first cell that cannot be read so: find them one at a time
        cells = pa.array([_cast(cell, known.type) for cell in values], known.type)
    return np.asarray(pc.fill_null(pc.index_in(cells, value_set=known), -1)).astype(np.int64)


def _cast(cell: Any, kind: Any) -> Any:
    import pyarrow as pa

    try:
        return cell.cast(kind).as_py()
    except (pa.ArrowException, ValueError):
        return None


def _looked_up(symbols: Sequence[Any], values: list[Any]) -> Integers:
    place = {symbol: at for at, symbol in enumerate(symbols)}
    return np.fromiter((_lookup(place, value) for value in values), np.int64, len(values))


def _lookup(place: dict[Any, int], value: Any) -> int:
    try:
        return place.get(value, -1)
    except TypeError:  # a list in a cell, or the like
        return -1
