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


def controls_used(inputs: Mapping[str, Any], triggered: Mapping[str, Any]) -> str | None:
    """The control that was used, or None when a page has just been put together: it reports all of them at once."""
    names = [name for name, given in inputs.items() if f"{given.component_id}.{given.component_property}" in triggered]
    if not names or (len(names) > 1 and len(names) == len(inputs)):
        return None
    return names[0]


def event_of(name: str, value: Any, buttons: tuple[str, ...]) -> Happening | None:
    """What a control did; nothing if it was emptied, or is a button that nobody pressed."""
    return None if value is None or (name in buttons and not value) else Happening(name, value)


def missed_events(
    values: Mapping[str, Any], shown: Mapping[str, Any], used: str, buttons: tuple[str, ...]
) -> list[Happening]:
    """The controls, other than the one that was used, that do not stand where they stood in the last answer."""
    found = []
    for name, value in values.items():
        event = event_of(name, value, buttons)
        if event is not None and name in shown and name != used and brief(value) != shown[name]:
            found.append(event)
    return found


def brief(value: Any) -> Any:
    """What is needed of a value to see whether it has changed: of a click, its time; of a file, its length."""
    if isinstance(value, dict):
        return [value.get("timeStamp"), (value.get("data") or {}).get("id")]
    if isinstance(value, str) and len(value) > 200:
        return len(value)
    return value


def amount_of(value: Any) -> str:
    """The place of a slider as the text of an amount.

    >>> amount_of(0.30000000000000004), amount_of(1)
    ('0.3', '1')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"a slider must stand at a number, got {value!r:.40}")
    return f"{value:.10g}"
