"""Where a mutant applies: a place in the syntax of a definition, whatever its layout, its comments and its file."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from evidence.mutants import Mutant

_NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class _Place(NamedTuple):
    """Nodes that a pattern fits, the f-string around them, and what each ``...`` of the pattern stands for."""

    nodes: list[Any]
    string: ast.JoinedStr | None
    caught: dict[ast.AST, list[Any]]


class Package:
    """The modules of a package: their text by their path from the package on."""

    def __init__(self, modules: dict[str, str]) -> None:
        self.modules = modules
        self._definitions = [
            (name, file, node)
            for file, text in modules.items()
            for name, node in _definitions(ast.parse(text), file.removesuffix(".py").removesuffix("/__init__"))
        ]

    @classmethod
    def of(cls, folder: Path) -> Package:
        """Read every module in a folder."""
        files = sorted(folder.rglob("*.py"))
        return cls({file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files})

    def mutated(self, mutant: Mutant) -> tuple[str, str]:
        """The file that a mutant edits, and its text after the edit; there must be exactly one place for it."""
        old, new = _pair(mutant.old, mutant.new)
        places = {
            id(place.nodes[0]): (file, place)
            for name, file, node in self._definitions
            if f".{name}".endswith(f".{mutant.where}")
            for place in _places(old, node)
        }
        if len(places) != 1:
            raise LookupError(
                f"the mutant {mutant.name!r} must have exactly one place in {mutant.where}, "
                f"but there are {len(places)} like this: {mutant.old}"
            )
        [(file, place)] = places.values()
        return file, _edited(self.modules[file], place, _filled(new, place.caught))


def syntax(text: str, *, without: Callable[[ast.AST], bool] = lambda _: False) -> str:
    """The code of a module in a layout of its own: no comments, no docstrings, and no statements to leave out."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, *_NAMED)):
            node.body = [one for one in node.body if not (_is_docstring(one) or without(one))] or [ast.Pass()]
    return ast.unparse(tree)


def _definitions(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    """A module and the classes and functions in it, with dotted names."""
    if isinstance(node, (ast.Module, *_NAMED)):
        yield name.replace("/", "."), node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):  # which defines nothing
            yield from _definitions(child, f"{name}.{child.name}" if isinstance(child, _NAMED) else name)


# finding


def _pair(old: str, new: str) -> tuple[list[Any], list[Any]]:
    """Both sides of an edit: two expressions, or else two runs of statements."""
    sides: tuple[list[Any], list[Any]] = (ast.parse(textwrap.dedent(old)).body, ast.parse(textwrap.dedent(new)).body)
    if all(len(side) == 1 and isinstance(side[0], ast.Expr) for side in sides):
        return [sides[0][0].value], [sides[1][0].value]
    return sides


def _places(pattern: list[Any], node: ast.AST, string: ast.JoinedStr | None = None) -> Iterator[_Place]:
    """Every place below a node that the pattern fits."""
    for _, value in ast.iter_fields(node):
        items = value if isinstance(value, list) else [value]
        for at in range(len(items) - len(pattern) + 1):
            caught: dict[ast.AST, list[Any]] = {}
            nodes = items[at : at + len(pattern)]
            if all(_fits(one, other, caught) for one, other in zip(pattern, nodes, strict=True)):
                yield _Place(nodes, string, caught)
        for item in items:
            if isinstance(item, ast.AST):
                yield from _places(pattern, item, string or (item if isinstance(item, ast.JoinedStr) else None))


def _fits(pattern: Any, node: Any, caught: dict[ast.AST, list[Any]]) -> bool:
    if _is_anything(pattern):
        caught[pattern] = [node]
        return isinstance(node, ast.expr)
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, list):
        if len(pattern) == 1 and isinstance(pattern[0], ast.Expr) and _is_anything(pattern[0].value):
            caught[pattern[0]] = node  # any statements
            return True
        return len(pattern) == len(node) and all(_fits(*both, caught) for both in zip(pattern, node, strict=True))
    if isinstance(pattern, ast.Call) and len(pattern.args) == 1 and _is_anything(pattern.args[0]):
        caught[pattern.args[0]] = [*node.args, *node.keywords]  # any arguments
        return not pattern.keywords and _fits(pattern.func, node.func, caught)
    if isinstance(pattern, ast.AST):
        names = (name for name in pattern._fields if name not in ("kind", "type_comment"))
        return all(_fits(getattr(pattern, name, None), getattr(node, name, None), caught) for name in names)
    return bool(pattern == node)


def _is_anything(node: Any) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


# replacing


def _filled(new: list[Any], caught: dict[ast.AST, list[Any]]) -> list[Any]:
    """The replacement, in which the first ``...`` is what the first of the pattern stands for, and so on."""
    holes = sorted((node for one in new for node in ast.walk(one) if _is_anything(node)), key=_position)
    if len(holes) > len(caught):
        raise LookupError("a replacement has more ... than its pattern")
    stands = dict(zip(map(_position, holes), (caught[one] for one in sorted(caught, key=_position)), strict=False))
    return [
        made
        for one in new
        for made in _rebuilt(one, lambda node: stands.get(_position(node)) if _is_hole(node) else None)
    ]


def _is_hole(node: ast.AST) -> bool:
    return _is_anything(node.value if isinstance(node, ast.Expr) else node)


def _position(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _rebuilt(node: Any, change: Callable[[ast.AST], list[Any] | None]) -> list[Any]:
    """A copy of a node with parts of it replaced."""
    replaced = change(node) if isinstance(node, ast.AST) else [node]
    if replaced is not None:
        return replaced
    copy = type(node)()
    for name, value in ast.iter_fields(node):
        items = [made for item in (value if isinstance(value, list) else [value]) for made in _rebuilt(item, change)]
        setattr(copy, name, items if isinstance(value, list) else items[0])
    if isinstance(copy, ast.Call):  # arguments with and without a name may stand for the same ...
        copy.keywords += [one for one in copy.args if isinstance(one, ast.keyword)]
        copy.args = [one for one in copy.args if not isinstance(one, ast.keyword)]
    return [copy]


def _edited(text: str, place: _Place, new: list[Any]) -> str:
    """The text with other code in one place; all else stays as it is."""
    nodes = place.nodes
    if place.string is not None:  # before Python 3.12 the parts of an f-string have no position
        nodes, new = [place.string], _rebuilt(place.string, lambda node: new if node is place.nodes[0] else None)
    lines = [line + b"\n" for line in text.encode().split(b"\n")]  # positions count bytes
    top, bottom = nodes[0].lineno - 1, nodes[-1].end_lineno - 1
    before, after = lines[top][: nodes[0].col_offset], lines[bottom][nodes[-1].end_col_offset :]
    code = "\n".join(ast.unparse(ast.fix_missing_locations(one)) for one in new)
    if isinstance(nodes[0], ast.expr):
        code = f"({code})"
    elif lines[top].startswith(b"elif", nodes[0].col_offset):
        code = f"el{code}"
    code = code.replace("\n", "\n" + " " * nodes[0].col_offset)
    return b"".join([*lines[:top], before, code.encode(), after, *lines[bottom + 1 :]]).decode()[:-1]
