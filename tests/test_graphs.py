"""Dataset graphs: builders, labels, boundaries, morphisms, edge numbering, and what is refused."""

from __future__ import annotations

import json
from itertools import pairwise, product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

import naive
import strategies
from tinct import (
    DatasetGraph,
    EdgePrivacy,
    GaussianDP,
    Morphism,
    ParameterError,
    Privacy,
    balanced,
    extend,
    graphs,
    personalized,
    verify,
)
from tinct.graphs import EdgeClasses, boundary_morphism, missed_edge, smallest_hitting_set
from tinct.graphs.labels import Names, Rows, Words

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
NAN = float("nan")


def _pairs(graph):
    """All edges as unordered pairs of vertices, read off the compressed rows."""
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    return sorted(
        tuple(sorted((graph.vertices[u], graph.vertices[int(v)]))) for u, v in zip(rows, graph.indices, strict=True)
    )


def _brute(vertices, close):
    """All ordered pairs of neighbours, each as an unordered pair: every edge twice."""
    return sorted(tuple(sorted((u, v))) for u in vertices for v in vertices if u != v and close(u, v))


# builders


@pytest.mark.parametrize(("n_first", "n_second"), [(1, 0), (0, 1), (1, 1), (3, 4), (5, 1)])
def test_line_joins_consecutive_numbers(n_first, n_second):
    """A line has consecutive neighbours, the first colour first."""
    line = graphs.line(n_first, n_second, ("a", "b"), start=7)
    names = list(range(7, 7 + n_first + n_second))
    assert list(line.vertices) == names
    assert _pairs(line) == _brute(names, lambda u, v: abs(u - v) == 1)
    assert list(line.colors.values()) == ["a"] * n_first + ["b"] * n_second


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_majority_and_threshold_color_counts(n):
    """Counts from 0 to n; yes from the threshold on; majority means more than half."""
    assert graphs.majority(n).colors == {count: "yes" if 2 * count > n else "no" for count in range(n + 1)}
    for at_least in range(1, n + 1):
        expected = {count: "yes" if count >= at_least else "no" for count in range(n + 1)}
        assert graphs.threshold(n, at_least).colors == expected


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (3, 1), (3, 4)])
def test_grid_joins_points_side_by_side(rows, columns):
    """Points of a rectangle are neighbours at distance 1."""
    grid = graphs.grid(rows, columns, lambda point: point[0] > point[1])
    points = list(product(range(rows), range(columns)))
    assert list(grid.vertices) == points
    assert _pairs(grid) == _brute(points, lambda u, v: abs(u[0] - v[0]) + abs(u[1] - v[1]) == 1)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_hypercube_joins_tuples_that_differ_in_one_place(n):
    """All tuples of bits, neighbours at Hamming distance 1."""
    cube = graphs.hypercube(n, lambda bits: sum(bits) > 1)
    words = list(product((0, 1), repeat=n))
    assert list(cube.vertices) == words
    assert _pairs(cube) == _brute(words, lambda u, v: sum(a != b for a, b in zip(u, v, strict=True)) == 1)
    assert cube.colors == {word: sum(word) > 1 for word in words}


@pytest.mark.parametrize(("n", "k"), [(1, 2), (4, 2), (3, 3), (5, 3), (2, 4)])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_histograms_join_counts_one_person_apart(n, k, neighbors):
    """One person moves between categories (n is public), or joins or leaves (at most n people)."""
    graph = graphs.histograms(n, k, lambda h: h[0] > h[1], neighbors)
    counts = [c for c in product(range(n + 1), repeat=k) if (sum(c) == n if neighbors == "replace" else sum(c) <= n)]
    assert sorted(graph.vertices) == counts
    assert len(graph.vertices) == len(counts)

    def close(u, v):
        moved = sorted(a - b for a, b in zip(u, v, strict=True) if a != b)
        return moved == [-1, 1] if neighbors == "replace" else moved in ([-1], [1])

    assert _pairs(graph) == _brute(counts, close)
    assert graph.colors == {c: c[0] > c[1] for c in graph.vertices}


@pytest.mark.parametrize(
    "build",
    [
        lambda color, **how: graphs.hypercube(4, color, **how),
        lambda color, **how: graphs.grid(3, 5, color, **how),
        lambda color, **how: graphs.histograms(4, 3, color, **how),
        lambda color, **how: graphs.histograms(3, 2, color, "add-remove", **how),
    ],
    ids=["hypercube", "grid", "replace", "add-remove"],
)
@pytest.mark.parametrize("answers", [(False, True), ("no", "yes"), (3, 1)])
def test_vectorized_colors_equal_plain_ones(build, answers):
    """A colour function of the whole array gives the same graph as one of the tuple, outputs in the same order."""
    plain = build(lambda v: answers[int(v[0] * 2 + v[-1] > 2)])
    whole = build(
        lambda rows: np.array(answers)[(rows[:, 0].astype(int) * 2 + rows[:, -1] > 2).astype(int)], vectorized=True
    )
    assert plain.colors == whole.colors
    assert plain.outputs == whole.outputs


# labels


