"""The gallery: every figure of the papers is there, and shows what the library computes."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle, Wedge

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the gallery stands beside the package

from gallery import boundaries, colorings, error_regions, extremal, instances, local_model, rainbows  # noqa: E402
from gallery.__main__ import main  # noqa: E402
from gallery.exhibits import PAPERS  # noqa: E402
from gallery.page import EXHIBITS, file_names, page  # noqa: E402

from tinct import Privacy, balanced, graphs, local, rainbow, verify  # noqa: E402
from tinct.plots.figure_files import render  # noqa: E402

GALLERY = ROOT / "docs" / "gallery"
GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
PAPER = {entry["id"]: entry for entry in GOLDEN["papers"]}
# every figure of the papers and what it shows, from their captions
WANTED = {
    "binary-colorings-1": "different types of neighbourhood relations",
    "binary-colorings-2": "a morphism that keeps neighbours, colours and distances to the boundary",
    "binary-colorings-3": "the line with n_B blue and n_R red vertices",
    "optimal-binary-1": "a graph, its boundary edges and its boundary-hitting sets",
    "optimal-binary-2": "the graph of examples 2 and 3",
    "heterogeneous-1": "heterogeneous, personalized and metric privacy of three votes",
    "rainbow-1": "a rainbow graph and its boundary graph",
    "rainbow-2": "example 1, a cycle without an optimum",
    "rainbow-3": "the optimum for δ = 0",
    "rainbow-4": "the optimum for δ = 0.001",
    "rainbow-5": "the optimum for δ = 0.1",
    "extremal-local-1": "clients, privatization, and an analyst",
    "extremal-local-2": "the binary mechanism and randomized response",
    "extremal-local-3": "divergence kept, for six symbols",
    "extremal-local-4": "the better of two mechanisms, for 3, 4, 6 and 12 symbols",
    "extremal-local-5": "how the divergence scales at a small and a large budget",
    "extremal-local-6": "information kept, for six symbols",
    "extremal-local-7": "the better of two mechanisms for information",
    "extremal-local-8": "how information scales at a small and a large budget",
    "extremal-local-9": "the quaternary mechanism and its error region",
    "extremal-local-10": "testing regions of two mechanisms",
}
MOST_BYTES = 3_000_000
FEW = 4  # instances looked at again in the figures on local privacy


def curve(figure: Any, gid: str, at: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The data of the line with an identifier in one panel."""
    (line,) = [line for line in figure.axes[at].get_lines() if line.get_gid() == gid]
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


# the page


def test_every_figure_of_the_papers_has_its_counterpart() -> None:
    """All 21: three, two, one, five and ten, in the papers' order, and both pictures of each in docs."""
    assert [exhibit.name for exhibit in EXHIBITS] == list(WANTED)
    assert [sum(e.paper == paper for e in EXHIBITS) for paper in PAPERS] == [3, 2, 1, 5, 10]
    drawn = {path.stem for path in GALLERY.glob("*.svg")}
    assert drawn == {f"{name}{side}" for name in WANTED for side in ("", "-dark")}


def test_the_page_lists_every_figure_and_every_image_exists() -> None:
    """The page in docs is the one that the exhibits make, and each of its images is a file beside it."""
    text = (GALLERY / "index.md").read_text(encoding="utf-8")
    assert text == page(), "docs/gallery/index.md is old: make gallery"
    images = re.findall(r"!\[[^]]+\]\(([^)#]+)#only-(?:light|dark)\)", text)
    assert images == [name for exhibit in EXHIBITS for name in file_names(exhibit)]
    for name in images:
        assert (GALLERY / name).read_bytes().startswith(b"<?xml"), name
    assert {path.name for path in GALLERY.iterdir()} == {"index.md", *images}


def test_the_images_are_small() -> None:
    assert sum(path.stat().st_size for path in GALLERY.iterdir()) < MOST_BYTES


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)
def test_each_figure_has_two_sentences(exhibit: Any) -> None:
    """Two full sentences, and others only where it differs from the paper's figure or the paper is wrong."""
    sentences = re.findall(r"[.?!](?:\s|$)", exhibit.text)
    assert len(sentences) == 2, exhibit.text
    assert exhibit.text[0].isupper()
    for more in (exhibit.differs, exhibit.wrong):
        assert not more or (more[0].isupper() and more.endswith("."))


