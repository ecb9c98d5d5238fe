"""What all formats of graphs share: labels and budgets in files, and the last step from what a file says to a graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import naming
from tinct.errors import FileError, ParameterError
from tinct.graphs.budgets import Budget, EdgeClasses, EdgePrivacy
from tinct.graphs.csr import edges_to_csr
from tinct.graphs.dataset import DatasetGraph
from tinct.graphs.labels import Names
from tinct.numbers.amounts import fraction_text
from tinct.privacy import Amount, GaussianDP, Privacy, SuitablePair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tinct._files import FilePath
    from tinct.graphs.budgets import PrivacyLike
    from tinct.numbers.amounts import AmountLike, NumberLike


@dataclass(frozen=True)
class GraphFile:
    """A graph from a file, and the privacy along its edges if the file states one."""

    graph: DatasetGraph
    privacy: Privacy | GaussianDP | EdgePrivacy | EdgeClasses | None = None


@dataclass(frozen=True)
class Parts:
    """What a file says about a graph, each piece already checked on its own."""

    path: FilePath
    vertices: Sequence[Any]  # distinct and plain
    colors: list[Any]  # of the vertices, in their order
    ends: list[tuple[int, int]] | list[list[int]]  # positions, one pair per edge, perhaps repeated
    where: Callable[[int], str]  # in the file the n-th edge stands
    outputs: list[Any] | None = None

    def edge(self, number: int) -> tuple[Any, Any]:
        """The n-th edge by the names of its ends."""
        u, v = self.ends[number]
        return self.vertices[u], self.vertices[v]

    def build(self, *, disconnected: bool) -> DatasetGraph:
        """The graph. A ParameterError about it has the path in front."""
        for number, (u, v) in enumerate(self.ends):
            if u == v:
                raise FileError(
                    f"{self.where(number)}: vertex {self.vertices[u]!r:.80} is its own neighbour: remove the self-loop",
                    path=self.path,
                )
        names = self.vertices if isinstance(self.vertices, range) else Names(self.vertices)
        with naming(self.path):
            indptr, indices, ends, ids = edges_to_csr(self._ends, names)
            graph = DatasetGraph.from_csr(
                indptr, indices, self.colors, vertices=names, outputs=self.outputs, disconnected=disconnected
            )
        graph.ends, graph.edge_ids = ends, ids  # in the order of the file, which per-edge budgets follow
        return graph

    def once(self, *columns: NDArray[Any]) -> list[NDArray[Any]]:
        """Columns along the edges of the file, brought to the edges of the graph, where each edge counts once."""
        ends = self._ends.astype(np.int64)
        keys = ends.min(axis=1, initial=len(self.vertices)) * len(self.vertices) + ends.max(axis=1, initial=-1)
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        for values in columns:
            differing = values != values[first][which]
            if differing.any():
                at = int(np.argmax(differing))
                raise FileError(
                    f"{self.where(at)}: edge {self.edge(at)!r:.80} was given another budget at "
                    f"{self.where(int(first[which[at]]))}: give it one",
                    path=self.path,
                )
        return [values[np.sort(first)] for values in columns]

    @property
    def _ends(self) -> NDArray[np.int32]:
        return np.array(self.ends, np.int32).reshape(-1, 2)


# how labels and budgets look in files: as plain JSON values, and as cells of text


MAX_CLASSES = 256  # more distinct budgets than this are read as floats along the edges
_MAX_SHORT = 64
_LONG_FRACTION = re.compile(r"(ln )?(\d{1,1000})/(\d{1,1000})", re.ASCII)


def epsilon_text(pair: Privacy) -> str:
    """ε as exact text."""
    return _short_enough(str(pair.exact_epsilon), "epsilon")


def delta_text(pair: Privacy) -> str:
    """δ as exact text."""
    return _short_enough(fraction_text(pair.exact_delta), "delta")


def _short_enough(text: str, name: str) -> str:
    if len(text) > _MAX_SHORT and not _LONG_FRACTION.fullmatch(text):
        raise ParameterError(f"{name} has more than 1,000 digits and cannot be written exactly: round it first")
    return text


def exact_privacy(epsilon: AmountLike, delta: NumberLike = 0) -> Privacy:
    """The privacy that exact texts or numbers in a file stand for.

    >>> exact_privacy("ln 2", "1/3")
    Privacy('ln 2', '1/3')
    """
    return Privacy(_exact(epsilon, "epsilon"), _exact(delta, "delta"))


def _exact(given: object, name: str) -> Any:
    """Fractions of up to 1,000 digits over as many, as they are written here; all else is for Privacy to read."""
    match = _LONG_FRACTION.fullmatch(given) if isinstance(given, str) and len(given) > _MAX_SHORT else None
    if match is None:
        return given
    below = int(match[3])
    if below == 0:
        raise ParameterError(f"{name} must not divide by zero")
    value = Fraction(int(match[2]), below)
    if not match[1]:
        return value
    if not value > 0:
        raise ParameterError(f"{name} must be the logarithm of a positive number")
    return Amount(value, is_log=True)


class BudgetColumn:
    """Budgets read one edge at a time, each distinct text once."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._pairs: dict[Privacy, int] = {}
        self._of_text: dict[tuple[Any, Any], int] = {}

    def add(self, epsilon: AmountLike, delta: NumberLike) -> None:
        """Take the budget of the next edge."""
        known = self._of_text.get((epsilon, delta))
        if known is None:
            known = self._pairs.setdefault(exact_privacy(epsilon, delta), len(self._pairs))
            self._of_text[epsilon, delta] = known
        self.numbers.append(known)

    def along(self, numbers: NDArray[np.int64]) -> Privacy | EdgeClasses | EdgePrivacy:
        """The privacy of edges that have these budgets."""
        pairs = list(self._pairs)
        if len(pairs) == 1:
            return pairs[0]
        if len(pairs) <= MAX_CLASSES:
            return EdgeClasses(pairs, numbers)
        epsilons, deltas = (np.array([getattr(pair, name) for pair in pairs]) for name in ("epsilon", "delta"))
        return EdgePrivacy(epsilons[numbers], deltas[numbers])


