"""Check a tinct certificate without tinct: python check_certificate.py FILE. Needs nothing but Python.

It shares no line with the library. docs/files.md has the formats, every constraint and the inequalities.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from itertools import pairwise, product
from math import comb

LARGEST_FILE = 2**30
TABLE = ["outputs", "vertices", "edges", "line", "pieces", "budgets", "budget_of_edge", "denominator", "rows", "digest"]
MODE = ["question", "neighbors", "n", "outputs", "position", "missing", "epsilon", "coin", "keep", "denominator",
        "states", "rows", "digest"]  # fmt: skip
NOISE = ["question", "neighbors", "changes", "epsilon", "delta", "coin", "growth", "denominator", "first", "weights",
         "digest"]  # fmt: skip
FIELDS = {
    "tinct/certificate@1": ["schema", *TABLE],
    "tinct/certificate@2": ["schema", "question", "neighbors", *TABLE],
    "tinct/mode-certificate@1": ["schema", *MODE],
    "tinct/noise-certificate@1": ["schema", *NOISE],
}


def fail(reason):
    """Say why the certificate is worth nothing, and stop."""
    sys.exit(f"REFUSED: {printed(reason)}")


def require(law, reason):
    """Stop unless something holds."""
    if not law:
        fail(reason)


# the file


def spelled(fields):
    """The only way to write a certificate."""
    lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}" for k, v in fields.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def load(path):
    """The fields of a certificate that is spelled as it has to be, each in its place."""
    with open(path, "rb") as file:
        data = file.read(LARGEST_FILE + 1)
    require(len(data) <= LARGEST_FILE, "the file is too large")
    text = data.decode("utf-8")
    doc = json.loads(text, parse_constant=fail, parse_int=short)
    require(isinstance(doc, dict) and doc.get("schema") in [*FIELDS], "not a certificate")
    fields = {name: doc[name] for name in doc if name != "digest"}
    digest = hashlib.sha256(spelled(fields).encode()).hexdigest()
    require(
        text == spelled({**fields, "digest": digest}), "not spelled as a certificate, or changed after it was written"
    )
    require([*doc] == [name for name in FIELDS[doc["schema"]] if name in doc], "an unknown field, or one out of place")
    return doc


def short(digits):
    """A whole number of at most 400 digits."""
    return int(digits) if len(digits.lstrip("-")) <= 400 else fail("a number has more than 400 digits")


def number(text, kind=Fraction):
    """What a text such as "3" or "3/2" stands for, if it is in lowest terms."""
    good = isinstance(text, str) and re.fullmatch("[0-9]{1,1300}(/[0-9]{1,1300})?", text)
    return kind(text) if good and str(kind(text)) == text else fail("numbers must be texts in lowest terms")


def whole(value, least, most):
    """A JSON number that is whole and within its bounds; true and 1.0 are none."""
    require(type(value) is int and least <= value <= most, "a number is not whole, or out of range")
    return value


def label(value, depth=0):
    """A text, a finite number, a truth value, or a list of such, null among them; lists up to 16 deep."""
    if isinstance(value, list) and depth < 16:
        return tuple(label(part, depth + 1) for part in value)
    good = isinstance(value, bool | str) or (value is None and depth > 0)
    good = good or (type(value) is int and value.bit_length() <= 1300)
    good = good or (isinstance(value, float) and abs(value) < float("inf"))
    return value if good else fail("a label must be a text, a finite number, a truth value or a list of such")


def labels(values, count):
    """So many different labels; 1, 1.0 and true are the same one."""
    found = [label(value) for value in array(values, count)]
    require(found and len(set(found)) == count, "labels must be different")
    return found


def array(value, count):
    """A list of so many entries."""
    require(isinstance(value, list) and len(value) == count, f"a list must have {count} entries")
    return value


def named(value, *names):
    """An object with these fields in this order."""
    require(isinstance(value, dict) and [*value] == [*names], f"an object must have the fields {names}")
    return value.values()


def printed(text):
    """A text from the file that cannot play tricks with a terminal."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


# e to a rational power


