"""Rows of Parquet files and folders, read so that no cell can end the reading.

Spark turns a moment in milliseconds into microseconds while it reads, and fails if one cell is too far away for that.
Which columns hold milliseconds is public: it stands in the footers. They are read as whole numbers, and those that do
not fit are missing. (Moments of files by Spark 2 are not moved from its older calendar to ours; that would matter
before 1900 only.)
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError
from tinct.sources.spark_engine import guarded
from tinct.spark._privatize import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_AT_ONCE = 8  # footers; far away, each is mostly waiting
_MILLISECONDS = " in milliseconds"
_NESTED = "nested"
# a moment of each type from a number of microseconds, whatever the session's time zone
_MOMENTS = {
    "timestamp": "timestamp_micros({})",
    "timestamp_ntz": "TIMESTAMP_NTZ'1970-01-01 00:00:00' + INTERVAL '0 00:00:00.000001' DAY TO SECOND * {}",
}
# what to do with dates of the older calendar; one answer is to fail on the first of them
_CALENDARS = {
    "datetimeRebaseMode": "spark.sql.parquet.datetimeRebaseModeInRead",
    "int96RebaseMode": "spark.sql.parquet.int96RebaseModeInRead",
}


def read_rows(session: Any, path: str) -> Any:
    """The rows under a path; part files that do not agree on the type of a column are refused by their footers."""
    frame = guarded(f"reading {path}", lambda: _reader(session).parquet(path))
    footers = guarded(f"reading {path}", lambda: _footers(session, frame.inputFiles()))
    same = _folding(session)
    kinds = _agreed(path, footers, same)
    millis = {
        name: kind
        for name, kind in frame.dtypes
        if kind in _MOMENTS and kinds.get(same(name), "").endswith(_MILLISECONDS)
    }
    return guarded(f"reading {path}", lambda: _checked(session, path, frame.schema, millis)) if millis else frame


def _reader(session: Any) -> Any:
    reader = session.read
    for option, setting in _CALENDARS.items():
        if session.conf.get(setting).upper() == "EXCEPTION":
            reader = reader.option(option, "CORRECTED")
    return reader


def _folding(session: Any) -> Callable[[str], str]:
    """What is equal for names that are one column to Spark."""
    return str if session.conf.get("spark.sql.caseSensitive").lower() == "true" else str.lower


def _footers(session: Any, files: Iterable[str]) -> list[dict[str, str]]:
    """The columns of each different schema among the files, with what they hold."""
    java, configuration = session.sparkContext._jvm, session.sparkContext._jsc.hadoopConfiguration()
    # each class is looked up once: through Py4J that takes longer than reading a footer
    place, address = java.org.apache.hadoop.fs.Path, java.java.net.URI
    reader = java.org.apache.parquet.hadoop.ParquetFileReader
    brief = java.org.apache.parquet.format.converter.ParquetMetadataConverter.SKIP_ROW_GROUPS
    parquet = java.org.apache.spark.sql.execution.datasources.parquet
    converter = parquet.ParquetToSparkSchemaConverter(session._jsparkSession.sessionState().conf())

    def read(file: str) -> tuple[str, Any]:
        schema = reader.readFooter(configuration, place(address(file)), brief).getFileMetaData().getSchema()
        return schema.toString(), schema

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        different = dict(pool.map(read, files))
    return [_columns(schema, converter) for schema in different.values()]


def _columns(schema: Any, converter: Any) -> dict[str, str]:
    """Spark's types of the columns, since it reads several ways of writing the same; and which are in milliseconds."""
    types = json.loads(converter.convert(schema).json())["fields"]
    return {
        column["name"]: _kind(column["type"], str(field.getLogicalTypeAnnotation()))
        for column, field in zip(types, schema.getFields(), strict=True)
    }


def _kind(written: Any, annotation: str) -> str:
    if not isinstance(written, str):
        return _NESTED  # no question can read it
    return written + _MILLISECONDS if annotation.startswith("TIMESTAMP(MILLIS") else written


def _agreed(path: str, footers: list[dict[str, str]], same: Callable[[str], str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for columns in footers:
        for name, kind in columns.items():
            other = found.setdefault(same(name), kind)
            if other != kind:
                first, second = sorted((other, kind))
                raise FileError(
                    f"the column {name} is {first} in one file and {second} in another: write all files of a "
                    "folder with the same types",
                    path=path,
                )
    return found


def _checked(session: Any, path: str, schema: Any, millis: dict[str, str]) -> Any:
    """The rows again, with moments made from milliseconds here; what does not fit into microseconds is missing."""
    from pyspark.sql.functions import expr
    from pyspark.sql.types import LongType, StructField, StructType

    plain = StructType(
        [StructField(each.name, LongType(), metadata=each.metadata) if each.name in millis else each for each in schema]
    )
    moments = {
        name: expr(_MOMENTS[kind].format(f"try_multiply({quoted(name)}, 1000)")) for name, kind in millis.items()
    }
    return _reader(session).schema(plain).parquet(path).withColumns(moments)
