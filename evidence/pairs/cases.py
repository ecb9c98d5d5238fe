"""A case: a question, whom the owner protects, how the rows are kept, and two data sets that differ in one person.

Everything follows from a seed and a number, so that a case can be had again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from evidence.pairs import storage, values
from evidence.pairs.values import ANYTHING, BUDGETS, LABELS, NAMES, NUMBERS, TEXTS, WORDS
from tinct.questions.predicates import name_text
from tinct.sources import ColumnDescription, Description, Format

NUMBERS_WORDS = ("count", "margin", "histogram", "top")
QUESTIONS = ("majority", "threshold", "share", "median", "quantile", "exists", "mode", *NUMBERS_WORDS)
TEXT_SOURCES = ("csv", "tsv", "jsonl")
FILES = (*TEXT_SOURCES, "parquet")
SOURCES = (*FILES, "pandas", "polars", "arrow", "duckdb")
SPARK = "spark"
_NOT_IN_SPARK = ("time64[us]", "timestamp[ns]")  # a file with such a column is refused by its footer
ADD_REMOVE, REPLACE = "add-remove", "replace"
NO_GROUPS, DECLARED, FOUND = "none", "declared", "found"
_ODD_NAMES = {"v": "the value", "w": "wörd", "g": 'a"b', "p": "p`d", "e": "e;", "x": "x'"}
_AMOUNTS = ("1", "ln 2", "0.5", "ln 3", "2")
_WRITTEN = (Format(), Format(decimal=",", thousands="."), Format(missing=("1", "a", "other", "N/A")))
_DELTAS = ("0", "0", "0.01", "1/10", "1e-6")


@dataclass(frozen=True)
class Column:
    """A column: its name, what it is for, and its type where columns have one."""

    name: str
    use: str
    kind: str


@dataclass(frozen=True)
class Row:
    """Cells by the name of their column; ``odd`` stands in place of a line of a text file, or says how it is odd."""

    cells: dict[str, Any]
    odd: str | None = None


@dataclass(frozen=True)
class Case:
    """Two neighbours and a question about them.

    Attributes:
        seed: Where it comes from, together with ``index``.
        index: The same.
        kind: The word of the question.
        question: The question.
        source: How the rows are kept.
        style: A number by which the writer and its options are chosen.
        columns: The columns, in order.
        shared: The rows of everybody else.
        ours: The rows of the one person in the first data set.
        theirs: The same in the second; none if the person is not there.
        places: Where these rows stand among the others.
        relation: Which data sets the owner calls neighbours.
        options: What is asked along with the question.
        people: How many people the owner says there are.
        classes: How many of them chose which ε, if the owner says so.
        own: The one person's own ε in both data sets, None where it is none of the classes.
        view: How the two are looked at.
        answers: Numbers by which the forced answers are chosen in the one and in the other.
        ledger: Whether a command has one.
        silent: Whether what the owner declared is left out of the request.
    """

    seed: str
    index: int
    kind: str
    question: str
    source: str
    style: int
    columns: tuple[Column, ...]
    shared: tuple[Row, ...]
    ours: tuple[Row, ...]
    theirs: tuple[Row, ...]
    places: tuple[int, ...]
    relation: str
    options: dict[str, Any] = field(default_factory=dict)
    people: int | None = None
    classes: dict[str, int] | None = None
    own: tuple[str | None, str | None] | None = None
    view: str = "answer"
    answers: tuple[int, int] = (0, 0)
    ledger: bool = False
    silent: bool = False

    @property
    def groups(self) -> str:
        """Whether there are groups, and who knows them."""
        if "by" not in self.options:
            return NO_GROUPS
        return DECLARED if "groups" in self.options else FOUND

    def rows(self, side: int) -> list[Row]:
        """All rows of one of the two data sets, in order."""
        found = list(self.shared)
        for row, place in zip((self.ours, self.theirs)[side], self.places, strict=False):
            found.insert(place % (len(found) + 1), row)
        return found

    def traits(self) -> dict[str, str]:
        """What kind of case it is, for counting."""
        return {
            "question": self.kind,
            "source": self.source,
            "relation": self.relation,
            "asked": self.options["neighbors"],
            "unit": "persons" if "unit" in self.options else "rows",
            "groups": self.groups,
            "where": "where" if "where" in self.options else "all",
            "lean": "lean" if "lean" in self.options else "even",
            "reading": "described" if "description" in self.options else "plain",
            "budgets": "personal" if "epsilon_column" in self.options else "one for all",
            "view": self.view,
        }


def make(seed: str, index: int, sources: tuple[str, ...] = SOURCES) -> Case:
    """The case of that number."""
    return _Maker(seed, index, sources).case()


class _Maker:
    """One case in the making."""

    def __init__(self, seed: str, index: int, sources: tuple[str, ...]) -> None:
        self.seed, self.index = seed, index
        self.dice = dice = Random(f"{seed}/{index}")  # noqa: S311 # repeatable on purpose
        self.source = dice.choice(sources)
        self.typed = self.source not in TEXT_SOURCES
        self.word = dice.choice(QUESTIONS)
        self.trouble = dice.choice((0.0, 0.1, 0.3))
        odd = dice.random() < 0.15
        self.names = {short: _ODD_NAMES[short] if odd else short for short in _ODD_NAMES}
        self.columns: dict[str, Column] = {}
        self.ragged = dice.random() < 0.15

    def case(self) -> Case:
        dice = self.dice
        question = self._question()
        relation = dice.choice((ADD_REMOVE, REPLACE))
        options: dict[str, Any] = {"neighbors": relation}
        if relation == REPLACE and (self.word == "margin" or dice.random() < 0.3):
            options["neighbors"] = ADD_REMOVE
        alike = self.word in ("exists", "mode", *NUMBERS_WORDS)  # one ε for everybody
        personal = options["neighbors"] == REPLACE and not alike and dice.random() < 0.4
        self._privacy(options, personal)
        if options["neighbors"] == ADD_REMOVE and dice.random() < 0.5:
            self._groups(options)
        if dice.random() < 0.5:
            options["unit"] = self._add("p", NAMES)
        if dice.random() < 0.4:
            options["where"] = self._predicate(self._add("w", dice.choice((WORDS, NUMBERS, TEXTS))))
        if dice.random() < 0.4 or len(self.columns) == 1:
            self._add("x", ANYTHING)
        self._describe(options)
        order = dice.sample(list(self.columns.values()), len(self.columns))
        made = self._people(options, relation, personal)
        case = Case(
            self.seed, self.index, self.word, question, self.source, dice.randrange(10**6), tuple(order),
            relation=relation, options=options, answers=self._answers(),
            ledger=dice.random() < 0.6, silent=dice.random() < 0.5, **made,
        )  # fmt: skip
        return replace(case, view=self._view(case))

    # what is asked

    def _question(self) -> str:
        dice = self.dice
        if self.word in ("majority", "margin"):
            return f"{self.word}({name_text(self._add('v', WORDS))})"
        if self.word in ("median", "quantile"):
            column = name_text(self._add("v", NUMBERS))
            share = dice.choice(("0.5", "0.9", "1/3", "1"))
            return f"{self.word}({column}, {share + ', ' if self.word == 'quantile' else ''}above={dice.choice('34')})"
        use = dice.choice((WORDS, NUMBERS, TEXTS))
        column = self._add("v", use)
        if self.word in ("mode", "histogram", "top"):
            return self._mode(column)
        predicate = self._predicate(column)
        if dice.random() < 0.2:
            other = self._predicate(self._add("w", dice.choice((WORDS, NUMBERS, TEXTS))))
            predicate = f"({predicate}) {dice.choice(('and', 'or'))} ({other})"
        if self.word in ("exists", "count"):
            return f"{self.word}({predicate})"
        least = dice.choice("1234") if self.word == "threshold" else dice.choice(("0.5", "1/3", "0.9", "1"))
        return f"{self.word}({predicate}, at_least={least})"

    def _predicate(self, column: str) -> str:
        name, spec = name_text(column), self._column(column)
        if spec.use == WORDS:
            return self.dice.choice((f"{name} == yes", f"{name} != yes", f"not {name} == no"))
        if spec.use == NUMBERS:
            return self.dice.choice(
                (f"{name} > 3", f"{name} <= 2", f"{name} in [1, 2, 5]", f"{name} != 3", f"not {name} >= 4")
            )
        one, two, *_ = self._texts(spec)
        return self.dice.choice(
            (f"{name} == '{one}'", f"{name} in ['{one}', '{two}']", f"{name} != '{two}'", f"{name} > '{one}'")
        )

    def _mode(self, column: str) -> str:
        spec = self._column(column)
        if spec.use == WORDS:
            entries = ["yes", "no"]
        elif spec.use == NUMBERS:
            entries = ["1", "2", "3", "5"][: self.dice.choice((2, 3, 4))]
        else:
            entries = [f"'{each}'" for each in self._texts(spec)[: self.dice.choice((2, 3))]]
        rest = f", rest={self.dice.choice(entries)}" if self.dice.random() < 0.4 else ""
        first = f", k={self.dice.randint(1, len(entries))}" if self.word == "top" else ""
        return f"{self.word}({name_text(column)}, categories=[{', '.join(entries)}]{first}{rest})"

    def _texts(self, spec: Column) -> tuple[str, ...]:
        if spec.kind.startswith("date"):
            return ("2020-01-01", "2020-01-02", "2022-01-08")
        if spec.kind.startswith("timestamp"):
            return ("2020-01-01 00:00:00", "2020-01-02 00:00:00", "2022-01-08 00:00:00")
        return tuple(each.replace("'", "''") for each in values.CATEGORIES)

    def _privacy(self, options: dict[str, Any], personal: bool) -> None:
        dice = self.dice
        if personal:
            options["epsilon_column"] = self._add("e", BUDGETS)
            options["budgets"] = list(values.EPSILONS[: dice.choice((1, 2, 2, 3))])
            if dice.random() < 0.25:
                options["lean"] = dice.choice(("0.6", "0.8"))
            return
        options["epsilon"] = dice.choice(_AMOUNTS)
        delta = dice.choice(_DELTAS)
        if self.word == "exists" and delta == "0":
            delta = "0.01"
        if self.word != "mode" and delta != "0":
            options["delta"] = delta
        if self.word not in ("mode", "exists", *NUMBERS_WORDS) and dice.random() < 0.15:
            options["lean"] = dice.choice(("0.6", "0.8"))

    def _groups(self, options: dict[str, Any]) -> None:
        dice = self.dice
        options["by"] = self._add("g", LABELS)
        if self.word in ("exists", "histogram", "top") or dice.random() < 0.5:
            spec = self._column(options["by"])
            known = [*values.WARDS, "Z"]
            if spec.kind == "bool":
                known = ["true", "false"]
            elif spec.kind in ("int64", "double"):
                known = ["1", "2", "3", "-7"]
            elif spec.kind.startswith(("date", "timestamp")):
                known = list(self._texts(spec))
            options["groups"] = dice.sample(known, dice.randint(1, len(known)))
            return
        options["delta"] = dice.choice(("0.01", "1/10", "0.3"))
        if dice.random() < 0.3:
            options["most_groups"] = dice.choice((1, 2, 5))
        if self.word != "count" and dice.random() < 0.3:
            options["select"] = dice.choice(("1/4", "0.7"))

    def _describe(self, options: dict[str, Any]) -> None:
        """Sometimes the owner says what columns mean; from dice of its own, so that all else stays as it was."""
        dice = Random(f"{self.seed}/{self.index}/described")  # noqa: S311 # repeatable on purpose
        if dice.random() > 0.25 or any(spec.kind.startswith(("date", "time")) for spec in self.columns.values()):
            return
        meanings: dict[str, tuple[ColumnDescription, ...]] = {
            WORDS: (ColumnDescription("yes/no"), ColumnDescription("yes/no", yes=("yes", "true"), no=("no", "f", "0"))),
            NUMBERS: (ColumnDescription("number", least=-5, most=5), ColumnDescription("number")),
            TEXTS: (ColumnDescription("category"), ColumnDescription("category", values=values.CATEGORIES[:3])),
            LABELS: (ColumnDescription("category"),),
        }
        other = (ColumnDescription("identifier", ask=True),)
        columns = {spec.name: dice.choice(meanings.get(spec.use, other)) for spec in self.columns.values()}
        written = dice.choice(_WRITTEN[:2] if any(each.values for each in columns.values()) else _WRITTEN)
        options["description"] = Description(columns, written, options.get("unit"))

    # who is there

    def _people(self, options: dict[str, Any], relation: str, personal: bool) -> dict[str, Any]:
        dice = self.dice
        several = "unit" in options
        crowd = [self._person(number, several) for number in range(dice.choice((0, 1, 2, 3, 4, 5, 6, 8, 11)))]
        shared = [row for person in crowd for row in person]
        dice.shuffle(shared)
        number = len(crowd)
        self.trouble = dice.choice((0.1, 0.4, 0.7))  # it is the one person who is the attacker
        ours = self._person(number, several)
        theirs = []
        if relation == REPLACE:
            theirs = self._person(number, several, like=ours[0])
            if several and dice.random() < 0.1:  # who cannot be read any more is not there, whatever was declared
                theirs = [Row(row.cells | {self.names["p"]: None}, row.odd) for row in theirs]
        elif dice.random() < 0.5:
            ours, theirs = theirs, ours
        made: dict[str, Any] = {
            "shared": tuple(shared), "ours": tuple(ours), "theirs": tuple(theirs),
            "places": tuple(dice.randrange(100) for _ in range(3)),
        }  # fmt: skip
        if relation == REPLACE:
            counted = self._number([*crowd, ours], several)
            made["people"] = max(
                0, counted + dice.choice((0,) * 8 + (1, -1))
            )  # as declared, which need not be as it is
            if personal:
                made |= self._budgets(options, [*crowd, ours], made, several)
        return made

    def _person(self, number: int, several: bool, like: Row | None = None) -> list[Row]:
        """The rows of one person; with ``like``, of the person who has that row, under the same name and ε."""
        dice = self.dice
        name = self._name(number) if several else None
        budget = self._cell(self.columns["e"]) if "e" in self.columns else None
        if like is not None:
            name = like.cells[self.names["p"]] if several else None
            budget = like.cells[self.names["e"]] if "e" in self.columns else None
        rows = []
        for _ in range(dice.choice((1, 1, 2, 3)) if several else 1):
            cells = {spec.name: self._cell(spec) for short, spec in self.columns.items() if short not in "pe"}
            if several:
                cells[self.names["p"]] = name
            if "e" in self.columns:
                cells[self.names["e"]] = budget
            rows.append(Row(cells, self._oddness()))
        return rows

    def _name(self, number: int) -> Any:
        spec = self.columns["p"]
        return storage.name(self.dice, number, spec.kind if self.typed else "text", self.trouble / 2)

    def _oddness(self) -> str | None:
        """A line that is not what lines are; it may lose its person, but must not change anybody's ε."""
        if self.typed or not self.ragged or "e" in self.columns or self.dice.random() < 0.7:
            return None
        if self.source == "jsonl":
            return self.dice.choice(
                ("[]", "3", "null", '"text"', "{", "garbage", "{}", "\udcff", "\x00", "without", "twice", "more")
            )
        return self.dice.choice(("more", "fewer"))

    def _cell(self, spec: Column) -> Any:
        if self.typed:
            return storage.cell(self.dice, spec.use, spec.kind, self.trouble)
        return values.text(self.dice, spec.use, self.trouble)

    def _number(self, crowd: list[list[Row]], several: bool) -> int:
        """How many people there are, as far as they have a name."""
        if not several:
            return len(crowd)
        return len([rows for rows in crowd if _is_name(rows[0].cells[self.names["p"]])])

    def _budgets(
        self, options: dict[str, Any], crowd: list[list[Row]], made: dict[str, Any], several: bool
    ) -> dict[str, Any]:
        dice, column = self.dice, self.names["e"]
        known = options["budgets"]
        sizes = dict.fromkeys(known, 0)
        for rows in crowd:
            budget = _budget(rows[0].cells[column])
            if budget in sizes and (not several or _is_name(rows[0].cells[self.names["p"]])):
                sizes[budget] += 1
        own = _budget(made["ours"][0].cells[column])
        found: dict[str, Any] = {"own": (own if own in known else None,) * 2}
        if dice.random() < 0.7:  # as declared, which need not be as it is
            found["classes"] = {name: max(0, size + dice.choice((0, 0, 0, 1, -1))) for name, size in sizes.items()}
            if dice.random() < 0.3:  # somebody who chose another ε is nobody's business: the sizes are as declared
                other = self._cell(self.columns["e"])
                changed = tuple(Row(row.cells | {column: other}, row.odd) for row in made["theirs"])
                theirs = _budget(other)
                found |= {"theirs": changed, "own": (found["own"][0], theirs if theirs in known else None)}
            options["budgets"] = found["classes"]
            found["people"] = sum(found["classes"].values())
        return found

    def _answers(self) -> tuple[int, int]:
        """The same answer in both, or the next one: of two answers that is the other."""
        first = self.dice.randrange(100)
        return first, first + self.dice.choice((0, 1))

    def _view(self, case: Case) -> str:
        dice = self.dice
        views = ["ledger", "ledger", "plan", "store fails", "count fails"]
        if case.source in FILES:
            views += [
                "command",
                "command",
                "command --json",
                "command --json",
                "command --plan",
                "command --plan --json",
            ]
            if dice.random() < 0.01:
                return "process"
        return dice.choice(views)

    def _add(self, short: str, use: str) -> str:
        if short not in self.columns:
            kinds = storage.TYPES[use]
            foreign = {"pandas": (), SPARK: ("object", *_NOT_IN_SPARK)}.get(self.source, ("object",))
            kinds = tuple(kind for kind in kinds if kind not in foreign)
            self.columns[short] = Column(self.names[short], use, self.dice.choice(kinds) if self.typed else "text")
        return self.names[short]

    def _column(self, name: str) -> Column:
        return next(spec for spec in self.columns.values() if spec.name == name)


def _is_name(cell: Any) -> bool:
    """Whether a cell can be read as the name of a person."""
    if cell is None or cell != cell:
        return False
    return not isinstance(cell, str) or (bool(cell.strip()) and "\udcff" not in cell)


def _budget(cell: Any) -> str | None:
    """A personal ε as it is read: without blanks, and 1.0 as 1 if it is a number."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, str):
        return cell.strip(" ")
    return f"{float(cell):g}"
