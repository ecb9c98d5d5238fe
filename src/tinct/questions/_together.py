"""Several questions asked together, about the same people: one answer to each, for one ε."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from tinct._files.loading import read_text
from tinct.errors import FileError, ParameterError
from tinct.questions.counts import Several
from tinct.questions.positions import REPLACE, Histograms
from tinct.questions.predicates import Literal, name_text, require_column
from tinct.questions.questions import Exists, Mode, Question, Weighted, YesNo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinct._files.loading import FilePath
    from tinct.questions.counts import Counts
    from tinct.questions.positions import Line

MAX_QUESTIONS = 100
_MAX_BYTES = 2**20
QuestionLike: TypeAlias = "Question | str | Iterable[Question | str] | Mapping[str, Question | str]"


@dataclass(frozen=True)
class Together(Question):
    """Several questions, each with the name under which it is answered: one that was given, or its own text."""

    names: tuple[str, ...]
    questions: tuple[Weighted | Mode, ...]

    @property
    def counted(self) -> Several:
        """What each of them counts."""
        return Several(tuple(each.counted for each in self.questions))

    def meaning_for(self, one: str, many: str) -> str:
        """The questions in words, one in each line."""
        return "\n".join(
            each.meaning_for(one, many) if name == str(each) else f"{name}: {each.meaning_for(one, many)}"
            for name, each in zip(self.names, self.questions, strict=True)
        )

    @property
    def answers(self) -> tuple[Literal, ...]:
        """Each of the questions has its own."""
        raise ParameterError("questions that are asked together have their own answers each")

    def family(self, neighbors: str, n: int | None = None) -> NoReturn:  # noqa: ARG002 # one shape for all
        """Each of the questions has its own."""
        raise ParameterError("questions that are asked together have a family each")

    def __str__(self) -> str:
        parts = (
            str(each) if name == str(each) else f"{name_text(name)}={each}"
            for name, each in zip(self.names, self.questions, strict=True)
        )
        return f"together({', '.join(parts)})"


def together(questions: Iterable[Question | str] | Mapping[str, Question | str]) -> Together:
    """Ask several questions at once: each is answered, for one ε, and far better than one by one.

    Args:
        questions: The questions or their texts: a list, or a mapping from the names of the answers to questions.

    >>> print(together(["majority(tram)", "majority(bus)"]), together({"tram": "majority(support)"}))
    together(majority(tram), majority(bus)) together(tram=majority(support))
    """
    if isinstance(questions, str) or not hasattr(questions, "__iter__"):
        raise ParameterError.of("question", "a question or its text, a list of them, or a mapping from names to them")
    return together_named(questions.items() if isinstance(questions, Mapping) else ((None, each) for each in questions))


def together_named(questions: Iterable[tuple[str | None, Question | str]]) -> Together:
    """The same for pairs of a name, or None, and a question."""
    given = list(questions)
    if not 1 <= len(given) <= MAX_QUESTIONS:
        raise ParameterError.of("question", f"1 to {MAX_QUESTIONS} questions", ..., f", got {len(given):,}")
    read = [_question(each) for _, each in given]
    names = [str(each) if name is None else require_column(name) for (name, _), each in zip(given, read, strict=True)]
    for found, what in ((names, "name"), (list(map(str, read)), "question")):
        twice = next((each for at, each in enumerate(found) if each in found[:at]), None)
        if twice is not None:
            raise ParameterError(f"the {what} {twice:.80} stands there twice", parameter="question")
    return Together(tuple(names), tuple(read))


def read_questions(path: FilePath) -> Together:
    """The questions of a file: one in each line, or in TOML ``name = "question"``. Lines with # in front are notes."""
    text = read_text(path, _MAX_BYTES)
    try:
        if os.fspath(path).lower().endswith(".toml"):
            fields = tomllib.loads(text)
            wrong = next((name for name, value in fields.items() if not isinstance(value, str)), None)
            if wrong is not None:
                raise ParameterError(f"{wrong} must be a question in quotes, such as {wrong} = 'majority(support)'")
            return together(fields)
        lines = (line.strip() for line in text.splitlines())
        return together([line for line in lines if line and not line.startswith("#")])
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"this is not TOML: {error}", path=path) from None
    except ParameterError as error:
        raise FileError(str(error), path=path) from None


def _question(given: object) -> Weighted | Mode:
    if isinstance(given, str):
        from tinct.questions.grammar import parse  # it needs this module

        given = parse(given)
    if isinstance(given, Exists):
        raise ParameterError.about(
            "question",
            "exists never says yes wrongly, which needs a delta of its own: ask it alone, or threshold(…, at_least=1)",
        )
    if type(given).__module__ != Mode.__module__ or not isinstance(given, Weighted | Mode):
        what = "a question of your own" if isinstance(given, YesNo) else type(given).__name__.lower()
        raise ParameterError(f"{what} is asked alone: it cannot be asked together with others", parameter="question")
    return given


def distances(family: Line | Histograms, counts: Counts) -> list[int]:
    """How far each answer of a question is from being the true one, in its order; it is secret.

    It is 0 for the true one alone and changes by at most one between neighbours. Of several categories that share the
    lead the one that is listed first is the true one.

    >>> from tinct.questions import Counts, majority, mode
    >>> distances(majority("tram").family("add-remove"), Counts(10, (7, 3)))
    [4, 0]
    >>> distances(mode("reason", ["checkup", "injury"]).family("add-remove"), Counts(10, (4, 4), missing=2))
    [0, 1]
    """
    if not isinstance(family, Histograms):
        position = family.position(counts)
        return [position + 1, 0] if position >= 0 else [0, -position]
    found = family.capped(counts)
    behind = [
        max(0, *(other - own + (before < at) for before, other in enumerate(found) if before != at))
        for at, own in enumerate(found)
    ]
    # one who changes category moves two counts, so the lead by two
    return [-(-each // 2) for each in behind] if family.neighbors == REPLACE else behind
