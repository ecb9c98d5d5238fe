"""The description of a data set: its file, what it means for each cell, and what it means for whoever asks."""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import json
import math
import random
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import naive
import tinct
from tinct import FileError, Ledger, ParameterError, Protection, sources
from tinct.asking import plan
from tinct.asking.reading_check import check_reading
from tinct.cli.main import app
from tinct.questions import parse
from tinct.sources import ColumnDescription, Description, Format
from tinct.sources.draft import DOUBT, draft

pd = pytest.importorskip("pandas")

HEAD = 'schema = "tinct/description@1"\nconfirmed = true\n'


def described(text, path):
    """A description from the text of its file."""
    path.write_text(HEAD + text, encoding="utf-8")
    return Description.from_toml(path)


# the file

names = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12)
words = st.lists(
    names.map(lambda word: word.strip().lower().strip()).filter(bool), min_size=2, max_size=6, unique=True
).filter(lambda found: len({word.lower() for word in found}) == len(found))
numbers = st.floats(-1e9, 1e9).map(lambda number: number + 0.0)
columns = st.one_of(
    st.builds(ColumnDescription, st.just("yes/no"), ask=st.none() | st.booleans()),
    words.map(lambda found: ColumnDescription("yes/no", yes=tuple(found[:1]), no=tuple(found[1:]))),
    st.lists(numbers, min_size=2, max_size=2).map(
        lambda two: ColumnDescription("number", least=min(two), most=max(two))
    ),
    words.map(lambda found: ColumnDescription("category", values=tuple(found))),
    st.lists(numbers, min_size=1, max_size=5, unique=True).map(lambda each: ColumnDescription("category", values=each)),
    st.sampled_from(["%d.%m.%Y", "%Y-%m-%d %H:%M", "%m/%d/%Y %H:%M:%S", "%Y年%m月%d日"]).map(
        lambda form: ColumnDescription("date", form=form)
    ),
    st.builds(ColumnDescription, st.just("identifier"), ask=st.none() | st.booleans()),
)
formats = st.builds(
    Format,
    st.sampled_from([None, ",", ";", "\t", "|"]),
    st.sampled_from([None, "latin-1", "cp1252", "utf-16", "shift-jis"]),
    st.just(","),
    st.sampled_from(["", ".", "'", " ", "\u202f"]),
)


@given(st.dictionaries(names, columns, max_size=5), formats, st.booleans(), st.integers(1, 9))
def test_what_is_written_is_what_is_read(tmp_path_factory, listed, written, confirmed, many):
    """Whatever columns are called and hold: the file says the same, and its digest is the same."""
    person = next(iter(listed), None)
    found = Description(listed, written, person, many, many, confirmed)
    path = tmp_path_factory.mktemp("d") / "x.csv.toml"
    found.to_toml(path)
    again = Description.from_toml(path)
    assert again == found
    assert again.digest == found.digest
    assert again.text == found.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour = 1", "has no field 'colour'"),
        ("[format]\ndelimeter = ';'", "[format] has no field 'delimeter'"),
        ("[columns.a]\nkind = 'number'\nform = '%Y'", "[columns.a] has no field 'form'"),
        ("[columns.a]\nleast = 1", "must have a kind"),
        ("[columns.a]\nkind = 'colour'", "kind must be one of"),
        ("[columns.a]\nkind = ['number']", "kind must be one of"),
        ("[columns.a]\nkind = 'number'\nleast = 2\nmost = 1", "'least' is 2, which is above 'most', 1"),
        ("[columns.a]\nkind = 'number'\nleast = nan", "a finite number"),
        ("[columns.a]\nkind = 'number'\nleast = '1'", "a finite number"),
        ("[columns.a]\nkind = 'category'\nvalues = ['a', 'b', 'a']", "got 'a' twice"),
        ("[columns.a]\nkind = 'category'\nvalues = [1, 1.0]", "got 1 twice"),
        ("[columns.a]\nkind = 'category'\nvalues = [1, 'b']", "not a mixture"),
        ("[columns.a]\nkind = 'category'\nvalues = [true, false]", "of kind yes/no"),
        ("[columns.a]\nkind = 'category'\nvalues = [9007199254740993]", "more digits"),
        ("[columns.a]\nkind = 'yes/no'\nyes = ['ja']", "both answers"),
        ("[columns.a]\nkind = 'yes/no'\nyes = ['ja', 'x']\nno = ['X']", "'x' stands for yes and for no"),
        ("[columns.a]\nkind = 'yes/no'\nyes = ['ja ']\nno = ['nein']", "without blanks"),
        ("[columns.a]\nkind = 'yes/no'\nyes = [1]\nno = [2]", "words without blanks"),
        ("[columns.a]\nkind = 'date'", "needs 'form'"),
        ("[columns.a]\nkind = 'date'\nform = '%d.%m.%y'", "four digits"),
        ("[columns.a]\nkind = 'date'\nform = '%d.%m'", "form must be"),
        ("[columns.a]\nkind = 'date'\nform = '%H:%M %d.%m.%Y'", "the day before the time"),
        ("[columns.a]\nkind = 'identifier'\nask = 'no'", "true or false"),
        ("columns = 3", "must be a table"),
        ("person = 'b'\n[columns.a]\nkind = 'number'", "identifies people and is not described"),
        ("groups_per_person = 0", "from 1 to"),
        ("rows_per_person = true", "from 1 to"),
        ("[format]\nmissing = ['J']\n[columns.a]\nkind = 'yes/no'\nyes = ['j']\nno = ['n']", "'J' is a value, and"),
        ("[format]\nmissing = ['N']\n[columns.a]\nkind = 'category'\nvalues = ['N']", "'N' is a value, and"),
        ("[format]\nmissing = 'NA'", "a list of"),
        ("[format]\ndecimal = ';'", "'.' or ','"),
        ("[format]\ndecimal = ','\nthousands = ','", "another mark"),
        ("[format]\nencoding = 'klingon'", "the name of an encoding"),
        ("[format]\nencoding = 'zlib'", "the name of an encoding"),
        ("[columns.a\nkind = 'number'", "this is not TOML"),
        ("confirmed = true", "this is not TOML"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path, text, said):
    """Unknown fields, wrong types, contradictions: an error that says where."""
    with pytest.raises(FileError) as caught:
        described(text, tmp_path / "x.csv.toml")
    assert said in str(caught.value)


def test_a_draft_cannot_be_used(tmp_path):
    """Neither beside the data nor given."""
    data, toml = tmp_path / "x.csv", tmp_path / "x.csv.toml"
    data.write_text("a\n1\n")
    unread = Description({"a": ColumnDescription("yes/no")}, confirmed=False)
    unread.to_toml(toml)
    for use in (
        lambda: tinct.ask(data, "majority(a)", 1),
        lambda: tinct.ask(data, "majority(a)", 1, description=toml),
        lambda: sources.open(data, unread),
    ):
        with pytest.raises(ParameterError, match="this description is a draft"):
            use()


