"""Privacy along the edges: one for all, a few classes, or each edge its own ε and δ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels.checks import asymmetry
from tinct._kernels.propagation import CLASSES, DENSE, UNIFORM
from tinct.errors import ParameterError
from tinct.graphs.dataset import require_built
from tinct.numbers.amounts import MAX_EPSILON
from tinct.privacy import Privacy, SuitablePair
from tinct.privacy.suitable_pairs import require_answers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs.dataset import DatasetGraph
    from tinct.numbers.amounts import AmountLike

    Floats = NDArray[np.float64]


_MAX_CLASSES = 16  # distinct (ε, δ) in arrays up to which numbering them pays
_SAMPLE = 64


@dataclass(frozen=True)
class EdgePrivacy:
    """Each edge with its own ε and δ, as arrays.

    ``epsilon`` and ``delta`` follow either the edges of the graph (``graph.ends``) or its directed entries
    (``graph.indices``); the second is faster for large graphs and must be the same in both directions. ``delta``
    may be one number for all edges.

    >>> from tinct import balanced, graphs
    >>> balanced(graphs.line(2, 1), EdgePrivacy([2.0, 1.0])).truth().round(4)
    array([0.9636, 0.7311, 0.7311])
    """

    epsilon: Floats
    delta: Floats
    least: tuple[float, float]  # the smallest ε and δ of all edges, and
    most: tuple[float, float]  # the largest

    def __init__(self, epsilon: ArrayLike, delta: ArrayLike = 0.0) -> None:
        try:
            budgets = np.asarray(epsilon, np.float64)
            slack = np.broadcast_to(np.asarray(delta, np.float64), budgets.shape)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"epsilon and delta must be arrays of numbers of one length: {error}") from None
        if budgets.ndim != 1:
            raise ParameterError(f"epsilon along the edges must be one-dimensional, got shape {budgets.shape}")
        (shortest, longest), (none, most) = _ends(budgets), _ends(slack)
        if not 0 <= shortest <= longest <= MAX_EPSILON:
            law = f"epsilon must be a number in [0, {MAX_EPSILON}]"
            raise _broken(law, (budgets >= 0) & (budgets <= MAX_EPSILON), budgets)
        if not 0 <= none <= most < 1:
            raise _broken("delta must be a number in [0, 1)", (slack >= 0) & (slack < 1), slack)
        # −0 is 0, but does not look like it bit by bit
        object.__setattr__(self, "epsilon", budgets if shortest > 0 else budgets + 0.0)
        object.__setattr__(self, "delta", slack if none > 0 else slack + 0.0)
        object.__setattr__(self, "least", (shortest, none))
        object.__setattr__(self, "most", (longest, most))

    def __repr__(self) -> str:
        if not len(self.epsilon):
            return "<EdgePrivacy: no edges>"
        return f"<EdgePrivacy: {len(self.epsilon):,} budgets, epsilon from {self.least[0]:.6g} to {self.most[0]:.6g}>"


@dataclass(frozen=True)
class EdgeClasses:
    """A few budgets, and for every edge the number of the one it has.

    ``numbers`` follows the edges of the graph or its directed entries, as in ``EdgePrivacy``.
    """

    pairs: tuple[SuitablePair, ...]
    numbers: NDArray[Any]

    def __init__(self, pairs: Sequence[SuitablePair], numbers: ArrayLike) -> None:
        chosen = np.asarray(numbers) if np.size(numbers) else np.empty(0, np.uint8)  # an empty list has no type
        if not pairs or not all(isinstance(pair, SuitablePair) for pair in pairs):
            raise ParameterError("pairs must list at least one Privacy, GaussianDP or TradeOff")
        good = chosen.ndim == 1 and chosen.dtype.kind in "iu" and ((chosen >= 0) & (chosen < len(pairs))).all()
        if not good:
            raise ParameterError(f"numbers must be whole numbers from 0 to {len(pairs) - 1}, one for each edge")
        object.__setattr__(self, "pairs", tuple(pairs))
        object.__setattr__(self, "numbers", chosen)

    def __repr__(self) -> str:
        more = f", … {len(self.pairs)} in all" if len(self.pairs) > 3 else ""
        return f"<EdgeClasses: {', '.join(map(repr, self.pairs[:3]))}{more}>"


# what designers take for ``privacy``: one pair for all edges, one for each, or arrays along the edges
PrivacyLike = SuitablePair | Mapping[tuple[Any, Any], SuitablePair] | EdgePrivacy | EdgeClasses


class Budget:
    """Any way to state privacy, brought to the form the designers use.

    ``pairs`` are the distinct suitable pairs and ``classes`` says which of them each directed entry of the graph
    has; with very many distinct ones (``layout`` DENSE) ``gains`` and ``shifts`` hold the parameters directly.
    """

    def __init__(self, graph: DatasetGraph, privacy: PrivacyLike) -> None:
        self.graph = graph
        self.layout = UNIFORM
        self.pairs: list[SuitablePair] = []
        self.classes: NDArray[Any] = np.empty(0, np.uint8)
        if isinstance(privacy, SuitablePair):
            self.pairs = [privacy]
        elif isinstance(privacy, EdgeClasses):
            self._read_classes(privacy.pairs, privacy.numbers)
        elif isinstance(privacy, Mapping):
            self._read_mapping(privacy)
        else:
            self._read_arrays(_as_arrays(privacy))
        for pair in self.pairs:
            require_answers(pair, len(graph.outputs))

    def _read_mapping(self, privacy: Mapping[Any, Any]) -> None:
        graph = self.graph
        wanted = {frozenset(edge): number for number, edge in enumerate(graph.edges)}
        distinct: dict[SuitablePair, int] = {}
        of_edge = np.full(len(wanted), -1, np.int32)
        for edge, pair in privacy.items():
            number = wanted.get(frozenset(edge)) if isinstance(edge, tuple) and len(edge) == 2 else None
            if number is None:
                raise ParameterError(f"privacy is given for {edge!r:.80}, which is not an edge of the graph")
            if not isinstance(pair, SuitablePair):
                raise ParameterError(f"the privacy of edge {edge!r:.80} must be a Privacy, got {pair!r:.80}")
            known = distinct.setdefault(pair, len(distinct))
            if of_edge[number] not in (-1, known):
                raise ParameterError(f"edge {edge!r:.80} is given two different budgets: give it one")
            of_edge[number] = known
        if (of_edge < 0).any():
            raise ParameterError(f"no privacy is given for edge {graph.edges[int(np.argmin(of_edge))]!r}")
        self._read_classes(list(distinct), of_edge)

    def _read_classes(self, pairs: Sequence[SuitablePair], numbers: NDArray[Any]) -> None:
        self.pairs = list(pairs) or [Privacy(0)]  # without edges it does not matter which
        (numbers,) = self._along_entries(numbers)
        if len(self.pairs) > 1:
            self.layout = CLASSES
            small = np.uint8 if len(self.pairs) <= 256 else np.int32
            self.classes = numbers.astype(small, copy=False)

    def _along_entries(self, *arrays: NDArray[Any]) -> list[NDArray[Any]]:
        """Arrays along the directed entries, from arrays along them or along the edges."""
        entries, given = len(self.graph.indices), len(arrays[0])
        if given == entries:
            self._require_symmetric(*arrays)
            return list(arrays)
        if given * 2 == entries:
            return [values.take(self.graph.edge_ids) for values in arrays]
        raise ParameterError(
            f"budgets for {given} edges: give one per edge ({entries // 2}) or one per directed edge ({entries})"
        )

    def _require_symmetric(self, *arrays: NDArray[Any]) -> None:
        graph = self.graph
        patterns = [_bits(values) for values in arrays]
        if not asymmetry(graph.indptr, graph.indices, patterns[0], patterns[-1]):
            return
        for values in arrays:
            by_edge = np.empty(len(values) // 2, values.dtype)
            by_edge[graph.edge_ids] = values
            odd = by_edge[graph.edge_ids] != values
            if odd.any():
                edge = graph.edges[int(graph.edge_ids[int(np.argmax(odd))])]
                raise ParameterError(
                    f"edge {edge!r} has different budgets in its two directions: neighbours are mutual"
                )

    def _read_arrays(self, privacy: EdgePrivacy) -> None:
        epsilon, delta = self._along_entries(privacy.epsilon, privacy.delta)
        found = _few_distinct(epsilon, delta)
        if found is None:
            self.layout, self._epsilon, self._delta = DENSE, epsilon, delta
            self._least, self._most = privacy.least, privacy.most
            return
        numbers = np.zeros(len(epsilon), np.uint8)
        for number, (one, other) in enumerate(found[1:], start=1):
            numbers[(epsilon == one) & (delta == other)] = number
        self._read_classes([Privacy(*values) for values in found], numbers)

    @cached_property
    def coordinate(self) -> str | None:
        """The scale all pairs share, or None if they share none."""
        if self.layout == DENSE:
            return "odds"
        scales = {pair.coordinate for pair in self.pairs}
        return scales.pop() if len(scales) == 1 else None

    @cached_property
    def parameters(self) -> tuple[Floats, Floats]:
        """Gains and shifts: one per class, or one per directed entry when the layout is DENSE."""
        if self.layout == DENSE:
            return np.exp(self._epsilon), np.ascontiguousarray(self._delta)
        steps = np.array([pair.step for pair in self.pairs], np.float64)
        return np.ascontiguousarray(steps[:, 0]), np.ascontiguousarray(steps[:, 1])

    def extremes(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The smallest gain and shift of all edges, and the largest."""
        if self.layout == DENSE:
            return (math.exp(self._least[0]), self._least[1]), (math.exp(self._most[0]), self._most[1])
        (shortest, longest), (none, most) = (_ends(values) for values in self.parameters)
        return (shortest, none), (longest, most)

    def logarithms(self) -> tuple[Floats, Floats]:
        """ε and δ of (ε, δ) budgets for every directed entry, whatever the layout."""
        if self.layout == DENSE:
            return self._epsilon, self._delta
        classes = self.classes if self.layout == CLASSES else np.zeros(len(self.graph.indices), np.uint8)
        budgets = np.array([(pair.epsilon, pair.delta) for pair in self.pairs if isinstance(pair, Privacy)])
        return budgets[:, 0][classes], budgets[:, 1][classes]

    def search_parameters(self) -> tuple[Floats, Floats]:
        """``parameters``, but ε in place of the gains when the layout is DENSE: few edges need e^ε."""
        return self.logarithms() if self.layout == DENSE else self.parameters

    def dense_parameters(self) -> tuple[Floats, Floats]:
        """Gains and shifts for every directed entry, whatever the layout."""
        gains, shifts = self.parameters
        if self.layout == DENSE:
            return gains, shifts
        classes = self.classes if self.layout == CLASSES else np.zeros(len(self.graph.indices), np.uint8)
        return gains[classes], shifts[classes]

    def at_entries(self, entries: NDArray[Any]) -> list[SuitablePair]:
        """The distinct pairs found at these directed entries."""
        if self.layout == UNIFORM:
            return self.pairs if len(entries) else []
        if self.layout == CLASSES:
            return [self.pairs[number] for number in np.unique(self.classes[entries])]
        budgets = np.unique(np.column_stack([self._epsilon[entries], self._delta[entries]]), axis=0)
        return [Privacy(epsilon, delta) for epsilon, delta in budgets.tolist()]

    def distinct(self) -> list[SuitablePair]:
        """All pairs that occur."""
        return self.pairs or self.at_entries(np.arange(len(self.graph.indices)))

    def as_classes(self) -> tuple[list[SuitablePair], NDArray[np.int32]]:
        """The distinct pairs, and for every directed entry the number of its own, whatever the layout."""
        if self.layout != DENSE:
            classes = self.classes if self.layout == CLASSES else np.zeros(len(self.graph.indices), np.uint8)
            return self.pairs, classes.astype(np.int32)
        both = np.column_stack([self._epsilon, self._delta])
        budgets, numbers = np.unique(both, axis=0, return_inverse=True)
        return [Privacy(epsilon, delta) for epsilon, delta in budgets.tolist()], numbers.reshape(-1).astype(np.int32)

    def at_entry(self, entry: int) -> SuitablePair:
        """The pair of one directed entry."""
        return self.at_entries(np.array([entry]))[0]


