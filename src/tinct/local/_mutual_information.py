"""Mutual information: the mechanism that keeps most of what a symbol says about itself, with a certified gap."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from tinct.local.column_programs import (
    MAX_BUDGET,
    Generated,
    Weights,
    best_weights,
    columns,
    generate,
    generated,
    minimised,
    patterns,
    priced_bound,
    solved_again,
    used_columns,
)
from tinct.local.delta_programs import MAX_OTHER, METHOD, best_with_delta, graded
from tinct.local.information_bounds import cells_information, column_worth, information_bound, rate, rounded_up
from tinct.local.likelihood_order import sums
from tinct.local.local_mechanism import Certificate, LocalMechanism
from tinct.local.mechanisms.randomized_response import CellChannel
from tinct.local.mechanisms.reveal_or_cells import RevealChannel
from tinct.local.mechanisms.subset_selection import SubsetChannel, best_size
from tinct.local.mechanisms.written_out_table import TableChannel
from tinct.local.parameters import LocalBudget, delta_below_one, distribution, named_symbols

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tinct.local.mechanisms.base import Channel
    from tinct.local.parameters import BudgetLike, Floats, Integers, SymbolsLike
    from tinct.numbers.amounts import NumberLike


MAX_GENERATED = 40  # symbols for which columns are generated; beyond, symbols are merged into blocks first
_BLOCKS = 32
_UNIFORM = 1e-15
_EXACT = 2e-9  # relative gap up to which the value is called exact
_LOG10_TABLE = 5.4  # entries of a table that is written out to reveal beside it
_AS_GOOD = 1e-10  # relative; of mechanisms this close the one with fewer outputs is taken


def mutual_information(
    prior: ArrayLike, epsilon: BudgetLike, *, delta: NumberLike = 0, symbols: SymbolsLike | None = None
) -> LocalMechanism:
    """The (ε, δ)-private mechanism that keeps the most mutual information between symbol and output, in nats.

    ``value`` is what it keeps, ``upper_bound`` what no private mechanism exceeds, and ``gap`` their difference: nil
    (up to 1e-9) for uniform priors and for two symbols at every ε, and up to ε = 20 for 10 symbols, or 500 in a few
    classes of equal probability; certified, usually tiny, for others. There are at most as many outputs as symbols that
    occur, unless the prior is uniform, where every subset of one size is an output. With δ > 0 it is exact up to six
    symbols, by a linear program; beyond, the symbol is revealed with probability δ, and the bound is its entropy.

    Args:
        prior: The distribution of the symbols, summing to 1 within 1e-9.
        epsilon: The budget, a number in (0, 700] or text such as ``"ln 2"``.
        delta: The δ of (ε, δ)-privacy, in [0, 1).
        symbols: Names for the symbols.

    >>> mechanism = mutual_information([0.25] * 4, 1)
    >>> mechanism.channel.kind, round(mechanism.value, 9), round(mechanism.gap, 9)
    ('subset', 0.117992867, 0.0)
    """
    p = distribution(prior, "prior")
    budget = LocalBudget.parse(epsilon)
    names = named_symbols(symbols, len(p))
    part = delta_below_one(delta)
    if part:
        return _with_delta(p, mutual_information(p, budget, symbols=names), part)
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


def _with_delta(p: Floats, base: LocalMechanism, delta: Fraction) -> LocalMechanism:
    """Reveal with probability δ, else the best without δ; or what the program finds, where it fits and finds more."""
    part, budget = float(delta), base.budget
    present = np.flatnonzero(p > 0)
    entropy = float(-(p[present] * np.log(p[present])).sum())
    channel = _revealing(p, base, part)
    value, bound, method, name = channel.information(p, budget), entropy, "entropy of the prior", "reveal or answer"
    if len(present) <= MAX_OTHER and budget.epsilon <= MAX_BUDGET:
        found = best_with_delta(graded(len(present)), budget, part, lambda columns: information_of(columns, p[present]))
        table = TableChannel(len(p), found.matrix[_spread(np.arange(len(present)), present, len(p))])
        reached = table.information(p, budget)
        if reached > value * (1.0 + _EXACT / 2):
            value, channel, name = reached, table, base.name
        bound, method = found.upper_bound, METHOD
    elif (chained := chain_bound(p[present], budget, part)) < bound:
        bound, method = chained, "what groups of symbols can tell, and then each within its group"
    bound = max(value, bound)
    note = "mutual information for this prior, among all (ε, δ)-private mechanisms"
    exact = bound - value <= _EXACT * bound
    return LocalMechanism(
        name=name,
        budget=budget,
        channel=channel,
        symbols=base.symbols,
        note=f"{note} (exact, up to rounding)" if exact else f"{note}, within its gap",
        exact_delta=delta,
        utility="information",
        value=value,
        prior=p,
        known=Certificate(method, bound),
    )


def _revealing(p: Floats, base: LocalMechanism, reveal: float) -> Channel:
    """The symbol itself with this probability, else what the base says; cells where it has too many outputs."""
    cells = base.channel
    if isinstance(cells, CellChannel):
        return RevealChannel(len(p), cells, reveal)
    if cells.log10_entries <= _LOG10_TABLE and len(p) <= MAX_WRITTEN:
        return TableChannel(len(p), np.hstack([(1.0 - reveal) * base.matrix, reveal * np.eye(len(p))]))
    present = np.flatnonzero(p > 0)
    blocks, _ = best_blocks(p[present], base.budget)
    cell_of = _spread(blocks, present, len(p))
    return RevealChannel(len(p), CellChannel(len(p), base.budget.growth, cell_of, int(blocks.max()) + 1), reveal)


def chain_bound(p: Floats, budget: LocalBudget, delta: float) -> float:
    """A bound by the chain rule: what a mechanism says about a group, and within it, is private by itself.

    Groups are halved until a symbol is left; two symbols are told apart best by revealing or randomized response.
    """
    rounding = len(p) * 2.0**-48
    total, parts = 0.0, [p[np.argsort(-p, kind="stable")]]
    while parts:
        part = parts.pop()
        if len(part) < 2:
            continue
        if len(part) <= MAX_OTHER and len(p) <= MAX_OTHER**2 and budget.epsilon <= MAX_BUDGET:
            mass = float(part.sum())
            worth = partial(information_of, p=part / mass)
            total += mass * best_with_delta(graded(len(part)), budget, delta, worth).upper_bound
            continue
        halves = part[::2], part[1::2]
        masses = np.array([half.sum() for half in halves])
        both = masses / masses.sum()
        entropy = float(-(both * np.log(both)).sum())
        total += float(masses.sum()) * (delta * entropy + (1.0 - delta) * cells_information(both, budget))
        parts += halves
    return total * (1.0 + rounding) + rounding


def information_of(columns: Floats, p: Floats) -> Floats:
    """What columns (a row each) contribute to the mutual information: Σ p·s·ln(s/(p·s))."""
    mean = columns @ p
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(columns > 0, np.log(columns / mean[:, None]), 0.0)
    return np.asarray((columns * logs) @ p)


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


# up to ten symbols: the program over all patterns, and among the mechanisms that are best, one with few outputs.
#
# On the symbols that occur every best mechanism is made of patterns that cost what they are worth
# (docs/proofs/orbits.md). A solver returns some vertex, with at most one output for each symbol; where several
# mechanisms are best, fewer may do. Sets of few such patterns are all tried, as long as they are few themselves;
# beyond, the program is solved again with costs that favour what has much weight already


ALL_PATTERNS = 10  # symbols up to which all patterns are written down
MOST_TRIED = 20_000  # sets of patterns that are tried, a fifth of a second
_TIE = 1e-11  # relative; patterns whose worth is this close to their price may be used
_STARTS, _TURNS = 5, 6
_GOLDEN = 0.6180339887498949  # its multiples are spread evenly between whole numbers
_WHOLE = 1e-12  # how far from 1 rows may be when a set of patterns is tried


def solve_patterns(p: Floats, budget: LocalBudget) -> Generated:
    """The mechanism with the most mutual information for a positive prior on at most ten symbols."""
    raised = patterns(len(p))
    table = columns(raised, budget)
    worths = column_worth(np.minimum(raised @ p, 1.0), budget)
    solved = best_weights(worths, table)
    bound = priced_bound(worths, table, solved.prices)
    used, weights = solved_again(table, used_columns(solved.weights))
    tight = np.flatnonzero(worths - table @ solved.prices >= -_TIE * abs(worths).max(initial=0.0))
    if len(tight) > len(used):
        fewer, others = solved_again(table, tight[_few(table[tight], len(used))])
        whole = abs(others @ table[fewer] - 1.0).max() <= _WHOLE
        if whole and len(fewer) < len(used) and worths[fewer] @ others >= (1.0 - _TIE) * (worths[used] @ weights):
            used, weights = fewer, others
    spread = np.zeros(len(worths))
    spread[used] = weights
    return generated(p, Weights(spread, solved.prices, solved.value), table, budget, bound)


def _few(table: Floats, most: int) -> Integers:
    """A few of these columns that sum to 1 for every symbol with some positive weights; all if fewer are not found."""
    tried = 0
    for count in range(1, most):
        tried += math.comb(len(table), count)
        if tried > MOST_TRIED:
            return _favoured(table)
        found = _first_that_fits(table, count)
        if found is not None:
            return found
    return np.arange(len(table))


def _first_that_fits(table: Floats, count: int) -> Integers | None:
    """The first set of so many columns that fits."""
    sets = combinations(range(len(table)), count)
    while len(batch := np.array(list(islice(sets, 4096)), np.int64)):
        tried = table[batch].transpose(0, 2, 1)
        weights = np.linalg.pinv(tried).sum(axis=2)
        rests = abs((tried @ weights[:, :, None])[:, :, 0] - 1.0).max(axis=1)
        fits = np.flatnonzero((rests <= _WHOLE) & (weights.min(axis=1) > 0.0))
        if len(fits):
            return np.asarray(batch[fits[0]])
    return None


def _favoured(table: Floats) -> Integers:
    """The fewest columns among those that programs with different costs use; a column's cost falls with its weight."""
    best = np.arange(len(table))
    for start in range(_STARTS):
        # costs that differ and are spread evenly, the same ones every time: nothing here may look like chance
        costs: Floats = 0.5 + (np.arange(1, len(table) + 1, dtype=np.float64) * (_GOLDEN + start / _STARTS)) % 1.0
        for _ in range(_TURNS):
            result, _ = minimised(costs, A_eq=table.T, b_eq=np.ones(table.shape[1]))
            weights = np.maximum(result.x, 0.0)
            used = used_columns(weights)
            if len(used) < len(best):
                best = used
            costs = 1.0 / (weights + 1e-3 * weights.max())
    return best


