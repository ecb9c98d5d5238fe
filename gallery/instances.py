"""Random instances for the figures on local privacy, each computed once. Seeds are fixed: the gallery never changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tinct import local

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

T = TypeVar("T")

SEED = 2016
MECHANISMS = ("optimal", "binary", "randomized response", "geometric")
PAIRS = {3: 60, 4: 60, 6: 100, 12: 60}  # instances by the number of symbols
PRIORS = {3: 60, 4: 60, 6: 100, 12: 12}
BUDGETS = {3: 17, 4: 17, 6: 21, 12: 17}
PRIOR_BUDGETS = {3: 17, 4: 17, 6: 21, 12: 11}
LOWEST, HIGHEST = 0.1, 10.0


@dataclass(frozen=True)
class Shares:
    """Utilities of instances (rows) at budgets (columns) for each mechanism, and the utility without privacy."""

    epsilons: Floats
    values: dict[str, Floats]
    whole: Floats

    def kept(self, name: str) -> Floats:
        """The share of the utility without privacy that a mechanism keeps."""
        return np.asarray(self.values[name] / self.whole[:, None])

    def of_optimum(self, name: str) -> Floats:
        """The share of the optimum."""
        return np.asarray(self.values[name] / self.values["optimal"])

    def better(self) -> Floats:
        """The share of the optimum that the better of the two simple mechanisms has."""
        return np.maximum(self.of_optimum("binary"), self.of_optimum("randomized response"))


def pairs(k: int) -> list[tuple[Floats, Floats]]:
    """Pairs of distributions, uniform on the simplex."""
    random = np.random.default_rng([SEED, k])
    return [(random.dirichlet(np.ones(k)), random.dirichlet(np.ones(k))) for _ in range(PAIRS[k])]


def priors(k: int) -> list[Floats]:
    """Distributions, uniform on the simplex."""
    random = np.random.default_rng([SEED, k, 1])
    return [random.dirichlet(np.ones(k)) for _ in range(PRIORS[k])]


def budgets(count: int) -> Floats:
    """Budgets from 0.1 to 10, closer together where they are small and more happens."""
    return np.asarray(LOWEST + (HIGHEST - LOWEST) * np.linspace(0.0, 1.0, count) ** 1.5)


@cache
def divergence_shares(k: int) -> Shares:
    """KL divergence of every mechanism for random pairs on k symbols."""
    epsilons = budgets(BUDGETS[k])
    response = [local.randomized_response(k, epsilon) for epsilon in epsilons.tolist()]
    geometric = [local.geometric(k, epsilon) for epsilon in epsilons.tolist()]
    found: dict[str, list[list[float]]] = {name: [] for name in MECHANISMS}
    for p0, p1 in counted(pairs(k), f"divergence, {k} symbols"):
        found["optimal"].append([local.optimal(p0, p1, epsilon).value or 0.0 for epsilon in epsilons.tolist()])
        found["binary"].append([local.binary(p0, p1, epsilon).value or 0.0 for epsilon in epsilons.tolist()])
        found["randomized response"].append([one.divergence(p0, p1) for one in response])
        found["geometric"].append([one.divergence(p0, p1) for one in geometric])
    whole = np.array([local.divergence(p0, p1) for p0, p1 in pairs(k)])
    return Shares(epsilons, {name: np.array(rows) for name, rows in found.items()}, whole)


@cache
def information_shares(k: int) -> Shares:
    """Mutual information of every mechanism for random priors on k symbols."""
    epsilons = budgets(PRIOR_BUDGETS[k])
    response = [local.randomized_response(k, epsilon) for epsilon in epsilons.tolist()]
    geometric = [local.geometric(k, epsilon) for epsilon in epsilons.tolist()]
    found: dict[str, list[list[float]]] = {name: [] for name in MECHANISMS}
    for prior in counted(priors(k), f"information, {k} symbols"):
        found["optimal"].append(
            [local.mutual_information(prior, epsilon).value or 0.0 for epsilon in epsilons.tolist()]
        )
        found["binary"].append([local.binary_information(prior, epsilon).value or 0.0 for epsilon in epsilons.tolist()])
        found["randomized response"].append([one.information(prior) for one in response])
        found["geometric"].append([one.information(prior) for one in geometric])
    whole = np.array([entropy(prior) for prior in priors(k)])
    return Shares(epsilons, {name: np.array(rows) for name, rows in found.items()}, whole)


@cache
def divergences_at(epsilon: float) -> dict[str, Floats]:
    """Divergences of the pairs on six symbols at one budget, and what they are drawn against."""
    geometric, response = local.geometric(6, epsilon), local.randomized_response(6, epsilon)
    both = pairs(6)
    distance = np.array([0.5 * np.abs(p0 - p1).sum() for p0, p1 in both])
    return {
        "x": distance if epsilon < 1 else np.array([local.divergence(p0, p1) for p0, p1 in both]),
        "binary": np.array([local.binary(p0, p1, epsilon).value for p0, p1 in both]),
        "randomized response": np.array([response.divergence(p0, p1) for p0, p1 in both]),
        "geometric": np.array([geometric.divergence(p0, p1) for p0, p1 in both]),
    }


@cache
def informations_at(epsilon: float) -> dict[str, Floats]:
    """The mutual information for the priors on six symbols at one budget, and what it is drawn against."""
    geometric, response = local.geometric(6, epsilon), local.randomized_response(6, epsilon)
    halves = [local.binary_information(prior, epsilon) for prior in priors(6)]
    inside = np.array([sum(prior[list(half.cells[0])]) for prior, half in zip(priors(6), halves, strict=True)])  # type: ignore[index] # it has cells
    return {
        "x": inside * (1 - inside) if epsilon < 1 else np.array([entropy(prior) for prior in priors(6)]),
        "binary": np.array([half.value for half in halves]),
        "randomized response": np.array([response.information(prior) for prior in priors(6)]),
        "geometric": np.array([geometric.information(prior) for prior in priors(6)]),
    }


def entropy(prior: Floats) -> float:
    """The entropy in nats."""
    return float(-(prior[prior > 0] * np.log(prior[prior > 0])).sum())


def counted(items: list[T], what: str) -> Iterator[T]:
    """The items, with a line of progress for every quarter of them."""
    for at, item in enumerate(items):
        if at % max(1, len(items) // 4) == 0:
            print(f"    {what}: {at} of {len(items)}", flush=True)
        yield item
