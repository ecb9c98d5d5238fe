"""Questions and predicates from text, by recursive descent. Nothing is ever evaluated.

question   = word "(" argument { "," argument } ")"
predicate  = all { "or" all }
all        = one { "and" one }
one        = "not" one | "(" predicate ")" | comparison
comparison = column [ operator literal | [ "not" ] "in" list ]
list       = "[" literal { "," literal } "]"
literal    = number | 'text' | yes | no | true | false
column     = name | `name` | "name"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tinct.errors import ParameterError
from tinct.numbers.amounts import rational
from tinct.questions import questions, tokens
from tinct.questions.predicates import (
    OPERATORS,
    RESERVED,
    And,
    Comparison,
    Literal,
    Membership,
    Not,
    Or,
    Predicate,
    literal,
)
from tinct.questions.tokens import Token, fail, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

MAX_NESTING = 50

_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
_HINTS = {
    "=": "write == to compare",
    "<>": "write != for unequal",
    "&&": "write and",
    "||": "write or",
    "!": "write not",
}


def parse(text: str) -> questions.Question:
    """The question that a text asks.

    >>> parse("share( age>=65 and not (ward == 'N'), at_least = 3/10 )")
    Share(predicate=And(parts=(Comparison(column='age', operator='>=', value=65.0),
        Not(part=Comparison(column='ward', operator='==', value='N')))), at_least=Fraction(3, 10))
    """
    parser = _Parser(text)
    question = parser.question()
    parser.end("a question ends with its closing parenthesis")
    return question


def parse_predicate(text: str) -> Predicate:
    """The predicate that a text states.

    >>> print(parse_predicate("age>=65 AND ward in ['N','S']"))
    age >= 65 and ward in ['N', 'S']
    """
    parser = _Parser(text)
    predicate = parser.predicate()
    parser.end("expected and, or, or the end")
    return predicate


class _Parser:
    """Reads tokens from left to right; each method reads one thing of the grammar."""

    def __init__(self, text: str) -> None:
        self.tokens = tokenize(text)
        self.text = text
        self.at = 0
        self.depth = 0

    # moving along

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at += 1
        return token

    def fail(self, problem: str | ParameterError, token: Token | None = None) -> NoReturn:
        fail(self.text, (token or self.next).start, problem)

    def expect(self, sign: str, what: str) -> None:
        if not self.next.is_sign(sign):
            self.fail(f"expected {sign} {what}, got {self.next}")
        self.take()

    def end(self, problem: str) -> None:
        if self.next.kind != tokens.END:
            self.fail(f"{_HINTS.get(self.next.value, problem)}, got {self.next}")

    def built(self, start: Token, make: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Make a thing; if it refuses its arguments, point at where they begin."""
        try:
            return make(*arguments, **named)
        except ParameterError as error:
            refusal = error
        return self.fail(refusal, start)

    # questions

    def question(self) -> questions.Question:
        word = self.take()
        if word.kind != tokens.NAME or word.value not in _WORDS:
            self.fail(f"expected one of {', '.join(_WORDS)}, got {word}", word)
        make, parameters = _WORDS[word.value]
        self.expect("(", f"after {word.value}")
        given: dict[str, Any] = {}
        starts: dict[str, Token] = {}
        while not self.next.is_sign(")"):
            self.argument(word.value, parameters, given, starts)
            if not self.next.is_sign(","):
                break
            self.take()
        if not self.next.is_sign(")"):
            self.fail(f"{_HINTS.get(self.next.value, 'expected , or ) here')}, got {self.next}")
        for name in parameters:
            if name not in given and name not in _OPTIONAL:
                self.fail(f"{word.value} needs {name}: {_EXAMPLES[word.value]}")
        self.take()
        try:
            return make(**given)
        except ParameterError as error:
            refusal = error
        return self.fail(refusal, starts.get(refusal.parameter or "", word))

    def argument(
        self,
        word: str,
        parameters: dict[str, Callable[[_Parser], Any]],
        given: dict[str, Any],
        starts: dict[str, Token],
    ) -> None:
        token, after = self.next, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if token.kind == tokens.NAME and after.is_sign("="):
            name = token.value
            if name not in parameters:
                hint = "; to compare, write ==" if "predicate" in parameters else ""
                self.fail(f"{word} has no argument {name!r:.40}: {_EXAMPLES[word]}{hint}")
            self.at += 2
        else:
            name = next((each for each in parameters if each not in given and each not in _OPTIONAL), "")
            if not name:
                self.fail(f"{word} has no further argument: {_EXAMPLES[word]}")
        if name in given:
            self.fail(f"{name} is given twice", token)
        starts[name] = self.next
        given[name] = parameters[name](self)

    # predicates

    def predicate(self) -> Predicate:
        return self.joined("or", Or, lambda: self.joined("and", And, self.one))

    def joined(self, word: str, kind: type[And] | type[Or], part: Callable[[], Predicate]) -> Predicate:
        parts = [part()]
        while self.next.is_word(word):
            self.take()
            parts.append(part())
        return parts[0] if len(parts) == 1 else kind(tuple(parts))

    def one(self) -> Predicate:
        if self.next.is_word("not"):
            self.enter()
            self.take()
            inner: Predicate = Not(self.parenthesis() if self.next.is_sign("(") else self.one())
        elif self.next.is_sign("("):
            self.enter()
            inner = self.parenthesis()
        else:
            return self.comparison()
        self.depth -= 1
        return inner

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(f"parentheses and nots may be nested {MAX_NESTING} deep")

    def parenthesis(self) -> Predicate:
        self.take()
        inner = self.predicate()
        self.expect(")", "to close the parenthesis")
        return inner

    def comparison(self) -> Predicate:
        start = self.next
        column = self.column()
        if self.next.is_word("in"):
            return self.membership(start, column)
        if self.next.is_word("not"):
            self.take()
            if not self.next.is_word("in"):
                self.fail(f"expected in after not, got {self.next}")
            return Not(self.membership(start, column))
        if self.next.kind == tokens.SIGN and self.next.value in OPERATORS:
            operator = self.take().value
            value = self.literal()
            if self.next.kind == tokens.SIGN and self.next.value in OPERATORS:
                self.fail("comparisons are joined by and: write 18 <= age < 65 as age >= 18 and age < 65")
            return self.built(start, Comparison, column, operator, value)  # type: ignore[no-any-return]
        if self.next.value in _HINTS and self.next.kind == tokens.SIGN:
            self.fail(_HINTS[self.next.value])
        return Comparison(column, "==", True)  # a column on its own is a yes/no column

    def membership(self, start: Token, column: str) -> Predicate:
        self.take()
        return self.built(start, Membership, column, self.list())  # type: ignore[no-any-return]

    def column(self) -> str:
        token = self.next
        if token.kind == tokens.QUOTED or (token.kind == tokens.NAME and token.value.lower() not in RESERVED):
            return self.take().value
        if token.kind in (tokens.NUMBER, tokens.TEXT) or token.is_word(*_TRUTHS):
            self.fail(
                f"expected a column, got {token}: the column comes first, and its name is bare or in `backquotes`"
            )
        hint = _HINTS.get(token.value)
        return self.fail(hint or f"expected a column, got {token}")

    # values

    def literal(self) -> Literal:
        start = self.next
        if start.kind == tokens.TEXT:
            return self.built(start, literal, self.take().value)  # type: ignore[no-any-return]
        if start.is_word(*_TRUTHS):
            return _TRUTHS[self.take().value.lower()]
        if start.kind == tokens.QUOTED:
            self.fail("a text is written in single quotes; other quotes are for the names of columns")
        if start.kind == tokens.NAME:
            self.fail(f"expected a number, a text in single quotes, yes or no, got {start}: a text is written in '…'")
        return self.number()

    def list(self) -> tuple[Literal, ...]:
        self.expect("[", "to begin a list such as ['N', 'S']")
        values: list[Literal] = []
        while not self.next.is_sign("]"):
            values.append(self.literal())
            if not self.next.is_sign(","):
                break
            self.take()
        self.expect("]", "to end the list")
        return tuple(values)

    def number(self) -> float:
        start = self.next
        return self.built(start, literal, self.built(start, float, self.written_number()))  # type: ignore[no-any-return]

    def whole(self) -> int:
        start = self.next
        value = self.built(start, rational, self.written_number(), "at_least")
        if value.denominator != 1:
            self.fail("at_least must be a whole number", start)
        return int(value)

    def fraction(self) -> Fraction:
        start = self.next
        written = self.written_number()
        if self.next.is_sign("/"):
            self.take()
            written += "/" + self.written_number()
        return self.built(start, rational, written, "a share")  # type: ignore[no-any-return]

    def written_number(self) -> str:
        sign = self.take().value if self.next.is_sign("-", "+") else ""
        if self.next.kind != tokens.NUMBER:
            self.fail(f"expected a number, got {self.next}")
        return sign + self.take().value


_WORDS: dict[str, tuple[Callable[..., questions.Question], dict[str, Callable[[_Parser], Any]]]] = {
    "majority": (questions.majority, {"column": _Parser.column}),
    "threshold": (questions.threshold, {"predicate": _Parser.predicate, "at_least": _Parser.whole}),
    "share": (questions.share, {"predicate": _Parser.predicate, "at_least": _Parser.fraction}),
    "median": (questions.median, {"column": _Parser.column, "above": _Parser.number}),
    "quantile": (questions.quantile, {"column": _Parser.column, "q": _Parser.fraction, "above": _Parser.number}),
    "exists": (questions.exists, {"predicate": _Parser.predicate}),
    "mode": (questions.mode, {"column": _Parser.column, "categories": _Parser.list, "rest": _Parser.literal}),
}
_OPTIONAL = {"rest"}
_EXAMPLES = {
    "majority": "majority(support)",
    "threshold": "threshold(age >= 65, at_least=100)",
    "share": "share(smokes == yes, at_least=0.3)",
    "median": "median(cost, above=1200)",
    "quantile": "quantile(cost, 0.9, above=1200)",
    "exists": "exists(diagnosis == 'measles')",
    "mode": "mode(reason, categories=['checkup', 'injury', 'other'])",
}
