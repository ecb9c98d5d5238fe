"""The studio in a real browser: the whole journey on every page, as somebody would make it who never read a theorem.

Screenshots go to out/studio/. No request may leave this machine, no answer may be an error, and the browser's console
must stay free of errors and warnings all the way.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct import Mechanism, Privacy, graphs, local
from tinct.ledger import Ledger
from tinct.studio import open_studio

pytest.importorskip("dash")
pytest.importorskip("dash_cytoscape")
sync_api = pytest.importorskip("playwright.sync_api")


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SHOTS = Path(__file__).parent.parent / "out" / "studio"
COUNCIL = Path(__file__).parent.parent / "examples" / "council.csv"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
_LOUD = ("error", "warning")
_WIDTH = "document.documentElement.scrollWidth"
PATIENCE = 20_000  # milliseconds; a busy machine is no failure

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.xdist_group("browser"),  # one process: they share what is slow to start
]


class Visit:
    """One page of one studio in one window, and everything the window asked for."""

    def __init__(self, window, studio) -> None:
        self.window, self.studio, self.folder = window, studio, Path()
        self.troubles: list[str] = []
        self.here = studio.url.split("/?")[0]
        window.set_default_timeout(PATIENCE)
        window.on("request", self._asked)
        window.on("response", lambda answer: self._note(answer.status < 400, f"{answer.status} {answer.url}"))
        window.on("console", lambda said: self._note(said.type not in _LOUD, f"console: {said.text}"))
        window.on("pageerror", lambda error: self._note(False, f"page: {error}"))

    def _asked(self, request) -> None:
        self._note(request.url.startswith((self.here, "data:", "blob:")), f"left this machine: {request.url}")

    def _note(self, fine: bool, trouble: str) -> None:
        if not fine:
            self.troubles.append(trouble[:300])

    def open(self, title: str, *, again: bool = False) -> None:
        """Go to a page of the studio; ``again`` loads it anew, with the settings it starts with."""
        if again or not self.window.url.startswith(self.here):
            self.window.goto(self.studio.url)
            self.wait(lambda: self.window.title().endswith("· tinct studio"), "the first page is there")
        if self.window.title() != f"{title} · tinct studio":  # going where one is would build the page once more
            self.window.click(f"nav >> text={title}")
        self.window.wait_for_selector(f".page-{title.lower()}")
        self.wait(lambda: self.window.title() == f"{title} · tinct studio", f"the window is called {title}")

    def expect(self, selector: str):
        """What should become true of a part of the page."""
        return sync_api.expect(self.window.locator(selector))

    def says(self, selector: str, text: str) -> None:
        """Wait until a part of the page says something."""
        self.expect(selector).to_contain_text(text, timeout=PATIENCE)

    def write(self, selector: str, text: str) -> None:
        """Write into a field and press Enter."""
        self.window.fill(selector, text)
        self.window.press(selector, "Enter")

    def choose(self, name: str, label: str) -> None:
        """Choose from a list by its label."""
        self.window.click(f"#{name}")
        self.window.locator(".dash-dropdown-option", has_text=label).first.click()

    def pick(self, name: str, value: str) -> None:
        """Pick one of a few words side by side."""
        self.window.check(f"#{name} input[value={value}]")

    def drag(self, name: str, share: float) -> None:
        """Drag the thumb of a slider with the mouse to a share of its length."""
        # not only into view: the header that stays on top may cover it there
        self.window.locator(f"#{name}").evaluate("slider => slider.scrollIntoView({block: 'center'})")
        box = self.window.locator(f"#{name} .dash-slider-track").bounding_box()
        thumb = self.window.locator(f"#{name} .dash-slider-thumb").bounding_box()
        mouse = self.window.mouse
        mouse.move(thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2)
        mouse.down()
        mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, steps=6)
        mouse.up()

    def place(self, name: str) -> float:
        """Where the thumb of a slider stands."""
        return float(self.window.get_attribute(f"#{name} .dash-slider-thumb", "aria-valuenow"))

    def graph(self, expression: str, name: str = "design-graph"):
        """A value from the graph component, called cy; None before there is one."""
        return self.window.evaluate(
            f"(() => {{ const box = document.getElementById('{name}'); if (!box || !box._cyreg) return null; "
            f"const cy = box._cyreg.cy; return {expression}; }})()"
        )

    def wait_graph(self, expression: str, name: str = "design-graph") -> None:
        """Wait until something is true of the graph component."""
        self.wait(lambda: self.graph(expression, name), expression)

    def wait(self, holds, what: str) -> None:
        """Wait until something holds; asked from here, since the page forbids text to be run as a script."""
        for _ in range(PATIENCE // 50):
            if holds():
                return
            self.window.wait_for_timeout(50)
        raise AssertionError(f"never became true: {what}")

    def fits(self, name: str = "design-graph") -> bool:
        """Whether all of a graph is inside its box, and its names are left out or can be read."""
        return self.graph(
            "(() => { const all = cy.elements().renderedBoundingBox(); const high = "
            "parseFloat(cy.nodes()[0].style('font-size')) * cy.zoom(); return all.x1 >= 0 && all.y1 >= 0 && "
            "all.x2 <= cy.width() && all.y2 <= cy.height() && (high < 9 || high >= 9.5); })()",
            name,
        )

    def tap(self, element: str) -> None:
        """Click a vertex, or the middle of an edge, with the mouse."""
        self.window.locator("#design-graph").scroll_into_view_if_needed()
        point = self.graph(
            f"(() => {{ const one = cy.getElementById('{element}'); return one.isNode() ? one.renderedPosition() : "
            "one.renderedMidpoint(); })()"
        )
        box = self.window.locator("#design-graph").bounding_box()
        self.window.mouse.click(box["x"] + point["x"], box["y"] + point["y"])

    def save(self, button: str) -> Path:
        """Press a button and keep what it saves."""
        with self.window.expect_download() as found:
            self.window.click(f"#{button}")
        target = self.folder / found.value.suggested_filename
        found.value.save_as(target)
        assert target.stat().st_size > 0
        return target

    def upload(self, box: str, name: str, data: bytes | str) -> None:
        """Drop a file on a page."""
        raw = data.encode() if isinstance(data, str) else data
        self.window.set_input_files(f"#{box} input[type=file]", {"name": name, "mimeType": "text/plain", "buffer": raw})

    def picture(self, name: str) -> None:
        """Screenshots for a wide window and for a phone, neither of which may scroll sideways."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        for size, suffix in ((PHONE, "phone"), (WIDE, "wide")):
            self.window.set_viewport_size(size)
            self.window.evaluate("window.scrollTo(0, 0)")
            self.wait(lambda most=size["width"]: self.window.evaluate(_WIDTH) <= most, f"{name} fits {suffix}")
            self.window.wait_for_timeout(150)  # charts fit themselves to the new width
            for box in self.window.eval_on_selector_all(".graph > div", "all => all.map(one => one.id)"):
                if self.window.is_visible(f"#{box}"):
                    self.wait(lambda box=box: self.fits(box), f"{box} fits its box in {name}, {suffix}")
            self.window.screenshot(path=SHOTS / f"{name}-{suffix}.png", full_page=True)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    path = tmp_path_factory.mktemp("studio") / "budget.db"
    ledger = Ledger(path, epsilon=2, delta="1e-6")
    for question, cost, answer in (("majority(vote)", "0.3", "yes"), ("mode(party)", "0.25", "b")):
        ledger.charge(lambda answer=answer: answer, epsilon=cost, question=question, who="ada")
    running = open_studio(0, str(path))
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def window(browser, studio):
    context = browser.new_context(viewport=WIDE, accept_downloads=True, color_scheme="light")
    yield Visit(context.new_page(), studio)
    context.close()


