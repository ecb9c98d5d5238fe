"""CSV, TSV and JSON: columns of text, to be read as whatever a question asks for."""

from __future__ import annotations

import csv
import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import array_elements as kernels
from tinct.errors import FileError, Parameter
from tinct.errors import Way as WayOut
from tinct.sources import text_lines
from tinct.sources.byte_streams import is_packed, opened
from tinct.sources.columns import CELL, Column, OpenSchema, Schema
from tinct.sources.description import DELIMITERS
from tinct.sources.duckdb_engine import VIEW, Engine, Private, pyarrow
from tinct.sources.header_lines import column_names
from tinct.sources.source import Source
from tinct.sources.sql_dialects import text_literal
from tinct.sources.text_lines import Layout

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from tinct.sources.data_files import DataFiles
    from tinct.sources.description import Format
    from tinct.sources.duckdb_engine import Way


_CELL_RULE = f"a cell that is not {{encoding}} text, or has more than {text_lines.MAX_CELL:,} bytes, is missing"
_JSON_RULES = (
    "JSON has no list of columns: a column that is not there is missing in every row",
    f"what is not a JSON object, or has more than {text_lines.MAX_CELL:,} bytes, is a row with nothing in it",
)


def open_delimited(files: DataFiles, written: Format, known: Collection[str] = ()) -> Source:
    """The rows of CSV or TSV files below their headers; ``known`` are the names of columns that are described."""
    layout, names = header(files.path, files.kind, written, known)
    parts = [(files.path, layout)]
    for path in files.paths[1:]:
        layout, others = header(path, files.kind, written, known)
        if others != names:
            raise FileError(f"its columns are not those of {files.path.name}", path=path)
        parts.append((path, layout))
    rule = _CELL_RULE.format(encoding=written.encoding or "UTF-8")
    columns = [Column(name, f"c{at}", CELL, is_bare=True) for at, name in enumerate(names)]
    places = {column.identifier: at for at, column in enumerate(columns)}
    private = Private()

    def ways(used: list[Column]) -> Iterator[Way]:
        chosen = [places[column.identifier] for column in used]
        numbers = [places[column.identifier] for column in used if column.is_number]
        yield files.watched(private.streaming(_schema(chosen), _batches(parts, chosen, numbers, trims=True)))

    return Source(Engine(files.name, ways, private.close), Schema(columns), (rule,), place=files.place)


def open_json(files: DataFiles, written: Format) -> Source:
    """The rows of JSON lines or arrays. No row is looked at here: they have no header, and the first is a person's."""
    parts = [(path, json_layout(path, files.kind, written.encoding)) for path in files.paths]
    private = Private()

    def ways(used: list[Column]) -> Iterator[Way]:
        yield files.watched(private.streaming(_schema([0]), _batches(parts, [0]), _fields(used)))

    return Source(Engine(files.name, ways, private.close), OpenSchema(), _JSON_RULES, place=files.place)


def _batches(
    parts: list[tuple[Path, Layout]], places: list[int], numbers: Collection[int] = (), *, trims: bool = False
) -> Iterator[Any]:
    return (batch for each in parts for batch in text_lines.batches(*each, places, numbers, trims=trims))


def _schema(places: list[int]) -> Any:
    arrow = pyarrow()
    return arrow.schema([(name, arrow.string()) for name in text_lines.names(places)])


def _fields(used: list[Column]) -> str:
    """All needed keys of a line at once, by JSON pointer; a line that is not JSON has none of them."""
    pointers = ", ".join(text_literal("/" + column.name.replace("~", "~0").replace("/", "~1")) for column in used)
    is_object = "CASE WHEN json_valid(c0) THEN json_type(c0) = 'OBJECT' ELSE false END"  # a list has places, not keys
    parts = {"fields": f"json_extract_string(c0, [{pointers}])", "types": f"json_type(c0, [{pointers}])"}
    read = ", ".join(f"CASE WHEN {is_object} THEN {part} END AS {name}" for name, part in parts.items())
    named = ", ".join(f"{_field(column, at)} AS {column.identifier}" for at, column in enumerate(used, 1))
    # a line of blanks is no row, as an empty one is none
    return f"(SELECT {named} FROM (SELECT {read} FROM {VIEW} WHERE c0 IS NULL OR trim(c0) <> ''))"  # noqa: S608 # pointers are quoted


