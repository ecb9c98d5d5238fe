"""The parts of an Excel workbook, as they stand in its archive, read from front to end and never as a whole.

A workbook is a zip archive of XML. No library is used: of those that were tried, one cell could end the reading
(docs/decisions/0023). Here what a cell says decides about that cell alone; only an archive or XML that is damaged is
refused.
"""

from __future__ import annotations

import math
import posixpath
import re
import zipfile
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.parsers import expat

from tinct.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Sequence
    from pathlib import Path


_BLOCK = 2**18
MAX_SHEET = 2**33  # bytes of XML; Excel itself opens no such sheet
MAX_STRINGS = 2**31  # of all texts of a workbook, which are kept in memory
_MAX_PART = 2**26
_MAX_COLUMNS = 16_384
_ROOTS = ("http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main")
ROW, CELL, CONTENT, TEXT, PHONETIC, ITEM = range(6)
_LOCAL = {"row": ROW, "c": CELL, "v": CONTENT, "t": TEXT, "rPh": PHONETIC, "si": ITEM}
_CODES = {f"{root} {local}": code for root in _ROOTS for local, code in _LOCAL.items()}


@dataclass(frozen=True)
class SheetPart:
    """A sheet: its name, where it is in the archive, and whether it is shown."""

    name: str
    part: str
    is_shown: bool


