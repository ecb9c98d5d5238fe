"""Ways to make the library fail, or speak, while it has secrets in its hands."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from tinct import Ledger, Privacy, ask, exact, graphs, local, sources
from tinct.asking import plan
from tinct.asking.designs import design
from tinct.local.answers_and_reports import codes_of
from tinct.questions import Counts, GroupCounts, Histograms, majority, mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Forced = Iterator[tuple[str, Callable[[], Any]]]

WORD, NUMBER = "canary", 918273
# the cells, the number of people, that of those who say yes, and differences that would give them away
PEOPLE, YES = 4177, 3041
CANARIES = (
    WORD,
    str(NUMBER),
    f"{NUMBER:,}",
    str(PEOPLE),
    f"{PEOPLE:,}",
    str(YES),
    f"{YES:,}",
    str(PEOPLE - YES),
    str(2 * YES - PEOPLE),
)

_BAD: list[dict[str, Any]] = [
    {"epsilon": None}, {"epsilon": float("nan")}, {"epsilon": -1}, {"epsilon": "many"}, {"epsilon": 1e9}, {"delta": 1},
    {"delta": float("inf")}, {"delta": "x"}, {"neighbors": "swap"}, {"lean": 2}, {"by": "nobody"}, {"by": "ward"},
    {"by": "ward", "neighbors": "replace"}, {"by": "ward", "groups": []}, {"by": "ward", "groups": ["a", "a"]},
    {"groups": ["a"]}, {"by": "ward", "delta": "1e-6", "select": 3}, {"unit": "nobody"}, {"unit": 3},
    {"where": "ward =="}, {"where": "nobody == 1"}, {"where": "ward > 3 and"}, {"request": "x"},
    {"epsilon_column": "age", "budgets": ["1"]},
    {"epsilon": None, "epsilon_column": "age", "budgets": ["1", "1"], "neighbors": "replace"}, {"budgets": ["1"]},
]  # fmt: skip
_ASKED = [
    "majority(nobody)", "majority(", "median(support, above='x')", "mode(ward, [])", "exists(support == 'yes')",
    "threshold(support == 'yes', at_least=-1)", "share(support == 'yes', at_least=2)", "quantile(age, 7, above=1)", 7,
]  # fmt: skip


def _people() -> dict[str, list[Any]]:
    return {
        "name": [f"{WORD}{at}" for at in range(PEOPLE)],
        "support": ["yes"] * YES + ["no"] * (PEOPLE - YES - 1) + [f"{WORD} support"],
        "ward": ["N", "S"] * (PEOPLE // 2) + [f"{WORD} ward"],
        "age": [NUMBER] * PEOPLE,
    }


def data(home: Path) -> dict[str, Any]:
    """The same people in every form that can be asked."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyarrow import parquet

    people = _people()
    frame = pd.DataFrame(people)
    frame.to_csv(home / "people.csv", index=False)
    frame.to_csv(home / "people.tsv", index=False, sep="\t")
    frame.to_json(home / "people.jsonl", orient="records", lines=True)
    parquet.write_table(pa.table(people), home / "people.parquet")
    files = {suffix: home / f"people{suffix}" for suffix in (".csv", ".tsv", ".jsonl", ".parquet")}
    return {**files, "pandas": frame, "polars": pl.DataFrame(people), "arrow": pa.table(people)}


def errors(home: Path) -> Forced:
    """Named calls, every one of which has to fail."""
    yield from _asking(home)
    yield from _damaged(home)
    yield from _drawing()
    yield from _counting()
    yield from _local(home)
    yield from _charging(home)


def _asking(home: Path) -> Forced:
    for (kind, source), options in product(data(home).items(), _BAD):
        if kind == ".jsonl" and "nobody" in str(options):
            continue  # JSON lines have no list of columns: any name will do
        given = {"epsilon": 1, **options}
        yield f"ask {kind} with {options}", partial(ask, source, "majority(support)", **given)
    for (kind, source), question in product(data(home).items(), _ASKED):
        if kind == ".jsonl" and "nobody" in str(question):
            continue
        yield f"ask {kind} {question}", partial(ask, source, question, 1)
    for (kind, source), where in product(data(home).items(), ("support == 3 == 4", "age in []", "`age` < 'x' or (")):
        yield f"plan {kind} where {where}", partial(plan, source, "majority(support)", epsilon=1, where=where)


