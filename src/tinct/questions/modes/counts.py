"""Reading the counts of categories: whole numbers, never shown in an error."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence


def require_counts(counts: Any, k: int) -> list[int]:
    """The counts of k categories as whole numbers, or a refusal that does not say what they are."""
    law = f"counts must be {k} whole numbers, none negative"
    try:
        given = list(counts)
        whole = [operator.index(count) for count in given if not isinstance(count, bool)]
    except TypeError:
        raise ParameterError(law) from None
    if len(given) != k or len(whole) != k or not all(count >= 0 for count in whole):
        raise ParameterError(law)
    return whole


def require_categories(k: Any) -> int:
    """The number of categories, at least two."""
    if isinstance(k, bool) or not hasattr(k, "__index__") or not operator.index(k) >= 2:
        raise ParameterError(f"k must be a whole number of at least 2 categories, got {k!r:.80}")
    return operator.index(k)


def margins_to_top(counts: Sequence[int]) -> list[int]:
    """How far each category is behind the largest.

    >>> margins_to_top([3, 5, 0])
    [2, 0, 5]
    """
    top = max(counts)
    return [top - count for count in counts]