# symbols of equal probability: the program over orbits of patterns, exact for hundreds of symbols in a few classes.
#
# A pattern is worth what its probability says, so only the number of symbols that it raises in each class of equal
# probability counts. The program has a weight for each such orbit and a row for each class (docs/proofs/orbits.md).
# An orbit may hold astronomically many patterns; systematic sampling, the same offset in every class, needs at most k
# of them to raise every symbol as often as all of them do


MAX_ENTRIES = 4_000_000  # orbits × classes, of which all are priced at once: a second or two
MAX_WRITTEN = 500  # symbols up to which a mechanism is written out
_EQUAL = 1e-12  # relative; probabilities this close are one class, and the bound is raised by what that can cost
_FIRST = 200  # orbits that the program begins with, and that a round adds
_ROUNDS = 200
_SURPLUS = 1e-12  # relative; orbits that promise less are left out


@dataclass(frozen=True)
class Classes:
    """Symbols of equal probability: the class of each, and each class's number of symbols and probability of one."""

    of: Integers
    sizes: Integers
    masses: Floats

    @classmethod
    def parse(cls, p: Floats) -> Classes:
        """The classes of a positive prior, from the least probability to the largest."""
        order = np.argsort(p, kind="stable")
        ranked = p[order]
        of = np.empty(len(p), np.int64)
        of[order] = np.cumsum(np.diff(ranked, prepend=ranked[0]) > _EQUAL * ranked)
        sizes = np.bincount(of)
        return cls(of, sizes, np.bincount(of, p) / sizes)

    @property
    def solvable(self) -> bool:
        """Whether some class has several symbols, and all orbits can be written down."""
        few = math.prod(size + 1 for size in self.sizes.tolist()) * len(self.sizes) <= MAX_ENTRIES
        return few and len(self.sizes) < len(self.of)

    def moved(self, p: Floats) -> float:
        """How far the prior is from its classes, in total variation: 0 or rounding where they are truly equal."""
        return 0.5 * math.fsum(abs(p - self.masses[self.of]))


