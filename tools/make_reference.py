"""Write the reference: one page for each room from its docstrings, and one for the commands from their help.

Run ``python tools/make_reference.py`` after changing a public name, a docstring or an option; ``tests/test_docs.py``
fails until that is done. Nothing but tinct itself is needed (decision 19 says why).
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any

import typer
from reference_text import docstring, inline, prose, public_names

import tinct
from tinct.cli.main import app

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
MARK = (
    "<!-- Written by tools/make_reference.py from the docstrings; edit those, not this file. -->\n<!-- fmt: off -->\n\n"
)
_INTERNAL = (
    "cli",
    "linear_programs",
    "numbers",
)  # means to an end; the command has a page of its own
_WIDTH = 100


def pages() -> dict[str, str]:
    """Every page of the reference, by its path below ``docs/reference``."""
    written = {f"{name}.md": _room_page(name) for name in rooms()}
    written["commands.md"] = _commands_page()
    written["index.md"] = _index_page(written)
    return {name: _tidy(text) for name, text in written.items()}


def rooms() -> list[str]:
    """The modules with public names, by their names below ``tinct``."""
    found = [module.name for module in pkgutil.iter_modules(tinct.__path__) if not module.name.startswith("_")]
    return [name for name in found if name not in _INTERNAL]


# pages


def _room_page(name: str) -> str:
    room = import_module(f"tinct.{name}")
    head = f"{MARK}# tinct.{name}\n\n{prose(inspect.getdoc(room) or '')}\n"
    return "\n".join([head, *(_entry(room, public) for public in public_names(room))])


def _tidy(text: str) -> str:
    """One blank line around headings and blocks, none at the end."""
    spaced = re.sub(r"(?<!\n)\n(?=#{2,3} )", "\n\n", text)
    return re.sub(r"\n{3,}", "\n\n", spaced).rstrip("\n") + "\n"


def _anchor(page: str, title: str) -> str:
    """Where the heading of a name is, counted as MkDocs does: ``Frontier`` and ``frontier`` differ."""
    seen: dict[str, int] = {}
    for marks, text in re.findall(r"^(#{1,3}) (.+)$", page, re.MULTILINE):
        slug = re.sub(r"[^\w\s-]", "", text).strip().lower().replace(" ", "-")
        number = seen[slug] = seen.get(slug, -1) + 1
        if marks == "##" and text == title:
            return f"{slug}_{number}" if number else slug
    raise LookupError(title)


def _index_page(written: dict[str, str]) -> str:
    lines = [
        f"{MARK}# Reference\n",
        "Every public name and every command. Names in the first table can be imported from `tinct` itself.\n",
        "## Names in tinct\n",
        "| name | what it is |\n| --- | --- |",
    ]
    for name in sorted(tinct.__all__, key=str.lower):
        value = getattr(tinct, name)
        if isinstance(value, ModuleType):
            lines.append(f"| [`{name}`]({name}.md) | {_first_line(value)} |")
        else:
            home = f"{tinct._WHERE[name].split('.')[1]}.md"  # an alias does not know its module
            lines.append(f"| [`{name}`]({home}#{_anchor(written[home], name)}) | {_first_line(value)} |")
    lines += ["\n## Rooms\n", "| room | what is in it |\n| --- | --- |"]
    lines += [f"| [`tinct.{name}`]({name}.md) | {_first_line(import_module(f'tinct.{name}'))} |" for name in rooms()]
    lines += ["\n## Commands\n", "| command | what it does |\n| --- | --- |"]
    for words, command in _commands():
        anchor = "-".join(words)
        lines.append(f"| [`{' '.join(words)}`](commands.md#{anchor}) | {prose(_summary(command.help or ''))} |")
    return "\n".join(lines) + "\n"


def _first_line(value: Any) -> str:
    if isinstance(value, UnionType):
        return f"For annotations: {_union(value)}.".replace("|", "\\|")
    return prose(_summary(inspect.getdoc(value) or "")).replace("|", "\\|").replace("\n", " ").strip()


def _summary(text: str) -> str:
    return text.strip().split("\n\n")[0]


# names


def _entry(room: ModuleType, name: str) -> str:
    value = getattr(room, name)
    parts = [f"## {name}\n"]
    if inspect.isclass(value):
        parts += _class_parts(value)
    elif isinstance(value, UnionType):
        parts.append(f"For annotations: {_union(value)}.\n")
    elif callable(value):
        parts += [_signature(name, value), docstring(value)]
    else:
        parts.append(f"`{type(value).__name__}`\n")
    return "\n".join(parts)


def _union(value: UnionType) -> str:
    """The kinds that an alias stands for, without the modules they are in."""
    return "`" + re.sub(r"\b(?:\w+\.)+", "", str(value)) + "`"


def _class_parts(kind: type) -> list[str]:
    plain = issubclass(kind, BaseException | enum.Enum)
    parts = [] if plain else [_signature(kind.__name__, kind)]
    if issubclass(kind, BaseException):
        parts.append(f"A kind of {', '.join(f'`{base}`' for base in _bases(kind))}.\n")
    automatic = (kind.__doc__ or "").startswith(f"{kind.__name__}(")  # what a dataclass writes itself
    if kind.__doc__ and not automatic:
        parts.append(docstring(kind))
    if issubclass(kind, enum.Enum):
        parts.append("\n".join(f"- `{member.name}`: {prose(str(member.value))}" for member in kind) + "\n")
    elif dataclasses.is_dataclass(kind):
        parts.append("\n" + _fields(kind))
    parts += [_member(kind, name, value) for name, value in _members(kind)]
    return [part for part in parts if part]


def _bases(kind: type) -> list[str]:
    """The nearest bases that have a public name."""
    found = [[base.__name__] if not base.__name__.startswith("_") else _bases(base) for base in kind.__bases__]
    return [name for names in found for name in names]


def _fields(kind: type) -> str:
    """Fields that the signature does not show."""
    given = inspect.signature(kind).parameters
    described = "Attributes:" in (kind.__doc__ or "")
    shown = [] if described else [field for field in dataclasses.fields(kind) if field.name not in given]
    return "\n".join(f"- `{field.name}`: `{_type(field.type)}`" for field in shown if field.name[0] != "_") + "\n"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _members(kind: type) -> list[tuple[str, Any]]:
    """Methods and properties with a docstring, of the class and of its bases in tinct."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("tinct"):
            found |= {name: value for name, value in vars(base).items() if not name.startswith("_")}
    described = [(name, value) for name, value in found.items() if inspect.getdoc(_function(value))]
    return [(name, value) for name, value in described if _is_member(value)]


