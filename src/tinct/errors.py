"""Every exception the library raises.

Messages say what is wrong, where, and what would be right. They name vertices of the *public* graph and
parameters, never a secret dataset.
"""

from __future__ import annotations

from typing import Any


class TinctError(Exception):
    """The base of every error tinct raises on purpose."""


class ParameterError(TinctError, ValueError):
    """An argument is not what it has to be."""


class FileError(TinctError):
    """A file is missing, unreadable, or not what it says it is."""


class _Witnessed(TinctError):  # noqa: N818 # never raised itself
    """An error that carries the objects which prove it."""

    def __init__(self, message: str, witness: Any) -> None:
        super().__init__(message)
        self.witness = witness

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.witness)


class NotExtendable(_Witnessed):
    """The fixed values admit no private mechanism; ``witness`` has both vertices, the path, value and bound."""


class NoOptimum(_Witnessed):
    """No mechanism was found that is at least as good as all the others; ``witness`` says where the bounds clash."""


class NotPrivate(_Witnessed):
    """A mechanism violates the privacy it was checked against; ``witness`` has the edge and the event."""


class BudgetExceeded(TinctError):  # noqa: N818 # a public name; it reads as what happened
    """A request would spend more privacy than is left."""
