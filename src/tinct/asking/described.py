"""What a description of the data means for a request: how cells are read, who is a person, which groups there are."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from tinct.errors import ParameterError
from tinct.questions import tokens
from tinct.questions.predicates import literal_text
from tinct.sources import Description
from tinct.sources.description import CATEGORY, beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct._files.loading import FilePath
    from tinct.ledger import Protection
    from tinct.sources import DataLike

_THOUSANDS = re.compile(r"[0-9]{1,3}\.[0-9]{3}")


def described_as(
    data: DataLike,
    owner: Protection | None,
    description: Description | FilePath | None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing: Sequence[str] | None = None,
    delimiter: str | None = None,
) -> Description | None:
    """The description to read the data by: the one given, the one beside the file, or one made of the options."""
    found = _found(data, description)
    options = {
        "encoding": encoding, "decimal": decimal, "thousands": thousands, "missing": missing, "delimiter": delimiter,
    }  # fmt: skip
    named = [name for name, value in options.items() if value is not None]
    if found is not None and named:
        extra = named[0]
        raise ParameterError.about(
            extra, f"the description of the data says how cells are written: leave out `{extra}`"
        )
    if found is None and named:
        found = Description().with_format(**options)
    if found is not None and owner is not None and owner.unit != found.person and found.columns:
        raise ParameterError(
            f"the ledger declares {_people(owner.unit)}, and the description of the data {_people(found.person)}: "
            "their owner makes them agree"
        )
    if (
        owner is not None
        and owner.description is None
        and found is not None
        and found.format.delimiter is not None
        and (named or description is not None)
    ):
        # with another delimiter, quoted line ends of one person would be rows: it is not for askers to say
        raise ParameterError.about(
            "delimiter" if named else "description",
            "what stands between two cells is for the owner of the budget to say, who declares a description",
        )
    if owner is not None and owner.description is not None and found is None:
        raise ParameterError.about(
            "description", "the owner of the budget declared a description of the data: give it as `description`"
        )
    return found


def person_of(described: Description, unit: str | None) -> str | None:
    """The column that identifies people: what the description says, if it says anything about columns."""
    if unit is not None and described.columns and unit != described.person:
        raise ParameterError.about(
            "unit", "leave out `unit`: ", f"the description of the data declares {_people(described.person)}"
        )
    return described.person if unit is None else unit


def require_plain_numbers(described: Description, text: str) -> None:
    """Refuse 3.000 in a question about data that writes thousands so: it would be three, and 3000 may be meant."""
    if described.format.thousands != "." and described.format.decimal != ",":
        return
    for token in tokens.tokenize(text):
        if token.kind == tokens.NUMBER and _THOUSANDS.fullmatch(token.value):
            whole, cut = token.value.replace(".", ""), token.value.rstrip("0")
            cut += "0" if cut.endswith(".") else ""
            tokens.fail(
                text,
                token.start,
                f"{token.value} could be {whole} or {cut}: questions have a decimal point, write either",
            )


def groups_of(described: Description, by: tuple[str, ...], groups: Sequence[str] | None) -> Sequence[str] | None:
    """The groups to answer for: if none are given, all that the description lists."""
    column = described.columns.get(by[0]) if len(by) == 1 else None
    if groups is not None or column is None or column.kind != CATEGORY or not column.values:
        return groups
    return tuple(value if isinstance(value, str) else literal_text(value) for value in column.values)


def _found(data: DataLike, description: Description | FilePath | None) -> Description | None:
    if isinstance(description, Description):
        return description
    path = description
    if path is None and isinstance(data, str | os.PathLike):
        path = beside(data)
    if path is None:
        return None
    found = Description.from_toml(path)
    found.require_confirmed(path)
    return found


def _people(unit: str | None) -> str:
    return "every row to be one person" if unit is None else f"the column {unit!r:.80} to identify people"
