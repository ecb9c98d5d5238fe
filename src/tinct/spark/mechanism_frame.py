"""A mechanism as a frame on the executors: what ``extend`` and ``balanced`` return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tinct.mechanism import Claim


@dataclass(frozen=True, eq=False)
class MechanismFrame:
    """A mechanism with two answers on the executors.

    Attributes:
        table: A DataFrame (vertex, color, first, second): the probabilities of the two answers, each with its own
            relative precision.
        outputs: The two answers, in the order of the columns.
        rounds: How many rounds the fix-points took.
        claim: In which sense it is optimal.
    """

    table: Any
    outputs: tuple[Any, ...]
    rounds: int
    claim: Claim

    def truth(self) -> Any:
        """A DataFrame (vertex, truth, error): the probabilities of the true answer and of the other one."""
        from pyspark.sql import functions as f

        mine = f.col("color") == f.lit(self.outputs[0])
        return self.table.select(
            "vertex",
            f.when(mine, f.col("first")).otherwise(f.col("second")).alias("truth"),
            f.when(mine, f.col("second")).otherwise(f.col("first")).alias("error"),
        )


def with_colors(table: DataFrame, outputs: tuple[Any, ...]) -> Any:
    """The rows (vertex, color, first, second) of a table that has codes in place of colors."""
    from pyspark.sql import functions as f

    color = f.when(f.col("code") == 0, f.lit(outputs[0])).otherwise(f.lit(outputs[-1]))
    return table.select("vertex", color.alias("color"), "first", "second")
