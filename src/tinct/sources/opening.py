"""Opening a source: from a path or a frame to rows that can be counted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinct._files import suffix_of
from tinct.errors import FileError, ParameterError
from tinct.sources import engine, frames, heads
from tinct.sources.columns import CELL, Column, Schema, kind_of_type, quoted
from tinct.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
# one thread: with several, DuckDB 2.0 loses or doubles a row now and then where two of them meet (docs/decisions/0014)
_LINE_OPTIONS = "auto_detect=false, null_padding=true, ignore_errors=true, strict_mode=false, parallel=false"
_TEXT_RULES = ("lines that are not UTF-8 text are left out",)
_NOWHERE = "\x01"  # a delimiter that JSON cannot contain


def open(data: Any) -> Source:  # noqa: A001 # it reads as sources.open
    """The rows of a file or a data frame, ready to be counted.

    Args:
        data: the path of a .csv, .tsv, .parquet, .jsonl or .ndjson file; a pandas or Polars DataFrame; an Arrow Table;
            a DuckDB relation; or a Source.
    """
    source = _open(data)
    try:
        source.require_rows()
    except BaseException:
        source.close()
        raise
    return source


def _open(data: Any) -> Source:
    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike):
        return _open_file(Path(os.path.abspath(os.fspath(data))), data)
    if type(data).__module__.split(".")[0] == "pyspark":
        from tinct.sources.spark import open_frame

        return open_frame(data)
    for library, (kinds, make) in _FRAMES.items():
        if type(data).__module__.split(".")[0].lstrip("_") == library and type(data).__name__ in kinds:
            return make(data)
    raise ParameterError(
        "data must be the path of a file, a pandas, Polars or Spark DataFrame, an Arrow Table or a DuckDB relation, "
        f"got {type(data).__name__}"
    )


def _open_file(path: Path, given: Any) -> Source:
    suffix = suffix_of(given, SUFFIXES)
    head = heads.read_head(path)
    if suffix == ".parquet":
        return _open_parquet(path, head)
    if suffix in (".csv", ".tsv"):
        return _open_delimited(path, head, suffix)
    return _open_json_lines(path, head, suffix)


def _open_parquet(path: Path, head: bytes) -> Source:
    heads.require_parquet(path, head)
    rows = engine.on_file(path.name, str(path))
    scan = f"read_parquet({_text(str(path))}, hive_partitioning=false, binary_as_string=false)"
    described = rows.rows(f"DESCRIBE SELECT * FROM {scan}")  # noqa: S608 # the path is quoted
    columns = [Column(name, quoted(name), kind_of_type(kind)) for name, kind, *_ in described]
    return Source(rows, Schema(columns), lambda _: scan)


def _open_delimited(path: Path, head: bytes, suffix: str) -> Source:
    delimiter, names = heads.header(path, head, suffix)
    columns = [Column(name, f"c{at}", CELL) for at, name in enumerate(names)]
    declared = ", ".join(f"'{column.identifier}': 'VARCHAR'" for column in columns)
    scan = _lines(path, declared, f"header=true, delim={_text(delimiter)}, quote='\"', escape='\"'")
    return Source(engine.on_file(path.name, str(path)), Schema(columns), lambda _: scan, _TEXT_RULES)


def _open_json_lines(path: Path, head: bytes, suffix: str) -> Source:
    names = heads.first_keys(path, head, suffix)
    columns = [Column(name, f"c{at}", CELL) for at, name in enumerate(names)]
    options = f"header=false, delim={_text(_NOWHERE)}, quote='', escape=''"
    lines = _lines(path, "'line': 'VARCHAR'", options)

    def scan(used: list[Column]) -> str:
        """All needed keys of a line at once, by JSON pointer; a line that is not JSON has none of them."""
        if not used:
            return f"(SELECT 1 FROM {lines} WHERE trim(line) <> '')"  # noqa: S608 # as below
        pointers = ", ".join(_text("/" + column.name.replace("~", "~0").replace("/", "~1")) for column in used)
        fields = f"CASE WHEN json_valid(line) THEN json_extract_string(line, [{pointers}]) END"
        named = ", ".join(f"fields[{at}] AS {column.identifier}" for at, column in enumerate(used, 1))
        return f"(SELECT {named} FROM (SELECT {fields} AS fields FROM {lines} WHERE trim(line) <> ''))"  # noqa: S608 # pointers are quoted

    return Source(engine.on_file(path.name, str(path)), Schema(columns), scan, _TEXT_RULES)


def _lines(path: Path, declared: str, options: str) -> str:
    return f"read_csv({_text(str(path))}, columns={{{declared}}}, {options}, {_LINE_OPTIONS})"


def _open_table(what: str, convert: Callable[[Any], Any]) -> Callable[[Any], Source]:
    def make(data: Any) -> Source:
        table, names, read = convert(data)
        rows = engine.on_table(what, table)
        types = [str(kind) for _, kind, *_ in rows.rows(f"DESCRIBE {engine.VIEW}")]
        return Source(rows, Schema(frames.columns_of(names, types, read)), lambda _: engine.VIEW)

    return make


def _open_relation(relation: Any) -> Source:
    names, types = tuple(relation.columns), [str(kind) for kind in relation.types]
    columns = [Column(name, quoted(name), kind_of_type(kind)) for name, kind in zip(names, types, strict=True)]
    return Source(engine.on_relation("the DuckDB relation", relation), Schema(columns), lambda _: engine.VIEW)


def _text(value: str) -> str:
    doubled = value.replace("'", "''")
    if "\0" in doubled:
        raise FileError("a path or name must not hold a NUL character")
    return f"'{doubled}'"


_FRAMES: dict[str, tuple[tuple[str, ...], Callable[[Any], Source]]] = {
    "pandas": (("DataFrame",), _open_table("the pandas DataFrame", frames.from_pandas)),
    "polars": (("DataFrame", "LazyFrame"), _open_table("the Polars DataFrame", frames.from_polars)),
    "pyarrow": (("Table", "RecordBatch"), _open_table("the Arrow table", frames.from_arrow)),
    "duckdb": (("DuckDBPyRelation",), _open_relation),
}