@pytest.mark.parametrize(
    ("labels", "expected", "strangers"),
    [
        (
            Words((3, 2)),
            list(product(range(3), range(2))),
            [(3, 0), (0, 2), (-1, 0), (0,), (0, 0, 0), "ab", [0, 1], 0, None],
        ),
        (Words((2, 2)), list(product(range(2), repeat=2)), [(0.5, 1), ("a", 1), (None, 0), (NAN, 0)]),
        (Rows(np.array([[0, 2], [1, 1], [2, 0]])), [(0, 2), (1, 1), (2, 0)], [(0, 0), (0,), [0, 2], 0, None, "x"]),
        (Names(["a", 3, (1, 2), None]), ["a", 3, (1, 2), None], ["b", [1, 2], 4, (1,)]),
    ],
    ids=["words", "words-odd", "rows", "names"],
)
def test_labels_are_sequences_that_know_positions(labels, expected, strangers):
    """Label and position are inverse to each other, slices and negative positions work, strangers are ValueErrors."""
    n = len(expected)
    assert len(labels) == n
    assert list(labels) == expected
    assert [labels.index(label) for label in expected] == list(range(n))
    assert [labels[at - n] for at in range(n)] == expected
    assert list(labels[1:n:2]) == expected[1:n:2]
    assert list(reversed(labels)) == expected[::-1]
    for at in (n, -n - 1):
        with pytest.raises(IndexError):
            labels[at]
    for stranger in strangers:
        with pytest.raises(ValueError, match="is not a vertex"):
            labels.index(stranger)


def test_words_as_rows_are_the_words():
    """The array of all words has the words as rows, also for digits above 255."""
    for sizes in ((2, 2, 2), (3, 1, 4), (300, 2)):
        words = Words(sizes)
        assert [tuple(row) for row in words.rows.tolist()] == list(words)


def test_color_functions_may_add_and_subtract_whole_columns():
    """The counts that a vectorized colour function sees do not wrap around, neither above 255 nor below 0."""
    for color in (lambda c: c[0] + c[1] >= 300, lambda c: c[0] - c[1] > 0):
        whole = graphs.grid(200, 200, lambda rows, color=color: color(rows.T), vectorized=True)
        assert whole.colors == graphs.grid(200, 200, color).colors


def test_sizes_may_be_numbers_of_numpy():
    """Sizes of any integer type give the same graphs; narrow ones do not overflow."""
    for kind in (np.int8, np.uint8, np.int64):
        assert graphs.line(kind(100), kind(100)).colors == graphs.line(100, 100).colors
        assert graphs.majority(kind(120)).colors == graphs.majority(120).colors
        assert graphs.hypercube(kind(7), sum).colors == graphs.hypercube(7, sum).colors
    with pytest.raises(ParameterError, match=r"1\.84e\+19 vertices"):
        graphs.hypercube(np.int64(64), sum)


def test_a_line_may_have_orders_as_colors():
    """Two orders of preference on a line: the answers are those of the orders."""
    line = graphs.line(1, 2, (("a", "b", "c"), ("b", "a", "c")))
    assert line.outputs == ("a", "b", "c")
    assert line.coloring.true_outputs().tolist() == [0, 1, 1]


# boundaries and components


@given(strategies.cases())
def test_boundary_and_distances_equal_brute_force(case):
    """Boundary edges, boundary vertices and distances agree with all-pairs shortest paths in the whole graph."""
    graph = case.graph
    crossing = [edge for edge in case.edges if case.codes[edge[0]] != case.codes[edge[1]]]
    boundary = graph.boundary()
    assert sorted(map(sorted, boundary.edges)) == sorted(map(sorted, crossing))
    assert boundary.vertices == sorted(naive.boundary_vertices(case.edges, case.codes))
    for code, color in enumerate(strategies.COLORS):
        assert boundary.of_color(color) == [v for v in boundary.vertices if case.codes[v] == code]
    assert graph.boundary_distance().tolist() == naive.boundary_distance(case.n, case.edges, case.codes)


@pytest.mark.parametrize("seed", range(20))
def test_components_equal_brute_force_and_count_from_the_first_vertex(seed):
    """Pieces are numbered from 0 in the order of their first vertices."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    edges = [(u, v) for v in range(n) for u in range(v) if rng.random() < 1.5 / n]
    graph = DatasetGraph(edges, dict.fromkeys(range(n), "c"), disconnected=True)
    assert graph.components().tolist() == naive.component_labels(n, edges)
    pieces = max(naive.component_labels(n, edges)) + 1
    if pieces > 1:
        with pytest.raises(ParameterError, match=f"in {pieces} pieces .*disconnected=True"):
            DatasetGraph(edges, dict.fromkeys(range(n), "c"))


@pytest.mark.parametrize("seed", range(30))
def test_smallest_hitting_set_is_a_minimum(seed):
    """With two colours it meets every boundary edge and no smaller set does; with three it meets every edge."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    edges = strategies.random_edges(rng, n, extra=0.3)
    for count in (2, 3):
        colors = rng.integers(0, count, n).tolist()
        graph = DatasetGraph(edges, dict(enumerate(colors)))
        chosen = smallest_hitting_set(graph)
        assert naive.missed_edges(edges, colors, chosen) == []
        assert missed_edge(graph, chosen) is None
        if len(set(colors)) <= 2:
            assert len(chosen) == naive.smallest_cover_size(n, edges, colors)


