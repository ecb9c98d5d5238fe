"""Check a tinct certificate without tinct: python check_certificate.py FILE. Needs nothing but Python.

It shares no line with the library. docs/files.md describes the format and the inequality.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction


def fail(reason):
    """Say why the certificate is worth nothing, and stop."""
    sys.exit(f"REFUSED: {reason}")


def spelled(fields):
    """The only way to write a certificate."""
    lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}" for k, v in fields.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def number(text, kind=Fraction):
    """What a text such as "3" or "3/2" stands for, if it is in lowest terms."""
    good = isinstance(text, str) and re.fullmatch("[0-9]{1,1300}(/[0-9]{1,1300})?", text)
    return kind(text) if good and str(kind(text)) == text else fail("numbers must be texts in lowest terms")


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


def check(path):
    """Return what the certificate guarantees, or stop."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    doc = json.loads(text)
    fields = {name: doc[name] for name in doc if name != "digest"}
    digest = hashlib.sha256(spelled(fields).encode()).hexdigest()
    if doc["schema"] != "tinct/certificate@1" or text != spelled({**fields, "digest": digest}):
        fail("not a certificate, or changed after it was written")
    graph = {"line"} if "line" in doc else {"vertices", "edges"}
    if {*doc} - {"budget_of_edge"} != {"schema", "outputs", "budgets", "denominator", "rows", "digest"} | graph:
        fail("a field is missing, or one too many")
    total, rows = number(doc["denominator"], int), [[number(n, int) for n in row] for row in doc["rows"]]
    if total < 2 or any(len(row) != len(doc["outputs"]) or sum(row) != total for row in rows):
        fail("a row is not a distribution")
    named = doc["line"]["to"] - doc["line"]["from"] + 1 if "line" in doc else doc["vertices"]
    named = named["count"] if isinstance(named, dict) else named
    named = len({json.dumps(name) for name in named}) if isinstance(named, list) else named
    if named != len(rows) or len({json.dumps(output) for output in doc["outputs"]}) != len(doc["outputs"]):
        fail("each row needs a vertex of its own, and each column an output of its own")
    limits = []
    for budget in doc["budgets"]:
        growth, delta = number(budget["growth"]), number(budget["delta"])
        if not (growth >= 1 and delta < 1 and below_exp(growth, budget["epsilon"])):
            fail(f"growth is not between 1 and e to the power of {budget['epsilon']}")
        limits.append((growth, delta * total // 1))
    edges = [[i, i + 1] for i in range(len(rows) - 1)] if "line" in doc else doc["edges"]
    for (u, v), at in zip(edges, doc.get("budget_of_edge", [0] * len(edges)), strict=True):
        growth, allowed = limits[at]
        for one, other in ((rows[u], rows[v]), (rows[v], rows[u])):
            if min(u, v, at) < 0 or sum(max(0, a - growth * b) for a, b in zip(one, other, strict=True)) > allowed:
                fail(f"edge {u}, {v} is not private")
    return f"PRIVATE: {len(rows)} rows, {2 * len(edges)} inequalities, budgets {doc['budgets']}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python check_certificate.py FILE", file=sys.stderr)
        sys.exit(2)
    try:
        print(check(sys.argv[1]))
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        fail(f"not a certificate ({type(error).__name__})")
