"""verify: is a table private, how private is it, and where is it worst?

Works for any table on any graph, with any number of outputs. These are float checks with an explicit tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels.propagation import CLASSES, DENSE
from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph
from tinct.mechanism.table import Mechanism, require_table
from tinct.privacy import Privacy
from tinct.privacy.tradeoffs import probit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]

TOLERANCE = 1e-9
_ULP = 2.0**-53  # the last place of a float between 1/2 and 1
_CHUNK = 2**18  # directed edges looked at together: a few MB at a time whatever the graph's size


@dataclass(frozen=True)
class Witness:
    """The worst edge: Pr[M(u) ∈ event] against the most that Pr[M(v) ∈ event] allows."""

    edge: tuple[Any, Any]
    event: tuple[Any, ...]
    probability: float
    neighbor_probability: float
    bound: float

    def __str__(self) -> str:
        (u, v), event = self.edge, ", ".join(map(str, self.event))
        rounding = TOLERANCE * self.bound
        gap = self.probability - self.bound
        verb = "exceeds" if gap > rounding else "stays within" if gap < -rounding else "just reaches"
        return (
            f"on edge ({u!r}, {v!r}) the probability of {{{event}}} at {u!r} is {self.probability:.9g}, which {verb} "
            f"{self.bound:.9g}, the most that {self.neighbor_probability:.9g} at {v!r} allows"
        )


@dataclass(frozen=True)
class Verdict:
    """What ``verify`` found.

    Attributes:
        private: Whether every edge satisfies its privacy, up to the tolerance.
        epsilon: The least ε for which the table is private at the given δ (0 if the notion has none); infinite if no ε
            is enough. With a budget for each edge, the largest that any edge needs at its own δ. An edge that keeps
            its budget up to the tolerance needs no more than that.
        delta: The least δ for which the table is private at the given ε (0 if the notion has none).
        witness: The worst edge and event, whether or not they break the privacy; None for a graph without edges.
        tolerance: The slack that was granted: relative to e^ε and to δ (to 1 − δ, if that is smaller); absolute for
            other notions of privacy.
        hint: What may be the reason if the table is not private: rounding in numbers computed as 1 − p. Else empty.
    """

    private: bool
    epsilon: float
    delta: float
    witness: Witness | None
    tolerance: float
    hint: str = field(repr=False, compare=False)
    _table: Floats = field(repr=False, compare=False)
    _graph: DatasetGraph = field(repr=False, compare=False)

    def profile(self, epsilons: ArrayLike) -> Floats:
        """The least δ for each of several ε: the whole privacy profile δ(ε) of the table.

        >>> from tinct import Privacy, balanced, graphs
        >>> line = graphs.line(2, 2)
        >>> verify(balanced(line, Privacy("ln 2")), line, Privacy("ln 2")).profile([0, 1]).round(4)
        array([0.3333, 0.    ])
        """
        try:
            grid = np.atleast_1d(np.asarray(epsilons, np.float64))
        except (TypeError, ValueError):
            raise ParameterError.of("epsilons", "numbers in [0, 700], in one list", epsilons) from None
        if grid.ndim > 1 or not ((grid >= 0) & (grid <= 700)).all():
            raise ParameterError.of("epsilons", "numbers in [0, 700], in one list", epsilons)
        worst = np.zeros(len(grid))
        for rows, columns, _ in directed_edges(self._graph):
            here, there = self._table[rows], self._table[columns]
            for at, epsilon in enumerate(grid):
                worst[at] = max(worst[at], float(excess(here, there, np.exp(epsilon)).max()))
        return worst

    @cached_property
    def mu(self) -> float:
        """The least μ for which the table is μ-Gaussian private on every edge; infinite if none is enough.

        Any number of answers: the trade-off function of each edge is compared at its corners.

        >>> from tinct import GaussianDP, balanced, graphs
        >>> round(verify(balanced(graphs.line(2, 2), GaussianDP(1))).mu, 9)
        1.0
        """
        edges = directed_edges(self._graph)
        return max((float(_least_mu(self._table[u], self._table[v]).max()) for u, v, _ in edges), default=0.0)

    def _repr_html_(self) -> str:
        """The page that notebooks show."""
        from tinct import notebook

        return notebook.of_verdict(self)


def verify(
    mechanism: Mechanism | ArrayLike,
    graph: DatasetGraph | None = None,
    privacy: PrivacyLike | None = None,
    *,
    tolerance: float = TOLERANCE,
) -> Verdict:
    """Check a mechanism, or any table of probabilities, against a graph and a privacy.

    Args:
        mechanism: A Mechanism, or an array with a row per vertex and a column per output.
        graph: The dataset graph; left out, that of the mechanism.
        privacy: One suitable pair, or one for each edge, as for ``extend``; left out, the one that the mechanism was
            designed for.
        tolerance: How much rounding is forgiven: relative on e^ε and δ (1 − δ, if that is smaller), so that it means
            the same for tiny probabilities; absolute for notions of privacy other than (ε, δ).

    >>> from tinct import Privacy, graphs
    >>> verdict = verify([[0.5, 0.5], [0.85, 0.15]], graphs.line(1, 1), Privacy("ln 2", 0.1))
    >>> verdict.private, round(verdict.delta, 3)
    (False, 0.2)
    """
    _require_tolerance(tolerance)
    graph, privacy = _against(mechanism, graph, privacy)
    table = mechanism.table_on(graph) if isinstance(mechanism, Mechanism) else require_table(graph, mechanism)
    search = _WorstEdge(graph, table, Budget(graph, privacy), tolerance)
    for rows, columns, entries in directed_edges(graph):
        search.look_at(rows, columns, entries)
    witness = search.witness()
    hint = "" if search.private or witness is None else search.hint(witness)
    return Verdict(search.private, search.epsilon, search.delta, witness, float(tolerance), hint, table, graph)


def _require_tolerance(tolerance: object) -> None:
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= float(tolerance) <= 0.1:
        raise ParameterError.of("tolerance", "a number in [0, 0.1]", tolerance)


def _against(
    mechanism: Mechanism | ArrayLike, graph: DatasetGraph | None, privacy: PrivacyLike | None
) -> tuple[DatasetGraph, PrivacyLike]:
    """What to check against: what is given, else what the mechanism knows."""
    known = mechanism if isinstance(mechanism, Mechanism) else None
    checked = known.graph if graph is None and known is not None else graph
    if checked is None:
        raise ParameterError("a table needs its graph and a privacy: verify(table, graph, privacy)")
    if not isinstance(checked, DatasetGraph):
        raise ParameterError(f"graph must be a DatasetGraph, got {type(checked).__name__}")
    if privacy is None and known is not None and checked is known.graph:  # budgets along edges belong to their graph
        privacy = known.privacy
    if privacy is None:
        raise ParameterError("no privacy is given, and none is known: verify(mechanism, graph, privacy)")
    return checked, privacy


class _WorstEdge:
    """Running maxima over the directed edges."""

    def __init__(self, graph: DatasetGraph, table: Floats, budget: Budget, tolerance: float) -> None:
        self.graph, self.table, self.budget, self.tolerance = graph, table, budget, tolerance
        self.differential = budget.layout == DENSE or all(isinstance(pair, Privacy) for pair in budget.pairs)
        self.private, self.epsilon, self.delta = True, 0.0, 0.0
        self._lack, self._entry = -np.inf, -1

    def look_at(self, rows: NDArray[Any], columns: NDArray[Any], entries: NDArray[Any]) -> None:
        here, there = self.table[rows], self.table[columns]
        growth, delta = self._parameters(entries)
        spent, needed = excess(here, there, growth), _needed_epsilon(here, there, delta)
        if self.differential:
            kept = _keeps(here, there, growth, delta, self.tolerance)
            self.private &= bool(kept.all())
            lack = needed - np.log(growth)
            # what the tolerance forgives is not held against the table in the least ε and δ either
            needed = np.where(kept, np.minimum(needed, np.log(growth)), needed)
            spent = np.where(kept, np.minimum(spent, delta), spent)
        else:
            lack = self._beyond_tradeoff(here, there, entries)
            self.private &= bool((lack <= self.tolerance).all())
        self.epsilon = max(self.epsilon, float(needed.max()))
        self.delta = max(self.delta, float(spent.max()))
        worst = int(np.argmax(lack))
        if lack[worst] > self._lack:
            self._lack, self._entry = float(lack[worst]), int(entries[worst])

    def _parameters(self, entries: NDArray[Any]) -> tuple[Any, Any]:
        if not self.differential:
            return 1.0, 0.0
        gains, shifts = self.budget.parameters
        if self.budget.layout == DENSE:
            return gains[entries], shifts[entries]
        if self.budget.layout == CLASSES:
            numbers = self.budget.classes[entries]
            return gains[numbers], shifts[numbers]
        return gains[0], shifts[0]

    def _beyond_tradeoff(self, here: Floats, there: Floats, entries: NDArray[Any]) -> Floats:
        """The largest P(S) − U(Q(S)): the best tests are sets of largest likelihood ratio, and U is concave."""
        _, above, below = _prefixes(here, there)
        result = np.empty(len(entries))
        for number, pair in enumerate(self.budget.pairs):
            mine = self.budget.classes[entries] == number if self.budget.layout == CLASSES else slice(None)
            result[mine] = (above[mine] - np.asarray(pair.upper(below[mine]))).max(axis=1)
        return result

    def witness(self) -> Witness | None:
        if self._entry < 0:
            return None
        row = int(np.searchsorted(self.graph.indptr, self._entry, side="right")) - 1
        column = int(self.graph.indices[self._entry])
        here, there = self.table[[row]], self.table[[column]]
        order, above, below = _prefixes(here, there)
        pair = self.budget.at_entry(self._entry)
        if isinstance(pair, Privacy):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                score = np.nan_to_num(_beyond(above, _after(here, order), pair.delta)[0] / below[0], nan=-np.inf)
        else:
            score = above[0] - np.asarray(pair.upper(np.clip(below[0], 0.0, 1.0)))
        size = int(np.argmax(score)) + 1
        event = tuple(self.graph.outputs[k] for k in sorted(order[0, :size].tolist()))
        bound = float(pair.upper(min(1.0, float(below[0, size - 1]))))
        return Witness(
            (self.graph.vertices[row], self.graph.vertices[column]),
            event,
            float(above[0, size - 1]),
            float(below[0, size - 1]),
            bound,
        )

    def hint(self, witness: Witness) -> str:
        """Whether the rounding of 1 − p alone can be why an edge is not private."""
        here, there = witness.probability, witness.neighbor_probability
        if self.table.shape[1] != 2 or max(here, there) > 0.5 or (here / _ULP) % 1 or (there / _ULP) % 1:
            return ""  # 1 − p is a multiple of 2^−53 for every float p ≥ 1/2; a small number on its own hardly ever is
        advice = (
            "Compute the smaller probability of each row without 1 − p; the larger one may be rounded or left out with "
            "Mechanism.from_smaller"
        )
        lost = "in floating point, where nothing is left of what is below 1.1e-16"
        if max(0.0, here - _ULP) <= float(self.budget.at_entry(self._entry).upper(there + _ULP)):
            return f"both numbers look like 1 − p {lost}: that rounding alone may be the reason. {advice}"
        if there == 0:
            return (
                f"the 0 may be what is left of 1 − p {lost}; then the least ε is not infinite, but still more than is "
                f"allowed. {advice}"
            )
        return ""


def directed_edges(graph: DatasetGraph) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Rows, columns and entry numbers of all directed edges, a chunk at a time."""
    for start in range(0, len(graph.indices), _CHUNK):
        entries = np.arange(start, min(start + _CHUNK, len(graph.indices)))
        rows = np.searchsorted(graph.indptr, entries, side="right") - 1
        yield rows, graph.indices[entries], entries