def personalized(graph: DatasetGraph, budgets: Sequence[SuitablePair | AmountLike]) -> EdgeClasses:
    """Privacy for graphs whose vertices are tuples, one coordinate per person: person i has ``budgets[i]``.

    An edge on which coordinate i changes has the i-th budget, a Privacy or an epsilon.

    >>> from tinct import balanced, graphs
    >>> pair = graphs.hypercube(2, lambda bits: sum(bits) == 2)
    >>> balanced(pair, personalized(pair, [0.5, 2.0])).row((0, 0)).round(3)
    array([0.949, 0.051])
    """
    require_built(graph)
    pairs = [budget if isinstance(budget, SuitablePair) else Privacy(budget) for budget in budgets]
    widths = {len(vertex) if isinstance(vertex, tuple) else -1 for vertex in graph.vertices}
    if widths != {len(pairs)}:
        raise ParameterError(f"vertices must be tuples with one coordinate for each of the {len(pairs)} budgets")
    rows = graph.vertices.rows if hasattr(graph.vertices, "rows") else _as_objects(graph.vertices, len(pairs))
    changed = rows[graph.ends[:, 0]] != rows[graph.ends[:, 1]]
    several = changed.sum(axis=1) != 1
    if several.any():
        raise ParameterError(
            f"edge {graph.edges[int(np.argmax(several))]!r} changes several coordinates: nobody's budget fits it"
        )
    return EdgeClasses(pairs, changed.argmax(axis=1))


