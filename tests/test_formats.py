"""Where data lives: each kind of file is read as its program wrote it, and refused, unseen, if it is something else.

That every kind counts alike is tested in test_sources.py, that no cell decides anything in test_typed_sources.py.
"""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import traceback
import zipfile
from contextlib import closing

import numpy as np
import pytest

from file_makers import (
    DATE,
    DAYS,
    DURATION,
    MILLISECONDS,
    TIME,
    Cell,
    archive,
    number,
    packed,
    sqlite_table,
    workbook,
)
from tinct import FileError, NotAnswered, ParameterError, ask, sources
from tinct._kernels import array_elements
from tinct.ledger import Ledger
from tinct.questions import exists, majority, median, threshold
from tinct.sources import Description, Format, StandardInput, byte_streams, data_files, excel_sheets, text_files
from tinct.sources import text_lines as lines
from tinct.sources.description import ColumnDescription
from tinct.sources.excel_sheets import Workbook, kind_of_format
from tinct.sources.header_lines import column_names

# ruff: noqa: S608 # statements that make files
duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

CANARY = "c4n4ry"
SURVEY = b"person,ward,support\n" + b"".join(
    b"%d,%s,%s\n" % (at, b"NS"[at % 2 : at % 2 + 1], (b"yes", b"no", b"")[at % 3]) for at in range(90)
)
ROWS = [[at, "NS"[at % 2], ("yes", "no", None)[at % 3]] for at in range(90)]
NAMES = ["person", "ward", "support"]
EXPECTED = (90, (30, 30), 30)


def _counts(data, question=None, **options):
    with sources.open(data, **options) as source:
        found = source.count(question or majority("support"))
    return found.rows, found.classes, found.missing


def _made(kind, path):
    """The survey as a file of a kind, at a path without its suffix."""
    path = path.with_name(f"{path.name}.{kind}")
    if kind in ("csv", "csv.gz", "csv.zst"):
        path.write_bytes(SURVEY) if kind == "csv" else packed(path, SURVEY)
    elif kind in ("jsonl", "json"):
        objects = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
        path.write_text(json.dumps(objects) if kind == "json" else "".join(json.dumps(each) + "\n" for each in objects))
    elif kind == "parquet":
        pq.write_table(pa.table(dict(zip(NAMES, zip(*ROWS, strict=True), strict=True))), path)
    elif kind == "xlsx":
        workbook(path, {"Sheet1": [NAMES, *ROWS]})
    elif kind == "db":
        sqlite_table(path, NAMES, ROWS)
    else:
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE people (person INTEGER, ward VARCHAR, support VARCHAR)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
    return path


KINDS = ("csv", "csv.gz", "csv.zst", "jsonl", "json", "parquet", "xlsx", "db", "duckdb")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_survey_counts_alike(kind, tmp_path):
    assert _counts(_made(kind, tmp_path / "survey")) == EXPECTED


# bad input


def _require_unseen(error):
    """No cell is in an error, nor in what it came from."""
    seen = error
    while seen is not None:
        assert CANARY not in "".join(traceback.format_exception_only(seen))
        assert CANARY not in repr(seen.args)
        seen = seen.__cause__ or seen.__context__


def _refused(path, words):
    with pytest.raises(FileError, match=words) as caught:
        sources.open(path)
    _require_unseen(caught.value)
    assert len(str(caught.value)) < 600
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_file_is_refused_unless_nobody_is_a_data_set(kind, tmp_path):
    path = tmp_path / f"survey.{kind}"
    path.touch()
    if kind == "jsonl":
        assert _counts(path) == (0, (0, 0), 0)
    else:
        _refused(path, "empty")


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_without_parts_is_refused(kind, tmp_path):
    (tmp_path / f"survey.{kind}").mkdir()
    _refused(tmp_path / f"survey.{kind}", "folder has no parts")


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_link_is_refused(kind, tmp_path):
    link = tmp_path / f"survey.{kind}"
    link.symlink_to(tmp_path / "gone")
    _refused(link, "a link to a file that is not there")
    link.unlink()
    _refused(link, "no such file")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_a_renamed_file_is_refused(kind, other, tmp_path):
    """Whatever it is: by its first bytes, and never by a guess at what it could be."""
    if kind == other or (kind, other) in (("json", "jsonl"), ("jsonl", "json")):
        return
    path = _made(kind, tmp_path / "survey").rename(tmp_path / f"renamed.{other}")
    if other == "jsonl":  # lines that are no JSON are rows with nothing in them: the first is a person's, and unread
        assert _counts(path)[1] == (0, 0)
    else:
        _refused(path, "is not|not compressed|no names|must begin|looks like|PAR1|this is a DuckDB")


def test_json_and_json_lines_are_told_apart_where_they_begin(tmp_path):
    _refused(_made("jsonl", tmp_path / "survey").rename(tmp_path / "survey.json"), "JSON lines, which are named .jsonl")
    (tmp_path / "one.json").write_text('{"people": []}')
    _refused(tmp_path / "one.json", "one object")


@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_file_is_refused_or_fails_without_a_word(kind, tmp_path):
    """Before a row is read where its end can be seen from afar, else when it is reached; no cell is shown."""
    path = _made(kind, tmp_path / "survey")
    whole = path.read_bytes().replace(b"yes", CANARY[:3].encode())
    for part in (0.3, 0.6, 0.95):
        path.write_bytes(whole[: int(part * len(whole))])
        if kind in ("csv", "jsonl"):  # a text file can end anywhere
            assert _counts(path)[0] < 90 or part == 0.95
            continue
        with pytest.raises(FileError) as caught:
            _counts(path)
        _require_unseen(caught.value)


