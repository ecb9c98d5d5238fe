"""One answer for each group: disjoint groups compose in parallel, and groups that are not declared are found privately.

How many groups are found, and their names, depend on the data. So the largest number shown is public, groups with long
or unprintable names are left out, and the answer always takes the same room in a ledger.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import exact
from tinct.asking.number_designs import selects_itself
from tinct.asking.with_ledger import json_size
from tinct.errors import ParameterError
from tinct.numbers.amounts import Amount, fraction_text, rational
from tinct.numbers.bounds import ln_below
from tinct.privacy import Privacy
from tinct.questions.questions import Exists
from tinct.remarks import Remark
from tinct.sources.source import group_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from tinct.asking.designs import GroupDesign
    from tinct.numbers.amounts import NumberLike
    from tinct.questions import GroupCounts, Question

MOST_GROUPS = 1000  # shown, if they are found and nothing else is said
MAX_FOUND = 1_000_000
MAX_PER_PERSON = 1000
MAX_LABEL = 100  # bytes in the label of a group that is found
_SHOWN = 20


@dataclass(frozen=True)
class Groups:
    """Which groups are answered for, and how ε and δ are divided.

    ``declared`` are the groups the caller named; without them ``selecting`` is spent on finding groups that may be
    shown, and ``answering`` on the answers. A count finds its own groups (``by_number``): then nothing is divided.
    """

    declared: tuple[str, ...] | None
    selecting: Privacy | None
    answering: Privacy
    most: int = MOST_GROUPS
    per_person: int = 1  # a person counts in so many groups, each of which gets this part of ε and δ
    by_number: bool = False  # a group is shown if its own noisy number is not below 0

    @classmethod
    def of(
        cls,
        question: Question,
        privacy: Privacy,
        groups: Sequence[str] | None,
        select: NumberLike | None,
        most: int | None = None,
        per_person: int | None = None,
        by: tuple[str, ...] = (),
    ) -> Groups:
        """Check the request and divide the budget."""
        each = _per_person(per_person)
        if each > 1:  # whoever comes or goes changes so many groups, by one person each (docs/proofs/groups.md)
            privacy = Privacy(Amount(_rational_epsilon(privacy) / each), privacy.exact_delta / each)
        if groups is not None:
            if select is not None or most is not None:
                extra = "select" if most is None else "most_groups"
                raise ParameterError.about(
                    extra, f"`{extra}` is for groups that are found: with groups declared there is nothing to find"
                )
            return cls(group_names(groups, by), None, privacy, per_person=each)
        most = MOST_GROUPS if most is None else most
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MAX_FOUND:
            raise ParameterError.of("most_groups", f"a whole number from 1 to {MAX_FOUND:,}", most)
        share = rational("1/2" if select is None else select, "select")
        if not 0 < share < 1:
            raise ParameterError.of("select", "a share of epsilon between 0 and 1", select)
        if not privacy.exact_delta > 0:
            raise ParameterError.about(
                "delta",
                "finding groups privately needs delta above 0, such as `delta='1e-6'`; known ones can be declared with "
                "`groups`",
                expected="above 0",
            )
        if isinstance(question, Exists):
            raise ParameterError.about(
                "groups", "exists needs delta itself: declare the `groups` to ask it for each of them"
            )
        if selects_itself(question):
            if select is not None:
                raise ParameterError.about(
                    "select", "a count finds its groups with the same draw, and takes no share: leave out `select`"
                )
            return cls(None, None, privacy, most, each, by_number=True)
        total = _rational_epsilon(privacy)
        selecting = Privacy(Amount(total * share), privacy.exact_delta)
        return cls(None, selecting, Privacy(Amount(total * (1 - share))), most, each)

    def rules(self, by: Sequence[str], unit: str | None, *, published: bool = False) -> tuple[Remark, ...]:
        """What the plan says about groups; ``published`` answers are written to a folder, without a limit."""
        once = self.counted_in(by, unit)
        if self.declared is not None:
            listed = _listed(self.declared)
            return (
                once,
                Remark(
                    f"there is one answer for each of {listed}, even if it is empty; rows of other groups are ignored",
                    "groups-named",
                    groups=len(self.declared or ()),
                ),
            )
        answering = fraction_text(self.answering.exact_epsilon.value)
        most = "" if published else f"at most {self.most:,} groups are shown, the first when sorted as text; "
        each = Remark(f"each answer is drawn with ε = {answering}", "epsilon-of-each-answer", epsilon=answering)
        drawn = () if self.by_number else (each,)
        return (
            once,
            *self.warnings,
            *drawn,
            Remark(
                f"{most}groups with names longer than {MAX_LABEL} bytes or with unprintable characters are left out",
                "groups-shown",
                most=None if published else self.most,
                longest_name=MAX_LABEL,
            ),
        )

    def counted_in(self, by: Sequence[str], unit: str | None) -> Remark:
        """In which groups somebody counts, which is a decision and not a fact about the data."""
        columns = " and ".join(map(repr, by))
        if unit is None:
            said = f"each row is in one group of {columns}, so the cost is charged once for all groups together"
        elif self.per_person == 1:
            said = (
                f"a person with rows in several groups of {columns} counts only in the one that sorts first, so the "
                "cost is charged once for all groups together"
            )
        else:
            said = (
                f"a person counts in at most {self.per_person:,} groups of {columns}, the first when sorted as text; "
                f"each group is answered with 1/{self.per_person} of ε and δ, and the cost is charged once"
            )
        return Remark(said, "groups-per-person", by=list(by), unit=unit, groups_per_person=self.per_person)

    @property
    def warnings(self) -> tuple[Remark, ...]:
        """What must be said even in a short answer."""
        if self.by_number:
            said = "groups are found by their own noisy numbers: small ones rarely appear, those without any never"
            return (Remark(said, "groups-found-by-number"),)
        if self.selecting is None:
            return ()
        epsilon, delta = (
            fraction_text(value) for value in (self.selecting.exact_epsilon.value, self.selecting.exact_delta)
        )
        return (
            Remark(
                f"groups are found privately with ε = {epsilon}, δ = {delta}: small groups rarely appear, empty ones "
                "never",
                "groups-found",
                epsilon=epsilon,
                delta=delta,
            ),
        )

    def identity(self) -> dict[str, Any]:
        """The group options of the request in one canonical form."""
        each = {} if self.per_person == 1 else {"per_person": self.per_person}
        if self.declared is not None:
            return {"declared": list(self.declared)} | each
        if self.selecting is None:
            return {"found": self.most, "select": "0"} | each
        return {"found": self.most, "select": fraction_text(self.selecting.exact_epsilon.value)} | each

    def room(self, outputs: Sequence[Any]) -> int:
        """The bytes of the longest possible answer as JSON; public, and independent of what is found or drawn."""
        longest = max(json_size(each) for each in outputs)
        if self.declared is not None:
            return sum(json_size(label) + longest + 2 for label in self.declared) + 2
        # in JSON a printable label is at most twice as long: only " and \\ are written with two characters
        return self.most * (2 * MAX_LABEL + 2 + longest + 2) + 2

    def draw(self, design: GroupDesign, batches: Iterable[GroupCounts]) -> dict[str, Any]:
        """Select groups if need be, then draw one answer for each."""
        answers: dict[str, Any] = {}
        for batch in batches:
            answers.update(self.answered(design, batch))
            if self.declared is None and len(answers) >= self.most:
                return dict(list(answers.items())[: self.most])
        return answers

    def answered(self, design: GroupDesign, counts: GroupCounts) -> dict[str, Any]:
        """The answers for some of the groups, however many are shown."""
        shown = self.selected(counts)
        drawn = zip(shown.labels, design.draw_groups(shown), strict=True) if len(shown) else ()
        if not self.by_number:
            return dict(drawn)
        return {label: value for label, value in drawn if value is not None and is_showable(label)}

    def selected(self, counts: GroupCounts) -> GroupCounts:
        """The groups that may be shown, if they are drawn by their size: with a label that can be shown."""
        if self.selecting is None or not len(counts):
            return counts
        people = counts.classes.sum(axis=1) + counts.missing
        drawn = exact.ray(self.selecting, (True, False)).sample(people).tolist()
        shown = np.array([show and is_showable(label) for show, label in zip(drawn, counts.labels, strict=True)])
        labels = tuple(label for label, show in zip(counts.labels, shown.tolist(), strict=True) if show)
        return type(counts)(counts.rows, labels, counts.classes[shown], counts.missing[shown])


def answer_text(value: Any) -> str:
    """A group's answer as one cell of a table: several numbers as a JSON object.

    >>> answer_text("yes"), answer_text(7), answer_text({"injury": 7})
    ('yes', '7', '{"injury": 7}')
    """
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


def _per_person(given: int | None) -> int:
    if given is None:
        return 1
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MAX_PER_PERSON:
        raise ParameterError.of("groups_per_person", f"a whole number from 1 to {MAX_PER_PERSON:,}", given)
    return given


def is_showable(label: str) -> bool:
    """Whether a label that was found may be shown: not too long, and nothing in it that could steer a terminal."""
    return len(label.encode()) <= MAX_LABEL and label.isprintable()


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
