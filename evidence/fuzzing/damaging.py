"""Damage: valid bytes with a few pieces flipped, cut, repeated, swapped or replaced by something nasty."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

NASTY = (
    b"",
    b"0",
    b"-1",
    b"1e999",
    b"1e5000000",
    b"NaN",
    b"Infinity",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b'"',
    b"'",
    b",",
    b"\t",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"<",
    b"&a;",
    b"<!DOCTYPE a [",
    b"[" * 70,
    b"9" * 30,
    b"9" * 1400,
    b"0." + b"0" * 500 + b"1",
    b"1/0",
    b"ln 0",
    b"(" * 70,
    b"=1+1",
    b"2147483648",
    b"18446744073709551616",
    b"\xf0\x9f\x98\x80",
    b"\xc2\xa0",
    b"`",
    b"not ",
    b"/",
    b"*",
    b"%s",
    b"..",
    b"PAR1",
    b"SQLite format 3\0",
)


def damaged(dice: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    """A copy with one to six pieces of damage; once in a while bytes that have nothing to do with the format."""
    if dice.random() < 0.03:
        return dice.randbytes(dice.choice((0, 1, 4, 100, 1000)))
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        data = dice.choice(_DAMAGE)(dice, data, others)
    return data


def _span(dice: random.Random, data: bytes, longest: int = 40) -> tuple[int, int]:
    start = dice.randint(0, len(data))
    return start, min(len(data), start + dice.choice((0, 1, 1, 2, 4, dice.randint(0, longest))))


def _flip(dice: random.Random, data: bytes, _: tuple[bytes, ...]) -> bytes:
    if not data:
        return data
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def _replace(dice: random.Random, data: bytes, _: tuple[bytes, ...]) -> bytes:
    start, stop = _span(dice, data)
    return data[:start] + dice.choice(NASTY) + data[stop:]


def _overwrite(dice: random.Random, data: bytes, _: tuple[bytes, ...]) -> bytes:
    start, stop = _span(dice, data)
    return data[:start] + dice.randbytes(stop - start) + data[stop:]


def _digit(dice: random.Random, data: bytes, _: tuple[bytes, ...]) -> bytes:
    """Another digit for a digit: the file stays well formed and says something else."""
    places = [at for at, byte in enumerate(data) if 48 <= byte < 58]
    if not places:
        return data
    at = dice.choice(places)
    return data[:at] + str(dice.randrange(10)).encode() + data[at + 1 :]


def _repeat(dice: random.Random, data: bytes, _: tuple[bytes, ...]) -> bytes:
    start, stop = _span(dice, data, 200)
    times = dice.choice((2, 3, 50))
    return data[:stop] + data[start:stop] * times + data[stop:]


def _swap(dice: random.Random, data: bytes, _: tuple[bytes, ...]) -> bytes:
    start, stop = sorted((dice.randint(0, len(data)), dice.randint(0, len(data))))
    middle = dice.randint(start, stop)
    return data[:start] + data[middle:stop] + data[start:middle] + data[stop:]


def _cut(dice: random.Random, data: bytes, _: tuple[bytes, ...]) -> bytes:
    return data[: dice.randint(0, len(data))]


def _splice(dice: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    other = dice.choice(others)
    return data[: dice.randint(0, len(data))] + other[dice.randint(0, len(other)) :]


_DAMAGE = (_flip, _flip, _replace, _replace, _overwrite, _digit, _digit, _repeat, _swap, _cut, _splice)