def test_random_bytes_in_a_file_are_refused_or_counted_but_never_break_out(tmp_path):
    """Any damage gives a FileError, or counts; no other error, and no cell in it."""
    rng = random.Random("damage")
    for kind in KINDS:
        whole = _made(kind, tmp_path / "survey").read_bytes()
        for _ in range(12):
            data = bytearray(whole)
            for _ in range(rng.choice([1, 5, 40])):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path = tmp_path / f"damaged.{kind}"
            path.write_bytes(bytes(data))
            try:
                _counts(path)
            except (FileError, ParameterError) as error:  # a column may have lost its name
                _require_unseen(error)


def _command(*words, given=b""):
    return subprocess.run(
        [sys.executable, "-m", "tinct", "ask", *map(str, words), "-e", "9"],
        input=given,
        capture_output=True,
        check=False,
    )


def test_the_command_says_what_is_wrong_and_leaves_with_2(tmp_path):
    """For a file that is refused, and for standard input alike; no line of a trace."""
    (tmp_path / "data.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600)
    cases = [
        (tmp_path / "data.xlsx", b"", b"protected with a password"),
        ("-", b"34,N,c4n4ry\n35,S,no\n", b"looks like data"),
        ("-", b"", b"standard input: the file is empty"),
    ]
    for data, given, words in cases:
        done = _command(data, "majority(support)", given=given)
        assert done.returncode == 2
        assert words in b" ".join(done.stderr.split())
        assert b"Traceback" not in done.stderr
        assert CANARY.encode() not in done.stdout + done.stderr


# what changes while it is read


def _growing(path, monkeypatch):
    """Somebody adds a row while the rows are read."""
    before = lines.batches

    def batches(given, *rest, **options):
        yield from before(given, *rest, **options)
        with path.open("ab") as file:
            file.write(b"91,N,yes\n")

    monkeypatch.setattr(lines, "batches", batches)


def test_a_file_that_grows_while_it_is_read_is_no_state_of_the_data(tmp_path, monkeypatch):
    path = _made("csv", tmp_path / "survey")
    _growing(path, monkeypatch)
    with pytest.raises(FileError, match="has changed while it was read"):
        _counts(path)
    monkeypatch.undo()
    assert _counts(path)[0] == 91


def test_what_fails_after_the_charge_says_one_sentence_and_is_resumed(tmp_path, monkeypatch):
    """Growing, broken off or too large when unpacked: the same words, charged once, answered when asked again."""
    path = tmp_path / "survey.csv.gz"
    book = Ledger(tmp_path / "budget.db", epsilon=100)
    said = set()
    whole = gzip.compress(SURVEY * 8000, mtime=0)
    for at, damage in enumerate(("broken", "large", "growing")):
        path.write_bytes(whole[: len(whole) // 2] if damage == "broken" else whole)
        with monkeypatch.context() as patch:
            if damage == "large":
                patch.setattr(byte_streams, "MAX_UNPACKED", 2**21)
            if damage == "growing":
                _growing(path, patch)
            with pytest.raises(NotAnswered) as caught:
                ask(path, "majority(support)", 1, ledger=book, request=f"r{at}")
        said.add(str(caught.value).replace(f"r{at}", "r"))
        _require_unseen(caught.value)
        path.write_bytes(whole)
        answer = ask(path, "majority(support)", 1, ledger=book, request=f"r{at}")
        assert answer.completed
        assert answer.left is not None
    assert len(said) == 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_part_that_appears_while_the_others_are_read_is_noticed(kind, tmp_path, monkeypatch):
    folder = tmp_path / "parts"
    folder.mkdir()
    for at in range(2):
        _made(kind, folder / f"{at}")
    assert _counts(folder) == (180, (60, 60), 60)
    source = sources.open(folder)
    _made(kind, folder / "2")
    with pytest.raises(FileError, match="has changed"):
        source.count(majority("support"))
    source.close()


def test_a_database_is_counted_in_one_state(tmp_path):
    """Who writes to it meanwhile changes nothing: all rows of before, or all of after."""
    path = _made("db", tmp_path / "survey")
    with closing(sqlite3.connect(path)) as writing:
        writing.execute("PRAGMA journal_mode = WAL")
        with sources.open(path) as source:
            writing.execute("BEGIN")
            writing.execute("INSERT INTO people SELECT * FROM people")
            assert source.count(majority("support")).rows == 90
            writing.execute("COMMIT")
            assert source.count(majority("support")).rows == 180


# compressed text


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_archives_of_several_members_are_one_text(suffix, tmp_path):
    """As cat and bgzip make them, wherever one ends and the next begins."""
    rng = random.Random(f"members {suffix}")
    text = b"a,support\n" + b"".join(b"%d,%s\n" % (at, rng.choice([b"yes", b"no"])) for at in range(30_000))
    plain = tmp_path / "plain.csv"
    plain.write_bytes(text)
    expected = _counts(plain)
    for _ in range(4):
        cuts = sorted(rng.choices(range(len(text)), k=rng.choice([1, 40])))
        parts = []
        for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            parts.append(packed(tmp_path / f"part.csv.{suffix}", text[begin:end]).read_bytes())
        path = tmp_path / f"whole.csv.{suffix}"
        path.write_bytes(b"".join(parts))
        assert _counts(path) == expected


def test_a_quote_that_nobody_closes_is_found_in_a_stream_too(tmp_path, monkeypatch):
    """Going back in an archive means starting again."""
    monkeypatch.setattr(lines, "BLOCK", 100)
    text = b'a,support\n1,yes\n1,"no\n' + b"1,yes\n" * 5000
    assert _counts(packed(tmp_path / "open.csv.gz", text)) == (5002, (5001, 0), 1)


def test_an_archive_in_another_encoding_is_unpacked_and_decoded(tmp_path):
    text = "größe,support\nü,yes\nß,no\n".encode("latin-1")
    path = packed(tmp_path / "latin.csv.gz", text)
    _refused(path, "not UTF-8")
    found = _counts(path, exists("größe == 'ü'"), description=Description(format=Format(encoding="latin-1")))
    assert found == (2, (1, 1), 0)


def test_an_archive_that_has_no_end_is_refused_at_a_public_size(tmp_path, monkeypatch):
    monkeypatch.setattr(byte_streams, "MAX_UNPACKED", 2**22)
    path = packed(tmp_path / "bomb.csv.zst", b"a,support\n" + b"1,yes\n" * 2_000_000)
    assert path.stat().st_size < 10_000
    with pytest.raises(FileError, match="more than 4,194,304 bytes, the most that is read"):
        _counts(path)


def test_only_the_name_says_that_a_file_is_compressed(tmp_path):
    (tmp_path / "survey.csv").write_bytes(gzip.compress(SURVEY))
    _refused(tmp_path / "survey.csv", "gzip: put .gz behind")
    (tmp_path / "survey.csv.gz").write_bytes(SURVEY)
    _refused(tmp_path / "survey.csv.gz", "not compressed with gzip")
    (tmp_path / "survey.parquet.gz").write_bytes(gzip.compress(SURVEY))
    _refused(tmp_path / "survey.parquet.gz", "must end in")


@pytest.mark.parametrize("encoding", ["utf-16", "shift_jis", "cp1252", "gb18030", "euc_kr"])
def test_no_bytes_end_the_decoding_of_a_file(encoding, tmp_path):
    """What an encoding has no meaning for makes its cell missing, also where a decoder would rather stop."""
    rng = random.Random(f"decode {encoding}")
    header, row = "a,support\n", "1,yes\n"
    path = tmp_path / "odd.csv"
    for _ in range(20):
        odd = bytes(rng.choice([rng.randrange(256), 0xD8, 0xDC, 0, 0x81, 0x2B]) for _ in range(rng.choice([2, 30])))
        path.write_bytes(header.encode(encoding) + odd + row.encode(encoding).removeprefix(b"\xff\xfe"))
        _counts(path, description=Description(format=Format(encoding=encoding)))
    for name in ("iso2022_jp", "idna", "punycode", "undefined", "utf-7", "utf-16-le"):
        with pytest.raises(ParameterError, match="encoding"):
            Format(encoding=name)


# JSON


def _twin_lines(text):
    """The elements of an array, by Python's own parser."""
    return [json.dumps(each, ensure_ascii=False) for each in json.loads(text)]


def test_arrays_are_split_where_their_elements_end(tmp_path, monkeypatch):
    """Random nested values with all that looks like structure, in blocks of any size, against Python's parser."""
    rng = random.Random("arrays")
    pieces = ["[", "]", "{", "}", ",", '"', "\\", "\n", "\t", "é", "\u2028", "a", ":", " "]

    def value(depth):
        kind = rng.choice("tnbol" if depth else "tnb")
        if kind == "t":
            return "".join(rng.choices(pieces, k=rng.randrange(5)))
        if kind == "n":
            return rng.choice([0, -1, 1.5, 1e300, None])
        if kind == "b":
            return rng.random() < 0.5
        if kind == "l":
            return [value(depth - 1) for _ in range(rng.randrange(3))]
        return {f"{value(0)}" if rng.random() < 0.3 else f"k{at}": value(depth - 1) for at in range(rng.randrange(3))}

    for trial in range(200):
        elements = [value(3) for _ in range(rng.choice([0, 1, 2, 7]))]
        text = json.dumps(elements, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 0, 1, "\t"])).encode()
        size = rng.choice([1, 2, 7, 1000])
        blocks = [text[at : at + size] for at in range(0, len(text), size)]
        whole = b"".join(text_files.elements_as_lines(tmp_path, iter(blocks)))
        assert len(whole) == len(text), trial
        found = [json.loads(line) for line in whole.split(b"\n") if line.strip()]
        assert found == elements


def test_the_kernel_of_arrays_is_the_same_compiled_and_plain():
    rng = random.Random("array kernel")
    for _ in range(50):
        data = np.frombuffer(bytes(rng.choices(b'[]{},"\\\n\r\t a1', k=300)), np.uint8)
        results = []
        for run in (array_elements.as_lines.plain, array_elements.as_lines.compiled):
            state, out = np.zeros(array_elements.STATE, np.int64), np.empty_like(data)
            for begin, end in ((0, 100), (100, 101), (101, 300)):
                run(data[begin:end], state, out[begin:end])
            results.append((out.tobytes(), state.tolist()))
        assert results[0] == results[1]


@pytest.mark.parametrize(
    ("text", "rows"),
    [("[]", 0), (" [ ] ", 0), ("[\r\n]\r\n", 0), ('\ufeff[{"support": "yes"}]', 1), ('[{"support": true}\t,\r\n1]', 2)],
)
def test_blanks_in_arrays_are_no_rows(text, rows, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8", newline="")
    assert _counts(path)[0] == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"support": "c4n4ry"}', "does not end"),
        ('[{"support": "c4n4ry"}]]', "behind the array"),
        ('[{"support": "c4n4ry}]', "does not end"),
        ("[1] [2]", "behind the array"),
        ("[1], 2]", "behind the array"),
        ("true", "begin with"),
        ("support\nyes\n", "begin with"),
    ],
)
def test_arrays_that_are_damaged_are_refused(text, words, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(FileError, match=words) as caught:
        _counts(path)
    _require_unseen(caught.value)


def test_numbers_and_truth_values_of_json_are_read_right_under_any_description(tmp_path):
    """A description says how text is written; a number of JSON is a number."""
    columns = {
        "cost": ColumnDescription("number"),
        "paid": ColumnDescription("yes/no", yes=("ja",), no=("nein",)),
    }
    described = Description(columns, Format(decimal=",", thousands="."))
    rows = [{"cost": 1.5, "paid": True}, {"cost": "1.234,5", "paid": "nein"}, {"cost": 2000, "paid": False}]
    for name, text in (("a.json", json.dumps(rows)), ("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))):
        (tmp_path / name).write_text(text)
        path = tmp_path / name
        assert _counts(path, median("cost", above=1000), description=described)[1] == (2, 1)
        assert _counts(path, majority("paid"), description=described)[1] == (1, 2)


# Excel


def _sheet(tmp_path, rows, **options):
    return workbook(tmp_path / "book.xlsx", {"Sheet1": rows}, **options)


SHOWN = {
    "text": ("Zürich", "Zürich"),
    "text with blanks": ("  a ", "a"),
    "a line end": ("a\nb", "a\nb"),
    "escaped": ("a_x0041_b", "a_x0041_b"),
    "a whole number": (number("7"), "7"),
    "a fraction": (number("2.50"), "2.5"),
    "an exponent": (number("1.0E-2"), "0.01"),
    "many digits": (number("12345678901234567"), "12345678901234567"),
    "a date": (dt.date(2024, 2, 29), "2024-02-29"),
    "a date with a hidden time": (number("45351.75", DATE), "2024-02-29"),
    "a moment": (dt.datetime(2024, 2, 29, 13, 5), "2024-02-29 13:05:00"),
    "milliseconds": (number("45351.000005787", MILLISECONDS), "2024-02-29 00:00:00.5"),
    "the first day": (number("1", DATE), "1900-01-01"),
    "the last day before the day that never was": (number("59", DATE), "1900-02-28"),
    "the day after": (number("61", DATE), "1900-03-01"),
    "the last day": (number("2958465", DATE), "9999-12-31"),
    "a time": (number("0.5", TIME), "12:00:00"),
    "a duration": (number("1.5", DURATION), "36:00:00"),
    "a number with a unit": (number("3", DAYS), "3"),
    "true": (True, "true"),
    "a formula's number": (Cell("<c {r}><f>1+1</f><v>2</v></c>"), "2"),
    "a formula's text": (Cell('<c {r} t="str"><f>T(A1)</f><v>x</v></c>'), "x"),
    "rich text": (Cell('<c {r} t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c>'), "ab"),
    "how it is pronounced": (Cell('<c {r} t="inlineStr"><is><t>a</t><rPh sb="0" eb="1"><t>b</t></rPh></is></c>'), "a"),
    "an ISO date": (Cell('<c {r} s="1" t="d"><v>2024-02-29T00:00:00</v></c>'), "2024-02-29"),
    "an error": (Cell('<c {r} t="e"><v>#DIV/0!</v></c>'), None),
    "a date before the first": (number("0.5", DATE), None),
    "a date after the last": (number("2958466", DATE), None),
    "the day that never was": (number("60", DATE), None),
    "a negative time": (number("-0.5", TIME), None),
}


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("shared", [False, True])
def test_a_cell_of_a_sheet_is_what_excel_shows(name, shared, tmp_path):
    cell, text = SHOWN[name]
    path = _sheet(tmp_path, [["x", "n"], [cell, 1]], shared=shared)
    with sources.open(path) as source:
        labels = source.count_by(majority("n"), "x").labels
    assert labels == (() if text is None else (text,))


def test_days_since_1904_are_read_as_such(tmp_path):
    path = _sheet(tmp_path, [["x", "n"], [number("0", DATE), 1], [number("1462", DATE), 1]], since_1904=True)
    with sources.open(path) as source:
        assert source.count_by(majority("n"), "x").labels == ("1904-01-01", "1908-01-02")


def test_typed_cells_are_read_right_under_any_description(tmp_path):
    """The description says how texts are written; dates, numbers and truth values of the workbook need none."""
    rows = [
        ["born", "cost", "paid"],
        [dt.date(1950, 5, 1), 1.5, True],
        ["01.05.1990", "1.234,5", "nein"],
        [dt.datetime(2000, 1, 1, 8), 2000, "ja"],
    ]
    columns = {
        "born": ColumnDescription("date", form="%d.%m.%Y"),
        "cost": ColumnDescription("number"),
        "paid": ColumnDescription("yes/no", yes=("ja",), no=("nein",)),
    }
    described = Description(columns, Format(decimal=",", thousands="."))
    path = _sheet(tmp_path, rows)
    for question, classes in (
        (threshold("born >= 1990-01-01", at_least=1), (2, 1)),
        (median("cost", above=1000), (2, 1)),
        (majority("paid"), (2, 1)),
    ):
        assert _counts(path, question, description=described) == (3, classes, 0)


def test_blank_rows_and_what_stands_beside_the_table_are_no_rows(tmp_path):
    """Styled but empty rows, formulas that yield nothing, and notes to the right of the names."""
    empty = Cell('<c {r} s="1"/>')
    nothing = Cell('<c {r} t="str"><f>""</f><v></v></c>')
    rows = [
        [None],
        [empty, empty],
        ["support", "ward"],
        ["yes", "N"],
        [],
        [empty, nothing],
        [None, None, None, "a note"],
        [None, "S"],
        ["  ", " "],
        ["no", Cell('<c {r} t="e"><v>#N/A</v></c>')],
    ]
    assert _counts(_sheet(tmp_path, rows)) == (3, (1, 1), 1)


def test_a_sheet_is_chosen_by_its_name_or_is_the_first_that_is_shown(tmp_path):
    path = tmp_path / "book.xlsx"
    sheets = {"chart": [], "old": [["support"], ["no"]], "new": [["support"], ["yes"]], "Ü 2": [["support"], ["no"]]}
    workbook(path, sheets, hidden=("old",), kinds={"chart": "chartsheet"})
    assert _counts(path)[1] == (1, 0)
    assert _counts(f"{path}#old")[1] == (0, 1)
    assert _counts(f"{path}#Ü 2")[1] == (0, 1)
    with sources.open(f"{path}#new") as source:
        assert source.place == f"{path}#new"
        assert "'new'" in source.rules[0]
    for name in ("nwe", "chart"):
        with pytest.raises(FileError, match=r"there is no sheet.*It has old, new, Ü 2"):
            sources.open(f"{path}#{name}")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "empty"),
        ([["Survey of 2024"], ["person", "support"], [1, "yes"]], "looks like a title"),
        ([[CANARY, 34, "yes"], ["b", 35, "no"]], "looks like data"),
        ([[CANARY, dt.date(1980, 1, 1)]], "looks like data"),
        ([[CANARY, True]], "looks like data"),
        ([[CANARY, CANARY]], "the same name, columns 1 and 2"),
    ],
)
def test_sheets_without_names_are_refused(rows, words, tmp_path):
    _refused(_sheet(tmp_path, rows), words)


