"""The binary mechanisms: randomized response on two cells, for two hypotheses or for the information about one prior.

For two hypotheses it is optimal for total variation at every ε. For other divergences, and for mutual information, it
is optimal for small enough ε unless there is a tie: a symbol that both hypotheses make equally likely, or several
partitions that are equally even. With a tie the paper's theorems 5 and 12 fail, and nothing is claimed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.local.divergences import Utility
from tinct.local.information_bounds import cells_information, halves, has_one_split
from tinct.local.local_mechanism import Certificate, LocalMechanism
from tinct.local.mechanisms.randomized_response import CellChannel
from tinct.local.parameters import Hypotheses, LocalBudget, distribution, named_symbols

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tinct.local.divergences import UtilityLike
    from tinct.local.parameters import BudgetLike, DistributionLike, SymbolsLike

_TIE = 1e-12  # relative; nothing is claimed where two probabilities may be equal


def binary(
    p0: DistributionLike,
    p1: DistributionLike,
    epsilon: BudgetLike,
    utility: UtilityLike = "kl",
    *,
    symbols: SymbolsLike | None = None,
) -> LocalMechanism:
    """Whether P0 makes the symbol at least as likely as P1 does, by randomized response: the paper's binary mechanism.

    Output 0 stands for P0 < P1, output 1 for P0 ≥ P1. It is optimal for total variation at every ε. For every
    f-divergence it is optimal for small enough ε if no symbol that occurs is equally likely under both; with such a
    tie another cut may be better at every ε (``optimal`` finds it).

    >>> mechanism = binary([0.1, 0.2, 0.7], [0.4, 0.3, 0.3], "ln 3", "tv")
    >>> mechanism.cells, round(mechanism.value, 9)
    (((0, 1), (2,)), 0.2)
    """
    hypotheses = Hypotheses.parse(p0, p1, symbols)
    budget = LocalBudget.parse(epsilon)
    chosen = Utility.parse(utility)
    chosen.require_convex(budget.epsilon)
    first, second = hypotheses.p0, hypotheses.p1
    channel = CellChannel(len(first), budget.growth, (first >= second).astype(np.int64), 2)
    tied = ((abs(first - second) <= _TIE * first) & (first > 0)).any()
    small = (
        "no claim for other divergences, as some symbol is equally likely under both"
        if tied
        else "every f-divergence for small enough ε, as no symbol is equally likely under both"
    )
    return LocalMechanism(
        name="binary",
        budget=budget,
        channel=channel,
        symbols=hypotheses.symbols,
        note=f"total variation at every ε; {small} (see regimes); never less than 1/(2(e^ε + 1)²) of the optimal KL "
        "divergence",
        utility=chosen.name if chosen.function is None else chosen,
        value=chosen.divergence(channel.push(first), channel.push(second)),
        hypotheses=hypotheses,
    )


def binary_information(prior: ArrayLike, epsilon: BudgetLike, *, symbols: SymbolsLike | None = None) -> LocalMechanism:
    """The binary mechanism for mutual information: which half of the alphabet, with halves as equal as can be.

    The partition is exact up to 40 symbols; for more it is called so only if it hits 1/2. ``upper_bound`` is for binary
    mechanisms of this kind: the value at a partition into exact halves, if the best one is not known. Among all
    mechanisms this is optimal for small enough ε if no other partition is equally even; otherwise it need not be at any
    ε (``mutual_information`` finds the optimum).

    >>> mechanism = binary_information([0.4, 0.3, 0.2, 0.1], 1)
    >>> mechanism.cells, round(mechanism.value, 9)
    (((0, 3), (1, 2)), 0.110944072)
    """
    p = distribution(prior, "prior")
    if len(p) < 2:
        raise ParameterError("a binary mechanism needs at least two symbols")
    budget = LocalBudget.parse(epsilon)
    half = halves(p)
    cell_of = np.ones(len(p), np.int64)
    cell_of[half.members] = 0
    if cell_of[0] == 1:
        cell_of = 1 - cell_of
    value, ideal = (cells_information(np.array([inside, 1.0 - inside]), budget) for inside in (half.share, 0.5))
    what = "the most even partition" if half.exact else "a partition that may not be the most even one"
    alone = half.exact and has_one_split(p, half.share)
    small = "; among all mechanisms for small enough ε, as no other partition is as even" if alone else ""
    return LocalMechanism(
        name="binary",
        budget=budget,
        channel=CellChannel(len(p), budget.growth, cell_of, 2),
        symbols=named_symbols(symbols, len(p)),
        note=f"mutual information among mechanisms on two cells, for every ε ({what}){small}",
        utility="information",
        value=value,
        prior=p,
        known=Certificate("partition into two cells (bounds other partitions only)", value if half.exact else ideal),
    )