@given(strategies.cases())
def test_missed_edge_is_a_boundary_edge_without_chosen_ends(case):
    """Leaving out one vertex of a cover is noticed exactly when an edge becomes bare, and that edge is named."""
    graph = case.graph
    everything = range(case.n)
    for left_out in everything:
        chosen = [v for v in everything if v != left_out and v % 2 == left_out % 2]
        bare = naive.missed_edges(case.edges, case.codes, chosen)
        found = missed_edge(graph, chosen)
        assert (found is None) == (not bare)
        assert found is None or found in bare or found[::-1] in bare


# morphisms


def test_figure_1b_has_the_two_two_line_as_boundary_graph():
    """Subsets of three voters who voted, ties red: the golden boundary graph is the (2,2)-line."""
    golden = next(case for case in GOLDEN["papers"] if case["id"] == "binary-colorings/figure-1b")
    colors = dict.fromkeys(golden["blue"], "blue") | dict.fromkeys(golden["red"], "red")
    edges = [(u, v) for u in colors for v in colors if u < v and len(set(u) ^ set(v)) == 1]
    graph = DatasetGraph(edges, colors)
    for subset, color in colors.items():  # the picture says what the text says
        assert color == ("blue" if len(set(subset) & set("12")) > len(set(subset) & set("3")) else "red")
    morphism = boundary_morphism(graph)
    assert morphism.target.colors == graphs.line(2, 2).colors
    assert morphism.preserves_colors
    assert {morphism(v) for v in colors} == {1, 2, 3, 4}


@given(strategies.cases())
def test_boundary_morphism_measures_color_and_distance(case):
    """The boundary line has the vertex (colour, distance); mechanisms on it, pulled back, stay private and truthful."""
    graph = case.graph
    if len(set(case.codes)) < 2:
        with pytest.raises(ParameterError, match="no boundary"):
            boundary_morphism(graph)
        return
    morphism = boundary_morphism(graph)
    distance = naive.boundary_distance(case.n, case.edges, case.codes)
    images = graph.boundary_distance() * 2 + np.array(case.codes)
    on_line = morphism.target.boundary_distance() * 2 + morphism.target.coloring.codes
    assert images.tolist() == [2 * d + code for d, code in zip(distance, case.codes, strict=True)]
    assert on_line[morphism.image].tolist() == images.tolist()
    assert morphism.preserves_colors
    privacy = Privacy("ln 2", 0.01)
    line_mechanism = balanced(morphism.target, privacy)
    back = line_mechanism.pullback(morphism, graph)
    assert verify(back, graph, privacy).private
    assert [back.row(v).tolist() for v in range(case.n)] == [
        line_mechanism.row(morphism(v)).tolist() for v in range(case.n)
    ]


def test_morphisms_compose():
    """Cube to count to threshold line: the composite maps vertex by vertex, and only fitting maps compose."""
    cube = graphs.hypercube(3, lambda bits: "yes" if sum(bits) > 1 else "no")
    counts = graphs.majority(3)
    short = graphs.line(1, 1, ("no", "yes"))
    count = Morphism(cube, counts, sum)
    coarse = Morphism(counts, short, {0: 1, 1: 1, 2: 2, 3: 2})
    both = coarse.compose(count)
    assert [both(v) for v in cube.vertices] == [coarse(count(v)) for v in cube.vertices]
    assert both.preserves_colors
    with pytest.raises(ParameterError, match="compose"):
        count.compose(coarse)


def test_pullback_reorders_columns_by_output():
    """A graph that lists the same outputs in another order gets its own order back."""
    line = graphs.line(2, 2)
    swapped = DatasetGraph(line.edges, line.colors, outputs=("red", "blue"))
    mechanism = balanced(line, Privacy(1))
    back = mechanism.pullback(lambda v: v, swapped)
    assert [back.probability(v, "red") for v in line.vertices] == [
        mechanism.probability(v, "red") for v in line.vertices
    ]


@given(strategies.cases(), strategies.cases())
def test_what_tears_neighbors_apart_is_not_a_morphism(case, other):
    """A map is accepted exactly if neighbours stay neighbours or become equal; otherwise a broken edge is named."""
    target = other.graph
    image = [v * 7 % other.n for v in range(case.n)]
    joined = {frozenset(edge) for edge in other.edges}
    torn = [(u, v) for u, v in case.edges if image[u] != image[v] and frozenset((image[u], image[v])) not in joined]
    if not torn:
        assert [Morphism(case.graph, target, image.__getitem__)(v) for v in range(case.n)] == image
        return
    with pytest.raises(ParameterError, match="not a morphism") as caught:
        Morphism(case.graph, target, np.array(image))
    assert any(f"{u} and {v} are" in str(caught.value) or f"{v} and {u} are" in str(caught.value) for u, v in torn)


@pytest.mark.parametrize(
    "mapping",
    [{1: 1}, {1: 1, 2: 9}, np.array([0]), np.array([0, 5]), np.array([0.0, 1.0]), lambda _: "nowhere", [0, 1, 2], None],
)
def test_bad_mappings_are_refused(mapping):
    """Every vertex needs an image, and the image must be a vertex of the target."""
    with pytest.raises(ParameterError):
        Morphism(graphs.line(1, 1), graphs.line(1, 1), mapping)


