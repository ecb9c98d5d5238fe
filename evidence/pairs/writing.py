"""From rows to what is asked about: files by the writers people use, and frames.

How rows are written is part of the attack: two writers of CSV do not agree on what has to be quoted.
"""

from __future__ import annotations

import csv
import io
import json
from random import Random
from typing import TYPE_CHECKING, Any

from evidence.pairs import storage
from evidence.pairs.values import decodable, encoded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evidence.pairs.cases import Case, Row

    Cells = dict[str, list[Any]]


class Unwritable(Exception):  # noqa: N818 # not an error of ours
    """The library that writes does not take these cells, so nobody has such data."""


def data(case: Case, side: int, folder: Path) -> Any:
    """The data set of one side: the path of a file in the folder, or a frame."""
    dice = Random(case.style)  # noqa: S311 # the same for both sides: how the rows are kept is public
    rows = case.rows(side)
    try:
        return _MAKERS[case.source](dice, case, rows, folder)
    except Exception as error:
        if type(error).__module__.split(".")[0] in ("tinct", "evidence"):
            raise
        raise Unwritable(f"{type(error).__name__}: {error}"[:200]) from None
    except BaseException as error:  # Polars panics, which is no Exception
        if type(error).__name__ != "PanicException":
            raise
        raise Unwritable("Polars panics") from None


def _delimited(dice: Random, case: Case, rows: list[Row], folder: Path) -> str:
    names = [column.name for column in case.columns]
    mark = "\t" if case.source == "tsv" else dice.choice(",,;") if len(names) > 1 else ","
    writer = dice.choice((_by_csv, _by_csv, _by_pandas, _by_pandas, _by_polars, _by_arrow))
    if mark == ";" and any("," in name for name in names):
        mark = ","
    if any(row.odd for row in rows) or (writer in (_by_polars, _by_arrow) and mark != "," and dice.random() < 0.5):
        writer = _by_csv
    whole = writer(dice, names, rows, mark)
    path = folder / f"people.{case.source}"
    path.write_bytes((b"\xef\xbb\xbf" if dice.random() < 0.1 else b"") + whole)
    return str(path)


def _by_csv(dice: Random, names: list[str], rows: list[Row], mark: str) -> bytes:
    quoting: Any = dice.choice((*(csv.QUOTE_MINIMAL,) * 4, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    text = io.StringIO()
    end = dice.choice(("\n", "\n", "\r\n"))
    writer = csv.writer(text, delimiter=mark, quoting=quoting, lineterminator=end)
    writer.writerow(names)
    for row in rows:
        cells = ["" if row.cells[name] is None else row.cells[name] for name in names]
        if row.odd == "more":
            cells += ["more", "yes"]
        if row.odd == "fewer":
            cells = cells[:1]
        writer.writerow(cells)
    whole = text.getvalue()
    if dice.random() < 0.2:  # the last line is not ended
        whole = whole.removesuffix(end)
    return encoded(whole)


def _by_pandas(dice: Random, names: list[str], rows: list[Row], mark: str) -> bytes:
    import pandas as pd

    text = io.StringIO()
    frame = pd.DataFrame(_cells(names, rows), dtype=object)
    quoting = dice.choice((*(csv.QUOTE_MINIMAL,) * 4, csv.QUOTE_ALL))
    frame.to_csv(text, index=False, sep=mark, quoting=quoting, lineterminator=dice.choice(("\n", "\n", "\r\n")))
    return encoded(text.getvalue())


def _by_polars(dice: Random, names: list[str], rows: list[Row], mark: str) -> bytes:
    import polars as pl

    frame = pl.DataFrame(_cells(names, rows, decodable), schema=dict.fromkeys(names, pl.String))
    style: Any = dice.choice(("necessary", "necessary", "always", "non_numeric"))
    whole: str = frame.write_csv(separator=mark, quote_style=style, line_terminator=dice.choice(("\n", "\n", "\r\n")))
    return whole.encode()


def _by_arrow(dice: Random, names: list[str], rows: list[Row], mark: str) -> bytes:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in _cells(names, rows, decodable).items()})
    whole = io.BytesIO()
    options = arrow_csv.WriteOptions(delimiter=mark, quoting_style=dice.choice(("needed", "all_valid")))
    arrow_csv.write_csv(table, whole, options)
    return whole.getvalue()


