"""Orders from data: histograms of votes, each with the order of preference that the votes state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.graphs.builders import histograms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.graphs.dataset import DatasetGraph


def rankings(n: int, answers: Sequence[Any], neighbors: str = "replace", *, order: str = "votes") -> DatasetGraph:
    """Votes of ``n`` people over some answers, as counts, each with an order of preference over the answers.

    Args:
        n: How many people vote (at most n with ``neighbors="add-remove"``).
        answers: The answers; among equal counts the one listed earlier comes first.
        neighbors: ``"replace"`` (one person changes their vote) or ``"add-remove"`` (one joins or leaves).
        order: ``"votes"`` orders by falling counts; ``"winner"`` puts the winner first and leaves the others as listed.

    >>> rankings(2, "abc").colors[(0, 1, 1)], rankings(2, "abc", order="winner").colors[(0, 0, 2)]
    (('b', 'c', 'a'), ('c', 'a', 'b'))
    """
    try:
        names = tuple(answers)
        hash(names)
    except TypeError:
        raise ParameterError(f"answers must be a sequence of hashables, got {answers!r:.80}") from None
    if len(names) < 2 or len(set(names)) != len(names):
        raise ParameterError(f"at least two different answers are needed, got {names!r:.80}")
    if order not in ("votes", "winner"):
        raise ParameterError(f"order must be 'votes' or 'winner', got {order!r:.80}")

    def by_votes(counts: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple(names[at] for at in sorted(range(len(names)), key=lambda at: -counts[at]))

    def by_winner(counts: tuple[int, ...]) -> tuple[Any, ...]:
        winner = by_votes(counts)[0]
        return (winner, *(name for name in names if name != winner))

    graph = histograms(n, len(names), by_votes if order == "votes" else by_winner, neighbors)
    return graph.with_outputs(names)
