"""estimate: frequencies of the symbols from private reports, with honest intervals (docs/theory.md §8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, Way
from tinct.local.frequency_errors import plain, statements
from tinct.local.mechanisms.base import PlainRandomiser

if TYPE_CHECKING:
    from tinct._files import FilePath
    from tinct.local.local_mechanism import LocalMechanism
    from tinct.local.mechanisms.base import Randomiser
    from tinct.local.parameters import Floats, Integers

MAX_COVARIANCE = 5_000  # symbols; beyond, the matrix would not fit
_ROUNDS = 10_000


@dataclass(frozen=True, eq=False)
class Estimate:
    """Frequencies of the symbols, from ``reports`` reports.

    Attributes:
        symbols: The symbols.
        frequencies: Unbiased estimates; they may be negative and need not sum to 1.
        deviations: Their standard deviations.
        low: Lower ends of intervals that hold all at once with probability ``confidence``.
        high: Upper ends.
        confidence: For all intervals together.
        reports: How many reports there were.
        exact: Whether the intervals hold for every number of reports, or rest on the normal approximation.
    """

    symbols: tuple[Any, ...]
    frequencies: Floats
    deviations: Floats
    low: Floats
    high: Floats
    confidence: float
    reports: int
    exact: bool
    randomiser: Randomiser
    seen: Integers

    @cached_property
    def likeliest(self) -> Floats:
        """Maximum-likelihood frequencies, never negative; a projection where reports are not plain outputs."""
        if isinstance(self.randomiser, PlainRandomiser):
            return maximum_likelihood(self.randomiser, self.randomiser.counts_of(self.seen))
        return project(self.frequencies)

    @cached_property
    def covariance(self) -> Floats:
        """The covariances of the unbiased estimates."""
        if len(self.symbols) > MAX_COVARIANCE:
            raise ParameterError(f"covariances are given for up to {MAX_COVARIANCE:,} symbols: use deviations")
        if not isinstance(self.randomiser, PlainRandomiser):
            raise ParameterError(f"covariances are not known for {self.randomiser.kind} reports: use deviations")
        inverse = np.linalg.pinv(self.randomiser.matrix())
        shares = self.randomiser.counts_of(self.seen) / self.reports
        spread = np.diag(shares) - np.outer(shares, shares)
        return np.asarray(inverse.T @ spread @ inverse / self.reports)

    def top(self, count: int = 10) -> list[tuple[Any, float, float, float]]:
        """The symbols with the largest estimates: (symbol, estimate, low, high); the intervals hold all at once."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ParameterError.of("count", "a whole number of at least 1", count)
        order = np.argsort(-self.frequencies, kind="stable")[:count].tolist()
        columns = (self.frequencies, self.low, self.high)
        return [(self.symbols[at], *(float(column[at]) for column in columns)) for at in order]

    def plot(self, *, top: int = 20, dark: bool = False, path: FilePath | None = None) -> Any:
        """Draw the largest shares with their intervals; needs the ``plot`` extra."""
        from tinct import plots

        return plots.shares(self, top=top, dark=dark, path=path)

    def _repr_html_(self) -> str:
        """The page that notebooks show."""
        from tinct import notebook

        return notebook.of_estimate(self)

    def __repr__(self) -> str:
        return f"<Estimate of {len(self.symbols):,} frequencies from {self.reports:,} reports>"


def estimate_from(mechanism: LocalMechanism, seen: Integers, people: int, confidence: float = 0.95) -> Estimate:
    """Frequencies from what ``support`` counted, which may have been added up over many batches."""
    if not 0 < confidence < 1:
        raise ParameterError.of("confidence", "a number between 0 and 1", confidence)
    if not people:
        raise ParameterError("there are no reports")
    require_estimable(mechanism)
    randomiser = mechanism.randomiser
    fit = _by_support if randomiser.chances is not None else _by_inverse
    frequencies, deviations, low, high = fit(randomiser, seen, people, confidence)
    exact = randomiser.chances is not None
    return Estimate(mechanism.symbols, frequencies, deviations, low, high, confidence, people, exact, randomiser, seen)


