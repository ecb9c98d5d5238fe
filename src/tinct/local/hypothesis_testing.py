"""test and sample_size: telling two hypotheses apart from private reports (docs/theory.md §8)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, Way
from tinct.local.frequency_errors import least
from tinct.local.mechanisms.base import PlainRandomiser
from tinct.local.parameters import Hypotheses

if TYPE_CHECKING:
    from tinct._files import FilePath
    from tinct.local.local_mechanism import LocalMechanism
    from tinct.local.parameters import DistributionLike, Floats, Integers

MAX_ENUMERATED = 200_000  # outcomes that an exact p-value may look at
_TIE = 1e-9
_DIGITS = 12  # outputs whose gains agree so far are counted together
_GRID = 1 << 16  # places for sums that are too many to enumerate
_DEVIATIONS = 12.0  # on each side of the mean; what lies beyond has no chance in doubles


@dataclass(frozen=True)
class TestResult:
    """A likelihood-ratio test of P0 against P1.

    Attributes:
        statistic: The log likelihood ratio, ln Pr[reports | P1] − ln Pr[reports | P0]; large values speak for P1.
        p_value: The probability of such a value or a larger one if P0 is true.
        exact: Whether the p-value is exact, or from the normal approximation.
        favours: ``"p0"`` or ``"p1"``: under which the reports are likelier.
        reports: How many reports there were.
        outputs: The distributions of a report under P0 and under P1.
    """

    __test__ = False  # not a test of this library

    statistic: float
    p_value: float
    exact: bool
    favours: str
    reports: int
    outputs: tuple[Floats, Floats] = field(repr=False, compare=False)

    def plot(self, *, dark: bool = False, path: FilePath | None = None) -> Any:
        """Draw both errors against the threshold, and what was observed; needs the ``plot`` extra."""
        from tinct import plots

        return plots.errors_of_test(self, dark=dark, path=path)


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
    if np.isinf(gains[seen > 0]).any() and np.ptp(np.sign(gains[(seen > 0) & np.isinf(gains)])) > 0:
        raise ParameterError("some of these reports are impossible under P0 and others under P1: neither is true")
    statistic = float((seen[seen > 0] * gains[seen > 0]).sum())
    p_value, exact = _tail(first, gains, statistic, people)
    return TestResult(statistic, p_value, exact, "p1" if statistic > 0 else "p0", people, (first, second))


def reports_needed(
    mechanism: LocalMechanism,
    error: float,
    level: float | None = None,
    p0: DistributionLike | None = None,
    p1: DistributionLike | None = None,
) -> int:
    """The least number of reports with which the test errs within its bounds; see ``LocalMechanism.sample_size``."""
    level = _level(error if level is None else level)
    if not 0 < error < 1:
        raise ParameterError.of("error", "a number between 0 and 1", error)
    first, second = _outputs_under(mechanism, p0, p1)
    if not abs(first - second).max() > 0:
        raise ParameterError("the two hypotheses give the same reports: no number of them is enough")
    # with a coin for ties more reports never hurt; without one, counts being whole, the least number may lie later
    people = least(lambda n: _second_error(first, second, n, level, coin=True) <= error, f"an error of {error:g}")
    while _few(first, second, people) and not _second_error(first, second, people, level) <= error:
        people += 1
    return people


def error_of_test(
    mechanism: LocalMechanism,
    people: int,
    level: float | None = None,
    p0: DistributionLike | None = None,
    p1: DistributionLike | None = None,
) -> float:
    """The error of the second kind at a level; without one, the least bound on both kinds."""
    first, second = _outputs_under(mechanism, p0, p1)
    if level is not None:
        return _second_error(first, second, people, _level(level), coin=not _few(first, second, people))
    _, above, below = errors_by_threshold(first, second, people)
    return float(np.maximum(above, below).min())


def _level(level: float) -> float:
    if not 0 < level < 1:
        raise ParameterError.of("level", "a number between 0 and 1", level)
    return level


def _second_error(first: Floats, second: Floats, people: int, level: float, *, coin: bool = False) -> float:
    """The chance to miss P1 with the best threshold of this level; ``coin`` uses up the level by deciding a tie."""
    _, above, below = errors_by_threshold(first, second, people)
    at = int(np.flatnonzero(above <= level)[0])  # above falls, below grows; the last place rejects nothing
    if not coin or at == 0 or above[at - 1] <= above[at]:
        return float(below[at])
    part = (level - above[at]) / (above[at - 1] - above[at])
    return float(below[at] - part * (below[at] - below[at - 1]))


def errors_by_threshold(first: Floats, second: Floats, people: int) -> tuple[Floats, Floats, Floats]:
    """Every threshold, from the lowest sum on to above all, with Pr[at least it | P0] and Pr[less | P1]."""
    totals, under_first, under_second = _sums(first, second, people)
    ends = np.flatnonzero(np.diff(totals) > _TIE * np.maximum(1.0, abs(totals[1:]))) + 1
    starts = np.concatenate([[0], ends])
    one, two = np.add.reduceat(under_first, starts), np.add.reduceat(under_second, starts)
    above = np.append(np.cumsum(one[::-1])[::-1], 0.0)
    return np.append(totals[starts], np.nextafter(totals[-1], np.inf)), above, np.append(0.0, np.cumsum(two))


def _sums(first: Floats, second: Floats, people: int) -> tuple[Floats, Floats, Floats]:
    """All sums of finite gains, rising, with their chances under both hypotheses.

    What is missing to 1 is certain: an output that only P1 can give decides for it, and the other way round. Sums are
    enumerated while they are few; beyond, they are rounded to a fine grid, which keeps their mean, and convolved.
    """
    both = (first > 0) & (second > 0)
    first, second = first[both], second[both]
    gains = np.log(second) - np.log(first)
    if not len(gains):
        return np.zeros(1), np.zeros(1), np.zeros(1)
    kinds, kind = np.unique(gains.round(_DIGITS), return_inverse=True)
    one, two = (np.bincount(kind, chances).astype(np.float64) for chances in (first, second))
    if _outcomes(people, len(kinds)) <= MAX_ENUMERATED:
        dealt, totals = _dealt(kinds, people)
        weights = (np.exp(_log_multinomial(dealt, people) + dealt @ np.log(chances)) for chances in (one, two))
        under_first, under_second = weights
    else:
        totals, under_first, under_second = _convolved(kinds, one, two, people)
    order = np.argsort(totals, kind="stable")
    return totals[order], under_first[order], under_second[order]


def _outcomes(people: int, kinds: int) -> int:
    return math.comb(people + kinds - 1, max(kinds - 1, 0))


def _few(first: Floats, second: Floats, people: int) -> bool:
    """Whether sums are enumerated, so that counts being whole can be felt."""
    both = (first > 0) & (second > 0)
    kinds = len(np.unique((np.log(second[both]) - np.log(first[both])).round(_DIGITS)))
    return _outcomes(people, kinds) <= MAX_ENUMERATED


def _log_multinomial(dealt: Integers, people: int) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(people + 1) - gammaln(dealt + 1).sum(axis=1))


def _dealt(gains: Floats, people: int) -> tuple[Integers, Floats]:
    """Every way to deal the reports to the outputs, a row each, and what it sums to."""
    rows = np.zeros((1, 0), np.int64)
    for _ in gains[:-1]:
        left = people - rows.sum(axis=1)
        counts = np.concatenate([np.arange(most + 1) for most in left.tolist()])
        rows = np.column_stack([np.repeat(rows, left + 1, axis=0), counts])
    rows = np.column_stack([rows, people - rows.sum(axis=1)])
    return rows, rows @ gains


def _convolved(gains: Floats, one: Floats, two: Floats, people: int) -> tuple[Floats, Floats, Floats]:
    """The sums on a grid around their means, by the power of a Fourier transform."""
    means = [float(chances @ gains) for chances in (one, two)]
    widest = max(float(chances @ (gains - mean) ** 2) for chances, mean in zip((one, two), means, strict=True))
    centre = sum(means) / 2
    reach = _DEVIATIONS * math.sqrt(people * widest) + people * abs(means[1] - means[0]) / 2
    step = 2 * reach / _GRID
    place = (gains - centre) / step
    lower = np.floor(place)
    weights: list[Floats] = []
    for chances in (one, two):
        single = np.bincount(lower.astype(np.int64) % _GRID, chances * (1 - (place - lower)), _GRID)
        single += np.bincount((lower.astype(np.int64) + 1) % _GRID, chances * (place - lower), _GRID)
        power = np.fft.irfft(np.fft.rfft(single) ** people, _GRID)
        weights.append(np.maximum(np.roll(power, _GRID // 2), 0.0))
    totals = np.asarray((np.arange(_GRID) - _GRID // 2) * step + people * centre, np.float64)
    return totals, weights[0], weights[1]


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
    used = (chances > 0) & (gains > -math.inf)  # with an output that only P0 gives, the sum is at least nothing
    chances, gains = chances[used], gains[used]
    if not math.isfinite(statistic):
        return (1.0, True) if statistic < 0 else (0.0, True)
    slack = _TIE * max(1.0, abs(statistic))  # equal values must not be split by rounding
    width = len(chances)
    if math.comb(people + width - 1, width - 1) <= MAX_ENUMERATED:
        return _enumerated(chances, gains, statistic - slack, people), True
    from scipy.special import ndtr

    mass = float(chances.sum())
    mean = float(chances @ gains) / mass
    spread = float(chances @ (gains - mean) ** 2) / mass
    if not spread > 0:
        return 1.0, False
    return mass**people * float(ndtr((people * mean - statistic) / math.sqrt(people * spread))), False


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