def _damaged(home: Path) -> Forced:
    """Files cut short, of the wrong kind, or changed between opening and counting."""
    for suffix, size in product((".parquet",), (8, 100, 5000, 20_000)):
        short = home / f"short{size}{suffix}"
        short.write_bytes((home / "people.parquet").read_bytes()[:size])
        yield f"ask {short.name}", partial(ask, short, "majority(support)", 1)
    for suffix, other in product((".csv", ".tsv", ".jsonl", ".parquet"), (".csv", ".tsv", ".parquet")):
        if (suffix, other) not in ((".csv", ".tsv"), (".tsv", ".csv")) and suffix != other:
            named = home / f"really{suffix}.named{other}"
            named.write_bytes((home / f"people{suffix}").read_bytes())
            yield f"ask {named.name}", partial(ask, named, "majority(support)", 1)
    yield "a file that goes away", partial(_vanishing, home)
    for kind, source in data(home).items():
        yield (
            f"no entropy while {kind} is answered",
            partial(_without_entropy, partial(ask, source, "majority(support)", 1)),
        )


def _vanishing(home: Path) -> Any:
    path = home / "gone.csv"
    path.write_bytes((home / "people.csv").read_bytes())
    with sources.open(path) as source:
        path.unlink()
        return source.count(majority("support"))


def _without_entropy(act: Callable[[], Any]) -> Any:
    with mock.patch("tinct.exact.sampler.os.urandom", side_effect=OSError("no bytes")):
        return act()


def _drawing() -> Forced:
    """Secret datasets that are not on the graph, in every shape."""
    line, table = exact.line(Privacy(1)), exact.balanced(graphs.line(3, 3), Privacy(1))
    strangers: list[Any] = [
        WORD,
        NUMBER,
        float(NUMBER),
        (WORD, NUMBER),
        [WORD],
        {WORD: NUMBER},
        None,
        b"canary",
        np.str_(WORD),
    ]
    for at, stranger in enumerate(strangers):
        yield f"release number {at}", partial(table.release, stranger)
        yield f"sample number {at}", partial(table.sample, [stranger])
    unnamed: list[Any] = [WORD, (WORD,), [WORD], {WORD: 1}, None]
    for at, stranger in enumerate(unnamed):
        yield f"release on a line, number {at}", partial(line.release, stranger)
    yield "sample an array", partial(table.sample, np.array([[NUMBER]]))
    yield "sample numbers", partial(table.sample, np.array([1, NUMBER]))


def _counting() -> Forced:
    """Counts that cannot be."""
    made: Any = design(majority("c"), Privacy(1), "add-remove", None)
    public: Any = design(mode("c", ["a", "b"]), Privacy(1), "replace", 5)
    coins: Any = design(mode("c", ["a", "b"]), Privacy(1), "add-remove", None)
    impossible = [(YES, -NUMBER), (NUMBER, YES, 3), (float(NUMBER), YES), (YES, NUMBER)]
    for at, classes in enumerate(impossible):
        counts = Counts(PEOPLE, classes)  # type: ignore[arg-type] # on purpose
        yield f"position of counts {at}", partial(made.draw, counts)
        yield f"mode of counts {at}", partial(public.draw, counts)
        yield f"coins for counts {at}", partial(coins.draw, counts)
        yield f"histogram of counts {at}", partial(Histograms("replace", 5, ("a", "b")).histogram, counts)
    for bad in ([NUMBER], [NUMBER, WORD], WORD, [[NUMBER]], None, [YES, -1]):
        yield f"mode of {type(bad).__name__}", partial(public.mechanism.draw, bad, lambda bound: bound - 1)
        yield f"coins for {type(bad).__name__}", partial(coins.mechanism.draw, bad, lambda bound: bound - 1)
    groups = GroupCounts(PEOPLE, (f"{WORD} ward",), np.array([[YES, NUMBER]]), np.array([0]))
    yield "a group that is no text", partial(groups.of, 3)
    yield "positions of wrong shape", partial(made.line.positions, np.array([[NUMBER, YES, PEOPLE]]))


