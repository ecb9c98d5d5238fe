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

PART = "neighbours"
PAIRS = 10_000
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


def run(share: float = 1.0, *, seed: str = SEED, spark: bool = False) -> dict[str, Any]:
    """Compare pairs, two processes at a time, and try every control."""
    started = time.monotonic()
    count = max(1, int(share * PAIRS))
    sources = (*SOURCES, SPARK) if spark else SOURCES
    counts: dict[str, Counter[str]] = {}
    violations: list[dict[str, Any]] = []
    pairs = 0
    with ThreadPoolExecutor(2) as pool:
        chunks = range(0, count, _CHUNK)
        for found in pool.map(lambda at: compared(seed, at, min(at + _CHUNK, count), sources), chunks):
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


def family_of(test: str) -> tuple[str, ...]:
    """The sources that the test of a mutant asks about."""
    found = re.search(r"\[(\w+)\]", test)
    return FAMILIES[found[1]] if found else SOURCES


def _control(mutant: Any) -> tuple[str, int | None]:
    return mutant.name, noticed(mutant, family_of(mutant.tests[0]), SEED, CONTROL_PAIRS)
