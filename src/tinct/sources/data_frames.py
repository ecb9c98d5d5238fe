"""Data frames in memory, handed to the engine as Arrow batches of the columns a question reads.

What a column holds is decided by its declared type alone. A cell that its type can hold and Arrow or the engine cannot
is missing.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import FileError, ParameterError
from tinct.questions.predicates import require_column
from tinct.sources.arrow_arrays import kind_of_arrow, safe, safe_type
from tinct.sources.columns import CELL, OTHER, Column, Schema
from tinct.sources.duckdb_engine import Engine, Private, guarded, pyarrow
from tinct.sources.source import Source
from tinct.sources.typed_cells import object_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tinct.sources.duckdb_engine import Way

    Load = Callable[[Column], Any]  # a column as it is described to its cells


_BATCH = 2**17  # rows


def open_pandas(frame: Any) -> Source:
    """The rows of a pandas DataFrame."""
    if getattr(frame.columns, "nlevels", 1) != 1:
        raise ParameterError("a pandas DataFrame must have one level of column names: flatten them first")
    arrow = pyarrow()
    columns = [frame.iloc[:, at] for at in range(frame.shape[1])]
    kinds = [_pandas_type(arrow, series.dtype) for series in columns]
    loads = [partial(_pandas_array, arrow, series, kind) for series, kind in zip(columns, kinds, strict=True)]
    read = {at for at, series in enumerate(columns) if _is_read(series.dtype)}
    return source_of_columns("the pandas DataFrame", names_of(frame.columns), kinds, loads, read)


def open_polars(frame: Any) -> Source:
    """The rows of a Polars DataFrame or LazyFrame."""
    pyarrow()
    name = "the Polars DataFrame"
    lazy = hasattr(frame, "collect")
    # of a lazy frame only the schema is asked for here: what it computes may depend on rows, and comes after the charge
    found = guarded(lambda: frame.clear().collect() if lazy else frame.clear())
    if found.reason is not None:
        raise FileError("the lazy frame has no schema: collect it first", path=name)

    @cache
    def whole() -> Any:
        """The rows, computed once: another time they might be in another order."""
        return frame.collect() if lazy else frame

    kinds = [_polars_type(series) for series in found.value.get_columns()]
    loads = [lambda _, at=at: whole().to_series(at).to_arrow() for at in range(len(kinds))]
    return source_of_columns(name, names_of(found.value.columns), kinds, loads)


def open_arrow(table: Any) -> Source:
    """The rows of an Arrow Table or RecordBatch."""
    arrow = pyarrow()
    if not isinstance(table, arrow.Table | arrow.RecordBatch):
        raise ParameterError("Arrow data must be a Table or a RecordBatch: read a reader or dataset into a Table first")
    loads = [lambda _, at=at: table.column(at) for at in range(table.num_columns)]
    return source_of_columns("the Arrow table", names_of(table.schema.names), list(table.schema.types), loads)


def names_of(labels: Any) -> tuple[str, ...]:
    """The names of columns in memory, if they are names and all different."""
    names = tuple(str(label) for label in labels)
    for name in names:
        require_column(name)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two columns are called {twice!r:.80}: rename one of them")
    return names


def source_of_columns(
    name: str,
    names: tuple[str, ...],
    kinds: list[Any],
    loads: Sequence[Load],
    read: set[int] | frozenset[int] = frozenset(),
) -> Source:
    """A source of columns with their Arrow types, None for what has none; ``read`` are those of text to be read."""
    if not names:
        raise FileError("there are no columns", path=name)
    columns = [
        Column(each, f"c{at}", CELL if at in read else OTHER if kind is None else kind_of_arrow(kind))
        for at, (each, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    places = {column.identifier: at for at, column in enumerate(columns)}
    private = Private()

    def ways(used: list[Column]) -> Iterator[Way]:
        chosen = [places[column.identifier] for column in used]
        schema = pyarrow().schema([(f"c{at}", safe_type(kinds[at])) for at in chosen])
        yield private.streaming(
            schema, _batches(schema, [partial(loads[places[column.identifier]], column) for column in used])
        )

    return Source(Engine(name, ways, private.close), Schema(columns))


def _batches(schema: Any, loads: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """The columns in pieces of some rows each, cleaned piece by piece."""
    arrow = pyarrow()
    columns = [load() for load in loads]
    chunked = [each if isinstance(each, arrow.ChunkedArray) else arrow.chunked_array([each]) for each in columns]
    for at in range(0, len(chunked[0]), _BATCH):
        pieces = [_joined(arrow, [safe(chunk) for chunk in each.slice(at, _BATCH).chunks]) for each in chunked]
        yield arrow.RecordBatch.from_arrays(pieces, schema=schema)


def _joined(arrow: Any, chunks: list[Any]) -> Any:
    return chunks[0] if len(chunks) == 1 else arrow.concat_arrays(chunks)


def _polars_type(empty: Any) -> Any:
    """The Arrow type of a Polars column, from a series without rows; None if Arrow has none."""
    try:
        return empty.to_arrow().type
    except Exception:  # of a type, not of a value; Polars has several kinds of errors here
        return None


def _is_read(dtype: Any) -> bool:
    """Whether pandas knows no type, so that cells are text to be read like those of a CSV file."""
    inner = getattr(getattr(dtype, "categories", None), "dtype", None) or getattr(dtype, "subtype", dtype)
    return _is_object(inner) and _is_listed(dtype)


def _is_object(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _is_listed(dtype: Any) -> bool:
    """Whether it is a type of NumPy's or one of pandas' that is known here; intervals and periods are not."""
    return isinstance(dtype, np.dtype) or type(dtype).__name__ in (
        *("CategoricalDtype", "SparseDtype", "StringDtype", "ArrowDtype", "DatetimeTZDtype", "BooleanDtype"),
        *("Int8Dtype", "Int16Dtype", "Int32Dtype", "Int64Dtype", "Float32Dtype", "Float64Dtype"),
        *("UInt8Dtype", "UInt16Dtype", "UInt32Dtype", "UInt64Dtype"),
    )


def _pandas_type(arrow: Any, dtype: Any) -> Any:
    """The Arrow type for a pandas dtype; None for a dtype that cannot be asked about."""
    if not _is_listed(dtype):
        return None
    name = type(dtype).__name__
    if name == "CategoricalDtype":
        return _pandas_type(arrow, dtype.categories.dtype)
    if name == "SparseDtype":
        return _pandas_type(arrow, dtype.subtype)
    if name == "ArrowDtype":
        return dtype.pyarrow_dtype
    if name == "DatetimeTZDtype":
        return arrow.timestamp(dtype.unit, "UTC")
    if name == "StringDtype" or _is_object(dtype):
        return arrow.large_string()
    plain = dtype if isinstance(dtype, np.dtype) else dtype.numpy_dtype
    if plain.kind == "f" and plain.itemsize > 8:
        return arrow.float64()
    if plain.kind == "M":
        return arrow.timestamp(np.datetime_data(plain)[0])
    return arrow.from_numpy_dtype(plain) if plain.kind in "biuf" else None


def _pandas_array(arrow: Any, series: Any, kind: Any, column: Column) -> Any:
    """A column as an Arrow array of that type, whatever its cells are."""
    dtype, name = series.dtype, type(series.dtype).__name__
    if name == "CategoricalDtype":
        codes = np.asarray(series.cat.codes, np.int64)
        listed = series.cat.categories
        # with their dtype, or pandas would guess one from them
        words = _pandas_array(arrow, type(series)(listed.array, dtype=listed.dtype), kind, column)
        words = words.combine_chunks() if isinstance(words, arrow.ChunkedArray) else words
        return safe(words).take(arrow.array(codes, mask=codes < 0))
    if name == "SparseDtype":
        return _pandas_array(arrow, series.sparse.to_dense(), kind, column)
    if name == "ArrowDtype":
        return series.array.__arrow_array__()
    if name == "StringDtype" or _is_object(dtype):
        return _texts(arrow, series, kind, column)
    if name == "DatetimeTZDtype" or (isinstance(dtype, np.dtype) and dtype.kind == "M"):
        ticks = np.asarray(series.astype("int64"))
        return arrow.array(ticks, mask=ticks == np.iinfo(np.int64).min).view(kind)
    if isinstance(dtype, np.dtype):
        with np.errstate(over="ignore"):  # a number too large for a double is infinite, and thereby missing
            values = np.asarray(series, np.float64 if dtype.kind == "f" and dtype.itemsize > 8 else dtype)
        return arrow.array(np.ascontiguousarray(values), kind)
    return series.array.__arrow_array__()


def _texts(arrow: Any, series: Any, kind: Any, column: Column) -> Any:
    """Each cell as text; missing if it is, or if it has no text."""
    if not _is_object(series.dtype) and getattr(series.dtype, "storage", "") == "pyarrow":
        array = series.array.__arrow_array__()
        chunks = array.chunks if isinstance(array, arrow.ChunkedArray) else [array]
        return arrow.chunked_array([safe(chunk).cast(kind) for chunk in chunks], kind)
    if not _is_object(series.dtype):
        try:
            return arrow.array(series.to_numpy(object), kind, mask=series.isna().to_numpy())
        except (arrow.ArrowException, UnicodeError, TypeError):  # a lone surrogate somewhere: cell by cell, then
            pass
    return arrow.array(list(map(object_text(column), series)), kind)


# anything that speaks the Arrow stream interface: tables of other libraries, readers, results of database drivers
#
# Many can be read but once, and do not say so. So all of it is read into memory, once, when rows are first counted.


_NAME = "the Arrow stream"


def open_stream(stream: Any) -> Source:
    """The rows of an object with ``__arrow_c_stream__``; its schema is asked for now, its rows later."""
    arrow = pyarrow()
    found = guarded(lambda: arrow.RecordBatchReader.from_stream(stream))
    if found.reason is not None:
        raise ParameterError(
            f"data must be the path of a file, a table or a data frame: the Arrow stream of {type(stream).__name__} "
            "has no columns"
        )
    reader = found.value
    tables: list[Any] = []

    def whole() -> Any:
        if not tables:
            tables.append(None)  # a second reading would begin where a first one failed, or find nothing
            tables[0] = reader.read_all()
        if tables[0] is None:
            raise FileError("the stream broke off, and cannot be read twice: make a new one", path=_NAME)
        return tables[0]

    kinds = list(reader.schema.types)
    loads = [lambda _, at=at: whole().column(at) for at in range(len(kinds))]
    return source_of_columns(_NAME, names_of(reader.schema.names), kinds, loads)
