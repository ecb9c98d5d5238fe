"""Mutual information: the mechanism that keeps most of what a symbol says about itself, with a certified gap."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

import numpy as np

from tinct.local.all_patterns import ALL_PATTERNS, solve_patterns
from tinct.local.column_programs import MAX_BUDGET, Generated, generate
from tinct.local.information_bounds import cells_information, information_bound, rate, rounded_up
from tinct.local.likelihood_order import sums
from tinct.local.local_mechanism import Certificate, LocalMechanism
from tinct.local.mechanisms.randomized_response import CellChannel
from tinct.local.mechanisms.subset_selection import SubsetChannel, best_size
from tinct.local.mechanisms.written_out_table import TableChannel
from tinct.local.orbit_programs import MAX_WRITTEN, Classes, best_orbits, written_out
from tinct.local.parameters import LocalBudget, distribution, named_symbols

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tinct.local.mechanisms.base import Channel
    from tinct.local.parameters import BudgetLike, Floats, Integers, SymbolsLike

MAX_GENERATED = 40  # symbols for which columns are generated; beyond, symbols are merged into blocks first
_BLOCKS = 32
_UNIFORM = 1e-15
_EXACT = 2e-9  # relative gap up to which the value is called exact
_AS_GOOD = 1e-10  # relative; of mechanisms this close the one with fewer outputs is taken


def mutual_information(prior: ArrayLike, epsilon: BudgetLike, *, symbols: SymbolsLike | None = None) -> LocalMechanism:
    """The ε-private mechanism that keeps the most mutual information between symbol and output, in nats.

    ``value`` is what it keeps, ``upper_bound`` what no private mechanism exceeds, and ``gap`` their difference: nil
    (up to 1e-9) for uniform priors and for two symbols at every ε, and up to ε = 20 for 10 symbols, or 500 in a few
    classes of equal probability; certified, usually tiny, for others. There are at most as many outputs as symbols that
    occur, unless the prior is uniform, where every subset of one size is an output.

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
        members = best_size(len(p), budget)
        channel: Channel = SubsetChannel(len(p), budget.growth, members)
        value = float(rate(members / len(p), budget))
        bound, method = value, "rate of the best subset sum"
    else:
        channel, value, bound, method = _designed(p, present, budget)
    bound = max(value, bound)
    exact = bound - value <= _EXACT * bound + rounded_up(0.0, len(present), budget)
    note = "mutual information for this prior, among all private mechanisms"
    return LocalMechanism(
        name="mutual information",
        budget=budget,
        channel=channel,
        symbols=names,
        note=f"{note} (exact, up to rounding)" if exact else f"{note}, within its gap",
        utility="information",
        value=value,
        prior=p,
        known=Certificate(method, bound),
    )


def _designed(p: Floats, present: Integers, budget: LocalBudget) -> tuple[Channel, float, float, str]:
    """A channel for a prior that is not uniform: its information, a bound, and where the bound comes from."""
    q = p[present]
    if len(q) == 2:  # what two symbols can tell at all, randomized response tells (docs/proofs/orbits.md)
        cells = CellChannel(len(p), budget.growth, _spread(np.arange(2), present, len(p)), 2)
        value = cells_information(q, budget)
        bound, method = rounded_up(value, 2, budget), "randomized response, of which all private reports are copies"
        return cells, value, bound, method
    bound, method = information_bound(q, budget), "entropy, and rate and worth of the best subset sums"
    blocks, value = best_blocks(q, budget)
    channel: Channel = CellChannel(len(p), budget.growth, _spread(blocks, present, len(p)), int(blocks.max()) + 1)
    if budget.epsilon > MAX_BUDGET or len(q) < 2:
        return channel, value, bound, method
    found, over = _solved(q, budget, bound)
    proved = rounded_up(found.upper_bound, len(q), budget)
    if proved < bound:
        bound, method = proved, f"prices of the linear program, checked against every {over}"
    as_good = value * (1.0 - _AS_GOOD) <= found.value and found.matrix.shape[1] <= channel.outputs
    if as_good or found.value > value * (1.0 + _AS_GOOD):
        value = found.value
        channel = _channel(found.matrix[_spread(np.arange(len(q)), present, len(p))], budget)
    return channel, value, bound, method


def _solved(q: Floats, budget: LocalBudget, enough: float) -> tuple[Generated, str]:
    """The best mechanism that programs find for a positive prior, their bound, and what its prices were checked on."""
    if len(q) <= ALL_PATTERNS:
        return solve_patterns(q, budget), "pattern"
    classes, bound, over = Classes.parse(q), math.inf, "pattern"
    if classes.solvable:
        orbits = best_orbits(q, classes, budget)
        if len(q) <= MAX_WRITTEN:
            return written_out(q, classes, orbits, budget), "orbit"
        bound, over = orbits.upper_bound, "orbit"
    whole = len(q) <= MAX_GENERATED
    merged = np.arange(len(q)) if whole else varied_blocks(q, _BLOCKS)
    found = generate(sums(merged, q), budget, enough=min(enough, bound), bounded=whole)
    # a bound for blocks says nothing about symbols
    return Generated(found.matrix[merged], found.value, found.upper_bound if whole else bound), over


def _channel(matrix: Floats, budget: LocalBudget) -> Channel:
    """The matrix as randomized response on cells if that is what it is, else as a table."""
    raised = matrix > math.exp(-budget.epsilon / 2) * matrix.max(axis=0)
    if (raised.sum(axis=1) == 1).all() and matrix.shape[1] > 1:
        cell_of = np.argmax(raised, axis=1)
        order = np.argsort(np.unique(cell_of, return_index=True)[1])  # cells in the order of their first symbols
        return CellChannel(len(matrix), budget.growth, np.argsort(order)[cell_of], matrix.shape[1])
    return TableChannel(len(matrix), matrix)


def _spread(of_present: Integers, present: Integers, k: int) -> Integers:
    """Where every symbol goes: those that never occur go where the first one that does goes."""
    whole = np.full(k, of_present[0], np.int64)
    whole[present] = of_present
    return whole


def best_blocks(p: Floats, budget: LocalBudget) -> tuple[Integers, float]:
    """The block of each symbol, and the mutual information of randomized response on the blocks.

    Tries every number of blocks that is a power of two, and one block for each symbol.
    """
    k = len(p)
    counts = [*(2**n for n in range(k.bit_length()) if 2**n < k), k]
    best: tuple[Integers, float] | None = None
    for count in counts:
        blocks = np.arange(k) if count >= k else even_blocks(p, count)
        value = cells_information(np.bincount(blocks, p), budget)
        if best is None or value > best[1]:
            best = blocks, value
    return best if best is not None else (np.zeros(k, np.int64), 0.0)


def even_blocks(p: Floats, count: int) -> Integers:
    """Symbols in at most ``count`` blocks of nearly equal probability."""
    return _filled(p, np.ones(count))


def varied_blocks(p: Floats, count: int) -> Integers:
    """Symbols in at most ``count`` blocks of different probabilities, whose sums come close to any number."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    return _filled(p, np.array([1.0 + block * golden % 1.0 for block in range(count)]))


def _filled(p: Floats, sizes: Floats) -> Integers:
    """The likeliest symbols first, each put where there is least so far for the size of the block."""
    blocks = np.empty(len(p), np.int64)
    heap = [(0.0, block) for block in range(len(sizes))]
    for x in np.argsort(-p, kind="stable"):
        level, block = heap[0]
        blocks[x] = block
        heapq.heapreplace(heap, (level + float(p[x] / sizes[block]), block))
    return np.unique(blocks, return_inverse=True)[1]
