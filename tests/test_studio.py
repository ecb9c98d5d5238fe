"""The studio without a browser: what its pages compute, what its files hold, and whom its server refuses."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("dash")
pytest.importorskip("dash_cytoscape")

from dash import no_update

import tinct
from tinct import Mechanism, Privacy, baselines, exact, graphs, local, rainbow
from tinct.errors import FileError, ParameterError, TinctError
from tinct.ledger import Ledger
from tinct.studio import drawing, families, open_studio, parts
from tinct.studio.application import build
from tinct.studio.budget import page as budget_page
from tinct.studio.design import events, saving, wiring
from tinct.studio.design.solving import scene_of, solve, starting_values
from tinct.studio.design.state import DesignState
from tinct.studio.design.view import lines, view
from tinct.studio.families import FAMILIES, RANKED
from tinct.studio.guard import MAX_BODY
from tinct.studio.happenings import Happening, controls_used, event_of
from tinct.studio.local import page as local_page
from tinct.studio.local import state as local_state
from tinct.studio.local.solving import solve as solve_local
from tinct.studio.local.view import ratio_places, regime_name
from tinct.studio.opening import Opening, Tickets
from tinct.studio.palette import DARK, LIGHT
from tinct.studio.placing import STEP, placed
from tinct.studio.rainbow import page as rainbow_page
from tinct.studio.rainbow import state as rainbow_state
from tinct.studio.rainbow.solving import own_shares
from tinct.studio.rainbow.solving import solve as solve_rainbow
from tinct.studio.rainbow.view import headline as rainbow_headline
from tinct.studio.rainbow.view import regions
from tinct.studio.uploads import MAX_FILE, decoded, parsed, safe_name
from tinct.studio.verify import page as verify_page
from tinct.studio.verify import state as verify_state
from tinct.studio.wiring import Moment, Wires, turned
from tinct.studio.workshop import Workshop

pytestmark = pytest.mark.xdist_group("studio")  # one process: they share what is slow to start

COUNCIL = Path(__file__).parent.parent / "examples" / "council.csv"
KEPT_DESIGN = {"settings": DesignState().to_json(), "shown": {}}  # as the browser keeps it
BAD_TEXT = ["", "nan", "inf", "-1", "1e999", "ln 0", "ε", "1e5000000", "x" * 2000]


def contents(data: bytes | str) -> str:
    """A file as a page sends it."""
    raw = data.encode() if isinstance(data, str) else data
    return "data:text/plain;base64," + base64.b64encode(raw).decode()


def run_script(text: str, folder: Path) -> dict[str, object]:
    """The names that a page's Python lines define, run in a folder."""
    names: dict[str, object] = {}
    before = Path.cwd()
    os.chdir(folder)
    try:
        exec(compile(text, "exported.py", "exec"), names)  # noqa: S102 # the point is that the lines run
    finally:
        os.chdir(before)
    return names


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


def after(state: DesignState, event: str, value: object, shop: Workshop) -> DesignState:
    return events.happened(state, event, value, shop.files, shop.uploads)


def table_of(state: DesignState, shop: Workshop) -> np.ndarray:
    mechanism = solve(state, scene_of(state, shop.files)).mechanism
    assert mechanism is not None
    return mechanism.table


# the Design page


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_balanced_design_is_what_the_library_computes(family, workshop):
    """Every family's page shows exactly the table that its own Python lines compute."""
    state = after(DesignState(), "family", family, workshop)
    solution = solve(state, scene_of(state, workshop.files))
    graph = solution.scene.graph
    if solution.scene.has_orders:
        expected = rainbow.extend(graph, Privacy("1"), rainbow.balanced_boundary(graph, Privacy("1")))
    else:
        expected = tinct.balanced(graph, Privacy("1"))
    np.testing.assert_array_equal(solution.mechanism.table, expected.table)