def test_a_far_corner_costs_nothing(tmp_path):
    """A cell in the last row and column of a sheet is one cell, not seventeen billion."""
    rows = [["support"], ["yes"], [Cell('<c r="XFD1048576"><v>1</v></c>')]]
    assert _counts(_sheet(tmp_path, rows)) == (1, (1, 0), 0)


DAMAGED = {
    "no parts": lambda path: archive(path, {"a.txt": "x"}),
    "no sheets": lambda path: workbook(path, {}),
    "no sheet": lambda path: archive(path, {**_parts_of(path), "xl/worksheets/s0.xml": None}),
    "broken XML": lambda path: archive(path, {**_parts_of(path), "xl/worksheets/s0.xml": "<worksheet><sheetData>"}),
    "entities": lambda path: archive(
        path, {**_parts_of(path), "xl/worksheets/s0.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}
    ),
}


def _parts_of(path):
    workbook(path, {"s": [["support"], [CANARY]]})
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


@pytest.mark.parametrize("name", DAMAGED)
def test_workbooks_that_are_damaged_are_refused(name, tmp_path, monkeypatch):
    path = tmp_path / "book.xlsx"
    write = archive
    monkeypatch.setitem(
        globals(), "archive", lambda to, parts: write(to, {k: v for k, v in parts.items() if v is not None})
    )
    DAMAGED[name](path)
    _refused(path, "damaged|no sheet|entities")


def test_parts_of_a_workbook_have_a_public_limit(tmp_path, monkeypatch):
    path = _sheet(tmp_path, [["support"], *[["yes"]] * 5000])
    monkeypatch.setattr(excel_sheets, "MAX_SHEET", 10_000)
    _refused(path, "more than 10,000 bytes, the most that is read")


def test_encrypted_workbooks_say_so(tmp_path):
    path = tmp_path / "book.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    _refused(path, "protected with a password")
    _sheet(tmp_path, [["support"], ["yes"]])
    data = bytearray(path.read_bytes())
    for begin, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(begin), bytes(data)):
            data[found.start() + flags] |= 1
    path.write_bytes(bytes(data))
    _refused(path, "encrypted")


