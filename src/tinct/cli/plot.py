"""``tinct plot``: figures of mechanisms and of what is known about them, as PNG, SVG or PDF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tinct.cli.printing import echo, stage
from tinct.cli.shared_options import (
    DeltaOption,
    DisconnectedOption,
    Distributions,
    EpsilonOption,
    MuOption,
    begins_like,
    choose_privacy,
    examples,
    keep_inputs,
    load_graph,
    numbers,
    read_distributions,
    replaced_budgets,
)
from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.graphs import DatasetGraph
    from tinct.mechanism import Mechanism

EXAMPLES = examples(
    "tinct plot mechanism.json -o mechanism.svg",
    "tinct plot majority:101 --epsilon 0.5 --delta 0.01 -o errors.png",
    "tinct plot graph cube:3 --epsilon 'ln 2' --dark -o cube.pdf",
    "tinct plot profile mechanism.json -o profile.svg",
    "tinct plot frontier threshold:20,5 --epsilon 1 -o frontier.svg",
    "tinct plot rainbow 0.1,0.3,0.6 --epsilon 'ln 2' -o rainbow.svg",
    "tinct plot regimes 0.1,0.2,0.7 0.5,0.25,0.25 -o regimes.svg",
    "tinct plot accuracy answer.json -o accuracy.png",
)
_LOCAL_BUDGETS = [0.1 * step for step in range(1, 101)]


def plot(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="[KIND] WHAT…",
            help="What to draw: a mechanism (.json), or a graph by file or short name such as majority:101, for which "
            "the fair optimum is designed. KIND is one of mechanism (the default), graph, errors, truth, profile, "
            "frontier, rainbow, utilities, regimes, accuracy.",
        ),
    ],
    output: Annotated[
        list[Path], typer.Option("--output", "-o", help="Write the figure: .png, .svg or .pdf; repeatable.")
    ],
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    mu: MuOption = None,
    utility: Annotated[str, typer.Option("--utility", "-u", help="For utilities and regimes: kl, chi2, tv, …")] = "kl",
    compare: Annotated[bool, typer.Option(help="Also draw the usual alternatives.")] = True,
    log: Annotated[bool, typer.Option("--log", help="For profile: a logarithmic axis of δ.")] = False,
    title: Annotated[str | None, typer.Option(help="The title of the figure.", show_default=False)] = None,
    dark: Annotated[bool, typer.Option("--dark", help="Draw on a dark background.")] = False,
    disconnected: DisconnectedOption = False,
) -> None:
    """Draw a mechanism, its errors, its privacy profile, a frontier, rows by distance, local mechanisms, an answer."""
    from tinct.plots.canvas import require_matplotlib
    from tinct.plots.figure_files import require_target, save

    require_matplotlib()
    for path in output:
        require_target(path)
    keep_inputs(output, what)
    if what[0] not in KINDS and len(what) > 1:
        raise ParameterError(f"{what[0]!r:.80} is not a kind of figure: choose from {', '.join(KINDS)}")
    kind, rest = (what[0], what[1:]) if what[0] in KINDS else ("mechanism", what)
    draw, least, most, form = KINDS[kind]
    if not least <= len(rest) <= most:
        raise ParameterError(f"tinct plot {kind} takes {form}; got {len(rest) or 'no'} arguments")
    request = FigureRequest(
        rest, epsilon, delta, mu, utility, compare, log, disconnected, {"title": title, "dark": dark}
    )
    figure = draw(request)
    for path in output:
        with stage(f"Writing {path}"):
            save(figure, path)
        echo(f"Written: {path}")


class FigureRequest:
    """The command line, and how to load what it names."""

    def __init__(
        self,
        words: list[str],
        epsilon: str | None,
        delta: str | None,
        mu: str | None,
        utility: str,
        compare: bool,
        log: bool,
        disconnected: bool,
        look: dict[str, Any],
    ) -> None:
        self.words, self.utility, self.compare, self.log, self.look = words, utility, compare, log, look
        self._budget, self._disconnected = (epsilon, delta, mu), disconnected

    def privacy(self, stored: Any = None) -> Any:
        """The privacy of the options, or the stored one."""
        return choose_privacy(*self._budget, stored)

    def graph(self) -> tuple[Any, Any]:
        """A graph by file or short name, and its privacy."""
        with stage("Reading the graph"):
            loaded = load_graph(self.words[0], disconnected=self._disconnected)
        privacy = self.privacy(loaded.privacy)
        replaced_budgets(self.words[0], loaded.privacy, privacy)
        return loaded.graph, privacy

    def mechanism(self) -> Mechanism:
        """A mechanism from its file; or the fair optimum for a graph."""
        from tinct.mechanism import Mechanism

        path = Path(self.words[0])
        if path.suffix == ".json" and (begins_like(path, "tinct/answer") or begins_like(path, "tinct/plan")):
            raise ParameterError(f"{path} is an answer or a plan: draw how often it is right with tinct plot accuracy")
        if path.suffix == ".json" and begins_like(path, "tinct/mechanism"):  # graphs are JSON too
            if any(option is not None for option in self._budget):
                raise ParameterError("a mechanism contains its privacy: leave out --epsilon, --delta and --mu")
            with stage("Reading the mechanism"):
                return Mechanism.from_json(path)
        graph, privacy = self.graph()
        with stage(f"Designing for {len(graph):,} datasets"):
            return _designed(graph, privacy)

    def numbers(self, at: int) -> list[float]:
        """Probabilities such as 0.1,0.3,0.6."""
        return numbers(self.words[at], "probabilities")

    def hypotheses(self) -> Distributions:
        """One or two distributions, as lists or as the columns of a table."""
        if len(self.words) == 2:
            return Distributions(None, self.numbers(0), self.numbers(1))
        if self.words[0].lower().endswith((".csv", ".tsv")):
            return read_distributions(self.words[0])
        return Distributions(None, self.numbers(0), None)


def _designed(graph: DatasetGraph, privacy: Any) -> Mechanism:
    from tinct import binary, rainbow

    if graph.coloring.has_orders:
        return rainbow.extend(graph, privacy, rainbow.balanced_boundary(graph, privacy))
    return binary.balanced(graph, privacy)


def _mechanism(request: FigureRequest) -> Any:
    from tinct import plots

    return plots.mechanism(request.mechanism(), compare=request.compare, **request.look)


def _graph(request: FigureRequest) -> Any:
    from tinct import plots

    return plots.graph(request.mechanism(), **request.look)


def _errors(request: FigureRequest) -> Any:
    from tinct import plots

    return plots.errors(request.mechanism(), compare=request.compare, **request.look)


def _truth(request: FigureRequest) -> Any:
    from tinct import plots

    return plots.errors(request.mechanism(), compare=request.compare, truth=True, **request.look)


def _profile(request: FigureRequest) -> Any:
    from tinct import plots

    return plots.profile(request.mechanism(), log=request.log, **request.look)


def _frontier(request: FigureRequest) -> Any:
    from tinct import binary, plots

    return plots.frontier(binary.frontier(*request.graph()), **request.look)


def _rainbow(request: FigureRequest) -> Any:
    from tinct import plots

    names = [name.strip() for name in request.words[1].split(",")] if len(request.words) == 2 else None
    return plots.rainbow(request.privacy(), request.numbers(0), answers=names, **request.look)


def _utilities(request: FigureRequest) -> Any:
    from tinct import local, plots

    found = request.hypotheses()
    with stage("Comparing local mechanisms"):
        lines = local.compare(found.p0, found.p1, epsilons=_LOCAL_BUDGETS, utility=request.utility, bound=False)
    return plots.utilities(lines, **request.look)


def _regimes(request: FigureRequest) -> Any:
    from tinct import local, plots

    given = request.hypotheses()
    if given.p1 is None:
        raise ParameterError("tinct plot regimes takes two distributions, such as 0.1,0.9 0.6,0.4, or a table of them")
    with stage("Searching for the regimes"):
        found = local.regimes(given.p0, given.p1, request.utility, symbols=given.symbols)
    return plots.regimes(found, **request.look)


def _accuracy(request: FigureRequest) -> Any:
    from tinct import plots
    from tinct._files import read_text, strict_json
    from tinct.asking.accuracy import Accuracy

    path = request.words[0]
    table = strict_json(read_text(path), path)
    try:
        fields = table["accuracy"]
        margins = tuple(int(margin) for margin in fields["margins"])
        right = {str(name): tuple(map(float, values)) for name, values in fields["right"].items()}
        found = Accuracy(str(fields["margin"]), margins, right)
        if not all(len(values) == len(margins) for values in right.values()):
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise FileError("this is not an answer or a plan: write one with tinct ask --json", path=path) from None
    return plots.accuracy(found, **request.look)


# how each kind is drawn, how many arguments it takes, and what they are
KINDS: dict[str, tuple[Callable[[FigureRequest], Any], int, int, str]] = {
    "mechanism": (_mechanism, 1, 1, "a mechanism (.json) or a graph"),
    "graph": (_graph, 1, 1, "a mechanism (.json) or a graph"),
    "errors": (_errors, 1, 1, "a mechanism (.json) or a graph"),
    "truth": (_truth, 1, 1, "a mechanism (.json) or a graph"),
    "profile": (_profile, 1, 1, "a mechanism (.json) or a graph"),
    "frontier": (_frontier, 1, 1, "a graph with two answers"),
    "rainbow": (_rainbow, 1, 2, "a boundary row such as 0.1,0.3,0.6, and optional names such as a,b,c"),
    "utilities": (_utilities, 1, 2, "two distributions, one prior, or a table (.csv) with p0 and p1, or prior"),
    "regimes": (_regimes, 1, 2, "two distributions, or a table (.csv) with columns p0 and p1"),
    "accuracy": (_accuracy, 1, 1, "an answer or a plan (.json) from tinct ask --json"),
}