SETTINGS = {
    "balanced": [],
    "budget in words": [("epsilon", "ln 2"), ("delta", "0.01")],
    "threshold": [("family", "threshold"), ("numbers", [12, 5])],
    "three-way vote": [("family", "votes"), ("delta", "0.001")],
    "vote with one strict edge": [("family", "votes"), ("numbers", [3]), ("tap-edge", "0"), ("edge-epsilon", "0.5")],
    "cube": [("family", "cube"), ("numbers", [4])],
    "grid": [("family", "grid"), ("numbers", [3, 4])],
    "recoloured": [("click", "color"), ("tap", "3"), ("tap", "4")],
    "recoloured order": [("family", "votes"), ("numbers", [4]), ("click", "color"), ("tap", "3")],
    "own budgets": [("tap-edge", "9"), ("edge-epsilon", "0.25"), ("edge", "2"), ("edge-epsilon", "3")],
    "fixed": [("mode", "fixed"), ("click", "fix"), ("tap", "2"), ("value", 0.9)],
    "frontier": [("mode", "frontier"), ("first", 0.9)],
    "frontier as it starts": [("mode", "frontier"), ("epsilon", "0.3")],
    "fixed, recoloured, own budget": [
        ("family", "grid"), ("numbers", [3, 3]), ("click", "color"), ("tap", "0"), ("mode", "fixed"),
        ("tap-edge", "1"), ("edge-epsilon", "2"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_exported_python_runs_and_gives_the_same_table(name, workshop, tmp_path):
    """The Python lines of the page reproduce its table (to the last bit or two: the least budget is rounded once)."""
    state = DesignState()
    for event, value in SETTINGS[name]:
        state = after(state, event, value, workshop)
    script = saving.saved("py", state, workshop.files)["content"]
    found = run_script(script, tmp_path)["mechanism"]
    np.testing.assert_allclose(found.table, table_of(state, workshop), rtol=1e-12, atol=0)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".graphml"])
def test_uploaded_graph_keeps_its_budgets_and_its_python_runs(suffix, workshop, tmp_path):
    """A file's own budgets are used, and the exported lines read the file and find the same table."""
    loaded = graphs.read(COUNCIL)
    path = tmp_path / f"council{suffix}"
    graphs.write(loaded.graph, path, loaded.privacy)
    state = after(DesignState(), "upload", (contents(path.read_bytes()), path.name), workshop)
    assert state.file_budgets
    expected = tinct.balanced(loaded.graph, loaded.privacy)
    np.testing.assert_array_equal(table_of(state, workshop), expected.table_on(loaded.graph))
    script = saving.saved("py", state, workshop.files)["content"]
    np.testing.assert_allclose(run_script(script, tmp_path)["mechanism"].table, expected.table, rtol=1e-12)


def test_uploaded_mechanism_brings_its_graph(workshop, tmp_path):
    """A mechanism's file serves as a graph, and the exported lines read it as what it is."""
    tinct.balanced(graphs.line(3, 4), Privacy("0.5", "0.01")).to_json(tmp_path / "m.json")
    state = after(DesignState(), "upload", (contents((tmp_path / "m.json").read_bytes()), "m.json"), workshop)
    script = saving.saved("py", state, workshop.files)["content"]
    np.testing.assert_array_equal(run_script(script, tmp_path)["mechanism"].table, table_of(state, workshop))


def test_starting_values_are_extendable_for_every_family_and_budget(workshop):
    """Switching to fixed values never starts with values that cannot be extended."""
    for family in ("majority", "threshold", "cube", "grid"):
        for epsilon in ("0.001", "0.02", "1", "ln 2", "20"):
            for delta in ("0", "0.01"):
                state = after(DesignState(epsilon=epsilon, delta=delta), "family", family, workshop)
                state = after(state, "mode", "fixed", workshop)
                assert state.fixed
                assert solve(state, scene_of(state, workshop.files)).mechanism is not None


def test_values_that_cannot_be_extended_light_up_the_path(workshop):
    """The page says what the library says, and marks exactly the vertices of the witness."""
    state = replace(DesignState(family="majority", numbers=(9,)), mode="fixed", fixed={2: 0.9, 4: 0.1})
    scene = scene_of(state, workshop.files)
    with pytest.raises(tinct.NotExtendable) as caught:
        tinct.extend(scene.graph, scene.privacy, {2: 0.9, 4: 0.1})
    shown = view(state, scene, LIGHT)
    assert shown.solution.refusal == str(caught.value)
    lit = {part["data"]["id"] for part in shown.elements if "on-path" in part["classes"].split()}
    assert {int(name) for name in lit if not name.startswith("e")} == set(caught.value.witness.path)
    assert sum(name.startswith("e") for name in lit) == len(caught.value.witness.path) - 1
    assert shown.solution.mechanism is None


def test_a_missed_boundary_edge_is_explained(workshop):
    """Letting the only fixed vertex free asks for a vertex of that edge, in the library's words."""
    state = after(DesignState(), "mode", "fixed", workshop)
    (only,) = state.fixed
    state = after(after(state, "vertex", str(only), workshop), "free", 1, workshop)
    solution = solve(state, scene_of(state, workshop.files))
    assert solution.mechanism is None
    assert "is not covered: fix 10 or 11" in solution.refusal


def test_clicks_do_what_the_choice_says(workshop):
    """A click shows, recolours or fixes a vertex; recolouring twice with two colours changes nothing."""
    shown = after(DesignState(), "tap", "4", workshop)
    assert (shown.vertex, shown.colors, shown.fixed) == (4, {}, {})
    painter = after(shown, "click", "color", workshop)
    once = after(painter, "tap", "4", workshop)
    assert once.colors == {4: 1}
    assert after(once, "tap", "4", workshop).colors == {}
    fixer = after(after(shown, "click", "fix", workshop), "tap", "4", workshop)
    assert fixer.mode == "fixed"
    assert 4 in fixer.fixed
    now = table_of(shown, workshop)[4, 0]
    assert fixer.fixed[4] == pytest.approx(now, abs=0.02)  # where it was, up to the three digits shown


def test_reset_and_new_numbers_clear_what_belonged_to_the_old_graph(workshop):
    """Vertices and edges of one graph never stay fixed in another."""
    state = after(after(DesignState(), "mode", "fixed", workshop), "tap-edge", "3", workshop)
    state = after(state, "edge-epsilon", "0.5", workshop)
    for done in (after(state, "reset", 1, workshop), after(state, "numbers", [30], workshop)):
        assert (done.fixed, done.budgets, done.colors, done.vertex, done.edge) == ({}, {}, {}, None, None)
        assert done.mode == "balanced"


def test_file_budgets_are_not_changed_edge_by_edge(workshop):
    """With budgets from a file, one edge cannot be changed before one ε for all is chosen."""
    state = after(DesignState(), "upload", (contents(COUNCIL.read_bytes()), "council.csv"), workshop)
    state = after(state, "edge", "0", workshop)
    with pytest.raises(ParameterError, match="budgets of the file"):
        after(state, "edge-epsilon", "1", workshop)
    assert not after(state, "epsilon", "1", workshop).file_budgets


@pytest.mark.parametrize("text", BAD_TEXT)
def test_bad_budgets_are_refused_with_the_librarys_message(text, workshop):
    """A control refuses in place: the settings stay, the sentence is the library's."""
    for event in ("epsilon", "delta"):
        with pytest.raises(TinctError):
            after(DesignState(), event, text, workshop)
        moment = Moment(DesignState().to_json(), Happening(event, text), {}, {"name": None}, "light")
        shown = wiring.updated(moment, workshop)
        assert shown["state"] == DesignState().to_json()
        assert shown["message"].children
        assert shown["elements"]


@pytest.mark.parametrize(
    ("event", "value"),
    [
        ("family", "file"), ("family", "no such"), ("family", 3), ("numbers", []), ("numbers", [0]), ("numbers", [1.5]),
        ("numbers", [True]), ("numbers", [10**9]), ("numbers", [None]), ("numbers", ["7"]), ("numbers", [float("nan")]),
        ("mode", "best"), ("mode", None), ("click", "burn"), ("tap", "-1"), ("tap", "999"), ("tap", "x"),
        ("tap", "1" * 50), ("vertex", 99), ("edge", "99"), ("edge", None), ("value", 0.5), ("recolor", 1),
        ("first", 1.5), ("first", float("nan")), ("first", "0.5"), ("edge-epsilon", "1"), ("nothing", 1),
        ("upload", (None, None)), ("upload", ("data:,", "a.csv")), ("upload", ("data:x;base64,%%%", "a.csv")),
    ],
)  # fmt: skip
def test_bad_events_are_refused(event, value, workshop):
    """No event with a value that makes no sense changes the settings."""
    with pytest.raises(TinctError):
        after(DesignState(), event, value, workshop)


BAD_FILES = {
    "a.csv": "source,target\n1,2\n", "b.csv": "", "c.json": "{", "d.json": '{"schema": "tinct/graph@1"}',
    "e.graphml": "<graphml>", "f.exe": "MZ", "g.csv": b"\x1f\x8b\x08\x00", "h.csv": b"\xff\xfe\x00",
    "i.json": "[" * 5000, "j.json": '{"schema": "tinct/mechanism@1", "graph": {}, "table": [[NaN]]}',
    "k.csv": "source,target,source_color,target_color\na,a,x,y\n",
    "l.csv": "source,target,source_color,target_color\na,b,x,y\nc,d,x,y\n",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BAD_FILES))
def test_a_bad_upload_leaves_every_page_as_it_was(name, workshop):
    """A broken file changes no settings, and its error names the file, not where it was put."""
    moment = {"upload": contents(BAD_FILES[name]), "name": name}
    for module, event, state in (
        (wiring, "upload", DesignState()),
        (verify_page, "table", verify_state.VerifyState()),
        (verify_page, "graph-upload", verify_state.VerifyState()),
        (rainbow_page, "graph-upload", rainbow_state.RainbowState()),
        (local_page, "upload", local_state.LocalState()),
    ):
        also = {"name": name, "graph-name": name, "design": KEPT_DESIGN, "p0": "", "p1": ""}
        shown = module.updated(Moment(state.to_json(), Happening(event, moment["upload"]), {}, also, "light"), workshop)
        assert json.dumps(shown["state"]) == json.dumps(state.to_json())
        sentence = shown["message"].children
        assert name in sentence
        assert "tinct-studio-" not in sentence
        assert "Traceback" not in sentence


def test_settings_survive_the_journey_through_json(workshop):
    """What a page keeps is read back as the same settings, keys of mappings included."""
    state = DesignState()
    for event, value in [*SETTINGS["fixed"], ("click", "color"), ("tap", "5"), *SETTINGS["own budgets"]]:
        state = after(state, event, value, workshop)
    assert DesignState.from_json(json.loads(json.dumps(state.to_json()))) == state
    for other in (verify_state.VerifyState(), rainbow_state.RainbowState(), local_state.LocalState()):
        assert type(other).from_json(json.loads(json.dumps(other.to_json()))) == other


@pytest.mark.parametrize("given", [[], "x", {}, {"family": "majority"}, 7])
def test_settings_that_are_not_whole_are_refused(given):
    """A tampered page is told to load again."""
    for kind in (DesignState, verify_state.VerifyState, rainbow_state.RainbowState, local_state.LocalState):
        with pytest.raises(ParameterError):
            kind.from_json(given)


def test_table_by_distance_agrees_with_a_slow_count(workshop):
    """The grouped table equals one made vertex by vertex."""
    state = after(after(DesignState(), "family", "grid", workshop), "delta", "0.01", workshop)
    scene = scene_of(state, workshop.files)
    solution = solve(state, scene)
    mechanism = solution.mechanism
    others = baselines.beside(scene.graph, scene.privacy)
    groups: dict[tuple[object, int], list[int]] = {}
    for at, vertex in enumerate(scene.graph.vertices):
        key = (scene.graph.colors[vertex], int(scene.graph.boundary_distance()[at]))
        groups.setdefault(key, []).append(at)
    found = lines(solution)
    assert {(line.color, line.distance) for line in found} == set(groups)
    for line in found:
        mine = groups[(line.color, line.distance)]
        truths = [mechanism.truth()[at] for at in mine]
        assert (line.datasets, line.truth) == (len(mine), (min(truths), max(truths)))
        assert line.wrong == max(mechanism.error()[at] for at in mine)
        # the mean is summed in another order
        np.testing.assert_allclose(line.row, mechanism.table[mine].mean(axis=0), rtol=1e-13)
        for name, other in others.items():
            assert line.others[name] == max(other.error()[at] for at in mine)


