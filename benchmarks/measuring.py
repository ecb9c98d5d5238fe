"""Time and memory, measured plainly."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def seconds(run: Callable[[], Any], repeats: int = 5) -> float:
    """The shortest of several runs: noise only ever adds."""
    return min(taken for (taken,) in turns([run], repeats))


def in_turns(runs: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """The shortest of several runs of each, one after the other in turns, so that a slow minute meets all of them."""
    return [min(times) for times in zip(*turns(runs, repeats), strict=True)]


def turns(
    runs: Sequence[Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> list[list[float]]:
    """How long each run took in each turn.

    With ``time.process_time`` as the clock, what other programs take from the processor does not count.
    """
    return [[_once(run, clock) for run in runs] for _ in range(repeats)]


def _once(run: Callable[[], Any], clock: Callable[[], float]) -> float:
    start = clock()
    run()
    return clock() - start


def extra_memory(code: str) -> int | None:
    """Bytes that ``run()`` in a fresh process takes at its peak beyond what was there before; None where unknown.

    ``code`` must define ``run``. Linux lets a process reset its own peak, so building the input does not count.
    """
    if not Path("/proc/self/clear_refs").exists():
        return None
    probe = f"""
{code}
run()  # compiles
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) * 1024
import gc
gc.collect()
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
result = run()
print(status("VmHWM") - before)
"""
    # every array of its own mapping, so that freed memory really leaves the process before the measurement
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, env=environment)
    return int(done.stdout.split()[-1])


def machine() -> str:
    """The shape of this machine, without its name."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    return f"{os.cpu_count()} cores ({model}), {memory:.0f} GB, Python {platform.python_version()}"
