"""Colours as small integers: which answer is true where, or which order of preference holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Coloring:
    """``palette[codes[v]]`` is the colour of vertex v; ``outputs`` are the possible answers.

    With plain colours the palette is the outputs. With orders of preference the palette holds the orders that
    occur, each a permutation of the outputs. ``stated`` is False if several orders occur and nobody said by which one
    the outputs are listed: then it is that of the first vertex, and a list along the outputs could be misread.
    """

    codes: NDArray[Any]  # uint8 up to 256 colours, else int32
    palette: tuple[Any, ...]
    outputs: tuple[Any, ...]
    stated: bool = True

    @classmethod
    def of(cls, colors: Sequence[Any] | NDArray[Any], outputs: Sequence[Any] | None = None) -> Coloring:
        """Number the colours by first appearance, or in the order of ``outputs``."""
        codes, palette = _number_array(colors) if isinstance(colors, np.ndarray) else _number(colors)
        orders = any(isinstance(color, tuple) for color in palette)
        if orders:
            answers = _require_orders(palette, outputs)
        else:
            answers = palette if outputs is None else _require_outputs(palette, outputs)
            place = {answer: at for at, answer in enumerate(answers)}
            rank = np.array([place[color] for color in palette], np.int32)
            codes, palette = rank[codes], answers
        small = np.uint8 if len(palette) <= 256 else np.int32
        return cls(codes.astype(small), palette, answers, outputs is not None or not orders or len(palette) == 1)

    @property
    def has_orders(self) -> bool:
        """Whether the colours are orders of preference."""
        return any(isinstance(color, tuple) for color in self.palette)

    def true_outputs(self) -> NDArray[Any]:
        """For every vertex the column of its true (or most preferred) answer."""
        if not self.has_orders:
            return self.codes
        best = np.array([self.outputs.index(order[0]) for order in self.palette], self.codes.dtype)
        columns: NDArray[Any] = best[self.codes]
        return columns


def _number(colors: Sequence[Any]) -> tuple[NDArray[Any], tuple[Any, ...]]:
    seen: dict[Any, int] = {}
    try:
        codes = np.fromiter((seen.setdefault(color, len(seen)) for color in colors), np.int32, len(colors))
    except TypeError:
        raise ParameterError("a color must be hashable, such as text, a number or a tuple") from None
    for color in seen:
        if color is None or color != color:
            raise ParameterError(f"a color must not be missing, got {color!r}")
    return codes, tuple(seen)


def _number_array(colors: NDArray[Any]) -> tuple[NDArray[Any], tuple[Any, ...]]:
    if colors.ndim != 1:
        raise ParameterError(f"colors must be one-dimensional, got shape {colors.shape}")
    if colors.dtype.kind not in "biuU":
        return _number(colors.tolist())
    distinct, first, codes = np.unique(colors, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes], tuple(distinct[np.argsort(first)].tolist())


def _require_outputs(palette: tuple[Any, ...], outputs: Sequence[Any]) -> tuple[Any, ...]:
    answers = tuple(outputs)
    known = set(answers)
    unknown = next((color for color in palette if color not in known), None)
    if unknown is not None or len(set(answers)) != len(answers):
        raise ParameterError(f"outputs must list every color once, got {answers!r} for the colors {palette!r}")
    return answers


def _require_orders(palette: tuple[Any, ...], outputs: Sequence[Any] | None) -> tuple[Any, ...]:
    answers = tuple(outputs) if outputs is not None else tuple(palette[0]) if isinstance(palette[0], tuple) else ()
    if not answers or len(set(answers)) != len(answers):
        raise ParameterError(f"every order must list the same answers once each, got {answers!r}")
    for order in palette:
        if not isinstance(order, tuple) or len(order) != len(answers) or set(order) != set(answers):
            raise ParameterError(f"every order must list the same answers once each: {order!r} against {answers!r}")
    return answers
