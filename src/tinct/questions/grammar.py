"""Questions and predicates from text, by recursive descent. Nothing is ever evaluated.

question   = word "(" argument { "," argument } ")" | "together" "(" [ name "=" ] question { "," … } ")"
predicate  = all { "or" all }
all        = one { "and" one }
one        = "not" one | "(" predicate ")" | comparison
comparison = column [ operator literal | [ "not" ] "in" list | [ "not" ] "between" literal "and" literal ]
list       = "[" literal { "," literal } "]"
literal    = number | year-month-day | 'text' | yes | no | true | false
column     = name | `name` | "name"
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, NoReturn

from tinct.errors import ParameterError
from tinct.numbers.amounts import rational
from tinct.questions import _together, number_questions, questions, tokens
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
TOGETHER = "together"

_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
_HINTS = {
    "=": "write == to compare",
    "<>": "write != for unequal",
    "&&": "write and",
    "||": "write or",
    "&": "write and",
    "|": "write or",
    "!": "write not",
    ".": "a name with a point or a blank in it is written in double quotes; for a shell, 'majority(\"alk.phos\")' or "
    '"majority(\\"alk.phos\\" == \'high\')"',
}


def parse(text: str) -> questions.Question:
    """The question that a text asks.

    >>> parse("share( age>=65 and not (ward == 'N'), at_least = 3/10 )")
    Share(predicate=And(parts=(Comparison(column='age', operator='>=', value=65.0),
        Not(part=Comparison(column='ward', operator='==', value='N')))), bound=Bound(word='at_least',
        value=Fraction(3, 10)))
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
        self.named = False  # whether a value follows its name, so that a comma can stand between thousands

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
        if word.is_word(TOGETHER):
            return self.together(word)
        if word.kind != tokens.NAME or word.value not in _WORDS:
            self.fail(f"expected one of {', '.join(_WORDS)}, got {word}{_meant(word.value)}", word)
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
            hint = _HINTS.get(self.next.value, "expected , or ) here")
            if "column" in parameters and self.next.value in OPERATORS:
                hint = f"a bound has a name, as in {_EXAMPLES[word.value]}"
            self.fail(f"{hint}, got {self.next}")
        for name in parameters:
            if name not in given and name not in _OPTIONAL:
                self.fail(f"{word.value} needs {name}: {_EXAMPLES[word.value]}")
        if not any(name in given for name in questions.BOUNDS) and any(name in parameters for name in questions.BOUNDS):
            self.fail(f"{word.value} needs one of {', '.join(questions.BOUNDS)}: {_EXAMPLES[word.value]}")
        self.take()
        try:
            return make(**given)
        except ParameterError as error:
            refusal = error
        return self.fail(refusal, starts.get(refusal.parameter or "", word))

    def together(self, word: Token) -> questions.Question:
        self.expect("(", "after together")
        found: list[tuple[str | None, questions.Question]] = []
        while True:
            name = None
            if self.after.is_sign("=") and self.next.kind in (tokens.NAME, tokens.QUOTED):
                name = self.take().value
                self.take()
            found.append((name, self.question()))
            if not self.next.is_sign(","):
                break
            self.take()
        self.expect(")", "to end the questions")
        return self.built(word, _together.together_named, found)  # type: ignore[no-any-return]

    def argument(
        self,
        word: str,
        parameters: dict[str, Callable[[_Parser], Any]],
        given: dict[str, Any],
        starts: dict[str, Token],
    ) -> None:
        token, after = self.next, self.after
        if token.kind == tokens.NAME and after.is_sign("="):
            name = token.value
            if name not in parameters:
                if self.tokens[self.at + 2].is_sign(">", "<"):
                    self.fail(f"write {self.tokens[self.at + 2].value}=, got {after.value}", after)
                near = difflib.get_close_matches(name.lower(), parameters, n=1)
                hint = f"; did you mean {near[0]}?" if near else "; to compare, write =="
                self.fail(
                    f"{word} has no argument {name!r:.40}: {_EXAMPLES[word]}"
                    f"{hint if near or 'predicate' in parameters else ''}"
                )
            self.at += 2
            self.named = True
        else:
            self.named = False
            self.require_one_number()
            name = next((each for each in parameters if each not in given and each not in _OPTIONAL), "")
            if not name and not any(each in given for each in questions.BOUNDS):
                name = next((each for each in parameters if each in questions.BOUNDS), "")  # the usual one stands first
            if not name:
                self.fail(f"{word} has no further argument: {_EXAMPLES[word]}")
        if name in given:
            self.fail(f"{name} is given twice", token)
        starts[name] = self.next
        given[name] = parameters[name](self)
        self.named = False

    def require_one_number(self) -> None:
        """Refuse 65,100 where it could be one number or two."""
        comma, before = self.tokens[self.at - 1], self.tokens[max(0, self.at - 2)]
        if self._continues(before, comma, self.next):
            whole = before.value + self.next.value
            self.fail(
                f"{before.value},{self.next.value} could be one number or two: write {whole} or {before.value}, "
                f"{self.next.value} (with a space)",
                before,
            )

    @staticmethod
    def _continues(before: Token, comma: Token, after: Token) -> bool:
        """Whether a comma stands between digits as it stands between thousands."""
        close = before.start + before.length == comma.start and after.start == comma.start + 1
        digits = before.value.isdecimal() and after.value.isdecimal() and len(after.value) == after.length == 3
        return comma.is_sign(",") and before.kind == after.kind == tokens.NUMBER and close and digits

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
        if self.next.is_word("between"):
            return self.between(start, column)
        if self.next.is_word("not"):
            self.take()
            if not self.next.is_word("in", "between"):
                self.fail(f"expected in or between after not, got {self.next}")
            return Not(self.membership(start, column) if self.next.is_word("in") else self.between(start, column))
        if self.next.kind == tokens.SIGN and self.next.value in OPERATORS:
            operator = self.take().value
            value = self.literal()
            if self.next.kind == tokens.SIGN and self.next.value in OPERATORS:
                self.fail("comparisons are joined by and: write 18 <= age < 65 as age >= 18 and age < 65")
            return self.built(start, Comparison, column, operator, value)  # type: ignore[no-any-return]
        if self.next.value in _HINTS and self.next.kind == tokens.SIGN:
            self.fail(_HINTS[self.next.value])
        if self.next.is_word("is"):
            self.fail(f"to compare, write ==, as in {column:.40} == yes")
        return Comparison(column, "==", True)  # a column on its own is a yes/no column

    def between(self, start: Token, column: str) -> Predicate:
        self.take()
        least = self.literal()
        if not self.next.is_word("and"):
            self.fail(f"expected and, as in age between 18 and 30, got {self.next}")
        self.take()
        most = self.literal()
        if isinstance(least, bool) or isinstance(most, bool) or isinstance(least, str) != isinstance(most, str):
            self.fail("between needs two numbers, two texts or two dates", start)
        ends = [self.built(start, Comparison, column, sign, end) for sign, end in ((">=", least), ("<=", most))]
        return And(tuple(ends))

    def membership(self, start: Token, column: str) -> Predicate:
        self.take()
        return self.built(start, Membership, column, self.list())  # type: ignore[no-any-return]

    def column(self) -> str:
        token = self.next
        if token.kind == tokens.QUOTED or (token.kind == tokens.NAME and token.value.lower() not in RESERVED):
            return self.take().value
        if token.kind in (tokens.NUMBER, tokens.TEXT) or token.is_word(*_TRUTHS):
            range_of = ", as in age between 18 and 30" if self.after.is_sign("<", "<=") else ""
            self.fail(
                f"expected a column, got {token}: the column comes first{range_of}, and its name is bare or in double "
                "quotes"
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
            self.fail("a text is written in single quotes; double quotes are for the names of columns")
        if start.kind == tokens.NAME:
            self.fail(f"a text is written in single quotes: '{start.value:.40}'")
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
        written = self.written_number()
        value = int(written) if written.lstrip("+-").isdecimal() and len(written) < 400 else float(written)
        return self.built(start, literal, value)  # type: ignore[no-any-return]

    def whole(self) -> int:
        start = self.next
        value = self.built(start, rational, self.written_number(), "a number of people")
        if self.next.is_sign("%"):
            self.fail("a threshold is a number of people; for a share of them ask share(…)", start)
        if value.denominator != 1:
            self.fail("a threshold must be a whole number", start)
        return int(value)

    def how_many(self) -> int:
        start = self.next
        value = self.built(start, rational, self.written_number(), "k")
        return int(value) if value.denominator == 1 else self.fail("k must be a whole number", start)

    def words(self) -> Literal | tuple[Literal, ...]:
        """One value or a list of them."""
        return self.list() if self.next.is_sign("[") else self.literal()

    def fraction(self) -> Fraction:
        start = self.next
        written = self.written_number()
        if self.next.is_sign("/"):
            self.take()
            written += "/" + self.written_number()
        value = self.built(start, rational, written, "a share")
        if self.next.is_sign("%"):
            self.take()
            value /= 100
        return value  # type: ignore[no-any-return]

    def written_number(self) -> str:
        sign = self.take().value if self.next.is_sign("-", "+") else ""
        if self.next.kind != tokens.NUMBER:
            dates = "; dates and texts are compared in share(born >= 1990-12-24, at_least=50%)"
            self.fail(f"expected a number, got {self.next}{dates if self.next.kind == tokens.TEXT else ''}")
        written = self.take()
        if self.next.kind == tokens.NUMBER and self.next.start == written.start + written.length:  # 24.12.1990
            self.fail("a date is written year-month-day, such as 1990-12-24", written)
        value = written.value
        while self.named and self._continues(written, self.next, self.after):  # 12,000 as it is printed
            self.take()
            written = self.take()
            value += written.value
        return sign + value

    @property
    def after(self) -> Token:
        """The token behind the next one."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]


def _bounds(read: Callable[[_Parser], Any], usual: str) -> dict[str, Callable[[_Parser], Any]]:
    """The bounds a question may have, the usual one first: it needs no name."""
    return dict.fromkeys((usual, *(name for name in questions.BOUNDS if name != usual)), read)


def _majority(predicate: Predicate, yes: Any = None, no: Any = None) -> questions.Majority:
    """Of a column on its own, with its words if they are given; of any other predicate whether it is mostly true."""
    if isinstance(predicate, Comparison) and predicate == Comparison(predicate.column, "==", True):
        return questions.majority(predicate.column, yes=yes, no=no)
    return questions.majority(predicate, yes=yes, no=no)


def _margin(predicate: Predicate, yes: Any = None, no: Any = None) -> number_questions.Margin:
    """By how much that majority is ahead."""
    return number_questions.Margin(_majority(predicate, yes, no).predicate)


def _meant(word: str) -> str:
    """A hint for a word that people try."""
    lower = word.lower()
    if lower in _WORDS:
        return f": write {lower}"
    if lower in _MEANT:
        return f": try {_MEANT[lower]}"
    near = difflib.get_close_matches(lower, _WORDS, n=1)
    return f": did you mean {near[0]}?" if near else ""


_WORDS: dict[str, tuple[Callable[..., questions.Question], dict[str, Callable[[_Parser], Any]]]] = {
    "majority": (_majority, {"predicate": _Parser.predicate, "yes": _Parser.words, "no": _Parser.words}),
    "threshold": (questions.threshold, {"predicate": _Parser.predicate, **_bounds(_Parser.whole, "at_least")}),
    "share": (questions.share, {"predicate": _Parser.predicate, **_bounds(_Parser.fraction, "at_least")}),
    "median": (questions.median, {"column": _Parser.column, **_bounds(_Parser.number, "above")}),
    "quantile": (
        questions.quantile,
        {"column": _Parser.column, "q": _Parser.fraction, **_bounds(_Parser.number, "above")},
    ),
    "exists": (questions.exists, {"predicate": _Parser.predicate}),
    "mode": (questions.mode, {"column": _Parser.column, "categories": _Parser.list, "rest": _Parser.literal}),
    "count": (number_questions.count, {"predicate": _Parser.predicate}),
    "margin": (_margin, {"predicate": _Parser.predicate, "yes": _Parser.words, "no": _Parser.words}),
    "histogram": (
        number_questions.histogram,
        {"column": _Parser.column, "categories": _Parser.list, "rest": _Parser.literal},
    ),
    "top": (
        number_questions.top,
        {"column": _Parser.column, "categories": _Parser.list, "k": _Parser.how_many, "rest": _Parser.literal},
    ),
}
_OPTIONAL = {"rest", "yes", "no", *questions.BOUNDS}
_MEANT = {
    "sum": "count(predicate)",
    "number": "count(predicate)",
    "counts": "histogram(column, categories=[…])",
    "lead": "margin(column)",
    "mean": "median(column, above=x)",
    "average": "median(column, above=x)",
    "avg": "median(column, above=x)",
    "percentile": "quantile(column, 90%, above=x)",
    "proportion": "share(predicate, at_least=50%)",
    "fraction": "share(predicate, at_least=50%)",
    "percentage": "share(predicate, at_least=50%)",
    "most_common": "mode(column, categories=[…])",
    "any": "exists(predicate)",
}
_EXAMPLES = {
    "majority": "majority(support)",
    "threshold": "threshold(age >= 65, at_least=100)",
    "share": "share(smokes == yes, at_least=0.3)",
    "median": "median(cost, above=1200)",
    "quantile": "quantile(cost, 0.9, above=1200)",
    "exists": "exists(diagnosis == 'measles')",
    "mode": "mode(reason, categories=['checkup', 'injury', 'other'])",
    "count": "count(age >= 65)",
    "margin": "margin(support)",
    "histogram": "histogram(reason, categories=['checkup', 'injury'])",
    "top": "top(reason, categories=['checkup', 'injury', 'other'], k=2)",
}