def excess(here: Floats, there: Floats, growth: ArrayLike) -> Floats:
    """The least δ on each edge for this e^ε: Σ max(0, p − E·p′)."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.where(there > 0, np.reshape(growth, (-1, 1)) * there, 0.0)
    return np.asarray(np.maximum(0.0, here - scaled).sum(axis=1))


def _keeps(here: Floats, there: Floats, growth: Any, delta: Any, tolerance: float) -> NDArray[np.bool_]:
    """Whether Σ max(0, p − E·p′) ≤ δ on each edge, up to the tolerance on E and on δ or 1 − δ."""
    slack, shift = 1.0 + tolerance, np.asarray(delta, np.float64)
    fine = excess(here, there, growth * slack) <= shift * slack
    near = shift > 0.5
    if not near.any():
        return np.asarray(fine)
    # next to 1 the rest is compared: what the excess leaves of 1, from entries that have their digits
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.where(there > 0, np.reshape(growth, (-1, 1)) * slack * there, 0.0)
    left = np.minimum(here, scaled).sum(axis=1)
    return np.asarray(np.where(near, left >= (1.0 - shift) * (1.0 - tolerance), fine))


def _needed_epsilon(here: Floats, there: Floats, delta: ArrayLike) -> Floats:
    """The least ε on each edge for this δ: the largest (P(S) − δ)/Q(S), attained by a set of largest ratios."""
    if here.shape[1] == 2:  # one answer at a time is enough, no need to sort
        above, below, after = here, there, here[:, ::-1]
    else:
        order, above, below = _prefixes(here, there)
        after = _after(here, order)
    beyond = _beyond(above, after, delta)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(beyond > below, (beyond - below) / below, 0.0)
    return np.asarray(np.log1p(ratio).max(axis=1))


def _beyond(above: Floats, after: Floats, delta: ArrayLike) -> Floats:
    """P(S) − δ, from the probability of the other answers where δ is next to 1."""
    shift = np.reshape(np.asarray(delta, np.float64), (-1, 1))
    if not (shift > 0.5).any():
        return above - shift
    return np.where(shift > 0.5, (1.0 - shift) - after, above - shift)


def _after(here: Floats, order: NDArray[Any]) -> Floats:
    """The probability of everything after the first k outputs in this order, without 1 − p."""
    after = np.zeros_like(here)
    after[:, :-1] = np.cumsum(np.take_along_axis(here, order, 1)[:, :0:-1], axis=1)[:, ::-1]
    return after


def _prefixes(here: Floats, there: Floats) -> tuple[NDArray[Any], Floats, Floats]:
    """Outputs by falling likelihood ratio, and the probabilities of the first k on both sides."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(here > 0, here / there, 0.0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    above = np.cumsum(np.take_along_axis(here, order, 1), axis=1)
    below = np.cumsum(np.take_along_axis(there, order, 1), axis=1)
    return order, np.minimum(above, 1.0), np.minimum(below, 1.0)


