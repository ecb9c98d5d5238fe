"""Check a tinct certificate without tinct: python check_certificate.py FILE. Needs nothing but Python.

It shares no line with the library. docs/files.md describes the format and the inequality.
"""

import hashlib
import json
import sys
from fractions import Fraction


def fail(reason):
    """Say why the certificate is worth nothing, and stop."""
    sys.exit(f"REFUSED: {reason}")


def unique(pairs):
    """Refuse a JSON object that says two things under one name."""
    return dict(pairs) if len(dict(pairs)) == len(pairs) else fail("a key occurs twice")


def below_exp(ratio, epsilon):
    """Whether ratio <= e**epsilon: (1 + x/n)**n rises to e**x from below, (1 - x/n)**-n falls to it from above."""
    if epsilon.startswith("ln "):
        return ratio <= Fraction(epsilon[3:])
    x, bits = Fraction(epsilon), 0
    while True:
        bits += 64  # fixed point numbers of this many binary places, e**x = (e**(x/2**bits))**(2**bits)
        places = 4 * bits + 64
        low = (1 << places) + (x.numerator << places) // (x.denominator << bits)
        high = (1 << 2 * places) // ((1 << places) + (-x.numerator << places) // (x.denominator << bits)) + 1
        for _ in range(bits):
            low, high = low * low >> places, (high * high >> places) + 1
        if ratio <= Fraction(low, 1 << places) or ratio > Fraction(high, 1 << places):
            return ratio <= Fraction(low, 1 << places)


def check(path):
    """Return what the certificate guarantees, or stop."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    doc = json.loads(text, object_pairs_hook=unique)
    lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}" for k, v in doc.items()]
    body = "{\n" + ",\n".join(lines[:-1]) + "\n}\n"
    if doc["schema"] != "tinct/certificate@1" or doc.get("digest") != hashlib.sha256(body.encode()).hexdigest():
        fail("not a certificate, or changed after it was written")
    total, rows = int(doc["denominator"]), [[int(n) for n in row] for row in doc["rows"]]
    if any(len(row) != len(doc["outputs"]) or min(row) < 0 or sum(row) != total for row in rows):
        fail("a row is not a distribution")
    edges = [[i, i + 1] for i in range(len(rows) - 1)] if "line" in doc else doc["edges"]
    limits = []
    for budget in doc["budgets"]:
        growth, delta = Fraction(budget["growth"]), Fraction(budget["delta"])
        if not (growth >= 1 and 0 <= delta < 1 and below_exp(growth, budget["epsilon"])):
            fail(f"growth is not between 1 and e to the power of {budget['epsilon']}")
        limits.append((growth, delta * total // 1))
    numbers = doc.get("budget_of_edge", [0] * len(edges))
    for (u, v), number in zip(edges, numbers, strict=True):
        growth, allowed = limits[number]
        for one, other in ((rows[u], rows[v]), (rows[v], rows[u])):
            if sum(max(0, a - growth * b) for a, b in zip(one, other, strict=True)) > allowed:
                fail(f"edge {u}, {v} is not private")
    return f"PRIVATE: {len(rows)} rows, {2 * len(edges)} inequalities, budgets {doc['budgets']}"


if __name__ == "__main__":
    print(check(sys.argv[1]))
