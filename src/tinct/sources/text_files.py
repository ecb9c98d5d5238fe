"""CSV, TSV and JSON lines: columns of text, to be read as whatever a question asks for."""

from __future__ import annotations

import csv
import os
import re
from typing import TYPE_CHECKING, Any

from tinct._files import read_bytes
from tinct.errors import FileError, ParameterError
from tinct.questions.predicates import require_column
from tinct.sources import text_lines
from tinct.sources.byte_streams import opened
from tinct.sources.columns import CELL, Column, OpenSchema, Schema
from tinct.sources.duckdb_engine import VIEW, Engine, Private, pyarrow
from tinct.sources.source import Source
from tinct.sources.sql_dialects import text_literal
from tinct.sources.text_lines import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tinct.sources.description import Format
    from tinct.sources.duckdb_engine import Way

_CELL_RULE = f"a cell that is not {{encoding}} text, or has more than {text_lines.MAX_CELL:,} bytes, is missing"
_JSON_RULES = (
    "JSON lines have no list of columns: a column that is not there is missing in every row",
    f"a line that is not a JSON object, or has more than {text_lines.MAX_CELL:,} bytes, is a row with nothing in it",
)


def open_delimited(path: Path, suffix: str, written: Format) -> Source:
    """The rows of a CSV or TSV file below its header."""
    layout, names = header(path, suffix, written)
    rule = _CELL_RULE.format(encoding=written.encoding or "UTF-8")
    columns = [Column(name, f"c{at}", CELL) for at, name in enumerate(names)]
    places = {column.identifier: at for at, column in enumerate(columns)}
    private = Private()

    def ways(used: list[Column]) -> Iterator[Way]:
        chosen = [places[column.identifier] for column in used]
        yield private.streaming(_schema(chosen), text_lines.batches(path, layout, chosen))

    return Source(Engine(path.name, ways, private.close), Schema(columns), (rule,), place=str(path))


def open_json_lines(path: Path) -> Source:
    """The rows of a JSON lines file. Nothing of it is looked at here: its first line is a person's."""
    layout = json_layout(path)
    private = Private()

    def ways(used: list[Column]) -> Iterator[Way]:
        yield private.streaming(_schema([0]), text_lines.batches(path, layout, [0]), _fields(used))

    return Source(Engine(path.name, ways, private.close), OpenSchema(), _JSON_RULES, place=str(path))


def _schema(places: list[int]) -> Any:
    arrow = pyarrow()
    return arrow.schema([(name, arrow.string()) for name in text_lines.names(places)])


def _fields(used: list[Column]) -> str:
    """All needed keys of a line at once, by JSON pointer; a line that is not JSON has none of them."""
    pointers = ", ".join(text_literal("/" + column.name.replace("~", "~0").replace("/", "~1")) for column in used)
    is_object = "CASE WHEN json_valid(c0) THEN json_type(c0) = 'OBJECT' ELSE false END"  # a list has places, not keys
    fields = f"CASE WHEN {is_object} THEN json_extract_string(c0, [{pointers}]) END"
    named = ", ".join(f"fields[{at}] AS {column.identifier}" for at, column in enumerate(used, 1))
    # a line of blanks is no row, as an empty one is none
    return f"(SELECT {named} FROM (SELECT {fields} AS fields FROM {VIEW} WHERE c0 IS NULL OR trim(c0) <> ''))"  # noqa: S608 # pointers are quoted


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
_JSON = re.compile(r"\s*[{\[]\s*([\"{\[}\]]|$)")
_MARK = b"\xef\xbb\xbf"


def require_file(path: Path) -> None:
    """Refuse what is not a regular file that can be read."""
    if re.search(r"[*?\[\]{}]", str(path)):  # the engine would look for several files
        raise FileError("the path must not hold any of * ? [ ] { }: rename the file", path=path)
    if not path.exists() or not path.is_file():
        read_bytes(path)  # says what is wrong with it
    _beginning(path, 1)


