"""A goodness-of-fit test for each row of a table, with one stated false-alarm rate for all rows together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

FALSE_ALARM = 1e-6  # the probability that an audit of a correct sampler complains, all its rows taken together
_LEAST_EXPECTED = 10.0  # cells with less are pooled: the statistic is then close to its limit


@dataclass(frozen=True)
class Fit:
    """How well counts fit: the p-value of each row, and what the smallest is compared with."""

    draws: int
    p_values: tuple[float, ...]
    impossible: int

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        return len(self.p_values)

    @property
    def least(self) -> float:
        """The smallest p-value of any row."""
        return min(self.p_values, default=1.0)

    @property
    def threshold(self) -> float:
        """Bonferroni: the false-alarm rate divided by the number of rows."""
        return FALSE_ALARM / max(1, self.rows)

    @property
    def passed(self) -> bool:
        """No row is improbable, and nothing impossible was ever drawn."""
        return self.impossible == 0 and self.least >= self.threshold


def fit(counts: Sequence[NDArray[np.int64]], chances: Sequence[NDArray[np.float64]]) -> Fit:
    """Compare the counts of each row with its probabilities by the likelihood-ratio (G) test."""
    rows = list(zip(counts, chances, strict=True))
    p_values = tuple(_p_value(seen[chance > 0], chance[chance > 0]) for seen, chance in rows)
    impossible = sum(int(seen[chance == 0].sum()) for seen, chance in rows)
    return Fit(int(sum(seen.sum() for seen in counts)), p_values, impossible)


def _p_value(seen: NDArray[np.int64], chance: NDArray[np.float64]) -> float:
    """The p-value of 2 Σ O ln(O/E), with rare cells pooled into one."""
    expected = chance * seen.sum()
    rare = expected < _LEAST_EXPECTED
    observed = [*seen[~rare].tolist(), int(seen[rare].sum())]
    wanted = [*expected[~rare].tolist(), float(expected[rare].sum())]
    if wanted[-1] < _LEAST_EXPECTED:  # too rare even together: one tail of a Poisson number decides about them
        few = float(stats.poisson.sf(observed[-1] - 1, wanted[-1])) if observed[-1] else 1.0
        return min(few, _g_test(observed[:-1], wanted[:-1]))
    return _g_test(observed, wanted)


def _g_test(observed: list[int], wanted: list[float]) -> float:
    if len(observed) < 2:
        return 1.0
    total, whole = sum(observed), sum(wanted)
    terms = [o * math.log(o / (e * total / whole)) for o, e in zip(observed, wanted, strict=True) if o]
    return float(stats.chi2.sf(max(0.0, 2 * math.fsum(terms)), len(observed) - 1))