def _least_mu(here: Floats, there: Floats) -> Floats:
    """The largest Φ⁻¹(P(S)) − Φ⁻¹(Q(S)) of any event S, for rows P of ``here`` and Q of ``there``.

    The trade-off function of P and Q has its corners at the sets of largest likelihood ratio, and that of μ-Gaussian
    DP is convex: if it is kept at the corners, it is kept everywhere. So these sets are enough for any number of
    answers.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(here > 0, here / there, 0.0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    mine, theirs = np.take_along_axis(here, order, 1), np.take_along_axis(there, order, 1)
    gap = _probit_of_prefixes(mine)
    with np.errstate(invalid="ignore"):  # impossible for both, or certain for both: no difference
        gap = np.nan_to_num(gap - _probit_of_prefixes(theirs), nan=0.0, posinf=np.inf, neginf=-np.inf)
    return np.asarray(np.maximum(0.0, gap.max(axis=1, initial=0.0)))


def _probit_of_prefixes(rows: Floats) -> Floats:
    """Φ⁻¹ of the first k entries together, for every k but the last; each tail from its own sum."""
    first = np.minimum(np.cumsum(rows, axis=1)[:, :-1], 1.0)
    rest = np.minimum(np.cumsum(rows[:, ::-1], axis=1)[:, ::-1][:, 1:], 1.0)
    return probit(first, rest)
