"""Pieces of a graph with one color, where the truth would be told with certainty: found, and refused."""

from __future__ import annotations

from typing import Any

from tinct.errors import Parameter, ParameterError
from tinct.sources.spark_engine import guarded
from tinct.spark import odds
from tinct.spark.fixed_point import settle


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