def _as_objects(vertices: Sequence[Any], width: int) -> NDArray[Any]:
    """Tuples as rows; as objects, since an array of one type would read 1 and "1" as the same."""
    rows = np.empty((len(vertices), width), object)
    for at, vertex in enumerate(vertices):
        for coordinate, value in enumerate(vertex):
            rows[at, coordinate] = value
    return rows


def _as_arrays(privacy: object) -> EdgePrivacy:
    if isinstance(privacy, EdgePrivacy):
        return privacy
    if isinstance(privacy, tuple) and len(privacy) == 2:
        return EdgePrivacy(*privacy)
    raise ParameterError(
        "privacy must be a Privacy, GaussianDP or TradeOff, a mapping {(u, v): Privacy}, EdgePrivacy or EdgeClasses, "
        f"got {privacy!r:.80}"
    )


def _few_distinct(epsilon: Floats, delta: Floats) -> list[tuple[float, float]] | None:
    """The distinct (ε, δ), or None as soon as they are too many to number them."""
    start = set(zip(epsilon[:_SAMPLE].tolist(), delta[:_SAMPLE].tolist(), strict=True))
    if len(start) > _MAX_CLASSES:  # a look at the start spares many passes over long arrays
        return None
    found: list[tuple[float, float]] = []
    rest = np.ones(len(epsilon), bool)
    while len(found) <= _MAX_CLASSES:
        at = int(np.argmax(rest)) if len(rest) else 0
        if not len(rest) or not rest[at]:
            return found
        found.append((float(epsilon[at]), float(delta[at])))
        rest &= (epsilon != epsilon[at]) | (delta != delta[at])
    return None


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    """Floats as their bit patterns, whole numbers as they are, in one piece of memory."""
    whole = np.ascontiguousarray(values)
    return whole.view(np.uint64) if whole.dtype == np.float64 else whole


def _ends(values: Floats) -> tuple[float, float]:
    """The smallest and the largest value, both NaN if there is a NaN; 0 if there is none."""
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)


def _broken(law: str, good: NDArray[np.bool_], values: Floats) -> ParameterError:
    at = int(np.argmin(good))
    return ParameterError(f"{law}, got {values[at]} for edge number {at}")
