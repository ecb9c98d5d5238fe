"""The proof: every edge in both directions, in integers (docs/theory.md §5).

Nothing here is shared with what designs the tables: no kernel, no float, no solver, not even the routine that chose R.
A table passes only if ``prove`` has looked at every inequality itself; there is no flag that could say so instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct.errors import NotPrivate, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MAX_EPSILON = 700
_MAX_DIGITS = 1300
_RATIONAL = re.compile(rf"(\d{{1,{_MAX_DIGITS}}})(?:/(\d{{1,{_MAX_DIGITS}}}))?", re.ASCII)  # docs/files.md
_PROGRESS = 1 << 16


@dataclass(frozen=True)
class Terms:
    """What an edge promises: ε as exact text (``"1/2"`` or ``"ln 3/2"``), a rational R ≤ e^ε, and δ."""

    epsilon: str
    growth: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Proof:
    """What was checked, and what it guarantees."""

    vertices: int
    edges: int
    inequalities: int
    total: int
    terms: tuple[Terms, ...]
    pieces: int = 1

    def __str__(self) -> str:
        size = self.total.bit_length() - 1
        units = f"2^{size}" if self.total == 1 << size else f"{self.total:,}"
        apart = f"; {in_pieces(self.pieces)}" if self.pieces > 1 else ""
        return (
            f"{guarantee(self.terms)}: {self.inequalities:,} exact inequalities hold on {self.edges:,} edges, "
            f"rows of {units} units{apart}"
        )


@dataclass(frozen=True)
class BrokenEdge:
    """An edge on which a table is not private: by how many units, and how many are allowed."""

    edge: tuple[Any, Any]
    excess: Fraction
    allowed: int


def guarantee(terms: Sequence[Terms]) -> str:
    """The promise in words."""
    if len(terms) != 1:
        return f"each edge within its own budget, {len(terms)} different ones"
    delta = f", δ = {_brief(str(terms[0].delta))}" if terms[0].delta else ""
    return f"ε = {_brief(terms[0].epsilon)}{delta}, exactly"


def in_pieces(count: int) -> str:
    """What it means that a graph is in several pieces."""
    return f"the graph is in {count:,} pieces, and nothing is promised between datasets of different pieces"


def _brief(text: str) -> str:
    """A rational as people write it: a short decimal where that is the very number or the float it came from."""
    if text.startswith("ln ") or "/" not in text:
        return text
    value, short = Fraction(text), repr(float(Fraction(text)))
    return short if value in (Fraction(short), Fraction(float(short))) else text


def prove(
    rows: Sequence[Sequence[int]],
    total: int,
    edges: Iterable[tuple[int, int, int]],
    terms: Sequence[Terms],
    vertices: Sequence[Any],
    progress: Callable[[int], None] | None = None,
) -> Proof:
    """Check that a table of units is private, in exact arithmetic.

    Args:
        rows: For every vertex the units of each answer, whole numbers that sum to ``total``.
        total: N, the units in a row.
        edges: (position, position, number of its terms) for every pair of neighbours.
        terms: The distinct promises.
        vertices: Names for errors; they are public.
        progress: Called now and then with the number of edges checked.

    Raises:
        NotPrivate: An inequality fails; ``witness`` has the edge.
        ParameterError: The table or the terms are not what they have to be.
    """
    require_rows(rows, total, vertices)
    limits = [_limits(term, total) for term in terms]
    count = 0
    for count, (u, v, number) in enumerate(edges, start=1):
        if not (0 <= u < len(rows) and 0 <= v < len(rows) and 0 <= number < len(limits)):
            raise ParameterError(f"edge number {count - 1} must have two positions of rows and the number of its terms")
        up, down, allowed = limits[number]
        for one, other in ((u, v), (v, u)):
            # R = up/down, so everything is multiplied by down
            excess = 0
            for mine, theirs in zip(rows[one], rows[other], strict=True):
                over = down * mine - up * theirs
                if over > 0:
                    excess += over
            if excess > allowed * down:
                edge = (vertices[one], vertices[other])
                raise NotPrivate(
                    f"not private on edge {edge!r:.120}: {float(Fraction(excess, down * total)):.6g} of the "
                    f"probability exceeds R times the neighbour's, at most δ = {terms[number].delta} may",
                    BrokenEdge(edge, Fraction(excess, down), allowed),
                )
        if progress is not None and count % _PROGRESS == 0:
            progress(count)
    return Proof(len(rows), count, 2 * count, total, tuple(terms))


def count_pieces(vertices: int, edges: Iterable[Sequence[int]]) -> int:
    """In how many pieces a graph is, isolated vertices included: each edge joins two of them, or none.

    >>> count_pieces(4, [[0, 1], [1, 0]])
    3
    """
    above = list(range(vertices))  # towards the one vertex that stands for a piece
    count = vertices
    for u, v in edges:
        while above[u] != u:
            above[u] = u = above[above[u]]
        while above[v] != v:
            above[v] = v = above[above[v]]
        if u != v:
            above[max(u, v)] = min(u, v)
            count -= 1
    return count


def require_rows(rows: Sequence[Sequence[int]], total: int, vertices: Sequence[Any]) -> None:
    """Every row must be whole numbers, none negative, that sum to the total."""
    if type(total) is not int or total < 2:
        raise ParameterError("the denominator must be a whole number of at least 2")
    width = len(rows[0]) if len(rows) else 0
    if not width or len(rows) != len(vertices):
        raise ParameterError(f"{len(rows)} rows for {len(vertices)} vertices: each needs one")
    for at, row in enumerate(rows):
        if len(row) != width or any(type(entry) is not int or entry < 0 for entry in row) or sum(row) != total:
            raise ParameterError(
                f"row {vertices[at]!r:.80} must have {width} whole numbers, none negative, that sum to the denominator"
            )


def _limits(term: Terms, total: int) -> tuple[int, int, int]:
    if not 0 <= term.delta < 1:
        raise ParameterError("delta must be a number in [0, 1)")
    if not term.growth >= 1:
        raise ParameterError("growth must be at least 1")
    if not at_most_exp(term.growth, term.epsilon):
        raise ParameterError(f"growth {term.growth} is more than e to the power of epsilon = {term.epsilon}")
    written(term.delta, "delta")
    return term.growth.numerator, term.growth.denominator, term.delta.numerator * total // term.delta.denominator


def at_most_exp(growth: Fraction, epsilon: str) -> bool:
    """Whether ``growth`` ≤ e^ε, decided in rationals.

    A logarithm needs one comparison. For rational ε, e^ε is enclosed ever more closely until ``growth`` is outside;
    that ends, because e^ε is irrational unless ε = 0.

    >>> at_most_exp(Fraction(271828, 10**5), "1"), at_most_exp(Fraction(271829, 10**5), "1")
    (True, False)
    """
    logarithm = epsilon.startswith("ln ")
    value = parse_rational(epsilon.removeprefix("ln "), "epsilon")
    if logarithm:
        return growth <= value
    if value > MAX_EPSILON:
        raise ParameterError(f"epsilon must be at most {MAX_EPSILON}")
    places = 128
    while True:
        low, high = _around_exp(value, places)
        if growth.numerator << places <= low * growth.denominator:
            return True
        if growth.numerator << places > high * growth.denominator:
            return False
        places *= 2


def _around_exp(x: Fraction, places: int) -> tuple[int, int]:
    """Integers with low ≤ 2^places·e^x ≤ high: one of them always rounded down, the other always up.

    The series is summed for y = x/2^h < 1/256 and squared h times. Numbers of fixed length keep this quick even for
    an x of a thousand digits, which exact rationals would not.
    """
    halvings = int(x).bit_length() + 8
    step = (x.numerator << places) // (x.denominator << halvings)  # y is at least this and less than one more
    low = high = least = most = 1 << places
    count = 0
    while most > 1:
        count += 1
        least = (least * step >> places) // count
        most = -(-most * (step + 1) // (count << places))
        low, high = low + least, high + most
    high += 1  # each further term is less than half the one before, so all of them are less than the last: 1 unit
    for _ in range(halvings):
        low, high = low * low >> places, -(-high * high >> places)
    return low, high


def parse_rational(text: object, what: str) -> Fraction:
    """A non-negative rational in lowest terms, as it must stand in a certificate: ``"3"`` or ``"3/2"``."""
    match = _RATIONAL.fullmatch(text) if isinstance(text, str) else None
    if match is None or not int(match[2] or 1):
        raise ParameterError(f"{what} must be a whole number or a fraction such as '3/2', as text")
    value = Fraction(int(match[1]), int(match[2] or 1))
    if str(value) != text:
        raise ParameterError(f"{what} must be written in lowest terms without leading zeros")
    return value


def written(value: Fraction, what: str) -> str:
    """A rational as ``parse_rational`` reads it, if it has no more digits than that takes."""
    if max(abs(value.numerator), value.denominator) >= 10**_MAX_DIGITS:
        raise ParameterError(f"{what} has more than {_MAX_DIGITS:,} digits: too many for a certificate")
    return str(value)
