"""Processes that compare pairs: on the library as it is, or on a copy of it with one wrong edit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence.mutants.running import ROOT, SOURCE
from evidence.mutants.syntax import Package

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evidence.mutants import Mutant

_MEMORY = Path("/dev/shm")  # noqa: S108 # where commits need not wait for a disk; a folder of its own is made in it


def compared(
    seed: str,
    first: int,
    stop: int,
    sources: tuple[str, ...],
    *,
    package: Path | None = None,
    most: int = 20,
) -> dict[str, Any]:
    """What a process finds in the pairs from ``first`` to ``stop``; if it dies, the pair in hand is to blame.

    ``package`` is a folder with another copy of tinct, and ``most`` the number of violations that are enough.
    """
    with workplace() as folder:
        task = {"seed": seed, "first": first, "stop": stop, "folder": str(folder), "sources": sources, "most": most}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [package or SOURCE.parent, ROOT]))}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(folder)}
        done = subprocess.run(  # noqa: S603 # our own module
            [sys.executable, "-m", "evidence.pairs.worker", json.dumps(task)],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            found: dict[str, Any] = json.loads(done.stdout)
            return found
        at = folder / "index"
        index = int(at.read_text(encoding="ascii")) if at.exists() else first
    law = f"the process ended with {done.returncode}"
    violation = {"law": law, "seed": seed, "index": index, "detail": done.stderr[-2000:], "source": ",".join(sources)}
    return {"pairs": index + 1 - first, "counts": {}, "violations": [violation]}


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder for the data and the ledgers, in memory if possible."""
    where = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tinct-pairs-", dir=where) as name:
        yield Path(name)


def noticed(mutant: Mutant, sources: tuple[str, ...], seed: str, pairs: int) -> int | None:
    """After how many pairs a wrong edit is noticed; None if it is not."""
    with tempfile.TemporaryDirectory(prefix="tinct-mutant-") as name:
        package = Path(name) / "tinct"
        shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
        file, bad = Package.of(SOURCE).mutated(mutant)
        (package / file).write_text(bad, encoding="utf-8")
        found = compared(seed, 0, pairs, sources, package=Path(name), most=1)
    return int(found["pairs"]) if found["violations"] else None
