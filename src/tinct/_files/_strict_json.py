"""JSON that can be read in one way only."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tinct._files.loading import FilePath


MAX_DIGITS = 400
MAX_NESTING = 64

_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LARGE_EXPONENT = re.compile(rb"[eE]\+?[0-9]{3}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BEYOND = 1e300  # no number here is meant to be this large; Python's integers may be, and floats overflow


def strict_json(text: str, path: FilePath) -> Any:
    """What a JSON text says, if it says it in one way only.

    Duplicate keys, NaN and infinities (also as 1e999), numbers of more than 400 digits, halves of surrogate pairs,
    and brackets nested deeper than 64 are refused. Nesting is looked at before parsing, in linear time.

    >>> strict_json('{"a": [1, 2.5]}', "example.json")
    {'a': [1, 2.5]}
    """
    if not text.strip():
        raise FileError("the file is empty", path=path)
    outside = _outside_strings(text.encode("utf-8", "surrogatepass"))
    _require_shallow(outside, path)
    try:
        value = json.loads(text, object_pairs_hook=_Unique(path), **_number_hooks(outside, path))
    except json.JSONDecodeError as error:
        raise FileError(f"line {error.lineno}: not JSON: {error.msg} (column {error.colno})", path=path) from None
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
        raise FileError(f"the brackets are nested deeper than {MAX_NESTING}", path=path)


def _number_hooks(outside: bytes, path: FilePath) -> dict[str, Any]:
    def refuse(name: str) -> NoReturn:
        raise FileError(f"{name} is not a number that may stand here", path=path)

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
        raise FileError(f"the number {literal[:20]}… has more than {MAX_DIGITS} digits", path=path)


def _require_whole_characters(value: object, path: FilePath) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise FileError("a text has half a surrogate pair (\\ud800 to \\udfff)", path=path) from None


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
                    raise FileError(f"the key {name!r:.80} is given twice", path=self.path)
                seen.add(name)
        return found


def require_fields(
    value: object, path: FilePath, what: str, *, required: Sequence[str] = (), optional: Sequence[str] = ()
) -> dict[str, Any]:
    """The value if it is an object with all required fields and no unknown ones."""
    if not isinstance(value, dict):
        raise FileError(f"{what} must be an object with the fields {', '.join(required)}", path=path)
    missing = next((name for name in required if name not in value), None)
    if missing is not None:
        raise FileError(f"{what} has no field {missing!r}", path=path)
    unknown = next((name for name in value if name not in required and name not in optional), None)
    if unknown is not None:
        known = ", ".join([*required, *optional])
        raise FileError(f"{what} has an unknown field {unknown!r:.80}; known fields are {known}", path=path)
    return value


def require_schema(document: object, path: FilePath, schema: str) -> None:
    """Refuse a file that is not of this kind, before anything else is said about it."""
    if not isinstance(document, dict) or "schema" not in document:
        raise FileError(f"the file must be an object with the field 'schema': {schema!r}", path=path)
    if document["schema"] != schema:
        raise FileError(f"schema must be {schema!r}, got {document['schema']!r:.80}", path=path)


def require_list(value: object, path: FilePath, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise FileError(f"{field} must be a list, got {_shown(value)}", path=path)
    return value


def require_whole(value: object, path: FilePath, field: str) -> int:
    if type(value) is not int:
        raise FileError(f"{field} must be a whole number, got {_shown(value)}", path=path)
    return value


def require_number(value: Any, path: FilePath, field: str) -> float:
    if type(value) not in (int, float) or not -_BEYOND < value < _BEYOND:
        raise FileError(f"{field} must be a number, got {_shown(value)}", path=path)
    return float(value)


def _shown(value: object) -> str:
    return f"a list of {len(value)}" if isinstance(value, list) and len(value) > 4 else f"{value!r:.80}"
