"""The documentation does what it says: commands run, links lead somewhere, the reference is complete and up to date."""

from __future__ import annotations

import ast
import doctest
import io
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from markdown.extensions.toc import slugify, unique

import tinct
from tinct.cli import main

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINKED = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
GUIDES = ("tutorials", "howto", "concepts.md", "comparison.md", "guarantees.md")
COPIED = ("examples", "tools")  # what the pages' commands find in the folder they run in
SHELL = ("|", ">", "<", "&&", "$")

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\s+# exit (\d+)$")
_LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:img|a) [^>]*(?:src|href)=\"([^\"]+)\"")


@dataclass(frozen=True)
class Step:
    """One command of a page, with what it should print (nothing: anything) and how it should end."""

    command: str
    output: str
    code: int


def blocks(text: str, *languages: str) -> list[str]:
    return [body for language, body in _FENCE.findall(text) if language in languages]


def steps(page: Path) -> list[Step]:
    found: list[Step] = []
    for body in blocks(page.read_text(encoding="utf-8"), "console"):
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            line, _, output = part.replace("\\\n", "").partition("\n")
            ending = _EXIT.search(line)
            found.append(Step(_EXIT.sub("", line), output, int(ending[1]) if ending else 0))
    return found


WITH_COMMANDS = [page for page in PAGES if steps(page)]


def run(command: str) -> tuple[int, str]:
    """Run a line of the shell; a plain tinct command in this process, since starting one takes a second."""
    if command.startswith("tinct ") and not any(sign in command for sign in SHELL):
        return run_here(shlex.split(command, comments=True))
    words = ["bash", "-c", command]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout


def run_here(words: list[str]) -> tuple[int, str]:
    shown = io.StringIO()
    before, sys.argv = sys.argv, words
    try:
        with redirect_stdout(shown), redirect_stderr(shown):
            main.run()
    except SystemExit as ending:
        return int(ending.code or 0), shown.getvalue()
    finally:
        sys.argv = before
    return 0, shown.getvalue()


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_command_on_a_page_runs_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other in one new folder; ``...`` stands for what chance or the clock decides."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for step in steps(page):
        code, output = run(step.command)
        assert code == step.code, f"{step.command}\n{output}"
        if step.output.strip():
            example = doctest.Example(step.command, step.output)
            checker = doctest.OutputChecker()
            fits = checker.check_output(step.output, output, flags)
            assert fits, f"{step.command}\n{checker.output_difference(example, output, flags)}"


def test_there_are_commands_to_run() -> None:
    """Tutorials are about commands; a change of the pattern must not empty the test above."""
    assert sum(len(steps(page)) for page in WITH_COMMANDS) >= 40


def test_guides_have_no_code_that_is_not_run() -> None:
    """Their blocks are sessions (run by pytest), commands (run above), or text that is no code."""
    for page in PAGES:
        if page.relative_to(DOCS).parts[0] in GUIDES:
            languages = {language for language, _ in _FENCE.findall(page.read_text(encoding="utf-8"))}
            assert languages <= {"pycon", "console", "text"}, page


# the examples in the help


def help_examples() -> list[str]:
    """Every line that a command's help shows as an example, but for the page that waits for a browser."""
    commands = [*main.app.registered_commands]
    for group in main.app.registered_groups:
        commands += group.typer_instance.registered_commands if group.typer_instance else []
    texts = [command.epilog or "" for command in commands]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return [line for line in lines if line.startswith("tinct ") and not line.startswith("tinct studio")]


@pytest.mark.parametrize("line", help_examples())
def test_an_example_in_the_help_works_if_its_files_are_there(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder: it runs, or it misses a file, but there is nothing wrong with the line itself."""
    monkeypatch.chdir(tmp_path)
    code, output = run_here(shlex.split(line))
    missing = "there is no such file" in output or "there is no ledger" in output
    assert code == 0 or missing, f"{line}\n{output}"


# links


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as MkDocs makes them."""
    used: set[str] = set()
    body = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for title in re.findall(r"^#+ +(.+?) *#*$", body, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").replace("*", "")
        unique(slugify(plain, "-"), used)
    return used


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    """Relative links resolve from the page; links to other sites are not followed."""
    for pair in _LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        target = pair[0] or pair[1]
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target} does not exist"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{target}: there is no such heading"


# the reference


@pytest.fixture(scope="module")
def generator() -> Any:
    sys.path.insert(0, str(DOCS))
    try:
        return import_module("make_reference")
    finally:
        sys.path.remove(str(DOCS))


def headings(name: str) -> set[str]:
    return set(re.findall(r"^## (.+)$", (DOCS / "reference" / name).read_text(encoding="utf-8"), re.MULTILINE))


def rooms() -> list[ModuleType]:
    names = [found.name for found in pkgutil.iter_modules(tinct.__path__) if not found.name.startswith("_")]
    return [import_module(f"tinct.{name}") for name in names if name != "cli"]


def test_every_public_name_of_every_room_is_in_the_reference() -> None:
    """What a room lists in ``__all__`` has a heading on the room's page."""
    listing = [room for room in rooms() if hasattr(room, "__all__")]
    assert len(listing) >= 12
    for room in listing:
        page = f"{room.__name__.partition('.')[2]}.md"
        assert set(room.__all__) <= headings(page), page


def test_every_name_of_tinct_itself_is_in_the_index() -> None:
    """The index lists what can be imported from tinct, each with a link."""
    index = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    assert [name for name in tinct.__all__ if f"| [`{name}`](" not in index] == []


def test_every_command_is_in_the_reference() -> None:
    """Also those of groups; asked of Typer's own lists, not of the generator."""
    expected = {f"tinct {command.name}" for command in main.app.registered_commands}
    for group in main.app.registered_groups:
        inner = group.typer_instance
        assert inner is not None
        expected |= {
            f"tinct {group.name} {command.name or command.callback.__name__}"  # type: ignore[union-attr]
            for command in inner.registered_commands
        }
    assert len(expected) >= 14
    assert expected <= headings("commands.md")


def test_the_reference_is_what_the_docstrings_say_now(generator: Any) -> None:
    """If this fails, run ``python docs/make_reference.py`` and commit what it writes."""
    pages = generator.pages()
    folder = DOCS / "reference"
    assert {path.name for path in folder.glob("*.md")} == set(pages)
    stale = [name for name, text in pages.items() if (folder / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run python docs/make_reference.py"


def test_the_reference_does_not_depend_on_the_moment(generator: Any) -> None:
    """No memory address, no path of this machine."""
    for name, text in generator.pages().items():
        assert not re.search(r"0x[0-9a-f]{6,}|/home/|/work/", text), name


def test_every_example_of_the_reference_is_python(generator: Any) -> None:
    """What the docstrings show is still code after prompts are gone and results have become comments."""
    found = [block for text in generator.pages().values() for block in blocks(text, "python")]
    assert len(found) >= 60
    for block in found:
        ast.parse(block)