def _field(column: Column, at: int) -> str:
    """A field as text; numbers and truth values as the description says that cells are written."""
    text, cases = f"fields[{at}]", []
    if column.format.decimal != ".":
        cases.append(f"WHEN 'DOUBLE' THEN replace({text}, '.', {text_literal(column.format.decimal)})")
    if column.described is not None and column.described.yes:
        yes, no = (text_literal(words[0]) for words in (column.described.yes, column.described.no))
        cases.append(f"WHEN 'BOOLEAN' THEN CASE {text} WHEN 'true' THEN {yes} ELSE {no} END")
    return f"CASE types[{at}] {' '.join(cases)} ELSE {text} END" if cases else text


MAX_HEAD = 2**20
_FOREIGN = (
    (b"PAR1", "a Parquet file: name it .parquet"),
    (b"\x1f\x8b", "compressed with gzip: put .gz behind its name"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: put .zst behind its name"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet: a spreadsheet is named .xlsx"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet: save it as .xlsx"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8, or name utf-16 as its encoding"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8, or name utf-16 as its encoding"),
    (b"SQLite format 3", "an SQLite database: name it .sqlite"),
    (b"ARROW1", "an Arrow file: save it as Parquet"),
)
_JSON = re.compile(r"\s*[{\[]\s*([\"{\[}\]]|$)")
_SEPARATOR = re.compile(rb"sep=([,;|\t])", re.IGNORECASE)
_MARK = b"\xef\xbb\xbf"


def header(path: Path, suffix: str, written: Format, known: Collection[str] = ()) -> tuple[Layout, tuple[str, ...]]:
    """How a CSV or TSV file is laid out, and the names of its columns."""
    head = _beginning(path, MAX_HEAD + 1, written.encoding)
    begin = len(_MARK) if head.startswith(_MARK) else 0
    line, ending = _first_line(head[begin:])
    said = _SEPARATOR.fullmatch(line)
    if said:  # some spreadsheets write a line before the header that says what stands between two cells
        begin += len(line) + len(ending)
        line, ending = _first_line(head[begin:])
    text = _text(path, line, suffix, cut=begin + len(line) >= MAX_HEAD)
    if ending == b"\r":
        raise FileError(
            "the first line ends with a carriage return alone: save the file with the usual line ends, LF or CRLF",
            path=path,
        )
    delimiter = said[1].decode() if said else written.delimiter or _delimiter(path, text, suffix)
    if written.delimiter not in (None, delimiter):
        raise FileError("the first line names another delimiter than the description", path=path)
    bare = _outside_quotes(text)
    if delimiter not in bare and any(each in bare for each in DELIMITERS):
        # with another delimiter than the file's, quotes are none, and a line end in one person's cell would end rows
        raise FileError("the first line has other delimiters, and not the one that is said to stand there", path=path)
    try:
        found = next(csv.reader([text], delimiter=delimiter))
    except csv.Error:
        found = []
    names = column_names(found, path, known)
    begin += len(line) + len(ending)
    # with one column, an empty line is a row with an empty cell: some programs write it so
    return Layout(begin, delimiter.encode(), b'"', ending or b"\n", len(names) == 1, written.encoding), names


def _delimiter(path: Path, text: str, suffix: str) -> str:
    """What stands between two names, if the first line leaves no doubt."""
    bare = _outside_quotes(text)
    if suffix == ".tsv":
        if "\t" not in bare and ("," in bare or ";" in bare):
            raise FileError("the first line has no '\\t': is this really .tsv? Other files are named .csv", path=path)
        return "\t"
    if "," in bare and ";" in bare:
        problem = "the first line has commas and semicolons: say which of them stands between two cells, such as "
        raise FileError(problem, Parameter("delimiter", ";"), path=path)
    if "," in bare or ";" in bare:
        return "," if "," in bare else ";"
    if "\t" in bare:
        problem = "the first line has tabs and no ',': call it .tsv, or say so with "
        raise FileError(problem, WayOut("delimiter='\\t'", "--delimiter tab"), path=path)
    if "|" in bare:
        problem = "the first line has '|' and no ',': say what stands between two cells, with "
        raise FileError(problem, Parameter("delimiter", "|"), path=path)
    return ","


def _outside_quotes(text: str) -> str:
    return re.sub(r'"[^"]*"', "", text)


def json_layout(path: Path, suffix: str, encoding: str | None) -> Layout:
    """How JSON is laid out: lines, or elements of an array that are read like lines; each is one cell."""
    mark = len(_MARK) if _beginning(path, len(_MARK), encoding) == _MARK else 0
    if suffix != ".json":
        return Layout(mark, b"", b"", b"\n", blanks=False, encoding=encoding)
    require_array(path, encoding)
    return Layout(mark, b"", b"", b"\n", blanks=False, encoding=encoding, rewritten=partial(elements_as_lines, path))


def _beginning(path: Path, size: int, encoding: str | None = None) -> bytes:
    try:
        with opened(path, encoding) as file:
            return file.read(size)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=path) from None


