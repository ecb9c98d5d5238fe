"""Parquet files: read by the engine where it can fail on nothing but text, else, or then, through Arrow.

The engine refuses a file with one text that is not UTF-8 and with moments out of its range. Such a file is read again
by Arrow in batches, in which such cells are missing. All else is the same, so only time tells the two apart.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError
from tinct.sources.arrow_arrays import kind_of_arrow, safe, safe_type
from tinct.sources.columns import BOOLEAN, DECIMAL, FLOAT, OTHER, STRING, WHOLE, Column, Schema, kind_of_type, quoted
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import Engine, Private, guarded, pyarrow
from tinct.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


def open_parquet(path: Path) -> Source:
    """The rows of a Parquet file that begins and ends like one."""
    file = _opened(path)
    names = names_of(file.schema_arrow.names)
    private = Private(str(path))
    doubled = str(path).replace("'", "''")
    scan = f"read_parquet('{doubled}', hive_partitioning=false, binary_as_string=false)"
    found = guarded(lambda: private.connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall())  # noqa: S608 # the path is quoted
    described = found.value if found.reason is None and len(found.value) == len(names) else None
    encodings = _encodings(file)
    columns, quick, inside = [], {}, {}
    for at, (name, field) in enumerate(zip(names, file.schema_arrow, strict=True)):
        # decimals as byte arrays of any length: Arrow stops at one of an odd length, so the type is refused
        odd = _physical(file, at) == "BYTE_ARRAY" and kind_of_arrow(field.type) == DECIMAL
        column = Column(name, f"c{at}", OTHER if odd else kind_of_arrow(field.type))
        columns.append(column)
        inside[column.identifier] = at
        if described is not None and _is_quick(column.kind, described[at][1], encodings[at]):
            quick[column.identifier] = quoted(described[at][0])

    def ways(used: list[Column]) -> Iterator[Way]:
        if all(column.identifier in quick for column in used):
            named = ", ".join(f"{quick[column.identifier]} AS {column.identifier}" for column in used)
            yield private.reading(f"(SELECT {named} FROM {scan})")  # noqa: S608 # names are quoted
        places = [inside[column.identifier] for column in used]
        yield private.streaming(_schema(file, places), _batches(path, places))

    return Source(Engine(path.name, ways, private.close), Schema(columns), place=str(path))


def _opened(path: Path) -> Any:
    import pyarrow.parquet as pq

    found = guarded(lambda: pq.ParquetFile(path, metadata=_metadata(path), coerce_int96_timestamp_unit="us"))
    if found.reason is not None:
        raise FileError(found.reason, path=path.name)
    return found.value


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


def _schema(file: Any, places: list[int]) -> Any:
    return pyarrow().schema([(f"c{at}", safe_type(file.schema_arrow.field(at).type)) for at in places])


def _batches(path: Path, places: list[int]) -> Iterator[Any]:
    arrow = pyarrow()
    file = _opened(path)
    leaves = _first_leaves(file.schema_arrow)
    order = sorted(places)
    every = range(file.metadata.num_row_groups)
    for batch in file.reader.iter_batches(_BATCH, list(every), [leaves[at] for at in order], use_threads=True):
        found = dict(zip(order, batch.columns, strict=True))
        yield arrow.RecordBatch.from_arrays([safe(found[at]) for at in places], names=[f"c{at}" for at in places])
