"""The description of a data set: how its file is written, and what each column means. It is public, and its owner's.

It stands in a small TOML file beside the data (docs/descriptions.md). What it says about a cell is a rule for reading
that cell alone: a value that does not fit is missing, whoever's it is, and never a reason to refuse an answer.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinct._files import read_text, write_atomically
from tinct.errors import FileError, ParameterError, Way
from tinct.questions.predicates import literals, require_column, require_printable

if TYPE_CHECKING:
    from tinct._files.loading import FilePath
    from tinct.questions.predicates import Literal

SCHEMA = "tinct/description@1"
SUFFIX = ".toml"
YES_NO, NUMBER, CATEGORY, DATE, IDENTIFIER = "yes/no", "number", "category", "date", "identifier"
KINDS = (YES_NO, NUMBER, CATEGORY, DATE, IDENTIFIER)
MAX_BYTES = 2**22
MAX_COLUMNS = 10_000
MAX_WORD = 200
MAX_WORDS = 1000
MAX_PER_PERSON = 1_000_000
MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A")  # if nothing else is said
# in these, what stands in one cell decides how others are read, or where a row ends; UTF-16 and UTF-32 need the mark at
# the beginning of a file, or any file could be read as such, and all of it be taken for its first line
_UNFIT = (
    *("iso2022", "hz", "utf-7", "utf-16-", "utf-32-", "unicode-escape", "raw-unicode-escape"),
    *("charmap", "idna", "punycode", "undefined", "mbcs", "oem"),
)
_STRUCTURE = b'\n\r,;|\t"'
_MARKS = {".": "point", ",": "comma"}
_THOUSANDS = (".", ",", "'", " ", "_", "\u2019", "\u00a0", "\u202f")
DELIMITERS = (",", ";", "\t", "|")
_OF_KIND = {
    YES_NO: ("yes", "no"),
    NUMBER: ("least", "most"),
    CATEGORY: ("values",),
    DATE: ("form",),
    IDENTIFIER: (),
}
_NEEDED = {DATE: "form"}
_PLAIN = ("confirmed", "person", "rows_per_person", "groups_per_person")
_DIRECTIVE = re.compile(r"%(.)")
_DAY, _TIME = ("%Y", "%m", "%d"), ("%H", "%M", "%S")


def _words(given: object, name: str, *, least: int) -> tuple[str, ...]:
    """Different words, as they stand in a cell: without blanks around them."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not least <= len(given) <= MAX_WORDS:
        raise ParameterError.of(name, f"a list of {least} to {MAX_WORDS:,} words")
    for word in given:
        if not isinstance(word, str) or not word or word != word.strip():
            raise ParameterError.of(name, "words without blanks around them", word)
        require_printable(word, f"a word of {name}", MAX_WORD)
    if len(set(given)) != len(given):
        twice = next(word for word in given if list(given).count(word) > 1)
        raise ParameterError.of(name, "without repeats", ..., f", got {twice!r:.80} twice")
    return tuple(given)


def _folded(word: str) -> str:
    """A word for yes or no as cells are compared with it: in small letters, and 1.0 is 1."""
    lower = word.lower()
    return lower.partition(".")[0] if re.fullmatch(r"-?[0-9]+\.0+", lower, re.ASCII) else lower


def _encoding(given: object) -> str | None:
    """The name of an encoding of text as Python calls it; None for UTF-8."""
    try:
        found = codecs.lookup(given) if isinstance(given, str) else None
    except (LookupError, ValueError, UnicodeError):
        found = None
    if found is None or not _keeps_lines(found):
        raise ParameterError.of("encoding", "the name of an encoding such as utf-8, latin-1 or cp1252", given)
    return None if found.name in ("utf-8", "utf-8-sig", "ascii") else found.name


def _keeps_lines(found: codecs.CodecInfo) -> bool:
    """Whether line ends, delimiters and quotes are the bytes that they are in ASCII, and no others."""
    if not getattr(found, "_is_text_encoding", True) or found.name.startswith(_UNFIT):
        return False
    if found.name in ("utf-16", "utf-32"):
        return True
    marks = _STRUCTURE.decode()
    letters = (found.decode(bytes([byte]), "replace")[0] for byte in range(256))
    return all((letter if letter in marks else "") == (chr(byte) if byte in _STRUCTURE else "")
               for byte, letter in enumerate(letters))  # fmt: skip


