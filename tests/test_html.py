"""What notebooks show: nothing that acts, nothing that is secret, and not too much of it."""

from __future__ import annotations

import re
import sys
from base64 import b64decode
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from tinct import DatasetGraph, Mechanism, Privacy, ask, balanced, exact, graphs, local, majority, notebook, verify
from tinct.asking._ask import plan

EVIL = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;\u202e\x00'")
TAGS = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "img"}
IMAGE = "data:image/svg+xml;base64,"


class Page(HTMLParser):
    """The tags of a page, its text and its pictures; tags must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.pictures: list[bytes] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        """Only attributes that cannot act."""
        self.tags.add(tag)
        for name, value in attributes:
            assert name in ("style", "alt", "src"), name
            if name == "src":
                assert value.startswith(IMAGE)
                self.pictures.append(b64decode(value.removeprefix(IMAGE), validate=True))
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        """The last that was opened."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """What one reads."""
        self.words.append(data)

    @property
    def text(self) -> str:
        """All words of the page."""
        return " ".join(self.words)


def evil_graph() -> DatasetGraph:
    return DatasetGraph([(EVIL[0], EVIL[1]), (EVIL[1], EVIL[2])], dict(zip(EVIL, EVIL[:2] + EVIL[1:2], strict=True)))


def survey(yes: int, no: int) -> pd.DataFrame:
    return pd.DataFrame({"support": ["yes"] * yes + ["no"] * no, "ward": [EVIL[0]] * yes + ["w"] * no})


@cache
def everything() -> dict[str, object]:
    """One of each, with names that would act if they were not escaped."""
    mechanism = balanced(evil_graph(), Privacy("ln 2", 0.01))
    response = local.randomized_response(3, 1)
    named = replace(response, symbols=EVIL, name=EVIL[0], note=EVIL[1])
    answer = ask(survey(40, 20), majority("support"), epsilon=1)
    return {
        "mechanism": mechanism,
        "graph": mechanism.graph,
        "certified": exact.certify(mechanism),
        "line": exact.line(Privacy(1), EVIL[:2]),
        "verdict": verify(mechanism, mechanism.graph, Privacy(0)),
        "answer": answer,
        "groups": ask(survey(40, 20), majority("support"), epsilon=1, by="ward", groups=[EVIL[0], "w"]),
        "plan": replace(answer.plan, question=EVIL[0], rules=EVIL),
        "recorded": replace(answer, request=EVIL[0], left=EVIL[1], repeated=True),
        "local": named,
        "estimate": named.estimate(response.privatize([0, 1, 2] * 30)),
    }


NAMES = tuple(everything())


@pytest.mark.parametrize("name", NAMES)
def test_pages_have_no_tag_and_no_attribute_of_their_data(name):
    """Whatever vertices, answers, symbols and notes are called; also in the picture."""
    page = Page(everything()[name]._repr_html_())
    assert page.tags <= TAGS
    assert not re.search(r"[\x00-\x08\u202a-\u202e]", page.text)
    for picture in page.pictures:
        for element in ET.fromstring(picture).iter():  # noqa: S314 # our own figure
            assert element.tag.rpartition("}")[2] not in ("script", "foreignObject", "iframe", "image")
            assert not any(attribute.lower().startswith("on") for attribute in element.attrib)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("verdict", "answer", "line")])
def test_names_are_shown_as_they_are(name):
    """Escaped, not dropped: what stands in the page reads like the name."""
    assert "<script>alert(1)</script>" in Page(everything()[name]._repr_html_()).text


def test_an_answer_shows_no_count():
    """The page is the same for datasets that have the same answer and differ in all their counts."""
    pages = {
        ask(survey(yes, no), majority("support"), epsilon=9)._repr_html_() for yes, no in ((31337, 7), (4242, 999))
    }
    assert len(pages) == 1
    plans = {plan(survey(yes, no), majority("support"), epsilon=9)._repr_html_() for yes, no in ((31337, 7), (2, 4242))}
    assert len(plans) == 1
    assert not re.search(r"31,?337|4,?242", pages.pop() + plans.pop())


def test_large_things_are_cut_and_say_so():
    """Rows beyond the twelfth are counted, and nothing is drawn."""
    page = Page(balanced(graphs.line(3_000, 3_000), Privacy(1))._repr_html_())
    assert "5,988 more rows" in page.text
    assert not page.pictures
    wide = DatasetGraph([(v, v + 1) for v in range(19)], {v: f"answer {v}" for v in range(20)})
    page = Page(Mechanism(wide, np.full((20, 20), 0.05))._repr_html_())
    assert "8 more rows and 10 more columns" in page.text
    big = local.subset_selection(60, 1)
    assert len(big._repr_html_()) < 2_000
    assert len(balanced(graphs.line(100_000, 100_000), Privacy(1))._repr_html_()) < 10_000


def test_without_matplotlib_there_is_no_picture(monkeypatch):
    """The rest of the page is the same."""
    objects = everything()
    with_picture = {name: objects[name]._repr_html_() for name in ("mechanism", "graph", "answer", "plan")}
    for module in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    for name, page in with_picture.items():
        without = objects[name]._repr_html_()
        assert len(Page(page).pictures) == 1
        assert not Page(without).pictures
        assert re.sub(r"<p><img [^>]*></p>", "", page) == without


def test_the_boundary_of_a_line_is_in_the_page():
    """A certificate of a line shows its middle, where answers change."""
    certified = exact.line(Privacy(1))
    words = Page(certified._repr_html_()).words
    assert "-1" in words
    assert "0" in words
    assert f"{certified.table()[certified.vertices.index(0)][0]:.6g}" in words
    assert certified.id in words


def test_the_page_of_a_verdict_says_what_it_found():
    """Private or not, in the first words."""
    line = graphs.line(1, 1)
    for table, words in (([[0.5, 0.5], [0.85, 0.15]], "Not private"), ([[0.5, 0.5], [0.5, 0.5]], "Private")):
        assert Page(verify(table, line, Privacy("ln 2"))._repr_html_()).words[0] == words


def test_text_is_cut_to_a_length():
    """A name of a million characters is not a page of a million characters."""
    graph = DatasetGraph([("a" * 10**6, "b")], {"a" * 10**6: "x", "b": "y"})
    page = Page(notebook.of_certified(exact.certify(balanced(graph, Privacy(1)))))
    assert len(page.text) < 2_000
    assert "aaa…" in page.text