def test_large_graphs_show_the_line_view(workshop):
    """From 301 vertices on there are no pies but the stack by distance, whose columns sum to one."""
    small = after(DesignState(), "numbers", [299], workshop)
    large = after(DesignState(), "numbers", [300], workshop)
    drawn = view(small, scene_of(small, workshop.files), LIGHT)
    assert len([part for part in drawn.elements if "position" in part]) == 300
    shown = view(large, scene_of(large, workshop.files), DARK)
    assert shown.elements == []
    total = np.sum([trace["y"] for trace in shown.line_view["data"]], axis=0)
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    with pytest.raises(ParameterError, match="up to 300 vertices"):
        saving.saved("svg", large, workshop.files)


def test_pies_and_picture_show_the_table(workshop):
    """The slices of every vertex are its row in percent; the SVG is well formed and has every vertex."""
    state = after(DesignState(), "family", "votes", workshop)
    scene = scene_of(state, workshop.files)
    shown = view(state, scene, LIGHT)
    nodes = [part for part in shown.elements if "position" in part]
    pies = np.array([[part["data"][f"p{code}"] for code in range(3)] for part in nodes])
    np.testing.assert_allclose(pies / 100, table_of(state, workshop), atol=1e-6)  # four decimals of a percent
    picture = ET.fromstring(saving.saved("svg", state, workshop.files)["content"])  # noqa: S314 # our own
    assert len(picture.findall("{http://www.w3.org/2000/svg}g")) == len(scene.graph)
    for theme in (LIGHT, DARK):
        names = {one["selector"] for one in drawing.stylesheet(scene.graph.outputs, len(nodes), theme)}
        assert {"node.fixed", "node.on-path", "edge.boundary", "edge.own-budget"} <= names


def test_labels_in_a_picture_are_escaped(workshop):
    """A vertex named like a tag stays text."""
    text = "source,target,source_color,target_color\n<script>,b&,x,y\n"
    state = after(DesignState(), "upload", (contents(text), "evil.csv"), workshop)
    svg = saving.saved("svg", state, workshop.files)["content"]
    assert "<script>" not in svg
    assert "&lt;script&gt;" in svg


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_vertices_of_a_family_do_not_lie_on_each_other(name):
    """All vertices of a picture are at least half a step apart."""
    family = FAMILIES[name]
    graph = family.build(*(number.start for number in family.numbers))
    points = placed(graph, family.shape)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(len(graph)) * 1e9
    assert apart.min() >= STEP / 2


@pytest.mark.parametrize("closed", [False, True])
def test_a_long_row_or_ring_from_a_file_is_drawn_wide_with_neighbours_side_by_side(closed):
    """Neighbours are about a step apart and nothing lies on anything, so that the picture fits its box."""
    count = 102
    ends = [(at, (at + 1) % count) for at in range(count if closed else count - 1)]
    mixed = [(37 * u % count, 37 * v % count) for u, v in ends]  # vertices in no helpful order
    graph = tinct.DatasetGraph(mixed, lambda at: "left" if at < 51 else "right")
    points = placed(graph, "springs")
    steps = np.linalg.norm(points[graph.ends[:, 0]] - points[graph.ends[:, 1]], axis=1) / STEP
    assert 0.7 <= steps.min() <= steps.max() <= 1.5
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(count) * 1e9
    assert apart.min() >= STEP / 2
    width, height = np.ptp(points, axis=0)
    assert width > 1.5 * height


def test_one_pair_of_neighbours_is_one(workshop):
    """Counts of one are in the singular."""
    text = "source,target,source_color,target_color\na,b,x,y\n"
    state = after(DesignState(), "upload", (contents(text), "two.csv"), workshop)
    assert "2 datasets, 1 pair of neighbours." in view(state, scene_of(state, workshop.files), LIGHT).headline[1]


def test_pages_say_in_which_sense_a_design_is_optimal(workshop):
    """The claim of the mechanism, by name and in full; the word optimal never stands alone."""
    shown = {}
    for mode in ("balanced", "fixed", "frontier"):
        state = after(DesignState(), "mode", mode, workshop)
        shown[mode] = view(state, scene_of(state, workshop.files), LIGHT).headline
        mechanism = solve(state, scene_of(state, workshop.files)).mechanism
        assert shown[mode][0].children.lower() == f"{mechanism.claim.name}: "
        assert mechanism.claim.sentence[1:] in shown[mode][2]
    assert shown["balanced"][0].children == "Fair optimum: "
    found = solve_rainbow(rainbow_state.RainbowState(), workshop)
    assert rainbow_headline(found)[0].children == "Optimum for the given rows: "
    assert parts.claimed(Mechanism(found.graph, found.mechanism.table), "Checked.")[0].children == "Mechanism: "


def test_tables_that_do_not_fit_say_how_many_rows_they_have(workshop):
    """The first rows by distance show every colour, and a line below says that there are more."""
    shown = view(DesignState(), scene_of(DesignState(), workshop.files), LIGHT).table[0]
    table, more = shown.children
    assert more.children == "22 rows: scroll to see them all."
    body = table.children.children[1].children
    assert [row.children[0].children.children[-1] for row in body[:4]] == ["no", "yes", "no", "yes"]
    assert len(parts.table(["a"], [["1"]] * parts.MANY_ROWS).children) == 1


def test_a_number_that_is_hidden_is_left_alone(workshop):
    """A family with one number does not empty the field of the second, which browsers complain about."""
    moment = Moment(DesignState().to_json(), None, {}, {"name": None}, "light")
    shown = wiring.updated(moment, workshop)
    assert (shown["number-0"], shown["number-1"]) == (21, no_update)
    assert shown["number-box-1"] == parts.shown_if(False)


def test_families_in_python_build_the_same_graphs(tmp_path):
    """The expression of each family builds a graph with the same vertices, colours and edges."""
    for kind, group in (("design", FAMILIES), ("rainbow", RANKED)):
        for name, family in group.items():
            numbers = tuple(number.start for number in family.numbers)
            text = f"from tinct import graphs\ngraph = {families.python_of(family, numbers)}"
            found, expected = run_script(text, tmp_path)["graph"], families.built(kind, name, numbers)
            assert found.colors == expected.colors
            assert (found.edges, found.outputs) == (expected.edges, expected.outputs)


def test_design_files_are_read_back_by_the_library(workshop, tmp_path):
    """The exported JSON is the mechanism, and the CSV its table."""
    state = after(DesignState(delta="0.01"), "mode", "frontier", workshop)
    for kind, name in (("json", "mechanism.json"), ("csv", "mechanism.csv")):
        sent = saving.saved(kind, state, workshop.files)
        assert sent["filename"] == name
        (tmp_path / name).write_text(sent["content"], encoding="utf-8")
    mechanism = Mechanism.from_json(tmp_path / "mechanism.json")
    np.testing.assert_array_equal(mechanism.table, table_of(state, workshop))
    from tinct.mechanism.table_files import read_table

    np.testing.assert_array_equal(read_table(tmp_path / "mechanism.csv", mechanism.graph), mechanism.table)


def test_nothing_is_saved_without_a_mechanism(workshop):
    """Values that cannot be extended are no file, and the sentence says why; the Python lines still come."""
    state = replace(DesignState(), mode="fixed", fixed={3: 1.0, 12: 0.0, 10: 0.0})
    with pytest.raises(ParameterError, match="no private extension"):
        saving.saved("json", state, workshop.files)
    assert "tinct.extend" in saving.saved("py", state, workshop.files)["content"]


def test_one_control_at_a_time():
    """A page that was just put together reports all its controls at once: that is no event."""

    class Control:
        def __init__(self, name: str) -> None:
            self.component_id, self.component_property = name, "value"

    inputs = {"a": Control("x"), "b": Control("y")}
    assert controls_used(inputs, {"x.value": "x"}) == "a"
    assert controls_used(inputs, {"x.value": "x", "y.value": "y"}) is None
    assert controls_used(inputs, {}) is None
    assert event_of("b", 0, ("b",)) is None
    assert event_of("b", None, ()) is None
    assert event_of("b", 0, ()) == Happening("b", 0)