@dataclass(frozen=True)
class Format:
    """How the cells of a file are written. Delimiter and encoding matter in text files only.

    Attributes:
        delimiter: Between two cells; None if the header tells.
        encoding: Of the text, as Python calls it; None for UTF-8.
        decimal: The decimal mark of numbers, a point or a comma.
        thousands: The mark between groups of three digits; empty if there is none.
        missing: Words that stand for no value, as they are written. A blank cell is always missing.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str = "."
    thousands: str = ""
    missing: tuple[str, ...] = MISSING

    def __post_init__(self) -> None:
        if self.delimiter is not None and self.delimiter not in DELIMITERS:
            raise ParameterError.of("delimiter", "one of , ; | and the tab", self.delimiter)
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.decimal not in _MARKS:
            raise ParameterError.of("decimal", "'.' or ','", self.decimal)
        if self.thousands and self.thousands not in _THOUSANDS:
            raise ParameterError.of("thousands", "a point, a comma, an apostrophe, a space or an underscore", ...)
        if self.thousands == self.decimal:
            raise ParameterError.of("thousands", "another mark than the decimal mark", self.thousands)
        object.__setattr__(self, "missing", _words(self.missing, "missing", least=0))

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as programs write them."""
        return self.decimal == "." and not self.thousands

    def to_dict(self) -> dict[str, Any]:
        """What differs from the usual."""
        usual = Format()
        found = {name: getattr(self, name) for name in ("delimiter", "encoding", "decimal", "thousands", "missing")}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
            if value != getattr(usual, name)
        }


@dataclass(frozen=True)
class ColumnDescription:
    """What a column means.

    Attributes:
        kind: ``"yes/no"``, ``"number"``, ``"category"``, ``"date"`` or ``"identifier"``.
        ask: Whether questions may be asked about it; by default all but identifiers.
        yes, no: The words of a yes/no column, in any case; without them the usual ones.
        least, most: The range of a number; what is outside is missing.
        values: The categories, all text or all numbers; what is not among them is missing. Without any, all text is.
        form: How a date is written, such as ``%d.%m.%Y``.
    """

    kind: str
    ask: bool | None = None
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    values: tuple[Literal, ...] = ()
    form: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError.of("kind", f"one of {', '.join(KINDS)}", self.kind)
        if self.ask is None:
            object.__setattr__(self, "ask", self.kind != IDENTIFIER)
        if not isinstance(self.ask, bool):
            raise ParameterError.of("ask", "true or false", self.ask)
        for name in ("yes", "no", "least", "most", "values", "form"):
            if name not in _OF_KIND[self.kind] and getattr(self, name) not in ((), None, ""):
                raise ParameterError(f"a column of kind {self.kind} has no {name!r}")
        needed = _NEEDED.get(self.kind)
        if needed and not getattr(self, needed):
            raise ParameterError(f"a column of kind {self.kind} needs {needed!r}")
        {YES_NO: self._read_words, NUMBER: self._read_range, CATEGORY: self._read_values, DATE: self._read_form}.get(
            self.kind, lambda: None
        )()

    @property
    def is_numeric(self) -> bool:
        """Whether its values are compared as numbers."""
        return self.kind == NUMBER or (
            self.kind == CATEGORY and bool(self.values) and not isinstance(self.values[0], str)
        )

    @property
    def has_time(self) -> bool:
        """Whether a date has a time of day."""
        return "%H" in self.form

    def _read_words(self) -> None:
        if bool(self.yes) != bool(self.no):
            raise ParameterError("a yes/no column names the words for both answers, 'yes' and 'no', or for neither")
        for name in ("yes", "no"):
            folded = map(_folded, _words(getattr(self, name), name, least=0))
            object.__setattr__(self, name, tuple(dict.fromkeys(folded)))
        both = set(self.yes) & set(self.no)
        if both:
            raise ParameterError(f"{min(both)!r} stands for yes and for no")

    def _read_range(self) -> None:
        for name in ("least", "most"):
            given = getattr(self, name)
            if given is None:
                continue
            if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
                raise ParameterError.of(name, "a finite number", given)
            object.__setattr__(self, name, float(given) + 0.0)
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ParameterError(f"'least' is {self.least:g}, which is above 'most', {self.most:g}")

    def _read_values(self) -> None:
        if not self.values:
            return
        object.__setattr__(self, "values", literals(self.values, "values", at_most=MAX_WORDS))
        if isinstance(self.values[0], bool):
            raise ParameterError("true and false are no categories: such a column is of kind yes/no")

    def _read_form(self) -> None:
        require_printable(self.form, "the form of a date", MAX_WORD)
        found = [f"%{each}" for each in _DIRECTIVE.findall(self.form)]
        timed = any(each in found for each in _TIME)
        if "%y" in found:
            raise ParameterError("a date needs its year in four digits (%Y): two digits do not say which century")
        if sorted(found) not in (sorted(_DAY), sorted((*_DAY, *_TIME[:2])), sorted((*_DAY, *_TIME))):
            allowed = f"{' '.join(_DAY)}, each once, and for a time {' '.join(_TIME[:2])} or {' '.join(_TIME)}"
            raise ParameterError.of("form", allowed, self.form, ", such as %d.%m.%Y")
        if timed and re.search(r"%[HMS].*%[Ymd]", self.form):
            raise ParameterError.of("form", "the day before the time", self.form)

    def to_dict(self) -> dict[str, Any]:
        """Its fields as the file has them."""
        found: dict[str, Any] = {"kind": self.kind}
        for name in _OF_KIND[self.kind]:
            value = getattr(self, name)
            if value not in ((), None, ""):
                found[name] = list(value) if isinstance(value, tuple) else value
        if self.ask != (self.kind != IDENTIFIER):
            found["ask"] = self.ask
        return found