def _json_lines(dice: Random, case: Case, rows: list[Row], folder: Path) -> str:
    names = [column.name for column in case.columns]
    path = folder / f"people.{dice.choice(('jsonl', 'ndjson'))}"
    writer = dice.choice((_by_json, _by_json, _by_pandas_json, _by_polars_json))
    path.write_bytes((_by_json if any(row.odd for row in rows) else writer)(dice, names, rows))
    return str(path)


def _by_json(dice: Random, names: list[str], rows: list[Row]) -> bytes:
    plain, sparse, typed = dice.random() < 0.5, dice.random() < 0.3, dice.random() < 0.5
    end = dice.choice(("\n", "\n", "\r\n"))
    return b"".join(encoded(_json_line(row, names, plain, sparse, typed) + end) for row in rows)


def _json_line(row: Row, names: list[str], plain: bool, sparse: bool, typed: bool) -> str:
    cells = {name: _json_value(row.cells[name]) if typed else row.cells[name] for name in names}
    if row.odd == "without":
        cells = {}
    elif row.odd == "more":
        cells = {"another": {"deep": [1, {"x": None}]}, **cells}
    elif row.odd not in (None, "twice"):
        return row.odd or ""
    if sparse:  # what is not there has no key
        cells = {name: cell for name, cell in cells.items() if cell is not None}
    line = json.dumps(cells, ensure_ascii=plain)
    if row.odd == "twice" and len(cells):
        line = line[:-1] + ", " + json.dumps(cells, ensure_ascii=plain)[1:]
    return line


def _json_value(cell: Any) -> Any:
    """Text that reads like a number, a word of logic, or a list becomes one."""
    if not isinstance(cell, str) or len(cell) > 1000:
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return {"yes": True, "no": False}.get(cell, cell)


def _by_pandas_json(dice: Random, names: list[str], rows: list[Row]) -> bytes:
    import pandas as pd

    frame = pd.DataFrame(_cells(names, rows), dtype=object)
    whole = frame.to_json(orient="records", lines=True, force_ascii=dice.random() < 0.5)
    return encoded(whole)


def _by_polars_json(_: Random, names: list[str], rows: list[Row]) -> bytes:
    import polars as pl

    frame = pl.DataFrame(_cells(names, rows, decodable), schema=dict.fromkeys(names, pl.String))
    whole = io.BytesIO()
    frame.write_ndjson(whole)
    return whole.getvalue()


def _cells(names: list[str], rows: list[Row], read: Callable[[Any], Any] = lambda cell: cell) -> Cells:
    return {name: [read(row.cells[name]) for row in rows] for name in names}


# columns with types


def _arrow(dice: Random, case: Case, rows: list[Row], folder: Path) -> Any:  # noqa: ARG001 # one shape for all
    table = _table(case, rows)
    batches = table.to_batches()
    return batches[0] if len(batches) == 1 and dice.random() < 0.2 else table


def _table(case: Case, rows: list[Row], read: Callable[[Any], Any] = lambda cell: cell) -> Any:
    import pyarrow as pa

    return pa.table(
        {
            column.name: storage.array(column.kind, [read(row.cells[column.name]) for row in rows])
            for column in case.columns
        }
    )


def _parquet(dice: Random, case: Case, rows: list[Row], folder: Path) -> str:
    import pyarrow.parquet as pq

    path = folder / "people.parquet"
    if dice.random() < 0.2:
        _polars_frame(case, rows).write_parquet(path)
        return str(path)
    options = {
        "compression": dice.choice(("snappy", "none", "zstd")),
        "use_dictionary": dice.random() < 0.5,
        "data_page_version": dice.choice(("1.0", "2.0")),
        "version": dice.choice(("2.6", "2.4")),
        "row_group_size": dice.choice((1, 2, 1000)),
    }
    pq.write_table(_table(case, rows), path, **options)
    return str(path)


