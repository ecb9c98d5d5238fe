"""Running mutants: a copy of the package with one edit, the tests that must notice, in a process of their own."""

from __future__ import annotations

import ast
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
from functools import cache
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from evidence.mutants.syntax import Package, syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evidence.mutants import Mutant

ROOT = Path(__file__).parents[2]
SOURCE, TESTS, PAIRS = ROOT / "src" / "tinct", ROOT / "tests", ROOT / "evidence" / "pairs"
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
        self.package = Package.of(SOURCE)
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
    def edited(self, mutant: Mutant) -> Iterator[str]:
        """The copy with one edit in the file that is named, which is undone afterwards."""
        file, bad = self.package.mutated(mutant)
        path = self.home / "tinct" / file
        state = path.stat()
        path.write_text(bad, encoding="utf-8")
        try:
            yield file
        finally:
            path.write_text(self.package.modules[file], encoding="utf-8")
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    def attempt(self, mutant: Mutant) -> Outcome:
        """Edit, test, and say what happened; a test session that did not run properly kills nothing."""
        started = time.monotonic()
        with self.edited(mutant) as file:
            code, output = self.run(mutant.tests)
        killers = _FAILED.findall(output)
        killed = code == 1 and bool(killers)
        by = killers[0] if killed else f"pytest ended with {code}"
        seconds = round(time.monotonic() - started, 1)
        return Outcome(mutant.name, file, killed, by, seconds, fingerprint(mutant, self.package))


def fingerprint(mutant: Mutant, package: Package) -> str:
    """While this is the same, a mutant that was killed counts as killed: the code of its module and of its tests.

    Layout, comments and docstrings are left out, since they decide no test. Messages are not: some tests fail on a
    mutant only because a refusal with other words takes over. Other modules are left out too, so an outcome can be
    older than a change elsewhere; without ``evidence/results/mutants.json`` all mutants are tried again.
    """
    digest = sha256(syntax(package.mutated(mutant)[1]).encode())
    for file in sorted({test.split("::")[0] for test in mutant.tests}):
        digest.update(_code(TESTS / file, mutant.tests).encode())
    return digest.hexdigest()[:16]


@cache
def _code(file: Path, tests: tuple[str, ...]) -> str:
    """What runs for some tests of a file: its code without the other tests, and the helpers that it imports."""
    text = file.read_text(encoding="utf-8")
    wanted = {test.split("::")[1].partition("[")[0] for test in tests}
    helpers = [
        one.read_text(encoding="utf-8")
        for one in sorted([*TESTS.glob("*.py"), *PAIRS.glob("*.py")])
        if re.search(rf"^(?:import|from) (?:evidence\.)?(?:{one.stem}|{one.parent.name})\b", text, re.MULTILINE)
    ]

    def is_another(node: ast.AST) -> bool:
        return isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and node.name not in wanted

    return "\n".join([repr(tests), syntax(text, without=is_another), *map(syntax, helpers)])


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