def test_the_digest_is_of_the_meaning(tmp_path):
    """The same however the file is laid out, and another one as soon as anything means something else."""
    one = described(
        "person = 'id'\n[columns.id]\nkind='identifier'\n[columns.a]\nkind='number'\nleast=0\nmost=1e3\n",
        tmp_path / "a.toml",
    )
    other = described(
        "rows_per_person = 3\nperson = 'id' # who\n\n[columns]\n"
        "a = {most = 1000, kind = 'number', least = -0.0, ask = true}\n"
        "id = {kind = 'identifier', ask = false}\n[format]\nencoding = 'UTF8'\n",
        tmp_path / "b.toml",
    )
    assert one.digest == other.digest
    digests = {one.digest}
    number = one.columns["a"]
    for changed in (
        dataclasses.replace(one, person=None),
        dataclasses.replace(one, groups_per_person=2),
        *(
            one.with_format(**each)
            for each in ({"decimal": ","}, {"thousands": "'"}, {"missing": ()}, {"delimiter": ";"})
        ),
        one.with_format(encoding="latin-1"),
        *(
            dataclasses.replace(one, columns={**one.columns, "a": changed})
            for changed in (
                dataclasses.replace(number, least=1),
                dataclasses.replace(number, most=None),
                dataclasses.replace(number, ask=False),
                ColumnDescription("category", values=(0, 1)),
                ColumnDescription("category", values=(1, 0)),
                ColumnDescription("category", values=("0", "1")),
            )
        ),
        dataclasses.replace(one, columns={"id": one.columns["id"]}),
    ):
        assert changed.digest not in digests
        digests.add(changed.digest)


# reading, against a slow twin

CELLS = [
    "yes", "no", " YES ", "No", "ja", "NEIN", "1", "0", "1.0", "0.0", "2", "NA", "N/A", "n/a", "nan", "NaN", "NULL",
    "null", "None", "#N/A", "na", "", "  ", "\u00a0yes\u00a0", "\u3000no", "12", "-3.5", "1e3", "1e400", "1e-400",
    "1E5",
    "1.234,5", "1.234", "15.000", "15,000", "1'000", "12.34.5", "1..5", "1.e5", ".e5", "+5", "5.", ".5", "-.5", ".",
    "-",
    "--5", "-0.0", "Infinity", "inf", "0x10", "１２", "1_000", "1__0", "+-5", "\u00a012", "1e0005",
    "1e5_0", "12\t", "\v12", " 1e5 ", "\u00a01.5\u2003", "1e-5", "1f", "1d",
    "9" * 350, "0" * 500 + "1", "9007199254740993", "31.12.1990",
    "1.2.2000", "01.02.2000", "30.02.1990", "29.02.2000", "29.02.1900", "29.02.1999", "31.12.990", "1990-12-31",
    "1990-12-31T10:00:00Z", "1990-12-31 10:00:00.5", "1990-12-31 10:00", "10:00:00", "2000-02-30", "99-1-1", "ÄÖÜ",
    "äöü",
    "Straße", "STRASSE", "x" * 300, "N", "S", "n", "x y", "x, y", "-9", "-9.0", "-9.00", "v1.0", "1.0\n", "12\n", "\tN",
    "31.12.1990\n", "1990-12-31\n", "-1.0", "007", "00.0", "NA ", "7",
]  # fmt: skip
DIGITS = "0123456789.,'-+eE :TZ"
KINDS = [
    None,
    {"kind": "yes/no"},
    {"kind": "yes/no", "yes": ["ja", "1", "äöü"], "no": ["nein", "2", "straße"]},
    {"kind": "number"},
    {"kind": "number", "least": -4, "most": 15000},
    {"kind": "category"},
    {"kind": "category", "values": ["N", "S", "1.0", "NA"]},
    {"kind": "category", "values": [1, 2, -9, 12]},
    {"kind": "date", "form": "%d.%m.%Y"},
    {"kind": "date", "form": "%Y-%m-%d %H:%M"},
]
WRITTEN = [
    {},
    {"decimal": ",", "thousands": "."},
    {"thousands": "'", "missing": ["-9", "7", "x y", "31.12.1990", "1"]},
    {"decimal": ",", "missing": []},
]
USES = {
    "number": ["median(c, above=12)", "threshold(c in [1, 2, -9, 12], at_least=1)", "threshold(c < 1.5, at_least=1)"],
    "text": ["threshold(c in ['N', 'S', '1.0', 'NA'], at_least=1)", "threshold(c < 'N', at_least=1)"],
    "yes/no": ["majority(c)"],
    "day": ["threshold(c >= 1990-12-31, at_least=1)", "threshold(c in [2000-02-29, 2000-02-01], at_least=1)"],
}
TRUE = {
    "median(c, above=12)": lambda read: read > 12,
    "threshold(c in [1, 2, -9, 12], at_least=1)": lambda read: read in (1, 2, -9, 12),
    "threshold(c < 1.5, at_least=1)": lambda read: read < 1.5,
    "threshold(c in ['N', 'S', '1.0', 'NA'], at_least=1)": lambda read: read in ("N", "S", "1.0", "NA"),
    "threshold(c < 'N', at_least=1)": lambda read: read < "N",
    "majority(c)": lambda read: read,
    "threshold(c >= 1990-12-31, at_least=1)": lambda read: read >= "1990-12-31 00:00:00",
    "threshold(c in [2000-02-29, 2000-02-01], at_least=1)": lambda read: read[:10] in ("2000-02-29", "2000-02-01"),
}


def messy_cells(seed, count):
    """Cells as they stand in real files, and cells that nobody would write."""
    dice = random.Random(seed)
    random_cell = lambda: "".join(dice.choices(DIGITS, k=dice.randint(1, 9)))  # noqa: E731
    return [None if dice.random() < 0.05 else dice.choice(CELLS) if dice.random() < 0.6 else random_cell()
            for _ in range(count)]  # fmt: skip


