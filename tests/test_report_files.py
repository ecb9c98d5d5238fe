"""Reports as they arrive: every format says the same, a bad row touches nothing but itself, counts add up."""

from __future__ import annotations

import gzip
import io
import json
import math
import stat
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from tinct import local
from tinct.cli.main import app
from tinct.errors import FileError, ParameterError
from tinct.local import LocalMechanism, report_files

MECHANISMS = {
    "cells": local.randomized_response(5, 1, symbols=["a", "b", "c", "d", "e"]),
    "table": local.geometric(4, 1),
    "subset": local.subset_selection(9, 1, size=3),
    "subset of one": local.subset_selection(4, 1, size=1),
    "unary": local.unary_encoding(10, 1),
    "hash": local.local_hashing(12, 1),
    "hadamard": local.hadamard_response(6, 1),
}
EVERY = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)


def drawn(mechanism, people=200, seed=1):
    """Reports as rows of numbers."""
    codes = np.random.default_rng(seed).integers(0, len(mechanism.symbols), people)
    return mechanism.randomiser.draw(codes).reshape(people, -1).astype(int).tolist()


def said(row):
    """A report as JSON writes it: one number, or a list."""
    return row[0] if len(row) == 1 else row


def as_jsonl(rows, mechanism):
    return "".join(f"{json.dumps({'at': '2026-11-18', 'report': said(row)})}\n" for row in rows).encode()


def as_bare_jsonl(rows, mechanism):
    return "\r\n".join(json.dumps(said(row)) for row in rows).encode()


def as_envelopes(rows, mechanism):
    return "".join(f"{json.dumps(report_files.envelope(mechanism, said(row)))}\n" for row in rows).encode()


def as_csv(rows, mechanism):
    names = ["report"] if len(rows[0]) == 1 else [f"report_{at}" for at in range(len(rows[0]))]
    lines = [",".join(["at", *names, "note"])] + [",".join(["2026", *map(str, row), "x y"]) for row in rows]
    return "\n".join(lines).encode()


def as_quoted_csv(rows, mechanism):
    lines = ["\ufeffreport,at"] + [f'"{json.dumps(said(row))}","10:00, or so"' for row in rows]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def as_tsv(rows, mechanism):
    return as_csv(rows, mechanism).replace(b",", b"\t")


def as_parquet(rows, mechanism):
    columns = {f"report_{at}": list(column) for at, column in enumerate(zip(*rows, strict=True))}
    return _parquet({"when": [1.5] * len(rows), **columns})


def as_lists_in_parquet(rows, mechanism):
    return _parquet({"report": [said(row) for row in rows], "day": ["monday"] * len(rows)})


def _parquet(columns):
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


ROUNDS = 60
FORMATS = {
    "r.jsonl": as_jsonl, "bare.ndjson": as_bare_jsonl, "envelopes.jsonl": as_envelopes, "r.csv": as_csv,
    "quoted.csv": as_quoted_csv, "r.tsv": as_tsv, "r.parquet": as_parquet, "lists.parquet": as_lists_in_parquet,
}  # fmt: skip


@EVERY
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_counts(mechanism, name, tmp_path):
    """With further columns, packed and not, from a file and from standard input."""
    rows = drawn(mechanism)
    expected = mechanism.randomiser.support(np.array(rows))
    data = FORMATS[name](rows, mechanism)
    path = tmp_path / name
    path.write_bytes(data)
    found = [local.tally(path, mechanism, most_rejected=0)]
    if path.suffix != ".parquet":
        packed = tmp_path / f"{name}.GZ"
        packed.write_bytes(gzip.compress(data))
        found.append(local.tally(packed, mechanism, most_rejected=0))
        found.append(local.tally("-", mechanism, kind=path.suffix, stream=io.BytesIO(data)))
        found.append(local.tally("-", mechanism, kind=f"{path.suffix}.gz", stream=io.BytesIO(gzip.compress(data))))
    for each in found:
        assert (each.reports, each.rejected.total(), each.others.total()) == (200, 0, 0)
        np.testing.assert_array_equal(each.support, expected)
        assert each.estimate().frequencies == pytest.approx(mechanism.estimate(np.array(rows)).frequencies)