def test_controls_used_while_an_answer_is_under_way_are_not_forgotten(workshop):
    """If the browser throws an answer away because another control was used, the next answer has both changes."""
    wires = Wires("local", local_page._INPUTS, local_page._OUTPUTS, ("read",))

    def turn(kept, used, **values):
        shown = {"read": 0, "upload": None, "epsilon": "2", "epsilon-slider": 2, "utility": "kl", **values}
        return turned(
            wires, kept, used, shown, {"p0": "", "p1": ""}, "light", lambda m: local_page.updated(m, workshop)
        )

    start = {"settings": local_state.LocalState().to_json(), "shown": {}}
    kept = turn(start, None)["state"]
    lost = turn(kept, "utility", utility="tv")
    assert lost["state"]["settings"]["utility"] == "tv"
    both = turn(kept, "epsilon", utility="tv", epsilon="ln 3")  # with what was kept before
    assert (both["state"]["settings"]["utility"], both["state"]["settings"]["epsilon"]) == ("tv", "ln 3")
    again = turn(both["state"], "utility", utility="js", epsilon="ln 3", **{"epsilon-slider": 1.1})
    assert again["state"]["settings"]["epsilon"] == "ln 3"
    emptied = turn(kept, "upload", utility="tv")  # a field that was emptied is no event, but nothing is lost by it
    assert emptied["state"]["settings"]["utility"] == "tv"
    for broken in (None, {}, [], {"settings": {}, "shown": 3}):
        with pytest.raises(ParameterError, match="load it again"):
            turn(broken, None)


def test_an_upload_that_arrives_while_an_answer_is_under_way_is_not_emptied(workshop):
    """Only an answer that has seen a file empties the field again."""
    wires = Wires("local", local_page._INPUTS, local_page._OUTPUTS, ("read",))
    shown = {"read": 0, "upload": None, "epsilon": "2", "epsilon-slider": 2, "utility": "tv"}
    start = {"settings": local_state.LocalState().to_json(), "shown": {}}

    def turn(used, **values):
        known = {"p0": "", "p1": "", "name": "x.csv"}
        return turned(wires, start, used, shown | values, known, "light", lambda m: local_page.updated(m, workshop))

    assert turn("utility")["upload"] is no_update
    seen = turn("upload", upload="data:text/csv;base64,e30=")
    assert seen["upload"] is None
    assert seen["message"] != []


def test_what_was_missed_but_makes_no_sense_is_left_out(workshop):
    """A field with text that makes no sense does not stand in the way of another control, and is said to make none."""
    missed = (Happening("epsilon", "lots"), Happening("click", "color"))
    moment = Moment(
        DesignState().to_json(), Happening("tap", {"data": {"id": "3"}}), {}, {"name": None}, "light", missed
    )
    shown = wiring.updated(moment, workshop)
    assert shown["state"]["colors"] == {3: 1}
    assert shown["state"]["epsilon"] == "1"
    assert "epsilon must be a number" in str(shown["message"])


# the Rainbow page


@pytest.mark.parametrize("boundary", rainbow_state.BOUNDARIES)
@pytest.mark.parametrize("family", sorted(RANKED))
def test_rainbow_python_runs_and_gives_the_same_table_and_stack(boundary, family, workshop, tmp_path):
    """The page shows what its own Python lines compute, whatever the boundary rows."""
    state = rainbow_state.happened(rainbow_state.RainbowState(), "family", family, workshop)
    state = replace(rainbow_state.happened(state, "boundary", boundary, workshop), epsilon="1.5", delta="0.01")
    found = solve_rainbow(state, workshop)
    assert found.mechanism is not None
    names = run_script(rainbow_page.saved("py", state, workshop)["content"], tmp_path)
    # the best rows come from a linear program and may differ in the last digits
    np.testing.assert_allclose(names["mechanism"].table, found.mechanism.table, atol=1e-9)
    np.testing.assert_allclose(names["stack"], found.stack, atol=1e-9)
    np.testing.assert_allclose(found.stack.sum(axis=1), 1.0, rtol=1e-12)


def test_rainbow_rows_that_are_not_close_are_explained(workshop):
    """A row that is too sure of itself is refused in the library's words, with the meeting edge lit."""
    state = rainbow_state.happened(rainbow_state.RainbowState(), "weights", [100, 1, 1, 0, 0], workshop)
    found = solve_rainbow(state, workshop)
    assert found.mechanism is None
    assert "are not close" in found.refusal
    assert len(found.path) == 2
    codes = found.graph.coloring.codes[list(found.path)]
    assert codes[0] != codes[1]


@pytest.mark.parametrize(
    ("event", "value"),
    [
        ("family", "file"), ("family", "x"), ("numbers", [8]), ("numbers", [8, 9]), ("epsilon", "nan"), ("delta", "1"),
        ("boundary", "x"), ("weights", [-1]), ("weights", [1.5]), ("weights", [float("inf")]), ("steps", 0),
        ("steps", 10**6), ("order", "-3"), ("x", 1),
    ],
)  # fmt: skip
def test_bad_rainbow_events_are_refused(event, value, workshop):
    """No control of the page takes a value that makes no sense."""
    with pytest.raises(TinctError):
        rainbow_state.happened(rainbow_state.RainbowState(), event, value, workshop)


def test_weights_become_a_distribution():
    """Weights are divided by their sum; all zero is refused."""
    state = replace(rainbow_state.RainbowState(), weights=(50, 30, 20))
    assert own_shares(state, 3) == pytest.approx([0.5, 0.3, 0.2])
    with pytest.raises(ParameterError, match="above 0"):
        own_shares(replace(state, weights=(0, 0, 0)), 3)


def test_every_region_has_dots_of_its_own(workshop):
    """The dots of an order are the colours of its answers from the best on, so that no two orders look alike."""
    found = solve_rainbow(rainbow_state.RainbowState(), workshop)
    sheet = regions(found, LIGHT).children[0].children
    labels = [row.children[0].children.children for row in sheet.children[1].children]
    dots = {tuple(dot.style["background"] for dot in label[:-1]) for label in labels}
    assert len(labels) == len(dots) == 6


def test_rainbow_files(workshop, tmp_path):
    """JSON, CSV and SVG hold the mechanism that is shown; a graph with single answers is sent to the Design page."""
    state = rainbow_state.RainbowState()
    (tmp_path / "r.json").write_text(rainbow_page.saved("json", state, workshop)["content"], encoding="utf-8")
    table = solve_rainbow(state, workshop).mechanism.table
    np.testing.assert_array_equal(Mechanism.from_json(tmp_path / "r.json").table, table)
    assert rainbow_page.saved("csv", state, workshop)["content"].startswith("vertex,color,a,b,c\n")
    assert rainbow_page.saved("svg", state, workshop)["content"].startswith("<svg")
    with pytest.raises(ParameterError, match="single answers"):
        rainbow_state.happened(state, "graph-upload", (contents(COUNCIL.read_bytes()), "council.csv"), workshop)


# the Local page


def test_local_python_runs_and_gives_the_same_mechanism(workshop, tmp_path):
    """The page shows the library's optimum, and its Python lines find it too."""
    state = local_state.happened(local_state.LocalState(), "pasted", ("0.1 0.2;0.7", "0.5,0.25\n0.25"), workshop)
    for utility in local_state.UTILITIES:
        chosen = replace(state, utility=utility, epsilon="ln 3")
        found = solve_local(chosen).mechanism
        names = run_script(local_page.saved("py", chosen)["content"], tmp_path)
        np.testing.assert_array_equal(names["mechanism"].matrix, found.matrix)
        best = local.optimal([0.1, 0.2, 0.7], [0.5, 0.25, 0.25], "ln 3", utility)
        assert found.value == best.value