def test_formats_of_numbers_are_sorted_by_what_they_show():
    shown = {
        "number": ["General", "0.00", "#,##0.00", "0%", "0.00E+00", '"d"0', "[Red]0", "\\d0", "_d0", "@", "0;[Red]-0"],
        "date": ["yyyy-mm-dd", "d/m/yy", "mmm yyyy", "[$-407]d. mmmm yyyy", "dddd", "yyyy", "mm"],
        "moment": ["yyyy-mm-dd hh:mm", "d/m/yy h:mm AM/PM"],
        "time": ["h:mm", "hh:mm:ss", "mm:ss.0", "h AM/PM"],
        "duration": ["[h]:mm", "[mm]:ss", "[ss]"],
    }
    for kind, codes in shown.items():
        assert {code: kind_of_format(200, code) for code in codes} == dict.fromkeys(codes, kind)


def test_workbooks_of_another_program_are_read_as_it_reads_them(tmp_path):
    """Random values, written and read by openpyxl."""
    openpyxl = pytest.importorskip("openpyxl")
    rng = random.Random("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    values = [
        *("a", " b ", "é\n", "=1", 0, -1, 2**40, 0.1, -1e300, True, False, None),
        *(dt.date(1999, 12, 31), dt.datetime(2024, 2, 29, 1, 2, 3), dt.time(23, 59), dt.timedelta(hours=30)),
    ]
    rows = [["x", "y", "z"]] + [[rng.choice(values) for _ in range(3)] for _ in range(300)]
    for row in rows:
        sheet.append([f"'{each}" if each == "=1" else each for each in row])
    book.save(tmp_path / "book.xlsx")
    with closing(Workbook(tmp_path / "book.xlsx")) as mine:
        found = list(mine.rows(mine.sheets[0]))
    theirs = openpyxl.load_workbook(tmp_path / "book.xlsx", data_only=True).active
    expected = [
        {at: _as_read(cell.value) for at, cell in enumerate(row) if cell.value is not None}
        for row in theirs.iter_rows()
    ]
    assert [row for row in found if row] == [row for row in expected if row]


