"""Files: what is written is read back, what is broken is refused by name, and nothing is ever half-written."""

from __future__ import annotations

import gzip
import json
import os
import stat
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinct import (
    DatasetGraph,
    EdgePrivacy,
    FileError,
    GaussianDP,
    Mechanism,
    ParameterError,
    Privacy,
    TinctError,
    TradeOff,
    _files,
    balanced,
    graphs,
)
from tinct.graphs import EdgeClasses, GraphFile
from tinct.graphs.formats.graph_files import read_fixed, read_rows
from tinct.mechanism.table_files import read_mechanism, read_table, write_table
from tinct.privacy import Amount

if TYPE_CHECKING:
    from pathlib import Path

SUFFIXES = (".json", ".csv", ".tsv", ".graphml")

# graphs to write

scalars = st.one_of(
    st.text(max_size=6), st.integers(-(10**25), 10**25), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
)
labels = st.one_of(
    scalars,
    st.recursive(st.lists(scalars, max_size=3).map(tuple), lambda inner: st.lists(inner, max_size=2).map(tuple)),
)
long_logarithm = Amount(Fraction(10**40 + 1, 10**39), is_log=True)
amounts = st.sampled_from(
    [long_logarithm, "ln 2", "0.1", 0.1, "1/3", 0, 2.5, Fraction(10**90, 3**200), 1e-45, "ln 3/2"]
)
deltas = st.sampled_from([0, "0.01", 1e-40, "1/7", 0.3, "1.5e-400"])
pairs = st.builds(Privacy, amounts, deltas)


@st.composite
def colored_graphs(draw: Any, names: Any = labels, answers: Any = scalars) -> DatasetGraph:
    """A connected graph whose vertices are any labels, with plain colours or orders of preference."""
    vertices = draw(st.lists(names, min_size=1, max_size=7, unique=True))
    tree = [(vertices[draw(st.integers(0, v - 1))], vertices[v]) for v in range(1, len(vertices))]
    more = draw(st.lists(st.sampled_from([(u, v) for u in vertices for v in vertices if u != v] or [None]), max_size=5))
    edges = draw(st.permutations([*tree, *filter(None, more)]))
    outputs = draw(st.lists(answers, min_size=1, max_size=4, unique=True))
    chosen = st.permutations(outputs).map(tuple) if draw(st.booleans()) else st.sampled_from(outputs)
    colors = {vertex: draw(chosen) for vertex in vertices}
    return DatasetGraph(edges, colors, vertices=vertices, outputs=outputs)


@st.composite
def budgets(draw: Any, graph: DatasetGraph) -> Any:
    """Privacy in any form that a JSON file can hold."""
    size = len(graph.ends)
    form = draw(st.sampled_from(["none", "one", "gaussian", "arrays", "entries", "classes"]))
    if form == "none":
        return None
    if form == "one":
        return draw(pairs)
    if form == "gaussian":
        return GaussianDP(draw(st.floats(0, 9)))
    if form == "classes":
        return EdgeClasses(
            [draw(pairs), GaussianDP(1.0)],
            np.array(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)), int),
        )
    epsilons = np.array(draw(st.lists(st.floats(0, 700), min_size=size, max_size=size)), float)
    return EdgePrivacy(epsilons[graph.edge_ids] if form == "entries" else epsilons, draw(st.floats(0, 0.999)))


def typed(label: Any) -> Any:
    """The label together with its type, which == ignores for 1, 1.0 and True."""
    return tuple(map(typed, label)) if isinstance(label, tuple) else (type(label).__name__, label)


def assert_same(graph: DatasetGraph, other: DatasetGraph) -> None:
    assert typed(tuple(other.vertices)) == typed(tuple(graph.vertices))
    assert typed(other.outputs) == typed(graph.outputs)
    assert list(map(typed, other.colors.values())) == list(map(typed, graph.colors.values()))
    assert other.ends.tolist() == graph.ends.tolist()
    assert other.indices[other.indptr[0] : other.indptr[1]].tolist() == sorted(
        graph.indices[: graph.indptr[1]].tolist()
    )


def by_edge(graph: DatasetGraph, privacy: Any) -> list[Any]:
    """The privacy of every edge of a graph, whatever its form."""
    size = len(graph.ends)
    if isinstance(privacy, EdgeClasses):
        return [privacy.pairs[at] for at in privacy.numbers.tolist()]
    if isinstance(privacy, EdgePrivacy):
        values = np.column_stack([privacy.epsilon, privacy.delta])
        first = [graph.edge_ids.tolist().index(edge) for edge in range(size)]
        return (values if len(values) == size else values[first]).tolist()
    return [privacy] * size


def outcome(action: Any) -> Any:
    """What an action returns, or the error of ours that it raises; any other error fails the test."""
    try:
        return action()
    except TinctError as error:
        return error


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


# round trips


@given(st.data())
def test_json_keeps_everything(folder: Path, data: Any) -> None:
    """A graph comes back from JSON with its vertices, answers, edges and exact budgets, in their order."""
    graph = data.draw(colored_graphs())
    privacy = data.draw(budgets(graph))
    path = folder / "graph.json"
    graphs.write(graph, path, privacy)
    back = graphs.read(path)
    assert_same(graph, back.graph)
    assert by_edge(back.graph, back.privacy) == by_edge(graph, privacy)
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(
    "graph",
    [
        graphs.line(2, 3),
        graphs.majority(4),
        graphs.hypercube(3, lambda bits: sum(bits) > 1),
        graphs.histograms(3, 2, lambda counts: "first" if counts[0] > counts[1] else "second"),
        graphs.line(1, 0),
        DatasetGraph.from_csr([0, 1, 2], [1, 0], np.array([3, 4])),
    ],
)
def test_built_graphs_come_back(tmp_path: Path, graph: DatasetGraph) -> None:
    """Ranges, words and rows as vertices survive JSON, and are written briefly where they can be."""
    graphs.write(graph, tmp_path / "graph.json")
    assert_same(graph, graphs.read(tmp_path / "graph.json").graph)
    if isinstance(graph.vertices, range):
        assert len((tmp_path / "graph.json").read_text()) < 200


def test_numpy_labels_are_written_as_plain_ones(tmp_path: Path) -> None:
    """NumPy integers and text as vertices or colours are written like Python's."""
    graph = DatasetGraph(
        [(np.int64(1), (np.int8(2), "b"))], {np.int64(1): np.str_("x"), (np.int8(2), "b"): np.bool_(True)}
    )
    graphs.write(graph, tmp_path / "graph.json")
    assert graphs.read(tmp_path / "graph.json").graph.colors == {1: "x", (2, "b"): True}


