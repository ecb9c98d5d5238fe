"""privatize on Spark: a column of answers to a column of reports, drawn on the executors and stored once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import Parameter, ParameterError
from tinct.local import LocalMechanism
from tinct.sources.spark_engine import guarded, pyspark, require_frame
from tinct.spark.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame

    from tinct.local.mechanisms.base import Randomiser

REPORT = "report"
_WHOLE = ("tinyint", "smallint", "int", "bigint")


def privatize(
    df: DataFrame,
    column: str,
    mechanism: LocalMechanism,
    *,
    path: str | None = None,
    missing: Any = None,
    keep: Sequence[str] = (),
) -> Any:
    """One report for each row, drawn exactly on the executors from their own operating systems' entropy.

    Args:
        df: A Spark DataFrame with one row for each person.
        column: The column of answers, of the type of the mechanism's symbols.
        mechanism: What everybody's answer is randomised with.
        path: A folder to publish the reports in, as Parquet; it must not exist. If left out, the reports are kept on
            the executors: if one is lost they are gone, and never drawn again.
        missing: The symbol that NULL and values that are no symbol are taken for. Leaving such rows out would tell
            which they were, so without it the whole job is refused if there are any.
        keep: Columns that are public and go along unchanged.

    Returns:
        A DataFrame with the columns ``keep`` and ``report``, read back from where it is stored: no action on it
        draws again.
    """
    pyspark()
    require_frame(df, "df")
    if not isinstance(mechanism, LocalMechanism):
        raise ParameterError(f"mechanism must be a LocalMechanism, got {type(mechanism).__name__}")
    _require_column(df, column, mechanism.symbols, keep)
    randomiser = mechanism.randomiser
    instead = None if missing is None else _place(mechanism.symbols, missing)
    # the answers come last: a row is (what is kept, answer); columns go by place, since mapInArrow takes names apart
    kinds = [*(dict(df.dtypes)[name] for name in keep), report_type(randomiser)]
    rows = df.select(*(df[quoted(name)].alias(f"c{at}") for at, name in enumerate((*keep, column))))
    schema = ", ".join(f"c{at} {kind}" for at, kind in enumerate(kinds))
    drawing = drawing_of(randomiser, mechanism.symbols, instead)
    drawn = guarded("privatising", lambda: rows.mapInArrow(drawing, schema).toDF(*keep, REPORT))
    if path is not None:
        return publish(drawn, path, check=_require_reports)
    # not cache(): a lost block of a cache is drawn again, a lost block of a checkpoint is an error
    stored = guarded("privatising", lambda: drawn.localCheckpoint(eager=True))
    _require_reports(stored)
    return stored


def report_type(randomiser: Randomiser) -> str:
    """The Spark type of a report."""
    shape = randomiser.draw(np.zeros(1, np.int64))
    if shape.ndim == 1:
        return "bigint"
    return "array<boolean>" if shape.dtype == bool else "array<bigint>"


def drawing_of(randomiser: Randomiser, symbols: tuple[Any, ...], instead: int | None) -> Callable[[Any], Any]:
    """What an executor does with its batches: the last column is replaced by reports, NULL where there is no symbol."""

    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        listed = pa.array(symbols)
        for batch in batches:
            answers = batch.column(batch.num_columns - 1)
            places = pc.index_in(answers.cast(listed.type), value_set=listed)
            if instead is not None:
                places = pc.fill_null(places, instead)
            known = pc.is_valid(places).to_numpy(zero_copy_only=False)
            codes = pc.fill_null(places, 0).to_numpy(zero_copy_only=False).astype(np.int64)
            reports = to_arrow(randomiser.draw(codes), known) if len(codes) else to_arrow_empty(randomiser)
            columns = [*batch.columns[:-1], reports]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    return draw


def to_arrow(reports: Any, known: Any) -> Any:
    """Reports as an Arrow array, of lists if a report is several numbers; NULL where not known."""
    import pyarrow as pa

    flat = reports if reports.dtype == bool else reports.astype(np.int64, copy=False)
    if flat.ndim == 1:
        return pa.array(flat, mask=None if known.all() else ~known)
    width = flat.shape[1]
    offsets = pa.array(np.arange(0, flat.size + 1, width, dtype=np.int32))
    lists = pa.ListArray.from_arrays(offsets, pa.array(flat.ravel()))
    if known.all():
        return lists
    import pyarrow.compute as pc

    return pc.if_else(pa.array(known), lists, pa.scalar(None, lists.type))


def to_arrow_empty(randomiser: Randomiser) -> Any:
    """No reports, with their type."""
    return to_arrow(randomiser.draw(np.zeros(1, np.int64)), np.ones(1, bool))[:0]


def quoted(name: str) -> str:
    """The name of a column as Spark reads it literally, dots and all."""
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def require_single(df: DataFrame, name: str) -> None:
    """Refuse a name that several columns have: Spark does not tell upper from lower case."""
    same = [column for column in df.columns if column.lower() == name.lower()]
    if len(same) > 1:
        raise ParameterError(f"several columns are called {', '.join(map(repr, same))!s:.160}: rename all but one")


def _require_column(df: DataFrame, column: Any, symbols: tuple[Any, ...], keep: Sequence[str]) -> None:
    types = dict(df.dtypes)
    for name in (column, *keep):
        if name not in types:
            raise ParameterError(f"there is no column {name!r:.80}: the columns are {', '.join(df.columns)!s:.200}")
        require_single(df, name)
    if REPORT in keep or column in keep or len(set(keep)) < len(keep):
        raise ParameterError(f"keep must name different public columns, not {column!r} and not {REPORT!r}")
    kinds = {type(symbol) for symbol in symbols}
    held = types[column]
    fits = (
        (kinds == {str} and held.startswith("string"))
        or (kinds == {int} and held in _WHOLE)
        or (kinds == {bool} and held == "boolean")
    )
    if not fits:
        wanted = {str: "text", int: "whole numbers", bool: "truth values"}.get(next(iter(kinds)), "one plain type")
        raise ParameterError(
            f"the symbols are {wanted if len(kinds) == 1 else 'of several types'}, but {column!r} is {held}"
        )


def _place(symbols: tuple[Any, ...], missing: Any) -> int:
    for at, symbol in enumerate(symbols):
        if type(symbol) is type(missing) and symbol == missing:
            return at
    raise ParameterError.of("missing", f"one of the {len(symbols):,} symbols", missing)


def _require_reports(stored: Any) -> None:
    if not guarded("checking the reports", stored.where(f"{REPORT} IS NULL").isEmpty):
        raise ParameterError(
            "some values are NULL or not among the symbols, and nothing was published: name the symbol they are taken "
            "for with ",
            Parameter("missing"),
            ". Leaving the rows out would tell which they were",
        )