class Workbook:
    """An archive whose parts can be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._archive = zipfile.ZipFile(path)
        try:
            self._look()
        except BaseException:
            self.close()
            raise

    def _look(self) -> None:
        """Find the sheets."""
        self._parts = {info.filename.replace("\\", "/").lower(): info for info in self._archive.infolist()}
        if any(info.flag_bits & 1 for info in self._parts.values()):
            raise FileError("this workbook is encrypted: save it without a password", path=self._path)
        self._main = self._target("", "/officeDocument")[0]
        elements = list(self._elements(self._main))
        self._since_1904 = any(
            name == "workbookPr" and attributes.get("date1904") in ("1", "true") for name, attributes in elements
        )
        places = dict(self._relations(self._main, "/worksheet"))
        self.sheets: list[SheetPart] = []
        for name, attributes in elements:
            link = next((value for key, value in attributes.items() if key.rpartition(" ")[2] == "id"), "")
            if name == "sheet" and link in places:
                shown = attributes.get("state", "visible") == "visible"
                self.sheets.append(SheetPart(attributes.get("name", ""), places[link], shown))

    def close(self) -> None:
        """Let go of the file."""
        self._archive.close()

    def rows(
        self, sheet: SheetPart, wanted: Collection[int] | None = None, width: int = _MAX_COLUMNS
    ) -> Generator[dict[int, Value], None, None]:
        """The cells of each row by their columns, blank ones left out, in the order of the file.

        With ``wanted``, they are the cells of these columns, and another if those are blank and the row is not. What
        stands beyond the width is no part of a row.
        """
        with closing(self._strings()) as strings:
            reader = _Rows(_Strings(strings), self._kinds(), self._since_1904, wanted, width)
            yield from self._read(sheet.part, MAX_SHEET, reader)

    def _read(self, name: str, limit: int, reader: _Texts) -> Generator[Any, None, None]:
        """What a reader makes of a part."""
        with self._archive.open(self._part(name, limit)) as file:  # no more bytes than the archive says there are
            while block := file.read(_BLOCK):
                reader.feed(block)
                yield from reader.taken()
        reader.feed(b"", last=True)
        yield from reader.taken()

    def _kinds(self) -> list[str]:
        """How the numbers of each style are shown."""
        styles = self._target(self._main, "/styles")
        if not styles:
            return []
        codes: dict[str, str] = {}
        kinds, inside = [], False
        for name, attributes in self._elements(styles[0]):
            if name == "numFmt":
                codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
            if name in ("cellXfs", "cellStyleXfs", "cellStyles", "dxfs"):
                inside = name == "cellXfs"
            if name == "xf" and inside:
                number = attributes.get("numFmtId", "0")
                kinds.append(kind_of_format(int(number) if number.isdecimal() else 0, codes.get(number)))
        return kinds

    def _strings(self) -> Generator[str | None, None, None]:
        """The texts that cells refer to by their places."""
        for name in self._target(self._main, "/sharedStrings"):
            yield from self._read(name, MAX_STRINGS, _Texts())

    def _target(self, part: str, kind: str) -> list[str]:
        return [place for _, place in self._relations(part, kind)]

    def _relations(self, part: str, kind: str) -> Iterator[tuple[str, str]]:
        """What a part refers to: an id and a place in the archive, for each of a kind."""
        folder, name = posixpath.split(part)
        for element, attributes in self._elements(posixpath.join(folder, "_rels", f"{name}.rels")):
            if element == "Relationship" and attributes.get("Type", "").endswith(kind):
                place = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))
                yield attributes.get("Id", ""), place.lstrip("/")

    def _part(self, name: str, limit: int) -> zipfile.ZipInfo:
        part = self._parts[name.lower()]
        if part.file_size > limit:
            raise FileError(
                f"unpacked, a part of it has more than {limit:,} bytes, the most that is read", path=self._path
            )
        return part

    def _elements(self, name: str) -> Iterator[tuple[str, dict[str, str]]]:
        """The names and attributes of all elements of a small part, in order; nothing if there is no such part."""
        if name.lower() not in self._parts:
            return iter(())
        listed: list[tuple[str, dict[str, str]]] = []
        parser = _parser()
        parser.StartElementHandler = lambda name, attributes: listed.append((name.rpartition(" ")[2], attributes))
        parser.Parse(self._archive.read(self._part(name, _MAX_PART)), True)
        return iter(listed)


def _parser() -> Any:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_entities
    return parser


def _refuse_entities(*_: object) -> None:
    raise FileError("the workbook declares entities, which none needs")


class _Texts:
    """Texts of a workbook, as its XML comes in."""

    def __init__(self) -> None:
        self._parser = _parser()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._ready: list[Any] = []
        self._text: list[str] = []
        self._content: list[str] = []
        self._into: list[str] | None = None
        self._phonetic = False

    def feed(self, block: bytes, *, last: bool = False) -> None:
        """Go on with a block."""
        self._parser.Parse(block, last)

    def taken(self) -> list[Any]:
        """What is complete."""
        found, self._ready = self._ready, []
        return found

    def _start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 # expat's
        code = _CODES.get(name)
        if code == CONTENT:
            self._into = self._content
        elif code == TEXT:  # how a text is pronounced is not part of it
            self._into = None if self._phonetic else self._text
        elif code == PHONETIC:
            self._phonetic = True
        elif code == ITEM:
            self._text.clear()

    def _end(self, name: str) -> None:
        code = _CODES.get(name)
        if code in (CONTENT, TEXT):
            self._into = None
        elif code == PHONETIC:
            self._phonetic = False
        elif code == ITEM:
            self._ready.append(text_of("".join(self._text)))

    def _characters(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data)


class _Strings:
    """Texts by their places, read as far as they are asked for."""

    def __init__(self, source: Iterator[str | None]) -> None:
        self._source = source
        self._known: list[str | None] = []

    def at(self, written: str) -> str | None:
        """The text at a place; None if there is none."""
        if not written.isdecimal() or len(written) > 10:
            return None
        place, known = int(written), self._known
        while place >= len(known):
            found = next(self._source, _END)
            if found is _END:
                return None
            known.append(found)  # type: ignore[arg-type] # it is not the end
        return known[place]


_END = object()


class _Rows(_Texts):
    """Rows of a sheet, as its XML comes in. Of a row that is not blank, only the wanted columns are looked at."""

    def __init__(
        self, strings: _Strings, kinds: Sequence[str], since_1904: bool, wanted: Collection[int] | None, width: int
    ) -> None:
        super().__init__()
        self._strings = strings
        self._kinds = {str(at): kind for at, kind in enumerate(kinds)}
        self._since_1904 = since_1904
        self._wanted = frozenset(range(width) if wanted is None else wanted)
        self._width = width
        self._row: dict[int, Value] = {}
        self._at = -1
        self._is_read = False
        self._type = ""
        self._style = ""
        self._columns: dict[str, int] = {}

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        code = _CODES.get(name)
        if code == CELL:
            self._at = self._column(attributes.get("r", ""))
            self._is_read = self._at in self._wanted or (not self._row and self._at < self._width)
            if self._is_read:
                self._type, self._style = attributes.get("t", "n"), attributes.get("s", "")
                self._text.clear()
                self._content.clear()
        elif code == ROW:
            self._row, self._at = {}, -1
        elif self._is_read:
            super()._start(name, attributes)

    def _end(self, name: str) -> None:
        code = _CODES.get(name)
        if code == CELL:
            if self._is_read and (self._text or self._content):
                value = self._value()
                if not isinstance(value, str) or value.strip():
                    self._row[self._at] = value
            self._is_read = False
        elif code == ROW:
            self._ready.append(self._row)
        elif self._is_read:
            super()._end(name)

    def _column(self, place: str) -> int:
        """Which column a cell is in; without its place, the one behind the last."""
        letters = place.rstrip("0123456789")
        if letters not in self._columns:
            if not (letters.isascii() and letters.isalpha() and len(letters) <= 3):
                return self._at + 1
            number = 0
            for letter in letters.upper():
                number = 26 * number + ord(letter) - 64
            self._columns[letters] = number - 1
        return self._columns[letters]

    def _value(self) -> Value:
        """What the cell at hand says; None for what is there and cannot be read, such as an error."""
        kind = self._type
        if kind == "inlineStr":
            return text_of("".join(self._text))
        written = "".join(self._content)
        if kind == "s":
            return self._strings.at(written)
        if kind == "str":
            return text_of(written)
        if not written.strip():
            return ""
        written = written.strip()
        if kind == "b":
            return {"1": True, "true": True, "0": False, "false": False}.get(written)
        shown = self._kinds.get(self._style, NUMBER)
        if kind == "d":
            return moment_of(written, shown)
        return number_of(written, shown, since_1904=self._since_1904) if kind == "n" else None


# what stands in a cell of an Excel sheet: text, a number, a truth value, or a number that is shown as a moment
#
# How a number is shown is decided by the format of its cell, never by the number. What the format cannot show, such
# as a date before 1900, is missing.


NUMBER, DATE, MOMENT, TIME, DURATION = "number", "date", "moment", "time", "duration"
Value: TypeAlias = str | int | float | bool | date | time | None

_BUILT_IN = {
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), 34, 35, 36, *range(50, 55), 57, 58), DATE),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 45, 47, 55, 56), TIME),
    22: MOMENT,
    46: DURATION,
}
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.')
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]]*\]")
_HALF_DAY = re.compile(r"am/pm|a/p|general", re.IGNORECASE)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,30})", re.ASCII)
_NUMERIC = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?", re.ASCII)
_DAY = 86_400_000  # milliseconds
_LAST_DAY = 2_958_466  # the day after 9999-12-31
_MOST_DAYS = 1_000_000_000  # of a duration
_LEAP = 60  # Excel shows this number as 1900-02-29, a day that never was


def kind_of_format(number: int, code: str | None) -> str:
    """How numbers are shown in cells of a format: by its number or, if the workbook defines it, by its code.

    >>> kind_of_format(14, None), kind_of_format(165, "[$-409]d mmm yyyy;@"), kind_of_format(166, "[h]:mm")
    ('date', 'date', 'duration')
    >>> kind_of_format(167, '0.00E+00'), kind_of_format(168, '#,##0 "days"'), kind_of_format(169, "h:mm AM/PM")
    ('number', 'number', 'time')
    """
    if code is None:
        return _BUILT_IN.get(number, NUMBER)
    first = _LITERAL.sub("", code).split(";")[0]
    if _ELAPSED.search(first):
        return DURATION
    letters = _HALF_DAY.sub("", _BRACKETS.sub("", first)).lower()
    timed = "h" in letters or "s" in letters
    dated = "y" in letters or "d" in letters or ("m" in letters and not timed)
    return MOMENT if dated and timed else DATE if dated else TIME if timed else NUMBER


def number_of(written: str, kind: str, *, since_1904: bool) -> Value:
    """A number as its format shows it; None if it is none, or cannot be shown."""
    if kind == NUMBER and _WHOLE.fullmatch(written):  # all of its digits, also where a double has not so many
        return int(written)
    if not _NUMERIC.fullmatch(written):
        return None
    value = float(written)
    if not math.isfinite(value) or kind == NUMBER:
        return value if math.isfinite(value) else None
    if kind == DURATION:
        return _duration(value) if 0 <= value < _MOST_DAYS else None
    if kind == TIME:
        return _clock(value) if 0 <= value < _LAST_DAY else None
    return _moment(value, kind, since_1904)


def moment_of(written: str, kind: str) -> Value:
    """A moment that is written as such; text if it is none."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return written
    return found.date() if kind == DATE else found.replace(tzinfo=None)


def text_of(written: str) -> str | None:
    r"""Text with the characters that XML has no place for; None if that is no text.

    >>> text_of("a_x000D_b"), text_of("_x005F_x000D_"), text_of("_xD800_")
    ('a\rb', '_x000D_', None)
    """
    if "_x" not in written:
        return written
    found = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), written)
    try:  # two halves of a character that were escaped one by one
        return found.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None


def _duration(value: float) -> str:
    seconds = round(value * _DAY) // 1000
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _clock(value: float) -> time:
    found = round(value * _DAY) % _DAY
    return (datetime(2000, 1, 1) + timedelta(milliseconds=found)).time()


def _moment(value: float, kind: str, since_1904: bool) -> Value:
    if not 0 <= value < _LAST_DAY:
        return None
    ticks = round(value * _DAY)
    days = ticks // _DAY
    if since_1904:
        begin = datetime(1904, 1, 1)
    elif days in (0, _LEAP):
        return None
    else:
        begin = datetime(1899, 12, 31) if days < _LEAP else datetime(1899, 12, 30)
    try:
        found = begin + timedelta(milliseconds=ticks)
    except OverflowError:
        return None
    return found.date() if kind == DATE else found