def test_a_mapping_and_a_pair_of_arrays_are_written_too(tmp_path: Path) -> None:
    """Privacy as {(u, v): pair} or as two arrays is written as classes or arrays along the edges."""
    graph, path = graphs.line(2, 1), tmp_path / "graph.json"
    graphs.write(graph, path, {(2, 1): Privacy("ln 2"), (2, 3): Privacy("1/3", "0.1")})
    assert by_edge(graph, graphs.read(path).privacy) == [Privacy("ln 2"), Privacy("1/3", "0.1")]
    graphs.write(graph, path, {(2, 1): Privacy("ln 2"), (2, 3): Privacy("ln 2")})
    assert graphs.read(path).privacy == Privacy("ln 2")
    graphs.write(graph, path, ([0.5, 1.5], 0.25))
    assert by_edge(graph, graphs.read(path).privacy) == [[0.5, 0.25], [1.5, 0.25]]


def test_a_repeated_edge_counts_once_and_keeps_its_budget(tmp_path: Path) -> None:
    """Budgets follow the distinct edges when a JSON file lists an edge in both directions."""
    document = {"schema": "tinct/graph@1", "colors": [0, 0, 1], "edges": [[1, 2], [0, 1], [2, 1]]}
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({**document, "privacy": {"epsilon": [1, 2, 1]}}))
    back = graphs.read(path)
    assert back.graph.ends.tolist() == [[1, 2], [0, 1]]
    assert by_edge(back.graph, back.privacy) == [[1.0, 0.0], [2.0, 0.0]]


@given(st.data(), st.sampled_from(SUFFIXES[1:]))
def test_text_formats_keep_the_text_of_labels_or_refuse(folder: Path, data: Any, suffix: str) -> None:
    """An edge list or GraphML comes back with the same texts, edges and budgets, unless it was refused."""
    graph = data.draw(colored_graphs())
    privacy = data.draw(
        st.one_of(st.none(), pairs, st.lists(pairs, min_size=len(graph.ends), max_size=len(graph.ends)))
    )
    if isinstance(privacy, list):
        privacy = dict(zip(graph.edges, privacy, strict=True))
    path = folder / f"text{suffix}"
    refused = outcome(lambda: graphs.write(graph, path, privacy))
    if refused is not None:
        assert isinstance(refused, ParameterError)
        assert "write JSON" in str(refused)
        return
    back = graphs.read(path)
    assert [[text(u), text(v)] for u, v in back.graph.edges] == [[text(u), text(v)] for u, v in graph.edges]
    colors = {text(vertex): text(color) for vertex, color in graph.colors.items()}
    assert {text(vertex): text(color) for vertex, color in back.graph.colors.items()} == colors
    wanted = list(privacy.values()) if isinstance(privacy, dict) else [privacy] * len(graph.ends)
    assert by_edge(back.graph, back.privacy) == wanted
    if suffix == ".graphml":
        assert [text(output) for output in back.graph.outputs] == [text(output) for output in graph.outputs]
        assert list(map(text, back.graph.vertices)) == list(map(text, graph.vertices))


def text(label: Any) -> str:
    return json.dumps(label) if isinstance(label, tuple) else str(label)


@given(
    colored_graphs(names=st.integers(-99, 99), answers=st.sampled_from(["blue", "red", "green"])),
    st.sampled_from(SUFFIXES),
)
def test_ordinary_graphs_survive_every_format(folder: Path, graph: DatasetGraph, suffix: str) -> None:
    """Integer vertices and named colours survive every format with their types."""
    path = folder / f"plain{suffix}"
    if not len(graph.ends) and suffix in (".csv", ".tsv"):
        with pytest.raises(ParameterError, match="an edge list cannot hold it"):
            graphs.write(graph, path)
        return
    graphs.write(graph, path)
    back = graphs.read(path).graph
    assert back.edges == graph.edges
    assert {vertex: typed(color) for vertex, color in back.colors.items()} == {
        v: typed(c) for v, c in graph.colors.items()
    }


def test_many_distinct_budgets_are_read_as_floats(tmp_path: Path) -> None:
    """Up to 256 distinct budgets stay exact classes; more become arrays along the edges."""
    for count, form in ((256, EdgeClasses), (257, EdgePrivacy)):
        graph = graphs.line(count, 1)
        graphs.write(graph, tmp_path / "graph.csv", EdgePrivacy(np.arange(count) / 8))
        privacy = graphs.read(tmp_path / "graph.csv").privacy
        assert isinstance(privacy, form)
        values = [pair.epsilon for pair in by_edge(graph, privacy)] if form is EdgeClasses else privacy.epsilon.tolist()
        assert values == (np.arange(count) / 8).tolist()


def test_an_edge_list_may_be_written_by_hand(tmp_path: Path) -> None:
    """Columns in any order, blanks around cells, blank lines, a byte order mark and CRLF are all fine."""
    (tmp_path / "hand.CSV").write_bytes(
        b"\xef\xbb\xbftarget_color, source,target,source_color,epsilon\r\n\r\n"
        b'red,1, 2,blue,ln 2\r\nred,"[0, 1]",2,blue,0.5\r\n'
    )
    found = graphs.read(tmp_path / "hand.CSV")
    assert found.graph.colors == {1: "blue", 2: "red", (0, 1): "blue"}
    assert by_edge(found.graph, found.privacy) == [Privacy("ln 2"), Privacy("0.5")]


def test_pieces_must_be_confirmed(tmp_path: Path) -> None:
    """A graph in pieces is refused with the path in front, and read when confirmed."""
    graph = DatasetGraph([(0, 1), (2, 3)], lambda v: v % 2, disconnected=True)
    for suffix in SUFFIXES:
        path = tmp_path / f"pieces{suffix}"
        graphs.write(graph, path)
        with pytest.raises(ParameterError, match=r"pieces\.\w+: the graph is in 2 pieces"):
            graphs.read(path)
        assert graphs.read(path, disconnected=True).graph.edges == graph.edges


# NetworkX


def test_networkx_writes_what_tinct_reads(tmp_path: Path) -> None:
    """GraphML from NetworkX is read with typed colours, other attributes, and budgets on the edges."""
    for colors in (("blue", "red"), (0, 1), (False, True), (0.5, 1.5), ("1", "<&>")):
        graph = nx.Graph(title="a graph")
        graph.add_node("a b", color=colors[0], weight=3)
        graph.add_node(7, color=colors[1], weight=4)
        graph.add_edge("a b", 7, epsilon=0.5, delta=0.01, label="x")
        for prettyprint in (True, False):
            nx.write_graphml(graph, tmp_path / "graph.graphml", prettyprint=prettyprint)
            found = graphs.read(tmp_path / "graph.graphml")
            assert typed(tuple(found.graph.colors.items())) == typed((("a b", colors[0]), (7, colors[1])))
            assert found.privacy == Privacy("0.5", "0.01")


def test_networkx_reads_what_tinct_writes(tmp_path: Path) -> None:
    """GraphML from tinct is read by NetworkX with the same nodes, colours and edges."""
    graph = graphs.hypercube(3, lambda bits: sum(bits) > 1)
    graphs.write(graph, tmp_path / "cube.graphml", Privacy("ln 2"))
    found = nx.read_graphml(tmp_path / "cube.graphml")
    assert {json.dumps(vertex): color for vertex, color in graph.colors.items()} == dict(found.nodes(data="color"))
    assert {frozenset(map(json.dumps, edge)) for edge in graph.edges} == set(map(frozenset, found.edges))
    assert {value for *_, value in found.edges(data="epsilon")} == {"ln 2"}


