"""Tables of text (CSV, TSV), whose cells no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
import math
import re
from typing import TYPE_CHECKING

from tinct._files._strict_json import MAX_DIGITS
from tinct._files.loading import read_text, suffix_of
from tinct._files.saving import write_atomically
from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tinct._files.loading import FilePath

DELIMITERS = {".csv": ",", ".tsv": "\t"}

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")
_TO_QUOTE = re.compile(r'[,\t"\r\n]')


def guard_cell(text: str) -> str:
    """The text as a cell that a spreadsheet does not take for a formula: such a cell gets an apostrophe in front.

    >>> guard_cell("=1+1"), guard_cell("-1.5"), unguard_cell(guard_cell("=1+1"))
    ("'=1+1", '-1.5', '=1+1')
    """
    # an apostrophe that was there before gets a second one, so that reading back is unambiguous
    return f"'{text}" if _FORMULA.match(text) and not is_number(text) else text


def unguard_cell(text: str) -> str:
    """The text that ``guard_cell`` was given."""
    return text[1:] if _GUARDED.match(text) else text


def is_number(text: str) -> bool:
    """Whether a text is a plain decimal number."""
    return _NUMBER.fullmatch(text) is not None


def number(text: str) -> float:
    """A plain decimal number; names such as nan and inf are a ParameterError."""
    if not is_number(text) or len(text) > MAX_DIGITS:
        raise ParameterError(f"expected a number such as 0.25, got {text!r:.80}")
    value = float(text)
    if not math.isfinite(value):
        raise ParameterError(f"expected a number such as 0.25, got {text!r:.80} (too large)")
    return value


def read_sheet(path: FilePath, *, gaps: bool = False) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a CSV or TSV file, and its rows with their line numbers.

    Blanks around cells do not count, guards are taken off, blank lines are skipped; a row that is too short or
    too long and, unless there may be ``gaps``, an empty cell are errors.
    """
    delimiter = DELIMITERS[suffix_of(path, DELIMITERS)]
    lines = _records(read_text(path), delimiter, path)
    _, header = next(lines, (0, []))
    if not header:
        raise FileError("the file is empty: the first line must name the columns", path=path)
    return header, _full_rows(lines, header, gaps, path)


def _records(text: str, delimiter: str, path: FilePath) -> Iterator[tuple[int, list[str]]]:
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = records.line_num + 1  # where a record begins; with quoted line breaks it ends further down
        try:
            cells = [unguard_cell(cell.strip()) for cell in next(records)]
        except StopIteration:
            return
        except csv.Error as error:
            raise FileError(f"line {line}: not a table: {error}", path=path) from None
        if cells not in ([], [""]):
            yield line, cells


def _full_rows(
    lines: Iterator[tuple[int, list[str]]], header: Sequence[str], gaps: bool, path: FilePath
) -> Iterator[tuple[int, list[str]]]:
    for line, cells in lines:
        if len(cells) != len(header):
            raise FileError(f"line {line}: {len(cells)} cells, but the header names {len(header)} columns", path=path)
        if "" in cells and not gaps:
            raise FileError(f"line {line}: the cell under {header[cells.index('')]!r:.80} is empty", path=path)
        yield line, cells


def write_sheet(path: FilePath, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV or TSV file, with cells guarded against spreadsheets."""
    delimiter = DELIMITERS[suffix_of(path, DELIMITERS)]
    lines = [delimiter.join(map(_quoted, row)) for row in (header, *rows)]
    write_atomically(path, "\n".join([*lines, ""]))


def _quoted(text: str) -> str:
    cell = guard_cell(text)
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE.search(cell) else cell