@pytest.mark.parametrize(
    ("event", "value"),
    [
        ("pasted", ("", "")), ("pasted", ("0.5,0.5", "0.5")), ("pasted", ("0.5,0.6", "0.5,0.5")),
        ("pasted", ("nan,1", "0,1")), ("pasted", ("a,b", "0,1")), ("pasted", ("-1,2", "0,1")), ("pasted", (None, "1")),
        ("pasted", ("0," * 300 + "1", "0," * 300 + "1")), ("pasted", ("x" * 200_000, "1")), ("epsilon", "0"),
        ("epsilon", "nan"), ("epsilon", "-1"), ("epsilon", "701"), ("utility", "mi"), ("utility", None), ("x", 1),
    ],
)  # fmt: skip
def test_bad_local_events_are_refused(event, value, workshop):
    """Distributions and budgets are read as strictly as in the library."""
    with pytest.raises(TinctError):
        local_state.happened(local_state.LocalState(), event, value, workshop)


def test_local_file_is_read_strictly(workshop):
    """A table with the columns symbol, p0 and p1 is taken as it is."""
    text = "symbol,p0,p1\nred,0.5,0.25\nblue,0.5,0.75\n"
    state = local_state.happened(local_state.LocalState(), "upload", (contents(text), "two.csv"), workshop)
    assert (state.symbols, state.p0, state.p1) == (("red", "blue"), (0.5, 0.5), (0.25, 0.75))
    broken = text.replace("0.5,0.25", "half,0.25")
    with pytest.raises(FileError, match=r"two.csv: line 2"):
        local_state.happened(state, "upload", (contents(broken), "two.csv"), workshop)


def test_local_charts_hold_what_the_library_computes(workshop):
    """Cells, matrix, curve and regimes on the page are the library's, also with ratios of 0 and ∞."""
    state = replace(local_state.LocalState(), p0=(0.0, 0.5, 0.5), p1=(0.5, 0.5, 0.0), symbols=("a", "b", "c"))
    assert ratio_places(state) == [pytest.approx(1 / 3), 1.0, pytest.approx(3.0)]
    moment = Moment(state.to_json(), None, {}, {}, "dark")
    shown = local_page.updated(moment, workshop)
    found = solve_local(state)
    assert shown["matrix"]["data"][0]["z"] == found.mechanism.matrix.tolist()
    curve = next(trace for trace in shown["utility-chart"]["data"] if trace["name"] == "optimal")
    at = 10
    expected = local.optimal(state.p0, state.p1, curve["x"][at], "kl").value
    assert curve["y"][at] == pytest.approx(expected, rel=1e-12)
    names = [regime_name(regime, found.regimes.ratios) for regime in found.regimes.regimes]
    assert names[-1] == "randomized response"
    assert names[0] == "a binary cut" or found.regimes.regimes[0].count == 3


def test_local_files(tmp_path):
    """The matrix is in the CSV, and symbols that look like formulas are guarded."""
    state = replace(local_state.LocalState(), symbols=("=1+1", "b", "c", "d", "e"))
    rows = local_page.saved("csv", state)["content"].splitlines()
    assert rows[1].startswith("'=1+1,")
    assert [float(cell) for cell in rows[1].split(",")[1:]] == solve_local(state).mechanism.matrix[0].tolist()
    assert json.loads(local_page.saved("json", state)["content"])["schema"].startswith("tinct/local")


# the Verify page


def checked_page(state: verify_state.VerifyState, event: Happening | None, also: dict, shop: Workshop) -> dict:
    given = {"name": None, "graph-name": None, "design": KEPT_DESIGN, **also}
    return verify_page.updated(Moment(state.to_json(), event, {}, given, "light"), shop)


def test_verify_takes_the_design_and_finds_it_private(workshop, tmp_path):
    """The mechanism of the Design page is private for its own budget, and not for less; its Python lines agree."""
    shown = checked_page(verify_state.VerifyState(), Happening("design", 1), {}, workshop)
    state = verify_state.VerifyState.from_json(json.loads(json.dumps(shown["state"])))
    document = json.loads(verify_page.saved("json", state, workshop)["content"])
    assert document["private"] is True
    assert document["least_epsilon"] == pytest.approx(1, rel=1e-9)
    less = verify_state.happened(state, "epsilon", "0.5", workshop)
    document = json.loads(verify_page.saved("json", less, workshop)["content"])
    assert document["private"] is False
    tinct.balanced(graphs.majority(21), Privacy("1")).to_json(tmp_path / "mechanism.json")
    for one, private in ((state, True), (less, False)):
        names = run_script(verify_page.saved("py", one, workshop)["content"], tmp_path)
        assert names["verdict"].private is private
    profile = verify_page.saved("csv", state, workshop)["content"].splitlines()
    assert profile[0] == "epsilon,delta"
    assert float(profile[1].split(",")[1]) == pytest.approx(np.tanh(0.5), rel=1e-9)  # δ(0) of balanced, ε = 1


def test_verify_lights_up_the_worst_edge_of_a_table(workshop, tmp_path):
    """A table in CSV is checked on a graph from a family, and the worst edge is where it was broken."""
    rows = ["vertex,no,yes", *(f"{at},0.5,0.5" for at in range(5)), "5,0.9,0.1"]
    text = "\n".join(rows) + "\n"
    state = verify_state.happened(verify_state.VerifyState(), "numbers", [5], workshop)
    shown = checked_page(state, Happening("table", contents(text)), {"name": "t.csv"}, workshop)
    lit = {part["data"]["id"] for part in shown["elements"] if "on-path" in part["classes"].split()}
    assert {"4", "5"} <= lit
    assert len(lit) == 3
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    state = verify_state.VerifyState.from_json(shown["state"])
    names = run_script(verify_page.saved("py", state, workshop)["content"], tmp_path)
    assert names["verdict"].epsilon == pytest.approx(np.log(5))


def test_verify_shows_infinite_budgets(workshop):
    """A table with a one-sided zero needs an infinite ε, and the page and file say so."""
    text = "vertex,no,yes\n0,1,0\n1,0.5,0.5\n"
    state = verify_state.happened(verify_state.VerifyState(), "numbers", [1], workshop)
    shown = checked_page(state, Happening("table", contents(text)), {"name": "t.csv"}, workshop)
    state = verify_state.VerifyState.from_json(shown["state"])
    assert json.loads(verify_page.saved("json", state, workshop)["content"])["least_epsilon"] == "infinite"


def test_verify_says_where_a_certificate_is_proved(workshop, tmp_path):
    """A certificate is not a table of floats: the page names the command that proves it."""
    graph = graphs.majority(3)
    exact.certify(tinct.balanced(graph, Privacy(1)), graph, Privacy(1)).to_json(tmp_path / "c.json")
    given = Happening("table", contents((tmp_path / "c.json").read_bytes()))
    shown = checked_page(verify_state.VerifyState(), given, {"name": "c.json"}, workshop)
    assert "tinct verify --exact c.json" in shown["message"].children


# the Budget page


@pytest.fixture
def ledger(tmp_path) -> Path:
    path = tmp_path / "budget.db"
    book = Ledger(path, epsilon=2, delta="1e-6")
    book.charge(lambda: "yes", epsilon="0.3", question="=cmd()", who="ada")
    book.charge(lambda: ["b"], epsilon="0.25", question="mode(party)", who="grace")
    return path


def test_budget_page_shows_the_ledger_and_never_writes(ledger, tmp_path):
    """Spent, left and history are the ledger's, cells are guarded, the Python lines run, and nothing is charged."""
    shop = Workshop(str(ledger))
    shown = budget_page.updated(Moment({}, None, {}, {}, "light"), shop)
    spent, limit = shown["spending"]["data"]
    assert spent["y"] == pytest.approx([0, 0.3, 0.55, 0.55])
    assert spent["x"][-1] > 2  # the last step is inside the chart
    assert (limit["name"], limit["y"]) == ("limit of default", [2.0, 2.0])
    rows = shown["history"][0].children[0].children.children[1].children
    assert [row.children[1].children for row in rows] == ["b", "yes"]
    assert len(json.loads(budget_page.saved("json", shop)["content"])["entries"]) == 2
    assert "'=cmd()" in budget_page.saved("csv", shop)["content"]
    names = run_script(budget_page.saved("py", shop)["content"], tmp_path)
    assert str(names["ledger"].spent()) == "ε = 0.55"
    assert len(Ledger(ledger).history()) == 2