def test_graphml_defaults_and_other_elements_are_understood(tmp_path: Path) -> None:
    """A key's default colours every node without data of its own; prefixes, descriptions and comments do no harm."""
    (tmp_path / "graph.graphml").write_text(
        '<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns"><!-- drawn by hand -->'
        '<g:key id="c" for="node" attr.name="color" attr.type="string"><g:default>no</g:default></g:key>'
        '<g:graph><g:desc>a graph</g:desc><g:node id="a"/><g:node id="b"><g:data key="c">yes</g:data></g:node>'
        '<g:edge source="b" target="a"/></g:graph></g:graphml>'
    )
    found = graphs.read(tmp_path / "graph.graphml").graph
    assert found.colors == {"a": "no", "b": "yes"}
    assert found.edges == [("b", "a")]


def test_graphml_keys_elsewhere_declare_nothing(tmp_path: Path) -> None:
    """A <key> that does not stand directly in <graphml> is another program's, and so is its default."""
    (tmp_path / "graph.graphml").write_text(
        xml(f"<key id='c'><default>maybe</default></key>{NODES}<node id='d'/><edge source='a' target='b'/>")
    )
    with pytest.raises(FileError, match="node 'd' has no color"):
        graphs.read(tmp_path / "graph.graphml")
    (tmp_path / "bare.graphml").write_text("<graphml><graph><key><default>x</default></key></graph></graphml>")
    with pytest.raises(FileError, match="no nodes"):
        graphs.read(tmp_path / "bare.graphml")


def test_graphml_keeps_the_type_of_colors(tmp_path: Path) -> None:
    """Truth values, integers, floats, text and orders come back from GraphML as what they were, in their order."""
    for colors in ((True, False), (2, 1), (0.5, -1e-9), ("1", "x"), ((1, "b"), ("b", 1))):
        graph = DatasetGraph([(0, 1)], dict(enumerate(colors)))
        graphs.write(graph, tmp_path / "graph.graphml")
        assert_same(graph, graphs.read(tmp_path / "graph.graphml").graph)


# broken files


def document(**changes: Any) -> str:
    fields = {
        "schema": "tinct/graph@1",
        "outputs": ["no", "yes"],
        "vertices": ["a", "b"],
        "colors": ["no", "yes"],
        "edges": [[0, 1]],
    }
    return json.dumps({name: value for name, value in {**fields, **changes}.items() if value is not ...})


HEADER = "source,target,source_color,target_color"
XML = '<graphml><key id="c" for="node" attr.name="color"/><key id="e" for="edge" attr.name="epsilon"/>{}</graphml>'
NODES = '<node id="a"><data key="c">no</data></node><node id="b"><data key="c">yes</data></node>'


def xml(inside: str, attributes: str = "") -> str:
    return XML.format(f"<graph {attributes}>{inside}</graph>")


