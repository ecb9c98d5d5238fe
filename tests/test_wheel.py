"""What is published: an sdist and a wheel that hold what they should, and work where nothing else is installed."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import tinct

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tinct"
pytestmark = [
    pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="the tests are not in a source tree"),
    pytest.mark.xdist_group("wheel"),  # one process: they share what is slow to start
]


def run(*command, cwd=ROOT, timeout=600):
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": "", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )


def build(target: str, source: Path, folder: Path) -> Path:
    ended = run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder, cwd=source)
    assert ended.returncode == 0, ended.stderr
    (made,) = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def source(sdist, tmp_path_factory):
    """The sdist, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / sdist.name.removesuffix(".tar.gz")


def members(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


def test_the_wheel_is_the_package_and_nothing_else(wheel):
    """Every file of the package, typed, its licence; no test, no cache, no path that leaves the folder."""
    found = set(members(wheel))
    own = {
        path.relative_to(ROOT / "src").as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc")
    }
    described = {name for name in found if name.startswith(f"tinct-{tinct.__version__}.dist-info/")}
    assert found - described == own
    assert "tinct/py.typed" in found
    assert {name.rpartition("dist-info/")[2] for name in described} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    }


def test_the_wheel_needs_only_the_base(wheel):
    """Five dependencies, the rest in extras; pure Python; the version of the package."""
    with zipfile.ZipFile(wheel) as archive:
        about = email.message_from_bytes(archive.read(f"tinct-{tinct.__version__}.dist-info/METADATA"))
    base = [line for line in about.get_all("Requires-Dist") if "extra ==" not in line]
    assert {re.match(r"[\w-]+", line)[0] for line in base} == {"numpy", "scipy", "numba", "typer", "rich"}
    assert about["Version"] == tinct.__version__
    assert wheel.name == f"tinct-{tinct.__version__}-py3-none-any.whl"


def test_the_sdist_builds_the_same_wheel(source, wheel, tmp_path):
    """Byte for byte, so whoever builds from source runs what was tested."""
    assert members(build("wheel", source, tmp_path)) == members(wheel)


def test_the_sdist_can_test_itself(source):
    """Tests, documentation, examples and the way to build them are in it."""
    for name in ("tests/conftest.py", "docs/index.md", "examples/survey.csv", "Makefile", "pyproject.toml", "LICENSE"):
        assert (source / name).exists(), name
    assert not list(source.rglob("*.pyc"))


def test_an_empty_environment_runs_the_wheel(wheel, tmp_path):
    """Installed without any extra, from the registry: the smoke test of ``tests/smoke.py``."""
    venv.create(tmp_path / "empty", with_pip=True, symlinks=True)
    python = tmp_path / "empty" / "bin" / "python"
    installed = run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel)
    if installed.returncode and not registry_answers(python, tmp_path):
        pytest.skip("there is no package registry to install the dependencies from")
    assert installed.returncode == 0, installed.stderr
    smoke = run(python, ROOT / "tests" / "smoke.py", cwd=tmp_path)
    assert smoke.returncode == 0, smoke.stdout + smoke.stderr


def registry_answers(python: Path, folder: Path) -> bool:
    """Whether anything at all can be had: then a failure is ours."""
    return run(python, "-m", "pip", "download", "--no-deps", "--quiet", "-d", folder, "rich").returncode == 0


# one version


def test_one_version_everywhere():
    """The package says it; changelog and citation agree, with the same date."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = dict(re.findall(r"^(version|date-released): [\"']?([^\"'\n]+)", citation, re.MULTILINE))
    assert cited["version"] == tinct.__version__
    releases = re.findall(r"^## \[(\d[^\]]*)\](?: - (\S+))?", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert releases[0][0] == tinct.__version__
    assert cited.get("date-released", "") == releases[0][1]  # neither has one before it is published


def test_the_citation_has_what_the_format_asks_for():
    """The fields that the Citation File Format 1.2.0 requires, and nothing twice."""
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    fields = [line.partition(":")[0] for line in lines if re.match(r"[a-z-]+:", line)]
    assert {"cff-version", "message", "title", "authors", "license", "version"} <= set(fields)
    assert len(set(fields)) == len(fields)


def test_every_locked_package_has_a_hash():
    """The development environment is pinned to exact files."""
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[A-Za-z0-9._-]+==[^\s;]+", entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