def _as_read(value):
    if isinstance(value, dt.timedelta):
        hours, rest = divmod(int(value.total_seconds()), 3600)
        return f"{hours:02}:{rest // 60:02}:{rest % 60:02}"
    if isinstance(value, dt.datetime) and value.time() == dt.time() and value.year == 1999:
        return value.date()
    return value


# databases


def test_a_table_is_named_behind_the_file(tmp_path):
    for kind in ("db", "duckdb"):
        path = _made(kind, tmp_path / "survey")
        connect = sqlite3.connect if kind == "db" else duckdb.connect
        with closing(connect(path)) as connection:
            connection.execute('CREATE TABLE "odd name\'s" (support VARCHAR)')
            connection.execute("INSERT INTO \"odd name's\" VALUES ('yes')")
            connection.execute("CREATE VIEW half AS SELECT * FROM people WHERE person < 45")
            connection.commit()
        with pytest.raises(FileError, match=r"say which table, such as survey.*it has half, odd name's, people"):
            sources.open(path)
        assert _counts(f"{path}#people") == EXPECTED
        assert _counts(f"{path}#half")[0] == 45
        assert _counts(f"{path}#odd name's") == (1, (1, 0), 0)
        with pytest.raises(FileError, match="no table 'poeple': did you mean people"):
            sources.open(f"{path}#poeple")