BAD_FILES = [
    # the file itself
    (".json", b"\x1f\x8b\x08" + gzip.compress(b"{}"), "gzip"),
    (".csv", gzip.compress(HEADER.encode()), "gzip"),
    (".json", bytes(range(128, 256)), "line 1: this is not UTF-8"),
    (".csv", HEADER.encode() + b"\na,b,\xff,d\n", "line 2: this is not UTF-8"),
    (".json", document().encode("utf-16"), "not UTF-8"),
    (".txt", HEADER, ".json, .csv, .tsv, .graphml, got '.txt'"),
    ("", HEADER, "got 'no suffix'"),
    (".json", "", "empty"),
    (".json", " \n", "empty"),
    (".csv", "", "empty"),
    (".graphml", "", "empty"),
    # JSON
    (".json", document()[:-5], "line 1: not JSON"),
    (".json", '{"schema":\n tinct}', "line 2: not JSON"),
    (".json", HEADER, "not JSON"),
    (".json", document().replace("[[0, 1]]", "[[0, NaN]]"), "NaN"),
    (".json", document().replace("[[0, 1]]", "[[0, -Infinity]]"), "-Infinity"),
    (".json", document().replace("[[0, 1]]", "[[0, 1e999]]"), "1e999"),
    (".json", document().replace("[[0, 1]]", f"[[0, {'9' * 401}]]"), "more than 400 digits"),
    (".json", document().replace("[[0, 1]]", f"[[0, 0.{'9' * 300}{'e-'}{'0' * 300}]]"), "more than 400 digits"),
    (".json", document()[:-1] + ', "edges": []}', "'edges' is given twice"),
    (".json", '{"schema": ' + "[" * 65 + "]" * 65 + "}", "nested deeper than 64"),
    (".json", '{"a":' * 100_000, "nested deeper than 64"),
    (".json", "[" * 1_000_000 + "]" * 1_000_000, "nested deeper than 64"),
    (".json", document(vertices=["a", "\ud800"]), "surrogate"),
    (".json", "[]", "field 'schema'"),
    (".json", "{}", "field 'schema'"),
    (".json", document(schema="tinct/graph@2"), "schema must be 'tinct/graph@1', got 'tinct/graph@2'"),
    (".json", document(schema=["tinct/graph@1"]), "schema must be"),
    (".json", document(weights=[1]), "unknown field 'weights'"),
    (".json", document(colors=...), "no field 'colors'"),
    (".json", document(edges=...), "no field 'edges'"),
    (".json", document(edges={}), "edges must be a list"),
    (".json", document(edges=[[0, 2]]), "edges[0]: expected two positions of vertices from 0 to 1, got [0, 2]"),
    (".json", document(edges=[[0, 1], [0, -1]]), "edges[1]"),
    (".json", document(edges=[[0, True]]), "edges[0]"),
    (".json", document(edges=[[0, 1.0]]), "edges[0]"),
    (".json", document(edges=[["a", "b"]]), "edges[0]"),
    (".json", document(edges=[[0, 1, 1]]), "edges[0]"),
    (".json", document(edges=[[0, 1], [1, 1]]), "edges[1]: vertex 'b' is its own neighbour"),
    (".json", document(colors=[]), "colors is empty"),
    (".json", document(colors=["no"]), "2 vertices, but 1 colors"),
    (".json", document(colors=["no", None]), "colors[1]"),
    (".json", document(colors=["no", {}]), "colors[1]"),
    (".json", document(colors=["no", [{}]]), "colors[1]"),
    (".json", document(vertices=["a", "a"]), "vertices[1]: 'a' is listed twice"),
    (".json", document(vertices=["a", None]), "vertices[1]"),
    (".json", document(vertices={"start": 0, "count": 10**18}), "vertices, but 2 colors"),
    (".json", document(vertices={"start": 0.5, "count": 2}), "vertices.start must be a whole number"),
    (".json", document(vertices={"start": 0}), "vertices has no field 'count'"),
    (".json", document(vertices="ab"), "vertices must be a list"),
    (".json", document(vertices=[0, json.loads("[" * 20 + "]" * 20)]), "vertices[1]"),
    (".json", document(privacy=1), "privacy must be an object"),
    (".json", document(privacy={"epsilon": "nan"}), "privacy: epsilon must be a number"),
    (".json", document(privacy={"epsilon": "1e400"}), "privacy: epsilon must be a number"),
    (".json", document(privacy={"epsilon": 10**399}), "privacy: epsilon must be a number"),
    (".json", document(privacy={"epsilon": "1e5000000"}), "exponents"),
    (".json", document(privacy={"epsilon": f"{'1' * 70}/{'0' * 70}"}), "divide by zero"),
    (".json", document(privacy={"epsilon": f"ln {'0' * 70}/{'1' * 70}"}), "logarithm of a positive"),
    (".json", document(privacy={"epsilon": True}), "privacy: epsilon must be a number"),
    (".json", document(privacy={"epsilon": 1, "delta": 1}), "privacy: delta must be a number in [0, 1)"),
    (".json", document(privacy={"delta": 0}), "no field 'epsilon'"),
    (".json", document(privacy={"epsilon": 1, "rho": 2}), "unknown field 'rho'"),
    (".json", document(privacy={"mu": -1}), "mu must be"),
    (".json", document(privacy={"mu": "1"}), "privacy.mu must be a number"),
    (".json", document(privacy={"mu": 10**399}), "privacy.mu must be a number"),
    (".json", document(privacy={"epsilon": [1, 2]}), "privacy.epsilon has 2 entries for 1 edges"),
    (".json", document(privacy={"epsilon": ["1"]}), "privacy.epsilon[0] must be a number"),
    (".json", document(privacy={"epsilon": [-1]}), "privacy: epsilon must be a number in [0, 700]"),
    (".json", document(privacy={"epsilon": [1], "delta": [10**399]}), "privacy.delta[0] must be a number"),
    (
        ".json",
        document(edges=[[0, 1], [1, 0]], privacy={"epsilon": [1, 2]}),
        "edges[1]: edge ('b', 'a') was given another budget at edges[0]",
    ),
    (".json", document(privacy={"classes": [], "numbers": []}), "privacy.numbers has 0 entries"),
    (
        ".json",
        document(edges=[], vertices=["a"], colors=["no"], privacy={"classes": [], "numbers": []}),
        "classes is empty",
    ),
    (
        ".json",
        document(privacy={"classes": [{"epsilon": 1}], "numbers": [1]}),
        "privacy.numbers[0]: there is no class number 1",
    ),
    (
        ".json",
        document(privacy={"classes": [{"epsilon": 1}], "numbers": [0.0]}),
        "privacy.numbers[0] must be a whole number",
    ),
    (".json", document(privacy={"classes": [{}], "numbers": [0]}), "privacy.classes[0] has no field 'epsilon'"),
    # edge lists
    (".csv", document(), "header: unknown column"),
    (".csv", HEADER, "a header but no edges"),
    (".csv", HEADER + "\n", "a header but no edges"),
    (".csv", "source,target,source_color\na,b,x", "column 'target_color' is missing"),
    (".csv", HEADER + ",weight\na,b,x,y,1", "unknown column 'weight'"),
    (".csv", HEADER + ",source\na,b,x,y,a", "column 'source' is named twice"),
    (".csv", HEADER + ",delta\na,b,x,y,0", "needs a column 'epsilon'"),
    (".csv", HEADER + "\na,b,x", "line 2: 3 cells, but the header names 4"),
    (".csv", HEADER + "\na,b,x,y\n\na,b,x,y,z", "line 4: 5 cells"),
    (".csv", HEADER + "\na,b,x,\n", "line 2: the cell under 'target_color' is empty"),
    (".csv", HEADER + "\n,b,x,y\n", "line 2: the cell under 'source' is empty"),
    (".csv", HEADER + "\na,a,x,x", "line 2: vertex 'a' is its own neighbour"),
    (".csv", HEADER + "\na,b,x,y\nb,c,x,x", "line 3: vertex 'b' has the color 'x' here, but 'y' on line 2"),
    (".csv", HEADER + ",epsilon\na,b,x,y,1\nb,a,y,x,2", "line 3: edge ('b', 'a') was given another budget at line 2"),
    (".csv", HEADER + ",epsilon\na,b,x,y,nan", "line 2: epsilon must be a number"),
    (".csv", HEADER + ",epsilon\na,b,x,y,-1", "line 2: epsilon must be a number in [0, 700]"),
    (".csv", HEADER + ",epsilon,delta\na,b,x,y,1,2", "line 2: delta must be a number in [0, 1)"),
    (".csv", HEADER + '\na,"b,x,y', "line 2: not a table"),
    (".csv", HEADER + '\na,"b"c,x,y', "line 2: not a table"),
    (".csv", HEADER + f"\n{'a' * 200_000},b,x,y", "line 2: not a table"),
    (".csv", HEADER + '\n"[{}]",b,x,y', "line 2: a label must be text"),
    (".csv", HEADER + '\n"[NaN]",b,x,y', "line 2: a label must be text"),
    (".csv", HEADER.replace(",", "\t") + "\na\tb\tx\ty", "header: unknown column"),
    (".tsv", HEADER + "\na,b,x,y", "header: unknown column"),
    # GraphML
    (".graphml", document(), "line 1: not XML"),
    (".graphml", xml(NODES)[:-4], "not XML"),
    (".graphml", "<svg></svg>", "expected <graphml>, got <svg>"),
    (".graphml", "<graphml></graphml>", "there is no <graph>"),
    (".graphml", xml(""), "there are no nodes"),
    (".graphml", '<!DOCTYPE x [<!ENTITY a "b">]>\n' + xml(NODES), "line 1: a document type or entity"),
    (
        ".graphml",
        '<?xml version="1.0"?>\n<!DOCTYPE x SYSTEM "file:///etc/passwd">' + xml(NODES),
        "line 2: a document type",
    ),
    (".graphml", xml('<node id="a"/>'), "line 1: node 'a' has no color"),
    (".graphml", xml('<node id="a"><data key="c"></data></node>'), "node 'a' has no color"),
    (".graphml", xml('<node><data key="c">x</data></node>'), "a node needs an id"),
    (".graphml", xml(NODES + NODES), "node 'a' is given twice"),
    (".graphml", xml(NODES + '\n<edge source="a" target="z"/>'), "line 2: the target 'z' of this edge is not a node"),
    (".graphml", xml(NODES + '<edge source="a"/>'), "an edge needs a target"),
    (".graphml", xml(NODES + '<edge source="a" target="a"/>'), "vertex 'a' is its own neighbour"),
    (".graphml", xml(NODES + '<edge source="a" target="b" directed="true"/>'), "this edge is directed"),
    (".graphml", xml(NODES, 'edgedefault="directed"'), "the graph is directed"),
    (".graphml", xml(NODES + "<hyperedge/>"), "hyperedges"),
    (".graphml", xml(f'<node id="x"><graph>{NODES}</graph></node>'), "a second <graph>"),
    (".graphml", xml('<node id="a"><edge/></node>'), "must stand directly in the <graph>"),
    (".graphml", xml('<node id="a"><data key="q">x</data></node>'), "key 'q' is not declared"),
    (".graphml", '<graphml><key id="c"/><key id="c"/></graphml>', "key 'c' is declared twice"),
    (".graphml", xml('<node id="[{}]"><data key="c">x</data></node>'), "a label must be text"),
    (
        ".graphml",
        xml(NODES).replace('name="color"', 'name="color" attr.type="long"'),
        "expected a whole number, got 'no'",
    ),
    (
        ".graphml",
        xml(NODES).replace('name="color"', 'name="color" attr.type="double"'),
        "expected a number such as 0.25, got 'no'",
    ),
    (
        ".graphml",
        xml(NODES).replace('name="color"', 'name="color" attr.type="boolean"'),
        "expected true or false, got 'no'",
    ),
    (
        ".graphml",
        xml(NODES + '<edge source="a" target="b"><data key="e">inf</data></edge>'),
        "epsilon must be a number",
    ),
    (
        ".graphml",
        xml(NODES + '<edge source="a" target="b"><data key="e">1</data></edge><edge source="a" target="b"/>'),
        "this edge has no epsilon",
    ),
    (
        ".graphml",
        xml(NODES + '<edge source="a" target="b"><data key="e">1</data></edge>').replace("epsilon", "delta"),
        "a delta but no epsilon",
    ),
    (
        ".graphml",
        xml(NODES + '<data key="c">{}</data>').replace("node", "all", 1).replace("color", "outputs", 1),
        "node 'a' has no color",
    ),
    (
        ".graphml",
        xml(NODES + '<data key="e">{}</data>').replace("edge", "graph", 1).replace("epsilon", "outputs", 1),
        "outputs must be a JSON list",
    ),
]


