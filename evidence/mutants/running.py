"""Running mutants: a copy of the package with one edit, the tests that must notice, in a process of their own."""

from __future__ import annotations

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evidence.mutants import Mutant

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tinct"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed if tests ran and at least one of them failed."""

    name: str
    file: str
    killed: bool
    by: str
    seconds: float
    fingerprint: str


class Workshop:
    """A copy of the package that can be edited; the copy comes first on the path of the tests it runs."""

    def __init__(self, home: Path) -> None:
        self.home = home
        shutil.copytree(SOURCE, home / "tinct", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(home / "tinct", quiet=2)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "TINCT"))}
        # bytecode is never written: that of an edited module would outlive the edit
        environment |= {
            "PYTHONPATH": os.pathsep.join([str(home), str(ROOT)]), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "NUMBA_CACHE_DIR": str(home / "kernels"),
        }  # fmt: skip
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "evidence.mutants.nursery"],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, tests: Iterable[str], *options: str) -> tuple[int, str]:
        """Run some tests against the copy as it is now; return pytest's exit code and what it printed."""
        output = self.home / "output.txt"
        arguments = ["-x", "-q", "-p", "no:cacheprovider", "--tb=line", *options, *(f"tests/{test}" for test in tests)]
        given, answered = self._nursery.stdin, self._nursery.stdout
        if given is None or answered is None:
            raise RuntimeError("the nursery was started without pipes")
        given.write(json.dumps({"arguments": arguments, "output": str(output)}) + "\n")
        given.flush()
        return int(answered.readline()), output.read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """End the nursery."""
        self._nursery.communicate()

    @contextmanager
    def edited(self, mutant: Mutant) -> Iterator[None]:
        """The copy with one edit, which is undone afterwards."""
        path = self.home / "tinct" / mutant.file
        good = path.read_text(encoding="utf-8")
        state = path.stat()
        path.write_text(mutated(mutant, good), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(good, encoding="utf-8")
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    def attempt(self, mutant: Mutant) -> Outcome:
        """Edit, test, and say what happened; a test session that did not run properly kills nothing."""
        started = time.monotonic()
        try:
            with self.edited(mutant):
                code, output = self.run(mutant.tests)
        except LookupError as error:  # the module has changed, and the mutant has to follow
            return Outcome(mutant.name, mutant.file, False, str(error), 0.0, fingerprint(mutant))
        killers = _FAILED.findall(output)
        killed = code == 1 and bool(killers)
        by = killers[0] if killed else f"pytest ended with {code}"
        seconds = round(time.monotonic() - started, 1)
        return Outcome(mutant.name, mutant.file, killed, by, seconds, fingerprint(mutant))


def mutated(mutant: Mutant, text: str) -> str:
    """The text with the edit; the place must be there exactly once."""
    if text.count(mutant.old) != 1:
        raise LookupError(f"{mutant.file}: the text of the mutant {mutant.name!r} must occur there exactly once")
    return text.replace(mutant.old, mutant.new)


def fingerprint(mutant: Mutant) -> str:
    """What the outcome depends on: the module, the edit and the files of the tests."""
    files = [
        SOURCE / mutant.file,
        *(ROOT / "tests" / name for name in sorted({t.split("::")[0] for t in mutant.tests})),
    ]
    digest = sha256(repr(mutant).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def workshop() -> Iterator[Workshop]:
    """A workshop in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="tinct-mutants-") as home:
        made = Workshop(Path(home))
        try:
            yield made
        finally:
            made.close()


def attempt_all(mutants: Iterable[Mutant], done: Callable[[Outcome], None], *, workers: int = 2) -> None:
    """Attempt mutants, some at a time, and report each as it is decided."""
    with ExitStack() as stack, ThreadPoolExecutor(workers) as pool:
        free: SimpleQueue[Workshop] = SimpleQueue()
        for _ in range(workers):
            free.put(stack.enter_context(workshop()))

        def one(mutant: Mutant) -> Outcome:
            mine = free.get()
            try:
                return mine.attempt(mutant)
            finally:
                free.put(mine)

        for outcome in pool.map(one, mutants):
            done(outcome)


def selections(mutants: Iterable[Mutant]) -> list[str]:
    """Every test that some mutant relies on, once."""
    return sorted({test for mutant in mutants for test in mutant.tests})
