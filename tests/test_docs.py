"""The documentation does what it says: commands run, links lead somewhere, the reference is complete and up to date."""

from __future__ import annotations

import ast
import doctest
import io
import json
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from markdown.extensions.toc import slugify, unique
from typer.main import get_command

import tinct
from tinct.cli import main
from tinct.local.mechanism_files import read_mechanism
from tinct.questions.modes import ModeCertificate
from tinct.questions.noise import NoiseCertificate

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LONGEST = 125  # characters in a line of prose
TOOLS = ROOT / "tools"
PAGES = sorted(DOCS.rglob("*.md"))
README = ROOT / "README.md"
LINKED = [*PAGES, README, *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"))]
COPIED = ("examples", "tools")  # what the pages' commands find in the folder they run in
SHELL = ("|", ">", "<", "&&", "$")
# what these tests cannot do: install, wait for a browser, reach somebody's server; Spark has tests of its own
SETUP = re.compile(r"pip install |make |source |\. \.venv|tinct studio|tinct .*(postgresql://|--engine spark)")

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


WITH_COMMANDS = [page for page in [*PAGES, README] if steps(page)]


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


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
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


def test_the_measurements_of_the_readme_are_rows_of_the_results() -> None:
    """Five of them, word for word."""
    bench = README.read_text(encoding="utf-8").partition("<!-- bench -->")[2].partition("<!-- /bench -->")[0]
    rows = [line for line in bench.splitlines() if line.startswith("| ")][2:]
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 5
    assert set(rows) <= set(results)


def test_there_are_commands_to_run() -> None:
    """Tutorials are about commands; a change of the pattern must not empty the test above."""
    assert sum(len(steps(page)) for page in WITH_COMMANDS) >= 40


def test_sessions_of_the_readme_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the pages under docs are collected by pytest itself."""
    monkeypatch.chdir(ROOT)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testfile(str(README), module_relative=False, optionflags=flags)
    assert found.attempted >= 5
    assert found.failed == 0


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_has_code_that_is_not_run(page: Path) -> None:
    """Blocks are sessions (run by pytest), commands (run above), files (read below), or text that is no code.

    The reference shows examples of docstrings, which run where they stand; one page has a script for Spark, which
    tests/test_spark.py runs, and one has JavaScript, which tests/test_collecting.py runs.
    """
    if page.is_relative_to(DOCS / "reference"):
        return
    elsewhere = {DOCS / "scale.md": {"python"}, DOCS / "client.md": {"html", "js", "go"}}
    allowed = {"pycon", "console", "text", "json", "xml"} | elsewhere.get(page, set())
    for language, body in _FENCE.findall(page.read_text(encoding="utf-8")):
        assert language in allowed
        if language == "text":
            lines = [line for line in body.splitlines() if re.match(r"(\$ )?(tinct|python|pip|make|source|\.) ", line)]
            assert [line for line in lines if not SETUP.match(line)] == [], "commands belong in a console block"


@pytest.mark.parametrize("page", [page for page in PAGES if "reference" not in page.parts], ids=lambda page: page.stem)
def test_prose_is_wrapped(page: Path) -> None:
    """A change to a sentence shows as a change to a line or two; tables, pictures, formulas and code may be long."""
    text = re.sub(r"^ *(```|\$\$).*?^ *\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in text.splitlines() if not line.startswith(("|", "!", "$$")) and "$" not in line]
    assert [line for line in lines if len(line) > LONGEST] == []


def test_every_file_that_the_format_page_shows_can_be_read(tmp_path: Path) -> None:
    """Graphs, mechanisms and certificates are read by the library; rows and values are JSON or a table of cells."""
    seen = set()
    for language, body in _FENCE.findall((DOCS / "files.md").read_text(encoding="utf-8")):
        if language not in ("json", "xml", "text"):
            continue
        suffix = {"json": ".json", "xml": ".graphml"}.get(language, ".csv")
        path = tmp_path / f"example{suffix}"
        path.write_text(body, encoding="utf-8")
        kind = re.search(r'"schema": "tinct/([\w-]+)@[12]"', body)
        first = kind[1] if kind else body.partition(",")[0] if language == "text" else language
        seen.add(first)
        if first in ("graph", "xml", "source"):
            assert len(tinct.graphs.read(path).graph) == 3
        elif first == "mechanism":
            assert tinct.Mechanism.from_json(path).outputs == ("no", "yes")
        elif first == "certificate":
            assert tinct.exact.Certified.from_json(path).denominator == 300
        elif first == "mode-certificate":
            assert ModeCertificate.from_json(path).categories == ("checkup", "injury")
        elif first == "noise-certificate":
            assert NoiseCertificate.from_json(path).noise.ends == (-1, 1)
        elif first == "local":
            assert read_mechanism(path).symbols == ("car", "bus")
        elif first == "local-chain":
            chain = tinct.local.Chain.from_json(path)
        elif first == "memo":
            assert chain.answer("yes", tinct.local.Memory.from_text(body))[1].drawn == {0: 1}
        elif first == "local-counts":
            survey = tinct.local.randomized_response(3, 1, symbols=["yes", "no", "unsure"])
            assert tinct.local.Tally.from_json(path, survey).reports == 4
        elif language == "json":
            assert json.loads(body)
        elif body.startswith("{"):
            reports = path.rename(path.with_suffix(".jsonl"))
            read = tinct.local.tally(reports, tinct.local.randomized_response(4, 1), most_rejected=1)
            assert (read.reports, read.rejected.total(), read.others.total()) == (1, 1, 1)
        else:
            assert {line.count(",") for line in body.splitlines()} == {body.partition("\n")[0].count(",")}
    assert seen >= {"graph", "xml", "source", "mechanism", "certificate", "mode-certificate", "local", "vertex", "json"}


def test_the_names_of_the_architecture_page_are_all_there_and_all_exist() -> None:
    """Its list of public names has every name of tinct itself, and nothing that rooms do not have."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## Public names")[2]
    listed = next(body for language, body in _FENCE.findall(text) if language == "text")
    words = set(re.findall(r"\w+", listed))
    assert {name for name in tinct.__all__ if name not in words} == set()
    for room, name in re.findall(r"\b(graphs|rainbow|exact|local|baselines|interop)\.(\w+)", listed):
        assert hasattr(import_module(f"tinct.{room}"), name), f"{room}.{name}"


