"""One input, tried: what came of it, how long it took, and what it did to the memory."""

from __future__ import annotations

import resource
import signal
import time
import traceback
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tinct.errors import TinctError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evidence.fuzzing.targets import Read

SECONDS = 1.0
MEGABYTES = 256
_PATIENCE = 20  # seconds after which an input counts as one that never ends


@dataclass
class Tally:
    """How many inputs were read, how many refused with a documented error, and everything that must not be."""

    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    memory: float = 0.0
    faults: list[dict[str, Any]] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        """All inputs tried."""
        return self.read + self.refused + len(self.faults)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {**asdict(self), "inputs": self.inputs}


class NeverEnds(BaseException):
    """Raised from outside into a parser that does not come back; no handler of the library catches it."""


def attempt(read: Read, path: Path, data: bytes, tally: Tally) -> None:
    """Let a parser read some bytes, and enter into the tally what happened."""
    path.write_bytes(data)
    fault, seconds = _outcome(read, path)
    tally.slowest = max(tally.slowest, seconds)
    if not fault and seconds > SECONDS:
        fault = f"took {seconds:.2f} s"
    if fault:
        tally.faults.append({"fault": fault, "input": data[:4000].hex()})
    elif fault is None:
        tally.refused += 1
    else:
        tally.read += 1


def _outcome(read: Read, path: Path) -> tuple[str | None, float]:
    """An empty text if the bytes were read, None if they were refused, else what is wrong; and the time it took.

    The time is the processor's, so that other programs do not count.
    """
    started = time.process_time()
    try:
        with _impatience():
            read(path)
        fault: str | None = ""
    except TinctError:
        fault = None
    except NeverEnds:
        fault = f"took more than {_PATIENCE} s"
    except MemoryError:
        fault = f"needed more than {MEGABYTES} MB"
    except Exception:  # this is what fuzzing is for
        fault = traceback.format_exc(limit=-4)
    return fault, time.process_time() - started


@contextmanager
def _impatience() -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise NeverEnds

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(_PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def limit_memory() -> None:
    """Allow this process ``MEGABYTES`` more address space than it has now."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def peak_megabytes() -> float:
    """The most memory that this process has had at any time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
