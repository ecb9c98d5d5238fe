"""NoiseCertificate: the noise of a count, with all that an outsider needs to check it (docs/files.md).

What is promised is about numbers of which one person changes one, or two, by one: each gets its own draw. A table is
proved by its weights alone, against itself moved by one; a coin by the theorem on geometric noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
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
    require_spelling,
    spelled,
    whole,
    words,
)
from tinct.exact.proof import Terms, at_most_exp, parse_rational, written
from tinct.numbers.amounts import Amount, fraction_text
from tinct.questions.noise._count_noise import Noise, TableNoise
from tinct.questions.noise.geometric import GeometricNoise
from tinct.questions.noise.orbit_weights import MOST_STEPS, prove_noise

if TYPE_CHECKING:
    from pathlib import Path

    from tinct._files import FilePath

    Document = dict[str, Any]

SCHEMA = "tinct/noise-certificate@1"
NEIGHBORS = ("add-remove", "replace")
_LARGEST = 2**62


@dataclass(frozen=True, eq=False, repr=False)
class NoiseCertificate:
    """Noise that was proved private when the certificate was made, and what it is for.

    Attributes:
        question: The question in words; empty if not stated.
        neighbors: ``"add-remove"`` or ``"replace"``.
        changes: How many of the numbers in the answer one person can change, each by one: 1 or 2.
        epsilon: ε of all together, exactly.
        delta: δ of all together, exactly.
        noise: What is added to each number, drawn anew.

    >>> from tinct.questions.noise import GeometricNoise
    >>> noise = GeometricNoise(Fraction(1, 2))
    >>> NoiseCertificate("count(x)", "add-remove", 1, Amount.parse("ln 2", "epsilon"), Fraction(0), noise).guarantee
    'ε = ln 2, exactly'
    """

    question: str
    neighbors: str
    changes: int
    epsilon: Amount
    delta: Fraction
    noise: Noise

    def __post_init__(self) -> None:
        words(self.question, "question")
        if self.neighbors not in NEIGHBORS:
            raise ParameterError("neighbors must be 'add-remove' or 'replace'")
        if type(self.changes) is not int or self.changes not in (1, 2):
            raise ParameterError("changes must be 1 or 2")
        if not isinstance(self.delta, Fraction) or not 0 <= self.delta < 1:
            raise ParameterError("delta must be a number in [0, 1)")
        noise = self.noise
        if isinstance(noise, TableNoise):
            self._require_growth(noise.growth, "growth")
            if noise.growth < 1 or not -_LARGEST < noise.first < _LARGEST:
                raise ParameterError("growth must be at least 1, and first a number that is not too large")
            # e^ε was compared with R^changes; the table itself has to keep to R
            terms = Terms(f"ln {noise.growth}" if noise.growth > 1 else "0", noise.growth, self.delta / self.changes)
            prove_noise(noise.weights, noise.total, terms)
            return
        if self.delta:
            raise ParameterError("a coin uses nothing of delta: it must be 0")
        self._require_growth(1 / noise.rate, "1 / coin")

    def _require_growth(self, growth: Fraction, what: str) -> None:
        power = growth**self.changes
        if not at_most_exp(power, self.epsilon_text):
            raise NotPrivate(f"{what}, to the power of {self.changes}, is more than e to the power of epsilon", None)

    @property
    def epsilon_text(self) -> str:
        """ε as certificates write it."""
        return "ln " * self.epsilon.is_log + written(self.epsilon.value, "epsilon")

    @property
    def center(self) -> int:
        """What is taken off the noisy number before it is shown: noise that selects groups is always below 0."""
        noise = self.noise
        return noise.middle if isinstance(noise, TableNoise) and noise.ends[1] < 0 else 0

    @property
    def guarantee(self) -> str:
        """What is promised, in words."""
        return f"ε = {self.epsilon}{f', δ = {fraction_text(self.delta)}' if self.delta else ''}, exactly"

    @property
    def verdict(self) -> str:
        """What was checked, in a sentence."""
        part = (
            "" if self.changes == 1 else ", each with half of ε and δ, for the two numbers that one person can change"
        )
        if isinstance(self.noise, TableNoise):
            return (
                f"noise in {len(self.noise.weights):,} numbers against the same noise moved by one, in both "
                f"directions{part}"
            )
        power = "1/q" if self.changes == 1 else "1/q²"
        return (
            f"geometric noise with the coin q: {power} ≤ e^ε, which is enough by the theorem on geometric noise{part}"
        )

    @cached_property
    def id(self) -> str:
        """The SHA-256 of the certificate as it is written to a file: 64 hexadecimal digits."""
        return digest_of(_fields(self))

    def to_json(self, path: str | Path) -> None:
        """Write the certificate (docs/files.md)."""
        suffix_of(path, (".json",))
        write_atomically(path, spelled(_fields(self))[0])

    @classmethod
    def from_json(cls, path: str | Path) -> NoiseCertificate:
        """Read a certificate and verify it from scratch; a file with one changed byte is refused."""
        return _read(path)

    def __repr__(self) -> str:
        return f"<NoiseCertificate: {self.question!r:.60}, {self.neighbors}, {self.guarantee}>"


def _fields(certificate: NoiseCertificate) -> Document:
    noise = certificate.noise
    fields: Document = {
        "schema": SCHEMA,
        "question": certificate.question,
        "neighbors": certificate.neighbors,
        "changes": certificate.changes,
        "epsilon": certificate.epsilon_text,
        "delta": written(certificate.delta, "delta"),
    }
    if isinstance(noise, GeometricNoise):
        return {**fields, "coin": written(noise.rate, "coin")}
    return {
        **fields,
        "growth": written(noise.growth, "growth"),
        "denominator": str(noise.total),
        "first": noise.first,
        "weights": [str(weight) for weight in noise.weights],
    }


def _read(path: FilePath) -> NoiseCertificate:
    """Read a certificate and prove it again; whatever is odd about the file is a FileError."""
    suffix_of(path, (".json",))
    text = exact_text(path)
    document = strict_json(text, path)
    require_schema(document, path, SCHEMA)
    shared = ("schema", "question", "neighbors", "changes", "epsilon", "delta", "digest")
    own = ("coin",) if "coin" in document else ("growth", "denominator", "first", "weights")
    require_fields(document, path, "the certificate", required=(*shared, *own))
    try:
        with reading(path, "the certificate"):
            certificate = _certificate(document)
    except NotPrivate as error:
        raise FileError(f"the certificate is wrong: {error}", path=path) from error
    certificate.__dict__["id"] = require_spelling(text, document["digest"], _fields(certificate), path)
    return certificate


def _certificate(document: Document) -> NoiseCertificate:
    noise: Noise
    if "coin" in document:
        noise = GeometricNoise(parse_rational(document["coin"], "coin"))
    else:
        weights = tuple(whole(entry, "weights") for entry in items(document["weights"], "weights"))
        if not 1 <= len(weights) <= 2 * MOST_STEPS + 1 or type(document["first"]) is not int:
            raise ParameterError("weights must be a list that is not too long, and first a whole number")
        if sum(weights) != whole(document["denominator"], "denominator"):
            raise ParameterError("weights must sum to the denominator")
        noise = TableNoise(document["first"], weights, parse_rational(document["growth"], "growth"))
    amount = Amount(*epsilon(document["epsilon"], "epsilon"))
    if amount.is_log and amount.value == 1:
        raise ParameterError("epsilon = 0 is written '0', not 'ln 1'")
    delta = parse_rational(document["delta"], "delta")
    return NoiseCertificate(
        words(document["question"], "question"), document["neighbors"], document["changes"], amount, delta, noise
    )
