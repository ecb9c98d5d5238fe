"""Write requirements-dev.lock: every package of the development environment, pinned to the exact files.

    python tools/lock.py > requirements-dev.lock

pip resolves ``.[dev]`` as it would install it, without installing anything, and reports what it chose. The hashes are
those of the files for the Python and the machine that run this. ``pip install --require-hashes -r
requirements-dev.lock``, then ``pip install --no-deps -e .``, makes the same environment again.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
HEADER = """\
# The development environment, made by: python tools/lock.py > requirements-dev.lock
# For Python {python} on {machine}
# Install with: pip install --require-hashes -r requirements-dev.lock && pip install --no-deps -e .
"""


def resolved() -> list[dict[str, Any]]:
    """What pip would install for ``.[dev]``, apart from tinct itself."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    ended = subprocess.run([*command, ".[dev]"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if ended.returncode:
        sys.exit(ended.stderr)
    entries: list[dict[str, Any]] = json.loads(ended.stdout[ended.stdout.index("{") :])["install"]
    return [entry for entry in entries if entry["metadata"]["name"] != "tinct"]


def line(entry: dict[str, Any]) -> str:
    """One pinned package with the hash of its file."""
    name = re.sub(r"[-_.]+", "-", entry["metadata"]["name"]).lower()
    digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
    return f"{name}=={entry['metadata']['version']} \\\n    --hash=sha256:{digest}"


def main() -> None:
    """Print the lock file, sorted by name."""
    machine = f"{platform.system()} {platform.machine()}"
    sys.stdout.write(HEADER.format(python=platform.python_version(), machine=machine))
    sys.stdout.write("\n".join(sorted(map(line, resolved()))) + "\n")


if __name__ == "__main__":
    main()