def test_a_table_in_another_schema_is_named_with_it(tmp_path):
    path = _made("duckdb", tmp_path / "survey")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA more")
        connection.execute("CREATE TABLE more.people AS SELECT * FROM people LIMIT 7")
    assert _counts(f"{path}#more.people")[0] == 7
    assert _counts(f"{path}#people")[0] == 90


def test_a_file_whose_name_looks_like_a_table_is_a_file(tmp_path):
    (tmp_path / "wave#1.csv").write_bytes(SURVEY)
    assert _counts(tmp_path / "wave#1.csv") == EXPECTED
    _made("db", tmp_path / "a.db#b")
    assert _counts(tmp_path / "a.db#b.db") == EXPECTED


def test_values_of_sqlite_are_read_by_their_own_types(tmp_path):
    """Whole numbers with all digits, reals exactly, text as it is, bytes and what is no text missing."""
    values = [9007199254740993, 0.1 + 0.2, 3.0, "ü", b"yes", "9e999", None, 1e20]
    path = sqlite_table(tmp_path / "v.db", ["x", "n"], [(each, 1) for each in values])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO people VALUES (CAST(x'ff61' AS TEXT), 1)")
        connection.commit()
    with sources.open(path) as source:
        groups = source.count_by(majority("n"), "x")
    assert groups.rows == 9
    assert set(groups.labels) == {"9007199254740993", "0.30000000000000004", "3", "ü", "9e999", "1e+20"}


def test_collations_of_a_database_are_left_behind(tmp_path):
    """A and a are two groups, whatever the table would say."""
    for kind in ("db", "duckdb"):
        path = tmp_path / f"c.{kind}"
        with closing((sqlite3.connect if kind == "db" else duckdb.connect)(path)) as connection:
            connection.execute("CREATE TABLE people (x VARCHAR COLLATE NOCASE, n INTEGER)")
            connection.execute("INSERT INTO people VALUES ('a', 1), ('A', 1)")
            connection.commit()
        with sources.open(path) as source:
            assert source.count_by(majority("n"), "x").labels == ("A", "a")
            assert source.count(exists("x == 'a'")).classes == (1, 1)


def test_nothing_is_written_to_a_database(tmp_path):
    for kind in ("db", "duckdb"):
        path = _made(kind, tmp_path / "survey")
        before = path.read_bytes()
        os.chmod(path, 0o400)
        assert _counts(path) == EXPECTED
        assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["survey.db", "survey.duckdb"]


def test_a_view_reads_nothing_but_its_database(tmp_path):
    path = _made("duckdb", tmp_path / "survey")
    (tmp_path / "other.csv").write_text(f"support\n{CANARY}\n")
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE VIEW other AS SELECT * FROM read_csv('{tmp_path}/other.csv')")
    with pytest.raises(FileError, match="from the database alone") as caught:
        sources.open(f"{path}#other")
    _require_unseen(caught.value)


def test_a_view_that_fails_does_so_without_a_word(tmp_path):
    for kind, view in (
        ("db", "SELECT abs(-9223372036854775807 - person) AS support FROM people"),
        ("duckdb", f"SELECT CASE WHEN person = 50 THEN error('{CANARY}') ELSE 'yes' END AS support FROM people"),
    ):
        path = _made(kind, tmp_path / "survey")
        with closing((sqlite3.connect if kind == "db" else duckdb.connect)(path)) as connection:
            connection.execute(f"CREATE VIEW failing AS {view}")
            connection.commit()
        with pytest.raises(FileError, match="to the end") as caught:
            _counts(f"{path}#failing")
        _require_unseen(caught.value)


