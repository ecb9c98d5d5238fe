"""Certificates in files (schema tinct/certificate@1; docs/files.md describes it for independent checkers).

A certificate has one spelling only: the reader writes what it understood again and compares it byte by byte, so
nothing in the file can be overlooked. The digest notices accidents; the proof, which is redone from the numbers, is
what an attacker would have to beat.
"""

from __future__ import annotations

import re
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import json_text, read_bytes, reading, strict_json, suffix_of, write_atomically
from tinct.errors import FileError, NotPrivate, ParameterError
from tinct.exact.certificate import Terms, parse_rational
from tinct.exact.certified import Certified
from tinct.graphs.documents import require_fields, require_schema
from tinct.graphs.labels import Names, hashable
from tinct.graphs.written import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinct._files import FilePath

SCHEMA = "tinct/certificate@1"
_WHOLE = re.compile(r"0|[1-9]\d{0,1299}", re.ASCII)


# writing


def write_certificate(certified: Certified, path: FilePath) -> None:
    """Write a certificate as JSON, whole or not at all."""
    suffix_of(path, (".json",))
    write_atomically(path, _text(certified))


def digest(certified: Certified) -> str:
    """The SHA-256 of everything in the file but the digest itself."""
    return _digest(_fields(certified))


def _text(certified: Certified) -> str:
    fields = _fields(certified)
    return json_text({**fields, "digest": _digest(fields)})


def _digest(fields: dict[str, Any]) -> str:
    return sha256(json_text(fields).encode("utf-8")).hexdigest()


def _fields(certified: Certified) -> dict[str, Any]:
    vertices = certified.vertices
    fields: dict[str, Any] = {"schema": SCHEMA, "outputs": [plain(output) for output in certified.outputs]}
    if certified.clamped:
        fields["line"] = {"from": vertices[0], "to": vertices[-1]}
    else:
        counted = isinstance(vertices, range) and vertices.step == 1
        fields["vertices"] = (
            {"start": vertices[0], "count": len(vertices)} if counted else [plain(vertex) for vertex in vertices]
        )
        fields["edges"] = certified.ends.tolist()
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
    text = _exact_text(path)
    document = strict_json(text, path)
    require_schema(document, path, SCHEMA)
    shared = ("schema", "outputs", "budgets", "denominator", "rows", "digest")
    graph = ("line",) if "line" in document else ("vertices", "edges")
    require_fields(
        document, path, "the certificate", required=(*shared, *graph), optional=("budget_of_edge",)
    )  # fmt: skip
    try:
        with reading(path, "the certificate"):
            certified = _certified(document, progress)
    except NotPrivate as error:
        raise FileError(f"{path}: the certificate is wrong: {error}") from error
    if document["digest"] != certified.id:
        raise FileError(f"{path}: the digest does not fit the content: the file was changed after it was written")
    if text != _text(certified):
        raise FileError(f"{path}: the file is not spelled as a certificate is written: it was edited")
    return certified


def _exact_text(path: FilePath) -> str:
    """The text of a UTF-8 file; a byte order mark stays in it, for it is not part of a certificate."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: this is not UTF-8 text (byte {error.start:,})") from None


def _certified(document: dict[str, Any], progress: Callable[[int], None] | None) -> Certified:
    outputs = tuple(_labels(document["outputs"], "outputs"))
    total = _whole(document["denominator"], "denominator")
    terms = tuple(_terms(item, at) for at, item in enumerate(_list(document["budgets"], "budgets")))
    rows = [[_whole(entry, f"rows[{at}]") for entry in _list(row, f"rows[{at}]")] for at, row in _listed(document)]
    vertices, ends = _graph(document, len(rows))
    classes = _classes(document.get("budget_of_edge"), len(ends), len(terms))
    return Certified(
        vertices, outputs, rows, total, ends, classes, terms, clamped="line" in document, progress=progress
    )


def _listed(document: dict[str, Any]) -> Sequence[tuple[int, Any]]:
    rows = _list(document["rows"], "rows")
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


def _vertices(value: Any, count: int) -> Sequence[Any]:
    if isinstance(value, dict):
        good = set(value) == {"start", "count"} and all(type(part) is int for part in value.values())
        if not good or value["count"] != count:
            raise ParameterError(f"vertices must say start and count, and count the {count} rows")
        return range(value["start"], value["start"] + count)
    labels = _labels(value, "vertices")
    if len(labels) != count or len(set(labels)) != count:
        raise ParameterError(f"vertices must name each of the {count} rows once")
    return Names(labels)


def _ends(value: Any, count: int) -> Any:
    edges = _list(value, "edges")
    seen = set()
    for at, edge in enumerate(edges):
        good = type(edge) is list and len(edge) == 2 and all(type(end) is int and 0 <= end < count for end in edge)
        if not good or edge[0] == edge[1]:
            raise ParameterError(f"edges[{at}] must be two different positions from 0 to {count - 1}")
        seen.add((min(edge), max(edge)))
    if len(seen) != len(edges):
        raise ParameterError("edges must list each pair of neighbours once")
    return np.array(edges, np.int32).reshape(-1, 2)


def _classes(value: Any, edges: int, terms: int) -> Any:
    if value is None:
        if terms != 1:
            raise ParameterError("budget_of_edge must say which of the budgets each edge has")
        return np.zeros(edges, np.int32)
    numbers = _list(value, "budget_of_edge")
    if len(numbers) != edges or not all(type(number) is int and 0 <= number < terms for number in numbers):
        raise ParameterError(f"budget_of_edge must have a number from 0 to {terms - 1} for each of the {edges} edges")
    return np.array(numbers, np.int32)


def _terms(value: Any, at: int) -> Terms:
    if not isinstance(value, dict) or set(value) != {"epsilon", "growth", "delta"}:
        raise ParameterError(f"budgets[{at}] must have the fields epsilon, growth, delta")
    if not isinstance(value["epsilon"], str):
        raise ParameterError(f"budgets[{at}]: epsilon must be text such as '1/2' or 'ln 3/2'")
    parse_rational(value["epsilon"].removeprefix("ln "), "epsilon")
    growth, delta = (parse_rational(value[name], name) for name in ("growth", "delta"))
    return Terms(value["epsilon"], Fraction(growth), Fraction(delta))


def _labels(value: Any, what: str) -> list[Any]:
    labels = [plain(hashable(item)) for item in _list(value, what)]
    if not labels:
        raise ParameterError(f"{what} must not be empty")
    return labels


def _whole(value: Any, what: str) -> int:
    if not isinstance(value, str) or not _WHOLE.fullmatch(value):
        raise ParameterError(f"{what} must hold whole numbers as text, of at most 1,300 digits")
    return int(value)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ParameterError(f"{what} must be a list")
    return value
