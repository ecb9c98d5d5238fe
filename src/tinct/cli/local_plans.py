"""``tinct local recommend | shuffle``: which randomiser, how many people, what ε; and what shuffling makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import echo, echo_json, stage
from tinct.cli.shared_options import (
    JsonOption,
    LedgerOption,
    RequestOption,
    ScopeOption,
    SymbolsFileOption,
    chosen_symbols,
    examples,
    keep_inputs,
    numbers,
    plural,
    read_distributions,
)
from tinct.errors import ParameterError

if TYPE_CHECKING:
    from tinct.local import Channel, Recommendation

RECOMMEND_EXAMPLES = examples(
    "tinct local recommend --symbols 40 --epsilon 1 --people 50000",
    "tinct local recommend --symbols yes,no,unsure --epsilon 1 --error 0.02 --goal joint --output survey.json",
    "tinct local recommend --symbols 6 --people 10000 --error 0.03 --goal joint",
)
_GOALS = {
    "total": "root mean squared error",
    "worst": "standard error, worst symbol",
    "largest": "standard error, largest symbols",
    "pointwise": "half-width, each interval",
    "joint": "half-width, all intervals",
}


def recommend(
    file: Annotated[
        Path | None,
        typer.Argument(help="Guessed shares: a table (.csv, .tsv) with columns symbol, prior.", show_default=False),
    ] = None,
    symbols: Annotated[
        str | None, typer.Option("--symbols", help="The possible answers, or how many.", show_default=False)
    ] = None,
    symbols_file: SymbolsFileOption = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", "-e", help="The budget, such as 0.5 or 'ln 2'.", show_default="the least one"),
    ] = None,
    people: Annotated[
        int | None, typer.Option("--people", help="How many reports there will be.", show_default="10,000")
    ] = None,
    error: Annotated[
        float | None, typer.Option("--error", help="How exact frequencies must be.", show_default=False)
    ] = None,
    goal: Annotated[
        str, typer.Option("--goal", help="What the error is: total, worst, largest, pointwise or joint.")
    ] = "total",
    shares: Annotated[
        str | None, typer.Option("--shares", help="Guessed shares, such as 0.5,0.3,0.2.", show_default="the worst")
    ] = None,
    largest: Annotated[int, typer.Option("--largest", help="With that goal: how many symbols.")] = 1,
    confidence: Annotated[float, typer.Option("--confidence", help="Of intervals.")] = 0.95,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the first mechanism (.json).", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Rank the randomisers for frequencies by the error that matters. Of ε, people and error, give two."""
    from tinct import local

    if output is not None and output.suffix != ".json":
        raise ParameterError(f"--output must end in .json, got {str(output)!r}")
    keep_inputs([output], [file, symbols_file])
    guessed = None if shares is None else numbers(shares, "--shares")
    count = int(symbols) if symbols is not None and symbols.isdecimal() and len(symbols) < 10 else None
    names = None if count is not None else chosen_symbols(symbols, symbols_file)
    if file is not None:
        if names is not None or count is not None or guessed is not None:
            raise ParameterError("the file has symbols and shares: leave out --symbols and --shares")
        read = read_distributions(file)
        if read.p1 is not None:
            raise ParameterError("the table must have the column prior, guessed shares", path=file)
        names, guessed, count = read.symbols, read.p0, len(read.p0)
    if count is None:
        if names is None:
            raise ParameterError("--symbols is missing: the possible answers separated by commas, or how many")
        count = len(names)
    with stage("Comparing mechanisms"):
        found = local.recommend(
            count, epsilon, people=people, error=error, shares=guessed, goal=goal, largest=largest,
            confidence=confidence, symbols=names,
        )  # fmt: skip
    if output is not None:
        found.best.to_json(output)
    if as_json:
        echo_json(_document(found))
        return
    _print(found, output)


def _document(found: Recommendation) -> dict[str, Any]:
    return {
        "schema": "tinct/local-recommendation@1",
        "goal": found.goal,
        "choices": [
            {
                "mechanism": each.mechanism.name,
                "epsilon": str(each.mechanism.budget.exact),
                "people": each.people,
                "error": each.error,
                "bytes": each.bytes,
                "drawn": each.drawn,
                "steps": each.steps,
                **{name: each.mechanism.channel.describe()[name] for name in _shape(each.mechanism.channel)},
            }
            for each in found.choices
        ],
    }


def _shape(channel: Channel) -> list[str]:
    """What was chosen along with the mechanism."""
    return [name for name in ("members", "buckets") if hasattr(channel, name)]


