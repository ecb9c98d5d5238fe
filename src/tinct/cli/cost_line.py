"""What an answer cost and what is left, in one line."""

from __future__ import annotations


def cost_line(
    cost: str,
    request: str | None,
    left: str | None,
    *,
    repeated: bool = False,
    completed: bool = False,
    older: bool = False,
) -> str:
    """The line for an answer that cost so much, under this request, with so much left; without a ledger, left is None.

    >>> cost_line("ε = 0.5", "poll", "ε = 0.5", repeated=True)
    'Cost: nothing, request poll was answered before. Left in the budget: ε = 0.5.'
    """
    if left is None:
        return f"Cost: {cost}, not charged to any ledger: costs of several answers about the same people add up."
    paid = f"{cost}, charged as request {request}"
    if repeated:
        paid = f"nothing, request {request} was answered before"
    if older:
        paid = f"nothing, an older version of tinct answered request {request}"
    if completed:
        paid = f"nothing more, request {request} was charged before and is answered now"
    return f"Cost: {paid}. Left in the budget: {left}."
