"""Graphs by a short name, such as ``majority:101``, for the command line."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.graphs.builders import hypercube, line, majority, threshold
from tinct.graphs.rankings import rankings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.graphs.dataset import DatasetGraph


def _cube(n: int) -> DatasetGraph:
    return hypercube(n, lambda votes: votes.sum(axis=1) * 2 > n, vectorized=True)


def _votes(n: int, k: int) -> DatasetGraph:
    if not 2 <= k <= len(ascii_lowercase):
        raise ParameterError(f"k must be between 2 and {len(ascii_lowercase)} answers, got {k}")
    return rankings(n, ascii_lowercase[:k])


SPECS: dict[str, tuple[Callable[..., DatasetGraph], tuple[str, ...], str]] = {
    "majority": (majority, ("n",), "how many of n people said yes; is it more than half?"),
    "threshold": (threshold, ("n", "k"), "how many of n people said yes; is it at least k?"),
    "line": (line, ("a", "b"), "a row of a blue and b red datasets"),
    "votes": (_votes, ("n", "k"), "how n people voted on k answers; which has how many votes?"),
    "cube": (_cube, ("n",), "the votes of n people one by one; did more than half say yes?"),
}


def from_spec(text: str) -> DatasetGraph:
    """The graph a short name stands for.

    >>> from_spec("threshold:10,3")
    <DatasetGraph: 11 vertices, 10 edges, outputs ('no', 'yes')>
    """
    name, colon, rest = text.partition(":")
    if name not in SPECS or not colon:
        raise ParameterError(f"{text!r:.80} is neither a file nor one of {forms()}")
    build, parameters, _ = SPECS[name]
    values = rest.split(",")
    if len(values) != len(parameters) or not all(value.strip().isdecimal() and len(value) < 20 for value in values):
        raise ParameterError(f"{text!r:.80} should look like {_form(name)}, with whole numbers")
    arguments: list[Any] = [int(value) for value in values]
    return build(*arguments)


def forms() -> str:
    """All short names with their parameters."""
    return ", ".join(map(_form, SPECS))


def _form(name: str) -> str:
    return f"{name}:{','.join(SPECS[name][1])}"