def _print(found: Recommendation, written: Path | None) -> None:
    from rich.markup import escape

    from tinct.cli.printing import Screen, Table

    console = Screen()
    first = found.choices[0]
    console.print(
        f"[bold]{first.mechanism.name.capitalize()}[/bold] for {plural(len(first.mechanism.symbols), 'symbol')}, "
        f"ε = {first.mechanism.epsilon:.6g}, {plural(first.people, 'person', 'people')}: "
        f"{_GOALS[found.goal]} {first.error:.4g}",
        end="\n\n",
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    table.add_column("mechanism")
    for title in ("ε", "people", "error", "bytes", "drawn", "steps"):
        table.add_column(title, justify="right")
    for each in found.choices:
        shape = "".join(f" of {getattr(each.mechanism.channel, name):,}" for name in _shape(each.mechanism.channel))
        table.add_row(
            escape(each.mechanism.name + shape), f"{each.mechanism.epsilon:.4g}", f"{each.people:,}",
            f"{each.error:.4g}", f"{each.bytes:,}", f"{each.drawn:,}", f"{each.steps:.2g}",
        )  # fmt: skip
    console.print(table)
    console.print("bytes: of a packed report; drawn: random numbers for one; steps: of the estimate from all.")
    if written is not None:
        console.print(f"Written: {escape(str(written))}")


SHUFFLE_EXAMPLES = examples(
    "tinct local shuffle --mechanism rr.json --people 100000 --delta 1e-6",
    "tinct local shuffle --epsilon 4 --people 100000 --delta 1e-6",
    "tinct local shuffle --central-epsilon 1 --people 100000 --delta 1e-6",
    "tinct local shuffle --mechanism rr.json --people 100000 --delta 1e-6 --ledger budget.db --request round-1",
)


def shuffle(
    people: Annotated[int, typer.Option("--people", help="How many reports are shuffled, one for each person.")],
    delta: Annotated[str, typer.Option("--delta", "-d", help="The δ of what the shuffled reports keep.")],
    mechanism: Annotated[
        Path | None,
        typer.Option("--mechanism", "-m", help="What everybody runs (.json).", show_default="any with this ε"),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", "-e", help="Instead of --mechanism: ε of a report.", show_default=False)
    ] = None,
    central: Annotated[
        float | None,
        typer.Option(
            "--central-epsilon",
            help="Find the largest ε of a report that keeps this after shuffling.",
            show_default=False,
        ),
    ] = None,
    ledger: LedgerOption = None,
    request: RequestOption = None,
    scope: ScopeOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Bound what reports say about one person after somebody has shuffled them, from above and from below.

    With --ledger, this round is charged: the ledger composes rounds.
    """
    from tinct import local
    from tinct.local.mechanism_files import read_mechanism

    if sum(given is not None for given in (mechanism, epsilon, central)) != 1:
        raise ParameterError("give one of --mechanism, --epsilon and --central-epsilon")
    if central is not None:
        if ledger is not None:
            raise ParameterError("--ledger is for a round with a --mechanism or an --epsilon")
        best = local.local_epsilon(people, central, delta)
        if as_json:
            echo_json(
                {"schema": "tinct/local-shuffle-plan@1", "local_epsilon": best, "epsilon": central, "delta": delta}
            )
            return
        echo(
            f"Reports of ε = {best:.6g} each keep ε = {central:.6g}, δ = {delta} once {plural(people, 'report')} "
            "are shuffled"
        )
        return
    found = local.shuffled(epsilon or "" if mechanism is None else read_mechanism(mechanism), people)
    above, below = found.epsilon(delta), found.least_epsilon(delta) if mechanism is not None else None
    if ledger is not None:
        from tinct.ledger import Ledger

        Ledger(ledger).charge(
            lambda: {"people": people, "epsilon": found.local_epsilon},
            epsilon=above, delta=delta, profile=found.profile(), request=request, scope=scope,
            question=f"a round of {people:,} shuffled reports",
        )  # fmt: skip
    if as_json:
        fields = {"people": people, "local_epsilon": found.local_epsilon, "epsilon": above, "at_least": below}
        echo_json({"schema": "tinct/local-shuffle@1", **fields, "delta": delta})
        return
    echo(f"{plural(people, 'report')} of ε = {found.local_epsilon:.6g} each, shuffled: ε = {above:.6g} at δ = {delta}")
    if below is not None:
        echo(f"No proof can show less than ε = {below:.6g}: an attacker who knows the others' answers reaches that")
    if ledger is not None:
        echo(f"Charged to {ledger}")


REPEAT_EXAMPLES = examples(
    "tinct local repeat --symbols yes,no,unsure --lifetime 2 --first 1 --rounds 12 --output chain.json",
    "tinct local repeat --symbols 100 --lifetime 4 --first 1 --kind hash --buckets 4 --output chain.json",
)


def repeat(
    symbols: Annotated[str, typer.Option("--symbols", help="The possible answers, or how many.")],
    lifetime: Annotated[str, typer.Option("--lifetime", help="ε of everything ever sent about one answer.")],
    first: Annotated[str, typer.Option("--first", help="ε of one report, at most that of the lifetime.")],
    kind: Annotated[str, typer.Option("--kind", help="bits, cells or hash.")] = "bits",
    buckets: Annotated[int, typer.Option("--buckets", help="With --kind hash: how many values the hash has.")] = 2,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Say what so many reports keep.")] = 12,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the chain (.json).", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Design two stages of noise for people who are asked again: one that is kept, and one for each report."""
    from tinct import local

    names = None if symbols.strip().isdecimal() else [part.strip() for part in symbols.split(",")]
    size = int(symbols) if names is None else len(names)
    with stage("Designing"):
        chain = local.repeated(size, lifetime, first, kind=kind, buckets=buckets, symbols=names)
    if output is not None:
        chain.to_json(output)
    after = chain.epsilon_after(rounds)
    if as_json:
        fields = {"kind": kind, "lifetime": chain.memo.epsilon, "first": chain.mechanism.epsilon, "rounds": rounds}
        echo_json({"schema": "tinct/local-repeat@1", **fields, "epsilon": after, "mechanism": chain.mechanism.id})
        return
    echo(f"{chain.mechanism.name} for {plural(size, 'symbol')}, mechanism {chain.mechanism.id}")
    echo(f"one report: ε = {chain.mechanism.epsilon:.6g}; {plural(rounds, 'report')} about one answer: ε = {after:.6g}")
    most = chain.lifetime(size)
    echo(f"any number of them: ε = {chain.memo.epsilon:.6g}; after {size:,} different answers at most {most:.6g}")
    if output is not None:
        echo(f"Written: {output}")