# the claims


@cache
def known_tests() -> set[tuple[str, str]]:
    """Every test function with its file, from the syntax trees."""
    files = [*(ROOT / "tests").glob("test_*.py")]
    trees = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    return {
        (file, node.name) for file, tree in trees.items() for node in tree.body if isinstance(node, ast.FunctionDef)
    }


def test_every_test_that_the_page_of_claims_names_exists() -> None:
    """And so do the parts of the evidence and the targets of make that it names."""
    text = (DOCS / "claims.md").read_text(encoding="utf-8")
    named = re.findall(r"`tests/(\w+)\.py::(\w+)`", text)
    assert len(named) >= 80
    assert sorted(set(named) - known_tests()) == []
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)`", text)) <= set(targets)
    parts = set(re.findall(r"`python -m evidence (\w+)`", text))
    assert parts
    assert parts <= set(import_module("evidence.__main__").PARTS)


def test_every_attack_names_tests_that_exist() -> None:
    """Each of the nine sections, and each row of the smaller ones, says which test keeps the attack out."""
    text = (DOCS / "security" / "attacks.md").read_text(encoding="utf-8")
    *_, smaller = sections = re.split(r"^### \d\. ", text, flags=re.MULTILINE)[1:]
    rows = [line for line in smaller.partition("\n## ")[0].splitlines() if line.startswith("| ")][2:]
    assert len(sections) == 9
    assert len(rows) > 5
    for part in [*sections, *rows]:
        named = re.findall(r"`tests/(\w+)\.py::(\w+)`", part)
        assert named, part
        assert sorted(set(named) - known_tests()) == []


def test_every_test_that_a_proof_or_a_decision_names_exists() -> None:
    """A proof says which tests execute it; a test that was renamed must be renamed there."""
    names = {name for _, name in known_tests()} | {file for file, _ in known_tests()}
    for page in [*DOCS.glob("proofs/*.md"), *DOCS.glob("decisions/*.md")]:
        named = set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")))
        assert sorted(named - names) == [], page


# the examples in the help


def help_examples() -> list[str]:
    """Every line that a command's help shows as an example, but for the page that waits for a browser."""
    commands = [*main.app.registered_commands]
    for group in main.app.registered_groups:
        commands += group.typer_instance.registered_commands if group.typer_instance else []
    texts = [command.epilog or "" for command in commands]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return [line for line in lines if line.startswith("tinct ") and not line.startswith("tinct studio")]


def parse(words: list[str]) -> None:
    """Read the options of a command without running it; an option that does not exist is an error."""
    command: Any = get_command(main.app)
    context = command.make_context("tinct", words)
    while hasattr(command, "resolve_command"):
        name, command, words = command.resolve_command(context, words)
        context = command.make_context(name, words, parent=context)


@pytest.mark.parametrize("line", help_examples())
def test_an_example_in_the_help_works_if_its_files_are_there(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder: it runs, or it misses a file, but there is nothing wrong with the line itself."""
    monkeypatch.chdir(tmp_path)
    if "--engine spark" in line:  # which would start Spark before it misses a file: only its options are looked at
        parse(shlex.split(line)[1:])
        return
    code, output = run_here(shlex.split(line))
    missing = any(part in output for part in ("there is no such file", "there is no ledger", "the host is not known"))
    assert code == 0 or missing, f"{line}\n{output}"


# links


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings: those that are given, the others as MkDocs makes them."""
    used: set[str] = set()
    body = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for title in re.findall(r"^#+ +(.+?) *#*$", body, re.MULTILINE):
        given = re.search(r"\{ #([\w-]+) \}$", title)
        if given:
            used.add(given[1])
            continue
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


# the site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return folder


def test_the_site_builds_and_loads_nothing_from_elsewhere(site: Path) -> None:
    """No script, style, font or picture has an address on another server."""
    loaded = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*\s(?:src|href)=\"?(?:https?:)?//")
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) == len(PAGES)
    for page in pages:
        assert loaded.findall(page.read_text(encoding="utf-8")) == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(\"?(https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet


def test_every_formula_is_set(site: Path) -> None:
    """Nothing of the LaTeX is left on a page, and the pages of mathematics have formulas."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "arithmatex" not in text, page
        prose = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert not re.search(r"\$|\\(le|ge|delta|varepsilon|frac)\b", prose), page
    assert (site / "theory.html").read_text(encoding="utf-8").count("<math") >= 500


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_drawing_has_a_twin_for_the_dark(page: Path) -> None:
    """Drawings come in both themes; the page shows the one that fits."""
    found = re.findall(r"!\[([^\]]*)\]\(([^)#]+\.svg)(#\S+)?\)", page.read_text(encoding="utf-8"))
    light, dark = found[::2], found[1::2]
    assert [(text, name.replace(".svg", "-dark.svg"), "#only-dark") for text, name, _ in light] == dark
    assert all(shown == "#only-light" for _, _, shown in light)


# the reference


@pytest.fixture(scope="module")
def generator() -> Any:
    sys.path.insert(0, str(TOOLS))
    try:
        return import_module("make_reference")
    finally:
        sys.path.remove(str(TOOLS))


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
    """If this fails, run ``python tools/make_reference.py`` and commit what it writes."""
    pages = generator.pages()
    folder = DOCS / "reference"
    assert {path.name for path in folder.glob("*.md")} == set(pages)
    stale = [name for name, text in pages.items() if (folder / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run python tools/make_reference.py"


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
