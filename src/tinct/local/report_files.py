"""Reports as they arrive: which files, which rows of them, and which numbers in a row; what is no report is set aside.

A row of text is a line, whatever is wrong with it, so that one bad row never touches another. Blocks of lines in which
nothing is wrong are read by Arrow, all others a row at a time: the same rows come out.
"""

from __future__ import annotations

import binascii
import csv
import glob
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from tinct.errors import FileError, ParameterError
from tinct.local.answers_and_reports import arrow, require_delimiter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tinct.local.local_mechanism import LocalMechanism
    from tinct.local.mechanisms.base import Randomiser
    from tinct.local.parameters import Integers

STANDARD_INPUT = "-"
VERSION = 1  # of the envelope around a report
LINES = (".jsonl", ".ndjson")
SHEETS = {".csv": ",", ".tsv": "\t"}
TEXTS = (*LINES, *SHEETS)
_HIDDEN = (".", "_")  # what writers of folders keep for themselves
_BLOCK = 1 << 22
_LONGEST = 1 << 24  # bytes of a line; what is longer is no report
_ROWS = 1 << 17
_LARGE = 1 << 62  # no number of a report is
_WHOLE = re.compile(r"\s*([0-9]{1,18})(?:\.0*)?\s*", re.ASCII)

UNREADABLE = "the row cannot be read"
LONG = "the row is too long"
CELLS = "the row has another number of cells than the header"
NOTHING = "there is no report in the row"
NUMBERS = "the report is not made of whole numbers"
WIDTH = "the report has another number of parts than those of this mechanism"
STRANGE = "this mechanism cannot have said this report"
OTHER_VERSION = "the envelope has another version"


@dataclass
class Bad:
    """A row that was set aside: the file, its number there (a line of a text, from 1 on), why, and what it holds."""

    file: str
    row: int
    why: str
    content: str


@dataclass
class Batch:
    """Some rows of a file: the reports in them, what was set aside, and how many name another mechanism."""

    rows: Integers
    bad: list[Bad] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class ReportsOf:
    """Whose reports are looked for: the mechanism's randomiser and id, and the column they stand in."""

    randomiser: Randomiser
    identity: str
    column: str

    @property
    def spread(self) -> list[str]:
        """The columns of a report that takes several."""
        return [f"{self.column}_{at}" for at in range(self.randomiser.width)]


def envelope(mechanism: LocalMechanism, report: Any) -> dict[str, Any]:
    """A report as a client sends it: with the id of its mechanism, so that two designs can be in the field at once."""
    randomiser = mechanism.randomiser
    sent = packed_bits(report, randomiser) if sends_bits(randomiser) else report
    return {"version": VERSION, "mechanism": mechanism.id, "report": sent}


def parts_of(given: Any) -> list[str]:
    """All files that paths, folders and patterns name, each once; ``-`` is standard input."""
    found: dict[str, str] = {}
    for each in [given] if isinstance(given, str | os.PathLike) else list(given):
        if not isinstance(each, str | os.PathLike) or "\0" in os.fspath(each):
            raise ParameterError("reports must be paths, folders or patterns, or - for standard input")
        for path in _files_of(os.fspath(each)):
            found.setdefault(path if path == STANDARD_INPUT else os.path.realpath(path), path)
    if not found:
        raise ParameterError("there are no reports: name a file, a folder or a pattern")
    return list(found.values())


def _files_of(path: str) -> list[str]:
    if path == STANDARD_INPUT or os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        inside = []
        for folder, inner, names in os.walk(path, onerror=_unreadable):
            inner[:] = sorted(name for name in inner if not name.startswith(_HIDDEN))  # where it goes next
            inside += [os.path.join(folder, name) for name in sorted(names) if not name.startswith(_HIDDEN)]
        if not inside:
            raise FileError("the folder has no files in it", path=path)
        return inside
    fitting = sorted(each for each in glob.glob(path, recursive=True) if os.path.isfile(each))
    if fitting:
        return fitting
    is_pattern = glob.has_magic(path)
    raise FileError("no file fits this pattern" if is_pattern else "there is no such file", path=path)