QUICK = [exhibit for exhibit in EXHIBITS if exhibit.paper != "extremal-local" or exhibit.number in (1, 2, 9, 10)]


@pytest.mark.parametrize("exhibit", QUICK, ids=lambda exhibit: exhibit.name)
def test_drawing_again_gives_the_same_file(exhibit: Any) -> None:
    """What is in docs is what the library draws today, and all of it is on the page."""
    figure = exhibit.draw(False)
    box = figure.get_tightbbox()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert (box.p1 <= figure.get_size_inches() + 0.02).all()
    assert _numbers(render(figure, ".svg")) == _numbers((GALLERY / file_names(exhibit)[0]).read_bytes())


def _numbers(data: bytes) -> list[str]:
    """Coordinates to half a point, so that another version of a library does not count as another figure."""
    text = re.sub(rb"<defs>.*?</defs>", b"", data, flags=re.DOTALL).decode()
    paths = re.findall(r' d="([^"]*)"', text)
    return [f"{round(2 * float(number)) / 2:g}" for path in paths for number in re.findall(r"-?\d+\.?\d*", path)]


def test_unknown_figures_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rainbow-9"]) == 2
    assert "no such figure: rainbow-9" in capsys.readouterr().err


# graphs and mechanisms


def test_binary_colorings_1_is_the_voting_example() -> None:
    """Red with 0.1, 0.3, 0.7, 0.9 for 111, 211, 122, 222; and both families have the (2, 2)-line as boundary graph."""
    line = colorings.balanced(graphs.line(2, 2), colorings.BUDGET)
    cube = colorings.pulled_back(colorings.votes(), line)
    for word, red in PAPER["binary-colorings/voting"]["red"].items():
        assert cube.probability(word, "red") == pytest.approx(red, abs=1e-12)
    present = [who for who, color in colorings.voters().colors.items() if color == "blue"]
    blue = {"".join(str(at + 1) for at in range(3) if who[at]) for who in present}
    assert blue == set(PAPER["binary-colorings/figure-1b"]["blue"])
    for graph in (colorings.votes(), colorings.voters()):
        assert len(graphs.boundary_morphism(graph).target) == 4
        assert verify(colorings.pulled_back(graph, line), graph, colorings.BUDGET).private


def test_binary_colorings_2_has_the_printed_values() -> None:
    golden = PAPER["binary-colorings/figure-2"]
    graph = colorings.example_graph()
    assert {frozenset(edge) for edge in graph.edges} == {frozenset(edge) for edge in golden["graph"]["edges"]}
    mechanism = colorings.pulled_back(graph, colorings.line_mechanism())
    for vertex, red in golden["cases"][2]["red"].items():
        assert mechanism.probability(vertex, "red") == pytest.approx(red, abs=1e-12)
    figure = colorings.figure_2(False)
    wedges = {patch.get_gid(): patch for patch in figure.axes[0].patches}
    at = graph.position("i")
    wedge = wedges[f"pie:{at}:1"]
    assert isinstance(wedge, Wedge)
    assert wedge.theta2 - wedge.theta1 == pytest.approx(360 * 0.2, abs=1e-6)


