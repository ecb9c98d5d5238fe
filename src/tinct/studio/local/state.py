"""What the Local page is set to, and how distributions are read from text and from files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from tinct._files import number, read_sheet, reading
from tinct.errors import FileError, ParameterError
from tinct.graphs.formats.edge_list import require_columns
from tinct.local.divergences import Utility
from tinct.local.parameters import Hypotheses, LocalBudget
from tinct.studio.uploads import parsed

if TYPE_CHECKING:
    from pathlib import Path

    from tinct.studio.workshop import Workshop

MOST_SYMBOLS = 200
_SEPARATOR = re.compile(r"[\s,;]+")
UTILITIES = {
    "kl": "Kullback–Leibler divergence",
    "reverse-kl": "Kullback–Leibler, the other way",
    "chi2": "χ² divergence",
    "hellinger": "squared Hellinger distance",
    "tv": "total variation",
    "js": "Jensen–Shannon divergence",
}


@dataclass(frozen=True)
class LocalState:
    """Two distributions on the same symbols, the budget, and what is to be told apart.

    Attributes:
        p0: The probabilities under the first hypothesis.
        p1: The probabilities under the second.
        symbols: What the symbols are called.
        epsilon: The budget, as it was written.
        utility: What is maximised.
    """

    p0: tuple[float, ...] = (0.05, 0.1, 0.2, 0.25, 0.4)
    p1: tuple[float, ...] = (0.3, 0.25, 0.2, 0.15, 0.1)
    symbols: tuple[str, ...] = ("1", "2", "3", "4", "5")
    epsilon: str = "2"
    utility: str = "kl"

    def to_json(self) -> dict[str, Any]:
        """The settings as the page keeps them."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: Any) -> LocalState:
        """The settings a page sends, each looked at."""
        if not isinstance(given, Mapping) or set(given) != set(cls.__dataclass_fields__):
            raise ParameterError("the page's settings are not whole: load it again")
        state = cls(
            tuple(map(float, given["p0"])),
            tuple(map(float, given["p1"])),
            tuple(map(str, given["symbols"])),
            str(given["epsilon"]),
            str(given["utility"]),
        )
        return _checked(state)


def happened(state: LocalState, event: str, value: Any, workshop: Workshop) -> LocalState:
    """The settings after an event; a value that makes no sense is a TinctError."""
    if event == "pasted":
        first, second = numbers_in(value[0], "P0"), numbers_in(value[1], "P1")
        names = tuple(str(at + 1) for at in range(len(first)))
        kept = state.symbols if len(state.symbols) == len(first) else names
        return _checked(replace(state, p0=first, p1=second, symbols=kept))
    if event == "upload":
        upload = workshop.uploads.add(*value)
        symbols, first, second = parsed(upload, distributions_in)
        return _checked(replace(state, p0=first, p1=second, symbols=symbols))
    if event == "epsilon":
        return _checked(replace(state, epsilon=str(value)))
    if event == "utility":
        if value not in UTILITIES:
            raise ParameterError(f"the utility must be one of {', '.join(UTILITIES)}, got {value!r:.40}")
        return replace(state, utility=value)
    raise ParameterError(f"the page knows no event {event!r:.40}")


def numbers_in(text: Any, name: str) -> tuple[float, ...]:
    """The numbers in a pasted text, between commas, semicolons, blanks or line breaks.

    >>> numbers_in("0.25, 0.75", "P0")
    (0.25, 0.75)
    """
    if not isinstance(text, str) or len(text) > 100_000:
        raise ParameterError(f"{name} must be a list of probabilities such as 0.2, 0.3, 0.5")
    try:
        return tuple(number(part) for part in _SEPARATOR.split(text.strip()) if part)
    except ParameterError as error:
        raise ParameterError(f"{name}: {error}") from None


def distributions_in(path: Path) -> tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]:
    """Two distributions from a table with the columns p0 and p1, and the names of the symbols if there is one."""
    header, rows = read_sheet(path)
    at = require_columns(header, path, ("p0", "p1"), ("symbol",))
    symbols, first, second = [], [], []
    for line, row in rows:
        with reading(path, f"line {line}"):
            first.append(number(row[at["p0"]]))
            second.append(number(row[at["p1"]]))
        symbols.append(row[at["symbol"]] if "symbol" in at else str(len(first)))
        if len(symbols) > MOST_SYMBOLS:
            raise FileError(f"the studio takes up to {MOST_SYMBOLS} symbols: use 'tinct local' for more", path=path)
    return tuple(symbols), tuple(first), tuple(second)


def _checked(state: LocalState) -> LocalState:
    """The same settings, if the library takes them."""
    if len(state.p0) > MOST_SYMBOLS:
        raise ParameterError(f"the studio takes up to {MOST_SYMBOLS} symbols: use 'tinct local' for more")
    Hypotheses.parse(state.p0, state.p1, state.symbols)
    LocalBudget.parse(state.epsilon)
    Utility.parse(state.utility)
    return state
