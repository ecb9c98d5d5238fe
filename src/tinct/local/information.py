"""Mutual information: the mechanism that keeps most of what a symbol says about itself, with a certified gap."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.local.blocks import best_blocks, varied_blocks
from tinct.local.bounds import best_share, column_worth, information_bound, rate
from tinct.local.channels import CellChannel, Channel, SubsetChannel, TableChannel
from tinct.local.generation import Generated, generate
from tinct.local.inputs import LocalBudget, distribution, named_symbols
from tinct.local.mechanism import Certificate, LocalMechanism
from tinct.local.order import sums
from tinct.local.partition import halves
from tinct.local.programs import MAX_BUDGET

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_GENERATED = 40  # symbols for which columns are generated; beyond, symbols are merged into blocks first
_BLOCKS = 32
_UNIFORM = 1e-15
_EXACT = 2e-9  # relative gap up to which the value is called exact
_INFORMATION = "information"


def mutual_information(prior: Any, epsilon: Any, *, symbols: Any = None) -> LocalMechanism:
    """The ε-private mechanism that keeps the most mutual information between symbol and output, in nats.

    ``value`` is what it keeps, ``upper_bound`` what no private mechanism exceeds, and ``gap`` their difference: nil
    (up to 1e-9) for uniform priors and for small alphabets; certified, usually tiny, for others.

    Args:
        prior: The distribution of the symbols, summing to 1 within 1e-9.
        epsilon: The budget, a number in (0, 700] or text such as ``"ln 2"``.
        symbols: Names for the symbols.

    >>> mechanism = mutual_information([0.25] * 4, 1)
    >>> mechanism.channel.kind, round(mechanism.value, 9), round(mechanism.gap, 9)
    ('subset', 0.117992867, 0.0)
    """
    p = distribution(prior, "prior")
    budget = LocalBudget.parse(epsilon)
    names = named_symbols(symbols, len(p))
    present = np.flatnonzero(p > 0)
    uniform = float(np.ptp(p)) <= _UNIFORM * float(p.max())
    if uniform and len(p) > 1:
        channel: Channel = SubsetChannel(len(p), budget.growth, best_size(len(p), budget))
        value = float(rate(channel.members / len(p), budget))  # type: ignore[attr-defined] # a SubsetChannel
        bound, method = value, "rate of the best subset sum"
    else:
        channel, value, bound, method = _designed(p, present, budget)
    bound = max(value, bound)
    note = "mutual information for this prior, among all private mechanisms"
    return LocalMechanism(
        name="mutual information",
        budget=budget,
        channel=channel,
        symbols=names,
        note=f"{note} (exact, up to rounding)" if bound - value <= _EXACT * bound else f"{note}, within its gap",
        utility=_INFORMATION,
        value=value,
        prior=p,
        known=Certificate(method, bound),
    )


def binary_information(prior: Any, epsilon: Any, *, symbols: Any = None) -> LocalMechanism:
    """The binary mechanism for mutual information: which half of the alphabet, with halves as equal as can be.

    The partition is exact up to 40 symbols; for more it is called so only if it hits 1/2. ``upper_bound`` is for binary
    mechanisms of this kind: the value at a partition into exact halves, if the best one is not known.

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
    value = _of_partition(half.share, budget)
    best = value if half.exact else _of_partition(0.5, budget)
    what = "the most even partition" if half.exact else "a partition that may not be the most even one"
    return LocalMechanism(
        name="binary",
        budget=budget,
        channel=CellChannel(len(p), budget.growth, cell_of, 2),
        symbols=named_symbols(symbols, len(p)),
        note=f"mutual information for small enough ε, and among mechanisms on two cells for every ε ({what})",
        utility=_INFORMATION,
        value=value,
        prior=p,
        known=Certificate("partition into two cells (bounds other partitions only)", best),
    )


def best_size(k: int, budget: LocalBudget) -> int:
    """The size of subsets with the largest rate under a uniform prior on k symbols."""
    near = best_share(budget) * k
    sizes = np.unique(np.clip([math.floor(near), math.ceil(near)], 1, max(k - 1, 1)))
    return int(sizes[np.argmax(rate(sizes / k, budget))])


def _of_partition(inside: float, budget: LocalBudget) -> float:
    """The mutual information of randomized response on two cells."""
    worths = column_worth(np.array([inside, 1.0 - inside]), budget)
    return float(worths.sum()) / (1.0 + budget.low)


def _designed(p: Floats, present: NDArray[np.int64], budget: LocalBudget) -> tuple[Channel, float, float, str]:
    """A channel for a prior that is not uniform: its information, a bound, and where the bound comes from."""
    q = p[present]
    bound, method = information_bound(q, budget), "entropy and rate of the best subset sum"
    blocks, value = best_blocks(q, budget)
    channel: Channel = CellChannel(len(p), budget.growth, _spread(blocks, present, len(p)), int(blocks.max()) + 1)
    if budget.epsilon > MAX_BUDGET or len(q) < 2:
        return channel, value, bound, method
    merged = np.arange(len(q)) if len(q) <= MAX_GENERATED else varied_blocks(q, _BLOCKS)
    whole = len(q) <= MAX_GENERATED
    found: Generated = generate(sums(merged, q), budget, enough=bound, bounded=whole)
    if whole and found.upper_bound < bound:
        bound, method = found.upper_bound, "prices of the linear program, checked against every pattern"
    if found.value > value:
        value = found.value
        channel = TableChannel(len(p), found.matrix[_spread(merged, present, len(p))])
    return channel, value, bound, method


def _spread(of_present: NDArray[np.int64], present: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Where every symbol goes: those that never occur go where the first one that does goes."""
    whole = np.full(k, of_present[0], np.int64)
    whole[present] = of_present
    return whole