def require_estimable(mechanism: LocalMechanism) -> None:
    """Refuse mechanisms whose reports do not determine all frequencies, and name one that works."""
    randomiser = mechanism.randomiser
    k = len(mechanism.symbols)
    if randomiser.chances is not None:
        own, other = randomiser.chances
        if own == other:
            raise ParameterError(f"{mechanism.name} at epsilon = {mechanism.epsilon:.6g} has reports that tell nothing")
        return
    rank = plain(randomiser).rank()
    if rank < k:
        raise ParameterError(
            f"{mechanism.name} has reports of rank {rank}, so the frequencies of {k} symbols cannot be told apart: "
            "collect with ",
            Way(
                f"local.randomized_response({k}, epsilon) or local.subset_selection({k}, epsilon)",
                "what tinct local design --mechanism subset-selection makes, or randomized-response",
            ),
        )


def _by_support(
    randomiser: Randomiser, seen: Integers, people: int, confidence: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Each symbol's support is binomial, so its interval is exact (Clopper and Pearson), for all symbols at once.

    Among people whose answers are fixed, support is a sum of different coins, which spreads less than a binomial.
    """
    from scipy.special import betaincinv

    own, other = (float(chance) for chance in randomiser.chances or (1, 0))
    shares = seen / people
    frequencies = (shares - other) / (own - other)
    deviations = np.sqrt(np.maximum(shares * (1 - shares), 0) / people) / (own - other)
    tail = (1 - confidence) / 2 / statements(randomiser)
    each, place = np.unique(seen, return_inverse=True)  # many symbols, few different counts
    low = np.where(each > 0, betaincinv(np.maximum(each, 1), people - each + 1, tail), 0.0)
    high = np.where(each < people, betaincinv(each + 1, np.maximum(people - each, 1), 1 - tail), 1.0)
    ends = [np.clip((end - other) / (own - other), 0.0, 1.0)[place] for end in (low, high)]
    return frequencies, deviations, ends[0], ends[1]


def _by_inverse(
    randomiser: Randomiser, seen: Integers, people: int, confidence: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """The pseudo-inverse of the table, with normal intervals for all symbols at once (Bonferroni)."""
    from scipy.special import ndtri

    inverse = np.linalg.pinv(plain(randomiser).matrix())
    shares = seen / people
    frequencies = shares @ inverse
    spread = np.maximum(shares @ inverse**2 - frequencies**2, 0) / people
    deviations = np.sqrt(spread)
    reach = float(ndtri(1 - (1 - confidence) / 2 / len(frequencies))) * deviations
    return frequencies, deviations, np.clip(frequencies - reach, 0, 1), np.clip(frequencies + reach, 0, 1)


def maximum_likelihood(randomiser: PlainRandomiser, seen: Integers) -> Floats:
    """The frequencies under which these outputs are likeliest, by expectation and maximisation.

    If every symbol has an output of its own (randomized response), they are c·seen − b where that is positive, with b
    the ratio of the other units to the own ones' surplus, and c such that they sum to 1.
    """
    if randomiser.chances is not None:
        own, other = (float(chance) for chance in randomiser.chances)
        falling = np.sort(seen)[::-1]
        counts = np.arange(1, len(seen) + 1)
        least = other / (own - other)
        scale = (1.0 + least * counts) / np.maximum(np.cumsum(falling), 1)
        kept = np.flatnonzero(scale * falling > least)[-1]
        return np.asarray(np.maximum(scale[kept] * seen - least, 0.0))
    guess = np.full(randomiser.size, 1.0 / randomiser.size)
    shares = seen / seen.sum()
    for _ in range(_ROUNDS):
        outputs = randomiser.push(guess)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where(shares > 0, shares / outputs, 0.0)
        following = guess * randomiser.pull(weights)
        if np.abs(following - guess).max() < 1e-12:
            break
        guess = following
    return np.asarray(guess / guess.sum())


def project(values: Floats) -> Floats:
    """The nearest distribution (Held, Wolfe and Crowder 1974).

    >>> project(np.array([0.9, 0.4, -0.3]))
    array([0.75, 0.25, 0.  ])
    """
    falling = np.sort(values)[::-1]
    level = (np.cumsum(falling) - 1.0) / np.arange(1, len(values) + 1)
    return np.asarray(np.maximum(values - level[np.flatnonzero(falling > level)[-1]], 0.0))
