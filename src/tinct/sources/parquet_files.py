"""Parquet files: read by the engine where it can fail on nothing but text, else, or then, through Arrow.

The engine refuses a file with one text that is not UTF-8 and with moments out of its range. Such a file is read again
by Arrow in batches, in which such cells are missing. All else is the same, so only time tells the two apart.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from tinct.errors import FileError
from tinct.sources.arrow_arrays import kind_of_arrow, safe, safe_type
from tinct.sources.columns import BOOLEAN, DECIMAL, FLOAT, OTHER, STRING, WHOLE, Column, Schema, kind_of_type, quoted
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import Engine, Private, guarded, pyarrow
from tinct.sources.source import Source
from tinct.sources.sql_dialects import text_literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tinct.sources.data_files import DataFiles
    from tinct.sources.duckdb_engine import Way

_BATCH = 2**17  # rows
# integers that are stored in as many bits as they have, so that there is nothing to convert, and the other kinds that
# the engine reads as they are stored
_QUICK = {
    WHOLE: {"INTEGER", "UINTEGER", "BIGINT", "UBIGINT"},
    FLOAT: {"FLOAT", "DOUBLE"},
    BOOLEAN: {"BOOLEAN"},
    STRING: {"VARCHAR"},
}
# in these, each text is checked; in others (DELTA_LENGTH_BYTE_ARRAY) the engine checks a page as if it were one text
_CHECKED = {"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BYTE_ARRAY"}


def open_parquet(files: DataFiles) -> Source:
    """The rows of Parquet files, all with the same columns."""
    parts = [_facts(path) for path in files.paths]
    schema = parts[0].schema
    for path, other in zip(files.paths[1:], parts[1:], strict=True):
        if (other.schema.names, other.schema.types) != (schema.names, schema.types):
            raise FileError(f"its columns or their types are not those of {files.path.name}", path=path)
    names = names_of(schema.names)
    private = Private(*map(str, files.paths))
    listed = ", ".join(text_literal(str(path)) for path in files.paths)
    scan = f"read_parquet([{listed}], hive_partitioning=false, binary_as_string=false)"
    found = guarded(lambda: private.connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall())  # noqa: S608 # the path is quoted
    described = found.value if found.reason is None and len(found.value) == len(names) else None
    encodings = [set[str]().union(*each) for each in zip(*(part.encodings for part in parts), strict=True)]
    columns, quick, inside = [], {}, {}
    for at, (name, field) in enumerate(zip(names, schema, strict=True)):
        # decimals as byte arrays of any length: Arrow stops at one of an odd length, so the type is refused
        odd = kind_of_arrow(field.type) == DECIMAL and any(part.stored[at] == "BYTE_ARRAY" for part in parts)
        column = Column(name, f"c{at}", OTHER if odd else kind_of_arrow(field.type))
        columns.append(column)
        inside[column.identifier] = at
        if described is not None and _is_quick(column.kind, described[at][1], encodings[at]):
            quick[column.identifier] = quoted(described[at][0])

    def ways(used: list[Column]) -> Iterator[Way]:
        if all(column.identifier in quick for column in used):
            named = ", ".join(f"{quick[column.identifier]} AS {column.identifier}" for column in used)
            yield files.watched(private.reading(f"(SELECT {named} FROM {scan})"))  # noqa: S608 # names are quoted
        places = [inside[column.identifier] for column in used]
        batches = (batch for path in files.paths for batch in _batches(path, places))
        yield files.watched(private.streaming(_schema(schema, places), batches))

    return Source(Engine(files.name, ways, private.close), Schema(columns), place=files.place)


class _Facts(NamedTuple):
    """What a file says of itself: its columns, how each is stored, and how each is encoded, anywhere in it."""

    schema: Any
    stored: list[str]
    encodings: list[set[str]]


def _facts(path: Path) -> _Facts:
    with _opened(path) as file:
        schema = file.schema_arrow
        return _Facts(schema, [_physical(file, at) for at in range(len(schema))], _encodings(file))


def _opened(path: Path) -> Any:
    _require_ends(path)
    import pyarrow.parquet as pq

    found = guarded(lambda: pq.ParquetFile(path, metadata=_metadata(path), coerce_int96_timestamp_unit="us"))
    if found.reason is not None:
        raise FileError(found.reason, path=path.name)
    return found.value


def _require_ends(path: Path) -> None:
    """Refuse what does not begin and end like a Parquet file."""
    with path.open("rb") as file:
        head, size = file.read(4), os.fstat(file.fileno()).st_size
        file.seek(max(0, size - 4))
        tail = file.read(4)
    if not size:
        raise FileError("the file is empty", path=path)
    if head == b"PARE":
        raise FileError("this Parquet file is encrypted: decrypt it first", path=path)
    if head != b"PAR1":
        raise FileError("this is not a Parquet file: it does not begin with PAR1", path=path)
    if tail != b"PAR1" or size < 12:
        raise FileError("this Parquet file is incomplete: it does not end with PAR1", path=path)


def _metadata(path: Path) -> Any:
    """What the file says of itself at its end, without the types that Arrow hid there.

    Columns are read with the types that Parquet knows, as the engine reads them. With Arrow's own, text in a dictionary
    would be checked while it is read, and one cell would refuse the file.
    """
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        file.seek(-8, 2)
        size = int.from_bytes(file.read(4), "little")
        file.seek(-8 - size, 2)
        footer = file.read(size).replace(b"ARROW:schema", b"ARROW:unread")
    return pq.read_metadata(io.BytesIO(b"PAR1" + footer + size.to_bytes(4, "little") + b"PAR1"))


def _is_quick(kind: str, engine_type: str, encodings: set[str]) -> bool:
    known = kind == kind_of_type(engine_type) and engine_type in _QUICK.get(kind, ())
    return known and (kind != STRING or encodings <= _CHECKED)


def _leaves(kind: Any) -> int:
    """How many columns of a Parquet file a type takes."""
    if kind_of_arrow(kind) != OTHER or not kind.num_fields:
        return 1
    return sum(_leaves(kind.field(at).type) for at in range(kind.num_fields))


def _first_leaves(schema: Any) -> list[int]:
    places, at = [], 0
    for field in schema:
        places.append(at)
        at += _leaves(field.type)
    return places


def _physical(file: Any, at: int) -> str:
    """How a column is stored."""
    return str(file.schema.column(_first_leaves(file.schema_arrow)[at]).physical_type)


def _encodings(file: Any) -> list[set[str]]:
    """How each column is encoded, anywhere in the file."""
    groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    return [
        {encoding for group in groups for encoding in group.column(leaf).encodings}
        for leaf in _first_leaves(file.schema_arrow)
    ]


def _schema(schema: Any, places: list[int]) -> Any:
    return pyarrow().schema([(f"c{at}", safe_type(schema.field(at).type)) for at in places])


def _batches(path: Path, places: list[int]) -> Iterator[Any]:
    arrow = pyarrow()
    file = _opened(path)
    leaves = _first_leaves(file.schema_arrow)
    order = sorted(places)
    every = range(file.metadata.num_row_groups)
    for batch in file.reader.iter_batches(_BATCH, list(every), [leaves[at] for at in order], use_threads=True):
        found = dict(zip(order, batch.columns, strict=True))
        yield arrow.RecordBatch.from_arrays([safe(found[at]) for at in places], names=[f"c{at}" for at in places])