@pytest.mark.parametrize(
    ("suffix", "content", "problem"),
    [pytest.param(*case, id=f"{case[0]}-{number}") for number, case in enumerate(BAD_FILES)],
)
def test_broken_files_are_refused_by_name(tmp_path: Path, suffix: str, content: str | bytes, problem: str) -> None:
    """A broken file is a FileError that names the file, the place and the problem."""
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileError) as caught:
        graphs.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 400


def test_faults_of_the_graph_keep_their_class(tmp_path: Path) -> None:
    """A file in order that describes no dataset graph is the library's own ParameterError, with the path in front."""
    path = tmp_path / "graph.json"
    for change, problem in (
        ({"edges": []}, "the graph is in 2 pieces"),
        ({"outputs": ["no"]}, "outputs must list every color once"),
        ({"colors": ["no", ["yes", "no"]]}, "every order must list the same answers"),
    ):
        path.write_text(document(**change))
        with pytest.raises(ParameterError) as caught:
            graphs.read(path)
        assert str(caught.value).startswith(f"{path}: {problem}")


def test_hostile_json_is_refused_quickly() -> None:
    """Deep nesting, endless digits and unclosed strings cost time in proportion to their length only."""
    started = time.perf_counter()
    for hostile in ("[" * 2_000_000, '[{"":' * 300_000, "9" * 2_000_000, '["' + '\\"' * 1_000_000, '{"a":1,' * 1000):
        with pytest.raises(FileError):
            _files.strict_json(hostile, "hostile.json")
    assert time.perf_counter() - started < 5


def test_brackets_in_strings_are_not_nesting() -> None:
    """Only brackets outside strings count, whatever quotes and backslashes the strings hold."""
    value = ["[" * 100, '\\"[{' * 40, "\\", {"[[": "]]"}]
    assert _files.strict_json(json.dumps(value), "x.json") == value
    deep = json.loads("[" * 64 + "]" * 64)
    assert _files.strict_json(json.dumps(deep), "x.json") == deep
    assert _files.strict_json("[1e-400, 1e300, " + "1" * 400 + "]", "x.json") == [0.0, 1e300, int("1" * 400)]


def test_nan_is_never_written() -> None:
    """JSON has no NaN and no infinities, and ours does not pretend to."""
    for value in (float("nan"), float("-inf")):
        with pytest.raises(ParameterError, match="NaN and infinities cannot be written"):
            _files.json_text({"value": [value]})


def test_missing_files_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    """What is not a regular file, or not there, is a FileError; what is no path is a ParameterError."""
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    for name, problem in (
        ("none.json", "no such file"),
        ("folder.json", "a folder"),
        ("pipe.json", "not a regular file"),
    ):
        with pytest.raises(FileError, match=f"{name}: .*{problem}"):
            graphs.read(tmp_path / name)
    with pytest.raises(FileError, match="cannot be read"):
        graphs.read("a\0b.json")
    for nonsense in (3, None, b"graph.json"):
        with pytest.raises(ParameterError, match="a path must be text or a Path"):
            graphs.read(nonsense)
        with pytest.raises(ParameterError, match="a path must be text or a Path"):
            _files.read_bytes(nonsense)


def test_large_files_are_refused(tmp_path: Path) -> None:
    """A file of exactly the limit is read; one byte more is an error that states the limit."""
    path = tmp_path / "large.txt"
    path.write_bytes(b"x" * 11)
    assert _files.read_bytes(path, 11) == b"x" * 11
    with pytest.raises(FileError, match=r"large\.txt: the file is larger than 10 bytes"):
        _files.read_bytes(path, 10)