def _polars(dice: Random, case: Case, rows: list[Row], folder: Path) -> Any:  # noqa: ARG001
    frame = _polars_frame(case, rows)
    return frame.lazy() if dice.random() < 0.3 else frame


def _polars_frame(case: Case, rows: list[Row]) -> Any:
    import polars as pl

    return pl.from_arrow(_table(case, rows, decodable))


def _duckdb(dice: Random, case: Case, rows: list[Row], folder: Path) -> Any:  # noqa: ARG001
    connection = _engine().cursor()
    connection.register("people", _table(case, rows))
    if dice.random() < 0.5:
        connection.execute("CREATE TEMP TABLE kept AS FROM people")
        return connection.table("kept")
    return connection.table("people")


def _engine() -> Any:
    """A running engine: the last one, unless an internal error has ended it."""
    import duckdb

    try:
        _ENGINES[-1].execute("SELECT 1").fetchall()
    except Exception:
        _ENGINES[:] = [duckdb.connect(":memory:", config={"threads": "1"})]
    return _ENGINES[-1]


_ENGINES: list[Any] = []


_PANDAS = {
    "string": ("object", "string", "object"),
    "large_string": ("object", "string"),
    "dictionary": ("object",),
    "object": ("object",),
    "bool": ("boolean", "object"),
    "int64": ("Int64", "object"),
    "int32": ("Int32",),
    "int8": ("Int8",),
    "uint64": ("UInt64", "object"),
    "double": ("float64", "Float64", "object"),
    "float": ("float32",),
}


def _pandas(dice: Random, case: Case, rows: list[Row], folder: Path) -> Any:  # noqa: ARG001
    import pandas as pd

    series = {}
    for column in case.columns:
        cells = [row.cells[column.name] for row in rows]
        kinds = _PANDAS.get(column.kind)
        backed = dice.random() < 0.2
        if kinds is None or (backed and column.kind not in ("object", "dictionary")):
            made = storage.array(column.kind, cells)
            series[column.name] = (
                _pandas_moments(column.kind, made, dice)
                if kinds is None
                else pd.Series(pd.arrays.ArrowExtensionArray(made))
            )
        else:
            series[column.name] = pd.Series(cells, dtype=dice.choice(kinds))
    return pd.DataFrame(series)


def _pandas_moments(kind: str, made: Any, dice: Random) -> Any:
    import pandas as pd

    if kind.startswith("timestamp") and "tz" not in kind and dice.random() < 0.7:
        unit = kind[10:-1]
        return (
            pd.Series(made.view("int64").to_numpy(zero_copy_only=False).astype(f"datetime64[{unit}]"))
            if (made.null_count == 0)
            else pd.Series(made.to_numpy(zero_copy_only=False).astype(f"datetime64[{unit}]"))
        )
    return pd.Series(pd.arrays.ArrowExtensionArray(made))


def _spark(dice: Random, case: Case, rows: list[Row], folder: Path) -> Any:
    """As ``tinct ask --engine spark`` opens a file; a frame that a caller brings may fail as the caller likes."""
    from pyspark.sql import SparkSession

    from tinct.sources.spark_frames import open_frame
    from tinct.spark import session
    from tinct.spark.parquet_rows import read_rows

    running = SparkSession.getActiveSession() or session("local[1]", config={"spark.sql.shuffle.partitions": "1"})
    running.sparkContext.setLogLevel("OFF")
    path = _parquet(dice, case, rows, folder)
    return open_frame(read_rows(running, path), path)


_MAKERS: dict[str, Callable[[Random, Any, list[Any], Path], Any]] = {
    "csv": _delimited,
    "tsv": _delimited,
    "jsonl": _json_lines,
    "parquet": _parquet,
    "arrow": _arrow,
    "polars": _polars,
    "pandas": _pandas,
    "duckdb": _duckdb,
    "spark": _spark,
}