@dataclass(frozen=True)
class Description:
    """How a data set is written and what its columns mean.

    Attributes:
        columns: What each column means; a column that is not listed cannot be asked about. Without any, all can.
        format: How cells are written.
        person: The column that identifies people; None if every row is one person.
        rows_per_person: How many rows a person may have. The owner's check compares it with the data; privacy does
            not depend on it.
        groups_per_person: In how many groups of ``by`` a person may be.
        confirmed: Whether the owner has confirmed it; a draft cannot be used.
    """

    columns: Mapping[str, ColumnDescription] = field(default_factory=dict)
    format: Format = Format()
    person: str | None = None
    rows_per_person: int | None = None
    groups_per_person: int = 1
    confirmed: bool = True

    def __post_init__(self) -> None:
        if len(self.columns) > MAX_COLUMNS:
            raise ParameterError(f"a description may have at most {MAX_COLUMNS:,} columns, got {len(self.columns):,}")
        for name in self.columns:
            require_column(name)
        if self.person is not None:
            require_column(self.person)
            if self.columns and self.person not in self.columns:
                raise ParameterError(f"the column {self.person!r:.80} identifies people and is not described")
        for name in ("rows_per_person", "groups_per_person"):
            given = getattr(self, name)
            if given is None and name == "rows_per_person":
                continue
            if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MAX_PER_PERSON:
                raise ParameterError.of(name, f"a whole number from 1 to {MAX_PER_PERSON:,}", given)
        if not isinstance(self.confirmed, bool):
            raise ParameterError.of("confirmed", "true or false", self.confirmed)
        for name, column in self.columns.items():
            marks = self.format.missing if self.format.missing != MISSING else ()
            words, values = {*column.yes, *column.no}, {each for each in column.values if isinstance(each, str)}
            both = [mark for mark in marks if _folded(mark) in words or mark in values]
            if both:
                raise ParameterError(f"column {name!r:.80}: {min(both)!r} is a value, and stands for a missing one")

    @classmethod
    def from_toml(cls, path: FilePath) -> Description:
        """The description in a file; anything in it that is not understood is an error."""
        text = read_text(path, MAX_BYTES)
        try:
            fields = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            problem = str(error)
        except RecursionError:
            problem = "brackets are nested too deeply"
        else:
            return _parse(fields, path)
        raise FileError(f"this is not TOML: {problem:.200}", path=path)

    def to_toml(self, path: FilePath) -> None:
        """Write the description, complete or not at all."""
        if Path(path).suffix != SUFFIX:
            raise ParameterError(f"a description is written to a file whose name ends with {SUFFIX}", path=path)
        write_atomically(path, self.text)

    @property
    def text(self) -> str:
        """The description as TOML."""
        lines = [f"schema = {_toml(SCHEMA)}", f"confirmed = {_toml(self.confirmed)}"]
        for name in ("person", "rows_per_person"):
            if getattr(self, name) is not None:
                lines.append(f"{name} = {_toml(getattr(self, name))}")
        if self.groups_per_person != 1:
            lines.append(f"groups_per_person = {self.groups_per_person}")
        written = self.format.to_dict()
        if written:
            lines += ["", "[format]", *(f"{name} = {_toml(value)}" for name, value in written.items())]
        for name, column in self.columns.items():
            key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name, re.ASCII) else _toml(name)
            lines += ["", f"[columns.{key}]"]
            lines += [f"{key} = {_toml(value)}" for key, value in column.to_dict().items()]
        return "\n".join(lines) + "\n"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what the description means, the same however its file is laid out."""
        meaning = {
            "schema": SCHEMA,
            "person": self.person,
            "groups_per_person": self.groups_per_person,
            "format": self.format.to_dict(),
            "columns": {name: self.columns[name].to_dict() for name in sorted(self.columns)},
        }
        return sha256(json.dumps(meaning, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    @property
    def rules(self) -> tuple[str, ...]:
        """What a plan says about how cells are read, beyond what is usual."""
        written, said = self.format, []
        if not written.is_plain:
            thousands = f" and {written.thousands!r} between thousands" if written.thousands else ""
            said.append(f"numbers are written with a decimal {_MARKS[written.decimal]}{thousands}")
        if written.missing != MISSING:
            said.append(
                f"cells that say {' or '.join(written.missing)} count as missing"
                if written.missing
                else "only blank cells count as missing"
            )
        if self.columns:
            said.append("values that do not fit the description of their column count as missing")
        return tuple(said)

    def require_confirmed(self, path: object = None) -> None:
        """Refuse a draft."""
        if not self.confirmed:
            raise ParameterError(
                "this description is a draft: its owner reads it, corrects it, and confirms it with ",
                Way("confirmed = true in it", "tinct describe … --confirm"),
                path=path,
            )

    def with_format(self, **given: Any) -> Description:
        """The same with some of the format's fields replaced, those that are not None."""
        changed = {name: value for name, value in given.items() if value is not None}
        return replace(self, format=replace(self.format, **changed)) if changed else self


