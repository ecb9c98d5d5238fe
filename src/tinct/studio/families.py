"""The graphs that can be chosen by name, each with its numbers, its builder, and the Python that builds the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from tinct import graphs
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinct.graphs import DatasetGraph, GraphFile
    from tinct.studio.uploads import Uploads

MAX_VERTICES = 100_000
FILE = "file"


@dataclass(frozen=True)
class Number:
    """One number of a family: what it is called, its range, and where it starts."""

    label: str
    least: int
    most: int
    start: int


@dataclass(frozen=True)
class Family:
    """A kind of graph: what it is called, what its vertices mean, and how it is built."""

    label: str
    hint: str
    numbers: tuple[Number, ...]
    build: Callable[..., DatasetGraph]
    python: str  # the expression that builds it, with {0} and {1} for the numbers
    shape: str  # how its vertices are placed


def _cube(n: int) -> DatasetGraph:
    return graphs.hypercube(n, lambda votes: "yes" if 2 * sum(votes) > n else "no").with_outputs(("no", "yes"))


def _grid(rows: int, columns: int) -> DatasetGraph:
    least = (rows + columns) // 2
    return graphs.grid(rows, columns, lambda counts: "yes" if sum(counts) >= least else "no")


def _votes(n: int, k: int) -> DatasetGraph:
    return graphs.rankings(n, ascii_lowercase[:k])


FAMILIES: dict[str, Family] = {
    "majority": Family(
        "Majority of n people",
        "A vertex is how many of n people said yes. The question: is it more than half?",
        (Number("people", 1, 50_000, 21),),
        graphs.majority,
        "graphs.majority({0})",
        "line",
    ),
    "threshold": Family(
        "At least k of n people",
        "A vertex is how many of n people said yes. The question: is it at least k?",
        (Number("people", 1, 50_000, 30), Number("at least", 1, 50_000, 10)),
        graphs.threshold,
        "graphs.threshold({0}, {1})",
        "line",
    ),
    "votes": Family(
        "Three-way vote",
        "A vertex is how many votes each of a, b and c got. The question: in which order did they finish?",
        (Number("voters", 1, 60, 8),),
        lambda n: _votes(n, 3),
        'graphs.rankings({0}, "abc")',
        "simplex",
    ),
    "cube": Family(
        "One by one: a cube",
        "A vertex lists the answer of each person, one by one. The question: did more than half say yes?",
        (Number("people", 1, 12, 3),),
        _cube,
        'graphs.hypercube({0}, lambda votes: "yes" if 2 * sum(votes) > {0} else "no").with_outputs(("no", "yes"))',
        "levels",
    ),
    "grid": Family(
        "Two counts: a grid",
        "A vertex is a pair of counts. The question: is their sum large?",
        (Number("rows", 1, 200, 6), Number("columns", 1, 200, 9)),
        _grid,
        'graphs.grid({0}, {1}, lambda counts: "yes" if sum(counts) >= ({0} + {1}) // 2 else "no")',
        "grid",
    ),
}

RANKED: dict[str, Family] = {
    "votes": Family(
        "Votes on k answers",
        "A vertex is how many votes each answer got; its order of preference is the order in which they finished.",
        (Number("voters", 1, 60, 8), Number("answers", 2, 5, 3)),
        _votes,
        "graphs.rankings({0}, {letters!r})",
        "simplex",
    ),
    "winner": Family(
        "Votes, only the winner counts",
        "A vertex is how many votes each answer got; its order puts the winner first and the others as listed.",
        (Number("voters", 1, 60, 8), Number("answers", 2, 5, 3)),
        lambda n, k: graphs.rankings(n, ascii_lowercase[:k], order="winner"),
        'graphs.rankings({0}, {letters!r}, order="winner")',
        "simplex",
    ),
}


def checked_numbers(family: Family, given: Sequence[Any]) -> tuple[int, ...]:
    """The numbers of a family, if there are as many as it takes and each is in its range."""
    found = []
    for number, value in zip(family.numbers, [*given, *[None] * len(family.numbers)], strict=False):
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not number.least <= value <= number.most:
            raise ParameterError(
                f"{number.label} must be a whole number from {number.least:,} to {number.most:,}, got {value!r:.40}"
            )
        found.append(value)
    return tuple(found)


@lru_cache(maxsize=32)
def built(kind: str, name: str, numbers: tuple[int, ...]) -> DatasetGraph:
    """The graph of a family; the same one for the same numbers."""
    graph = _kinds(kind)[name].build(*numbers)
    if len(graph) > MAX_VERTICES:
        raise ParameterError(
            f"the studio shows graphs of up to {MAX_VERTICES:,} vertices, and this one has {len(graph):,}: use "
            "'tinct design' or the Python library"
        )
    return graph


def family_of(kind: str, name: str) -> Family:
    """A family by name; ``kind`` is ``"design"`` or ``"rainbow"``."""
    families = _kinds(kind)
    if name not in families:
        raise ParameterError(f"the family must be one of {', '.join(families)}, got {name!r:.40}")
    return families[name]


def python_of(family: Family, numbers: tuple[int, ...]) -> str:
    """The expression that builds the graph of a family."""
    letters = ascii_lowercase[: numbers[-1]] if "{letters" in family.python else ""
    return family.python.format(*numbers, letters=letters)


def _kinds(kind: str) -> dict[str, Family]:
    return {"design": FAMILIES, "rainbow": RANKED}[kind]


class GraphFiles:
    """Graphs from uploads, read once for each file."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads
        self._read = lru_cache(maxsize=16)(self._parsed)

    def read(self, digest: str) -> GraphFile:
        """The graph of an upload, which may be a graph or a mechanism."""
        return self._read(digest)

    def is_mechanism(self, digest: str) -> bool:
        """Whether an upload is a mechanism."""
        return is_mechanism(self._uploads.get(digest).data)

    def _parsed(self, digest: str) -> GraphFile:
        from tinct.studio.uploads import parsed

        upload = self._uploads.get(digest)
        found: GraphFile = parsed(upload, lambda path: _graph_in(path, upload.data))
        if len(found.graph) > MAX_VERTICES:
            raise ParameterError(f"{upload.name}: the studio shows graphs of up to {MAX_VERTICES:,} vertices")
        return found


def _graph_in(path: Any, data: bytes) -> GraphFile:
    if path.suffix == ".json" and is_mechanism(data):
        from tinct.mechanism import Mechanism

        mechanism = Mechanism.from_json(path)
        return graphs.GraphFile(mechanism.graph, mechanism.privacy)
    return graphs.read(path)


def is_mechanism(data: bytes) -> bool:
    """Whether a JSON file begins like a mechanism; reading it in full is left to those who know how."""
    return b'"tinct/mechanism@' in data[:200]
