"""test and sample_size: telling two hypotheses apart from private reports (docs/theory.md §8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError, Way
from tinct.local.divergences import Utility
from tinct.local.mechanisms.base import PlainRandomiser
from tinct.local.parameters import Hypotheses

if TYPE_CHECKING:
    from tinct.local.local_mechanism import LocalMechanism
    from tinct.local.parameters import DistributionLike, Floats, Integers

MAX_ENUMERATED = 200_000  # outcomes that an exact p-value may look at
_TIE = 1e-9


@dataclass(frozen=True)
class TestResult:
    """A likelihood-ratio test of P0 against P1.

    Attributes:
        statistic: The log likelihood ratio, ln Pr[reports | P1] − ln Pr[reports | P0]; large values speak for P1.
        p_value: The probability of such a value or a larger one if P0 is true.
        exact: Whether the p-value is exact, or from the normal approximation.
        favours: ``"p0"`` or ``"p1"``: under which the reports are likelier.
        reports: How many reports there were.
    """

    __test__ = False  # not a test of this library

    statistic: float
    p_value: float
    exact: bool
    favours: str
    reports: int


def testable(mechanism: LocalMechanism) -> PlainRandomiser:
    """The randomiser, if its reports are plain outputs."""
    if not isinstance(mechanism.randomiser, PlainRandomiser):
        raise ParameterError(
            f"{mechanism.name} reports have no plain outputs to test with: collect with ",
            Way("local.optimal", "what tinct local design makes for two hypotheses, --p0 and --p1"),
        )
    return mechanism.randomiser


def result_from(
    mechanism: LocalMechanism,
    seen: Integers,
    p0: DistributionLike | None = None,
    p1: DistributionLike | None = None,
) -> TestResult:
    """The test of P0 against P1 from how often each output was seen; see ``LocalMechanism.test``."""
    first, second = _outputs_under(mechanism, p0, p1)
    people = int(seen.sum())
    if not people:
        raise ParameterError("there are no reports")
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.where((first == 0) & (second == 0), 0.0, np.log(second) - np.log(first))
    statistic = float((seen[seen > 0] * gains[seen > 0]).sum())
    p_value, exact = _tail(first, gains, statistic, people)
    return TestResult(statistic, p_value, exact, "p1" if statistic > 0 else "p0", people)


def reports_needed(
    mechanism: LocalMechanism, error: float, p0: DistributionLike | None = None, p1: DistributionLike | None = None
) -> int:
    """How many reports bring the error of the best test down to ``error``; see ``LocalMechanism.sample_size``."""
    if not 0 < error < 1:
        raise ParameterError.of("error", "a number between 0 and 1", error)
    divergence = Utility.parse("kl").divergence(*_outputs_under(mechanism, p0, p1))
    if not divergence > 0:
        raise ParameterError("the two hypotheses give the same reports: no number of them is enough")
    return max(1, math.ceil(math.log(1 / error) / divergence))


def _outputs_under(
    mechanism: LocalMechanism, p0: DistributionLike | None, p1: DistributionLike | None
) -> tuple[Floats, Floats]:
    """The distributions of a report under the two hypotheses."""
    if (p0 is None) != (p1 is None):
        raise ParameterError("p0 and p1 belong together: give both or neither")
    both = mechanism.hypotheses if p0 is None or p1 is None else Hypotheses.parse(p0, p1, mechanism.symbols)
    if both is None:
        raise ParameterError("this mechanism was not designed for two hypotheses: give p0 and p1")
    return mechanism.channel.push(both.p0), mechanism.channel.push(both.p1)


def _tail(chances: Floats, gains: Floats, statistic: float, people: int) -> tuple[float, bool]:
    """Pr[the sum of gains is at least the statistic] when every report has these chances."""
    used = chances > 0
    chances, gains = chances[used], gains[used]
    if not math.isfinite(statistic):
        return (1.0, True) if statistic < 0 else (0.0, True)
    slack = _TIE * max(1.0, abs(statistic))  # equal values must not be split by rounding
    width = len(chances)
    if math.comb(people + width - 1, width - 1) <= MAX_ENUMERATED and np.isfinite(gains).all():
        return _enumerated(chances, gains, statistic - slack, people), True
    from scipy.special import ndtr

    mean = float(chances @ gains)
    spread = float(chances @ (gains - mean) ** 2)
    if not spread > 0:
        return 1.0, False
    return float(ndtr((people * mean - statistic) / math.sqrt(people * spread))), False


def _enumerated(chances: Floats, gains: Floats, least: float, people: int) -> float:
    """The exact tail: over the counts of all outputs but the last, by multinomial probabilities."""
    from scipy.special import gammaln

    # rows: how many reports have been dealt, what they weigh in logarithms, what they sum to
    dealt, weight, total = np.zeros(1, np.int64), np.zeros(1), np.zeros(1)
    for chance, gain in zip(chances[:-1].tolist(), gains[:-1].tolist(), strict=True):
        left = people - dealt
        repeats = np.repeat(np.arange(len(dealt)), left + 1)
        counts = np.arange(len(repeats)) - np.repeat(np.cumsum(left + 1) - (left + 1), left + 1)
        weight = weight[repeats] + counts * math.log(chance) - gammaln(counts + 1)
        total = total[repeats] + counts * gain
        dealt = dealt[repeats] + counts
    left = people - dealt
    weight = weight + left * math.log(float(chances[-1])) - gammaln(left + 1) + float(gammaln(people + 1))
    total = total + left * float(gains[-1])
    return float(min(1.0, np.exp(weight[total >= least]).sum()))
