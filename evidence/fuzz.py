"""The parts ``fuzzing`` and ``guided``: every parser attacked, blindly and led by coverage."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence import results
from evidence.fuzzing.targets import TARGETS
from evidence.fuzzing.trying import MEGABYTES, SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from evidence.fuzzing.targets import Target

PART, GUIDED = "fuzzing", "guided"
INPUTS, SLOW_INPUTS = 20_000, 2_000
RUNS, SLOW_RUNS = 20_000, 1_000
ROOT = Path(__file__).parents[1]
_STAT = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


def run(share: float = 1.0, *, resume: bool = False) -> dict[str, Any]:
    """Damage valid inputs at random, with limited memory.

    ``share`` is how much of the full counts is tried; with ``resume``, parsers that withstood that many before are not
    attacked again.
    """
    return _each(PART, _attack, _counts(share, INPUTS, SLOW_INPUTS), resume=resume)


def _counts(share: float, many: int, few: int) -> dict[Target, int]:
    return {target: max(1, int(share * (few if target.slow else many))) for target in TARGETS}


def _each(
    part: str, attack: Callable[[Target, int], Any], counts: dict[Target, int], *, resume: bool
) -> dict[str, Any]:
    """Attack parser by parser, two at a time, and save after each."""
    before = (results.load(part) or {}).get("targets", {}) if resume else {}
    wanted = {target.name: count for target, count in counts.items()}
    done = {n: f for n, f in before.items() if not f["faults"] and f["inputs"] >= wanted.get(n, f["inputs"] + 1)}
    left = [target for target in counts if target.name not in done]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(attack, left, [counts[target] for target in left]):
            done[found["target"]] = found
            print(_line(found))
            _save(part, done)
    return _save(part, done)


def _attack(target: Target, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tinct-fuzzing-") as folder:
        # one arena for all threads: each would set aside address space of its own, which the limit counts
        environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
        command = [sys.executable, "-m", "evidence.fuzzing.worker", target.name, str(count), "1", folder]
        run = _process(command, environment)
        if run.returncode == 0:
            found: dict[str, Any] = json.loads(run.stdout)
            return found
        culprit = Path(folder, f"input{target.suffix}")
        data = culprit.read_bytes()[:4000].hex() if culprit.exists() else ""
    fault = {"fault": f"the process ended with {run.returncode}: {run.stderr[-2000:]}", "input": data}
    nothing = {"read": 0, "refused": 0, "slowest": 0.0, "memory": 0.0}
    return {"target": target.name, "seeds": 0, "seeds_read": 0, **nothing, "faults": [fault], "inputs": 1}


def run_guided(share: float = 1.0, *, resume: bool = False) -> dict[str, Any]:
    """The same with atheris, if it is installed; otherwise the report says that it was not."""
    if importlib.util.find_spec("atheris") is None:
        return results.save(GUIDED, passed=False, targets={}, inputs=0, faults=0, note="atheris is not installed")
    return _each(GUIDED, _lead, _counts(share, RUNS, SLOW_RUNS), resume=resume)


def _lead(target: Target, runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tinct-guided-") as folder:
        command = [sys.executable, "-m", "evidence.fuzzing.guided", target.name, str(runs), folder]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        run = _process(command, environment)
        crashes = [*Path(folder).glob("crash-*"), *Path(folder).glob("timeout-*"), *Path(folder).glob("oom-*")]
        inputs = [crash.read_bytes()[:4000].hex() for crash in crashes]
    executed = _STAT.search(run.stderr)
    faults = [] if run.returncode == 0 else [{"fault": (run.stdout + run.stderr)[-3000:], "input": "".join(inputs[:1])}]
    return {"target": target.name, "inputs": int(executed[1]) if executed else 0, "faults": faults}


def _process(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 # our own modules
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def _save(part: str, done: dict[str, Any]) -> dict[str, Any]:
    done = {target.name: done[target.name] for target in TARGETS if target.name in done}
    faults = sum(len(found["faults"]) for found in done.values())
    fair = all(found.get("seeds") == found.get("seeds_read") for found in done.values())
    inputs = sum(found["inputs"] for found in done.values())
    return results.save(
        part, passed=not faults and fair and len(done) == len(TARGETS), inputs=inputs, faults=faults,
        seconds_allowed=SECONDS, megabytes_allowed=MEGABYTES, targets=done,
    )  # fmt: skip


def _line(found: dict[str, Any]) -> str:
    more = f", slowest {found['slowest']:.3f} s, memory +{found['memory']} MB" if "slowest" in found else ""
    return f"{found['target']:28} {found['inputs']:7,} inputs, {len(found['faults'])} faults{more}"
