"""The part ``neighbours``: thousands of pairs of neighbouring data sets, of which nobody may tell which is which.

The controls are edits of the library that take a mend out; each has to be noticed, and after how many pairs is kept.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from evidence import results
from evidence.mutants.neighbours import MUTANTS
from evidence.pairs.cases import SOURCES, SPARK
from evidence.pairs.running import compared, noticed
from tinct.spark._session import java_version

PART = "neighbours"
PAIRS = 10_000
SPARK_PAIRS = 200  # beside the others: one takes a second or two
SEED = "tinct"
CONTROL_PAIRS = 400
FAMILIES: dict[str, tuple[str, ...]] = {
    "csv": ("csv", "tsv"),
    "jsonl": ("jsonl",),
    "parquet": ("parquet",),
    "arrow": ("arrow",),
    "frames": ("pandas", "polars", "duckdb"),
}
_CHUNK = 250
_KEPT = 50
_JAVA = 17  # as Spark needs it


def run(share: float = 1.0, *, seed: str = SEED) -> dict[str, Any]:
    """Compare pairs, two processes at a time, and try every control; pairs on Spark where there is Java."""
    started = time.monotonic()
    counts: dict[str, Counter[str]] = {}
    violations: list[dict[str, Any]] = []
    pairs = 0
    chunks = _chunks(max(1, int(share * PAIRS)), SOURCES)
    if (java_version() or 0) >= _JAVA:
        chunks += _chunks(max(1, int(share * SPARK_PAIRS)), (SPARK,))
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda chunk: compared(seed, *chunk), chunks):
            pairs += found["pairs"]
            violations += found["violations"]
            for trait, values in found["counts"].items():
                counts.setdefault(trait, Counter()).update(values)
            print(f"{pairs:7,} pairs, {len(violations)} violations", flush=True)
        seconds = round(time.monotonic() - started)
        controls = dict(pool.map(_control, MUTANTS))
    for name, after in controls.items():
        print(f"{name:75} {'not noticed' if after is None else f'noticed after {after} pairs'}")
    for one in violations:
        print(f"pair {one['index']} of seed {one['seed']!r}: {one['law']}: {one['detail']}")
    return results.save(
        PART, passed=not violations and None not in controls.values(), pairs=pairs, seed=seed, seconds=seconds,
        counts={trait: dict(sorted(values.items())) for trait, values in counts.items()}, controls=controls,
        faults=len(violations), violations=violations[:_KEPT],
    )  # fmt: skip


def _chunks(count: int, sources: tuple[str, ...]) -> list[tuple[int, int, tuple[str, ...]]]:
    """What one process after the other compares: from which pair to which, and how their rows are kept."""
    return [(at, min(at + _CHUNK, count), sources) for at in range(0, count, _CHUNK)]


def family_of(test: str) -> tuple[str, ...]:
    """The sources that the test of a mutant asks about."""
    found = re.search(r"\[(\w+)\]", test)
    return FAMILIES[found[1]] if found else SOURCES


def _control(mutant: Any) -> tuple[str, int | None]:
    return mutant.name, noticed(mutant, family_of(mutant.tests[0]), SEED, CONTROL_PAIRS)
