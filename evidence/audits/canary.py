"""The part ``canary``: secrets planted in the data must not come out in anything that is said.

Every cell of the data, every count and every secret dataset is a canary. Errors are forced in many ways, and their
texts, causes and contexts, all log records, warnings, representations, everything the commands print and every byte of
the ledger are searched.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence import results
from evidence.audits.forcing import CANARIES, commands, errors, said
from tinct.errors import TinctError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PART = "canary"
# a number inside of a longer word, such as a digest in hexadecimal digits, is chance
_PATTERNS = {
    canary: re.compile(canary if canary.isalpha() else rf"(?<![0-9a-f]){re.escape(canary)}(?![0-9a-f])")
    for canary in CANARIES
}


@dataclass
class Scan:
    """How many errors were forced, how many texts searched, and where a canary was found.

    ``silent`` are calls that did not fail, ``undocumented`` those that failed with an error of somebody else's.
    """

    errors: int = 0
    searched: int = 0
    silent: list[str] = field(default_factory=list)
    undocumented: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def search(self, where: str, text: str) -> None:
        """Look for every canary in a text."""
        self.searched += 1
        lowered = text.lower()
        self.found += [f"{where}: {canary}" for canary, pattern in _PATTERNS.items() if pattern.search(lowered)]


def run() -> dict[str, Any]:
    """Force errors, look at everything that is said, and save what was found."""
    scan = scanned()
    print(f"{scan.errors} forced errors, {scan.searched} texts searched, {len(scan.found)} canaries found")
    return results.save(
        PART, passed=not (scan.found or scan.silent or scan.undocumented) and scan.errors >= 300, errors=scan.errors,
        searched=scan.searched, found=scan.found[:20], silent=scan.silent, undocumented=scan.undocumented,
    )  # fmt: skip


def scanned(*, every: int = 1) -> Scan:
    """The scan; with ``every`` = n only each n-th error is forced, and no command is run."""
    scan = Scan()
    with tempfile.TemporaryDirectory(prefix="tinct-scan-") as folder, _overheard(scan):
        home = Path(folder)
        for at, (name, act) in enumerate(errors(home)):
            if at % every == 0:
                _force(scan, name, act)
        for name, text in said(home):
            scan.search(name, text)
        if every == 1:
            for name, text in commands(home):
                scan.search(name, text)
        for path in sorted(home.glob("*.db*")):
            scan.search(f"the bytes of {path.name}", path.read_bytes().decode("latin-1"))
    return scan


def _force(scan: Scan, name: str, act: Callable[[], Any]) -> None:
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            act()
    except Exception as error:  # whatever it is, it must not tell
        scan.errors += 1
        if not isinstance(error, TinctError):
            scan.undocumented.append(f"{name}: {type(error).__name__}")
        for text in _texts(error):
            scan.search(name, text)
    else:
        scan.silent.append(name)
    scan.search(f"{name}, printed", output.getvalue())


def _texts(error: BaseException | None) -> Iterator[str]:
    """The error, what it carries and everything that hangs on to it, hidden or not."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield "".join(traceback.format_exception_only(one))
        yield f"{one!r} {one.args!r} {getattr(one, '__notes__', '')} {getattr(one, 'witness', '')!r}"
        waiting += [one.__cause__, one.__context__]


@contextlib.contextmanager
def _overheard(scan: Scan) -> Iterator[None]:
    """Everything that is logged or warned about in the meantime is searched as well."""

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.name.startswith("numba."):  # the byte code that it compiles, whose places are numbers like any
                return
            scan.search(f"a log record of {record.name}", record.getMessage())

    ear, root = Ear(level=0), logging.getLogger()
    level = root.level
    root.addHandler(ear)
    root.setLevel(0)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            scan.search("a warning", str(warning.message))
    finally:
        root.removeHandler(ear)
        root.setLevel(level)
