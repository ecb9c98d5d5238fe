"""The envelope: the least bounds that fixed rows put on all prefix sums (docs/theory.md §4.4); and optima below it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import breadth_first, prefixes
from tinct._kernels.propagation import DENSE, UNIFORM
from tinct.binary._extend import from_keys, one_step, refuse_missed_edge, to_keys
from tinct.errors import ParameterError
from tinct.graphs import Budget, DatasetGraph, EdgePrivacy
from tinct.graphs.coloring import Coloring
from tinct.linear_programs import PrivateTables
from tinct.mechanism._verify import TOLERANCE, directed_edges, excess, verify
from tinct.privacy import Privacy
from tinct.rainbow.boundary_rows import from_prefixes, orders_as_columns, prefix_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]
    Positions = NDArray[np.int64]


def envelope(graph: DatasetGraph, budget: Budget, rows: Floats) -> Floats:
    """The table whose prefix sums are the smallest bounds that the fixed rows (NaN where free) put on them."""
    fixed = ~np.isnan(rows[:, 0])
    if budget.coordinate is None:
        raise ParameterError("orders of preference need one notion of privacy, (ε, δ) or Gaussian, on all edges")
    scale, columns = budget.coordinate, orders_as_columns(graph)
    orders = graph.coloring.codes.astype(np.int32)
    ordered = rows[fixed][:, columns]  # fixed vertex × order × place
    reached = np.minimum(np.cumsum(ordered, axis=2)[:, :, :-1], 1.0)
    missed = np.minimum(np.cumsum(ordered[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:], 1.0)
    keys = np.full((len(graph), len(graph.outputs) - 1), np.inf)
    gains, shifts = budget.parameters
    rounds = prefixes.prefix_bounds(
        graph.indptr, graph.indices, orders, fixed, to_keys(reached, missed, scale), keys,
        budget.layout, budget.classes.astype(np.int32), gains, shifts, scale == "probit",
    )  # fmt: skip
    if rounds < 0:
        refuse_missed_edge(graph, -1 - rounds)
    table = np.empty_like(rows)
    if scale == "odds":
        prefixes.rows_from_odds(keys, columns, orders, table)
    else:
        np.put_along_axis(table, columns[orders], from_prefixes(*from_keys(keys, scale)), axis=1)
    table[fixed] = rows[fixed]
    return table


def contradicted(graph: DatasetGraph, budget: Budget, rows: Floats, table: Floats) -> bool:
    """Whether the bound on an event next to a fixed vertex is too small for that vertex's own row."""
    if budget.layout == DENSE:
        return False  # left to the linear program
    fixed, codes, columns = ~np.isnan(rows[:, 0]), graph.coloring.codes, orders_as_columns(graph)
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    entries = np.flatnonzero(fixed[owner] & ~fixed[graph.indices])
    order = columns[codes[graph.indices[entries]]]
    mine, theirs = (
        np.minimum(np.cumsum(np.take_along_axis(table[at], order, 1), axis=1), 1.0)
        for at in (owner[entries], graph.indices[entries])
    )
    return any(
        bool((mine[:, k] > one_step(budget, theirs[:, k], entries) + TOLERANCE).any()) for k in range(mine.shape[1] - 1)
    )


# optima below the envelope, one region at a time, by linear programs (docs/proofs/rainbow.md, claims 4 and 7)
#
# A program keeps inequalities up to a tolerance only. What is decided here is decided up to ``TELLS_APART``; a table
# is handed on only if it is private on every edge.


TELLS_APART = 1e-8  # two prefix sums that differ by less are taken for equal
_ATTAINED = 1e-9  # so close to the envelope a prefix sum needs no program of its own
_KEPT = (1e-10, 1e-9, TELLS_APART)  # how much less than before an earlier prefix sum may become
_MARGINS = (1e-3, 1e-5, 1e-7, 1e-8)  # room that a table to mix with may have
_SHARES = (1e-9, 1e-8, 1e-7, 1e-6)  # how much of it
_OPEN = "whether there is an optimum below it was not looked into: "
UNUSABLE = "linear programs find an optimum, but the solver's table of it is not private enough to be used"