def made_description(column, written):
    """The description that says about column c what the twin is told."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in written.items()}
    told = None if column is None else {
        name: tuple(value) if isinstance(value, list) else value for name, value in column.items()
    }  # fmt: skip
    return Description({} if told is None else {"c": ColumnDescription(**told)}, Format(**fields))


def require_the_rules(source, cells, column, written):
    """Counts and groups of a source are those of the twin, for each way of reading that the column allows."""
    tried = 0
    for use, questions in USES.items():
        for text in questions:
            question = parse(text)
            try:
                source.check(question)
            except ParameterError:
                continue  # not what the column is described as, or a value that it has not
            read = [naive.read_cell(cell, use, column, **written) for cell in cells]
            true = sum(TRUE[text](each) for each in read if each is not None)
            valid = sum(each is not None for each in read)
            counts = source.count(question)
            assert (counts.rows, counts.classes, counts.missing) == (
                len(cells), (true, valid - true), len(cells) - valid,
            ), (text, column, written)  # fmt: skip
            tried += 1
    labels = [naive.read_cell(cell, "label", column, **written) for cell in cells]
    found = source.count_by(parse("threshold(r >= 0, at_least=1)"), "c") if column is None else None
    if found is not None:
        sizes = dict(zip(found.labels, (found.classes.sum(axis=1) + found.missing).tolist(), strict=True))
        expected = {label: labels.count(label) for label in set(labels) if label is not None}
        assert sizes == expected
        assert list(found.labels) == sorted(expected)
    return tried


def as_csv(cells, folder):
    """A CSV file in which every cell is quoted."""
    path = folder / "cells.csv"
    quoted = ['""' if cell is None else '"' + cell.replace('"', '""') + '"' for cell in cells]
    path.write_text("c,r\n" + "".join(f"{cell},1\n" for cell in quoted), encoding="utf-8", newline="")
    return path


def as_parquet(cells, folder):
    """A Parquet file with a column of text."""
    pq.write_table(pa.table({"c": pa.array(cells, pa.string()), "r": [1] * len(cells)}), folder / "cells.parquet")
    return folder / "cells.parquet"


def as_pandas(cells, _):
    """A frame with a column of objects."""
    return pd.DataFrame({"c": pd.Series(cells, dtype=object), "r": 1})


@pytest.mark.parametrize("make", [as_csv, as_parquet, as_pandas])
@pytest.mark.parametrize("at", range(len(KINDS)))
def test_cells_are_read_as_the_twin_reads_them(tmp_path, make, at):
    """Every kind, in every way of writing, on thousands of messy cells."""
    tried = 0
    for seed, written in enumerate(WRITTEN):
        cells, column = messy_cells(100 * at + seed, 2500), KINDS[at]
        if column is not None and set(written.get("missing", ())) & {"1"} and column.get("yes"):
            written = {**written, "missing": ["-9", "7", "x y"]}  # a word cannot be both
        if column is not None and "N" in column.get("values", ()):
            written = {**written, **({"missing": ["-9", "7"]} if "missing" in written else {})}
        described = made_description(column, written)
        with sources.open(make(cells, tmp_path), described) as source:
            tried += require_the_rules(source, cells, column, written)
    assert tried >= 4


# encodings


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "shift-jis", "utf-8"])
def test_every_encoding_reads_the_same_text(tmp_path, encoding):
    """The names of columns and the cells of a file in any encoding, told by its description or by an option."""
    sex, word = ("性別", "女") if encoding == "shift-jis" else ("Mädchen", "schön")
    data = tmp_path / "x.csv"
    data.write_bytes(f"{sex},n\n{word},1\n{word},2\nx,3\n".encode(encoding))
    found = Description(format=Format(encoding=encoding))
    with sources.open(data, found) as source:
        assert source.columns == (sex, "n")
        counts = source.count(parse(f"threshold(\"{sex}\" == '{word}', at_least=1)"))
    assert (counts.rows, counts.classes, counts.missing) == (3, (2, 1), 0)


def test_bytes_that_mean_nothing_make_their_cell_missing_and_keep_its_row(tmp_path):
    """In cp1252 some bytes are nobody's; in UTF-8 an umlaut of Latin-1 is none."""
    data = tmp_path / "x.csv"
    data.write_bytes(b"a,n\nyes,1\n\x81,2\nf\xfcr,3\nno,4\n")
    for written, texts in ((Format(encoding="cp1252"), 3), (Format(), 2), (Format(encoding="latin-1"), 4)):
        with sources.open(data, Description(format=written)) as source:
            counts = source.count(parse("threshold(a != 'x', at_least=1)"))
            assert (counts.rows, counts.classes[0]) == (4, texts)
            assert source.count(parse("threshold(n >= 1, at_least=1)")).classes == (4, 0)


def encodings_that_are_read():
    """All encodings of Python's that a description may name, but those that begin with a mark."""
    import encodings
    import pkgutil

    for module in pkgutil.iter_modules(encodings.__path__):
        try:
            written = Format(encoding=module.name)
        except ParameterError:
            continue
        if written.encoding not in (None, "utf-16", "utf-32"):
            yield written.encoding


def test_no_cell_in_any_encoding_is_more_or_less_than_a_row(tmp_path):
    """Whatever bytes a cell has, and whoever says what they mean: line ends and delimiters are those of ASCII."""
    names, dice = sorted(set(encodings_that_are_read())), random.Random("lines")
    assert len(names) >= 70
    cells = [bytes([byte]) for byte in range(128, 256)]
    lead = (0x1B, 0x7E, 0x7B, 0x2B, 0x30, 0x39, 0x40, 0x5C, 0x7E, *range(128, 256))
    cells += [bytes(dice.choices(lead, k=dice.randint(2, 4))) for _ in range(3000)]
    cells += [rb"\u000a", rb"\n", b"+AAo-", b"~\n".strip(), b"\x1b$B", b"~{"]
    data = tmp_path / "x.csv"
    data.write_bytes(b"n,x\n" + b"".join(b"1,%s\n" % cell for cell in cells))
    for name in names:
        with sources.open(data, Description(format=Format(encoding=name))) as source:
            assert source.columns == ("n", "x")
            assert source.count(parse("threshold(n == 1, at_least=1)")).classes == (len(cells), 0), name


@pytest.mark.parametrize(
    "encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "cp037", "cp500", "utf-7", "hz", "iso2022_jp", "unicode_escape",
                 "raw_unicode_escape", "mac_arabic", "utf-16", "utf-32"]
)  # fmt: skip
def test_no_encoding_makes_names_of_rows(tmp_path, encoding):
    """Read as UTF-16, a whole file would be its first line, and the names of columns are printed."""
    data = tmp_path / "x.csv"
    data.write_text("name,says\nAlice,yes\nBob 5%,no\n")
    with pytest.raises(tinct.TinctError) as caught:
        tinct.ask(data, "majority(z)", 1, encoding=encoding)
    assert "columns are" not in str(caught.value)


def test_another_delimiter_makes_no_rows_of_a_quoted_cell(tmp_path):
    """A cell with line ends is one cell, whatever an asker says; with a ledger, delimiters are for its owner to say."""
    data, many = tmp_path / "x.csv", "\n" * 60
    data.write_text(f'id;text\n1;"a{many}b"\n')
    with pytest.raises(FileError, match="other delimiters"):
        tinct.ask(data, "exists(\"id;text\" != 'x')", 1, "1e-6", delimiter=",")
    data.write_text(f'id;a,b\n1;"a{many}b"\n')
    owned = Ledger(tmp_path / "book.db", 5)
    owned.declare(Protection())
    for options in ({"delimiter": ","}, {"description": Description(format=Format(delimiter=","))}):
        with pytest.raises(ParameterError, match="for the owner of the budget to say"):
            tinct.ask(data, "exists(b != 'x')", 1, "1e-6", ledger=owned, **options)
    found = Description({"id": ColumnDescription("number")}, Format(delimiter=";"))
    other = Ledger(tmp_path / "other.db", 5)
    other.declare(Protection(description=found.digest))
    tinct.ask(data, "median(id, above=0)", 1, ledger=other, description=found)


# as people write


def counts_of(data, question, **options):
    """(true, false, missing) of a question that is asked of some rows."""
    described = options.pop("description", None)
    with sources.open(data, described) as source:
        counts = source.count(parse(question), **options)
        return (*counts.classes, counts.missing)