def _unreadable(error: OSError) -> None:
    raise FileError(f"the folder cannot be read: {error.strerror}", path=error.filename)


def kind_of_part(path: str, kind: str | None) -> tuple[str, bool]:
    """How a file is read, by its name or by ``kind``, and whether it is packed."""
    name = (f".{kind.removeprefix('.')}" if kind else path).lower()
    packed = name.endswith(".gz")
    suffix = Path(f"x{name.removesuffix('.gz')}" if kind else name.removesuffix(".gz")).suffix
    if suffix in TEXTS or (suffix == ".parquet" and not packed and path != STANDARD_INPUT):
        return suffix, packed
    if path == STANDARD_INPUT:
        raise ParameterError.of("kind", "jsonl, csv or tsv, or these with .gz behind, for standard input", kind)
    ends = f"{', '.join(TEXTS)} (also with .gz behind) or .parquet"
    raise FileError(f"the name of a file of reports must end in {ends}", path=path)


def batches(path: str, wanted: ReportsOf, kind: str | None = None, stream: BinaryIO | None = None) -> Iterator[Batch]:
    """The rows of one file, a batch at a time."""
    if path == STANDARD_INPUT:
        suffix, packed = kind_of_part(path, kind or "jsonl")
        if stream is None:
            if sys.stdin is None or sys.stdin.isatty():
                raise ParameterError("there is nothing on standard input: pipe the reports in, or name a file")
            stream = sys.stdin.buffer
        yield from _of_text(stream, "standard input", suffix, packed, wanted)
        return
    suffix, packed = kind_of_part(path, kind)
    if suffix == ".parquet":
        yield from _of_parquet(path, wanted)
        return
    try:
        with open(path, "rb") as file:
            yield from _of_text(file, path, suffix, packed, wanted)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=path) from None


def _of_text(stream: BinaryIO, name: str, suffix: str, packed: bool, wanted: ReportsOf) -> Iterator[Batch]:
    blocks = _blocks(_unpacked(stream, name) if packed else stream)
    if suffix in LINES:
        for first, block in blocks:
            yield _of_lines(block, first, name, wanted)
        return
    delimiter = SHEETS[suffix]
    header: _Header | None = None
    for first, block in blocks:
        body, at = block, first
        while header is None and body:
            line, _, body = body.partition(b"\n")
            at += 1
            if line.strip(b"\r\n \t\xef\xbb\xbf"):
                header = _header(line, delimiter, name, wanted)
        if header is not None and body:
            yield _of_sheet(body, at, name, header, wanted)


def _unpacked(stream: BinaryIO, name: str) -> BinaryIO:
    """A stream of what a packed one holds; memory does not grow with it."""

    class Unpacked(io.RawIOBase):
        def __init__(self) -> None:
            self._file = gzip.GzipFile(fileobj=stream)

        def read(self, size: int = -1) -> bytes:
            try:
                return self._file.read(size)
            except (OSError, EOFError, zlib.error):
                pass
            raise FileError("the file is damaged or incomplete: it cannot be unpacked to the end", path=name)

    return Unpacked()  # type: ignore[return-value]


