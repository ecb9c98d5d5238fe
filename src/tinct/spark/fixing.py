"""Fixed values on Spark: from a mapping or a frame to both probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinct.errors import ParameterError
from tinct.privacy.pairs import probabilities
from tinct.spark.inputs import require_columns, vertex_type


def read_fixed(fixed: Any, vertices: Any) -> Any:
    """A frame (vertex, first, second); its values are checked together with the vertices.

    Args:
        fixed: ``{vertex: Pr[first color]}`` or ``{vertex: (Pr[first], Pr[second])}``, or a frame with the columns
            vertex and first, and second where 1 − first would lose digits.
        vertices: The frame of all vertices.
    """
    from pyspark.sql import functions as f

    kind = vertex_type(vertices)
    if isinstance(fixed, Mapping):
        rows = [(vertex, *_both(vertex, given)) for vertex, given in fixed.items()]
        return _local(vertices.sparkSession, rows, kind)
    require_columns(fixed, "fixed", ("vertex", "first"))
    if dict(fixed.dtypes)["vertex"] != kind:
        raise ParameterError(f"fixed vertices must have the type of the vertices, {kind}")
    first = f.col("first").cast("double")
    second = f.col("second").cast("double") if "second" in fixed.columns else 1.0 - first
    return fixed.select("vertex", first.alias("first"), second.alias("second"))


def _both(vertex: Any, given: Any) -> tuple[float, float]:
    """Both probabilities, each in [0, 1]; that they sum to 1 is checked with those of frames."""
    values = probabilities(given, f"the fixed value of {vertex!r:.80}")
    if values.shape not in ((), (2,)):
        raise ParameterError(f"the fixed value of {vertex!r:.80} must be a probability, or a pair, got {given!r:.80}")
    first, *rest = values.ravel().tolist()
    return first, rest[0] if rest else 1.0 - first


def _local(session: Any, rows: list[tuple[Any, float, float]], kind: str) -> Any:
    import pyarrow as pa

    names = [vertex for vertex, _, _ in rows]
    text = kind == "string" or kind.startswith("string ")
    if any(isinstance(name, str) != text for name in names):
        raise ParameterError(f"fixed vertices must have the type of the vertices, {kind}")
    try:
        column = pa.array(names, pa.string() if text else None)
    except (pa.ArrowException, OverflowError, TypeError):
        raise ParameterError(f"fixed vertices must have the type of the vertices, {kind}") from None
    numbers = [pa.array([row[at] for row in rows], pa.float64()) for at in (1, 2)]
    table = pa.table([column if rows else column.cast(pa.string()), *numbers], names=["vertex", "first", "second"])
    frame = session.createDataFrame(table)
    return frame.select(frame["vertex"].cast(kind).alias("vertex"), "first", "second")