def below_exp(ratio, epsilon):
    """Whether ratio <= e**epsilon: (1 + x/n)**n rises to e**x from below, (1 - x/n)**-n falls to it from above."""
    if epsilon.startswith("ln "):
        return ratio <= number(epsilon[3:])
    x, bits = number(epsilon), 32
    while x <= 700:
        bits *= 2  # n = 2**bits, in fixed point numbers of this many binary places:
        places = 4 * bits + 64
        low = (1 << places) + (x.numerator << places) // (x.denominator << bits)
        high = (1 << 2 * places) // ((1 << places) + (-x.numerator << places) // (x.denominator << bits)) + 1
        for _ in range(bits):
            low, high = low * low >> places, (high * high >> places) + 1
        if ratio <= Fraction(low, 1 << places) or ratio > Fraction(high, 1 << places):
            return ratio <= Fraction(low, 1 << places)
    return fail("epsilon is more than 700")


# tables on a graph


def check_table(doc):
    """A certificate of a graph or a line: every edge in both directions."""
    new = doc["schema"] == "tinct/certificate@2"
    graph = {"line"} if "line" in doc else {"vertices", "edges"}
    needed = {"schema", "outputs", "budgets", "denominator", "rows", "digest"} | graph
    needed |= {"question", "neighbors"} if new else set()
    allowed = needed | {"budget_of_edge"} | ({"pieces"} if new else set())
    require(needed <= {*doc} <= allowed, "a field is missing, or one too many")
    if new:
        require(isinstance(doc["question"], str), "question must be a text")
        require(isinstance(doc["neighbors"], str) and doc["neighbors"], "neighbors must be a text")
    total, width = number(doc["denominator"], int), len(doc["outputs"])
    labels(doc["outputs"], width)
    require(isinstance(doc["rows"], list) and doc["rows"], "rows must be a list")
    rows = [[number(n, int) for n in array(row, width)] for row in doc["rows"]]
    require(total >= 2 and all(sum(row) == total for row in rows), "a row is not a distribution")
    edges = edges_of(doc, len(rows))
    pieces = count_pieces(len(rows), edges)
    require(whole(doc.get("pieces", 1), 1, len(rows)) == pieces, f"the graph is in {pieces} pieces and does not say so")
    require(("pieces" in doc) == (pieces > 1), "pieces is said where there are several")
    budgets = [budget_of(*named(budget, "epsilon", "growth", "delta"), total) for budget in doc["budgets"]]
    require(isinstance(doc["budgets"], list) and budgets, "there must be a budget")
    require(("budget_of_edge" in doc) == (len(budgets) > 1), "budget_of_edge is said where there are several budgets")
    numbers = [whole(at, 0, len(budgets) - 1) for at in array(doc.get("budget_of_edge", [0] * len(edges)), len(edges))]
    if new:
        require(len({json.dumps(budget) for budget in doc["budgets"]}) == len(budgets), "a budget is listed twice")
        require(all(budget["epsilon"] != "ln 1" for budget in doc["budgets"]), "epsilon = 0 is written 0")
        used = list(dict.fromkeys(numbers)) if edges else [0]
        require(used == [*range(len(budgets))], "budgets must be listed as the edges first use them, and all be used")
    for (u, v), at in zip(edges, numbers, strict=True):
        growth, allowed = budgets[at]
        for one, other in ((rows[u], rows[v]), (rows[v], rows[u])):
            excess = sum(max(0, a - growth * b) for a, b in zip(one, other, strict=True))
            require(excess <= allowed, f"edge {u}, {v} is not private")
    asked = f"for {printed(doc['question'])!r}" if new and doc["question"] else "names no question"
    meant = f"neighbours: {printed(doc['neighbors'])}" if new else "an old file, which names no neighbours"
    apart = f"; IN {pieces} PIECES: nothing is promised between datasets of different pieces" if pieces > 1 else ""
    counted = f"{len(rows)} rows, {2 * len(edges)} inequalities, budgets {doc['budgets']}"
    return f"PRIVATE: {counted}; {asked}; {meant}{apart}"


def edges_of(doc, count):
    """The pairs of neighbouring rows."""
    if "line" in doc:
        first, last = (whole(end, -(10**400), 10**400) for end in named(doc["line"], "from", "to"))
        require(last - first + 1 == count, "each row needs a position of its own")
        return [(i, i + 1) for i in range(count - 1)]
    if isinstance(doc["vertices"], dict):
        _, said = (whole(part, -(10**400), 10**400) for part in named(doc["vertices"], "start", "count"))
        require(said == count, "each row needs a vertex of its own")
    else:
        labels(doc["vertices"], count)
    require(isinstance(doc["edges"], list), "edges must be a list")
    edges = [tuple(whole(end, 0, count - 1) for end in array(edge, 2)) for edge in doc["edges"]]
    require(all(u != v for u, v in edges), "an edge leads from a vertex to itself")
    require(len({(min(edge), max(edge)) for edge in edges}) == len(edges), "an edge is listed twice")
    return edges


