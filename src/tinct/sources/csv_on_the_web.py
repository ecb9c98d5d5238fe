"""Descriptions as metadata of CSV on the Web (W3C, 2015), as far as one reaches the other.

What the other side cannot say is left out, and said: an import is a draft, in which a column that would be read
differently from what its metadata means is not described at all, so that it cannot be asked about.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from tinct._files import read_text, strict_json
from tinct.errors import FileError, ParameterError
from tinct.sources.description import (
    CATEGORY,
    DATE,
    IDENTIFIER,
    MAX_BYTES,
    NUMBER,
    YES_NO,
    ColumnDescription,
    Description,
    Format,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tinct._files.loading import FilePath

CONTEXT = "http://www.w3.org/ns/csvw"
_INHERITED = (
    *("aboutUrl", "datatype", "default", "lang", "null", "ordered", "propertyUrl", "required", "separator"),
    *("textDirection", "valueUrl"),
)
_KNOWN = {
    "the table group": ("tables", "dialect", "notes", "tableDirection", "tableSchema", "transformations"),
    "the table": ("url", "dialect", "notes", "suppressOutput", "tableDirection", "tableSchema", "transformations"),
    "tableSchema": ("columns", "foreignKeys", "primaryKey", "rowTitles"),
    "a column": ("name", "suppressOutput", "titles", "virtual"),
    "dialect": (
        *("commentPrefix", "delimiter", "doubleQuote", "encoding", "header", "headerRowCount", "lineTerminators"),
        *("quoteChar", "skipBlankRows", "skipColumns", "skipInitialSpace", "skipRows", "trim"),
    ),
    "datatype": (
        *("base", "format", "length", "maxExclusive", "maxInclusive", "maxLength", "maximum", "minExclusive"),
        *("minInclusive", "minLength", "minimum"),
    ),
    "the format of numbers": ("decimalChar", "groupChar", "pattern"),
}
# the only layouts that are read: the first line names the columns, cells are quoted as usual
_LAYOUT = {"doubleQuote": True, "header": True, "headerRowCount": 1, "quoteChar": '"', "skipColumns": 0, "skipRows": 0}
_INF = float("inf")
_WHOLE = {
    "integer": (-_INF, _INF), "long": (-_INF, _INF), "unsignedLong": (0, _INF), "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1), "byte": (-128, 127), "nonNegativeInteger": (0, _INF), "positiveInteger": (1, _INF),
    "nonPositiveInteger": (-_INF, 0), "negativeInteger": (-_INF, -1), "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1), "unsignedByte": (0, 255),
}  # fmt: skip
_NUMBERS = (*_WHOLE, "number", "double", "float", "decimal")
_TEXTS = (
    *("string", "any", "anyAtomicType", "anyURI", "normalizedString", "token", "language", "Name", "NMTOKEN", "QName"),
    *("gDay", "gMonth", "gMonthDay", "gYear", "gYearMonth", "time", "duration", "dayTimeDuration", "xml", "html"),
    *("yearMonthDuration", "json", "hexBinary", "base64Binary", "binary"),
)
_MOMENTS = ("date", "datetime", "dateTime", "dateTimeStamp")
_DAYS = {
    "yyyy-MM-dd": "%Y-%m-%d", "yyyyMMdd": "%Y%m%d",
    **{day.replace("-", mark): form.replace("-", mark) for mark in "-/." for day, form in (
        ("dd-MM-yyyy", "%d-%m-%Y"), ("d-M-yyyy", "%d-%m-%Y"), ("MM-dd-yyyy", "%m-%d-%Y"), ("M-d-yyyy", "%m-%d-%Y"),
    )},
}  # fmt: skip
_TIMES = {"HH:mm:ss": "%H:%M:%S", "HH:mm": "%H:%M", "HHmmss": "%H%M%S", "HHmm": "%H%M"}
_FORMS = _DAYS | {
    f"{day}{between}{time}": f"{form}{between}{clock}"
    for day, form in _DAYS.items() for between in (" ", "T") for time, clock in _TIMES.items()
}  # fmt: skip
_READABLE = {form: written for written, form in _FORMS.items()}  # of two, the one with single digits
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.]*", re.ASCII)
_LITERAL = r"(?:[^\\^$.|?*+()\[\]{}]|\\[^A-Za-z0-9])+"
_WORDS = re.compile(rf"\^?\((?:\?:)?({_LITERAL}(?:\|{_LITERAL})*)\)\$?|({_LITERAL}(?:\|{_LITERAL})*)")


def from_csvw(
    path: FilePath, *, file: str | None = None, columns: Sequence[str] = ()
) -> tuple[Description, tuple[str, ...]]:
    """A draft of a description from metadata of CSV on the Web, and sentences that say what was left out.

    Args:
        path: the metadata, a JSON file.
        file: the name of the data file, which tells its table from others.
        columns: the names in the first line of the data, by which titles are chosen.
    """
    return _Metadata(path, columns).description(file)


def to_csvw(description: Description, url: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A description as metadata of CSV on the Web for the table at ``url``, and what was left out."""
    left = [
        f"{name} = {getattr(description, name)!r}: it has no word for that"
        for name in ("person", "rows_per_person", "groups_per_person")
        if getattr(description, name) not in (None, 1)
    ]
    written = description.format
    dialect = {"delimiter": written.delimiter, "encoding": written.encoding}
    listed = []
    for name, column in description.columns.items():
        titles = {"name": name, "titles": name} if _NAME.fullmatch(name) else {"titles": name}
        listed.append(titles | {"datatype": _datatype(name, column, written, left)})
        if column.ask != (column.kind != IDENTIFIER):
            left.append(f"{name}: that it {'may' if column.ask else 'may not'} be asked about")
    found: dict[str, Any] = {"@context": CONTEXT, "url": url}
    if any(dialect.values()):
        found["dialect"] = {key: value for key, value in dialect.items() if value is not None}
    found["null"] = ["", *written.missing]
    found["tableSchema"] = {"columns": listed}
    return found, tuple(left)


