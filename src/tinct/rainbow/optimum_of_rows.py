"""The optimum from rows at vertices: the envelope where that is private, else what linear programs find below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import NoOptimum, NotExtendable
from tinct.mechanism import Mechanism, claims
from tinct.mechanism._verify import verify
from tinct.rainbow._optimum_exists import checked_optimum
from tinct.rainbow.below_envelope import UNUSABLE, Case, Reach, decide
from tinct.rainbow.envelope import contradicted, envelope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.graphs import Budget, DatasetGraph
    from tinct.graphs.budgets import PrivacyLike

    Floats = NDArray[np.float64]

_LARGEST, _TOGETHER = 10_000, 200_000  # inequalities in one linear program and in all of them: seconds


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
    found = decide(graph, budget, rows, table, lexicographic=False, reach=Reach(_LARGEST, _TOGETHER))
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