def count_pieces(count, edges):
    """In how many pieces the graph is, walking along the edges from each vertex that was not seen before."""
    near = [[] for _ in range(count)]
    for u, v in edges:
        near[u].append(v)
        near[v].append(u)
    seen, pieces = [False] * count, 0
    for start in range(count):
        pieces += not seen[start]
        waiting = [] if seen[start] else [start]
        seen[start] = True
        while waiting:
            for v in near[waiting.pop()]:
                if not seen[v]:
                    seen[v] = True
                    waiting.append(v)
    return pieces


def budget_of(epsilon, growth, delta, total):
    """R and the units by which it may be exceeded, if R is between 1 and e to the power of epsilon."""
    growth, delta = number(growth), number(delta)
    require(growth >= 1 and delta < 1 and below_exp(growth, epsilon), f"growth is not between 1 and e to the {epsilon}")
    return growth, delta * total // 1


# the mode


def check_mode(doc):
    """A certificate of the mode: what the theorem asks of a coin, or every move of one person between states."""
    coin, needed = "coin" in doc, {"schema", "question", "neighbors", "outputs", "position", "epsilon", "digest"}
    needed |= {"coin"} if coin else {"missing", "keep", "denominator", "states", "rows"}
    require(needed <= {*doc} <= needed | {"n"}, "a field is missing, or one too many")
    require(isinstance(doc["question"], str), "question must be a text")
    replace = doc["neighbors"] == "replace"
    require(replace or doc["neighbors"] == "add-remove", "neighbors must be add-remove or replace")
    n = whole(doc["n"], 0, 10**18) if "n" in doc else None
    require(n is None or replace, "n is for replace only")
    k = len(doc["outputs"])
    labels(doc["outputs"], k)
    require(k >= 2, "there must be two categories")
    steps = doc["position"]
    require(isinstance(steps, list) and steps and isinstance(steps[0], list), "position must be a list of steps")
    rest = whole(steps[0][1], 0, k - 1) if steps[0][:1] == ["rest"] and len(steps[0]) == 2 else None
    rest_steps = [] if rest is None else [["rest", rest]]
    about = f"for {printed(doc['question'])!r}" if doc["question"] else "names no question"
    about += f"; neighbours: {doc['neighbors']}" + ("" if n is None else f" of {n} people")
    kept = number(doc["coin" if coin else "keep"])
    changes = 2 if coin and replace else 1
    require(0 < kept <= 1 and below_exp(1 / kept**changes, doc["epsilon"]), "q is less than e to the -epsilon")
    if coin:
        require(json.dumps(steps) == json.dumps([*rest_steps, ["margins"]]), "position is not one for a coin")
        power = "1/q**2" if changes == 2 else "1/q"
        return (
            f"PRIVATE: permute-and-flip of {k} categories, {power} <= e**epsilon (enough by the theorem in "
            f"docs/proofs/mode.md), epsilon = {doc['epsilon']}; {about}"
        )
    require(replace and k <= 20, "a table is for replace and at most 20 categories")
    missing = doc["missing"]
    require(missing is True or (missing is False and rest is not None), "who is missing must count somewhere")
    clip = whole(steps[-2][1], 1, 2**62) if len(steps) > 1 and steps[-2][:1] == ["clip"] else None
    last_steps = [["margins"], ["sort"]] if clip is None else [["margins"], ["clip", clip], ["sort"]]
    cap_steps = [["cap", n]] if clip is None else []
    require(clip is not None or n is not None, "position must cap at n or clip at a margin")
    require(json.dumps(steps) == json.dumps([*rest_steps, *cap_steps, *last_steps]), "position is not one for a table")
    weights = weights_of(doc, k, n, clip, missing)
    up, down = kept.numerator, kept.denominator
    images = 0
    for state, mine in weights.items():
        for after in moves(state, k, n, clip, missing):
            other = weights[tuple(sorted(new for _, new in after))]
            images += 1
            if any(up * mine[old] > down * other[new] for old, new in {*after}):
                fail(f"a move of one person from the margins {state} is not private")
    literally(weights, kept, k, n, clip, missing, rest)
    counted = f"{len(weights)} states, {images} moves, {k * images} inequalities, epsilon = {doc['epsilon']}"
    return f"PRIVATE: {counted}; {about}"