def _first_line(head: bytes) -> tuple[bytes, bytes]:
    """The first line and what ends it, which is what ends every row; nothing if the file ends with it.

    A carriage return alone cannot be what ends rows: if the first cell began with a line feed, it would look like both.
    """
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
        problem = "the first line is not UTF-8 text: save the file as UTF-8, or say what it is written in, such as "
        raise FileError(problem, Parameter("encoding", "latin-1"), path=path) from None
    if not text.strip():
        raise FileError("the file is empty, or its first line is: the first line must name the columns", path=path)
    if _JSON.match(text):
        raise FileError(f"this looks like JSON, not {suffix}: JSON is named .json, JSON lines .jsonl", path=path)
    if text.lstrip()[:1] == "<":
        raise FileError(f"this looks like a web page or XML, not {suffix}", path=path)
    return text


# a JSON array of objects, read like JSON lines: each element is a line, and is judged by itself
#
# So a value that a JSON parser would stumble over is missing, or its row has nothing in it, and no other row changes.


_AT_ENDS = 2**16  # bytes that are looked at in the beginning and in the end
_BLANKS = b" \t\r\n"
_INCOMPLETE = "the array does not end: the file is incomplete or damaged"


def require_array(path: Path, encoding: str | None) -> None:
    """Refuse what does not begin, and as far as that can be seen end, like an array; no element is looked at."""
    with opened(path, encoding) as file:
        head = file.read(_AT_ENDS).removeprefix(b"\xef\xbb\xbf").lstrip(_BLANKS)
    if not head:
        raise FileError("the file is empty", path=path)
    if head[:1] == b"{":
        raise FileError("this is one object, or JSON lines, which are named .jsonl: it must be an array", path=path)
    if head[:1] != b"[":
        raise FileError("this is not JSON: it must be an array of objects, and begin with [", path=path)
    if encoding is None and not is_packed(path):
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _AT_ENDS))
            tail = file.read().rstrip(_BLANKS)
        if tail[-1:] != b"]":
            raise FileError(_INCOMPLETE, path=path)


def elements_as_lines(path: Path, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes of an array with a line end after each element."""
    state = np.zeros(kernels.STATE, np.int64)
    for block in blocks:
        data = np.frombuffer(block, np.uint8)
        lines = np.empty_like(data)
        kernels.as_lines(data, state, lines)
        yield lines.tobytes()
    if state[kernels.DEPTH] or state[kernels.MODE] or not state[kernels.ENDED]:
        raise FileError(_INCOMPLETE, path=path)
    if state[kernels.STRAY]:
        raise FileError("something stands behind the array: the file is damaged", path=path)
