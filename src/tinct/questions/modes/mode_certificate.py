"""ModeCertificate: a mechanism for the mode together with all that an outsider needs to check it.

What is private is not a table but the way from a dataset to an answer. So the certificate says, step by step, how
counts become a state of the table, and that this takes neighbours to neighbours is part of what is proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

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
from tinct.exact.proof import parse_rational, written
from tinct.graphs.labels import plain
from tinct.numbers.amounts import Amount
from tinct.questions.modes.margins import clipped_margins, clipped_size, histogram_margins, histogram_size
from tinct.questions.modes.mode_proof import certify_coin
from tinct.questions.modes.mode_table import ModeTable
from tinct.questions.modes.permute_and_flip import PermuteAndFlip

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction
    from pathlib import Path

    from tinct._files import FilePath
    from tinct.questions.modes.margins import MarginSpace

    Document = dict[str, Any]


MOST_PEOPLE = 10**18


@dataclass(frozen=True, eq=False, repr=False)
class ModeCertificate:
    """A mode table or a coin, proved private when the certificate is made, and what it is for.

    Attributes:
        question: The question in words; empty if not stated.
        categories: The answers, in the order of the counts.
        epsilon: ε, exactly.
        mechanism: The table, or permute-and-flip.
        n: The public number of people, only with replace. A table of n people needs it.
        rest: The place of the category that takes everybody in no other, if there is one.

    >>> from tinct.numbers.amounts import Amount
    >>> from tinct.questions.modes import mode_mechanism
    >>> table = mode_mechanism(2, "ln 2", neighbors="replace", n=3)
    >>> ModeCertificate("mode(x)", ("a", "b"), Amount.parse("ln 2", "epsilon"), table, n=3).position
    (('cap', 3), ('margins',), ('sort',))
    """

    question: str
    categories: tuple[Any, ...]
    epsilon: Amount
    mechanism: ModeTable | PermuteAndFlip
    n: int | None = None
    rest: int | None = None

    def __post_init__(self) -> None:
        words(self.question, "question")
        if len(self.categories) != self.mechanism.k or len(set(self.categories)) != self.mechanism.k:
            raise ParameterError(f"categories must be {self.mechanism.k} different answers, one for each count")
        if self.rest is not None and not (type(self.rest) is int and 0 <= self.rest < self.mechanism.k):
            raise ParameterError("rest must be the place of a category")
        _require_people(self.n, self.mechanism.neighbors)
        if not isinstance(self.mechanism, ModeTable):
            certify_coin(self.mechanism.q, self.epsilon_text, self.mechanism.neighbors)
            return
        if self.mechanism.epsilon != self.epsilon:
            raise ParameterError("epsilon must be the table's own")
        space = self.mechanism.space
        if space.people is not None and space.people != self.n:
            raise ParameterError(f"this is a table of {space.people:,} people: n must say so")
        if not space.missing and self.rest is None:
            # nobody outside can know that everybody is in a category unless the steps put them into one
            raise ParameterError("a table without missing people needs a category for the rest")
        self.mechanism.proof  # noqa: B018 # made now, if it was not before

    @property
    def neighbors(self) -> str:
        """``"add-remove"`` or ``"replace"``."""
        return self.mechanism.neighbors

    @property
    def epsilon_text(self) -> str:
        """ε as certificates write it."""
        return "ln " * self.epsilon.is_log + written(self.epsilon.value, "epsilon")

    @property
    def guarantee(self) -> str:
        """What is promised, in words."""
        return f"ε = {self.epsilon}, exactly"

    @property
    def position(self) -> tuple[tuple[Any, ...], ...]:
        """How counts become a state, step by step."""
        steps: list[tuple[Any, ...]] = [] if self.rest is None else [("rest", self.rest)]
        if not isinstance(self.mechanism, ModeTable):
            return (*steps, ("margins",))
        space = self.mechanism.space
        if space.people is not None:
            return (*steps, ("cap", space.people), ("margins",), ("sort",))
        return (*steps, ("margins",), ("clip", space.ceiling), ("sort",))

    @property
    def verdict(self) -> str:
        """What was checked, in a sentence."""
        if isinstance(self.mechanism, ModeTable):
            proof = self.mechanism.proof
            return (
                f"{proof.inequalities:,} inequalities for {proof.images:,} moves of one person between "
                f"{proof.states:,} states of the table"
            )
        power = "1/q" if self.neighbors == "add-remove" else "1/q²"
        enough = "which is enough by the theorem on permute-and-flip"
        return f"permute-and-flip of {self.mechanism.k:,} categories with the coin q: {power} ≤ e^ε, {enough}"

    @cached_property
    def id(self) -> str:
        """The SHA-256 of the certificate as it is written to a file: 64 hexadecimal digits."""
        return digest(self)

    def to_json(self, path: str | Path) -> None:
        """Write the certificate (docs/files.md)."""
        write_certificate(self, path)

    @classmethod
    def from_json(cls, path: str | Path, *, progress: Callable[[float], None] | None = None) -> ModeCertificate:
        """Read a certificate and verify it from scratch; a file with one changed byte is refused."""
        return read_certificate(path, progress)

    def __repr__(self) -> str:
        return f"<ModeCertificate: {self.mechanism!r:.80}, {self.neighbors}, {self.guarantee}>"


def _require_people(n: object, neighbors: str) -> None:
    if n is None:
        return
    if neighbors != "replace":
        raise ParameterError("n is public only with neighbors='replace': leave it out")
    if type(n) is not int or not 0 <= n <= MOST_PEOPLE:
        raise ParameterError("n must be a whole number between 0 and 10^18")


SCHEMA = "tinct/mode-certificate@1"
MOST_CATEGORIES = 20  # of a table: beyond, a small file could keep the proof busy for hours
_NEIGHBORS = ("add-remove", "replace")
_STEPS = {"rest": 1, "cap": 1, "margins": 0, "clip": 1, "sort": 0}  # and how many numbers each has


# writing


def write_certificate(certificate: ModeCertificate, path: FilePath) -> None:
    """Write a certificate as JSON, whole or not at all."""
    suffix_of(path, (".json",))
    write_atomically(path, spelled(_fields(certificate))[0])


def digest(certificate: ModeCertificate) -> str:
    """The SHA-256 of everything in the file but the digest itself."""
    return digest_of(_fields(certificate))


def _fields(certificate: ModeCertificate) -> Document:
    mechanism = certificate.mechanism
    fields: Document = {
        "schema": SCHEMA,
        "question": certificate.question,
        "neighbors": certificate.neighbors,
    }
    if certificate.n is not None:
        fields["n"] = certificate.n
    fields |= {"outputs": [plain(name) for name in certificate.categories], "position": certificate.position}
    if not isinstance(mechanism, ModeTable):
        return {**fields, "epsilon": certificate.epsilon_text, "coin": written(mechanism.q, "coin")}
    return {
        **fields,
        "missing": mechanism.space.missing,
        "epsilon": certificate.epsilon_text,
        "keep": written(mechanism.q, "keep"),
        "denominator": str(mechanism.total),
        "states": mechanism.space.states.tolist(),
        "rows": [[str(weight) for weight in row] for row in mechanism.rows],
    }


# reading


def read_certificate(path: FilePath, progress: Callable[[float], None] | None = None) -> ModeCertificate:
    """Read a certificate and prove it again; whatever is odd about the file is a FileError."""
    suffix_of(path, (".json",))
    text = exact_text(path)
    document = strict_json(text, path)
    require_schema(document, path, SCHEMA)
    shared = ("schema", "question", "neighbors", "outputs", "position", "epsilon", "digest")
    own = ("coin",) if "coin" in document else ("missing", "keep", "denominator", "states", "rows")
    require_fields(document, path, "the certificate", required=(*shared, *own), optional=("n",))
    try:
        with reading(path, "the certificate"):
            certificate = _certificate(document, progress)
    except NotPrivate as error:
        raise FileError(f"the certificate is wrong: {error}", path=path) from error
    certificate.__dict__["id"] = require_spelling(text, document["digest"], _fields(certificate), path)
    return certificate


def _certificate(document: Document, progress: Callable[[float], None] | None) -> ModeCertificate:
    amount = Amount(*epsilon(document["epsilon"], "epsilon"))
    categories = tuple(labels(document["outputs"], "outputs"))
    steps = _steps(document["position"])
    if document["neighbors"] not in _NEIGHBORS:
        raise ParameterError("neighbors must be 'add-remove' or 'replace'")
    mechanism: ModeTable | PermuteAndFlip
    if "coin" in document:
        coin = parse_rational(document["coin"], "coin")
        mechanism = PermuteAndFlip(len(categories), coin, document["neighbors"])
    else:
        mechanism = _table(document, amount, len(categories), steps)
        mechanism.certify(progress)
    return ModeCertificate(
        words(document["question"], "question"), categories, amount, mechanism, document.get("n"), steps.get("rest")
    )


def _steps(value: object) -> dict[str, int]:
    """The steps by name; that they stand in their order is seen when they are written again."""
    found: dict[str, int] = {}
    for step in items(value, "position"):
        good = isinstance(step, list) and step and isinstance(step[0], str) and len(step) == 1 + _STEPS.get(step[0], -1)
        if not good or any(type(number) is not int for number in step[1:]):
            raise ParameterError(f"position must be a list of the steps {', '.join(_STEPS)}, some with a whole number")
        found[step[0]] = step[1] if len(step) > 1 else 0
    return found


def _table(document: Document, amount: Amount, k: int, steps: dict[str, int]) -> ModeTable:
    if document["neighbors"] != "replace" or not 2 <= k <= MOST_CATEGORIES:
        raise ParameterError(f"a table is for neighbors 'replace' and 2 to {MOST_CATEGORIES} categories")
    keep: Fraction = parse_rational(document["keep"], "keep")
    if not 0 < keep <= 1:
        raise ParameterError("keep must be in (0, 1]")
    total = whole(document["denominator"], "denominator")
    rows = tuple(
        tuple(whole(weight, f"rows[{at}]") for weight in items(row, f"rows[{at}]"))
        for at, row in enumerate(items(document["rows"], "rows"))
    )
    space = _space(k, steps, document["missing"], len(rows))  # ``states`` is compared when it is written again
    return ModeTable(amount, space, rows, total, keep)


def _space(k: int, steps: dict[str, int], missing: object, rows: int) -> MarginSpace:
    """The states that the steps lead to, made only if there are as many of them as rows."""
    if type(missing) is not bool:
        raise ParameterError("missing must be true or false")
    if "clip" in steps:
        ceiling = steps["clip"]
        if 1 <= ceiling < rows and clipped_size(k, ceiling) == rows:
            return clipped_margins(k, ceiling, missing=missing)
    elif "cap" in steps:
        people = steps["cap"]
        if people >= 0 and histogram_size(k, people, missing=missing, at_most=max(rows, 1)) == rows:
            return histogram_margins(k, people, missing=missing)
    raise ParameterError("position must end in the states of the table, one for each row: cap n, or clip at a margin")
