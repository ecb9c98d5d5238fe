"""Mutants: the privacy-critical modules with one line made wrong by hand, each of which some test must notice.

A suite that passes says little until it has been seen to fail. Every mutant here is an error that a tired programmer
could make, and most of them are errors that published libraries have made.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One wrong edit.

    Attributes:
        name: What goes wrong, in words.
        file: The module, from ``src/tinct`` on.
        old: Text that occurs there exactly once.
        new: What stands there instead.
        tests: The tests of which at least one must fail, from ``tests`` on.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def catalogue() -> tuple[Mutant, ...]:
    """All mutants, in a fixed order."""
    from evidence.mutants import asking, charging, designing, drawing, local, proving, questions, searching

    return (
        *proving.MUTANTS, *designing.MUTANTS, *drawing.MUTANTS, *charging.MUTANTS, *local.MUTANTS,
        *questions.MUTANTS, *asking.MUTANTS, *searching.MUTANTS,
    )  # fmt: skip


def handful(count: int) -> tuple[Mutant, ...]:
    """A few mutants spread evenly over the catalogue, always the same."""
    everything = catalogue()
    return everything[:: -(-len(everything) // count)]