# edge numbering


def _numbered_graphs():
    cube = graphs.hypercube(3, lambda bits: sum(bits) > 1)
    messy = DatasetGraph(
        [("c", "a"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("a", "c")], {v: v for v in "dcba"}
    )
    shuffled = DatasetGraph.from_csr([0, 2, 4, 6, 8], [3, 1, 2, 0, 3, 1, 0, 2], list("xxyy"))  # rows not sorted
    scattered = DatasetGraph.from_csr([0, 3, 4, 6, 8], [2, 1, 3, 0, 3, 0, 0, 2], list("xxyy"))
    return {
        "edge list": messy,
        "csr": shuffled,
        "csr of uneven rows": scattered,
        "hypercube": cube,
        "grid": graphs.grid(3, 4, lambda p: p[0] > 1),
        "histograms": graphs.histograms(4, 3, lambda h: h[0] > 1),
        "line": graphs.line(3, 3),
        "recolored": messy.recolored(lambda v: v > "b"),
        "no edges": graphs.line(1, 0),
    }


@pytest.mark.parametrize("name", _numbered_graphs())
def test_edge_numbers_name_the_edge_of_every_entry(name):
    """``edge_ids`` leads from each directed entry to the row of ``ends`` with its two vertices; edges are distinct."""
    graph = _numbered_graphs()[name]
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    assert len(graph.edge_ids) == len(graph.indices) == 2 * len(graph.ends)
    for row, column, number in zip(rows, graph.indices, graph.edge_ids, strict=True):
        assert {int(row), int(column)} == set(graph.ends[number].tolist())
    assert len({frozenset(edge) for edge in graph.ends.tolist()}) == len(graph.ends)
    assert graph.edges == [(graph.vertices[u], graph.vertices[v]) for u, v in graph.ends.tolist()]


def test_edges_keep_the_order_in_which_they_were_given():
    """Arrays along the edges follow the edges as given; a pair given twice, in any direction, counts once."""
    assert _numbered_graphs()["edge list"].edges == [("c", "a"), ("a", "b"), ("b", "c"), ("c", "d")]


def test_another_query_on_the_same_graph_keeps_the_order_of_the_edges():
    """Budgets along the edges stay with their edges when only colours or the order of the answers change."""
    graph = DatasetGraph([("b", "c"), ("a", "b")], {"a": "x", "b": "x", "c": "y"})
    privacy = EdgePrivacy([0.1, 2.0])
    swapped = graph.with_outputs(("y", "x"))
    same = graph.recolored(graph.colors)
    assert graph.edges == swapped.edges == same.edges == graph.recolored(lambda v: v == "a").edges
    np.testing.assert_array_equal(balanced(swapped, privacy).table[:, ::-1], balanced(graph, privacy).table)
    np.testing.assert_array_equal(balanced(same, privacy).table, balanced(graph, privacy).table)


@pytest.mark.parametrize("seed", range(5))
def test_budgets_along_edges_equal_budgets_along_entries_and_mappings(seed):
    """The same budgets as an array by edge, an array by directed entry, classes, or a mapping: the same mechanism."""
    rng = np.random.default_rng(seed)
    for name, graph in _numbered_graphs().items():
        if len(graph.outputs) != 2 or not len(graph.ends):
            continue
        count = len(graph.ends)
        budgets = [Privacy(float(rng.choice([0.1, 1, 2])), float(rng.choice([0, 0.1]))) for _ in range(count)]
        epsilon, delta = np.array([b.epsilon for b in budgets]), np.array([b.delta for b in budgets])
        ids = graph.edge_ids
        fixed = dict.fromkeys(graph.boundary().vertices, 0.4)
        ways = [
            EdgePrivacy(epsilon, delta),
            (epsilon, delta),
            EdgePrivacy(epsilon[ids], delta[ids]),
            EdgeClasses(budgets, np.arange(count)),
            EdgeClasses(budgets, np.arange(count)[ids]),
            {edge if rng.random() < 0.5 else edge[::-1]: b for edge, b in zip(graph.edges, budgets, strict=True)},
        ]
        tables = [extend(graph, way, fixed).table for way in ways]
        for table in tables[1:]:  # E as exp(ε) or correctly rounded may differ by an ulp
            np.testing.assert_allclose(table, tables[0], rtol=0, atol=1e-13, err_msg=name)


# other libraries


def test_networkx_round_trip():
    """Vertices in order, edges and colours survive; colours may be an attribute or a function."""
    graph = graphs.hypercube(3, lambda bits: "yes" if sum(bits) > 1 else "no")
    there = graph.to_networkx("answer")
    assert nx.is_isomorphic(there, nx.hypercube_graph(3))
    back = DatasetGraph.from_networkx(there, "answer")
    assert back.colors == graph.colors
    assert list(back.vertices) == list(graph.vertices)
    assert _pairs(back) == _pairs(graph)
    by_function = DatasetGraph.from_networkx(there, lambda bits: sum(bits) % 2)
    assert by_function.colors == {bits: sum(bits) % 2 for bits in graph.vertices}
    assert DatasetGraph.from_networkx(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), lambda v: v > 0).edges == [
        (0, 1),
        (1, 2),
    ]


