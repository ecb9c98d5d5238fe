"""``python -m evidence.pairs.command TASK``: the command ``tinct`` in a process of its own, with the dice watched."""

from __future__ import annotations

import json
import sys

from evidence.pairs.watching import Watch, watched
from tinct.__main__ import main

if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    sys.argv = ["tinct", *task["arguments"]]
    with watched(Watch(task["turn"], frozenset(task["hidden"]))):
        main()
