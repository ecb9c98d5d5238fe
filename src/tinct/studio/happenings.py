"""Which control was used: one event out of what the browser sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Happening:
    """A control by name, and the value it has now."""

    name: str
    value: Any


def one_event(
    values: Mapping[str, Any], inputs: Mapping[str, Any], triggered: Mapping[str, Any], buttons: tuple[str, ...]
) -> Happening | None:
    """The control that was used, or None when a page is shown for the first time.

    A page that has just been put together reports all its controls at once, and buttons that nobody pressed.
    """
    names = [name for name, given in inputs.items() if f"{given.component_id}.{given.component_property}" in triggered]
    if len(names) != 1:
        return None
    name = names[0]
    value = values[name]
    if value is None or (name in buttons and not value):
        return None
    return Happening(name, value)


def amount_of(value: Any) -> str:
    """The place of a slider as the text of an amount.

    >>> amount_of(0.30000000000000004), amount_of(1)
    ('0.3', '1')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"a slider must stand at a number, got {value!r:.40}")
    return f"{value:.10g}"
