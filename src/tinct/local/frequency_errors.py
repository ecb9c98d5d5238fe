"""How exact frequencies will be, before anything is collected: variances, half-widths and people (docs/theory.md §8.3).

People are a sample: a symbol of share f is supported by a binomial number of reports, each with chance
s = b + f·(a − b), so n times the variance of its estimate is s(1 − s)/(a − b)².
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinct.errors import ParameterError
from tinct.local.mechanisms.base import PlainRandomiser

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.local.mechanisms.base import Randomiser
    from tinct.local.parameters import Floats

MOST_PEOPLE = 10**15
_LOOKED_AT = 129  # supports, of which the widest interval decides
_NORMAL = 10**7  # reports; beyond, exact intervals and normal ones agree in four digits


def plain(randomiser: Randomiser) -> PlainRandomiser:
    """The randomiser, if its reports are plain outputs."""
    if not isinstance(randomiser, PlainRandomiser):
        raise ParameterError(f"{randomiser.kind} reports have no table")
    return randomiser


def statements(randomiser: Randomiser) -> int:
    """How many intervals have to hold at once: one for each symbol; two symbols whose supports add up are one share."""
    chances = randomiser.chances
    return 1 if randomiser.size == 2 and chances is not None and sum(chances) == 1 else randomiser.size


def pure_spread(own: Floats, other: Floats, shares: Floats | None) -> Floats:
    """The largest variance times the reports for arrays of chances: where a share's support is nearest 1/2."""
    if shares is None:
        middle = np.clip(0.5, np.minimum(own, other), np.maximum(own, other))
    else:
        ranked = np.unique(shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.searchsorted(ranked, np.nan_to_num((0.5 - other) / (own - other)))
        one, two = (other + ranked[np.clip(at + step, 0, len(ranked) - 1)] * (own - other) for step in (-1, 0))
        middle = np.where(abs(one - 0.5) <= abs(two - 0.5), one, two)
    return per_square(middle * (1 - middle), own, other)


def per_square(variance: Floats, own: Floats, other: Floats) -> Floats:
    """A variance of support as one of frequencies; infinite where reports tell nothing."""
    square = (own - other) ** 2
    return np.divide(variance, square, out=np.full_like(square, np.inf), where=square > 0)


def spread(randomiser: Randomiser, shares: Floats | None = None) -> float:
    """The largest variance of an estimate, times the reports: at these shares, or at the worst there can be."""
    if randomiser.chances is not None:
        own, other = (np.array([float(chance)]) for chance in randomiser.chances)
        return float(pure_spread(own, other, shares)[0])
    squares = table_squares(plain(randomiser).matrix())
    if shares is not None:
        return float((shares @ squares - shares**2).max())
    # x has the share t and the worst other symbol the rest: t·A + (1 − t)·B − t², which is concave in t
    mine = squares.diagonal()
    others = np.where(np.eye(len(squares), dtype=bool), 0.0, squares).max(axis=0)
    t = np.clip((mine - others) / 2, 0.0, 1.0)
    return float((t * mine + (1 - t) * others - t**2).max())


def table_squares(matrix: Floats) -> Floats:
    """For every true symbol the mean square of what one report adds to each estimate."""
    return np.asarray(matrix @ np.linalg.pinv(matrix) ** 2)


def half_width(randomiser: Randomiser, people: int, shares: Floats | None, confidence: float, joint: bool) -> float:
    """The reach of the widest interval that ``estimate`` gives when supports are as expected."""
    from scipy.special import betaincinv, ndtri

    if not 0 < confidence < 1:
        raise ParameterError.of("confidence", "a number between 0 and 1", confidence)
    tail = (1 - confidence) / 2 / (statements(randomiser) if joint else 1)
    if randomiser.chances is None or people > _NORMAL:
        return float(-ndtri(tail)) * math.sqrt(spread(randomiser, shares) / people)
    own, other = (float(chance) for chance in randomiser.chances)
    # the longest arm is near a support of 1/2, but not at it: exact intervals are skewed
    support = other + (np.linspace(0.0, 1.0, _LOOKED_AT) if shares is None else np.unique(shares)) * (own - other)
    if shares is None:
        support = np.append(support, min(max(0.5, min(own, other)), max(own, other)))
    support = support[np.argsort(abs(support - 0.5))[:_LOOKED_AT]]
    seen = support * people
    low = np.where(seen > 0, betaincinv(np.maximum(seen, 1e-300), people - seen + 1, tail), 0.0)
    high = np.where(seen < people, betaincinv(seen + 1, np.maximum(people - seen, 1e-300), 1 - tail), 1.0)
    return float(np.maximum(high - support, support - low).max()) / abs(own - other)


def reports_for_width(
    randomiser: Randomiser, error: float, shares: Floats | None, confidence: float, joint: bool
) -> int:
    """The least number of reports at which no half-width exceeds ``error``."""
    if randomiser.chances is None:
        reach = half_width(randomiser, 1, shares, confidence, joint)
        return people_for(reach**2, require_error(error))
    require_error(error)
    return least(lambda people: half_width(randomiser, people, shares, confidence, joint) <= error, f"± {error:g}")


def people_for(variance: float, error: float) -> int:
    """How many reports bring a variance, that of one report, down to the square of the error."""
    needed = variance / error**2
    if not needed <= MOST_PEOPLE:
        raise ParameterError(f"not even {MOST_PEOPLE:,} reports are enough for an error of {error:g}")
    return max(1, math.ceil(needed))


def require_error(error: float) -> float:
    """An error between 0 and 1."""
    if not 0 < error < 1:
        raise ParameterError.of("error", "a number between 0 and 1", error)
    return error


def least(enough: Callable[[int], bool], what: str) -> int:
    """The least number of people that is enough, for something that more people only improve."""
    high = 1
    while not enough(high):
        high *= 2
        if high > MOST_PEOPLE:
            raise ParameterError(f"not even {MOST_PEOPLE:,} reports are enough for {what}")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
