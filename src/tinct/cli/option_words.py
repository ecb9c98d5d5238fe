"""What the library says as one does in Python, in the words of the command that was run.

Errors carry the parameters they speak of, so nothing here looks into a sentence: ``neighbors='replace'`` becomes
``--neighbors replace`` if the command has that option, and what it has not keeps its name. Where an error names a
function, it also says which command does the same (``Way``).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tinct.errors import Way, in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinct.errors import Parameter, TinctError

_ELSEWHERE = {"n": "people"}  # what questions call n is the number of people


def options_of(command: Any, words: Sequence[str]) -> dict[str, str]:
    """The parameters that the command in these words has options for, and what each is called there."""
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    options = {each.name: word for each in command.params for word in each.opts if word.startswith("--")}
    return options | {name: options[own] for name, own in _ELSEWHERE.items() if own in options}


def in_options(error: TinctError, options: Mapping[str, str]) -> str:
    """The sentence of an error in these options; a bare name in a sentence about a file is a field of the file."""

    def called(parameter: Parameter | Way) -> str:
        if isinstance(parameter, Way):
            return parameter.command
        option = options.get(parameter.name)
        if option is None or (error.path is not None and parameter.value is ...):
            return str(parameter)
        if parameter.value is ... or parameter.value is True:
            return option
        return f"{option} {shlex.quote(_spelled(parameter.value))}"

    return in_words(error, called)


def _spelled(value: Any) -> str:
    """A value as options take it."""
    from tinct.ledger import Planned

    if isinstance(value, Planned):
        epsilon, delta = value.points[0]
        return f"{value.times} x {float(epsilon):g}" + (f", {float(delta):g}" if delta else "")
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_spelled(each)}" for key, each in value.items())
    return ",".join(map(_spelled, value)) if isinstance(value, list) else str(value)
