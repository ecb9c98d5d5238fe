"""Whatever bytes a parser is given, only documented errors come out, soon and without much memory.

Hypothesis looks for inputs here; ``python -m evidence fuzzing guided`` tries many more, with a limit on memory and
led by coverage.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from evidence.fuzzing.damaging import NASTY, damaged
from evidence.fuzzing.targets import TARGETS, seeds
from evidence.fuzzing.trying import SECONDS, Tally, attempt
from hypothesis import given, settings
from hypothesis import strategies as st

from tinct import FileError, sources

EXAMPLES, SLOW_EXAMPLES = 60, 8
ROOT = Path(__file__).parent.parent
NAMES = [target.name for target in TARGETS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@st.composite
def spoiled(draw, good):
    """A valid input with pieces replaced, or anything at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=100))
    data = draw(st.sampled_from(good))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 20)))
        data = data[:start] + draw(st.one_of(st.sampled_from(NASTY), st.binary(max_size=6))) + data[stop:]
    return data


def _require_no_fault(target, path, data):
    tally = Tally()
    attempt(target.read, path, data, tally)
    assert not tally.faults, tally.faults[0]["fault"]


@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_valid_inputs_are_read(target, folder):
    """Every seed is what its parser is for: otherwise damage to it would prove little."""
    tally = Tally()
    for data in seeds()[target.name]:
        attempt(target.read, folder / f"seed{target.suffix}", data, tally)
    assert tally.read == len(seeds()[target.name]), target.name


@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_only_documented_errors_escape_and_soon(target, folder):
    """Any bytes are read or refused with an error of tinct.errors, within a second of the processor's time."""

    @settings(max_examples=SLOW_EXAMPLES if target.slow else EXAMPLES)
    @given(data=spoiled(seeds()[target.name]))
    def check(data):
        _require_no_fault(target, folder / f"input{target.suffix}", data)

    check()


@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_random_damage_is_survived(target, folder):
    """The damage of ``make evidence``, a little of it."""
    dice, good = random.Random(target.name), seeds()[target.name]
    for _ in range(SLOW_EXAMPLES if target.slow else EXAMPLES):
        _require_no_fault(target, folder / f"damaged{target.suffix}", damaged(dice, dice.choice(good), good))


def test_the_tally_notices_what_it_is_for(folder):
    """A parser with an undocumented error, and one that takes its time, are both faults; a refusal is not."""

    def spin(path):
        total = 0
        while total < 10**9:  # ended by the processor's clock, not by counting
            total += 1
            if total % 1000 == 0 and time.process_time() - started > 1.2 * SECONDS:
                return

    def refuse(path):
        raise FileError("no")

    path = folder / "probe"
    tally = Tally()
    attempt(refuse, path, b"", tally)
    attempt(Path.exists, path, b"", tally)
    assert (tally.read, tally.refused, tally.faults) == (1, 1, [])
    attempt({}.__getitem__, path, b"", tally)
    started = time.process_time()
    attempt(spin, path, b"", tally)
    assert ["KeyError" in tally.faults[0]["fault"], "took" in tally.faults[1]["fault"]] == [True, True]
    assert (tally.inputs, len(tally.faults)) == (4, 2)


def test_memory_is_limited_while_a_parser_is_attacked(tmp_path):
    """The worker reads its seeds and refuses damage with little more memory than it had; it reports what it did."""
    command = [sys.executable, "-m", "evidence.fuzzing.worker", "graph .json", "50", "1", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert (found["inputs"], found["faults"], found["seeds_read"]) == (51, [], 1)


def test_a_small_file_takes_little_memory(tmp_path):
    """256 MB more address space than a process has are enough to read a small file, and not for a gigabyte."""
    script = (
        "from evidence.fuzzing.trying import limit_memory\n"
        "from tinct._files import read_bytes\n"
        "limit_memory()\n"
        "print(len(read_bytes(__import__('sys').argv[1])))\n"
        "try:\n    bytearray(2**30)\n"
        "except MemoryError:\n    print('limited')\n"
    )
    path = tmp_path / "small.txt"
    path.write_text("small")
    run = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.stdout.split() == ["5", "limited"], run.stderr


def test_types_that_arrow_does_not_know_are_a_file_error(tmp_path):
    """A damaged Parquet header may name a type that Arrow refuses in its own way: a damaged file like any other."""
    target = next(target for target in TARGETS if target.name == "reports .parquet")
    good = seeds()["reports .parquet"][0]
    path = tmp_path / "reports.parquet"
    refused = 0
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 2]) + good[at + 1 :])
        try:
            target.read(path)
        except FileError:
            refused += 1
    assert refused > 20
    assert target.read(_written(path, good))


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("data", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n \n", "\x1c\u2003".encode()])
def test_a_file_of_blanks_is_empty(suffix, data, tmp_path):
    """A byte order mark alone, or blanks of any kind, are no table: the file is empty."""
    with pytest.raises(FileError, match="empty"):
        sources.open(_written(tmp_path / f"blank{suffix}", data))


def _written(path, data):
    path.write_bytes(data)
    return path