def test_binary_colorings_3_turns_at_tau() -> None:
    """Drawn values follow the initial recurrence up to τ and the terminal one after it (definitions 9 and 10)."""
    figure = colorings.figure_3(False)
    growth, delta, red = 1.4, 0.005, 0.93
    wanted = [red]
    for _ in range(colorings.RECURRENCE_SIZES[0] - 1):
        wanted.append(max(1 - growth * (1 - wanted[-1]) - delta, (wanted[-1] - delta) / growth, 0.0))
    lines = [line for line in figure.axes[1].get_lines() if len(line.get_xdata()) > 2]
    drawn = {int(x): y for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert [drawn[d] for d in sorted(drawn)] == pytest.approx(wanted, abs=1e-12)


def test_optimal_binary_1_has_every_property_that_is_stated() -> None:
    graph = boundaries.example_graph()
    edges = {frozenset(edge) for edge in graph.boundary().edges}
    assert edges == {frozenset(edge) for edge in ("lq", "hn", "hi", "rs", "rt", "fu")}
    assert set(graph.boundary().vertices) == set("lqhnirstfu")
    around = (set(graph.neighbors("g")) | set(graph.neighbors("h"))) - set("gh")
    assert around == set("abcin")
    for hitting in ("lhust", "aqnistuv"):
        assert graphs.missed_edge(graph, list(hitting)) is None
    assert graphs.missed_edge(graph, list("alnstju")) == ("h", "i")
    assert _distance(graph, "a", "d") == 5
    mechanism = boundaries.extended()
    assert verify(mechanism, graph, boundaries.BUDGET).private
    for vertex, blue in boundaries.HITTING.items():
        assert mechanism.probability(vertex, "blue") == blue


def _distance(graph: Any, start: str, end: str) -> int:
    reached, steps = {start}, 0
    while end not in reached:
        reached |= {neighbor for vertex in reached for neighbor in graph.neighbors(vertex)}
        steps += 1
    return steps


def test_optimal_binary_2_is_examples_2_and_3() -> None:
    one, other, best = boundaries.path_mechanisms()
    assert [m.table[:, 0].tolist() for m in (one, other)] == PAPER["optimal-binary/example-2"]["blue"]
    assert best.table[:, 0] == pytest.approx(PAPER["optimal-binary/example-3"]["blue"], abs=1e-12)
    for mechanism in (one, other, best):
        assert verify(mechanism, boundaries.PATH, Privacy("ln 2")).private
    assert not one.dominates(other)
    assert not other.dominates(one)


def test_heterogeneous_1_states_what_is_drawn() -> None:
    """All three are private for their own budgets, and 0.834 against 0.631 for unanimous votes is right."""
    left, middle, right = [mechanism for _, mechanism in boundaries.budgeted()]
    for mechanism in (left, middle, right):
        assert verify(mechanism, mechanism.graph, mechanism.privacy).private
    assert left.probability("111", "blue") == pytest.approx(0.834, abs=5e-4)
    assert middle.probability("111", "blue") == pytest.approx(0.631, abs=5e-4)
    assert balanced(middle.graph, middle.privacy).probability("111", "blue") == pytest.approx(0.834, abs=5e-4)
    text = next(exhibit.text for exhibit in EXHIBITS if exhibit.name == "heterogeneous-1")
    assert "0.834" in text
    assert "0.631" in text


# rainbow


def test_rainbow_1_has_every_property_that_is_stated() -> None:
    """Letters, three colours, blue before red before green at a; lines joined at their ends; theorem 3 holds."""
    graph = rainbows.lettered()
    assert graph.outputs == ("blue", "red", "green")
    assert graph.colors["a"] == ("blue", "red", "green")
    whole, small = rainbows.pulled_back()
    depths = {order: max(step for other, step in small.vertices if other == order) for order, _ in small.vertices}
    assert sorted(depths.values()) == [1, 2, 3]
    for u, v in small.graph.edges:
        (one, near), (other, far) = u, v
        assert (near == far == 0) if one != other else abs(near - far) == 1
    direct = rainbow.extend(graph, rainbows.TWICE, rainbow.balanced_boundary(graph, rainbows.TWICE))
    assert whole.table_on(graph) == pytest.approx(direct.table, abs=1e-15)
    assert verify(whole, graph, rainbows.TWICE).private


def test_rainbow_2_is_example_1() -> None:
    first, second, best = rainbows.cycle_mechanisms()
    for mechanism, rows in ((first, "m1"), (second, "m2")):
        assert verify(mechanism, rainbows.CYCLE, rainbows.TWICE).private
        for vertex, row in PAPER["rainbow/example-1"][rows].items():
            assert mechanism.row(int(vertex)) == pytest.approx(row, abs=1e-9)
    verdict = verify(best, rainbows.CYCLE, rainbows.TWICE)
    assert not verdict.private
    assert verdict.witness is not None
    assert set(verdict.witness.edge) == {2, 3}


@pytest.mark.parametrize("delta", ["0", "0.001", "0.1"])
def test_rainbow_3_to_5_show_the_right_curves_and_the_printed_ones(delta: str) -> None:
    """Left the golden curves, right the printed formulas, whose rows are not private for the stated δ."""
    figure = rainbows.curves(delta, False)
    golden = {int(row[0]): row[1:] for row in GOLDEN["rainbow_curves"][delta]}
    for k in range(5):
        x, y = curve(figure, f"k = {k + 1}")
        for step, value in zip(x.astype(int).tolist(), y.tolist(), strict=True):
            if step in golden:
                assert value == pytest.approx(golden[step][k], abs=1e-12)
        _, printed = curve(figure, f"k = {k + 1}", at=1)
        assert printed[0] == pytest.approx(golden[0][k], abs=1e-12)
    assert rainbows.printed_needs(delta) > float(delta) + 0.01
    line = graphs.line(61, 0).recolored(lambda _: tuple(range(5)))
    assert verify(rainbows.right_curves(delta), line, Privacy("ln 1.2", delta)).private


def test_printed_formulas_are_off_by_the_step_the_theory_names() -> None:
    """E = 2, δ = 0, s = 0.1 gives 0.1, 0.2, 0.4, 0.7; the printed τ is one too large (theory §10)."""
    assert rainbow.at_distance(Privacy("ln 2"), [0.1, 0.9], [0, 1, 2, 3])[:, 0] == pytest.approx([0.1, 0.2, 0.4, 0.7])
    starts = np.cumsum(rainbows.ROW)[:-1].tolist()
    for start, right in zip(starts, rainbows.right_turns("0"), strict=True):
        assert rainbows._printed_turn(start, 0.0) == right + 1


def test_captions_leave_out_the_division_by_epsilon() -> None:
    starts = np.cumsum(rainbows.ROW)[:-1]
    without = np.floor(np.maximum(0.0, -np.log(starts * (rainbows.GROWTH + 1))))
    assert tuple(without.astype(int).tolist()) == rainbows.CAPTIONS["0"]


# local


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The figures with a handful of instances, so that they can be computed again here."""
    for name in ("PAIRS", "PRIORS", "BUDGETS", "PRIOR_BUDGETS"):
        monkeypatch.setattr(instances, name, dict.fromkeys(extremal.SIZES, FEW))
    at_once = (instances.divergences_at, instances.informations_at)
    caches = (instances.divergence_shares, instances.information_shares, *at_once)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def test_extremal_2_and_9_show_the_matrices() -> None:
    growth = np.exp(extremal.STAIR_EPSILON)
    binary, response = extremal.staircases()
    high = np.isclose(binary, growth / (1 + growth))
    assert high[:, 0].tolist() == [True, True, False, True, False]  # as the paper draws it
    assert np.allclose(response[np.eye(4, dtype=bool)], growth / (3 + growth))
    figure = error_regions.figure_9(False)
    cells = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    assert len(cells) == 8
    x, y = curve(figure, "region", at=1)
    epsilon, delta = error_regions.QUATERNARY
    corner = (1 - delta) / (1 + np.exp(epsilon))
    assert np.isclose(x, corner).any()
    assert np.isclose(y, corner).any()
    for miss, alarm in zip(x, y, strict=True):
        assert alarm + np.exp(epsilon) * miss >= 1 - delta - 1e-12
        assert np.exp(epsilon) * alarm + miss >= 1 - delta - 1e-12


def test_extremal_1_shows_both_distributions_of_what_goes_in_and_of_what_comes_out() -> None:
    """Bars are as high as their probabilities, Q is private, and the two divergences are those of the caption."""
    figure = local_model.figure_1(False)
    mechanism = local_model.mechanism()
    assert mechanism.least_epsilon() == pytest.approx(local_model.EPSILON, abs=1e-12)
    wanted = {"symbols": np.array([local_model.P0, local_model.P1])}
    wanted["reports"] = wanted["symbols"] @ mechanism.matrix
    bars = [patch for patch in figure.axes[0].patches if patch.get_gid()]
    assert len(bars) == 2 * (2 * 4 + 2 * 2)  # two clients, two hypotheses
    for bar in bars:
        kind, which, at = bar.get_gid().split(":")
        assert bar.get_height() == pytest.approx(wanted[kind][int(which), int(at)] * local_model._TALL, abs=1e-12)
    before, after = (local.divergence(*wanted[kind]) for kind in ("symbols", "reports"))
    text = next(exhibit.differs for exhibit in EXHIBITS if exhibit.name == "extremal-local-1")
    assert after == pytest.approx(mechanism.value, abs=1e-12)
    assert f"{before:.4f}" in text
    assert f"{after:.4f}" in text


def test_extremal_10_holds_every_region_without_ties_and_not_with_them() -> None:
    """Left: no column of any private mechanism leaves the binary mechanism's region, up to ln 9. Right: one does."""
    p0, p1 = error_regions.APART
    assert error_regions.largest_budget(p0, p1) == pytest.approx(np.log(9), abs=1e-12)
    assert np.log(9) > error_regions.EPSILON
    assert error_regions.largest_budget(*error_regions.TIED) == 0.0
    for epsilon, inside in ((error_regions.EPSILON, True), (np.log(9) + 0.05, False)):
        ratios = _column_ratios(p0, p1, epsilon)
        own = local.binary(p0, p1, epsilon).matrix
        low, high = sorted(((p0 @ own) / (p1 @ own)).tolist())
        assert ((low - 1e-12 <= ratios) & (ratios <= high + 1e-12)).all() == inside
    figure = error_regions.figure_10(False)
    for at, names in enumerate((("binary", "randomized response", "geometric"), ("binary", "other cut"))):
        (x, y), *others = (curve(figure, name, at=at) for name in names)
        for other in others:
            assert (other[1] >= np.interp(other[0], x[::-1], y[::-1]) - 1e-12).all() == (at == 0)
    p0, p1 = error_regions.TIED
    for epsilon in (1e-3, 0.1, 1.0, error_regions.EPSILON, 4.0):
        cuts = [
            error_regions.marginals(p0, p1, error_regions.cut_matrix(np.array(c), epsilon))
            for c in ((0, 0, 1), (0, 1, 1))
        ]
        assert local.divergence(*cuts[1]) > local.divergence(*cuts[0])
        assert local.divergence(*cuts[0]) == pytest.approx(local.binary(p0, p1, epsilon).value, rel=1e-9)
    gain = local.divergence(*_at(error_regions.OTHER_CUT)) / local.binary(p0, p1, error_regions.EPSILON).value - 1
    assert f"{gain:.1%}".replace("%", " %") in next(e.wrong for e in EXHIBITS if e.name == "extremal-local-10")


def _at(cells: np.ndarray) -> np.ndarray:
    return error_regions.marginals(*error_regions.TIED, error_regions.cut_matrix(cells, error_regions.EPSILON))


def _column_ratios(p0: np.ndarray, p1: np.ndarray, epsilon: float) -> np.ndarray:
    """M0/M1 of every staircase column; every private column is a mixture of these."""
    raised = np.array([[bit >> x & 1 for x in range(len(p0))] for bit in range(2 ** len(p0))])
    columns = np.where(raised, np.exp(epsilon), 1.0)
    return np.asarray((columns @ p0) / (columns @ p1))


def test_how_often_the_simple_mechanisms_are_optimal_is_as_the_captions_say() -> None:
    """At ε = 0.1 and 10, on all instances of figures 3 and 6 (relative 1e-9, and 1e-7 where a gap is certified)."""
    text = {exhibit.name: exhibit.text for exhibit in EXHIBITS}
    small, large = instances.divergences_at(0.1), instances.divergences_at(10.0)
    best = {at: np.array([local.optimal(*pair, at).value for pair in instances.pairs(6)]) for at in (0.1, 10.0)}
    assert (small["binary"] >= best[0.1] * (1 - 1e-9)).all()
    assert (large["randomized response"] >= best[10.0] * (1 - 1e-9)).sum() == 74
    assert max((at["geometric"] / best[key]).max() for key, at in ((0.1, small), (10.0, large))) < 1
    assert "for all 100" in text["extremal-local-3"]
    assert "is for 74" in text["extremal-local-3"]
    small, large = instances.informations_at(0.1), instances.informations_at(10.0)
    best = {at: np.array([local.mutual_information(p, at).value for p in instances.priors(6)]) for at in (0.1, 10.0)}
    assert (small["binary"] >= best[0.1] * (1 - 1e-7)).all()
    assert (large["randomized response"] >= best[10.0] * (1 - 1e-7)).all()
    assert "for all 100" in text["extremal-local-6"]


@pytest.mark.usefixtures("few")
def test_extremal_3_and_4_are_shares_of_the_linear_program() -> None:
    """The drawn optimum equals the program over all patterns (solver tolerance 1e-8); the worst is the least."""
    figure = next(e for e in EXHIBITS if e.name == "extremal-local-3").draw(False)
    shares = instances.divergence_shares(6)
    _, average = curve(figure, "optimal")
    assert average == pytest.approx(shares.kept("optimal").mean(axis=0))
    epsilon = float(shares.epsilons[1])
    for at, (p0, p1) in enumerate(instances.pairs(6)):

        def divergence(column: np.ndarray, p0: np.ndarray = p0, p1: np.ndarray = p1) -> float:
            return float((p0 @ column) * np.log((p0 @ column) / (p1 @ column)))

        program = local.staircase(divergence, 6, epsilon)
        assert shares.values["optimal"][at, 1] == pytest.approx(program.value, rel=1e-8)
    _, worst = curve(figure, "worst:red", at=1)
    assert worst == pytest.approx(shares.of_optimum("binary").min(axis=0))
    figure = next(e for e in EXHIBITS if e.name == "extremal-local-4").draw(True)
    for at, k in enumerate(extremal.SIZES):
        _, worst = curve(figure, "worst:blue", at=at)
        assert worst == pytest.approx(instances.divergence_shares(k).better().min(axis=0))
        assert worst.max() <= 1 + 1e-12


@pytest.mark.usefixtures("few")
def test_extremal_6_shows_certified_optima() -> None:
    """Every optimum of the figure has a gap below 1e-9, and no simple mechanism is above it."""
    figure = next(e for e in EXHIBITS if e.name == "extremal-local-6").draw(False)
    shares = instances.information_shares(6)
    _, average = curve(figure, "randomized response")
    assert average == pytest.approx(shares.kept("randomized response").mean(axis=0))
    for at, prior in enumerate(instances.priors(6)):
        for column, epsilon in enumerate(shares.epsilons.tolist()):
            best = local.mutual_information(prior, epsilon)
            assert best.value == shares.values["optimal"][at, column]
            assert best.gap is not None
            assert best.gap <= 1e-9
    assert shares.better().max() <= 1 + 1e-9


@pytest.mark.usefixtures("few")
def test_extremal_5_and_8_follow_their_laws() -> None:
    """Points are close to the drawn leading terms: 15 % at ε = 0.1, where the next order counts, and e^−10 at 10."""
    sources = {"extremal-local-5": instances.divergences_at, "extremal-local-8": instances.informations_at}
    for name, source in sources.items():
        figure = next(e for e in EXHIBITS if e.name == name).draw(False)
        small, large = source(extremal.SMALL), source(extremal.LARGE)
        x, y = curve(figure, "binary")
        assert y.tolist() == small["binary"].tolist()
        law = extremal._line_16 if name.endswith("5") else extremal._line_21
        assert y == pytest.approx(law(x), rel=0.15)
        x, y = curve(figure, "randomized response", at=1)
        assert y.tolist() == large["randomized response"].tolist()
        assert y == pytest.approx(x, rel=0.02)


def test_flat_stretches_keep_their_ends() -> None:
    line = np.array([[0, 1], [1, 1], [2, 1], [3, 0.5], [4, 0.5], [5, 0.5]], float)
    assert extremal.without_flat(line).tolist() == [[0, 1], [2, 1], [3, 0.5], [5, 0.5]]
