"""Mutants: the privacy-critical modules with one line made wrong by hand, each of which some test must notice.

A suite that passes says little until it has been seen to fail. Every mutant here is an error that a tired programmer
could make, and most of them are errors that published libraries have made.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One wrong edit, of code and not of text: layout, comments and file do not matter.

    Attributes:
        name: What goes wrong, in words.
        where: The function, class or module, such as ``prove`` or ``Ledger.grant``; with the modules around it
            where that is not enough, such as ``ledger.sqlite``.
        old: An expression, or statements, that occur there exactly once. In it ``...`` stands for anything: an
            expression, all arguments of a call, all statements of a body.
        new: What stands there instead; its first ``...`` is what the first of ``old`` stands for, and so on.
        tests: The tests of which at least one must fail, from ``tests`` on.
    """

    name: str
    where: str
    old: str
    new: str
    tests: tuple[str, ...]


def catalogue() -> tuple[Mutant, ...]:
    """All mutants, in a fixed order."""
    from evidence.mutants import (
        asking,
        charging,
        designing,
        drawing,
        local,
        neighbours,
        numbers,
        proving,
        questions,
        reading,
        searching,
    )  # fmt: skip

    return (
        *proving.MUTANTS, *designing.MUTANTS, *drawing.MUTANTS, *charging.MUTANTS, *local.MUTANTS,
        *questions.MUTANTS, *asking.MUTANTS, *searching.MUTANTS, *reading.MUTANTS, *neighbours.MUTANTS,
        *numbers.MUTANTS,
    )  # fmt: skip


def handful(count: int) -> tuple[Mutant, ...]:
    """A few mutants spread evenly over the catalogue, always the same."""
    everything = catalogue()
    return everything[:: -(-len(everything) // count)]