@dataclass(frozen=True)
class Orbits:
    """Orbits of an optimal mechanism (a row each: symbols raised in every class), their weights, and a bound."""

    raised: Integers
    weights: Floats
    upper_bound: float


def best_orbits(p: Floats, classes: Classes, budget: LocalBudget) -> Orbits:
    """Solve the program over all orbits for a positive prior; orbits enter the solver's program when they pay."""
    every = np.indices(tuple((classes.sizes + 1).tolist())).reshape(len(classes.sizes), -1).T[1:]  # not the empty one
    table = budget.low + budget.span * (every / classes.sizes)
    worths = column_worth(np.minimum(every @ classes.masses, 1.0), budget)
    rates = worths / (table @ (classes.sizes * classes.masses))
    used = np.append(np.argsort(-rates, kind="stable")[:_FIRST], len(every) - 1)  # the last raises all: always a start
    for _ in range(_ROUNDS):
        used = np.unique(used)
        solved = best_weights(worths[used], table[used])
        surplus = worths - table @ solved.prices
        best = np.argsort(-surplus, kind="stable")[:_FIRST]
        new = np.setdiff1d(best[surplus[best] > _SURPLUS * solved.value], used)
        if not len(new):
            break
        used = np.concatenate([used, new])
    chosen = np.flatnonzero(solved.weights > 1e-12 * solved.weights.max())
    # information is a minimum of functions linear in the prior, with coefficients up to ε·tanh(ε/2)
    moving = classes.moved(p) * budget.epsilon * math.tanh(budget.epsilon / 2.0)
    bound = priced_bound(worths, table, solved.prices) + moving
    return Orbits(every[used[chosen]], solved.weights[chosen], bound)


