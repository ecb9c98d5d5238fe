"""Mechanisms with a name: the extremal ones, and what people use today to compare with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinct.local.channels import (
    CellChannel,
    HadamardChannel,
    HashChannel,
    SubsetChannel,
    TableChannel,
    UnaryChannel,
)
from tinct.local.information import best_size
from tinct.local.inputs import MAX_SYMBOLS, Hypotheses, LocalBudget, named_symbols, share, whole
from tinct.local.mechanism import LocalMechanism
from tinct.local.utilities import Utility

_BASELINE = "nothing in the exact sense; a baseline for estimating frequencies"


def binary(p0: Any, p1: Any, epsilon: Any, utility: Any = "kl", *, symbols: Any = None) -> LocalMechanism:
    """Whether P0 makes the symbol at least as likely as P1 does, by randomized response: the paper's binary mechanism.

    Output 0 stands for P0 < P1, output 1 for P0 ≥ P1.

    >>> mechanism = binary([0.1, 0.2, 0.7], [0.4, 0.3, 0.3], "ln 3", "tv")
    >>> mechanism.cells, round(mechanism.value, 9)
    (((0, 1), (2,)), 0.2)
    """
    hypotheses = Hypotheses.parse(p0, p1, symbols)
    budget = LocalBudget.parse(epsilon)
    chosen = Utility.parse(utility)
    chosen.require_convex(budget.epsilon)
    channel = CellChannel(len(hypotheses.p0), budget.growth, (hypotheses.p0 >= hypotheses.p1).astype(np.int64), 2)
    return LocalMechanism(
        name="binary",
        budget=budget,
        channel=channel,
        symbols=hypotheses.symbols,
        note="total variation at every ε, and every f-divergence for small enough ε (see regimes); never less than "
        "1/(2(e^ε + 1)²) of the optimal KL divergence",
        utility=chosen.name if chosen.function is None else chosen,
        value=chosen.divergence(channel.push(hypotheses.p0), channel.push(hypotheses.p1)),
        hypotheses=hypotheses,
    )


def randomized_response(k: int, epsilon: Any, *, symbols: Any = None) -> LocalMechanism:
    """The symbol itself with probability e^ε/(e^ε + k − 1), else one of the others.

    >>> randomized_response(3, "ln 2").row(0)
    array([0.5 , 0.25, 0.25])
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    return LocalMechanism(
        name="randomized response",
        budget=budget,
        channel=CellChannel(k, budget.growth, np.arange(k), k),
        symbols=named_symbols(symbols, k),
        note="KL divergence between any two hypotheses with distinct ratios, and mutual information for any prior, for "
        "large enough ε (see regimes)",
    )


def geometric(k: int, epsilon: Any, *, symbols: Any = None) -> LocalMechanism:
    """The number of the symbol plus two-sided geometric noise of ratio e^(−ε/(k − 1)), truncated to 1..k.

    >>> geometric(2, "ln 3").matrix.round(9).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    k = whole(k, "k", 2, 5_000)
    budget = LocalBudget.parse(epsilon)
    step = budget.epsilon / (k - 1)
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    # inside (1 − q)/(1 + q)·q^|y − x|, at the ends the whole tail q^|y − x|/(1 + q); −expm1 keeps 1 − q exact
    table = np.exp(-step * distance) / (1.0 + math.exp(-step))
    table[:, 1:-1] *= -math.expm1(-step)
    return LocalMechanism(
        name="geometric",
        budget=budget,
        channel=TableChannel(k, table),
        symbols=named_symbols(symbols, k),
        note="nothing here; it adds noise to a number, which serves distances between symbols rather than information",
    )


def subset_selection(k: int, epsilon: Any, *, size: int | None = None, symbols: Any = None) -> LocalMechanism:
    """A random subset of fixed size, e^ε times as likely if it holds the symbol.

    Args:
        k: The number of symbols.
        epsilon: The budget.
        size: The size of the subsets; if left out, the one with the most mutual information under a uniform prior.
        symbols: Names for the symbols.

    >>> subset_selection(4, 1).channel.members, subset_selection(1_000_000, 1).channel.members
    (1, 338697)
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    members = best_size(k, budget) if size is None else whole(size, "size", 1, k - 1)
    best = members == best_size(k, budget)
    return LocalMechanism(
        name="subset selection",
        budget=budget,
        channel=SubsetChannel(k, budget.growth, members),
        symbols=named_symbols(symbols, k),
        note="mutual information under a uniform prior, at every ε" if best else _BASELINE,
    )


