"""``tinct local privatize | count | estimate | test``: answers to reports, reports to estimates and tests."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import counted, echo, echo_json, stage
from tinct.cli.shared_options import (
    EngineOption,
    JsonOption,
    MasterOption,
    begins_like,
    examples,
    keep_inputs,
    on_spark,
    plural,
)
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from tinct.local import LocalMechanism, Tally
    from tinct.local._estimate import Estimate

MechanismOption = Annotated[
    Path, typer.Option("--mechanism", "-m", help="A mechanism (.json), as 'tinct local design --output' writes.")
]
# addresses such as hdfs://host/x are no Path: it would take one of the slashes away
ReportsArgument = Annotated[
    list[str],
    typer.Argument(
        help="Reports: files (.jsonl, .csv, .tsv, also with .gz behind, or .parquet), folders, patterns, - for "
        "standard input, and counts (.json) of 'tinct local count'."
    ),
]
ColumnOption = Annotated[str, typer.Option("--column", "-c", help="The column that holds the reports.")]
RejectedOption = Annotated[
    Path | None,
    typer.Option("--rejected", help="Write the rows that hold no report here (.jsonl).", show_default=False),
]
MostRejectedOption = Annotated[
    float, typer.Option("--most-rejected", help="The largest share of rows that may be set aside.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="How to read standard input, or files whose names do not say it: jsonl, csv, tsv or parquet, text also "
        "with .gz behind.",
        show_default="by the name; jsonl for standard input",
    ),
]

PlotOption = Annotated[
    Path | None, typer.Option("--plot", help="Also draw it: .png, .svg or .pdf.", show_default=False)
]

PRIVATIZE_EXAMPLES = examples(
    "tinct local design --mechanism randomized-response --symbols yes,no,unsure --epsilon 1 --output rr.json",
    "tinct local privatize answers.csv --column answer --unit person --mechanism rr.json --output reports.parquet",
    "tinct local privatize answers.parquet -c answer -m rr.json -o reports --engine spark --master 'local[2]'",
)
ESTIMATE_EXAMPLES = examples(
    "tinct local estimate reports.parquet --mechanism rr.json",
    "tinct local estimate reports.csv --mechanism subset.json --top 20 --confidence 0.99 --json",
    "tinct local estimate 'reports/*.jsonl.gz' --mechanism rr.json --rejected bad.jsonl --most-rejected 0.01",
    "tinct local estimate hdfs://host/reports --mechanism rr.json --engine spark --master yarn",
)
_EACH_ROW = "each row has a report of its own, so somebody with k rows is protected with k times this ε"
TEST_EXAMPLES = examples("tinct local test reports.csv --mechanism optimal.json")
COUNT_EXAMPLES = examples(
    "tinct local count 'monday/*.jsonl.gz' --mechanism rr.json --output monday.json",
    "tinct local count - --mechanism rr.json --output now.json --rejected bad.jsonl < reports.jsonl",
    "tinct local estimate monday.json tuesday.json --mechanism rr.json",
)


def privatize(
    answers: Annotated[str, typer.Argument(help="A table (.csv, .tsv, .parquet) with a column of answers.")],
    column: Annotated[str, typer.Option("--column", "-c", help="The column of answers.")],
    mechanism: MechanismOption,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Write the reports here: .csv, .tsv, .parquet or .jsonl; on Spark, a new folder.",
        ),
    ],
    unit: Annotated[
        str | None,
        typer.Option(
            help="The column that identifies people: one report for each person, from the first of their rows. Rows "
            "where it is empty are left out.",
            show_default="one report for each row",
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            help="The symbol to use for blanks and for answers that are not symbols.", show_default="refuse them"
        ),
    ] = None,
    engine: EngineOption = "local",
    master: MasterOption = None,
) -> None:
    """Replace every answer by a randomised report. Only the reports are written, in the order of the answers.

    Somebody with several rows sends several reports, and what these say adds up: --unit takes one row of each person.
    """
    made = _read(mechanism)
    if on_spark(engine, master):
        from tinct.spark.jobs import privatize_files

        if unit is not None:
            raise ParameterError("--unit is for --engine local: for Spark, keep one row of each person first")
        with stage("Privatising on Spark"):
            privatize_files(answers, column, made, output, master=master, missing=missing)
        echo(f"Reports written to {output}, each {_budget(made)} private ({made.name})")
        echo(f"Note: {_EACH_ROW}", err=True)
        return
    from tinct.local import answers_and_reports

    keep_inputs([output], [answers, mechanism])
    done = 0
    with counted("Privatising", "answers") as progress, answers_and_reports.report_writer(output, made) as write:
        for cells, rows in answers_and_reports.read_answers(answers, column, unit):
            where = partial(_place, answers, rows)
            write(made.randomiser.draw(answers_and_reports.codes_of(made.symbols, cells, missing, where)))
            done += len(cells)
            progress(done)
    each = "each" if unit is None else "one for each person, each"
    echo(f"{plural(done, 'report')} written to {output}, {each} {_budget(made)} private ({made.name})")
    if unit is None:
        echo(f"Note: {_EACH_ROW}; --unit COLUMN takes one row of each person", err=True)


def _budget(made: LocalMechanism) -> str:
    """What one report costs; with δ, both."""
    return f"ε = {made.epsilon:.6g}" + (f", δ = {made.delta:.6g}" if made.exact_delta else "")


def _place(path: str, rows: Any, at: int) -> str:
    """Where the answer stands that comes so late in a batch of these rows."""
    from tinct.local.answers_and_reports import place_in

    return place_in(path, int(rows[at]))


def estimate(
    reports: ReportsArgument,
    mechanism: MechanismOption,
    confidence: Annotated[float, typer.Option(help="The probability that all intervals hold together.")] = 0.95,
    top: Annotated[int, typer.Option(min=1, help="How many symbols to show, the most frequent first.")] = 20,
    column: ColumnOption = "report",
    rejected: RejectedOption = None,
    most_rejected: MostRejectedOption = 0.05,
    kind: FormatOption = None,
    plot: PlotOption = None,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate how frequent each symbol is, with intervals that all hold at once.

    Rows that hold no report of this mechanism are counted and set aside.
    """
    from tinct.local._estimate import require_estimable

    made = _read(mechanism)
    require_estimable(made)
    if on_spark(engine, master):
        from tinct.spark.jobs import estimate_files

        with stage("Counting on Spark"):
            found = estimate_files(_one(reports), made, column=column, confidence=confidence, master=master)
    else:
        counted_reports = _counted(made, mechanism, reports, column, rejected, most_rejected, kind)
        found = counted_reports.estimate(confidence)
    if plot is not None:
        found.plot(path=plot)
    if as_json:
        echo_json(_document(found))
        return
    _print_estimate(found, top)


