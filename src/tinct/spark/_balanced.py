"""balanced on Spark: the fair optimum of docs/theory.md §3a for graphs that do not fit into one memory.

One vertex after the other, as on one machine, would be one job after the other. Here truths are bounded from both
sides. An open boundary edge, one with two ends that are not settled, allows its ends at least its balance; and at most
what the lower bound on the other end leaves. Carried along all paths of one colour, both are fix-points. Where they
meet, that is the truth, and the bounds on the lowest open vertices always meet (docs/proofs/fair-optimum.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.binary.fair_optimum import EVEN, weights_of
from tinct.errors import ParameterError
from tinct.mechanism import claims
from tinct.privacy.suitable_pairs import probabilities
from tinct.sources.spark_engine import guarded
from tinct.spark import odds
from tinct.spark.fixed_point import MAX_ROUNDS, materialised, require_reached, settle
from tinct.spark.graph_frames import budget_columns, directed, read_graph, with_gains
from tinct.spark.mechanism_frame import MechanismFrame, with_colors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame

    from tinct.spark.fixed_point import Round
    from tinct.spark.graph_frames import SparkGraph

_ROUNDING = 1e-14  # bounds that are as close as this have met


def balanced(
    vertices: DataFrame,
    edges: DataFrame,
    privacy: Any = None,
    *,
    lean: float | Mapping[Any, float] | None = None,
    outputs: Sequence[Any] | None = None,
    disconnected: bool = False,
    progress: Callable[[Round], None] | None = None,
    max_rounds: int = MAX_ROUNDS,
) -> MechanismFrame:
    """The fair optimum: its least truth is as large as can be, then the next, and so on.

    Args:
        vertices: A Spark DataFrame with the columns vertex and color (two colors).
        edges: A Spark DataFrame with the columns source and target, each edge once; and epsilon (and delta) if every
            edge has its own.
        privacy: One Privacy for all edges, or None if the edges have their own.
        lean: Favour one color, such as ``{"yes": 0.8}`` (a bare number is for the first color), as in
            ``tinct.balanced``.
        outputs: The two colors, the first one first; sorted if left out, since frames have no order.
        disconnected: Whether pieces of the graph with one color are meant: the truth is told there with probability 1.
        progress: Called after every round with its number and how many vertices changed.
        max_rounds: Give up after so many. A round follows one edge of every path.
    """
    graph = read_graph(vertices, edges, outputs, None, budget_columns(edges, privacy))
    linked = with_gains(graph.edges, privacy)
    weights = _weights(lean, graph, linked)
    search = _MeetingBounds(graph, _with_levels(linked, weights), weights, progress, max_rounds)
    if not disconnected:
        search.require_boundaries()
    keys = search.settle_all()
    table = materialised(with_colors(_probabilities(keys), graph.outputs), "the table")
    claim = claims.FAIR if lean is None else claims.LEANING
    return MechanismFrame(table, graph.outputs, search.rounds, claim)


def _weights(lean: float | Mapping[Any, float] | None, graph: SparkGraph, edges: DataFrame) -> tuple[float, float]:
    """The weights of the two colors, from the weakest edge between them."""
    from pyspark.sql import functions as f

    if lean is None:
        return EVEN
    code = 0
    if isinstance(lean, Mapping):
        named = [color for color in lean if color in graph.outputs]
        if len(lean) != 1 or not named:
            raise ParameterError.of("lean", f"a truth for one of {graph.outputs!r:.80}", lean)
        code, lean = graph.outputs.index(named[0]), lean[named[0]]
    truth = float(probabilities(lean, "lean"))
    if not 0.0 < truth < 1.0:
        raise ParameterError.of("lean", "a probability above 0 and below 1", lean)
    left = odds.step(f.lit((1.0 - truth) / truth), f.col("gain"), f.col("shift"))
    crossing = edges.where("source_code <> target_code")
    ((weakest,),) = guarded("looking for the weakest edge", crossing.agg(f.min(left)).collect)
    if weakest is None:
        return EVEN
    own, other = weights_of(truth, float(weakest))
    return (own, other) if code == 0 else (other, own)


def _with_levels(edges: DataFrame, weights: tuple[float, float]) -> Any:
    """Beside every edge between the colors the level at which both its ends may stand."""
    from pyspark.sql import functions as f

    level = odds.balance_level(f.col("gain"), f.col("shift"), weights)
    return edges.withColumn("level", f.when(f.col("source_code") != f.col("target_code"), level))


def _probabilities(keys: Any) -> Any:
    """(vertex, code, first, second) from the keys of truths."""
    from pyspark.sql import functions as f

    large, small = odds.to_probabilities(f.col("key"))
    mine = f.col("code") == 0
    return keys.select(
        "vertex",
        "code",
        f.when(mine, large).otherwise(small).alias("first"),
        f.when(mine, small).otherwise(large).alias("second"),
    )


@dataclass
class _MeetingBounds:
    """Settles vertices, all those at a time on which the bounds meet."""

    graph: SparkGraph
    edges: Any
    weights: tuple[float, float]
    progress: Callable[[Round], None] | None
    max_rounds: int
    rounds: int = 0

    def require_boundaries(self) -> None:
        """Refuse a piece of the graph that has one color."""
        from pyspark.sql import functions as f

        links = directed(self.edges)
        crossing = links.where("level IS NOT NULL").select(f.col("target").alias("vertex")).distinct()
        near = self.graph.vertices.join(crossing.withColumn("on", f.lit(0.0)), "vertex", "left")
        start = near.select("vertex", f.coalesce("on", f.lit(odds.INFINITE)).alias("key"))
        inside = links.where("level IS NULL").select("source", "target")
        require_reached(
            materialised(start, "the boundary"), inside, "no edge to the other color", max_rounds=self.max_rounds,
            instead="tinct.balanced",
        )  # fmt: skip

    def settle_all(self) -> Any:
        """A frame (vertex, code, key) with the odds of the truth of every vertex."""
        from pyspark.sql import functions as f

        infinite = f.lit(odds.INFINITE)
        # open vertices with the least offer of settled neighbours, and the links between them
        still = self.graph.vertices.select("vertex", "code", infinite.alias("offer"))
        links = directed(self.edges).select("source", "target", "source_code", "target_code", "gain", "shift", "level")
        settled = None
        while True:
            low = self._bounds(still, links, None)
            high = self._bounds(still, links, low)
            both = still.join(low.withColumnRenamed("key", "low"), "vertex").join(high, "vertex")
            met = materialised(both.withColumn("met", f.col("key") <= f.col("low") * (1.0 + _ROUNDING)), "the bounds")
            fresh = met.where("met").select("vertex", "code", f.col("low").alias("key"))
            settled = fresh if settled is None else settled.unionByName(fresh)
            rest = met.where("NOT met").select("vertex", "code", "offer")
            if guarded("the bounds", rest.isEmpty):
                return settled
            if guarded("the bounds", fresh.isEmpty):
                raise ParameterError("rounding keeps bounds apart that should meet: run tinct.balanced on one machine")
            settled = materialised(settled, "the settled vertices")
            still = materialised(self._with_offers(rest, fresh, links), "the open vertices")
            links = materialised(_between(links, still), "the open edges")

    def _bounds(self, still: Any, links: DataFrame, low: Any) -> Any:
        """Bounds on the keys of all open vertices: from below, or from above with those from below."""
        from pyspark.sql import functions as f

        crossing = links.where("level IS NOT NULL")
        mine = self._key_at(f.col("level"), f.col("target_code"))
        if low is not None:
            crossing = crossing.join(low.select(f.col("vertex").alias("source"), "key"), "source")
            decided = f.col("key") >= self._key_at(f.col("level"), f.col("source_code"))
            mine = f.when(decided, mine).otherwise(self._across(f.col("key")))
        best = crossing.select(f.col("target").alias("vertex"), mine.alias("best")).groupBy("vertex")
        start = still.join(best.agg(f.min("best").alias("best")), "vertex", "left").select(
            "vertex", f.least("offer", f.coalesce("best", f.lit(odds.INFINITE))).alias("key")
        )
        inside = links.where("level IS NULL").select("source", "target", "gain", "shift")
        keys, self.rounds = settle(
            materialised(start, "the first bounds"), inside, odds.along_link, progress=self.progress,
            max_rounds=self.max_rounds, done=self.rounds, instead="tinct.balanced",
        )  # fmt: skip
        return keys

    def _with_offers(self, rest: Any, fresh: Any, links: DataFrame) -> Any:
        """The open vertices with what their newly settled neighbours leave them."""
        from pyspark.sql import functions as f

        known = links.join(fresh.select(f.col("vertex").alias("source"), "key"), "source")
        same = odds.bound(f.col("key"), f.col("gain"), f.col("shift"))
        offer = f.when(f.col("level").isNull(), same).otherwise(self._across(f.col("key")))
        offers = known.select(f.col("target").alias("vertex"), offer.alias("new")).groupBy("vertex")
        joined = rest.join(offers.agg(f.min("new").alias("new")), "vertex", "left")
        return joined.select("vertex", "code", f.least("offer", f.coalesce("new", "offer")).alias("offer"))

    def _across(self, key: Any) -> Any:
        """What the source of a link leaves its target of the other color, which is not below the balance."""
        from pyspark.sql import functions as f

        left = odds.bound(odds.other(key), f.col("gain"), f.col("shift"))
        return f.greatest(left, self._key_at(f.col("level"), f.col("target_code")))

    def _key_at(self, level: Any, code: Any) -> Any:
        from pyspark.sql import functions as f

        return level * f.when(code == 0, f.lit(self.weights[0])).otherwise(f.lit(self.weights[1]))


def _between(links: DataFrame, still: Any) -> Any:
    """The links with two open ends."""
    from pyspark.sql import functions as f

    for end in ("source", "target"):
        links = links.join(still.select(f.col("vertex").alias(end)), end, "left_semi")
    return links