def _datatype(name: str, column: ColumnDescription, written: Format, left: list[str]) -> Any:
    if column.kind == NUMBER or column.is_numeric:
        marks = {"decimalChar": written.decimal, "groupChar": written.thousands}
        usual = {"decimalChar": ".", "groupChar": ""}
        said = {mark: value for mark, value in marks.items() if value != usual[mark]}
        bounds = {"minimum": column.least, "maximum": column.most}
        if column.values:
            left.append(f"{name}: that only some numbers are values")
            bounds = {"minimum": min(map(float, column.values)), "maximum": max(map(float, column.values))}
        fields = {key: value for key, value in bounds.items() if value is not None}
        return {"base": "number", **({"format": said} if said else {}), **fields} if said or fields else "number"
    if column.kind == YES_NO:
        if not column.yes:
            left.append(f"{name}: of the usual words for yes and no all but true, 1, false and 0")
            return "boolean"
        more = [*column.yes[1:], *column.no[1:]]
        if more or "|" in column.yes[0] + column.no[0]:
            left.append(f"{name}: of the words for yes and no all but one each")
        return {"base": "boolean", "format": f"{column.yes[0]}|{column.no[0]}"}
    if column.kind == DATE:
        if column.form not in _READABLE:
            left.append(f"{name}: the form of its dates, {column.form}")
            return "string"
        return {"base": "datetime" if column.has_time else "date", "format": _READABLE[column.form]}
    if column.kind == CATEGORY and column.values:
        words = "|".join(re.sub(r"([\\^$.|?*+()\[\]{}/])", r"\\\1", str(value)) for value in column.values)
        return {"base": "string", "format": f"^({words})$"}
    return "string"


