"""The house is in order: one name has one meaning, in classes and in files."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import tinct

HOME = Path(tinct.__file__).parent
MODULES = sorted(path for path in HOME.rglob("*.py") if not path.name.startswith("__"))
ROOMS = [path for path in MODULES if "studio" not in path.parts]  # the studio's pages are built alike on purpose


def package_of(path: Path) -> ModuleType:
    """The package in whose folder a module lies."""
    return import_module(".".join(["tinct", *path.parent.relative_to(HOME).parts]))


def exports(path: Path, name: str) -> bool:
    """Whether the package of a module offers a function or class of this name."""
    package = package_of(path)
    return name in getattr(package, "__all__", ()) and not isinstance(getattr(package, name), ModuleType)


def offers(path: Path, name: str) -> bool:
    """The same, or a method of this name."""
    package = package_of(path)
    return exports(path, name) or any(hasattr(getattr(package, each), name) for each in package.__all__)


def repeated(found: list[tuple[str, Path]]) -> dict[str, list[str]]:
    """The names that are found in several places."""
    places = defaultdict(list)
    for name, path in found:
        places[name].append(str(path.relative_to(HOME)))
    return {name: where for name, where in places.items() if len(where) > 1}


def test_no_class_name_is_used_twice():
    """Whoever reads a name of a class in one file need not ask which of two it is."""
    trees = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in ROOMS]
    classes = [(node.name, path) for path, tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert len(classes) > 100
    assert repeated(classes) == {}


def test_no_module_name_is_used_twice():
    """A name of a file says what is in it; only the same function for other data may lie in files of one name."""
    twice = [(path.stem, path) for path in ROOMS]
    for name, where in repeated(twice).items():
        assert name.startswith("_"), (name, where)
        assert all(offers(HOME / each, name[1:]) for each in where), (name, where)


def test_a_module_is_not_named_as_a_function_beside_it():
    """Importing the module would replace the function in the package: it takes an underscore."""
    hidden = [str(path.relative_to(HOME)) for path in ROOMS if exports(path, path.stem)]
    assert hidden == []


def test_no_module_looks_like_a_test():
    """Pytest would collect it."""
    assert [path.name for path in MODULES if re.fullmatch(r"test_.*|.*_test", path.stem)] == []


# what chooses among files, one for each command, format or kind: a file behind it is found by its name
CHOOSERS = {"cli/main.py", "graphs/formats/graph_files.py", "ledger/store.py", "sources/_open.py"}
# and files that only one other uses, and that stay apart although both would make a short one
APART = {
    "questions/modes/best_mean.py": "one of the rules that fill a table, with a proof of its own",
    "questions/modes/water_filling.py": "another one",
    "sources/rendered_dialects.py": "dialects of SQL are looked for by that name",
    "spark/parquet_rows.py": "how a kind of data is read",
}
SHORT = 400


def users() -> dict[str, set[str]]:
    """Which files use each file of the library as soon as they are imported: a file may be apart to be loaded later."""
    home = {".".join(["tinct", *path.relative_to(HOME).with_suffix("").parts]): path for path in HOME.rglob("*.py")}
    home = {name.removesuffix(".__init__"): str(path.relative_to(HOME)) for name, path in home.items()}
    found: dict[str, set[str]] = {place: set() for place in home.values()}
    for place in home.values():
        tree = ast.parse((HOME / place).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    known = home.get(f"{node.module}.{name.name}", home.get(node.module))
                    if known not in (None, place):
                        found[known].add(place if node in tree.body else "later")
    return found


def test_what_only_one_file_uses_stands_in_it():
    """A thought is one file, not a file and its only helper, unless it would be long, or is one of several kinds."""
    lines = {str(path.relative_to(HOME)): len(path.read_text(encoding="utf-8").splitlines()) for path in ROOMS}
    split = set()
    for place, by in users().items():
        [user, *others] = by or {""}
        if others or place not in lines or user not in lines or user in CHOOSERS:
            continue  # ROOMS has no __init__.py: what a package offers is found by its name
        if Path(user).parent == Path(place).parent and lines[place] + lines[user] < SHORT:
            split.add(place)
    assert split == set(APART)


def test_names_of_before_still_work_and_say_so():
    """A public name that was changed is found under the old one, with a warning."""
    with pytest.warns(DeprecationWarning, match="MechanismComparison"):
        assert tinct.rainbow.Comparison is tinct.rainbow.MechanismComparison
    with pytest.raises(AttributeError, match="no attribute"):
        tinct.rainbow.Nothing  # noqa: B018


# What "optimal" means is said where it is printed: one of the claims of docs/guarantees.md#what-optimal-means,
CLAIMS = re.compile(
    r"fair optimum|optimum for (?:the|these) (?:given |boundary )?(?:values|truths|rows)|optimum for given values"
    r"|optimum: no private mechanism"
)
# or words that were looked at one by one: they name the claim beside it, are about the very existence of an optimum, or
# about local mechanisms, whose notes say for what, among which mechanisms and under which conditions they are optimal.
LOOKED_AT = {
    "asking/joint_design.py": ("signed distance, capped: proved private",),
    "cli/main.py": ("Provably optimal differential privacy: every result says in which sense",),
    "cli/bench.py": ("optimal randomiser for 3,000 symbols",),
    "cli/local.py": (
        "Optimal randomiser",
        "–: too large to compute, or the optimum is 0.",
        "Optimal for: ",
        "[/bold] of the optimum",
        "[bold]Optimal cells[/bold] for ",
        "Two cells are optimal up to",
        "Randomized response on all ratios is not optimal",
        " distinct ratios is optimal from",
        "A named mechanism for --symbols, instead of the optimum",
        "optimal",
    ),
    "cli/local_reports.py": ("tinct local test reports.csv --mechanism optimal.json",),
    "local/_compare.py": ("optimal",),
    "local/_optimal.py": ("optimal",),
    "local/mechanisms/binary.py": (" (see regimes); never less than 1/(2(e^ε + 1)²) of the optimal KL",),
    "plots/_utilities.py": ("share of the optimal utility", "optimal cells for ", "Share of the optimum"),
    "rainbow/_optimum_exists.py": (
        "give the rows of a boundary-hitting set: without them there is hardly ever an optimum",
        "there is an optimum, but",
    ),
    "rainbow/envelope.py": (
        "whether there is an optimum below it was not looked into",
        "linear programs find an optimum, but",
        "the envelope is private: it is the optimum",
        "the envelope is not private, but there is an optimum below it",
        "there are private mechanisms, but no optimum",
    ),
}


def printed_texts(path: Path) -> list[str]:
    """All texts of a module that are not docstrings and not names of the library."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, scopes) and node.body]
    docstrings = {id(each.value) for each in first if isinstance(each, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    names = set(tinct.__all__) | {"optimum_exists", "ProgramOptimum"}
    return [text for text in texts if text not in names]


def test_the_word_optimal_is_printed_with_its_claim_only():
    """A new text with this word has to say which claim holds, or to be looked at and listed above."""
    word = re.compile(r"(?<![\w.])optim(?:al|um)(?![\w(])", re.IGNORECASE)
    loose, listed = [], set()
    for path in ROOMS:
        place = str(path.relative_to(HOME))
        for text in filter(word.search, printed_texts(path)):
            known = next((each for each in LOOKED_AT.get(place, ()) if text.startswith(each)), None)
            listed.add((place, known))
            if known is None and not CLAIMS.search(text):
                loose.append((place, text))
    assert loose == []
    gone = [(place, each) for place, texts in LOOKED_AT.items() for each in texts if (place, each) not in listed]
    assert gone == []  # what is no longer printed need not be listed