def test_networkx_budgets_are_read_as_from_a_file(tmp_path):
    """Budgets on the edges come with the graph, the same as through GraphML; without any there is no privacy."""
    graph = graphs.grid(2, 3, lambda p: p[1] > 0)
    there = graph.to_networkx()
    for at, (_, _, data) in enumerate(there.edges(data=True)):
        data.update(epsilon=["1/2", "ln 2", 1.5][at % 3], delta=0.25)
    found = graphs.from_networkx(there)
    graphs.write(found.graph, tmp_path / "g.graphml", found.privacy)
    back = graphs.read(tmp_path / "g.graphml")
    assert found.privacy.pairs == back.privacy.pairs
    assert found.privacy.pairs == (Privacy("1/2", "1/4"), Privacy("ln 2", "1/4"), Privacy("1.5", "1/4"))
    np.testing.assert_array_equal(balanced(*_both(found)).table, balanced(*_both(back)).table)
    by_other_names = nx.Graph([(0, 1, {"eps": 1}), (1, 2, {"eps": 1})])
    assert graphs.from_networkx(by_other_names, lambda v: v > 0, epsilon="eps").privacy == Privacy(1)
    assert graphs.from_networkx(by_other_names, lambda v: v > 0).privacy is None


def _both(found):
    return found.graph, found.privacy


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([(0, 1, {"epsilon": 1}), (1, 2, {})], r"edge \(1, 2\) has no epsilon"),
        ([(0, 1, {"delta": 0.1})], "has no epsilon"),
        ([(0, 1, {"epsilon": NAN})], r"edge \(0, 1\): epsilon must be"),
        ([(0, 1, {"epsilon": [1]})], r"edge \(0, 1\)"),
        ([(0, 1, {"epsilon": 1}), (0, 1, {"epsilon": 2})], "twice with different budgets"),
    ],
)
def test_bad_networkx_budgets_are_refused_with_the_edge(edges, said):
    """Each edge has one budget, all have one or none."""
    with pytest.raises(ParameterError, match=said):
        graphs.from_networkx(nx.MultiGraph(edges), lambda v: v > 0)


def test_vertices_show_their_first_ones():
    """However they are stored, and however many there are."""
    assert repr(graphs.hypercube(3, sum).vertices) == (
        "<vertices: (0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), … 8 in all>"
    )
    assert repr(graphs.histograms(1, 2, sum).vertices) == "<vertices: (0, 1), (1, 0)>"
    assert repr(DatasetGraph([("a", "b")], {"a": 0, "b": 1}).vertices) == "<vertices: 'a', 'b'>"


def test_budgets_along_edges_show_themselves_in_full_words():
    """A mechanism for many budgets is not cut in the middle of a word."""
    classes = EdgeClasses([Privacy(1), Privacy(2), Privacy("ln 2"), Privacy("1/3")], [0, 1, 2, 3])
    assert repr(classes) == "<EdgeClasses: Privacy(1), Privacy(2), Privacy('ln 2'), … 4 in all>"
    assert repr(balanced(graphs.line(3, 2), classes)).endswith(f"for {classes!r}>")
    assert repr(EdgePrivacy([0.5, 1.0])) == "<EdgePrivacy: 2 budgets, epsilon from 0.5 to 1>"
    assert repr(EdgePrivacy([])) == "<EdgePrivacy: no edges>"
    many = repr(balanced(graphs.line(1, 1), {(1, 2): Privacy("0.125", "0.000001")}))
    assert many.count("(") == many.count(")")


def test_scipy_round_trip():
    """The adjacency matrix and back, also from other formats and with stored zeros and repeated entries."""
    graph = graphs.grid(3, 4, lambda p: p[0] > 1)
    matrix = graph.to_scipy()
    assert (matrix.toarray() == nx.to_numpy_array(graph.to_networkx(), dtype=np.int8)).all()
    colors = list(graph.colors.values())
    for form in (matrix, matrix.tocoo(), matrix.tocsc(), matrix.astype(float)):
        back = DatasetGraph.from_scipy(form, colors, vertices=graph.vertices)
        assert _pairs(back) == _pairs(graph)
        assert back.colors == graph.colors
    odd = csr_array(([1, 1, 1, 0, 0], [1, 1, 0, 2, 0], [0, 2, 4, 5]), shape=(3, 3))
    assert DatasetGraph.from_scipy(odd, "aab", disconnected=True).edges == [(0, 1)]


# what is refused


class _Node:
    def __repr__(self):
        return "node"


