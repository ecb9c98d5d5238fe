"""Files, read with suspicion and written all at once or not at all.

Everything here is about text on disk; what the text means is the business of the rooms above.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_BYTES = 2**30
MAX_DIGITS = 400
MAX_NESTING = 64
DELIMITERS = {".csv": ",", ".tsv": "\t"}

_GZIP = b"\x1f\x8b"
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LARGE_EXPONENT = re.compile(rb"[eE]\+?[0-9]{3}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")
_TO_QUOTE = re.compile(r'[,\t"\r\n]')

FilePath = str | os.PathLike[str]


# reading


def read_bytes(path: FilePath, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes. Compressed files are refused, not unpacked."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"a path must be text or a Path, got {path!r:.80}")
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise FileError(f"{path}: this is a folder, not a file")
        if not stat.S_ISREG(found.st_mode):  # a pipe or a device might never end
            raise FileError(f"{path}: this is not a regular file")
        with open(path, "rb") as file:
            # not `limit + 1` at once: that much memory would be set aside for the smallest file
            data = file.read(min(found.st_size, limit) + 1)
            if found.st_size < len(data) <= limit:  # it has grown, or does not say how large it is
                data += file.read(limit + 1 - len(data))
    except FileNotFoundError:
        raise FileError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        raise FileError(f"{path}: cannot be read: {_reason(error)}") from None
    if len(data) > limit:
        raise FileError(f"{path}: the file is larger than {limit:,} bytes, the most that is read")
    if data.startswith(_GZIP):
        raise FileError(f"{path}: the file is compressed with gzip: decompress it first (gunzip)")
    return data


def read_text(path: FilePath, limit: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file, without a byte order mark if there is one."""
    data = read_bytes(path, limit)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"{path}: line {line}: this is not UTF-8 text (byte {error.start:,}): save it as UTF-8"
        ) from None


def suffix_of(path: FilePath, known: Iterable[str]) -> str:
    """The suffix of a path in lower case, if it is one of the known ones."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"a path must be text or a Path, got {path!r:.80}")
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise FileError(f"{path}: the name must end in {', '.join(known)}, got {suffix or 'no suffix'!r}")
    return suffix


# writing


def write_atomically(path: FilePath, text: str) -> None:
    """Write a UTF-8 file in full, or leave whatever was there untouched.

    The text goes to a temporary file in the same folder, reaches the disk, and only then takes the name.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileError(
            f"{path}: character {error.start:,} is half a surrogate pair, which UTF-8 cannot hold"
        ) from None
    target = _target(path)
    folder, name = os.path.split(target)
    # not `tempfile`: its files are private, and its names come from a random generator
    part = os.path.join(folder, f".{name[:40]}.{os.getpid()}-{time.time_ns()}.part")
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(part, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(part, target)
    except BaseException as error:  # Ctrl-C too must leave nothing behind
        with suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError):
            raise FileError(f"{path}: cannot be written: {_reason(error)}") from None
        raise
    _sync_folder(folder)


def _target(path: FilePath) -> str:
    """The file to replace: behind a link, the file that it points to."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"a path must be text or a Path, got {path!r:.80}")
    try:
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise FileError(f"{path}: the folder {folder} does not exist: create it first")
        if os.path.isdir(target) or not os.path.basename(os.fspath(path)):
            raise FileError(f"{path}: this is a folder, not a file")
        if os.path.exists(target) and not os.path.isfile(target):
            raise FileError(f"{path}: this is not a regular file")
        if os.path.exists(target) and not os.access(target, os.W_OK):  # os.replace would not ask
            raise FileError(f"{path}: the file is write-protected")
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be written: {_reason(error)}") from None
    return target


def _sync_folder(folder: str) -> None:
    """Make the new name survive a power cut, where the system can; the content is safe already."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


# naming the file in errors


@contextmanager
def naming(path: FilePath) -> Iterator[None]:
    """Put the path in front of a ParameterError that the library raises about what a file holds."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


@contextmanager
def reading(path: FilePath, where: str) -> Iterator[None]:
    """Turn a ParameterError about one value into a FileError that says where the value stands."""
    try:
        yield
    except ParameterError as error:
        raise FileError(f"{path}: {where}: {error}") from None


# JSON


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


# tables of text


def guard_cell(text: str) -> str:
    """The text as a cell that a spreadsheet does not take for a formula: such a cell gets an apostrophe in front.

    >>> guard_cell("=1+1"), guard_cell("-1.5"), unguard_cell(guard_cell("=1+1"))
    ("'=1+1", '-1.5', '=1+1')
    """
    # an apostrophe that was there before gets a second one, so that reading back is unambiguous
    return f"'{text}" if _FORMULA.match(text) and not is_number(text) else text


def unguard_cell(text: str) -> str:
    """The text that ``guard_cell`` was given."""
    return text[1:] if _GUARDED.match(text) else text


def is_number(text: str) -> bool:
    """Whether a text is a plain decimal number."""
    return _NUMBER.fullmatch(text) is not None


def number(text: str) -> float:
    """A plain decimal number; names such as nan and inf are a ParameterError."""
    if not is_number(text) or len(text) > MAX_DIGITS:
        raise ParameterError(f"expected a number such as 0.25, got {text!r:.80}")
    value = float(text)
    if not math.isfinite(value):
        raise ParameterError(f"expected a number such as 0.25, got {text!r:.80} (too large)")
    return value


def read_sheet(path: FilePath) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a CSV or TSV file, and its rows with their line numbers.

    Blanks around cells do not count, guards are taken off, blank lines are skipped; a row that is too short or
    too long and an empty cell are errors.
    """
    delimiter = DELIMITERS[suffix_of(path, DELIMITERS)]
    lines = _records(read_text(path), delimiter, path)
    _, header = next(lines, (0, []))
    if not header:
        raise FileError(f"{path}: the file is empty: the first line must name the columns")
    return header, _full_rows(lines, header, path)


def _records(text: str, delimiter: str, path: FilePath) -> Iterator[tuple[int, list[str]]]:
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = records.line_num + 1  # where a record begins; with quoted line breaks it ends further down
        try:
            cells = [unguard_cell(cell.strip()) for cell in next(records)]
        except StopIteration:
            return
        except csv.Error as error:
            raise FileError(f"{path}: line {line}: not a table: {error}") from None
        if cells not in ([], [""]):
            yield line, cells


def _full_rows(
    lines: Iterator[tuple[int, list[str]]], header: Sequence[str], path: FilePath
) -> Iterator[tuple[int, list[str]]]:
    for line, cells in lines:
        if len(cells) != len(header):
            raise FileError(f"{path}: line {line}: {len(cells)} cells, but the header names {len(header)} columns")
        if "" in cells:
            raise FileError(f"{path}: line {line}: the cell under {header[cells.index('')]!r:.80} is empty")
        yield line, cells


def write_sheet(path: FilePath, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV or TSV file, with cells guarded against spreadsheets."""
    delimiter = DELIMITERS[suffix_of(path, DELIMITERS)]
    lines = [delimiter.join(map(_quoted, row)) for row in (header, *rows)]
    write_atomically(path, "\n".join([*lines, ""]))


def _quoted(text: str) -> str:
    cell = guard_cell(text)
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE.search(cell) else cell
