"""Graphs that come up again and again: lines, grids, hypercubes, histograms; and graphs that are never built."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, Way
from tinct.graphs.coloring import Coloring
from tinct.graphs.csr import csr_of_pairs, require_memory
from tinct.graphs.dataset import DatasetGraph
from tinct.graphs.labels import Rows, Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from tinct.graphs.labels import Vertex


Color = Callable[[Any], Any]
_SORTED, _RANKED = 80, 128  # bytes an edge takes while edges are sorted, or found by the rank of their ends
_BEYOND = 2000  # 2 to this power is more vertices than there is memory for anywhere


def line(n_first: int, n_second: int, colors: Sequence[Any] = ("blue", "red"), *, start: int = 1) -> DatasetGraph:
    """``n_first`` vertices of the first colour, then ``n_second`` of the second, in a row, numbered from ``start``.

    >>> line(2, 3).colors
    {1: 'blue', 2: 'blue', 3: 'red', 4: 'red', 5: 'red'}
    """
    n_first, n_second = _whole("n_first", n_first, at_least=0), _whole("n_second", n_second, at_least=0)
    n = n_first + n_second
    both = Coloring.of(list(colors))
    if n == 0 or len(both.codes) != 2 or len(both.palette) != 2:
        raise ParameterError(f"a line needs at least one vertex and two colors, got {n} and {tuple(colors)!r:.80}")
    instead = Way("exact.line serves lines of any length", "tinct ask serves any number of people")
    require_memory(n, n, "this line", instead=instead)
    indptr = np.clip(2 * np.arange(n + 1, dtype=np.int64) - 1, 0, 2 * (n - 1))
    indices = np.empty(2 * (n - 1), np.int32)
    indices[0::2] = np.arange(1, n)
    indices[1::2] = np.arange(n - 1)
    codes = (np.arange(n) >= n_first).astype(np.uint8)
    coloring = Coloring(codes, both.palette, both.outputs)  # both colors, even if only one occurs
    return DatasetGraph.trusted(indptr, indices, coloring, range(start, start + n))


def majority(n: int) -> DatasetGraph:
    """How many of ``n`` people said yes, from 0 to n, and whether that is more than half."""
    n = _whole("n", n, at_least=1)
    return threshold(n, n // 2 + 1)


def threshold(n: int, at_least: int) -> DatasetGraph:
    """How many of ``n`` people said yes, from 0 to n, and whether at least ``at_least`` did.

    >>> threshold(3, 2).colors
    {0: 'no', 1: 'no', 2: 'yes', 3: 'yes'}
    """
    n, at_least = _whole("n", n, at_least=1), _whole("at_least", at_least, at_least=1)
    if at_least > n:
        raise ParameterError.of("at_least", f"between 1 and n = {n}", at_least)
    return line(at_least, n + 1 - at_least, ("no", "yes"), start=0)


def grid(rows: int, columns: int, color: Color, *, vectorized: bool = False) -> DatasetGraph:
    """A rectangle of points (row, column), neighbours side by side.

    ``color`` is a function of the point, or, with ``vectorized``, of the whole array of points (one per row).
    """
    return box((rows, columns), color, vectorized=vectorized)


def box(sizes: Sequence[int], color: Color, *, vectorized: bool = False) -> DatasetGraph:
    """All tuples whose i-th entry is below ``sizes[i]``; neighbours differ by one in one entry.

    ``color`` is a function of the tuple, or, with ``vectorized``, of the whole array of tuples (one per row).

    >>> box((2, 3), lambda counts: sum(counts) >= 2).boundary_distance()
    array([1, 0, 0, 0, 0, 1], dtype=int32)
    """
    shape = tuple(_whole(f"sizes[{axis}]", size, at_least=1) for axis, size in enumerate(sizes))
    if not shape:
        raise ParameterError("a box needs at least one size")
    size = math.prod(shape)
    require_memory(size, len(shape) * size, f"a box of {' × '.join(map(str, shape))}", per_edge=_SORTED)
    at = np.arange(size, dtype=np.int32).reshape(shape)
    before = [np.delete(at, -1, axis).ravel() for axis in range(len(shape))]
    after = [np.delete(at, 0, axis).ravel() for axis in range(len(shape))]
    return _build(np.concatenate(before), np.concatenate(after), Words(shape), color, vectorized)


def hypercube(n: int, color: Color, *, vectorized: bool = False) -> DatasetGraph:
    """All answers of ``n`` people to a yes/no question, as tuples of 0 and 1; neighbours differ in one person.

    ``color`` is a function of the tuple, or, with ``vectorized``, of the whole array of tuples (one per row).

    >>> hypercube(3, lambda bits: sum(bits) >= 2).boundary_distance()
    array([1, 0, 0, 0, 0, 0, 0, 1], dtype=int32)
    """
    n = _whole("n", n, at_least=1)
    size = 2 ** min(n, _BEYOND)  # a size this large is refused below, however large it is
    require_memory(size, n * size // 2, f"the {n}-cube")
    vertices = np.arange(2**n, dtype=np.int32)
    masks = np.array([1 << bit for bit in range(n)], np.int32)
    indices = (vertices[:, None] ^ masks[None, :]).ravel()
    indptr = np.arange(0, n * 2**n + 1, n, dtype=np.int64)
    names = Words((2,) * n)
    return DatasetGraph.trusted(indptr, indices, _color(names, color, vectorized), names)


def histograms(n: int, k: int, color: Color, neighbors: str = "replace", *, vectorized: bool = False) -> DatasetGraph:
    """Counts of ``n`` people over ``k`` categories, as tuples.

    With ``neighbors="replace"`` n is public and one person may change category; with ``"add-remove"`` the vertices
    are all counts of at most n people and one person may join or leave. ``color`` is a function of the tuple, or,
    with ``vectorized``, of the whole array of tuples (one per row).

    >>> histograms(2, 2, lambda h: h[0] > h[1]).colors
    {(0, 2): False, (1, 1): False, (2, 0): True}
    """
    n, k = _whole("n", n, at_least=1), _whole("k", k, at_least=2)
    if neighbors not in ("replace", "add-remove"):
        raise ParameterError.of("neighbors", "'replace' or 'add-remove'", neighbors)
    # with a hidden category for the people who stay away, add-remove is replace between it and the others
    width = k if neighbors == "replace" else k + 1
    # computed only if that is quick: with many people and many categories it is far beyond any memory
    size = math.comb(n + width - 1, width - 1) if min(n, width) < _BEYOND else 2**_BEYOND
    edges = size * (k * (k - 1) // 2 if neighbors == "replace" else k)
    require_memory(size, edges, f"histograms({n}, {k})", per_edge=_RANKED)
    rows = _compositions(n, width)
    moves = combinations(range(k), 2) if neighbors == "replace" else [(k, category) for category in range(k)]
    first, second = [], []
    for giver, taker in moves:
        able = np.flatnonzero(rows[:, giver] > 0)
        moved = rows[able]
        moved[:, giver] -= 1
        moved[:, taker] += 1
        first.append(able)
        second.append(_rank(moved, n))
    return _build(np.concatenate(first), np.concatenate(second), Rows(rows[:, :k].copy()), color, vectorized)


def _compositions(n: int, k: int) -> NDArray[np.int32]:
    """All ways to write n as an ordered sum of k counts, in lexicographic order: bars among stars."""
    bars = np.array(list(combinations(range(n + k - 1), k - 1)), np.int32).reshape(-1, k - 1)
    edges = np.column_stack([np.full(len(bars), -1, np.int32), bars, np.full(len(bars), n + k - 1, np.int32)])
    return np.diff(edges, axis=1).astype(np.int32) - 1


def _rank(rows: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """The positions of rows in the lexicographic order of ``_compositions``."""
    k = rows.shape[1]
    rank = np.zeros(len(rows), np.int64)
    left = np.full(len(rows), n, np.int64)
    for at in range(k - 1):
        parts = k - 1 - at
        ways = np.array([math.comb(m + parts - 1, parts - 1) for m in range(n + 1)], np.int64)
        upto = np.concatenate([[0], np.cumsum(ways)])
        # all rows with a smaller count here: sums of the rest from left − count + 1 to left
        rank += upto[left + 1] - upto[left - rows[:, at] + 1]
        left -= rows[:, at]
    return rank


def _build(
    first: NDArray[Any], second: NDArray[Any], names: Words | Rows, color: Color, vectorized: bool
) -> DatasetGraph:
    indptr, indices = csr_of_pairs(len(names), first, second)
    return DatasetGraph.trusted(indptr, indices, _color(names, color, vectorized), names)


def _color(names: Words | Rows, color: Color, vectorized: bool) -> Coloring:
    if not vectorized:
        return Coloring.of([color(name) for name in names])
    colors = np.asarray(color(names.rows))
    if colors.shape != (len(names),):
        raise ParameterError(f"a vectorized color function must return {len(names):,} colors, got shape {colors.shape}")
    return Coloring.of(colors)


def _whole(name: str, value: object, *, at_least: int) -> int:
    """The value as one of Python's integers, which never overflow."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ParameterError.of(name, f"a whole number of at least {at_least}", value)
    return int(value)


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
        raise ParameterError.of("answers", "a sequence of hashables", answers) from None
    if len(names) < 2 or len(set(names)) != len(names):
        raise ParameterError(f"at least two different answers are needed, got {names!r:.80}")
    if order not in ("votes", "winner"):
        raise ParameterError.of("order", "'votes' or 'winner'", order)

    def by_votes(counts: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple(names[at] for at in sorted(range(len(names)), key=lambda at: -counts[at]))

    def by_winner(counts: tuple[int, ...]) -> tuple[Any, ...]:
        winner = by_votes(counts)[0]
        return (winner, *(name for name in names if name != winner))

    graph = histograms(n, len(names), by_votes if order == "votes" else by_winner, neighbors)
    return graph.with_outputs(names)


def _cube(n: int) -> DatasetGraph:
    return hypercube(n, lambda votes: votes.sum(axis=1) * 2 > n, vectorized=True)


def _votes(n: int, k: int) -> DatasetGraph:
    if not 2 <= k <= len(ascii_lowercase):
        raise ParameterError.of("k", f"between 2 and {len(ascii_lowercase)} answers", k)
    return rankings(n, ascii_lowercase[:k])


SPECS: dict[str, tuple[Callable[..., DatasetGraph], tuple[str, ...], str]] = {
    "majority": (majority, ("n",), "how many of n people said yes; is it more than half?"),
    "threshold": (threshold, ("n", "k"), "how many of n people said yes; is it at least k?"),
    "line": (line, ("a", "b"), "a row of a blue and b red datasets"),
    "votes": (_votes, ("n", "k"), "how n people voted on k answers; which has how many votes?"),
    "cube": (_cube, ("n",), "the votes of n people one by one; did more than half say yes?"),
}


def from_spec(text: str) -> DatasetGraph:
    """The graph a short name stands for.

    >>> from_spec("threshold:10,3")
    <DatasetGraph: 11 vertices, 10 edges, outputs ('no', 'yes')>
    """
    name, colon, rest = text.partition(":")
    if name not in SPECS or not colon:
        raise ParameterError(f"{text!r:.80} is neither a file nor one of {forms()}")
    build, parameters, _ = SPECS[name]
    values = rest.split(",")
    if len(values) != len(parameters) or not all(value.strip().isdecimal() and len(value) < 20 for value in values):
        raise ParameterError(f"{text!r:.80} should look like {_form(name)}, with whole numbers")
    arguments: list[Any] = [int(value) for value in values]
    return build(*arguments)


def forms() -> str:
    """All short names with their parameters."""
    return ", ".join(map(_form, SPECS))


def _form(name: str) -> str:
    return f"{name}:{','.join(SPECS[name][1])}"


# a graph that is never built: neighbours are a function, so that 2^200 vertices are no obstacle


@dataclass(frozen=True)
class ImplicitGraph:
    """A graph given by a neighbour function, for evaluating a mechanism at single vertices.

    The two colours are ``outputs``; its first is the one whose probability ``extend`` is given. For ``rainbow`` there
    may be more outputs, and the colours are orders of preference, tuples that list all of them.
    """

    function: Callable[[Any], Iterable[Any]]
    color: Callable[[Any], Any]
    outputs: tuple[Any, ...]

    def neighbors(self, vertex: Vertex) -> list[Any]:
        """The neighbours of a vertex."""
        found = list(self.function(vertex))
        if vertex in found:
            raise ParameterError(f"the neighbour function lists {vertex!r:.80} as its own neighbour")
        return found

    def code(self, vertex: Vertex) -> int:
        """0 for the first colour, 1 for the second."""
        color = self.color(vertex)
        if len(self.outputs) > 2 or (isinstance(color, tuple) and color not in self.outputs):
            raise ParameterError(
                f"two colors are needed, this graph has orders of preference over {self.outputs!r:.80}: "
                "use tinct.rainbow"
            )
        if color not in self.outputs:
            raise ParameterError(f"the color of {vertex!r:.80} must be one of {self.outputs!r}, got {color!r}")
        return self.outputs.index(color)


GraphLike = DatasetGraph | ImplicitGraph


def neighbors(
    function: Callable[[Any], Iterable[Any]],
    color: Callable[[Any], Any],
    outputs: Iterable[Any] = (False, True),
) -> ImplicitGraph:
    """A graph given by a neighbour function and a colour function with values in ``outputs``.

    For ``rainbow`` the colour function returns orders of preference, tuples that list all of ``outputs``.

    >>> votes = neighbors(
    ...     lambda v: [v ^ (1 << person) for person in range(200)], lambda v: v.bit_count() > 100
    ... )
    >>> len(votes.neighbors(0))
    200
    """
    answers = tuple(outputs)
    if len(answers) < 2 or len(set(answers)) != len(answers):
        raise ParameterError(f"an implicit graph needs at least two different outputs, got {answers!r}")
    return ImplicitGraph(function, color, answers)
