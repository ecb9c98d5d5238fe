"""The fix-point: keys travel along edges and only ever fall, until a round changes nothing.

Edges are partitioned by their source once and stay where they are; a round moves the keys and the messages of vertices
that changed. After every round the keys are materialised and their history is cut off, or the plan would grow with
every round (docs/decisions/0017-spark.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.errors import Parameter, ParameterError
from tinct.sources.spark_engine import guarded
from tinct.spark import odds

if TYPE_CHECKING:
    from collections.abc import Callable


MAX_ROUNDS = 10_000


@dataclass(frozen=True)
class Round:
    """What a round of a fix-point did: its number, and how many vertices got a lower key."""

    number: int
    changed: int


def settle(
    keys: Any,
    links: Any,
    step: Callable[[Any], Any],
    *,
    progress: Callable[[Round], None] | None = None,
    max_rounds: int = MAX_ROUNDS,
    done: int = 0,
    instead: str = "tinct.extend",
) -> tuple[Any, int]:
    """The least keys that satisfy key(target) ≤ step(key(source)) along all links, from the given ones downwards.

    Args:
        keys: A materialised frame (vertex, key), one row per vertex, infinite where nothing is known.
        links: A frame (source, target, …) of directed edges between vertices of ``keys``.
        step: From the column ``key`` (finite) of the source, with the columns of the link at hand, to the bound on
            the target.
        progress: Called after every round.
        max_rounds: Give up after so many: a path needs as many rounds as it has edges.
        done: Rounds that were done before, which count.
        instead: What to run if it gives up.

    Returns:
        The frame (vertex, key), materialised, and the number of the last round.
    """
    from pyspark.sql import functions as f

    state = keys.select("vertex", "key", (f.col("key") < float("inf")).alias("fresh"))
    edges = spread(links, "source").persist()
    try:
        for number in range(done + 1, max_rounds + 1):
            state = materialised(_round(state, edges, step), f"round {number}")
            changed = int(guarded(f"round {number}", state.where("fresh").count))
            if progress is not None:
                progress(Round(number, changed))
            if not changed:
                return state.select("vertex", "key"), number
    finally:
        edges.unpersist()
    raise ParameterError(
        f"after {max_rounds:,} rounds vertices were still changing: paths are too long for a job that needs one round "
        f"for each of their edges; run {instead} on one machine instead"
    )


def _round(state: Any, edges: Any, step: Callable[[Any], Any]) -> Any:
    """Every vertex that changed tells its neighbours; a neighbour that hears of a lower key takes it."""
    from pyspark.sql import functions as f

    fresh = state.where("fresh").select(f.col("vertex").alias("source"), "key")
    # the hint keeps Spark from sorting all edges: the few fresh vertices become a hash table beside them
    messages = edges.join(fresh.hint("shuffle_hash"), "source").select(
        f.col("target").alias("vertex"), step(f.col("key")).alias("offer")
    )
    offers = messages.where(f.col("offer") < float("inf")).groupBy("vertex").agg(f.min("offer").alias("offer"))
    lower = f.coalesce(f.col("offer") < f.col("key"), f.lit(False))
    joined = state.join(offers.hint("shuffle_hash"), "vertex", "left")
    return joined.select(
        "vertex", f.when(lower, f.col("offer")).otherwise(f.col("key")).alias("key"), lower.alias("fresh")
    )


def spread(frame: Any, column: str) -> Any:
    """The frame partitioned by a column, in as many pieces as the session's shuffles have."""
    pieces = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    return frame.repartition(pieces, column)


def materialised(frame: Any, what: str) -> Any:
    """The frame computed once and cut off from its history.

    It goes to the session's checkpoint directory, if there is one, and survives the loss of an executor; without one
    it stays on the executors, and when one is lost the job fails.
    """
    reliable = frame.sparkSession.sparkContext._jsc.sc().getCheckpointDir().isDefined()
    return guarded(what, lambda: frame.checkpoint(eager=True) if reliable else frame.localCheckpoint(eager=True))


# pieces of a graph with one color, where the truth would be told with certainty: found, and refused


def require_reached(near: Any, links: Any, what: str, *, max_rounds: int, instead: str = "tinct.extend") -> None:
    """Refuse vertices that no key reaches along the links.

    Args:
        near: A materialised frame (vertex, key): 0 where a piece is known to be bounded, infinite elsewhere.
        links: A frame (source, target) of directed edges.
        what: What cannot be reached, in words.
        max_rounds: Give up after so many rounds.
        instead: What to run if it gives up.
    """
    from pyspark.sql import functions as f

    reached, _ = settle(near, links, lambda key: key, max_rounds=max_rounds, instead=instead)
    alone = guarded("looking for pieces", reached.where(f.col("key") == odds.INFINITE).agg(f.min("vertex")).first)[0]
    if alone is not None:
        raise ParameterError(
            f"{what} can be reached from {alone!r:.80}: its whole piece of the graph has one color, and the "
            "truth would be told there with probability 1. If no edges are missing, confirm it with ",
            Parameter("disconnected", True),
        )
