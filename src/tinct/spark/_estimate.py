"""estimate and likelihood_test on Spark: reports are counted on the executors; only counts come to the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.local import LocalMechanism
from tinct.local._estimate import Estimate, estimate_from
from tinct.local.hypothesis_testing import TestResult, result_from, testable
from tinct.local.mechanisms.base import PlainRandomiser
from tinct.sources.spark_engine import guarded, pyspark, require_frame
from tinct.spark._privatize import REPORT, quoted, report_type, require_single

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from tinct.local.mechanisms.base import Randomiser
    from tinct.local.parameters import DistributionLike

_PEOPLE, _BAD = -1, -2  # places in a tally that are no symbols


def estimate(df: DataFrame, mechanism: LocalMechanism, *, column: str = REPORT, confidence: float = 0.95) -> Estimate:
    """Frequencies of the symbols from a column of reports, with intervals that hold all at once with this confidence.

    The same as ``mechanism.estimate`` on the same reports.
    """
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise ParameterError.of("confidence", "a number between 0 and 1", confidence)
    return estimate_from(mechanism, *tally(df, mechanism, column=column), confidence)


def likelihood_test(
    df: DataFrame,
    mechanism: LocalMechanism,
    *,
    column: str = REPORT,
    p0: DistributionLike | None = None,
    p1: DistributionLike | None = None,
) -> TestResult:
    """The likelihood-ratio test of P0 against P1 from a column of reports: ``mechanism.test`` on the same reports."""
    reports, _ = _reports(df, mechanism, column)
    return result_from(mechanism, _by_output(reports, testable(mechanism)), p0, p1)


def tally(df: DataFrame, mechanism: LocalMechanism, *, column: str = REPORT) -> tuple[NDArray[np.int64], int]:
    """How many reports speak for each symbol (for a table: how often each output was reported), and how many there are.

    Tallies of different days or places may be added.
    """
    reports, randomiser = _reports(df, mechanism, column)
    if isinstance(randomiser, PlainRandomiser):
        counts = _by_output(reports, randomiser)
        return randomiser.support_of(counts), int(counts.sum())
    return _by_batch(reports, randomiser)


def _reports(df: DataFrame, mechanism: LocalMechanism, column: str) -> tuple[Any, Randomiser]:
    """The column of reports, if it is one of this mechanism."""
    pyspark()
    require_frame(df, "df")
    if not isinstance(mechanism, LocalMechanism):
        raise ParameterError(f"mechanism must be a LocalMechanism, got {type(mechanism).__name__}")
    randomiser = mechanism.randomiser
    held, wanted = dict(df.dtypes).get(column), report_type(randomiser)
    if held != wanted and not (wanted == "bigint" and held in ("tinyint", "smallint", "int")):
        raise ParameterError(
            f"reports of this mechanism are a column of {wanted}, but {column!r:.80} is {held or 'missing'}"
        )
    require_single(df, column)
    return df.select(df[quoted(column)].alias(REPORT)), randomiser


def _by_output(reports: Any, randomiser: PlainRandomiser) -> NDArray[np.int64]:
    """Plain outputs are counted by Spark itself, without Python."""
    from pyspark.sql import functions as f

    inside = f.col(REPORT).between(0, randomiser.outputs - 1)
    place = f.when(inside, f.col(REPORT)).otherwise(f.lit(_BAD)).alias("place")
    rows = guarded("counting reports", reports.groupBy(place).count().collect)
    counts = np.zeros(randomiser.outputs, np.int64)
    for at, many in rows:
        _require_good(at != _BAD)
        counts[at] = many
    return counts


def _by_batch(reports: Any, randomiser: Randomiser) -> tuple[NDArray[np.int64], int]:
    """Structured reports are unpacked in Python, a batch at a time; Spark adds the counts."""
    counting = _counting(randomiser)

    def run() -> Any:
        counted = reports.mapInArrow(counting, "place bigint, many bigint")
        return counted.groupBy("place").sum("many").collect()

    rows = guarded("counting reports", run)
    found = {int(at): int(many) for at, many in rows}
    _require_good(not found.get(_BAD))
    seen = np.array([found.get(at, 0) for at in range(randomiser.size)], np.int64)
    return seen, found.get(_PEOPLE, 0)


def _counting(randomiser: Randomiser) -> Callable[[Any], Any]:
    def count(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        seen, people, bad = np.zeros(randomiser.size, np.int64), 0, 0
        for batch in batches:
            try:
                seen += randomiser.support(_unpacked(batch.column(0)))
                people += batch.num_rows
            except (ParameterError, ValueError):  # not a report; said once, by the driver
                bad += 1
        places = np.array([*range(randomiser.size), _PEOPLE, _BAD], np.int64)
        many = np.array([*seen, people, bad], np.int64)
        yield pa.RecordBatch.from_arrays([pa.array(places), pa.array(many)], names=["place", "many"])

    return count


def _unpacked(column: Any) -> NDArray[Any]:
    """Reports as rows of numbers; a ParameterError if they are not all there or not equally long."""
    import pyarrow as pa

    if column.null_count:
        raise ParameterError("a report is missing")
    if not pa.types.is_list(column.type) and not pa.types.is_large_list(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if not len(column):
        return np.zeros((0, 1), np.int64)
    flat, lengths = column.flatten(), np.diff(column.offsets.to_numpy())
    if flat.null_count:
        raise ParameterError("a report is incomplete")
    if (lengths != lengths[0]).any():
        raise ParameterError("reports have different lengths")
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(column), -1)


def _require_good(good: bool) -> None:
    if not good:
        raise ParameterError("some reports are NULL or not among the outputs of this mechanism: is it the right one?")
