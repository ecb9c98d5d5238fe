"""Certified: a table of whole units that has been proved private, and the only thing the library samples from."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.exact import sampler
from tinct.exact.certificate_text import distinct, words
from tinct.exact.proof import Proof, Terms, count_pieces, guarantee, prove
from tinct.graphs.labels import Names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tinct.graphs.labels import Vertex

_LARGEST_WORD = 2**62
_BATCH = 1 << 16
EDGES = "the edges of this graph"
STEPS = "positions on the line that differ by one"


@dataclass(frozen=True, eq=False)
class Certified:
    """A mechanism in whole units, verified when it is created; it cannot be created without.

    Attributes:
        vertices: The datasets, in the order of the rows.
        outputs: The answers, in the order of the columns.
        numerators: Units, one row per vertex; int64, or Python integers when the denominator exceeds 2^62.
        denominator: N, the units in a row.
        ends: The edges as pairs of positions.
        classes: For every edge the number of its terms.
        terms: The distinct promises (ε, R, δ), in the order in which the edges first use them.
        clamped: Whether the vertices are part of a line whose ends represent everything beyond them.
        loss: How far the table is from the one it was made from, as a probability; 0 for one made on the grid. Files
            do not keep it: 0 after reading one.
        pieces: In how many pieces the graph is. Nothing is promised between pieces, so more than one has to be said
            here, and has to be right.
        question: What the table answers, in words; empty if not stated. ``about`` sets it.
        neighbors: Which datasets are neighbours, in words.
        edition: The version of the file format that spells the certificate, and with it its ``id``: 2, or 1 for one
            that was read from an old file.
    """

    vertices: Sequence[Any]
    outputs: tuple[Any, ...]
    numerators: Any
    denominator: int
    ends: NDArray[np.int32]
    classes: NDArray[np.int32]
    terms: tuple[Terms, ...]
    clamped: bool = False
    loss: float = 0.0
    pieces: int = 1
    question: str = ""
    neighbors: str = ""
    edition: int = 2
    progress: Callable[[int], None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if len(set(self.outputs)) != len(self.outputs):
            raise ParameterError("outputs must be distinct")
        object.__setattr__(self, "vertices", _named(self.vertices))
        object.__setattr__(self, "numerators", as_units(self.numerators, self.denominator))
        if self.numerators.shape[1] != len(self.outputs):
            raise ParameterError(f"every row must have {len(self.outputs)} entries, one for each output")
        for name in ("ends", "classes"):
            object.__setattr__(self, name, _frozen(np.array(getattr(self, name), np.int32)))
        if self.clamped and not self._is_line():
            raise ParameterError("only consecutive positions, each a neighbour of the next, can stand for a whole line")
        if not self.terms:
            raise ParameterError("a certificate needs at least one budget")
        if self.edition > 1:
            self._name_and_number()
        object.__setattr__(self, "proof", check(self, progress=self.progress))
        object.__setattr__(self, "progress", None)
        if self.proof.pieces != self.pieces:
            raise ParameterError(
                f"pieces of the graph: {self.proof.pieces:,}; the certificate says {self.pieces!r:.40}. Nothing "
                "is promised between pieces, so their number has to be confirmed"
            )

    def _name_and_number(self) -> None:
        """Bring the promises into their one order, and see to it that the neighbours have a name."""
        terms, classes = distinct(self.terms, self.classes)
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "classes", _frozen(classes))
        words(self.question, "question")
        object.__setattr__(self, "neighbors", words(self.neighbors, "neighbors") or self._usual_neighbors)

    @property
    def _usual_neighbors(self) -> str:
        return STEPS if self.clamped else EDGES

    proof: Proof = field(init=False, repr=False)

    @property
    def guarantee(self) -> str:
        """What is promised, in words."""
        return guarantee(self.terms)

    def about(self, question: str, neighbors: str) -> Certified:
        """The same table with a statement of what it answers and for which neighbours; it has a new ``id``.

        The numbers are not verified again: they are the same and cannot change.

        >>> from tinct import Privacy, exact
        >>> line = exact.line(Privacy("ln 2")).about("majority(support)", "add-remove")
        >>> line.question, line.neighbors, line.id == exact.line(Privacy("ln 2")).id
        ('majority(support)', 'add-remove', False)
        """
        words(question, "question", at_least=1)
        words(neighbors, "neighbors", at_least=1)
        stated = copy(self)
        stated.__dict__.pop("id", None)
        for name, value in (("question", question), ("neighbors", neighbors), ("edition", 2)):
            object.__setattr__(stated, name, value)
        stated._name_and_number()
        object.__setattr__(stated, "proof", replace(self.proof, terms=stated.terms))
        return stated

    def release(self, vertex: Vertex) -> Any:
        """One answer for a dataset, drawn exactly from its row. Errors never show the dataset."""
        return self.outputs[sampler.draw(self._prefix_lists[self._position(vertex)])]

    def sample(self, vertices: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
        """One answer for each of many datasets."""
        positions = self.positions(vertices)
        answers = np.empty(len(positions), self.outputs_array.dtype)
        for start in range(0, len(positions), _BATCH):  # numbers of answers stay in the processor's cache
            drawn = sampler.draw_many(self.prefixes, positions[start : start + _BATCH])
            np.take(self.outputs_array, drawn, out=answers[start : start + _BATCH], mode="clip")
        return answers

    def positions(self, vertices: Sequence[Any] | NDArray[Any]) -> NDArray[np.intp]:
        """The rows of many datasets."""
        own = self.vertices
        if isinstance(vertices, np.ndarray) and vertices.ndim != 1:
            raise ParameterError(f"datasets must be given as one list, not as an array of {vertices.ndim} dimensions")
        counted = isinstance(own, range) and own.step == 1
        if counted and isinstance(vertices, np.ndarray) and vertices.dtype.kind in "iu":
            low, high = own[0], own[-1]
            # a narrower type could not hold the ends of the range, or the differences below
            if vertices.dtype != np.uint64 and max(-low, high) < _LARGEST_WORD:
                inside = np.clip(vertices.astype(np.int64, copy=False), low, high)
                if not self.clamped and not np.array_equal(inside, vertices):
                    raise _stranger(self)
                inside -= low
                return inside.astype(np.intp, copy=False)
        return np.array([self._position(vertex) for vertex in vertices], np.intp)

    def truth(self, colors: Mapping[Any, Any] | Callable[[Any], Any]) -> list[int]:
        """For every vertex the units of the answer ``colors`` (a mapping or a function) says is true there."""
        true = colors.__getitem__ if hasattr(colors, "__getitem__") else colors
        return [int(row[self.outputs.index(true(v))]) for v, row in zip(self.vertices, self.numerators, strict=True)]

    def table(self) -> NDArray[np.float64]:
        """The probabilities as floats, for looking at; only the units are exact."""
        return np.array([[entry / self.denominator for entry in row] for row in self.rows], np.float64)

    @property
    def rows(self) -> list[list[int]]:
        """The units as Python integers."""
        rows: list[list[int]] = self.numerators.tolist()
        return rows

    def edges(self) -> Iterator[tuple[int, int, int]]:
        """Every edge as two positions and the number of its terms."""
        pairs = self.ends.tolist()
        return ((u, v, number) for (u, v), number in zip(pairs, self.classes.tolist(), strict=True))

    @cached_property
    def id(self) -> str:
        """The SHA-256 of the certificate as it is written to a file: 64 hexadecimal digits."""
        from tinct.exact import certificate_files

        return certificate_files.digest(self)

    def to_json(self, path: str | Path) -> None:
        """Write the certificate: graph, budgets, units, all exact (docs/files.md)."""
        from tinct.exact import certificate_files

        certificate_files.write_certificate(self, path)

    @classmethod
    def from_json(cls, path: str | Path, *, progress: Callable[[int], None] | None = None) -> Certified:
        """Read a certificate and verify it from scratch; a file with one changed byte is refused."""
        from tinct.exact import certificate_files

        return certificate_files.read_certificate(path, progress)

    def _position(self, vertex: Vertex) -> int:
        if self.clamped and isinstance(vertex, int | np.integer) and not isinstance(vertex, bool):
            vertex = min(max(int(vertex), self.vertices[0]), self.vertices[-1])
        with suppress(ValueError, TypeError):
            return self.vertices.index(vertex)
        # raised out here, so that no inner error that shows the dataset hangs on to it
        raise _stranger(self)

    def _is_line(self) -> bool:
        steps = np.arange(len(self.numerators), dtype=np.int32)
        consecutive = np.stack([steps[:-1], steps[1:]], axis=1)
        return isinstance(self.vertices, range) and self.vertices.step == 1 and np.array_equal(self.ends, consecutive)

    @cached_property
    def prefixes(self) -> NDArray[Any]:
        """The prefix sums of every row, which the sampler bisects."""
        return _frozen(np.cumsum(self.numerators, axis=1))

    @cached_property
    def _prefix_lists(self) -> list[list[int]]:
        lists: list[list[int]] = self.prefixes.tolist()
        return lists

    @cached_property
    def outputs_array(self) -> NDArray[Any]:
        """The outputs as an array, typed if they are all text, whole numbers or truth values."""
        kinds = {type(output) for output in self.outputs}
        if len(kinds) == 1 and kinds <= {str, int, bool}:
            return np.array(self.outputs)
        boxed = np.empty(len(self.outputs), object)
        boxed[:] = self.outputs
        return boxed

    def _repr_html_(self) -> str:
        """The page that notebooks show."""
        from tinct import notebook

        return notebook.of_certified(self)

    def __repr__(self) -> str:
        return f"<Certified: {len(self.vertices):,} vertices, outputs {self.outputs!r:.60}, {self.guarantee}>"


def check(certified: Certified, *, progress: Callable[[int], None] | None = None) -> Proof:
    """Prove a table private, every edge in both directions, from its numbers alone.

    Raises:
        NotPrivate: An inequality fails; ``witness`` has the edge.
    """
    proof = prove(
        certified.rows, certified.denominator, certified.edges(), certified.terms, certified.vertices, progress
    )
    return replace(proof, pieces=count_pieces(proof.vertices, certified.ends.tolist()))


def as_units(rows: Any, total: int) -> NDArray[Any]:
    """Rows of integers as a read-only array: int64 where they fit, Python integers where they do not."""
    width = len(rows[0]) if len(rows) else 0
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    whole = all(len(row) == width and all(type(entry) is int and 0 <= entry <= total for entry in row) for row in rows)
    if not whole:
        raise ParameterError("units must be whole numbers from 0 to the denominator, equally many in every row")
    if total <= _LARGEST_WORD:
        units: NDArray[Any] = np.array(rows, np.int64).reshape(len(rows), width)
    else:
        units = np.empty((len(rows), width), object)
        for at, row in enumerate(rows):
            units[at] = row
    return _frozen(units)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _named(vertices: Sequence[Any]) -> Sequence[Any]:
    """Vertices that know their positions and stay as they were when the proof was made."""
    if not isinstance(vertices, list | tuple):
        return vertices  # a range, or names of a graph: distinct, and nobody changes them
    if len(set(vertices)) != len(vertices):
        raise ParameterError("vertices must be distinct: a dataset has one row")
    return Names(vertices)


def _stranger(certified: Certified) -> ParameterError:
    # the dataset is the secret: it is not repeated
    return ParameterError(
        f"the dataset given is not one of the certificate's {len(certified.vertices):,} vertices, which run from "
        f"{certified.vertices[0]!r:.60} to {certified.vertices[-1]!r:.60}"
    )
