"""The history of a ledger, to be written down: as a document, or as rows of cells. Amounts are exact text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tinct.ledger.amounts import exact_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinct.ledger.entries import Entry

COLUMNS = ("number", "time", "who", "scope", "partition", "groups", "question", "epsilon", "delta", "answer", "request")


def document(entries: Iterable[Entry]) -> dict[str, Any]:
    """All entries as plain values (schema tinct/history@1)."""
    return {"schema": "tinct/history@1", "entries": [_fields(entry) for entry in entries]}


def cells(entry: Entry) -> list[str]:
    """One entry along the columns, as text."""
    fields = _fields(entry) | {"partition": entry.partition or "", "groups": "; ".join(entry.groups)}
    return [
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in (fields[column] for column in COLUMNS)
    ]


def _fields(entry: Entry) -> dict[str, Any]:
    exact = {
        "time": entry.time.isoformat(),
        "groups": list(entry.groups),
        "epsilon": exact_text(entry.epsilon),
        "delta": exact_text(entry.delta),
    }
    return {column: exact[column] if column in exact else getattr(entry, column) for column in COLUMNS}