def _local(home: Path) -> Forced:
    """Answers that are not among the symbols, in every kind of column."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    answers = ["yes", f"{WORD} answer"]
    columns: list[Any] = [
        answers,
        np.array(answers),
        pd.Series(answers),
        pl.Series(answers),
        pa.array(answers),
        [WORD],
        [[WORD], "yes"],
        [NUMBER],
        [None, WORD],
    ]
    for made in (_renamed(local.randomized_response(2, 1)), _renamed(local.unary_encoding(2, 1))):
        for at, column in enumerate(columns):
            yield f"privatize {made.name} {at}", partial(made.privatize, column)
    yield "codes of a table", partial(codes_of, ("yes", "no"), np.array([[WORD]]))
    from tinct.local import answers_and_reports

    made = local.randomized_response(2, 1)
    for name in ("people.csv", "people.parquet"):
        yield f"reports that are not there in {name}", partial(local.tally, home / name, made)
        yield f"reports that are answers in {name}", partial(local.tally, home / name, made, column="support")
    yield "a column that is not there", lambda: list(answers_and_reports.read_column(home / "people.csv", "nobody"))


def _renamed(mechanism: local.LocalMechanism) -> local.LocalMechanism:
    return replace(mechanism, symbols=("yes", "no"))


def _charging(home: Path) -> Forced:
    """Answers that cannot be paid or recorded, and repeated requests that are not the same."""
    book = Ledger(home / "budget.db", epsilon=1)
    people = data(home)["pandas"]
    ask(people, "majority(support)", "0.9", ledger=book, request="poll")
    yield "over budget", partial(ask, people, "majority(support)", "0.9", ledger=book)
    yield "another request", partial(ask, people, "majority(age == 3)", "0.9", ledger=book, request="poll")
    for at, answer in enumerate(
        [{WORD}, float("nan"), object(), b"canary", {1: {WORD}}, complex(NUMBER), [WORD] * 10 + [{2}]]
    ):
        drawn = partial(next, iter([answer]))
        yield f"an answer that cannot be recorded, {at}", partial(book.charge, drawn, epsilon="0.01")
    yield (
        "a draw that fails",
        partial(_without_entropy, partial(ask, people, "majority(support)", "0.01", ledger=book, request="later")),
    )


def said(home: Path) -> Iterator[tuple[str, str]]:
    """What is printed about objects that hold secrets, and about answers."""
    counts = Counts(PEOPLE, (YES, NUMBER), NUMBER)
    groups = GroupCounts(PEOPLE, (f"{WORD} ward",), np.array([[YES, NUMBER]]), np.array([NUMBER]))
    yield "counts", f"{counts!r} {counts!s} {groups!r} {groups!s}"
    for kind, source in data(home).items():
        with sources.open(source) as opened:
            yield f"a source of {kind}", f"{opened!r} {opened.columns}"
            yield (
                f"counts of {kind}",
                f"{opened.count(majority('support'))!r} {opened.count_by(majority('support'), 'ward')!r}",
            )
        choices: list[dict[str, Any]] = [
            {},
            {"unit": "name"},
            {"by": "ward", "groups": ["N", "S"]},
            {"by": "ward", "delta": "1e-12"},
        ]
        for options in choices:
            found = ask(source, "majority(support)", "0.5", **options)
            yield f"an answer about {kind}", f"{found!r} {found} {json.dumps(found.to_dict())}"
    book = Ledger(home / "budget.db")
    yield "the ledger", f"{book!r} {book.history()} {book.spent()} {book.remaining()} {book.scopes()}"


def commands(home: Path) -> Iterator[tuple[str, str]]:
    """Everything that the command prints, right or wrong."""
    people, book = str(home / "people.csv"), str(home / "budget.db")
    for arguments in (
        ["ask", people, "majority(support)", "--epsilon", "0.05", "--ledger", book],
        ["ask", people, "majority(support)", "--epsilon", "0.5", "--unit", "name", "--json"],
        ["ask", people, "majority(support)", "--epsilon", "5", "--ledger", book],
        ["ask", people, "median(name, above=3)", "--epsilon", "1"],
        ["ask", people, "majority(support)", "--epsilon", "1", "--by", "ward", "--delta", "1e-12"],
        ["ask", people, "majority(nobody)", "--epsilon", "1"],
        ["budget", "history", book],
        ["budget", "show", book],
        ["local", "privatize", people, "--column", "support", "--mechanism", people, "--output", str(home / "r.csv")],
        ["verify", people],
    ):  # fmt: skip
        run = subprocess.run(  # noqa: S603 # our own command
            [sys.executable, "-m", "tinct", *arguments], capture_output=True, text=True, check=False
        )
        yield f"tinct {' '.join(arguments[:1])} ({run.returncode})", run.stdout + run.stderr
