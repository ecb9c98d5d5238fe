"""From what a statement returns to counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.questions.counting import Condition, Counts, GroupCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct.sources.statements import Plan

    Table = NDArray[np.int64]


def counts_of(plan: Plan, found: list[tuple[Any, ...]]) -> Counts:
    """The counts of all rows; see ``Statement.text`` for what is found."""
    if isinstance(plan.what, Condition):
        ((many, inside, valid, true),) = found
        return Counts(many, (true, valid - true), inside - valid)
    rows = missing = 0
    classes = [0] * plan.what.size
    for inside, place, many in found:
        rows += many
        if inside and place is None:
            missing += many
        elif inside:
            classes[place] += many
    return Counts(rows, tuple(classes), missing)


def group_counts_of(plan: Plan, found: dict[str, Any]) -> GroupCounts:
    """The counts of each group, in the order of the plan if it names them, else in the order of their text."""
    labels, table = (_of_condition if isinstance(plan.what, Condition) else _of_categories)(plan, found)
    if plan.groups is not None:
        table = _in_order(table, labels, plan.groups)
        labels = plan.groups
    return GroupCounts(int(np.asarray(found["many"], np.int64).sum()), labels, table[:, 1:], table[:, 0])


def _of_condition(_: Plan, found: dict[str, Any]) -> tuple[tuple[str, ...], Table]:
    """The labels, and for each the numbers of missing, true and false."""
    inside = ~np.ma.getmaskarray(found["label"])
    many, valid, true = (np.asarray(found[name], np.int64)[inside] for name in ("many", "valid", "true"))
    return tuple(np.ma.getdata(found["label"])[inside].tolist()), np.column_stack([many - valid, true, valid - true])


def _of_categories(plan: Plan, found: dict[str, Any]) -> tuple[tuple[str, ...], Table]:
    """The labels, and for each the number of missing and of each class. Equal labels stand together."""
    inside = ~np.ma.getmaskarray(found["label"])
    values = np.ma.getdata(found["label"])[inside]
    fresh = np.ones(len(values), bool)
    fresh[1:] = values[1:] != values[:-1]
    table = np.zeros((int(fresh.sum()), plan.what.size + 1), np.int64)
    places = np.ma.filled(np.ma.asarray(found["class"])[inside], -1).astype(np.intp) + 1  # a person without has −1
    np.add.at(table, (np.cumsum(fresh) - 1, places), np.asarray(found["many"], np.int64)[inside])
    return tuple(values[fresh].tolist()), table


def _in_order(table: Table, labels: tuple[str, ...], groups: tuple[str, ...]) -> Table:
    at = {label: row for row, label in enumerate(labels)}
    ordered = np.zeros((len(groups), table.shape[1]), np.int64)
    for row, label in enumerate(groups):
        if label in at:
            ordered[row] = table[at[label]]
    return ordered