BAD = {
    "cells": [b"5", b"-1", b"1.5", b"true", b'"2"', b"[0, 1]", b"null", b"{}", b"nan", b"99999999999999999999", b"{",
              b"[" * 5000, b"\xff", b'{"report": [1]', b"1 2", b'{"reports": 1}'],
    "subset": [b"[1, 1, 2]", b"[1, 2]", b"[1, 2, 9]", b"[1, 2, 3, 4]", b"[1, 2, -1]", b"[1, 2, true]", b"[1, 2, null]",
               b'"Bw=="', b'"DwA="', b'"BwD="', b'"AwA="', b'"BwI="', b'"$$"', b"3", b"[[1, 2, 3]]"],
    "unary": [b"[0,1,0,1,0,1,0,1,0,2]", b"[0,1]", b"[0,1,0,1,0,1,0,1,0,-1]", b'"AAQ="', b'"AA=="', b"1",
              b"[0,1,0,1,0,1,0,1,0,1.0]"],
    "hash": [b"[0, 1, 1]", b"[1, 13, 0]", b"[1, 1, 9]", b"[1, 1]", b"[13, 1, 1]"],
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_row_is_set_aside_and_touches_nothing_else(kind, tmp_path):
    """Each kind of bad row between good ones: counted, written down with its line number, and never a stop."""
    mechanism = MECHANISMS[kind]
    good = as_jsonl(drawn(mechanism, 3), mechanism).splitlines()
    lines = [good[0]]
    for bad in BAD[kind]:
        lines += [bad, b"", good[1]]
    path, kept = tmp_path / "r.jsonl", tmp_path / "bad.jsonl"
    path.write_bytes(b"\n".join([*lines, good[2]]))
    found = local.tally(path, mechanism, most_rejected=1, rejected=kept)
    assert (found.reports, found.rejected.total()) == (len(BAD[kind]) + 2, len(BAD[kind]))
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert [row["row"] for row in rows] == [2 + 3 * at for at in range(len(BAD[kind]))]
    assert [row["content"].encode() for row in rows if "\ufffd" not in row["content"]] == [
        bad for bad in BAD[kind] if bad != b"\xff"
    ]
    assert Counter(row["why"] for row in rows) == found.rejected
    assert {row["file"] for row in rows} == {str(path)}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_rows_of_sheets_are_set_aside_by_their_lines(tmp_path):
    """Cells too many or too few, a quote in a further cell, blanks, hexadecimals; a blank line is a line."""
    lines = [
        "report,at",
        "3,x",
        "0x1,x",
        "",
        "2",
        "1,y,z",
        '4,"unclosed',
        "7,x",
        " 2 ,x",
        "+1,x",
        ",x",
        "1.0,x",
        "1.5,x",
    ]
    path, kept = tmp_path / "r.csv", tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = local.tally(path, MECHANISMS["cells"], most_rejected=1, rejected=kept)
    assert found.counts.tolist() == [0, 1, 1, 1, 1]
    assert [json.loads(line)["row"] for line in kept.read_text().splitlines()] == [3, 5, 6, 8, 10, 11, 13]


def test_rows_of_parquet_are_numbered_from_one(tmp_path):
    """Missing values, floats that are whole and those that are not."""
    path, kept = tmp_path / "r.parquet", tmp_path / "bad.jsonl"
    path.write_bytes(_parquet({"report": [1.0, None, 2.5, 3.0, 9.0, float("nan")]}))
    found = local.tally(path, MECHANISMS["cells"], most_rejected=1, rejected=kept)
    assert found.counts.tolist() == [0, 1, 0, 1, 0]
    assert [json.loads(line)["row"] for line in kept.read_text().splitlines()] == [2, 3, 5, 6]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_quick_blocks_and_slow_ones_count_alike(suffix, tmp_path, monkeypatch):
    """Blocks of a few bytes, of which some hold a bad row, against all in one; lines are cut at every place."""
    mechanism = MECHANISMS["subset"]
    lines = (as_csv if suffix == ".csv" else as_jsonl)(drawn(mechanism, 60), mechanism).splitlines()
    for at in (50, 20, 7):
        lines.insert(at, b"what, is this")
    path = tmp_path / f"r{suffix}"
    path.write_bytes(b"\n".join(lines))
    whole = local.tally(path, mechanism, rejected=tmp_path / "whole.jsonl")
    for size in (1, 17, 64, 1000):
        monkeypatch.setattr(report_files, "_BLOCK", size)
        parts = local.tally(path, mechanism, rejected=tmp_path / "parts.jsonl")
        np.testing.assert_array_equal(parts.counts, whole.counts)
        assert (tmp_path / "parts.jsonl").read_text() == (tmp_path / "whole.jsonl").read_text()


@pytest.mark.parametrize("name", ["cells", "subset", "unary"])
@pytest.mark.parametrize("form", [as_jsonl, as_envelopes, as_csv, as_quoted_csv], ids=lambda form: form.__name__)
def test_what_arrow_reads_is_what_the_rules_read(name, form, tmp_path, monkeypatch):
    """Files with a few bytes changed, once with Arrow and once without: the same counts, the same bad rows."""
    mechanism = MECHANISMS[name]
    good = form(drawn(mechanism, 6), mechanism)
    path, kept = tmp_path / f"r{'.csv' if 'csv' in form.__name__ else '.jsonl'}", tmp_path / "bad.jsonl"
    rng = np.random.default_rng(7)
    quick = {each: getattr(report_files, each) for each in ("_quick_lines", "_quick_sheet")}
    read_by_arrow = 0
    header = good.index(b"\n") + 1 if "csv" in form.__name__ else 0
    for _ in range(ROUNDS):
        data = bytearray(good)
        for at in rng.integers(header, len(data), rng.integers(1, 4)):
            data[at] = rng.choice([*b'0123x"\\{}[], :\n\r\t\xff\xc3', data[at] ^ 1])
        path.write_bytes(data)
        found = []
        for act in (lambda *_: None, None):
            for each, usual in quick.items():
                monkeypatch.setattr(report_files, each, act or usual)
            counted = local.tally(path, mechanism, most_rejected=1, rejected=kept)
            found.append((counted.counts.tolist(), counted.rejected, counted.others, kept.read_text()))
        assert found[0] == found[1], bytes(data)
        read_by_arrow += not found[1][1]
    assert read_by_arrow >= ROUNDS // 30


@pytest.mark.parametrize("size", [10, 37, 400])
def test_a_line_without_an_end_is_one_bad_row(size, tmp_path, monkeypatch):
    """However long it is, no more than a part of it is kept, and the lines after it are read."""
    monkeypatch.setattr(report_files, "_BLOCK", size)
    monkeypatch.setattr(report_files, "_LONGEST", 100)
    path, kept = tmp_path / "r.jsonl", tmp_path / "bad.jsonl"
    path.write_bytes(b"1\n" + b"x" * 5000 + b"\n2\n3\n" + b"y" * 3000)
    found = local.tally(path, MECHANISMS["cells"], most_rejected=1, rejected=kept)
    assert (found.counts.tolist(), found.rejected.total()) == ([0, 1, 1, 1, 0], 2)
    assert [json.loads(line)["row"] for line in kept.read_text().splitlines()] == [2, 5]


def test_too_many_bad_rows_are_a_stop(tmp_path):
    """The share is stated; the rows are written down also then, and no cell is repeated in the error."""
    path, kept = tmp_path / "r.jsonl", tmp_path / "bad.jsonl"
    path.write_text("1\n" * 95 + "secret\n" * 5)
    assert local.tally(path, MECHANISMS["cells"]).reports == 95
    path.write_text("1\n" * 95 + "secret\n" * 6)
    with pytest.raises(ParameterError, match=r"more than 5\.00% of the rows") as caught:
        local.tally(path, MECHANISMS["cells"], rejected=kept)
    assert "secret" not in str(caught.value)
    assert len(kept.read_text().splitlines()) == 6
    for share in (-0.1, 1.1, math.nan, "1", True):
        with pytest.raises(ParameterError, match="most_rejected"):
            local.tally(path, MECHANISMS["cells"], most_rejected=share)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_file_without_a_header_shows_nobody(suffix, tmp_path):
    """Its first row is somebody's: the error does not repeat it."""
    path = tmp_path / f"r{suffix}"
    path.write_text("secret\n1\n2\n")
    with pytest.raises(FileError, match="no column report") as caught:
        local.tally(path, MECHANISMS["cells"])
    assert "secret" not in str(caught.value)


def test_what_no_mechanism_says_is_never_counted():
    """Members that are equal and bits that are none used to give frequencies of 6 and intervals that are no numbers."""
    for name, row in (("subset", [2, 2, 2]), ("unary", [6] * 10), ("unary", [-1] * 10), ("hash", [0, 0, 0])):
        with pytest.raises(ParameterError, match="none that this mechanism"):
            MECHANISMS[name].estimate([row] * 5)
    with pytest.raises(ParameterError, match="whole numbers"):
        MECHANISMS["cells"].estimate([True, False])


# several files, several designs


def test_folders_and_patterns_are_read_once(tmp_path):
    """Folders within folders, hidden files left out; a file that two patterns name is read once."""
    mechanism = MECHANISMS["cells"]
    for name, count in (("a/1.jsonl", 1), ("a/b/2.csv", 2), ("a/b/3.jsonl.gz", 3), ("a/_SUCCESS", 0), ("a/.x.crc", 0)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = (as_csv if path.suffix == ".csv" else as_jsonl)([[2]] * max(count, 1), mechanism)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert local.tally(tmp_path, mechanism).counts.tolist() == [0, 0, 6, 0, 0]
    given = [tmp_path / "a" / "1.jsonl", f"{tmp_path}/**/*.jsonl*", str(tmp_path)]
    assert local.tally(given, mechanism).reports == 6
    for wrong, why in (
        (tmp_path / "no.csv", "no such file"), (f"{tmp_path}/*.tsv", "fits this pattern"), ([], "name a file"),
        ([3], "must be paths"), ("a\0b", "must be paths"), (tmp_path / "a" / "_SUCCESS", "must end in"),
    ):  # fmt: skip
        with pytest.raises((FileError, ParameterError), match=why):
            local.tally(wrong, mechanism)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="no files in it"):
        local.tally(tmp_path / "empty", mechanism)
    (tmp_path / "short.jsonl.gz").write_bytes(gzip.compress(b"1\n" * 1000)[:-9])
    with pytest.raises(FileError, match="damaged or incomplete"):
        local.tally(tmp_path / "short.jsonl.gz", mechanism)
    with pytest.raises(ParameterError, match="standard input"):
        local.tally("-", mechanism, kind="parquet", stream=io.BytesIO())


def test_two_designs_can_be_in_the_field_at_once(tmp_path):
    """Each takes its own reports from the same file; unknown versions are bad rows; no report of it is an error."""
    old, new = MECHANISMS["cells"], local.randomized_response(5, 2, symbols=["a", "b", "c", "d", "e"])
    assert old.id != new.id
    path = tmp_path / "r.jsonl"
    path.write_bytes(as_envelopes([[1]] * 3, old) + as_envelopes([[2]] * 2, new) + b"4\n")
    assert local.tally(path, old).counts.tolist() == [0, 3, 0, 0, 1]
    assert local.tally(path, new).counts.tolist() == [0, 0, 2, 0, 1]
    assert local.tally(path, new).others == Counter({old.id: 3})
    path.write_bytes(as_envelopes([[1]] * 3, old))
    with pytest.raises(ParameterError, match="reports of other mechanisms"):
        local.tally(path, new)
    for version in ("2", '"1"', "1.0", "true"):
        path.write_text(f'{{"version": {version}, "mechanism": "{old.id}", "report": 1}}\n')
        assert local.tally(path, old, most_rejected=1).rejected == {"the envelope has another version": 1}
    sheet = tmp_path / "r.csv"
    sheet.write_text(f"mechanism,version,report\n{old.id},1,3\n{new.id},1,0\n,7,2\n{old.id},2,0\n")
    found = local.tally(sheet, old, most_rejected=1)
    assert (found.counts.tolist(), found.rejected.total(), found.others.total()) == ([0, 0, 1, 1, 0], 1, 1)
    table = tmp_path / "r.parquet"
    table.write_bytes(_parquet({"mechanism": [old.id, new.id, None], "version": [1, 1, 7], "report": [3, 0, 2]}))
    assert local.tally(table, old).counts.tolist() == [0, 0, 1, 1, 0]


def test_the_id_is_that_of_symbols_and_units(tmp_path):
    """It survives a file, and notes; another symbol, order or unit has another. One value is pinned for clients."""
    mechanism = local.randomized_response(3, "ln 3", symbols=["é", 1.5, (1, None)])
    assert mechanism.id == "c4272c9beede6c98"
    mechanism.to_json(tmp_path / "m.json")
    fields = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps({**fields, "note": "another"}))
    assert LocalMechanism.from_json(tmp_path / "m.json").id == mechanism.id
    others = [
        local.randomized_response(3, "ln 3", symbols=[1.5, "é", (1, None)]),
        local.randomized_response(3, "ln 3", symbols=["e", 1.5, (1, None)]),
        local.randomized_response(3, "ln 2", symbols=["é", 1.5, (1, None)]),
        local.subset_selection(3, "ln 3", size=1, symbols=["é", 1.5, (1, None)]),
    ]
    assert len({mechanism.id, *(other.id for other in others)}) == 5