BAD_GRAPHS = {
    "unknown vertex": (lambda: DatasetGraph([(1, 2), (2, 9)], {1: "a", 2: "b"}), r"\(2, 9\) names 9"),
    "no color for None": (lambda: DatasetGraph([(1, None)], {1: "a"}, vertices=[1, None]), "vertex None has no color"),
    "no color": (lambda: DatasetGraph([(1, 2)], {1: "a"}, vertices=[1, 2]), "vertex 2 has no color"),
    "color is None": (lambda: DatasetGraph([(1, 2)], {1: "a", 2: None}), "must not be missing, got None"),
    "color is NaN": (lambda: DatasetGraph([(1, 2)], {1: 0.0, 2: NAN}), "must not be missing, got nan"),
    "unhashable color": (lambda: DatasetGraph([(1, 2)], {1: "a", 2: []}), "hashable"),
    "colors missing": (lambda: DatasetGraph([(1, 2)], None), "color"),
    "self-loop": (lambda: DatasetGraph([(1, 2), (2, 2)], {1: "a", 2: "b"}), "2 is its own neighbour"),
    "not a pair": (lambda: DatasetGraph([(1, 2, 3)], {1: "a", 2: "b"}), "pair of vertices"),
    "not even a tuple": (lambda: DatasetGraph([5], {1: "a", 2: "b"}), "pair of vertices"),
    "unhashable vertex": (lambda: DatasetGraph([([1], 2)], lambda _: "a"), "hashable|not among"),
    "empty": (lambda: DatasetGraph([], {}), "the graph is empty"),
    "disconnected": (lambda: DatasetGraph([(1, 2)], {1: "a", 2: "b", 3: "a"}), "2 pieces .3 cannot be reached from 1"),
    "unlisted output": (lambda: DatasetGraph([(1, 2)], {1: "a", 2: "b"}, outputs=["a"]), "every color once"),
    "repeated output": (lambda: DatasetGraph([(1, 2)], {1: "a", 2: "b"}, outputs=["a", "b", "a"]), "every color once"),
    "uneven orders": (lambda: DatasetGraph([(1, 2)], {1: ("a", "b"), 2: ("a", "c")}), "every order"),
    "empty order": (lambda: DatasetGraph([], {1: ()}), "every order"),
    "order and color": (lambda: DatasetGraph([(1, 2)], {1: ("a", "b"), 2: "a"}), "every order"),
    "empty rows": (lambda: DatasetGraph.from_csr([0], np.empty(0, int), []), "the graph is empty"),
    "one-way": (lambda: DatasetGraph.from_csr([0, 1, 1], [1], "ab"), r"\(0, 1\) is listed in one direction only"),
    "one-way, balanced": (lambda: DatasetGraph.from_csr([0, 1, 2, 3], [1, 2, 0], "abc"), "one direction only"),
    "loop in rows": (lambda: DatasetGraph.from_csr([0, 1, 2], [0, 1], "ab"), "0 is its own neighbour"),
    "twice in a row": (lambda: DatasetGraph.from_csr([0, 2, 4], [1, 1, 0, 0], "ab"), "listed twice"),
    "column too large": (lambda: DatasetGraph.from_csr([0, 1, 2], [1, 2], "ab"), "between 0 and 1"),
    "negative column": (lambda: DatasetGraph.from_csr([0, 1, 2], [1, -1], "ab"), "between 0 and 1"),
    "falling offsets": (lambda: DatasetGraph.from_csr([0, 2, 1, 2], [1, 0], "abc"), "indptr must rise"),
    "short offsets": (lambda: DatasetGraph.from_csr([0, 1], [1, 0], "a"), "indptr must rise"),
    "falling unsigned offsets": (
        lambda: DatasetGraph.from_csr(np.array([0, 2, 1, 2], np.uint64), [1, 0], "abc"), "indptr must rise",
    ),
    "float columns": (lambda: DatasetGraph.from_csr([0, 1, 2], [1.0, 0.0], "ab"), "arrays of integers"),
    "square rows": (lambda: DatasetGraph.from_csr([[0, 1]], [1, 0], "ab"), "one-dimensional"),
    "too few colors": (lambda: DatasetGraph.from_csr([0, 1, 2], [1, 0], "a"), "2 vertices, 1 colors"),
    "too few names": (lambda: DatasetGraph.from_csr([0, 1, 2], [1, 0], "ab", vertices=["x"]), "vert"),
    "repeated names": (lambda: DatasetGraph.from_csr([0, 1, 2], [1, 0], "ab", vertices=["x", "x"]), "vert"),
    "disconnected rows": (lambda: DatasetGraph.from_csr([0, 0, 0], np.empty(0, int), "ab"), "2 pieces"),
    "not networkx": (lambda: DatasetGraph.from_networkx([(1, 2)]), "expected a NetworkX graph, got list"),
    "directed": (lambda: DatasetGraph.from_networkx(nx.DiGraph([(1, 2)]), lambda v: v), "undirected"),
    "node without color": (lambda: DatasetGraph.from_networkx(nx.path_graph(2)), "vertex 0 has no color"),
    "not a matrix": (lambda: DatasetGraph.from_scipy([[0, 1], [1, 0]], "ab"), "SciPy sparse matrix, got list"),
    "not square": (lambda: DatasetGraph.from_scipy(csr_array((2, 3)), "ab"), "2 × 3"),
    "not symmetric": (lambda: DatasetGraph.from_scipy(csr_array([[0, 1], [0, 0]]), "ab"), "one direction only"),
    "negative size": (lambda: graphs.line(-1, 3), "n_first must be a whole number"),
    "no vertices": (lambda: graphs.line(0, 0), "at least one vertex"),
    "three colors": (lambda: graphs.line(1, 1, ("a", "b", "c")), "two colors"),
    "twice the same color": (lambda: graphs.line(1, 1, ("a", "a")), "two colors"),
    "missing color": (lambda: graphs.line(1, 1, ("a", None)), "must not be missing"),
    "a box of nothing": (lambda: graphs.box((), sum), "at least one size"),
    "text for people": (lambda: graphs.majority("3"), "n must be a whole number"),
    "not a color": (lambda: graphs.line(1, 1).boundary().of_color("green"), "'green' is not a color"),
    "mapping of too few colors": (lambda: DatasetGraph.from_csr([0, 1, 2], [1, 0], {0: "a"}), "vertex 1 has no color"),
    "float size": (lambda: graphs.hypercube(3.0, sum), "n must be a whole number"),
    "true size": (lambda: graphs.hypercube(True, sum), "n must be a whole number"),
    "zero people": (lambda: graphs.majority(0), "n must be a whole number of at least 1"),
    "threshold too high": (lambda: graphs.threshold(3, 4), "between 1 and n = 3"),
    "one category": (lambda: graphs.histograms(3, 1, sum), "k must be a whole number of at least 2"),
    "unknown neighbors": (lambda: graphs.histograms(3, 2, sum, "near"), "'replace' or 'add-remove'"),
    "too few vectorized": (lambda: graphs.hypercube(2, lambda r: r[:3, 0], vectorized=True), "4 colors, got shape"),
    "implicit with one output": (lambda: graphs.neighbors(list, bool, outputs=[1]), "two different outputs"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_bad_graphs_are_refused_with_the_place(name):
    """What is wrong, and where, is said; nothing but ParameterError escapes."""
    build, message = BAD_GRAPHS[name]
    with pytest.raises(ParameterError, match=message):
        build()


def test_rows_may_be_colored_by_a_mapping_or_a_function():
    """``from_csr`` and ``from_scipy`` read colours as a new graph does; the keys of a mapping are never the colours."""
    rows = [0, 1, 3, 4], [1, 0, 2, 1]
    named = {"p": "a", "q": "a", "r": "b"}
    assert DatasetGraph.from_csr(*rows, dict(enumerate("aab"))).colors == dict(enumerate("aab"))
    assert DatasetGraph.from_csr(*rows, named, vertices="pqr").colors == named
    assert DatasetGraph.from_csr(*rows, lambda v: v > 1).outputs == (False, True)
    assert DatasetGraph.from_scipy(graphs.line(2, 1).to_scipy(), dict(enumerate("aab"))).outputs == ("a", "b")


def test_rows_of_a_long_line_are_symmetric():
    """Products of positions of 100,000 vertices need more than 32 bits."""
    line = graphs.line(50_000, 50_000)
    assert len(DatasetGraph.from_csr(line.indptr, line.indices, line.coloring.codes).ends) == 99_999


def test_rows_may_come_in_any_integer_type():
    """Offsets and columns of any width, signed or not, are welcome."""
    for kind in (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64):
        graph = DatasetGraph.from_csr(np.array([0, 1, 3, 4], kind), np.array([1, 0, 2, 1], kind), "aab")
        assert graph.edges == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("build", "amount"),
    [
        (lambda: graphs.hypercube(60, sum), "1.15e+18 vertices"),
        (lambda: graphs.hypercube(5000, sum), "more than 10^300 vertices"),
        (lambda: graphs.hypercube(10**15, sum), "more than 10^300 vertices"),
        (lambda: graphs.histograms(10**12, 10**9, sum), "more than 10^300 vertices"),
        (lambda: graphs.line(10**13, 1), "1e+13 vertices"),
        (lambda: graphs.grid(10**7, 10**7, sum), "1e+14 vertices"),
        (lambda: graphs.histograms(10**6, 8, sum), "vertices"),
        (lambda: graphs.majority(10**9), "1,000,000,001 vertices"),
        (lambda: graphs.threshold(10**9, 5), "would take about 208 GB"),
        (lambda: graphs.box((3000, 3000, 1000), sum), "9,000,000,000 vertices"),
        (lambda: graphs.rankings(1000, "abcde"), "vertices"),
    ],
)
def test_graphs_too_large_for_memory_are_refused_with_the_amount(build, amount):
    """Before anything is allocated, the error says how many vertices there would be and how much memory they take."""
    with pytest.raises(ParameterError, match=r"would take about \S+ (GB|TB|PB) of memory \(this machine has") as caught:
        build()
    assert amount in str(caught.value)


LINE = graphs.line(2, 1)
BAD_BUDGETS = {
    "two budgets for an edge": ({(1, 2): Privacy(1), (2, 3): Privacy(1), (2, 1): Privacy(2)}, "two different budgets"),
    "missing edge": ({(1, 2): Privacy(1)}, r"no privacy is given for edge \(2, 3\)"),
    "not an edge": ({(1, 2): Privacy(1), (2, 3): Privacy(1), (1, 3): Privacy(1)}, r"\(1, 3\), which is not an edge"),
    "unhashable edge": ({(1, 2): Privacy(1), (2, 3): Privacy(1), 5: Privacy(1)}, "5, which is not an edge"),
    "a number as budget": ({(1, 2): 1.0, (2, 3): 1.0}, "must be a Privacy"),
    "a number": (1.0, "privacy must be a Privacy"),
    "nothing": (None, "privacy must be a Privacy"),
    "too few": (([1.0], [0.0]), r"one per edge \(2\) or one per directed edge \(4\)"),
    "too many": (([1.0] * 3, 0.0), r"one per edge \(2\) or one per directed edge \(4\)"),
    "different in the two directions": (([1.0, 2.0, 1.0, 1.0], 0.0), "direction"),
    "classes different in the two directions": (EdgeClasses([Privacy(1), Privacy(2)], [0, 1, 0, 0]), "direction"),
    "too few numbers of one class": (EdgeClasses([Privacy(1)], [0]), r"one per edge \(2\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_BUDGETS)
def test_bad_budgets_are_refused(name):
    """A budget for every edge, one only, the same in both directions."""
    budget, message = BAD_BUDGETS[name]
    with pytest.raises(ParameterError, match=message):
        extend(LINE, budget, {2: 0.5})


@pytest.mark.parametrize(
    "build",
    [
        lambda: EdgePrivacy([NAN]),
        lambda: EdgePrivacy([-1.0]),
        lambda: EdgePrivacy([701.0]),
        lambda: EdgePrivacy([1.0], [1.0]),
        lambda: EdgePrivacy([1.0], [NAN]),
        lambda: EdgePrivacy([1.0, 1.0], [0.1, 0.1, 0.1]),
        lambda: EdgePrivacy([[1.0]]),
        lambda: EdgePrivacy(1.0),
        lambda: EdgePrivacy("x"),
        lambda: EdgePrivacy([None]),
        lambda: EdgeClasses([], [0]),
        lambda: EdgeClasses([1.0], [0]),
        lambda: EdgeClasses([Privacy(1)], [1]),
        lambda: EdgeClasses([Privacy(1)], [-1]),
        lambda: EdgeClasses([Privacy(1)], [0.0]),
        lambda: personalized(graphs.hypercube(2, sum), [1.0]),
        lambda: personalized(graphs.hypercube(2, sum), [1.0, NAN]),
        lambda: personalized(graphs.line(1, 1), [1.0]),
        lambda: personalized(graphs.histograms(2, 2, lambda h: h[0] > 1), [1.0, 1.0]),
    ],
)
def test_bad_budget_arrays_are_refused(build):
    """NaN, negative, too large, wrong shape, wrong number: refused before any graph is involved."""
    with pytest.raises(ParameterError):
        build()


def test_persons_are_told_apart_by_value_and_type():
    """1 and "1" are different answers of one person, and an answer may itself be a tuple."""
    vertices = [(1, (0, 0)), ("1", (0, 0)), ("1", (0, 1))]
    graph = DatasetGraph(list(pairwise(vertices)), lambda v: v[0] == 1, vertices=vertices)
    assert personalized(graph, [1, 2]).numbers.tolist() == [0, 1]


def test_directed_budgets_may_differ_in_the_sign_of_zero():
    """0 and −0 are the same budget in the two directions."""
    mechanism = extend(LINE, EdgePrivacy([0.0, -0.0, 1.0, 1.0]), {2: 0.5})
    np.testing.assert_array_equal(mechanism.table, extend(LINE, EdgePrivacy([0.0, 1.0]), {2: 0.5}).table)


def test_graphs_without_edges_need_no_budget():
    """A single dataset has no neighbours: no budget, given as a mapping, arrays or a pair, and the truth is certain."""
    for outputs in (None, ("a", "b")):
        graph = DatasetGraph([], {"only": "a"}, outputs=outputs)
        for privacy in (Privacy(1), GaussianDP(1), {}, EdgePrivacy([]), EdgeClasses([Privacy(1)], [])):
            for mechanism in (extend(graph, privacy, {}), balanced(graph, privacy)):
                assert mechanism.truth().tolist() == [1.0]


def test_unknown_vertices_are_refused_wherever_they_are_asked_for():
    """Positions, neighbours and rows of strangers are ParameterErrors, also unhashable ones."""
    mechanism = balanced(LINE, Privacy(1))
    for stranger in ("x", None, [1], 99, (1, 2), NAN):
        for ask in (LINE.position, LINE.neighbors, mechanism.row):
            with pytest.raises(ParameterError, match="is not a vertex of this graph"):
                ask(stranger)


def test_outputs_follow_the_vertices_unless_given():
    """Outputs appear in the order of the vertices; given outputs rule, even one that no vertex has."""
    colors = {1: "z", 2: "a"}
    assert DatasetGraph([(1, 2)], colors).outputs == ("z", "a")
    assert DatasetGraph([(1, 2)], colors, vertices=[2, 1]).outputs == ("a", "z")
    assert DatasetGraph([(1, 2)], colors, outputs=["a", "z"]).outputs == ("a", "z")
    assert DatasetGraph([(1, 2)], lambda _: "b", outputs="ab").outputs == ("a", "b")
    assert DatasetGraph([(_Node(), 2)], lambda v: v == 2).outputs == (False, True)
