"""Symbols of equal probability: the program over orbits of patterns, exact for hundreds of symbols in a few classes.

A pattern is worth what its probability says, so only the number of symbols that it raises in each class of equal
probability counts. The program has a weight for each such orbit and a row for each class (docs/proofs/orbits.md). An
orbit may hold astronomically many patterns; systematic sampling, the same offset in every class, needs at most k of
them to raise every symbol as often as all of them do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tinct.local.column_programs import Weights, best_weights, columns, generated, priced_bound
from tinct.local.information_bounds import column_worth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.local.column_programs import Generated
    from tinct.local.parameters import Floats, Integers, LocalBudget

MAX_ENTRIES = 4_000_000  # orbits × classes, of which all are priced at once: a second or two
MAX_WRITTEN = 500  # symbols up to which a mechanism is written out
_EQUAL = 1e-12  # relative; probabilities this close are one class, and the bound is raised by what that can cost
_FIRST = 200  # orbits that the program begins with, and that a round adds
_ROUNDS = 200
_SURPLUS = 1e-12  # relative; orbits that promise less are left out
_AS_GOOD = 1e-10  # relative; of mechanisms this close the one with fewer outputs is taken


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
