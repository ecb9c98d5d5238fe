"""Mechanism: for every vertex of a dataset graph a distribution over the answers."""

from __future__ import annotations

from dataclasses import dataclass
from operator import eq
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.graphs import DatasetGraph, Morphism
from tinct.graphs.dataset import require_built
from tinct.privacy import SuitablePair

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs.budgets import PrivacyLike
    from tinct.graphs.labels import Vertex
    from tinct.mechanism.claims import Claim

    Floats = NDArray[np.float64]

ROW_SUM_TOLERANCE = 1e-9
_ROUNDED_SUM = 1e-6  # of a row whose larger entry may be rounded


@dataclass(frozen=True, eq=False, init=False)
class Mechanism:
    """A table of probabilities: one row per vertex of the graph, one column per output.

    Args:
        graph: The dataset graph.
        table: Probabilities; every row sums to 1 within 1e-9.
        privacy: What the mechanism was designed for, if anything; ``verify`` finds out what it really has.

    ``fixed`` holds the positions of the vertices whose rows a designer was given, None if that is not known.
    ``claim`` says in which sense the designer's result is optimal; None for any other table. Files keep neither.

    >>> from tinct import Privacy, balanced, graphs
    >>> mechanism = balanced(graphs.line(2, 2), Privacy("ln 2", 0.1))
    >>> mechanism.row(1), mechanism.probability(1, "blue")
    (array([0.9, 0.1]), 0.9)
    """

    graph: DatasetGraph
    table: Floats
    privacy: Any = None
    fixed: NDArray[Any] | None = None
    claim: Claim | None = None

    def __init__(self, graph: DatasetGraph, table: ArrayLike, privacy: PrivacyLike | None = None) -> None:
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "table", require_table(graph, table))
        object.__setattr__(self, "privacy", privacy)
        object.__setattr__(self, "fixed", None)
        object.__setattr__(self, "claim", None)

    @classmethod
    def trusted(
        cls,
        graph: DatasetGraph,
        table: Floats,
        privacy: PrivacyLike | None,
        fixed: NDArray[Any] | None = None,
        claim: Claim | None = None,
    ) -> Mechanism:
        """A mechanism from a table that is known to be right: for designers."""
        mechanism = cls.__new__(cls)
        table.flags.writeable = False
        values = {"graph": graph, "table": table, "privacy": privacy, "fixed": fixed, "claim": claim}
        for name, value in values.items():
            object.__setattr__(mechanism, name, value)
        return mechanism

    @classmethod
    def from_smaller(cls, graph: DatasetGraph, table: ArrayLike, privacy: PrivacyLike | None = None) -> Mechanism:
        """A mechanism with two answers from the smaller probability of every row; the larger becomes 1 less it.

        For tables whose larger entries were rounded, or have lost the digits that privacy depends on: 1 − 1e-17 is 1
        in floating point. A larger entry may be NaN; where both are given, they sum to 1 within 10⁻⁶.

        >>> from tinct import Privacy, graphs, verify
        >>> mechanism = Mechanism.from_smaller(graphs.line(1, 1), [[1.0, 1e-17], [float("nan"), 2e-17]])
        >>> round(verify(mechanism, privacy=Privacy("ln 2")).epsilon, 12)
        0.69314718056
        """
        return cls(graph, by_smaller(graph, table), privacy)

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The answers, in the order of the columns."""
        return self.graph.outputs

    @property
    def vertices(self) -> Sequence[Any]:
        """The datasets, in the order of the rows."""
        return self.graph.vertices

    def row(self, vertex: Vertex) -> Floats:
        """The distribution at one vertex."""
        row: Floats = self.table[self.graph.position(vertex)]
        return row

    def probability(self, vertex: Vertex, output: object) -> float:
        """Pr[M(vertex) = output]."""
        if output not in self.outputs:
            raise ParameterError(f"{output!r:.80} is not an output: choose from {self.outputs!r}")
        return float(self.row(vertex)[self.outputs.index(output)])

    def truth(self) -> Floats:
        """For every vertex the probability of its true (or most preferred) answer."""
        return np.take_along_axis(self.table, self.graph.coloring.true_outputs()[:, None].astype(np.intp), 1)[:, 0]

    def error(self) -> Floats:
        """For every vertex the probability of a wrong answer, without the cancellation in 1 − truth."""
        wrong = self.table.copy()
        np.put_along_axis(wrong, self.graph.coloring.true_outputs()[:, None].astype(np.intp), 0.0, 1)
        return np.asarray(wrong.sum(axis=1))

    def prefixes(self) -> Floats:
        """For every vertex the probabilities of its best answer, its two best, and so on, without the last, 1."""
        coloring = self.graph.coloring
        if coloring.has_orders:
            orders = np.array([[self.outputs.index(answer) for answer in order] for order in coloring.palette])
            ordered = np.take_along_axis(self.table, orders[coloring.codes], 1)
            return np.cumsum(ordered, axis=1)[:, :-1]
        return self.truth()[:, None]

    def dominates(self, other: Mechanism, *, tolerance: float = 1e-12) -> bool:
        """Whether this mechanism is at least as truthful as another at every vertex, up to rounding.

        With orders of preference, every set of the k best answers must be at least as likely.
        """
        if self.graph is not other.graph and self.graph.colors != other.graph.colors:
            raise ParameterError("mechanisms can be compared only on the same vertices with the same colors")
        theirs = Mechanism.trusted(self.graph, other.table_on(self.graph), other.privacy)
        return bool((self.prefixes() >= theirs.prefixes() - tolerance).all())

    def table_on(self, graph: DatasetGraph) -> Floats:
        """The table with rows and columns in the order of another graph with the same vertices and outputs."""
        if graph is self.graph:
            return self.table
        if set(graph.outputs) != set(self.outputs):
            raise ParameterError(f"mechanism and graph have different outputs: {self.outputs!r} and {graph.outputs!r}")
        if len(graph) != len(self.graph):
            raise ParameterError(f"the mechanism has {len(self.graph)} vertices, the graph {len(graph)}")
        columns = [self.outputs.index(output) for output in graph.outputs]
        if all(map(eq, graph.vertices, self.vertices)):
            return self.table[:, columns]
        return self.table[[self.graph.position(vertex) for vertex in graph.vertices]][:, columns]

    def pullback(
        self, morphism: Morphism | Mapping[Any, Any] | Callable[[Any], Any] | NDArray[Any], graph: DatasetGraph
    ) -> Mechanism:
        """The mechanism M(g(v)) on ``graph``, for a morphism g from it to this mechanism's graph.

        ``morphism`` may be a Morphism or anything that makes one. If this mechanism is private, so is the result.
        """
        if not isinstance(morphism, Morphism):
            morphism = Morphism(graph, self.graph, morphism)
        if morphism.source is not graph or morphism.target is not self.graph:
            raise ParameterError("the morphism must go from the given graph to this mechanism's graph")
        if set(graph.outputs) != set(self.outputs):
            raise ParameterError(f"both graphs need the same outputs: {graph.outputs!r} against {self.outputs!r}")
        columns = [self.outputs.index(output) for output in graph.outputs]
        # budgets of single edges belong to the other graph; one for all edges holds here as well
        privacy = self.privacy if isinstance(self.privacy, SuitablePair) else None
        return Mechanism(graph, self.table[morphism.image][:, columns], privacy)

    def to_json(self, path: str | Path) -> None:
        """Write the mechanism with its graph to a JSON file."""
        from tinct.mechanism import table_files

        table_files.write_mechanism(self, path)

    @classmethod
    def from_json(cls, path: str | Path) -> Mechanism:
        """Read a mechanism that ``to_json`` wrote; the table is checked, nothing in the file is believed."""
        from tinct.mechanism import table_files

        return table_files.read_mechanism(path)

    def to_csv(self, path: str | Path) -> None:
        """Write the table as CSV: one row per vertex, with its colour and the probability of every output."""
        from tinct.mechanism import table_files

        table_files.write_table(self, path)

    def plot(self, **options: Any) -> Any:
        """Draw the truth against the distance to the boundary; needs the ``plot`` extra."""
        from tinct import plots

        return plots.mechanism(self, **options)

    def _repr_html_(self) -> str:
        """The page that notebooks show."""
        from tinct import notebook

        return notebook.of_mechanism(self)

    def __repr__(self) -> str:
        return f"<Mechanism: {len(self.graph):,} vertices, outputs {_brief(self.outputs)}, for {_brief(self.privacy)}>"


def _brief(value: object) -> str:
    """How it prints, cut where there is a blank."""
    return shorten(repr(value), 120, placeholder=" …")


def by_smaller(graph: DatasetGraph, table: ArrayLike) -> Floats:
    """A table with two columns, each row read by its smaller entry."""
    require_built(graph)
    values = _numbers(table)
    if values.shape != (len(graph), 2) or len(graph.outputs) != 2:
        raise ParameterError(
            f"a table that is read by its smaller entries must have {len(graph)} rows (vertices) and 2 columns "
            f"(outputs), got {values.shape} for the outputs {graph.outputs!r:.80}"
        )
    smaller = np.fmin(values[:, 0], values[:, 1])  # of a number and NaN, the number
    complete = ~np.isnan(values).any(axis=1)
    off = np.where(complete, np.abs(values.sum(axis=1) - 1.0) > _ROUNDED_SUM, False)
    good = (smaller >= 0) & (smaller <= 0.5) & ~off  # written so that NaN fails
    if not good.all():
        at = int(np.argmin(good))
        raise ParameterError(
            f"row {graph.vertices[at]!r:.80} must have a smaller entry from 0 to 1/2, and a larger one that is NaN or "
            f"completes it to 1 within {_ROUNDED_SUM:g}, got {values[at].tolist()}"
        )
    first = smaller == values[:, 0]  # not for NaN
    return np.column_stack([np.where(first, smaller, 1.0 - smaller), np.where(first, 1.0 - smaller, smaller)])


def _numbers(table: ArrayLike) -> Floats:
    try:
        return np.array(table, np.float64) + 0.0  # the sum turns −0 into 0
    except (TypeError, ValueError):
        raise ParameterError("a table must be an array of numbers") from None


def require_table(graph: DatasetGraph, table: ArrayLike) -> Floats:
    """The table as a read-only float array, if it fits the graph and every row is a distribution."""
    require_built(graph)
    values = _numbers(table)
    shape = (len(graph), len(graph.outputs))
    if values.shape != shape:
        raise ParameterError(
            f"the table must have {shape[0]} rows (vertices) and {shape[1]} columns (outputs), got {values.shape}"
        )
    good = (values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1.0) <= ROW_SUM_TOLERANCE)
    if not good.all():
        at = int(np.argmin(good))
        raise ParameterError(
            f"row {graph.vertices[at]!r} is not a distribution: {values[at].tolist()} sums to {values[at].sum():.12g}; "
            f"entries must be at least 0 and sum to 1 within {ROW_SUM_TOLERANCE:g}"
        )
    values.flags.writeable = False
    return values
