"""The parsers under attack, each with valid files to start from, which the library itself writes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

from tinct import Ledger, Privacy, balanced, exact, graphs, local, questions
from tinct.exact.proof import parse_rational
from tinct.graphs.formats.graph_files import read_fixed, read_rows
from tinct.ledger.costs import budget_epsilon, cost_epsilon
from tinct.local import answers_and_reports
from tinct.local.mechanism_files import read_mechanism as read_local
from tinct.local.mechanism_files import write_mechanism as write_local
from tinct.local.parameters import LocalBudget
from tinct.mechanism.table_files import read_mechanism, read_table, write_mechanism, write_table
from tinct.numbers.amounts import Amount, rational
from tinct.questions import modes, noise

Read = Callable[[Path], Any]


@dataclass(frozen=True)
class Target:
    """A parser: what it reads, and whether one call is so slow that fewer inputs have to do."""

    name: str
    suffix: str
    read: Read
    slow: bool = False


def _text(parse: Callable[[str], Any]) -> Read:
    """A parser of text, fed from a file like all the others; bytes that are no text become some all the same."""
    return lambda path: parse(path.read_bytes().decode("utf-8", "surrogateescape"))


def _amounts(text: str) -> Any:
    """An ε wherever one is read: for mechanisms, for local ones, as a cost and as a budget."""
    return Privacy(text).epsilon, LocalBudget.parse(text).epsilon, cost_epsilon(text), budget_epsilon(text)


def _ledger(path: Path) -> Any:
    """Everything that can be done with a ledger, a charge included."""
    for leftover in (path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        leftover.unlink(missing_ok=True)
    book = Ledger(path, timeout=0)
    book.charge(lambda: "yes", epsilon="0.01")
    return book.audit(), book.history(), book.remaining(), book.scopes()


def _counted(path: Path) -> Any:
    """Rows counted in every way a question can ask."""
    from tinct import sources

    with sources.open(path) as source:
        return (
            source.count(questions.majority("support")),
            source.count(questions.median("age", above=40), where="ward == 'N'", unit="name"),
            source.count_by(questions.mode("ward", ["N", "S"]), "ward"),
        )


@cache
def _line() -> Any:
    return graphs.line(2, 2)


@cache
def _rankings() -> Any:
    return graphs.rankings(2, "abc")


def _table(path: Path) -> Any:
    return read_table(path, _line())


def _fixed(path: Path) -> Any:
    return read_fixed(path, _line())


def _rows(path: Path) -> Any:
    return read_rows(path, _rankings())


def _reports(path: Path) -> Any:
    return local.tally(path, local.randomized_response(5, 1), most_rejected=1).reports


def _column(path: Path) -> Any:
    return [len(batch) for batch in answers_and_reports.read_column(path, "support")]


TARGETS = (
    Target("certificate", ".json", exact.Certified.from_json),
    Target("certificate of the mode", ".json", modes.ModeCertificate.from_json),
    Target("certificate of noise", ".json", noise.NoiseCertificate.from_json),
    Target("mechanism", ".json", read_mechanism),
    Target("local mechanism", ".json", read_local),
    *(Target(f"graph {suffix}", suffix, graphs.read) for suffix in (".json", ".csv", ".tsv", ".graphml")),
    *(Target(f"table {suffix}", suffix, _table) for suffix in (".csv", ".tsv")),
    *(Target(f"fixed values {suffix}", suffix, _fixed) for suffix in (".json", ".csv")),
    Target("fixed rows", ".json", _rows),
    Target("question", ".txt", _text(questions.parse)),
    Target("predicate", ".txt", _text(questions.parse_predicate)),
    Target("amount", ".txt", _text(_amounts)),
    Target("rational", ".txt", _text(partial(rational, name="delta"))),
    Target("rational in a certificate", ".txt", _text(partial(parse_rational, what="growth"))),
    Target("ledger", ".db", _ledger, slow=True),
    *(Target(f"data {suffix}", suffix, _counted, slow=True) for suffix in (".csv", ".tsv", ".parquet", ".jsonl")),
    *(Target(f"reports {suffix}", suffix, _reports) for suffix in (".csv", ".parquet", ".jsonl")),
    Target("column of answers", ".csv", _column),
)

_QUESTIONS = [
    b"majority(support)", b"threshold(age >= 40 and ward == 'N', at_least=3)", b"share(support == 'yes', at_least=0.3)",
    b"median(age, above=40)", b"quantile(age, 0.9, above=-1.5e3)", b"mode(ward, ['N', 'S', 'E'])",
    b"count(age >= 65)", b"margin(vote, yes='Y', no=['N'])", b"top(ward, ['N', 'S', 'E'], k=2, rest='E')",
    b"exists(not (a < 1 or `b c` in ['x', 'y']))",
]  # fmt: skip
_PREDICATES = [b"age >= 40 and ward == 'N'", b"not (a < 1 or `b c` in ['x', 'y'])", b'a == 1 or "b c" != -1.5e3']
_RATIONALS = [b"0.1", b"1/3", b"1e-400", b"-2.5E+10", b"700", b"0.5 / 1e3"]
_AMOUNTS = [b"0.1", b"1/3", b"ln 2", b"log(3/2)", b"1e-30", b"ln (1e5)", b"700"]
_WRITTEN = [b"3", b"3/2", b"123456789012345678901234567891/2"]
_PEOPLE = [("ann", "yes", "N", 41), ("bob", "no", "S", 23), ("cy", "yes", "N", 67), ("dee", "", "E", None)]


@cache
def seeds() -> dict[str, tuple[bytes, ...]]:
    """Valid inputs for every target."""
    with tempfile.TemporaryDirectory(prefix="tinct-seeds-") as folder:
        found = _written(Path(folder))
    texts = {
        "question": _QUESTIONS, "predicate": _PREDICATES, "amount": _AMOUNTS, "rational": _RATIONALS,
        "rational in a certificate": _WRITTEN,
    }  # fmt: skip
    return {**found, **{name: tuple(lines) for name, lines in texts.items()}}


def _noise_certificates() -> list[noise.NoiseCertificate]:
    amount, table = Amount.parse("ln 2", "epsilon"), noise.TableNoise(-1, (2, 4, 2), Fraction(2))
    return [
        noise.NoiseCertificate("count(x)", "add-remove", 1, amount, Fraction(1, 4), table),
        noise.NoiseCertificate("count(x)", "replace", 1, amount, Fraction(0), noise.GeometricNoise(Fraction(1, 2))),
    ]


def _mode_certificates() -> list[modes.ModeCertificate]:
    amount = Amount.parse("ln 2", "epsilon")
    table, coin = modes.mode_mechanism(2, amount, neighbors="replace", n=3), modes.PermuteAndFlip(2, Fraction(1, 2))
    return [
        modes.ModeCertificate("mode(x)", ("a", "b"), amount, table, n=3, rest=1),
        modes.ModeCertificate("mode(x)", ("a", "b"), amount, coin),
    ]


def _written(folder: Path) -> dict[str, tuple[bytes, ...]]:
    line, privacy = graphs.line(2, 2), Privacy("ln 2", "0.01")
    made = balanced(line, privacy)
    found = {
        "certificate": _saved(folder, ".json", [
            exact.line(Privacy("ln 2"), bits=6).to_json,
            exact.certify(made).to_json,
            exact.balanced(line, graphs.EdgeClasses([Privacy(1), Privacy("1/3", "1/7")], [0, 1, 0])).to_json,
        ]),
        "certificate of the mode": _saved(folder, ".json", [one.to_json for one in _mode_certificates()]),
        "certificate of noise": _saved(folder, ".json", [one.to_json for one in _noise_certificates()]),
        "mechanism": _saved(folder, ".json", [partial(write_mechanism, made)]),
        "local mechanism": _saved(folder, ".json", [partial(write_local, one) for one in _local_mechanisms()]),
        "fixed values .json": (b'{"2": 0.6, "3": 0.4}',),
        "fixed values .csv": (b"vertex,probability\n2,0.6\n3,0.4\n",),
        "fixed rows": (b'{"[\\"c\\", \\"a\\", \\"b\\"]": {"a": 0.5, "b": 0.25, "c": 0.25}}',),
        "ledger": _saved(folder, ".db", [_make_ledger]),
        "reports .csv": (b"report\n0\n1\n4\n2\n", b"at,report_0\n2026,1\n\n2027,2\n"),
        "reports .jsonl": (b'0\n{"report": 1, "at": [1, "x"]}\n{"version": 1, "mechanism": "0", "report": [2]}\n',),
        "reports .parquet": _saved(folder, ".parquet", [partial(_parquet, table={"report": [0, 1, 4, 2] * 5})]),
        "column of answers": (b'name,support\nann,yes\n"b, ob",no\n',),
    }  # fmt: skip
    for suffix in (".json", ".csv", ".tsv", ".graphml"):
        found[f"graph {suffix}"] = _saved(folder, suffix, [partial(_write_graph, line, privacy)])
    for suffix in (".csv", ".tsv"):
        found[f"table {suffix}"] = _saved(folder, suffix, [partial(write_table, made)])
    return found | _data(folder)


def _saved(folder: Path, suffix: str, writers: list[Callable[[Path], Any]]) -> tuple[bytes, ...]:
    contents = []
    for at, write in enumerate(writers):
        path = folder / f"seed{at}{suffix}"
        path.unlink(missing_ok=True)
        write(path)
        contents.append(path.read_bytes())
    return tuple(contents)


def _write_graph(graph: Any, privacy: Any, path: Path) -> None:
    graphs.write(graph, path, privacy)


def _make_ledger(path: Path) -> None:
    book = Ledger(path, epsilon=1, delta="1e-6")
    book.add_partition("wards", "everybody lives in one ward")
    book.charge(lambda: "yes", epsilon="0.1", question="majority(support)", request="first")
    book.charge(lambda: {"N": "no"}, epsilon="1/3", delta="1e-7", partition="wards", group="N")
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path)) as raw:  # everything into the one file that is then damaged
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _local_mechanisms() -> list[Any]:
    first, second = [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]
    return [
        local.randomized_response(4, "ln 3"), local.optimal(first, second, 1), local.subset_selection(6, 1, size=2),
        local.unary_encoding(4, 2), local.local_hashing(6, 1), local.hadamard_response(5, 1), local.geometric(4, 1),
        local.quaternary(1, "0.05"),
    ]  # fmt: skip


def _data(folder: Path) -> dict[str, tuple[bytes, ...]]:
    names = ("name", "support", "ward", "age")
    cells = [["" if cell is None else str(cell) for cell in row] for row in [names, *_PEOPLE]]
    columns = {name: [row[at] for row in _PEOPLE] for at, name in enumerate(names)}
    import json

    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in _PEOPLE]
    return {
        "data .csv": ("\n".join(",".join(row) for row in cells).encode() + b"\n",),
        "data .tsv": ("\n".join("\t".join(row) for row in cells).encode() + b"\n",),
        "data .jsonl": ("\n".join(lines).encode() + b"\n",),
        "data .parquet": _saved(folder, ".parquet", [partial(_parquet, table=columns)]),
    }


def _parquet(path: Path, table: dict[str, list[Any]]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(table), path)