@pytest.fixture
def visit(window, tmp_path):
    window.folder = tmp_path
    window.window.set_viewport_size(WIDE)
    yield window
    troubles, window.troubles = window.troubles, []
    assert troubles == []


def test_design_journey(visit):
    """Drag budgets, fix and break values, recolour, give an edge its own ε, walk the frontier, export."""
    visit.open("Design", again=True)
    visit.says("#design-headline", "22 datasets")
    visit.wait_graph("cy.nodes().length === 22")
    visit.picture("design")

    visit.drag("design-epsilon-slider", 0.5)
    epsilon = visit.place("design-epsilon-slider")
    assert 1.5 <= epsilon <= 2.5
    visit.expect("#design-epsilon").to_have_value(f"{epsilon:g}", timeout=PATIENCE)
    visit.says("#design-headline", f"least ε {epsilon:g}")
    visit.window.focus("#design-delta-slider .dash-slider-thumb")
    visit.window.keyboard.press("End")
    visit.expect("#design-delta").to_have_value("0.2")
    visit.write("#design-delta", "0.01")
    visit.write("#design-epsilon", "ln 2")
    visit.says("#design-python", "Privacy('ln 2', '0.01')")

    visit.write("#design-epsilon", "lots")
    visit.says("#design-message", "epsilon must be a number such as '0.1', '1/3' or 'ln 2', got 'lots'")
    visit.expect("#design-epsilon").to_have_value("lots")
    visit.says("#design-python", "Privacy('ln 2', '0.01')")
    visit.write("#design-epsilon", "1")
    visit.expect("#design-message").to_be_empty()
    visit.write("#design-delta", "0")

    # a vertex is fixed by a click, dragged until nothing extends it, and the path lights up
    visit.pick("design-click", "fix")
    visit.tap("6")
    visit.wait_graph("cy.nodes('.fixed').length === 2")
    visit.drag("design-value", 0.0)
    visit.says("#design-message", "no private extension: vertex")
    visit.wait_graph("cy.nodes('.on-path').length >= 2 && cy.edges('.on-path').length >= 1")
    visit.picture("design-broken")
    first = visit.graph("cy.nodes('.on-path').map(n => n.data('label'))")
    assert "6" in first
    visit.window.click("#design-free")
    visit.expect("#design-message").to_be_empty()
    visit.wait_graph("cy.nodes('.on-path').length === 0 && cy.nodes('.fixed').length === 1")

    # an edge of its own
    visit.tap("e3")
    visit.says("#design-inspector", "Edge 3 – 4")
    visit.write("#design-edge-epsilon", "0.25")
    visit.wait_graph("cy.edges('.own-budget').length === 1")
    visit.says("#design-python", "privacy[graph.edges[3]] = Privacy('0.25', '0')")

    # colours
    visit.window.click("#design-reset")
    visit.pick("design-click", "color")
    visit.tap("9")
    visit.wait_graph("cy.getElementById('9').hasClass('truth-1')")
    visit.says("#design-python", "recolored")

    # the frontier
    visit.window.click("#design-reset")
    visit.pick("design-mode", "frontier")
    visit.window.wait_for_selector("#design-frontier .js-plotly-plot")
    visit.drag("design-first", 0.9)
    first = visit.place("design-first")
    assert 0.8 < first < 1
    visit.says("#design-python", f"first = {first!r}\n")
    visit.picture("design-frontier")

    # what is exported is what the library computes
    mechanism = Mechanism.from_json(visit.save("design-save-json"))
    graph = graphs.majority(21)
    second = float(tinct.frontier(graph, Privacy("1")).second(first))
    np.testing.assert_array_equal(mechanism.table, tinct.homogeneous(graph, Privacy("1"), first, second).table)
    assert visit.save("design-save-csv").read_text().startswith("vertex,color,no,yes\n")
    assert visit.save("design-save-svg").read_text().startswith("<svg")
    assert visit.save("design-save-png").read_bytes().startswith(b"\x89PNG")
    assert visit.save("design-save-chart-png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in visit.save("design-save-chart-svg").read_text()
    assert visit.save("design-save-py").read_text() == visit.window.inner_text("#design-python").strip() + "\n"


def test_design_families_and_files(visit):
    """All families draw themselves from the list; a broken file leaves the page as it was; a good one is shown."""
    visit.open("Design", again=True)
    for label, vertices in (("At least k", 31), ("Three-way", 45), ("a cube", 8), ("a grid", 54)):
        visit.choose("design-family", label)
        visit.wait_graph(f"cy.nodes().length === {vertices}")
    visit.window.fill("#design-number-0", "3")
    visit.wait_graph("cy.nodes().length === 27")
    before = visit.window.inner_text("#design-headline")

    visit.upload("design-graph-upload", "broken.csv", "source,target,source_color,target_color\na,b,red\n")
    visit.says("#design-message", "broken.csv: line 2: 3 cells, but the header names 4 columns")
    assert visit.window.inner_text("#design-headline") == before
    visit.wait_graph("cy.nodes().length === 27")

    rows = ["source,target,source_color,target_color,epsilon", "ann,bob,left,left,1", "bob,cat,left,right,0.5"]
    visit.upload("design-graph-upload", "three.csv", "\n".join([*rows, ""]))
    visit.wait_graph("cy.nodes().length === 3")
    visit.expect("#design-message").to_be_empty()
    visit.says("#design-python", "graphs.read('three.csv')")
    visit.says("#design-python", "privacy = found.privacy")

    edges = [f"v{at},v{at + 1},{'lr'[at > 50]},{'lr'[at > 49]}" for at in range(101)]
    visit.upload("design-graph-upload", "row.csv", "\n".join(["source,target,source_color,target_color", *edges, ""]))
    visit.wait_graph("cy.nodes().length === 102")
    visit.picture("design-row")

    visit.upload("design-graph-upload", "council.csv", COUNCIL.read_bytes())
    visit.says("#design-headline", "512 datasets")
    visit.expect("#design-line").to_be_visible()
    visit.expect("#design-graph").to_be_hidden()
    visit.picture("design-line-view")


def test_design_from_the_keyboard(visit):
    """Without a mouse: tab to a control, choose a vertex from its list, fix it, and hear what it is."""
    visit.open("Design", again=True)
    visit.says("#design-headline", "22 datasets")
    visit.window.keyboard.press("Tab")
    reached = set()
    for _ in range(60):
        reached.add(visit.window.evaluate("document.activeElement.id || document.activeElement.closest('[id]')?.id"))
        visit.window.keyboard.press("Tab")
    for name in ("design-family", "design-epsilon", "design-delta", "design-vertex", "design-edge", "design-reset"):
        assert name in reached, (name, reached)
    names = visit.window.eval_on_selector_all(".dash-slider-thumb", "all => all.map(one => one.ariaLabel)")
    assert all(names), names
    visit.window.focus("#design-vertex")
    visit.window.keyboard.press("Enter")
    visit.window.locator(".dash-dropdown-option").nth(7).press("Enter")
    visit.says("#design-inspector", "Vertex 7")
    visit.window.focus("#design-fix")
    visit.window.keyboard.press("Enter")
    visit.wait_graph("cy.getElementById('7').hasClass('fixed')")
    visit.window.focus("#design-value .dash-slider-thumb")
    visit.window.keyboard.press("Home")
    visit.says("#design-message", "no private extension")


def test_rainbow_journey(visit):
    """Votes on three answers: rows on the boundaries, the stack, a row that is too sure, and the exports."""
    visit.open("Rainbow")
    visit.says("#rainbow-headline", "45 datasets, 6 orders")
    visit.wait_graph("cy.nodes().length === 45", "rainbow-graph")
    visit.picture("rainbow")
    visit.choose("rainbow-order", "b > c > a")
    visit.says("#rainbow-python", "the region b > c > a")
    visit.pick("rainbow-boundary", "best")
    visit.says("#rainbow-python", "best_boundary")
    visit.pick("rainbow-boundary", "own")
    visit.says("#rainbow-message", "are not close, although these orders meet on edge")
    visit.wait_graph("cy.nodes('.on-path').length === 2", "rainbow-graph")
    visit.drag("rainbow-epsilon-slider", 0.6)
    visit.expect("#rainbow-message").to_be_empty()
    visit.drag("rainbow-weight-0", 0.5)
    visit.says("#rainbow-weight-label-0", "the best answer")
    visit.drag("rainbow-steps", 0.5)
    visit.upload("rainbow-graph-upload", "broken.json", "{")
    visit.says("#rainbow-message", "broken.json: line 1: not JSON")
    visit.says("#rainbow-headline", "45 datasets")
    found = Mechanism.from_json(visit.save("rainbow-save-json"))
    assert len(found.graph) == 45
    for kind in ("csv", "svg", "png", "chart-png", "chart-svg", "py"):
        visit.save(f"rainbow-save-{kind}")


def test_local_journey(visit):
    """Two distributions, pasted and uploaded: cells, matrix, curve, regimes; ε dragged through them; exports."""
    visit.open("Local")
    visit.says("#local-headline", "3 cells")
    visit.says("#local-regimes", "randomized response")
    visit.picture("local")
    visit.drag("local-epsilon-slider", 1.0)
    visit.says("#local-headline", "5 cells")
    visit.drag("local-epsilon-slider", 0.0)
    visit.says("#local-headline", "2 cells")
    visit.window.fill("#local-p0", "0.1 0.2 0.6")
    visit.window.click("#local-read")
    visit.says("#local-message", "p0 must be probabilities that sum to 1 (within 1e-09), got 0.9")
    visit.says("#local-headline", "2 cells")
    visit.window.fill("#local-p0", "0.1 0.2 0.7")
    visit.window.fill("#local-p1", "0.5, 0.25, 0.25")
    visit.window.click("#local-read")
    visit.says("#local-python", "p0 = [0.1, 0.2, 0.7]")
    visit.expect("#local-message").to_be_empty()
    visit.upload("local-upload", "broken.csv", "p0,p2\n1,1\n")
    visit.says("#local-message", "broken.csv: header: unknown column 'p2'")
    visit.says("#local-python", "p0 = [0.1, 0.2, 0.7]")
    visit.upload("local-upload", "two.csv", "symbol,p0,p1\nred,0.5,0.25\nblue,0.5,0.75\n")
    visit.says("#local-python", "['red', 'blue']")
    visit.choose("local-utility", "total variation")
    visit.write("#local-epsilon", "ln 3")
    visit.says("#local-python", "'ln 3', 'tv'")
    rows = visit.save("local-save-csv").read_text().splitlines()
    expected = local.optimal([0.5, 0.5], [0.25, 0.75], "ln 3", "tv").matrix
    assert [float(cell) for cell in rows[1].split(",")[1:]] == expected[0].tolist()
    for kind in ("json", "cells-png", "matrix-svg", "utility-png", "py"):
        visit.save(f"local-save-{kind}")


def test_verify_journey(visit):
    """A table that keeps its promise, one that breaks it, one that is broken; the worst edge lights up; exports."""
    visit.open("Verify", again=True)
    visit.says("#verify-verdict", "Drop a mechanism")
    visit.window.click("#verify-design")
    visit.says("#verify-verdict", "Private for ε = 1")
    visit.wait_graph("cy.nodes('.on-path').length === 2", "verify-graph")
    visit.drag("verify-epsilon-slider", 0.1)
    visit.says("#verify-verdict", "Not private for")
    visit.says("#verify-verdict", "exceeds")
    visit.picture("verify-broken")
    visit.upload("verify-upload", "broken.json", '{"schema": "tinct/mechanism@1", "verified": true}')
    visit.says("#verify-message", "broken.json")
    visit.says("#verify-verdict", "Not private for")
    verdict = json.loads(visit.save("verify-save-json").read_text())
    assert verdict["private"] is False
    assert verdict["least_epsilon"] == pytest.approx(1)
    table = "vertex,no,yes\n" + "".join(f"{at},0.75,0.25\n" for at in range(22))
    visit.upload("verify-upload", "table.csv", table)
    visit.says("#verify-verdict", "Private for")
    visit.says("#verify-verdict", "22")
    visit.picture("verify")
    for kind in ("csv", "chart-png", "chart-svg", "py"):
        visit.save(f"verify-save-{kind}")


def test_budget_journey(visit):
    """The ledger's state and history; reading it again changes nothing; exports."""
    visit.open("Budget")
    visit.says("#budget-accounts", "1.45")
    visit.says("#budget-history", "majority(vote)")
    visit.picture("budget")
    visit.window.click("#budget-refresh")
    visit.says("#budget-accounts", "0.55")
    assert len(json.loads(visit.save("budget-save-json").read_text())["entries"]) == 2
    for kind in ("csv", "chart-png", "chart-svg", "py"):
        visit.save(f"budget-save-{kind}")


def test_pages_keep_their_settings_and_follow_the_dark(visit):
    """Going to another page and back keeps what was set; a dark system gets dark pages."""
    visit.open("Design", again=True)
    visit.says("#design-python", "Privacy(")  # before the first answer of the server, what is written is lost
    visit.write("#design-epsilon", "0.75")
    visit.says("#design-python", "Privacy('0.75', '0')")
    visit.window.click("nav >> text=Budget")
    visit.window.wait_for_selector(".page-budget")
    visit.window.emulate_media(color_scheme="dark")
    visit.window.click("nav >> text=Design")
    visit.says("#design-python", "Privacy('0.75', '0')")
    visit.expect("#design-epsilon").to_have_value("0.75")
    ground = visit.window.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    assert ground == "rgb(20, 23, 28)"
    visit.wait_graph("cy.nodes()[0].style('color') === 'rgb(162,169,180)'")
    visit.picture("design-dark")
