"""Docstrings as Markdown: sections become lists, references become links, examples become blocks that run anywhere."""

from __future__ import annotations

import ast
import builtins
import doctest
import inspect
import re
import textwrap
from importlib import import_module
from types import ModuleType
from typing import Any

import tinct

_LONG = 100
_SECTIONS = ("Args", "Returns", "Yields", "Raises", "Attributes", "Example", "Examples", "Note")
_DOCUMENT = re.compile(r"docs/([\w./-]+)\.md(?: (§[\d.]*\d\w?))?")
_INLINE_CODE = re.compile(r"``(.+?)``", re.DOTALL)


def public_names(room: ModuleType) -> list[str]:
    """What a room offers: its ``__all__``, or what it defines itself."""
    listed = getattr(room, "__all__", None)
    if listed is not None:
        return sorted(listed)
    mine = [name for name, value in vars(room).items() if getattr(value, "__module__", "") == room.__name__]
    return sorted(name for name in mine if not name.startswith("_"))


def docstring(value: Any) -> str:
    """The docstring of a function or class."""
    parts: list[str] = []
    imports: list[str] = []
    block: list[str] = []
    known: set[str] = set()
    for piece in doctest.DocTestParser().parse(inspect.getdoc(value) or ""):
        if isinstance(piece, doctest.Example):
            imports += _imports(value, piece.source, known)
            block += [piece.source.rstrip("\n"), *(f"# {line}".rstrip() for line in piece.want.splitlines())]
        elif piece.strip():
            parts += [*_fenced(imports + block), prose(piece)]
            imports, block = [], []
    return "\n".join([*parts, *_fenced(imports + block)])


def _fenced(lines: list[str]) -> list[str]:
    """A block of code, with a blank line after its imports."""
    imports = next((at for at, line in enumerate(lines) if not line.startswith(("from ", "import "))), len(lines))
    spaced = [*lines[:imports], "", *lines[imports:]] if 0 < imports < len(lines) else lines
    return ["```python\n" + "\n".join(spaced) + "\n```\n"] if lines else []


def _imports(value: Any, source: str, done: set[str]) -> list[str]:
    """Imports of the names an example takes from the module it stands in, so that it runs anywhere."""
    module = import_module(value.__module__)
    tree = ast.parse(source)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    done |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    wanted = sorted(name for name in names - done if hasattr(module, name) and not hasattr(builtins, name))
    done |= names
    return [_import(module, name) for name in wanted]


def _import(module: ModuleType, name: str) -> str:
    value = getattr(module, name)
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if name in tinct.__all__ and getattr(tinct, name) is value:
        return f"from tinct import {name}"
    home = module.__name__.split(".")
    above = import_module(".".join(home[:2]))
    return f"from {above.__name__ if name in public_names(above) else module.__name__} import {name}"


def prose(text: str) -> str:
    """A docstring's text as Markdown: its sections as lists, its code in single marks, its references as links."""
    paragraphs = [_paragraph(part) for part in textwrap.dedent(text).strip("\n").split("\n\n")]
    return "\n\n".join(paragraphs) + ("\n" if "\n" in text or len(text) > _LONG else "")


def _paragraph(text: str) -> str:
    title, _, rest = text.partition("\n")
    if title.rstrip(":") in _SECTIONS and title.endswith(":"):
        return f"**{title}**\n\n{_items(textwrap.dedent(rest))}"
    if all(line.startswith("    ") or not line.strip() for line in text.split("\n")):
        return text  # Markdown's own sign for something to be shown as it is
    return inline(text)


def _items(text: str) -> str:
    """One bullet for each ``name: meaning``, its further lines being indented."""
    items = re.split(r"\n(?=\S)", text.strip("\n"))
    bullets = []
    for item in items:
        joined = " ".join(line.strip() for line in item.split("\n"))
        name, colon, meaning = joined.partition(": ")
        named = colon and re.fullmatch(r"[\w*. ,]+", name)
        bullets.append(f"- `{name}`: {inline(meaning)}" if named else f"- {inline(joined)}")
    return "\n".join(bullets)


def inline(text: str) -> str:
    """One paragraph: code in single marks, references as links."""
    pieces = _INLINE_CODE.split(text)
    for at in range(0, len(pieces), 2):
        plain = pieces[at].replace("<", "&lt;")
        pieces[at] = _DOCUMENT.sub(lambda found: _link(found[1], found[2]), plain)
    for at in range(1, len(pieces), 2):
        pieces[at] = f"`{pieces[at]}`"
    return "".join(pieces)


def _link(page: str, section: str | None) -> str:
    title = page.rpartition("/")[2].replace("-", " ")
    return f"[{title}{' ' + section if section else ''}](../{page}.md)"