def _blocks(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Whole lines, some at a time, with the number of the line before the first; of a line that is too long, a part."""
    number, rest = 0, b""
    skipping = False
    while block := stream.read(_BLOCK):
        cut = block.rfind(b"\n") + 1
        if skipping:  # the rest of a line that was too long
            if not cut:
                continue
            begin = block.find(b"\n") + 1
            block, cut, skipping = block[begin:], cut - begin, False
        if not cut:
            rest += block
            if len(rest) > _LONGEST:
                yield number, rest
                number, rest, skipping = number + 1, b"", True
            continue
        whole = rest + block[:cut]
        rest = block[cut:]
        yield number, whole
        number += whole.count(b"\n")
    if rest:
        yield number, rest


# -------------------------------------------------------------------------------------------------------- JSON lines


def _of_lines(block: bytes, first: int, name: str, wanted: ReportsOf) -> Batch:
    fast = _quick_lines(block, wanted)
    if fast is not None:
        return fast
    taker = _Taker(name, wanted)
    for at, line in enumerate(block.removesuffix(b"\n").split(b"\n"), first + 1):
        if not line.strip():
            continue
        taker.line(at, line, _json_row)
    return taker.batch()


def _quick_lines(block: bytes, wanted: ReportsOf) -> Batch | None:
    """The lines of a block as Arrow reads them, if each is an object with a report of this mechanism or another."""
    pa, _ = arrow()
    from pyarrow import json as arrow_json

    many = _filled_lines(block)
    if many == 0 or block.count(b"{") < many or not _is_text(block):
        return None
    whole = pa.int64()
    held = pa.string() if sends_bits(wanted.randomiser) else whole if wanted.randomiser.width == 1 else pa.list_(whole)
    schema = pa.schema([(wanted.column, held), ("mechanism", pa.string()), ("version", whole)])
    try:
        table = arrow_json.read_json(
            io.BytesIO(block),
            read_options=arrow_json.ReadOptions(use_threads=False, block_size=1 << 26),
            parse_options=arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowException:
        return None
    return _quick_columns(table, [wanted.column], wanted) if table.num_rows == many else None


def _filled_lines(block: bytes) -> int:
    blank = block[:1].isspace() or any(pair in block for pair in (b"\n\n", b"\n\r", b"\n ", b"\n\t"))
    if not blank:  # by far the most common, and much quicker
        return block.count(b"\n") + (not block.endswith(b"\n"))
    return sum(1 for line in block.split(b"\n") if line.strip())


def _is_text(block: bytes) -> bool:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _json_row(text: str, wanted: ReportsOf) -> tuple[Any, Any, Any]:
    """The report, the mechanism it names and the version of its envelope; a bare report is one too."""
    found = json.loads(text)
    if not isinstance(found, dict):
        return found, None, None
    report = found.get(wanted.column)
    if report is None and wanted.spread[0] in found:
        report = [found.get(name) for name in wanted.spread]
        report = report[0] if wanted.randomiser.width == 1 else report
    return report, found.get("mechanism"), found.get("version")


# ------------------------------------------------------------------------------------------------------------- sheets


@dataclass(frozen=True)
class _Header:
    names: list[str]
    delimiter: str
    reports: list[str]  # the columns of the report

    def place(self, name: str) -> int | None:
        return self.names.index(name) if name in self.names else None


def _header(line: bytes, delimiter: str, name: str, wanted: ReportsOf) -> _Header:
    text = line.decode("utf-8-sig", "replace").rstrip("\r")
    try:
        names = [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter))]
    except csv.Error:
        names = []
    if not names:
        raise FileError("this cannot be read as a table with a header line", path=name)
    require_delimiter(None, names, delimiter, name)
    return _Header(names, delimiter, report_columns(names, wanted, name))


def report_columns(names: Sequence[str], wanted: ReportsOf, path: str) -> list[str]:
    """The columns in which a report stands: one, or as many as it has parts."""
    if names.count(wanted.column) == 1:
        return [wanted.column]
    if all(names.count(name) == 1 for name in wanted.spread):
        return wanted.spread
    spread = "" if wanted.randomiser.width == 1 else f", nor {wanted.spread[0]} to {wanted.spread[-1]}"
    # not the names that are there: a file without a header has somebody's row in their place
    raise FileError(f"this has no column {wanted.column}{spread}", path=path)


def _of_sheet(block: bytes, first: int, name: str, header: _Header, wanted: ReportsOf) -> Batch:
    fast = _quick_sheet(block, header, wanted)
    if fast is not None:
        return fast
    taker = _Taker(name, wanted)
    places = [header.names.index(column) for column in header.reports]
    mechanism, version = header.place("mechanism"), header.place("version")

    def row(text: str, _wanted: ReportsOf) -> tuple[Any, Any, Any]:
        cells = next(csv.reader([text], delimiter=header.delimiter), [])
        if len(cells) != len(header.names):
            raise _BadRowError(CELLS)
        report = _cell(cells[places[0]]) if len(places) == 1 else [_cell(cells[place]) for place in places]
        envelope = None if version is None or mechanism is None else _cell(cells[version])
        return report, None if mechanism is None else cells[mechanism], envelope

    for at, line in enumerate(block.removesuffix(b"\n").split(b"\n"), first + 1):
        if line.strip(b"\r \t"):
            taker.line(at, line, row)
    return taker.batch()


def _cell(text: str) -> Any:
    """A cell of text: a whole number, a list in brackets, or what else it says."""
    if found := _WHOLE.fullmatch(text):
        return int(found[1])
    stripped = text.strip()
    if stripped.startswith("["):
        with suppress(ValueError, RecursionError):
            return json.loads(stripped)
    return stripped or None


def _quick_sheet(block: bytes, header: _Header, wanted: ReportsOf) -> Batch | None:
    """The rows of a block as Arrow reads them, if each is a report of this mechanism or another; else None."""
    # what Arrow reads in another way than the rules above: lonely returns, hexadecimal numbers
    if b"0x" in block.lower() or block.count(b"\r") != block.count(b"\r\n") or not _is_text(block):
        return None
    if len(header.reports) != wanted.randomiser.width:
        return None
    pa, arrow_csv = arrow()
    types = {**dict.fromkeys(header.reports, pa.int64()), "mechanism": pa.string(), "version": pa.int64()}
    known = [name for name in types if name in header.names]
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(block),
            read_options=arrow_csv.ReadOptions(column_names=header.names, use_threads=False, block_size=1 << 26),
            parse_options=arrow_csv.ParseOptions(delimiter=header.delimiter),
            convert_options=arrow_csv.ConvertOptions(include_columns=known, column_types=types),
        )
    except pa.ArrowException:
        return None
    # a quote that does not close takes lines together
    return _quick_columns(table, header.reports, wanted) if table.num_rows == _filled_lines(block) else None


# ------------------------------------------------------------------------------------------------------------ Parquet


def _of_parquet(path: str, wanted: ReportsOf) -> Iterator[Batch]:
    pa, _ = arrow()
    from pyarrow import parquet

    with suppress(pa.ArrowException, OSError, UnicodeDecodeError):
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            reports = report_columns(names, wanted, path)
            envelope = [name for name in ("mechanism", "version") if name in names] if "mechanism" in names else []
            first = 0
            for batch in file.iter_batches(_ROWS, columns=[*reports, *envelope]):
                yield _of_columns(batch, reports, first, path, wanted)
                first += batch.num_rows
        return
    # raised out here, so that Arrow's error, which may quote a cell, is not even its context
    raise FileError("this cannot be read as a Parquet file", path=path)


def _of_columns(batch: Any, reports: list[str], first: int, path: str, wanted: ReportsOf) -> Batch:
    fast = _quick_columns(batch, reports, wanted)
    if fast is not None:
        return fast
    taker = _Taker(path, wanted)
    held = {name: batch.column(name).to_pylist() for name in batch.schema.names}
    columns = [held[name] for name in reports]
    nothing = [None] * batch.num_rows
    mechanisms, versions = held.get("mechanism", nothing), held.get("version", nothing)
    for at, (cells, mechanism, version) in enumerate(
        zip(zip(*columns, strict=True), mechanisms, versions, strict=True), first + 1
    ):
        report = [_whole_float(cell) for cell in cells]
        taker.row(at, report[0] if len(report) == 1 else report, mechanism, version, partial(repr, cells))
    return taker.batch()


def _whole_float(cell: Any) -> Any:
    """A whole number that pandas has kept as a float, because others are missing."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53 else cell


def _quick_columns(table: Any, reports: list[str], wanted: ReportsOf) -> Batch | None:
    """The rows of a table, if each of them is a report of this mechanism, or names another; else None."""
    others: Counter[str] = Counter()
    if "mechanism" in table.schema.names:
        found = _of_this_mechanism(table, wanted)
        if found is None:
            return None
        table, others = found
    rows = _numbers([table.column(name) for name in reports], wanted.randomiser)
    if rows is None or not wanted.randomiser.are_reports(rows).all():
        return None
    return Batch(rows.astype(np.int64, copy=False), others=others)


def _of_this_mechanism(table: Any, wanted: ReportsOf) -> tuple[Any, Counter[str]] | None:
    """The rows that do not name another mechanism, and how many others there are by name."""
    pa, _ = arrow()
    import pyarrow.compute as pc

    if not pa.types.is_string(table.schema.field("mechanism").type):
        return None
    names = pc.utf8_trim_whitespace(pc.fill_null(table.column("mechanism"), ""))
    own, plain = pc.equal(names, wanted.identity), pc.equal(names, "")
    if "version" in table.schema.names:
        if not pa.types.is_integer(table.schema.field("version").type):
            return None
        if not pc.all(
            pc.or_(pc.invert(own), pc.equal(pc.fill_null(table.column("version"), VERSION), VERSION))
        ).as_py():
            return None
    here = pc.or_(own, plain)
    others: Counter[str] = Counter()
    if not pc.all(here).as_py():
        for each in pc.value_counts(names.filter(pc.invert(here))).to_pylist():
            others[each["values"][:64]] += each["counts"]
        table = table.filter(here)
    return table, others


def _numbers(columns: list[Any], randomiser: Randomiser) -> Integers | None:
    """Whole numbers, or bits in Base64, of columns in which nothing is missing."""
    pa, _ = arrow()
    if any(column.null_count for column in columns):
        return None
    columns = [column.combine_chunks() if hasattr(column, "combine_chunks") else column for column in columns]
    kinds = [column.type for column in columns]
    plain = pa.types.is_integer, *((pa.types.is_boolean,) if randomiser.bits else ())
    if len(columns) == randomiser.width and all(any(test(kind) for test in plain) for kind in kinds):
        rows = np.stack([column.to_numpy(zero_copy_only=False) for column in columns], axis=1)
    elif pa.types.is_list(kinds[0]) and any(test(kinds[0].value_type) for test in plain):
        flat = columns[0].flatten()
        lengths = np.diff(columns[0].offsets.to_numpy())
        if flat.null_count or (lengths != randomiser.width).any():
            return None
        rows = flat.to_numpy(zero_copy_only=False).reshape(-1, randomiser.width)
    elif pa.types.is_string(kinds[0]) and packs(randomiser):
        try:
            rows = np.array([_unpacked_bits(text, randomiser) for text in columns[0].to_pylist()], np.int64)
        except (_BadRowError, ValueError):  # ValueError: rows of unequal length
            return None
        rows = rows.reshape(-1, randomiser.width) if not len(rows) else rows
        if rows.shape[1:] != (randomiser.width,):
            return None
    else:
        return None
    return None if rows.dtype == np.uint64 and len(rows) and rows.max() >= _LARGE else rows


# ---------------------------------------------------------------------------------------------------- a row at a time


class _BadRowError(Exception):
    """Why a row is set aside."""


class _Taker:
    """The reports of a file that are looked at one at a time."""

    def __init__(self, name: str, wanted: ReportsOf) -> None:
        self._name = name
        self._wanted = wanted
        self._rows: list[list[int]] = []
        self._from: list[tuple[int, Any]] = []  # where each row stands, and what gives its content
        self._bad: list[Bad] = []
        self._others: Counter[str] = Counter()

    def line(self, at: int, line: bytes, read: Any) -> None:
        """Take what a line of text says."""
        if at == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if len(line) > _LONGEST:
            self._set_aside(at, LONG, line[:1000].decode("utf-8", "replace"))
            return
        try:
            report, mechanism, version = read(line.decode("utf-8").rstrip("\r"), self._wanted)
        except _BadRowError as why:
            self._set_aside(at, str(why), line.decode("utf-8", "replace"))
        except (ValueError, csv.Error, RecursionError):  # no UTF-8, no JSON, quotes that do not close
            self._set_aside(at, UNREADABLE, line.decode("utf-8", "replace"))
        else:
            self.row(at, report, mechanism, version, lambda: line.decode("utf-8", "replace"))

    def row(self, at: int, report: Any, mechanism: Any, version: Any, content: Any) -> None:
        """Take one report, if it is one of this mechanism."""
        mechanism = (mechanism.strip() or None) if isinstance(mechanism, str) else mechanism
        if mechanism is not None:
            if isinstance(mechanism, str) and mechanism != self._wanted.identity:
                self._others[mechanism[:64]] += 1
                return
            if mechanism != self._wanted.identity or not (version is None or _is_version(version)):
                self._set_aside(at, OTHER_VERSION, content())
                return
        try:
            self._rows.append(_parts(report, self._wanted.randomiser))
            self._from.append((at, content))
        except _BadRowError as why:
            self._set_aside(at, str(why), content())

    def _set_aside(self, at: int, why: str, content: str) -> None:
        self._bad.append(Bad(self._name, at, why, content))

    def batch(self) -> Batch:
        """All that was taken."""
        rows = np.array(self._rows, np.int64).reshape(-1, self._wanted.randomiser.width)
        good = self._wanted.randomiser.are_reports(rows)
        for which in np.flatnonzero(~good):
            at, content = self._from[which]
            self._set_aside(at, STRANGE, content())
        self._bad.sort(key=lambda bad: bad.row)
        return Batch(rows if good.all() else rows[good], self._bad, self._others)


def _is_version(version: Any) -> bool:
    return type(version) is int and version == VERSION


def _parts(report: Any, randomiser: Randomiser) -> list[int]:
    """The numbers of one report, however it is written; or why it is none."""
    if type(report) is int and randomiser.width == 1:  # the most common
        parts = [report]
    elif report is None or (isinstance(report, list) and None in report):
        raise _BadRowError(NOTHING)
    elif isinstance(report, str) and packs(randomiser):
        parts = _unpacked_bits(report, randomiser)
    else:
        parts = report if isinstance(report, list) else [report]
    kinds = (int, bool) if randomiser.bits else (int,)
    if not all(type(part) in kinds and -1 <= part < _LARGE for part in parts):
        raise _BadRowError(NUMBERS)
    if len(parts) != randomiser.width:
        raise _BadRowError(WIDTH)
    return parts


# ------------------------------------------------------------------------------------------------------ packed reports


def packs(randomiser: Randomiser) -> bool:
    """Whether a report can be written as a bit for each symbol: those of several symbols."""
    return randomiser.bits or (randomiser.kind == "subset" and randomiser.width > 1)


def sends_bits(randomiser: Randomiser) -> bool:
    """Whether the bits are shorter than the numbers: 4 signs for 24 symbols against one number and a comma each."""
    digits = len(str(randomiser.size - 1)) + 1
    return randomiser.bits or (packs(randomiser) and -(-randomiser.size // 24) * 4 < randomiser.width * digits)


def _unpacked_bits(text: str, randomiser: Randomiser) -> list[int]:
    """The parts of a report that is written as bits in Base64, the first symbol in the lowest bit of the first byte."""
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        raise _BadRowError(NUMBERS) from None
    if binascii.b2a_base64(data, newline=False).decode() != text:  # bits that no byte holds
        raise _BadRowError(NUMBERS)
    if len(data) != -(-randomiser.size // 8):
        raise _BadRowError(WIDTH)
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    if bits[randomiser.size :].any():
        raise _BadRowError(STRANGE)
    found: list[int] = (bits[: randomiser.size] if randomiser.bits else np.flatnonzero(bits)).tolist()
    return found


def packed_bits(row: Iterable[int], randomiser: Randomiser) -> str:
    """The same the other way round."""
    bits = np.zeros(randomiser.size, np.uint8)
    if randomiser.bits:
        bits[:] = np.asarray(list(row), np.uint8)
    else:
        bits[list(row)] = 1
    return binascii.b2a_base64(np.packbits(bits, bitorder="little").tobytes(), newline=False).decode()
