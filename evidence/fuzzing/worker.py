"""``python -m evidence.fuzzing.worker TARGET COUNT SEED FOLDER``: a process that attacks one parser.

It works with a limited address space, so that a small file that unfolds into a large one fails at once. The input in
hand is always in the folder: if the process dies, that is the culprit.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from evidence.fuzzing.damaging import damaged
from evidence.fuzzing.targets import TARGETS, seeds
from evidence.fuzzing.trying import Tally, attempt, limit_memory, peak_megabytes


def main() -> None:
    """Attack, and print the tally as JSON."""
    name, count, seed, folder = sys.argv[1:]
    (target,) = (target for target in TARGETS if target.name == name)
    path = Path(folder, f"input{target.suffix}")
    dice = random.Random(seed)  # noqa: S311 # repeatable on purpose
    good, tally = seeds()[name], Tally()
    for data in good:  # a first time, so that imports and caches are in memory before it is limited
        attempt(target.read, path, data, Tally())
    before = peak_megabytes()
    limit_memory()
    for data in good:
        attempt(target.read, path, data, tally)
    undamaged = tally.read
    for _ in range(int(count)):
        attempt(target.read, path, damaged(dice, dice.choice(good), good), tally)
    tally.memory = round(peak_megabytes() - before, 1)
    print(json.dumps({"target": name, "seeds": len(good), "seeds_read": undamaged, **tally.to_dict()}))


if __name__ == "__main__":
    main()