def compare_hypotheses(
    reports: ReportsArgument,
    mechanism: MechanismOption,
    column: ColumnOption = "report",
    rejected: RejectedOption = None,
    most_rejected: MostRejectedOption = 0.05,
    kind: FormatOption = None,
    plot: PlotOption = None,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Test the mechanism's first hypothesis against its second, from reports.

    Rows that hold no report of this mechanism are counted and set aside.
    """
    from tinct.local.hypothesis_testing import testable

    made = _read(mechanism)
    testable(made)
    if made.hypotheses is None:
        raise ParameterError(f"{made.name} was not designed for two hypotheses: use tinct local design with p0 and p1")
    if on_spark(engine, master):
        from tinct.spark.jobs import likelihood_test_files

        with stage("Counting on Spark"):
            found = likelihood_test_files(_one(reports), made, column=column, master=master)
    else:
        found = _counted(made, mechanism, reports, column, rejected, most_rejected, kind).test()
    if plot is not None:
        found.plot(path=plot)
    if as_json:
        fields = {"statistic": found.statistic, "p_value": found.p_value, "exact": found.exact}
        result = {"schema": "tinct/local-test@1", **fields, "favours": found.favours, "reports": found.reports}
        echo_json(result)
        return
    how = "exact" if found.exact else "normal approximation"
    echo(f"p-value of P0 against P1: {found.p_value:.4g} ({how}), from {plural(found.reports, 'report')}")
    echo(f"log likelihood ratio of P1 to P0: {found.statistic:.6g}; the reports are likelier under {found.favours}")


def _read(path: Path) -> LocalMechanism:
    from tinct.local import Chain
    from tinct.local.mechanism_files import read_mechanism

    return Chain.from_json(path).mechanism if begins_like(path, "tinct/local-chain") else read_mechanism(path)


CHANGE_EXAMPLES = examples("tinct local change monday.jsonl tuesday.jsonl --mechanism chain.json")


def change(
    before: Annotated[str, typer.Argument(help="Reports or counts of one round, as 'tinct local count' reads them.")],
    after: Annotated[str, typer.Argument(help="Those of a later round.")],
    mechanism: Annotated[
        Path, typer.Option("--mechanism", "-m", help="The chain (.json), as 'tinct local repeat --output' writes.")
    ],
    confidence: Annotated[float, typer.Option(help="The probability that all intervals hold together.")] = 0.95,
    column: ColumnOption = "report",
    most_rejected: MostRejectedOption = 0.05,
    as_json: JsonOption = False,
) -> None:
    """Estimate how each symbol's frequency changed between two rounds of asking the same people."""
    from tinct.local import Chain

    chain = Chain.from_json(mechanism)
    rounds = [
        _counted(chain.mechanism, mechanism, [each], column, None, most_rejected, None) for each in (before, after)
    ]
    found = chain.change(rounds[0], rounds[1], confidence)
    rows = list(zip(found.symbols, found.changes.tolist(), found.low.tolist(), found.high.tolist(), strict=True))
    if as_json:
        symbols = [{"symbol": s, "change": c, "low": low, "high": high} for s, c, low, high in rows]
        fields = {"schema": "tinct/local-change@1", "confidence": confidence, "symbols": symbols}
        echo_json({**fields, "reports": [each.reports for each in rounds]})
        return
    echo(f"Changes of {len(rows):,} frequencies; the intervals hold all at once with {confidence:.0%} confidence")
    for symbol, moved, low, high in rows:
        echo(f"  {symbol}: {moved:+.4f} ({low:+.4f} to {high:+.4f})")


def count(
    reports: ReportsArgument,
    mechanism: MechanismOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the counts here (.json).")],
    column: ColumnOption = "report",
    rejected: RejectedOption = None,
    most_rejected: MostRejectedOption = 0.05,
    kind: FormatOption = None,
) -> None:
    """Count reports into a small file, to be added to other counts later: 'estimate' and 'test' take several.

    Rows that hold no report of this mechanism are counted and set aside.
    """
    keep_inputs([output, rejected], [mechanism, *reports])
    made = _read(mechanism)
    found = _counted(made, mechanism, reports, column, rejected, most_rejected, kind)
    found.to_json(output)
    echo(f"Counts of {plural(found.reports, 'report')} of mechanism {made.id} written to {output}")


def _one(reports: list[str]) -> str:
    if len(reports) > 1:
        raise ParameterError("--engine spark reads one file or folder of Parquet: name one")
    return reports[0]


def _counted(
    made: LocalMechanism,
    mechanism: Path,
    reports: list[str],
    column: str,
    rejected: Path | None,
    most_rejected: float,
    kind: str | None,
) -> Tally:
    """All reports counted, with a note about the rows that were not."""
    from tinct.local import tally

    keep_inputs([rejected], [mechanism, *reports])
    with counted("Counting", "reports") as progress:
        found = tally(
            reports, made, column=column, rejected=rejected, most_rejected=most_rejected, kind=kind, progress=progress
        )
    if bad := found.rejected.total():
        why = "; ".join(f"{reason}: {many:,}" for reason, many in found.rejected.most_common())
        where = "--rejected FILE.jsonl keeps them" if rejected is None else f"they are in {rejected}"
        echo(f"Note: {plural(bad, 'row')} set aside, {bad / (bad + found.reports):.2%} ({why}); {where}", err=True)
    if others := found.others.total():
        names = ", ".join(name for name, _ in found.others.most_common(3))
        echo(f"Note: {plural(others, 'row')} of other mechanisms ({names}), not counted here", err=True)
    return found


def _document(found: Estimate) -> dict[str, Any]:
    columns = zip(found.symbols, found.frequencies, found.likeliest, found.low, found.high, strict=True)
    return {
        "schema": "tinct/local-estimate@1",
        "reports": found.reports,
        "confidence": found.confidence,
        "exact": found.exact,
        "symbols": [
            {"symbol": symbol, "frequency": float(f), "likeliest": float(m), "low": float(low), "high": float(high)}
            for symbol, f, m, low, high in columns
        ],
    }


def _print_estimate(found: Estimate, top: int) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen, Table

    console = Screen()
    how = "hold for any number of reports" if found.exact else "rest on the normal approximation"
    console.print(
        f"[bold]{len(found.symbols):,} frequencies[/bold] from {plural(found.reports, 'report')}; the intervals hold "
        f"all at once with {found.confidence:.0%} confidence, and {how}",
        end="\n\n",
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    table.add_column("symbol")
    for title in ("share", "low", "high"):
        table.add_column(title, justify="right")
    shares = found.likeliest
    for at in (-shares).argsort(kind="stable")[:top].tolist():
        ends = (shares[at], found.low[at], found.high[at])
        table.add_row(escape(str(found.symbols[at])), *(f"{value:.4f}" for value in ends))
    console.print(table)
    console.print("Shares are the likeliest; --json has unbiased estimates too, which may be negative.")
    if len(found.symbols) > top:
        console.print(f"… and {len(found.symbols) - top:,} more: --json shows all")
