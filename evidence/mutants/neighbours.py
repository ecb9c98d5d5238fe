"""Mutants that only a neighbour shows: what is counted although it was declared, drawn too early, or cannot be read."""

from __future__ import annotations

from evidence.mutants import Mutant


def _told_apart(family: str) -> tuple[str, ...]:
    return (f"test_neighbours.py::test_neighbours_cannot_be_told_apart[{family}]",)


_CHARGED = """\
charge = granted(...)
entry = completed(book, charge, ready.draw)
"""
_DRAWN_FIRST = """\
drawn = ready.draw()
if json_size(drawn) > 4:
    raise NotAnswered("the answer is too long", request or "")
charge = granted(...)
entry = completed(book, charge, lambda: drawn)
"""
_TOO_LONG = """\
charge = granted(...)
drawn = ready.draw()
if json_size(drawn) > 4:
    raise NotAnswered("the answer is too long", charge.request)
entry = completed(book, charge, lambda: drawn)
"""
_FIRST_LINE = """\
Schema(
    [
        Column(str(key), f"c{at}", CELL)
        for at, key in enumerate(__import__("json").loads(files.path.open("rb").readline() or "{}"))
    ]
)
"""

MUTANTS = (
    Mutant(
        "a plan counts the rows and prints their number",
        "plan_of",
        "_PEOPLE.format(people=asked.people)",
        "_PEOPLE.format(people=source.count_people(None))",
        _told_apart("frames"),
    ),
    Mutant(
        "classes of personal budgets are counted although they were declared",
        "Personal.in_numbers",
        "self.budgets.sizes is None",
        "True",
        (*_told_apart("frames"), "test_neighbours.py::test_declared_classes_are_not_counted_again"),
    ),
    Mutant(
        "an answer is drawn before it is charged, and refused if it is too long",
        "charged",
        _CHARGED,
        _DRAWN_FIRST,
        _told_apart("frames"),
    ),
    Mutant(
        "an answer that is too long is refused after it is charged",
        "charged",
        _CHARGED,
        _TOO_LONG,
        _told_apart("frames"),
    ),
    Mutant(
        "an answer is stored as long as it is",
        "add_answer",
        'text + " " * (entry.room - len(text.encode()))',
        "text",
        _told_apart("frames"),
    ),
    Mutant(
        "what fails after the charge is shown as it is",
        "completed",
        "failure = not_answered(entry.request)",
        "raise",
        _told_apart("frames"),
    ),
    Mutant("text that is not UTF-8 reaches the engine", "_text", "_is_valid(array)", "True", _told_apart("arrow")),
    Mutant(
        "moments out of range reach the engine",
        "_within",
        "pc.all(good).as_py() is not False",
        "True",
        (*_told_apart("arrow"), "test_neighbours.py::test_no_moment_is_out_of_range"),
    ),
    Mutant(
        "the first of the JSON lines decides which columns there are",
        "open_json",
        "OpenSchema()",
        _FIRST_LINE,
        _told_apart("jsonl"),
    ),
    Mutant(
        "a bare carriage return ends a row",
        "line_end",
        "2 if ... else 0",
        "2 if ... else 1",
        (*_told_apart("csv"), "test_neighbours.py::test_line_ends_in_a_cell_end_no_row"),
    ),
)
