"""Options that several commands share: a graph by file or short name, a privacy by options or from the file."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import echo
from tinct.errors import FileError, ParameterError
from tinct.graphs.labels import from_repr, from_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tinct._files.loading import FilePath
    from tinct.graphs import GraphFile, PrivacyLike
    from tinct.graphs.labels import Vertex


EpsilonOption = Annotated[
    str | None, typer.Option("--epsilon", "-e", help="ε for every edge, such as 0.5 or 'ln 2'.", show_default=False)
]
DeltaOption = Annotated[str | None, typer.Option("--delta", "-d", help="δ for every edge.", show_default="0")]
MuOption = Annotated[
    str | None, typer.Option("--mu", help="μ of Gaussian differential privacy, instead of ε.", show_default=False)
]
DisconnectedOption = Annotated[bool, typer.Option("--disconnected", help="Allow a graph in several pieces.")]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        help="Charge this ledger: a file, or a postgresql:// address.",
        envvar="TINCT_LEDGER",
        show_default=False,
    ),
]
RequestOption = Annotated[
    str | None,
    typer.Option(
        "--request",
        help="An id for this request: repeating it returns the same answer, free of charge.",
        show_default=False,
    ),
]
ScopeOption = Annotated[str, typer.Option("--scope", help="Which budget of the ledger to charge.")]
EngineOption = Annotated[
    str, typer.Option("--engine", help="'local', or 'spark' for Parquet files and folders that outgrow one machine.")
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master", help="With --engine spark: the cluster, such as local[2] or spark://host:7077.", show_default=False
    ),
]
DescriptionOption = Annotated[
    Path | None,
    typer.Option(
        "--description",
        help="The description of the data (.toml).",
        show_default="the file beside the data, with .toml behind its name",
    ),
]
SymbolsFileOption = Annotated[
    Path | None,
    typer.Option(
        "--symbols-file",
        help="The possible answers, one a line (.txt), or the column symbol of a table (.csv, .tsv).",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def examples(*lines: str) -> str:
    """Examples as the help shows them, a paragraph each."""
    return "Examples:\n\n" + "\n\n".join(lines)


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "edge"), plural(2000, "edge"), plural(1, "entry", "entries")
    ('1 edge', '2,000 edges', '1 entry')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def between(text: str | None) -> str | None:
    """A delimiter as it is typed: a tab is hard to type."""
    return "\t" if text in ("\\t", "tab") else text


def listed(text: str | None, between: str = ",") -> list[str] | None:
    """The parts of a list with commas."""
    return None if text is None else [part.strip() for part in text.split(between)] if text.strip() else []


def columns_of(by: list[str] | None) -> list[str] | None:
    """The columns of --by: it may be repeated, and have several, separated by commas.

    >>> columns_of(["year,ward", "sex"])
    ['year', 'ward', 'sex']
    """
    return [column for each in by for column in listed(each) or [""]] if by else None


def classes(text: str | None) -> list[str] | dict[str, int] | None:
    """Personal budgets: ``0.5=120,1=80`` says how many people chose which, ``0.5,1`` leaves that open."""
    parts = listed(text)
    if parts is None or not any("=" in part for part in parts):
        return parts
    pairs = [part.partition("=") for part in parts]
    if not all(equals and size.strip().isdecimal() and len(size) < 20 for _, equals, size in pairs):
        raise ParameterError(f"--budgets must be such as 0.5=120,1=80 (an ε, and how many chose it), got {text!r:.80}")
    return {name.strip(): int(size) for name, _, size in pairs}


def on_spark(engine: str, master: str | None) -> bool:
    """Whether a command runs on Spark."""
    if engine not in ("local", "spark"):
        raise ParameterError(f"--engine must be local or spark, got {engine!r}")
    if master is not None and engine != "spark":
        raise ParameterError("--master needs --engine spark")
    return engine == "spark"


def keep_inputs(written: Iterable[Any], read: Iterable[Any]) -> None:
    """Refuse to overwrite an input file, under any name, or to write two results to one file."""
    inputs = [path for path in read if path is not None and os.path.exists(path)]
    seen: set[str] = set()
    for path in (path for path in written if path is not None):
        if any(_same(path, other) for other in inputs):
            raise ParameterError("this file is read and would be overwritten: choose another name", path=path)
        target = os.path.realpath(path)
        if target in seen:
            raise ParameterError("two results would be written to this file: choose another name for one", path=path)
        seen.add(target)


def _same(one: FilePath, other: FilePath) -> bool:
    return os.path.exists(one) and os.path.samefile(one, other)


def require_certificate(path: Path) -> None:
    """Refuse a mechanism in floating point, and say how to get a certificate."""
    if begins_like(path, "tinct/mechanism"):
        raise ParameterError(
            "this is a mechanism, not a certificate: "
            "tinct design … --certificate certificate.json writes one for the same graph and budget",
            path=path,
        )


def begins_like(path: Path, schema: str) -> bool:
    """Whether a JSON file begins like one of this schema; it is not read in full."""
    try:
        with path.open("rb") as file:
            return f'"{schema}@'.encode() in file.read(200)
    except OSError:
        return False


def load_graph(given: str, *, disconnected: bool) -> GraphFile:
    """A graph from a file, or from a short name such as majority:101."""
    from tinct import graphs
    from tinct.graphs.builders import SPECS, from_spec

    if given.partition(":")[0] in SPECS and not Path(given).exists():
        return graphs.GraphFile(from_spec(given), None)
    if ":" not in given or Path(given).exists():
        return graphs.read(given, disconnected=disconnected)
    return graphs.GraphFile(from_spec(given), None)


def choose_privacy(epsilon: str | None, delta: str | None, mu: str | None, stored: PrivacyLike | None) -> Any:
    """The privacy that the options state, else the one stored with the graph."""
    from tinct.privacy import GaussianDP

    if mu is not None:
        if epsilon is not None or delta is not None:
            raise ParameterError("give either --mu or --epsilon and --delta, not both")
        return GaussianDP(mu)
    if epsilon is None and stored is None:
        raise ParameterError("--epsilon is missing: add it (such as --epsilon 0.5), or --mu")
    given = choose_given(epsilon, delta)
    return stored if given is None else given


def replaced_budgets(given: str, stored: PrivacyLike | None, used: PrivacyLike) -> bool:
    """Whether options replaced the budgets of a graph file; if so, say it on standard error."""
    if stored is None or used is stored:
        return False
    echo(
        f"Note: the budgets stated in {given} are not used: leave out --epsilon, --delta and --mu to use them",
        err=True,
    )
    return True


def choose_given(epsilon: str | None, delta: str | None) -> Any:
    """The privacy that --epsilon and --delta state, or None if there is none."""
    from tinct.privacy import Privacy

    if epsilon is not None:
        return Privacy(epsilon, "0" if delta is None else delta)
    if delta is not None:
        raise ParameterError("--delta needs --epsilon: the budgets of the file already include delta")
    return None


def describe(privacy: object) -> str:
    """A privacy in a few words."""
    from tinct.graphs import EdgeClasses, EdgePrivacy
    from tinct.privacy import GaussianDP, Privacy

    if isinstance(privacy, Privacy):
        epsilon = privacy.exact_epsilon
        text = str(epsilon) if epsilon.is_log else f"{privacy.epsilon:.6g}"
        return f"ε = {text}" + (f", δ = {privacy.delta:.6g}" if privacy.delta else "")
    if isinstance(privacy, GaussianDP):
        return f"μ = {privacy.mu:.6g} (Gaussian)"
    if isinstance(privacy, EdgePrivacy):
        return f"a budget for each edge, ε from {privacy.epsilon.min():.6g} to {privacy.epsilon.max():.6g}"
    if isinstance(privacy, EdgeClasses):
        return f"{len(privacy.pairs)} classes of budgets: " + "; ".join(map(describe, privacy.pairs[:4]))
    return repr(privacy)


def privacy_object(privacy: object) -> dict[str, Any]:
    """A privacy for programs: what kind it is, its numbers as they were written, and its words."""
    from tinct.graphs import EdgeClasses, EdgePrivacy
    from tinct.numbers.amounts import fraction_text
    from tinct.privacy import GaussianDP, Privacy

    fields: dict[str, Any] = {"kind": "other"}
    if isinstance(privacy, Privacy):
        exact = {"epsilon": str(privacy.exact_epsilon), "delta": fraction_text(privacy.exact_delta)}
        fields = {"kind": "epsilon-delta", **exact}
    elif isinstance(privacy, GaussianDP):
        fields = {"kind": "gaussian", "mu": privacy.mu}
    elif isinstance(privacy, EdgePrivacy):
        least, most = float(privacy.epsilon.min()), float(privacy.epsilon.max())
        fields = {"kind": "edges", "least_epsilon": least, "largest_epsilon": most}
    elif isinstance(privacy, EdgeClasses):
        fields = {"kind": "classes", "classes": [privacy_object(pair) for pair in privacy.pairs]}
    return {**fields, "text": describe(privacy)}


_LONGEST = 300


@dataclass(frozen=True)
class Distributions:
    """Two hypotheses, or one prior (``p1`` is None), and the names of the symbols if they have any."""

    symbols: list[str] | None
    p0: list[float]
    p1: list[float] | None


def numbers(text: str, name: str) -> list[float]:
    """Numbers or fractions separated by commas; ``name`` says whose they are."""
    try:
        return [_number(part.strip()) for part in text.split(",")]
    except ParameterError as error:
        raise ParameterError(f"{name} must be numbers separated by commas such as 0.25,0.75: {error}") from None


def _number(text: str) -> float:
    """A plain number, or a fraction such as 1/3."""
    from tinct._files import number

    above, slash, below = text.partition("/")
    if not slash:
        return number(text)
    if not (text.isascii() and above.isdecimal() and below.isdecimal() and len(text) <= _LONGEST and int(below)):
        raise ParameterError(f"expected a number such as 0.25 or 1/4, got {text!r:.80}")
    return int(above) / int(below)


def read_distributions(file: str | Path) -> Distributions:
    """The columns p0 and p1, or prior, of a table, and symbol if it is there."""
    from tinct._files import naming, read_sheet, reading
    from tinct.local.parameters import distribution

    header, rows = read_sheet(file)
    names = [name.lower() for name in header]
    wanted = ["p0", "p1"] if "p0" in names else ["prior"]
    if not set(wanted) <= set(names):
        raise FileError(
            f"line 1: the columns must be p0 and p1, or prior, and symbol if you like; got {', '.join(header)}",
            path=file,
        )
    places = [names.index(name) for name in wanted]
    symbols: list[str] = []
    values: list[list[float]] = [[] for _ in wanted]
    for line, cells in rows:
        if "symbol" in names:
            symbols.append(cells[names.index("symbol")])
        for column, place in zip(values, places, strict=True):
            with reading(file, f"line {line}"):
                column.append(_number(cells[place]))
    with naming(file):
        for name, column in zip(wanted, values, strict=True):
            distribution(column, name)
    return Distributions(symbols or None, values[0], values[1] if len(values) > 1 else None)


def read_pairs(file: Path, pairs: str) -> tuple[list[str] | None, list[tuple[list[float], list[float]]]]:
    """Pairs of columns of a table, such as p0:p1,p0:p2, and the column symbol if it is there."""
    from tinct._files import read_sheet, reading

    named = [tuple(part.strip().split(":")) for part in pairs.split(",")]
    if not all(len(pair) == 2 and all(pair) for pair in named):
        raise ParameterError(f"--pairs must be columns such as p0:p1,p0:p2, got {pairs!r:.80}")
    header, rows = read_sheet(file)
    missing = next((name for pair in named for name in pair if name not in header), None)
    if missing is not None:
        raise FileError(f"line 1: there is no column {missing!r:.80}; there are {', '.join(header)}", path=file)
    values: dict[str, list[float]] = {name: [] for pair in named for name in pair}
    symbols: list[str] = []
    for line, cells in rows:
        if "symbol" in header:
            symbols.append(cells[header.index("symbol")])
        for name, column in values.items():
            with reading(file, f"line {line}"):
                column.append(_number(cells[header.index(name)]))
    return symbols or None, [(values[one], values[two]) for one, two in named]


def chosen_symbols(text: str | None, file: Path | None) -> list[str] | None:
    """The possible answers from --symbols or --symbols-file; None if neither is given."""
    if text is not None and file is not None:
        raise ParameterError("give either --symbols or --symbols-file, not both")
    if file is not None:
        return read_symbols(file)
    if text is None:
        return None
    names = [part.strip() for part in text.split(",")]
    if len(names) < 2 or "" in names:
        raise ParameterError(f"--symbols must be at least two answers separated by commas, got {text!r:.80}")
    return names


def read_symbols(file: Path) -> list[str]:
    """The lines of a text file, or the column symbol of a table: at least two, none twice, none empty."""
    from tinct._files import naming, read_sheet, read_text
    from tinct.local.parameters import named_symbols

    if file.suffix == ".txt":
        lines = [(at, line.strip()) for at, line in enumerate(read_text(file).splitlines(), 1)]
        found = [(at, name) for at, name in lines if name]
    else:
        header, rows = read_sheet(file)
        titles = [name.lower() for name in header]
        if "symbol" not in titles:
            raise FileError(f"line 1: a column must be called symbol; got {', '.join(header)}", path=file)
        found = [(line, cells[titles.index("symbol")]) for line, cells in rows]
    seen: dict[str, int] = {}
    for line, name in found:
        if not name:
            raise FileError(f"line {line}: a symbol must not be empty", path=file)
        if name in seen:
            raise FileError(f"line {line}: {name!r:.80} is already the symbol of line {seen[name]}", path=file)
        seen[name] = line
    if len(seen) < 2:
        raise FileError(f"there must be at least two symbols, got {len(seen)}", path=file)
    with naming(file):
        return list(named_symbols(seen, len(seen)))


# a vertex as ``--at`` takes it: as it stands in files, or as errors print it


def vertex_from(text: str, vertices: Sequence[Any]) -> Vertex:
    """The vertex that a text stands for: 57, north, [0, 1, 1] as in a file, or (0, 1, 1) as Python prints it.

    What is no vertex either way is returned as a file would have it.
    """
    found, printed = from_text(text), from_repr(text)
    if printed is None:
        return found
    with suppress(ValueError):  # a text in brackets may itself be the name of a vertex
        vertices.index(found)
        return found
    return printed
