"""The words and signs of a question, each with its place, and errors that point at a place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from tinct.errors import ParameterError
from tinct.questions.predicates import require_printable

MAX_QUESTION = 20_000
NAME, QUOTED, TEXT, NUMBER, SIGN, END = "name", "quoted", "text", "number", "sign", "end"
_WINDOW = 60

_TOKEN = re.compile(
    r"""(?P<blank>\s+)
    |(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?![\w-])
    |(?P<number>(?:[0-9]+(?:_[0-9]{3})*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<backquoted>`(?:[^`]|``)+`)
    |(?P<doublequoted>"(?:[^"]|"")+")
    |(?P<text>'(?:[^']|'')*')
    |(?P<sign>==|!=|<=|>=|<>|&&|\|\||[<>=(),\[\]/%&|.!+-])""",
    re.VERBOSE,
)
_KEYBOARD = {
    "≥": "write >=", "≤": "write <=", "≠": "write !=", "‘": "write ' for quotes", "’": "write ' for quotes",
    "“": "write ' around texts and \" around names", "”": "write ' around texts and \" around names",
}  # fmt: skip
_OPEN = {"`": "a name in backquotes", '"': "a name in double quotes", "'": "a text in single quotes"}


@dataclass(frozen=True)
class Token:
    """A word or sign: its kind, what it stands for, where it begins, and for a number how long it is written."""

    kind: str
    value: str
    start: int
    length: int = 0

    def is_sign(self, *signs: str) -> bool:
        """Whether this is one of the signs."""
        return self.kind == SIGN and self.value in signs

    def is_word(self, *words: str) -> bool:
        """Whether this is one of the reserved words, in any case."""
        return self.kind == NAME and self.value.lower() in words

    def __str__(self) -> str:
        return "the end" if self.kind == END else f"{self.value[:40]!r}"


def tokenize(text: object) -> list[Token]:
    """The tokens of a text, with one for its end.

    >>> [token.value for token in tokenize("age >= 65")]
    ['age', '>=', '65', '']
    """
    if not isinstance(text, str):
        raise ParameterError(f"a question or predicate must be text, got {text!r:.80}")
    require_printable(text, "a question", MAX_QUESTION)
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            opened = _OPEN.get(text[at])
            if opened:
                fail(text, at, f"{opened} is not closed")
            fail(text, at, f"{_KEYBOARD.get(text[at], 'this has no meaning here')}, got {text[at]!r}")
        if match.lastgroup != "blank":
            tokens.append(_token(str(match.lastgroup), match[0], at))
        at = match.end()
    return [*tokens, Token(END, "", len(text))]


def _token(group: str, written: str, start: int) -> Token:
    if group in ("backquoted", "doublequoted", "text"):
        quote = written[0]
        return Token(TEXT if group == "text" else QUOTED, written[1:-1].replace(quote * 2, quote), start)
    if group == "date":  # a day is compared as a text that is one
        return Token(TEXT, written, start)
    return Token(group, written.replace("_", "") if group == NUMBER else written, start, len(written))


def fail(text: str, at: int, problem: str | ParameterError) -> NoReturn:
    """Raise an error that shows the place with a caret, with the facts of a refusal if there is one.

    >>> fail("age >> 65", 5, "expected a value")
    Traceback (most recent call last):
    tinct.errors.ParameterError: expected a value (character 6)
        age >> 65
             ^
    """
    left = max(0, at - _WINDOW)
    shown = text[left : at + _WINDOW]
    before, after = ("…" if left else ""), ("…" if at + _WINDOW < len(text) else "")
    caret = " " * (at - left + len(before)) + "^"
    sentence = f"{problem} (character {at + 1})\n    {before}{shown}{after}\n    {caret}"
    if isinstance(problem, str):
        raise ParameterError(sentence) from None
    raise ParameterError(
        sentence, parameter=problem.parameter, expected=problem.expected, value=problem.value
    ) from None
