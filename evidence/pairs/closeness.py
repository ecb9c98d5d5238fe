"""Whether two exact distributions are (ε, δ)-close, in fractions, with e^ε bounded from below."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from tinct.numbers.bounds import growth_below
from tinct.privacy import Privacy

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from evidence.pairs.cases import Case
    from evidence.pairs.watching import Watch

    Distribution = Mapping[Hashable, Fraction]

_BITS = 256
_SURE = Fraction(1)
_HIDDEN: tuple[None] = (None,)


def bound(case: Case) -> tuple[Fraction, Fraction]:
    """What the owner's declaration allows: a factor, at most e^ε, and δ.

    A person's own ε holds for that person. Who changes class is removed from one and added to the other. Where the
    question is for adding and removing and the owner means replacing, there are two steps.
    """
    if case.own is not None:
        steps = set(case.own) if case.own[0] == case.own[1] else case.own
        growths = [_growth(epsilon) for epsilon in steps if epsilon is not None]
        factor = _SURE
        for growth in growths:
            factor *= growth
        return factor, Fraction(0)
    growth = _growth(case.options["epsilon"])
    delta = Privacy(case.options["epsilon"], case.options.get("delta", "0")).exact_delta
    if case.relation != case.options["neighbors"]:
        return growth * growth, delta * (1 + growth)
    return growth, delta


def excess(one: Distribution, other: Distribution, factor: Fraction) -> Fraction:
    """The least δ for which no set of outcomes is likelier in one than factor times in the other, plus δ."""
    return sum(
        (max(Fraction(0), chance - factor * other.get(key, Fraction(0))) for key, chance in one.items()), Fraction(0)
    )


def differing(one: Watch, other: Watch) -> list[Any]:
    """The groups whose distribution is not the same in both."""
    names = dict.fromkeys([*_names(one), *_names(other)])
    return [name for name in names if outcomes(one, name) != outcomes(other, name)]


def joint(watch: Watch, names: Iterable[Any]) -> Distribution:
    """The distribution of what is shown for these groups together: they are drawn independently."""
    parts = [outcomes(watch, name) for name in names]
    found: dict[Hashable, Fraction] = {}
    for combined in product(*(part.items() for part in parts)):
        chance = _SURE
        for _, each in combined:
            chance *= each
        found[tuple(key for key, _ in combined)] = chance
    return found


def outcomes(watch: Watch, name: Any) -> Distribution:
    """What can be seen of one group: an answer, or that it is not shown."""
    answers = watch.answered.get(name)
    if name in watch.selected:
        shown, hidden = watch.selected[name]
        if answers is None or not shown:  # a label that is never shown, whatever is drawn
            return {_HIDDEN: _SURE}
        return {_HIDDEN: hidden, **{at: shown * chance for at, chance in enumerate(answers)}}
    if answers is None:
        return {_HIDDEN: _SURE}
    return dict(enumerate(answers))


def _names(watch: Watch) -> list[Any]:
    return [*watch.selected, *watch.answered]


def _growth(epsilon: str) -> Fraction:
    return growth_below(Privacy(epsilon).exact_epsilon, _BITS)