class _Metadata:
    """A metadata file, as it is read."""

    def __init__(self, path: FilePath, columns: Sequence[str]) -> None:
        self._path = path
        self._columns = columns
        self._left: list[str] = []

    def description(self, file: str | None) -> tuple[Description, tuple[str, ...]]:
        """The draft, and what was left out."""
        fields = self._object(strict_json(read_text(self._path, MAX_BYTES), self._path), "the metadata")
        context = fields.get("@context")
        if (context[0] if isinstance(context, list) and context else context) != CONTEXT:
            raise self._wrong(f"@context must be {CONTEXT!r}: is this metadata of CSV on the Web?")
        group: dict[str, Any] = {}
        if "tables" in fields:
            group = self._known(fields, "the table group")
            fields = self._chosen(group["tables"], file)
        table = self._known(fields, "the table")
        schema = self._known(self._there(table, group, "tableSchema"), "tableSchema")
        dialect = self._known(self._there(table, group, "dialect"), "dialect")
        self._say("primaryKey", schema, "if that column identifies people, say so as person")
        self._say("foreignKeys", schema, "other tables are not read")
        listed = schema.get("columns", [])
        if not isinstance(listed, list) or not listed:
            raise self._wrong("tableSchema must list its columns")
        read = []
        for each in listed:
            own = self._known(self._object(each, "a column"), "a column")
            inherited = {name: level[name] for level in (group, table, schema) for name in _INHERITED if name in level}
            read.append(self._column(inherited | own))
        kept = [each for each in read if each is not None]
        written = self._format(dialect, kept)
        try:
            columns = {name: column for name, column, *_ in kept}
            if len(columns) < len(kept):
                twice = next(name for name, many in Counter(name for name, *_ in kept).items() if many > 1)
                raise self._wrong(f"two columns are called {twice!r:.80}")
            return Description(columns, written, confirmed=False), tuple(self._left)
        except ParameterError as error:
            problem = error.problem
        raise self._wrong(problem)

    def _format(self, dialect: Mapping[str, Any], kept: list[Any]) -> Format:
        """How cells are written: what all columns agree on, since a description says it once for all of them."""
        for name, wanted in _LAYOUT.items():
            if name in dialect and (dialect[name] != wanted or type(dialect[name]) is not type(wanted)):
                raise self._wrong(
                    f"dialect: {name} is {dialect[name]!r:.40}, and only {wanted!r} is read: the first line names the "
                    'columns, and cells are quoted with ""'
                )
        self._say("commentPrefix", dialect, "lines that begin with it are rows here")
        numbers = [marks for *_, marks in kept if marks is not None]
        marks = Counter(numbers).most_common(1)[0][0] if numbers else (".", "")
        for at in reversed(range(len(kept))):
            name, _, _, own = kept[at]
            if own not in (None, marks):
                self._left.append(f"the column {name}: its numbers are written in another way than others")
                del kept[at]
        nulls = [set(null) for _, _, null, _ in kept]
        common = set.intersection(*nulls) if nulls else set()
        if other := sorted(set().union(*nulls) - common):
            said = ", ".join(map(repr, other))
            self._left.append(f"null: {said:.200} stand for a missing value in some columns, and only in those")
        missing = [mark for mark in dict.fromkeys(each for _, _, null, _ in kept for each in null) if mark in common]
        delimiter, encoding = dialect.get("delimiter"), dialect.get("encoding")
        try:
            return Format(delimiter, encoding, marks[0], marks[1], tuple(missing))
        except (ParameterError, TypeError) as error:
            problem = error.problem if isinstance(error, ParameterError) else "a value has the wrong type"
        raise self._wrong(f"dialect: {problem}")

    def _column(self, own: Mapping[str, Any]) -> tuple[str, ColumnDescription, list[str], Any] | None:
        """Name, meaning, words for nothing and marks of numbers; None if it is left out."""
        name = self._title(own)
        if own.get("virtual") is True:
            self._left.append(f"the column {name}: it is virtual, no cells are there")
            return None
        if own.get("separator") is not None:
            self._left.append(f"the column {name}: its cells are lists")
            return None
        if own.get("default") not in (None, ""):
            self._left.append(f"{name}: default; a blank cell is missing")
        if own.get("required") is True:
            self._left.append(f"{name}: required; a blank cell is missing")
        nulls = own.get("null", "")
        nulls = [nulls] if isinstance(nulls, str) else nulls
        if not isinstance(nulls, list) or not all(isinstance(null, str) for null in nulls):
            raise self._wrong(f"column {name!r:.80}: null must be a text or a list of texts")
        described, marks = self._meaning(name, own.get("datatype", "string"))
        if described is None:
            return None
        return name, described, list(dict.fromkeys(null.strip() for null in nulls if null.strip())), marks

    def _title(self, own: Mapping[str, Any]) -> str:
        """What the column is called in the file: one of its titles, or its name if it has none."""
        given = own.get("titles", own.get("name"))
        if isinstance(given, dict):
            given = [title for each in given.values() for title in (each if isinstance(each, list) else [each])]
        titles = [given] if isinstance(given, str) else given
        if not isinstance(titles, list) or not titles or not all(isinstance(title, str) and title for title in titles):
            raise self._wrong("a column must have a name or titles, which are texts")
        named = [own["name"]] if isinstance(own.get("name"), str) else []
        return str(next((each for each in (*titles, *named) if each in self._columns), titles[0]))

    def _meaning(self, name: str, given: Any) -> tuple[ColumnDescription | None, Any]:
        datatype = {"base": given} if isinstance(given, str) else self._object(given, f"the datatype of {name!r:.80}")
        datatype = self._known(datatype, "datatype")
        base, form = datatype.get("base", "string"), datatype.get("format")
        try:
            if base in _NUMBERS:
                return self._number(name, base, datatype)
            if base == "boolean":
                return self._truth(form), None
            if base in _MOMENTS:
                return self._moment(name, base, datatype), None
            if base in _TEXTS:
                return self._text(name, base, datatype), None
        except ParameterError as error:
            problem = error.problem
        else:
            problem = f"datatype has no base {base!r:.80}"
        raise self._wrong(f"column {name!r:.80}: {problem}")

    def _number(self, name: str, base: str, datatype: Mapping[str, Any]) -> tuple[ColumnDescription | None, Any]:
        form = datatype.get("format", {})
        form = {"pattern": form} if isinstance(form, str) else self._object(form, "the format of numbers")
        form = self._known(form, "the format of numbers")
        self._say("pattern", form, "numbers are read however many digits they have", f"{name}: ")
        least, most = _WHOLE.get(base, (-_INF, _INF))
        if base in _WHOLE:
            self._left.append(f"{name}: that its numbers are whole")
        for side, tighter in (("min", max), ("max", min)):
            for kind in ("imum", "Inclusive", "Exclusive"):
                if f"{side}{kind}" not in datatype:
                    continue
                bound = self._bound(name, datatype[f"{side}{kind}"])
                if kind == "Exclusive" and base not in _WHOLE:
                    self._left.append(f"{name}: {side}{kind}; the bound itself is read too")
                step = (1 if side == "min" else -1) if kind == "Exclusive" and base in _WHOLE else 0
                least, most = (
                    (tighter(least, bound + step), most) if side == "min" else (least, tighter(most, bound + step))
                )
        marks = (form.get("decimalChar", "."), form.get("groupChar", "") or "")
        try:
            Format(decimal=marks[0], thousands=marks[1])
        except (ParameterError, TypeError):
            self._left.append(f"the column {name}: its numbers are written with marks that are not read")
            return None, None
        low, high = (least if least > -_INF else None), (most if most < _INF else None)
        return ColumnDescription(NUMBER, least=low, most=high), marks

    def _bound(self, name: str, given: Any) -> float:
        try:
            if isinstance(given, bool):
                raise ValueError
            return float(given)
        except (TypeError, ValueError, OverflowError):
            problem = f"column {name!r:.80}: a bound must be a number"
        raise self._wrong(problem)

    @staticmethod
    def _truth(form: Any) -> ColumnDescription:
        if form is None:
            return ColumnDescription(YES_NO, yes=("true", "1"), no=("false", "0"))
        words = form.split("|") if isinstance(form, str) else []
        if len(words) != 2:
            raise ParameterError("the format of a boolean is two words such as 'Y|N'")
        return ColumnDescription(YES_NO, yes=(words[0].strip(),), no=(words[1].strip(),))

    def _moment(self, name: str, base: str, datatype: Mapping[str, Any]) -> ColumnDescription | None:
        form = datatype.get("format", "yyyy-MM-dd" if base == "date" else "yyyy-MM-ddTHH:mm:ss")
        if "format" not in datatype and base != "date":
            self._left.append(f"{name}: moments with a fraction of a second or a time zone are missing")
        for bound in ("minimum", "maximum", "minInclusive", "maxInclusive", "minExclusive", "maxExclusive"):
            self._say(bound, datatype, "dates have no range", f"{name}: ")
        if form not in _FORMS:
            self._left.append(f"the column {name}: its dates are written in a way that is not read, {form!r:.40}")
            return None
        return ColumnDescription(DATE, form=_FORMS[form])

    def _text(self, name: str, base: str, datatype: Mapping[str, Any]) -> ColumnDescription:
        for limit in ("length", "minLength", "maxLength"):
            self._say(limit, datatype, "texts have any length", f"{name}: ")
        if base not in ("string", "any", "anyAtomicType", "normalizedString", "token"):
            self._left.append(f"{name}: datatype {base}; it is read as text")
        form = datatype.get("format")
        if form is None:
            return ColumnDescription(CATEGORY)
        words = _listed(form)
        if words is None:
            self._left.append(f"{name}: format; only a list of words such as 'N|S' is read")
        return ColumnDescription(CATEGORY, values=words or ())

    def _chosen(self, tables: Any, file: str | None) -> dict[str, Any]:
        if not isinstance(tables, list) or not tables:
            raise self._wrong("tables must be a list of tables")
        found = [self._object(each, "a table") for each in tables]
        if len(found) > 1:
            found = [each for each in found if file is not None and _file_of(each.get("url")) == file]
        if len(found) != 1:
            listed = ", ".join(str(_file_of(each.get("url"))) for each in tables if isinstance(each, dict))
            raise self._wrong(f"there are several tables, {listed:.200}, and none of them is called like the data file")
        return found[0]

    def _there(self, table: Mapping[str, Any], group: Mapping[str, Any], name: str) -> dict[str, Any]:
        found = table.get(name, group.get(name, {}))
        if isinstance(found, str):
            raise self._wrong(f"{name} is in another file, which is not fetched: put it into this one")
        return self._object(found, name)

    def _object(self, given: Any, place: str) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise self._wrong(f"{place} must be an object")
        return given

    def _known(self, fields: dict[str, Any], place: str) -> dict[str, Any]:
        """The fields, if all are of the standard; those with a colon or an at sign say nothing about reading."""
        inherits = place not in ("dialect", "datatype", "the format of numbers")
        known = {*_KNOWN[place], *(_INHERITED if inherits else ())}
        strange = [name for name in fields if name not in known and ":" not in name and not name.startswith("@")]
        if strange:
            raise self._wrong(f"{place} has no field {strange[0]!r:.80}")
        return fields

    def _say(self, name: str, fields: Mapping[str, Any], why: str, place: str = "") -> None:
        if fields.get(name) not in (None, [], ""):
            self._left.append(f"{place}{name}; {why}")

    def _wrong(self, problem: str) -> FileError:
        return FileError(problem, path=self._path)


def _listed(form: Any) -> tuple[str, ...] | None:
    r"""The words of a regular expression that is nothing but a list of them; None if it is more.

    >>> _listed("^(N|S)$"), _listed("a\\.b|c"), _listed("[NS]")
    (('N', 'S'), ('a.b', 'c'), None)
    """
    found = _WORDS.fullmatch(form) if isinstance(form, str) else None
    if found is None:
        return None
    return tuple(re.sub(r"\\(.)", r"\1", word) for word in re.findall(_LITERAL, found[1] or found[2]))


def _file_of(url: object) -> str | None:
    return PurePosixPath(unquote(urlsplit(url).path)).name if isinstance(url, str) else None
