"""One answer for each group: disjoint groups compose in parallel, and groups nobody declared are found privately."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tinct import exact
from tinct.errors import ParameterError
from tinct.ledger.amounts import ln_below
from tinct.privacy import Privacy
from tinct.privacy.amounts import Amount, fraction_text, rational
from tinct.questions.words import Exists
from tinct.sources.source import MAX_GROUPS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from tinct.asking.designs import GroupDesign
    from tinct.questions import GroupCounts, Question

_SHOWN = 20


@dataclass(frozen=True)
class Groups:
    """Which groups are answered for, and how ε and δ are divided.

    ``declared`` are the groups the caller named; without them ``selecting`` is spent on finding groups that may be
    shown, and ``answering`` on the answers.
    """

    declared: tuple[str, ...] | None
    selecting: Privacy | None
    answering: Privacy

    @classmethod
    def of(cls, question: Question, privacy: Privacy, groups: Sequence[str] | None, select: Any) -> Groups:
        """Check the request and divide the budget."""
        if groups is not None:
            if select is not None:
                raise ParameterError(
                    "select is for groups that are found: with groups declared there is nothing to find"
                )
            return cls(_distinct(groups), None, privacy)
        share = rational("1/2" if select is None else select, "select")
        if not 0 < share < 1:
            raise ParameterError(f"select must be a share of epsilon between 0 and 1, got {select!s:.80}")
        if not privacy.exact_delta > 0:
            raise ParameterError(
                "finding groups privately needs delta above 0, such as delta='1e-6'; known ones can be declared"
            )
        if isinstance(question, Exists):
            raise ParameterError("exists needs delta itself: declare the groups to ask it for each of them")
        total = _rational_epsilon(privacy)
        return cls(None, Privacy(Amount(total * share), privacy.exact_delta), Privacy(Amount(total * (1 - share))))

    def rules(self, by: str) -> tuple[str, ...]:
        """What is said about the groups in public."""
        once = f"each person is in one group of {by!r} only, so the budget is spent once for all groups together"
        if self.selecting is None:
            listed = _listed(self.declared or ())
            return (
                once,
                f"there is an answer for each of {listed}, also if nobody is in it; other rows are in no group",
            )
        epsilon, delta = (
            fraction_text(value) for value in (self.selecting.exact_epsilon.value, self.selecting.exact_delta)
        )
        return (
            once,
            f"groups are found privately with ε = {epsilon}, δ = {delta}: small ones seldom appear, empty ones never",
            f"each answer is drawn with ε = {fraction_text(self.answering.exact_epsilon.value)}",
        )

    def draw(self, design: GroupDesign, counts: GroupCounts) -> dict[str, Any]:
        """Select groups if need be, then draw one answer for each."""
        if self.selecting is not None:
            people = counts.classes.sum(axis=1) + counts.missing
            shown = exact.ray(self.selecting, (True, False)).sample(people)
            counts = type(counts)(
                counts.rows,
                tuple(label for label, show in zip(counts.labels, shown.tolist(), strict=True) if show),
                counts.classes[shown],
                counts.missing[shown],
            )
        return dict(zip(counts.labels, design.draw_groups(counts), strict=True)) if len(counts) else {}


def _rational_epsilon(privacy: Privacy) -> Fraction:
    """ε as a rational that is not above it, so that shares of it can be taken exactly."""
    amount = privacy.exact_epsilon
    return ln_below(amount.value) if amount.is_log else amount.value


def _listed(groups: Sequence[str]) -> str:
    """The groups by name; of many the first, and a digest of all, so that no two lists read alike."""
    names = ", ".join(repr(name) for name in groups[:_SHOWN])
    if len(groups) <= _SHOWN:
        return f"the groups {names}"
    digest = sha256(json.dumps(groups).encode()).hexdigest()
    return f"the {len(groups):,} groups {names}, … (SHA-256 {digest})"


def _distinct(groups: Sequence[str]) -> tuple[str, ...]:
    names = () if isinstance(groups, str) or not hasattr(groups, "__iter__") else tuple(groups)
    texts = [name for name in names if isinstance(name, str)]  # others are refused when they are looked for
    if not names or len(set(texts)) != len(texts) or len(names) > MAX_GROUPS:
        raise ParameterError(f"groups must be a list of 1 to {MAX_GROUPS:,} different names")
    return names