REAL_LIFE = {
    "groups written 1.0": ("g,a\n1.0,yes\n1,no\n2.0,yes\n", None, "mode(g, categories=['1', '2'])", (2, 1, 0)),
    "numbers as categories": ("g\n1.0\n1\n2.0\n", None, "mode(g, categories=[1, 2])", (2, 1, 0)),
    "thousands with a point": (
        'cost\n15.000\n"1.234,5"\n900\n',
        Description({"cost": ColumnDescription("number")}, Format(decimal=",", thousands=".")),
        "median(cost, above=1000)",
        (2, 1, 0),
    ),
    "1 and 2": ("vote\n1\n2\n2\n2\n2\n9\n", None, "majority(vote, yes=1, no=2)", (1, 4, 1)),
    "1 and 2, described": (
        "vote\n1\n2\n2\n2\n2\n9\n",
        Description({"vote": ColumnDescription("yes/no", yes=("1",), no=("2",))}),
        "majority(vote)",
        (1, 4, 1),
    ),
    "1.0 and 2.0, described": (
        "vote\n1.0\n2.0\n2\n2.00\n9.0\n",
        Description({"vote": ColumnDescription("yes/no", yes=("1",), no=("2.0",))}),
        "majority(vote)",
        (1, 3, 1),
    ),
    "no number but to some engine": (
        "n\n1_000\n+-5\n0x10\n 1e5 \n1e5_0\n12\t\n５\n",
        None,
        "threshold(n >= 0, at_least=1)",
        (1, 0, 6),
    ),
    "NA is no answer": ("ward\nN\nNA\nn/a\nS\n", None, "threshold(ward != 'N', at_least=1)", (1, 1, 2)),
    "NA is Namibia": (
        "land\nNA\nZA\n\n",
        Description({"land": ColumnDescription("category", values=("NA", "ZA"))}),
        "mode(land, categories=['NA', 'ZA'])",
        (1, 1, 1),
    ),
    "German dates": (
        "born\n31.12.1990\n1.2.2000\n29.02.1999\nsoon\n",
        Description({"born": ColumnDescription("date", form="%d.%m.%Y")}),
        "threshold(born < 2000-01-01, at_least=1)",
        (1, 1, 2),
    ),
    "a date that stands for none": (
        "left\n31.12.9999\n1.2.2000\n",
        Description({"left": ColumnDescription("date", form="%d.%m.%Y")}, Format(missing=("31.12.9999",))),
        "threshold(left > 1999-12-31, at_least=1)",
        (1, 0, 1),
    ),
    "codes that stand for none": (
        "age\n-9\n-9.0\n-99\n30\n70\n",
        Description({"age": ColumnDescription("number")}, Format(missing=("-9", "-99"))),
        "threshold(age < 65, at_least=1)",
        (1, 1, 3),
    ),
    "a range": (
        "age\n-1\n30\n70\n999\n",
        Description({"age": ColumnDescription("number", least=0, most=120)}),
        "median(age, above=50)",
        (1, 1, 2),
    ),
    "another language": (
        "ja\nJa\nNEIN\nvielleicht\n",
        Description({"ja": ColumnDescription("yes/no", yes=("ja",), no=("nein",))}),
        "majority(ja)",
        (1, 1, 1),
    ),
    "yes as a comparison": ("alive\nY\nn\nTRUE\n", None, "majority(alive == yes)", (2, 1, 0)),
}


@pytest.mark.parametrize("name", REAL_LIFE)
def test_real_files_are_read_right(tmp_path, name):
    """What was misread once, with the counts that are true."""
    text, description, question, expected = REAL_LIFE[name]
    data = tmp_path / "x.csv"
    data.write_text(text, encoding="utf-8")
    assert counts_of(data, question, description=description) == expected


class Rows(sources.RowSource):
    """Rows of one column with values of Python's own."""

    def __init__(self, cells):
        super().__init__("own rows", ["x"])
        self._cells = cells

    def rows(self, columns):
        """Each with its one cell."""
        assert columns == ["x"]
        return ((cell,) for cell in self._cells)


EUROPEAN = Format(decimal=",", thousands=".")
VALUES = {
    "numbers among text": (
        [1.234, 1500, np.float32(0.5), np.int64(3), Decimal("1.250"), "1.234", "0,5", math.nan, 1e400, Decimal("sNaN"),
         pd.NA],
        ColumnDescription("number"),
        "threshold(x > 1000, at_least=1)",
        (2, 5, 4),
    ),
    "whole numbers as codes": (
        [1.0, 2, np.float64(2), Decimal(1), "1.0", "1"],
        ColumnDescription("category", values=(1, 2)),
        "mode(x, categories=[1, 2])",
        (3, 2, 1),  # with a point between thousands, the text 1.0 is no number
    ),
    "truth": (
        [True, np.False_, "ja", "Nein", None, 1],
        ColumnDescription("yes/no", yes=("ja",), no=("nein",)),
        "majority(x)",
        (2, 2, 2),
    ),
    "days": (
        [dt.date(2024, 1, 2), dt.datetime(2024, 1, 1, 23), np.datetime64("2023-12-31"), pd.Timestamp("2023-01-01"),
         dt.datetime(2024, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))), "31.12.2022", pd.NaT,
         dt.date(999, 1, 1), dt.time(1)],
        ColumnDescription("date", form="%d.%m.%Y"),
        "threshold(x < 2024-01-01, at_least=1)",
        (5, 2, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("make", [Rows, lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype=object)})])
def test_values_of_their_own_type_are_read_as_what_they_are(make, name):
    """In rows of one's own and in columns of objects, however texts beside them are written."""
    cells, column, question, expected = VALUES[name]
    assert counts_of(make(cells), question, description=Description({"x": column}, EUROPEAN)) == expected


def test_typed_moments_compare_as_moments(tmp_path):
    """A day is its first moment, in columns of days and of moments; a mark is told among them too."""
    table = pa.table(
        {
            "day": pa.array([dt.date(1990, 12, 31), dt.date(9999, 12, 31), None], pa.date32()),
            "moment": pa.array(
                [dt.datetime(1990, 12, 31, 0, 0, 1), dt.datetime(1990, 12, 31), None], pa.timestamp("us")
            ),
        }
    )
    assert counts_of(table, "threshold(moment > 1990-12-31, at_least=1)") == (1, 1, 1)
    assert counts_of(table, "threshold(day > 1990-12-31, at_least=1)") == (1, 1, 1)
    marked = Description(format=Format(missing=("9999-12-31",)))
    assert counts_of(table, "threshold(day > 1990-12-31, at_least=1)", description=marked) == (0, 1, 2)


@pytest.mark.parametrize(
    ("description", "question", "said"),
    [
        ({"a": ColumnDescription("number")}, "majority(b)", "may not be asked about"),
        ({"a": ColumnDescription("identifier")}, "majority(a)", "may not be asked about"),
        ({"a": ColumnDescription("number", ask=False)}, "median(a, above=1)", "may not be asked about"),
        ({"a": ColumnDescription("number")}, "majority(a)", "is described as a number"),
        ({"a": ColumnDescription("yes/no")}, "median(a, above=1)", "compare it with yes or no"),
        ({"a": ColumnDescription("date", form="%d.%m.%Y")}, "exists(a == '31.12.1990')", "a date"),
        ({"a": ColumnDescription("category", values=("N", "S"))}, "exists(a == 'n')", "has no value 'n'"),
        ({"c": ColumnDescription("number")}, "majority(a)", "a column c that is not there"),
    ],
)
def test_what_does_not_fit_the_description_is_refused_before_a_row_is_read(tmp_path, description, question, said):
    """A misspelt category, another kind, a column that is not for asking."""
    data = tmp_path / "x.csv"
    data.write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match=said):
        tinct.ask(data, question, 1, "1e-6", description=Description(description))