def beside(path: FilePath) -> Path | None:
    """The description beside a file, if there is one: its name with .toml behind it."""
    found = Path(f"{Path(path)}{SUFFIX}")
    return found if found.is_file() else None


def _parse(fields: Mapping[str, Any], path: FilePath) -> Description:
    if fields.get("schema") != SCHEMA:
        raise FileError(f"schema must be {SCHEMA!r}, got {fields.get('schema')!r:.80}", path=path)
    _require_known(fields, ("schema", *_PLAIN, "format", "columns"), "the description", path)
    if "confirmed" not in fields:
        raise FileError("confirmed must say whether the owner has confirmed the description: true or false", path=path)
    written = _table(fields.get("format", {}), "format", path)
    _require_known(written, tuple(Format.__dataclass_fields__), "[format]", path)
    columns = {}
    for name, given in _table(fields.get("columns", {}), "columns", path).items():
        place = f"[columns.{name:.80}]"
        own = _table(given, place, path)
        if "kind" not in own:
            raise FileError(f"{place} must have a kind: {', '.join(KINDS)}", path=path)
        kind = own["kind"]
        allowed = ("kind", "ask", *_OF_KIND.get(kind if isinstance(kind, str) else "", ()))
        _require_known(own, allowed if kind in KINDS else tuple(own), place, path)
        columns[name] = _made(ColumnDescription, _tuples(own), place, path)
    rest = {
        name: fields[name] for name in ("confirmed", "person", "rows_per_person", "groups_per_person") if name in fields
    }
    made = _made(Format, _tuples(written), "[format]", path)
    found: Description = _made(Description, rest | {"format": made, "columns": columns}, "the description", path)
    return found


def _made(kind: Any, fields: dict[str, Any], place: str, path: FilePath) -> Any:
    try:
        return kind(**fields)
    except (ParameterError, TypeError, AttributeError) as error:
        problem = error.problem if isinstance(error, ParameterError) else "a value has the wrong type"
    raise FileError(f"{place}: {problem}", path=path)


def _table(given: object, place: str, path: FilePath) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise FileError(f"{place} must be a table", path=path)
    return given


def _require_known(fields: Mapping[str, Any], known: Sequence[str], place: str, path: FilePath) -> None:
    strange = [name for name in fields if name not in known]
    if strange:
        raise FileError(f"{place} has no field {strange[0]!r:.80}: it may have {', '.join(known)}", path=path)


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):
        return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    if isinstance(value, int):
        return str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
