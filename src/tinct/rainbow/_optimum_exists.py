"""optimum_exists: whether one private mechanism is at least as good as all the others with the same fixed rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import NoOptimum, NotExtendable, ParameterError
from tinct.graphs import Budget
from tinct.mechanism import Mechanism, claims
from tinct.mechanism._verify import verify
from tinct.rainbow.boundary_rows import require_rainbow, rows_by_vertex
from tinct.rainbow.envelope import UNUSABLE, Case, Reach, contradicted, decide, envelope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tinct.graphs import DatasetGraph
    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]


ORDERS = ("dominance", "lexicographic")
# inequalities in one linear program and in all of them
_MINUTES = 100_000, 10_000_000
_SECONDS = 10_000, 200_000


class ProgramOptimum(Mechanism):
    """An optimum below the envelope, found by linear programs and checked on every edge.

    No private mechanism with the same rows has a prefix sum that is larger by more than ``gap``. A lexicographic
    optimum is within ``gap`` of the lexicographically largest row of each vertex.
    """

    gap: float

    @classmethod
    def of(
        cls, graph: DatasetGraph, table: Floats, privacy: PrivacyLike, gap: float, claim: claims.Claim
    ) -> ProgramOptimum:
        """A mechanism from a table that is known to be private, with its gap and what that says."""
        mechanism = cls(graph, table, privacy)
        object.__setattr__(mechanism, "gap", gap)
        object.__setattr__(mechanism, "claim", claim)
        return mechanism


@dataclass(frozen=True)
class Existence:
    """Whether an optimum exists in this order, which case it is, and the optimum if there is one."""

    case: Case
    mechanism: Mechanism | None
    order: str = "dominance"

    def __bool__(self) -> bool:
        return self.mechanism is not None


def optimum_exists(
    graph: DatasetGraph, privacy: PrivacyLike, fixed: Mapping[Any, Any], *, order: str = "dominance"
) -> Existence:
    """Decide whether one private extension of the fixed rows is at least as good as all others (linear programs).

    Args:
        graph: A graph whose colours are orders of preference.
        privacy: (ε, δ) for all edges, or for each edge.
        fixed: ``{vertex: distribution}`` for a set of vertices that meets every edge between different orders.
        order: What "at least as good" means at a vertex. ``"dominance"``: no prefix sum is smaller.
            ``"lexicographic"``: the first prefix sum that differs is larger, if one differs. A dominance optimum is a
            lexicographic one; the converse does not hold (docs/theory.md §4.4).

    Each vertex has a lexicographically largest row among those of all private extensions. A lexicographic optimum
    exists if and only if one private extension has all of these rows.

    >>> from tinct import DatasetGraph, Privacy
    >>> path = DatasetGraph([("x", "v"), ("v", "y")], dict.fromkeys("xvy", (1, 2, 3, 4)))
    >>> rows = {"x": [0, 0.1, 0.2, 0.7], "y": [0, 0.2, 0.1, 0.7]}
    >>> optimum_exists(path, Privacy("ln 2", "0.1"), rows).case
    <Case.NONE: 'there are private mechanisms, but no optimum'>
    >>> optimum_exists(path, Privacy("ln 2", "0.1"), rows, order="lexicographic").mechanism.row("v").round(6)
    array([0.1, 0.2, 0.2, 0.5])
    """
    require_rainbow(graph)
    if order not in ORDERS:
        raise ParameterError.of("order", "'dominance' or 'lexicographic'", order)
    rows = rows_by_vertex(graph, fixed)
    if not len(fixed):
        raise ParameterError("give the rows of a boundary-hitting set: without them there is hardly ever an optimum")
    budget = Budget(graph, privacy)
    table = envelope(graph, budget, rows)
    if verify(table, graph, privacy).private:  # it dominates all others, so it is lexicographically the largest too
        return Existence(Case.ENVELOPE, Mechanism.trusted(graph, table, privacy, claim=claims.ROWS), order)
    found = decide(graph, budget, rows, table, order == "lexicographic", Reach(*_MINUTES))
    if found.case is None:
        raise ParameterError(f"the envelope is not private, and {found.reason}; use rainbow.best with a utility")
    if found.table is None:
        return Existence(found.case, None, order)
    claim = (claims.lexicographic_within if order == "lexicographic" else claims.rows_within)(found.gap)
    optimum = checked_optimum(graph, privacy, found.table, found.gap, claim)
    if optimum is None:
        raise ParameterError("there is an optimum, but the solver's table of it is not private enough to be used")
    return Existence(Case.LOWER, optimum, order)


def checked_optimum(
    graph: DatasetGraph, privacy: PrivacyLike, table: Floats, gap: float, claim: claims.Claim
) -> ProgramOptimum | None:
    """The mechanism of a table from linear programs, if it is private on every edge."""
    if not verify(table, graph, privacy).private:
        return None
    return ProgramOptimum.of(graph, table, privacy, gap, claim)


# the optimum from rows at vertices: the envelope where that is private, else what linear programs find below it


def optimum_of_rows(graph: DatasetGraph, privacy: PrivacyLike, budget: Budget, rows: Floats) -> Mechanism:
    """The mechanism that dominates all others with these rows (NaN where free); checked on every edge."""
    table = envelope(graph, budget, rows)
    verdict = verify(table, graph, privacy)
    if verdict.private:
        return Mechanism.trusted(graph, table, privacy, claim=claims.ROWS)
    witness = verdict.witness
    if witness is not None and all(not np.isnan(rows[graph.position(end), 0]) for end in witness.edge):
        raise NotExtendable(f"no private mechanism: the fixed rows are not close: {witness}", witness)
    if contradicted(graph, budget, rows, table):
        raise NotExtendable(f"no private mechanism has these rows: {witness}", witness)
    found = decide(graph, budget, rows, table, lexicographic=False, reach=Reach(*_SECONDS))
    if found.case is Case.INFEASIBLE:
        raise NotExtendable(f"no private mechanism has these rows: {witness}", witness)
    reason = found.reason
    if found.table is not None:
        optimum = checked_optimum(graph, privacy, found.table, found.gap, claims.rows_within(found.gap))
        if optimum is not None:
            return optimum
        reason = UNUSABLE
    proof = (witness, *(table[graph.position(end)] for end in (witness.edge if witness else ())))
    if found.case is Case.NONE:
        raise NoOptimum(
            f"there are private mechanisms with these rows, but none that dominates all others: {found.clash}. "
            f"The envelope of all bounds is not private: {witness}. best() maximises a stated utility",
            proof,
        )
    raise NoOptimum(
        f"the envelope of all bounds is not private: {witness}; {reason}. optimum_exists() looks further, best() "
        "maximises a stated utility",
        proof,
    )