def test_a_value_never_decides_whether_there_is_an_answer(tmp_path):
    """One cell, whatever it is, changes the counts by its own row: of every kind, in every use it allows."""
    for column in KINDS:
        described = made_description(column, {})
        base = ["yes", "1", "31.12.1990", "N"]
        for question in (texts[0] for texts in USES.values()):
            plain = counts_or_refusal(as_pandas(base, tmp_path), question, described)
            for nasty in CELLS[::7]:
                found = counts_or_refusal(as_pandas([*base, nasty], tmp_path), question, described)
                if isinstance(plain, str):
                    assert found == plain
                else:
                    assert sum(found) == sum(plain) + 1
                    assert sum(abs(one - other) for one, other in zip(found, plain, strict=True)) == 1


CANARY = "c4n4ry"


def canary_files(folder):
    """The same rows in files of several kinds, with a word in them that nothing may say again."""
    frame = pd.DataFrame({"a": ["1", CANARY, f"{CANARY} 5", "x"], "b": [CANARY, "yes", "no", f"{CANARY},{CANARY}"]})
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_csv(folder / "x.tsv", index=False, sep="\t")
    frame.to_json(folder / "x.jsonl", orient="records", lines=True)
    frame.to_json(folder / "x.json", orient="records")
    frame.to_parquet(folder / "x.parquet")
    with closing(sqlite3.connect(folder / "x.db")) as connection:
        frame.to_sql("t", connection, index=False)
    yield from (folder / f"x.{end}" for end in ("csv", "tsv", "jsonl", "json", "parquet", "db"))
    yield frame
    yield pa.Table.from_pandas(frame)


