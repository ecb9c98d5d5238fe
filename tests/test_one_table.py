"""The command, its JSON, the figure and the page show the same numbers for the same mechanism."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tinct import GaussianDP, Mechanism, Privacy, baselines, graphs, personalized
from tinct.cli.main import app
from tinct.mechanism.by_distance import ByDistance

COUNCIL = str(Path(__file__).parent.parent / "examples" / "council.csv")
SHOWN = {
    "one budget": ["majority:9", "-e", "1", "-d", "0.01"],
    "personal budgets": [COUNCIL],
    "orders": ["votes:6,3", "-e", "1"],
    "orders that differ within a line": ["votes:4,3", "-e", "1", "--maximize", "truth"],
}


def design(*arguments: str) -> str:
    """What the command prints on a wide screen."""
    done = CliRunner().invoke(app, ["design", *arguments, "--rows", "1000"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.stdout


def wrong_in_text(shown: str, column: int) -> list[str]:
    """The column of the table's lines that says how often the answer is wrong."""
    cells = [line.split() for line in shown.split("\n\n")[1].splitlines()]
    return [line[column] for line in cells if len(line) > column and line[column - 2].isdigit()]


@pytest.mark.parametrize("arguments", SHOWN.values(), ids=SHOWN)
def test_command_figure_and_page_show_the_same_numbers(arguments, tmp_path):
    """One table serves all of them: the worst error of each line, and the baselines at the smallest budget."""
    plots = pytest.importorskip("tinct.plots")
    pytest.importorskip("matplotlib")
    pytest.importorskip("dash")
    from tinct.studio import charts
    from tinct.studio.design.solving import Scene, Solution
    from tinct.studio.design.view import lines
    from tinct.studio.palette import LIGHT

    result = json.loads(design(*arguments, "--json", "--output", str(tmp_path / "m.json")))
    mechanism = Mechanism.from_json(tmp_path / "m.json")
    graph, orders = mechanism.graph, mechanism.graph.coloring.has_orders
    told = result["by_order" if orders else "by_distance"]
    worst = [line["error"][1] for line in told]
    names = [] if orders else list(baselines.ALL)

    # the text
    assert wrong_in_text(design(*arguments), 2 if orders else 4) == [f"{error:.3g}" for error in worst]

    # the page
    found = lines(Solution(Scene(graph, graph, "", mechanism.privacy), mechanism))
    assert [line.wrong for line in found] == worst
    assert [line.mean_error for line in found] == [line["mean_error"] for line in told]
    if orders:
        assert [list(line.row) for line in found] == [list(line["probabilities"].values()) for line in told]
    else:
        assert [line.others for line in found] == [line["baseline_errors"] for line in told]

    # the figure and the page's chart: by distance, the worst of all colours where they are drawn as one
    figure = plots.errors(mechanism)
    page = {trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in
            charts.errors_by_distance(found, LIGHT)["data"]}  # fmt: skip
    assert set(names) <= set(page)
    for name in names:
        stated = {line["distance"]: line["baseline_errors"][name] for line in told}
        (curve,) = [line for line in figure.axes[0].get_lines() if line.get_gid() == name]
        for distance, error in zip(curve.get_xdata(), curve.get_ydata(), strict=True):
            assert error == pytest.approx(stated[int(distance)], rel=1e-12)
            assert page[name][int(distance)] == pytest.approx(error, rel=1e-12)
    drawn = [line for line in figure.axes[0].get_lines() if (line.get_gid() or "").startswith("tinct")]
    assert drawn
    seen = {(int(x), float(y)) for line in drawn for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert seen <= {(line["distance"], line["error"][1]) for line in told}
    assert {(0, max(line["error"][1] for line in told if line["distance"] == 0))} <= seen


def test_the_mean_is_shown_where_it_differs_and_says_so():
    """Wrong is the worst; a column of means comes only with lines in which datasets differ."""
    assert "mean" not in design(*SHOWN["one budget"])
    assert "wrong," in design(*SHOWN["personal budgets"])
    assert "preferred, mean" in design(*SHOWN["orders that differ within a line"])
    assert "mean" not in design(*SHOWN["orders"])


def test_the_best_of_a_utility_says_what_none_exceeds_with_colors_too():
    """--maximize states value and bound for two colors as it does for orders."""
    result = json.loads(design("majority:5", "-e", "1", "--maximize", "truth", "--json"))
    assert result["upper_bound"] == pytest.approx(result["value"], abs=1e-6)
    assert "no private mechanism has more than" in design("majority:5", "-e", "1", "--maximize", "truth")


def test_lines_equal_a_slow_count():
    """Every line, computed dataset by dataset."""
    rng = np.random.default_rng(5)
    square = graphs.box((3, 3), lambda counts: sum(counts) >= 2)
    mechanism = Mechanism(square, rng.dirichlet([1, 1], len(square)))
    other = Mechanism(square, rng.dirichlet([1, 1], len(square)))
    distance, codes = square.boundary_distance(), square.coloring.codes
    found = list(ByDistance(mechanism, {"other": other}))
    assert sum(line.datasets for line in found) == len(square)
    for line in found:
        mine = (distance == line.distance) & (codes == square.outputs.index(line.color))
        error = mechanism.error()[mine]
        assert line.datasets == mine.sum()
        assert line.truth == (mechanism.truth()[mine].min(), mechanism.truth()[mine].max())
        assert line.error == (error.min(), error.max())
        assert line.wrong == error.max()
        assert line.mean_error == pytest.approx(error.mean(), rel=1e-12)
        assert line.row == pytest.approx(mechanism.table[mine].mean(axis=0), rel=1e-12)
        assert line.others == {"other": other.error()[mine].max()}


def test_baselines_stand_at_the_smallest_budget_or_not_at_all():
    """One policy: the least ε and the least δ of all edges; nothing where a baseline does not apply."""
    cube = graphs.hypercube(2, lambda bits: sum(bits) > 0)
    budgets = personalized(cube, [Privacy("ln 2", "0.1"), Privacy("2", "0.01")])
    assert baselines.smallest_budget(cube, budgets) == Privacy("ln 2", "0.01")
    beside = baselines.beside(cube, budgets)
    assert list(beside) == list(baselines.ALL)
    for name, mechanism in beside.items():
        assert mechanism.privacy == Privacy("ln 2", "0.01")
        np.testing.assert_array_equal(mechanism.table, baselines.ALL[name](cube, mechanism.privacy).table)
    pieces = graphs.DatasetGraph([(1, 2), (3, 4)], {1: "a", 2: "b", 3: "a", 4: "a"}, disconnected=True)
    for graph, privacy in (
        (cube, None),
        (cube, GaussianDP(1)),
        (cube, personalized(cube, [Privacy(1), GaussianDP(1)])),
        (pieces, Privacy(1)),
        (graphs.rankings(3, "ab"), Privacy(1)),
        (graphs.DatasetGraph([(1, 2), (2, 3)], {1: "a", 2: "b", 3: "c"}), Privacy(1)),
    ):
        assert baselines.beside(graph, privacy) == {}
