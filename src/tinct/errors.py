"""Every exception the library raises.

Messages say what is wrong, where, and what would be right. They name vertices of the *public* graph and
parameters, never a secret dataset.

An error carries facts beside its sentence, so that nobody has to search its words: the file it is about, the
parameter that is refused, and the parameters to write or the ways to take instead. A command or a page builds its
own words from them.
"""

from __future__ import annotations

import ast
import numbers
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self, TypeVar

    Result = TypeVar("Result")

_LONGEST = 80
_QUOTED = re.compile(r"`(\w+)(?:=([^`]+))?`")


@dataclass(frozen=True)
class Parameter:
    """A parameter that a sentence speaks of, with the value to write if there is one; ``...`` means none.

    >>> print(Parameter("neighbors", "replace"), Parameter("people"))
    neighbors='replace' people
    """

    name: str
    value: Any = ...

    def __str__(self) -> str:
        return self.name if self.value is ... else f"{self.name}={self.value!r}"


@dataclass(frozen=True)
class Way:
    """What to do instead: as one does it in Python, and on the command line.

    >>> print(Way("local.optimal", "tinct local design"))
    local.optimal
    """

    python: str
    command: str

    def __str__(self) -> str:
        return self.python


class TinctError(Exception):
    """The base of every error tinct raises on purpose: a sentence of texts and parameters, and the file it is about."""

    def __init__(self, *sentence: str | Parameter | Way, path: object = None) -> None:
        super().__init__(*sentence)
        self.path = path

    def __str__(self) -> str:
        return in_words(self, str)

    @property
    def problem(self) -> str:
        """The sentence without the name of the file."""
        return "".join(map(str, self.args))


class ParameterError(TinctError, ValueError):
    """An argument is not what it has to be.

    ``parameter`` names it as Python does, ``expected`` says in words what would be right, and ``value`` is what was
    given. Each is None where it is not known; ``value`` also where it is neither a number nor a text, and always where
    it comes from data.

    >>> error = ParameterError.of("epsilon", "a number in [0, 700]", float("nan"))
    >>> print(error)
    epsilon must be a number in [0, 700], got nan
    >>> error.parameter, error.expected, error.value
    ('epsilon', 'a number in [0, 700]', nan)
    """

    def __init__(
        self,
        *sentence: str | Parameter | Way,
        path: object = None,
        parameter: str | None = None,
        expected: str | None = None,
        value: Any = None,
    ) -> None:
        super().__init__(*sentence, path=path)
        self.parameter = parameter
        self.expected = expected
        # a container or a function may hold anything, be huge, or not survive the way to another process
        self.value = value if isinstance(value, str | numbers.Number | Decimal) else None

    @classmethod
    def of(cls, parameter: str, expected: str, value: Any = ..., *hint: str | Parameter | Way) -> Self:
        """The usual sentence: what must be what, and what was given, unless that is ``...``."""
        got = () if value is ... else (f", got {brief(value)}",)
        known = parameter if parameter.isidentifier() else None  # else words for a thing that is no parameter
        sentence = (Parameter(parameter), f" must be {expected}", *got, *hint)
        return cls(*sentence, parameter=known, expected=expected, value=None if value is ... else value)

    @classmethod
    def about(
        cls, parameter: str, sentence: str, *more: str | Parameter | Way, expected: str | None = None, value: Any = None
    ) -> Self:
        """Any other sentence about a parameter: in it, parameters stand in backquotes, with the value to write.

        ``sentence`` is our own words; what somebody gave may hold a backquote, and belongs into ``more``.

        >>> ParameterError.about("by", "`by` needs `neighbors='add-remove'`").args
        (Parameter(name='by', value=Ellipsis), ' needs ', Parameter(name='neighbors', value='add-remove'))
        """
        return cls(*_parts(sentence), *more, parameter=parameter, expected=expected, value=value)


class FileError(TinctError):
    """A file is missing, unreadable, or not what it says it is; ``path`` names it, ``problem`` says what is wrong."""


class _Witnessed(TinctError):  # noqa: N818 # never raised itself
    """An error that carries the objects which prove it."""

    def __init__(self, message: str, witness: Any) -> None:
        super().__init__(message)
        self.witness = witness

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.witness), vars(self)


class NotExtendable(_Witnessed):
    """The fixed values admit no private mechanism; ``witness`` has both vertices, the path, value and bound."""


class NoOptimum(_Witnessed):
    """No mechanism was found that is at least as good as all the others; ``witness`` says where the bounds clash."""


class CostlyRows(UserWarning):
    """A warning: one row for each order is right much less often than another private mechanism.

    ``mean`` is the most that the best answer can have with one row for each order, on average over the vertices, and
    ``best`` what it has in the mechanism of ``rainbow.best``.
    """

    def __init__(self, mean: float, best: float) -> None:
        super().__init__(
            f"with one row for each order the best answer has probability {mean:.3f} at most, on average over the "
            f"vertices; another private mechanism gives it {best:.3f}: rainbow.best(graph, privacy) finds it"
        )
        self.mean, self.best = mean, best

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.mean, self.best)


class NotPrivate(_Witnessed):
    """A mechanism violates the privacy it was checked against; ``witness`` has the edge and the event."""


class BudgetExceeded(TinctError):  # noqa: N818 # a public name; it reads as what happened
    """A request would spend more privacy than is left.

    ``facts`` has the name of the scope, and as exact texts the ε and δ of its budget, spent, asked and left.
    """

    def __init__(self, *sentence: str | Parameter | Way, path: object = None, **facts: Any) -> None:
        super().__init__(*sentence, path=path)
        self.facts = facts


class NotAnswered(TinctError):  # noqa: N818 # a public name; it reads as what happened
    """A request is charged, and its answer is not there; ``request`` is the id under which it is completed."""

    def __init__(self, message: str, request: str) -> None:
        super().__init__(message)
        self.request = request

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.request), vars(self)


def _parts(sentence: str) -> list[str | Parameter]:
    """The texts and parameters of a sentence in which parameters stand in backquotes."""
    text, *found = _QUOTED.split(sentence)
    parts: list[str | Parameter] = [text]
    for name, value, after in zip(*[iter(found)] * 3, strict=True):
        parts += [Parameter(name, ast.literal_eval(value) if value else ...), after]
    return [part for part in parts if part != ""]


def in_words(error: TinctError, name: Callable[[Parameter | Way], str]) -> str:
    """The sentence of an error with every parameter, and every way out, called what ``name`` calls it."""
    text = "".join(part if isinstance(part, str) else name(part) for part in error.args)
    return text if error.path is None else f"{error.path}: {text}"


def without_details(work: Callable[[], Result], error: TinctError) -> Result:
    """What somebody's own code makes of secret data; whatever it raises, its text could tell something about them."""
    try:
        return work()
    except KeyboardInterrupt:
        stopped = True
    except BaseException:  # even SystemExit and CancelledError: each could carry a text
        stopped = False
    raise KeyboardInterrupt if stopped else error  # out here, so that the first error is not its context


def brief(value: Any) -> str:
    """What was given, for a message: a number as it is written, anything else as Python shows it, cut short."""
    plain = isinstance(value, numbers.Number | Decimal) and not isinstance(value, bool)
    try:
        return f"{value!s:.{_LONGEST}}" if plain else f"{value!r:.{_LONGEST}}"
    except ValueError:  # an integer of more than 4,300 digits
        return f"a number of {type(value).__name__} with thousands of digits"