def test_a_database_that_somebody_writes_to_says_so(tmp_path, monkeypatch):
    from tinct.sources import sqlite_files

    monkeypatch.setattr(sqlite_files, "_TIMEOUT", 0.05)
    path = _made("db", tmp_path / "survey")
    with closing(sqlite3.connect(path)) as writing:
        writing.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FileError, match="another program is writing"):
            sources.open(path)
        writing.rollback()
    path = _made("duckdb", tmp_path / "survey")
    hold = f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline()
        with pytest.raises(FileError, match="another program writes"):
            sources.open(path)
        other.stdin.close()


# folders and patterns


def test_parts_are_counted_as_one(tmp_path):
    """In a folder, marks of other programs aside; by a pattern; compressed or not; each with its own header."""
    folder = tmp_path / "parts"
    for kind in ("csv", "csv.gz", "jsonl", "json", "parquet"):
        folder.mkdir()
        for at in range(3):
            _made(kind, folder / f"part{at}")
        (folder / "_SUCCESS").touch()
        (folder / ".part0.crc").touch()
        assert _counts(folder) == (270, (90, 90), 90)
        assert _counts(str(folder) + os.sep) == (270, (90, 90), 90)
        assert _counts(folder / f"part[01].{kind}") == (180, (60, 60), 60)
        with sources.open(folder) as source:
            assert (source.name, source.place) == ("parts", str(folder))
        for each in folder.iterdir():
            each.unlink()
        folder.rmdir()


def test_the_last_row_of_a_part_without_a_line_end_is_a_row(tmp_path):
    for at, text in enumerate(("a,support\n1,yes", "a,support\r\n1,yes\r\n", "\ufeffa,support\n1,no")):
        (tmp_path / f"{at}.csv").write_text(text, encoding="utf-8", newline="")
    assert _counts(tmp_path / "*.csv") == (3, (2, 1), 0)


def test_parts_that_do_not_belong_together_are_refused(tmp_path):
    def refused(words, **files):
        folder = tmp_path / f"f{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        for name, content in files.items():
            path = folder / name.replace("_", ".")
            if content is None:
                path.mkdir()
            elif isinstance(content, bytes):
                path.write_bytes(content)
            else:
                pq.write_table(content, path)
        _refused(folder, words)

    refused("its columns are not those of a.csv", a_csv=b"x,y\n1,2\n", b_csv=b"x,z\nc4n4ry,2\n")
    refused("its columns are not those of a.csv", a_csv=b"x,y\n1,2\n", b_csv=b"y,x\n1,2\n")
    refused("looks like data", a_csv=b"x,y\n1,2\n", b_csv=b"c4n4ry,2\n")
    refused("must all end alike, in .csv", a_csv=b"x,y\n", b_tsv=b"x\ty\n")
    refused("stands among the parts", a_csv=b"x,y\n", b=None)
    refused("not those of a.parquet", a_parquet=pa.table({"x": [1]}), b_parquet=pa.table({"x": ["1"]}))
    refused("not those of a.parquet", a_parquet=pa.table({"x": [1]}), b_parquet=pa.table({"y": [1]}))
    refused("must end in", a_md=b"x")
    refused("parts can be text or Parquet", a_xlsx=b"x")
    with pytest.raises(FileError, match="no file fits"):
        sources.open(tmp_path / "*.csv")


def test_there_are_not_more_parts_than_can_be_watched(tmp_path, monkeypatch):
    monkeypatch.setattr(data_files, "MAX_PARTS", 2)
    for at in range(3):
        (tmp_path / f"{at}.csv").write_bytes(SURVEY)
    _refused(tmp_path, "3 parts: at most 2")


def test_a_part_of_damaged_text_takes_its_cell_only(tmp_path):
    """Also in Parquet, where the quick way through all parts gives up, and the slow one is taken."""
    cells = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 3, 4], np.int32)), pa.py_buffer(b"yes\xff")]
    )
    pq.write_table(pa.table({"support": pa.array(["no", "yes"])}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"support": cells}), tmp_path / "b.parquet")
    assert _counts(tmp_path) == (4, (2, 1), 1)


# streams


class Once:
    """A stream of Arrow batches that can be read one time only, and may break off."""

    def __init__(self, table, broken=False):
        batches = table.to_batches(max_chunksize=10)

        def rows():
            yield from batches[:2]
            if broken:
                raise RuntimeError(CANARY)
            yield from batches[2:]

        self._reader = pa.RecordBatchReader.from_batches(table.schema, rows())

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


TABLE = pa.table(dict(zip(NAMES, zip(*ROWS, strict=True), strict=True)))


def test_a_stream_is_read_once_and_counted_as_often_as_asked():
    with sources.open(Once(TABLE)) as source:
        for _ in range(2):
            found = source.count(majority("support"))
            assert (found.rows, found.classes, found.missing) == EXPECTED
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    assert _counts(reader) == EXPECTED


def test_a_stream_that_broke_off_never_counts_as_what_was_left_of_it():
    with sources.open(Once(TABLE, broken=True)) as source:
        for words in ("cannot read it", "broke off|cannot read it"):
            with pytest.raises(FileError, match=words) as caught:
                source.count(majority("support"))
            _require_unseen(caught.value)


def test_the_rows_of_a_stream_are_not_asked_for_before_they_are_counted():
    seen = []

    def rows():
        seen.append(1)
        yield from TABLE.to_batches()

    source = sources.open(pa.RecordBatchReader.from_batches(TABLE.schema, rows()))
    source.check(majority("support"))
    assert not seen
    assert source.count(majority("support")).rows == 90


# standard input