def _is_member(value: Any) -> bool:
    return (
        hasattr(value, "func") or isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)
    )


def _function(value: Any) -> Any:
    """The function behind a property, a cached property or a class method."""
    for attribute in ("fget", "func", "__func__"):
        inner = getattr(value, attribute, None)
        if inner is not None:
            return inner
    return value


def _member(kind: type, name: str, value: Any) -> str:
    function = _function(value)
    title = f"### {kind.__name__}.{name}\n"
    if isinstance(value, property) or hasattr(value, "func"):
        returns = function.__annotations__.get("return")
        kind_of = f"`{_type(returns)}`. " if returns else ""
        return f"{title}\n{kind_of}{docstring(function)}"
    return (
        f"{title}\n{_signature(f'{kind.__name__}.{name}', function, method=not isinstance(value, staticmethod))}\n"
        + (docstring(function))
    )


def _signature(name: str, value: Any, *, method: bool = False) -> str:
    signature = inspect.signature(value)
    listed = list(signature.parameters.values())[1 if method else 0 :]
    shortened = signature.replace(parameters=listed)
    if inspect.isclass(value):
        shortened = shortened.replace(return_annotation=inspect.Signature.empty)
    text = f"{name}{_unquoted(shortened)}"
    if len(text) > _WIDTH:
        text = _broken(name, shortened)
    return f"```text\n{text}\n```\n"


