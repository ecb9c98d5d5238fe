"""JSON that can be read in one way only."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tinct._files.loading import FilePath

MAX_DIGITS = 400
MAX_NESTING = 64

_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LARGE_EXPONENT = re.compile(rb"[eE]\+?[0-9]{3}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def strict_json(text: str, path: FilePath) -> Any:
    """What a JSON text says, if it says it in one way only.

    Duplicate keys, NaN and infinities (also as 1e999), numbers of more than 400 digits, halves of surrogate pairs,
    and brackets nested deeper than 64 are refused. Nesting is looked at before parsing, in linear time.

    >>> strict_json('{"a": [1, 2.5]}', "example.json")
    {'a': [1, 2.5]}
    """
    if not text.strip():
        raise FileError(f"{path}: the file is empty")
    outside = _outside_strings(text.encode("utf-8", "surrogatepass"))
    _require_shallow(outside, path)
    try:
        value = json.loads(text, object_pairs_hook=_Unique(path), **_number_hooks(outside, path))
    except json.JSONDecodeError as error:
        raise FileError(f"{path}: line {error.lineno}: not JSON: {error.msg} (column {error.colno})") from None
    if _SURROGATE.search(text):
        _require_whole_characters(value, path)
    return value


def json_text(fields: Mapping[str, Any]) -> str:
    """An object as JSON with one field per line. Floats keep every digit; NaN is a ParameterError."""
    try:
        lines = [
            f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(',', ':'))}"
            for name, value in fields.items()
        ]
    except ValueError:
        raise ParameterError("NaN and infinities cannot be written") from None
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _outside_strings(data: bytes) -> bytes:
    """The JSON without its strings: what stands between an even and the next odd quotation mark."""
    unescaped = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b" ".join(unescaped.split(b'"')[::2])


def _require_shallow(outside: bytes, path: FilePath) -> None:
    brackets = outside.translate(_BRACKETS, _NOT_BRACKETS)
    too_deep = b"[" * (MAX_NESTING + 1)
    for _ in range(MAX_NESTING):
        if too_deep in brackets:
            break
        rest = brackets.replace(b"[]", b"")  # without the innermost level, everywhere at once
        if len(rest) == len(brackets):  # gone, or unbalanced: the parser says where
            return
        brackets = rest
    if brackets:
        raise FileError(f"{path}: the brackets are nested deeper than {MAX_NESTING}")


def _number_hooks(outside: bytes, path: FilePath) -> dict[str, Any]:
    def refuse(name: str) -> NoReturn:
        raise FileError(f"{path}: {name} is not a number that may stand here")

    def whole(literal: str) -> int:
        _require_few_digits(literal, path)
        return int(literal)

    def real(literal: str) -> float:
        _require_few_digits(literal, path)
        value = float(literal)
        return value if math.isfinite(value) else refuse(f"{literal[:40]} (too large)")

    hooks: dict[str, Any] = {"parse_constant": refuse}
    # a call for every number is slow, so it is made only where a number can be too long or too large
    if b"0" * 100 in outside.translate(_ZEROS) or _LARGE_EXPONENT.search(outside):
        hooks |= {"parse_int": whole, "parse_float": real}
    return hooks


def _require_few_digits(literal: str, path: FilePath) -> None:
    digits = sum(character.isdigit() for character in literal[: 2 * MAX_DIGITS])
    if digits > MAX_DIGITS:
        raise FileError(f"{path}: the number {literal[:20]}… has more than {MAX_DIGITS} digits")


def _require_whole_characters(value: Any, path: FilePath) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise FileError(f"{path}: a text has half a surrogate pair (\\ud800 to \\udfff)") from None


class _Unique:
    """An object from pairs, refusing a key that comes twice."""

    def __init__(self, path: FilePath) -> None:
        self.path = path

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    raise FileError(f"{self.path}: the key {name!r:.80} is given twice")
                seen.add(name)
        return found