class Case(Enum):
    """The four cases of docs/theory.md §4."""

    ENVELOPE = "the envelope is private: it is the optimum"
    LOWER = "the envelope is not private, but there is an optimum below it"
    NONE = "there are private mechanisms, but no optimum"
    INFEASIBLE = "there is no private mechanism with these rows"


@dataclass(frozen=True)
class Clash:
    """An event that could be likelier, but only where others are less likely than they could be."""

    vertex: Any
    answers: tuple[Any, ...]
    alone: float  # the largest probability that a private mechanism gives it
    together: float  # what it has where the sum of all prefix sums is largest

    def __str__(self) -> str:
        event = ", ".join(map(str, self.answers))
        return (
            f"{{{event}}} at {self.vertex!r} can have probability {self.alone:.6g}, but only where other prefix sums "
            "are smaller than they could be"
        )


@dataclass(frozen=True)
class Decision:
    """Which case it is, and what shows it; None with a ``reason``, a clause about the envelope, if that is left open.

    ``table`` is the optimum; no private table has a prefix sum that is larger by more than ``gap``.
    """

    case: Case | None
    table: Floats | None = None
    gap: float = 0.0
    clash: Clash | None = None
    reason: str = ""


class Reach:
    """How far linear programs may go: the inequalities that one of them may have, and all of them together."""

    def __init__(self, largest: int, together: int) -> None:
        self.largest, self.left = largest, together

    def spend(self, region: Region) -> None:
        """Account for one more program, or refuse it because of its size."""
        size = region.inequalities
        if size > self.largest:
            raise ParameterError(f"the linear programs would have {size:,} inequalities, {self.largest:,} is the most")
        if size > self.left:
            raise ParameterError(f"it takes too many linear programs of {size:,} inequalities each")
        self.left -= size


def decide(
    graph: DatasetGraph, budget: Budget, rows: Floats, table: Floats, lexicographic: bool, reach: Reach
) -> Decision:
    """The case of fixed rows whose envelope, ``table``, is not private; region by region."""
    if budget.layout != DENSE and not all(isinstance(pair, Privacy) for pair in budget.pairs):
        return Decision(None, reason=f"{_OPEN}linear programs need (ε, δ), other notions of privacy are not linear")
    fixed = ~np.isnan(rows[:, 0])
    broken = broken_entries(graph, budget, table)
    owner = np.searchsorted(graph.indptr, broken, side="right") - 1
    if (fixed[owner] & fixed[graph.indices[broken]]).any():
        return Decision(Case.INFEASIBLE)
    optimum, gap = table.copy(), 0.0
    none: Decision | None = None
    for found, region in _decisions(graph, budget, rows, table, lexicographic, reach):
        if found.case in (None, Case.INFEASIBLE):
            return found
        if found.table is None:
            none = none or found  # a region further on may still be infeasible
            continue
        optimum[region.positions] = found.table
        gap = max(gap, found.gap)
    return none or Decision(Case.LOWER, optimum, gap)


def _decisions(
    graph: DatasetGraph, budget: Budget, rows: Floats, table: Floats, lexicographic: bool, reach: Reach
) -> Iterator[tuple[Decision, Region]]:
    for region in broken_regions(graph, budget, rows, table):
        try:
            found = _dominating(region, reach)
            if lexicographic and found.case is Case.NONE:
                found = _lexicographic(region, reach)
        except ParameterError as error:  # too large, ε too large, or the solver gave up
            found = Decision(None, reason=f"{_OPEN}{error.problem}")
        if found.clash is not None:
            clash = found.clash
            vertex = graph.vertices[int(region.positions[clash.vertex])]
            found = Decision(found.case, clash=Clash(vertex, clash.answers, clash.alone, clash.together))
        yield found, region


