"""Rows from anywhere: a source that somebody wrote, of which only the cells that a question needs are asked for.

Cells are read like those of a CSV file: as text, into which values of Python's own are written the way the description
says, and what cannot be read is missing. So nothing that a row holds can be an error, and what fails on the way says
nothing about any row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError, without_details
from tinct.questions.predicates import require_printable
from tinct.sources.columns import CELL, Column, Schema
from tinct.sources.data_frames import names_of
from tinct.sources.duckdb_engine import Engine, Private, duckdb, pyarrow
from tinct.sources.source import Source
from tinct.sources.typed_cells import object_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tinct.sources.duckdb_engine import Way

_BATCH = 2**14  # rows
MAX_NAME = 200


class RowSource(Source, ABC):
    """A source of your own: say what its columns are called, and yield its rows when they are asked for.

    ``name`` and ``columns`` are public. ``place`` tells one data set from another in a ledger: two sources with the
    same place count as the same data. ``rules`` are sentences about how rows are read, which every plan shows.

    >>> class Votes(RowSource):
    ...     def __init__(self, votes):
    ...         super().__init__("the votes", ["support"])
    ...         self._votes = votes
    ...
    ...     def rows(self, columns):
    ...         yield from self._votes
    >>> from tinct import ask
    >>> ask(Votes([("yes",)] * 500 + [("no",)] * 20), "majority(support)", epsilon=1).value
    'yes'
    """

    def __init__(
        self, name: str, columns: Iterable[str], *, place: str | None = None, rules: Iterable[str] = ()
    ) -> None:
        for text in (name, name if place is None else place):
            require_printable(text, "the name of a source", MAX_NAME)
        names = names_of(columns)
        if not names:
            raise FileError(f"{name}: there are no columns")
        duckdb(), pyarrow()
        listed = [Column(each, f"c{at}", CELL) for at, each in enumerate(names)]
        private = Private()

        def ways(used: list[Column]) -> Iterator[Way]:
            schema = pyarrow().schema([(column.identifier, pyarrow().large_string()) for column in used])
            yield private.streaming(schema, self._batches(schema, used))

        super().__init__(Engine(name, ways, private.close), Schema(listed), tuple(rules), place=place)

    @abstractmethod
    def rows(self, columns: Sequence[str]) -> Iterable[Sequence[Any]]:
        """For each row the cells of these columns, in this order. It is called after the charge, for each answer."""

    def _batches(self, schema: Any, used: list[Column]) -> Iterator[Any]:
        arrow, columns, writers = pyarrow(), [column.name for column in used], [object_text(each) for each in used]
        failed = FileError("its rows cannot be read to the end")
        found = without_details(lambda: iter(self.rows(columns)), failed)
        while rows := without_details(lambda: [_cells(row, writers) for row in islice(found, _BATCH)], failed):
            arrays = [arrow.array(cells, arrow.large_string()) for cells in zip(*rows, strict=True)]
            yield arrow.RecordBatch.from_arrays(arrays, schema=schema)


def _cells(row: Any, writers: Sequence[Callable[[Any], str | None]]) -> list[str | None]:
    """The cells of a row as text. What a row has too few of is missing, as is a row that is no row."""
    values: list[Any]
    try:
        values = [] if isinstance(row, str | bytes) else list(islice(row, len(writers)))
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever one row does, it is a row of missing cells and no error
        values = []
    texts = [write(value) for write, value in zip(writers, values, strict=False)]
    return texts + [None] * (len(writers) - len(texts))
