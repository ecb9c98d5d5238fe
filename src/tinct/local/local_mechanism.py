"""LocalMechanism: what everybody runs on their own answer before it leaves the device."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import NotPrivate, ParameterError
from tinct.local.divergences import Utility
from tinct.local.parameters import Hypotheses, LocalBudget, distribution, named_symbols, share, whole

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from tinct.local._estimate import Estimate
    from tinct.local.divergences import UtilityLike
    from tinct.local.hypothesis_testing import TestResult
    from tinct.local.mechanisms.base import Channel, Randomiser
    from tinct.local.parameters import BudgetLike, DistributionLike, Floats, SymbolsLike
    from tinct.numbers.amounts import NumberLike

_LOG10_LABELS = 7.0


@dataclass(frozen=True)
class Certificate:
    """A bound that no private mechanism exceeds, and how it was obtained."""

    method: str
    upper_bound: float


@dataclass(frozen=True, eq=False)
class LocalMechanism:
    """A randomiser: for every symbol a distribution over outputs, close to that of every other symbol.

    Attributes:
        name: What it is called.
        budget: The ε it was made for.
        channel: What it does, in the form that suits it; ``matrix`` writes it out.
        symbols: The names of the symbols.
        note: What it is optimal for, if anything.
        exact_delta: The δ of (ε, δ)-privacy, 0 unless it was asked for.
        utility: What ``value`` measures: a divergence, ``"information"``, ``"distortion"``, or None.
        value: How much of the utility it achieves, if it was designed for one.
        hypotheses: The two distributions it tells apart, if it was designed for that.
        prior: The distribution of the symbols, if it was designed for one.
        known: A certificate that the design came with; otherwise one is computed when it is asked for.
    """

    name: str
    budget: LocalBudget
    channel: Channel
    symbols: tuple[Any, ...]
    note: str = ""
    exact_delta: Fraction = Fraction(0)
    utility: Any = None
    value: float | None = None
    hypotheses: Hypotheses | None = None
    prior: Floats | None = None
    known: Certificate | None = None

    @classmethod
    def of(
        cls,
        channel: Channel,
        epsilon: BudgetLike,
        *,
        name: str,
        symbols: SymbolsLike | None = None,
        note: str = "",
        delta: NumberLike = 0,
    ) -> LocalMechanism:
        """A mechanism from a channel, such as one of your own (docs/extending/local-mechanism.md)."""
        names = named_symbols(symbols, channel.size)
        return cls(name, LocalBudget.parse(epsilon), channel, names, note, share(delta, "delta"))

    @property
    def epsilon(self) -> float:
        """The budget as a float."""
        return self.budget.epsilon

    @property
    def delta(self) -> float:
        """δ as a float."""
        return float(self.exact_delta)

    @cached_property
    def matrix(self) -> Floats:
        """All probabilities, symbols × outputs; refused when there are too many to write out."""
        return self.channel.matrix()

    @cached_property
    def outputs(self) -> tuple[Any, ...]:
        """The names of the outputs, in the order of the matrix's columns."""
        if self.channel.log10_outputs > _LOG10_LABELS:
            count = self.channel.size_of_outputs()
            raise ParameterError(f"there are {count} outputs: use .channel, which describes them")
        return self.channel.labels()

    @cached_property
    def cells(self) -> tuple[tuple[Any, ...], ...] | None:
        """The symbols of each cell, if this is randomized response on cells; else None."""
        from tinct.local.mechanisms.randomized_response import CellChannel

        if not isinstance(self.channel, CellChannel):
            return None
        order = np.argsort(self.channel.cell_of, kind="stable")
        ends = np.cumsum(np.bincount(self.channel.cell_of, minlength=self.channel.count))
        return tuple(tuple(self.symbols[x] for x in group) for group in np.split(order, ends[:-1]))

    @cached_property
    def certificate(self) -> Certificate | None:
        """A bound on what any private mechanism can achieve, and where it comes from; None if it has no utility."""
        if self.known is not None or self.hypotheses is None or self.value is None:
            return self.known
        from tinct.local._optimal import divergence_certificate

        return divergence_certificate(
            self.hypotheses, self.budget, Utility.parse(self.utility), self.value, self.exact_delta
        )

    @property
    def upper_bound(self) -> float | None:
        """The bound of the certificate."""
        return None if self.certificate is None else self.certificate.upper_bound

    @property
    def gap(self) -> float | None:
        """How much better a private mechanism could still be."""
        bound = self.upper_bound
        return None if bound is None or self.value is None else max(0.0, bound - self.value)

    def row(self, symbol: Hashable) -> Floats:
        """The distribution of the output for one symbol."""
        try:
            at = self._positions[symbol]
        except (KeyError, TypeError):
            raise ParameterError(f"{symbol!r:.80} is not one of the {len(self.symbols):,} symbols") from None
        return np.asarray(self.matrix[at])

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {symbol: at for at, symbol in enumerate(self.symbols)}

    def divergence(self, p0: DistributionLike, p1: DistributionLike, utility: UtilityLike = "kl") -> float:
        """How far apart the outputs are when symbols come from ``p0`` and when they come from ``p1``."""
        both = Hypotheses.parse(p0, p1, self.symbols)
        return Utility.parse(utility).divergence(self.channel.push(both.p0), self.channel.push(both.p1))

    def information(self, prior: ArrayLike) -> float:
        """The mutual information of symbol and output, in nats, when symbols come from ``prior``."""
        p = distribution(prior, "prior")
        if len(p) != len(self.symbols):
            raise ParameterError(f"prior must have {len(self.symbols):,} probabilities, got {len(p):,}")
        return self.channel.information(p, self.budget)

    # collecting and analysing

    @cached_property
    def randomiser(self) -> Randomiser:
        """The mechanism in whole units, proved private in exact arithmetic: what ``privatize`` runs."""
        try:
            made = self.channel.in_units(self.budget.terms(self.exact_delta))
            made.prove()
        except NotPrivate as error:
            raise self._named(error) from None
        return made

    def _named(self, error: NotPrivate) -> NotPrivate:
        """The error with the names of the mechanism, the symbols and the outputs."""
        found = error.witness
        if found is None:
            return NotPrivate(f"{self.name}: {error}", None)
        u, v = found.edge
        event = tuple(self.outputs[at] for at in found.event)
        witness = replace(found, edge=(self.symbols[u], self.symbols[v]), event=event)
        return NotPrivate(f"{self.name}: {error}; {witness}", witness)

    @cached_property
    def id(self) -> str:
        """By what reports name it: 16 hexadecimal digits, the same for the same symbols and units in every file."""
        from tinct.local import mechanism_files

        return mechanism_files.identity(self)

    def privatize(self, values: Any, missing: Hashable | None = None) -> NDArray[Any]:
        """One report for each value of a column, drawn exactly from the operating system's entropy.

        ``values`` may be a list, a NumPy array, a pandas or Polars Series or an Arrow array of symbols. Reports are
        output numbers (``outputs`` names them), or rows of them for mechanisms with structured outputs. ``missing`` is
        the symbol that stands for blanks and for values that are no symbols; without it they are refused.
        """
        from tinct.local.answers_and_reports import codes_of

        return self.randomiser.draw(codes_of(self.symbols, values, missing))

    def estimate(self, reports: ArrayLike, confidence: float = 0.95) -> Estimate:
        """Frequencies of the symbols from reports, with intervals that hold all at once with this confidence."""
        from tinct.local._estimate import estimate_from, require_estimable

        require_estimable(self)
        seen = np.asarray(reports)
        return estimate_from(self, self.randomiser.support(seen), len(seen), confidence)

    def test(
        self, reports: ArrayLike, p0: DistributionLike | None = None, p1: DistributionLike | None = None
    ) -> TestResult:
        """The likelihood-ratio test of P0 against P1, those it was designed for if none are given."""
        from tinct.local.hypothesis_testing import result_from, testable

        return result_from(self, testable(self).counted(reports), p0, p1)

    def sample_size(
        self,
        error: float,
        p0: DistributionLike | None = None,
        p1: DistributionLike | None = None,
        *,
        level: float | None = None,
        shares: ArrayLike | None = None,
        confidence: float = 0.95,
        joint: bool = True,
    ) -> int:
        """How many reports are needed.

        For a mechanism with two hypotheses: the least number with which the likelihood-ratio test takes P0 for P1 with
        probability at most ``level``, and P1 for P0 with at most ``error``, by the exact distribution of its statistic
        (numerically beyond 200,000 outcomes). Otherwise: until every frequency is known to ± ``error``.

        Args:
            error: The error of the second kind, or the half-width of the widest interval.
            p0: The first hypothesis, if not that of the design.
            p1: The second.
            level: The error of the first kind; ``error`` if left out.
            shares: Guessed frequencies, for which to plan; the worst there can be if left out.
            confidence: Of the intervals.
            joint: Whether the intervals of all symbols hold together with this confidence, or each by itself.

        >>> from tinct import local
        >>> test = local.optimal([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], 1)
        >>> test.sample_size(0.01), test.sample_size(0.01, level=0.05)
        (157, 117)
        """
        if self._about_hypotheses(p0, level, shares):
            from tinct.local.hypothesis_testing import reports_needed

            return reports_needed(self, error, level, p0, p1)
        from tinct.local._estimate import require_estimable
        from tinct.local.frequency_errors import reports_for_width

        require_estimable(self)
        return reports_for_width(self.randomiser, error, self._guessed(shares), confidence, joint)

    def error(
        self,
        people: int,
        p0: DistributionLike | None = None,
        p1: DistributionLike | None = None,
        *,
        level: float | None = None,
        shares: ArrayLike | None = None,
        confidence: float = 0.95,
        joint: bool = True,
    ) -> float:
        """What so many reports achieve: the other direction of ``sample_size``, with the same arguments.

        For two hypotheses: the error of the second kind at this level; without one, the least bound on both kinds.

        >>> from tinct import local
        >>> round(local.optimal([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], 1).error(67, level=0.05), 4)
        0.099
        """
        people = whole(people, "people", 1, 10**15)
        if self._about_hypotheses(p0, level, shares):
            from tinct.local.hypothesis_testing import error_of_test

            return error_of_test(self, people, level, p0, p1)
        from tinct.local._estimate import require_estimable
        from tinct.local.frequency_errors import half_width

        require_estimable(self)
        return half_width(self.randomiser, people, self._guessed(shares), confidence, joint)

    def _about_hypotheses(self, p0: DistributionLike | None, level: float | None, shares: ArrayLike | None) -> bool:
        """Whether a plan is about a test; a level has no meaning for frequencies, nor shares for a test."""
        tests = p0 is not None or (self.hypotheses is not None and shares is None)
        if shares is not None and (tests or level is not None):
            raise ParameterError("shares are for frequencies, p0, p1 and level for a test: give one or the other")
        if level is not None and not tests:
            raise ParameterError("level is for a test of two hypotheses: give p0 and p1")
        return tests

    def _guessed(self, shares: ArrayLike | None) -> Floats | None:
        if shares is None:
            return None
        found = distribution(shares, "shares")
        if len(found) != len(self.symbols):
            raise ParameterError(f"shares must have {len(self.symbols):,} frequencies, got {len(found):,}")
        return found

    def to_json(self, path: str | Path) -> None:
        """Write the mechanism and its units as JSON, for clients and analysts (docs/client.md)."""
        from tinct.local import mechanism_files

        mechanism_files.write_mechanism(self, path)

    @classmethod
    def from_json(cls, path: str | Path) -> LocalMechanism:
        """Read a mechanism that ``to_json`` or ``tinct local design --output`` wrote, and prove its units again."""
        from tinct.local import mechanism_files

        return mechanism_files.read_mechanism(path)

    def least_epsilon(self) -> float:
        """The least ε for which the matrix, in floating point and at δ = 0, is private; infinite if none is."""
        low, high = self.matrix.min(axis=0), self.matrix.max(axis=0)
        used = high > 0
        if (low[used] == 0).any():
            return math.inf
        return float(np.log(high[used] / low[used]).max(initial=0.0))

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        from tinct import notebook

        return notebook.of_local(self)

    def __repr__(self) -> str:
        value = "" if self.value is None else f", {_utility_name(self.utility)} {self.value:.6g}"
        delta = f"delta={self.delta:.6g}, " if self.exact_delta else ""
        return (
            f"LocalMechanism({self.name!r}, epsilon={self.epsilon:.6g}, {delta}{len(self.symbols):,} symbols, "
            f"{self.channel.size_of_outputs()} outputs{value})"
        )


def _utility_name(utility: UtilityLike) -> str:
    return utility if isinstance(utility, str) else getattr(utility, "name", "utility")
