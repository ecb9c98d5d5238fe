"""The description of a data set: its file, what it means for each cell, and what it means for whoever asks."""

from __future__ import annotations

import dataclasses
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import tinct
from tinct import FileError, ParameterError, sources
from tinct.questions import parse
from tinct.sources import ColumnDescription, Description, Format

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
    draft = Description({"a": ColumnDescription("yes/no")}, confirmed=False)
    draft.to_toml(toml)
    for use in (
        lambda: tinct.ask(data, "majority(a)", 1),
        lambda: tinct.ask(data, "majority(a)", 1, description=toml),
        lambda: sources.open(data, draft),
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
            plain = use == "number" and column is None and not written
            read = [naive.read_plain_number(cell) if plain else naive.read_cell(cell, use, column, **written)
                    for cell in cells]  # fmt: skip
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