def test_unreadable_files_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the operating system becomes a FileError with its reason."""
    path = tmp_path / "graph.json"
    path.write_text(document())
    monkeypatch.setattr(_files.loading, "open", refuse(PermissionError(13, "Permission denied")), raising=False)
    with pytest.raises(FileError, match=r"graph\.json: cannot be read: Permission denied"):
        graphs.read(path)


def refuse(error: BaseException) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


# what a format cannot hold


@pytest.mark.parametrize(
    ("edges", "suffix", "problem"),
    [
        ([(1, "1")], ".csv", "look the same in a cell"),
        ([(True, "True")], ".graphml", "look the same in a cell"),
        ([("", "b")], ".csv", "cannot be a cell"),
        ([(" a", "b")], ".tsv", "cannot be a cell"),
        ([("[1]", "b")], ".csv", "would be read back from a cell as"),
        ([("a\x00", "b")], ".graphml", "XML cannot hold"),
        ([("a" * 200_000, "b")], ".csv", "cannot be a cell"),
        ([("\ud800", "b")], ".json", "surrogate"),
        ([(frozenset("a"), "b")], ".json", "a label must be text"),
        ([(None, "b")], ".json", "a label must be text"),
        ([((float("nan"),), "b")], ".json", "a label must be text"),
        ([(10**500, "b")], ".json", "an integer of 1,661 bits"),
        ([("a", "b")], ".txt", "the name must end in"),
    ],
)
def test_labels_that_would_be_lost_are_refused(tmp_path: Path, edges: Any, suffix: str, problem: str) -> None:
    """A label that a format cannot hold is an error before anything is written."""
    graph = DatasetGraph(edges, lambda vertex: vertex == "b")
    with pytest.raises(TinctError) as caught:
        graphs.write(graph, tmp_path / f"graph{suffix}")
    assert problem in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_privacy_that_would_be_lost_is_refused(tmp_path: Path) -> None:
    """Privacy that a format cannot hold is a ParameterError, never left out."""
    graph = graphs.line(2, 1)
    for privacy, suffix, problem in (
        (TradeOff(lambda a: 1 - a), ".json", "TradeOff cannot be written"),
        (GaussianDP(1), ".csv", "GaussianDP cannot be written as epsilon and delta; write JSON"),
        (EdgePrivacy([1, 2, 3]), ".json", "budgets for 3 edges"),
        (EdgePrivacy([1, 2, 3, 4]), ".json", "different budgets in its two directions"),
        ({(1, 2): Privacy(1)}, ".json", "no privacy is given for edge"),
        (Privacy(Fraction(1, 10**1001)), ".json", "more than 1,000 digits"),
        (0.5, ".json", "privacy must be a Privacy"),
    ):
        with pytest.raises(ParameterError, match=problem):
            graphs.write(graph, tmp_path / f"graph{suffix}", privacy)
    with pytest.raises(ParameterError, match="no edges to write the privacy on"):
        graphs.write(graphs.line(1, 0), tmp_path / "graph.graphml", Privacy(1))
    with pytest.raises(ParameterError, match="only a DatasetGraph"):
        graphs.write(graphs.neighbors(lambda v: [v + 1], lambda v: v > 0), tmp_path / "graph.json")
    assert list(tmp_path.iterdir()) == []


# all or nothing


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failing_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: Any
) -> None:
    """A full disk or Ctrl-C leaves the old file as it was and no other file beside it."""
    path = tmp_path / "graph.json"
    path.write_text("old")
    monkeypatch.setattr(os, call, refuse(error))
    with pytest.raises(FileError if isinstance(error, OSError) else KeyboardInterrupt) as caught:
        graphs.write(graphs.line(1, 1), path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    if isinstance(error, OSError):
        assert str(caught.value) == f"{path}: cannot be written: No space left on device"


def test_writing_where_nothing_can_be_written_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing folder, a folder in place of the file, protection, and text that is not text are FileErrors."""
    graph = graphs.line(1, 1)
    with pytest.raises(FileError, match=r"graph\.json: the folder .*nowhere does not exist: create it first"):
        graphs.write(graph, tmp_path / "nowhere" / "graph.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FileError, match=r"folder\.json: this is a folder"):
        graphs.write(graph, tmp_path / "folder.json")
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(FileError, match=r"pipe\.json: this is not a regular file"):
        graphs.write(graph, tmp_path / "pipe.json")
    with pytest.raises(FileError, match="cannot be written"):
        _files.write_atomically("a\0b", "text")
    with pytest.raises(FileError, match="character 2 is half a surrogate pair"):
        _files.write_atomically(tmp_path / "text", "ab\ud800")
    with pytest.raises(ParameterError, match="a path must be text"):
        _files.write_atomically(3, "text")  # type: ignore[arg-type] # that is the point
    monkeypatch.setattr(_files.saving, "open", refuse(PermissionError(13, "Permission denied")), raising=False)
    with pytest.raises(FileError, match=r"new\.json: cannot be written: Permission denied"):
        graphs.write(graph, tmp_path / "new.json")


def test_a_protected_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be written is not replaced either, though the folder would allow it."""
    path = tmp_path / "graph.json"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match="write-protected"):
        graphs.write(graphs.line(1, 1), path)
    assert path.read_text() == "old"


def test_a_replaced_file_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    """Permissions of the old file stay, and a symbolic link still points to the file that was written."""
    path, link = tmp_path / "graph.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    graphs.write(graphs.line(1, 1), link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(graphs.read(path).graph) == 2


# cells


@pytest.mark.parametrize(
    ("plain", "guarded"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-cmd", "'-cmd"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("'=x", "''=x"),
        ("'-5", "''-5"),
        ("-1.5e-3", "-1.5e-3"),
        ("+2", "+2"),
        ("-.5", "-.5"),
        ("--1", "'--1"),
        ("-1-1", "'-1-1"),
        ("a=b", "a=b"),
        ("it's", "it's"),
        ("'a", "'a"),
        ("", ""),
    ],
)
def test_formulas_are_guarded(plain: str, guarded: str) -> None:
    """A cell that a spreadsheet would run gets an apostrophe; plain numbers and other text stay."""
    assert _files.guard_cell(plain) == guarded
    assert _files.unguard_cell(guarded) == plain


@given(st.text(alphabet="'=+-@\t\r\n1.ea ", max_size=8))
def test_guards_come_off_again(cell: str) -> None:
    """Reading takes off what writing put on, and no guarded cell begins like a formula."""
    guarded = _files.guard_cell(cell)
    assert _files.unguard_cell(guarded) == cell
    assert _files.is_number(guarded) or not guarded.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_formulas_as_labels_survive_an_edge_list(tmp_path: Path) -> None:
    """Labels and colours that look like formulas are guarded in the file and themselves again when read."""
    graph = DatasetGraph([("=1+1", "-x")], {"=1+1": "@red", "-x": "'=blue"})
    for suffix in (".csv", ".tsv"):
        graphs.write(graph, tmp_path / f"graph{suffix}")
        cells = (tmp_path / f"graph{suffix}").read_text().splitlines()[1].split("," if suffix == ".csv" else "\t")
        assert cells == ["'=1+1", "'-x", "'@red", "''=blue"]
        assert graphs.read(tmp_path / f"graph{suffix}").graph.colors == graph.colors


# mechanisms


@given(st.data())
def test_mechanisms_come_back_digit_by_digit(folder: Path, data: Any) -> None:
    """A mechanism comes back from JSON with the same graph, privacy and floats."""
    graph = data.draw(colored_graphs())
    privacy = data.draw(budgets(graph))
    weights = data.draw(
        st.lists(st.floats(0.01, 1), min_size=len(graph) * len(graph.outputs), max_size=len(graph) * len(graph.outputs))
    )
    table = np.array(weights).reshape(len(graph), -1)
    mechanism = Mechanism(graph, table / table.sum(axis=1, keepdims=True), privacy)
    mechanism.to_json(folder / "mechanism.json")
    back = Mechanism.from_json(folder / "mechanism.json")
    assert_same(graph, back.graph)
    assert np.array_equal(back.table, mechanism.table)
    assert by_edge(graph, back.privacy) == by_edge(graph, privacy)


def test_a_tradeoff_is_left_out_of_a_mechanism_file(tmp_path: Path) -> None:
    """A function cannot be written, so a mechanism for a TradeOff comes back without privacy."""
    graph, tradeoff = graphs.line(1, 1), TradeOff(lambda a: 1 - a)
    for privacy in (tradeoff, EdgeClasses([tradeoff, Privacy(1)], [0]), {(1, 2): tradeoff}):
        Mechanism(graph, [[0.5, 0.5]] * 2, privacy).to_json(tmp_path / "mechanism.json")
        assert json.loads((tmp_path / "mechanism.json").read_text())["privacy"] is None
        assert read_mechanism(tmp_path / "mechanism.json").privacy is None


def test_a_mechanism_on_pieces_comes_back(tmp_path: Path) -> None:
    """The pieces of a graph were confirmed when its mechanism was made, not again when it is read."""
    graph = DatasetGraph([(0, 1), (2, 3)], lambda v: v % 2, disconnected=True)
    balanced(graph, Privacy("ln 2")).to_json(tmp_path / "mechanism.json")
    assert Mechanism.from_json(tmp_path / "mechanism.json").privacy == Privacy("ln 2")


GRAPH = {name: value for name, value in json.loads(document()).items() if name != "schema"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"table": [[1, 0]]}, "the table must have 2 rows"),
        ({"table": [[1, 0], [0.5, 0.4]]}, "row 'b' is not a distribution"),
        ({"table": [[1, 0], [1]]}, "table[1] must be a list of 2"),
        ({"table": [[1, 0], 1]}, "table[1] must be a list"),
        ({"table": [[1, 0], ["0", "1"]]}, "table[1]: a probability must be a number in [0, 1], got '0'"),
        ({"table": [[1, 0], [True, False]]}, "table[1]: a probability"),
        ({"table": [[1, 0], [-0.5, 1.5]]}, "table[1]: a probability"),
        ({"table": [[1, 0], [1e308, 1e308]]}, "table[1]: a probability"),
        ({"table": [[1, 0], [10**399, 0]]}, "table[1]: a probability"),
        ({"table": "no"}, "table must be a list of rows"),
        ({"table": ...}, "no field 'table'"),
        ({"graph": []}, "graph must be an object"),
        ({"graph": {**GRAPH, "schema": "tinct/graph@1"}}, "graph has an unknown field 'schema'"),
        ({"graph": {**GRAPH, "edges": [[0, 5]]}}, "edges[0]"),
        ({"verified": True}, "unknown field 'verified'"),
        ({"schema": "tinct/graph@1"}, "schema must be 'tinct/mechanism@1'"),
        ({"privacy": {"epsilon": -1}}, "privacy: epsilon must be"),
    ],
)
def test_broken_mechanisms_are_refused(tmp_path: Path, changes: Any, problem: str) -> None:
    """Nothing in a mechanism file is believed: every part is checked and the error names the file."""
    fields = {"schema": "tinct/mechanism@1", "graph": GRAPH, "privacy": None, "table": [[1, 0], [0, 1]], **changes}
    path = tmp_path / "mechanism.json"
    path.write_text(json.dumps({name: value for name, value in fields.items() if value is not ...}))
    with pytest.raises((FileError, ParameterError)) as caught:
        Mechanism.from_json(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


# tables


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_tables_come_back(tmp_path: Path, suffix: str) -> None:
    """A table comes back digit by digit, also with formulas and column names as labels and with orders."""
    cube = graphs.hypercube(3, lambda bits: sum(bits) > 1)
    odd = DatasetGraph([("=x", "vertex"), ("vertex", "color")], {"=x": "color", "vertex": "vertex", "color": "color"})
    orders = DatasetGraph([(0, 1)], {0: ("a", "b"), 1: ("b", "a")})
    for graph in (cube, odd, orders, graphs.line(2, 2)):
        table = np.random.default_rng(1).dirichlet(np.ones(len(graph.outputs)), len(graph))
        write_table(Mechanism(graph, table), tmp_path / f"table{suffix}")
        assert np.array_equal(read_table(tmp_path / f"table{suffix}", graph), table)


def test_a_table_looks_like_this(tmp_path: Path) -> None:
    """The header names vertex, color and the outputs; formulas are guarded."""
    graph = DatasetGraph([("=x", (0, 1))], {"=x": "+no", (0, 1): "yes, please"})
    Mechanism(graph, [[0.75, 0.25], [0.1, 0.9]]).to_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == (
        'vertex,color,\'+no,"yes, please"\n\'=x,\'+no,0.75,0.25\n"[0, 1]","yes, please",0.1,0.9\n'
    )


def test_a_table_may_be_shuffled_and_without_colors(tmp_path: Path) -> None:
    """Rows and columns come in any order, and colours may be left out."""
    (tmp_path / "table.csv").write_text("red,vertex,blue\n0.2,2,0.8\n1,1,0\n")
    assert read_table(tmp_path / "table.csv", graphs.line(1, 1)).tolist() == [[0, 1], [0.8, 0.2]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the file is empty"),
        ("vertex,blue,red\n", "there is no row for vertex 1"),
        ("vertex,blue,red\n1,1,0", "there is no row for vertex 2"),
        ("vertex,blue,red\n1,1,0\n1,1,0", "line 3: vertex '1' is given twice, first on line 2"),
        ("vertex,blue,red\n1,1,0\n3,1,0", "line 3: '3' is not a vertex of the graph"),
        ("vertex,blue,red\n1,1,nan\n2,1,0", "line 2: expected a number such as 0.25, got 'nan'"),
        ("vertex,blue,red\n1,1e400,0\n2,1,0", "line 2: expected a number such as 0.25"),
        ("vertex,blue,red\n1,1_0,0\n2,1,0", "line 2: expected a number such as 0.25"),
        ("vertex,blue,red\n1,-1,2\n2,1,0", "line 2: a probability must be a number in [0, 1], got -1"),
        ("vertex,blue,red\n1,0.5,0.4\n2,1,0", "row 1 is not a distribution"),
        ("vertex,blue\n1,1", "header: column 'red' is missing"),
        ("blue,red\n1,1", "header: column 'vertex' is missing"),
        ("vertex,blue,red,green\n1,1,0,0", "header: column 'green' is not an output of the graph"),
        (
            "vertex,color,blue,red\n1,red,1,0\n2,red,1,0",
            "line 2: vertex '1' has the color 'red' here, but 'blue' in the graph",
        ),
        ("vertex,blue,red\n1,1", "line 2: 2 cells"),
    ],
)
def test_broken_tables_are_refused(tmp_path: Path, content: str, problem: str) -> None:
    """A broken table is an error that names the file, the line and the problem."""
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises((FileError, ParameterError)) as caught:
        read_table(path, graphs.line(1, 1))
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


# fixed values


def test_fixed_values_are_read_by_the_text_of_vertices(tmp_path: Path) -> None:
    """JSON keys and table cells name vertices by their text, whatever type these have."""
    graph = DatasetGraph([(1, (0, 1)), ((0, 1), "=a")], lambda vertex: vertex == 1)
    (tmp_path / "fixed.json").write_text('{"1": 1, "[0, 1]": 0.25, "=a": 0.125}')
    (tmp_path / "fixed.csv").write_text('probability,vertex\n1,1\n0.25,"[0, 1]"\n0.125,\'=a\n')
    for name in ("fixed.json", "fixed.csv"):
        assert read_fixed(tmp_path / name, graph) == {1: 1.0, (0, 1): 0.25, "=a": 0.125}


@pytest.mark.parametrize(
    ("suffix", "content", "problem"),
    [
        (".json", '{"1": 0.5, "9": 0.5}', "vertex '9': '9' is not a vertex of the graph"),
        (".json", '{"1": "0.5"}', "vertex '1': a probability must be a number in [0, 1], got '0.5'"),
        (".json", '{"1": true}', "vertex '1': a probability"),
        (".json", '{"1": 1.5}', "vertex '1': a probability must be a number in [0, 1], got 1.5"),
        (".json", '{"1": NaN}', "NaN"),
        (".json", '{"1": 0.5, "1": 0.5}', "'1' is given twice"),
        (".json", "[0.5]", "must be an object"),
        (".json", "{}", "fixes no vertex"),
        (".csv", "vertex,probability\n", "fixes no vertex"),
        (".csv", "vertex,p\n1,1", "unknown column 'p'"),
        (".csv", "vertex,probability\n1,1\n9,1", "line 3: '9' is not a vertex of the graph"),
        (".csv", "vertex,probability\n1,1\n1,1", "line 3: vertex '1' is given twice"),
        (".csv", "vertex,probability\n1,inf", "line 2: expected a number such as 0.25, got 'inf'"),
        (".csv", "vertex,probability\n1,-0.1", "line 2: a probability must be a number in [0, 1], got -0.1"),
        (".graphml", "", "the name must end in .json, .csv, .tsv"),
    ],
)
def test_broken_fixed_values_are_refused(tmp_path: Path, suffix: str, content: str, problem: str) -> None:
    """Unknown vertices and bad numbers are FileErrors with the place."""
    path = tmp_path / f"fixed{suffix}"
    path.write_text(content)
    with pytest.raises(FileError) as caught:
        read_fixed(path, graphs.line(2, 2))
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


def test_vertices_with_the_same_text_cannot_be_told_apart(tmp_path: Path) -> None:
    """A file that names vertices by their text is refused for a graph where two texts are the same."""
    (tmp_path / "fixed.json").write_text('{"1": 1}')
    with pytest.raises(ParameterError, match="vertex '1' and vertex 1 have the same text"):
        read_fixed(tmp_path / "fixed.json", DatasetGraph([(1, "1")], {1: 0, "1": 1}))


def test_rows_are_read_by_the_text_of_vertices_or_orders(tmp_path: Path) -> None:
    """Keys are vertices or orders by their text, also of NumPy's numbers; answers are the graph's own."""
    one, two = np.int64(1), np.int64(2)
    graph = DatasetGraph([("u", "v")], {"u": (one, two), "v": (two, one)})
    for text, key in (("[2, 1]", (2, 1)), ("v", "v")):
        (tmp_path / "rows.json").write_text(json.dumps({text: {"1": 0.25, "2": 0.75}}))
        assert read_rows(tmp_path / "rows.json", graph) == {key: {1: 0.25, 2: 0.75}}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{}", "expected an object of rows"),
        ('{"x": {"blue": 1}}', "'x' is neither a vertex nor an order"),
        ('{"1": [1, 0]}', "must be an object of probabilities of blue, red"),
        ('{"1": {"green": 1}}', "must be an object of probabilities of blue, red"),
        *(
            (f'{{"1": {{"blue": {bad}}}}}', "numbers in \\[0, 1\\]")
            for bad in (2, -0.1, "true", '"1"', "1" + "0" * 350)
        ),
    ],
)
def test_broken_rows_are_refused(tmp_path: Path, content: str, problem: str) -> None:
    """Unknown names and what is no probability are refused with the file's name."""
    (tmp_path / "rows.json").write_text(content)
    with pytest.raises(FileError, match=f"rows.json: .*{problem}"):
        read_rows(tmp_path / "rows.json", graphs.line(2, 2))


def test_answers_with_the_same_text_cannot_be_told_apart(tmp_path: Path) -> None:
    """Rows name answers by their text: refused where two texts are the same, not read as one of them."""
    (tmp_path / "rows.json").write_text('{"u": {"1": 1}}')
    with pytest.raises(ParameterError, match="have the same text"):
        read_rows(tmp_path / "rows.json", DatasetGraph([("u", "v")], {"u": (1, "1"), "v": ("1", 1)}))


# anything at all

GOOD = {
    ".json": document(privacy={"epsilon": "ln 2"}),
    ".csv": HEADER + ",epsilon\na,b,x,y,ln 2\n",
    ".graphml": xml(NODES + '<edge source="a" target="b"><data key="e">1</data></edge>'),
}
GOOD[".tsv"] = GOOD[".csv"].replace(",", "\t")


@st.composite
def damaged(draw: Any, good: bytes) -> bytes:
    """A good file with a few pieces cut out, repeated or replaced."""
    data = good
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 12)))
        piece = draw(
            st.one_of(
                st.binary(max_size=6),
                st.sampled_from([b"", data[:30], b"null", b"[]", b"1e999", b'"', b"<", b"\n", b"-1", b"true"]),
            )
        )
        data = data[:start] + piece + data[stop:]
    return data


