"""Slow, obvious twins of what the library computes quickly.

Nothing here imports tinct. Where a twin takes numbers it accepts Fractions, so that a test can choose exact arithmetic.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from itertools import combinations, product
from statistics import NormalDist
from typing import Any

Edge = tuple[int, int]
Step = Callable[[Any], Any]


# one edge


def upper(a: Any, growth: Any, delta: Any) -> Any:
    """The largest b with b ≤ E·a + δ, 1 − a ≤ E·(1 − b) + δ and b ≤ 1: (ε, δ)-DP of the two answers, solved for b."""
    return min(growth * a + delta, 1 - (1 - a - delta) / growth, 1)


def exact_upper(a: float, growth: float, delta: float) -> Fraction:
    """The same in exact arithmetic on the very floats given."""
    return upper(Fraction(a), Fraction(growth), Fraction(delta))


def gaussian_upper(a: float, mu: float) -> float:
    """Φ(Φ⁻¹(a) + μ) by the standard library."""
    if a <= 0.0 or a >= 1.0:
        return float(a)
    return NormalDist().cdf(NormalDist().inv_cdf(a) + mu)


def iterate(step: Step, distance: int, a: Any) -> Any:
    """A step applied ``distance`` times."""
    for _ in range(distance):
        a = step(a)
    return a


def orbit(steps: int, a: Any, growth: Any, delta: Any) -> Any:
    """U applied so many times to a, or L if the number is negative: Pr[Z ≥ −steps] of the noise through a."""
    if steps >= 0:
        return iterate(lambda value: upper(value, growth, delta), steps, a)
    return 1 - iterate(lambda value: upper(value, growth, delta), -steps, 1 - a)


# graphs: n vertices 0..n−1, a list of edges, a list of colours


def all_distances(n: int, edges: Iterable[Edge]) -> list[list[float]]:
    """Lengths of shortest paths between all pairs (Floyd and Warshall)."""
    far = [[0.0 if u == v else math.inf for v in range(n)] for u in range(n)]
    for u, v in edges:
        far[u][v] = far[v][u] = 1.0
    for middle in range(n):
        for u in range(n):
            for v in range(n):
                far[u][v] = min(far[u][v], far[u][middle] + far[middle][v])
    return far


def boundary_vertices(edges: Iterable[Edge], colors: Sequence[Any]) -> set[int]:
    """The ends of all edges whose ends differ in colour."""
    return {end for u, v in edges if colors[u] != colors[v] for end in (u, v)}


def boundary_distance(n: int, edges: Sequence[Edge], colors: Sequence[Any]) -> list[int]:
    """Distance in the whole graph to the nearest boundary vertex of the own colour; −1 where there is none."""
    far, boundary = all_distances(n, edges), boundary_vertices(edges, colors)
    nearest = [min((far[v][b] for b in boundary if colors[b] == colors[v]), default=math.inf) for v in range(n)]
    return [-1 if math.isinf(distance) else int(distance) for distance in nearest]


def component_labels(n: int, edges: Sequence[Edge]) -> list[int]:
    """Everybody takes the smallest label among neighbours until nothing changes; then labels are renumbered."""
    label = list(range(n))
    while True:
        before = label.copy()
        for u, v in edges:
            label[u] = label[v] = min(label[u], label[v])
        if label == before:
            break
    names = sorted(set(label))
    return [names.index(one) for one in label]


def missed_edges(edges: Iterable[Edge], colors: Sequence[Any], chosen: Iterable[int]) -> list[Edge]:
    """The boundary edges that no chosen vertex meets."""
    chosen = set(chosen)
    return [(u, v) for u, v in edges if colors[u] != colors[v] and u not in chosen and v not in chosen]


def smallest_cover_size(n: int, edges: Sequence[Edge], colors: Sequence[Any]) -> int:
    """The size of a smallest set of vertices that meets every boundary edge, by trying all sets."""
    for size in range(n + 1):
        if any(not missed_edges(edges, colors, chosen) for chosen in combinations(range(n), size)):
            return size
    raise AssertionError("all vertices together meet every edge")


# the extension


def envelope(n: int, edges: Sequence[Edge], steps: Sequence[Step], fixed: Mapping[int, Any]) -> list[Any]:
    """For one colour and every vertex the least bound over all paths from all fixed vertices, anywhere in the graph."""
    bound = [fixed.get(v, 1) for v in range(n)]
    while True:
        before = list(bound)
        for (u, v), step in zip(edges, steps, strict=True):
            bound[v] = min(bound[v], step(bound[u]))
            bound[u] = min(bound[u], step(bound[v]))
        if bound == before:
            return bound


def margin(n: int, edges: Sequence[Edge], steps: Sequence[Step], fixed: Mapping[int, Any]) -> Any:
    """The least A(u) − p(u) over the fixed vertices, for one colour: negative if and only if nothing extends p."""
    slack = [1]
    for u, value in fixed.items():  # the trivial path makes A(u) at most p(u): look at the bounds from other vertices
        others = {w: p for w, p in fixed.items() if w != u}
        slack.append(envelope(n, edges, steps, others)[u] - value)
    return min(slack)


def extension(
    n: int, edges: Sequence[Edge], steps: Sequence[Step], codes: Sequence[int], fixed: Mapping[int, Any]
) -> list[Any]:
    """Pr[first colour] in the optimal extension of fixed values that can be extended."""
    first = envelope(n, edges, steps, fixed)
    second = envelope(n, edges, steps, {u: 1 - p for u, p in fixed.items()})
    return [fixed[v] if v in fixed else first[v] if codes[v] == 0 else 1 - second[v] for v in range(n)]


def region_bounds(
    n: int, edges: Sequence[Edge], steps: Sequence[Step], codes: Sequence[int], fixed: Mapping[int, Any]
) -> list[Any]:
    """The bound on the truth of free vertices along paths inside their region, with fixed vertices only as ends."""
    value = [None if v in fixed else 1 for v in range(n)]
    while True:
        before = list(value)
        for (u, v), step in zip(edges, steps, strict=True):
            for here, there in ((u, v), (v, u)):
                if there in fixed:
                    continue
                if here in fixed:
                    start = fixed[here] if codes[there] == 0 else 1 - fixed[here]
                elif codes[here] == codes[there]:
                    start = value[here]
                else:
                    continue
                value[there] = min(value[there], step(start))
        if value == before:
            return value


# the fair optimum


def fair(
    n: int,
    edges: Sequence[Edge],
    steps: Sequence[Step],
    codes: Sequence[int],
    balances: Sequence[Any],
    given: Mapping[int, Any] | None = None,
) -> list[Any] | None:
    """Pr[first colour] in the fair optimum, as it is defined: settle the least candidate, and start again.

    Candidates are the bounds that settled vertices put on the truth of others, along all paths and across colours, and
    the balances of boundary edges with two open ends. None if the given values contradict each other.
    """
    first = dict(given or {})
    if given and margin(n, edges, steps, first) < -1e-12:
        return None
    while len(first) < n:
        bounds = envelope(n, edges, steps, first), envelope(n, edges, steps, {v: 1 - p for v, p in first.items()})
        found = [(bounds[codes[v]][v], v) for v in range(n) if v not in first]
        found += [
            (level, u)
            for (u, v), level in zip(edges, balances, strict=True)
            if codes[u] != codes[v] and u not in first and v not in first
        ]
        truth, v = min(found)
        first[v] = truth if codes[v] == 0 else 1 - truth
    return [first[v] for v in range(n)]


def fair_by_bounds(
    n: int, edges: Sequence[Edge], steps: Sequence[Step], codes: Sequence[int], balances: Sequence[Any]
) -> tuple[list[Any], int]:
    """The truths of the fair optimum by bounds from both sides, and how often these were taken.

    For open vertices, an open boundary edge allows at least its balance, and at most what the lower bound on its other
    end leaves. Where both bounds, carried along all paths of one colour, are the same, that is the truth.
    """
    truth: dict[int, Any] = {}
    taken = 0
    while len(truth) < n:
        taken += 1
        low = [truth.get(v, 1) for v in range(n)]
        high = list(low)
        for bounds, other in ((low, None), (high, low)):
            for (u, w), step, balance in zip(edges, steps, balances, strict=True):
                for here, there in ((u, w), (w, u)):
                    if there in truth or codes[here] == codes[there]:
                        continue
                    if here in truth:
                        bound = step(1 - truth[here])
                    else:
                        bound = balance if other is None else max(balance, step(1 - other[here]))
                    bounds[there] = min(bounds[there], bound)
            changed = True
            while changed:
                changed = False
                for (u, w), step in zip(edges, steps, strict=True):
                    for here, there in ((u, w), (w, u)):
                        if there not in truth and codes[here] == codes[there] and step(bounds[here]) < bounds[there]:
                            bounds[there], changed = step(bounds[here]), True
        met = {v: low[v] for v in range(n) if v not in truth and low[v] == high[v]}
        assert met, "the bounds on some vertex always meet"
        truth |= met
    return [truth[v] for v in range(n)], taken


def room_above(
    n: int,
    edges: Sequence[Edge],
    steps: Sequence[Step],
    codes: Sequence[int],
    first: Sequence[Any],
    given: Iterable[int],
) -> list[Any]:
    """By how much the truth of each vertex could be raised, alone or with others, if nobody's may be lowered.

    Truths of one colour can rise to the least bound along all paths from the other colour and from the given vertices:
    that is the greatest private table in which these have what they have. So nothing can be raised in any private
    table if and only if all of these are 0.
    """
    room: list[Any] = [0] * n
    for color in (0, 1):
        mine = [p if color == 0 else 1 - p for p in first]
        held = {v: mine[v] for v in range(n) if codes[v] != color or v in given}
        bounds = envelope(n, edges, steps, held)
        for v in range(n):
            if v not in held:
                room[v] = bounds[v] - mine[v]
    return room


# tables


def events(q: int) -> list[tuple[int, ...]]:
    """All sets of outputs."""
    return [event for size in range(q + 1) for event in combinations(range(q), size)]


def hockey_stick(p: Sequence[Any], q: Sequence[Any], growth: Any) -> Any:
    """The least δ for E: the largest P(S) − E·Q(S) over all events."""
    return max(sum(p[k] for k in event) - growth * sum(q[k] for k in event) for event in events(len(p)))


def least_epsilon(p: Sequence[Any], q: Sequence[Any], delta: Any) -> float:
    """The least ε ≥ 0 for δ: the largest ln((P(S) − δ)/Q(S)) over all events."""
    worst = 0.0
    for event in events(len(p)):
        above, below = sum(p[k] for k in event) - delta, sum(q[k] for k in event)
        if above > below:
            worst = max(worst, math.log(above / below) if below > 0 else math.inf)
    return worst


def is_private(first: Sequence[Any], edges: Sequence[Edge], steps: Sequence[Step], tolerance: float = 0.0) -> bool:
    """Whether p(v) ≤ U(p(u)) on every edge, in both directions and for both colours."""
    return all(
        there <= step(here) + tolerance
        for (u, v), step in zip(edges, steps, strict=True)
        for a, b in ((u, v), (v, u))
        for here, there in ((first[a], first[b]), (1 - first[a], 1 - first[b]))
    )


# orders of preference


def prefix_bounds(
    n: int,
    edges: Sequence[Edge],
    steps: Sequence[Step],
    orders: Sequence[Sequence[int]],
    fixed: Mapping[int, Sequence[Any]],
) -> list[list[Any]]:
    """For every free vertex the least bounds on its k best answers, along paths of free vertices of its order."""
    width = len(orders[0]) - 1
    bound: list[list[Any]] = [[1] * width for _ in range(n)]
    for k in range(width):
        while True:
            before = [row[k] for row in bound]
            for (u, v), step in zip(edges, steps, strict=True):
                for here, there in ((u, v), (v, u)):
                    if there in fixed or (here not in fixed and orders[here] != orders[there]):
                        continue
                    start = sum(fixed[here][y] for y in orders[there][: k + 1]) if here in fixed else bound[here][k]
                    bound[there][k] = min(bound[there][k], step(start))
            if before == [row[k] for row in bound]:
                break
    return bound


# cells


BLANKS = "".join(chr(code) for code in range(0x3001) if unicodedata.category(chr(code)) == "Zs")
MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A")
YES, NO = ("yes", "y", "true", "t", "1", "1.0"), ("no", "n", "false", "f", "0", "0.0")


def read_cell(text: str | None, use: str, column: Mapping[str, Any] | None = None, **written: Any) -> Any:
    """What a cell of text is read as: a number, a text, True or False, a moment, or the label of a group.

    ``column`` is what a description says about the column, as its file does; ``written`` how cells are written.
    """
    marks = written.get("missing", MISSING)
    own = "missing" in written
    cell = "" if text is None else text.strip(BLANKS)
    kind = None if column is None else column["kind"]
    values = [] if column is None else list(column.get("values", []))
    listed = any(cell == value for value in values)
    if not cell or (cell in marks and not listed and (own or use in ("text", "label"))):
        return None
    if own and use != "text" and not listed and kind != "date" and use != "day":  # -9 is -9.0
        if short(cell) in map(short, marks):
            return None
        number = read_number(cell, None, **written)
        numeric = use == "number" or kind == "number" or (values and not isinstance(values[0], str))
        if numeric and number is not None and number in [read_number(mark, None, **written) for mark in marks]:
            return None
    if use == "number" or (use == "label" and (kind == "number" or (values and not isinstance(values[0], str)))):
        number = read_number(cell, column, **written)
        if use == "number" or number is None:
            return number
        return str(int(number)) if number == int(number) and abs(number) < 9e18 else repr(number)
    if use == "yes/no" or kind == "yes/no":
        yes, no = ((column or {}).get(name) or usual for name, usual in (("yes", YES), ("no", NO)))
        whole = short if (column or {}).get("yes") else str  # of codes, 1.0 is 1
        truth = {**dict.fromkeys(map(whole, no), False), **dict.fromkeys(map(whole, yes), True)}.get(
            whole(cell.lower())
        )
        return truth if use == "yes/no" else None if truth is None else ("yes" if truth else "no")
    if use == "day" or kind == "date":
        moment = read_moment(cell, (column or {}).get("form"))
        return moment[:10] if use == "label" and moment and "%H" not in column["form"] else moment
    if values and not listed:
        return None
    return short(cell) if use == "label" else cell


def short(cell: str) -> str:
    """A whole number without its zeros after the point; all else as it is."""
    return cell.partition(".")[0] if re.fullmatch(r"-?[0-9]+\.0+", cell) else cell


def read_number(cell: str, column: Mapping[str, Any] | None, **written: Any) -> float | None:
    """A finite number within the range, or among the values, of its column."""
    decimal, thousands = written.get("decimal", "."), written.get("thousands", "")
    if len(cell) > 400:
        return None
    whole, power = re.fullmatch(r"(.*?)(?:[eE]([+-]?[0-9]{1,3}))?", cell, re.DOTALL).groups()
    sign = whole[:1] if whole[:1] in ("+", "-") else ""
    digits, _, fraction = whole[len(sign) :].partition(decimal)
    if thousands and thousands in digits:
        head, *threes = digits.split(thousands)
        if not 1 <= len(head) <= 3 or any(len(three) != 3 for three in threes):
            return None
        digits = "".join([head, *threes])
    if not (digits + fraction) or not set(digits + fraction) <= set("0123456789"):
        return None
    number = float(f"{sign}{digits or 0}.{fraction or 0}e{power or 0}")
    if math.isinf(number):
        return None
    column = column or {}
    if not column.get("least", -math.inf) <= number <= column.get("most", math.inf):
        return None
    return None if column.get("values") and number not in column["values"] else number


def read_moment(cell: str, form: str | None = None) -> str | None:
    """A moment as year, month, day, hour, minute, second; without a form only what is written in that order already."""
    if form is None:
        text = re.sub(r"(Z|\+00(:?00)?)\Z", "", cell.replace("T", " "))
        whole = f"{text} 00:00:00" if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else text
        return whole if re.fullmatch(r"([0-9]{4}(-[0-9]{2}){2} )?[0-9]{2}(:[0-9]{2}){2}(\.[0-9]+)?", whole) else None
    names = {"%Y": "year", "%m": "month", "%d": "day", "%H": "hour", "%M": "minute", "%S": "second"}
    pattern = "".join(
        f"(?P<{names[part]}>[0-9]{{{'4' if part == '%Y' else '1,2'}}})" if part in names else re.escape(part)
        for part in re.split("(%.)", form)
    )
    found = re.fullmatch(pattern, cell)
    try:
        return str(datetime(**{name: int(digits) for name, digits in found.groupdict().items()})) if found else None
    except ValueError:
        return None


def joint_answers(distances: Sequence[Sequence[int]], s: Fraction) -> dict[tuple[int, ...], Fraction]:
    """Each joint answer of several questions with its probability by the rule SC, as its definition reads."""
    distance = {
        answer: max(each[place] for each, place in zip(distances, answer, strict=True))
        for answer in product(*(range(len(each)) for each in distances))
    }
    (true,) = (answer for answer, far in distance.items() if far == 0)
    wrong = {answer: far for answer, far in distance.items() if far}
    q, d = s * s, min(wrong.values())
    cap = 1 / (s**3 * (1 + q))
    kappa = {answer: cap * sum(s ** max(other, far) for other in wrong.values()) for answer, far in wrong.items()}

    def phi(g: Fraction) -> Fraction:
        return s ** (1 - d) * g + sum(s**far * min(g, kappa[answer]) for answer, far in wrong.items())

    below = max([each for each in kappa.values() if phi(each) < 1], default=Fraction(0))
    slope = s ** (1 - d) + sum(s**far for answer, far in wrong.items() if kappa[answer] > below)
    g = below + (1 - phi(below)) / slope
    assert phi(g) == 1
    most = min(g, s ** (d - 1) / (1 + q))
    found = {answer: s**far * min(most, kappa[answer]) for answer, far in wrong.items()}
    return {true: 1 - sum(found.values()), **found}
