"""The beginning of a file: whether it is what its name says, and the names of its columns.

Only the first line is looked at here. It is taken to be public, as the schema is.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from typing import TYPE_CHECKING, Any

from tinct._files import read_bytes
from tinct.errors import FileError, ParameterError
from tinct.questions.predicates import require_column

if TYPE_CHECKING:
    from pathlib import Path

MAX_HEAD = 2**20
MAX_COLUMNS = 10_000
_FOREIGN = (
    (b"PAR1", "a Parquet file: name it .parquet"),
    (b"\x1f\x8b", "compressed with gzip: decompress it first (gunzip)"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet: save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet: save it as CSV"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
    (b"SQLite format 3", "an SQLite database"),
    (b"ARROW1", "an Arrow file: save it as Parquet"),
)
_JSON = re.compile(r"\s*[{\[]\s*[\"{\[}\]]")


def read_head(path: Path) -> bytes:
    """The first megabyte of a regular, non-empty file."""
    if re.search(r"[*?\[\]{}]", str(path)):  # the engine would look for several files
        raise FileError(f"{path}: the path must not hold any of * ? [ ] {{ }}: rename the file")
    if not path.exists() or not path.is_file():
        read_bytes(path)  # says what is wrong with it
    try:
        with path.open("rb") as file:
            head = file.read(MAX_HEAD)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    if not head.strip():
        raise FileError(f"{path}: the file is empty")
    return head


def header(path: Path, head: bytes, suffix: str) -> tuple[str, tuple[str, ...]]:
    """The delimiter of a CSV or TSV file and the names of its columns."""
    text = _text(path, head, suffix)
    if _JSON.match(text):
        raise FileError(f"{path}: this looks like JSON, not {suffix}: JSON lines are named .jsonl")
    if text.lstrip()[:1] == "<":
        raise FileError(f"{path}: this looks like a web page or XML, not {suffix}")
    line = text.splitlines()[0]
    delimiter = "\t" if suffix == ".tsv" else ";" if ";" in line and "," not in line else ","
    if delimiter not in line and (other := "," if suffix == ".tsv" else "\t") in line:
        raise FileError(f"{path}: the first line has {other!r} but no {delimiter!r}: is this really {suffix}?")
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error:
        names = []
    return delimiter, _names(path, [name.strip() or f"column {at}" for at, name in enumerate(names, 1)])


def first_keys(path: Path, head: bytes, suffix: str) -> tuple[str, ...]:
    """The keys of the first object of a JSON lines file."""
    text = _text(path, head, suffix).lstrip()
    line = text.splitlines()[0]
    found: Any = None
    problem = 'the first line must be a JSON object such as {"age": 41, "ward": "N"}'
    if line.startswith("["):
        problem = "this is a JSON array, not JSON lines: write one object on each line"
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):  # not chained: the message would quote the line
        found = None
    if not isinstance(found, dict) or not found:
        raise FileError(f"{path}: {problem}")
    return _names(path, list(found))


def require_parquet(path: Path, head: bytes) -> None:
    """Refuse what does not begin and end like a Parquet file."""
    with path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - 4))
        tail = file.read(4)
    if not head.startswith(b"PAR1"):
        raise FileError(f"{path}: this is not a Parquet file: it does not begin with PAR1")
    if tail != b"PAR1" or len(head) < 12:
        raise FileError(f"{path}: this Parquet file is incomplete: it does not end with PAR1")


def _text(path: Path, head: bytes, suffix: str) -> str:
    """The first lines as text, if they are text at all."""
    for magic, what in _FOREIGN:
        if head.startswith(magic):
            raise FileError(f"{path}: this is not {suffix} but {what}")
    body = head.removeprefix(b"\xef\xbb\xbf")
    line, end, _ = body.lstrip().replace(b"\r", b"\n").partition(b"\n")
    if not end and len(head) == MAX_HEAD:
        raise FileError(f"{path}: the first line is longer than {MAX_HEAD:,} bytes: is this really {suffix}?")
    if b"\0" in line:
        raise FileError(f"{path}: this is not {suffix}: the first line is not text (save it as UTF-8)")
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path}: the first line is not UTF-8 text: save the file as UTF-8") from None
    text = body.decode("utf-8", "replace")
    if not text.strip():  # a byte order mark alone, or blanks that only Unicode knows
        raise FileError(f"{path}: the file is empty")
    return text


def _names(path: Path, names: list[str]) -> tuple[str, ...]:
    """The names of columns, if each is a name and they differ by more than upper and lower case."""
    if not 0 < len(names) <= MAX_COLUMNS:
        raise FileError(f"{path}: the first line must name between 1 and {MAX_COLUMNS:,} columns")
    seen: dict[str, str] = {}
    for name in names:
        try:
            require_column(name)
        except ParameterError as error:
            raise FileError(f"{path}: line 1: {error}") from None
        if name.lower() in seen:
            raise FileError(f"{path}: line 1: two columns are called {name!r:.80}: rename one of them")
        seen[name.lower()] = name
    return tuple(names)