def _unquoted(signature: inspect.Signature) -> str:
    """A signature whose annotations, texts all of them, stand there without quotation marks."""
    parts = _parameters(signature)
    return f"({', '.join(parts)}){_returns(signature)}"


def _returns(signature: inspect.Signature) -> str:
    given = signature.return_annotation
    return "" if given is inspect.Signature.empty else f" -> {_type(given)}"


def _parameters(signature: inspect.Signature) -> list[str]:
    parts: list[str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
        text = stars + parameter.name
        if parameter.annotation is not parameter.empty:
            text += f": {_type(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {parameter.default!r}" if ":" in text else f"={parameter.default!r}"
        parts.append(text)
    return parts


def _broken(name: str, signature: inspect.Signature) -> str:
    lines = ",\n".join(f"    {part}" for part in _parameters(signature))
    return f"{name}(\n{lines},\n){_returns(signature)}"


# commands


def _commands() -> list[tuple[tuple[str, ...], Any]]:
    """Every command with its words, groups before what is in them."""

    def walk(command: Any, words: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
        below = [walk(inner, (*words, name)) for name, inner in getattr(command, "commands", {}).items()]
        return [(words, command), *(entry for group in below for entry in group)]

    return walk(typer.main.get_command(app), ("tinct",))[1:]


def _commands_page() -> str:
    parts = [
        f"{MARK}# Commands\n",
        "`tinct --help` lists the commands, and `tinct COMMAND --help` says the same as this page. Exit codes: 0 fine, "
        "1 a check failed, 2 bad input, 130 interrupted. Errors go to standard error and name the fix.\n",
    ]
    for words, command in _commands():
        parts.append(f"## {' '.join(words)}\n\n{prose(inspect.cleandoc(command.help or ''))}\n")
        if not hasattr(command, "commands"):
            parts += _command_parts(words, command)
    return "\n".join(parts)


def _command_parts(words: tuple[str, ...], command: Any) -> list[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and "--help" not in one.opts]
    usage = " ".join([*words, *(_argument(one) for one in arguments), "[OPTIONS]"])
    parts = [f"```text\n{usage}\n```\n"]
    if arguments:
        parts.append("| argument | meaning |\n| --- | --- |")
        parts.append("\n".join(f"| `{_argument(one)}` | {_cell(one.help)} |" for one in arguments) + "\n")
    if options:
        parts.append("| option | meaning | if left out |\n| --- | --- | --- |")
        rows = [
            f"| `{', '.join(one.opts + one.secondary_opts)}` | {_cell(one.help)} | {_default(one)} |" for one in options
        ]
        parts.append("\n".join(rows) + "\n")
    examples = (command.epilog or "").removeprefix("Examples:").strip()
    if examples:
        parts.append("```text\n" + examples.replace("\n\n", "\n") + "\n```\n")
    return parts


def _argument(parameter: Any) -> str:
    name = (parameter.metavar or parameter.name).upper()
    return name if parameter.required else f"[{name.strip('[]')}]"


def _cell(text: str | None) -> str:
    return inline(text or "").replace("|", "\\|")


def _default(option: Any) -> str:
    if option.required:
        return "required"
    shown = getattr(option, "show_default", None)
    if isinstance(shown, str):
        return shown
    value = option.opts[0] if option.default is True else option.default  # of a pair, the one that holds
    return "" if value is None or value is False or value == () or callable(value) else f"`{value}`"


def main() -> None:
    """Write all pages and remove those of rooms that are gone."""
    FOLDER.mkdir(exist_ok=True)
    written = pages()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    for old in set(FOLDER.glob("*.md")) - {FOLDER / name for name in written}:
        old.unlink()


if __name__ == "__main__":
    main()