def weights_of(doc, k, n, clip, missing):
    """For every state the weight at each margin, after checking that all states are there, in order, and no others."""
    total, count = number(doc["denominator"], int), len(doc["states"])
    rows = [[number(w, int) for w in array(row, k)] for row in array(doc["rows"], count)]
    require(isinstance(doc["states"], list) and count == count_states(k, n, clip, missing, count), "states are missing")
    states = [tuple(whole(m, 0, 2**62) for m in array(state, k)) for state in doc["states"]]
    for state in states:
        good = state[0] == 0 and [*state] == sorted(state)
        require(good and is_state(state, k, n, clip, missing), "a state is not one of these people's")
    backwards = [state[::-1] for state in states]
    require(all(a < b for a, b in pairwise(backwards)), "states must be ordered by the largest margins")
    weights = {}
    for state, row in zip(states, rows, strict=True):
        require(min(row) > 0 and sum(row) == total, "a row is not a distribution without zeros")
        weights[state] = dict(zip(state, row, strict=True))
        require([weights[state][margin] for margin in state] == row, "equal margins must have equal weights")
    return weights


def is_state(margins, k, n, clip, missing):
    """Whether there are people with these margins: any number of them, n, or with missing ones at most n."""
    if clip is not None:
        return max(margins) <= clip
    if missing:  # the fewest people with these margins are those with an empty category
        return k * max(margins) - sum(margins) <= n
    top, over = divmod(n + sum(margins), k)
    return over == 0 and top >= max(margins)


def count_states(k, n, clip, missing, most):
    """How many states there are; -1 if there are more than ``most`` for certain."""
    if clip is not None:
        return comb(clip + k - 1, k - 1) if clip < most else -1
    if n > 2 * most or comb(n + k - 1, k - 1) > 2**56:
        return -1
    ways = [1] + [0] * n  # at position t, in how many ways t people can be divided among categories without names
    for part in range(1, min(k - missing, n) + 1):
        for people in range(part, n + 1):
            ways[people] += ways[people - part]
    return sum(ways) if missing else ways[n]


def moves(state, k, n, clip, missing):
    """Whatever one person can do in any dataset behind a state: for each category its margin before and after.

    Categories with equal margins have equal weights, so it does not matter which of them moves. A margin at the clip
    may be any from there on. A move changes no margin by more than 2, so 0, 1 or 2 more than the clip stand for all of
    those that move; the others only follow the top, and leave the clip only if it falls and they were exactly there.
    """
    free = k - state.count(clip)
    first = {margin: at for at, margin in reversed([*enumerate(state)])}
    places = [*first.values(), *([None] if missing else [])]
    for giver, taker in product(places, repeat=2):
        if giver == taker:
            if giver is None or state[giver + 1 : giver + 2] != (state[giver],):
                continue
            taker = giver + 1
        if not possible(state, giver, k, n, clip):
            continue
        moving = [at for at in (giver, taker) if at is not None]
        lifted, still = [at for at in moving if at >= free], [at for at in range(free, k) if at not in moving]
        falls = giver == 0 and state[1] > 0
        for lifts in product(range(3), repeat=len(lifted)):
            for beyond in range(len(still) + 1) if falls else [0]:
                after = [*state]
                for at, lift in [*zip(lifted, lifts, strict=True), *((at, 1) for at in still[:beyond])]:
                    after[at] += lift
                if giver is not None:
                    after[giver] += 1
                if taker is not None:
                    after[taker] -= 1
                top = min(after)
                yield [
                    (old, new - top if clip is None else min(new - top, clip))
                    for old, new in zip(state, after, strict=True)
                ]


def possible(margins, giver, k, n, clip):
    """Whether some dataset with these margins has somebody to give; without a giver, a person who is missing."""
    if clip is not None:
        return True  # with enough people everywhere
    if giver is None:
        return k * max(margins) - sum(margins) < n
    return (n + sum(margins)) // k > margins[giver]


def literally(weights, kept, k, n, clip, missing, rest):
    """For few people and categories: every dataset and every neighbour, step by step as the file says."""
    if k > 4 or (n is not None and clip is None and n > 4):
        return
    kinds = k + 1 + missing  # the categories, no category, and outside of what is looked at
    most = 5 if clip is not None else n + 2  # also numbers of people other than the n that was declared
    for counts in datasets(kinds, most):
        mine = answer(counts, weights, k, n, clip, missing, rest)
        for giver in range(kinds):
            for taker in range(kinds):
                if giver != taker and counts[giver]:
                    other = [*counts]
                    other[giver] -= 1
                    other[taker] += 1
                    theirs = answer(other, weights, k, n, clip, missing, rest)
                    if any(kept * a > b for a, b in zip(mine, theirs, strict=True)):
                        fail("two neighbouring datasets are further apart than the table says")


