"""Data frames in memory, made into Arrow tables with columns c0, c1, … and a schema that no value decides."""

from __future__ import annotations

from typing import Any

from tinct.errors import ParameterError
from tinct.questions.predicates import require_column
from tinct.sources.columns import CELL, Column, kind_of_type
from tinct.sources.engine import pyarrow

_TICKS = {"s": 1, "ms": 10**3, "us": 10**6}  # in a second; nanoseconds cannot be far away
_MOST_SECONDS = 9 * 10**12  # about 285,000 years from 1970, where microseconds nearly fill 64 bits


def from_pandas(frame: Any) -> tuple[Any, tuple[str, ...], frozenset[int]]:
    """An Arrow table, the names of its columns, and the places of columns whose cells are text to be read."""
    if getattr(frame.columns, "nlevels", 1) != 1:
        raise ParameterError("a pandas DataFrame must have one level of column names: flatten them first")
    arrow = pyarrow()
    arrays, read = [], set()
    for at in range(frame.shape[1]):
        series = frame.iloc[:, at]
        array = None if series.dtype == object else _typed(arrow, series)
        if array is None:  # pandas knows no type: the cells are read like those of a CSV file
            array = _as_text(arrow, series)
            read.add(at)
        arrays.append(array)
    names = names_of(frame.columns)
    return _reachable(arrow.table(arrays, names=_internal(len(names)))), names, frozenset(read)


def from_polars(frame: Any) -> tuple[Any, tuple[str, ...], frozenset[int]]:
    """The same for a Polars DataFrame or LazyFrame."""
    pyarrow()
    whole = frame.collect() if hasattr(frame, "collect") else frame
    untyped = [name for name, kind in whole.schema.items() if str(kind) == "Object"]
    if untyped:
        raise ParameterError(f"Polars column {untyped[0]!r:.80} holds Python objects: cast it to a type first")
    return from_arrow(whole.to_arrow())


def from_arrow(table: Any) -> tuple[Any, tuple[str, ...], frozenset[int]]:
    """The same for an Arrow Table or RecordBatch."""
    arrow = pyarrow()
    if isinstance(table, arrow.RecordBatch):
        table = arrow.Table.from_batches([table])
    if not isinstance(table, arrow.Table):
        raise ParameterError("Arrow data must be a Table or a RecordBatch: read a reader or dataset into a Table first")
    names = names_of(table.column_names)
    return _reachable(table.rename_columns(_internal(len(names)))), names, frozenset()


def names_of(labels: Any) -> tuple[str, ...]:
    """The names of columns in memory, if they are names and all different."""
    names = tuple(str(label) for label in labels)
    for name in names:
        require_column(name)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two columns are called {twice!r:.80}: rename one of them")
    return names


def columns_of(names: tuple[str, ...], types: list[str], read: frozenset[int]) -> list[Column]:
    """The columns of a table with internal names."""
    return [
        Column(name, internal, CELL if at in read else kind_of_type(kind))
        for at, (name, internal, kind) in enumerate(zip(names, _internal(len(names)), types, strict=True))
    ]


def _internal(count: int) -> list[str]:
    return [f"c{at}" for at in range(count)]


def _reachable(table: Any) -> Any:
    """The table without moments so far away that the engine, which counts microseconds, would fail on them."""
    arrow = pyarrow()
    import pyarrow.compute as pc

    for at, field in enumerate(table.schema):
        per_second = _TICKS.get(field.type.unit) if arrow.types.is_timestamp(field.type) else None
        if per_second is None:
            continue
        ticks, most = table.column(at).cast(arrow.int64()), _MOST_SECONDS * per_second
        near = pc.and_(pc.greater(ticks, -most), pc.less(ticks, most))
        if not pc.all(near).as_py():
            table = table.set_column(at, field, pc.if_else(near, table.column(at), arrow.scalar(None, field.type)))
    return table


def _typed(arrow: Any, series: Any) -> Any:
    """A column with a type as an Arrow array; None if Arrow has no such type."""
    try:
        array = arrow.Array.from_pandas(series)
    except (arrow.ArrowException, TypeError, ValueError, UnicodeError):
        return None
    return array.combine_chunks() if isinstance(array, arrow.ChunkedArray) else array


def _as_text(arrow: Any, series: Any) -> Any:
    """Each cell as text; None for what is missing or has no text."""
    absent = series.isna().to_numpy()
    texts = [None if gone else _cell(value) for value, gone in zip(series, absent, strict=True)]
    return arrow.array(texts, arrow.string())


def _cell(value: Any) -> str | None:
    try:
        text = str(value)
        text.encode("utf-8")
    except Exception:  # whatever one cell does when it is printed, it is a missing cell and no error
        return None
    return text
