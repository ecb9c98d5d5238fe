"""Run the core tests with the oldest packages that pyproject.toml allows, and with the newest on every Python there is.

    python tools/versions.py            # all
    python tools/versions.py oldest     # only the oldest, on the oldest Python
    python tools/versions.py 3.13       # only the newest, on this Python

Each environment is made in a temporary folder from the package registry. The Pythons are those on the path; the oldest
one gets the oldest packages too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("networkx", "data")
NEEDED = (
    "pytest>=8.2",
    "pytest-xdist>=3.6",
    "hypothesis>=6.100",
    "mpmath>=1.3",
    "python-flint>=0.6",
    "pandas>=2.2",
    "polars>=1.0",
    "matplotlib>=3.8",
)
CORE = (
    "privacy", "graphs", "files", "extension", "by_distance", "rainbow", "verification", "kernels", "exact", "sampler",
    "certificate", "questions", "modes", "local", "sources", "asking", "cli",
)  # fmt: skip


def main() -> int:
    """Try what is asked for; 1 if any of it failed."""
    wanted = sys.argv[1:]
    found = [version for version in PYTHONS if runs(version)]
    trials = [(version, False) for version in found] + [(found[0], True)]
    failed = []
    for version, oldest in trials:
        name = f"Python {version}, {'oldest' if oldest else 'newest'} packages"
        if wanted and ("oldest" if oldest else version) not in wanted:
            continue
        print(f"— {name}", flush=True)
        if not tried(version, oldest=oldest):
            failed.append(name)
    print(f"failed: {'; '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


def runs(version: str) -> bool:
    """Whether there is such a Python; a name on the path may be a placeholder."""
    path = shutil.which(f"python{version}")
    return path is not None and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0  # noqa: S603


def tried(version: str, *, oldest: bool) -> bool:
    """Make an environment, say what is in it, and run the core tests there."""
    with tempfile.TemporaryDirectory(prefix="tinct-versions-") as folder:
        python = str(Path(folder, "bin", "python"))
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        steps = [
            [f"python{version}", "-m", "venv", folder],
            [*install, f"{ROOT}[{','.join(EXTRAS)}]", *(lowest() if oldest else ()), *NEEDED],
            [python, "-m", "pip", "list", "--disable-pip-version-check", "--format=freeze"],
        ]
        for step in steps:
            ended = subprocess.run(step, capture_output=True, text=True, check=False)  # noqa: S603
            if ended.returncode:
                print(ended.stderr[-2000:])
                return False
        packages = {line.partition("==")[0].lower(): line for line in ended.stdout.split()}
        print(" ", ", ".join(packages[name] for name in sorted(required()) if name in packages), flush=True)
        tests = [str(ROOT / "tests" / f"test_{name}.py") for name in CORE]
        options = ["-q", "-n", "2", "-p", "no:cacheprovider"]
        return subprocess.run([python, "-m", "pytest", *options, *tests], cwd=ROOT, check=False).returncode == 0  # noqa: S603


def required() -> dict[str, str]:
    """The lowest allowed version of every package of the base and of the extras that are tried."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in EXTRAS for line in project["optional-dependencies"][extra])]
    return dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in lines)  # type: ignore[union-attr, misc]


def lowest() -> list[str]:
    """The same as pins, with whatever repairs these versions got; and what they ask too little of."""
    pins = [f"{name}=={version}" + ".*" * (version.count(".") < 2) for name, version in required().items()]
    return ["click==8.2.*", "pandas==2.2.*", *pins]


if __name__ == "__main__":
    sys.exit(main())