def test_budget_page_without_a_ledger_says_how_to_give_one(tmp_path):
    """No ledger, an empty page with a hint; a ledger that went away, the library's sentence."""
    shown = budget_page.updated(Moment({}, None, {}, {}, "light"), Workshop())
    assert shown["message"] == []
    with pytest.raises(ParameterError, match="--ledger"):
        budget_page.saved("csv", Workshop())
    gone = budget_page.updated(Moment({}, None, {}, {}, "light"), Workshop(str(tmp_path / "gone.db")))
    assert "gone.db" in gone["message"].children


# uploads and small parts


def test_uploads_have_limits_and_safe_names(workshop):
    """Too large, not whole, forgotten: each has its sentence; paths and odd letters are taken off names."""
    with pytest.raises(FileError, match="larger than 5 MB"):
        decoded("data:;base64," + "A" * (MAX_FILE * 4 // 3 + 300), "big.csv")
    with pytest.raises(ParameterError, match="no longer here"):
        workshop.uploads.get("0" * 64)
    with pytest.raises(ParameterError, match="no longer here"):
        workshop.uploads.get(None)
    first = workshop.uploads.add(contents("x"), "0.csv")
    for at in range(1, 20):
        workshop.uploads.add(contents("x"), f"{at}.csv")
    with pytest.raises(ParameterError, match="no longer here"):
        workshop.uploads.get(first.digest)
    for name in (
        "../../x.csv", "/etc/passwd", "C:\\a\\b.csv", "..", "", "\0", "a" * 500 + ".csv", "<b>.csv",
        "\N{GRINNING FACE}" * 500 + ".csv", "a" * 500 + "." + "b" * 500,
    ):  # fmt: skip
        safe = safe_name(name)
        assert safe
        assert not set(safe) & set("/\\\0<>")
        assert len(safe.encode()) <= 255  # what file systems take
        assert safe not in (".", "..")


def test_an_upload_leaves_nothing_behind(workshop, tmp_path, monkeypatch):
    """The file is private while it is read and gone afterwards, also if reading fails."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = []

    def read(path: Path) -> None:
        seen.append((path.parent.stat().st_mode & 0o777, path.read_bytes()))
        raise FileError("no", path=path)

    with pytest.raises(FileError, match=r"^x\.csv: no$"):
        parsed(decoded(contents("abc"), "x.csv"), read)
    assert seen == [(0o700, b"abc")]
    assert list(tmp_path.iterdir()) == []


def test_sliders_stand_near_their_amount():
    """A slider shows the nearest stop, and amounts beyond its ends stand at the end."""
    assert parts.epsilon_place("ln 2") == pytest.approx(0.7)
    assert (parts.epsilon_place("0.001"), parts.epsilon_place("100")) == (0.05, 4.0)
    assert [parts.DELTAS[parts.delta_place(text)] for text in ("0", "0.01", "0.5", "3e-6")] == [
        "0", "0.01", "0.2", "1e-6",
    ]  # fmt: skip
    assert parts.DELTAS[parts.delta_place("1e-12")] == "0"


def test_starting_values_meet_every_boundary_edge(workshop):
    """The vertices that are fixed at first are a boundary-hitting set."""
    state = after(DesignState(), "family", "grid", workshop)
    scene = scene_of(state, workshop.files)
    chosen = [scene.graph.vertices[at] for at in starting_values(scene)]
    assert graphs.missed_edge(scene.graph, chosen) is None


# the server


class Server:
    """A studio with a ledger, and raw requests to it."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger
        self.studio = open_studio(0, str(ledger))
        self.studio.start()
        parts_of = urlsplit(self.studio.url)
        self.port, self.token = parts_of.port, parts_of.query.removeprefix("token=")
        self.host = f"127.0.0.1:{self.port}"

    def request(self, method: str, path: str, headers: dict | None = None, body: bytes | None = None):
        """Status, headers and body of an answer; headers replace the usual ones, None leaves one out."""
        given = {"Host": self.host, **(headers or {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if body is not None and "Content-Length" not in given and "Transfer-Encoding" not in given:
                given["Content-Length"] = str(len(body))
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
                connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def raw(self, data: bytes) -> bytes:
        """What comes back for bytes that need not be HTTP."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as line:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            received = b""
            while chunk := line.recv(65536):
                received += chunk
        return received

    def work(self, **changes: object) -> tuple[dict, bytes]:
        """Headers and body of a request that the Budget page makes."""
        dependencies = json.loads(self.request("GET", f"/{self.token}/_dash-dependencies")[2])
        known = next(one for one in dependencies if "budget-accounts.children" in one["output"])
        names = known["output"].strip(".").split("...")
        outputs = [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names]
        kept = {"budget-state": {"settings": {}, "shown": {}}}
        state = [{**one, "value": kept.get(one["id"])} for one in known["state"]]
        body = {
            "output": known["output"], "outputs": outputs, "inputs": [{**known["inputs"][0], "value": 1}],
            "changedPropIds": ["budget-refresh.n_clicks"], "state": state, **changes,
        }  # fmt: skip
        headers = {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        return headers, json.dumps(body).encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("studio") / "budget.db"
    Ledger(path, epsilon=1).charge(lambda: "yes", epsilon="0.25", question="q", who="ada")
    running = Server(path)
    yield running
    running.studio.stop()


def test_the_printed_address_leads_to_the_pages(server):
    """The address redirects to the token's pages; pages, assets and work answer, with every protective header."""
    status, headers, _ = server.request("GET", f"/?token={server.token}")
    assert (status, headers["Location"]) == (303, f"/{server.token}/")
    for path in ("", "design", "budget", "_dash-layout", "_dash-dependencies", "assets/studio.css"):
        status, headers, body = server.request("GET", f"/{server.token}/{path}")
        assert status == 200
        assert body
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "http" not in headers["Content-Security-Policy"]
        assert not any(name.lower().startswith("access-control") for name in headers)
        assert "Python" not in headers["Server"]
        assert "Werkzeug" not in headers["Server"]
    given, body = server.work()
    status, _, answer = server.request("POST", f"/{server.token}/_dash-update-component", given, body)
    assert status == 200
    assert b"budget-accounts" in answer
    given["Origin"] = given["Origin"].replace("127.0.0.1", "localhost")
    status, _, _ = server.request(
        "POST", f"/{server.token}/_dash-update-component", {**given, "Host": f"localhost:{server.port}"}, body
    )
    assert status == 200


def test_no_page_mentions_anything_outside(server):
    """The page loads scripts and styles from itself only."""
    _, _, body = server.request("GET", f"/{server.token}/")
    text = body.decode()
    for part in text.split('src="')[1:] + text.split('href="')[1:]:
        assert part.startswith((f"/{server.token}/", "data:image/svg+xml"))


def hostile_requests(server: Server) -> dict[str, tuple]:
    """Requests by name: method, path, headers, body."""
    good, body = server.work()
    token, port, work = server.token, server.port, f"/{server.token}/_dash-update-component"
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    page = f"/{token}/"
    return {
        # without the token, or with another
        "no token at all": ("GET", "/", {}, None),
        "no token, a page": ("GET", "/design", {}, None),
        "no token, the layout": ("GET", "/_dash-layout", {}, None),
        "no token, the dependencies": ("GET", "/_dash-dependencies", {}, None),
        "no token, an asset": ("GET", "/assets/studio.css", {}, None),
        "no token, a script": ("GET", "/_dash-component-suites/dash/deps/react@18.3.1.min.js", {}, None),
        "no token, the icon": ("GET", "/_favicon.ico", {}, None),
        "no token, work": ("POST", "/_dash-update-component", good, body),
        "wrong token in the query": ("GET", f"/?token={wrong}", {}, None),
        "empty token": ("GET", "/?token=", {}, None),
        "two tokens": ("GET", f"/?token={token}&token={wrong}", {}, None),
        "token in a header only": ("GET", "/", {"X-Token": token, "Authorization": f"Bearer {token}"}, None),
        "token in a cookie only": ("GET", "/design", {"Cookie": f"token={token}"}, None),
        "wrong token in the path": ("GET", f"/{wrong}/", {}, None),
        "part of the token": ("GET", f"/{token[:16]}/", {}, None),
        "token in capitals": ("GET", f"/{token.upper()}/x" if token.upper() != token else "/x", {}, None),
        "token without a slash": ("GET", f"/{token}", {}, None),
        "token after something": ("GET", f"/x/{token}/", {}, None),
        "wrong token, work": ("POST", f"/{wrong}/_dash-update-component", good, body),
        "token that is no text": ("GET", "/?token=%ff%fe", {}, None),
        "the token among many fields": ("GET", f"/?token={token}&a=1&b=2&c=3&d=4&e=5", {}, None),
        # names that point here but are not ours
        "another host": ("GET", page, {"Host": "evil.example"}, None),
        "another host with our port": ("GET", page, {"Host": f"evil.example:{port}"}, None),
        "our host without the port": ("GET", page, {"Host": "127.0.0.1"}, None),
        "our host with another port": ("GET", page, {"Host": f"127.0.0.1:{port + 1}"}, None),
        "no host": ("GET", page, {"Host": None}, None),
        "empty host": ("GET", page, {"Host": ""}, None),
        "another loopback address": ("GET", page, {"Host": f"127.0.0.2:{port}"}, None),
        "IPv6 loopback": ("GET", page, {"Host": f"[::1]:{port}"}, None),
        "host with a suffix": ("GET", page, {"Host": f"127.0.0.1:{port}.evil.example"}, None),
        "rebound name, work": (
            "POST", work, {**good, "Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"}, body,
        ),
        "printed address under another name": ("GET", f"/?token={token}", {"Host": f"evil.example:{port}"}, None),
        # work that other pages ask for
        "work from another origin": ("POST", work, {**good, "Origin": "http://evil.example"}, body),
        "work from another port": ("POST", work, {**good, "Origin": f"http://127.0.0.1:{port + 1}"}, body),
        "work from https": ("POST", work, {**good, "Origin": f"https://{server.host}"}, body),
        "work from null": ("POST", work, {**good, "Origin": "null"}, body),
        "work without an origin": ("POST", work, {**good, "Origin": None}, body),
        "work from a form": ("POST", work, {**good, "Content-Type": "application/x-www-form-urlencoded"}, body),
        "work as plain text": ("POST", work, {**good, "Content-Type": "text/plain"}, body),
        "work without a type": ("POST", work, {**good, "Content-Type": None}, body),
        "cross-site work": ("POST", work, {**good, "Sec-Fetch-Site": "cross-site"}, body),
        "same-site work": ("POST", work, {**good, "Sec-Fetch-Site": "same-site"}, body),
        "cross-site script": ("GET", page, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, None),
        # methods
        "work by GET": ("GET", work, {}, None),
        "work by HEAD": ("HEAD", work, {}, None),
        "a page by POST": ("POST", page, good, body),
        "an asset by POST": ("POST", f"/{token}/assets/studio.css", good, body),
        "OPTIONS": ("OPTIONS", work, {**good, "Access-Control-Request-Method": "POST"}, None),
        "TRACE": ("TRACE", page, {}, None),
        "PUT": ("PUT", page, good, b"x"),
        "DELETE": ("DELETE", page, {}, None),
        "PATCH": ("PATCH", work, good, body),
        "CONNECT": ("CONNECT", page, {}, None),
        "an unknown method": ("BREW", page, {}, None),
        "an upgrade to a web socket": (
            "GET", page, {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                          "Sec-WebSocket-Key": "x"}, None,
        ),
        # paths
        "climbing out of the assets": ("GET", f"/{token}/assets/../application.py", {}, None),
        "climbing, escaped": ("GET", f"/{token}/assets/%2e%2e/%2e%2e/serving.py", {}, None),
        "climbing, escaped twice": ("GET", f"/{token}/assets/%252e%252e/serving.py", {}, None),
        "climbing with backslashes": ("GET", f"/{token}/assets/..%5cserving.py", {}, None),
        "an absolute path": ("GET", f"/{token}/assets//etc/passwd", {}, None),
        "a NUL in the path": ("GET", f"/{token}/assets/studio.css%00.js", {}, None),
        "a folder of assets": ("GET", f"/{token}/assets/", {}, None),
        "a script of another package": ("GET", f"/{token}/_dash-component-suites/tinct/errors.py", {}, None),
        "source of Dash": ("GET", f"/{token}/_dash-component-suites/dash/dash.py", {}, None),
        "an unknown page": ("GET", f"/{token}/admin", {}, None),
        "the debugger's console": ("GET", f"/{token}/console?__debugger__=yes", {}, None),
        "a tool endpoint": ("POST", f"/{token}/_mcp", good, body),
        "hot reload": ("GET", f"/{token}/_reload-hash", {}, None),
        # bodies
        "a body that is too large": ("POST", work, {**good, "Content-Length": str(MAX_BODY + 1)}, b"{}"),
        "a body of unknown length": ("POST", work, {**good, "Transfer-Encoding": "chunked"}, b"2\r\n{}\r\n0\r\n\r\n"),
        "a negative length": ("POST", work, {**good, "Content-Length": "-1"}, b""),
        "a length that is no number": ("POST", work, {**good, "Content-Length": "ten"}, b""),
        "a very long length": ("POST", work, {**good, "Content-Length": "9" * 40}, b""),
        "a body to read with": ("GET", page, {}, b"hello"),
        "no JSON": ("POST", work, good, b"hello"),
        "an empty body": ("POST", work, good, b""),
        "JSON that is no object": ("POST", work, good, b"[]"),
        "an empty object": ("POST", work, good, b"{}"),
        "NaN in JSON": ("POST", work, good, body.replace(b"1}", b"NaN}", 1)),
        "a key twice": ("POST", work, good, b'{"output": "x", ' + body[1:]),
        "deep nesting": ("POST", work, good, b"[" * 100_000),
        "not UTF-8": ("POST", work, good, b"\xff" + body),
        "unknown work": ("POST", *_changed(server, work, output="secret.data")),
        "work without inputs": ("POST", *_changed(server, work, inputs="none")),
        "work with odd inputs": ("POST", *_changed(server, work, inputs=[1, 2])),
        "work with odd outputs": ("POST", *_changed(server, work, outputs=[])),
        "work with odd changes": ("POST", *_changed(server, work, changedPropIds=[{}])),
        "work without state": ("POST", *_changed(server, work, state=[])),
        "settings that make no sense": ("POST", *_tampered(server, work)),
    }  # fmt: skip


def _changed(server: Server, path: str, **changes: object) -> tuple:
    headers, body = server.work(**changes)
    return path, headers, body


def _tampered(server: Server, path: str) -> tuple:
    """Work for the Design page with settings that no page has."""
    dependencies = json.loads(server.request("GET", f"/{server.token}/_dash-dependencies")[2])
    known = next(one for one in dependencies if "design-state.data" in one["output"])
    names = known["output"].strip(".").split("...")
    body = {
        "output": known["output"],
        "outputs": [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names],
        "inputs": [{**one, "value": "x"} for one in known["inputs"]],
        "state": [{**one, "value": {"family": ["x"]}} for one in known["state"]],
        "changedPropIds": ["design-epsilon.value"],
    }
    return path, {"Origin": f"http://{server.host}", "Content-Type": "application/json"}, json.dumps(body).encode()


def test_hostile_requests_are_refused_and_nothing_is_charged(server):
    """More than forty requests that no page makes: each is refused with 4xx, says nothing, and charges nothing."""
    requests = hostile_requests(server)
    assert len(requests) >= 40
    before = Ledger(server.ledger).history()
    for name, (method, path, headers, body) in requests.items():
        status, answered, text = server.request(method, path, headers, body)
        assert 400 <= status < 500, (name, status, text[:200])
        assert len(text) < 300, name
        shown = text.decode()
        for secret in (server.token, "Traceback", 'File "', str(server.ledger.parent)):
            assert secret not in shown, name
        assert not any(header.lower().startswith("access-control") for header in answered), name
        assert "Location" not in answered, name
        assert "Set-Cookie" not in answered, name
    assert Ledger(server.ledger).history() == before
    assert server.request("GET", f"/{server.token}/")[0] == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100,  # somebody speaks TLS
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"\r\n" * 50,
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=["TLS", "version", "short", "blank", "long path", "long header", "many headers", "HTTP/2"],
)
def test_what_is_not_http_gets_no_page(server, data):
    """Bytes that are no request, or an enormous one, get an error or nothing."""
    answer = server.raw(data)
    assert b"200 OK" not in answer
    assert b"Traceback" not in answer
    assert server.token.encode() not in answer
    assert server.request("GET", f"/{server.token}/")[0] == 200


def test_a_studio_listens_on_this_machine_only(server):
    """The socket is bound to the loopback address."""
    assert server.studio._server.server_address[0] == "127.0.0.1"


def test_tokens_differ_from_studio_to_studio(server):
    """Each studio has a token of its own, of 128 bits."""
    other = open_studio(0)
    try:
        assert other.url != server.studio.url
        assert len(server.token) == 32
    finally:
        other._server.server_close()


def test_a_port_that_is_taken_is_refused(server, capsys):
    """Two studios cannot share a port; the message says what would help, and nobody else prints anything."""
    with pytest.raises(ParameterError, match="choose another"):
        open_studio(server.port)
    assert capsys.readouterr() == ("", "")
    for port in (-1, 70_000):
        with pytest.raises(ParameterError, match="65535"):
            open_studio(port)


def test_a_ledger_that_is_not_there_is_refused_at_once(tmp_path):
    """The studio does not start with a ledger that cannot be opened, and makes none."""
    with pytest.raises(TinctError):
        open_studio(0, str(tmp_path / "none.db"))
    assert list(tmp_path.iterdir()) == []


def test_a_bug_is_answered_without_details(monkeypatch, capsys):
    """An error nobody foresaw is a short sentence and a 5xx, and the terminal hears only its kind."""
    guard = build("t" * 32, 1234)

    def broken(*_: object) -> None:
        raise OSError("/secret/path")

    monkeypatch.setattr("tinct.studio.budget.page.opened", broken)
    monkeypatch.setattr("tinct.studio.budget.page.python_lines", broken)
    from werkzeug.test import Client

    client = Client(guard)
    base = {"base_url": "http://127.0.0.1:1234"}
    dependencies = client.get(f"/{'t' * 32}/_dash-dependencies", **base).json
    known = next(one for one in dependencies if "budget-accounts.children" in one["output"])
    names = known["output"].strip(".").split("...")
    answer = client.post(
        f"/{'t' * 32}/_dash-update-component",
        json={
            "output": known["output"],
            "outputs": [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names],
            "inputs": [{**known["inputs"][0], "value": 1}],
            "changedPropIds": ["budget-refresh.n_clicks"],
            "state": [{**one, "value": {"settings": {}, "shown": {}}} for one in known["state"]],
        },
        headers={"Origin": "http://127.0.0.1:1234"},
        **base,
    )
    assert answer.status_code == 500
    assert answer.text == "Something went wrong in the studio.\n"
    heard = capsys.readouterr()
    assert heard.err.strip() == "tinct studio: a request failed (OSError)"


def test_the_command_prints_the_address_first_and_ends_cleanly():
    """The first line is the address alone; an interrupt ends the command with status 0 and without a traceback."""
    import signal

    line = [sys.executable, "-W", "error", "-c", "from tinct.cli.studio import studio; studio(0, False, None)"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        found = urlsplit(address)
        assert (found.scheme, found.hostname) == ("http", "127.0.0.1")
        connection = http.client.HTTPConnection("127.0.0.1", found.port, timeout=20)
        connection.request("GET", f"/?{found.query}")
        assert connection.getresponse().status == 303
        connection.close()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert rest == ""
    assert "Traceback" not in errors
    assert "Ctrl-C" in errors
    assert errors.endswith("tinct studio has ended.\n")


# opening the browser

BROWSER = """
import http.client, json, os, pathlib, re, stat, sys, urllib.parse
page = pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[1]).path))
text = page.read_text()
address = urllib.parse.urlsplit(re.search(r'url=([^"]+)"', text)[1])
def status():
    line = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    line.request("GET", f"{address.path}?{address.query}")
    answer = line.getresponse()
    return answer.status, answer.getheader("Location")
commands = []
for number in filter(str.isdigit, os.listdir("/proc")):
    try:
        commands.append(pathlib.Path(f"/proc/{number}/cmdline").read_bytes().decode(errors="replace"))
    except OSError:
        pass
modes = [stat.S_IMODE(place.stat().st_mode) for place in (page, page.parent)]
found = {"arguments": sys.argv, "commands": commands, "modes": modes, "page": text, "path": str(page)}
pathlib.Path(os.environ["SEEN"]).write_text(json.dumps({**found, "visits": [status(), status()]}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_the_token_stands_in_no_process_arguments(tmp_path):
    """The browser gets a private file that leads on with a ticket, which works once; then the file is gone."""
    import signal

    (tmp_path / "browser.py").write_text(BROWSER)
    seen, home = tmp_path / "seen.json", tmp_path / "home"
    home.mkdir()
    environment = {
        **os.environ, "BROWSER": f"{sys.executable} {tmp_path / 'browser.py'} %s", "SEEN": str(seen), "HOME": str(home),
    }  # fmt: skip
    line = [sys.executable, "-c", "from tinct.cli.studio import studio; studio(0, True, None)"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        token = urlsplit(process.stdout.readline().strip()).query.removeprefix("token=")
        deadline = time.monotonic() + 30
        while not (seen.exists() and not list(home.iterdir())) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    finally:
        process.kill()
    found = json.loads(seen.read_text())
    assert len(token) == 32
    for text in (*found["arguments"], *found["commands"], found["page"], found["path"]):
        assert token not in text
    ticket = found["page"].partition("ticket=")[2][:32]
    assert not any(ticket in text for text in (*found["arguments"], *found["commands"]))
    assert found["modes"] == [0o600, 0o700]
    assert found["visits"] == [[303, f"/{token}/"], [403, None]]
    assert not Path(found["path"]).parent.exists()


def test_an_unused_page_is_removed_when_the_studio_ends(tmp_path, monkeypatch):
    """A browser that never comes leaves nothing behind; closing twice does no harm."""
    monkeypatch.setenv("HOME", str(tmp_path))
    opening = Opening("http://127.0.0.1:1/", Tickets())
    page = opening.page()
    assert page.exists()
    opening.close()
    opening.close()
    assert list(tmp_path.iterdir()) == []


def test_tickets_work_once_and_only_for_a_while():
    """Used, expired, unknown and half tickets open nothing; of many at the same time one does."""
    clock = [0.0]
    tickets = Tickets(60.0, lambda: clock[0])
    ticket, other = tickets.issue(), tickets.issue()
    for wrong in ("", ticket[:-1], ticket + "0", ticket.upper() + "x", "\udcff"):
        assert not tickets.redeem(wrong)
    assert not tickets.used.is_set()
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(tickets.redeem, [ticket] * 64)) == 1
    clock[0] = 59.9
    late = tickets.issue()
    clock[0] = 60.0
    assert not tickets.redeem(other)
    assert tickets.redeem(late)
    assert not tickets.redeem(late)


def test_a_ticket_is_no_token(server):
    """It leads to the pages once, under the studio's own names only, and opens no page by itself."""
    ticket = server.studio._tickets.issue()
    refused = [
        (f"/{ticket}/", {}), (f"/?token={ticket}", {}), (f"/?ticket={ticket}&ticket={ticket}", {}),
        (f"/?ticket={ticket}&token={server.token}", {}),
        (f"/?ticket={ticket}", {"Host": f"evil.example:{server.port}"}),
        (f"/?ticket={server.token}", {}), (f"/?ticket={ticket}", {"Upgrade": "websocket"}), ("/?ticket=", {}),
    ]  # fmt: skip
    for path, headers in refused:
        assert server.request("GET", path, headers)[0] in (400, 403), path
    assert server.request("GET", f"/?ticket={ticket}")[0] == 303
    assert server.request("GET", f"/?ticket={ticket}")[0] == 403