def sampled_patterns(orbit: Integers, classes: Classes) -> tuple[NDArray[np.bool_], Floats]:
    """At most k patterns of an orbit, and shares with which they raise the symbols of a class equally often.

    Systematic sampling: lay the n symbols of a class side by side, each as long as its share d/n, and raise those that
    the points t, t + 1, …, t + d − 1 hit. While t runs from 0 to 1 the patterns change at most n times for each class.
    """
    pairs = list(zip(orbit.tolist(), classes.sizes.tolist(), strict=True))
    turns = sorted({Fraction(j * d % n, n) for d, n in pairs for j in range(n // math.gcd(d, n))})
    raised = np.zeros((len(turns), len(classes.of)), bool)
    for number, (d, n) in enumerate(pairs):
        members = np.flatnonzero(classes.of == number)
        for row, turn in enumerate(turns if d else ()):
            points = turn.numerator + np.arange(d) * turn.denominator
            raised[row, members[points * n // (turn.denominator * d)]] = True
    return raised, np.diff([*map(float, turns), 1.0])


def written_out(p: Floats, classes: Classes, orbits: Orbits, budget: LocalBudget) -> Generated:
    """An optimal mechanism with patterns of the orbits, at most one output for each symbol up to rounding."""
    parts = [sampled_patterns(orbit, classes) for orbit in orbits.raised]
    raised = np.concatenate([patterns for patterns, _ in parts])
    shares = np.concatenate([weight * lengths for weight, (_, lengths) in zip(orbits.weights, parts, strict=True)])
    raised, place = np.unique(raised, axis=0, return_inverse=True)
    table = columns(raised, budget)
    worths = column_worth(np.minimum(raised @ p, 1.0), budget)
    plain = Weights(np.bincount(place.ravel(), shares).astype(np.float64), np.zeros(len(p)), 0.0)
    # a vertex of the program over these patterns has at most one output for each symbol
    made = [generated(p, solved, table, budget, orbits.upper_bound) for solved in (best_weights(worths, table), plain)]
    best = max(one.value for one in made)
    return min((one for one in made if one.value >= best * (1.0 - _AS_GOOD)), key=lambda one: one.matrix.shape[1])