# counts that are added up


@EVERY
def test_counts_of_parts_add_up_and_none_is_counted_twice(mechanism, tmp_path):
    """Through files too; estimates are those of all reports together."""
    rows = drawn(mechanism, 300)
    paths = []
    for at in range(3):
        path = tmp_path / f"{at}.jsonl"
        path.write_bytes(as_envelopes(rows[100 * at : 100 * at + 100], mechanism))
        local.tally(path, mechanism).to_json(tmp_path / f"{at}.json")
        paths.append(tmp_path / f"{at}.json")
    whole = local.tally(paths, mechanism)
    assert whole.reports == 300
    np.testing.assert_array_equal(whole.support, mechanism.randomiser.support(np.array(rows)))
    with pytest.raises(ParameterError, match="counted twice"):
        whole + local.Tally.from_json(paths[1], mechanism)
    copy = tmp_path / "copy.json"
    copy.write_bytes(paths[0].read_bytes())
    with pytest.raises(ParameterError, match="counted twice"):
        local.tally([paths[0], copy], mechanism)
    with pytest.raises(ParameterError, match="two mechanisms"):
        whole + local.tally("-", local.randomized_response(3, 7), stream=io.BytesIO())


def test_counts_that_were_changed_are_refused(tmp_path):
    """Counts that so many reports cannot have, of another mechanism, or that are none."""
    mechanism = MECHANISMS["cells"]
    path = tmp_path / "c.json"
    local.tally("-", mechanism, stream=io.BytesIO(b"1\n2\nx\n"), most_rejected=1).to_json(path)
    fields = json.loads(path.read_text())
    assert local.Tally.from_json(path, mechanism).rejected.total() == 1
    for change in (
        {"reports": 3}, {"reports": -2}, {"reports": True}, {"counts": ["2"]}, {"counts": [0, 1, 1, 0, 0]},
        {"counts": []},
        {"counts": ["0", "1", "2", "0", "0"]}, {"mechanism": "0" * 16}, {"parts": []}, {"parts": [1]}, {"rejected": []},
        {"rejected": {"x": -1}}, {"others": {"x": "y"}}, {"schema": "tinct/local-counts@2"}, {"more": 1},
    ):  # fmt: skip
        path.write_text(json.dumps({**fields, **change}))
        with pytest.raises(FileError):
            local.Tally.from_json(path, mechanism)