@settings(max_examples=400)
@given(st.data(), st.sampled_from(SUFFIXES))
def test_only_our_errors_escape(folder: Path, data: Any, suffix: str) -> None:
    """Any bytes under any suffix are a graph or a TinctError that names the file."""
    path = folder / f"fuzz{suffix}"
    path.write_bytes(data.draw(st.one_of(st.binary(max_size=200), damaged(GOOD[suffix].encode()))))
    readers = [graphs.read, lambda path: read_fixed(path, graphs.line(2, 2))]
    readers += [read_mechanism] if suffix == ".json" else [lambda path: read_table(path, graphs.line(2, 2))]
    for reader in readers:
        found = outcome(lambda reader=reader: reader(path))
        assert isinstance(found, TinctError | GraphFile | Mechanism | dict | np.ndarray)
        assert not isinstance(found, TinctError) or str(found).startswith(f"{path}: ")


@settings(max_examples=200)
@given(st.data())
def test_damaged_mechanisms_never_raise_anything_else(folder: Path, data: Any) -> None:
    """A damaged mechanism file is a valid mechanism or a TinctError that names the file."""
    good = {"schema": "tinct/mechanism@1", "graph": GRAPH, "privacy": {"mu": 1}, "table": [[1, 0], [0.25, 0.75]]}
    path = folder / "damaged.json"
    path.write_bytes(data.draw(damaged(json.dumps(good).encode())))
    found = outcome(lambda: read_mechanism(path))
    if isinstance(found, TinctError):
        assert str(found).startswith(f"{path}: ")
    else:
        assert np.allclose(found.table.sum(axis=1), 1)
