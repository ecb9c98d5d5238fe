"""What may stand in a cell: plain values near which questions turn, and values that readers stumble over.

Text may hold single bytes that are not UTF-8, written as the surrogates U+DC80 to U+DCFF, as Python does for file
names; ``encoded`` turns them back into bytes.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

WORDS, NUMBERS, TEXTS, LABELS, NAMES, BUDGETS, ANYTHING = (
    "words", "numbers", "texts", "labels", "names", "budgets", "anything",
)  # fmt: skip
CATEGORIES = ("a", "bee", "sea side", "d'or")
WARDS = ("N", "S", "East")
EPSILONS = ("0.5", "1", "2")
DAYS = (18262, 18263, 19000)  # since 1970; the first two are 2020-01-01 and 2020-01-02

_BREAKS = (
    "\r",
    "a\rb",
    "\ra",
    "a\r",
    "a\nb",
    "a\r\nb",
    "\n",
    "a\u2028b",
    "a\u2029",
    "\u0085",
    "a\u0085b",
    "\x0b",
    "\x1c",
)
_SIGNS = (",", "a,b", ";", "\t", '"', '"a', 'a"', '""', 'a"b,c"', "'", "\\", "\\N", "`", "\x01", "|")
_BYTES = ("\udcff", "a\udcff", "\udcc3", "\udced\udca0\udc80", "\udcf5\udc80", "caf\udce9")
_ODD = (
    "", " ", "  a ", "\x00", "a\x00b", "\x00\x00", "\x1b[31mred\x1b[0m", "\x1b]0;t\x07", "\ufeff", "\ufeffyes",
    "\u202e", "é", "e\u0301", "\U0001f469\u200d\U0001f680", "\ud800", "a\udfff", "=1+1", "@x", "NULL", "null",
    "None", "\\u0000", "{}", "[]", '{"v": 1}', "[" * 60 + "]" * 60, "<a>", "x" * 300, "é" * 60, "-- ", "%s", "${x}",
    "yes\u00a0", "\u00a0",
)  # fmt: skip
_DIGITS = (
    "NaN", "nan", "inf", "-inf", "Infinity", "1e308", "1e309", "-1e400", "1e-400", "9007199254740993", "1" * 400,
    "18446744073709551616", "-9223372036854775809", "0x10", "1_000", "1,200", "٣", "+3", ".5", "5.", "-0", "3.0", "03",
    "1e5", "1e+5", "12 ", "1e", "--1", "3,5", "€ 3",
)  # fmt: skip
_DATES = ("2020-01-01", "0000-00-00", "294247-01-10", "-290308-12-21", "9999-12-31", "2020-13-45", "2020-01-01T25:00")
_TROUBLE = (*_BREAKS, *_SIGNS, *_BYTES, *_ODD, *_DIGITS, *_DATES)
_LONG = (70_000, 1_100_000)
_DEEP = (200, 5_000)

_PLAIN: dict[str, tuple[Any, ...]] = {
    WORDS: ("yes", "no", "yes", "no", "Yes", "N", "true", "f", "1", "0", "1.0", None),
    NUMBERS: ("1", "2", "3", "4", "5", "3.5", "-7", "1e6", None),
    TEXTS: (*CATEGORIES, "2020-01-01", "other", None),
    LABELS: (*WARDS, *WARDS, "W", None),
    BUDGETS: (*EPSILONS, *EPSILONS, "3", None),
    ANYTHING: ("x", "1", "yes", None),
}


def text(dice: Random, use: str, trouble: float) -> Any:
    """A cell of a text file: text, or None for nothing at all."""
    if dice.random() < trouble:
        if dice.random() < 0.004:
            return dice.choice("xé[") * dice.choice(_LONG)
        if dice.random() < 0.004:
            depth = dice.choice(_DEEP)
            return "[" * depth + "]" * depth
        kind = dice.random()
        return dice.choice(_TROUBLE) if kind < 0.5 else dice.choice(_BYTES) if kind < 0.6 else _several(dice, use)
    return dice.choice(_PLAIN[use])


def _several(dice: Random, use: str) -> str:
    """Cells in a cell: what would count more than once if it were taken apart."""
    joint: str = dice.choice((*"\r\r\r\r\r\n\n,\t\u2028\u0085\x0b", "\r\n", '"\r"', '"\n"', '","'))
    words = [str(dice.choice(_PLAIN[use][:-1])) for _ in range(dice.choice((2, 3, 5)))]
    return joint.join(words)


def nasty_suffix(dice: Random) -> str:
    """Something behind the name of a person that must not make two persons one."""
    return dice.choice(("\r", "\u2028x", ",", '"', "\x1b[0m", "\u0085", "\ny", " é", "\x00z", "\udcff", ";"))


def encoded(whole: str) -> bytes:
    """Text as bytes, in which stray bytes are themselves again and other halves of pairs are no UTF-8."""
    return whole.encode("utf-8", "tinct-raw")


def decodable(cell: Any) -> Any:
    """The cell without what a library that insists on Unicode would refuse to hold."""
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell


def _raw(error: UnicodeError) -> tuple[bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    parts = [
        bytes([ord(letter) - 0xDC00]) if "\udc80" <= letter <= "\udcff" else letter.encode("utf-8", "surrogatepass")
        for letter in error.object[error.start : error.end]
    ]
    return b"".join(parts), error.end


codecs.register_error("tinct-raw", _raw)