def _dominating(region: Region, reach: Reach) -> Decision:
    """The optimum attains the maximum of every prefix sum at once: maximise their sum, then each by itself."""
    reach.spend(region)
    tables = PrivateTables(region.graph, region.privacy, region.rows)
    free, events = region.free, prefix_events(region.graph)
    together = tables.maximize(_at(region, free, events[free].sum(axis=1)))
    if together is None:
        return Decision(Case.INFEASIBLE)
    sums = prefix_sums(events[free], together.table[free])
    above = region.bounds() - sums
    doubtful = np.argwhere(above > _ATTAINED)  # what attains the envelope's bound attains its maximum
    highest = np.minimum(sums + np.maximum(above, 0.0), 1.0)
    # the largest difference first: it is the likeliest to settle that there is no optimum
    for at, k in doubtful[np.argsort(-above[tuple(doubtful.T)])].tolist():
        reach.spend(region)
        alone = tables.maximize(_at(region, free[[at]], events[free[at], k][None]))
        if alone is None:
            raise ParameterError("the solver contradicts itself")
        if alone.value > sums[at, k] + TELLS_APART:
            answers = tuple(
                answer for answer, in_event in zip(region.graph.outputs, events[free[at], k], strict=True) if in_event
            )
            return Decision(Case.NONE, clash=Clash(int(free[at]), answers, alone.value, float(sums[at, k])))
        highest[at, k] = min(highest[at, k], max(alone.upper_bound, sums[at, k]))
    table = _private(region, together.table)
    if table is None:
        return Decision(None, reason=UNUSABLE)
    gap = float((highest - prefix_sums(events[free], table[free])).max(initial=0.0))
    return Decision(Case.LOWER, table, gap)


def _lexicographic(region: Region, reach: Reach) -> Decision:
    """The lexicographically largest row of every vertex by itself; the optimum has all of them, or there is none."""
    free, events = region.free, prefix_events(region.graph)
    width = events.shape[1]
    tables = PrivateTables(region.graph, region.privacy, region.rows)
    largest = np.empty((len(free), width))
    for at, vertex in enumerate(free.tolist()):
        for k in range(width):
            so_far = np.array([_at(region, free[[at]], events[vertex, j][None]) for j in range(k)])
            kept = None if k == 0 else (so_far, largest[at, :k] - _KEPT[0])
            reach.spend(region)
            found = tables.maximize(_at(region, free[[at]], events[vertex, k][None]), kept)
            if found is None:
                raise ParameterError("the solver contradicts itself")
            largest[at, k] = found.value
    wanted = np.array([_at(region, free[[at]], events[v, k][None]) for at, v in enumerate(free) for k in range(width)])
    for kept_less in _KEPT:
        joint = tables.maximize(_at(region, free, events[free].sum(axis=1)), (wanted, largest.ravel() - kept_less))
        table = None if joint is None else _private(region, joint.table)
        if table is not None:
            off = np.abs(largest - prefix_sums(events[free], table[free])).max(initial=0.0)
            return Decision(Case.LOWER, table, float(off))
    if joint is not None:
        return Decision(None, reason=UNUSABLE)
    return Decision(Case.NONE)


def _at(region: Region, vertices: NDArray[np.int64], weights: Floats) -> Floats:
    """Weights for some vertices, 0 for all others."""
    everywhere = np.zeros(region.rows.shape)
    everywhere[vertices] = weights
    return everywhere


def _private(region: Region, table: Floats) -> Floats | None:
    """The solver's table, mixed with a little of one that has room to spare if it is not private; None if that fails.

    Both have the fixed rows, so every mixture has them too.
    """
    if verify(table, region.graph, region.privacy).private:
        return table
    free, events = region.free, prefix_events(region.graph)
    everything = _at(region, free, events[free].sum(axis=1))
    for margin in _MARGINS:
        roomy = PrivateTables(region.graph, region.privacy, region.rows, margin=margin).maximize(everything)
        if roomy is None:
            continue
        for share in _SHARES:
            mixed = np.where(np.isnan(region.rows), (1 - share) * table + share * roomy.table, region.rows)
            if verify(mixed, region.graph, region.privacy).private:
                return mixed
    return None


