"""Certificates in files (schema tinct/certificate@2; docs/files.md describes it for independent checkers).

A certificate has one spelling only: the reader writes what it understood again and compares it byte by byte, so
nothing in the file can be overlooked. The digest notices accidents; the proof, which is redone from the numbers, is
what an attacker would have to beat. Files of the first schema name no question and are still read.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import reading, strict_json, suffix_of, write_atomically
from tinct._files._strict_json import require_fields, require_schema
from tinct.errors import FileError, NotPrivate, ParameterError
from tinct.exact.certificate_text import (
    digest_of,
    epsilon,
    exact_text,
    items,
    labels,
    require_spelling,
    spelled,
    whole,
    words,
)
from tinct.exact.certified import Certified
from tinct.exact.proof import Terms, parse_rational
from tinct.graphs.labels import Names, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinct._files import FilePath

SCHEMA = "tinct/certificate@2"
OLD_SCHEMA = "tinct/certificate@1"


# writing


def write_certificate(certified: Certified, path: FilePath) -> None:
    """Write a certificate as JSON, whole or not at all."""
    suffix_of(path, (".json",))
    write_atomically(path, spelled(_fields(certified))[0])


def digest(certified: Certified) -> str:
    """The SHA-256 of everything in the file but the digest itself."""
    return digest_of(_fields(certified))


def _fields(certified: Certified) -> dict[str, Any]:
    vertices = certified.vertices
    fields: dict[str, Any] = {"schema": OLD_SCHEMA}
    if certified.edition > 1:
        fields = {"schema": SCHEMA, "question": certified.question, "neighbors": certified.neighbors}
    fields["outputs"] = [plain(output) for output in certified.outputs]
    if certified.clamped:
        fields["line"] = {"from": vertices[0], "to": vertices[-1]}
    else:
        counted = isinstance(vertices, range) and vertices.step == 1
        fields["vertices"] = (
            {"start": vertices[0], "count": len(vertices)} if counted else [plain(vertex) for vertex in vertices]
        )
        fields["edges"] = certified.ends.tolist()
    if certified.pieces > 1:
        fields["pieces"] = certified.pieces
    fields["budgets"] = [
        {"epsilon": term.epsilon, "growth": str(term.growth), "delta": str(term.delta)} for term in certified.terms
    ]
    if len(certified.terms) != 1:
        fields["budget_of_edge"] = certified.classes.tolist()
    fields["denominator"] = str(certified.denominator)
    fields["rows"] = [[str(entry) for entry in row] for row in certified.rows]
    return fields


# reading


def read_certificate(path: FilePath, progress: Callable[[int], None] | None = None) -> Certified:
    """Read a certificate and prove it again; whatever is odd about the file is a FileError."""
    suffix_of(path, (".json",))
    text = exact_text(path)
    document = strict_json(text, path)
    old = isinstance(document, dict) and document.get("schema") == OLD_SCHEMA
    require_schema(document, path, OLD_SCHEMA if old else SCHEMA)
    shared = ("outputs", "budgets", "denominator", "rows", "digest")
    graph = ("line",) if "line" in document else ("vertices", "edges")
    named, counted = ((), ()) if old else (("question", "neighbors"), ("pieces",))
    require_fields(
        document, path, "the certificate", required=("schema", *named, *shared, *graph),
        optional=("budget_of_edge", *counted),
    )  # fmt: skip
    try:
        with reading(path, "the certificate"):
            certified = _certified(document, progress)
    except NotPrivate as error:
        raise FileError(f"the certificate is wrong: {error}", path=path) from error
    certified.__dict__["id"] = require_spelling(text, document["digest"], _fields(certified), path)
    return certified


def _certified(document: dict[str, Any], progress: Callable[[int], None] | None) -> Certified:
    outputs = tuple(labels(document["outputs"], "outputs"))
    total = whole(document["denominator"], "denominator")
    terms = tuple(_terms(item, at) for at, item in enumerate(items(document["budgets"], "budgets")))
    rows = [[whole(entry, f"rows[{at}]") for entry in items(row, f"rows[{at}]")] for at, row in _listed(document)]
    vertices, ends = _graph(document, len(rows))
    classes = _classes(document.get("budget_of_edge"), len(ends), len(terms))
    return Certified(
        vertices, outputs, rows, total, ends, classes, terms, clamped="line" in document, progress=progress,
        **_statement(document),
    )  # fmt: skip


def _statement(document: dict[str, Any]) -> dict[str, Any]:
    """What a certificate says beside its numbers; an old one says nothing, so its graph must be in one piece."""
    if document["schema"] == OLD_SCHEMA:
        return {"edition": 1}
    pieces = document.get("pieces", 1)
    if type(pieces) is not int or pieces < 1:
        raise ParameterError("pieces must be a whole number")
    words(document["neighbors"], "neighbors", at_least=1)
    return {"question": document["question"], "neighbors": document["neighbors"], "pieces": pieces}


def _listed(document: dict[str, Any]) -> Sequence[tuple[int, Any]]:
    rows = items(document["rows"], "rows")
    if not rows:
        raise ParameterError("rows is empty: there is nothing to certify")
    return list(enumerate(rows))


def _graph(document: dict[str, Any], count: int) -> tuple[Sequence[Any], Any]:
    if "line" in document:
        line = document["line"]
        good = isinstance(line, dict) and set(line) == {"from", "to"} and all(type(end) is int for end in line.values())
        if not good or line["to"] - line["from"] + 1 != count:
            raise ParameterError(f"line must say from and to, whole numbers that cover the {count} rows")
        steps = np.arange(count, dtype=np.int32)
        return range(line["from"], line["to"] + 1), np.stack([steps[:-1], steps[1:]], axis=1)
    return _vertices(document["vertices"], count), _ends(document["edges"], count)


def _vertices(value: object, count: int) -> Sequence[Any]:
    if isinstance(value, dict):
        good = set(value) == {"start", "count"} and all(type(part) is int for part in value.values())
        if not good or value["count"] != count:
            raise ParameterError(f"vertices must say start and count, and count the {count} rows")
        return range(value["start"], value["start"] + count)
    names = labels(value, "vertices")
    if len(names) != count or len(set(names)) != count:
        raise ParameterError(f"vertices must name each of the {count} rows once")
    return Names(names)


def _ends(value: object, count: int) -> Any:
    edges = items(value, "edges")
    seen = set()
    for at, edge in enumerate(edges):
        good = type(edge) is list and len(edge) == 2 and all(type(end) is int and 0 <= end < count for end in edge)
        if not good or edge[0] == edge[1]:
            raise ParameterError(f"edges[{at}] must be two different positions from 0 to {count - 1}")
        seen.add((min(edge), max(edge)))
    if len(seen) != len(edges):
        raise ParameterError("edges must list each pair of neighbours once")
    return np.array(edges, np.int32).reshape(-1, 2)


def _classes(value: object, edges: int, terms: int) -> Any:
    if value is None:
        if terms != 1:
            raise ParameterError("budget_of_edge must say which of the budgets each edge has")
        return np.zeros(edges, np.int32)
    numbers = items(value, "budget_of_edge")
    if len(numbers) != edges or not all(type(number) is int and 0 <= number < terms for number in numbers):
        raise ParameterError(f"budget_of_edge must have a number from 0 to {terms - 1} for each of the {edges} edges")
    return np.array(numbers, np.int32)


def _terms(value: object, at: int) -> Terms:
    if not isinstance(value, dict) or set(value) != {"epsilon", "growth", "delta"}:
        raise ParameterError(f"budgets[{at}] must have the fields epsilon, growth, delta")
    epsilon(value["epsilon"], f"budgets[{at}]: epsilon")
    growth, delta = (parse_rational(value[name], name) for name in ("growth", "delta"))
    return Terms(value["epsilon"], Fraction(growth), Fraction(delta))