def test_the_command_counts_merges_and_sets_aside(tmp_path):
    """From two days of reports to an estimate and a test, with a bad row on the way."""
    run = CliRunner().invoke
    mechanism = local.optimal([0.1, 0.2, 0.7], [0.5, 0.25, 0.25], 3, symbols=["x", "y", "z"])
    mechanism.to_json(tmp_path / "m.json")
    for day, data in (("1", b"0\n1\n2\nwhat\n"), ("2", b"1\n2\n")):
        (tmp_path / f"{day}.jsonl").write_bytes(data * 20)
        line = ["local", "count", f"{tmp_path}/{day}.jsonl", "-m", f"{tmp_path}/m.json", "-o", f"{tmp_path}/{day}.json",
                "--most-rejected", "0.3", "--rejected", f"{tmp_path}/bad{day}.jsonl"]  # fmt: skip
        done = run(app, line)
        assert done.exit_code == 0, done.output
    assert len((tmp_path / "bad1.jsonl").read_text().splitlines()) == 20
    both = ["-m", f"{tmp_path}/m.json", f"{tmp_path}/1.json", f"{tmp_path}/2.json", "--most-rejected", "0.3", "--json"]
    found = json.loads(run(app, ["local", "test", *both]).stdout)
    assert found["reports"] == 100
    piped = run(
        app, ["local", "test", "-", "-m", f"{tmp_path}/m.json", "--json", "--format", "csv"], input="report\n1\n"
    )
    assert json.loads(piped.stdout)["reports"] == 1
    same = run(app, ["local", "test", *both, "--rejected", f"{tmp_path}/1.json"])
    assert isinstance(same.exception, ParameterError)
    assert "would be overwritten" in str(same.exception)


def test_reports_are_written_in_envelopes(tmp_path):
    """``privatize`` to JSON lines names the mechanism, and what it wrote is read again."""
    (tmp_path / "a.csv").write_text("who,answer\n" + "".join(f"{at},{at % 9}\n" for at in range(50)))
    mechanism = MECHANISMS["subset"]
    mechanism.to_json(tmp_path / "m.json")
    line = [
        "local",
        "privatize",
        f"{tmp_path}/a.csv",
        "-c",
        "answer",
        "-m",
        f"{tmp_path}/m.json",
        "-o",
        f"{tmp_path}/r.jsonl",
    ]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    first = json.loads((tmp_path / "r.jsonl").read_text().splitlines()[0])
    assert (first["version"], first["mechanism"]) == (1, mechanism.id)
    assert local.tally(tmp_path / "r.jsonl", mechanism, most_rejected=0).reports == 50


def test_envelopes_of_large_subsets_are_short():
    """100,000 symbols: bits instead of numbers, a twelfth of the size."""
    mechanism = local.subset_selection(100_000, 1, size=30_000)
    row = list(range(0, 90_000, 3))
    text = json.dumps(report_files.envelope(mechanism, row))
    assert len(text) < 17_000
    assert len(json.dumps(row)) > 190_000