def datasets(kinds, most):
    """All ways in which up to ``most`` people can be of these kinds."""
    if kinds == 0:
        yield []
        return
    for count in range(most + 1):
        yield from ([count, *others] for others in datasets(kinds - 1, most - count))


def answer(counts, weights, k, n, clip, missing, rest):
    """The weight of each category for a dataset: rest, cap, margins, clip, sort."""
    histogram = list(counts[:k])
    if rest is not None:
        histogram[rest] += counts[k]
    if clip is None:
        left = n
        for at in range(k):
            histogram[at] = min(histogram[at], left)
            left -= histogram[at]
        if not missing:
            histogram[rest] += left
    margins = [max(histogram) - count for count in histogram]
    if clip is not None:
        margins = [min(margin, clip) for margin in margins]
    row = weights[tuple(sorted(margins))]
    return [row[margin] for margin in margins]


# noise


def check_noise(doc):
    """A certificate of noise that is added to counts: against itself moved by one, in both directions."""
    needed = {"schema", "question", "neighbors", "changes", "epsilon", "delta", "digest"}
    needed |= {"coin"} if "coin" in doc else {"growth", "denominator", "first", "weights"}
    require({*doc} == needed, "a field is missing, or one too many")
    require(isinstance(doc["question"], str), "question must be a text")
    require(doc["neighbors"] in ("add-remove", "replace"), "neighbors must be add-remove or replace")
    changes, delta = whole(doc["changes"], 1, 2), number(doc["delta"])
    require(delta < 1 and isinstance(doc["epsilon"], str) and doc["epsilon"] != "ln 1", "epsilon or delta is wrong")
    about = f"for {printed(doc['question'])!r}" if doc["question"] else "names no question"
    about += f"; neighbours: {doc['neighbors']}, of which each changes {changes} of the numbers by 1"
    about += f"; epsilon = {doc['epsilon']}, delta = {doc['delta']}"
    if "coin" in doc:
        coin = number(doc["coin"])
        require(0 < coin < 1 and delta == 0, "the coin must be between 0 and 1, and delta 0")
        require(below_exp(1 / coin**changes, doc["epsilon"]), "q is less than e to the -epsilon")
        return f"PRIVATE: geometric noise, enough by the theorem in docs/proofs/counts.md; {about}"
    growth, total = number(doc["growth"]), number(doc["denominator"], int)
    require(growth >= 1 and below_exp(growth**changes, doc["epsilon"]), "growth is not between 1 and e to the epsilon")
    whole(doc["first"], -(2**62) + 1, 2**62 - 1)
    require(
        isinstance(doc["weights"], list) and len(doc["weights"]) <= 2**18 + 1, "weights must be a list, not too long"
    )
    weights = [number(weight, int) for weight in doc["weights"]]
    require(total >= 2 and sum(weights) == total, "the weights are not a distribution")
    here, moved = [*weights, 0], [0, *weights]
    for one, other in ((here, moved), (moved, here)):
        excess = sum(max(0, a - growth * b) for a, b in zip(one, other, strict=True))
        require(excess <= delta / changes * total // 1, "the noise does not hide a step of one")
    return f"PRIVATE: noise in {len(weights)} numbers; {about}"


def check(path):
    """Return what the certificate guarantees, or stop."""
    doc = load(path)
    if doc["schema"].startswith("tinct/noise-"):
        return check_noise(doc)
    return check_mode(doc) if doc["schema"].startswith("tinct/mode-") else check_table(doc)


USAGE = """usage: python check_certificate.py FILE

Check a certificate that tinct has written (.json), without tinct. It prints PRIVATE and what is guaranteed, and
exits with 0; or REFUSED and the reason, and exits with 1."""


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(USAGE)
        sys.exit(0)
    if len(sys.argv) != 2:
        print(USAGE, file=sys.stderr)
        sys.exit(2)
    try:
        print(check(sys.argv[1]))
    except FileNotFoundError:
        fail("there is no such file")
    except OSError as error:
        fail(f"the file cannot be read ({error.strerror})")
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        fail(f"not a certificate ({type(error).__name__})")
