"""How every certificate is spelled, and how its parts are read: one text for one content, nothing overlooked."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import json_text, read_bytes
from tinct.errors import FileError, ParameterError
from tinct.exact.proof import parse_rational
from tinct.graphs.labels import hashable, plain

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from tinct._files import FilePath
    from tinct.exact.proof import Terms

    Numbers = NDArray[np.int32]


_WHOLE = re.compile(r"0|[1-9]\d{0,1299}", re.ASCII)


# writing


def digest_of(fields: dict[str, Any]) -> str:
    """The SHA-256 of a certificate without its digest."""
    return sha256(json_text(fields).encode("utf-8")).hexdigest()


def spelled(fields: dict[str, Any]) -> tuple[str, str]:
    """The whole file, which ends with the digest of what is before it, and that digest."""
    content = json_text(fields)
    digest = sha256(content.encode("utf-8")).hexdigest()
    return content.removesuffix("\n}\n") + f',\n"digest": {json.dumps(digest)}\n}}\n', digest


# reading


def exact_text(path: FilePath) -> str:
    """The text of a UTF-8 file; a byte order mark stays in it, for it is not part of a certificate."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"this is not UTF-8 text (byte {error.start:,})", path=path) from None


def require_spelling(text: str, digest: object, fields: dict[str, Any], path: FilePath) -> str:
    """Compare a file byte by byte with how its content is written; return the digest."""
    again, found = spelled(fields)
    if digest != found:
        raise FileError("the digest does not fit the content: the file was changed after it was written", path=path)
    if text != again:
        raise FileError("the file is not spelled as a certificate is written: it was edited", path=path)
    return found


def labels(value: object, what: str) -> list[Any]:
    """A list of labels that is not empty."""
    found = [plain(hashable(item)) for item in items(value, what)]
    if not found:
        raise ParameterError(f"{what} must not be empty")
    return found


def whole(value: object, what: str) -> int:
    """A whole number that is written as text."""
    if not isinstance(value, str) or not _WHOLE.fullmatch(value):
        raise ParameterError(f"{what} must hold whole numbers as text, of at most 1,300 digits")
    return int(value)


def epsilon(value: object, what: str) -> tuple[Fraction, bool]:
    """The number in ε, and whether ε is its logarithm."""
    if not isinstance(value, str):
        raise ParameterError(f"{what} must be text such as '1/2' or 'ln 3/2'")
    return parse_rational(value.removeprefix("ln "), what), value.startswith("ln ")


def items(value: object, what: str) -> list[Any]:
    """A JSON list, or an error that names the field."""
    if not isinstance(value, list):
        raise ParameterError(f"{what} must be a list")
    return value


def words(text: object, what: str, *, at_least: int = 0) -> str:
    """Text that a file can hold."""
    if not isinstance(text, str) or len(text) < at_least:
        raise ParameterError(f"{what} must be text{' and not be empty' if at_least else ''}, got {text!r:.80}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ParameterError(f"{what} has half a surrogate pair, which UTF-8 cannot hold") from None
    return text


def distinct(terms: tuple[Terms, ...], classes: Numbers) -> tuple[tuple[Terms, ...], Numbers]:
    """Each promise once, in the order in which the edges first use it, and the numbers of the edges to match.

    What no edge uses is promised to nobody and is left out; without edges the first stays. So a table has one list of
    promises, and one id. ε = 0 that is spelled ``"ln 1"`` would be a second one.
    """
    for term in terms:
        if term.epsilon == "ln 1":
            raise ParameterError("epsilon = 0 is written '0', not 'ln 1'")
    if not len(classes):
        return terms[:1], classes
    if len(terms) == 1 or not 0 <= int(classes.min()) <= int(classes.max()) < len(terms):
        return terms, classes  # a number out of range is for the proof to refuse
    same: dict[Terms, int] = {}
    merged = np.array([same.setdefault(term, at) for at, term in enumerate(terms)], np.int32)[classes]
    used, first = np.unique(merged, return_index=True)
    order = used[np.argsort(first)]
    number = np.zeros(len(terms), np.int32)
    number[order] = np.arange(len(order))
    return tuple(terms[at] for at in order.tolist()), number[merged]
