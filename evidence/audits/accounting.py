"""The part ``accounting``: least ε, least δ and profiles of random tables against Google's dp_accounting.

dp_accounting rounds privacy losses to a grid, once to the unfavourable and once to the favourable side. What ``verify``
says must lie between the two, up to ``SLACK`` for rounding in floating point.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evidence import results
from tinct import DatasetGraph, Privacy, verify

PART = "accounting"
TABLES = 1_000
STEP = 1e-4  # of dp_accounting's grid of losses: how far its two answers are apart
SLACK = 1e-10
EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0)
DELTAS = (0.0, 1e-4, 0.01, 0.1)


def run(tables: int = TABLES) -> dict[str, Any]:
    """Compare random tables on one edge, in both directions."""
    found = compare(tables, seed=1)
    print(f"{found['tables']:,} tables, {found['comparisons']:,} comparisons, {found['outside']} outside the bounds")
    return results.save(PART, passed=found["outside"] == 0, **found)


def compare(tables: int, seed: int) -> dict[str, Any]:
    """How many numbers were compared, and how many of them lay outside dp_accounting's bounds."""
    rng = np.random.default_rng(seed)
    comparisons = outside = 0
    widest = 0.0
    for _ in range(tables):
        table = _random_table(rng)
        below, above = (_bounds(table, pessimistic=side) for side in (False, True))
        for low, found, high in zip(below, _verified(table), above, strict=True):
            comparisons += 1
            widest = max(widest, high - low if math.isfinite(high) else 0.0)
            outside += not low - SLACK <= found <= high + SLACK
    return {
        "tables": tables, "comparisons": comparisons, "outside": outside, "step": STEP, "slack": SLACK,
        "widest": widest,
    }  # fmt: skip


def _random_table(rng: np.random.Generator) -> Any:
    """Two rows of 2 to 6 answers: near to each other or far apart, now and then with a zero."""
    width = int(rng.integers(2, 7))
    first = rng.dirichlet(np.full(width, rng.choice([0.3, 1.0, 5.0])))
    second = first * np.exp(rng.normal(0, rng.choice([0.05, 0.5, 2.0]), width))
    if rng.random() < 0.2:
        (first, second)[int(rng.integers(2))][int(rng.integers(width))] = 0.0
    return np.array([first / first.sum(), second / second.sum()])


def _verified(table: Any) -> list[float]:
    """What verify says: the profile, the least δ for each ε, the least ε for each δ."""
    answers = [f"answer {at}" for at in range(table.shape[1])]
    edge = DatasetGraph([(0, 1)], {0: answers[0], 1: answers[1]}, outputs=answers)
    profile = verify(table, edge, Privacy(0)).profile(EPSILONS).tolist()
    deltas = [verify(table, edge, Privacy(epsilon)).delta for epsilon in EPSILONS]
    return [*profile, *deltas, *(verify(table, edge, Privacy(0, delta)).epsilon for delta in DELTAS)]


def _bounds(table: Any, *, pessimistic: bool) -> list[float]:
    """What dp_accounting says about the same, from one side."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    logs = [{at: math.log(p) for at, p in enumerate(row) if p > 0} for row in table.tolist()]
    made = pld.from_two_probability_mass_functions(
        logs[0], logs[1], pessimistic_estimate=pessimistic, value_discretization_interval=STEP, symmetric=False
    )
    profile = [float(made.get_delta_for_epsilon(epsilon)) for epsilon in EPSILONS]
    return [*profile, *profile, *(float(made.get_epsilon_for_delta(delta)) for delta in DELTAS)]
