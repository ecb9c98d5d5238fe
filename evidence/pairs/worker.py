"""``python -m evidence.pairs.worker TASK``: a process that compares some pairs; the task is JSON.

The number of the pair in hand is always in the folder: if the process dies, that is the culprit.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from evidence.pairs import cases, comparing, watching


def work(
    seed: str,
    first: int,
    stop: int,
    folder: Path,
    sources: tuple[str, ...] = cases.SOURCES,
    *,
    most: int = 20,
) -> dict[str, Any]:
    """Compare the pairs from ``first`` on, up to ``most`` violations, and say how many of what kind there were."""
    counts: Counter[tuple[str, str]] = Counter()
    found: list[dict[str, Any]] = []
    pairs = 0
    folder.mkdir(parents=True, exist_ok=True)
    with watching.remembered(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in range(first, stop):
            (folder / "index").write_text(str(index), encoding="ascii")
            case = cases.make(seed, index, sources)
            outcome, violation = comparing.compare(case, folder / "work")
            pairs += 1
            counts.update({**case.traits(), "outcome": outcome}.items())
            if violation is not None:
                small = comparing.shrunk(violation, folder / "work") if most > 1 else violation
                found.append(comparing.described(small))
                if len(found) >= most:
                    break
    listed: dict[str, dict[str, int]] = {}
    for (trait, value), count in sorted(counts.items()):
        listed.setdefault(trait, {})[value] = count
    return {"pairs": pairs, "counts": listed, "violations": found}


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    print(json.dumps(work(**{**task, "folder": Path(task["folder"]), "sources": tuple(task["sources"])})))
