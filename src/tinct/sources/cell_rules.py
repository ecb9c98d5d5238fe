"""How a cell is read: as a number, as text, as yes or no, or as the label of a group or a person.

The rules in words: docs/questions.md. Spark follows the same rules in ``spark_frames``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct.questions.predicates import NUMBER, TEXT
from tinct.sources.columns import BOOLEAN, CELL, DECIMAL, FLOAT, LABEL, MOMENT, PERSON, STRING

if TYPE_CHECKING:
    from tinct.sources.columns import Column


YES_WORDS = ("yes", "y", "true", "t", "1", "1.0")
NO_WORDS = ("no", "n", "false", "f", "0", "0.0")
# one word at a time: the engine then decides once for each word of a dictionary, not once for each row
_WORDS = " ".join(
    f"WHEN '{word}' THEN {truth}"
    for pair in zip(YES_WORDS, NO_WORDS, strict=True)
    for word, truth in zip(pair, ("true", "false"), strict=True)
)


def first_reading(column: Column, use: str) -> str:
    """The SQL expression that reads a cell, before numbers that are not finite are taken out."""
    cell = column.identifier
    if use == NUMBER:
        if column.kind != CELL:
            return f"CAST({cell} AS DOUBLE)"
        return f"TRY_CAST(nullif({cell}, '') AS DOUBLE)"  # nullif: not a bare cast, which may drop rows (engine.py)
    if use == TEXT:
        return _text(column)
    if use == PERSON:  # only told apart, never shown: the type may stay
        return _text(column) if column.kind in (CELL, STRING) else cell
    if use == LABEL:
        return f"CAST({cell} AS DOUBLE)" if column.kind in (DECIMAL, FLOAT) else _label(column)
    if column.kind == BOOLEAN:
        return cell
    if column.kind in (CELL, STRING):
        return f"CASE lower(trim(CAST({cell} AS VARCHAR))) {_WORDS} END"
    if column.kind == DECIMAL:  # one with 38 places cannot even be compared with 1
        cell = f"CAST({cell} AS DOUBLE)"
    return f"CASE WHEN {cell} = 1 THEN true WHEN {cell} = 0 THEN false END"


def second_reading(column: Column, use: str, read: str) -> str:
    """The SQL expression that finishes the reading, given the name under which the first one is known."""
    if (use == NUMBER and column.kind in (CELL, FLOAT)) or (use == PERSON and column.kind == FLOAT):
        return f"CASE WHEN isfinite({read}) THEN {read} END"
    if use == LABEL and column.kind in (DECIMAL, FLOAT):  # 3.0 and 3 are the same label
        whole = f"{read} = trunc({read}) AND abs({read}) < 1e15"
        return (
            f"CASE WHEN NOT isfinite({read}) THEN NULL WHEN {whole} THEN CAST(CAST({read} AS BIGINT) AS VARCHAR) "
            f"ELSE CAST({read} AS VARCHAR) END"
        )
    return read


def _label(column: Column) -> str:
    return _text(column) if column.kind in (CELL, STRING) else f"CAST({column.identifier} AS VARCHAR)"


def _text(column: Column) -> str:
    if column.kind == MOMENT:
        return f"CAST({column.identifier} AS VARCHAR)"
    return f"nullif(trim(CAST({column.identifier} AS VARCHAR)), '')"