def quaternary(epsilon: Any, delta: Any, *, symbols: Any = None) -> LocalMechanism:
    """Two symbols under (ε, δ)-privacy: the truth with probability δ, else randomized response; four outputs.

    Outputs 0 and 1 are certain, 2 and 3 are not: output 2 is likelier for the second symbol, 3 for the first.

    >>> quaternary("ln 3", 0.5).matrix.round(9).tolist()
    [[0.5, 0.0, 0.125, 0.375], [0.0, 0.5, 0.375, 0.125]]
    """
    budget = LocalBudget.parse(epsilon)
    exact_delta = share(delta, "delta")
    reveal = float(exact_delta)
    low = (1.0 - reveal) / (1.0 + budget.growth)
    high = budget.growth * low
    table = np.array([[reveal, 0.0, low, high], [0.0, reveal, high, low]])
    return LocalMechanism(
        name="quaternary",
        budget=budget,
        channel=TableChannel(2, table),
        symbols=named_symbols(symbols, 2),
        note="every utility that processing cannot raise, for two symbols under (ε, δ)-privacy; larger alphabets with "
        "δ > 0 are open",
        exact_delta=exact_delta,
    )


def unary_encoding(k: int, epsilon: Any, *, symbols: Any = None) -> LocalMechanism:
    """Optimised unary encoding (Wang et al. 2017): a bit for each symbol, the own one kept with 1/2.

    >>> unary_encoding(3, "ln 3").channel.pure
    (0.5, 0.25)
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    return LocalMechanism(
        name="unary encoding",
        budget=budget,
        channel=UnaryChannel(k, 0.5, budget.low / (1.0 + budget.low)),
        symbols=named_symbols(symbols, k),
        note=f"{_BASELINE} (least variance of rare symbols among unary encodings)",
    )


def local_hashing(k: int, epsilon: Any, *, buckets: int | None = None, symbols: Any = None) -> LocalMechanism:
    """Optimised local hashing (Wang et al. 2017): a public random hash, and randomized response on its value.

    Args:
        k: The number of symbols.
        epsilon: The budget.
        buckets: How many values the hash has; if left out, e^ε + 1 rounded, at most k.
        symbols: Names for the symbols.

    >>> local_hashing(100, "ln 3").channel.describe()
    {'kind': 'hash', 'size': 100, 'prime': 101, 'buckets': 4}
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    usual = k if budget.growth + 1.0 >= k else round(budget.growth) + 1
    values = max(2, usual) if buckets is None else whole(buckets, "buckets", 2, k)
    return LocalMechanism(
        name="local hashing",
        budget=budget,
        channel=HashChannel(k, budget.growth, _prime_from(k), values),
        symbols=named_symbols(symbols, k),
        note=f"{_BASELINE} (as unary encoding, with short reports)",
    )


def hadamard_response(k: int, epsilon: Any, *, symbols: Any = None) -> LocalMechanism:
    """Hadamard response (Acharya, Sun, Zhang 2019): a place where the symbol's row of a Hadamard matrix has +1, mostly.

    >>> hadamard_response(3, "ln 3").matrix.round(9).tolist()
    [[0.375, 0.125, 0.375, 0.125], [0.375, 0.375, 0.125, 0.125], [0.375, 0.125, 0.125, 0.375]]
    """
    k = whole(k, "k", 2, MAX_SYMBOLS)
    budget = LocalBudget.parse(epsilon)
    return LocalMechanism(
        name="Hadamard response",
        budget=budget,
        channel=HadamardChannel(k, budget.growth, 1 << k.bit_length()),
        symbols=named_symbols(symbols, k),
        note=f"{_BASELINE} (right order of the error for small ε, quick to decode)",
    )


def _prime_from(k: int) -> int:
    """The least prime from k on."""
    number = max(k, 2)
    while any(number % factor == 0 for factor in range(2, math.isqrt(number) + 1)):
        number += 1
    return number
