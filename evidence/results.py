"""What each part found, kept in ``evidence/results``: one JSON file per part, so that parts can be run again alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tinct._files import write_atomically

FOLDER = Path(__file__).parent / "results"


def save(part: str, **fields: Any) -> dict[str, Any]:
    """Store what a part found, with the time."""
    FOLDER.mkdir(exist_ok=True)
    stored = {"part": part, "when": datetime.now(UTC).isoformat(timespec="seconds"), **fields}
    write_atomically(FOLDER / f"{part}.json", json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    return stored


def load(part: str) -> dict[str, Any] | None:
    """What a part found when it was last run; None if it never was."""
    path = FOLDER / f"{part}.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
