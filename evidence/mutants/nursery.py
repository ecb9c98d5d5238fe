"""A process that has already imported what is slow to import, and forks a child for every test session.

It reads lines of JSON, ``{"arguments": [...], "output": path}``, and answers each with the child's exit code. The
package under test is not imported here, so every child imports it anew, as it is then.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys

_SLOW = (
    "numpy",
    "scipy.optimize",
    "scipy.stats",
    "pandas",
    "pyarrow.parquet",
    "duckdb",
    "mpmath",
    "hypothesis",
    "typer",
    "rich.table",
    "networkx",
    "_pytest.doctest",
)
_LONGEST = 900  # seconds; a session that takes longer is ended


def main() -> None:
    """Serve until there are no more lines."""
    import pytest

    for name in _SLOW:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if not child:
            signal.alarm(_LONGEST)
            output = os.open(task["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            code = int(pytest.main(task["arguments"]))
            sys.stdout.flush()
            os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
