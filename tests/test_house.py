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


def test_names_of_before_still_work_and_say_so():
    """A public name that was changed is found under the old one, with a warning."""
    with pytest.warns(DeprecationWarning, match="MechanismComparison"):
        assert tinct.rainbow.Comparison is tinct.rainbow.MechanismComparison
    with pytest.raises(AttributeError, match="no attribute"):
        tinct.rainbow.Nothing  # noqa: B018