def along_edges(graph: DatasetGraph, privacy: PrivacyLike | None) -> SuitablePair | EdgeClasses | EdgePrivacy | None:
    """Privacy in any form the designers take, with arrays that follow ``graph.ends``."""
    if privacy is None or isinstance(privacy, SuitablePair):
        return privacy
    if isinstance(privacy, Mapping):
        budget = Budget(graph, privacy)
        if len(budget.pairs) < 2:
            return budget.pairs[0] if budget.pairs else None
        privacy = EdgeClasses(budget.pairs, budget.classes)
    if isinstance(privacy, tuple) and len(privacy) == 2:
        privacy = EdgePrivacy(*privacy)
    if isinstance(privacy, EdgeClasses):
        return EdgeClasses(privacy.pairs, _per_edge(graph, privacy.numbers))
    if isinstance(privacy, EdgePrivacy):
        return EdgePrivacy(_per_edge(graph, privacy.epsilon), _per_edge(graph, privacy.delta))
    raise ParameterError(f"privacy must be a Privacy, a mapping, EdgePrivacy or EdgeClasses, got {privacy!r:.80}")


def _per_edge(graph: DatasetGraph, values: NDArray[Any]) -> NDArray[Any]:
    edges, entries = len(graph.ends), len(graph.indices)
    if len(values) == edges:
        return values
    if len(values) != entries:
        raise ParameterError(
            f"budgets for {len(values)} edges: give one per edge ({edges}) or one per directed edge ({entries})"
        )
    first = np.empty(edges, np.int64)
    first[graph.edge_ids] = np.arange(entries)
    differing = values != values[first][graph.edge_ids]
    if differing.any():
        edge = graph.edges[int(graph.edge_ids[np.argmax(differing)])]
        raise ParameterError(f"edge {edge!r:.80} has different budgets in its two directions: give it one")
    return values[first]


def budget_cells(graph: DatasetGraph, privacy: PrivacyLike | None) -> list[tuple[str, str]] | None:
    """ε and δ of every edge as exact text, or None without privacy."""
    form = along_edges(graph, privacy)
    if form is None:
        return None
    if isinstance(form, EdgePrivacy):
        return [(repr(e), repr(d)) for e, d in zip(form.epsilon.tolist(), form.delta.tolist(), strict=True)]
    if isinstance(form, EdgeClasses):
        texts = [_pair_cells(pair) for pair in form.pairs]
        return [texts[at] for at in form.numbers.tolist()]
    if not len(graph.ends):
        raise ParameterError("the graph has no edges to write the privacy on: write JSON")
    return [_pair_cells(form)] * len(graph.ends)


def _pair_cells(pair: SuitablePair) -> tuple[str, str]:
    if not isinstance(pair, Privacy):
        hint = "; write JSON" if isinstance(pair, GaussianDP) else ""
        raise ParameterError(f"{type(pair).__name__} cannot be written as epsilon and delta{hint}")
    return epsilon_text(pair), delta_text(pair)