# regions: fixed rows cut a graph into pieces that know nothing of each other (docs/proofs/rainbow.md)


@dataclass(frozen=True)
class Region:
    """Free vertices that are joined to each other, and the fixed ones next to them.

    Attributes:
        graph: The free and the fixed vertices, without the edges between fixed ones.
        privacy: That of its edges.
        rows: The fixed rows, NaN where free.
        envelope: The envelope's rows.
        positions: Where its vertices are in the whole graph.
    """

    graph: DatasetGraph
    privacy: PrivacyLike
    rows: Floats
    envelope: Floats
    positions: Positions

    @property
    def free(self) -> Positions:
        """The free vertices, by their positions in the region."""
        return np.flatnonzero(np.isnan(self.rows[:, 0]))

    @property
    def inequalities(self) -> int:
        """How many inequalities a linear program about it has."""
        return len(self.graph.indices) * len(self.graph.outputs)

    def bounds(self) -> Floats:
        """The envelope's prefix sums at the free vertices, best answer first."""
        return prefix_sums(prefix_events(self.graph)[self.free], self.envelope[self.free])


def prefix_sums(events: Floats, table: Floats) -> Floats:
    """The probabilities of events (vertices × events × outputs) in a table."""
    return np.asarray(np.einsum("vky,vy->vk", events, table))


def broken_entries(graph: DatasetGraph, budget: Budget, table: Floats) -> Positions:
    """The directed edges on which a table breaks its (ε, δ), as entry numbers."""
    gains, shifts = budget.dense_parameters()
    slack = 1.0 + TOLERANCE
    found = [
        entries[excess(table[rows], table[columns], gains[entries] * slack) > shifts[entries] * slack]
        for rows, columns, entries in directed_edges(graph)
    ]
    return np.concatenate([np.empty(0, np.int64), *found])


def broken_regions(graph: DatasetGraph, budget: Budget, rows: Floats, table: Floats) -> Iterator[Region]:
    """The regions in which a table that is not private breaks its (ε, δ)."""
    free = np.isnan(rows[:, 0])
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    numbers = _numbers(graph, owner, free)
    broken = broken_entries(graph, budget, table)
    ends = np.concatenate([owner[broken], graph.indices[broken]])
    chosen = numbers[ends[free[ends]]]
    for number in np.unique(chosen if len(chosen) else numbers[free]).tolist():
        yield _region(graph, budget, owner, rows, table, numbers == number)


def _numbers(graph: DatasetGraph, owner: Positions, free: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For every free vertex the number of its region, −1 for fixed ones."""
    inner = free[owner] & free[graph.indices]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner[inner], minlength=len(graph)))])
    return np.where(free, breadth_first.component_labels(indptr, graph.indices[inner]), -1)


def _region(
    graph: DatasetGraph, budget: Budget, owner: Positions, rows: Floats, table: Floats, inside: NDArray[np.bool_]
) -> Region:
    entries = np.flatnonzero(inside[owner] | inside[graph.indices])
    positions = np.union1d(np.flatnonzero(inside), owner[entries]).astype(np.int64)
    place = np.full(len(graph), -1, np.int32)
    place[positions] = np.arange(len(positions))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(place[owner[entries]], minlength=len(positions)))])
    coloring = graph.coloring
    part = DatasetGraph.trusted(
        indptr.astype(np.int64),
        place[graph.indices[entries]],
        Coloring(coloring.codes[positions], coloring.palette, coloring.outputs),
    )
    privacy: PrivacyLike = budget.pairs[0] if budget.layout == UNIFORM else _along(budget, entries)
    return Region(part, privacy, rows[positions], table[positions], positions)


def _along(budget: Budget, entries: Positions) -> EdgePrivacy:
    epsilons, deltas = budget.logarithms()
    return EdgePrivacy(epsilons[entries], deltas[entries])
