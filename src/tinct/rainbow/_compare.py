"""Two mechanisms side by side: which one is better, and where they part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Difference:
    """The first vertex and the smallest number of best answers on which two mechanisms differ."""

    vertex: Any
    answers: tuple[Any, ...]  # the event: the so many best answers of the vertex
    first: float
    second: float


@dataclass(frozen=True)
class MechanismComparison:
    """How two mechanisms compare: each verdict is ``"equal"``, ``"first"``, ``"second"`` or ``"incomparable"``.

    Dominance asks for every prefix sum at every vertex; the lexicographic order asks, at every vertex, only for the
    first prefix sum that differs.
    """

    dominance: str
    lexicographic: str
    first_better: Difference | None  # the first place where the first mechanism is better
    second_better: Difference | None


def compare(first: Mechanism, second: Mechanism, *, tolerance: float = 1e-12) -> MechanismComparison:
    """Compare two mechanisms on the same vertices with the same orders.

    >>> from tinct import Privacy, balanced, baselines, graphs
    >>> line = graphs.line(2, 2)
    >>> compare(balanced(line, Privacy(1)), baselines.randomized_response(line, Privacy(1))).dominance
    'first'
    """
    if first.graph is not second.graph and first.graph.colors != second.graph.colors:
        raise ParameterError("mechanisms can be compared only on the same vertices with the same colors")
    aligned = Mechanism(first.graph, second.table_on(first.graph), second.privacy)
    ours, theirs = first.prefixes(), aligned.prefixes()
    gap = np.where(np.abs(ours - theirs) <= tolerance, 0.0, ours - theirs)
    gap = gap if gap.size else np.zeros((len(gap), 1))  # with one answer there is nothing to tell apart
    leading = gap[np.arange(len(gap)), np.argmax(gap != 0, axis=1)]
    return MechanismComparison(
        _verdict(gap),
        _verdict(leading),
        _first_place(first, aligned, gap > 0),
        _first_place(first, aligned, gap < 0),
    )


def _verdict(gap: NDArray[np.float64]) -> str:
    better, worse = bool((gap > 0).any()), bool((gap < 0).any())
    return {(False, False): "equal", (True, False): "first", (False, True): "second"}.get(
        (better, worse), "incomparable"
    )


def _first_place(first: Mechanism, second: Mechanism, where: NDArray[np.bool_]) -> Difference | None:
    if not where.any():
        return None
    row, size = np.argwhere(where)[0].tolist()
    color = first.graph.coloring.palette[int(first.graph.coloring.codes[row])]
    answers = color[: size + 1] if isinstance(color, tuple) else (color,)
    return Difference(
        first.vertices[row], answers, float(first.prefixes()[row, size]), float(second.prefixes()[row, size])
    )
