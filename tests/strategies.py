"""Random graphs with two colours, budgets along the edges, boundary-hitting sets and private mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

import naive
import oracles
from tinct import DatasetGraph, EdgePrivacy, GaussianDP, Privacy, TradeOff

COLORS = ("blue", "red")
EPSILONS = (0.0, 0.05, 0.2, 0.5, 1.0, 2.0)
DELTAS = (0.0, 0.0, 0.01, 0.05, 0.2)


@dataclass(frozen=True)
class Case:
    """A graph on 0..n−1 with colour codes and a budget for each edge."""

    n: int
    edges: list[tuple[int, int]]
    codes: list[int]
    epsilons: list[float]
    deltas: list[float]

    @property
    def graph(self) -> DatasetGraph:
        """A new graph of the case; its first output is the colour with code 0."""
        colors = {v: COLORS[code] for v, code in enumerate(self.codes)}
        return DatasetGraph(self.edges, colors, outputs=COLORS, disconnected=True)

    @property
    def privacy(self) -> EdgePrivacy:
        """Budgets as arrays along ``edges``, which is also the order of ``graph.ends``."""
        return EdgePrivacy(self.epsilons, self.deltas)

    @property
    def mapping(self) -> dict[tuple[int, int], Privacy]:
        """Budgets by edge."""
        return {edge: Privacy(*budget) for edge, *budget in zip(self.edges, self.epsilons, self.deltas, strict=True)}

    @property
    def steps(self) -> list[Any]:
        """U of every edge, by definition."""
        return [
            partial(naive.upper, growth=float(np.exp(epsilon)), delta=delta)
            for epsilon, delta in zip(self.epsilons, self.deltas, strict=True)
        ]

    @property
    def budgeted(self) -> tuple[int, list[tuple[int, int]], list[float], list[float]]:
        """What the linear programs need."""
        return self.n, self.edges, self.epsilons, self.deltas

    @property
    def walked(self) -> tuple[int, list[tuple[int, int]], list[Any]]:
        """What the naive twins need."""
        return self.n, self.edges, self.steps


# seeded generators, for tests that count their instances


def random_edges(rng: np.random.Generator, n: int, extra: float = 0.15) -> list[tuple[int, int]]:
    """A random tree and some more edges, in random order and direction."""
    edges = {(int(rng.integers(v)), v) for v in range(1, n)}
    edges |= {(u, v) for v in range(n) for u in range(v) if rng.random() < extra}
    listed = [edge if rng.random() < 0.5 else edge[::-1] for edge in sorted(edges)]
    return [listed[at] for at in rng.permutation(len(listed))]


def random_codes(rng: np.random.Generator, n: int, edges: list[tuple[int, int]]) -> list[int]:
    """Two colours, in patches (so that regions have depth) or at random; both occur if n > 1."""
    codes = rng.integers(0, 2, n)
    if rng.random() < 0.7:
        codes = np.ones(n, int)
        patch = {int(rng.integers(n))}
        for _ in range(int(rng.integers(n))):
            rim = [v for edge in edges for u, v in (edge, edge[::-1]) if u in patch and v not in patch]
            if rim:
                patch.add(int(rng.choice(rim)))
        codes[list(patch)] = 0
    if len(set(codes.tolist())) == 1 and n > 1:
        codes[int(rng.integers(n))] ^= 1
    return codes.tolist()


def random_budgets(rng: np.random.Generator, count: int) -> tuple[list[float], list[float]]:
    """One budget for all edges, a few, or one for each."""
    kind = rng.integers(3)
    if kind == 2:
        deltas = rng.random(count) * 0.1 * (rng.random(count) < 0.5)
        return (rng.random(count) * 2).tolist(), deltas.tolist()
    many = 1 if kind == 0 else 4
    pool = [(float(rng.choice(EPSILONS)), float(rng.choice(DELTAS))) for _ in range(many)]
    chosen = [pool[at] for at in rng.integers(many, size=count)]
    return [epsilon for epsilon, _ in chosen], [delta for _, delta in chosen]


def random_case(rng: np.random.Generator, at_most: int = 12, *, n: int | None = None) -> Case:
    """A connected graph with two colours and budgets."""
    n = int(rng.integers(2, at_most + 1)) if n is None else n
    edges = random_edges(rng, n)
    return Case(n, edges, random_codes(rng, n, edges), *random_budgets(rng, len(edges)))


def random_hitting_set(rng: np.random.Generator, case: Case) -> list[int]:
    """One random end of every boundary edge that is not yet met, and now and then another vertex."""
    chosen = {v for v in range(case.n) if rng.random() < 0.1}
    for u, v in case.edges:
        if case.codes[u] != case.codes[v] and not {u, v} & chosen:
            chosen.add(u if rng.random() < 0.5 else v)
    return sorted(chosen)


def random_private(rng: np.random.Generator, case: Case, slack: float = 1e-4) -> np.ndarray:
    """Pr[first colour] of a private mechanism: a random corner of all of them, or between two, moved towards 1/2.

    The constant 1/2 is private with room to spare, so the move by ``slack`` outweighs the program's own tolerance.
    """
    corners = [oracles.best(*case.budgeted, rng.normal(size=case.n)) for _ in range(2)]
    share = float(rng.choice([0.0, rng.random()]))
    return 0.5 * slack + (1 - slack) * (share * corners[0] + (1 - share) * corners[1])


def random_fixed(rng: np.random.Generator, case: Case) -> dict[int, float]:
    """Values on a hitting set: of a private mechanism, sometimes spoilt, sometimes anything."""
    chosen = random_hitting_set(rng, case)
    if rng.random() < 0.15:
        return {v: float(rng.random()) for v in chosen}
    values = random_private(rng, case)
    if rng.random() < 0.4:
        values = np.clip(values + rng.normal(size=case.n) * 0.2, 0, 1)
    return {v: float(values[v]) for v in chosen}


# Hypothesis strategies, for laws whose counterexamples should shrink

probabilities = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1e-20, 1e-9, 1 - 1e-9, 1 - 2**-53]),
    st.floats(-300, 0).map(lambda power: 10.0**power),
)


@st.composite
def cases(draw: Any, at_most: int = 8) -> Case:
    """A connected graph with any two-colouring and budgets."""
    n = draw(st.integers(2, at_most))
    edges = {(draw(st.integers(0, v - 1)), v) for v in range(1, n)}
    others = [(u, v) for v in range(n) for u in range(v) if (u, v) not in edges]
    edges |= set(draw(st.lists(st.sampled_from(others), unique=True))) if others else set()
    codes = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    listed = sorted(edges)
    budgets = draw(
        st.lists(
            st.tuples(st.sampled_from(EPSILONS), st.sampled_from(DELTAS)), min_size=len(listed), max_size=len(listed)
        )
    )
    return Case(n, listed, codes, [epsilon for epsilon, _ in budgets], [delta for _, delta in budgets])


def laplace_tradeoff(a: Any) -> Any:
    """The trade-off function of Laplace noise of scale 1 on a count."""
    growth = np.e
    return np.where(
        a < 1 / (2 * growth),
        1 - growth * a,
        np.where(a <= 0.5, 1 / (4 * growth * np.maximum(a, 1e-300)), (1 - a) / growth),
    )


def differential_tradeoff(epsilon: float, delta: float) -> Any:
    """The trade-off function of (ε, δ)-DP."""
    growth = float(np.exp(epsilon))
    return lambda a: np.maximum(0.0, np.maximum(1 - delta - growth * a, (1 - delta - a) / growth))


differential = st.builds(
    Privacy,
    st.one_of(st.sampled_from([0, "ln 2", 1e-9, 30]), st.floats(1e-9, 5)),
    st.one_of(st.just(0), st.sampled_from([1e-6, 0.3]), st.floats(0, 0.999)),
)
pairs = st.one_of(
    differential,
    st.builds(GaussianDP, st.one_of(st.just(0), st.floats(1e-6, 5))),
    st.sampled_from(
        [TradeOff(laplace_tradeoff), TradeOff(differential_tradeoff(0.7, 0.05)), TradeOff(lambda a: 1 - a)]
    ),
)