def test_standard_input_is_kept_apart_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    given = StandardInput("csv", io.BytesIO(SURVEY))
    with sources.open(given) as source:
        kept = next(path for path in tmp_path.iterdir() if any(path.glob("input.csv")))
        assert kept.stat().st_mode & 0o777 == 0o700
        assert (source.name, source.place) == ("standard input", "standard input")
        assert source.count(majority("support")).rows == 90
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ParameterError, match="only once"):
        sources.open(given)
    with pytest.raises(FileError, match=r"^standard input: the first line looks like data"):
        sources.open(StandardInput("csv", io.BytesIO(b"1,2\n")))
    assert list(tmp_path.iterdir()) == []


def test_standard_input_has_a_public_limit(monkeypatch):
    monkeypatch.setattr(byte_streams, "MAX_UNPACKED", 500)
    with pytest.raises(FileError, match="standard input: it has more than 500 bytes"):
        sources.open(StandardInput("csv", io.BytesIO(SURVEY)))


@pytest.mark.parametrize("kind", ["", "doc", "db", "duckdb", "a/b.csv", "../x.csv", 5, None, "gz", "parquet.gz"])
def test_kinds_of_standard_input_are_a_short_list(kind):
    with pytest.raises(ParameterError, match="format must be"):
        StandardInput(kind)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "json", "parquet", "xlsx"])
def test_the_command_asks_about_standard_input(kind, tmp_path):
    content = _made(kind, tmp_path / "survey").read_bytes()
    done = _command("-", "majority(support)", "--format", kind, "--json", given=content)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["record"] == "majority(support) of standard input"
    done = _command(tmp_path / f"survey.{kind}", "majority(support)", "--format", kind)
    assert (done.returncode, b"--format is for standard input" in b" ".join(done.stderr.split())) == (2, True)


def test_standard_input_uses_the_options_of_the_command():
    given = "größe;support\n1;ja\n2;nein\n".encode("latin-1")
    done = _command("-", "majority(support, yes='ja', no='nein')", "--encoding", "latin-1", given=given)
    assert done.returncode == 0, done.stderr


# headers

HEADERS = {
    "names": ("person,ward,support", True),
    "one name": ("support", True),
    "two words": ("age group", True),
    "an index": (",a,b", True),
    "trailing commas": ("a,b,,", True),
    "names with digits": ("q1,2nd,x_3,3D", True),
    "number": ("no,name,t,f,y,n", True),
    "numbers": ("34,N,c4n4ry", False),
    "a date": ("c4n4ry,1985-03-01", False),
    "a German date": ("c4n4ry,01.03.1985", False),
    "a moment": ("c4n4ry,1985-03-01T12:00:00Z", False),
    "an amount": ("c4n4ry,€ 12.50", False),
    "an address": ("c4n4ry@example.org,x", False),
    "yes": ("c4n4ry,N,yes", False),
    "NA": ("c4n4ry,NA", False),
    "sodium": ("Na,Mg", True),
    "years": ("country,1990,1991", False),
    "the same twice": ("c4n4ry,c4n4ry", False),
    "a title": ("Survey c4n4ry,,", False),
    "a long title": ("Results of the c4n4ry survey", False),
    "a control character": ("c4n4ry\x07,b", False),
    "too long": ("c4n4ry" * 200 + ",b", False),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_first_line_that_may_be_a_persons_is_refused_unseen(name, tmp_path):
    """By itself, whatever stands below; a line that only has names is taken."""
    line, good = HEADERS[name]
    path = tmp_path / "h.csv"
    for rest in ("", "\n1,2,3\n", "\n"):
        path.write_text(line + rest, encoding="utf-8")
        if good:
            sources.open(path).close()
        else:
            _refused(path, "first line|same name")


def test_columns_that_are_described_are_named_whatever_they_look_like(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text("country,1990,1991\nCH,5,6\n")
    described = Description({"country": ColumnDescription("category"), "1990": ColumnDescription("number")})
    assert _counts(path, median("1990", above=4), description=described) == (1, (1, 0), 0)
    with pytest.raises(FileError, match="looks like data"):
        sources.open(path, Description({"1990": ColumnDescription("number"), "1992": ColumnDescription("number")}))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("sign", [";", ",", "|", "\t"])
def test_a_line_that_names_the_delimiter_is_heeded(end, sign, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text(end.join([f"sep={sign}", f"a{sign}support", f"1{sign}yes", f"2{sign}no", ""]), newline="")
    assert _counts(path) == (2, (1, 1), 0)
    other = "," if sign != "," else ";"
    with pytest.raises(FileError, match="another delimiter"):
        sources.open(path, Description(format=Format(delimiter=other)))
    path.write_text(f"sep={sign}{end}34{sign}{CANARY}{end}", newline="")
    _refused(path, "looks like data")


def test_commas_among_semicolons_have_to_be_explained(tmp_path):
    """Quoted ones are part of a name; others could stand between two."""
    path = tmp_path / "d.csv"
    path.write_text('person;"income, net";support\n1;2,5;yes\n')
    assert _counts(path)[1] == (1, 0)
    path.write_text("person;income, net;support\n1;2,5;yes\n")
    assert "delimiter=';'" in _refused(path, "commas and semicolons")
    assert _counts(path, description=Description(format=Format(delimiter=";")))[1] == (1, 0)
    path.write_text("person|support\n1|yes\n")
    _refused(path, "has '|'".replace("|", r"\|"))
    assert _counts(path, description=Description(format=Format(delimiter="|")))[1] == (1, 0)
    assert ask(path, "majority(support)", 9, delimiter="|").value in ("yes", "no")


def test_headers_are_judged_quickly_however_long_they_are():
    with pytest.raises(FileError):
        column_names(["1" * 200_000 + "x"], "h.csv")