def header(path: Path, suffix: str, written: Format) -> tuple[Layout, tuple[str, ...]]:
    """How a CSV or TSV file is laid out, and the names of its columns."""
    head = _beginning(path, MAX_HEAD, written.encoding)
    mark = len(_MARK) if head.startswith(_MARK) else 0
    line, ending = _first_line(head[mark:])
    text = _text(path, line, suffix, cut=not ending and len(head) == MAX_HEAD)
    delimiter = written.delimiter or ("\t" if suffix == ".tsv" else ";" if ";" in text and "," not in text else ",")
    if written.delimiter is None and delimiter not in text and (other := "," if suffix == ".tsv" else "\t") in text:
        raise FileError(f"the first line has {other!r} but no {delimiter!r}: is this really {suffix}?", path=path)
    begin = mark + len(line) + len(ending)
    try:
        found = next(csv.reader([text], delimiter=delimiter))
    except csv.Error:
        found = []
    names = _names(path, [name.strip() or f"column {at}" for at, name in enumerate(found, 1)])
    # with one column, an empty line is a row with an empty cell: some programs write it so
    return Layout(begin, delimiter.encode(), b'"', ending or b"\n", len(names) == 1, written.encoding), names


def json_layout(path: Path) -> Layout:
    """How a JSON lines file is laid out: a line is one cell, and there is no header."""
    mark = len(_MARK) if _beginning(path, len(_MARK)) == _MARK else 0
    return Layout(mark, b"", b"", b"\n", blanks=False)


def require_parquet(path: Path) -> None:
    """Refuse what does not begin and end like a Parquet file."""
    with path.open("rb") as file:
        head, size = file.read(4), os.fstat(file.fileno()).st_size
        file.seek(max(0, size - 4))
        tail = file.read(4)
    if not size:
        raise FileError("the file is empty", path=path)
    if head != b"PAR1":
        raise FileError("this is not a Parquet file: it does not begin with PAR1", path=path)
    if tail != b"PAR1" or size < 12:
        raise FileError("this Parquet file is incomplete: it does not end with PAR1", path=path)


def _beginning(path: Path, size: int, encoding: str | None = None) -> bytes:
    try:
        with opened(path, encoding) as file:
            return file.read(size)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=path) from None


def _first_line(head: bytes) -> tuple[bytes, bytes]:
    """The first line and what ends it, which is what ends every row; nothing if the file ends with it."""
    line = re.split(rb"[\r\n]", head, maxsplit=1)[0]
    rest = head[len(line) : len(line) + 2]
    return line, b"\r\n" if rest == b"\r\n" else rest[:1]


def _text(path: Path, line: bytes, suffix: str, *, cut: bool) -> str:
    """The first line as text, if it is text that can name columns."""
    for magic, what in _FOREIGN:
        if line.startswith(magic):
            raise FileError(f"this is not {suffix} but {what}", path=path)
    if cut:
        raise FileError(f"the first line is longer than {MAX_HEAD:,} bytes: is this really {suffix}?", path=path)
    if b"\0" in line:
        raise FileError(f"this is not {suffix}: the first line is not text (save it as UTF-8)", path=path)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError("the first line is not UTF-8 text: save the file as UTF-8", path=path) from None
    if not text.strip():
        raise FileError("the file is empty, or its first line is: the first line must name the columns", path=path)
    if _JSON.match(text):
        raise FileError(f"this looks like JSON, not {suffix}: JSON lines are named .jsonl", path=path)
    if text.lstrip()[:1] == "<":
        raise FileError(f"this looks like a web page or XML, not {suffix}", path=path)
    return text


def _names(path: Path, names: list[str]) -> tuple[str, ...]:
    """The names of columns, if each is a name and they differ by more than upper and lower case."""
    if not 0 < len(names) <= MAX_COLUMNS:
        raise FileError(f"the first line must name between 1 and {MAX_COLUMNS:,} columns", path=path)
    seen: dict[str, str] = {}
    for name in names:
        try:
            require_column(name)
        except ParameterError as error:
            raise FileError(f"line 1: {error}", path=path) from None
        if name.lower() in seen:
            raise FileError(f"line 1: two columns are called {name!r:.80}: rename one of them", path=path)
        seen[name.lower()] = name
    return tuple(names)