def test_no_error_and_no_plan_says_a_cell(tmp_path):
    """Whatever is described, however wrongly, and whatever is asked: no word of a cell."""
    tried = refused = 0
    extras = ({}, {"c": ColumnDescription("number")}, {"b": ColumnDescription("yes/no")})
    questions = ("majority(a)", "median(a, above=1)", "threshold(a < 1990-01-01, at_least=1)", "majority(z)")
    for at, (data, column) in enumerate(itertools.product(canary_files(tmp_path), KINDS[1:])):
        meaning = made_description(column, {}).columns["c"]
        described = Description({"a": meaning, **extras[at % 3]})
        for question in (questions[at % 4], questions[(at + at // 4 + 1) % 4]):
            tried += 1
            try:
                said = str(plan(data, question, epsilon=1, description=described).to_dict())
            except tinct.TinctError as error:
                said, refused = str(error), refused + 1
            assert CANARY not in said
    assert tried - 10 > refused > 50


def counts_or_refusal(data, question, described):
    """The counts, or what is said instead."""
    try:
        return counts_of(data, question, description=described)
    except ParameterError as error:
        return str(error)


# with a ledger


@pytest.fixture
def charged(tmp_path):
    """A file with its description, and a ledger whose owner declared it."""
    data = tmp_path / "x.csv"
    data.write_text("id,a\np1,ja\np2,nein\n")
    found = Description(
        {"id": ColumnDescription("identifier"), "a": ColumnDescription("yes/no", yes=("ja",), no=("nein",))},
        person="id",
    )
    found.to_toml(tmp_path / "x.csv.toml")
    ledger = Ledger(tmp_path / "book.db", 5)
    ledger.declare(Protection(unit="id", description=found.digest))
    return data, found, ledger


def test_only_the_owners_description_is_answered(charged, tmp_path):
    """Another description, another person column and other ways of reading are refused, and nothing is charged."""
    data, found, ledger = charged
    assert tinct.ask(data, "majority(a)", 1, ledger=ledger).value in ("yes", "no")
    before = ledger.spent()
    changed = dataclasses.replace(found, columns={**found.columns, "a": ColumnDescription("yes/no")})
    for options in (
        {"description": changed},
        {"description": dataclasses.replace(found, person=None)},
        {"description": found, "unit": "a"},
        {"decimal": ","},
        {"missing": ["ja"]},
    ):
        with pytest.raises(ParameterError):
            tinct.ask(data, "majority(a)", 1, ledger=ledger, **options)
    (tmp_path / "x.csv.toml").unlink()
    with pytest.raises(ParameterError, match="declared a description"):
        tinct.ask(data, "majority(a)", 1, ledger=ledger)
    assert ledger.spent() == before


def test_the_same_question_read_in_another_way_is_another_request(tmp_path):
    """The digest of the description is part of what was asked; laid out differently, the file is the same."""
    data, toml = tmp_path / "x.csv", tmp_path / "x.csv.toml"
    data.write_text("a\n1\n2\n")
    ledger = Ledger(tmp_path / "book.db", 5)
    tinct.ask(data, "majority(a)", 1, ledger=ledger, request="r")
    toml.write_text(HEAD + "[columns.a]\nkind = 'yes/no'\nyes = ['2']\nno = ['1']\n")
    with pytest.raises(tinct.TinctError, match="r"):
        tinct.ask(data, "majority(a)", 1, ledger=ledger, request="r")
    second = tinct.ask(data, "majority(a)", 1, ledger=ledger, request="s")
    toml.write_text(HEAD + "[columns]\na = {no = ['1'], yes = ['2'], kind = 'yes/no'} # the same\n")
    again = tinct.ask(data, "majority(a)", 1, ledger=ledger, request="s")
    assert again.value == second.value
    assert ledger.spent().epsilon == 2


# the owner's commands


def tinct_command(*arguments, status=0):
    """Run a command in this process."""
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == status, (result.output, result.exception)
    return result.output + ("" if isinstance(result.exception, SystemExit) else str(result.exception or ""))


@pytest.fixture
def survey(tmp_path):
    """A file as it comes from a colleague."""
    data = tmp_path / "umfrage.csv"
    rows = [
        f"p{at};{'ja' if at % 3 else 'nein'};{at % 5 + 1};{at},5;{at % 28 + 1}.1.2024;Ö{at % 2}" for at in range(60)
    ]
    data.write_bytes(("id;stimme;bezirk;kosten;tag;ort\n" + "\n".join(rows) + "\n").encode("latin-1"))
    return data


def test_a_draft_has_names_and_kinds_and_what_the_owner_accepts(survey):
    """What was found is shown to the owner, marked as secret, and stays out of the file."""
    said = tinct_command("describe", survey, "--person", "id")
    assert said.startswith("SECRET")
    toml = Path(f"{survey}.toml")
    found = Description.from_toml(toml)
    assert not found.confirmed
    kinds = {name: column.kind for name, column in found.columns.items()}
    assert kinds == {
        "id": "identifier", "stimme": "yes/no", "bezirk": "number", "kosten": "number", "tag": "date",
        "ort": "category",
    }  # fmt: skip
    assert all(not (column.values or column.yes or column.least) for column in found.columns.values())
    assert (found.format.decimal, found.format.encoding) == (",", "cp1252")
    before = toml.read_bytes()
    assert "there is a description already" in tinct_command("describe", survey, status=1)
    assert toml.read_bytes() == before
    toml.unlink()
    tinct_command("describe", survey, "--person", "id", "--accept", "stimme,ort")
    found = Description.from_toml(toml)
    assert found.columns["stimme"].yes[0] == "ja"
    assert found.columns["ort"].values == ("Ö0", "Ö1")
    assert found.columns["kosten"].most is None


def test_a_column_of_another_style_is_named(tmp_path):
    """How numbers are written is decided by columns, not by cells; one that is written otherwise is pointed out."""
    data = tmp_path / "mixed.csv"
    data.write_text("a,b,c,d\n" + "".join(f'{at}.5,{at}.25,"{at},5",\n' for at in range(50)))
    found = draft(data)
    assert found.description.format.decimal == "."
    assert [column.kind for column in found.description.columns.values()][:3] == ["number", "number", "identifier"]
    assert "numbers with the decimal mark ','" in found.findings[2].sentence


LETTERS = [
    ("N", "S", "category"),  # north and south
    ("D", "N", "category"),  # day and night
    ("T", "N", "category"),
    ("y", "N", "yes/no"),
    ("t", "F", "yes/no"),
    ("J", "n", "yes/no"),
    ("Sí", "n", "yes/no"),
    ("1", "0", "yes/no"),
    ("1.0", "2.0", "number"),
]


@pytest.mark.parametrize(("one", "other", "kind"), LETTERS)
def test_letters_for_anything_are_no_yes_and_no(tmp_path, one, other, kind):
    """A letter is yes or no only where it is hardly anything else; the owner is told what else it may be."""
    data = tmp_path / "x.csv"
    data.write_text("a\n" + f"{one}\n{other}\n" * 20, encoding="utf-8")
    (found,) = draft(data).findings
    assert found.kind.kind == kind
    assert ("may mean yes and no" in found.sentence) == (kind != "yes/no")


def test_how_many_is_no_yes_and_no(tmp_path):
    """Nearly all families have no child or one: the others are no misspellings."""
    data = tmp_path / "x.csv"
    data.write_text("children,says\n" + "0,yes\n1,no\n" * 50 + "2,maybe\n", encoding="utf-8")
    assert [each.kind.kind for each in draft(data).findings] == ["number", "yes/no"]


def test_what_is_accepted_leaves_no_value_out(tmp_path):
    """Codes of which one is no number, and more values than are shown: else the owner would accept missing cells."""
    data = tmp_path / "x.csv"
    rows = [f"{at % 6 + 1 if at % 40 else '7+'},{at % 31}.5" for at in range(400)]
    data.write_text("code,size\n" + "\n".join(rows) + "\n")
    found = draft(data).accepting(["code", "size"])
    assert set(found.columns["code"].values) == {*"123456", "7+"}
    assert found.columns["size"] == ColumnDescription("number", least=0.5, most=30.5)


def test_a_range_is_that_of_the_numbers_as_they_are_written(tmp_path):
    """The owner accepts a range: what it leaves out would be missing."""
    data = tmp_path / "x.csv"
    data.write_text("id;cost\n" + "".join(f"p{at};{at}.500,5\n" for at in range(1, 60)), encoding="utf-8")
    accepted = draft(data).accepting(["cost"])
    assert (accepted.columns["cost"].least, accepted.columns["cost"].most) == (1500.5, 59500.5)
    counts = counts_of(
        data, "threshold(cost > 0, at_least=1)", description=dataclasses.replace(accepted, confirmed=True)
    )
    assert counts == (59, 0, 0)


def test_confirming_changes_one_line_and_keeps_the_rest(survey):
    """Comments stay; then the description is found and used."""
    tinct_command("describe", survey, "--person", "id", "--accept", "stimme")
    toml = Path(f"{survey}.toml")
    text = toml.read_text("utf-8").replace("person =", "# who\nperson =").replace("= false\n", "= false  # not yet\n")
    toml.write_text(text, "utf-8")
    assert "draft" in tinct_command("ask", survey, "majority(stimme)", "--epsilon", "1", status=1)
    tinct_command("describe", survey, "--confirm")
    assert toml.read_text("utf-8") == text.replace("confirmed = false", "confirmed = true")
    assert "in stimme?" in tinct_command("ask", survey, "majority(stimme)", "--epsilon", "5")
    assert "confirmed already" in tinct_command("describe", survey, "--confirm")


def test_a_table_of_a_server_is_checked_like_a_file(database, tmp_path):
    """In the server's own words of SQL: the same cells, the same people."""
    import psycopg

    rows = [("p1", "1", 2.5, "N"), ("p1", "2", None, "S"), ("p2", "x", math.nan, "N"), ("p2", "15.000", 1.0, "N"),
            (None, " ", 0.0, None)]  # fmt: skip
    with psycopg.connect(database, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (p text, a text, b float8, g text)")
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s)", rows)
    pq.write_table(pa.table(dict(zip("pabg", map(list, zip(*rows, strict=True)), strict=True))), tmp_path / "t.parquet")
    described = Description({"a": ColumnDescription("number"), **{
        name: ColumnDescription("category") for name in "pg"}})  # fmt: skip
    for options in (
        {"question": "majority(a)"},
        {"question": "median(b, above=1)", "by": "g"},
        {"question": "median(a, above=1)", "description": described},
    ):
        unit = {} if "description" in options else {"unit": "p"}
        one, other = (check_reading(str(data), **options, **unit) for data in (f"{database}#t", tmp_path / "t.parquet"))
        assert one.warnings == other.warnings
        assert one.rows_per_person == other.rows_per_person
        assert one.groups_per_person == other.groups_per_person
        assert [(each.rows, each.blank, each.unread, len(each.spellings)) for each in one.cells] == [
            (each.rows, each.blank, each.unread, len(each.spellings)) for each in other.cells
        ]


def test_a_check_warns_first_and_draws_nothing(survey, tmp_path):
    """A column that is no yes/no, a coding with 1 and 2, groups that nobody is in; nothing is wrong: status 0."""
    options = ("--encoding", "latin-1", "--decimal", ",")
    assert "Nothing looks wrong" in tinct_command("check", survey, "median(kosten, above=3)", *options)
    said = tinct_command("check", survey, "majority(ort)", *options, status=1)
    assert said.startswith("SECRET")
    assert "coin toss" in " ".join(said.split())
    said = tinct_command(
        "check", survey, "median(kosten, above=3)", "--by", "bezirk", "--groups", "1,9", *options, status=1
    )
    assert "no cell of bezirk is '9'" in " ".join(said.split())
    assert "'1'" not in said
    assert "the file is not UTF-8" in tinct_command("check", survey, "threshold(ort == 'Ö1', at_least=1)", status=1)
    points = tmp_path / "points.csv"
    points.write_text("a,b\n15.000,0.125\n900,1.5\n1.250,2.125\n")
    said = tinct_command("check", points, "median(a, above=1000)", status=1)
    assert "if the point stands between thousands" in " ".join(said.split())
    assert "Nothing looks wrong" in tinct_command("check", points, "median(b, above=1)")
    assert [DOUBT in each.sentence for each in draft(points).findings] == [True, False]
    panel = tmp_path / "panel.csv"
    panel.write_text("id,year,ward,says\n1,2020,N,yes\n1,2021,N,no\n2,2020,S,yes\n")
    by = ("--by", "year", "--by", "ward", "--unit", "id")
    said = " ".join(tinct_command("check", panel, "majority(says)", *by, "--groups", "2020,N;2019,S", status=1).split())
    assert "1 people have rows in more than 1 of the groups of year and ward" in said
    assert "no cell of year is '2019'" in said
    assert "no cell of ward" not in said
    assert "Nothing looks" in tinct_command("check", panel, "majority(says)", *by, "--groups-per-person", "2")
    codes = tmp_path / "codes.csv"
    codes.write_text("a\n1\n2\n2\nNA\n")
    assert "yes=1, no=2" in tinct_command("check", codes, "majority(a)", status=1)
    fields = json.loads(tinct_command("check", codes, "majority(a)", "--json", status=1))
    assert fields["notice"].startswith("SECRET")
    assert (fields["cells"][0]["blank"], fields["cells"][0]["unread"]) == (1, 2)  # NA is missing, not unreadable


# the owner's answers


def on_a_terminal(monkeypatch, data, typed, *arguments, status=0):
    """Run ``tinct describe`` as if somebody sat there and typed these lines."""
    monkeypatch.setattr("tinct.cli.describe._is_terminal", lambda: True)
    result = CliRunner().invoke(app, ["describe", str(data), *arguments], input="".join(f"{line}\n" for line in typed))
    assert result.exit_code == status, (result.output, result.exception)
    return result.output


@pytest.fixture
def incomes(tmp_path):
    """Incomes, a rare ward, directions and words."""
    data = tmp_path / "x.csv"
    rows = [f"p{at},{1234 + 17 * at},{'NS'[at % 2]},{'ja' if at % 3 else 'nein'},{at % 28 + 1}.1.2024"
            for at in range(100)]  # fmt: skip
    data.write_text("id,income,ward,says,day\n" + "\n".join(rows) + "\np,98765,Xanadu,ja,1.1.2024\n")
    return data


def test_enter_accepts_what_is_proposed_and_nobodys_own_value(incomes, monkeypatch):
    """Round numbers, words, categories of several people: the richest and the one in Xanadu are not in the file."""
    said = on_a_terminal(monkeypatch, incomes, [""] * 20, "--person", "id")
    assert said.startswith("SECRET")
    assert "98765" in said
    text = Path(f"{incomes}.toml").read_text("utf-8")
    assert "98765" not in text
    assert "1234" not in text
    assert "Xanadu" not in text
    found = Description.from_toml(Path(f"{incomes}.toml"))
    assert not found.confirmed
    assert found.columns["income"] == ColumnDescription("number", least=0, most=100_000)
    assert set(found.columns["ward"].values) == {"N", "S"}
    assert found.columns["says"].yes[0] == "ja"
    assert found.columns["day"].form == "%d.%m.%Y"
    assert found.columns["id"].kind == "identifier"


def test_the_owner_says_what_columns_mean(incomes, monkeypatch):
    """Other kinds, other words; what makes no sense is asked again; a column that is skipped is not in the file."""
    typed = [
        "skip",
        "colour",
        "num",
        "much",
        "-",
        "5000",
        "yes/no",
        "s",
        "s",
        "s",
        "n",
        "cat",
        "-",
        "date",
        "%d",
        "%d.%m.%Y",
    ]
    said = on_a_terminal(monkeypatch, incomes, typed)
    assert "kind must be one of" in said
    assert "write a number" in said
    assert "stands for yes and for no" in said
    found = Description.from_toml(Path(f"{incomes}.toml"))
    assert "id" not in found.columns
    assert found.columns["income"] == ColumnDescription("number", most=5000)
    assert found.columns["ward"] == ColumnDescription("yes/no", yes=("s",), no=("n",))
    assert found.columns["says"] == ColumnDescription("category")
    assert found.columns["day"].form == "%d.%m.%Y"


@pytest.mark.parametrize("options", [("--no-input",), ("--yes",), ("--accept", "ward")])
def test_nobody_is_asked_who_does_not_want_to_be(incomes, monkeypatch, options):
    """Also without a terminal, as in every other test here."""
    assert "[" not in on_a_terminal(monkeypatch, incomes, [], *options)
    assert Path(f"{incomes}.toml").exists()


def test_a_dialogue_that_ends_early_leaves_nothing(incomes, monkeypatch):
    """The end of the input, and Ctrl-C."""
    on_a_terminal(monkeypatch, incomes, ["", ""], status=1)
    assert [each.name for each in incomes.parent.iterdir()] == ["x.csv"]

    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tinct.cli.describe_dialog.asked", stopped)
    on_a_terminal(monkeypatch, incomes, [], status=130)
    assert [each.name for each in incomes.parent.iterdir()] == ["x.csv"]


# CSV on the Web

CONTEXT = "http://www.w3.org/ns/csvw"
WEB = {  # the shape of the standard's examples: trees of a city, with everything that has a counterpart here
    "@context": [CONTEXT, {"@language": "en"}],
    "url": "https://example.org/data/tree-ops.csv",
    "dc:title": "Tree Operations",
    "dcat:keyword": ["tree", "street"],
    "dialect": {"delimiter": ";", "encoding": "latin1", "header": True, "quoteChar": '"', "trim": True},
    "null": ["", "NA", "-"],
    "tableSchema": {
        "columns": [
            {"name": "GID", "titles": ["GID", "Generic Identifier"], "dc:description": "An id", "datatype": "string",
             "required": True},
            {"name": "on_street", "titles": {"en": "On Street"},
             "datatype": {"base": "string", "format": "^(Elm|Oak St\\.)$"}},
            {"name": "trim_cycle", "titles": "Trim Cycle", "lang": "en"},
            {"name": "inventory_date", "titles": "Inventory Date", "datatype": {"base": "date", "format": "M/d/yyyy"}},
            {"name": "height", "datatype": {"base": "decimal", "format": {"decimalChar": ",", "groupChar": "."},
                                            "minimum": 0, "maximum": "120.5"}},
            {"name": "count", "datatype": {"base": "integer", "minExclusive": 0,
                                           "format": {"decimalChar": ",", "groupChar": "."}}},
            {"name": "alive", "datatype": {"base": "boolean", "format": "Y|N"}},
            {"name": "plain", "datatype": "double"},
            {"name": "tags", "separator": ";"},
            {"name": "uri", "virtual": True, "propertyUrl": "rdf:type", "valueUrl": "schema:Place"},
        ],
        "primaryKey": "GID",
        "aboutUrl": "#gid-{GID}",
    },
}  # fmt: skip


def metadata(tmp_path, fields):
    """A metadata file."""
    path = tmp_path / "metadata.json"
    path.write_text(fields if isinstance(fields, str) else json.dumps(fields), encoding="utf-8")
    return path


def test_metadata_of_csv_on_the_web_is_a_draft(tmp_path):
    """Everything that has a counterpart is there, and all else is said."""
    found, left = sources.from_csvw(metadata(tmp_path, WEB))
    assert not found.confirmed
    assert found.format == Format(";", "latin-1", ",", ".", ("NA", "-"))
    assert found.columns == {
        "GID": ColumnDescription("category"),
        "On Street": ColumnDescription("category", values=("Elm", "Oak St.")),
        "Trim Cycle": ColumnDescription("category"),
        "Inventory Date": ColumnDescription("date", form="%m/%d/%Y"),
        "height": ColumnDescription("number", least=0, most=120.5),
        "count": ColumnDescription("number", least=1),
        "alive": ColumnDescription("yes/no", yes=("y",), no=("n",)),
    }
    said = "\n".join(left)
    for part in ("primaryKey", "required", "the column tags", "the column uri", "the column plain", "are whole"):
        assert part in said


def test_titles_are_those_that_the_file_has(tmp_path):
    """A title, another title, the name; tables of a group are told by the name of the file."""
    table = {**WEB, "dialect": {}, "tableSchema": {"columns": [{"name": "a", "titles": ["A", "Á"]}]}}
    assert list(sources.from_csvw(metadata(tmp_path, table))[0].columns) == ["A"]
    for name in ("A", "Á", "a"):
        assert list(sources.from_csvw(metadata(tmp_path, table), columns=[name])[0].columns) == [name]
    group = {"@context": CONTEXT, "tables": [
        {"url": "one.csv", "tableSchema": {"columns": [{"name": "x"}]}},
        {"url": "dir/two%20b.csv", "tableSchema": {"columns": [{"name": "y", "datatype": "date"}]}},
    ]}  # fmt: skip
    found, left = sources.from_csvw(metadata(tmp_path, group), file="two b.csv")
    assert (found.columns, left) == ({"y": ColumnDescription("date", form="%Y-%m-%d")}, ())
    assert found.format.missing == ()  # in the standard nothing but a blank cell is missing unless it says so
    with pytest.raises(FileError, match="several tables"):
        sources.from_csvw(metadata(tmp_path, group))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("", "empty"),
        ("{", "not JSON"),
        ("[]", "must be an object"),
        ({}, "@context"),
        ({"@context": CONTEXT}, "list its columns"),
        ({"@context": CONTEXT, "tables": []}, "a list of tables"),
        ({"@context": CONTEXT, "tableSchema": "schema.json"}, "in another file"),
        ({"@context": CONTEXT, "colour": 1}, "has no field 'colour'"),
        ({"dialect": {"header": False}}, "header is False"),
        ({"dialect": {"headerRowCount": 2}}, "headerRowCount is 2"),
        ({"dialect": {"skipRows": 1}}, "skipRows is 1"),
        ({"dialect": {"quoteChar": "'"}}, "quoteChar"),
        ({"dialect": {"doubleQuote": False}}, "doubleQuote"),
        ({"dialect": {"delimiter": "#"}}, "delimiter must be"),
        ({"dialect": {"delimiter": 3}}, "dialect:"),
        ({"dialect": {"encoding": "klingon"}}, "the name of an encoding"),
        ({"columns": [{}]}, "a name or titles"),
        ({"columns": [{"name": ["a"]}, {"name": "a"}]}, "two columns are called 'a'"),
        ({"columns": [{"name": "a", "datatype": "colour"}]}, "no base 'colour'"),
        ({"columns": [{"name": "a", "datatype": ["number"]}]}, "must be an object"),
        ({"columns": [{"name": "a", "datatype": {"base": "boolean", "format": "Y"}}]}, "two words"),
        ({"columns": [{"name": "a", "datatype": {"base": "boolean", "format": "Y|Y"}}]}, "stands for yes and for no"),
        ({"columns": [{"name": "a", "datatype": {"base": "number", "minimum": "low"}}]}, "a bound must be a number"),
        ({"columns": [{"name": "a", "datatype": {"base": "number", "minimum": 2, "maximum": 1}}]}, "above 'most'"),
        ({"columns": [{"name": "a", "null": 3}]}, "null must be"),
        ({"columns": [{"name": "a", "null": "Y", "datatype": {"base": "boolean", "format": "Y|N"}}]}, "is a value"),
        ({"columns": [{"name": "a", "colour": 1}]}, "a column has no field 'colour'"),
    ],
)  # fmt: skip
def test_metadata_that_is_not_understood_is_refused(tmp_path, fields, said):
    """An error that says where."""
    if isinstance(fields, dict) and not {"@context", "tables"} & set(fields) and fields:
        listed = fields.get("columns", [{"name": "a"}])
        rest = {name: value for name, value in fields.items() if name != "columns"}
        fields = {"@context": CONTEXT, "url": "x.csv", **rest, "tableSchema": {"columns": listed}}
    with pytest.raises(FileError) as caught:
        sources.from_csvw(metadata(tmp_path, fields))
    assert said in str(caught.value)


web_columns = st.one_of(
    words.map(lambda found: ColumnDescription("yes/no", yes=tuple(found[:1]), no=tuple(found[1:2]))),
    st.lists(numbers, min_size=2, max_size=2).map(
        lambda two: ColumnDescription("number", least=min(two), most=max(two))
    ),
    words.map(lambda found: ColumnDescription("category", values=tuple(found))),
    st.sampled_from(["%d.%m.%Y", "%Y-%m-%d %H:%M", "%m/%d/%Y %H:%M:%S", "%Y%m%d"]).map(
        lambda form: ColumnDescription("date", form=form)
    ),
    st.just(ColumnDescription("category")),
)


@given(st.dictionaries(names, web_columns, min_size=1, max_size=5), formats)
def test_what_is_exported_is_imported(tmp_path_factory, listed, written):
    """What both can say comes back as it was, whatever the columns are called."""
    listed = {name: each for name, each in listed.items() if not any("|" in word for word in (*each.yes, *each.no))}
    numeric = any(each.kind == "number" for each in listed.values())
    written = dataclasses.replace(written, missing=(), **({} if numeric else {"decimal": ".", "thousands": ""}))
    found = Description(listed, written, confirmed=False)
    fields, left = sources.to_csvw(found, "x.csv")
    assert left == ()
    if listed:
        again, left = sources.from_csvw(metadata(tmp_path_factory.mktemp("w"), fields))
        assert (again.columns, again.format, left) == (found.columns, found.format, ())


def test_metadata_goes_in_and_out_by_the_command(tmp_path):
    """Beside the data as a draft that fits it; out again; nothing is overwritten."""
    data = tmp_path / "tree-ops.csv"
    head = "GID;On Street;Trim Cycle;Inventory Date;height;count;alive;plain;tags"
    data.write_bytes(f"{head}\n1;Elm;x;1/2/2024;100,5;3;Y;1.5;a\n".encode("latin-1"))
    fields = metadata(tmp_path, WEB)
    said = tinct_command("describe", data, "--import-csvw", fields, "--person", "GID")
    assert "Left out: primaryKey" in said
    found = Description.from_toml(Path(f"{data}.toml"))
    assert (found.person, found.confirmed, found.columns["GID"].kind) == ("GID", False, "identifier")
    tinct_command("describe", data, "--confirm")
    assert counts_of(data, "median(height, above=100)", description=Description.from_toml(f"{data}.toml")) == (1, 0, 0)
    said = tinct_command("describe", data, "--export-csvw", tmp_path / "out.json")
    assert "Left out: person" in said
    assert json.loads((tmp_path / "out.json").read_text())["url"] == "tree-ops.csv"
    assert "already" in tinct_command("describe", data, "--export-csvw", tmp_path / "out.json", status=1)
    assert "already" in tinct_command("describe", data, "--import-csvw", fields, status=1)
    assert "goes alone" in tinct_command("describe", data, "--confirm", "--import-csvw", fields, status=1)
    other = tmp_path / "other.csv"
    other.write_text("a;b\n1;2\n")
    assert "not there" in tinct_command("describe", other, "--import-csvw", fields, status=1)
    assert not Path(f"{other}.toml").exists()
